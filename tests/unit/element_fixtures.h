/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of elements share. After cmocka.h. */
#ifndef MODAL_TESTS_ELEMENT_FIXTURES_H
#define MODAL_TESTS_ELEMENT_FIXTURES_H

#include <math.h>

#include "lib/fem/assemble.h"
#include "lib/mesh/check.h"
#include "tests/unit/element_meshes.h"

static unsigned random_state = 1;
static inline double random_unit(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (double)(random_state >> 8) / (1 << 24);
}

static inline void bend(const double x[3], double y[3])
{
    y[0] = x[0] + 0.06 * sin(2 * x[1] + x[2]);
    y[1] = x[1] + 0.05 * cos(3 * x[2] - x[0]);
    y[2] = x[2] + 0.07 * sin(2 * x[0] * x[1]);
}

static inline void make(modal_volume_mesh *mesh, int type, int n, mesh_map map, int straight)
{
    const int cells[3] = {n, n, n};
    modal_mesh_summary summary;
    modal_error err = {0};
    element_mesh(mesh, type, cells, map, straight);
    if (modal_volume_mesh_check(mesh, &summary, &err) != MODAL_OK)
        fail_msg("%s: %s", element_mesh_name(type), err.message);
}

static inline modal_material spruce(void)
{
    /* axes turned by a rotation about (1, 2, 2) / 3 */
    modal_material m = {.density = 1,
                        .kind = MODAL_MATERIAL_ORTHOTROPIC,
                        .orthotropic = {11, 0.9, 0.6, 0.35, 0.4, 0.45, 0.8, 0.7, 0.1}};
    const double u[3] = {1.0 / 3, 2.0 / 3, 2.0 / 3}, c = cos(0.7), s = sin(0.7);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int k = 3 - i - j;
            m.axes[3 * i + j] = u[i] * u[j] * (1 - c) + (i == j ? c : 0) +
                                (i == j ? 0 : ((j - i + 3) % 3 == 1 ? 1 : -1) * s * u[k]);
        }
    return m;
}

/* All matrices of the free solid; the caller frees. */
static inline modal_fem_system assemble(const modal_volume_mesh *mesh, modal_mass_rule rule, int threads)
{
    modal_fem_system system;
    modal_error err = {0};
    if (modal_fem_assemble(mesh, NULL, NULL, 0, rule, threads, &system, &err) != MODAL_OK)
        fail_msg("%s", err.message);
    return system;
}

#endif
