/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/shape/congruent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/memory.h"

static const double tolerance = 1e-9; /* of the size; coordinates of text files have 15 digits or more */

static void centre_of(const modal_volume_mesh *mesh, double centre[3])
{
    for (int p = 0; p < 3; p++) {
        centre[p] = 0;
        for (int64_t i = 0; i < mesh->n_nodes; i++) centre[p] += mesh->nodes[3 * i + p];
        centre[p] /= (double)mesh->n_nodes;
    }
}

/* Root mean square distance of the nodes from their centre. */
static double radius_of(const modal_volume_mesh *mesh, const double centre[3])
{
    double sum = 0;
    for (int64_t i = 0; i < mesh->n_nodes; i++)
        for (int p = 0; p < 3; p++) sum += pow(mesh->nodes[3 * i + p] - centre[p], 2);
    return sqrt(sum / (double)mesh->n_nodes);
}

/* The eigenvector of the largest eigenvalue of a symmetric 4 x 4 matrix, by Jacobi's rotations. */
static void largest_eigenvector(double a[4][4], double vector[4])
{
    double q[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    for (int sweep = 0; sweep < 50; sweep++) {
        double off = 0, on = 0;
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) *(i == j ? &on : &off) += a[i][j] * a[i][j];
        if (!(off > 1e-32 * on)) break;
        for (int i = 0; i < 4; i++)
            for (int j = i + 1; j < 4; j++) {
                if (a[i][j] == 0) continue;
                const double angle = (a[j][j] - a[i][i]) / (2 * a[i][j]);
                const double tangent = copysign(1, angle) / (fabs(angle) + hypot(1, angle));
                const double c = 1 / hypot(1, tangent), s = c * tangent;
                for (int k = 0; k < 4; k++) {
                    const double x = a[k][i], y = a[k][j], u = q[k][i], v = q[k][j];
                    a[k][i] = c * x - s * y, a[k][j] = s * x + c * y;
                    q[k][i] = c * u - s * v, q[k][j] = s * u + c * v;
                }
                for (int k = 0; k < 4; k++) {
                    const double x = a[i][k], y = a[j][k];
                    a[i][k] = c * x - s * y, a[j][k] = s * x + c * y;
                }
            }
    }
    int best = 0;
    for (int i = 1; i < 4; i++)
        if (a[i][i] > a[best][best]) best = i;
    for (int i = 0; i < 4; i++) vector[i] = q[i][best];
}

static void best_rotation(const modal_volume_mesh *a, const double ca[3], const modal_volume_mesh *b,
                          const double cb[3], double r[9])
{
    double s[3][3] = {{0}}, v[4];
    for (int64_t i = 0; i < a->n_nodes; i++)
        for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++)
                s[p][q] += (a->nodes[3 * i + p] - ca[p]) * (b->nodes[3 * i + q] - cb[q]);
    double n[4][4] = {
        {s[0][0] + s[1][1] + s[2][2], s[1][2] - s[2][1], s[2][0] - s[0][2], s[0][1] - s[1][0]},
        {s[1][2] - s[2][1], s[0][0] - s[1][1] - s[2][2], s[0][1] + s[1][0], s[2][0] + s[0][2]},
        {s[2][0] - s[0][2], s[0][1] + s[1][0], s[1][1] - s[0][0] - s[2][2], s[1][2] + s[2][1]},
        {s[0][1] - s[1][0], s[2][0] + s[0][2], s[1][2] + s[2][1], s[2][2] - s[0][0] - s[1][1]}};
    largest_eigenvector(n, v);
    const double w = v[0], x = v[1], y = v[2], z = v[3];
    const double length = w * w + x * x + y * y + z * z;
    const double rotation[9] = {w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y),
                                2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x),
                                2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z};
    for (int k = 0; k < 9; k++) r[k] = rotation[k] / length;
}

static int same_terms(const modal_prony *a, const modal_prony *b)
{
    return a->n == b->n && memcmp(a->share, b->share, sizeof a->share) == 0 && memcmp(a->time, b->time, sizeof a->time) == 0;
}

static int same_material(const modal_material *a, const modal_material *b)
{
    return a->kind == b->kind && a->young == b->young && a->poisson == b->poisson &&
           a->density == b->density && memcmp(a->orthotropic, b->orthotropic, sizeof a->orthotropic) == 0 &&
           memcmp(a->axes, b->axes, sizeof a->axes) == 0 && a->law == b->law && a->fibre_stiffness == b->fibre_stiffness &&
           memcmp(a->fibre, b->fibre, sizeof a->fibre) == 0 && same_terms(&a->isochoric, &b->isochoric) &&
           same_terms(&a->volumetric, &b->volumetric);
}

/* All that a motion does not change. */
static int same_structure(const modal_solid *a, const modal_solid *b)
{
    const modal_volume_mesh *x = &a->mesh, *y = &b->mesh;
    if (x->n_nodes != y->n_nodes || x->n_elements != y->n_elements ||
        a->n_fixed_nodes != b->n_fixed_nodes)
        return 0;
    const size_t n = (size_t)x->n_elements, fixed = (size_t)a->n_fixed_nodes;
    if (x->stiffness_rule != y->stiffness_rule || memcmp(x->element_type, y->element_type, n) != 0 ||
        memcmp(x->element_offsets, y->element_offsets, (n + 1) * sizeof(int64_t)) != 0 ||
        memcmp(x->element_nodes, y->element_nodes, (size_t)x->element_offsets[n] * sizeof(int32_t)) != 0 ||
        memcmp(a->fixed_nodes, b->fixed_nodes, fixed * sizeof(int32_t)) != 0 ||
        memcmp(a->fixed_components, b->fixed_components, fixed) != 0)
        return 0;
    if (!x->element_fibres != !y->element_fibres ||
        (x->element_fibres && memcmp(x->element_fibres, y->element_fibres, 3 * n * sizeof(double)) != 0))
        return 0;
    for (size_t e = 0; e < n; e++)
        if (!same_material(&x->materials[x->element_material[e]], &y->materials[y->element_material[e]]))
            return 0;
    return 1;
}

