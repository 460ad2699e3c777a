/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of basis.md on values. Every array may be missing: then its rules are skipped. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/basis/basis_fields.h"
#include "formats/h5/rules.h"
#include "lib/base/memory.h"
#include "lib/model/material.h"

static const double two_pi = 6.283185307179586;

enum { WHERE = MODAL_H5_PATH };

/* where = path/group/name */
static const char *at(char where[WHERE], const char *path, const char *name)
{
    snprintf(where, WHERE, "%.120s/%.120s", path, name);
    return where;
}

static modal_status distinct_corners(const modal_checker *c, const char *where,
                                     const modal_surface *s)
{
    if (!s->triangles) return MODAL_OK;
    for (int64_t t = 0; t < s->n_triangles; t++) {
        const int32_t *v = s->triangles + 3 * t;
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0])
            return modal_broken(c, where, "row %lld: the same vertex twice, %d %d %d", (long long)t,
                                v[0], v[1], v[2]);
    }
    return MODAL_OK;
}

static modal_status surface_rules(const modal_checker *c, const char *path, const modal_surface *s)
{
    char where[WHERE];
    modal_status status = MODAL_OK;
    int64_t n = s->n_vertices, m = s->n_triangles;
    modal_axes axes = {"row", "column"};
    MODAL_TRY(modal_rule_finite(c, at(where, path, "surface/rest_positions"), s->rest_positions, n,
                                3, axes));
    MODAL_TRY(modal_rule_range(c, at(where, path, "surface/triangles"), s->triangles, m, 3, 0, n));
    MODAL_TRY(distinct_corners(c, where, s));
    MODAL_TRY(modal_rule_permutation(c, at(where, path, "surface/user_vertex"), s->user_vertex, n));
    MODAL_TRY(
        modal_rule_permutation(c, at(where, path, "surface/user_triangle"), s->user_triangle, m));
    MODAL_TRY(modal_rule_finite(c, at(where, path, "surface/uv"), s->uv, s->n_uv, 2, axes));
    if (s->uv)
        MODAL_TRY(modal_rule_range(c, at(where, path, "surface/triangle_uv"), s->triangle_uv, m, 3,
                                   0, s->n_uv));
done:
    return status;
}

/* Rule 7, of rows that ascend and end at 3 T: rows of triangles that all hold their vertex then have every triangle three times, and lack none.
 * stamp[w] counts the triangles that the current vertex shares with w, and is 0 again after each vertex. */
static modal_status tables_follow(const modal_checker *c, const char *path, const modal_surface *s)
{
    char where[WHERE];
    modal_status status = MODAL_OK;
    int32_t *stamp = NULL, bad_face = -1, bad_boundary = -1;
    MODAL_TRY(modal_alloc_zero(&stamp, s->n_vertices, sizeof *stamp, "triangles of vertices", c->err));
    if (s->face_offsets[s->n_vertices] != 3 * s->n_triangles)
        MODAL_TRY(modal_broken(c, at(where, path, "tables/faces"), "%lld values: must have the %lld triangles three times each",
                               (long long)s->face_offsets[s->n_vertices], (long long)s->n_triangles));
    for (int32_t v = 0; v < s->n_vertices; v++) {
        int open_edge = 0;
        const int64_t begin = s->face_offsets[v], end = s->face_offsets[v + 1];
        for (int64_t i = begin; i < end; i++) {
            const int32_t *t = s->triangles + 3 * (int64_t)s->faces[i];
            if (bad_face < 0 && t[0] != v && t[1] != v && t[2] != v) bad_face = v;
            for (int k = 0; k < 3; k++) stamp[t[k]]++;
        }
        for (int pass = 0; pass < 2; pass++)
            for (int64_t i = begin; i < end; i++)
                for (int k = 0; k < 3; k++) {
                    const int32_t w = s->triangles[3 * (int64_t)s->faces[i] + k];
                    if (pass) stamp[w] = 0;
                    else if (w != v && stamp[w] == 1) open_edge = 1;
                }
        if (bad_boundary < 0 && s->boundary && s->boundary[v] != open_edge) bad_boundary = v;
    }
    if (bad_face >= 0)
        MODAL_TRY(modal_broken(c, at(where, path, "tables/faces"), "row %d: not the triangles at this vertex", bad_face));
    if (bad_boundary >= 0)
        MODAL_TRY(modal_broken(c, at(where, path, "tables/boundary"), "value %d: not what the triangles say, %d", bad_boundary,
                               s->boundary[bad_boundary]));
done:
    modal_free(&stamp);
    return status;
}

