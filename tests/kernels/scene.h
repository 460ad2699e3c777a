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
    float *poses;     /* [columns, 3, 4], no rotations on purpose */
} scene;

void scene_new(scene *s, harness *h, int64_t n, int32_t r, int64_t columns);
void scene_free(scene *s);

/* u and S = sum |U| |q| of component i, in double. */
void scene_sum(const scene *s, int64_t column, int64_t v, int i, double *u, double *magnitude);

/* Calls `check` for the sizes, ranks and columns on which the modal sum and its fusions divide their work
 * in different ways. */
void scene_products(harness *h, void (*check)(harness *h, int64_t n, int32_t r, int64_t columns, int shift));

/* Column `c` of a job that is also done in parts must come out the same: how many columns the call has that
 * begins there. Single columns of small shapes, two calls for large ones. */
int64_t scene_part(const scene *s, int64_t c);

/* m in modal_sum.h's bound g(m) S for this scene on this back end. */
double scene_terms(const harness *h, const scene *s);

/* Fails unless the largest error is <= 1e-6 of the largest displacement x sqrt(r): float32-accurate as
 * users mean it. Few values have no representative largest one and pass. */
void scene_accurate(harness *h, const scene *s, double worst, double largest);

/* One call of an operation that rotates rest vectors of `width` numbers (4: the last one is kept) with the
 * frames of their objects; objects is NULL for one. All in device memory. */
typedef struct scene_rotation {
    int64_t n, columns, n_objects;
    const float *rest, *poses;
    const int32_t *objects;
    float *out; /* [columns, n, width] */
} scene_rotation;

/* All cases of such an operation against the product in double, twice each. */
void scene_rotations(harness *h, int width,
                     modal_status (*call)(harness *h, const scene_rotation *r, modal_error *err));

#endif