int modal_shape_has_directions(const modal_shape *shape)
{
    for (int32_t m = 0; m < shape->solid.mesh.n_materials; m++)
        if (shape->solid.mesh.materials[m].kind == MODAL_MATERIAL_ORTHOTROPIC || shape->solid.mesh.materials[m].fibre_stiffness != 0)
            return 1;
    for (int64_t k = 0; k < shape->solid.n_fixed_nodes; k++)
        if (shape->solid.fixed_components[k] != MODAL_FIXED_ALL) return 1;
    return 0;
}

int modal_shapes_are_congruent(const modal_shape *a, const modal_shape *b, double pose[12])
{
    double ca[3], cb[3], r[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    if (!same_structure(&a->solid, &b->solid)) return 0;
    centre_of(&a->solid.mesh, ca);
    centre_of(&b->solid.mesh, cb);
    if (!modal_shape_has_directions(a)) best_rotation(&a->solid.mesh, ca, &b->solid.mesh, cb, r);
    double far = 0;
    for (int p = 0; p < 3; p++) {
        pose[4 * p + 3] = cb[p];
        for (int q = 0; q < 3; q++) {
            pose[4 * p + q] = r[3 * p + q];
            pose[4 * p + 3] -= r[3 * p + q] * ca[q];
        }
        far = fmax(far, fmax(fabs(ca[p]), fabs(cb[p])));
    }
    /* far from the origin coordinates hold fewer digits of the shape */
    const double limit = tolerance * radius_of(&a->solid.mesh, ca) + 1e-14 * far;
    for (int64_t i = 0; i < a->solid.mesh.n_nodes; i++)
        for (int p = 0; p < 3; p++) {
            double x = cb[p];
            for (int q = 0; q < 3; q++) x += r[3 * p + q] * (a->solid.mesh.nodes[3 * i + q] - ca[q]);
            if (!(fabs(x - b->solid.mesh.nodes[3 * i + p]) <= limit)) return 0;
        }
    return 1;
}

typedef struct entry {
    char hash[MODAL_HASH_TEXT]; /* of the structure */
    double radius;
    int64_t index;
} entry;

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    const int order = memcmp(x->hash, y->hash, sizeof x->hash);
    if (order != 0) return order;
    if (x->radius != y->radius) return x->radius < y->radius ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static modal_status hash_structure(const modal_solid *shape, char text[MODAL_HASH_TEXT], modal_error *err)
{
    const modal_volume_mesh *mesh = &shape->mesh;
    modal_hash *hash = NULL;
    const modal_status status = modal_hash_new(&hash, err);
    if (status != MODAL_OK) return status;
    modal_hash_array(hash, "types", mesh->element_type, mesh->n_elements, 1);
    modal_hash_array(hash, "nodes", mesh->element_nodes, mesh->element_offsets[mesh->n_elements],
                     sizeof(int32_t));
    modal_hash_array(hash, "fixed", shape->fixed_nodes, shape->n_fixed_nodes, sizeof(int32_t));
    modal_hash_text(hash, text);
    modal_hash_delete(hash);
    return MODAL_OK;
}

modal_status modal_shapes_find_congruent(int64_t n, const modal_shape *shapes, int64_t *first,
                                         double *poses, modal_error *err)
{
    static const double identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    modal_status status = MODAL_OK;
    entry *entries = NULL;
    int64_t *place = NULL;
    MODAL_TRY(modal_alloc_zero(&entries, n, sizeof *entries, "congruence", err));
    MODAL_TRY(modal_alloc(&place, n, sizeof *place, "congruence", err));
    for (int64_t k = 0; k < n; k++) {
        double centre[3];
        centre_of(&shapes[k].solid.mesh, centre);
        entries[k].radius = radius_of(&shapes[k].solid.mesh, centre);
        entries[k].index = k;
        MODAL_TRY(hash_structure(&shapes[k].solid, entries[k].hash, err));
        first[k] = k;
        memcpy(poses + 12 * k, identity, sizeof identity);
    }
    qsort(entries, (size_t)n, sizeof *entries, compare_entries);
    for (int64_t i = 0; i < n; i++) place[entries[i].index] = i;
    /* in the order of the shapes, each claims those like it that come later and are not claimed */
    for (int64_t k = 0; k < n; k++) {
        if (first[k] != k) continue;
        const entry *own = &entries[place[k]];
        for (int direction = -1; direction <= 1; direction += 2)
            for (int64_t i = place[k] + direction; i >= 0 && i < n; i += direction) {
                const entry *other = &entries[i];
                if (memcmp(other->hash, own->hash, sizeof own->hash) != 0 ||
                    !(fabs(other->radius - own->radius) <= 1e-8 * own->radius))
                    break;
                if (other->index > k && first[other->index] == other->index &&
                    modal_shapes_are_congruent(&shapes[k], &shapes[other->index],
                                               poses + 12 * other->index))
                    first[other->index] = k;
                else if (other->index > k && first[other->index] == other->index)
                    memcpy(poses + 12 * other->index, identity, sizeof identity);
            }
    }
done:
    modal_free(&entries);
    modal_free(&place);
    return status;
}
