/* SPDX-License-Identifier: Apache-2.0 */
/* Times steps of 105,456 neo-Hookean tetrahedra (tled_cube.h) on one and two threads of the CPU's back end, in turn: a line a round, with 10^6
 * element steps a second of float32 on a thread, of float64 on a thread (both by their processor time), and of float32 on a thread
 * and on two by the clock. float32 is compared with float64 first. tests/bench/measure_tled_cpu.py puts others beside it.
 *
 *   tled_cpu_bench [--rounds N] [--quick] */
#include <math.h>
#include <omp.h>

#include "kernels/tled_step/tled_step.h"
#include "lib/base/clock.h"
#include "tests/bench/bench_device.h"
#include "tests/bench/tled_cube.h"


enum { STEPS = 25, CHECKED = 10, WAYS = 3 };
static const double GRAVITY[3] = {0, 0, -9.81};

typedef struct way {
    int threads;
    modal_tled_precision precision;
    modal_device device;
    modal_tled_layout *layout;
    void *u, *low, *d;
    modal_tled_watch watch;
} way;

static void steps(way *w, const tled_cube *cube, int n, double before)
{
    modal_error err = {0};
    double gravity[3 * STEPS];
    for (int k = 0; k < n; k++) memcpy(gravity + 3 * k, GRAVITY, sizeof GRAVITY);
    const modal_tled_step_task task = {.layout = w->layout, .u = w->u, .low = w->low, .d = w->d, .step = cube->step, .before = before,
                                       .alpha = cube->alpha, .n_steps = n, .gravity = gravity, .watch = &w->watch};
    omp_set_num_threads(w->threads);
    need(w->device.kernels->tled_step(&task, NULL, &err), &err);
    if (w->watch.step >= 0) bench_device_fail("an element is turned");
}

static void begin(way *w, const tled_cube *cube)
{
    modal_error err = {0};
    const int64_t bytes = cube->solid.n_nodes * (w->precision == MODAL_TLED_FLOAT64 ? 32 : 16);
    omp_set_num_threads(w->threads);
    need(modal_device_open(&w->device, "cpu", &err), &err);
    const modal_tled_layout_task task = {&cube->solid, w->precision, &w->device, &w->layout, NULL, 0};
    need(w->device.kernels->tled_layout(&task, NULL, &err), &err);
    w->u = device_array(&w->device, NULL, NULL, bytes), w->d = device_array(&w->device, NULL, NULL, bytes);
    memset(w->u, 0, (size_t)bytes), memset(w->d, 0, (size_t)bytes);
    if (w->precision == MODAL_TLED_FLOAT32) {
        w->low = device_array(&w->device, NULL, NULL, 2 * bytes);
        memset(w->low, 0, 2 * (size_t)bytes);
    }
    w->watch = (modal_tled_watch){-1, -1, 0};
    steps(w, cube, 1, 0);
    steps(w, cube, CHECKED - 1, cube->step);
}

/* float32 against float64 after CHECKED steps. */
static void compare(const way *single, const way *exact, int64_t n_nodes)
{
    double worst = 0, largest = 0;
    for (int64_t i = 0; i < 4 * n_nodes; i++) {
        const double want = ((const double *)exact->u)[i];
        if (i % 4 == 3) continue;
        largest = fmax(largest, fabs(want));
        worst = fmax(worst, fabs(((const float *)single->u)[i] - want));
    }
    if (!(worst <= 5e-6 * largest) || !(largest > 0)) bench_device_fail("float32 is not float64's motion");
}

int main(int argc, char **argv)
{
    way ways[WAYS] = {{.threads = 1, .precision = MODAL_TLED_FLOAT32}, {.threads = 1, .precision = MODAL_TLED_FLOAT64},
                      {.threads = 2, .precision = MODAL_TLED_FLOAT32}};
    int rounds = 5, cells = 26;
    modal_error err = {0};
    tled_cube cube;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) rounds = 1, cells = 5;
        else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc && atoi(argv[i + 1]) > 0) rounds = atoi(argv[++i]);
        else bench_device_fail("usage: tled_cpu_bench [--rounds N] [--quick]");
    }
    need(tled_cube_make(&cube, &(tled_cube_kind){.cells = cells, .law = MODAL_TLED_NEO_HOOKEAN}, &err), &err);
    for (int k = 0; k < WAYS; k++) begin(&ways[k], &cube);
    for (int k = 0; k < WAYS; k += 2) compare(&ways[k], &ways[1], cube.solid.n_nodes);
    const double work = 1e-6 * STEPS * (double)cube.solid.n_tetrahedra;
    for (int round = 0; round < rounds; round++) {
        double of_processor[WAYS], of_clock[WAYS];
        for (int k = 0; k < WAYS; k++) {
            const double processor = modal_clock(CLOCK_THREAD_CPUTIME_ID), clock = modal_clock(CLOCK_MONOTONIC);
            steps(&ways[k], &cube, STEPS, cube.step);
            of_processor[k] = work / (modal_clock(CLOCK_THREAD_CPUTIME_ID) - processor);
            of_clock[k] = work / (modal_clock(CLOCK_MONOTONIC) - clock);
        }
        printf("%.4g %.4g %.4g %.4g\n", of_processor[0], of_processor[1], of_clock[0], of_clock[2]);
    }
    for (int k = 0; k < WAYS; k++) {
        modal_tled_layout_free(&ways[k].layout);
        modal_device_free(&ways[k].device, &ways[k].u);
        modal_device_free(&ways[k].device, &ways[k].low);
        modal_device_free(&ways[k].device, &ways[k].d);
    }
    tled_cube_free(&cube);
    return 0;
}
