/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/deform_objects/deform_objects.h"
#include "kernels/deform_objects/pack.h"
#include "lib/base/memory.h"
#include "tests/kernels/scene.h"

enum { GAP = 5 }; /* points of no object at both ends of a frame, and between objects */

typedef enum placement { IN_ORDER, SHUFFLED, INTERLEAVED } placement; /* of vertices to points */

/* A list of objects, each a scene.h scene of its own, with the frames as columns. */
typedef struct forest {
    int32_t n_objects, n_modes;
    int64_t n_points, n_frames;
    scene *scenes;
    int32_t **orders; /* point of each vertex, after first[object] */
    int64_t *first;
    modal_pack_object *objects;
    float *q, *poses; /* [n_frames, n_modes], [n_frames, n_objects, 3, 4] */
} forest;

static void shuffle(harness *h, int32_t *values, int64_t n)
{
    for (int64_t i = n - 1; i > 0; i--) { /* Fisher-Yates */
        const int64_t j = (int64_t)((harness_random(h) + 1.0) / 2.0 * (double)(i + 1));
        const int32_t kept = values[i];
        values[i] = values[j];
        values[j] = kept;
    }
}

/* With INTERLEAVED the points of all objects are one random set. */
static void place(forest *w, harness *h, placement order)
{
    int64_t next = GAP;
    for (int32_t o = 0; o < w->n_objects; o++) {
        const int64_t n = w->scenes[o].n;
        w->first[o] = order == INTERLEAVED ? GAP : next;
        w->orders[o] = harness_alloc(n, sizeof **w->orders);
        for (int64_t v = 0; v < n; v++)
            w->orders[o][v] = (int32_t)(order == INTERLEAVED ? next - GAP + v : v);
        if (order == SHUFFLED) shuffle(h, w->orders[o], n);
        next += n + (order != INTERLEAVED && o % 3 == 0 ? GAP : 0);
    }
    w->n_points = next + GAP;
    if (order != INTERLEAVED) return;
    int32_t *all = harness_alloc(next, sizeof *all);
    for (int64_t i = 0; i < next; i++) all[i] = (int32_t)i;
    shuffle(h, all, next - GAP);
    for (int32_t o = 0; o < w->n_objects; o++)
        for (int64_t v = 0; v < w->scenes[o].n; v++) w->orders[o][v] = all[w->orders[o][v]];
    free(all);
}

static void forest_new(forest *w, harness *h, int32_t n_objects, const int64_t *sizes,
                       const int32_t *ranks, int64_t n_frames, placement order)
{
    *w = (forest){.n_objects = n_objects, .n_frames = n_frames};
    w->scenes = harness_alloc(n_objects, sizeof *w->scenes);
    w->orders = harness_alloc(n_objects, sizeof *w->orders);
    w->first = harness_alloc(n_objects, sizeof *w->first);
    w->objects = harness_alloc(n_objects, sizeof *w->objects);
    for (int32_t o = 0; o < n_objects; o++) {
        scene_new(&w->scenes[o], h, sizes[o], ranks[o], n_frames);
        w->n_modes += ranks[o];
    }
    place(w, h, order);
    w->q = harness_alloc(n_frames * w->n_modes, sizeof *w->q);
    w->poses = harness_alloc(n_frames * n_objects * 12, sizeof *w->poses);
    int64_t mode = 0;
    for (int32_t o = 0; o < n_objects; o++) {
        const scene *s = &w->scenes[o];
        w->objects[o] = (modal_pack_object){.n_vertices = s->n,
                                            .n_modes = s->r,
                                            .modal_matrix = s->tiles,
                                            .rest_tiles = s->rest_tiles,
                                            .first_point = w->first[o],
                                            .order = order == IN_ORDER ? NULL : w->orders[o]};
        for (int64_t f = 0; f < n_frames; f++) {
            memcpy(w->q + f * w->n_modes + mode, s->q + f * s->r, (size_t)s->r * sizeof *w->q);
            memcpy(w->poses + (f * n_objects + o) * 12, s->poses + f * 12, 12 * sizeof(float));
        }
        mode += s->r;
    }
}

