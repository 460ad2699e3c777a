/* SPDX-License-Identifier: Apache-2.0 */
/* lib/curvature: connectivity of small surfaces, every failing allocation, the tail of a batch. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/curvature_ring/curvature_ring.h"
#include "kernels/curvature_tensor/curvature_tensor.h"
#include "kernels/normals_corner/normals_corner.h"
#include "kernels/registry.h"
#include "lib/base/memory.h"
#include "lib/curvature/curvature.h"

enum { WIDTH = 9, POINTS = WIDTH * WIDTH, TRIANGLES = 2 * (WIDTH - 1) * (WIDTH - 1), FRAMES = 3 };

typedef struct patch {
    int32_t triangles[3 * TRIANGLES];
    float positions[FRAMES * 3 * POINTS];
} patch;

/* z = (x^2 + y^2) / 2 over [-1, 1]^2 and, in frames 1 and 2, twice and three times as high; normals up. */
static void make_patch(patch *p)
{
    int64_t t = 0;
    for (int f = 0; f < FRAMES; f++)
        for (int v = 0; v < POINTS; v++) {
            const float x = (float)(v % WIDTH) / 4.0f - 1.0f, y = (float)(v / WIDTH) / 4.0f - 1.0f;
            float *at = p->positions + 3 * (f * POINTS + v);
            at[0] = x, at[1] = y, at[2] = (float)(f + 1) * (x * x + y * y) / 2.0f;
        }
    for (int v = 0; v < POINTS; v++) {
        if (v % WIDTH == WIDTH - 1 || v / WIDTH == WIDTH - 1) continue;
        const int cell[6] = {v, v + 1, v + WIDTH, v + 1, v + WIDTH + 1, v + WIDTH};
        for (int k = 0; k < 6; k++) p->triangles[t++] = cell[k];
    }
}

static modal_status run_all(const patch *p, modal_curvature_method method, double smooth, int64_t n_frames,
                            float *const out[MODAL_CURVATURE_FIELDS], float *areas, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_curvature_topology topology = {0};
    modal_curvature *curvature = NULL;
    modal_device device;
    modal_curvature_options options = {.method = method, .degree = 4, .n_rings = 3, .smooth = smooth};
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++) options.fields[i] = out[i] != NULL;
    MODAL_TRY(modal_device_open(&device, "cpu", err));
    MODAL_TRY(modal_curvature_topology_build(POINTS, TRIANGLES, p->triangles, &topology, err));
    MODAL_TRY(modal_curvature_new(&curvature, &device, &options, &topology,
                                  modal_curvature_mean_edge(TRIANGLES, p->triangles, p->positions), FRAMES, err));
    modal_curvature_set_rest(curvature, p->triangles, p->positions);
    MODAL_TRY(modal_curvature_compute(curvature, n_frames, p->positions, out, areas, err));
done:
    modal_curvature_delete(curvature);
    modal_curvature_topology_free(&topology);
    return status;
}

typedef struct results {
    float all[MODAL_CURVATURE_FIELDS][FRAMES * 4 * POINTS], areas[FRAMES * POINTS];
    float *out[MODAL_CURVATURE_FIELDS];
} results;

static void prepare(results *r, modal_curvature_method method)
{
    memset(r->all, 0xff, sizeof r->all);
    memset(r->areas, 0xff, sizeof r->areas);
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++) r->out[i] = r->all[i];
    if (method != MODAL_CURVATURE_FIT) r->out[MODAL_FIT_DEGREE] = NULL;
}

static patch surface;
static results first, second;

static void failing_allocations(void **state)
{
    (void)state;
    make_patch(&surface);
    for (int method = 0; method < 3; method++)
        for (int smooth = 0; smooth < 2; smooth++) {
            int64_t n = 0;
            modal_status status = MODAL_ERROR_MEMORY;
            while (status != MODAL_OK) {
                modal_error err = {0};
                prepare(&first, (modal_curvature_method)method);
                modal_alloc_fail_at(++n);
                status = run_all(&surface, (modal_curvature_method)method, 0.3 * smooth, FRAMES, first.out, first.areas, &err);
                const int fired = modal_alloc_fired();
                modal_alloc_fail_at(0);
                assert_true(fired ? status == MODAL_ERROR_MEMORY && err.message[0] : status == MODAL_OK);
                assert_true(n < 1000);
            }
            assert_true(n > 10);
        }
}

