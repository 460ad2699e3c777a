/* SPDX-License-Identifier: Apache-2.0 */
/* Ridges and valleys of any triangles, values and strength: what is found keeps its promises. The input is a byte with the number of
 * vertices, one with that of the triangles, bytes for their corners, and numbers of float32, taken again from the first where they end. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/curvature/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 255, ARRAYS = 3 + 1 + 1 + 3 + 3 + 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static float values[ARRAYS * MOST];
    static int32_t triangles[3 * MOST];
    if (size < 2 || data[0] == 0) return 0;
    const int64_t n = data[0], m = data[1];
    if (size < 2 + 3 * (size_t)m + 4) return 0;
    for (int64_t i = 0; i < 3 * m; i++) triangles[i] = data[2 + i] % (int32_t)n;
    const uint8_t *numbers = data + 2 + 3 * m;
    const size_t n_numbers = (size - 2 - 3 * (size_t)m) / 4;
    for (int64_t i = 0; i < ARRAYS * n; i++) {
        memcpy(&values[i], numbers + 4 * ((size_t)i % n_numbers), sizeof *values);
        if (!isfinite(values[i])) values[i] = 0.0f; /* the operations give finite values */
    }
    const float *at[6] = {values, values + 3 * n, values + 4 * n, values + 5 * n, values + 8 * n, values + 11 * n};
    const modal_lines_surface surface = {n, m, triangles, at[0], at[1], at[2], at[3], at[4], at[5]};
    modal_lines lines = {0};
    modal_error err = {0};
    for (int valleys = 0; valleys < 2; valleys++)
        if (modal_lines_find(&surface, valleys, data[1] % 3, &lines, &err) != MODAL_OK) abort();
    for (int64_t l = 0; l < lines.n_lines; l++) {
        if (lines.offsets[l + 1] < lines.offsets[l] + 2 || lines.offsets[l + 1] > lines.n_points) abort();
        if (!(lines.strength[l] >= (float)(data[1] % 3)) || lines.valley[l] > 1) abort();
    }
    if (lines.n_lines > 0 && lines.offsets[lines.n_lines] != lines.n_points) abort();
    modal_lines_free(&lines);
    return 0;
}
