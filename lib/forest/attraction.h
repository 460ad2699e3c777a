/* SPDX-License-Identifier: Apache-2.0 */
/* Attraction between the free objects of a scene ("attraction"): gravity, or charges with their signs.
 *
 * The centre of an object is the area-weighted mean of its surface's vertices, where they are: there the forces act, in
 * equal shares of area, so a pair's forces are opposite and in one line. With weights w (the objects' masses, or what
 * "charge" says) the force on i is  strength sum_j w_i w_j d / (|d|^2 + softening^2)^(3/2),  d from i to j.
 * Forces are wanted at the end of a step, which is not known before: centres go on from where their objects are, by the
 * velocity and the acceleration of their frames and the velocity of q, up to the third power of the step. So the rules
 * stay of second order. All objects take the same steps (modal_judge_setup.together), so their forces are of one moment and
 * add up to nothing. Where Newton's method divides a step of one object alone, it sees the others moved to its time in the
 * same way.
 * Everything is float64 (kernels/pair_sum, modal_pair_sum_exact). */
#ifndef MODAL_FOREST_ATTRACTION_H
#define MODAL_FOREST_ATTRACTION_H

#include "lib/forest/forest.h"
#include "lib/forest/forest_tables.h"
#include "lib/model/scene.h"

typedef struct modal_attraction {
    int32_t n; /* free objects */
    int32_t *objects;     /* [n] */
    int64_t *points;      /* [n] the point of each among those of the forces */
    int64_t *tables;      /* [n] in means: rest position and modes of its centre */
    int64_t *coordinates; /* [basis objects + 1] */
    modal_forest_tables means;
    double strength, softening;
    uint8_t *together;    /* [basis objects] those of `objects`; NULL where n is 0 */
    double *weights;      /* [n] */
    double *bodies;       /* [n, 4] centres and weights */
    double *forces;       /* [n, 3] */
    double *q, *v;        /* [coordinates] as far as each tree is; scratch */
    modal_step_pose *poses; /* [basis objects] likewise */
} modal_attraction;

/* Makes the list of free objects; n 0: the scene has no attraction. `bodies`: of the basis's objects.
 * MODAL_ERROR_INPUT: none is free, or a charge is given to one that is not, or without attraction. */
modal_status modal_attraction_list(modal_attraction *a, const modal_scene *scene, const modal_basis *basis,
                                   const modal_body *bodies, modal_error *err);
/* Makes the centres' tables; modal matrices are there. */
modal_status modal_attraction_prepare(modal_attraction *a, const modal_basis *basis, modal_error *err);
void modal_attraction_free(modal_attraction *a);

/* Adds the forces at `time` to forces [points, 3]; NaN where the state cannot be read, which no step takes. */
void modal_attraction_add(modal_attraction *a, modal_forest *forest, const modal_basis *basis, double time, double *forces);

/* - strength sum over pairs of w_i w_j / sqrt(|d|^2 + softening^2), J, of objects that are at poses with q. */
double modal_attraction_potential(modal_attraction *a, const modal_basis *basis, const modal_step_pose *poses, const double *q);

/* The largest of the frequencies, Hz, at which two of the objects would go around each other where they are; 0: none. */
double modal_attraction_frequency(modal_attraction *a, const modal_basis *basis, const modal_body *bodies);

#endif
