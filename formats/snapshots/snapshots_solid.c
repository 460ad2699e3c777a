/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/snapshots/snapshots_solid.h"

#include <stdio.h>
#include <string.h>

#include "formats/basis/basis_solid.h"
#include "formats/h5/h5_private.h"
#include "formats/h5/rules.h"
#include "lib/base/memory.h"
#include "lib/model/material.h"

static const modal_h5_place nowhere = {H5I_INVALID_HID, ""};

void modal_snapshots_solid_free(modal_snapshots_solid *s)
{
    modal_volume_mesh_free(&s->mesh);
    modal_free(&s->mass);
    modal_free(&s->laws);
    modal_free(&s->triangles);
    modal_free(&s->patches);
    memset(s, 0, sizeof *s);
}

/* ---- reading ---- */

/* Types, offsets and nodes of the elements. */
static modal_status read_elements(const modal_h5_in *in, const modal_h5_place *place, modal_volume_mesh *m)
{
    modal_status status = MODAL_OK;
    const modal_checker *c = &in->checker;
    int64_t n = -1, n_offsets = -1, n_places = -1;
    int sound = 0;
    MODAL_TRY(modal_h5_read_array(in, place, "element_type", MODAL_H5_U8, 1, &n, MODAL_H5_REQUIRED, &m->element_type));
    if (n >= 0) n_offsets = n + 1;
    MODAL_TRY(modal_h5_read_array(in, place, "element_offsets", MODAL_H5_I64, 1, &n_offsets, MODAL_H5_REQUIRED, &m->element_offsets));
    MODAL_TRY(modal_h5_read_array(in, place, "element_nodes", MODAL_H5_I32, 1, &n_places, MODAL_H5_REQUIRED, &m->element_nodes));
    m->n_elements = n > 0 && n < INT32_MAX ? n : 0;
    if (m->element_type && m->n_elements == 0) MODAL_TRY(modal_broken(c, "/solid/element_type", "%lld elements", (long long)n));
    if (m->element_offsets && m->element_nodes)
        MODAL_TRY(modal_rule_offsets(c, "/solid/element_offsets", m->element_offsets, n_offsets - 1, n_places, &sound));
    for (int64_t e = 0; m->element_type && e < m->n_elements; e++) {
        if (m->element_type[e] >= MODAL_ELEMENT_TYPES) {
            MODAL_TRY(modal_broken(c, "/solid/element_type", "value %lld: must be 0 to %d, is %d", (long long)e, MODAL_ELEMENT_TYPES - 1,
                                   m->element_type[e]));
            break;
        }
        const modal_element_kind *kind = modal_mesh_kind(m, e);
        if (!sound || m->element_offsets[e + 1] - m->element_offsets[e] == kind->n_nodes) continue;
        MODAL_TRY(modal_broken(c, "/solid/element_offsets", "row %lld: a %s has %d nodes, the row %lld", (long long)e, kind->name,
                               kind->n_nodes, (long long)(m->element_offsets[e + 1] - m->element_offsets[e])));
        break;
    }
    if (m->element_nodes)
        MODAL_TRY(modal_rule_range(c, "/solid/element_nodes", m->element_nodes, n_places, 1, 0, m->n_nodes));
done:
    return status;
}

static modal_status read_patches(const modal_h5_in *in, const modal_h5_place *place, modal_snapshots_solid *s)
{
    static const char path[] = "/solid/patches";
    modal_status status = MODAL_OK;
    const modal_volume_mesh *m = &s->mesh;
    int64_t n = m->n_elements;
    MODAL_TRY(modal_h5_read_array(in, place, "patches", MODAL_H5_I32, 1, &n, MODAL_H5_OPTIONAL, &s->patches));
    if (s->patches) MODAL_TRY(modal_rule_range(&in->checker, path, s->patches, n, 1, -1, n));
    for (int64_t e = 0; s->patches && m->element_type && e < m->n_elements; e++) {
        if (s->patches[e] < 0 || m->element_type[e] == MODAL_ELEMENT_TET4) continue;
        MODAL_TRY(modal_broken(&in->checker, path, "value %lld: only a TET4 is in a patch, not a %s", (long long)e, modal_mesh_kind(m, e)->name));
        break;
    }
done:
    return status;
}

static modal_status read_tags(const modal_h5_in *in, const modal_h5_place *place, const char *name, int64_t n, int64_t **tags)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_h5_read_array(in, place, name, MODAL_H5_I64, 1, &n, MODAL_H5_OPTIONAL, tags));
    if (*tags) goto done;
    MODAL_TRY(modal_alloc(tags, n, sizeof **tags, "numbers", in->checker.err));
    for (int64_t i = 0; i < n; i++) (*tags)[i] = i + 1;
done:
    return status;
}

