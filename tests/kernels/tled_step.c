/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of a solid against the header's formulas with the laws as textbooks write them, in long double. */
#include "kernels/tled_step/tled_step.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/tled_exact.h"
#include "tests/kernels/tled_solids.h"

typedef struct state {
    double *u, *low, *d; /* [n_nodes, 4], low [n_nodes, 8] */
    float *words[2];     /* u and d instead, or NULL: what float32 packs may look like a signalling NaN, which doubles do not keep */
    float *viscous;      /* the back end's own; NULL: 0 */
    modal_tled_work work; /* of steps before */
} state;

typedef struct result {
    harness_output *u, *low, *d, *watch, *work, *reactions, *touches, *viscous, *stiffest;
} result;

typedef struct motion {
    int64_t first, n_steps;
    double step, before, alpha;
    double *gravity, *signals;
} motion;

static int is_double(const modal_tled_layout *layout) { return layout->precision == MODAL_TLED_FLOAT64; }

/* A state array in the layout's precision on the device. exact: of float32, instead of values, or NULL. */
static harness_output *give(harness *h, const modal_tled_layout *layout, const double *values, const float *exact, int words)
{
    const int64_t n = words * layout->solid->n_nodes;
    if (exact) return harness_new_output(h, n, 0, exact);
    if (is_double(layout)) return harness_new_output(h, 2 * n, 0, (const float *)values);
    float *single = harness_alloc(n, sizeof *single);
    for (int64_t i = 0; i < n; i++) single[i] = (float)values[i];
    harness_output *out = harness_new_output(h, n, 0, single);
    free(single);
    return out;
}

static double value(const modal_tled_layout *layout, const harness_output *array, int64_t k)
{
    return is_double(layout) ? ((const double *)array->host)[k] : array->host[k];
}

static result step(harness *h, const modal_tled_layout *layout, const motion *m, const state *start, int work)
{
    const int64_t n_held = layout->solid->n_held, n_signals = layout->solid->n_signals;
    const modal_tled_watch watch = {-1, -1, 0};
    modal_error err = {0};
    result r = {give(h, layout, start->u, start->words[0], 4), is_double(layout) || layout->packs_low ? NULL : give(h, layout, start->low, NULL, 8),
                give(h, layout, start->d, start->words[1], 4), NULL, NULL, NULL, NULL, NULL, NULL};
    float *viscous = start->viscous ? start->viscous : calloc((size_t)layout->viscous_bytes / 4 + 1, 4);
    r.viscous = layout->viscous_bytes > 0 ? harness_new_output(h, layout->viscous_bytes / 4, 0, viscous) : NULL;
    if (!start->viscous) free(viscous);
    r.touches = work && layout->solid->n_contacts > 0
                    ? harness_new_output(h, 6 * layout->solid->n_contacts * layout->solid->n_touching, 0, NULL) : NULL;
    r.watch = harness_new_output(h, sizeof watch / 4, 0, (const float *)&watch);
    r.work = work ? harness_new_output(h, sizeof(modal_tled_work) / 4, 0, (const float *)&start->work) : NULL;
    r.reactions = work ? harness_new_output(h, 6 * n_held, 0, NULL) : NULL;
    r.stiffest = work ? harness_new_output(h, 2, 0, NULL) : NULL;
    const modal_tled_step_task task = {
        .stiffest = work ? (double *)r.stiffest->device : NULL,
        .layout = layout, .u = r.u->device, .low = r.low ? r.low->device : NULL, .d = r.d->device, .step = m->step,
        .before = m->before, .alpha = m->alpha, .first = m->first, .n_steps = m->n_steps,
        .gravity = m->gravity ? harness_input(h, m->gravity, 24 * m->n_steps, 0) : NULL,
        .signals = n_signals > 0 ? harness_input(h, m->signals, 8 * (m->n_steps + 1) * n_signals, 0) : NULL,
        .watch = (modal_tled_watch *)r.watch->device, .work = work ? (modal_tled_work *)r.work->device : NULL,
        .reactions = work ? (double *)r.reactions->device : NULL, .viscous = r.viscous ? r.viscous->device : NULL,
        .touches = r.touches ? (double *)r.touches->device : NULL};
    harness_ok(h, h->kernels->tled_step(&task, h->stream, &err), &err);
    return r;
}

/* What float32 has lost of u, or of d (which 4). */
static double lost(const modal_tled_layout *layout, const result *r, int64_t i, int which, int c)
{
    return r->low ? value(layout, r->low, 8 * i + which + c) : 0;
}

/* Displacement of a corner against the first one's, after a step. */
static double value_of_way(const modal_tled_layout *layout, const result *r, const int32_t *corners, int corner, int c)
{
    return value(layout, r->u, 4 * corners[corner] + c) - value(layout, r->u, 4 * corners[0] + c);
}

