/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs share that check an operation on every back end: options, arrays with fences,
 * comparison, a table. An oracle in double precision is in each program; the reference back end is
 * held to it as the others are, only more tightly.
 *
 *   PROGRAM [--backend ref|cpu|cuda[:N]] [--simd base|avx2|avx512] [--quick | --tiny] [--seed S] [--pretend CAPABILITY]
 *
 * --pretend 86: CUDA operations plan as on a device of compute capability 8.6 (kernels/cuda_machine.h).
 * Without --backend: ref, cpu with every instruction set this processor has, and cuda; a cuda that
 * is not there is reported as SKIPPED. With it: exit code 77 where the back end is not there.
 * Exit code 0: every case passed; 1: one failed; 2: usage. */
#ifndef MODAL_TESTS_HARNESS_H
#define MODAL_TESTS_HARNESS_H

#include <stdint.h>

#include "kernels/registry.h"

enum { HARNESS_SKIP = 77, HARNESS_ARRAYS = 96 };

typedef struct harness_output {
    float *device; /* what the operation writes */
    float *host;   /* after harness_fetch: [count] */
    int64_t count;
    unsigned char *allocation, *copy; /* with the fences */
    int64_t bytes, lead;
} harness_output;

typedef struct harness {
    const char *operation;
    struct modal_device *device;
    const struct modal_kernels *kernels; /* of the device */
    const char *back_end;                /* its name: ref, cpu, cuda:N */
    modal_stream *stream;
    int quick, is_reference, unsupported;
    int tiny; /* quick, and of tests that take it a few cases: what racecheck ends in a minute */
    uint64_t seed, state;
    int64_t n_cases, n_values, n_failures, n_calls;
    double worst; /* largest error / tolerance */
    char label[128]; /* of the case, for messages */
    void *inputs[HARNESS_ARRAYS];
    int n_inputs;
    harness_output outputs[HARNESS_ARRAYS];
    int n_outputs;
} harness;

/* The whole program: `run` is called for every back end and instruction set. */
int harness_main(int argc, char **argv, const char *operation, void (*run)(harness *));

/* Uniform in [-1, 1). */
double harness_random(harness *h);

/* Begins a case; the label is printed with a failure. Frees the last case's arrays. */
void harness_case(harness *h, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A copy in device memory, `shift` bytes off its natural alignment. */
const void *harness_input(harness *h, const void *data, int64_t bytes, int64_t shift);

/* An output of `count` floats: NaN inside, canaries on both sides, `shift` floats off alignment.
 * With `initial`, its values instead of NaN. */
harness_output *harness_new_output(harness *h, int64_t count, int64_t shift, const float *initial);

/* Waits, copies all outputs back, checks the canaries. */
void harness_fetch(harness *h);

/* Counts a failure when a status is not MODAL_OK. The next call has another number of CPU threads, so that
 * whatever compares two runs compares two numbers of them. */
void harness_ok(harness *h, modal_status status, const modal_error *err);

/* Counts a failure unless |got - want| <= tolerance (NaN fails). */
void harness_compare(harness *h, const char *what, int64_t index, float got, double want,
                     double tolerance);

/* Says that the back end has no such operation: the program is skipped, visibly. */
void harness_unsupported(harness *h, const char *why);

/* Counts a failure unless the two outputs hold the same bytes. */
void harness_same(harness *h, const char *what, const harness_output *a, const harness_output *b);

void harness_fail(harness *h, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* g(m) = m e / (1 - m e), e = FLT_EPSILON / 2. */
double harness_gamma(double m);

/* e |value| and what underflow adds: the tolerance of a value rounded once. */
double harness_rounding(double value);

/* malloc that stops the program when there is no memory. */
void *harness_alloc(int64_t count, size_t item_bytes);

#endif
