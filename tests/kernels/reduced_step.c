/* SPDX-License-Identifier: Apache-2.0 */
/* Single fixed bodies: the state after a step, put into the equations of motion in long double. Trees of attached
 * and free bodies in the wind: against the reference back end (that one's physics: tests/python/check_scene.py). */
#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/reduced_step/reduced_force.h"
#include "tests/kernels/harness.h"

enum { MOST_OBJECTS = 2600, MOST_LEVELS = 12, MOST_MODES = 200, ANCHORS = 6 };

typedef struct model {
    modal_step_shape shapes[4];
    double *points[4];      /* [points, 3] then modes [points, 3, r] and masses [points] */
    int n_shapes;
    modal_step_object objects[MOST_OBJECTS];
    modal_step_point places[MOST_OBJECTS];
    modal_step_pose poses[MOST_OBJECTS];
    int32_t levels[MOST_LEVELS + 1];
    modal_step_task task;
    double *tables;
    int64_t n_tables, n_coordinates, n_work;
    double tangent, alpha; /* of its objects */
} model;

static int64_t reserve(model *m, int64_t count)
{
    const int64_t at = m->n_tables;
    m->n_tables += modal_step_padded(count);
    m->tables = realloc(m->tables, (size_t)m->n_tables * sizeof(double));
    if (!m->tables) exit(1);
    memset(m->tables + at, 0, (size_t)(m->n_tables - at) * sizeof(double));
    return at;
}

static int64_t row_of(int64_t r, int n, const int32_t *left)
{
    return n == 0 ? 0 : n == 1 ? 1 + left[0] : 1 + r + modal_step_pair(r, left[0], left[1]);
}

/* A monomial of the energy with ascending coordinates, and its second derivatives. */
static void add_term(model *m, const modal_step_shape *shape, double value, const int32_t *of, int n)
{
    const int64_t r = shape->n_modes, pairs = modal_step_pairs(r);
    for (int s = 0; s < n; s++)
        for (int u = 0; u < n; u++) {
            if (s == u || of[s] > of[u]) continue;
            if (n > 2 && r > MODAL_STEP_TABLE_MODES) continue; /* without a table */
            int32_t left[2];
            int count = 0;
            for (int i = 0; i < n; i++)
                if (i != s && i != u) left[count++] = of[i];
            m->tables[shape->stiffness + row_of(r, count, left) * pairs + modal_step_pair(r, of[s], of[u])] += value;
        }
}

static void add_energy(harness *h, model *m, modal_step_shape *shape)
{
    const int32_t r = shape->n_modes;
    shape->stiffness = reserve(m, modal_step_stiffness_rows(r, 1) * modal_step_pairs(r));
    shape->energy = reserve(m, modal_step_energy_size(r));
    int64_t at = shape->energy;
    for (int32_t k = 0; k < r; k++)
        for (int32_t l = k; l < r; l++) {
            const double value = k == l ? 200 + 100 * k : 20 * harness_random(h) / r;
            m->tables[at + modal_step_pair(r, k, l)] = value;
            add_term(m, shape, value, (int32_t[]){k, l}, 2);
        }
    at += modal_step_pairs(r);
    for (int32_t j = 0; j < r; j++)
        for (int32_t i = -1; i <= j; i++) {
            for (int32_t k = j; k < r; k++)
                for (int32_t l = k; l < r; l++) {
                    if (r > 100 && harness_random(h) < 0.95) continue; /* few, so that the oracle takes no minutes */
                    const double value = 100 * harness_random(h) / (r * (i < 0 ? 1.0 : r));
                    m->tables[at + modal_step_pair(r, k, l) - modal_step_pair(r, j, j)] = value;
                    add_term(m, shape, value, i < 0 ? (int32_t[]){j, k, l} : (int32_t[]){i, j, k, l}, i < 0 ? 3 : 4);
                }
            at += modal_step_energy_row(r, j);
        }
}

