/* SPDX-License-Identifier: Apache-2.0 */
/* A node reads its children, which follow each other, once: as fast as memory for the deepest level, which is four fifths of all. */
#include "kernels/octree_mipmap/octree_mipmap.h"

/* The byte by eight halvings of the table. */
static inline uint8_t byte_of(const float *limits, float linear)
{
    int value = 0;
    for (int step = 128; step > 0; step /= 2) value += linear >= limits[value + step] ? step : 0;
    return (uint8_t)value;
}

static void colours(const modal_octree_mipmap_task *t, int64_t node)
{
    float sum[4] = {0};
    int32_t count = 0;
    const int32_t end = t->first[node + 1];
    for (int64_t i = t->first[node]; i < end; i++) {
        if (t->samples) {
            const uint8_t *rgba = (const uint8_t *)t->samples + 4 * i;
            const float w = (float)rgba[3] * (1 / 255.0f) + MODAL_OCTREE_CLEAR;
            for (int c = 0; c < 3; c++) sum[c] += w * t->srgb->linear[rgba[c]];
            sum[3] += w;
            count++;
        } else {
            for (int c = 0; c < 4; c++) sum[c] += t->child_sums[4 * i + c];
            count += t->child_counts[i];
        }
    }
    uint8_t *to = (uint8_t *)t->means + 4 * node;
    const float alpha = 255 * (sum[3] / (float)count - MODAL_OCTREE_CLEAR) + 0.5f;
    for (int c = 0; c < 4; c++) t->sums[4 * node + c] = sum[c];
    for (int c = 0; c < 3; c++) to[c] = byte_of(t->srgb->limits, sum[c] / sum[3]);
    to[3] = (uint8_t)(alpha <= 0 ? 0 : alpha >= 255 ? 255 : (int)alpha);
    t->counts[node] = count;
}

static void numbers(const modal_octree_mipmap_task *t, int64_t node)
{
    const int width = modal_octree_sum_width(t->channels), n = modal_octree_width(t->channels);
    float sum[4] = {0};
    int32_t count = 0;
    const int32_t end = t->first[node + 1];
    for (int64_t i = t->first[node]; i < end; i++) {
        for (int c = 0; c < n; c++) sum[c] += t->samples ? ((const float *)t->samples)[n * i + c] : t->child_sums[width * i + c];
        count += t->samples ? 1 : t->child_counts[i];
    }
    for (int c = 0; c < width; c++) t->sums[width * node + c] = sum[c];
    for (int c = 0; c < n; c++) ((float *)t->means)[n * node + c] = sum[c] / (float)count;
    t->counts[node] = count;
}

modal_status modal_octree_mipmap_cpu(const modal_octree_mipmap_task *t, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
#pragma omp parallel for schedule(static) if (t->n_nodes > 4096)
    for (int64_t node = 0; node < t->n_nodes; node++) {
        if (t->channels == MODAL_OCTREE_RGBA8) colours(t, node);
        else numbers(t, node);
    }
    return MODAL_OK;
}
