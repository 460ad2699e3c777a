/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/deform_objects/pack.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/device.h"
#include "kernels/registry.h"
#include "lib/base/memory.h"
#include "lib/base/tile.h"

/* Whose a point of the frame is. */
typedef struct owner {
    int32_t object, vertex; /* object -1: nobody's */
} owner;

typedef struct builder {
    modal_object_pack *pack;
    const modal_pack_object *objects;
    owner *owners;   /* [n_points] */
    int32_t *sorted; /* [n_objects] by descending r, equal ones as they come */
    int32_t *q;      /* [n_objects] where an object's q begins */
    int32_t *whole;  /* [n_objects] its whole tiles: how many, then where the next one goes */
    int32_t *mixed;  /* [n_objects] its lanes in mixed tiles, likewise */
    int32_t *first;  /* [n_tiles - n_mixed] first point of each whole tile */
    int32_t *points; /* [n_mixed, 32] point of each lane, -1 past the last */
} builder;

static modal_status check(const builder *b, int64_t n_objects, int64_t n_points, modal_error *err)
{
    int64_t total = 0;
    if (n_points < 0 || n_points > INT32_MAX || n_objects < 0 || n_objects > INT32_MAX)
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "scene: %lld objects, %lld points: each must be 0 to 2147483647",
                               (long long)n_objects, (long long)n_points);
    for (int64_t i = 0; i < n_objects; i++) {
        const modal_pack_object *o = &b->objects[i];
        if (o->n_vertices < 0 || o->n_modes < 0 || o->n_vertices > n_points)
            return modal_error_set(err, MODAL_ERROR_INPUT,
                                   "scene: object %lld: %lld vertices, %d modes, in a frame of "
                                   "%lld points",
                                   (long long)i, (long long)o->n_vertices, (int)o->n_modes,
                                   (long long)n_points);
        total += o->n_modes; /* below 2^62 */
    }
    if (total > INT32_MAX)
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "scene: %lld modes, at most 2147483647 are possible",
                               (long long)total);
    b->pack->n_objects = (int32_t)n_objects;
    b->pack->n_points = (int32_t)n_points;
    b->pack->n_modes = (int32_t)total;
    return MODAL_OK;
}

static modal_status find_owners(builder *b, modal_error *err)
{
    const modal_object_pack *p = b->pack;
    for (int64_t i = 0; i < p->n_points; i++) b->owners[i].object = -1;
    for (int32_t i = 0, q = 0; i < p->n_objects; i++) {
        const modal_pack_object *o = &b->objects[i];
        b->q[i] = q;
        q += o->n_modes;
        for (int64_t v = 0; v < o->n_vertices; v++) {
            int64_t point = 0;
            if (__builtin_add_overflow(o->first_point, o->order ? o->order[v] : v, &point) ||
                point < 0 || point >= p->n_points)
                return modal_error_set(err, MODAL_ERROR_INPUT,
                                       "scene: object %d: vertex %lld: not one of the frame's %d "
                                       "points",
                                       (int)i, (long long)v, (int)p->n_points);
            if (b->owners[point].object >= 0)
                return modal_error_set(err, MODAL_ERROR_INPUT,
                                       "scene: object %d: vertex %lld: point %lld belongs to "
                                       "object %d already",
                                       (int)i, (long long)v, (long long)point,
                                       (int)b->owners[point].object);
            b->owners[point] = (owner){i, (int32_t)v};
        }
    }
    return MODAL_OK;
}

typedef struct ranked {
    int32_t n_modes, object;
} ranked;

static int by_rank(const void *x, const void *y)
{
    const ranked *a = x, *b = y;
    if (a->n_modes != b->n_modes) return a->n_modes > b->n_modes ? -1 : 1;
    return (a->object > b->object) - (a->object < b->object);
}

static modal_status sort_objects(builder *b, modal_error *err)
{
    ranked *all = NULL;
    const int32_t n = b->pack->n_objects;
    const modal_status status = modal_alloc(&all, n, sizeof *all, "sorted objects", err);
    if (status != MODAL_OK) return status;
    for (int32_t i = 0; i < n; i++) all[i] = (ranked){b->objects[i].n_modes, i};
    qsort(all, (size_t)n, sizeof *all, by_rank);
    for (int32_t i = 0; i < n; i++) b->sorted[i] = all[i].object;
    modal_free(&all);
    return MODAL_OK;
}

