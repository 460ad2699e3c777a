/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/units.h"

#include <math.h>
#include <string.h>

/* The pound-force is 0.45359237 kg (the international pound of 1959) times 9.80665 m/s^2 (standard gravity). */
#define POUND (0.45359237 * 9.80665)

const modal_unit modal_units[MODAL_UNITS] = {
    {"m", 1, 1, "N", "kg", "Pa"},
    {"cm", 1e-2, 1e-5, "dyn", "g", "dyn/cm^2"},
    {"mm", 1e-3, 1, "N", "t", "MPa"},
    {"um", 1e-6, 1e-6, "uN", "kg", "MPa"},
    {"in", 0.0254, POUND, "lbf", "lbf s^2/in", "psi"},
    {"ft", 0.3048, POUND, "lbf", "slug", "lbf/ft^2"},
};

const modal_unit *modal_unit_find(const char *name)
{
    for (int i = 0; i < MODAL_UNITS; i++)
        if (strcmp(modal_units[i].name, name) == 0) return &modal_units[i];
    return NULL;
}

double modal_unit_pascals(const modal_unit *unit) { return unit->newtons / (unit->metres * unit->metres); }

double modal_unit_density(const modal_unit *unit)
{
    const double square = unit->metres * unit->metres;
    return unit->newtons / (square * square);
}

typedef struct named_unit {
    const char *name, *system;
    double si;
} named_unit;

/* Whichever unit brings the number nearest to `usual`, by factors, is the one that was meant. */
static void find_meant(double number, double usual, int n, const named_unit *units, int (*is_doubtful)(double, double), double density,
                       modal_unit_meant *meant)
{
    *meant = (modal_unit_meant){0};
    for (int i = 0; i < n; i++) {
        const double value = number * units[i].si;
        if (is_doubtful(value, density) || (meant->unit && !(fabs(log(value / usual)) < fabs(log(meant->value / usual))))) continue;
        *meant = (modal_unit_meant){units[i].name, value, units[i].system ? modal_unit_find(units[i].system) : NULL};
    }
}

static int density_is_doubtful(double density, double unused)
{
    (void)unused;
    return !(density >= 1 && density <= 25000);
}

static int young_is_doubtful(double young, double density)
{
    if (!(young >= 10 && young <= 1.3e12)) return 1;
    return !density_is_doubtful(density, 0) && (young > 9e8 * density || (young < 1e6 && density > 2000));
}

int modal_density_is_doubtful(double density, modal_unit_meant *meant)
{
    static const named_unit units[] = {{"g/cm^3", "cm", 1e3},          {"g/mm^3", NULL, 1e6},
                                       {"kg/mm^3", NULL, 1e9},         {"t/mm^3", "mm", 1e12},
                                       {"lbf s^2/in^4", "in", POUND / (0.0254 * 0.0254 * 0.0254 * 0.0254)}, {"kg/um^3", "um", 1e18},
                                       {"lb/in^3", NULL, 0.45359237 / (0.0254 * 0.0254 * 0.0254)}};
    find_meant(density, 3000, sizeof units / sizeof *units, units, density_is_doubtful, 0, meant);
    return density_is_doubtful(density, 0);
}

int modal_young_is_doubtful(double young, double density, modal_unit_meant *meant)
{
    static const named_unit units[] = {{"MPa", "mm", 1e6}, {"GPa", NULL, 1e9}, {"kPa", NULL, 1e3}, {"psi", "in", POUND / (0.0254 * 0.0254)},
                                       {"dyn/cm^2", "cm", 0.1}};
    /* metals, glass and concrete: 3000 to 6000 m/s */
    const double usual = 2e7 * (density_is_doubtful(density, 0) ? 3000 : density);
    find_meant(young, usual, sizeof units / sizeof *units, units, young_is_doubtful, density, meant);
    return young_is_doubtful(young, density);
}

/* Division by the units in a metre where that is a whole number: 0.001 is none of the floating-point numbers, 1000 is. */
static void scale_positions(double *positions, int64_t n, const modal_unit *unit, double scale)
{
    const double per_metre = nearbyint(1 / unit->metres);
    const int is_whole = fabs(per_metre * unit->metres - 1) < 1e-15;
    for (int64_t i = 0; i < 3 * n; i++)
        positions[i] = (is_whole ? positions[i] / per_metre : positions[i] * unit->metres) * scale;
}

void modal_volume_mesh_to_metres(modal_volume_mesh *mesh, const modal_unit *unit, double scale)
{
    scale_positions(mesh->nodes, mesh->n_nodes, unit, scale);
    for (int32_t m = 0; mesh->materials_in_mesh_units && m < mesh->n_materials; m++) {
        modal_material *material = &mesh->materials[m];
        const double pascals = modal_unit_pascals(unit);
        material->young *= pascals;
        material->density *= modal_unit_density(unit);
        for (int k = 0; k < 3; k++) {
            material->orthotropic[k] *= pascals;
            material->orthotropic[6 + k] *= pascals;
        }
    }
    mesh->materials_in_mesh_units = 0;
}

void modal_surface_mesh_to_metres(modal_surface_mesh *surface, const modal_unit *unit, double scale)
{
    scale_positions(surface->positions, surface->n_vertices, unit, scale);
}

void modal_find_box(const double *positions, int64_t n, double low[3], double high[3])
{
    for (int k = 0; k < 3; k++) {
        low[k] = INFINITY;
        high[k] = -INFINITY;
    }
    for (int64_t i = 0; i < 3 * n; i++) {
        low[i % 3] = fmin(low[i % 3], positions[i]);
        high[i % 3] = fmax(high[i % 3], positions[i]);
    }
}
