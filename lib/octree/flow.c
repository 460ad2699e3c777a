/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/octree/flow.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/device.h"
#include "kernels/registry.h"
#include "kernels/surface_flow/surface_flow.h"
#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/mesh/tetrahedron.h"

static const double most_way = 0.5;       /* lattice steps that liquid goes in a step of time */
static const double least_stretch = 1e-2; /* of a triangle beside its rest, in the direction in which it is pressed most: below, it is flat */

struct modal_flow {
    modal_device device;
    modal_stream *stream;
    const modal_octree *octree;
    const int32_t *triangles;
    const double *rest;
    const modal_flow_settings *settings;
    modal_flow_state *state;
    double scale; /* lattice steps in a metre */
    float *motion; /* [n_triangles, 4] in main memory */
    double *sums;  /* [n_blocks, MODAL_FLOW_SUMS] in main memory */
    int64_t n_blocks, n_rows;
    modal_surface_flow_task task; /* arrays of the device */
    float *liquid[2], *moving[2];
};

/* ---- state ---- */

modal_status modal_flow_state_new(const modal_octree *o, double dirt, modal_flow_state *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    *s = (modal_flow_state){.n_samples = o->n_samples};
    MODAL_TRY(modal_alloc_zero(&s->liquid, s->n_samples, sizeof *s->liquid, "liquid", err));
    MODAL_TRY(modal_alloc_zero(&s->wetness, s->n_samples, sizeof *s->wetness, "wetness", err));
    if (!(dirt > 0)) goto done;
    MODAL_TRY(modal_alloc(&s->dirt, s->n_samples, sizeof *s->dirt, "dirt", err));
    for (int64_t i = 0; i < s->n_samples; i++) s->dirt[i] = (float)(dirt * (double)o->areas[i]);
    s->initial_dirt = modal_flow_dirt(s);
done:
    return status;
}

double modal_flow_liquid(const modal_flow_state *s)
{
    double sum = 0;
    for (int64_t i = 0; i < s->n_samples; i++) sum += (double)s->liquid[i] + (double)s->wetness[i];
    return sum;
}

double modal_flow_dirt(const modal_flow_state *s)
{
    double sum = 0;
    for (int64_t i = 0; i < s->n_samples && s->dirt; i++) sum += (double)s->dirt[i];
    return sum;
}

/* ---- arrays of the device ---- */

modal_flow *modal_flow_delete(modal_flow *f)
{
    if (!f) return NULL;
    const modal_device *d = &f->device;
    const void *arrays[] = {f->task.row_offsets, f->task.neighbours, f->task.masks, f->task.areas, f->task.triangles, f->task.normals, f->task.motion,
                            f->task.steer, f->task.gifts, f->task.n_gifts, f->task.sources, f->liquid[0], f->liquid[1], f->moving[0], f->moving[1],
                            f->task.wetness, f->task.dirt, f->task.sums};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) modal_device_free(d, &arrays[i]);
    modal_device_stream_delete(d, &f->stream);
    modal_free(&f->motion);
    modal_free(&f->sums);
    modal_free(&f);
    return NULL;
}

/* A copy on the device of [count] items; *to is any `const T **`. */
static modal_status bring(const modal_flow *f, void *to, const void *from, int64_t count, size_t item_bytes, modal_error *err)
{
    modal_status status = MODAL_OK;
    void *there = NULL;
    MODAL_TRY(modal_device_alloc(&f->device, &there, count, item_bytes, "flow", err));
    memcpy(to, &there, sizeof there);
    MODAL_TRY(modal_device_copy_in(&f->device, there, from, count * (int64_t)item_bytes, f->stream, err));
    MODAL_TRY(modal_device_stream_wait(&f->device, f->stream, err)); /* `from` may be freed */
done:
    return status;
}

