/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/meshes/msh_source.h"

static modal_status read_int(modal_text *text, const char *what, int64_t *value)
{
    return modal_text_integer(text, what, INT32_MIN, INT32_MAX, value);
}

static modal_status read_size(modal_text *text, const char *what, int64_t *value)
{
    return modal_text_integer(text, what, 0, INT64_MAX, value);
}

const msh_encoding msh_ascii = {read_int, read_size, modal_text_real, modal_text_end_line};
