/* SPDX-License-Identifier: Apache-2.0 */
/* One step of liquid, and of the dirt that it carries, from sample to sample of an octree texture. First order, upwind: a sample gives to
 * neighbours downhill shares of what it has, and every sample gathers what its neighbours give.
 *
 * Sample i lies on a triangle with the normal n along which liquid runs with V, in lattice steps a time step. e is the way to a
 * neighbour in the lattice, w_e = A_e / |e|^2 with its area A_e. With a = V / |V|, b = n x a, over all neighbours W = sum w_e,
 * M_xy = sum w_e (e . x)(e . y):
 *
 *   u = a + t b,   t = -M_ab / (M_bb + (M_aa + M_bb) / 100) within [-1/2, 1/2]: where neighbours lie unevenly, the mean still goes along a
 *   q = s u,       s = |V| D / max(D, W / 50)^2,   D = sum of w_e (u . e)(e . a) over u . e > 0: the mean goes by V in a step
 *   share f_e = max(0, q . e) w_e to the neighbour; where their sum is above 1 - 2^-18, s is reduced to that
 *
 * Shares are rounded to multiples of 2^-24 by giver and taker alike, from the same float32 numbers: their sum and what stays are then exact, and no
 * sample gives more than it has. `steer` keeps q and the sum of shares; it is made where `steers` says so, else taken as it was left. A GPU's
 * `gifts` keep with it who gives to a sample, and what share, so that the steps that follow read only that: half of the neighbours, or fewer.
 * Then, with m liquid, h wetness (taken up by the surface) and d dirt, each in kg:
 *
 *   m' = m (1 - sum f) + sum over neighbours m_j f_j + dt (source + rain exposure A)
 *   evaporated = (m' + h) lost;  h <- (h + m' taken) (1 - lost);  m <- m' (1 - taken)(1 - lost)
 *   d <- d - g sum f + sum g_j f_j,   g <- d m / (m + film A) with the new m: what moves along
 *
 * lost = 1 - exp(-dt evaporation), taken = 1 - exp(-dt absorption): exact where both act at once.
 * Arithmetic is in double, numbers are kept as float32.
 * Sizes: any, 0 included. Alignment: steer and motion as 16 bytes, gifts as 8, the rest as its type. Aliasing: outputs overlap nothing.
 * Range: m, h, d, g, areas and rates at least 0, g <= d; normals of length 1, V in their planes; |V| some lattice steps at most.
 * Error: shares are off by 4 e (1 + r) at most, their sum by 32 e (1 + r) with r = s sum w_e, which is about 4 but where all neighbours lie
 * across V; |m - exact| <= 32 e (1 + r) (m_i + sum m_j + added) with the largest r around, h and d likewise; e = FLT_EPSILON / 2.
 * Sums: sums[k] gets what is added and what evaporates of samples 256 k to 256 k + 255, in double, from exact formulas.
 * Determinism: the same bytes for any number of threads; no atomics. */
#ifndef MODAL_KERNELS_SURFACE_FLOW_H
#define MODAL_KERNELS_SURFACE_FLOW_H

#include <math.h>
#include <stdint.h>

#include "kernels/operations.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MODAL_FLOW_TILE = 32, MODAL_FLOW_BLOCK = 256, MODAL_FLOW_GIVEN = 5 };
enum { MODAL_FLOW_ADDED, MODAL_FLOW_EVAPORATED, MODAL_FLOW_SUMS };

/* What a neighbour gives in each step. */
typedef struct modal_flow_gift {
    int32_t from;
    float share; /* above 0 */
} modal_flow_gift;

struct modal_surface_flow_task {
    int64_t n_samples;
    const int64_t *row_offsets; /* [ceil(n_samples / 32) + 1] rows before a tile of 32 samples */
    const int32_t *neighbours;  /* [rows, 32] row r of a tile: the r-th neighbour of each sample; those past the last are not read */
    const int32_t *masks;       /* [n_samples] bits of the neighbours, in their order (lib/model/octree.h, modal_octree_offset) */
    const float *areas;         /* [n_samples] m^2 */
    const int32_t *triangles;   /* [n_samples] */
    const float *normals;       /* [n_triangles, 4], the fourth is not read */
    const float *motion;        /* [n_triangles, 4] velocity, lattice steps/s; exposure: m^2 that the rain falls on, of 1 m^2 at rest */
    int steers;                 /* nonzero: steer is made of normals, motion and dt */
    float *steer;               /* [n_samples, 4] q, the sum of shares */
    modal_flow_gift *gifts;     /* [rows, 32] like neighbours, scratch of a GPU, kept as steer is; or NULL. The CPU does not use it, nor the next */
    uint32_t *n_gifts;          /* [n_samples] how many, and from bit MODAL_FLOW_GIVEN on the sum of shares in 2^-24; NULL where gifts is */
    double dt;                  /* s */
    double rain;                /* kg/(m^2 s) */
    const float *sources;       /* [n_samples] kg/s, or NULL */
    double lost, taken, film;   /* film: kg/m^2 */
    const float *liquid;        /* [n_samples] kg */
    float *liquid_next;
    float *wetness;             /* [n_samples] kg, in place */
    float *dirt;                /* [n_samples] kg, in place; NULL: none, and none of the next two */
    const float *moving;        /* [n_samples] kg, g */
    float *moving_next;
    double *sums;               /* [ceil(n_samples / 256), MODAL_FLOW_SUMS] kg, added to */
};

