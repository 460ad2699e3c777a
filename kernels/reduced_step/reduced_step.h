/* SPDX-License-Identifier: Apache-2.0 */
/* Reduced step: one implicit time step of a forest of flexible bodies, all of them together.
 *
 * A body moves as x = R (xbar + U q) + p: a frame (R, p) and r reduced coordinates q in it, the
 * floating frame of reference. Written in the body's own axes, with y = xbar + U q, the frame's
 * angular velocity w and acceleration al, and a = R^T (p'' - g), the equations of motion are
 *
 *   M q'' + B(q) (a, al) + 2 int rho U^T (w x U q') + int rho U^T (w x (w x y)) + D q' + f(q) = Q
 *
 * with D constant, or with a part beta K(q) of the tangent stiffness K = df/dq, B the inertial coupling. In a tree with a free root D has
 * alpha M, and the rest of the force -alpha rho x' acts, too: accelerations p'', al and q'' in B stand for p'' + alpha p', al + alpha w and
 * q'' + alpha q', so that rigid motion loses speed like the modes. And the
 * same body pushes back on its frame with the wrench
 * int rho (R^T x'' - R^T g), int rho y x (...). All of them are polynomials in q, whose coefficients
 * are computed once (lib/forest/inertia.h): a body's size is r, whatever its mesh. f is cubic (St.
 * Venant-Kirchhoff) or linear.
 *
 * Bodies form trees. A root's frame stands still, is driven, or is free; an attached body's frame
 * follows the best-fit rotation and the mean of its parent's deformed interface, a function of the
 * parent's q. Newmark's rule (beta 1/4, gamma 1/2) or generalized-alpha is solved by Newton's method with the coupling
 * through the tree solved exactly at every iteration: leaves to roots, each body is condensed to the
 * 6 x 6 inertia that its parent feels, then the corrections go back from the roots to the leaves.
 * The Jacobian leaves out how velocities and the directions of frames change within the step (terms
 * of the order of h w and h^2 g / length), and how the tangent damping does; the residual does not. Nor is it made anew while a tree's
 * largest relative residual falls to a fourth or less at every correction (the modified Newton method): what is
 * solved, and the criterion, are the same, and an evaluation then needs forces alone. In statics it is always made
 * anew. A tree without attached or free frames can be stepped by the average vector field instead, which keeps the
 * discrete energy exactly: centrifugal forces are the gradient of a quadratic function of q, whose mean over a straight
 * way is its value in the middle, and Coriolis forces do no work on the mean velocity, as the exact ones do none.
 *
 * Generalized-alpha is taken in the form that keeps the equations of motion at the ends of steps: they give the true
 * acceleration q'', and the rule carries another one, a, by (1 - alpha_m) a_1 + alpha_m a_0 = (1 - alpha_f) q''_1 +
 * alpha_f q''_0. For linear equations that is the rule of Chung and Hulbert. (a - q'') / h, the lag, is what is kept, so
 * that the length of steps may change.
 *
 * Sources: J. Barbic, D. L. James, Real-Time Subspace Integration for St. Venant-Kirchhoff Deformable
 * Models, 2005 (cubic forces); J. Barbic, Y. Zhao, Real-time Large-deformation Substructuring, 2011
 * (trees of reduced bodies on best-fit frames); A. A. Shabana, Dynamics of Multibody Systems (floating
 * frames, inertia shape integrals); J. Chung, G. M. Hulbert, A Time Integration Algorithm for Structural Dynamics with
 * Improved Numerical Dissipation: The Generalized-alpha Method, 1993; M. Arnold, O. Bruels, Convergence of the
 * Generalized-alpha Scheme for Constrained Mechanical Systems, 2007 (its form), and O. Bruels, A. Cardona, On the Use of
 * Lie Group Time Integrators in Multibody Dynamics, 2010 (rotations); R. Featherstone, The Calculation of Robot Dynamics using
 * Articulated-Body Inertias, 1983 (the elimination); N. M. Newmark, A Method of Computation for
 * Structural Dynamics, 1959; G. R. W. Quispel, D. I. McLaren, A new class of energy-preserving
 * numerical integration methods, 2008 (average vector field; for a cubic force Simpson's rule is
 * exact).
 *
 * Everything is float64, SI. Error: two back ends agree within 1e-9 of the size of q, v and a after
 * a step whose Newton iteration converged to 1e-10. Determinism: the same task on the same back end
 * and instruction set gives the same bytes, whatever the number of threads (leaves are stepped in packs, which are
 * made of a tree's objects as they stand, reduced_step_leaves.h). */
#ifndef MODAL_KERNELS_REDUCED_STEP_H
#define MODAL_KERNELS_REDUCED_STEP_H

#include <stdint.h>

