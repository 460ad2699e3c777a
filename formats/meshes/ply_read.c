/* SPDX-License-Identifier: Apache-2.0 */
/* Surfaces in the Polygon File Format, text and binary of both byte orders (Turk, "The PLY Polygon
 * File Format", 1994). */
#include <math.h>
#include <string.h>

#include "formats/meshes/mesh_parse.h"
#include "formats/meshes/surface_builder.h"
#include "lib/base/memory.h"

typedef enum ply_type { NONE, I8, U8, I16, U16, I32, U32, F32, F64 } ply_type;
static const int type_bytes[] = {0, 1, 1, 2, 2, 4, 4, 4, 8};
static const struct {
    const char *name;
    ply_type type;
} type_names[] = {{"char", I8},   {"int8", I8},    {"uchar", U8},    {"uint8", U8},
                  {"short", I16}, {"int16", I16},  {"ushort", U16},  {"uint16", U16},
                  {"int", I32},   {"int32", I32},  {"uint", U32},    {"uint32", U32},
                  {"float", F32}, {"float32", F32}, {"double", F64}, {"float64", F64}};

/* What a property is good for here. */
typedef enum ply_role { OTHER, X, Y, Z, U, V, RED, GREEN, BLUE, ALPHA, CORNERS, N_ROLES } ply_role;

typedef struct ply_property {
    ply_type count_type; /* of a list, else NONE */
    ply_type type;
    ply_role role;
} ply_property;

typedef struct ply_element {
    enum { SOMETHING, VERTEX, FACE, STRIPS } kind;
    int64_t count, first_property, n_properties;
    int roles; /* a bit for each role that it has */
} ply_element;

typedef struct ply_reader {
    modal_text text;
    modal_surface_builder builder;
    enum { TEXT, LITTLE, BIG } encoding;
    ply_property *properties;
    int64_t n_properties, property_capacity;
    ply_element *elements;
    int64_t n_elements, element_capacity;
    int64_t uv_capacity, colour_capacity;
    int64_t strip[2], n_strip; /* the last two corners of the strip being read, and how many it has had */
} ply_reader;

/* ---- head ---- */

static modal_status read_type(modal_text *text, ply_type *type)
{
    const char *token;
    int64_t length;
    char quoted[MODAL_QUOTE];
    if (!modal_text_token(text, &token, &length))
        return modal_text_fail(text, "type of a property missing");
    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++)
        if (modal_token_is(token, length, type_names[i].name)) {
            *type = type_names[i].type;
            return MODAL_OK;
        }
    return modal_text_fail(text, "unknown type of a property, '%s'",
                           modal_quote(quoted, token, length));
}

static ply_role find_role(int kind, const char *name, int64_t length, int is_list)
{
    static const struct {
        const char *name;
        ply_role role;
    } roles[] = {{"x", X}, {"y", Y}, {"z", Z}, {"s", U}, {"u", U}, {"texture_u", U},
                 {"t", V}, {"v", V}, {"texture_v", V}, {"red", RED}, {"green", GREEN}, {"blue", BLUE}, {"alpha", ALPHA}};
    if (kind >= FACE && is_list && (modal_token_is(name, length, "vertex_indices") ||
                                    modal_token_is(name, length, "vertex_index")))
        return CORNERS;
    for (size_t i = 0; i < sizeof roles / sizeof *roles && kind == VERTEX && !is_list; i++)
        if (modal_token_is(name, length, roles[i].name)) return roles[i].role;
    return OTHER;
}

