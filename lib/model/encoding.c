/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/encoding.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 1024 };

/* n numbers k = nearest((x - least) scale), `bits` bits each, 1 to 31, highest first. May write 3 bytes
 * beyond the end. */
static unsigned char *pack(unsigned char *to, const float *values, int64_t n, double least, double scale,
                           int bits)
{
    uint64_t held = 0;
    int n_held = 0;
    for (int64_t first = 0; first < n; first += BLOCK) {
        const int64_t n_now = n - first < BLOCK ? n - first : BLOCK;
        int32_t k[BLOCK]; /* signed: that conversion has a vector instruction */
        for (int64_t i = 0; i < n_now; i++) k[i] = (int32_t)((values[first + i] - least) * scale + 0.5);
        for (int64_t i = 0; i < n_now; i++) {
            held = held << bits | (uint32_t)k[i];
            n_held += bits;
            if (n_held < 32) continue;
            n_held -= 32;
            const uint32_t four = __builtin_bswap32((uint32_t)(held >> n_held));
            memcpy(to, &four, 4);
            to += 4;
        }
    }
    const uint32_t rest = __builtin_bswap32((uint32_t)(held << (32 - n_held)));
    memcpy(to, &rest, 4);
    return to + (n_held + 7) / 8;
}

/* The least and the largest value; *odd: there are infinities or what is no number. Side by side in
 * LANES columns, which the compiler makes vectors of. */
static void find_range(const float *values, int64_t n, float *least, float *most, int *odd)
{
    enum { LANES = 16 };
    float low[LANES], high[LANES];
    uint32_t exponents[LANES] = {0}, all = 0;
    for (int k = 0; k < LANES; k++) low[k] = high[k] = values[0];
    for (int64_t i = 0; i < n; i += LANES)
        for (int k = 0; k < LANES; k++) {
            /* A row behind the last whole one is the last LANES values once more, or the first. */
            const int64_t at = i + LANES <= n ? i + k : n >= LANES ? n - LANES + k : k % n;
            const float x = values[at];
            uint32_t word;
            memcpy(&word, &x, 4);
            low[k] = x < low[k] ? x : low[k];
            high[k] = x > high[k] ? x : high[k];
            exponents[k] |= (word & 0x7f800000u) == 0x7f800000u;
        }
    *least = low[0];
    *most = high[0];
    for (int k = 0; k < LANES; k++) {
        *least = low[k] < *least ? low[k] : *least;
        *most = high[k] > *most ? high[k] : *most;
        all |= exponents[k];
    }
    *least += 0.0f; /* of -0 makes 0: which of the two was found first does not show */
    *odd = all != 0;
}

modal_encoded modal_encode(const float *values, int64_t n, double scale, unsigned char *to)
{
    float least, most;
    int bits = 0, odd;
    find_range(values, n, &least, &most, &odd);
    if (odd) return (modal_encoded){0, NAN};
    const double largest = ((double)most - least) * scale + 0.5;
    while (bits < 32 && largest >= ldexp(1, bits)) bits++;
    if (!(largest < 2147483647.0)) bits = 32; /* not in a signed 32-bit number */
    const uint32_t bits_wide = (uint32_t)bits;
    memset(to, 0, MODAL_ENCODED_HEAD);
    memcpy(to, &bits_wide, 4);
    to[4] = 8;
    memcpy(to + 5, &least, 4);
    unsigned char *end = to + MODAL_ENCODED_HEAD;
    if (bits == 32) {
        memcpy(end, values, 4 * (size_t)n);
        end += 4 * n;
    } else if (bits > 0) {
        end = pack(end, values, n, least, scale, bits);
    }
    *end = 0;
    /* as the filter counts, which has one byte more where the last one is full */
    return (modal_encoded){MODAL_ENCODED_HEAD + n * bits / 8 + 1, fmaxf(fabsf(least), fabsf(most))};
}
