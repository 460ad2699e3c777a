/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/units.h"

#include <math.h>
#include <string.h>

/* Beyond these a wrong unit is likelier than such a body. */
static const double LARGEST = 100, SMALLEST = 1e-4 * (1 - 1e-9); /* m */

modal_status tool_unit_read(const tool_arguments *arguments, const char *option, const modal_unit **unit,
                            modal_error *err)
{
    const char *name = tool_value(arguments, option);
    char known[64] = "";
    *unit = name ? modal_unit_find(name) : &modal_units[0];
    if (*unit) return MODAL_OK;
    for (int i = 0; i < MODAL_UNITS; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "", modal_units[i].name);
    return modal_error_set(err, MODAL_ERROR_USAGE, "--%s: must be one of %s, %s", option, known, name);
}

modal_status tool_units_read(const tool_arguments *arguments, tool_units *units, modal_error *err)
{
    modal_status status = MODAL_OK;
    *units = (tool_units){.is_given = tool_count(arguments, "unit") > 0};
    MODAL_TRY(tool_unit_read(arguments, "unit", &units->unit, err));
    MODAL_TRY(tool_number(arguments, "scale", 0, 1e12, &units->scale, err));
    if (!(units->scale > 0)) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--scale: must be > 0, %g", units->scale);
done:
    return status;
}

/* Of a body this long, the unit under which it would be neither too large nor too small; NULL: none. The usual ones come
 * first. */
static const modal_unit *likely_unit(const tool_units *units, double longest)
{
    static const char *const usual[] = {"mm", "m", "um"};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        const modal_unit *unit = modal_unit_find(usual[i]);
        const double length = longest / units->unit->metres * unit->metres;
        if (unit != units->unit && length <= LARGEST && length >= 1e-3) return unit;
    }
    return NULL;
}

void tool_say_box(tool *t, const char *path, const tool_units *units, int is_said, const double low[3],
                  const double high[3])
{
    double longest = 0;
    tool_note(t, "box %.6g x %.6g x %.6g m, from %.6g %.6g %.6g", high[0] - low[0], high[1] - low[1], high[2] - low[2],
              low[0], low[1], low[2]);
    for (int k = 0; k < 3; k++) longest = fmax(longest, high[k] - low[k]);
    if (longest <= LARGEST && longest >= SMALLEST) return;
    const modal_unit *unit = is_said ? NULL : likely_unit(units, longest);
    const char *size = longest > LARGEST ? "large" : "small";
    if (unit)
        tool_warn(t, "%s: the body is %s, %.4g m; were the file in %s (--unit %s), it would be %.4g m", path, size, longest,
                  unit->name, unit->name, longest / units->unit->metres * unit->metres);
    else
        tool_warn(t, "%s: the body is %s, %.4g m; is that its unit (--scale changes it)?", path, size, longest);
}

int32_t tool_mesh_to_metres(tool *t, const char *path, const tool_units *units, modal_volume_mesh *mesh)
{
    const modal_unit *unit = units->unit;
    const int in_mesh_units = mesh->materials_in_mesh_units;
    if (mesh->n_materials > 0 && units->is_given) {
        if (in_mesh_units)
            tool_note(t, "%s: in %s, %s, %s, s: E in %s is times %.10g Pa, the density in %s/%s^3 times %.10g kg/m^3", path,
                      unit->name, unit->force, unit->mass, unit->stress, modal_unit_pascals(unit), unit->mass, unit->name,
                      modal_unit_density(unit));
        else
            tool_note(t, "%s: its materials are taken to be in Pa and kg/m^3, whatever the unit of length", path);
    }
    modal_volume_mesh_to_metres(mesh, unit, units->scale);
    return in_mesh_units ? mesh->n_materials : 0;
}

/* ", in MPa ...", or nothing. */
static void say_meant(const modal_unit_meant *meant, const modal_unit *of_file, const char *si, char *text, size_t size)
{
    *text = 0;
    if (!meant->unit) return;
    if (of_file && meant->system && meant->system != of_file)
        snprintf(text, size, "; in %s it is %.4g %s: is the file in %s, %s, %s, s (--unit %s)?", meant->unit, meant->value, si, meant->system->name,
                 meant->system->force, meant->system->mass, meant->system->name);
    else
        snprintf(text, size, "; in %s it is %.4g %s", meant->unit, meant->value, si);
}

int tool_doubt_density(tool *t, const char *path, const char *who, double density, const modal_unit *of_file)
{
    modal_unit_meant meant;
    char text[160];
    const double as_read = of_file ? density / modal_unit_density(of_file) : density;
    if (!modal_density_is_doubtful(density, &meant)) return 0;
    if (of_file) modal_density_is_doubtful(as_read, &meant);
    say_meant(&meant, of_file, "kg/m^3", text, sizeof text);
    tool_warn(t, "%s: %sno solid has a density of %.4g kg/m^3%s", path, who, density, text);
    return 1;
}

static int doubt_young(tool *t, const char *path, const char *who, double young, double density, const modal_unit *of_file)
{
    modal_unit_meant meant, of_density;
    char text[160];
    /* by the density that was meant */
    if (modal_density_is_doubtful(density, &of_density)) {
        if (of_file) modal_density_is_doubtful(density / modal_unit_density(of_file), &of_density);
        density = of_density.unit ? of_density.value : 0;
    }
    if (!modal_young_is_doubtful(young, density, &meant)) return 0;
    if (of_file) modal_young_is_doubtful(young / modal_unit_pascals(of_file), density, &meant);
    say_meant(&meant, of_file, "Pa", text, sizeof text);
    if (!meant.unit && !modal_young_is_doubtful(young, 1e3 * density, &meant)) snprintf(text, sizeof text, "; is the density in g/cm^3?");
    if (density > 0) tool_warn(t, "%s: %sno solid of %.4g kg/m^3 has a Young's modulus of %.4g Pa%s", path, who, density, young, text);
    else tool_warn(t, "%s: %sno solid has a Young's modulus of %.4g Pa%s", path, who, young, text);
    return 1;
}

void tool_doubt_materials(tool *t, const char *path, int32_t n, const modal_material *materials, int32_t n_of_file, const tool_units *units)
{
    int doubted = 0;
    for (int32_t m = 0; m < n && !doubted; m++) {
        const modal_material *material = &materials[m];
        const modal_unit *of_file = m < n_of_file ? units->unit : NULL;
        const double *moduli = material->kind == MODAL_MATERIAL_ORTHOTROPIC ? material->orthotropic : &material->young;
        char who[96];
        snprintf(who, sizeof who, "material \"%.64s\": ", material->name ? material->name : "");
        doubted = tool_doubt_density(t, path, who, material->density, of_file);
        if (doubted && of_file) return; /* the unit of the file, which changes both */
        for (int k = 0; k < (material->kind == MODAL_MATERIAL_ORTHOTROPIC ? 3 : 1); k++)
            if (doubt_young(t, path, who, moduli[k], material->density, of_file)) {
                doubted = 1;
                break;
            }
    }
}
