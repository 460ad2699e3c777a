/* SPDX-License-Identifier: Apache-2.0 */
/* VegaFEM's text meshes (.veg): *VERTICES and *ELEMENTS, then materials, sets and regions
 * (J. Barbic, F. Sin, D. Schroeder, Vega FEM library, 2012). */
#include <string.h>

#include "formats/meshes/group_builder.h"
#include "formats/meshes/mesh_parse.h"
#include "formats/meshes/text_reader.h"
#include "lib/base/memory.h"

typedef struct veg_reader {
    modal_text text;
    modal_volume_mesh *mesh;
    /* The number of the first vertex and element: 1, or 0 in files that count from 0. */
    int64_t first_vertex, first_element;
    int seen_vertices, seen_elements;
    int64_t material_capacity;
    int has_others; /* materials of other types */
    int depth;      /* of *INCLUDE */
    modal_group_builder sets;
} veg_reader;

/* `count second third ...`, the line under *VERTICES and under the element type: TetGen's head. */
static modal_status read_head(modal_text *text, const char *what, const char *width_name,
                              int64_t width, int n_zeros, int64_t *count)
{
    modal_status status = MODAL_OK;
    int64_t value;
    char name[64] = "number of ";
    strncat(name, what, sizeof name - strlen(name) - 1);
    modal_text_seek_token(text);
    MODAL_TRY(modal_text_integer(text, name, 1, INT64_MAX, count));
    /* At the least `1 0 0 0 0` or `1 0 0 0`, and a newline. */
    int64_t left = text->length - text->position;
    if (*count > (left + 1) / (2 * width + 2) || *count > INT32_MAX) {
        status = modal_text_fail(text, "%lld %s cannot be in the %lld bytes left of the file",
                                 (long long)*count, what, (long long)left);
        goto done;
    }
    MODAL_TRY(modal_text_integer(text, width_name, width, width, &value));
    for (int i = 0; i < n_zeros; i++)
        MODAL_TRY(modal_text_integer(text, "number of attributes", 0, 0, &value));
    MODAL_TRY(modal_text_end_line(text));
done:
    return status;
}

/* The number in front of a vertex or an element; the first decides between counting from 0 and
 * from 1. The others must follow it: a reader that goes by position and one that goes by number
 * would read different meshes otherwise. */
static modal_status read_number(veg_reader *reader, const char *subject, int64_t index,
                                int64_t *first)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    int64_t number;
    text->subject = NULL;
    modal_text_seek_token(text);
    MODAL_TRY(modal_text_integer(text, subject, 0, INT64_MAX, &number));
    if (index == 0 && number > 1) {
        status = modal_text_fail(text, "first %s is not 0 or 1, %lld", subject, (long long)number);
        goto done;
    }
    if (index == 0) *first = number;
    if (number != *first + index) {
        status = modal_text_fail(text, "%s %lld expected, %lld", subject, (long long)*first + index,
                                 (long long)number);
        goto done;
    }
done:
    return status;
}

/* Ends a line whose last number would be cut unnoticed if the file were. */
static modal_status end_whole_line(modal_text *text)
{
    if (!modal_text_line_is_ended(text)) {
        text->at = text->position;
        return modal_text_fail(text, "the file ends within a line");
    }
    return modal_text_end_line(text);
}

static modal_status read_vertices(veg_reader *reader)
{
    static const char *const names[3] = {"x coordinate", "y coordinate", "z coordinate"};
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    modal_volume_mesh *mesh = reader->mesh;
    int64_t count;
    MODAL_TRY(read_head(text, "vertices", "number of coordinates", 3, 2, &count));
    MODAL_TRY(modal_alloc(&mesh->nodes, 3 * count, sizeof *mesh->nodes, "nodes", text->err));
    MODAL_TRY(
        modal_alloc(&mesh->node_tags, count, sizeof *mesh->node_tags, "node tags", text->err));
    for (int64_t i = 0; i < count; i++) {
        MODAL_TRY(read_number(reader, "vertex number", i, &reader->first_vertex));
        text->subject = "vertex";
        text->number = mesh->node_tags[i] = reader->first_vertex + i;
        for (int j = 0; j < 3; j++)
            MODAL_TRY(modal_text_real(text, names[j], &mesh->nodes[3 * i + j]));
        MODAL_TRY(modal_text_end_line(text));
    }
    text->subject = NULL;
    mesh->n_nodes = count;
    reader->seen_vertices = 1;
done:
    return status;
}

