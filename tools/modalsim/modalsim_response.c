/* SPDX-License-Identifier: Apache-2.0 */
/* The steady state over a band of frequencies, as a table (CSV). */
#include "formats/sequences/file_out.h"
#include "formats/meshes/number_text.h"
#include "lib/base/memory.h"
#include "lib/oscillators/response.h"
#include "lib/scene/places.h"
#include "tools/common/commit.h"
#include "tools/common/quality.h"
#include "tools/modalsim/modalsim.h"

static modal_status put(modal_file_out *to, const char *text, const char *end, modal_error *err)
{
    return modal_file_out_write(to, text, end - text, err);
}

static modal_status put_head(modal_file_out *to, const modal_scene *scene, const modal_basis *basis, modal_error *err)
{
    modal_status status = MODAL_OK;
    char text[128];
    MODAL_TRY(put(to, text, text + snprintf(text, sizeof text, "frequency"), err));
    for (int32_t i = 0; i < scene->response.n_probes; i++)
        for (const char *axis = "xyz"; *axis; axis++)
            MODAL_TRY(put(to, text, text + snprintf(text, sizeof text, ",probe%d_%c_amplitude,probe%d_%c_phase", i, *axis,
                                                    i, *axis), err));
    for (int32_t i = 0; i < basis->n_objects && scene->response.n_probes == 0; i++)
        for (int32_t k = 0; k < basis->shapes[basis->objects[i].shape].modes.n_modes; k++)
            MODAL_TRY(put(to, text, text + snprintf(text, sizeof text, ",object%d_q%d_amplitude,object%d_q%d_phase", i, k,
                                                    i, k), err));
    text[0] = '\n';
    MODAL_TRY(put(to, text, text + 1, err));
done:
    return status;
}

void modalsim_say_vertex(tool *t, const modal_basis *basis, const char *list, const modal_scene_force *force, int64_t vertex,
                         double distance)
{
    enum { MOST_NOTES = 10 };
    const int32_t user = basis->shapes[basis->objects[force->object].shape].surface.user_vertex[vertex];
    json_t *all = json_object_get(t->report, "vertices_taken");
    if (!all) json_object_set_new(t->report, "vertices_taken", all = json_array());
    json_array_append_new(all, json_pack("{s:s, s:i, s:i, s:i, s:f}", "list", list, "item", force->place, "object", force->object,
                                         "vertex", user, "distance_m", distance));
    if (json_array_size(all) <= MOST_NOTES)
        tool_note(t, "%s[%d]: vertex %d of object %d, %.4g m from the point", list, force->place, user, force->object, distance);
}

/* Of forces or probes that modal_response_new has taken. */
static modal_status say_vertices(tool *t, const modal_scene *scene, const modal_basis *basis, const char *list, int32_t n,
                                 const modal_scene_force *forces, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_scene_vertices at = {0};
    for (int32_t i = 0; i < n; i++) {
        const modal_scene_object *said = NULL;
        double pose[12];
        if (forces[i].group || forces[i].vertex >= 0) continue;
        for (int32_t k = 0; k < scene->n_objects; k++)
            if (scene->objects[k].object == forces[i].object) said = &scene->objects[k];
        modal_scene_pose(said, &basis->objects[forces[i].object], pose);
        at.n = 0;
        MODAL_TRY(modal_scene_force_vertices(list, &forces[i], basis, pose, &at, err));
        modalsim_say_vertex(t, basis, list, &forces[i], at.vertices[0], at.distance);
    }
done:
    modal_free(&at.vertices);
    return status;
}

/* How far the table may be trusted: what the basis leaves out at each frequency, by the limit of load_left_out. */
typedef struct verdict {
    double worst, at, first, last; /* the largest part, and its Hz; those past the limit */
    int64_t n_past;
    int32_t object;
    unsigned missing;
} verdict;

static const modal_quality_measure *left_out_measure(void)
{
    int i = 0;
    while (strcmp(modal_quality_measures[i].name, "load_truncation") != 0) i++;
    return &modal_quality_measures[i];
}

static void judge_row(verdict *v, const modal_response *response, double f)
{
    int32_t object;
    const double part = modal_response_left_out(response, f, &object);
    if (part > v->worst) {
        v->worst = part;
        v->at = f;
        v->object = object;
    }
    if (part <= left_out_measure()->doubtful) return;
    if (v->n_past++ == 0) v->first = f;
    v->last = f;
}

