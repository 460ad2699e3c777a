/* SPDX-License-Identifier: Apache-2.0 */
/* The objects that move exactly, with the coefficients of their modes and their loads, on the device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/device.h"
#include "lib/base/memory.h"
#include "lib/oscillators/exact_private.h"
#include "lib/scene/places.h"

static int is_impulse(const modal_exact_input *input)
{
    return input->curve && input->curve->kind == MODAL_CURVE_PULSE;
}

static int is_constant(const modal_exact_input *input)
{
    return input->curve && input->curve->kind == MODAL_CURVE_CONSTANT;
}

/* ---- coefficients ---- */

/* Of object i over h. Many objects are alike, and make the same steps. */
static const modal_transition *transitions_of(modal_exact *e, int32_t i, double h)
{
    const modal_oscillator *own = e->oscillators + e->first_mode[i];
    const int32_t n = e->objects[i].n_modes;
    const int same = e->latest_mode >= 0 && e->latest_modes == n && e->latest_step == h &&
                     memcmp(e->oscillators + e->latest_mode, own, (size_t)n * sizeof *own) == 0;
    for (int32_t k = 0; k < n && !same; k++) modal_oscillator_transition(&own[k], h, &e->transitions[k]);
    e->latest_mode = e->first_mode[i], e->latest_modes = n, e->latest_step = h;
    return e->transitions;
}

void modal_exact_columns(modal_exact *e, int32_t i, double h, modal_exact_tables *to, int64_t mode,
                         int64_t input)
{
    const modal_linear_step_object *o = &e->objects[i];
    const int64_t n = to->task.n_modes, first = e->first_mode[i];
    const modal_transition *transitions = transitions_of(e, i, h);
    for (int32_t k = 0; k < o->n_modes; k++) {
        const modal_oscillator *own = &e->oscillators[first + k];
        const double load = e->constant[first + k], mass = e->modal_mass[first + k];
        const modal_transition t = transitions[k];
        const double columns[MODAL_LINEAR_COLUMNS] = {
            [MODAL_LINEAR_QQ] = -own->stiffness * t.step, [MODAL_LINEAR_QV] = t.qv, [MODAL_LINEAR_VQ] = t.vq,
            [MODAL_LINEAR_VV] = -own->stiffness * t.step - own->damping * t.qv, [MODAL_LINEAR_CQ] = t.step * load, [MODAL_LINEAR_CV] = t.qv * load,
            [MODAL_LINEAR_MASS] = mass, [MODAL_LINEAR_STIFFNESS] = mass * own->stiffness,
            [MODAL_LINEAR_DAMPING] = mass * own->damping, [MODAL_LINEAR_LOAD] = mass * load};
        for (int c = 0; c < MODAL_LINEAR_COLUMNS; c++) to->modes[c * n + mode + k] = columns[c];
        for (int32_t j = 0; j < o->n_inputs; j++) {
            const modal_exact_input *in = &e->inputs[o->first_signal + j];
            double *row = to->inputs + input + (int64_t)j * MODAL_LINEAR_INPUT * o->n_modes + k;
            double b[MODAL_LINEAR_INPUT] = {t.step, t.ramp / h, t.qv, t.step / h};
            if (in->curve && in->curve->kind == MODAL_CURVE_SINE)
                modal_oscillator_harmonic(own, h, 2 * 3.14159265358979323846 * in->curve->frequency, b, b + 2);
            for (int c = 0; c < MODAL_LINEAR_INPUT; c++) row[(int64_t)c * o->n_modes] = in->load[k] * b[c];
        }
    }
}

modal_status modal_exact_copy_in(const modal_exact *e, const void *to, const void *from, int64_t count,
                                 size_t bytes, modal_error *err)
{
    if (count == 0) return MODAL_OK;
    return modal_device_copy_in(&e->device, (void *)to, from, count * (int64_t)bytes, e->stream, err);
}

/* ---- building ---- */

static modal_status device_array(modal_exact *e, void *pointer, int64_t count, size_t bytes, modal_error *err)
{
    void *memory = NULL;
    modal_status status =
        modal_device_alloc(&e->device, &memory, count > 0 ? count : 1, bytes, "exact motion", err);
    if (status != MODAL_OK) return status;
    e->owned[e->n_owned++] = memory;
    memcpy(pointer, &memory, sizeof memory);
    return MODAL_OK;
}

