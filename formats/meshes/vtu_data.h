/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a .vtu file, however they are packed. */
#ifndef MODAL_FORMATS_VTU_DATA_H
#define MODAL_FORMATS_VTU_DATA_H

#include "formats/meshes/vtk_grid.h"

/* What the whole file has in common. */
typedef struct vtu_coding {
    int swap;         /* big-endian */
    int length_bytes; /* of a length in front of data, 4 or 8 */
    int is_packed;    /* by zlib */
    int is_appended_raw;
    int64_t appended; /* where appended data begin in the file, 0 = there are none */
} vtu_coding;

typedef struct vtu_array {
    vtk_type type; /* VTK_NONE: not there */
    enum { VTU_TEXT, VTU_INLINE, VTU_APPENDED } format;
    int64_t begin, end; /* in the file; appended: begin is an offset in the appended data */
    int64_t line;
} vtu_array;

vtk_type vtu_find_type(const char *name, int64_t length);

/* The array's numbers, exactly n, in new memory. */
modal_status vtu_read_reals(const modal_text *text, const vtu_coding *coding, const vtu_array *array,
                            const char *what, int64_t n, double **reals);
modal_status vtu_read_integers(const modal_text *text, const vtu_coding *coding,
                               const vtu_array *array, const char *what, int64_t n,
                               int64_t **integers);

/* Makes n numbers n + 1, with a 0 in front. */
modal_status vtu_prepend_zero(int64_t **values, int64_t n, modal_error *err);

#endif
