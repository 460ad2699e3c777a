/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/look_images.h"

#include <string.h>

#include "formats/images/image.h"
#include "lib/base/memory.h"

/* used [n_materials]: 1 for those that some object has. */
static modal_status find_used(const modal_look *look, const modal_basis *basis, uint8_t *used, modal_error *err)
{
    modal_look_variants shown;
    const modal_status status = modal_look_variants_make(&shown, look, basis, 0, err);
    for (int32_t i = 0; status == MODAL_OK && i < shown.n_variants; i++)
        for (int64_t t = 0; t < basis->shapes[shown.variants[i].shape].surface.n_triangles; t++) used[shown.variants[i].materials[t]] = 1;
    modal_look_variants_free(&shown);
    return status;
}

static modal_status read_image(const tool_look *look, const char *name, tool_look_images *images, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *bytes = NULL;
    int64_t length = 0;
    modal_image_head head;
    if (!name) return MODAL_OK;
    for (int32_t i = 0; i < images->n; i++)
        if (strcmp(images->list[i].name, name) == 0) return MODAL_OK;
    MODAL_TRY(tool_look_image_load(look, name, &bytes, &length, err));
    MODAL_TRY(modal_image_head_read(bytes, length, name, &head, err));
    MODAL_TRY(modal_grow(&images->list, &images->capacity, images->n + 1, sizeof *images->list, "images", err));
    images->list[images->n++] = (modal_sequence_image){name, modal_image_media_type(head.kind), NULL, bytes, length};
    bytes = NULL;
done:
    modal_free(&bytes);
    return status;
}

modal_status tool_look_images_read(const tool_look *look, const char *path, const modal_basis *basis, tool_look_images *images,
                                   modal_error *err)
{
    modal_status status = MODAL_OK;
    uint8_t *used = NULL;
    MODAL_TRY(modal_alloc_zero(&used, look->look.n_materials, 1, "materials", err));
    status = modal_look_check_basis(&look->look, basis, err);
    if (status == MODAL_OK) status = find_used(&look->look, basis, used, err);
    if (status == MODAL_ERROR_INPUT) modal_error_context(err, "%s", path);
    for (int32_t i = 0; status == MODAL_OK && i < look->look.n_materials; i++) {
        if (!used[i]) continue;
        MODAL_TRY(read_image(look, look->look.materials[i].image, images, err));
        MODAL_TRY(read_image(look, look->look.materials[i].normal_image, images, err));
    }
done:
    modal_free(&used);
    return status;
}

void tool_look_images_free(tool_look_images *images)
{
    for (int32_t i = 0; i < images->n; i++) {
        void *bytes = (void *)(uintptr_t)images->list[i].bytes; /* ours */
        modal_free(&bytes);
    }
    modal_free(&images->list);
    memset(images, 0, sizeof *images);
}

int64_t tool_look_images_bytes(const tool_look_images *images)
{
    int64_t bytes = 0;
    for (int32_t i = 0; i < images->n; i++) bytes += images->list[i].length;
    return bytes;
}
