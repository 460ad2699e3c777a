/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/curvature_tensor/curvature_tensor.h"

#include <math.h>

#include "kernels/curvature_tensor/curvature_ref.h"
#include "lib/base/tile.h"

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* ---- frames ---- */

void modal_curvature_frame_exact(const double normal[3], double p[3], double q[3])
{
    const double x = normal[0], y = normal[1], z = normal[2], s = copysign(1.0, z), t = -1.0 / (s + z);
    p[0] = 1.0 + s * x * x * t, p[1] = s * x * y * t, p[2] = -s * x;
    q[0] = x * y * t, q[1] = s + y * y * t, q[2] = -y;
}

int modal_curvature_turn_exact(const double from[3], const double to[3], double turn[2])
{
    double p[3], q[3], P[3], Q[3], axis[3], along[3], across[3], turned[3];
    const double c = dot(from, to);
    if (!(1.0 + c > 1e-6)) return 0;
    modal_curvature_frame_exact(from, p, q);
    modal_curvature_frame_exact(to, P, Q);
    /* R p = p + w x p + w x (w x p) / (1 + c), w = from x to; R q follows, since the bases are right-handed */
    cross(from, to, axis);
    cross(axis, p, along);
    cross(axis, along, across);
    for (int i = 0; i < 3; i++) turned[i] = p[i] + along[i] + across[i] / (1.0 + c);
    turn[0] = dot(turned, P), turn[1] = dot(turned, Q);
    return 1;
}

void modal_curvature_turned_exact(const double turn[2], const double in[3], double out[3])
{
    const double a = in[0], b = in[1], c = in[2], u = turn[0], v = turn[1];
    out[0] = a * u * u - 2.0 * b * u * v + c * v * v;
    out[1] = (a - c) * u * v + b * (u * u - v * v);
    out[2] = a * v * v + 2.0 * b * u * v + c * u * u;
}

void modal_curvature_diagonal_exact(const double normal[3], const double tensor[3], double k[2], double direction[3])
{
    double p[3], q[3];
    const double mean = (tensor[0] + tensor[2]) / 2.0, half = (tensor[0] - tensor[2]) / 2.0, b = tensor[1];
    const double radius = sqrt(half * half + b * b);
    double x = half >= 0.0 ? radius + half : b, y = half >= 0.0 ? b : radius - half;
    const double length = sqrt(x * x + y * y);
    k[0] = mean + radius, k[1] = mean - radius;
    x = length > 0.0 ? x / length : 1.0, y = length > 0.0 ? y / length : 0.0;
    modal_curvature_frame_exact(normal, p, q);
    const double there = dot(normal, normal) > 0.0 ? 1.0 : 0.0;
    for (int i = 0; i < 3; i++) direction[i] = there * (x * p[i] + y * q[i]);
}

/* ---- outputs ---- */

void modal_curvature_give_exact(int64_t n_vertices, int64_t column, const double *normals, const double *tensors,
                                const double *areas, const modal_curvature_output *output)
{
    const int64_t first = column * n_vertices;
    for (int64_t v = 0; v < n_vertices; v++) {
        const double *t = tensors + 3 * v;
        double k[2], major[3], minor[3];
        modal_curvature_diagonal_exact(normals + 3 * v, t, k, major);
        cross(normals + 3 * v, major, minor);
        for (int i = 0; i < 3; i++) {
            if (output->tensors) output->tensors[3 * (first + v) + i] = (float)t[i];
            if (output->direction_max) output->direction_max[3 * (first + v) + i] = (float)major[i];
            if (output->direction_min) output->direction_min[3 * (first + v) + i] = (float)minor[i];
        }
        if (output->areas && areas) output->areas[first + v] = (float)areas[v];
        if (output->k_max) output->k_max[first + v] = (float)k[0];
        if (output->k_min) output->k_min[first + v] = (float)k[1];
        if (output->mean) output->mean[first + v] = (float)((t[0] + t[2]) / 2.0);
        if (output->gauss) output->gauss[first + v] = (float)(t[0] * t[2] - t[1] * t[1]);
    }
}

/* ---- one triangle ---- */

int modal_curvature_triangle_exact(const double v[3], const double a[3], const double b[3], const double n[3],
                                   double face_normal[3], double *share)
{
    double e[3], f[3];
    for (int i = 0; i < 3; i++) e[i] = a[i] - v[i], f[i] = b[i] - v[i];
    const double ee = dot(e, e), ff = dot(f, f), ef = dot(e, f);
    cross(e, f, face_normal);
    const double doubled = sqrt(dot(face_normal, face_normal));
    if (!(doubled > 1e-6 * (ee + ff - ef))) return 0;
    for (int i = 0; i < 3; i++) face_normal[i] /= doubled;
    if (!(1.0 + dot(face_normal, n) > 1e-6)) return 0;
    /* squared lengths of the edges opposite to v, a, b */
    const double l[3] = {ee + ff - 2.0 * ef, ff, ee}, area = doubled / 2.0;
    double w[3];
    for (int i = 0; i < 3; i++) w[i] = l[i] * (l[(i + 1) % 3] + l[(i + 2) % 3] - l[i]);
    /* e_i . e_k of two edges, as directed around: minus the product of the edges from their common corner */
    const double at_a = ee - ef, at_b = ff - ef;
    if (w[0] <= 0.0)
        *share = area - area * l[2] / (4.0 * at_a) - area * l[1] / (4.0 * at_b);
    else if (w[1] <= 0.0)
        *share = area * l[2] / (4.0 * ef);
    else if (w[2] <= 0.0)
        *share = area * l[1] / (4.0 * ef);
    else
        *share = area * (w[1] + w[2]) / (2.0 * (w[0] + w[1] + w[2]));
    return 1;
}

