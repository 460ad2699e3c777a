/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/meshes/obj.h"

#include <string.h>

#include "formats/meshes/mesh_parse.h"
#include "formats/meshes/surface_builder.h"
#include "formats/meshes/text_reader.h"
#include "lib/base/memory.h"
#include "lib/base/point_table.h"

enum { VERTEX, UV, NORMAL, KINDS };
static const char *const kind_names[KINDS] = {"vertex", "texture vertex", "normal"};

typedef struct obj_reader {
    modal_text text;
    modal_surface_mesh *surface;
    int64_t vertex_capacity, uv_capacity, normal_capacity, triangle_capacity, triangle_uv_capacity, triangle_normal_capacity, library_capacity;
    int64_t counts[KINDS]; /* vertices, texture vertices and normals so far */
    /* A face may name what comes after it: the greatest number named, and where, for the end. */
    int64_t greatest[KINDS], greatest_line[KINDS];
    int64_t n_faces, n_faces_with_uv, n_faces_with_normals;
    double *normals;        /* [counts[NORMAL], 3] as long as they are numbers */
    int64_t no_normal_line; /* the first vn that is not three finite numbers, 0: none */
    modal_surface_builder parts; /* for names, and triangles with one vertex twice */
    /* The vertices of the face being read, to find repeats. */
    int64_t *corners;
    int64_t corner_capacity;
} obj_reader;

static modal_status read_vertex(obj_reader *reader)
{
    static const char *const names[3] = {"x coordinate", "y coordinate", "z coordinate"};
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    modal_surface_mesh *surface = reader->surface;
    double *position, extra;
    const char *token;
    int64_t length;
    MODAL_TRY(modal_grow(&surface->positions, &reader->vertex_capacity, surface->n_vertices + 1,
                         3 * sizeof *surface->positions, "vertices", text->err));
    position = surface->positions + 3 * surface->n_vertices;
    for (int i = 0; i < 3; i++) MODAL_TRY(modal_text_real(text, names[i], &position[i]));
    int n_extra = 0;
    for (;; n_extra++) {
        modal_text ahead = *text;
        if (!modal_text_token(&ahead, &token, &length)) break;
        MODAL_TRY(modal_text_real(text, "weight or colour", &extra));
    }
    if (n_extra == 2 || n_extra > 4) {
        status = modal_text_fail(text, "vertex of %d numbers, 3, 4, 6 or 7 expected", 3 + n_extra);
        goto done;
    }
    if (surface->n_vertices == INT32_MAX) {
        status = modal_text_fail(text, "more than %d vertices", INT32_MAX);
        goto done;
    }
    reader->counts[VERTEX] = ++surface->n_vertices;
done:
    return status;
}

static modal_status read_uv(obj_reader *reader)
{
    static const char *const names[3] = {"u", "v", "w"};
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    modal_surface_mesh *surface = reader->surface;
    double uv[3] = {0};
    const char *token;
    int64_t length;
    for (int i = 0; i < 3; i++) {
        modal_text ahead = *text;
        if (i > 0 && !modal_text_token(&ahead, &token, &length)) break;
        MODAL_TRY(modal_text_real(text, names[i], &uv[i]));
    }
    if (surface->n_uv == INT32_MAX) {
        status = modal_text_fail(text, "more than %d texture vertices", INT32_MAX);
        goto done;
    }
    MODAL_TRY(modal_grow(&surface->uv, &reader->uv_capacity, surface->n_uv + 1,
                         2 * sizeof *surface->uv, "texture vertices", text->err));
    memcpy(surface->uv + 2 * surface->n_uv, uv, 2 * sizeof *uv);
    reader->counts[UV] = ++surface->n_uv;
done:
    return status;
}

