/* SPDX-License-Identifier: Apache-2.0 */
/* The checker of sequence.vtkhdf and of the sidecar beside it: every MUST of formats/sequence.md. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/h5/h5_util.h"
#include "formats/h5/provenance_h5.h"
#include "formats/h5/rules.h"
#include "formats/sequences/sequence_checked.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"

enum { PIECE_ROWS = 1 << 18 }; /* of a moving array that are looked at at once: 3 MB */

static modal_status hdf5_failed(const sequence_checked *c, const char *where)
{
    modal_error text = {0};
    modal_h5_failed(&text, MODAL_ERROR_INPUT, where, "cannot be read");
    return modal_broken(&c->in.checker, where, "%s", text.message + strlen(where) + 2);
}

/* ---- the two attributes that VTK reads in its own strict way ---- */

static modal_status check_version(const sequence_checked *c, const modal_h5_place *vtk)
{
    static const char where[] = "/VTKHDF@Version";
    modal_status status = MODAL_OK;
    int64_t version[2] = {-1, -1};
    if (H5Aexists(vtk->id, "Version") <= 0) return modal_broken(&c->in.checker, where, "missing");
    hid_t attribute = H5Aopen(vtk->id, "Version", H5P_DEFAULT), type = H5I_INVALID_HID;
    hid_t space = H5I_INVALID_HID;
    if (attribute >= 0) {
        type = H5Aget_type(attribute);
        space = H5Aget_space(attribute);
    }
    hsize_t length = 0;
    if (type < 0 || space < 0)
        status = hdf5_failed(c, where);
    else if ((H5Tequal(type, H5T_STD_I64LE) <= 0 && H5Tequal(type, H5T_STD_I64BE) <= 0) ||
             H5Sget_simple_extent_ndims(space) != 1 || H5Sget_simple_extent_dims(space, &length, NULL) != 1 || length != 2)
        status = modal_broken(&c->in.checker, where, "must be two 64-bit integers");
    else if (H5Aread(attribute, H5T_NATIVE_INT64, version) < 0)
        status = hdf5_failed(c, where);
    else if (version[0] != 2 || version[1] != 0)
        status = modal_broken(&c->in.checker, where, "must be 2 0, is %" PRId64 " %" PRId64,
                              version[0], version[1]);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    if (attribute >= 0) H5Aclose(attribute);
    return status;
}

/* *volume: it is a solid. */
static modal_status check_type(const sequence_checked *c, const modal_h5_place *vtk, int *volume)
{
    static const char where[] = "/VTKHDF@Type", surface[] = "PolyData", solid[] = "UnstructuredGrid";
    modal_status status = MODAL_OK;
    char text[sizeof solid] = "";
    *volume = 0;
    if (H5Aexists(vtk->id, "Type") <= 0) return modal_broken(&c->in.checker, where, "missing");
    hid_t attribute = H5Aopen(vtk->id, "Type", H5P_DEFAULT), type = H5I_INVALID_HID;
    hid_t space = H5I_INVALID_HID;
    if (attribute >= 0) {
        type = H5Aget_type(attribute);
        space = H5Aget_space(attribute);
    }
    *volume = type >= 0 && H5Tget_size(type) == strlen(solid);
    const char *expected = *volume ? solid : surface;
    const size_t length = strlen(expected);
    if (type < 0 || space < 0)
        status = hdf5_failed(c, where);
    else if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 ||
             H5Tget_size(type) != length || H5Tget_strpad(type) != H5T_STR_NULLPAD ||
             H5Tget_cset(type) != H5T_CSET_ASCII ||
             H5Sget_simple_extent_type(space) != H5S_SCALAR)
        status = modal_broken(&c->in.checker, where,
                              "must be one ASCII text of fixed length %zu, padded with NUL", length);
    else if (H5Aread(attribute, type, text) < 0)
        status = hdf5_failed(c, where);
    else if (memcmp(text, expected, length) != 0)
        status = modal_broken(&c->in.checker, where, "must be %s, is %.16s", expected, text);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    if (attribute >= 0) H5Aclose(attribute);
    return status;
}

