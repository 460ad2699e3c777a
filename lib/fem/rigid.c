/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/fem/rigid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/mesh/tetrahedron.h"

/* What the fixed nodes of a part hold. */
typedef struct support {
    int has_point;
    double point[3]; /* the first fixed point */
    double farthest; /* m, distance of the fixed point farthest from it */
    double axis[3];  /* unit vector towards that one */
    double off_axis; /* m, largest distance of a fixed point to the axis */
    double centre[3];
} support;

static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static modal_status find_parts(const modal_volume_mesh *mesh, const modal_fem_system *system,
                               modal_rigid_space *rigid, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = system->n_free;
    int32_t *parent = NULL;
    MODAL_TRY(modal_alloc(&parent, n, sizeof *parent, "parts", err));
    MODAL_TRY(modal_alloc(&rigid->part, n, sizeof *rigid->part, "parts", err));
    for (int64_t i = 0; i < n; i++) parent[i] = (int32_t)i;
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        int32_t first = -1;
        for (int64_t k = mesh->element_offsets[e]; k < mesh->element_offsets[e + 1]; k++) {
            const int32_t i = system->free_index[mesh->element_nodes[k]];
            if (i < 0) continue;
            const int32_t root = root_of(parent, i);
            if (first < 0) first = root;
            /* the smaller index stays the root, so a part is numbered by its first node */
            const int32_t low = root < first ? root : first, high = root < first ? first : root;
            parent[high] = low;
            first = low;
        }
    }
    for (int64_t i = 0; i < n; i++) {
        const int32_t root = root_of(parent, (int32_t)i);
        rigid->part[i] = root == i ? (int32_t)rigid->n_parts++ : rigid->part[root];
    }
done:
    modal_free(&parent);
    return status;
}

static double distance(const double a[3], const double b[3])
{
    double d[3];
    modal_subtract(a, b, d);
    return sqrt(modal_dot(d, d));
}

/* Goes three times over the fixed nodes of all parts: first point, farthest point, off the axis. */
static void find_supports(const modal_volume_mesh *mesh, const modal_fem_system *system,
                          const modal_rigid_space *rigid, support *supports)
{
    for (int pass = 0; pass < 3; pass++)
        for (int64_t e = 0; e < mesh->n_elements; e++) {
            const int32_t *nodes = modal_mesh_nodes(mesh, e);
            const int n_nodes = modal_mesh_kind(mesh, e)->n_nodes;
            int32_t part = -1;
            for (int a = 0; a < n_nodes && part < 0; a++)
                if (system->free_index[nodes[a]] >= 0)
                    part = rigid->part[system->free_index[nodes[a]]];
            if (part < 0) continue;
            support *held = &supports[part];
            for (int a = 0; a < n_nodes; a++) {
                if (system->free_index[nodes[a]] >= 0) continue;
                const double *x = mesh->nodes + 3 * (int64_t)nodes[a];
                double arm[3];
                if (pass == 0 && !held->has_point) {
                    held->has_point = 1;
                    memcpy(held->point, x, sizeof held->point);
                }
                modal_subtract(x, held->point, arm);
                const double length = sqrt(modal_dot(arm, arm));
                if (pass == 1 && length > held->farthest) {
                    held->farthest = length;
                    for (int p = 0; p < 3; p++) held->axis[p] = arm[p] / length;
                }
                if (pass == 2) {
                    double across[3];
                    modal_cross(held->axis, arm, across);
                    held->off_axis = fmax(held->off_axis, sqrt(modal_dot(across, across)));
                }
            }
        }
}

/* Velocity field of motion k of a part at x, scaled to about 1. */
static void motion_at(const support *held, int32_t n_motions, int32_t k, double size,
                      const double x[3], double u[3])
{
    double axis[3] = {0, 0, 0}, arm[3];
    if (n_motions == 6 && k < 3) {
        u[0] = u[1] = u[2] = 0;
        u[k] = 1;
        return;
    }
    if (n_motions == 1) memcpy(axis, held->axis, sizeof axis);
    else axis[k % 3] = 1;
    modal_subtract(x, n_motions == 6 ? held->centre : held->point, arm);
    modal_cross(axis, arm, u);
    for (int p = 0; p < 3; p++) u[p] /= size;
}

