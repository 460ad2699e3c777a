/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/texture/mips.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"

/* ---- sRGB, IEC 61966-2-1 ---- */

/* 65536 steps of linear light are 20 for the darkest step of sRGB: the nearest is missed by at most 0.03 of a step. */
enum { LINEAR_STEPS = 65536 };
static float to_linear[256];
static uint8_t from_linear[LINEAR_STEPS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static double linear_of(double s) { return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4); }

static void make_tables(void)
{
    for (int i = 0; i < 256; i++) to_linear[i] = (float)linear_of(i / 255.0);
    for (int i = 0, value = 0; i < LINEAR_STEPS; i++) {
        while (value < 255 && linear_of((value + 0.5) / 255) <= i / (LINEAR_STEPS - 1.0)) value++;
        from_linear[i] = (uint8_t)value;
    }
}

float modal_srgb_to_linear(uint8_t value)
{
    pthread_once(&once, make_tables);
    return to_linear[value];
}

static uint8_t srgb_of(float x)
{
    const float scaled = x * (LINEAR_STEPS - 1) + 0.5f;
    return from_linear[scaled <= 0 ? 0 : scaled >= LINEAR_STEPS - 1 ? LINEAR_STEPS - 1 : (int)scaled];
}

uint8_t modal_srgb_from_linear(float value)
{
    pthread_once(&once, make_tables);
    return srgb_of(value);
}

void modal_srgb_least(float least[256])
{
    for (int i = 0; i < 256; i++) least[i] = i ? (float)linear_of((i - 0.5) / 255) : 0;
}

static uint8_t byte_of(float x) /* of [0, 1] */
{
    const float scaled = x * 255 + 0.5f;
    return scaled <= 0 ? 0 : scaled >= 255 ? 255 : (uint8_t)scaled;
}

/* ---- sizes ---- */

int modal_mip_sizes(int32_t width, int32_t height, int32_t *widths, int32_t *heights)
{
    int n = 0;
    for (;; n++) {
        widths[n] = width;
        heights[n] = height;
        if (width == 1 && height == 1) return n + 1;
        width = width > 1 ? width / 2 : 1;
        height = height > 1 ? height / 2 : 1;
    }
}

int64_t modal_mip_bytes(int32_t width, int32_t height)
{
    int32_t w[MODAL_MIP_LEVELS], h[MODAL_MIP_LEVELS];
    const int n = modal_mip_sizes(width, height, w, h);
    int64_t bytes = 0;
    for (int i = 0; i < n; i++) bytes += (int64_t)w[i] * h[i] * 4;
    return bytes;
}

/* ---- levels in floats: colours in linear light times alpha (without alpha: plain), normals as 2 x - 1 ---- */

static int has_alpha(const uint8_t *texels, int64_t n)
{
    enum { TEXELS = 1024 }; /* at a time, without a branch between them */
    for (int64_t i = 0; i < n; i += TEXELS) {
        uint32_t all = UINT32_MAX, one;
        uint8_t bytes[4];
        for (int64_t j = i; j < n && j < i + TEXELS; j++) {
            memcpy(&one, texels + 4 * j, sizeof one);
            all &= one;
        }
        memcpy(bytes, &all, sizeof bytes);
        if (bytes[3] != 255) return 1;
    }
    return 0;
}

static void to_floats(modal_mip_role role, int weighted, const uint8_t *texels, int64_t n, float *to)
{
    for (int64_t i = 0; i < n; i++) {
        const uint8_t *t = texels + 4 * i;
        float *f = to + 4 * i;
        f[3] = (float)t[3] * (1 / 255.0f);
        const float weight = weighted ? f[3] : 1;
        for (int k = 0; k < 3; k++)
            f[k] = role == MODAL_MIP_NORMALS ? (float)t[k] * (2 / 255.0f) - 1 : to_linear[t[k]] * weight;
    }
}

/* Mean over the texels [begin, end) of `count` parts, as overlaps: `from` is divided into `to` parts. */
typedef struct overlap {
    int32_t first, n; /* at most 3 */
    float weight[3];
} overlap;

static overlap overlap_of(int32_t from, int32_t to, int32_t i)
{
    overlap o = {.first = (int32_t)((int64_t)i * from / to)};
    for (int32_t k = o.first; o.n < 3 && (int64_t)k * to < (int64_t)(i + 1) * from; k++) {
        const int64_t begin = (int64_t)k * to > (int64_t)i * from ? (int64_t)k * to : (int64_t)i * from;
        const int64_t end = (int64_t)(k + 1) * to < (int64_t)(i + 1) * from ? (int64_t)(k + 1) * to : (int64_t)(i + 1) * from;
        o.weight[o.n++] = (float)(end - begin) / (float)from;
    }
    return o;
}

