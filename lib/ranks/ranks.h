/* SPDX-License-Identifier: Apache-2.0 */
/* Natural modes of one solid by many processes: the eigenproblem of lib/modes, its nodes divided among the ranks of an
 * MPI, solved by SLEPc (V. Hernandez, J. E. Roman, V. Vidal, "SLEPc: A scalable and flexible toolkit for the solution of
 * eigenvalue problems", 2005). Rank 0 gets the mesh, in a store if it is large (use_store), and divides it: each rank has the elements at its
 * nodes, and a range of every array of the mesh, from which rank 0 asks for rows again. No rank has K, M, a factor, vectors or the modes of
 * the whole solid: rank 0 asks for the modes in ranges of nodes.
 *
 * Partition: PT-Scotch on the graph of the free nodes. A rank has the rows of its nodes; it assembles all elements that touch
 * them by lib/fem, with nodes and elements in the user's order, so that the numbers in a row are the same for any number of
 * ranks.
 *
 * direct: block Lanczos (lanczos.h) on (K - sigma M)^-1 M with MUMPS' L D L^T (P. R. Amestoy, I. S. Duff, J. Koster,
 * J.-Y. L'Excellent, 2001); rigid motions are kept out as a deflation space; sigma as in lib/modes. Then sigma goes into the
 * first gap above the last mode, and the inertia of K - sigma M counts the modes below it. Modes that are missing are searched
 * beside the known ones.
 *
 * multigrid: an own LOBPCG (lobpcg.h) in blocks of more vectors than modes are asked for, preconditioned by PETSc's smoothed
 * aggregation, which knows the rigid motions. No count; a block of random vectors beside the modes looks for lower ones until it finds none.
 *
 * This header is free of MPI: a program loads the functions from a module (modal_ranks_program). */
#ifndef MODAL_RANKS_RANKS_H
#define MODAL_RANKS_RANKS_H

#include <stdint.h>

#include "lib/base/memory.h"
#include "lib/base/progress.h"
#include "lib/base/status.h"
#include "lib/mesh/face_match.h"
#include "lib/model/basis.h"
#include "lib/modes/modes.h"

typedef struct modal_ranks_options {
    int32_t n_modes;
    modal_mass_rule mass_rule;
    modal_modes_route route;
    double memory_limit; /* bytes that a rank may hold; 0: by `available` */
    double available;    /* bytes that rank 0's machine has for all ranks on it; 0: no limit */
    double tolerance;    /* of the residuals, 0: 1e-9; where rounding leaves more, that (modes.h) */
} modal_ranks_options;

/* What the most loaded rank will hold at its largest, bytes of its resident set: rank 0, where the mesh was read. Within 20 %
 * where it was measured (docs/results/modes_mpi.md). */
typedef struct modal_ranks_estimate {
    int n_ranks;
    double direct_bytes, multigrid_bytes;
} modal_ranks_estimate;

/* What else is known of a computation. */
typedef struct modal_ranks_report {
    modal_modes_route route; /* that was taken */
    modal_ranks_estimate estimate; /* before anything was divided */
    double memory_limit; /* bytes that a rank might hold, 0: no limit */
    double contrast;     /* the largest Young's modulus beside the least */
    int only_direct;     /* auto took direct, for the contrast is too large for multigrid */
    int n_ranks;
    int64_t least_nodes, most_nodes; /* free nodes of a rank */
    double factor_bytes, most_factor_bytes; /* direct, as MUMPS' analysis says: of all ranks, of the most loaded one */
    double most_resident_bytes, resident_bytes; /* the most loaded rank's largest resident set, and the sum of all */
    double processor_seconds; /* of all ranks, since they began */
} modal_ranks_report;

/* Arrays of modal_volume_mesh that lie on the ranks. */
typedef enum modal_ranks_array {
    MODAL_RANKS_NODES,
    MODAL_RANKS_NODE_TAGS,
    MODAL_RANKS_ELEMENT_TYPE,
    MODAL_RANKS_ELEMENT_NODES,
    MODAL_RANKS_ELEMENT_TAGS,
    MODAL_RANKS_ELEMENT_MATERIAL,
    MODAL_RANKS_ELEMENT_FIBRES,
    MODAL_RANKS_ARRAYS
} modal_ranks_array;

