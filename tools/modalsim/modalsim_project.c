/* SPDX-License-Identifier: Apache-2.0 */
/* modalsim --project: snapshots of a whole solid become a trajectory of a basis of it. */
#include <math.h>
#include <string.h>

#include "formats/basis/basis_h5.h"
#include "formats/snapshots/snapshots_check.h"
#include "formats/snapshots/snapshots_h5.h"
#include "lib/base/memory.h"
#include "lib/fem/columns.h"
#include "lib/fem/projection.h"
#include "tools/modalsim/modalsim.h"

typedef struct job {
    modal_basis basis;
    modal_snapshots_contents contents;
    modal_snapshots *snapshots;
    modal_projection projection;
    double *u;      /* [n_nodes, 3] of a frame */
    double *q;      /* [n_frames, r] */
    double *errors; /* [n_frames, 4] of trajectory.md */
} job;

static void release(job *j)
{
    modal_snapshots_close(j->snapshots);
    modal_snapshots_contents_free(&j->contents);
    modal_projection_free(&j->projection);
    modal_basis_free(&j->basis);
    modal_free(&j->u);
    modal_free(&j->q);
    modal_free(&j->errors);
}

static modal_status choose_parts(void *context, const modal_basis *basis, unsigned *parts, modal_error *err)
{
    (void)context, (void)err;
    for (int32_t i = 0; i < basis->n_shapes; i++) parts[i] = MODAL_BASIS_MODES | MODAL_BASIS_VOLUME | MODAL_BASIS_VOLUME_MODES;
    return MODAL_OK;
}

/* Both files, which must be of one solid. */
static modal_status read_files(tool *t, const modalsim_request *r, job *j, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t used = 0, n_snapshots;
    int single;
    MODAL_TRY(modal_snapshots_describe(r->project_path, &j->contents, err));
    if (!j->contents.times)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: /times: missing, which a trajectory needs", r->project_path);
    MODAL_TRY(modal_basis_read_chosen(r->basis_path, choose_parts, NULL, r->memory_limit, &used, &j->basis, err));
    if (j->basis.n_objects != 1)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: %d objects, snapshots are of one", r->basis_path, j->basis.n_objects);
    const modal_shape *s = &j->basis.shapes[j->basis.objects[0].shape];
    status = modal_projection_build(s, r->n_threads, &j->projection, err);
    if (status != MODAL_OK) {
        modal_error_context(err, "%s", r->basis_path);
        goto done;
    }
    if (j->contents.has_solid) {
        status = modal_fem_compare_solids(&s->solid.mesh, &j->contents.solid.mesh, err);
        if (status != MODAL_OK) {
            modal_error_context(err, "%s: %s", r->basis_path, r->project_path);
            goto done;
        }
    } else {
        tool_warn(t, "%s: has no /solid: that it is of this one is told by the number of nodes alone", r->project_path);
    }
    MODAL_TRY(modal_snapshots_open(&j->snapshots, r->project_path, s->solid.mesh.n_nodes, s->solid.mesh.nodes, &n_snapshots, &single, err));
    MODAL_TRY(modal_alloc(&j->u, 3 * s->solid.mesh.n_nodes, sizeof *j->u, "displacements", err));
    MODAL_TRY(modal_alloc(&j->q, n_snapshots * j->projection.r, sizeof *j->q, "coordinates", err));
    MODAL_TRY(modal_alloc(&j->errors, 4 * n_snapshots, sizeof *j->errors, "errors", err));
done:
    return status;
}

/* The row of errors, and the largest ones, for the report. */
typedef struct worst {
    double relative, left, whole, farthest, most;
    int64_t relative_frame, left_frame, farthest_frame, node;
} worst;

static void note_error(worst *w, int64_t frame, const modal_projection_error *e)
{
    const double relative = e->whole > 0 ? e->left / e->whole : 0;
    if (relative > w->relative) w->relative = relative, w->relative_frame = frame;
    if (e->left > w->left) w->left = e->left, w->left_frame = frame;
    if (e->farthest > w->farthest) w->farthest = e->farthest, w->farthest_frame = frame, w->node = e->node;
    w->whole = fmax(w->whole, e->whole);
    w->most = fmax(w->most, e->most);
}

