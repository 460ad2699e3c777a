/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/solid.h"

#include <unistd.h>

#include "formats/meshes/cad_unit.h"
#include "formats/meshes/mesh_read.h"
#include "formats/meshes/surface_read.h"
#include "lib/base/memory_file.h"
#include "lib/mesh/check.h"
#include "lib/mesh/measure.h"
#include "tools/common/pipes.h"

modal_status tool_solid_options(const tool_arguments *a, const char *mesh_path, tool_solid_request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    *r = (tool_solid_request){.mesh_path = mesh_path, .materials_path = tool_value(a, "materials")};
    MODAL_TRY(tool_units_read(a, &r->units, err));
    MODAL_TRY(tool_ignore_read(a, &r->ignored, err));
    if (tool_count(a, "free") && tool_count(a, "fixed"))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--free and --fixed: give one of them");
    int given = tool_count(a, "young") + tool_count(a, "poisson") + tool_count(a, "density");
    if (given != 0 && given != 3)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--young, --poisson, --density: give all three or none, %d",
                   given);
    r->has_material = given == 3;
    MODAL_TRY(tool_number(a, "young", 0, 1e15, &r->young, err));
    MODAL_TRY(tool_number(a, "poisson", -1, 0.5, &r->poisson, err));
    MODAL_TRY(tool_number(a, "density", 0, 1e9, &r->density, err));
done:
    return status;
}

/* Of all elements; what a wrong unit or density shows in at once. */
static modal_status say_mass(tool *t, const tool_solid_request *r, const modal_volume_mesh *mesh,
                             const modal_mesh_summary *summary, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_rule_table rules = {0};
    double mass = 0;
    int64_t n_without = 0; /* elements without a material are refused later, where one is needed */
    MODAL_TRY(modal_rule_table_init(mesh, &rules, err));
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const int32_t m = mesh->element_material[e];
        if (m < 0) n_without++;
        else mass += mesh->materials[m].density * modal_element_measure(mesh, e, &rules).volume;
    }
    json_t *all = json_object_get(t->report, "meshes");
    if (!all) json_object_set_new(t->report, "meshes", all = json_array());
    const double *low = summary->box_min, *high = summary->box_max;
    json_t *entry = json_pack("{s:s, s:[[f, f, f], [f, f, f]], s:f}", "path", r->mesh_path, "box_m", low[0], low[1], low[2],
                              high[0], high[1], high[2], "volume_m3", summary->volume);
    json_array_append_new(all, entry);
    if (n_without > 0) goto done;
    tool_note(t, "mass %.6g kg", mass);
    json_object_set_new(entry, "mass_kg", json_real(mass));
done:
    modal_rule_table_free(&rules);
    return status;
}

/* What the file asks for and options replace is no matter: they clear it. */
static modal_status ignore(tool *t, const tool_solid_request *r, modal_volume_mesh *mesh, int32_t n_own, modal_error *err)
{
    int own_materials = 0; /* an element has one of the file's */
    for (int64_t e = 0; e < mesh->n_elements; e++) own_materials |= mesh->element_material[e] >= 0 && mesh->element_material[e] < n_own;
    if (tool_count(&t->arguments, "fixed") || tool_count(&t->arguments, "free"))
        modal_notes_free(&mesh->not_taken[MODAL_UNSUPPORTED_BOUNDARY]);
    if (!own_materials) modal_notes_free(&mesh->not_taken[MODAL_UNSUPPORTED_MATERIAL]);
    return tool_ignore(t, r->mesh_path, mesh->not_taken, r->ignored, err);
}

/* A surface or a geometry has no elements: the error says what makes them, unless the file cannot be read at all. */
static void name_modalmesh(const char *path, modal_error *err)
{
    const int geometry = modal_is_step(path) || modal_is_iges(path);
    const int surface = modal_surface_is_named(path) || (modal_is_memory_file(path) && modal_surface_is_inside(path));
    if (err->status != MODAL_ERROR_INPUT || !(geometry || surface) || access(path, R_OK) != 0) return;
    *err = (modal_error){0};
    modal_error_set(err, MODAL_ERROR_INPUT, "%s: a %s, where a volume mesh is needed: make one with modalmesh %s MESH.msh",
                    path, geometry ? "geometry" : "surface", tool_pipe_shown(path));
}

modal_status tool_solid_read(tool *t, const tool_solid_request *r, modal_solid *solid, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_mesh_summary summary = {0};
    modal_volume_mesh *mesh = &solid->mesh;
    double start = tool_seconds();
    status = modal_mesh_read(r->mesh_path, mesh, err);
    if (status != MODAL_OK) {
        name_modalmesh(r->mesh_path, err);
        goto done;
    }
    tool_warn_notes(t, r->mesh_path, &mesh->notes);
    int32_t n_own = 0;
    const int32_t n_in_mesh_units = tool_mesh_to_metres(t, r->mesh_path, &r->units, mesh);
    status = modal_volume_mesh_check(mesh, &summary, err);
    if (status != MODAL_OK) {
        modal_error_context(err, "%s", r->mesh_path);
        goto done;
    }
    tool_stage(t, "read mesh", tool_seconds() - start, -1);
    if (summary.dropped_nodes > 0)
        tool_warn(t, "%s: nodes in no element dropped, %lld", r->mesh_path,
                  (long long)summary.dropped_nodes);
    if (summary.flipped)
        tool_warn(t, "%s: all elements are left-handed; their nodes were mirrored",
                  r->mesh_path);
    if (summary.n_turned > 0)
        tool_warn(t, "%s: tetrahedra that are left-handed unlike their neighbours were turned round, %lld", r->mesh_path,
                  (long long)summary.n_turned);
    if (summary.n_straightened > 0)
        tool_warn(t, "%s: elements that their middle nodes turned inside out have straight edges now, %lld", r->mesh_path,
                  (long long)summary.n_straightened);
    if (summary.n_components > 1 && !r->bodies_apart)
        tool_warn(t, "%s: bodies that do not touch, %d", r->mesh_path, summary.n_components);
    tool_note(t, "%lld nodes, %lld elements, volume %.6g m^3", (long long)mesh->n_nodes,
              (long long)mesh->n_elements, summary.volume);
    tool_say_box(t, r->mesh_path, &r->units, 0, summary.box_min, summary.box_max);
    MODAL_TRY(tool_assign_materials(t, r, mesh, &n_own, err));
    MODAL_TRY(ignore(t, r, mesh, n_own, err));
    tool_doubt_materials(t, r->mesh_path, mesh->n_materials, mesh->materials, n_own < n_in_mesh_units ? n_own : n_in_mesh_units, &r->units);
    MODAL_TRY(say_mass(t, r, mesh, &summary, err));
    MODAL_TRY(tool_fix_nodes(t, r, solid, err));
done:
    return status;
}
