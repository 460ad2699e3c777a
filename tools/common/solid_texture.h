/* SPDX-License-Identifier: Apache-2.0 */
/* Octree textures on the shapes of a basis. */
#ifndef TOOLS_COMMON_SOLID_TEXTURE_H
#define TOOLS_COMMON_SOLID_TEXTURE_H

#include <stdint.h>

#include "formats/octree/octree_h5.h"

/* Reads the texture and finds the shapes whose surface it was built around: wears [n_shapes], 0 or 1; *n_wear of them. The basis has its
 * surfaces. The caller frees the file, also after an error. MODAL_ERROR_INPUT "TEX.h5: ..." where no shape is the one, unless it may be around anything. */
modal_status tool_solid_texture_read(const char *path, const modal_basis *basis, int anywhere, modal_octree_file *file, uint8_t *wears,
                                     int32_t *n_wear, modal_error *err);

#endif
