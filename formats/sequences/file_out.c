/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/sequences/file_out.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/disk.h"
#include "lib/base/memory.h"

enum { BUFFER_BYTES = 1 << 20 };

static modal_status failed(const modal_file_out *out, const char *what, modal_error *err)
{
    return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: %s, %s", out->path, what, strerror(errno));
}

modal_status modal_file_out_open(modal_file_out *out, const char *path, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (!out->buffer) MODAL_TRY(modal_alloc(&out->buffer, BUFFER_BYTES, 1, "file buffer", err));
    modal_free(&out->path);
    MODAL_TRY(modal_copy_text(&out->path, path, SIZE_MAX, err));
    out->used = out->written = out->on_their_way = 0;
    out->file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (out->file < 0) status = failed(out, "cannot write", err);
done:
    return status;
}

modal_status modal_file_out_open_frame(modal_file_out *out, const char *folder, int64_t frame,
                                       const char *extension, modal_error *err)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%06" PRId64 ".%s", folder, frame, extension) >=
        (int)sizeof path)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: name too long", folder);
    return modal_file_out_open(out, path, err);
}

static void start(modal_file_out *out, int64_t least)
{
    const int64_t length = out->written - out->used - out->on_their_way;
    if (length < least) return;
    modal_disk_start(out->file, out->on_their_way, length);
    out->on_their_way += length;
}

static modal_status write_all(modal_file_out *out, const void *bytes, int64_t length, modal_error *err)
{
    return modal_disk_write(out->file, -1, bytes, length) == 0 ? MODAL_OK : failed(out, "write error", err);
}

static modal_status flush(modal_file_out *out, modal_error *err)
{
    const int64_t used = out->used;
    out->used = 0;
    const modal_status status = write_all(out, out->buffer, used, err);
    if (status == MODAL_OK) start(out, MODAL_DISK_PIECE);
    return status;
}

modal_status modal_file_out_write(modal_file_out *out, const void *bytes, int64_t length,
                                  modal_error *err)
{
    modal_status status = MODAL_OK;
    const int past_buffer = length >= BUFFER_BYTES / 2;
    if (past_buffer || length > BUFFER_BYTES - out->used) MODAL_TRY(flush(out, err)); /* what came before goes first */
    if (past_buffer) {
        MODAL_TRY(write_all(out, bytes, length, err));
        out->written += length;
        start(out, MODAL_DISK_PIECE);
    } else {
        memcpy(out->buffer + out->used, bytes, (size_t)length);
        out->used += length;
        out->written += length;
    }
done:
    return status;
}

modal_status modal_file_out_reserve(modal_file_out *out, int64_t length, char **to, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (length > BUFFER_BYTES - out->used) MODAL_TRY(flush(out, err));
    *to = out->buffer + out->used;
done:
    return status;
}

void modal_file_out_filled(modal_file_out *out, const char *end)
{
    const int64_t added = end - (out->buffer + out->used);
    out->used += added;
    out->written += added;
}

modal_status modal_file_out_printf(modal_file_out *out, modal_error *err, const char *format, ...)
{
    enum { MOST = 8192 };
    modal_status status = MODAL_OK;
    char *to = NULL;
    va_list arguments;
    MODAL_TRY(modal_file_out_reserve(out, MOST, &to, err));
    va_start(arguments, format);
    const int length = vsnprintf(to, MOST, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= MOST)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: a line is too long", out->path);
    modal_file_out_filled(out, to + length);
done:
    return status;
}

modal_status modal_file_out_write_at(modal_file_out *out, int64_t place, const void *bytes,
                                     int64_t length, modal_error *err)
{
    if (modal_disk_write(out->file, place, bytes, length) != 0) return failed(out, "write error", err);
    if (length >= BUFFER_BYTES) modal_disk_start(out->file, place, length);
    return MODAL_OK;
}

modal_status modal_file_out_close(modal_file_out *out, modal_error *err)
{
    modal_status status = flush(out, err);
    if (status == MODAL_OK) start(out, 1);
    if (close(out->file) != 0 && status == MODAL_OK) status = failed(out, "write error", err);
    out->file = -1;
    return status;
}

void modal_file_out_free(modal_file_out *out)
{
    if (out->file >= 0) close(out->file);
    out->file = -1;
    modal_free(&out->path);
    modal_free(&out->buffer);
}
