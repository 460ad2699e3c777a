/* SPDX-License-Identifier: Apache-2.0 */
/* An unstructured grid as VTK's two formats have it, .vtk and .vtu, on its way to a volume mesh. */
#ifndef MODAL_FORMATS_VTK_GRID_H
#define MODAL_FORMATS_VTK_GRID_H

#include "formats/meshes/text_reader.h"
#include "lib/model/volume_mesh.h"

/* Types of numbers, by both formats' names. */
typedef enum vtk_type {
    VTK_NONE,
    VTK_I8,
    VTK_U8,
    VTK_I16,
    VTK_U16,
    VTK_I32,
    VTK_U32,
    VTK_I64,
    VTK_U64,
    VTK_F32,
    VTK_F64
} vtk_type;
extern const int vtk_type_bytes[];

/* The n numbers of this type at `bytes`, as reals or whole numbers (one of the two arrays is NULL).
 * Returns the place of the first that is not finite or does not fit, or -1. */
int64_t vtk_convert(const char *bytes, vtk_type type, int swap, int64_t n, double *reals,
                    int64_t *integers);

typedef struct vtk_numbers {
    char *name;
    int64_t *values; /* [n_cells] */
} vtk_numbers;

/* Zeroed: empty. */
typedef struct vtk_grid {
    int64_t n_points, n_cells, n_connectivity;
    double *points;        /* [n_points, 3] */
    int64_t *connectivity; /* [n_connectivity] */
    int64_t *offsets;      /* [n_cells + 1], from 0 */
    int64_t *types;        /* [n_cells] */
    vtk_numbers groups;    /* a number for each cell, or NULLs */
} vtk_grid;

/* Whether an array of cell data of that name says what groups cells are in. */
int vtk_names_groups(const char *name, int64_t length);

/* Checks everything (`where` is for messages, which name cells from 0) and makes the mesh. The grid's
 * arrays may be taken over. */
modal_status vtk_grid_finish(vtk_grid *grid, modal_text *where, modal_volume_mesh *mesh);

void vtk_grid_free(vtk_grid *grid);

#endif
