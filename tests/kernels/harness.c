/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/kernels/harness.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu.h"
#include "kernels/cuda_machine.h"
#include "kernels/device.h"

enum { FENCE = 256 }; /* bytes on each side of an output */
static const unsigned char canary = 0xC5;

double harness_random(harness *h)
{
    uint64_t z = (h->state += 0x9e3779b97f4a7c15u); /* splitmix64 */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1.0;
}

void *harness_alloc(int64_t count, size_t item_bytes)
{
    void *memory = malloc(count > 0 ? (size_t)count * item_bytes : 1);
    if (!memory) {
        fprintf(stderr, "harness: out of memory\n");
        exit(1);
    }
    return memory;
}

static void need(modal_status status, const modal_error *err)
{
    if (status == MODAL_OK) return;
    fprintf(stderr, "harness: %s\n", err->message);
    exit(1);
}

static void need_room(const harness *h, int n)
{
    if (n < HARNESS_ARRAYS) return;
    fprintf(stderr, "harness: %s: a case has more arrays than HARNESS_ARRAYS, %d\n", h->label, HARNESS_ARRAYS);
    exit(1);
}

static void clear(harness *h)
{
    for (int i = 0; i < h->n_inputs; i++) modal_device_free(h->device, &h->inputs[i]);
    for (int i = 0; i < h->n_outputs; i++) {
        modal_device_free(h->device, &h->outputs[i].allocation);
        free(h->outputs[i].copy);
    }
    h->n_inputs = h->n_outputs = 0;
}

void harness_case(harness *h, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(h->label, sizeof h->label, format, arguments);
    va_end(arguments);
    clear(h);
    h->n_cases++;
}

void harness_fail(harness *h, const char *format, ...)
{
    va_list arguments;
    if (++h->n_failures > 10) return;
    printf("FAILED %s %s (%s): ", h->operation, h->device->name, h->label);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
}

const void *harness_input(harness *h, const void *data, int64_t bytes, int64_t shift)
{
    modal_error err = {0};
    need_room(h, h->n_inputs);
    void **allocation = &h->inputs[h->n_inputs++];
    need(modal_device_alloc(h->device, allocation, bytes + shift, 1, "input", &err), &err);
    unsigned char *memory = *allocation;
    need(modal_device_copy_in(h->device, memory + shift, data, bytes, h->stream, &err), &err);
    need(modal_device_stream_wait(h->device, h->stream, &err), &err);
    return memory + shift;
}

harness_output *harness_new_output(harness *h, int64_t count, int64_t shift, const float *initial)
{
    modal_error err = {0};
    need_room(h, h->n_outputs);
    harness_output *out = &h->outputs[h->n_outputs++];
    memset(out, 0, sizeof *out);
    out->count = count;
    out->lead = FENCE + shift * (int64_t)sizeof(float);
    out->bytes = out->lead + count * (int64_t)sizeof(float) + FENCE;
    out->copy = harness_alloc(out->bytes, 1);
    memset(out->copy, canary, (size_t)out->bytes);
    memset(out->copy + out->lead, 0xff, (size_t)count * sizeof(float)); /* NaN */
    if (initial && count > 0) memcpy(out->copy + out->lead, initial, (size_t)count * sizeof(float));
    need(modal_device_alloc(h->device, &out->allocation, out->bytes, 1, "output", &err), &err);
    need(modal_device_copy_in(h->device, out->allocation, out->copy, out->bytes, h->stream, &err),
         &err);
    need(modal_device_stream_wait(h->device, h->stream, &err), &err);
    out->device = (float *)(out->allocation + out->lead);
    out->host = (float *)(out->copy + out->lead);
    return out;
}

void harness_fetch(harness *h)
{
    modal_error err = {0};
    harness_ok(h, modal_device_stream_wait(h->device, h->stream, &err), &err);
    for (int i = 0; i < h->n_outputs; i++) {
        harness_output *out = &h->outputs[i];
        need(modal_device_copy_out(h->device, out->copy, out->allocation, out->bytes, h->stream,
                                   &err),
             &err);
        need(modal_device_stream_wait(h->device, h->stream, &err), &err);
        for (int64_t k = 0; k < out->bytes; k++) {
            if (k == out->lead) k += out->count * (int64_t)sizeof(float);
            if (out->copy[k] == canary) continue;
            harness_fail(h, "output %d: byte %lld outside of it was overwritten", i,
                         (long long)(k - out->lead));
            break;
        }
    }
}

void harness_ok(harness *h, modal_status status, const modal_error *err)
{
    static const int threads[] = {3, 1, 2, 5};
    omp_set_num_threads(threads[h->n_calls++ % 4]);
    if (status != MODAL_OK) harness_fail(h, "%s", err->message);
}

void harness_compare(harness *h, const char *what, int64_t index, float got, double want,
                     double tolerance)
{
    const double error = fabs((double)got - want);
    h->n_values++;
    if (!(error <= tolerance)) {
        harness_fail(h, "%s[%lld] = %.9g, not %.9g: off by %.3g, tolerance %.3g", what,
                     (long long)index, (double)got, want, error, tolerance);
        return;
    }
    if (tolerance > 0.0 && error / tolerance > h->worst) h->worst = error / tolerance;
}

