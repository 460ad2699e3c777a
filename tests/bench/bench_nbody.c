/* SPDX-License-Identifier: Apache-2.0 */
/* All pairs of bodies: pair_sum beside the published kernel with tiles of 32 and of 256 bodies, and beside what the device's
 * float32 multiply-adds allow at 12 a pair. */
#include <math.h>
#include <stdlib.h>

#include "kernels/pair_sum/pair_sum.h"
#include "lib/base/memory.h"
#include "tests/bench/bench.h"
#include "tests/bench/opponents/gl.h"
#include "tests/bench/opponents/ring_patterns.h"

enum { CHECKED = 64, BLOCKS = 132 * 16, MULTIPLY_ADDS = 160000, MOST_ON_CPU = 16384, MOST_DRAWN = 65536, MOST_DRAWN_BY_CPU = 1024 };
static const float SOFTENING = 0.01f;
/* Sums of n terms that are rounded one by one, in parts: as random walks go. */
static const double TOLERANCE = 2e-5;
static const char TOLERANCE_TEXT[] = "2e-5 of what is added";

typedef struct nbody {
    modal_bench *b;
    bench_side *side;
    int64_t n;
    int tile;       /* of the opponent, or 0: ours */
    const gl_context *gl; /* or NULL */
    float *bodies;  /* [n, 4] in main memory */
    float *d_bodies, *sums, *work;
} nbody;

static modal_status call(void *context, int64_t k, modal_error *err)
{
    const nbody *s = context;
    const modal_pair_sum_task task = {s->n, s->d_bodies, SOFTENING, s->sums, s->work};
    (void)k;
#ifdef MODAL_HAVE_CUDA
    if (s->tile) return pairs_published(&task, s->tile, s->side->stream, err);
#endif
    return s->side->device.kernels->pair_sum(&task, s->side->stream, err);
}

#ifdef MODAL_HAVE_CUDA
static modal_status call_multiply_adds(void *context, int64_t k, modal_error *err)
{
    const nbody *s = context;
    (void)k;
    return pairs_multiply_adds(s->work, BLOCKS, MULTIPLY_ADDS, s->side->stream, err);
}
#endif

/* Some bodies' sums against float64, over the tolerance. */
static double error_of(const nbody *s, const float *got)
{
    double error = 0.0;
    for (int64_t i = 0; i < s->n; i += s->n / CHECKED) {
        double sum[3] = {0, 0, 0}, size = 0;
        for (int64_t j = 0; j < s->n; j++) {
            const float *a = s->bodies + 4 * i, *b = s->bodies + 4 * j;
            const double d[3] = {(double)b[0] - (double)a[0], (double)b[1] - (double)a[1], (double)b[2] - (double)a[2]};
            const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], soft = r2 + (double)SOFTENING * (double)SOFTENING;
            const double f = (double)b[3] / (soft * sqrt(soft));
            for (int c = 0; c < 3; c++) sum[c] += f * d[c];
            size += fabs(f) * sqrt(r2);
        }
        for (int c = 0; c < 3; c++) {
            const double share = fabs((double)got[3 * i + c] - sum[c]) / (TOLERANCE * size);
            error = bench_worse(error, share);
        }
    }
    return error;
}

static modal_status compare(const nbody *s, double *error, modal_error *err)
{
    modal_status status = MODAL_OK;
    float *got = NULL;
    MODAL_TRY(modal_alloc(&got, 3 * s->n, sizeof *got, "check", err));
    MODAL_TRY(bench_from_device(s->side, got, s->sums, 12 * s->n, err));
    *error = error_of(s, got);
done:
    modal_free(&got);
    return status;
}

static modal_status add_row(nbody *s, const bench_row *row, modal_error *err)
{
    const modal_status status = bench_row_add(s->b, row, err);
    const double rate = row->pairs / row->time.median;
    bench_print(s->b, "%-4s %s%-36s %8lld %12.2f us %9.1f G pairs/s", s->side->is_cuda ? "gpu" : "cpu", row->ours ? "* " : "  ",
                row->name, (long long)s->n, 1e6 * row->time.median, 1e-9 * rate);
    if (s->side->multiply_adds > 0.0)
        bench_print(s->b, " %5.1f %% of the bound", 100.0 * BENCH_PAIR_OPERATIONS * rate / s->side->multiply_adds);
    bench_print(s->b, row->ours ? "\n" : " %6.2f x ours\n", row->time.median / s->b->ours);
    return status;
}

