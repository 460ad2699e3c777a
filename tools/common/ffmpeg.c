/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/ffmpeg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/memory.h"

modal_status tool_find_ffmpeg(char **path, modal_error *err)
{
    modal_status status = MODAL_OK;
    const char *list = getenv("PATH");
    for (const char *c = list ? list : "/usr/bin:/bin", *next; c; c = next) {
        const char *end = strchrnul(c, ':');
        next = *end ? end + 1 : NULL;
        MODAL_TRY(modal_alloc(path, end - c + 16, 1, "name", err));
        sprintf(*path, "%.*s%sffmpeg", (int)(end - c), c, end > c ? "/" : "");
        if (access(*path, X_OK) == 0) return MODAL_OK;
        modal_free(path);
    }
    MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "ffmpeg: not found on PATH (its package is ffmpeg); without it OUT can be a folder");
done:
    return status;
}