/* What a module of this kind has. All ranks call begin; then rank 0 calls solve, any number of times, and end; the others
 * serve, which returns when rank 0 has called end.
 *
 * What goes wrong on one rank while others wait for it ends them all: `stop` is called with the error on that rank, where it may
 * print and remove files, and the MPI is aborted with exit code 4; with one rank it is an error like any other. */
typedef struct modal_ranks_program {
    /* Rank 0: where the program has its arrays, for the module's modal_free, and for what the module makes of the whole mesh
     * (lib/base/memory.h). NULL, as at the start: in main memory. Estimates go by what is resident, so that with a store they have no
     * mesh in them. */
    void (*use_store)(const modal_store *store);
    /* Starts MPI, PETSc and SLEPc. MODAL_ERROR_SYSTEM: where the MPI knows another number of processes than `launched` (1:
     * no launcher said anything). */
    modal_status (*begin)(int64_t launched, void (*stop)(void *context, const modal_error *err), void *context, int *rank,
                          int *n_ranks, modal_error *err);
    /* The lowest modes of a solid, as modal_modes_solve, with the same errors. Besides, MODAL_ERROR_USAGE: more ranks than free
     * nodes; MODAL_ERROR_MEMORY: the estimate is above the limit, or PETSc's indices are too short. result->modes
     * stays NULL: each rank keeps its rows, until the next solve or the end. On an error *result is to be freed, too.
     * With several ranks the arrays of the solid's mesh (modal_ranks_array, and element_offsets) are freed and NULL afterwards, also
     * after an error: the ranks have them, until the next solve or the end. */
    modal_status (*solve)(modal_solid *solid, const modal_ranks_options *options, modal_modes_result *result,
                          modal_ranks_report *report, const modal_progress *progress, modal_error *err);
    /* Rank 0, after solve: modes [first, first + n_modes) at these nodes of the solid, in any order, to [n_modes, n_nodes, 3];
     * 3 n_modes n_nodes < 2^30. What goes wrong ends all ranks; with one rank it is an error. */
    modal_status (*modes_at)(int32_t first, int32_t n_modes, const int32_t *nodes, int64_t n_nodes, double *to, modal_error *err);
    /* Rank 0, after solve: bytes of an array of the mesh that the ranks have, 0: they have not (element_material where all are 0,
     * element_fibres where there are none, everything with one rank). */
    int64_t (*mesh_bytes)(modal_ranks_array array);
    /* Rank 0, after solve: n of these bytes, from the first on. What goes wrong ends all ranks. */
    modal_status (*mesh_at)(modal_ranks_array array, int64_t first, int64_t n, void *to, modal_error *err);
    /* Rank 0, without the others: what solve would estimate on n_ranks[i] ranks. More ranks than free nodes are no error.
     * most_resident: what a process holds at most that reads the mesh with the window that it would have. */
    modal_status (*plan)(const modal_solid *solid, const modal_ranks_options *options, double most_resident, int n, const int32_t *n_ranks,
                         modal_ranks_estimate *estimates, modal_error *err);
    /* Rank 0 of several, before solve: the others match the faces of its mesh. What goes wrong ends all ranks. */
    modal_face_finder *find_faces;
    /* The status of rank 0's last solve. */
    modal_status (*serve)(void);
    /* Ends SLEPc and MPI; on rank 0 the others learn it here. */
    void (*end)(void);
    const char *versions; /* "SLEPc 3.18.2, PETSc 3.18.5, MUMPS 5.5.1" */
} modal_ranks_program;

/* Of this process; never NULL. */
const modal_ranks_program *modal_ranks(void);
/* The same as a module exports it. */
#define MODAL_RANKS_FUNCTION "modalpack_slepc"
const modal_ranks_program *modalpack_slepc(void);

#endif
