/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/h5/h5_util.h"
#include "formats/h5/rules.h"
#include "formats/textures/textures_h5.h"
#include "lib/base/memory.h"

static const modal_h5_place nowhere = {H5I_INVALID_HID, ""};

/* What is done with texels: nothing, they are read layer by layer, or kept. */
enum { MOST_COMPRESSED = 1100 }; /* deflate packs to no less than 1 / 1032 */
typedef enum texel_use { TEXELS_LEFT, TEXELS_TRIED, TEXELS_KEPT } texel_use;

/* /PLACE/names: of n things. names[i * stride] gets each; *text owns them. */
static modal_status read_names(const modal_h5_in *in, const modal_h5_place *place, int32_t n, char **text, const char **names, size_t stride)
{
    modal_status status = MODAL_OK;
    char where[MODAL_H5_PATH];
    int64_t bytes = -1;
    int32_t found = 0;
    uint8_t *values = NULL;
    snprintf(where, sizeof where, "%.200s/names", place->path);
    MODAL_TRY(modal_h5_read_array(in, place, "names", MODAL_H5_U8, 1, &bytes, MODAL_H5_REQUIRED, &values));
    if (!values) goto done;
    for (int64_t i = 0, begin = 0; i < bytes; i++) {
        const int end = values[i] == '\n';
        if (values[i] == 0 || (end && i == begin) || (!end && i == bytes - 1)) {
            status = modal_broken(&in->checker, where, "byte %lld: an empty name, a zero, or no line end after the last", (long long)i);
            goto done;
        }
        if (!end) continue;
        if (found < n) *(const char **)((char *)names + (size_t)found * stride) = (char *)values + begin;
        found++;
        begin = i + 1;
    }
    for (int64_t i = 0; i < bytes; i++)
        if (values[i] == '\n') values[i] = '\0';
    if (found != n) status = modal_broken(&in->checker, where, "%d names of %d", found, n);
    *text = (char *)values;
    values = NULL;
done:
    modal_free(&values);
    return status;
}

/* Numbers [from, from + n) of each row of values, whole ones from 0 to most. */
static modal_status whole_rule(const modal_h5_in *in, const modal_textures *t, int column, int most)
{
    for (int32_t i = 0; i < t->n_materials; i++) {
        const float x = t->values[i][column];
        if (!(x >= 0 && x <= (float)most) || x != floorf(x))
            return modal_broken(&in->checker, "/materials/values", "material %d, number %d: must be 0 to %d, %g", i, column, most, (double)x);
    }
    return MODAL_OK;
}

static modal_status read_materials(const modal_h5_in *in, const modal_h5_place *root, modal_textures *t)
{
    modal_status status = MODAL_OK;
    modal_h5_place place = nowhere;
    int64_t dims[3] = {-1, 4, 4}, two[2] = {-1, 2};
    MODAL_TRY(modal_h5_enter(in, root, "materials", MODAL_H5_REQUIRED, &place));
    MODAL_TRY(modal_h5_read_array(in, &place, "values", MODAL_H5_F32, 3, dims, MODAL_H5_REQUIRED, &t->values));
    two[0] = dims[0];
    MODAL_TRY(modal_h5_read_array(in, &place, "images", MODAL_H5_I32, 2, two, MODAL_H5_REQUIRED, &t->of_material));
    if (!t->values) goto done;
    if (dims[0] < 1 || dims[0] > INT32_MAX) {
        status = modal_broken(&in->checker, "/materials/values", "%lld materials", (long long)dims[0]);
        modal_free(&t->values);
        goto done;
    }
    t->n_materials = (int32_t)dims[0];
    MODAL_TRY(modal_alloc_zero(&t->names, t->n_materials, sizeof *t->names, "materials", in->checker.err));
    MODAL_TRY(modal_rule_finite_float(&in->checker, "/materials/values", t->values[0], t->n_materials, 16, (modal_axes){"material", "number"}));
    MODAL_TRY(whole_rule(in, t, 13, MODAL_ALPHAS - 1));
    MODAL_TRY(whole_rule(in, t, 14, 1));
    MODAL_TRY(whole_rule(in, t, 15, MODAL_WRAPS - 1));
    MODAL_TRY(read_names(in, &place, t->n_materials, &t->text[0], t->names, sizeof *t->names));
done:
    modal_h5_leave(&place);
    return status;
}

