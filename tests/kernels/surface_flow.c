/* SPDX-License-Identifier: Apache-2.0 */
/* A step over random samples of a lattice, with gaps, lone samples and areas of 0, beside the header's formulas with shares that are not
 * rounded; nothing gets lost or negative, shares that are given are those that are taken. */
#include "kernels/surface_flow/surface_flow.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/model/octree.h"
#include "tests/kernels/harness.h"

enum { SIDE = 24 };

typedef struct model {
    int64_t n, n_triangles, n_rows, n_blocks;
    int64_t *row_offsets;
    int32_t *neighbours, *masks, *triangles, *around; /* around [n, 26] or -1 */
    float *areas, *normals, *motion, *sources, *liquid, *wetness, *dirt, *moving;
} model;

static float positive(harness *h, double most) { return (float)(most * (0.5 + 0.5 * harness_random(h))); }

/* n samples among places of a lattice: the share of places that are taken is `density`. */
static void make_graph(harness *h, model *m, double density)
{
    static int32_t places[SIDE * SIDE * SIDE];
    int64_t n = 0;
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) places[i] = n < m->n && harness_random(h) * 0.5 + 0.5 < density ? (int32_t)n++ : -1;
    m->n = n;
    m->around = harness_alloc(26 * n, sizeof *m->around);
    m->masks = harness_alloc(n, sizeof *m->masks);
    memset(m->masks, 0, (size_t)n * sizeof *m->masks);
    memset(m->around, -1, (size_t)(26 * n) * sizeof *m->around);
    for (int p = 0; p < SIDE * SIDE * SIDE; p++)
        for (int bit = 0; bit < 13; bit++) {
            int d[3];
            modal_octree_offset(bit, d);
            const int x = p % SIDE + d[0], y = p / SIDE % SIDE + d[1], z = p / SIDE / SIDE + d[2];
            if (x < 0 || y < 0 || z < 0 || x >= SIDE || y >= SIDE || z >= SIDE || places[p] < 0) continue;
            const int32_t i = places[p], j = places[x + SIDE * (y + SIDE * z)];
            if (j < 0 || harness_random(h) > 0.7) continue;
            m->masks[i] |= 1 << bit, m->masks[j] |= 1 << (25 - bit);
            m->around[26 * i + bit] = j, m->around[26 * j + 25 - bit] = i;
        }
    const int64_t tiles = (n + 31) / 32;
    m->row_offsets = harness_alloc(tiles + 1, sizeof *m->row_offsets);
    m->row_offsets[0] = 0;
    for (int64_t t = 0; t < tiles; t++) {
        int most = 0;
        for (int64_t i = 32 * t; i < 32 * t + 32 && i < n; i++) {
            const int mine = __builtin_popcount((unsigned)m->masks[i]);
            most = mine > most ? mine : most;
        }
        m->row_offsets[t + 1] = m->row_offsets[t] + most;
    }
    m->n_rows = m->row_offsets[tiles];
    m->neighbours = harness_alloc(32 * m->n_rows + 1, sizeof *m->neighbours);
    for (int64_t i = 0; i < 32 * m->n_rows; i++) m->neighbours[i] = INT32_MAX; /* never read */
    for (int64_t i = 0; i < n; i++)
        for (int bit = 0, r = 0; bit < 26; bit++)
            if (m->around[26 * i + bit] >= 0) m->neighbours[32 * (m->row_offsets[i / 32] + r++) + i % 32] = m->around[26 * i + bit];
}