static modal_status project_all(tool *t, const modalsim_request *r, job *j, worst *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = j->contents.n_snapshots;
    for (int64_t i = 0; i < n; i++) {
        modal_projection_error e;
        MODAL_TRY(modal_progress_report(&t->progress, "project", (double)i / (double)n, err));
        MODAL_TRY(modal_snapshots_read(j->snapshots, i, 1, j->u, err));
        modal_projection_apply(&j->projection, j->u, j->q + i * j->projection.r, &e);
        if (!(isfinite(e.left) && isfinite(e.whole)))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: snapshot %lld: overflow", r->project_path, (long long)i);
        const double row[4] = {e.left, e.whole, e.farthest, e.most};
        memcpy(j->errors + 4 * i, row, sizeof row);
        note_error(w, i, &e);
    }
    if (!(w->whole > 0)) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: nothing moves", r->project_path);
done:
    return status;
}

static void report(tool *t, const job *j, const worst *w)
{
    const modal_volume_mesh *mesh = &j->basis.shapes[j->basis.objects[0].shape].solid.mesh;
    json_t *rows = json_array(); /* as in the trajectory; of no use where nobody asks for the report */
    for (int64_t i = 0; i < j->contents.n_snapshots && tool_value(&t->arguments, "report"); i++) {
        const double *e = j->errors + 4 * i;
        json_array_append_new(rows, json_pack("[f, f, f, f]", e[0], e[1], e[2], e[3]));
    }
    json_object_set_new(t->report, "projection",
                        json_pack("{s:o, s:f, s:I, s:f, s:I, s:f, s:f, s:I, s:I, s:f}", "errors", rows, "worst_of_frame", w->relative, "worst_frame",
                                  (json_int_t)w->relative_frame, "worst_of_largest", w->left / w->whole, "frame", (json_int_t)w->left_frame,
                                  "node_of_largest", w->farthest / w->most, "farthest_node_m", w->farthest, "node",
                                  (json_int_t)mesh->node_tags[w->node], "node_frame", (json_int_t)w->farthest_frame, "largest_displacement_m",
                                  w->most));
    tool_note(t, "%d modes leave out at most %.3g of the largest motion, in the norm of the mass matrix (frame %lld; of its own frame's motion "
                 "at most %.3g, frame %lld)",
              j->projection.r, w->left / w->whole, (long long)w->left_frame, w->relative, (long long)w->relative_frame);
    tool_note(t, "no node is farther away than %.3g m, %.3g of the largest displacement (node %lld, frame %lld)", w->farthest,
              w->farthest / w->most, (long long)mesh->node_tags[w->node], (long long)w->farthest_frame);
}

modal_status modalsim_project(tool *t, const modalsim_request *r, tool_output *output, modal_error *err)
{
    modal_status status = MODAL_OK;
    job j = {0};
    worst w = {0};
    modalsim_writer writer = {.t = t, .r = r, .output = output};
    double start = tool_seconds();
    MODAL_TRY(read_files(t, r, &j, err));
    tool_stage(t, "basis", tool_seconds() - start, -1);
    start = tool_seconds();
    MODAL_TRY(project_all(t, r, &j, &w, err));
    tool_stage(t, "project", tool_seconds() - start, -1);
    report(t, &j, &w);
    const char *const files[] = {r->project_path};
    writer.head.projection_errors = j.errors;
    j.errors = NULL; /* the writer's */
    MODAL_TRY(modalsim_writer_begin(&writer, &j.basis, j.contents.n_snapshots, MODALSIM_QUALITY, 1, files, "cpu", err));
    for (int64_t i = 0; i < j.contents.n_snapshots; i++) {
        modal_quality quality = j.contents.quality ? j.contents.quality[i] : modal_quality_none(); /* the solid's own verdict stays */
        const double *e = writer.head.projection_errors + 4 * i;
        quality.projected = e[0] / w.whole; /* a frame that hardly moves yet is not judged by itself */
        quality.projected_object = 0;
        quality.projected_node = e[2] / w.most;
        if (!j.contents.quality) quality.not_judged = 0; /* the solid's own motion is what it is held to */
        MODAL_TRY(modal_trajectory_out_row(writer.out, j.contents.times[i], j.q + i * j.projection.r, NULL, NULL, &quality, err));
    }
    MODAL_TRY(modalsim_writer_end(&writer, err));
done:
    modalsim_writer_discard(&writer);
    release(&j);
    return status;
}