/* What many exporters write for a face without area, nan among it, is no reason to refuse a surface: it loses its normals. */
static modal_status read_normal(obj_reader *reader)
{
    modal_text *text = &reader->text;
    double normal[3];
    const char *token;
    int64_t length;
    for (int i = 0; i < 3 && reader->no_normal_line == 0; i++)
        if (!modal_text_token(text, &token, &length) || modal_parse_real(token, length, &normal[i]) != MODAL_NUMBER_OK)
            reader->no_normal_line = text->line;
    while (modal_text_token(text, &token, &length)) continue;
    if (reader->no_normal_line == 0 && reader->counts[NORMAL] < INT32_MAX) {
        const modal_status status = modal_grow(&reader->normals, &reader->normal_capacity, reader->counts[NORMAL] + 1,
                                               3 * sizeof *reader->normals, "normals", text->err);
        if (status != MODAL_OK) return status;
        memcpy(reader->normals + 3 * reader->counts[NORMAL], normal, sizeof normal);
    }
    reader->counts[NORMAL]++;
    return MODAL_OK;
}

/* One number of a corner, from 1 or backwards from -1, as an index. */
static modal_status resolve(obj_reader *reader, int kind, const char *token, int64_t length,
                            int32_t *index)
{
    char quoted[MODAL_QUOTE];
    const modal_text *text = &reader->text;
    int64_t number;
    modal_number result = modal_parse_integer(token, length, &number);
    modal_quote(quoted, token, length);
    if (result == MODAL_NUMBER_MALFORMED)
        return modal_text_fail(text, "%s number is not a whole number, '%s'", kind_names[kind],
                               quoted);
    if (result != MODAL_NUMBER_OK || number == 0 || number > INT32_MAX ||
        number < -reader->counts[kind])
        return modal_text_fail(text, "%s number out of range, %s", kind_names[kind], quoted);
    if (number > reader->greatest[kind]) {
        reader->greatest[kind] = number;
        reader->greatest_line[kind] = text->line;
    }
    *index = (int32_t)(number > 0 ? number - 1 : reader->counts[kind] + number);
    return MODAL_OK;
}

/* v, v/vt, v//vn or v/vt/vn, where what follows a slash may be missing; *form has a bit for each kind that is there. */
static modal_status read_corner(obj_reader *reader, const char *token, int64_t length,
                                int32_t indices[KINDS], int *form)
{
    modal_status status = MODAL_OK;
    char quoted[MODAL_QUOTE];
    const char *end = token + length, *part = token;
    *form = 0;
    for (int kind = 0;; kind++) {
        const char *slash = memchr(part, '/', (size_t)(end - part));
        const char *part_end = slash ? slash : end;
        int may_be_empty = kind > VERTEX;
        if (kind == KINDS || (part == part_end && !may_be_empty)) {
            status = modal_text_fail(&reader->text, "corner is not v, v/vt, v//vn or v/vt/vn, '%s'",
                                     modal_quote(quoted, token, length));
            goto done;
        }
        if (part < part_end) {
            MODAL_TRY(resolve(reader, kind, part, part_end - part, &indices[kind]));
            *form |= 1 << kind;
        }
        if (!slash) break;
        part = slash + 1;
    }
done:
    return status;
}

/* Three numbers a triangle; gaps in the array of what some faces do not have do not matter: such an array is not kept. */
static modal_status put_numbers(const obj_reader *reader, int32_t **to, int64_t *capacity, const int32_t corners[3][KINDS], int kind)
{
    const int64_t n = reader->surface->n_triangles;
    const modal_status status = modal_grow(to, capacity, n + 1, 3 * sizeof **to, "triangles", reader->text.err);
    for (int k = 0; k < 3 && status == MODAL_OK; k++) (*to)[3 * n + k] = corners[k][kind];
    return status;
}

static modal_status add_triangle(obj_reader *reader, const int32_t corners[3][KINDS], int form)
{
    modal_status status = MODAL_OK;
    modal_surface_mesh *surface = reader->surface;
    MODAL_TRY(put_numbers(reader, &surface->triangles, &reader->triangle_capacity, corners, VERTEX));
    if (form & 1 << UV) MODAL_TRY(put_numbers(reader, &surface->triangle_uv, &reader->triangle_uv_capacity, corners, UV));
    if (form & 1 << NORMAL) MODAL_TRY(put_numbers(reader, &surface->triangle_normal, &reader->triangle_normal_capacity, corners, NORMAL));
    surface->n_triangles++;
done:
    return status;
}

