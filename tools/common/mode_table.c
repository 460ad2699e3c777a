/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/mode_table.h"

#include <math.h>

static json_t *three(const double *x) { return json_pack("[f, f, f]", x[0], x[1], x[2]); }

json_t *tool_mode_table(const modal_shape *s)
{
    json_t *table = json_object(), *modes = json_array();
    double sum[3] = {0};
    for (int32_t k = 0; k < s->modes.n_modes; k++) {
        const double *p = s->modes.participation + 3 * (int64_t)k;
        double mass[3];
        json_t *mode = json_object();
        json_object_set_new(mode, "frequency", json_real(s->modes.frequencies[k]));
        json_object_set_new(mode, "eigenvalue", json_real(s->modes.eigenvalues[k]));
        json_object_set_new(mode, "modal_mass", json_real(s->modes.modal_masses[k]));
        json_object_set_new(mode, "residual", json_real(s->modes.residuals[k]));
        if (s->modes.orthogonality) json_object_set_new(mode, "orthogonality", json_real(s->modes.orthogonality[k]));
        json_object_set_new(mode, "participation", three(p));
        for (int c = 0; c < 3; c++) sum[c] += mass[c] = p[c] * p[c] / s->modes.modal_masses[k];
        if (s->modes.total_mass > 0) json_object_set_new(mode, "effective_mass", three(mass));
        json_array_append_new(modes, mode);
    }
    json_object_set_new(table, "modes", modes);
    if (!(s->modes.total_mass > 0) || s->modes.kind == MODAL_KIND_IMPORTED) return table;
    json_object_set_new(table, "effective_mass_sum", three(sum));
    if (s->modes.n_rigid_modes > 0 && s->solid.n_fixed_nodes == 0) {
        const double all[3] = {s->modes.total_mass, s->modes.total_mass, s->modes.total_mass};
        json_object_set_new(table, "effective_mass_rigid", three(all));
    }
    return table;
}

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static void put_three(FILE *to, const json_t *values, double scale, int decimals)
{
    for (size_t c = 0; c < 3; c++) {
        const double value = scale * json_number_value(json_array_get(values, c));
        if (decimals < 0) fprintf(to, " %10.3g", value);
        else fprintf(to, " %9.*f%%", decimals, value);
    }
}

/* The columns before those of three. */
static void put_blank(FILE *to, const char *indent, const char *text, int masses)
{
    fprintf(to, "%s%-*s", indent, masses ? 78 : 66, text);
}

void tool_put_mode_table(FILE *to, const char *indent, const json_t *shape)
{
    size_t i;
    json_t *mode;
    const json_t *modes = json_object_get(shape, "modes"), *sum = json_object_get(shape, "effective_mass_sum"),
                 *rigid = json_object_get(shape, "effective_mass_rigid");
    const double total = number(shape, "total_mass");
    int masses = 0; /* modal masses that are not 1 */
    json_array_foreach (modes, i, mode) masses |= !(fabs(number(mode, "modal_mass") - 1) <= 1e-6);
    put_blank(to, indent, "", masses);
    fprintf(to, "%s\n", total > 0 ? "   effective mass, kg" : "");
    fprintf(to, "%s%5s %15s", indent, "mode", "frequency, Hz");
    if (masses) fprintf(to, " %11s", "mass, kg");
    fprintf(to, " %10s %32s", "residual", "participation x, y, z, kg^1/2");
    if (total > 0) fprintf(to, " %10s %10s %10s", "x", "y", "z");
    fputc('\n', to);
    json_array_foreach (modes, i, mode) {
        fprintf(to, "%s%5zu %15.8g", indent, i, number(mode, "frequency"));
        if (masses) fprintf(to, " %11.5g", number(mode, "modal_mass"));
        fprintf(to, " %10.1e", number(mode, "residual"));
        put_three(to, json_object_get(mode, "participation"), 1, -1);
        if (total > 0) put_three(to, json_object_get(mode, "effective_mass"), 1, -1);
        fputc('\n', to);
    }
    if (!sum) return;
    put_blank(to, indent, "    sum", masses);
    put_three(to, sum, 1, -1);
    fprintf(to, "\n");
    put_blank(to, indent, "    of the mass", masses);
    put_three(to, sum, 100 / total, 2);
    fprintf(to, "\n");
    if (!rigid) return;
    put_blank(to, indent, "    the rigid modes that were left out", masses);
    put_three(to, rigid, 1, -1);
    fprintf(to, "\n");
}
