/* SPDX-License-Identifier: Apache-2.0 */
/* Once the solid is divided nobody needs its mesh as a whole: of every array each rank keeps a range, and rank 0 asks for rows again while
 * the file is written. */
#include <malloc.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/ranks/private.h"

static int64_t range_begin(int64_t bytes, int n_ranks, int rank) { return bytes / n_ranks * rank + bytes % n_ranks * rank / n_ranks; }

/* Rank 0: where the pointer of each array is, and its bytes. */
static void list_arrays(modal_volume_mesh *m, void *places[MODAL_RANKS_ARRAYS], int64_t bytes[MODAL_RANKS_ARRAYS])
{
    int64_t other = 0; /* elements of another than the first material: without them the file has no list */
    for (int64_t e = 0; e < m->n_elements; e++) other += m->element_material[e] != 0;
    memcpy(places, ((void *[MODAL_RANKS_ARRAYS]){&m->nodes, &m->node_tags, &m->element_type, &m->element_nodes, &m->element_tags,
                                                 &m->element_material, &m->element_fibres}), MODAL_RANKS_ARRAYS * sizeof *places);
    memcpy(bytes, ((int64_t[MODAL_RANKS_ARRAYS]){24 * m->n_nodes, 8 * m->n_nodes, m->n_elements, 4 * m->element_offsets[m->n_elements],
                                                 8 * m->n_elements, other ? 4 * m->n_elements : 0,
                                                 m->element_fibres ? 24 * m->n_elements : 0}), MODAL_RANKS_ARRAYS * sizeof *bytes);
}

/* *whole: rank 0's, where it is freed. */
static modal_status spread_array(const ranks_problem *problem, int64_t bytes, void *whole, char **part, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int n_ranks = problem->n_ranks, rank = problem->rank;
    const int64_t begin = range_begin(bytes, n_ranks, rank), length = range_begin(bytes, n_ranks, rank + 1) - begin;
    char *from = NULL;
    RANKS_OWN(modal_alloc(part, length, 1, "mesh", err));
    if (rank > 0) return ranks_pass(problem, 0, rank, *part, length, err);
    memcpy(&from, whole, sizeof from);
    if (length > 0) memcpy(*part, from, (size_t)length);
    for (int r = 1; r < n_ranks; r++) {
        const int64_t at = range_begin(bytes, n_ranks, r);
        MODAL_TRY(ranks_pass(problem, 0, r, from + at, range_begin(bytes, n_ranks, r + 1) - at, err));
    }
    modal_free(whole);
done:
    return status;
}

modal_status ranks_spread_mesh(ranks_problem *problem, modal_error *err)
{
    modal_status status = MODAL_OK;
    ranks_spread *s = &problem->spread;
    void *places[MODAL_RANKS_ARRAYS] = {NULL};
    if (problem->n_ranks == 1) return MODAL_OK;
    if (problem->rank == 0) list_arrays(&problem->solid->mesh, places, s->bytes);
    RANKS_TRY(MPI_Bcast(s->bytes, MODAL_RANKS_ARRAYS, MPI_INT64_T, 0, problem->comm));
    for (int k = 0; k < MODAL_RANKS_ARRAYS; k++) MODAL_TRY(spread_array(problem, s->bytes[k], places[k], &s->parts[k], err));
    if (problem->rank == 0) modal_free(&problem->solid->mesh.element_offsets); /* the types say them */
    malloc_trim(0);
done:
    return status;
}

modal_status ranks_give_mesh(const ranks_problem *problem, modal_ranks_array array, int64_t first, int64_t n, void *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t head[3] = {array, first, n};
    RANKS_TRY(MPI_Bcast(head, 3, MPI_INT64_T, 0, problem->comm));
    const int64_t bytes = problem->spread.bytes[head[0]], end = head[1] + head[2];
    for (int r = 0; r < problem->n_ranks; r++) {
        const int64_t begin = range_begin(bytes, problem->n_ranks, r), behind = range_begin(bytes, problem->n_ranks, r + 1);
        const int64_t low = begin > head[1] ? begin : head[1], high = behind < end ? behind : end;
        if (low >= high || (problem->rank > 0 && problem->rank != r)) continue;
        char *part = problem->rank == r ? problem->spread.parts[head[0]] + (low - begin) : NULL;
        if (r == 0) memcpy((char *)to + (low - head[1]), part, (size_t)(high - low));
        else MODAL_TRY(ranks_pass(problem, r, 0, problem->rank == 0 ? (char *)to + (low - head[1]) : part, high - low, err));
    }
done:
    return status;
}

void ranks_spread_free(ranks_spread *spread)
{
    for (int k = 0; k < MODAL_RANKS_ARRAYS; k++) modal_free(&spread->parts[k]);
    memset(spread, 0, sizeof *spread);
}
