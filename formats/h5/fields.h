/* SPDX-License-Identifier: Apache-2.0 */
/* An array of a file and where it is in memory: reader, writer and checker of a format walk one table of these. */
#ifndef MODAL_FORMATS_FIELDS_H
#define MODAL_FORMATS_FIELDS_H

#include <stddef.h>

#include "formats/h5/h5_util.h"

typedef struct modal_h5_field {
    int group;       /* of the file, by the format's own numbers */
    const char *name;
    size_t offset;   /* of the pointer, in the struct that has the arrays */
    unsigned part;   /* of what a reader can ask for: the format's own bit */
    modal_h5_type type;
    modal_h5_need need;
    int rank;
    int dims[MODAL_H5_RANK]; /* numbers >= 0, or the format's own symbols, < 0, of sizes */
} modal_h5_field;

#endif
