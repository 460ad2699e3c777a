/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of nodes, as VegaFEM keeps fixed vertices (.bou). */
#ifndef MODAL_FORMATS_BOU_H
#define MODAL_FORMATS_BOU_H

#include <stdint.h>

#include "lib/base/status.h"

/* Reads whole numbers >= 0 that are separated by commas, blanks or line ends; a comma may end a
 * line, # begins a comment. They are the user's numbers: the caller finds the nodes through
 * modal_volume_mesh.node_tags. *numbers has shape [*count], ascending without repeats, at least
 * one; the caller owns it and gives it to modal_free.
 * Errors: MODAL_ERROR_INPUT for a missing or empty file, a folder, a token that is no such number,
 * two commas in a row, and a file without numbers; MODAL_ERROR_SYSTEM for a file that cannot be
 * read; MODAL_ERROR_MEMORY. After one *numbers is NULL and *count is 0. The format has no end
 * mark, so a file that was cut off reads as a shorter list. Thread-safe. */
modal_status modal_bou_read(const char *path, int64_t **numbers, int64_t *count, modal_error *err);

#endif
