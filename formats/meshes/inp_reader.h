/* SPDX-License-Identifier: Apache-2.0 */
/* What inp_lines.c (lines), inp_sets.c (sets, materials, sections) and inp.c (nodes, elements, the file)
 * share: each of them calls those before it. */
#ifndef MODAL_FORMATS_INP_READER_H
#define MODAL_FORMATS_INP_READER_H

#include "formats/meshes/mesh_builder.h"

typedef struct inp_word {
    const char *text;
    int64_t length;
} inp_word;

/* A keyword line: its name and parameters, KEY or KEY=VALUE. */
typedef struct inp_keyword {
    inp_word name;
    int64_t line;
    int n;
    struct {
        inp_word key, value;
        int used; /* a line that has a parameter which nothing used is refused where it matters */
    } parameters[16];
} inp_keyword;

typedef enum inp_kind { INP_NODES, INP_ELEMENTS } inp_kind;

typedef struct inp_set {
    char *name;
    inp_kind kind;
    int64_t *numbers, n, capacity;
    int64_t line;
} inp_set;

typedef struct inp_material {
    modal_material material;
    int has_elastic, has_density, is_other; /* is_other: not isotropic, or varies with temperature */
} inp_material;

typedef struct inp_section {
    char *set, *material;
    int64_t line;
} inp_section;

/* A line of *BOUNDARY: the set of that name, or where that is NULL the node of that number. */
typedef struct inp_condition {
    char *set;
    int64_t number, line;
    uint8_t components;
} inp_condition;

typedef struct inp_reader {
    modal_text text;
    modal_mesh_builder builder;
    /* Elements of lower dimension: of them the nodes in sets are kept. */
    int64_t *low_tags, *low_offsets;
    uint8_t *low_dimensions;
    int32_t *low_nodes;
    int64_t n_low, low_tag_capacity, low_offset_capacity, low_dimension_capacity, low_node_capacity;
    modal_tag_table low_table;
    inp_set *sets;
    int64_t n_sets, set_capacity, n_members; /* of all sets */
    inp_material *materials;
    int64_t n_materials, material_capacity;
    inp_section *sections;
    int64_t n_sections, section_capacity;
    int seen_part, seen_instance;
    inp_condition *conditions;
    int64_t n_conditions, condition_capacity;
    char **turned; /* names of the sets of *TRANSFORM */
    int64_t n_turned, turned_capacity;
    int64_t n_numbered_not_taken; /* nodes by number that mesh->not_taken tells as one text */
    int64_t n_steps, renewed_step; /* *STEP so far; the one whose OP=NEW has removed what came before */
} inp_reader;

/* ---- inp_lines.c ---- */

/* The next field of the line, ended by a comma, without blanks around it; 0 at the line's end. */
int inp_field(modal_text *text, inp_word *field);
/* A field as a number; `what` names it in messages. Reals may have a Fortran exponent, 1.5D3. */
modal_status inp_integer(modal_text *text, const char *what, int64_t *value);
modal_status inp_real(modal_text *text, const char *what, double *value);
/* Goes to the next line that is neither blank nor a comment; 0 at the end of the file. */
int inp_seek_line(modal_text *text);
/* The keyword line that begins here, and what continues it. */
modal_status inp_read_keyword(modal_text *text, inp_keyword *keyword);
/* Goes to the next data line; 0 at a keyword line or the end of the file. */
int inp_data_line(modal_text *text);
modal_status inp_end_line(modal_text *text);
/* Whether they are the same but for blanks and case. */
int inp_is(inp_word word, const char *name);
/* A parameter's value, or NULL. */
const inp_word *inp_parameter(inp_keyword *keyword, const char *key);
/* `FILE:LINE: *NAME: what`, with the keyword's line. */
modal_status inp_keyword_fail(const inp_reader *reader, const inp_keyword *keyword, const char *what);
/* Refuses parameters that nobody asked for. */
modal_status inp_check_parameters(const inp_reader *reader, const inp_keyword *keyword);

/* ---- inp_sets.c ---- */

/* The set of that kind and name, made where it is not there; *index stays valid. */
modal_status inp_find_set(inp_reader *reader, inp_kind kind, inp_word name, int64_t *index);
modal_status inp_set_add(inp_reader *reader, int64_t set, int64_t number);
/* *NSET or *ELSET; *MATERIAL, *ELASTIC, *DENSITY, *SOLID SECTION: after their keyword lines. */
modal_status inp_read_set(inp_reader *reader, inp_keyword *keyword, inp_kind kind);
modal_status inp_read_material(inp_reader *reader, inp_keyword *keyword);
modal_status inp_read_elastic(inp_reader *reader, inp_keyword *keyword);
modal_status inp_read_density(inp_reader *reader, inp_keyword *keyword);
modal_status inp_read_section(inp_reader *reader, inp_keyword *keyword);
/* The set of that kind and name, -1: none. */
int64_t inp_look_up(const inp_reader *reader, inp_kind kind, inp_word name);
/* At the end: groups and materials of the mesh. */
modal_status inp_finish_sets(inp_reader *reader);
modal_status inp_finish_materials(inp_reader *reader);
void inp_free_sets(inp_reader *reader);

/* ---- inp_conditions.c ---- */

/* *BOUNDARY, *TRANSFORM after their keyword lines; and any other keyword, whose data are skipped: what constrains the
 * motion of nodes is remembered by name. */
modal_status inp_read_boundary(inp_reader *reader, inp_keyword *keyword);
modal_status inp_read_transform(inp_reader *reader, inp_keyword *keyword);
modal_status inp_skip(inp_reader *reader, const inp_keyword *keyword);
/* At the end, while the nodes' numbers are known: conditions of the mesh. */
modal_status inp_finish_conditions(inp_reader *reader);
void inp_free_conditions(inp_reader *reader);

#endif
