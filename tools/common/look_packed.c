/* SPDX-License-Identifier: Apache-2.0 */
/* Looks whose images, or which themselves, are in a textures.h5 (modaltex pack). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/h5/h5_util.h"
#include "formats/images/png_write.h"
#include "lib/base/below.h"
#include "lib/base/memory.h"
#include "tools/common/files.h"
#include "tools/common/look.h"

void tool_look_free_packs(tool_look *look)
{
    for (int32_t i = 0; i < look->n_packs; i++) {
        modal_free(&look->packs[i].path);
        modal_free(&look->packs[i].name);
        modal_textures_free(&look->packs[i].head);
    }
    modal_free(&look->packs);
    look->n_packs = 0;
    look->packs_capacity = 0;
}

/* Adds the file, once by each name. */
static modal_status add_pack(tool_look *look, const char *path, const char *name, size_t length, tool_look_pack **pack, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int32_t i = 0; i < look->n_packs; i++) {
        *pack = &look->packs[i];
        if ((*pack)->name && strlen((*pack)->name) == length && strncmp((*pack)->name, name, length) == 0) return MODAL_OK;
    }
    MODAL_TRY(modal_grow(&look->packs, &look->packs_capacity, look->n_packs + 1, sizeof *look->packs, "packed images", err));
    *pack = &look->packs[look->n_packs++];
    **pack = (tool_look_pack){0};
    MODAL_TRY(modal_copy_text(&(*pack)->path, path, SIZE_MAX, err));
    if (name) MODAL_TRY(modal_copy_text(&(*pack)->name, name, length, err));
    MODAL_TRY(modal_textures_read(path, 0, &(*pack)->head, err));
    for (int32_t i = 0; i < (*pack)->head.n_images; i++)
        if (modal_look_is_solid((*pack)->head.images[i].name))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: /images/names: is no name of an image, %s", path, (*pack)->head.images[i].name);
    tool_files_read(path);
done:
    return status;
}

/* The shortest decimal number that rounds to this float: what a look said comes back. */
static double decimal_of(float x)
{
    char text[32];
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)x);
        if ((float)strtod(text, NULL) == x) break;
    }
    return strtod(text, NULL);
}

static modal_status take_material(const modal_textures *head, int32_t i, modal_look_material *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    const float *values = head->values[i];
    const int32_t *images = head->of_material[i];
    *m = modal_look_default;
    for (int k = 0; k < 3; k++) {
        m->ambient[k] = decimal_of(values[k]);
        m->diffuse[k] = decimal_of(values[4 + k]);
        m->specular[k] = decimal_of(values[8 + k]);
    }
    m->opacity = decimal_of(values[7]);
    m->shininess = decimal_of(values[11]);
    m->cutoff = decimal_of(values[12]);
    m->alpha = (modal_alpha)(int)values[13];
    m->two_sided = (int)values[14];
    m->wrap = (modal_wrap)(int)values[15];
    if (m->alpha == MODAL_ALPHA_CUTOUT && images[0] >= 0 && head->images[images[0]].cutoff >= 0) m->cutoff = head->images[images[0]].cutoff;
    MODAL_TRY(modal_copy_text(&m->name, head->names[i], SIZE_MAX, err));
    if (images[0] >= 0) MODAL_TRY(modal_copy_text(&m->image, head->images[images[0]].name, SIZE_MAX, err));
    if (images[1] >= 0) MODAL_TRY(modal_copy_text(&m->normal_image, head->images[images[1]].name, SIZE_MAX, err));
done:
    return status;
}

/* What a look must not have, and a file may: the same rules as those of LOOK.json. */
static modal_status check_material(const modal_look *look, int32_t i, modal_error *err)
{
    const modal_look_material *m = &look->materials[i];
    int good = m->opacity >= 0 && m->opacity <= 1 && m->cutoff >= 0 && m->cutoff <= 1 && m->shininess >= 0 && m->shininess <= 10000;
    for (int k = 0; k < 3; k++) good &= m->ambient[k] >= 0 && m->diffuse[k] >= 0 && m->specular[k] >= 0;
    if (!good) return modal_error_set(err, MODAL_ERROR_INPUT, "/materials/values: material %d: outside of the ranges of formats/look.md", i);
    if (modal_look_find(look, m->name, (int64_t)strlen(m->name)) != i)
        return modal_error_set(err, MODAL_ERROR_INPUT, "/materials/names: twice, %s", m->name);
    return MODAL_OK;
}

modal_status tool_look_read_packed(const char *path, tool_look *look, modal_error *err)
{
    modal_status status = MODAL_OK;
    tool_look_pack *pack;
    MODAL_TRY(add_pack(look, path, NULL, 0, &pack, err));
    const modal_textures *head = &pack->head;
    MODAL_TRY(modal_alloc_zero(&look->look.materials, head->n_materials, sizeof *look->look.materials, "materials", err));
    for (int32_t i = 0; i < head->n_materials; i++) {
        look->look.n_materials = i + 1;
        MODAL_TRY(take_material(head, i, &look->look.materials[i], err));
        status = check_material(&look->look, i, err);
        if (status == MODAL_ERROR_INPUT) modal_error_context(err, "%s", path);
        if (status != MODAL_OK) goto done;
    }
done:
    return status;
}