static void forest_free(forest *w)
{
    for (int32_t o = 0; o < w->n_objects; o++) {
        scene_free(&w->scenes[o]);
        free(w->orders[o]);
    }
    free(w->scenes);
    free(w->orders);
    free(w->first);
    free(w->objects);
    free(w->q);
    free(w->poses);
}

static void compare_vertex(harness *h, const scene *s, int64_t f, int64_t v, int64_t point,
                           const float *x_out, const float *d_out)
{
    double u[3], magnitude[3];
    for (int j = 0; j < 3; j++) scene_sum(s, f, v, j, &u[j], &magnitude[j]);
    for (int i = 0; i < 3; i++) {
        const float *t = s->poses + 12 * f + 4 * i;
        const int64_t index = point * 3 + i;
        double x = t[3], d = 0.0, size_x = fabs((double)t[3]), size_d = 0.0;
        for (int j = 0; j < 3; j++) {
            const double rest = s->rest[v * 3 + j], a = fabs((double)t[j]);
            x += (double)t[j] * (rest + u[j]);
            d += (double)t[j] * u[j];
            size_x += a * (fabs(rest) + magnitude[j]);
            size_d += a * magnitude[j];
        }
        const double extra = (s->r + 8) * 1e-40;
        harness_compare(h, "position", index, x_out[index], x,
                        h->is_reference ? harness_rounding(x) + size_x * 1e-12
                                        : harness_gamma(s->r + 8) * size_x + extra);
        harness_compare(h, "displacement", index, d_out[index], d,
                        h->is_reference ? harness_rounding(d) + size_d * 1e-12
                                        : harness_gamma(s->r + 7) * size_d + extra);
    }
}

/* `spoiled` is an object whose q was made NaN, or -1: its values must be NaN, all others not. */
static void compare(harness *h, const forest *w, const float *x, const float *d, int32_t spoiled)
{
    unsigned char *used = harness_alloc(w->n_points, 1);
    memset(used, 0, (size_t)w->n_points);
    for (int32_t o = 0; o < w->n_objects; o++)
        for (int64_t v = 0; v < w->scenes[o].n; v++) {
            const int64_t point = w->first[o] + w->orders[o][v];
            used[point] = 1;
            for (int64_t f = 0; f < w->n_frames; f++) {
                const int64_t at = f * w->n_points + point;
                if (o != spoiled)
                    compare_vertex(h, &w->scenes[o], f, v, at, x, d);
                else if (!isnan(x[at * 3]) || !isnan(x[at * 3 + 1]) || !isnan(x[at * 3 + 2]))
                    harness_fail(h, "NaN in q gave finite positions");
            }
        }
    for (int64_t f = 0; f < w->n_frames; f++)
        for (int64_t point = 0; point < w->n_points; point++)
            for (int i = 0; i < 3 && !used[point]; i++)
                if (!isnan(x[(f * w->n_points + point) * 3 + i]) ||
                    !isnan(d[(f * w->n_points + point) * 3 + i]))
                    harness_fail(h, "a point of no object was written");
    free(used);
}

