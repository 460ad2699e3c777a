/* SPDX-License-Identifier: Apache-2.0 */
/* --lines: ridges and valleys of every frame. */
#include <string.h>

#include "formats/sequences/lines_vtp.h"
#include "lib/curvature/lines.h"
#include "tools/modalcurv/modalcurv.h"

modal_status modalcurv_read_lines(const tool_arguments *a, modalcurv_request *r, modal_error *err)
{
    static const char *const kinds[] = {"ridges", "valleys"};
    modal_status status = MODAL_OK;
    const char *c = tool_value(a, "lines");
    MODAL_TRY(tool_number(a, "strength", 0.0, 1e30, &r->strength, err));
    if (!c && tool_count(a, "strength")) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--strength: only with --lines");
    for (; c; c = *c == ',' ? c + 1 : NULL) {
        const size_t length = strcspn(c, ",");
        int i = 0;
        while (i < 2 && (strlen(kinds[i]) != length || strncmp(c, kinds[i], length) != 0)) i++;
        if (i == 2) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--lines: not ridges or valleys, %.*s", (int)length, c);
        if (r->lines[i]++) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--lines: twice, %s", kinds[i]);
        c += length;
    }
done:
    return status;
}

void modalcurv_need_lines(const modalcurv_request *r, int fields[MODAL_CURVATURE_FIELDS])
{
    static const modal_curvature_field needed[] = {MODAL_K_MAX, MODAL_K_MIN, MODAL_DIRECTION_MAX, MODAL_DIRECTION_MIN,
                                                   MODAL_CURVATURE_DERIVATIVE};
    for (size_t i = 0; (r->lines[0] || r->lines[1]) && i < sizeof needed / sizeof *needed; i++) fields[needed[i]] = 1;
}

modal_status modalcurv_write_lines(const modalcurv_request *r, const modalcurv_input *in, const modalcurv_outputs *out,
                                   int64_t frame, const float *positions, const float *const fields[MODAL_CURVATURE_FIELDS],
                                   modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_lines lines = {0};
    modal_file_out file = {.file = -1};
    const modal_lines_surface surface = {.n_vertices = in->n_vertices,
                                         .n_triangles = in->n_triangles,
                                         .triangles = in->triangles,
                                         .positions = positions,
                                         .k_max = fields[MODAL_K_MAX],
                                         .k_min = fields[MODAL_K_MIN],
                                         .direction_max = fields[MODAL_DIRECTION_MAX],
                                         .direction_min = fields[MODAL_DIRECTION_MIN],
                                         .derivative = fields[MODAL_CURVATURE_DERIVATIVE]};
    for (int i = 0; i < 2; i++)
        if (r->lines[i]) MODAL_TRY(modal_lines_find(&surface, i, r->strength, &lines, err));
    const modal_lines_vtp to = {lines.n_points, lines.n_lines, lines.points, lines.curvature, lines.offsets, lines.strength,
                                lines.valley};
    MODAL_TRY(modal_lines_vtp_write(&file, out->lines, frame, in->times[frame], &to, err));
done:
    modal_file_out_free(&file);
    modal_lines_free(&lines);
    return status;
}