static modal_status read_face(obj_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    const char *token;
    int64_t length, n_corners = 0, surface_before = reader->surface->n_triangles;
    int form = 0, first_form = 0;
    int32_t of[3][KINDS] = {0}; /* the first corner, the one before, this one */
    while (modal_text_token(text, &token, &length)) {
        int32_t indices[KINDS] = {0};
        MODAL_TRY(read_corner(reader, token, length, indices, &form));
        if (n_corners == 0) first_form = form;
        if (form != first_form) {
            status = modal_text_fail(text, "corners of one face are not alike");
            goto done;
        }
        /* Polygons have few corners; a table would cost more than it saves. */
        MODAL_TRY(modal_grow(&reader->corners, &reader->corner_capacity, n_corners + 1,
                             sizeof *reader->corners, "corners of a face", text->err));
        reader->corners[n_corners] = indices[VERTEX];
        memcpy(of[n_corners == 0 ? 0 : 2], indices, sizeof indices);
        if (++n_corners >= 3) {
            if (of[0][VERTEX] == of[1][VERTEX] || of[0][VERTEX] == of[2][VERTEX] || of[1][VERTEX] == of[2][VERTEX])
                reader->parts.n_collapsed++;
            else
                MODAL_TRY(add_triangle(reader, of, form));
        }
        memcpy(of[1], indices, sizeof indices);
    }
    if (n_corners < 3) {
        status = modal_text_fail(text, "face of %lld corners", (long long)n_corners);
        goto done;
    }
    MODAL_TRY(modal_surface_builder_check_repeats(&reader->parts, reader->corners, n_corners));
    reader->n_faces++;
    if (reader->surface->n_triangles > surface_before)
        MODAL_TRY(modal_surface_builder_mark(&reader->parts, surface_before));
    if (form & 1 << UV) reader->n_faces_with_uv++;
    if (form & 1 << NORMAL) reader->n_faces_with_normals++;
done:
    return status;
}

static int is_one_of(const char *token, int64_t length, const char *const *words)
{
    for (; *words; words++)
        if (modal_token_is(token, length, *words)) return 1;
    return 0;
}

/* From the first token that is left on the line to the end of the last one: names may have blanks. */
static void rest_of_line(modal_text *text, const char **rest, int64_t *length)
{
    const char *token;
    int64_t n;
    *length = 0;
    if (modal_text_token(text, rest, length))
        while (modal_text_token(text, &token, &n)) *length = token + n - *rest;
}

static modal_status read_library(obj_reader *reader, const char *name, int64_t length)
{
    enum { MOST = 100, BYTES = 4096 };
    modal_status status = MODAL_OK;
    modal_surface_mesh *surface = reader->surface;
    modal_error *err = reader->text.err;
    if (length == 0 || length > BYTES || surface->n_libraries == MOST || memchr(name, '\0', (size_t)length)) return MODAL_OK;
    MODAL_TRY(modal_grow(&surface->libraries, &reader->library_capacity, surface->n_libraries + 1, sizeof *surface->libraries,
                         "names", err));
    MODAL_TRY(modal_copy_text(&surface->libraries[surface->n_libraries], name, (size_t)length, err));
    surface->n_libraries++;
done:
    return status;
}

/* What follows usemtl and mtllib. */
static modal_status read_usemtl(obj_reader *reader)
{
    const char *name;
    int64_t length;
    rest_of_line(&reader->text, &name, &length);
    return modal_surface_builder_name(&reader->parts, MODAL_NAMES_MATERIALS, name, length);
}

static modal_status read_mtllib(obj_reader *reader)
{
    const char *name;
    int64_t length;
    rest_of_line(&reader->text, &name, &length);
    return read_library(reader, name, length);
}

