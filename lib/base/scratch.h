/* SPDX-License-Identifier: Apache-2.0 */
/* Large arrays in files instead of main memory, for a process that goes through more of them than it may hold. Each array is a file of
 * its own without a name, mapped into the address space: it reads and writes like other memory, and the file is gone with the array, or
 * with the process, however that ends. A thread watches how much of the arrays is resident; above the window it gives all of it back to the
 * system, whose page cache and disk keep it. So the window is passed by what is touched in a millisecond or two. Results are the same with
 * and without. */
#ifndef MODAL_BASE_SCRATCH_H
#define MODAL_BASE_SCRATCH_H

#include <stdint.h>

#include "lib/base/memory.h"

enum { MODAL_SCRATCH_LEAST = 1 << 16 }; /* bytes of an array: smaller ones stay in main memory */

typedef struct modal_scratch modal_scratch;

/* In this folder; at most so many bytes are resident for long. Tries it with a file. For modal_store_set: modal_scratch_store. MODAL_ERROR_SYSTEM:
 * no files can be made there, no thread. An array that the disk has no room for is refused by modal_alloc with MODAL_ERROR_SYSTEM. */
modal_status modal_scratch_open(const char *folder, int64_t window, modal_scratch **scratch, modal_error *err);
const modal_store *modal_scratch_store(modal_scratch *scratch);
/* Another window from now on. */
void modal_scratch_widen(modal_scratch *scratch, int64_t window);
/* Bytes of all arrays when they were most. */
int64_t modal_scratch_most(modal_scratch *scratch);
/* After the last of its arrays was freed, and modal_store_set(NULL). NULL is fine; gives NULL. */
modal_scratch *modal_scratch_close(modal_scratch *scratch);

#endif
