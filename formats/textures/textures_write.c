/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/textures/textures_h5.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "formats/h5/h5_util.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"

/* ---- the plan ---- */

static modal_status add_image(modal_texture_plan *plan, int64_t *capacity, const char *name, int role, double cutoff, int32_t *number,
                              modal_error *err)
{
    *number = -1;
    if (!name) return MODAL_OK;
    for (int32_t i = 0; i < plan->n_images; i++) {
        const modal_texture_image *other = &plan->images[i];
        if (other->role != role || other->cutoff != cutoff || strcmp(other->name, name) != 0) continue;
        *number = i;
        return MODAL_OK;
    }
    const modal_status status = modal_grow(&plan->images, capacity, plan->n_images + 1, sizeof *plan->images, "images", err);
    if (status != MODAL_OK) return status;
    plan->images[plan->n_images] = (modal_texture_image){.name = name, .role = role, .cutoff = cutoff, .scale = {1, 1}};
    *number = plan->n_images++;
    return MODAL_OK;
}

modal_status modal_texture_plan_begin(modal_texture_plan *plan, const modal_look *look, int thesis, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t capacity = 0;
    *plan = (modal_texture_plan){.thesis = thesis, .n_materials = look->n_materials};
    MODAL_TRY(modal_alloc(&plan->of_material, look->n_materials, sizeof *plan->of_material, "materials", err));
    for (int32_t i = 0; i < look->n_materials; i++) {
        const modal_look_material *m = &look->materials[i];
        const double cutoff = m->alpha == MODAL_ALPHA_CUTOUT ? m->cutoff : -1;
        MODAL_TRY(add_image(plan, &capacity, m->image, 0, cutoff, &plan->of_material[i][0], err));
        MODAL_TRY(add_image(plan, &capacity, m->normal_image, 1, -1, &plan->of_material[i][1], err));
    }
done:
    if (status != MODAL_OK) modal_texture_plan_free(plan);
    return status;
}

static modal_status plan_thesis(modal_texture_plan *plan, modal_error *err)
{
    int32_t width = 1, height = 1;
    if (plan->n_images > MODAL_TEXTURE_THESIS_IMAGES)
        return modal_error_set(err, MODAL_ERROR_INPUT, "the thesis's layout has at most %d images, %d", MODAL_TEXTURE_THESIS_IMAGES,
                               plan->n_images);
    for (int32_t i = 0; i < plan->n_images; i++) {
        if (plan->images[i].width > width) width = plan->images[i].width;
        if (plan->images[i].height > height) height = plan->images[i].height;
    }
    for (int32_t i = 0; i < plan->n_images; i++) {
        modal_texture_image *m = &plan->images[i];
        m->layer = i;
        m->scale[0] = width > 1 ? (m->width - 1.0) / (width - 1.0) : 0;
        m->scale[1] = height > 1 ? (m->height - 1.0) / (height - 1.0) : 0;
    }
    if (plan->n_images > 0) plan->classes[plan->n_classes++] = (modal_texture_class){width, height, plan->n_images};
    return MODAL_OK;
}

modal_status modal_texture_plan_end(modal_texture_plan *plan, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_alloc_zero(&plan->classes, plan->n_images, sizeof *plan->classes, "classes", err));
    if (plan->thesis) MODAL_TRY(plan_thesis(plan, err));
    for (int32_t i = 0; i < plan->n_images && !plan->thesis; i++) {
        modal_texture_image *m = &plan->images[i];
        int32_t c = 0;
        while (c < plan->n_classes && (plan->classes[c].width != m->width || plan->classes[c].height != m->height ||
                                       plan->classes[c].n_layers == MODAL_TEXTURE_LAYERS)) c++;
        if (c == plan->n_classes) plan->classes[plan->n_classes++] = (modal_texture_class){m->width, m->height, 0};
        m->class = c;
        m->layer = plan->classes[c].n_layers++;
    }
    for (int32_t c = 0; c < plan->n_classes; c++) {
        modal_texture_class *k = &plan->classes[c];
        for (int32_t w = k->width, h = k->height; k->n_levels == 0 || w > 1 || h > 1; k->n_levels++) {
            if (k->n_levels == 0) continue;
            w = w > 1 ? w / 2 : 1;
            h = h > 1 ? h / 2 : 1;
        }
        MODAL_TRY(modal_alloc_zero(&k->places, k->n_levels, sizeof *k->places, "classes", err));
    }
