/* SPDX-License-Identifier: Apache-2.0 */
/* VTK's XML files with the data appended raw, a file a frame, and the .pvd that lists them: .vtp for
 * surfaces, .vtu for solids. */
#ifndef MODAL_FORMATS_SEQUENCE_VTK_H
#define MODAL_FORMATS_SEQUENCE_VTK_H

#include "formats/sequences/sequence.h"

extern const modal_sequence_format modal_sequence_vtp, modal_sequence_vtu;

#endif
