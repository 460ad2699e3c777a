/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/forest/forest_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/reduced_step/reduced_force.h"
#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/forest/inertia.h"
#include "lib/scene/loads.h"

_Static_assert((int)MODAL_STEP_TABLE_MODES == (int)MODAL_CUBIC_MOST_MODES, "what a file has is what a step takes");

modal_status modal_forest_reserve(modal_forest_tables *tables, int64_t count, int64_t *at,
                                  modal_error *err)
{
    count = modal_step_padded(count);
    *at = tables->count;
    modal_status status = modal_grow(&tables->values, &tables->capacity, tables->count + count,
                                     sizeof(double), "tables of the bodies", err);
    if (status != MODAL_OK) return status;
    memset(tables->values + tables->count, 0, (size_t)count * sizeof(double));
    tables->count += count;
    return MODAL_OK;
}

/* The energy's coefficient of q_a q_b q_c q_d, in any order; where `cubic` is what there is, that of the force along the lowest of them
 * over its power. */
static double quartic_at(const modal_reduced_forces *f, int64_t r, int64_t a, int64_t b, int64_t c, int64_t d)
{
    int64_t of[4] = {a, b, c, d};
    for (int i = 1; i < 4; i++)
        for (int j = i; j > 0 && of[j] < of[j - 1]; j--) {
            const int64_t swap = of[j];
            of[j] = of[j - 1];
            of[j - 1] = swap;
        }
    if (f->quartic) return f->quartic[modal_quartic_index(r, of[0], of[1], of[2], of[3])];
    const double power = 1 + (of[1] == of[0]) + (of[2] == of[0]) + (of[3] == of[0]);
    return f->cubic[of[0] * modal_cubic_count(r) + modal_cubic_index(r, of[1], of[2], of[3])] / power;
}

/* K(q) = dF/dq from the coefficients of F. The energy's fourth derivative t is symmetric in all four
 * indices, and cubic[l, (i j k)] counts it once for every order of i j k. */
static void set_cubic(const modal_shape *shape, double *table)
{
    const int64_t r = shape->modes.n_modes, pairs = modal_step_pairs(r);
    const modal_reduced_forces *f = &shape->modes.reduced_forces;
    for (int64_t l = 0; l < r; l++)
        for (int64_t a = l; a < r; a++) {
            double *column = table + modal_quadratic_index(r, l, a);
            column[0] = 0.5 * (f->linear[l * r + a] + f->linear[a * r + l]);
            if (modal_step_stiffness_rows(r, 1) == 1) continue;
            for (int64_t j = 0; j < r; j++) {
                const int64_t pair = j < a ? modal_quadratic_index(r, j, a) : modal_quadratic_index(r, a, j);
                column[(1 + j) * pairs] =
                    (j == a ? 2 : 1) * f->quadratic[l * modal_quadratic_count(r) + pair];
            }
            for (int64_t i = 0; i < r; i++)
                for (int64_t j = i; j < r; j++) {
                    /* d/dq_a of the monomial (a i j): its power of a */
                    int64_t low = a < i ? a : i, high = a > j ? a : j, middle = a + i + j - low - high;
                    const double power = 1 + (a == i) + (a == j);
                    column[(1 + r + modal_quadratic_index(r, i, j)) * pairs] =
                        f->cubic ? power * f->cubic[l * modal_cubic_count(r) + modal_cubic_index(r, low, middle, high)]
                                 : power * (1 + (l == a) + (l == i) + (l == j)) * quartic_at(f, r, l, a, i, j);
                }
        }
}

/* The energy's unique coefficients: that of a monomial is its force's along any of its coordinates over the
 * power of that one. Rows (i, j) have their own places, and may be written by several threads. */
static void set_energy(const modal_shape *shape, int n_threads, double *table)
{
    const int64_t r = shape->modes.n_modes;
    const modal_reduced_forces *f = &shape->modes.reduced_forces;
    for (int64_t k = 0; k < r; k++)
        for (int64_t l = k; l < r; l++)
            table[modal_quadratic_index(r, k, l)] = (k == l ? 0.25 : 0.5) * (f->linear[k * r + l] + f->linear[l * r + k]);
    table += modal_step_pairs(r);
    for (int64_t j = 0; j < r; j++) {
        const int64_t first = modal_quadratic_index(r, j, j), row = modal_step_energy_row(r, j);
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(n_threads)) if (r > MODAL_CUBIC_MOST_MODES)
        for (int64_t i = -1; i <= j; i++) { /* -1: the cubic terms */
            double *own = table + (i + 1) * row;
            for (int64_t k = j; k < r; k++) {
                const int64_t at = modal_quadratic_index(r, k, k) - first;
                if (i >= 0 && f->quartic) /* its rows are those of the table */
                    memcpy(own + at, f->quartic + modal_quartic_index(r, i, j, k, k), (size_t)(r - k) * sizeof *own);
                for (int64_t l = k; l < r && (i < 0 || !f->quartic); l++)
                    own[at + l - k] = i >= 0 ? quartic_at(f, r, i, j, k, l)
                                             : f->quadratic[j * modal_quadratic_count(r) + modal_quadratic_index(r, k, l)] /
                                                   (1 + (k == j) + (l == j));
            }
        }
        table += (j + 2) * row;
    }
}

