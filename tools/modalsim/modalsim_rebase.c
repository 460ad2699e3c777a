/* SPDX-License-Identifier: Apache-2.0 */
/* modalsim --rebase: a trajectory of one basis becomes one of another basis of the same solids. */
#include <math.h>
#include <string.h>

#include "formats/basis/basis_h5.h"
#include "lib/base/memory.h"
#include "lib/fem/rebase.h"
#include "tools/common/trajectory_input.h"
#include "tools/modalsim/modalsim.h"

/* The shapes of the two bases that stand for each other. */
typedef struct pair {
    int32_t from, to;
    modal_rebase rebase;
} pair;

typedef struct job {
    modal_trajectory old;
    char *old_path;
    modal_basis from;
    const modal_basis *to;
    int32_t n_pairs;
    pair *pairs;       /* [n_pairs], at most one an object */
    int32_t *pair_of;  /* [n_objects] */
    double *errors;    /* [n_objects] */
    double *q;         /* of one frame */
} job;

static void release(job *j)
{
    modal_trajectory_free(&j->old);
    modal_basis_free(&j->from);
    for (int32_t i = 0; i < j->n_pairs; i++) modal_rebase_free(&j->pairs[i].rebase);
    modal_free(&j->pairs);
    modal_free(&j->pair_of);
    modal_free(&j->errors);
    modal_free(&j->q);
    modal_free(&j->old_path);
}

static modal_status choose_parts(void *context, const modal_basis *basis, unsigned *parts, modal_error *err)
{
    (void)context, (void)err;
    for (int32_t i = 0; i < basis->n_shapes; i++) parts[i] = MODAL_BASIS_MODES | MODAL_BASIS_VOLUME | MODAL_BASIS_VOLUME_MODES;
    return MODAL_OK;
}

/* Object i of both bases is the same one. Where the trajectory has no frames they stand in the same place, too. */
static modal_status compare_objects(const job *j, int32_t i, modal_error *err)
{
    const modal_object *a = &j->from.objects[i], *b = &j->to->objects[i];
    double reach = 1;
    if (a->parent != b->parent)
        return modal_error_set(err, MODAL_ERROR_INPUT, "object %d: hangs on object %d, on %d in the old basis", i, b->parent,
                               a->parent);
    if (j->old.poses) return MODAL_OK;
    for (int k = 3; k < 12; k += 4) reach = fmax(reach, fabs(a->rest_pose[k]));
    for (int k = 0; k < 12; k++)
        if (!(fabs(a->rest_pose[k] - b->rest_pose[k]) <= 1e-9 * reach))
            return modal_error_set(err, MODAL_ERROR_INPUT, "object %d: its rest frame is another one in the old basis", i);
    return MODAL_OK;
}

static modal_status match(job *j, int n_threads, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int32_t n = j->to->n_objects;
    if (n != j->from.n_objects)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%d objects, %d in the old basis", n, j->from.n_objects);
    MODAL_TRY(modal_alloc_zero(&j->pairs, n, sizeof *j->pairs, "objects", err));
    MODAL_TRY(modal_alloc(&j->pair_of, n, sizeof *j->pair_of, "objects", err));
    MODAL_TRY(modal_alloc_zero(&j->errors, n, sizeof *j->errors, "objects", err));
    for (int32_t i = 0; i < n; i++) {
        const int32_t from = j->from.objects[i].shape, to = j->to->objects[i].shape;
        int32_t k = 0;
        MODAL_TRY(compare_objects(j, i, err));
        while (k < j->n_pairs && (j->pairs[k].from != from || j->pairs[k].to != to)) k++;
        j->pair_of[i] = k;
        if (k < j->n_pairs) continue;
        j->pairs[k].from = from;
        j->pairs[k].to = to;
        status = modal_rebase_build(&j->from.shapes[from], &j->to->shapes[to], n_threads, &j->pairs[k].rebase, err);
        if (status != MODAL_OK) {
            modal_error_context(err, "object %d", i);
            goto done;
        }
        j->n_pairs++;
    }
done:
    return status;
}