#include "kernels/operations.h"
#include "lib/model/air.h"
#include "lib/model/rigid_motion.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __CUDACC__
#define MODAL_STEP_BOTH __host__ __device__
#else
#define MODAL_STEP_BOTH
#endif

/* Rows of all tables are padded to whole groups of 8. */
MODAL_STEP_BOTH static inline int64_t modal_step_padded(int64_t n) { return (n + 7) / 8 * 8; }
/* Packed symmetric matrices: (0 0), (0 1), ..., (0 r-1), (1 1), ... */
MODAL_STEP_BOTH static inline int64_t modal_step_pairs(int64_t r) { return modal_step_padded(r * (r + 1) / 2); }
MODAL_STEP_BOTH static inline int64_t modal_step_moments(int64_t r) { return modal_step_padded(9 * r); }
MODAL_STEP_BOTH static inline int64_t modal_step_pair(int64_t r, int64_t i, int64_t j) /* i <= j */
{
    return i * r - i * (i - 1) / 2 + j - i;
}

enum { MODAL_STEP_ANCHOR = 16, MODAL_STEP_POINT = 8 }; /* columns of those tables */

/* Shapes of more modes have no table of K's coefficients: K comes from the energy's, of which there are an eighth as many
 * (reduced_force.h). Below, the table is the faster way on a CPU. */
enum { MODAL_STEP_TABLE_MODES = 32 };
/* On a GPU objects of more modes are evaluated by the whole grid, from the energy's coefficients, where they are few or one
 * of them has no table. */
enum { MODAL_STEP_GRID_MODES = 16 };
MODAL_STEP_BOTH static inline int64_t modal_step_stiffness_rows(int64_t r, int cubic)
{
    return cubic && r <= MODAL_STEP_TABLE_MODES ? 1 + r + r * (r + 1) / 2 : 1;
}

typedef struct modal_step_shape {
    int32_t n_modes;
    int32_t cubic;     /* 0: forces are linear */
    int64_t stiffness; /* [modal_step_stiffness_rows, pairs]: K(q) = row 0 + q_i row + q_i q_j row */
    int64_t energy;    /* [modal_step_energy_size] its unique coefficients (reduced_force.h); cubic alone */
    int64_t inertia;   /* [1 + r, moments] S_k,ab = int rho phi_ka xbar_b at 9 k + 3 a + b; then, for
                          each l, int rho phi_ka phi_lb */
    int64_t masses;    /* [r] modal masses, then [r, 3] participation int rho phi_k */
    double mass, first[3], second[9]; /* int rho (1, xbar, xbar xbar^T) */
} modal_step_shape;

typedef struct modal_step_object {
    int32_t shape, tree, motion;
    int32_t parent;                /* -1: a root; otherwise an object before this one */
    int32_t first_child, n_children; /* children are consecutive */
    int32_t first_point, n_points;
    int32_t n_modes, parent_modes;   /* of its shape; of its parent's, or 0 */
    int64_t coordinates; /* first of its q, v, a */
    int64_t damping;     /* in tables: [pairs] D */
    double tangent;      /* s: D has this times K(q), too */
    double alpha;        /* 1/s: of a tree with a free root, the alpha M that D has; else 0 */
    int64_t anchor;      /* in tables: [1 + r of the parent, MODAL_STEP_ANCHOR]: mean of the interface (3)
                            and sum of x X^T about the means (9), at rest and for each mode */
    int64_t work;        /* in work: [modal_step_work_size] */
    int64_t share;       /* in work: [modal_step_share_size], after those of its elder siblings */
    double offset[3];    /* rest origin minus the interface's mean, in the parent's axes */
    double turn[9];      /* rest rotation to the parent's axes */
} modal_step_object;

/* Where forces act: constant ones and those of curves are set by the caller before a step; air gives
 * the drag c |w - v| (w - v), w where the point is, to second order, and when forces are wanted. */
typedef struct modal_step_point {
    int32_t object;
    double drag;   /* c, kg/m: half of air density times drag coefficient times area */
    int64_t table; /* in tables: [1 + r, MODAL_STEP_POINT]: xbar, then phi_k */
} modal_step_point;

typedef enum modal_step_rule {
    MODAL_STEP_NEWMARK,
    MODAL_STEP_ALPHA,  /* generalized-alpha with the spectral radius `radius` at infinity */
    MODAL_STEP_ENERGY, /* average vector field; fixed or driven roots without children. `a` is then the mean
                          over the step, forces and driven frames are those of its middle: what the caller
                          gives, and what it finds in `frames`, where it puts those of the end */
    MODAL_STEP_STATIC  /* the equilibrium under the loads; v and a become 0. No free roots */
} modal_step_rule;