/* Whether the file tells how many rows array i has in a frame. */
static int knows_rows(const sequence_checked *c, int i)
{
    return c->info.arrays.all[i].of_cells ? c->info.volume || c->info.n_triangles >= 0 : c->info.n_points >= 0;
}

/* ---- steps ---- */

static modal_status check_steps(sequence_checked *c, const modal_h5_place *vtk)
{
    modal_status status = MODAL_OK;
    modal_h5_place steps = {H5I_INVALID_HID, ""}, offsets = steps, cell_offsets = steps;
    int64_t n = -1, dims[1] = {-1};
    const int kinds = c->info.volume ? 1 : SEQUENCE_TOPOLOGIES;
    MODAL_TRY(modal_h5_enter(&c->in, vtk, "Steps", MODAL_H5_REQUIRED, &steps));
    if (steps.id < 0) goto done;
    MODAL_TRY(modal_h5_read_integer(&c->in, &steps, "NSteps", 1, 999999, &n));
    MODAL_TRY(modal_h5_read_array(&c->in, &steps, "Values", MODAL_H5_F64, 1, dims,
                                  MODAL_H5_REQUIRED, &c->times));
    if (c->times && n >= 0 && dims[0] != n)
        MODAL_TRY(modal_broken(&c->in.checker, "/VTKHDF/Steps/Values",
                               "one time a step, has %" PRId64 " for %" PRId64, dims[0], n));
    if (!c->times || n < 0 || dims[0] != n) goto done; /* nothing else can be compared */
    c->info.n_frames = n;
    c->info.times = c->times;
    MODAL_TRY(modal_rule_finite(&c->in.checker, "/VTKHDF/Steps/Values", c->times, n, 1,
                                (modal_axes){"frame", NULL}));
    for (int64_t f = 1; f < n; f++)
        if (c->times[f] <= c->times[f - 1]) {
            MODAL_TRY(modal_broken(&c->in.checker, "/VTKHDF/Steps/Values",
                                   "frame %" PRId64 ": not after the one before, %.17g", f,
                                   c->times[f]));
            break;
        }
    MODAL_TRY(modal_sequence_expect_array(c, &steps, "PartOffsets", n, 0, 0, 0));
    MODAL_TRY(modal_sequence_expect_array(c, &steps, "NumberOfParts", n, 0, 1, 0));
    MODAL_TRY(modal_sequence_expect_array(c, &steps, "CellOffsets", n, kinds, 0, 0));
    MODAL_TRY(modal_sequence_expect_array(c, &steps, "ConnectivityIdOffsets", n, kinds, 0, 0));
    if (c->info.n_points < 0) goto done;
    MODAL_TRY(modal_sequence_expect_array(c, &steps, "PointOffsets", n, 0, 0, c->info.n_points));
    MODAL_TRY(modal_h5_enter(&c->in, &steps, "PointDataOffsets", MODAL_H5_REQUIRED, &offsets));
    if (modal_sequence_has_cell_arrays(&c->info.arrays))
        MODAL_TRY(modal_h5_enter(&c->in, &steps, "CellDataOffsets", MODAL_H5_REQUIRED, &cell_offsets));
    for (int i = 1; i < c->info.arrays.n; i++) {
        const modal_array *a = &c->info.arrays.all[i];
        if (!a->of_cells || knows_rows(c, i))
            MODAL_TRY(modal_sequence_expect_array(c, a->of_cells ? &cell_offsets : &offsets, a->name, n, 0, 0,
                                                  modal_sequence_rows(&c->info, i)));
    }
done:
    modal_h5_leave(&cell_offsets);
    modal_h5_leave(&offsets);
    modal_h5_leave(&steps);
    return status;
}

/* ---- the moving arrays ---- */

