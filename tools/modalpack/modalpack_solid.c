/* SPDX-License-Identifier: Apache-2.0 */
/* modalpack: the solid, and the surface that will deform. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/meshes/surface_read.h"
#include "lib/base/memory.h"
#include "lib/fem/enhanced.h"
#include "lib/mesh/boundary.h"
#include "lib/mesh/layers.h"
#include "lib/mesh/measure.h"
#include "lib/model/material.h"
#include "lib/shape/shape_surface.h"
#include "tools/modalpack/modalpack.h"

/* Linear elements cannot bend or shear without changing their volume, which such materials resist. */
static void warn_of_locking(tool *t, const modal_volume_mesh *mesh)
{
    for (int32_t m = 0; m < mesh->n_materials; m++) {
        const modal_material *material = &mesh->materials[m];
        int64_t n_linear = 0;
        if (material->kind != MODAL_MATERIAL_ISOTROPIC || material->poisson < MODAL_NEARLY_INCOMPRESSIBLE) continue;
        for (int64_t e = 0; e < mesh->n_elements; e++)
            n_linear += mesh->element_material[e] == m && !modal_mesh_kind(mesh, e)->quadratic &&
                        !(modal_element_enhancement(mesh, e) & MODAL_ENHANCED_MODES);
        if (n_linear > 0)
            tool_warn(t,
                      "material \"%s\": linear elements are much too stiff near nu = 0.5, those of second order are not "
                      "(modalmesh --order 2), %g",
                      material->name, material->poisson);
    }
}

/* Linear elements bend too stiffly where few of them stand one on the other. */
modal_status modalpack_hint_at_bending(tool *t, const modalpack_request *r, const modal_volume_mesh *mesh, modal_error *err)
{
    static const double few = 0.25; /* of the surface: sharp edges of thick bodies pass for thin, too */
    modal_status status = MODAL_OK;
    modal_surface_mesh surface = {0};
    modal_layers layers;
    int32_t *nodes = NULL;
    int linear = 0;
    for (int64_t e = 0; e < mesh->n_elements && !linear; e++) /* incompatible modes bend */
        linear = !modal_mesh_kind(mesh, e)->quadratic && !(modal_element_enhancement(mesh, e) & MODAL_ENHANCED_MODES);
    /* what is wrong with the boundary is said where it is needed */
    if (!linear || modal_volume_mesh_boundary_by(r->find_faces, mesh, &surface, &nodes, NULL) != MODAL_OK) goto done;
    MODAL_TRY(modal_mesh_count_layers(mesh, surface.n_vertices, nodes, &layers, err));
    const double all = (double)layers.n_surface, thin = (double)layers.n_thin / all, single = (double)layers.n_single / all;
    json_object_set_new(t->report, "thin_share_of_surface", json_real(thin));
    if (thin > few)
        tool_note(t, "hint: linear elements bend too stiffly with fewer than four through the thickness: one at %.0f %% of the surface, two "
                     "or three at %.0f %%; modalmesh --order 2 makes quadratic ones", 100 * single, 100 * (thin - single));
done:
    modal_free(&nodes);
    modal_surface_mesh_free(&surface);
    return status;
}

/* A surface so much larger than the solid that carries it, or smaller, is in another unit. */
static void warn_of_surface(tool *t, const modalpack_request *r, const modal_volume_mesh *mesh, const modal_surface_mesh *fine)
{
    static const double far = 20;
    double sizes[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        double low[3], high[3];
        if (i == 0) modal_find_box(mesh->nodes, mesh->n_nodes, low, high);
        else modal_find_box(fine->positions, fine->n_vertices, low, high);
        for (int k = 0; k < 3; k++) sizes[i] = fmax(sizes[i], high[k] - low[k]);
    }
    if (sizes[1] > far * sizes[0] || sizes[0] > far * sizes[1])
        tool_warn(t, "%s: %.4g m long, the solid %.4g m; is it in another unit (--surface-unit)?", r->surface_path, sizes[1],
                  sizes[0]);
}

/* The rule of the linear elements: what --hex8 says, else what is done asks for, else what the mesh file says. */
static void choose_rule(tool *t, const modalpack_request *r, modal_volume_mesh *mesh)
{
    const int large = r->reduced_forces || r->n_linear > 0, both = MODAL_HEX8_SAID_PLAIN | MODAL_HEX8_SAID_INCOMPATIBLE;
    mesh->stiffness_rule = MODAL_STIFFNESS_INCOMPATIBLE;
    if (!modal_volume_mesh_is_enhanced(mesh)) { /* no element is better with than without it */
        mesh->stiffness_rule = MODAL_STIFFNESS_PLAIN;
        return;
    }
    if (r->hex8 >= 0) {
        mesh->stiffness_rule = (modal_stiffness_rule)r->hex8;
    } else if (large) {
        mesh->stiffness_rule = MODAL_STIFFNESS_PLAIN;
        tool_note(t, "--hex8 conforming: linear elements are conforming, as large deformations need them; too stiff in bending where they are few");
    } else if (mesh->hex8_said == MODAL_HEX8_SAID_PLAIN) {
        mesh->stiffness_rule = MODAL_STIFFNESS_PLAIN;
        tool_note(t, "--hex8 conforming: the file has C3D8, too stiff in bending where they are few; --hex8 incompatible is as its C3D8I");
    } else if (mesh->hex8_said == both) {
        tool_warn(t, "%s: C3D8 are treated as C3D8I, since both are there", r->input.mesh_path);
    }
    json_object_set_new(t->report, "hex8", json_string(mesh->stiffness_rule == MODAL_STIFFNESS_PLAIN ? "conforming" : "incompatible"));
}

