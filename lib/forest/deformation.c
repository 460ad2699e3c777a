/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/forest/deformation.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/fem/enhanced.h"
#include "lib/mesh/measure.h"
#include "lib/model/node_modes.h"

enum { CLUSTERS = 64, MODES = 8 }; /* of a shape; that are worked on at a time */
/* Bytes of gradients that are kept, of a shape and of all; the others are made anew where they are looked at. */
static const int64_t MOST_KEPT = INT64_C(8) << 20, MOST_ALL_KEPT = INT64_C(64) << 20;
enum { ROOM = 3 * MODAL_ELEMENT_MOST_NODES * MODAL_RULE_MOST_POINTS }; /* gradients of an element */

typedef struct cluster {
    int64_t first, end;    /* in the shape's order */
    int64_t kept;          /* place of its gradients */
    int64_t centre;        /* an element */
    int point;             /* of it */
} cluster;

typedef struct deformed_shape {
    const modal_shape *shape; /* NULL: not known */
    modal_node_modes modes;
    modal_rule_table rules;
    modal_elasticity *elasticity; /* [materials] */
    int32_t *order;           /* [elements] clusters one after the other */
    int32_t n_clusters;
    cluster *clusters;
    double *kept;             /* of the elements in that order, gradients_of all points; or NULL: too many */
    float *gradients;         /* [r, 9, CLUSTERS] of the centres, d u_p / d x_k at 3 p + k, rounded; 0 past the last. Bounds are about
                                 what is kept, and of many shapes it comes from memory in every frame */
    double *far;              /* [r, CLUSTERS] the largest |G_k - G_ck| of a cluster's points */
    double radii[CLUSTERS];
    double reach;             /* of all points the largest radius about 0 */
    double *weights;          /* [r] */
} deformed_shape;

struct modal_deformation {
    int32_t n_shapes;
    int n_threads;
    deformed_shape *shapes;
    int64_t most_nodes;
    double *fields; /* [n_threads, most_nodes, 3] u */
};

static int points_of(const deformed_shape *s, int64_t element)
{
    const modal_element_rule *rule = s->rules.rules[s->shape->solid.mesh.element_type[element]];
    return rule ? rule[MODAL_INTEGRAL_STIFFNESS].n_points : 1;
}

static int nodes_of(const deformed_shape *s, int64_t element) { return modal_mesh_kind(&s->shape->solid.mesh, element)->n_nodes; }

