/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/snapshots/snapshots_h5.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/h5/h5_util.h"
#include "lib/base/memory.h"

static const modal_h5_place nowhere = {H5I_INVALID_HID, ""};

struct modal_snapshots {
    modal_h5_in in;
    char *path;
    modal_h5_rows *dataset, *points; /* points: of a sequence, else none */
    int single;                      /* float32 */
    int64_t rows;                    /* a snapshot: 1 of [S, N, 3], N of [S N, 3] */
    int64_t n_snapshots, n_nodes;
    const double *nodes;
    double size;    /* m, of the mesh's box */
    double *buffer; /* [N, 3] of a sequence's points */
};

/* The dataset of displacements is of either type: which one, so that it can be checked. */
static modal_h5_type stored_type(hid_t place, const char *name)
{
    modal_h5_type type = MODAL_H5_F64;
    hid_t dataset = H5Lexists(place, name, H5P_DEFAULT) > 0 ? H5Dopen2(place, name, H5P_DEFAULT) : -1;
    hid_t stored = dataset < 0 ? -1 : H5Dget_type(dataset);
    if (stored >= 0 && H5Tget_class(stored) == H5T_FLOAT && H5Tget_size(stored) == 4) type = MODAL_H5_F32;
    if (stored >= 0) H5Tclose(stored);
    if (dataset >= 0) H5Dclose(dataset);
    H5Eclear2(H5E_DEFAULT);
    return type;
}

static modal_status open_own(modal_snapshots *s, int *single, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_h5_place root = nowhere;
    int64_t dims[3] = {-1, -1, 3};
    MODAL_TRY(modal_h5_check_root(&s->in, "snapshots", 1));
    MODAL_TRY(modal_h5_enter(&s->in, NULL, NULL, MODAL_H5_REQUIRED, &root));
    const modal_h5_type type = stored_type(root.id, "displacements");
    *single = type == MODAL_H5_F32;
    MODAL_TRY(modal_h5_rows_open(&s->in, &root, "displacements", type, 3, dims, MODAL_H5_REQUIRED, &s->dataset));
    if (dims[1] != s->n_nodes)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "/displacements: of %lld nodes, the mesh has %lld",
                   (long long)dims[1], (long long)s->n_nodes);
    s->rows = 1;
    s->n_snapshots = dims[0];
done:
    modal_h5_leave(&root);
    return status;
}

static modal_status open_sequence(modal_snapshots *s, int *single, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_h5_place root = nowhere, vtk = nowhere, data = nowhere;
    int64_t dims[2] = {-1, 3}, one = 1, *n_points = NULL;
    MODAL_TRY(modal_h5_check_root(&s->in, "sequence", 1));
    MODAL_TRY(modal_h5_enter(&s->in, NULL, NULL, MODAL_H5_REQUIRED, &root));
    MODAL_TRY(modal_h5_enter(&s->in, &root, "VTKHDF", MODAL_H5_REQUIRED, &vtk));
    MODAL_TRY(modal_h5_enter(&s->in, &vtk, "PointData", MODAL_H5_REQUIRED, &data));
    MODAL_TRY(modal_h5_read_array(&s->in, &vtk, "NumberOfPoints", MODAL_H5_I64, 1, &one,
                                  MODAL_H5_REQUIRED, &n_points));
    if (n_points[0] != s->n_nodes)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "/VTKHDF/NumberOfPoints: %lld points, the mesh has %lld nodes "
                   "(modaldeform --output-mesh volume writes one object's nodes)",
                   (long long)n_points[0], (long long)s->n_nodes);
    if (H5Lexists(data.id, "displacement", H5P_DEFAULT) == 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT,
                   "/VTKHDF/PointData/displacement: missing (modaldeform --fields displacement writes it)");
    MODAL_TRY(modal_h5_rows_open(&s->in, &data, "displacement", MODAL_H5_F32, 2, dims, MODAL_H5_REQUIRED, &s->dataset));
    MODAL_TRY(modal_h5_rows_open(&s->in, &vtk, "Points", MODAL_H5_F32, 2, dims, MODAL_H5_REQUIRED, &s->points));
    if (dims[0] % s->n_nodes != 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "/VTKHDF/Points: %lld rows, no multiple of %lld",
                   (long long)dims[0], (long long)s->n_nodes);
    MODAL_TRY(modal_alloc(&s->buffer, s->n_nodes, 3 * sizeof(double), "points", err));
    s->rows = s->n_nodes;
    s->n_snapshots = dims[0] / s->n_nodes;
    *single = 1;
