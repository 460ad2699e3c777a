/* SPDX-License-Identifier: Apache-2.0 */
/* The mesh of an Abaqus or CalculiX input file, .inp (Dhondt, "CalculiX CrunchiX User's Manual"):
 * nodes, elements. Its lines are in inp_lines.c, sets in inp_sets.c, materials in
 * inp_materials.c. */
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
    const inp_word *name = inp_parameter(keyword, "NSET"), *system = inp_parameter(keyword, "SYSTEM"),
                   *input = inp_parameter(keyword, "INPUT");
    int64_t set = -1, number;
    double position[3], normal;
    if (system && !inp_is(*system, "R"))
        return inp_keyword_fail(reader, keyword, "only rectangular coordinates are supported");
    MODAL_TRY(inp_check_parameters(reader, keyword));
    if (name) MODAL_TRY(inp_find_set(reader, INP_NODES, *name, &set));
    if (input) MODAL_TRY(inp_include(reader, *input));
    while (inp_data_line(reader)) {
        MODAL_TRY(inp_integer(text, "node number", &number));
        text->subject = "node";
        text->number = number;
        for (int k = 0; k < 3; k++) MODAL_TRY(inp_real_or_zero(text, names[k], &position[k]));
        MODAL_TRY(modal_mesh_builder_node(&reader->builder, number, position));
        if (set >= 0) MODAL_TRY(inp_set_add(reader, set, number));
        /* Direction cosines of a normal, which shells and beams have. */
        for (int k = 0; k < 3; k++) MODAL_TRY(inp_real_or_zero(text, "normal", &normal));
        MODAL_TRY(inp_end_line(text));
        text->subject = NULL;
    }
done:
    return status;
}

/* What the variant of a solid's type says of how it is integrated: 0 nothing, MODAL_HEX8_SAID_..., or -1 what no element here does: at
 * fewer points (R), by a pressure of its own (H), from modified functions (M). */
static int rule_said(inp_word name, modal_element_type type)
{
    int at = 3, said = type == MODAL_ELEMENT_HEX8 ? MODAL_HEX8_SAID_PLAIN : 0;
    while (at < name.length && isdigit((unsigned char)name.text[at])) at++;
    for (; at < name.length; at++) {
        const int letter = toupper((unsigned char)name.text[at]);
        if (letter == 'R' || letter == 'H' || letter == 'M') return -1;
        if (letter == 'I' && type == MODAL_ELEMENT_HEX8) said = MODAL_HEX8_SAID_INCOMPATIBLE;
    }
    return said;
}

/* Dimension and number of nodes of a type of elements; `type` where it is a volume. What is no solid (springs, masses, gaps,
 * couplings, network and fluid elements, those of users) has the dimension INP_LEFT_OUT. */
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
    *dimension = INP_LEFT_OUT;
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
        const int is_known = strspn(digit, "RIHMST") == strlen(digit);
        if (families[i].dimension < 3) {
            if (is_known && *n_nodes >= 2 && *n_nodes <= 9) *dimension = families[i].dimension;
            return MODAL_OK;
        }
        for (size_t k = 0; k < 6 && is_known; k++)
            if (volumes[k].n_nodes == *n_nodes) {
                *type = volumes[k].type;
                *dimension = 3;
                return MODAL_OK;
            }
        snprintf(what, sizeof what, "type %s is not supported, only solids of 4, 5, 6, 8, 10 and 20 nodes",
                 modal_quote(quoted, name.text, name.length));
        return inp_keyword_fail(reader, keyword, what);
    }
    return MODAL_OK;
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
    if (n_nodes > 0) memcpy(reader->low_nodes + offset, nodes, (size_t)n_nodes * sizeof *nodes);
    reader->low_offsets[n + 1] = offset + n_nodes;
    reader->n_low++;
done:
    return status;
}

static void count_type(inp_count counts[INP_KINDS], int *n_counts, inp_word type)
{
    int i = 0;
    while (i < *n_counts && !inp_is(type, counts[i].name)) i++;
    if (i == INP_KINDS) i--; /* the last one is for all others */
    if (i == *n_counts) {
        char *name = counts[(*n_counts)++].name;
        for (int64_t k = 0, n = 0; k < type.length && n < (int64_t)sizeof counts->name - 1; k++)
            if (isgraph((unsigned char)type.text[k])) name[n++] = (char)toupper((unsigned char)type.text[k]);
        if (i == INP_KINDS - 1) strcpy(name, "others");
    }
    counts[i].n++;
}

