/* SPDX-License-Identifier: Apache-2.0 */
/* What the h5_*.c share, and nobody else sees. */
#ifndef MODAL_FORMATS_H5_PRIVATE_H
#define MODAL_FORMATS_H5_PRIVATE_H

#include "formats/h5/h5_util.h"

enum { MODAL_H5_STACK = 256 };

/* The type as it lies in the file. */
hid_t modal_h5_file_type(modal_h5_type type);

/* The type as the machine has it: HDF5 turns big-endian values round. */
hid_t modal_h5_native_type(modal_h5_type type);

/* "PATH/NAME" */
void modal_h5_join(char where[MODAL_H5_PATH], const modal_h5_place *place, const char *name);

/* A finding with HDF5's own description of its last failure. */
modal_status modal_h5_broken(const modal_h5_in *in, const char *where, const char *what);

/* *there: a hard link of that name exists. Other links could lead out of the file. */
modal_status modal_h5_find(const modal_h5_in *in, const modal_h5_place *place, const char *name, const char *where,
                           modal_h5_need need, int *there);

/* *fine: the dataset or attribute is of this type, in either order of bytes. */
modal_status modal_h5_check_type(const modal_h5_in *in, hid_t id, int is_attribute, const char *where, modal_h5_type type,
                                 int *fine, int *big_endian);

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
