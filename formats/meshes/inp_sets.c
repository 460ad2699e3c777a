/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of an .inp file. */
#include <string.h>

#include "formats/meshes/inp_reader.h"
#include "lib/base/memory.h"

/* ---- sets ---- */

int inp_name_is(const char *name, inp_word word) { return modal_token_is_like(word.text, word.length, name); }

int64_t inp_look_up(const inp_reader *reader, inp_kind kind, inp_word name)
{
    for (int64_t i = 0; i < reader->n_sets; i++)
        if (reader->sets[i].kind == kind && inp_name_is(reader->sets[i].name, name)) return i;
    return -1;
}

modal_status inp_check_name(const modal_text *text, inp_word name)
{
    char quoted[MODAL_QUOTE];
    if (name.length == 0) return modal_text_fail(text, "empty name");
    for (int64_t i = 0; i < name.length; i++)
        if ((unsigned char)name.text[i] < ' ')
            return modal_text_fail(text, "control character in a name, '%s'",
                                   modal_quote(quoted, name.text, name.length));
    return MODAL_OK;
}

modal_status inp_find_set(inp_reader *reader, inp_kind kind, inp_word name, int64_t *index)
{
    modal_status status = MODAL_OK;
    modal_error *err = reader->text.err;
    *index = inp_look_up(reader, kind, name);
    if (*index >= 0) goto done;
    MODAL_TRY(inp_check_name(&reader->text, name));
    MODAL_TRY(modal_grow(&reader->sets, &reader->set_capacity, reader->n_sets + 1,
                         sizeof *reader->sets, "sets", err));
    inp_set *set = &reader->sets[reader->n_sets];
    *set = (inp_set){.kind = kind, .at = inp_here(reader)};
    MODAL_TRY(modal_copy_text(&set->name, name.text, (size_t)name.length, err));
    *index = reader->n_sets++;
done:
    return status;
}

modal_status inp_set_add(inp_reader *reader, int64_t index, int64_t number)
{
    /* GENERATE and sets of sets could make a huge mesh of a small file: a number in a real file takes
     * some bytes in its node's or element's line, and there are not hundreds of sets of everything. */
    enum { MOST_PER_BYTE = 16 };
    inp_set *set = &reader->sets[index];
    if (++reader->n_members > MOST_PER_BYTE * reader->n_bytes)
        return modal_text_fail(&reader->text, "the sets have too many members for a file of this size");
    modal_status status = modal_grow(&set->numbers, &set->capacity, set->n + 1,
                                     sizeof *set->numbers, "members of a set", reader->text.err);
    if (status == MODAL_OK) set->numbers[set->n++] = number;
    return status;
}

static modal_status read_range(inp_reader *reader, int64_t set)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    int64_t first, last, step = 1;
    inp_word field;
    MODAL_TRY(inp_integer(text, "first number", &first));
    MODAL_TRY(inp_integer(text, "last number", &last));
    modal_text ahead = *text;
    if (inp_field(&ahead, &field)) MODAL_TRY(inp_integer(text, "step", &step));
    if (last < first || step < 1 || (last - first) % step != 0)
        return modal_text_fail(text, "no range, %lld to %lld by %lld", (long long)first,
                               (long long)last, (long long)step);
    for (int64_t number = first;; number += step) {
        MODAL_TRY(inp_set_add(reader, set, number));
        if (number == last) break;
    }
    MODAL_TRY(inp_end_line(text));
done:
    return status;
}

/* Numbers, or names of sets that are there already. */
static modal_status read_members(inp_reader *reader, int64_t set, inp_kind kind)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    inp_word field;
    char quoted[MODAL_QUOTE];
    while (inp_field(text, &field)) {
        int64_t number;
        if (modal_parse_integer(field.text, field.length, &number) == MODAL_NUMBER_OK && number >= 0) {
            MODAL_TRY(inp_set_add(reader, set, number));
            continue;
        }
        int64_t other = inp_look_up(reader, kind, field);
        if (other < 0 || other == set)
            return modal_text_fail(text, "neither a number nor a set that is known, '%s'",
                                   modal_quote(quoted, field.text, field.length));
        for (int64_t i = 0; i < reader->sets[other].n; i++)
            MODAL_TRY(inp_set_add(reader, set, reader->sets[other].numbers[i]));
    }
    MODAL_TRY(inp_end_line(text));
done:
    return status;
}

