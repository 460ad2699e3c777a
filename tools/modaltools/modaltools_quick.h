/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of modaltools quick: what is asked for, and the stages that make it. */
#ifndef TOOLS_MODALTOOLS_QUICK_H
#define TOOLS_MODALTOOLS_QUICK_H

#include <limits.h>

#include "lib/model/basis.h"
#include "tools/common/units.h"
#include "tools/modaltools/modaltools.h"

typedef enum quick_kind { SURFACE, GEOMETRY, MESH } quick_kind;
typedef enum quick_motion { PLUCK, SHAKE, DROP, MODES, HIT } quick_motion;
typedef enum quick_result { FOLDER, FILE_OF_FRAMES, PAGE, FILM, PICTURE } quick_result; /* by OUT's ending */

typedef struct quick {
    tool *t;
    const char *input, *output, *material, *amplitude, *format, *look;
    quick_kind kind;
    quick_motion motion;
    quick_result result;
    tool_units units;
    int up, force, wrap, turntable;
    double share;      /* of --amplitude */
    double hit[3];     /* m */
    int64_t variations; /* 0: none, but OUT itself */
    int64_t seed;
    double low[3], high[3]; /* m, of the mesh */
    int64_t n_nodes;
    int is_held; /* the mesh says so, also in conditions that are not supported */
    modal_basis basis;          /* its surface and modes */
    modaltools_chain chain;
    int failed;
} quick;

/* What differs from one variation to the next. */
typedef struct quick_variation {
    int64_t number; /* -1: there are none */
    double share, damping; /* the largest displacement; ratio */
    int is_hit;
    double at[3], impulse[3]; /* m, N s: scaled by `share` */
} quick_variation;

/* OUT of a variation: out_003, or page_003.html. */
void quick_output(const quick *q, int64_t number, char path[PATH_MAX]);

/* The tool that makes OUT. */
const char *quick_shower(const quick *q);

/* Each of these runs a tool; q->failed: it has failed, and has said why. */
modal_status quick_make_mesh(quick *q, modal_error *err);
modal_status quick_look_at_mesh(quick *q, modal_error *err);
modal_status quick_pack(quick *q, modal_error *err);
/* Draws variation `number`, -1 for the only motion. */
modal_status quick_vary(const quick *q, int64_t number, quick_variation *v, modal_error *err);
modal_status quick_move(quick *q, const quick_variation *v, modal_error *err);
modal_status quick_show(quick *q, const quick_variation *v, modal_error *err);

#endif