static void halve_even(const float *from, int32_t w, int32_t to_w, int32_t to_h, float *to)
{
    for (int32_t y = 0; y < to_h; y++) {
        const float *a = from + (int64_t)2 * y * w * 4, *b = a + (int64_t)w * 4;
        float *t = to + (int64_t)y * to_w * 4;
        for (int32_t x = 0; x < to_w; x++, a += 8, b += 8, t += 4)
            for (int k = 0; k < 4; k++) t[k] = ((a[k] + a[k + 4]) + (b[k] + b[k + 4])) * 0.25f;
    }
}

static void halve(const float *from, int32_t w, int32_t h, int32_t to_w, int32_t to_h, float *to)
{
    if (w == 2 * to_w && h == 2 * to_h) {
        halve_even(from, w, to_w, to_h, to);
        return;
    }
    for (int32_t y = 0; y < to_h; y++) {
        const overlap v = overlap_of(h, to_h, y);
        for (int32_t x = 0; x < to_w; x++) {
            const overlap u = overlap_of(w, to_w, x);
            float sum[4] = {0};
            for (int32_t j = 0; j < v.n; j++)
                for (int32_t i = 0; i < u.n; i++) {
                    const float *f = from + ((int64_t)(v.first + j) * w + u.first + i) * 4;
                    for (int k = 0; k < 4; k++) sum[k] += v.weight[j] * u.weight[i] * f[k];
                }
            memcpy(to + ((int64_t)y * to_w + x) * 4, sum, sizeof sum);
        }
    }
}

/* The plain mean of the colours of four or more texels whose alpha is 0, out of the bytes of the level before. */
static void plain_mean(const uint8_t *before, int32_t w, int32_t h, int32_t to_w, int32_t to_h, int64_t texel, uint8_t *to)
{
    const overlap v = overlap_of(h, to_h, (int32_t)(texel / to_w)), u = overlap_of(w, to_w, (int32_t)(texel % to_w));
    float sum[3] = {0};
    for (int32_t j = 0; j < v.n; j++)
        for (int32_t i = 0; i < u.n; i++)
            for (int k = 0; k < 3; k++)
                sum[k] += v.weight[j] * u.weight[i] * to_linear[before[((int64_t)(v.first + j) * w + u.first + i) * 4 + k]];
    for (int k = 0; k < 3; k++) to[k] = srgb_of(sum[k]);
}

