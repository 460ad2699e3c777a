/* SPDX-License-Identifier: Apache-2.0 */
/* VTK's XML files of unstructured grids, .vtu (VTK's documentation, "VTK XML Formats"): one piece;
 * numbers as text, as base64, or appended (raw or base64), each but text also packed by zlib. The
 * packing of numbers is in vtu_data.c. */
#include <string.h>

#include "formats/meshes/mesh_parse.h"
#include "formats/meshes/vtu_data.h"
#include "lib/base/memory.h"

enum { DEEPEST = 16 };

typedef struct vtu_attribute {
    const char *name, *value;
    int64_t name_length, value_length;
} vtu_attribute;

typedef struct vtu_tag {
    const char *name;
    int64_t name_length;
    int n;
    vtu_attribute attributes[32];
    int is_end, is_empty; /* </x>, <x/> */
} vtu_tag;

typedef struct vtu_reader {
    modal_text text;
    vtu_coding coding;
    vtk_grid grid;
    /* The tags that are open. */
    int depth;
    struct {
        const char *name;
        int64_t length;
    } open[DEEPEST];
    int n_pieces, seen_file;
    /* Arrays that matter: where their heads are. They are read at the end, since what is appended
     * comes last. */
    vtu_array points, connectivity, offsets, types, groups;
    char *group_name;
} vtu_reader;

/* ---- tags ---- */

static int is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* Moves on, counting lines. */
static void advance(modal_text *text, int64_t to)
{
    for (; text->position < to; text->position++) text->line += text->data[text->position] == '\n';
    text->at = to;
}

static void skip_space(modal_text *text)
{
    int64_t to = text->position;
    while (to < text->length && is_space(text->data[to])) to++;
    advance(text, to);
}

/* Behind the next `mark`. */
static modal_status skip_behind(modal_text *text, const char *mark)
{
    size_t length = strlen(mark);
    const char *from = text->data + text->position;
    const char *found = memmem(from, (size_t)(text->length - text->position), mark, length);
    if (!found) return modal_text_fail(text, "the file ends, %s expected", mark);
    advance(text, found - text->data + (int64_t)length);
    return MODAL_OK;
}

static int is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == ':' || c == '.';
}

static int64_t read_name(modal_text *text, const char **name)
{
    int64_t to = text->position;
    while (to < text->length && is_name(text->data[to])) to++;
    *name = text->data + text->position;
    int64_t length = to - text->position;
    advance(text, to);
    return length;
}

static modal_status read_attribute(modal_text *text, vtu_tag *tag)
{
    char quoted[MODAL_QUOTE];
    if (tag->n == (int)(sizeof tag->attributes / sizeof *tag->attributes))
        return modal_text_fail(text, "too many attributes");
    vtu_attribute *attribute = &tag->attributes[tag->n++];
    attribute->name_length = read_name(text, &attribute->name);
    skip_space(text);
    if (attribute->name_length == 0 || text->position >= text->length ||
        text->data[text->position] != '=')
        return modal_text_fail(text, "attribute expected in a tag %s",
                               modal_quote(quoted, tag->name, tag->name_length));
    advance(text, text->position + 1);
    skip_space(text);
    char quote = text->position < text->length ? text->data[text->position] : 0;
    if (quote != '"' && quote != '\'') return modal_text_fail(text, "value in quotes expected");
    advance(text, text->position + 1);
    attribute->value = text->data + text->position;
    const char *end = memchr(attribute->value, quote, (size_t)(text->length - text->position));
    if (!end) return modal_text_fail(text, "value without a closing quote");
    attribute->value_length = end - attribute->value;
    advance(text, end - text->data + 1);
    return MODAL_OK;
}

