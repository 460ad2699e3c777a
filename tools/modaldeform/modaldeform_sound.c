/* SPDX-License-Identifier: Apache-2.0 */
/* --format wav: what listeners or contact microphones hear. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "formats/sequences/sequence_wav.h"
#include "lib/base/memory.h"
#include "tools/modaldeform/modaldeform.h"

static const double AUTO_PEAK = 0.70794578438413791; /* -3 dB */

modal_status modaldeform_check_sound(const tool *t, modaldeform_request *r, modal_error *err)
{
    const tool_arguments *a = &t->arguments;
    const int listeners = tool_count(a, "listen");
    modal_status status = MODAL_OK;
    for (int i = 0; i < r->n_formats; i++) r->sound |= r->formats[i] == &modal_sequence_wav;
    if (!r->sound && listeners > 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--listen: only with --format wav, %s", tool_value_at(a, "listen", 0));
    if (!r->sound && tool_count(a, "gain") > 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--gain: only with --format wav, %s", tool_value(a, "gain"));
    if (r->sound && listeners == 0 && tool_count(a, "probe") == 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--format: wav needs a place to hear it at, --listen X,Y,Z, or a --probe");
    r->gain_auto = strcmp(tool_value(a, "gain"), "auto") == 0;
    r->gain = 1;
    if (!r->gain_auto) MODAL_TRY(tool_number(a, "gain", 1e-30, 1e30, &r->gain, err));
done:
    return status;
}

/* Listeners, or else probes: as the manifest has them, and as lib/sound does. */
static modal_status find_channels(const tool *t, const modaldeform_request *r, const modaldeform_input *in,
                                  modaldeform_sound *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int listeners = tool_count(&t->arguments, "listen");
    const int n = listeners > 0 ? listeners : (int)in->n_probes;
    MODAL_TRY(modal_alloc_zero(&s->described, n, sizeof *s->described, "channels", err));
    MODAL_TRY(modal_alloc_zero(&s->channels, n, sizeof *s->channels, "channels", err));
    s->about.n_channels = n;
    s->about.channels = s->described;
    for (int i = 0; i < n; i++) {
        modal_sequence_channel *c = &s->described[i];
        if (listeners > 0) {
            MODAL_TRY(tool_parse_numbers(tool_value_at(&t->arguments, "listen", i), 3, c->place, "--listen", err));
            memcpy(s->channels[i].place, c->place, sizeof c->place);
            continue;
        }
        c->contact = s->channels[i].contact = 1;
        c->point = in->probes[i].point;
        modaldeform_find_vertex(r, in, c->point, &s->channels[i].object, &s->channels[i].vertex);
    }
done:
    return status;
}

static modal_sound_request request_of(const modaldeform_request *r, const modaldeform_input *in)
{
    return (modal_sound_request){.basis = &in->basis, .matrix = {modal_basis_tiles_read, in->tiles},
                                 .trajectory = &in->trajectory, .start = in->start, .step = in->step, .n = in->n,
                                 .n_channels = in->sound.about.n_channels, .channels = in->sound.channels,
                                 .threads = r->threads};
}

static modal_status name_error(const modaldeform_request *r, modal_status status, modal_error *err)
{
    if (status == MODAL_ERROR_USAGE) modal_error_context(err, "--listen");
    if (status == MODAL_ERROR_INPUT) modal_error_context(err, "%s", r->trajectory_path);
    return status;
}

modal_status modaldeform_prepare_sound(tool *t, const modaldeform_request *r, modaldeform_input *in, int64_t *memory_bytes,
                                       modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_sound_plan *plan = &in->sound.plan;
    in->sound.about.rate = MODAL_SOUND_RATE;
    MODAL_TRY(find_channels(t, r, in, &in->sound, err));
    in->sound.about.unit = in->sound.described[0].contact ? "m/s^2" : "Pa";
    const modal_sound_request request = request_of(r, in);
    MODAL_TRY(name_error(r, modal_sound_prepare(&request, plan, err), err));
    in->sound.about.n_samples = plan->n_samples;
    *memory_bytes = plan->memory_bytes;
    if (plan->highest_mode < 0) tool_warn(t, "%s: nothing moves, which is silent", r->trajectory_path);
    if (plan->highest > MODAL_SOUND_HIGHEST)
        tool_warn(t, "%s: object %d, mode %d moves at %g Hz; %d samples a second hold up to %g Hz, what is above is filtered out",
                  r->trajectory_path, plan->highest_object, plan->highest_mode, plan->highest, MODAL_SOUND_RATE,
                  MODAL_SOUND_HIGHEST);
    if (plan->open_object >= 0)
        tool_warn(t, "object %d: its surface is not closed, the sound of its back is left out", plan->open_object);
    if (plan->near_channel >= 0)
        tool_warn(t, "--listen: nearer to a triangle (%g m) than that is long (%g m), which makes the sound less exact, %s",
                  plan->near_distance, plan->near_length, tool_value_at(&t->arguments, "listen", plan->near_channel));
done:
    return status;
}

modal_status modaldeform_make_sound(tool *t, const modaldeform_request *r, modaldeform_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_sequence_sound *s = &in->sound.about;
    const modal_sound_request request = request_of(r, in);
    const double start = tool_seconds();
    MODAL_TRY(modal_alloc(&in->sound.samples, s->n_samples * s->n_channels, sizeof *in->sound.samples, "samples", err));
    s->samples = in->sound.samples;
    MODAL_TRY(name_error(r, modal_sound_make(&request, &in->sound.plan, in->sound.samples, err), err));
    for (int64_t i = 0; i < s->n_samples * s->n_channels; i++) s->peak = fmax(s->peak, fabs(s->samples[i]));
    s->gain = !r->gain_auto ? r->gain : s->peak > 0 ? AUTO_PEAK / s->peak : 1;
    if (!isfinite(s->gain))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "--gain: auto has no gain for a peak of %g %s", s->peak, s->unit);
    if (s->peak * s->gain > 1)
        tool_warn(t, "sound.wav: samples reach %g, players cut them off at 1; --gain auto brings them to %.3f",
                  s->peak * s->gain, AUTO_PEAK);
    tool_note(t, "sound.wav: %.3f s, peak %.3g %s, gain %.6g", (double)s->n_samples / s->rate, s->peak, s->unit, s->gain);
    json_object_set_new(t->report, "sound",
                        json_pack("{s:i, s:I, s:s, s:f, s:f}", "rate", s->rate, "samples", (json_int_t)s->n_samples, "unit",
                                  s->unit, "peak", s->peak, "gain", s->gain));
    tool_stage(t, "sound", tool_seconds() - start, 8 * s->n_samples * s->n_channels);
done:
    return status;
}

void modaldeform_free_sound(modaldeform_sound *sound)
{
    modal_free(&sound->samples);
    modal_free(&sound->described);
    modal_free(&sound->channels);
}