/* Least squares over the edges of the triangle: its tensor in the frame of its normal. */
static void face_tensor(const double *const x[3], const double *const normal[3], const double face_normal[3],
                        double tensor[3])
{
    double p[3], q[3], uu = 0.0, uv = 0.0, vv = 0.0, r[3] = {0.0, 0.0, 0.0};
    modal_curvature_frame_exact(face_normal, p, q);
    for (int k = 0; k < 3; k++) {
        double edge[3], change[3];
        for (int i = 0; i < 3; i++) {
            edge[i] = x[(k + 1) % 3][i] - x[k][i];
            change[i] = normal[(k + 1) % 3][i] - normal[k][i];
        }
        const double u = dot(edge, p), v = dot(edge, q), du = dot(change, p), dv = dot(change, q);
        uu += u * u, uv += u * v, vv += v * v;
        r[0] += u * du, r[1] += v * du + u * dv, r[2] += v * dv;
    }
    /* [uu uv 0; uv uu + vv uv; 0 uv vv] (a b c) = r */
    tensor[1] = (r[1] - uv / uu * r[0] - uv / vv * r[2]) / (uu + vv - uv * uv / uu - uv * uv / vv);
    tensor[0] = (r[0] - uv * tensor[1]) / uu;
    tensor[2] = (r[2] - uv * tensor[1]) / vv;
}

void modal_curvature_tensor_exact(int64_t n_vertices, const int64_t *ring_offsets, const int32_t *ring,
                                  const double *positions, const double *normals, double *tensors, double *areas)
{
    for (int64_t v = 0; v < n_vertices; v++) {
        const int64_t tile = v / MODAL_TILE;
        const double *own = positions + 3 * v, *n = normals + 3 * v;
        double sum[3] = {0.0, 0.0, 0.0}, weight = 0.0;
        int64_t before = v;
        for (int64_t row = ring_offsets[tile]; row < ring_offsets[tile + 1]; row++) {
            const int32_t entry = ring[row * MODAL_TILE + v % MODAL_TILE];
            const int64_t other = entry < 0 ? ~entry : entry;
            double face_normal[3], share, turn[2], turned[3];
            if (entry >= 0 && dot(n, n) > 0.0 &&
                modal_curvature_triangle_exact(own, positions + 3 * before, positions + 3 * other, n, face_normal,
                                               &share)) {
                const double *const x[3] = {own, positions + 3 * before, positions + 3 * other};
                const double *const y[3] = {n, normals + 3 * before, normals + 3 * other};
                face_tensor(x, y, face_normal, turned);
                if (modal_curvature_turn_exact(face_normal, n, turn)) { /* it was asked above */
                    modal_curvature_turned_exact(turn, turned, turned);
                    for (int i = 0; i < 3; i++) sum[i] += share * turned[i];
                    weight += share;
                }
            }
            before = other;
        }
        areas[v] = weight;
        for (int i = 0; i < 3; i++) tensors[3 * v + i] = weight > 0.0 ? sum[i] / weight : 0.0;
    }
}

modal_status modal_curvature_tensor_ref(const modal_curvature_tensor_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream;
    modal_status status = MODAL_OK;
    const modal_curvature_surface *s = &task->surface;
    modal_curvature_columns columns = {0};
    MODAL_TRY(modal_curvature_columns_new(&columns, s->n_vertices, err));
    for (int64_t c = 0; c < s->n_columns; c++) {
        modal_curvature_columns_read(&columns, c, s->positions, s->normals);
        modal_curvature_tensor_exact(s->n_vertices, s->ring_offsets, s->ring, columns.positions, columns.normals,
                                     columns.tensors, columns.areas);
        modal_curvature_give_exact(s->n_vertices, c, columns.normals, columns.tensors, columns.areas, &task->output);
    }
done:
    modal_curvature_columns_free(&columns);
    return status;
}

/* ---- a column in double precision ---- */

modal_status modal_curvature_columns_new(modal_curvature_columns *columns, int64_t n_vertices, modal_error *err)
{
    modal_status status = MODAL_OK;
    *columns = (modal_curvature_columns){.n_vertices = n_vertices};
    MODAL_TRY(modal_alloc(&columns->positions, 3 * n_vertices, sizeof(double), "positions", err));
    MODAL_TRY(modal_alloc(&columns->normals, 3 * n_vertices, sizeof(double), "normals", err));
    MODAL_TRY(modal_alloc(&columns->tensors, 3 * n_vertices, sizeof(double), "tensors", err));
    MODAL_TRY(modal_alloc(&columns->areas, n_vertices, sizeof(double), "areas", err));
done:
    return status;
}

void modal_curvature_columns_read(modal_curvature_columns *columns, int64_t column, const float *positions,
                                  const float *normals)
{
    const int64_t count = 3 * columns->n_vertices;
    for (int64_t i = 0; i < count; i++) {
        columns->positions[i] = (double)positions[column * count + i];
        columns->normals[i] = (double)normals[column * count + i];
    }
}

void modal_curvature_columns_free(modal_curvature_columns *columns)
{
    modal_free(&columns->positions);
    modal_free(&columns->normals);
    modal_free(&columns->tensors);
    modal_free(&columns->areas);
}
