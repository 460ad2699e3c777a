/* SPDX-License-Identifier: Apache-2.0 */
/* Two passes over a step, each shared by the threads: patches of elements, then nodes. kernels/tled_layout/tled_lanes.h has
 * why; the sums have one order. */
#include "kernels/tled_step/tled_step.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/cpu.h"
#include "kernels/tled_layout/tled_lanes.h"
#include "lib/base/memory.h"

#define SCALAR float
#define DOUBLE 0
#define LANES 4
#define TARGET
#define NAME(x) x##_f_base
#include "kernels/tled_step/tled_sets.h"
#if defined(MODAL_SIMD) && defined(__x86_64__)
#define LANES 8
#define TARGET __attribute__((target("avx2,fma")))
#define NAME(x) x##_f_avx2
#include "kernels/tled_step/tled_sets.h"
#define LANES 16
#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx2,fma,prefer-vector-width=512")))
#define NAME(x) x##_f_avx512
#include "kernels/tled_step/tled_sets.h"
#endif
#undef SCALAR
#undef DOUBLE

#define SCALAR double
#define DOUBLE 1
#define LANES 4
#define TARGET
#define NAME(x) x##_d_base
#include "kernels/tled_step/tled_sets.h"
#if defined(MODAL_SIMD) && defined(__x86_64__)
#define LANES 4
#define TARGET __attribute__((target("avx2,fma")))
#define NAME(x) x##_d_avx2
#include "kernels/tled_step/tled_sets.h"
#define LANES 8
#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx2,fma,prefer-vector-width=512")))
#define NAME(x) x##_d_avx512
#include "kernels/tled_step/tled_sets.h"
#endif
#undef SCALAR
#undef DOUBLE

typedef struct functions {
    void (*patch)(const modal_tled_lanes *, const modal_tled_extras *, int64_t, const void *, void *, int64_t *, double *);
    void (*nodes)(const modal_tled_step_task *, const modal_tled_factors *, int64_t, int64_t, int64_t, int64_t,
                  modal_tled_work *);
    void (*faces)(const modal_tled_step_task *, int64_t, int64_t);
    void (*changes)(const modal_tled_lanes *, int64_t, const void *, void *);
    void (*pressures)(const modal_tled_lanes *, int64_t, int64_t);
    void (*stiffness)(const modal_tled_lanes *, int64_t, const void *, void *);
    double (*stiffest)(const modal_tled_lanes *, int64_t, int64_t);
} functions;

