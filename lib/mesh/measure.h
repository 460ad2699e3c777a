/* SPDX-License-Identifier: Apache-2.0 */
/* The volume of an element, and whether its shape is sound at its quadrature points. */
#ifndef MODAL_MESH_MEASURE_H
#define MODAL_MESH_MEASURE_H

#include "lib/base/status.h"
#include "lib/mesh/element_shape.h"
#include "lib/model/volume_mesh.h"

/* Both rules of each type that occurs. Zeroed: none made yet. */
typedef struct modal_rule_table {
    modal_element_rule *rules[MODAL_ELEMENT_TYPES]; /* [2] by modal_element_integral, or NULL */
} modal_rule_table;

/* Makes the rules of all types but TET4 that the mesh has. Types must be in range. On an error the
 * table is zeroed. */
modal_status modal_rule_table_init(const modal_volume_mesh *mesh, modal_rule_table *table,
                                   modal_error *err);
void modal_rule_table_free(modal_rule_table *table);

typedef struct modal_measure {
    int sign;        /* of the volume (TET4) or of all Jacobians; 0: too small to tell, or mixed */
    double volume;   /* m^3 */
    double jacobian; /* m^3, the least, at this of so many points of its rule; 0 for TET4 */
    int where, n_points;
} modal_measure;

/* Too small is |6 V| or a Jacobian not above 1e-14 (longest edge between corners)^3; what is not a
 * number has the sign 0. */
modal_measure modal_element_measure(const modal_volume_mesh *mesh, int64_t element,
                                    const modal_rule_table *table);

/* Refuses an element of sign <= 0 by its user tag; n_bad > 0 tells of how many. MODAL_ERROR_INPUT. */
modal_status modal_element_refuse(const modal_volume_mesh *mesh, int64_t element,
                                  const modal_measure *found, int64_t n_bad, modal_error *err);

#endif
