/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/images/exr_write.h"

#include <string.h>
#ifdef MODAL_HAVE_OPENEXR
#include <openexr.h>
#ifdef MODAL_HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif
#endif

#include "lib/base/memory.h"

#ifdef MODAL_HAVE_OPENEXR

/* The file as it grows. */
typedef struct growing {
    uint8_t *bytes;
    int64_t length, capacity;
} growing;

static int64_t put(exr_const_context_t context, void *self, const void *from, uint64_t size, uint64_t offset, exr_stream_error_func_ptr_t fail)
{
    growing *g = self;
    (void)context, (void)fail;
    const int64_t end = (int64_t)(offset + size);
    if (modal_grow(&g->bytes, &g->capacity, end, 1, "exr", NULL) != MODAL_OK) return -1;
    if ((int64_t)offset > g->length) memset(g->bytes + g->length, 0, (size_t)((int64_t)offset - g->length)); /* the table of chunks comes at the end */
    memcpy(g->bytes + offset, from, size);
    if (end > g->length) g->length = end;
    return (int64_t)size;
}

/* What is wrong is said by the result. */
static void say_nothing(exr_const_context_t context, exr_result_t code, const char *message) { (void)context, (void)code, (void)message; }

static exr_result_t write_head(exr_context_t file, const modal_exr_channel *channels, int n, int32_t width, int32_t height, int *part)
{
    exr_result_t code = exr_add_part(file, NULL, EXR_STORAGE_SCANLINE, part);
    if (code == EXR_ERR_SUCCESS) code = exr_initialize_required_attr_simple(file, *part, width, height, EXR_COMPRESSION_ZIP);
    for (int i = 0; i < n && code == EXR_ERR_SUCCESS; i++) {
        const exr_pixel_type_t type = channels[i].type == MODAL_EXR_UINT   ? EXR_PIXEL_UINT
                                      : channels[i].type == MODAL_EXR_HALF ? EXR_PIXEL_HALF
                                                                           : EXR_PIXEL_FLOAT;
        code = exr_add_channel(file, *part, channels[i].name, type, EXR_PERCEPTUALLY_LOGARITHMIC, 1, 1);
    }
    return code == EXR_ERR_SUCCESS ? exr_write_header(file) : code;
}

/* Points the pipeline's channels at the rows from y on. */
static void set_channels(exr_encode_pipeline_t *encoder, const modal_exr_channel *channels, int n, int32_t width, int32_t y)
{
    for (int16_t c = 0; c < encoder->channel_count; c++) {
        exr_coding_channel_info_t *to = &encoder->channels[c];
        for (int i = 0; i < n; i++) {
            if (strcmp(channels[i].name, to->channel_name) != 0) continue;
            to->user_bytes_per_element = 4;
            to->user_data_type = channels[i].type == MODAL_EXR_UINT ? EXR_PIXEL_UINT : EXR_PIXEL_FLOAT;
            to->user_pixel_stride = channels[i].stride;
            to->user_line_stride = channels[i].stride * width;
            to->encode_from_ptr = (const uint8_t *)channels[i].values + (int64_t)y * width * channels[i].stride;
        }
    }
}

/* ---- ZIP by libdeflate, in less than half the time of OpenEXR's zlib ---- */

#ifdef MODAL_HAVE_LIBDEFLATE

enum { LEVEL = 3 };

/* What packs the chunks of a file. */
typedef struct zip_room {
    struct libdeflate_compressor *packer;
    uint8_t *apart, *packed; /* [capacity] */
    int64_t capacity;
} zip_room;

/* Even bytes, then odd ones, as differences from the byte before (OpenEXR File Layout: ZIP). */
static void take_apart(const uint8_t *from, size_t n, uint8_t *to)
{
    const size_t half = (n + 1) / 2;
    for (size_t i = 0; i < n / 2; i++) to[i] = from[2 * i], to[half + i] = from[2 * i + 1];
    if (n % 2) to[half - 1] = from[n - 1];
}

static exr_result_t zip_chunk(exr_encode_pipeline_t *encoder)
{
    zip_room *room = encoder->encoding_user_data;
    const size_t n = (size_t)encoder->packed_bytes;
    if (!room->packer) room->packer = libdeflate_alloc_compressor(LEVEL);
    if (room->capacity < (int64_t)n) { /* the first chunk is the largest one */
        modal_free(&room->apart);
        modal_free(&room->packed);
        room->capacity = 0;
        if (modal_alloc(&room->apart, (int64_t)n, 1, "exr", NULL) != MODAL_OK || modal_alloc(&room->packed, (int64_t)n, 1, "exr", NULL) != MODAL_OK)
            return EXR_ERR_OUT_OF_MEMORY;
        room->capacity = (int64_t)n;
    }
    if (!room->packer) return EXR_ERR_OUT_OF_MEMORY;
    uint8_t *differences = room->packed; /* until they are packed */
    take_apart(encoder->packed_buffer, n, differences);
    room->apart[0] = differences[0];
    for (size_t i = 1; i < n; i++) room->apart[i] = (uint8_t)(differences[i] - differences[i - 1] + 128);
    encoder->compressed_bytes = libdeflate_zlib_compress(room->packer, room->apart, n, room->packed, n);
    if (encoder->compressed_bytes == 0 || encoder->compressed_bytes == n) { /* no smaller: as it is */
        memcpy(room->packed, encoder->packed_buffer, n);
        encoder->compressed_bytes = n;
    }
    encoder->compressed_buffer = room->packed;
    return EXR_ERR_SUCCESS;
}

