/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/meshes/mtl.h"

#include <string.h>

#include "formats/meshes/text_reader.h"
#include "lib/base/below.h"
#include "lib/base/memory.h"

enum { MOST_MATERIALS = 4096, NAME_BYTES = 200, PATH_BYTES = 4096 };

typedef struct mtl_reader {
    modal_text text;
    modal_look *look;
    int64_t capacity;
    modal_look_material *now; /* NULL before the first newmtl */
    int has_ambient;
    char *alpha_image; /* map_d of the material, with its line */
    int64_t alpha_line;
    const char *folder;
    int any_path;
} mtl_reader;

/* Once everything of a material is known. */
static modal_status end_material(mtl_reader *r)
{
    modal_look_material *m = r->now;
    if (!m) return MODAL_OK;
    if (!r->has_ambient) memcpy(m->ambient, m->diffuse, sizeof m->ambient);
    if (m->opacity < 1 || r->alpha_image) m->alpha = MODAL_ALPHA_BLEND;
    if (r->alpha_image && (!m->image || strcmp(r->alpha_image, m->image) != 0)) {
        r->text.line = r->alpha_line;
        return modal_text_fail(&r->text, "map_d: only the image of map_Kd is supported, '%.60s'", r->alpha_image);
    }
    modal_free(&r->alpha_image);
    return MODAL_OK;
}

/* What is left of the line, with its blanks but those at its ends; 0 where there is nothing. */
static int rest(modal_text *text, const char **from, int64_t *length)
{
    const char *token;
    int64_t n;
    if (!modal_text_token(text, from, length)) return 0;
    while (modal_text_token(text, &token, &n)) *length = token + n - *from;
    return 1;
}

static modal_status begin_material(mtl_reader *r)
{
    modal_status status = MODAL_OK;
    modal_look *look = r->look;
    modal_text *text = &r->text;
    const char *name;
    char quoted[MODAL_QUOTE];
    int64_t length;
    MODAL_TRY(end_material(r));
    r->now = NULL;
    if (!rest(text, &name, &length) || length > NAME_BYTES) {
        status = modal_text_fail(text, "newmtl: a name of 1 to %d bytes expected", NAME_BYTES);
        goto done;
    }
    for (int64_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < ' ') {
            status = modal_text_fail(text, "newmtl: control character in the name");
            goto done;
        }
    if (modal_look_find(look, name, length) >= 0) {
        status = modal_text_fail(text, "newmtl: the material is there twice, '%s'", modal_quote(quoted, name, length));
        goto done;
    }
    if (look->n_materials == MOST_MATERIALS) {
        status = modal_text_fail(text, "more than %d materials", MOST_MATERIALS);
        goto done;
    }
    MODAL_TRY(modal_grow(&look->materials, &r->capacity, look->n_materials + 1, sizeof *look->materials, "materials", text->err));
    r->now = &look->materials[look->n_materials];
    *r->now = modal_look_default;
    r->has_ambient = 0;
    MODAL_TRY(modal_copy_text(&r->now->name, name, (size_t)length, text->err));
    look->n_materials++;
done:
    return status;
}

static modal_status read_number(modal_text *text, const char *what, double least, double most, double *value)
{
    double x;
    const modal_status status = modal_text_real(text, what, &x);
    if (status != MODAL_OK) return status;
    if (!(x >= least && x <= most)) return modal_text_fail(text, "%s: must be in %g .. %g, %g", what, least, most, x);
    *value = x;
    return MODAL_OK;
}

/* r, or r g b. */
static modal_status read_colour(modal_text *text, const char *what, double colour[3])
{
    modal_status status = MODAL_OK;
    modal_text ahead = *text;
    const char *token;
    int64_t length;
    double values[3] = {0};
    if (modal_text_token(&ahead, &token, &length) &&
        (modal_token_is(token, length, "spectral") || modal_token_is(token, length, "xyz")))
        return modal_text_fail(text, "%s: %.*s colours are not supported", what, (int)length, token);
    MODAL_TRY(read_number(text, what, 0, 1e6, &values[0]));
    values[1] = values[2] = values[0];
    ahead = *text;
    if (modal_text_token(&ahead, &token, &length))
        for (int k = 1; k < 3; k++) MODAL_TRY(read_number(text, what, 0, 1e6, &values[k]));
    memcpy(colour, values, sizeof values);
done:
    return status;
}

/* The options before a map's file name. How many values they have at the most; those that are numbers may be fewer. */
static modal_status skip_options(mtl_reader *r, const char *what)
{
    static const struct {
        const char *name;
        int words, numbers;
    } options[] = {{"-blendu", 1, 0}, {"-blendv", 1, 0}, {"-cc", 1, 0},   {"-clamp", 1, 0},   {"-imfchan", 1, 0}, {"-type", 1, 0},
                   {"-bm", 0, 1},     {"-boost", 0, 1},  {"-texres", 0, 2}, {"-mm", 0, 2}, {"-o", 0, 3}, {"-s", 0, 3}, {"-t", 0, 3}};
    modal_text *text = &r->text;
    for (;;) {
        modal_text ahead = *text;
        const char *token;
        char quoted[MODAL_QUOTE];
        int64_t length;
        size_t k = 0;
        if (!modal_text_token(&ahead, &token, &length) || token[0] != '-') return MODAL_OK;
        while (k < sizeof options / sizeof *options && !modal_token_is(token, length, options[k].name)) k++;
        if (k == sizeof options / sizeof *options)
            return modal_text_fail(text, "%s: unknown option, '%s'", what, modal_quote(quoted, token, length));
        *text = ahead;
        if (options[k].words) {
            if (!modal_text_token(text, &token, &length)) return modal_text_fail(text, "%s: %s has no value", what, options[k].name);
            if (k == 3 && modal_token_is_like(token, length, "on")) r->now->wrap = MODAL_WRAP_CLAMP;
        }
        const double still = strcmp(options[k].name, "-s") == 0 ? 1 : 0;
        for (int i = 0; i < options[k].numbers; i++) {
            double x;
            ahead = *text;
            if (!modal_text_token(&ahead, &token, &length) || modal_parse_real(token, length, &x) != MODAL_NUMBER_OK) break;
            *text = ahead;
            if ((options[k].name[1] == 'o' || options[k].name[1] == 's') && !(x == still))
                return modal_text_fail(text, "%s: %s that changes something is not supported, %g", what, options[k].name, x);
        }
    }
}

