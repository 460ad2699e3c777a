/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/tled/motion.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/device.h"
#include "lib/base/cores.h"
#include "lib/base/memory.h"

/* Steps of one task at most, and element steps where the processor does them: so often a signal is heard, and cores that
 * others use are noticed. */
enum { BATCH = 256, BATCH_WORK = 4000000 };

/* Times and counts of a motion, before its arrays. */
typedef struct saved_head {
    double step, before, start;
    int64_t done, begun;
} saved_head;

struct modal_tled_motion {
    const modal_device *device, *devices; /* devices [n_devices] share the steps, where n_devices > 1 */
    int n_devices;
    const modal_tled_model *model;
    const modal_solid_scene *scene;
    modal_tled_precision precision;
    double step, before;     /* s, of the next step and of the one before it, 0: none */
    double kernel_step, alpha; /* of the kernels; kernel_step 0: step */
    double start;            /* s, after `begun` steps, from which on `step` holds */
    int64_t done, begun;
    modal_stream *stream;
    modal_tled_layout *layout;
    void *u, *low, *d; /* on the device */
    void *viscous;     /* likewise, or NULL */
    double *gravity, *signals, *reactions, *touches;
    modal_tled_watch *watch;
    modal_tled_work *work;
    void *h_state;                           /* [n_nodes, 4] of either precision */
    double *h_gravity, *h_signals, *h_reactions, *h_touches;
    double *own, *own_d; /* [n_nodes, 3] the solid's order */
    double *stiffest;    /* on the device, where `follows` */
    char *kept;          /* likewise: the state that modal_tled_motion_back brings back, */
    saved_head kept_head; /* with its times and counts */
};

static int64_t state_bytes(const modal_tled_motion *m)
{
    return 4 * m->model->solid.n_nodes * (m->precision == MODAL_TLED_FLOAT64 ? 8 : 4);
}

/* Everything that is kept on the device, in the order of the file. */
typedef struct kept {
    void *at;
    int64_t bytes;
} kept;

enum { KEPT = 7 };

static void keep_of(const modal_tled_motion *m, kept all[KEPT])
{
    const modal_tled_solid *s = &m->model->solid;
    const int64_t bytes = state_bytes(m);
    const kept list[KEPT] = {{m->u, bytes},
                             {m->low, m->low ? 2 * bytes : 0},
                             {m->d, bytes},
                             {m->viscous, m->viscous ? m->layout->viscous_bytes : 0},
                             {m->work, m->work ? (int64_t)sizeof *m->work : 0},
                             {m->reactions, m->reactions ? 24 * s->n_held : 0},
                             {m->touches, m->touches ? 24 * s->n_contacts * s->n_touching : 0}};
    memcpy(all, list, sizeof list);
}

