/* SPDX-License-Identifier: Apache-2.0 */
/* The bus between main memory and the GPU, by kinds of main memory: what the paper's section 4.5 claims a gain of. Up go
 * reduced coordinates, which the processor writes first; down come frames, by a copy or written by a kernel itself, as
 * they are or encoded. Everything is timed until it is there. */
#include <stdlib.h>
#include <string.h>

#include "kernels/device.h"
#include "kernels/encode/encode.h"
#include "lib/base/memory.h"
#include "tests/bench/bench.h"
#include "tests/bench/bench_bus.h"
#include "tests/bench/bench_cuda.h"

typedef enum way { WRITE_AND_COPY, WRITE_AND_READ, COPY_DOWN, WRITE_DOWN, ENCODE } way;

typedef struct bus_case {
    bench_side *side;
    way how;
    int blocks;         /* of WRITE_DOWN */
    void *host;         /* in main memory */
    float *device;      /* of what goes up */
    const float *source; /* what q is copied from by the processor */
    int64_t bytes;
    modal_encode_task encode;
} bus_case;

static modal_status call(void *context, int64_t k, modal_error *err)
{
    modal_status status = MODAL_OK;
    bus_case *c = context;
    bench_side *side = c->side;
    (void)k;
    switch (c->how) {
    case WRITE_AND_COPY:
        memcpy(c->host, c->source, (size_t)c->bytes);
        MODAL_TRY(modal_device_copy_in(&side->device, c->device, c->host, c->bytes, side->stream, err));
        break;
    case WRITE_AND_READ:
        memcpy(c->host, c->source, (size_t)c->bytes);
        MODAL_TRY(bench_cuda_move(c->device, c->host, c->bytes / 4, 132, side->stream, err));
        break;
    case COPY_DOWN:
        MODAL_TRY(modal_device_copy_out(&side->device, c->host, side->pool, c->bytes, side->stream, err));
        break;
    case WRITE_DOWN:
        MODAL_TRY(bench_cuda_move(c->host, side->pool, c->bytes / 4, c->blocks, side->stream, err));
        break;
    case ENCODE:
        MODAL_TRY(side->device.kernels->encode(&c->encode, side->stream, err));
        break;
    }
    MODAL_TRY(bench_cuda_wait(side->stream, err));
done:
    return status;
}

static modal_status row(modal_bench *b, bus_case *c, const char *name, modal_error *err)
{
    modal_status status = MODAL_OK;
    bench_row row = {.name = name, .side = c->side, .n_columns = 1, .bytes = (double)c->bytes, .error = -1.0};
    MODAL_TRY(bench_measure(b, c->side, call, c, &row.time, err));
    MODAL_TRY(bench_row_add(b, &row, err));
done:
    return status;
}

static modal_status measure_up(modal_bench *b, int64_t bytes, modal_error *err)
{
    static const struct {
        bench_cuda_memory memory;
        way how;
        const char *name;
    } kinds[] = {{BENCH_CUDA_PAGEABLE, WRITE_AND_COPY, "q up: written and copied, pageable"},
                 {BENCH_CUDA_PINNED, WRITE_AND_COPY, "q up: written and copied, pinned"},
                 {BENCH_CUDA_WRITE_COMBINED, WRITE_AND_COPY, "q up: written and copied, write-combined"},
                 {BENCH_CUDA_PINNED, WRITE_AND_READ, "q up: written and read by a kernel, mapped"},
                 {BENCH_CUDA_WRITE_COMBINED, WRITE_AND_READ, "q up: written and read by a kernel, write-combined"}};
    modal_status status = MODAL_OK;
    bus_case c = {.side = &b->gpu, .bytes = bytes};
    float *source = NULL;
    MODAL_TRY(modal_alloc(&source, bytes, 1, "q", err));
    for (int64_t i = 0; i < bytes / 4; i++) source[i] = bench_noise(91, (uint64_t)i);
    c.source = source;
    MODAL_TRY(modal_device_alloc(&b->gpu.device, &c.device, bytes, 1, "q", err));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        c.how = kinds[i].how;
        MODAL_TRY(bench_cuda_host_new(&c.host, bytes, kinds[i].memory, err));
        status = row(b, &c, kinds[i].name, err);
        bench_cuda_host_delete(c.host, kinds[i].memory);
        if (status != MODAL_OK) goto done;
    }
done:
    modal_device_free(&b->gpu.device, &c.device);
    modal_free(&source);
    return status;
}

