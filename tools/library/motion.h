/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the C interface share. */
#ifndef TOOLS_LIBRARY_MOTION_H
#define TOOLS_LIBRARY_MOTION_H

#include <pthread.h>

#include "formats/basis/basis_tiles.h"
#include "lib/deform/deform.h"
#include "lib/fem/stress_frames.h"
#include "lib/model/trajectory.h"
#include "tools/library/open.h"

/* The outputs of a deformer, as it was made last. */
typedef struct motion_outputs {
    int normals, displacement, tangents;
    modal_speed_kind speed;
    int64_t at_once; /* frames */
} motion_outputs;

/* A named group of a shape's solid, by the shape's own points and cells, in the user's order. */
typedef struct motion_group {
    char *name;
    int32_t shape, dimension;
    int64_t n_points, n_cells;
    int32_t *points, *cells; /* ascending */
} motion_group;

struct modal_motion {
    pthread_mutex_t lock; /* held by the call that works with the handle */
    int working, cancelled, no_basis;
    int carried; /* descriptor of the basis that the trajectory carries, a file in memory; -1: none */
    char *path, *basis_path, *back_end;
    int threads, shares_cores, volume;
    int64_t memory_limit;
    modal_basis basis;         /* of surfaces without the modal matrices; of volumes its "surfaces" are the nodes */
    modal_basis_tiles *tiles;  /* of surfaces: the matrices */
    modal_trajectory trajectory; /* of a basis only mode_offsets */
    int64_t n_points, n_cells;   /* of a frame; cells or triangles */
    int64_t *first_points, *first_cells; /* [n_objects + 1] */
    int32_t *object_shapes;
    double *rest_poses, *frequencies;
    int32_t n_materials;
    char **materials;          /* [n_materials] */
    int64_t n_groups;
    motion_group *groups;      /* [n_groups], once they were read */
    int has_groups;
    modal_deformer *deformer;  /* NULL until a frame is wanted, and where it lacks an output */
    motion_outputs outputs;    /* of it */
    double *q_rates, *pose_rates, *still; /* of frames that are made at once; zeros for coordinates of one's own */
    double *q, *poses;           /* of frames that do not lie side by side */
    modal_stress_frames *stress; /* of volumes, with what was wanted so far */
    int speed_checked;           /* the trajectory's frames are known to follow the motion (lib/deform/rates.h) */
    int has_stress[MODAL_STRESS_FRAMES_VALUES];
    struct motion_curvature *curvature; /* once it was wanted */
    float *unwanted;           /* positions of such frames where the caller wants none */
};

/* Around everything that a call does with the handle: it waits for the other calls. The status of `begin` is MODAL_ERROR_USAGE
 * where there is no handle. */
modal_status motion_begin(modal_motion *motion, modal_error *err);
void motion_end(modal_motion *motion);
/* Keeps the message for modal_motion_error, and returns what the function returns. `path` comes first in it, unless NULL. */
int32_t motion_result(modal_status status, const char *path, const modal_error *err);
/* The lock of everything that calls HDF5. */
pthread_mutex_t *motion_hdf5(void);

/* MODAL_ERROR_USAGE "no array for WHAT": the caller's array `to` for n values is NULL, and n is not 0. */
modal_status motion_check_room(const void *to, int64_t n, const char *what, modal_error *err);

/* MODAL_ERROR_USAGE where `from` is NULL, its member `bytes` is no size that such a struct has (a multiple of 8, at most 4096), or it has a member that
 * this library does not know and that is set. Copies as much of it as both know; the rest of `to` is 0. */
modal_status motion_take(void *to, size_t to_bytes, const void *from, const char *what, modal_error *err);

/* motion_solid.c: the basis of a volume, and its fields in a frame of the trajectory, which may be one of the caller's coordinates. */
modal_status motion_read_solids(modal_motion *motion, modal_error *err);
modal_status motion_fields(modal_motion *motion, const modal_trajectory *trajectory, int64_t frame, const modal_motion_arrays *to,
                           modal_error *err);
int motion_wants_fields(const modal_motion_arrays *to);

/* motion_curvature.c: of positions [n_points, 3] that a frame has. */
int motion_wants_curvature(const modal_motion_arrays *to);
modal_status motion_make_curvature(modal_motion *motion, const float *positions, const modal_motion_arrays *to, modal_error *err);
struct motion_curvature *motion_curvature_delete(struct motion_curvature *curvature); /* returns NULL; NULL is fine */

/* motion_names.c: the names of materials; and groups, later. */
modal_status motion_find_materials(modal_motion *motion, modal_error *err);
void motion_free_names(modal_motion *motion);

/* motion_frame.c: a source of the modal matrices that can be cancelled. */
modal_matrix_source motion_matrix(modal_motion *motion);

#endif
