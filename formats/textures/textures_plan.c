/* SPDX-License-Identifier: Apache-2.0 */
/* Which image is where. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/textures/textures_h5.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"

static modal_status add_image(modal_textures *textures, int64_t *capacity, const char *name, int role, double cutoff, int32_t *number,
                              modal_error *err)
{
    *number = -1;
    if (!name) return MODAL_OK;
    for (int32_t i = 0; i < textures->n_images; i++) {
        const modal_texture_image *other = &textures->images[i];
        if (other->role != role || other->cutoff != cutoff || strcmp(other->name, name) != 0) continue;
        *number = i;
        return MODAL_OK;
    }
    const modal_status status = modal_grow(&textures->images, capacity, textures->n_images + 1, sizeof *textures->images, "images", err);
    if (status != MODAL_OK) return status;
    textures->images[textures->n_images] = (modal_texture_image){.name = name, .role = role, .cutoff = cutoff, .scale = {1, 1}};
    *number = textures->n_images++;
    return MODAL_OK;
}

static void set_values(const modal_look_material *m, float values[16])
{
    for (int k = 0; k < 3; k++) {
        values[k] = (float)m->ambient[k];
        values[4 + k] = (float)m->diffuse[k];
        values[8 + k] = (float)m->specular[k];
    }
    values[3] = values[7] = (float)m->opacity;
    values[11] = (float)m->shininess;
    values[12] = (float)m->cutoff;
    values[13] = (float)m->alpha;
    values[14] = (float)m->two_sided;
    values[15] = (float)m->wrap;
}

modal_status modal_textures_begin(modal_textures *textures, const modal_look *look, int thesis, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t capacity = 0;
    *textures = (modal_textures){.thesis = thesis, .n_materials = look->n_materials};
    MODAL_TRY(modal_alloc(&textures->of_material, look->n_materials, sizeof *textures->of_material, "materials", err));
    MODAL_TRY(modal_alloc(&textures->values, look->n_materials, sizeof *textures->values, "materials", err));
    MODAL_TRY(modal_alloc(&textures->names, look->n_materials, sizeof *textures->names, "materials", err));
    for (int32_t i = 0; i < look->n_materials; i++) {
        const modal_look_material *m = &look->materials[i];
        const double cutoff = m->alpha == MODAL_ALPHA_CUTOUT ? m->cutoff : -1;
        textures->names[i] = m->name;
        set_values(m, textures->values[i]);
        MODAL_TRY(add_image(textures, &capacity, modal_look_image(m, 0), 0, cutoff, &textures->of_material[i][0], err));
        MODAL_TRY(add_image(textures, &capacity, modal_look_image(m, 1), 1, -1, &textures->of_material[i][1], err));
    }
done:
    if (status != MODAL_OK) modal_textures_free(textures);
    return status;
}

static modal_status place_thesis(modal_textures *textures, modal_error *err)
{
    int32_t width = 1, height = 1;
    if (textures->n_images > MODAL_TEXTURE_THESIS_IMAGES)
        return modal_error_set(err, MODAL_ERROR_INPUT, "the thesis's layout has at most %d images, %d", MODAL_TEXTURE_THESIS_IMAGES,
                               textures->n_images);
    for (int32_t i = 0; i < textures->n_images; i++) {
        if (textures->images[i].width > width) width = textures->images[i].width;
        if (textures->images[i].height > height) height = textures->images[i].height;
    }
    for (int32_t i = 0; i < textures->n_images; i++) {
        modal_texture_image *m = &textures->images[i];
        m->layer = i;
        m->scale[0] = width > 1 ? (m->width - 1.0) / (width - 1.0) : 0;
        m->scale[1] = height > 1 ? (m->height - 1.0) / (height - 1.0) : 0;
    }
    if (textures->n_images > 0) textures->classes[textures->n_classes++] = (modal_texture_class){width, height, textures->n_images};
    return MODAL_OK;
}

static int count_levels(int32_t width, int32_t height)
{
    int n = 1;
    for (int32_t side = width > height ? width : height; side > 1; side /= 2) n++;
    return n;
}

modal_status modal_textures_place(modal_textures *textures, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_alloc_zero(&textures->classes, textures->n_images, sizeof *textures->classes, "classes", err));
    if (textures->thesis) MODAL_TRY(place_thesis(textures, err));
    for (int32_t i = 0; i < textures->n_images && !textures->thesis; i++) {
        modal_texture_image *m = &textures->images[i];
        int32_t c = 0;
        while (c < textures->n_classes && (textures->classes[c].width != m->width || textures->classes[c].height != m->height ||
                                           textures->classes[c].n_layers == MODAL_TEXTURE_LAYERS)) c++;
        if (c == textures->n_classes) textures->classes[textures->n_classes++] = (modal_texture_class){m->width, m->height, 0};
        m->class = c;
        m->layer = textures->classes[c].n_layers++;
    }
    for (int32_t c = 0; c < textures->n_classes; c++)
        textures->classes[c].n_levels = count_levels(textures->classes[c].width, textures->classes[c].height);
done:
    return status;
}

static int64_t level_bytes(const modal_texture_class *k, int level)
{
    const int64_t w = k->width >> level, h = k->height >> level;
    return 4 * (w > 0 ? w : 1) * (h > 0 ? h : 1);
}

int64_t modal_textures_bytes(const modal_textures *textures)
{
    int64_t bytes = 0;
    for (int32_t c = 0; c < textures->n_classes; c++)
        for (int l = 0; l < textures->classes[c].n_levels; l++) bytes += textures->classes[c].n_layers * level_bytes(&textures->classes[c], l);
    return bytes;
}

modal_status modal_textures_hold(modal_textures *textures, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int32_t c = 0; c < textures->n_classes; c++) {
        modal_texture_class *k = &textures->classes[c];
        int64_t bytes = 0;
        for (int l = 0; l < k->n_levels; l++) bytes += k->n_layers * level_bytes(k, l);
        MODAL_TRY(modal_alloc_zero(&k->levels, k->n_levels, sizeof *k->levels, "texels", err));
        MODAL_TRY(modal_alloc(&k->levels[0], bytes, 1, "texels", err));
        for (int l = 1; l < k->n_levels; l++) k->levels[l] = k->levels[l - 1] + k->n_layers * level_bytes(k, l - 1);
    }
done:
    return status;
}

modal_status modal_textures_open(modal_textures_file *f, const char *path, modal_error *err)
{
    struct stat about;
    *f = (modal_textures_file){open(path, O_WRONLY | O_CLOEXEC), -1};
    if (f->file < 0) return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot write, %s", path, strerror(errno));
    f->direct = modal_disk_open_direct(path);
    /* so that direct writes find their blocks; the length stays */
    if (f->direct < 0 || (fstat(f->file, &about) == 0 && (fallocate(f->file, FALLOC_FL_KEEP_SIZE, 0, about.st_size) == 0 || errno == EOPNOTSUPP)))
        return MODAL_OK;
    modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: write error, %s", path, strerror(errno));
    modal_textures_close(f);
    return MODAL_ERROR_SYSTEM;
}