static modal_status read_property(ply_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    ply_property property = {0};
    const char *token;
    int64_t length;
    if (reader->n_elements == 0) return modal_text_fail(text, "property in front of every element");
    ply_element *element = &reader->elements[reader->n_elements - 1];
    modal_text ahead = *text;
    if (modal_text_token(&ahead, &token, &length) && modal_token_is(token, length, "list")) {
        modal_text_token(text, &token, &length);
        MODAL_TRY(read_type(text, &property.count_type));
        if (property.count_type >= F32)
            return modal_text_fail(text, "length of a list that is no whole number");
    }
    MODAL_TRY(read_type(text, &property.type));
    if (!modal_text_token(text, &token, &length))
        return modal_text_fail(text, "name of a property missing");
    property.role = find_role(element->kind, token, length, property.count_type != NONE);
    if (property.role != OTHER && element->roles & 1 << property.role) {
        char quoted[MODAL_QUOTE];
        return modal_text_fail(text, "second property %s", modal_quote(quoted, token, length));
    }
    if (property.role == CORNERS && property.type >= F32)
        return modal_text_fail(text, "vertex numbers that are no whole numbers");
    MODAL_TRY(modal_grow(&reader->properties, &reader->property_capacity, reader->n_properties + 1,
                         sizeof property, "properties", text->err));
    element->roles |= 1 << property.role;
    element->n_properties++;
    reader->properties[reader->n_properties++] = property;
done:
    return status;
}

static modal_status read_element_line(ply_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    ply_element element = {.first_property = reader->n_properties};
    const char *token;
    int64_t length;
    if (!modal_text_token(text, &token, &length))
        return modal_text_fail(text, "name of an element missing");
    element.kind = modal_token_is(token, length, "vertex") ? VERTEX
                   : modal_token_is(token, length, "face") ? FACE
                   : modal_token_is(token, length, "tristrips") ? STRIPS
                                                                : SOMETHING;
    for (int64_t i = 0; i < reader->n_elements; i++) {
        if (element.kind != SOMETHING && reader->elements[i].kind == element.kind)
            return modal_text_fail(text, "second element of that name");
    }
    MODAL_TRY(modal_text_integer(text, "number of elements", 0, INT32_MAX, &element.count));
    MODAL_TRY(modal_grow(&reader->elements, &reader->element_capacity, reader->n_elements + 1,
                         sizeof element, "elements", text->err));
    reader->elements[reader->n_elements++] = element;
done:
    return status;
}

static modal_status read_format(ply_reader *reader)
{
    modal_text *text = &reader->text;
    const char *token = "";
    int64_t length = 0;
    char quoted[MODAL_QUOTE];
    modal_text_token(text, &token, &length);
    if (modal_token_is(token, length, "ascii"))
        reader->encoding = TEXT;
    else if (modal_token_is(token, length, "binary_little_endian"))
        reader->encoding = LITTLE;
    else if (modal_token_is(token, length, "binary_big_endian"))
        reader->encoding = BIG;
    else
        return modal_text_fail(text, "unknown encoding, '%s'", modal_quote(quoted, token, length));
    if (!modal_text_token(text, &token, &length) || !modal_token_is(token, length, "1.0"))
        return modal_text_fail(text, "version of the format is not 1.0, '%s'",
                               modal_quote(quoted, token, length));
    return MODAL_OK;
}

static modal_status read_head(ply_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    const char *token;
    int64_t length;
    char quoted[MODAL_QUOTE];
    int has_format = 0;
    if (!modal_text_token(text, &token, &length) || !modal_token_is(token, length, "ply"))
        return modal_text_fail(text, "ply expected");
    MODAL_TRY(modal_text_end_line(text));
    for (;;) {
        if (!modal_text_seek_token(text))
            return modal_text_fail(text, "the file ends, end_header expected");
        modal_text_token(text, &token, &length);
        if (modal_token_is(token, length, "end_header")) break;
        if (modal_token_is(token, length, "comment") || modal_token_is(token, length, "obj_info")) {
            modal_text_skip_line(text);
            continue;
        }
        if (modal_token_is(token, length, "format")) {
            if (has_format++) return modal_text_fail(text, "second line format");
            MODAL_TRY(read_format(reader));
        } else if (modal_token_is(token, length, "element"))
            MODAL_TRY(read_element_line(reader));
        else if (modal_token_is(token, length, "property"))
            MODAL_TRY(read_property(reader));
        else
            return modal_text_fail(text, "unknown word in the head, '%s'",
                                   modal_quote(quoted, token, length));
        MODAL_TRY(modal_text_end_line(text));
    }
    if (!has_format) return modal_text_fail(text, "no line format in the head");
    if (!modal_text_line_is_ended(text)) return modal_text_fail(text, "the file ends after its head");
    MODAL_TRY(modal_text_end_line(text));
done:
    return status;
}

