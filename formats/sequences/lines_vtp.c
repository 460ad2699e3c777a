/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/sequences/lines_vtp.h"

#include <inttypes.h>

static modal_status put_floats(modal_file_out *out, const char *name, int components, const float *values, int64_t n,
                               modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_file_out_printf(out, err,
                                    "<DataArray type=\"Float32\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"ascii\">\n", name,
                                    components));
    for (int64_t i = 0; i < components * n; i++) MODAL_TRY(modal_file_out_printf(out, err, "%.9g\n", (double)values[i]));
    MODAL_TRY(modal_file_out_printf(out, err, "</DataArray>\n"));
done:
    return status;
}

static modal_status put_lines(modal_file_out *out, const modal_lines_vtp *l, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_file_out_printf(out, err, "<Lines>\n<DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">\n"));
    for (int64_t i = 0; i < l->n_points; i++) MODAL_TRY(modal_file_out_printf(out, err, "%" PRId64 "\n", i));
    MODAL_TRY(modal_file_out_printf(out, err, "</DataArray>\n<DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">\n"));
    for (int64_t i = 0; i < l->n_lines; i++) MODAL_TRY(modal_file_out_printf(out, err, "%" PRId64 "\n", l->offsets[i + 1]));
    MODAL_TRY(modal_file_out_printf(out, err, "</DataArray>\n</Lines>\n"));
done:
    return status;
}

modal_status modal_lines_vtp_write(modal_file_out *out, const char *folder, int64_t frame, double time,
                                   const modal_lines_vtp *l, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_file_out_open_frame(out, folder, frame, "vtp", err));
    MODAL_TRY(modal_file_out_printf(
        out, err,
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\">\n<PolyData>\n"
        "<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">%.17g</DataArray>\n"
        "</FieldData>\n<Piece NumberOfPoints=\"%" PRId64 "\" NumberOfVerts=\"0\" NumberOfLines=\"%" PRId64
        "\" NumberOfStrips=\"0\" NumberOfPolys=\"0\">\n<PointData>\n",
        time, l->n_points, l->n_lines));
    MODAL_TRY(put_floats(out, "curvature", 1, l->curvature, l->n_points, err));
    MODAL_TRY(modal_file_out_printf(out, err, "</PointData>\n<CellData>\n"));
    MODAL_TRY(put_floats(out, "strength", 1, l->strength, l->n_lines, err));
    MODAL_TRY(modal_file_out_printf(out, err, "<DataArray type=\"UInt8\" Name=\"valley\" format=\"ascii\">\n"));
    for (int64_t i = 0; i < l->n_lines; i++) MODAL_TRY(modal_file_out_printf(out, err, "%d\n", l->valley[i]));
    MODAL_TRY(modal_file_out_printf(out, err, "</DataArray>\n</CellData>\n<Points>\n"));
    MODAL_TRY(put_floats(out, "Points", 3, l->points, l->n_points, err));
    MODAL_TRY(modal_file_out_printf(out, err, "</Points>\n"));
    MODAL_TRY(put_lines(out, l, err));
    MODAL_TRY(modal_file_out_printf(out, err, "</Piece>\n</PolyData>\n</VTKFile>\n"));
    MODAL_TRY(modal_file_out_close(out, err));
done:
    return status;
}
