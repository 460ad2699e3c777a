/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/forest/small_motion.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/modes/symmetric.h"

static const double COUPLED = 1e-6;

/* A body's mass in world axes at rest: int rho (1, x, x x^T). */
typedef struct body_mass {
    double mass, first[3], second[9];
} body_mass;

void modal_small_motion_free(modal_small_motion *m)
{
    modal_free(&m->coordinates);
    modal_free(&m->omega);
    modal_free(&m->parts);
    modal_free(&m->shares);
    m->n = 0;
}

static void cross(const double *a, const double *b, double *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void turn(const double *pose, const double *x, double *to)
{
    for (int i = 0; i < 3; i++) to[i] = pose[4 * i] * x[0] + pose[4 * i + 1] * x[1] + pose[4 * i + 2] * x[2];
}

/* x = m^-1 b for a symmetric matrix [3, 3]; whether there is one. */
static int solve(const double *m, const double *b, double *x)
{
    double rows[3][3];
    for (int i = 0; i < 3; i++) cross(m + 3 * ((i + 1) % 3), m + 3 * ((i + 2) % 3), rows[i]);
    const double det = dot(m, rows[0]);
    for (int i = 0; i < 3; i++) x[i] = (rows[0][i] * b[0] + rows[1][i] * b[1] + rows[2][i] * b[2]) / det;
    return fabs(det) > 0;
}

/* The frame of a child goes with mode k of its parent: the interface's mean, and the turn of what fits its points best. */
static int field_of_joint(const double *anchor, const double *parent_pose, int32_t k, modal_rigid_field *field)
{
    const double *rest = anchor, *own = anchor + (1 + (int64_t)k) * MODAL_STEP_ANCHOR, *s = rest + 3, *d = own + 3;
    const double trace = s[0] + s[4] + s[8], twice[3] = {d[7] - d[5], d[2] - d[6], d[3] - d[1]};
    double m[9], w[3], arm[3], at[3];
    for (int i = 0; i < 9; i++) m[i] = (i % 4 == 0 ? trace : 0) - 0.5 * (s[i] + s[3 * (i % 3) + i / 3]);
    if (!solve(m, twice, w)) return 0;
    turn(parent_pose, w, field->turn);
    turn(parent_pose, own, field->go);
    turn(parent_pose, rest, at);
    for (int i = 0; i < 3; i++) at[i] += parent_pose[4 * i + 3];
    cross(field->turn, at, arm);
    for (int i = 0; i < 3; i++) field->go[i] -= arm[i];
    return 1;
}

modal_status modal_joint_fields(const modal_shape *parent, const double *parent_pose, const modal_shape *child, const double *child_pose,
                                modal_rigid_field *fields, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_forest_tables tables = {0};
    modal_step_object object = {0};
    MODAL_TRY(modal_forest_anchor(&tables, parent, parent_pose, child, child_pose, &object, err));
    for (int32_t k = 0; k < parent->modes.n_modes; k++)
        if (!field_of_joint(tables.values + object.anchor, parent_pose, k, &fields[k])) fields[k] = (modal_rigid_field){0};
done:
    modal_free(&tables.values);
    return status;
}

static body_mass mass_of(const modal_step_shape *shape, const double *pose)
{
    body_mass b = {.mass = shape->mass};
    double first[3], half[9];
    const double p[3] = {pose[3], pose[7], pose[11]};
    turn(pose, shape->first, first);
    for (int j = 0; j < 3; j++) turn(pose, shape->second + 3 * j, half + 3 * j); /* half[3 j + i] = (R S)_ij */
    for (int i = 0; i < 3; i++) {
        b.first[i] = first[i] + b.mass * p[i];
        for (int j = 0; j < 3; j++)
            b.second[3 * i + j] = half[i] * pose[4 * j] + half[3 + i] * pose[4 * j + 1] + half[6 + i] * pose[4 * j + 2] +
                                  p[i] * first[j] + first[i] * p[j] + b.mass * p[i] * p[j];
    }
    return b;
}

/* int rho of the product of two rigid fields. */
static double product(const body_mass *b, const modal_rigid_field *x, const modal_rigid_field *y)
{
    double a[3], c[3], s[3];
    cross(y->turn, b->first, a);
    cross(x->turn, b->first, c);
    for (int i = 0; i < 3; i++) s[i] = dot(b->second + 3 * i, y->turn);
    const double trace = b->second[0] + b->second[4] + b->second[8];
    return b->mass * dot(x->go, y->go) + dot(x->go, a) + dot(y->go, c) + trace * dot(x->turn, y->turn) - dot(x->turn, s);
}

/* Of a mode: int rho phi, and int rho x cross phi, in world axes. */
static void mode_of(const modal_small_tree *t, const modal_step_shape *shape, const double *pose, int32_t k, double *sum, double *moment)
{
    const double *own = t->tables + shape->masses + shape->n_modes + 3 * (int64_t)k, *s = t->tables + shape->inertia + 9 * (int64_t)k;
    const double local[3] = {s[7] - s[5], s[2] - s[6], s[3] - s[1]}, p[3] = {pose[3], pose[7], pose[11]};
    double arm[3];
    turn(pose, own, sum);
    turn(pose, local, moment);
    cross(p, sum, arm);
    for (int i = 0; i < 3; i++) moment[i] += arm[i];
}

/* M [n, n] of the tree; fields [n_objects, n]: scratch, zeros. Whether it is known. */
static int make_mass(const modal_small_tree *t, int64_t n, const int64_t *first, modal_rigid_field *fields, double *mass)
{
    for (int32_t o = 0; o < t->n_objects; o++) {
        const modal_step_object *object = &t->objects[t->places[o]];
        const modal_step_shape *shape = &t->shapes[object->shape];
        modal_rigid_field *own = fields + o * n;
        int64_t n_above = 0; /* coordinates of the tree stand in the order of its objects: none past the own ones moves it */
        if (object->parent >= 0) {
            int32_t parent = o;
            while (t->places[parent] != object->parent) parent--;
            memcpy(own, fields + parent * n, (size_t)n * sizeof *own);
            for (int32_t k = 0; k < object->parent_modes; k++)
                if (!field_of_joint(t->tables + object->anchor, t->poses[parent], k, &own[first[parent] + k])) return 0;
            n_above = first[o];
        }
        const body_mass b = mass_of(shape, t->poses[o]);
        for (int64_t x = 0; x < n_above; x++)
            for (int64_t y = 0; y < n_above; y++) mass[x * n + y] += product(&b, &own[x], &own[y]);
        for (int32_t k = 0; k < shape->n_modes; k++) {
            const int64_t at = first[o] + k;
            double sum[3], moment[3];
            mass[at * n + at] += t->tables[shape->masses + k];
            if (n_above > 0) mode_of(t, shape, t->poses[o], k, sum, moment);
            for (int64_t x = 0; x < n_above; x++) {
                const double both = dot(own[x].go, sum) + dot(own[x].turn, moment);
                mass[x * n + at] += both;
                mass[at * n + x] += both;
            }
        }
    }
    return 1;
}

/* From M and the stiffness of each coordinate to the natural motions. matrix [n, n] is scratch. */
static modal_status solve_motions(int64_t n, const double *mass, const double *stiffness, double *matrix, modal_small_motion *m,
                                  modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) matrix[i * n + j] = mass[i * n + j] / sqrt(stiffness[i] * stiffness[j]);
    MODAL_TRY(modal_symmetric_eigen(n, matrix, m->omega, err)); /* 1 / omega^2 */
    for (int64_t j = 0; j < n; j++) {
        const double square = m->omega[j];
        if (!(square > 0)) {
            m->n = 0;
            goto done;
        }
        m->omega[j] = 1 / sqrt(square);
        for (int64_t i = 0; i < n; i++) { /* V = K^-1/2 z omega, V^T M = z^T K^1/2 / omega */
            const double z = matrix[j * n + i], v = z * m->omega[j] / sqrt(stiffness[i]);
            m->parts[j * n + i] = z * sqrt(stiffness[i]) / m->omega[j];
            m->shares[j * n + i] = v * v;
        }
    }
done:
    return status;
}

