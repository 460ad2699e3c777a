/* SPDX-License-Identifier: Apache-2.0 */
/* Reads layers; formats/layers.md is the specification. */
#ifndef MODAL_FORMATS_LAYERS_H
#define MODAL_FORMATS_LAYERS_H

#include <stddef.h>

#include "lib/base/status.h"
#include "lib/model/layers.h"

/* `layers` is overwritten; the caller frees it with modal_layers_free; after an error it is zeroed. Values have `width` numbers: 4
 * (rgba8, also 3), 1 or 3. MODAL_ERROR_INPUT "paint.json:12: /layers/1/scale: what, value"; MODAL_ERROR_SYSTEM: a file that cannot
 * be read. Files that layers name are not looked at. Thread-safe. */
modal_status modal_layers_read(const char *path, int width, modal_layers *layers, modal_error *err);

/* The same for text in memory, [length] bytes. */
modal_status modal_layers_parse(const char *text, size_t length, const char *path, int width, modal_layers *layers, modal_error *err);

#endif
