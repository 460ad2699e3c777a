/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/curvature_derivative/curvature_derivative.h"

#include <math.h>
#include <string.h>

#include "kernels/curvature_tensor/curvature_ref.h"
#include "lib/base/tile.h"

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Solves a symmetric positive definite 4 x 4 system by L D L^T; the solution replaces r. */
static void solve_4(double m[4][4], double r[4])
{
    for (int j = 0; j < 4; j++)
        for (int i = j + 1; i < 4; i++) {
            const double factor = m[i][j] / m[j][j];
            for (int k = j; k < 4; k++) m[i][k] -= factor * m[j][k];
            r[i] -= factor * r[j];
        }
    for (int j = 3; j >= 0; j--) {
        for (int k = j + 1; k < 4; k++) r[j] -= m[j][k] * r[k];
        r[j] /= m[j][j];
    }
}

/* D on the basis e_1 = (u, v), e_2 = (-v, u). */
static void turn_derivative(double u, double v, const double in[4], double out[4])
{
    const double basis[2][2] = {{u, v}, {-v, u}}; /* [vector][component] */
    const int which[4][3] = {{0, 0, 0}, {0, 0, 1}, {0, 1, 1}, {1, 1, 1}};
    for (int m = 0; m < 4; m++) {
        out[m] = 0.0;
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++)
                for (int k = 0; k < 2; k++)
                    out[m] += in[i + j + k] * basis[which[m][0]][i] * basis[which[m][1]][j] * basis[which[m][2]][k];
    }
}

/* The derivative on a triangle in the frame of its normal; 0 where it contributes nothing. */
static int face_derivative(const int64_t corner[3], const double *positions, const double *normals,
                           const double *tensors, const double face_normal[3], double derivative[4])
{
    double p[3], q[3], flat[3][3], m[4][4] = {{0.0}};
    memset(derivative, 0, 4 * sizeof *derivative);
    modal_curvature_frame_exact(face_normal, p, q);
    for (int k = 0; k < 3; k++) {
        double turn[2];
        if (!modal_curvature_turn_exact(normals + 3 * corner[k], face_normal, turn)) return 0;
        modal_curvature_turned_exact(turn, tensors + 3 * corner[k], flat[k]);
    }
    for (int k = 0; k < 3; k++) {
        const int next = (k + 1) % 3;
        double edge[3], change[3];
        for (int i = 0; i < 3; i++) {
            edge[i] = positions[3 * corner[next] + i] - positions[3 * corner[k] + i];
            change[i] = flat[next][i] - flat[k][i];
        }
        const double u = dot(edge, p), v = dot(edge, q);
        /* u a + v b = dA; u b + v c = dB, twice; u c + v d = dC */
        m[0][0] += u * u, m[0][1] += u * v;
        m[1][1] += v * v + 2.0 * u * u, m[1][2] += 2.0 * u * v;
        m[2][2] += 2.0 * v * v + u * u, m[2][3] += u * v;
        m[3][3] += v * v;
        derivative[0] += u * change[0];
        derivative[1] += v * change[0] + 2.0 * u * change[1];
        derivative[2] += 2.0 * v * change[1] + u * change[2];
        derivative[3] += v * change[2];
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++) m[i][j] = m[j][i];
    solve_4(m, derivative);
    return 1;
}

void modal_curvature_derivative_exact(int64_t n_vertices, const int64_t *ring_offsets, const int32_t *ring,
                                      const double *positions, const double *normals, const double *tensors,
                                      double *derivatives)
{
    for (int64_t v = 0; v < n_vertices; v++) {
        const int64_t tile = v / MODAL_TILE;
        const double *n = normals + 3 * v;
        double sum[4] = {0.0, 0.0, 0.0, 0.0}, weight = 0.0, k[2], direction[3], p[3], q[3];
        int64_t before = v;
        for (int64_t row = ring_offsets[tile]; row < ring_offsets[tile + 1]; row++) {
            const int32_t entry = ring[row * MODAL_TILE + v % MODAL_TILE];
            const int64_t corner[3] = {v, before, entry < 0 ? ~entry : entry};
            double face_normal[3], share, flat[4], turn[2], turned[4];
            before = corner[2];
            if (entry < 0 ||
                !modal_curvature_triangle_exact(positions + 3 * v, positions + 3 * corner[1],
                                                positions + 3 * corner[2], n, face_normal, &share) ||
                !modal_curvature_turn_exact(face_normal, n, turn) ||
                !face_derivative(corner, positions, normals, tensors, face_normal, flat))
                continue;
            /* the vertex's P is (u, -v) on the triangle's turned basis */
            turn_derivative(turn[0], -turn[1], flat, turned);
            for (int i = 0; i < 4; i++) sum[i] += share * turned[i];
            weight += share;
        }
        double *out = derivatives + 4 * v;
        memset(out, 0, 4 * sizeof *out);
        if (!(weight > 0.0) || dot(n, n) == 0.0) continue;
        for (int i = 0; i < 4; i++) sum[i] /= weight;
        modal_curvature_diagonal_exact(n, tensors + 3 * v, k, direction);
        modal_curvature_frame_exact(n, p, q);
        turn_derivative(dot(direction, p), dot(direction, q), sum, out);
    }
}

modal_status modal_curvature_derivative_ref(const modal_curvature_derivative_task *task, modal_stream *stream,
                                            modal_error *err)
{
    (void)stream;
    modal_status status = MODAL_OK;
    const modal_curvature_surface *s = &task->surface;
    const int64_t n = s->n_vertices;
    double *derivatives = NULL;
    modal_curvature_columns columns = {0};
    MODAL_TRY(modal_curvature_columns_new(&columns, n, err));
    MODAL_TRY(modal_alloc(&derivatives, 4 * n, sizeof *derivatives, "derivatives", err));
    for (int64_t c = 0; c < s->n_columns; c++) {
        modal_curvature_columns_read(&columns, c, s->positions, s->normals);
        for (int64_t i = 0; i < 3 * n; i++) columns.tensors[i] = (double)task->tensors[3 * c * n + i];
        modal_curvature_derivative_exact(n, s->ring_offsets, s->ring, columns.positions, columns.normals,
                                         columns.tensors, derivatives);
        for (int64_t i = 0; i < 4 * n; i++) task->derivatives[4 * c * n + i] = (float)derivatives[i];
    }
done:
    modal_free(&derivatives);
    modal_curvature_columns_free(&columns);
    return status;
}
