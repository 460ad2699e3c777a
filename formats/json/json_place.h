/* SPDX-License-Identifier: Apache-2.0 */
/* Strict values out of JSON, with the line of what is wrong. For formats that are JSON. */
#ifndef MODAL_FORMATS_JSON_PLACE_H
#define MODAL_FORMATS_JSON_PLACE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/status.h"

typedef struct modal_json_source {
    const char *name; /* of the file */
    const char *text; /* all of it, in `copy` */
    modal_error *err;
    char *copy;   /* what modal_json_open takes, and modal_json_close gives back */
    json_t *json;
} modal_json_source;

enum { MODAL_JSON_PATH = 192, MODAL_JSON_DEPTH = 100 };

/* The text with one value changed or added, "/wind/seed=17": a JSON pointer (RFC 6901), which may end with a key that the object has not or with -
 * for a list's end, and JSON. All else stays as it is, line for line. The text is sound (modal_json_open); the caller frees *changed.
 * MODAL_ERROR_USAGE "/wind/seed=x: what". */
modal_status modal_json_set(const char *text, const char *assignment, char **changed, modal_error *err);

/* A value and the way to it, "/objects/3/frame". */
typedef struct modal_json_place {
    const modal_json_source *source;
    json_t *value;
    char path[MODAL_JSON_PATH];
} modal_json_place;

/* Reads JSON without duplicate keys out of a text of `length` bytes (a byte order mark is passed over) into a source with a name and an error to fill,
 * and else zeros; *root is all of it. The source goes to modal_json_close, also after an error.
 * MODAL_ERROR_INPUT "scene.json:12: what", also for objects and arrays nested more than MODAL_JSON_DEPTH deep. */
modal_status modal_json_open(modal_json_source *source, const char *text, size_t length, modal_json_place *root);
void modal_json_close(modal_json_source *source);

/* The line of the text that it is on, from 1. */
int modal_json_line(const modal_json_place *place);

/* MODAL_ERROR_INPUT "scene.json:12: /objects/3/frame: what, value". */
modal_status modal_json_wrong(const modal_json_place *place, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Refuses all but an object whose keys are all in `keys` (words separated by blanks), or "comment": a text or a list of
 * texts, which nobody reads. */
modal_status modal_json_object(const modal_json_place *place, const char *keys);
/* The member of an object: 0 where it is absent. */
int modal_json_member(const modal_json_place *place, const char *key, modal_json_place *member);
/* The same, refused where absent. */
modal_status modal_json_required(const modal_json_place *place, const char *key, modal_json_place *member);
/* Refuses all but an array of at least `least` items. */
modal_status modal_json_array(const modal_json_place *place, size_t least);
/* Refuses all but an array of `least` to `most` items, which messages call `kind` ("lights"). *items, any `T **`, becomes as many zeroed
 * items of item_bytes, the caller's; MODAL_ERROR_MEMORY. */
modal_status modal_json_list(const modal_json_place *place, size_t least, size_t most, const char *kind, void *items, size_t item_bytes, size_t *count);
/* The lines of all items of an array, [its size]. */
void modal_json_lines(const modal_json_place *place, int32_t *lines);
void modal_json_item(const modal_json_place *place, size_t index, modal_json_place *item);

/* Numbers are finite; `unit` is what the message names: a text such as "5 mm" is refused with it. The
 * optional ones leave *value alone where the member is absent. */
modal_status modal_json_number(const modal_json_place *place, double least, double most, const char *unit,
                               double *value);
modal_status modal_json_integer(const modal_json_place *place, int64_t least, int64_t most, int64_t *value);
modal_status modal_json_vector(const modal_json_place *place, int count, const char *unit, double *values);
modal_status modal_json_text(const modal_json_place *place, const char **text);
modal_status modal_json_boolean(const modal_json_place *place, int *value);
modal_status modal_json_optional_number(const modal_json_place *object, const char *key, double least,
                                        double most, const char *unit, double *value);
modal_status modal_json_optional_vector(const modal_json_place *object, const char *key, int count,
                                        const char *unit, double *values);

#endif
