/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/sequences/series_read.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "formats/json/json_place.h"
#include "formats/meshes/text_reader.h"
#include "lib/base/memory.h"

modal_status modal_file_series_parse(const char *data, int64_t length, const char *path, modal_file_series *series, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_json_source source = {.name = path, .err = err};
    modal_json_place root;
    memset(series, 0, sizeof *series);
    MODAL_TRY(modal_json_open(&source, data, (size_t)length, &root));
    const json_t *files = json_object_get(root.value, "files");
    const int64_t n = (int64_t)json_array_size(files);
    if (n == 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: no list of \"files\"", path);
    MODAL_TRY(modal_alloc(&series->times, n, sizeof *series->times, "times", err));
    MODAL_TRY(modal_alloc_zero(&series->files, n, sizeof *series->files, "names of frames", err));
    for (int64_t i = 0; i < n; i++) {
        const json_t *file = json_array_get(files, (size_t)i), *time = json_object_get(file, "time");
        const char *name = json_string_value(json_object_get(file, "name"));
        if (!name || !name[0] || !json_is_number(time))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: file %lld: no name, or no time", path, (long long)i);
        series->times[i] = json_number_value(time);
        if (!isfinite(series->times[i]) || (i > 0 && !(series->times[i] > series->times[i - 1])))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: file %lld: time is not after the one before, %g", path, (long long)i,
                       series->times[i]);
        MODAL_TRY(modal_copy_text(&series->files[i], name, SIZE_MAX, err));
        series->n++;
    }
done:
    modal_json_close(&source);
    if (status != MODAL_OK) modal_file_series_free(series);
    return status;
}

modal_status modal_file_series_read(const char *path, modal_file_series *series, modal_error *err)
{
    char *data = NULL;
    int64_t length = 0;
    memset(series, 0, sizeof *series);
    modal_status status = modal_file_load(path, &data, &length, err);
    if (status == MODAL_OK) status = modal_file_series_parse(data, length, path, series, err);
    modal_free(&data);
    return status;
}

void modal_file_series_free(modal_file_series *series)
{
    for (int64_t i = 0; i < series->n; i++) modal_free(&series->files[i]);
    modal_free(&series->files);
    modal_free(&series->times);
    memset(series, 0, sizeof *series);
}