done:
    return status;
}

void modal_texture_plan_free(modal_texture_plan *plan)
{
    for (int32_t c = 0; c < plan->n_classes; c++) modal_free(&plan->classes[c].places);
    modal_free(&plan->of_material);
    modal_free(&plan->images);
    modal_free(&plan->classes);
    memset(plan, 0, sizeof *plan);
}

/* ---- the file ---- */

/* Names, a line end after each: of materials (images NULL), or of images. */
static modal_status write_names(hid_t group, const modal_look *look, const modal_texture_plan *images, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t bytes = 0, at = 0;
    char *all = NULL;
    const int32_t n = images ? images->n_images : look->n_materials;
    for (int32_t i = 0; i < n; i++) bytes += (int64_t)strlen(images ? images->images[i].name : look->materials[i].name) + 1;
    MODAL_TRY(modal_alloc(&all, bytes + 1, 1, "names", err));
    for (int32_t i = 0; i < n; i++)
        at += snprintf(all + at, (size_t)(bytes + 1 - at), "%s\n", images ? images->images[i].name : look->materials[i].name);
    status = modal_h5_write_array(group, "names", MODAL_H5_U8, 1, &bytes, all, err);
done:
    modal_free(&all);
    return status;
}

static modal_status write_materials(hid_t root, const modal_look *look, const modal_texture_plan *plan, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t group = H5I_INVALID_HID;
    const int64_t dims[3] = {look->n_materials, 4, 4}, two[2] = {look->n_materials, 2};
    float (*values)[16] = NULL;
    MODAL_TRY(modal_alloc(&values, look->n_materials, sizeof *values, "materials", err));
    for (int32_t i = 0; i < look->n_materials; i++) {
        const modal_look_material *m = &look->materials[i];
        for (int k = 0; k < 3; k++) {
            values[i][k] = (float)m->ambient[k];
            values[i][4 + k] = (float)m->diffuse[k];
            values[i][8 + k] = (float)m->specular[k];
        }
        values[i][3] = values[i][7] = (float)m->opacity;
        values[i][11] = (float)m->shininess;
        values[i][12] = (float)m->cutoff;
        values[i][13] = (float)m->alpha;
        values[i][14] = (float)m->two_sided;
        values[i][15] = (float)m->wrap;
    }
    MODAL_TRY(modal_h5_make_group(root, "materials", &group, err));
    MODAL_TRY(modal_h5_write_array(group, "values", MODAL_H5_F32, 3, dims, values, err));
    MODAL_TRY(modal_h5_write_array(group, "images", MODAL_H5_I32, 2, two, plan->of_material, err));
    MODAL_TRY(write_names(group, look, NULL, err));
done:
    modal_free(&values);
    return modal_h5_end_group(&group, status, err);
}

static modal_status write_images(hid_t root, const modal_texture_plan *plan, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t group = H5I_INVALID_HID;
    const int64_t dims[2] = {plan->n_images, 2};
    int32_t *class = NULL, *layer = NULL;
    uint8_t *role = NULL;
    double *cutoff = NULL, *scale = NULL;
    MODAL_TRY(modal_alloc(&class, plan->n_images, sizeof *class, "images", err));
    MODAL_TRY(modal_alloc(&layer, plan->n_images, sizeof *layer, "images", err));
    MODAL_TRY(modal_alloc(&role, plan->n_images, sizeof *role, "images", err));
    MODAL_TRY(modal_alloc(&cutoff, plan->n_images, sizeof *cutoff, "images", err));
    MODAL_TRY(modal_alloc(&scale, 2 * (int64_t)plan->n_images, sizeof *scale, "images", err));
    for (int32_t i = 0; i < plan->n_images; i++) {
        class[i] = plan->images[i].class;
        layer[i] = plan->images[i].layer;
        role[i] = (uint8_t)plan->images[i].role;
        cutoff[i] = plan->images[i].cutoff;
        memcpy(scale + 2 * i, plan->images[i].scale, 2 * sizeof *scale);
    }
    MODAL_TRY(modal_h5_make_group(root, "images", &group, err));
    MODAL_TRY(modal_h5_write_array(group, "class", MODAL_H5_I32, 1, dims, class, err));
    MODAL_TRY(modal_h5_write_array(group, "layer", MODAL_H5_I32, 1, dims, layer, err));
    MODAL_TRY(modal_h5_write_array(group, "role", MODAL_H5_U8, 1, dims, role, err));
    MODAL_TRY(modal_h5_write_array(group, "cutoff", MODAL_H5_F64, 1, dims, cutoff, err));
    MODAL_TRY(modal_h5_write_array(group, "scale", MODAL_H5_F64, 2, dims, scale, err));
    MODAL_TRY(write_names(group, NULL, plan, err));
done:
    modal_free(&class);
    modal_free(&layer);
    modal_free(&role);
    modal_free(&cutoff);
    modal_free(&scale);
    return modal_h5_end_group(&group, status, err);
}

