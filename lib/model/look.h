/* SPDX-License-Identifier: Apache-2.0 */
/* What a look says: materials by name, which triangles have them, lights, cameras. Plain data; formats/look.md is the
 * specification, formats/json/look.h reads it. Colours in linear light, m, rad, s. */
#ifndef MODAL_MODEL_LOOK_H
#define MODAL_MODEL_LOOK_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/model/basis.h"

typedef enum modal_alpha { MODAL_ALPHA_OPAQUE, MODAL_ALPHA_CUTOUT, MODAL_ALPHA_BLEND, MODAL_ALPHAS } modal_alpha;
typedef enum modal_wrap { MODAL_WRAP_REPEAT, MODAL_WRAP_MIRROR, MODAL_WRAP_CLAMP, MODAL_WRAP_NONE, MODAL_WRAPS } modal_wrap;
extern const char *const modal_alpha_names[MODAL_ALPHAS];
extern const char *const modal_wrap_names[MODAL_WRAPS];

typedef struct modal_look_material {
    char *name;
    double ambient[3], diffuse[3], specular[3];
    double shininess, opacity, cutoff;
    modal_alpha alpha;
    modal_wrap wrap;
    int two_sided;
    char *image, *normal_image; /* paths as the look has them, or NULL */
    char *octree, *normal_octree; /* the same of octree textures beside images, or NULL */
} modal_look_material;

/* Triangles [first, first + count) of the user's. */
typedef struct modal_look_run {
    int64_t first, count;
    int32_t material;
} modal_look_run;

typedef struct modal_look_shape {
    int64_t shape;    /* its number, -1: by name */
    char *name;       /* or NULL */
    int32_t material; /* -1: none */
    int64_t n_runs;
    modal_look_run *runs; /* [n_runs] ascending, without overlap */
    int32_t n_names;
    char **names;            /* [n_names] of the basis */
    int32_t *name_materials; /* [n_names] */
} modal_look_shape;

typedef struct modal_look_object {
    int64_t object;
    int32_t material; /* -1: none */
    double tint[3];
} modal_look_object;

typedef struct modal_look_light {
    double direction[3]; /* unit */
    double colour[3];
    int shadow;
} modal_look_light;

typedef struct modal_look_camera {
    char *name; /* or NULL */
    int fitted; /* 1: eye and target are not known, it looks along `direction` */
    double eye[3], target[3], direction[3], up[3], fov;
    int64_t n_keys;
    double *keys; /* [n_keys, 7] t, eye, target */
} modal_look_camera;

typedef struct modal_look {
    int32_t n_materials;
    modal_look_material *materials; /* [n_materials] in the order of the file */
    int32_t default_material;       /* -1: none */
    int32_t n_shapes;
    modal_look_shape *shapes;
    int32_t n_objects;
    modal_look_object *objects; /* [n_objects] ascending */
    int32_t n_uv;
    char **uv; /* [n_uv] paths of surfaces whose texture coordinates shapes get, as the look has them */
    int32_t n_lights;
    modal_look_light *lights;
    double ambient[3], background[3];
    int32_t n_cameras;
    modal_look_camera *cameras;
    int32_t ground_material; /* -1: no ground */
    int ground_fitted;
    double ground_height, ground_size; /* size 0: by the objects */
    double ground_tile; /* length and width that an image takes, m */
} modal_look;

/* Frees everything inside and zeroes the struct; a zeroed struct is fine. */
void modal_look_free(modal_look *look);

/* A material of the defaults of formats/look.md. */
extern const modal_look_material modal_look_default;

/* The lists that have a default: a light and a camera where there are none. */
modal_status modal_look_complete(modal_look *look, modal_error *err);

/* Whether the image of a material is an octree texture by its name, "....h5"; NULL is none. */
int modal_look_is_solid(const char *name);

/* The octree texture of a material's colours (role 0) or normals (1), and the image of them; NULL: none. */
const char *modal_look_solid(const modal_look_material *material, int role);
const char *modal_look_image(const modal_look_material *material, int role);

/* Number of the material of that name [length], -1: none. */
int32_t modal_look_find(const modal_look *look, const char *name, int64_t length);

/* The material of each stored triangle of an object, materials[n_triangles of its shape], and its tint. The shape has its surface's
 * user_triangle, and its look where it has one. MODAL_ERROR_INPUT "triangle 7: ...": a triangle that nothing names a material for. */
modal_status modal_look_resolve(const modal_look *look, const modal_basis *basis, int32_t object, int32_t *materials,
                                double tint[3], modal_error *err);

/* A shape as some of its objects show it. */
typedef struct modal_look_variant {
    int32_t shape;
    int32_t *materials; /* [n_triangles of the shape] in stored order */
    double tint[3];     /* of its first object */
} modal_look_variant;

typedef struct modal_look_variants {
    int32_t n_variants;
    int64_t capacity;
    modal_look_variant *variants; /* [n_variants] in the order in which the objects meet them */
    int32_t *of_objects;          /* [n_objects] */
    double *tints;                /* [n_objects, 3] */
} modal_look_variants;

/* What all objects show, as modal_look_resolve; objects whose shapes and materials are the same share a variant, with by_tint only those of the same
 * tint. Give it to modal_look_variants_free also after an error. */
modal_status modal_look_variants_make(modal_look_variants *variants, const modal_look *look, const modal_basis *basis, int by_tint,
                                      modal_error *err);
void modal_look_variants_free(modal_look_variants *variants);

/* MODAL_ERROR_INPUT: shapes, objects or runs of triangles that the basis does not have. */
modal_status modal_look_check_basis(const modal_look *look, const modal_basis *basis, modal_error *err);

#endif
