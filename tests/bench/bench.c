/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/bench.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kernels/device.h"
#include "lib/base/memory.h"
#include "tests/bench/bench_cpu.h"
#include "tests/bench/opponents/opponents.h"
#ifdef MODAL_HAVE_CUDA
#include "tests/bench/bench_cuda.h"
#endif

static const double GPU_RUN_SECONDS = 200e-6, CPU_RUN_SECONDS = 1e-3, CPU_WARM_SECONDS = 10e-3;
enum { WARM_UPS = 3, MOST_CALLS = 50 };

/* ---- time ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* seconds [2]: of the clock, and of processors. */
static modal_status run(bench_side *side, bench_call *call, void *context, int64_t *k, int calls,
                        double *seconds, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_device_select(&side->device, err));
    const double start = now(), processor = processor_seconds();
    seconds[1] = 0.0;
#ifdef MODAL_HAVE_CUDA
    if (side->is_cuda) MODAL_TRY(bench_cuda_start(side->stream, err));
#endif
    for (int i = 0; i < calls; i++) MODAL_TRY(call(context, (*k)++, err));
#ifdef MODAL_HAVE_CUDA
    if (side->is_cuda) {
        MODAL_TRY(bench_cuda_stop(side->stream, seconds, err));
        goto done;
    }
#endif
    seconds[0] = now() - start;
    seconds[1] = processor_seconds() - processor;
done:
    return status;
}

