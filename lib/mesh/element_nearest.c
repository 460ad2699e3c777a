/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/element_nearest.h"

#include <math.h>
#include <string.h>

#include "lib/mesh/element_shape.h"
#include "lib/mesh/tetrahedron.h"

/* Squared distance between p and the segment from a along ab. */
static double segment_distance2(const double a[3], const double ab[3], const double p[3])
{
    double ap[3], d[3];
    modal_subtract(p, a, ap);
    double t = fmin(1, fmax(0, modal_dot(ap, ab) / modal_dot(ab, ab)));
    for (int k = 0; k < 3; k++) d[k] = ap[k] - t * ab[k];
    return modal_dot(d, d);
}

/* Squared distance between p and a triangle in whose plane's outer half-space p lies: that to the
 * plane where p projects into the triangle, otherwise that to the nearest edge it is beyond.
 * normal = ab x ac, height = normal . ap. */
static double triangle_distance2(const double *const corners[3], const double normal[3],
                                 double height, const double p[3])
{
    double nearest = INFINITY;
    for (int k = 0; k < 3; k++) {
        const double *a = corners[k], *b = corners[(k + 1) % 3];
        double ab[3], ap[3], inward[3];
        modal_subtract(b, a, ab);
        modal_subtract(p, a, ap);
        modal_cross(normal, ab, inward);
        if (modal_dot(inward, ap) < 0) nearest = fmin(nearest, segment_distance2(a, ab, p));
    }
    return nearest < INFINITY ? nearest : height * height / modal_dot(normal, normal);
}

static double tetrahedron_distance2(const double *const x[4], const double p[3])
{
    double nearest = INFINITY;
    for (int f = 0; f < 4; f++) {
        const unsigned char *local = modal_tetrahedron_faces[f];
        const double *corners[3] = {x[local[0]], x[local[1]], x[local[2]]};
        double ab[3], ac[3], ap[3], normal[3];
        modal_subtract(corners[1], corners[0], ab);
        modal_subtract(corners[2], corners[0], ac);
        modal_subtract(p, corners[0], ap);
        modal_cross(ab, ac, normal);
        double height = modal_dot(normal, ap);
        /* The nearest point of a convex body lies on a face that p is on the outer side of. */
        if (height > 0) nearest = fmin(nearest, triangle_distance2(corners, normal, height, p));
    }
    return nearest < INFINITY ? nearest : 0;
}

double modal_tetrahedron_distance(const double *const x[4], const double point[3])
{
    return sqrt(tetrahedron_distance2(x, point));
}

void modal_tetrahedron_weights(const double *const x[4], const double point[3], double weights[4])
{
    double a[3], b[3], c[3], rest[3], normals[3][3];
    modal_subtract(x[1], x[0], a);
    modal_subtract(x[2], x[0], b);
    modal_subtract(x[3], x[0], c);
    modal_subtract(point, x[0], rest);
    modal_cross(b, c, normals[0]);
    modal_cross(c, a, normals[1]);
    modal_cross(a, b, normals[2]);
    double six_volume = modal_dot(a, normals[0]), w[3] = {0, 0, 0};
    /* Cramer's rule, then once more for what it left over: a flat tetrahedron loses digits. */
    for (int step = 0; step < 2; step++) {
        double more[3];
        for (int k = 0; k < 3; k++) more[k] = modal_dot(rest, normals[k]) / six_volume;
        for (int k = 0; k < 3; k++) {
            w[k] += more[k];
            rest[k] = 0;
        }
        for (int k = 0; k < 3; k++)
            rest[k] = point[k] - x[0][k] - (w[0] * a[k] + w[1] * b[k] + w[2] * c[k]);
    }
    weights[0] = 1 - w[0] - w[1] - w[2];
    for (int k = 0; k < 3; k++) weights[k + 1] = w[k];
}

/* ---- elements of every type ---- */

static const double BENT = 0.5;      /* see the header */
static const double ON_IT = 4e-15;   /* of the element's size: no nearer to be had by rounding */
static const double SETTLED = 1e-14; /* of the squared distance: what a step must promise */
static const double COLLAPSED = 0.1; /* of the Jacobian at the centre */
enum { MOST_STEPS = 60, MOST_HALVINGS = 20 };