static void zip_by(exr_encode_pipeline_t *encoder, zip_room *room) { encoder->encoding_user_data = room, encoder->compress_fn = zip_chunk; }

static void end_zip(exr_encode_pipeline_t *encoder, zip_room *room)
{
    encoder->compressed_buffer = NULL; /* the room's */
    if (room->packer) libdeflate_free_compressor(room->packer);
    modal_free(&room->apart);
    modal_free(&room->packed);
}

#else

typedef struct zip_room { char none; } zip_room;
static void zip_by(exr_encode_pipeline_t *encoder, zip_room *room) { (void)encoder, (void)room; }
static void end_zip(exr_encode_pipeline_t *encoder, zip_room *room) { (void)encoder, (void)room; }

#endif

static exr_result_t write_rows(exr_context_t file, int part, const modal_exr_channel *channels, int n, int32_t width, int32_t height)
{
    exr_encode_pipeline_t encoder = EXR_ENCODE_PIPELINE_INITIALIZER;
    zip_room room = {0};
    int32_t rows = 0;
    exr_result_t code = exr_get_scanlines_per_chunk(file, part, &rows);
    for (int32_t y = 0; y < height && code == EXR_ERR_SUCCESS; y += rows) {
        exr_chunk_info_t chunk;
        code = exr_write_scanline_chunk_info(file, part, y, &chunk);
        if (code == EXR_ERR_SUCCESS)
            code = y == 0 ? exr_encoding_initialize(file, part, &chunk, &encoder) : exr_encoding_update(file, part, &chunk, &encoder);
        if (code != EXR_ERR_SUCCESS) break;
        set_channels(&encoder, channels, n, width, y);
        if (y == 0) code = exr_encoding_choose_default_routines(file, part, &encoder);
        zip_by(&encoder, &room);
        if (code == EXR_ERR_SUCCESS) code = exr_encoding_run(file, part, &encoder);
    }
    end_zip(&encoder, &room);
    exr_encoding_destroy(file, &encoder);
    return code;
}

modal_status modal_exr_encode(const modal_exr_channel *channels, int n_channels, int32_t width, int32_t height, uint8_t **bytes, int64_t *length,
                              modal_error *err)
{
    growing g = {NULL, 0, 0};
    exr_context_initializer_t how = EXR_DEFAULT_CONTEXT_INITIALIZER;
    exr_context_t file = NULL;
    int part = 0;
    how.user_data = &g, how.write_fn = put, how.error_handler_fn = say_nothing;
    exr_result_t code = exr_start_write(&file, "picture.exr", EXR_WRITE_FILE_DIRECTLY, &how);
    if (code == EXR_ERR_SUCCESS) code = write_head(file, channels, n_channels, width, height, &part);
    if (code == EXR_ERR_SUCCESS) code = write_rows(file, part, channels, n_channels, width, height);
    if (file) {
        const exr_result_t end = exr_finish(&file); /* writes the table of chunks */
        if (code == EXR_ERR_SUCCESS) code = end;
    }
    *bytes = NULL, *length = 0;
    if (code == EXR_ERR_SUCCESS) {
        *bytes = g.bytes, *length = g.length;
        return MODAL_OK;
    }
    modal_free(&g.bytes);
    return modal_error_set(err, code == EXR_ERR_OUT_OF_MEMORY ? MODAL_ERROR_MEMORY : MODAL_ERROR_SYSTEM, "exr: %s, %d", exr_get_default_error_message(code),
                           code);
}

const char *modal_exr_library(void)
{
    return "OpenEXR " MODAL_OPENEXR_VERSION;
}

#else

modal_status modal_exr_encode(const modal_exr_channel *channels, int n_channels, int32_t width, int32_t height, uint8_t **bytes, int64_t *length,
                              modal_error *err)
{
    (void)channels, (void)n_channels, (void)width, (void)height;
    *bytes = NULL, *length = 0;
    return modal_error_set(err, MODAL_ERROR_SYSTEM, "exr: this program was built without OpenEXR, %s", modal_exr_library());
}

const char *modal_exr_library(void) { return "OpenEXR absent"; }

#endif
