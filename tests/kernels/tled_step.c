/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of a solid against the header's formulas with the laws as textbooks write them, in long double. */
#include "kernels/tled_step/tled_step.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/tled_solids.h"

typedef struct state {
    double *u, *low, *d; /* [n_nodes, 4] */
} state;

typedef struct result {
    harness_output *u, *low, *d, *watch, *work, *reactions;
} result;

typedef struct motion {
    int64_t first, n_steps;
    double step, before, alpha;
    double *gravity, *signals;
} motion;

static int is_double(const modal_tled_layout *layout) { return layout->precision == MODAL_TLED_FLOAT64; }

/* A state array in the layout's precision on the device. */
static harness_output *give(harness *h, const modal_tled_layout *layout, const double *values)
{
    const int64_t n = 4 * layout->solid->n_nodes;
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
    double zeros[3] = {0, 0, 0};
    modal_error err = {0};
    result r = {give(h, layout, start->u), is_double(layout) || layout->packs_low ? NULL : give(h, layout, start->low),
                give(h, layout, start->d), NULL, NULL, NULL};
    r.watch = harness_new_output(h, sizeof watch / 4, 0, (const float *)&watch);
    r.work = work ? harness_new_output(h, sizeof(modal_tled_work) / 4, 0, (const float *)zeros) : NULL;
    r.reactions = work ? harness_new_output(h, 6 * n_held, 0, NULL) : NULL;
    const modal_tled_step_task task = {
        .layout = layout, .u = r.u->device, .low = r.low ? r.low->device : NULL, .d = r.d->device, .step = m->step,
        .before = m->before, .alpha = m->alpha, .first = m->first, .n_steps = m->n_steps,
        .gravity = m->gravity ? harness_input(h, m->gravity, 24 * m->n_steps, 0) : NULL,
        .signals = n_signals > 0 ? harness_input(h, m->signals, 8 * (m->n_steps + 1) * n_signals, 0) : NULL,
        .watch = (modal_tled_watch *)r.watch->device, .work = work ? (modal_tled_work *)r.work->device : NULL,
        .reactions = work ? (double *)r.reactions->device : NULL};
    harness_ok(h, h->kernels->tled_step(&task, h->stream, &err), &err);
    return r;
}

/* P = d W / d F as it is usually written, with F^-T. */
static void textbook_stress(const modal_tled_material *m, const long double h[9], long double p[9])
{
    long double f[9], inverse[9], square = 0, s[9], trace = 0; /* inverse: of F^T */
    for (int k = 0; k < 9; k++) f[k] = h[k] + (k % 4 == 0), square += f[k] * f[k];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            inverse[3 * i + j] = f[(i + 1) % 3 * 3 + (j + 1) % 3] * f[(i + 2) % 3 * 3 + (j + 2) % 3] -
                                 f[(i + 1) % 3 * 3 + (j + 2) % 3] * f[(i + 2) % 3 * 3 + (j + 1) % 3];
    const long double j = f[0] * inverse[0] + f[1] * inverse[1] + f[2] * inverse[2];
    for (int k = 0; k < 9; k++) inverse[k] /= j;
    if (m->law == MODAL_TLED_STVK) {
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) {
                s[3 * i + k] = m->mu * (f[i] * f[k] + f[3 + i] * f[3 + k] + f[6 + i] * f[6 + k] - (i == k));
                if (i == k) trace += s[3 * i + k] / (2 * m->mu);
            }
        for (int i = 0; i < 3; i++) s[4 * i] += m->modulus * trace;
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                p[3 * i + k] = f[3 * i] * s[k] + f[3 * i + 1] * s[3 + k] + f[3 * i + 2] * s[6 + k];
        return;
    }
    for (int k = 0; k < 9; k++)
        p[k] = m->law == MODAL_TLED_LOGARITHMIC
                   ? m->mu * (f[k] - inverse[k]) + m->modulus * j * (j - 1) * inverse[k]
                   : m->mu * powl(j, -2.0L / 3) * (f[k] - square / 3 * inverse[k]) + m->modulus * (j - 1) * j * inverse[k];
}

