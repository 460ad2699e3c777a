/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODAL_FORMATS_SEQUENCE_MDD_H
#define MODAL_FORMATS_SEQUENCE_MDD_H

#include "formats/sequences/sequence.h"

extern const modal_sequence_format modal_sequence_mdd;

#endif
