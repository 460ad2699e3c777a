/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/reduced/elements.h"

#include <math.h>
#include <string.h>

#include "lib/fem/assemble.h"
#include "lib/fem/tetrahedron.h"
#include "lib/mesh/material.h"

enum { LANES = REDUCED_LANES };

/* Axes of the strains in order: xx yy zz yz xz xy. */
static const int shear[3][2] = {{1, 2}, {0, 2}, {0, 1}};

/* Cholesky: the upper triangle, by rows, of R with R^T R = scale * C. */
static void elasticity_root(const modal_material *material, double scale, double root[REDUCED_ROOT])
{
    double tensor[9][9], c[6][6], r[6][6] = {{0}};
    int place[6];
    modal_material_tensor(material, tensor);
    for (int i = 0; i < 3; i++) {
        place[i] = 4 * i;
        place[3 + i] = 3 * shear[i][0] + shear[i][1];
    }
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) c[i][j] = scale * tensor[place[i]][place[j]];
    int at = 0;
    for (int i = 0; i < 6; i++)
        for (int j = i; j < 6; j++) {
            double sum = c[i][j];
            for (int k = 0; k < i; k++) sum -= r[k][i] * r[k][j];
            r[i][j] = i == j ? sqrt(sum) : sum / r[i][i];
            root[at++] = r[i][j];
        }
}

modal_status reduced_elements_load(const modal_volume_mesh *mesh, int64_t first,
                                   reduced_elements *block, modal_error *err)
{
    memset(block, 0, sizeof *block);
    for (int lane = 0; lane < LANES && first + lane < mesh->n_elements; lane++) {
        const int64_t e = first + lane;
        const long long tag = (long long)mesh->element_tags[e];
        const int32_t m = mesh->element_material[e];
        const double *corners[4];
        double gradients[4][3], root[REDUCED_ROOT];
        if (mesh->element_type[e] != MODAL_ELEMENT_TET4)
            return modal_error_set(err, MODAL_ERROR_INPUT,
                                   "element %lld: large deformations need linear tetrahedra, %s", tag,
                                   modal_mesh_kind(mesh, e)->name);
        if (m < 0 || m >= mesh->n_materials)
            return modal_error_set(err, MODAL_ERROR_INPUT, "element %lld: no material", tag);
        modal_status status = modal_material_check(&mesh->materials[m], err);
        if (status != MODAL_OK) return status;
        for (int a = 0; a < 4; a++) {
            const int32_t node = modal_mesh_nodes(mesh, e)[a];
            if (node < 0 || node >= mesh->n_nodes)
                return modal_error_set(err, MODAL_ERROR_INPUT, "element %lld: node index %d of %lld",
                                       tag, node, (long long)mesh->n_nodes);
            corners[a] = mesh->nodes + 3 * (int64_t)node;
            block->nodes[a][lane] = node;
        }
        const double volume = modal_tetrahedron_gradients(corners, gradients);
        if (!(volume > 0 && isfinite(volume)))
            return modal_error_set(err, MODAL_ERROR_INPUT, "element %lld: volume %g m^3", tag, volume);
        elasticity_root(&mesh->materials[m], volume, root);
        for (int a = 0; a < 4; a++)
            for (int k = 0; k < 3; k++) block->gradients[a][k][lane] = gradients[a][k];
        for (int k = 0; k < REDUCED_ROOT; k++) block->root[k][lane] = root[k];
    }
    return MODAL_OK;
}

void reduced_elements_gradient(const reduced_elements *block, const double *u,
                               double gradient[restrict][LANES])
{
    double corner[3][LANES];
    for (int a = 0; a < 4; a++) {
        for (int lane = 0; lane < LANES; lane++) {
            const double *at = u + 3 * (int64_t)block->nodes[a][lane];
            for (int p = 0; p < 3; p++) corner[p][lane] = at[p];
        }
        for (int p = 0; p < 3; p++)
            for (int k = 0; k < 3; k++) {
                double *sum = gradient[3 * p + k];
                const double *g = block->gradients[a][k];
                for (int lane = 0; lane < LANES; lane++)
                    sum[lane] = (a ? sum[lane] : 0) + corner[p][lane] * g[lane];
            }
    }
}

void reduced_linear_strain(double g[restrict][LANES], double strain[restrict][LANES])
{
    for (int k = 0; k < 3; k++)
        for (int lane = 0; lane < LANES; lane++) {
            strain[k][lane] = g[4 * k][lane];
            strain[3 + k][lane] =
                g[3 * shear[k][0] + shear[k][1]][lane] + g[3 * shear[k][1] + shear[k][0]][lane];
        }
}

void reduced_product_strain(double a[restrict][LANES], double b[restrict][LANES],
                            double scale, double strain[restrict][LANES])
{
    for (int k = 0; k < 3; k++) {
        const int p = shear[k][0], q = shear[k][1];
        for (int lane = 0; lane < LANES; lane++) {
            strain[k][lane] = scale * (a[k][lane] * b[k][lane] + a[3 + k][lane] * b[3 + k][lane] +
                                       a[6 + k][lane] * b[6 + k][lane]);
            strain[3 + k][lane] =
                scale * (a[p][lane] * b[q][lane] + a[q][lane] * b[p][lane] +
                         a[3 + p][lane] * b[3 + q][lane] + a[3 + q][lane] * b[3 + p][lane] +
                         a[6 + p][lane] * b[6 + q][lane] + a[6 + q][lane] * b[6 + p][lane]);
        }
    }
}

void reduced_root_times(const reduced_elements *block, double strain[restrict][LANES],
                        double out[restrict][LANES])
{
    for (int i = 0, at = 0; i < 6; i++)
        for (int j = i; j < 6; j++, at++)
            for (int lane = 0; lane < LANES; lane++)
                out[i][lane] =
                    (j > i ? out[i][lane] : 0) + block->root[at][lane] * strain[j][lane];
}

void reduced_stress(const reduced_elements *block, double strain[restrict][LANES],
                    double stress[restrict][LANES])
{
    static const int place[6][2] = {{0, 0}, {4, 4}, {8, 8}, {5, 7}, {2, 6}, {1, 3}};
    double half[6][LANES], voigt[6][LANES] = {{0}};
    reduced_root_times(block, strain, half);
    for (int i = 0, at = 0; i < 6; i++)
        for (int j = i; j < 6; j++, at++)
            for (int lane = 0; lane < LANES; lane++)
                voigt[j][lane] += block->root[at][lane] * half[i][lane];
    for (int k = 0; k < 6; k++)
        for (int lane = 0; lane < LANES; lane++)
            stress[place[k][0]][lane] = stress[place[k][1]][lane] = voigt[k][lane];
}
