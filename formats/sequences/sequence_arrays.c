/* SPDX-License-Identifier: Apache-2.0 */
/* The one place of the formats that knows arrays by name: how their components are called in PLY and CSV, and
 * which of them VTK has a word for. An array with another name needs no line here. */
#include "formats/sequences/sequence_parts.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/memory.h"

const modal_array modal_sequence_points = {.name = "Points", .components = 3, .unit = "m"};

typedef struct known_array {
    modal_array array;
    const char *attribute; /* of VTK's PointData: the active array of this kind */
    const char *ply[4], *csv[4];
} known_array;

static const known_array known[] = {
    {{.name = "Points", .components = 3, .unit = "m"}, NULL, {"x", "y", "z"}, {"x", "y", "z"}},
    {{.name = "Normals", .components = 3, .unit = "1"},
     "Normals",
     {"nx", "ny", "nz"},
     {"normal_x", "normal_y", "normal_z"}},
    {{.name = "displacement", .components = 3, .unit = "m"}, NULL, {NULL}, {NULL}},
    {{.name = "speed", .components = 1, .unit = "m/s"}, NULL, {NULL}, {NULL}},
    {{.name = "Tangents", .components = 4, .unit = "1"},
     NULL,
     {"tx", "ty", "tz", "tangent_hand"},
     {"tangent_x", "tangent_y", "tangent_z", "tangent_hand"}},
};

static const known_array *find(const char *name)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].array.name, name) == 0) return &known[i];
    return NULL;
}

const modal_array *modal_sequence_known(const char *name)
{
    const known_array *k = find(name);
    return k ? &k->array : NULL;
}

int modal_sequence_of_points(const modal_array *array) { return !array->of_cells; }

int modal_sequence_is_points(const modal_array *array)
{
    return strcmp(array->name, modal_sequence_points.name) == 0;
}

int modal_sequence_is_normals(const modal_array *array)
{
    return !array->of_cells && array->components == 3 && strcmp(array->name, "Normals") == 0;
}

const char *modal_sequence_vtk_attribute(const modal_array *array)
{
    const known_array *k = array->of_cells ? NULL : find(array->name);
    return k && k->array.components == array->components ? k->attribute : NULL;
}

void modal_sequence_label(const modal_array *array, int component, int of_ply, char label[MODAL_SEQUENCE_LABEL])
{
    /* A tensor's components in VTK's order. */
    static const char *const axes[] = {"x", "y", "z"}, *const symmetric[] = {"xx", "yy", "zz", "xy", "yz", "xz"};
    const known_array *k = find(array->name);
    const int own = k && k->array.components == array->components && k->ply[0];
    if (own)
        snprintf(label, MODAL_SEQUENCE_LABEL, "%s", of_ply ? k->ply[component] : k->csv[component]);
    else if (array->components == 1)
        snprintf(label, MODAL_SEQUENCE_LABEL, "%s", array->name);
    else if (array->components == 3)
        snprintf(label, MODAL_SEQUENCE_LABEL, "%s_%s", array->name, axes[component]);
    else if (array->components == 6)
        snprintf(label, MODAL_SEQUENCE_LABEL, "%s_%s", array->name, symmetric[component]);
    else
        snprintf(label, MODAL_SEQUENCE_LABEL, "%s_%d", array->name, component);
}

const char *modal_sequence_path(const modal_array_list *list, int i, char path[MODAL_SEQUENCE_PATH])
{
    snprintf(path, MODAL_SEQUENCE_PATH, "/VTKHDF/%s%s",
             i == 0 ? "" : list->all[i].of_cells ? "CellData/" : "PointData/", list->all[i].name);
    return path;
}

int modal_sequence_has_cell_arrays(const modal_array_list *list)
{
    for (int i = 0; i < list->n; i++)
        if (list->all[i].of_cells) return 1;
    return 0;
}

int64_t modal_sequence_n_cells(const modal_sequence_info *info)
{
    return info->volume ? info->volume->n_cells : info->n_triangles;
}

int64_t modal_sequence_rows(const modal_sequence_info *info, int i)
{
    return info->arrays.all[i].of_cells ? modal_sequence_n_cells(info) : info->n_points;
}

int64_t modal_sequence_floats(const modal_sequence_info *info, int i)
{
    return info->arrays.all[i].components * modal_sequence_rows(info, i);
}

int modal_sequence_frame_bytes(const modal_sequence_info *info, int64_t *bytes)
{
    return modal_array_frame_bytes(&info->arrays, info->n_points, modal_sequence_n_cells(info), bytes);
}

int modal_sequence_fits_known(const modal_array *a)
{
    const modal_array *k = modal_sequence_known(a->name);
    return !k || (a->of_cells == k->of_cells && a->components == k->components && strcmp(a->unit, k->unit) == 0);
}

modal_status modal_sequence_check_arrays(const modal_array_list *list, modal_error *err)
{
    modal_array_list again = {0};
    modal_error fault = {0};
    if (list->n < 1 || list->n > MODAL_MOST_ARRAYS || !modal_sequence_is_points(&list->all[0]))
        return modal_error_set(err, MODAL_ERROR_INPUT, "sequence: the first of its arrays must be Points");
    for (int i = 0; i < list->n; i++)
        if (modal_array_add(&again, &list->all[i], &fault) != MODAL_OK)
            return modal_error_set(err, MODAL_ERROR_INPUT, "sequence: %s", fault.message);
        else if (!modal_sequence_fits_known(&list->all[i]))
            return modal_error_set(err, MODAL_ERROR_INPUT, "sequence: array %s: not as formats/sequence.md has it",
                                   list->all[i].name);
    return MODAL_OK;
}
