/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/quality.h"

#include <stdio.h>

enum { TOOL_VERDICT = 128 };

static void set_integer(json_t *object, const char *key, int64_t value)
{
    json_object_set_new(object, key, json_integer(value));
}

/* "ok", or "ok (material assumed: abs)". */
static void name_verdict(const modal_quality_judgement *j, char text[TOOL_VERDICT])
{
    snprintf(text, TOOL_VERDICT, "%s%s%.64s%s", modal_verdicts[j->verdict], j->assumed_material ? " (material assumed: " : "",
             j->assumed_material ? j->assumed_material : "", j->assumed_material ? ")" : "");
}

json_t *tool_quality_json(const modal_quality_judgement *j)
{
    json_t *quality = json_object(), *measures = json_array();
    json_object_set_new(quality, "rating", json_string(modal_verdicts[j->verdict]));
    if (j->assumed_material) json_object_set_new(quality, "assumed_material", json_string(j->assumed_material));
    for (int i = 0; i < MODAL_QUALITY_MEASURES; i++) {
        const modal_quality_finding *f = &j->of[i];
        char text[MODAL_QUALITY_TEXT];
        if (f->verdict == MODAL_NOT_JUDGED) continue;
        json_t *one = json_object();
        modal_quality_text(j, i, text, sizeof text);
        json_object_set_new(one, "name", json_string(modal_quality_measures[i].name));
        json_object_set_new(one, "rating", json_string(modal_verdicts[f->verdict]));
        json_object_set_new(one, "worst", json_real(f->worst));
        set_integer(one, "frame", f->frame);
        json_object_set_new(one, "time", json_real(f->time));
        if (f->object >= 0) set_integer(one, "object", f->object);
        if (f->element >= 0) set_integer(one, "element", f->element);
        set_integer(one, "frames_past", f->n_past);
        if (f->n_past > 0) {
            set_integer(one, "first_past", f->first);
            set_integer(one, "last_past", f->last);
        }
        json_object_set_new(one, "text", json_string(text));
        json_array_append_new(measures, one);
    }
    json_object_set_new(quality, "indicators", measures);
    if (j->missing) {
        char text[TOOL_QUALITY_SUMMARY];
        modal_quality_missing_text(j->missing, text, sizeof text);
        json_object_set_new(quality, "missing", json_string(text));
    }
    return quality;
}

void tool_quality_summary(const modal_quality_judgement *j, char text[TOOL_QUALITY_SUMMARY])
{
    char verdict[TOOL_VERDICT];
    name_verdict(j, verdict);
    int used = snprintf(text, TOOL_QUALITY_SUMMARY, "%s", verdict), n = 0;
    for (int i = 0; i < MODAL_QUALITY_MEASURES && used < TOOL_QUALITY_SUMMARY; i++) {
        char one[MODAL_QUALITY_TEXT];
        if (j->of[i].verdict <= MODAL_SOUND) continue;
        modal_quality_text(j, i, one, sizeof one);
        used += snprintf(text + used, (size_t)(TOOL_QUALITY_SUMMARY - used), "%s%s", n++ ? "; " : ": ", one);
    }
    if (j->verdict != MODAL_NOT_JUDGED || used >= TOOL_QUALITY_SUMMARY - 2) return;
    used += snprintf(text + used, (size_t)(TOOL_QUALITY_SUMMARY - used), ": ");
    modal_quality_missing_text(j->n_frames > 0 ? j->missing : MODAL_MISSING_ALL, text + used, (size_t)(TOOL_QUALITY_SUMMARY - used));
}

void tool_quality_say(tool *t, const modal_quality_judgement *j)
{
    char text[MODAL_QUALITY_TEXT], all[MODAL_QUALITY_TEXT], verdict[TOOL_VERDICT];
    size_t used = 0;
    name_verdict(j, verdict);
    all[0] = '\0';
    for (int i = 0; i < MODAL_QUALITY_MEASURES; i++) {
        const modal_quality_finding *f = &j->of[i];
        if (f->verdict > MODAL_SOUND) {
            modal_quality_text(j, i, text, sizeof text);
            tool_warn(t, "the motion is %s: %s", modal_verdicts[f->verdict], text);
        } else if (f->verdict == MODAL_SOUND && used < sizeof all) {
            used += (size_t)snprintf(all + used, sizeof all - used, "%s%s %.2g", used ? ", " : "", modal_quality_measures[i].name,
                                     f->worst);
        }
    }
    if (j->verdict == MODAL_SOUND) tool_note(t, "the motion is %s%s%s", verdict, used ? ": at worst " : "", all);
    if (j->missing) {
        char missing[TOOL_QUALITY_SUMMARY];
        modal_quality_missing_text(j->missing, missing, sizeof missing);
        tool_note(t, "the motion is %s: %s", j->verdict == MODAL_NOT_JUDGED ? verdict : "judged in part", missing);
    }
    if (j->verdict > MODAL_SOUND && j->assumed_material) tool_note(t, "the motion is %s", verdict);
}

void tool_say_assumed(tool *t, const char *path, const modal_provenance *steps, int32_t n_steps)
{
    const char *material = modal_provenance_assumed(steps, n_steps);
    if (material) tool_note(t, "%s: material assumed: %s", path, material);
}

modal_status tool_require_sound(const modal_quality_judgement *j, const char *path, modal_error *err)
{
    char text[TOOL_QUALITY_SUMMARY];
    if (j->verdict == MODAL_SOUND) return MODAL_OK;
    tool_quality_summary(j, text);
    return modal_error_set(err, MODAL_ERROR_NOT_CONVERGED, "--require-ok: %s: the motion is %s", path, text);
}
