/* SPDX-License-Identifier: Apache-2.0 */
/* Surfaces in the STL format (3D Systems, "StereoLithography Interface Specification", 1988), text
 * and binary. The format has no shared vertices: corners at exactly the same place become one. */
#include <math.h>
#include <string.h>

#include "formats/meshes/mesh_parse.h"
#include "formats/meshes/surface_builder.h"
#include "lib/base/memory.h"
#include "lib/base/point_table.h"

enum { HEAD = 80, FACET = 50 }; /* bytes of a binary file */

typedef struct stl_reader {
    modal_text text;
    modal_surface_builder builder;
    modal_point_table table;
    int64_t corners[3], n_facets;
} stl_reader;

static modal_status add_corner(stl_reader *reader, int corner, const double position[3])
{
    modal_status status = MODAL_OK;
    modal_surface_mesh *surface = reader->builder.surface;
    int32_t earlier;
    MODAL_TRY(modal_surface_builder_vertex(&reader->builder, position));
    MODAL_TRY(modal_point_table_add(&reader->table, surface->positions,
                                    (int32_t)(surface->n_vertices - 1), &earlier,
                                    reader->text.err));
    if (earlier >= 0) surface->n_vertices--;
    reader->corners[corner] = earlier >= 0 ? earlier : surface->n_vertices - 1;
done:
    return status;
}

/* ---- text ---- */

/* The next token of the text, on whatever line, must be this word. */
static modal_status expect(modal_text *text, const char *word)
{
    const char *token;
    int64_t length;
    char quoted[MODAL_QUOTE];
    if (!modal_text_seek_token(text)) return modal_text_fail(text, "the file ends, %s expected", word);
    modal_text_token(text, &token, &length);
    if (modal_token_is_like(token, length, word)) return MODAL_OK;
    return modal_text_fail(text, "%s expected, '%s'", word, modal_quote(quoted, token, length));
}

static modal_status read_text_facet(stl_reader *reader)
{
    static const char *const names[3] = {"x coordinate", "y coordinate", "z coordinate"};
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    double position[3];
    const char *token;
    int64_t length;
    MODAL_TRY(expect(text, "normal"));
    /* Computed by whoever wrote the file, often wrongly, even NaN where a facet has no area. */
    for (int i = 0; i < 3; i++)
        if (!modal_text_token(text, &token, &length))
            return modal_text_fail(text, "normal of three numbers expected");
    MODAL_TRY(expect(text, "outer"));
    MODAL_TRY(expect(text, "loop"));
    for (int corner = 0; corner < 3; corner++) {
        MODAL_TRY(expect(text, "vertex"));
        for (int i = 0; i < 3; i++) MODAL_TRY(modal_text_real(text, names[i], &position[i]));
        MODAL_TRY(add_corner(reader, corner, position));
    }
    MODAL_TRY(expect(text, "endloop"));
    MODAL_TRY(expect(text, "endfacet"));
    MODAL_TRY(modal_surface_builder_polygon(&reader->builder, reader->corners, 3));
done:
    return status;
}

/* What follows solid on its line, without blanks around it. */
static modal_status read_name(stl_reader *reader)
{
    const modal_text *text = &reader->text;
    const char *begin = text->data + text->position, *stop = text->data + text->length;
    const char *end = memchr(begin, '\n', (size_t)(stop - begin));
    if (!end) end = stop;
    while (begin < end && strchr(" \t\r", *begin)) begin++;
    while (begin < end && strchr(" \t\r", end[-1])) end--;
    return modal_surface_builder_name(&reader->builder, MODAL_NAMES_PARTS, begin, end - begin);
}

/* As some write it: in two words. */
static int is_end_solid(const modal_text *text, const char *token, int64_t length)
{
    modal_text ahead = *text;
    return modal_token_is_like(token, length, "end") && modal_text_token(&ahead, &token, &length) &&
           modal_token_is_like(token, length, "solid");
}

