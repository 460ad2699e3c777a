/* SPDX-License-Identifier: Apache-2.0 */
/* Other ways to step a solid on a GPU, for modalbench tled: those of a thesis on total Lagrangian explicit dynamics (element
 * forces to an array of slots, then a loop over nodes; atomic sums; one thread a node) and what else is usual. Tetrahedra,
 * neo-Hookean, float32 without compensation, gradients stored; nodes and elements in the solid's order. */
#ifndef MODAL_TESTS_TLED_OPPONENTS_H
#define MODAL_TESTS_TLED_OPPONENTS_H

#include "kernels/operations.h"
#include "kernels/tled_step/tled_step.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tled_way {
    TLED_SCATTER_NODES,    /* forces to slots in the order of nodes, then a sum a node */
    TLED_SCATTER_ELEMENTS, /* slots in the order of elements, nodes have lists of them */
    TLED_ATOMIC_SCALAR,    /* twelve atomicAdd an element */
    TLED_ATOMIC_VECTOR,    /* four red.global.add.v4.f32 (compute capability 9.0) */
    TLED_ATOMIC_CAS,       /* additions by atomicCAS loops, for hardware without atomic sums of floats */
    TLED_COLOURS,          /* a launch a colour, elements of one share no node */
    TLED_THREAD_A_NODE,    /* every element computed by each of its four nodes */
    TLED_SORTED,           /* forces keyed by node, sorted, summed by segment (CUB) */
    TLED_WAYS
} tled_way;

extern const char *const tled_way_names[TLED_WAYS];

typedef struct tled_opponent tled_opponent;

/* The solid's loads but for gravity, and prescribed components that are not still, are not looked at. */
modal_status tled_opponent_new(tled_opponent **opponent, const modal_tled_solid *solid, tled_way way, modal_error *err);
tled_opponent *tled_opponent_delete(tled_opponent *opponent); /* NULL is fine; returns NULL */
int tled_opponent_parts(const tled_opponent *opponent);       /* launches a step of the element loop: the colours, or 1 */
/* Threads of a block from now on (at first 128), and of the kernels of the element and the node loop: registers of a thread,
 * and threads that a multiprocessor holds at once. */
typedef struct tled_kernel_use {
    int registers, threads;
} tled_kernel_use;
modal_status tled_opponent_block(tled_opponent *opponent, int threads, tled_kernel_use use[2], modal_error *err);
/* From rest again. */
modal_status tled_opponent_reset(tled_opponent *opponent, modal_stream *stream, modal_error *err);
/* n steps under constant gravity. part: 3; 1: only the element loop, 2: only the node loop (for shares of time). */
modal_status tled_opponent_step(tled_opponent *opponent, int n, double step, double before, double alpha,
                                const double gravity[3], int part, modal_stream *stream, modal_error *err);
/* u [n_nodes, 4] on the device. */
const float *tled_opponent_displacements(const tled_opponent *opponent);

#ifdef __cplusplus
}
#endif
#endif