modal_status modal_small_motion_make(const modal_small_tree *t, modal_small_motion *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t *first = NULL, n = 0;
    modal_rigid_field *fields = NULL;
    double *mass = NULL, *matrix = NULL, *stiffness = NULL;
    int known = 1;
    MODAL_TRY(modal_alloc(&first, t->n_objects, sizeof *first, "natural motions", err));
    for (int32_t o = 0; o < t->n_objects; o++) {
        first[o] = n;
        n += t->modes[o]->n_modes;
        known &= t->modes[o]->mass_coupling <= COUPLED && t->modes[o]->stiffness_coupling <= COUPLED;
    }
    MODAL_TRY(modal_alloc(&stiffness, n, sizeof *stiffness, "natural motions", err));
    MODAL_TRY(modal_alloc(&m->coordinates, n, sizeof *m->coordinates, "natural motions", err));
    for (int32_t o = 0; o < t->n_objects; o++)
        for (int32_t k = 0; k < t->modes[o]->n_modes; k++) {
            m->coordinates[first[o] + k] = t->objects[t->places[o]].coordinates + k;
            stiffness[first[o] + k] = t->modes[o]->eigenvalues[k] * t->modes[o]->modal_masses[k];
            known &= stiffness[first[o] + k] > 0;
        }
    if (!known) goto done;
    MODAL_TRY(modal_alloc_zero(&fields, t->n_objects * n, sizeof *fields, "natural motions", err));
    MODAL_TRY(modal_alloc_zero(&mass, n * n, sizeof *mass, "natural motions", err));
    MODAL_TRY(modal_alloc(&matrix, n * n, sizeof *matrix, "natural motions", err));
    MODAL_TRY(modal_alloc(&m->omega, n, sizeof *m->omega, "natural motions", err));
    MODAL_TRY(modal_alloc(&m->parts, n * n, sizeof *m->parts, "natural motions", err));
    MODAL_TRY(modal_alloc(&m->shares, n * n, sizeof *m->shares, "natural motions", err));
    if (!make_mass(t, n, first, fields, mass)) goto done;
    m->n = n;
    MODAL_TRY(solve_motions(n, mass, stiffness, matrix, m, err));
done:;
    void *arrays[] = {&first, &fields, &mass, &matrix, &stiffness};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) modal_free(arrays[i]);
    return status;
}
