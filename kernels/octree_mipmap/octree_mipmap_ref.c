/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/octree_mipmap/octree_mipmap.h"

/* What child i adds to the sums, and how many samples it has. */
static int64_t child(const modal_octree_mipmap_task *t, int64_t i, double add[4])
{
    const int width = modal_octree_sum_width(t->channels), numbers = t->channels == MODAL_OCTREE_FLOAT3 ? 3 : width;
    if (!t->samples) {
        for (int c = 0; c < numbers; c++) add[c] = (double)t->child_sums[width * i + c];
        return t->child_counts[i];
    }
    if (t->channels != MODAL_OCTREE_RGBA8) {
        for (int c = 0; c < numbers; c++) add[c] = (double)((const float *)t->samples)[numbers * i + c];
        return 1;
    }
    const uint8_t *rgba = (const uint8_t *)t->samples + 4 * i;
    add[3] = rgba[3] / 255.0 + (double)MODAL_OCTREE_CLEAR;
    for (int c = 0; c < 3; c++) add[c] = add[3] * (double)t->srgb->linear[rgba[c]];
    return 1;
}

static uint8_t byte_of(const modal_srgb_limits *srgb, double linear)
{
    int value = 255;
    while (value > 0 && linear < (double)srgb->limits[value]) value--;
    return (uint8_t)value;
}

static void put_mean(const modal_octree_mipmap_task *t, int64_t node, const double sum[4], int64_t count)
{
    if (t->channels == MODAL_OCTREE_RGBA8) {
        uint8_t *to = (uint8_t *)t->means + 4 * node;
        const double alpha = 255 * (sum[3] / (double)count - (double)MODAL_OCTREE_CLEAR);
        for (int c = 0; c < 3; c++) to[c] = byte_of(t->srgb, sum[c] / sum[3]);
        to[3] = (uint8_t)(alpha <= 0 ? 0 : alpha >= 255 ? 255 : (int)(alpha + 0.5));
        return;
    }
    const int numbers = modal_octree_width(t->channels);
    for (int c = 0; c < numbers; c++) ((float *)t->means)[numbers * node + c] = (float)(sum[c] / (double)count);
}

modal_status modal_octree_mipmap_ref(const modal_octree_mipmap_task *t, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    const int width = modal_octree_sum_width(t->channels);
    for (int64_t node = 0; node < t->n_nodes; node++) {
        double sum[4] = {0}, add[4] = {0};
        int64_t count = 0;
        for (int64_t i = t->first[node]; i < t->first[node + 1]; i++) {
            count += child(t, i, add);
            for (int c = 0; c < 4; c++) sum[c] += add[c];
        }
        for (int c = 0; c < width; c++) t->sums[width * node + c] = (float)sum[c];
        t->counts[node] = (int32_t)count;
        put_mean(t, node, sum, count);
    }
    return MODAL_OK;
}