static modal_status image_rules(const modal_h5_in *in, const modal_textures *t)
{
    modal_status status = MODAL_OK;
    for (int32_t i = 0; i < t->n_images; i++) {
        const modal_texture_image *m = &t->images[i];
        if (m->role != 0 && m->role != 1) MODAL_TRY(modal_broken(&in->checker, "/images/role", "image %d: neither 0 nor 1, %d", i, m->role));
        if (!(m->cutoff == -1 || (m->cutoff >= 0 && m->cutoff <= 1)))
            MODAL_TRY(modal_broken(&in->checker, "/images/cutoff", "image %d: neither -1 nor 0 to 1, %g", i, m->cutoff));
        for (int k = 0; k < 2; k++)
            if (!(m->scale[k] >= 0 && m->scale[k] <= 1) || (!t->thesis && m->scale[k] != 1))
                MODAL_TRY(modal_broken(&in->checker, "/images/scale", "image %d: not what the layout has, %g", i, m->scale[k]));
    }
done:
    return status;
}

static modal_status read_images(const modal_h5_in *in, const modal_h5_place *root, modal_textures *t)
{
    modal_status status = MODAL_OK;
    modal_h5_place place = nowhere;
    int64_t n = -1, two[2] = {-1, 2};
    int32_t *class = NULL, *layer = NULL;
    uint8_t *role = NULL;
    double *cutoff = NULL, *scale = NULL;
    MODAL_TRY(modal_h5_enter(in, root, "images", MODAL_H5_REQUIRED, &place));
    MODAL_TRY(modal_h5_read_array(in, &place, "class", MODAL_H5_I32, 1, &n, MODAL_H5_REQUIRED, &class));
    two[0] = n;
    MODAL_TRY(modal_h5_read_array(in, &place, "layer", MODAL_H5_I32, 1, &n, MODAL_H5_REQUIRED, &layer));
    MODAL_TRY(modal_h5_read_array(in, &place, "role", MODAL_H5_U8, 1, &n, MODAL_H5_REQUIRED, &role));
    MODAL_TRY(modal_h5_read_array(in, &place, "cutoff", MODAL_H5_F64, 1, &n, MODAL_H5_REQUIRED, &cutoff));
    MODAL_TRY(modal_h5_read_array(in, &place, "scale", MODAL_H5_F64, 2, two, MODAL_H5_REQUIRED, &scale));
    if (n > INT32_MAX) MODAL_FAIL(in->checker.err, MODAL_ERROR_INPUT, "/images/class: too many, %lld", (long long)n);
    if (!class || !layer || !role || !cutoff || !scale) goto done;
    MODAL_TRY(modal_alloc_zero(&t->images, n, sizeof *t->images, "images", in->checker.err));
    t->n_images = (int32_t)n;
    for (int32_t i = 0; i < t->n_images; i++)
        t->images[i] = (modal_texture_image){
            .role = role[i], .cutoff = cutoff[i], .class = class[i], .layer = layer[i], .scale = {scale[2 * i], scale[2 * i + 1]}};
    MODAL_TRY(image_rules(in, t));
    MODAL_TRY(read_names(in, &place, t->n_images, &t->text[1], &t->images[0].name, sizeof *t->images));
    if (t->of_material)
        MODAL_TRY(modal_rule_range(&in->checker, "/materials/images", t->of_material[0], t->n_materials, 2, -1, t->n_images));
    for (int32_t i = 0; t->of_material && i < t->n_materials; i++)
        for (int k = 0; k < 2; k++) {
            const int32_t of = t->of_material[i][k];
            if (of >= 0 && of < t->n_images && t->images[of].role != k)
                MODAL_TRY(modal_broken(&in->checker, "/materials/images", "material %d: image %d has another role", i, of));
        }
done:
    modal_free(&class);
    modal_free(&layer);
    modal_free(&role);
    modal_free(&cutoff);
    modal_free(&scale);
    modal_h5_leave(&place);
    return status;
}