/* x = linear map of the corners + the sum over the edges of N_a (x_a - the middle of its corners), and N_a
 * of mid-side nodes is nowhere negative: what the middles are off by, times the largest sum of N_a. */
void modal_element_box(modal_element_type type, const double *const *x, double low[3], double high[3])
{
    const modal_element_kind *kind = &modal_element_kinds[type];
    const double most = type == MODAL_ELEMENT_TET10 ? 1.5 : 3; /* at the centre */
    for (int k = 0; k < 3; k++) {
        double below = 0, above = 0;
        low[k] = high[k] = x[0][k];
        for (int a = 1; a < kind->n_corners; a++) {
            low[k] = fmin(low[k], x[a][k]);
            high[k] = fmax(high[k], x[a][k]);
        }
        for (int i = 0; kind->quadratic && i < kind->n_edges; i++) {
            const double middle = (x[kind->edges[i][0]][k] + x[kind->edges[i][1]][k]) / 2;
            const double off = x[kind->n_corners + i][k] - middle;
            below = fmin(below, off);
            above = fmax(above, off);
        }
        low[k] += most * below;
        high[k] += most * above;
    }
}

/* jacobian[p][k] = d x_k / d r_p at a reference point; returns the determinant. */
static double jacobian_at(modal_element_type type, const double *const *x, const double at[3], double jacobian[3][3])
{
    double values[MODAL_ELEMENT_MOST_NODES], derivatives[MODAL_ELEMENT_MOST_NODES][3];
    modal_element_shape(type, at, values, derivatives);
    return modal_element_jacobian(modal_element_kinds[type].n_nodes, (const double(*)[3])derivatives, x, jacobian);
}

/* normals[p] / det is row p of the inverse; returns det. */
static double invert(double jacobian[3][3], double normals[3][3])
{
    for (int p = 0; p < 3; p++) modal_cross(jacobian[(p + 1) % 3], jacobian[(p + 2) % 3], normals[p]);
    return modal_dot(jacobian[0], normals[0]);
}

/* The d of sum_p d_p jacobian[p] = rest, by Cramer's rule; not finite where there is none. */
static void solve(double jacobian[3][3], const double rest[3], double d[3])
{
    double normals[3][3];
    const double det = invert(jacobian, normals);
    for (int p = 0; p < 3; p++) d[p] = modal_dot(rest, normals[p]) / det;
}

int modal_element_is_bent(modal_element_type type, const double *const *x)
{
    const modal_element_kind *kind = &modal_element_kinds[type];
    double centre[3][3], normals[3][3];
    if (type == MODAL_ELEMENT_TET4) return 0;
    jacobian_at(type, x, modal_element_centres[type], centre);
    const double det = invert(centre, normals);
    for (int a = 0; a < kind->n_corners; a++) {
        double there[3][3], sum = 0;
        jacobian_at(type, x, modal_element_corners[type][a], there);
        for (int p = 0; p < 3; p++) {
            double change[3], e[3];
            modal_subtract(there[p], centre[p], change);
            for (int k = 0; k < 3; k++) e[k] = modal_dot(change, normals[k]) / det;
            sum += modal_dot(e, e);
        }
        if (!(sum <= BENT * BENT)) return 1;
    }
    return 0;
}

/* An element and a point, seen from the element's first node, so that no digits are lost far from the origin
 * or from the element; or that by the inverse of the map at the centre (domain_straighten). The domain is the
 * reference element, but a box -1 <= a, b <= 1, 0 <= u <= 1 for the pyramid. */
typedef struct domain {
    modal_element_type type;
    const modal_element_kind *kind;
    double nodes[MODAL_ELEMENT_MOST_NODES][3];
    const double *x[MODAL_ELEMENT_MOST_NODES];
    double point[3];
    double on_it2; /* m^2, squared distance of a point that is on the element */
    int n_faces;
    /* sides of the domain: origin + s u + t v, 0 <= s, t <= 1, or s + t <= 1 in a triangle */
    struct {
        double origin[3], u[3], v[3];
        int triangle;
    } faces[MODAL_ELEMENT_MOST_FACES];
} domain;

