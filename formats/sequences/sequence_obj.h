/* SPDX-License-Identifier: Apache-2.0 */
/* Wavefront's text: a file a frame, and rest.obj, the surface that a point cache is laid upon. */
#ifndef MODAL_FORMATS_SEQUENCE_OBJ_H
#define MODAL_FORMATS_SEQUENCE_OBJ_H

#include "formats/sequences/sequence.h"

extern const modal_sequence_format modal_sequence_obj;

#endif
