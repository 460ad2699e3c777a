/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps of the eigenvalue computation share, and modal derivatives (lib/reduced) use.
 * Sets of vectors have shape [n_vectors, n], n = 3 n_free: by columns n x n_vectors. */
#ifndef MODAL_MODES_PROBLEM_H
#define MODAL_MODES_PROBLEM_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/progress.h"
#include "lib/base/status.h"
#include "lib/fem/assemble.h"
#include "lib/fem/rigid.h"
#include "lib/modes/factor.h"
#include "lib/modes/modes.h"
#include "lib/modes/rows.h"

typedef struct modal_modes_inner modal_modes_inner; /* conjugate.c */

typedef struct modal_modes_problem {
    const modal_volume_mesh *mesh;
    modal_fem_system system;
    modal_rigid_space rigid;
    const modal_row_mass *mass; /* the factor's */
    modal_factor *factor;
    int64_t n;         /* free degrees of freedom */
    double shift;      /* sigma */
    double matrix_noise; /* (rad/s)^2, rounding error of the largest eigenvalue: what a dense solver leaves in all, and a
                            factor may take from sigma */
    int n_threads;
    uint64_t random; /* state of the generator of start vectors */
    const modal_progress *progress;
    modal_row *coefficients;  /* [n_parts, depth] of rigid motions */
    modal_modes_inner *inner; /* where the factor is in floats, else NULL */
    double done;              /* for the progress */
    int64_t n_solves, n_inner; /* right-hand sides of the operator; of the factor in floats */
    double expected_solves; /* for the progress */
    /* modes found already, which the operator leaves out */
    int64_t n_locked;
    const double *locked;      /* [n_locked, n] M-orthonormal */
} modal_modes_problem;

/* y = P (K - sigma M)^-1 mx for eight interleaved vectors; not the same array. Asks the progress. */
modal_status modal_modes_apply_rows(modal_modes_problem *problem, const modal_row *mx, modal_row *y,
                                    modal_error *err);

/* What modal_modes_inner_solve works with, once sigma is known. modal_modes_inner_delete returns NULL and accepts it. */
modal_status modal_modes_inner_new(const modal_modes_problem *problem, modal_modes_inner **inner,
                                   modal_error *err);
modal_modes_inner *modal_modes_inner_delete(modal_modes_inner *inner);

/* x = P (K - sigma M)^-1 right for eight interleaved vectors by a factor in floats, to the accuracy of doubles.
 * right^T R = 0 for rigid motions R. MODAL_ERROR_NOT_CONVERGED where it does not come to that. */
modal_status modal_modes_inner_solve(modal_modes_problem *problem, const modal_row *right, modal_row *x,
                                     modal_error *err);

/* y = P (K - sigma M)^-1 mx for n_vectors vectors, where P takes out rigid motions. mx = M x. y may be
 * mx. Asks the progress. */
modal_status modal_modes_apply(modal_modes_problem *problem, int64_t n_vectors, const double *mx,
                               double *y, modal_error *err);

/* Writes where parts of the mesh hang together by nodes or edges only, ": parts hang together at node 7 only"; or else
 * what modal_modes_suspect finds. */
enum { MODAL_LOOSE = 240 };
void modal_modes_loose(const modal_volume_mesh *mesh, char text[MODAL_LOOSE]);

/* Writes what of the mesh makes numbers so different that rounding hides modes, with ": " in front: a Poisson's ratio too
 * near 0.5, or else the flattest element; or nothing, where neither is. */
enum { MODAL_SUSPECT = 160 };
void modal_modes_suspect(const modal_volume_mesh *mesh, char text[MODAL_SUSPECT]);

/* Uniform numbers in [-1, 1). */
void modal_modes_random(modal_modes_problem *problem, int64_t count, double *x);

/* What a Lanczos run saw beyond the modes that it was asked for, ascending: lambda, and a bound of the
 * relative error in 1 / (lambda - sigma). */
enum { MODAL_GUARD = 24 };
typedef struct modal_modes_guard {
    int32_t count;
    double eigenvalues[MODAL_GUARD], errors[MODAL_GUARD];
} modal_modes_guard;

/* How far Lanczos runs go. */
typedef struct modal_modes_limits {
    double tolerance;       /* of the residuals */
    int32_t max_restarts;
    int64_t most_blocks;    /* of eight vectors in the basis, 0: as many as are useful */
    int counted;            /* a Sturm count will find what a narrow block misses */
    int32_t n_more;         /* vectors that are wanted behind those asked for, as good as they are; not when modes are searched again */
} modal_modes_limits;

typedef struct modal_modes_cost {
    int64_t n_restarts;
    int32_t n_refinements, n_recovered;
} modal_modes_cost;

