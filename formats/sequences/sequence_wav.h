/* SPDX-License-Identifier: Apache-2.0 */
/* sound.wav: samples of 32-bit floats (RIFF WAVE, format 3). The samples are the caller's, in modal_sequence_info. */
#ifndef MODAL_FORMATS_SEQUENCE_WAV_H
#define MODAL_FORMATS_SEQUENCE_WAV_H

#include "formats/sequences/sequence.h"

extern const modal_sequence_format modal_sequence_wav;

/* A sound.wav in memory; the caller frees it. */
typedef struct modal_wav {
    int rate, n_channels;
    int64_t n_samples;
    float *samples; /* [n_samples, n_channels] finite */
    char motion_hash[MODAL_HASH_TEXT]; /* of the file whose motion it is */
} modal_wav;

/* Reads what the writer writes, and nothing else: 32-bit floats with the writer's head. MODAL_ERROR_INPUT otherwise. */
modal_status modal_wav_read(const char *path, modal_wav *wav, modal_error *err);
/* The same for the n bytes of a file; `name` stands for the path in messages. */
modal_status modal_wav_parse(const unsigned char *bytes, int64_t n, const char *name, modal_wav *wav, modal_error *err);
void modal_wav_free(modal_wav *wav);

#endif
