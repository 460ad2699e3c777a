/* SPDX-License-Identifier: Apache-2.0 */
/* What bench_objects.c compares with on CUDA. */
#ifndef MODAL_TESTS_BENCH_OBJECTS_CUDA_H
#define MODAL_TESTS_BENCH_OBJECTS_CUDA_H

#include <stdint.h>

#include "kernels/operations.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A kernel that does nothing, with as many bytes of arguments as deform_objects has and a block of
 * 256 threads for 8 tiles. 0 when CUDA reports an error. */
int bench_cuda_nothing(int64_t n_tiles, modal_stream *stream);

/* cublasSgemvBatched of n_objects products of [rows, modes] matrices, one behind the other in u
 * and q. The library is loaded at run time; `ready` is 0 where it is not there. */
typedef struct bench_gemv {
    int ready, n_objects, rows, modes;
    void *handle;         /* cublasHandle_t */
    const float **u, **q; /* in device memory, [n_objects] */
    float **out;
} bench_gemv;

void bench_gemv_new(bench_gemv *gemv, int n_objects, int rows, int modes, const float *u,
                    const float *q, float *out, modal_stream *stream);
int bench_gemv_run(const bench_gemv *gemv);
void bench_gemv_delete(bench_gemv *gemv);

#ifdef __cplusplus
}
#endif
#endif
