/* SPDX-License-Identifier: Apache-2.0 */
/* The mesh of an Abaqus or CalculiX input file, .inp (Dhondt, "CalculiX CrunchiX User's Manual"):
 * nodes, elements. Its lines are in inp_lines.c, sets and materials in inp_sets.c. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "formats/meshes/inp_reader.h"
#include "formats/meshes/mesh_parse.h"
#include "lib/base/memory.h"

/* ---- nodes and elements ---- */

static modal_status read_nodes(inp_reader *reader, inp_keyword *keyword)
{
    static const char *const names[3] = {"x coordinate", "y coordinate", "z coordinate"};
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    const inp_word *name = inp_parameter(keyword, "NSET"), *system = inp_parameter(keyword, "SYSTEM");
    int64_t set = -1, number;
    double position[3];
    if (system && !inp_is(*system, "R"))
        return inp_keyword_fail(reader, keyword, "only rectangular coordinates are supported");
    MODAL_TRY(inp_check_parameters(reader, keyword));
    if (name) MODAL_TRY(inp_find_set(reader, INP_NODES, *name, &set));
    while (inp_data_line(text)) {
        MODAL_TRY(inp_integer(text, "node number", &number));
        text->subject = "node";
        text->number = number;
        for (int k = 0; k < 3; k++) MODAL_TRY(inp_real(text, names[k], &position[k]));
        MODAL_TRY(modal_mesh_builder_node(&reader->builder, number, position));
        if (set >= 0) MODAL_TRY(inp_set_add(reader, set, number));
        MODAL_TRY(inp_end_line(text));
        text->subject = NULL;
    }
done:
    return status;
}

/* Dimension and number of nodes of a type of elements; `type` where it is a volume. */
static modal_status find_type(const inp_reader *reader, const inp_keyword *keyword, inp_word name,
                              int *dimension, int *n_nodes, modal_element_type *type)
{
    static const struct {
        const char *family;
        int dimension;
    } families[] = {{"SFM3D", 2}, {"STRI", 2}, {"C3D", 3}, {"M3D", 2}, {"R3D", 2}, {"CPS", 2},
                    {"CPE", 2},   {"CAX", 2},  {"T3D", 1}, {"B", 1},   {"S", 2}};
    static const struct {
        int n_nodes;
        modal_element_type type;
    } volumes[] = {{4, MODAL_ELEMENT_TET4},   {5, MODAL_ELEMENT_PYRAMID5}, {6, MODAL_ELEMENT_WEDGE6},
                   {8, MODAL_ELEMENT_HEX8}, {10, MODAL_ELEMENT_TET10},   {20, MODAL_ELEMENT_HEX20}};
    char quoted[MODAL_QUOTE], what[128], upper[16] = "";
    *dimension = 0;
    for (int i = 0; i < name.length && i < 15; i++)
        upper[i] = (char)toupper((unsigned char)name.text[i]);
    for (size_t i = 0; i < sizeof families / sizeof *families && name.length < 15; i++) {
        size_t length = strlen(families[i].family);
        const char *digit = upper + length;
        if (strncmp(upper, families[i].family, length) != 0 || !isdigit((unsigned char)*digit)) continue;
        for (*n_nodes = 0; isdigit((unsigned char)*digit) && *n_nodes < 1000; digit++)
            *n_nodes = 10 * *n_nodes + (*digit - '0');
        if (strcmp(families[i].family, "B") == 0) *n_nodes = *n_nodes % 10 + 1; /* B31 is linear */
        if (*n_nodes == 65) *n_nodes = 6;                                      /* STRI65 */
        if (strspn(digit, "RIHMST") != strlen(digit)) break;
        if (families[i].dimension < 3 && *n_nodes >= 2 && *n_nodes <= 9) {
            *dimension = families[i].dimension;
            return MODAL_OK;
        }
        for (size_t k = 0; k < 6 && families[i].dimension == 3; k++)
            if (volumes[k].n_nodes == *n_nodes) {
                *type = volumes[k].type;
                *dimension = 3;
                return MODAL_OK;
            }
        break;
    }
    snprintf(what, sizeof what, "type %s is not supported",
             modal_quote(quoted, name.text, name.length));
    return inp_keyword_fail(reader, keyword, what);
}

