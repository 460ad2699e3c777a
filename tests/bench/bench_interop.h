/* SPDX-License-Identifier: Apache-2.0 */
/* What it costs to compute frames into buffers that OpenGL draws from (CUDA-OpenGL interoperation, section 4.5 of the 2020 paper),
 * beside the same frames in memory of CUDA's own. */
#ifndef MODAL_TESTS_BENCH_INTEROP_H
#define MODAL_TESTS_BENCH_INTEROP_H

#include "tests/bench/bench.h"

typedef struct interop_frame {
    bench_side *side;
    bench_call *call; /* queues a frame into *positions and *normals, [n_vertices, 3] each */
    void *context;
    float **positions, **normals;
    int64_t n_vertices;
    int n_modes;
    double bytes; /* of the frame, as in its other rows */
} interop_frame;

modal_status bench_interop(modal_bench *b, const interop_frame *frame, modal_error *err);

#endif
