/* SPDX-License-Identifier: Apache-2.0 */
/* The images of a look, packed: in memory for who shows them, or as textures.h5. */
#ifndef TOOLS_COMMON_TEXTURES_H
#define TOOLS_COMMON_TEXTURES_H

#include "formats/textures/textures_h5.h"
#include "lib/base/progress.h"
#include "tools/common/look.h"

/* Decodes all images of the look, makes their levels, and keeps them in memory (path NULL), or writes the file `path`. Images one a thread;
 * equal bytes for any number of threads. memory_limit (bytes, 0: none) holds for all of that: it lowers the number of threads, and images that do
 * not fit are refused by the sizes in their heads, before one is decoded (MODAL_ERROR_MEMORY). Borrows names of the look. The caller frees it with
 * modal_textures_free; after an error it is zeroed. Errors name the image; which one does not depend on the threads. */
modal_status tool_textures_make(const tool_look *look, int thesis, const char *path, int threads, int64_t memory_limit,
                                modal_progress *progress, modal_textures *textures, modal_error *err);

#endif