modal_status inp_read_set(inp_reader *reader, inp_keyword *keyword, inp_kind kind)
{
    modal_status status = MODAL_OK;
    const inp_word *name = inp_parameter(keyword, kind == INP_NODES ? "NSET" : "ELSET");
    int generate = inp_parameter(keyword, "GENERATE") != NULL;
    int64_t set;
    inp_parameter(keyword, "UNSORTED");
    inp_parameter(keyword, "INTERNAL");
    inp_parameter(keyword, "FREQUENCY");
    inp_parameter(keyword, "INSTANCE");
    if (!name) return inp_keyword_fail(reader, keyword, "name of the set missing");
    MODAL_TRY(inp_check_parameters(reader, keyword));
    MODAL_TRY(inp_find_set(reader, kind, *name, &set));
    while (inp_data_line(reader))
        MODAL_TRY(generate ? read_range(reader, set) : read_members(reader, set, kind));
done:
    return status;
}

static modal_status new_group(inp_reader *reader, const inp_set *set, int dimension, int32_t *group)
{
    modal_group_builder *groups = &reader->builder.groups;
    modal_status status = modal_group_builder_name(groups, set->name, (int64_t)strlen(set->name),
                                                   group, reader->text.err);
    if (status == MODAL_OK) groups->drafts[*group].group.dimension = dimension;
    return status;
}

int32_t inp_find_node(inp_reader *reader, int64_t number)
{
    const int32_t node = modal_tag_table_find(&reader->builder.node_table, reader->builder.mesh->node_tags, number);
    if (node < 0 && reader->n_no_nodes++ == 0) reader->no_node = number;
    return node;
}

static modal_status finish_node_set(inp_reader *reader, const inp_set *set)
{
    modal_status status = MODAL_OK;
    int32_t group, node;
    MODAL_TRY(new_group(reader, set, 0, &group));
    for (int64_t i = 0; i < set->n; i++) {
        node = inp_find_node(reader, set->numbers[i]);
        if (node >= 0)
            MODAL_TRY(modal_group_builder_add_nodes(&reader->builder.groups, group, &node, 1, reader->text.err));
    }
done:
    return status;
}

/* A group for each dimension that the set's elements have; an empty set is one of volumes. */
static modal_status finish_element_set(inp_reader *reader, const inp_set *set)
{
    modal_status status = MODAL_OK;
    modal_error *err = reader->text.err;
    modal_group_builder *groups = &reader->builder.groups;
    const modal_volume_mesh *mesh = reader->builder.mesh;
    int32_t group[4] = {-1, -1, -1, -1};
    if (set->n == 0) MODAL_TRY(new_group(reader, set, 3, &group[3]));
    for (int64_t i = 0; i < set->n; i++) {
        int32_t element = modal_tag_table_find(&reader->builder.element_table, mesh->element_tags,
                                               set->numbers[i]);
        int32_t low = element >= 0 ? -1
                                   : modal_tag_table_find(&reader->low_table, reader->low_tags,
                                                          set->numbers[i]);
        if (element < 0 && low < 0)
            return modal_text_fail(&reader->text, "unknown element, %lld",
                                   (long long)set->numbers[i]);
        int dimension = element >= 0 ? 3 : reader->low_dimensions[low];
        if (dimension == INP_LEFT_OUT) continue;
        if (group[dimension] < 0) MODAL_TRY(new_group(reader, set, dimension, &group[dimension]));
        MODAL_TRY(element >= 0 ? modal_group_builder_add_element(groups, group[3], element, err)
                               : modal_group_builder_add_cell(
                                     groups, group[dimension],
                                     reader->low_nodes + reader->low_offsets[low],
                                     reader->low_offsets[low + 1] - reader->low_offsets[low], err));
    }
done:
    return status;
}

modal_status inp_finish_sets(inp_reader *reader)
{
    modal_status status = MODAL_OK;
    const inp_place end = inp_here(reader);
    for (int64_t i = 0; i < reader->n_sets; i++) {
        const inp_set *set = &reader->sets[i];
        inp_tell(reader, set->at);
        MODAL_TRY(set->kind == INP_NODES ? finish_node_set(reader, set)
                                         : finish_element_set(reader, set));
    }
    inp_tell(reader, end);
done:
    return status;
}

void inp_free_sets(inp_reader *reader)
{
    for (int64_t i = 0; i < reader->n_sets; i++) {
        modal_free(&reader->sets[i].name);
        modal_free(&reader->sets[i].numbers);
    }
    modal_free(&reader->sets);
}
