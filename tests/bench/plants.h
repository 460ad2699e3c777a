/* SPDX-License-Identifier: Apache-2.0 */
/* Scenes of many objects like the five plants of the 2020 paper's table 4: the same number of
 * deformable objects, vertices and modes in all; what belongs to one object is mixed around the means
 * by a fixed rule, and all numbers in the arrays are random. */
#ifndef MODAL_TESTS_PLANTS_H
#define MODAL_TESTS_PLANTS_H

#include <stdint.h>

#include "lib/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct plant {
    const char *name;
    int32_t n_objects;
    int64_t n_vertices, n_modes; /* of all objects */
    /* table 4, ms on an RTX 2080 Ti and 28 cores */
    double paper_gpu_uq, paper_cublas_uq, paper_gpu_t, paper_cpu_uq, paper_cpu_t;
} plant;
enum { N_PLANTS = 5 };
extern const plant plants[N_PLANTS];

typedef struct plant_scene {
    int32_t n_objects;
    int64_t n_vertices, n_modes, padded_vertices, u_floats;
    /* of each object, with the total behind the last where it is an offset */
    int32_t *vertices, *modes; /* 4 vertices at least, 1 to 32 modes */
    int64_t *first_vertex;     /* [n_objects + 1] of an array [n_vertices, 3] */
    int64_t *first_padded;     /* [n_objects + 1] of an array [padded_vertices, 4]: multiples of 4 */
    int64_t *first_mode;       /* [n_objects + 1] of q */
    int64_t *u_offset;         /* [n_objects + 1] floats: 3 * 32 a tile and mode */
    float *modal_matrix;       /* [u_floats] tiles, object after object */
    float *q;                  /* [n_modes] */
    float *rest;               /* [n_vertices, 3] */
    float *rest_tiles;         /* tiles, object after object: 96 floats a tile */
    int64_t *rest_offset;      /* [n_objects + 1] floats of rest_tiles */
    float *poses;             /* [n_objects, 3, 4] rotations and translations */
    double bytes_product;      /* U, q and u once each */
    double bytes_deform;       /* U, q, rest, frames and x once each */
} plant_scene;

/* shrink > 1: that many times fewer objects, vertices and modes, for a quick look. */
modal_status plant_scene_new(plant_scene **scene, const plant *p, int shrink, modal_error *err);
plant_scene *plant_scene_delete(plant_scene *scene);

/* U of row 3 v + i and mode k of an object. */
static inline float plant_scene_u(const plant_scene *s, int32_t object, int64_t row, int k)
{
    const int64_t v = row / 3, i = row % 3;
    return s->modal_matrix[s->u_offset[object] +
                           ((v / 32 * s->modes[object] + k) * 3 + i) * 32 + v % 32];
}

/* U of every object column-major at its u_offset, [u_floats]. */
modal_status plant_scene_columns(const plant_scene *s, float **columns, modal_error *err);

#ifdef __cplusplus
}
#endif
#endif
