/* SPDX-License-Identifier: Apache-2.0 */
/* Every triangle, every sample of its box, twice: counted, then listed and sorted. */
#include "kernels/layers/layers_math.h"

static void draw(const modal_layers_task *task, uint32_t t, const raster_point *a, const raster_point *b, const raster_point *c,
                 const raster_clip corners[3], int lists)
{
    raster_setup s;
    const int64_t area = raster_area(a, b, c), begin = (int64_t)task->first_row * task->width * task->samples;
    if (area == 0 || !raster_box(&s, a, b, c, task->width, task->height, task->samples)) return;
    if (!layers_cut(task, &s)) return;
    raster_set_up(&s, a, b, c, area);
    for (int32_t y = s.top; y <= s.bottom; y++)
        for (int32_t x = s.left; x <= s.right; x++)
            for (int32_t i = 0; i < task->samples; i++) {
                const int32_t sx = 256 * x + raster_sample_x(task->samples, i), sy = 256 * y + raster_sample_y(task->samples, i);
                const int64_t at = ((int64_t)y * task->width + x) * task->samples + i;
                int64_t edges[3];
                int covered = 1;
                for (int k = 0; k < 3; k++) {
                    const int from = (k + 1) % 3, to = (k + 2) % 3;
                    edges[k] = (int64_t)(s.x[to] - s.x[from]) * (sy - s.y[from]) - (int64_t)(s.y[to] - s.y[from]) * (sx - s.x[from]);
                    covered &= edges[k] + raster_bias(s.x[from], s.y[from], s.x[to], s.y[to]) >= 0;
                }
                if (!covered) continue;
                const uint64_t key = layers_key(task, t, raster_depth(&s, (float)edges[1], (float)edges[2]), at, corners, sx, sy, 1);
                if (key == MODAL_RASTER_EMPTY) continue;
                if (lists)
                    task->fragments[--task->layers[at - begin]] = key;
                else
                    task->layers[at - begin]++;
            }
}

static void draw_all(const modal_layers_task *task, int lists)
{
    const modal_raster_mesh *mesh = &task->mesh;
    const modal_raster_task drawing = layers_drawing(task);
    for (int64_t t = 0; t < mesh->n_triangles; t++) {
        raster_point p[RASTER_MOST_CORNERS];
        raster_clip corners[3];
        int front;
        const int n = raster_polygon(mesh, task->view, t, p, &front);
        if (!raster_is_drawn(&drawing, mesh->flags[t], front)) continue;
        paint_view_corners(mesh, task->view, (uint32_t)t, corners);
        for (int i = 2; i < n; i++) draw(task, (uint32_t)t, &p[0], &p[i - 1], &p[i], corners, lists);
    }
}

modal_status modal_layers_ref(const modal_layers_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    const int64_t n = (int64_t)(task->end_row - task->first_row) * task->width * task->samples;
    int64_t needed = 0;
    for (int64_t i = 0; i <= n; i++) task->layers[i] = 0;
    draw_all(task, 0);
    for (int64_t i = 0; i < n; i++) needed += task->layers[i];
    *task->needed = needed;
    if (needed > task->capacity) return MODAL_OK;
    for (int64_t i = 1; i < n; i++) task->layers[i] += task->layers[i - 1]; /* where each ends */
    task->layers[n] = (int32_t)needed;
    draw_all(task, 1);
    for (int64_t i = 0; i < n; i++) layers_sort(task->fragments + task->layers[i], task->layers[i + 1] - task->layers[i]);
    return MODAL_OK;
}