/* Materials, groups, laws and fibres. */
static modal_status read_material(const modal_h5_in *in, const modal_h5_place *place, modal_snapshots_solid *s)
{
    modal_status status = MODAL_OK;
    modal_volume_mesh *m = &s->mesh;
    int64_t n = m->n_elements, fibres[2] = {m->n_elements, 3};
    const int has = modal_h5_has_link(place, "materials");
    if (has) {
        MODAL_TRY(modal_basis_read_materials(in, place, m));
        MODAL_TRY(modal_h5_read_array(in, place, "element_material", MODAL_H5_I32, 1, &n, MODAL_H5_REQUIRED, &m->element_material));
    }
    if (modal_h5_has_link(place, "groups")) MODAL_TRY(modal_basis_read_groups(in, place, m));
    MODAL_TRY(modal_h5_read_array(in, place, "element_law", MODAL_H5_U8, 1, &n, MODAL_H5_OPTIONAL, &s->laws));
    MODAL_TRY(modal_h5_read_array(in, place, "fibres", MODAL_H5_F64, 2, fibres, MODAL_H5_OPTIONAL, &m->element_fibres));
    MODAL_TRY(modal_basis_rules_solid(&in->checker, "/solid", "/solid/fibres", m));
    for (int64_t e = 0; s->laws && e < m->n_elements; e++)
        if (s->laws[e] < 1 || s->laws[e] >= MODAL_MATERIAL_LAWS) {
            MODAL_TRY(modal_broken(&in->checker, "/solid/element_law", "value %lld: must be 1 to %d, is %d", (long long)e,
                                   MODAL_MATERIAL_LAWS - 1, s->laws[e]));
            break;
        }
done:
    return status;
}

modal_status modal_snapshots_solid_look(const modal_h5_in *in, const modal_h5_place *root, int64_t n_nodes, modal_snapshots_solid *s,
                                        int *there)
{
    modal_status status = MODAL_OK;
    modal_h5_place place = nowhere;
    modal_volume_mesh *m = &s->mesh;
    int64_t nodes[2] = {n_nodes, 3}, n_mass = n_nodes, triangles[2] = {-1, 3};
    *there = modal_h5_has_link(root, "solid");
    if (!*there) return MODAL_OK;
    MODAL_TRY(modal_h5_enter(in, root, "solid", MODAL_H5_OPTIONAL, &place));
    m->n_nodes = n_nodes;
    MODAL_TRY(modal_h5_read_array(in, &place, "nodes", MODAL_H5_F64, 2, nodes, MODAL_H5_REQUIRED, &m->nodes));
    MODAL_TRY(modal_rule_finite(&in->checker, "/solid/nodes", m->nodes, n_nodes, 3, (modal_axes){"node", "axis"}));
    MODAL_TRY(modal_h5_read_array(in, &place, "mass", MODAL_H5_F64, 1, &n_mass, MODAL_H5_REQUIRED, &s->mass));
    MODAL_TRY(modal_rule_at_least(&in->checker, "/solid/mass", s->mass, n_mass, 0, 1));
    MODAL_TRY(read_elements(in, &place, m));
    MODAL_TRY(read_tags(in, &place, "node_tags", m->n_nodes, &m->node_tags));
    MODAL_TRY(read_tags(in, &place, "element_tags", m->n_elements, &m->element_tags));
    MODAL_TRY(modal_h5_read_array(in, &place, "triangles", MODAL_H5_I32, 2, triangles, MODAL_H5_REQUIRED, &s->triangles));
    s->n_triangles = s->triangles ? triangles[0] : 0;
    MODAL_TRY(modal_rule_range(&in->checker, "/solid/triangles", s->triangles, s->n_triangles, 3, 0, n_nodes));
    MODAL_TRY(read_material(in, &place, s));
    MODAL_TRY(read_patches(in, &place, s));
done:
    modal_h5_leave(&place);
    return status;
}

/* ---- writing ---- */

modal_status modal_snapshots_solid_write(hid_t file, const modal_snapshots_solid *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t solid = H5I_INVALID_HID;
    const modal_volume_mesh *m = &s->mesh;
    const int64_t nodes[2] = {m->n_nodes, 3}, triangles[2] = {s->n_triangles, 3}, elements[2] = {m->n_elements, 3};
    const int64_t offsets = m->n_elements + 1;
    MODAL_TRY(modal_h5_make_group(file, "solid", &solid, err));
    MODAL_TRY(modal_h5_write_array(solid, "nodes", MODAL_H5_F64, 2, nodes, m->nodes, err));
    MODAL_TRY(modal_h5_write_array(solid, "node_tags", MODAL_H5_I64, 1, nodes, m->node_tags, err));
    MODAL_TRY(modal_h5_write_array(solid, "mass", MODAL_H5_F64, 1, nodes, s->mass, err));
    MODAL_TRY(modal_h5_write_array(solid, "element_type", MODAL_H5_U8, 1, elements, m->element_type, err));
    MODAL_TRY(modal_h5_write_array(solid, "element_offsets", MODAL_H5_I64, 1, &offsets, m->element_offsets, err));
    MODAL_TRY(modal_h5_write_array(solid, "element_nodes", MODAL_H5_I32, 1, &m->element_offsets[m->n_elements], m->element_nodes, err));
    MODAL_TRY(modal_h5_write_array(solid, "element_tags", MODAL_H5_I64, 1, elements, m->element_tags, err));
    MODAL_TRY(modal_h5_write_array(solid, "element_material", MODAL_H5_I32, 1, elements, m->element_material, err));
    MODAL_TRY(modal_h5_write_array(solid, "triangles", MODAL_H5_I32, 2, triangles, s->triangles, err));
    if (s->laws) MODAL_TRY(modal_h5_write_array(solid, "element_law", MODAL_H5_U8, 1, elements, s->laws, err));
    if (s->patches) MODAL_TRY(modal_h5_write_array(solid, "patches", MODAL_H5_I32, 1, elements, s->patches, err));
    if (m->element_fibres) MODAL_TRY(modal_h5_write_array(solid, "fibres", MODAL_H5_F64, 2, elements, m->element_fibres, err));
    MODAL_TRY(modal_basis_write_materials(solid, m, err));
    MODAL_TRY(modal_basis_write_groups(solid, m, err));
done:
    return modal_h5_end_group(&solid, status, err);
}
