/* SPDX-License-Identifier: Apache-2.0 */
/* Symmetric sparse matrices over nodes. Every degree of freedom comes with the two others of its
 * node, so the pattern is that of the node graph: the lower triangle by columns, one block an entry.
 * The stiffness has 3 x 3 blocks, the mass a multiple of the 3 x 3 identity. */
#ifndef MODAL_FEM_SPARSE_H
#define MODAL_FEM_SPARSE_H

#include <stdint.h>

/* Column j holds the blocks offsets[j] .. offsets[j + 1); their rows ascend, and the first one is
 * the diagonal: rows[offsets[j]] == j. */
typedef struct modal_block_pattern {
    int64_t n_nodes;
    int64_t *offsets; /* [n_nodes + 1] */
    int32_t *rows;    /* [offsets[n_nodes]] */
} modal_block_pattern;

static inline int64_t modal_block_count(const modal_block_pattern *pattern)
{
    return pattern->offsets[pattern->n_nodes];
}

/* y = A x for n_vectors vectors; x and y have shape [n_vectors, n_nodes, 3] and must not overlap.
 * `blocks` has shape [block count, 3, 3], row-major blocks, those on the diagonal symmetric and
 * full. The vectors are shared among n_threads threads; a vector is summed by one thread, so the
 * result does not depend on their number. */
void modal_blocks_multiply(const modal_block_pattern *pattern, const double *blocks,
                           int64_t n_vectors, const double *x, double *y, int n_threads);

/* The same for blocks that are multiples of the identity; `factors` has one a block. */
void modal_identity_blocks_multiply(const modal_block_pattern *pattern, const double *factors,
                                    int64_t n_vectors, const double *x, double *y, int n_threads);

#endif