/* The next tag, behind blanks (text in front of it is skipped); *found = 0 at the end of the file. */
static modal_status read_tag(modal_text *text, vtu_tag *tag, int *found)
{
    modal_status status = MODAL_OK;
    memset(tag, 0, sizeof *tag);
    *found = 0;
    for (;;) {
        const char *from = text->data + text->position;
        int64_t left = text->length - text->position;
        const char *mark = left > 0 ? memchr(from, '<', (size_t)left) : NULL;
        advance(text, mark ? mark - text->data : text->length);
        if (!mark) return MODAL_OK;
        left = text->length - text->position;
        if (left >= 4 && memcmp(mark, "<!--", 4) == 0)
            MODAL_TRY(skip_behind(text, "-->"));
        else if (left >= 2 && (mark[1] == '?' || mark[1] == '!'))
            MODAL_TRY(skip_behind(text, ">"));
        else
            break;
    }
    *found = 1;
    advance(text, text->position + 1);
    tag->is_end = text->position < text->length && text->data[text->position] == '/';
    advance(text, text->position + tag->is_end);
    tag->name_length = read_name(text, &tag->name);
    if (tag->name_length == 0) return modal_text_fail(text, "name of a tag expected");
    for (;;) {
        skip_space(text);
        if (text->position >= text->length) return modal_text_fail(text, "the file ends within a tag");
        char c = text->data[text->position];
        if (c == '>' || (c == '/' && text->position + 1 < text->length &&
                         text->data[text->position + 1] == '>')) {
            tag->is_empty = c == '/';
            advance(text, text->position + 1 + tag->is_empty);
            return MODAL_OK;
        }
        MODAL_TRY(read_attribute(text, tag));
    }
done:
    return status;
}

/* An attribute's value; 0 where it is not there. */
static int find(const vtu_tag *tag, const char *name, const char **value, int64_t *length)
{
    for (int i = 0; i < tag->n; i++)
        if (modal_token_is(tag->attributes[i].name, tag->attributes[i].name_length, name)) {
            *value = tag->attributes[i].value;
            *length = tag->attributes[i].value_length;
            return 1;
        }
    *value = "";
    *length = 0;
    return 0;
}

static int value_is(const vtu_tag *tag, const char *name, const char *value)
{
    const char *given;
    int64_t length;
    return find(tag, name, &given, &length) && modal_token_is(given, length, value);
}

static modal_status find_count(const modal_text *text, const vtu_tag *tag, const char *name,
                               int64_t *count)
{
    const char *value;
    int64_t length;
    char quoted[MODAL_QUOTE];
    if (!find(tag, name, &value, &length)) return modal_text_fail(text, "attribute %s missing", name);
    if (modal_parse_integer(value, length, count) != MODAL_NUMBER_OK || *count < 0)
        return modal_text_fail(text, "%s is no count, '%s'", name, modal_quote(quoted, value, length));
    return MODAL_OK;
}

/* ---- what tags mean ---- */

static int inside(const vtu_reader *reader, const char *name)
{
    return reader->depth > 0 &&
           modal_token_is(reader->open[reader->depth - 1].name, reader->open[reader->depth - 1].length, name);
}

static modal_status begin_file(vtu_reader *reader, const vtu_tag *tag)
{
    modal_text *text = &reader->text;
    const char *value;
    int64_t length;
    char quoted[MODAL_QUOTE];
    reader->seen_file = 1;
    find(tag, "type", &value, &length);
    if (!modal_token_is(value, length, "UnstructuredGrid"))
        return modal_text_fail(text, "type '%s' is not supported, only UnstructuredGrid",
                               modal_quote(quoted, value, length));
    reader->coding.swap = value_is(tag, "byte_order", "BigEndian");
    /* Lengths were 32 bits until they got an attribute. */
    reader->coding.length_bytes = value_is(tag, "header_type", "UInt64") ? 8 : 4;
    if (find(tag, "compressor", &value, &length)) {
        if (!modal_token_is(value, length, "vtkZLibDataCompressor"))
            return modal_text_fail(text, "compressor '%s' is not supported, only vtkZLibDataCompressor",
                                   modal_quote(quoted, value, length));
        reader->coding.is_packed = 1;
    }
    return MODAL_OK;
}

