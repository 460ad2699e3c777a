/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/textures.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <omp.h>
#include <string.h>

#include "formats/images/image.h"
#include "formats/meshes/text_reader.h"
#include "lib/base/cores.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"
#include "lib/texture/mips.h"
#include "tools/common/look_images.h"

/* The sizes of all images, by the beginnings of their files, their paths [n_images], NULL for those that are no files, and the memory that decoding
 * takes beside the texels, bytes [n_images]. */
static modal_status read_heads(const tool_look *look, modal_textures *textures, char **paths, int64_t *bytes, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_image_head head;
    for (int32_t i = 0; i < textures->n_images; i++) {
        modal_texture_image *m = &textures->images[i];
        MODAL_TRY(tool_look_image_head(look, m->name, &head, &paths[i], &bytes[i], err));
        bytes[i] += modal_image_decoder_bytes(&head);
        m->width = head.width;
        m->height = head.height;
    }
done:
    return status;
}

/* As many threads as the limit has room for. bytes: of read_heads. */
static modal_status fit_threads(const modal_textures *textures, const int64_t *bytes, int holds, int64_t limit, int *threads, modal_error *err)
{
    const int64_t held = holds ? modal_textures_bytes(textures) : 0;
    int64_t each = 0;
    int32_t largest = 0;
    for (int32_t i = 0; i < textures->n_images; i++) {
        const modal_texture_image *m = &textures->images[i];
        const modal_texture_class *k = &textures->classes[m->class];
        const int64_t own = textures->thesis ? 4 * (int64_t)m->width * m->height : 0;
        const int64_t needed = bytes[i] + own + modal_mip_bytes(k->width, k->height) + MODAL_DISK_BLOCK;
        if (needed > each) each = needed, largest = i;
    }
    if (limit == 0 || textures->n_images == 0) return MODAL_OK;
    if (held + each > limit)
        return modal_error_set(err, MODAL_ERROR_MEMORY, "--memory-limit: the images of the look need %.1f MB, the largest is %s of %d x %d texels, %.1f MB",
                               1e-6 * (double)(held + each), textures->images[largest].name, textures->images[largest].width,
                               textures->images[largest].height, 1e-6 * (double)limit);
    const int64_t fit = (limit - held) / each;
    if (fit < *threads) *threads = (int)fit;
    return MODAL_OK;
}

/* Repeats the image [height, width] into its layer from the lower left corner. */
static void fill_layer(const modal_texture_image *m, const modal_texture_class *k, const uint8_t *image, uint8_t *layer)
{
    for (int32_t y = 0; y < k->height; y++)
        for (int32_t x = 0; x < k->width; x += m->width) {
            const int32_t n = k->width - x < m->width ? k->width - x : m->width;
            memcpy(layer + ((int64_t)y * k->width + x) * 4, image + (int64_t)(y % m->height) * m->width * 4, (size_t)n * 4);
        }
}

/* Room of one thread, as large as its largest image so far, and for the texels as much more as a block of the disk has. */
typedef struct room {
    uint8_t *texels, *own;
    int64_t texels_capacity, own_capacity;
} room;

/* Level 0 of an image, decoded into `own`. */
static modal_status decode_one(const tool_look *look, const modal_texture_image *m, const char *path, uint8_t *own, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *bytes = NULL;
    int64_t length = 0;
    modal_image_head head;
    MODAL_TRY(path ? modal_file_load(path, &bytes, &length, err) : tool_look_image_load(look, m->name, &bytes, &length, err));
    MODAL_TRY(modal_image_head_read(bytes, length, m->name, &head, err));
    if (head.width != m->width || head.height != m->height) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: has changed meanwhile", m->name);
    MODAL_TRY(modal_image_decode(bytes, length, m->name, own, err));
done:
    modal_free(&bytes);
    return status;
}