static void hold(harness *h, const char *what, int64_t index, long double got, long double want, double bound)
{
    const double error = (double)fabsl(got - want);
    h->n_values++;
    if (bound > 0 && error / bound > h->worst) h->worst = error / bound;
    if (!(error <= bound))
        harness_fail(h, "%s[%lld] is %.9g, not %.9g, bound %.3g", what, (long long)index, (double)got, (double)want, bound);
}

/* One node of a step: where it was, and what the forces would do. */
typedef struct step_of {
    double mass, gain, old[3], was[3], bound;
    long double free[3]; /* d without bodies */
    int64_t held, row;   /* of the solid's held and touching, or -1 */
} step_of;

/* The node after bodies have been looked for: position and the force of each. Returns how far it may be off. */
static double check_touching(harness *h, const modal_tled_layout *layout, const motion *m, const result *r, int64_t i,
                             const step_of *node, long double forces[3])
{
    const modal_tled_solid *s = layout->solid;
    const double eps = is_double(layout) ? DBL_EPSILON : FLT_EPSILON;
    long double x[3], from[3];
    double bound = 4 * node->bound, length = 0;
    int moved = 0;
    for (int c = 0; c < 3; c++) {
        from[c] = (long double)s->nodes[3 * i + c] + node->was[c];
        x[c] = from[c] + node->free[c];
        length += fabs(s->nodes[3 * i + c]);
        bound += 8 * eps * (fabs(node->was[c]) + fabs((double)node->free[c]));
    }
    bound += 16 * DBL_EPSILON * length;
    for (int32_t b = 0; b < s->n_contacts; b++) {
        const long double before[3] = {x[0], x[1], x[2]};
        const double *signals = m->signals + s->contacts[b].signal;
        double steep = 1;
        const int in = node->held < 0 && (s->touching_masks[node->row] >> b & 1) &&
                       exact_put_out(&s->contacts[b], signals, signals + s->n_signals, from, x, &steep);
        moved |= in;
        bound *= steep;
        for (int c = 0; c < 3; c++) {
            const long double force = node->mass / node->gain * (x[c] - before[c]);
            forces[c] += force;
            if (r->touches)
                hold(h, "touch", 3 * (b * s->n_touching + node->row) + c,
                     ((const double *)r->touches->host)[3 * (b * s->n_touching + node->row) + c], force,
                     2 * bound * node->mass / node->gain);
        }
    }
    if (node->held >= 0) return 0;
    for (int c = 0; c < 3; c++) {
        const int64_t k = 4 * i + c;
        hold(h, "touching u", k, value(layout, r->u, k) + lost(layout, r, i, 0, c),
             x[c] - s->nodes[3 * i + c], bound + 2 * eps * fabs((double)x[c] - s->nodes[3 * i + c]));
        hold(h, "touching d", k, value(layout, r->d, k), x[c] - s->nodes[3 * i + c] - node->was[c],
             bound + 2 * eps * fabs((double)x[c] - s->nodes[3 * i + c]));
    }
    return moved ? bound : 0;
}

/* One component after one step, without bodies. Returns the force that holds it. */
static long double check_component(harness *h, const modal_tled_layout *layout, const motion *m, const result *r,
                                   const long double *force, double size, int64_t i, int c, const step_of *node, int touches)
{
    const modal_tled_solid *s = layout->solid;
    const double eps = is_double(layout) ? DBL_EPSILON : FLT_EPSILON;
    const int64_t k = 4 * i + c;
    const double u0 = node->was[c], old = node->old[c], d = value(layout, r->d, k), u = value(layout, r->u, k);
    const double low = lost(layout, r, i, 0, c), h2 = (m->step + m->before) / 2;
    const int32_t signal = node->held < 0 ? MODAL_TLED_FREE : s->held_signals[3 * node->held + c];
    if (signal == MODAL_TLED_FREE && !touches) {
        hold(h, "d", k, (long double)d + lost(layout, r, i, 4, c), node->free[c], node->bound);
        hold(h, "u + low", k, (long double)u + low, (long double)u0 + d,
             2 * eps * (fabs(d) + (r->low ? eps : 1) * (fabs(u) + fabs(u0)) + eps * fabs(u0)));
    } else if (signal != MODAL_TLED_FREE) {
        const double to = signal == MODAL_TLED_STILL ? 0 : s->held_values[3 * node->held + c] * m->signals[s->n_signals + signal];
        hold(h, "held u", k, u, to, eps * fabs(to));
        hold(h, "held d", k, d, (long double)to - u0, 2 * eps * (fabs(to) + fabs(u0)));
    }
    const double scale = m->before > 0 ? m->step / m->before : 0, keeps = (1 - m->alpha * h2 / 2) / (1 + m->alpha * h2 / 2) * scale;
    const long double holding = node->mass * ((long double)d - keeps * old) / node->gain + force[3 * i + c];
    if (r->reactions && node->held >= 0)
        hold(h, "reaction", 3 * node->held + c, ((const double *)r->reactions->host)[3 * node->held + c],
             signal == MODAL_TLED_FREE ? 0 : holding,
             signal == MODAL_TLED_FREE ? 0 : 64 * eps * (size + node->mass / node->gain * (fabs(d) + fabs(u0) + fabs(old))));
    return signal == MODAL_TLED_FREE ? 0 : holding;
}

