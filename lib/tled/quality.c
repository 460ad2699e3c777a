/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/tled/quality.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/mesh/shells.h"
#include "lib/tled/contacts.h"
#include "lib/tled/faces.h"

static double distance(const double a[3], const double b[3])
{
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

/* Which bodies all corners of a face are kept off, and the mean edge of the faces. */
static modal_status measure_faces(modal_tled_quality *q, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = &q->model->solid;
    uint32_t *of = NULL;
    double edges = 0;
    int64_t n_edges = 0;
    MODAL_TRY(modal_alloc_zero(&of, s->n_nodes, sizeof *of, "bodies", err));
    MODAL_TRY(modal_alloc(&q->masks, q->n_faces, sizeof *q->masks, "bodies", err));
    for (int64_t k = 0; k < s->n_touching; k++) of[s->touching[k]] = s->touching_masks[k];
    for (int64_t f = 0; f < q->n_faces; f++) {
        const int32_t *corner = q->faces + 4 * f;
        const int n = corner[3] < 0 ? 3 : 4;
        q->masks[f] = ~0u;
        for (int a = 0; a < n; a++) {
            q->masks[f] &= of[corner[a]];
            edges += distance(s->nodes + 3 * (int64_t)corner[a], s->nodes + 3 * (int64_t)corner[(a + 1) % n]);
        }
        n_edges += n;
    }
    q->mean_edge = n_edges > 0 ? edges / (double)n_edges : 0;
done:
    modal_free(&of);
    return status;
}

modal_status modal_tled_quality_new(const modal_tled_model *model, const modal_solid_scene *scene, modal_tled_quality *q, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = &model->solid;
    double own = 0, all = 0;
    *q = (modal_tled_quality){.model = model, .scene = scene};
    for (int64_t i = 0; i < s->n_nodes; i++) own += s->weights ? s->weights[i] : s->mass[i], all += s->mass[i];
    q->added_mass = s->weights ? all / own - 1 : 0;
    if (s->n_contacts > 0) {
        MODAL_TRY(modal_tled_boundary(s, &q->faces, &q->n_faces, err));
        MODAL_TRY(measure_faces(q, err));
    }
done:
    if (status != MODAL_OK) modal_tled_quality_free(q);
    return status;
}

void modal_tled_quality_free(modal_tled_quality *q)
{
    modal_free(&q->faces);
    modal_free(&q->masks);
    *q = (modal_tled_quality){0};
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* The point of a segment that is nearest to x. */
static void nearest_of_segment(const double a[3], const double b[3], const double x[3], double to[3])
{
    const double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, e[3] = {x[0] - a[0], x[1] - a[1], x[2] - a[2]};
    const double length = dot(d, d), t = length > 0 ? fmin(fmax(dot(d, e) / length, 0), 1) : 0;
    for (int i = 0; i < 3; i++) to[i] = a[i] + t * d[i];
}

/* That of a triangle: inside of it where x stands over it, else of the nearest edge. */
static void nearest_of_triangle(const double corner[3][3], const double x[3], double to[3])
{
    double e[2][3], r[3], best = HUGE_VAL;
    for (int i = 0; i < 3; i++) e[0][i] = corner[1][i] - corner[0][i], e[1][i] = corner[2][i] - corner[0][i], r[i] = x[i] - corner[0][i];
    const double aa = dot(e[0], e[0]), ab = dot(e[0], e[1]), bb = dot(e[1], e[1]), ra = dot(r, e[0]), rb = dot(r, e[1]);
    const double area = aa * bb - ab * ab, s = bb * ra - ab * rb, t = aa * rb - ab * ra;
    if (area > 0 && s >= 0 && t >= 0 && s + t <= area) {
        for (int i = 0; i < 3; i++) to[i] = corner[0][i] + (s * e[0][i] + t * e[1][i]) / area;
        return;
    }
    for (int k = 0; k < 3; k++) {
        double at[3];
        nearest_of_segment(corner[k], corner[(k + 1) % 3], x, at);
        const double far = distance(at, x);
        if (far < best) best = far, memcpy(to, at, sizeof at);
    }
}

/* How far it is from a body's axis (a sphere's centre) to a triangle: nearest points of two convex sets in turn (W. Cheney, A. A.
 * Goldstein, "Proximity Maps for Convex Sets", 1959), from above. */
static double axis_to_triangle(const double place[6], int is_capsule, const double corner[3][3])
{
    const double *a = place, *b = is_capsule ? place + 3 : place;
    double on[3], at[3], best = HUGE_VAL;
    for (int i = 0; i < 3; i++) at[i] = (corner[0][i] + corner[1][i] + corner[2][i]) / 3;
    for (int k = 0; k < (is_capsule ? 50 : 1); k++) {
        nearest_of_segment(a, b, at, on);
        nearest_of_triangle(corner, on, at);
        const double now = distance(on, at);
        if (!(now < best * (1 - 1e-6))) break;
        best = now;
    }
    return best;
}

/* Corner a of face f as it is. */
static void corner_at(const modal_tled_quality *q, const modal_tled_gauge *g, int64_t f, int a, double x[3])
{
    const int64_t node = q->faces[4 * f + a];
    for (int i = 0; i < 3; i++) x[i] = q->model->solid.nodes[3 * node + i] + g->u[3 * (int64_t)q->model->node_from[node] + i];
}

/* Triangle `half` of face f; a quadrilateral is two. 0: there is none. */
static int triangle_at(const modal_tled_quality *q, const modal_tled_gauge *g, int64_t f, int half, double corner[3][3])
{
    if (half > 0 && q->faces[4 * f + 3] < 0) return 0;
    corner_at(q, g, f, 0, corner[0]);
    corner_at(q, g, f, 1 + half, corner[1]);
    corner_at(q, g, f, 2 + half, corner[2]);
    return 1;
}

/* Whether the boundary encloses a point, by its solid angle. */
static int is_inside(const modal_tled_quality *q, const modal_tled_gauge *g, const double at[3])
{
    double angle = 0, x[3][3];
    for (int64_t f = 0; f < q->n_faces; f++)
        for (int half = 0; half < 2 && triangle_at(q, g, f, half, x); half++) {
            for (int i = 0; i < 9; i++) x[i / 3][i % 3] -= at[i % 3];
            angle += modal_solid_angle(x[0], x[1], x[2]);
        }
    return angle > 6; /* 4 pi inside, 0 outside */
}

/* How deep the solid is in a plane, m: nodes alone can be. */
static double depth_in_plane(const modal_tled_quality *q, int32_t body, const double place[6], const modal_tled_gauge *g)
{
    const double *normal = q->scene->contacts[body].normal;
    double deep = 0;
    for (int64_t f = 0; f < q->n_faces; f++)
        for (int a = 0; a < 4 && q->faces[4 * f + a] >= 0 && (q->masks[f] >> body & 1); a++) {
            double x[3];
            corner_at(q, g, f, a, x);
            for (int i = 0; i < 3; i++) x[i] = place[i] - x[i];
            deep = fmax(deep, dot(x, normal));
        }
    return deep;
}

/* How deep a sphere or a capsule is, m: how near its axis is to the surface; where the axis has gone through it, that and the radius more. */
static double depth_in_round(const modal_tled_quality *q, int32_t body, const double place[6], const modal_tled_gauge *g)
{
    const modal_solid_contact *c = &q->scene->contacts[body];
    const int is_capsule = c->kind == MODAL_SOLID_CAPSULE;
    double near = HUGE_VAL, low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (int64_t f = 0; f < q->n_faces; f++) {
        double corner[3][3], on[3];
        const int touches = q->masks[f] >> body & 1;
        for (int half = 0; half < 2 && triangle_at(q, g, f, half, corner); half++) {
            for (int k = 0; k < 9; k++) low[k % 3] = fmin(low[k % 3], corner[k / 3][k % 3]), high[k % 3] = fmax(high[k % 3], corner[k / 3][k % 3]);
            if (!touches) continue;
            nearest_of_segment(place, is_capsule ? place + 3 : place, corner[0], on);
            const double edge = fmax(distance(corner[0], corner[1]), distance(corner[0], corner[2]));
            if (distance(on, corner[0]) - edge < near) near = fmin(near, axis_to_triangle(place, is_capsule, corner)); /* else it is farther away */
        }
    }
    if (!(near < HUGE_VAL)) return 0; /* it is kept off no face */
    for (int k = 0; k < (is_capsule ? 3 : 1); k++) { /* ends, and the middle */
        double at[3];
        for (int i = 0; i < 3; i++) at[i] = k == 0 ? place[i] : k == 1 ? place[3 + i] : (place[i] + place[3 + i]) / 2;
        int within = 1;
        for (int i = 0; i < 3; i++) within &= at[i] >= low[i] && at[i] <= high[i];
        if (within && is_inside(q, g, at)) return c->radius + near;
    }
    return fmax(c->radius - near, 0);
}

/* Over the radius, of a plane over the mean edge. */
static double deepest_in(const modal_tled_quality *q, int32_t body, const modal_tled_gauge *g)
{
    const modal_solid_contact *c = &q->scene->contacts[body];
    double place[6];
    modal_tled_contact_place(c, g->time, place);
    return c->kind == MODAL_SOLID_PLANE ? depth_in_plane(q, body, place, g) / q->mean_edge : depth_in_round(q, body, place, g) / c->radius;
}

static double element_of(const modal_tled_quality *q, int64_t element)
{
    return element < 0 ? NAN : (double)q->model->element_from[element];
}

modal_quality modal_tled_quality_of(const modal_tled_quality *q, const modal_tled_gauge *g)
{
    const modal_tled_solid *s = &q->model->solid;
    const modal_tled_sums *sums = &g->sums;
    modal_quality row = modal_quality_none();
    row.not_judged = g->energies ? 0 : MODAL_MISSING_ENERGIES;
    row.min_volume_ratio = sums->min_ratio, row.min_volume_ratio_element = element_of(q, sums->min_element);
    row.max_volume_ratio = sums->max_ratio, row.max_volume_ratio_element = element_of(q, sums->max_element);
    row.bad_elements = (double)sums->n_bad / (double)(s->n_tetrahedra + s->n_hexahedra);
    row.least_jacobian = sums->stvk_ratio, row.least_jacobian_element = element_of(q, sums->stvk_element);
    if (q->added_mass > 0) row.added_mass = q->added_mass;
    for (int32_t b = 0; b < s->n_contacts; b++) row.penetration = fmax(row.penetration, deepest_in(q, b, g));
    if (!g->energies) return row;
    if ((s->n_hexahedra > 0 || s->macro_offsets) && g->largest_internal > 0) row.hourglass = sums->hourglass / g->largest_internal;
    if (s->n_tetrahedra > 0 && g->largest_internal > 0) row.locking = sums->locking / g->largest_internal;
    if (q->scene->steady || !(g->largest > 0)) return row;
    row.energy_balance = fabs(g->energies[MODAL_TLED_BALANCE]) / g->largest;
    if (q->added_mass > 0) row.added_kinetic = g->added_kinetic / g->largest;
    return row;
}
