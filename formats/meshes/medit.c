/* SPDX-License-Identifier: Apache-2.0 */
/* Medit's files: .mesh in text (Frey, "MEDIT: an interactive mesh visualization software", INRIA RT-253,
 * 2001), where a record has a line, and .meshb, the same sections in binary (Marechal, "Handling unstructured
 * meshes with the libMeshb library"): a number of the section, where in the file the next one begins, the
 * number of records, the records. */
#include <math.h>
#include <string.h>

#include "formats/meshes/mesh_builder.h"
#include "formats/meshes/mesh_parse.h"

/* What a section's records are: so many numbers of nodes and a reference, an element or not. */
typedef struct medit_section {
    const char *name;
    int n_numbers, dimension, type; /* dimension -1: ignored */
    int code;                       /* the section's number in binary */
} medit_section;

enum { CODE_DIMENSION = 3, CODE_VERTICES = 4, CODE_END = 54 };

static const medit_section sections[] = {
    {"Tetrahedra", 4, 3, MODAL_ELEMENT_TET4, 8},
    {"TetrahedraP2", 10, 3, MODAL_ELEMENT_TET10, 30},
    {"Hexahedra", 8, 3, MODAL_ELEMENT_HEX8, 10},
    {"Prisms", 6, 3, MODAL_ELEMENT_WEDGE6, 9},
    {"Pentahedra", 6, 3, MODAL_ELEMENT_WEDGE6, -1},
    {"Pyramids", 5, 3, MODAL_ELEMENT_PYRAMID5, 49},
    {"Triangles", 3, 2, -1, 6},
    {"TrianglesP2", 6, 2, -1, 24},
    {"Quadrilaterals", 4, 2, -1, 7},
    {"Edges", 2, 1, -1, 5},
    {"EdgesP2", 3, 1, -1, 25},
    {"Corners", 1, -1, -1, 13},
    {"Ridges", 1, -1, -1, 14},
    {"RequiredVertices", 1, -1, -1, 15},
    {"RequiredEdges", 1, -1, -1, 16},
    {"RequiredTriangles", 1, -1, -1, 17},
    {"RequiredQuadrilaterals", 1, -1, -1, 18},
    {"Normals", 3, -1, -1, 60},
    {"Tangents", 3, -1, -1, 59},
    {"NormalAtVertices", 2, -1, -1, 20},
    {"TangentAtVertices", 2, -1, -1, 61},
};

typedef struct medit_reader {
    modal_text text;
    modal_mesh_builder builder;
    int seen_dimension;
    int is_swapped; /* a binary file of the other byte order */
    int version; /* of a binary file: 1 has float32, 3 positions of 64 bits, 4 all numbers */
    int64_t next_element;
} medit_reader;

/* ---- values ---- */

static modal_status take(medit_reader *reader, const char *what, void *value, int64_t size)
{
    modal_text *text = &reader->text;
    text->at = text->position;
    if (text->length - text->position < size) return modal_text_fail(text, "the file ends, %s expected", what);
    char *to = value;
    const char *from = text->data + text->position;
    for (int64_t i = 0; i < size; i++) to[i] = from[reader->is_swapped ? size - 1 - i : i];
    text->position += size;
    return MODAL_OK;
}

/* A whole number of 32 or 64 bits. */
static modal_status take_integer(medit_reader *reader, const char *what, int is_wide, int64_t least, int64_t most,
                                 int64_t *value)
{
    modal_text *text = &reader->text;
    int32_t narrow = 0;
    modal_status status = is_wide ? take(reader, what, value, sizeof *value) : take(reader, what, &narrow, sizeof narrow);
    if (status != MODAL_OK) return status;
    if (!is_wide) *value = narrow;
    if (*value < least || *value > most)
        return modal_text_fail(text, "%s out of range, %lld", what, (long long)*value);
    return MODAL_OK;
}

static modal_status read_integer(medit_reader *reader, const char *what, int64_t least, int64_t most, int64_t *value)
{
    modal_text *text = &reader->text;
    return text->binary ? take_integer(reader, what, reader->version >= 4, least, most, value)
                        : modal_text_integer(text, what, least, most, value);
}

