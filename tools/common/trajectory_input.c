/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/trajectory_input.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "formats/trajectory/trajectory_h5.h"
#include "lib/base/memory.h"
#include "lib/base/memory_file.h"
#include "tools/common/hdf5_stdin.h"
#include "tools/common/pipes.h"

modal_status tool_read_trajectory(const char *path, modal_trajectory *trajectory, char hash[MODAL_HASH_TEXT], modal_error *err)
{
    modal_status status = MODAL_OK;
    const char *from = path;
    MODAL_TRY(tool_take_hdf5(&from, err));
    MODAL_TRY(modal_trajectory_read(from, trajectory, err));
    if (hash) MODAL_TRY(modal_hash_file(from, hash, err));
    tool_pipe_forget(from);
done:
    return status;
}

modal_status tool_find_basis(const char *given, const char *trajectory_path, modal_trajectory *trajectory, char **path, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (given) return modal_copy_text(path, given, SIZE_MAX, err);
    if (trajectory->basis_bytes) {
        const char *kept = NULL;
        MODAL_TRY(tool_pipe_check_limit(trajectory_path, "carries a basis of", (double)trajectory->n_basis_bytes, err));
        MODAL_TRY(tool_pipe_keep(trajectory->basis_bytes, trajectory->n_basis_bytes, "the carried basis", &kept, err));
        modal_free(&trajectory->basis_bytes);
        return modal_copy_text(path, kept, SIZE_MAX, err);
    }
    const int of_pipe = strcmp(trajectory_path, "-") == 0 || modal_is_memory_file(trajectory_path);
    MODAL_TRY(modal_trajectory_basis_path(trajectory, of_pipe ? NULL : trajectory_path, path, err));
    if (access(*path, F_OK) != 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: its basis is not there (--basis names another place), %s",
                   trajectory_path, *path);
done:
    return status;
}
