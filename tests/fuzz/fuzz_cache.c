/* SPDX-License-Identifier: Apache-2.0 */
/* The readers of point caches open a name, so the bytes go into a file in memory; the first byte tells the two kinds apart. */
#include <stddef.h>
#include <stdlib.h>

#include "formats/sequences/cache_read.h"
#include "lib/base/memory.h"
#include "tests/fuzz/digest.h"
#include "tests/fuzz/memory_file.h"

uint64_t fuzz_digest;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static modal_cache_kind kind;

static modal_status read_all(const char *path, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_cache_reader *reader = NULL;
    modal_cache cache;
    float *points = NULL;
    MODAL_TRY(modal_cache_reader_open(&reader, kind, path, &cache, err));
    MODAL_TRY(modal_alloc(&points, 3 * cache.n_points, sizeof *points, "points", err)); /* as large as the file at most */
    for (int64_t f = 0; f < 2; f++) {
        MODAL_TRY(modal_cache_reader_points(reader, f ? cache.n_frames - 1 : 0, points, err));
        for (int64_t i = 0; i < 3 * cache.n_points; i++) fuzz_digest = fuzz_digest * 31 + (uint64_t)(points[i] != 0.0f);
    }
done:
    modal_cache_reader_close(reader);
    modal_free(&points);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kind = size > 0 && data[0] == 'P' ? MODAL_CACHE_PC2 : MODAL_CACHE_MDD;
    return memory_file_read(data, size, read_all);
}
