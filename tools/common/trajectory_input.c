/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/trajectory_input.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "formats/trajectory/trajectory_h5.h"
#include "lib/base/memory.h"
#include "tools/common/hdf5_stdin.h"

modal_status tool_read_trajectory(const char *path, int64_t memory_limit, modal_trajectory *trajectory,
                                  char hash[MODAL_HASH_TEXT], modal_error *err)
{
    modal_status status = MODAL_OK;
    void *bytes = NULL;
    size_t length = 0;
    if (strcmp(path, "-") != 0) {
        MODAL_TRY(modal_trajectory_read(path, trajectory, err));
        if (hash) MODAL_TRY(modal_hash_file(path, hash, err));
    } else {
        MODAL_TRY(tool_read_hdf5_stdin(memory_limit, &bytes, &length, err));
        MODAL_TRY(modal_trajectory_read_image(bytes, length, "standard input", trajectory, err));
        XXH128_canonical_t canonical;
        XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes, length));
        for (int i = 0; hash && i < 16; i++) snprintf(hash + 2 * i, 3, "%02x", canonical.digest[i]);
    }
done:
    modal_free(&bytes);
    return status;
}

modal_status tool_find_basis(const char *given, const char *trajectory_path, const modal_trajectory *trajectory,
                             char **path, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (given) return modal_copy_text(path, given, SIZE_MAX, err);
    MODAL_TRY(modal_trajectory_basis_path(trajectory, strcmp(trajectory_path, "-") == 0 ? NULL : trajectory_path, path,
                                          err));
    if (access(*path, F_OK) != 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: its basis is not there (--basis names another place), %s",
                   trajectory_path, *path);
done:
    return status;
}