/* Says and reports it. MODAL_ERROR_NOT_CONVERGED where it has to be sound, and is not. */
static modal_status tell_verdict(tool *t, const modalsim_request *r, const verdict *v, modal_error *err)
{
    const modal_quality_measure *m = left_out_measure();
    const modal_verdict found = v->n_past > 0 ? MODAL_DOUBTFUL : v->missing ? MODAL_NOT_JUDGED : MODAL_SOUND;
    char missing[TOOL_QUALITY_SUMMARY], text[sizeof missing + MODAL_QUALITY_TEXT];
    modal_quality_missing_text(v->missing, missing, sizeof missing);
    json_t *quality = json_pack("{s:s}", "rating", modal_verdicts[found]);
    if (!(v->missing & MODAL_MISSING_LOADS))
        json_object_set_new(quality, "indicators", json_pack("[{s:s, s:f, s:f, s:i, s:I, s:f, s:f}]", "name", m->name, "worst", v->worst, "frequency",
                                                           v->at, "object", v->object, "frequencies_past", (json_int_t)v->n_past,
                                                           "first_past", v->first, "last_past", v->last));
    if (v->missing) json_object_set_new(quality, "missing", json_string(missing));
    json_object_set_new(t->report, "quality", quality);
    if (found == MODAL_DOUBTFUL)
        snprintf(text, sizeof text, "%s: %s %.3g at %.6g Hz, object %d; the limit is %g, %lld frequencies from %.6g to %.6g Hz are past it: %s",
                 modal_verdicts[found], m->name, v->worst, v->at, v->object, m->doubtful, (long long)v->n_past, v->first, v->last, m->advice);
    else if (found == MODAL_SOUND)
        snprintf(text, sizeof text, "%s: at worst %s %.2g at %.6g Hz", modal_verdicts[found], m->name, v->worst, v->at);
    else
        snprintf(text, sizeof text, "%s: %s", modal_verdicts[found], missing);
    if (found == MODAL_DOUBTFUL) tool_warn(t, "the response is %s", text);
    else tool_note(t, "the response is %s", text);
    if (!r->require_sound || found == MODAL_SOUND) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_NOT_CONVERGED, "--require-ok: %s: the response is %s", r->trajectory_path, text);
}

modal_status modalsim_response(tool *t, const modalsim_request *r, const modal_scene *scene, const modal_basis *basis,
                               tool_output *output, modal_error *err)
{
    modal_status status = MODAL_OK;
    static const char *const moving[] = {"backend", "checkpoint", "restart", "keep-partial", "velocities"};
    modal_file_out to = {.file = -1};
    modal_response *response = NULL;
    double *values = NULL, *frequencies = NULL;
    int64_t points = 0;
    char *row = NULL;
    verdict judged = {0};
    const double start = tool_seconds();
    for (size_t i = 0; i < sizeof moving / sizeof *moving; i++)
        if (tool_count(&t->arguments, moving[i]) > 0)
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--%s: not with a response, which has no steps, %s", moving[i],
                       r->scene_path);
    status = modal_response_new(&response, scene, basis, err);
    if (status != MODAL_OK) goto named;
    MODAL_TRY(say_vertices(t, scene, basis, "forces", scene->n_forces, scene->forces, err));
    MODAL_TRY(say_vertices(t, scene, basis, "response/probes", scene->response.n_probes, scene->response.probes, err));
    const int64_t n = modal_response_count(response);
    MODAL_TRY(modal_response_frequencies(response, &frequencies, &points, err));
    judged.missing = r->quality == MODALSIM_QUALITY_STEPS ? MODAL_MISSING_LOADS : modal_response_missing(response);
    MODAL_TRY(modal_alloc(&values, 2 * n, sizeof(double), "table", err));
    MODAL_TRY(modal_alloc(&row, (2 * n + 1) * (MODAL_NUMBER_TEXT + 1), 1, "table", err));
    MODAL_TRY(modal_file_out_open(&to, output->temporary, err));
    MODAL_TRY(put_head(&to, scene, basis, err));
    for (int64_t i = 0; i < points; i++) {
        const double f = frequencies[i];
        status = modal_response_at(response, f, values, values + n, err);
        if (status != MODAL_OK) goto named;
        judge_row(&judged, response, f);
        char *end = modal_put_double(row, f);
        for (int64_t c = 0; c < 2 * n; c++) {
            *end++ = ',';
            end = modal_put_double(end, values[c / 2 + c % 2 * n]);
        }
        *end++ = '\n';
        MODAL_TRY(put(&to, row, end, err));
        MODAL_TRY(modal_progress_report(&t->progress, "response", (double)i / (double)points, err));
    }
    MODAL_TRY(modal_file_out_close(&to, err));
    MODAL_TRY(tool_output_complete(output, err));
    json_object_set_new(t->report, "points", json_integer(points));
    tool_note(t, "%lld frequencies, %lld of them around natural ones, %lld amplitudes and phases each", (long long)points,
              (long long)(points - scene->response.n_points), (long long)n);
    tool_stage(t, "response", tool_seconds() - start, -1);
    MODAL_TRY(tell_verdict(t, r, &judged, err));
    goto done;
named:
    modal_error_context(err, "%s", r->scene_path);
done:
    modal_file_out_free(&to);
    modal_response_delete(response);
    modal_free(&values);
    modal_free(&frequencies);
    modal_free(&row);
    return status;
}
