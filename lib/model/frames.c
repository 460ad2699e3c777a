/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/frames.h"

#include <string.h>

#include "lib/base/memory.h"

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* No blank, dot, slash or colon, which lists of names, HDF5 and XDMF use; nothing that XML would escape. */
int modal_array_name_fits(const char *name)
{
    const size_t length = strlen(name);
    if (length == 0 || length >= MODAL_ARRAY_NAME || !is_letter(name[0])) return 0;
    for (size_t i = 1; i < length; i++)
        if (!is_letter(name[i]) && !(name[i] >= '0' && name[i] <= '9') && name[i] != '_' && name[i] != '-') return 0;
    return 1;
}

int modal_array_find(const modal_array_list *list, const char *name)
{
    for (int i = 0; i < list->n; i++)
        if (strcmp(list->all[i].name, name) == 0) return i;
    return -1;
}

static int unit_fits(const char *unit)
{
    if (!*unit) return 0;
    for (; *unit; unit++)
        if (*unit <= ' ' || *unit > '~') return 0;
    return 1;
}

modal_status modal_array_add(modal_array_list *list, const modal_array *array, modal_error *err)
{
    if (modal_array_find(list, array->name) >= 0)
        return modal_error_set(err, MODAL_ERROR_USAGE, "array %s: twice", array->name);
    if (!modal_array_name_fits(array->name) || array->components < 1 || array->components > MODAL_ARRAY_COMPONENTS ||
        !unit_fits(array->unit))
        return modal_error_set(err, MODAL_ERROR_USAGE, "array %s: its name, unit or %d components break the rules",
                               array->name, array->components);
    if (list->n == MODAL_MOST_ARRAYS)
        return modal_error_set(err, MODAL_ERROR_USAGE, "array %s: more than %d arrays", array->name, MODAL_MOST_ARRAYS);
    list->all[list->n++] = *array;
    return MODAL_OK;
}

int modal_array_frame_bytes(const modal_array_list *list, int64_t n_points, int64_t n_cells, int64_t *bytes)
{
    *bytes = 0;
    for (int i = 0; i < list->n; i++) {
        int64_t array;
        const int64_t row = (int64_t)sizeof(float) * list->all[i].components;
        if (!modal_size_multiply(list->all[i].of_cells ? n_cells : n_points, row, &array) ||
            !modal_size_add(*bytes, array, bytes))
            return 0;
    }
    return 1;
}
