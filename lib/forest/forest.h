/* SPDX-License-Identifier: Apache-2.0 */
/* A forest of reduced bodies, ready to be stepped: the objects of a basis, each still, driven, free or
 * hanging on another one, with their tables on a device (kernels/reduced_step/reduced_step.h has the
 * equations and the methods). Steps that do not converge are halved, for the trees concerned only. */
#ifndef MODAL_FOREST_FOREST_H
#define MODAL_FOREST_FOREST_H

#include <stdint.h>

#include "kernels/operations.h"
#include "kernels/reduced_step/reduced_step.h"
#include "lib/model/basis.h"
#include "lib/scene/body.h"

/* A place where forces act: a stored vertex, or a patch of the surface that feels the air. */
typedef struct modal_body_point {
    int32_t object;
    int64_t first_vertex, n_vertices; /* stored indices; a patch is their area-weighted mean */
    double drag;                      /* kg/m */
} modal_body_point;

enum { MODAL_FOREST_MANY = 4096 }; /* objects; of fewer a team of threads takes longer to wake than to copy */

typedef struct modal_forest_setup {
    const modal_body *bodies; /* [basis objects] */
    int64_t n_points;
    const modal_body_point *points; /* by ascending object */
    const modal_step_air *air;      /* or NULL */
    double gravity[3];
    double tolerance; /* relative residual */
    double radius;    /* of MODAL_STEP_ALPHA: its spectral radius at infinity, 0 to 1 */
    int32_t most_iterations, most_halvings; /* of a step; five times the iterations in statics */
    int n_threads;    /* for the preparation, and for state of MODAL_FOREST_MANY objects and more */
} modal_forest_setup;

/* What acts at a time; called before every step, by the thread that steps. Where a load jumps at `time`, it is wanted
 * as it is on the side of the time `near`. */
typedef struct modal_forest_loads {
    void *context;
    /* forces [n_points, 3] in N, world axes, for the points in the order of the setup; NULL: there are none,
     * but for the air's */
    void (*forces)(void *context, double time, double near, double *forces);
    /* the frame, with its derivatives, of a driven object */
    void (*drive)(void *context, int32_t object, double time, double near, modal_step_pose *pose);
    /* gravity instead of the setup's, m/s^2; NULL: it does not change */
    void (*gravity)(void *context, double time, double near, double *gravity);
} modal_forest_loads;

typedef struct modal_forest modal_forest;

/* About the bytes that modal_forest_new will take at most, on a device with memory of its own in both memories. */
int64_t modal_forest_bytes(const modal_basis *basis, const modal_forest_setup *setup, const modal_device *device);

/* The basis needs its modes, for points and attached objects its surface and matrix, for objects that
 * are not fixed its solid with modes at the nodes. Everything is copied. q and v start at 0.
 * MODAL_ERROR_INPUT: no reduced forces where the body is not linear; an attached object without
 * parent, or whose parent has fewer than 3 vertices; a free or driven object with a parent. */
modal_status modal_forest_new(modal_forest **forest, const modal_basis *basis,
                              const modal_forest_setup *setup, const modal_device *device,
                              modal_error *err);
modal_forest *modal_forest_delete(modal_forest *forest);

/* The state. Arrays are in the order of the basis's objects; what they have of exact objects is left as it is. */
typedef struct modal_forest_state {
    double *q, *v, *a;            /* [coordinates] */
    double *lag;                  /* [coordinates], then [objects, 6] of free roots (modal_step_task) */
    modal_step_pose *poses;     /* [objects] */
    modal_step_measure *measures; /* [objects] */
} modal_forest_state;
/* Any of the pointers may be NULL. */
modal_status modal_forest_get(modal_forest *forest, const modal_forest_state *state, modal_error *err);
modal_status modal_forest_set(modal_forest *forest, const modal_forest_state *state, modal_error *err);

/* Device arrays q and v [coordinates], and the stream, for lib/oscillators. */
void modal_forest_coordinates(modal_forest *forest, double **q, double **v, modal_stream **stream);

/* Trees, whose objects move together and have nothing to do with those of others; and that of an object of the basis,
 * -1 for an exact one. */
int32_t modal_forest_trees(const modal_forest *forest);
int32_t modal_forest_tree_of(const modal_forest *forest, int32_t object);

/* The object of the basis that is a tree's root. */
int32_t modal_forest_root(const modal_forest *forest, int32_t tree);

/* The mass of an object, kg, and of one whose frame moves its first moments in its own axes, kg m, else zeros; zeros of an exact one. */
double modal_forest_mass(const modal_forest *forest, int32_t object, double first[3]);

/* Whether MODAL_STEP_ENERGY moves the tree. */
int modal_forest_keeps_energy(const modal_forest *forest, int32_t tree);

/* The time of each tree's state, [modal_forest_trees], borrowed: while forces are asked for, trees may be at different
 * ones. Of trees that have not been stepped since modal_forest_set: as before. */
const double *modal_forest_times(const modal_forest *forest);

/* Halvings that every step of a tree begins with, [modal_forest_trees], borrowed; NULL: none. At most most_halvings. */
void modal_forest_set_levels(modal_forest *forest, const int32_t *levels);

/* The trees of the step that failed last, nonzero. */
const uint8_t *modal_forest_failed(const modal_forest *forest);

/* From `time` to time + h, of the trees [modal_forest_trees] that are not 0 (NULL: all); no load has a corner in between.
 * MODAL_STEP_STATIC: to the equilibrium at `time` under the loads on its way to time + h, where that fails by parts of
 * the loads, halved as steps are.
 * MODAL_ERROR_NOT_CONVERGED: "object 3: t = 0.1 s: ..., try ..."; the state of the tree concerned is
 * then that of the last step that converged. */
modal_status modal_forest_step(modal_forest *forest, const modal_forest_loads *loads,
                               modal_step_rule rule, double time, double h, const uint8_t *trees,
                               modal_error *err);

/* Makes accelerations those of the loads at `time`, as they are on the side of `near`: before the first step of Newmark's
 * rule, and after a jump. */
modal_status modal_forest_settle(modal_forest *forest, const modal_forest_loads *loads, double time, double near,
                                 const uint8_t *trees, modal_error *err);

/* Updates kinetic and elastic energy in the measures. */
modal_status modal_forest_measure(modal_forest *forest, modal_error *err);

/* Corrections and halvings since the beginning, for reports. */
void modal_forest_counts(const modal_forest *forest, int64_t *steps, int64_t *iterations,
                         int64_t *halvings);

#endif
