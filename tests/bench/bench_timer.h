/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA events for bench_objects.c. */
#ifndef MODAL_TESTS_BENCH_TIMER_H
#define MODAL_TESTS_BENCH_TIMER_H

#include "kernels/operations.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Both return 0 when CUDA reports an error. */
int bench_cuda_start(modal_stream *stream);
int bench_cuda_stop(modal_stream *stream, double *seconds); /* since the start, on the device */

#ifdef __cplusplus
}
#endif
#endif