modal_status modal_forest_shape(modal_forest_tables *tables, const modal_shape *shape, int linear,
                                int turns, int n_threads, modal_step_shape *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_inertia inertia = {0};
    const int64_t r = shape->modes.n_modes, pairs = modal_step_pairs(r);
    *out = (modal_step_shape){.n_modes = (int32_t)r, .cubic = !linear, .mass = shape->modes.total_mass};
    if (!(shape->modes.mass_coupling <= 1e-6) || (linear && !(shape->modes.stiffness_coupling <= 1e-6)))
        MODAL_FAIL(err, MODAL_ERROR_INPUT,
                   "its imported columns are coupled, in the mass by %.3g, in the stiffness by %.3g",
                   shape->modes.mass_coupling, shape->modes.stiffness_coupling);
    if (!linear && r > 0 && !shape->modes.reduced_forces.linear)
        MODAL_FAIL(err, MODAL_ERROR_INPUT,
                   "no reduced forces in the basis (modalpack --reduced-forces makes them), and the "
                   "model is not linear");
    MODAL_TRY(modal_forest_reserve(tables, modal_step_stiffness_rows(r, !linear) * pairs, &out->stiffness, err));
    if (linear)
        for (int64_t k = 0; k < r; k++)
            tables->values[out->stiffness + modal_quadratic_index(r, k, k)] =
                shape->modes.eigenvalues[k] * shape->modes.modal_masses[k];
    else if (r > 0)
        set_cubic(shape, tables->values + out->stiffness);
    if (!linear && r > 0) {
        MODAL_TRY(modal_forest_reserve(tables, modal_step_energy_size(r), &out->energy, err));
        set_energy(shape, n_threads, tables->values + out->energy);
    }
    MODAL_TRY(modal_forest_reserve(tables, 4 * r, &out->masses, err));
    memcpy(tables->values + out->masses, shape->modes.modal_masses, (size_t)r * sizeof(double));
    memcpy(tables->values + out->masses + r, shape->modes.participation, (size_t)(3 * r) * sizeof(double));
    const int64_t moments = (1 + r) * modal_step_moments(r);
    MODAL_TRY(modal_forest_reserve(tables, moments, &out->inertia, err));
    if (turns) {
        MODAL_TRY(modal_inertia_compute(shape, n_threads, &inertia, err));
        out->mass = inertia.mass;
        memcpy(out->first, inertia.first, sizeof out->first);
        memcpy(out->second, inertia.second, sizeof out->second);
        memcpy(tables->values + out->inertia, inertia.moments, (size_t)moments * sizeof(double));
    }
done:
    modal_inertia_free(&inertia);
    return status;
}

modal_status modal_forest_damping(modal_forest_tables *tables, const modal_shape *shape,
                                  const modal_step_shape *prepared, const modal_body *body, int64_t *at,
                                  modal_error *err)
{
    const int64_t r = shape->modes.n_modes;
    modal_status status = modal_forest_reserve(tables, modal_step_pairs(r), at, err);
    if (status != MODAL_OK) return status;
    double *damping = tables->values + *at;
    const double *stiffness = tables->values + prepared->stiffness;
    const double beta = body->tangent && !body->linear ? 0 : body->beta; /* the tangent one's is the step's affair */
    for (int64_t i = 0; i < r * (r + 1) / 2; i++) damping[i] = beta * stiffness[i];
    for (int64_t k = 0; k < r; k++)
        damping[modal_quadratic_index(r, k, k)] +=
            (body->alpha + 2 * body->ratio * sqrt(shape->modes.eigenvalues[k])) * shape->modes.modal_masses[k];
    return MODAL_OK;
}

