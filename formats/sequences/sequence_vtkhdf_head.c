/* SPDX-License-Identifier: Apache-2.0 */
/* All of a sequence.vtkhdf that does not move: types and versions, cells, steps. */
#include <string.h>

#include "formats/h5/provenance_h5.h"
#include "formats/sequences/sequence_parts.h"
#include "lib/base/memory.h"

const char *const modal_sequence_topologies[SEQUENCE_TOPOLOGIES] = {"Vertices", "Lines", "Polygons",
                                                                    "Strips"};

static modal_status failed(const char *where, const char *what, modal_error *err)
{
    return modal_h5_failed(err, MODAL_ERROR_SYSTEM, where, what);
}

/* VTK wants this one attribute as a fixed-length ASCII string of exactly its length, NULLPAD. */
static modal_status write_type(hid_t group, const char *text, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1), attribute = H5I_INVALID_HID;
    if (space < 0 || type < 0 || H5Tset_size(type, strlen(text)) < 0 ||
        H5Tset_strpad(type, H5T_STR_NULLPAD) < 0 || H5Tset_cset(type, H5T_CSET_ASCII) < 0 ||
        (attribute = H5Acreate2(group, "Type", type, space, H5P_DEFAULT, H5P_DEFAULT)) < 0 ||
        H5Awrite(attribute, type, text) < 0)
        status = failed("/VTKHDF@Type", "cannot be written", err);
    if (attribute >= 0) H5Aclose(attribute);
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    return status;
}

static modal_status write_version(hid_t group, modal_error *err)
{
    const int64_t version[2] = {2, 0};
    const hsize_t two = 2;
    modal_status status = MODAL_OK;
    hid_t space = H5Screate_simple(1, &two, NULL), attribute = H5I_INVALID_HID;
    if (space < 0 ||
        (attribute = H5Acreate2(group, "Version", H5T_STD_I64LE, space, H5P_DEFAULT,
                                H5P_DEFAULT)) < 0 ||
        H5Awrite(attribute, H5T_NATIVE_INT64, version) < 0)
        status = failed("/VTKHDF@Version", "cannot be written", err);
    if (attribute >= 0) H5Aclose(attribute);
    if (space >= 0) H5Sclose(space);
    return status;
}

static modal_status write_i64(hid_t group, const char *name, int64_t n, const int64_t *values,
                              modal_error *err)
{
    return modal_h5_write_array(group, name, MODAL_H5_I64, 1, &n, values, err);
}

static modal_status write_cells(hid_t vtk, const modal_sequence_info *info, int kind,
                                modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t cells = kind == SEQUENCE_POLYGONS ? info->n_triangles : 0, ids = 3 * cells;
    int64_t *offsets = NULL;
    hid_t group = H5I_INVALID_HID;
    MODAL_TRY(modal_alloc(&offsets, cells + 1, sizeof *offsets, "cell offsets", err));
    for (int64_t i = 0; i <= cells; i++) offsets[i] = 3 * i;
    MODAL_TRY(modal_h5_make_group(vtk, modal_sequence_topologies[kind], &group, err));
    MODAL_TRY(write_i64(group, "NumberOfCells", 1, &cells, err));
    MODAL_TRY(write_i64(group, "NumberOfConnectivityIds", 1, &ids, err));
    MODAL_TRY(write_i64(group, "Offsets", cells + 1, offsets, err));
    MODAL_TRY(write_i64(group, "Connectivity", ids, info->triangles, err));
done:
    modal_free(&offsets);
    return modal_h5_end_group(&group, status, err);
}

/* Those of a solid lie in /VTKHDF itself; /modal has them once more, as XDMF wants cells of several
 * types. */