static void round_normals(float *level, int64_t n, uint8_t *to)
{
    for (int64_t i = 0; i < n; i++) {
        float *f = level + 4 * i;
        const float length = sqrtf(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
        for (int k = 0; k < 3; k++) {
            f[k] = length > 1e-6f ? f[k] / length : k == 2;
            to[4 * i + k] = byte_of(f[k] * 0.5f + 0.5f);
        }
        to[4 * i + 3] = byte_of(f[3]);
    }
}

static void round_colours(const float *level, int64_t n, int weighted, uint8_t *to)
{
    for (int64_t i = 0; i < n; i++) {
        const float *f = level + 4 * i, scale = weighted ? (f[3] > 0 ? 1 / f[3] : 0) : 1;
        for (int k = 0; k < 3; k++) to[4 * i + k] = srgb_of(f[k] * scale);
        to[4 * i + 3] = byte_of(f[3]);
    }
}

/* ---- the cover of cut-outs ---- */

int modal_mip_least_seen(double cutoff)
{
    int least = 0;
    while (least < 255 && !(least / 255.0 >= cutoff)) least++;
    return least;
}

int modal_mip_cover_alpha(const int64_t histogram[256], double seen, int least)
{
    int best = 256;
    int64_t n = 0;
    double error = seen;
    for (int t = 255; t > 0; t--) {
        n += histogram[t];
        const double e = fabs((double)n - seen);
        if (e > error || (e == error && abs(t - least) > abs(best - least))) continue;
        error = e;
        best = t;
    }
    return best;
}

uint8_t modal_mip_covering(uint8_t alpha, int best, int least)
{
    const int scaled = least > 0 ? alpha * least / best : alpha; /* rounded down: best becomes least exactly, what is below stays below */
    return (uint8_t)(scaled < 255 ? scaled : 255);
}

static int64_t count_seen(const uint8_t *texels, int64_t n, int least)
{
    int64_t seen = 0;
    for (int64_t i = 0; i < n; i++) seen += texels[4 * i + 3] >= least;
    return seen;
}

/* One factor on alpha, so that as nearly `share` of the texels as possible has `least` or more. */
static void keep_cover(uint8_t *texels, int64_t n, int least, double share)
{
    int64_t histogram[256] = {0};
    for (int64_t i = 0; i < n; i++) histogram[texels[4 * i + 3]]++;
    const int best = modal_mip_cover_alpha(histogram, share * (double)n, least);
    for (int64_t i = 0; best != least && i < n; i++) texels[4 * i + 3] = modal_mip_covering(texels[4 * i + 3], best, least);
}

/* Level 1 of colours without alpha, whose sizes are even, in floats and as bytes: most images are such, and most of the work is here. */
static void first_opaque_level(const uint8_t *texels, int32_t w, int32_t h, float *to, uint8_t *bytes)
{
    for (int32_t y = 0; y < h / 2; y++) {
        const uint8_t *a = texels + (int64_t)8 * y * w, *b = a + (int64_t)4 * w;
        for (int32_t x = 0; x < w / 2; x++, a += 8, b += 8, to += 4, bytes += 4) {
            for (int k = 0; k < 3; k++) {
                to[k] = ((to_linear[a[k]] + to_linear[a[k + 4]]) + (to_linear[b[k]] + to_linear[b[k + 4]])) * 0.25f;
                bytes[k] = from_linear[(int)(to[k] * (LINEAR_STEPS - 1) + 0.5f)]; /* as srgb_of: to[k] is in [0, 1] */
            }
            to[3] = 1;
            bytes[3] = 255;
        }
    }
}

/* Level 1 out of the bytes of level 0, whose sizes are even: two rows of floats at a time stay in the cache. */
static modal_status first_level(modal_mip_role role, int weighted, const uint8_t *texels, int32_t w, int32_t h, float *to, modal_error *err)
{
    float *rows = NULL;
    const modal_status status = modal_alloc(&rows, 8 * (int64_t)w, sizeof *rows, "mip levels", err);
    for (int32_t y = 0; status == MODAL_OK && y < h / 2; y++) {
        to_floats(role, weighted, texels + (int64_t)8 * y * w, 2 * (int64_t)w, rows);
        halve_even(rows, w, w / 2, 1, to + (int64_t)y * (w / 2) * 4);
    }
    modal_free(&rows);
    return status;
}

modal_status modal_mip_make(modal_mip_role role, double cutoff, int32_t width, int32_t height, uint8_t *texels, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t w[MODAL_MIP_LEVELS], h[MODAL_MIP_LEVELS];
    float *level = NULL, *next = NULL;
    const int n_levels = modal_mip_sizes(width, height, w, h), least = modal_mip_least_seen(cutoff), even = width % 2 == 0 && height % 2 == 0;
    const int64_t first = (int64_t)width * height;
    pthread_once(&once, make_tables);
    if (n_levels == 1) return MODAL_OK;
    /* level 0 is needed in floats where sizes are odd; else level 2 is the largest that lies there */
    const int third = n_levels > 2 ? 2 : 1;
    MODAL_TRY(modal_alloc(&level, 4 * (even ? (int64_t)w[third] * h[third] : first), sizeof *level, "mip levels", err));
    MODAL_TRY(modal_alloc(&next, (int64_t)w[1] * h[1] * 4, sizeof *next, "mip levels", err));
    const int weighted = role == MODAL_MIP_COLOURS && has_alpha(texels, first);
    const double share = cutoff >= 0 ? (double)count_seen(texels, first, least) / (double)first : 0;
    if (!even) to_floats(role, weighted, texels, first, level);
    uint8_t *before = texels, *to = texels + 4 * first;
    for (int l = 1; l < n_levels; l++) {
        const int64_t n = (int64_t)w[l] * h[l];
        const int opaque = l == 1 && even && role == MODAL_MIP_COLOURS && !weighted;
        if (opaque) first_opaque_level(texels, width, height, next, to);
        else if (l == 1 && even) MODAL_TRY(first_level(role, weighted, texels, width, height, next, err));
        else halve(level, w[l - 1], h[l - 1], w[l], h[l], next);
        if (role == MODAL_MIP_NORMALS) round_normals(next, n, to);
        else if (!opaque) round_colours(next, n, weighted, to);
        for (int64_t i = 0; weighted && i < n; i++)
            if (next[4 * i + 3] <= 0) plain_mean(before, w[l - 1], h[l - 1], w[l], h[l], i, to + 4 * i);
        if (cutoff >= 0) keep_cover(to, n, least, share);
        float *const swap = level;
        level = next;
        next = swap;
        before = to;
        to += 4 * n;
    }
done:
    modal_free(&level);
    modal_free(&next);
    return status;
}
