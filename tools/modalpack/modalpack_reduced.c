/* SPDX-License-Identifier: Apache-2.0 */
/* modalpack: what large deformations need. */
#include <math.h>
#include <string.h>

#include "formats/snapshots/snapshots_h5.h"
#include "kernels/registry.h"
#include "lib/base/memory.h"
#include "lib/reduced/derivatives.h"
#include "lib/reduced/left_out.h"
#include "lib/reduced/snapshots.h"
#include "lib/reduced/stvk.h"
#include "tools/common/memory.h"
#include "tools/modalpack/modalpack.h"

/* Of --memory-limit, or of what the machine has left, n_threads of r->threads have their share. */
static modal_status check_bytes(const char *what, double bytes, const modalpack_request *r, int n_threads, modal_error *err)
{
    enum { WORTH_ASKING = 1 << 28 };
    const double all = r->memory_limit > 0 ? (double)r->memory_limit : bytes > WORTH_ASKING ? tool_available_memory("") : 0;
    const double most = all * n_threads / r->threads;
    if (all > 0 && bytes > most)
        return modal_error_set(err, MODAL_ERROR_MEMORY, "%s: %.0f MiB needed, %s %.0f MiB", what, ceil(bytes / 1048576),
                               r->memory_limit > 0 ? "the limit is" : "the machine has left", most / 1048576);
    return MODAL_OK;
}

/* The largest arrays of what comes after the modes, as far as the options tell: those of snapshots and
 * imported columns are known when their files are open. */
modal_status modalpack_check_large(const modalpack_request *r, const modal_shape *shape, int n_threads, modal_error *err)
{
    modal_status status = MODAL_OK;
    const double unknowns = 3.0 * (double)shape->solid.mesh.n_nodes, k = (double)r->n_linear,
                 n = (double)r->n_modes;
    if (r->n_linear > 0)
        MODAL_TRY(check_bytes("--derivatives", 8 * unknowns * (k + k * (k + 1) / 2 + 2 * n + 48), r, n_threads, err));
    if (r->reduced_forces && !r->import_path && !r->snapshots_path)
        MODAL_TRY(check_bytes("--reduced-forces", modal_stvk_bytes(r->n_modes), r, n_threads, err));
done:
    return status;
}

void modalpack_tell_forces(tool *t, const modalpack_request *r, int64_t n)
{
    tool_detail(t, "reduced forces on %s, %s", r->device->name, r->device->hardware);
    json_object_set_new(t->report, "backend", json_string(r->device->name));
    json_object_set_new(t->report, "reduced_force_terms",
                        json_pack("{s:I, s:I, s:I}", "linear", (json_int_t)(n * n), "quadratic",
                                  (json_int_t)(n * modal_quadratic_count(n)), n > MODAL_CUBIC_MOST_MODES ? "quartic" : "cubic",
                                  (json_int_t)(n > MODAL_CUBIC_MOST_MODES ? modal_quartic_count(n) : n * modal_cubic_count(n))));
}

void modalpack_tell_estimate(tool *t, const modalpack_request *r, int64_t n_shapes, const modal_shape *shapes)
{
    const double worth_telling = 3; /* s */
    double seconds = 0;
    if (r->device->kernels->gram) return;
    const int64_t n = shapes->modes.n_modes;
    for (int64_t i = 0; i < n_shapes && n > MODAL_CUBIC_MOST_MODES; i++)
        seconds += modal_stvk_seconds(&shapes[i].solid.mesh, shapes[i].modes.n_modes, r->threads);
    if (seconds < worth_telling) return;
    tool_note(t, "reduced forces of %lld columns: about %.2g %s by %d thread%s, %.2g GB a solid", (long long)n,
              seconds < 100 ? seconds : seconds / 60, seconds < 100 ? "s" : "min", r->threads, r->threads == 1 ? "" : "s",
              1e-9 * modal_stvk_bytes(n));
    json_object_set_new(t->report, "reduced_forces_estimate_s", json_real(seconds));
}