static modal_status measure_down(modal_bench *b, int64_t bytes, modal_error *err)
{
    static const struct {
        bench_cuda_memory memory;
        way how;
        int blocks;
        const char *name;
    } kinds[] = {{BENCH_CUDA_PAGEABLE, COPY_DOWN, 0, "frames down: copied, pageable"},
                 {BENCH_CUDA_PINNED, COPY_DOWN, 0, "frames down: copied, pinned"},
                 {BENCH_CUDA_PINNED, WRITE_DOWN, 16, "frames down: written by 16 blocks, mapped"},
                 {BENCH_CUDA_PINNED, WRITE_DOWN, 2048, "frames down: written by 2,048 blocks, mapped"}};
    modal_status status = MODAL_OK;
    bus_case c = {.side = &b->gpu, .bytes = bytes};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        c.how = kinds[i].how;
        c.blocks = kinds[i].blocks;
        MODAL_TRY(bench_cuda_host_new(&c.host, bytes, kinds[i].memory, err));
        memset(c.host, 0, (size_t)bytes);
        status = row(b, &c, kinds[i].name, err);
        bench_cuda_host_delete(c.host, kinds[i].memory);
        if (status != MODAL_OK) goto done;
    }
done:
    return status;
}

/* Numbers in [-1, 1) m: 11, 15 and 18 bits. Bytes: those that come in. The bytes that go out are held to the CPU's. */
static modal_status measure_encoding(modal_bench *b, int64_t n_values, int64_t n_columns, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_device *device = &b->gpu.device;
    bus_case c = {.side = &b->gpu, .how = ENCODE, .bytes = 4 * n_values * n_columns};
    const int64_t stride = modal_encode_stride(n_values);
    unsigned char *host = NULL, *memory = NULL, *right = NULL;
    float *values = NULL, *scratch = NULL;
    modal_encoded *encoded = NULL;
    char name[80];
    MODAL_TRY(modal_device_alloc_host(device, &host, n_columns * stride, 1, "chunks", err));
    MODAL_TRY(modal_device_alloc_host(device, &encoded, n_columns, sizeof *encoded, "chunks", err));
    MODAL_TRY(modal_device_alloc(device, &memory, n_columns * stride, 1, "chunks", err));
    MODAL_TRY(modal_device_alloc(device, &scratch, n_columns * MODAL_ENCODE_SCRATCH, sizeof *scratch, "parts", err));
    MODAL_TRY(modal_alloc(&right, stride, 1, "chunks", err));
    MODAL_TRY(modal_alloc(&values, n_values, sizeof *values, "frame", err));
    MODAL_TRY(bench_from_device(&b->gpu, values, b->gpu.pool + (n_columns - 1) * n_values, 4 * n_values, err));
    for (double scale = 1e3; scale < 2e5; scale *= 10.0)
        for (int to_host = 0; to_host < 2; to_host++) {
            c.encode = (modal_encode_task){.n_values = n_values, .n_columns = n_columns, .in = b->gpu.pool, .scale = scale,
                                           .stride = stride, .out = to_host ? host : memory, .encoded = encoded,
                                           .scratch = scratch};
            MODAL_TRY(call(&c, 0, err));
            const modal_encoded last = encoded[n_columns - 1], is = modal_encode(values, n_values, scale, right);
            if (last.n_bytes != is.n_bytes ||
                (to_host && memcmp(host + (n_columns - 1) * stride + MODAL_ENCODE_FIRST, right, (size_t)is.n_bytes) != 0))
                MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "encode: not the bytes of the CPU, %lld", (long long)last.n_bytes);
            snprintf(name, sizeof name, "frames down: encoded, %lld bits, %s", (long long)(8 * is.n_bytes / n_values),
                     to_host ? "into pinned memory" : "on the device");
            MODAL_TRY(row(b, &c, name, err));
        }
done:
    modal_device_free_host(device, &host);
    modal_device_free_host(device, &encoded);
    modal_device_free(device, &memory);
    modal_device_free(device, &scratch);
    modal_free(&right);
    modal_free(&values);
    return status;
}

modal_status bench_bus(modal_bench *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    bench_table(b, "bus", "The bus, by kinds of main memory: q up, frames down (bytes: those of the floats)");
    bench_headings(b);
    MODAL_TRY(measure_up(b, b->quick ? 1 << 18 : 4 << 20, err));
    MODAL_TRY(measure_down(b, b->quick ? 4 << 20 : 128 << 20, err));
    MODAL_TRY(measure_encoding(b, b->quick ? 30001 : 3 * 455625, b->quick ? 2 : 12, err));
done:
    return status;
}