static modal_status read_real(medit_reader *reader, const char *what, double *value)
{
    modal_text *text = &reader->text;
    float narrow = 0;
    if (!text->binary) return modal_text_real(text, what, value);
    modal_status status = reader->version == 1 ? take(reader, what, &narrow, sizeof narrow)
                                               : take(reader, what, value, sizeof *value);
    if (status != MODAL_OK) return status;
    if (reader->version == 1) *value = (double)narrow;
    return isfinite(*value) ? MODAL_OK : modal_text_fail(text, "NaN or infinite %s", what);
}

static modal_status end_record(medit_reader *reader)
{
    return reader->text.binary ? MODAL_OK : modal_text_end_line(&reader->text);
}

static void begin_record(medit_reader *reader, const char *subject, int64_t number)
{
    reader->text.subject = NULL;
    if (!reader->text.binary) modal_text_seek_token(&reader->text);
    reader->text.subject = subject;
    reader->text.number = number;
}

/* The number of records, in text on the keyword's line or the next; each has at least so many bytes there. */
static modal_status read_count(medit_reader *reader, int64_t bytes, int64_t *count)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    if (text->binary) {
        MODAL_TRY(take_integer(reader, "number of records", reader->version >= 4, 0, INT32_MAX, count));
        return modal_text_check_count(text, "records", *count, 2 * bytes);
    }
    modal_text_seek_token(text);
    MODAL_TRY(modal_text_integer(text, "number of records", 0, INT32_MAX, count));
    MODAL_TRY(modal_text_end_line(text));
    MODAL_TRY(modal_text_check_count(text, "records", *count, bytes));
done:
    return status;
}

static modal_status read_vertices(medit_reader *reader)
{
    static const char *const names[3] = {"x coordinate", "y coordinate", "z coordinate"};
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    int64_t count, reference;
    double position[3];
    if (!reader->seen_dimension) return modal_text_fail(text, "Vertices in front of Dimension");
    if (reader->builder.mesh->n_nodes > 0) return modal_text_fail(text, "second section Vertices");
    MODAL_TRY(read_count(reader, 8, &count));
    for (int64_t i = 1; i <= count; i++) {
        begin_record(reader, "vertex", i);
        for (int k = 0; k < 3; k++) MODAL_TRY(read_real(reader, names[k], &position[k]));
        MODAL_TRY(read_integer(reader, "reference", INT32_MIN, INT32_MAX, &reference));
        MODAL_TRY(modal_mesh_builder_node(&reader->builder, i, position));
        MODAL_TRY(end_record(reader));
    }
    text->subject = NULL;
done:
    return status;
}

static modal_status read_record(medit_reader *reader, const medit_section *section)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    modal_mesh_builder *builder = &reader->builder;
    int32_t nodes[MODAL_ELEMENT_MOST_NODES];
    int64_t number, reference;
    double ignored;
    for (int k = 0; k < section->n_numbers; k++) {
        if (section->dimension < 0) {
            MODAL_TRY(modal_text_real(text, "number", &ignored));
            continue;
        }
        MODAL_TRY(read_integer(reader, "number of a vertex", 1, builder->mesh->n_nodes, &number));
        nodes[k] = (int32_t)(number - 1);
    }
    if (section->dimension >= 0) {
        MODAL_TRY(read_integer(reader, "reference", 0, INT32_MAX, &reference));
        if (section->dimension == 3)
            MODAL_TRY(modal_mesh_builder_element(builder, (modal_element_type)section->type,
                                                 ++reader->next_element, nodes));
        if (reference > 0)
            MODAL_TRY(modal_mesh_builder_join(builder, section->dimension, (int32_t)reference, nodes,
                                              section->n_numbers));
    }
    MODAL_TRY(end_record(reader));
done:
    return status;
}

static modal_status read_records(medit_reader *reader, const medit_section *section)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    int64_t count;
    if (section->dimension >= 0 && reader->builder.mesh->n_nodes == 0)
        return modal_text_fail(text, "%s in front of Vertices", section->name);
    MODAL_TRY(read_count(reader, 2 * section->n_numbers, &count));
    for (int64_t i = 1; i <= count; i++) {
        begin_record(reader, section->name, i);
        MODAL_TRY(read_record(reader, section));
    }
    text->subject = NULL;
done:
    return status;
}

