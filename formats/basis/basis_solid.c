/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/basis/basis_solid.h"

#include <stdio.h>
#include <string.h>

#include "formats/basis/basis_fields.h"
#include "formats/h5/h5_private.h"
#include "lib/base/memory.h"
#include "lib/model/material.h"

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

/* [n, 2] shares and times. */
static modal_status read_terms(const modal_h5_in *in, const modal_h5_place *place, const char *name, modal_prony *terms)
{
    int64_t dims[2] = {-1, 2};
    double *values = NULL;
    char where[MODAL_H5_PATH];
    modal_status status = modal_h5_read_array(in, place, name, MODAL_H5_F64, 2, dims, MODAL_H5_OPTIONAL, &values);
    if (values && (dims[0] < 1 || dims[0] > MODAL_PRONY_TERMS)) {
        snprintf(where, sizeof where, "%.160s/%s", place->path, name);
        status = modal_broken(&in->checker, where, "must have 1 to %d rows, has %lld", MODAL_PRONY_TERMS, (long long)dims[0]);
    } else if (values) {
        terms->n = (int32_t)dims[0];
        for (int i = 0; i < terms->n; i++) terms->share[i] = values[2 * i], terms->time[i] = values[2 * i + 1];
    }
    modal_free(&values);
    return status;
}

/* The law, fibres and viscosity of a material. */
static modal_status read_more(const modal_h5_in *in, const modal_h5_place *place, modal_material *m)
{
    modal_status status = MODAL_OK;
    int64_t three = 3;
    double *fibre = NULL;
    MODAL_TRY(modal_basis_read_choice(in, place, "law", MODAL_H5_OPTIONAL, MODAL_MATERIAL_LAWS, modal_material_law_names, &m->law));
    if (modal_h5_has_attribute(place, "fibre_stiffness"))
        MODAL_TRY(modal_h5_read_number(in, place, "fibre_stiffness", &m->fibre_stiffness));
    MODAL_TRY(modal_h5_read_array(in, place, "fibre", MODAL_H5_F64, 1, &three, MODAL_H5_OPTIONAL, &fibre));
    if (fibre) memcpy(m->fibre, fibre, sizeof m->fibre);
    MODAL_TRY(read_terms(in, place, "prony_isochoric", &m->isochoric));
    MODAL_TRY(read_terms(in, place, "prony_volumetric", &m->volumetric));
done:
    modal_free(&fibre);
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
        MODAL_TRY(read_more(in, &one, m));
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

/* ---- writing ---- */

static modal_status write_terms(hid_t place, const char *name, const modal_prony *terms, modal_error *err)
{
    const int64_t dims[2] = {terms->n, 2};
    double values[2 * MODAL_PRONY_TERMS];
    for (int i = 0; i < terms->n; i++) values[2 * i] = terms->share[i], values[2 * i + 1] = terms->time[i];
    return terms->n > 0 ? modal_h5_write_array(place, name, MODAL_H5_F64, 2, dims, values, err) : MODAL_OK;
}

static modal_status write_more(hid_t place, const modal_material *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t three = 3;
    if (m->law != 0) MODAL_TRY(modal_h5_write_text(place, "law", modal_material_law_names[m->law], err));
    if (m->fibre_stiffness != 0) MODAL_TRY(modal_h5_write_number(place, "fibre_stiffness", m->fibre_stiffness, err));
    if (m->fibre[0] != 0 || m->fibre[1] != 0 || m->fibre[2] != 0)
        MODAL_TRY(modal_h5_write_array(place, "fibre", MODAL_H5_F64, 1, &three, m->fibre, err));
    MODAL_TRY(write_terms(place, "prony_isochoric", &m->isochoric, err));
    MODAL_TRY(write_terms(place, "prony_volumetric", &m->volumetric, err));
done:
    return status;
}

modal_status modal_basis_write_materials(hid_t place, const modal_volume_mesh *mesh, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t all = H5I_INVALID_HID, one = H5I_INVALID_HID;
    MODAL_TRY(modal_h5_make_group(place, "materials", &all, err));
    MODAL_TRY(modal_h5_write_integer(all, "count", mesh->n_materials, err));
    for (int32_t i = 0; i < mesh->n_materials; i++) {
        char name[16];
        const modal_material *m = &mesh->materials[i];
        snprintf(name, sizeof name, "%04d", i);
        MODAL_TRY(modal_h5_make_group(all, name, &one, err));
        MODAL_TRY(modal_h5_write_text(one, "name", m->name, err));
        MODAL_TRY(modal_h5_write_text(one, "kind", modal_material_kind_names[m->kind], err));
        if (m->kind == MODAL_MATERIAL_ORTHOTROPIC) {
            static const int64_t dims[2] = {3, 3};
            for (int k = 0; k < 9; k++)
                MODAL_TRY(modal_h5_write_number(one, modal_orthotropic_attributes[k],
                                                m->orthotropic[k], err));
            MODAL_TRY(modal_h5_write_array(one, "axes", MODAL_H5_F64, 2, dims, m->axes, err));
        } else {
            MODAL_TRY(modal_h5_write_number(one, "young", m->young, err));
            MODAL_TRY(modal_h5_write_number(one, "poisson", m->poisson, err));
        }
        MODAL_TRY(modal_h5_write_number(one, "density", m->density, err));
        MODAL_TRY(write_more(one, m, err));
        MODAL_TRY(modal_h5_end_group(&one, MODAL_OK, err));
    }
done:
    status = modal_h5_end_group(&one, status, err);
    return modal_h5_end_group(&all, status, err);
}

modal_status modal_basis_write_groups(hid_t place, const modal_volume_mesh *mesh, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t all = H5I_INVALID_HID, one = H5I_INVALID_HID;
    MODAL_TRY(modal_h5_make_group(place, "groups", &all, err));
    MODAL_TRY(modal_h5_write_integer(all, "count", mesh->n_groups, err));
    for (int32_t i = 0; i < mesh->n_groups; i++) {
        char name[16];
        const modal_group *g = &mesh->groups[i];
        snprintf(name, sizeof name, "%04d", i);
        MODAL_TRY(modal_h5_make_group(all, name, &one, err));
        MODAL_TRY(modal_h5_write_text(one, "name", g->name, err));
        MODAL_TRY(modal_h5_write_integer(one, "dimension", g->dimension, err));
        MODAL_TRY(modal_h5_write_integer(one, "tag", g->tag, err));
        MODAL_TRY(modal_h5_write_array(one, "nodes", MODAL_H5_I32, 1, &g->n_nodes, g->nodes, err));
        MODAL_TRY(modal_h5_write_array(one, "elements", MODAL_H5_I32, 1, &g->n_elements,
                                       g->elements, err));
        MODAL_TRY(modal_h5_end_group(&one, MODAL_OK, err));
    }
done:
    status = modal_h5_end_group(&one, status, err);
    return modal_h5_end_group(&all, status, err);
}
