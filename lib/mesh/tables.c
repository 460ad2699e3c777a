/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/tables.h"

#include <string.h>

#include "lib/base/memory.h"

static modal_status check_triangles(int64_t n, int64_t n_triangles, const int32_t *triangles,
                                    modal_error *err)
{
    if (n < 0 || n > INT32_MAX || n_triangles < 0 || n_triangles > INT32_MAX)
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "surface of %lld vertices and %lld triangles: more than %d",
                               (long long)n, (long long)n_triangles, INT32_MAX);
    for (int64_t t = 0; t < n_triangles; t++) {
        const int32_t *v = triangles + 3 * t;
        for (int k = 0; k < 3; k++)
            if (v[k] < 0 || v[k] >= n)
                return modal_error_set(err, MODAL_ERROR_INPUT,
                                       "triangle %lld: no vertex of index %d among %lld",
                                       (long long)t, v[k], (long long)n);
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0])
            return modal_error_set(err, MODAL_ERROR_INPUT, "triangle %lld: vertex %d twice",
                                   (long long)t, v[0] == v[1] ? v[0] : v[2]);
    }
    return MODAL_OK;
}

/* face_offsets[v + 1] is where row v continues; when all rows are full it is the end of row v. */
void modal_surface_faces(int64_t n, int64_t n_triangles, const int32_t *triangles, int64_t *face_offsets, int32_t *faces)
{
    int64_t *next = face_offsets + 1, start = 0;
    for (int64_t i = 0; i < 3 * n_triangles; i++) next[triangles[i]]++;
    for (int64_t v = 0; v < n; v++) {
        int64_t count = next[v];
        next[v] = start;
        start += count;
    }
    for (int64_t i = 0; i < 3 * n_triangles; i++)
        faces[next[triangles[i]]++] = (int32_t)(i / 3);
}

/* Row v, of twice as many entries as the vertex has triangles, gets each neighbour once for each
 * triangle that both belong to. The neighbours w are the outer loop and ascend, so that each row
 * comes out sorted without a sort. */
static void fill_neighbours(int64_t n, const int32_t *triangles, const modal_surface_tables *tables,
                            int64_t *next, int32_t *neighbours)
{
    for (int64_t v = 0; v < n; v++) next[v] = 2 * tables->face_offsets[v];
    for (int64_t w = 0; w < n; w++)
        for (int64_t i = tables->face_offsets[w]; i < tables->face_offsets[w + 1]; i++)
            for (int k = 0; k < 3; k++) {
                int32_t v = triangles[3 * (int64_t)tables->faces[i] + k];
                if (v != w) neighbours[next[v]++] = (int32_t)w;
            }
}

/* Keeps each neighbour once, in place; returns the entries that remain. */
static int64_t compact_ring(int64_t n, int32_t *neighbours, modal_surface_tables *tables)
{
    int64_t kept = 0;
    for (int64_t v = 0; v < n; v++) {
        int64_t end = 2 * tables->face_offsets[v + 1], count;
        for (int64_t i = 2 * tables->face_offsets[v]; i < end; i += count) {
            int32_t neighbour = neighbours[i];
            for (count = 1; i + count < end && neighbours[i + count] == neighbour;) count++;
            if (count == 1) tables->boundary[v] = 1;
            neighbours[kept++] = neighbour;
        }
        tables->ring_offsets[v + 1] = kept;
    }
    return kept;
}

modal_status modal_surface_tables_build(int64_t n, int64_t n_triangles, const int32_t *triangles,
                                        modal_surface_tables *tables, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_tables built = {0};
    int64_t *next = NULL;
    int32_t *neighbours = NULL;
    memset(tables, 0, sizeof *tables);
    MODAL_TRY(check_triangles(n, n_triangles, triangles, err));
    MODAL_TRY(modal_alloc_zero(&built.face_offsets, n + 1, sizeof(int64_t), "face offsets", err));
    MODAL_TRY(modal_alloc(&built.faces, 3 * n_triangles, sizeof(int32_t), "faces", err));
    MODAL_TRY(modal_alloc_zero(&built.ring_offsets, n + 1, sizeof(int64_t), "ring offsets", err));
    MODAL_TRY(modal_alloc_zero(&built.boundary, n, 1, "boundary flags", err));
    MODAL_TRY(modal_alloc(&next, n, sizeof *next, "ring places", err));
    MODAL_TRY(modal_alloc(&neighbours, 6 * n_triangles, sizeof *neighbours, "neighbours", err));
    modal_surface_faces(n, n_triangles, triangles, built.face_offsets, built.faces);
    fill_neighbours(n, triangles, &built, next, neighbours);
    int64_t n_ring = compact_ring(n, neighbours, &built);
    MODAL_TRY(modal_alloc(&built.ring, n_ring, sizeof(int32_t), "one-rings", err));
    memcpy(built.ring, neighbours, (size_t)n_ring * sizeof(int32_t));
    *tables = built;
    memset(&built, 0, sizeof built);
done:
    modal_surface_tables_free(&built);
    modal_free(&next);
    modal_free(&neighbours);
    return status;
}

void modal_surface_tables_free(modal_surface_tables *tables)
{
    modal_free(&tables->face_offsets);
    modal_free(&tables->faces);
    modal_free(&tables->ring_offsets);
    modal_free(&tables->ring);
    modal_free(&tables->boundary);
    memset(tables, 0, sizeof *tables);
}
