/* SPDX-License-Identifier: Apache-2.0 */
/* Solids that tools read: which element is made of what. */
#include <math.h>
#include <string.h>

#include "formats/json/materials.h"
#include "formats/meshes/csv.h"
#include "lib/base/memory.h"
#include "lib/base/sort.h"
#include "lib/mesh/material_table.h"
#include "tools/common/solid.h"

/* Appends a copy that bears this name. */
static modal_status append_material(modal_volume_mesh *mesh, const char *name, size_t length,
                                    const modal_material *material, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_material *longer = NULL, copy = *material;
    copy.name = NULL;
    MODAL_TRY(modal_copy_text(&copy.name, name, length, err));
    MODAL_TRY(modal_alloc(&longer, mesh->n_materials + 1, sizeof *longer, "materials", err));
    if (mesh->n_materials > 0)
        memcpy(longer, mesh->materials, (size_t)mesh->n_materials * sizeof *longer);
    longer[mesh->n_materials++] = copy;
    copy.name = NULL;
    modal_free(&mesh->materials);
    mesh->materials = longer;
done:
    modal_free(&copy.name);
    return status;
}

static void remove_materials(modal_volume_mesh *mesh)
{
    for (int32_t i = 0; i < mesh->n_materials; i++) modal_free(&mesh->materials[i].name);
    mesh->n_materials = 0;
    for (int64_t e = 0; e < mesh->n_elements; e++) mesh->element_material[e] = -1;
}

/* Gives the group's elements a material; no element may be in two groups that one option names. */
static modal_status assign_group(modal_volume_mesh *mesh, const char *option, const char *name,
                                 size_t length, int32_t material, uint8_t *taken, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_group *group;
    MODAL_TRY(tool_find_group(mesh, name, length, 3, &group, err));
    if (!group) return tool_unknown_group(mesh, option, "unknown group", name, (int)length, 3, err);
    for (int64_t k = 0; k < group->n_elements; k++) {
        const int32_t e = group->elements[k];
        if (taken[e])
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: element %lld is in two of the groups, %s", option,
                       (long long)mesh->element_tags[e], group->name);
        taken[e] = 1;
        mesh->element_material[e] = material;
    }
done:
    return status;
}

/* Of every element of the material the direction of its fibres: lines element,x,y,z with the mesh's numbers of elements. Lines
 * of other elements are left out. */
static modal_status read_fibres(modal_volume_mesh *mesh, int32_t material, const char *path, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_series list = {0};
    uint64_t *keys = NULL;
    int32_t *order = NULL;
    MODAL_TRY(modal_list_read_csv(path, 3, &list, err));
    MODAL_TRY(modal_alloc(&keys, list.n_rows, sizeof *keys, "fibres", err));
    MODAL_TRY(modal_alloc(&order, list.n_rows, sizeof *order, "fibres", err));
    for (int64_t i = 0; i < list.n_rows; i++) {
        const double tag = list.times[i], *a = list.values + 3 * i;
        if (!(tag >= 0 && tag < 0x1p53 && tag == floor(tag)))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: row %lld: no number of an element, %g", path, (long long)i + 1, tag);
        if (!(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] > 0))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: row %lld: has no direction, element %.0f", path, (long long)i + 1, tag);
        keys[i] = (uint64_t)tag;
        order[i] = (int32_t)i;
    }
    MODAL_TRY(modal_sort_by_key(list.n_rows, keys, order, err));
    for (int64_t i = 1; i < list.n_rows; i++)
        if (keys[i] == keys[i - 1])
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: two directions of one element, %llu", path, (unsigned long long)keys[i]);
    if (!mesh->element_fibres) MODAL_TRY(modal_alloc_zero(&mesh->element_fibres, 3 * mesh->n_elements, sizeof(double), "fibres", err));
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        int64_t low = 0, high = list.n_rows;
        if (mesh->element_material[e] != material) continue;
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if (keys[middle] < (uint64_t)mesh->element_tags[e]) low = middle + 1;
            else high = middle;
        }
        if (low == list.n_rows || keys[low] != (uint64_t)mesh->element_tags[e])
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: no direction of element %lld, whose material is %s", path,
                       (long long)mesh->element_tags[e], mesh->materials[material].name);
        const double *a = list.values + 3 * (int64_t)order[low], length = hypot(hypot(a[0], a[1]), a[2]);
        for (int k = 0; k < 3; k++) mesh->element_fibres[3 * e + k] = a[k] / length;
    }
done:
    modal_series_free(&list);
    modal_free(&keys);
    modal_free(&order);
    return status;
}

/* --materials: the file's materials take the place of all others where it has a default. */
static modal_status assign_file(tool *t, const char *path, modal_volume_mesh *mesh, uint8_t *taken, int32_t *n_own,
                                modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_material_file file = {0};
    MODAL_TRY(modal_materials_read(path, &file, err));
    if (file.default_material >= 0) {
        if (mesh->n_materials > 0) tool_note(t, "the materials so far are replaced by those of %s", path);
        remove_materials(mesh);
        *n_own = 0;
    }
    const int32_t first = mesh->n_materials;
    for (int32_t i = 0; i < file.n_materials; i++)
        MODAL_TRY(append_material(mesh, file.materials[i].name, SIZE_MAX, &file.materials[i], err));
    for (int64_t e = 0; file.default_material >= 0 && e < mesh->n_elements; e++)
        mesh->element_material[e] = first + file.default_material;
    for (int32_t g = 0; g < file.n_groups; g++)
        MODAL_TRY(assign_group(mesh, path, file.group_names[g], strlen(file.group_names[g]),
                               first + file.group_materials[g], taken, err));
    for (int32_t i = 0; i < file.n_materials; i++)
        if (file.fibre_files[i]) MODAL_TRY(read_fibres(mesh, first + i, file.fibre_files[i], err));
    memset(taken, 0, (size_t)mesh->n_elements);
done:
    modal_material_file_free(&file);
    return status;
}

