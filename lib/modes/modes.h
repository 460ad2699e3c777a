/* SPDX-License-Identifier: Apache-2.0 */
/* Natural modes of a solid: the lowest elastic eigenpairs of
 *
 *     K phi = lambda M phi,   phi = 0 at fixed nodes,   lambda = omega^2.
 *
 * Method: shift-invert block Lanczos with thick restart (lanczos.c) on (K - sigma M)^-1 M, eight vectors
 * a block, with a supernodal factor (factor.h) ordered by nested dissection of the node graph; then
 * Rayleigh-Ritz and, where a residual is not small yet, block inverse iteration. A block shows up to eight
 * copies of an eigenvalue. The proof that none is missing is a Sturm count (sturm.c), made on request,
 * where a factorisation takes less than about a second, and where eight modes are equal; what it finds
 * missing is computed and merged. Sources: T. Ericsson, A. Ruhe, "The spectral transformation
 * Lanczos method", 1980; R. G. Grimes, J. G. Lewis, H. D. Simon, "A shifted block Lanczos algorithm
 * for solving sparse symmetric generalized eigenproblems", 1994; B. N. Parlett, "The Symmetric Eigenvalue
 * Problem", 1998. Small problems, and those that ask for most of their modes, are solved dense (dense.c)
 * and go through the same refinement.
 *
 * Rigid motions follow from the geometry (lib/fem/rigid.h) and are projected out of every vector, so
 * that they need no Lanczos steps and a shift of any small size serves:
 * sigma = -1e-4 (pi / L)^2 min(E / rho), with L the size of the largest part that can move rigidly
 * and so far below the first elastic eigenvalue of a compact body, scaled like one in any units; 0
 * when nothing moves rigidly. It is made larger, a hundredfold at a time, where the factor is not
 * positive definite. An eigenvalue counts as zero when it is below what rounding
 * can make of phi^T K phi (modal_energy_rounding).
 *
 * Where a factor in doubles does not fit, one in floats does the same with a few steps of conjugate gradients a
 * solve (conjugate.c); a count is then made on request only.
 *
 * Rounding: K phi in float64 carries an error of about eps ||diag(K) phi||, which is a residual of
 * eps lambda_max / lambda. In the lowest modes of large or slender solids that is more than 1e-9
 * (5e-8 in the first mode of a bar of 520 x 9 x 9 cells), and no iteration can take it away. A mode
 * whose residual is down to a few times this level is accepted, and its residual reported. */
#ifndef MODAL_MODES_MODES_H
#define MODAL_MODES_MODES_H

#include <stdint.h>

#include "lib/base/progress.h"
#include "lib/base/status.h"
#include "lib/model/basis.h"

typedef enum modal_modes_solver {
    MODAL_MODES_AUTO = 0,
    MODAL_MODES_LANCZOS,
    MODAL_MODES_DENSE
} modal_modes_solver;

typedef enum modal_modes_proof {
    MODAL_PROOF_AUTO = 0, /* see above */
    MODAL_PROOF_ALWAYS,
    MODAL_PROOF_NEVER
} modal_modes_proof;

typedef enum modal_modes_factor {
    MODAL_FACTOR_AUTO = 0, /* in doubles where the memory limit allows it, else in floats */
    MODAL_FACTOR_FLOAT64,
    MODAL_FACTOR_FLOAT32
} modal_modes_factor;

/* sigma just above the last mode; eigenvalues of the whole problem below it by the inertia of
 * K - sigma M, -1: not counted; rigid modes and modes that are known below it. */
typedef struct modal_modes_sturm {
    double shift;
    int64_t n_below, n_known;
    double growth; /* of the pivots, see supernodes.h; 0 in floats */
    double defect; /* in floats: a bound of what they lost, see sturm.c; the count holds below 1 */
} modal_modes_sturm;

typedef struct modal_modes_options {
    int32_t n_modes;
    int fewer; /* nonzero: a solid with fewer degrees of freedom gives those that it has, one at least */
    modal_mass_rule mass_rule;
    uint64_t seed;          /* of the start vectors */
    double tolerance;       /* of the residuals, 0: 1e-9; see the note on rounding */
    int32_t max_iterations; /* of Lanczos restarts; 0: 300 */
    int n_threads;          /* 0: as many as OpenMP would use */
    modal_modes_solver solver;
    const uint8_t *fixed_components; /* [n_fixed] of each fixed node: 1 x, 2 y, 4 z, or sums; NULL: all */
    modal_modes_proof proof;
    modal_modes_factor factor;
    double memory_limit; /* bytes, of the whole computation but for the mesh; 0: none */
    int limit_is_available; /* 1: it is what the machine has, and an error says so */
    int beside;             /* nonzero: also motions beside the modes (beside.c) */
} modal_modes_options;

