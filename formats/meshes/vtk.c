/* SPDX-License-Identifier: Apache-2.0 */
/* VTK's legacy files of unstructured grids and of polygons, .vtk, text and binary, versions 1 to 5.1 (The VTK User's
 * Guide, "VTK File Formats"). */
#include <string.h>

#include "formats/meshes/mesh_parse.h"
#include "formats/meshes/surface_builder.h"
#include "formats/meshes/vtk_grid.h"
#include "lib/base/memory.h"

typedef struct vtk_reader {
    modal_text text;
    vtk_grid grid;
    int is_binary, is_version_5;
    int64_t n_data;    /* values of each array of data */
    int is_cell_data;
    /* of polygons: the surface, else NULL; the cells so far, vertices and lines among them; these that were passed over */
    modal_surface_builder *surface;
    int64_t n_surface_cells, n_thin;
} vtk_reader;

static const struct {
    const char *name;
    vtk_type type;
} type_names[] = {{"char", VTK_I8},          {"unsigned_char", VTK_U8},
                  {"short", VTK_I16},        {"unsigned_short", VTK_U16},
                  {"int", VTK_I32},          {"unsigned_int", VTK_U32},
                  {"long", VTK_I64},         {"unsigned_long", VTK_U64},
                  {"vtkIdType", VTK_I32},    {"vtktypeint64", VTK_I64},
                  {"vtktypeint32", VTK_I32}, {"vtktypeuint8", VTK_U8},
                  {"float", VTK_F32},        {"double", VTK_F64}};

/* ---- tokens and arrays ---- */

/* The next token of the line, which must be there. */
static modal_status need_token(modal_text *text, const char *what, const char **token,
                               int64_t *length)
{
    return modal_text_token(text, token, length) ? MODAL_OK
                                                 : modal_text_fail(text, "%s missing", what);
}

static modal_status read_type(modal_text *text, vtk_type *type)
{
    modal_status status = MODAL_OK;
    const char *token;
    int64_t length;
    char quoted[MODAL_QUOTE];
    MODAL_TRY(need_token(text, "type of numbers", &token, &length));
    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++)
        if (modal_token_is_like(token, length, type_names[i].name)) {
            *type = type_names[i].type;
            return MODAL_OK;
        }
    status = modal_text_fail(text, "numbers of type %s are not supported",
                             modal_quote(quoted, token, length));
done:
    return status;
}

/* An array of n numbers, wanted as reals, as whole numbers, or not at all (both NULL). */
static modal_status read_array(vtk_reader *reader, const char *what, vtk_type type, int64_t n,
                               double *reals, int64_t *integers)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    if (reader->is_binary) {
        /* The caller has checked that they are in the file. */
        const char *bytes = text->data + text->position;
        text->at = text->position;
        int64_t bad = reals || integers ? vtk_convert(bytes, type, 1, n, reals, integers) : -1;
        if (bad >= 0) {
            text->at += bad * vtk_type_bytes[type];
            return modal_text_fail(text, "%s %lld: not finite, or no whole number", what,
                                   (long long)bad);
        }
        text->position += n * vtk_type_bytes[type];
        return MODAL_OK;
    }
    for (int64_t i = 0; i < n; i++) {
        double real;
        int64_t whole;
        modal_text_seek_token(text);
        if (integers || (!reals && type < VTK_F32))
            MODAL_TRY(modal_text_integer(text, what, INT64_MIN, INT64_MAX, integers ? &integers[i] : &whole));
        else
            MODAL_TRY(modal_text_real(text, what, reals ? &reals[i] : &real));
    }
done:
    return status;
}

static modal_status check_array(const vtk_reader *reader, const char *what, vtk_type type, int64_t n)
{
    modal_text where = reader->text;
    where.at = where.position;
    int64_t left = where.length - where.position;
    if (n <= (reader->is_binary ? left / vtk_type_bytes[type] : (left + 1) / 2)) return MODAL_OK;
    return modal_text_fail(&where, "%lld %s cannot be in the %lld bytes left of the file",
                           (long long)n, what, (long long)left);
}

