/* SPDX-License-Identifier: Apache-2.0 */
/* The basis that a trajectory in a pipe carries (formats/trajectory.md): its file as it is, or one file of an assembly. */
#include <string.h>
#include <sys/stat.h>

#include "formats/basis/basis_h5.h"
#include "formats/meshes/text_reader.h"
#include "lib/base/memory.h"
#include "lib/base/memory_file.h"
#include "tools/common/pipes.h"
#include "tools/modalsim/modalsim.h"

/* As modalinfo --pack. */
static modal_status pack(const modalsim_request *r, const modal_basis *basis, const char **path, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_basis all = {0}, packed = {0};
    MODAL_TRY(tool_pipe_keep(NULL, 0, "the carried basis", path, err));
    MODAL_TRY(modal_basis_read(r->basis_path, MODAL_BASIS_ALL, &all, err));
    MODAL_TRY(modal_basis_write(*path, &all, err));
    MODAL_TRY(modal_basis_read(*path, 0, &packed, err));
    if (strcmp(packed.hash, basis->hash) != 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: cannot go into a pipe as one file: its content hash is %s, that of one file would be %s",
                   r->basis_path, basis->hash, packed.hash);
done:
    modal_basis_free(&packed);
    modal_basis_free(&all);
    return status;
}

modal_status modalsim_carry_basis(const modalsim_request *r, const modal_basis *basis, modal_trajectory *head, modal_error *err)
{
    modal_status status = MODAL_OK;
    struct stat info;
    const char *path = r->basis_path;
    char *bytes = NULL;
    int is_assembly = 0;
    if (!r->to_stdout && !modal_is_memory_file(path)) return MODAL_OK;
    for (int32_t i = 0; i < basis->n_shapes; i++) is_assembly |= basis->shapes[i].file != NULL;
    if (is_assembly) MODAL_TRY(pack(r, basis, &path, err));
    if (stat(path, &info) == 0) MODAL_TRY(tool_pipe_check_limit(r->basis_path, "a trajectory in a pipe carries its basis, of", (double)info.st_size, err));
    MODAL_TRY(modal_file_load(path, &bytes, &head->n_basis_bytes, err));
    head->basis_bytes = (uint8_t *)bytes;
done:
    return status;
}
