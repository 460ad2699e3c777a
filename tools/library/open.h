/* SPDX-License-Identifier: Apache-2.0 */
/* Open a trajectory, or a basis, and deform the frame that is asked for: the part of libmodaltools that keeps its names and their
 * meaning (the other headers follow the tools). Installed as <modaltools/open.h>; docs/python.md has an example.
 *
 *     modal_motion *motion;
 *     if (modal_motion_open(&motion, "traj.h5", NULL)) return fprintf(stderr, "%s\n", modal_motion_error());
 *     modal_motion_sizes sizes = {.bytes = sizeof sizes};
 *     modal_motion_get_sizes(motion, &sizes);
 *     float *x = malloc(sizes.n_points * 3 * sizeof *x);
 *     modal_motion_arrays to = {.bytes = sizeof to, .positions = x};
 *     for (int64_t i = 0; i < sizes.n_frames; i++)
 *         if (modal_motion_frame(motion, i, &to)) return fprintf(stderr, "%s\n", modal_motion_error());
 *     modal_motion_close(motion);
 *
 * Points are those of all objects, one object after the other, in the user's order of vertices: the order in which modaldeform
 * writes them, and on the CPU the same bytes. Lengths are m, times s; arrays are in row order.
 *
 * Functions that can fail return MODAL_MOTION_OK, 0, or another status, which is the exit code of the tools; the text is
 * modal_motion_error's. The library neither prints nor ends the program. Any thread may use any handle: calls with the same one
 * wait for each other, threads that are to work side by side take one each. modal_motion_cancel waits for nothing, and
 * modal_motion_close must be the handle's last call. HDF5 is used under one lock for all handles; a program that uses the same HDF5
 * library in other threads itself calls modal_motion_open, and the first modal_motion_frame, under its own lock.
 *
 * Structs begin with their size, which the caller sets: a program that was compiled with an older header works with a newer
 * library, and members that it leaves zero are not wanted. A size that no such struct has, and NULL for an array of more than 0
 * values, are MODAL_MOTION_USAGE. Symbols have the version MODALTOOLS_OPEN_1. */
#ifndef MODALTOOLS_OPEN_H
#define MODALTOOLS_OPEN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MODAL_MOTION_INTERFACE = 3 }; /* of this header; grows when functions or members are added */

enum {
    MODAL_MOTION_OK = 0,
    MODAL_MOTION_USAGE = 2,      /* a call that makes no sense: a frame that is not there, an array without room */
    MODAL_MOTION_INPUT = 3,      /* a file or a number in it is wrong */
    MODAL_MOTION_SYSTEM = 4,     /* memory, disk, no such back end */
    MODAL_MOTION_NO_BASIS = 13,  /* of modal_motion_open: the trajectory's basis is not where its link leads; who opens it may ask for it */
    MODAL_MOTION_CANCELLED = 130 /* modal_motion_cancel */
};

typedef struct modal_motion modal_motion;

typedef struct modal_motion_options {
    size_t bytes;         /* sizeof(modal_motion_options) */
    const char *basis;    /* the basis, where the trajectory's own link does not lead to it; NULL: by the link */
    const char *back_end; /* "cpu", "cuda", "cuda:N", "ref", "auto"; NULL: "cpu" */
    int64_t memory_limit; /* bytes that the handle may take about; what of U does not fit is read for every frame, by ranges.
                           * 0: half of the machine's memory */
    int32_t threads;      /* of the CPU back end; 0: all cores but those that other processes keep busy */
    int32_t volume;       /* 0: the surfaces; 1: the nodes and elements of the solids, which need modes at their nodes */
} modal_motion_options;

