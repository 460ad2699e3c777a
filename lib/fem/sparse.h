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
    /* [n_nodes] components of each node that are held (1 x, 2 y, 4 z), or NULL where none is. Such a
     * degree of freedom is left in the matrices, coupled to nothing: its row and column of the blocks
     * are 0 but for the diagonal; and of a block's mass, which counts for all three components, only the
     * diagonal block counts for it (modal_block_mass). */
    uint8_t *held;
} modal_block_pattern;

/* The mass between component p of the nodes `row` and `column`, of the factor of their block. */
static inline double modal_block_mass(const modal_block_pattern *pattern, double factor, int64_t row,
                                      int64_t column, int p)
{
    const int decoupled = pattern->held && row != column &&
                          ((pattern->held[row] | pattern->held[column]) >> p & 1);
    return decoupled ? 0 : factor;
}

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

/* The same for blocks that are multiples of the identity but for held components (modal_block_mass);
 * `factors` has one a block. */
void modal_identity_blocks_multiply(const modal_block_pattern *pattern, const double *factors,
                                    int64_t n_vectors, const double *x, double *y, int n_threads);

#endif
