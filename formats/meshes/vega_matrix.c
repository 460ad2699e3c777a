/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/meshes/vega_matrix.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "formats/meshes/text_reader.h"
#include "lib/base/memory.h"

enum { HEAD = 8 };

static uint64_t little_endian(const char *bytes, int n)
{
    uint64_t value = 0;
    for (int i = n; i-- > 0;) value = value << 8 | (unsigned char)bytes[i];
    return value;
}

modal_status modal_vega_matrix_parse(const char *data, int64_t length, const char *name,
                                     modal_vega_matrix *matrix, modal_error *err)
{
    modal_status status = MODAL_OK;
    memset(matrix, 0, sizeof *matrix);
    if (length < HEAD)
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "%s: %" PRId64 " bytes, a matrix begins with two 32-bit counts", name, length);
    const int32_t rows = (int32_t)(uint32_t)little_endian(data, 4),
                  columns = (int32_t)(uint32_t)little_endian(data + 4, 4);
    if (rows < 1 || columns < 1)
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: rows and columns must be > 0, %d and %d", name,
                               rows, columns);
    const int64_t count = (int64_t)rows * columns; /* below 2^62 */
    const int64_t body = length - HEAD;
    const size_t name_length = strlen(name);
    const int bytes = name_length > 6 && strcmp(name + name_length - 6, ".float") == 0 ? 4 : 8;
    if (body % bytes != 0 || body / bytes != count)
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "%s: %d x %d values of %d bytes, %" PRId64 " bytes follow", name, rows,
                               columns, bytes, body);
    MODAL_TRY(modal_alloc(&matrix->values, count, sizeof(double), "matrix", err));
    matrix->n_rows = rows;
    matrix->n_columns = columns;
    matrix->single = bytes == 4;
    for (int64_t i = 0; i < count; i++) {
        const uint64_t bits = little_endian(data + HEAD + i * bytes, bytes);
        const uint32_t low = (uint32_t)bits;
        float single;
        memcpy(&single, &low, sizeof single);
        memcpy(&matrix->values[i], &bits, sizeof bits);
        if (bytes == 4) matrix->values[i] = single;
        if (!isfinite(matrix->values[i]))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: column %" PRId64 ", row %" PRId64 ": not finite, %g", name,
                       i / rows, i % rows, matrix->values[i]);
    }
done:
    if (status != MODAL_OK) {
        modal_free(&matrix->values);
        memset(matrix, 0, sizeof *matrix);
    }
    return status;
}

modal_status modal_vega_matrix_read(const char *path, modal_vega_matrix *matrix, modal_error *err)
{
    char *data = NULL;
    int64_t length = 0;
    memset(matrix, 0, sizeof *matrix);
    modal_status status = modal_file_load(path, &data, &length, err);
    if (status == MODAL_OK) status = modal_vega_matrix_parse(data, length, path, matrix, err);
    modal_free(&data);
    return status;
}