void bench_settle(const modal_bench *b)
{
    const struct timespec pause = {0, 5000000};
    for (int i = 0; i < 200 && !b->quick; i++) {
        const double before = processor_seconds();
        nanosleep(&pause, NULL);
        if (processor_seconds() - before < 500e-6) break;
    }
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

modal_status bench_measure(modal_bench *b, bench_side *side, bench_call *call, void *context,
                           bench_time *time, modal_error *err)
{
    modal_status status = MODAL_OK;
    double seconds[BENCH_RUNS], processor[BENCH_RUNS], one[2] = {0.0, 0.0};
    const double target = side->is_cuda ? GPU_RUN_SECONDS : CPU_RUN_SECONDS;
    int64_t k = 0;
    bench_settle(b);
    /* Warm-ups, and how long a call takes; on the CPU its threads must be awake. */
    const double start = now();
    for (int i = 0; i < WARM_UPS || (!side->is_cuda && !b->quick && now() - start < CPU_WARM_SECONDS);
         i++)
        MODAL_TRY(run(side, call, context, &k, 1, one, err));
    double calls = ceil(target / fmax(one[0], 1e-9));
    calls = fmin(fmax(calls, 1.0), MOST_CALLS);
    if (calls > 1.0) MODAL_TRY(run(side, call, context, &k, (int)calls, one, err));
    for (int i = 0; i < b->runs; i++) {
        MODAL_TRY(run(side, call, context, &k, (int)calls, one, err));
        seconds[i] = one[0] / calls;
        processor[i] = one[1] / calls;
    }
    qsort(seconds, (size_t)b->runs, sizeof *seconds, ascending);
    qsort(processor, (size_t)b->runs, sizeof *processor, ascending);
    *time = (bench_time){seconds[b->runs / 2], seconds[0], seconds[b->runs - 1], b->runs, (int)calls, processor[b->runs / 2]};
done:
    return status;
}

static const double LEAST_COPY = 0.5e6; /* bytes; the next is twice as large */

double bench_copy_seconds(const bench_side *side, double bytes)
{
    double size = LEAST_COPY;
    if (bytes <= size) return side->copies[0];
    for (int i = 1; i < side->n_copies; i++, size *= 2.0)
        if (bytes <= 2.0 * size)
            return side->copies[i - 1] + (bytes / size - 1.0) * (side->copies[i] - side->copies[i - 1]);
    return bytes / side->copy_rate;
}

/* ---- rows ---- */

void bench_print(modal_bench *b, const char *format, ...)
{
    va_list arguments;
    if (!b->text) return;
    va_start(arguments, format);
    vfprintf(b->text, format, arguments);
    va_end(arguments);
    fflush(b->text);
}

void bench_table(modal_bench *b, const char *name, const char *title)
{
    b->table = name;
    b->ours = 0.0;
    bench_print(b, "\n%s\n", title);
}

void bench_headings(modal_bench *b)
{
    b->ours = 0.0;
    bench_print(b, "%-45s %8s %5s %5s %11s %21s %8s %6s %6s %7s\n", "", "vertices", "modes", "cols",
                "us", "least .. most", "GB/s", "% copy", "% size", "x ours");
}

modal_status bench_row_add(modal_bench *b, const bench_row *row, modal_error *err)
{
    const bench_time *t = &row->time;
    char text[4][32] = {"", "", "", ""}, spread[32];
    const double rate = row->bytes > 0.0 ? row->bytes / t->median : 0.0;
    if (row->ours) {
        b->ours = t->median;
        b->ours_bytes = row->bytes;
    }
    const int same_work = b->ours > 0.0 && fabs(row->bytes - b->ours_bytes) <= 0.02 * b->ours_bytes;
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:b, s:I, s:f, s:I, s:I, s:f, s:{s:f, s:f, s:f, s:i, s:i}}", "table",
        b->table, "side", row->side->device.name, "name", row->name, "ours", row->ours, "vertices",
        (json_int_t)row->n_vertices, "modes", row->n_modes, "columns", (json_int_t)row->n_columns,
        "objects", (json_int_t)row->n_objects, "bytes", row->bytes, "seconds", "median", t->median,
        "least", t->least, "most", t->most, "runs", t->runs, "calls", t->calls);
    if (rate > 0.0) {
        json_object_set_new(object, "gb_per_s", json_real(1e-9 * rate));
        snprintf(text[0], sizeof text[0], "%.1f", 1e-9 * rate);
    }
    if (rate > 0.0 && row->side->copy_rate > 0.0) {
        json_object_set_new(object, "share_of_copy", json_real(rate / row->side->copy_rate));
        snprintf(text[1], sizeof text[1], "%.0f", 100.0 * rate / row->side->copy_rate);
    }
    if (rate > 0.0 && row->side->n_copies > 0) {
        const double share = bench_copy_seconds(row->side, row->bytes) / t->median;
        json_object_set_new(object, "share_of_copy_as_large", json_real(share));
        snprintf(text[3], sizeof text[3], "%.0f", 100.0 * share);
    }
    if (rate > 0.0 && row->side->datasheet_rate > 0.0)
        json_object_set_new(object, "share_of_datasheet", json_real(rate / row->side->datasheet_rate));
    if (same_work) {
        json_object_set_new(object, "times_ours", json_real(t->median / b->ours));
        if (!row->ours) snprintf(text[2], sizeof text[2], "%.2f", t->median / b->ours);
    }
    if (row->pairs > 0.0) json_object_set_new(object, "g_pairs_per_s", json_real(1e-9 * row->pairs / t->median));
    if (t->processor > 0.0) json_object_set_new(object, "processor_seconds", json_real(t->processor));
    if (row->lookups > 0.0) json_object_set_new(object, "g_lookups_per_s", json_real(1e-9 * row->lookups / t->median));
    if (row->held_bytes > 0.0) json_object_set_new(object, "held_bytes", json_real(row->held_bytes));
    if (row->pairs > 0.0 && row->side->multiply_adds > 0.0)
        json_object_set_new(object, "share_of_bound",
                            json_real(BENCH_PAIR_OPERATIONS * row->pairs / t->median / row->side->multiply_adds));
    if (row->tolerance) {
        json_object_set_new(object, "error_over_tolerance",
                            isnan(row->error) ? json_null() : json_real(row->error));
        json_object_set_new(object, "tolerance", json_string(row->tolerance));
    }
    if (row->relative > 0.0) json_object_set_new(object, "relative_error", json_real(row->relative));
    json_array_append_new(b->results, object);
    if (!row->hidden) {
        char name[80];
        snprintf(name, sizeof name, "%-4s %s%s", row->side->is_cuda ? "gpu" : "cpu",
                 row->ours ? "* " : "  ", row->name);
        snprintf(spread, sizeof spread, "%.2f .. %.2f", 1e6 * t->least, 1e6 * t->most);
        bench_print(b, "%-45s %8" PRId64 " %5.*f %5" PRId64 " %11.2f %21s %8s %6s %6s %7s\n", name,
                    row->n_vertices, row->n_modes == floor(row->n_modes) ? 0 : 1, row->n_modes,
                    row->n_columns, 1e6 * t->median, spread, text[0], text[1], text[3], text[2]);
    }
    if (row->tolerance && !(row->error <= 1.0))
        return modal_error_set(err, MODAL_ERROR_SYSTEM,
                               "%s: %s: wrong result, error %g times its tolerance (%s)", b->table,
                               row->name, row->error, row->tolerance);
    return MODAL_OK;
}

