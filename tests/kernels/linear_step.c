/* SPDX-License-Identifier: Apache-2.0 */
/* One step of every kind of object, against the header's sums in long double. That the columns are those of the
 * exact motion is tests/python/check_scene_linear.py's matter. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/linear_step/linear_step.h"
#include "tests/kernels/harness.h"

enum { MOST_INPUTS = 3 };

typedef struct model {
    modal_linear_step_task task; /* with arrays in main memory */
    modal_linear_step_object *objects;
    uint8_t *skip;
    double *modes, *inputs, *signals, *q, *v, *lost;
    int64_t n_inputs, n_signals;
} model;

static double *doubles(harness *h, int64_t count)
{
    double *x = harness_alloc(count, sizeof *x);
    for (int64_t i = 0; i < count; i++) x[i] = harness_random(h);
    return x;
}

/* Objects of r modes and less, with 0 to 3 inputs and every way of losing energy; a damping of 0 among them. */
static model make(harness *h, int32_t n, int32_t r)
{
    model m = {.objects = harness_alloc(n, sizeof *m.objects), .skip = harness_alloc(n, 1)};
    int64_t modes = 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t own = i % 7 == 3 ? (r + 1) / 2 : r, n_inputs = i % (MOST_INPUTS + 1);
        m.objects[i] = (modal_linear_step_object){
            .coordinate = modes, .mode = modes, .input = m.n_inputs, .n_modes = own, .n_inputs = n_inputs,
            .first_signal = (int32_t)m.n_signals, .loss = n_inputs > 0 && i % 3 == 1 ? MODAL_LINEAR_LOSS_RULE : i % 3};
        m.skip[i] = i % 11 == 5;
        modes += own;
        m.n_inputs += (int64_t)n_inputs * MODAL_LINEAR_INPUT * own;
        m.n_signals += n_inputs;
    }
    m.modes = doubles(h, modes * MODAL_LINEAR_COLUMNS);
    for (int64_t k = 0; k < modes; k += 5) m.modes[MODAL_LINEAR_DAMPING * modes + k] = 0;
    for (int64_t k = 1; k < modes; k += 5) m.modes[MODAL_LINEAR_DAMPING * modes + k] = 1;
    m.inputs = doubles(h, m.n_inputs);
    m.signals = doubles(h, 2 * m.n_signals);
    m.q = doubles(h, modes);
    m.v = doubles(h, modes);
    m.lost = doubles(h, n);
    m.task = (modal_linear_step_task){.n_objects = n, .n_modes = modes, .h = 0.01};
    return m;
}

static void free_model(model *m)
{
    free(m->objects);
    free(m->skip);
    free(m->modes);
    free(m->inputs);
    free(m->signals);
    free(m->q);
    free(m->v);
    free(m->lost);
}

/* A step on the harness's device: out is q, v, lost. The harness counts in floats, of which a double takes two. */
static void step(harness *h, const model *m, int skips, harness_output *out[3])
{
    modal_linear_step_task t = m->task;
    modal_error err = {0};
    t.objects = harness_input(h, m->objects, t.n_objects * (int64_t)sizeof *m->objects, 0);
    t.skip = skips ? harness_input(h, m->skip, t.n_objects, 0) : NULL;
    t.modes = harness_input(h, m->modes, t.n_modes * MODAL_LINEAR_COLUMNS * 8, 0);
    t.inputs = harness_input(h, m->inputs, m->n_inputs * 8, 0);
    t.signals = harness_input(h, m->signals, 2 * m->n_signals * 8, 0);
    out[0] = harness_new_output(h, 2 * t.n_modes, 0, (const float *)m->q);
    out[1] = harness_new_output(h, 2 * t.n_modes, 0, (const float *)m->v);
    out[2] = harness_new_output(h, 2 * (int64_t)t.n_objects, 0, (const float *)m->lost);
    t.q = (double *)out[0]->device;
    t.v = (double *)out[1]->device;
    t.lost = (double *)out[2]->device;
    harness_ok(h, h->kernels->linear_step(&t, h->stream, &err), &err);
}

static void count(harness *h, const char *what, int64_t index, long double error, double bound)
{
    const double size = fabs((double)error);
    h->n_values++;
    if (bound > 0 && size / bound > h->worst) h->worst = size / bound;
    if (!(size <= bound)) harness_fail(h, "%s[%lld] is off by %.3g, bound %.3g", what, (long long)index, size, bound);
}

/* The sum of n products, and of their sizes. */
typedef struct sum {
    long double value, size;
} sum;

static void add(sum *s, double a, double b)
{
    s->value += (long double)a * b;
    s->size += fabsl((long double)a * b);
}