/* d N_a / d x_k [n_nodes, 3, points] at all points of an element. */
static void gradients_of(const deformed_shape *s, int64_t element, double *gradients)
{
    static const double linear[4][3] = {{-1, -1, -1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const modal_volume_mesh *mesh = &s->shape->solid.mesh;
    const int n = nodes_of(s, element), n_points = points_of(s, element);
    const int32_t *nodes = modal_mesh_nodes(mesh, element);
    const modal_element_rule *rule = s->rules.rules[mesh->element_type[element]];
    const double *x[MODAL_ELEMENT_MOST_NODES] = {NULL};
    double own[3 * MODAL_ELEMENT_MOST_NODES];
    for (int a = 0; a < n; a++) x[a] = mesh->nodes + 3 * (int64_t)nodes[a];
    for (int point = 0; point < n_points; point++) {
        const double det = modal_element_gradients(n, rule ? rule[MODAL_INTEGRAL_STIFFNESS].derivatives[point] : linear, x, own);
        for (int i = 0; i < 3 * n; i++) gradients[i * n_points + point] = own[i] / det;
    }
}

/* g [9, points] = grad of the field u [n_nodes, 3]. */
static inline void add_field(int n, int n_points, const int32_t *nodes, const double *gradients, const double *u, double *g)
{
    for (int i = 0; i < 9 * n_points; i++) g[i] = 0;
    for (int a = 0; a < n; a++)
        for (int p = 0; p < 3; p++) {
            const double own = u[3 * (int64_t)nodes[a] + p];
            for (int k = 0; k < 3; k++)
                for (int point = 0; point < n_points; point++)
                    g[(3 * p + k) * n_points + point] += own * gradients[(3 * a + k) * n_points + point];
        }
}

static void field_gradient(int n, int n_points, const int32_t *nodes, const double *gradients, const double *u, double *g)
{
    if (n_points == 8) add_field(n, 8, nodes, gradients, u, g); /* in vectors */
    else if (n_points == 1 && n == 4) add_field(4, 1, nodes, gradients, u, g);
    else if (n_points == 1) add_field(n, 1, nodes, gradients, u, g);
    else add_field(n, n_points, nodes, gradients, u, g);
}

/* Of `count` <= MODES fields [count, nodes, 3] of the whole shape their gradients g [count, 9, points] at the points of an element, with what the
 * solid's rule adds to those of the shape functions (incompatible modes, lib/fem/enhanced.h): those that its stiffness and its stresses are made of. */
static void fields_gradients(const deformed_shape *s, int64_t e, int count, const double *gradients, const double *fields, double *g)
{
    const modal_volume_mesh *mesh = &s->shape->solid.mesh;
    const int n = nodes_of(s, e), n_points = points_of(s, e), size = 9 * n_points;
    const int32_t *nodes = modal_mesh_nodes(mesh, e);
    for (int m = 0; m < count; m++) field_gradient(n, n_points, nodes, gradients, fields + 3 * mesh->n_nodes * m, g + m * size);
    const int enhancement = mesh->element_material[e] >= 0 ? modal_element_enhancement(mesh, e) : 0;
    if (!enhancement) return;
    const double *x[MODAL_ELEMENT_MOST_CORNERS] = {NULL}, *u[MODES * MODAL_ELEMENT_MOST_CORNERS];
    double own[MODES * MODAL_ENHANCED_MOST_POINTS][9];
    for (int a = 0; a < n; a++) {
        x[a] = mesh->nodes + 3 * (int64_t)nodes[a];
        for (int m = 0; m < count; m++) u[m * n + a] = fields + 3 * (mesh->n_nodes * m + nodes[a]);
    }
    for (int m = 0; m < count; m++)
        for (int i = 0; i < size; i++) own[m * n_points + i % n_points][i / n_points] = g[m * size + i];
    modal_enhanced_gradients_of(enhancement, &s->rules.rules[mesh->element_type[e]][MODAL_INTEGRAL_STIFFNESS], x,
                                &s->elasticity[mesh->element_material[e]], count, u, own);
    for (int m = 0; m < count; m++)
        for (int i = 0; i < size; i++) g[m * size + i] = own[m * n_points + i % n_points][i / n_points];
}

/* Gradients of the element at a place of the order, which follow one another: *kept, or made in `room`. Moves *kept on. */
static const double *gradients_at(const deformed_shape *s, int64_t at, const double **kept, double *room)
{
    const int64_t e = s->order[at];
    const double *own = *kept;
    if (!s->kept) {
        gradients_of(s, e, room);
        return room;
    }
    *kept += 3 * nodes_of(s, e) * points_of(s, e);
    return own;
}

/* ---- clusters ---- */

typedef struct placed {
    double at[3];
    double key;
    int32_t element;
} placed;

static int by_key(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : x->element - y->element;
}

static int is_before(const placed *a, const placed *b) { return a->key < b->key || (a->key == b->key && a->element < b->element); }

/* The elements before `middle` become those that come before the others (C. A. R. Hoare, Find, 1961): a third of the time of sorting. */
static void halve(placed *elements, int64_t first, int64_t end, int64_t middle)
{
    while (end - first > 1) {
        const placed pivot = elements[first + (end - 1 - first) / 2]; /* not the last, so that both parts have some */
        int64_t low = first, high = end - 1;
        for (;; low++, high--) {
            while (is_before(&elements[low], &pivot)) low++;
            while (is_before(&pivot, &elements[high])) high--;
            if (low >= high) break;
            const placed swap = elements[low];
            elements[low] = elements[high];
            elements[high] = swap;
        }
        /* up to high they are not after the pivot, from high + 1 on not before it */
        if (middle <= high) end = high + 1;
        else first = high + 1;
    }
}

/* Elements [first, end) into `parts` parts, by halves along the longest side. */
static void part(placed *elements, int64_t first, int64_t end, int parts, deformed_shape *s)
{
    if (parts == 1 || end - first <= 1) {
        s->clusters[s->n_clusters++] = (cluster){.first = first, .end = end, .centre = elements[first + (end - first) / 2].element};
        return;
    }
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = first; i < end; i++)
        for (int c = 0; c < 3; c++) {
            low[c] = fmin(low[c], elements[i].at[c]);
            high[c] = fmax(high[c], elements[i].at[c]);
        }
    int axis = 0;
    for (int c = 1; c < 3; c++)
        if (high[c] - low[c] > high[axis] - low[axis]) axis = c;
    for (int64_t i = first; i < end; i++) elements[i].key = elements[i].at[axis];
    const int64_t middle = first + (end - first) / 2;
    if (parts > 2) halve(elements, first, end, middle);
    else qsort(elements + first, (size_t)(end - first), sizeof *elements, by_key); /* the middle of each half is its centre */
    part(elements, first, middle, parts / 2, s);
    part(elements, middle, end, parts - parts / 2, s);
}

static modal_status make_clusters(deformed_shape *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_volume_mesh *mesh = &s->shape->solid.mesh;
    placed *elements = NULL;
    MODAL_TRY(modal_alloc(&elements, mesh->n_elements, sizeof *elements, "clusters of elements", err));
    MODAL_TRY(modal_alloc(&s->order, mesh->n_elements, sizeof *s->order, "clusters of elements", err));
    MODAL_TRY(modal_alloc_zero(&s->clusters, CLUSTERS, sizeof *s->clusters, "clusters of elements", err));
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const int n = modal_mesh_kind(mesh, e)->n_nodes;
        elements[e] = (placed){.element = (int32_t)e};
        for (int a = 0; a < n; a++)
            for (int c = 0; c < 3; c++) elements[e].at[c] += mesh->nodes[3 * (int64_t)modal_mesh_nodes(mesh, e)[a] + c] / n;
    }
    part(elements, 0, mesh->n_elements, CLUSTERS, s);
    for (int64_t e = 0; e < mesh->n_elements; e++) s->order[e] = elements[e].element;
    for (int32_t c = 0; c < s->n_clusters; c++) s->clusters[c].point = points_of(s, s->clusters[c].centre) / 2;
done:
    modal_free(&elements);
    return status;
}

