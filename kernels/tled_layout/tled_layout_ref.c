/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/tled_layout/tled_reference.h"
#include "lib/base/memory.h"

static void free_reference(modal_tled_layout *layout)
{
    modal_tled_reference *r = (modal_tled_reference *)layout;
    modal_free(&r->tetrahedra);
    modal_free(&r->hexahedra);
    modal_free(&r->displacements);
    modal_free(&r->forces);
    modal_free(&r->loads);
    modal_free(&r->pressure_factors);
    modal_free(&r->pressures);
    modal_free(&r->corner_moduli);
    modal_free(&r);
}

modal_status modal_tled_layout_ref(const modal_tled_layout_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream;
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = task->solid;
    modal_tled_reference *r = NULL;
    *task->layout = NULL;
    MODAL_TRY(modal_alloc_zero(&r, 1, sizeof *r, "a solid's shapes", err));
    r->head = (modal_tled_layout){s, task->precision, 0, 0, (s->n_tetrahedra + s->n_hexahedra) * modal_tled_most_terms(s) * 48,
                                  free_reference};
    MODAL_TRY(modal_alloc(&r->tetrahedra, s->n_tetrahedra, sizeof *r->tetrahedra, "shapes of tetrahedra", err));
    MODAL_TRY(modal_alloc(&r->hexahedra, s->n_hexahedra, sizeof *r->hexahedra, "shapes of hexahedra", err));
    MODAL_TRY(modal_alloc(&r->displacements, s->n_nodes, 3 * sizeof(double), "displacements", err));
    MODAL_TRY(modal_alloc(&r->forces, s->n_nodes, 3 * sizeof(double), "forces", err));
    MODAL_TRY(modal_alloc(&r->loads, s->n_nodes, 3 * sizeof(double), "loads", err));
    if (modal_tled_averages(s)) {
        MODAL_TRY(modal_alloc(&r->pressure_factors, s->n_nodes, sizeof(double), "nodal pressures", err));
        MODAL_TRY(modal_alloc(&r->pressures, s->n_nodes, sizeof(double), "nodal pressures", err));
        MODAL_TRY(modal_alloc_zero(&r->corner_moduli, s->n_tetrahedra, sizeof(double), "nodal pressures", err));
        modal_tled_pressure_factors(s, r->pressure_factors, r->pressures);
        for (int64_t k = 0; k < 4 * s->n_tetrahedra; k++)
            r->corner_moduli[k / 4] += r->pressure_factors[s->tetrahedra[k]] * r->pressures[s->tetrahedra[k]] / 4;
    }
    r->head.bytes = s->n_tetrahedra * (int64_t)sizeof *r->tetrahedra + s->n_hexahedra * (int64_t)sizeof *r->hexahedra +
                    s->n_nodes * 72;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < s->n_tetrahedra; e++)
        r->tetrahedra[e].volume =
            modal_tled_tetrahedron_shape(s->nodes, s->tetrahedra + 4 * e, r->tetrahedra[e].gradients);
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < s->n_hexahedra; e++)
        modal_tled_hexahedron_shape(s->nodes, s->hexahedra + 8 * e, s->centre, &r->hexahedra[e]);
    *task->layout = &r->head;
    r = NULL;
done:
    if (r) free_reference(&r->head);
    return status;
}

int modal_tled_reference_gradients(const modal_tled_reference *r, int64_t e, double g[8][3])
{
    const int64_t n_tetrahedra = r->head.solid->n_tetrahedra;
    if (e >= n_tetrahedra) {
        memcpy(g, r->hexahedra[e - n_tetrahedra].gradients, 24 * sizeof(double));
        return 8;
    }
    for (int i = 0; i < 3; i++) g[0][i] = 0;
    for (int a = 1; a < 4; a++)
        for (int i = 0; i < 3; i++) g[a][i] = r->tetrahedra[e].gradients[a - 1][i], g[0][i] -= g[a][i];
    return 4;
}

void modal_tled_reference_gradient(const modal_tled_reference *r, int64_t e, const double *u, double h[9])
{
    const modal_tled_solid *s = r->head.solid;
    int n_corners;
    const int32_t *corners = modal_tled_corners(s, e, &n_corners);
    for (int k = 0; k < 9; k++) h[k] = 0;
    /* differences from the first corner: the gradients' sum is zero, so a common motion cancels before it is multiplied */
    for (int a = 1; a < n_corners; a++) {
        const double *g = n_corners == 4 ? r->tetrahedra[e].gradients[a - 1]
                                         : r->hexahedra[e - s->n_tetrahedra].gradients[a];
        for (int i = 0; i < 3; i++) {
            const double difference = u[3 * (int64_t)corners[a] + i] - u[3 * (int64_t)corners[0] + i];
            for (int j = 0; j < 3; j++) h[3 * i + j] += difference * g[j];
        }
    }
}

void modal_tled_reference_law_gradient(const modal_tled_reference *r, int64_t e, const double *u, double h[9])
{
    const modal_tled_solid *s = r->head.solid;
    double volume = 0, sum[9] = {0};
    modal_tled_reference_gradient(r, e, u, h);
    if (!s->macro_offsets || e >= s->n_tetrahedra) return;
    const int64_t first = s->macro_offsets[s->macro_of[e]], end = s->macro_offsets[s->macro_of[e] + 1];
    for (int64_t k = first; k < end && end > first + 1; k++) {
        modal_tled_reference_gradient(r, k, u, h);
        volume += r->tetrahedra[k].volume;
        for (int i = 0; i < 9; i++) sum[i] += r->tetrahedra[k].volume * h[i];
    }
    for (int i = 0; i < 9 && end > first + 1; i++) h[i] = sum[i] / volume;
}

