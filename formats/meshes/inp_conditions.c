/* SPDX-License-Identifier: Apache-2.0 */
/* *BOUNDARY of an .inp file: zero values become conditions of the mesh, the rest is not supported. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/meshes/inp_reader.h"
#include "lib/base/memory.h"

enum { ALL = 7 };

/* What a line says that is not supported. Nodes by number may be many: they are counted as one. */
static modal_status leave_out(inp_reader *reader, inp_word who, int is_number, const char *what)
{
    char quoted[MODAL_QUOTE];
    return inp_leave_out(reader, MODAL_UNSUPPORTED_BOUNDARY, inp_here(reader), "*BOUNDARY of %s: %s",
                         is_number ? "nodes by number" : modal_quote(quoted, who.text, who.length), what);
}

modal_status inp_read_transform(inp_reader *reader, inp_keyword *keyword)
{
    modal_status status = MODAL_OK;
    const inp_word *name = inp_parameter(keyword, "NSET");
    if (!name) return inp_keyword_fail(reader, keyword, "parameter NSET missing");
    MODAL_TRY(modal_grow(&reader->turned, &reader->turned_capacity, reader->n_turned + 1, sizeof *reader->turned,
                         "sets", reader->text.err));
    reader->turned[reader->n_turned] = NULL;
    MODAL_TRY(modal_copy_text(&reader->turned[reader->n_turned], name->text, (size_t)name->length, reader->text.err));
    reader->n_turned++;
    inp_skip_data(reader);
done:
    return status;
}

static modal_status add_condition(inp_reader *reader, inp_word who, int is_number, int64_t number, uint8_t components)
{
    modal_status status = MODAL_OK;
    modal_error *err = reader->text.err;
    MODAL_TRY(modal_grow(&reader->conditions, &reader->condition_capacity, reader->n_conditions + 1,
                         sizeof *reader->conditions, "conditions", err));
    inp_condition *condition = &reader->conditions[reader->n_conditions];
    *condition = (inp_condition){.number = number, .at = inp_here(reader), .components = components};
    if (!is_number) MODAL_TRY(modal_copy_text(&condition->set, who.text, (size_t)who.length, err));
    reader->n_conditions++;
done:
    return status;
}

