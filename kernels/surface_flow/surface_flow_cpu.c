/* SPDX-License-Identifier: Apache-2.0 */
/* A block of samples a turn: in Morton order their neighbours are mostly in the same few cache lines. Ways come from tables, shares of four
 * neighbours are made at once and without branches, and sums keep the order of the reference: the same bytes. */
#include <string.h>

#include "kernels/cpu.h"
#include "kernels/surface_flow/surface_flow.h"

typedef float four __attribute__((vector_size(16)));
typedef int32_t four_bits __attribute__((vector_size(16)));

#if defined(MODAL_SIMD) && defined(__x86_64__)
#define TARGET_AVX2 __attribute__((target("avx2")))
#endif
#define INLINE static inline __attribute__((always_inline))

enum { MOST = 26, PLACES = 27, NO_WAY = 31 };

/* Ways of bits and 1 / |e|^2 (modal_flow_weight), and the same back from there; from bit 26 on 0. */
#define PLACE(b) ((b) < 13 ? (b) : (b) < MOST ? (b) + 1 : 13)
#define BACK(b) ((b) < MOST ? MOST - PLACE(b) : 13)
#define FAR(k) (((k) % 3 != 1) + ((k) / 3 % 3 != 1) + ((k) / 9 != 1))
#define WEIGHT(k) (FAR(k) == 1 ? 1.0f : FAR(k) == 2 ? 0.5f : FAR(k) == 3 ? 0.33333334f : 0.0f)
#define WAY(k) {(float)((k) % 3 - 1), (float)((k) / 3 % 3 - 1), (float)((k) / 9 - 1), WEIGHT(k)}
#define FOUR_WAYS(of, b) WAY(of(b)), WAY(of((b) + 1)), WAY(of((b) + 2)), WAY(of((b) + 3))
#define HALF_WAYS(of, b) FOUR_WAYS(of, b), FOUR_WAYS(of, (b) + 4), FOUR_WAYS(of, (b) + 8), FOUR_WAYS(of, (b) + 12)
#define ALL_WAYS(of) {HALF_WAYS(of, 0), HALF_WAYS(of, 16)}
static const four ways[32] = ALL_WAYS(PLACE), ways_back[32] = ALL_WAYS(BACK);

/* To multiples of 2^-24: floats from 1/2 on are such multiples, and sums of 1/2 and one below are rounded to them. */
INLINE float rounded(float exact) { return exact < 0.5f ? exact + 0.5f - 0.5f : exact; }

/* modal_flow_share of four neighbours, that steer by q, along e. */
INLINE four shares_of(const four *const q[4], const four *const e[4], float area)
{
    const four p0 = *q[0] * *e[0], p1 = *q[1] * *e[1], p2 = *q[2] * *e[2], p3 = *q[3] * *e[3], half = {0.5f, 0.5f, 0.5f, 0.5f};
    const four_bits low = {0, 4, 1, 5}, high = {2, 6, 3, 7}, first = {0, 1, 4, 5}, last = {2, 3, 6, 7};
    const four a = __builtin_shuffle(p0, p1, low), b = __builtin_shuffle(p2, p3, low), c = __builtin_shuffle(p0, p1, high), d = __builtin_shuffle(p2, p3, high);
    const four along = __builtin_shuffle(a, b, first) + __builtin_shuffle(a, b, last) + __builtin_shuffle(c, d, first);
    const four weight = (four){(*e[0])[3], (*e[1])[3], (*e[2])[3], (*e[3])[3]} * area;
    const four exact = (four)((four_bits)(along * weight) & (along > 0.0f)); /* weights of 0 are for ways of 0 */
    const four_bits small = exact < half;
    return (four)(((four_bits)(exact + half - half) & small) | ((four_bits)exact & ~small));
}

INLINE void gather(const modal_surface_flow_task *t, int64_t i, int has_dirt, double *liquid, double *dirt)
{
    const int32_t own = (int32_t)i, *row = modal_flow_row(t, i);
    const four *steer = (const four *)(const void *)t->steer;
    const float area = t->areas[i];
    double in = 0, carried = 0;
    for (uint32_t mask = (uint32_t)t->masks[i]; mask;) {
        int32_t j[4];
        const four *e[4], *q[4];
        for (int k = 0; k < 4; k++, mask &= mask - 1, row += MODAL_FLOW_TILE) { /* past the last: itself, and no way */
            j[k] = *(mask ? row : &own);
            q[k] = steer + j[k];
            e[k] = ways_back + __builtin_ctz(mask | (uint32_t)1 << NO_WAY);
        }
        const four share = shares_of(q, e, area);
        for (int k = 0; k < 4; k++) in += (double)t->liquid[j[k]] * (double)share[k];
        for (int k = 0; k < 4 && has_dirt; k++) carried += (double)t->moving[j[k]] * (double)share[k];
    }
    *liquid = in;
    *dirt = carried;
}

INLINE void settle(const modal_surface_flow_task *t, int64_t i, double in, double carried, double sums[MODAL_FLOW_SUMS])
{
    modal_flow_settle(t, i, (double)t->steer[4 * i + 3], in, carried, sums);
}

/* ---- steering ---- */

/* e . v of all ways. */
INLINE void dots_of(const double v[3], double to[PLACES])
{
    for (int y = -1, k = 0; y <= 1; y++)
        for (int x = -1; x <= 1; x++, k++) to[9 + k] = (double)x * v[0] + (double)y * v[1];
    for (int k = 0; k < 9; k++) to[k] = to[9 + k] - v[2], to[18 + k] = to[9 + k] + v[2];
}