/* Keeps the gradients of all points where that is not too much. bytes: of all shapes so far. */
static modal_status keep_gradients(deformed_shape *s, int64_t *bytes, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t count = 0;
    for (int32_t c = 0; c < s->n_clusters; c++) {
        s->clusters[c].kept = count;
        for (int64_t at = s->clusters[c].first; at < s->clusters[c].end; at++)
            count += 3 * nodes_of(s, s->order[at]) * points_of(s, s->order[at]);
    }
    const int64_t own = count * (int64_t)sizeof(double);
    if (own > MOST_KEPT || *bytes + own > MOST_ALL_KEPT) goto done;
    *bytes += own;
    double *kept;
    MODAL_TRY(modal_alloc(&kept, count, sizeof *kept, "gradients of elements", err));
    s->kept = kept;
    for (int64_t at = 0; at < s->shape->solid.mesh.n_elements; at++) {
        gradients_of(s, s->order[at], kept);
        kept += 3 * nodes_of(s, s->order[at]) * points_of(s, s->order[at]);
    }
done:
    return status;
}

/* Of some modes the gradients at a cluster's centre, and for all its points what the squares of their radii are made of. */
static void add_to_radii(const deformed_shape *s, int32_t c, int32_t first, int count, const double *fields, double *squares)
{
    const cluster *own = &s->clusters[c];
    double room[ROOM], all[MODES * 9 * MODAL_RULE_MOST_POINTS], centre[9 * MODES];
    int n_points = points_of(s, own->centre);
    gradients_of(s, own->centre, room);
    fields_gradients(s, own->centre, count, room, fields, all);
    for (int m = 0; m < count; m++)
        for (int i = 0; i < 9; i++) {
            float *kept_centre = &s->gradients[(9 * ((int64_t)first + m) + i) * CLUSTERS + c];
            *kept_centre = (float)all[9 * m * n_points + i * n_points + own->point];
            centre[9 * m + i] = *kept_centre;
        }
    const double *kept = s->kept ? s->kept + own->kept : NULL;
    for (int64_t at = own->first; at < own->end; at++) {
        const int64_t e = s->order[at];
        const double *gradients = gradients_at(s, at, &kept, room);
        n_points = points_of(s, e);
        fields_gradients(s, e, count, gradients, fields, all);
        for (int m = 0; m < count; m++) {
            const double *g = all + 9 * m * n_points;
            for (int point = 0; point < n_points; point++) {
                double sum = 0;
                for (int i = 0; i < 9; i++) {
                    const double far = g[i * n_points + point] - centre[9 * m + i];
                    sum += far * far;
                }
                squares[at * MODAL_RULE_MOST_POINTS + point] += sum / s->weights[first + m];
                double *far_most = &s->far[((int64_t)first + m) * CLUSTERS + c];
                *far_most = fmax(*far_most, sqrt(sum));
            }
        }
    }
}

