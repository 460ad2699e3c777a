/* SPDX-License-Identifier: Apache-2.0 */
/* The list of arrays as sequence.vtkhdf has it: names and units in two texts of /modal, components and whether of
 * points or of cells from the datasets. */
#include <stdio.h>
#include <string.h>

#include "formats/h5/rules.h"
#include "formats/sequences/sequence_checked.h"
#include "lib/base/memory.h"

const char *const modal_sequence_sources[] = {"trajectory", "snapshots", "sequence", "basis", NULL};

enum { MOST_TEXT = MODAL_MOST_ARRAYS * MODAL_ARRAY_NAME };

modal_status modal_sequence_write_list(hid_t modal, const modal_array_list *list, modal_error *err)
{
    modal_status status = MODAL_OK;
    char names[MOST_TEXT] = "", units[MOST_TEXT] = "";
    for (int i = 0; i < list->n; i++) {
        if (i > 0) strcat(names, " "), strcat(units, " ");
        strcat(names, list->all[i].name);
        strcat(units, list->all[i].unit);
    }
    MODAL_TRY(modal_h5_write_text(modal, "arrays", names, err));
    MODAL_TRY(modal_h5_write_text(modal, "array_units", units, err));
done:
    return status;
}

/* The numbers of a row, or 0 for what is no dataset of rows. */
static int components_of(hid_t group, const char *name)
{
    H5L_info_t link;
    hsize_t dims[2] = {0, 1};
    int components = 0;
    if (H5Lget_info(group, name, &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD) return 0;
    hid_t dataset = H5Dopen2(group, name, H5P_DEFAULT), space = dataset < 0 ? -1 : H5Dget_space(dataset);
    const int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    if ((rank == 1 || rank == 2) && H5Sget_simple_extent_dims(space, dims, NULL) == rank &&
        dims[1] <= MODAL_ARRAY_COMPONENTS && (rank == 1 || dims[1] > 1))
        components = (int)dims[1];
    if (space >= 0) H5Sclose(space);
    if (dataset >= 0) H5Dclose(dataset);
    return components;
}

/* One word of a text in which one blank stands between two; *text moves behind it. Empty where none is left, or one
 * that is too long. */
static const char *next_word(const char **text, char *word, size_t bytes)
{
    const size_t length = strcspn(*text, " ");
    snprintf(word, bytes, "%.*s", length < bytes ? (int)length : 0, *text);
    *text += length + ((*text)[length] == ' ');
    return word;
}

static int ends_with_blank(const char *text)
{
    const size_t length = strlen(text);
    return length > 0 && text[length - 1] == ' ';
}

/* Finds a listed array in the file and adds it to the list. */
static modal_status add_listed(const modal_h5_in *in, const modal_h5_place places[3], modal_array *a, modal_array_list *list)
{
    static const char where[] = "/modal@arrays";
    modal_error fault = {0};
    char path[MODAL_H5_PATH];
    const int of_points = modal_h5_has_link(&places[list->n > 0], a->name);
    const int of_cells = list->n > 0 && modal_h5_has_link(&places[2], a->name);
    if (!modal_array_name_fits(a->name)) return modal_broken(&in->checker, where, "not the name of an array, \"%s\"", a->name);
    if (list->n == 0 && !of_points) return modal_broken(&in->checker, "/VTKHDF/Points", "missing");
    if (of_points == of_cells)
        return modal_broken(&in->checker, where, "%s: %s", a->name,
                            of_points ? "both of points and of cells" : "there is no such array");
    a->of_cells = of_cells;
    a->components = list->n == 0 ? 3 : components_of(places[of_cells ? 2 : 1].id, a->name);
    H5Eclear2(H5E_DEFAULT);
    if (a->components == 0) {
        snprintf(path, sizeof path, "%.160s/%s", places[of_cells ? 2 : 1].path, a->name);
        return modal_broken(&in->checker, path, "shape must be [rows], or [rows, 2] to [rows, %d]", MODAL_ARRAY_COMPONENTS);
    }
    if (!modal_sequence_fits_known(a))
        return modal_broken(&in->checker, where, "%s: components, unit or kind are not those of this name", a->name);
    if (modal_array_add(list, a, &fault) != MODAL_OK) return modal_broken(&in->checker, where, "%s", fault.message);
    return MODAL_OK;
}

static modal_status read_listed(const modal_h5_in *in, const modal_h5_place *modal, const modal_h5_place places[3],
                                modal_array_list *list)
{
    modal_status status = MODAL_OK;
    char *names = NULL, *units = NULL;
    MODAL_TRY(modal_h5_read_text(in, modal, "arrays", &names));
    MODAL_TRY(modal_h5_read_text(in, modal, "array_units", &units));
    if (!names || !units) goto done;
    if (ends_with_blank(names) || ends_with_blank(units)) {
        status = modal_broken(&in->checker, "/modal@arrays", "names and units have one blank between two");
        goto done;
    }
    const char *name = names, *unit = units;
    for (int i = 0; *name || *unit; i++) {
        modal_array a = {.components = 0};
        next_word(&name, a.name, sizeof a.name);
        next_word(&unit, a.unit, sizeof a.unit);
        if ((i == 0) != modal_sequence_is_points(&a)) {
            status = modal_broken(&in->checker, "/modal@arrays", "must begin with Points, and name it once");
            goto done;
        }
        MODAL_TRY(add_listed(in, places, &a, list));
        if (list->n == 0 || i >= MODAL_MOST_ARRAYS) goto done; /* reported */
    }
    if (list->n == 0) status = modal_broken(&in->checker, "/modal@arrays", "must begin with Points, and name it once");
done:
    modal_free(&names);
    modal_free(&units);
    return status;
}

modal_status modal_sequence_read_list(const modal_h5_in *in, const modal_h5_place *modal, const modal_h5_place *vtk,
                                      modal_array_list *list)
{
    modal_status status = MODAL_OK;
    modal_h5_place places[3] = {*vtk, {H5I_INVALID_HID, ""}, {H5I_INVALID_HID, ""}};
    list->n = 0;
    MODAL_TRY(modal_h5_enter(in, vtk, "PointData", MODAL_H5_REQUIRED, &places[1]));
    MODAL_TRY(modal_h5_enter(in, vtk, "CellData", MODAL_H5_OPTIONAL, &places[2]));
    MODAL_TRY(read_listed(in, modal, places, list));
done:
    modal_h5_leave(&places[2]);
    modal_h5_leave(&places[1]);
    return status;
}