/* Inner products of two vectors part by part. */
static void part_products(const modal_rigid_space *rigid, int64_t n, const double *a,
                          const double *b, double *products)
{
    memset(products, 0, (size_t)rigid->n_parts * sizeof *products);
    for (int64_t i = 0; i < n; i++)
        products[rigid->part[i]] += modal_dot(a + 3 * i, b + 3 * i);
}

static void subtract_scaled(const modal_rigid_space *rigid, int64_t n, const double *factors,
                            const double *a, double *x)
{
    for (int64_t i = 0; i < n; i++)
        for (int p = 0; p < 3; p++) x[3 * i + p] -= factors[rigid->part[i]] * a[3 * i + p];
}

static void orthonormalise(modal_rigid_space *rigid, const modal_fem_system *system)
{
    const int64_t n = system->n_free;
    double *products = rigid->coefficients;
    for (int32_t k = 0; k < rigid->depth; k++) {
        double *x = rigid->motions + 3 * n * k, *mx = rigid->mass_motions + 3 * n * k;
        for (int pass = 0; pass < 2; pass++)
            for (int32_t j = 0; j < k; j++) {
                part_products(rigid, n, x, rigid->mass_motions + 3 * n * j, products);
                subtract_scaled(rigid, n, products, rigid->motions + 3 * n * j, x);
            }
        modal_identity_blocks_multiply(&system->pattern, system->mass, 1, x, mx, 1);
        part_products(rigid, n, x, mx, products);
        for (int64_t i = 0; i < n; i++) {
            const double square = products[rigid->part[i]];
            const double scale = square > 0 ? 1 / sqrt(square) : 0;
            for (int p = 0; p < 3; p++) {
                x[3 * i + p] *= scale;
                mx[3 * i + p] *= scale;
            }
        }
    }
}

/* Fills n_motions, n_rigid, depth and part_size; centres of the parts go to supports. */
static modal_status count_motions(const modal_volume_mesh *mesh, const modal_fem_system *system,
                                  modal_rigid_space *rigid, support *supports, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t *sizes = NULL;
    int32_t *first = NULL;
    MODAL_TRY(modal_alloc_zero(&sizes, rigid->n_parts, sizeof *sizes, "parts", err));
    MODAL_TRY(modal_alloc(&first, rigid->n_parts, sizeof *first, "parts", err));
    for (int64_t i = 0; i < system->n_free; i++) {
        const int32_t part = rigid->part[i];
        const double *x = mesh->nodes + 3 * (int64_t)system->free_nodes[i];
        if (sizes[part]++ == 0) first[part] = system->free_nodes[i];
        const double *origin = mesh->nodes + 3 * (int64_t)first[part];
        /* relative to a node of the part: a part far from the origin keeps its digits */
        for (int p = 0; p < 3; p++) supports[part].centre[p] += x[p] - origin[p];
        rigid->part_size[part] = fmax(rigid->part_size[part], distance(x, origin));
    }
    for (int64_t part = 0; part < rigid->n_parts; part++) {
        support *held = &supports[part];
        const double *origin = mesh->nodes + 3 * (int64_t)first[part];
        double *size = &rigid->part_size[part];
        for (int p = 0; p < 3; p++)
            held->centre[p] = origin[p] + held->centre[p] / (double)sizes[part];
        if (held->has_point) *size = fmax(*size, distance(held->point, origin));
        *size = fmax(*size, held->farthest);
        int32_t n_motions = 0;
        if (!held->has_point) n_motions = 6;
        else if (held->farthest <= 1e-8 * *size) n_motions = 3;
        else if (held->off_axis <= 1e-8 * *size) n_motions = 1;
        rigid->n_motions[part] = n_motions;
        rigid->n_rigid += n_motions;
        if (n_motions > rigid->depth) rigid->depth = n_motions;
    }
done:
    modal_free(&sizes);
    modal_free(&first);
    return status;
}