typedef enum modal_step_status {
    MODAL_STEP_IDLE = 0,  /* the tree takes no part */
    MODAL_STEP_CONVERGED,
    MODAL_STEP_RUNNING,   /* not converged after the most iterations */
    MODAL_STEP_FROZEN,    /* within solve alone: running on with the last Jacobian */
    MODAL_STEP_INVERTED,  /* an interface is turned inside out */
    MODAL_STEP_BROKEN     /* a value is not finite, or a matrix not positive definite */
} modal_step_status;

typedef struct modal_step_measure {
    double kinetic, elastic;                   /* J, at the last accepted state */
    double dissipated_power, external_power;   /* W, over the last step; at its end, over it for MODAL_STEP_ENERGY */
    double dissipated, external;               /* J, integrated over the accepted steps */
    double residual;                           /* of the last iteration, relative */
    /* squares in the norm of the mass, kg m^2: of q (a free root: and of its body's reach), at the last accepted state;
     * of a step's own error (h^2 / 12 times the change of the true acceleration), the largest of the steps up to the
     * last measuring, and since then */
    double moved, error, error_since;
    int32_t iterations, status;
} modal_step_measure;

/* After the trees in status: MODAL_STEP_COUNTERS numbers of the back end's own. In h_status the one at
 * MODAL_STEP_ITERATIONS is, after solve, the number of corrections made. */
enum { MODAL_STEP_ITERATIONS = 3, MODAL_STEP_COUNTERS = 4 };

/* solve: from (q, v, a, frames) at `time` the trial state at time + h of every active tree, and its
 * status; the trial of every tree that has CONVERGED becomes the state, and the integrals of energy
 * go on. measure: kinetic and elastic energy of the state of active trees. Returns when done.
 * Errors: of CUDA only; a tree that does not converge is no error. */
typedef enum modal_step_phase {
    MODAL_STEP_SOLVE,
    MODAL_STEP_MEASURE
} modal_step_phase;

/* All arrays are in the device's memory except those named h_. Objects stand level by level: roots
 * (tree i's is object i), their children, and so on. */
typedef struct modal_reduced_step_task {
    modal_step_phase phase;
    int32_t n_objects, n_trees, n_levels, n_points;
    int32_t most_modes, most_rows; /* of any shape: r; the larger of 1 + r and modal_step_stiffness_rows */
    const int32_t *h_levels, *levels; /* [n_levels + 1] first object of each */
    const modal_step_shape *shapes;
    const modal_step_object *objects;
    const modal_step_point *points;
    const double *tables;
    const modal_step_air *air;   /* NULL: none */
    /* state: at the start of the step, and the trial at its end */
    double *q, *v, *a;           /* [coordinates] */
    double *next_q, *next_v, *next_a;
    double *lag, *root_lag;      /* [coordinates], [n_trees, 6] of free roots' frames (MODAL_STEP_ALPHA): the acceleration
                                    that the rule carries less the true one, over h, m/s^3 and alike; 0 at first */
    modal_step_pose *poses, *next_poses; /* [n_objects]; driven roots: next set by the caller */
    double *point_force;         /* [n_points, 3] N, world axes, at the end of the step */
    double *point_air;           /* [n_points, 3] m/s, written by the step */
    double *work;
    double *scratch;             /* [n_scratch, modal_step_device_scratch_size] for objects in work at the same time,
                                    or NULL: the back end has its own */
    int32_t n_scratch;
    modal_step_measure *measures; /* [n_objects] */
    const uint8_t *active;       /* [n_trees] nonzero: steps; in the device's memory */
    int32_t *status;             /* [n_trees + MODAL_STEP_COUNTERS] modal_step_status, then the back end's own */
    int32_t *h_status;           /* its copy */
    /* the step */
    modal_step_rule rule;
    double radius;               /* of MODAL_STEP_ALPHA, in [0, 1] */
    double time, h;              /* start, length; h = 0 with Newmark: only a becomes that of q, v, and lags 0 */
    double gravity[3];
    double tolerance;            /* residual / largest term, in every coordinate of every object */
    int32_t most_iterations;
} modal_step_task;

/* Doubles of an object's part of work, and of what it hands to its parent. n_modes: its own, and its
 * parent's or 0. by_grid: where a GPU works on it, with what the whole grid leaves there. */
MODAL_STEP_BOTH static inline int64_t modal_step_work_size_small(int64_t n_modes, int64_t parent_modes)
{
    const int64_t wide = modal_step_padded(n_modes); /* equations and what rs_work_of lists */
    return 2 * wide + 24 + n_modes * wide + 8 * n_modes + 48 + 8 * n_modes + n_modes * wide + 6 * wide + 8 + 32 +
           12 * modal_step_padded(parent_modes) + 16;
}
/* On a GPU, of objects that the grid evaluates, after those: each of two evaluations, the pairs' sums, the numbers of E, and
 * the sums of pieces of rows, of MODAL_STEP_PIECE columns each (reduced_step_large.cuh). */