static modal_status new_arrays(modal_tled_motion *m, const modal_tled_motion_options *options, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = &m->model->solid;
    const int64_t n_signals = (BATCH + 1) * (int64_t)s->n_signals;
    void **const states[] = {&m->u, &m->low, &m->d};
    for (int k = 0; k < 3; k++) {
        if (k == 1 && (m->precision == MODAL_TLED_FLOAT64 || m->layout->packs_low)) continue;
        const int64_t bytes = (k == 1 ? 2 : 1) * state_bytes(m);
        MODAL_TRY(modal_device_alloc(m->device, states[k], bytes, 1, "state", err));
        MODAL_TRY(modal_device_fill(m->device, *states[k], 0, bytes, m->stream, err));
    }
    MODAL_TRY(modal_device_alloc(m->device, &m->gravity, 3 * BATCH, sizeof(double), "gravity", err));
    MODAL_TRY(modal_device_alloc(m->device, &m->signals, n_signals, sizeof(double), "signals", err));
    MODAL_TRY(modal_device_alloc(m->device, &m->watch, 1, sizeof *m->watch, "watch", err));
    const modal_tled_watch none = {-1, -1, 0};
    MODAL_TRY(modal_device_copy_in(m->device, m->watch, &none, sizeof none, m->stream, err));
    MODAL_TRY(modal_device_stream_wait(m->device, m->stream, err));
    if (options->energy) {
        MODAL_TRY(modal_device_alloc(m->device, &m->work, 1, sizeof *m->work, "work", err));
        MODAL_TRY(modal_device_fill(m->device, m->work, 0, sizeof *m->work, m->stream, err));
    }
    if (options->reactions) {
        MODAL_TRY(modal_device_alloc(m->device, &m->reactions, s->n_held, 3 * sizeof(double), "reactions", err));
        MODAL_TRY(modal_device_fill(m->device, m->reactions, 0, s->n_held * 24, m->stream, err));
        MODAL_TRY(modal_alloc(&m->h_reactions, s->n_held, 3 * sizeof(double), "reactions", err));
    }
    if (m->layout->viscous_bytes > 0) {
        MODAL_TRY(modal_device_alloc(m->device, &m->viscous, m->layout->viscous_bytes, 1, "Prony terms", err));
        MODAL_TRY(modal_device_fill(m->device, m->viscous, 0, m->layout->viscous_bytes, m->stream, err));
    }
    if (s->n_contacts > 0) {
        const int64_t n = s->n_contacts * s->n_touching;
        MODAL_TRY(modal_device_alloc(m->device, &m->touches, n, 3 * sizeof(double), "bodies", err));
        MODAL_TRY(modal_device_fill(m->device, m->touches, 0, 24 * n, m->stream, err));
        MODAL_TRY(modal_alloc(&m->h_touches, n, 3 * sizeof(double), "bodies", err));
    }
    if (options->follows) {
        kept all[KEPT];
        keep_of(m, all);
        int64_t sum = 0;
        for (int k = 0; k < KEPT; k++) sum += (all[k].bytes + 63) / 64 * 64;
        MODAL_TRY(modal_device_alloc(m->device, &m->stiffest, 1, sizeof *m->stiffest, "stiffness", err));
        MODAL_TRY(modal_device_alloc(m->device, &m->kept, sum, 1, "a state to go back to", err));
    }
    MODAL_TRY(modal_device_alloc_host(m->device, &m->h_state, state_bytes(m), 1, "state", err));
    MODAL_TRY(modal_alloc(&m->h_gravity, 3 * BATCH, sizeof(double), "gravity", err));
    MODAL_TRY(modal_alloc(&m->h_signals, n_signals, sizeof(double), "signals", err));
    MODAL_TRY(modal_alloc_zero(&m->own, s->n_nodes, 3 * sizeof(double), "displacements", err));
    MODAL_TRY(modal_alloc_zero(&m->own_d, s->n_nodes, 3 * sizeof(double), "displacements", err));
done:
    return status;
}

modal_status modal_tled_motion_new(const modal_device *device, const modal_tled_model *model, const modal_solid_scene *scene,
                                   const modal_tled_motion_options *options, modal_tled_motion **motion, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_tled_motion *m = NULL;
    *motion = NULL;
    MODAL_TRY(modal_alloc_zero(&m, 1, sizeof *m, "motion", err));
    m->devices = options->devices, m->n_devices = options->n_devices;
    m->device = device, m->model = model, m->scene = scene, m->precision = options->precision;
    m->step = options->step, m->kernel_step = options->kernel_step, m->alpha = scene->alpha;
    MODAL_TRY(modal_device_stream_new(device, &m->stream, err));
    if (!device->kernels->tled_step || !device->kernels->tled_layout)
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "back end %s: cannot move whole solids", device->name);
    MODAL_TRY(modal_tled_motion_relayout(m, err));
    MODAL_TRY(new_arrays(m, options, err));
    *motion = m;
    m = NULL;
done:
    modal_tled_motion_delete(m);
    return status;
}

modal_tled_motion *modal_tled_motion_delete(modal_tled_motion *m)
{
    if (!m) return NULL;
    modal_tled_layout_free(&m->layout);
    modal_device_free(m->device, &m->u);
    modal_device_free(m->device, &m->low);
    modal_device_free(m->device, &m->d);
    modal_device_free(m->device, &m->gravity);
    modal_device_free(m->device, &m->signals);
    modal_device_free(m->device, &m->reactions);
    modal_device_free(m->device, &m->viscous);
    modal_device_free(m->device, &m->touches);
    modal_device_free(m->device, &m->watch);
    modal_device_free(m->device, &m->work);
    modal_device_free(m->device, &m->stiffest);
    modal_device_free(m->device, &m->kept);
    modal_device_free_host(m->device, &m->h_state);
    modal_device_stream_delete(m->device, &m->stream);
    modal_free(&m->h_gravity);
    modal_free(&m->h_signals);
    modal_free(&m->h_reactions);
    modal_free(&m->h_touches);
    modal_free(&m->own);
    modal_free(&m->own_d);
    modal_free(&m);
    return NULL;
}

