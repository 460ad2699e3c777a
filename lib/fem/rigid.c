/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/fem/rigid.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/mesh/tetrahedron.h"

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

/* Takes one row into R by Givens rotations. */
static void add_row(modal_rigid_part *held, double row[6])
{
    for (int k = 0; k < 6; k++) {
        if (row[k] == 0) continue;
        const double length = hypot(held->triangle[k][k], row[k]);
        const double c = held->triangle[k][k] / length, s = row[k] / length;
        for (int i = k; i < 6; i++) {
            const double above = held->triangle[k][i];
            held->triangle[k][i] = c * above + s * row[i];
            row[i] = c * row[i] - s * above;
        }
    }
    held->n_rows++;
}

/* Rows of a node of the part: the three components, or those in the mask. */
static void hold_node(modal_rigid_part *held, double size, const double x[3], int components)
{
    double arm[3];
    modal_subtract(x, held->centre, arm);
    for (int k = 0; k < 3; k++) arm[k] /= size;
    for (int p = 0; p < 3; p++) {
        const int q = (p + 1) % 3, r = (p + 2) % 3;
        double row[6] = {0};
        if (!(components >> p & 1)) continue;
        /* (w x arm)_p = w_q arm_r - w_r arm_q */
        row[p] = 1;
        row[3 + q] = arm[r];
        row[3 + r] = -arm[q];
        add_row(held, row);
    }
}

/* The rows of everything that is held. A node of several elements comes several times, which changes
 * nothing. */
static void find_supports(const modal_volume_mesh *mesh, const modal_fem_system *system,
                          const modal_rigid_space *rigid, modal_rigid_part *parts)
{
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const int32_t *nodes = modal_mesh_nodes(mesh, e);
        const int n_nodes = modal_mesh_kind(mesh, e)->n_nodes;
        int32_t part = -1;
        for (int a = 0; a < n_nodes && part < 0; a++)
            if (system->free_index[nodes[a]] >= 0)
                part = rigid->part[system->free_index[nodes[a]]];
        if (part < 0) continue;
        for (int a = 0; a < n_nodes; a++)
            if (system->free_index[nodes[a]] < 0)
                hold_node(&parts[part], rigid->part_size[part],
                          mesh->nodes + 3 * (int64_t)nodes[a], MODAL_FIXED_ALL);
    }
    for (int64_t i = 0; system->pattern.held && i < system->n_free; i++)
        hold_node(&parts[rigid->part[i]], rigid->part_size[rigid->part[i]],
                  mesh->nodes + 3 * (int64_t)system->free_nodes[i], system->pattern.held[i]);
}

/* The null space of R: right singular vectors by Jacobi rotations of its columns (J. Demmel,
 * K. Veselic, "Jacobi's method is more accurate than QR", 1992). Returns its dimension. */
static int32_t find_null_space(modal_rigid_part *held)
{
    double a[6][6], v[6][6] = {{0}}; /* a = R v, kept by columns: a[column][row] */
    for (int i = 0; i < 6; i++) {
        v[i][i] = 1;
        for (int k = 0; k < 6; k++) a[i][k] = held->triangle[k][i];
    }
    for (int sweep = 0; sweep < 30; sweep++) {
        int turned = 0;
        for (int i = 0; i < 6; i++)
            for (int j = i + 1; j < 6; j++) {
                double ii = 0, jj = 0, ij = 0;
                for (int k = 0; k < 6; k++) {
                    ii += a[i][k] * a[i][k];
                    jj += a[j][k] * a[j][k];
                    ij += a[i][k] * a[j][k];
                }
                if (!(fabs(ij) > 1e-16 * sqrt(ii * jj))) continue;
                turned = 1;
                const double zeta = (jj - ii) / (2 * ij);
                const double t = (zeta >= 0 ? 1 : -1) / (fabs(zeta) + sqrt(1 + zeta * zeta));
                const double c = 1 / sqrt(1 + t * t), s = c * t;
                for (int k = 0; k < 6; k++) {
                    const double x = a[i][k], y = v[i][k];
                    a[i][k] = c * x - s * a[j][k];
                    a[j][k] = s * x + c * a[j][k];
                    v[i][k] = c * y - s * v[j][k];
                    v[j][k] = s * y + c * v[j][k];
                }
            }
        if (!turned) break;
    }
    int32_t n = 0;
    for (int i = 0; i < 6; i++) {
        double square = 0;
        for (int k = 0; k < 6; k++) square += a[i][k] * a[i][k];
        if (!(sqrt(square) <= 1e-8 * sqrt((double)held->n_rows))) continue;
        memcpy(held->motions[n++], v[i], sizeof v[i]);
    }
    return n;
}