static modal_status make_class(hid_t classes, int32_t number, modal_texture_class *k, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t group = H5I_INVALID_HID, dataset = H5I_INVALID_HID;
    char name[32];
    int64_t dims[4] = {k->n_layers, k->height, k->width, 4};
    snprintf(name, sizeof name, "%04d", number);
    MODAL_TRY(modal_h5_make_group(classes, name, &group, err));
    for (int l = 0; l < k->n_levels; l++) {
        snprintf(name, sizeof name, "level_%02d", l);
        MODAL_TRY(modal_h5_make_rows(group, name, MODAL_H5_U8, 4, dims, &dataset, err));
        const haddr_t place = H5Dget_offset(dataset);
        MODAL_TRY(modal_h5_end_rows(&dataset, MODAL_OK, name, err));
        if (place == HADDR_UNDEF) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: has no place in the file", name);
        k->places[l] = (int64_t)place;
        for (int i = 1; i < 3; i++) dims[i] = dims[i] > 1 ? dims[i] / 2 : 1;
    }
done:
    status = modal_h5_end_rows(&dataset, status, "level", err);
    return modal_h5_end_group(&group, status, err);
}

modal_status modal_textures_write_head(const char *path, const modal_look *look, modal_texture_plan *plan, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t file = H5I_INVALID_HID, classes = H5I_INVALID_HID;
    MODAL_TRY(modal_h5_create(&file, path, err));
    MODAL_TRY(modal_h5_write_text(file, "modal_type", "textures", err));
    MODAL_TRY(modal_h5_write_text(file, "modal_version", "1.0", err));
    MODAL_TRY(modal_h5_write_text(file, "layout", plan->thesis ? "thesis" : "classes", err));
    MODAL_TRY(write_materials(file, look, plan, err));
    MODAL_TRY(write_images(file, plan, err));
    MODAL_TRY(modal_h5_make_group(file, "classes", &classes, err));
    MODAL_TRY(modal_h5_write_integer(classes, "count", plan->n_classes, err));
    for (int32_t c = 0; c < plan->n_classes; c++) MODAL_TRY(make_class(classes, c, &plan->classes[c], err));
done:
    status = modal_h5_end_group(&classes, status, err);
    status = modal_h5_finish(&file, status, err);
    if (status != MODAL_OK) modal_error_context(err, "%s", path);
    return status;
}

modal_status modal_textures_put(int file, const modal_texture_plan *plan, int32_t image, const uint8_t *texels, modal_error *err)
{
    const modal_texture_class *k = &plan->classes[plan->images[image].class];
    int64_t w = k->width, h = k->height;
    for (int l = 0; l < k->n_levels; l++) {
        const int64_t bytes = 4 * w * h;
        if (modal_disk_write(file, k->places[l] + plan->images[image].layer * bytes, texels, bytes) != 0)
            return modal_error_set(err, MODAL_ERROR_SYSTEM, "write error, %s", strerror(errno));
        texels += bytes;
        w = w > 1 ? w / 2 : 1;
        h = h > 1 ? h / 2 : 1;
    }
    return MODAL_OK;
}