static modal_status make_tables(modal_exact *e, modal_exact_tables *t, int64_t n_modes, int64_t n_inputs,
                                int64_t n_signals, modal_error *err)
{
    modal_status status = MODAL_OK;
    t->task.n_modes = n_modes;
    MODAL_TRY(modal_alloc_zero(&t->modes, MODAL_LINEAR_COLUMNS * n_modes, sizeof(double), "exact motion", err));
    MODAL_TRY(modal_alloc_zero(&t->inputs, n_inputs, sizeof(double), "exact motion", err));
    MODAL_TRY(modal_alloc_zero(&t->signals, 2 * n_signals, sizeof(double), "exact motion", err));
    MODAL_TRY(device_array(e, &t->task.modes, MODAL_LINEAR_COLUMNS * n_modes, sizeof(double), err));
    MODAL_TRY(device_array(e, &t->task.inputs, n_inputs, sizeof(double), err));
    MODAL_TRY(device_array(e, &t->task.signals, 2 * n_signals, sizeof(double), err));
done:
    return status;
}

static modal_status add_object(modal_exact *e, int32_t i, const modal_exact_setup *setup, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_linear_step_object *o = &e->objects[i];
    const modal_body *body = &setup->bodies[e->object[i]];
    const modal_shape *shape = &e->basis->shapes[e->basis->objects[e->object[i]].shape];
    const double *pose = body->pose;
    const int64_t first = e->first_mode[i];
    int damped = 0;
    MODAL_TRY(modal_scene_check_uncoupled(e->basis, e->object[i], err));
    memcpy(e->poses + 12 * i, pose, 12 * sizeof(double));
    e->mass[i] = shape->modes.total_mass;
    for (int32_t k = 0; k < o->n_modes; k++) {
        const double stiffness = shape->modes.eigenvalues[k], mass = shape->modes.modal_masses[k];
        const double damping = body->alpha + body->beta * stiffness + 2 * body->ratio * sqrt(stiffness);
        modal_oscillator_set(&e->oscillators[first + k], stiffness, damping);
        damped |= damping > 0;
        e->modal_mass[first + k] = mass;
        e->halves[2 * (first + k)] = 0.5 * mass;
        e->halves[2 * (first + k) + 1] = 0.5 * mass * e->oscillators[first + k].stiffness;
        double *lift = e->lift + 3 * (first + k), load = 0;
        for (int a = 0; a < 3; a++) {
            lift[a] = 0;
            for (int b = 0; b < 3; b++) lift[a] += pose[4 * a + b] * shape->modes.participation[3 * k + b];
            load += lift[a] * setup->gravity[a];
        }
        e->constant[first + k] = load / mass;
    }
    o->loss = !damped ? MODAL_LINEAR_NO_LOSS : o->n_inputs > 0 ? MODAL_LINEAR_LOSS_RULE : MODAL_LINEAR_LOSS;
done:
    return status;
}

/* Constant loads join gravity, impulses and the others go into their lists. */
static void take_input(modal_exact *e, int32_t i, const modal_exact_input *from, double **room)
{
    modal_linear_step_object *o = &e->objects[i];
    if (is_constant(from)) {
        for (int32_t k = 0; k < o->n_modes; k++) e->constant[e->first_mode[i] + k] += from->load[k];
        return;
    }
    modal_exact_input *to = is_impulse(from) ? &e->impulses[e->n_impulses++] : &e->inputs[e->n_inputs++];
    *to = *from;
    to->load = *room;
    memcpy(*room, from->load, (size_t)o->n_modes * sizeof(double));
    *room += o->n_modes;
}

static int compare_inputs(const void *a, const void *b)
{
    const modal_exact_input *x = a, *y = b;
    if (x->object != y->object) return x->object < y->object ? -1 : 1;
    return x->load < y->load ? -1 : x->load > y->load;
}

