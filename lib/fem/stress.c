/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/fem/stress.h"

#include <math.h>
#include <string.h>

#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/fem/enhanced.h"
#include "lib/fem/tetrahedron.h"
#include "lib/model/material.h"

enum { MOST_TERMS = 8, CHUNK = 512 };

/* value at node a = sum over the points q of continued[a][q] value_q */
typedef struct continuation {
    double at[MODAL_ELEMENT_MOST_NODES][MODAL_RULE_MOST_POINTS];
} continuation;

struct modal_stress {
    const modal_volume_mesh *mesh;
    modal_rule_table rules;
    continuation *continuations[MODAL_ELEMENT_TYPES]; /* of types but TET4 that occur */
    modal_law *laws[MODAL_LAWS];                      /* [n_materials] of those that are used */
    double *weights;                                  /* [n_nodes] one over the number of elements */
    const uint8_t *element_law;                       /* or NULL */
    const int32_t *patches;                           /* or NULL, and then so are the next two */
    int64_t *patch_offsets;                           /* [n_elements + 1] */
    int32_t *patch_elements;                          /* elements by patch, in order */
};

void modal_stress_set_laws(modal_stress *s, const uint8_t *element_law) { s->element_law = element_law; }

modal_status modal_stress_set_patches(modal_stress *s, const int32_t *patches, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = s->mesh->n_elements;
    modal_free(&s->patch_offsets), modal_free(&s->patch_elements);
    s->patches = NULL;
    MODAL_TRY(modal_alloc_zero(&s->patch_offsets, n + 1, sizeof *s->patch_offsets, "patches", err));
    MODAL_TRY(modal_alloc(&s->patch_elements, n, sizeof *s->patch_elements, "patches", err));
    int64_t *next = s->patch_offsets + 1, start = 0; /* where a patch continues; when all are full, its end */
    for (int64_t e = 0; e < n; e++)
        if (patches[e] >= 0) next[patches[e]]++;
    for (int64_t p = 0; p < n; p++) {
        const int64_t count = next[p];
        next[p] = start;
        start += count;
    }
    for (int64_t e = 0; e < n; e++)
        if (patches[e] >= 0) s->patch_elements[next[patches[e]]++] = (int32_t)e;
    s->patches = patches;
done:
    return status;
}

/* ---- from points to nodes ---- */

/* The terms of the polynomial at a reference point; returns their number. */
static int terms_at(modal_element_type type, const double p[3], double terms[MOST_TERMS])
{
    const double r = p[0], s = p[1], t = p[2], u = 1 - t, a = u > 0 ? r / u : 0, b = u > 0 ? s / u : 0;
    const double linear[4] = {1, r, s, t}, trilinear[8] = {1, r, s, t, r * s, s * t, t * r, r * s * t},
                 wedge[6] = {1, r, s, t, r * t, s * t}, pyramid[4] = {1, a, b, a * b};
    switch (type) {
    case MODAL_ELEMENT_TET10: memcpy(terms, linear, sizeof linear); return 4;
    case MODAL_ELEMENT_WEDGE6: memcpy(terms, wedge, sizeof wedge); return 6;
    case MODAL_ELEMENT_PYRAMID5: memcpy(terms, pyramid, sizeof pyramid); return 4;
    default: memcpy(terms, trilinear, sizeof trilinear); return 8;
    }
}

/* x = m^-1 x for a small symmetric positive definite m, which is destroyed. */
static void solve(int n, double m[MOST_TERMS][MOST_TERMS], double x[MOST_TERMS])
{
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++) {
            const double factor = m[i][k] / m[k][k];
            for (int j = k; j < n; j++) m[i][j] -= factor * m[k][j];
            x[i] -= factor * x[k];
        }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) x[k] -= m[k][j] * x[j];
        x[k] /= m[k][k];
    }
}

