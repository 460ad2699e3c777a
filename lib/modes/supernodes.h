/* SPDX-License-Identifier: Apache-2.0 */
/* The structure of a factor, and its numbers: K - sigma M = L D L^T. Private to the room.
 *
 * No pivots are taken. Where K - sigma M is positive definite none are needed. Above an eigenvalue it is
 * not, and then the signs of D say how many eigenvalues lie below sigma (Sylvester's law of inertia), as
 * long as the growth of L, which is measured, leaves the pivots their signs. */
#ifndef MODAL_MODES_SUPERNODES_H
#define MODAL_MODES_SUPERNODES_H

#include <stdint.h>

#include "lib/base/progress.h"
#include "lib/base/status.h"
#include "lib/fem/assemble.h"
#include "lib/modes/rows.h"

/* Supernode s has columns [first[s], first[s + 1]), the row indices rows[rows_at[s] .. rows_at[s + 1]), its
 * own columns first, and from values_at[s] on a dense column-major matrix of them. Supernodes are numbered
 * in a postorder of the elimination tree. */
typedef struct modal_supernodes {
    int64_t n, n_supernodes;
    int64_t *first, *rows_at, *values_at; /* [n_supernodes + 1] */
    int64_t *rows;
    int64_t *parent; /* [n_supernodes] -1: a root */
} modal_supernodes;

/* Fills `parent` from the rest. */
modal_status modal_supernodes_link(modal_supernodes *supernodes, modal_error *err);
void modal_supernodes_free(modal_supernodes *supernodes);

/* Members [from, to] of a forest in postorder that form a tree. */
typedef struct modal_subtree {
    int64_t from, to;
} modal_subtree;

/* Parts of a forest: trees, and members above them; both ascending. */
typedef struct modal_cut {
    int64_t n_subtrees, n_top;
    modal_subtree *subtrees; /* room for all members, likewise: */
    int64_t *top;
} modal_cut;

/* Cuts a forest in postorder into the largest trees of weight <= limit and what is above them. weight is summed up in
 * place; begin [n] is scratch. */
void modal_cut_subtrees(int64_t n, const int64_t *parent, double *weight, int64_t *begin, double limit, modal_cut *cut);

/* What to factor: the nodes in the order of elimination. */
typedef struct modal_ldl_input {
    const modal_fem_system *system;
    const modal_row_mass *rows; /* the node graph with both triangles */
    const int64_t *order;       /* [n_nodes] the node eliminated as k-th */
    const int64_t *place;       /* [n_nodes] its inverse */
    double shift;
    modal_precision precision;
    const double *scale; /* [n] S: it is S (K - sigma M) S that is factored; NULL: 1 */
    double least;        /* smaller pivots become this; -INFINITY: none does */
    double lift;         /* what the diagonal has more than K - sigma M, relative to it */
    const char *stage;   /* for the progress */
} modal_ldl_input;

typedef struct modal_ldl_output {
    int64_t n_negative;    /* pivots below zero */
    int64_t first_negative; /* column, -1: none */
    int64_t n_raised;      /* pivots that became `least` */
    double lowest_raised;  /* the most negative of them, 0: none was negative */
    int broken;            /* a pivot was zero or not finite: the counts mean nothing */
} modal_ldl_output;

/* L, with unit diagonal, into values, doubles or floats, and D into pivots [n]. The same bytes for every n_threads. */
modal_status modal_ldl_compute(const modal_supernodes *supernodes, const modal_ldl_input *input,
                               int n_threads, void *values, double *pivots,
                               modal_ldl_output *output, const modal_progress *progress, modal_error *err);

/* The largest element of |L| |D| |L|^T beside the largest of the diagonal of K - sigma M: rounding errors
 * of the pivots are as large as if K - sigma M had errors of eps times this. */
double modal_ldl_growth(const modal_supernodes *supernodes, const double *values,
                        const double *pivots, double *scratch);

#endif
