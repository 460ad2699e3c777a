/* SPDX-License-Identifier: Apache-2.0 */
/* Surfaces in the Object File Format, text only (Geomview's manual, "OFF Files"). */
#include <string.h>

#include "formats/meshes/mesh_parse.h"
#include "formats/meshes/surface_builder.h"

typedef struct off_reader {
    modal_text text;
    modal_surface_builder builder;
    int has_normals, has_colours;
    int64_t n_vertices, n_faces;
} off_reader;

/* OFF, COFF, NOFF or CNOFF. */
static modal_status read_keyword(off_reader *reader)
{
    modal_text *text = &reader->text;
    const char *token;
    int64_t length;
    char quoted[MODAL_QUOTE];
    if (!modal_text_seek_token(text)) return modal_text_fail(text, "nothing but blanks");
    modal_text_token(text, &token, &length);
    const char *end = token + length;
    if (token < end && *token == 'C') reader->has_colours = 1, token++;
    if (token < end && *token == 'N') reader->has_normals = 1, token++;
    if (!modal_token_is(token, end - token, "OFF"))
        return modal_text_fail(text, "OFF, COFF, NOFF or CNOFF expected, '%s'",
                               modal_quote(quoted, end - length, length));
    modal_text ahead = *text;
    if (modal_text_token(&ahead, &token, &length) && modal_token_is(token, length, "BINARY"))
        return modal_text_fail(text, "binary OFF files are not supported");
    return MODAL_OK;
}

/* Numbers up to the end of the line, of which nothing is kept. */
static modal_status skip_numbers(modal_text *text, const char *what, int least, int most)
{
    modal_status status = MODAL_OK;
    int n = 0;
    for (;; n++) {
        modal_text ahead = *text;
        const char *token;
        int64_t length;
        double value;
        if (!modal_text_token(&ahead, &token, &length)) break;
        if (n == most) return modal_text_end_line(text); /* says what is too much */
        MODAL_TRY(modal_text_real(text, what, &value));
    }
    if (n < least) return modal_text_fail(text, "%s missing", what);
    modal_text_skip_line(text);
done:
    return status;
}

static modal_status read_vertices(off_reader *reader)
{
    static const char *const names[3] = {"x coordinate", "y coordinate", "z coordinate"};
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    double position[3], normal;
    for (int64_t i = 0; i < reader->n_vertices; i++) {
        text->subject = NULL;
        modal_text_seek_token(text);
        text->subject = "vertex";
        text->number = i;
        for (int k = 0; k < 3; k++) MODAL_TRY(modal_text_real(text, names[k], &position[k]));
        for (int k = 0; k < 3 && reader->has_normals; k++)
            MODAL_TRY(modal_text_real(text, "normal", &normal));
        if (reader->has_colours)
            MODAL_TRY(skip_numbers(text, "colour", 3, 4));
        else
            MODAL_TRY(modal_text_end_line(text));
        MODAL_TRY(modal_surface_builder_vertex(&reader->builder, position));
    }
done:
    return status;
}

static modal_status read_faces(off_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    int64_t n_corners, corners[MODAL_POLYGON_CORNERS];
    for (int64_t i = 0; i < reader->n_faces; i++) {
        text->subject = NULL;
        modal_text_seek_token(text);
        text->subject = "face";
        text->number = i;
        MODAL_TRY(modal_text_integer(text, "number of corners", 3, MODAL_POLYGON_CORNERS,
                                     &n_corners));
        for (int64_t k = 0; k < n_corners; k++) {
            modal_text_seek_token(text); /* a face may go on in the next line */
            MODAL_TRY(modal_text_integer(text, "vertex number", 0, reader->n_vertices - 1, &corners[k]));
        }
        MODAL_TRY(modal_surface_builder_polygon(&reader->builder, corners, n_corners));
        MODAL_TRY(skip_numbers(text, "colour of a face", 0, 4));
    }
    text->subject = NULL;
done:
    return status;
}

modal_status modal_off_parse(const char *data, int64_t length, const char *name,
                             modal_surface_mesh *surface, int64_t *n_collapsed, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t n_edges;
    memset(surface, 0, sizeof *surface);
    off_reader reader = {.builder = {.surface = surface, .text = &reader.text}};
    modal_text *text = &reader.text;
    modal_text_init(text, name, data, length, err);
    text->comments = 1;
    MODAL_TRY(read_keyword(&reader));
    modal_text_seek_token(text);
    MODAL_TRY(modal_text_integer(text, "number of vertices", 0, INT32_MAX, &reader.n_vertices));
    MODAL_TRY(modal_text_integer(text, "number of faces", 0, INT32_MAX, &reader.n_faces));
    MODAL_TRY(modal_text_integer(text, "number of edges", 0, INT64_MAX, &n_edges));
    MODAL_TRY(modal_text_end_line(text));
    MODAL_TRY(modal_text_check_count(text, "vertices", reader.n_vertices, 6));
    MODAL_TRY(modal_text_check_count(text, "faces", reader.n_faces, 8));
    MODAL_TRY(read_vertices(&reader));
    MODAL_TRY(read_faces(&reader));
    if (modal_text_seek_token(text)) MODAL_TRY(modal_text_end_line(text));
    MODAL_TRY(modal_surface_builder_finish(&reader.builder, n_collapsed));
done:
    if (status == MODAL_ERROR_MEMORY) modal_error_context(err, "%s", name);
    if (status != MODAL_OK) modal_surface_mesh_free(surface);
    return status;
}
