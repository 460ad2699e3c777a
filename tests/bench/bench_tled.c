/* SPDX-License-Identifier: Apache-2.0 */
/* Total Lagrangian explicit dynamics on cubes of tetrahedra and hexahedra: ours beside the ways of tled_opponents.h, each
 * compared with the reference before it is timed. */
#include <math.h>
#include <string.h>

#include "kernels/device.h"
#include "kernels/tled_step/tled_step.h"
#include "lib/base/memory.h"
#include "tests/bench/bench.h"
#include "tests/bench/opponents/tled_opponents.h"
#include "tests/bench/tled_cube.h"
#ifdef MODAL_HAVE_CUDA
#include "tests/bench/bench_cuda.h"
#endif

static const double BOUND = 5e-6; /* of the largest displacement */
static const double GRAVITY[3] = {0, 0, -1}; /* under the Earth's own, soft cubes turn elements after some thousand steps */

typedef struct run {
    modal_bench *b;
    bench_side *side;
    const tled_cube *cube;
    double *want; /* [n_nodes, 3] after n_checked steps */
    int n_checked;
    double largest;
    double *gravity; /* [n_steps, 3] on the side */
    int n_steps;     /* of a call that is timed */
    const modal_device *devices; /* [n_devices] that share the steps, or NULL */
    int n_devices;
    modal_tled_layout *layout;
    void *u, *low, *d, *viscous;
    modal_tled_watch *watch;
    tled_opponent *opponent;
    int part; /* of the opponent */
} run;

static modal_status ours(run *r, bench_side *side, int n, double before, modal_error *err)
{
    const modal_tled_step_task task = {.layout = r->layout, .u = r->u, .low = r->low, .d = r->d, .step = r->cube->step,
                                       .before = before, .alpha = r->cube->alpha, .n_steps = n, .gravity = r->gravity,
                                       .watch = r->watch, .viscous = r->viscous};
    return side->device.kernels->tled_step(&task, side->stream, err);
}

static modal_status call_ours(void *context, int64_t k, modal_error *err)
{
    run *r = context;
    (void)k;
    return ours(r, r->side, r->n_steps, r->cube->step, err);
}

static void free_ours(run *r, bench_side *side)
{
    modal_tled_layout_free(&r->layout);
    bench_free(side, &r->u), bench_free(side, &r->low), bench_free(side, &r->d), bench_free(side, &r->watch);
    bench_free(side, &r->viscous);
}

static modal_status rest(run *r, bench_side *side, modal_error *err)
{
    const int64_t bytes = r->cube->solid.n_nodes * (r->layout->precision == MODAL_TLED_FLOAT64 ? 32 : 16);
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_device_fill(&side->device, r->u, 0, bytes, side->stream, err));
    MODAL_TRY(modal_device_fill(&side->device, r->d, 0, bytes, side->stream, err));
    if (r->low) MODAL_TRY(modal_device_fill(&side->device, r->low, 0, 2 * bytes, side->stream, err));
    if (r->viscous) MODAL_TRY(modal_device_fill(&side->device, r->viscous, 0, r->layout->viscous_bytes, side->stream, err));
done:
    return status;
}

static modal_status new_ours(run *r, bench_side *side, modal_tled_precision precision, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t bytes = r->cube->solid.n_nodes * (precision == MODAL_TLED_FLOAT64 ? 32 : 16);
    const modal_tled_watch watch = {-1, -1, 0};
    const modal_tled_layout_task task = {&r->cube->solid, precision, &side->device, &r->layout, r->devices, r->n_devices};
    MODAL_TRY(side->device.kernels->tled_layout(&task, side->stream, err));
    MODAL_TRY(bench_to_device(side, &r->u, NULL, bytes, "displacements", err));
    MODAL_TRY(bench_to_device(side, &r->d, NULL, bytes, "increments", err));
    if (precision == MODAL_TLED_FLOAT32 && !r->layout->packs_low)
        MODAL_TRY(bench_to_device(side, &r->low, NULL, 2 * bytes, "compensations", err));
    MODAL_TRY(bench_to_device(side, &r->watch, &watch, sizeof watch, "a flag", err));
    if (r->layout->viscous_bytes > 0)
        MODAL_TRY(bench_to_device(side, &r->viscous, NULL, r->layout->viscous_bytes, "Prony terms", err));
    MODAL_TRY(rest(r, side, err));
done:
    return status;
}

