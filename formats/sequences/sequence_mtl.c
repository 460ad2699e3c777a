/* SPDX-License-Identifier: Apache-2.0 */
/* sequence.mtl: the materials of the frames of obj/, as formats/meshes/mtl.h reads them. Images stay where they are: their names lead from the
 * folder of the file to them. */
#include <stdio.h>
#include <string.h>

#include "formats/sequences/file_out.h"
#include "formats/sequences/sequence_obj.h"
#include "formats/sequences/sequence_paint.h"

enum { MOST_NUMBERS = 400 };

static modal_status size(const modal_sequence_info *info, int64_t *disk_bytes, int64_t *memory_bytes, modal_error *err)
{
    (void)err;
    *memory_bytes = 1 << 20;
    *disk_bytes = 65536 + 65536 * (int64_t)info->look->look->n_materials;
    return MODAL_OK;
}

/* The name of the image as the file says it, or NULL. */
static const char *place_of(const modal_sequence_look *look, const char *image)
{
    for (int32_t i = 0; image && i < look->n_images; i++)
        if (look->images[i].name == image) return look->images[i].place;
    for (int32_t i = 0; image && i < look->n_images; i++)
        if (strcmp(look->images[i].name, image) == 0) return look->images[i].place;
    return NULL;
}

static modal_status put_map(modal_file_out *out, const char *keyword, const modal_look_material *m, const char *place, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (!place) return MODAL_OK;
    char text[64];
    const int n = snprintf(text, sizeof text, "%s%s ", keyword, m->wrap == MODAL_WRAP_CLAMP ? " -clamp on" : "");
    MODAL_TRY(modal_file_out_write(out, text, n, err));
    MODAL_TRY(modal_file_out_write(out, place, (int64_t)strlen(place), err));
    MODAL_TRY(modal_file_out_write(out, "\n", 1, err));
done:
    return status;
}

static modal_status put_material(modal_file_out *out, const modal_sequence_look *look, const modal_painted *painted, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_look_material *m = &look->look->materials[painted->material];
    char text[MOST_NUMBERS + sizeof painted->name];
    const double *t = painted->tint;
    int n = snprintf(text, sizeof text, "newmtl %s\nKa %.9g %.9g %.9g\nKd %.9g %.9g %.9g\nKs %.9g %.9g %.9g\nNs %.9g\n", painted->name,
                     m->ambient[0] * t[0], m->ambient[1] * t[1], m->ambient[2] * t[2], m->diffuse[0] * t[0], m->diffuse[1] * t[1],
                     m->diffuse[2] * t[2], m->specular[0], m->specular[1], m->specular[2], m->shininess);
    MODAL_TRY(modal_file_out_write(out, text, n, err));
    if (m->alpha != MODAL_ALPHA_OPAQUE && m->opacity < 1) {
        n = snprintf(text, sizeof text, "d %.9g\n", m->opacity);
        MODAL_TRY(modal_file_out_write(out, text, n, err));
    }
    MODAL_TRY(put_map(out, "map_Kd", m, place_of(look, m->image), err));
    if (m->alpha != MODAL_ALPHA_OPAQUE) MODAL_TRY(put_map(out, "map_d", m, place_of(look, m->image), err));
    MODAL_TRY(put_map(out, "norm", m, place_of(look, m->normal_image), err));
done:
    return status;
}

static modal_status begin(void **writer, const modal_sequence_target *target, const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_file_out out = {.file = -1};
    *writer = NULL;
    MODAL_TRY(modal_file_out_open(&out, target->files[0], err));
    for (int32_t i = 0; i < info->paint->n_paints; i++) MODAL_TRY(put_material(&out, info->look, &info->paint->paints[i], err));
    MODAL_TRY(modal_file_out_close(&out, err));
done:
    modal_file_out_free(&out);
    return status;
}

static modal_status add(void *writer, const modal_frames *frames, modal_error *err)
{
    (void)writer, (void)frames, (void)err;
    return MODAL_OK;
}

static modal_status end(void **writer, const modal_sequence_target *target, const modal_sequence_info *info, modal_error *err)
{
    (void)writer, (void)target, (void)info, (void)err;
    return MODAL_OK;
}

static void drop(void **writer) { *writer = NULL; }

const modal_sequence_format modal_sequence_mtl = {
    .files = {"sequence.mtl"}, .kinds = {"mtl"}, .holds_surface = 1, .carries = modal_sequence_is_points, .size = size, .begin = begin, .add = add,
    .end = end, .abort = drop};
