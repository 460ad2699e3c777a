/* SPDX-License-Identifier: Apache-2.0 */
/* What inp_lines.c (lines, included files), inp_others.c (what is not supported), inp_sets.c (sets), inp_materials.c (materials, sections),
 * inp_conditions.c and inp.c (nodes, elements, the file) share: each of them calls those before it. */
#ifndef MODAL_FORMATS_INP_READER_H
#define MODAL_FORMATS_INP_READER_H

#include "formats/meshes/mesh_builder.h"

typedef struct inp_word {
    const char *text;
    int64_t length;
} inp_word;

/* A line of one of the files, for messages that come later. */
typedef struct inp_place {
    const char *file;
    int64_t line;
} inp_place;

/* A keyword line: its name and parameters, KEY or KEY=VALUE. */
typedef struct inp_keyword {
    inp_word name;
    inp_place at;
    int n;
    struct {
        inp_word key, value;
        int used; /* a line that has a parameter which nothing used is refused where it matters */
    } parameters[64];
} inp_keyword;

typedef enum inp_kind { INP_NODES, INP_ELEMENTS } inp_kind;
enum { INP_LEFT_OUT = 255, INP_KINDS = 24 }; /* as the dimension of an element; kinds of them that are told apart */

typedef struct inp_set {
    char *name;
    inp_kind kind;
    int64_t *numbers, n, capacity;
    inp_place at;
} inp_set;

/* Rows of values that vary with temperature. */
typedef struct inp_rows {
    double *values; /* [n, width] */
    int64_t n, capacity;
    int width; /* the temperature is the last of a row */
} inp_rows;

typedef enum inp_elastic { INP_NO_ELASTIC, INP_ISOTROPIC, INP_CONSTANTS, INP_STIFFNESS, INP_OTHER } inp_elastic;

typedef struct inp_material {
    char *name;
    inp_elastic kind; /* INP_CONSTANTS: E, nu, G of three axes; INP_STIFFNESS: nine terms of D; INP_OTHER: what is not taken */
    inp_rows elastic, density;
} inp_material;

/* *ORIENTATION: material axes. */
typedef struct inp_orientation {
    char *name;
    double axes[9];
    int is_other; /* cylindrical, or of a kind that is not known */
} inp_orientation;

typedef struct inp_section {
    char *set, *material, *orientation; /* orientation: or NULL */
    inp_place at;
} inp_section;

/* A line of *BOUNDARY: the set of that name, or where that is NULL the node of that number. */
typedef struct inp_condition {
    char *set;
    int64_t number;
    inp_place at;
    uint8_t components;
} inp_condition;

/* A file that *INCLUDE names. */
typedef struct inp_file {
    char *path, *data;
    int includer; /* index of the file that named it, -1: the first one */
    modal_text before; /* where that one goes on */
} inp_file;

/* What the file asks for that is not supported: the text without its place, the first place, and how often. */
typedef struct inp_other {
    modal_unsupported kind;
    char *text;
    inp_place at;
    int64_t n;
} inp_other;

/* How many elements are of a type. */
typedef struct inp_count {
    char name[16];
    int64_t n;
} inp_count;

/* The steps so far, as far as one may stress the solid for a later one. */
typedef struct inp_history {
    int perturbation, nonlinear; /* of the step that is read now: PERTURBATION, NLGEOM */
    int frequency;               /* 1: the step that is read now is of *FREQUENCY */
    int is_loaded, is_nonlinear; /* an earlier step was of a static or dynamic analysis, of one with NLGEOM */
    inp_place at;                /* of the first such step's analysis */
    char name[48];
} inp_history;

typedef struct inp_reader {
    modal_text text; /* of the file that is read now */
    inp_file *files; /* those that were included, in the order of their lines; they stay until the end */
    int64_t n_files, file_capacity, n_bytes; /* bytes of all files */
    int file;            /* the one that is read now, -1: the first one */
    modal_status failed; /* of an included file: there is no further line */
    modal_mesh_builder builder;
    /* Elements of lower dimension: of them the nodes in sets are kept. INP_LEFT_OUT: elements that are no solids. */
    int64_t *low_tags, *low_offsets;
    uint8_t *low_dimensions;
    int32_t *low_nodes;
    int64_t n_low, low_tag_capacity, low_offset_capacity, low_dimension_capacity, low_node_capacity;
    modal_tag_table low_table;
    inp_count left_out[INP_KINDS], other_rule[INP_KINDS]; /* types that are no solids; that are integrated otherwise here */
    int n_left_out, n_other_rule;
    int64_t n_more_nodes;       /* elements that name more nodes than they have */
    int64_t n_no_nodes, no_node; /* nodes that sets and conditions name and that are not there; the first one */
    inp_set *sets;
    int64_t n_sets, set_capacity, n_members; /* of all sets */
    inp_material *materials;
    int64_t n_materials, material_capacity;
    inp_section *sections;
    int64_t n_sections, section_capacity;
    inp_orientation *orientations;
    int64_t n_orientations, orientation_capacity;
    double initial_temperature; /* of all nodes, 0 where none is given */
    int has_temperature, has_temperatures; /* one; several that differ */
    int seen_part, seen_instance;
    inp_condition *conditions;
    int64_t n_conditions, condition_capacity;
    char **turned; /* names of the sets of *TRANSFORM */
    int64_t n_turned, turned_capacity;
    int64_t n_steps, renewed_step; /* *STEP so far; the one whose OP=NEW has removed what came before */
    inp_other *others;
    int64_t n_others, other_capacity;
    inp_history history;
} inp_reader;

