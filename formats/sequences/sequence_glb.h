/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODAL_FORMATS_SEQUENCE_GLB_H
#define MODAL_FORMATS_SEQUENCE_GLB_H

#include "formats/sequences/sequence.h"

extern const modal_sequence_format modal_sequence_glb;

#endif
