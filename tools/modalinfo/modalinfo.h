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
#include "tools/common/units.h"

/* Read the file and describe it; the caller owns *info. */
modal_status modalinfo_describe_basis(const char *path, json_t **info, modal_error *err);
modal_status modalinfo_describe_trajectory(const char *path, json_t **info, modal_error *err);
modal_status modalinfo_describe_snapshots(const char *path, json_t **info, modal_error *err);
modal_status modalinfo_describe_textures(const char *path, json_t **info, modal_error *err);
modal_status modalinfo_describe_octree(const char *path, json_t **info, modal_error *err);
modal_status modalinfo_describe_sequence(const char *path, json_t **info, modal_error *err);

/* Adds to the description of a sequence how its arrays of one number are distributed in every frame, and prints that. */
modal_status modalinfo_add_statistics(const char *path, json_t *info, modal_error *err);
void modalinfo_print_statistics(FILE *to, const json_t *info);

/* The folder that modaldeform wrote, or the manifest.json in it. */
modal_status modalinfo_describe_output(const char *path, json_t **info, modal_error *err);
modal_status modalinfo_check_output(const char *path, modal_findings *findings, modal_error *err);
/* Names the files beside the manifest that it does not list: a finding where modaldeform gives that name, otherwise a
 * warning. */
modal_status modalinfo_check_others(tool *t, const char *path, modal_findings *findings, modal_error *err);

/* A folder in which shares of a sequence are being made (modaldeform --shard). */
int modalinfo_has_shares(const char *path);
modal_status modalinfo_describe_shares(const char *path, json_t **info, modal_error *err);
modal_status modalinfo_check_shares(const char *path, modal_findings *findings, modal_error *err);
void modalinfo_print_shares(FILE *to, const json_t *info);

/* --map of an HDF5 file that was described. The caller owns *map. */
modal_status modalinfo_map(const char *path, const json_t *info, json_t **map, modal_error *err);

/* Writes the basis at `path`, with the shapes that lie in other files, as the one file `to`. */
modal_status modalinfo_pack(tool *t, const char *path, const char *to, modal_error *err);

/* A volume mesh, and a surface, in metres. */
modal_status modalinfo_describe_mesh(tool *t, const char *path, const tool_units *units, json_t **info, modal_error *err);
modal_status modalinfo_describe_surface(tool *t, const char *path, const tool_units *units, json_t **info, modal_error *err);
void modalinfo_print_mesh(FILE *to, const json_t *info);

/* --compare A B, of two files of one type, "basis" or "trajectory"; MODAL_ERROR_INPUT for others, for other meshes and other
 * times. */
modal_status modalinfo_compare(tool *t, const char *type_a, const char *path_a, const char *type_b, const char *path_b,
                               json_t **info, modal_error *err);
void modalinfo_print_comparison(FILE *to, const json_t *info);

/* Prints what one of the above made. */
void modalinfo_print(FILE *to, const json_t *info);

#endif
