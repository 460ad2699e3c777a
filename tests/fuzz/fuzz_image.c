/* SPDX-License-Identifier: Apache-2.0 */
/* PNG and JPEG: decoded into exactly the room that the head asks for, or refused with a message; twice the same. Images of more than 2^22 texels
 * only have their heads read here: they are slow, not different. */
#include <stdlib.h>
#include <string.h>

#include "formats/images/image.h"
#include "tests/fuzz/digest.h"

uint64_t fuzz_digest;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_TEXELS = 1 << 22 };

typedef struct input {
    const uint8_t *data;
    int64_t size;
} input;

static int64_t read_input(void *context, int64_t at, void *bytes, int64_t n)
{
    const input *in = context;
    if (at < 0 || n < 0) abort();
    if (at >= in->size) return 0;
    if (n > in->size - at) n = in->size - at;
    memcpy(bytes, in->data + at, (size_t)n);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    modal_image_head head;
    modal_error err = {0};
    modal_status status = modal_image_head_read(data, (int64_t)size, "fuzz", &head, &err);
    if (status != err.status || (status != MODAL_OK && !err.message[0])) abort();
    if (status == MODAL_OK) {
        const int64_t n = (int64_t)head.width * head.height;
        if (head.width < 1 || head.height < 1 || head.width > MODAL_IMAGE_SIDE || head.height > MODAL_IMAGE_SIDE || n > MODAL_IMAGE_TEXELS) abort();
        if (head.kind == MODAL_IMAGE_PNG && n / (8 * 1032) > (int64_t)size) abort();
        if (n > MOST_TEXELS) return 0;
        uint8_t *texels[2] = {malloc((size_t)n * 4), malloc((size_t)n * 4)};
        if (!texels[0] || !texels[1]) abort();
        memset(texels[0], 1, (size_t)n * 4);
        memset(texels[1], 2, (size_t)n * 4); /* what is left unwritten differs */
        status = modal_image_decode(data, (int64_t)size, "fuzz", texels[0], &err);
        if (status != err.status || (status != MODAL_OK && !err.message[0])) abort();
        if (modal_image_decode(data, (int64_t)size, "fuzz", texels[1], NULL) != status) abort();
        if (status == MODAL_OK && memcmp(texels[0], texels[1], (size_t)n * 4) != 0) abort();
        modal_error of_end = {0};
        input in = {data, (int64_t)size};
        if (modal_image_end_check(read_input, &in, in.size, &head, "fuzz", &of_end) != of_end.status) abort();
        if (status == MODAL_OK) digest_add(texels[0], n * 4);
        free(texels[0]);
        free(texels[1]);
    }
    digest_text(err.message);
    return 0;
}
