/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/sequences/sequence.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "formats/sequences/sequence_parts.h"
#include "lib/base/memory.h"

modal_status modal_sequence_bytes(const modal_sequence_info *info, int64_t *bytes, modal_error *err)
{
    /* A frame's groups, virtual datasets, rows of Steps and XML: 0.9 kB, and 1.0 kB an array. */
    int64_t frame, frames, triangles;
    const int64_t lasting = (info->uv ? 8 : 0) * (info->n_points + info->n_frames) + (info->texture ? 16 : 0) * (info->n_points + info->n_frames);
    if (!modal_sequence_frame_bytes(info, &frame) || !modal_size_add(frame, 1200 + 1200 * info->arrays.n, &frame) ||
        !modal_size_multiply(frame, info->n_frames, &frames) ||
        !modal_size_multiply(info->volume ? info->volume->offsets[info->volume->n_cells] : info->n_triangles,
                             4 * 8, &triangles) ||
        !modal_size_add(frames, triangles, bytes) || !modal_size_add(*bytes, (1 << 18) + lasting, bytes))
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "sequence: too large, %" PRId64 " frames of %" PRId64 " points",
                               info->n_frames, info->n_points);
    return MODAL_OK;
}

static int is_hash(const char *text)
{
    return strlen(text) == MODAL_HASH_TEXT - 1 && strspn(text, "0123456789abcdef") == MODAL_HASH_TEXT - 1;
}

modal_status modal_sequence_check_info(const modal_sequence_info *info, modal_error *err)
{
    int64_t bytes;
    if (info->n_points <= 0 || (!info->volume && info->n_triangles <= 0) || info->n_frames <= 0)
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "sequence: needs points, triangles and frames, %" PRId64 ", %" PRId64
                               ", %" PRId64, info->n_points, info->n_triangles, info->n_frames);
    /* Frames are named by six digits. */
    if (info->n_frames > 999999)
        return modal_error_set(err, MODAL_ERROR_INPUT, "sequence: more than 999999 frames, %" PRId64,
                               info->n_frames);
    if (info->basis_hash && !is_hash(info->basis_hash))
        return modal_error_set(err, MODAL_ERROR_INPUT, "sequence: no basis hash, %s", info->basis_hash);
    int kind = 0;
    while (modal_sequence_sources[kind] && info->source_kind && strcmp(modal_sequence_sources[kind], info->source_kind) != 0)
        kind++;
    if (!info->source_kind || !modal_sequence_sources[kind])
        return modal_error_set(err, MODAL_ERROR_INPUT, "sequence: made of no known kind of source, %s",
                               info->source_kind ? info->source_kind : "(none)");
    if (!info->source_hash || !is_hash(info->source_hash))
        return modal_error_set(err, MODAL_ERROR_INPUT, "sequence: no hash of its source, %s",
                               info->source_hash ? info->source_hash : "(none)");
    modal_status status = modal_sequence_check_arrays(&info->arrays, err);
    if (status == MODAL_OK) status = modal_sequence_bytes(info, &bytes, err);
    if (status == MODAL_OK && info->volume)
        status = modal_sequence_check_cells(info->volume, info->n_points, err);
    if (status != MODAL_OK) return status;
    for (int64_t i = 0; i < 3 * info->n_triangles; i++)
        if (info->triangles[i] < 0 || info->triangles[i] >= info->n_points)
            return modal_error_set(err, MODAL_ERROR_INPUT,
                                   "sequence: triangle %" PRId64 ": no such point, %" PRId64, i / 3,
                                   info->triangles[i]);
    for (int64_t f = 0; f < info->n_frames; f++)
        if (!isfinite(info->times[f]) || (f > 0 && !(info->times[f] > info->times[f - 1])))
            return modal_error_set(err, MODAL_ERROR_INPUT,
                                   "sequence: frame %" PRId64 ": time not finite and increasing, %g",
                                   f, info->times[f]);
    return MODAL_OK;
}
