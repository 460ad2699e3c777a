/* SPDX-License-Identifier: Apache-2.0 */
/* Layers against what must be: each sample's are the triangles that kernels/raster draws there by themselves before what is seen, in the order of their
 * keys; rows and room change nothing; the bytes are those of the reference. */
#include "kernels/layers/layers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/device.h"
#include "tests/kernels/raster_scene.h"

typedef struct picture {
    int width, height, samples, submitted;
    unsigned cull;
} picture;

/* What a device lists of some rows; the caller frees both arrays. */
typedef struct lists {
    int64_t needed;
    int32_t *layers;
    uint64_t *fragments;
} lists;

typedef struct arrays {
    modal_raster_mesh mesh;
    modal_paint paint;
    const uint64_t *keys;
    const modal_raster_view *view;
} arrays;

static lists list_part(harness *h, const modal_device *device, const arrays *in, const picture *p, const int rows[2], const int columns[2], int64_t capacity)
{
    const int first = rows[0], end = rows[1];
    modal_error err = {0};
    modal_stream *stream = device == h->device ? h->stream : NULL;
    const int64_t n = (int64_t)(end - first) * p->width * p->samples;
    lists got = {0, harness_alloc(n + 1, 4), harness_alloc(capacity + 1, 8)};
    modal_layers_task task = {.mesh = in->mesh, .view = in->view, .width = p->width, .height = p->height, .samples = p->samples, .cull = p->cull,
                              .only = MODAL_RASTER_BLEND, .keys = in->keys, .submitted = p->submitted, .most_alpha = 0.45f, .paint = in->paint,
                              .first_row = first, .end_row = end, .first_column = columns[0], .end_column = columns[1], .capacity = capacity};
    harness_ok(h, modal_device_alloc(device, &task.scratch, modal_layers_scratch_bytes(in->mesh.n_points + in->mesh.n_more, in->mesh.n_triangles, n), 1,
                                     "scratch", &err), &err);
    harness_ok(h, modal_device_alloc(device, &task.layers, n + 1, 4, "layers", &err), &err);
    harness_ok(h, modal_device_alloc(device, &task.fragments, capacity + 1, 8, "fragments", &err), &err);
    harness_ok(h, modal_device_alloc(device, &task.needed, 1, 8, "number", &err), &err);
    harness_ok(h, modal_device_fill(device, task.fragments, 0x5a, 8 * (capacity + 1), stream, &err), &err);
    harness_ok(h, device->kernels->layers(&task, stream, &err), &err);
    harness_ok(h, modal_device_copy_out(device, &got.needed, task.needed, 8, stream, &err), &err);
    harness_ok(h, modal_device_copy_out(device, got.layers, task.layers, 4 * (n + 1), stream, &err), &err);
    harness_ok(h, modal_device_copy_out(device, got.fragments, task.fragments, 8 * (capacity + 1), stream, &err), &err);
    harness_ok(h, modal_device_stream_wait(device, stream, &err), &err);
    if (got.fragments[capacity] != 0x5a5a5a5a5a5a5a5au) harness_fail(h, "wrote past the fragments' room of %lld", (long long)capacity);
    modal_device_free(device, &task.scratch), modal_device_free(device, &task.layers);
    modal_device_free(device, &task.fragments), modal_device_free(device, &task.needed);
    return got;
}

static lists list(harness *h, const modal_device *device, const arrays *in, const picture *p, int first, int end, int64_t capacity)
{
    return list_part(h, device, in, p, (const int[2]){first, end}, (const int[2]){0, 0}, capacity);
}

static void drop(lists *l) { free(l->layers), free(l->fragments); }

/* Columns of a row: there as in the whole, elsewhere nothing. */
static void check_columns(harness *h, const arrays *there, const picture *p, const lists *want, int64_t needed)
{
    const int row = p->height / 2, columns[2] = {p->width / 3, p->width / 3 + (p->width + 1) / 2};
    lists part = list_part(h, h->device, there, p, (const int[2]){row, row + 1}, columns, needed);
    int64_t at = 0, begin = (int64_t)row * p->width * p->samples;
    for (int64_t i = 0; i < (int64_t)p->width * p->samples; i++) {
        const int64_t column = i / p->samples, n = column < columns[0] || column >= columns[1] ? 0 : want->layers[begin + i + 1] - want->layers[begin + i];
        if (part.layers[i] != at || memcmp(part.fragments + at, want->fragments + want->layers[begin + i], 8 * (size_t)n) != 0)
            harness_fail(h, "sample %lld of row %d: not those of the whole", (long long)i, row);
        at += n;
    }
    if (part.needed != at) harness_fail(h, "columns %d to %d: %lld fragments, not %lld", columns[0], columns[1], (long long)part.needed, (long long)at);
    drop(&part);
}

