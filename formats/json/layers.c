/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/json/layers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/json/json_place.h"
#include "formats/meshes/text_reader.h"
#include "lib/base/below.h"
#include "lib/base/memory.h"

enum { MOST = 1000000 };

typedef struct layers_reader {
    modal_json_source source;
    int width; /* 4: colours */
} layers_reader;

/* What an object of each kind may have. */
static const char *const keys_of[MODAL_LAYERS] = {"kind value opacity",
                                                  "kind from to opacity scale",
                                                  "kind from to opacity scale octaves seed",
                                                  "kind from to opacity scale octaves seed turbulence axis",
                                                  "kind from to opacity scale octaves seed turbulence axis centre",
                                                  "kind strokes opacity",
                                                  "kind file opacity",
                                                  "kind file opacity wrap",
                                                  "kind file files opacity scale sharpness centre",
                                                  "kind file opacity",
                                                  "kind file opacity field frame range from to"};

/* A number is a list of one; a colour may leave out alpha, 1. */
static modal_status read_value(const layers_reader *r, const modal_json_place *object, const char *key, double value[4])
{
    modal_status status = MODAL_OK;
    modal_json_place member, item;
    MODAL_TRY(modal_json_required(object, key, &member));
    value[3] = 1;
    if (r->width == 1 && json_is_number(member.value)) return modal_json_number(&member, -1e30, 1e30, "1", value);
    MODAL_TRY(modal_json_array(&member, 0));
    const size_t n = json_array_size(member.value);
    if (n != (size_t)r->width && !(r->width == 4 && n == 3)) {
        status = modal_json_wrong(&member, r->width == 4 ? "needs 3 or 4 numbers" : r->width == 3 ? "needs 3 numbers" : "needs a number");
        goto done;
    }
    for (size_t i = 0; i < n; i++) {
        modal_json_item(&member, i, &item);
        MODAL_TRY(modal_json_number(&item, r->width == 4 ? 0 : -1e30, r->width == 4 ? 1 : 1e30, "1", &value[i]));
    }
done:
    return status;
}

static modal_status read_axis(const modal_json_place *object, double axis[3])
{
    modal_json_place member;
    const modal_status status = modal_json_optional_vector(object, "axis", 3, "1", axis);
    if (status != MODAL_OK) return status;
    const double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    if (!(length > 0) || !isfinite(length)) {
        if (!modal_json_member(object, "axis", &member)) member = *object;
        return modal_json_wrong(&member, "has no direction");
    }
    for (int k = 0; k < 3; k++) axis[k] /= length;
    return MODAL_OK;
}

static modal_status read_solid(const layers_reader *r, const modal_json_place *place, modal_layer *layer)
{
    modal_status status = MODAL_OK;
    modal_json_place member;
    layer->octaves = layer->kind == MODAL_LAYER_CHECKER ? 0 : 5;
    layer->turbulence = layer->kind == MODAL_LAYER_MARBLE ? 1 : 0.1;
    layer->axis[layer->kind == MODAL_LAYER_MARBLE ? 0 : 2] = 1;
    MODAL_TRY(read_value(r, place, "from", layer->from));
    MODAL_TRY(read_value(r, place, "to", layer->to));
    MODAL_TRY(modal_json_required(place, "scale", &member));
    MODAL_TRY(modal_json_number(&member, 1e-9, 1e9, "m", &layer->scale));
    if (modal_json_member(place, "octaves", &member)) MODAL_TRY(modal_json_integer(&member, 1, 16, &layer->octaves));
    if (modal_json_member(place, "seed", &member)) MODAL_TRY(modal_json_integer(&member, 0, INT32_MAX, &layer->seed));
    MODAL_TRY(modal_json_optional_number(place, "turbulence", 0, 1000, "1", &layer->turbulence));
    MODAL_TRY(read_axis(place, layer->axis));
    MODAL_TRY(modal_json_optional_vector(place, "centre", 3, "m", layer->centre));
done:
    return status;
}

