/* SPDX-License-Identifier: Apache-2.0 */
/* modaldeform --crease: edges that are sharper than so many degrees at rest, or hard in the user's .obj, give their corners normals of their own,
 * in glb and obj. */
#include "formats/sequences/sequence_glb.h"
#include "formats/sequences/sequence_obj.h"
#include "lib/base/memory.h"
#include "tools/modaldeform/modaldeform.h"

modal_status modaldeform_check_creases(const tool_arguments *a, modaldeform_request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    int obj = 0, glb = 0;
    r->creases = (modal_crease_rule){.degrees = -1};
    if (tool_count(a, "crease") == 0) return MODAL_OK;
    for (int i = 0; i < r->n_formats; i++) obj |= r->formats[i] == &modal_sequence_obj, glb |= r->formats[i] == &modal_sequence_glb;
    MODAL_TRY(tool_creases_read(a, &r->creases, err));
    if (!obj && !glb) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--crease: only glb and obj split vertices, --format %s", tool_value(a, "format"));
    if (r->deform.normals == MODAL_NORMALS_NONE) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--crease: there are no normals, --normals none");
    if (obj && r->deform.normals != MODAL_NORMALS_DYNAMIC)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--crease: obj has normals of the deformed surface, --normals %s", r->normals_name);
done:
    return status;
}

/* Of all objects, one after the other, at rest: the tables of their shapes are not put together, since frames have another order. */
static modal_status make_frame(const modaldeform_request *r, const modaldeform_input *in, modal_creases *creases, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *triangles = NULL;
    MODAL_TRY(modal_alloc(&triangles, 3 * in->n_triangles, sizeof *triangles, "triangles", err));
    for (int64_t i = 0; i < 3 * in->n_triangles; i++) triangles[i] = (int32_t)in->triangles[i];
    MODAL_TRY(modal_creases_of_objects(creases, &in->basis, r->creases, r->deform.stored_order, triangles, err));
done:
    modal_free(&triangles);
    return status;
}

modal_status modaldeform_make_creases(tool *t, const modaldeform_request *r, modaldeform_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    const double start = tool_seconds();
    int64_t n_wedges = 0;
    if (r->creases.degrees < 0) return MODAL_OK;
    for (int i = 0; i < r->n_formats; i++) {
        if (r->formats[i] == &modal_sequence_obj) {
            if (in->n_points > INT32_MAX || in->n_triangles > INT32_MAX / 3)
                MODAL_FAIL(err, MODAL_ERROR_INPUT, "--crease: too many points or triangles for obj, %lld", (long long)in->n_points);
            MODAL_TRY(make_frame(r, in, &in->frame_creases, err));
            n_wedges = in->frame_creases.n_wedges - in->n_points;
        }
        if (r->formats[i] != &modal_sequence_glb) continue;
        MODAL_TRY(modal_alloc_zero(&in->creases, in->basis.n_shapes, sizeof *in->creases, "creases", err));
        in->n_creases = in->basis.n_shapes;
        n_wedges = 0;
        for (int32_t k = 0; k < in->basis.n_shapes; k++) {
            MODAL_TRY(modal_creases_of_shape(&in->creases[k], &in->basis.shapes[k], r->creases, err));
            n_wedges += in->creases[k].n_wedges - in->creases[k].n_vertices;
        }
    }
    json_object_set_new(t->report, "crease_normals", json_integer(n_wedges));
    tool_stage(t, "creases", tool_seconds() - start, -1);
done:
    return status;
}

void modaldeform_free_creases(modaldeform_input *in)
{
    for (int32_t k = 0; k < in->n_creases; k++) modal_creases_free(&in->creases[k]);
    modal_free(&in->creases);
    modal_creases_free(&in->frame_creases);
}
