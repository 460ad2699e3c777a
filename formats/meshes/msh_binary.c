/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a binary file in the byte order of this machine, little-endian; msh.c has refused the
 * other order. */
#include <math.h>
#include <string.h>

#include "formats/meshes/msh_source.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "binary files are little-endian");

static modal_status take(modal_text *text, const char *what, void *value, int64_t size)
{
    text->at = text->position;
    if (text->length - text->position < size)
        return modal_text_fail(text, "the file ends, %s expected", what);
    memcpy(value, text->data + text->position, (size_t)size);
    text->position += size;
    return MODAL_OK;
}

static modal_status read_int(modal_text *text, const char *what, int64_t *value)
{
    int32_t number = 0;
    modal_status status = take(text, what, &number, sizeof number);
    *value = number;
    return status;
}

static modal_status read_size(modal_text *text, const char *what, int64_t *value)
{
    uint64_t number = 0;
    modal_status status = take(text, what, &number, sizeof number);
    if (status != MODAL_OK) return status;
    if (number > INT64_MAX)
        return modal_text_fail(text, "%s out of range, %llu", what, (unsigned long long)number);
    *value = (int64_t)number;
    return MODAL_OK;
}

static modal_status read_real(modal_text *text, const char *what, double *value)
{
    modal_status status = take(text, what, value, sizeof *value);
    if (status == MODAL_OK && !isfinite(*value))
        return modal_text_fail(text, "NaN or infinite %s", what);
    return status;
}

static modal_status end_record(modal_text *text)
{
    (void)text;
    return MODAL_OK;
}

const msh_encoding msh_binary = {read_int, read_size, read_real, end_record};
