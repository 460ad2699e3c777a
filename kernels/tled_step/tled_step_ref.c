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

/* What float32 has lost of u, or of d (which 4); row of low. */
static double lost(const modal_tled_step_task *t, int64_t i, int which, int c) { return t->low ? ((const float *)t->low)[8 * i + which + c] : 0; }

static void keep_lost(const modal_tled_step_task *t, int64_t i, int which, int c, double value)
{
    if (t->low) ((float *)t->low)[8 * i + which + c] = (float)value;
}

/* Minus the elements' forces at u_n. 0 where an element is turned. */
static int add_elements(const modal_tled_step_task *t, modal_tled_reference *r, int64_t n)
{
    const modal_tled_solid *s = r->head.solid;
    const int most = modal_tled_most_terms(s);
    modal_tled_decay decays[MODAL_TLED_TERMS];
    modal_tled_reference_pressures(r, r->displacements);
    for (int64_t e = 0; e < s->n_tetrahedra + s->n_hexahedra; e++) {
        const modal_tled_material *material = &s->materials[s->material[e]];
        double forces[8][3], h[9], stress[9];
        int n_corners;
        const int32_t *corners = modal_tled_corners(s, e, &n_corners);
        modal_tled_reference_law_gradient(r, e, r->displacements, h);
        const double jacobian = 1 + modal_tled_reference_stress(r, e, h, stress);
        for (int k = 0; k < material->n_terms; k++) decays[k] = modal_tled_decay_of(material, k, t->step, t->before);
        if (material->n_terms > 0) modal_tled_relax(material, decays, h, (double *)t->viscous + 6 * most * e, stress);
        modal_tled_reference_forces(r, e, r->displacements, stress, forces);
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

/* R: gravity, loads and pressures, added to `forces`. */
static void add_loads(const modal_tled_step_task *t, modal_tled_reference *r, int64_t k)
{
    const modal_tled_solid *s = r->head.solid;
    const double *signals = t->signals + k * s->n_signals;
    if (t->gravity)
        for (int64_t i = 0; i < 3 * s->n_nodes; i++) r->forces[i] += (s->weights ? s->weights : s->mass)[i / 3] * t->gravity[3 * k + i % 3];
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

/* A node's components before its step. */
typedef struct was {
    double d[3];  /* 0 where the task starts from rest */
    double at[3]; /* u + low */
} was;

/* Moves component c of node i to where it is prescribed, or by the forces. `held` is the row of `held` or -1. Returns the force
 * that holds it. */
static double move(const modal_tled_step_task *t, const modal_tled_reference *r, const modal_tled_factors *f, int64_t k,
                   int64_t i, int c, int64_t held, const was *w)
{
    const modal_tled_solid *s = r->head.solid;
    const double u = load(t, t->u, i, c), low = lost(t, i, 0, c), mass = s->mass[i];
    const double force = r->forces[3 * i + c];
    const int32_t signal = held < 0 ? MODAL_TLED_FREE : s->held_signals[3 * held + c];
    double d, next;
    if (signal == MODAL_TLED_FREE) {
        d = f->keep * w->d[c] + f->gain * force / mass;
        store(t, t->d, i, c, d);
        next = u + (low + load(t, t->d, i, c)); /* what d loses is in its own low */
    } else {
        next = signal == MODAL_TLED_STILL
                   ? 0
                   : s->held_values[3 * held + c] * t->signals[(k + 1) * s->n_signals + signal];
        d = next - (u + low);
    }
    store(t, t->d, i, c, d);
    store(t, t->u, i, c, next);
    keep_lost(t, i, 0, c, next - load(t, t->u, i, c));
    keep_lost(t, i, 4, c, d - load(t, t->d, i, c));
    /* m a + damping = m (d - keep d_old) / gain holds with the factors of the step */
    return signal == MODAL_TLED_FREE ? 0 : mass * (d - f->keep * w->d[c]) / f->gain - force;
}

/* Puts node `row` of those that touch out of the bodies that it is in; their forces are added to holding [3]. */
static void put_out(const modal_tled_step_task *t, const modal_tled_factors *f, int64_t k, int64_t row, int held, const was *w,
                    double *holding)
{
    const modal_tled_solid *s = t->layout->solid;
    const int64_t i = s->touching[row];
    double x[3], from[3];
    int moved = 0;
    for (int c = 0; c < 3; c++) {
        x[c] = s->nodes[3 * i + c] + (load(t, t->u, i, c) + lost(t, i, 0, c));
        from[c] = s->nodes[3 * i + c] + w->at[c];
    }
    for (int32_t b = 0; b < s->n_contacts; b++) {
        const modal_tled_contact *contact = &s->contacts[b];
        const double before[3] = {x[0], x[1], x[2]};
        const double *signals = t->signals + k * s->n_signals + contact->signal;
        const int in = !held && (s->touching_masks[row] >> b & 1) && modal_tled_put_out(contact, signals, signals + s->n_signals, from, x);
        moved |= in;
        for (int c = 0; c < 3; c++) {
            const double force = in ? s->mass[i] * (x[c] - before[c]) / f->gain : 0;
            if (t->touches) t->touches[3 * (b * s->n_touching + row) + c] = force;
            holding[c] += force;
        }
    }
    for (int c = 0; c < 3 && moved; c++) {
        const double to = x[c] - s->nodes[3 * i + c];
        store(t, t->d, i, c, to - w->at[c]);
        store(t, t->u, i, c, to);
        keep_lost(t, i, 0, c, to - load(t, t->u, i, c));
        keep_lost(t, i, 4, c, to - w->at[c] - load(t, t->d, i, c));
    }
}

/* One node's step, works and reactions included; held and row: of the solid's held and touching, or -1. */
static void step_node(const modal_tled_step_task *t, const modal_tled_reference *r, const modal_tled_factors *f, int64_t k,
                      int64_t i, int64_t held, int64_t row)
{
    double holding[3];
    was w;
    for (int c = 0; c < 3; c++) {
        w.d[c] = f->ratio > 0 ? load(t, t->d, i, c) + lost(t, i, 4, c) : 0;
        w.at[c] = load(t, t->u, i, c) + lost(t, i, 0, c);
    }
    for (int c = 0; c < 3; c++) {
        holding[c] = move(t, r, f, k, i, c, held, &w);
        if (t->reactions && held >= 0) t->reactions[3 * held + c] = holding[c];
    }
    if (row >= 0) put_out(t, f, k, row, held >= 0, &w, holding);
    for (int c = 0; c < 3 && t->work; c++) {
        const double both = load(t, t->d, i, c) + f->ratio * w.d[c], way = f->half * both;
        t->work->loads += r->loads[3 * i + c] * way;
        t->work->inner += (r->loads[3 * i + c] - r->forces[3 * i + c]) * way;
        t->work->held += holding[c] * way;
        t->work->damped += t->alpha * r->head.solid->mass[i] * both / (2 * t->step) * way;
    }
}

/* The state's `stiffest`; r->forces is scratch. */
static void find_stiffest(const modal_tled_step_task *task, modal_tled_reference *r)
{
    const modal_tled_solid *s = r->head.solid;
    *task->stiffest = 0;
    for (int64_t i = 0; i < 3 * s->n_nodes; i++) r->displacements[i] = load(task, task->u, i / 3, (int)(i % 3)), r->forces[i] = 0;
    for (int64_t e = 0; e < s->n_tetrahedra + s->n_hexahedra; e++) {
        double h[9];
        int n;
        const int32_t *corners = modal_tled_corners(s, e, &n);
        modal_tled_reference_law_gradient(r, e, r->displacements, h);
        const double own = s->stiffness[e] * modal_tled_reference_measure(r, e, h);
        for (int a = 0; a < n; a++) r->forces[corners[a]] += own;
    }
    for (int64_t i = 0; i < s->n_nodes; i++) {
        const double value = r->forces[i] / s->mass[i];
        if (!(value <= *task->stiffest)) *task->stiffest = value < HUGE_VAL ? value : HUGE_VAL;
    }
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
        memcpy(r->loads, r->forces, (size_t)s->n_nodes * 3 * sizeof(double)); /* R alone, for its work */
        if (!add_elements(task, r, task->first + k)) return MODAL_OK;
        for (int64_t i = 0, held = 0, row = 0; i < s->n_nodes; i++) {
            const int is_held = held < s->n_held && s->held[held] == i, touches = row < s->n_touching && s->touching[row] == i;
            step_node(task, r, &f, k, i, is_held ? held : -1, touches ? row : -1);
            held += is_held, row += touches;
        }
    }
    if (task->stiffest) find_stiffest(task, r);
    return MODAL_OK;
}