static void make(harness *h, model *m, int64_t n, double density, double speed)
{
    *m = (model){.n = n, .n_triangles = n / 3 + 1};
    make_graph(h, m, density);
    n = m->n;
    m->n_blocks = (n + MODAL_FLOW_BLOCK - 1) / MODAL_FLOW_BLOCK;
    m->triangles = harness_alloc(n, sizeof *m->triangles);
    float **of_samples[] = {&m->areas, &m->sources, &m->liquid, &m->wetness, &m->dirt, &m->moving};
    for (int k = 0; k < 6; k++) {
        *of_samples[k] = harness_alloc(n, sizeof **of_samples[k]);
        for (int64_t i = 0; i < n; i++) (*of_samples[k])[i] = i % 17 == 3 * k ? 0 : positive(h, k == 0 ? 1e-4 : 1e-3);
    }
    for (int64_t i = 0; i < n; i++) m->moving[i] *= m->dirt[i] * 1e3f, m->triangles[i] = (int32_t)((i * 7) % m->n_triangles);
    m->normals = harness_alloc(4 * m->n_triangles, sizeof *m->normals);
    m->motion = harness_alloc(4 * m->n_triangles, sizeof *m->motion);
    for (int64_t t = 0; t < m->n_triangles; t++) {
        double normal[3], v[3], length = 0, dot = 0;
        for (int k = 0; k < 3; k++) normal[k] = harness_random(h), v[k] = harness_random(h), length += normal[k] * normal[k];
        if (t % 5 == 0) normal[0] = normal[1] = 0, normal[2] = 1, length = 1, v[0] = 0, v[1] = 1; /* along the lattice */
        for (int k = 0; k < 3; k++) normal[k] /= sqrt(length), dot += normal[k] * v[k];
        for (int k = 0; k < 3; k++) {
            m->normals[4 * t + k] = (float)normal[k];
            m->motion[4 * t + k] = t % 11 == 4 ? 0 : (float)(speed * (v[k] - dot * normal[k]));
        }
        m->normals[4 * t + 3] = NAN;
        m->motion[4 * t + 3] = positive(h, 1);
    }
}

