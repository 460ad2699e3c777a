/* SPDX-License-Identifier: Apache-2.0 */
/* The images that the objects of a basis show, as bytes that go into other files. */
#ifndef TOOLS_COMMON_LOOK_IMAGES_H
#define TOOLS_COMMON_LOOK_IMAGES_H

#include "formats/images/image.h"
#include "formats/sequences/sequence.h"
#include "tools/common/look.h"

typedef struct tool_look_images {
    int32_t n;
    int64_t capacity;
    modal_sequence_image *list; /* [n], their bytes and paths are its own */
} tool_look_images;

/* The head of an image, of which no more is read than must be. *path: where it lies, NULL for one inside of a .glb or packed; the caller frees it.
 * length: of the file, or NULL. */
modal_status tool_look_image_head(const tool_look *look, const char *name, modal_image_head *head, char **path, int64_t *length,
                                  modal_error *err);

/* Finds the images of the materials that some object has; with `bytes` they are read, else those that are files have their paths.
 * MODAL_ERROR_INPUT: the look does not fit the basis ("PATH: ..."), an image that is no PNG or JPEG. Give it to tool_look_images_free also after an
 * error. */
modal_status tool_look_images_read(const tool_look *look, const char *path, const modal_basis *basis, int bytes, tool_look_images *images,
                                   modal_error *err);
void tool_look_images_free(tool_look_images *images);
/* In memory. */
int64_t tool_look_images_bytes(const tool_look_images *images);

#endif