static void frames_by_themselves(void **state)
{
    (void)state;
    make_patch(&surface);
    for (int method = 0; method < 3; method++) {
        prepare(&first, (modal_curvature_method)method);
        prepare(&second, (modal_curvature_method)method);
        assert_int_equal(run_all(&surface, method, 0.0, FRAMES, first.out, first.areas, NULL), MODAL_OK);
        assert_int_equal(run_all(&surface, method, 0.0, 1, second.out, second.areas, NULL), MODAL_OK);
        for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++) {
            const size_t bytes = (size_t)(modal_curvature_arrays[i].components * POINTS) * sizeof(float);
            if (first.out[i]) assert_memory_equal(first.out[i], second.out[i], bytes);
        }
        assert_memory_equal(first.areas, second.areas, POINTS * sizeof(float));
        /* a bowl seen from above, normals up: concave, -1 at its bottom, and -2 in the next frame */
        for (int f = 0; f < FRAMES; f++)
            assert_true(fabsf(first.out[MODAL_MEAN_CURVATURE][f * POINTS + POINTS / 2] + (float)(f + 1)) < 0.4f * (float)(f + 1)); /* coarse */
    }
}

static void connectivity(void **state)
{
    (void)state;
    modal_curvature_topology t;
    modal_error err = {0};
    const int32_t two[] = {0, 1, 2, 1, 0, 3, 4, 4, 2};
    make_patch(&surface);
    assert_int_equal(modal_curvature_topology_build(POINTS, TRIANGLES, surface.triangles, &t, &err), MODAL_OK);
    assert_int_equal(t.euler, 1);
    assert_int_equal(t.n_boundary, 4 * (WIDTH - 1));
    assert_int_equal(t.n_open_edges, 4 * (WIDTH - 1));
    assert_int_equal(t.n_turned_edges + t.n_shared_edges + t.n_pinched + t.n_unused + t.n_collapsed, 0);
    modal_curvature_topology_free(&t);
    assert_int_equal(modal_curvature_topology_build(6, 3, two, &t, &err), MODAL_OK);
    assert_int_equal(t.n_collapsed, 1);
    assert_int_equal(t.n_unused, 2);
    assert_int_equal(t.n_edges, 5);
    assert_int_equal(t.n_turned_edges, 0);
    modal_curvature_topology_free(&t);
    assert_int_equal(modal_curvature_topology_build(3, 2, two, &t, &err), MODAL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "triangle 1: vertex 3 of 3"));
    assert_null(t.ring);
    assert_int_equal(modal_curvature_topology_build(0, 0, two, &t, &err), MODAL_OK);
    modal_curvature_topology_free(&t);
    modal_curvature_topology_free(&t);
}

static void scattered(void **state)
{
    enum { SIDE = 200, CELLS = (SIDE - 1) * (SIDE - 1) };
    modal_error err = {0};
    modal_curvature_topology t = {0};
    int32_t *triangles = malloc(6 * CELLS * sizeof *triangles);
    (void)state;
    assert_non_null(triangles);
    for (int turn = 0; turn < 2; turn++) { /* in rows, and each vertex moved to a far place (7,919 is prime) */
        for (int i = 0; i < CELLS; i++) {
            const int v = i / (SIDE - 1) * SIDE + i % (SIDE - 1);
            const int cell[6] = {v, v + 1, v + SIDE, v + 1, v + SIDE + 1, v + SIDE};
            for (int k = 0; k < 6; k++)
                triangles[6 * i + k] = (int32_t)(turn ? (int64_t)cell[k] * 7919 % (SIDE * SIDE) : cell[k]);
        }
        assert_int_equal(modal_curvature_topology_build(SIDE * SIDE, 2 * CELLS, triangles, &t, &err), MODAL_OK);
        assert_true(turn ? t.scattered > 0.9 : t.scattered == 0.0);
        modal_curvature_topology_free(&t);
    }
    free(triangles);
}