/* Of a name that goes on inside of a file, or is that of one: the length of the file's name; 0: neither. */
static size_t file_part(const char *name)
{
    for (const char *end = strstr(name, ".h5"); end; end = strstr(end + 1, ".h5"))
        if (end[3] == '/' || end[3] == '\0') return (size_t)(end + 3 - name);
    return 0;
}

/* The name of an image in a textures.h5, whole; of another file it stays as it is. */
static modal_status find_one(tool_look *look, const modal_look_material *m, int role, char **name, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_error ignored = {0};
    tool_look_pack *pack;
    char *file = NULL, *path = NULL, *kind = NULL;
    const size_t length = *name ? file_part(*name) : 0;
    int32_t image;
    if (length == 0) return MODAL_OK;
    MODAL_TRY(modal_copy_text(&file, *name, length, err));
    if (modal_path_find(look->folder, file, look->any_path, &path, &ignored) != MODAL_OK || modal_h5_file_kind(path, &kind, &ignored) != MODAL_OK ||
        !kind || strcmp(kind, "textures") != 0)
        goto done;
    MODAL_TRY(add_pack(look, path, file, length, &pack, err));
    if ((*name)[length] == '/') {
        if (!tool_look_packed(look, *name, role, -1, &image)) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: %s has no image of that name", *name, file);
        goto done;
    }
    for (int32_t i = 0; i < pack->head.n_materials; i++) {
        image = pack->head.of_material[i][role];
        if (strcmp(pack->head.names[i], m->name) != 0 || image < 0) continue;
        const char *own = pack->head.images[image].name;
        modal_free(name);
        MODAL_TRY(modal_alloc(name, (int64_t)(length + strlen(own) + 2), 1, "names", err));
        sprintf(*name, "%s/%s", file, own);
        goto done;
    }
    MODAL_FAIL(err, MODAL_ERROR_INPUT, "material %s: %s has no %s of a material of that name; name an image of it, %s/IMAGE", m->name, file,
               role ? "normals" : "colours", file);
done:
    modal_free(&file);
    modal_free(&path);
    modal_free(&kind);
    return status;
}

modal_status tool_look_find_packed(tool_look *look, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int32_t i = 0; i < look->look.n_materials; i++) {
        modal_look_material *m = &look->look.materials[i];
        MODAL_TRY(find_one(look, m, 0, &m->image, err));
        MODAL_TRY(find_one(look, m, 1, &m->normal_image, err));
    }
done:
    return status;
}

const tool_look_pack *tool_look_packed(const tool_look *look, const char *name, int role, double cutoff, int32_t *image)
{
    const tool_look_pack *found = NULL;
    for (int32_t p = 0; p < look->n_packs && !found; p++) {
        const tool_look_pack *pack = &look->packs[p];
        const size_t length = pack->name ? strlen(pack->name) : 0;
        if (pack->name && (strncmp(name, pack->name, length) != 0 || name[length] != '/')) continue;
        const char *own = name + (pack->name ? length + 1 : 0);
        for (int32_t i = 0; i < pack->head.n_images; i++) {
            const modal_texture_image *m = &pack->head.images[i];
            if (strcmp(m->name, own) != 0) continue;
            if (!found) *image = i;
            found = pack;
            if (m->role == role && m->cutoff == cutoff) *image = i;
        }
    }
    return found;
}

modal_status tool_look_packed_png(const tool_look_pack *pack, int32_t image, char **bytes, int64_t *length, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_texture_image *m = &pack->head.images[image];
    const int64_t row = 4 * (int64_t)m->width, n = (int64_t)m->width * m->height;
    modal_png_room room = {0};
    uint8_t *texels = NULL, *turned = NULL; /* the lowest row first, the highest first */
    const uint8_t *made;
    int channels = 3;
    MODAL_TRY(modal_alloc(&texels, 4 * n, 1, "an image", err));
    MODAL_TRY(modal_alloc(&turned, 4 * n, 1, "an image", err));
    MODAL_TRY(modal_textures_read_image(pack->path, &pack->head, image, 0, texels, err));
    for (int64_t y = 0; y < m->height; y++) memcpy(turned + y * row, texels + (m->height - 1 - y) * row, (size_t)row);
    for (int64_t i = 0; i < n && channels == 3; i++)
        if (texels[4 * i + 3] != 255) channels = 4;
    MODAL_TRY(modal_png_encode(&room, &(modal_png_picture){turned, 8, channels, m->width, m->height}, &made, length, err));
    MODAL_TRY(modal_alloc(bytes, *length, 1, "an image", err));
    memcpy(*bytes, made, (size_t)*length);
done:
    modal_png_free(&room);
    modal_free(&texels);
    modal_free(&turned);
    return status;
}