/* F of all elements, [n_nodes, 3], and the sum of sizes that the bound is made of, [n_nodes]. */
static void exact_forces(const modal_tled_solid *s, const double *u, long double *force, double *size)
{
    for (int64_t e = 0; e < s->n_tetrahedra + s->n_hexahedra; e++) {
        const int n = e < s->n_tetrahedra ? 4 : 8;
        const int32_t *corners = n == 4 ? s->tetrahedra + 4 * e : s->hexahedra + 8 * (e - s->n_tetrahedra);
        const modal_tled_material *m = &s->materials[s->material[e]];
        double g[8][3] = {{0}}, h1 = 0, hourglass = 0, v;
        long double gradient[9] = {0}, p[9];
        modal_tled_hexahedron x;
        if (n == 4) {
            v = modal_tled_tetrahedron_shape(s->nodes, corners, g + 1);
            for (int a = 1; a < 4; a++)
                for (int i = 0; i < 3; i++) g[0][i] -= g[a][i];
        } else {
            modal_tled_hexahedron_shape(s->nodes, corners, &x);
            v = x.weight, hourglass = m->hourglass * x.sum;
            memcpy(g, x.gradients, sizeof g);
        }
        for (int a = 0; a < n; a++)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    const double way = u[4 * corners[a] + i] - u[4 * corners[0] + i];
                    gradient[3 * i + j] += (long double)way * g[a][j];
                    h1 += fabs(way * g[a][j]);
                }
        textbook_stress(m, gradient, p);
        for (int a = 0; a < n; a++) {
            const double length = fabs(g[a][0]) + fabs(g[a][1]) + fabs(g[a][2]);
            size[corners[a]] += v * length * (m->mu + m->modulus) * h1 * (1 + h1) * (1 + h1);
            for (int i = 0; i < 3; i++) {
                force[3 * corners[a] + i] +=
                    v * (p[3 * i] * g[a][0] + p[3 * i + 1] * g[a][1] + p[3 * i + 2] * g[a][2]);
                for (int k = 0; n == 8 && k < 4; k++) {
                    long double mode = 0;
                    for (int b = 0; b < 8; b++) {
                        mode += (long double)x.gamma[k][b] * u[4 * corners[b] + i];
                        size[corners[a]] += hourglass * fabs(x.gamma[k][b] * (u[4 * corners[b] + i] - u[4 * corners[0] + i]));
                    }
                    force[3 * corners[a] + i] += hourglass * x.gamma[k][a] * mode;
                }
            }
        }
    }
}

/* R, added to force with the sign minus: F - R. */
static void exact_loads(const modal_tled_solid *s, const motion *m, const double *u, long double *force, double *size)
{
    for (int64_t i = 0; m->gravity && i < 3 * s->n_nodes; i++) {
        force[i] -= (long double)s->mass[i / 3] * m->gravity[i % 3];
        size[i / 3] += s->mass[i / 3] * fabs(m->gravity[i % 3]);
    }
    for (int64_t l = 0; l < s->n_loaded; l++)
        for (int64_t e = s->load_offsets[l]; e < s->load_offsets[l + 1]; e++)
            for (int i = 0; i < 3; i++) {
                const double f = m->signals[s->load_signals[e]] * s->load_vectors[3 * e + i];
                force[3 * s->loaded[l] + i] -= f;
                size[s->loaded[l]] += fabs(f);
            }
    for (int64_t k = 0; k < s->n_faces; k++) {
        const int32_t *c = s->faces + 4 * k;
        const int n = c[3] < 0 ? 3 : 4;
        double x[4][3], f[4][3];
        for (int a = 0; a < n; a++)
            for (int i = 0; i < 3; i++) x[a][i] = s->nodes[3 * c[a] + i] + u[4 * c[a] + i];
        modal_tled_face_force(n, x, f);
        for (int a = 0; a < n; a++)
            for (int i = 0; i < 3; i++) {
                force[3 * c[a] + i] -= s->face_pressures[k] * m->signals[s->face_signals[k]] * f[a][i];
                size[c[a]] += fabs(s->face_pressures[k] * m->signals[s->face_signals[k]]) * 1e-4;
            }
    }
}

