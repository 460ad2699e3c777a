/* SPDX-License-Identifier: Apache-2.0 */
/* --link: a scene that names the files of its shapes instead of copying them. */
#include "tools/modalplace/modalplace.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "formats/basis/basis_h5.h"
#include "lib/base/memory.h"

/* The path of the file that a shape lies in, without links: the basis, or where that is an assembly, its part. */
static modal_status find_file(const char *path, const modal_shape *s, char **file, modal_error *err)
{
    char found[PATH_MAX];
    if (s->file) return modal_basis_find_part(path, s->file, file, err);
    if (!realpath(path, found)) return modal_error_set(err, MODAL_ERROR_INPUT, "cannot open, %s", strerror(errno));
    return modal_copy_text(file, found, SIZE_MAX, err);
}

modal_status modalplace_link(const char *out, const char *path, modal_basis *basis, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *copy = NULL, *file = NULL, folder[PATH_MAX];
    MODAL_TRY(modal_copy_text(&copy, out, SIZE_MAX, err));
    if (!realpath(dirname(copy), folder))
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: no such folder, %s", out, strerror(errno));
    const size_t length = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
    for (int32_t i = 0; i < basis->n_shapes; i++) {
        modal_shape *s = &basis->shapes[i];
        status = find_file(path, s, &file, err);
        if (status != MODAL_OK) {
            modal_error_context(err, "%s", path);
            goto done;
        }
        if (strncmp(file, folder, length) != 0 || file[length] != '/')
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--link: %s: shape %d lies in %s, not below the folder of %s", path, i, file,
                       out);
        if (!s->file) s->file_shape = i;
        modal_free(&s->file);
        MODAL_TRY(modal_copy_text(&s->file, file + length + 1, SIZE_MAX, err));
        modal_free(&file);
    }
done:
    modal_free(&file);
    modal_free(&copy);
    return status;
}

modal_status modalplace_check_links(const char *path, modal_error *err)
{
    modal_basis basis;
    modal_basis_parts_folder(NULL); /* the files are found from where the assembly is */
    const modal_status status = modal_basis_read(path, 0, &basis, err);
    if (status == MODAL_OK) modal_basis_free(&basis);
    return status;
}
