/* SPDX-License-Identifier: Apache-2.0 */
/* What a file holds, first as one JSON object, then as text made from that object: --json and the
 * text cannot disagree. Private to modalinfo. */
#ifndef TOOLS_MODALINFO_H
#define TOOLS_MODALINFO_H

#include <jansson.h>
#include <stdio.h>

#include "formats/h5/findings.h"
#include "lib/base/status.h"
#include "tools/common/tool.h"

/* Read the file and describe it; the caller owns *info. */
modal_status modalinfo_describe_basis(const char *path, json_t **info, modal_error *err);
modal_status modalinfo_describe_trajectory(const char *path, json_t **info, modal_error *err);
modal_status modalinfo_describe_sequence(const char *path, json_t **info, modal_error *err);

/* The folder that modaldeform wrote, or the manifest.json in it. */
modal_status modalinfo_describe_output(const char *path, json_t **info, modal_error *err);
modal_status modalinfo_check_output(const char *path, modal_findings *findings, modal_error *err);
/* Names the files beside the manifest that it does not list: a finding where modaldeform gives that name, otherwise a
 * warning. */
modal_status modalinfo_check_others(tool *t, const char *path, modal_findings *findings, modal_error *err);

/* Writes the basis at `path`, with the shapes that lie in other files, as the one file `to`. */
modal_status modalinfo_pack(tool *t, const char *path, const char *to, modal_error *err);

/* What a pipe brought is a file without a folder: relative links start at the current one. */
#define MODALINFO_PIPED "/proc/self/fd/"
int modalinfo_is_piped(const char *path);

/* Prints what one of the above made. */
void modalinfo_print(FILE *to, const json_t *info);

#endif