static modal_status read_line(obj_reader *reader)
{
    static const char *const ignored[] = {
        "vp",       "o",      "s",          "mg",        "l",
        "p",        "usemtl",   "mtllib", "usemap",     "maplib",    "bevel",
        "c_interp", "d_interp", "lod",    "shadow_obj", "trace_obj", NULL};
    static const char *const free_form[] = {
        "cstype", "deg", "bmat", "step", "curv",  "curv2", "surf", "parm", "trim", "hole",
        "scrv",   "sp",  "end",  "con",  "ctech", "stech", "call", "csh",  NULL};
    modal_text *text = &reader->text;
    const char *token;
    int64_t length;
    char quoted[MODAL_QUOTE];
    modal_status status = MODAL_OK;
    modal_text_token(text, &token, &length);
    if (modal_token_is(token, length, "v"))
        status = read_vertex(reader);
    else if (modal_token_is(token, length, "vt"))
        status = read_uv(reader);
    else if (modal_token_is(token, length, "f"))
        status = read_face(reader);
    else if (modal_token_is(token, length, "g")) {
        /* The first of several names. */
        int has_name = modal_text_token(text, &token, &length);
        status = modal_surface_builder_name(&reader->parts, MODAL_NAMES_PARTS, token, has_name ? length : 0);
        while (modal_text_token(text, &token, &length)) continue;
    } else if (modal_token_is(token, length, "usemtl"))
        status = read_usemtl(reader);
    else if (modal_token_is(token, length, "mtllib"))
        status = read_mtllib(reader);
    else if (modal_token_is(token, length, "vn"))
        status = read_normal(reader);
    else if (is_one_of(token, length, ignored)) {
        while (modal_text_token(text, &token, &length)) continue;
    } else
        status = modal_text_fail(text, "%s keyword, '%s'",
                                 is_one_of(token, length, free_form) ? "unsupported" : "unknown",
                                 modal_quote(quoted, token, length));
    return status == MODAL_OK ? modal_text_end_line(text) : status;
}

/* Numbers of normals that every face has become numbers of equal ones, in the order of their first corners. */
static modal_status keep_normals(obj_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_surface_mesh *surface = reader->surface;
    modal_error *err = reader->text.err;
    const int64_t n = reader->counts[NORMAL];
    modal_point_table table = {0};
    int32_t *number = NULL, next = 0;
    if (reader->n_faces_with_normals < reader->n_faces || reader->greatest[NORMAL] > n || reader->no_normal_line > 0 || n > INT32_MAX) {
        if (reader->n_faces_with_normals > 0 && reader->no_normal_line > 0)
            MODAL_TRY(modal_notes_add(&surface->notes, err, "the vn of line %lld is not three finite numbers; the surface keeps no normals",
                                      (long long)reader->no_normal_line));
        modal_free(&surface->triangle_normal);
        goto done;
    }
    MODAL_TRY(modal_alloc(&number, n, sizeof *number, "normals", err));
    for (int64_t i = 0; i < n; i++) number[i] = -1;
    for (int64_t c = 0; c < 3 * surface->n_triangles; c++) {
        const int32_t own = surface->triangle_normal[c];
        int32_t equal;
        if (number[own] < 0) {
            MODAL_TRY(modal_point_table_add(&table, reader->normals, own, &equal, err));
            number[own] = equal < 0 ? next++ : number[equal];
        }
        surface->triangle_normal[c] = number[own];
    }
done:
    modal_point_table_free(&table);
    modal_free(&number);
    return status;
}

