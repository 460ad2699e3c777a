/* SPDX-License-Identifier: Apache-2.0 */
/* modaltex pack: the images of a look as arrays with mip levels. */
#include <errno.h>
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <omp.h>
#include <string.h>
#include <unistd.h>

#include "formats/images/image.h"
#include "formats/meshes/text_reader.h"
#include "formats/textures/textures_h5.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"
#include "lib/texture/mips.h"
#include "tools/common/commit.h"
#include "tools/common/look.h"
#include "tools/modaltex/modaltex.h"

static const tool_option options[] = {
    {"layout", 0, "classes|thesis", "classes",
     "An array for each size of images, or the thesis's: one array of the largest size that smaller images fill by repeats.", 0},
    TOOL_OPTION_ANY_PATH,
    TOOL_OPTION_THREADS,
    TOOL_OPTION_FORCE,
    TOOL_OPTIONS_COMMON,
    {0},
};

const tool_program modaltex_pack_program = {
    .name = "modaltex",
    .summary = "pack: the images of a look as arrays with mip levels, and its materials as a table",
    .usage = "pack [options] LOOK.json|MODEL.obj|MODEL.mtl OUT.h5",
    .words = MODALTEX_COMMANDS,
    .options = options,
    .least_operands = 3,
    .most_operands = 3,
    .input_traits = TOOL_READS,
    .output = 3,
    .output_traits = TOOL_WRITES,
    .notes = "formats/textures.md says what is in OUT. Equal images and looks give equal bytes for every number of threads.",
    .examples = "modaltex pack tree.json tree_textures.h5",
};

