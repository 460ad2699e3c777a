/* SPDX-License-Identifier: Apache-2.0 */
/* Where the datasets of a file are, so that who has no HDF5 can read one by its bytes. */
#ifndef MODAL_FORMATS_H5_MAP_H
#define MODAL_FORMATS_H5_MAP_H

#include "formats/h5/h5_util.h"

typedef struct modal_h5_mapped {
    char path[MODAL_H5_PATH];
    char type[8];           /* numpy's name: "<f4", ">f8", "<i8", "|u1"; "" for any other */
    int rank;
    int64_t shape[32];      /* [rank] */
    int64_t offset, length; /* bytes in the file; -1, 0 where it does not lie there in one piece */
    const char *layout;     /* "contiguous", "chunked", "virtual" */
} modal_h5_mapped;

/* All datasets that are reached by hard links, in the order of their names: *all [*n], which the caller frees. MODAL_ERROR_INPUT for
 * a file that is damaged, whose arrays do not lie in it, or that has more than a million groups and datasets. */
modal_status modal_h5_map(const modal_h5_in *in, modal_h5_mapped **all, int64_t *n, modal_error *err);

#endif
