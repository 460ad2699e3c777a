/* SPDX-License-Identifier: Apache-2.0 */
/* One gathered vector a mode and delay: how a channel hears an object. A triangle's acceleration is the mean of its
 * vertices', so each vertex has a filter of three components, the sum over its triangles, and a mode's filter is the
 * sum over the vertices of U_k times that. Vertices go by in ranges of tiles; every mode has one thread, so sums have
 * one order. */
#include <math.h>
#include <string.h>

#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/sound/sound_private.h"

enum { RANGE_TILES = 32 };

const double *modal_sound_pose(const modal_sound_request *r, int32_t object)
{
    const modal_trajectory *t = r->trajectory;
    return t->poses ? t->poses + 12 * (r->start * t->n_objects + object) : r->basis->objects[object].rest_pose;
}

void modal_sound_triangle(const modal_surface *s, int64_t triangle, double centroid[3], double area[3])
{
    const int32_t *corners = s->triangles + 3 * triangle;
    const double *a = s->rest_positions + 3 * (int64_t)corners[0], *b = s->rest_positions + 3 * (int64_t)corners[1],
                 *c = s->rest_positions + 3 * (int64_t)corners[2];
    for (int k = 0; k < 3; k++) {
        const int l = (k + 1) % 3, m = (k + 2) % 3;
        centroid[k] = (a[k] + b[k] + c[k]) / 3;
        area[k] = 0.5 * ((b[l] - a[l]) * (c[m] - a[m]) - (b[m] - a[m]) * (c[l] - a[l]));
    }
}

void modal_sound_place(const modal_sound_request *r, int32_t object, const double place[3], double to[3])
{
    const double *f = modal_sound_pose(r, object);
    for (int k = 0; k < 3; k++) {
        to[k] = 0;
        for (int i = 0; i < 3; i++) to[k] += f[4 * i + k] * (place[i] - f[4 * i + 3]);
    }
}

/* Delay of a triangle in samples, and rho / (4 pi R) times its area vector. */
static double delay_of(const modal_surface *s, int64_t triangle, const double y[3], double weight[3])
{
    const double pi = 3.14159265358979323846;
    double centre[3], area[3], sum = 0;
    modal_sound_triangle(s, triangle, centre, area);
    for (int k = 0; k < 3; k++) sum += (centre[k] - y[k]) * (centre[k] - y[k]);
    const double distance = sqrt(sum);
    for (int k = 0; k < 3; k++) weight[k] = MODAL_SOUND_DENSITY / (4 * pi * distance) * area[k];
    return distance * (MODAL_SOUND_RATE / MODAL_SOUND_SPEED);
}

/* The taps that triangles between two delays reach. */
static void reach(const modal_sound_kernel *delays, double least, double most, int64_t *first, int64_t *n)
{
    *first = (int64_t)ceil(least - delays->half);
    *n = (int64_t)floor(most + delays->half) - *first + 1;
}

static void reach_of_shape(const modal_surface *s, const double y[3], const modal_sound_kernel *delays, int64_t *first, int64_t *n)
{
    double least = INFINITY, most = 0, weight[3];
    for (int64_t t = 0; t < s->n_triangles; t++) {
        const double delay = delay_of(s, t, y, weight);
        least = fmin(least, delay);
        most = fmax(most, delay);
    }
    reach(delays, least, most, first, n);
}

/* ---- vertices of a range of tiles ---- */

typedef struct range {
    int64_t begin, end;  /* vertices */
    int64_t *first, *at; /* [end - begin], [end - begin + 1] first tap, and where the filter starts: three components of
                            (at[v + 1] - at[v]) / 3 taps */
    double *taps;
    int64_t capacity;
    float *tiles; /* U of them */
} range;

static int64_t taps_of(const modal_sound_kernel *delays, const modal_surface *s, const double y[3], int64_t v, int64_t *first)
{
    double least = INFINITY, most = 0, weight[3];
    int64_t n = 0;
    *first = 0;
    for (int64_t i = s->face_offsets[v]; i < s->face_offsets[v + 1]; i++) {
        const double delay = delay_of(s, s->faces[i], y, weight);
        least = fmin(least, delay);
        most = fmax(most, delay);
    }
    if (most > 0) reach(delays, least, most, first, &n);
    return n;
}

