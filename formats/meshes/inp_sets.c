/* SPDX-License-Identifier: Apache-2.0 */
/* Sets, materials and sections of an .inp file. */
#include <string.h>

#include "formats/meshes/inp_reader.h"
#include "lib/base/memory.h"

/* ---- sets ---- */

static int name_is(const char *name, inp_word word)
{
    return modal_token_is_like(word.text, word.length, name);
}

int64_t inp_look_up(const inp_reader *reader, inp_kind kind, inp_word name)
{
    for (int64_t i = 0; i < reader->n_sets; i++)
        if (reader->sets[i].kind == kind && name_is(reader->sets[i].name, name)) return i;
    return -1;
}

static modal_status check_name(const modal_text *text, inp_word name)
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
    MODAL_TRY(check_name(&reader->text, name));
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
                               : modal_group_builder_add_nodes(
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

/* ---- materials ---- */

static int64_t find_material(const inp_reader *reader, inp_word name)
{
    for (int64_t i = 0; i < reader->n_materials; i++)
        if (name_is(reader->materials[i].material.name, name)) return i;
    return -1;
}

modal_status inp_read_material(inp_reader *reader, inp_keyword *keyword)
{
    modal_status status = MODAL_OK;
    const inp_word *name = inp_parameter(keyword, "NAME");
    if (!name) return inp_keyword_fail(reader, keyword, "parameter NAME missing");
    MODAL_TRY(check_name(&reader->text, *name));
    if (find_material(reader, *name) >= 0)
        return inp_keyword_fail(reader, keyword, "second material of that name");
    MODAL_TRY(modal_grow(&reader->materials, &reader->material_capacity, reader->n_materials + 1,
                         sizeof *reader->materials, "materials", reader->text.err));
    inp_material *material = &reader->materials[reader->n_materials];
    memset(material, 0, sizeof *material);
    MODAL_TRY(modal_copy_text(&material->material.name, name->text, (size_t)name->length,
                              reader->text.err));
    reader->n_materials++;
    if (inp_data_line(reader))
        return inp_keyword_fail(reader, keyword, "no data expected after it");
done:
    return status;
}

static modal_status last_material(inp_reader *reader, inp_keyword *keyword, inp_material **material)
{
    if (reader->n_materials == 0) return inp_keyword_fail(reader, keyword, "in front of *MATERIAL");
    *material = &reader->materials[reader->n_materials - 1];
    if (!inp_data_line(reader)) return inp_keyword_fail(reader, keyword, "without values");
    return MODAL_OK;
}

/* What is left of the block: a value for each of several temperatures, or more fields. */
static void skip_rest(inp_reader *reader, inp_material *material)
{
    modal_text_skip_line(&reader->text);
    for (; inp_data_line(reader); modal_text_skip_line(&reader->text)) material->is_other = 1;
}

modal_status inp_read_elastic(inp_reader *reader, inp_keyword *keyword)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    inp_material *material;
    const inp_word *type = inp_parameter(keyword, "TYPE");
    MODAL_TRY(last_material(reader, keyword, &material));
    if (type && !inp_is(*type, "ISO") && !inp_is(*type, "ISOTROPIC")) {
        material->is_other = 1;
    } else {
        modal_material *values = &material->material;
        MODAL_TRY(inp_real(text, "Young's modulus", &values->young));
        MODAL_TRY(inp_real(text, "Poisson's ratio", &values->poisson));
        if (!(values->young > 0))
            return modal_text_fail(text, "Young's modulus is not positive, %g", values->young);
        if (!(values->poisson > -1 && values->poisson < 0.5))
            return modal_text_fail(text, "Poisson's ratio is not between -1 and 0.5, %g",
                                   values->poisson);
        material->has_elastic = 1;
    }
    skip_rest(reader, material);
done:
    return status;
}

modal_status inp_read_density(inp_reader *reader, inp_keyword *keyword)
{
    modal_status status = MODAL_OK;
    inp_material *material;
    MODAL_TRY(last_material(reader, keyword, &material));
    MODAL_TRY(inp_real(&reader->text, "density", &material->material.density));
    if (!(material->material.density > 0))
        return modal_text_fail(&reader->text, "density is not positive, %g",
                               material->material.density);
    material->has_density = 1;
    skip_rest(reader, material);
done:
    return status;
}