static modal_status check_watch(modal_tled_motion *m, int64_t *element, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_tled_watch watch;
    MODAL_TRY(modal_device_copy_out(m->device, &watch, m->watch, sizeof watch, m->stream, err));
    MODAL_TRY(modal_device_stream_wait(m->device, m->stream, err));
    if (watch.step < 0) goto done;
    *element = m->model->element_from[watch.element];
    const double time = modal_tled_motion_time(m, watch.step);
    if (isfinite(watch.jacobian))
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "t = %.9g s (step %lld): turned inside out, J = %.4g", time,
                   (long long)watch.step, watch.jacobian);
    MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "t = %.9g s (step %lld): not finite", time, (long long)watch.step);
done:
    return status;
}

modal_status modal_tled_motion_stiffest(modal_tled_motion *m, double *stiffest, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_step_task task = {.layout = m->layout, .u = m->u, .low = m->low, .d = m->d, .step = m->step, .first = m->done,
                                       .watch = m->watch, .viscous = m->viscous, .stiffest = m->stiffest};
    MODAL_TRY(modal_device_select(m->device, err));
    MODAL_TRY(m->device->kernels->tled_step(&task, m->stream, err)); /* no step */
    MODAL_TRY(modal_device_copy_out(m->device, stiffest, m->stiffest, sizeof *stiffest, m->stream, err));
    MODAL_TRY(modal_device_stream_wait(m->device, m->stream, err));
done:
    return status;
}

/* Between the state and where it is kept: to it, or back. */
static modal_status copy_state(modal_tled_motion *m, int back, modal_error *err)
{
    modal_status status = MODAL_OK;
    kept all[KEPT];
    char *at = m->kept;
    keep_of(m, all);
    for (int k = 0; k < KEPT; at += (all[k++].bytes + 63) / 64 * 64)
        if (all[k].bytes > 0) MODAL_TRY(modal_device_copy(m->device, back ? all[k].at : at, back ? at : all[k].at, all[k].bytes, m->stream, err));
done:
    return status;
}

modal_status modal_tled_motion_keep(modal_tled_motion *m, modal_error *err)
{
    m->kept_head = (saved_head){m->step, m->before, m->start, m->done, m->begun};
    return copy_state(m, 0, err);
}

modal_status modal_tled_motion_back(modal_tled_motion *m, modal_error *err)
{
    static const modal_tled_watch none = {-1, -1, 0};
    modal_status status = MODAL_OK;
    const saved_head *head = &m->kept_head;
    MODAL_TRY(copy_state(m, 1, err));
    MODAL_TRY(modal_device_copy_in(m->device, m->watch, &none, sizeof none, m->stream, err));
    MODAL_TRY(modal_device_stream_wait(m->device, m->stream, err));
    m->step = head->step, m->before = head->before, m->start = head->start, m->done = head->done, m->begun = head->begun;
done:
    return status;
}

int64_t modal_tled_motion_element(const modal_tled_motion *m, int64_t element) { return m->model->element_from[element]; }

