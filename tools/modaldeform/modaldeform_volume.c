/* SPDX-License-Identifier: Apache-2.0 */
/* --output-mesh volume: points are the nodes of the solids (lib/deform/solids.h). */
#include <inttypes.h>

#include "tools/modaldeform/modaldeform.h"

modal_status modaldeform_use_volume(const modaldeform_request *r, modaldeform_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_basis *b = &in->basis;
    if (r->stress) MODAL_TRY(modal_stress_frames_keep(&in->stress, b, err));
    status = modal_solids_as_surfaces(b, err);
    if (status == MODAL_OK) status = modal_solid_cells_of_basis(b, &in->cells, err);
    if (status != MODAL_OK) {
        modal_error_context(err, "%s", in->basis_path);
        goto done;
    }
    if (r->stress) MODAL_TRY(modaldeform_begin_stress(r, in, err));
    for (int32_t i = 0; i < b->n_shapes; i++) modal_volume_mesh_free(&b->shapes[i].solid.mesh);
done:
    return status;
}

void modaldeform_tell_stress(tool *t, const modal_stress_frames *stress)
{
    int64_t frame, element;
    int32_t object;
    const int64_t n = stress ? modal_stress_frames_inverted(stress, &frame, &object, &element) : 0;
    if (n > 0)
        tool_warn(t, "stress: element %" PRId64 " of object %d is inside out in frame %" PRId64 ", where Cauchy's stress means nothing; "
                     "objects and frames with such: %" PRId64, element, object, frame, n);
}