/* The reference's displacements after a few steps from rest; the processor's in float64 where time is short. */
static modal_status reference(run *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    bench_side ref = {.present = 1, .device = r->b->only_ours ? r->b->cpu.device : r->b->ref};
    double *on_side = r->gravity, gravity[3 * 64];
    const int64_t n = r->cube->solid.n_nodes;
    const double *u;
    for (int k = 0; k < 64; k++) memcpy(gravity + 3 * k, GRAVITY, sizeof GRAVITY);
    r->gravity = gravity;
    MODAL_TRY(modal_alloc(&r->want, 3 * n, sizeof *r->want, "check", err));
    MODAL_TRY(new_ours(r, &ref, MODAL_TLED_FLOAT64, err));
    MODAL_TRY(ours(r, &ref, 1, 0, err));
    MODAL_TRY(ours(r, &ref, r->n_checked - 1, r->cube->step, err));
    if (r->watch->step >= 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "tled: the cube's element %lld is turned",
                                        (long long)r->watch->element);
    u = r->u;
    r->largest = 0;
    for (int64_t i = 0; i < 3 * n; i++) {
        r->want[i] = u[4 * (i / 3) + i % 3];
        if (fabs(r->want[i]) > r->largest) r->largest = fabs(r->want[i]);
    }
done:
    r->gravity = on_side;
    free_ours(r, &ref);
    return status;
}

/* Largest difference over the bound; NaN where a number is. */
static modal_status compare(run *r, const void *u, int is_double, double *error, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = r->cube->solid.n_nodes;
    void *host = NULL;
    MODAL_TRY(modal_alloc(&host, 4 * n, is_double ? 8 : 4, "check", err));
    MODAL_TRY(bench_from_device(r->side, host, u, n * (is_double ? 32 : 16), err));
    *error = 0;
    for (int64_t i = 0; i < 3 * n; i++) {
        const int64_t k = 4 * (i / 3) + i % 3;
        const double got = is_double ? ((double *)host)[k] : ((float *)host)[k];
        const double share = fabs(got - r->want[i]) / r->largest / BOUND;
        *error = bench_worse(*error, share);
        if (isnan(*error)) break;
    }
done:
    modal_free(&host);
    return status;
}

/* A row, printed and in the JSON with what is about solids. bytes: of device memory that an element's step has to move. */
static modal_status row(run *r, const char *name, int is_ours, bench_time time, double error, int64_t layout_bytes,
                        modal_error *err)
{
    const modal_tled_solid *s = &r->cube->solid;
    const double n = (double)(s->n_tetrahedra + s->n_hexahedra), step = time.median / r->n_steps;
    char label[128];
    snprintf(label, sizeof label, "%s, %s", r->cube->name, name);
    const bench_row line = {.name = label, .ours = is_ours, .hidden = 1, .side = r->side, .n_vertices = s->n_nodes,
                            .n_objects = (int64_t)n, .n_columns = r->n_steps, .time = time, .error = error,
                            .tolerance = "5e-6 of the largest displacement"};
    bench_print(r->b, "%-4s %s%-40s %9.0f %10.2f %9.3f %9.1e %9.1f\n", r->side->is_cuda ? "gpu" : "cpu", is_ours ? "* " : "  ",
                name, n, 1e6 * step, 1e-9 * n / step, error * BOUND, (double)layout_bytes / n);
    const modal_status status = bench_row_add(r->b, &line, err);
    json_t *last = json_array_get(r->b->results, json_array_size(r->b->results) - 1);
    json_object_set_new(last, "mesh", json_string(r->cube->name));
    json_object_set_new(last, "way", json_string(name));
    json_object_set_new(last, "steps_of_a_call", json_integer(r->n_steps));
    json_object_set_new(last, "elements", json_real(n));
    json_object_set_new(last, "seconds_of_a_step", json_real(step));
    json_object_set_new(last, "element_steps_per_s", json_real(n / step));
    if (!r->side->is_cuda) json_object_set_new(last, "processor_seconds", json_real(time.processor));
    json_object_set_new(last, "bytes_held", json_integer((json_int_t)layout_bytes));
    return status;
}

