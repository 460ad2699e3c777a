/* SPDX-License-Identifier: Apache-2.0 */
/* sound.wav: samples of 32-bit floats (RIFF WAVE, format 3). The samples are the caller's, in modal_sequence_info. */
#ifndef MODAL_FORMATS_SEQUENCE_WAV_H
#define MODAL_FORMATS_SEQUENCE_WAV_H

#include "formats/sequences/sequence.h"

extern const modal_sequence_format modal_sequence_wav;

#endif
