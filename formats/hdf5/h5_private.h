/* SPDX-License-Identifier: Apache-2.0 */
/* What h5_util.c, h5_read.c and h5_write.c share, and nobody else sees. */
#ifndef MODAL_FORMATS_H5_PRIVATE_H
#define MODAL_FORMATS_H5_PRIVATE_H

#include "formats/hdf5/h5_util.h"

enum { MODAL_H5_STACK = 256 };

/* The type as it lies in the file. */
hid_t modal_h5_file_type(modal_h5_type type);

/* Closes any kind of id, if it is one, and forgets it. */
void modal_h5_drop(hid_t *id);

/* HDF5's description of its last failure, which it then forgets. */
void modal_h5_stack(char text[MODAL_H5_STACK]);

/* The disk begins with what was written so far to the file that `place` is in, if HDF5 writes through a plain
 * file as it does by default. */
void modal_h5_start_disk(hid_t place);

/* The access properties of all our files. */
modal_status modal_h5_access(hid_t *access, modal_error *err);

#endif