/* SET, ENCASTRE and the like; 0: another word. */
static uint8_t named_components(inp_word word)
{
    static const struct {
        const char *name;
        uint8_t components;
    } names[] = {{"ENCASTRE", 7}, {"PINNED", 7}, {"XSYMM", 1}, {"YSYMM", 2}, {"ZSYMM", 4},
                 {"XASYMM", 6},   {"YASYMM", 5}, {"ZASYMM", 3}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (inp_is(word, names[i].name)) return names[i].components;
    return 0;
}

/* NODE or SET, first[, last[, value]], or NODE or SET, type. Rotations (4 to 6) are none of a solid's. */
static modal_status read_line(inp_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    inp_word who, field;
    char what[MODAL_NOTE_BYTES], quoted[MODAL_QUOTE];
    int64_t number = -1, first, last;
    double value = 0;
    inp_field(text, &who);
    const int is_number = modal_parse_integer(who.text, who.length, &number) == MODAL_NUMBER_OK && number >= 0;
    if (who.length == 0) return modal_text_fail(text, "node or set missing");
    modal_text ahead = *text;
    if (inp_field(&ahead, &field) && field.length > 0 && isalpha((unsigned char)*field.text)) {
        const uint8_t components = named_components(field);
        *text = ahead;
        MODAL_TRY(components ? add_condition(reader, who, is_number, number, components)
                             : leave_out(reader, who, is_number, modal_quote(quoted, field.text, field.length)));
        modal_text_skip_line(text);
        goto done;
    }
    MODAL_TRY(inp_integer(text, "first degree of freedom", &first));
    last = first;
    ahead = *text;
    if (inp_field(&ahead, &field)) {
        if (field.length > 0) MODAL_TRY(inp_integer(text, "last degree of freedom", &last));
        else *text = ahead; /* empty: the first one alone */
    }
    ahead = *text;
    if (inp_field(&ahead, &field)) {
        if (field.length > 0) MODAL_TRY(inp_real(text, "value", &value));
        else *text = ahead;
    }
    if (last < first || (first < 1 && last > 0))
        return modal_text_fail(text, "no degrees of freedom, %lld to %lld", (long long)first, (long long)last);
    uint8_t components = 0;
    for (int64_t k = first > 0 ? first : 1; k <= last && k <= 3; k++) components |= (uint8_t)(1 << (k - 1));
    if (value != 0) {
        snprintf(what, sizeof what, "%lld to %lld, a value of %g", (long long)first, (long long)last, value);
        MODAL_TRY(leave_out(reader, who, is_number, what));
    } else if (components) {
        MODAL_TRY(add_condition(reader, who, is_number, number, components));
    }
    if (first < 1 || last > 6) { /* temperatures and pressures of networks and fluids */
        snprintf(what, sizeof what, "degree of freedom %lld", (long long)(first < 1 ? first : last));
        MODAL_TRY(leave_out(reader, who, is_number, what));
    }
    MODAL_TRY(inp_end_line(text));
done:
    return status;
}

static void forget(inp_reader *reader)
{
    for (int64_t i = 0; i < reader->n_conditions; i++) modal_free(&reader->conditions[i].set);
    reader->n_conditions = 0;
}

modal_status inp_read_boundary(inp_reader *reader, inp_keyword *keyword)
{
    static const char *const others[] = {"SUBMODEL", "USER", "FIXED", "BASENAME"};
    modal_status status = MODAL_OK;
    const inp_word *op = inp_parameter(keyword, "OP");
    /* The first OP=NEW of a step removes what earlier steps have said. */
    if (op && inp_is(*op, "NEW") && reader->renewed_step != reader->n_steps) {
        forget(reader);
        reader->renewed_step = reader->n_steps;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (!inp_parameter(keyword, others[i])) continue;
        MODAL_TRY(inp_leave_out(reader, MODAL_UNSUPPORTED_BOUNDARY, keyword->at, "*BOUNDARY, %s", others[i]));
        inp_skip_data(reader);
        goto done;
    }
    while (inp_data_line(reader)) MODAL_TRY(read_line(reader));
done:
    return status;
}

/* ---- the end ---- */

static int64_t find_set(const inp_reader *reader, const char *name)
{
    /* an assembly's names have the instance in front, Part-1-1.FIX */
    const char *dot = strrchr(name, '.');
    int64_t set = inp_look_up(reader, INP_NODES, (inp_word){name, (int64_t)strlen(name)});
    if (set < 0 && dot) set = inp_look_up(reader, INP_NODES, (inp_word){dot + 1, (int64_t)strlen(dot + 1)});
    return set;
}

static modal_status find_named_set(inp_reader *reader, const char *name, inp_place at, int64_t *set)
{
    inp_tell(reader, at);
    *set = find_set(reader, name);
    if (*set >= 0) return MODAL_OK;
    return modal_text_fail(&reader->text, "*BOUNDARY: neither a node nor a set of nodes, '%.100s'", name);
}

static int compare_nodes(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The set's nodes, ascending, once each; `marks` is zero and is so again. */
static modal_status set_nodes(inp_reader *reader, const inp_set *set, uint8_t *marks, int32_t **nodes, int64_t *n)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_alloc(nodes, set->n, sizeof **nodes, "conditions", reader->text.err));
    *n = 0;
    for (int64_t i = 0; i < set->n; i++) {
        const int32_t node = modal_tag_table_find(&reader->builder.node_table, reader->builder.mesh->node_tags, set->numbers[i]);
        if (node < 0) continue; /* counted with the set */
        if (!marks[node]) (*nodes)[(*n)++] = node;
        marks[node] = 1;
    }
    for (int64_t i = 0; i < *n; i++) marks[(*nodes)[i]] = 0;
    if (*n > 0) qsort(*nodes, (size_t)*n, sizeof **nodes, compare_nodes);
done:
    return status;
}

/* Takes the nodes. */
static modal_status put_condition(inp_reader *reader, const char *name, uint8_t components, int32_t **nodes, int64_t n,
                                  const uint8_t *turned)
{
    modal_status status = MODAL_OK;
    modal_volume_mesh *mesh = reader->builder.mesh;
    modal_condition *condition = &mesh->conditions[mesh->n_conditions];
    int64_t n_turned = 0;
    for (int64_t i = 0; i < n; i++) n_turned += turned[(*nodes)[i]];
    if (n_turned > 0 && components != ALL) {
        MODAL_TRY(inp_leave_out(reader, MODAL_UNSUPPORTED_BOUNDARY, inp_here(reader), "*BOUNDARY of %.60s: along axes of *TRANSFORM",
                                name ? name : "nodes by number"));
    } else if (n > 0) {
        *condition = (modal_condition){.group = {.dimension = 2, .tag = -1}, .components = components};
        mesh->n_conditions++;
        if (name) MODAL_TRY(modal_copy_text(&condition->group.name, name, SIZE_MAX, reader->text.err));
        condition->group.nodes = *nodes;
        condition->group.n_nodes = n;
        *nodes = NULL;
    }
done:
    modal_free(nodes);
    return status;
}

