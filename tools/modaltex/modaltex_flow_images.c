/* SPDX-License-Identifier: Apache-2.0 */
/* modaltex flow --images: of each frame an image by the texture's atlas. Frames are held until there is one for each thread; then each thread reads
 * what the texels of one show, fills, encodes and writes it. */
#include <omp.h>
#include <string.h>

#include "formats/images/png_write.h"
#include "formats/sequences/file_out.h"
#include "kernels/push_pull/push_pull.h"
#include "lib/base/clock.h"
#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "tools/modaltex/modaltex_flow.h"

struct modaltex_flow_images {
    const modal_octree_atlas *atlas;
    const modal_flow_probe *probe;
    const char *folder; /* temporary */
    double range[2];
    int n, most;        /* frames that are held */
    int64_t first;      /* number of the first of them */
    int64_t n_samples;
    float *masses;      /* [most, n_samples] kg */
    float *values;      /* [most, n_rows] kg/m^2 */
    uint32_t *texels;   /* [most, height, width] */
    modal_push_pull_sum *scratch; /* [most, blocks] */
    modal_png_room *rooms; /* [most] */
    uint32_t *covered;  /* [height, (width + 31) / 32] */
    double processor;   /* s, of all threads */
};

modaltex_flow_images *modaltex_flow_images_delete(modaltex_flow_images *m)
{
    if (!m) return NULL;
    modal_free(&m->masses);
    modal_free(&m->values);
    modal_free(&m->texels);
    modal_free(&m->scratch);
    for (int k = 0; m->rooms && k < m->most; k++) modal_png_free(&m->rooms[k]);
    modal_free(&m->rooms);
    modal_free(&m->covered);
    modal_free(&m);
    return NULL;
}

modal_status modaltex_flow_images_new(modaltex_flow_images **images, const modaltex_flow_request *r, const modaltex_flow_input *in, const char *folder,
                                      modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_octree_atlas *a = &in->file.atlas;
    const int64_t words = (a->width + 31) / 32;
    modaltex_flow_images *m = NULL;
    *images = NULL;
    MODAL_TRY(modal_alloc_zero(&m, 1, sizeof *m, "images", err));
    m->atlas = a, m->probe = &in->texels, m->folder = folder, m->most = r->threads, m->n_samples = in->file.octree.n_samples;
    memcpy(m->range, r->range, sizeof m->range);
    MODAL_TRY(modal_alloc(&m->masses, m->most * m->n_samples, sizeof *m->masses, "images", err));
    MODAL_TRY(modal_alloc(&m->values, m->most * a->n_rows, sizeof *m->values, "images", err));
    MODAL_TRY(modal_alloc_zero(&m->texels, m->most * (int64_t)a->width * a->height, sizeof *m->texels, "images", err));
    MODAL_TRY(modal_alloc(&m->scratch, m->most * modal_push_pull_blocks(a->width, a->height), sizeof *m->scratch, "images", err));
    MODAL_TRY(modal_alloc_zero(&m->rooms, m->most, sizeof *m->rooms, "images", err));
    MODAL_TRY(modal_alloc_zero(&m->covered, words * a->height, sizeof *m->covered, "images", err));
    for (int64_t i = 0; i < a->n_rows; i++) {
        const int64_t x = a->texels[i] % a->width, y = a->texels[i] / a->width;
        m->covered[y * words + x / 32] |= (uint32_t)1 << x % 32;
    }
    *images = m;
    m = NULL;
done:
    modaltex_flow_images_delete(m);
    return status;
}

double modaltex_flow_images_processor(const modaltex_flow_images *m) { return m->processor; }

static modal_status write_file(const modaltex_flow_images *m, int64_t number, const uint8_t *bytes, int64_t length, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_file_out file = {.file = -1};
    MODAL_TRY(modal_file_out_open_frame(&file, m->folder, number, "png", err));
    MODAL_TRY(modal_file_out_write(&file, bytes, length, err));
    MODAL_TRY(modal_file_out_close(&file, err));
done:
    modal_file_out_free(&file);
    return status;
}

/* The held frame k: grey by the range, gaps filled. Its texels that nothing covers are filled anew each time. */
static modal_status write_frame(const modaltex_flow_images *m, int k, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_octree_atlas *a = m->atlas;
    float *values = m->values + k * a->n_rows;
    const double scale = 255 / (m->range[1] - m->range[0]);
    const modal_push_pull_task fill = {.width = a->width, .height = a->height, .covered = m->covered, .texels = m->texels + k * (int64_t)a->width * a->height,
                                       .scratch = m->scratch + k * modal_push_pull_blocks(a->width, a->height)};
    const uint8_t *bytes;
    int64_t length = 0;
    modal_flow_read(m->probe, m->masses + k * m->n_samples, NULL, values);
    for (int64_t i = 0; i < a->n_rows; i++) {
        const double level = ((double)values[i] - m->range[0]) * scale;
        const uint32_t grey = (uint32_t)((level > 0 ? level < 255 ? level : 255 : 0) + 0.5);
        fill.texels[a->texels[i]] = grey | grey << 8 | grey << 16 | 255u << 24;
    }
    MODAL_TRY(modal_push_pull_cpu(&fill, NULL, err));
    MODAL_TRY(modal_png_encode(&m->rooms[k], &(modal_png_picture){fill.texels, 8, 1, a->width, a->height}, &bytes, &length, err));
    MODAL_TRY(write_file(m, m->first + k, bytes, length, err));
done:
    return status;
}

modal_status modaltex_flow_images_flush(modaltex_flow_images *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    double processor = 0;
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(dynamic, 1) reduction(+ : processor)
    for (int k = 0; k < m->n; k++) {
        modal_error mine = {0};
        const double start = modal_clock(CLOCK_THREAD_CPUTIME_ID);
        const modal_status done = write_frame(m, k, &mine);
        processor += modal_clock(CLOCK_THREAD_CPUTIME_ID) - start;
        if (done == MODAL_OK) continue;
#pragma omp critical
        if (status == MODAL_OK) status = done, *err = mine;
    }
    m->processor += processor;
    m->first += m->n;
    m->n = 0;
    return status;
}

modal_status modaltex_flow_images_add(modaltex_flow_images *m, const float *masses, const float *more, modal_error *err)
{
    float *to = m->masses + m->n++ * m->n_samples;
    for (int64_t i = 0; i < m->n_samples; i++) to[i] = masses[i] + (more ? more[i] : 0);
    return m->n == m->most ? modaltex_flow_images_flush(m, err) : MODAL_OK;
}