modal_status modal_tled_motion_advance(modal_tled_motion *m, int64_t n, const modal_progress *progress, int64_t *element,
                                       modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = &m->model->solid;
    const int falls = m->scene->gravity[0] != 0 || m->scene->gravity[1] != 0 || m->scene->gravity[2] != 0;
    const double own = m->kernel_step;
    *element = -1;
    while (m->done < n) {
        const int64_t most = m->device->shares_memory ? BATCH_WORK / (s->n_tetrahedra + s->n_hexahedra) + 1 : BATCH;
        int64_t count = n - m->done < BATCH ? n - m->done : BATCH;
        if (count > most) count = most;
        if (m->before != m->step) count = 1; /* from rest, too: half an acceleration */
        MODAL_TRY(modal_progress_report(progress, "steps", 0, err));
        MODAL_TRY(modal_device_select(m->device, err)); /* cores that other processes keep busy are left to them */
        modal_tled_signals(m->scene, m->start, m->step, m->done - m->begun, count, m->h_gravity, s->n_signals,
                           m->h_signals);
        MODAL_TRY(modal_device_copy_in(m->device, m->gravity, m->h_gravity, count * 24, m->stream, err));
        MODAL_TRY(modal_device_copy_in(m->device, m->signals, m->h_signals, (count + 1) * 8 * s->n_signals, m->stream, err));
        const modal_tled_step_task task = {
            .layout = m->layout, .u = m->u, .low = m->low, .d = m->d, .step = own > 0 ? own : m->step,
            .before = own > 0 && m->before > 0 ? own : m->before, .alpha = m->alpha, .first = m->done, .n_steps = count,
            .gravity = falls ? m->gravity : NULL, .signals = s->n_signals > 0 ? m->signals : NULL, .watch = m->watch,
            .work = m->work, .reactions = m->reactions,
            .viscous = m->viscous, .touches = m->touches};
        MODAL_TRY(m->device->kernels->tled_step(&task, m->stream, err));
        MODAL_TRY(check_watch(m, element, err));
        m->done += count;
        m->before = m->step;
    }
done:
    return status;
}

int64_t modal_tled_motion_steps(const modal_tled_motion *m) { return m->done; }

double modal_tled_motion_time(const modal_tled_motion *m, int64_t n) { return m->start + (double)(n - m->begun) * m->step; }

double modal_tled_motion_step(const modal_tled_motion *m) { return m->step; }

void modal_tled_motion_restep(modal_tled_motion *m, double step)
{
    m->start = modal_tled_motion_time(m, m->done);
    m->begun = m->done;
    m->step = step;
}

void modal_tled_motion_damp(modal_tled_motion *m, double alpha) { m->alpha = alpha; }

int modal_tled_motion_is_here(const modal_tled_motion *m) { return m->device->shares_memory; }

int modal_tled_motion_is_double(const modal_tled_motion *m) { return m->precision == MODAL_TLED_FLOAT64; }

const modal_solid_scene *modal_tled_motion_scene(const modal_tled_motion *m) { return m->scene; }

modal_status modal_tled_motion_relayout(modal_tled_motion *m, modal_error *err)
{
    const modal_tled_layout_task task = {&m->model->solid, m->precision, m->device, &m->layout, m->devices, m->n_devices};
    modal_tled_layout_free(&m->layout);
    return m->device->kernels->tled_layout(&task, m->stream, err);
}

const void *modal_tled_motion_array(const modal_tled_motion *m, int which) { return which ? m->d : m->u; }

int64_t modal_tled_motion_array_bytes(const modal_tled_motion *m) { return state_bytes(m); }

int64_t modal_tled_motion_nodes(const modal_tled_motion *m) { return m->model->solid.n_nodes; }

const modal_device *modal_tled_motion_device(const modal_tled_motion *m) { return m->device; }

modal_stream *modal_tled_motion_stream(const modal_tled_motion *m) { return m->stream; }

double modal_tled_motion_before(const modal_tled_motion *m) { return m->before; }

/* A state array in main memory into [n_nodes, 3], row i to order[i] (NULL: i), over `over`. */
static modal_status spread(const modal_tled_motion *m, const void *array, const int32_t *order, double over, int n_threads, double *to)
{
    const int64_t n = m->model->solid.n_nodes;
    const int is_double = m->precision == MODAL_TLED_FLOAT64;
    int wrong = 0;
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(n_threads)) reduction(| : wrong) if (n_threads > 1 && n > MODAL_TLED_ALONE)
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) {
            const double value = is_double ? ((const double *)array)[4 * i + c] : ((const float *)array)[4 * i + c];
            wrong |= !isfinite(value);
            to[3 * (order ? (int64_t)order[i] : i) + c] = over > 0 ? value / over : 0;
        }
    return wrong ? MODAL_ERROR_NOT_CONVERGED : MODAL_OK;
}

static modal_status not_finite(double time, modal_error *err)
{
    return modal_error_set(err, MODAL_ERROR_NOT_CONVERGED, "t = %.9g s: a displacement is not finite", time);
}

