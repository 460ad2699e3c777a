/* SPDX-License-Identifier: Apache-2.0 */
/* A basis instead of a trajectory: its modes swing, one after the other. What swings is a trajectory made here, so every
 * format and both meshes follow. */
#include <inttypes.h>
#include <string.h>

#include "formats/basis/basis_h5.h"
#include "formats/h5/h5_util.h"
#include "lib/base/finite.h"
#include "lib/base/memory.h"
#include "lib/deform/reach.h"
#include "tools/common/mode_swing.h"
#include "tools/modaldeform/modaldeform.h"

enum { CYCLE = TOOL_SWING_FRAMES };

static void tell(tool *t, const modaldeform_request *r, const modaldeform_input *in, const int32_t *list, int32_t n)
{
    const modal_shape *s = &in->basis.shapes[in->basis.objects[0].shape];
    json_t *shown = json_array();
    for (int32_t i = 0; i < n; i++) json_array_append_new(shown, json_integer(list[i]));
    json_object_set_new(t->report, "modes", shown);
    if (r->show_arrays) {
        tool_note(t, "%d modes, arrays with a largest displacement of %.4g %% of the box: %.4g m", n, 100 * r->amplitude,
                  r->amplitude * modal_reach_diagonal(&s->surface));
        return;
    }
    tool_note(t, "%d modes, a swing of %d frames and one second each, largest displacement %.4g %% of the box: %.4g m", n,
              CYCLE, 100 * r->amplitude, r->amplitude * modal_reach_diagonal(&s->surface));
    for (int32_t i = 0; i < n; i++)
        if (list[i] < s->modes.n_modes)
            tool_detail(t, "frames %d .. %d: mode %d, %.8g Hz", i * CYCLE, (i + 1) * CYCLE - 1, list[i],
                        s->modes.frequencies[list[i]]);
}

modal_status modaldeform_swing_modes(tool *t, const modaldeform_request *r, modaldeform_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_basis *b = &in->basis;
    modal_trajectory *q = &in->trajectory;
    MODAL_TRY(tool_swing_list(r->modes_text, b, &in->modes.list, &in->modes.n, err));
    const tool_swing swing = {.path = in->basis_path, .source = {r->volume ? NULL : modal_basis_tiles_read, in->tiles}, .amplitude = r->amplitude,
                              .list = in->modes.list, .n = in->modes.n, .n_frames = r->show_arrays ? 1 : (int64_t)in->modes.n * CYCLE};
    MODAL_TRY(tool_swing_make(&swing, b, q, err));
    MODAL_TRY(modal_copy_text(&q->basis_path, in->basis_path, SIZE_MAX, err));
    MODAL_TRY(modal_provenance_append_copies(&q->provenance, &q->n_provenance, b->provenance, b->n_provenance, err));
    MODAL_TRY(modal_hash_file(in->basis_path, in->trajectory_hash, err));
    tell(t, r, in, in->modes.list, in->modes.n);
done:
    return status;
}