static modal_status try_layers(modal_h5_rows *rows, const int64_t dims[4], modal_error *err)
{
    modal_status status = MODAL_OK;
    uint8_t *layer = NULL;
    MODAL_TRY(modal_alloc(&layer, dims[1] * dims[2] * 4, 1, "a layer", err));
    for (int64_t i = 0; i < dims[0]; i++) MODAL_TRY(modal_h5_rows_read(rows, i, 1, layer, err));
done:
    modal_free(&layer);
    return status;
}

/* The sizes of the class by its first level; 0 levels: it is broken, which was reported. */
static modal_status begin_class(const modal_h5_in *in, const modal_h5_place *place, int thesis, modal_texture_class *k)
{
    char where[MODAL_H5_PATH];
    int64_t dims[4] = {-1, -1, -1, 4};
    *k = (modal_texture_class){0};
    const modal_status status = modal_h5_read_array(in, place, "level_00", MODAL_H5_U8, 4, dims, MODAL_H5_REQUIRED, NULL);
    if (status != MODAL_OK || dims[0] < 0) return status;
    const int64_t most = thesis ? MODAL_TEXTURE_THESIS_IMAGES : MODAL_TEXTURE_LAYERS;
    if (dims[0] < 1 || dims[0] > most || dims[1] < 1 || dims[1] > MODAL_TEXTURE_SIDE || dims[2] < 1 || dims[2] > MODAL_TEXTURE_SIDE) {
        snprintf(where, sizeof where, "%.200s/level_00", place->path);
        return modal_broken(&in->checker, where, "must be 1 to %lld layers of 1 to %d texels a side, is [%lld, %lld, %lld, 4]", (long long)most,
                            MODAL_TEXTURE_SIDE, (long long)dims[0], (long long)dims[1], (long long)dims[2]);
    }
    k->n_layers = (int32_t)dims[0];
    k->height = (int32_t)dims[1];
    k->width = (int32_t)dims[2];
    for (int32_t side = k->width > k->height ? k->width : k->height; side > 0; side /= 2) k->n_levels++;
    return MODAL_OK;
}

/* TEXELS_KEPT: of a class that was read before, whose levels have their memory. */
static modal_status read_class(const modal_h5_in *in, const modal_h5_place *classes, int32_t number, texel_use use, int thesis,
                               modal_texture_class *k)
{
    modal_status status = MODAL_OK;
    modal_h5_place place = nowhere;
    modal_h5_rows *rows = NULL;
    char name[32], next[32];
    snprintf(name, sizeof name, "%04d", number);
    MODAL_TRY(modal_h5_enter(in, classes, name, MODAL_H5_REQUIRED, &place));
    if (use != TEXELS_KEPT) MODAL_TRY(begin_class(in, &place, thesis, k));
    for (int l = 0; l < k->n_levels; l++) {
        const int64_t h = k->height >> l, w = k->width >> l;
        int64_t dims[4] = {k->n_layers, h > 0 ? h : 1, w > 0 ? w : 1, 4};
        snprintf(name, sizeof name, "level_%02d", l);
        MODAL_TRY(modal_h5_rows_open(in, &place, name, MODAL_H5_U8, 4, dims, MODAL_H5_REQUIRED, &rows));
        if (rows && use == TEXELS_TRIED) MODAL_TRY(try_layers(rows, dims, in->checker.err));
        if (rows && use == TEXELS_KEPT) MODAL_TRY(modal_h5_rows_read(rows, 0, dims[0], k->levels[l], in->checker.err));
        rows = modal_h5_rows_close(rows);
    }
    snprintf(next, sizeof next, "level_%02d", k->n_levels);
    if (k->n_levels > 0 && modal_h5_has_link(&place, next))
        status = modal_broken(&in->checker, place.path, "has a level after that of one texel, %s", next);
done:
    modal_h5_rows_close(rows);
    modal_h5_leave(&place);
    return status;
}