static modal_status check_finite(sequence_checked *c, int array, modal_h5_rows *rows)
{
    const modal_array *a = &c->info.arrays.all[array];
    char where[MODAL_SEQUENCE_PATH];
    modal_status status = MODAL_OK;
    modal_error local = {0};
    float *piece = NULL;
    const int width = a->components;
    modal_sequence_path(&c->info.arrays, array, where);
    MODAL_TRY(modal_alloc(&piece, width * PIECE_ROWS, sizeof *piece, "rows", c->in.checker.err));
    for (int64_t row = 0; row < c->rows[array]; row += PIECE_ROWS) {
        int64_t n = c->rows[array] - row < PIECE_ROWS ? c->rows[array] - row : PIECE_ROWS, i = 0;
        status = modal_h5_rows_read(rows, row, n, piece, &local);
        if (status == MODAL_ERROR_INPUT) {
            status = modal_broken(&c->in.checker, where, "%s", local.message + strlen(where) + 2);
            goto done;
        }
        if (status != MODAL_OK) MODAL_FAIL(c->in.checker.err, status, "%s", local.message);
        while (i < width * n && piece[i] - piece[i] == 0.0f) i++; /* not so for NaN and infinities */
        if (i < width * n) {
            int64_t at = row + i / width, rows_now = knows_rows(c, array) ? modal_sequence_rows(&c->info, array) : INT64_MAX;
            status = modal_broken(&c->in.checker, where, "frame %" PRId64 ", %s %" PRId64 ": not finite, %g",
                                  at / rows_now, a->of_cells ? "cell" : "point", at % rows_now, (double)piece[i]);
            goto done; /* the first one is enough: a broken run has millions */
        }
    }
done:
    modal_free(&piece);
    return status;
}

static modal_status check_moving(sequence_checked *c, const modal_h5_place *root, const modal_h5_place *vtk)
{
    modal_status status = MODAL_OK;
    modal_h5_place modal = {H5I_INVALID_HID, ""}, data = modal, cells = modal;
    modal_h5_rows *rows = NULL;
    MODAL_TRY(modal_h5_enter(&c->in, root, "modal", MODAL_H5_OPTIONAL, &modal)); /* check_modal says where it is absent */
    MODAL_TRY(modal_sequence_read_list(&c->in, &modal, vtk, &c->info.arrays));
    MODAL_TRY(modal_h5_enter(&c->in, vtk, "PointData", MODAL_H5_OPTIONAL, &data)); /* the list said so */
    MODAL_TRY(modal_h5_enter(&c->in, vtk, "CellData", MODAL_H5_OPTIONAL, &cells));
    for (int i = 0; i < c->info.arrays.n; i++) {
        const modal_array *a = &c->info.arrays.all[i];
        int64_t dims[2] = {-1, a->components};
        MODAL_TRY(modal_h5_rows_open(&c->in, i == 0 ? vtk : a->of_cells ? &cells : &data, a->name, MODAL_H5_F32,
                                     dims[1] > 1 ? 2 : 1, dims, MODAL_H5_REQUIRED, &rows));
        c->rows[i] = dims[0];
        if (rows) MODAL_TRY(check_finite(c, i, rows));
        rows = modal_h5_rows_close(rows);
    }
done:
    modal_h5_rows_close(rows);
    modal_h5_leave(&cells);
    modal_h5_leave(&data);
    modal_h5_leave(&modal);
    return status;
}

/* Enters the two groups of an array that every frame has. *used: it is in one of them, and then MUST be in both. */
static modal_status enter_lasting(const sequence_checked *c, const modal_h5_place *vtk, const char *name, modal_h5_place *data,
                                  modal_h5_place *offsets, int *used)
{
    modal_status status = MODAL_OK;
    modal_h5_place steps = {H5I_INVALID_HID, ""};
    *data = *offsets = steps;
    *used = 0;
    if (c->info.n_points < 0 || c->info.n_frames < 0) goto done;
    MODAL_TRY(modal_h5_enter(&c->in, vtk, "PointData", MODAL_H5_OPTIONAL, data)); /* check_steps says where groups are absent */
    MODAL_TRY(modal_h5_enter(&c->in, vtk, "Steps", MODAL_H5_OPTIONAL, &steps));
    if (steps.id >= 0) MODAL_TRY(modal_h5_enter(&c->in, &steps, "PointDataOffsets", MODAL_H5_OPTIONAL, offsets));
    *used = data->id >= 0 && offsets->id >= 0 && (modal_h5_has_link(data, name) || modal_h5_has_link(offsets, name));
    if (*used) MODAL_TRY(modal_sequence_expect_array(c, offsets, name, c->info.n_frames, 0, 0, 0));
done:
    modal_h5_leave(&steps);
    return status;
}

