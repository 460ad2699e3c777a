/* SPDX-License-Identifier: Apache-2.0 */
/* The data of a page that plots a response: formats/viewer_data.md, "Pages of responses". */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "formats/json/json_text.h"
#include "formats/viewer/viewer_data.h"
#include "formats/viewer/viewer_sink.h"
#include "lib/base/memory.h"

modal_status modal_viewer_response_make(const modal_response_table *table, const char *title, modal_viewer_data *data,
                                        modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_viewer_sink out = {0};
    json_t *curves = json_array(), *header = NULL;
    memset(data, 0, sizeof *data);
    MODAL_TRY(modal_viewer_sink_begin(&out, err));
    MODAL_TRY(modal_viewer_put_planes(&out, table->frequencies, table->n_rows, 8, err));
    for (int32_t i = 0; i < table->n_curves; i++) {
        const modal_response_curve *c = &table->curves[i];
        json_array_append_new(curves, json_pack("{s:i, s:i}", c->of_probe ? "probe" : "object", c->number,
                                                c->of_probe ? "axis" : "mode", c->index));
        MODAL_TRY(modal_viewer_put_planes(&out, table->amplitudes + i * table->n_rows, table->n_rows, 4, err));
        MODAL_TRY(modal_viewer_put_planes(&out, table->phases + i * table->n_rows, table->n_rows, 4, err));
    }
    MODAL_TRY(modal_viewer_sink_end(&out, err));
    header = json_pack("{s:i, s:o, s:I, s:O}", "version", 1, "title", modal_json_string(title), "points",
                       (json_int_t)table->n_rows, "curves", curves);
    data->header = header ? modal_json_dump(header, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_ENSURE_ASCII, '<') : NULL;
    if (!data->header) MODAL_FAIL(err, MODAL_ERROR_MEMORY, "page: out of memory");
    data->bytes = out.bytes;
    data->n_bytes = out.n;
    out.bytes = NULL;
done:
    modal_viewer_sink_free(&out);
    json_decref(curves);
    json_decref(header);
    if (status != MODAL_OK) modal_viewer_data_free(data);
    return status;
}