/* What the modes leave out, as far as it is cheap to know: M-orthonormal motions, M-orthogonal to the modes, K diagonal. */
typedef struct modal_modes_left {
    int known;             /* nonzero: it was looked for; with n = 0 the modes leave nothing out */
    int32_t n;
    double *eigenvalues;   /* [n] (rad/s)^2, ascending */
    double *motions;       /* [n, n_nodes, 3] as modes */
    double *participation; /* [n, 3] as that of the modes */
} modal_modes_left;
void modal_modes_left_free(modal_modes_left *left);

typedef struct modal_modes_result {
    int32_t n_modes;
    int64_t n_nodes;
    double *eigenvalues;   /* [n_modes] (rad/s)^2, ascending */
    double *modes;         /* [n_modes, n_nodes, 3] phi^T M phi = 1; zero where fixed. Sign: of the
                              components within 1e-6 of the largest magnitude the first is > 0 */
    double *residuals;     /* [n_modes] ||K phi - lambda M phi|| / ||lambda M phi|| */
    double *modal_masses;  /* [n_modes] phi^T M phi, as computed from the mode */
    double *participation; /* [n_modes, 3] phi^T M e, e: unit motion of all nodes, fixed ones too */
    int32_t n_rigid;
    double *rigid_eigenvalues; /* [n_rigid] as computed, ascending by magnitude; exact value 0 */
    modal_modes_left left;
    double total_mass;         /* kg, of the whole solid */
    double orthogonality;      /* max |phi_i^T M phi_j - delta_ij| */
    double *orthogonalities;   /* [n_modes] the same for each i; NULL where it was not computed */
    modal_modes_sturm sturm;
    double shift;              /* sigma, (rad/s)^2 */
    int64_t n_dof;             /* free degrees of freedom */
    int dense;                 /* 1: by dense matrices */
    int32_t n_refinements;     /* steps of block inverse iteration */
    int32_t n_recovered;       /* modes that the count found missing */
    int factor_float32;        /* 1: the factor was one in floats */
    modal_modes_route route;   /* MODAL_ROUTE_OWN */
    int32_t n_ranks;           /* 0; lib/ranks fills in what is not this room's */
    int64_t n_solves;          /* with K - sigma M, counted a right-hand side */
    int64_t n_inner_solves;    /* with the factor in floats, for those */
    int64_t n_raised_pivots;   /* of the factor in floats */
    double factor_lift;        /* its diagonal has so much more, relative */
    int64_t n_iterations;      /* of Lanczos, restarts */
    double factor_nonzeros;
    double factor_flops;
    double peak_bytes; /* estimate, before the factorisation, of what the computation holds at its largest */
    double seconds_assemble;
    double seconds_order;
    double seconds_analyse;
    double seconds_factor;
    double seconds_solve;  /* eigenvalue iteration */
    double seconds_refine; /* refinement, checks */
    double seconds_count;  /* Sturm count */
} modal_modes_result;

/* Computes the options->n_modes lowest elastic modes. fixed_nodes are node indices in any order.
 * Errors, each leaving *result zeroed:
 *   MODAL_ERROR_INPUT          what modal_fem_assemble refuses; fewer degrees of freedom than modes
 *   MODAL_ERROR_MEMORY         also: the memory limit is too small; said before the factorisation, with
 *                              what is needed
 *   MODAL_ERROR_NOT_CONVERGED  not all modes found, a residual above the tolerance (and above what
 *                              the rounding of K phi leaves), more zero eigenvalues than rigid
 *                              motions, a factor that is not positive definite, a solve with one in
 *                              floats that does not become exact, a Sturm count that
 *                              disagrees or, where it was asked for, cannot be made
 *   MODAL_ERROR_INTERRUPTED    by `progress`, which is asked at every solve; may be NULL
 *   MODAL_ERROR_MEMORY, MODAL_ERROR_SYSTEM
 * The same input and seed give the same bytes for every n_threads, and on every x86-64 processor that has AVX2 and
 * FMA; one without them adds in the same order but rounds products, too. May be called from several threads at once,
 * with one thread each. */
modal_status modal_modes_solve(const modal_volume_mesh *mesh, const int32_t *fixed_nodes,
                               int64_t n_fixed, const modal_modes_options *options,
                               modal_modes_result *result, const modal_progress *progress,
                               modal_error *err);

/* Frees everything inside and zeroes the struct; a zeroed struct is fine. */
void modal_modes_result_free(modal_modes_result *result);

#endif