static void hold(harness *h, const char *what, int64_t index, long double got, long double want, double bound)
{
    const double error = (double)fabsl(got - want);
    h->n_values++;
    if (bound > 0 && error / bound > h->worst) h->worst = error / bound;
    if (!(error <= bound))
        harness_fail(h, "%s[%lld] is %.9g, not %.9g, bound %.3g", what, (long long)index, (double)got, (double)want, bound);
}

/* One component after one step; adds to the works that are wanted. */
static void check_component(harness *h, const modal_tled_layout *layout, const motion *m, const state *start,
                            const result *r, const long double *force, double size, int64_t i, int c, int64_t held,
                            modal_tled_work *want)
{
    const modal_tled_solid *s = layout->solid;
    const double eps = is_double(layout) ? DBL_EPSILON : FLT_EPSILON, mass = s->mass[i];
    const double h2 = (m->step + m->before) / 2, below = 1 + m->alpha * h2 / 2;
    const int64_t k = 4 * i + c;
    const double old = m->before > 0 ? start->d[k] : 0, scale = m->before > 0 ? m->step / m->before : 0;
    const double u0 = start->u[k] + (r->low ? start->low[k] : 0);
    const double d = value(layout, r->d, k), u = value(layout, r->u, k), low = r->low ? value(layout, r->low, k) : 0;
    const int32_t signal = held < 0 ? MODAL_TLED_FREE : s->held_signals[3 * held + c];
    const long double gain = m->step * h2 / below / mass;
    const double bound = 64 * eps * (fabs(old) * scale + (double)gain * size);
    if (signal == MODAL_TLED_FREE) {
        const long double next = (1 - m->alpha * h2 / 2) / below * scale * old - gain * force[3 * i + c];
        hold(h, "d", k, d, next, bound);
        hold(h, "u + low", k, (long double)u + low, (long double)u0 + d,
             2 * eps * (fabs(d) + (r->low ? eps : 1) * (fabs(u) + fabs(u0)) + fabs(u0 - start->u[k])));
    } else {
        const double to = signal == MODAL_TLED_STILL ? 0 : s->held_values[3 * held + c] * m->signals[s->n_signals + signal];
        hold(h, "held u", k, u, to, eps * fabs(to));
        hold(h, "held d", k, d, (long double)to - u0, 2 * eps * (fabs(to) + fabs(u0)));
    }
    const long double way = h2 / (2 * m->step) * ((long double)d + scale * old);
    const long double velocity = ((long double)d + scale * old) / (2 * m->step);
    const long double holding = mass * ((long double)d - scale * old) / (m->step * h2) + m->alpha * mass * velocity +
                                force[3 * i + c];
    want->damped += (double)(m->alpha * mass * velocity * way);
    if (signal != MODAL_TLED_FREE) want->held += (double)(holding * way);
    if (r->reactions && held >= 0)
        hold(h, "reaction", 3 * held + c, ((const double *)r->reactions->host)[3 * held + c],
             signal == MODAL_TLED_FREE ? 0 : holding,
             signal == MODAL_TLED_FREE ? 0 : 64 * eps * (size + mass / (m->step * h2) * (fabs(d) + fabs(u0) + fabs(old))));
}