static modal_status write_volume(hid_t vtk, hid_t modal, const modal_sequence_cells *cells, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = cells->n_cells, ids = cells->offsets[n];
    int64_t *mixed = NULL, n_mixed = 0;
    MODAL_TRY(write_i64(vtk, "NumberOfCells", 1, &n, err));
    MODAL_TRY(write_i64(vtk, "NumberOfConnectivityIds", 1, &ids, err));
    MODAL_TRY(write_i64(vtk, "Offsets", n + 1, cells->offsets, err));
    MODAL_TRY(write_i64(vtk, "Connectivity", ids, cells->connectivity, err));
    MODAL_TRY(modal_h5_write_array(vtk, "Types", MODAL_H5_U8, 1, &n, cells->types, err));
    MODAL_TRY(modal_sequence_mixed_topology(cells, &mixed, &n_mixed, err));
    MODAL_TRY(write_i64(modal, "xdmf_topology", n_mixed, mixed, err));
done:
    modal_free(&mixed);
    return status;
}

/* The places of the frames in the moving arrays, all known before the first one. */
static modal_status write_steps(hid_t vtk, const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = info->n_frames, by_kind[2] = {n, info->volume ? 1 : SEQUENCE_TOPOLOGIES};
    int64_t *zeros = NULL, *ones = NULL, *rows = NULL;
    hid_t group = H5I_INVALID_HID, offsets = H5I_INVALID_HID, cell_offsets = H5I_INVALID_HID;
    MODAL_TRY(modal_alloc_zero(&zeros, n * SEQUENCE_TOPOLOGIES, sizeof *zeros, "steps", err));
    MODAL_TRY(modal_alloc(&ones, n, sizeof *ones, "steps", err));
    MODAL_TRY(modal_alloc(&rows, n, sizeof *rows, "steps", err));
    for (int64_t f = 0; f < n; f++) {
        ones[f] = 1;
        rows[f] = f * info->n_points;
    }
    MODAL_TRY(modal_h5_make_group(vtk, "Steps", &group, err));
    MODAL_TRY(modal_h5_write_integer(group, "NSteps", n, err));
    MODAL_TRY(modal_h5_write_array(group, "Values", MODAL_H5_F64, 1, &n, info->times, err));
    MODAL_TRY(write_i64(group, "PartOffsets", n, zeros, err));
    MODAL_TRY(write_i64(group, "NumberOfParts", n, ones, err));
    MODAL_TRY(write_i64(group, "PointOffsets", n, rows, err));
    MODAL_TRY(modal_h5_write_array(group, "CellOffsets", MODAL_H5_I64, 2, by_kind, zeros, err));
    MODAL_TRY(
        modal_h5_write_array(group, "ConnectivityIdOffsets", MODAL_H5_I64, 2, by_kind, zeros, err));
    MODAL_TRY(modal_h5_make_group(group, "PointDataOffsets", &offsets, err));
    for (int i = 1; i < info->arrays.n; i++)
        if (!info->arrays.all[i].of_cells) MODAL_TRY(write_i64(offsets, info->arrays.all[i].name, n, rows, err));
    if (modal_sequence_has_cell_arrays(&info->arrays))
        MODAL_TRY(modal_h5_make_group(group, "CellDataOffsets", &cell_offsets, err));
    for (int64_t f = 0; f < n; f++) rows[f] = f * modal_sequence_n_cells(info);
    for (int i = 1; i < info->arrays.n; i++)
        if (info->arrays.all[i].of_cells) MODAL_TRY(write_i64(cell_offsets, info->arrays.all[i].name, n, rows, err));
done:
    status = modal_h5_end_group(&cell_offsets, status, err);
    status = modal_h5_end_group(&offsets, status, err);
    modal_free(&zeros);
    modal_free(&ones);
    modal_free(&rows);
    return modal_h5_end_group(&group, status, err);
}