/* After the head of an array: its numbers into new memory of one of the two kinds. */
static modal_status read_new_array(vtk_reader *reader, const char *what, vtk_type type, int64_t n,
                                   double **reals, int64_t **integers)
{
    modal_status status = MODAL_OK;
    modal_error *err = reader->text.err;
    MODAL_TRY(check_array(reader, what, type, n));
    if (reals) MODAL_TRY(modal_alloc(reals, n, sizeof **reals, what, err));
    if (integers) MODAL_TRY(modal_alloc(integers, n, sizeof **integers, what, err));
    MODAL_TRY(read_array(reader, what, type, n, reals ? *reals : NULL, integers ? *integers : NULL));
done:
    return status;
}

/* ---- geometry ---- */

static modal_status read_points(vtk_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    vtk_type type;
    if (reader->grid.points) return modal_text_fail(text, "second section POINTS");
    MODAL_TRY(modal_text_integer(text, "number of points", 1, INT32_MAX, &reader->grid.n_points));
    MODAL_TRY(read_type(text, &type));
    MODAL_TRY(modal_text_end_line(text));
    MODAL_TRY(read_new_array(reader, "coordinate", type, 3 * reader->grid.n_points,
                             &reader->grid.points, NULL));
done:
    return status;
}

/* Up to version 4 each cell has its number of points in front of them. */
static modal_status split_cells(vtk_reader *reader, int64_t *cells, int64_t size)
{
    modal_status status = MODAL_OK;
    vtk_grid *grid = &reader->grid;
    modal_text *text = &reader->text;
    int64_t from = 0, to = 0;
    MODAL_TRY(modal_alloc(&grid->offsets, grid->n_cells + 1, sizeof *grid->offsets, "cells", text->err));
    grid->offsets[0] = 0;
    for (int64_t i = 0; i < grid->n_cells; i++) {
        int64_t n = from < size ? cells[from] : -1;
        if (n < 0 || n > size - from - 1)
            return modal_text_fail(text, "cell %lld: number of points out of range, %lld", (long long)i,
                                   (long long)n);
        memmove(cells + to, cells + from + 1, (size_t)n * sizeof *cells);
        from += n + 1;
        to += n;
        grid->offsets[i + 1] = to;
    }
    if (from != size)
        return modal_text_fail(text, "size of the cells is %lld, they have %lld", (long long)size,
                               (long long)from);
    grid->n_connectivity = to;
done:
    return status;
}

static modal_status read_part_of_cells(vtk_reader *reader, const char *name, int64_t n,
                                       int64_t **values)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    const char *token;
    int64_t length;
    vtk_type type;
    modal_text_seek_token(text);
    MODAL_TRY(need_token(text, name, &token, &length));
    if (!modal_token_is(token, length, name)) return modal_text_fail(text, "%s expected", name);
    MODAL_TRY(read_type(text, &type));
    MODAL_TRY(modal_text_end_line(text));
    MODAL_TRY(read_new_array(reader, name, type, n, NULL, values));
done:
    return status;
}

static modal_status read_cells(vtk_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    vtk_grid *grid = &reader->grid;
    int64_t n, size;
    if (grid->connectivity) return modal_text_fail(text, "second section CELLS");
    MODAL_TRY(modal_text_integer(text, "number of cells", reader->surface && !reader->is_version_5 ? 0 : 1, INT32_MAX, &n));
    MODAL_TRY(modal_text_integer(text, "size of the cells", 0, INT64_MAX, &size));
    MODAL_TRY(modal_text_end_line(text));
    if (reader->is_version_5) {
        grid->n_cells = n - 1;
        grid->n_connectivity = size;
        MODAL_TRY(read_part_of_cells(reader, "OFFSETS", n, &grid->offsets));
        MODAL_TRY(read_part_of_cells(reader, "CONNECTIVITY", size, &grid->connectivity));
        if (grid->offsets[0] != 0) return modal_text_fail(text, "the first offset is not 0");
    } else {
        grid->n_cells = n;
        MODAL_TRY(read_new_array(reader, "cells", VTK_I32, size, NULL, &grid->connectivity));
        if (size < n) return modal_text_fail(text, "%lld numbers cannot be %lld cells", (long long)size, (long long)n);
        MODAL_TRY(split_cells(reader, grid->connectivity, size));
    }
done:
    return status;
}