static modal_status measure(nbody *s, int tile, modal_error *err)
{
    modal_status status = MODAL_OK;
    const double n = (double)s->n;
    bench_row row = {.name = tile == 32 ? "published, tiles of 32" : tile ? "published, tiles of 256" : "pair_sum",
                     .hidden = 1, .ours = !tile, .side = s->side, .n_vertices = s->n, .n_columns = 1, .n_objects = s->n,
                     .bytes = 28.0 * n, .pairs = n * n, .tolerance = TOLERANCE_TEXT};
    s->tile = tile;
    MODAL_TRY(bench_poison(s->side, s->sums, 12 * s->n, err));
    MODAL_TRY(call(s, 0, err));
    MODAL_TRY(compare(s, &row.error, err));
    MODAL_TRY(bench_measure(s->b, s->side, call, s, &row.time, err));
    MODAL_TRY(add_row(s, &row, err));
done:
    return status;
}

static modal_status measure_drawn(nbody *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    const double n = (double)s->n;
    gl_pairs *drawn = NULL;
    float *got = NULL;
    bench_row row = {.name = "instances of tessellated patches", .hidden = 1, .side = s->side, .n_vertices = s->n, .n_columns = 1,
                     .n_objects = s->n, .bytes = 28.0 * n, .pairs = n * n, .tolerance = TOLERANCE_TEXT};
    MODAL_TRY(modal_alloc(&got, 3 * s->n, sizeof *got, "check", err));
    MODAL_TRY(gl_pairs_new(&drawn, s->gl, s->n, s->bodies, SOFTENING, err));
    gl_pairs_draw(drawn);
    MODAL_TRY(gl_pairs_read(drawn, got, err));
    row.error = error_of(s, got);
    MODAL_TRY(gl_measure(s->b, s->gl, gl_pairs_draw, drawn, &row.time, err));
    MODAL_TRY(add_row(s, &row, err));
done:
    drawn = gl_pairs_delete(drawn);
    modal_free(&got);
    return status;
}

static modal_status one_size(nbody *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_alloc(&s->bodies, 4 * s->n, sizeof *s->bodies, "bodies", err));
    for (int64_t i = 0; i < 4 * s->n; i++)
        s->bodies[i] = i % 4 == 3 ? 0.5f + 0.4f * bench_noise(81, (uint64_t)i) : bench_noise(82, (uint64_t)i);
    MODAL_TRY(bench_to_device(s->side, &s->d_bodies, s->bodies, 16 * s->n, "bodies", err));
    MODAL_TRY(bench_to_device(s->side, &s->sums, NULL, 12 * s->n, "sums", err));
    MODAL_TRY(bench_to_device(s->side, &s->work, NULL, 4 * modal_pair_sum_work(s->n), "sums", err));
    MODAL_TRY(measure(s, 0, err));
#ifdef MODAL_HAVE_CUDA
    if (s->side->is_cuda) {
        MODAL_TRY(measure(s, 256, err));
        MODAL_TRY(measure(s, 32, err));
    }
#endif
    /* beside the GPU, or where there is none beside the CPU, which then draws */
    if (s->gl && s->side->is_cuda == s->b->gpu.present && s->n <= (s->side->is_cuda ? MOST_DRAWN : MOST_DRAWN_BY_CPU))
        MODAL_TRY(measure_drawn(s, err));
done:
    modal_free(&s->bodies);
    bench_free(s->side, &s->d_bodies);
    bench_free(s->side, &s->sums);
    bench_free(s->side, &s->work);
    return status;
}

#ifdef MODAL_HAVE_CUDA
static modal_status measure_multiply_adds(modal_bench *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    nbody s = {.b = b, .side = &b->gpu};
    bench_time time;
    MODAL_TRY(bench_to_device(&b->gpu, &s.work, NULL, 4 * 256 * BLOCKS, "multiply-adds", err));
    MODAL_TRY(bench_measure(b, &b->gpu, call_multiply_adds, &s, &time, err));
    b->gpu.multiply_adds = (double)BLOCKS * 256 * MULTIPLY_ADDS / time.median;
    bench_print(b, "gpu: %.2f T multiply-adds/s, at %d a pair %.0f G pairs/s\n", 1e-12 * b->gpu.multiply_adds,
                BENCH_PAIR_OPERATIONS, 1e-9 * b->gpu.multiply_adds / BENCH_PAIR_OPERATIONS);
done:
    bench_free(&b->gpu, &s.work);
    return status;
}
#endif

modal_status bench_nbody(modal_bench *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    static const int64_t sizes[] = {1024, 4096, 16384, 65536, 262144};
    bench_table(b, "nbody", "All pairs of bodies");
    gl_context *gl = bench_gl(b, "all pairs by instances of tessellated patches");
#ifdef MODAL_HAVE_CUDA
    if (b->gpu.present) MODAL_TRY(measure_multiply_adds(b, err));
#endif
    for (int side = 1; side >= 0; side--)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            nbody s = {.b = b, .side = side ? &b->gpu : &b->cpu, .n = sizes[i], .gl = gl};
            if (!s.side->present || (!side && s.n > MOST_ON_CPU) || (b->quick && i > 0)) continue;
            MODAL_TRY(one_size(&s, err));
        }
done:
    gl = gl_context_delete(gl);
    return status;
}