/* Centres and radii, some modes at a time: fields [MODES, nodes, 3], squares [elements, most points] are scratch. */
static void find_radii(deformed_shape *s, int n_threads, double *fields, double *squares)
{
    enum { POINTS = MODAL_RULE_MOST_POINTS };
    const int32_t r = s->shape->modes.n_modes;
    const modal_volume_mesh *mesh = &s->shape->solid.mesh;
    for (int32_t first = 0; first < r; first += MODES) {
        const int count = r - first < MODES ? r - first : MODES;
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(n_threads))
        for (int m = 0; m < count; m++) modal_node_modes_get(&s->modes, first + m, fields + 3 * mesh->n_nodes * m);
#pragma omp parallel for schedule(dynamic, 1) num_threads(modal_free_threads(n_threads))
        for (int32_t c = 0; c < s->n_clusters; c++) add_to_radii(s, c, first, count, fields, squares);
    }
    for (int32_t c = 0; c < s->n_clusters; c++)
        for (int64_t at = s->clusters[c].first; at < s->clusters[c].end; at++)
            for (int point = 0; point < POINTS; point++)
                s->radii[c] = fmax(s->radii[c], sqrt(squares[at * POINTS + point]));
    for (int32_t c = 0; c < s->n_clusters; c++) {
        double square = 0;
        for (int32_t k = 0; k < r; k++)
            for (int i = 0; i < 9; i++) {
                const double g = s->gradients[(9 * (int64_t)k + i) * CLUSTERS + c];
                square += g * g / s->weights[k];
            }
        s->reach = fmax(s->reach, sqrt(square) + s->radii[c]);
    }
}

