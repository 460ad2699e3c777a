/* SPDX-License-Identifier: Apache-2.0 */
/* The motion of a solid on a back end: from rest, in steps of one length, or of another one from some step on, to the frames that are asked for. */
#ifndef MODAL_TLED_MOTION_H
#define MODAL_TLED_MOTION_H

#include "kernels/registry.h"
#include "kernels/tled_step/tled_step.h"
#include "lib/base/progress.h"
#include "lib/tled/forces.h"
#include "lib/tled/loads.h"

/* Columns of /energy (formats/snapshots.md). */
enum {
    MODAL_TLED_KINETIC,
    MODAL_TLED_INTERNAL,
    MODAL_TLED_DAMPED,
    MODAL_TLED_LOADS,
    MODAL_TLED_HELD,
    MODAL_TLED_BALANCE,
    MODAL_TLED_ENERGIES
};

/* Columns of /energy_parts (formats/snapshots.md), which are parts of the internal one. */
enum { MODAL_TLED_HOURGLASS, MODAL_TLED_VISCOUS, MODAL_TLED_PARTS };

typedef struct modal_tled_motion modal_tled_motion;

/* How it is moved. energy: 1 where modal_tled_motion_energy will be asked for; reactions: those. */
typedef struct modal_tled_motion_options {
    modal_tled_precision precision;
    double step; /* s */
    int energy, reactions, follows; /* follows: lib/tled/follow.h asks for the stiffest, and goes back */
    const modal_device *devices; /* [n_devices] of CUDA that share the steps, borrowed; the first of them is the motion's; read */
    int n_devices;               /* where there are two or more (kernels/tled_layout/tled_layout.h) */
    double kernel_step; /* what a step is for the kernels, where that is not the time that goes by; 0: step */
} modal_tled_motion_options;

/* Device, model and scene are borrowed. */
modal_status modal_tled_motion_new(const modal_device *device, const modal_tled_model *model, const modal_solid_scene *scene,
                                   const modal_tled_motion_options *options, modal_tled_motion **motion, modal_error *err);
modal_tled_motion *modal_tled_motion_delete(modal_tled_motion *motion); /* NULL is fine; gives NULL */

/* Steps until `n` are done. MODAL_ERROR_NOT_CONVERGED where an element is turned or a value is not finite: `element` (of
 * the mesh, -1: none) and the message "t = T s (step N): J = ..."; MODAL_ERROR_INTERRUPTED by the progress callback. */
modal_status modal_tled_motion_advance(modal_tled_motion *motion, int64_t n, const modal_progress *progress,
                                       int64_t *element, modal_error *err);

int64_t modal_tled_motion_steps(const modal_tled_motion *motion);           /* that are done */
double modal_tled_motion_time(const modal_tled_motion *motion, int64_t n); /* s, after n >= those steps: a product and a sum */
double modal_tled_motion_step(const modal_tled_motion *motion);            /* s, of the next one */

/* The steps to come have another length. */
void modal_tled_motion_restep(modal_tled_motion *motion, double step);

/* Where the solid has `stiffness` and the motion `follows`: `stiffest` of kernels/tled_step for the state at hand. Keeps the state on
 * the device; brings it back, whatever has happened since, a turned element included. */
modal_status modal_tled_motion_stiffest(modal_tled_motion *motion, double *stiffest, modal_error *err);
modal_status modal_tled_motion_keep(modal_tled_motion *motion, modal_error *err);
modal_status modal_tled_motion_back(modal_tled_motion *motion, modal_error *err);

/* The mesh's index of an element of the solid. */
int64_t modal_tled_motion_element(const modal_tled_motion *motion, int64_t element);

/* For steps that are not those of time (lib/tled/steady.h): damping, 1/s of the kernels' steps; after masses of the model have
 * changed; d of the last step [n_nodes, 3] in the solid's order; whether the state is in main memory. */
