/* SPDX-License-Identifier: Apache-2.0 */
/* What the reader takes, the checker of the same bytes must not call unreadable, and what it refuses
 * must be named; no HDF5 id may stay open. */
#include <hdf5.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "formats/trajectory/trajectory_h5.h"
#include "tests/fuzz/digest.h"
#include "tests/fuzz/open_ids.h"

uint64_t fuzz_digest;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add(const modal_trajectory *t)
{
    if (!t->mode_offsets) return;
    const int64_t item = (int64_t)sizeof(double), n = t->n_frames;
    digest_add(t->times, n * item);
    digest_add(t->mode_offsets, (t->n_objects + 1) * (int64_t)sizeof(int64_t));
    digest_add(t->q, n * t->mode_offsets[t->n_objects] * item);
    digest_add(t->poses, n * t->n_objects * 12 * item);
    digest_add(t->energy, n * 4 * item);
    digest_text(t->basis_path);
    digest_text(t->basis_hash);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    modal_trajectory read;
    modal_error err = {0};
    modal_findings findings = {0};
    modal_status status = modal_trajectory_read_image(data, size, "fuzz", &read, &err);
    if (status != err.status || (status != MODAL_OK && !err.message[0])) abort();
    digest_text(err.message);
    add(&read);
    modal_trajectory_free(&read);
    modal_status checked = modal_trajectory_check_image(data, size, "fuzz", &findings, NULL);
    int clean = checked == MODAL_OK && findings.n == 0;
    if (status != MODAL_OK && clean) abort();
    if (status == MODAL_OK && checked != MODAL_OK) abort();
    digest_findings(&findings);
    modal_findings_free(&findings);
    no_open_ids();
    return 0;
}
