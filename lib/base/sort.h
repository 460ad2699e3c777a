/* SPDX-License-Identifier: Apache-2.0 */
/* A stable radix sort for the keys that meshes are made of. */
#ifndef MODAL_BASE_SORT_H
#define MODAL_BASE_SORT_H

#include <stdint.h>

#include "lib/base/status.h"

/* Sorts the n records (keys[i], values[i]) by ascending key; records of equal key keep their order,
 * so that two calls, the minor key first, sort by a pair. Digits that all keys share cost no pass.
 * Needs scratch of 12 n bytes and 96 KiB; MODAL_ERROR_MEMORY leaves both arrays unchanged. */
modal_status modal_sort_by_key(int64_t n, uint64_t *keys, int32_t *values, modal_error *err);

#endif