/* True when every value lies in [0, high). */
static int in_range(const int32_t *values, int64_t n, int64_t high)
{
    if (!values) return 0;
    for (int64_t i = 0; i < n; i++)
        if (values[i] < 0 || values[i] >= high) return 0;
    return 1;
}

static modal_status table_rules(const modal_checker *c, const char *path, const modal_surface *s, const int64_t sizes[SIZE_COUNT])
{
    char where[WHERE];
    modal_status status = MODAL_OK;
    const int64_t n = s->n_vertices, n_faces = sizes[SIZE_FACES];
    int faces_sound = 0;
    MODAL_TRY(modal_rule_offsets(c, at(where, path, "tables/face_offsets"), s->face_offsets, n, n_faces, &faces_sound));
    MODAL_TRY(modal_rule_range(c, at(where, path, "tables/faces"), s->faces, n_faces, 1, 0, s->n_triangles));
    if (faces_sound) MODAL_TRY(modal_rule_ascending(c, where, s->face_offsets, s->faces, n_faces));
    for (int64_t v = 0; s->boundary && v < n; v++)
        if (s->boundary[v] > 1) {
            MODAL_TRY(modal_broken(c, at(where, path, "tables/boundary"), "value %lld: must be 0 or 1, is %d", (long long)v,
                                   s->boundary[v]));
            break;
        }
    if (faces_sound && in_range(s->triangles, 3 * s->n_triangles, n) && in_range(s->faces, n_faces, s->n_triangles))
        MODAL_TRY(tables_follow(c, path, s));
done:
    return status;
}

/* Of tiles of r modes, or NULL. */
static modal_status matrix_rules(const modal_checker *c, const char *where, int64_t n, int64_t r, const float *matrix)
{
    const int64_t tiles = modal_tile_count(n);
    if (!matrix) return MODAL_OK;
    modal_status status = modal_rule_finite_float(c, where, matrix, tiles, r * 3 * MODAL_TILE, (modal_axes){"tile", "value"});
    if (status != MODAL_OK || n % MODAL_TILE == 0) return status;
    const float *last = matrix + (tiles - 1) * r * 3 * MODAL_TILE;
    for (int64_t i = 0; i < r * 3; i++)
        for (int64_t lane = n % MODAL_TILE; lane < MODAL_TILE; lane++)
            if (!(last[i * MODAL_TILE + lane] == 0.0f))
                return modal_broken(c, where,
                                    "mode %lld, lane %lld of the last tile: past the last "
                                    "vertex, must be 0, is %g",
                                    (long long)(i / 3), (long long)lane,
                                    (double)last[i * MODAL_TILE + lane]);
    return MODAL_OK;
}

