/* SPDX-License-Identifier: Apache-2.0 */
/* stress_points BASIS.h5 Q: of the first shape, whose first column moves by Q, the values at all points of all elements: a
 * line "element x y z xx yy zz xy yz xz von_mises" each, by the linear law. For comparisons with other programs. */
#include <stdio.h>
#include <stdlib.h>

#include "formats/basis/basis_h5.h"
#include "lib/base/memory.h"
#include "lib/fem/stress.h"
#include "lib/model/node_modes.h"

int main(int argc, char **argv)
{
    modal_basis basis;
    modal_node_modes modes;
    modal_stress *stress;
    modal_error err = {0};
    double *u = NULL;
    if (argc != 3) return 2;
    if (modal_basis_read(argv[1], MODAL_BASIS_ALL, &basis, &err) || modal_node_modes_init(&modes, &basis.shapes[0], &err) ||
        modal_alloc(&u, 3 * basis.shapes[0].solid.mesh.n_nodes, sizeof *u, "displacements", &err) ||
        modal_stress_new(&stress, &basis.shapes[0].solid.mesh, &err)) {
        fprintf(stderr, "stress_points: %s\n", err.message);
        return 1;
    }
    const modal_volume_mesh *mesh = &basis.shapes[0].solid.mesh;
    modal_node_modes_get(&modes, 0, u);
    for (int64_t i = 0; i < 3 * mesh->n_nodes; i++) u[i] *= atof(argv[2]);
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        modal_stress_point points[MODAL_RULE_MOST_POINTS];
        const int n = modal_stress_element(stress, MODAL_LAW_LINEAR, e, u, points);
        for (int q = 0; q < n; q++) {
            printf("%lld %.17g %.17g %.17g", (long long)mesh->element_tags[e], points[q].place[0], points[q].place[1], points[q].place[2]);
            for (int k = 0; k < 6; k++) printf(" %.17g", points[q].stress[k]);
            printf(" %.17g\n", points[q].von_mises);
        }
    }
    modal_stress_delete(stress);
    modal_node_modes_free(&modes);
    modal_free(&u);
    modal_basis_free(&basis);
    return 0;
}
