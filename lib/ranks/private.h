/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps of lib/ranks share. Functions whose comment begins with "All ranks:" are called by all of them together, and
 * return the same status on all; an error of any rank is then in every rank's err. */
#ifndef MODAL_RANKS_PRIVATE_H
#define MODAL_RANKS_PRIVATE_H

#include <slepceps.h>

#include "lib/fem/assemble.h"
#include "lib/fem/rigid.h"
#include "lib/mesh/face_match.h"
#include "lib/ranks/ranks.h"

/* What a rank has of the solid. */
typedef struct ranks_piece {
    modal_volume_mesh mesh; /* the elements that touch its rows; nodes and elements in the user's order */
    int32_t *rows;          /* [mesh.n_nodes] row of each node in the whole matrix, -1: fixed */
    int32_t *part;          /* [mesh.n_nodes] of a rigid motion, -1: fixed */
    int64_t n_fixed;
    int32_t *fixed_nodes; /* [n_fixed] of the mesh */
    uint8_t *fixed_components;
    int64_t first_row, n_own;
    int32_t *own_nodes; /* [n_own] of the solid, ascending: those of its rows */
} ranks_piece;

/* Of every array of the mesh the range that this rank keeps, in bytes; parts are NULL with one rank. */
typedef struct ranks_spread {
    int64_t bytes[MODAL_RANKS_ARRAYS]; /* of whole arrays */
    char *parts[MODAL_RANKS_ARRAYS];
} ranks_spread;

/* What all ranks know of the whole solid. */
typedef struct ranks_whole {
    int64_t n_rows; /* free nodes */
    int64_t n_held; /* components held of them */
    int64_t n_parts, n_rigid;
    double total_mass;
} ranks_whole;

/* What an estimate is made from. */
typedef struct ranks_size {
    int64_t n_nodes, n_free;
    double mesh_bytes, resident, most_resident; /* of the mesh; of this process, without what the store has, and at most so far */
    double blocks;         /* in a row of K */
    double factor_entries; /* of the lower triangle of a factor of K */
} ranks_size;

typedef struct ranks_problem {
    MPI_Comm comm;
    int rank, n_ranks;
    modal_ranks_options options;
    modal_solid *solid; /* rank 0, else NULL */
    ranks_spread spread;
    ranks_whole whole;
    ranks_piece piece;
    modal_rigid_part *parts; /* [n_parts] */
    double *part_size;       /* [n_parts] */
    int32_t *n_motions;      /* [n_parts] */

    Mat stiffness, mass;
    double *nodal_mass;   /* [n_own] */
    uint8_t *held;        /* [n_own] */
    double largest_ratio, wave_scale;
    Vec *rigid; /* [n_rigid] M-orthonormal */
    double shift;

    int64_t n_found;   /* pairs, ascending */
    Vec *vectors;      /* [n_found] */
    double *eigenvalues, *residuals; /* [n_found] */
    double *excess; /* [n_found] of ranks_examine: a residual beside what is wanted */
    const modal_progress *progress; /* rank 0, else NULL */
    int64_t n_solves, n_iterations;
    modal_modes_sturm sturm;
    modal_ranks_report report;
} ranks_problem;

/* ---- talk.c ---- */

/* All ranks: the status and the error of the lowest rank that has one, for all. */
modal_status ranks_agree(const ranks_problem *problem, modal_status status, modal_error *err);

/* A failure that the other ranks do not know of: with several ranks it ends them all and does not return. */
modal_status ranks_stop(const ranks_problem *problem, modal_status status, modal_error *err);
/* The same with what PETSc said last. */
modal_status ranks_petsc_failed(const ranks_problem *problem, modal_error *err);

/* That this PETSc has; a function, for tests put another one in its place. */
int64_t ranks_most_index(void);

/* n bytes from one of two ranks to the other, either of them 0; others may call it, too, and pass by. In pieces: MPI counts with 31 bits, and
 * adapters of networks may refuse memory that is mapped from a file, as rank 0's is, so that it goes through a buffer. What goes wrong
 * ends all ranks. */
modal_status ranks_pass(const ranks_problem *problem, int from, int to, void *bytes, int64_t n, modal_error *err);
/* All ranks: n bytes of rank 0's to the others, in the same way. */
modal_status ranks_share(const ranks_problem *problem, void *bytes, int64_t n, modal_error *err);

/* Leaves through `done` where a call of PETSc, SLEPc or MPI fails; needs `problem`, `status` and `err`. */
#define RANKS_TRY(call)                                                                                                \
    do {                                                                                                               \
        if ((call) != 0) {                                                                                             \
            status = ranks_petsc_failed(problem, err);                                                                 \
            goto done;                                                                                                 \
        }                                                                                                              \
    } while (0)

/* The same for functions of this project that fail on one rank only. */
#define RANKS_OWN(call)                                                                                                \
    do {                                                                                                               \
        status = (call);                                                                                               \
        if (status != MODAL_OK) {                                                                                      \
            status = ranks_stop(problem, status, err);                                                                 \
            goto done;                                                                                                 \
        }                                                                                                              \
    } while (0)

/* ---- divide.c, partition.c ---- */

/* Rank 0: what would make the cutting fail, and elements of which all nodes are fixed; what is wrong with others is found by the
 * rank that assembles them. */
modal_status ranks_check_solid(const modal_solid *solid, double *total_mass, double *volume, modal_error *err);
/* All ranks: from rank 0's solid to every rank's piece, and what all know of the whole; the route, into report.route. */
modal_status ranks_divide(ranks_problem *problem, modal_error *err);
void ranks_piece_free(ranks_piece *piece);