static modal_status read_text(stl_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    const char *token;
    int64_t length;
    char quoted[MODAL_QUOTE];
    while (modal_text_seek_token(text)) {
        MODAL_TRY(expect(text, "solid"));
        MODAL_TRY(read_name(reader));
        modal_text_skip_line(text);
        for (;;) {
            text->subject = NULL;
            if (!modal_text_seek_token(text)) return modal_text_fail(text, "the file ends, endsolid expected");
            modal_text_token(text, &token, &length);
            if (modal_token_is_like(token, length, "endsolid") || is_end_solid(text, token, length)) break;
            if (!modal_token_is_like(token, length, "facet"))
                return modal_text_fail(text, "facet or endsolid expected, '%s'",
                                       modal_quote(quoted, token, length));
            text->subject = "facet";
            text->number = reader->n_facets++;
            MODAL_TRY(read_text_facet(reader));
        }
        modal_text_skip_line(text);
    }
done:
    return status;
}

/* ---- binary ---- */

static int64_t load_count(const char *data)
{
    uint32_t count;
    memcpy(&count, data + HEAD, sizeof count);
    return count;
}

static int is_binary(const char *data, int64_t length)
{
    return length >= HEAD + 4 && length == HEAD + 4 + FACET * load_count(data);
}

static modal_status read_binary(stl_reader *reader)
{
    static const char axes[3] = {'x', 'y', 'z'};
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    int64_t count = load_count(text->data);
    text->binary = 1;
    text->subject = "facet";
    for (int64_t i = 0; i < count; i++) {
        text->number = i;
        for (int corner = 0; corner < 3; corner++) {
            float values[3];
            double position[3];
            text->at = HEAD + 4 + FACET * i + 12 + 12 * corner;
            memcpy(values, text->data + text->at, sizeof values);
            for (int k = 0; k < 3; k++) {
                position[k] = values[k];
                if (!isfinite(values[k]))
                    return modal_text_fail(text, "NaN or infinite %c coordinate", axes[k]);
            }
            MODAL_TRY(add_corner(reader, corner, position));
        }
        MODAL_TRY(modal_surface_builder_polygon(&reader->builder, reader->corners, 3));
    }
done:
    return status;
}

modal_status modal_stl_parse(const char *data, int64_t length, const char *name,
                             modal_surface_mesh *surface, int64_t *n_collapsed, modal_error *err)
{
    modal_status status = MODAL_OK;
    const char *token;
    int64_t token_length;
    memset(surface, 0, sizeof *surface);
    stl_reader reader = {.builder = {.surface = surface, .text = &reader.text}};
    modal_text *text = &reader.text;
    modal_text_init(text, name, data, length, err);
    /* Binary files, too, may begin with "solid": their size tells. */
    if (is_binary(data, length)) {
        MODAL_TRY(read_binary(&reader));
    } else {
        modal_text ahead = *text;
        if (!modal_text_seek_token(&ahead) || !modal_text_token(&ahead, &token, &token_length) ||
            !modal_token_is_like(token, token_length, "solid")) {
            if (length < HEAD + 4)
                status = modal_text_fail(text, "neither text that begins with solid nor a binary "
                                               "file, which has 84 bytes at least, %lld",
                                         (long long)length);
            else
                status = modal_text_fail(
                    text, "neither text that begins with solid nor a binary file of %lld facets: "
                          "that has %lld bytes, not %lld",
                    (long long)load_count(data), (long long)(HEAD + 4 + FACET * load_count(data)),
                    (long long)length);
            goto done;
        }
        MODAL_TRY(read_text(&reader));
    }
    MODAL_TRY(modal_surface_builder_finish(&reader.builder, n_collapsed));
done:
    if (status == MODAL_ERROR_MEMORY) modal_error_context(err, "%s", name);
    modal_point_table_free(&reader.table);
    if (status != MODAL_OK) modal_surface_mesh_free(surface);
    return status;
}