modal_status modalpack_reduced_forces(tool *t, const modalpack_request *r, modal_shape *shape, modal_error *err)
{
    if (!r->reduced_forces) return MODAL_OK;
    const double start = tool_seconds();
    modal_status status = check_bytes("--reduced-forces", modal_stvk_bytes(shape->modes.n_modes), r, r->threads, err);
    if (status != MODAL_OK) return status;
    modalpack_tell_estimate(t, r, 1, shape);
    status = modal_stvk_reduced_forces(&shape->solid.mesh, shape->modes.n_modes, shape->solid.volume_modes, r->threads, r->device,
                                       &shape->modes.reduced_forces, &t->progress, err);
    if (status != MODAL_OK) return status;
    tool_stage(t, "reduced forces", tool_seconds() - start, -1);
    modalpack_tell_forces(t, r, shape->modes.n_modes);
    const double before = tool_seconds();
    int passed = 0;
    status = modalpack_find_left_out(r, shape, r->threads, &passed, &t->progress, err);
    if (status != MODAL_OK) return status;
    if (shape->modes.left_out.n > 0) tool_stage(t, "left out", tool_seconds() - before, -1);
    modalpack_tell_left_out(t, 1, &passed);
    return MODAL_OK;
}

modal_status modalpack_find_left_out(const modalpack_request *r, modal_shape *shape, int n_threads, int *passed,
                                     const modal_progress *progress, modal_error *err)
{
    enum { LARGE_NODES = 200000 };
    const int asked = r->n_left_out >= 0;
    const int64_t n = asked ? r->n_left_out : MODAL_LEFT_OUT_DIRECTIONS;
    *passed = 0;
    if (!r->reduced_forces || n == 0 || shape->modes.n_modes == 0 || shape->modes.kind == MODAL_KIND_IMPORTED) return MODAL_OK;
    if (shape->modes.n_modes + n > MODAL_STVK_MOST_MODES) {
        if (asked)
            return modal_error_set(err, MODAL_ERROR_USAGE, "--left-out: with the columns at most %d, %lld and %d",
                                   MODAL_STVK_MOST_MODES, (long long)n, shape->modes.n_modes);
        *passed = MODALPACK_PASSED_COLUMNS;
        return MODAL_OK;
    }
    const double bytes = modal_left_out_bytes(shape->solid.mesh.n_nodes, shape->modes.n_modes, n) + modal_stvk_bytes(shape->modes.n_modes + n);
    if (asked) {
        const modal_status status = check_bytes("--left-out", bytes, r, n_threads, err);
        if (status != MODAL_OK) return status;
    } else if (shape->solid.mesh.n_nodes > LARGE_NODES || check_bytes("", bytes, r, n_threads, NULL) != MODAL_OK) {
        *passed = MODALPACK_PASSED_LARGE;
        return MODAL_OK;
    }
    return modal_left_out_compute(shape, (int32_t)n, n_threads, r->device, &shape->modes.left_out, progress, err);
}

void modalpack_tell_left_out(tool *t, int64_t n, const int *passed)
{
    int64_t n_large = 0, n_columns = 0;
    for (int64_t i = 0; i < n; i++) {
        n_large += passed[i] == MODALPACK_PASSED_LARGE;
        n_columns += passed[i] == MODALPACK_PASSED_COLUMNS;
    }
    if (n_large > 0)
        tool_note(t, "solids of %lld shapes are large: what their columns leave out is not prepared (--left-out does)",
                  (long long)n_large);
    if (n_columns > 0)
        tool_note(t, "what the columns of %lld shapes leave out is not prepared: with %d directions they are more than %d",
                  (long long)n_columns, MODAL_LEFT_OUT_DIRECTIONS, MODAL_STVK_MOST_MODES);
}

