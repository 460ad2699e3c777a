/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/deform/reach.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"

modal_status modal_reach_modes(const modal_shape *s, int32_t index, const modal_matrix_source *source, double *largest,
                               modal_error *err)
{
    enum { ROOM = 1 << 18 }; /* floats of a range, or one tile */
    modal_status status = MODAL_OK;
    const int64_t n_tiles = modal_tile_count(s->n_vertices), tile_floats = (int64_t)s->n_modes * 3 * MODAL_TILE;
    const int64_t most = tile_floats < ROOM ? ROOM / tile_floats : 1;
    float *range = NULL;
    memset(largest, 0, (size_t)s->n_modes * sizeof *largest);
    if (source->read) MODAL_TRY(modal_alloc(&range, most * tile_floats, sizeof *range, "modal matrix", err));
    for (int64_t begin = 0; begin < n_tiles; begin += most) {
        const int64_t end = begin + most < n_tiles ? begin + most : n_tiles;
        const float *tiles = source->read ? range : s->modal_matrix + begin * tile_floats;
        if (source->read) MODAL_TRY(source->read(source->context, index, begin, end, range, err));
        for (int64_t at = 0; at < (end - begin) * s->n_modes; at++) { /* lanes past the last vertex are 0 */
            const float *x = tiles + at * 3 * MODAL_TILE;
            double square = 0;
            for (int lane = 0; lane < MODAL_TILE; lane++) {
                const double a = x[lane], b = x[MODAL_TILE + lane], c = x[2 * MODAL_TILE + lane];
                square = fmax(square, a * a + b * b + c * c);
            }
            largest[at % s->n_modes] = fmax(largest[at % s->n_modes], sqrt(square));
        }
    }
done:
    modal_free(&range);
    return status;
}

double modal_reach_diagonal(const modal_shape *s)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < 3 * s->n_vertices; i++) {
        low[i % 3] = fmin(low[i % 3], s->rest_positions[i]);
        high[i % 3] = fmax(high[i % 3], s->rest_positions[i]);
    }
    return sqrt((high[0] - low[0]) * (high[0] - low[0]) + (high[1] - low[1]) * (high[1] - low[1]) +
                (high[2] - low[2]) * (high[2] - low[2]));
}
