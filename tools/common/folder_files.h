/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOLS_FOLDER_FILES_H
#define TOOLS_FOLDER_FILES_H

#include <stdint.h>

#include "formats/sequences/manifest.h"

/* An output of a folder before it has its name: a file, or a folder of NNNNNN.EXTENSION. */
typedef struct tool_folder_output {
    const char *name, *kind;
    const char *extension; /* of the frames; NULL: a file */
    const char *temporary; /* where it is now */
    int64_t first;         /* number of its first frame */
} tool_folder_output;

/* Every file of n outputs, with its size, as a manifest lists them: files [*n_files], whose names are those of the outputs or
 * lie in *names; the caller frees both with modal_free, after an error, too. *bytes is their sum. MODAL_ERROR_SYSTEM,
 * MODAL_ERROR_MEMORY. */
modal_status tool_folder_files(const tool_folder_output *outputs, int n, int64_t n_frames, modal_manifest_file **files, char **names,
                               int *n_files, int64_t *bytes, modal_error *err);

#endif
