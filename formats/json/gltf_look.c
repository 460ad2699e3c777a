/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/json/gltf_look.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/json/json_place.h"
#include "lib/base/below.h"
#include "lib/base/memory.h"

typedef struct gltf_reader {
    modal_json_source source;
    const char *data;              /* of the file */
    int64_t binary, binary_length; /* the binary chunk in it; length 0: none */
    modal_json_place root;
    int any_path;
    modal_look *look;
    modal_gltf_images *images;
    char **names; /* [n_names] of the file's images that a material has; NULL: not met yet */
    size_t n_names;
    json_t *taken; /* names of materials and images: how often each was asked for */
} gltf_reader;

/* `text`, or with " 2", " 3" and so on after it the first that is not taken; separator and ending stand around the number. */
static modal_status take_name(gltf_reader *r, const char *text, const char *separator, const char *ending, char *name, size_t size)
{
    int k = 0, taken;
    char first[300];
    snprintf(first, sizeof first, "%s%s%s", separator, text, ending);
    do {
        k = (int)json_integer_value(json_object_get(r->taken, first)) + 1;
        if (json_object_set_new(r->taken, first, json_integer(k)) != 0) return modal_error_set(r->source.err, MODAL_ERROR_MEMORY, "names: out of memory");
        if (k == 1) snprintf(name, size, "%s%s", text, ending);
        else snprintf(name, size, "%s%s%d%s", text, separator, k, ending);
        char key[300];
        snprintf(key, sizeof key, "%s%s", separator, name);
        taken = k > 1 && json_object_get(r->taken, key) != NULL;
        if (k > 1 && !taken && json_object_set_new(r->taken, key, json_integer(1)) != 0)
            return modal_error_set(r->source.err, MODAL_ERROR_MEMORY, "names: out of memory");
    } while (taken);
    return MODAL_OK;
}

/* ---- places ---- */

/* Item `number` of the root's list `key`, an object. */
static modal_status find_item(const gltf_reader *r, const modal_json_place *from, int64_t number, const char *key, modal_json_place *item)
{
    modal_json_place list;
    if (!modal_json_member(&r->root, key, &list) || !json_is_array(list.value) || (size_t)number >= json_array_size(list.value))
        return modal_json_wrong(from, "no such item in %s, %lld", key, (long long)number);
    modal_json_item(&list, (size_t)number, item);
    return json_is_object(item->value) ? MODAL_OK : modal_json_wrong(item, "not an object");
}

/* A member that is a number of an item of the root's list `key`, and the item; *found 0: absent. */
static modal_status follow(const gltf_reader *r, const modal_json_place *object, const char *member, const char *key, int *found,
                           modal_json_place *item, int64_t *number)
{
    modal_json_place place;
    *found = modal_json_member(object, member, &place);
    if (!*found) return MODAL_OK;
    const modal_status status = modal_json_integer(&place, 0, INT32_MAX, number);
    return status == MODAL_OK ? find_item(r, &place, *number, key, item) : status;
}

static modal_status optional_integer(const modal_json_place *object, const char *key, int64_t most, int64_t *value)
{
    modal_json_place place;
    return modal_json_member(object, key, &place) ? modal_json_integer(&place, 0, most, value) : MODAL_OK;
}

/* ---- images ---- */

/* A name of a file for an image inside: its own one, where it has one, of plain characters, with the ending of its kind. */
static modal_status name_image(gltf_reader *r, const modal_json_place *image, int64_t number, const char *ending, char name[128])
{
    modal_json_place member;
    const char *own = modal_json_member(image, "name", &member) ? json_string_value(member.value) : NULL;
    char stem[64] = "";
    size_t n = 0;
    for (const char *c = own ? own : ""; *c && n + 1 < sizeof stem; c++) {
        const int plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '_' || *c == '-' || *c == '.';
        stem[n] = plain && (*c != '.' || n > 0) ? *c : '_';
        n++;
    }
    stem[n] = '\0';
    for (const char *const *end = (const char *const[]){".png", ".jpg", ".jpeg", NULL}; *end; end++)
        if (n > strlen(*end) && strcmp(stem + n - strlen(*end), *end) == 0) {
            n -= strlen(*end);
            stem[n] = '\0';
        }
    if (!stem[0]) snprintf(stem, sizeof stem, "image_%lld", (long long)number);
    return take_name(r, stem, "_", ending, name, 128);
}

