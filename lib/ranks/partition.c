/* SPDX-License-Identifier: Apache-2.0 */
/* Which rank has which node: PT-Scotch (C. Chevalier, F. Pellegrini, "PT-Scotch", 2008) on the graph of the free nodes, each rank
 * with the edges of a range of them. */
#include <limits.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/ranks/private.h"

modal_status ranks_list_elements(const modal_volume_mesh *mesh, const modal_fem_system *system, const int32_t *owners, int n_ranks,
                                 int64_t **offsets, int32_t **elements, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t touched[MODAL_ELEMENT_MOST_NODES];
    *offsets = NULL;
    *elements = NULL;
    /* counted two places up: filling moves offsets[r + 1] from the start of list r to its end */
    MODAL_TRY(modal_alloc_zero(offsets, (int64_t)n_ranks + 2, sizeof **offsets, "partition", err));
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t e = 0; e < mesh->n_elements; e++) {
            const int32_t *nodes = modal_mesh_nodes(mesh, e);
            int n = 0;
            for (int a = 0; a < modal_mesh_kind(mesh, e)->n_nodes; a++) {
                const int32_t i = system->free_index[nodes[a]];
                int known = i < 0;
                for (int k = 0; k < n && !known; k++) known = touched[k] == owners[i];
                if (!known) touched[n++] = owners[i];
            }
            for (int k = 0; k < n; k++) {
                if (pass == 0) (*offsets)[touched[k] + 2]++;
                else (*elements)[(*offsets)[touched[k] + 1]++] = (int32_t)e;
            }
        }
        if (pass == 1) break;
        for (int r = 0; r < n_ranks; r++) (*offsets)[r + 2] += (*offsets)[r + 1];
        MODAL_TRY(modal_alloc(elements, (*offsets)[n_ranks + 1], sizeof **elements, "partition", err));
    }
done:
    return status;
}

static int32_t range_begin(int64_t n_rows, int n_ranks, int rank) { return (int32_t)(n_rows * rank / n_ranks); }

/* The elements at the nodes of each range, as lists of their free nodes: *counts [*n] of each, *nodes one after the other.
 * Rank 0 sends what the others receive. */
static modal_status send_ranges(const ranks_problem *problem, const modal_fem_system *system, int64_t *n, int32_t **counts,
                                int32_t **nodes, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t *offsets = NULL, head[2];
    int32_t *elements = NULL, *owners = NULL;
    if (problem->rank > 0) {
        RANKS_TRY(MPI_Recv(head, 2, MPI_INT64_T, 0, 0, problem->comm, MPI_STATUS_IGNORE));
        RANKS_OWN(modal_alloc(counts, head[0], sizeof **counts, "graph", err));
        RANKS_OWN(modal_alloc(nodes, head[1], sizeof **nodes, "graph", err));
        MODAL_TRY(ranks_pass(problem, 0, problem->rank, *counts, head[0] * (int64_t)sizeof **counts, err));
        MODAL_TRY(ranks_pass(problem, 0, problem->rank, *nodes, head[1] * (int64_t)sizeof **nodes, err));
        *n = head[0];
        goto done;
    }
    const modal_volume_mesh *mesh = &problem->solid->mesh;
    RANKS_OWN(modal_alloc(&owners, system->n_free, sizeof *owners, "partition", err));
    for (int r = 0; r < problem->n_ranks; r++)
        for (int32_t i = range_begin(system->n_free, problem->n_ranks, r); i < range_begin(system->n_free, problem->n_ranks, r + 1); i++)
            owners[i] = r;
    RANKS_OWN(ranks_list_elements(mesh, system, owners, problem->n_ranks, &offsets, &elements, err));
    for (int r = problem->n_ranks - 1; r >= 0; r--) { /* rank 0 keeps the last one */
        int64_t used = 0;
        head[0] = offsets[r + 1] - offsets[r];
        head[1] = 0;
        for (int64_t k = offsets[r]; k < offsets[r + 1]; k++) head[1] += modal_mesh_kind(mesh, elements[k])->n_nodes;
        RANKS_OWN(modal_alloc(counts, head[0], sizeof **counts, "graph", err));
        RANKS_OWN(modal_alloc(nodes, head[1], sizeof **nodes, "graph", err));
        for (int64_t k = 0; k < head[0]; k++) {
            const int32_t e = elements[offsets[r] + k];
            (*counts)[k] = 0;
            for (int a = 0; a < modal_mesh_kind(mesh, e)->n_nodes; a++) {
                const int32_t i = system->free_index[modal_mesh_nodes(mesh, e)[a]];
                if (i >= 0) (*nodes)[used++] = i, (*counts)[k]++;
            }
        }
        *n = head[0];
        if (r == 0) break;
        head[1] = used;
        RANKS_TRY(MPI_Send(head, 2, MPI_INT64_T, r, 0, problem->comm));
        MODAL_TRY(ranks_pass(problem, 0, r, *counts, head[0] * (int64_t)sizeof **counts, err));
        MODAL_TRY(ranks_pass(problem, 0, r, *nodes, used * (int64_t)sizeof **nodes, err));
        modal_free(counts);
        modal_free(nodes);
    }
done:
    modal_free(&offsets);
    modal_free(&elements);
    modal_free(&owners);
    return status;
}

/* Into an ascending list without repeats; its new length. */
static int64_t insert(int32_t *list, int64_t n, int32_t value)
{
    int64_t low = 0, high = n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (list[middle] < value) low = middle + 1;
        else high = middle;
    }
    if (low < n && list[low] == value) return n;
    memmove(list + low + 1, list + low, (size_t)(n - low) * sizeof *list);
    list[low] = value;
    return n + 1;
}