/* What every frame has: texture coordinates, colours. */
static modal_status write_lasting(hid_t vtk, const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_sequence_texture *texture = info->texture;
    const int64_t dims[2] = {info->n_points, 2}, wide[2] = {info->n_points, texture && texture->colours ? 4 : texture ? texture->components : 0};
    int64_t *zeros = NULL;
    hid_t points = H5I_INVALID_HID, steps = H5I_INVALID_HID, offsets = H5I_INVALID_HID;
    MODAL_TRY(modal_alloc_zero(&zeros, info->n_frames, sizeof *zeros, "steps", err));
    MODAL_TRY(modal_h5_make_group(vtk, "PointData", &points, err));
    if (info->uv) MODAL_TRY(modal_h5_write_array(points, "TCoords", MODAL_H5_F32, 2, dims, info->uv, err));
    if (texture && texture->colours) MODAL_TRY(modal_h5_write_array(points, "colour", MODAL_H5_U8, 2, wide, texture->colours, err));
    else if (texture) MODAL_TRY(modal_h5_write_array(points, "colour", MODAL_H5_F32, wide[1] > 1 ? 2 : 1, wide, texture->numbers, err));
    if ((steps = H5Gopen2(vtk, "Steps", H5P_DEFAULT)) < 0 || (offsets = H5Gopen2(steps, "PointDataOffsets", H5P_DEFAULT)) < 0)
        MODAL_TRY(failed("/VTKHDF/Steps", "cannot be opened", err));
    if (info->uv) MODAL_TRY(write_i64(offsets, "TCoords", info->n_frames, zeros, err));
    if (texture) MODAL_TRY(write_i64(offsets, "colour", info->n_frames, zeros, err));
done:
    modal_free(&zeros);
    status = modal_h5_end_group(&offsets, status, err);
    status = modal_h5_end_group(&steps, status, err);
    return modal_h5_end_group(&points, status, err);
}

static modal_status write_modal(hid_t group, const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (info->basis_hash) MODAL_TRY(modal_h5_write_text(group, "basis_hash", info->basis_hash, err));
    MODAL_TRY(modal_h5_write_text(group, "source_kind", info->source_kind, err));
    MODAL_TRY(modal_h5_write_text(group, "source_hash", info->source_hash, err));
    MODAL_TRY(modal_sequence_write_list(group, &info->arrays, err));
    MODAL_TRY(modal_h5_write_text(group, "units", "m, s", err));
    if (info->precision > 0)
        MODAL_TRY(modal_h5_write_number(group, "precision", info->precision, err));
    MODAL_TRY(modal_provenance_write(group, info->provenance, info->n_provenance, err));
done:
    return status;
}

modal_status modal_sequence_write_head(hid_t file, hid_t *vtk, const modal_sequence_info *info,
                                       modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t modal = H5I_INVALID_HID;
    MODAL_TRY(modal_h5_write_text(file, "modal_format", MODAL_SEQUENCE_TYPE, err));
    MODAL_TRY(modal_h5_write_text(file, "modal_format_version", MODAL_SEQUENCE_VERSION_TEXT, err));
    MODAL_TRY(modal_h5_make_group(file, "modal", &modal, err));
    MODAL_TRY(write_modal(modal, info, err));
    MODAL_TRY(modal_h5_make_group(file, "VTKHDF", vtk, err));
    MODAL_TRY(write_version(*vtk, err));
    MODAL_TRY(write_type(*vtk, info->volume ? "UnstructuredGrid" : "PolyData", err));
    MODAL_TRY(write_i64(*vtk, "NumberOfPoints", 1, &info->n_points, err));
    if (info->volume) MODAL_TRY(write_volume(*vtk, modal, info->volume, err));
    for (int kind = 0; !info->volume && kind < SEQUENCE_TOPOLOGIES; kind++)
        MODAL_TRY(write_cells(*vtk, info, kind, err));
    MODAL_TRY(write_steps(*vtk, info, err));
    if (info->uv || info->texture) MODAL_TRY(write_lasting(*vtk, info, err));
done:
    return modal_h5_end_group(&modal, status, err);
}
