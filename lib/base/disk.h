/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODAL_BASE_DISK_H
#define MODAL_BASE_DISK_H

#include <stdint.h>

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

#endif