/* Rows of neighbours, tile by tile. */
static modal_status bring_neighbours(modal_flow *f, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_octree *o = f->octree;
    const int64_t n = o->n_samples, tiles = (n + MODAL_FLOW_TILE - 1) / MODAL_FLOW_TILE;
    int64_t *offsets = NULL;
    int32_t *rows = NULL;
    modal_bricks bricks = {0};
    MODAL_TRY(modal_bricks_of_keys(o->keys, n, &bricks, err));
    MODAL_TRY(modal_alloc(&offsets, tiles + 1, sizeof *offsets, "neighbours", err));
    offsets[0] = 0;
    for (int64_t t = 0; t < tiles; t++) {
        int most = 0;
        for (int64_t i = MODAL_FLOW_TILE * t; i < MODAL_FLOW_TILE * (t + 1) && i < n; i++) {
            const int mine = __builtin_popcount((unsigned)o->neighbours[i]);
            most = mine > most ? mine : most;
        }
        offsets[t + 1] = offsets[t] + most;
    }
    MODAL_TRY(modal_alloc_zero(&rows, offsets[tiles] * MODAL_FLOW_TILE, sizeof *rows, "neighbours", err));
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        int64_t at = offsets[i / MODAL_FLOW_TILE] * MODAL_FLOW_TILE + i % MODAL_FLOW_TILE;
        for (uint32_t mask = (uint32_t)o->neighbours[i]; mask; mask &= mask - 1, at += MODAL_FLOW_TILE) {
            int64_t c[3];
            int d[3];
            modal_octree_offset(__builtin_ctz(mask), d);
            for (int k = 0; k < 3; k++) c[k] = modal_morton_squeeze((uint64_t)o->keys[i] >> k) + d[k];
            rows[at] = (int32_t)modal_bricks_sample(&bricks, c);
        }
    }
    f->n_rows = offsets[tiles];
    MODAL_TRY(bring(f, &f->task.row_offsets, offsets, tiles + 1, sizeof *offsets, err));
    MODAL_TRY(bring(f, &f->task.neighbours, rows, offsets[tiles] * MODAL_FLOW_TILE, sizeof *rows, err));
done:
    modal_bricks_free(&bricks);
    modal_free(&offsets);
    modal_free(&rows);
    return status;
}

static void rest_edges(const modal_flow *f, int64_t t, double e[2][3])
{
    const int32_t *v = f->triangles + 3 * t;
    for (int j = 0; j < 2; j++)
        for (int k = 0; k < 3; k++) e[j][k] = f->rest[3 * (int64_t)v[j + 1] + k] - f->rest[3 * (int64_t)v[0] + k];
}

static modal_status bring_normals(modal_flow *f, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = f->octree->n_triangles;
    for (int64_t t = 0; t < n; t++) {
        double e[2][3], normal[3];
        rest_edges(f, t, e);
        modal_cross(e[0], e[1], normal);
        const double length = sqrt(modal_dot(normal, normal));
        for (int k = 0; k < 4; k++) f->motion[4 * t + k] = k < 3 && length > 0 ? (float)(normal[k] / length) : 0;
    }
    MODAL_TRY(bring(f, &f->task.normals, f->motion, 4 * n, sizeof(float), err));
    memset(f->motion, 0, (size_t)(4 * n) * sizeof(float));
    MODAL_TRY(bring(f, &f->task.motion, f->motion, 4 * n, sizeof(float), err));
done:
    return status;
}

/* kg/s of all sources at each sample. */
static modal_status bring_sources(modal_flow *f, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_octree *o = f->octree;
    float *rates = NULL;
    double *shares = NULL;
    if (f->settings->n_sources == 0) return MODAL_OK;
    MODAL_TRY(modal_alloc_zero(&rates, o->n_samples, sizeof *rates, "sources", err));
    MODAL_TRY(modal_alloc(&shares, o->n_samples, sizeof *shares, "sources", err));
    for (int64_t s = 0; s < f->settings->n_sources; s++) {
        const modal_flow_source *source = &f->settings->sources[s];
        double sum = 0;
        for (int64_t i = 0; i < o->n_samples; i++) {
            double square = 0;
            for (int k = 0; k < 3; k++) {
                const double d = o->origin[k] + modal_morton_squeeze((uint64_t)o->keys[i] >> k) / f->scale - source->centre[k];
                square += d * d;
            }
            const double left = fmax(0, 1 - square / (source->radius * source->radius));
            shares[i] = left * left * (double)o->areas[i];
            sum += shares[i];
        }
        if (!(sum > 0)) MODAL_FAIL(err, MODAL_ERROR_INPUT, "source %lld: no sample of the texture within %g m", (long long)s, source->radius);
        for (int64_t i = 0; i < o->n_samples; i++) rates[i] += (float)(source->rate * shares[i] / sum);
    }
    MODAL_TRY(bring(f, &f->task.sources, rates, o->n_samples, sizeof *rates, err));
done:
    modal_free(&rates);
    modal_free(&shares);
    return status;
}

