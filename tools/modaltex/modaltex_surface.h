/* SPDX-License-Identifier: Apache-2.0 */
/* Surfaces that octree textures are built around, painted from and sampled on. */
#ifndef TOOLS_MODALTEX_SURFACE_H
#define TOOLS_MODALTEX_SURFACE_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/model/volume_mesh.h"
#include "tools/common/options.h"

#define MODALTEX_OPTION_SHAPE {"shape", 0, "I", "0", "The shape of a basis, from 0.", 0}

/* A surface file (.obj, .ply, ...), or a shape of a basis in the user's order of vertices and triangles, with uv where it has some. The caller frees it with
 * modal_surface_mesh_free. MODAL_ERROR_INPUT, MODAL_ERROR_SYSTEM with the path. */
modal_status modaltex_surface_read(const char *path, int64_t shape, modal_surface_mesh *surface, modal_error *err);

#endif
