/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/oscillators/linear.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/memory.h"
#include "lib/oscillators/oscillator.h"

/* Frames or events between two calls of the progress callback. */
enum { REPORT_EVERY = 256 };

/* Coefficients of one time, for the modes of all shapes; arrays of [shape modes] so that the loop
 * over an object's coordinates is a plain stream. step and ramp are for the load as it is used:
 * f0 at the start of the interval, `change` over its whole length H. */
typedef struct coefficients {
    double *qq, *qv, *vq, *vv;
    double *step, *ramp;           /* of f0 for q; of change for q */
    double *load_step, *load_ramp; /* of f0 for q'; of change for q' */
} coefficients;

typedef struct workspace {
    const modal_linear_problem *problem;
    int64_t n_total, n_shape_modes;
    int64_t *object_offsets; /* [n_objects + 1] first coordinate of each object */
    int64_t *shape_offsets;  /* [n_shapes + 1] first of each shape's modes */
    modal_oscillator *oscillators; /* [shape modes] */
    double *coefficient_values;    /* [8, shape modes] */
    coefficients c;
    double *map;              /* [n_total, 3] load of a unit world acceleration */
    double *q, *v;            /* [n_total] state at the last event */
    double *load, *change;    /* [n_total] f at the last event, and its change up to the next */
    int64_t *impulse_order;   /* [n_impulses] by time */
    int64_t next_impulse, next_sample;
} workspace;

static void workspace_free(workspace *w)
{
    modal_free(&w->object_offsets);
    modal_free(&w->shape_offsets);
    modal_free(&w->oscillators);
    modal_free(&w->coefficient_values);
    modal_free(&w->map);
    modal_free(&w->q);
    modal_free(&w->v);
    modal_free(&w->load);
    modal_free(&w->change);
    modal_free(&w->impulse_order);
}

static modal_status check_shape(const modal_linear_shape *s, int32_t index, modal_error *err)
{
    for (int32_t k = 0; k < s->n_modes; k++) {
        if (!(s->stiffness[k] >= 0 && isfinite(s->stiffness[k])))
            return modal_error_set(err, MODAL_ERROR_USAGE,
                                   "shape %d: mode %d: stiffness must be finite and >= 0, %g", index,
                                   k, s->stiffness[k]);
        if (!(s->damping[k] >= 0 && isfinite(s->damping[k])))
            return modal_error_set(err, MODAL_ERROR_USAGE,
                                   "shape %d: mode %d: damping must be finite and >= 0, %g", index,
                                   k, s->damping[k]);
        if (s->modal_masses && !(s->modal_masses[k] > 0 && isfinite(s->modal_masses[k])))
            return modal_error_set(err, MODAL_ERROR_USAGE,
                                   "shape %d: mode %d: modal mass must be finite and > 0, %g", index,
                                   k, s->modal_masses[k]);
    }
    return MODAL_OK;
}

/* When the frames are, and where they go. */
typedef struct frames {
    int64_t n;
    const double *times; /* [n], or NULL: i / fps */
    double fps;
    double *q, *velocity; /* [n, total modes]; q of a row alone where `row` is given */
    modal_linear_row *row;
    void *context;
} frames;

static double time_of(const frames *f, int64_t i) { return f->times ? f->times[i] : i == 0 ? 0 : (double)i / f->fps; }

static modal_status check(const modal_linear_problem *p, const frames *f, modal_error *err)
{
    modal_status status = MODAL_OK;
    const double *times = f->times;
    if (f->n < 1) MODAL_FAIL(err, MODAL_ERROR_USAGE, "no frames");
    for (int64_t i = 0; times && i < f->n; i++)
        if (!(times[i] >= 0 && isfinite(times[i]) && (i == 0 || times[i] > times[i - 1])))
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "frame %lld: times must be >= 0 and increase, %.17g",
                       (long long)i, times[i]);
    for (int32_t i = 0; i < p->n_shapes; i++) MODAL_TRY(check_shape(&p->shapes[i], i, err));
    for (int32_t i = 0; i < p->n_objects; i++)
        if (p->objects[i].shape < 0 || p->objects[i].shape >= p->n_shapes)
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "object %d: no shape %d", i, p->objects[i].shape);
    if (p->n_samples == 1)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "base acceleration: one sample makes no line");
    for (int64_t i = 0; i < p->n_samples; i++)
        /* the last test refuses times whose difference overflows */
        if (!(isfinite(p->sample_times[i]) &&
              (i == 0 || (p->sample_times[i] > p->sample_times[i - 1] &&
                          isfinite(p->sample_times[i] - p->sample_times[i - 1])))))
            MODAL_FAIL(err, MODAL_ERROR_USAGE,
                       "base acceleration: sample %lld: times must be finite and increase, %.17g",
                       (long long)i, p->sample_times[i]);
    for (int64_t i = 0; i < p->n_impulses; i++) {
        const modal_linear_impulse *impulse = &p->impulses[i];
        if (impulse->object < 0 || impulse->object >= p->n_objects)
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "impulse %lld: no object %d", (long long)i,
                       impulse->object);
        if (!(impulse->time >= 0 && impulse->time < time_of(f, f->n - 1)))
            MODAL_FAIL(err, MODAL_ERROR_USAGE,
                       "impulse %lld: time must be in [0, last frame), %.17g", (long long)i,
                       impulse->time);
    }
