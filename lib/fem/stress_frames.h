/* SPDX-License-Identifier: Apache-2.0 */
/* Strain, stress, von Mises' stress, the Jacobian and the pressure in the frames of a trajectory: of the solids' cells and nodes, by the law that moved
 * each object, from its modes at the nodes and q in float64 (stress.h). */
#ifndef MODAL_FEM_STRESS_FRAMES_H
#define MODAL_FEM_STRESS_FRAMES_H

#include "lib/model/basis.h"
#include "lib/model/frames.h"
#include "lib/model/trajectory.h"

typedef struct modal_stress_frames modal_stress_frames;

/* Ten values: 0 strain, 1 stress, 2 von_mises, 3 jacobian, 4 pressure of the cells, 5 to 9 of the nodes. */
enum { MODAL_STRESS_FRAMES_VALUES = 10 };
modal_array modal_stress_frames_array(int value);
/* Keeps what it needs of the solids before points are made of their nodes (lib/deform/solids.h); begin then takes the
 * rest of the solids. The arrays whose sources are first_source + value are wanted. *stress is for the caller to delete,
 * also after errors. */
modal_status modal_stress_frames_keep(modal_stress_frames **stress, const modal_basis *basis, modal_error *err);
modal_status modal_stress_frames_begin(modal_stress_frames *stress, modal_basis *basis, const modal_array_list *arrays,
                                      int first_source, modal_error *err);
int64_t modal_stress_frames_bytes(const modal_stress_frames *stress);
/* Makes the values of a frame of the trajectory, [cells or nodes of all objects, components]. */
modal_status modal_stress_frames_make(modal_stress_frames *stress, const modal_trajectory *q, int64_t frame, int n_threads,
                                      modal_error *err);
/* The same of one solid, whose displacements u [n_nodes, 3] are given, each element by its law; the mesh is moved into it, `laws`
 * and `patches` (modal_stress_set_patches, or NULL) borrowed. */
modal_status modal_stress_frames_of(modal_stress_frames **stress, modal_volume_mesh *mesh, const uint8_t *laws, const int32_t *patches,
                                   const modal_array_list *arrays, int first_source, modal_error *err);
modal_status modal_stress_frames_moved(modal_stress_frames *stress, const double *u, int64_t frame, int n_threads, modal_error *err);
const float *modal_stress_frames_values(const modal_stress_frames *stress, int value); /* NULL: not wanted */
/* How many objects and frames had an element inside out so far, and the first one: its frame, object, and tag. */
int64_t modal_stress_frames_inverted(const modal_stress_frames *stress, int64_t *frame, int32_t *object, int64_t *element);
modal_stress_frames *modal_stress_frames_delete(modal_stress_frames *stress); /* returns NULL; NULL is fine */

#endif
