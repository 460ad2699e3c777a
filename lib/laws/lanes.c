/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/laws/lanes.h"

enum { LANES = MODAL_LAW_LANES };

/* Axes of the shears in order: yz xz xy. */
static const int shear[3][2] = {{1, 2}, {0, 2}, {0, 1}};

void modal_lanes_linear_strain(double g[restrict][LANES], double strain[restrict][LANES])
{
    for (int k = 0; k < 3; k++)
        for (int lane = 0; lane < LANES; lane++) {
            strain[k][lane] = g[4 * k][lane];
            strain[3 + k][lane] =
                g[3 * shear[k][0] + shear[k][1]][lane] + g[3 * shear[k][1] + shear[k][0]][lane];
        }
}

void modal_lanes_product_strain(double a[restrict][LANES], double b[restrict][LANES], double scale,
                                double strain[restrict][LANES])
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

void modal_lanes_root_times(const double root[restrict][LANES], double strain[restrict][LANES],
                            double out[restrict][LANES])
{
    for (int i = 0, at = 0; i < 6; i++)
        for (int j = i; j < 6; j++, at++)
            for (int lane = 0; lane < LANES; lane++)
                out[i][lane] = (j > i ? out[i][lane] : 0) + root[at][lane] * strain[j][lane];
}

void modal_lanes_stress(const double root[restrict][LANES], double strain[restrict][LANES],
                        double stress[restrict][LANES])
{
    static const int place[6][2] = {{0, 0}, {4, 4}, {8, 8}, {5, 7}, {2, 6}, {1, 3}};
    double half[6][LANES], voigt[6][LANES] = {{0}};
    modal_lanes_root_times(root, strain, half);
    for (int i = 0, at = 0; i < 6; i++)
        for (int j = i; j < 6; j++, at++)
            for (int lane = 0; lane < LANES; lane++) voigt[j][lane] += root[at][lane] * half[i][lane];
    for (int k = 0; k < 6; k++)
        for (int lane = 0; lane < LANES; lane++)
            stress[place[k][0]][lane] = stress[place[k][1]][lane] = voigt[k][lane];
}

void modal_lanes_second_derivative(const double root[restrict][LANES], double a[restrict][LANES],
                                   double stress_a[restrict][LANES], double b[restrict][LANES],
                                   double stress_b[restrict][LANES], double out[restrict][LANES])
{
    double strain[6][LANES];
    modal_lanes_product_strain(a, b, 1, strain);
    modal_lanes_stress(root, strain, out);
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++)
            for (int k = 0; k < 3; k++)
                for (int lane = 0; lane < LANES; lane++)
                    out[3 * row + column][lane] += b[3 * row + k][lane] * stress_a[3 * k + column][lane] +
                                                   a[3 * row + k][lane] * stress_b[3 * k + column][lane];
}