/* ---- inp_lines.c ---- */

/* The next field of the line, ended by a comma, without blanks around it; 0 at the line's end. */
int inp_field(modal_text *text, inp_word *field);
/* A field as a number; `what` names it in messages. Reals may have a Fortran exponent, 1.5D3; inp_real_or_zero takes a
 * field that is empty or missing for 0. */
modal_status inp_integer(modal_text *text, const char *what, int64_t *value);
modal_status inp_real(modal_text *text, const char *what, double *value);
modal_status inp_real_or_zero(modal_text *text, const char *what, double *value);
/* Goes to the next line that is neither blank nor a comment, through the lines of included files; 0 at the end of all
 * and after an included file that cannot be read (reader->failed). */
int inp_seek_line(inp_reader *reader);
/* The keyword line that begins here, and what continues it. */
modal_status inp_read_keyword(inp_reader *reader, inp_keyword *keyword);
/* Goes to the next data line; 0 at a keyword line or the end of the file. */
int inp_data_line(inp_reader *reader);
/* Goes to the next keyword line, or the end. */
void inp_skip_data(inp_reader *reader);
modal_status inp_end_line(modal_text *text);
/* Whether they are the same but for blanks and case. */
int inp_is(inp_word word, const char *name);
/* A parameter's value, or NULL. */
const inp_word *inp_parameter(inp_keyword *keyword, const char *key);
/* `FILE:LINE: *NAME: what`, with the keyword's line. */
modal_status inp_keyword_fail(const inp_reader *reader, const inp_keyword *keyword, const char *what);
/* The line that is read now, and messages of a line that was. */
inp_place inp_here(const inp_reader *reader);
void inp_tell(inp_reader *reader, inp_place at);
void inp_free_files(inp_reader *reader);
/* Another file whose lines come next, as *INCLUDE has it; `path` is relative to the file that names it. */
modal_status inp_include(inp_reader *reader, inp_word path);
/* Refuses parameters that nobody asked for. */
modal_status inp_check_parameters(const inp_reader *reader, const inp_keyword *keyword);

/* ---- inp_others.c ---- */

/* Keeps "format ..." of a line as not supported; a text that is there is counted. */
modal_status inp_leave_out(inp_reader *reader, modal_unsupported kind, inp_place at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Any keyword that no other function reads, after its line: skips its data, and keeps it as not supported unless the solid moves the same
 * without it. */
modal_status inp_skip(inp_reader *reader, inp_keyword *keyword);
/* At the end: texts of the mesh, with the places. */
modal_status inp_finish_others(inp_reader *reader);
void inp_free_others(inp_reader *reader);

/* ---- inp_sets.c ---- */

/* The set of that kind and name, made where it is not there; *index stays valid. */
modal_status inp_find_set(inp_reader *reader, inp_kind kind, inp_word name, int64_t *index);
modal_status inp_set_add(inp_reader *reader, int64_t set, int64_t number);
/* The node of that number, -1 and counted where there is none. */
int32_t inp_find_node(inp_reader *reader, int64_t number);
/* *NSET or *ELSET, after its keyword line. */
modal_status inp_read_set(inp_reader *reader, inp_keyword *keyword, inp_kind kind);
/* The set of that kind and name, -1: none. */
int64_t inp_look_up(const inp_reader *reader, inp_kind kind, inp_word name);
/* Whether it is that name, but for case; refuses an empty one and control characters. */
int inp_name_is(const char *name, inp_word word);
modal_status inp_check_name(const modal_text *text, inp_word name);
/* At the end: groups of the mesh. */
modal_status inp_finish_sets(inp_reader *reader);
void inp_free_sets(inp_reader *reader);

/* ---- inp_materials.c ---- */

/* *MATERIAL, *ELASTIC, *DENSITY, *ORIENTATION, *SOLID SECTION, *INITIAL CONDITIONS of temperature: after their keyword lines. */
modal_status inp_read_material(inp_reader *reader, inp_keyword *keyword);
modal_status inp_read_elastic(inp_reader *reader, inp_keyword *keyword);
modal_status inp_read_density(inp_reader *reader, inp_keyword *keyword);
modal_status inp_read_orientation(inp_reader *reader, inp_keyword *keyword);
modal_status inp_read_section(inp_reader *reader, inp_keyword *keyword);
modal_status inp_read_temperatures(inp_reader *reader);
/* At the end: materials of the mesh. */
modal_status inp_finish_materials(inp_reader *reader);
void inp_free_materials(inp_reader *reader);

/* ---- inp_conditions.c ---- */

/* *BOUNDARY, *TRANSFORM after their keyword lines. */
modal_status inp_read_boundary(inp_reader *reader, inp_keyword *keyword);
modal_status inp_read_transform(inp_reader *reader, inp_keyword *keyword);
/* At the end, while the nodes' numbers are known: conditions of the mesh. */
modal_status inp_finish_conditions(inp_reader *reader);
void inp_free_conditions(inp_reader *reader);

#endif