/* What the head promises: vertices with x, y, z in front of faces with corners. */
static modal_status check_head(const ply_reader *reader)
{
    const modal_text *text = &reader->text;
    int vertices = -1, faces = -1; /* the first element that has triangles */
    for (int i = 0; i < reader->n_elements; i++) {
        const ply_element *element = &reader->elements[i];
        if (element->n_properties == 0 && element->count > 0)
            return modal_text_fail(text, "element without properties");
        if (element->kind == VERTEX) vertices = i;
        if (element->kind >= FACE && faces < 0) faces = i;
        if (element->kind >= FACE && !(element->roles & 1 << CORNERS))
            return modal_text_fail(text, "%s without vertex_indices", element->kind == FACE ? "faces" : "strips");
    }
    if (vertices < 0 || faces < 0)
        return modal_text_fail(text, "no element %s", vertices < 0 ? "vertex" : "face");
    if (faces < vertices) return modal_text_fail(text, "faces in front of the vertices");
    for (int role = X; role <= Z; role++)
        if (!(reader->elements[vertices].roles & 1 << role))
            return modal_text_fail(text, "vertices without %c", "xyz"[role - X]);
    return MODAL_OK;
}

/* ---- data ---- */

static double load_value(const char *data, ply_type type, int swap)
{
    union {
        unsigned char bytes[8];
        int8_t i8;
        uint8_t u8;
        int16_t i16;
        uint16_t u16;
        int32_t i32;
        uint32_t u32;
        float f32;
        double f64;
    } value;
    int n = type_bytes[type];
    for (int i = 0; i < n; i++) value.bytes[i] = (unsigned char)data[swap ? n - 1 - i : i];
    switch (type) {
    case I8: return value.i8;
    case U8: return value.u8;
    case I16: return value.i16;
    case U16: return value.u16;
    case I32: return value.i32;
    case U32: return value.u32;
    case F32: return value.f32;
    default: return value.f64;
    }
}

/* One number, which fits its type. */
static modal_status read_value(ply_reader *reader, ply_type type, const char *what, double *value)
{
    static const double least[] = {0, -128, 0, -32768, 0, -2147483648.0, 0},
                        most[] = {0, 127, 255, 32767, 65535, 2147483647.0, 4294967295.0};
    modal_text *text = &reader->text;
    if (reader->encoding == TEXT) {
        int64_t whole;
        if (type >= F32) return modal_text_real(text, what, value);
        modal_status status =
            modal_text_integer(text, what, (int64_t)least[type], (int64_t)most[type], &whole);
        *value = (double)whole;
        return status;
    }
    text->at = text->position;
    if (text->length - text->position < type_bytes[type])
        return modal_text_fail(text, "the file ends, %s expected", what);
    *value = load_value(text->data + text->position, type, reader->encoding == BIG);
    text->position += type_bytes[type];
    if (!isfinite(*value)) return modal_text_fail(text, "NaN or infinite %s", what);
    return MODAL_OK;
}

/* A strip is a list of vertices of which each, with the two before it, is a triangle, every second one turned round;
 * a negative number begins the next strip (the Stanford scans). Triangles with one vertex twice join two strips. */