/* Runs of consecutive points of one object: 32 at a time are a whole tile, what is left over goes
 * to mixed tiles. Counts them, or, with place, puts each where it belongs. */
static void walk_runs(builder *b, int place)
{
    const int64_t n = b->pack->n_points;
    for (int64_t begin = 0, end; begin < n; begin = end) {
        const int32_t object = b->owners[begin].object;
        for (end = begin + 1; end < n && b->owners[end].object == object; end++) continue;
        if (object < 0) continue;
        int64_t point = begin;
        for (; point + MODAL_TILE <= end; point += MODAL_TILE) {
            if (place) b->first[b->whole[object]] = (int32_t)point;
            b->whole[object]++;
        }
        for (; point < end; point++) {
            if (place) b->points[b->mixed[object]] = (int32_t)point;
            b->mixed[object]++;
        }
    }
}

/* How many warps share a tile's modes: the fewer tiles there are to hide behind, the fewer modes a
 * warp takes (measured on an H200: 4, 8 and 32 are within 5 % of the best for the five plants of
 * tests/bench/bench_objects.c). Nondecreasing in n_modes. */
static int32_t parts_of(int32_t n_modes, int32_t n_tiles)
{
    const int32_t most = n_tiles < 512 ? 4 : n_tiles < 2048 ? 8 : 32;
    int32_t parts = 1;
    while (parts < MODAL_PACK_PARTS && n_modes > most * parts) parts *= 2;
    return parts;
}

/* Tile records without their U's place are there: finds that place, and the segments. */
static modal_status lay_out(modal_object_pack *p, modal_error *err)
{
    int64_t total = 0;
    for (int32_t i = 0; i < p->n_tiles; i++) {
        p->tiles[i].matrix = total;
        if (!modal_size_add(total, p->tiles[i].n_modes * (int64_t)MODAL_TILE_FLOATS, &total))
            return modal_error_set(err, MODAL_ERROR_MEMORY, "scene: modal matrices: too large");
    }
    p->matrix_floats = total;
    for (int32_t parts = MODAL_PACK_PARTS; parts > 0; parts /= 2)
        for (int mixed = 1; mixed >= 0; mixed--) {
            const int32_t end = mixed ? p->n_mixed : p->n_tiles;
            modal_pack_segment s = {mixed ? 0 : p->n_mixed, 0, parts, mixed};
            while (s.first_tile < end &&
                   parts_of(p->tiles[s.first_tile].n_modes, p->n_tiles) > parts)
                s.first_tile++;
            while (s.first_tile + s.n_tiles < end &&
                   parts_of(p->tiles[s.first_tile + s.n_tiles].n_modes, p->n_tiles) == parts)
                s.n_tiles++;
            if (s.n_tiles > 0) p->segments[p->n_segments++] = s;
        }
    return MODAL_OK;
}

/* Records of the mixed and of the whole tiles. */
static void describe_tiles(builder *b)
{
    modal_object_pack *p = b->pack;
    for (int64_t i = 0; i < (int64_t)p->n_mixed * MODAL_TILE; i++) {
        modal_pack_lane *lane = &p->lanes[i];
        *lane = (modal_pack_lane){.point = b->points[i]};
        if (lane->point >= 0) {
            lane->object = b->owners[lane->point].object;
            lane->q = b->q[lane->object];
            lane->n_modes = b->objects[lane->object].n_modes;
        }
        if (i % MODAL_TILE == 0)
            p->tiles[i / MODAL_TILE] = (modal_pack_tile){.n_modes = lane->n_modes,
                                                         .q = lane->q,
                                                         .object = lane->object,
                                                         .point = lane->point};
    }
    for (int32_t i = p->n_mixed; i < p->n_tiles; i++) {
        const int32_t point = b->first[i - p->n_mixed], object = b->owners[point].object;
        p->tiles[i] = (modal_pack_tile){.n_modes = b->objects[object].n_modes,
                                        .q = b->q[object],
                                        .object = object,
                                        .point = point};
    }
}

/* U or xbar, or both, of one tile. The vertex of a point is told by owners, or, where they are NULL,
 * by its distance from the object's first point. */