/* Objects, modes and inputs have been counted. */
static modal_status make_arrays(modal_exact *e, const modal_exact_setup *setup, int64_t n_loads, int64_t most_modes, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_alloc_zero(&e->poses, 12 * (int64_t)e->n, sizeof(double), "exact motion", err));
    MODAL_TRY(modal_alloc_zero(&e->mass, e->n, sizeof(double), "exact motion", err));
    MODAL_TRY(modal_alloc_zero(&e->constant, e->n_modes, sizeof(double), "exact motion", err));
    MODAL_TRY(modal_alloc_zero(&e->modal_mass, e->n_modes, sizeof(double), "exact motion", err));
    MODAL_TRY(modal_alloc_zero(&e->halves, 2 * e->n_modes, sizeof(double), "exact motion", err));
    MODAL_TRY(modal_alloc_zero(&e->lift, 3 * e->n_modes, sizeof(double), "exact motion", err));
    MODAL_TRY(modal_alloc_zero(&e->oscillators, e->n_modes, sizeof *e->oscillators, "exact motion", err));
    MODAL_TRY(modal_alloc_zero(&e->inputs, setup->n_inputs, sizeof *e->inputs, "exact motion", err));
    MODAL_TRY(modal_alloc_zero(&e->impulses, setup->n_inputs, sizeof *e->impulses, "exact motion", err));
    MODAL_TRY(modal_alloc_zero(&e->loads, n_loads, sizeof(double), "exact motion", err));
    MODAL_TRY(modal_alloc_zero(&e->first_impulse, (int64_t)e->n + 1, sizeof(int64_t), "exact motion", err));
    MODAL_TRY(modal_alloc_zero(&e->next_event, e->n, sizeof(double), "exact motion", err));
    MODAL_TRY(modal_alloc_zero(&e->skip, e->n, 1, "exact motion", err));
    MODAL_TRY(modal_alloc_zero(&e->lost, e->n, sizeof(double), "exact motion", err));
    MODAL_TRY(modal_alloc_zero(&e->energy, e->n, sizeof(double), "exact motion", err));
    MODAL_TRY(modal_alloc_zero(&e->fresh, e->n, sizeof(double), "exact motion", err));
    MODAL_TRY(modal_alloc_zero(&e->part_state, 2 * most_modes, sizeof(double), "exact motion", err));
    MODAL_TRY(modal_alloc_zero(&e->transitions, most_modes, sizeof *e->transitions, "exact motion", err));
    if (setup->anew) {
        MODAL_TRY(modal_alloc_zero(&e->anchors, 2 * e->n_modes, sizeof(double), "exact motion", err));
        MODAL_TRY(modal_alloc_zero(&e->anchor_times, e->n, sizeof(double), "exact motion", err));
        MODAL_TRY(modal_alloc_zero(&e->since, e->n, sizeof *e->since, "exact motion", err));
        MODAL_TRY(device_array(e, &e->unread, 1, sizeof(double), err));
    }
done:
    return status;
}

/* Whether the columns of two objects, each at its first mode, are the same. */
static int are_equal(const modal_exact *e, int32_t i, int32_t j)
{
    const int32_t n = e->objects[i].n_modes;
    if (n != e->objects[j].n_modes) return 0;
    for (int c = 0; c < MODAL_LINEAR_COLUMNS; c++) {
        const double *column = e->whole.modes + c * e->n_modes;
        if (memcmp(column + e->first_mode[i], column + e->first_mode[j], (size_t)n * sizeof *column) != 0) return 0;
    }
    return 1;
}