modal_status modalpack_replace_modes(modal_shape *shape, modal_modes_result *result, modal_basis_kind kind,
                                  modal_error *err)
{
    double *frequencies = NULL;
    modal_status status = modal_alloc(&frequencies, result->n_modes, sizeof(double), "frequencies", err);
    if (status != MODAL_OK) return status;
    for (int32_t i = 0; i < result->n_modes; i++)
        frequencies[i] = sqrt(result->eigenvalues[i]) / (2 * M_PI);
    modal_free(&shape->modes.frequencies);
    modal_free(&shape->modes.eigenvalues);
    modal_free(&shape->modes.modal_masses);
    modal_free(&shape->modes.residuals);
    modal_free(&shape->modes.orthogonality);
    modal_free(&shape->modes.sturm_count);
    modal_free(&shape->modes.participation);
    modal_free(&shape->solid.volume_modes);
    shape->modes.n_modes = result->n_modes;
    shape->modes.frequencies = frequencies;
    shape->modes.eigenvalues = result->eigenvalues;
    shape->modes.modal_masses = result->modal_masses;
    shape->modes.residuals = result->residuals;
    shape->modes.participation = result->participation;
    shape->solid.volume_modes = result->modes;
    shape->modes.total_mass = result->total_mass;
    shape->modes.kind = kind;
    if (!shape->modes.rigid_eigenvalues) {
        shape->modes.rigid_eigenvalues = result->rigid_eigenvalues;
        result->rigid_eigenvalues = NULL;
    }
    modal_free(&result->rigid_eigenvalues);
    memset(result, 0, sizeof *result);
    return MODAL_OK;
}

modal_status modalpack_find_derivatives(const modalpack_request *r, modal_shape *shape, int n_threads,
                                        const modal_progress *progress, modal_derivatives_report *report,
                                        double *orthogonality, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_modes_result result = {0};
    const modal_derivatives_options options = {.n_linear = (int32_t)r->n_linear,
                                               .n_modes = (int32_t)r->n_modes,
                                               .mass_rule = r->mass_rule,
                                               .fixed_components = shape->solid.fixed_components,
                                               .n_threads = n_threads,
                                               .factor_float32 = shape->modes.factor_float32};
    const reduced_solid solid = {&shape->solid.mesh, shape->solid.fixed_nodes, shape->solid.n_fixed_nodes, &options,
                                 shape->modes.eigenvalues, shape->solid.volume_modes};
    MODAL_TRY(modal_derivatives_solve(&solid, &result, report, progress, err));
    *orthogonality = result.orthogonality;
    MODAL_TRY(modalpack_replace_modes(shape, &result, MODAL_KIND_DERIVATIVES, err));
done:
    modal_modes_result_free(&result);
    return status;
}

modal_status modalpack_add_derivatives(tool *t, const modalpack_request *r, modal_shape *shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_derivatives_report report = {0};
    double orthogonality = 0;
    MODAL_TRY(modalpack_find_derivatives(r, shape, r->threads, &t->progress, &report, &orthogonality, err));
    tool_stage(t, "derivative loads", report.seconds_loads, -1);
    tool_stage(t, "derivative factor", report.seconds_factor, -1);
    tool_stage(t, "derivatives", report.seconds_solve, -1);
    tool_stage(t, "principal components", report.seconds_basis, -1);
    json_t *values = json_array();
    for (int64_t i = 0; i < r->n_linear + report.n_derivatives; i++)
        json_array_append_new(values, json_real(report.singular_values[i]));
    json_object_set_new(t->report, "derivatives",
                        json_pack("{s:I, s:I, s:i, s:f, s:f, s:f, s:o}", "modes", (json_int_t)r->n_linear,
                                  "derivatives", (json_int_t)report.n_derivatives, "rank", report.rank,
                                  "load_residual", report.load_residual, "energy", report.energy,
                                  "orthogonality", orthogonality, "singular_values", values));
    tool_note(t, "%lld derivatives of %lld modes, static residual %.1e; %lld columns hold all but %.1e of "
              "the weighted energy",
              (long long)report.n_derivatives, (long long)r->n_linear, report.load_residual,
              (long long)r->n_modes, 1 - report.energy);
done:
    modal_derivatives_report_free(&report);
    return status;
}

