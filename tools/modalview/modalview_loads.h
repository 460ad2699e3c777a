/* SPDX-License-Identifier: Apache-2.0 */
/* The loads that a page shows: forces and impulses at vertices. */
#ifndef TOOLS_MODALVIEW_LOADS_H
#define TOOLS_MODALVIEW_LOADS_H

#include "formats/viewer/viewer_data.h"
#include "lib/model/scene.h"
#include "tools/common/tool.h"

/* Those of the impulses in the command line that made the trajectory, and of the scene at `scene_path` (NULL: none), which
 * must be the one that it was made of: else MODAL_ERROR_INPUT. The caller frees *loads. The basis has surfaces, and
 * solids where the scene names groups (modalview_loads_need_solids). */
modal_status modalview_loads_make(tool *t, const char *scene_path, const modal_scene *scene, const modal_basis *basis,
                                  const modal_trajectory *trajectory, modal_viewer_load **loads, int32_t *n, modal_error *err);
void modalview_loads_free(modal_viewer_load **loads, int32_t n);
int modalview_loads_need_solids(const modal_scene *scene);

#endif
