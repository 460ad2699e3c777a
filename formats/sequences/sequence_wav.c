/* SPDX-License-Identifier: Apache-2.0 */
/* RIFF WAVE with 32-bit floats, as "Multimedia Programming Interface and Data Specifications 1.0" (IBM, Microsoft,
 * 1991) and its New Multimedia Data Types of 1994 have it: the chunks fmt (format 3), fact, LIST (INFO with a comment, the motion's hash) and
 * data. */
#include "formats/sequences/sequence_wav.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/meshes/text_reader.h"
#include "formats/sequences/file_out.h"
#include "lib/base/finite.h"
#include "lib/base/memory.h"

enum { HEAD_BYTES = 122, COMMENT = 70, COMMENT_BYTES = 44, DATA = 114, PIECE = 65536 };
#define MOTION "trajectory "

static modal_status size(const modal_sequence_info *info, int64_t *disk_bytes, int64_t *memory_bytes, modal_error *err)
{
    const modal_sequence_sound *s = info->sound;
    *memory_bytes = 4 * PIECE;
    if (!modal_size_multiply(s->n_samples, 4 * (int64_t)s->n_channels, disk_bytes) ||
        !modal_size_add(*disk_bytes, HEAD_BYTES, disk_bytes) || *disk_bytes > UINT32_MAX || s->n_channels > UINT16_MAX / 4)
        return modal_error_set(err, MODAL_ERROR_INPUT, "wav: cannot be larger than 4 GiB, %" PRId64 " samples of %d channels",
                               s->n_samples, s->n_channels);
    return MODAL_OK;
}

static void put(unsigned char *to, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) to[i] = (unsigned char)(value >> 8 * i);
}

static void make_head(const modal_sequence_sound *s, const char *motion_hash, unsigned char *head)
{
    const uint32_t channels = (uint32_t)s->n_channels, bytes = (uint32_t)(4 * s->n_samples) * channels;
    memcpy(head, "RIFF    WAVEfmt ", 16);
    put(head + 4, HEAD_BYTES - 8 + bytes, 4);
    put(head + 16, 18, 4);
    put(head + 20, 3, 2);
    put(head + 22, channels, 2);
    put(head + 24, (uint32_t)s->rate, 4);
    put(head + 28, (uint32_t)s->rate * channels * 4, 4);
    put(head + 32, channels * 4, 2);
    put(head + 34, 32, 2);
    put(head + 36, 0, 2); /* no extension */
    memcpy(head + 38, "fact", 4);
    put(head + 42, 4, 4);
    put(head + 46, (uint32_t)s->n_samples, 4);
    memcpy(head + 50, "LIST    INFOICMT", 16);
    put(head + 54, 4 + 8 + COMMENT_BYTES, 4);
    put(head + 66, COMMENT_BYTES, 4);
    memset(head + COMMENT, 0, COMMENT_BYTES);
    snprintf((char *)head + COMMENT, COMMENT_BYTES, MOTION "%.32s", motion_hash);
    memcpy(head + DATA, "data", 4);
    put(head + DATA + 4, bytes, 4);
}

static modal_status begin(void **writer, const modal_sequence_target *target, const modal_sequence_info *info,
                          modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_sequence_sound *s = info->sound;
    const int64_t n = s->n_samples * s->n_channels;
    modal_file_out out = {.file = -1};
    unsigned char head[HEAD_BYTES];
    float *piece = NULL;
    *writer = NULL;
    make_head(s, info->source_hash, head);
    MODAL_TRY(modal_alloc(&piece, PIECE, sizeof *piece, "samples", err));
    MODAL_TRY(modal_file_out_open(&out, target->files[0], err));
    MODAL_TRY(modal_file_out_write(&out, head, HEAD_BYTES, err));
    for (int64_t first = 0; first < n; first += PIECE) {
        const int64_t count = n - first < PIECE ? n - first : PIECE;
        for (int64_t i = 0; i < count; i++) {
            piece[i] = (float)(s->samples[first + i] * s->gain);
            if (!isfinite(piece[i]))
                MODAL_FAIL(err, MODAL_ERROR_INPUT, "wav: sample %" PRId64 ": does not fit float32, %g",
                           (first + i) / s->n_channels, s->samples[first + i] * s->gain);
        }
        MODAL_TRY(modal_file_out_write(&out, piece, 4 * count, err));
    }
    MODAL_TRY(modal_file_out_close(&out, err));
done:
    modal_free(&piece);
    modal_file_out_free(&out);
    return status;
}

