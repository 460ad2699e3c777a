/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "formats/meshes/mesh_parse.h"
#include "lib/base/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t *numbers, count;
    modal_error err = {0};
    modal_status status =
        modal_bou_parse((const char *)data, (int64_t)size, "fuzz", &numbers, &count, &err);
    if (status != MODAL_OK && (numbers || count != 0 || err.status != status)) abort();
    if (status == MODAL_OK && (!numbers || count < 0 || (count > 0 && numbers[0] < 0))) abort();
    for (int64_t i = 1; i < count; i++)
        if (numbers[i] <= numbers[i - 1]) abort();
    modal_free(&numbers);
    return 0;
}
