/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "formats/h5/h5_util.h"
#include "formats/textures/textures_h5.h"
#include "lib/base/memory.h"

/* Names, a line end after each. */
static modal_status write_names(hid_t group, const modal_textures *textures, int of_images, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t bytes = 0, at = 0;
    char *all = NULL;
    const int32_t n = of_images ? textures->n_images : textures->n_materials;
    for (int32_t i = 0; i < n; i++) bytes += (int64_t)strlen(of_images ? textures->images[i].name : textures->names[i]) + 1;
    MODAL_TRY(modal_alloc(&all, bytes + 1, 1, "names", err));
    for (int32_t i = 0; i < n; i++)
        at += snprintf(all + at, (size_t)(bytes + 1 - at), "%s\n", of_images ? textures->images[i].name : textures->names[i]);
    status = modal_h5_write_array(group, "names", MODAL_H5_U8, 1, &bytes, all, err);
done:
    modal_free(&all);
    return status;
}

static modal_status write_materials(hid_t root, const modal_textures *textures, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t group = H5I_INVALID_HID;
    const int64_t dims[3] = {textures->n_materials, 4, 4}, two[2] = {textures->n_materials, 2};
    MODAL_TRY(modal_h5_make_group(root, "materials", &group, err));
    MODAL_TRY(modal_h5_write_array(group, "values", MODAL_H5_F32, 3, dims, textures->values, err));
    MODAL_TRY(modal_h5_write_array(group, "images", MODAL_H5_I32, 2, two, textures->of_material, err));
    MODAL_TRY(write_names(group, textures, 0, err));
done:
    return modal_h5_end_group(&group, status, err);
}

static modal_status write_images(hid_t root, const modal_textures *textures, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t group = H5I_INVALID_HID;
    const int64_t dims[2] = {textures->n_images, 2};
    int32_t *class = NULL, *layer = NULL;
    uint8_t *role = NULL;
    double *cutoff = NULL, *scale = NULL;
    MODAL_TRY(modal_alloc(&class, textures->n_images, sizeof *class, "images", err));
    MODAL_TRY(modal_alloc(&layer, textures->n_images, sizeof *layer, "images", err));
    MODAL_TRY(modal_alloc(&role, textures->n_images, sizeof *role, "images", err));
    MODAL_TRY(modal_alloc(&cutoff, textures->n_images, sizeof *cutoff, "images", err));
    MODAL_TRY(modal_alloc(&scale, 2 * (int64_t)textures->n_images, sizeof *scale, "images", err));
    for (int32_t i = 0; i < textures->n_images; i++) {
        class[i] = textures->images[i].class;
        layer[i] = textures->images[i].layer;
        role[i] = (uint8_t)textures->images[i].role;
        cutoff[i] = textures->images[i].cutoff;
        memcpy(scale + 2 * i, textures->images[i].scale, 2 * sizeof *scale);
    }
    MODAL_TRY(modal_h5_make_group(root, "images", &group, err));
    MODAL_TRY(modal_h5_write_array(group, "class", MODAL_H5_I32, 1, dims, class, err));
    MODAL_TRY(modal_h5_write_array(group, "layer", MODAL_H5_I32, 1, dims, layer, err));
    MODAL_TRY(modal_h5_write_array(group, "role", MODAL_H5_U8, 1, dims, role, err));
    MODAL_TRY(modal_h5_write_array(group, "cutoff", MODAL_H5_F64, 1, dims, cutoff, err));
    MODAL_TRY(modal_h5_write_array(group, "scale", MODAL_H5_F64, 2, dims, scale, err));
    MODAL_TRY(write_names(group, textures, 1, err));
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
    MODAL_TRY(modal_alloc_zero(&k->places, k->n_levels, sizeof *k->places, "classes", err));
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

modal_status modal_textures_write_head(const char *path, modal_textures *textures, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t file = H5I_INVALID_HID, classes = H5I_INVALID_HID;
    MODAL_TRY(modal_h5_create(&file, path, err));
    MODAL_TRY(modal_h5_write_text(file, "modal_format", "textures", err));
    MODAL_TRY(modal_h5_write_text(file, "modal_format_version", "1.0", err));
    MODAL_TRY(modal_h5_write_text(file, "layout", textures->thesis ? "thesis" : "classes", err));
    MODAL_TRY(write_materials(file, textures, err));
    MODAL_TRY(write_images(file, textures, err));
    MODAL_TRY(modal_h5_make_group(file, "classes", &classes, err));
    MODAL_TRY(modal_h5_write_integer(classes, "count", textures->n_classes, err));
    for (int32_t c = 0; c < textures->n_classes; c++) MODAL_TRY(make_class(classes, c, &textures->classes[c], err));
done:
    status = modal_h5_end_group(&classes, status, err);
    status = modal_h5_finish(&file, status, err);
    if (status != MODAL_OK) modal_error_context(err, "%s", path);
    return status;
}
