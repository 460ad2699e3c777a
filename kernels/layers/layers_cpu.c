/* SPDX-License-Identifier: Apache-2.0 */
/* Bands of rows, a band a thread (kernels/raster/raster_bands.h): counted, summed, then listed from each sample's end on and sorted while
 * the band is in the cache. */
#include "kernels/layers/layers_math.h"
#include "kernels/raster/raster_bands.h"

typedef struct listing {
    const modal_layers_task *task;
    int lists;
} listing;

static void draw(void *self, const modal_raster_task *drawing, uint32_t t, const raster_point *a, const raster_point *b, const raster_point *c,
                 int32_t first, int32_t last)
{
    const listing *l = self;
    const modal_layers_task *task = l->task;
    raster_setup s;
    raster_clip corners[3] = {{0}};
    const int64_t area = raster_area(a, b, c), begin = (int64_t)task->first_row * task->width * task->samples;
    if (area == 0 || !raster_box(&s, a, b, c, task->width, task->height, task->samples)) return;
    s.top = raster_max(s.top, first), s.bottom = raster_min(s.bottom, last);
    if (!layers_cut(task, &s)) return;
    raster_set_up(&s, a, b, c, area);
    if (task->submitted) paint_view_corners(&task->mesh, drawing->view, t, corners);
    const edges e = edges_of(&s);
    for (int32_t y = s.top; y <= s.bottom; y++)
        for (int32_t x = s.left; x <= s.right; x++)
            for (int i = 0; i < task->samples; i++) {
                const int32_t in_x = raster_sample_x(task->samples, i), in_y = raster_sample_y(task->samples, i);
                const int64_t sx = 256 * (int64_t)(x - s.left) + in_x, sy = 256 * (int64_t)(y - s.top) + in_y;
                int64_t edge[3], inside = 0;
                for (int k = 0; k < 3; k++) {
                    edge[k] = e.a[k] * sx + e.b[k] * sy + e.c[k];
                    inside |= edge[k] + e.bias[k];
                }
                if (inside < 0) continue;
                const int64_t at = ((int64_t)y * task->width + x) * task->samples + i;
                const uint64_t key = layers_key(task, t, raster_depth(&s, (float)edge[1], (float)edge[2]), at, corners, 256 * x + in_x, 256 * y + in_y, 1);
                if (key == MODAL_RASTER_EMPTY) continue;
                if (l->lists)
                    task->fragments[--task->layers[at - begin]] = key;
                else
                    task->layers[at - begin]++;
            }
}

modal_status modal_layers_cpu(const modal_layers_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    const modal_raster_task drawing = layers_drawing(task);
    const modal_raster_view view = *task->view;
    const int64_t row = (int64_t)task->width * task->samples;
    const int first_band = task->first_row / BAND, end_band = (task->end_row - 1) / BAND + 1;
    int64_t needed = 0, totals[MODAL_RASTER_SIZE / BAND + 1];
    bands s = bands_lay_out(&drawing);
    bands_project(&drawing, &s);
    bands_sort(&drawing, &s);
    for (int lists = 0; lists < 2; lists++) {
#pragma omp parallel for schedule(dynamic, 1)
        for (int band = first_band; band < end_band; band++) {
            const int32_t first = raster_max(band * BAND, task->first_row), last = raster_min(band * BAND + BAND, task->end_row) - 1;
            int32_t *mine = task->layers + (first - task->first_row) * row;
            const int64_t n = (last - first + 1) * row;
            listing l = {task, lists};
            int64_t at = lists ? totals[band] : 0;
            if (!lists) memset(mine, 0, (size_t)n * sizeof *mine);
            for (int64_t i = 0; lists && i < n; i++) mine[i] = (int32_t)(at += mine[i]); /* where each ends */
            bands_each(&l, &drawing, &view, &s, band, first, last, draw);
            if (!lists) {
                for (int64_t i = 0; i < n; i++) at += mine[i];
                totals[band] = at;
                continue;
            }
            for (int64_t i = 0; i < n; i++) {
                const int32_t end = i + 1 < n ? mine[i + 1] : (int32_t)at;
                layers_sort(task->fragments + mine[i], end - mine[i]);
            }
        }
        if (lists) break;
        for (int band = first_band; band < end_band; band++) {
            const int64_t count = totals[band];
            totals[band] = needed;
            needed += count;
        }
        *task->needed = needed;
        if (needed > task->capacity) return MODAL_OK;
        task->layers[(task->end_row - task->first_row) * row] = (int32_t)needed;
    }
    return MODAL_OK;
}
