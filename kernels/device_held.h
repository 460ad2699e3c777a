/* SPDX-License-Identifier: Apache-2.0 */
/* How much device memory this process holds, and has held at most: of devices that do not share main memory, all of
 * them together. */
#ifndef MODAL_KERNELS_DEVICE_HELD_H
#define MODAL_KERNELS_DEVICE_HELD_H

#include <stdint.h>

#include "lib/base/status.h"

/* Called by kernels/device.c. MODAL_ERROR_MEMORY where there is no room for the note. */
modal_status modal_device_note_alloc(const void *memory, int64_t bytes, modal_error *err);
void modal_device_note_free(const void *memory); /* what was not noted is passed over */

int64_t modal_device_held_bytes(void); /* now */
int64_t modal_device_most_bytes(void); /* the most so far */

#endif