static modal_status read_strokes(const layers_reader *r, const modal_json_place *place, modal_layer *layer)
{
    modal_status status = MODAL_OK;
    size_t n;
    modal_json_place list, item, member;
    MODAL_TRY(modal_json_required(place, "strokes", &list));
    MODAL_TRY(modal_json_list(&list, 1, MOST, "strokes", &layer->strokes, sizeof *layer->strokes, &n));
    for (size_t i = 0; i < n; i++) {
        modal_stroke *s = &layer->strokes[layer->n_strokes++];
        s->opacity = 1;
        modal_json_item(&list, i, &item);
        MODAL_TRY(modal_json_object(&item, "centre radius value opacity"));
        MODAL_TRY(modal_json_required(&item, "centre", &member));
        MODAL_TRY(modal_json_vector(&member, 3, "m", s->centre));
        MODAL_TRY(modal_json_required(&item, "radius", &member));
        MODAL_TRY(modal_json_number(&member, 1e-12, 1e12, "m", &s->radius));
        MODAL_TRY(read_value(r, &item, "value", s->value));
        MODAL_TRY(modal_json_optional_number(&item, "opacity", 0, 1, "1", &s->opacity));
    }
done:
    return status;
}

static modal_status read_file(const layers_reader *r, const modal_json_place *member, modal_layer *layer)
{
    modal_status status = MODAL_OK;
    const char *text;
    MODAL_TRY(modal_json_text(member, &text));
    if (strlen(text) != json_string_length(member->value) || !modal_path_is_below(text)) {
        status = modal_json_wrong(member, "a path inside of this file's folder, with / between its parts, without . and ..");
        goto done;
    }
    MODAL_TRY(modal_copy_text(&layer->files[layer->n_files], text, SIZE_MAX, r->source.err));
    layer->n_files++;
done:
    return status;
}

static modal_status read_wrap(const modal_json_place *place, modal_layer *layer)
{
    static const char *const names[] = {"repeat", "mirror", "clamp"};
    modal_status status = MODAL_OK;
    modal_json_place member;
    const char *text;
    if (!modal_json_member(place, "wrap", &member)) return MODAL_OK;
    MODAL_TRY(modal_json_text(&member, &text));
    while (layer->wrap < 3 && strcmp(text, names[layer->wrap]) != 0) layer->wrap++;
    if (layer->wrap == 3) {
        layer->wrap = 0;
        status = modal_json_wrong(&member, "none of repeat, mirror, clamp");
    }
done:
    return status;
}

/* `file`, or of images along the axes `files`: three. */
static modal_status read_files(const layers_reader *r, const modal_json_place *place, modal_layer *layer)
{
    modal_status status = MODAL_OK;
    modal_json_place member, item;
    if (layer->kind != MODAL_LAYER_TRIPLANAR || !modal_json_member(place, "files", &member)) {
        MODAL_TRY(modal_json_required(place, "file", &member));
        return read_file(r, &member, layer);
    }
    if (modal_json_member(place, "file", &item)) return modal_json_wrong(&item, "beside files");
    MODAL_TRY(modal_json_array(&member, 3));
    if (json_array_size(member.value) != 3) return modal_json_wrong(&member, "needs 3 images, along x, y and z");
    for (size_t i = 0; i < 3; i++) {
        modal_json_item(&member, i, &item);
        MODAL_TRY(read_file(r, &item, layer));
    }
done:
    return status;
}

static modal_status read_triplanar(const modal_json_place *place, modal_layer *layer)
{
    modal_status status = MODAL_OK;
    modal_json_place member;
    layer->sharpness = 4;
    MODAL_TRY(modal_json_required(place, "scale", &member));
    MODAL_TRY(modal_json_number(&member, 1e-9, 1e9, "m", &layer->scale));
    MODAL_TRY(modal_json_optional_number(place, "sharpness", 1, 64, "1", &layer->sharpness));
    MODAL_TRY(modal_json_optional_vector(place, "centre", 3, "m", layer->centre));
done:
    return status;
}