/* The keys that kernels/raster finds, of all triangles that are not blended, or of triangle t by itself. */
static void see(harness *h, const modal_device *host, const arrays *here, const picture *p, int64_t t, void *scratch, uint64_t *keys)
{
    modal_error err = {0};
    modal_raster_task task = {.mesh = here->mesh, .view = here->view, .width = p->width, .height = p->height, .samples = p->samples, .cull = p->cull,
                              .skip = t < 0 ? MODAL_RASTER_BLEND : 0, .keys = keys, .scratch = scratch};
    if (t >= 0) task.mesh.triangles += 3 * t, task.mesh.flags += t, task.mesh.n_triangles = 1;
    harness_ok(h, host->kernels->raster(&task, NULL, &err), &err);
}

/* Each sample's list, made of a picture a triangle. */
static void check_members(harness *h, const modal_device *host, const arrays *here, const picture *p, void *scratch, const lists *got)
{
    const int64_t n = (int64_t)p->width * p->height * p->samples;
    uint64_t *alone = harness_alloc(n, 8);
    int32_t *met = harness_alloc(n, 4);
    memset(met, 0, (size_t)n * 4);
    for (int64_t t = 0; t < here->mesh.n_triangles; t++) {
        if (!(here->mesh.flags[t] & MODAL_RASTER_BLEND)) continue;
        see(h, host, here, p, t, scratch, alone);
        for (int64_t i = 0; i < n; i++) {
            const uint64_t key = alone[i] == MODAL_RASTER_EMPTY ? alone[i] : (alone[i] & ~(uint64_t)0xffffffffu) | (uint64_t)t;
            if (key >= here->keys[i]) continue;
            int found = 0;
            for (int32_t k = got->layers[i]; k < got->layers[i + 1]; k++) found += got->fragments[k] == key;
            if (found != 1) harness_fail(h, "sample %lld: triangle %lld is there %d times", (long long)i, (long long)t, found);
            met[i]++;
        }
    }
    for (int64_t i = 0; i < n; i++) {
        if (met[i] != got->layers[i + 1] - got->layers[i])
            harness_fail(h, "sample %lld: %d layers, not %d", (long long)i, got->layers[i + 1] - got->layers[i], met[i]);
        for (int32_t k = got->layers[i] + 1; k < got->layers[i + 1]; k++)
            if (!(got->fragments[k - 1] < got->fragments[k])) harness_fail(h, "sample %lld: not in order", (long long)i);
        h->n_values++;
    }
    free(alone), free(met);
}

