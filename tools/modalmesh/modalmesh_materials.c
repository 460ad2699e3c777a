/* SPDX-License-Identifier: Apache-2.0 */
/* modalmesh: what Gmsh's format has not. The materials of a mesh become the file that modalpack --materials reads
 * (formats/materials.md), its conditions groups. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "formats/meshes/number_text.h"
#include "lib/base/memory.h"
#include "tools/common/tool.h"
#include "tools/modalmesh/modalmesh.h"

static int is_of(const modal_volume_mesh *mesh, const modal_group *group, int32_t material, int64_t n)
{
    if (group->dimension != 3 || group->n_elements != n) return 0;
    for (int64_t k = 0; k < n; k++)
        if (mesh->element_material[group->elements[k]] != material) return 0;
    return 1;
}

static int is_taken(const modal_volume_mesh *mesh, const char *name)
{
    for (int32_t g = 0; g < mesh->n_groups; g++)
        if (mesh->groups[g].dimension == 3 && strcmp(mesh->groups[g].name, name) == 0) return 1;
    return 0;
}

/* A group material_NAME of the n elements of a material, which no group has as they are. */
static modal_status add_group(modal_volume_mesh *mesh, int32_t material, int64_t n, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_group *longer = NULL, group = {.dimension = 3, .tag = -1};
    uint8_t *is_in = NULL;
    char name[300];
    snprintf(name, sizeof name, "material_%.240s", mesh->materials[material].name);
    for (int i = 2; is_taken(mesh, name); i++)
        snprintf(name, sizeof name, "material_%.240s_%d", mesh->materials[material].name, i);
    MODAL_TRY(modal_copy_text(&group.name, name, SIZE_MAX, err));
    MODAL_TRY(modal_alloc(&group.elements, n, sizeof *group.elements, "group", err));
    MODAL_TRY(modal_alloc_zero(&is_in, mesh->n_nodes, 1, "group", err));
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        if (mesh->element_material[e] != material) continue;
        group.elements[group.n_elements++] = (int32_t)e;
        for (int64_t i = mesh->element_offsets[e]; i < mesh->element_offsets[e + 1]; i++)
            is_in[mesh->element_nodes[i]] = 1;
    }
    for (int64_t i = 0; i < mesh->n_nodes; i++) group.n_nodes += is_in[i];
    MODAL_TRY(modal_alloc(&group.nodes, group.n_nodes, sizeof *group.nodes, "group", err));
    for (int64_t i = 0, k = 0; i < mesh->n_nodes; i++)
        if (is_in[i]) group.nodes[k++] = (int32_t)i;
    MODAL_TRY(modal_alloc(&longer, mesh->n_groups + 1, sizeof *longer, "groups", err));
    if (mesh->n_groups > 0) memcpy(longer, mesh->groups, (size_t)mesh->n_groups * sizeof *longer);
    modal_free(&mesh->groups);
    longer[mesh->n_groups++] = group;
    memset(&group, 0, sizeof group);
    mesh->groups = longer;
done:
    modal_free(&is_in);
    modal_free(&group.name);
    modal_free(&group.nodes);
    modal_free(&group.elements);
    return status;
}

/* A group held_xyz of the nodes that are held in just these components. */
static modal_status add_held(tool *t, modal_volume_mesh *mesh, const uint8_t *held, int components, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_group *longer = NULL, group = {.dimension = 0, .tag = -1};
    char name[32] = "held_", axes[4] = "";
    for (int k = 0, n = 0; k < 3; k++)
        if (components >> k & 1) axes[n++] = "xyz"[k];
    strcat(name, axes);
    for (int64_t i = 0; i < mesh->n_nodes; i++) group.n_nodes += held[i] == components;
    if (group.n_nodes == 0) goto done;
    for (int32_t g = 0; g < mesh->n_groups; g++)
        if (strcmp(mesh->groups[g].name, name) == 0)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "*BOUNDARY: a group of its name is there, %s", name);
    MODAL_TRY(modal_copy_text(&group.name, name, SIZE_MAX, err));
    MODAL_TRY(modal_alloc(&group.nodes, group.n_nodes, sizeof *group.nodes, "group", err));
    MODAL_TRY(modal_alloc(&group.elements, 0, sizeof *group.elements, "group", err));
    for (int64_t i = 0, k = 0; i < mesh->n_nodes; i++)
        if (held[i] == components) group.nodes[k++] = (int32_t)i;
    MODAL_TRY(modal_alloc(&longer, mesh->n_groups + 1, sizeof *longer, "groups", err));
    if (mesh->n_groups > 0) memcpy(longer, mesh->groups, (size_t)mesh->n_groups * sizeof *longer);
    modal_free(&mesh->groups);
    tool_warn(t, "*BOUNDARY is not kept, Gmsh's format has none: its %lld nodes held in %s are the group %s (modalpack --fixed "
              "%s@%s)", (long long)group.n_nodes, axes, name, name, axes);
    longer[mesh->n_groups++] = group;
    memset(&group, 0, sizeof group);
    mesh->groups = longer;