/* Nodes by number, a condition for each of the sums of components that they have. */
static modal_status finish_numbers(inp_reader *reader, uint8_t *marks, const uint8_t *turned)
{
    modal_status status = MODAL_OK;
    const modal_volume_mesh *mesh = reader->builder.mesh;
    int32_t *nodes = NULL;
    for (int64_t i = 0; i < reader->n_conditions; i++) {
        const inp_condition *at = &reader->conditions[i];
        inp_tell(reader, at->at);
        if (at->set) continue;
        const int32_t node = inp_find_node(reader, at->number);
        if (node >= 0) marks[node] |= at->components;
    }
    for (int c = 1; c <= ALL; c++) {
        int64_t n = 0, k = 0;
        for (int64_t i = 0; i < mesh->n_nodes; i++) n += marks[i] == c;
        if (n == 0) continue;
        MODAL_TRY(modal_alloc(&nodes, n, sizeof *nodes, "conditions", reader->text.err));
        for (int64_t i = 0; i < mesh->n_nodes; i++)
            if (marks[i] == c) nodes[k++] = (int32_t)i;
        MODAL_TRY(put_condition(reader, NULL, (uint8_t)c, &nodes, n, turned));
    }
    memset(marks, 0, (size_t)mesh->n_nodes);
done:
    modal_free(&nodes);
    return status;
}

/* A condition for each set, with the components of all lines that name it. */
static modal_status finish_named(inp_reader *reader, uint8_t *components, uint8_t *marks, const uint8_t *turned)
{
    modal_status status = MODAL_OK;
    int32_t *nodes = NULL;
    int64_t set, n;
    for (int64_t i = 0; i < reader->n_conditions; i++) {
        const inp_condition *at = &reader->conditions[i];
        if (!at->set) continue;
        MODAL_TRY(find_named_set(reader, at->set, at->at, &set));
        components[set] |= at->components;
    }
    for (set = 0; set < reader->n_sets; set++) {
        if (!components[set]) continue;
        inp_tell(reader, reader->sets[set].at);
        MODAL_TRY(set_nodes(reader, &reader->sets[set], marks, &nodes, &n));
        MODAL_TRY(put_condition(reader, reader->sets[set].name, components[set], &nodes, n, turned));
    }
done:
    modal_free(&nodes);
    return status;
}

static modal_status find_turned(inp_reader *reader, uint8_t *marks, uint8_t *turned, inp_place at)
{
    modal_status status = MODAL_OK;
    int32_t *nodes = NULL;
    for (int64_t i = 0; i < reader->n_turned; i++) {
        int64_t set, n;
        MODAL_TRY(find_named_set(reader, reader->turned[i], at, &set));
        MODAL_TRY(set_nodes(reader, &reader->sets[set], marks, &nodes, &n));
        for (int64_t k = 0; k < n; k++) turned[nodes[k]] = 1;
        modal_free(&nodes);
    }
done:
    modal_free(&nodes);
    return status;
}

modal_status inp_finish_conditions(inp_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_volume_mesh *mesh = reader->builder.mesh;
    modal_error *err = reader->text.err;
    const inp_place end = inp_here(reader);
    uint8_t *marks = NULL, *turned = NULL, *components = NULL;
    if (reader->n_conditions > 0) {
        MODAL_TRY(modal_alloc_zero(&marks, mesh->n_nodes, 1, "conditions", err));
        MODAL_TRY(modal_alloc_zero(&turned, mesh->n_nodes, 1, "conditions", err));
        MODAL_TRY(modal_alloc_zero(&components, reader->n_sets, 1, "conditions", err));
        MODAL_TRY(modal_alloc_zero(&mesh->conditions, ALL + reader->n_sets, sizeof *mesh->conditions, "conditions", err));
        MODAL_TRY(find_turned(reader, marks, turned, end));
        MODAL_TRY(finish_numbers(reader, marks, turned));
        MODAL_TRY(finish_named(reader, components, marks, turned));
    }
    inp_tell(reader, end);
done:
    modal_free(&marks);
    modal_free(&turned);
    modal_free(&components);
    return status;
}

void inp_free_conditions(inp_reader *reader)
{
    forget(reader);
    for (int64_t i = 0; i < reader->n_turned; i++) modal_free(&reader->turned[i]);
    modal_free(&reader->conditions);
    modal_free(&reader->turned);
}
