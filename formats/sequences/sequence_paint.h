/* SPDX-License-Identifier: Apache-2.0 */
/* What a look makes of the triangles of a frame, all objects one after the other: for formats that write frames, and their library of materials. */
#ifndef MODAL_FORMATS_SEQUENCE_PAINT_H
#define MODAL_FORMATS_SEQUENCE_PAINT_H

#include "formats/sequences/sequence.h"
#include "lib/model/look.h"

/* A material with an object's tint, under a name of its own. */
typedef struct modal_painted {
    int32_t material; /* of the look */
    double tint[3];
    char name[224];
} modal_painted;

typedef struct modal_sequence_paint {
    const modal_sequence_look *look; /* borrowed */
    int64_t n_triangles, n_uv;
    double *uv;               /* [n_uv, 2] those of each shape once, v up */
    int32_t *triangle_uv;     /* [n_triangles, 3], -1: none */
    int32_t *triangle_paint;  /* [n_triangles] */
    int32_t n_paints;
    int64_t capacity;
    modal_painted *paints;    /* [n_paints] in the order in which they are met */
} modal_sequence_paint;

/* MODAL_ERROR_INPUT: triangles without a material, images without uv, uv that the material's wrap forbids. Give it to
 * modal_sequence_paint_free also after an error. */
modal_status modal_sequence_paint_make(modal_sequence_paint *paint, const modal_sequence_look *look, const modal_sequence_scene *scene,
                                       int64_t n_triangles, modal_error *err);
void modal_sequence_paint_free(modal_sequence_paint *paint);

/* uv are there where the material of stored triangle t of a shape has an image, and lie where its wrap allows; else MODAL_ERROR_INPUT. `format`
 * names the file in messages. */
modal_status modal_sequence_check_uv(const modal_look_material *material, const modal_shape *shape, int32_t number, int64_t t,
                                     const char *format, modal_error *err);

#endif