static modal_status add_to_strip(ply_reader *reader, int64_t corner)
{
    modal_status status = MODAL_OK;
    const int64_t a = reader->strip[0], b = reader->strip[1];
    if (corner < 0) {
        reader->n_strip = 0;
        return MODAL_OK;
    }
    if (reader->n_strip >= 2 && a != b && b != corner && a != corner)
        status = modal_surface_builder_polygon(
            &reader->builder, reader->n_strip % 2 ? (int64_t[]){b, a, corner} : (int64_t[]){a, b, corner}, 3);
    else if (corner >= reader->builder.surface->n_vertices)
        status = modal_text_fail(&reader->text, "vertex number out of range, %lld of %lld", (long long)corner,
                                 (long long)reader->builder.surface->n_vertices);
    reader->strip[0] = b;
    reader->strip[1] = corner;
    reader->n_strip++;
    return status;
}

/* `kind` is that of the element. */
static modal_status read_list(ply_reader *reader, int kind, const ply_property *property, int64_t *corners,
                              int64_t *n_corners)
{
    modal_status status = MODAL_OK;
    const int is_face = kind == FACE && property->role == CORNERS, is_strip = kind == STRIPS && property->role == CORNERS;
    double count, value = 0;
    reader->n_strip = 0;
    MODAL_TRY(read_value(reader, property->count_type, "length of a list", &count));
    if (count < 0 || (is_face && count > MODAL_POLYGON_CORNERS))
        return modal_text_fail(&reader->text, "length of a list out of range, %.0f", count);
    for (int64_t i = 0; i < (int64_t)count; i++) {
        MODAL_TRY(read_value(reader, property->type, is_face || is_strip ? "vertex number" : "item of a list",
                             &value));
        if (is_face) corners[i] = (int64_t)value;
        if (is_strip) MODAL_TRY(add_to_strip(reader, (int64_t)value));
    }
    if (is_face) *n_corners = (int64_t)count;
done:
    return status;
}

static int has_colours(const ply_element *element)
{
    return element->kind == VERTEX && element->roles & 1 << RED && element->roles & 1 << GREEN && element->roles & 1 << BLUE;
}

/* Of bytes as they are, of floats 0 to 1; other types have no colours. */
static modal_status add_colour(ply_reader *reader, const ply_element *element, const double values[N_ROLES])
{
    modal_status status = MODAL_OK;
    modal_surface_mesh *surface = reader->builder.surface;
    double scale[N_ROLES] = {0};
    for (int64_t i = 0; i < element->n_properties; i++) {
        const ply_property *property = &reader->properties[element->first_property + i];
        scale[property->role] = property->type == U8 ? 1 : property->type >= F32 ? 255 : 0;
        if (property->role >= RED && property->role <= ALPHA && scale[property->role] == 0) return MODAL_OK;
    }
    const int64_t at = 4 * (surface->n_vertices - 1);
    int clamped = 0;
    MODAL_TRY(modal_grow(&surface->colours, &reader->colour_capacity, at + 4, 1, "colours", reader->text.err));
    for (int k = 0; k < 4; k++) {
        const double value = k == 3 && scale[ALPHA] == 0 ? 255 : scale[RED + k] * values[RED + k];
        surface->colours[at + k] = (uint8_t)lrint(value < 0 ? 0 : value > 255 ? 255 : value);
        clamped |= value < -0.5 || value > 255.5; /* less is rounding */
    }
    surface->n_clamped += clamped;
done:
    return status;
}

