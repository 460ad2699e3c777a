/* SPDX-License-Identifier: Apache-2.0 */
/* Random shapes of a solid, and reduced forces by their definition. */
#ifndef TESTS_REDUCED_FIXTURES_H
#define TESTS_REDUCED_FIXTURES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/model/basis.h"

static uint64_t random_state;
static inline double random_unit(void) /* [-1, 1) */
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 11) * 0x1p-52 - 1;
}

static inline double *room(int64_t n)
{
    double *p = NULL;
    assert_int_equal(modal_alloc_zero(&p, n, sizeof *p, "", NULL), MODAL_OK);
    return p;
}

static inline double largest(int64_t n, const double *x)
{
    double top = 0;
    for (int64_t i = 0; i < n; i++) top = fmax(top, fabs(x[i]));
    return top;
}

/* r columns at the nodes, 0 at x = 0 but for noise; `along_z` times z shifts their waves. */
static inline double *make_modes(const modal_volume_mesh *mesh, int r, double along_z)
{
    double *modes = room(3 * mesh->n_nodes * r);
    for (int k = 0; k < r; k++)
        for (int64_t i = 0; i < mesh->n_nodes; i++)
            for (int p = 0; p < 3; p++) {
                const double *x = mesh->nodes + 3 * i;
                modes[3 * (mesh->n_nodes * k + i) + p] =
                    sin((1 + k) * x[0] + 2 * k * x[1] - along_z * x[2] + p) * x[0] + 0.05 * random_unit();
            }
    return modes;
}

/* u = U q, n numbers. */
static inline void combine(int64_t n, int r, const double *modes, const double *q, double *u)
{
    memset(u, 0, (size_t)n * sizeof *u);
    for (int k = 0; k < r; k++)
        for (int64_t i = 0; i < n; i++) u[i] += q[k] * modes[n * k + i];
}

/* f(q), and the energy of which it is the gradient. */
static inline double evaluate(const modal_reduced_forces *forces, int r, const double *q, double *f)
{
    const int64_t n2 = modal_quadratic_count(r), n3 = modal_cubic_count(r);
    double energy = 0;
    for (int l = 0; l < r; l++) {
        double by_degree[3] = {0};
        for (int i = 0; i < r; i++) {
            by_degree[0] += forces->linear[l * r + i] * q[i];
            for (int j = i; j < r; j++) {
                by_degree[1] += forces->quadratic[l * n2 + modal_quadratic_index(r, i, j)] * q[i] * q[j];
                for (int k = j; k < r; k++)
                    by_degree[2] +=
                        forces->cubic[l * n3 + modal_cubic_index(r, i, j, k)] * q[i] * q[j] * q[k];
            }
        }
        f[l] = by_degree[0] + by_degree[1] + by_degree[2];
        energy += q[l] * (by_degree[0] / 2 + by_degree[1] / 3 + by_degree[2] / 4);
    }
    return energy;
}

#endif