/* In a texture of numbers the field's own are painted, unless `from` and `to` say otherwise. */
static modal_status read_field(const layers_reader *r, const modal_json_place *place, modal_layer *layer)
{
    modal_status status = MODAL_OK;
    modal_json_place member;
    const char *name;
    MODAL_TRY(modal_json_required(place, "field", &member));
    MODAL_TRY(modal_json_text(&member, &name));
    MODAL_TRY(modal_copy_text(&layer->field, name, SIZE_MAX, r->source.err));
    if (modal_json_member(place, "frame", &member)) MODAL_TRY(modal_json_integer(&member, 0, INT32_MAX, &layer->frame));
    MODAL_TRY(modal_json_required(place, "range", &member));
    MODAL_TRY(modal_json_vector(&member, 2, "1", layer->range));
    if (!(layer->range[1] > layer->range[0])) {
        status = modal_json_wrong(&member, "the second must be above the first");
        goto done;
    }
    for (int k = 0; k < 3; k++) layer->from[k] = layer->range[0], layer->to[k] = layer->range[1];
    if (r->width == 4 || modal_json_member(place, "from", &member) || modal_json_member(place, "to", &member)) {
        MODAL_TRY(read_value(r, place, "from", layer->from));
        MODAL_TRY(read_value(r, place, "to", layer->to));
    }
done:
    return status;
}

static modal_status read_layer(const layers_reader *r, const modal_json_place *place, modal_layer *layer)
{
    modal_status status = MODAL_OK;
    modal_json_place member;
    const char *name;
    int kind = 0;
    if (!json_is_object(place->value)) return modal_json_wrong(place, "not an object");
    MODAL_TRY(modal_json_required(place, "kind", &member));
    MODAL_TRY(modal_json_text(&member, &name));
    while (kind < MODAL_LAYERS && strcmp(name, modal_layer_names[kind]) != 0) kind++;
    if (kind == MODAL_LAYERS) {
        status = modal_json_wrong(&member, "none of fill, checker, noise, marble, wood, strokes, colours, image, triplanar, normals, field");
        goto done;
    }
    layer->kind = (modal_layer_kind)kind;
    layer->opacity = 1;
    MODAL_TRY(modal_json_object(place, keys_of[kind]));
    MODAL_TRY(modal_json_optional_number(place, "opacity", 0, 1, "1", &layer->opacity));
    if (kind == MODAL_LAYER_FILL) MODAL_TRY(read_value(r, place, "value", layer->from));
    else if (kind == MODAL_LAYER_STROKES) MODAL_TRY(read_strokes(r, place, layer));
    else if (kind >= MODAL_LAYER_COLOURS) MODAL_TRY(read_files(r, place, layer));
    else MODAL_TRY(read_solid(r, place, layer));
    if (kind == MODAL_LAYER_FIELD) MODAL_TRY(read_field(r, place, layer));
    if (kind == MODAL_LAYER_IMAGE) MODAL_TRY(read_wrap(place, layer));
    if (kind == MODAL_LAYER_TRIPLANAR) MODAL_TRY(read_triplanar(place, layer));
done:
    return status;
}

modal_status modal_layers_parse(const char *text, size_t length, const char *path, int width, modal_layers *layers, modal_error *err)
{
    modal_status status = MODAL_OK;
    size_t n;
    modal_json_place root, list, item;
    layers_reader r = {.source = {.name = path, .err = err}, .width = width};
    *layers = (modal_layers){0};
    MODAL_TRY(modal_json_open(&r.source, text, length, &root));
    MODAL_TRY(modal_json_object(&root, "layers"));
    MODAL_TRY(modal_json_required(&root, "layers", &list));
    MODAL_TRY(modal_json_list(&list, 1, MOST, "layers", &layers->layers, sizeof *layers->layers, &n));
    layers->n = (int64_t)n;
    for (size_t i = 0; i < n; i++) {
        modal_json_item(&list, i, &item);
        MODAL_TRY(read_layer(&r, &item, &layers->layers[i]));
    }
done:
    modal_json_close(&r.source);
    if (status != MODAL_OK) modal_layers_free(layers);
    return status;
}

modal_status modal_layers_read(const char *path, int width, modal_layers *layers, modal_error *err)
{
    char *text = NULL;
    int64_t length = 0;
    *layers = (modal_layers){0};
    modal_status status = modal_file_load(path, &text, &length, err);
    if (status == MODAL_OK) status = modal_layers_parse(text, (size_t)length, path, width, layers, err);
    modal_free(&text);
    return status;
}