modal_status modal_tled_motion_spread(const modal_tled_motion *m, const modal_tled_spread *s, double *to, modal_error *err)
{
    return spread(m, s->array, m->model->node_from, s->over, s->n_threads, to) == MODAL_OK ? MODAL_OK : not_finite(s->time, err);
}

/* A state array into [n_nodes, 3]. */
static modal_status fetch(modal_tled_motion *m, const void *from, double *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_device_copy_out(m->device, m->h_state, from, state_bytes(m), m->stream, err));
    MODAL_TRY(modal_device_stream_wait(m->device, m->stream, err));
    if (spread(m, m->h_state, NULL, 1, omp_get_max_threads(), to) != MODAL_OK) return not_finite(modal_tled_motion_time(m, m->done), err);
done:
    return status;
}

modal_status modal_tled_motion_increments(modal_tled_motion *m, double *d, modal_error *err) { return fetch(m, m->d, d, err); }

modal_status modal_tled_motion_state(modal_tled_motion *m, double *u, double *velocity, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(fetch(m, m->u, m->own, err));
    if (velocity || m->work) MODAL_TRY(fetch(m, m->d, m->own_d, err));
    const int64_t n = m->model->solid.n_nodes;
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static) if (n > MODAL_TLED_ALONE)
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) {
            if (u) u[3 * (int64_t)m->model->node_from[i] + c] = m->own[3 * i + c];
            if (velocity) velocity[3 * (int64_t)m->model->node_from[i] + c] = m->before > 0 ? m->own_d[3 * i + c] / m->before : 0;
        }
done:
    return status;
}

const double *modal_tled_motion_own(const modal_tled_motion *m) { return m->own; }

modal_status modal_tled_motion_add_damped(modal_tled_motion *m, double energy, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_tled_work work;
    if (!m->work) return MODAL_OK;
    MODAL_TRY(modal_device_copy_out(m->device, &work, m->work, sizeof work, m->stream, err));
    MODAL_TRY(modal_device_stream_wait(m->device, m->stream, err));
    work.damped += energy;
    MODAL_TRY(modal_device_copy_in(m->device, m->work, &work, sizeof work, m->stream, err));
    MODAL_TRY(modal_device_stream_wait(m->device, m->stream, err));
done:
    return status;
}

/* Displacements half a step before, [n_nodes, 3], and the kinetic energy there, in sums of a fixed number of components each; *added:
 * that of mass beyond the solid's own. */
static double half_way(const modal_tled_motion *m, double before, double *between, double *added)
{
    enum { PIECES = 256 };
    const modal_tled_solid *s = &m->model->solid;
    const int64_t n = 3 * s->n_nodes;
    double sums[PIECES][2], sum = 0;
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static) if (n > MODAL_TLED_ALONE)
    for (int piece = 0; piece < PIECES; piece++) {
        sums[piece][0] = sums[piece][1] = 0;
        for (int64_t k = n * piece / PIECES; k < n * (piece + 1) / PIECES; k++) {
            const double v = before > 0 ? m->own_d[k] / before : 0;
            sums[piece][0] += s->mass[k / 3] * v * v / 2;
            if (s->weights) sums[piece][1] += (s->mass[k / 3] - s->weights[k / 3]) * v * v / 2;
            between[k] = m->own[k] - m->own_d[k] / 2;
        }
    }
    *added = 0;
    for (int piece = 0; piece < PIECES; piece++) sum += sums[piece][0], *added += sums[piece][1];
    return sum;
}