/* A cloud of masses with r displacement fields that are orthonormal in the mass. */
static void add_shape(harness *h, model *m, int32_t r)
{
    modal_step_shape *shape = &m->shapes[m->n_shapes];
    const int n = r + 4;
    double *x = harness_alloc(n * (4 + 3 * (int64_t)r), sizeof *x), *phi = x + 3 * n, *mass = phi + 3 * (int64_t)n * r;
    *shape = (modal_step_shape){.n_modes = r, .cubic = 1};
    for (int i = 0; i < 3 * n * (r + 1); i++) x[i] = harness_random(h);
    for (int p = 0; p < n; p++) mass[p] = (2 + harness_random(h)) / n;
    for (int k = 0; k < r; k++)
        for (int l = 0; l <= k; l++) {
            double dot = 0;
            for (int i = 0; i < 3 * n; i++) dot += mass[i / 3] * phi[i * r + k] * phi[i * r + l];
            for (int i = 0; i < 3 * n; i++)
                phi[i * r + k] = l < k ? phi[i * r + k] - dot * phi[i * r + l] : phi[i * r + k] / sqrt(dot);
        }
    add_energy(h, m, shape);
    shape->masses = reserve(m, 4 * (int64_t)r);
    shape->inertia = reserve(m, (1 + (int64_t)r) * modal_step_moments(r));
    double *masses = m->tables + shape->masses, *inertia = m->tables + shape->inertia;
    for (int p = 0; p < n; p++) {
        shape->mass += mass[p];
        for (int a = 0; a < 3; a++) {
            shape->first[a] += mass[p] * x[3 * p + a];
            for (int b = 0; b < 3; b++) shape->second[3 * a + b] += mass[p] * x[3 * p + a] * x[3 * p + b];
            for (int k = 0; k < r; k++) {
                const double u = mass[p] * phi[(3 * p + a) * r + k];
                masses[r + 3 * k + a] += u;
                for (int b = 0; b < 3; b++) {
                    inertia[9 * k + 3 * a + b] += u * x[3 * p + b];
                    for (int l = 0; l < r; l++)
                        inertia[(1 + l) * modal_step_moments(r) + 9 * k + 3 * a + b] += u * phi[(3 * p + b) * r + l];
                }
            }
        }
    }
    for (int k = 0; k < r; k++) masses[k] = 1;
    m->points[m->n_shapes++] = x;
}