static modal_status read_types(vtk_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    int64_t n;
    if (reader->grid.types) return modal_text_fail(text, "second section CELL_TYPES");
    if (!reader->grid.connectivity) return modal_text_fail(text, "CELL_TYPES in front of CELLS");
    MODAL_TRY(modal_text_integer(text, "number of cells", 0, INT32_MAX, &n));
    if (n != reader->grid.n_cells)
        return modal_text_fail(text, "%lld types for %lld cells", (long long)n,
                               (long long)reader->grid.n_cells);
    MODAL_TRY(modal_text_end_line(text));
    MODAL_TRY(read_new_array(reader, "types", VTK_I32, n, NULL, &reader->grid.types));
done:
    return status;
}

/* ---- polygons ---- */

/* A strip: each vertex from the third on is a triangle with the two before it, every second one turned round. */
static modal_status add_strip(vtk_reader *reader, const int64_t *corners, int64_t n)
{
    modal_status status = MODAL_OK;
    for (int64_t k = 0; k + 2 < n; k++) {
        const int64_t triangle[3] = {corners[k + k % 2], corners[k + 1 - k % 2], corners[k + 2]};
        /* a vertex twice joins two strips */
        if (triangle[0] == triangle[1] || triangle[1] == triangle[2] || triangle[2] == triangle[0]) continue;
        MODAL_TRY(modal_surface_builder_polygon(reader->surface, triangle, 3));
    }
done:
    return status;
}

/* VERTICES, LINES, POLYGONS or TRIANGLE_STRIPS; the first two only count. */
static modal_status read_polygons(vtk_reader *reader, int is_thin, int is_strip)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    vtk_grid *grid = &reader->grid;
    if (!grid->points) return modal_text_fail(text, "cells in front of POINTS");
    modal_free(&grid->connectivity);
    modal_free(&grid->offsets);
    MODAL_TRY(read_cells(reader));
    for (int64_t i = 0; i < grid->n_cells; i++)
        if (grid->offsets[i + 1] < grid->offsets[i] || grid->offsets[i + 1] > grid->n_connectivity)
            return modal_text_fail(text, "cell %lld: its end is out of range, %lld", (long long)i, (long long)grid->offsets[i + 1]);
    for (int64_t i = 0; i < grid->n_cells && !is_thin; i++) {
        const int64_t *corners = grid->connectivity + grid->offsets[i], n = grid->offsets[i + 1] - grid->offsets[i];
        text->subject = "polygon";
        text->number = i;
        MODAL_TRY(is_strip ? add_strip(reader, corners, n) : modal_surface_builder_polygon(reader->surface, corners, n));
    }
    text->subject = NULL;
    if (is_thin) reader->n_thin += grid->n_cells;
    reader->n_surface_cells += grid->n_cells;
done:
    return status;
}

/* The points are the surface's vertices, used or not. */
static modal_status add_vertices(vtk_reader *reader)
{
    modal_status status = MODAL_OK;
    for (int64_t i = 0; i < reader->grid.n_points; i++)
        MODAL_TRY(modal_surface_builder_vertex(reader->surface, reader->grid.points + 3 * i));
done:
    return status;
}

/* ---- data ---- */

