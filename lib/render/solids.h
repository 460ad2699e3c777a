/* SPDX-License-Identifier: Apache-2.0 */
/* Octree textures on a scene's points. Private to lib/render. */
#ifndef MODAL_RENDER_SOLIDS_H
#define MODAL_RENDER_SOLIDS_H

#include "lib/render/scene.h"

/* Makes scene->rest, rest_normals and solids of scene->images, where there are solids; objects, ground (ground_material -1: none) and wedges are there.
 * MODAL_ERROR_MEMORY; MODAL_ERROR_INPUT: a solid of the ground that a shape has, too, or that has no value at 2^16 places spread over the ground. */
modal_status modal_render_solids_make(modal_render_scene *scene, const modal_basis *basis, int32_t ground_material, modal_error *err);

/* MODAL_ERROR_INPUT: a solid of the material on a shape that it was not built around. */
modal_status modal_render_solids_check(const modal_render_scene *scene, const modal_look_material *material, int32_t number, int32_t shape,
                                       modal_error *err);

#endif
