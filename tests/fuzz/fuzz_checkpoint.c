/* SPDX-License-Identifier: Apache-2.0 */
/* A checkpoint is read, with the frames that are done, or refused with a message; what is read is finite.
 * HDF5 leaves no object open. */
#include <math.h>
#include <stdlib.h>

#include "formats/checkpoint/checkpoint_h5.h"
#include "tests/fuzz/digest.h"
#include "tests/fuzz/memory_file.h"

uint64_t fuzz_digest;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static modal_status add_rows(void *context, const modal_trajectory_block *rows, modal_error *err)
{
    const modal_checkpoint *c = context;
    const int64_t item = (int64_t)sizeof(double), count = rows->count;
    (void)err;
    digest_add(rows->times, count * item);
    digest_add(rows->q, count * c->n_coordinates * item);
    digest_add(rows->poses, count * c->n_objects * 12 * item);
    digest_add(rows->energy, count * 4 * item);
    if (rows->quality) digest_add(rows->quality, count * (int64_t)sizeof *rows->quality);
    for (int64_t i = 0; i < count * c->n_coordinates; i++)
        if (!isfinite(rows->q[i])) abort();
    return MODAL_OK;
}

/* The frames, as a run that goes on takes them. */
static modal_status read_frames(const char *path, modal_checkpoint *c, modal_error *err)
{
    enum { MOST = 8 };
    modal_trajectory_out *out = NULL;
    double poses[12 * MOST] = {0};
    modal_quality none = modal_quality_none();
    int64_t offsets[MOST + 1] = {0};
    const int64_t n = c->n_objects > 0 ? c->n_objects : 1;
    if (n > MOST || c->n_coordinates < n || c->most_frames > 1000) return MODAL_OK;
    for (int64_t i = 1; i < n; i++) offsets[i] = i;
    offsets[n] = c->n_coordinates;
    const modal_trajectory head = {.n_frames = c->most_frames, .n_objects = (int32_t)n, .mode_offsets = offsets,
                                   .poses = c->n_objects > 0 ? poses : NULL, .energy = poses,
                                   .quality = c->n_quality == MODAL_QUALITY_NUMBERS ? &none : NULL,
                                   .basis_path = (char *)"b.h5", .basis_hash = "0123456789abcdef0123456789abcdef"};
    modal_status status = modal_trajectory_out_open(&out, NULL, &head, err);
    if (status == MODAL_OK) status = modal_checkpoint_rows(path, c, 25, out, err);
    if (status == MODAL_OK) status = modal_trajectory_out_read(out, 0, c->n_frames, add_rows, c, err);
    modal_trajectory_out_abandon(&out);
    return status;
}

static modal_status read_all(const char *path, modal_error *err)
{
    modal_checkpoint c;
    modal_status status = modal_checkpoint_read(path, &c, err);
    for (int i = 0; i < MODAL_CHECKPOINT_STATE; i++)
        for (int64_t k = 0; k < c.state_counts[i]; k++)
            if (!isfinite(c.state[i][k])) abort();
    if (status == MODAL_OK && (c.n_frames < 0 || c.n_coordinates < 0 || c.n_objects < 0 || !c.back_end)) abort();
    for (int i = 0; i < MODAL_CHECKPOINT_STATE; i++) digest_add(c.state[i], c.state_counts[i] * (int64_t)sizeof(double));
    digest_text(c.back_end);
    if (status == MODAL_OK) status = read_frames(path, &c, err);
    modal_checkpoint_free(&c);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return memory_file_read(data, size, read_all); }
