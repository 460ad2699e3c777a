/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/viewer/viewer_sink.h"

#include <string.h>

#include "lib/base/memory.h"

static modal_status deflate_bytes(modal_viewer_sink *s, const void *bytes, int64_t n, int flush, modal_error *err)
{
    const unsigned char *from = bytes;
    do {
        const int64_t part = n < 1 << 30 ? n : 1 << 30;
        s->stream.next_in = (unsigned char *)from;
        s->stream.avail_in = (uInt)part;
        from += part;
        n -= part;
        int code;
        do {
            modal_status status = modal_grow(&s->bytes, &s->capacity, s->n + (1 << 16), 1, "page", err);
            if (status != MODAL_OK) return status;
            const int64_t room = s->capacity - s->n < 1 << 30 ? s->capacity - s->n : 1 << 30;
            s->stream.next_out = s->bytes + s->n;
            s->stream.avail_out = (uInt)room;
            code = deflate(&s->stream, n > 0 ? Z_NO_FLUSH : flush);
            s->n += room - s->stream.avail_out;
        } while (s->stream.avail_out == 0);
        if (code == Z_STREAM_ERROR)
            return modal_error_set(err, MODAL_ERROR_SYSTEM, "page: zlib fails, %d", code);
    } while (n > 0);
    return MODAL_OK;
}

modal_status modal_viewer_put_planes(modal_viewer_sink *s, const void *items, int64_t n, int width, modal_error *err)
{
    modal_status status = MODAL_OK;
    const unsigned char *from = items;
    unsigned char *plane = NULL;
    MODAL_TRY(modal_alloc(&plane, n, 1, "page", err));
    for (int k = 0; k < width; k++) {
        for (int64_t i = 0; i < n; i++) plane[i] = from[i * width + k];
        MODAL_TRY(deflate_bytes(s, plane, n, Z_NO_FLUSH, err));
    }
done:
    modal_free(&plane);
    return status;
}

modal_status modal_viewer_put_differences(modal_viewer_sink *s, const int32_t *items, int64_t n, modal_error *err)
{
    modal_status status = MODAL_OK;
    uint32_t *coded = NULL;
    MODAL_TRY(modal_alloc(&coded, n, sizeof *coded, "page", err));
    for (int64_t i = 0; i < n; i++)
        coded[i] = modal_viewer_zigzag32((int32_t)((uint32_t)items[i] - (uint32_t)(i ? items[i - 1] : 0)));
    MODAL_TRY(modal_viewer_put_planes(s, coded, n, 4, err));
done:
    modal_free(&coded);
    return status;
}

modal_status modal_viewer_sink_begin(modal_viewer_sink *s, modal_error *err)
{
    memset(s, 0, sizeof *s);
    /* window 15 + 16: a gzip wrapper, which browsers undo by themselves */
    s->open = deflateInit2(&s->stream, 6, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) == Z_OK;
    return s->open ? MODAL_OK : modal_error_set(err, MODAL_ERROR_MEMORY, "page: zlib does not start");
}

modal_status modal_viewer_sink_end(modal_viewer_sink *s, modal_error *err)
{
    return deflate_bytes(s, "", 0, Z_FINISH, err);
}

void modal_viewer_sink_free(modal_viewer_sink *s)
{
    if (s->open) deflateEnd(&s->stream);
    modal_free(&s->bytes);
    memset(s, 0, sizeof *s);
}