void modal_tled_motion_damp(modal_tled_motion *motion, double alpha);
modal_status modal_tled_motion_relayout(modal_tled_motion *motion, modal_error *err);
modal_status modal_tled_motion_increments(modal_tled_motion *motion, double *d, modal_error *err);
int modal_tled_motion_is_here(const modal_tled_motion *motion);
int modal_tled_motion_is_double(const modal_tled_motion *motion);
const modal_solid_scene *modal_tled_motion_scene(const modal_tled_motion *motion);

/* The state in the mesh's order of nodes: u [n_nodes, 3] m (or NULL), and d / step, the velocity half a step before, [n_nodes, 3],
 * NULL: not asked for. Refuses what is not finite, MODAL_ERROR_NOT_CONVERGED. */
modal_status modal_tled_motion_state(modal_tled_motion *motion, double *u, double *velocity, modal_error *err);

/* For frames that leave beside the steps (lib/tled/frames.h): arrays of the state on the device, u (which 0) or d (1), as
 * kernels/tled_step has them, of so many bytes; the stream of the steps; s, of the step that led to the state, 0: none. */
const void *modal_tled_motion_array(const modal_tled_motion *motion, int which);
int64_t modal_tled_motion_array_bytes(const modal_tled_motion *motion);
int64_t modal_tled_motion_nodes(const modal_tled_motion *motion);
const modal_device *modal_tled_motion_device(const modal_tled_motion *motion);
modal_stream *modal_tled_motion_stream(const modal_tled_motion *motion);
double modal_tled_motion_before(const modal_tled_motion *motion);

/* Such an array, in main memory, over `over` (0: zeros), of time `time`. */
typedef struct modal_tled_spread {
    const void *array;
    double time, over;
    int n_threads;
} modal_tled_spread;

/* Into the mesh's order: to [n_nodes, 3]. Refuses what is not finite, MODAL_ERROR_NOT_CONVERGED. Reads nothing of the motion that steps
 * change. */
modal_status modal_tled_motion_spread(const modal_tled_motion *motion, const modal_tled_spread *spread, double *to, modal_error *err);

/* Displacements in the solid's order, after modal_tled_motion_state. Borrowed. */
const double *modal_tled_motion_own(const modal_tled_motion *motion);

/* What of the energies is for the quality of a frame: sums over elements; kinetic energy, J, of mass that mass scaling has added. */
typedef struct modal_tled_measures {
    modal_tled_sums sums;
    double added_kinetic;
} modal_tled_measures;

/* Of half a step before, after modal_tled_motion_state; energies [MODAL_TLED_ENERGIES], parts [MODAL_TLED_PARTS] J. With Prony terms
 * the internal energy is the work of the elements' forces: what it has more than the energy of laws, fibres and hourglass control is
 * the terms'. Without them it is that energy, and the balance tells how well steps keep it. With steps that are not those of time
 * kinetic energy and damping are those of the masses at hand. */
modal_status modal_tled_motion_energy(modal_tled_motion *motion, const modal_tled_forces *forces, double *energies, double *parts,
                                      modal_tled_measures *measures, modal_error *err);

/* Adds to what is damped, J, where energies are asked for: kinetic energy that masses have lost by becoming others. */
modal_status modal_tled_motion_add_damped(modal_tled_motion *motion, double energy, modal_error *err);

/* All that the motion goes on from, byte by byte: of the same model, scene, options and back end. bytes: how many. */
int64_t modal_tled_motion_save_bytes(const modal_tled_motion *motion);
modal_status modal_tled_motion_save(modal_tled_motion *motion, void *to, modal_error *err);
modal_status modal_tled_motion_load(modal_tled_motion *motion, const void *from, modal_error *err);

/* What each body did to the solid in the last step: [scene->n_contacts, 3] N. */
modal_status modal_tled_motion_touches(modal_tled_motion *motion, double *forces, modal_error *err);

/* Forces that hold the prescribed components, of the last step: [n_nodes, 3] in the mesh's order, 0 elsewhere. */
modal_status modal_tled_motion_reactions(modal_tled_motion *motion, double *reactions, modal_error *err);

#endif
