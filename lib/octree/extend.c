/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/octree/extend.h"

#include <string.h>

#include "lib/base/memory.h"
#include "lib/texture/mips.h"

void modal_octree_clear(modal_octree *o) { memset(o->values, 0, 4 * (size_t)o->n_samples); }

/* Samples first to end - 1 are those of a cube. Clear ones that have no colour yet get the mean of the others; returns how many did. */
static int64_t fill_cube(uint8_t *to, const uint8_t *values, int64_t first, int64_t end)
{
    double sum[3] = {0}, weight = 0;
    int64_t n = 0;
    for (int64_t i = first; i < end; i++) {
        weight += values[4 * i + 3];
        for (int c = 0; c < 3 && values[4 * i + 3]; c++) sum[c] += values[4 * i + 3] * (double)modal_srgb_to_linear(values[4 * i + c]);
    }
    if (!(weight > 0)) return 0;
    for (int64_t i = first; i < end; i++) {
        if (to[4 * i + 3]) continue;
        for (int c = 0; c < 3; c++) to[4 * i + c] = modal_srgb_from_linear((float)(sum[c] / weight));
        to[4 * i + 3] = 255;
        n++;
    }
    return n;
}

modal_status modal_octree_extend(modal_octree *o, int64_t *n, modal_error *err)
{
    const uint8_t *values = o->values;
    uint8_t *to = NULL;
    *n = 0;
    for (int64_t i = 0; i < o->n_samples; i++) *n += values[4 * i + 3] == 0;
    if (*n == o->n_samples) return modal_error_set(err, MODAL_ERROR_INPUT, "nothing is painted");
    const modal_status status = modal_alloc(&to, 4 * o->n_samples, 1, "samples", err);
    if (status != MODAL_OK) return status;
    memcpy(to, values, 4 * (size_t)o->n_samples);
    int64_t left = *n;
    for (int octave = 1; left > 0; octave++) /* keys ascend: a cube's samples stand together */
        for (int64_t first = 0, end; first < o->n_samples; first = end) {
            const int64_t cube = o->keys[first] >> 3 * octave;
            int clear = 0;
            for (end = first; end < o->n_samples && o->keys[end] >> 3 * octave == cube; end++) clear |= to[4 * end + 3] == 0;
            if (clear) left -= fill_cube(to, values, first, end);
        }
    for (int64_t i = 0; i < o->n_samples; i++) to[4 * i + 3] = 255;
    memcpy(o->values, to, 4 * (size_t)o->n_samples);
    modal_free(&to);
    return MODAL_OK;
}