/* Texture coordinates. */
static modal_status check_uv(const sequence_checked *c, const modal_h5_place *vtk)
{
    modal_status status = MODAL_OK;
    modal_h5_place data, offsets;
    int64_t dims[2] = {c->info.n_points, 2};
    float *uv = NULL;
    int used = 0;
    MODAL_TRY(enter_lasting(c, vtk, "TCoords", &data, &offsets, &used));
    if (used) MODAL_TRY(modal_h5_read_array(&c->in, &data, "TCoords", MODAL_H5_F32, 2, dims, MODAL_H5_REQUIRED, &uv));
    if (uv)
        MODAL_TRY(modal_rule_finite_float(&c->in.checker, "/VTKHDF/PointData/TCoords", uv, dims[0], 2, (modal_axes){"point", "column"}));
done:
    modal_free(&uv);
    modal_h5_leave(&offsets);
    modal_h5_leave(&data);
    return status;
}

/* Values of a texture. */
static modal_status check_colour(const sequence_checked *c, const modal_h5_place *vtk)
{
    modal_status status = MODAL_OK;
    modal_h5_place data, offsets;
    int64_t dims[2] = {c->info.n_points, -1};
    float *numbers = NULL;
    uint8_t *colours = NULL;
    hid_t dataset = H5I_INVALID_HID, space = H5I_INVALID_HID, type = H5I_INVALID_HID;
    int used = 0;
    MODAL_TRY(enter_lasting(c, vtk, "colour", &data, &offsets, &used));
    if (!used) goto done;
    if (modal_h5_has_link(&data, "colour")) dataset = H5Dopen2(data.id, "colour", H5P_DEFAULT);
    if (dataset >= 0) space = H5Dget_space(dataset), type = H5Dget_type(dataset);
    const int rank = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 ? 1 : 2, is_float = type >= 0 && H5Tget_class(type) == H5T_FLOAT;
    dims[1] = is_float ? 3 : 4;
    if (is_float)
        MODAL_TRY(modal_h5_read_array(&c->in, &data, "colour", MODAL_H5_F32, rank, dims, MODAL_H5_REQUIRED, &numbers));
    else
        MODAL_TRY(modal_h5_read_array(&c->in, &data, "colour", MODAL_H5_U8, 2, dims, MODAL_H5_REQUIRED, &colours));
    if (numbers)
        MODAL_TRY(modal_rule_finite_float(&c->in.checker, "/VTKHDF/PointData/colour", numbers, dims[0], rank == 1 ? 1 : 3, (modal_axes){"point", "column"}));
done:
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    if (dataset >= 0) H5Dclose(dataset);
    modal_free(&numbers);
    modal_free(&colours);
    modal_h5_leave(&offsets);
    modal_h5_leave(&data);
    return status;
}

/* n points, or m cells, a frame, in every array. */
static modal_status check_rows(const sequence_checked *c)
{
    modal_status status = MODAL_OK;
    char path[MODAL_SEQUENCE_PATH];
    if (c->info.n_points < 0 || c->info.n_frames < 0) return MODAL_OK;
    for (int i = 0; i < c->info.arrays.n; i++) {
        int64_t rows = 0;
        if (!knows_rows(c, i)) continue;
        if (!modal_size_multiply(modal_sequence_rows(&c->info, i), c->info.n_frames, &rows))
            return modal_broken(&c->in.checker, "/VTKHDF/NumberOfPoints", "size overflow, %" PRId64,
                                modal_sequence_rows(&c->info, i));
        if (c->rows[i] >= 0 && c->rows[i] != rows)
            MODAL_TRY(modal_broken(&c->in.checker, modal_sequence_path(&c->info.arrays, i, path),
                                   "must have %" PRId64 " rows, has %" PRId64, rows, c->rows[i]));
    }
done:
    return status;
}

/* ---- the views of single frames ---- */

