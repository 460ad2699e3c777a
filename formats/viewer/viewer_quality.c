/* SPDX-License-Identifier: Apache-2.0 */
/* How far the frames of a trajectory may be trusted, for the bar under the time line. */
#include <stdio.h>
#include <string.h>

#include "formats/viewer/viewer_private.h"

/* What is said of some frames with the same rating: of each measure that is past its limit, or of what is missing. */
static json_t *describe_part(const modal_trajectory *t, modal_verdict verdict, int64_t first, int64_t end)
{
    char reason[4 * MODAL_QUALITY_TEXT] = "", one[MODAL_QUALITY_TEXT];
    modal_quality_judgement j = {0};
    size_t used = 0;
    for (int64_t i = first; i < end; i++) modal_quality_judge(&j, i, t->times[i], t->quality ? &t->quality[i] : NULL);
    if (verdict == MODAL_NOT_JUDGED) modal_quality_missing_text(j.missing, reason, sizeof reason);
    for (int i = 0; i < MODAL_QUALITY_MEASURES && used < sizeof reason; i++) {
        if (verdict <= MODAL_SOUND || j.of[i].verdict <= MODAL_SOUND) continue;
        modal_quality_text(&j, i, one, sizeof one);
        used += (size_t)snprintf(reason + used, sizeof reason - used, "%s%s", used ? "\n" : "", one);
    }
    const char *material = modal_provenance_assumed(t->provenance, t->n_provenance);
    used = strlen(reason);
    if (material && used < sizeof reason)
        snprintf(reason + used, sizeof reason - used, "%smaterial assumed: %.64s", used ? "\n" : "", material);
    return json_pack("{s:s, s:I, s:I, s:s}", "rating", modal_verdicts[verdict], "first", (json_int_t)first, "end", (json_int_t)end,
                     "reason", reason);
}

json_t *modal_viewer_quality(const modal_trajectory *t)
{
    json_t *parts = json_array();
    if (!t->quality) json_array_append_new(parts, describe_part(t, MODAL_NOT_JUDGED, 0, t->n_frames));
    for (int64_t first = 0, end; t->quality && first < t->n_frames; first = end) {
        int measure;
        const modal_verdict verdict = modal_quality_verdict(&t->quality[first], &measure);
        end = first + 1;
        while (end < t->n_frames && modal_quality_verdict(&t->quality[end], &measure) == verdict) end++;
        json_array_append_new(parts, describe_part(t, verdict, first, end));
    }
    return parts;
}