/* What is timed after an element has turned is no step of a solid. */
static modal_status none_is_turned(run *r, const char *name, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_tled_watch watch = {-1, -1, 0};
    MODAL_TRY(modal_device_copy_out(&r->side->device, &watch, r->watch, sizeof watch, r->side->stream, err));
    MODAL_TRY(modal_device_stream_wait(&r->side->device, r->side->stream, err));
    if (watch.step >= 0)
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "tled: %s, %s: element %lld is turned while it is timed", r->cube->name, name, (long long)watch.element);
done:
    return status;
}

static modal_status measure_ours(run *r, modal_tled_precision precision, const char *name, modal_error *err)
{
    modal_status status = MODAL_OK;
    bench_time time;
    double error;
    MODAL_TRY(new_ours(r, r->side, precision, err));
    MODAL_TRY(ours(r, r->side, 1, 0, err));
    MODAL_TRY(ours(r, r->side, r->n_checked - 1, r->cube->step, err));
    MODAL_TRY(compare(r, r->u, precision == MODAL_TLED_FLOAT64, &error, err));
    MODAL_TRY(rest(r, r->side, err));
    MODAL_TRY(bench_measure(r->b, r->side, call_ours, r, &time, err));
    MODAL_TRY(none_is_turned(r, name, err));
    MODAL_TRY(row(r, name, 1, time, error, r->layout->bytes, err));
done:
    free_ours(r, r->side);
    return status;
}

/* Several GPUs: the one at hand twice, which costs what they cost beside their work; two and four where there are so many. */
static modal_status measure_shared(run *r, modal_error *err)
{
    enum { MOST = 4 };
    modal_status status = MODAL_OK;
    const int present = modal_device_count() - 2;
    for (int n = 1; n <= MOST; n *= 2) {
        modal_device devices[MOST];
        char name[32];
        if (n > present) continue;
        for (int k = n - 1; k >= 0; k--) {
            snprintf(name, sizeof name, "cuda:%d", k);
            if (n == 1) devices[0] = devices[1] = r->side->device;
            else MODAL_TRY(modal_device_open(&devices[k], name, err));
        }
        if (n > 1 && devices[0].ordinal != r->side->device.ordinal) continue; /* --backend cuda:N */
        snprintf(name, sizeof name, n == 1 ? "tled_step, one GPU twice" : "tled_step, %d GPUs", n);
        r->devices = devices, r->n_devices = n == 1 ? 2 : n;
        status = measure_ours(r, MODAL_TLED_FLOAT32, name, err);
        r->devices = NULL, r->n_devices = 0;
        if (status != MODAL_OK) break;
    }
done:
    return status;
}

#ifdef MODAL_HAVE_CUDA
static modal_status call_opponent(void *context, int64_t k, modal_error *err)
{
    run *r = context;
    (void)k;
    return tled_opponent_step(r->opponent, r->n_steps, r->cube->step, r->cube->step, r->cube->alpha, GRAVITY, r->part,
                              r->side->stream, err);
}

static modal_status measure_opponent(run *r, tled_way way, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = &r->cube->solid;
    bench_time time, part;
    char name[96];
    double error;
    MODAL_TRY(tled_opponent_new(&r->opponent, s, way, err));
    MODAL_TRY(tled_opponent_reset(r->opponent, r->side->stream, err));
    MODAL_TRY(tled_opponent_step(r->opponent, 1, r->cube->step, 0, r->cube->alpha, GRAVITY, 3, r->side->stream, err));
    MODAL_TRY(tled_opponent_step(r->opponent, r->n_checked - 1, r->cube->step, r->cube->step, r->cube->alpha, GRAVITY, 3,
                                 r->side->stream, err));
    MODAL_TRY(compare(r, tled_opponent_displacements(r->opponent), 0, &error, err));
    MODAL_TRY(tled_opponent_reset(r->opponent, r->side->stream, err));
    r->part = 3;
    MODAL_TRY(bench_measure(r->b, r->side, call_opponent, r, &time, err));
    snprintf(name, sizeof name, "%s", tled_way_names[way]);
    if (way == TLED_COLOURS) snprintf(name, sizeof name, "%d colours", tled_opponent_parts(r->opponent));
    MODAL_TRY(row(r, name, 0, time, error, 44 * s->n_tetrahedra + 52 * s->n_nodes, err));
    if (way == TLED_SCATTER_NODES) { /* shares of the two loops */
        r->part = 1;
        MODAL_TRY(bench_measure(r->b, r->side, call_opponent, r, &part, err));
        bench_print(r->b, "       of it the element loop %.0f %%\n", 100 * part.median / time.median);
        json_object_set_new(json_array_get(r->b->results, json_array_size(r->b->results) - 1), "element_loop",
                            json_real(part.median / time.median));
    }
done:
    r->opponent = tled_opponent_delete(r->opponent);
    return status;
}
#endif