modal_status modal_tled_motion_energy(modal_tled_motion *m, const modal_tled_forces *forces, double *energies, double *parts,
                                      modal_tled_measures *measures, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = &m->model->solid;
    modal_tled_work work;
    const double before = m->kernel_step > 0 && m->before > 0 ? m->kernel_step : m->before;
    double *between = NULL;
    memset(energies, 0, MODAL_TLED_ENERGIES * sizeof *energies);
    MODAL_TRY(modal_alloc(&between, s->n_nodes, 3 * sizeof *between, "energies", err));
    MODAL_TRY(modal_device_copy_out(m->device, &work, m->work, sizeof work, m->stream, err));
    MODAL_TRY(modal_device_stream_wait(m->device, m->stream, err));
    energies[MODAL_TLED_KINETIC] = half_way(m, before, between, &measures->added_kinetic);
    modal_tled_sums_at(forces, between, &measures->sums);
    parts[MODAL_TLED_HOURGLASS] = measures->sums.hourglass;
    const double elastic = measures->sums.elastic + measures->sums.hourglass;
    energies[MODAL_TLED_INTERNAL] = modal_tled_most_terms(s) > 0 ? work.inner : elastic;
    parts[MODAL_TLED_VISCOUS] = energies[MODAL_TLED_INTERNAL] - elastic;
    energies[MODAL_TLED_DAMPED] = work.damped;
    energies[MODAL_TLED_LOADS] = work.loads;
    energies[MODAL_TLED_HELD] = work.held;
    energies[MODAL_TLED_BALANCE] = energies[MODAL_TLED_KINETIC] + energies[MODAL_TLED_INTERNAL] + work.damped - work.loads -
                                   work.held;
done:
    modal_free(&between);
    return status;
}

modal_status modal_tled_motion_reactions(modal_tled_motion *m, double *reactions, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = &m->model->solid;
    memset(reactions, 0, (size_t)s->n_nodes * 3 * sizeof *reactions);
    MODAL_TRY(modal_device_copy_out(m->device, m->h_reactions, m->reactions, s->n_held * 24, m->stream, err));
    MODAL_TRY(modal_device_stream_wait(m->device, m->stream, err));
    for (int64_t k = 0; k < s->n_held; k++)
        memcpy(reactions + 3 * (int64_t)m->model->node_from[s->held[k]], m->h_reactions + 3 * k, 3 * sizeof *reactions);
done:
    return status;
}

modal_status modal_tled_motion_touches(modal_tled_motion *m, double *forces, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = &m->model->solid;
    memset(forces, 0, (size_t)s->n_contacts * 3 * sizeof *forces);
    if (s->n_contacts == 0) return MODAL_OK;
    MODAL_TRY(modal_device_copy_out(m->device, m->h_touches, m->touches, 24 * s->n_contacts * s->n_touching, m->stream, err));
    MODAL_TRY(modal_device_stream_wait(m->device, m->stream, err));
    for (int64_t k = 0; k < 3 * s->n_contacts * s->n_touching; k++)
        forces[3 * (k / 3 / s->n_touching) + k % 3] += m->h_touches[k];
done:
    return status;
}

int64_t modal_tled_motion_save_bytes(const modal_tled_motion *m)
{
    kept all[KEPT];
    int64_t sum = (int64_t)sizeof(saved_head);
    keep_of(m, all);
    for (int k = 0; k < KEPT; k++) sum += all[k].bytes;
    return sum;
}

modal_status modal_tled_motion_save(modal_tled_motion *m, void *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    const saved_head head = {m->step, m->before, m->start, m->done, m->begun};
    char *at = to;
    kept all[KEPT];
    keep_of(m, all);
    memcpy(at, &head, sizeof head);
    at += sizeof head;
    for (int k = 0; k < KEPT; at += all[k++].bytes)
        if (all[k].bytes > 0) MODAL_TRY(modal_device_copy_out(m->device, at, all[k].at, all[k].bytes, m->stream, err));
    MODAL_TRY(modal_device_stream_wait(m->device, m->stream, err));
done:
    return status;
}

modal_status modal_tled_motion_load(modal_tled_motion *m, const void *from, modal_error *err)
{
    modal_status status = MODAL_OK;
    saved_head head;
    const char *at = from;
    kept all[KEPT];
    keep_of(m, all);
    memcpy(&head, at, sizeof head);
    at += sizeof head;
    if (!(head.step > 0 && isfinite(head.step) && head.before >= 0 && isfinite(head.start) && head.begun >= 0 && head.done >= head.begun))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "state: step %g s, %lld steps done", head.step, (long long)head.done);
    m->step = head.step, m->before = head.before, m->start = head.start, m->done = head.done, m->begun = head.begun;
    for (int k = 0; k < KEPT; at += all[k++].bytes)
        if (all[k].bytes > 0) MODAL_TRY(modal_device_copy_in(m->device, all[k].at, at, all[k].bytes, m->stream, err));
    MODAL_TRY(modal_device_stream_wait(m->device, m->stream, err));
done:
    return status;
}
