/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/oscillators/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/oscillators/oscillator.h"

static const double TURN = 2 * 3.14159265358979323846;
static const double SAME = 1e-9; /* intervals that differ by less have the same coefficients: their ends are rounded */
enum { SWEEP_LINES = 20, MOST_SWEEP_LINES = 200000 };

/* What is stepped. */
typedef struct history {
    const modal_history *h;
    double *q, *v;
    modal_oscillator *oscillators;
    modal_transition *steps; /* [n] over `interval` */
    double *sines;           /* [n_inputs, n, 4] of those that are sines, over the same */
    double *from, *change;   /* [n] the load at the begin of an interval, and by how much it grows */
    double interval;
} history;

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int is_sine(const modal_history_input *in) { return in->curve->kind == MODAL_CURVE_SINE; }
static int is_pulse(const modal_history_input *in) { return in->curve->kind == MODAL_CURVE_PULSE; }

static double lines_of(const modal_curve *c)
{
    return c->kind == MODAL_CURVE_SWEEP ? 1 + ceil(SWEEP_LINES * (c->end - c->start) * fmax(fabs(c->from), fabs(c->to))) : 0;
}

static void add_time(double time, double duration, double *times, int64_t *n)
{
    if (time > 0 && time < duration) times[(*n)++] = time;
}

/* The ends of intervals, ascending from 0 to the duration: where curves bend, and between them so that there are looks enough. */
static modal_status list_times(const modal_history *h, double **times, int64_t *n, modal_error *err)
{
    modal_status status = MODAL_OK;
    double *bends = NULL;
    int64_t most = 2, n_bends = 0, kept = 0;
    const double look = h->duration / (double)h->n_looks;
    *n = 0;
    for (int64_t i = 0; i < h->n_inputs; i++) most += h->inputs[i].curve->n_keys + 3 + (int64_t)lines_of(h->inputs[i].curve);
    MODAL_TRY(modal_alloc(&bends, most, sizeof *bends, "loads over time", err));
    bends[n_bends++] = 0;
    for (int64_t i = 0; i < h->n_inputs; i++) {
        const modal_curve *c = h->inputs[i].curve;
        const int64_t lines = (int64_t)lines_of(c);
        for (int64_t k = 0; c->kind == MODAL_CURVE_KEYS && k < c->n_keys; k++) add_time(c->times[k], h->duration, bends, &n_bends);
        if (is_pulse(&h->inputs[i])) add_time(c->start, h->duration, bends, &n_bends);
        for (int64_t k = 0; k <= lines && lines > 0; k++)
            add_time(c->start + (double)k / (double)lines * (c->end - c->start), h->duration, bends, &n_bends);
    }
    bends[n_bends++] = h->duration;
    qsort(bends, (size_t)n_bends, sizeof *bends, compare);
    for (int64_t i = 1; i < n_bends; i++)
        if (bends[i] > bends[kept]) bends[++kept] = bends[i];
    for (int64_t i = 0; i < kept; i++) *n += (int64_t)fmax(1, ceil((bends[i + 1] - bends[i]) / look - SAME));
    MODAL_TRY(modal_alloc(times, *n + 1, sizeof **times, "loads over time", err));
    *n = 0;
    for (int64_t i = 0; i < kept; i++) {
        const double gap = bends[i + 1] - bends[i], parts = fmax(1, ceil(gap / look - SAME));
        for (double k = 0; k < parts; k++) (*times)[(*n)++] = bends[i] + k / parts * gap;
    }
    (*times)[*n] = bends[kept];
done:
    modal_free(&bends);
    return status;
}

/* Coefficients over h. */
static void set_interval(history *s, double h)
{
    if (fabs(h - s->interval) <= SAME * s->interval) return;
    s->interval = h;
    for (int64_t k = 0; k < s->h->n; k++) modal_oscillator_transition(&s->oscillators[k], h, &s->steps[k]);
    for (int64_t i = 0; i < s->h->n_inputs; i++) {
        if (!is_sine(&s->h->inputs[i])) continue;
        const double w = TURN * s->h->inputs[i].curve->frequency;
        for (int64_t k = 0; k < s->h->n; k++) {
            double *to = s->sines + 4 * (i * s->h->n + k);
            modal_oscillator_harmonic(&s->oscillators[k], h, w, to, to + 2);
        }
    }
}

/* Loads but sines and impulses over [a, b]. */
static void set_loads(history *s, double a, double b)
{
    const modal_history *h = s->h;
    memcpy(s->from, h->constant, (size_t)h->n * sizeof *s->from);
    memset(s->change, 0, (size_t)h->n * sizeof *s->change);
    for (int64_t i = 0; i < h->n_inputs; i++) {
        const modal_history_input *in = &h->inputs[i];
        if (is_sine(in) || is_pulse(in)) continue;
        const double middle = a + 0.5 * (b - a), first = modal_curve_value(in->curve, a, middle);
        const double grows = modal_curve_value(in->curve, b, middle) - first;
        if (first == 0 && grows == 0) continue;
        for (int64_t k = 0; k < h->n; k++) {
            s->from[k] += first * in->load[k];
            s->change[k] += grows * in->load[k];
        }
    }
}

