/* SPDX-License-Identifier: Apache-2.0 */
/* --pack: one file of an assembly. Nothing in it is new, so it has the assembly's provenance and no step more: what is
 * made from the one is, byte for byte, what is made from the other. */
#include <string.h>

#include "formats/basis/basis_h5.h"
#include "tools/common/commit.h"
#include "tools/modalinfo/modalinfo.h"

modal_status modalinfo_pack(tool *t, const char *path, const char *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_basis basis = {0}, packed = {0};
    tool_output output = {0};
    int32_t n = 0;
    MODAL_TRY(tool_output_begin(&output, to, tool_count(&t->arguments, "force") > 0, err));
    MODAL_TRY(modal_basis_read(path, MODAL_BASIS_ALL, &basis, err));
    MODAL_TRY(modal_basis_write(output.temporary, &basis, err));
    MODAL_TRY(modal_basis_read(output.temporary, 0, &packed, err));
    if (strcmp(packed.hash, basis.hash) != 0) /* arrays that this program does not know or keeps otherwise */
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: cannot be packed as it is: its content hash is %s, that of %s would be %s",
                   path, basis.hash, to, packed.hash);
    MODAL_TRY(tool_output_complete(&output, err));
    for (int32_t i = 0; i < basis.n_shapes; i++) n += basis.shapes[i].file != NULL;
    tool_note(t, "%s: %d shapes, %d of them from other files", to, basis.n_shapes, n);
done:
    tool_output_name_error(&output, err);
    tool_output_discard(&output);
    modal_basis_free(&packed);
    modal_basis_free(&basis);
    return status;
}
