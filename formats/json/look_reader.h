/* SPDX-License-Identifier: Apache-2.0 */
/* A look while it is read. Only for look*.c: look.c reads what is painted, look_view.c the values, and from where and in
 * what light. */
#ifndef MODAL_FORMATS_LOOK_READER_H
#define MODAL_FORMATS_LOOK_READER_H

#include "formats/json/json_place.h"
#include "formats/json/look.h"

typedef struct modal_look_reader {
    modal_json_source source;
    modal_look *look;
    int any_path;
} modal_look_reader;

/* Three numbers from 0 on. */
modal_status modal_look_read_colour(const modal_json_place *object, const char *key, double colour[3]);
/* The number of a material, by its name. */
modal_status modal_look_read_material(const modal_look_reader *reader, const modal_json_place *place, int32_t *material);
/* lights, ambient, cameras, ground and background of the root. */
modal_status modal_look_read_view(modal_look_reader *reader, const modal_json_place *root);

#endif