static modal_status read_nodes(veg_reader *reader, int n, int32_t *nodes)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    for (int i = 0; i < n; i++) {
        int64_t number;
        MODAL_TRY(modal_text_integer(text, "number of a vertex", INT64_MIN, INT64_MAX, &number));
        if (number < reader->first_vertex ||
            number - reader->first_vertex >= reader->mesh->n_nodes) {
            status = modal_text_fail(text, "unknown vertex, %lld", (long long)number);
            goto done;
        }
        nodes[i] = (int32_t)(number - reader->first_vertex);
        for (int j = 0; j < i; j++)
            if (nodes[j] == nodes[i]) {
                status = modal_text_fail(text, "repeated vertex, %lld", (long long)number);
                goto done;
            }
    }
done:
    return status;
}

static modal_status read_elements(veg_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    modal_volume_mesh *mesh = reader->mesh;
    const char *token;
    char quoted[MODAL_QUOTE];
    int64_t count, length;
    modal_text_seek_token(text);
    if (!modal_text_token(text, &token, &length)) {
        status = modal_text_fail(text, "the file ends, type of the elements expected");
        goto done;
    }
    const int cubic = modal_token_is_like(token, length, "CUBIC");
    const int width = cubic ? 8 : 4;
    if (!cubic && !modal_token_is_like(token, length, "TET") &&
        !modal_token_is_like(token, length, "TETS")) {
        status = modal_text_fail(text, "elements of type %s are not supported, only TET and CUBIC",
                                 modal_quote(quoted, token, length));
        goto done;
    }
    MODAL_TRY(modal_text_end_line(text));
    MODAL_TRY(read_head(text, "elements", "number of vertices of an element", width, 1, &count));
    MODAL_TRY(modal_volume_mesh_new_elements(mesh, count,
                                             cubic ? MODAL_ELEMENT_HEX8 : MODAL_ELEMENT_TET4,
                                             text->err));
    MODAL_TRY(modal_alloc(&mesh->element_tags, count, sizeof *mesh->element_tags, "element tags",
                          text->err));
    MODAL_TRY(modal_alloc(&mesh->element_material, count, sizeof *mesh->element_material,
                          "materials of elements", text->err));
    for (int64_t i = 0; i < count; i++) {
        MODAL_TRY(read_number(reader, "element number", i, &reader->first_element));
        text->subject = "element";
        text->number = mesh->element_tags[i] = reader->first_element + i;
        MODAL_TRY(read_nodes(reader, width, modal_mesh_nodes(mesh, i)));
        MODAL_TRY(end_whole_line(text));
        mesh->element_material[i] = -1;
    }
    text->subject = NULL;
    reader->seen_elements = 1;
done:
    return status;
}

/* The next token of the line as a name; it stays in the text. */
static modal_status read_name(modal_text *text, const char *what, const char **name,
                              int64_t *length)
{
    if (!modal_text_token(text, name, length)) return modal_text_fail(text, "%s missing", what);
    if (*length == 0) return modal_text_fail(text, "%s is empty", what);
    char quoted[MODAL_QUOTE];
    for (int64_t i = 0; i < *length; i++)
        if ((unsigned char)(*name)[i] < ' ')
            return modal_text_fail(text, "control character in the %s, '%s'", what,
                                   modal_quote(quoted, *name, *length));
    return MODAL_OK;
}

static int32_t find_material(const modal_volume_mesh *mesh, const char *name, int64_t length)
{
    for (int32_t i = 0; i < mesh->n_materials; i++)
        if (modal_token_is(name, length, mesh->materials[i].name)) return i;
    return -1;
}

static int32_t find_set(const veg_reader *reader, const char *name, int64_t length)
{
    for (int32_t i = 0; i < reader->sets.n; i++)
        if (modal_token_is(name, length, reader->sets.drafts[i].group.name)) return i;
    return -1;
}

