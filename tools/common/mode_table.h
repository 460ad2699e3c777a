/* SPDX-License-Identifier: Apache-2.0 */
/* The modes of a shape as users look at them: frequency, participation, and the mass that moves with each when the
 * ground shakes along x, y or z (effective modal mass, p^2 / m of participation p and modal mass m).
 * Source: A. K. Chopra, "Dynamics of Structures", 4th edition, 2012, section 13.2. */
#ifndef TOOLS_COMMON_MODE_TABLE_H
#define TOOLS_COMMON_MODE_TABLE_H

#include <jansson.h>
#include <stdio.h>

#include "lib/model/basis.h"

/* "modes": an array of objects with frequency (Hz), eigenvalue, modal_mass (kg), residual, orthogonality (where
 * known), participation (kg^1/2, three) and effective_mass (kg, three).
 * "effective_mass_sum": of all modes, kg, three numbers; "effective_mass_rigid": of the rigid modes that were left
 * out, where the body is held nowhere: its whole mass. None of the masses where no solid is known; no sums of
 * imported columns, which need not be orthogonal, so that their masses do not add up. */
json_t *tool_mode_table(const modal_shape *shape);

/* Prints it: of an object that has these keys and total_mass, kg. */
void tool_put_mode_table(FILE *to, const char *indent, const json_t *shape);

#endif