static void check_one_step(harness *h, const modal_tled_layout *layout, const motion *m, const state *start, const result *r)
{
    const modal_tled_solid *s = layout->solid;
    const double eps = is_double(layout) ? DBL_EPSILON : FLT_EPSILON;
    long double *force = harness_alloc(3 * s->n_nodes, sizeof *force), *free_force = harness_alloc(3 * s->n_nodes, sizeof *force);
    double *size = harness_alloc(s->n_nodes, sizeof *size), works = 0;
    modal_tled_work want = {0, 0, 0};
    for (int64_t i = 0; i < 3 * s->n_nodes; i++) force[i] = 0, size[i / 3] = 0;
    exact_forces(s, start->u, force, size);
    memcpy(free_force, force, (size_t)s->n_nodes * 3 * sizeof *force);
    exact_loads(s, m, start->u, force, size);
    for (int64_t i = 0, held = 0; i < s->n_nodes; i++) {
        const int here = held < s->n_held && s->held[held] == i;
        for (int c = 0; c < 3; c++) {
            check_component(h, layout, m, start, r, force, size[i], i, c, here ? held : -1, &want);
            const double old = m->before > 0 ? start->d[4 * i + c] * m->step / m->before : 0;
            const double way = (m->step + m->before) / (4 * m->step) * (value(layout, r->d, 4 * i + c) + old);
            want.loads += (double)(free_force[3 * i + c] - force[3 * i + c]) * way;
            works += size[i] * fabs(way);
        }
        held += here;
        if (!layout->packs_low) hold(h, "fourth", i, value(layout, r->u, 4 * i + 3), 0, 0);
    }
    if (r->work) {
        const modal_tled_work *got = (const modal_tled_work *)r->work->host;
        double kinetic = 0;
        for (int64_t k = 0; k < 4 * s->n_nodes; k++)
            kinetic += s->mass[k / 4] * (pow(value(layout, r->d, k), 2) + pow(start->d[k], 2) + pow(start->u[k], 2)) /
                       (m->step * m->step);
        hold(h, "work of loads", 0, got->loads, want.loads, 64 * eps * works);
        hold(h, "work of holding", 0, got->held, want.held, 64 * eps * (works + kinetic));
        hold(h, "damped", 0, got->damped, want.damped, 64 * eps * kinetic);
    }
    free(force), free(free_force), free(size);
}

static state new_state(harness *h, const modal_tled_layout *layout, double size)
{
    const int64_t n = 4 * layout->solid->n_nodes;
    state s = {harness_alloc(n, 8), harness_alloc(n, 8), harness_alloc(n, 8)};
    for (int64_t k = 0; k < n; k++) {
        s.u[k] = k % 4 == 3 ? 0 : size * harness_random(h), s.d[k] = k % 4 == 3 ? 0 : 0.01 * size * harness_random(h);
        if (!is_double(layout)) s.u[k] = (float)s.u[k], s.d[k] = (float)s.d[k];
        s.low[k] = is_double(layout) ? 0 : (float)(0.4 * FLT_EPSILON * s.u[k] * harness_random(h));
    }
    return s;
}

static void free_state(state *s) { free(s->u), free(s->low), free(s->d); }

static motion new_motion(harness *h, int64_t n_steps, int gravity, int n_signals, double before)
{
    motion m = {.first = 7, .n_steps = n_steps, .step = 1e-4, .before = before, .alpha = 30};
    m.gravity = gravity ? harness_alloc(3 * n_steps, 8) : NULL;
    m.signals = harness_alloc((n_steps + 1) * TLED_SIGNALS, 8);
    for (int64_t k = 0; gravity && k < 3 * n_steps; k++) m.gravity[k] = 10 * harness_random(h);
    for (int64_t k = 0; k < (n_steps + 1) * n_signals; k++) m.signals[k] = harness_random(h);
    return m;
}

