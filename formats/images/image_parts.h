/* SPDX-License-Identifier: Apache-2.0 */
/* The decoders; only for image*.c. Both decode into [height, width, 4], the highest row at the end. */
#ifndef MODAL_FORMATS_IMAGE_PARTS_H
#define MODAL_FORMATS_IMAGE_PARTS_H

#include "formats/images/image.h"

modal_status modal_png_decode(const void *bytes, int64_t length, const char *name, const modal_image_head *head, uint8_t *texels,
                              modal_error *err);
modal_status modal_jpeg_decode(const void *bytes, int64_t length, const char *name, const modal_image_head *head, uint8_t *texels,
                               modal_error *err);

#endif