/* All of a node; adds to the works that are wanted, and to their bound. */
static void check_node(harness *h, const modal_tled_layout *layout, const motion *m, const state *start, const result *r,
                       const long double *force, const long double *inner, double size, int64_t i, int64_t held, int64_t row,
                       modal_tled_work *want, double *works)
{
    const double eps = is_double(layout) ? DBL_EPSILON : FLT_EPSILON, h2 = (m->step + m->before) / 2;
    const double below = 1 + m->alpha * h2 / 2, scale = m->before > 0 ? m->step / m->before : 0;
    step_of node = {.mass = layout->solid->mass[i], .gain = m->step * h2 / below, .held = held, .row = row};
    long double holding[3] = {0, 0, 0};
    for (int c = 0; c < 3; c++) {
        node.old[c] = m->before > 0 ? start->d[4 * i + c] + (r->low ? start->low[8 * i + 4 + c] : 0) : 0;
        node.was[c] = start->u[4 * i + c] + (r->low ? start->low[8 * i + c] : 0);
        node.free[c] = (1 - m->alpha * h2 / 2) / below * scale * node.old[c] - node.gain / node.mass * force[3 * i + c];
        node.bound = fmax(node.bound, 64 * eps * (fabs(node.old[c]) * scale + node.gain / node.mass * size));
    }
    const double off = row >= 0 ? check_touching(h, layout, m, r, i, &node, holding) : 0;
    for (int c = 0; c < 3; c++) {
        const double d = value(layout, r->d, 4 * i + c);
        holding[c] += check_component(h, layout, m, r, force, size, i, c, &node, row >= 0 && held < 0);
        const long double both = (long double)d + scale * node.old[c], way = h2 / (2 * m->step) * both;
        want->damped += (double)(m->alpha * node.mass * both / (2 * m->step) * way);
        want->held += (double)(holding[c] * way);
        want->loads += (double)((inner[3 * i + c] - force[3 * i + c]) * way);
        want->inner += (double)(inner[3 * i + c] * way);
        *works += (size + off / (64 * eps) * node.mass / node.gain * 4) * fabs((double)way);
    }
}

/* The mean H of a macro-element after a step. */
static void mean_of(const modal_tled_layout *layout, const result *r, int64_t macro, long double h[9])
{
    const int64_t n = 4 * layout->solid->n_nodes;
    double *u = harness_alloc(n, 8), size;
    for (int64_t k = 0; k < n; k++) u[k] = k % 4 == 3 ? 0 : value(layout, r->u, k);
    exact_mean(layout->solid, macro, u, h, &size);
    free(u);
}

/* `stiffest` of the state after a step by the header's formulas. */
static void check_stiffest(harness *h, const modal_tled_layout *layout, const result *r)
{
    const modal_tled_solid *s = layout->solid;
    long double *sums = harness_alloc(s->n_nodes, sizeof *sums), want = 0;
    for (int64_t i = 0; i < s->n_nodes; i++) sums[i] = 0;
    for (int64_t e = 0; e < s->n_tetrahedra + s->n_hexahedra; e++) {
        const int n = e < s->n_tetrahedra ? 4 : 8;
        const int32_t *corners = n == 4 ? s->tetrahedra + 4 * e : s->hexahedra + 8 * (e - s->n_tetrahedra);
        const modal_tled_material *m = &s->materials[s->material[e]];
        const int64_t macro = s->macro_offsets && n == 4 ? s->macro_of[e] : -1;
        double g[MODAL_TLED_MACRO_CORNERS][3] = {{0}};
        long double gradient[9] = {0}, f[9], inverse[9], first = 0, gg = 0, kk = 0, ag = 0, q = 0, value;
        modal_tled_hexahedron x;
        int n_gradients = n;
        if (n == 4) modal_tled_tetrahedron_shape(s->nodes, corners, g + 1);
        else modal_tled_hexahedron_shape(s->nodes, corners, s->centre, &x), memcpy(g, x.gradients, sizeof x.gradients);
        for (int k = 3; n == 4 && k < 12; k++) g[0][k % 3] -= g[k / 3][k % 3];
        for (int k = 0; k < 9 * n; k++)
            gradient[k % 9] += (long double)value_of_way(layout, r, corners, k / 9, k % 9 / 3) * g[k / 9][k % 3];
        if (macro >= 0) {
            modal_tled_macro shape;
            modal_tled_macro_shape(s, macro, &shape);
            mean_of(layout, r, macro, gradient);
            memcpy(g, shape.gradients, sizeof g), n_gradients = shape.n_corners;
        }
        const double *fibre = m->fibre > 0 ? s->fibres + 3 * (macro >= 0 ? s->macro_offsets[macro] : e) : NULL;
        const long double j = exact_inverse(gradient, f, inverse), power = powl(j, -2.0L / 3);
        for (int k = 0; k < 9; k++) first += f[k] * f[k];
        for (int a = 0; a < n_gradients; a++) {
            long double part = 0;
            for (int i = 0; i < 3; i++) {
                const long double k = inverse[3 * i] * g[a][0] + inverse[3 * i + 1] * g[a][1] + inverse[3 * i + 2] * g[a][2];
                kk += k * k, gg += g[a][i] * g[a][i], part += fibre ? fibre[i] * g[a][i] : 0;
            }
            ag += part * part;
        }
        if (m->law == MODAL_TLED_STVK)
            value = gg * ((m->modulus + 2 * m->mu) * fmaxl(first - 2, first / 3) + (m->modulus + m->mu * 2 / 3) * fmaxl(first - 3, 0) / 2);
        else if (m->law == MODAL_TLED_LOGARITHMIC)
            value = kk * (m->mu + m->modulus * j * j) + gg * m->mu;
        else
            value = kk * (m->modulus * j * j + m->mu * power * first * 5 / 9) - gg * m->mu * power / 3;
        for (int i = 0; fibre && i < 3; i++) {
            const long double fa = f[3 * i] * fibre[0] + f[3 * i + 1] * fibre[1] + f[3 * i + 2] * fibre[2];
            q += power * fa * fa;
        }
        value += m->fibre * (power * fmaxl(3 * q - 1, 0) * ag + q * q * kk * 2 / 9);
        for (int a = 0; a < n; a++) sums[corners[a]] += value * s->stiffness[e];
    }
    for (int64_t i = 0; i < s->n_nodes; i++) want = fmaxl(want, sums[i] / s->mass[i]);
    hold(h, "stiffest", 0, *(const double *)r->stiffest->host, want, (double)want * (is_double(layout) ? 0x1p-30 : 0x1p-13));
    free(sums);
}

