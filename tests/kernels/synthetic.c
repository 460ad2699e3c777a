/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/kernels/synthetic.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"

#define ALLOCATE(pointer, count)                                                                   \
    if (modal_alloc_zero(&(pointer), (count), sizeof *(pointer), #pointer, NULL) != MODAL_OK)      \
    return 0

static double noise(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1.0;
}

/* User index of stored i: a permutation of n, where 19 does not divide n. */
static int32_t permuted(int64_t i, int64_t n)
{
    return (int32_t)(n < 3 ? n - 1 - i : (i * 19 + n / 2) % n);
}

static int grid(modal_shape *s, int64_t width, int64_t height, int32_t r, uint64_t seed)
{
    uint64_t state = seed;
    const int64_t n = width * height;
    s->surface.n_vertices = n;
    s->modes.n_modes = r;
    s->surface.n_triangles = 2 * (width - 1) * (height - 1);
    ALLOCATE(s->surface.rest_positions, 3 * n);
    ALLOCATE(s->surface.triangles, 3 * s->surface.n_triangles);
    ALLOCATE(s->surface.user_vertex, n);
    ALLOCATE(s->surface.user_triangle, s->surface.n_triangles);
    ALLOCATE(s->surface.face_offsets, n + 1);
    ALLOCATE(s->surface.faces, 3 * s->surface.n_triangles);
    s->surface.n_uv = s->surface.n_triangles > 0 ? 2 * n : 0;
    if (s->surface.n_uv > 0) {
        ALLOCATE(s->surface.uv, 2 * s->surface.n_uv);
        ALLOCATE(s->surface.triangle_uv, 3 * s->surface.n_triangles);
    }
    ALLOCATE(s->modes.modal_matrix, modal_tile_count(n) * 96 * r);
    for (int64_t v = 0; v < n; v++) {
        s->surface.user_vertex[v] = permuted(v, n);
        s->surface.rest_positions[3 * v] = (double)(v % width) + 0.2 * noise(&state);
        s->surface.rest_positions[3 * v + 1] = (double)(v / width) + 0.2 * noise(&state);
        s->surface.rest_positions[3 * v + 2] = 0.3 * noise(&state);
        for (int64_t k = 0; k < r; k++)
            for (int i = 0; i < 3; i++)
                s->modes.modal_matrix[((v / 32 * r + k) * 3 + i) * 32 + v % 32] = (float)noise(&state);
    }
    int64_t t = 0;
    for (int64_t i = 0; i + 1 < height; i++)
        for (int64_t j = 0; j + 1 < width; j++) {
            const int32_t v = (int32_t)(i * width + j), w = (int32_t)width;
            const int32_t six[6] = {v, v + 1, v + w, v + 1 + w, v + w, v + 1};
            memcpy(s->surface.triangles + 3 * t, six, sizeof six);
            t += 2;
        }
    /* the upper rows have texture coordinates of their own, mirrored: a seam in the middle */
    for (int64_t v = 0; v < s->surface.n_uv; v++) {
        const double x = (double)(v % n % width), y = (double)(v % n / width);
        s->surface.uv[2 * v] = (v < n ? 0.3 * x : 5.0 - 0.2 * x + 0.1 * y) + 0.05 * noise(&state);
        s->surface.uv[2 * v + 1] = 0.25 * y + 0.05 * noise(&state);
    }
    for (t = 0; t < 3 * s->surface.n_triangles; t++)
        s->surface.triangle_uv[t] = (int32_t)(s->surface.triangles[t] + (t / 3 < s->surface.n_triangles / 2 ? 0 : n));
    for (t = 0; t < s->surface.n_triangles; t++) {
        s->surface.user_triangle[t] = permuted(t, s->surface.n_triangles);
        for (int i = 0; i < 3; i++) s->surface.face_offsets[s->surface.triangles[3 * t + i] + 1]++;
    }
    for (int64_t v = 0; v < n; v++) s->surface.face_offsets[v + 1] += s->surface.face_offsets[v];
    for (t = s->surface.n_triangles - 1; t >= 0; t--) /* from the back: ascending in the end */
        for (int i = 0; i < 3; i++) s->surface.faces[--s->surface.face_offsets[s->surface.triangles[3 * t + i] + 1]] = (int32_t)t;
    /* the offsets of v + 1 are now those of v: move them back */
    for (int64_t v = 0; v < n; v++) s->surface.face_offsets[v] = s->surface.face_offsets[v + 1];
    s->surface.face_offsets[n] = 3 * s->surface.n_triangles;
    return 1;
}

int synthetic_basis(modal_basis *basis, int64_t scale)
{
    static const int32_t shapes[4] = {0, 2, 1, 0};
    memset(basis, 0, sizeof *basis);
    ALLOCATE(basis->shapes, 3);
    basis->n_shapes = 3;
    ALLOCATE(basis->objects, 4);
    basis->n_objects = 4;
    if (!grid(&basis->shapes[0], 7 * scale, 11, 5, 1) || !grid(&basis->shapes[1], 1, 1, 0, 2) ||
        !grid(&basis->shapes[2], 5, 5, 18, 3))
        return 0;
    for (int i = 0; i < 4; i++) {
        basis->objects[i].shape = shapes[i];
        basis->objects[i].parent = -1;
        for (int k = 0; k < 3; k++) {
            basis->objects[i].rest_pose[4 * k + (k + i) % 3] = 1.0; /* turns the axes round */
            basis->objects[i].rest_pose[4 * k + 3] = 10.0 * i + k;
        }
    }
    return 1;
}

void synthetic_motion(const modal_basis *basis, int64_t n_frames, double *q, double *poses)
{
    uint64_t state = 99;
    const int64_t modes = modal_basis_mode_offsets(basis, NULL);
    for (int64_t i = 0; i < n_frames * modes; i++) q[i] = 0.1 * noise(&state);
    for (int64_t i = 0; i < n_frames * basis->n_objects; i++) {
        const double a = 3.0 * noise(&state), c = cos(a), s = sin(a);
        const double pose[12] = {c, -s, 0, noise(&state), s, c, 0, noise(&state),
                                 0, 0, 1, 3.0 * noise(&state)};
        memcpy(poses + 12 * i, pose, sizeof pose);
    }
}

static void normals_of(const modal_shape *s, const double *x, double *normals)
{
    memset(normals, 0, (size_t)s->surface.n_vertices * 3 * sizeof *normals);
    for (int64_t t = 0; t < s->surface.n_triangles; t++) {
        const int32_t *v = s->surface.triangles + 3 * t;
        double a[3], b[3];
        for (int j = 0; j < 3; j++) {
            a[j] = x[3 * v[1] + j] - x[3 * v[0] + j];
            b[j] = x[3 * v[2] + j] - x[3 * v[0] + j];
        }
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                normals[3 * v[i] + j] += a[(j + 1) % 3] * b[(j + 2) % 3] -
                                         a[(j + 2) % 3] * b[(j + 1) % 3];
    }
    for (int64_t v = 0; v < s->surface.n_vertices; v++) {
        double *n = normals + 3 * v, length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int j = 0; j < 3; j++) n[j] = length > 0.0 ? n[j] / length : 0.0;
    }
}

void synthetic_expected(const modal_basis *basis, const double *q, const double *pose,
                        int stored_order, int rigid, double *positions, double *normals,
                        double *displacement, double *tolerance)
{
    int64_t base = 0, first_mode = 0;
    for (int32_t o = 0; o < basis->n_objects; o++) {
        const modal_object *object = &basis->objects[o];
        const modal_shape *s = &basis->shapes[object->shape];
        const double *T = pose ? pose + 12 * o : object->rest_pose;
        const int64_t n = s->surface.n_vertices, r = s->modes.n_modes;
        double *x = calloc((size_t)n * 6 + 1, sizeof *x), *nx = x + 3 * n;
        if (!x) abort();
        for (int64_t v = 0; v < n; v++) {
            double u[3] = {0}, size[3];
            for (int j = 0; j < 3; j++) {
                size[j] = fabs(s->surface.rest_positions[3 * v + j]);
                for (int64_t k = 0; k < r; k++) {
                    const double product =
                        (double)s->modes.modal_matrix[((v / 32 * r + k) * 3 + j) * 32 + v % 32] *
                        q[first_mode + k];
                    u[j] += product;
                    size[j] += fabs(product);
                }
            }
            const int64_t point = base + (stored_order ? v : s->surface.user_vertex[v]);
            for (int i = 0; i < 3; i++) {
                double d = 0.0, bound = fabs(T[4 * i + 3]);
                x[3 * v + i] = T[4 * i + 3];
                for (int j = 0; j < 3; j++) {
                    x[3 * v + i] += T[4 * i + j] * (s->surface.rest_positions[3 * v + j] + u[j]);
                    d += T[4 * i + j] * u[j];
                    bound += fabs(T[4 * i + j]) * size[j];
                }
                positions[3 * point + i] = x[3 * v + i];
                displacement[3 * point + i] = d;
                /* three roundings more: of q, T and the rest position to float32 */
                tolerance[3 * point + i] = bound * ((double)r + 11.0) * FLT_EPSILON / 2;
            }
        }
        normals_of(s, rigid ? s->surface.rest_positions : x, nx);
        for (int64_t v = 0; v < n; v++) {
            const int64_t point = base + (stored_order ? v : s->surface.user_vertex[v]);
            for (int i = 0; i < 3; i++) {
                normals[3 * point + i] = nx[3 * v + i];
                if (rigid)
                    normals[3 * point + i] = T[4 * i] * nx[3 * v] + T[4 * i + 1] * nx[3 * v + 1] +
                                             T[4 * i + 2] * nx[3 * v + 2];
            }
        }
        free(x);
        base += n;
        first_mode += r;
    }
}

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Adds dP/du and dP/dv of each triangle, by Cramer's rule, to its vertices: sums [n, 7], the last
 * one the length of what was added to dP/du. */
static void add_directions(const modal_shape *s, const double *x, double *sums)
{
    for (int64_t t = 0; t < s->surface.n_triangles; t++) {
        const int32_t *v = s->surface.triangles + 3 * t, *w = s->surface.triangle_uv + 3 * t;
        double e[2][3], st[2][2], along[7];
        for (int k = 0; k < 2; k++) {
            for (int j = 0; j < 3; j++) e[k][j] = x[3 * v[k + 1] + j] - x[3 * v[0] + j];
            for (int j = 0; j < 2; j++) st[k][j] = s->surface.uv[2 * w[k + 1] + j] - s->surface.uv[2 * w[0] + j];
        }
        const double area = st[0][0] * st[1][1] - st[0][1] * st[1][0];
        for (int j = 0; j < 3; j++) {
            along[j] = (st[1][1] * e[0][j] - st[0][1] * e[1][j]) / area;
            along[3 + j] = (st[0][0] * e[1][j] - st[1][0] * e[0][j]) / area;
        }
        along[6] = (fabs(st[1][1]) * sqrt(dot(e[0], e[0])) + fabs(st[0][1]) * sqrt(dot(e[1], e[1]))) /
                   fabs(area);
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < 7; j++) sums[7 * v[k] + j] += along[j];
    }
}

