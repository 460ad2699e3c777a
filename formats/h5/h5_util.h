/* SPDX-License-Identifier: Apache-2.0 */
/* HDF5 as our files use it: plain arrays of a few little-endian types, text and number attributes,
 * hard links only. What is read is checked before memory is taken for it.
 *
 * HDF5's own printing is switched off by opening or creating a file; its error stack goes into the
 * modal_error. Files are opened with H5F_CLOSE_SEMI, so that an id that was not closed makes the
 * close fail. Not thread-safe, as HDF5 itself. */
#ifndef MODAL_FORMATS_H5_UTIL_H
#define MODAL_FORMATS_H5_UTIL_H

#include <hdf5.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/h5/findings.h"
#include "formats/h5/guard/guard.h"
#include "lib/base/status.h"

typedef enum modal_h5_type {
    MODAL_H5_F64,
    MODAL_H5_F32,
    MODAL_H5_I64,
    MODAL_H5_I32,
    MODAL_H5_U8
} modal_h5_type;

enum { MODAL_H5_PATH = 256, MODAL_H5_EXTENSION = 64 }; /* the last: bytes of a name */

size_t modal_h5_type_bytes(modal_h5_type type);

/* An open group (or the root) and its path. id is H5I_INVALID_HID where the group is absent or was
 * found broken: reading from it then does nothing, since the group itself has been reported. */
typedef struct modal_h5_place {
    hid_t id;
    char path[MODAL_H5_PATH]; /* "" for the root */
} modal_h5_place;

/* Closes the group, if it is open. */
void modal_h5_leave(modal_h5_place *place);

/* Before any use of HDF5: keeps it silent, and keeps it from crashing at exit after a full disk. */
void modal_h5_start(void);

/* Records `what` and HDF5's own description of the failure, then forgets the latter. */
modal_status modal_h5_failed(modal_error *err, modal_status status, const char *where,
                             const char *what);

/* ---- reading ---- */

/* Bytes of the arrays that were read, and the most that may be, 0: any. */
typedef struct modal_h5_budget {
    int64_t limit, used;
} modal_h5_budget;

typedef struct modal_h5_in {
    hid_t file;
    int64_t file_bytes;
    modal_checker checker;
    modal_h5_budget *budget; /* or NULL */
    int64_t base;            /* bytes of the user block; set by modal_h5_open */
} modal_h5_in;

/* Opens for reading. MODAL_ERROR_INPUT for a file that is missing, no regular file, empty, not
 * HDF5, truncated or damaged. `in->checker` is the caller's and stays as it is. */
modal_status modal_h5_open(modal_h5_in *in, const modal_h5_source *source);

/* Closes; `status` is what went before and wins over a failure of the close. */
modal_status modal_h5_close(modal_h5_in *in, modal_status status);
/* How many files HDF5 could not close, and so holds open: 1.10 does not let go of some metadata that it has refused. */
int64_t modal_h5_stuck(void);

/* Refuses, with or without a list of findings, a file that is not of this type, or of another major
 * version, or that requires an extension which this program does not know. */
modal_status modal_h5_check_root(const modal_h5_in *in, const char *type, int major);

/* The modal_format of a file, for programs that take several; the caller frees *type. Errors as of
 * modal_h5_open, with the path in front. */
modal_status modal_h5_file_kind(const char *path, char **type, modal_error *err);

typedef enum modal_h5_need { MODAL_H5_REQUIRED, MODAL_H5_OPTIONAL } modal_h5_need;

/* Opens the group `name` of `parent`; NULL parent and name: the root. */
modal_status modal_h5_enter(const modal_h5_in *in, const modal_h5_place *parent, const char *name,
                            modal_h5_need need, modal_h5_place *place);

/* The groups "0000" .. of a place with the attribute `count`: *count is 0 where that is broken. */
modal_status modal_h5_read_count(const modal_h5_in *in, const modal_h5_place *place,
                                 int32_t *count);

/* Reads the dataset `name`. dims[rank] holds what is expected, -1 = any, and then what the file
 * has. `values` is the address of a `T *`, which gets the array (owned by the caller), or NULL, to
 * check type and shape only. Where the dataset is absent or broken, *values is NULL and dims is
 * unchanged. */
modal_status modal_h5_read_array(const modal_h5_in *in, const modal_h5_place *place,
                                 const char *name, modal_h5_type type, int rank, int64_t *dims,
                                 modal_h5_need need, void *values);

/* An open array, for those that read it in ranges of its first dimension. */
typedef struct modal_h5_rows modal_h5_rows;

/* As modal_h5_read_array without values; *rows is NULL where that array is absent or broken. */
modal_status modal_h5_rows_open(const modal_h5_in *in, const modal_h5_place *place, const char *name, modal_h5_type type,
                                int rank, int64_t *dims, modal_h5_need need, modal_h5_rows **rows);

