/* SPDX-License-Identifier: Apache-2.0 */
/* The checker of sequences opens a name, so the bytes go into a file in memory. */
#include <stddef.h>
#include <stdlib.h>

#include "formats/sequences/sequence_vtkhdf.h"
#include "tests/fuzz/digest.h"
#include "tests/fuzz/memory_file.h"

uint64_t fuzz_digest;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static modal_status read_all(const char *path, modal_error *err)
{
    modal_findings findings = {0};
    const modal_status status = modal_sequence_check(path, &findings, err);
    digest_findings(&findings);
    modal_findings_free(&findings);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return memory_file_read(data, size, read_all); }
