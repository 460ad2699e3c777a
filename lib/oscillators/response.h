/* SPDX-License-Identifier: Apache-2.0 */
/* The steady state of linear objects under loads that all go as cos(W t), W = 2 pi f: by mode superposition,
 *
 *     q_k(t) = Re Q_k e^(i W t),      Q_k = L_k / (k - W^2 + i W d),
 *
 * with the stiffness k and the damping d of q'' + d q' + k q = L cos(W t), the oscillator of
 * lib/oscillators/oscillator.h that the exact integrator steps; so this is what a run with sine curves tends to
 * when damping has taken the free motion. L has the forces and -acceleration of the supports (motion is
 * relative to them). Source: R. W. Clough and J. Penzien, Dynamics of Structures, 1975, chapters 4 and 13. */
#ifndef MODAL_OSCILLATORS_RESPONSE_H
#define MODAL_OSCILLATORS_RESPONSE_H

#include "lib/model/basis.h"
#include "lib/model/scene.h"

typedef struct modal_response modal_response;

/* Scene (with a response) and basis are borrowed; the basis needs what modal_scene_needs says. MODAL_ERROR_INPUT
 * "objects[3]: ..." for what the basis does not have, an object that hangs on another, or coupled columns. */
modal_status modal_response_new(modal_response **response, const modal_scene *scene, const modal_basis *basis,
                                modal_error *err);
modal_response *modal_response_delete(modal_response *response);

/* Values a frequency: 3 a probe, its displacement along x, y and z of the world, m; without probes every q of
 * every object, in the basis's order, kg^1/2 m. */
int64_t modal_response_count(const modal_response *response);

/* The frequencies of the table, Hz, ascending: the scene's points, of which the last is `to` itself, and with `peaks` three for every mode
 * between its ends that is loaded and damped, at its peak and where its half of the energy is. The caller frees *frequencies [*n] with
 * modal_free. MODAL_ERROR_MEMORY. */
modal_status modal_response_frequencies(const modal_response *response, double **frequencies, int64_t *n, modal_error *err);

/* Amplitudes (>= 0) and phases (degrees in (-180, 180], against the load: negative where the motion is late) at
 * f Hz, [count] each. A zero of amplitude has phase 0. MODAL_ERROR_INPUT where an undamped mode is driven at its
 * own frequency, or a value is not finite; the arrays are then undefined. One call at a time a response. */
modal_status modal_response_at(modal_response *response, double f, double *amplitude, double *phase,
                               modal_error *err);

/* Of the objects that are loaded the largest part that the basis leaves out of the motion at f, which modal_response_at was called for last:
 * that of the slow motions beside it, over these and its modes, in the norm of the mass; *object has it. Objects that deform and whose basis
 * does not say what is beside it: modal_response_missing, a sum of modal_missing. */
double modal_response_left_out(const modal_response *response, double f, int32_t *object);
unsigned modal_response_missing(const modal_response *response);

#endif