/* An image that lies in the binary chunk. */
static modal_status read_inside(gltf_reader *r, const modal_json_place *image, int64_t number, char **name)
{
    modal_status status = MODAL_OK;
    modal_json_place view, member;
    int64_t index = 0, buffer = 0, offset = 0, length = 0;
    int found = 0;
    char text[128];
    MODAL_TRY(follow(r, image, "bufferView", "bufferViews", &found, &view, &index));
    if (!found) {
        status = modal_json_wrong(image, "neither uri nor bufferView");
        goto done;
    }
    MODAL_TRY(optional_integer(&view, "buffer", INT32_MAX, &buffer));
    MODAL_TRY(optional_integer(&view, "byteOffset", INT64_C(1) << 32, &offset));
    MODAL_TRY(modal_json_required(&view, "byteLength", &member));
    MODAL_TRY(modal_json_integer(&member, 1, INT64_C(1) << 32, &length));
    if (buffer != 0 || offset > r->binary_length || length > r->binary_length - offset) {
        status = modal_json_wrong(&view, "not inside of the binary chunk of %lld bytes", (long long)r->binary_length);
        goto done;
    }
    const unsigned char *bytes = (const unsigned char *)r->data + r->binary + offset;
    const int png = length > 3 && memcmp(bytes, "\x89PNG", 4) == 0, jpeg = length > 2 && memcmp(bytes, "\xff\xd8\xff", 3) == 0;
    if (!png && !jpeg) {
        status = modal_json_wrong(image, "neither a PNG nor a JPEG");
        goto done;
    }
    MODAL_TRY(name_image(r, image, number, png ? ".png" : ".jpg", text));
    MODAL_TRY(modal_grow(&r->images->list, &r->images->capacity, r->images->n + 1, sizeof *r->images->list, "images", r->source.err));
    modal_gltf_image *to = &r->images->list[r->images->n];
    *to = (modal_gltf_image){NULL, r->binary + offset, length};
    MODAL_TRY(modal_copy_text(&to->name, text, SIZE_MAX, r->source.err));
    r->images->n++;
    MODAL_TRY(modal_copy_text(name, text, SIZE_MAX, r->source.err));
done:
    return status;
}

static int hex(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; }

/* An image that is a file beside this one. %41 stands for A. */
static modal_status read_uri(gltf_reader *r, const modal_json_place *place, char **name)
{
    modal_status status = MODAL_OK;
    const char *text = json_string_value(place->value);
    if (!text || strlen(text) != json_string_length(place->value)) return modal_json_wrong(place, "not a text");
    if (strncmp(text, "data:", 5) == 0) return modal_json_wrong(place, "images as data: URIs are not read");
    MODAL_TRY(modal_copy_text(name, text, SIZE_MAX, r->source.err));
    char *to = *name;
    for (const char *c = text; *c; c++) {
        const int high = *c == '%' ? hex(c[1]) : -1, low = high >= 0 ? hex(c[2]) : -1;
        if (*c == '%' && (low < 0 || high * 16 + low == 0)) {
            status = modal_json_wrong(place, "a %% without two hexadecimal digits, or a NUL");
            goto done;
        }
        *to++ = low >= 0 ? (char)(high * 16 + low) : *c;
        if (low >= 0) c += 2;
    }
    *to = '\0';
    if (!r->any_path && !modal_path_is_below(*name))
        status = modal_json_wrong(place, "a path inside of the file's folder, with / between its parts, without . and ..");
done:
    return status;
}

/* The image of a material's texture; *image keeps NULL where there is none. *wrap: -1: no image before. */
static modal_status read_texture(gltf_reader *r, const modal_json_place *object, const char *key, char **image, int *wrap)
{
    static const char transform[] = "KHR_texture_transform";
    modal_status status = MODAL_OK;
    modal_json_place info, texture, sampler, source, member;
    int64_t index = 0, set = 0, s = 10497, t = 10497;
    int found = 0;
    if (!modal_json_member(object, key, &info)) return MODAL_OK;
    if (!json_is_object(info.value)) return modal_json_wrong(&info, "not an object");
    MODAL_TRY(optional_integer(&info, "texCoord", INT32_MAX, &set));
    if (set != 0 || json_object_get(json_object_get(info.value, "extensions"), transform)) {
        status = set ? modal_json_wrong(&info, "the set of uv %lld: there is one, 0", (long long)set) : modal_json_wrong(&info, "%s is not read", transform);
        goto done;
    }
    MODAL_TRY(follow(r, &info, "index", "textures", &found, &texture, &index));
    if (found) MODAL_TRY(follow(r, &texture, "source", "images", &found, &source, &index));
    if (!found) {
        status = modal_json_wrong(&info, "a texture without an image of its own kind, PNG or JPEG");
        goto done;
    }
    MODAL_TRY(r->names[index] ? modal_copy_text(image, r->names[index], SIZE_MAX, r->source.err)
              : modal_json_member(&source, "uri", &member) ? read_uri(r, &member, image)
                                                          : read_inside(r, &source, index, image));
    if (!r->names[index]) MODAL_TRY(modal_copy_text(&r->names[index], *image, SIZE_MAX, r->source.err));
    MODAL_TRY(follow(r, &texture, "sampler", "samplers", &found, &sampler, &index));
    if (found) MODAL_TRY(optional_integer(&sampler, "wrapS", INT32_MAX, &s));
    if (found) MODAL_TRY(optional_integer(&sampler, "wrapT", INT32_MAX, &t));
    const int own = s == 10497 ? MODAL_WRAP_REPEAT : s == 33648 ? MODAL_WRAP_MIRROR : s == 33071 ? MODAL_WRAP_CLAMP : -1;
    if (own < 0 || s != t || (*wrap >= 0 && own != *wrap))
        status = modal_json_wrong(&texture, "its wraps must be the same in both directions and for both images of a material, %lld %lld",
                                  (long long)s, (long long)t);
    *wrap = own;
done:
    return status;
}

