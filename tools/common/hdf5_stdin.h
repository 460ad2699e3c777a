/* SPDX-License-Identifier: Apache-2.0 */
/* An HDF5 file from standard input. */
#ifndef TOOLS_COMMON_HDF5_STDIN_H
#define TOOLS_COMMON_HDF5_STDIN_H

#include "lib/base/status.h"

/* Where *path is "-": reads standard input, once, which must be one HDF5 file and nothing else: its superblock is looked for first, and
 * states how many bytes follow. They may not be more than the limit of pipes.h. *path becomes that of a file in memory. */
modal_status tool_take_hdf5(const char **path, modal_error *err);

#endif