static void check(harness *h, const char *what, int32_t n_objects, const int64_t *sizes,
                  const int32_t *ranks, int64_t n_frames, placement order, int32_t spoiled)
{
    modal_error err = {0};
    forest w;
    modal_object_pack host = {0}, pack = {0};
    harness_case(h, "%s: %d objects, %lld frames, order %d, spoiled %d", what, (int)n_objects,
                 (long long)n_frames, (int)order, (int)spoiled);
    forest_new(&w, h, n_objects, sizes, ranks, n_frames, order);
    harness_ok(h, modal_object_pack_build(&host, n_objects, w.objects, w.n_points, &err), &err);
    harness_ok(h, modal_object_pack_upload(&pack, &host, h->device, h->stream, &err), &err);
    if (spoiled >= 0)
        for (int64_t f = 0; f < n_frames; f++) {
            int64_t mode = f * w.n_modes;
            for (int32_t o = 0; o < spoiled; o++) mode += ranks[o];
            for (int32_t k = 0; k < ranks[spoiled]; k++) w.q[mode + k] = NAN;
        }
    const int64_t count = n_frames * w.n_points * 3;
    const int shift = n_objects % 2 + (order == SHUFFLED);
    harness_output *x[3], *d[2];
    for (int i = 0; i < 3; i++) x[i] = harness_new_output(h, count, shift, NULL);
    for (int i = 0; i < 2; i++) d[i] = harness_new_output(h, count, i, NULL);
    modal_deform_objects_task task = {
        .pack = &pack,
        .n_frames = n_frames,
        .q = harness_input(h, w.q, n_frames * w.n_modes * 4, shift * 4),
        .poses = harness_input(h, w.poses, n_frames * n_objects * 48, 0)};
    const modal_deform_objects_task all = task;
    modal_deform_objects_function *deform = h->kernels->deform_objects;
    task.positions = x[0]->device;
    task.displacement = d[0]->device;
    harness_ok(h, deform(&task, h->stream, &err), &err);
    task.positions = x[1]->device; /* again, without the second output */
    task.displacement = NULL;
    harness_ok(h, deform(&task, h->stream, &err), &err);
    task.n_frames = 1; /* one frame at a time gives the same bytes */
    for (int64_t f = 0; f < n_frames; f++) {
        task.q = all.q + f * w.n_modes;
        task.poses = all.poses + f * n_objects * 12;
        task.positions = x[2]->device + f * w.n_points * 3;
        task.displacement = d[1]->device + f * w.n_points * 3;
        harness_ok(h, deform(&task, h->stream, &err), &err);
    }
    harness_fetch(h);
    harness_same(h, "positions without displacement", x[0], x[1]);
    harness_same(h, "positions, frames alone", x[0], x[2]);
    harness_same(h, "displacement, frames alone", d[0], d[1]);
    compare(h, &w, x[0]->host, d[0]->host, spoiled);
    modal_object_pack_unload(&pack, h->device);
    modal_object_pack_free(&host);
    forest_free(&w);
}

/* All orders, and a few numbers of frames. */
static void check_all(harness *h, const char *what, int32_t n_objects, const int64_t *sizes,
                      const int32_t *ranks)
{
    static const int64_t frames[] = {1, 0, 2, 3, 4, 9, 17};
    int64_t work = 0;
    for (int32_t o = 0; o < n_objects; o++) work += sizes[o] * (ranks[o] + 4);
    for (int order = IN_ORDER; order <= INTERLEAVED; order++)
        for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
            if ((i + (size_t)order) % 3 == 0 || (work < 40000 && !h->quick))
                if (work * frames[i] < (h->quick ? 300000 : 3000000) || i == 0)
                    check(h, what, n_objects, sizes, ranks, frames[i], order, -1);
}

/* n sizes and ranks in the given ranges, most of them small. */
static void check_random(harness *h, const char *what, int32_t n, int64_t size_max,
                         int32_t rank_max)
{
    int64_t *sizes = harness_alloc(n, sizeof *sizes);
    int32_t *ranks = harness_alloc(n, sizeof *ranks);
    for (int32_t i = 0; i < n; i++) {
        const double a = (harness_random(h) + 1.0) / 2.0, b = (harness_random(h) + 1.0) / 2.0;
        sizes[i] = (int64_t)(a * a * (double)(size_max + 1));
        ranks[i] = (int32_t)(b * b * (double)(rank_max + 1));
    }
    check_all(h, what, n, sizes, ranks);
    free(sizes);
    free(ranks);
}

static void refuse(harness *h, const char *what, int64_t n_objects,
                   const modal_pack_object *objects, int64_t n_points)
{
    modal_object_pack pack;
    modal_error err = {0};
    if (modal_object_pack_build(&pack, n_objects, objects, n_points, &err) != MODAL_ERROR_INPUT)
        harness_fail(h, "pack: %s was accepted", what);
    if (pack.tiles || pack.modal_matrix || pack.n_tiles) harness_fail(h, "%s: not empty", what);
    modal_object_pack_free(&pack);
}