/* The coordinates of a frame, into j->q; the errors become the largest so far, the frame's own is in `quality`. */
static void carry(job *j, int64_t frame, const int64_t *offsets, modal_quality *quality)
{
    const int64_t total = j->old.mode_offsets[j->old.n_objects];
    for (int32_t i = 0; i < j->old.n_objects; i++) {
        const double error = modal_rebase_apply(&j->pairs[j->pair_of[i]].rebase,
                                                j->old.q + frame * total + j->old.mode_offsets[i], j->q + offsets[i]);
        if (!(error <= j->errors[i])) j->errors[i] = error;
        if (i > 0 && error <= quality->projected) continue;
        quality->projected = error;
        quality->projected_object = i;
    }
}

modal_status modalsim_rebase(tool *t, const modalsim_request *r, tool_output *output, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_basis basis = {0};
    job j = {.to = &basis};
    modalsim_writer writer = {.t = t, .r = r, .output = output};
    modal_quality quality;
    int64_t *offsets = NULL, used = 0, used_before = 0;
    double start = tool_seconds(), worst = 0;
    int32_t worst_object = 0;
    MODAL_TRY(tool_read_trajectory(r->rebase_path, &j.old, NULL, err));
    MODAL_TRY(tool_find_basis(r->old_basis_path, r->rebase_path, &j.old, &j.old_path, err));
    MODAL_TRY(modal_basis_read_chosen(j.old_path, choose_parts, NULL, r->memory_limit, &used_before, &j.from, err));
    if (modal_trajectory_check_basis(&j.old, &j.from, err) != MODAL_OK) {
        modal_error_context(err, "%s: %s", r->rebase_path, j.old_path);
        status = err->status;
        goto done;
    }
    MODAL_TRY(modal_basis_read_chosen(r->basis_path, choose_parts, NULL, r->memory_limit, &used, &basis, err));
    status = match(&j, r->n_threads, err);
    if (status != MODAL_OK) {
        modal_error_context(err, "%s", r->basis_path);
        goto done;
    }
    MODAL_TRY(modal_alloc(&offsets, (int64_t)basis.n_objects + 1, sizeof *offsets, "coordinates", err));
    MODAL_TRY(modal_alloc(&j.q, modal_basis_mode_offsets(&basis, offsets), sizeof *j.q, "coordinates", err));
    tool_stage(t, "bases", tool_seconds() - start, -1);
    start = tool_seconds();
    for (int64_t i = 0; i < j.old.n_frames; i++) carry(&j, i, offsets, &quality);
    for (int32_t i = 0; i < basis.n_objects; i++) {
        if (!isfinite(j.errors[i])) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: object %d: overflow", r->rebase_path, i);
        if (j.errors[i] > worst) worst = j.errors[i], worst_object = i;
    }
    const char *const files[] = {r->rebase_path, j.old_path};
    writer.head.rebase_errors = j.errors;
    writer.head.models = j.old.models;
    j.old.models = NULL;
    j.errors = NULL;
    MODAL_TRY(modalsim_writer_begin(&writer, &basis, j.old.n_frames,
                                    (j.old.poses ? MODALSIM_POSES : 0) | (j.old.energy ? MODALSIM_ENERGY : 0) | MODALSIM_QUALITY,
                                    2, files, "cpu", err));
    MODAL_TRY(modal_alloc_zero(&j.errors, basis.n_objects, sizeof *j.errors, "objects", err));
    for (int64_t i = 0; i < j.old.n_frames; i++) {
        MODAL_TRY(modal_progress_report(&t->progress, "rebase", (double)i / (double)j.old.n_frames, err));
        quality = j.old.quality ? j.old.quality[i] : modal_quality_none();
        carry(&j, i, offsets, &quality);
        MODAL_TRY(modal_trajectory_out_row(writer.out, j.old.times[i], j.q,
                                           j.old.poses ? j.old.poses + i * 12 * j.old.n_objects : NULL,
                                           j.old.energy ? j.old.energy + 4 * i : NULL, &quality, err));
    }
    tool_stage(t, "rebase", tool_seconds() - start, -1);
    json_object_set_new(t->report, "rebase", json_pack("{s:f, s:i}", "worst_error", worst, "object", worst_object));
    tool_note(t, "largest error of the motion, relative in the norm of the mass matrix: %.3g, of object %d", worst,
              worst_object);
    MODAL_TRY(modalsim_writer_end(&writer, err));
done:
    modalsim_writer_discard(&writer);
    release(&j);
    modal_basis_free(&basis);
    modal_free(&offsets);
    return status;
}
