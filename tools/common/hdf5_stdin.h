/* SPDX-License-Identifier: Apache-2.0 */
/* An HDF5 file from standard input. */
#ifndef TOOLS_COMMON_HDF5_STDIN_H
#define TOOLS_COMMON_HDF5_STDIN_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/status.h"

/* Reads standard input, which must be one HDF5 file and nothing else: its superblock is looked for first, and says how
 * many bytes follow. They may not be more than memory_limit (0: than the machine has left). The caller owns *bytes. */
modal_status tool_read_hdf5_stdin(int64_t memory_limit, void **bytes, size_t *length, modal_error *err);

#endif
