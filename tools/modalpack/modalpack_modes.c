/* SPDX-License-Identifier: Apache-2.0 */
/* modalpack: the modes. */
#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/modes/modes.h"
#include "lib/reduced/left_slow.h"
#include "tools/common/memory.h"
#include "tools/common/mode_table.h"
#include "tools/modalpack/modalpack.h"

/* Of what the machine has, what is taken without being asked: others need some, too. */
static const double share_of_available = 0.95;

modal_status modalpack_take_modes(modal_shape *shape, modal_modes_result *result, modal_mass_rule mass_rule, modal_error *err)
{
    modal_status status =
        modal_alloc(&shape->modes.frequencies, result->n_modes, sizeof(double), "frequencies", err);
    if (status == MODAL_OK && result->sturm.n_below >= 0)
        status = modal_alloc(&shape->modes.sturm_count, 3, sizeof(double), "Sturm count", err);
    if (status != MODAL_OK) return status;
    if (shape->modes.sturm_count) {
        shape->modes.sturm_count[0] = result->sturm.shift;
        shape->modes.sturm_count[1] = (double)result->sturm.n_below;
        shape->modes.sturm_count[2] = (double)result->sturm.n_known;
    }
    for (int32_t i = 0; i < result->n_modes; i++)
        shape->modes.frequencies[i] = sqrt(result->eigenvalues[i]) / (2 * M_PI);
    shape->modes.n_modes = result->n_modes;
    shape->modes.eigenvalues = result->eigenvalues;
    shape->modes.modal_masses = result->modal_masses;
    shape->modes.residuals = result->residuals;
    shape->modes.orthogonality = result->orthogonalities;
    shape->modes.participation = result->participation;
    shape->solid.volume_modes = result->modes;
    shape->modes.n_rigid_modes = result->n_rigid;
    shape->modes.rigid_eigenvalues = result->rigid_eigenvalues;
    shape->modes.shift = result->shift;
    shape->modes.total_mass = result->total_mass;
    shape->modes.mass_rule = mass_rule;
    shape->modes.factor_float32 = result->factor_float32;
    shape->modes.route = result->route;
    shape->modes.n_ranks = result->n_ranks;
    memset(result, 0, sizeof *result);
    return MODAL_OK;
}

static void report_solve(tool *t, const modal_modes_result *result)
{
    tool_stage(t, "assemble", result->seconds_assemble, -1);
    tool_stage(t, "order", result->seconds_order, -1);
    tool_stage(t, "analyse", result->seconds_analyse, -1);
    tool_stage(t, "factor", result->seconds_factor, -1);
    tool_stage(t, "solve", result->seconds_solve, -1);
    tool_stage(t, "refine", result->seconds_refine, -1);
    tool_stage(t, "count", result->seconds_count, -1);
    json_t *solver = json_pack("{s:I, s:b, s:I, s:I, s:i, s:f, s:f, s:f}", "degrees_of_freedom",
                               (json_int_t)result->n_dof, "dense", result->dense, "solves",
                               (json_int_t)result->n_solves, "iterations",
                               (json_int_t)result->n_iterations, "rigid_modes", result->n_rigid,
                               "factor_nonzeros", result->factor_nonzeros, "factor_flops",
                               result->factor_flops, "orthogonality", result->orthogonality);
    json_object_set_new(solver, "memory_estimate_bytes", json_real(result->peak_bytes));
    json_object_set_new(solver, "factor", json_string(result->factor_float32 ? "float32" : "float64"));
    json_object_set_new(solver, "factor_solves",
                        json_integer(result->factor_float32 ? result->n_inner_solves : result->n_solves));
    json_object_set_new(solver, "recovered_modes", json_integer(result->n_recovered));
    if (result->sturm.n_below >= 0) {
        const char *measure = result->factor_float32 ? "defect" : "growth";
        json_object_set_new(solver, "sturm_count",
                            json_pack("{s:f, s:I, s:I, s:f}", "shift", result->sturm.shift, "below",
                                      (json_int_t)result->sturm.n_below, "known", (json_int_t)result->sturm.n_known, measure,
                                      result->factor_float32 ? result->sturm.defect : result->sturm.growth));
    }
    json_object_set_new(t->report, "solver", solver);
    if (result->n_rigid > 0)
        tool_note(t, "rigid modes found and left out: %d", result->n_rigid);
    if (result->sturm.n_below >= 0)
        tool_note(t, "Sturm count: %lld eigenvalues below %.9g (rad/s)^2, all known",
                  (long long)result->sturm.n_below, result->sturm.shift);
    else
        tool_note(t, "no Sturm count (--sturm makes one)");
    if (result->factor_float32)
        tool_note(t, "factor in float32: %lld solves with it", (long long)result->n_inner_solves);
    tool_note(t, "%lld degrees of freedom, %lld solves, orthogonality %.1e",
              (long long)result->n_dof, (long long)result->n_solves, result->orthogonality);
}

