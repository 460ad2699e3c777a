/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/torus.h"

#include <math.h>
#include <string.h>

#include "kernels/normals_dynamic/normals_dynamic.h"
#include "lib/base/memory.h"
#include "tests/bench/noise.h"

/* A random permutation (Fisher and Yates), or the identity. */
static modal_status permutation(int32_t **order, int64_t n, int shuffled, uint64_t seed,
                                modal_error *err)
{
    const modal_status status = modal_alloc(order, n, sizeof **order, "order", err);
    if (status != MODAL_OK) return status;
    for (int64_t i = 0; i < n; i++) (*order)[i] = (int32_t)i;
    for (int64_t i = n - 1; shuffled && i > 0; i--) {
        const double share = 0.5 + 0.5 * (double)bench_noise(seed, (uint64_t)i);
        int64_t j = (int64_t)(share * (double)(i + 1));
        if (j > i) j = i;
        const int32_t swap = (*order)[i];
        (*order)[i] = (*order)[j];
        (*order)[j] = swap;
    }
    return MODAL_OK;
}

modal_status torus_new(torus **made, int64_t width, int shuffled, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *vertex = NULL, *triangle = NULL;
    const int64_t n = width * width;
    const double turn = 6.283185307179586 / (double)width;
    *made = NULL;
    MODAL_TRY(modal_alloc_zero(made, 1, sizeof **made, "torus", err));
    torus *t = *made;
    t->n_vertices = n;
    t->n_triangles = 2 * n;
    MODAL_TRY(modal_alloc(&t->positions, 3 * n, sizeof(float), "torus", err));
    MODAL_TRY(modal_alloc(&t->triangles, 6 * n, sizeof(int32_t), "torus", err));
    MODAL_TRY(modal_alloc_zero(&t->face_offsets, n + 2, sizeof(int64_t), "torus", err));
    MODAL_TRY(modal_alloc(&t->face_starts, n + 1, sizeof(int32_t), "torus", err));
    MODAL_TRY(modal_alloc(&t->faces, 6 * n, sizeof(int32_t), "torus", err));
    MODAL_TRY(modal_alloc(&t->corners, 12 * n, sizeof(int32_t), "torus", err));
    MODAL_TRY(permutation(&vertex, n, shuffled, 31, err));
    MODAL_TRY(permutation(&triangle, 2 * n, shuffled, 32, err));
    for (int64_t i = 0; i < width; i++)
        for (int64_t j = 0; j < width; j++) {
            const double a = turn * (double)i, c = turn * (double)j, ring = 1.0 + 0.4 * cos(c);
            float *x = t->positions + 3 * (int64_t)vertex[i * width + j];
            x[0] = (float)(ring * cos(a));
            x[1] = (float)(ring * sin(a));
            x[2] = (float)(0.4 * sin(c));
            const int64_t i1 = (i + 1) % width, j1 = (j + 1) % width;
            const int32_t v = vertex[i * width + j], right = vertex[i * width + j1];
            const int32_t up = vertex[i1 * width + j], across = vertex[i1 * width + j1];
            const int32_t two[2][3] = {{v, up, right}, {across, right, up}};
            for (int k = 0; k < 2; k++)
                memcpy(t->triangles + 3 * (int64_t)triangle[2 * (i * width + j) + k], two[k], sizeof two[k]);
        }
    for (int64_t k = 0; k < 6 * n; k++) t->face_offsets[t->triangles[k] + 2]++;
    for (int64_t v = 0; v < n; v++) t->face_offsets[v + 2] += t->face_offsets[v + 1];
    /* offsets of v stand at v + 1 now, and move on to their end while v's faces are filled in */
    for (int64_t k = 0; k < 6 * n; k++) t->faces[t->face_offsets[t->triangles[k] + 1]++] = (int32_t)(k / 3);
    for (int64_t v = 0; v <= n; v++) t->face_starts[v] = (int32_t)t->face_offsets[v];
    MODAL_TRY(modal_normals_corners(n, 2 * n, t->triangles, t->face_offsets, t->faces, t->corners, err));
    MODAL_TRY(modal_alloc(&t->ring_offsets, (n + 31) / 32 + 1, sizeof(int64_t), "torus", err));
    modal_normals_ring_offsets(n, t->face_offsets, t->corners, t->ring_offsets);
    t->n_rows = t->ring_offsets[(n + 31) / 32];
    MODAL_TRY(modal_alloc(&t->ring, t->n_rows * 32, sizeof(int32_t), "torus", err));
    modal_normals_ring(n, t->face_offsets, t->corners, t->ring_offsets, t->ring);
done:
    modal_free(&vertex);
    modal_free(&triangle);
    if (status != MODAL_OK) *made = torus_delete(*made);
    return status;
}