static modal_status shape_init(deformed_shape *s, const modal_shape *shape, int64_t *bytes, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int32_t r = shape->modes.n_modes;
    s->shape = shape;
    MODAL_TRY(modal_node_modes_init(&s->modes, shape, err));
    MODAL_TRY(modal_rule_table_init(&shape->solid.mesh, &s->rules, err));
    MODAL_TRY(modal_alloc(&s->elasticity, shape->solid.mesh.n_materials, sizeof *s->elasticity, "materials", err));
    for (int32_t i = 0; i < shape->solid.mesh.n_materials; i++) modal_elasticity_init(&shape->solid.mesh.materials[i], &s->elasticity[i]);
    MODAL_TRY(make_clusters(s, err));
    MODAL_TRY(keep_gradients(s, bytes, err));
    MODAL_TRY(modal_alloc_zero(&s->gradients, 9 * (int64_t)CLUSTERS * r, sizeof(float), "gradients of modes", err));
    MODAL_TRY(modal_alloc_zero(&s->far, CLUSTERS * (int64_t)r, sizeof(double), "gradients of modes", err));
    MODAL_TRY(modal_alloc(&s->weights, r, sizeof(double), "gradients of modes", err));
    for (int32_t k = 0; k < r; k++) s->weights[k] = shape->modes.eigenvalues[k] > 0 ? shape->modes.eigenvalues[k] : 1;
done:
    return status;
}

/* All radii: many shapes by a thread each, few by all threads together. */
static modal_status find_all_radii(modal_deformation *d, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int apart = d->n_shapes >= 2 * d->n_threads, teams = apart ? d->n_threads : 1;
    double *fields = NULL, *squares = NULL;
    int64_t most = 0;
    for (int32_t i = 0; i < d->n_shapes; i++)
        if (d->shapes[i].shape && d->shapes[i].shape->solid.mesh.n_elements > most) most = d->shapes[i].shape->solid.mesh.n_elements;
    const int64_t n_fields = 3 * MODES * d->most_nodes, n_squares = most * MODAL_RULE_MOST_POINTS;
    MODAL_TRY(modal_alloc(&fields, n_fields * teams, sizeof(double), "gradients of modes", err));
    MODAL_TRY(modal_alloc(&squares, n_squares * teams, sizeof(double), "gradients of modes", err));
#pragma omp parallel for schedule(dynamic, 1) num_threads(modal_free_threads(teams)) if (apart)
    for (int32_t i = 0; i < d->n_shapes; i++) {
        const int own = apart ? omp_get_thread_num() : 0;
        if (!d->shapes[i].shape) continue;
        memset(squares + own * n_squares, 0, (size_t)n_squares * sizeof *squares);
        find_radii(&d->shapes[i], apart ? 1 : d->n_threads, fields + own * n_fields, squares + own * n_squares);
    }
done:
    modal_free(&fields);
    modal_free(&squares);
    return status;
}

int64_t modal_deformation_bytes(const modal_shape *shape)
{
    return 12 * shape->solid.mesh.n_nodes * shape->modes.n_modes;
}

int64_t modal_deformation_work(const modal_shape *shape)
{
    const modal_volume_mesh *mesh = &shape->solid.mesh;
    return mesh->n_elements * 8 * shape->modes.n_modes;
}

modal_status modal_deformation_new(modal_deformation **deformation, const modal_basis *basis, int n_threads,
                                   modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_deformation *d = NULL;
    int64_t bytes = 0;
    *deformation = NULL;
    MODAL_TRY(modal_alloc_zero(&d, 1, sizeof *d, "deformation", err));
    d->n_shapes = basis->n_shapes;
    d->n_threads = n_threads;
    MODAL_TRY(modal_alloc_zero(&d->shapes, basis->n_shapes, sizeof *d->shapes, "deformation", err));
    for (int32_t i = 0; i < basis->n_shapes; i++) {
        const modal_shape *shape = &basis->shapes[i];
        if (!modal_shape_has_node_modes(shape) || shape->modes.n_modes == 0) continue;
        MODAL_TRY(shape_init(&d->shapes[i], shape, &bytes, err));
        if (shape->solid.mesh.n_nodes > d->most_nodes) d->most_nodes = shape->solid.mesh.n_nodes;
    }
    MODAL_TRY(modal_alloc(&d->fields, 3 * d->most_nodes * n_threads, sizeof(double), "deformation", err));
    MODAL_TRY(find_all_radii(d, err));
    *deformation = d;
    d = NULL;
done:
    modal_deformation_delete(d);
    return status;
}