/* What moves along of the dirt, by the kernel's formula. */
static modal_status bring_state(modal_flow *f, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_octree *o = f->octree;
    const modal_flow_state *s = f->state;
    const int64_t n = o->n_samples;
    float *moving = NULL;
    MODAL_TRY(bring(f, &f->liquid[0], s->liquid, n, sizeof(float), err));
    MODAL_TRY(bring(f, &f->liquid[1], s->liquid, n, sizeof(float), err));
    MODAL_TRY(bring(f, &f->task.wetness, s->wetness, n, sizeof(float), err));
    if (!s->dirt) goto done;
    MODAL_TRY(bring(f, &f->task.dirt, s->dirt, n, sizeof(float), err));
    MODAL_TRY(modal_alloc(&moving, n, sizeof *moving, "dirt", err));
    for (int64_t i = 0; i < n; i++) moving[i] = modal_flow_moving(s->dirt[i], s->liquid[i], f->settings->film, o->areas[i]);
    MODAL_TRY(bring(f, &f->moving[0], moving, n, sizeof(float), err));
    MODAL_TRY(bring(f, &f->moving[1], moving, n, sizeof(float), err));
done:
    modal_free(&moving);
    return status;
}

/* Of a GPU, after all else: where it has no room its steps go by neighbours, with the same bytes, two thirds as fast. */
static modal_status make_gifts(modal_flow *f, modal_error *err)
{
    const modal_device *d = &f->device;
    modal_error full = {0};
    if (d->shares_memory) return MODAL_OK;
    modal_status status = modal_device_alloc(d, &f->task.gifts, f->n_rows * MODAL_FLOW_TILE, sizeof *f->task.gifts, "flow", &full);
    if (status == MODAL_OK) status = modal_device_alloc(d, &f->task.n_gifts, f->octree->n_samples, sizeof *f->task.n_gifts, "flow", &full);
    if (status == MODAL_OK) return MODAL_OK;
    modal_device_free(d, &f->task.gifts);
    if (status == MODAL_ERROR_MEMORY) return MODAL_OK;
    return modal_error_set(err, status, "%s", full.message);
}

modal_status modal_flow_new(modal_flow **flow, const modal_device *device, const modal_octree *o, const double *rest, const int32_t *triangles,
                            const modal_flow_settings *settings, modal_flow_state *state, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_flow *f = NULL;
    *flow = NULL;
    MODAL_TRY(modal_alloc_zero(&f, 1, sizeof *f, "flow", err));
    f->device = *device;
    f->octree = o, f->rest = rest, f->triangles = triangles, f->settings = settings, f->state = state;
    f->scale = ldexp(1.0, modal_octree_bits(o)) / o->size;
    f->n_blocks = (o->n_samples + MODAL_FLOW_BLOCK - 1) / MODAL_FLOW_BLOCK;
    f->task = (modal_surface_flow_task){.n_samples = o->n_samples, .rain = settings->rain, .film = settings->film};
    MODAL_TRY(modal_device_stream_new(device, &f->stream, err));
    MODAL_TRY(modal_alloc(&f->motion, 4 * o->n_triangles, sizeof *f->motion, "flow", err));
    MODAL_TRY(modal_alloc_zero(&f->sums, MODAL_FLOW_SUMS * f->n_blocks, sizeof *f->sums, "flow", err));
    MODAL_TRY(bring_neighbours(f, err));
    MODAL_TRY(bring(f, &f->task.masks, o->neighbours, o->n_samples, sizeof *o->neighbours, err));
    MODAL_TRY(bring(f, &f->task.areas, o->areas, o->n_samples, sizeof *o->areas, err));
    MODAL_TRY(bring(f, &f->task.triangles, o->triangles, o->n_samples, sizeof *o->triangles, err));
    MODAL_TRY(bring_normals(f, err));
    MODAL_TRY(bring_sources(f, err));
    MODAL_TRY(bring_state(f, err));
    MODAL_TRY(modal_device_alloc(device, &f->task.steer, 4 * o->n_samples, sizeof *f->task.steer, "flow", err));
    MODAL_TRY(bring(f, &f->task.sums, f->sums, MODAL_FLOW_SUMS * f->n_blocks, sizeof *f->sums, err));
    MODAL_TRY(make_gifts(f, err));
    *flow = f;
    f = NULL;
done:
    modal_flow_delete(f);
    return status;
}