/* Least squares: through all points where there are as many terms as points. */
static void continue_to_nodes(modal_element_type type, const modal_element_rule *rule, continuation *c)
{
    double terms[MODAL_RULE_MOST_POINTS][MOST_TERMS];
    const modal_element_kind *kind = &modal_element_kinds[type];
    int n = 0;
    for (int q = 0; q < rule->n_points; q++) n = terms_at(type, rule->points[q], terms[q]);
    for (int a = 0; a < kind->n_nodes; a++) {
        double place[3], gram[MOST_TERMS][MOST_TERMS] = {{0}}, x[MOST_TERMS];
        const int edge = a - kind->n_corners;
        for (int k = 0; k < 3; k++)
            place[k] = edge < 0 ? modal_element_corners[type][a][k]
                                : (modal_element_corners[type][kind->edges[edge][0]][k] +
                                   modal_element_corners[type][kind->edges[edge][1]][k]) / 2;
        for (int q = 0; q < rule->n_points; q++)
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) gram[i][j] += terms[q][i] * terms[q][j];
        terms_at(type, place, x);
        solve(n, gram, x);
        for (int q = 0; q < rule->n_points; q++) {
            c->at[a][q] = 0;
            for (int i = 0; i < n; i++) c->at[a][q] += x[i] * terms[q][i];
        }
    }
}

/* ---- the plan ---- */

static modal_status check_elements(modal_stress *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_volume_mesh *mesh = s->mesh;
    uint8_t *used = NULL;
    MODAL_TRY(modal_alloc_zero(&used, mesh->n_materials, 1, "materials", err));
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const long long tag = (long long)mesh->element_tags[e];
        const int32_t m = mesh->element_material[e], *nodes = modal_mesh_nodes(mesh, e);
        const int type = mesh->element_type[e];
        if (m < 0 || m >= mesh->n_materials) MODAL_FAIL(err, MODAL_ERROR_INPUT, "element %lld: no material", tag);
        if (!used[m]) {
            MODAL_TRY(modal_material_check(&mesh->materials[m], err));
            for (int law = 0; law < MODAL_LAWS; law++)
                modal_law_init((modal_law_kind)law, &mesh->materials[m], &s->laws[law][m]);
            used[m] = 1;
        }
        const modal_measure found = modal_element_measure(mesh, e, &s->rules);
        const int sound = type == MODAL_ELEMENT_TET4 ? found.sign != 0 : found.sign > 0;
        if (!(sound && isfinite(found.volume))) {
            status = modal_element_refuse(mesh, e, &found, 1, err);
            goto done;
        }
        for (int a = 0; a < modal_element_kinds[type].n_nodes; a++) s->weights[nodes[a]] += 1;
    }
    for (int64_t i = 0; i < mesh->n_nodes; i++) s->weights[i] = s->weights[i] > 0 ? 1 / s->weights[i] : 0;
done:
    modal_free(&used);
    return status;
}

modal_status modal_stress_new(modal_stress **stress, const modal_volume_mesh *mesh, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_stress *s = NULL;
    *stress = NULL;
    MODAL_TRY(modal_alloc_zero(&s, 1, sizeof *s, "stress", err));
    s->mesh = mesh;
    MODAL_TRY(modal_rule_table_init(mesh, &s->rules, err));
    for (int law = 0; law < MODAL_LAWS; law++)
        MODAL_TRY(modal_alloc_zero(&s->laws[law], mesh->n_materials, sizeof *s->laws[law], "stress", err));
    MODAL_TRY(modal_alloc_zero(&s->weights, mesh->n_nodes, sizeof *s->weights, "stress", err));
    MODAL_TRY(check_elements(s, err));
    for (int type = 0; type < MODAL_ELEMENT_TYPES; type++) {
        if (!s->rules.rules[type]) continue;
        MODAL_TRY(modal_alloc(&s->continuations[type], 1, sizeof *s->continuations[type], "stress", err));
        continue_to_nodes((modal_element_type)type, &s->rules.rules[type][MODAL_INTEGRAL_STIFFNESS], s->continuations[type]);
    }
    *stress = s;
    s = NULL;
done:
    modal_stress_delete(s);
    return status;
}