/* Rows [first, first + count), all of which are there, as the machine has numbers. MODAL_ERROR_INPUT, with the path in
 * front, where they are damaged or missing in the file. */
modal_status modal_h5_rows_read(modal_h5_rows *rows, int64_t first, int64_t count, void *to, modal_error *err);

/* The byte of the file at which the rows begin, for those that read them without HDF5; -1: only this can. */
int64_t modal_h5_rows_place(const modal_h5_rows *rows);

modal_h5_rows *modal_h5_rows_close(modal_h5_rows *rows); /* NULL is fine; gives NULL */

/* 1 where the place is open and has an attribute, or a link, of that name, or a dataset of float32. */
int modal_h5_has_attribute(const modal_h5_place *place, const char *name);
int modal_h5_has_link(const modal_h5_place *place, const char *name);
int modal_h5_is_float(const modal_h5_place *place, const char *name);

/* Attributes. Absent or broken: *text NULL, *value unchanged. */
modal_status modal_h5_read_text(const modal_h5_in *in, const modal_h5_place *place,
                                const char *name, char **text);
modal_status modal_h5_read_number(const modal_h5_in *in, const modal_h5_place *place,
                                  const char *name, double *value);
modal_status modal_h5_read_integer(const modal_h5_in *in, const modal_h5_place *place,
                                   const char *name, int64_t low, int64_t high, int64_t *value);

/* The file name of the external link `name`, which must lead to the root of that file. */
modal_status modal_h5_read_external(const modal_h5_in *in, const modal_h5_place *place,
                                    const char *name, char **file_name);

/* ---- writing: equal content gives equal bytes ---- */

/* Creates or truncates a file; path NULL: in memory only. */
modal_status modal_h5_create(hid_t *file, const char *path, modal_error *err);

/* Flushes and closes, and reports a failure of either; `status` wins over it. */
modal_status modal_h5_finish(hid_t *file, modal_status status, modal_error *err);

/* The bytes of a file that was created in memory. The caller owns them. */
modal_status modal_h5_image(hid_t file, void **bytes, size_t *length, modal_error *err);

modal_status modal_h5_make_group(hid_t parent, const char *name, hid_t *group, modal_error *err);
/* Closes a group of a file being written. */
modal_status modal_h5_end_group(hid_t *group, modal_status status, modal_error *err);

modal_status modal_h5_write_array(hid_t place, const char *name, modal_h5_type type, int rank,
                                  const int64_t *dims, const void *values, modal_error *err);
/* The same array and the same bytes from rows that are made while they are written, some megabytes at a time, or one row. */
typedef struct modal_h5_rows_source {
    modal_status (*make)(void *context, int64_t first, int64_t count, void *to, modal_error *err);
    void *context;
} modal_h5_rows_source;
modal_status modal_h5_write_array_from(hid_t place, const char *name, modal_h5_type type, int rank, const int64_t *dims,
                                       const modal_h5_rows_source *source, modal_error *err);
/* A contiguous array whose rows are written one after the other, and may be read back; its place in the
 * file does not depend on how many are written at once. No size may be 0. */
modal_status modal_h5_make_rows(hid_t place, const char *name, modal_h5_type type, int rank, const int64_t *dims,
                                hid_t *dataset, modal_error *err);
/* Of such an array of float64. */
modal_status modal_h5_put_rows(hid_t dataset, const char *name, int64_t first, int64_t count,
                               const double *values, modal_error *err);
modal_status modal_h5_get_rows(hid_t dataset, const char *name, int64_t first, int64_t count, double *values,
                               modal_error *err);
/* Closes such an array of a file being written. */
modal_status modal_h5_end_rows(hid_t *dataset, modal_status status, const char *name, modal_error *err);
/* An array without rows, dims[0] = 0, that grows by one row a call; a chunk a row. No other size may be 0. `values` as
 * float64 or float32. Closed by modal_h5_end_rows. */
modal_status modal_h5_make_growing(hid_t place, const char *name, modal_h5_type type, int rank, const int64_t *dims,
                                   hid_t *dataset, modal_error *err);
modal_status modal_h5_add_row(hid_t dataset, const char *name, int64_t row, modal_h5_type type, const void *values,
                              modal_error *err);
modal_status modal_h5_write_text(hid_t place, const char *name, const char *text, modal_error *err);
modal_status modal_h5_write_number(hid_t place, const char *name, double value, modal_error *err);
modal_status modal_h5_write_integer(hid_t place, const char *name, int64_t value, modal_error *err);
modal_status modal_h5_write_external(hid_t place, const char *name, const char *file_name,
                                     modal_error *err);

/* "HDF5 1.10.8": the library at run time. One thread at a time. */
const char *modal_h5_version(void);

#endif
