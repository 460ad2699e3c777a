/* SPDX-License-Identifier: Apache-2.0 */
/* TetGen's files, .node, .ele and, where it is there, .face (Si, "TetGen, a Delaunay-Based Quality Tetrahedral Mesh
 * Generator", 2015, and its manual). A record has a line. */
#include <math.h>
#include <string.h>

#include "formats/meshes/mesh_builder.h"
#include "formats/meshes/mesh_parse.h"

typedef struct tetgen_reader {
    modal_text nodes, elements, faces;
    modal_mesh_builder builder;
    int64_t first; /* number of the first node, 0 or 1 */
} tetgen_reader;

/* The number in front of a record, which goes up by one. */
static modal_status read_number(modal_text *text, const char *subject, int64_t index, int64_t first,
                                int64_t *number)
{
    modal_status status = MODAL_OK;
    text->subject = NULL;
    modal_text_seek_token(text);
    MODAL_TRY(modal_text_integer(text, subject, INT64_MIN, INT64_MAX, number));
    text->subject = subject;
    text->number = *number;
    if (index == 0 && *number != 0 && *number != 1)
        return modal_text_fail(text, "the first number is neither 0 nor 1");
    if (index > 0 && *number != first + index)
        return modal_text_fail(text, "%s %lld expected", subject, (long long)(first + index));
done:
    return status;
}

static modal_status end_file(modal_text *text)
{
    text->subject = NULL;
    return modal_text_seek_token(text) ? modal_text_end_line(text) : MODAL_OK;
}

static modal_status read_nodes(tetgen_reader *reader)
{
    static const char *const names[3] = {"x coordinate", "y coordinate", "z coordinate"};
    modal_status status = MODAL_OK;
    modal_text *text = &reader->nodes;
    int64_t count, n_attributes, n_markers, number, value;
    double position[3], attribute;
    modal_text_seek_token(text);
    MODAL_TRY(modal_text_integer(text, "number of nodes", 1, INT32_MAX, &count));
    MODAL_TRY(modal_text_integer(text, "dimension", 3, 3, &value));
    MODAL_TRY(modal_text_integer(text, "number of attributes", 0, 1000, &n_attributes));
    MODAL_TRY(modal_text_integer(text, "number of boundary markers", 0, 1, &n_markers));
    MODAL_TRY(modal_text_end_line(text));
    MODAL_TRY(modal_text_check_count(text, "nodes", count, 8));
    for (int64_t i = 0; i < count; i++) {
        MODAL_TRY(read_number(text, "node", i, reader->first, &number));
        if (i == 0) reader->first = number;
        for (int k = 0; k < 3; k++) MODAL_TRY(modal_text_real(text, names[k], &position[k]));
        for (int64_t k = 0; k < n_attributes; k++)
            MODAL_TRY(modal_text_real(text, "attribute", &attribute));
        MODAL_TRY(modal_mesh_builder_node(&reader->builder, number, position));
        if (n_markers) {
            const int32_t node = (int32_t)i;
            MODAL_TRY(modal_text_integer(text, "boundary marker", INT32_MIN, INT32_MAX, &value));
            if (value > 0)
                MODAL_TRY(modal_mesh_builder_join(&reader->builder, 0, (int32_t)value, &node, 1));
        }
        MODAL_TRY(modal_text_end_line(text));
    }
    MODAL_TRY(end_file(text));
done:
    return status;
}