modal_stress *modal_stress_delete(modal_stress *s)
{
    if (!s) return NULL;
    modal_rule_table_free(&s->rules);
    for (int type = 0; type < MODAL_ELEMENT_TYPES; type++) modal_free(&s->continuations[type]);
    for (int law = 0; law < MODAL_LAWS; law++) modal_free(&s->laws[law]);
    modal_free(&s->weights);
    modal_free(&s->patch_offsets), modal_free(&s->patch_elements);
    modal_free(&s);
    return NULL;
}

/* ---- values ---- */

static void to_six(const double t[9], double six[6])
{
    static const int place[6] = {0, 4, 8, 1, 5, 2};
    for (int k = 0; k < 6; k++) six[k] = t[place[k]];
}

static void from_six(const double six[6], double t[9])
{
    static const int place[9] = {0, 3, 5, 3, 1, 4, 5, 4, 2};
    for (int k = 0; k < 9; k++) t[k] = six[place[k]];
}

/* The direction of an element's fibres, or NULL. They count where each element has a law of its own. */
static const double *fibre_of(const modal_stress *s, int64_t e)
{
    const modal_material *material = &s->mesh->materials[s->mesh->element_material[e]];
    const double *own = s->mesh->element_fibres ? s->mesh->element_fibres + 3 * e : material->fibre;
    if (!s->element_law || !(material->fibre_stiffness > 0)) return NULL;
    return own[0] != 0 || own[1] != 0 || own[2] != 0 ? own : material->fibre;
}

/* The mean of H of a patch of TET4. */
static void patch_gradient(const modal_stress *s, int32_t patch, const double *u, double h[9])
{
    double volume = 0;
    for (int i = 0; i < 9; i++) h[i] = 0;
    for (int64_t k = s->patch_offsets[patch]; k < s->patch_offsets[patch + 1]; k++) {
        const int32_t *nodes = modal_mesh_nodes(s->mesh, s->patch_elements[k]);
        const double *x[4];
        double g[4][3];
        for (int a = 0; a < 4; a++) x[a] = s->mesh->nodes + 3 * (int64_t)nodes[a];
        const double own = modal_tetrahedron_gradients(x, g);
        volume += own;
        for (int i = 0; i < 36; i++) h[i % 9] += own * u[3 * (int64_t)nodes[i / 9] + i % 9 / 3] * g[i / 9][i % 3];
    }
    for (int i = 0; i < 9; i++) h[i] /= volume;
}

int modal_stress_element(const modal_stress *s, modal_law_kind kind, int64_t e, const double *u,
                         modal_stress_point points[MODAL_RULE_MOST_POINTS])
{
    static const double centre[4] = {0.25, 0.25, 0.25, 0.25};
    const modal_volume_mesh *mesh = s->mesh;
    const int type = mesh->element_type[e], n = modal_element_kinds[type].n_nodes;
    const int32_t *nodes = modal_mesh_nodes(mesh, e);
    const modal_law *law = &s->laws[s->element_law ? s->element_law[e] : kind][mesh->element_material[e]];
    const modal_element_rule *rule =
        type == MODAL_ELEMENT_TET4 ? NULL : &s->rules.rules[type][MODAL_INTEGRAL_STIFFNESS];
    const int n_points = rule ? rule->n_points : 1;
    const int enhancement = kind == MODAL_LAW_LINEAR ? modal_element_enhancement(mesh, e) : 0;
    const double *x[MODAL_ELEMENT_MOST_NODES], *moved[MODAL_ELEMENT_MOST_NODES];
    double gradient[MODAL_RULE_MOST_POINTS][9];
    for (int a = 0; a < n; a++) x[a] = mesh->nodes + 3 * (int64_t)nodes[a];
    for (int a = 0; a < n; a++) moved[a] = u + 3 * (int64_t)nodes[a];
    for (int q = 0; q < n_points; q++) {
        modal_stress_point *p = &points[q];
        const double *values = rule ? rule->values[q] : centre;
        double gradients[3 * MODAL_ELEMENT_MOST_NODES], *h = gradient[q];
        if (rule) {
            const double det = modal_element_gradients(n, rule->derivatives[q], x, gradients);
            for (int i = 0; i < 3 * n; i++) gradients[i] /= det;
            p->volume = rule->weights[q] * det;
        } else {
            p->volume = modal_tetrahedron_gradients(x, (double(*)[3])gradients);
        }
        for (int k = 0; k < 3; k++) p->place[k] = 0;
        for (int i = 0; i < 9; i++) h[i] = 0;
        for (int a = 0; a < n; a++) {
            for (int i = 0; i < 9; i++) h[i] += moved[a][i / 3] * gradients[3 * a + i % 3];
            for (int k = 0; k < 3; k++) p->place[k] += values[a] * x[a][k];
        }
    }
    if (s->patches && type == MODAL_ELEMENT_TET4 && s->patches[e] >= 0) patch_gradient(s, s->patches[e], u, gradient[0]);
    if (enhancement) modal_enhanced_gradients(enhancement, rule, x, &law->elasticity, moved, gradient);
    const double *fibre = fibre_of(s, e);
    for (int q = 0; q < n_points; q++) {
        modal_stress_point *p = &points[q];
        double t[9];
        modal_law_strain(law, gradient[q], t);
        to_six(t, p->strain);
        p->jacobian = modal_law_cauchy_stress(law, gradient[q], t);
        if (fibre) modal_law_add_fibres(mesh->materials[mesh->element_material[e]].fibre_stiffness, fibre, gradient[q], t);
        to_six(t, p->stress);
        p->von_mises = modal_von_mises(t);
    }
    return n_points;
}