static void check(harness *h, raster_scene *s, const modal_raster_view *view, const picture *p, int by_triangle)
{
    modal_error err = {0};
    modal_device host;
    if (modal_device_open(&host, "ref", &err) != MODAL_OK) abort();
    raster_paint paint = raster_paint_new(h, s);
    if (p->submitted) raster_paint_add_solids(h, s, &paint);
    const int64_t n = (int64_t)p->width * p->height * p->samples;
    uint64_t *keys = harness_alloc(n, 8);
    void *scratch = harness_alloc(modal_raster_scratch_bytes(s->n_points + s->n_more, s->n_triangles), 1);
    arrays here = {raster_scene_here(s), raster_paint_here(&paint), keys, view};
    see(h, &host, &here, p, -1, scratch, keys);
    const arrays there = {raster_scene_mesh(h, s), raster_paint_there(h, &paint), harness_input(h, keys, 8 * n, 0),
                          harness_input(h, view, sizeof *view, 0)};
    lists none = list(h, &host, &here, p, 0, p->height, 0);
    const int64_t needed = none.needed;
    lists want = list(h, &host, &here, p, 0, p->height, needed), got = list(h, h->device, &there, p, 0, p->height, needed);
    if (got.needed != needed || memcmp(got.layers, want.layers, 4 * (size_t)(n + 1)) != 0 || memcmp(got.fragments, want.fragments, 8 * (size_t)needed) != 0)
        harness_fail(h, "not the reference's lists: %lld fragments, %lld there", (long long)got.needed, (long long)needed);
    lists roomy = list(h, h->device, &there, p, 0, p->height, 3 * needed + 8); /* a GPU then walks small triangles once */
    if (roomy.needed != needed || memcmp(roomy.layers, want.layers, 4 * (size_t)(n + 1)) != 0 ||
        memcmp(roomy.fragments, want.fragments, 8 * (size_t)needed) != 0)
        harness_fail(h, "not the reference's lists where there is more room: %lld fragments, %lld there", (long long)roomy.needed, (long long)needed);
    if (by_triangle) check_members(h, &host, &here, p, scratch, &got);
    if (needed > 0) {
        lists few = list(h, h->device, &there, p, 0, p->height, needed - 1);
        if (few.needed != needed) harness_fail(h, "without room %lld are needed, not %lld", (long long)few.needed, (long long)needed);
        drop(&few);
    }
    for (int first = 0, step = 1; first < p->height; first += step, step = step * 2 + 3) { /* the same by rows */
        const int end = first + step < p->height ? first + step : p->height;
        const int64_t begin = (int64_t)first * p->width * p->samples, count = (int64_t)(end - first) * p->width * p->samples;
        lists part = list(h, h->device, &there, p, first, end, needed);
        int same = part.needed == want.layers[begin + count] - want.layers[begin];
        for (int64_t i = 0; same && i <= count; i++) same = part.layers[i] == want.layers[begin + i] - want.layers[begin];
        if (!same || memcmp(part.fragments, want.fragments + want.layers[begin], 8 * (size_t)part.needed) != 0)
            harness_fail(h, "rows %d to %d are not those of the whole", first, end);
        drop(&part);
    }
    check_columns(h, &there, p, &want, needed);
    h->n_values += n + needed;
    drop(&none), drop(&want), drop(&got), drop(&roomy);
    free(keys), free(scratch);
    raster_paint_free(&paint);
}

static void run(harness *h)
{
    static const int all_samples[] = {1, 4, 8};
    const modal_raster_view flat = raster_scene_flat();
    for (int k = 0; k < 9; k++) { /* triangles of all sizes in and around a picture; the last one is large, and a few cover all of it */
        const picture p = {k == 8 ? 301 : k == 7 ? 1 : 61, k == 8 ? 267 : k == 7 ? 1 : 83, k == 8 ? 1 : all_samples[k % 3], k >= 4 && k < 8,
                           k % 2 ? MODAL_RASTER_ONE_SIDED : 0};
        const int n = h->quick || k == 8 ? 60 : 200;
        harness_case(h, "soup, %d samples, submitted %d", p.samples, p.submitted);
        raster_scene s = raster_scene_new(3 * n, n);
        for (int i = 0; i < n; i++) {
            const double size = pow(2.0, 5.0 * harness_random(h) + (i % 20 == 0 ? 8.0 : 0.0)), x = p.width * (0.5 + 0.7 * harness_random(h));
            const double y = p.height * (0.5 + 0.7 * harness_random(h)), z = i % 9 == 0 ? 0.5 : 0.5 + 0.3 * harness_random(h);
            const int all = k == 8 && i % 7 == 1 && i % 6 > 2; /* some are seen through, and before the others */
            for (int c = 0; c < 3; c++)
                raster_scene_point(&s, all ? (c == 1 ? 700 : -50) : x + size * harness_random(h), all ? (c == 2 ? 700 : -50) : y + size * harness_random(h),
                                   all ? 0.9 + 0.001 * i : i % 9 == 0 ? z : z + 0.1 * harness_random(h));
            raster_scene_triangle(&s, 3 * i, 3 * i + 1, 3 * i + 2);
            s.flags[i] = i % 5 == 0 ? MODAL_RASTER_ONE_SIDED : 0;
        }
        check(h, &s, &flat, &p, !p.submitted && k < 8);
        raster_scene_free(&s);
    }
    for (int k = 0; k < 4; k++) { /* in perspective, cut at the near plane */
        const double eye[3] = {1.6, -2.3, 0.9}, target[3] = {0, 0, -0.1};
        const picture p = {160, 90, all_samples[k % 3], k == 3, 0};
        const modal_raster_view view = raster_scene_view(eye, target, 0.8, p.width, p.height, k == 1 ? 2.0 : 0.05);
        harness_case(h, "torus, %d samples, submitted %d", p.samples, p.submitted);
        raster_scene s = raster_scene_torus(h->quick ? 12 : 40);
        raster_scene_ground(&s, 100.0, -0.5);
        check(h, &s, &view, &p, 0);
        raster_scene_free(&s);
    }
}

int main(int argc, char **argv) { return harness_main(argc, argv, "layers", run); }
