/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "kernels/device.h"
#include "lib/oscillators/exact_private.h"

/* ---- loads in time ---- */

/* The first event of a load after t, INFINITY where there is none. */
static double event_after(const modal_exact_input *input, double t)
{
    const double *times = input->curve ? input->curve->times : input->spline->times;
    int64_t low = 0, high = input->curve ? input->curve->n_keys : input->spline->n;
    if (input->curve && input->curve->kind == MODAL_CURVE_SWEEP)
        return t < input->curve->start ? input->curve->start : t < input->curve->end ? input->curve->end : INFINITY;
    if (input->curve && input->curve->kind != MODAL_CURVE_KEYS) return INFINITY;
    const int64_t n = high;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (times[middle] <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n ? times[low] : INFINITY;
}

/* The input's two numbers over [a, b], which has no event inside: value at a and change, or sine and cosine. */
static void signal_of(const modal_exact_input *input, double a, double b, double x[2])
{
    const double turn = 2 * 3.14159265358979323846;
    double ends[2];
    if (input->spline) {
        modal_spline_acceleration(input->spline, a, b, input->axis, ends);
    } else if (input->curve->kind == MODAL_CURVE_SINE) {
        const double phase = turn * input->curve->frequency * a + input->curve->phase;
        x[0] = sin(phase);
        x[1] = cos(phase);
        return;
    } else {
        const double middle = a + 0.5 * (b - a);
        ends[0] = modal_curve_value(input->curve, a, middle);
        ends[1] = modal_curve_value(input->curve, b, middle);
    }
    x[0] = ends[0];
    x[1] = ends[1] - ends[0];
}

/* ---- stepping ---- */

modal_status modal_exact_static(const modal_exact *e, double *q, modal_error *err)
{
    for (int32_t i = 0; i < e->n; i++) {
        const modal_linear_step_object *o = &e->objects[i];
        for (int32_t k = 0; k < o->n_modes; k++) {
            double load = e->constant[e->first_mode[i] + k], x[2];
            for (int32_t j = 0; j < o->n_inputs; j++) {
                const modal_exact_input *in = &e->inputs[o->first_signal + j];
                signal_of(in, 0, fmin(event_after(in, 0), e->step), x);
                load += in->load[k] * x[0]; /* for a sine the value, too */
            }
            const double stiffness = e->oscillators[e->first_mode[i] + k].stiffness;
            if (load == 0) continue;
            if (!(stiffness > 0))
                return modal_error_set(err, MODAL_ERROR_INPUT,
                                       "static: object %d: mode %d has no stiffness, and a load of %g",
                                       e->object[i], k, load);
            q[o->coordinate + k] += load / stiffness;
        }
    }
    return MODAL_OK;
}

/* The first event of object i after t: of its loads, and impulses that lie in the future. */
static double next_event(const modal_exact *e, int32_t i, double t)
{
    const modal_linear_step_object *o = &e->objects[i];
    double next = INFINITY;
    for (int32_t j = 0; j < o->n_inputs; j++)
        next = fmin(next, event_after(&e->inputs[o->first_signal + j], t));
    for (int64_t j = e->first_impulse[i]; j < e->first_impulse[i + 1]; j++)
        if (e->impulses[j].curve->start > t) next = fmin(next, e->impulses[j].curve->start);
    return next;
}

/* Adds the impulses of object i at the time t; only where there are any does the state come to main memory. */
static modal_status strike(modal_exact *e, int32_t i, double t, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_linear_step_object *o = &e->objects[i];
    const int64_t bytes = o->n_modes * (int64_t)sizeof(double);
    double *v = e->part_state;
    int any = 0;
    for (int64_t j = e->first_impulse[i]; j < e->first_impulse[i + 1]; j++) {
        if (e->impulses[j].curve->start != t) continue;
        if (!any) {
            MODAL_TRY(modal_device_copy_out(&e->device, v, e->whole.task.v + o->coordinate, bytes, e->stream, err));
            MODAL_TRY(modal_device_stream_wait(&e->device, e->stream, err));
        }
        any = 1;
        for (int32_t k = 0; k < o->n_modes; k++) v[k] += e->impulses[j].load[k];
    }
    if (!any) goto done;
    MODAL_TRY(modal_device_copy_in(&e->device, e->whole.task.v + o->coordinate, v, bytes, e->stream, err));
    MODAL_TRY(modal_device_stream_wait(&e->device, e->stream, err));
done:
    return status;
}

/* The state of object i to main memory at `to` ([r] q, and v e->n_modes later), or from there. */
static modal_status move_state(modal_exact *e, int32_t i, double *to, int back, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_linear_step_object *o = &e->objects[i];
    const int64_t bytes = o->n_modes * (int64_t)sizeof(double);
    double *parts[2] = {e->whole.task.q + o->coordinate, e->whole.task.v + o->coordinate};
    for (int p = 0; p < 2; p++)
        MODAL_TRY(back ? modal_device_copy_in(&e->device, parts[p], to + p * e->n_modes, bytes, e->stream, err)
                       : modal_device_copy_out(&e->device, to + p * e->n_modes, parts[p], bytes, e->stream, err));
    MODAL_TRY(modal_device_stream_wait(&e->device, e->stream, err));
done:
    return status;
}

/* Object i from t, and what strikes it there, to `end`, with no event between; `lost`: where what damping takes is added. */
static modal_status step_part(modal_exact *e, int32_t i, double t, double end, double *lost, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_linear_step_object o = e->objects[i];
    modal_exact_tables *p = &e->part;
    o.mode = o.input = 0;
    o.first_signal = 0;
    MODAL_TRY(modal_exact_copy_in(e, e->part_object, &o, 1, sizeof o, err));
    MODAL_TRY(strike(e, i, t, err));
    p->task.h = end - t;
    p->task.lost = lost;
    modal_exact_columns(e, i, end - t, p, 0, 0);
    for (int32_t j = 0; j < o.n_inputs; j++) signal_of(&e->inputs[e->objects[i].first_signal + j], t, end, p->signals + 2 * j);
    MODAL_TRY(modal_exact_copy_in(e, p->task.modes, p->modes, MODAL_LINEAR_COLUMNS * p->task.n_modes, sizeof(double), err));
    MODAL_TRY(modal_exact_copy_in(e, p->task.inputs, p->inputs, (int64_t)o.n_inputs * MODAL_LINEAR_INPUT * o.n_modes,
                                  sizeof(double), err));
    MODAL_TRY(modal_exact_copy_in(e, p->task.signals, p->signals, 2 * (int64_t)o.n_inputs, sizeof(double), err));
    MODAL_TRY(e->device.kernels->linear_step(&p->task, e->stream, err));
    MODAL_TRY(modal_device_stream_wait(&e->device, e->stream, err));
done:
    return status;
}

/* ---- anchors ---- */

/* An event is at t, where object i is. */
static modal_status drop_anchor(modal_exact *e, int32_t i, double t, modal_error *err)
{
    e->anchor_times[i] = t;
    e->since[i] = 0;
    return move_state(e, i, e->anchors + e->first_mode[i], 0, err);
}

/* Object i, which has come to t by steps, comes there from its anchor in one step. */
static modal_status come_anew(modal_exact *e, int32_t i, double t, modal_error *err)
{
    e->since[i] = 0;
    const modal_status status = move_state(e, i, e->anchors + e->first_mode[i], 1, err);
    return status == MODAL_OK ? step_part(e, i, e->anchor_times[i], t, e->unread, err) : status;
}

/* Object i from t to end, with stops at its events. */
static modal_status step_in_parts(modal_exact *e, int32_t i, double t, double end, modal_error *err)
{
    modal_status status = MODAL_OK;
    const double began = t;
    for (double stop; t < end; t = stop) {
        if (e->anchors && t > began) MODAL_TRY(drop_anchor(e, i, t, err));
        e->next_event[i] = next_event(e, i, t); /* at last one at the end or later */
        stop = fmin(e->next_event[i], end);
        MODAL_TRY(step_part(e, i, t, stop, e->whole.task.lost + i, err));
        if (e->anchors && t == began && e->anchor_times[i] < t) MODAL_TRY(come_anew(e, i, stop, err));
    }
done:
    return status;
}

/* Once in so many steps, of the objects that made a whole one to `end`. */
static modal_status come_anew_now_and_then(modal_exact *e, double end, modal_error *err)
{
    enum { STEPS = 16 };
    modal_status status = MODAL_OK;
    for (int32_t i = 0; i < e->n; i++)
        if (!e->skip[i] && ++e->since[i] >= STEPS) MODAL_TRY(come_anew(e, i, end, err));
done:
    return status;
}

modal_status modal_exact_step(modal_exact *e, double time, double end, modal_error *err)
{
    modal_status status = MODAL_OK;
    int any = 0;
    if (e->n == 0) goto done;
    MODAL_TRY(modal_device_select(&e->device, err));
    for (int32_t i = 0; i < e->n; i++) {
        const modal_linear_step_object *o = &e->objects[i];
        /* at the very start only a blow counts; and nothing of this depends on what was before */
        if (e->next_event[i] <= time) {
            if (e->anchors && e->next_event[i] == time) MODAL_TRY(drop_anchor(e, i, time, err));
            e->next_event[i] = next_event(e, i, time);
            for (int64_t j = e->first_impulse[i]; j < e->first_impulse[i + 1]; j++)
                if (e->impulses[j].curve->start == time) e->next_event[i] = time;
        }
        e->skip[i] = e->next_event[i] < end;
        any |= e->skip[i];
        if (e->skip[i]) continue;
        for (int32_t j = 0; j < o->n_inputs; j++)
            signal_of(&e->inputs[o->first_signal + j], time, end, e->whole.signals + 2 * (int64_t)(o->first_signal + j));
    }
    MODAL_TRY(modal_exact_copy_in(e, e->whole.task.signals, e->whole.signals, 2 * e->n_inputs, sizeof(double), err));
    if (any) MODAL_TRY(modal_exact_copy_in(e, e->d_skip, e->skip, e->n, 1, err));
    e->whole.task.skip = any ? e->d_skip : NULL;
    MODAL_TRY(e->device.kernels->linear_step(&e->whole.task, e->stream, err));
    if (e->anchors) MODAL_TRY(come_anew_now_and_then(e, end, err));
    for (int32_t i = 0; i < e->n && any; i++)
        if (e->skip[i]) MODAL_TRY(step_in_parts(e, i, time, end, err));
done:
    return status;
}

/* ---- energies ---- */

/* The frame of an object at `time`. */
static void set_pose(const modal_exact *e, int32_t i, double time, modal_step_pose *pose)
{
    memset(pose, 0, sizeof *pose);
    if (e->splines[e->object[i]].n > 0) modal_spline_pose(&e->splines[e->object[i]], time, time, pose);
    for (int r = 0; r < 3; r++) {
        memcpy(pose->rotation + 3 * r, e->poses + 12 * i + 4 * r, 3 * sizeof(double));
        if (e->splines[e->object[i]].n == 0) pose->position[r] = e->poses[12 * i + 4 * r + 3];
        pose->turn[4 * r] = 1;
    }
}

/* Of its modes, and of its frame where that moves: `pose`. */
static void measure_object(const modal_exact *e, int32_t i, const double *q, const double *v, const modal_step_pose *pose,
                           double *kinetic, double *elastic)
{
    enum { LANES = 4 }; /* a sum waits for its last term */
    const modal_linear_step_object *o = &e->objects[i];
    const double *halves = e->halves + 2 * o->mode; /* where columns are the same, these are */
    double moving[LANES] = {0}, bent[LANES] = {0}, flow[3] = {0};
    q += o->coordinate;
    v += o->coordinate;
    for (int32_t k = 0; k < o->n_modes; k++) {
        moving[k % LANES] += halves[2 * k] * v[k] * v[k];
        bent[k % LANES] += halves[2 * k + 1] * q[k] * q[k];
    }
    *kinetic = (moving[0] + moving[1]) + (moving[2] + moving[3]);
    *elastic = (bent[0] + bent[1]) + (bent[2] + bent[3]);
    if (e->splines[e->object[i]].n == 0) return;
    for (int32_t k = 0; k < o->n_modes; k++)
        for (int a = 0; a < 3; a++) flow[a] += e->lift[3 * (e->first_mode[i] + k) + a] * v[k];
    for (int a = 0; a < 3; a++) *kinetic += pose->velocity[a] * (0.5 * e->mass[i] * pose->velocity[a] + flow[a]);
}

static modal_status fetch_lost(modal_exact *e, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (e->n == 0) goto done;
    MODAL_TRY(modal_device_copy_out(&e->device, e->fresh, e->whole.task.lost, e->n * (int64_t)sizeof(double),
                                    e->stream, err));
    MODAL_TRY(modal_device_stream_wait(&e->device, e->stream, err));
done:
    return status;
}

modal_status modal_exact_measure(modal_exact *e, double time, const double *q, const double *v,
                                 modal_step_pose *poses, modal_step_measure *measures, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(fetch_lost(e, err));
    for (int32_t i = 0; i < e->n; i++) {
        modal_step_measure *m = &measures[e->object[i]];
        *m = (modal_step_measure){.external = m->external, .status = MODAL_STEP_CONVERGED};
        if (e->posed != poses || e->splines[e->object[i]].n > 0) set_pose(e, i, time, &poses[e->object[i]]);
        measure_object(e, i, q, v, &poses[e->object[i]], &m->kinetic, &m->elastic);
        const double energy = m->kinetic + m->elastic;
        if (!isfinite(energy))
            MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED,
                       "object %d: t = %g s: not finite; try smaller loads, initial values or velocities",
                       e->object[i], time);
        m->dissipated = e->fresh[i];
        /* what came in is there now, or went into heat; by differences, so that a restart gives the same */
        m->external += energy - e->energy[i] + (m->dissipated - e->lost[i]);
        e->energy[i] = energy;
        e->lost[i] = m->dissipated;
    }
    e->posed = poses;
done:
    return status;
}

modal_status modal_exact_restore(modal_exact *e, double time, const double *q, const double *v,
                                 const modal_step_measure *measures, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int32_t i = 0; i < e->n; i++) {
        const modal_step_measure *m = &measures[e->object[i]];
        modal_step_pose pose;
        double kinetic, elastic;
        set_pose(e, i, time, &pose);
        measure_object(e, i, q, v, &pose, &kinetic, &elastic);
        e->lost[i] = m->dissipated;
        e->energy[i] = kinetic + elastic;
        e->next_event[i] = -INFINITY;
        const modal_linear_step_object *o = &e->objects[i];
        if (!e->anchors) continue;
        memcpy(e->anchors + e->first_mode[i], q + o->coordinate, (size_t)o->n_modes * sizeof *q);
        memcpy(e->anchors + e->n_modes + e->first_mode[i], v + o->coordinate, (size_t)o->n_modes * sizeof *v);
        e->anchor_times[i] = time;
        e->since[i] = 0;
    }
    MODAL_TRY(modal_exact_copy_in(e, e->whole.task.lost, e->lost, e->n, sizeof(double), err));
    MODAL_TRY(modal_device_stream_wait(&e->device, e->stream, err));
done:
    return status;
}