/* Remembers an array; its numbers, where they stand in the file here, are up to the next tag. */
static modal_status begin_array(vtu_reader *reader, const vtu_tag *tag)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    const char *value, *name;
    int64_t length, name_length, n_components = 1;
    char quoted[MODAL_QUOTE];
    vtu_array *array = NULL;
    find(tag, "Name", &name, &name_length);
    if (find(tag, "NumberOfComponents", &value, &length))
        MODAL_TRY(find_count(text, tag, "NumberOfComponents", &n_components));
    if (inside(reader, "Points"))
        array = &reader->points;
    else if (inside(reader, "Cells"))
        array = modal_token_is(name, name_length, "connectivity") ? &reader->connectivity
                : modal_token_is(name, name_length, "offsets")    ? &reader->offsets
                : modal_token_is(name, name_length, "types")      ? &reader->types
                                                                  : NULL;
    else if (inside(reader, "CellData") && n_components <= 1 && !reader->group_name &&
             vtk_names_groups(name, name_length))
        array = &reader->groups;
    if (!array) return MODAL_OK;
    if (array->type != VTK_NONE)
        return modal_text_fail(text, "second array '%s'", modal_quote(quoted, name, name_length));
    if (array == &reader->points && n_components != 3)
        return modal_text_fail(text, "points of %lld components, 3 expected", (long long)n_components);
    find(tag, "type", &value, &length);
    array->type = vtu_find_type(value, length);
    if (array->type == VTK_NONE)
        return modal_text_fail(text, "numbers of type '%s' are not supported",
                               modal_quote(quoted, value, length));
    if (array == &reader->groups) {
        if (array->type >= VTK_F32) {
            array->type = VTK_NONE;
            return MODAL_OK;
        }
        MODAL_TRY(modal_copy_text(&reader->group_name, name, (size_t)name_length, text->err));
    }
    array->line = text->line;
    array->begin = text->position;
    if (value_is(tag, "format", "ascii") || value_is(tag, "format", "binary")) {
        array->format = value_is(tag, "format", "ascii") ? VTU_TEXT : VTU_INLINE;
        const char *end = memchr(text->data + array->begin, '<', (size_t)(text->length - array->begin));
        array->end = tag->is_empty ? array->begin : end ? end - text->data : text->length;
    } else if (value_is(tag, "format", "appended")) {
        array->format = VTU_APPENDED;
        MODAL_TRY(find_count(text, tag, "offset", &array->begin));
    } else
        return modal_text_fail(text, "format is neither ascii nor binary nor appended");
done:
    return status;
}

/* Where what is appended begins, behind the underscore. */
static modal_status begin_appended(vtu_reader *reader, const vtu_tag *tag)
{
    modal_text *text = &reader->text;
    reader->coding.is_appended_raw = value_is(tag, "encoding", "raw");
    if (!reader->coding.is_appended_raw && !value_is(tag, "encoding", "base64"))
        return modal_text_fail(text, "encoding is neither raw nor base64");
    skip_space(text);
    if (text->position >= text->length || text->data[text->position] != '_')
        return modal_text_fail(text, "_ expected in front of the appended data");
    reader->coding.appended = text->position + 1;
    return MODAL_OK;
}

static modal_status begin_tag(vtu_reader *reader, const vtu_tag *tag)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    const char *name = tag->name;
    int64_t length = tag->name_length;
    char quoted[MODAL_QUOTE];
    if (!reader->seen_file) {
        if (!modal_token_is(name, length, "VTKFile"))
            return modal_text_fail(text, "VTKFile expected, '%s'", modal_quote(quoted, name, length));
        MODAL_TRY(begin_file(reader, tag));
    } else if (modal_token_is(name, length, "Piece")) {
        if (reader->n_pieces++ > 0) return modal_text_fail(text, "several pieces are not supported");
        MODAL_TRY(find_count(text, tag, "NumberOfPoints", &reader->grid.n_points));
        MODAL_TRY(find_count(text, tag, "NumberOfCells", &reader->grid.n_cells));
        if (reader->grid.n_points < 1 || reader->grid.n_cells < 1)
            return modal_text_fail(text, "no points or no cells");
    } else if (modal_token_is(name, length, "DataArray"))
        MODAL_TRY(begin_array(reader, tag));