INLINE void dots_of_floats(const float v[3], float to[PLACES])
{
    for (int y = -1, k = 0; y <= 1; y++)
        for (int x = -1; x <= 1; x++, k++) to[9 + k] = (float)x * v[0] + (float)y * v[1];
    for (int k = 0; k < 9; k++) to[k] = to[9 + k] - v[2], to[18 + k] = to[9 + k] + v[2];
}

/* modal_flow_steer. */
INLINE void steer(const modal_surface_flow_task *t, int64_t i)
{
    const float *V = t->motion + 4 * (int64_t)t->triangles[i], *n = t->normals + 4 * (int64_t)t->triangles[i];
    const double speed = sqrt((double)V[0] * (double)V[0] + (double)V[1] * (double)V[1] + (double)V[2] * (double)V[2]);
    float *to = t->steer + 4 * i, w[MOST], ahead[PLACES];
    int places[MOST], count = 0;
    double a[3], b[3], u[3], x[PLACES], y[PLACES], along[PLACES], W = 0, aa = 0, ab = 0, bb = 0, D = 0, all = 0;
    memset(to, 0, 4 * sizeof *to);
    if (!(speed > 0)) return;
    for (int k = 0; k < 3; k++) a[k] = (double)V[k] / speed;
    for (int k = 0; k < 3; k++) b[k] = (double)n[(k + 1) % 3] * a[(k + 2) % 3] - (double)n[(k + 2) % 3] * a[(k + 1) % 3];
    dots_of(a, x), dots_of(b, y);
    const int32_t *row = modal_flow_row(t, i);
    for (uint32_t mask = (uint32_t)t->masks[i]; mask; mask &= mask - 1, row += MODAL_FLOW_TILE, count++) {
        const int bit = __builtin_ctz(mask), k = places[count] = PLACE(bit);
        w[count] = ways[bit][3] * t->areas[*row];
        const double weight = (double)w[count];
        W += weight, aa += weight * x[k] * x[k], ab += weight * x[k] * y[k], bb += weight * y[k] * y[k];
    }
    if (!(W > 0)) return;
    const double even = bb + 0.01 * (aa + bb), turn = even > 0 ? -ab / even : 0, side = turn > 0.5 ? 0.5 : turn < -0.5 ? -0.5 : turn;
    for (int k = 0; k < 3; k++) u[k] = a[k] + side * b[k];
    dots_of(u, along);
    for (int m = 0; m < count; m++) {
        const int k = places[m];
        const double part = along[k] > 0 ? (double)w[m] * along[k] : 0;
        D += part * x[k];
        all += part;
    }
    if (!(D > 0)) return; /* nothing is downhill */
    double s = D > 0.02 * W ? speed * t->dt / D : speed * t->dt * D / (0.02 * W * 0.02 * W);
    if (s * all > 1 - 0x1p-18) s = (1 - 0x1p-18) / all;
    for (double sum = 2; sum > 1; s *= 0.999) { /* as modal_flow_steer has it */
        sum = 0;
        for (int k = 0; k < 3; k++) to[k] = (float)(s * u[k]);
        dots_of_floats(to, ahead);
        for (int m = 0; m < count; m++) sum += (double)rounded(ahead[places[m]] > 0 ? ahead[places[m]] * w[m] : 0);
        to[3] = (float)sum;
    }
}

/* A block of samples, for an instruction set; none of them fuses anything, so that all give the same bytes. */
#define DEFINE_BLOCK(suffix, attributes)                                                                              \
    attributes static void steer_##suffix(const modal_surface_flow_task *t, int64_t first, int64_t end)               \
    {                                                                                                                 \
        for (int64_t i = first; i < end; i++) steer(t, i);                                                            \
    }                                                                                                                 \
    attributes static void flow_##suffix(const modal_surface_flow_task *t, int64_t first, int64_t end)                \
    {                                                                                                                 \
        double *const sums = t->sums + MODAL_FLOW_SUMS * (first / MODAL_FLOW_BLOCK), in, carried;                      \
        for (int64_t i = first; i < end && !t->dirt; i++) gather(t, i, 0, &in, &carried), settle(t, i, in, carried, sums); \
        for (int64_t i = first; i < end && t->dirt; i++) gather(t, i, 1, &in, &carried), settle(t, i, in, carried, sums);  \
    }
DEFINE_BLOCK(base, )
#ifdef TARGET_AVX2
DEFINE_BLOCK(avx2, TARGET_AVX2)
#else
#define steer_avx2 steer_base
#define flow_avx2 flow_base
#endif

typedef void block_function(const modal_surface_flow_task *task, int64_t first, int64_t end);

static void go_through(const modal_surface_flow_task *task, block_function *block)
{
    const int64_t n = task->n_samples;
#pragma omp parallel for schedule(static) if (n > 4096)
    for (int64_t first = 0; first < n; first += MODAL_FLOW_BLOCK) block(task, first, first + MODAL_FLOW_BLOCK < n ? first + MODAL_FLOW_BLOCK : n);
}

modal_status modal_surface_flow_cpu(const modal_surface_flow_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    const int wide = modal_cpu_simd() >= MODAL_SIMD_AVX2;
    if (task->steers) go_through(task, wide ? steer_avx2 : steer_base);
    go_through(task, wide ? flow_avx2 : flow_base);
    return MODAL_OK;
}
