/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/parts.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/basis/basis_h5.h"

modal_status tool_use_parts(const tool *t, modal_error *err)
{
    const char *folder = tool_value(&t->arguments, "parts");
    struct stat info;
    if (folder && stat(folder, &info) != 0)
        return modal_error_set(err, MODAL_ERROR_INPUT, "--parts: %s: cannot open, %s", folder, strerror(errno));
    if (folder && !S_ISDIR(info.st_mode))
        return modal_error_set(err, MODAL_ERROR_INPUT, "--parts: %s: not a folder", folder);
    modal_basis_parts_folder(folder);
    return MODAL_OK;
}