#ifdef __CUDACC__
#define MODAL_FLOW_BOTH __host__ __device__ static inline
#else
#define MODAL_FLOW_BOTH static inline
#endif

/* All back ends are loops around these. The way of bit b, as floats. */
MODAL_FLOW_BOTH void modal_flow_way(int bit, float e[3])
{
    const int k = bit < 13 ? bit : bit + 1;
    e[0] = (float)(k % 3 - 1), e[1] = (float)(k / 3 % 3 - 1), e[2] = (float)(k / 9 - 1);
}

MODAL_FLOW_BOTH int modal_flow_lowest(uint32_t mask)
{
#ifdef __CUDA_ARCH__
    return __ffs((int)mask) - 1;
#else
    return __builtin_ctz(mask);
#endif
}

/* A_e / |e|^2. */
MODAL_FLOW_BOTH float modal_flow_weight(const float e[3], float area)
{
    const float square = e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
    return square == 1.0f ? area : square == 2.0f ? 0.5f * area : 0.33333334f * area;
}

/* The share that goes along e: products with -1, 0 and 1 are exact, so that no compiler's multiply-add changes it. */
MODAL_FLOW_BOTH float modal_flow_share(float x, float y, float z, const float e[3], float weight)
{
    const float along = x * e[0] + y * e[1] + z * e[2], scaled = along > 0.0f ? along * weight * 0x1p24f : 0.0f;
    return rintf(scaled) * 0x1p-24f;
}

/* Goes on to the next neighbour, of the lowest bit of mask: its way and weight. */
MODAL_FLOW_BOTH float modal_flow_next(const modal_surface_flow_task *t, uint32_t *mask, const int32_t **row, float e[3])
{
    modal_flow_way(modal_flow_lowest(*mask), e);
    const float weight = modal_flow_weight(e, t->areas[**row]);
    *mask &= *mask - 1;
    *row += MODAL_FLOW_TILE;
    return weight;
}

MODAL_FLOW_BOTH const int32_t *modal_flow_row(const modal_surface_flow_task *t, int64_t i)
{
    return t->neighbours + t->row_offsets[i / MODAL_FLOW_TILE] * MODAL_FLOW_TILE + i % MODAL_FLOW_TILE;
}

MODAL_FLOW_BOTH double modal_flow_dot(const float e[3], const double x[3]) { return (double)e[0] * x[0] + (double)e[1] * x[1] + (double)e[2] * x[2]; }