modal_deformation *modal_deformation_delete(modal_deformation *d)
{
    if (!d) return NULL;
    for (int32_t i = 0; d->shapes && i < d->n_shapes; i++) {
        deformed_shape *s = &d->shapes[i];
        modal_node_modes_free(&s->modes);
        modal_rule_table_free(&s->rules);
        modal_free(&s->elasticity);
        modal_free(&s->order);
        modal_free(&s->kept);
        modal_free(&s->clusters);
        modal_free(&s->gradients);
        modal_free(&s->far);
        modal_free(&s->weights);
    }
    modal_free(&d->shapes);
    modal_free(&d->fields);
    modal_free(&d);
    return NULL;
}

int modal_deformation_knows(const modal_deformation *d, int32_t shape) { return d->shapes[shape].shape != NULL; }

/* ---- a frame ---- */

double modal_deformation_reach(const modal_deformation *d, int32_t shape, double *weights)
{
    const deformed_shape *s = &d->shapes[shape];
    memcpy(weights, s->weights, (size_t)s->shape->modes.n_modes * sizeof *weights);
    return s->reach;
}

/* det (I + h), and the norms of I + h and of its cofactors. */
static inline double determinant(const double *h, double *norm, double *cofactor_norm)
{
    const double a = 1 + h[0], b = h[1], c = h[2], d = h[3], e = 1 + h[4], f = h[5], g = h[6], i = h[7], j = 1 + h[8];
    const double m[9] = {e * j - f * i, f * g - d * j, d * i - e * g, c * i - b * j, a * j - c * g,
                         b * g - a * i, b * f - c * e, c * d - a * f, a * e - b * d};
    *norm = sqrt(a * a + b * b + c * c + d * d + e * e + f * f + g * g + i * i + j * j);
    *cofactor_norm = sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2] + m[3] * m[3] + m[4] * m[4] + m[5] * m[5] + m[6] * m[6] +
                          m[7] * m[7] + m[8] * m[8]);
    return a * m[0] + b * m[1] + c * m[2];
}

/* The largest eigenvalue by size of the symmetric part. */
static double largest_strain(const double *h)
{
    const double mean = (h[0] + h[4] + h[8]) / 3, a = h[0] - mean, b = h[4] - mean, c = h[8] - mean;
    const double yz = 0.5 * (h[5] + h[7]), xz = 0.5 * (h[2] + h[6]), xy = 0.5 * (h[1] + h[3]);
    const double size = sqrt((a * a + b * b + c * c + 2 * (yz * yz + xz * xz + xy * xy)) / 6);
    if (!(size > 0)) return fabs(mean) + size;
    const double det = a * (b * c - yz * yz) - xy * (xy * c - yz * xz) + xz * (xy * yz - b * xz);
    const double angle = acos(fmax(-1, fmin(1, 0.5 * det / (size * size * size)))) / 3;
    const double third = 2.0943951023931953; /* of a turn */
    return fmax(fabs(mean + 2 * size * cos(angle)), fabs(mean + 2 * size * cos(angle + third)));
}

static void worse(double det, int64_t element, modal_deformed *out)
{
    if (det >= out->jacobian) return; /* NaN is worse than a number, and stays */
    if (isnan(out->jacobian)) return;
    out->jacobian = det;
    out->element = element;
}