torus *torus_delete(torus *t)
{
    if (!t) return NULL;
    modal_free(&t->positions);
    modal_free(&t->triangles);
    modal_free(&t->face_offsets);
    modal_free(&t->face_starts);
    modal_free(&t->faces);
    modal_free(&t->corners);
    modal_free(&t->ring_offsets);
    modal_free(&t->ring);
    modal_free(&t);
    return NULL;
}

modal_status torus_basis(modal_basis *basis, const torus *t, int32_t n_modes, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = t->n_vertices, floats = modal_tile_count(n) * 96 * n_modes;
    memset(basis, 0, sizeof *basis);
    MODAL_TRY(modal_alloc_zero(&basis->shapes, 1, sizeof *basis->shapes, "basis", err));
    basis->n_shapes = 1;
    MODAL_TRY(modal_alloc_zero(&basis->objects, 1, sizeof *basis->objects, "basis", err));
    basis->n_objects = 1;
    basis->objects[0].parent = -1;
    for (int i = 0; i < 3; i++) basis->objects[0].rest_pose[5 * i] = 1.0;
    modal_shape *s = basis->shapes;
    s->surface.n_vertices = n;
    s->surface.n_triangles = t->n_triangles;
    s->modes.n_modes = n_modes;
    MODAL_TRY(modal_alloc(&s->surface.rest_positions, 3 * n, sizeof(double), "basis", err));
    MODAL_TRY(modal_alloc(&s->surface.triangles, 3 * s->surface.n_triangles, sizeof(int32_t), "basis", err));
    MODAL_TRY(modal_alloc(&s->surface.user_vertex, n, sizeof(int32_t), "basis", err));
    MODAL_TRY(modal_alloc(&s->surface.user_triangle, s->surface.n_triangles, sizeof(int32_t), "basis", err));
    MODAL_TRY(modal_alloc(&s->surface.face_offsets, n + 1, sizeof(int64_t), "basis", err));
    MODAL_TRY(modal_alloc(&s->surface.faces, 3 * s->surface.n_triangles, sizeof(int32_t), "basis", err));
    MODAL_TRY(bench_random(&s->modes.modal_matrix, floats, 41, err));
    for (int64_t i = 0; i < 3 * n; i++) s->surface.rest_positions[i] = (double)t->positions[i];
    memcpy(s->surface.triangles, t->triangles, (size_t)s->surface.n_triangles * 12);
    memcpy(s->surface.face_offsets, t->face_offsets, (size_t)(n + 1) * 8);
    memcpy(s->surface.faces, t->faces, (size_t)s->surface.n_triangles * 12);
    for (int64_t v = 0; v < n; v++) s->surface.user_vertex[v] = (int32_t)v;
    for (int64_t i = 0; i < s->surface.n_triangles; i++) s->surface.user_triangle[i] = (int32_t)i;
    for (int64_t i = 0; i < floats; i++) s->modes.modal_matrix[i] *= 1e-5f;
    strcpy(basis->hash, "00000000000000000000000000000000");
done:
    if (status != MODAL_OK) modal_basis_free(basis);
    return status;
}