void harness_unsupported(harness *h, const char *why)
{
    printf("SKIPPED %s on %s: %s\n", h->operation, h->device->name, why);
    h->unsupported = 1;
}

void harness_same(harness *h, const char *what, const harness_output *a, const harness_output *b)
{
    if (a->count != b->count || memcmp(a->host, b->host, (size_t)a->count * sizeof(float)) != 0)
        harness_fail(h, "%s: not the same bytes", what);
}

double harness_gamma(double m)
{
    const double e = FLT_EPSILON / 2;
    return m * e / (1.0 - m * e);
}

double harness_rounding(double value)
{
    /* the oracle's own rounding in double is far below; 1e-6 of e covers it */
    return fabs(value) * (FLT_EPSILON / 2) * (1.0 + 1e-6) + FLT_TRUE_MIN;
}

static void run_one(harness *h, void (*run)(harness *), const char *simd)
{
    modal_error err = {0};
    h->state = h->seed;
    h->n_cases = h->n_values = h->n_failures = 0;
    h->worst = 0.0;
    h->unsupported = 0;
    h->kernels = h->device->kernels;
    h->back_end = h->device->name;
    h->is_reference = strcmp(h->device->name, "ref") == 0;
    need(modal_device_stream_new(h->device, &h->stream, &err), &err);
    run(h);
    clear(h);
    modal_device_stream_delete(h->device, &h->stream);
    if (h->unsupported) return;
    printf("%-16s %-8s %-7s %6lld %11lld %12.3f %9lld\n", h->operation, h->device->name, simd,
           (long long)h->n_cases, (long long)h->n_values, h->worst, (long long)h->n_failures);
    if (h->n_values == 0) {
        printf("FAILED %s: nothing was compared\n", h->operation);
        h->n_failures++;
    }
}

/* Returns the number of failures, -1 when the back end is not there. */
static int64_t run_back_end(harness *h, void (*run)(harness *), const char *name, const char *simd)
{
    modal_error err = {0};
    modal_device device;
    h->device = &device;
    if (modal_device_open(h->device, name, &err) != MODAL_OK) {
        printf("SKIPPED %s on %s: %s\n", h->operation, name, err.message);
        return -1;
    }
    if (strcmp(h->device->name, "cpu") != 0) {
        run_one(h, run, "-");
        return h->unsupported ? -1 : h->n_failures;
    }
    int64_t failures = 0;
    int found = 0;
    for (int level = MODAL_SIMD_BASE; level <= MODAL_SIMD_AVX512; level++) {
        const char *level_name = modal_cpu_simd_name((modal_simd)level);
        if (simd && strcmp(simd, level_name) != 0) continue;
        if (!modal_cpu_simd_select((modal_simd)level)) {
            printf("SKIPPED %s on cpu, %s: not in this build or processor\n", h->operation,
                   level_name);
            continue;
        }
        found = 1;
        run_one(h, run, level_name);
        failures += h->n_failures;
    }
    return found ? failures : -1;
}

int harness_main(int argc, char **argv, const char *operation, void (*run)(harness *))
{
    harness h = {.operation = operation, .seed = 20200517};
    const char *name = NULL, *simd = NULL;
    for (int i = 1; i < argc; i++) {
        char *end = NULL;
        if (strcmp(argv[i], "--quick") == 0) {
            h.quick = 1;
        } else if (strcmp(argv[i], "--tiny") == 0) {
            h.quick = h.tiny = 1;
        } else if (strcmp(argv[i], "--backend") == 0 && i + 1 < argc) {
            name = argv[++i];
        } else if (strcmp(argv[i], "--simd") == 0 && i + 1 < argc) {
            simd = argv[++i];
        } else if (strcmp(argv[i], "--pretend") == 0 && i + 1 < argc) {
#ifdef MODAL_HAVE_CUDA
            modal_cuda_pretend(atoi(argv[++i]));
#else
            i++; /* nothing plans by it */
#endif
        } else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
            h.seed = strtoull(argv[++i], &end, 0);
            if (*end != '\0') return 2;
        } else {
            fprintf(stderr, "usage: %s [--backend NAME] [--simd NAME] [--quick | --tiny] [--seed S] [--pretend N]\n",
                    argv[0]);
            return 2;
        }
    }
    printf("seed %llu%s\n%-16s %-8s %-7s %6s %11s %12s %9s\n", (unsigned long long)h.seed,
           h.quick ? ", quick" : "", "operation", "backend", "simd", "cases", "values",
           "error/bound", "failures");
    int64_t failures = 0;
    if (name) {
        failures = run_back_end(&h, run, name, simd);
        if (failures < 0) return HARNESS_SKIP;
        return failures > 0;
    }
    static const char *const all[] = {"ref", "cpu", "cuda"};
    for (int i = 0; i < 3; i++) {
        const int64_t result = run_back_end(&h, run, all[i], simd);
        if (result > 0) failures += result;
    }
    return failures > 0;
}