typedef struct place {
    double at[3];         /* in the domain */
    double rest[3];       /* of the element minus the point, m */
    double jacobian[3][3]; /* [p][k] d x_k / d at_p */
    double distance2;
} place;

static double diagonal2(int n, double (*nodes)[3])
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        double low = nodes[0][k], high = low;
        for (int a = 1; a < n; a++) {
            low = fmin(low, nodes[a][k]);
            high = fmax(high, nodes[a][k]);
        }
        sum += (high - low) * (high - low);
    }
    return sum;
}

static void domain_init(modal_element_type type, const double *const *x, const double point[3], domain *d)
{
    const int pyramid = type == MODAL_ELEMENT_PYRAMID5;
    const modal_element_type shape = pyramid ? MODAL_ELEMENT_HEX8 : type;
    const double(*corners)[3] = modal_element_corners[shape];
    d->type = type;
    d->kind = &modal_element_kinds[type];
    for (int a = 0; a < d->kind->n_nodes; a++) {
        modal_subtract(x[a], x[0], d->nodes[a]);
        d->x[a] = d->nodes[a];
    }
    modal_subtract(point, x[0], d->point);
    d->on_it2 = ON_IT * ON_IT * diagonal2(d->kind->n_nodes, d->nodes);
    d->n_faces = modal_element_kinds[shape].n_faces;
    for (int f = 0; f < d->n_faces; f++) {
        const modal_element_face *face = &modal_element_kinds[shape].faces[f];
        const double *origin = corners[face->nodes[0]];
        memcpy(d->faces[f].origin, origin, sizeof d->faces[f].origin);
        modal_subtract(corners[face->nodes[1]], origin, d->faces[f].u);
        modal_subtract(corners[face->nodes[face->n_corners - 1]], origin, d->faces[f].v);
        d->faces[f].triangle = face->n_corners == 3;
        if (!pyramid) continue;
        /* u = (1 + t) / 2 */
        d->faces[f].origin[2] = (1 + origin[2]) / 2;
        d->faces[f].u[2] /= 2;
        d->faces[f].v[2] /= 2;
    }
}

/* Lengths as in the reference element, so that flat and sheared elements are as good as others: returns 0
 * where the centre has no inverse. */
static int domain_straighten(const domain *from, domain *d)
{
    double centre[3][3], normals[3][3];
    *d = *from;
    jacobian_at(d->type, from->x, modal_element_centres[d->type], centre);
    const double det = invert(centre, normals);
    if (!(det > 0)) return 0;
    for (int a = 0; a < d->kind->n_nodes; a++) {
        d->x[a] = d->nodes[a];
        for (int k = 0; k < 3; k++) d->nodes[a][k] = modal_dot(from->nodes[a], normals[k]) / det;
    }
    for (int k = 0; k < 3; k++) d->point[k] = modal_dot(from->point, normals[k]) / det;
    d->on_it2 = ON_IT * ON_IT * diagonal2(d->kind->n_nodes, d->nodes);
    return 1;
}

static int in_domain(modal_element_type type, const double at[3])
{
    const int triangle = at[0] >= 0 && at[1] >= 0;
    switch (type) {
    case MODAL_ELEMENT_TET10: return triangle && at[2] >= 0 && at[0] + at[1] + at[2] <= 1;
    case MODAL_ELEMENT_WEDGE6: return triangle && at[0] + at[1] <= 1 && fabs(at[2]) <= 1;
    default:
        return fabs(at[0]) <= 1 && fabs(at[1]) <= 1 && at[2] <= 1 && at[2] >= (type == MODAL_ELEMENT_PYRAMID5 ? 0 : -1);
    }
}

/* (r, s, t) */
static void to_reference(modal_element_type type, const double at[3], double reference[3])
{
    const int pyramid = type == MODAL_ELEMENT_PYRAMID5;
    reference[0] = pyramid ? at[0] * at[2] : at[0];
    reference[1] = pyramid ? at[1] * at[2] : at[1];
    reference[2] = pyramid ? 1 - at[2] : at[2];
}