/* R U_k times its amplitude, of the points of an object from `first` on. */
static modal_status put_object(const modaldeform_request *r, const modaldeform_input *in, int32_t object, int64_t first,
                               float *const *displacements, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int32_t shape = in->basis.objects[object].shape;
    const modal_shape *s = &in->basis.shapes[shape];
    const double *pose = in->basis.objects[object].rest_pose;
    const int64_t tile_floats = (int64_t)s->modes.n_modes * 3 * MODAL_TILE;
    float *tile = NULL;
    double *largest = NULL;
    const modal_matrix_source tiles = {r->volume ? NULL : modal_basis_tiles_read, in->tiles};
    MODAL_TRY(modal_alloc(&largest, s->modes.n_modes, sizeof *largest, "amplitudes", err));
    MODAL_TRY(modal_alloc(&tile, tile_floats, sizeof *tile, "modal matrix", err));
    MODAL_TRY(modal_reach_modes(s, shape, &tiles, largest, err));
    const double wanted = r->amplitude * modal_reach_diagonal(&s->surface);
    for (int64_t at = 0; at < modal_tile_count(s->surface.n_vertices); at++) {
        if (r->volume) memcpy(tile, s->modes.modal_matrix + at * tile_floats, (size_t)tile_floats * sizeof *tile);
        else MODAL_TRY(modal_basis_tiles_read(in->tiles, shape, at, at + 1, tile, err));
        for (int32_t i = 0; i < in->modes.n; i++) {
            const int32_t k = in->modes.list[i];
            if (k >= s->modes.n_modes) continue;
            for (int64_t v = at * MODAL_TILE; v < (at + 1) * MODAL_TILE && v < s->surface.n_vertices; v++) {
                const float *u = tile + (int64_t)k * 3 * MODAL_TILE + v % MODAL_TILE;
                const int64_t point = first + (r->deform.stored_order ? v : s->surface.user_vertex[v]);
                for (int c = 0; c < 3; c++)
                    displacements[i][3 * point + c] = (float)((pose[4 * c] * u[0] + pose[4 * c + 1] * u[MODAL_TILE] +
                                                               pose[4 * c + 2] * u[2 * MODAL_TILE]) * wanted / largest[k]);
            }
        }
    }
done:
    modal_free(&tile);
    modal_free(&largest);
    return status;
}

modal_status modaldeform_make_modes(const modaldeform_request *r, modaldeform_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t first = 0;
    MODAL_TRY(modal_alloc_zero(&in->modes.displacements, in->modes.n, sizeof *in->modes.displacements, "modes", err));
    for (int32_t i = 0; i < in->modes.n; i++)
        MODAL_TRY(modal_alloc_zero(&in->modes.displacements[i], 3 * in->n_points, sizeof(float), "modes", err));
    for (int32_t i = 0; i < in->basis.n_objects; i++) {
        MODAL_TRY(put_object(r, in, i, first, in->modes.displacements, err));
        first += in->basis.shapes[in->basis.objects[i].shape].surface.n_vertices;
    }
    for (int32_t i = 0; i < in->modes.n; i++) {
        const int64_t place = modal_first_nonfinite(in->modes.displacements[i], 3 * in->n_points);
        if (place < 3 * in->n_points)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: mode %d does not fit float32 at point %" PRId64, in->basis_path,
                       in->modes.list[i], place / 3);
    }
done:
    return status;
}

void modaldeform_free_modes(modaldeform_modes *modes)
{
    for (int32_t i = 0; modes->displacements && i < modes->n; i++) modal_free(&modes->displacements[i]);
    modal_free(&modes->displacements);
    modal_free(&modes->list);
}

modal_status modaldeform_find_kind(const tool *t, modaldeform_request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *kind = NULL;
    const tool_arguments *a = &t->arguments;
    static const char *const own[] = {"modes", "amplitude", "show"};
    if (!r->from_stdin) MODAL_TRY(modal_h5_file_kind(r->trajectory_path, &kind, err));
    r->swings = kind && strcmp(kind, "basis") == 0;
    for (int i = 0; i < 3 && !r->swings; i++)
        if (tool_count(a, own[i]))
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--%s: is for a basis, this is a trajectory, %s", own[i], r->trajectory_path);
    if (r->swings && r->basis_path)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--basis: goes with a trajectory, but this is a basis, %s", r->trajectory_path);
    if (r->swings && r->sound)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--format: wav needs a trajectory, this is a basis, %s", r->trajectory_path);
    if (r->swings && r->speed)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--fields: a mode that is shown has no speed of its own, %s", r->trajectory_path);
    if (r->swings && r->show_arrays && r->stress)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--show: arrays are at rest, where strain and stress are 0, %s", r->fields_text + 1);
    if (r->swings && r->show_arrays && r->curved)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--show: arrays go without curvature, of which --show swing has that of every frame, %s",
                   r->fields_text + 1);
done:
    modal_free(&kind);
    return status;
}