/* ENU, density, E, nu: the density comes first. */
static modal_status read_material(veg_reader *reader, const char *name, int64_t name_length)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    modal_volume_mesh *mesh = reader->mesh;
    modal_material material = {0};
    const char *token;
    int64_t length;
    char quoted[MODAL_QUOTE], type[MODAL_QUOTE];
    if (find_material(mesh, name, name_length) >= 0) {
        status =
            modal_text_fail(text, "second material %s", modal_quote(quoted, name, name_length));
        goto done;
    }
    MODAL_TRY(modal_text_end_line(text));
    modal_text_seek_token(text);
    MODAL_TRY(read_name(text, "type of the material", &token, &length));
    if (!modal_token_is_like(token, length, "ENU")) {
        MODAL_TRY(modal_notes_add(&mesh->not_taken[MODAL_UNSUPPORTED_MATERIAL], text->err, "material \"%s\" is of type %s, not ENU (line %lld)",
                                  modal_quote(quoted, name, name_length), modal_quote(type, token, length), (long long)text->line));
        reader->has_others = 1;
        while (modal_text_token(text, &token, &length)) continue; /* its constants */
        material.density = material.young = 1; /* of no use: none is kept */
        goto keep;
    }
    MODAL_TRY(modal_text_real(text, "density", &material.density));
    MODAL_TRY(modal_text_real(text, "Young's modulus", &material.young));
    MODAL_TRY(modal_text_real(text, "Poisson's ratio", &material.poisson));
    if (!(material.density > 0)) {
        status = modal_text_fail(text, "density is not positive, %g", material.density);
        goto done;
    }
    if (!(material.young > 0)) {
        status = modal_text_fail(text, "Young's modulus is not positive, %g", material.young);
        goto done;
    }
    if (!(material.poisson > -1 && material.poisson < 0.5)) {
        status = modal_text_fail(text, "Poisson's ratio is not between -1 and 0.5, %g",
                                 material.poisson);
        goto done;
    }
keep:
    MODAL_TRY(modal_text_end_line(text));
    MODAL_TRY(modal_grow(&mesh->materials, &reader->material_capacity, mesh->n_materials + 1,
                         sizeof *mesh->materials, "materials", text->err));
    MODAL_TRY(modal_copy_text(&material.name, name, (size_t)name_length, text->err));
    mesh->materials[mesh->n_materials++] = material;
done:
    return status;
}

/* Lines of element numbers up to the next section; each may end in a comma. */
static modal_status read_set(veg_reader *reader, const char *name, int64_t name_length)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    char quoted[MODAL_QUOTE];
    int32_t set;
    int64_t number, last_line = 0;
    if (modal_token_is(name, name_length, "allElements") ||
        find_set(reader, name, name_length) >= 0) {
        status = modal_text_fail(text, "second set %s", modal_quote(quoted, name, name_length));
        goto done;
    }
    MODAL_TRY(modal_group_builder_name(&reader->sets, name, name_length, &set, text->err));
    MODAL_TRY(modal_text_end_line(text));
    while (modal_text_seek_token(text) && text->data[text->position] != '*') {
        last_line = text->line;
        MODAL_TRY(modal_text_integer(text, "element number", INT64_MIN, INT64_MAX, &number));
        if (number < reader->first_element ||
            number - reader->first_element >= reader->mesh->n_elements) {
            status = modal_text_fail(text, "unknown element, %lld", (long long)number);
            goto done;
        }
        MODAL_TRY(modal_group_builder_add_element(
            &reader->sets, set, (int32_t)(number - reader->first_element), text->err));
    }
    if (text->line == last_line) status = modal_text_fail(text, "the file ends within a line");
done:
    return status;
}

/* Lines `set, material`. A later region overrides an earlier one. */
static modal_status read_regions(veg_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    modal_volume_mesh *mesh = reader->mesh;
    const char *name;
    int64_t length;
    char quoted[MODAL_QUOTE];
    while (modal_text_seek_token(text) && text->data[text->position] != '*') {
        MODAL_TRY(read_name(text, "set of the region", &name, &length));
        int all = modal_token_is(name, length, "allElements");
        int32_t set = find_set(reader, name, length);
        if (!all && set < 0) {
            status = modal_text_fail(text, "unknown set %s", modal_quote(quoted, name, length));
            goto done;
        }
        MODAL_TRY(read_name(text, "material of the region", &name, &length));
        int32_t material = find_material(mesh, name, length);
        if (material < 0) {
            status =
                modal_text_fail(text, "unknown material %s", modal_quote(quoted, name, length));
            goto done;
        }
        MODAL_TRY(modal_text_end_line(text));
        const modal_group *group = all ? NULL : &reader->sets.drafts[set].group;
        int64_t n = all ? mesh->n_elements : group->n_elements;
        for (int64_t i = 0; i < n; i++)
            mesh->element_material[all ? i : group->elements[i]] = material;
    }
done:
    return status;
}

static modal_status include(veg_reader *reader);