static void evaluate(const domain *d, place *p)
{
    double values[MODAL_ELEMENT_MOST_NODES], slopes[MODAL_ELEMENT_MOST_NODES][3], reference[3];
    double rest[3] = {-d->point[0], -d->point[1], -d->point[2]};
    to_reference(d->type, p->at, reference);
    modal_element_shape(d->type, reference, values, slopes);
    for (int a = 0; a < d->kind->n_nodes; a++) {
        if (d->type == MODAL_ELEMENT_PYRAMID5) { /* d/da, d/db, d/du of (a u, b u, 1 - u) */
            const double *s = slopes[a], along = p->at[0] * s[0] + p->at[1] * s[1] - s[2];
            memcpy(slopes[a], (double[]){p->at[2] * s[0], p->at[2] * s[1], along}, sizeof slopes[a]);
        }
        for (int k = 0; k < 3; k++) rest[k] += values[a] * d->nodes[a][k];
    }
    memcpy(p->rest, rest, sizeof rest);
    modal_element_jacobian(d->kind->n_nodes, (const double(*)[3])slopes, d->x, p->jacobian);
    p->distance2 = modal_dot(rest, rest);
}

/* The t in [0, 1] at which y + t e is shortest. */
static double shortest(const double y[3], const double e[3])
{
    const double square = modal_dot(e, e);
    return square > 0 ? fmin(1, fmax(0, -modal_dot(y, e) / square)) : 0;
}

static double combine(const double y[3], double s, const double u[3], double t, const double v[3])
{
    double sum[3];
    for (int k = 0; k < 3; k++) sum[k] = y[k] + s * u[k] + t * v[k];
    return modal_dot(sum, sum);
}

/* The shortest of y + s u + t v, squared, over the unit square or its lower triangle. */
static double shortest_on_face(const double y[3], const double u[3], const double v[3], int triangle, double *s,
                               double *t)
{
    const double uu = modal_dot(u, u), uv = modal_dot(u, v), vv = modal_dot(v, v);
    const double yu = modal_dot(y, u), yv = modal_dot(y, v), det = uu * vv - uv * uv;
    double least = INFINITY, far[3], across[3];
    *s = (uv * yv - vv * yu) / det;
    *t = (uv * yu - uu * yv) / det;
    if (*s >= 0 && *t >= 0 && (triangle ? *s + *t <= 1 : *s <= 1 && *t <= 1)) return combine(y, *s, u, *t, v);
    double ends[4][2] = {{shortest(y, u), 0}, {0, shortest(y, v)}};
    for (int k = 0; k < 3; k++) far[k] = y[k] + u[k];
    if (triangle) {
        modal_subtract(v, u, across);
        ends[2][1] = shortest(far, across);
        ends[2][0] = 1 - ends[2][1];
    } else {
        ends[2][0] = 1;
        ends[2][1] = shortest(far, v);
        for (int k = 0; k < 3; k++) far[k] = y[k] + v[k];
        ends[3][0] = shortest(far, u);
        ends[3][1] = 1;
    }
    for (int i = 0; i < (triangle ? 3 : 4); i++) {
        const double sum = combine(y, ends[i][0], u, ends[i][1], v);
        if (!(sum < least)) continue;
        least = sum;
        *s = ends[i][0];
        *t = ends[i][1];
    }
    return least;
}