static double matrix_at(const modal_shape *shape, int64_t vertex, int32_t mode, int axis)
{
    const float *tile = modal_shape_tile(shape, vertex / MODAL_TILE);
    return (double)tile[(3 * (int64_t)mode + axis) * MODAL_TILE + vertex % MODAL_TILE];
}

/* ---- attached objects ---- */

typedef struct near_vertex {
    double distance;
    int64_t vertex;
} near_vertex;

static int compare_near(const void *a, const void *b)
{
    const near_vertex *x = a, *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return x->vertex < y->vertex ? -1 : x->vertex > y->vertex;
}

static void mean_of(const modal_surface *shape, const near_vertex *list, int64_t count, double *mean)
{
    for (int axis = 0; axis < 3; axis++) {
        mean[axis] = 0;
        for (int64_t i = 0; i < count; i++)
            mean[axis] += shape->rest_positions[3 * list[i].vertex + axis] / (double)count;
    }
}

/* Whether the vertices lie on one line, which leaves a turn about it undetermined: the second
 * invariant of their second moments is (sum of products of squared half-axes). */
static int on_a_line(const modal_surface *shape, const near_vertex *list, int64_t count)
{
    double mean[3], m[9] = {0};
    mean_of(shape, list, count, mean);
    for (int64_t i = 0; i < count; i++)
        for (int e = 0; e < 9; e++)
            m[e] += (shape->rest_positions[3 * list[i].vertex + e / 3] - mean[e / 3]) *
                    (shape->rest_positions[3 * list[i].vertex + e % 3] - mean[e % 3]);
    const double trace = m[0] + m[4] + m[8];
    const double second = m[0] * m[4] - m[1] * m[1] + m[4] * m[8] - m[5] * m[5] + m[0] * m[8] - m[2] * m[2];
    return !(second > 1e-3 * trace * trace);
}

/* Where the child's origin and axes are in the parent's. */
static void relative_pose(const double *parent_pose, const double *child_pose, double origin[3], double turn[9])
{
    for (int i = 0; i < 3; i++) {
        origin[i] = 0;
        for (int j = 0; j < 3; j++) {
            origin[i] += parent_pose[4 * j + i] * (child_pose[4 * j + 3] - parent_pose[4 * j + 3]);
            turn[3 * i + j] = 0;
            for (int k = 0; k < 3; k++) turn[3 * i + j] += parent_pose[4 * k + i] * child_pose[4 * k + j];
        }
    }
}

/* The middle of the child's fixed nodes (its origin where it has none), in the child's coordinates and in the parent's. */
static void find_hold(const double *parent_pose, const modal_solid *child, const double *child_pose, double centre[3], double at[3])
{
    double origin[3], turn[9];
    relative_pose(parent_pose, child_pose, origin, turn);
    for (int i = 0; i < 3; i++) centre[i] = 0;
    for (int64_t i = 0; i < child->n_fixed_nodes; i++)
        for (int axis = 0; axis < 3; axis++)
            centre[axis] += child->mesh.nodes[3 * child->fixed_nodes[i] + axis] /
                            (double)child->n_fixed_nodes;
    for (int i = 0; i < 3; i++)
        at[i] = origin[i] + turn[3 * i] * centre[0] + turn[3 * i + 1] * centre[1] + turn[3 * i + 2] * centre[2];
}

static double distance_to(const modal_shape *parent, int64_t v, const double at[3])
{
    const double *x = parent->surface.rest_positions + 3 * v;
    return sqrt(pow(x[0] - at[0], 2) + pow(x[1] - at[1], 2) + pow(x[2] - at[2], 2));
}

double modal_forest_gap(const modal_shape *parent, const double *parent_pose, const modal_solid *child, const double *child_pose)
{
    double centre[3], at[3], least = INFINITY;
    find_hold(parent_pose, child, child_pose, centre, at);
    for (int64_t v = 0; v < parent->surface.n_vertices; v++) least = fmin(least, distance_to(parent, v, at));
    return least;
}

