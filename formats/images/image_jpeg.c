/* SPDX-License-Identifier: Apache-2.0 */
/* JPEG by libjpeg-turbo (its libjpeg.txt). */
#include "formats/images/image_parts.h"

#ifdef MODAL_HAVE_JPEG

#include <setjmp.h>
#include <stdio.h>
#include <jpeglib.h>
#include <string.h>

enum { MOST_SCANS = 100 }; /* of a progressive one: each is a pass over the image, and a file may have thousands of empty ones */

typedef struct failure {
    struct jpeg_error_mgr manager; /* the first member: libjpeg hands it out */
    jmp_buf back;
    char why[JMSG_LENGTH_MAX];
} failure;

static void fail(j_common_ptr jpeg)
{
    failure *f = (failure *)jpeg->err;
    f->manager.format_message(jpeg, f->why);
    longjmp(f->back, 1);
}

/* Warnings are of files that are damaged or cut off, whose rest is guessed. */
static void hear(j_common_ptr jpeg, int level)
{
    if (level < 0) fail(jpeg);
}

static void count_scans(j_common_ptr jpeg)
{
    failure *f = (failure *)jpeg->err;
    if (!jpeg->is_decompressor || ((j_decompress_ptr)jpeg)->input_scan_number <= MOST_SCANS) return;
    snprintf(f->why, sizeof f->why, "more than %d scans", MOST_SCANS);
    longjmp(f->back, 1);
}

/* Everything that may jump; 0: f->why. */
static int decode(struct jpeg_decompress_struct *jpeg, failure *f, const void *bytes, int64_t length, const modal_image_head *head,
                  uint8_t *texels)
{
    struct jpeg_progress_mgr progress = {.progress_monitor = count_scans};
    if (setjmp(f->back)) return 0;
    jpeg_create_decompress(jpeg);
    jpeg->progress = &progress;
    jpeg->mem->max_memory_to_use = 1 << 30;
    jpeg_mem_src(jpeg, (unsigned char *)(uintptr_t)bytes, (unsigned long)length); /* only read */
    jpeg_read_header(jpeg, TRUE);
    if (jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK) {
        snprintf(f->why, sizeof f->why, "CMYK is not supported");
        return 0;
    }
    if (jpeg->image_width != (JDIMENSION)head->width || jpeg->image_height != (JDIMENSION)head->height) {
        snprintf(f->why, sizeof f->why, "not the size that its head says");
        return 0;
    }
    jpeg->out_color_space = JCS_EXT_RGBA;
    jpeg->dct_method = JDCT_ISLOW;
    jpeg_start_decompress(jpeg);
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW row = texels + (int64_t)(head->height - 1 - (int32_t)jpeg->output_scanline) * head->width * 4;
        jpeg_read_scanlines(jpeg, &row, 1);
    }
    jpeg_finish_decompress(jpeg);
    return 1;
}

modal_status modal_jpeg_decode(const void *bytes, int64_t length, const char *name, const modal_image_head *head, uint8_t *texels,
                               modal_error *err)
{
    struct jpeg_decompress_struct jpeg = {0};
    failure f = {.why = ""};
    jpeg.err = jpeg_std_error(&f.manager);
    f.manager.error_exit = fail;
    f.manager.emit_message = hear;
    const int done = decode(&jpeg, &f, bytes, length, head, texels);
    jpeg_destroy_decompress(&jpeg);
    return done ? MODAL_OK : modal_error_set(err, MODAL_ERROR_INPUT, "%s: libjpeg: %s", name, f.why);
}

#else

modal_status modal_jpeg_decode(const void *bytes, int64_t length, const char *name, const modal_image_head *head, uint8_t *texels,
                               modal_error *err)
{
    (void)bytes, (void)length, (void)head, (void)texels;
    return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: this program was built without libjpeg-turbo", name);
}

#endif
