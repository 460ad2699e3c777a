/* SPDX-License-Identifier: Apache-2.0 */
/* Every triangle, every sample of its box. */
#include "kernels/raster/alpha_math.h"

static void draw(const modal_raster_task *task, int64_t t, const raster_point *a, const raster_point *b, const raster_point *c)
{
    raster_setup s;
    const int64_t area = raster_area(a, b, c);
    const int32_t samples = task->samples;
    const int tested = task->mesh.flags && task->mesh.flags[t] & task->test;
    raster_clip corners[3];
    if (tested) paint_view_corners(&task->mesh, task->view, (uint32_t)t, corners);
    if (area == 0 || !raster_box(&s, a, b, c, task->width, task->height, samples)) return;
    raster_set_up(&s, a, b, c, area);
    for (int32_t y = s.top; y <= s.bottom; y++)
        for (int32_t x = s.left; x <= s.right; x++)
            for (int32_t i = 0; i < samples; i++) {
                const int64_t sx = 256 * x + raster_sample_x(samples, i), sy = 256 * y + raster_sample_y(samples, i);
                int64_t edges[3];
                int covered = 1;
                for (int k = 0; k < 3; k++) {
                    const int from = (k + 1) % 3, to = (k + 2) % 3;
                    edges[k] = (s.x[to] - s.x[from]) * (sy - s.y[from]) - (s.y[to] - s.y[from]) * (sx - s.x[from]);
                    covered &= edges[k] + raster_bias(s.x[from], s.y[from], s.x[to], s.y[to]) >= 0;
                }
                if (!covered) continue;
                if (tested && !paint_is_there(task, (uint32_t)t, corners, (float)sx / 256.0f, (float)sy / 256.0f, 1)) continue;
                const int64_t at = ((int64_t)y * task->width + x) * samples + i;
                const float depth = raster_depth(&s, (float)edges[1], (float)edges[2]);
                const uint64_t key = raster_key(depth, (uint32_t)t);
                if (task->keys && key < task->keys[at]) task->keys[at] = key;
                if (task->depths && depth > task->depths[at]) task->depths[at] = depth;
            }
}

modal_status modal_raster_ref(const modal_raster_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    const modal_raster_mesh *mesh = &task->mesh;
    const int64_t n_samples = (int64_t)task->width * task->height * task->samples;
    for (int64_t i = 0; i < n_samples; i++) {
        if (task->keys) task->keys[i] = MODAL_RASTER_EMPTY;
        if (task->depths) task->depths[i] = 0.0f;
    }
    for (int64_t t = 0; t < mesh->n_triangles; t++) {
        raster_point p[RASTER_MOST_CORNERS];
        int front;
        const int n = raster_polygon(mesh, task->view, t, p, &front);
        if (!raster_is_drawn(task, mesh->flags ? mesh->flags[t] : 0, front)) continue;
        for (int i = 2; i < n; i++) draw(task, t, &p[0], &p[i - 1], &p[i]);
    }
    return MODAL_OK;
}