/* All ranks: by PT-Scotch the rank of each free node; owners [n_rows], on rank 0 only. `system` numbers them; rank 0. */
modal_status ranks_partition(const ranks_problem *problem, const modal_fem_system *system, int32_t *owners, modal_error *err);

/* Rank 0: the elements that touch a node of each rank, [offsets[r] .. offsets[r + 1]), ascending. owners[i] is that of free
 * node i. The caller frees both. */
modal_status ranks_list_elements(const modal_volume_mesh *mesh, const modal_fem_system *system, const int32_t *owners, int n_ranks,
                                 int64_t **offsets, int32_t **elements, modal_error *err);

/* ---- spread.c ---- */

/* All ranks: rank 0's mesh in ranges, as modal_ranks_program's solve says. With one rank it stays. */
modal_status ranks_spread_mesh(ranks_problem *problem, modal_error *err);
/* All ranks: mesh_at of modal_ranks_program; the arguments are rank 0's. */
modal_status ranks_give_mesh(const ranks_problem *problem, modal_ranks_array array, int64_t first, int64_t n, void *to, modal_error *err);
void ranks_spread_free(ranks_spread *spread);

/* ---- faces.c ---- */

/* All ranks, two or more: a modal_face_finder of rank 0's mesh; the arguments are rank 0's. An error on one rank ends all. */
modal_status ranks_find_faces(const ranks_problem *problem, const modal_volume_mesh *mesh, modal_single_faces *single, modal_face_clash *clash,
                              modal_error *err);

/* ---- estimate.c ---- */

/* Rank 0: of a solid that was checked; volume in m^3. */
modal_status ranks_measure_size(const modal_solid *solid, const modal_fem_system *numbers, double volume, ranks_size *size, modal_error *err);
void ranks_estimate(const ranks_size *size, int32_t n_modes, int n_ranks, modal_ranks_estimate *estimate);

/* ---- matrices.c ---- */

/* All ranks: K and M, nodal masses, held components, largest_ratio and wave_scale. symmetric: the upper triangle in blocks of three, as
 * MUMPS takes it; else whole rows, as GAMG does. A second call replaces them. */
modal_status ranks_assemble(ranks_problem *problem, int symmetric, modal_error *err);
/* All ranks: the rigid motions, and sigma. */
modal_status ranks_make_rigid(ranks_problem *problem, modal_error *err);

/* ---- direct.c ---- */

/* All ranks: options.n_modes pairs and more, and the count. *too_large: nothing of that, since the factor does not fit into the
 * limit, which is an error unless the route is auto. */
modal_status ranks_direct(ranks_problem *problem, int *too_large, modal_error *err);

/* ---- cycle.c ---- */

typedef struct ranks_cycle ranks_cycle;

/* All ranks: a V-cycle with the levels of GAMG, which were set up, and of which it keeps the coarsest matrix alone: the others
 * are copied. An error on one rank ends all. *cycle may be there after an error. */
modal_status ranks_cycle_new(const ranks_problem *problem, PC grid, ranks_cycle **cycle, modal_error *err);
/* All ranks: one cycle for these columns of x [own rows, stride], which ascend; the results become columns 0 to n - 1. */
PetscErrorCode ranks_cycle_apply(ranks_cycle *cycle, int64_t n, const int *columns, double *x, int64_t stride);
ranks_cycle *ranks_cycle_delete(ranks_cycle *cycle); /* NULL is fine; gives NULL */

/* ---- multigrid.c ---- */

/* Vectors that LOBPCG works with at a time. */
int64_t ranks_block_size(int64_t n_modes);

/* All ranks: options.n_modes pairs, and a search for lower ones beside them. */
modal_status ranks_multigrid(ranks_problem *problem, modal_error *err);

/* ---- pairs.c ---- */

/* In (-1, 1), of a degree of freedom of the solid and a column: the same for any number of ranks. */
double ranks_draw(int64_t dof, int64_t column);

/* One step of an inverse iteration, y from x. */
typedef modal_status ranks_step(ranks_problem *problem, void *context, Vec x, Vec y, modal_error *err);

/* All ranks: Rayleigh-Ritz of all vectors, which become pairs, and their residuals by the criterion of lib/modes/refine.c; of pairs above
 * options.n_modes, which only have to say where eigenvalues are, by a rough one. *worst: <= 1 where all are small enough, its pair *at;
 * *allowed: whether all are within what is let pass where no step makes them smaller. */
modal_status ranks_examine(ranks_problem *problem, double *worst, int64_t *at, int *allowed, modal_error *err);
/* All ranks: x^T K x and x^T M x. */
modal_status ranks_energies(ranks_problem *problem, Vec x, double *energy, double *mass, modal_error *err);
/* All ranks: the same, and pairs whose residuals are too large improved by `step` until they are not. */
modal_status ranks_refine(ranks_problem *problem, ranks_step *step, void *context, modal_error *err);
/* All ranks: room for the pairs, vectors included. */
modal_status ranks_pairs_grow(ranks_problem *problem, int64_t count, modal_error *err);
/* The first `count` pairs stay. */
void ranks_pairs_cut(ranks_problem *problem, int64_t count);
void ranks_pairs_free(ranks_problem *problem);

/* ---- gather.c ---- */

/* All ranks: the first options.n_modes pairs get their signs, are checked, and what is known of them goes into rank 0's result, all but
 * the modes themselves. */
modal_status ranks_settle(ranks_problem *problem, modal_modes_result *result, modal_error *err);
/* All ranks: modes_at of modal_ranks_program; the arguments are rank 0's. */
modal_status ranks_give_modes(const ranks_problem *problem, int32_t first, int32_t n_modes, const int32_t *nodes, int64_t n_nodes, double *to,
                              modal_error *err);

#endif