done:
    return status;
}

/* ---- the file ---- */

static modal_status read_tags(vtu_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    vtu_tag tag;
    int found;
    char quoted[MODAL_QUOTE];
    for (;;) {
        MODAL_TRY(read_tag(text, &tag, &found));
        if (!found) break;
        if (tag.is_end) {
            if (reader->depth == 0 || tag.name_length != reader->open[reader->depth - 1].length ||
                memcmp(tag.name, reader->open[reader->depth - 1].name, (size_t)tag.name_length) != 0)
                return modal_text_fail(text, "</%s> closes nothing",
                                       modal_quote(quoted, tag.name, tag.name_length));
            reader->depth--;
            if (reader->depth == 0) return MODAL_OK;
            continue;
        }
        MODAL_TRY(begin_tag(reader, &tag));
        if (modal_token_is(tag.name, tag.name_length, "AppendedData") && !tag.is_empty)
            return begin_appended(reader, &tag); /* raw bytes are no tags */
        if (tag.is_empty) continue;
        if (reader->depth == DEEPEST) return modal_text_fail(text, "tags too deep");
        reader->open[reader->depth].name = tag.name;
        reader->open[reader->depth++].length = tag.name_length;
    }
    return modal_text_fail(text, "the file ends, </VTKFile> expected");
done:
    return status;
}

static modal_status read_grid(vtu_reader *reader, modal_volume_mesh *mesh)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    vtk_grid *grid = &reader->grid;
    const vtu_coding *coding = &reader->coding;
    int64_t n_points = grid->n_points, n_cells = grid->n_cells, n;
    static const char *const names[4] = {"Points", "connectivity", "offsets", "types"};
    const vtu_array *arrays[4] = {&reader->points, &reader->connectivity, &reader->offsets,
                                  &reader->types};
    for (int i = 0; i < 4; i++)
        if (arrays[i]->type == VTK_NONE) return modal_text_fail(text, "no array %s", names[i]);
    if (!modal_size_multiply(3, n_points, &n)) return modal_text_fail(text, "too many points");
    MODAL_TRY(vtu_read_reals(text, coding, &reader->points, "Points", n, &grid->points));
    MODAL_TRY(vtu_read_integers(text, coding, &reader->types, "types", n_cells, &grid->types));
    MODAL_TRY(vtu_read_integers(text, coding, &reader->offsets, "offsets", n_cells, &grid->offsets));
    /* The file has the ends only. */
    MODAL_TRY(vtu_prepend_zero(&grid->offsets, n_cells, text->err));
    grid->n_connectivity = grid->offsets[n_cells];
    if (grid->n_connectivity < 0) return modal_text_fail(text, "offsets are negative");
    MODAL_TRY(vtu_read_integers(text, coding, &reader->connectivity, "connectivity",
                                grid->n_connectivity, &grid->connectivity));
    if (reader->group_name) {
        MODAL_TRY(vtu_read_integers(text, coding, &reader->groups, reader->group_name, n_cells,
                                    &grid->groups.values));
        grid->groups.name = reader->group_name;
        reader->group_name = NULL;
    }
    MODAL_TRY(vtk_grid_finish(grid, text, mesh));
done:
    return status;
}

modal_status modal_vtu_parse(const char *data, int64_t length, const char *name,
                             modal_volume_mesh *mesh, modal_error *err)
{
    modal_status status = MODAL_OK;
    memset(mesh, 0, sizeof *mesh);
    vtu_reader reader = {0};
    modal_text_init(&reader.text, name, data, length, err);
    MODAL_TRY(read_tags(&reader));
    if (reader.n_pieces == 0) {
        status = modal_text_fail(&reader.text, "no Piece");
        goto done;
    }
    MODAL_TRY(read_grid(&reader, mesh));
done:
    if (status == MODAL_ERROR_MEMORY) modal_error_context(err, "%s", name);
    modal_free(&reader.group_name);
    vtk_grid_free(&reader.grid);
    if (status != MODAL_OK) modal_volume_mesh_free(mesh);
    return status;
}