double modal_tled_reference_measure(const modal_tled_reference *r, int64_t e, const double h[9])
{
    const modal_tled_solid *s = r->head.solid;
    const modal_tled_material *m = &s->materials[s->material[e]];
    modal_tled_macro shape;
    double g[8][3];
    if (s->macro_offsets && e < s->n_tetrahedra) {
        const int64_t macro = s->macro_of[e];
        modal_tled_macro_shape(s, macro, &shape);
        return modal_tled_measure(m, h, s->fibres ? s->fibres + 3 * s->macro_offsets[macro] : NULL, shape.n_corners,
                                  (const double(*)[3])shape.gradients);
    }
    const int n = modal_tled_reference_gradients(r, e, g);
    return modal_tled_measure(m, h, s->fibres ? s->fibres + 3 * e : NULL, n, (const double(*)[3])g);
}

static double volume_change(const double h[9])
{
    const double t = h[0] + h[4] + h[8];
    const double i = h[4] * h[8] - h[5] * h[7] + h[0] * h[8] - h[2] * h[6] + h[0] * h[4] - h[1] * h[3];
    const double d = h[0] * (h[4] * h[8] - h[5] * h[7]) + h[1] * (h[5] * h[6] - h[3] * h[8]) + h[2] * (h[3] * h[7] - h[4] * h[6]);
    return t + i + d;
}

void modal_tled_reference_pressures(modal_tled_reference *r, const double *u)
{
    const modal_tled_solid *s = r->head.solid;
    if (!r->pressures) return;
    for (int64_t i = 0; i < s->n_nodes; i++) r->pressures[i] = 0;
    for (int64_t e = 0; e < s->n_tetrahedra; e++) {
        double h[9];
        if (!s->materials[s->material[e]].averages) continue;
        modal_tled_reference_gradient(r, e, u, h);
        const double change = volume_change(h) * r->tetrahedra[e].volume / 4;
        for (int a = 0; a < 4; a++) r->pressures[s->tetrahedra[4 * e + a]] += change;
    }
    for (int64_t i = 0; i < s->n_nodes; i++) r->pressures[i] *= r->pressure_factors[i];
}

double modal_tled_reference_stress(const modal_tled_reference *r, int64_t e, const double h[9], double stress[9])
{
    const modal_tled_solid *s = r->head.solid;
    modal_tled_material material = s->materials[s->material[e]];
    double pressure = 0;
    material.averages &= e < s->n_tetrahedra;
    for (int a = 0; material.averages && a < 4; a++) pressure += r->pressures[s->tetrahedra[4 * e + a]] / 4;
    const int64_t first = s->macro_offsets && e < s->n_tetrahedra ? s->macro_offsets[s->macro_of[e]] : e;
    return modal_tled_rich_stress(&material, h, material.fibre > 0 ? s->fibres + 3 * first : NULL, pressure, stress);
}

double modal_tled_reference_forces(const modal_tled_reference *r, int64_t e, const double *u, const double *given,
                                   double forces[8][3])
{
    const modal_tled_solid *s = r->head.solid;
    const modal_tled_material *material = &s->materials[s->material[e]];
    double h[9], stress[9], above = 0;
    int n_corners;
    const int32_t *corners = modal_tled_corners(s, e, &n_corners);
    if (given) {
        memcpy(stress, given, sizeof stress);
    } else {
        modal_tled_reference_law_gradient(r, e, u, h);
        above = modal_tled_reference_stress(r, e, h, stress);
    }
    if (n_corners == 4 && s->macro_offsets) {
        double mean[9];
        modal_tled_reference_law_gradient(r, e, u, mean);
        modal_tled_reference_gradient(r, e, u, h);
        for (int k = 0; k < 9; k++) stress[k] += material->control * (h[k] - mean[k]);
    }
    if (n_corners == 4) {
        const modal_tled_tetrahedron *t = &r->tetrahedra[e];
        for (int i = 0; i < 3; i++) {
            forces[0][i] = 0;
            for (int a = 1; a < 4; a++) {
                const double *g = t->gradients[a - 1];
                forces[a][i] = t->volume * (stress[3 * i] * g[0] + stress[3 * i + 1] * g[1] + stress[3 * i + 2] * g[2]);
                forces[0][i] -= forces[a][i];
            }
        }
        return above;
    }
    const modal_tled_hexahedron *x = &r->hexahedra[e - s->n_tetrahedra];
    const double k = material->hourglass * x->sum;
    for (int i = 0; i < 3; i++) {
        double modes[4] = {0, 0, 0, 0};
        for (int m = 0; m < 4; m++)
            for (int a = 1; a < 8; a++) /* the sum of gamma is zero, too */
                modes[m] += x->gamma[m][a] * (u[3 * (int64_t)corners[a] + i] - u[3 * (int64_t)corners[0] + i]);
        for (int a = 0; a < 8; a++) {
            const double *g = x->gradients[a];
            forces[a][i] = x->weight * (stress[3 * i] * g[0] + stress[3 * i + 1] * g[1] + stress[3 * i + 2] * g[2]);
            for (int m = 0; m < 4; m++) forces[a][i] += k * x->gamma[m][a] * modes[m];
        }
    }
    return above;
}