/* Every layer is one image's. */
static modal_status place_rules(const modal_h5_in *in, modal_textures *t)
{
    modal_status status = MODAL_OK;
    uint8_t *used = NULL;
    int64_t total = 0, *first = NULL;
    MODAL_TRY(modal_alloc(&first, t->n_classes, sizeof *first, "classes", in->checker.err));
    for (int32_t c = 0; c < t->n_classes; c++) {
        first[c] = total;
        total += t->classes[c].n_layers;
    }
    MODAL_TRY(modal_alloc_zero(&used, total, 1, "layers", in->checker.err));
    for (int32_t i = 0; i < t->n_images; i++) {
        modal_texture_image *m = &t->images[i];
        if (m->class < 0 || m->class >= t->n_classes) {
            MODAL_TRY(modal_broken(&in->checker, "/images/class", "image %d: there are %d classes, %d", i, t->n_classes, m->class));
            continue;
        }
        const modal_texture_class *k = &t->classes[m->class];
        if (k->n_levels == 0) continue;
        if (m->layer < 0 || m->layer >= k->n_layers || used[first[m->class] + m->layer]++)
            MODAL_TRY(modal_broken(&in->checker, "/images/layer", "image %d: layer %d is not there, or another's", i, m->layer));
        m->width = t->thesis ? 1 + (int32_t)lround(m->scale[0] * (k->width - 1)) : k->width;
        m->height = t->thesis ? 1 + (int32_t)lround(m->scale[1] * (k->height - 1)) : k->height;
    }
    for (int64_t i = 0; i < total; i++)
        if (!used[i]) {
            status = modal_broken(&in->checker, "/classes", "layer %lld of all is no image's", (long long)i);
            break;
        }
done:
    modal_free(&used);
    modal_free(&first);
    return status;
}

static modal_status read_classes(const modal_h5_in *in, const modal_h5_place *root, texel_use use, modal_textures *t)
{
    modal_status status = MODAL_OK;
    modal_h5_place classes = nowhere;
    int32_t n = 0;
    MODAL_TRY(modal_h5_enter(in, root, "classes", MODAL_H5_REQUIRED, &classes));
    MODAL_TRY(modal_h5_read_count(in, &classes, &n));
    if (classes.id < 0) goto done;
    MODAL_TRY(modal_alloc_zero(&t->classes, n, sizeof *t->classes, "classes", in->checker.err));
    t->n_classes = n;
    for (int32_t c = 0; c < n; c++) MODAL_TRY(read_class(in, &classes, c, use == TEXELS_TRIED ? use : TEXELS_LEFT, t->thesis, &t->classes[c]));
    MODAL_TRY(place_rules(in, t));
    if (use != TEXELS_KEPT) goto done;
    /* each array is no larger than what is stored for it can be; several that claim the same bytes are seen here */
    if (modal_textures_bytes(t) / MOST_COMPRESSED > in->file_bytes)
        MODAL_FAIL(in->checker.err, MODAL_ERROR_INPUT, "/classes: %lld bytes of texels in a file of %lld", (long long)modal_textures_bytes(t),
                   (long long)in->file_bytes);
    MODAL_TRY(modal_textures_hold(t, in->checker.err));
    for (int32_t c = 0; c < n; c++) MODAL_TRY(read_class(in, &classes, c, TEXELS_KEPT, t->thesis, &t->classes[c]));
done:
    modal_h5_leave(&classes);
    return status;
}

static modal_status read_all(const modal_h5_in *in, texel_use use, modal_textures *t)
{
    modal_status status = MODAL_OK;
    modal_h5_place root = nowhere;
    char *layout = NULL;
    MODAL_TRY(modal_h5_check_root(in, "textures", 1));
    MODAL_TRY(modal_h5_enter(in, NULL, NULL, MODAL_H5_REQUIRED, &root));
    MODAL_TRY(modal_h5_read_text(in, &root, "layout", &layout));
    t->thesis = layout && strcmp(layout, "thesis") == 0;
    if (layout && !t->thesis && strcmp(layout, "classes") != 0)
        MODAL_TRY(modal_broken(&in->checker, "/@layout", "must be classes or thesis, is \"%.64s\"", layout));
    MODAL_TRY(read_materials(in, &root, t));
    MODAL_TRY(read_images(in, &root, t));
    MODAL_TRY(read_classes(in, &root, use, t));
done:
    modal_free(&layout);
    modal_h5_leave(&root);
    return status;
}