#ifdef MODAL_HAVE_CUDA
enum { FRAMES = 20 };

typedef struct frames {
    run *r;
    void *host;
    int steps; /* of a frame of a millisecond */
} frames;

static modal_status call_frames(void *context, int64_t k, modal_error *err)
{
    const frames *f = context;
    modal_status status = MODAL_OK;
    (void)k;
    for (int i = 0; i < FRAMES; i++) {
        for (int left = f->steps; left > 0; left -= f->r->n_steps)
            MODAL_TRY(ours(f->r, f->r->side, left < f->r->n_steps ? left : f->r->n_steps, f->r->cube->step, err));
        if (f->host)
            MODAL_TRY(modal_device_copy_out(&f->r->side->device, f->host, f->r->u, 16 * f->r->cube->solid.n_nodes,
                                            f->r->side->stream, err));
    }
done:
    return status;
}

/* The real-time factor (seconds of motion a second) with displacements copied out 1,000 times a second of motion. */
static modal_status measure_frames(run *r, modal_error *err)
{
    static const char *const kinds[] = {"frames of 1 ms, none copied", "frames of 1 ms to pageable memory",
                                        "frames of 1 ms to pinned memory"};
    modal_status status = MODAL_OK;
    const int64_t bytes = 16 * r->cube->solid.n_nodes;
    frames f = {.r = r, .steps = (int)ceil(1e-3 / r->cube->step)};
    for (int kind = 0; kind < 3; kind++) {
        const bench_cuda_memory memory = kind == 1 ? BENCH_CUDA_PAGEABLE : BENCH_CUDA_PINNED;
        bench_time time;
        f.host = NULL;
        if (kind > 0) MODAL_TRY(bench_cuda_host_new(&f.host, bytes, memory, err));
        status = bench_measure(r->b, r->side, call_frames, &f, &time, err);
        if (f.host) bench_cuda_host_delete(f.host, memory);
        if (status != MODAL_OK) goto done;
        const double factor = FRAMES * f.steps * r->cube->step / time.median;
        const bench_row line = {.name = kinds[kind], .ours = 1, .hidden = 1, .side = r->side,
                                .n_vertices = r->cube->solid.n_nodes, .n_columns = FRAMES * f.steps, .time = time,
                                .error = -1};
        bench_print(r->b, "       %-38s real-time factor %.2f, %d steps of %.1f us a frame\n", kinds[kind], factor, f.steps,
                    1e6 * r->cube->step);
        MODAL_TRY(bench_row_add(r->b, &line, err));
        json_t *last = json_array_get(r->b->results, json_array_size(r->b->results) - 1);
        json_object_set_new(last, "mesh", json_string(r->cube->name));
        json_object_set_new(last, "real_time_factor", json_real(factor));
        json_object_set_new(last, "steps_of_a_frame", json_integer(f.steps));
    }
done:
    return status;
}
#endif

#ifdef MODAL_HAVE_CUDA
/* A row that is no rate of steps: its time, and numbers by name. */
static json_t *plain_row(run *r, const char *name, bench_time time, modal_error *err)
{
    const bench_row line = {.name = name, .hidden = 1, .side = r->side, .n_vertices = r->cube->solid.n_nodes, .n_columns = r->n_steps,
                            .time = time, .error = -1};
    if (bench_row_add(r->b, &line, err) != MODAL_OK) return NULL;
    json_t *last = json_array_get(r->b->results, json_array_size(r->b->results) - 1);
    json_object_set_new(last, "mesh", json_string(r->cube->name));
    return last;
}

/* The thesis's table 5.2: both loops with blocks of other sizes. Another size changes no sum, so the displacements that were
 * compared hold. */
