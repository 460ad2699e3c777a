/* SPDX-License-Identifier: Apache-2.0 */
/* What the reader takes, the checker of the same bytes must not call unreadable, and what it refuses
 * must be named; no HDF5 id may stay open. */
#include <hdf5.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "formats/basis/basis_fields.h"
#include "formats/basis/basis_h5.h"
#include "tests/fuzz/digest.h"
#include "tests/fuzz/open_ids.h"

uint64_t fuzz_digest;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add(const modal_basis *b)
{
    for (int32_t i = 0; i < b->n_shapes; i++) {
        int64_t sizes[SIZE_COUNT], dims[MODAL_H5_RANK];
        modal_basis_sizes(&b->shapes[i], sizes);
        for (int f = 0; f < MODAL_BASIS_FIELDS; f++) {
            const modal_h5_field *field = &modal_basis_fields[f];
            int64_t bytes = (int64_t)modal_h5_type_bytes(field->type);
            modal_basis_field_dims(field, sizes, dims);
            for (int k = 0; k < field->rank; k++) bytes *= dims[k];
            digest_add(modal_basis_field_array(&b->shapes[i], field), bytes);
        }
    }
    for (int32_t i = 0; i < b->n_shapes; i++) digest_text(b->shapes[i].file ? b->shapes[i].file : "");
    digest_add(b->objects, b->n_objects * (int64_t)sizeof *b->objects);
    digest_text(b->hash);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    modal_basis read;
    modal_error err = {0};
    modal_findings findings = {0};
    modal_basis_parts_folder(FUZZ_PARTS);
    modal_status status = modal_basis_read_image(data, size, "fuzz", MODAL_BASIS_ALL, &read, &err);
    if (status != err.status || (status != MODAL_OK && !err.message[0])) abort();
    digest_text(err.message);
    add(&read);
    modal_basis_free(&read);
    modal_status checked = modal_basis_check_image(data, size, "fuzz", &findings, NULL);
    int clean = checked == MODAL_OK && findings.n == 0;
    if (status != MODAL_OK && clean) abort();
    if (status == MODAL_OK && checked != MODAL_OK) abort();
    digest_findings(&findings);
    modal_findings_free(&findings);
    no_open_ids();
    return 0;
}
