/* SPDX-License-Identifier: Apache-2.0 */
/* The frames: from the deformer to the writers and the journal. */
#include <string.h>

#include "tools/modaldeform/modaldeform.h"

typedef struct writing {
    const modaldeform_request *r;
    modaldeform_outputs *out;
    pthread_mutex_t *hdf5;
    const modaldeform_input *in;
    const modal_frame_plan *plan;
    int64_t n_cells;
    const modal_frame_step *sink;
} writing;

/* A stage: what is made of the solid, of one frame at a time. */
static modal_status add_stress(void *self, int64_t first, modal_frames *frames, modal_error *err)
{
    const writing *w = self;
    const modal_array_list *list = &w->r->arrays;
    modal_status status = modal_stress_frames_make(w->in->stress, &w->in->trajectory, w->in->start + first * w->in->step,
                                                   w->r->threads, err);
    for (int i = 0; i < list->n; i++)
        if (w->plan->places[i] == MODAL_OF_STEPS)
            frames->arrays[i] = modal_stress_frames_values(w->in->stress, list->all[i].source - MODAL_FROM_STAGES);
    return status;
}

/* A stage: the modes of --show arrays, which are those of the one frame. */
static modal_status add_modes(void *self, int64_t first, modal_frames *frames, modal_error *err)
{
    const writing *w = self;
    const modal_array_list *list = &w->r->arrays;
    (void)first;
    (void)err;
    for (int i = 0; i < list->n; i++)
        if (w->plan->places[i] == MODAL_OF_STEPS)
            frames->arrays[i] = w->in->modes.displacements[list->all[i].source - MODAL_FROM_STAGES];
    return MODAL_OK;
}

static modal_status write_frames(void *self, int64_t first, modal_frames *frames, modal_error *err)
{
    const writing *w = self;
    pthread_mutex_lock(w->hdf5);
    modal_status status = w->sink ? w->sink->run(w->sink->self, first, frames, err) : modaldeform_add_frames(w->out, frames, err);
    pthread_mutex_unlock(w->hdf5);
    if (status == MODAL_OK && !w->sink) status = modaldeform_journal_add(w->out, &w->r->arrays, w->in->n_points, w->n_cells, frames, err);
    return status;
}

modal_status modaldeform_write_frames(tool *t, const modaldeform_request *r, modaldeform_input *in, modal_deformer *deformer,
                                      const modal_frame_plan *plan, const modaldeform_way *way, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t bytes = way->frame_bytes * (way->run.end - way->run.first);
    modal_deform_source *deformed = NULL;
    modal_frame_source source;
    modal_frames_times times = {0};
    const modal_deform_source_request request = {
        .deformer = deformer, .trajectory = &in->trajectory, .start = in->start, .step = in->step, .plan = plan,
        .single = in->stress != NULL};
    writing w = {.r = r, .out = way->out, .hdf5 = &in->hdf5, .in = in, .plan = plan, .sink = way->sink,
                 .n_cells = r->volume ? in->cells.n_cells : in->n_triangles};
    modal_frame_step steps[2];
    int n_steps = 0;
    const double start = tool_seconds();
    if (in->snapshots) MODAL_TRY(modaldeform_snapshots_source(in->snapshots, plan, &source, err));
    else MODAL_TRY(modal_deform_source_new(&deformed, &request, &source, err));
    if (!in->snapshots && (in->stress || r->show_arrays)) steps[n_steps++] = (modal_frame_step){&w, r->show_arrays ? add_modes : add_stress};
    steps[n_steps++] = (modal_frame_step){&w, write_frames};
    tool_progress_amount(t, (double)in->n, "frames");
    status = modal_frames_run(&source, n_steps, steps, way->run.first, way->run.end, &t->progress, &times, err);
    modaldeform_tell_stress(t, in->stress);
    tool_stage(t, "submit", times.submit, -1);
    tool_stage(t, "wait for frames", times.wait, -1);
    tool_stage(t, "write", times.work, bytes);
    tool_stage(t, "write, processor", times.processor, bytes);
    tool_stage(t, "deform and write", tool_seconds() - start, bytes);
done:
    modal_deform_source_delete(deformed);
    return status;
}
