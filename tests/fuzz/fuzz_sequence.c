/* SPDX-License-Identifier: Apache-2.0 */
/* The checker of sequences opens a name, so the bytes go into a file in memory. */
#include <stddef.h>
#include <stdlib.h>

#include "formats/sequences/sequence_read.h"
#include "formats/sequences/sequence_vtkhdf.h"
#include "lib/base/memory.h"
#include "tests/fuzz/digest.h"
#include "tests/fuzz/memory_file.h"

uint64_t fuzz_digest;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the reader takes: the first and the last frame. */
static void read_surface(const char *path)
{
    modal_sequence_reader *reader;
    modal_sequence_surface surface;
    float *points = NULL;
    if (modal_sequence_reader_open(&reader, path, &surface, NULL) != MODAL_OK) return;
    if (surface.n_points < 100000 && modal_alloc(&points, 3 * surface.n_points, sizeof *points, "points", NULL) == MODAL_OK)
        for (int64_t f = 0; f < 2; f++)
            if (modal_sequence_reader_points(reader, f ? surface.n_frames - 1 : 0, points, NULL) != MODAL_OK) break;
    modal_free(&points);
    modal_sequence_reader_close(reader);
}

static modal_status read_all(const char *path, modal_error *err)
{
    modal_findings findings = {0};
    const modal_status status = modal_sequence_check(path, &findings, err);
    digest_findings(&findings);
    read_surface(path);
    modal_findings_free(&findings);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return memory_file_read(data, size, read_all); }
