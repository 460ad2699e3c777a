/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODAL_BASE_DISK_H
#define MODAL_BASE_DISK_H

#include <stdint.h>

enum { MODAL_DISK_PIECE = 4 << 20 }; /* bytes after which it pays to tell the disk */

/* Tells the system to begin to write `length` bytes of a file (0: to its end) to the disk, which then works
 * while more are made, so that a sync at the end finds little left. No promise: what the system cannot do
 * is done by that sync. errno stays. */
void modal_disk_start(int file, int64_t from, int64_t length);

#endif