static modal_status spectrum_rules(const modal_checker *c, const char *path, const modal_shape *s)
{
    char where[WHERE];
    modal_status status = MODAL_OK;
    int64_t r = s->modes.n_modes;
    at(where, path, "modes/eigenvalues");
    MODAL_TRY(modal_rule_at_least(c, where, s->modes.eigenvalues, r, 0.0, 0));
    for (int64_t i = 1; s->modes.eigenvalues && s->modes.kind != MODAL_KIND_IMPORTED && i < r; i++)
        if (s->modes.eigenvalues[i] < s->modes.eigenvalues[i - 1]) {
            MODAL_TRY(modal_broken(c, where, "value %lld: not ascending, %g after %g", (long long)i,
                                   s->modes.eigenvalues[i], s->modes.eigenvalues[i - 1]));
            break;
        }
    at(where, path, "modes/frequencies");
    for (int64_t i = 0; s->modes.frequencies && i < r; i++) {
        if (!isfinite(s->modes.frequencies[i])) {
            MODAL_TRY(modal_broken(c, where, "value %lld: not finite, %g", (long long)i,
                                   s->modes.frequencies[i]));
            break;
        }
        if (!s->modes.eigenvalues || !(s->modes.eigenvalues[i] >= 0)) continue;
        double expected = sqrt(s->modes.eigenvalues[i]) / two_pi;
        if (!(fabs(s->modes.frequencies[i] - expected) <= 1e-9 * expected)) {
            MODAL_TRY(modal_broken(c, where,
                                   "value %lld: must be %.12g, as the eigenvalue says, is %.12g",
                                   (long long)i, expected, s->modes.frequencies[i]));
            break;
        }
    }
    MODAL_TRY(
        modal_rule_at_least(c, at(where, path, "modes/modal_masses"), s->modes.modal_masses, r, 0.0, 1));
    MODAL_TRY(modal_rule_at_least(c, at(where, path, "modes/residuals"), s->modes.residuals, r, 0.0, 0));
    if (s->modes.orthogonality)
        MODAL_TRY(modal_rule_at_least(c, at(where, path, "modes/orthogonality"), s->modes.orthogonality, r, 0.0, 0));
    if (s->modes.sturm_count) {
        const double *count = s->modes.sturm_count;
        MODAL_TRY(modal_rule_finite(c, at(where, path, "modes/sturm_count"), count, 3, 1,
                                    (modal_axes){"value", ""}));
        if (count[1] != count[2] || count[1] < 0)
            MODAL_TRY(modal_broken(c, at(where, path, "modes/sturm_count"),
                                   "%.17g eigenvalues counted, %.17g known", count[1], count[2]));
    }
    MODAL_TRY(modal_rule_finite(c, at(where, path, "modes/participation"), s->modes.participation, r, 3,
                                (modal_axes){"mode", "axis"}));
    MODAL_TRY(modal_rule_finite(c, at(where, path, "modes/rigid_eigenvalues"), s->modes.rigid_eigenvalues,
                                s->modes.n_rigid_modes, 1, (modal_axes){"value", ""}));
    MODAL_TRY(modal_rule_finite(c, at(where, path, "modes@shift"), &s->modes.shift, 1, 1,
                                (modal_axes){"value", ""}));
    MODAL_TRY(
        modal_rule_at_least(c, at(where, path, "modes@total_mass"), &s->modes.total_mass, 1, 0.0,
                            (s->modes.kind != MODAL_KIND_IMPORTED && r > 0) || s->solid.mesh.n_nodes > 0));
    MODAL_TRY(modal_rule_at_least(c, at(where, path, "modes@mass_coupling"), &s->modes.mass_coupling, 1, 0.0, 0));
    MODAL_TRY(modal_rule_at_least(c, at(where, path, "modes@stiffness_coupling"), &s->modes.stiffness_coupling,
                                  1, 0.0, 0));
    if ((unsigned)s->modes.mass_rule > 1)
        MODAL_TRY(modal_broken(c, at(where, path, "modes@mass_rule"), "must be 0 or 1, is %d",
                               (int)s->modes.mass_rule));
    if ((unsigned)s->modes.kind > MODAL_KIND_IMPORTED)
        MODAL_TRY(modal_broken(c, at(where, path, "modes@kind"), "must be 0 to 3, is %d",
                               (int)s->modes.kind));
done:
    return status;
}

/* The place of the monomial of these factors; b <= c, of which degree 0 has none and degree 1 only b. */
static int64_t monomial(int64_t r, int degree, int64_t a, int64_t b, int64_t c)
{
    if (degree == 0) return a;
    if (degree == 1) return a <= b ? modal_quadratic_index(r, a, b) : modal_quadratic_index(r, b, a);
    if (a <= b) return modal_cubic_index(r, a, b, c);
    return a <= c ? modal_cubic_index(r, b, a, c) : modal_cubic_index(r, b, c, a);
}

/* Rule 14: force l has, for the monomial q_i q_j q_k, the energy's coefficient of the set (l i j k)
 * times the number of times that l occurs in it. So force / number must be the same for every l of a
 * set: each is compared with that of the smallest index. */