/* Neighbours of the nodes [begin, end), ascending, in PETSc's memory, which the matrix takes. */
static modal_status make_graph(const ranks_problem *problem, int64_t n, const int32_t *counts, const int32_t *nodes, PetscInt **rows,
                               PetscInt **columns, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n_rows = problem->whole.n_rows;
    const int32_t begin = range_begin(n_rows, problem->n_ranks, problem->rank);
    const int32_t end = range_begin(n_rows, problem->n_ranks, problem->rank + 1);
    int64_t *around = NULL, *starts = NULL, room = 0;
    int32_t *elements = NULL, *beside = NULL;
    RANKS_OWN(modal_alloc_zero(&around, (int64_t)end - begin + 2, sizeof *around, "graph", err));
    RANKS_OWN(modal_alloc(&starts, n + 1, sizeof *starts, "graph", err));
    starts[0] = 0;
    for (int64_t e = 0; e < n; e++) {
        starts[e + 1] = starts[e] + counts[e];
        for (int64_t k = starts[e]; k < starts[e + 1]; k++)
            if (nodes[k] >= begin && nodes[k] < end) around[nodes[k] - begin + 2]++;
    }
    for (int32_t i = 0; i < end - begin; i++) around[i + 2] += around[i + 1];
    RANKS_OWN(modal_alloc(&elements, around[end - begin + 1], sizeof *elements, "graph", err));
    for (int64_t e = 0; e < n; e++)
        for (int64_t k = starts[e]; k < starts[e + 1]; k++)
            if (nodes[k] >= begin && nodes[k] < end) elements[around[nodes[k] - begin + 1]++] = (int32_t)e;
    RANKS_TRY(PetscMalloc1((size_t)(end - begin) + 1, rows));
    for (int pass = 0; pass < 2; pass++) {
        int64_t used = 0;
        (*rows)[0] = 0;
        for (int32_t i = 0; i < end - begin; i++) {
            int64_t n_beside = 0;
            for (int64_t k = around[i]; k < around[i + 1]; k++) {
                RANKS_OWN(modal_grow(&beside, &room, n_beside + counts[elements[k]], sizeof *beside, "graph", err));
                for (int64_t a = starts[elements[k]]; a < starts[elements[k] + 1]; a++)
                    if (nodes[a] != begin + i) n_beside = insert(beside, n_beside, nodes[a]);
            }
            for (int64_t k = 0; k < n_beside && pass == 1; k++) (*columns)[used + k] = beside[k];
            used += n_beside;
            if (used > PETSC_MAX_INT)
                RANKS_OWN(modal_error_set(err, MODAL_ERROR_MEMORY, "partition: edges of a rank's graph, at most %lld, %lld",
                                          (long long)PETSC_MAX_INT, (long long)used));
            (*rows)[i + 1] = (PetscInt)used;
        }
        if (pass == 0) RANKS_TRY(PetscMalloc1((size_t)used + 1, columns));
    }
done:
    modal_free(&around);
    modal_free(&starts);
    modal_free(&elements);
    modal_free(&beside);
    return status;
}

modal_status ranks_partition(const ranks_problem *problem, const modal_fem_system *system, int32_t *owners, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int n_ranks = problem->n_ranks;
    const int64_t n_rows = problem->whole.n_rows;
    int64_t n = 0;
    int32_t *counts = NULL, *nodes = NULL, *own = NULL;
    PetscInt *rows = NULL, *columns = NULL;
    Mat graph = NULL;
    MatPartitioning partitioning = NULL;
    IS found = NULL;
    const PetscInt *ranks;
    const int32_t n_own = range_begin(n_rows, n_ranks, problem->rank + 1) - range_begin(n_rows, n_ranks, problem->rank);
    RANKS_OWN(send_ranges(problem, system, &n, &counts, &nodes, err));
    RANKS_OWN(make_graph(problem, n, counts, nodes, &rows, &columns, err));
    modal_free(&counts);
    modal_free(&nodes);
    RANKS_TRY(MatCreateMPIAdj(problem->comm, n_own, (PetscInt)n_rows, rows, columns, NULL, &graph));
    RANKS_TRY(MatPartitioningCreate(problem->comm, &partitioning));
    RANKS_TRY(MatPartitioningSetAdjacency(partitioning, graph));
    RANKS_TRY(MatPartitioningSetType(partitioning, MATPARTITIONINGPTSCOTCH));
    RANKS_TRY(MatPartitioningApply(partitioning, &found));
    RANKS_OWN(modal_alloc(&own, n_own, sizeof *own, "partition", err));
    RANKS_TRY(ISGetIndices(found, &ranks));
    for (int32_t i = 0; i < n_own; i++) own[i] = (int32_t)ranks[i];
    RANKS_TRY(ISRestoreIndices(found, &ranks));
    if (problem->rank == 0) memcpy(owners, own, (size_t)n_own * sizeof *own);
    for (int r = 1; r < n_ranks; r++) {
        const int64_t first = range_begin(n_rows, n_ranks, r), length = range_begin(n_rows, n_ranks, r + 1) - first;
        MODAL_TRY(ranks_pass(problem, r, 0, problem->rank == 0 ? owners + first : own, length * (int64_t)sizeof *own, err));
    }
    RANKS_TRY(ISDestroy(&found));
    RANKS_TRY(MatPartitioningDestroy(&partitioning));
    RANKS_TRY(MatDestroy(&graph));
done:
    modal_free(&counts);
    modal_free(&nodes);
    modal_free(&own);
    return status;
}