void modal_rigid_motion_at(const modal_rigid_part *part, int32_t k, double size, const double x[3], int components,
                           double u[3])
{
    const double *motion = part->motions[k];
    double arm[3];
    modal_subtract(x, part->centre, arm);
    modal_cross(motion + 3, arm, u);
    for (int p = 0; p < 3; p++) u[p] = components >> p & 1 ? 0 : motion[p] + u[p] / size;
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

/* Centres and sizes of the parts. */
static modal_status measure_parts(const modal_volume_mesh *mesh, const modal_fem_system *system,
                                  modal_rigid_space *rigid, modal_rigid_part *parts, modal_error *err)
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
        for (int p = 0; p < 3; p++) parts[part].centre[p] += x[p] - origin[p];
        rigid->part_size[part] = fmax(rigid->part_size[part], distance(x, origin));
    }
    /* fixed nodes belong to a part's size, too */
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const int32_t *nodes = modal_mesh_nodes(mesh, e);
        const int n_nodes = modal_mesh_kind(mesh, e)->n_nodes;
        int32_t part = -1;
        for (int a = 0; a < n_nodes && part < 0; a++)
            if (system->free_index[nodes[a]] >= 0)
                part = rigid->part[system->free_index[nodes[a]]];
        for (int a = 0; part >= 0 && a < n_nodes; a++)
            if (system->free_index[nodes[a]] < 0)
                rigid->part_size[part] =
                    fmax(rigid->part_size[part], distance(mesh->nodes + 3 * (int64_t)nodes[a],
                                                          mesh->nodes + 3 * (int64_t)first[part]));
    }
    for (int64_t part = 0; part < rigid->n_parts; part++)
        for (int p = 0; p < 3; p++)
            parts[part].centre[p] = mesh->nodes[3 * (int64_t)first[part] + p] +
                                       parts[part].centre[p] / (double)sizes[part];
done:
    modal_free(&sizes);
    modal_free(&first);
    return status;
}

modal_status modal_rigid_parts_find(const modal_volume_mesh *mesh, const modal_fem_system *system, modal_rigid_space *rigid,
                                    modal_rigid_part **parts, modal_error *err)
{
    modal_status status = MODAL_OK;
    memset(rigid, 0, sizeof *rigid);
    *parts = NULL;
    rigid->n_free = system->n_free;
    MODAL_TRY(find_parts(mesh, system, rigid, err));
    MODAL_TRY(modal_alloc_zero(parts, rigid->n_parts, sizeof **parts, "parts", err));
    MODAL_TRY(modal_alloc_zero(&rigid->n_motions, rigid->n_parts, sizeof *rigid->n_motions, "parts",
                               err));
    MODAL_TRY(modal_alloc_zero(&rigid->part_size, rigid->n_parts, sizeof *rigid->part_size, "parts",
                               err));
    MODAL_TRY(measure_parts(mesh, system, rigid, *parts, err));
    find_supports(mesh, system, rigid, *parts);
    for (int64_t part = 0; part < rigid->n_parts; part++) {
        const int32_t n_motions = find_null_space(&(*parts)[part]);
        rigid->n_motions[part] = n_motions;
        rigid->n_rigid += n_motions;
        if (n_motions > rigid->depth) rigid->depth = n_motions;
    }
done:
    if (status != MODAL_OK) {
        modal_free(parts);
        modal_rigid_space_free(rigid);
    }
    return status;
}

modal_status modal_rigid_space_build(const modal_volume_mesh *mesh, const modal_fem_system *system,
                                     int n_threads, modal_rigid_space *rigid, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = system->n_free;
    modal_rigid_part *parts = NULL;
    MODAL_TRY(modal_rigid_parts_find(mesh, system, rigid, &parts, err));
    MODAL_TRY(modal_alloc(&rigid->coefficients, rigid->n_parts, sizeof *rigid->coefficients, "parts",
                          err));
    MODAL_TRY(modal_alloc_zero(&rigid->motions, rigid->depth * n, 3 * sizeof *rigid->motions,
                               "rigid motions", err));
    MODAL_TRY(modal_alloc(&rigid->mass_motions, rigid->depth * n, 3 * sizeof *rigid->mass_motions,
                          "rigid motions", err));
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(n_threads))
    for (int64_t i = 0; i < n; i++) {
        const int32_t part = rigid->part[i];
        for (int32_t k = 0; k < rigid->n_motions[part]; k++)
            modal_rigid_motion_at(&parts[part], k, rigid->part_size[part],
                                  mesh->nodes + 3 * (int64_t)system->free_nodes[i],
                                  system->pattern.held ? system->pattern.held[i] : 0,
                                  rigid->motions + 3 * (k * n + i));
    }
    orthonormalise(rigid, system);
done:
    modal_free(&parts);
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

double modal_energy_rounding(const modal_fem_system *system, const double *x)
{
    double sum = 0;
    for (int64_t i = 0; i < system->n_free; i++) {
        const double *diagonal = system->stiffness + 9 * system->pattern.offsets[i];
        for (int p = 0; p < 3; p++) sum += diagonal[4 * p] * x[3 * i + p] * x[3 * i + p];
    }
    return 64 * DBL_EPSILON * sum;
}
