/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/folder_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/memory.h"

static modal_status bytes_of(const char *path, int64_t *bytes, modal_error *err)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot be found, %s", path, strerror(errno));
    *bytes = (int64_t)info.st_size;
    return MODAL_OK;
}

modal_status tool_folder_files(const tool_folder_output *outputs, int n, int64_t n_frames, modal_manifest_file **files, char **names,
                               int *n_files, int64_t *bytes, modal_error *err)
{
    enum { NAME = 32 };
    modal_status status = MODAL_OK;
    char path[4096], *name = NULL;
    int64_t most = 0;
    *files = NULL, *names = NULL, *n_files = 0, *bytes = 0;
    for (int i = 0; i < n; i++) most += outputs[i].extension ? n_frames : 1;
    MODAL_TRY(modal_alloc(files, most, sizeof **files, "manifest", err));
    MODAL_TRY(modal_alloc(names, most, NAME, "manifest", err));
    name = *names;
    for (int i = 0; i < n; i++) {
        const tool_folder_output *o = &outputs[i];
        for (int64_t f = 0; f < (o->extension ? n_frames : 1); f++) {
            modal_manifest_file *file = &(*files)[(*n_files)++];
            *file = (modal_manifest_file){o->name, o->kind, 0};
            snprintf(path, sizeof path, "%s", o->temporary);
            if (o->extension) {
                snprintf(path, sizeof path, "%s/%06" PRId64 ".%s", o->temporary, o->first + f, o->extension);
                snprintf(name, NAME, "%s/%06" PRId64 ".%s", o->name, o->first + f, o->extension);
                file->name = name;
                name += NAME;
            }
            MODAL_TRY(bytes_of(path, &file->bytes, err));
            *bytes += file->bytes;
        }
    }
done:
    return status;
}