static void check_refusals(harness *h)
{
    static const float zeros[96];
    static const int32_t twice[] = {1, 1}, far[] = {0, 3}, negative[] = {0, -1};
    const modal_pack_object good = {2, 1, zeros, zeros, 0, NULL};
    modal_pack_object o[2] = {good, good};
    harness_case(h, "scenes that are refused");
    refuse(h, "a negative number of objects", -1, o, 2);
    refuse(h, "a negative number of points", 1, o, -1);
    refuse(h, "too many points", 1, o, INT64_C(1) << 31);
    refuse(h, "points that two objects share", 2, o, 3);
    o[0].order = twice;
    refuse(h, "a point that two vertices share", 1, o, 3);
    o[0].order = far;
    refuse(h, "a point past the frame", 1, o, 3);
    o[0].order = negative;
    refuse(h, "a negative point", 1, o, 3);
    o[0].order = NULL;
    o[0].first_point = INT64_MAX;
    refuse(h, "a point past 2^63", 1, o, 3);
    o[0].first_point = 2;
    refuse(h, "an object past the frame", 1, o, 3);
    o[0] = good;
    o[0].n_vertices = -1;
    refuse(h, "a negative size", 1, o, 3);
    o[0] = good;
    o[0].n_modes = -1;
    refuse(h, "a negative number of modes", 1, o, 3);
    o[0].n_vertices = 0;
    o[0].n_modes = INT32_MAX;
    o[1].n_vertices = 0;
    refuse(h, "too many modes", 2, o, 3);
}

/* Every allocation of a pack fails once; nothing may be left behind (the sanitizers see). */
static void check_failures(harness *h)
{
    static const int64_t sizes[] = {40, 3, 65};
    static const int32_t ranks[] = {3, 9, 1};
    modal_object_pack host = {0}, pack = {0};
    forest w;
    harness_case(h, "failing allocations");
    forest_new(&w, h, 3, sizes, ranks, 1, SHUFFLED);
    for (int n = 1, fired = 1; fired && n < 100; n++) {
        modal_error err = {0};
        modal_alloc_fail_at(n);
        modal_status status = modal_object_pack_build(&host, 3, w.objects, w.n_points, &err);
        if (status == MODAL_OK)
            status = modal_object_pack_upload(&pack, &host, h->device, h->stream, &err);
        fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        if (fired ? status != MODAL_ERROR_MEMORY : status != MODAL_OK)
            harness_fail(h, "allocation %d failed: status %d", n, (int)status);
        if (fired && (pack.tiles || pack.modal_matrix)) harness_fail(h, "the copy is not empty");
        modal_object_pack_unload(&pack, h->device);
        modal_object_pack_free(&host);
    }
    forest_free(&w);
}

static void run(harness *h)
{
    static const int64_t one[] = {1}, plain[] = {997}, edges[] = {31, 32, 33, 0, 1, 64, 63, 65},
                         large[] = {20011, 3, 40009}, uneven[] = {1, 40, 1, 77, 3, 200, 64};
    static const int32_t none[] = {0}, eleven[] = {11}, ranks[] = {5, 1, 8, 7, 33, 0, 64, 9},
                         few[] = {7, 100, 4}, hostile[] = {1000, 1, 0, 1000, 257, 0, 130};
    check_refusals(h);
    check_failures(h);
    check_all(h, "empty", 0, NULL, NULL);
    check_all(h, "a vertex, r = 0", 1, one, none);
    check_all(h, "a vertex", 1, one, eleven);
    check_all(h, "one object", 1, plain, eleven);
    check_all(h, "edges of tiles", 8, edges, ranks);
    check_all(h, "r = 1000 beside 1 and 0", 7, uneven, hostile);
    for (int32_t spoiled = 0; spoiled < 7; spoiled += 3)
        check(h, "NaN in q", 7, uneven, hostile, 3, SHUFFLED, spoiled);
    check_random(h, "small objects", 200, 60, 20);
    check_random(h, "many tiny objects", 3000, h->quick ? 6 : 20, 8);
    if (h->quick) return;
    check_random(h, "mixed sizes", 60, 1500, 70);
    check_all(h, "large beside tiny", 3, large, few);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "deform_objects", run); }