/* The n_wanted largest eigenvalues theta = 1 / (lambda - sigma) of P (K - sigma M)^-1 M and their
 * vectors [n_wanted + limits->n_more, n], M-orthonormal. */
modal_status modal_modes_lanczos(modal_modes_problem *problem, int32_t n_wanted,
                                 const modal_modes_limits *limits, double *vectors,
                                 modal_modes_guard *guard, int64_t *n_restarts, modal_error *err);

/* The most blocks of eight vectors that are of use in a run for n_wanted of n_left eigenvalues, and the
 * fewest with which it works. */
int64_t modal_modes_lanczos_blocks(int64_t n_wanted, int64_t n_left);
int64_t modal_modes_lanczos_fewest(int64_t n_wanted);

/* Counts the eigenvalues below a sigma just above the modes; n_below stays -1 where the pivots do not
 * allow it. The factor is spent. */
modal_status modal_modes_count(modal_modes_problem *problem, int32_t n_modes,
                               const double *eigenvalues, const modal_modes_guard *guard,
                               modal_modes_sturm *sturm, modal_error *err);

/* Eigenpairs that are worked on. */
typedef struct modal_modes_pairs {
    int64_t count;
    double *vectors, *mass_vectors;  /* [count, n], and M times these */
    double *eigenvalues, *residuals; /* [count] */
} modal_modes_pairs;

/* The same of the pairs, and finds what is missing: they are replaced then.
 * MODAL_ERROR_NOT_CONVERGED where count and modes disagree in the end. */
modal_status modal_modes_prove(modal_modes_problem *problem, const modal_modes_limits *limits, const modal_modes_guard *guard,
                               const modal_modes_pairs *pairs, modal_modes_sturm *sturm, modal_modes_cost *cost,
                               modal_error *err);

/* Where there is no count: looks beside the modes for lower ones that were missed, until none turns up, and takes
 * them in. No proof, but a start at random has a part of every mode. */
modal_status modal_modes_search(modal_modes_problem *problem, const modal_modes_limits *limits, const modal_modes_pairs *pairs,
                                modal_modes_cost *cost, modal_error *err);

/* Motions beside modes, M-orthonormal, K diagonal: what they are is in beside.c. */
enum { MODAL_MORE = MODAL_ROW, MODAL_MOST_BESIDE = MODAL_MORE + MODAL_ROW };
typedef struct modal_modes_beside {
    int32_t count;
    double *vectors; /* [count, n] */
    double eigenvalues[MODAL_MOST_BESIDE];
} modal_modes_beside;

/* Of n_more <= MODAL_MORE vectors [n_more, n], which are as good as they are, and static answers. The factor is not spent yet. *beside is
 * zeroed; the caller frees it, also after an error. */
modal_status modal_modes_find_beside(modal_modes_problem *problem, const modal_modes_pairs *pairs, int32_t n_more, const double *more,
                                     modal_modes_beside *beside, modal_error *err);
void modal_modes_beside_free(modal_modes_beside *beside);

/* All modes by dense matrices; hands back the lowest n_wanted (and the n_more that follow) that are not zero in `vectors`, and the
 * n_rigid smallest in magnitude in `rigid_eigenvalues`. More zeros than that: *n_zero tells. */
modal_status modal_modes_dense(const modal_modes_problem *problem, int32_t n_wanted, int32_t n_more, double *vectors,
                               modal_modes_guard *guard, double *rigid_eigenvalues, int64_t *n_zero, modal_error *err);

/* Rayleigh-Ritz in the span of n_vectors vectors: replaces them by the Ritz vectors, ascending and
 * M-orthonormal. Arrays [n_vectors, n]: mass_vectors receives M times the result, work is scratch. */
modal_status modal_modes_rayleigh_ritz(const modal_modes_problem *problem, int64_t n_vectors,
                                       double *vectors, double *mass_vectors, double *work,
                                       double *eigenvalues, modal_error *err);

/* Inverse iteration of the pairs' vectors until all residuals meet the tolerance or rounding stops it, which makes the
 * other members of the pairs; n_steps is counted up. */
modal_status modal_modes_refine(modal_modes_problem *problem, double tolerance, const modal_modes_pairs *pairs,
                                int32_t *n_steps, modal_error *err);

/* worst[i] = max over j of |x_i^T M x_j - delta_ij|; NaN when one of them is. */
modal_status modal_modes_orthogonality(int64_t n, int64_t n_vectors, const double *vectors,
                                       const double *mass_vectors, int n_threads, double *worst, modal_error *err);

/* K x = lambda M x for symmetric column-major matrices of which the lower triangles are read, eigenvalues ascending,
 * vectors, M-orthonormal, in a; b is destroyed. */
modal_status modal_modes_small(int64_t n, double *a, double *b, double *eigenvalues,
                               modal_error *err);

#endif