static modal_status is_gradient(const modal_checker *c, const char *where, const double *values,
                                int64_t r, int degree)
{
    const int64_t width =
        degree == 0 ? r : degree == 1 ? modal_quadratic_count(r) : modal_cubic_count(r);
    double top = 0, worst = 0;
    int64_t row = 0, column = 0, at_column = 0;
    for (int64_t m = 0; m < r * width; m++) top = fmax(top, fabs(values[m]));
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = degree < 1 ? r - 1 : i; j < r; j++)
            for (int64_t k = degree < 2 ? r - 1 : j; k < r; k++, column++)
                for (int64_t l = i + 1; l < r; l++) {
                    const int has_j = degree > 0, has_k = degree > 1;
                    const int of_l = 1 + (has_j && l == j) + (has_k && l == k),
                              of_i = 1 + (has_j && i == j) + (has_k && i == k);
                    const double other = values[i * width + monomial(r, degree, l, j, k)];
                    const double error = fabs(values[l * width + column] / of_l - other / of_i);
                    if (error > worst) worst = error, row = l, at_column = column;
                }
    if (!(worst > 1e-9 * top)) return MODAL_OK;
    return modal_broken(c, where, "row %lld, column %lld: not the gradient of an energy, off by %g",
                        (long long)row, (long long)at_column, worst);
}

/* The slow motions that a basis leaves out. */
static modal_status slow_rules(const modal_checker *c, const char *path, const modal_shape *s)
{
    char where[WHERE];
    modal_status status = MODAL_OK;
    const modal_left_out *l = &s->modes.left_out;
    if (!l->slow_eigenvalues) goto done;
    MODAL_TRY(modal_rule_at_least(c, at(where, path, "truncation/slow_eigenvalues"), l->slow_eigenvalues, l->n_slow, 0.0, 1));
    MODAL_TRY(modal_rule_finite(c, at(where, path, "truncation/slow_participation"), l->slow_participation, l->n_slow, 3,
                                (modal_axes){"motion", "axis"}));
    if (l->slow_scales) MODAL_TRY(modal_rule_at_least(c, at(where, path, "truncation/slow_scales"), l->slow_scales, l->n_slow, 0.0, 0));
    const int64_t n = s->surface.n_vertices, first = n - n % MODAL_TILE;
    for (int64_t i = 0; l->slow_bytes && first < n && i < 3 * (int64_t)l->n_slow; i++)
        for (int64_t lane = n - first; lane < MODAL_TILE; lane++)
            if (l->slow_bytes[(first / MODAL_TILE * 3 * l->n_slow + i) * MODAL_TILE + lane] != MODAL_SLOW_ZERO)
                return modal_broken(c, at(where, path, "truncation/slow_matrix"), "row %lld, lane %lld: must be %d past the last vertex",
                                    (long long)i, (long long)lane, MODAL_SLOW_ZERO);
done:
    return status;
}

static modal_status reduced_rules(const modal_checker *c, const char *path, const modal_shape *s,
                                  int deep)
{
    char where[WHERE];
    modal_status status = MODAL_OK;
    const modal_reduced_forces *f = &s->modes.reduced_forces;
    const int64_t r = s->modes.n_modes;
    const struct {
        const char *name;
        const double *values;
        int64_t width;
    } parts[] = {{"reduced_forces/linear", f->linear, r},
                 {"reduced_forces/quadratic", f->quadratic, modal_quadratic_count(r)},
                 {"reduced_forces/cubic", f->cubic, modal_cubic_count(r)}};
    const modal_reduced_forces *more = &s->modes.left_out.forces;
    const double *left_out[] = {more->linear, more->quadratic, more->cubic};
    static const char *const names[] = {"truncation/linear", "truncation/quadratic", "truncation/cubic"};
    for (int degree = 0; degree < 3; degree++)
        if (left_out[degree])
            MODAL_TRY(modal_rule_finite(c, at(where, path, names[degree]), left_out[degree], s->modes.left_out.n,
                                        parts[degree].width, (modal_axes){"row", "column"}));
    MODAL_TRY(slow_rules(c, path, s));
    for (int degree = 0; degree < 3; degree++) {
        if (!parts[degree].values) continue;
        MODAL_TRY(modal_rule_finite(c, at(where, path, parts[degree].name), parts[degree].values, r,
                                    parts[degree].width, (modal_axes){"row", "column"}));
        if (deep) MODAL_TRY(is_gradient(c, where, parts[degree].values, r, degree));
    }
    if (f->quartic)
        MODAL_TRY(modal_rule_finite(c, at(where, path, "reduced_forces/quartic"), f->quartic, modal_quartic_count(r), 1,
                                    (modal_axes){"value", ""}));
done:
    return status;
}