static modal_status read_map(mtl_reader *r, const char *what, char **image)
{
    modal_status status = MODAL_OK;
    modal_text *text = &r->text;
    const char *name;
    char path[PATH_BYTES + 1], quoted[MODAL_QUOTE];
    int64_t length;
    MODAL_TRY(skip_options(r, what));
    const size_t before = strlen(r->folder);
    if (!rest(text, &name, &length) || length + (int64_t)before > PATH_BYTES || memchr(name, '\0', (size_t)length)) {
        status = modal_text_fail(text, "%s: a file name of 1 to %d bytes expected", what, PATH_BYTES - (int)before);
        goto done;
    }
    memcpy(path, r->folder, before);
    memcpy(path + before, name, (size_t)length);
    path[before + (size_t)length] = '\0';
    for (char *c = path + before; *c; c++)
        if (*c == '\\') *c = '/';
    const char *clean = strncmp(path, "./", 2) == 0 ? path + 2 : path;
    if (!r->any_path && !modal_path_is_below(clean)) {
        status = modal_text_fail(text, "%s: the image is not in the look's folder or below it, '%s'", what, modal_quote(quoted, name, length));
        goto done;
    }
    modal_free(image);
    MODAL_TRY(modal_copy_text(image, clean, SIZE_MAX, text->err));
done:
    return status;
}

static modal_status read_opacity(mtl_reader *r, int inverted)
{
    modal_text *text = &r->text, ahead = *text;
    const char *token;
    int64_t length;
    double x = 1;
    if (modal_text_token(&ahead, &token, &length) && modal_token_is(token, length, "-halo")) *text = ahead;
    const modal_status status = read_number(text, inverted ? "Tr" : "d", 0, 1, &x);
    if (status == MODAL_OK) r->now->opacity = inverted ? 1 - x : x;
    return status;
}

static modal_status read_statement(mtl_reader *r, const char *token, int64_t length)
{
    static const char *const bumps[] = {"map_Bump", "map_bump", "bump", "norm"};
    modal_text *text = &r->text;
    modal_look_material *m = r->now;
    if (modal_token_is(token, length, "newmtl")) return begin_material(r);
    if (!m) return modal_text_fail(text, "newmtl expected first");
    if (modal_token_is(token, length, "Ka")) {
        r->has_ambient = 1;
        return read_colour(text, "Ka", m->ambient);
    }
    if (modal_token_is(token, length, "Kd")) return read_colour(text, "Kd", m->diffuse);
    if (modal_token_is(token, length, "Ks")) return read_colour(text, "Ks", m->specular);
    if (modal_token_is(token, length, "Ns")) return read_number(text, "Ns", 0, 10000, &m->shininess);
    if (modal_token_is(token, length, "d")) return read_opacity(r, 0);
    if (modal_token_is(token, length, "Tr")) return read_opacity(r, 1);
    if (modal_token_is(token, length, "map_Kd")) return read_map(r, "map_Kd", &m->image);
    if (modal_token_is(token, length, "map_d")) {
        r->alpha_line = text->line;
        return read_map(r, "map_d", &r->alpha_image);
    }
    for (int i = 0; i < 4; i++)
        if (modal_token_is(token, length, bumps[i])) return read_map(r, bumps[i], &m->normal_image);
    while (modal_text_token(text, &token, &length)) continue;
    return MODAL_OK;
}

modal_status modal_mtl_parse(const char *data, int64_t length, const char *name, const char *folder, int any_path, modal_look *look,
                             modal_error *err)
{
    modal_status status = MODAL_OK;
    mtl_reader r = {.look = look, .folder = folder, .any_path = any_path, .capacity = look->n_materials};
    const char *token;
    int64_t token_length;
    modal_text_init(&r.text, name, data, length, err);
    r.text.comments = 1;
    while (modal_text_seek_token(&r.text)) {
        modal_text_token(&r.text, &token, &token_length);
        MODAL_TRY(read_statement(&r, token, token_length));
        MODAL_TRY(modal_text_end_line(&r.text));
    }
    MODAL_TRY(end_material(&r));
done:
    if (status == MODAL_ERROR_MEMORY) modal_error_context(err, "%s", name);
    modal_free(&r.alpha_image);
    return status;
}

modal_status modal_mtl_read(const char *path, const char *folder, int any_path, modal_look *look, modal_error *err)
{
    char *data;
    int64_t length;
    modal_status status = modal_file_load(path, &data, &length, err);
    if (status == MODAL_OK) status = modal_mtl_parse(data, length, path, folder, any_path, look, err);
    modal_free(&data);
    return status;
}