/* An array of data: kept where it says what groups the cells are in. */
static modal_status read_data(vtk_reader *reader, const char *name, int64_t length, vtk_type type,
                              int64_t n_components, int64_t n_tuples)
{
    modal_status status = MODAL_OK;
    vtk_numbers *groups = &reader->grid.groups;
    int64_t n;
    if (!modal_size_multiply(n_components, n_tuples, &n))
        return modal_text_fail(&reader->text, "array too long");
    int keep = !reader->surface && reader->is_cell_data && n_components == 1 && n_tuples == reader->grid.n_cells &&
               reader->grid.n_cells > 0 && type < VTK_F32 && !groups->values &&
               vtk_names_groups(name, length);
    if (keep) {
        MODAL_TRY(modal_copy_text(&groups->name, name, (size_t)length, reader->text.err));
        MODAL_TRY(read_new_array(reader, "group", type, n, NULL, &groups->values));
    } else {
        MODAL_TRY(check_array(reader, "numbers", type, n));
        MODAL_TRY(read_array(reader, "number", type, n, NULL, NULL));
    }
done:
    return status;
}

/* Lines up to a blank one, names of components and so on. */
static void skip_metadata(modal_text *text)
{
    for (modal_text_skip_line(text); text->position < text->length; modal_text_skip_line(text)) {
        modal_text ahead = *text;
        const char *token;
        int64_t length;
        if (!modal_text_token(&ahead, &token, &length)) return;
    }
}

/* FIELD name n, then n arrays. */
static modal_status read_field(vtk_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    const char *name;
    int64_t length, n_arrays, n_components, n_tuples;
    vtk_type type;
    MODAL_TRY(need_token(text, "name of the field", &name, &length));
    MODAL_TRY(modal_text_integer(text, "number of arrays", 0, INT32_MAX, &n_arrays));
    MODAL_TRY(modal_text_end_line(text));
    for (int64_t i = 0; i < n_arrays; i++) {
        if (!modal_text_seek_token(text)) return modal_text_fail(text, "the file ends within a field");
        MODAL_TRY(need_token(text, "name of an array", &name, &length));
        if (modal_token_is(name, length, "METADATA")) { /* of the array in front of it */
            skip_metadata(text);
            i--;
            continue;
        }
        MODAL_TRY(modal_text_integer(text, "number of components", 1, INT32_MAX, &n_components));
        MODAL_TRY(modal_text_integer(text, "number of tuples", 0, INT32_MAX, &n_tuples));
        MODAL_TRY(read_type(text, &type));
        MODAL_TRY(modal_text_end_line(text));
        MODAL_TRY(read_data(reader, name, length, type, n_components, n_tuples));
    }
done:
    return status;
}

/* SCALARS name type [n], then LOOKUP_TABLE name. */
static modal_status read_scalars(vtk_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    const char *name, *token;
    int64_t length, token_length, n_components = 1;
    vtk_type type;
    MODAL_TRY(need_token(text, "name of the scalars", &name, &length));
    MODAL_TRY(read_type(text, &type));
    modal_text ahead = *text;
    if (modal_text_token(&ahead, &token, &token_length))
        MODAL_TRY(modal_text_integer(text, "number of components", 1, 4, &n_components));
    MODAL_TRY(modal_text_end_line(text));
    modal_text_seek_token(text);
    ahead = *text;
    if (modal_text_token(&ahead, &token, &token_length) &&
        modal_token_is(token, token_length, "LOOKUP_TABLE"))
        modal_text_skip_line(text);
    MODAL_TRY(read_data(reader, name, length, type, n_components, reader->n_data));
done:
    return status;
}

static modal_status read_tuples(vtk_reader *reader, int64_t n_components)
{
    modal_status status = MODAL_OK;
    const char *name;
    int64_t length;
    vtk_type type;
    MODAL_TRY(need_token(&reader->text, "name of the array", &name, &length));
    MODAL_TRY(read_type(&reader->text, &type));
    MODAL_TRY(modal_text_end_line(&reader->text));
    MODAL_TRY(read_data(reader, name, length, type, n_components, reader->n_data));
done:
    return status;
}