/* With inner_modes each vertex is a node of its own. */
static modal_status distinct_nodes(const modal_checker *c, const char *where, const modal_shape *s)
{
    modal_status status = MODAL_OK;
    uint8_t *seen = NULL;
    MODAL_TRY(modal_alloc_zero(&seen, s->solid.mesh.n_nodes, 1, "embedding", c->err));
    for (int64_t v = 0; v < s->surface.n_vertices; v++) {
        const int32_t node = s->embedding.nodes[v];
        if (node < 0 || node >= s->solid.mesh.n_nodes) break; /* reported */
        if (seen[node]++) {
            MODAL_TRY(modal_broken(c, where, "row %lld: the same node again, %d", (long long)v, node));
            break;
        }
    }
done:
    modal_free(&seen);
    return status;
}

/* Weights by rows of sound offsets. */
static modal_status weight_rules(const modal_checker *c, const char *where, const modal_shape *s)
{
    for (int64_t v = 0; v < s->surface.n_vertices; v++) {
        double sum = 0;
        for (int64_t i = s->embedding.offsets[v]; i < s->embedding.offsets[v + 1]; i++) sum += s->embedding.weights[i];
        if (!(fabs(sum - 1.0) <= 1e-6))
            return modal_broken(c, where, "row %lld: must add up to 1, is %g", (long long)v, sum);
    }
    return MODAL_OK;
}

static modal_status embedding_rules(const modal_checker *c, const char *path, const modal_shape *s, int64_t n_values)
{
    char where[WHERE];
    modal_status status = MODAL_OK;
    const int embedded = s->embedding.kind == MODAL_SURFACE_EMBEDDED;
    int sound = 0;
    if (s->embedding.nodes) {
        if (!s->embedding.offsets != !embedded)
            MODAL_TRY(modal_broken(c, at(where, path, "volume/embedding_offsets"),
                                   embedded ? "missing" : "must not be there where vertices are nodes"));
        if (!s->embedding.weights != !embedded)
            MODAL_TRY(modal_broken(c, at(where, path, "volume/embedding_weights"),
                                   embedded ? "missing" : "must not be there where vertices are nodes"));
    }
    at(where, path, "volume/embedding_nodes");
    if (s->embedding.nodes && !embedded && n_values != s->surface.n_vertices)
        MODAL_TRY(modal_broken(c, where, "must be one for each of %lld vertices, %lld", (long long)s->surface.n_vertices,
                               (long long)n_values));
    else if (s->embedding.nodes && s->solid.inner_modes && !embedded)
        MODAL_TRY(distinct_nodes(c, where, s));
    MODAL_TRY(modal_rule_range(c, where, s->embedding.nodes, n_values, 1, 0, s->solid.mesh.n_nodes));
    at(where, path, "volume/embedding_offsets");
    MODAL_TRY(modal_rule_offsets(c, where, s->embedding.offsets, s->surface.n_vertices, n_values, &sound));
    for (int64_t v = 0; sound && v < s->surface.n_vertices; v++)
        if (s->embedding.offsets[v + 1] == s->embedding.offsets[v]) {
            MODAL_TRY(modal_broken(c, where, "row %lld: no nodes", (long long)v));
            break;
        }
    at(where, path, "volume/embedding_weights");
    if (sound && s->embedding.weights) MODAL_TRY(weight_rules(c, where, s));
    MODAL_TRY(modal_rule_at_least(c, at(where, path, "volume@farthest_outside"),
                                  &s->embedding.farthest_outside, 1, 0.0, 0));
    if ((unsigned)s->embedding.kind > 1)
        MODAL_TRY(modal_broken(c, at(where, path, "volume@surface_kind"), "must be 0 or 1, is %d",
                               (int)s->embedding.kind));
done:
    return status;
}

