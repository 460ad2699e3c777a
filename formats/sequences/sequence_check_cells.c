/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of a sequence.vtkhdf, and the small arrays that are known before one looks. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/h5/rules.h"
#include "formats/sequences/sequence_checked.h"
#include "lib/base/memory.h"

static void path_of(char where[MODAL_H5_PATH], const modal_h5_place *place, const char *name)
{
    snprintf(where, MODAL_H5_PATH, "%.160s/%.80s", place->path, name);
}

/* The step may be any number that a file claims: no undefined overflow. */
static int64_t at_step(int64_t first, int64_t i, int64_t step)
{
    return (int64_t)((uint64_t)first + (uint64_t)i * (uint64_t)step);
}

/* The i-th value must be first + i * step. */
static modal_status expect(const sequence_checked *c, const modal_h5_place *place, const char *name,
                           const int64_t *values, int64_t n, int64_t first, int64_t step)
{
    char where[MODAL_H5_PATH];
    int64_t wrong = 0, at = 0;
    if (!values) return MODAL_OK;
    for (int64_t i = 0; i < n; i++) {
        if (values[i] == at_step(first, i, step)) continue;
        if (wrong++ == 0) at = i;
    }
    if (!wrong) return MODAL_OK;
    path_of(where, place, name);
    return modal_broken(&c->in.checker, where,
                        "value %" PRId64 " must be %" PRId64 ", is %" PRId64 " (and %" PRId64
                        " others)", at, at_step(first, at, step), values[at], wrong - 1);
}

modal_status modal_sequence_expect_array(const sequence_checked *c, const modal_h5_place *place,
                                 const char *name, int64_t n, int64_t width, int64_t first,
                                 int64_t step)
{
    modal_status status = MODAL_OK;
    int64_t *values = NULL, dims[2] = {n, width};
    MODAL_TRY(modal_h5_read_array(&c->in, place, name, MODAL_H5_I64, width > 0 ? 2 : 1, dims,
                                  MODAL_H5_REQUIRED, &values));
    MODAL_TRY(expect(c, place, name, values, dims[0] * (width > 0 ? width : 1), first, step));
done:
    modal_free(&values);
    return status;
}

modal_status modal_sequence_read_one(const sequence_checked *c, const modal_h5_place *place,
                             const char *name, int64_t *value)
{
    char where[MODAL_H5_PATH];
    modal_status status = MODAL_OK;
    int64_t *values = NULL, dims[1] = {1};
    *value = -1;
    MODAL_TRY(modal_h5_read_array(&c->in, place, name, MODAL_H5_I64, 1, dims, MODAL_H5_REQUIRED,
                                  &values));
    if (values && values[0] > 0) {
        *value = values[0];
    } else if (values) {
        path_of(where, place, name);
        status = modal_broken(&c->in.checker, where, "must be positive, is %" PRId64, values[0]);
    }
done:
    modal_free(&values);
    return status;
}

static modal_status check_unused_cells(const sequence_checked *c, const modal_h5_place *vtk,
                                       const char *name)
{
    modal_status status = MODAL_OK;
    modal_h5_place cells = {H5I_INVALID_HID, ""};
    int64_t none[1] = {0};
    MODAL_TRY(modal_h5_enter(&c->in, vtk, name, MODAL_H5_REQUIRED, &cells));
    MODAL_TRY(modal_sequence_expect_array(c, &cells, "NumberOfCells", 1, 0, 0, 0));
    MODAL_TRY(modal_sequence_expect_array(c, &cells, "NumberOfConnectivityIds", 1, 0, 0, 0));
    MODAL_TRY(modal_sequence_expect_array(c, &cells, "Offsets", 1, 0, 0, 0));
    MODAL_TRY(modal_h5_read_array(&c->in, &cells, "Connectivity", MODAL_H5_I64, 1, none,
                                  MODAL_H5_REQUIRED, NULL));
done:
    modal_h5_leave(&cells);
    return status;
}