done:
    modal_free(&group.name);
    modal_free(&group.nodes);
    modal_free(&group.elements);
    return status;
}

modal_status modalmesh_keep_conditions(tool *t, modal_volume_mesh *mesh, modal_error *err)
{
    modal_status status = MODAL_OK;
    uint8_t *held = NULL;
    if (mesh->n_conditions == 0) goto done;
    MODAL_TRY(modal_alloc_zero(&held, mesh->n_nodes, 1, "conditions", err));
    for (int32_t c = 0; c < mesh->n_conditions; c++)
        for (int64_t i = 0; i < mesh->conditions[c].group.n_nodes; i++)
            held[mesh->conditions[c].group.nodes[i]] |= mesh->conditions[c].components;
    for (int components = 1; components <= 7; components++) MODAL_TRY(add_held(t, mesh, held, components, err));
done:
    modal_free(&held);
    return status;
}

/* A text in quotes; the readers of meshes let no other than printable characters through. Where the .msh
 * file has another quote in a name, so has this. */
static modal_status put_text(FILE *file, const char *name, int is_group, modal_error *err)
{
    modal_status status = MODAL_OK;
    json_t *text = NULL;
    char *copy = NULL, *quoted = NULL;
    MODAL_TRY(modal_copy_text(&copy, name, SIZE_MAX, err));
    for (char *c = copy; is_group && *c; c++)
        if (*c == '"') *c = '\'';
    text = json_string(copy);
    if (text) quoted = json_dumps(text, JSON_ENCODE_ANY);
    if (!quoted) MODAL_FAIL(err, MODAL_ERROR_INPUT, "--materials-out: a name is no UTF-8, %s", name);
    fputs(quoted, file);
done:
    free(quoted);
    json_decref(text);
    modal_free(&copy);
    return status;
}

static void put_number(FILE *file, const char *key, double value)
{
    char text[MODAL_NUMBER_TEXT];
    fprintf(file, "\"%s\": %.*s", key, (int)(modal_put_double(text, value) - text), text);
}

static void put_numbers(FILE *file, const char *key, const double *values, int n)
{
    char text[MODAL_NUMBER_TEXT];
    fprintf(file, "%s%s%s[", *key ? "\"" : "", key, *key ? "\": " : "");
    for (int k = 0; k < n; k++) fprintf(file, "%s%.*s", k > 0 ? ", " : "", (int)(modal_put_double(text, values[k]) - text), text);
    fputs("]", file);
}

/* What a material has beside its density. */
static void put_elasticity(FILE *file, const modal_material *m)
{
    if (m->kind == MODAL_MATERIAL_ISOTROPIC) {
        put_number(file, "young", m->young);
        fputs(", ", file);
        put_number(file, "poisson", m->poisson);
        return;
    }
    put_numbers(file, "young", m->orthotropic, 3);
    fputs(", ", file);
    put_numbers(file, "poisson", m->orthotropic + 3, 3);
    fputs(", ", file);
    put_numbers(file, "shear", m->orthotropic + 6, 3);
    fputs(", \"axes\": [", file);
    put_numbers(file, "", m->axes, 3);
    fputs(", ", file);
    put_numbers(file, "", m->axes + 3, 3);
    fputs("]", file);
}

modal_status modalmesh_write_materials(FILE *file, modal_volume_mesh *mesh, modal_error *err)
{
    modal_status status = MODAL_OK;
    int is_first = 1;
    fputs("{\n    \"materials\": {", file);
    for (int32_t i = 0; i < mesh->n_materials; i++) {
        const modal_material *m = &mesh->materials[i];
        fputs(i > 0 ? ",\n        " : "\n        ", file);
        MODAL_TRY(put_text(file, m->name, 0, err));
        fputs(": {", file);
        put_elasticity(file, m);
        fputs(", ", file);
        put_number(file, "density", m->density);
        fputc('}', file);
    }
    fputs("\n    },\n    \"groups\": {", file);
    for (int32_t i = 0; i < mesh->n_materials; i++) {
        int64_t n = 0;
        int32_t g = 0;
        for (int64_t e = 0; e < mesh->n_elements; e++) n += mesh->element_material[e] == i;
        if (n == 0) continue;
        while (g < mesh->n_groups && !is_of(mesh, &mesh->groups[g], i, n)) g++;
        if (g == mesh->n_groups) MODAL_TRY(add_group(mesh, i, n, err));
        fputs(is_first ? "\n        " : ",\n        ", file);
        is_first = 0;
        MODAL_TRY(put_text(file, mesh->groups[g].name, 1, err));
        fputs(": ", file);
        MODAL_TRY(put_text(file, mesh->materials[i].name, 0, err));
    }
    fputs("\n    }\n}\n", file);
done:
    return status;
}
