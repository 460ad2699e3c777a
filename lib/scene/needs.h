/* SPDX-License-Identifier: Apache-2.0 */
/* What of a basis a scene needs, so that no more of a large file is read. */
#ifndef MODAL_SCENE_NEEDS_H
#define MODAL_SCENE_NEEDS_H

#include "lib/model/basis.h"
#include "lib/model/rigid_motion.h"
#include "lib/model/scene.h"

enum {
    MODAL_NEEDS_SURFACE = 1,      /* positions and triangles: where forces, winds and interfaces are */
    MODAL_NEEDS_MATRIX = 2,       /* the modal matrix; without it single tiles of it are asked for */
    MODAL_NEEDS_VOLUME = 4,       /* nodes and groups */
    MODAL_NEEDS_VOLUME_MODES = 8, /* modes at the nodes, for the inertia of moving frames */
    MODAL_NEEDS_REDUCED = 16      /* reduced forces */
};

/* needs [n_shapes], of shapes whose counts need not be known: of the basis only the objects are looked at.
 * Modes are always needed. What the scene says wrongly about objects is left to modal_scene_simulate. */
void modal_scene_needs(const modal_scene *scene, const modal_basis *basis, unsigned *needs);

/* How an object of the basis moves where the scene says `motion` about it. */
modal_step_motion modal_scene_motion_of(modal_scene_motion motion, const modal_object *object);

/* Whether any object's frame moves, so that the trajectory needs frames. */
int modal_scene_moves(const modal_scene *scene, const modal_basis *basis);

/* still [n_objects]: 1 for objects whose frame stays as it is: fixed ones, and what hangs on those of them that do not deform. Returns how many. */
int32_t modal_scene_still(const modal_scene *scene, const modal_basis *basis, uint8_t *still);

/* The first object of a shape that nothing holds whose frame stands still without the scene saying so; -1: none. */
int32_t modal_scene_unheld(const modal_scene *scene, const modal_basis *basis);

/* models [n_objects]: 1 where the object moves by its reduced forces (model "stvk"), else 0. Returns whether one does. */
int modal_scene_models(const modal_scene *scene, const modal_basis *basis, uint8_t *models);

/* The first shape that deforms much in the scene (model "stvk") and has natural modes alone, which are too stiff then; -1: there is
 * none. Modes that are all that the solid can do, which is seen where the solid has been read, are enough. */
int32_t modal_scene_stiff_shape(const modal_scene *scene, const modal_basis *basis);

#endif
