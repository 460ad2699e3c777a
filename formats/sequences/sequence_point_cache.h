/* SPDX-License-Identifier: Apache-2.0 */
/* Point caches, which hold positions and nothing else: PC2, which Blender's Mesh Cache modifier, Maya and 3ds Max read, and MDD,
 * LightWave's, which Blender and others read, too. */
#ifndef MODAL_FORMATS_SEQUENCE_POINT_CACHE_H
#define MODAL_FORMATS_SEQUENCE_POINT_CACHE_H

#include "formats/sequences/sequence.h"

extern const modal_sequence_format modal_sequence_pc2, modal_sequence_mdd;

#endif
