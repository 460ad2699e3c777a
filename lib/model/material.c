/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/material.h"

#include <math.h>
#include <string.h>

const char *const modal_orthotropic_names[9] = {"E1",   "E2",  "E3",  "nu12", "nu13",
                                                "nu23", "G12", "G13", "G23"};

enum { E1, E2, E3, NU12, NU13, NU23, G12, G13, G23 };

/* The two axes of nu_ij and G_ij, in order 12, 13, 23. */
static const int pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};

double modal_orthotropic_determinant(const double c[9])
{
    const double nu21 = c[NU12] * c[E2] / c[E1], nu31 = c[NU13] * c[E3] / c[E1];
    const double nu32 = c[NU23] * c[E3] / c[E2];
    return 1 - c[NU12] * nu21 - c[NU23] * nu32 - c[NU13] * nu31 - 2 * nu21 * nu32 * c[NU13];
}

static modal_status check_axes(const char *name, const double *axes, modal_error *err)
{
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            const double *a = axes + 3 * i, *b = axes + 3 * j;
            const double product = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
            if (!(fabs(product - (i == j)) <= 1e-6))
                return modal_error_set(err, MODAL_ERROR_INPUT,
                                       "material \"%s\": axes %d and %d must have the product %d, %g",
                                       name, i + 1, j + 1, i == j, product);
        }
    const double *a = axes;
    const double determinant = a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) +
                               a[2] * (a[3] * a[7] - a[4] * a[6]);
    if (!(determinant > 0))
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "material \"%s\": axes must be right-handed, determinant %g", name,
                               determinant);
    return MODAL_OK;
}

static modal_status check_orthotropic(const modal_material *material, const char *name,
                                      modal_error *err)
{
    const double *c = material->orthotropic;
    for (int i = 0; i < 9; i++)
        if (!isfinite(c[i]) || (!(c[i] > 0) && (i < NU12 || i > NU23)))
            return modal_error_set(err, MODAL_ERROR_INPUT, "material \"%s\": %s must be %sfinite, %g",
                                   name, modal_orthotropic_names[i],
                                   i < NU12 || i > NU23 ? "> 0 and " : "", c[i]);
    for (int i = 0; i < 3; i++) {
        const double bound = sqrt(c[pairs[i][0]] / c[pairs[i][1]]);
        if (!(fabs(c[NU12 + i]) < bound))
            return modal_error_set(err, MODAL_ERROR_INPUT,
                                   "material \"%s\": |%s| must be less than sqrt(E%d / E%d) = %g, %g",
                                   name, modal_orthotropic_names[NU12 + i], pairs[i][0] + 1,
                                   pairs[i][1] + 1, bound, c[NU12 + i]);
    }
    const double determinant = modal_orthotropic_determinant(c);
    if (!(determinant > 0))
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "material \"%s\": nu12, nu13 and nu23 are not positive definite together, "
                               "1 - nu12 nu21 - nu23 nu32 - nu13 nu31 - 2 nu21 nu32 nu13 = %g",
                               name, determinant);
    return check_axes(name, material->axes, err);
}

modal_status modal_material_check(const modal_material *material, modal_error *err)
{
    const char *name = material->name ? material->name : "";
    if (!(isfinite(material->density) && material->density > 0))
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "material \"%s\": density rho must be > 0 and finite, %g kg/m^3",
                               name, material->density);
    if (material->kind == MODAL_MATERIAL_ORTHOTROPIC)
        return check_orthotropic(material, name, err);
    if (material->kind != MODAL_MATERIAL_ISOTROPIC)
        return modal_error_set(err, MODAL_ERROR_INPUT, "material \"%s\": no kind of number %d", name,
                               (int)material->kind);
    if (!(isfinite(material->young) && material->young > 0))
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "material \"%s\": Young's modulus E must be > 0 and finite, %g Pa",
                               name, material->young);
    if (!(material->poisson > -1 && material->poisson < 0.5))
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "material \"%s\": Poisson's ratio nu must be in (-1, 0.5), %g", name,
                               material->poisson);
    return MODAL_OK;
}

double modal_material_least_young(const modal_material *material)
{
    if (material->kind == MODAL_MATERIAL_ISOTROPIC) return material->young;
    return fmin(material->orthotropic[E1], fmin(material->orthotropic[E2], material->orthotropic[E3]));
}