static modal_status read_elements(tetgen_reader *reader)
{
    /* The mid-side nodes stand on the edges 23 03 01 12 13 02. */
    static const int order[10] = {0, 1, 2, 3, 6, 7, 9, 5, 8, 4};
    modal_status status = MODAL_OK;
    modal_text *text = &reader->elements;
    int64_t count, n_nodes, has_region, number, first = 0, value;
    double region;
    modal_text_seek_token(text);
    MODAL_TRY(modal_text_integer(text, "number of tetrahedra", 1, INT32_MAX, &count));
    MODAL_TRY(modal_text_integer(text, "nodes of a tetrahedron", 4, 10, &n_nodes));
    if (n_nodes != 4 && n_nodes != 10)
        return modal_text_fail(text, "nodes of a tetrahedron are neither 4 nor 10, %lld",
                               (long long)n_nodes);
    MODAL_TRY(modal_text_integer(text, "number of region attributes", 0, 1, &has_region));
    MODAL_TRY(modal_text_end_line(text));
    MODAL_TRY(modal_text_check_count(text, "tetrahedra", count, 2 * n_nodes + 2));
    for (int64_t i = 0; i < count; i++) {
        int32_t given[10], nodes[10];
        MODAL_TRY(read_number(text, "tetrahedron", i, first, &number));
        if (i == 0) first = number;
        for (int k = 0; k < n_nodes; k++) {
            MODAL_TRY(modal_text_integer(text, "node number", INT64_MIN, INT64_MAX, &value));
            MODAL_TRY(modal_mesh_builder_find_node(&reader->builder, value, &given[k]));
        }
        for (int k = 0; k < n_nodes; k++) nodes[k] = given[n_nodes == 10 ? order[k] : k];
        MODAL_TRY(modal_mesh_builder_element(
            &reader->builder, n_nodes == 10 ? MODAL_ELEMENT_TET10 : MODAL_ELEMENT_TET4, number, nodes));
        if (has_region) {
            MODAL_TRY(modal_text_real(text, "region attribute", &region));
            if (region >= 1 && region <= INT32_MAX && region == floor(region))
                MODAL_TRY(modal_mesh_builder_join(&reader->builder, 3, (int32_t)region, NULL, 0));
        }
        MODAL_TRY(modal_text_end_line(text));
    }
    MODAL_TRY(end_file(text));
done:
    return status;
}

/* A marker from 1 on is a group of the surface. With option -nn two numbers of tetrahedra end a record. */
static modal_status read_faces(tetgen_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->faces;
    const int n_nodes = modal_volume_mesh_is_all(reader->builder.mesh, MODAL_ELEMENT_TET10) ? 6 : 3;
    int64_t count, has_marker, number, first = 0, value, length;
    const char *token;
    modal_text_seek_token(text);
    MODAL_TRY(modal_text_integer(text, "number of faces", 0, INT32_MAX, &count));
    MODAL_TRY(modal_text_integer(text, "number of boundary markers", 0, 1, &has_marker));
    MODAL_TRY(modal_text_end_line(text));
    MODAL_TRY(modal_text_check_count(text, "faces", count, 2 * n_nodes + 2));
    for (int64_t i = 0; i < count; i++) {
        int32_t nodes[6];
        MODAL_TRY(read_number(text, "face", i, first, &number));
        if (i == 0) first = number;
        for (int k = 0; k < n_nodes; k++) {
            MODAL_TRY(modal_text_integer(text, "node number", INT64_MIN, INT64_MAX, &value));
            MODAL_TRY(modal_mesh_builder_find_node(&reader->builder, value, &nodes[k]));
        }
        MODAL_TRY(modal_mesh_builder_check_repeats(&reader->builder, nodes, n_nodes));
        if (has_marker) MODAL_TRY(modal_text_integer(text, "boundary marker", INT32_MIN, INT32_MAX, &value));
        if (has_marker && value > 0)
            MODAL_TRY(modal_mesh_builder_join(&reader->builder, 2, (int32_t)value, nodes, n_nodes));
        const int64_t here = text->position;
        if (modal_text_token(text, &token, &length)) {
            text->position = here;
            for (int k = 0; k < 2; k++)
                MODAL_TRY(modal_text_integer(text, "number of a tetrahedron", -1, INT32_MAX, &value));
        }
        MODAL_TRY(modal_text_end_line(text));
    }
    MODAL_TRY(end_file(text));
done:
    return status;
}

modal_status modal_tetgen_parse(const modal_tetgen_files *files, modal_volume_mesh *mesh, modal_error *err)
{
    modal_status status = MODAL_OK;
    memset(mesh, 0, sizeof *mesh);
    tetgen_reader reader = {.builder = {.mesh = mesh, .text = &reader.nodes}};
    modal_text_init(&reader.nodes, files->node.name, files->node.data, files->node.length, err);
    modal_text_init(&reader.elements, files->ele.name, files->ele.data, files->ele.length, err);
    reader.nodes.comments = reader.elements.comments = 1;
    MODAL_TRY(read_nodes(&reader));
    reader.builder.text = &reader.elements;
    MODAL_TRY(read_elements(&reader));
    if (files->face.data) {
        modal_text_init(&reader.faces, files->face.name, files->face.data, files->face.length, err);
        reader.faces.comments = 1;
        reader.builder.text = &reader.faces;
        MODAL_TRY(read_faces(&reader));
    }
    MODAL_TRY(modal_mesh_builder_finish(&reader.builder));
done:
    if (status == MODAL_ERROR_MEMORY) modal_error_context(err, "%s", reader.builder.text->name);
    modal_mesh_builder_free(&reader.builder);
    if (status != MODAL_OK) modal_volume_mesh_free(mesh);
    return status;
}
