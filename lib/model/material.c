/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/material.h"

#include <math.h>
#include <string.h>

const char *const modal_orthotropic_names[9] = {"E1",   "E2",  "E3",  "nu12", "nu13",
                                                "nu23", "G12", "G13", "G23"};

const char *const modal_material_law_names[MODAL_MATERIAL_LAWS] = {"linear", "stvk", "neo_hookean", "logarithmic"};

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

int modal_material_says_more(const modal_material *m)
{
    return m->law != 0 || m->fibre_stiffness != 0 || m->isochoric.n != 0 || m->volumetric.n != 0;
}

static modal_status check_prony(const char *name, const char *part, const modal_prony *p, modal_error *err)
{
    double sum = 0;
    if (p->n < 0 || p->n > MODAL_PRONY_TERMS)
        return modal_error_set(err, MODAL_ERROR_INPUT, "material \"%s\": %s Prony terms must be at most %d, %d", name, part,
                               MODAL_PRONY_TERMS, p->n);
    for (int i = 0; i < p->n; i++) {
        sum += p->share[i];
        if (!(p->share[i] > 0))
            return modal_error_set(err, MODAL_ERROR_INPUT, "material \"%s\": %s Prony term %d: the share must be > 0, %g", name, part,
                                   i, p->share[i]);
        if (!(p->time[i] > 0 && isfinite(p->time[i])))
            return modal_error_set(err, MODAL_ERROR_INPUT, "material \"%s\": %s Prony term %d: the time must be > 0 and finite, %g s",
                                   name, part, i, p->time[i]);
    }
    if (!(sum < 1))
        return modal_error_set(err, MODAL_ERROR_INPUT, "material \"%s\": the sum of the %s Prony shares must be < 1, %g", name, part,
                               sum);
    return MODAL_OK;
}

/* What is said of large deformations. */
static modal_status check_more(const modal_material *m, const char *name, modal_error *err)
{
    const double *a = m->fibre, length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    if (m->law < 0 || m->law >= MODAL_MATERIAL_LAWS)
        return modal_error_set(err, MODAL_ERROR_INPUT, "material \"%s\": no law of number %d", name, m->law);
    if (m->law >= MODAL_MATERIAL_ISOTROPIC_LAWS && m->kind != MODAL_MATERIAL_ISOTROPIC)
        return modal_error_set(err, MODAL_ERROR_INPUT, "material \"%s\": an orthotropic material has no law %s", name,
                               modal_material_law_names[m->law]);
    if (!(m->fibre_stiffness >= 0 && isfinite(m->fibre_stiffness)))
        return modal_error_set(err, MODAL_ERROR_INPUT, "material \"%s\": the fibres' stiffness must be >= 0 and finite, %g Pa", name,
                               m->fibre_stiffness);
    if (!(length == 0 || fabs(length - 1) <= 1e-6))
        return modal_error_set(err, MODAL_ERROR_INPUT, "material \"%s\": the fibres' direction must have the length 1, %g", name, length);
    const modal_status status = check_prony(name, "isochoric", &m->isochoric, err);
    return status == MODAL_OK ? check_prony(name, "volumetric", &m->volumetric, err) : status;
}

modal_status modal_material_check(const modal_material *material, modal_error *err)
{
    const char *name = material->name ? material->name : "";
    if (!(isfinite(material->density) && material->density > 0))
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "material \"%s\": density rho must be > 0 and finite, %g kg/m^3",
                               name, material->density);
    const modal_status more = check_more(material, name, err);
    if (more != MODAL_OK) return more;
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
