/* SPDX-License-Identifier: Apache-2.0 */
/* Every back end writes the bytes that an oracle of its own makes, by whole numbers of 128 bits, and the numbers decode to
 * within half a step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/device.h"
#include "kernels/encode/encode.h"
#include "tests/kernels/harness.h"

enum { PLAIN, ZEROS, CONSTANT, WIDE, NEGATIVE_ZERO, ODD, KINDS };
static const char *const kinds[KINDS] = {"plain", "zeros", "constant", "wide", "negative zero", "odd"};

static void fill(harness *h, float *x, int64_t n, int kind, double reach)
{
    for (int64_t i = 0; i < n; i++) x[i] = kind == CONSTANT ? -1.25f : (float)(reach * harness_random(h));
    if (kind == ZEROS) memset(x, 0, (size_t)n * sizeof *x);
    if (kind == WIDE) x[n / 2] = 1e30f;
    for (int64_t i = 0; kind == NEGATIVE_ZERO && i < n; i++) x[i] = i % 3 ? fabsf(x[i]) : i % 2 ? 0.0f : -0.0f;
    if (kind == ODD) x[n - 1] = n % 2 ? NAN : INFINITY;
}

/* The number of value i in a chunk, bit by bit. */
static uint32_t number_of(const unsigned char *chunk, int bits, int64_t i)
{
    uint32_t number = 0;
    for (int64_t b = i * bits; b < (i + 1) * bits; b++)
        number = number << 1 | (chunk[MODAL_ENCODED_HEAD + b / 8] >> (7 - b % 8) & 1);
    return number;
}

/* One column's chunk against its values. */
static void decode(harness *h, const float *x, int64_t n, double scale, const unsigned char *chunk, const modal_encoded *is)
{
    int32_t bits;
    float least, low = x[0], high = x[0];
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            if (is->n_bytes != 0 || !isnan(is->most)) harness_fail(h, "odd values were encoded in %lld bytes", (long long)is->n_bytes);
            return;
        }
        low = x[i] < low ? x[i] : low, high = x[i] > high ? x[i] : high;
    }
    memcpy(&bits, chunk, 4);
    memcpy(&least, chunk + 5, 4);
    const double span = floor(((double)high - (double)low) * scale + 0.5);
    const int want = span >= 2147483647.0 ? 32 : span < 1.0 ? 0 : (int)floor(log2(span)) + 1;
    if (bits != want || chunk[4] != 8) harness_fail(h, "%d bits, not %d", bits, want);
    if (least != low || (signbit(least) != 0) != (low < 0.0f)) harness_fail(h, "least %g, not %g", (double)least, (double)low);
    if (is->n_bytes != MODAL_ENCODED_HEAD + n * want / 8 + 1) harness_fail(h, "%lld bytes", (long long)is->n_bytes);
    if (is->most != fmaxf(fabsf(low), fabsf(high))) harness_fail(h, "largest %g", (double)is->most);
    for (int i = 9; i < MODAL_ENCODED_HEAD; i++)
        if (chunk[i] != 0) harness_fail(h, "byte %d of the head", i);
    for (int64_t i = 0; i < n && bits == want; i++) {
        if (bits == 32) {
            if (memcmp(chunk + MODAL_ENCODED_HEAD + 4 * i, x + i, 4) != 0) harness_fail(h, "value %lld changed", (long long)i);
            continue;
        }
        const double back = number_of(chunk, bits, i) / scale + (double)least;
        const double tolerance = 0.5 / scale + 1e-15 * (fabs(back) + fabs((double)least));
        if (!(fabs(back - (double)x[i]) <= tolerance))
            harness_fail(h, "value %lld: %.9g became %.9g", (long long)i, (double)x[i], back);
        h->n_values++;
    }
}