static modal_status read_section(veg_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    const char *token, *name;
    int64_t length, name_length;
    char quoted[MODAL_QUOTE];
    modal_text_token(text, &token, &length);
    modal_quote(quoted, token, length);
    int vertices = modal_token_is_like(token, length, "*VERTICES");
    int elements = modal_token_is_like(token, length, "*ELEMENTS");
    int material = modal_token_is_like(token, length, "*MATERIAL");
    int set = modal_token_is_like(token, length, "*SET");
    int region = modal_token_is_like(token, length, "*REGION");
    if (modal_token_is_like(token, length, "*INCLUDE")) return include(reader);
    if (!vertices && !elements && !material && !set && !region) {
        status = modal_text_fail(
            text, *token == '*' ? "unknown section, '%s'" : "name of a section expected, '%s'",
            quoted);
        goto done;
    }
    if ((vertices && reader->seen_vertices) || (elements && reader->seen_elements)) {
        status = modal_text_fail(text, "second section %s", quoted);
        goto done;
    }
    if ((elements && !reader->seen_vertices) || ((set || region) && !reader->seen_elements)) {
        status = modal_text_fail(text, "section %s in the wrong place", quoted);
        goto done;
    }
    if (material || set) {
        MODAL_TRY(read_name(text, material ? "name of the material" : "name of the set", &name,
                            &name_length));
        MODAL_TRY(material ? read_material(reader, name, name_length)
                           : read_set(reader, name, name_length));
        goto done;
    }
    MODAL_TRY(modal_text_end_line(text));
    MODAL_TRY(vertices   ? read_vertices(reader)
              : elements ? read_elements(reader)
                         : read_regions(reader));
done:
    return status;
}

/* The sections of another file, whose path is relative to this one. */
static modal_status include(veg_reader *reader)
{
    enum { MOST_DEEP = 8 };
    modal_status status = MODAL_OK;
    modal_text before = reader->text;
    char *path = NULL, *data = NULL;
    const char *name;
    int64_t length;
    MODAL_TRY(read_name(&before, "name of the file", &name, &length));
    MODAL_TRY(modal_text_end_line(&before));
    if (reader->depth == MOST_DEEP) return modal_text_fail(&reader->text, "more than %d files include one another", MOST_DEEP);
    MODAL_TRY(modal_text_beside(&reader->text, name, length, &path));
    status = modal_file_load(path, &data, &length, before.err);
    if (status != MODAL_OK) {
        modal_error_context(before.err, "%s:%lld: *INCLUDE", reader->text.name, (long long)reader->text.line);
        goto done;
    }
    reader->depth++;
    modal_text_init(&reader->text, path, data, length, before.err);
    reader->text.commas = reader->text.comments = 1;
    while (modal_text_seek_token(&reader->text)) MODAL_TRY(read_section(reader));
    reader->depth--;
    reader->text = before;
done:
    modal_free(&path);
    modal_free(&data);
    return status;
}

static modal_status read_file(veg_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    modal_volume_mesh *mesh = reader->mesh;
    while (modal_text_seek_token(text)) MODAL_TRY(read_section(reader));
    if (reader->has_others) { /* a solid of which a part has no material has none */
        for (int32_t i = 0; i < mesh->n_materials; i++) modal_free(&mesh->materials[i].name);
        mesh->n_materials = 0;
        for (int64_t i = 0; i < mesh->n_elements; i++) mesh->element_material[i] = -1;
    }
    if (!reader->seen_vertices || !reader->seen_elements) {
        status = modal_text_fail(text, "the file ends without *%s",
                                 reader->seen_vertices ? "ELEMENTS" : "VERTICES");
        goto done;
    }
    for (int64_t i = 0; i < mesh->n_elements && mesh->n_materials > 0; i++)
        if (mesh->element_material[i] < 0) {
            status = modal_text_fail(text, "element %lld: in no *REGION",
                                     (long long)mesh->element_tags[i]);
            goto done;
        }
    MODAL_TRY(modal_group_builder_finish(&reader->sets, text->name, mesh, text->err));
    if (!mesh->materials)
        MODAL_TRY(
            modal_alloc(&mesh->materials, 0, sizeof *mesh->materials, "materials", text->err));
done:
    return status;
}

modal_status modal_veg_parse(const char *data, int64_t length, const char *name,
                             modal_volume_mesh *mesh, modal_error *err)
{
    memset(mesh, 0, sizeof *mesh);
    veg_reader reader = {.mesh = mesh};
    modal_text_init(&reader.text, name, data, length, err);
    reader.text.commas = 1;
    reader.text.comments = 1;
    modal_status status = read_file(&reader);
    if (status == MODAL_ERROR_MEMORY) modal_error_context(err, "%s", name);
    modal_group_builder_free(&reader.sets);
    if (status != MODAL_OK) modal_volume_mesh_free(mesh);
    return status;
}