/* The parent's vertices by their distance from the child's fixed nodes; the first *count are the interface. */
static modal_status find_interface(const modal_shape *parent, const double *parent_pose,
                                   const modal_solid *child, const double *child_pose, near_vertex **vertices,
                                   int64_t *n_vertices, modal_error *err)
{
    modal_status status = MODAL_OK;
    near_vertex *list = NULL;
    double centre[3], at[3], reach = 0;
    const int64_t n = parent->surface.n_vertices;
    find_hold(parent_pose, child, child_pose, centre, at);
    for (int64_t i = 0; i < child->n_fixed_nodes; i++) {
        double square = 0;
        for (int axis = 0; axis < 3; axis++)
            square += pow(child->mesh.nodes[3 * child->fixed_nodes[i] + axis] - centre[axis], 2);
        reach = fmax(reach, sqrt(square));
    }
    MODAL_TRY(modal_alloc(&list, n, sizeof *list, "interface", err));
    for (int64_t v = 0; v < n; v++) list[v] = (near_vertex){distance_to(parent, v, at), v};
    qsort(list, (size_t)n, sizeof *list, compare_near);
    int64_t count = n < 6 ? n : 6;
    while (count < n && list[count].distance <= 1.25 * reach) count++;
    while (count < n && on_a_line(&parent->surface, list, count)) count++;
    if (count < 3 || on_a_line(&parent->surface, list, count))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "the parent's surface gives no interface, its %lld vertices lie "
                                           "on a line",
                   (long long)n);

    *vertices = list;
    *n_vertices = count;
    list = NULL;
done:
    modal_free(&list);
    return status;
}

modal_status modal_forest_mark_interface(const modal_shape *parent, const double *parent_pose,
                                         const modal_shape *child, const double *child_pose, uint8_t *tiles,
                                         modal_error *err)
{
    near_vertex *list = NULL;
    int64_t count = 0;
    modal_status status = find_interface(parent, parent_pose, &child->solid, child_pose, &list, &count, err);
    for (int64_t i = 0; i < count; i++) tiles[list[i].vertex / MODAL_TILE] = 1;
    modal_free(&list);
    return status;
}

modal_status modal_forest_anchor(modal_forest_tables *tables, const modal_shape *parent,
                                 const double *parent_pose, const modal_shape *child,
                                 const double *child_pose, modal_step_object *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    near_vertex *list = NULL;
    int64_t count = 0;
    double origin[3], mean[3], size = 0;
    relative_pose(parent_pose, child_pose, origin, out->turn);
    MODAL_TRY(find_interface(parent, parent_pose, &child->solid, child_pose, &list, &count, err));
    mean_of(&parent->surface, list, count, mean);
    for (int64_t i = 0; i < count; i++)
        for (int axis = 0; axis < 3; axis++)
            size += pow(parent->surface.rest_positions[3 * list[i].vertex + axis] - mean[axis], 2);
    MODAL_TRY(modal_forest_reserve(tables, (1 + parent->modes.n_modes) * MODAL_STEP_ANCHOR, &out->anchor, err));
    for (int32_t k = -1; k < parent->modes.n_modes; k++) {
        double *row = tables->values + out->anchor + (1 + k) * MODAL_STEP_ANCHOR;
        for (int64_t i = 0; i < count; i++) {
            const int64_t v = list[i].vertex;
            for (int a = 0; a < 3; a++) {
                const double x = k < 0 ? parent->surface.rest_positions[3 * v + a] : matrix_at(parent, v, k, a);
                row[a] += x / (double)count;
                for (int b = 0; b < 3; b++)
                    row[3 + 3 * a + b] += (k < 0 ? x - mean[a] : x) *
                                          (parent->surface.rest_positions[3 * v + b] - mean[b]) / size;
            }
        }
    }
    for (int i = 0; i < 3; i++) out->offset[i] = origin[i] - mean[i];
done:
    modal_free(&list);
    return status;
}

/* ---- points ---- */

modal_status modal_forest_point(modal_forest_tables *tables, const modal_shape *shape,
                                const modal_body_point *point, int64_t *at, modal_error *err)
{
    modal_status status = modal_forest_reserve(tables, (1 + (int64_t)shape->modes.n_modes) * MODAL_STEP_POINT,
                                               at, err);
    double total = 0;
    if (status != MODAL_OK) return status;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t v = point->first_vertex; v < point->first_vertex + point->n_vertices; v++) {
            double area = point->n_vertices == 1 ? 1 : modal_surface_vertex_area(&shape->surface, v);
            if (pass == 0) {
                total += area;
                continue;
            }
            area = total > 0 ? area / total : 1 / (double)point->n_vertices;
            double *table = tables->values + *at;
            for (int axis = 0; axis < 3; axis++) {
                table[axis] += area * shape->surface.rest_positions[3 * v + axis];
                for (int32_t k = 0; k < shape->modes.n_modes; k++)
                    table[MODAL_STEP_POINT * (1 + k) + axis] += area * matrix_at(shape, v, k, axis);
            }
        }
    return MODAL_OK;
}