static void check(harness *h, int64_t n, int64_t columns, int kind, double reach, double scale)
{
    modal_error err = {0};
    harness_case(h, "n %lld, %lld columns, %s, reach %g, scale %g", (long long)n, (long long)columns, kinds[kind], reach, scale);
    const int64_t stride = modal_encode_stride(n) + (n % 2) * 128;
    float *x = harness_alloc(n * columns, sizeof *x);
    for (int64_t c = 0; c < columns; c++) fill(h, x + c * n, n, c == 0 ? kind : PLAIN, reach);
    const float *in = harness_input(h, x, n * columns * 4, (n % 3) * 4);
    harness_output *scratch = harness_new_output(h, columns * MODAL_ENCODE_SCRATCH, 0, NULL);
    harness_output *out = harness_new_output(h, columns * stride / 4, 0, NULL);
    unsigned char *pinned[2] = {NULL};
    modal_encoded *encoded[3] = {NULL};
    for (int i = 0; i < 3; i++) { /* to device memory, and twice to main memory */
        harness_ok(h, modal_device_alloc_host(h->device, &encoded[i], columns, sizeof **encoded, "chunks", &err), &err);
        if (i > 0)
            harness_ok(h, modal_device_alloc_host(h->device, &pinned[i - 1], columns * stride, 1, "chunks", &err), &err);
        if (i > 0) memset(pinned[i - 1], i, (size_t)(columns * stride));
        const modal_encode_task task = {.n_values = n, .n_columns = columns, .in = in, .scale = scale, .stride = stride,
                                        .out = i == 0 ? (unsigned char *)out->device : pinned[i - 1], .encoded = encoded[i],
                                        .scratch = scratch->device};
        harness_ok(h, h->kernels->encode(&task, h->stream, &err), &err);
        harness_ok(h, modal_device_stream_wait(h->device, h->stream, &err), &err);
    }
    harness_fetch(h);
    unsigned char *right = harness_alloc(modal_encoded_room(n), 1);
    for (int64_t c = 0; c < columns; c++) {
        const int64_t at = c * stride + MODAL_ENCODE_FIRST;
        const modal_encoded cpu = modal_encode(x + c * n, n, scale, right);
        decode(h, x + c * n, n, scale, pinned[0] + at, &encoded[1][c]);
        for (int i = 0; i < 3; i++) {
            const unsigned char *chunk = i == 0 ? (unsigned char *)out->host + at : pinned[i - 1] + at;
            if (encoded[i][c].n_bytes != cpu.n_bytes || memcmp(chunk, right, (size_t)cpu.n_bytes) != 0)
                harness_fail(h, "column %lld, run %d: not the CPU's bytes", (long long)c, i);
        }
        for (int k = 0; k < MODAL_ENCODE_FIRST; k++)
            if (pinned[0][c * stride + k] != 1) harness_fail(h, "a byte before a chunk was written");
    }
    for (int i = 0; i < 3; i++) modal_device_free_host(h->device, &encoded[i]);
    for (int i = 0; i < 2; i++) modal_device_free_host(h->device, &pinned[i]);
    free(right);
    free(x);
}

static void run(harness *h)
{
    static const int64_t sizes[] = {1, 2, 7, 31, 32, 33, 255, 1024, 1025, 5003, 100003};
    static const double reaches[] = {1.0, 3e-5, 20.0, 3000.0}, scales[] = {1e5, 1e2, 1e9};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (h->quick && sizes[i] > 6000) continue;
        for (int kind = 0; kind < KINDS; kind++) check(h, sizes[i], 1 + (int)(i % 3), kind, 1.0, 1e4);
        for (size_t k = 0; k < sizeof reaches / sizeof *reaches; k++)
            for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) check(h, sizes[i], 3, PLAIN, reaches[k], scales[s]);
    }
    for (int bits = 1; bits < 32; bits++) check(h, 1003, 2, PLAIN, 0.4999 * ldexp(1.0, bits), 1.0); /* every width */
    check(h, 100, 0, PLAIN, 1.0, 1e4);
    check(h, 40, h->quick ? 100 : 3000, PLAIN, 1.0, 1e4);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "encode", run); }
