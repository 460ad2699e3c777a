/* SPDX-License-Identifier: Apache-2.0 */
/* A basis's surface as its user knows it. */
#ifndef MODAL_MODEL_USER_SURFACE_H
#define MODAL_MODEL_USER_SURFACE_H

#include "lib/base/status.h"
#include "lib/model/basis.h"
#include "lib/model/volume_mesh.h"

/* Rest positions, triangles and uv, where there are some, in the user's order. The caller frees `mesh` with modal_surface_mesh_free; after an
 * error it is empty. MODAL_ERROR_MEMORY. */
modal_status modal_user_surface(const modal_surface *surface, modal_surface_mesh *mesh, modal_error *err);

#endif