static modal_status add_low_element(inp_reader *reader, int dimension, int64_t tag,
                                    const int32_t *nodes, int n_nodes)
{
    modal_status status = MODAL_OK;
    modal_error *err = reader->text.err;
    int64_t n = reader->n_low;
    int32_t earlier;
    if (n == INT32_MAX) return modal_text_fail(&reader->text, "more than %d elements", INT32_MAX);
    MODAL_TRY(modal_mesh_builder_check_repeats(&reader->builder, nodes, n_nodes));
    MODAL_TRY(modal_grow(&reader->low_tags, &reader->low_tag_capacity, n + 1,
                         sizeof *reader->low_tags, "elements", err));
    MODAL_TRY(modal_grow(&reader->low_offsets, &reader->low_offset_capacity, n + 2,
                         sizeof *reader->low_offsets, "elements", err));
    MODAL_TRY(modal_grow(&reader->low_dimensions, &reader->low_dimension_capacity, n + 1, 1,
                         "elements", err));
    if (n == 0) reader->low_offsets[0] = 0;
    int64_t offset = reader->low_offsets[n];
    MODAL_TRY(modal_grow(&reader->low_nodes, &reader->low_node_capacity, offset + n_nodes,
                         sizeof *reader->low_nodes, "elements", err));
    reader->low_tags[n] = tag;
    MODAL_TRY(modal_tag_table_add(&reader->low_table, reader->low_tags, (int32_t)n, &earlier, err));
    if (earlier >= 0)
        return modal_text_fail(&reader->text, "this number appears twice, %lld", (long long)tag);
    reader->low_dimensions[n] = (uint8_t)dimension;
    memcpy(reader->low_nodes + offset, nodes, (size_t)n_nodes * sizeof *nodes);
    reader->low_offsets[n + 1] = offset + n_nodes;
    reader->n_low++;
done:
    return status;
}

/* Its nodes may go on in further lines. */
static modal_status read_element_nodes(inp_reader *reader, int n_nodes, int32_t *nodes)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    for (int k = 0; k < n_nodes; k++) {
        int64_t number;
        modal_text ahead = *text;
        inp_word field;
        if (!inp_field(&ahead, &field)) {
            modal_text_skip_line(text);
            if (!inp_data_line(text)) return modal_text_fail(text, "node number missing");
        }
        MODAL_TRY(inp_integer(text, "node number", &number));
        MODAL_TRY(modal_mesh_builder_find_node(&reader->builder, number, &nodes[k]));
    }
done:
    return status;
}

static modal_status read_elements(inp_reader *reader, inp_keyword *keyword)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    const inp_word *name = inp_parameter(keyword, "ELSET"), *type_name = inp_parameter(keyword, "TYPE");
    int64_t set = -1, number;
    int dimension, n_nodes = 0;
    modal_element_type type = MODAL_ELEMENT_TET4;
    if (!type_name) return inp_keyword_fail(reader, keyword, "parameter TYPE missing");
    MODAL_TRY(inp_check_parameters(reader, keyword));
    MODAL_TRY(find_type(reader, keyword, *type_name, &dimension, &n_nodes, &type));
    if (name) MODAL_TRY(inp_find_set(reader, INP_ELEMENTS, *name, &set));
    while (inp_data_line(text)) {
        int32_t nodes[MODAL_ELEMENT_MOST_NODES];
        MODAL_TRY(inp_integer(text, "element number", &number));
        text->subject = "element";
        text->number = number;
        MODAL_TRY(read_element_nodes(reader, n_nodes, nodes));
        if (modal_tag_table_find(dimension == 3 ? &reader->low_table : &reader->builder.element_table,
                                 dimension == 3 ? reader->low_tags : reader->builder.mesh->element_tags,
                                 number) >= 0)
            return modal_text_fail(text, "this number appears twice, %lld", (long long)number);
        MODAL_TRY(dimension == 3
                      ? modal_mesh_builder_element(&reader->builder, type, number, nodes)
                      : add_low_element(reader, dimension, number, nodes, n_nodes));
        if (set >= 0) MODAL_TRY(inp_set_add(reader, set, number));
        MODAL_TRY(inp_end_line(text));
        text->subject = NULL;
    }