static modal_status open_and_read(const char *path, texel_use use, modal_findings *findings, modal_textures *t, modal_error *err)
{
    const modal_h5_source source = {path, NULL, 0};
    modal_h5_in in = {.file = H5I_INVALID_HID, .checker = {findings, err}};
    *t = (modal_textures){0};
    modal_status status = modal_h5_open(&in, &source);
    if (status == MODAL_OK) status = modal_h5_close(&in, read_all(&in, use, t));
    if (status != MODAL_OK) {
        modal_error_context(err, "%s", path);
        modal_textures_free(t);
    }
    return status;
}

modal_status modal_textures_read(const char *path, int texels, modal_textures *textures, modal_error *err)
{
    return open_and_read(path, texels ? TEXELS_KEPT : TEXELS_LEFT, NULL, textures, err);
}

/* The lower left corner of the layer, where the image is. */
static modal_status read_corner(modal_h5_rows *rows, const modal_texture_class *k, const modal_texture_image *m, uint8_t *texels, modal_error *err)
{
    modal_status status = MODAL_OK;
    uint8_t *layer = NULL;
    MODAL_TRY(modal_alloc(&layer, 4 * (int64_t)k->width * k->height, 1, "a layer", err));
    MODAL_TRY(modal_h5_rows_read(rows, m->layer, 1, layer, err));
    for (int64_t y = 0; y < m->height; y++) memcpy(texels + 4 * y * m->width, layer + 4 * y * k->width, 4 * (size_t)m->width);
done:
    modal_free(&layer);
    return status;
}

static modal_status read_levels(const modal_h5_in *in, const modal_textures *t, const modal_texture_image *m, int all, uint8_t *texels)
{
    modal_status status = MODAL_OK;
    const modal_texture_class *k = &t->classes[m->class];
    modal_h5_place root = nowhere, classes = nowhere, place = nowhere;
    modal_h5_rows *rows = NULL;
    char name[32];
    MODAL_TRY(modal_h5_check_root(in, "textures", 1));
    MODAL_TRY(modal_h5_enter(in, NULL, NULL, MODAL_H5_REQUIRED, &root));
    MODAL_TRY(modal_h5_enter(in, &root, "classes", MODAL_H5_REQUIRED, &classes));
    snprintf(name, sizeof name, "%04d", m->class);
    MODAL_TRY(modal_h5_enter(in, &classes, name, MODAL_H5_REQUIRED, &place));
    for (int l = 0; l < (all ? k->n_levels : 1); l++) {
        const int64_t h = k->height >> l, w = k->width >> l;
        int64_t dims[4] = {k->n_layers, h > 0 ? h : 1, w > 0 ? w : 1, 4};
        snprintf(name, sizeof name, "level_%02d", l);
        MODAL_TRY(modal_h5_rows_open(in, &place, name, MODAL_H5_U8, 4, dims, MODAL_H5_REQUIRED, &rows));
        if (t->thesis) MODAL_TRY(read_corner(rows, k, m, texels, in->checker.err));
        else MODAL_TRY(modal_h5_rows_read(rows, m->layer, 1, texels, in->checker.err));
        texels += dims[1] * dims[2] * 4;
        rows = modal_h5_rows_close(rows);
    }
done:
    modal_h5_rows_close(rows);
    modal_h5_leave(&place);
    modal_h5_leave(&classes);
    modal_h5_leave(&root);
    return status;
}

modal_status modal_textures_read_image(const char *path, const modal_textures *textures, int32_t image, int all, uint8_t *texels,
                                       modal_error *err)
{
    const modal_h5_source source = {path, NULL, 0};
    modal_h5_in in = {.file = H5I_INVALID_HID, .checker = {NULL, err}};
    if (all && textures->thesis)
        return modal_error_set(err, MODAL_ERROR_USAGE, "%s: the layout thesis has no levels of one image", path);
    modal_status status = modal_h5_open(&in, &source);
    if (status == MODAL_OK) status = modal_h5_close(&in, read_levels(&in, textures, &textures->images[image], all, texels));
    if (status != MODAL_OK) modal_error_context(err, "%s", path);
    return status;
}

modal_status modal_textures_check(const char *path, modal_findings *findings, modal_error *err)
{
    modal_textures textures;
    const modal_status status = open_and_read(path, TEXELS_TRIED, findings, &textures, err);
    modal_textures_free(&textures);
    return status;
}