/* Sets steer of sample i. */
MODAL_FLOW_BOTH void modal_flow_steer(const modal_surface_flow_task *t, int64_t i)
{
    const float *V = t->motion + 4 * (int64_t)t->triangles[i], *n = t->normals + 4 * (int64_t)t->triangles[i];
    const double speed = sqrt((double)V[0] * (double)V[0] + (double)V[1] * (double)V[1] + (double)V[2] * (double)V[2]);
    float *steer = t->steer + 4 * i, e[3];
    double a[3], b[3], u[3], W = 0, aa = 0, ab = 0, bb = 0, D = 0, all = 0;
    steer[0] = steer[1] = steer[2] = steer[3] = 0;
    if (!(speed > 0)) return;
    for (int k = 0; k < 3; k++) a[k] = (double)V[k] / speed;
    for (int k = 0; k < 3; k++) b[k] = (double)n[(k + 1) % 3] * a[(k + 2) % 3] - (double)n[(k + 2) % 3] * a[(k + 1) % 3];
    uint32_t mask = (uint32_t)t->masks[i];
    for (const int32_t *row = modal_flow_row(t, i); mask;) {
        const double w = (double)modal_flow_next(t, &mask, &row, e), x = modal_flow_dot(e, a), y = modal_flow_dot(e, b);
        W += w, aa += w * x * x, ab += w * x * y, bb += w * y * y;
    }
    if (!(W > 0)) return;
    const double even = bb + 0.01 * (aa + bb), turn = even > 0 ? -ab / even : 0, side = turn > 0.5 ? 0.5 : turn < -0.5 ? -0.5 : turn;
    for (int k = 0; k < 3; k++) u[k] = a[k] + side * b[k];
    mask = (uint32_t)t->masks[i];
    for (const int32_t *row = modal_flow_row(t, i); mask;) {
        const double w = (double)modal_flow_next(t, &mask, &row, e), along = modal_flow_dot(e, u);
        if (!(along > 0)) continue;
        D += w * along * modal_flow_dot(e, a);
        all += w * along;
    }
    if (!(D > 0)) return; /* nothing is downhill */
    double s = D > 0.02 * W ? speed * t->dt / D : speed * t->dt * D / (0.02 * W * 0.02 * W);
    if (s * all > 1 - 0x1p-18) s = (1 - 0x1p-18) / all;
    for (double sum = 2; sum > 1; s *= 0.999) { /* of what takers will take; rounding of q may make it a little more than s all */
        sum = 0;
        for (int k = 0; k < 3; k++) steer[k] = (float)(s * u[k]);
        mask = (uint32_t)t->masks[i];
        for (const int32_t *row = modal_flow_row(t, i); mask;) {
            const float w = modal_flow_next(t, &mask, &row, e);
            sum += (double)modal_flow_share(steer[0], steer[1], steer[2], e, w);
        }
        steer[3] = (float)sum;
    }
}

/* What comes to sample i of its neighbours: liquid and dirt. */
MODAL_FLOW_BOTH void modal_flow_gather(const modal_surface_flow_task *t, int64_t i, double *liquid, double *dirt)
{
    const int32_t *row = modal_flow_row(t, i);
    const float area = t->areas[i];
    double in = 0, carried = 0;
    for (uint32_t mask = (uint32_t)t->masks[i]; mask; mask &= mask - 1, row += MODAL_FLOW_TILE) {
        float e[3];
        const int64_t j = *row;
        const float *steer = t->steer + 4 * j;
        modal_flow_way(25 - modal_flow_lowest(mask), e); /* from there to here */
        const float share = modal_flow_share(steer[0], steer[1], steer[2], e, modal_flow_weight(e, area));
        in += (double)t->liquid[j] * (double)share;
        if (t->dirt) carried += (double)t->moving[j] * (double)share;
    }
    *liquid = in;
    *dirt = carried;
}

/* Dirt that moves along, g. */
MODAL_FLOW_BOTH float modal_flow_moving(float dirt, float liquid, double film, float area)
{
    return liquid > 0 ? (float)((double)dirt * ((double)liquid / ((double)liquid + film * (double)area))) : 0;
}

/* The step of sample i, which gives that share, with what comes to it; sums of it are added to sums [MODAL_FLOW_SUMS]. */
MODAL_FLOW_BOTH void modal_flow_settle(const modal_surface_flow_task *t, int64_t i, double given, double in, double carried,
                                       double sums[MODAL_FLOW_SUMS])
{
    double added = t->sources ? t->dt * (double)t->sources[i] : 0;
    if (t->rain > 0) added += t->dt * t->rain * (double)t->motion[4 * (int64_t)t->triangles[i] + 3] * (double)t->areas[i];
    const double m = (double)t->liquid[i] * (1 - given) + in + added, h = (double)t->wetness[i];
    const float liquid = (float)(m * (1 - t->taken) * (1 - t->lost));
    t->liquid_next[i] = liquid;
    t->wetness[i] = (float)((h + m * t->taken) * (1 - t->lost));
    sums[MODAL_FLOW_ADDED] += added;
    sums[MODAL_FLOW_EVAPORATED] += (m + h) * t->lost;
    if (!t->dirt) return;
    const float dirt = (float)((double)t->dirt[i] - (double)t->moving[i] * given + carried);
    t->dirt[i] = dirt;
    t->moving_next[i] = modal_flow_moving(dirt, liquid, t->film, t->areas[i]);
}

MODAL_FLOW_BOTH void modal_flow_step(const modal_surface_flow_task *t, int64_t i, double sums[MODAL_FLOW_SUMS])
{
    double in, carried;
    modal_flow_gather(t, i, &in, &carried);
    modal_flow_settle(t, i, (double)t->steer[4 * i + 3], in, carried, sums);
}

#ifdef __cplusplus
}
#endif
#endif
