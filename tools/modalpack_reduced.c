/* SPDX-License-Identifier: Apache-2.0 */
/* modalpack: what large deformations need. */
#include "lib/reduced/stvk.h"
#include "tools/modalpack.h"

modal_status modalpack_reduced_forces(tool *t, const request *r, modal_shape *shape, modal_error *err)
{
    if (!r->reduced_forces) return MODAL_OK;
    const double start = tool_seconds();
    const modal_status status =
        modal_stvk_reduced_forces(&shape->volume, shape->n_modes, shape->volume_modes, r->threads,
                                  &shape->reduced_forces, &t->progress, err);
    if (status != MODAL_OK) return status;
    tool_stage(t, "reduced forces", tool_seconds() - start, -1);
    const int64_t n = shape->n_modes;
    json_object_set_new(t->report, "reduced_force_terms",
                        json_pack("{s:I, s:I, s:I}", "linear", (json_int_t)(n * n), "quadratic",
                                  (json_int_t)(n * modal_quadratic_count(n)), "cubic",
                                  (json_int_t)(n * modal_cubic_count(n))));
    return MODAL_OK;
}
