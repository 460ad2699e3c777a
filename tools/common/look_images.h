/* SPDX-License-Identifier: Apache-2.0 */
/* The images that the objects of a basis show, as bytes that go into other files. */
#ifndef TOOLS_COMMON_LOOK_IMAGES_H
#define TOOLS_COMMON_LOOK_IMAGES_H

#include "formats/sequences/sequence.h"
#include "tools/common/look.h"

typedef struct tool_look_images {
    int32_t n;
    int64_t capacity;
    modal_sequence_image *list; /* [n], their bytes are its own */
} tool_look_images;

/* Reads the images of the materials that some object has. MODAL_ERROR_INPUT: the look does not fit the basis ("PATH: ..."), an image that is no PNG
 * or JPEG. Give it to tool_look_images_free also after an error. */
modal_status tool_look_images_read(const tool_look *look, const char *path, const modal_basis *basis, tool_look_images *images,
                                   modal_error *err);
void tool_look_images_free(tool_look_images *images);
int64_t tool_look_images_bytes(const tool_look_images *images);

#endif