done:
    return status;
}

/* qsort has no context argument; the times travel with the indices. */
typedef struct timed_index {
    double time;
    int64_t index;
} timed_index;

static int compare_times(const void *a, const void *b)
{
    const timed_index *x = a, *y = b;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static modal_status sort_impulses(workspace *w, modal_error *err)
{
    const modal_linear_problem *p = w->problem;
    modal_status status = MODAL_OK;
    timed_index *keys = NULL;
    MODAL_TRY(modal_alloc(&w->impulse_order, p->n_impulses, sizeof(int64_t), "impulses", err));
    MODAL_TRY(modal_alloc(&keys, p->n_impulses, sizeof *keys, "impulses", err));
    for (int64_t i = 0; i < p->n_impulses; i++)
        keys[i] = (timed_index){p->impulses[i].time, i};
    if (p->n_impulses > 1) qsort(keys, (size_t)p->n_impulses, sizeof *keys, compare_times);
    for (int64_t i = 0; i < p->n_impulses; i++) w->impulse_order[i] = keys[i].index;
done:
    modal_free(&keys);
    return status;
}

static modal_status prepare(workspace *w, modal_error *err)
{
    const modal_linear_problem *p = w->problem;
    modal_status status = MODAL_OK;
    const struct {
        double **pointer;
        const char *what;
    } states[] = {{&w->q, "modal state"},
                  {&w->v, "modal state"},
                  {&w->load, "modal loads"},
                  {&w->change, "modal loads"}};

    MODAL_TRY(modal_alloc(&w->shape_offsets, (int64_t)p->n_shapes + 1, sizeof(int64_t),
                          "shape offsets", err));
    for (int32_t i = 0; i < p->n_shapes; i++) {
        w->shape_offsets[i] = w->n_shape_modes;
        w->n_shape_modes += p->shapes[i].n_modes;
    }
    MODAL_TRY(modal_alloc(&w->object_offsets, (int64_t)p->n_objects + 1, sizeof(int64_t),
                          "object offsets", err));
    for (int32_t i = 0; i < p->n_objects; i++) {
        w->object_offsets[i] = w->n_total;
        w->n_total += p->shapes[p->objects[i].shape].n_modes;
    }
    w->object_offsets[p->n_objects] = w->n_total;
    MODAL_TRY(modal_alloc(&w->oscillators, w->n_shape_modes, sizeof *w->oscillators, "oscillators",
                          err));
    MODAL_TRY(modal_alloc(&w->coefficient_values, w->n_shape_modes, 8 * sizeof(double),
                          "transition coefficients", err));
    double **members[8] = {&w->c.qq,   &w->c.qv,   &w->c.vq,        &w->c.vv,
                           &w->c.step, &w->c.ramp, &w->c.load_step, &w->c.load_ramp};
    for (int i = 0; i < 8; i++) *members[i] = w->coefficient_values + i * w->n_shape_modes;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        MODAL_TRY(modal_alloc_zero(states[i].pointer, w->n_total, sizeof(double), states[i].what,
                                   err));
    MODAL_TRY(modal_alloc(&w->map, w->n_total, 3 * sizeof(double), "modal loads", err));
    MODAL_TRY(sort_impulses(w, err));

    for (int32_t i = 0; i < p->n_shapes; i++)
        for (int32_t k = 0; k < p->shapes[i].n_modes; k++)
            modal_oscillator_set(&w->oscillators[w->shape_offsets[i] + k],
                                 p->shapes[i].stiffness[k], p->shapes[i].damping[k]);
    for (int32_t i = 0; i < p->n_objects; i++) {
        const modal_linear_shape *s = &p->shapes[p->objects[i].shape];
        const double *pose = p->objects[i].rest_pose;
        for (int32_t k = 0; k < s->n_modes; k++) {
            const double *part = &s->participation[3 * k];
            double mass = s->modal_masses ? s->modal_masses[k] : 1;
            double *row = &w->map[3 * (w->object_offsets[i] + k)];
            /* participation . (R^T a) = (R participation) . a */
            for (int axis = 0; axis < 3; axis++)
                row[axis] = (pose ? pose[4 * axis] * part[0] + pose[4 * axis + 1] * part[1] +
                                         pose[4 * axis + 2] * part[2]
                                   : part[axis]) /
                            mass;
        }
    }
done:
    return status;
}

/* Samples at or before t; the line in progress after t is from sample n - 1 to sample n. */
static int64_t samples_until(const modal_linear_problem *p, double t)
{
    int64_t low = 0, high = p->n_samples;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (p->sample_times[middle] <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* a(t) on the line that ends at sample `next`; exact at both of its ends. */
static void base_acceleration(const modal_linear_problem *p, int64_t next, double t, double a[3])
{
    a[0] = a[1] = a[2] = 0;
    if (next == 0 || next == p->n_samples) return;
    double t0 = p->sample_times[next - 1], t1 = p->sample_times[next];
    double part = (t - t0) / (t1 - t0);
    for (int axis = 0; axis < 3; axis++)
        a[axis] = (1 - part) * p->samples[3 * (next - 1) + axis] + part * p->samples[3 * next + axis];
}

/* Loads of the interval [t, end] between two events. */
static void set_loads(workspace *w, double t, double end)
{
    const modal_linear_problem *p = w->problem;
    double a0[3], a1[3];
    base_acceleration(p, w->next_sample, t, a0);
    base_acceleration(p, w->next_sample, end, a1);
    for (int64_t i = 0; i < w->n_total; i++) {
        const double *row = &w->map[3 * i];
        w->load[i] = row[0] * (p->gravity[0] - a0[0]) + row[1] * (p->gravity[1] - a0[1]) +
                     row[2] * (p->gravity[2] - a0[2]);
        w->change[i] = row[0] * (a0[0] - a1[0]) + row[1] * (a0[1] - a1[1]) + row[2] * (a0[2] - a1[2]);
    }
}

/* Coefficients of the state h after the last event, in an interval of the length H between events. */
static void set_coefficients(workspace *w, double h, double H)
{
    for (int64_t m = 0; m < w->n_shape_modes; m++) {
        modal_transition t;
        modal_oscillator_transition(&w->oscillators[m], h, &t);
        w->c.qq[m] = t.qq;
        w->c.qv[m] = t.qv;
        w->c.vq[m] = t.vq;
        w->c.vv[m] = t.vv;
        w->c.step[m] = t.step;
        w->c.load_step[m] = t.qv;
        /* change / H may overflow for a tiny H; ramp / H <= H^2 / 6 and step / H <= H / 2 do not */
        w->c.ramp[m] = t.ramp / H;
        w->c.load_ramp[m] = t.step / H;
    }
}

/* The state after the time of set_coefficients. v may be NULL; q and v may be the state itself.
 * Returns 0, or NaN where a value is not finite. */
static double evaluate(const workspace *w, double *q, double *v)
{
    double finite = 0;
    for (int32_t i = 0; i < w->problem->n_objects; i++) {
        const int64_t first = w->object_offsets[i], count = w->object_offsets[i + 1] - first;
        const int64_t m = w->shape_offsets[w->problem->objects[i].shape];
        const double *q0 = w->q + first, *v0 = w->v + first;
        const double *load = w->load + first, *change = w->change + first;
        for (int64_t k = 0; k < count; k++) {
            double position = w->c.qq[m + k] * q0[k] + w->c.qv[m + k] * v0[k] +
                              w->c.step[m + k] * load[k] + w->c.ramp[m + k] * change[k];
            if (v) {
                double rate = w->c.vq[m + k] * q0[k] + w->c.vv[m + k] * v0[k] +
                              w->c.load_step[m + k] * load[k] + w->c.load_ramp[m + k] * change[k];
                v[first + k] = rate;
                finite += rate * 0;
            }
            q[first + k] = position;
            finite += position * 0;
        }
    }
    return finite;
}

static modal_status start(workspace *w, modal_error *err)
{
    const modal_linear_problem *p = w->problem;
    w->next_sample = samples_until(p, 0);
    set_loads(w, 0, 0);
    for (int32_t i = 0; i < p->n_objects; i++) {
        const modal_linear_shape *s = &p->shapes[p->objects[i].shape];
        for (int32_t k = 0; k < s->n_modes; k++) {
            int64_t at = w->object_offsets[i] + k;
            double q = 0;
            if (p->start_static && w->load[at] != 0) {
                if (s->stiffness[k] == 0)
                    return modal_error_set(err, MODAL_ERROR_USAGE,
                                           "object %d: mode %d: no static equilibrium, a load of %g "
                                           "on stiffness 0",
                                           i, k, w->load[at]);
                q = w->load[at] / s->stiffness[k];
            }
            w->q[at] = q + (p->initial ? p->initial[at] : 0);
        }
    }
    return MODAL_OK;
}

static void apply_impulses(workspace *w, double t)
{
    const modal_linear_problem *p = w->problem;
    while (w->next_impulse < p->n_impulses) {
        const modal_linear_impulse *impulse = &p->impulses[w->impulse_order[w->next_impulse]];
        if (impulse->time > t) return;
        int64_t first = w->object_offsets[impulse->object];
        int64_t count = w->object_offsets[impulse->object + 1] - first;
        for (int64_t k = 0; k < count; k++) w->v[first + k] += impulse->jump[k];
        w->next_impulse++;
    }
}

/* The first event after t, or the last frame where there is none. */
static double next_event(const workspace *w, double last_frame)
{
    const modal_linear_problem *p = w->problem;
    double end = last_frame;
    if (w->next_sample < p->n_samples) end = fmin(end, p->sample_times[w->next_sample]);
    if (w->next_impulse < p->n_impulses)
        end = fmin(end, p->impulses[w->impulse_order[w->next_impulse]].time);
    return end;
}

/* Frame i from the coefficients that are set. */
static modal_status put_frame(const workspace *w, const frames *f, int64_t i, modal_error *err)
{
    const int64_t at = f->row ? 0 : i * w->n_total;
    if (evaluate(w, f->q + at, f->velocity ? f->velocity + at : NULL) != 0)
        return modal_error_set(err, MODAL_ERROR_INPUT, "frame %lld: the motion is not finite", (long long)i);
    return f->row ? f->row(f->context, i, time_of(f, i), f->q, err) : MODAL_OK;
}

static modal_status simulate(const modal_linear_problem *problem, frames *f, const modal_progress *progress,
                             modal_error *err)
{
    modal_status status = MODAL_OK;
    workspace w = {.problem = problem};
    int64_t frame = 0, work = 0;
    double t = 0, *row = NULL;

    MODAL_TRY(check(problem, f, err));
    MODAL_TRY(prepare(&w, err));
    MODAL_TRY(start(&w, err));
    if (f->row) {
        MODAL_TRY(modal_alloc(&row, w.n_total, sizeof(double), "frame", err));
        f->q = row;
    }
    const double last = time_of(f, f->n - 1);

    /* a frame at t = 0 is the start itself, before any impulse */
    if (time_of(f, 0) == 0) {
        set_coefficients(&w, 0, 1);
        MODAL_TRY(put_frame(&w, f, 0, err));
        frame = 1;
    }
    while (frame < f->n) {
        apply_impulses(&w, t);
        const double end = next_event(&w, last);
        const double length = end - t;
        set_loads(&w, t, end);
        for (; frame < f->n && time_of(f, frame) <= end; frame++) {
            if (work++ % REPORT_EVERY == 0)
                MODAL_TRY(modal_progress_report(progress, "simulate", (double)frame / (double)f->n, err));
            set_coefficients(&w, time_of(f, frame) - t, length);
            MODAL_TRY(put_frame(&w, f, frame, err));
        }
        if (work++ % REPORT_EVERY == 0)
            MODAL_TRY(modal_progress_report(progress, "simulate", (double)frame / (double)f->n, err));
        if (frame == f->n) break;
        set_coefficients(&w, length, length);
        if (evaluate(&w, w.q, w.v) != 0)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "t = %g s: the motion is not finite", end);
        t = end;
        while (w.next_sample < problem->n_samples && problem->sample_times[w.next_sample] <= t)
            w.next_sample++;
    }
done:
    modal_free(&row);
    workspace_free(&w);
    return status;
}

modal_status modal_linear_simulate(const modal_linear_problem *problem, int64_t n_frames,
                                   const double *times, double *q, double *velocity,
                                   const modal_progress *progress, modal_error *err)
{
    frames f = {.n = n_frames, .times = times, .q = q, .velocity = velocity};
    return simulate(problem, &f, progress, err);
}

modal_status modal_linear_stream(const modal_linear_problem *problem, int64_t n_frames, double fps,
                                 modal_linear_row *row, void *context, const modal_progress *progress,
                                 modal_error *err)
{
    frames f = {.n = n_frames, .fps = fps, .row = row, .context = context};
    return simulate(problem, &f, progress, err);
}

int64_t modal_linear_frame_count(double duration, double fps)
{
    double last = floor(duration * fps + 1e-9);
    if (!(last < 2147483648.0)) return -1;
    return (int64_t)last + 1;
}
