/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/deform/reach.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"

/* max |U_k| over a tile of one mode; lanes past the last vertex are 0. */
static double largest_of(const float *x)
{
    double square = 0;
    for (int lane = 0; lane < MODAL_TILE; lane++) {
        const double a = x[lane], b = x[MODAL_TILE + lane], c = x[2 * MODAL_TILE + lane];
        square = fmax(square, a * a + b * b + c * c);
    }
    return sqrt(square);
}

modal_status modal_reach_modes(const modal_shape *s, int32_t index, const modal_matrix_source *source, double *largest,
                               modal_error *err)
{
    enum { ROOM = 1 << 18 }; /* floats of a range, or one tile */
    modal_status status = MODAL_OK;
    if (s->modes.n_modes == 0) return MODAL_OK; /* a rigid shape */
    const int64_t n_tiles = modal_tile_count(s->surface.n_vertices), tile_floats = (int64_t)s->modes.n_modes * 3 * MODAL_TILE;
    const int64_t most = tile_floats < ROOM ? ROOM / tile_floats : 1;
    float *range = NULL;
    memset(largest, 0, (size_t)s->modes.n_modes * sizeof *largest);
    if (source->read) MODAL_TRY(modal_alloc(&range, most * tile_floats, sizeof *range, "modal matrix", err));
    for (int64_t begin = 0; begin < n_tiles; begin += most) {
        const int64_t end = begin + most < n_tiles ? begin + most : n_tiles;
        const float *tiles = source->read ? range : s->modes.modal_matrix + begin * tile_floats;
        if (source->read) MODAL_TRY(source->read(source->context, index, begin, end, range, err));
        for (int64_t at = 0; at < (end - begin) * s->modes.n_modes; at++)
            largest[at % s->modes.n_modes] = fmax(largest[at % s->modes.n_modes], largest_of(tiles + at * 3 * MODAL_TILE));
    }
done:
    modal_free(&range);
    return status;
}

/* Bounds of |U_k| in a shape, and in each of its tiles. */
typedef struct shape_reach {
    const modal_shape *shape; /* NULL: not known */
    double *largest;          /* [n_modes] */
    float *tiles;             /* [tiles, n_modes], rounded up */
} shape_reach;

struct modal_reach {
    int32_t n_shapes;
    shape_reach *shapes;
};

static modal_status shape_reach_init(shape_reach *r, const modal_shape *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n_tiles = modal_tile_count(s->surface.n_vertices);
    MODAL_TRY(modal_alloc_zero(&r->largest, s->modes.n_modes, sizeof *r->largest, "reach of modes", err));
    MODAL_TRY(modal_alloc(&r->tiles, n_tiles * s->modes.n_modes, sizeof *r->tiles, "reach of modes", err));
    for (int64_t at = 0; at < n_tiles * s->modes.n_modes; at++) {
        const double reach = largest_of(s->modes.modal_matrix + at * 3 * MODAL_TILE);
        r->largest[at % s->modes.n_modes] = fmax(r->largest[at % s->modes.n_modes], reach);
        r->tiles[at] = nextafterf((float)reach, INFINITY);
    }
    r->shape = s;
done:
    return status;
}

modal_status modal_reach_new(modal_reach **reach, const modal_basis *basis, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_reach *r = NULL;
    *reach = NULL;
    MODAL_TRY(modal_alloc_zero(&r, 1, sizeof *r, "reach of modes", err));
    MODAL_TRY(modal_alloc_zero(&r->shapes, basis->n_shapes, sizeof *r->shapes, "reach of modes", err));
    r->n_shapes = basis->n_shapes;
    for (int32_t i = 0; i < basis->n_shapes; i++) {
        const modal_shape *s = &basis->shapes[i];
        if (s->modes.modal_matrix && !s->modes.matrix_tiles && s->surface.rest_positions) MODAL_TRY(shape_reach_init(&r->shapes[i], s, err));
    }
    *reach = r;
    r = NULL;
done:
    modal_reach_delete(r);
    return status;
}

modal_reach *modal_reach_delete(modal_reach *reach)
{
    if (!reach) return NULL;
    for (int32_t i = 0; i < reach->n_shapes; i++) {
        modal_free(&reach->shapes[i].largest);
        modal_free(&reach->shapes[i].tiles);
    }
    modal_free(&reach->shapes);
    modal_free(&reach);
    return NULL;
}

int modal_reach_knows(const modal_reach *reach, int32_t shape) { return reach->shapes[shape].shape != NULL; }

double modal_reach_displacement(const modal_reach *reach, int32_t shape, const double *q, double least, int64_t *vertex)
{
    const shape_reach *r = &reach->shapes[shape];
    const modal_shape *s = r->shape;
    const int64_t n_tiles = modal_tile_count(s->surface.n_vertices), n_modes = s->modes.n_modes;
    double bound = 0;
    for (int64_t k = 0; k < n_modes; k++) bound += fabs(q[k]) * r->largest[k];
    if (bound <= least) return least;
    for (int64_t tile = 0; tile < n_tiles; tile++) {
        double u[3][MODAL_TILE] = {{0}};
        bound = 0;
        for (int64_t k = 0; k < n_modes; k++) bound += fabs(q[k]) * r->tiles[tile * n_modes + k];
        if (bound <= least) continue;
        for (int64_t k = 0; k < n_modes; k++)
            for (int i = 0; i < 3; i++) {
                const float *from = s->modes.modal_matrix + ((tile * n_modes + k) * 3 + i) * MODAL_TILE;
                for (int lane = 0; lane < MODAL_TILE; lane++) u[i][lane] += q[k] * from[lane];
            }
        for (int lane = 0; lane < MODAL_TILE; lane++) { /* lanes past the last vertex are 0 */
            const double length = sqrt(u[0][lane] * u[0][lane] + u[1][lane] * u[1][lane] + u[2][lane] * u[2][lane]);
            if (!(length > least)) continue;
            least = length;
            *vertex = tile * MODAL_TILE + lane;
        }
    }
    return least;
}

double modal_reach_diagonal(const modal_surface *s)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < 3 * s->n_vertices; i++) {
        low[i % 3] = fmin(low[i % 3], s->rest_positions[i]);
        high[i % 3] = fmax(high[i % 3], s->rest_positions[i]);
    }
    return sqrt((high[0] - low[0]) * (high[0] - low[0]) + (high[1] - low[1]) * (high[1] - low[1]) +
                (high[2] - low[2]) * (high[2] - low[2]));
}