static void same(harness *h, const char *what, const result *a, const result *b)
{
    harness_same(h, what, a->u, b->u);
    harness_same(h, what, a->d, b->d);
    if (a->low) harness_same(h, what, a->low, b->low);
    if (a->work && b->work) harness_same(h, what, a->work, b->work);
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
    motion m = new_motion(h, 1, before > 0, solid->n_signals, before), many = new_motion(h, 7, 1, solid->n_signals, 1e-4);
    const result one = step(h, layout, &m, &start, 1), quiet = step(h, layout, &m, &start, 0);
    const result seven = step(h, layout, &many, &start, 1), again = step(h, layout, &many, &start, 1);
    harness_fetch(h);
    check_one_step(h, layout, &m, &start, &one);
    same(h, "without works", &one, &quiet);
    same(h, "a second run", &seven, &again);
    hold(h, "nothing is turned", 0, (double)((const modal_tled_watch *)seven.watch->host)->step, -1, 0);

    state now = new_state(h, layout, size);
    memcpy(now.u, start.u, (size_t)solid->n_nodes * 32), memcpy(now.d, start.d, (size_t)solid->n_nodes * 32);
    memcpy(now.low, start.low, (size_t)solid->n_nodes * 32);
    result last = seven;
    harness_output *kept = seven.u;
    float *u = harness_alloc(kept->count, 4);
    memcpy(u, kept->host, (size_t)kept->count * 4);
    for (int64_t k = 0; k < 7; k++) {
        const motion single = {.first = many.first + k, .n_steps = 1, .step = 1e-4, .before = 1e-4, .alpha = 30,
                               .gravity = many.gravity + 3 * k, .signals = many.signals + k * solid->n_signals};
        harness_case(h, "%lld steps one by one", (long long)k + 1);
        last = step(h, layout, &single, &now, 0);
        harness_fetch(h);
        for (int64_t i = 0; i < 4 * solid->n_nodes; i++) { /* all words, the compensation among them */
            now.u[i] = value(layout, last.u, i), now.d[i] = value(layout, last.d, i);
            if (last.low) now.low[i] = value(layout, last.low, i);
        }
    }
    h->n_values++;
    if (memcmp(u, last.u->host, (size_t)last.u->count * 4) != 0) harness_fail(h, "seven steps are not seven times one");
    free(u);

    harness_case(h, "a turned element");
    const int32_t node = solid->n_tetrahedra > 0 ? solid->tetrahedra[4 * (solid->n_tetrahedra / 2)] : solid->hexahedra[0];
    int64_t lowest = -1;
    for (int i = 0; i < 3; i++) now.u[4 * node + i] = i == 0 ? NAN : 0;
    for (int64_t e = 0; e < solid->n_tetrahedra + solid->n_hexahedra && lowest < 0; e++) {
        const int n = e < solid->n_tetrahedra ? 4 : 8;
        const int32_t *c = n == 4 ? solid->tetrahedra + 4 * e : solid->hexahedra + 8 * (e - solid->n_tetrahedra);
        for (int a = 0; a < n; a++) lowest = c[a] == node ? e : lowest;
    }
    last = step(h, layout, &many, &now, 0);
    harness_fetch(h);
    const modal_tled_watch *watch = (const modal_tled_watch *)last.watch->host;
    hold(h, "step of the turned element", 0, (double)watch->step, 7, 0);
    hold(h, "the turned element", 0, (double)watch->element, (double)lowest, 0);
    free_state(&start), free_state(&now);
    free(m.gravity), free(m.signals), free(many.gravity), free(many.signals);
    modal_tled_layout_free(&layout);
}

static void run(harness *h)
{
    static const int sizes[][3] = {{1, 1, 1}, {2, 1, 3}, {3, 5, 4}, {11, 7, 9}, {23, 19, 17}};
    if (!h->kernels->tled_step) {
        harness_unsupported(h, "tled_step");
        return;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes - (h->quick ? 1 : 0); i++)
        for (int elements = TLED_TETRAHEDRA; elements <= TLED_BOTH; elements++)
            for (int k = 0; k < 4; k++) {
                const int n_materials = k % 2 ? 3 : 1, loads = k > 0;
                if (i == 4 && k != 3) continue;
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
}

int main(int argc, char **argv) { return harness_main(argc, argv, "tled_step", run); }
