/* SPDX-License-Identifier: Apache-2.0 */
/* Cubes of soft tissue for modalbench tled: E = 3 kPa, nu = 0.45, 1,000 kg/m^3, an edge of 0.1 m, inner nodes off the regular
 * grid by up to 7.5 % of a cell, held below, under gravity. */
#ifndef MODAL_TESTS_TLED_CUBE_H
#define MODAL_TESTS_TLED_CUBE_H

#include "kernels/tled_step/tled_solid.h"
#include "lib/base/status.h"

/* TLED_PATCHES: mean patches of the six tetrahedra of a cell; TLED_JOINED: of two cells, in fans that share a mean. */
typedef enum tled_cube_extra { TLED_NO_EXTRA, TLED_FIBRES, TLED_PRONY, TLED_PRESSURES, TLED_PATCHES, TLED_JOINED, TLED_EXTRAS } tled_cube_extra;

typedef struct tled_cube_kind {
    int cells;      /* along an edge */
    int hexahedra;  /* 0: six tetrahedra a cell */
    int random;     /* nodes and elements in random order instead of along a Morton curve */
    int law;        /* modal_tled_law */
    int opponents;  /* measured beside ours */
    tled_cube_extra extra;
    int frames;     /* 1: what frames cost beside the steps is measured, too; 2: nothing else is */
} tled_cube_kind;

typedef struct tled_cube {
    modal_tled_solid solid;
    modal_tled_material material;
    double *nodes, *mass;
    int32_t *elements, *materials, *held, *held_signals;
    double *held_values, *fibres;
    int64_t *macro_offsets;
    int32_t *macro_of;
    char name[64];
    double step, alpha;
    int random;
} tled_cube;

modal_status tled_cube_make(tled_cube *cube, const tled_cube_kind *kind, modal_error *err);
void tled_cube_free(tled_cube *cube);

#endif
