/* SPDX-License-Identifier: Apache-2.0 */
/* What modaltex pack is measured against: prints the processor seconds that libpng needs to decode the files, and a plain box filter of bytes for a
 * level each. usage: decode_images FILE.png... */
#include <stdio.h>
#include <time.h>

#include "formats/images/image.h"
#include "formats/meshes/text_reader.h"
#include "lib/base/memory.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* All levels after the first of `texels`, one after the other; sizes are powers of two. */
static void box_filter(uint8_t *texels, int64_t w, int64_t h)
{
    while (w > 1 && h > 1) {
        uint8_t *to = texels + 4 * w * h;
        for (int64_t y = 0; y < h / 2; y++)
            for (int64_t x = 0; x < w / 2; x++)
                for (int k = 0; k < 4; k++) {
                    const uint8_t *f = texels + 4 * (2 * y * w + 2 * x) + k;
                    to[4 * (y * (w / 2) + x) + k] = (uint8_t)((f[0] + f[4] + f[4 * w] + f[4 * w + 4] + 2) / 4);
                }
        texels = to;
        w /= 2;
        h /= 2;
    }
}

int main(int argc, char **argv)
{
    double decode = 0, filter = 0;
    uint8_t *texels = NULL;
    int64_t capacity = 0;
    modal_error err = {0};
    for (int i = 1; i < argc; i++) {
        char *bytes = NULL;
        int64_t length;
        modal_image_head head;
        if (modal_file_load(argv[i], &bytes, &length, &err) != MODAL_OK || modal_image_head_read(bytes, length, argv[i], &head, &err) != MODAL_OK ||
            modal_grow(&texels, &capacity, (int64_t)head.width * head.height * 6, 1, "texels", &err) != MODAL_OK) break;
        const double start = now();
        if (modal_image_decode(bytes, length, argv[i], texels, &err) != MODAL_OK) break;
        const double middle = now();
        box_filter(texels, head.width, head.height);
        decode += middle - start;
        filter += now() - middle;
        modal_free(&bytes);
    }
    if (err.status != MODAL_OK) return fprintf(stderr, "%s\n", err.message), 1;
    printf("%.6f %.6f\n", decode, filter);
    modal_free(&texels);
    return 0;
}