/* R t R^T. */
static void turn_six(const double *pose, double six[6])
{
    double t[9], half[9], out[9];
    from_six(six, t);
    for (int i = 0; i < 9; i++) {
        half[i] = 0;
        for (int k = 0; k < 3; k++) half[i] += pose[4 * (i / 3) + k] * t[3 * k + i % 3];
    }
    for (int i = 0; i < 9; i++) {
        out[i] = 0;
        for (int k = 0; k < 3; k++) out[i] += half[3 * (i / 3) + k] * pose[4 * (i % 3) + k];
    }
    to_six(out, six);
}

/* What an element says of its nodes. */
typedef struct nodal {
    double strain[MODAL_ELEMENT_MOST_NODES][6], stress[MODAL_ELEMENT_MOST_NODES][6], jacobian[MODAL_ELEMENT_MOST_NODES];
} nodal;

static double pressure_of(const double six[6]) { return -(six[0] + six[1] + six[2]) / 3; }

static void put_cell(int n, const modal_stress_point *points, const double *turn, int64_t e, const modal_stress_arrays *out)
{
    double strain[6] = {0}, stress[6] = {0}, von_mises = 0, jacobian = 0, volume = 0;
    for (int q = 0; q < n; q++) volume += points[q].volume;
    for (int q = 0; q < n; q++) {
        const double weight = points[q].volume / volume;
        for (int k = 0; k < 6; k++) strain[k] += weight * points[q].strain[k];
        for (int k = 0; k < 6; k++) stress[k] += weight * points[q].stress[k];
        von_mises += weight * points[q].von_mises;
        jacobian += weight * points[q].jacobian;
    }
    if (turn) turn_six(turn, strain);
    if (turn) turn_six(turn, stress);
    if (out->cell_strain) memcpy(out->cell_strain + 6 * e, strain, sizeof strain);
    if (out->cell_stress) memcpy(out->cell_stress + 6 * e, stress, sizeof stress);
    if (out->cell_von_mises) out->cell_von_mises[e] = von_mises;
    if (out->cell_jacobian) out->cell_jacobian[e] = jacobian;
    if (out->cell_pressure) out->cell_pressure[e] = pressure_of(stress);
}