static modal_status group_rules(const modal_checker *c, const char *path,
                                const modal_volume_mesh *v)
{
    char where[WHERE], name[64];
    modal_status status = MODAL_OK;
    for (int32_t i = 0; i < v->n_groups; i++) {
        const modal_group *g = &v->groups[i];
        snprintf(name, sizeof name, "groups/%04d/nodes", i);
        MODAL_TRY(
            modal_rule_range(c, at(where, path, name), g->nodes, g->n_nodes, 1, 0, v->n_nodes));
        MODAL_TRY(modal_rule_ascending(c, where, NULL, g->nodes, g->n_nodes));
        snprintf(name, sizeof name, "groups/%04d/elements", i);
        MODAL_TRY(modal_rule_range(c, at(where, path, name), g->elements, g->n_elements, 1, 0,
                                   v->n_elements));
        MODAL_TRY(modal_rule_ascending(c, where, NULL, g->elements, g->n_elements));
        if (g->dimension != 3 && g->n_elements > 0)
            MODAL_TRY(modal_broken(c, where, "must be empty for a group of dimension %d, has %lld",
                                   g->dimension, (long long)g->n_elements));
        snprintf(name, sizeof name, "groups/%04d@dimension", i);
        if (g->dimension < 0 || g->dimension > 3)
            MODAL_TRY(
                modal_broken(c, at(where, path, name), "must be 0 to 3, is %d", g->dimension));
    }
done:
    return status;
}

static modal_status material_rules(const modal_checker *c, const char *path,
                                   const modal_volume_mesh *v)
{
    char where[WHERE], name[64];
    modal_status status = MODAL_OK;
    for (int32_t i = 0; i < v->n_materials; i++) {
        const modal_material *m = &v->materials[i];
        if (m->kind == MODAL_MATERIAL_ORTHOTROPIC || modal_material_says_more(m)) {
            modal_error found = {0};
            snprintf(name, sizeof name, "materials/%04d", i);
            if (modal_material_check(m, &found) != MODAL_OK)
                MODAL_TRY(modal_broken(c, at(where, path, name), "%.300s", found.message));
            continue;
        }
        snprintf(name, sizeof name, "materials/%04d@young", i);
        MODAL_TRY(modal_rule_at_least(c, at(where, path, name), &m->young, 1, 0.0, 1));
        snprintf(name, sizeof name, "materials/%04d@poisson", i);
        if (!(m->poisson > -1.0 && m->poisson < 0.5))
            MODAL_TRY(modal_broken(c, at(where, path, name), "must lie between -1 and 0.5, is %g",
                                   m->poisson));
        snprintf(name, sizeof name, "materials/%04d@density", i);
        MODAL_TRY(modal_rule_at_least(c, at(where, path, name), &m->density, 1, 0.0, 1));
    }
done:
    return status;
}

/* Unit vectors, or 0 where the material has a direction, or no fibres. */
static modal_status fibre_rules(const modal_checker *c, const char *fibres, const modal_volume_mesh *v)
{
    for (int64_t e = 0; v->element_fibres && e < v->n_elements; e++) {
        const double *a = v->element_fibres + 3 * e, length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
        if (!(length == 0 || fabs(length - 1) <= 1e-6))
            return modal_broken(c, fibres, "element %lld: must have the length 1 or 0, %g", (long long)e,
                                length);
    }
    for (int64_t e = 0; v->element_material && v->materials && e < v->n_elements; e++) {
        const int32_t k = v->element_material[e];
        if (k < 0 || k >= v->n_materials || v->materials[k].fibre_stiffness == 0) continue;
        const double *a = v->element_fibres ? v->element_fibres + 3 * e : v->materials[k].fibre, *b = v->materials[k].fibre;
        if (a[0] == 0 && a[1] == 0 && a[2] == 0 && b[0] == 0 && b[1] == 0 && b[2] == 0)
            return modal_broken(c, fibres, "element %lld: its fibres have no direction", (long long)e);
    }
    return MODAL_OK;
}

modal_status modal_basis_rules_solid(const modal_checker *c, const char *path, const char *fibres, const modal_volume_mesh *v)
{
    modal_status status = MODAL_OK;
    char where[WHERE];
    MODAL_TRY(modal_rule_range(c, at(where, path, "element_material"), v->element_material, v->n_elements, 1, 0, v->n_materials));
    MODAL_TRY(group_rules(c, path, v));
    MODAL_TRY(material_rules(c, path, v));
    MODAL_TRY(fibre_rules(c, fibres, v));
done:
    return status;
}

