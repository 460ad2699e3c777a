/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/tled_step/tled_solid.h"

/* A node's number among the macro's corners, a new one where it has none. */
static int corner_of(modal_tled_macro *shape, int32_t node)
{
    int a = 0;
    while (a < shape->n_corners && shape->corners[a] != node) a++;
    if (a == shape->n_corners) shape->corners[shape->n_corners++] = node;
    return a;
}

void modal_tled_macro_shape(const modal_tled_solid *s, int64_t m, modal_tled_macro *shape)
{
    memset(shape, 0, sizeof *shape);
    for (int64_t e = s->macro_offsets[m]; e < s->macro_offsets[m + 1]; e++) {
        double g[4][3] = {{0}};
        int at[4];
        const double volume = modal_tled_tetrahedron_shape(s->nodes, s->tetrahedra + 4 * e, g + 1);
        for (int a = 0; a < 4; a++) at[a] = corner_of(shape, s->tetrahedra[4 * e + a]);
        for (int k = 3; k < 12; k++) g[0][k % 3] -= g[k / 3][k % 3];
        shape->volume += volume;
        for (int a = 0; a < 4; a++) {
            shape->shares[at[a]] += volume / 4;
            for (int i = 0; i < 3; i++) shape->gradients[at[a]][i] += volume * g[a][i];
            for (int b = 0; b < 4; b++)
                shape->spread[at[a]][at[b]] += volume * (g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2]);
        }
    }
    const int n = shape->n_corners;
    for (int a = 0; a < n; a++) {
        shape->shares[a] /= shape->volume;
        for (int i = 0; i < 3; i++) shape->gradients[a][i] /= shape->volume;
    }
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            const double *p = shape->gradients[a], *q = shape->gradients[b];
            shape->spread[a][b] -= shape->volume * (p[0] * q[0] + p[1] * q[1] + p[2] * q[2]);
        }
}