/* Noise in [-1, 1). */
static double noise(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*seed >> 11) / 4503599627370496.0 - 1.0;
}

/* Definitions that are exact on spheres, whatever the triangles: of positions in float64, 20,002 vertices. */
static void exact_on_a_sphere(void **state)
{
    enum { RINGS = 100, ROUND = 200, ALL = RINGS * ROUND + 2, SOUTH = ALL - 2, NORTH = ALL - 1 };
    modal_error err = {0};
    modal_curvature_topology t = {0};
    int32_t *triangles = malloc(6 * (size_t)ALL * sizeof *triangles);
    double *x = malloc(10 * (size_t)ALL * sizeof *x), *normals = x + 3 * ALL, *tensors = x + 6 * ALL, *areas = x + 9 * ALL;
    int64_t n = 0;
    uint64_t seed = 7;
    (void)state;
    assert_true(triangles && x);
    for (int v = 0; v < ALL; v++) {
        const double theta = v == SOUTH ? 0.0 : v == NORTH ? M_PI : M_PI * (v / ROUND + 1 + 0.25 * noise(&seed)) / (RINGS + 1);
        const double phi = 2.0 * M_PI * (v % ROUND + 0.25 * noise(&seed)) / ROUND;
        x[3 * v] = 0.5 * sin(theta) * cos(phi), x[3 * v + 1] = 0.5 * sin(theta) * sin(phi), x[3 * v + 2] = 0.5 * cos(theta);
    }
    for (int i = 0; i <= RINGS; i++)
        for (int j = 0; j < ROUND; j++) {
            const int32_t next = (j + 1) % ROUND, a = i ? (i - 1) * ROUND + j : SOUTH, b = i ? (i - 1) * ROUND + next : SOUTH;
            const int32_t c = i < RINGS ? i * ROUND + j : NORTH, d = i < RINGS ? i * ROUND + next : NORTH;
            const int flip = noise(&seed) > 0.0;
            const int32_t pair[2][3] = {{a, flip ? c : d, b}, {flip ? b : a, c, d}};
            for (int k = 0; k < 2; k++)
                if (pair[k][0] != pair[k][1] && pair[k][1] != pair[k][2] && pair[k][0] != pair[k][2])
                    memcpy(triangles + 3 * n++, pair[k], sizeof pair[k]);
        }
    assert_int_equal(modal_curvature_topology_build(ALL, n, triangles, &t, &err), MODAL_OK);
    assert_int_equal(t.euler, 2);
    assert_int_equal(t.n_turned_edges, 0);
    modal_normals_corner_exact(ALL, t.ring_offsets, t.ring, x, normals);
    for (int method = 0; method < 2; method++) {
        double worst = 0.0;
        if (method)
            modal_curvature_ring_exact(ALL, t.ring_offsets, t.ring, x, normals, tensors);
        else
            modal_curvature_tensor_exact(ALL, t.ring_offsets, t.ring, x, normals, tensors, areas);
        for (int64_t v = 0; v < ALL; v++) {
            double k[2], direction[3];
            modal_curvature_diagonal_exact(normals + 3 * v, tensors + 3 * v, k, direction);
            worst = fmax(worst, fmax(fabs(0.5 * k[0] - 1.0), fabs(0.5 * k[1] - 1.0)));
            assert_false(isnan(k[0]) || isnan(k[1]));
        }
        if (!(worst <= 1e-9)) fail_msg("%s: off by %g", method ? "ring" : "tensor", worst);
    }
    modal_curvature_topology_free(&t);
    free(triangles);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(failing_allocations), cmocka_unit_test(frames_by_themselves),
                                       cmocka_unit_test(connectivity), cmocka_unit_test(scattered),
                                       cmocka_unit_test(exact_on_a_sphere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
