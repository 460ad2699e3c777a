/* SPDX-License-Identifier: Apache-2.0 */
/* /atlas of octree.h5. Only for formats/octree. */
#ifndef MODAL_FORMATS_OCTREE_ATLAS_H5_H
#define MODAL_FORMATS_OCTREE_ATLAS_H5_H

#include "formats/h5/h5_util.h"
#include "lib/model/octree.h"
#include "lib/model/octree_atlas.h"

/* Nothing where the atlas has no uv. */
modal_status modal_octree_atlas_write(hid_t root, const modal_octree *octree, const modal_octree_atlas *atlas, modal_error *err);

/* Reads and checks the group where it is there; the octree is sound. What is read belongs to the atlas, also after an error. */
modal_status modal_octree_atlas_read(const modal_h5_in *in, const modal_h5_place *root, const modal_octree *octree, modal_octree_atlas *atlas);

#endif