/* Elements that are no solids: their numbers are known, since sets name them. */
static modal_status skip_elements(inp_reader *reader, inp_word type, int64_t set)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    int64_t number;
    int32_t none = 0;
    int goes_on = 0; /* a comma at the end of a line: its nodes go on in the next one */
    for (; inp_data_line(reader); modal_text_skip_line(text)) {
        const char *begin = text->data + text->position, *end = text->data + text->length;
        const char *last = memchr(begin, '\n', (size_t)(end - begin));
        if (!last) last = end;
        while (last > begin && strchr(" \t\r", last[-1])) last--;
        const int is_next = goes_on;
        goes_on = last > begin && last[-1] == ',';
        if (is_next) continue;
        MODAL_TRY(inp_integer(text, "element number", &number));
        if (modal_tag_table_find(&reader->low_table, reader->low_tags, number) < 0)
            MODAL_TRY(add_low_element(reader, INP_LEFT_OUT, number, &none, 0));
        if (set >= 0) MODAL_TRY(inp_set_add(reader, set, number));
        count_type(reader->left_out, &reader->n_left_out, type);
    }
done:
    return status;
}

/* "what, N: n TYPE, ...", where there are some. */
static modal_status tell_types(const inp_reader *reader, const char *what, const inp_count *counts, int n_counts)
{
    char text[MODAL_NOTE_BYTES] = "";
    int64_t n = 0;
    for (int i = 0; i < n_counts; i++) {
        const size_t end = strlen(text);
        snprintf(text + end, sizeof text - end, "%s%lld %s", end ? ", " : "", (long long)counts[i].n, counts[i].name);
        n += counts[i].n;
    }
    if (n == 0) return MODAL_OK;
    return modal_notes_add(&reader->builder.mesh->notes, reader->text.err, "%s, %lld: %s", what, (long long)n, text);
}

static modal_status tell_left_out(const inp_reader *reader)
{
    modal_notes *notes = &reader->builder.mesh->notes;
    modal_error *err = reader->text.err;
    modal_status status = MODAL_OK;
    MODAL_TRY(tell_types(reader, "elements that are no solids are left out", reader->left_out, reader->n_left_out));
    MODAL_TRY(tell_types(reader, "elements whose stiffness is made otherwise here, without their R, H or M", reader->other_rule,
                         reader->n_other_rule));
    if (reader->n_more_nodes > 0)
        MODAL_TRY(modal_notes_add(notes, err, "elements with more nodes than their type has, %lld: the first ones are taken",
                                  (long long)reader->n_more_nodes));
    if (reader->n_no_nodes > 0)
        MODAL_TRY(modal_notes_add(notes, err, "sets and conditions name nodes that are not there, %lld: left out, the first is %lld",
                                  (long long)reader->n_no_nodes, (long long)reader->no_node));
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
            if (!inp_data_line(reader)) return modal_text_fail(text, "node number missing");
        }
        MODAL_TRY(inp_integer(text, "node number", &number));
        MODAL_TRY(modal_mesh_builder_find_node(&reader->builder, number, &nodes[k]));
    }
done:
    return status;
}

/* CalculiX takes the first nodes of an element and passes over the rest of the line, also where that ends in a comma. */
static void skip_more_nodes(inp_reader *reader)
{
    inp_word field;
    int n = 0;
    while (inp_field(&reader->text, &field)) n++;
    reader->n_more_nodes += n > 0;
    modal_text_skip_line(&reader->text);
}