static void check_one_step(harness *h, const modal_tled_layout *layout, const motion *m, const state *start, const result *r)
{
    const modal_tled_solid *s = layout->solid;
    const double eps = is_double(layout) ? DBL_EPSILON : FLT_EPSILON;
    long double *force = harness_alloc(3 * s->n_nodes, sizeof *force), *inner = harness_alloc(3 * s->n_nodes, sizeof *force);
    double *size = harness_alloc(s->n_nodes, sizeof *size), works = 0;
    modal_tled_work want = {0};
    for (int64_t i = 0; i < 3 * s->n_nodes; i++) force[i] = 0, size[i / 3] = 0;
    exact_forces(s, start->u, m->before, force, size);
    memcpy(inner, force, (size_t)s->n_nodes * 3 * sizeof *force);
    exact_loads(s, m->gravity, m->signals, start->u, force, size);
    for (int64_t i = 0, held = 0, row = 0; i < s->n_nodes; i++) {
        const int is_held = held < s->n_held && s->held[held] == i, touches = row < s->n_touching && s->touching[row] == i;
        check_node(h, layout, m, start, r, force, inner, size[i], i, is_held ? held : -1, touches ? row : -1, &want, &works);
        held += is_held, row += touches;
        if (!layout->packs_low) hold(h, "fourth", i, value(layout, r->u, 4 * i + 3), 0, 0);
    }
    if (r->work) {
        const modal_tled_work *got = (const modal_tled_work *)r->work->host;
        double kinetic = 0;
        for (int64_t k = 0; k < 4 * s->n_nodes; k++) {
            if (k % 4 == 3) continue; /* fourth words may hold what is lost: any bits */
            kinetic += s->mass[k / 4] * (pow(value(layout, r->d, k), 2) + pow(start->d[k], 2) + pow(start->u[k], 2)) /
                       (m->step * m->step);
        }
        hold(h, "work of loads", 0, got->loads, want.loads, 64 * eps * works);
        hold(h, "work of elements", 0, got->inner, want.inner, 64 * eps * works);
        hold(h, "work of holding", 0, got->held, want.held, 64 * eps * (works + kinetic));
        hold(h, "damped", 0, got->damped, want.damped, 64 * eps * kinetic);
    }
    free(force), free(inner), free(size);
}

static state new_state(harness *h, const modal_tled_layout *layout, double size)
{
    const int64_t n = 4 * layout->solid->n_nodes;
    state s = {.u = harness_alloc(n, 8), .low = harness_alloc(2 * n, 8), .d = harness_alloc(n, 8)};
    for (int64_t k = 0; k < n; k++) {
        s.u[k] = k % 4 == 3 ? 0 : size * harness_random(h), s.d[k] = k % 4 == 3 ? 0 : 0.01 * size * harness_random(h);
        if (!is_double(layout)) s.u[k] = (float)s.u[k], s.d[k] = (float)s.d[k];
        s.low[k / 4 * 8 + k % 4] = is_double(layout) ? 0 : (float)(0.4 * FLT_EPSILON * s.u[k] * harness_random(h));
        s.low[k / 4 * 8 + 4 + k % 4] = is_double(layout) ? 0 : (float)(0.4 * FLT_EPSILON * s.d[k] * harness_random(h));
    }
    return s;
}