/* The impulses at t. */
static void strike(history *s, double t)
{
    for (int64_t i = 0; i < s->h->n_inputs; i++) {
        const modal_history_input *in = &s->h->inputs[i];
        for (int64_t k = 0; is_pulse(in) && in->curve->start == t && k < s->h->n; k++) s->v[k] += in->load[k];
    }
}

static void step(history *s, double a, double b)
{
    const modal_history *h = s->h;
    const double width = b - a;
    set_interval(s, width);
    set_loads(s, a, b);
    for (int64_t k = 0; k < h->n; k++) {
        const modal_transition *t = &s->steps[k];
        const double q = s->q[k], v = s->v[k], slope = s->change[k] / width;
        s->q[k] = t->qq * q + t->qv * v + t->step * s->from[k] + t->ramp * slope;
        s->v[k] = t->vq * q + t->vv * v + t->qv * s->from[k] + t->step * slope;
    }
    for (int64_t i = 0; i < h->n_inputs; i++) {
        const modal_history_input *in = &h->inputs[i];
        if (!is_sine(in)) continue;
        const double phase = TURN * in->curve->frequency * a + in->curve->phase;
        const double sine = sin(phase), cosine = cos(phase), *c = s->sines + 4 * i * h->n;
        for (int64_t k = 0; k < h->n; k++, c += 4) {
            s->q[k] += in->load[k] * (c[0] * sine + c[1] * cosine);
            s->v[k] += in->load[k] * (c[2] * sine + c[3] * cosine);
        }
    }
}

static void look(const history *s, modal_history_squares *squares)
{
    double sums[2] = {0};
    for (int64_t k = 0; k < s->h->n; k++) sums[k >= s->h->n_kept] += s->h->masses[k] * s->q[k] * s->q[k];
    squares->kept = fmax(squares->kept, sums[0]);
    squares->left = fmax(squares->left, sums[1]);
    squares->all = fmax(squares->all, sums[0] + sums[1]);
}

static void begin(history *s, double first)
{
    const modal_history *h = s->h;
    for (int64_t k = 0; k < h->n; k++) {
        modal_oscillator_set(&s->oscillators[k], fmax(h->stiffness[k], 0), h->damping[k]);
        if (h->q) s->q[k] = h->q[k];
        if (h->v) s->v[k] = h->v[k];
    }
    if (!h->at_rest) return;
    set_loads(s, 0, first);
    for (int64_t k = 0; k < h->n; k++) {
        for (int64_t i = 0; i < h->n_inputs; i++)
            if (is_sine(&h->inputs[i])) s->from[k] += h->inputs[i].load[k] * sin(h->inputs[i].curve->phase);
        s->q[k] += h->stiffness[k] > 0 ? s->from[k] / h->stiffness[k] : 0;
    }
}

modal_status modal_history_measure(const modal_history *h, modal_history_squares *squares, modal_error *err)
{
    modal_status status = MODAL_OK;
    history s = {.h = h, .interval = -1};
    double *times = NULL;
    int64_t n_times = 0;
    *squares = (modal_history_squares){.known = 1};
    for (int64_t i = 0; i < h->n_inputs; i++) squares->known &= lines_of(h->inputs[i].curve) <= MOST_SWEEP_LINES;
    if (!squares->known) goto done;
    MODAL_TRY(modal_alloc_zero(&s.q, 4 * h->n, sizeof *s.q, "loads over time", err));
    s.v = s.q + h->n;
    s.from = s.v + h->n;
    s.change = s.from + h->n;
    MODAL_TRY(modal_alloc(&s.oscillators, h->n, sizeof *s.oscillators, "loads over time", err));
    MODAL_TRY(modal_alloc(&s.steps, h->n, sizeof *s.steps, "loads over time", err));
    MODAL_TRY(modal_alloc(&s.sines, 4 * h->n * h->n_inputs, sizeof *s.sines, "loads over time", err));
    MODAL_TRY(list_times(h, &times, &n_times, err));
    begin(&s, n_times > 0 ? times[1] : 1);
    look(&s, squares);
    for (int64_t i = 0; i < n_times; i++) {
        strike(&s, times[i]);
        step(&s, times[i], times[i + 1]);
        look(&s, squares);
    }
done:
    modal_free(&s.q);
    modal_free(&s.oscillators);
    modal_free(&s.steps);
    modal_free(&s.sines);
    modal_free(&times);
    return status;
}