typedef struct modal_motion_sizes {
    size_t bytes;         /* sizeof(modal_motion_sizes) */
    int64_t n_frames;     /* 0: a basis */
    int64_t n_objects, n_shapes;
    int64_t n_points;     /* of a frame, all objects */
    int64_t n_triangles;  /* of all objects; 0 of volumes */
    int64_t n_cells, n_corners; /* elements of volumes, and the sum of their nodes; 0 of surfaces */
    int64_t n_coordinates; /* reduced coordinates of all objects */
    int64_t n_materials; /* names; see modal_motion_get_materials */
    int64_t n_groups;    /* once modal_motion_read_groups has read them */
    int64_t streamed_bytes; /* of U, read for every frame since they do not fit; known once a frame was made */
} modal_motion_sizes;

/* Where a frame goes; NULL: not wanted. No alignment is asked for. An array must have room for what stands beside it. */
typedef struct modal_motion_arrays {
    size_t bytes;        /* sizeof(modal_motion_arrays) */
    float *positions;    /* [n_points, 3] m, in the world */
    float *normals;      /* [n_points, 3] of length 1, area-weighted, of the deformed surface; 0 where there is no area */
    float *displacement; /* [n_points, 3] m, R U q */
    float *speed;        /* [n_points] m/s, by central differences of the trajectory; one-sided at its ends */
    float *tangents;     /* [n_points, 4] of surfaces with texture coordinates; the last is the handedness, 1 or -1 */
    float *strain, *stress, *von_mises;                   /* of the cells of volumes: [n_cells, 6], [n_cells, 6] Pa, [n_cells] Pa */
    float *strain_nodes, *stress_nodes, *von_mises_nodes; /* of their nodes: [n_points, 6], [n_points, 6] Pa, [n_points] Pa */
    /* Since interface 3. det F of volumes, by the law that moved each object: of their cells [n_cells], and their nodes [n_points]. */
    float *jacobian, *jacobian_nodes;
    /* Curvature of the deformed surface, as modaldeform --fields has it: 1/m, 1/m, 1/m, 1/m^2 [n_points]; unit vectors [n_points, 3];
     * its derivative [n_points, 4] 1/m^2; 1 at a boundary of the surface, else 0 [n_points]. */
    float *k_max, *k_min, *mean_curvature, *gauss_curvature, *direction_max, *direction_min, *curvature_derivative, *boundary;
} modal_motion_arrays;

/* ---- opening ---- */

/* MODAL_MOTION_INTERFACE of the library, and its version, "0.1.0". */
int32_t modal_motion_interface(void);
const char *modal_motion_library(void);

/* Opens traj.h5, whose basis is found as the tools find it, or basis.h5. `options` may be NULL. *motion is NULL after an error.
 * The modal matrices are read when the first frame is asked for. */
int32_t modal_motion_open(modal_motion **motion, const char *path, const modal_motion_options *options);
void modal_motion_close(modal_motion *motion); /* NULL is fine */

/* What the calling thread's last call that failed says: one line, `where: what, value`. Good until its next call that fails. */
const char *modal_motion_error(void);

/* Ends the call that another thread is in, with MODAL_MOTION_CANCELLED; where there is none, nothing happens. */
void modal_motion_cancel(modal_motion *motion);

/* ---- what there is ---- */

int32_t modal_motion_get_sizes(modal_motion *motion, modal_motion_sizes *sizes);

/* These belong to the handle and are good until it is closed. An index that is out of range gives NULL. */
const char *modal_motion_shape_name(const modal_motion *motion, int64_t shape);
const char *modal_motion_material_name(const modal_motion *motion, int64_t material);
const char *modal_motion_basis_path(const modal_motion *motion);
const char *modal_motion_back_end(const modal_motion *motion);          /* "cpu"; what was asked for until a frame was made */
const double *modal_motion_times(const modal_motion *motion);           /* [n_frames] s */
const double *modal_motion_coordinates(const modal_motion *motion);     /* q [n_frames, n_coordinates] kg^1/2 m; NULL: a basis */
const double *modal_motion_poses(const modal_motion *motion);           /* [n_frames, n_objects, 3, 4]; NULL: the rest poses */
const double *modal_motion_rest_poses(const modal_motion *motion);      /* [n_objects, 3, 4] */
const double *modal_motion_frequencies(const modal_motion *motion);     /* [n_coordinates] Hz of the coordinates' modes */
const int32_t *modal_motion_object_shapes(const modal_motion *motion);  /* [n_objects] */
const int64_t *modal_motion_first_points(const modal_motion *motion);   /* [n_objects + 1] object i has points [i, i + 1) of these */
const int64_t *modal_motion_first_cells(const modal_motion *motion);    /* likewise triangles, of volumes cells */
const int64_t *modal_motion_first_coordinates(const modal_motion *motion); /* likewise reduced coordinates */