void synthetic_tangents(const modal_basis *basis, const double *q, const double *pose,
                        int stored_order, double *tangents, double *tolerance)
{
    int64_t points = 0, base = 0;
    for (int32_t o = 0; o < basis->n_objects; o++)
        points += basis->shapes[basis->objects[o].shape].surface.n_vertices;
    double *zeros = calloc((size_t)modal_basis_mode_offsets(basis, NULL) + 1, sizeof *zeros);
    double *x = calloc((size_t)points * 19 + 1, sizeof *x), *n = x + 3 * points;
    double *sums = n + 3 * points, *rest = sums + 7 * points;
    if (!zeros || !x) abort();
    synthetic_expected(basis, q ? q : zeros, pose, 1, 0, x, n, rest, rest + 3 * points);
    for (int32_t o = 0; o < basis->n_objects; o++) {
        const modal_shape *s = &basis->shapes[basis->objects[o].shape];
        add_directions(s, x + 3 * base, sums + 7 * base);
        for (int64_t v = 0; v < s->surface.n_vertices; v++) {
            const double *normal = n + 3 * (base + v);
            double *sum = sums + 7 * (base + v), across[3];
            const int64_t point = base + (stored_order ? v : s->surface.user_vertex[v]);
            const double along = dot(normal, sum);
            for (int j = 0; j < 3; j++)
                across[j] = normal[(j + 1) % 3] * sum[(j + 2) % 3] - normal[(j + 2) % 3] * sum[(j + 1) % 3];
            const double side = dot(across, sum + 3);
            for (int j = 0; j < 3; j++) sum[j] -= normal[j] * along;
            const double length = sqrt(dot(sum, sum));
            for (int j = 0; j < 3; j++)
                tangents[4 * point + j] = length > 0.0 ? sum[j] / length : 0.0;
            const double sure = 0.02 * sqrt(dot(across, across) * dot(sum + 3, sum + 3));
            tangents[4 * point + 3] = fabs(side) <= sure ? 0.0 : side < 0.0 ? -1.0 : 1.0;
            tolerance[point] = length > 0.0 ? 2e-4 * (1.0 + sum[6] / length) : 0.0;
        }
        base += s->surface.n_vertices;
    }
    free(zeros);
    free(x);
}