static void free_state(state *s) { free(s->u), free(s->low), free(s->d), free(s->viscous); }

static motion new_motion(harness *h, const modal_tled_solid *solid, int64_t n_steps, int gravity, double before)
{
    motion m = {.first = 7, .n_steps = n_steps, .step = 1e-4, .before = before, .alpha = 30};
    m.gravity = gravity ? harness_alloc(3 * n_steps, 8) : NULL;
    m.signals = harness_alloc((n_steps + 1) * TLED_ALL_SIGNALS, 8);
    for (int64_t k = 0; gravity && k < 3 * n_steps; k++) m.gravity[k] = 10 * harness_random(h);
    for (int64_t k = 0; k <= n_steps && solid->n_signals > 0; k++) tled_solid_signals(h, solid, m.signals + k * TLED_ALL_SIGNALS);
    return m;
}

static void same(harness *h, const char *what, const result *a, const result *b)
{
    harness_same(h, what, a->u, b->u);
    harness_same(h, what, a->d, b->d);
    if (a->low) harness_same(h, what, a->low, b->low);
    if (a->viscous) harness_same(h, what, a->viscous, b->viscous);
    if (a->touches && b->touches) harness_same(h, what, a->touches, b->touches);
    if (a->work && b->work) harness_same(h, what, a->work, b->work);
    if (a->reactions && b->reactions) harness_same(h, what, a->reactions, b->reactions);
}

#ifdef MODAL_EMULATED
enum { SEVERAL = 1 }; /* devices are there */
#else
enum { SEVERAL = 0 };
#endif

/* The solid on three devices, which are one device three times; NULL on a processor. */
static modal_tled_layout *new_pieces(harness *h, const modal_tled_solid *solid, modal_tled_precision precision)
{
    const modal_device devices[3] = {*h->device, *h->device, *h->device};
    modal_tled_layout *layout = NULL;
    modal_error err = {0};
    const modal_tled_layout_task task = {solid, precision, h->device, &layout, devices, 3};
    if (SEVERAL || !h->device->shares_memory) harness_ok(h, h->kernels->tled_layout(&task, h->stream, &err), &err);
    return layout;
}

/* The same steps on them: the same bytes, and the same turned element. want: of one device. */
static void check_pieces(harness *h, const modal_tled_layout *layout, const motion *m, const state *start, const result *want, int turned)
{
    if (!layout) return;
    const result all = step(h, layout, m, start, !turned), quiet = step(h, layout, m, start, 0);
    harness_fetch(h);
    if (!turned) same(h, "three devices", want, &all), same(h, "three devices, without works", want, &quiet);
    if (!turned) harness_same(h, "three devices, stiffest", want->stiffest, all.stiffest);
    if (turned) harness_same(h, "three devices, a turned element", want->watch, all.watch), harness_same(h, "the same", want->watch, quiet.watch);
}

/* One step against the oracle; seven steps at once against seven tasks of one step; twice the same bytes; a turned
 * element. */
