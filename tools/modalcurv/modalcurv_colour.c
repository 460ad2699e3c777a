/* SPDX-License-Identifier: Apache-2.0 */
/* --colour: which field the .ply files show, and how far its map goes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/sequences/sequence_ply.h"
#include "lib/base/quantiles.h"
#include "tools/modalcurv/modalcurv.h"

modal_status modalcurv_read_colour(const tool_arguments *a, modalcurv_request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const char *text = tool_value(a, "colour");
    int ply = 0;
    r->coloured = -1;
    if (!text) return MODAL_OK;
    const size_t length = strcspn(text, ":");
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++) {
        const modal_array *array = &modal_curvature_arrays[i];
        if (array->components == 1 && strlen(array->name) == length && strncmp(array->name, text, length) == 0) r->coloured = i;
    }
    if (r->coloured < 0 || r->coloured == MODAL_BOUNDARY || r->coloured == MODAL_FIT_DEGREE)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--colour: no field that has a map, %.*s", (int)length, text);
    if (text[length] == ':') {
        char *end;
        r->colour_range = strtod(text + length + 1, &end);
        if (end == text + length + 1 || *end || !(r->colour_range > 0.0 && r->colour_range <= 1e30))
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--colour: range not above 0, up to 1e30, %s", text + length + 1);
    }
    for (int i = 0; i < r->n_formats; i++) ply |= r->formats[i] == &modal_sequence_ply;
    if (!ply) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--colour: only with --format ply, %s", text);
done:
    return status;
}

modal_status modalcurv_range_of(const modalcurv_request *r, const float *values, int64_t n, float *scratch,
                                modal_sequence_colour *colour, modal_error *err)
{
    colour->middle = modal_curvature_is_stretch((modal_curvature_field)r->coloured) ? 1.0 : 0.0;
    colour->range = r->colour_range;
    if (colour->range > 0.0) return MODAL_OK;
    double quantiles[5];
    modal_quantiles(values, n, scratch, quantiles);
    colour->range = fmax(fabs(quantiles[1] - colour->middle), fabs(quantiles[3] - colour->middle));
    if (colour->range > 0.0) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_USAGE, "--colour: the first frame has no range, say %s:RANGE",
                           modal_curvature_arrays[r->coloured].name);
}