/* ---- frames ---- */

/* Velocity of the liquid on a triangle, taken back to rest coordinates, in lattice steps/s, and what rain falls on. With rest edges E and
 * deformed edges D (as columns) gravity along the deformed triangle is D c, c = (D^T D)^-1 D^T g, and what goes there goes
 * along E c at rest. Returns 0 for a triangle that is flat: pressed to a line or a point, but for rounding, it would let liquid through at any speed. */
static int set_motion(const modal_flow *f, const float *positions, int64_t t, double way[3], double *exposure)
{
    const int32_t *v = f->triangles + 3 * t;
    const double *g = f->settings->gravity, strength = sqrt(modal_dot(g, g));
    double e[2][3], d[2][3], normal[3], rest_normal[3];
    rest_edges(f, t, e);
    for (int j = 0; j < 2; j++)
        for (int k = 0; k < 3; k++) d[j][k] = (double)positions[3 * (int64_t)v[j + 1] + k] - (double)positions[3 * (int64_t)v[0] + k];
    const double aa = modal_dot(d[0], d[0]), ab = modal_dot(d[0], d[1]), bb = modal_dot(d[1], d[1]), a = modal_dot(d[0], g), b = modal_dot(d[1], g);
    modal_cross(d[0], d[1], normal);
    modal_cross(e[0], e[1], rest_normal);
    const double det = modal_dot(normal, normal), rest_det = modal_dot(rest_normal, rest_normal);
    way[0] = way[1] = way[2] = *exposure = 0;
    if (!(det > 1e-12 * aa * bb) || !(rest_det > 0)) return 0;
    /* the squares of both principal stretches have this sum and this product */
    const double sum = (aa * modal_dot(e[1], e[1]) - 2 * ab * modal_dot(e[0], e[1]) + bb * modal_dot(e[0], e[0])) / rest_det, product = det / rest_det;
    const double larger = 0.5 * (sum + sqrt(fmax(0, sum * sum - 4 * product)));
    if (!(product > least_stretch * least_stretch * larger)) return 0;
    const double first = (bb * a - ab * b) / det, second = (aa * b - ab * a) / det;
    for (int k = 0; k < 3; k++) way[k] = f->settings->mobility * f->scale * (first * e[0][k] + second * e[1][k]);
    *exposure = (strength > 0 ? fmax(0, -modal_dot(normal, g) / strength) : sqrt(det)) / sqrt(rest_det);
    return 1;
}

/* Fills motion; *fastest is in lattice steps/s. */
static modal_status set_motions(modal_flow *f, const float *positions, double *fastest, int64_t *n_flat, modal_error *err)
{
    const int64_t n = f->octree->n_triangles;
    double most = 0;
    int64_t flat = 0, bad = -1;
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static) reduction(max : most, bad) reduction(+ : flat)
    for (int64_t t = 0; t < n; t++) {
        double way[3], exposure;
        flat += !set_motion(f, positions, t, way, &exposure);
        const double speed = sqrt(modal_dot(way, way));
        int finite = isfinite(speed) && isfinite(exposure);
        for (int j = 0; j < 9; j++) finite &= isfinite(positions[3 * (int64_t)f->triangles[3 * t + j / 3] + j % 3]) != 0;
        if (!finite) bad = t > bad ? t : bad;
        most = speed > most ? speed : most;
        for (int k = 0; k < 3; k++) f->motion[4 * t + k] = (float)way[k];
        f->motion[4 * t + 3] = (float)exposure;
    }
    if (bad >= 0) return modal_error_set(err, MODAL_ERROR_INPUT, "triangle %lld: its place or what runs on it is not finite", (long long)bad);
    *fastest = most;
    *n_flat = flat;
    return MODAL_OK;
}

modal_status modal_flow_steps(modal_flow *f, int64_t n, double dt, modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_flow_task *t = &f->task;
    t->dt = dt;
    t->lost = -expm1(-dt * f->settings->evaporation);
    t->taken = -expm1(-dt * f->settings->absorption);
    for (int64_t i = 0; i < n; i++) {
        t->steers = i == 0;
        t->liquid = f->liquid[i % 2], t->liquid_next = f->liquid[1 - i % 2];
        t->moving = f->moving[i % 2], t->moving_next = f->moving[1 - i % 2];
        MODAL_TRY(f->device.kernels->surface_flow(t, stream, err));
    }
    if (n % 2) {
        float *swap = f->liquid[0];
        f->liquid[0] = f->liquid[1], f->liquid[1] = swap;
        swap = f->moving[0];
        f->moving[0] = f->moving[1], f->moving[1] = swap;
    }
done:
    return status;
}