static void put_nodal(const modal_stress *s, int type, int n_points, const modal_stress_point *points, nodal *to)
{
    memset(to, 0, sizeof *to);
    for (int a = 0; a < modal_element_kinds[type].n_nodes; a++)
        for (int q = 0; q < n_points; q++) {
            const double weight = type == MODAL_ELEMENT_TET4 ? 1 : s->continuations[type]->at[a][q];
            for (int k = 0; k < 6; k++) to->strain[a][k] += weight * points[q].strain[k];
            for (int k = 0; k < 6; k++) to->stress[a][k] += weight * points[q].stress[k];
            to->jacobian[a] += weight * points[q].jacobian;
        }
}

/* Sums of a chunk, elements in order. */
static void add_nodal(const modal_stress *s, int64_t first, int64_t n, const nodal *from, double *strain, double *stress,
                      double *jacobian)
{
    for (int64_t i = 0; i < n; i++) {
        const int32_t *nodes = modal_mesh_nodes(s->mesh, first + i);
        for (int a = 0; a < modal_mesh_kind(s->mesh, first + i)->n_nodes; a++) {
            const double weight = s->weights[nodes[a]];
            for (int k = 0; strain && k < 6; k++) strain[6 * (int64_t)nodes[a] + k] += weight * from[i].strain[a][k];
            for (int k = 0; stress && k < 6; k++) stress[6 * (int64_t)nodes[a] + k] += weight * from[i].stress[a][k];
            if (jacobian) jacobian[nodes[a]] += weight * from[i].jacobian[a];
        }
    }
}

modal_status modal_stress_compute(const modal_stress *s, modal_law_kind law, const double *u, const double *turn,
                                  int n_threads, const modal_stress_arrays *out, int64_t *inverted, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_volume_mesh *mesh = s->mesh;
    const int64_t n_nodes = mesh->n_nodes;
    const int by_stress = out->node_von_mises || out->node_pressure;
    const int of_nodes = out->node_strain || out->node_stress || by_stress || out->node_jacobian;
    nodal *chunk = NULL;
    double *own = NULL, *stress = out->node_stress;
    int64_t worst = mesh->n_elements;
    *inverted = -1;
    if (of_nodes) MODAL_TRY(modal_alloc(&chunk, CHUNK, sizeof *chunk, "stress", err));
    if (by_stress && !stress) {
        MODAL_TRY(modal_alloc(&own, 6 * n_nodes, sizeof *own, "stress", err));
        stress = own;
    }
    if (out->node_strain) memset(out->node_strain, 0, (size_t)(6 * n_nodes) * sizeof(double));
    if (out->node_jacobian) memset(out->node_jacobian, 0, (size_t)n_nodes * sizeof(double));
    if (stress) memset(stress, 0, (size_t)(6 * n_nodes) * sizeof(double));
    for (int64_t first = 0; first < mesh->n_elements; first += CHUNK) {
        const int64_t n = mesh->n_elements - first < CHUNK ? mesh->n_elements - first : CHUNK;
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(n_threads)) reduction(min : worst)
        for (int64_t i = 0; i < n; i++) {
            modal_stress_point points[MODAL_RULE_MOST_POINTS];
            const int n_points = modal_stress_element(s, law, first + i, u, points);
            for (int q = 0; q < n_points; q++)
                if (!(points[q].jacobian > 0) && first + i < worst) worst = first + i;
            put_cell(n_points, points, turn, first + i, out);
            if (of_nodes) put_nodal(s, mesh->element_type[first + i], n_points, points, &chunk[i]);
        }
        if (of_nodes) add_nodal(s, first, n, chunk, out->node_strain, stress, out->node_jacobian);
    }
    for (int64_t i = 0; i < n_nodes; i++) {
        if (turn && out->node_strain) turn_six(turn, out->node_strain + 6 * i);
        if (turn && stress) turn_six(turn, stress + 6 * i);
        if (out->node_pressure) out->node_pressure[i] = pressure_of(stress + 6 * i);
        if (!out->node_von_mises) continue;
        double t[9];
        from_six(stress + 6 * i, t);
        out->node_von_mises[i] = modal_von_mises(t);
    }
    if (worst < mesh->n_elements) *inverted = worst;
done:
    modal_free(&chunk);
    modal_free(&own);
    return status;
}