static modal_status read_instance(ply_reader *reader, const ply_element *element)
{
    static const char *const names[N_ROLES] = {"property",     "x coordinate", "y coordinate",
                                               "z coordinate", "u",            "v",
                                               "red",          "green",        "blue",
                                               "alpha",        "vertex number"};
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    modal_surface_mesh *surface = reader->builder.surface;
    int64_t corners[MODAL_POLYGON_CORNERS], n_corners = 0;
    double values[N_ROLES] = {0};
    for (int64_t i = 0; i < element->n_properties; i++) {
        const ply_property *property = &reader->properties[element->first_property + i];
        if (property->count_type != NONE)
            MODAL_TRY(read_list(reader, (int)element->kind, property, corners, &n_corners));
        else
            MODAL_TRY(read_value(reader, property->type, names[property->role],
                                 &values[property->role]));
    }
    if (element->kind == VERTEX) {
        MODAL_TRY(modal_surface_builder_vertex(&reader->builder, values + X));
        if (element->roles & 1 << U && element->roles & 1 << V) {
            MODAL_TRY(modal_grow(&surface->uv, &reader->uv_capacity, surface->n_uv + 1,
                                 2 * sizeof *surface->uv, "texture vertices", text->err));
            memcpy(surface->uv + 2 * surface->n_uv++, values + U, 2 * sizeof *values);
        }
    }
    if (has_colours(element)) MODAL_TRY(add_colour(reader, element, values));
    if (element->kind == FACE)
        MODAL_TRY(modal_surface_builder_polygon(&reader->builder, corners, n_corners));
    if (reader->encoding == TEXT) MODAL_TRY(modal_text_end_line(text));
done:
    return status;
}

/* ---- the usual binary files: vertices of float, faces of uchar and int ---- */

static int32_t load_index(const char *data)
{
    int32_t value;
    memcpy(&value, data, sizeof value);
    return value;
}

/* Reads vertices from `text->position` on up to one that read_instance has to look at; their number. */
static modal_status read_plain_vertices(ply_reader *reader, const ply_element *element, int64_t most, int64_t *n)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    modal_surface_mesh *surface = reader->builder.surface;
    const ply_property *properties = reader->properties + element->first_property;
    const int64_t stride = 4 * element->n_properties;
    int64_t place[3] = {0};
    for (int64_t i = 0; i < element->n_properties; i++) {
        if (properties[i].type != F32 || properties[i].count_type != NONE) return MODAL_OK;
        if (properties[i].role >= X && properties[i].role <= Z) place[properties[i].role - X] = 4 * i;
    }
    if ((text->length - text->position) / stride < most) most = (text->length - text->position) / stride;
    MODAL_TRY(modal_grow(&surface->positions, &reader->builder.vertex_capacity, surface->n_vertices + most,
                         3 * sizeof *surface->positions, "vertices", text->err));
    for (; *n < most; (*n)++) {
        const char *vertex = text->data + text->position;
        double *to = surface->positions + 3 * surface->n_vertices;
        int finite = 1;
        for (int64_t i = 0; i < stride; i += 4) finite &= (load_index(vertex + i) & 0x7f800000) != 0x7f800000;
        if (!finite) break;
        for (int k = 0; k < 3; k++) {
            float value;
            memcpy(&value, vertex + place[k], sizeof value);
            to[k] = (double)value;
        }
        surface->n_vertices++;
        text->position += stride;
    }
done:
    return status;
}

/* The same of triangles of three vertices. */
static modal_status read_plain_faces(ply_reader *reader, const ply_element *element, int64_t most, int64_t *n)
{
    modal_status status = MODAL_OK;
    enum { BYTES = 13 };
    modal_text *text = &reader->text;
    modal_surface_mesh *surface = reader->builder.surface;
    const ply_property *list = &reader->properties[element->first_property];
    if (element->n_properties != 1 || list->count_type != U8 || (list->type != I32 && list->type != U32)) return MODAL_OK;
    if ((text->length - text->position) / BYTES < most) most = (text->length - text->position) / BYTES;
    MODAL_TRY(modal_grow(&surface->triangles, &reader->builder.triangle_capacity, surface->n_triangles + most,
                         3 * sizeof *surface->triangles, "triangles", text->err));
    for (; *n < most; (*n)++) {
        const char *face = text->data + text->position;
        const int32_t corners[3] = {load_index(face + 1), load_index(face + 5), load_index(face + 9)};
        int sound = face[0] == 3 && corners[0] != corners[1] && corners[1] != corners[2] && corners[2] != corners[0];
        for (int k = 0; k < 3; k++) sound &= corners[k] >= 0 && corners[k] < surface->n_vertices;
        if (!sound) break;
        memcpy(surface->triangles + 3 * surface->n_triangles++, corners, sizeof corners);
        text->position += BYTES;
    }
done:
    return status;
}