static void fill_tile(const modal_object_pack *p, const modal_pack_object *objects,
                      const owner *owners, float *modal_matrix, float *rest_tiles, int32_t index)
{
    const modal_pack_tile *tile = &p->tiles[index];
    const int mixed = index < p->n_mixed;
    float *matrix = modal_matrix ? modal_matrix + tile->matrix : NULL;
    float *rest = rest_tiles ? rest_tiles + (int64_t)index * MODAL_TILE_FLOATS : NULL;
    if (mixed && matrix) memset(matrix, 0, (size_t)tile->n_modes * MODAL_TILE_FLOATS * sizeof *matrix);
    if (mixed && rest) memset(rest, 0, MODAL_TILE_FLOATS * sizeof *rest);
    for (int lane = 0; lane < MODAL_TILE; lane++) {
        const modal_pack_lane record = modal_pack_lane_of(p, index, lane);
        if (record.point < 0) continue;
        const modal_pack_object *o = &objects[record.object];
        const int64_t v = owners ? owners[record.point].vertex : record.point - o->first_point;
        const int64_t rows = matrix ? (int64_t)o->n_modes * 3 : 0;
        const float *u = matrix ? o->modal_matrix + v / MODAL_TILE * rows * MODAL_TILE + v % MODAL_TILE : NULL;
        const float *x = rest ? o->rest_tiles + v / MODAL_TILE * MODAL_TILE_FLOATS + v % MODAL_TILE : NULL;
        for (int64_t row = 0; row < rows; row++) matrix[row * MODAL_TILE + lane] = u[row * MODAL_TILE];
        for (int row = 0; rest && row < 3; row++) rest[row * MODAL_TILE + lane] = x[row * MODAL_TILE];
    }
}

static void fill(const modal_object_pack *p, const modal_pack_object *objects, const owner *owners,
                 float *modal_matrix, float *rest_tiles)
{
#pragma omp parallel for schedule(dynamic, 64)
    for (int32_t i = 0; i < p->n_tiles; i++)
        fill_tile(p, objects, owners, modal_matrix, rest_tiles, i);
}

void modal_object_pack_gather(const modal_object_pack *pack, const modal_pack_object *objects,
                              float *modal_matrix, float *rest_tiles)
{
    fill(pack, objects, NULL, modal_matrix, rest_tiles);
}

static modal_status allocate_scratch(builder *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = b->pack->n_objects;
    MODAL_TRY(modal_alloc(&b->owners, b->pack->n_points, sizeof *b->owners, "owners", err));
    MODAL_TRY(modal_alloc(&b->sorted, n, sizeof *b->sorted, "sorted objects", err));
    MODAL_TRY(modal_alloc(&b->q, n, sizeof *b->q, "offsets of q", err));
    MODAL_TRY(modal_alloc_zero(&b->whole, n, sizeof *b->whole, "whole tiles", err));
    MODAL_TRY(modal_alloc_zero(&b->mixed, n, sizeof *b->mixed, "mixed lanes", err));
done:
    return status;
}

/* Counts of tiles and lanes become places, objects with many modes first. */
static modal_status place_runs(builder *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t n_whole = 0, n_lanes = 0; /* no more than there are points */
    walk_runs(b, 0);
    for (int32_t i = 0; i < b->pack->n_objects; i++) {
        const int32_t object = b->sorted[i], whole = b->whole[object], mixed = b->mixed[object];
        b->whole[object] = n_whole;
        b->mixed[object] = n_lanes;
        n_whole += whole;
        n_lanes += mixed;
    }
    b->pack->n_mixed = n_lanes / MODAL_TILE + (n_lanes % MODAL_TILE != 0);
    b->pack->n_tiles = b->pack->n_mixed + n_whole;
    const int64_t capacity = (int64_t)b->pack->n_mixed * MODAL_TILE;
    MODAL_TRY(modal_alloc(&b->first, n_whole, sizeof *b->first, "whole tiles", err));
    MODAL_TRY(modal_alloc(&b->points, capacity, sizeof *b->points, "mixed lanes", err));
    for (int64_t i = n_lanes; i < capacity; i++) b->points[i] = -1;
    walk_runs(b, 1);
done:
    return status;
}