static modal_status element_rules(const modal_checker *c, const char *path, const modal_volume_mesh *v, int64_t n_values)
{
    char where[WHERE];
    modal_status status = MODAL_OK;
    int typed = v->element_type != NULL;
    for (int64_t e = 0; typed && e < v->n_elements; e++)
        if (v->element_type[e] >= MODAL_ELEMENT_TYPES) {
            typed = 0;
            MODAL_TRY(modal_broken(c, at(where, path, "volume/element_types"),
                                   "value %lld: must be 0 to %d, is %d", (long long)e,
                                   MODAL_ELEMENT_TYPES - 1, v->element_type[e]));
        }
    if (typed && v->element_offsets && v->element_nodes && v->element_offsets[v->n_elements] != n_values)
        MODAL_TRY(modal_broken(c, at(where, path, "volume/element_nodes"), "must be %lld, as the types say, are %lld",
                               (long long)v->element_offsets[v->n_elements], (long long)n_values));
    MODAL_TRY(modal_rule_range(c, at(where, path, "volume/element_nodes"), v->element_nodes, n_values,
                               1, 0, v->n_nodes));
done:
    return status;
}

static modal_status fixed_rules(const modal_checker *c, const char *path, const modal_solid *s)
{
    char where[WHERE];
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_rule_range(c, at(where, path, "volume/fixed_nodes"), s->fixed_nodes,
                               s->n_fixed_nodes, 1, 0, s->mesh.n_nodes));
    MODAL_TRY(modal_rule_ascending(c, where, NULL, s->fixed_nodes, s->n_fixed_nodes));
    for (int64_t i = 0; s->fixed_components && i < s->n_fixed_nodes; i++)
        if (s->fixed_components[i] < 1 || s->fixed_components[i] > MODAL_FIXED_ALL) {
            MODAL_TRY(modal_broken(c, at(where, path, "volume/fixed_components"),
                                   "value %lld: must be 1 to 7, is %d", (long long)i,
                                   s->fixed_components[i]));
            break;
        }
done:
    return status;
}

static modal_status volume_rules(const modal_checker *c, const char *path, const modal_shape *s, const int64_t sizes[SIZE_COUNT])
{
    char where[WHERE], volume[WHERE], fibres[WHERE];
    modal_status status = MODAL_OK;
    const modal_volume_mesh *v = &s->solid.mesh;
    MODAL_TRY(modal_rule_finite(c, at(where, path, "volume/nodes"), v->nodes, v->n_nodes, 3,
                                (modal_axes){"row", "column"}));
    MODAL_TRY(element_rules(c, path, v, sizes[SIZE_ELEMENT_NODES]));
    MODAL_TRY(fixed_rules(c, path, &s->solid));
    MODAL_TRY(modal_rule_finite(c, at(where, path, "volume/volume_modes"), s->solid.volume_modes,
                                s->modes.n_modes, 3 * v->n_nodes, (modal_axes){"mode", "value"}));
    MODAL_TRY(modal_rule_finite_float(c, where, s->solid.volume_modes_float, s->modes.n_modes, 3 * v->n_nodes,
                                      (modal_axes){"mode", "value"}));
    MODAL_TRY(modal_rule_finite_float(c, at(where, path, "volume/inner_modes"), s->solid.inner_modes, s->modes.n_modes,
                                      3 * (v->n_nodes - s->surface.n_vertices), (modal_axes){"mode", "value"}));
    MODAL_TRY(modal_basis_rules_solid(c, at(volume, path, "volume"), at(fibres, path, "volume/fibres"), v));
    MODAL_TRY(embedding_rules(c, path, s, sizes[SIZE_EMBEDDED]));
done:
    return status;
}

/* Names end in line ends, none is empty, and triangles have none or one of them; corners have numbers of normals. */
static modal_status look_rules(const modal_checker *c, const char *path, const modal_shape *s)
{
    modal_status status = MODAL_OK;
    char where[WHERE];
    const modal_shape_look *look = &s->look;
    for (int64_t i = 0; i < look->names_bytes; i++) {
        const int end = look->material_names[i] == '\n', begin = i == 0 || look->material_names[i - 1] == '\n';
        if ((end ? begin : look->material_names[i] < 32) || (!end && i == look->names_bytes - 1)) {
            MODAL_TRY(modal_broken(c, at(where, path, "look/material_names"),
                                   "byte %lld: an empty name, a control character, or no line end after the last", (long long)i));
            break;
        }
    }
    if (look->triangle_material && look->material_names)
        MODAL_TRY(modal_rule_range(c, at(where, path, "look/triangle_material"), look->triangle_material,
                                   s->surface.n_triangles, 1, -1, modal_look_count(look)));
    MODAL_TRY(modal_rule_range(c, at(where, path, "surface/corner_normals"), look->triangle_normal, s->surface.n_triangles, 3, 0,
                               3 * s->surface.n_triangles));
done:
    return status;
}

