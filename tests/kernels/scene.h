/* SPDX-License-Identifier: Apache-2.0 */
/* Random inputs of the modal sum and the transforms, in the kernels' layout and in a plain one for
 * the oracle. */
#ifndef MODAL_TESTS_SCENE_H
#define MODAL_TESTS_SCENE_H

#include "tests/kernels/harness.h"

typedef struct scene {
    int64_t n, columns, n_tiles;
    int32_t r;
    float *plain;      /* [n, 3, r] U */
    float *tiles;      /* U as stored; NaN in the lanes past n */
    float *rest;       /* [n, 3] */
    float *rest_tiles; /* as stored; NaN in the lanes past n */
    float *q;          /* [columns, r] */
    float *frames;     /* [columns, 3, 4], no rotations on purpose */
} scene;

void scene_new(scene *s, harness *h, int64_t n, int32_t r, int64_t columns);
void scene_free(scene *s);

/* u and S = sum |U| |q| of component i, in double. */
void scene_sum(const scene *s, int64_t column, int64_t v, int i, double *u, double *magnitude);

#endif
