/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/fem/tetrahedron.h"

#include <math.h>

#include "lib/laws/elasticity.h"
#include "lib/mesh/tetrahedron.h"

double modal_tetrahedron_gradients(const double *const corners[4], double gradients[4][3])
{
    double edges[3][3];
    for (int k = 0; k < 3; k++) modal_subtract(corners[k + 1], corners[0], edges[k]);
    modal_cross(edges[1], edges[2], gradients[1]);
    modal_cross(edges[2], edges[0], gradients[2]);
    modal_cross(edges[0], edges[1], gradients[3]);
    const double determinant = modal_dot(edges[0], gradients[1]);
    for (int p = 0; p < 3; p++) {
        for (int a = 1; a < 4; a++) gradients[a][p] /= determinant;
        gradients[0][p] = -(gradients[1][p] + gradients[2][p] + gradients[3][p]);
    }
    return fabs(determinant) / 6;
}

void modal_tetrahedron_stiffness(const double *const corners[4], double young, double poisson,
                                 double stiffness[144])
{
    double gradients[4][3], block[9], lambda, mu;
    const double volume = modal_tetrahedron_gradients(corners, gradients);
    modal_lame_constants(young, poisson, &lambda, &mu);
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            modal_isotropic_block(gradients[a], gradients[b], volume * lambda, volume * mu, block);
            for (int p = 0; p < 3; p++)
                for (int q = 0; q < 3; q++)
                    stiffness[12 * (3 * a + p) + 3 * b + q] = block[3 * p + q];
        }
}
