/* SPDX-License-Identifier: Apache-2.0 */
/* Modal matrices in the layouts of ours and of the opponents, all cut from one pool of random numbers,
 * and the check of a product u = U q against the reference back end. */
#ifndef MODAL_TESTS_MATRIX_LAYOUT_H
#define MODAL_TESTS_MATRIX_LAYOUT_H

#include "tests/bench/bench.h"
#include "tests/bench/opponents/paper_layout.h"

typedef enum matrix_kind { MATRIX_TILES, MATRIX_ROWS, MATRIX_COLUMNS, MATRIX_PAPER } matrix_kind;

typedef struct matrix_layout {
    matrix_kind kind;
    int64_t n_vertices;
    int n_modes;
    paper_layout paper; /* of MATRIX_PAPER */
    int64_t floats;     /* of one matrix, a multiple of 32 */
} matrix_layout;

matrix_layout matrix_layout_of(matrix_kind kind, int64_t n_vertices, int n_modes, int paper_k);

/* The whole matrix at U (in the side's memory) as tiles in main memory; the caller frees. */
modal_status matrix_tiles(bench_side *side, const matrix_layout *layout, const float *U, float **tiles,
                          modal_error *err);

/* Compares u [columns, n_vertices, step] (step 3 or 4, of which the fourth is ignored) of the matrix at
 * U with the reference back end, for all vertices or the first, middle and last 4,096 of many, in the
 * first and the last column. *error: the largest |u - reference| over its tolerance
 * 2 (r + 2) unit S, S = sum_k |U_k| |q_k|: the bound for a sum in any order. */
modal_status matrix_check(modal_bench *b, bench_side *side, const matrix_layout *layout,
                          const float *U, const float *q, int64_t n_columns, const float *u, int step,
                          double unit, double *error, modal_error *err);
#define MATRIX_TOLERANCE "2 (r + 2) 2^-24 sum |U||q|"
#define MATRIX_TOLERANCE_TF32 "2 (r + 2) 2^-11 sum |U||q|"

#endif