void bench_absent(modal_bench *b, const char *what, const char *why)
{
    for (size_t i = 0; i < json_array_size(b->absent); i++) /* once is enough */
        if (strcmp(json_string_value(json_object_get(json_array_get(b->absent, i), "what")), what) == 0)
            return;
    json_array_append_new(b->absent, json_pack("{s:s, s:s}", "what", what, "why", why));
    bench_print(b, "not measured: %s (%s)\n", what, why);
}

/* ---- memory ---- */

void bench_free(bench_side *side, void *pointer)
{
    if (side->present) modal_device_free(&side->device, pointer);
}

modal_status bench_poison(bench_side *side, void *pointer, int64_t bytes, modal_error *err)
{
    return modal_device_fill(&side->device, pointer, 0xff, bytes, side->stream, err);
}

modal_status bench_refill(bench_side *side, void *to, const void *host, int64_t bytes, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_device_copy_in(&side->device, to, host, bytes, side->stream, err));
    MODAL_TRY(modal_device_stream_wait(&side->device, side->stream, err));
done:
    return status;
}

modal_status bench_to_device(bench_side *side, void *pointer, const void *host, int64_t bytes,
                             const char *what, modal_error *err)
{
    void *memory = NULL;
    modal_status status = MODAL_OK;
    *(void **)pointer = NULL;
    MODAL_TRY(modal_device_alloc(&side->device, &memory, bytes, 1, what, err));
    *(void **)pointer = memory;
    if (!host) {
        MODAL_TRY(bench_poison(side, memory, bytes, err));
    } else {
        MODAL_TRY(bench_refill(side, memory, host, bytes, err));
    }
done:
    return status;
}

modal_status bench_from_device(bench_side *side, void *host, const void *pointer, int64_t bytes,
                               modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_device_copy_out(&side->device, host, pointer, bytes, side->stream, err));
    MODAL_TRY(modal_device_stream_wait(&side->device, side->stream, err));
done:
    return status;
}

modal_status bench_random(float **host, int64_t count, uint64_t seed, modal_error *err)
{
    modal_status status = modal_alloc(host, count, sizeof **host, "random numbers", err);
    if (status == MODAL_OK) bench_cpu_fill(*host, count, seed);
    return status;
}

modal_status bench_random_on(bench_side *side, float **pointer, int64_t count, uint64_t seed,
                             modal_error *err)
{
    modal_status status =
        modal_device_alloc(&side->device, pointer, count, sizeof **pointer, "random numbers", err);
    if (status != MODAL_OK) return status;
#ifdef MODAL_HAVE_CUDA
    if (side->is_cuda) return bench_cuda_fill(*pointer, count, seed, side->stream, err);
#endif
    bench_cpu_fill(*pointer, count, seed);
    return MODAL_OK;
}

double bench_error(int64_t count, const float *got, int step, const float *expected,
                   const float *tolerance)
{
    double worst = 0.0;
    for (int64_t i = 0; i < count; i++) {
        const double error = fabs((double)got[i / 3 * step + i % 3] - (double)expected[i]);
        const double share = error == 0.0 ? 0.0 : error / (double)tolerance[i];
        worst = bench_worse(worst, share);
    }
    return worst;
}

/* ---- the machines ---- */

typedef struct copy_case {
    bench_side *side;
    float *to;
    int64_t bytes;
    int is_hot; /* always the same bytes, not the next of the pool */
    volatile float sum;
} copy_case;

static modal_status call_copy(void *context, int64_t k, modal_error *err)
{
    copy_case *c = context;
    const float *from = c->is_hot ? c->side->pool : bench_set(c->side, c->bytes / 4, k);
    if (c->side->is_cuda) return modal_device_copy(&c->side->device, c->to, from, c->bytes, c->side->stream, err);
    bench_cpu_copy(c->to, from, c->bytes);
    return MODAL_OK;
}