/* LOOKUP_TABLE name n: four numbers an entry, bytes in binary files, reals in text. */
static modal_status read_lookup_table(vtk_reader *reader)
{
    modal_status status = MODAL_OK;
    const char *name;
    int64_t length, n;
    vtk_type type = reader->is_binary ? VTK_U8 : VTK_F32;
    MODAL_TRY(need_token(&reader->text, "name of the table", &name, &length));
    MODAL_TRY(modal_text_integer(&reader->text, "number of colours", 0, INT32_MAX, &n));
    MODAL_TRY(modal_text_end_line(&reader->text));
    MODAL_TRY(check_array(reader, "colours", type, 4 * n));
    MODAL_TRY(read_array(reader, "colour", type, 4 * n, NULL, NULL));
done:
    return status;
}

static modal_status read_data_head(vtk_reader *reader, int is_cell_data)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    int64_t expected = !is_cell_data     ? reader->grid.n_points
                       : reader->surface ? reader->n_surface_cells
                                         : reader->grid.n_cells;
    MODAL_TRY(modal_text_integer(text, "number of values", 0, INT32_MAX, &reader->n_data));
    if (reader->n_data != expected)
        return modal_text_fail(text, "%lld values for %lld %s", (long long)reader->n_data,
                               (long long)expected, is_cell_data ? "cells" : "points");
    reader->is_cell_data = is_cell_data;
    MODAL_TRY(modal_text_end_line(text));
done:
    return status;
}

/* ---- the file ---- */

static modal_status read_section(vtk_reader *reader)
{
    modal_text *text = &reader->text;
    const char *token;
    int64_t length;
    char quoted[MODAL_QUOTE];
    modal_text_token(text, &token, &length);
    if (modal_token_is(token, length, "POINTS")) {
        const modal_status status = read_points(reader);
        return status == MODAL_OK && reader->surface ? add_vertices(reader) : status;
    }
    if (reader->surface && (modal_token_is(token, length, "VERTICES") || modal_token_is(token, length, "LINES")))
        return read_polygons(reader, 1, 0);
    if (reader->surface && modal_token_is(token, length, "POLYGONS")) return read_polygons(reader, 0, 0);
    if (reader->surface && modal_token_is(token, length, "TRIANGLE_STRIPS")) return read_polygons(reader, 0, 1);
    if (modal_token_is(token, length, "CELLS")) return read_cells(reader);
    if (modal_token_is(token, length, "CELL_TYPES")) return read_types(reader);
    if (modal_token_is(token, length, "CELL_DATA")) return read_data_head(reader, 1);
    if (modal_token_is(token, length, "POINT_DATA")) return read_data_head(reader, 0);
    if (modal_token_is(token, length, "FIELD")) return read_field(reader);
    if (modal_token_is(token, length, "SCALARS")) return read_scalars(reader);
    if (modal_token_is(token, length, "LOOKUP_TABLE")) return read_lookup_table(reader);
    if (modal_token_is(token, length, "VECTORS") || modal_token_is(token, length, "NORMALS"))
        return read_tuples(reader, 3);
    if (modal_token_is(token, length, "TENSORS")) return read_tuples(reader, 9);
    if (modal_token_is(token, length, "GLOBAL_IDS") || modal_token_is(token, length, "PEDIGREE_IDS"))
        return read_tuples(reader, 1);
    if (modal_token_is(token, length, "METADATA")) {
        skip_metadata(text);
        return MODAL_OK;
    }
    return modal_text_fail(text, "section '%s' is not supported", modal_quote(quoted, token, length));
}

