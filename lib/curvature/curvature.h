/* SPDX-License-Identifier: Apache-2.0 */
/* Curvature of a surface that deforms: which fields there are, and an engine that makes them of positions, some frames
 * at once, on any back end. What they are: kernels/curvature_tensor, _ring, _fit, _derivative, tensor_smooth. */
#ifndef MODAL_CURVATURE_H
#define MODAL_CURVATURE_H

#include <stdint.h>

#include "kernels/operations.h"
#include "lib/curvature/topology.h"
#include "lib/model/basis.h"
#include "lib/model/frames.h"

typedef enum modal_curvature_field {
    MODAL_K_MAX = 0,
    MODAL_K_MIN,
    MODAL_MEAN_CURVATURE,
    MODAL_GAUSS_CURVATURE,
    MODAL_DIRECTION_MAX,
    MODAL_DIRECTION_MIN,
    MODAL_CURVATURE_DERIVATIVE, /* 111, 112, 122, 222 in (direction_max, direction_min) */
    MODAL_BOUNDARY,             /* 1 at a boundary of the surface, else 0 */
    MODAL_FIT_DEGREE,           /* that the fit reached at the vertex */
    MODAL_AREA_RATIO,           /* stretch.h: against the rest, modal_curvature_set_rest */
    MODAL_STRETCH_MAX,
    MODAL_STRETCH_MIN,
    MODAL_STRETCH_DIRECTION,
    MODAL_CURVATURE_FIELDS
} modal_curvature_field;

/* Name, components and unit of each: arrays of points. */
extern const modal_array modal_curvature_arrays[MODAL_CURVATURE_FIELDS];

typedef enum modal_curvature_method {
    MODAL_CURVATURE_TENSOR = 0, /* from triangles (Rusinkiewicz 2004) */
    MODAL_CURVATURE_RING,       /* straight from the one-ring */
    MODAL_CURVATURE_FIT         /* a height function fitted to some rings (Cazals and Pouget 2005) */
} modal_curvature_method;

typedef struct modal_curvature_options {
    modal_curvature_method method;
    int degree, n_rings; /* of fit: 2 or 4; 1 and more */
    double smooth;       /* standard deviation of the diffusion of the tensors, m; 0: none */
    int fields[MODAL_CURVATURE_FIELDS]; /* nonzero: wanted */
} modal_curvature_options;

/* Sets the fields of a list, "k_max,boundary"; "curvature" is short for k_max, k_min, mean_curvature, gauss_curvature.
 * MODAL_ERROR_USAGE for an unknown name, with the one that it resembles left to the caller, and for one given twice. */
modal_status modal_curvature_parse_fields(const char *list, int fields[MODAL_CURVATURE_FIELDS], modal_error *err);

typedef struct modal_curvature modal_curvature;

/* `mean_edge` > 0, m: of the first frame; lengths are measured by it. `topology` is borrowed until the delete. At most
 * `most_frames` at once. MODAL_ERROR_USAGE for options that make no sense, MODAL_ERROR_MEMORY. */
modal_status modal_curvature_new(modal_curvature **curvature, const modal_device *device,
                                 const modal_curvature_options *options, const modal_curvature_topology *topology,
                                 double mean_edge, int64_t most_frames, modal_error *err);
modal_curvature *modal_curvature_delete(modal_curvature *curvature); /* NULL is fine; returns NULL */
/* Bytes of device memory that modal_curvature_new takes. */
int64_t modal_curvature_bytes(const modal_device *device, const modal_curvature_options *options,
                              const modal_curvature_topology *topology, int64_t most_frames);

/* What area_ratio and stretch compare with, and the triangles [n_triangles of the topology, 3]; both borrowed. Before the
 * first compute where one of these fields is wanted. */
void modal_curvature_set_rest(modal_curvature *curvature, const int32_t *triangles, const float *rest);
int modal_curvature_is_stretch(modal_curvature_field field);

/* Queues the fields of frames that are on the device: all arrays are there, of 1 to most_frames frames, done when `stream` comes to what is queued next.
 * Of the fields that are wanted those of stretch.h are left out; `areas` may be NULL. MODAL_ERROR_SYSTEM. */
modal_status modal_curvature_queue(modal_curvature *curvature, modal_stream *stream, int64_t n_frames, const float *positions,
                                   float *const out[MODAL_CURVATURE_FIELDS], float *areas, modal_error *err);

/* positions [n_frames, n_vertices, 3] and, for each field that is wanted, out[field] [n_frames, n_vertices, components],
 * in main memory. areas [n_frames, n_vertices], m^2, or NULL. When it returns they are there. Not from several threads
 * at once. MODAL_ERROR_SYSTEM. */
modal_status modal_curvature_compute(modal_curvature *curvature, int64_t n_frames, const float *positions,
                                     float *const out[MODAL_CURVATURE_FIELDS], float *areas, modal_error *err);

/* The mean length of the edges of triangles, 0 without any; positions [.., 3]. */
double modal_curvature_mean_edge(int64_t n_triangles, const int32_t *triangles, const float *positions);
/* Of a triangle with these corners: its doubled area over half the sum of the squared edges; 0 to 1.15. In float64. */
double modal_curvature_quality(const float *a, const float *b, const float *c);
#define MODAL_CURVATURE_FLAT 1e-6 /* a triangle of this quality or less has no area */
/* Whether a triangle has one. */
int modal_curvature_has_area(int64_t n_triangles, const int32_t *triangles, const float *positions);
/* The mean edge of all shapes at rest, which tells in which lengths the engine is to count frames of a motion: all that depends on it is a power
 * of two. MODAL_ERROR_MEMORY; MODAL_ERROR_INPUT if a shape has triangles, none of which has an area. */
modal_status modal_curvature_rest_edge(const modal_basis *basis, double *mean_edge, modal_error *err);

#endif