static modal_status build(modal_exact *e, const modal_exact_setup *setup, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int32_t all = e->basis->n_objects;
    int64_t *offsets = NULL, most_modes = 0, most_inputs = 0, most_signals = 0, n_inputs = 0, n_loads = 0, next = 0;
    MODAL_TRY(modal_alloc(&offsets, (int64_t)all + 1, sizeof *offsets, "exact motion", err));
    modal_basis_mode_offsets(e->basis, offsets);
    for (int32_t b = 0; b < all; b++) e->n += setup->bodies[b].exact != 0;
    if (setup->n_inputs > 1)
        qsort(setup->inputs, (size_t)setup->n_inputs, sizeof *setup->inputs, compare_inputs);
    MODAL_TRY(modal_alloc_zero(&e->object, e->n, sizeof *e->object, "exact motion", err));
    MODAL_TRY(modal_alloc_zero(&e->objects, e->n, sizeof *e->objects, "exact motion", err));
    MODAL_TRY(modal_alloc_zero(&e->first_mode, e->n, sizeof *e->first_mode, "exact motion", err));
    int32_t n = 0;
    for (int32_t b = 0; b < all; b++) {
        if (!setup->bodies[b].exact) continue;
        modal_linear_step_object *o = &e->objects[n];
        e->first_mode[n] = e->n_modes;
        e->object[n++] = b;
        o->coordinate = offsets[b];
        o->n_modes = (int32_t)(offsets[b + 1] - offsets[b]);
        o->input = n_inputs;
        o->first_signal = (int32_t)most_signals;
        e->n_modes += o->n_modes;
        for (; next < setup->n_inputs && setup->inputs[next].object == b; next++) {
            n_loads += o->n_modes;
            if (!is_constant(&setup->inputs[next]) && !is_impulse(&setup->inputs[next])) o->n_inputs++;
        }
        most_signals += o->n_inputs;
        const int64_t inputs = (int64_t)o->n_inputs * MODAL_LINEAR_INPUT * o->n_modes;
        n_inputs += inputs;
        if (o->n_modes > most_modes) most_modes = o->n_modes;
        if (inputs > most_inputs) most_inputs = inputs;
    }
    MODAL_TRY(make_arrays(e, setup, n_loads, most_modes, err));
    MODAL_TRY(make_tables(e, &e->whole, e->n_modes, n_inputs, most_signals, err));
    MODAL_TRY(make_tables(e, &e->part, most_modes, most_inputs, most_signals, err));
    double *room = e->loads;
    next = 0;
    for (int32_t i = 0; i < e->n; i++) {
        e->next_event[i] = -INFINITY; /* to be found by the first step */
        MODAL_TRY(add_object(e, i, setup, err));
        for (; next < setup->n_inputs && setup->inputs[next].object == e->object[i]; next++)
            take_input(e, i, &setup->inputs[next], &room);
        e->first_impulse[i + 1] = e->n_impulses;
        modal_exact_columns(e, i, e->step, &e->whole, e->first_mode[i], e->objects[i].input);
        e->objects[i].mode = i > 0 && are_equal(e, i - 1, i) ? e->objects[i - 1].mode : e->first_mode[i];
    }
    MODAL_TRY(device_array(e, &e->d_objects, e->n, sizeof *e->d_objects, err));
    MODAL_TRY(device_array(e, &e->part_object, 1, sizeof *e->part_object, err));
    MODAL_TRY(device_array(e, &e->d_skip, e->n, 1, err));
    MODAL_TRY(device_array(e, &e->whole.task.lost, e->n, sizeof(double), err));
    MODAL_TRY(modal_exact_copy_in(e, e->whole.task.lost, e->lost, e->n, sizeof(double), err));
    MODAL_TRY(modal_exact_copy_in(e, e->d_objects, e->objects, e->n, sizeof *e->d_objects, err));
    MODAL_TRY(modal_exact_copy_in(e, e->whole.task.modes, e->whole.modes, MODAL_LINEAR_COLUMNS * e->n_modes,
                                  sizeof(double), err));
    MODAL_TRY(modal_exact_copy_in(e, e->whole.task.inputs, e->whole.inputs, n_inputs, sizeof(double), err));
    MODAL_TRY(modal_device_stream_wait(&e->device, e->stream, err));
    e->whole.task.objects = e->d_objects;
    e->whole.task.n_objects = e->n;
    e->whole.task.h = e->step;
    e->part.task.objects = e->part_object;
    e->part.task.n_objects = 1;
done:
    modal_free(&offsets);
    return status;
}

modal_status modal_exact_new(modal_exact **exact, const modal_basis *basis, const modal_exact_setup *setup,
                             const modal_device *device, modal_stream *stream, double *q, double *v,
                             modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_exact *e = NULL;
    *exact = NULL;
    MODAL_TRY(modal_alloc_zero(&e, 1, sizeof *e, "exact motion", err));
    e->device = *device;
    e->stream = stream;
    e->basis = basis;
    e->splines = setup->splines;
    e->step = setup->step;
    e->latest_mode = -1;
    e->whole.task.q = e->part.task.q = q;
    e->whole.task.v = e->part.task.v = v;
    MODAL_TRY(build(e, setup, err));
    *exact = e;
    e = NULL;
done:
    modal_exact_delete(e);
    return status;
}

modal_exact *modal_exact_delete(modal_exact *e)
{
    if (!e) return NULL;
    for (int i = 0; i < e->n_owned; i++) modal_device_free(&e->device, &e->owned[i]);
    void *arrays[] = {&e->object, &e->objects, &e->poses, &e->mass, &e->constant, &e->modal_mass, &e->lift, &e->halves,
                      &e->oscillators, &e->inputs, &e->impulses, &e->first_impulse, &e->loads, &e->next_event,
                      &e->skip, &e->lost, &e->energy, &e->fresh, &e->part_state, &e->transitions, &e->first_mode, &e->anchors,
                      &e->anchor_times, &e->since, &e->whole.modes, &e->whole.inputs, &e->whole.signals, &e->part.modes, &e->part.inputs,
                      &e->part.signals};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) modal_free(arrays[i]);
    modal_free(&e);
    return NULL;
}