static modal_status finish(obj_reader *reader, int64_t *n_collapsed)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    modal_surface_mesh *surface = reader->surface;
    if (reader->greatest[VERTEX] > reader->counts[VERTEX]) {
        text->line = reader->greatest_line[VERTEX];
        return modal_text_fail(text, "%s number out of range, %lld of %lld", kind_names[VERTEX],
                               (long long)reader->greatest[VERTEX], (long long)reader->counts[VERTEX]);
    }
    MODAL_TRY(modal_surface_builder_finish(&reader->parts, n_collapsed));
    /* Where files were put together, v counts on and vt begins anew: what a number means is then lost. */
    for (int kind = UV; kind < KINDS; kind++)
        if (reader->greatest[kind] > reader->counts[kind])
            MODAL_TRY(modal_notes_add(&surface->notes, text->err, "%s numbers beyond the %lld that are there are left out, "
                                      "the greatest is %lld in line %lld%s", kind_names[kind], (long long)reader->counts[kind],
                                      (long long)reader->greatest[kind], (long long)reader->greatest_line[kind],
                                      kind == UV ? "; the surface has no texture coordinates" : ""));
    if (reader->n_faces_with_uv < reader->n_faces || reader->greatest[UV] > reader->counts[UV]) {
        modal_free(&surface->uv);
        modal_free(&surface->triangle_uv);
        surface->n_uv = 0;
    }
    MODAL_TRY(keep_normals(reader));
done:
    return status;
}

/* The reader's parts point into it. */
static void begin(obj_reader *reader, const char *data, int64_t length, const char *name, modal_surface_mesh *surface, modal_error *err)
{
    memset(surface, 0, sizeof *surface);
    *reader = (obj_reader){.surface = surface};
    reader->parts = (modal_surface_builder){.surface = surface, .text = &reader->text, .first_number = 1};
    while (length > 0 && data[length - 1] == '\0') length--; /* some exporters end the text as C does */
    modal_text_init(&reader->text, name, data, length, err);
    reader->text.comments = 1;
    reader->text.continuations = 1;
}

/* Steps over a line that is not looked at, with those that it is joined to. */
static void pass_line(modal_text *text)
{
    const char *from = text->data + text->position, *token;
    const char *newline = memchr(from, '\n', (size_t)(text->length - text->position)), *end = newline;
    int64_t length;
    if (end && end > from && end[-1] == '\r') end--;
    if (end && end > from && end[-1] == '\\')
        while (modal_text_token(text, &token, &length)) continue;
    modal_text_skip_line(text);
}

modal_status modal_obj_parse_names(const char *data, int64_t length, const char *name, modal_surface_mesh *surface, modal_error *err)
{
    modal_status status = MODAL_OK;
    obj_reader reader;
    modal_text *text = &reader.text;
    begin(&reader, data, length, name, surface, err);
    while (text->position < text->length) {
        while (text->position < text->length && (text->data[text->position] == ' ' || text->data[text->position] == '\t')) text->position++;
        const char first = text->position < text->length ? text->data[text->position] : '\n';
        const char *token;
        int64_t n;
        if (first != 'u' && first != 'm') {
            pass_line(text);
            continue;
        }
        modal_text_token(text, &token, &n);
        if (modal_token_is(token, n, "usemtl")) MODAL_TRY(read_usemtl(&reader));
        if (modal_token_is(token, n, "mtllib")) MODAL_TRY(read_mtllib(&reader));
        while (modal_text_token(text, &token, &n)) continue;
        modal_text_skip_line(text);
    }
done:
    if (status == MODAL_ERROR_MEMORY) modal_error_context(err, "%s", name);
    if (status != MODAL_OK) modal_surface_mesh_free(surface);
    return status;
}

modal_status modal_obj_parse(const char *data, int64_t length, const char *name,
                             modal_surface_mesh *surface, int64_t *n_collapsed, modal_error *err)
{
    modal_status status = MODAL_OK;
    obj_reader reader;
    begin(&reader, data, length, name, surface, err);
    while (modal_text_seek_token(&reader.text)) MODAL_TRY(read_line(&reader));
    MODAL_TRY(finish(&reader, n_collapsed));
done:
    if (status == MODAL_ERROR_MEMORY) modal_error_context(err, "%s", name);
    modal_free(&reader.corners);
    modal_free(&reader.normals);
    if (status != MODAL_OK) modal_surface_mesh_free(surface);
    return status;
}