/* One section of a binary file, behind its number. */
static modal_status read_section(medit_reader *reader, int64_t code)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    const medit_section *section = NULL;
    int64_t next, value;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (code == sections[i].code) section = &sections[i];
    if (!section && code != CODE_DIMENSION && code != CODE_VERTICES)
        return modal_text_fail(text, "section %lld is not supported", (long long)code);
    MODAL_TRY(take_integer(reader, "end of the section", reader->version >= 3, text->position, text->length, &next));
    if (code == CODE_DIMENSION) {
        MODAL_TRY(take_integer(reader, "dimension", 0, 3, 3, &value));
        reader->seen_dimension = 1;
    } else if (code == CODE_VERTICES) {
        MODAL_TRY(read_vertices(reader));
    } else if (section->dimension >= 0) {
        MODAL_TRY(read_records(reader, section));
    } else if (next < text->position) {
        return modal_text_fail(text, "the section ends in front of its beginning, %lld", (long long)next);
    } else {
        text->position = next;
    }
    if (text->position != next)
        return modal_text_fail(text, "the section does not end where it says, at byte %lld", (long long)next);
done:
    return status;
}

static modal_status read_binary(medit_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    int64_t code, value;
    text->binary = 1;
    MODAL_TRY(take_integer(reader, "mark", 0, 1, 1, &value));
    MODAL_TRY(take_integer(reader, "version", 0, 1, 4, &value));
    reader->version = (int)value;
    for (;;) {
        MODAL_TRY(take_integer(reader, "section", 0, INT32_MIN, INT32_MAX, &code));
        if (code == CODE_END) break;
        MODAL_TRY(read_section(reader, code));
    }
    MODAL_TRY(modal_mesh_builder_finish(&reader->builder));
done:
    return status;
}

static modal_status read_text(medit_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    const char *token;
    int64_t length, value;
    char quoted[MODAL_QUOTE];
    for (int first = 1;; first = 0) {
        if (!modal_text_seek_token(text)) {
            if (first) return modal_text_fail(text, "MeshVersionFormatted expected");
            MODAL_TRY(modal_notes_add(&reader->builder.mesh->notes, text->err, "the file has no End: sections may be missing"));
            MODAL_TRY(modal_mesh_builder_finish(&reader->builder));
            goto done;
        }
        modal_text_token(text, &token, &length);
        if (first && !modal_token_is(token, length, "MeshVersionFormatted"))
            return modal_text_fail(text, "MeshVersionFormatted expected, '%s'",
                                   modal_quote(quoted, token, length));
        const medit_section *section = NULL;
        for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
            if (modal_token_is(token, length, sections[i].name)) section = &sections[i];
        if (modal_token_is(token, length, "End")) break;
        if (first || modal_token_is(token, length, "Dimension")) {
            modal_text_seek_token(text);
            MODAL_TRY(modal_text_integer(text, first ? "version" : "dimension", first ? 1 : 3,
                                         first ? 4 : 3, &value));
            reader->seen_dimension |= !first;
            MODAL_TRY(modal_text_end_line(text));
        } else if (modal_token_is(token, length, "Vertices"))
            MODAL_TRY(read_vertices(reader));
        else if (section)
            MODAL_TRY(read_records(reader, section));
        else
            return modal_text_fail(text, "section '%s' is not supported",
                                   modal_quote(quoted, token, length));
    }
    MODAL_TRY(modal_text_end_line(text));
    if (modal_text_seek_token(text)) MODAL_TRY(modal_text_end_line(text));
    MODAL_TRY(modal_mesh_builder_finish(&reader->builder));
done:
    return status;
}

modal_status modal_medit_parse(const char *data, int64_t length, const char *name,
                               modal_volume_mesh *mesh, modal_error *err)
{
    memset(mesh, 0, sizeof *mesh);
    medit_reader reader = {.builder = {.mesh = mesh, .text = &reader.text}};
    modal_text_init(&reader.text, name, data, length, err);
    reader.text.comments = 1;
    reader.is_swapped = length >= 4 && memcmp(data, "\0\0\0\1", 4) == 0;
    modal_status status = reader.is_swapped || (length >= 4 && memcmp(data, "\1\0\0", 4) == 0) ? read_binary(&reader) : read_text(&reader);
    if (status == MODAL_ERROR_MEMORY) modal_error_context(err, "%s", name);
    modal_mesh_builder_free(&reader.builder);
    if (status != MODAL_OK) modal_volume_mesh_free(mesh);
    return status;
}
