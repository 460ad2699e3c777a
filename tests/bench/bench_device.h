/* SPDX-License-Identifier: Apache-2.0 */
/* What programs share that time operations of one back end: arguments, arrays, and an end at the first error. */
#ifndef TESTS_BENCH_DEVICE_H
#define TESTS_BENCH_DEVICE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/device.h"
#include "kernels/registry.h"

_Noreturn static inline void bench_device_fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
    exit(1);
}

static inline void need(modal_status status, const modal_error *err)
{
    if (status != MODAL_OK) bench_device_fail(err->message);
}

/* Zeros, and room for one more. */
static inline void *host_array(int64_t count, size_t item_bytes)
{
    void *memory = calloc((size_t)count + 1, item_bytes);
    if (!memory) abort();
    return memory;
}

/* A copy in the device's memory; NULL: uninitialised. */
static inline void *device_array(const modal_device *device, modal_stream *stream, const void *host, int64_t bytes)
{
    modal_error err = {0};
    void *memory = NULL;
    need(modal_device_alloc(device, &memory, bytes, 1, "bench", &err), &err);
    if (host) need(modal_device_copy_in(device, memory, host, bytes, stream, &err), &err);
    need(modal_device_stream_wait(device, stream, &err), &err);
    return memory;
}

static inline int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* [--backend NAME] [--quick]: opens the back end; returns whether it is to be quick. */
static inline int bench_device_open(int argc, char **argv, modal_device *device, modal_stream **stream)
{
    const char *name = "auto";
    int quick = 0;
    modal_error err = {0};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) {
            quick = 1;
        } else if (strcmp(argv[i], "--backend") == 0 && i + 1 < argc) {
            name = argv[++i];
        } else {
            fprintf(stderr, "usage: %s [--backend NAME] [--quick]\n", argv[0]);
            exit(2);
        }
    }
    need(modal_device_open(device, name, &err), &err);
    need(modal_device_stream_new(device, stream, &err), &err);
    return quick;
}

#endif
