/* SPDX-License-Identifier: Apache-2.0 */
/* A basis instead of a trajectory: its modes swing, one after the other. What swings is a trajectory made here, so every
 * format and both meshes follow. */
#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/basis/basis_h5.h"
#include "formats/h5/h5_util.h"
#include "lib/base/finite.h"
#include "lib/base/memory.h"
#include "lib/deform/reach.h"
#include "tools/modaldeform/modaldeform.h"

enum { CYCLE = 32 }; /* frames of one swing, which takes a second */

/* The first and last mode of a part of the list, "4" or "4-7"; *text moves past it and its comma. */
static modal_status read_part(const char **text, int32_t n_modes, int64_t part[2], modal_error *err)
{
    const char *start = *text, *c = start;
    for (int i = 0; i < 2; i++) {
        char *end = NULL;
        if (i == 1 && *c != '-') {
            part[1] = part[0];
            break;
        }
        c += i;
        if (!isdigit((unsigned char)*c)) return modal_error_set(err, MODAL_ERROR_USAGE, "--modes: not a list such as 0,2,5-8, %s", start);
        part[i] = strtoll(c, &end, 10); /* of too many digits the largest number */
        c = end;
    }
    if (*c && *c != ',') return modal_error_set(err, MODAL_ERROR_USAGE, "--modes: not a list such as 0,2,5-8, %s", start);
    if (part[1] < part[0]) return modal_error_set(err, MODAL_ERROR_USAGE, "--modes: descends, %s", start);
    if (part[1] >= n_modes)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--modes: the basis has modes 0 .. %d, %s", n_modes - 1, start);
    *text = c + (*c == ',');
    if (*c == ',' && !c[1]) return modal_error_set(err, MODAL_ERROR_USAGE, "--modes: not a list such as 0,2,5-8, %s", start);
    return MODAL_OK;
}

/* The modes that are asked for, each once, in the order of the list; all without one. The caller frees *list. */
static modal_status read_list(const char *text, int32_t n_modes, int32_t **list, int32_t *n, modal_error *err)
{
    modal_status status = MODAL_OK;
    uint8_t *taken = NULL;
    MODAL_TRY(modal_alloc_zero(&taken, n_modes, 1, "modes", err));
    MODAL_TRY(modal_alloc(list, n_modes, sizeof **list, "modes", err));
    *n = 0;
    for (int32_t k = 0; !text && k < n_modes; k++) (*list)[(*n)++] = k;
    if (text)
        do {
            int64_t part[2];
            MODAL_TRY(read_part(&text, n_modes, part, err));
            for (int64_t k = part[0]; k <= part[1]; k++) {
                if (taken[k]++) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--modes: twice, %" PRId64, k);
                (*list)[(*n)++] = (int32_t)k;
            }
        } while (*text);
done:
    modal_free(&taken);
    return status;
}

/* [shapes][modes, as many as each has]: q_k at which the largest displacement is the share of the box's diagonal. */
static modal_status find_amplitudes(const modaldeform_request *r, modaldeform_input *in, double **amplitudes,
                                    modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_matrix_source tiles = {r->volume ? NULL : modal_basis_tiles_read, in->tiles};
    for (int32_t i = 0; i < in->basis.n_shapes; i++) {
        const modal_shape *s = &in->basis.shapes[i];
        const double wanted = r->amplitude * modal_reach_diagonal(&s->surface);
        MODAL_TRY(modal_alloc(&amplitudes[i], s->modes.n_modes, sizeof **amplitudes, "amplitudes", err));
        MODAL_TRY(modal_reach_modes(s, i, &tiles, amplitudes[i], err));
        for (int32_t k = 0; k < s->modes.n_modes; k++) {
            const double most = amplitudes[i][k];
            amplitudes[i][k] = wanted / most;
            if (!isfinite(amplitudes[i][k]))
                MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: shape %s: mode %d moves nothing, its largest displacement is %g m",
                           in->basis_path, s->name ? s->name : "", k, most);
        }
    }
done:
    return status;
}

static modal_status copy_provenance(const modal_basis *basis, modal_trajectory *q, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int32_t i = 0; i < basis->n_provenance; i++) {
        const modal_provenance *p = &basis->provenance[i];
        MODAL_TRY(modal_provenance_append(&q->provenance, &q->n_provenance, p->tool, p->version, p->arguments,
                                          p->inputs, p->back_end, err));
    }
done:
    return status;
}

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
    int32_t most = 0;
    int64_t total = 0, n_values = 0;
    double **amplitudes = NULL;
    for (int32_t i = 0; i < b->n_objects; i++)
        if (b->shapes[b->objects[i].shape].modes.n_modes > most) most = b->shapes[b->objects[i].shape].modes.n_modes;
    MODAL_TRY(read_list(r->modes_text, most, &in->modes.list, &in->modes.n, err));
    const int32_t *list = in->modes.list, n = in->modes.n;
    MODAL_TRY(modal_alloc_zero(&amplitudes, b->n_shapes, sizeof *amplitudes, "amplitudes", err));
    MODAL_TRY(find_amplitudes(r, in, amplitudes, err));
    q->n_frames = r->show_arrays ? 1 : (int64_t)n * CYCLE;
    q->n_objects = b->n_objects;
    MODAL_TRY(modal_alloc(&q->mode_offsets, (int64_t)b->n_objects + 1, sizeof *q->mode_offsets, "modes", err));
    total = modal_basis_mode_offsets(b, q->mode_offsets);
    if (!modal_size_multiply(q->n_frames, total, &n_values)) n_values = -1;
    MODAL_TRY(modal_alloc(&q->times, q->n_frames, sizeof *q->times, "times", err));
    MODAL_TRY(modal_alloc_zero(&q->q, n_values, sizeof *q->q, "frames of the modes", err));
    for (int64_t f = 0; f < q->n_frames; f++) {
        const int32_t k = list[f / CYCLE];
        q->times[f] = (double)f / CYCLE;
        for (int32_t i = 0; i < b->n_objects; i++) {
            const int32_t shape = b->objects[i].shape;
            if (k < b->shapes[shape].modes.n_modes)
                q->q[f * total + q->mode_offsets[i] + k] = amplitudes[shape][k] * sin(2 * M_PI * (double)(f % CYCLE) / CYCLE);
        }
    }
    memcpy(q->basis_hash, b->hash, sizeof q->basis_hash);
    memcpy(q->basis_recipe, b->recipe_hash, sizeof q->basis_recipe);
    MODAL_TRY(modal_copy_text(&q->basis_path, in->basis_path, SIZE_MAX, err));
    MODAL_TRY(copy_provenance(b, q, err));
    MODAL_TRY(modal_hash_file(in->basis_path, in->trajectory_hash, err));
    tell(t, r, in, list, n);
done:
    for (int32_t i = 0; amplitudes && i < b->n_shapes; i++) modal_free(&amplitudes[i]);
    modal_free(&amplitudes);
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