static modal_status call_read(void *context, int64_t k, modal_error *err)
{
    copy_case *c = context;
    (void)k, (void)err;
#ifdef MODAL_HAVE_CUDA
    if (c->side->is_cuda) return bench_cuda_read(c->to, c->side->pool, c->bytes / 4, c->side->stream, err);
#endif
    c->sum = bench_cpu_read(c->side->pool, c->bytes / 4);
    return MODAL_OK;
}

#ifdef MODAL_HAVE_CUDA
static modal_status call_write(void *context, int64_t k, modal_error *err)
{
    copy_case *c = context;
    (void)k;
    return modal_device_fill(&c->side->device, c->to, 0, c->bytes, c->side->stream, err);
}

static modal_status call_empty(void *context, int64_t k, modal_error *err)
{
    (void)k;
    return bench_cuda_empty(((copy_case *)context)->side->stream, err);
}
#endif

static modal_status measure_ceilings(modal_bench *b, bench_side *side, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t most = side->is_cuda ? INT64_C(2) << 30 : INT64_C(1) << 30;
    copy_case c = {.side = side, .bytes = side->pool_floats * 4 / 64 * 64};
    bench_row row = {.side = side, .error = -1.0};
    if (c.bytes > most) c.bytes = most;
#ifdef MODAL_HAVE_CUDA
    bench_cuda_device described = {0};
    if (side->is_cuda) MODAL_TRY(bench_cuda_describe(side->device.ordinal, &described, err));
    side->datasheet_rate = described.datasheet_rate;
#endif
    MODAL_TRY(bench_to_device(side, &c.to, NULL, c.bytes, "copy", err));
    MODAL_TRY(bench_measure(b, side, call_copy, &c, &row.time, err));
    row.name = "copy (read + written)";
    row.bytes = 2.0 * (double)c.bytes;
    side->copy_rate = row.bytes / row.time.median;
    MODAL_TRY(bench_row_add(b, &row, err));
    row.bytes = (double)c.bytes;
    row.name = "read";
    MODAL_TRY(bench_measure(b, side, call_read, &c, &row.time, err));
    MODAL_TRY(bench_row_add(b, &row, err));
#ifdef MODAL_HAVE_CUDA
    if (side->is_cuda) {
        row.name = "write (memset)";
        MODAL_TRY(bench_measure(b, side, call_write, &c, &row.time, err));
        MODAL_TRY(bench_row_add(b, &row, err));
        row.name = "launch floor: an empty kernel";
        row.bytes = 0.0;
        MODAL_TRY(bench_measure(b, side, call_empty, &c, &row.time, err));
        side->launch_seconds = row.time.median;
        MODAL_TRY(bench_row_add(b, &row, err));
    }
#endif
    int n_copies = 0;
    for (double size = LEAST_COPY; n_copies < BENCH_COPIES && size <= 2.0 * (double)c.bytes; size *= 2.0) {
        char name[32];
        copy_case small = {.side = side, .to = c.to, .bytes = (int64_t)(size / 2.0) / 64 * 64};
        snprintf(name, sizeof name, "copy, %g MB in all", 1e-6 * size);
        row.name = name;
        row.bytes = size;
        MODAL_TRY(bench_measure(b, side, call_copy, &small, &row.time, err));
        MODAL_TRY(bench_row_add(b, &row, err));
        side->copies[n_copies++] = row.time.median;
    }
    side->n_copies = n_copies;
    /* what no method whose arrays stay in a cache can exceed: the copies above read from memory */
    copy_case hot = {.side = side, .to = c.to, .bytes = 4000000 / 64 * 64, .is_hot = 1};
    row.name = "copy, 8 MB in all, hot";
    row.bytes = 2.0 * (double)hot.bytes;
    MODAL_TRY(bench_measure(b, side, call_copy, &hot, &row.time, err));
    MODAL_TRY(bench_row_add(b, &row, err));
done:
    bench_free(side, &c.to);
    return status;
}