static modal_status read_head(vtk_reader *reader)
{
    static const char mark[] = "# vtk DataFile Version ";
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    const char *token;
    int64_t length;
    double version;
    char quoted[MODAL_QUOTE];
    if (text->length - text->position < (int64_t)sizeof mark ||
        memcmp(text->data + text->position, mark, sizeof mark - 1) != 0)
        return modal_text_fail(text, "'# vtk DataFile Version' expected");
    text->position += (int64_t)sizeof mark - 1;
    MODAL_TRY(modal_text_real(text, "version", &version));
    if (!(version >= 1 && version < 6)) return modal_text_fail(text, "version %g is not supported", version);
    reader->is_version_5 = version >= 5;
    MODAL_TRY(modal_text_end_line(text));
    modal_text_skip_line(text); /* the title, whatever it is */
    modal_text_seek_token(text);
    MODAL_TRY(need_token(text, "ASCII or BINARY", &token, &length));
    reader->is_binary = modal_token_is_like(token, length, "BINARY");
    if (!reader->is_binary && !modal_token_is_like(token, length, "ASCII"))
        return modal_text_fail(text, "ASCII or BINARY expected, '%s'", modal_quote(quoted, token, length));
    MODAL_TRY(modal_text_end_line(text));
    modal_text_seek_token(text);
    MODAL_TRY(need_token(text, "DATASET", &token, &length));
    if (!modal_token_is(token, length, "DATASET")) return modal_text_fail(text, "DATASET expected");
    MODAL_TRY(need_token(text, "kind of the data set", &token, &length));
    const int is_surface = modal_token_is(token, length, "POLYDATA");
    if (is_surface && !reader->surface) return modal_text_fail(text, "the data set is a surface (POLYDATA), no volume mesh");
    if (!is_surface && (reader->surface || !modal_token_is(token, length, "UNSTRUCTURED_GRID")))
        return modal_text_fail(text, "data set %s is not supported, only %s", modal_quote(quoted, token, length),
                               reader->surface ? "POLYDATA" : "UNSTRUCTURED_GRID and POLYDATA");
    MODAL_TRY(modal_text_end_line(text));
done:
    return status;
}

static modal_status read_sections(vtk_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    MODAL_TRY(read_head(reader));
    text->binary = reader->is_binary; /* the lines of such a file say nothing */
    while (modal_text_seek_token(text)) MODAL_TRY(read_section(reader));
done:
    return status;
}

static modal_status read_file(vtk_reader *reader, modal_volume_mesh *mesh)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    MODAL_TRY(read_sections(reader));
    if (!reader->grid.points || !reader->grid.types)
        return modal_text_fail(text, "the file ends without %s",
                               !reader->grid.points         ? "POINTS"
                               : !reader->grid.connectivity ? "CELLS"
                                                            : "CELL_TYPES");
    MODAL_TRY(vtk_grid_finish(&reader->grid, text, mesh));
done:
    return status;
}

modal_status modal_vtk_parse(const char *data, int64_t length, const char *name,
                             modal_volume_mesh *mesh, modal_error *err)
{
    memset(mesh, 0, sizeof *mesh);
    vtk_reader reader = {0};
    modal_text_init(&reader.text, name, data, length, err);
    modal_status status = read_file(&reader, mesh);
    if (status == MODAL_ERROR_MEMORY) modal_error_context(err, "%s", name);
    vtk_grid_free(&reader.grid);
    if (status != MODAL_OK) modal_volume_mesh_free(mesh);
    return status;
}

modal_status modal_vtk_surface_parse(const char *data, int64_t length, const char *name, modal_surface_mesh *surface,
                                     int64_t *n_collapsed, modal_error *err)
{
    memset(surface, 0, sizeof *surface);
    modal_status status = MODAL_OK;
    vtk_reader reader = {0};
    modal_surface_builder builder = {.surface = surface, .text = &reader.text};
    reader.surface = &builder;
    modal_text_init(&reader.text, name, data, length, err);
    MODAL_TRY(read_sections(&reader));
    if (reader.n_thin > 0)
        MODAL_TRY(modal_notes_add(&surface->notes, err, "vertices and lines left out, %lld", (long long)reader.n_thin));
    MODAL_TRY(modal_surface_builder_finish(&builder, n_collapsed));
done:
    if (status == MODAL_ERROR_MEMORY) modal_error_context(err, "%s", name);
    vtk_grid_free(&reader.grid);
    if (status != MODAL_OK) modal_surface_mesh_free(surface);
    return status;
}
