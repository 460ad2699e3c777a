/* SPDX-License-Identifier: Apache-2.0 */
/* modalpack --rigid: shapes that do not deform, of surfaces. */
#include <math.h>
#include <string.h>

#include "formats/meshes/surface_read.h"
#include "lib/base/memory.h"
#include "lib/mesh/shells.h"
#include "lib/mesh/surface_check.h"
#include "lib/model/rigid_mass.h"
#include "lib/shape/shape_surface.h"
#include "tools/modalpack/modalpack.h"

modal_status modalpack_check_rigid(const tool_arguments *a, const modalpack_request *r, modal_error *err)
{
    static const char *const of_solids[] = {"modes", "derivatives", "young", "poisson", "material", "materials", "fixed", "free", "ignore",
                                            "surface", "mass", "snapshots", "energy", "import", "reduced-forces", "left-out", "shapes", "sturm",
                                            "factor", "volume-modes"};
    modal_status status = MODAL_OK;
    for (size_t i = 0; i < sizeof of_solids / sizeof *of_solids; i++)
        if (tool_count(a, of_solids[i]) > 0) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--rigid: not with --%s", of_solids[i]);
    for (int i = 0; i < r->n_meshes; i++)
        if (!modal_surface_is_named(r->mesh_paths[i]))
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--rigid: takes a surface (.obj, .stl, .ply, .off), %s", r->mesh_paths[i]);
done:
    return status;
}

/* Its mass is that of what it encloses: the surface must bound solids, and each closed part face as its place in the others says. Triangles
 * without area, and parts that only touch, enclose neither more nor less. */
static modal_status check_bounds(const modal_surface_mesh *surface, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_summary s;
    modal_shells shells = {0};
    MODAL_TRY(modal_surface_check(surface, &s, err));
    s.n_flat = s.n_duplicate_vertices = s.n_pinched_vertices = 0;
    MODAL_TRY(modal_surface_explain(surface, &s, err));
    MODAL_TRY(modal_shells_find(surface, &shells, err));
    if (!(fabs(s.volume - shells.volume) <= 1e-9 * shells.volume))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "triangles face inwards, or those of a cavity outwards: they count %.6g m^3 of %.6g m^3 enclosed",
                   s.volume, shells.volume);
done:
    modal_shells_free(&shells);
    if (status == MODAL_ERROR_INPUT) modal_error_context(err, "--density: no mass");
    return status;
}

modal_status modalpack_make_rigid(tool *t, const modalpack_request *r, modal_shape *shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_mesh surface = {0};
    const double start = tool_seconds();
    modal_rigid_mass mass = {0};
    double low[3], high[3];
    MODAL_TRY(modal_surface_read(r->input.mesh_path, &surface, NULL, err));
    tool_warn_notes(t, r->input.mesh_path, &surface.notes);
    tool_stage(t, "read mesh", tool_seconds() - start, -1);
    modal_surface_mesh_to_metres(&surface, r->input.units.unit, r->input.units.scale);
    modal_find_box(surface.positions, surface.n_vertices, low, high);
    tool_say_box(t, r->input.mesh_path, &r->input.units, 0, low, high);
    if (r->rigid_density > 0) tool_doubt_density(t, r->input.mesh_path, "", r->rigid_density, NULL);
    status = r->rigid_density > 0 ? check_bounds(&surface, err) : MODAL_OK;
    if (status == MODAL_OK) status = modal_shape_surface_alone(&surface, 0, NULL, shape, err);
    if (status == MODAL_OK && r->rigid_density > 0) status = modal_rigid_mass_of(&shape->surface, r->rigid_density, &mass, err);
    if (status == MODAL_ERROR_INPUT) modal_error_context(err, "%s", r->input.mesh_path);
    if (status != MODAL_OK) goto done;
    MODAL_TRY(modal_alloc(&shape->modes.eigenvalues, 0, sizeof(double), "eigenvalues", err));
    MODAL_TRY(modal_alloc(&shape->modes.frequencies, 0, sizeof(double), "frequencies", err));
    MODAL_TRY(modal_alloc(&shape->modes.residuals, 0, sizeof(double), "residuals", err));
    MODAL_TRY(modal_alloc(&shape->modes.modal_masses, 0, sizeof(double), "modal masses", err));
    MODAL_TRY(modal_alloc(&shape->modes.participation, 0, sizeof(double), "participation", err));
    MODAL_TRY(modal_alloc(&shape->modes.rigid_eigenvalues, 0, sizeof(double), "rigid eigenvalues", err));
    shape->modes.total_mass = mass.mass;
    tool_note(t, "rigid surface of %lld vertices, %lld triangles, %.6g kg", (long long)shape->surface.n_vertices,
              (long long)shape->surface.n_triangles, mass.mass);
done:
    modal_surface_mesh_free(&surface);
    return status;
}
