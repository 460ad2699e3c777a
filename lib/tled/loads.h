/* SPDX-License-Identifier: Apache-2.0 */
/* What acts on a solid (formats/solid_scene.md) as kernels/tled_step reads it: a signal an action, its curve. */
#ifndef MODAL_TLED_LOADS_H
#define MODAL_TLED_LOADS_H

#include "lib/model/solid_scene.h"
#include "lib/tled/solid.h"

/* Nodes of an action, in the mesh's numbers of nodes: indices [n]; of a force's file the nodes of its rows. */
typedef struct modal_tled_nodes {
    int64_t n;
    int32_t *nodes;
    int64_t n_faces;
    const int32_t *faces; /* [n_faces, 4] of a surface group, as in modal_group, or NULL: not known */
} modal_tled_nodes;

/* Gives the model its loads, faces and prescribed components. nodes [scene->n_actions], each ascending and without
 * repeats but for files; fixed_nodes [n_fixed] (of the mesh) with components 1 x, 2 y, 4 z stay where they are.
 * MODAL_ERROR_INPUT "displacements[1]: what": a pressure without a boundary face, or on a face that is none; a component that is held twice; *line is
 * that action's, else 0. The model is due to be freed then. */
modal_status modal_tled_loads_new(const modal_solid_scene *scene, const modal_tled_nodes *nodes, int64_t n_fixed,
                                  const int32_t *fixed_nodes, const uint8_t *fixed_components, modal_tled_model *model,
                                  int32_t *line, modal_error *err);
void modal_tled_loads_free(modal_tled_solid *solid); /* modal_tled_model_free does it */

/* idle [scene->n_actions]: 1 for a force or a pressure that only held components take, so that it moves nothing and only shows in reactions.
 * The solid has its loads. MODAL_ERROR_MEMORY. */
modal_status modal_tled_loads_idle(const modal_solid_scene *scene, const modal_tled_solid *solid, uint8_t *idle, modal_error *err);

/* The factor at t: of loads 0 past the last key, of displacements (`holds`) its value. */
double modal_tled_signal(const modal_curve *curve, double t, int holds);

/* gravity [n, 3] at steps first .. first + n - 1, and signals [n + 1, n_signals] at first .. first + n, of
 * t_k = start + k step: those of the actions, then the places of the bodies. */
void modal_tled_signals(const modal_solid_scene *scene, double start, double step, int64_t first, int64_t n, double *gravity,
                        int32_t n_signals, double *signals);

#endif