/* With `filled`, U and xbar, too. */
static modal_status build(modal_object_pack *pack, int64_t n_objects,
                          const modal_pack_object *objects, int64_t n_points, int filled,
                          modal_error *err)
{
    modal_status status = MODAL_OK;
    builder b = {.pack = pack, .objects = objects};
    memset(pack, 0, sizeof *pack);
    MODAL_TRY(check(&b, n_objects, n_points, err));
    MODAL_TRY(allocate_scratch(&b, err));
    MODAL_TRY(find_owners(&b, err));
    MODAL_TRY(sort_objects(&b, err));
    MODAL_TRY(place_runs(&b, err));
    MODAL_TRY(modal_alloc(&pack->tiles, pack->n_tiles, sizeof *pack->tiles, "tiles", err));
    MODAL_TRY(modal_alloc(&pack->lanes, (int64_t)pack->n_mixed * MODAL_TILE, sizeof *pack->lanes, "lanes",
                          err));
    describe_tiles(&b);
    MODAL_TRY(lay_out(pack, err));
    if (!filled) goto done;
    MODAL_TRY(modal_alloc(&pack->modal_matrix, pack->matrix_floats, sizeof *pack->modal_matrix,
                          "packed modal matrices", err));
    MODAL_TRY(modal_alloc(&pack->rest_tiles, (int64_t)pack->n_tiles * MODAL_TILE_FLOATS, sizeof *pack->rest_tiles,
                          "packed rest positions", err));
    fill(pack, objects, b.owners, pack->modal_matrix, pack->rest_tiles);
done:
    modal_free(&b.owners);
    modal_free(&b.sorted);
    modal_free(&b.q);
    modal_free(&b.whole);
    modal_free(&b.mixed);
    modal_free(&b.first);
    modal_free(&b.points);
    if (status != MODAL_OK) modal_object_pack_free(pack);
    return status;
}

modal_status modal_object_pack_build(modal_object_pack *pack, int64_t n_objects,
                                     const modal_pack_object *objects, int64_t n_points,
                                     modal_error *err)
{
    return build(pack, n_objects, objects, n_points, 1, err);
}

modal_status modal_object_pack_describe(modal_object_pack *pack, int64_t n_objects,
                                        const modal_pack_object *objects, int64_t n_points,
                                        modal_error *err)
{
    return build(pack, n_objects, objects, n_points, 0, err);
}

void modal_object_pack_free(modal_object_pack *pack)
{
    modal_free(&pack->tiles);
    modal_free(&pack->lanes);
    modal_free(&pack->modal_matrix);
    modal_free(&pack->rest_tiles);
    memset(pack, 0, sizeof *pack);
}

/* ---- copies in a device's memory ---- */

static const char *const array_names[] = {"tiles", "lanes", "packed modal matrices",
                                          "packed rest positions"};

static void array_bytes(const modal_object_pack *p, int64_t bytes[4])
{
    bytes[0] = p->n_tiles * (int64_t)sizeof *p->tiles;
    bytes[1] = p->n_mixed * (int64_t)(MODAL_TILE * sizeof *p->lanes);
    bytes[2] = p->matrix_floats * (int64_t)sizeof *p->modal_matrix;
    bytes[3] = p->n_tiles * (int64_t)(MODAL_TILE_FLOATS * sizeof *p->rest_tiles);
}

int64_t modal_object_pack_bytes(const modal_object_pack *pack)
{
    int64_t bytes[4];
    array_bytes(pack, bytes);
    return bytes[0] + bytes[1] + bytes[2] + bytes[3];
}

modal_status modal_object_pack_upload(modal_object_pack *copy, const modal_object_pack *pack,
                                      const modal_device *device, modal_stream *stream,
                                      modal_error *err)
{
    modal_status status = MODAL_OK;
    const void *from[] = {pack->tiles, pack->lanes, pack->modal_matrix, pack->rest_tiles};
    void *to[4] = {NULL, NULL, NULL, NULL};
    int64_t bytes[4];
    array_bytes(pack, bytes);
    *copy = *pack;
    for (int i = 0; i < 4; i++) {
        MODAL_TRY(modal_device_alloc(device, &to[i], bytes[i], 1, array_names[i], err));
        if (bytes[i] > 0)
            MODAL_TRY(modal_device_copy_in(device, to[i], from[i], bytes[i], stream, err));
    }
    status = modal_device_stream_wait(device, stream, err);
done:
    copy->tiles = to[0];
    copy->lanes = to[1];
    copy->modal_matrix = to[2];
    copy->rest_tiles = to[3];
    if (status != MODAL_OK) {
        modal_device_stream_wait(device, stream, NULL); /* copies read the pack until then */
        modal_object_pack_unload(copy, device);
    }
    return status;
}

void modal_object_pack_unload(modal_object_pack *copy, const modal_device *device)
{
    modal_device_free(device, &copy->tiles);
    modal_device_free(device, &copy->lanes);
    modal_device_free(device, &copy->modal_matrix);
    modal_device_free(device, &copy->rest_tiles);
    memset(copy, 0, sizeof *copy);
}