static void drop(model *m)
{
    void *all[] = {m->row_offsets, m->neighbours, m->masks, m->triangles, m->around, m->areas, m->normals, m->motion, m->sources,
                   m->liquid, m->wetness, m->dirt, m->moving};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* Shares of sample i, by the header, and r; returns the sum of shares. */
static double exact_shares(const model *m, double dt, int64_t i, double shares[26], double *r)
{
    *r = 0;
    const float *V = m->motion + 4 * m->triangles[i], *normal = m->normals + 4 * m->triangles[i];
    double w[26], way[26][3], a[3], b[3], u[3], speed = 0, W = 0, aa = 0, ab = 0, bb = 0, D = 0, all = 0;
    memset(shares, 0, 26 * sizeof *shares);
    for (int k = 0; k < 3; k++) speed += (double)V[k] * (double)V[k];
    speed = sqrt(speed);
    if (speed == 0) return 0;
    for (int k = 0; k < 3; k++) a[k] = (double)V[k] / speed;
    for (int k = 0; k < 3; k++) b[k] = (double)normal[(k + 1) % 3] * a[(k + 2) % 3] - (double)normal[(k + 2) % 3] * a[(k + 1) % 3];
    for (int bit = 0; bit < 26; bit++) {
        int d[3];
        modal_octree_offset(bit, d);
        const int32_t j = m->around[26 * i + bit];
        double x = 0, y = 0;
        w[bit] = j < 0 ? 0 : (double)m->areas[j] / (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        for (int k = 0; k < 3; k++) way[bit][k] = d[k], x += d[k] * a[k], y += d[k] * b[k];
        W += w[bit], aa += w[bit] * x * x, ab += w[bit] * x * y, bb += w[bit] * y * y;
    }
    if (W == 0) return 0;
    const double t = fmax(-0.5, fmin(0.5, -ab / (bb + (aa + bb) / 100)));
    for (int k = 0; k < 3; k++) u[k] = a[k] + t * b[k];
    for (int bit = 0; bit < 26; bit++) {
        double x = 0, along = 0;
        for (int k = 0; k < 3; k++) x += way[bit][k] * a[k], along += way[bit][k] * u[k];
        shares[bit] = w[bit] * fmax(0, along);
        D += shares[bit] * x;
        all += shares[bit];
    }
    const double s = D > 0 ? fmin(speed * dt * D / pow(fmax(D, W / 50), 2), (1 - 0x1p-18) / all) : 0;
    for (int bit = 0; bit < 26; bit++) shares[bit] *= s;
    *r = s * W;
    return all * s;
}

typedef struct outputs {
    harness_output *liquid, *wetness, *dirt, *moving, *steer, *sums;
} outputs;

/* keeps: with gifts, which the CPU does not use. A second step does not steer: it goes by what the first kept. */
static outputs step(harness *h, const model *m, modal_surface_flow_task t, int shift, int dirty, int keeps, int n_steps)
{
    modal_error err = {0};
    const int64_t n = m->n;
    outputs o;
    float *zeros = harness_alloc(4 * m->n_blocks + 1, sizeof *zeros);
    memset(zeros, 0, (size_t)(4 * m->n_blocks) * sizeof *zeros);
    t.n_samples = n;
    t.row_offsets = harness_input(h, m->row_offsets, 8 * ((n + 31) / 32 + 1), 8 * shift);
    t.neighbours = harness_input(h, m->neighbours, 128 * m->n_rows, 4 * shift);
    t.masks = harness_input(h, m->masks, 4 * n, 4 * shift);
    t.areas = harness_input(h, m->areas, 4 * n, 4 * shift);
    t.triangles = harness_input(h, m->triangles, 4 * n, 4 * shift);
    t.normals = harness_input(h, m->normals, 16 * m->n_triangles, 0);
    t.motion = harness_input(h, m->motion, 16 * m->n_triangles, 0);
    t.sources = dirty ? harness_input(h, m->sources, 4 * n, 4 * shift) : NULL;
    t.liquid = harness_input(h, m->liquid, 4 * n, 4 * shift);
    o.steer = harness_new_output(h, 4 * n, 0, NULL), t.steer = o.steer->device;
    o.liquid = harness_new_output(h, n, shift, NULL), t.liquid_next = o.liquid->device;
    o.wetness = harness_new_output(h, n, shift, m->wetness), t.wetness = o.wetness->device;
    o.sums = harness_new_output(h, 4 * m->n_blocks, 0, zeros), t.sums = (double *)(void *)o.sums->device;
    o.dirt = o.moving = NULL;
    if (dirty) {
        t.moving = harness_input(h, m->moving, 4 * n, 4 * shift);
        o.dirt = harness_new_output(h, n, shift, m->dirt), t.dirt = o.dirt->device;
        o.moving = harness_new_output(h, n, shift, NULL), t.moving_next = o.moving->device;
    }
    t.steers = 1;
    if (keeps) {
        t.gifts = (modal_flow_gift *)(void *)harness_new_output(h, 64 * m->n_rows, 0, NULL)->device;
        t.n_gifts = (uint32_t *)(void *)harness_new_output(h, n, shift, NULL)->device;
    }
    harness_ok(h, h->kernels->surface_flow(&t, h->stream, &err), &err);
    if (n_steps > 1) {
        t.steers = 0;
        t.liquid = t.liquid_next, t.moving = t.moving_next;
        o.liquid = harness_new_output(h, n, shift, NULL), t.liquid_next = o.liquid->device;
        if (dirty) o.moving = harness_new_output(h, n, shift, NULL), t.moving_next = o.moving->device;
        harness_ok(h, h->kernels->surface_flow(&t, h->stream, &err), &err);
    }
    free(zeros);
    return o;
}

/* One step against the formulas. */
static void compare(harness *h, const model *m, const modal_surface_flow_task *t, const outputs *o, int dirty)
{
    const double e = FLT_EPSILON / 2;
    const int64_t n = m->n;
    double *in = harness_alloc(4 * n + 1, sizeof *in), *carried = in + n, *around = in + 2 * n, *given = in + 3 * n, want[2] = {0}, got[2] = {0}, taken = 0;
    double far = 0, r;
    memset(in, 0, (size_t)(4 * n) * sizeof *in);
    for (int64_t i = 0; i < n; i++) {
        double shares[26];
        given[i] = exact_shares(m, t->dt, i, shares, &r);
        far = fmax(far, r);
        harness_compare(h, "sum of shares", i, o->steer->host[4 * i + 3], given[i], 32 * e * (1 + r));
        if (!(o->steer->host[4 * i + 3] <= 1)) harness_fail(h, "sample %lld gives more than it has, %g", (long long)i, (double)o->steer->host[4 * i + 3]);
        for (int bit = 0; bit < 26; bit++) {
            const int32_t j = m->around[26 * i + bit];
            if (j < 0) continue;
            in[j] += shares[bit] * (double)m->liquid[i], carried[j] += shares[bit] * (double)m->moving[i];
            around[j] += (double)m->liquid[i] + (double)m->moving[i];
            float way[3];
            modal_flow_way(bit, way);
            taken += (double)m->liquid[i] * (double)modal_flow_share(o->steer->host[4 * i], o->steer->host[4 * i + 1], o->steer->host[4 * i + 2], way,
                                                                     modal_flow_weight(way, m->areas[j]));
        }
        taken -= (double)m->liquid[i] * (double)o->steer->host[4 * i + 3];
    }
    if (!(fabs(taken) <= 1e-15)) /* of a kilogram or so: shares are exact */
        harness_fail(h, "what is taken is not what is given, by %g kg", taken);
    for (int64_t i = 0; i < n; i++) {
        const double area = (double)m->areas[i], w = (double)m->wetness[i];
        double added = t->dt * t->rain * (double)m->motion[4 * m->triangles[i] + 3] * area;
        if (dirty) added += t->dt * (double)m->sources[i];
        const double l = (double)m->liquid[i] * (1 - given[i]) + in[i] + added, kept = l * (1 - t->taken) * (1 - t->lost);
        const double bound = 32 * e * (1 + far) * ((double)m->liquid[i] + around[i] + added + w);
        harness_compare(h, "liquid", i, o->liquid->host[i], kept, bound);
        harness_compare(h, "wetness", i, o->wetness->host[i], (w + l * t->taken) * (1 - t->lost), bound);
        if (!(o->liquid->host[i] >= 0) || !(o->wetness->host[i] >= 0)) harness_fail(h, "sample %lld has less than nothing", (long long)i);
        want[0] += added, want[1] += (l + w) * t->lost;
        if (!dirty) continue;
        const double dirt = (double)m->dirt[i] - (double)m->moving[i] * given[i] + carried[i], own = 32 * e * (1 + far) * ((double)m->dirt[i] + around[i]);
        const double liquid = (double)o->liquid->host[i], ratio = liquid > 0 ? liquid / (liquid + t->film * area) : 0;
        harness_compare(h, "dirt", i, o->dirt->host[i], dirt, own);
        harness_compare(h, "moving dirt", i, o->moving->host[i], (double)o->dirt->host[i] * ratio, 4 * e * (double)o->dirt->host[i] + FLT_MIN);
        if (!(o->dirt->host[i] >= 0) || !(o->moving->host[i] <= o->dirt->host[i])) harness_fail(h, "sample %lld has less than no dirt", (long long)i);
    }
    for (int64_t b = 0; b < m->n_blocks; b++) {
        double sums[2];
        memcpy(sums, o->sums->host + 4 * b, sizeof sums);
        got[0] += sums[0], got[1] += sums[1];
    }
    for (int k = 0; k < 2; k++)
        if (!(fabs(got[k] - want[k]) <= 1e-6 * want[k] + 1e-20)) harness_fail(h, "sum %d: %g, not %g", k, got[k], want[k]);
    free(in);
}

static void check(harness *h, int64_t n, double density, double speed, int shift, int dirty)
{
    model m;
    harness_case(h, "%lld samples, density %g, speed %g, shift %d, %s", (long long)n, density, speed, shift, dirty ? "dirt" : "no dirt");
    make(h, &m, n, density, speed);
    modal_surface_flow_task t = {.dt = 0.1, .rain = n % 2 ? 0.3 : 0, .lost = dirty ? 0.1 : 0, .taken = 0.03, .film = 0.5};
    outputs o[4]; /* a step and two, without gifts and with them */
    for (int k = 0; k < 4; k++) o[k] = step(h, &m, t, shift, dirty, k % 2, 1 + k / 2);
    harness_fetch(h);
    for (int k = 0; k < 4; k += 2) {
        harness_same(h, "liquid", o[k].liquid, o[k + 1].liquid);
        harness_same(h, "wetness", o[k].wetness, o[k + 1].wetness);
        harness_same(h, "steer", o[k].steer, o[k + 1].steer);
        harness_same(h, "sums", o[k].sums, o[k + 1].sums);
        if (!dirty) continue;
        harness_same(h, "dirt", o[k].dirt, o[k + 1].dirt);
        harness_same(h, "moving dirt", o[k].moving, o[k + 1].moving);
    }
    compare(h, &m, &t, &o[0], dirty);
    drop(&m);
}

static void run(harness *h)
{
    static const int64_t sizes[] = {0, 1, 2, 31, 32, 33, 255, 256, 257, 997, 6000};
    static const double densities[] = {0.02, 0.3, 1}, speeds[] = {0, 0.1, 3, 30};
    for (int i = 0; i < 11; i++)
        for (int d = 0; d < 3; d++)
            for (int s = 0; s < 4; s++)
                if (!h->quick || (i + d + s) % 5 == 0) check(h, sizes[i], densities[d], speeds[s], (i + s) % 3, (i + d + s) % 2);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "surface_flow", run); }