/* What materials say beyond linear elasticity: no modes and no reduced forces have it. */
static modal_status refuse_laws(tool *t, const modalpack_request *r, const modal_volume_mesh *mesh, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_notes all[MODAL_UNSUPPORTED_KINDS] = {0}, *notes = &all[MODAL_UNSUPPORTED_MATERIAL];
    for (int32_t m = 0; m < mesh->n_materials; m++) {
        const modal_material *material = &mesh->materials[m];
        int64_t e = 0;
        while (e < mesh->n_elements && mesh->element_material[e] != m) e++;
        if (e == mesh->n_elements) continue;
        if (material->fibre_stiffness > 0) MODAL_TRY(modal_notes_add(notes, err, "fibres of material \"%.100s\"", material->name));
        if (material->isochoric.n + material->volumetric.n > 0)
            MODAL_TRY(modal_notes_add(notes, err, "Prony terms of material \"%.100s\"", material->name));
        if (r->reduced_forces && material->law > 0 && strcmp(modal_material_law_names[material->law], "stvk") != 0)
            MODAL_TRY(modal_notes_add(notes, err, "law %s of material \"%.100s\", --reduced-forces are of stvk",
                                      modal_material_law_names[material->law], material->name));
    }
    MODAL_TRY(tool_ignore(t, r->input.materials_path, all, r->input.ignored, err));
done:
    modal_notes_free(notes);
    return status;
}

modal_status modalpack_read_solid(tool *t, const modalpack_request *r, modal_shape *shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(tool_solid_read(t, &r->input, &shape->solid, err));
    MODAL_TRY(refuse_laws(t, r, &shape->solid.mesh, err));
    choose_rule(t, r, &shape->solid.mesh);
    warn_of_locking(t, &shape->solid.mesh);
done:
    return status;
}

modal_status modalpack_make_surface(tool *t, const modalpack_request *r, modal_shape *shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_mesh fine = {0};
    double start = tool_seconds();
    MODAL_TRY(modalpack_hint_at_bending(t, r, &shape->solid.mesh, err));
    if (!r->surface_path) {
        MODAL_TRY(modal_shape_surface_boundary_by(r->find_faces, &shape->solid.mesh, shape, err));
    } else {
        modal_embed_summary embedded = {0};
        if (!modal_volume_mesh_is_all(&shape->solid.mesh, MODAL_ELEMENT_TET4)) {
            /* not for the surface: elements of several kinds must fit together */
            int32_t *nodes = NULL;
            status = modal_volume_mesh_boundary_by(r->find_faces, &shape->solid.mesh, &fine, &nodes, err);
            modal_free(&nodes);
            modal_surface_mesh_free(&fine);
            if (status != MODAL_OK) {
                modal_error_context(err, "%s", r->input.mesh_path);
                goto done;
            }
        }
        int64_t n_collapsed;
        MODAL_TRY(modal_surface_read(r->surface_path, &fine, &n_collapsed, err));
        tool_warn_notes(t, r->surface_path, &fine.notes);
        if (n_collapsed > 0)
            tool_warn(t, "%s: triangles with one vertex twice left out, %lld", r->surface_path,
                      (long long)n_collapsed);
        modal_surface_mesh_to_metres(&fine, r->surface_units.unit, r->surface_units.scale);
        warn_of_surface(t, r, &shape->solid.mesh, &fine);
        status = modal_shape_surface_embedded(&shape->solid.mesh, &fine, shape, &embedded, err);
        if (status != MODAL_OK) {
            modal_error_context(err, "%s", r->surface_path);
            goto done;
        }
        tool_note(t, "%lld of %lld surface vertices are outside the solid, the farthest by %.3g m",
                  (long long)embedded.n_outside, (long long)shape->surface.n_vertices,
                  shape->embedding.farthest_outside);
        json_object_set_new(t->report, "vertices_outside", json_integer(embedded.n_outside));
        json_object_set_new(t->report, "farthest_outside_m", json_real(shape->embedding.farthest_outside));
    }
    tool_note(t, "surface of %lld vertices, %lld triangles", (long long)shape->surface.n_vertices,
              (long long)shape->surface.n_triangles);
    tool_stage(t, "surface", tool_seconds() - start, -1);
done:
    modal_surface_mesh_free(&fine);
    return status;
}
