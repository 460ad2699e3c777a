/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/curvature/topology.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/normals_dynamic/normals_dynamic.h"
#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/base/tile.h"
#include "lib/mesh/tables.h"

void modal_curvature_topology_free(modal_curvature_topology *topology)
{
    modal_free(&topology->ring_offsets);
    modal_free(&topology->ring);
    modal_free(&topology->boundary);
    memset(topology, 0, sizeof *topology);
}

/* Triangles of three different vertices; *n gets their number. */
static modal_status keep_triangles(const modal_curvature_topology *t, const int32_t *triangles, int32_t *kept,
                                   int64_t *n, modal_error *err)
{
    *n = 0;
    for (int64_t i = 0; i < t->n_triangles; i++) {
        const int32_t *v = triangles + 3 * i;
        for (int k = 0; k < 3; k++)
            if (v[k] < 0 || v[k] >= t->n_vertices)
                return modal_error_set(err, MODAL_ERROR_INPUT, "triangle %lld: vertex %d of %lld", (long long)i, v[k],
                                       (long long)t->n_vertices);
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) continue;
        memcpy(kept + 3 * (*n)++, v, 3 * sizeof *kept);
    }
    return MODAL_OK;
}

static int by_key(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Few numbers are sorted sooner by insertion. */
static void sort_ends(int64_t n, int64_t *ends)
{
    enum { FEW = 64 };
    if (n > FEW) {
        qsort(ends, (size_t)n, sizeof *ends, by_key);
        return;
    }
    for (int64_t i = 1; i < n; i++) {
        const int64_t key = ends[i];
        int64_t k = i;
        for (; k > 0 && ends[k - 1] > key; k--) ends[k] = ends[k - 1];
        ends[k] = key;
    }
}

/* Counts the edges at v to vertices above it, and marks v and them where an edge is open. `ends` [2 m]: the corners of v
 * as the neighbour and whether v's triangle leaves v along the edge (neighbour * 2 + 1) or comes back (neighbour * 2). */
static void count_edges(modal_curvature_topology *t, int64_t v, int64_t m, int64_t *ends)
{
    sort_ends(2 * m, ends);
    for (int64_t i = 0, j; i < 2 * m; i = j) {
        const int64_t other = ends[i] / 2;
        int64_t out = 0;
        for (j = i; j < 2 * m && ends[j] / 2 == other; j++) out += ends[j] % 2;
        const int64_t count = j - i;
        if (count == 1) t->boundary[v] = 1;
        if (other < v) continue;
        t->n_edges++;
        t->n_open_edges += count == 1;
        t->n_shared_edges += count > 2;
        t->n_turned_edges += count == 2 && out != 1;
    }
}

/* Counts of vertices [begin, end) into *t, whose marks of a boundary are those of all. */
static void count_some(modal_curvature_topology *t, int64_t begin, int64_t end, const int64_t *offsets, const int32_t *corners,
                       int64_t *ends)
{
    for (int64_t v = begin; v < end; v++) {
        const int64_t m = offsets[v + 1] - offsets[v];
        const int32_t *c = corners + 2 * offsets[v];
        int64_t fans = 0;
        for (int64_t k = 0; k < m; k++) {
            ends[2 * k] = 2 * (int64_t)c[2 * k] + 1, ends[2 * k + 1] = 2 * (int64_t)c[2 * k + 1];
            fans += k == 0 || c[2 * k] != c[2 * k - 1];
        }
        t->n_unused += m == 0;
        t->n_pinched += fans > 1;
        count_edges(t, v, m, ends);
        t->n_boundary += t->boundary[v];
    }
}

static void add_counts(modal_curvature_topology *t, const modal_curvature_topology *part)
{
    t->n_unused += part->n_unused, t->n_pinched += part->n_pinched, t->n_boundary += part->n_boundary;
    t->n_edges += part->n_edges, t->n_open_edges += part->n_open_edges;
    t->n_shared_edges += part->n_shared_edges, t->n_turned_edges += part->n_turned_edges;
}

static modal_status count_all(modal_curvature_topology *t, const int64_t *offsets, const int32_t *corners,
                              modal_error *err)
{
    enum { PIECE = 4096, MOST_SHARED = 65536 }; /* vertices at a time; a valence for which each thread has room */
    modal_status status = MODAL_OK;
    const int64_t n = t->n_vertices, n_pieces = (n + PIECE - 1) / PIECE;
    int64_t *ends = NULL;
    for (int64_t v = 0; v < n; v++)
        if (offsets[v + 1] - offsets[v] > t->largest_valence) t->largest_valence = offsets[v + 1] - offsets[v];
    const int threads = n_pieces > 1 && t->largest_valence <= MOST_SHARED ? omp_get_max_threads() : 1;
    const int64_t room = 2 * t->largest_valence;
    MODAL_TRY(modal_alloc(&ends, threads * room, sizeof *ends, "edges of a vertex", err));
#pragma omp parallel num_threads(modal_free_threads(threads))
    {
        modal_curvature_topology part = {.boundary = t->boundary};
#pragma omp for schedule(dynamic)
        for (int64_t piece = 0; piece < n_pieces; piece++)
            count_some(&part, piece * PIECE, piece < n_pieces - 1 ? (piece + 1) * PIECE : n, offsets, corners,
                       ends + omp_get_thread_num() * room);
#pragma omp critical
        add_counts(t, &part);
    }
    t->euler = n - t->n_unused - t->n_edges + t->n_triangles - t->n_collapsed;
done:
    modal_free(&ends);
    return status;
}

static double share_scattered(const modal_curvature_topology *t)
{
    enum { FAR = 4096 };
    int64_t n = 0, far = 0;
    for (int64_t tile = 0; tile < modal_tile_count(t->n_vertices); tile++)
        for (int64_t i = t->ring_offsets[tile] * MODAL_TILE; i < t->ring_offsets[tile + 1] * MODAL_TILE; i++) {
            const int64_t v = tile * MODAL_TILE + i % MODAL_TILE, other = t->ring[i] < 0 ? ~t->ring[i] : t->ring[i];
            if (other == v) continue;
            n++;
            far += other - v >= FAR || v - other >= FAR;
        }
    return n > 0 ? (double)far / (double)n : 0.0;
}

modal_status modal_curvature_topology_build(int64_t n_vertices, int64_t n_triangles, const int32_t *triangles,
                                            modal_curvature_topology *topology, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = n_vertices, n_tiles = modal_tile_count(n);
    int64_t kept = 0, *offsets = NULL;
    int32_t *used = NULL, *faces = NULL, *corners = NULL;
    *topology = (modal_curvature_topology){.n_vertices = n, .n_triangles = n_triangles};
    modal_curvature_topology *t = topology;
    if (n_triangles > INT32_MAX / 3 || n > INT32_MAX)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "surface: too large, %lld vertices and %lld triangles", (long long)n,
                   (long long)n_triangles);
    MODAL_TRY(modal_alloc(&used, 3 * n_triangles, sizeof *used, "triangles", err));
    MODAL_TRY(modal_alloc_zero(&t->boundary, n, 1, "boundary", err));
    MODAL_TRY(modal_alloc_zero(&offsets, n + 1, sizeof *offsets, "triangles of vertices", err));
    MODAL_TRY(modal_alloc(&faces, 3 * n_triangles, sizeof *faces, "triangles of vertices", err));
    MODAL_TRY(modal_alloc(&corners, 6 * n_triangles, sizeof *corners, "corners", err));
    MODAL_TRY(modal_alloc(&t->ring_offsets, n_tiles + 1, sizeof *t->ring_offsets, "rings", err));
    MODAL_TRY(keep_triangles(t, triangles, used, &kept, err));
    t->n_collapsed = n_triangles - kept;
    modal_surface_faces(n, kept, used, offsets, faces);
    MODAL_TRY(modal_normals_corners(n, kept, used, offsets, faces, corners, err));
    modal_normals_ring_offsets(n, offsets, corners, t->ring_offsets);
    MODAL_TRY(modal_alloc(&t->ring, t->ring_offsets[n_tiles] * MODAL_TILE, sizeof *t->ring, "rings", err));
    modal_normals_ring(n, offsets, corners, t->ring_offsets, t->ring);
    MODAL_TRY(count_all(t, offsets, corners, err));
    t->scattered = share_scattered(t);
done:
    modal_free(&used);
    modal_free(&offsets);
    modal_free(&faces);
    modal_free(&corners);
    if (status != MODAL_OK) modal_curvature_topology_free(topology);
    return status;
}