static modal_status fill_range(range *g, const modal_sound_kernel *delays, const modal_surface *s, const double y[3], int threads,
                               modal_error *err)
{
    const int64_t n = g->end - g->begin;
#pragma omp parallel for num_threads(modal_free_threads(threads)) schedule(static)
    for (int64_t i = 0; i < n; i++) g->at[i + 1] = 3 * taps_of(delays, s, y, g->begin + i, &g->first[i]);
    g->at[0] = 0;
    for (int64_t i = 0; i < n; i++) g->at[i + 1] += g->at[i];
    modal_status status = modal_grow(&g->taps, &g->capacity, g->at[n], sizeof *g->taps, "filters", err);
    if (status != MODAL_OK) return status;
    memset(g->taps, 0, (size_t)g->at[n] * sizeof *g->taps);
#pragma omp parallel for num_threads(modal_free_threads(threads)) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const int64_t v = g->begin + i, n_taps = (g->at[i + 1] - g->at[i]) / 3;
        double *to = g->taps + g->at[i];
        for (int64_t f = s->face_offsets[v]; f < s->face_offsets[v + 1]; f++) {
            double weight[3];
            const double delay = delay_of(s, s->faces[f], y, weight);
            for (int64_t j = 0; j < n_taps; j++) {
                const double tap = modal_sound_kernel_at(delays, (double)(g->first[i] + j) - delay) / 3;
                for (int k = 0; k < 3; k++) to[k * n_taps + j] += weight[k] * tap;
            }
        }
    }
    return MODAL_OK;
}

static void add_range(const range *g, const modal_shape *s, modal_sound_filter *to, int threads)
{
#pragma omp parallel for num_threads(modal_free_threads(threads)) schedule(dynamic)
    for (int32_t k = 0; k < s->modes.n_modes; k++)
        for (int64_t i = 0; i < g->end - g->begin; i++) {
            const float *u = g->tiles + ((i / MODAL_TILE * s->modes.n_modes + k) * 3) * MODAL_TILE + i % MODAL_TILE;
            const int64_t n = (g->at[i + 1] - g->at[i]) / 3;
            const double *f = g->taps + g->at[i], x = u[0], y = u[MODAL_TILE], z = u[2 * MODAL_TILE];
            double *taps = to->taps + k * to->n + (g->first[i] - to->first);
            for (int64_t j = 0; j < n; j++) taps[j] += x * f[j] + y * f[n + j] + z * f[2 * n + j];
        }
}

/* ---- the filters ---- */

static modal_status begin_filter(const modal_sound_request *r, int32_t object, int channel, const modal_sound_kernel *delays,
                                 modal_sound_filter *f, modal_error *err)
{
    const modal_shape *s = &r->basis->shapes[r->basis->objects[object].shape];
    const modal_sound_channel *c = &r->channels[channel];
    double y[3];
    if (c->contact) {
        *f = (modal_sound_filter){.n = c->object == object};
    } else {
        modal_sound_place(r, object, c->place, y);
        reach_of_shape(&s->surface, y, delays, &f->first, &f->n);
    }
    return modal_alloc_zero(&f->taps, f->n * s->modes.n_modes, sizeof *f->taps, "filters", err);
}

