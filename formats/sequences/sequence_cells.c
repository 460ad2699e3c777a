/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of a solid: their kinds, their rules, and the form in which XDMF wants them. */
#include <inttypes.h>

#include "formats/sequences/sequence_parts.h"
#include "lib/base/memory.h"

typedef struct cell_kind {
    uint8_t vtk;
    int n_points;
    int64_t xdmf; /* what a Mixed topology calls it */
} cell_kind;

static const cell_kind kinds[] = {{10, 4, 6}, {14, 5, 7}, {13, 6, 8}, {12, 8, 9}, {24, 10, 38}, {25, 20, 48}};

static const cell_kind *find(uint8_t type)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].vtk == type) return &kinds[i];
    return NULL;
}

int modal_sequence_cell_points(uint8_t type)
{
    const cell_kind *kind = find(type);
    return kind ? kind->n_points : 0;
}

modal_status modal_sequence_check_cells(const modal_sequence_cells *cells, int64_t n_points, modal_error *err)
{
    if (cells->n_cells <= 0 || cells->offsets[0] != 0)
        return modal_error_set(err, MODAL_ERROR_INPUT, "sequence: needs cells, %" PRId64, cells->n_cells);
    for (int64_t i = 0; i < cells->n_cells; i++) {
        const int n = modal_sequence_cell_points(cells->types[i]);
        if (n == 0 || cells->offsets[i + 1] - cells->offsets[i] != n)
            return modal_error_set(err, MODAL_ERROR_INPUT,
                                   "sequence: cell %" PRId64 ": type %d with %" PRId64 " points", i,
                                   cells->types[i], cells->offsets[i + 1] - cells->offsets[i]);
        for (int64_t k = cells->offsets[i]; k < cells->offsets[i + 1]; k++)
            if (cells->connectivity[k] < 0 || cells->connectivity[k] >= n_points)
                return modal_error_set(err, MODAL_ERROR_INPUT, "sequence: cell %" PRId64 ": no such point, %" PRId64,
                                       i, cells->connectivity[k]);
    }
    return MODAL_OK;
}

modal_status modal_sequence_mixed_topology(const modal_sequence_cells *cells, int64_t **values, int64_t *n,
                                           modal_error *err)
{
    *n = cells->n_cells + cells->offsets[cells->n_cells];
    modal_status status = modal_alloc(values, *n, sizeof **values, "cells", err);
    if (status != MODAL_OK) return status;
    int64_t *to = *values;
    for (int64_t i = 0; i < cells->n_cells; i++) {
        *to++ = find(cells->types[i])->xdmf;
        for (int64_t k = cells->offsets[i]; k < cells->offsets[i + 1]; k++) *to++ = cells->connectivity[k];
    }
    return MODAL_OK;
}
