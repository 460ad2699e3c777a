/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODAL_FORMATS_SEQUENCE_PC2_H
#define MODAL_FORMATS_SEQUENCE_PC2_H

#include "formats/sequences/sequence.h"

extern const modal_sequence_format modal_sequence_pc2;

#endif