static modal_status read_elements(inp_reader *reader, inp_keyword *keyword)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    const inp_word *name = inp_parameter(keyword, "ELSET"), *type_name = inp_parameter(keyword, "TYPE");
    int64_t set = -1, number;
    int dimension, n_nodes = 0, said = 0;
    modal_element_type type = MODAL_ELEMENT_TET4;
    const inp_word *input = inp_parameter(keyword, "INPUT");
    if (!type_name) return inp_keyword_fail(reader, keyword, "parameter TYPE missing");
    inp_parameter(keyword, "DLOAD"); /* what CalculiX's mesher and refinement write */
    inp_parameter(keyword, "PARENT");
    MODAL_TRY(inp_check_parameters(reader, keyword));
    MODAL_TRY(find_type(reader, keyword, *type_name, &dimension, &n_nodes, &type));
    if (name) MODAL_TRY(inp_find_set(reader, INP_ELEMENTS, *name, &set));
    if (input) MODAL_TRY(inp_include(reader, *input));
    if (dimension == INP_LEFT_OUT) return skip_elements(reader, *type_name, set);
    if (dimension == 3) said = rule_said(*type_name, type);
    while (inp_data_line(reader)) {
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
        if (said > 0) reader->builder.mesh->hex8_said |= (unsigned)said;
        if (said < 0) count_type(reader->other_rule, &reader->n_other_rule, *type_name);
        if (dimension == 3)
            skip_more_nodes(reader);
        else
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
    if (seen == &reader->seen_instance && inp_data_line(reader))
        return inp_keyword_fail(reader, keyword, "only one that is not moved is supported");
    return MODAL_OK;
}

static modal_status read_block(inp_reader *reader, inp_keyword *keyword)
{
    static const char *const refused[] = {"PARAMETER", "NGEN",   "NFILL", "NCOPY", "NMAP",
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
    if (inp_is(name, "ORIENTATION")) return inp_read_orientation(reader, keyword);
    if (inp_is(name, "INITIALCONDITIONS")) {
        const inp_word *type = inp_parameter(keyword, "TYPE");
        if (type && inp_is(*type, "TEMPERATURE")) return inp_read_temperatures(reader);
    }
    if (inp_is(name, "PART")) return read_part(reader, keyword, &reader->seen_part);
    if (inp_is(name, "INSTANCE")) return read_part(reader, keyword, &reader->seen_instance);
    if (inp_is(name, "BOUNDARY")) return inp_read_boundary(reader, keyword);
    if (inp_is(name, "TRANSFORM")) return inp_read_transform(reader, keyword);
    return inp_skip(reader, keyword);
}

static modal_status read_file(inp_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    inp_keyword keyword;
    while (inp_seek_line(reader)) {
        MODAL_TRY(inp_read_keyword(reader, &keyword));
        MODAL_TRY(read_block(reader, &keyword));
    }
    text->subject = NULL;
    MODAL_TRY(reader->failed);
    if (reader->builder.mesh->n_nodes == 0) MODAL_TRY(modal_text_fail(text, "no *NODE"));
    if (reader->builder.mesh->n_elements == 0) MODAL_TRY(modal_text_fail(text, "no volume elements"));
    MODAL_TRY(inp_finish_sets(reader));
    MODAL_TRY(inp_finish_materials(reader));
    MODAL_TRY(inp_finish_conditions(reader));
    MODAL_TRY(inp_finish_others(reader));
    MODAL_TRY(tell_left_out(reader));
    MODAL_TRY(modal_mesh_builder_finish(&reader->builder));
done:
    return reader->failed != MODAL_OK ? reader->failed : status; /* the file that could not be read is the cause */
}

modal_status modal_inp_parse(const char *data, int64_t length, const char *name,
                             modal_volume_mesh *mesh, modal_error *err)
{
    memset(mesh, 0, sizeof *mesh);
    inp_reader reader = {.builder = {.mesh = mesh, .text = &reader.text}, .file = -1, .n_bytes = length};
    modal_text_init(&reader.text, name, data, length, err);
    modal_status status = read_file(&reader);
    if (status == MODAL_ERROR_MEMORY) modal_error_context(err, "%s", name);
    modal_free(&reader.low_tags);
    modal_free(&reader.low_offsets);
    modal_free(&reader.low_dimensions);
    modal_free(&reader.low_nodes);
    modal_tag_table_free(&reader.low_table);
    inp_free_sets(&reader);
    inp_free_materials(&reader);
    inp_free_conditions(&reader);
    inp_free_others(&reader);
    inp_free_files(&reader);
    modal_mesh_builder_free(&reader.builder);
    if (status != MODAL_OK) modal_volume_mesh_free(mesh);
    return status;
}