int tool_list_materials(void)
{
    printf("%-12s %12s %8s %15s\n", "name", "E_Pa", "nu", "density_kg/m^3");
    for (int i = 0; i < MODAL_NAMED_MATERIALS; i++) {
        const modal_named_material *m = &modal_named_materials[i];
        printf("%-12s %12.4g %8.3g %15.4g\n", m->name, m->young, m->poisson, m->density);
    }
    return fflush(stdout) == 0 && !ferror(stdout) ? TOOL_EXIT_DONE : TOOL_EXIT_SYSTEM;
}

/* A name, or where that may be E,NU,RHO. */
static modal_status read_material(tool *t, const char *text, int or_numbers, modal_material *material, modal_error *err)
{
    modal_status status = MODAL_OK;
    char known[256] = "";
    double constants[3];
    const modal_named_material *named = modal_named_material_find(text);
    if (named) {
        if (named->is_wood)
            tool_note(t, "%s: as stiff in all directions as along its grain (formats/materials.md has orthotropic ones)", text);
        *material = (modal_material){.young = named->young, .poisson = named->poisson, .density = named->density};
    } else if (or_numbers && strchr(text, ',')) {
        MODAL_TRY(tool_parse_numbers(text, 3, constants, "--material", err));
        *material = (modal_material){.young = constants[0], .poisson = constants[1], .density = constants[2]};
    } else {
        for (int i = 0; i < MODAL_NAMED_MATERIALS; i++)
            snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                     modal_named_materials[i].name);
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--material: neither GROUP=E,NU,RHO nor a name, %s (known: %s)", text, known);
    }
done:
    return status;
}

/* The material of all elements, of the plain options or --material NAME; *found: there is one. */
static modal_status material_of_all(tool *t, const tool_solid_request *r, modal_material *all, const char **name, int *found,
                                    modal_error *err)
{
    modal_status status = MODAL_OK;
    *all = (modal_material){.young = r->young, .poisson = r->poisson, .density = r->density};
    *found = r->has_material;
    *name = "all";
    for (int i = 0; i < tool_count(&t->arguments, "material"); i++) {
        const char *text = tool_value_at(&t->arguments, "material", i);
        if (strrchr(text, '=')) continue;
        MODAL_TRY(read_material(t, text, 0, all, err));
        if (*found)
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--material: a second material of all elements, %s", text);
        *found = 1;
        *name = text;
    }
done:
    return status;
}

/* Nobody has said of what the solid is. */
static modal_status assume_material(tool *t, const tool_solid_request *r, modal_volume_mesh *mesh, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_named_material *m = modal_named_material_find(MODAL_ASSUMED_MATERIAL);
    const modal_material material = {.young = m->young, .poisson = m->poisson, .density = m->density};
    MODAL_TRY(append_material(mesh, m->name, SIZE_MAX, &material, err));
    for (int64_t e = 0; e < mesh->n_elements; e++) mesh->element_material[e] = 0;
    t->assumed_material = m->name;
    tool_warn(t, "%s: no material in the file, %s is assumed: E %.3g Pa, nu %g, %g kg/m^3 (--material NAME is another one, --material list "
                 "prints them)", r->mesh_path, m->name, m->young, m->poisson, m->density);
done:
    return status;
}

modal_status tool_assign_materials(tool *t, const tool_solid_request *r, modal_volume_mesh *mesh, int32_t *n_own, modal_error *err)
{
    modal_status status = MODAL_OK;
    uint8_t *taken = NULL; /* elements that the option at hand has given a material */
    *n_own = mesh->n_materials;
    MODAL_TRY(modal_alloc_zero(&taken, mesh->n_elements, 1, "materials", err));
    modal_material all;
    const char *name_of_all;
    int found;
    MODAL_TRY(material_of_all(t, r, &all, &name_of_all, &found, err));
    if (found) {
        if (mesh->n_materials > 0) tool_note(t, "the materials of %s are replaced", r->mesh_path);
        remove_materials(mesh);
        *n_own = 0;
        MODAL_TRY(append_material(mesh, name_of_all, SIZE_MAX, &all, err));
        for (int64_t e = 0; e < mesh->n_elements; e++) mesh->element_material[e] = 0;
    }
    if (r->materials_path) MODAL_TRY(assign_file(t, r->materials_path, mesh, taken, n_own, err));
    for (int i = 0; i < tool_count(&t->arguments, "material"); i++) {
        const char *text = tool_value_at(&t->arguments, "material", i), *equals = strrchr(text, '=');
        modal_material material;
        if (!equals) continue;
        if (equals == text) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--material: not GROUP=E,NU,RHO, %s", text);
        MODAL_TRY(read_material(t, equals + 1, 1, &material, err));
        MODAL_TRY(append_material(mesh, text, (size_t)(equals - text), &material, err));
        MODAL_TRY(assign_group(mesh, "--material", text, (size_t)(equals - text),
                               mesh->n_materials - 1, taken, err));
    }
    if (mesh->n_materials == 0 && mesh->not_taken[MODAL_UNSUPPORTED_MATERIAL].n > 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: not supported: %s; give --material NAME (--material list has them), or --young, --poisson and "
                   "--density, or --materials", r->mesh_path, mesh->not_taken[MODAL_UNSUPPORTED_MATERIAL].texts[0]);
    if (mesh->n_materials == 0) MODAL_TRY(assume_material(t, r, mesh, err));
done:
    modal_free(&taken);
    return status;
}
