/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/normals_dynamic/normals_dynamic.h"

#include <stddef.h>
#include <string.h>

#include "lib/base/tile.h"

enum { FAN_MAX = 64 }; /* vertices of more corners keep the order of their faces */

/* Puts a vertex's corners in the order of its fans: after (a, b) comes the first corner left that
 * begins with b; a fan starts at the first corner left that no other one leads to, or, where all are
 * led to (a closed fan), at the first one left. */
static void sort_fan(int64_t m, int32_t *corners, int32_t *faces)
{
    if (m > FAN_MAX) return;
    for (int64_t done = 0; done < m; done++) {
        int64_t next = done;
        for (; next < m && done > 0; next++)
            if (corners[2 * next] == corners[2 * done - 1]) break;
        if (next == m || done == 0) {
            for (next = done; next < m; next++) {
                int64_t other = done;
                while (other < m && corners[2 * other + 1] != corners[2 * next]) other++;
                if (other == m) break;
            }
            if (next == m) next = done;
        }
        const int32_t first = corners[2 * next], second = corners[2 * next + 1];
        const int32_t face = faces ? faces[next] : 0;
        for (int64_t k = next; k > done; k--) {
            corners[2 * k] = corners[2 * k - 2];
            corners[2 * k + 1] = corners[2 * k - 1];
            if (faces) faces[k] = faces[k - 1];
        }
        corners[2 * done] = first;
        corners[2 * done + 1] = second;
        if (faces) faces[done] = face;
    }
}

typedef struct corner_tables {
    int64_t n_vertices, n_triangles;
    const int32_t *triangles;
    const int64_t *face_offsets;
    const int32_t *faces;
    int32_t *corners, *corner_faces;
} corner_tables;

static modal_status corners_of(const corner_tables *t, int64_t v, modal_error *err)
{
    const int64_t begin = t->face_offsets[v], end = t->face_offsets[v + 1];
    for (int64_t k = begin; k < end; k++) {
        const int32_t face = t->faces[k];
        if (face < 0 || face >= t->n_triangles)
            return modal_error_set(err, MODAL_ERROR_INPUT, "faces of vertex %lld: triangle %d of %lld", (long long)v, face,
                                   (long long)t->n_triangles);
        const int32_t *of = t->triangles + 3 * (int64_t)face;
        const int place = of[0] == v ? 0 : of[1] == v ? 1 : of[2] == v ? 2 : 3;
        if (place == 3)
            return modal_error_set(err, MODAL_ERROR_INPUT, "faces of vertex %lld: triangle %d does not hold it", (long long)v,
                                   face);
        for (int i = 0; i < 2; i++) {
            const int32_t other = of[(place + 1 + i) % 3];
            if (other < 0 || other >= t->n_vertices)
                return modal_error_set(err, MODAL_ERROR_INPUT, "triangle %d: vertex %d of %lld", face, other,
                                       (long long)t->n_vertices);
            t->corners[2 * k + i] = other;
        }
        if (t->corner_faces) t->corner_faces[k] = face;
    }
    sort_fan(end - begin, t->corners + 2 * begin, t->corner_faces ? t->corner_faces + begin : NULL);
    return MODAL_OK;
}

modal_status modal_normals_corner_faces(int64_t n_vertices, int64_t n_triangles,
                                        const int32_t *triangles, const int64_t *face_offsets,
                                        const int32_t *faces, int32_t *corners,
                                        int32_t *corner_faces, modal_error *err)
{
    enum { PARALLEL = 16384 };
    const corner_tables t = {n_vertices, n_triangles, triangles, face_offsets, faces, corners, corner_faces};
    int64_t bad = n_vertices; /* the first, whoever finds it */
#pragma omp parallel for schedule(static) reduction(min : bad) if (n_vertices > PARALLEL)
    for (int64_t v = 0; v < n_vertices; v++) {
        modal_error ignored;
        if (corners_of(&t, v, &ignored) != MODAL_OK && v < bad) bad = v;
    }
    return bad < n_vertices ? corners_of(&t, bad, err) : MODAL_OK;
}

modal_status modal_normals_corners(int64_t n_vertices, int64_t n_triangles,
                                   const int32_t *triangles, const int64_t *face_offsets,
                                   const int32_t *faces, int32_t *corners, modal_error *err)
{
    return modal_normals_corner_faces(n_vertices, n_triangles, triangles, face_offsets, faces,
                                      corners, NULL, err);
}

void modal_normals_ring_offsets(int64_t n_vertices, const int64_t *corner_offsets,
                                const int32_t *corners, int64_t *ring_offsets)
{
    const int64_t n_tiles = modal_tile_count(n_vertices);
    ring_offsets[0] = 0;
    for (int64_t tile = 0; tile < n_tiles; tile++) {
        int64_t rows = 0;
        for (int64_t v = MODAL_TILE * tile; v < MODAL_TILE * tile + MODAL_TILE && v < n_vertices; v++) {
            int64_t length = 0;
            for (int64_t k = corner_offsets[v]; k < corner_offsets[v + 1]; k++)
                length += k > corner_offsets[v] && corners[2 * k] == corners[2 * k - 1] ? 1 : 2;
            if (length > rows) rows = length;
        }
        ring_offsets[tile + 1] = ring_offsets[tile] + rows;
    }
}

void modal_normals_ring(int64_t n_vertices, const int64_t *corner_offsets, const int32_t *corners,
                        const int64_t *ring_offsets, int32_t *ring)
{
    const int64_t n_tiles = modal_tile_count(n_vertices);
    for (int64_t tile = 0; tile < n_tiles; tile++)
        for (int64_t v = MODAL_TILE * tile; v < MODAL_TILE * tile + MODAL_TILE; v++) {
            int32_t *next = ring + MODAL_TILE * ring_offsets[tile] + v % MODAL_TILE;
            for (int64_t k = v < n_vertices ? corner_offsets[v] : 0;
                 v < n_vertices && k < corner_offsets[v + 1]; k++) {
                if (k == corner_offsets[v] || corners[2 * k] != corners[2 * k - 1]) {
                    *next = ~corners[2 * k];
                    next += MODAL_TILE;
                }
                *next = corners[2 * k + 1];
                next += MODAL_TILE;
            }
            const int32_t nothing = ~(int32_t)(v < n_vertices ? v : n_vertices - 1);
            for (; next < ring + MODAL_TILE * ring_offsets[tile + 1]; next += MODAL_TILE) *next = nothing;
        }
}

void modal_normals_order_corners(int64_t n_vertices, const int32_t *source, const int64_t *corner_offsets,
                                 const int32_t *corners, int64_t *place_offsets, int32_t *place_corners)
{
    place_offsets[0] = 0;
    for (int64_t i = 0; i < n_vertices; i++) {
        const int64_t first = corner_offsets[source[i]], count = corner_offsets[source[i] + 1] - first;
        memcpy(place_corners + 2 * place_offsets[i], corners + 2 * first, (size_t)(2 * count) * sizeof *corners);
        place_offsets[i + 1] = place_offsets[i] + count;
    }
}
