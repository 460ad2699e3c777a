/* SPDX-License-Identifier: Apache-2.0 */
/* modalpack: bases that VegaFEM made. */
#include <string.h>

#include "formats/meshes/surface_read.h"
#include "formats/meshes/vega_matrix.h"
#include "lib/base/memory.h"
#include "lib/reduced/imported.h"
#include "lib/reduced/stvk.h"
#include "lib/shape/shape_surface.h"
#include "tools/modalpack/modalpack.h"

/* Reads the matrix; `points` names what its rows are of. */
static modal_status read_columns(tool *t, const modalpack_request *r, const char *points, int64_t n_points,
                                 modal_vega_matrix *matrix, modal_error *err)
{
    modal_status status = MODAL_OK;
    const double start = tool_seconds();
    MODAL_TRY(modal_vega_matrix_read(r->import_path, matrix, err));
    if (matrix->n_rows != 3 * n_points)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: %lld rows, %s has %lld %s: must be 3 a %s, %lld",
                   r->import_path, (long long)matrix->n_rows, r->input.mesh_path, (long long)n_points, points,
                   strcmp(points, "nodes") == 0 ? "node" : "vertex", (long long)(3 * n_points));
    if (!r->import_all && r->n_modes > matrix->n_columns)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: %lld columns, --modes asks for %lld", r->import_path,
                   (long long)matrix->n_columns, (long long)r->n_modes);
    if (!r->import_all) matrix->n_columns = r->n_modes;
    if (r->reduced_forces && matrix->n_columns > MODAL_STVK_MOST_MODES)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: %lld columns, --reduced-forces is for at most %d",
                   r->import_path, (long long)matrix->n_columns, MODAL_STVK_MOST_MODES);
    tool_stage(t, "read columns", tool_seconds() - start,
               matrix->n_rows * matrix->n_columns * (matrix->single ? 4 : 8));
done:
    return status;
}

static void report_coupling(tool *t, const modal_shape *shape)
{
    json_object_set_new(t->report, "import",
                        json_pack("{s:i, s:f, s:f}", "columns", shape->modes.n_modes, "mass_coupling",
                                  shape->modes.mass_coupling, "stiffness_coupling", shape->modes.stiffness_coupling));
}

/* A column's residual at nodes that its program held is that of the reaction there. */
static void warn_of_held(tool *t, const modal_shape *shape)
{
    int64_t n_still = 0, at = 0;
    for (int64_t node = 0; node < shape->solid.mesh.n_nodes; node++) {
        int still = 1;
        while (at < shape->solid.n_fixed_nodes && shape->solid.fixed_nodes[at] < node) at++;
        if (at < shape->solid.n_fixed_nodes && shape->solid.fixed_nodes[at] == node) continue;
        for (int32_t k = 0; k < shape->modes.n_modes && still; k++) {
            const double *u = shape->solid.volume_modes + 3 * (k * shape->solid.mesh.n_nodes + node);
            still = u[0] == 0 && u[1] == 0 && u[2] == 0;
        }
        n_still += still;
    }
    if (n_still > 0)
        tool_warn(t, "nodes that no column moves and that are not held (is --fixed missing?), %lld",
                  (long long)n_still);
}