/* ---- materials ---- */

/* The material's name, with a number where an earlier one has it. */
static modal_status name_material(gltf_reader *r, const modal_json_place *place, size_t number, char **name)
{
    modal_json_place member;
    const char *own = modal_json_member(place, "name", &member) ? json_string_value(member.value) : NULL;
    char text[280], plain[32];
    snprintf(plain, sizeof plain, "material %zu", number);
    if (own && (!*own || strlen(own) != json_string_length(member.value) || strlen(own) > 200)) own = NULL;
    const modal_status status = take_name(r, own ? own : plain, " ", "", text, sizeof text);
    if (status != MODAL_OK) return status;
    return modal_copy_text(name, text, SIZE_MAX, r->source.err);
}

static modal_status read_surface(gltf_reader *r, const modal_json_place *place, modal_look_material *m, int *wrap)
{
    modal_status status = MODAL_OK;
    modal_json_place pbr, member;
    double colour[4] = {1, 1, 1, 1}, rough = 1;
    if (modal_json_member(place, "pbrMetallicRoughness", &pbr)) {
        if (!json_is_object(pbr.value)) {
            status = modal_json_wrong(&pbr, "not an object");
            goto done;
        }
        MODAL_TRY(modal_json_optional_vector(&pbr, "baseColorFactor", 4, "1", colour));
        for (int k = 0; k < 4; k++)
            if (!(colour[k] >= 0 && colour[k] <= 1) && modal_json_member(&pbr, "baseColorFactor", &member)) {
                status = modal_json_wrong(&member, "numbers in 0 .. 1");
                goto done;
            }
        MODAL_TRY(modal_json_optional_number(&pbr, "roughnessFactor", 0, 1, "1", &rough));
        MODAL_TRY(read_texture(r, &pbr, "baseColorTexture", &m->image, wrap));
    }
    memcpy(m->diffuse, colour, sizeof m->diffuse);
    memcpy(m->ambient, colour, sizeof m->ambient);
    m->opacity = colour[3];
    m->shininess = rough > 0.12 ? fmin(10000, 2 / (rough * rough * rough * rough) - 2) : 10000;
    MODAL_TRY(read_texture(r, place, "normalTexture", &m->normal_image, wrap));
done:
    return status;
}

static modal_status read_material(gltf_reader *r, const modal_json_place *place, size_t number, modal_look_material *m)
{
    static const char *const modes[MODAL_ALPHAS] = {"OPAQUE", "MASK", "BLEND"};
    modal_status status = MODAL_OK;
    modal_json_place member;
    int wrap = -1;
    if (!json_is_object(place->value)) return modal_json_wrong(place, "not an object");
    *m = modal_look_default;
    m->name = NULL;
    char *name = NULL;
    MODAL_TRY(name_material(r, place, number, &name));
    m->name = name;
    MODAL_TRY(read_surface(r, place, m, &wrap));
    if (wrap >= 0) m->wrap = (modal_wrap)wrap;
    if (modal_json_member(place, "alphaMode", &member)) {
        const char *text = json_string_value(member.value);
        int mode = 0;
        while (mode < MODAL_ALPHAS && (!text || strcmp(text, modes[mode]) != 0)) mode++;
        if (mode == MODAL_ALPHAS) {
            status = modal_json_wrong(&member, "none of \"OPAQUE\", \"MASK\", \"BLEND\"");
            goto done;
        }
        m->alpha = (modal_alpha)mode;
    }
    MODAL_TRY(modal_json_optional_number(place, "alphaCutoff", 0, 1, "1", &m->cutoff));
    if (modal_json_member(place, "doubleSided", &member)) MODAL_TRY(modal_json_boolean(&member, &m->two_sided));
done:
    return status;
}

