/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/basis/basis_solid.h"

#include <stdio.h>
#include <string.h>

#include "formats/basis/basis_fields.h"
#include "lib/base/memory.h"

static const modal_h5_place nowhere = {H5I_INVALID_HID, ""};

modal_status modal_basis_read_choice(const modal_h5_in *in, const modal_h5_place *place,
                                const char *name, modal_h5_need need, int n,
                                const char *const names[], int *choice)
{
    char *text = NULL, where[MODAL_H5_PATH], known[128] = "";
    *choice = 0;
    if (need == MODAL_H5_OPTIONAL && !modal_h5_has_attribute(place, name))
        return MODAL_OK;
    modal_status status = modal_h5_read_text(in, place, name, &text);
    if (text) {
        while (*choice < n && strcmp(text, names[*choice]) != 0) ++*choice;
        if (*choice == n) {
            *choice = 0;
            for (int i = 0; i < n; i++)
                snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s",
                         i == 0 ? "" : i == n - 1 ? " or " : ", ", names[i]);
            snprintf(where, sizeof where, "%.160s@%s", place->path, name);
            status = modal_broken(&in->checker, where, "must be %s, is \"%.64s\"", known, text);
        }
    }
    modal_free(&text);
    return status;
}

static modal_status read_orthotropic(const modal_h5_in *in, const modal_h5_place *place,
                                     modal_material *m)
{
    modal_status status = MODAL_OK;
    int64_t dims[2] = {3, 3};
    double *axes = NULL;
    for (int i = 0; i < 9; i++)
        MODAL_TRY(modal_h5_read_number(in, place, modal_orthotropic_attributes[i],
                                       &m->orthotropic[i]));
    MODAL_TRY(modal_h5_read_array(in, place, "axes", MODAL_H5_F64, 2, dims, MODAL_H5_REQUIRED, &axes));
    if (axes) memcpy(m->axes, axes, sizeof m->axes);
done:
    modal_free(&axes);
    return status;
}

modal_status modal_basis_read_materials(const modal_h5_in *in, const modal_h5_place *volume,
                                   modal_volume_mesh *mesh)
{
    modal_status status = MODAL_OK;
    modal_h5_place all = nowhere, one = nowhere;
    int32_t n = 0;
    MODAL_TRY(modal_h5_enter(in, volume, "materials", MODAL_H5_REQUIRED, &all));
    MODAL_TRY(modal_h5_read_count(in, &all, &n));
    MODAL_TRY(
        modal_alloc_zero(&mesh->materials, n, sizeof *mesh->materials, all.path, in->checker.err));
    mesh->n_materials = n;
    for (int32_t i = 0; i < n; i++) {
        char name[16];
        modal_material *m = &mesh->materials[i];
        snprintf(name, sizeof name, "%04d", i);
        MODAL_TRY(modal_h5_enter(in, &all, name, MODAL_H5_REQUIRED, &one));
        MODAL_TRY(modal_h5_read_text(in, &one, "name", &m->name));
        MODAL_TRY(modal_h5_read_number(in, &one, "density", &m->density));
        int kind = 0;
        MODAL_TRY(modal_basis_read_choice(in, &one, "kind", MODAL_H5_REQUIRED, 2, modal_material_kind_names,
                              &kind));
        m->kind = (modal_material_kind)kind;
        if (kind == MODAL_MATERIAL_ORTHOTROPIC) {
            MODAL_TRY(read_orthotropic(in, &one, m));
        } else {
            MODAL_TRY(modal_h5_read_number(in, &one, "young", &m->young));
            MODAL_TRY(modal_h5_read_number(in, &one, "poisson", &m->poisson));
        }
        modal_h5_leave(&one);
    }
done:
    modal_h5_leave(&one);
    modal_h5_leave(&all);
    return status;
}

modal_status modal_basis_read_groups(const modal_h5_in *in, const modal_h5_place *volume,
                                modal_volume_mesh *mesh)
{
    modal_status status = MODAL_OK;
    modal_h5_place all = nowhere, one = nowhere;
    int32_t n = 0;
    MODAL_TRY(modal_h5_enter(in, volume, "groups", MODAL_H5_REQUIRED, &all));
    MODAL_TRY(modal_h5_read_count(in, &all, &n));
    MODAL_TRY(modal_alloc_zero(&mesh->groups, n, sizeof *mesh->groups, all.path, in->checker.err));
    mesh->n_groups = n;
    for (int32_t i = 0; i < n; i++) {
        char name[16];
        modal_group *g = &mesh->groups[i];
        int64_t dimension = 0, tag = -1, n_nodes = -1, n_elements = -1;
        snprintf(name, sizeof name, "%04d", i);
        MODAL_TRY(modal_h5_enter(in, &all, name, MODAL_H5_REQUIRED, &one));
        MODAL_TRY(modal_h5_read_text(in, &one, "name", &g->name));
        MODAL_TRY(modal_h5_read_integer(in, &one, "dimension", 0, 3, &dimension));
        MODAL_TRY(modal_h5_read_integer(in, &one, "tag", INT32_MIN, INT32_MAX, &tag));
        MODAL_TRY(modal_h5_read_array(in, &one, "nodes", MODAL_H5_I32, 1, &n_nodes,
                                      MODAL_H5_REQUIRED, &g->nodes));
        g->n_nodes = n_nodes < 0 ? 0 : n_nodes;
        MODAL_TRY(modal_h5_read_array(in, &one, "elements", MODAL_H5_I32, 1, &n_elements,
                                      MODAL_H5_REQUIRED, &g->elements));
        g->n_elements = n_elements < 0 ? 0 : n_elements;
        g->dimension = (int32_t)dimension;
        g->tag = (int32_t)tag;
        modal_h5_leave(&one);
    }
done:
    modal_h5_leave(&one);
    modal_h5_leave(&all);
    return status;
}