static modal_status add(void *writer, const modal_frames *frames, modal_error *err)
{
    (void)writer, (void)frames, (void)err;
    return MODAL_OK;
}

static modal_status end(void **writer, const modal_sequence_target *target, const modal_sequence_info *info,
                        modal_error *err)
{
    (void)writer, (void)target, (void)info, (void)err;
    return MODAL_OK;
}

static void drop(void **writer) { *writer = NULL; }

const modal_sequence_format modal_sequence_wav = {
    .name = "wav", .files = {"sound.wav"}, .kinds = {"wav"}, .holds_surface = 1,
    .carries = modal_sequence_is_points, .size = size, .begin = begin, .add = add,
    .end = end, .abort = drop};

/* ---- reading ---- */

static uint32_t get(const unsigned char *from)
{
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

modal_status modal_wav_parse(const unsigned char *bytes, int64_t n, const char *name, modal_wav *wav, modal_error *err)
{
    modal_status status = MODAL_OK;
    unsigned char head[HEAD_BYTES];
    *wav = (modal_wav){0};
    if (n < HEAD_BYTES) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: no sound.wav of modaldeform, %" PRId64 " bytes", name, n);
    modal_sequence_sound said = {.rate = (int)(get(bytes + 24) & 0x7fffffff), .n_channels = bytes[22] | bytes[23] << 8,
                                 .n_samples = get(bytes + 46)};
    memcpy(wav->motion_hash, bytes + COMMENT + strlen(MOTION), MODAL_HASH_TEXT - 1);
    if (said.n_channels > 0 && said.n_channels <= UINT16_MAX / 4 && said.rate > 0) make_head(&said, wav->motion_hash, head);
    if (said.n_channels == 0 || said.n_channels > UINT16_MAX / 4 || said.rate == 0 || said.n_samples == 0 ||
        memcmp(head, bytes, HEAD_BYTES) != 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: no sound.wav of modaldeform (32-bit floats)", name);
    if ((n - HEAD_BYTES) / 4 / said.n_channels != said.n_samples || (n - HEAD_BYTES) % (4 * (int64_t)said.n_channels) != 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: %" PRId64 " bytes, its head says %" PRId64 " samples of %d channels", name, n,
                   said.n_samples, said.n_channels);
    const int64_t count = said.n_samples * said.n_channels;
    MODAL_TRY(modal_alloc(&wav->samples, count, sizeof *wav->samples, "samples", err));
    memcpy(wav->samples, bytes + HEAD_BYTES, 4 * (size_t)count);
    const int64_t place = modal_first_nonfinite(wav->samples, count);
    if (place < count)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: sample %" PRId64 ": not finite", name, place / said.n_channels);
    wav->rate = said.rate;
    wav->n_channels = said.n_channels;
    wav->n_samples = said.n_samples;
done:
    if (status != MODAL_OK) modal_wav_free(wav);
    return status;
}

modal_status modal_wav_read(const char *path, modal_wav *wav, modal_error *err)
{
    char *bytes = NULL;
    int64_t n = 0;
    *wav = (modal_wav){0};
    modal_status status = modal_file_load(path, &bytes, &n, err);
    if (status == MODAL_OK) status = modal_wav_parse((const unsigned char *)bytes, n, path, wav, err);
    modal_free(&bytes);
    return status;
}

void modal_wav_free(modal_wav *wav)
{
    modal_free(&wav->samples);
    *wav = (modal_wav){0};
}
