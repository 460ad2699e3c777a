/* SPDX-License-Identifier: Apache-2.0 */
/* The program that makes films of frames. */
#ifndef TOOLS_COMMON_FFMPEG_H
#define TOOLS_COMMON_FFMPEG_H

#include "lib/base/status.h"

/* Its path, for the caller to free. MODAL_ERROR_SYSTEM where PATH has none: the line names the package. */
modal_status tool_find_ffmpeg(char **path, modal_error *err);

#endif