static void add_object(harness *h, model *m, int32_t shape, int32_t parent, modal_step_motion motion)
{
    modal_step_task *t = &m->task;
    const int32_t index = t->n_objects++, r = m->shapes[shape].n_modes, n = r + 4;
    modal_step_object *o = &m->objects[index];
    modal_step_pose *f = &m->poses[index];
    *o = (modal_step_object){.shape = shape, .tree = index, .motion = (int32_t)motion, .parent = parent, .n_modes = r,
                             .coordinates = m->n_coordinates, .first_point = t->n_points, .n_points = 1, .tangent = m->tangent,
                             .alpha = m->alpha};
    m->n_coordinates += r;
    /* the last one of its shape, whose tables it shares, as in lib/forest; so leaves may be packed */
    const modal_step_object *twin = NULL;
    for (int32_t i = 0; i < index; i++)
        if (m->objects[i].shape == shape) twin = &m->objects[i];
    o->damping = twin ? twin->damping : reserve(m, modal_step_pairs(r));
    for (int k = 0; k < r; k++) m->tables[o->damping + modal_step_pair(r, k, k)] = 0.5 + 0.01 * k;
    *f = (modal_step_pose){.rotation = {0, -1, 0, 1, 0, 0, 0, 0, 1}, .turn = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    for (int i = 0; i < 3; i++) f->position[i] = harness_random(h);
    const double *x = m->points[shape], *phi = x + 3 * n;
    m->places[t->n_points] = (modal_step_point){
        index, index % 3 || parent > 1 ? 0.3 : 0,
        twin ? m->places[twin->first_point].table : reserve(m, (1 + (int64_t)r) * MODAL_STEP_POINT)};
    double *table = m->tables + m->places[t->n_points++].table;
    for (int a = 0; a < 3; a++) {
        table[a] = x[a];
        for (int k = 0; k < r; k++) table[MODAL_STEP_POINT * (1 + k) + a] = phi[a * r + k];
    }
    if (parent < 0) {
        t->n_trees++;
        return;
    }
    modal_step_object *po = &m->objects[parent];
    const int32_t pr = po->n_modes;
    const double *px = m->points[po->shape], *pphi = px + 3 * (pr + 4);
    o->tree = po->tree;
    o->parent_modes = pr;
    if (po->n_children++ == 0) po->first_child = index;
    o->anchor = reserve(m, (1 + (int64_t)pr) * MODAL_STEP_ANCHOR);
    double mean[3] = {0}, size = 0;
    for (int p = 0; p < ANCHORS && p < pr + 4; p++)
        for (int a = 0; a < 3; a++) mean[a] += px[3 * p + a] / (pr + 4 < ANCHORS ? pr + 4 : ANCHORS);
    for (int p = 0; p < ANCHORS && p < pr + 4; p++)
        for (int a = 0; a < 3; a++) size += pow(px[3 * p + a] - mean[a], 2);
    for (int k = -1; k < pr; k++) {
        double *row = m->tables + o->anchor + (1 + k) * MODAL_STEP_ANCHOR;
        for (int p = 0; p < ANCHORS && p < pr + 4; p++)
            for (int a = 0; a < 3; a++) {
                const double y = k < 0 ? px[3 * p + a] : pphi[(3 * p + a) * pr + k];
                row[a] += y / (pr + 4 < ANCHORS ? pr + 4 : ANCHORS);
                for (int b = 0; b < 3; b++)
                    row[3 + 3 * a + b] += (k < 0 ? y - mean[a] : y) * (px[3 * p + b] - mean[b]) / size;
            }
    }
    for (int i = 0; i < 9; i++) o->turn[i] = i % 4 == 0;
    for (int i = 0; i < 3; i++) o->offset[i] = 0.2 * harness_random(h);
}

static void finish_model(model *m)
{
    modal_step_task *t = &m->task;
    for (int32_t i = 0; i < t->n_objects; i++) {
        m->objects[i].work = m->n_work;
        m->n_work += modal_step_work_size(m->objects[i].n_modes, m->objects[i].parent_modes, 1);
    }
    for (int32_t i = 0; i < t->n_objects; i++) {
        m->objects[i].share = m->n_work;
        if (m->objects[i].parent >= 0) m->n_work += modal_step_share_size(m->objects[i].parent_modes);
    }
    for (int i = 0; i < m->n_shapes; i++) {
        const int32_t r = m->shapes[i].n_modes, table = (int32_t)modal_step_stiffness_rows(r, 1), rows = table > r ? table : 1 + r;
        if (r > t->most_modes) t->most_modes = r;
        if (rows > t->most_rows) t->most_rows = rows;
    }
    t->h = 0.01;
    t->time = 0.3;
    t->gravity[2] = -9.81;
    t->radius = 0.8;
    t->tolerance = 1e-11;
    t->most_iterations = 40;
}

static void free_model(model *m)
{
    for (int i = 0; i < m->n_shapes; i++) free(m->points[i]);
    free(m->tables);
    free(m);
}

/* The state after a step, and the trees' status, on the harness's device and in its memory. */
typedef struct result {
    double *q, *v, *a, *lag;
    modal_step_pose *poses;
    int32_t *status;
} result;

static double *doubles(harness *h, int64_t count, const double *initial, harness_output **out)
{
    /* the harness counts in floats; a double takes two */
    *out = harness_new_output(h, 2 * count, 0, (const float *)initial);
    return (double *)(*out)->device;
}

static result step(harness *h, model *m, const double *q, const double *v, const double *a, const double *force,
                   const double *lag, const modal_step_air *air)
{
    modal_step_task t = m->task;
    modal_error err = {0};
    harness_output *out[16];
    const int64_t c = m->n_coordinates, n = t.n_objects, frame = sizeof(modal_step_pose) / 8;
    const int64_t measure = sizeof(modal_step_measure) / 8, scratch = modal_step_device_scratch_size(&t);
    const int32_t n_status = t.n_trees + MODAL_STEP_COUNTERS;
    double *zeros = calloc((size_t)(m->n_work + n * measure + 2 * c + 3 * t.n_points + n_status), 8);
    uint8_t active[MOST_OBJECTS];
    if (!zeros) exit(1);
    for (int32_t i = 0; i < t.n_trees; i++) active[i] = i % 5 != 4;
    t.h_levels = m->levels;
    t.levels = harness_input(h, m->levels, sizeof m->levels, 0);
    t.shapes = harness_input(h, m->shapes, sizeof m->shapes, 0);
    t.objects = harness_input(h, m->objects, n * (int64_t)sizeof *m->objects, 0);
    t.points = harness_input(h, m->places, t.n_points * (int64_t)sizeof *m->places, 0);
    t.tables = harness_input(h, m->tables, m->n_tables * 8, 0);
    t.air = air ? harness_input(h, air, sizeof *air, 0) : NULL;
    t.active = harness_input(h, active, t.n_trees, 0);
    t.point_force = (double *)harness_input(h, force, 3 * t.n_points * 8, 0);
    t.q = doubles(h, c, q, &out[0]);
    t.v = doubles(h, c, v, &out[1]);
    t.a = doubles(h, c, a, &out[2]);
    t.lag = doubles(h, c + 6 * (int64_t)t.n_trees, lag, &out[13]);
    t.root_lag = t.lag + c;
    t.poses = (modal_step_pose *)doubles(h, n * frame, (const double *)m->poses, &out[3]);
    t.status = (int32_t *)doubles(h, n_status, zeros, &out[4]);
    t.next_q = doubles(h, c, NULL, &out[5]);
    t.next_v = doubles(h, c, NULL, &out[6]);
    t.next_a = doubles(h, c, NULL, &out[7]);
    t.next_poses = (modal_step_pose *)doubles(h, n * frame, NULL, &out[8]);
    t.measures = (modal_step_measure *)doubles(h, n * measure, zeros, &out[9]);
    t.point_air = doubles(h, 3 * t.n_points, NULL, &out[10]);
    t.work = doubles(h, m->n_work, NULL, &out[11]);
    if (!h->device->shares_memory && scratch > modal_step_shared(h->device->shared_bytes)) {
        t.n_scratch = 3; /* fewer than objects */
        t.scratch = doubles(h, 3 * scratch, NULL, &out[12]);
    }
    int32_t *status = harness_alloc(n_status, sizeof *status);
    t.h_status = status;
    t.phase = MODAL_STEP_SOLVE;
    harness_ok(h, h->kernels->reduced_step(&t, h->stream, &err), &err);
    t.phase = MODAL_STEP_MEASURE;
    harness_ok(h, h->kernels->reduced_step(&t, h->stream, &err), &err);
    harness_fetch(h);
    free(zeros);
    return (result){(double *)out[0]->host, (double *)out[1]->host, (double *)out[2]->host, (double *)out[13]->host,
                    (modal_step_pose *)out[3]->host, status};
}

static void count(harness *h, const char *what, int64_t index, double error, double bound)
{
    h->n_values++;
    if (bound > 0 && error / bound > h->worst) h->worst = error / bound;
    if (!(error <= bound)) harness_fail(h, "%s[%lld] is off by %.3g, bound %.3g", what, (long long)index, error, bound);
}

/* f of the energy's own coefficients, and the sum of its terms' sizes. */
static void oracle_force(const model *m, const modal_step_shape *shape, const double *q, long double *f, double *size)
{
    const int32_t r = shape->n_modes;
    const double *table = m->tables + shape->energy;
    for (int32_t k = 0; k < r; k++) f[k] = size[k] = 0;
    for (int32_t j = -1; j < r; j++)
        for (int32_t i = j < 0 ? -2 : -1; i <= (j < 0 ? -2 : j); i++) {
            const int32_t from = j < 0 ? 0 : j;
            for (int32_t k = from; k < r; k++)
                for (int32_t l = k; l < r; l++) {
                    const int32_t of[4] = {k, l, j, i};
                    const int n = i == -2 ? 2 : i == -1 ? 3 : 4;
                    const double value = table[modal_step_pair(r, k, l) - modal_step_pair(r, from, from)];
                    for (int s = 0; s < n && value != 0; s++) {
                        long double term = value;
                        for (int u = 0; u < n; u++)
                            if (u != s) term *= q[of[u]];
                        f[of[s]] += term;
                        size[of[s]] += fabs((double)term);
                    }
                }
            table += j < 0 ? modal_step_pairs(r) : modal_step_energy_row(r, j);
        }
}

/* K(q) v, by differences that are exact for a cubic. */
static void oracle_tangent(const model *m, const modal_step_shape *shape, const double *q, const double *v, long double *kv)
{
    const int32_t r = shape->n_modes;
    double at[MOST_MODES], size[MOST_MODES];
    long double f[MOST_MODES];
    static const int part[4] = {-2, -1, 1, 2};
    for (int32_t k = 0; k < r; k++) kv[k] = 0;
    for (int p = 0; p < 4; p++) {
        for (int32_t k = 0; k < r; k++) at[k] = q[k] + 0.25 * part[p] * v[k];
        oracle_force(m, shape, at, f, size);
        const double weight = (part[p] == -2 ? 1 : part[p] == -1 ? -8 : part[p] == 1 ? 8 : -1) / 12.0 / 0.25;
        for (int32_t k = 0; k < r; k++) kv[k] += weight * f[k];
    }
}

/* Generalized-alpha as it is printed, but with the equations of motion at the end of the step: the acceleration that the
 * rule carries is a + h lag. */
typedef struct alpha_step {
    double q, v, lag;
} alpha_step;

static alpha_step alpha_step_of(double radius, double h, double q, double v, double a, double lag, double next_a)
{
    const double m = (2 * radius - 1) / (radius + 1), f = radius / (radius + 1), gamma = 0.5 - m + f;
    const double beta = 0.25 * (1 + f - m) * (1 + f - m), carried = a + h * lag;
    if (radius == 1) return (alpha_step){q + h * v + 0.25 * h * h * (a + next_a), v + 0.5 * h * (a + next_a), 0};
    const double next = ((1 - f) * next_a + f * a - m * carried) / (1 - m);
    return (alpha_step){q + h * v + h * h * ((0.5 - beta) * carried + beta * next),
                        v + h * ((1 - gamma) * carried + gamma * next), (next - next_a) / h};
}

/* Forces and stiffness alone, as the processor's instructions evaluate them. */
static void check_forces(harness *h, int32_t r)
{
    if (h->is_reference || strcmp(h->device->name, "cpu") != 0) return;
    model *m = calloc(1, sizeof *m);
    if (!m) exit(1);
    harness_case(h, "forces, r = %d", r);
    modal_step_shape *shape = &m->shapes[0];
    *shape = (modal_step_shape){.n_modes = r, .cubic = 1};
    add_energy(h, m, shape);
    const int64_t size_of = modal_step_padded(modal_step_energy_size(r)), pairs = modal_step_pairs(r);
    const int64_t memory = modal_reduced_force_memory(r), rows = modal_step_stiffness_rows(r, 1) * pairs;
    double *own = aligned_alloc(64, (size_t)(size_of + memory + 2 * pairs + rows) * sizeof(double));
    double *work = own ? own + size_of : NULL, *tangent = work + memory, *first = tangent + pairs, *stiffness = first + pairs;
    double q[MOST_MODES] = {0}, v[MOST_MODES] = {0}, force[MOST_MODES], again[MOST_MODES], size[MOST_MODES];
    long double f[MOST_MODES], kv[MOST_MODES];
    if (!own) exit(1);
    memcpy(own, m->tables + shape->energy, (size_t)size_of * sizeof(double));
    memcpy(stiffness, m->tables + shape->stiffness, (size_t)rows * sizeof(double));
    for (int32_t k = 0; k < r; k++) {
        q[k] = 0.1 * harness_random(h);
        v[k] = harness_random(h);
    }
    modal_reduced_force_cpu(r, stiffness, own, q, work, force, NULL);
    modal_reduced_force_cpu(r, stiffness, own, q, work, again, tangent);
    oracle_force(m, shape, q, f, size);
    double most = 0;
    for (int32_t k = 0; k < r; k++) {
        count(h, "force", k, (double)fabsl(force[k] - f[k]), (r * r + 16) * DBL_EPSILON * size[k]);
        count(h, "force with stiffness", k, (double)fabsl(again[k] - f[k]), (r * r + 16) * DBL_EPSILON * size[k]);
    }
    oracle_tangent(m, shape, q, v, kv);
    for (int32_t k = 0; k < r; k++) most = fmax(most, (double)fabsl(kv[k]));
    for (int32_t k = 0; k < r; k++) {
        double sum = 0;
        for (int32_t l = 0; l < r; l++) sum += tangent[modal_step_pair(r, k < l ? k : l, k < l ? l : k)] * v[l];
        count(h, "stiffness", k, (double)fabsl(sum - kv[k]), 1e-12 * most);
    }
    /* the same bytes by any number of threads; `size` and `force` are scratch now */
    const int threads = omp_get_max_threads();
    for (int n = 1; n <= 5; n += 2) {
        omp_set_num_threads(n);
        memset(work, 0xff, (size_t)(memory + pairs) * sizeof(double));
        modal_reduced_force_cpu(r, stiffness, own, q, work, size, tangent);
        if (n == 1) memcpy(force, size, (size_t)r * sizeof(double));
        if (n == 1) memcpy(first, tangent, (size_t)(r * (r + 1) / 2) * sizeof(double));
        for (int32_t k = 0; k < r; k++) count(h, "force, threads", k, memcmp(&size[k], &force[k], sizeof *size) != 0, 0);
        for (int32_t e = 0; e < r * (r + 1) / 2; e++)
            count(h, "stiffness, threads", e, memcmp(&tangent[e], &first[e], sizeof *first) != 0, 0);
    }
    omp_set_num_threads(threads);
    free(own);
    free_model(m);
}

static void check_single(harness *h, int32_t r, int32_t n, modal_step_rule rule)
{
    model *m = calloc(1, sizeof *m);
    if (!m) exit(1);
    m->tangent = 0.02;
    harness_case(h, "r = %d, %d bodies, rule %d", r, n, rule);
    add_shape(h, m, r);
    for (int32_t i = 0; i < n; i++) add_object(h, m, 0, -1, MODAL_STEP_FIXED);
    m->levels[1] = n;
    m->task.n_levels = 1;
    finish_model(m);
    m->task.rule = rule;
    const int64_t c = m->n_coordinates;
    const int64_t n_lag = c + 6 * (int64_t)n;
    double *state = harness_alloc(3 * c + 3 * n + n_lag, sizeof *state), *q = state, *v = q + c, *a = v + c, *force = a + c;
    double *lag = force + 3 * n;
    for (int64_t i = 0; i < c; i++) {
        q[i] = 0.1 * harness_random(h);
        v[i] = harness_random(h);
        a[i] = 10 * harness_random(h);
    }
    for (int i = 0; i < 3 * n; i++) force[i] = 5 * harness_random(h);
    for (int64_t i = 0; i < n_lag; i++) lag[i] = rule == MODAL_STEP_ALPHA ? 100 * harness_random(h) : 0;
    const result got = step(h, m, q, v, a, force, lag, NULL);
    long double f[MOST_MODES], tangent[MOST_MODES];
    double size[MOST_MODES];
    const double hh = m->task.h;
    const modal_step_shape *shape = &m->shapes[0];
    const double *lift = m->tables + shape->masses + r;
    for (int32_t i = 0; i < n; i++) {
        const modal_step_object *o = &m->objects[i];
        const double *at = m->tables + m->places[i].table, *rotation = m->poses[i].rotation;
        const double *x = got.q + o->coordinates, *y = got.v + o->coordinates, *z = got.a + o->coordinates;
        if (i % 5 == 4) { /* takes no part */
            for (int32_t k = 0; k < r; k++)
                count(h, "resting q", k, fabs(x[k] - q[o->coordinates + k]) + fabs(z[k] - a[o->coordinates + k]), 0);
            continue;
        }
        if (got.status[i] != MODAL_STEP_CONVERGED) harness_fail(h, "body %d: status %d", i, got.status[i]);
        oracle_force(m, shape, x, f, size);
        oracle_tangent(m, shape, x, y, tangent);
        for (int32_t k = 0; k < r; k++) {
            const double q0 = q[o->coordinates + k], v0 = v[o->coordinates + k], a0 = a[o->coordinates + k];
            const double drag = m->tables[o->damping + modal_step_pair(r, k, k)] * y[k] + o->tangent * (double)tangent[k];
            long double residual = f[k] + drag + (rule == MODAL_STEP_STATIC ? 0 : z[k]);
            double terms = size[k] + fabs(drag) + fabs(z[k]);
            for (int e = 0; e < 3; e++)
                for (int d = 0; d < 3; d++) {
                    const double weight = -lift[3 * k + e] * rotation[3 * d + e] * m->task.gravity[d];
                    const double load = at[MODAL_STEP_POINT * (1 + k) + e] * rotation[3 * d + e] * force[3 * i + d];
                    residual += weight - load;
                    terms += fabs(weight) + fabs(load);
                }
            double largest = 0; /* the criterion is of the body's largest term */
            for (int32_t l = 0; l < r; l++) largest = fmax(largest, size[l] + fabs(z[l]));
            count(h, "residual", k, (double)fabsl(residual),
                  m->task.tolerance * (largest + terms) + (double)r * r * r * DBL_EPSILON * (largest + terms));
            if (rule == MODAL_STEP_STATIC) {
                count(h, "v", k, fabs(y[k]), 0);
                continue;
            }
            const double lag0 = lag[o->coordinates + k];
            const alpha_step want = alpha_step_of(rule == MODAL_STEP_ALPHA ? m->task.radius : 1, hh, q0, v0, a0, lag0, z[k]);
            const double sizes = fabs(a0) + fabs(z[k]) + hh * fabs(lag0);
            count(h, "v", k, fabs(y[k] - want.v), 16 * DBL_EPSILON * (fabs(v0) + hh * sizes));
            count(h, "q", k, fabs(x[k] - want.q), 16 * DBL_EPSILON * (fabs(q0) + hh * fabs(v0) + hh * hh * sizes));
            count(h, "lag", k, fabs(got.lag[o->coordinates + k] - want.lag), 64 * DBL_EPSILON * sizes / hh);
        }
    }
    free(got.status);
    free(state);
    free_model(m);
}

static double largest_of(const double *x, int64_t n)
{
    double largest = 0;
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
    return largest;
}

/* Trees in the wind, against the reference; frees the model. */
static void check_trees(harness *h, model *m)
{
    finish_model(m);
    const int64_t c = m->n_coordinates;
    const int64_t numbers = 4 * c + 3 * (int64_t)m->task.n_points + 6 * (int64_t)m->task.n_trees;
    double *state = harness_alloc(numbers, sizeof *state), *lag = state + 3 * c + 3 * (int64_t)m->task.n_points;
    m->task.rule = MODAL_STEP_ALPHA;
    for (int64_t i = 0; i < numbers; i++) state[i] = 0.02 * harness_random(h);
    modal_step_air air = {.mean = {3, 0, 0}, .n_waves = MODAL_STEP_WAVES};
    for (int i = 0; i < MODAL_STEP_WAVES; i++) {
        air.amplitude[i][i % 3] = 0.3;
        air.wave[i][(i + 1) % 3] = 1 + i;
        air.frequency[i] = i;
    }
    modal_device *device = h->device;
    modal_device main_memory;
    modal_error err = {0};
    if (modal_device_open(&main_memory, "ref", &err) != MODAL_OK) exit(1);
    const result got = step(h, m, state, state + c, state + 2 * c, state + 3 * c, lag, &air);
    const result again = step(h, m, state, state + c, state + 2 * c, state + 3 * c, lag, &air);
    if (memcmp(got.q, again.q, (size_t)c * 8) != 0 || memcmp(got.a, again.a, (size_t)c * 8) != 0)
        harness_fail(h, "a second run differs");
    /* the reference in the harness's memory: copied out, since the next case frees it */
    const int64_t n_trees = m->task.n_trees, n_objects = m->task.n_objects;
    double *copy = harness_alloc(3 * c + c + 6 * n_trees, sizeof *copy);
    modal_step_pose *poses = harness_alloc(n_objects, sizeof *poses);
    int32_t *status = harness_alloc(n_trees, sizeof *status);
    memcpy(copy, got.q, (size_t)c * 8);
    memcpy(copy + c, got.v, (size_t)c * 8);
    memcpy(copy + 2 * c, got.a, (size_t)c * 8);
    memcpy(copy + 3 * c, got.lag, (size_t)(c + 6 * n_trees) * 8);
    memcpy(poses, got.poses, (size_t)n_objects * sizeof *poses);
    memcpy(status, got.status, (size_t)n_trees * sizeof *status);
    free(got.status);
    free(again.status);
    char label[sizeof h->label];
    memcpy(label, h->label, sizeof label);
    harness_case(h, "%s", label); /* frees */
    h->n_cases--;
    h->device = &main_memory;
    h->kernels = main_memory.kernels;
    const result want = step(h, m, state, state + c, state + 2 * c, state + 3 * c, lag, &air);
    for (int64_t i = 0; i < n_trees; i++)
        if (status[i] != (i % 5 == 4 ? MODAL_STEP_IDLE : MODAL_STEP_CONVERGED) || want.status[i] != status[i])
            harness_fail(h, "tree %lld: status %d, of the reference %d", (long long)i, status[i], want.status[i]);
    const double *parts[] = {want.q, want.v, want.a};
    for (int part = 0; part < 3; part++) {
        const double bound = 1e-9 * largest_of(parts[part], c);
        for (int64_t i = 0; i < c; i++)
            count(h, part == 0 ? "q" : part == 1 ? "v" : "a", i, fabs(copy[part * c + i] - parts[part][i]), bound);
    }
    const double bound = 1e-9 * largest_of(want.lag, c + 6 * n_trees);
    for (int64_t i = 0; i < c + 6 * n_trees; i++) count(h, "lag", i, fabs(copy[3 * c + i] - want.lag[i]), bound);
    for (int32_t i = 0; i < n_objects; i++)
        for (int e = 0; e < 12; e++) { /* rotation, position */
            const double *x = (const double *)&poses[i], *y = (const double *)&want.poses[i];
            count(h, "frame", i, fabs(x[e] - y[e]), 1e-9 * (1 + fabs(y[e])));
        }
    free(want.status);
    harness_case(h, "%s", label); /* what main memory gave goes back to it */
    h->n_cases--;
    h->device = device;
    h->kernels = device->kernels;
    free(status);
    free(poses);
    free(copy);
    free(state);
    free_model(m);
}

static model *new_model(harness *h, int32_t r, int32_t other)
{
    model *m = calloc(1, sizeof *m);
    if (!m) exit(1);
    add_shape(h, m, r);
    add_shape(h, m, other);
    return m;
}

static void end_level(model *m) { m->levels[++m->task.n_levels] = m->task.n_objects; }

/* One tree: a root with n children, the last of which bears n more, and one resting alone. */
static void check_tree(harness *h, int32_t r, int32_t n, modal_step_motion motion)
{
    harness_case(h, "tree, r = %d, %d children, root %d", r, n, motion);
    model *m = new_model(h, r, r > 1 ? r - 1 : 2);
    m->tangent = 0.001;
    m->alpha = 3;
    add_object(h, m, 0, -1, motion);
    add_object(h, m, 1, -1, MODAL_STEP_FIXED);
    end_level(m);
    for (int32_t i = 0; i < n; i++) add_object(h, m, i % 2, 0, MODAL_STEP_ATTACHED);
    if (n > 0) end_level(m);
    for (int32_t i = 0; i < n; i++) add_object(h, m, 1, 1 + n, MODAL_STEP_ATTACHED);
    if (n > 0) end_level(m);
    check_trees(h, m);
}

/* Trees as high as they can be, each object with one child: levels are gone through in parts. */
static void check_chains(harness *h, int32_t r, int32_t n, modal_step_motion motion)
{
    harness_case(h, "%d chains, r = %d, root %d", n, r, motion);
    model *m = new_model(h, r, r + 1);
    for (int32_t level = 0; level < MOST_LEVELS; level++) {
        for (int32_t i = 0; i < n; i++)
            add_object(h, m, level % 2, m->task.n_objects < n ? -1 : m->task.n_objects - n,
                       level == 0 ? motion : MODAL_STEP_ATTACHED);
        end_level(m);
    }
    check_trees(h, m);
}

/* More objects than a GPU has warps: n trees of 40, of few modes and some of many between them. */
static void check_many(harness *h, int32_t r, int32_t other, int32_t n)
{
    enum { BRANCHES = 3, LEAVES = 12 };
    harness_case(h, "%d trees, r = %d and %d", n, r, other);
    model *m = new_model(h, r, other);
    for (int32_t i = 0; i < n; i++) add_object(h, m, i % 3 == 1, -1, i % 2 ? MODAL_STEP_FREE : MODAL_STEP_FIXED);
    end_level(m);
    for (int32_t i = 0; i < BRANCHES * n; i++) add_object(h, m, i % 4 == 3, i / BRANCHES, MODAL_STEP_ATTACHED);
    end_level(m);
    for (int32_t i = 0; i < BRANCHES * n * LEAVES; i++) add_object(h, m, i % 97 == 5, n + i / LEAVES, MODAL_STEP_ATTACHED);
    end_level(m);
    check_trees(h, m);
}

static void run(harness *h)
{
    static const int32_t modes[] = {1, 2, 7, 8, 9, 16, 17, 33, 41}, children[] = {0, 1, 35};
    const int most = h->quick ? 5 : 9;
    for (int i = 0; i < most; i++) {
        check_single(h, modes[i], modes[i] > 20 ? 6 : 37, i % 2 ? MODAL_STEP_NEWMARK : MODAL_STEP_ALPHA);
        check_single(h, modes[i], 6, MODAL_STEP_STATIC);
    }
    for (int i = 0; i < (h->quick ? 2 : 3); i++) {
        check_tree(h, 7, children[i], MODAL_STEP_FIXED);
        check_tree(h, 12, children[i], MODAL_STEP_FREE);
        if (!h->quick) check_tree(h, 20, children[i], MODAL_STEP_FREE);
    }
    check_chains(h, 6, 3, MODAL_STEP_FREE);
    if (!h->quick) check_chains(h, 16, 2, MODAL_STEP_FIXED);
    const int32_t many = h->device->shares_memory ? 4 : 60;
    check_many(h, 7, 12, many);
    if (!h->quick) check_many(h, 8, 3, many);
    check_single(h, 17, 3, MODAL_STEP_ALPHA); /* a block a body, in the quick run, too */
    check_single(h, 33, 3, MODAL_STEP_ALPHA); /* without a table of the stiffness */
    check_single(h, 18, h->device->shares_memory ? 5 : 150, MODAL_STEP_ALPHA); /* a body is one block's */
    check_single(h, 17, 1, MODAL_STEP_ALPHA); /* the whole grid is one body's */
    check_single(h, 47, 1, MODAL_STEP_NEWMARK);
    if (!h->quick) check_single(h, 112, 1, MODAL_STEP_ALPHA);
    if (!h->quick) check_single(h, 100, 2, MODAL_STEP_ALPHA);
    /* matrices that no lanes hold in registers: of more than 112 modes, which take long on a CPU */
    check_single(h, h->quick && h->device->shares_memory ? 113 : 130, 1, MODAL_STEP_ALPHA);
    static const int32_t of_forces[] = {1, 2, 7, 8, 9, 31, 32, 33, 47, 48, 60, 100, 200};
    for (int i = 0; i < (h->quick ? 9 : 13); i++) check_forces(h, of_forces[i]);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "reduced_step", run); }