static functions choose(modal_tled_precision precision)
{
#define SET(name) \
    ((functions){patch_##name, nodes_##name, faces_##name, changes_##name, pressures_##name, stiffness_##name, stiffest_##name})
#if defined(MODAL_SIMD) && defined(__x86_64__)
    const modal_simd simd = modal_cpu_simd();
    if (precision == MODAL_TLED_FLOAT64)
        return simd == MODAL_SIMD_AVX512 ? SET(d_avx512) : simd == MODAL_SIMD_AVX2 ? SET(d_avx2) : SET(d_base);
    return simd == MODAL_SIMD_AVX512 ? SET(f_avx512) : simd == MODAL_SIMD_AVX2 ? SET(f_avx2) : SET(f_base);
#else
    return precision == MODAL_TLED_FLOAT64 ? SET(d_base) : SET(f_base);
#endif
}

enum { CHUNK = 1024 }; /* nodes, whose works are summed first */

/* The first special at or after a node. */
static int64_t special_from(const modal_tled_lanes *l, int64_t node)
{
    int64_t low = 0, high = l->n_specials;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (l->specials[middle].node < node) low = middle + 1;
        else high = middle;
    }
    return low;
}

typedef struct scratch {
    char *local; /* [threads, local_bytes] */
    int64_t local_bytes, n_chunks;
    int64_t *first_special; /* [n_chunks] */
    modal_tled_work *works; /* [n_chunks] */
    int64_t *turned;        /* [n_patches] */
    double *jacobians;      /* [n_patches] */
    modal_tled_decay *decays; /* [n_materials, MODAL_TLED_TERMS], NULL where no material is rich */
} scratch;

static modal_status new_decays(const modal_tled_step_task *t, scratch *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_solid *solid = t->layout->solid;
    int any = 0;
    for (int32_t m = 0; m < solid->n_materials; m++) any |= modal_tled_is_rich(&solid->materials[m]);
    if (!any) goto done;
    MODAL_TRY(modal_alloc_zero(&s->decays, solid->n_materials, MODAL_TLED_TERMS * sizeof *s->decays, "steps", err));
    for (int32_t m = 0; m < solid->n_materials; m++)
        for (int k = 0; k < solid->materials[m].n_terms; k++)
            s->decays[m * MODAL_TLED_TERMS + k] = modal_tled_decay_of(&solid->materials[m], k, t->step, t->before);
done:
    return status;
}

static modal_status new_scratch(const modal_tled_lanes *l, scratch *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t bytes = l->head.precision == MODAL_TLED_FLOAT64 ? 8 : 4;
    s->local_bytes = (8 * bytes * l->most_nodes + 127) / 64 * 64;
    s->n_chunks = (l->head.solid->n_nodes + CHUNK - 1) / CHUNK;
    MODAL_TRY(modal_alloc(&s->local, omp_get_max_threads() * s->local_bytes, 1, "a patch", err));
    MODAL_TRY(modal_alloc(&s->first_special, s->n_chunks, sizeof *s->first_special, "steps", err));
    MODAL_TRY(modal_alloc(&s->works, s->n_chunks, sizeof *s->works, "steps", err));
    MODAL_TRY(modal_alloc(&s->turned, l->n_patches, sizeof *s->turned, "steps", err));
    MODAL_TRY(modal_alloc(&s->jacobians, l->n_patches, sizeof *s->jacobians, "steps", err));
    for (int64_t c = 0; c < s->n_chunks; c++) s->first_special[c] = special_from(l, c * CHUNK);
done:
    return status;
}

static void free_scratch(scratch *s)
{
    modal_free(&s->local);
    modal_free(&s->first_special);
    modal_free(&s->works);
    modal_free(&s->turned);
    modal_free(&s->jacobians);
    modal_free(&s->decays);
}

/* After the patches: the lowest turned element of all. */
static void note_turned(const modal_tled_step_task *t, const modal_tled_lanes *l, const scratch *s, int64_t step)
{
    int64_t lowest = -1;
    double jacobian = 0;
    for (int64_t p = 0; p < l->n_patches; p++)
        if (s->turned[p] >= 0 && (lowest < 0 || s->turned[p] < lowest)) lowest = s->turned[p], jacobian = s->jacobians[p];
    if (t->watch->step < 0)
        *t->watch = (modal_tled_watch){step, lowest, isfinite(jacobian) && jacobian < 1e30 ? jacobian : NAN};
}

static void run_steps(const modal_tled_step_task *t, const modal_tled_lanes *l, scratch *s)
{
    const modal_tled_solid *solid = l->head.solid;
    const modal_tled_factors x = modal_tled_step_factors(t->step, t->before, t->alpha);
    const functions f = choose(l->head.precision);
    const modal_tled_extras extras = {s->decays, t->viscous};
    int any = 0;
#pragma omp parallel if (l->n_patches > 1)
    for (int64_t k = 0; k < t->n_steps; k++) {
        void *local = s->local + omp_get_thread_num() * s->local_bytes;
#pragma omp for schedule(static) nowait
        for (int64_t begin = 0; begin < solid->n_faces; begin += CHUNK)
            f.faces(t, begin, begin + CHUNK < solid->n_faces ? begin + CHUNK : solid->n_faces);
        if (l->pressures) {
#pragma omp for schedule(static)
            for (int64_t p = 0; p < l->n_patches; p++) f.changes(l, p, t->u, local);
#pragma omp for schedule(static)
            for (int64_t c = 0; c < s->n_chunks; c++)
                f.pressures(l, c * CHUNK, (c + 1) * CHUNK < solid->n_nodes ? (c + 1) * CHUNK : solid->n_nodes);
        }
#pragma omp for schedule(static)
        for (int64_t p = 0; p < l->n_patches; p++) {
            s->turned[p] = -1;
            f.patch(l, s->decays ? &extras : NULL, p, t->u, local, &s->turned[p], &s->jacobians[p]);
            if (s->turned[p] >= 0) {
#pragma omp atomic write
                any = 1;
            }
        }
        int stop;
#pragma omp atomic read
        stop = any; /* nobody writes it before the next barrier */
        if (stop) {
#pragma omp single
            note_turned(t, l, s, t->first + k);
            break;
        }
#pragma omp for schedule(static)
        for (int64_t c = 0; c < s->n_chunks; c++) {
            const int64_t end = (c + 1) * CHUNK < solid->n_nodes ? (c + 1) * CHUNK : solid->n_nodes;
            s->works[c] = (modal_tled_work){0};
            f.nodes(t, &x, k, c * CHUNK, end, s->first_special[c], t->work ? &s->works[c] : NULL);
        }
        if (!t->work) continue;
#pragma omp single
        for (int64_t c = 0; c < s->n_chunks; c++) {
            t->work->loads += s->works[c].loads;
            t->work->held += s->works[c].held;
            t->work->damped += s->works[c].damped;
            t->work->inner += s->works[c].inner;
        }
    }
}

/* The state's `stiffest`. */
static void find_stiffest(const modal_tled_step_task *t, const modal_tled_lanes *l, scratch *s)
{
    const int64_t n_nodes = l->head.solid->n_nodes;
    const functions f = choose(l->head.precision);
    double most = 0;
#pragma omp parallel if (l->n_patches > 1)
    {
        void *local = s->local + omp_get_thread_num() * s->local_bytes;
#pragma omp for schedule(static)
        for (int64_t p = 0; p < l->n_patches; p++) f.stiffness(l, p, t->u, local);
#pragma omp for schedule(static) reduction(max : most)
        for (int64_t c = 0; c < s->n_chunks; c++) {
            const double own = f.stiffest(l, c * CHUNK, (c + 1) * CHUNK < n_nodes ? (c + 1) * CHUNK : n_nodes);
            most = own > most ? own : most;
        }
    }
    *t->stiffest = most;
}

modal_status modal_tled_step_cpu(const modal_tled_step_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream;
    modal_status status = MODAL_OK;
    const modal_tled_lanes *l = (const modal_tled_lanes *)task->layout;
    scratch s = {0};
    MODAL_TRY(new_scratch(l, &s, err));
    MODAL_TRY(new_decays(task, &s, err));
    run_steps(task, l, &s);
    if (task->stiffest && task->watch->step < 0) find_stiffest(task, l, &s);
done:
    free_scratch(&s);
    return status;
}