static modal_status open_side(modal_bench *b, bench_side *side, const char *name, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t bytes = b->quick ? 48 << 20 : (INT64_C(4) << 30), available = b->memory_limit / 2;
    MODAL_TRY(modal_device_open(&side->device, name, err));
    side->is_cuda = !side->device.shares_memory;
    side->present = 1;
    MODAL_TRY(modal_device_stream_new(&side->device, &side->stream, err));
    if (side->is_cuda) {
        MODAL_TRY(modal_device_free_bytes(&side->device, &available, err));
        available /= 2;
    }
    if (bytes > available) bytes = available / 4096 * 4096;
    if (bytes < 48 << 20)
        MODAL_FAIL(err, MODAL_ERROR_MEMORY, "%stoo little memory, %" PRId64 " bytes for %s",
                   side->is_cuda ? "" : "--memory-limit: ", available, side->device.name);
    side->pool_floats = bytes / 4;
    MODAL_TRY(bench_random_on(side, &side->pool, side->pool_floats, 1, err));
done:
    return status;
}

modal_status modal_bench_new(modal_bench **bench, const modal_bench_request *request,
                             modal_error *err)
{
    modal_status status = MODAL_OK;
    char reason[256] = "";
    *bench = NULL;
    MODAL_TRY(modal_alloc_zero(bench, 1, sizeof **bench, "benchmark", err));
    modal_bench *b = *bench;
    b->quick = request->quick;
    b->runs = b->quick ? BENCH_RUNS_QUICK : BENCH_RUNS;
    b->n_threads = request->n_threads;
    b->folder = request->folder;
    b->surface = request->surface;
    b->only_ours = request->only_ours;
    b->depth = request->depth;
    b->plants = request->plants;
    b->text = request->text;
    b->memory_limit = request->memory_limit > 0 ? request->memory_limit : bench_cpu_available() / 4 * 3;
    b->results = json_array();
    b->absent = json_array();
    if (!b->results || !b->absent) MODAL_FAIL(err, MODAL_ERROR_MEMORY, "JSON: no memory");
    omp_set_num_threads(b->n_threads);
    opponents_cpu_threads(b->n_threads);
    MODAL_TRY(modal_device_open(&b->ref, "ref", err));
    /* the GPU before the CPU's memory is filled: a GPU that was asked for and is absent is said at once */
    const char *gpu = strcmp(request->back_end, "auto") == 0 ? "cuda" : request->back_end;
    modal_device_cuda_reason(reason, sizeof reason);
    if (strncmp(gpu, "cuda", 4) == 0 && (strcmp(request->back_end, "auto") != 0 || !reason[0])) {
        MODAL_TRY(open_side(b, &b->gpu, gpu, err));
    } else if (strcmp(gpu, "cpu") != 0 && strcmp(request->back_end, "auto") != 0) {
        modal_device none; /* a name that is none is refused there */
        MODAL_TRY(modal_device_open(&none, request->back_end, err));
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--backend: cpu, auto, cuda or cuda:N, %s", request->back_end);
    }
    if (request->gpu_only && !b->gpu.present) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "--gpu-only: no GPU, %s", reason);
    b->cpu_rows = !request->gpu_only;
    MODAL_TRY(open_side(b, &b->cpu, "cpu", err));
    if (b->gpu.present) bench_print(b, "gpu: %s\n", b->gpu.device.hardware);
    bench_print(b, "cpu: %s\nMedians of %d runs. Bytes: each input read once, each output written once. "
                   "* ours; x ours: how many times as long.\n",
                b->cpu.device.hardware, b->runs);
    bench_table(b, "ceilings", "Ceilings");
    bench_headings(b);
    if (b->gpu.present) MODAL_TRY(measure_ceilings(b, &b->gpu, err));
    MODAL_TRY(measure_ceilings(b, &b->cpu, err));
    if (!b->gpu.present)
        bench_absent(b, "GPU", reason[0] ? reason : "--backend cpu");
    if (b->gpu.present && !opponents_have_cublas()) bench_absent(b, "cuBLAS", "built without it");
    if (!opponents_have_openblas()) bench_absent(b, "OpenBLAS", "built without it");
done:
    return status;
}