static modal_status measure_blocks(run *r, tled_way way, modal_error *err)
{
    static const int sizes[] = {32, 64, 128, 256, 320, 512};
    modal_status status = MODAL_OK;
    MODAL_TRY(tled_opponent_new(&r->opponent, &r->cube->solid, way, err));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tled_kernel_use use[2];
        bench_time loops[2];
        char name[96];
        MODAL_TRY(tled_opponent_block(r->opponent, sizes[i], use, err));
        MODAL_TRY(tled_opponent_reset(r->opponent, r->side->stream, err));
        for (int k = 0; k < 2; k++) {
            r->part = 1 + k;
            MODAL_TRY(bench_measure(r->b, r->side, call_opponent, r, &loops[k], err));
        }
        snprintf(name, sizeof name, "%s, blocks of %d", tled_way_names[way], sizes[i]);
        bench_print(r->b, "       %-38s element loop %.2f us, %d registers, %d threads; node loop %.2f us, %d, %d\n", name,
                    1e6 * loops[0].median / r->n_steps, use[0].registers, use[0].threads, 1e6 * loops[1].median / r->n_steps,
                    use[1].registers, use[1].threads);
        json_t *last = plain_row(r, name, loops[0], err);
        if (!last) return MODAL_ERROR_MEMORY;
        json_object_set_new(last, "blocks",
                            json_pack("{s:s, s:i, s:f, s:i, s:i, s:f, s:i, s:i}", "way", tled_way_names[way], "size", sizes[i],
                                      "element_loop_s", loops[0].median / r->n_steps, "element_registers", use[0].registers,
                                      "element_threads", use[0].threads, "node_loop_s", loops[1].median / r->n_steps, "node_registers",
                                      use[1].registers, "node_threads", use[1].threads));
    }
done:
    r->opponent = tled_opponent_delete(r->opponent);
    return status;
}

typedef struct copy {
    run *r;
    void *host;
    int out;
} copy;

static modal_status call_copy(void *context, int64_t k, modal_error *err)
{
    const copy *c = context;
    const int64_t bytes = 16 * c->r->cube->solid.n_nodes;
    (void)k;
    return c->out ? modal_device_copy_out(&c->r->side->device, c->host, c->r->u, bytes, c->r->side->stream, err)
                  : modal_device_copy_in(&c->r->side->device, c->r->u, c->host, bytes, c->r->side->stream, err);
}

/* The thesis's figures 5.3 and 5.8: displacements of all nodes in and out, of pageable and pinned memory; and its memory, by its
 * formula: bytes = nodes (64 + 12 m) + elements (84 T4, 164 H8), m the largest number of elements at a node. */
static modal_status measure_copies(run *r, modal_error *err)
{
    static const char *const names[2][2] = {{"displacements in, pageable", "displacements in, pinned"},
                                            {"displacements out, pageable", "displacements out, pinned"}};
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = &r->cube->solid;
    const int64_t bytes = 16 * s->n_nodes;
    int32_t *count = NULL, most = 0;
    copy c = {.r = r};
    MODAL_TRY(modal_alloc_zero(&count, s->n_nodes, sizeof *count, "elements of nodes", err));
    for (int64_t k = 0; k < 4 * s->n_tetrahedra; k++) count[s->tetrahedra[k]]++;
    for (int64_t k = 0; k < 8 * s->n_hexahedra; k++) count[s->hexahedra[k]]++;
    for (int64_t i = 0; i < s->n_nodes; i++)
        if (count[i] > most) most = count[i];
    const int64_t held = s->n_nodes * (64 + 12 * (int64_t)most) + 84 * s->n_tetrahedra + 164 * s->n_hexahedra;
    bench_print(r->b, "       the thesis's arrays: %lld bytes (at most %d elements at a node); ours %lld\n", (long long)held, most,
                (long long)r->layout->bytes);
    for (c.out = 0; c.out < 2; c.out++)
        for (int pinned = 0; pinned < 2; pinned++) {
            const bench_cuda_memory memory = pinned ? BENCH_CUDA_PINNED : BENCH_CUDA_PAGEABLE;
            bench_time time;
            MODAL_TRY(bench_cuda_host_new(&c.host, bytes, memory, err));
            memset(c.host, 0, (size_t)bytes); /* the solid at rest */
            status = bench_measure(r->b, r->side, call_copy, &c, &time, err);
            bench_cuda_host_delete(c.host, memory);
            if (status != MODAL_OK) goto done;
            bench_print(r->b, "       %-38s %.2f us, %.2f GB/s\n", names[c.out][pinned], 1e6 * time.median, 1e-9 * (double)bytes / time.median);
            json_t *last = plain_row(r, names[c.out][pinned], time, err);
            if (!last) MODAL_FAIL(err, MODAL_ERROR_MEMORY, "tled: no memory");
            json_object_set_new(last, "copy", json_pack("{s:I, s:f, s:I, s:i, s:I}", "bytes", (json_int_t)bytes, "seconds", time.median,
                                                        "thesis_bytes", (json_int_t)held, "most_elements_at_a_node", most, "our_bytes",
                                                        (json_int_t)r->layout->bytes));
        }
done:
    modal_free(&count);
    return status;
}
#endif