/* Extensions that a reader must know: those of meshes, lights and nodes mean nothing here. */
static modal_status check_extensions(const gltf_reader *r)
{
    static const char known[] = " KHR_mesh_quantization KHR_draco_mesh_compression EXT_meshopt_compression EXT_mesh_gpu_instancing KHR_lights_punctual ";
    modal_json_place list, item;
    if (!modal_json_member(&r->root, "extensionsRequired", &list)) return MODAL_OK;
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        char word[64];
        modal_json_item(&list, i, &item);
        const char *text = json_string_value(item.value);
        snprintf(word, sizeof word, " %s ", text ? text : "");
        if (!text || strlen(text) + 3 > sizeof word || !strstr(known, word)) return modal_json_wrong(&item, "an extension that is not read");
    }
    return MODAL_OK;
}

static modal_status read_root(gltf_reader *r)
{
    modal_status status = MODAL_OK;
    modal_json_place member, version, item;
    if (!json_is_object(r->root.value)) return modal_json_wrong(&r->root, "not an object");
    MODAL_TRY(modal_json_required(&r->root, "asset", &member));
    MODAL_TRY(modal_json_required(&member, "version", &version));
    const char *text = json_string_value(version.value);
    if (!text || strncmp(text, "2.", 2) != 0) {
        status = modal_json_wrong(&version, "only glTF 2 is read");
        goto done;
    }
    MODAL_TRY(check_extensions(r));
    if (!modal_json_member(&r->root, "materials", &member)) {
        status = modal_json_wrong(&r->root, "no materials");
        goto done;
    }
    MODAL_TRY(modal_json_array(&member, 1));
    r->n_names = json_array_size(json_object_get(r->root.value, "images"));
    MODAL_TRY(modal_alloc_zero(&r->names, (int64_t)r->n_names, sizeof *r->names, "images", r->source.err));
    const size_t n = json_array_size(member.value);
    MODAL_TRY(modal_alloc_zero(&r->look->materials, (int64_t)n, sizeof *r->look->materials, "materials", r->source.err));
    for (size_t i = 0; i < n; i++) {
        modal_look_material m = {0};
        modal_json_item(&member, i, &item);
        status = read_material(r, &item, i, &m);
        r->look->materials[r->look->n_materials++] = m; /* also half of one: the look is freed */
        if (status != MODAL_OK) goto done;
    }
done:
    return status;
}

static uint32_t little(const char *bytes)
{
    const unsigned char *b = (const unsigned char *)bytes;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

modal_status modal_gltf_look_parse(const char *data, int64_t length, const char *name, int any_path, modal_look *look, modal_gltf_images *images,
                                   modal_error *err)
{
    modal_status status = MODAL_OK;
    gltf_reader r = {.source = {name, NULL, err}, .data = data, .any_path = any_path, .look = look, .images = images};
    memset(images, 0, sizeof *images);
    if (!(r.taken = json_object())) return modal_error_set(err, MODAL_ERROR_MEMORY, "%s: out of memory", name);
    if (length < 20 || memcmp(data, "glTF", 4) != 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: not a binary glTF file", name);
    if (little(data + 4) != 2) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: only version 2 is read, %u", name, little(data + 4));
    const int64_t total = little(data + 8), described = little(data + 12);
    if (total > length || total < 20 || described > total - 20)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: cut off: %lld bytes of %lld", name, (long long)length, (long long)(total > length ? total : described + 20));
    if (memcmp(data + 16, "JSON", 4) != 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: does not begin with a description (JSON)", name);
    const int64_t next = 20 + described;
    if (total - next >= 8 && memcmp(data + next + 4, "BIN\0", 4) == 0) {
        r.binary = next + 8;
        r.binary_length = little(data + next);
        if (r.binary_length > total - r.binary) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: cut off in its binary chunk", name);
    }
    MODAL_TRY(modal_json_open(&r.source, data + 20, (size_t)described, &r.root));
    MODAL_TRY(read_root(&r));
done:
    for (size_t i = 0; r.names && i < r.n_names; i++) modal_free(&r.names[i]);
    modal_free(&r.names);
    json_decref(r.taken);
    modal_json_close(&r.source);
    return status;
}

void modal_gltf_images_free(modal_gltf_images *images)
{
    for (int32_t i = 0; i < images->n; i++) modal_free(&images->list[i].name);
    modal_free(&images->list);
    memset(images, 0, sizeof *images);
}