void modal_textures_close(modal_textures_file *f)
{
    if (f->file >= 0) close(f->file);
    if (f->direct >= 0) close(f->direct);
    *f = (modal_textures_file){-1, -1};
}

int64_t modal_textures_alignment(const modal_textures *textures, int32_t image)
{
    const modal_texture_class *k = &textures->classes[textures->images[image].class];
    return k->places ? (k->places[0] + textures->images[image].layer * level_bytes(k, 0)) % MODAL_DISK_BLOCK : 0;
}

modal_status modal_textures_put(const modal_textures_file *file, const modal_textures *textures, int32_t image, const uint8_t *texels,
                                modal_error *err)
{
    enum { LEAST = 1 << 16 }; /* bytes; less goes faster through the cache */
    const modal_texture_class *k = &textures->classes[textures->images[image].class];
    for (int l = 0; l < k->n_levels; l++) {
        const int64_t bytes = level_bytes(k, l), at = textures->images[image].layer * bytes;
        if (!file) memcpy(k->levels[l] + at, texels, (size_t)bytes);
        else if (modal_disk_write_direct(file->file, bytes >= LEAST ? file->direct : -1, k->places[l] + at, texels, bytes, NULL) != 0)
            return modal_error_set(err, MODAL_ERROR_SYSTEM, "write error, %s", strerror(errno));
        texels += bytes;
    }
    return MODAL_OK;
}

void modal_textures_free(modal_textures *textures)
{
    for (int32_t c = 0; textures->classes && c < textures->n_classes; c++) {
        modal_texture_class *k = &textures->classes[c];
        modal_free(&k->places);
        if (k->levels) modal_free(&k->levels[0]);
        modal_free(&k->levels);
    }
    modal_free(&textures->values);
    modal_free(&textures->names);
    modal_free(&textures->of_material);
    modal_free(&textures->images);
    modal_free(&textures->classes);
    for (int i = 0; i < 2; i++) modal_free(&textures->text[i]);
    memset(textures, 0, sizeof *textures);
}