modal_status modal_rigid_space_build(const modal_volume_mesh *mesh, const modal_fem_system *system,
                                     int n_threads, modal_rigid_space *rigid, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = system->n_free;
    support *supports = NULL;
    memset(rigid, 0, sizeof *rigid);
    rigid->n_free = n;
    MODAL_TRY(find_parts(mesh, system, rigid, err));
    MODAL_TRY(modal_alloc_zero(&supports, rigid->n_parts, sizeof *supports, "parts", err));
    MODAL_TRY(modal_alloc_zero(&rigid->n_motions, rigid->n_parts, sizeof *rigid->n_motions, "parts",
                               err));
    MODAL_TRY(modal_alloc_zero(&rigid->part_size, rigid->n_parts, sizeof *rigid->part_size, "parts",
                               err));
    MODAL_TRY(modal_alloc(&rigid->coefficients, rigid->n_parts, sizeof *rigid->coefficients, "parts",
                          err));
    find_supports(mesh, system, rigid, supports);
    MODAL_TRY(count_motions(mesh, system, rigid, supports, err));
    MODAL_TRY(modal_alloc_zero(&rigid->motions, rigid->depth * n, 3 * sizeof *rigid->motions,
                               "rigid motions", err));
    MODAL_TRY(modal_alloc(&rigid->mass_motions, rigid->depth * n, 3 * sizeof *rigid->mass_motions,
                          "rigid motions", err));
#pragma omp parallel for schedule(static) num_threads(n_threads)
    for (int64_t i = 0; i < n; i++) {
        const int32_t part = rigid->part[i];
        for (int32_t k = 0; k < rigid->n_motions[part]; k++)
            motion_at(&supports[part], rigid->n_motions[part], k, rigid->part_size[part],
                      mesh->nodes + 3 * (int64_t)system->free_nodes[i],
                      rigid->motions + 3 * (k * n + i));
    }
    orthonormalise(rigid, system);
done:
    modal_free(&supports);
    if (status != MODAL_OK) modal_rigid_space_free(rigid);
    return status;
}

void modal_rigid_space_free(modal_rigid_space *rigid)
{
    modal_free(&rigid->part);
    modal_free(&rigid->n_motions);
    modal_free(&rigid->part_size);
    modal_free(&rigid->motions);
    modal_free(&rigid->mass_motions);
    modal_free(&rigid->coefficients);
    memset(rigid, 0, sizeof *rigid);
}

void modal_rigid_remove(modal_rigid_space *rigid, int64_t n_vectors, double *x)
{
    if (rigid->depth == 0) return;
    const int64_t n = rigid->n_free;
    for (int64_t v = 0; v < n_vectors; v++)
        for (int32_t k = 0; k < rigid->depth; k++) {
            part_products(rigid, n, rigid->mass_motions + 3 * n * k, x + 3 * n * v,
                          rigid->coefficients);
            subtract_scaled(rigid, n, rigid->coefficients, rigid->motions + 3 * n * k,
                            x + 3 * n * v);
        }
}

static int compare_magnitudes(const void *a, const void *b)
{
    const double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x > y) - (x < y);
}

void modal_rigid_eigenvalues(const modal_rigid_space *rigid, const modal_fem_system *system,
                             int n_threads, double *scratch, double *eigenvalues)
{
    const int64_t n = rigid->n_free;
    int64_t count = 0;
    if (rigid->depth == 0) return;
    modal_blocks_multiply(&system->pattern, system->stiffness, rigid->depth, rigid->motions, scratch,
                          n_threads);
    for (int32_t k = 0; k < rigid->depth; k++) {
        part_products(rigid, n, rigid->motions + 3 * n * k, scratch + 3 * n * k,
                      rigid->coefficients);
        for (int64_t part = 0; part < rigid->n_parts; part++)
            if (k < rigid->n_motions[part]) eigenvalues[count++] = rigid->coefficients[part];
    }
    qsort(eigenvalues, (size_t)count, sizeof *eigenvalues, compare_magnitudes);
}
