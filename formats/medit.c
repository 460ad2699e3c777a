/* SPDX-License-Identifier: Apache-2.0 */
/* Medit's .mesh files in text (Frey, "MEDIT: an interactive mesh visualization software", INRIA RT-253,
 * 2001). A record has a line. */
#include <string.h>

#include "formats/mesh_builder.h"
#include "formats/mesh_parse.h"

/* What a section's records are: so many numbers of nodes and a reference, an element or not. */
typedef struct medit_section {
    const char *name;
    int n_numbers, dimension, type; /* dimension -1: ignored */
} medit_section;

static const medit_section sections[] = {
    {"Tetrahedra", 4, 3, MODAL_ELEMENT_TET4},
    {"TetrahedraP2", 10, 3, MODAL_ELEMENT_TET10},
    {"Hexahedra", 8, 3, MODAL_ELEMENT_HEX8},
    {"Prisms", 6, 3, MODAL_ELEMENT_WEDGE6},
    {"Pentahedra", 6, 3, MODAL_ELEMENT_WEDGE6},
    {"Pyramids", 5, 3, MODAL_ELEMENT_PYRAMID5},
    {"Triangles", 3, 2, -1},
    {"TrianglesP2", 6, 2, -1},
    {"Quadrilaterals", 4, 2, -1},
    {"Edges", 2, 1, -1},
    {"EdgesP2", 3, 1, -1},
    {"Corners", 1, -1, -1},
    {"Ridges", 1, -1, -1},
    {"RequiredVertices", 1, -1, -1},
    {"RequiredEdges", 1, -1, -1},
    {"RequiredTriangles", 1, -1, -1},
    {"RequiredQuadrilaterals", 1, -1, -1},
    {"Normals", 3, -1, -1},
    {"Tangents", 3, -1, -1},
    {"NormalAtVertices", 2, -1, -1},
    {"TangentAtVertices", 2, -1, -1},
};

typedef struct medit_reader {
    modal_text text;
    modal_mesh_builder builder;
    int seen_dimension;
    int64_t next_element;
} medit_reader;

/* The number of records, on the keyword's line or the next. */
static modal_status read_count(modal_text *text, int64_t bytes, int64_t *count)
{
    modal_status status = MODAL_OK;
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
    MODAL_TRY(read_count(text, 8, &count));
    for (int64_t i = 1; i <= count; i++) {
        text->subject = NULL;
        modal_text_seek_token(text);
        text->subject = "vertex";
        text->number = i;
        for (int k = 0; k < 3; k++) MODAL_TRY(modal_text_real(text, names[k], &position[k]));
        MODAL_TRY(modal_text_integer(text, "reference", INT32_MIN, INT32_MAX, &reference));
        MODAL_TRY(modal_mesh_builder_node(&reader->builder, i, position));
        MODAL_TRY(modal_text_end_line(text));
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
        MODAL_TRY(modal_text_integer(text, "number of a vertex", 1, builder->mesh->n_nodes, &number));
        nodes[k] = (int32_t)(number - 1);
    }
    if (section->dimension >= 0) {
        MODAL_TRY(modal_text_integer(text, "reference", 0, INT32_MAX, &reference));
        if (section->dimension == 3)
            MODAL_TRY(modal_mesh_builder_element(builder, (modal_element_type)section->type,
                                                 ++reader->next_element, nodes));
        if (reference > 0)
            MODAL_TRY(modal_mesh_builder_join(builder, section->dimension, (int32_t)reference, nodes,
                                              section->n_numbers));
    }
    MODAL_TRY(modal_text_end_line(text));
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
    MODAL_TRY(read_count(text, 2 * section->n_numbers, &count));
    for (int64_t i = 1; i <= count; i++) {
        text->subject = NULL;
        modal_text_seek_token(text);
        text->subject = section->name;
        text->number = i;
        MODAL_TRY(read_record(reader, section));
    }
    text->subject = NULL;
done:
    return status;
}

static modal_status read_file(medit_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    const char *token;
    int64_t length, value;
    char quoted[MODAL_QUOTE];
    for (int first = 1;; first = 0) {
        if (!modal_text_seek_token(text)) return modal_text_fail(text, "the file ends, End expected");
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
    modal_status status = read_file(&reader);
    if (status == MODAL_ERROR_MEMORY) modal_error_context(err, "%s", name);
    modal_mesh_builder_free(&reader.builder);
    if (status != MODAL_OK) modal_volume_mesh_free(mesh);
    return status;
}
