/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of improve.h share: a mesh of tetrahedra that changes. */
#ifndef MODAL_MESH_IMPROVE_PRIVATE_H
#define MODAL_MESH_IMPROVE_PRIVATE_H

#include "lib/mesh/improve.h"
#include "lib/mesh/triangle_tree.h"

enum {
    IMPROVE_INSIDE = -1, /* marks of faces that are no boundary: inside, */
    IMPROVE_WALL = -2,   /* between elements of two regions */
    IMPROVE_MOST = 256,  /* elements that one operation may replace, or make */
    IMPROVE_MOST_FACES = 256
};

enum {
    IMPROVE_FIXED = 1, /* the vertex neither moves nor goes */
    IMPROVE_STILL = 2  /* nor does a boundary face at it change */
};

typedef struct improve_tetrahedron {
    int32_t v[4];     /* v[0] < 0: free */
    int32_t mark[4];  /* of the face opposite v[k]: a boundary face's index, or one of the above */
    int32_t next[4];  /* the next corner at the vertex v[k], 4 t + k, or -1 */
    int32_t region;
    int32_t origin;   /* the mesh's element, -1: new */
} improve_tetrahedron;

typedef struct improve_face {
    int32_t patch;
    int32_t first; /* of the samples that it answers for, -1: none */
} improve_face;

typedef struct improve_store {
    int64_t n_vertices, most_vertices;
    double *x;           /* [n_vertices, 3] */
    int32_t *head;       /* [n_vertices] a corner, or -1 */
    int32_t *n_boundary; /* [n_vertices] boundary faces at it */
    uint8_t *fixed;      /* [n_vertices] bits: IMPROVE_FIXED, IMPROVE_STILL */
    int64_t capacity_head, capacity_boundary, capacity_fixed;
    int64_t n_tetrahedra, capacity;
    improve_tetrahedron *tetrahedra;
    int32_t *free_tetrahedra;
    int64_t n_free, capacity_free;
    int64_t n_faces, capacity_faces;
    improve_face *faces;
    int32_t free_face;   /* a chain through `first`, -1: none */
    int64_t n_samples;
    double *samples;     /* [n_samples, 3] points of the old surface */
    int32_t *next_sample;
    int8_t *sample_of;   /* scratch: [IMPROVE_MOST_FACES] */
    modal_triangle_tree tree; /* the old surface, patches as labels */
    double distance;     /* squared, that the surface may be off */
    double wanted;       /* sine of the angle */
    modal_error *err;
    modal_status failed; /* of memory: everything ends */
    modal_improvement told;
} improve_store;

/* An operation that is tried. */
typedef struct improve_change {
    int n_old, n_new;
    int32_t old[IMPROVE_MOST];       /* elements to go */
    int32_t fresh[IMPROVE_MOST][4];  /* and to come */
    int32_t merged[3], into;         /* vertices that `into` stands for in faces that change, -1: none */
    int may_expose;                  /* 1: faces inside may become boundary */
    int32_t moved;                   /* a vertex that has been moved for the trial, -1: none */
    double quality, gain;            /* least of the old ones; how many times that the new ones must reach, below what is wanted */
} improve_change;

/* A boundary face to come. */
typedef struct improve_patch_face {
    int32_t v[3]; /* counter-clockwise from outside */
    int32_t patch;
} improve_patch_face;

/* A smaller gain than that is not worth an operation, and might go on for ever. */
static const double improve_gain = 1.01;

extern const uint8_t improve_faces[4][3]; /* of the face opposite k, counter-clockwise from outside */

/* The least sine of the six angles between faces; negative where the element is turned inside out. */
double improve_quality(const double *a, const double *b, const double *c, const double *d);
double improve_quality_of(const improve_store *s, const int32_t v[4]);

static inline const double *improve_at(const improve_store *s, int32_t v) { return s->x + 3 * (int64_t)v; }

/* The elements at a vertex: their number, -1 where they are more than `most`. */
int improve_star(const improve_store *s, int32_t vertex, int32_t *elements, int most);
/* Those that have both. */
int improve_ring(const improve_store *s, int32_t a, int32_t b, int32_t *elements, int most);
int improve_has(const improve_tetrahedron *t, int32_t vertex); /* its place, -1: none */
/* The element other than t at the face opposite corner k, -1: none; *place is the corner opposite. */
int32_t improve_neighbour(const improve_store *s, int32_t t, int k, int *place);

int32_t improve_new_vertex(improve_store *s, const double x[3]); /* -1: s->failed */
int32_t improve_new_tetrahedron(improve_store *s, const int32_t v[4], int32_t region);
void improve_delete_tetrahedron(improve_store *s, int32_t t);
int32_t improve_new_face(improve_store *s, int32_t patch);
void improve_delete_face(improve_store *s, int32_t face);

/* Does the change if it makes the least quality larger, is sound, and keeps the surface. 1: done. */
int improve_apply(improve_store *s, const improve_change *change);

/* Whether the boundary faces `gone` (indices) may become `come`; nothing is changed. */
int improve_surface_may(const improve_store *s, int n_gone, const int32_t *gone, int n_come, const improve_patch_face *come);
/* Gives the samples of `gone` to the nearest of `come`, whose indices are `faces`, and frees `gone`. */
void improve_surface_pass(improve_store *s, int n_gone, const int32_t *gone, int n_come, const improve_patch_face *come,
                          const int32_t *faces);

/* Operations for one bad element; 1 where one was done. */
int improve_exchange(improve_store *s, int32_t t);
int improve_merge(improve_store *s, int32_t t);
int improve_move(improve_store *s, int32_t vertex);
int improve_add(improve_store *s, int32_t t);

#endif
