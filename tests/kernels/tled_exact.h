/* SPDX-License-Identifier: Apache-2.0 */
/* Forces on the nodes of a solid as textbooks write them, in long double: what tled_step is held to. */
#ifndef MODAL_TESTS_TLED_EXACT_H
#define MODAL_TESTS_TLED_EXACT_H

#include "kernels/tled_step/tled_solid.h"

/* F of H, and F^-T; returns J. */
long double exact_inverse(const long double h[9], long double f[9], long double inverse[9]);

/* Adds to force [n_nodes, 3] those of all elements at displacements u [n_nodes, 4], N, and to size [n_nodes] the sizes of their parts,
 * which bounds are made of. before: length of the step that led there, s; Prony terms start from 0. */
void exact_forces(const modal_tled_solid *s, const double *u, double before, long double *force, double *size);

/* Takes the loads off force; gravity [3] or NULL, signals [n_signals]. */
void exact_loads(const modal_tled_solid *s, const double *gravity, const double *signals, const double *u, long double *force,
                 double *size);

/* As modal_tled_put_out, of a point that was not on the axis; the way out is halved until it is found. *steep: how many times as far off as x
 * its new place may be. */
int exact_put_out(const modal_tled_contact *body, const double *before, const double *at, const long double from[3], long double x[3],
                  double *steep);

/* The mean H of a macro-element at u [n_nodes, 4], and the size of what it is summed of. */
void exact_mean(const modal_tled_solid *solid, int64_t macro, const double *u, long double h[9], double *size);

#endif
