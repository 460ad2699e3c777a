/* SPDX-License-Identifier: Apache-2.0 */
/* Packed images are read with their texels, or refused with a message. What the reader takes, the checker finds sound; what it gives
 * may be walked: every image has its layer. */
#include <stdlib.h>
#include <string.h>

#include "formats/textures/textures_h5.h"
#include "tests/fuzz/digest.h"
#include "tests/fuzz/memory_file.h"

uint64_t fuzz_digest;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static modal_status read_all(const char *path, modal_error *err)
{
    modal_textures t;
    modal_findings findings = {0};
    const modal_status status = modal_textures_read(path, 1, &t, err);
    const modal_status checked = modal_textures_check(path, &findings, NULL);
    if (status == MODAL_OK ? checked != MODAL_OK || findings.n != 0 : checked == MODAL_OK && findings.n == 0) abort();
    modal_findings_free(&findings);
    for (int32_t i = 0; status == MODAL_OK && i < t.n_materials; i++) {
        digest_text(t.names[i]);
        for (int k = 0; k < 2; k++)
            if (t.of_material[i][k] >= t.n_images || (t.of_material[i][k] >= 0 && t.images[t.of_material[i][k]].role != k)) abort();
    }
    for (int32_t i = 0; status == MODAL_OK && i < t.n_images; i++) {
        const modal_texture_image *m = &t.images[i];
        const modal_texture_class *k = &t.classes[m->class];
        digest_text(m->name);
        for (int l = 0; l < k->n_levels; l++) digest_add(k->levels[l] + 4 * m->layer, 4);
    }
    if (status == MODAL_OK) modal_textures_free(&t);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return memory_file_read(data, size, read_all); }