static void check_object(harness *h, const model *m, int32_t i, const double *q, const double *v, double lost)
{
    const modal_linear_step_object *o = &m->objects[i];
    const int64_t n = m->task.n_modes;
    long double want_lost = 0, lost_bound = fabs(m->lost[i]) * DBL_EPSILON;
    for (int32_t k = 0; k < o->n_modes; k++) {
        const double *c = m->modes + o->mode + k, q0 = m->q[o->coordinate + k], v0 = m->v[o->coordinate + k];
        sum q1 = {0}, v1 = {0};
        add(&q1, 1, q0);
        add(&v1, 1, v0);
        add(&q1, c[MODAL_LINEAR_QQ * n], q0);
        add(&q1, c[MODAL_LINEAR_QV * n], v0);
        add(&q1, c[MODAL_LINEAR_CQ * n], 1);
        add(&v1, c[MODAL_LINEAR_VQ * n], q0);
        add(&v1, c[MODAL_LINEAR_VV * n], v0);
        add(&v1, c[MODAL_LINEAR_CV * n], 1);
        for (int32_t j = 0; j < o->n_inputs; j++) {
            const double *b = m->inputs + o->input + (int64_t)j * MODAL_LINEAR_INPUT * o->n_modes + k;
            const double *x = m->signals + 2 * ((int64_t)o->first_signal + j);
            for (int s = 0; s < 2; s++) {
                add(&q1, b[s * o->n_modes], x[s]);
                add(&v1, b[(2 + s) * o->n_modes], x[s]);
            }
        }
        const double q_bound = (4 + 2 * o->n_inputs) * DBL_EPSILON * (double)q1.size;
        const double v_bound = (4 + 2 * o->n_inputs) * DBL_EPSILON * (double)v1.size;
        count(h, "q", o->coordinate + k, q[o->coordinate + k] - q1.value, q_bound);
        count(h, "v", o->coordinate + k, v[o->coordinate + k] - v1.value, v_bound);
        const double damping = c[MODAL_LINEAR_DAMPING * n];
        const long double x1 = q1.value, y1 = v1.value;
        if (o->loss == MODAL_LINEAR_LOSS_RULE) {
            want_lost += 0.5L * m->task.h * damping * (v0 * (long double)v0 + y1 * y1);
            lost_bound += m->task.h * fabs(damping) * (fabsl(y1) * v_bound + 4 * DBL_EPSILON * (v0 * v0 + y1 * y1));
        } else if (o->loss == MODAL_LINEAR_LOSS && damping > 0) {
            const double mass = c[MODAL_LINEAR_MASS * n], stiffness = c[MODAL_LINEAR_STIFFNESS * n];
            const double load = c[MODAL_LINEAR_LOAD * n];
            want_lost += load * (x1 - q0) + 0.5L * (mass * (v0 * (long double)v0 - y1 * y1) +
                                                    stiffness * (q0 * (long double)q0 - x1 * x1));
            const long double vs = fabs(v0) + fabsl(y1), qs = fabs(q0) + fabsl(x1);
            lost_bound += fabs(load) * (q_bound + 4 * DBL_EPSILON * qs) +
                          fabs(mass) * vs * (v_bound + 4 * DBL_EPSILON * vs) +
                          fabs(stiffness) * qs * (q_bound + 4 * DBL_EPSILON * qs);
        }
    }
    if (o->loss == MODAL_LINEAR_NO_LOSS) lost_bound = 0;
    count(h, "lost", i, (long double)lost - m->lost[i] - want_lost,
          (double)(lost_bound + (o->loss ? o->n_modes * DBL_EPSILON * (fabsl(want_lost) + lost_bound) : 0)));
}

static void check(harness *h, int32_t n, int32_t r, int skips)
{
    harness_case(h, "%d objects, r = %d%s", n, r, skips ? ", some resting" : "");
    model m = make(h, n, r);
    harness_output *out[3], *again[3];
    step(h, &m, skips, out);
    step(h, &m, skips, again);
    harness_fetch(h);
    for (int i = 0; i < 3; i++) harness_same(h, "a second run", out[i], again[i]);
    const double *q = (const double *)out[0]->host, *v = (const double *)out[1]->host;
    const double *lost = (const double *)out[2]->host;
    for (int32_t i = 0; i < n; i++) {
        if (!skips || !m.skip[i]) {
            check_object(h, &m, i, q, v, lost[i]);
            continue;
        }
        const int64_t at = m.objects[i].coordinate;
        const size_t bytes = (size_t)m.objects[i].n_modes * sizeof(double);
        if (memcmp(q + at, m.q + at, bytes) != 0 || memcmp(v + at, m.v + at, bytes) != 0 ||
            memcmp(lost + i, m.lost + i, sizeof *lost) != 0)
            harness_fail(h, "object %d should rest", i);
    }
    free_model(&m);
}

static void run(harness *h)
{
    static const int32_t objects[] = {0, 1, 7, 8, 9, 33, 1000}, modes[] = {1, 2, 3, 31, 32, 33, 100};
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        for (size_t k = 0; k < sizeof modes / sizeof *modes; k++)
            if (!h->quick || objects[i] * modes[k] <= 3300) check(h, objects[i], modes[k], (i + k) % 2);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "linear_step", run); }