/* Bytes of this machine's order, of a kind that has a loop of its own. */
static modal_status read_plain(ply_reader *reader, const ply_element *element, int64_t most, int64_t *n)
{
    *n = 0;
    if (reader->encoding != LITTLE || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) return MODAL_OK;
    if (element->kind == VERTEX && !(element->roles & 1 << U && element->roles & 1 << V) && !has_colours(element))
        return read_plain_vertices(reader, element, most, n);
    return element->kind == FACE ? read_plain_faces(reader, element, most, n) : MODAL_OK;
}

static modal_status read_instances(ply_reader *reader, const ply_element *element)
{
    static const char *const kinds[] = {"item", "vertex", "face", "strip"};
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    int64_t least = 0;
    for (int64_t i = 0; i < element->n_properties; i++) {
        const ply_property *property = &reader->properties[element->first_property + i];
        least += reader->encoding == TEXT ? 2
                 : property->count_type   ? type_bytes[property->count_type]
                                          : type_bytes[property->type];
    }
    text->subject = NULL;
    MODAL_TRY(modal_text_check_count(text, kinds[element->kind], element->count, least ? least : 1));
    for (int64_t i = 0, plain; i < element->count; i++) {
        text->subject = NULL;
        MODAL_TRY(read_plain(reader, element, element->count - i, &plain));
        i += plain;
        if (i == element->count) break;
        if (reader->encoding == TEXT) modal_text_seek_token(text);
        text->subject = kinds[element->kind];
        text->number = i;
        MODAL_TRY(read_instance(reader, element));
    }
    text->subject = NULL;
done:
    return status;
}

/* A vertex has its own texture coordinates: the corners are the same. */
static modal_status copy_corners(modal_surface_mesh *surface, modal_error *err)
{
    if (!surface->uv) return MODAL_OK;
    modal_status status = modal_alloc(&surface->triangle_uv, 3 * surface->n_triangles,
                                      sizeof *surface->triangle_uv, "texture vertices", err);
    if (status == MODAL_OK)
        memcpy(surface->triangle_uv, surface->triangles,
               3 * (size_t)surface->n_triangles * sizeof *surface->triangles);
    return status;
}

modal_status modal_ply_parse(const char *data, int64_t length, const char *name,
                             modal_surface_mesh *surface, int64_t *n_collapsed, modal_error *err)
{
    modal_status status = MODAL_OK;
    memset(surface, 0, sizeof *surface);
    ply_reader reader = {.builder = {.surface = surface, .text = &reader.text}};
    modal_text *text = &reader.text;
    modal_text_init(text, name, data, length, err);
    MODAL_TRY(read_head(&reader));
    MODAL_TRY(check_head(&reader));
    text->binary = reader.encoding != TEXT;
    text->at = text->position;
    for (int64_t i = 0; i < reader.n_elements; i++)
        MODAL_TRY(read_instances(&reader, &reader.elements[i]));
    text->at = text->position;
    if (reader.encoding != TEXT && text->position < length)
        status = modal_text_fail(text, "%lld bytes after the last element",
                                 (long long)(length - text->position));
    else if (reader.encoding == TEXT && modal_text_seek_token(text))
        status = modal_text_end_line(text);
    if (status == MODAL_OK) MODAL_TRY(modal_surface_builder_finish(&reader.builder, n_collapsed));
    if (status == MODAL_OK) MODAL_TRY(copy_corners(surface, err));
done:
    if (status == MODAL_ERROR_MEMORY) modal_error_context(err, "%s", name);
    modal_free(&reader.properties);
    modal_free(&reader.elements);
    if (status != MODAL_OK) modal_surface_mesh_free(surface);
    return status;
}