static modal_status read_snapshots(void *context, int64_t first, int64_t count, double *u,
                                   modal_error *err)
{
    return modal_snapshots_read(context, first, count, u, err);
}

modal_status modalpack_decompose(tool *t, const modalpack_request *r, modal_shape *shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_modes_result result = {0};
    modal_snapshots_report report = {0};
    modal_snapshots *snapshots = NULL;
    modal_snapshot_source source = {.read = read_snapshots};
    const modal_snapshots_options options = {.n_modes = (int32_t)r->n_modes,
                                             .energy = r->energy,
                                             .mass_rule = r->mass_rule,
                                             .n_fixed = shape->solid.n_fixed_nodes,
                                             .fixed_nodes = shape->solid.fixed_nodes,
                                             .fixed_components = shape->solid.fixed_components,
                                             .n_threads = r->threads};
    MODAL_TRY(modal_snapshots_open(&snapshots, r->snapshots_path, shape->solid.mesh.n_nodes,
                                   shape->solid.mesh.nodes, &source.n_snapshots, &source.single, err));
    source.context = snapshots;
    /* what is kept and its double, two blocks, the basis and the result */
    const double most = fmin((double)options.n_modes + 64, (double)source.n_snapshots),
                 columns = 2 * most + 64 + 2 * fmin((double)options.n_modes, most);
    MODAL_TRY(check_bytes("--snapshots", 8 * 3 * (double)shape->solid.mesh.n_nodes * columns, r, r->threads, err));
    status = modal_snapshots_solve(&shape->solid.mesh, &source, &options, &result, &report, &t->progress, err);
    if (status == MODAL_ERROR_INPUT && strncmp(err->message, r->snapshots_path, strlen(r->snapshots_path)) != 0)
        modal_error_context(err, "%s", r->snapshots_path);
    if (status != MODAL_OK) goto done;
    tool_stage(t, "decompose snapshots", report.seconds_decompose, -1);
    tool_stage(t, "measure snapshots", report.seconds_measure, -1);
    json_t *values = json_array();
    for (int32_t i = 0; i < report.n_values; i++)
        json_array_append_new(values, json_real(report.singular_values[i]));
    json_object_set_new(t->report, "snapshots",
                        json_pack("{s:I, s:i, s:f, s:f, s:f, s:I, s:f, s:o}", "snapshots",
                                  (json_int_t)report.n_snapshots, "rank", report.rank, "energy",
                                  report.energy, "truncated", report.truncated, "worst_error",
                                  report.worst, "worst_snapshot", (json_int_t)report.worst_snapshot,
                                  "orthogonality", result.orthogonality, "singular_values", values));
    tool_note(t, "%lld snapshots of rank %d; %d columns keep all but %.1e of the energy, all but %.1e of "
              "snapshot %lld, the worst",
              (long long)report.n_snapshots, report.rank, result.n_modes, fmax(0, 1 - report.energy),
              report.worst, (long long)report.worst_snapshot);
    if (r->energy < 1 && report.energy < r->energy)
        tool_warn(t, "--energy: %d columns keep a share of %.9g only, %.9g asked for", result.n_modes,
                  report.energy, r->energy);
    if (r->energy >= 1 && result.n_modes < r->n_modes)
        tool_note(t, "fewer columns than --modes: the snapshots have no more, %d", result.n_modes);
    shape->modes.mass_rule = r->mass_rule;
    MODAL_TRY(modalpack_replace_modes(shape, &result, MODAL_KIND_SNAPSHOTS, err));
done:
    modal_snapshots_close(snapshots);
    modal_modes_result_free(&result);
    modal_snapshots_report_free(&report);
    return status;
}