static void check(harness *h, const modal_tled_solid *solid, modal_tled_precision precision, double size, double before)
{
    modal_tled_layout *layout = NULL;
    modal_error err = {0};
    const modal_tled_layout_task task = {solid, precision, h->device, &layout};
    harness_ok(h, h->kernels->tled_layout(&task, h->stream, &err), &err);
    if (!layout) return;
    state start = new_state(h, layout, size);
    motion m = new_motion(h, solid, 1, before > 0, before), many = new_motion(h, solid, 7, 1, 1e-4);
    const result one = step(h, layout, &m, &start, 1), quiet = step(h, layout, &m, &start, 0);
    const result seven = step(h, layout, &many, &start, 1), again = step(h, layout, &many, &start, 1);
    const result at_once = step(h, layout, &many, &start, 0);
    harness_fetch(h);
    check_one_step(h, layout, &m, &start, &one);
    check_stiffest(h, layout, &one);
    check_stiffest(h, layout, &seven);
    same(h, "without works", &one, &quiet);
    same(h, "a second run", &seven, &again);
    same(h, "seven steps without works", &seven, &at_once); /* which are one task each with them */
    hold(h, "nothing is turned", 0, (double)((const modal_tled_watch *)seven.watch->host)->step, -1, 0);

    modal_tled_layout *pieces = h->quick && is_double(layout) ? NULL : new_pieces(h, solid, precision);
    check_pieces(h, pieces, &many, &start, &seven, 0);
    state now = new_state(h, layout, size);
    memcpy(now.u, start.u, (size_t)solid->n_nodes * 32), memcpy(now.d, start.d, (size_t)solid->n_nodes * 32);
    memcpy(now.low, start.low, (size_t)solid->n_nodes * 64);
    result last = seven;
    harness_output *kept = seven.u;
    float *u = harness_alloc(kept->count, 4);
    memcpy(u, kept->host, (size_t)kept->count * 4);
    float *viscous = harness_alloc(layout->viscous_bytes / 4 + 1, 4);
    if (seven.viscous) memcpy(viscous, seven.viscous->host, (size_t)layout->viscous_bytes);
    float *reactions = harness_alloc(6 * solid->n_held + 1, 4);
    memcpy(reactions, seven.reactions->host, 24 * (size_t)solid->n_held);
    modal_tled_work work;
    memcpy(&work, seven.work->host, sizeof work);
    now.viscous = harness_alloc(layout->viscous_bytes / 4 + 1, 4);
    memset(now.viscous, 0, (size_t)layout->viscous_bytes);
    for (int64_t k = 0; k < 7; k++) {
        const motion single = {.first = many.first + k, .n_steps = 1, .step = 1e-4, .before = 1e-4, .alpha = 30,
                               .gravity = many.gravity + 3 * k, .signals = many.signals + k * solid->n_signals};
        harness_case(h, "%lld steps one by one", (long long)k + 1);
        last = step(h, layout, &single, &now, 1);
        harness_fetch(h);
        memcpy(&now.work, last.work->host, sizeof now.work);
        for (int64_t i = 0; i < 4 * solid->n_nodes; i++) { /* all words, the compensation among them */
            now.u[i] = value(layout, last.u, i), now.d[i] = value(layout, last.d, i);
        }
        for (int i = 0; !is_double(layout) && i < 2; i++) {
            if (!now.words[i]) now.words[i] = harness_alloc(4 * solid->n_nodes, 4);
            memcpy(now.words[i], (i == 0 ? last.u : last.d)->host, 16 * (size_t)solid->n_nodes);
        }
        for (int64_t i = 0; last.low && i < 8 * solid->n_nodes; i++) now.low[i] = value(layout, last.low, i);
        if (last.viscous) memcpy(now.viscous, last.viscous->host, (size_t)layout->viscous_bytes);
    }
    h->n_values++;
    if (memcmp(u, last.u->host, (size_t)last.u->count * 4) != 0) harness_fail(h, "seven steps are not seven times one");
    if (last.viscous && memcmp(last.viscous->host, viscous, (size_t)layout->viscous_bytes) != 0)
        harness_fail(h, "seven steps of Prony terms are not seven times one");
    if (memcmp(&now.work, &work, sizeof work) != 0) harness_fail(h, "works of seven steps are not those of seven times one");
    if (memcmp(last.reactions->host, reactions, 24 * (size_t)solid->n_held) != 0)
        harness_fail(h, "reactions after seven steps are not those after seven times one");
    free(u), free(viscous), free(reactions);

    for (int i = 0; i < 2; i++) free(now.words[i]), now.words[i] = NULL;
    harness_case(h, "a turned element");
    const int32_t node = solid->n_tetrahedra > 0 ? solid->tetrahedra[4 * (solid->n_tetrahedra / 2)] : solid->hexahedra[0];
    int64_t lowest = -1;
    for (int i = 0; i < 3; i++) now.u[4 * node + i] = i == 0 ? NAN : 0;
    for (int64_t e = 0; e < solid->n_tetrahedra + solid->n_hexahedra && lowest < 0; e++) {
        const int n = e < solid->n_tetrahedra ? 4 : 8;
        const int32_t *c = n == 4 ? solid->tetrahedra + 4 * e : solid->hexahedra + 8 * (e - solid->n_tetrahedra);
        for (int a = 0; a < n; a++) lowest = c[a] == node ? e : lowest;
        if (lowest >= 0 && n == 4 && solid->macro_offsets) lowest = solid->macro_offsets[solid->macro_of[lowest]];
    }
    last = step(h, layout, &many, &now, 0);
    harness_fetch(h);
    const modal_tled_watch *watch = (const modal_tled_watch *)last.watch->host;
    hold(h, "step of the turned element", 0, (double)watch->step, 7, 0);
    hold(h, "the turned element", 0, (double)watch->element, (double)lowest, 0);
    check_pieces(h, pieces, &many, &now, &last, 1);
    free_state(&start), free_state(&now);
    free(m.gravity), free(m.signals), free(many.gravity), free(many.signals);
    modal_tled_layout_free(&layout), modal_tled_layout_free(&pieces);
}

/* What comes on top of laws, alone: fibres or Prony terms of neo-Hookean materials; mixed: some elements have none. */
static void check_alone(harness *h, const int cells[3], tled_elements elements, int fibres, int mixed)
{
    modal_tled_solid *s = tled_solid_new(h, cells[0], cells[1], cells[2], elements, TLED_RICH, 1);
    modal_tled_material *materials = (modal_tled_material *)s->materials; /* the solid's own */
    int32_t *of = (int32_t *)s->material;
    for (int k = 0; k < TLED_RICH; k++) {
        materials[k].law = MODAL_TLED_NEO_HOOKEAN, materials[k].averages = 0;
        if (fibres) materials[k].n_terms = 0;
        else materials[k].fibre = 0;
    }
    for (int64_t e = 0; !mixed && e < s->n_tetrahedra + s->n_hexahedra; e++) of[e] = 4;
    s->n_faces = 0;
    harness_case(h, "%d x %d x %d, elements %d, %s alone%s", cells[0], cells[1], cells[2], elements,
                 fibres ? "fibres" : "Prony terms", mixed ? ", of some" : "");
    check(h, s, MODAL_TLED_FLOAT32, 5e-4, 1e-4);
    check(h, s, MODAL_TLED_FLOAT64, 5e-4, 1e-4);
    tled_solid_free(s);
}