enum { MODAL_STEP_PIECE = 64 };
MODAL_STEP_BOTH static inline int64_t modal_step_pieces(int64_t r, int64_t j) /* of a row of block j */
{
    return ((r - j) * (r - j + 1) / 2 + MODAL_STEP_PIECE - 1) / MODAL_STEP_PIECE;
}
MODAL_STEP_BOTH static inline int64_t modal_step_large_rows(int64_t n_modes)
{
    int64_t size = 0;
    for (int64_t j = 0; j < n_modes; j++) size += (j + 2) * modal_step_pieces(n_modes, j);
    return modal_step_padded(size);
}
/* Tiles of rows (i, j), 16 by 16, of chunks of 32 columns: units, whose sums by columns and rows are kept (reduced_step_once.cuh). */
enum { MODAL_STEP_TILE = 16, MODAL_STEP_CHUNK = 32, MODAL_STEP_UNIT = 2 * 16 * 32 + 16 * 16 };
MODAL_STEP_BOTH static inline int64_t modal_step_chunks(int64_t r, int64_t tile)
{
    const int64_t n = r - MODAL_STEP_TILE * tile;
    return (n * (n + 1) / 2 + MODAL_STEP_CHUNK - 1) / MODAL_STEP_CHUNK;
}
MODAL_STEP_BOTH static inline int64_t modal_step_units(int64_t r, int64_t tiles)
{
    int64_t units = 0;
    for (int64_t j = 0; j < tiles; j++) units += (j + 1) * modal_step_chunks(r, j);
    return units;
}
MODAL_STEP_BOTH static inline int64_t modal_step_large_sums(int64_t n_modes)
{
    int64_t size = 0;
    for (int64_t m = 0; m < n_modes; m++) size += modal_step_padded((n_modes - m) * (n_modes - m + 1) / 2);
    return size;
}
MODAL_STEP_BOTH static inline int64_t modal_step_slot_size(int64_t n_modes)
{
    return 2 * modal_step_pairs(n_modes) + modal_step_padded(n_modes);
}
int64_t modal_step_work_size(int64_t n_modes, int64_t parent_modes, int by_grid);
int64_t modal_step_share_size(int64_t parent_modes);

/* Doubles that an object needs while it is worked on by a CPU; and on a device that does not share main memory: of CUDA's
 * shared memory where they fit there (modal_step_shared), else of `scratch`. */
int64_t modal_step_scratch_size(const modal_step_task *task);
int64_t modal_step_device_scratch_size(const modal_step_task *task);
/* Most doubles that fit: 208 KB, or the device's shared_bytes. */
static inline int64_t modal_step_shared(int64_t shared_bytes)
{
    return shared_bytes < 26 * 8192 ? shared_bytes / 8 : 26 * 1024;
}
/* of which, twice, for monomials */
MODAL_STEP_BOTH static inline int64_t modal_step_scratch_rows(int64_t most_modes, int64_t most_rows)
{
    const int64_t small = most_modes < MODAL_STEP_TABLE_MODES ? most_modes : MODAL_STEP_TABLE_MODES;
    int64_t rows = modal_step_padded(most_rows);
    if (rows < modal_step_pairs(small) + 8) rows = modal_step_pairs(small) + 8;
    if (rows < 4 * most_modes) rows = modal_step_padded(4 * most_modes);
    return rows < 24 ? 24 : rows;
}

/* On a device: the same of the shapes with a table, and room for 8 numbers a mode. */
MODAL_STEP_BOTH static inline int64_t modal_step_device_rows(int64_t most_modes, int64_t most_rows)
{
    const int64_t few = MODAL_STEP_TABLE_MODES, table = 1 + few + few * (few + 1) / 2;
    if (most_modes <= few) return modal_step_scratch_rows(most_modes, most_rows);
    const int64_t rows = modal_step_scratch_rows(few, most_rows < table ? most_rows : table);
    const int64_t wanted = modal_step_padded(4 * most_modes);
    return rows < wanted ? wanted : rows;
}
/* and of matrices: with a table two packed ones and a dense one, without the products that an evaluation reads; or the
 * moments. */
MODAL_STEP_BOTH static inline int64_t modal_step_device_matrices(int64_t most_modes)
{
    const int64_t few = most_modes < MODAL_STEP_TABLE_MODES ? most_modes : MODAL_STEP_TABLE_MODES;
    const int64_t small = 2 * modal_step_pairs(few) + few * modal_step_padded(few);
    const int64_t large = most_modes > few ? modal_step_pairs(most_modes) : 0, moments = 2 * modal_step_moments(most_modes);
    const int64_t more = small > large ? small : large;
    return more > moments ? more : moments;
}

#ifdef __cplusplus
}
#endif
#endif