static modal_status pack_one(const tool_look *look, const modal_textures *textures, int32_t i, const char *path, const modal_textures_file *file,
                             room *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_texture_image *m = &textures->images[i];
    const modal_texture_class *k = &textures->classes[m->class];
    int32_t image;
    const tool_look_pack *pack = tool_look_packed(look, m->name, m->role, m->cutoff, &image);
    const modal_texture_image *packed = pack ? &pack->head.images[image] : NULL;
    const int levels = pack && !pack->head.thesis && !textures->thesis && packed->role == m->role && packed->cutoff == m->cutoff;
    MODAL_TRY(modal_grow(&r->texels, &r->texels_capacity, modal_mip_bytes(k->width, k->height) + MODAL_DISK_BLOCK, 1, "an image", err));
    const int64_t block = MODAL_DISK_BLOCK, before = modal_textures_alignment(textures, i) - (int64_t)((uintptr_t)r->texels % MODAL_DISK_BLOCK);
    uint8_t *const texels = r->texels + (before + block) % block;
    if (textures->thesis) {
        MODAL_TRY(modal_grow(&r->own, &r->own_capacity, 4 * (int64_t)m->width * m->height, 1, "an image", err));
    }
    uint8_t *const own = textures->thesis ? r->own : texels;
    if (pack) {
#pragma omp critical(tool_textures_packed) /* HDF5 */
        status = modal_textures_read_image(pack->path, &pack->head, image, levels, own, err);
        if (status != MODAL_OK) goto done;
    } else {
        MODAL_TRY(decode_one(look, m, path, own, err));
    }
    if (textures->thesis) fill_layer(m, k, own, texels);
    if (!levels)
        MODAL_TRY(modal_mip_make(m->role ? MODAL_MIP_NORMALS : MODAL_MIP_COLOURS, m->cutoff, k->width, k->height, texels, err));
    MODAL_TRY(modal_textures_put(file, textures, i, texels, err));
done:
    return status;
}

/* Images one a thread. Which image's error is told does not depend on the threads: that of the lowest number. */
static modal_status pack_all(const tool_look *look, const modal_textures *textures, char *const *paths, const modal_textures_file *file, int threads,
                             modal_progress *progress, modal_error *err)
{
    int32_t failed_at = INT32_MAX, n_done = 0;
    int stop = 0;
    modal_status failed = MODAL_OK;
    modal_error failure = {0};
#ifdef __GLIBC__ /* megabytes are asked for and freed with every image: keep them instead of having the system clear them again */
    mallopt(M_TRIM_THRESHOLD, 1 << 28);
    mallopt(M_MMAP_THRESHOLD, 1 << 25);
#endif
#pragma omp parallel num_threads(modal_free_threads(threads))
    {
        room r = {0};
#pragma omp for schedule(dynamic, 1)
        for (int32_t i = 0; i < textures->n_images; i++) {
            int skip;
#pragma omp critical(tool_textures)
            skip = stop || i > failed_at;
            if (skip) continue;
            modal_error own = {0};
            const modal_status status = pack_one(look, textures, i, paths[i], file, &r, &own);
#pragma omp critical(tool_textures)
            {
                n_done++;
                if (status != MODAL_OK && i < failed_at) {
                    failed_at = i;
                    failed = status;
                    failure = own;
                }
                if (omp_get_thread_num() == 0 &&
                    modal_progress_report(progress, "images", (double)n_done / textures->n_images, NULL) != MODAL_OK)
                    stop = 1;
            }
        }
        modal_free(&r.texels);
        modal_free(&r.own);
    }
    if (failed != MODAL_OK) return modal_error_set(err, failed, "%s", failure.message);
    return stop ? modal_error_set(err, MODAL_ERROR_INTERRUPTED, "images: interrupted") : MODAL_OK;
}

modal_status tool_textures_make(const tool_look *look, int thesis, const char *path, int threads, int64_t memory_limit,
                                modal_progress *progress, modal_textures *textures, modal_error *err)
{
    modal_status status = MODAL_OK;
    char **paths = NULL;
    int64_t *bytes = NULL;
    modal_textures_file file = {-1, -1};
    MODAL_TRY(modal_textures_begin(textures, &look->look, thesis, err));
    MODAL_TRY(modal_alloc_zero(&paths, textures->n_images, sizeof *paths, "images", err));
    MODAL_TRY(modal_alloc(&bytes, textures->n_images, sizeof *bytes, "images", err));
    MODAL_TRY(read_heads(look, textures, paths, bytes, err));
    MODAL_TRY(modal_textures_place(textures, err));
    MODAL_TRY(fit_threads(textures, bytes, path == NULL, memory_limit, &threads, err));
    if (path) {
        MODAL_TRY(modal_textures_write_head(path, textures, err));
        MODAL_TRY(modal_textures_open(&file, path, err));
    } else {
        MODAL_TRY(modal_textures_hold(textures, err));
    }
    MODAL_TRY(pack_all(look, textures, paths, path ? &file : NULL, threads, progress, err));
done:
    modal_textures_close(&file);
    for (int32_t i = 0; paths && i < textures->n_images; i++) modal_free(&paths[i]);
    modal_free(&paths);
    modal_free(&bytes);
    if (status != MODAL_OK) modal_textures_free(textures);
    return status;
}
