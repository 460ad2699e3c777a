/* SPDX-License-Identifier: Apache-2.0 */
/* What the two halves of the GLB writer share: sequence_glb.c plans and writes the binary chunk,
 * glb_json.c describes it. */
#ifndef MODAL_FORMATS_GLB_PARTS_H
#define MODAL_FORMATS_GLB_PARTS_H

#include <jansson.h>

#include "formats/sequences/glb_look.h"
#include "formats/sequences/sequence.h"

/* An array of the binary chunk; bufferView and accessor have the same index. */
typedef struct glb_array {
    int64_t offset, count; /* offset in the chunk; elements */
    const char *type;      /* "SCALAR", "VEC2", "VEC3", "VEC4" */
    int integers;          /* unsigned 32-bit, else float32 */
    int buffer_target;     /* 34962 for vertices, 34963 for indices, 0 for the rest */
    int ranges;            /* least and most are to be told */
    float least[3], most[3];
} glb_array;

/* A shape that some object has. Its arrays: triangles (with a look those of its first primitive),
 * positions, one a target; with normals those of the base, and with
 * target_normals 2 one a target. */
typedef struct glb_shape {
    int used;
    int64_t first_array;
    int64_t uv;     /* array of texture coordinates, -1: none */
    int64_t colour; /* of colours, -1: none */
    int64_t first_point; /* of the first object that has it, in a frame */
    int32_t n_targets;
    int32_t *modes;       /* [n_targets] those that move */
    double *low, *spread; /* [n_modes] least of q and 0; most of q and 0, minus that */
} glb_shape;

typedef struct glb_scene {
    const modal_sequence_info *info;
    const modal_basis *basis;
    glb_shape *shapes; /* [n_shapes] */
    int64_t n_arrays, capacity, bytes;
    glb_array *arrays;
    int64_t times;         /* array of the frames' times */
    double time_shift;     /* added to them: glTF knows no negative times */
    glb_look look;         /* look.in NULL: none */
    int64_t *image_places; /* [look.in->n_images] offsets in the chunk */
    int64_t *object_array; /* [n_objects] weights (if any), then translation and rotation (if any) */
} glb_scene;

/* The array of normals of the base of a shape; those of its targets follow. */
static inline int64_t modal_glb_normals_array(const glb_shape *shape)
{
    return shape->first_array + 2 + shape->n_targets;
}

/* Adds materials, textures, samplers and images. */
void modal_glb_materials_json(const glb_scene *scene, json_t *root);

/* The JSON chunk, unpadded; the caller gives it to free(). NULL: out of memory. */
char *modal_glb_json(const glb_scene *scene);

/* The rotation of a row-major [3, 4] frame as x y z w, the one of two that is nearer to `before`,
 * which may be NULL. */
void modal_glb_quaternion(const double frame[12], const double before[4], double q[4]);

#endif