modal_status modalpack_import(tool *t, const modalpack_request *r, modal_shape *shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_vega_matrix matrix = {0};
    modal_modes_result result = {0};
    double of_mass = 0, of_stiffness = 0;
    MODAL_TRY(read_columns(t, r, "nodes", shape->solid.mesh.n_nodes, &matrix, err));
    const double start = tool_seconds();
    const modal_imported_options options = {shape->solid.n_fixed_nodes, shape->solid.fixed_nodes, shape->solid.fixed_components,
                                            r->mass_rule, r->threads};
    status = modal_imported_solve(&shape->solid.mesh, &options, (int32_t)matrix.n_columns, matrix.values, &result, &of_mass,
                                  &of_stiffness, err);
    if (status == MODAL_ERROR_INPUT) modal_error_context(err, "%s", r->import_path);
    if (status != MODAL_OK) goto done;
    tool_stage(t, "measure columns", tool_seconds() - start, -1);
    tool_note(t, "%d imported columns, coupled by %.1e in the mass, by %.1e in the stiffness", result.n_modes,
              of_mass, of_stiffness);
    shape->modes.mass_rule = r->mass_rule;
    shape->modes.mass_coupling = of_mass;
    shape->modes.stiffness_coupling = of_stiffness;
    MODAL_TRY(modalpack_replace_modes(shape, &result, MODAL_KIND_IMPORTED, err));
    warn_of_held(t, shape);
    report_coupling(t, shape);
done:
    modal_free(&matrix.values);
    modal_modes_result_free(&result);
    return status;
}

modal_status modalpack_import_surface(tool *t, const modalpack_request *r, modal_shape *shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_vega_matrix matrix = {0};
    modal_surface_mesh surface = {0};
    static const char *const of_solids[] = {"young",   "fixed", "material",      "materials",
                                             "free",    "surface", "mass",  "hex8", "reduced-forces"};
    for (size_t i = 0; i < sizeof of_solids / sizeof *of_solids; i++)
        if (tool_count(&t->arguments, of_solids[i]) > 0)
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--%s: needs a solid, %s is a surface", of_solids[i],
                       r->input.mesh_path);
    const double start = tool_seconds();
    MODAL_TRY(modal_surface_read(r->input.mesh_path, &surface, NULL, err));
    tool_warn_notes(t, r->input.mesh_path, &surface.notes);
    tool_stage(t, "read mesh", tool_seconds() - start, -1);
    double low[3], high[3];
    modal_surface_mesh_to_metres(&surface, r->input.units.unit, r->input.units.scale);
    modal_find_box(surface.positions, surface.n_vertices, low, high);
    tool_say_box(t, r->input.mesh_path, &r->input.units, 0, low, high);
    MODAL_TRY(read_columns(t, r, "vertices", surface.n_vertices, &matrix, err));
    const int32_t n = (int32_t)matrix.n_columns;
    status = modal_shape_surface_alone(&surface, n, matrix.values, shape, err);
    if (status == MODAL_ERROR_INPUT) modal_error_context(err, "%s", r->input.mesh_path);
    if (status != MODAL_OK) goto done;
    /* without a solid nothing is known of them: formats/basis.md says what stands for that */
    MODAL_TRY(modal_alloc_zero(&shape->modes.eigenvalues, n, sizeof(double), "eigenvalues", err));
    MODAL_TRY(modal_alloc_zero(&shape->modes.frequencies, n, sizeof(double), "frequencies", err));
    MODAL_TRY(modal_alloc_zero(&shape->modes.residuals, n, sizeof(double), "residuals", err));
    MODAL_TRY(modal_alloc(&shape->modes.modal_masses, n, sizeof(double), "modal masses", err));
    MODAL_TRY(modal_alloc_zero(&shape->modes.participation, 3 * (int64_t)n, sizeof(double), "participation", err));
    MODAL_TRY(modal_alloc(&shape->modes.rigid_eigenvalues, 0, sizeof(double), "rigid eigenvalues", err));
    for (int32_t i = 0; i < n; i++) shape->modes.modal_masses[i] = 1;
    shape->modes.kind = MODAL_KIND_IMPORTED;
    shape->modes.mass_coupling = shape->modes.stiffness_coupling = 1;
    tool_note(t, "surface of %lld vertices, %lld triangles, %d imported columns; no solid, so no frequencies",
              (long long)shape->surface.n_vertices, (long long)shape->surface.n_triangles, n);
    report_coupling(t, shape);
done:
    modal_free(&matrix.values);
    modal_surface_mesh_free(&surface);
    return status;
}