/* The sizes of all images, by the beginnings of their files, and their paths [n_images]. */
static modal_status read_heads(const tool_look *look, modal_texture_plan *plan, char **paths, modal_error *err)
{
    enum { BEGINNING = 1 << 16 };
    modal_status status = MODAL_OK;
    char *bytes = NULL, *whole = NULL;
    int64_t length = 0;
    modal_image_head head;
    MODAL_TRY(modal_alloc(&bytes, BEGINNING, 1, "an image", err));
    for (int32_t i = 0; i < plan->n_images; i++) {
        modal_texture_image *m = &plan->images[i];
        MODAL_TRY(tool_look_image(look, m->name, &paths[i], err));
        const int file = modal_disk_open(paths[i]);
        if (file < 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: cannot open, %s", m->name, strerror(errno));
        const int64_t n = modal_disk_read(file, 0, bytes, BEGINNING);
        close(file);
        /* heads may lie farther inside, and how much can be in a file is seen by its length */
        if (n <= 0 || modal_image_head_read(bytes, n, m->name, &head, NULL) != MODAL_OK) {
            MODAL_TRY(modal_file_load(paths[i], &whole, &length, err));
            MODAL_TRY(modal_image_head_read(whole, length, m->name, &head, err));
            modal_free(&whole);
        }
        m->width = head.width;
        m->height = head.height;
    }
done:
    modal_free(&bytes);
    modal_free(&whole);
    return status;
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

/* Room of one thread, as large as its largest image so far. */
typedef struct room {
    uint8_t *texels, *own;
    int64_t texels_capacity, own_capacity;
} room;

static modal_status pack_one(const modal_texture_plan *plan, int32_t i, const char *path, int file, room *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_texture_image *m = &plan->images[i];
    const modal_texture_class *k = &plan->classes[m->class];
    char *bytes = NULL;
    int64_t length = 0;
    modal_image_head head;
    MODAL_TRY(modal_file_load(path, &bytes, &length, err));
    MODAL_TRY(modal_image_head_read(bytes, length, m->name, &head, err));
    if (head.width != m->width || head.height != m->height) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: has changed meanwhile", m->name);
    MODAL_TRY(modal_grow(&r->texels, &r->texels_capacity, modal_mip_bytes(k->width, k->height), 1, "an image", err));
    if (plan->thesis) {
        MODAL_TRY(modal_grow(&r->own, &r->own_capacity, 4 * (int64_t)m->width * m->height, 1, "an image", err));
        MODAL_TRY(modal_image_decode(bytes, length, m->name, r->own, err));
        fill_layer(m, k, r->own, r->texels);
    } else {
        MODAL_TRY(modal_image_decode(bytes, length, m->name, r->texels, err));
    }
    modal_free(&bytes);
    MODAL_TRY(modal_mip_make(m->role ? MODAL_MIP_NORMALS : MODAL_MIP_COLOURS, m->cutoff, k->width, k->height, r->texels, err));
    MODAL_TRY(modal_textures_put(file, plan, i, r->texels, err));
done:
    modal_free(&bytes);
    return status;
}

/* Images one a thread. Which image's error is told does not depend on the threads: that of the lowest number. */
static modal_status pack_all(tool *t, const modal_texture_plan *plan, char *const *paths, int file, int threads, modal_error *err)
{
    int32_t failed_at = INT32_MAX, n_done = 0;
    int stop = 0;
    modal_status failed = MODAL_OK;
    modal_error failure = {0};
#ifdef __GLIBC__ /* megabytes are asked for and freed with every image: keep them instead of having the system clear them again */
    mallopt(M_TRIM_THRESHOLD, 1 << 28);
    mallopt(M_MMAP_THRESHOLD, 1 << 25);
#endif
#pragma omp parallel num_threads(threads)
    {
        room r = {0};
#pragma omp for schedule(dynamic, 1)
        for (int32_t i = 0; i < plan->n_images; i++) {
            int skip;
#pragma omp critical(modaltex_pack)
            skip = stop || i > failed_at;
            if (skip) continue;
            modal_error own = {0};
            const modal_status status = pack_one(plan, i, paths[i], file, &r, &own);
#pragma omp critical(modaltex_pack)
            {
                n_done++;
                if (status != MODAL_OK && i < failed_at) {
                    failed_at = i;
                    failed = status;
                    failure = own;
                }
                if (omp_get_thread_num() == 0 &&
                    modal_progress_report(&t->progress, "images", (double)n_done / plan->n_images, NULL) != MODAL_OK)
                    stop = 1;
            }
        }
        modal_free(&r.texels);
        modal_free(&r.own);
    }
    if (failed != MODAL_OK) return modal_error_set(err, failed, "%s", failure.message);
    return stop ? modal_error_set(err, MODAL_ERROR_INTERRUPTED, "images: interrupted") : MODAL_OK;
}

static int64_t bytes_of(const modal_texture_plan *plan)
{
    int64_t bytes = 0;
    for (int32_t c = 0; c < plan->n_classes; c++)
        bytes += plan->classes[c].n_layers * modal_mip_bytes(plan->classes[c].width, plan->classes[c].height);
    return bytes;
}

int modaltex_pack(int argc, char **argv)
{
    tool t;
    int exit_code;
    if (tool_start(&t, &modaltex_pack_program, argc, argv, &exit_code)) return exit_code;
    modal_status status = MODAL_OK;
    modal_error err = {0};
    tool_look look = {0};
    tool_output output = {0};
    modal_texture_plan plan = {0};
    char **paths = NULL;
    int file = -1, threads = 1;
    double start = tool_seconds();
    const char *layout = tool_value(&t.arguments, "layout");
    const int thesis = strcmp(layout, "thesis") == 0;

    if (!thesis && strcmp(layout, "classes") != 0)
        MODAL_FAIL(&err, MODAL_ERROR_USAGE, "--layout: must be classes or thesis, %s", layout);
    MODAL_TRY(tool_threads(&t, &threads, &err));
    MODAL_TRY(tool_output_begin(&output, t.arguments.operands[2], tool_count(&t.arguments, "force") > 0, &err));
    MODAL_TRY(tool_look_read(t.arguments.operands[1], NULL, tool_count(&t.arguments, "any-path"), &look, NULL, &err));
    MODAL_TRY(modal_texture_plan_begin(&plan, &look.look, thesis, &err));
    MODAL_TRY(modal_alloc_zero(&paths, plan.n_images, sizeof *paths, "images", &err));
    MODAL_TRY(read_heads(&look, &plan, paths, &err));
    MODAL_TRY(modal_texture_plan_end(&plan, &err));
    MODAL_TRY(modal_textures_write_head(output.temporary, &look.look, &plan, &err));
    file = open(output.temporary, O_WRONLY | O_CLOEXEC);
    if (file < 0) MODAL_FAIL(&err, MODAL_ERROR_SYSTEM, "%s: cannot write, %s", output.path, strerror(errno));
    MODAL_TRY(pack_all(&t, &plan, paths, file, threads, &err));
    tool_stage(&t, "images", tool_seconds() - start, bytes_of(&plan));
    start = tool_seconds();
    MODAL_TRY(tool_output_complete(&output, &err));
    tool_stage(&t, "sync", tool_seconds() - start, -1);
    tool_note(&t, "%d material%s, %d image%s of %d size%s, %.1f MB", plan.n_materials, plan.n_materials == 1 ? "" : "s", plan.n_images,
              plan.n_images == 1 ? "" : "s", plan.n_classes, plan.n_classes == 1 ? "" : "s", (double)bytes_of(&plan) / 1e6);
    json_object_set_new(t.report, "images", json_integer(plan.n_images));
    json_object_set_new(t.report, "classes", json_integer(plan.n_classes));
    json_object_set_new(t.report, "texel_bytes", json_integer(bytes_of(&plan)));
done:
    if (file >= 0) close(file);
    tool_output_name_error(&output, &err);
    tool_output_discard(&output);
    for (int32_t i = 0; paths && i < plan.n_images; i++) modal_free(&paths[i]);
    modal_free(&paths);
    modal_texture_plan_free(&plan);
    tool_look_free(&look);
    return tool_finish(&t, status, &err, TOOL_EXIT_DONE);
}
