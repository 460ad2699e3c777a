/* SPDX-License-Identifier: Apache-2.0 */
/* What is painted onto an octree texture, layer by layer; formats/layers.md. */
#ifndef MODAL_MODEL_LAYERS_H
#define MODAL_MODEL_LAYERS_H

#include <stdint.h>

#include "lib/base/status.h"

typedef enum modal_layer_kind {
    MODAL_LAYER_FILL,
    MODAL_LAYER_CHECKER,
    MODAL_LAYER_NOISE,
    MODAL_LAYER_MARBLE,
    MODAL_LAYER_WOOD,
    MODAL_LAYER_STROKES,
    MODAL_LAYER_COLOURS,
    MODAL_LAYER_IMAGE,
    MODAL_LAYER_TRIPLANAR,
    MODAL_LAYER_NORMALS,
    MODAL_LAYER_FIELD,
    MODAL_LAYERS
} modal_layer_kind;

extern const char *const modal_layer_names[MODAL_LAYERS]; /* "fill" ... */

typedef struct modal_stroke {
    double centre[3], radius; /* m */
    double value[4], opacity; /* as modal_layer's */
} modal_stroke;

typedef struct modal_layer {
    modal_layer_kind kind;
    double from[4], to[4]; /* red, green, blue as sRGB and alpha, 0 to 1; or the numbers of float textures. fill: `from` alone */
    double opacity;        /* 0 to 1: what the layer covers of what is below */
    double scale;          /* m: of a square, of the largest lumps, from vein to vein, from ring to ring; of triplanar: an image's width */
    double turbulence;     /* of marble and wood, in veins or rings */
    double axis[3];        /* of marble: across the veins; of wood: along the trunk; unit */
    double centre[3];      /* m, of wood: a point of the trunk's axis; of triplanar: where the images' lower left corners are */
    double sharpness;      /* of triplanar: weights are |n|^sharpness of the normal's parts */
    int wrap;              /* of image: 0 repeat, 1 mirror, 2 clamp */
    int64_t octaves, seed;
    int64_t n_strokes;
    modal_stroke *strokes; /* [n_strokes] */
    char *field;           /* of field: its name in the sequence */
    int64_t frame;         /* of field */
    double range[2];       /* of field: what becomes `from` and `to`; what is beyond becomes these */
    int n_files;
    char *files[3];        /* of colours, image, normals and field one; of triplanar along x, y and z, or one for all */
} modal_layer;

typedef struct modal_layers {
    int64_t n;
    modal_layer *layers; /* [n] the lowest first */
} modal_layers;

/* Frees everything inside and zeroes the struct; a zeroed struct is fine. */
void modal_layers_free(modal_layers *layers);

#endif