/* Held still: the nodes of the bottom. */
static void hold_bottom(modal_tled_solid *s, int64_t n)
{
    int32_t *held = harness_alloc(n, 4), *signals = harness_alloc(3 * n, 4);
    double *values = harness_alloc(3 * n, 8);
    for (int64_t i = 0; i < 3 * n; i++) held[i / 3] = (int32_t)(i / 3), signals[i] = MODAL_TLED_STILL, values[i] = 0;
    s->n_held = n, s->held = held, s->held_signals = signals, s->held_values = values;
}

/* What CUDA has kernels of their own for: tetrahedra of one material, neo-Hookean with nothing, fibres or one Prony term on top, or of
 * another law. Without loads no node is special; with loads there are faces, for which there is a launch a step. */
static void check_plain(harness *h, const int cells[3], int loads)
{
    static const modal_tled_material kinds[] = {
        {.law = MODAL_TLED_NEO_HOOKEAN, .mu = 1000, .modulus = 9000},
        {.law = MODAL_TLED_LOGARITHMIC, .mu = 1500, .modulus = 4000},
        {.law = MODAL_TLED_STVK, .mu = 800, .modulus = 3000},
        {.law = MODAL_TLED_NEO_HOOKEAN, .mu = 1100, .modulus = 7000, .fibre = 3000},
        {.law = MODAL_TLED_NEO_HOOKEAN, .mu = 900, .modulus = 8000, .n_terms = 1, .n_isochoric = 1, .shares = {0.5}, .times = {3e-4}},
        {.law = MODAL_TLED_NEO_HOOKEAN, .mu = 900, .modulus = 8000, .n_terms = 1, .shares = {0.4}, .times = {2e-4}}};
    for (int k = 0; k < (int)(sizeof kinds / sizeof *kinds); k++) {
        modal_tled_solid *s = tled_solid_new(h, cells[0], cells[1], cells[2], TLED_TETRAHEDRA, TLED_RICH, loads);
        for (int i = 0; i < TLED_RICH; i++) ((modal_tled_material *)s->materials)[i] = kinds[k]; /* the solid's own */
        for (int64_t e = 0; e < s->n_tetrahedra; e++) ((int32_t *)s->material)[e] = 2;
        if (kinds[k].fibre == 0) free((void *)s->fibres), s->fibres = NULL;
        free((void *)s->weights), s->weights = NULL;
        if (!loads) hold_bottom(s, (cells[0] + 1) * (cells[1] + 1));
        harness_case(h, "%d x %d x %d, one plain material, kind %d%s", cells[0], cells[1], cells[2], k, loads ? ", loads" : "");
        check(h, s, MODAL_TLED_FLOAT32, 5e-4, 1e-4);
        tled_solid_free(s);
    }
}

/* Several patches and no special node: on CUDA patches wait for their neighbours alone, float32 of tetrahedra where they are more than one
 * launch takes (an emulator would be long at that). The first solid is a long bar: three devices have patches that are not on a border. */
static void check_flow(harness *h)
{
    static const int sizes[][3] = {{5, 4, 72}, {16, 15, 17}, {32, 31, 30}};
    for (int i = 0; i < (h->tiny || SEVERAL ? 1 : h->quick ? 2 : 3); i++)
        for (int elements = TLED_TETRAHEDRA; elements <= (i == 2 ? TLED_TETRAHEDRA : TLED_BOTH); elements++) {
            const int *cells = sizes[i];
            if (h->tiny && elements != TLED_HEXAHEDRA) continue;
            modal_tled_solid *s = tled_solid_new(h, cells[0], cells[1], cells[2], (tled_elements)elements, 1, 0);
            hold_bottom(s, (cells[0] + 1) * (cells[1] + 1));
            harness_case(h, "%d x %d x %d, elements %d, no special node", cells[0], cells[1], cells[2], elements);
            check(h, s, MODAL_TLED_FLOAT32, 5e-4, 1e-4);
            if (i < 2 && !h->tiny) check(h, s, MODAL_TLED_FLOAT64, 5e-4, 1e-4);
            tled_solid_free(s);
        }
}

/* Macro-elements: of one law and nothing on top, which CUDA has a kernel for; of everything; beside hexahedra; without special nodes, and of
 * cells alone, so that no lane waits for another one. */
