/* SPDX-License-Identifier: Apache-2.0 */
/* Octree textures on a scene's points. Private to lib/render. */
#ifndef MODAL_RENDER_SOLIDS_H
#define MODAL_RENDER_SOLIDS_H

#include "lib/render/scene.h"

/* Makes scene->rest, rest_normals and solids of scene->images, where there are solids; objects and wedges are there. MODAL_ERROR_MEMORY. */
modal_status modal_render_solids_make(modal_render_scene *scene, const modal_basis *basis, modal_error *err);

/* MODAL_ERROR_INPUT: a solid of the material on a shape that it was not built around, or on the ground (shape -1). */
modal_status modal_render_solids_check(const modal_render_scene *scene, const modal_look_material *material, int32_t number, int32_t shape,
                                       modal_error *err);

#endif
