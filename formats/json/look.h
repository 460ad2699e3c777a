/* SPDX-License-Identifier: Apache-2.0 */
/* Reads looks; formats/look.md is the specification. */
#ifndef MODAL_FORMATS_LOOK_H
#define MODAL_FORMATS_LOOK_H

#include <stddef.h>

#include "lib/base/status.h"
#include "lib/model/look.h"

/* `look` is overwritten; the caller frees it with modal_look_free; after an error it is zeroed. any_path: names of images may lead
 * anywhere. MODAL_ERROR_INPUT "look.json:12: /materials/bark/image: what, value"; MODAL_ERROR_SYSTEM: a file that cannot be read.
 * Images are not looked at. Thread-safe. */
modal_status modal_look_read(const char *path, int any_path, modal_look *look, modal_error *err);

/* The same for text in memory, [length] bytes. */
modal_status modal_look_parse(const char *text, size_t length, const char *path, int any_path, modal_look *look, modal_error *err);

#endif