static void check_macros(harness *h, const int cells[3])
{
    for (int k = 0; k < 8; k++) {
        const tled_elements elements = k == 3 ? TLED_BOTH : TLED_TETRAHEDRA;
        const int n_materials = k == 0 || k >= 4 ? 1 : k == 1 ? TLED_PLAIN : TLED_RICH, loads = k < 4, large = k >= 6;
        const int own[3] = {large ? 5 : cells[0], large ? 4 : cells[1], large ? 72 : cells[2]};
        if (h->tiny && k != 2 && k != 4 && k != 5) continue;
        if (cells[0] > 3 && (large || (h->quick && k != 0 && k != 2))) continue;
        if (h->tiny && large) continue;
        modal_tled_solid *s = tled_solid_new(h, own[0], own[1], own[2], elements, n_materials, loads);
        tled_solid_make_macros(h, s, own[0]);
        if (!loads) hold_bottom(s, (own[0] + 1) * (own[1] + 1));
        if (k % 2 && k >= 4) { /* cells */
            s->n_macros = s->n_tetrahedra / 6;
            for (int64_t e = 0; e <= s->n_tetrahedra; e++) ((int64_t *)s->macro_offsets)[e / 6] = e / 6 * 6, ((int32_t *)s->macro_of)[e] = (int32_t)(e / 6);
        }
        harness_case(h, "%d x %d x %d, macro-elements, kind %d", own[0], own[1], own[2], k);
        check(h, s, MODAL_TLED_FLOAT32, 5e-4, 1e-4);
        check(h, s, MODAL_TLED_FLOAT64, 5e-4, 1e-4);
        tled_solid_free(s);
    }
}

/* Whether a case is run. k: materials and loads. Few are, but all kinds, where time is short. */
static int is_wanted(const harness *h, int size, int elements, int k)
{
    if (h->tiny) return size == 1 && k != 0 && k != 2 && k != 5;
    if (size == 4) return !h->quick && (k == 3 || k == 4);
    if (!h->quick) return 1;
    return size == 3 ? k == 3 + elements % 2 : size == 0 ? k == 4 : (size + elements + k) % 2 == 0 || k == 4;
}

static void run(harness *h)
{
    static const int small[3] = {3, 5, 4}, large[3] = {14, 13, 15}; /* on CUDA in one cluster; in one launch of more blocks */
    static const int several[3] = {8, 7, 9};                          /* of some patches */
    static const int sizes[][3] = {{1, 1, 1}, {2, 1, 3}, {3, 5, 4}, {11, 7, 9}, {23, 19, 17}};
    if (!h->kernels->tled_step) {
        harness_unsupported(h, "tled_step");
        return;
    }
    for (int i = 0; i < (int)(sizeof sizes / sizeof *sizes); i++)
        for (int elements = TLED_TETRAHEDRA; elements <= TLED_BOTH; elements++)
            for (int k = 0; k < 6; k++) {
                const int n_materials = k >= 4 ? TLED_RICH : k % 2 ? TLED_PLAIN : 1, loads = k > 0 && k < 5;
                if (!is_wanted(h, i, elements, k)) continue;
                harness_case(h, "%d x %d x %d, elements %d, %d materials%s", sizes[i][0], sizes[i][1], sizes[i][2],
                             elements, n_materials, loads ? ", loads" : "");
                modal_tled_solid *s = tled_solid_new(h, sizes[i][0], sizes[i][1], sizes[i][2], (tled_elements)elements,
                                                     n_materials, loads);
                check(h, s, MODAL_TLED_FLOAT32, k == 2 ? 1e-6 : 5e-4, k == 1 ? 0 : k == 2 ? 5e-5 : 1e-4);
                check(h, s, MODAL_TLED_FLOAT64, k == 2 ? 1e-6 : 5e-4, k == 1 ? 0 : k == 2 ? 5e-5 : 1e-4);
                if (s->n_faces > 0 && elements == TLED_TETRAHEDRA) { /* CUDA has other kernels for it */
                    harness_case(h, "%d x %d x %d, %d materials, loads, no faces", sizes[i][0], sizes[i][1], sizes[i][2],
                                 n_materials);
                    s->n_faces = 0;
                    check(h, s, MODAL_TLED_FLOAT32, k == 2 ? 1e-6 : 5e-4, k == 1 ? 0 : k == 2 ? 5e-5 : 1e-4);
                }
                tled_solid_free(s);
            }
    check_plain(h, small, 0), check_plain(h, small, 1);
    if (!h->tiny) check_plain(h, large, 0);
    check_flow(h);
    check_macros(h, small);
    if (!h->tiny) check_macros(h, several);
    for (int k = 0; k < 8 && !h->tiny; k++)
        check_alone(h, small, k & 4 ? TLED_HEXAHEDRA : TLED_TETRAHEDRA, k & 1, k & 2);
    for (int k = 0; k < 4 && !h->tiny; k++) check_alone(h, several, TLED_TETRAHEDRA, k & 1, k & 2);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "tled_step", run); }