modal_status modalpack_find_modes(const modalpack_request *r, modal_shape *shape, int n_threads, tool *t,
                                  const modal_progress *progress, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_modes_result result = {0};
    modal_modes_options wanted = {.n_modes = (int32_t)(r->n_linear > 0 ? r->n_linear : r->n_modes),
                                  .fewer = r->default_modes,
                                  .mass_rule = r->mass_rule,
                                  .fixed_components = shape->solid.fixed_components,
                                  .n_threads = n_threads,
                                  .beside = r->n_linear == 0,
                                  .proof = r->sturm ? MODAL_PROOF_ALWAYS : MODAL_PROOF_AUTO,
                                  .factor = r->factor,
                                  .memory_limit = (double)r->memory_limit};
    wanted.limit_is_available = r->memory_limit == 0;
    if (wanted.limit_is_available) {
        const double available = r->available_memory > 0 ? r->available_memory : tool_available_memory("");
        wanted.memory_limit = share_of_available * available;
    }
    wanted.memory_limit *= (double)n_threads / r->threads;
    MODAL_TRY(modal_modes_solve(&shape->solid.mesh, shape->solid.fixed_nodes, shape->solid.n_fixed_nodes, &wanted,
                                &result, progress, err));
    if (t) report_solve(t, &result);
    if (t && result.n_modes < wanted.n_modes) tool_note(t, "the solid has no more modes than %d", result.n_modes);
    MODAL_TRY(modal_left_slow_take(shape, &result.left, &shape->modes.left_out, err));
    modal_modes_left_free(&result.left);
    MODAL_TRY(modalpack_take_modes(shape, &result, r->mass_rule, err));
done:
    modal_modes_result_free(&result);
    return status;
}

modal_status modalpack_solve_modes(tool *t, const modalpack_request *r, modal_shape *shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_modes_result result = {0};
    if (!r->ranks) return modalpack_find_modes(r, shape, r->threads, t, &t->progress, err);
    MODAL_TRY(modalpack_ranks_solve(t, r, shape, &result, err));
    MODAL_TRY(modalpack_take_modes(shape, &result, r->mass_rule, err));
done:
    modal_modes_result_free(&result);
    return status;
}

void modalpack_print_modes(tool *t, const modal_shape *shape)
{
    json_t *frequencies = json_array();
    for (int32_t i = 0; i < shape->modes.n_modes; i++)
        json_array_append_new(frequencies, json_real(shape->modes.frequencies[i]));
    json_object_set_new(t->report, "frequencies_hz", frequencies);
    json_t *table = tool_mode_table(shape);
    json_object_set_new(table, "total_mass", json_real(shape->modes.total_mass));
    json_object_update_missing(t->report, table);
    FILE *to = tool_text_stream(t);
    if (to) tool_put_mode_table(to, "", table);
    json_decref(table);
}
