/* SPDX-License-Identifier: Apache-2.0 */
/* What a look makes of a GLB: vertices that are split at the seams of uv, triangles by material, materials and images. Private to
 * sequence_glb.c and glb_*.c. */
#ifndef MODAL_FORMATS_GLB_LOOK_H
#define MODAL_FORMATS_GLB_LOOK_H

#include "formats/sequences/sequence.h"
#include "lib/model/look.h"

/* Vertices of a shape as the file has them: the first n are those of the frame, the others repeat some of them with another uv or another normal. */
typedef struct glb_split {
    int64_t n;         /* of the shape */
    int64_t n_split;   /* n, or more */
    int32_t *source;   /* [n_split - n] which vertex each other one repeats */
    uint32_t *corners; /* [n_triangles, 3] in the order of the file */
    float *uv;         /* [n_split, 2], v downwards as glTF has it; NULL: none */
    int32_t *wedge;    /* [n_split] whose normal it has, of wedges in the order of the file: vertices first; NULL: none */
} glb_split;

/* A material of the look with an object's tint. */
typedef struct glb_paint {
    int32_t material;
    double tint[3];
} glb_paint;

/* The triangles of a shape that have one paint. */
typedef struct glb_primitive {
    int32_t paint;
    int64_t n_triangles;
    int64_t array; /* of indices */
} glb_primitive;

/* A variant of a shape is a mesh of the file. */
typedef struct glb_mesh {
    int32_t first_primitive, n_primitives;
} glb_mesh;

typedef struct glb_look {
    const modal_sequence_look *in; /* NULL: no look */
    const modal_sequence_scene *scene;
    glb_split *splits;   /* [n_shapes]; NULL: neither a look nor creases */
    modal_look_variants shown; /* with a look */
    glb_mesh *meshes;          /* [shown.n_variants] */
    int32_t n_primitives, n_paints;
    int64_t primitive_capacity, paint_capacity;
    glb_primitive *primitives;
    glb_paint *paints;
} glb_look;

/* MODAL_ERROR_INPUT: triangles without a material, images without uv, uv that the material's wrap forbids. After an error give it to
 * modal_glb_look_free all the same. */
modal_status modal_glb_look_make(glb_look *look, const modal_sequence_look *in, const modal_creases *creases, const modal_sequence_scene *scene,
                                 modal_error *err);
void modal_glb_look_free(glb_look *look);

/* indices [3 primitive->n_triangles]; stored [n_triangles of the shape]: which stored triangle each of the file's is. */
void modal_glb_look_indices(const glb_look *look, int32_t variant, int32_t primitive, const int32_t *stored, uint32_t *indices);

/* Rows [n, 3] become [n_split, 3]. */
void modal_glb_split_rows(const glb_split *split, float *rows);

#endif
