/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/octree/measures.h"

#include <math.h>

#include "lib/base/memory.h"
#include "lib/mesh/tetrahedron.h"
#include "lib/octree/grid.h"
#include "lib/octree/paint_parts.h"

/* The larger of a triangle's two curvatures without their signs, 1/m; *area 0 where it has none. Along each edge the normal changes by the tensor
 * (A B, B C) times the edge, in the triangle's plane: three edges, least squares. */
static double bend_of(const modal_surface_mesh *s, const double *normals, int64_t t, double *area)
{
    const int32_t *v = s->triangles + 3 * t;
    double e[3][3], n[3], x[3], y[3], a = 0, b = 0, c = 0, r[3] = {0};
    for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++) e[j][k] = s->positions[3 * (int64_t)v[(j + 2) % 3] + k] - s->positions[3 * (int64_t)v[(j + 1) % 3] + k];
    modal_cross(e[0], e[1], n);
    const double twice = sqrt(modal_dot(n, n)), length = sqrt(modal_dot(e[0], e[0]));
    *area = 0.5 * twice;
    if (!(twice > 0)) return 0;
    for (int k = 0; k < 3; k++) x[k] = e[0][k] / length, n[k] /= twice;
    modal_cross(n, x, y);
    for (int j = 0; j < 3; j++) {
        double d[3];
        for (int k = 0; k < 3; k++) d[k] = normals[3 * (int64_t)v[(j + 2) % 3] + k] - normals[3 * (int64_t)v[(j + 1) % 3] + k];
        const double u = modal_dot(e[j], x), w = modal_dot(e[j], y), du = modal_dot(d, x), dw = modal_dot(d, y);
        a += u * u, b += u * w, c += w * w;
        r[0] += u * du, r[1] += w * du + u * dw, r[2] += w * dw;
    }
    const double det = (a + c) * (a * c - b * b); /* of a b 0, b a+c b, 0 b c */
    if (!(det > 0)) return 0;
    const double A = (r[0] * ((a + c) * c - b * b) - b * (r[1] * c - b * r[2])) / det, B = (a * (r[1] * c - b * r[2]) - r[0] * b * c) / det;
    const double C = (a * (a + c) * r[2] - a * b * r[1] - b * b * r[2] + b * b * r[0]) / det;
    return 0.5 * fabs(A + C) + hypot(0.5 * (A - C), B);
}

modal_status modal_octree_tight_share(const modal_surface_mesh *s, double cell, double *share, modal_error *err)
{
    double *normals = NULL, total = 0, tight = 0;
    const modal_status status = modal_paint_vertex_normals(s, &normals, err);
    if (status != MODAL_OK) return status;
    for (int64_t t = 0; t < s->n_triangles; t++) {
        double area;
        const double bend = bend_of(s, normals, t, &area);
        total += area;
        if (bend * 2 * cell > 1) tight += area;
    }
    *share = tight / total;
    modal_free(&normals);
    return MODAL_OK;
}

/* ---- what was painted ---- */

/* Values at the vertices, and which are in the texture. The caller frees both, also after an error. */
static modal_status look_up(const modal_octree *o, const modal_surface_mesh *s, void **values, uint8_t **found, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_octree_tables tables = {0};
    int64_t n_outside;
    MODAL_TRY(modal_alloc(values, s->n_vertices, modal_octree_value_bytes(o->channels), "values", err));
    MODAL_TRY(modal_alloc(found, s->n_vertices, 1, "values", err));
    MODAL_TRY(modal_octree_tables_make(o, &tables, err));
    MODAL_TRY(modal_octree_sample(&tables, MODAL_OCTREE_TRILINEAR, s->positions, s->n_vertices, *values, *found, &n_outside, err));
done:
    modal_octree_tables_free(&tables);
    return status;
}

static void finish(modal_octree_difference *d, double squares, double range, int width)
{
    d->psnr = squares > 0 ? 10 * log10(range * range * (double)d->n * width / squares) : INFINITY;
}

modal_status modal_octree_compare_colours(const modal_octree *o, const modal_surface_mesh *s, modal_octree_difference *d, modal_error *err)
{
    void *values = NULL;
    uint8_t *found = NULL;
    double squares = 0;
    *d = (modal_octree_difference){0};
    const modal_status status = look_up(o, s, &values, &found, err);
    for (int64_t v = 0; status == MODAL_OK && v < s->n_vertices; v++) {
        if (!found[v] || s->colours[4 * v + 3] < 255) continue;
        for (int k = 0; k < 3; k++) {
            const double off = (double)((uint8_t *)values)[4 * v + k] - (double)s->colours[4 * v + k];
            squares += off * off;
            d->largest = fmax(d->largest, fabs(off));
        }
        d->n++;
    }
    finish(d, squares, 255, 3);
    modal_free(&values);
    modal_free(&found);
    return status;
}

modal_status modal_octree_compare_field(const modal_octree *o, const modal_layer *layer, const modal_surface_mesh *s, const float *field,
                                        modal_octree_difference *d, modal_error *err)
{
    void *values = NULL;
    uint8_t *found = NULL;
    double squares = 0, range = 0;
    const int width = modal_octree_width(o->channels);
    *d = (modal_octree_difference){0};
    const modal_status status = look_up(o, s, &values, &found, err);
    for (int k = 0; k < width; k++) range = fmax(range, fabs(layer->to[k] - layer->from[k]));
    for (int64_t v = 0; status == MODAL_OK && v < s->n_vertices; v++) {
        if (!found[v]) continue;
        const double t = fmin(1, fmax(0, ((double)field[v] - layer->range[0]) / (layer->range[1] - layer->range[0])));
        for (int k = 0; k < width; k++) {
            const double off = (double)((float *)values)[width * v + k] - (layer->from[k] + t * (layer->to[k] - layer->from[k]));
            squares += off * off;
            d->largest = fmax(d->largest, fabs(off));
        }
        d->n++;
    }
    finish(d, squares, range, width);
    modal_free(&values);
    modal_free(&found);
    return status;
}
