/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a run read, for its provenance. */
#ifndef TOOLS_COMMON_INPUTS_H
#define TOOLS_COMMON_INPUTS_H

#include <stdint.h>

#include "lib/base/status.h"

/* Appends "hash  path" to the lines of *inputs, which begins as NULL with *used = *room = 0; the caller frees it. */
modal_status tool_add_input(const char *path, char **inputs, int64_t *used, int64_t *room, modal_error *err);

/* The same of a file of materials, and of the files of fibres that it names. */
modal_status tool_add_material_inputs(const char *path, char **inputs, int64_t *used, int64_t *room, modal_error *err);

#endif