/* All points of a cluster, from u at the nodes. */
static void look_closer(const deformed_shape *s, const cluster *own, const double *u, modal_deformed *out)
{
    const double *kept = s->kept ? s->kept + own->kept : NULL;
    double room[ROOM], h[9 * MODAL_RULE_MOST_POINTS], det[MODAL_RULE_MOST_POINTS];
    for (int64_t at = own->first; at < own->end; at++) {
        const int64_t e = s->order[at];
        const int n = points_of(s, e);
        const double *gradients = gradients_at(s, at, &kept, room);
        fields_gradients(s, e, 1, gradients, u, h);
        for (int i = 0; i < n; i++) {
            const double a = 1 + h[i], e1 = 1 + h[4 * n + i], j = 1 + h[8 * n + i];
            det[i] = a * (e1 * j - h[5 * n + i] * h[7 * n + i]) + h[n + i] * (h[5 * n + i] * h[6 * n + i] - h[3 * n + i] * j) +
                     h[2 * n + i] * (h[3 * n + i] * h[7 * n + i] - e1 * h[6 * n + i]);
        }
        for (int i = 0; i < n; i++) worse(det[i], e, out);
    }
}

void modal_deformation_measure(const modal_deformation *d, int32_t shape, const double *q, int range, int thread,
                               modal_deformed *out)
{
    const deformed_shape *s = &d->shapes[shape];
    const int32_t r = s->shape->modes.n_modes;
    const int64_t n = 3 * s->shape->solid.mesh.n_nodes;
    double *u = d->fields + 3 * d->most_nodes * thread, square = 0;
    double h[9][CLUSTERS] = {{0}}, far[CLUSTERS] = {0}, det[CLUSTERS], least[CLUSTERS];
    int any = 0;
    *out = (modal_deformed){.jacobian = INFINITY, .rotation = range ? 0 : NAN, .strain = range ? 0 : NAN};
    for (int32_t k = 0; k < r; k++) {
        const double value = q[k];
        square += s->weights[k] * value * value;
        for (int i = 0; i < 9; i++) {
            const float *g = s->gradients + (9 * (int64_t)k + i) * CLUSTERS;
            for (int c = 0; c < CLUSTERS; c++) h[i][c] += value * g[c];
        }
        for (int c = 0; c < CLUSTERS; c++) far[c] += fabs(value) * s->far[(int64_t)k * CLUSTERS + c];
    }
    const double size = sqrt(square);
    for (int c = 0; c < CLUSTERS; c++) {
        const double own[9] = {h[0][c], h[1][c], h[2][c], h[3][c], h[4][c], h[5][c], h[6][c], h[7][c], h[8][c]};
        const double e = fmin(s->radii[c] * size, far[c]);
        double norm, cofactors;
        det[c] = determinant(own, &norm, &cofactors);
        least[c] = det[c] - e * (cofactors + e * (norm * 0.5773502691896258 + e * 0.19245008972987526));
    }
    for (int32_t c = 0; c < s->n_clusters; c++) {
        worse(det[c], s->clusters[c].centre, out);
        any |= !(least[c] >= MODAL_JACOBIAN_SOFT);
    }
    for (int32_t c = 0; c < s->n_clusters && range; c++) {
        const double own[9] = {h[0][c], h[1][c], h[2][c], h[3][c], h[4][c], h[5][c], h[6][c], h[7][c], h[8][c]};
        const double turn = 0.5 * sqrt((own[7] - own[5]) * (own[7] - own[5]) + (own[2] - own[6]) * (own[2] - own[6]) +
                                       (own[3] - own[1]) * (own[3] - own[1]));
        out->rotation = fmax(out->rotation, turn * 57.29577951308232);
        out->strain = fmax(out->strain, largest_strain(own));
    }
    if (!any) return;
    memset(u, 0, (size_t)n * sizeof *u);
    for (int32_t k = 0; k < r; k++) modal_node_modes_add(&s->modes, k, q[k], u);
    for (int32_t c = 0; c < s->n_clusters; c++)
        if (!(least[c] >= MODAL_JACOBIAN_SOFT)) look_closer(s, &s->clusters[c], u, out);
}