done:
    modal_free(&n_points);
    modal_h5_leave(&data);
    modal_h5_leave(&vtk);
    modal_h5_leave(&root);
    return status;
}

modal_status modal_snapshots_open(modal_snapshots **snapshots, const char *path, int64_t n_nodes,
                                  const double *nodes, int64_t *n_snapshots, int *single,
                                  modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_h5_source source = {path, NULL, 0};
    modal_snapshots *s = NULL;
    char *kind = NULL;
    int named = 0;
    *snapshots = NULL;
    MODAL_TRY(modal_alloc_zero(&s, 1, sizeof *s, "snapshots", err));
    *s = (modal_snapshots){.in = {H5I_INVALID_HID, 0, {NULL, err}},
                           .n_nodes = n_nodes,
                           .nodes = nodes};
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < 3 * n_nodes; i++) {
        low[i % 3] = fmin(low[i % 3], nodes[i]);
        high[i % 3] = fmax(high[i % 3], nodes[i]);
    }
    s->size = hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
    MODAL_TRY(modal_copy_text(&s->path, path, SIZE_MAX, err));
    status = modal_h5_file_kind(path, &kind, err);
    named = status != MODAL_OK; /* the path stands in that message already */
    if (status != MODAL_OK) goto done;
    MODAL_TRY(modal_h5_open(&s->in, &source));
    if (strcmp(kind, "sequence") == 0)
        MODAL_TRY(open_sequence(s, single, err));
    else
        MODAL_TRY(open_own(s, single, err));
    s->single = *single;
    if (s->n_snapshots < 1) MODAL_FAIL(err, MODAL_ERROR_INPUT, "no snapshots");
    *n_snapshots = s->n_snapshots;
    s->in.checker.err = NULL; /* the caller's may be gone by then */
    *snapshots = s;
    s = NULL;
done:
    if (status != MODAL_OK && !named) modal_error_context(err, "%s", path);
    modal_snapshots_close(s);
    modal_free(&kind);
    return status;
}

/* Numbers of float32 are read into the second half of `to`, and widened from there. */
static modal_status read_rows(const modal_snapshots *s, modal_h5_rows *rows, int64_t first, int64_t count, double *to,
                              modal_error *err)
{
    const int64_t n = s->single ? 3 * s->n_nodes * count : 0;
    const char *from = (const char *)to + 4 * n;
    modal_status status = modal_h5_rows_read(rows, first * s->rows, count * s->rows, (char *)to + 4 * n, err);
    for (int64_t i = 0; status == MODAL_OK && i < n; i++) {
        float value;
        memcpy(&value, from + 4 * i, sizeof value);
        to[i] = value;
    }
    return status;
}

/* Of a sequence: a point less its displacement is its node. */
static modal_status check_points(modal_snapshots *s, int64_t snapshot, const double *displacements,
                                 modal_error *err)
{
    modal_status status = read_rows(s, s->points, snapshot, 1, s->buffer, err);
    for (int64_t i = 0; status == MODAL_OK && i < 3 * s->n_nodes; i++)
        if (!(fabs(s->buffer[i] - displacements[i] - s->nodes[i]) <= 1e-4 * s->size))
            status = modal_error_set(err, MODAL_ERROR_INPUT,
                                     "frame %lld, point %lld: not the mesh's node displaced, off by %g m",
                                     (long long)snapshot, (long long)(i / 3),
                                     fabs(s->buffer[i] - displacements[i] - s->nodes[i]));
    return status;
}

modal_status modal_snapshots_read(modal_snapshots *s, int64_t first, int64_t count,
                                  double *displacements, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = 3 * s->n_nodes;
    MODAL_TRY(read_rows(s, s->dataset, first, count, displacements, err));
    for (int64_t i = 0; i < count * n; i++)
        if (!isfinite(displacements[i]))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "snapshot %lld, node %lld, axis %lld: not finite, %g",
                       (long long)(first + i / n), (long long)(i % n / 3), (long long)(i % 3),
                       displacements[i]);
    for (int64_t k = 0; k < count && s->points; k++)
        MODAL_TRY(check_points(s, first + k, displacements + k * n, err));
done:
    if (status != MODAL_OK) modal_error_context(err, "%s", s->path);
    return status;
}

modal_snapshots *modal_snapshots_close(modal_snapshots *s)
{
    if (!s) return NULL;
    modal_h5_rows_close(s->dataset);
    modal_h5_rows_close(s->points);
    modal_h5_close(&s->in, MODAL_OK);
    modal_free(&s->path);
    modal_free(&s->buffer);
    modal_free(&s);
    return NULL;
}
