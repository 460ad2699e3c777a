/* SPDX-License-Identifier: Apache-2.0 */
/* How far a trajectory may be trusted, as the tools say it. */
#ifndef TOOLS_QUALITY_H
#define TOOLS_QUALITY_H

#include <jansson.h>

#include "lib/model/basis.h"
#include "lib/model/quality.h"
#include "tools/common/tool.h"

/* {"rating": "suspect", "indicators": [{"name": "force_truncation", ...}]}: every indicator that was measured; "missing": what was
 * not, in words. The caller owns it. */
json_t *tool_quality_json(const modal_quality_judgement *judgement);

enum { TOOL_QUALITY_SUMMARY = 4 * MODAL_QUALITY_TEXT };
/* "suspect: force_truncation 0.3 in ...; rotation 12 ...": the rating, and all that is past its limit. */
void tool_quality_summary(const modal_quality_judgement *judgement, char text[TOOL_QUALITY_SUMMARY]);

/* One line if the material of the file was assumed: of tools that print no rating. */
void tool_say_assumed(tool *t, const char *path, const modal_provenance *steps, int32_t n_steps);

/* MODAL_ERROR_NOT_CONVERGED, exit code 5, unless the motion is ok. */
modal_status tool_require_sound(const modal_quality_judgement *judgement, const char *path, modal_error *err);

/* One line of notes where the motion is ok, warnings where it is not, a note of what was not measured. */
void tool_quality_say(tool *t, const modal_quality_judgement *judgement);

#endif