/* NULL, or what is wrong with the mapping of a view to its rows. */
static const char *wrong_mapping(hid_t plist, const char *path, int width, int64_t n, int64_t frame)
{
    size_t count = 0;
    char text[MODAL_SEQUENCE_PATH + 8] = "";
    const int rank = width > 1 ? 2 : 1;
    hsize_t low[2] = {1, 0}, high[2] = {0, (hsize_t)width - 1};
    if (H5Pget_layout(plist) != H5D_VIRTUAL) return "not a virtual dataset";
    if (H5Pget_virtual_count(plist, &count) < 0 || count != 1) return "more or less than one source";
    if (H5Pget_virtual_filename(plist, 0, text, sizeof text) < 0 || strcmp(text, ".") != 0)
        return "source file is not \".\"";
    if (H5Pget_virtual_dsetname(plist, 0, text, sizeof text) < 0 || strcmp(text, path) != 0)
        return "another source";
    hid_t source = H5Pget_virtual_srcspace(plist, 0), target = H5Pget_virtual_vspace(plist, 0);
    int fine = source >= 0 && target >= 0 && H5Sget_simple_extent_ndims(source) == rank &&
               H5Sget_select_bounds(source, low, high) >= 0 &&
               low[0] == (hsize_t)(frame * n) && low[1] == 0 &&
               high[0] == (hsize_t)(frame * n + n - 1) && high[1] == (hsize_t)width - 1 &&
               H5Sget_select_npoints(source) == width * n &&
               H5Sget_select_npoints(target) == width * n;
    if (source >= 0) H5Sclose(source);
    if (target >= 0) H5Sclose(target);
    return fine ? NULL : "other rows than this frame's";
}