/* d at of the domain in space, by the linear map that touches at p. */
static void along(const place *p, const double d[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = d[0] * p->jacobian[0][k] + d[1] * p->jacobian[1][k] + d[2] * p->jacobian[2][k];
}

/* Where in the domain the linear map that touches at p is nearest to the point; returns the squared
 * distance there. Outside, that is on one of its sides. */
static double nearest_of_tangent(const domain *d, const place *p, double to[3])
{
    double step[3], least = INFINITY;
    solve((double(*)[3])p->jacobian, p->rest, step);
    for (int k = 0; k < 3; k++) to[k] = p->at[k] - step[k];
    if (in_domain(d->type, to)) return 0;
    memcpy(to, p->at, 3 * sizeof *to);
    for (int f = 0; f < d->n_faces; f++) {
        double off[3], y[3], u[3], v[3], s, t;
        modal_subtract(d->faces[f].origin, p->at, off);
        along(p, off, y);
        for (int k = 0; k < 3; k++) y[k] += p->rest[k];
        along(p, d->faces[f].u, u);
        along(p, d->faces[f].v, v);
        const double sum = shortest_on_face(y, u, v, d->faces[f].triangle, &s, &t);
        if (!(sum < least)) continue;
        least = sum;
        for (int k = 0; k < 3; k++) to[k] = d->faces[f].origin[k] + s * d->faces[f].u[k] + t * d->faces[f].v[k];
    }
    return least;
}

/* From one start, in here->at, to a nearest point. */
static void descend(const domain *d, place *here)
{
    evaluate(d, here);
    for (int step = 0; step < MOST_STEPS && here->distance2 > d->on_it2; step++) {
        double to[3], length = 1;
        place next;
        const double gain = here->distance2 - nearest_of_tangent(d, here, to);
        int i = 0;
        if (!(gain > SETTLED * here->distance2)) return;
        for (; i < MOST_HALVINGS; i++, length /= 2) {
            for (int k = 0; k < 3; k++) next.at[k] = length < 1 ? here->at[k] + length * (to[k] - here->at[k]) : to[k];
            evaluate(d, &next);
            if (next.distance2 <= here->distance2 - 1e-4 * length * gain) break;
        }
        if (i == MOST_HALVINGS) return;
        *here = next;
    }
}

double modal_element_nearest(modal_element_type type, const double *const *x, const double point[3],
                             int bent, double at[3])
{
    domain d, straight;
    place best = {.distance2 = INFINITY};
    if (type == MODAL_ELEMENT_TET4) return tetrahedron_distance2(x, point);
    domain_init(type, x, point, &d);
    const int has_straight = domain_straighten(&d, &straight), pyramid = type == MODAL_ELEMENT_PYRAMID5;
    const double *centre = modal_element_centres[type];
    for (int start = 0; start < (bent ? 1 + d.kind->n_corners : 1) && best.distance2 > d.on_it2; start++) {
        place here;
        const double *corner = start == 0 ? centre : modal_element_corners[type][start - 1];
        for (int k = 0; k < 3; k++) here.at[k] = (centre[k] + corner[k]) / 2;
        if (pyramid) { /* (a, b) of the corner that the start is on the way to */
            here.at[2] = 1 - here.at[2];
            for (int k = 0; k < 2; k++) here.at[k] = corner[k] / 2;
        }
        if (has_straight) descend(&straight, &here);
        const int inside = has_straight && here.distance2 <= straight.on_it2;
        if (inside) evaluate(&d, &here);
        else descend(&d, &here);
        if (here.distance2 < best.distance2) best = here;
        if (inside) break;
    }
    to_reference(type, best.at, at);
    return best.distance2;
}

void modal_element_weights(modal_element_type type, const double *const *x, const double point[3],
                           const double at[3], double weights[MODAL_ELEMENT_MOST_NODES])
{
    domain d;
    double slopes[MODAL_ELEMENT_MOST_NODES][3], ignored[MODAL_ELEMENT_MOST_NODES], here[3][3], centre[3][3];
    if (type == MODAL_ELEMENT_TET4) {
        modal_tetrahedron_weights(x, point, weights);
        return;
    }
    domain_init(type, x, point, &d);
    const int n = d.kind->n_nodes;
    modal_element_shape(type, at, weights, slopes);
    const double det = modal_element_jacobian(n, (const double(*)[3])slopes, d.x, here);
    if (!(det > COLLAPSED * jacobian_at(type, d.x, modal_element_centres[type], centre))) {
        modal_element_shape(type, modal_element_centres[type], ignored, slopes);
        memcpy(here, centre, sizeof here);
    }
    /* Twice: once more for what rounding left over. */
    for (int step = 0; step < 2; step++) {
        double rest[3] = {d.point[0], d.point[1], d.point[2]}, more[3];
        for (int a = 0; a < n; a++)
            for (int k = 0; k < 3; k++) rest[k] -= weights[a] * d.nodes[a][k];
        solve(here, rest, more);
        for (int a = 0; a < n; a++) weights[a] += modal_dot(slopes[a], more);
    }
}