static modal_status measure_cube(modal_bench *b, const tled_cube *cube, int opponents, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = cube->solid.n_tetrahedra + cube->solid.n_hexahedra;
    run r = {.b = b, .side = b->gpu.present ? &b->gpu : &b->cpu, .cube = cube, .n_checked = n < 30000 ? 40 : n < 2000000 ? 10 : 3,
             .n_steps = n < 200000 ? 200 : b->only_ours ? 256 : 20}; /* of a task; modaltled takes up to 256 */
    double *gravity = NULL;
    if (b->quick || !b->gpu.present) r.n_steps = 5;
    MODAL_TRY(modal_alloc(&gravity, 3 * r.n_steps, sizeof *gravity, "gravity", err));
    for (int k = 0; k < r.n_steps; k++) memcpy(gravity + 3 * k, GRAVITY, sizeof GRAVITY);
    if (r.n_checked > r.n_steps) r.n_checked = r.n_steps;
    MODAL_TRY(bench_to_device(r.side, &r.gravity, gravity, 24 * r.n_steps, "gravity", err));
    bench_print(b, "%s: %lld nodes, %lld elements\n", cube->name, (long long)cube->solid.n_nodes, (long long)n);
    MODAL_TRY(reference(&r, err));
    MODAL_TRY(measure_ours(&r, MODAL_TLED_FLOAT32, "tled_step", err));
    if (r.side->is_cuda && cube->solid.n_tetrahedra > 200000 && !cube->random) MODAL_TRY(measure_shared(&r, err));
    if (b->only_ours) goto done;
#ifdef MODAL_HAVE_CUDA
    if (b->gpu.present && cube->solid.n_nodes < 20000) {
        MODAL_TRY(new_ours(&r, r.side, MODAL_TLED_FLOAT32, err));
        status = measure_frames(&r, err);
        if (status == MODAL_OK) status = measure_copies(&r, err);
        free_ours(&r, r.side);
        if (status != MODAL_OK) goto done;
    }
#endif
    if (!cube->random) MODAL_TRY(measure_ours(&r, MODAL_TLED_FLOAT64, "tled_step, float64", err));
#ifdef MODAL_HAVE_CUDA
    for (int way = 0; opponents && b->gpu.present && way < TLED_WAYS; way++)
        MODAL_TRY(measure_opponent(&r, (tled_way)way, err));
    if (opponents && b->gpu.present && n < 10000) {
        MODAL_TRY(measure_blocks(&r, TLED_SCATTER_NODES, err));
        MODAL_TRY(measure_blocks(&r, TLED_ATOMIC_SCALAR, err));
    }
#endif
    (void)opponents;
done:
    bench_free(r.side, &r.gravity);
    modal_free(&r.want);
    modal_free(&gravity);
    return status;
}

