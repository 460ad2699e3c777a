/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/images/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void modal_npy_head(char head[MODAL_NPY_HEAD], const char *type, int64_t height, int64_t width, int components)
{
    char last[16] = "", text[MODAL_NPY_HEAD];
    if (components > 1) snprintf(last, sizeof last, ", %d", components);
    const int n = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%" PRId64 ", %" PRId64 "%s), }", type, height,
                           width, last);
    memcpy(head, "\x93NUMPY\x01\x00", 8);
    head[8] = (char)(MODAL_NPY_HEAD - 10), head[9] = 0;
    memset(head + 10, ' ', MODAL_NPY_HEAD - 10);
    memcpy(head + 10, text, (size_t)(n < MODAL_NPY_HEAD - 11 ? n : MODAL_NPY_HEAD - 11));
    head[MODAL_NPY_HEAD - 1] = '\n';
}
