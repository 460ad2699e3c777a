/* SPDX-License-Identifier: Apache-2.0 */
/* Where the 2020 paper (B. Wang and J. Barbic, CUDA Deformers for Model Reduction, MIG 2020,
 * section 4.1, figure 4, table 1) keeps row `row` and mode `j` of one object's modal matrix: rows in
 * row-major order, padded to whole groups of four; k products a thread, N = ceil(r / k) threads a row,
 * floor(32 / N) rows a warp, and the rows of a warp start on a multiple of 128 bytes. */
#ifndef MODAL_TESTS_PAPER_LAYOUT_H
#define MODAL_TESTS_PAPER_LAYOUT_H

#include <stdint.h>

typedef struct paper_layout {
    int k, n_modes;
    int row_floats;      /* of a row, with its padding */
    int threads_per_row; /* N */
    int rows_per_warp;
    int warp_floats;
} paper_layout;

static inline paper_layout paper_layout_of(int k, int n_modes)
{
    paper_layout l = {k, n_modes, k == 1 ? n_modes : (n_modes + 3) / 4 * 4, (n_modes + k - 1) / k, 0, 0};
    l.rows_per_warp = 32 / l.threads_per_row;
    l.warp_floats = (l.rows_per_warp * l.row_floats + 31) / 32 * 32;
    return l;
}

static inline int64_t paper_layout_floats(const paper_layout *l, int64_t n_rows)
{
    return (n_rows + l->rows_per_warp - 1) / l->rows_per_warp * l->warp_floats;
}

static inline int64_t paper_layout_index(const paper_layout *l, int64_t row, int j)
{
    return row / l->rows_per_warp * l->warp_floats + row % l->rows_per_warp * l->row_floats + j;
}

#endif