modal_status modal_flow_gifts(const modal_flow *f, int64_t *n_gifts, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = f->octree->n_samples;
    uint32_t *numbers = NULL;
    *n_gifts = 0;
    if (!f->task.n_gifts) return MODAL_OK;
    MODAL_TRY(modal_alloc(&numbers, n, sizeof *numbers, "flow", err));
    MODAL_TRY(modal_device_copy_out(&f->device, numbers, f->task.n_gifts, n * (int64_t)sizeof *numbers, f->stream, err));
    MODAL_TRY(modal_device_stream_wait(&f->device, f->stream, err));
    for (int64_t i = 0; i < n; i++) *n_gifts += numbers[i] & ((1u << MODAL_FLOW_GIVEN) - 1);
done:
    modal_free(&numbers);
    return status;
}

modal_status modal_flow_advance(modal_flow *f, const float *positions, double time, int64_t *n_steps, int64_t *n_flat, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_device *d = &f->device;
    modal_flow_state *s = f->state;
    const int64_t bytes = 4 * s->n_samples;
    const double span = time - s->time;
    double fastest = 0;
    int64_t flat = 0;
    MODAL_TRY(set_motions(f, positions, &fastest, &flat, err));
    const double wanted = ceil(fastest * span / most_way), steps = wanted > 1 ? wanted : 1;
    if (!(span > 0) || !(steps <= MODAL_FLOW_MOST_STEPS))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%g steps to %g s, at most %d: liquid runs through %g cells a second", steps, time, MODAL_FLOW_MOST_STEPS, fastest);
    MODAL_TRY(modal_device_copy_in(d, (void *)(uintptr_t)f->task.motion, f->motion, 16 * f->octree->n_triangles, f->stream, err));
    MODAL_TRY(modal_device_fill(d, f->task.sums, 0, 8 * MODAL_FLOW_SUMS * f->n_blocks, f->stream, err));
    MODAL_TRY(modal_flow_steps(f, (int64_t)steps, span / steps, f->stream, err));
    MODAL_TRY(modal_device_copy_out(d, s->liquid, f->liquid[0], bytes, f->stream, err));
    MODAL_TRY(modal_device_copy_out(d, s->wetness, f->task.wetness, bytes, f->stream, err));
    if (s->dirt) MODAL_TRY(modal_device_copy_out(d, s->dirt, f->task.dirt, bytes, f->stream, err));
    MODAL_TRY(modal_device_copy_out(d, f->sums, f->task.sums, 8 * MODAL_FLOW_SUMS * f->n_blocks, f->stream, err));
    MODAL_TRY(modal_device_stream_wait(d, f->stream, err));
    for (int64_t b = 0; b < f->n_blocks; b++) {
        s->added += f->sums[MODAL_FLOW_SUMS * b + MODAL_FLOW_ADDED];
        s->evaporated += f->sums[MODAL_FLOW_SUMS * b + MODAL_FLOW_EVAPORATED];
    }
    s->time = time;
    if (n_steps) *n_steps = (int64_t)steps;
    if (n_flat) *n_flat = flat;
done:
    return status;
}

/* ---- values ---- */

void modal_flow_probe_free(modal_flow_probe *p)
{
    modal_free(&p->samples);
    modal_free(&p->weights);
    *p = (modal_flow_probe){0};
}

/* Of the place x of the cell that begins at c, on a triangle; returns 0 where the triangle does not meet it. */
static int probe_place(const modal_sheets *s, int32_t triangle, const int64_t c[3], const double x[3], int32_t samples[8], float weights[8])
{
    double w[8];
    int64_t corners[8];
    const int32_t piece = modal_sheets_piece(s, c, triangle);
    if (piece < 0) return 0;
    modal_sheets_corners(s, piece, corners);
    modal_sheets_weights(corners, x, w);
    for (int k = 0; k < 8; k++) {
        samples[k] = (int32_t)corners[k];
        weights[k] = (float)w[k];
    }
    return 1;
}

