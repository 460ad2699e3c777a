/* SPDX-License-Identifier: Apache-2.0 */
/* Forces, stiffness and energy by reduced_force.h, coefficient by coefficient: what the other back ends are compared with.
 * No include guard: part of reduced_step_host.h, which is a template. */
#include "kernels/reduced_step/reduced_force.h"

static int64_t plain_memory(int32_t r) { return 2 * (int64_t)r * r; }

/* K in whole, [r, r]: of each coefficient its derivatives along the pairs of its coordinates. */
static double plain_large(int32_t r, const double *table, const double *q, double *memory, double *force, double *tangent)
{
    double energy = 0, *k = memory;
    for (int32_t e = 0; e < r * r; e++) k[e] = 0;
    for (int32_t e = 0; e < r; e++) force[e] = 0;
    for (int32_t j = -1; j < r; j++)
        for (int32_t i = j < 0 ? 0 : -1; i <= (j < 0 ? 0 : j); i++) { /* j = -1: a, i = -1: b */
            const int32_t begin = j < 0 ? 0 : j, n = j < 0 ? 2 : i < 0 ? 3 : 4;
            for (int32_t a = begin; a < r; a++)
                for (int32_t b = a; b < r; b++) {
                    const double value = table[modal_step_pair(r, a, b) - modal_step_pair(r, begin, begin)];
                    const int32_t of[4] = {a, b, j, i};
                    double all = value;
                    for (int e = 0; e < n; e++) all *= q[of[e]];
                    energy += all;
                    for (int s = 0; s < n; s++) {
                        double one = value;
                        for (int e = 0; e < n; e++) one *= e == s ? 1 : q[of[e]];
                        force[of[s]] += one;
                        for (int u = 0; u < n && tangent; u++) {
                            double two = value;
                            for (int e = 0; e < n; e++) two *= e == s || e == u ? 1 : q[of[e]];
                            if (s != u) k[of[s] * r + of[u]] += two;
                        }
                    }
                }
            table += j < 0 ? modal_step_pairs(r) : modal_step_energy_row(r, j);
        }
    for (int64_t e = 0; e < (tangent ? modal_step_pairs(r) : 0); e++) tangent[e] = 0;
    for (int32_t s = 0; s < r && tangent; s++)
        for (int32_t u = s; u < r; u++) tangent[modal_step_pair(r, s, u)] = k[s * r + u];
    return energy;
}
#define RS_LARGE plain_large
#define RS_LARGE_MEMORY plain_memory