/* The contact channel's one tap: U_k at the vertex along its normal. */
static modal_status add_contact(const modal_shape *s, const modal_sound_channel *c, const range *g, modal_sound_filter *f,
                                modal_error *err)
{
    double normal[3] = {0, 0, 0}, centre[3], area[3], length = 0;
    if (f->n == 0 || c->vertex < g->begin || c->vertex >= g->end) return MODAL_OK;
    for (int64_t i = s->surface.face_offsets[c->vertex]; i < s->surface.face_offsets[c->vertex + 1]; i++) {
        modal_sound_triangle(&s->surface, s->surface.faces[i], centre, area);
        for (int k = 0; k < 3; k++) normal[k] += area[k];
    }
    for (int k = 0; k < 3; k++) length += normal[k] * normal[k];
    length = sqrt(length);
    if (!(length > 0))
        return modal_error_set(err, MODAL_ERROR_INPUT, "object %d, vertex %d: has no normal", c->object, s->surface.user_vertex[c->vertex]);
    const int64_t i = c->vertex - g->begin;
    for (int32_t k = 0; k < s->modes.n_modes; k++)
        for (int a = 0; a < 3; a++)
            f->taps[k] += normal[a] / length *
                          (double)g->tiles[((i / MODAL_TILE * s->modes.n_modes + k) * 3 + a) * MODAL_TILE + i % MODAL_TILE];
    return MODAL_OK;
}

modal_status modal_sound_filters_make(const modal_sound_request *r, int32_t object, const modal_sound_kernel *delays,
                                      modal_sound_filter *filters, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int32_t shape = r->basis->objects[object].shape;
    const modal_shape *s = &r->basis->shapes[shape];
    const int64_t n_tiles = modal_tile_count(s->surface.n_vertices);
    range g = {0};
    double y[3];
    int needed = 0;
    for (int c = 0; c < r->n_channels; c++) {
        MODAL_TRY(begin_filter(r, object, c, delays, &filters[c], err));
        needed |= filters[c].n > 0;
    }
    if (!needed) goto done;
    MODAL_TRY(modal_alloc(&g.first, RANGE_TILES * MODAL_TILE, sizeof *g.first, "filters", err));
    MODAL_TRY(modal_alloc(&g.at, RANGE_TILES * MODAL_TILE + 1, sizeof *g.at, "filters", err));
    MODAL_TRY(modal_alloc(&g.tiles, (int64_t)RANGE_TILES * s->modes.n_modes, 3 * MODAL_TILE * sizeof *g.tiles, "tiles", err));
    for (int64_t tile = 0; tile < n_tiles; tile += RANGE_TILES) {
        const int64_t end = tile + RANGE_TILES < n_tiles ? tile + RANGE_TILES : n_tiles;
        MODAL_TRY(r->matrix.read(r->matrix.context, shape, tile, end, g.tiles, err));
        g.begin = tile * MODAL_TILE;
        g.end = end * MODAL_TILE < s->surface.n_vertices ? end * MODAL_TILE : s->surface.n_vertices;
        for (int c = 0; c < r->n_channels; c++) {
            if (r->channels[c].contact) {
                MODAL_TRY(add_contact(s, &r->channels[c], &g, &filters[c], err));
                continue;
            }
            modal_sound_place(r, object, r->channels[c].place, y);
            MODAL_TRY(fill_range(&g, delays, &s->surface, y, r->threads, err));
            add_range(&g, s, &filters[c], r->threads);
        }
    }
done:
    modal_free(&g.first);
    modal_free(&g.at);
    modal_free(&g.taps);
    modal_free(&g.tiles);
    return status;
}

void modal_sound_filters_free(const modal_sound_request *r, modal_sound_filter *filters)
{
    for (int c = 0; filters && c < r->n_channels; c++) modal_free(&filters[c].taps);
}

double modal_sound_filters_bytes(const modal_sound_request *r, int32_t object, const modal_sound_kernel *delays)
{
    const modal_shape *s = &r->basis->shapes[r->basis->objects[object].shape];
    double taps = 0, widest = 0, y[3];
    for (int c = 0; c < r->n_channels; c++) {
        int64_t first = 0, n = 1;
        if (!r->channels[c].contact) {
            modal_sound_place(r, object, r->channels[c].place, y);
            reach_of_shape(&s->surface, y, delays, &first, &n);
        }
        taps += (double)n;
        widest = fmax(widest, (double)n);
    }
    /* The filters of a range: no vertex has more taps than the shape. */
    return 8 * taps * s->modes.n_modes + RANGE_TILES * MODAL_TILE * (2 * 8 + 12.0 * s->modes.n_modes + 2 * 24 * widest);
}