modal_status inp_read_section(inp_reader *reader, inp_keyword *keyword)
{
    modal_status status = MODAL_OK;
    modal_error *err = reader->text.err;
    const inp_word *set = inp_parameter(keyword, "ELSET"),
                   *material = inp_parameter(keyword, "MATERIAL");
    if (!set || !material)
        return inp_keyword_fail(reader, keyword, "parameter ELSET or MATERIAL missing");
    MODAL_TRY(modal_grow(&reader->sections, &reader->section_capacity, reader->n_sections + 1,
                         sizeof *reader->sections, "sections", err));
    inp_section *section = &reader->sections[reader->n_sections++];
    *section = (inp_section){.at = keyword->at};
    MODAL_TRY(modal_copy_text(&section->set, set->text, (size_t)set->length, err));
    MODAL_TRY(modal_copy_text(&section->material, material->text, (size_t)material->length, err));
    while (inp_data_line(reader)) modal_text_skip_line(&reader->text);
done:
    return status;
}

/* Gives the elements of each section its material; *whole: every element has one, and each is
 * isotropic with a density. */
static modal_status assign(inp_reader *reader, int32_t *element_material, int *whole)
{
    const modal_volume_mesh *mesh = reader->builder.mesh;
    for (int64_t e = 0; e < mesh->n_elements; e++) element_material[e] = -1;
    for (int64_t i = 0; i < reader->n_sections; i++) {
        const inp_section *section = &reader->sections[i];
        inp_word set_name = {section->set, (int64_t)strlen(section->set)},
                 name = {section->material, (int64_t)strlen(section->material)};
        int64_t set = inp_look_up(reader, INP_ELEMENTS, set_name), material = find_material(reader, name);
        inp_tell(reader, section->at);
        if (set < 0) return modal_text_fail(&reader->text, "unknown set, '%.100s'", section->set);
        if (material < 0)
            return modal_text_fail(&reader->text, "unknown material, '%.100s'", section->material);
        for (int64_t k = 0; k < reader->sets[set].n; k++) {
            int32_t e = modal_tag_table_find(&reader->builder.element_table, mesh->element_tags,
                                             reader->sets[set].numbers[k]);
            if (e >= 0) element_material[e] = (int32_t)material;
        }
    }
    *whole = 1;
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const inp_material *material =
            element_material[e] < 0 ? NULL : &reader->materials[element_material[e]];
        if (!material || !material->has_elastic || !material->has_density || material->is_other)
            *whole = 0;
    }
    return MODAL_OK;
}

modal_status inp_finish_materials(inp_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_volume_mesh *mesh = reader->builder.mesh;
    modal_error *err = reader->text.err;
    int32_t *element_material = NULL, *renumbered = NULL;
    const inp_place end = inp_here(reader);
    int whole = 0;
    if (reader->n_sections == 0) return MODAL_OK;
    MODAL_TRY(modal_alloc(&element_material, mesh->n_elements, sizeof *element_material,
                          "materials of elements", err));
    MODAL_TRY(assign(reader, element_material, &whole));
    inp_tell(reader, end);
    if (!whole) goto done;
    MODAL_TRY(modal_alloc(&renumbered, reader->n_materials, sizeof *renumbered, "materials", err));
    MODAL_TRY(modal_alloc(&mesh->materials, reader->n_materials, sizeof *mesh->materials, "materials",
                          err));
    for (int64_t i = 0; i < reader->n_materials; i++) renumbered[i] = -1;
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        int32_t *number = &renumbered[element_material[e]];
        if (*number < 0) {
            modal_material *from = &reader->materials[element_material[e]].material;
            *number = mesh->n_materials++;
            mesh->materials[*number] = *from;
            from->name = NULL; /* moved */
        }
        element_material[e] = *number;
    }
    mesh->materials_in_mesh_units = 1; /* the format has no units: E and the density go with the coordinates */
    mesh->element_material = element_material;
    element_material = NULL;
done:
    modal_free(&element_material);
    modal_free(&renumbered);
    return status;
}

void inp_free_sets(inp_reader *reader)
{
    for (int64_t i = 0; i < reader->n_sets; i++) {
        modal_free(&reader->sets[i].name);
        modal_free(&reader->sets[i].numbers);
    }
    for (int64_t i = 0; i < reader->n_materials; i++) modal_free(&reader->materials[i].material.name);
    for (int64_t i = 0; i < reader->n_sections; i++) {
        modal_free(&reader->sections[i].set);
        modal_free(&reader->sections[i].material);
    }
    modal_free(&reader->sets);
    modal_free(&reader->materials);
    modal_free(&reader->sections);
}
