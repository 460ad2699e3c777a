/* SPDX-License-Identifier: Apache-2.0 */
/* Large ranges of a file that exists already, written past the page cache by several threads at a time. Copying into the
 * cache and writing it back takes one processor and both memory and disk; a disk wants several writes in flight. */
#ifndef MODAL_FORMATS_DIRECT_OUT_H
#define MODAL_FORMATS_DIRECT_OUT_H

#include <stdint.h>

#include "lib/base/status.h"

typedef struct modal_direct_out modal_direct_out;

/* Of main memory. */
int64_t modal_direct_out_bytes(int n_threads);

/* Opens `path` and reserves [0, file_bytes) on the disk, so that writes find their blocks; the length of the file stays.
 * *out is NULL, and nothing is wrong, where the file system has no direct writes of its own: in main memory, over a
 * network. All errors are MODAL_ERROR_SYSTEM "write error, why" or no memory. */
modal_status modal_direct_out_open(modal_direct_out **out, const char *path, int64_t file_bytes, int n_threads,
                                   modal_error *err);

/* Writes all bytes at the place, anywhere in the file, and returns when they are written. What is no whole block of the
 * disk at either end goes through the cache. */
modal_status modal_direct_out_write(modal_direct_out *out, int64_t place, const void *bytes, int64_t length, modal_error *err);

/* Whether the disk has taken every direct write so far; else the cache takes them. */
int modal_direct_out_is_direct(const modal_direct_out *out);

modal_direct_out *modal_direct_out_close(modal_direct_out *out); /* NULL is fine; returns NULL */

#endif