modal_status modal_basis_rules_shape(const modal_checker *c, const char *path, const modal_shape *s,
                                     const int64_t sizes[SIZE_COUNT], int deep)
{
    modal_status status = MODAL_OK;
    char where[WHERE];
    const struct {
        const char *name;
        int64_t n, least;
    } counts[] = {{"surface/rest_positions", s->surface.n_vertices, 1},
                  {"surface/triangles", s->surface.n_triangles, 1},
                  {"surface/uv", s->surface.n_uv, 0},
                  {"modes/modal_matrix", s->modes.n_modes, 0},
                  {"modes/rigid_eigenvalues", s->modes.n_rigid_modes, 0},
                  {"volume/nodes", s->solid.mesh.n_nodes, 0},
                  {"volume/element_types", s->solid.mesh.n_elements, 0}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].n < counts[i].least || counts[i].n > INT32_MAX)
            MODAL_TRY(modal_broken(c, at(where, path, counts[i].name),
                                   "number of rows must be %lld to %d, is %lld",
                                   (long long)counts[i].least, INT32_MAX, (long long)counts[i].n));
    MODAL_TRY(surface_rules(c, path, &s->surface));
    MODAL_TRY(table_rules(c, path, &s->surface, sizes));
    MODAL_TRY(matrix_rules(c, at(where, path, "modes/modal_matrix"), s->surface.n_vertices, s->modes.n_modes, s->modes.modal_matrix));
    if (s->modes.eigenvalues || s->modes.frequencies) MODAL_TRY(spectrum_rules(c, path, s));
    MODAL_TRY(reduced_rules(c, path, s, deep));
    MODAL_TRY(look_rules(c, path, s));
    if (s->solid.mesh.n_nodes > 0 && (s->source || s->solid.mesh.nodes || s->solid.mesh.element_nodes || s->solid.volume_modes || s->solid.volume_modes_float))
        MODAL_TRY(volume_rules(c, path, s, sizes));
done:
    return status;
}

/* Each object is walked from once: state 0 unseen, 1 on the way, 2 known to end. */
static modal_status parents_end(const modal_checker *c, const modal_basis *b)
{
    modal_status status = MODAL_OK;
    uint8_t *state = NULL;
    MODAL_TRY(modal_alloc_zero(&state, b->n_objects, sizeof *state, "parents", c->err));
    for (int32_t i = 0; i < b->n_objects; i++) {
        int32_t j = i;
        for (; j >= 0 && state[j] == 0; j = b->objects[j].parent) state[j] = 1;
        if (j >= 0 && state[j] == 1) {
            status =
                modal_broken(c, "/objects/parent", "object %d: its parents run in a circle", j);
            break;
        }
        for (j = i; j >= 0 && state[j] == 1; j = b->objects[j].parent) state[j] = 2;
    }
done:
    modal_free(&state);
    return status;
}

modal_status modal_basis_rules_objects(const modal_checker *c, const modal_basis *b)
{
    modal_status status = MODAL_OK;
    int linked = 1;
    for (int32_t i = 0; i < b->n_objects; i++) {
        const modal_object *o = &b->objects[i];
        if (o->shape < 0 || o->shape >= b->n_shapes)
            MODAL_TRY(modal_broken(c, "/objects/shape", "object %d: outside [0, %d), %d", i,
                                   b->n_shapes, o->shape));
        if (o->parent < -1 || o->parent >= b->n_objects) {
            linked = 0;
            MODAL_TRY(modal_broken(c, "/objects/parent", "object %d: outside [-1, %d), %d", i,
                                   b->n_objects, o->parent));
        }
        MODAL_TRY(modal_rule_rest_pose(c, "/objects/rest_pose", o->rest_pose, i));
    }
    if (linked) MODAL_TRY(parents_end(c, b));
done:
    return status;
}
