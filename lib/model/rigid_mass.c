/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/rigid_mass.h"

#include <math.h>
#include <string.h>

modal_status modal_rigid_mass_of(const modal_surface *s, double density, modal_rigid_mass *mass, modal_error *err)
{
    double middle[3] = {0}, volume = 0, first[3] = {0}, second[9] = {0}, area = 0;
    memset(mass, 0, sizeof *mass);
    for (int64_t v = 0; v < s->n_vertices; v++) {
        if (s->boundary[v])
            return modal_error_set(err, MODAL_ERROR_INPUT, "the surface is not closed at vertex %d, so it has no mass", s->user_vertex[v]);
        for (int k = 0; k < 3; k++) middle[k] += s->rest_positions[3 * v + k] / (double)s->n_vertices;
    }
    for (int64_t t = 0; t < s->n_triangles; t++) {
        double x[3][3], cross[3], det = 0, sum[3] = {0};
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) {
                x[i][k] = s->rest_positions[3 * (int64_t)s->triangles[3 * t + i] + k] - middle[k];
                sum[k] += x[i][k];
            }
        for (int k = 0; k < 3; k++) {
            cross[k] = x[1][(k + 1) % 3] * x[2][(k + 2) % 3] - x[1][(k + 2) % 3] * x[2][(k + 1) % 3];
            det += x[0][k] * cross[k];
        }
        volume += det / 6;
        area += fabs(det);
        for (int a = 0; a < 3; a++) {
            first[a] += det / 24 * sum[a];
            for (int b = 0; b < 3; b++) {
                double products = sum[a] * sum[b];
                for (int i = 0; i < 3; i++) products += x[i][a] * x[i][b];
                second[3 * a + b] += det / 120 * products;
            }
        }
    }
    if (!(volume > 1e-12 * area))
        return modal_error_set(err, MODAL_ERROR_INPUT, "the surface encloses no volume (are its triangles turned inwards?), %g m^3", volume);
    mass->mass = density * volume;
    for (int a = 0; a < 3; a++) {
        mass->first[a] = density * (first[a] + volume * middle[a]);
        for (int b = 0; b < 3; b++)
            mass->second[3 * a + b] =
                density * (second[3 * a + b] + first[a] * middle[b] + middle[a] * first[b] + volume * middle[a] * middle[b]);
    }
    return MODAL_OK;
}