/* Nothing where the triangle has no area. */
static void probe_vertex(const modal_sheets *s, int32_t triangle, const double *position, int32_t samples[8], float weights[8])
{
    double x[3];
    int64_t c[3];
    for (int k = 0; k < 3; k++) {
        x[k] = (position[k] - s->frame.origin[k]) * s->frame.scale;
        c[k] = (int64_t)floor(x[k]);
        x[k] -= (double)c[k];
    }
    probe_place(s, triangle, c, x, samples, weights);
}

static modal_status new_probe(int64_t n, const char *what, modal_flow_probe *p, modal_error *err)
{
    modal_status status = MODAL_OK;
    *p = (modal_flow_probe){.n = n};
    MODAL_TRY(modal_alloc(&p->samples, 8 * n, sizeof *p->samples, what, err));
    MODAL_TRY(modal_alloc_zero(&p->weights, 8 * n, sizeof *p->weights, what, err));
    memset(p->samples, -1, (size_t)(8 * n) * sizeof *p->samples);
done:
    return status;
}

/* So that a value is the sum of weights times masses: what the weights make of the areas is divided by. */
static void divide_by_areas(modal_flow_probe *p, const float *areas)
{
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
    for (int64_t i = 0; i < p->n; i++) {
        double area = 0;
        for (int64_t k = 8 * i; k < 8 * i + 8; k++)
            if (p->samples[k] >= 0) area += (double)p->weights[k] * (double)areas[p->samples[k]];
        for (int64_t k = 8 * i; k < 8 * i + 8; k++) {
            const int counts = area > 0 && p->samples[k] >= 0;
            p->weights[k] = counts ? (float)((double)p->weights[k] / area) : 0;
            if (!counts) p->samples[k] = 0;
        }
    }
}

modal_status modal_flow_probe_new(const modal_sheets *s, int64_t n_vertices, modal_flow_probe *p, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n_triangles = s->octree->n_triangles;
    int32_t *of = NULL; /* a triangle of each vertex */
    MODAL_TRY(new_probe(n_vertices, "vertices", p, err));
    MODAL_TRY(modal_alloc(&of, n_vertices, sizeof *of, "vertices", err));
    memset(of, -1, (size_t)n_vertices * sizeof *of);
    for (int64_t t = n_triangles - 1; t >= 0; t--) { /* of each the first that has an area */
        double corner[9], u[3], w[3], normal[3];
        modal_octree_corners(&s->frame, s->triangles + 3 * t, corner);
        for (int k = 0; k < 3; k++) u[k] = corner[3 + k] - corner[k], w[k] = corner[6 + k] - corner[k];
        modal_cross(u, w, normal);
        for (int k = 0; k < 3 && modal_dot(normal, normal) > 0; k++) of[s->triangles[3 * t + k]] = (int32_t)t;
    }
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
    for (int64_t v = 0; v < n_vertices; v++)
        if (of[v] >= 0) probe_vertex(s, of[v], s->frame.positions + 3 * v, p->samples + 8 * v, p->weights + 8 * v);
    divide_by_areas(p, s->octree->areas);
done:
    modal_free(&of);
    return status;
}

modal_status modal_flow_probe_texels(const modal_sheets *s, const modal_octree_atlas *a, modal_flow_probe *p, int64_t *n_lost, modal_error *err)
{
    const modal_status status = new_probe(a->n_rows, "texels", p, err);
    int64_t lost = 0;
    if (status != MODAL_OK) return status;
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static) reduction(+ : lost)
    for (int64_t i = 0; i < a->n_rows; i++) {
        int64_t c[3];
        double x[3];
        for (int k = 0; k < 3; k++) {
            c[k] = modal_morton_squeeze((uint64_t)s->octree->keys[a->samples[i]] >> k);
            x[k] = (double)a->places[3 * i + k];
        }
        lost += !probe_place(s, a->triangles[i], c, x, p->samples + 8 * i, p->weights + 8 * i);
    }
    divide_by_areas(p, s->octree->areas);
    *n_lost = lost;
    return MODAL_OK;
}

void modal_flow_read(const modal_flow_probe *p, const float *masses, const float *more, float *values)
{
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
    for (int64_t i = 0; i < p->n; i++) {
        double sum = 0;
        for (int64_t k = 8 * i; k < 8 * i + 8; k++) {
            const int32_t s = p->samples[k];
            sum += (double)p->weights[k] * ((double)masses[s] + (more ? (double)more[s] : 0));
        }
        values[i] = (float)sum;
    }
}
