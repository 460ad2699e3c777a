/* SPDX-License-Identifier: Apache-2.0 */
/* Normals of an object as those of an image: in the frame of tangent, bitangent and normal (J. Blinn, Simulation of Wrinkled Surfaces, 1978). */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/mesh/tetrahedron.h"
#include "lib/octree/atlas.h"

/* Unit normals of vertices at rest, weighted by area: those that the deformer makes. */
static modal_status make_vertex_normals(const modal_surface_mesh *s, double **normals, modal_error *err)
{
    const modal_status status = modal_alloc_zero(normals, 3 * s->n_vertices, sizeof **normals, "normals", err);
    for (int64_t t = 0; status == MODAL_OK && t < s->n_triangles; t++) {
        const int32_t *v = s->triangles + 3 * t;
        double a[3], b[3];
        for (int k = 0; k < 3; k++) {
            const double p = s->positions[3 * (int64_t)v[0] + k];
            a[k] = s->positions[3 * (int64_t)v[1] + k] - p, b[k] = s->positions[3 * (int64_t)v[2] + k] - p;
        }
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < 3; j++) (*normals)[3 * (int64_t)v[j] + k] += a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    }
    return status;
}

static int make_unit(double v[3])
{
    const double length = sqrt(modal_dot(v, v));
    for (int k = 0; k < 3 && length > 0; k++) v[k] /= length;
    return length > 0;
}

/* Rows: tangent of growing u, bitangent of growing v, normal, at a texel of the triangle. 0: there is none. */
static int frame_at(const modal_atlas_request *r, const double *normals, int32_t triangle, int64_t x, int64_t y, double frame[3][3])
{
    const modal_surface_mesh *s = r->surface;
    const int32_t *v = s->triangles + 3 * (int64_t)triangle;
    modal_bake_triangle texels;
    modal_bake_place at = {0};
    double uv[6], e[2][3];
    float texel_uv[6];
    for (int k = 0; k < 3; k++) {
        memcpy(uv + 2 * k, s->uv + 2 * (int64_t)s->triangle_uv[3 * (int64_t)triangle + k], 2 * sizeof *uv);
        texel_uv[2 * k] = (float)(uv[2 * k] * r->width), texel_uv[2 * k + 1] = (float)(uv[2 * k + 1] * r->height);
    }
    modal_bake_start(texel_uv, sqrt(2), r->width, r->height, &texels);
    if (!modal_bake_find(&texels, x, y, (double)sqrtf(2), &at)) return 0;
    const double u1 = uv[2] - uv[0], v1 = uv[3] - uv[1], u2 = uv[4] - uv[0], v2 = uv[5] - uv[1], side = u1 * v2 - u2 * v1 < 0 ? -1 : 1;
    double *tangent = frame[0], *bitangent = frame[1], *normal = frame[2];
    const double weights[3] = {1 - at.weights[0] - at.weights[1], at.weights[0], at.weights[1]};
    for (int k = 0; k < 3; k++) {
        normal[k] = 0;
        for (int j = 0; j < 3; j++) normal[k] += weights[j] * normals[3 * (int64_t)v[j] + k];
        for (int j = 0; j < 2; j++) e[j][k] = s->positions[3 * (int64_t)v[j + 1] + k] - s->positions[3 * (int64_t)v[0] + k];
        tangent[k] = side * (e[0][k] * v2 - e[1][k] * v1);
    }
    if (!make_unit(normal)) return 0;
    const double along = modal_dot(tangent, normal);
    for (int k = 0; k < 3; k++) tangent[k] -= along * normal[k];
    if (!make_unit(tangent)) return 0;
    for (int k = 0; k < 3; k++) bitangent[k] = side * (normal[(k + 1) % 3] * tangent[(k + 2) % 3] - normal[(k + 2) % 3] * tangent[(k + 1) % 3]);
    return 1;
}

modal_status modal_atlas_to_tangents(const modal_atlas_request *r, modal_atlas *a, int64_t *n_behind, modal_error *err)
{
    double *normals = NULL;
    int64_t behind = 0;
    modal_status status = make_vertex_normals(r->surface, &normals, err);
    for (int64_t i = 0; status == MODAL_OK && i < 3 * r->surface->n_vertices; i += 3) make_unit(normals + i);
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static) reduction(+ : behind)
    for (int64_t i = 0; i < (status == MODAL_OK ? (int64_t)a->width * a->height : 0); i++) {
        double frame[3][3], n[3], turned[3] = {0, 0, 1};
        if (a->triangles[i] < 0) continue;
        for (int c = 0; c < 3; c++) n[c] = a->numbers ? (double)a->numbers[3 * i + c] : ((double)(a->texels[i] >> 8 * c & 255) - 128) / 127;
        if (make_unit(n) && frame_at(r, normals, a->triangles[i], i % a->width, i / a->width, frame)) {
            for (int c = 0; c < 3; c++) turned[c] = modal_dot(n, frame[c]);
            behind += !(turned[2] > 0);
        }
        uint32_t texel = 255u << 24;
        for (int c = 0; c < 3; c++) {
            texel |= (uint32_t)fmin(255, fmax(0, floor(128.5 + 127 * turned[c]))) << 8 * c;
            if (a->numbers) a->numbers[3 * i + c] = (float)turned[c];
        }
        a->texels[i] = texel;
    }
    *n_behind = behind;
    modal_free(&normals);
    return status;
}
