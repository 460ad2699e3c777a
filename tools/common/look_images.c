/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/look_images.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/meshes/text_reader.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"

modal_status tool_look_image_head(const tool_look *look, const char *name, modal_image_head *head, char **path, int64_t *length,
                                  modal_error *err)
{
    enum { BEGINNING = 1 << 16 };
    modal_status status = MODAL_OK;
    char *bytes = NULL;
    int64_t whole = 0;
    int32_t image;
    struct stat info;
    *path = NULL;
    const void *inside = tool_look_image_inside(look, name, &whole);
    if (inside) {
        if (length) *length = whole;
        return modal_image_head_read(inside, whole, name, head, err);
    }
    const tool_look_pack *pack = tool_look_packed(look, name, 0, -1, &image);
    if (pack) {
        const modal_texture_image *m = &pack->head.images[image];
        const modal_texture_class *k = &pack->head.classes[m->class];
        *head = (modal_image_head){MODAL_IMAGE_PNG, m->width, m->height, 0};
        if (length) *length = 4 * (int64_t)k->width * k->height;
        return MODAL_OK;
    }
    MODAL_TRY(tool_look_image(look, name, path, err));
    MODAL_TRY(modal_alloc(&bytes, BEGINNING, 1, "an image", err));
    const int file = modal_disk_open(*path);
    if (file < 0 || fstat(file, &info) != 0) {
        const int why = errno;
        if (file >= 0) close(file);
        MODAL_FAIL(err, modal_disk_open_status(why), "%s: cannot open, %s", name, strerror(why));
    }
    if (!S_ISREG(info.st_mode)) {
        close(file);
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: not a regular file", name);
    }
    const int64_t n = modal_disk_read(file, 0, bytes, BEGINNING);
    close(file);
    if (length) *length = info.st_size;
    /* heads may lie farther inside, and how much can be in a file is seen by its length */
    if (n <= 0 || modal_image_head_read(bytes, n, name, head, NULL) != MODAL_OK) {
        modal_free(&bytes);
        MODAL_TRY(modal_file_load(*path, &bytes, &whole, err));
        if (length) *length = whole;
        MODAL_TRY(modal_image_head_read(bytes, whole, name, head, err));
    }
done:
    modal_free(&bytes);
    if (status != MODAL_OK) modal_free(path);
    return status;
}

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

static int64_t read_file(void *context, int64_t at, void *bytes, int64_t n) { return modal_disk_read(*(int *)context, at, bytes, n); }

typedef struct held_bytes {
    const char *bytes;
    int64_t length;
} held_bytes;

static int64_t read_held(void *context, int64_t at, void *bytes, int64_t n)
{
    const held_bytes *held = context;
    if (at < 0 || at >= held->length) return 0;
    if (n > held->length - at) n = held->length - at;
    memcpy(bytes, held->bytes + at, (size_t)n);
    return n;
}

/* Nobody decodes an image that goes into another file as it is: a cut one is told here. bytes NULL: the file. */
static modal_status check_end(const char *path, const char *bytes, int64_t length, const modal_image_head *head, const char *name,
                              modal_error *err)
{
    held_bytes held = {bytes, length};
    if (bytes) return modal_image_end_check(read_held, &held, length, head, name, err);
    int file = modal_disk_open(path);
    if (file < 0) return modal_error_set(err, modal_disk_open_status(errno), "%s: cannot open, %s", name, strerror(errno));
    const modal_status status = modal_image_end_check(read_file, &file, length, head, name, err);
    close(file);
    return status;
}

static modal_status read_image(const tool_look *look, const char *name, int with_bytes, tool_look_images *images, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *bytes = NULL, *path = NULL;
    int64_t length = 0;
    modal_image_head head;
    if (!name) return MODAL_OK;
    for (int32_t i = 0; i < images->n; i++)
        if (strcmp(images->list[i].name, name) == 0) return MODAL_OK;
    MODAL_TRY(tool_look_image_head(look, name, &head, &path, &length, err));
    if (with_bytes || !path) {
        modal_free(&path);
        MODAL_TRY(tool_look_image_load(look, name, &bytes, &length, err));
        MODAL_TRY(modal_image_head_read(bytes, length, name, &head, err)); /* the file may be another one meanwhile */
    }
    MODAL_TRY(check_end(path, bytes, length, &head, name, err));
    MODAL_TRY(modal_grow(&images->list, &images->capacity, images->n + 1, sizeof *images->list, "images", err));
    images->list[images->n++] = (modal_sequence_image){name, modal_image_media_type(head.kind), NULL, bytes, length, path};
    bytes = path = NULL;
done:
    modal_free(&bytes);
    modal_free(&path);
    return status;
}

modal_status tool_look_images_read(const tool_look *look, const char *path, const modal_basis *basis, int bytes, tool_look_images *images,
                                   modal_error *err)
{
    modal_status status = MODAL_OK;
    uint8_t *used = NULL;
    MODAL_TRY(modal_alloc_zero(&used, look->look.n_materials, 1, "materials", err));
    status = modal_look_check_basis(&look->look, basis, err);
    if (status == MODAL_OK) status = find_used(&look->look, basis, used, err);
    if (status == MODAL_ERROR_INPUT) modal_error_context(err, "%s", path);
    for (int32_t i = 0; status == MODAL_OK && i < look->look.n_materials; i++)
        for (int role = 0; used[i] && role < 2; role++) {
            const modal_look_material *m = &look->look.materials[i];
            const char *solid = modal_look_solid(m, role), *image = modal_look_image(m, role);
            if (solid && !image)
                MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: material %s: %s is an octree texture, for which other files have no room; modaltex bake makes an "
                           "image of it", path, m->name, solid);
            MODAL_TRY(read_image(look, image, bytes, images, err));
        }
done:
    modal_free(&used);
    return status;
}

void tool_look_images_free(tool_look_images *images)
{
    for (int32_t i = 0; i < images->n; i++) {
        void *bytes = (void *)(uintptr_t)images->list[i].bytes, *path = (void *)(uintptr_t)images->list[i].path; /* ours */
        modal_free(&bytes);
        modal_free(&path);
    }
    modal_free(&images->list);
    memset(images, 0, sizeof *images);
}

int64_t tool_look_images_bytes(const tool_look_images *images)
{
    int64_t bytes = 0;
    for (int32_t i = 0; i < images->n; i++) bytes += images->list[i].bytes ? images->list[i].length : 0;
    return bytes;
}
