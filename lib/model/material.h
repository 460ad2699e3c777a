/* SPDX-License-Identifier: Apache-2.0 */
/* What a material must satisfy. Its elasticity tensor and its laws are in lib/laws. */
#ifndef MODAL_MODEL_MATERIAL_H
#define MODAL_MODEL_MATERIAL_H

#include "lib/base/status.h"
#include "lib/model/volume_mesh.h"

/* The constants of modal_material.orthotropic, in order: "E1" ... "G23". */
extern const char *const modal_orthotropic_names[9];

/* Laws of large deformations, as files name them, in the order of modal_law_kind (lib/laws/law.h); 0, "linear", stands for
 * none that was said. Those from MODAL_MATERIAL_ISOTROPIC_LAWS on are of isotropic materials. */
enum { MODAL_MATERIAL_LAWS = 4, MODAL_MATERIAL_ISOTROPIC_LAWS = 2 };
extern const char *const modal_material_law_names[MODAL_MATERIAL_LAWS];

/* Whether anything is said of large deformations: a law, fibres or viscosity. */
int modal_material_says_more(const modal_material *material);

/* Checks one material: its strain energy must be positive definite, the density > 0, the axes a
 * rotation within 1e-6. Isotropic: E > 0, -1 < nu < 1/2. Orthotropic: E_i > 0, G_ij > 0,
 * |nu_ij| < sqrt(E_i / E_j), and 1 - nu12 nu21 - nu23 nu32 - nu13 nu31 - 2 nu21 nu32 nu13 > 0 with
 * nu_ji = nu_ij E_j / E_i. Fibres: a stiffness >= 0, a unit vector or 0. Prony: shares and times > 0, the shares' sum < 1.
 * MODAL_ERROR_INPUT names the material, the constant and its value.
 * Source: R. M. Jones, "Mechanics of Composite Materials", 2nd edition, 1999, section 2.4. */
modal_status modal_material_check(const modal_material *material, modal_error *err);

/* 1 - nu12 nu21 - nu23 nu32 - nu13 nu31 - 2 nu21 nu32 nu13 of the nine constants: E1 E2 E3 times the determinant
 * of the normal part of the compliance. */
double modal_orthotropic_determinant(const double constants[9]);

/* Poisson's ratio from which linear elements lock noticeably. */
#define MODAL_NEARLY_INCOMPRESSIBLE 0.49

/* The least of Young's moduli, Pa. */
double modal_material_least_young(const modal_material *material);

#endif