static const char *wrong_view(hid_t group, const sequence_checked *c, int i, int64_t frame)
{
    const modal_array *array = &c->info.arrays.all[i];
    const int64_t n = modal_sequence_rows(&c->info, i);
    char path[MODAL_SEQUENCE_PATH];
    H5L_info_t link;
    const int width = array->components, rank = width > 1 ? 2 : 1;
    hsize_t dims[2] = {0, 1};
    const char *wrong = NULL;
    if (H5Lexists(group, array->name, H5P_DEFAULT) <= 0) return "missing";
    if (H5Lget_info(group, array->name, &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD)
        return "must be a hard link";
    hid_t view = H5Dopen2(group, array->name, H5P_DEFAULT);
    if (view < 0) return "not a dataset";
    hid_t type = H5Dget_type(view), space = H5Dget_space(view), plist = H5Dget_create_plist(view);
    if (type < 0 || space < 0 || plist < 0)
        wrong = "cannot be read";
    else if (H5Tequal(type, H5T_IEEE_F32LE) <= 0 && H5Tequal(type, H5T_IEEE_F32BE) <= 0)
        wrong = "type must be 4-byte float";
    else if (H5Sget_simple_extent_ndims(space) != rank ||
             H5Sget_simple_extent_dims(space, dims, NULL) != rank || dims[0] != (hsize_t)n ||
             dims[1] != (hsize_t)width)
        wrong = "shape must be that of one frame";
    else
        wrong = wrong_mapping(plist, modal_sequence_path(&c->info.arrays, i, path), width, n, frame);
    if (plist >= 0) H5Pclose(plist);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    H5Dclose(view);
    return wrong;
}

static modal_status check_views(const sequence_checked *c)
{
    modal_status status = MODAL_OK;
    modal_h5_place root = {H5I_INVALID_HID, ""}, views = root, frame = root;
    struct {
        const char *what;
        int64_t frame, others;
    } first[MODAL_MOST_ARRAYS] = {{NULL, 0, 0}};
    int64_t values;
    if (c->info.n_points < 0 || c->info.n_frames < 0) return MODAL_OK;
    for (int i = 0; i < c->info.arrays.n; i++)
        if (knows_rows(c, i) && !modal_size_multiply(modal_sequence_rows(&c->info, i),
                                                     c->info.arrays.all[i].components * c->info.n_frames, &values))
            return MODAL_OK;
    MODAL_TRY(modal_h5_enter(&c->in, NULL, NULL, MODAL_H5_REQUIRED, &root));
    MODAL_TRY(modal_h5_enter(&c->in, &root, "xdmf", MODAL_H5_REQUIRED, &views));
    if (views.id < 0) goto done;
    for (int64_t f = 0; f < c->info.n_frames; f++) {
        char name[32];
        snprintf(name, sizeof name, "%06" PRId64, f);
        MODAL_TRY(modal_h5_enter(&c->in, &views, name, MODAL_H5_REQUIRED, &frame));
        if (frame.id < 0) break; /* reported; the rest would be the same */
        for (int i = 0; i < c->info.arrays.n; i++) {
            if (c->rows[i] < 0 || !knows_rows(c, i)) continue;
            const char *what = wrong_view(frame.id, c, i, f);
            H5Eclear2(H5E_DEFAULT);
            if (what && first[i].what) first[i].others++;
            if (what && !first[i].what) {
                first[i].what = what;
                first[i].frame = f;
            }
        }
        modal_h5_leave(&frame);
    }
    for (int i = 0; i < c->info.arrays.n; i++) {
        char where[MODAL_H5_PATH];
        if (!first[i].what) continue;
        snprintf(where, sizeof where, "/xdmf/%06" PRId64 "/%s", first[i].frame,
                 c->info.arrays.all[i].name);
        MODAL_TRY(modal_broken(&c->in.checker, where, "%s (and %" PRId64 " others)", first[i].what,
                               first[i].others));
    }
done:
    modal_h5_leave(&frame);
    modal_h5_leave(&views);
    modal_h5_leave(&root);
    return status;
}

static modal_status check_modal(const sequence_checked *c)
{
    modal_status status = MODAL_OK;
    modal_h5_place root = {H5I_INVALID_HID, ""}, modal = root;
    char *hash = NULL, *units = NULL, *kind = NULL, *source = NULL;
    double precision = 1.0;
    modal_provenance *steps = NULL;
    int32_t n = 0;
    int known = 0;
    MODAL_TRY(modal_h5_enter(&c->in, NULL, NULL, MODAL_H5_REQUIRED, &root));
    MODAL_TRY(modal_h5_enter(&c->in, &root, "modal", MODAL_H5_REQUIRED, &modal));
    if (modal.id < 0) goto done;
    if (modal_h5_has_attribute(&modal, "basis_hash"))
        MODAL_TRY(modal_h5_read_text(&c->in, &modal, "basis_hash", &hash));
    MODAL_TRY(modal_h5_read_text(&c->in, &modal, "source_kind", &kind));
    while (kind && modal_sequence_sources[known] && strcmp(modal_sequence_sources[known], kind) != 0) known++;
    if (kind && !modal_sequence_sources[known])
        MODAL_TRY(modal_broken(&c->in.checker, "/modal@source_kind", "no known kind, \"%.64s\"", kind));
    MODAL_TRY(modal_h5_read_text(&c->in, &modal, "source_hash", &source));
    MODAL_TRY(modal_rule_hash(&c->in.checker, "/modal@source_hash", source));
    MODAL_TRY(modal_rule_hash(&c->in.checker, "/modal@basis_hash", hash));
    MODAL_TRY(modal_h5_read_text(&c->in, &modal, "units", &units));
    if (units && strcmp(units, "m, s") != 0)
        MODAL_TRY(modal_broken(&c->in.checker, "/modal@units", "must be m, s, is \"%.64s\"", units));
    if (modal_h5_has_attribute(&modal, "precision"))
        MODAL_TRY(modal_h5_read_number(&c->in, &modal, "precision", &precision));
    if (!(precision > 0.0) || isinf(precision))
        MODAL_TRY(modal_broken(&c->in.checker, "/modal@precision", "must be a positive length, is %.17g", precision));
    MODAL_TRY(modal_provenance_read(&c->in, &modal, MODAL_H5_REQUIRED, &steps, &n));
done:
    for (int32_t i = 0; i < n; i++) modal_provenance_free(&steps[i]);
    modal_free(&steps);
    modal_free(&hash);
    modal_free(&units);
    modal_free(&kind);
    modal_free(&source);
    modal_h5_leave(&modal);
    modal_h5_leave(&root);
    return status;
}

/* ---- the sidecar ---- */

/* Reads `length` bytes and tries one more: *same tells whether the file is exactly the text; *line
 * where it first differs. */
static void compare_file(FILE *file, const char *text, int64_t length, int64_t *line, int *same)
{
    int64_t i = 0;
    int c;
    *line = 1;
    while ((c = getc(file)) != EOF && i < length && c == (unsigned char)text[i])
        if (text[i++] == '\n') ++*line;
    *same = c == EOF && i == length && !ferror(file);
}

static modal_status check_sidecar(const sequence_checked *c, const char *path)
{
    modal_status status = MODAL_OK;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    char *sidecar = NULL, *text = NULL;
    int64_t length = 0, stem = dot ? dot - path : (int64_t)strlen(path), line = 0;
    int same = 0;
    FILE *file = NULL;
    if (c->info.n_points < 0 || c->info.n_frames < 0 || (!c->info.volume && c->info.n_triangles < 0) ||
        c->info.arrays.n == 0)
        return MODAL_OK;
    MODAL_TRY(modal_alloc(&sidecar, stem + 6, 1, "name", c->in.checker.err));
    memcpy(sidecar, path, (size_t)stem);
    strcpy(sidecar + stem, ".xdmf");
    file = modal_disk_stream(sidecar);
    if (!file && errno == ENOENT) goto done; /* none there: nothing wrong with it */
    if (!file) {
        status = modal_error_set(c->in.checker.err, MODAL_ERROR_SYSTEM, "%s: cannot open, %s", sidecar, strerror(errno));
        goto done;
    }
    MODAL_TRY(modal_sequence_xdmf_text(&text, &length, name, &c->info, c->in.checker.err));
    compare_file(file, text, length, &line, &same);
    if (!same)
        status = modal_broken(&c->in.checker, sidecar, "line %" PRId64 ": does not describe %s", line,
                              name);
done:
    if (file) fclose(file);
    modal_free(&text);
    modal_free(&sidecar);
    return status;
}

static modal_status check_open_file(sequence_checked *c, const char *path)
{
    modal_status status = MODAL_OK;
    modal_h5_place root = {H5I_INVALID_HID, ""}, vtk = root;
    MODAL_TRY(modal_h5_check_root(&c->in, MODAL_SEQUENCE_TYPE, MODAL_SEQUENCE_MAJOR));
    MODAL_TRY(modal_h5_enter(&c->in, NULL, NULL, MODAL_H5_REQUIRED, &root));
    MODAL_TRY(modal_h5_enter(&c->in, &root, "VTKHDF", MODAL_H5_REQUIRED, &vtk));
    if (vtk.id >= 0) {
        int volume = 0;
        MODAL_TRY(check_version(c, &vtk));
        MODAL_TRY(check_type(c, &vtk, &volume));
        MODAL_TRY(modal_sequence_read_one(c, &vtk, "NumberOfPoints", &c->info.n_points));
        MODAL_TRY(volume ? modal_sequence_check_volume(c, &root, &vtk)
                         : modal_sequence_check_surface(c, &vtk));
        MODAL_TRY(check_moving(c, &root, &vtk));
        MODAL_TRY(check_steps(c, &vtk));
        MODAL_TRY(check_rows(c));
        MODAL_TRY(check_uv(c, &vtk));
        MODAL_TRY(check_colour(c, &vtk));
        MODAL_TRY(check_views(c));
    }
    MODAL_TRY(check_modal(c));
    MODAL_TRY(check_sidecar(c, path));
done:
    modal_h5_leave(&vtk);
    modal_h5_leave(&root);
    H5Eclear2(H5E_DEFAULT);
    return status;
}

modal_status modal_sequence_check(const char *path, modal_findings *findings, modal_error *err)
{
    sequence_checked c = {.in = {H5I_INVALID_HID, 0, {findings, err}},
                          .info = {.n_points = -1, .n_triangles = -1, .n_frames = -1}};
    for (int i = 0; i < MODAL_MOST_ARRAYS; i++) c.rows[i] = -1;
    modal_status status = modal_h5_open(&c.in, &(modal_h5_source){path, NULL, 0});
    if (status == MODAL_OK) status = modal_h5_close(&c.in, check_open_file(&c, path));
    if (status != MODAL_OK) modal_error_context(err, "%s", path);
    modal_free(&c.times);
    modal_free(&c.triangles);
    modal_free(&c.connectivity);
    modal_free(&c.offsets);
    modal_free(&c.types);
    return status;
}