/* These fill the caller's arrays. */
int32_t modal_motion_get_triangles(modal_motion *motion, int64_t *triangles); /* [n_triangles, 3] points, in the user's order */
/* connectivity [n_corners] points, in VTK's order; offsets [n_cells + 1]; types [n_cells] of VTK */
int32_t modal_motion_get_cells(modal_motion *motion, int64_t *connectivity, int64_t *offsets, uint8_t *types);
int32_t modal_motion_get_rest(modal_motion *motion, float *positions);        /* [n_points, 3] m, in the world at rest */
/* [n_triangles], of volumes [n_cells]: the number of the material's name, -1: none. Of surfaces these are names of the user's
 * file (usemtl), of volumes the elements' materials. Shapes that have a name in common share its number. */
int32_t modal_motion_get_materials(modal_motion *motion, int32_t *materials);
/* [n_coordinates] m: how far one unit of a coordinate moves a point at most. Reads all of U. */
int32_t modal_motion_get_reach(modal_motion *motion, double *reach);

/* Reads the named groups of the solids, of all shapes, which until then are not there. Of volumes a group has its nodes and,
 * where it is one of elements, these; of a surface that is the boundary of its solid the vertices that are nodes of the group, and
 * the triangles all of whose corners are. Other surfaces have none. */
int32_t modal_motion_read_groups(modal_motion *motion);
typedef struct modal_motion_group {
    size_t bytes;
    const char *name; /* the handle's */
    int64_t shape;
    int32_t dimension; /* 3: of elements; 0 to 2: of nodes */
    int64_t n_points, n_cells; /* of all objects of the shape */
} modal_motion_group;
int32_t modal_motion_get_group(modal_motion *motion, int64_t index, modal_motion_group *group);
/* points [n_points], cells [n_cells], ascending; either may be NULL. */
int32_t modal_motion_get_group_members(modal_motion *motion, int64_t index, int64_t *points, int64_t *cells);

/* ---- frames ---- */

/* A frame of the trajectory, 0 <= frame < n_frames. After an error the arrays hold anything. */
int32_t modal_motion_frame(modal_motion *motion, int64_t frame, const modal_motion_arrays *to);

/* Frames first, first + step, ..., n of them, one after the other in each array: positions [n, n_points, 3], and so on. Where several are
 * wanted this takes less than one call each: a pass over the modal matrices makes up to 16 frames, as long as their positions, and normals where
 * these are wanted, have 192 MB. With normals, and for vertices at random in the user's order, as much more memory is taken until the handle is
 * closed. Since interface 2. */
int32_t modal_motion_frames(modal_motion *motion, int64_t first, int64_t step, int64_t n, const modal_motion_arrays *to);

/* The frame of q [n_coordinates] and poses [n_objects, 3, 4] (NULL: the rest poses). Speeds need q_rates, their rates of change,
 * and take pose_rates where poses move (NULL: they do not). */
int32_t modal_motion_at(modal_motion *motion, const double *q, const double *poses, const double *q_rates,
                        const double *pose_rates, const modal_motion_arrays *to);

/* Positions [n, n_points, 3] of some points in frames first, first + step, ...; nothing else is deformed. In float64: small motions of
 * places far from the origin keep their digits. */
int32_t modal_motion_probe(modal_motion *motion, int64_t n_points, const int64_t *points, int64_t first, int64_t step, int64_t n,
                           double *positions);

#ifdef __cplusplus
}
#endif
#endif
