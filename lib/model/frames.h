/* SPDX-License-Identifier: Apache-2.0 */
/* The arrays of a frame, as a list: what makes frames, what works on them and what writes them agree by it.
 * The first array is always the positions of the points: 3 components, in m. */
#ifndef MODAL_MODEL_FRAMES_H
#define MODAL_MODEL_FRAMES_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/model/encoding.h"

enum {
    MODAL_ARRAY_NAME = 48,      /* bytes of a name, with its end */
    MODAL_ARRAY_UNIT = 16,      /* of a unit */
    MODAL_ARRAY_COMPONENTS = 9, /* the most that an array has: a tensor */
    MODAL_MOST_ARRAYS = 24
};

/* One array: a row of `components` float32 for each point, or for each cell. */
typedef struct modal_array {
    char name[MODAL_ARRAY_NAME]; /* a letter, then letters, digits, _ and - */
    int components;              /* 1 to MODAL_ARRAY_COMPONENTS */
    int of_cells;                /* nonzero: a row for each cell, else for each point */
    char unit[MODAL_ARRAY_UNIT]; /* "m", "m/s", "Pa"; "1" where the numbers have no unit; no blanks */
    int source;                  /* which output of what makes the frames it is; writers do not look at it */
} modal_array;

typedef struct modal_array_list {
    int n;
    modal_array all[MODAL_MOST_ARRAYS]; /* [n], in the order in which files hold them */
} modal_array_list;

/* An array of some frames in fewer bits (encoding.h): frame f has of[f].n_bytes from bytes + f stride on. bytes NULL: it is
 * not there. */
typedef struct modal_encoded_array {
    const unsigned char *bytes;
    int64_t stride;
    const modal_encoded *of; /* [n_frames] */
} modal_encoded_array;

/* Some frames, one after the other: arrays[i] is [n_frames, rows, components] float32 of the list's array i,
 * where rows is the number of points or of cells; NULL where it is encoded. Borrowed. */
typedef struct modal_frames {
    int64_t n_frames;
    const float *arrays[MODAL_MOST_ARRAYS];
    modal_encoded_array encoded[MODAL_MOST_ARRAYS];
} modal_frames;

/* Appends. MODAL_ERROR_USAGE where the list is full, has an array of that name, or the array breaks a rule above. */
modal_status modal_array_add(modal_array_list *list, const modal_array *array, modal_error *err);

/* The place of the array of that name in the list, or -1. */
int modal_array_find(const modal_array_list *list, const char *name);

/* Whether a text can be the name of an array. */
int modal_array_name_fits(const char *name);

/* Bytes of one frame in all arrays of the list. 0 where that does not fit 63 bits. */
int modal_array_frame_bytes(const modal_array_list *list, int64_t n_points, int64_t n_cells, int64_t *bytes);

#endif