static modal_status check_triangles(sequence_checked *c, const modal_h5_place *vtk)
{
    modal_status status = MODAL_OK;
    modal_h5_place cells = {H5I_INVALID_HID, ""};
    int64_t n, ids[1] = {-1}, wrong = 0, at = 0;
    MODAL_TRY(modal_h5_enter(&c->in, vtk, "Polygons", MODAL_H5_REQUIRED, &cells));
    MODAL_TRY(modal_sequence_read_one(c, &cells, "NumberOfCells", &n));
    MODAL_TRY(modal_h5_read_array(&c->in, &cells, "Connectivity", MODAL_H5_I64, 1, ids,
                                  MODAL_H5_REQUIRED, &c->triangles));
    if (c->triangles && (ids[0] % 3 != 0 || (n >= 0 && ids[0] / 3 != n)))
        MODAL_TRY(modal_broken(&c->in.checker, "/VTKHDF/Polygons/Connectivity",
                               "three indices a triangle, has %" PRId64 " for %" PRId64, ids[0], n));
    /* The indices that are there say how many triangles there are. */
    if (c->triangles) {
        c->info.n_triangles = n = ids[0] / 3;
        MODAL_TRY(modal_sequence_expect_array(c, &cells, "NumberOfConnectivityIds", 1, 0, 3 * n, 0));
        MODAL_TRY(modal_sequence_expect_array(c, &cells, "Offsets", n + 1, 0, 0, 3));
    }
    for (int64_t i = 0; c->triangles && c->info.n_points >= 0 && i < ids[0]; i++)
        if ((c->triangles[i] < 0 || c->triangles[i] >= c->info.n_points) && wrong++ == 0) at = i;
    if (wrong)
        MODAL_TRY(modal_broken(&c->in.checker, "/VTKHDF/Polygons/Connectivity",
                               "triangle %" PRId64 ": no such point, %" PRId64 " (and %" PRId64
                               " others)", at / 3, c->triangles[at], wrong - 1));
done:
    modal_h5_leave(&cells);
    return status;
}

modal_status modal_sequence_check_surface(sequence_checked *c, const modal_h5_place *vtk)
{
    modal_status status = MODAL_OK;
    for (int i = 0; i < SEQUENCE_TOPOLOGIES; i++)
        MODAL_TRY(i == SEQUENCE_POLYGONS ? check_triangles(c, vtk)
                                         : check_unused_cells(c, vtk, modal_sequence_topologies[i]));
done:
    return status;
}

/* /modal/xdmf_topology follows from the cells. */
static modal_status check_mixed(const sequence_checked *c, const modal_h5_place *root)
{
    modal_status status = MODAL_OK;
    modal_h5_place modal = {H5I_INVALID_HID, ""};
    int64_t *wanted = NULL, *found = NULL, n = 0, at = 0;
    MODAL_TRY(modal_sequence_mixed_topology(&c->cells, &wanted, &n, c->in.checker.err));
    MODAL_TRY(modal_h5_enter(&c->in, root, "modal", MODAL_H5_REQUIRED, &modal));
    MODAL_TRY(modal_h5_read_array(&c->in, &modal, "xdmf_topology", MODAL_H5_I64, 1, &n, MODAL_H5_REQUIRED,
                                  &found));
    while (found && at < n && found[at] == wanted[at]) at++;
    if (found && at < n)
        MODAL_TRY(modal_broken(&c->in.checker, "/modal/xdmf_topology",
                               "value %" PRId64 " must be %" PRId64 ", is %" PRId64, at, wanted[at], found[at]));
done:
    modal_free(&found);
    modal_free(&wanted);
    modal_h5_leave(&modal);
    return status;
}

modal_status modal_sequence_check_volume(sequence_checked *c, const modal_h5_place *root,
                                         const modal_h5_place *vtk)
{
    modal_status status = MODAL_OK;
    modal_error fault = {0};
    int64_t n = -1, ids = -1, ends;
    MODAL_TRY(modal_sequence_read_one(c, vtk, "NumberOfCells", &n));
    MODAL_TRY(modal_sequence_read_one(c, vtk, "NumberOfConnectivityIds", &ids));
    if (n < 0 || ids < 0 || n == INT64_MAX || c->info.n_points < 0) goto done;
    ends = n + 1;
    MODAL_TRY(modal_h5_read_array(&c->in, vtk, "Offsets", MODAL_H5_I64, 1, &ends, MODAL_H5_REQUIRED, &c->offsets));
    MODAL_TRY(modal_h5_read_array(&c->in, vtk, "Types", MODAL_H5_U8, 1, &n, MODAL_H5_REQUIRED, &c->types));
    MODAL_TRY(modal_h5_read_array(&c->in, vtk, "Connectivity", MODAL_H5_I64, 1, &ids, MODAL_H5_REQUIRED,
                                  &c->connectivity));
    if (!c->offsets || !c->types || !c->connectivity) goto done;
    /* Rows have the length of their type and start at 0: then the last end is their number, or not. */
    int64_t total = 0;
    for (int64_t i = 0; i < n && total <= ids; i++) total += modal_sequence_cell_points(c->types[i]);
    c->cells = (modal_sequence_cells){n, c->connectivity, c->offsets, c->types};
    if (total != ids || c->offsets[n] != ids)
        MODAL_TRY(modal_broken(&c->in.checker, "/VTKHDF/Offsets",
                               "cells have other than the %" PRId64 " points of Connectivity", ids));
    else if (modal_sequence_check_cells(&c->cells, c->info.n_points, &fault) != MODAL_OK)
        MODAL_TRY(modal_broken(&c->in.checker, "/VTKHDF/Connectivity", "%s",
                               fault.message + strlen("sequence: ")));
    else {
        c->info.volume = &c->cells;
        MODAL_TRY(check_mixed(c, root));
    }
done:
    return status;
}
