/* SPDX-License-Identifier: Apache-2.0 */
/* A piece of a sequence with --precision is read or refused with a message; frames that come have all their arrays, of sizes that fit. Before it
 * stands a byte: how many points there are, and whether an array of cells is rounded with them. */
#include <stddef.h>

#include "formats/sequences/sequence_parts.h"
#include "lib/model/encoding.h"
#include "tests/fuzz/memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARRAYS = 3 };
static const double PRECISION = 1e-4;
static modal_array_list list;
static int64_t rows[MODAL_MOST_ARRAYS];
static volatile unsigned char sum; /* so that the bytes are read */

static modal_status take(modal_sequence_writer *to, const modal_frames *frames, modal_error *err)
{
    (void)to, (void)err;
    if (frames->n_frames != 1) abort();
    for (int i = 0; i < list.n; i++) {
        const int64_t n = rows[i] * list.all[i].components;
        const modal_encoded_array *e = &frames->encoded[i];
        if (modal_sequence_is_rounded(PRECISION, &list.all[i]) != (e->bytes != NULL) || (e->bytes != NULL) == (frames->arrays[i] != NULL)) abort();
        if (e->bytes && (e->of->n_bytes < MODAL_ENCODED_HEAD || e->of->n_bytes > modal_encoded_room(n))) abort();
        const unsigned char *bytes = e->bytes ? e->bytes : (const unsigned char *)frames->arrays[i];
        for (int64_t k = 0; k < (e->bytes ? e->of->n_bytes : 4 * n); k++) sum = (unsigned char)(sum + bytes[k]);
    }
    return MODAL_OK;
}

static modal_status read_it(const char *path, modal_error *err)
{
    return modal_sequence_read_piece(path, &list, rows, PRECISION, NULL, take, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const modal_array arrays[ARRAYS] = {{.name = "positions", .components = 3, .unit = "m"},
                                               {.name = "speed", .components = 1, .unit = "m/s"},
                                               {.name = "stress", .components = 1, .unit = "Pa", .of_cells = 1}};
    if (size < 1) return 0;
    list.n = 0;
    for (int i = 0; i < ARRAYS - !(data[0] & 1); i++) {
        if (modal_array_add(&list, &arrays[i], NULL) != MODAL_OK) abort();
        rows[i] = (data[0] >> 1) + i;
    }
    return memory_file_read(data + 1, size - 1, read_it);
}
