/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/curvature_ring/curvature_ring.h"

#include "kernels/curvature_tensor/curvature_ref.h"
#include "lib/base/tile.h"

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void modal_curvature_ring_exact(int64_t n_vertices, const int64_t *ring_offsets, const int32_t *ring,
                                const double *positions, const double *normals, double *tensors)
{
    for (int64_t v = 0; v < n_vertices; v++) {
        const int64_t tile = v / MODAL_TILE;
        const double *n = normals + 3 * v;
        double p[3], q[3], uu = 0.0, uv = 0.0, vv = 0.0, r[3] = {0.0, 0.0, 0.0};
        int64_t before = v;
        modal_curvature_frame_exact(n, p, q);
        for (int64_t row = ring_offsets[tile]; row < ring_offsets[tile + 1]; row++) {
            const int32_t entry = ring[row * MODAL_TILE + v % MODAL_TILE];
            const int64_t corner[3] = {v, before, entry < 0 ? ~entry : entry};
            double face_normal[3], share;
            before = corner[2];
            if (entry < 0 || !(dot(n, n) > 0.0) ||
                !modal_curvature_triangle_exact(positions + 3 * v, positions + 3 * corner[1],
                                                positions + 3 * corner[2], n, face_normal, &share))
                continue;
            for (int k = 0; k < 3; k++) {
                double edge[3], change[3];
                for (int i = 0; i < 3; i++) {
                    edge[i] = positions[3 * corner[(k + 1) % 3] + i] - positions[3 * corner[k] + i];
                    change[i] = normals[3 * corner[(k + 1) % 3] + i] - normals[3 * corner[k] + i];
                }
                const double x = dot(edge, p), y = dot(edge, q), dx = dot(change, p), dy = dot(change, q);
                uu += x * x, uv += x * y, vv += y * y;
                r[0] += x * dx, r[1] += y * dx + x * dy, r[2] += y * dy;
            }
        }
        double *t = tensors + 3 * v;
        t[0] = t[1] = t[2] = 0.0;
        if (!(uu * vv - uv * uv > 1e-12 * (uu + vv) * (uu + vv))) continue;
        /* [uu uv 0; uv uu + vv uv; 0 uv vv] (a b c) = r */
        t[1] = (r[1] - uv / uu * r[0] - uv / vv * r[2]) / (uu + vv - uv * uv / uu - uv * uv / vv);
        t[0] = (r[0] - uv * t[1]) / uu;
        t[2] = (r[2] - uv * t[1]) / vv;
    }
}

modal_status modal_curvature_ring_ref(const modal_curvature_ring_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream;
    modal_status status = MODAL_OK;
    const modal_curvature_surface *s = &task->surface;
    modal_curvature_columns columns = {0};
    MODAL_TRY(modal_curvature_columns_new(&columns, s->n_vertices, err));
    for (int64_t c = 0; c < s->n_columns; c++) {
        modal_curvature_columns_read(&columns, c, s->positions, s->normals);
        modal_curvature_ring_exact(s->n_vertices, s->ring_offsets, s->ring, columns.positions, columns.normals,
                                   columns.tensors);
        modal_curvature_give_exact(s->n_vertices, c, columns.normals, columns.tensors, NULL, &task->output);
    }
done:
    modal_curvature_columns_free(&columns);
    return status;
}