modal_status bench_tled(modal_bench *b, modal_error *err)
{
    /* cells along an edge; tetrahedra (6 a cell) or hexahedra; order; laws of the last ones */
    static const tled_cube_kind kinds[] = {
        {26, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0, TLED_FIBRES}, {26, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0, TLED_PRONY},
        {26, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0, TLED_PRESSURES}, {55, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0, TLED_FIBRES},
        {55, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0, TLED_PRONY}, {55, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0, TLED_PRESSURES},
        {26, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0, TLED_PATCHES}, {55, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0, TLED_PATCHES},
        {56, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0, TLED_JOINED},
        {10, 0, 0, MODAL_TLED_NEO_HOOKEAN, 1}, {10, 1, 0, MODAL_TLED_NEO_HOOKEAN, 0},
        {12, 0, 0, MODAL_TLED_NEO_HOOKEAN, 1}, {12, 0, 1, MODAL_TLED_NEO_HOOKEAN, 1}, {14, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0},
        {20, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0}, {26, 0, 0, MODAL_TLED_NEO_HOOKEAN, 1, TLED_NO_EXTRA, 1},
        {26, 0, 1, MODAL_TLED_NEO_HOOKEAN, 1},
        {26, 0, 0, MODAL_TLED_LOGARITHMIC, 0}, {26, 0, 0, MODAL_TLED_STVK, 0},
        {55, 0, 0, MODAL_TLED_NEO_HOOKEAN, 1}, {55, 0, 1, MODAL_TLED_NEO_HOOKEAN, 1},
        {55, 0, 0, MODAL_TLED_LOGARITHMIC, 0}, {55, 0, 0, MODAL_TLED_STVK, 0},
        {100, 1, 0, MODAL_TLED_NEO_HOOKEAN, 0}, {99, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0, TLED_NO_EXTRA, 2}, {119, 0, 0, MODAL_TLED_NEO_HOOKEAN, 1},
        {119, 0, 1, MODAL_TLED_NEO_HOOKEAN, 1},
        {188, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0}}; /* where there are four GPUs */
    static const tled_cube_kind quick[] = {{3, 0, 0, MODAL_TLED_NEO_HOOKEAN, 1}, {7, 0, 1, MODAL_TLED_NEO_HOOKEAN, 1},
                                           {4, 1, 0, MODAL_TLED_NEO_HOOKEAN, 0, TLED_NO_EXTRA, 1}, {5, 0, 0, MODAL_TLED_STVK, 0, TLED_PRONY},
                                           {5, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0, TLED_FIBRES},
                                           {5, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0, TLED_PRESSURES},
                                           {6, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0, TLED_PATCHES}, {4, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0, TLED_JOINED}};
    static const tled_cube_kind targets[] = {
        {12, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0}, {26, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0},
        {26, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0, TLED_FIBRES}, {26, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0, TLED_PRONY},
        {55, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0}, {55, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0, TLED_FIBRES},
        {55, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0, TLED_PRONY}, {26, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0, TLED_PATCHES},
        {55, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0, TLED_PATCHES}, {56, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0, TLED_JOINED},
        {100, 1, 0, MODAL_TLED_NEO_HOOKEAN, 0},
        {119, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0}, {188, 0, 0, MODAL_TLED_NEO_HOOKEAN, 0}};
    const tled_cube_kind *list = b->quick ? quick : b->only_ours ? targets : kinds;
    const int n = b->quick ? (int)(sizeof quick / sizeof *quick) : (int)(b->only_ours ? sizeof targets / sizeof *targets : sizeof kinds / sizeof *kinds);
    modal_status status = MODAL_OK;
    tled_cube cube = {0};
    const bench_side *side = b->gpu.present ? &b->gpu : &b->cpu;
    bench_table(b, "tled", "Total Lagrangian explicit dynamics");
    if (!side->device.kernels->tled_step) {
        bench_absent(b, "tled", "no tled_step on this back end");
        return MODAL_OK;
    }
    bench_print(b, "%-47s %9s %10s %9s %9s %9s\n", "", "elements", "us a step", "G el./s", "error", "bytes held");
    for (int i = 0; i < n; i++) {
        if ((!b->gpu.present && list[i].cells > 30) || (modal_device_count() < 6 && list[i].cells > 150)) continue;
        MODAL_TRY(tled_cube_make(&cube, &list[i], err));
        if (list[i].frames < 2) MODAL_TRY(measure_cube(b, &cube, list[i].opponents, err));
        if (list[i].frames > 0) MODAL_TRY(bench_tled_frames(b, b->gpu.present ? &b->gpu : &b->cpu, &cube, err));
        tled_cube_free(&cube);
    }
done:
    tled_cube_free(&cube);
    return status;
}
