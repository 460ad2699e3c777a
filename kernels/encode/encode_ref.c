/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "kernels/encode/encode.h"

/* A number's bits, the highest first, from bit `at` of a field of zeros on. */
static void put(unsigned char *field, int64_t at, uint32_t number, int bits)
{
    for (int i = 0; i < bits; i++)
        if (number >> (bits - 1 - i) & 1) field[(at + i) / 8] |= (unsigned char)(0x80 >> (at + i) % 8);
}

static modal_encoded encode(const float *x, int64_t n, double scale, unsigned char *to)
{
    modal_encoded encoded = {0, 0.0f};
    float least = x[0], most = x[0];
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) return (modal_encoded){0, NAN};
        if (x[i] < least) least = x[i];
        if (x[i] > most) most = x[i];
    }
    if (least == 0.0f) least = 0.0f; /* not -0 */
    encoded.most = fmaxf(fabsf(least), fabsf(most));
    const double largest = floor(((double)most - (double)least) * scale + 0.5);
    int32_t bits = 0;
    while (bits < 32 && largest >= ldexp(1.0, bits)) bits++;
    if (!(largest < 2147483647.0)) bits = 32;
    encoded.n_bytes = MODAL_ENCODED_HEAD + n * bits / 8 + 1;
    memset(to, 0, (size_t)encoded.n_bytes);
    memcpy(to, &bits, 4);
    to[4] = 8;
    memcpy(to + 5, &least, 4);
    for (int64_t i = 0; i < n; i++)
        if (bits == 32)
            memcpy(to + MODAL_ENCODED_HEAD + 4 * i, x + i, 4);
        else
            put(to + MODAL_ENCODED_HEAD, i * bits, (uint32_t)floor(((double)x[i] - (double)least) * scale + 0.5), bits);
    return encoded;
}

modal_status modal_encode_ref(const modal_encode_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    for (int64_t c = 0; c < task->n_columns; c++)
        task->encoded[c] = encode(task->in + c * task->n_values, task->n_values, task->scale,
                                  task->out + c * task->stride + MODAL_ENCODE_FIRST);
    return MODAL_OK;
}