modal_bench *modal_bench_delete(modal_bench *b)
{
    if (!b) return NULL;
    bench_side *sides[] = {&b->gpu, &b->cpu};
    opponents_end_cublas();
    for (int i = 0; i < 2; i++) {
        if (!sides[i]->present) continue;
        modal_device_free(&sides[i]->device, &sides[i]->pool);
        modal_device_stream_delete(&sides[i]->device, &sides[i]->stream);
    }
    json_decref(b->results);
    json_decref(b->absent);
    modal_free(&b);
    return NULL;
}

/* ---- what the tool calls ---- */

const char *const modal_bench_parts[] = {"uq", "multi", "batch", "frame", "pipeline", "rings", "nbody", "tled", "octree", "render", "plants", NULL};

modal_status modal_bench_run(modal_bench *b, int part, modal_error *err)
{
    static modal_status (*const parts[])(modal_bench *, modal_error *) = {
        bench_uq, bench_multi, bench_batch, bench_frame, bench_pipeline, bench_rings, bench_nbody, bench_tled, bench_octree,
        bench_render, bench_plants};
    return parts[part](b, err);
}

#ifdef MODAL_HAVE_CUDA
/* As nvidia-smi has them at the end of the run, "" where there is none. */
static const char *clocks_and_power(const bench_side *side, char *text, size_t length)
{
    char command[256];
    snprintf(command, sizeof command,
             "nvidia-smi -i %d --query-gpu=clocks.sm,clocks.max.sm,clocks.mem,power.draw,power.limit "
             "--format=csv,noheader 2>/dev/null", side->device.ordinal);
    FILE *pipe = popen(command, "r");
    if (!pipe || !fgets(text, (int)length, pipe)) text[0] = '\0';
    if (pipe) pclose(pipe);
    text[strcspn(text, "\n")] = '\0';
    return text;
}
#endif

json_t *modal_bench_json(const modal_bench *b)
{
#ifdef MODAL_HAVE_CUDA
    char text[256];
#endif
    char date[32];
    const time_t seconds = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &utc));
    json_t *machine = json_pack("{s:{s:s, s:i, s:f}}", "cpu", "hardware", b->cpu.device.hardware,
                                "threads", b->n_threads, "copy_gb_per_s", 1e-9 * b->cpu.copy_rate);
#ifdef MODAL_HAVE_CUDA
    bench_cuda_device d = {0};
    if (b->gpu.present && bench_cuda_describe(b->gpu.device.ordinal, &d, NULL) == MODAL_OK)
        json_object_set_new(
            machine, "gpu",
            json_pack("{s:s, s:f, s:f, s:i, s:i, s:I, s:i, s:i, s:s, s:f, s:s}", "hardware",
                      b->gpu.device.hardware, "copy_gb_per_s", 1e-9 * b->gpu.copy_rate,
                      "launch_seconds", b->gpu.launch_seconds, "multiprocessors", d.multiprocessors,
                      "l2_bytes", d.l2_bytes, "memory_bytes", (json_int_t)d.memory_bytes,
                      "cuda_runtime", d.runtime, "cuda_driver", d.driver, "cublas",
                      opponents_cublas_version(), "datasheet_gb_per_s", 1e-9 * d.datasheet_rate, "clocks_and_power",
                      clocks_and_power(&b->gpu, text, sizeof text)));
#endif
    /* what changes OpenMP's and OpenBLAS's threads */
    static const char *const variables[] = {"OMP_PROC_BIND", "OMP_PLACES", "OMP_WAIT_POLICY",
                                            "GOMP_SPINCOUNT", "GOMP_CPU_AFFINITY", "OPENBLAS_NUM_THREADS"};
    json_t *environment = json_object();
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]))
            json_object_set_new(environment, variables[i], json_string(getenv(variables[i])));
    json_object_set_new(machine, "environment", environment);
    json_object_set_new(machine, "openblas", json_string(opponents_openblas_version()));
    return json_pack("{s:s, s:b, s:i, s:o, s:O, s:O}", "date", date, "quick", b->quick, "runs", b->runs,
                     "machine", machine, "results", b->results, "absent", b->absent);
}

void modal_bench_print_versions(FILE *to)
{
    fprintf(to, "opponents: %s; %s\n",
            opponents_have_openblas() ? opponents_openblas_version() : "no OpenBLAS",
            opponents_have_cublas() ? opponents_cublas_version() : "no cuBLAS");
}
