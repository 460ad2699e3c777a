/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODAL_BASE_DISK_H
#define MODAL_BASE_DISK_H

#include <stdint.h>
#include <stdio.h>

#include "lib/base/status.h"

enum { MODAL_DISK_PIECE = 4 << 20 }; /* bytes after which it pays to tell the disk */

/* Tells the system to begin to write `length` bytes of a file (0: to its end) to the disk, which then works
 * while more are made, so that a sync at the end finds little left. No promise: what the system cannot do
 * is done by that sync. errno stays. */
void modal_disk_start(int file, int64_t from, int64_t length);

/* `length` bytes at byte `place` of a file, in as many calls as the system makes of them; place < 0: where the file
 * is, which moves on (writing only). Write: 0; read: how many there were, fewer at the end of the file only. Both: -1
 * and errno. */
int modal_disk_write(int file, int64_t place, const void *bytes, int64_t length);
int64_t modal_disk_read(int file, int64_t place, void *bytes, int64_t length);

enum { MODAL_DISK_BLOCK = 4096 }; /* places, lengths and addresses of direct writes are multiples: as disks want them, or more */

/* Opens a file that is there for writes past the page cache; -1 where its file system has none of its own (in main memory, over a network). */
int modal_disk_open_direct(const char *path);

/* As modal_disk_write; whole blocks whose place and address are multiples of MODAL_DISK_BLOCK at the same time go past the page cache by `direct`, the
 * same file (-1: nothing does). A block that two writes share is in the cache for both: its parts never pass each other. Where the disk
 * refuses such blocks the cache takes them, and *refused (or NULL) becomes 1. */
int modal_disk_write_direct(int file, int direct, int64_t place, const void *bytes, int64_t length, int *refused);

/* MODAL_ERROR_SYSTEM "NAME: disk too full, 784.000 MB are needed and 72.000 MB free" where the file system of the folder
 * `folder` has no room for that much more; `name` is what is to be written there. */
modal_status modal_disk_check(const char *folder, const char *name, double needed_bytes, modal_error *err);

/* Opens a file for reading, as a descriptor or a stream; -1 or NULL, and errno. Never waits: a named pipe is opened whether or not
 * another process writes into it. The library and the formats open all that they read here, so that a program can know it: */
int modal_disk_open(const char *path);
FILE *modal_disk_stream(const char *path);

/* Status for the errno of an opening that failed: MODAL_ERROR_INPUT if the name leads to no file, else MODAL_ERROR_SYSTEM (no permission, no
 * descriptors left, ...). */
modal_status modal_disk_open_status(int code);

/* MODAL_ERROR_INPUT "PATH: cannot be read" or "PATH: not a regular file": for files that a library opens by their name, and that the caller
 * reads several times. */
modal_status modal_disk_check_regular(const char *path, modal_error *err);

/* `opened` is told of every file that is opened above; where it returns nonzero the opening fails with EBUSY. NULL, as at
 * the start: nobody is told. Not to be called while other threads open files; `opened` may be called by any of them. */
void modal_disk_watch(int (*opened)(const char *path, int file));

#endif