done:
    return status;
}

/* ---- the file ---- */

/* One part, placed once and where it is: what such a file says is still one mesh. */
static modal_status read_part(inp_reader *reader, const inp_keyword *keyword, int *seen)
{
    if ((*seen)++) return inp_keyword_fail(reader, keyword, "only one is supported");
    if (seen == &reader->seen_instance && inp_data_line(&reader->text))
        return inp_keyword_fail(reader, keyword, "only one that is not moved is supported");
    return MODAL_OK;
}

static modal_status read_block(inp_reader *reader, inp_keyword *keyword)
{
    static const char *const refused[] = {"INCLUDE", "PARAMETER", "NGEN",   "NFILL", "NCOPY", "NMAP",
                                          "ELGEN",   "ELCOPY",    "SYSTEM", "MANIFEST"};
    inp_word name = keyword->name;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (inp_is(name, refused[i])) return inp_keyword_fail(reader, keyword, "not supported");
    if (inp_is(name, "NODE")) return read_nodes(reader, keyword);
    if (inp_is(name, "ELEMENT")) return read_elements(reader, keyword);
    if (inp_is(name, "NSET")) return inp_read_set(reader, keyword, INP_NODES);
    if (inp_is(name, "ELSET")) return inp_read_set(reader, keyword, INP_ELEMENTS);
    if (inp_is(name, "MATERIAL")) return inp_read_material(reader, keyword);
    if (inp_is(name, "ELASTIC")) return inp_read_elastic(reader, keyword);
    if (inp_is(name, "DENSITY")) return inp_read_density(reader, keyword);
    if (inp_is(name, "SOLIDSECTION")) return inp_read_section(reader, keyword);
    if (inp_is(name, "PART")) return read_part(reader, keyword, &reader->seen_part);
    if (inp_is(name, "INSTANCE")) return read_part(reader, keyword, &reader->seen_instance);
    if (inp_is(name, "BOUNDARY")) return inp_read_boundary(reader, keyword);
    if (inp_is(name, "TRANSFORM")) return inp_read_transform(reader, keyword);
    if (inp_is(name, "STEP")) reader->n_steps++;
    /* What is left (steps, loads, output) is no mesh. */
    return inp_skip(reader, keyword);
}

static modal_status read_file(inp_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    inp_keyword keyword;
    while (inp_seek_line(text)) {
        MODAL_TRY(inp_read_keyword(text, &keyword));
        MODAL_TRY(read_block(reader, &keyword));
    }
    text->subject = NULL;
    if (reader->builder.mesh->n_nodes == 0) return modal_text_fail(text, "no *NODE");
    if (reader->builder.mesh->n_elements == 0) return modal_text_fail(text, "no volume elements");
    MODAL_TRY(inp_finish_sets(reader));
    MODAL_TRY(inp_finish_materials(reader));
    MODAL_TRY(inp_finish_conditions(reader));
    MODAL_TRY(modal_mesh_builder_finish(&reader->builder));
done:
    return status;
}

modal_status modal_inp_parse(const char *data, int64_t length, const char *name,
                             modal_volume_mesh *mesh, modal_error *err)
{
    memset(mesh, 0, sizeof *mesh);
    inp_reader reader = {.builder = {.mesh = mesh, .text = &reader.text}};
    modal_text_init(&reader.text, name, data, length, err);
    modal_status status = read_file(&reader);
    if (status == MODAL_ERROR_MEMORY) modal_error_context(err, "%s", name);
    modal_free(&reader.low_tags);
    modal_free(&reader.low_offsets);
    modal_free(&reader.low_dimensions);
    modal_free(&reader.low_nodes);
    modal_tag_table_free(&reader.low_table);
    inp_free_sets(&reader);
    inp_free_conditions(&reader);
    modal_mesh_builder_free(&reader.builder);
    if (status != MODAL_OK) modal_volume_mesh_free(mesh);
    return status;
}
