/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/tled_step/tled_step.h"

#include <math.h>
#include <string.h>

#include "kernels/tled_layout/tled_reference.h"

/* Component c of node i of a state array. */
static double load(const modal_tled_step_task *t, const void *array, int64_t i, int c)
{
    return t->layout->precision == MODAL_TLED_FLOAT64 ? ((const double *)array)[4 * i + c]
                                                      : ((const float *)array)[4 * i + c];
}

static void store(const modal_tled_step_task *t, void *array, int64_t i, int c, double value)
{
    if (t->layout->precision == MODAL_TLED_FLOAT64) ((double *)array)[4 * i + c] = value;
    else ((float *)array)[4 * i + c] = (float)value;
}

/* Minus the elements' forces at u_n. 0 where an element is turned. */
static int add_elements(const modal_tled_step_task *t, modal_tled_reference *r, int64_t n)
{
    const modal_tled_solid *s = r->head.solid;
    for (int64_t e = 0; e < s->n_tetrahedra + s->n_hexahedra; e++) {
        double forces[8][3];
        int n_corners;
        const int32_t *corners = modal_tled_corners(s, e, &n_corners);
        const double jacobian = 1 + modal_tled_reference_forces(r, e, r->displacements, forces);
        if (!(jacobian > 0 && jacobian < HUGE_VAL)) {
            if (t->watch->step < 0)
                *t->watch = (modal_tled_watch){n, e, jacobian < HUGE_VAL ? jacobian : NAN};
            return 0;
        }
        for (int a = 0; a < n_corners; a++)
            for (int i = 0; i < 3; i++) r->forces[3 * (int64_t)corners[a] + i] -= forces[a][i];
    }
    return 1;
}

/* R: gravity, loads and pressures, added to `forces`; `loads` [n_nodes, 3] gets R alone where it is not NULL. */
static void add_loads(const modal_tled_step_task *t, modal_tled_reference *r, int64_t k)
{
    const modal_tled_solid *s = r->head.solid;
    const double *signals = t->signals + k * s->n_signals;
    if (t->gravity)
        for (int64_t i = 0; i < 3 * s->n_nodes; i++) r->forces[i] += s->mass[i / 3] * t->gravity[3 * k + i % 3];
    for (int64_t l = 0; l < s->n_loaded; l++)
        for (int64_t e = s->load_offsets[l]; e < s->load_offsets[l + 1]; e++)
            for (int i = 0; i < 3; i++)
                r->forces[3 * (int64_t)s->loaded[l] + i] += signals[s->load_signals[e]] * s->load_vectors[3 * e + i];
    for (int64_t f = 0; f < s->n_faces; f++) {
        const int32_t *corners = s->faces + 4 * f;
        const int n = corners[3] < 0 ? 3 : 4;
        const double pressure = s->face_pressures[f] * signals[s->face_signals[f]];
        double x[4][3], forces[4][3];
        for (int a = 0; a < n; a++)
            for (int i = 0; i < 3; i++)
                x[a][i] = s->nodes[3 * (int64_t)corners[a] + i] + r->displacements[3 * (int64_t)corners[a] + i];
        modal_tled_face_force(n, x, forces);
        for (int a = 0; a < n; a++)
            for (int i = 0; i < 3; i++) r->forces[3 * (int64_t)corners[a] + i] += pressure * forces[a][i];
    }
}

/* Moves component c of node i to where it is prescribed, or by the forces. `held` is the row of `held` or -1. */
static void move(const modal_tled_step_task *t, const modal_tled_reference *r, const modal_tled_factors *f, int64_t k,
                 int64_t i, int c, int64_t held)
{
    const modal_tled_solid *s = r->head.solid;
    const double u = load(t, t->u, i, c), low = t->low ? load(t, t->low, i, c) : 0, mass = s->mass[i];
    const double before = f->ratio > 0 ? load(t, t->d, i, c) : 0, force = r->forces[3 * i + c];
    const int32_t signal = held < 0 ? MODAL_TLED_FREE : s->held_signals[3 * held + c];
    double d, next;
    if (signal == MODAL_TLED_FREE) {
        d = f->keep * before + f->gain * force / mass;
        next = u + (low + d);
    } else {
        next = signal == MODAL_TLED_STILL
                   ? 0
                   : s->held_values[3 * held + c] * t->signals[(k + 1) * s->n_signals + signal];
        d = next - (u + low);
    }
    store(t, t->d, i, c, d);
    store(t, t->u, i, c, next);
    if (t->low) store(t, t->low, i, c, signal == MODAL_TLED_FREE ? (low + d) - (load(t, t->u, i, c) - u)
                                                                 : next - load(t, t->u, i, c));
    const double way = f->half * (d + f->ratio * before);
    /* m a + damping = m (d - keep d_old) / gain holds with the factors of the step */
    const double holding = signal == MODAL_TLED_FREE ? 0 : mass * (d - f->keep * before) / f->gain - force;
    if (t->reactions && held >= 0) t->reactions[3 * held + c] = holding;
    if (!t->work) return;
    t->work->held += holding * way;
    t->work->damped += t->alpha * mass * (d + f->ratio * before) / (2 * t->step) * way;
}

modal_status modal_tled_step_ref(const modal_tled_step_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream;
    (void)err;
    modal_tled_reference *r = (modal_tled_reference *)task->layout;
    const modal_tled_solid *s = r->head.solid;
    const modal_tled_factors f = modal_tled_step_factors(task->step, task->before, task->alpha);
    for (int64_t k = 0; k < task->n_steps; k++) {
        for (int64_t i = 0; i < 3 * s->n_nodes; i++)
            r->displacements[i] = load(task, task->u, i / 3, (int)(i % 3)), r->forces[i] = 0;
        add_loads(task, r, k);
        if (task->work) /* `displacements` still holds u_n: R's work needs d_new, so R is kept in `loads` */
            memcpy(r->loads, r->forces, (size_t)s->n_nodes * 3 * sizeof(double));
        if (!add_elements(task, r, task->first + k)) return MODAL_OK;
        for (int64_t i = 0, held = 0; i < s->n_nodes; i++) {
            const int here = held < s->n_held && s->held[held] == i;
            for (int c = 0; c < 3; c++) {
                const double before = f.ratio > 0 ? load(task, task->d, i, c) : 0;
                move(task, r, &f, k, i, c, here ? held : -1);
                if (task->work)
                    task->work->loads += r->loads[3 * i + c] * f.half * (load(task, task->d, i, c) + f.ratio * before);
            }
            held += here;
        }
    }
    return MODAL_OK;
}
