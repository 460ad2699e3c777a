/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/curvature/stage.h"

#include "lib/base/memory.h"

typedef struct opened_stage {
    const modal_curvature_stage *stage;
    modal_curvature *curvature;
} opened_stage;

static int64_t bytes(const void *self, const modal_device *device, int64_t most_frames)
{
    const modal_curvature_stage *s = self;
    return modal_curvature_bytes(device, &s->options, s->topology, most_frames);
}

static void close_stage(void *opened)
{
    opened_stage *o = opened;
    if (!o) return;
    modal_curvature_delete(o->curvature);
    modal_free(&o);
}

static modal_status open_stage(const void *self, const modal_device *device, int64_t most_frames, void **opened, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_curvature_stage *s = self;
    opened_stage *o = NULL;
    *opened = NULL;
    MODAL_TRY(modal_alloc_zero(&o, 1, sizeof *o, "curvature", err));
    o->stage = s;
    MODAL_TRY(modal_curvature_new(&o->curvature, device, &s->options, s->topology, s->mean_edge, most_frames, err));
    *opened = o;
    o = NULL;
done:
    close_stage(o);
    return status;
}

static modal_status queue(void *opened, modal_stream *stream, const modal_device_frames *frames, modal_error *err)
{
    const opened_stage *o = opened;
    const modal_curvature_stage *s = o->stage;
    float *out[MODAL_CURVATURE_FIELDS] = {NULL};
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++)
        if (s->arrays[i] >= 0) out[i] = frames->arrays[s->arrays[i]];
    return modal_curvature_queue(o->curvature, stream, frames->n_frames, frames->arrays[s->positions], out,
                                 s->areas >= 0 ? frames->arrays[s->areas] : NULL, err);
}

modal_frame_stage modal_curvature_stage_of(modal_curvature_stage *stage)
{
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++) stage->options.fields[i] = stage->arrays[i] >= 0;
    return (modal_frame_stage){stage, bytes, open_stage, queue, close_stage};
}
