/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/octree/mipmaps.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/octree_mipmap/octree_mipmap.h"
#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/octree/bricks.h"
#include "lib/texture/mips.h"

/* Bytes of normals are numbers as they are. */
static void make_srgb(int normals, modal_srgb_limits *srgb)
{
    for (int i = 0; i < 256; i++) srgb->linear[i] = normals ? (float)i / 255 : modal_srgb_to_linear((uint8_t)i);
    modal_srgb_least(srgb->limits);
    for (int i = 1; i < 256 && normals; i++) srgb->limits[i] = ((float)i - 0.5f) / 255;
}

/* The mean of normals, v [3], with length 1 into a node's value; where they are opposite to each other the mean stays. */
static void put_normal(modal_octree_channels channels, const double v[3], void *value)
{
    const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if (!(length > 1e-3)) return;
    for (int k = 0; k < 3; k++) {
        if (channels == MODAL_OCTREE_FLOAT3) ((float *)value)[k] = (float)(v[k] / length);
        else ((uint8_t *)value)[k] = (uint8_t)(128.5 + 127 * v[k] / length);
    }
}

/* The means of a level of normals, of its sums. */
static void put_normals(const modal_octree_mipmap_task *t)
{
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
    for (int64_t i = 0; i < t->n_nodes; i++) {
        const float *sum = t->sums + 4 * i;
        double v[3];
        for (int k = 0; k < 3; k++)
            v[k] = t->channels == MODAL_OCTREE_FLOAT3 ? (double)sum[k] / t->counts[i] : (255 * (double)sum[k] / (double)sum[3] - 128) / 127;
        put_normal(t->channels, v, (char *)t->means + modal_octree_value_bytes(t->channels) * (size_t)i);
    }
}

/* Children of the nodes of a level: a cell that is not empty is one, and they are in order. */
static void count_children(const modal_octree *o, int level, int32_t *first)
{
    const int64_t width = (int64_t)1 << 3 * modal_octree_side_bits(o), begin = o->node_offsets[level], n = o->node_offsets[level + 1] - begin;
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        int32_t count = 0;
        for (int64_t k = 0; k < width; k++) count += o->cells[(begin + i) * width + k] != 0;
        first[i + 1] = count;
    }
    first[0] = 0;
    for (int64_t i = 0; i < n; i++) first[i + 1] += first[i];
}

modal_status modal_octree_make_mipmaps(modal_octree *o, modal_error *err)
{
    modal_status status = MODAL_OK;
    const size_t bytes = modal_octree_value_bytes(o->channels);
    const int64_t most = o->node_offsets[o->depth] - o->node_offsets[o->depth - 1], width = modal_octree_sum_width(o->channels);
    int32_t *first = NULL, *counts[2] = {NULL, NULL};
    float *sums[2] = {NULL, NULL};
    modal_srgb_limits srgb;
    make_srgb(o->normals, &srgb);
    modal_free(&o->mipmaps);
    MODAL_TRY(modal_alloc(&first, most + 1, sizeof *first, "mip levels", err));
    for (int i = 0; i < 2; i++) {
        MODAL_TRY(modal_alloc(&sums[i], most * width, sizeof *sums[i], "mip levels", err));
        MODAL_TRY(modal_alloc(&counts[i], most, sizeof *counts[i], "mip levels", err));
    }
    MODAL_TRY(modal_alloc(&o->mipmaps, o->n_nodes, bytes, "mip levels", err));
    for (int level = o->depth - 1; level >= 0; level--) {
        const int to = level % 2;
        count_children(o, level, first);
        const modal_octree_mipmap_task task = {
            .channels = o->channels, .n_nodes = o->node_offsets[level + 1] - o->node_offsets[level], .first = first,
            .samples = level == o->depth - 1 ? o->values : NULL, .child_sums = sums[1 - to], .child_counts = counts[1 - to], .srgb = &srgb,
            .sums = sums[to], .counts = counts[to], .means = (char *)o->mipmaps + bytes * (size_t)o->node_offsets[level]};
        MODAL_TRY(modal_octree_mipmap_cpu(&task, NULL, err));
        if (o->normals && o->channels != MODAL_OCTREE_FLOAT) put_normals(&task);
    }
done:
    for (int i = 0; i < 2; i++) {
        modal_free(&sums[i]);
        modal_free(&counts[i]);
    }
    modal_free(&first);
    if (status != MODAL_OK) modal_free(&o->mipmaps);
    return status;
}

/* ---- the cover of cut-outs ---- */

modal_status modal_octree_keep_cover(modal_octree *o, double cutoff, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *counts = NULL;
    int64_t seen = 0;
    const int least = modal_mip_least_seen(cutoff);
    for (int64_t i = 0; i < o->n_samples; i++) seen += ((const uint8_t *)o->values)[4 * i + 3] >= least;
    const double share = (double)seen / (double)o->n_samples;
    MODAL_TRY(modal_alloc(&counts, o->n_nodes, sizeof *counts, "mip levels", err));
    for (int level = o->depth - 1; level >= 0; level--) {
        const int64_t n = o->node_offsets[level + 1] - o->node_offsets[level];
        const int shift = 3 * modal_octree_side_bits(o) * (o->depth - level);
        int64_t histogram[256] = {0}, node = -1, last = -1;
        uint8_t *values = (uint8_t *)o->mipmaps + 4 * o->node_offsets[level];
        memset(counts, 0, (size_t)n * sizeof *counts);
        for (int64_t i = 0; i < o->n_samples; i++) {
            const int64_t key = shift < 63 ? o->keys[i] >> shift : 0;
            node += key != last;
            last = key;
            counts[node]++;
        }
        for (int64_t i = 0; i < n; i++) histogram[values[4 * i + 3]] += counts[i];
        const int best = modal_mip_cover_alpha(histogram, share * (double)o->n_samples, least);
        for (int64_t i = 0; best != least && i < n; i++) values[4 * i + 3] = modal_mip_covering(values[4 * i + 3], best, least);
    }
done:
    modal_free(&counts);
    return status;
}

/* ---- look-ups ---- */

/* A level of octave o: its nodes by their places, and how many samples each has. */
typedef struct node_level {
    int octave;
    int64_t n_nodes;
    const void *values; /* [n_nodes] */
    modal_bricks nodes;
    int32_t *counts; /* [n_nodes] */
    modal_octree_channels channels;
    int normals; /* as the octree's */
} node_level;

static void free_level(node_level *l)
{
    modal_bricks_free(&l->nodes);
    modal_free(&l->counts);
}

static modal_status find_nodes(const modal_octree *o, int tree_level, node_level *l, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t *keys = NULL, n = 0;
    const int shift = 3 * l->octave;
    MODAL_TRY(modal_alloc(&keys, l->n_nodes, sizeof *keys, "mip levels", err));
    MODAL_TRY(modal_alloc_zero(&l->counts, l->n_nodes, sizeof *l->counts, "mip levels", err));
    for (int64_t i = 0; i < o->n_samples; i++) {
        const int64_t key = shift < 63 ? o->keys[i] >> shift : 0;
        if (n == 0 || keys[n - 1] != key) keys[n++] = key;
        l->counts[n - 1]++;
    }
    MODAL_TRY(modal_bricks_of_keys(keys, n, &l->nodes, err));
    l->values = (const char *)o->mipmaps + modal_octree_value_bytes(o->channels) * (size_t)o->node_offsets[tree_level];
done:
    modal_free(&keys);
    return status;
}

static int64_t node_at(const node_level *l, int64_t x, int64_t y, int64_t z)
{
    if (x < 0 || y < 0 || z < 0) return -1;
    const int64_t brick = modal_bricks_find(&l->nodes, modal_morton(x >> 2, y >> 2, z >> 2));
    return brick < 0 ? -1 : modal_bricks_point(&l->nodes, brick, modal_octree_place((uint32_t)x, (uint32_t)y, (uint32_t)z, 0));
}

/* The mean of the nodes around a place where there is none. */
static void fill(const node_level *l, const int64_t c[3], void *value)
{
    double sum[4] = {0}, total = 0, alpha = 0;
    const int width = modal_octree_width(l->channels), rgba = l->channels == MODAL_OCTREE_RGBA8;
    for (int k = 0; k < 27; k++) {
        const int64_t node = node_at(l, c[0] + k % 3 - 1, c[1] + k / 3 % 3 - 1, c[2] + k / 9 - 1);
        if (node < 0) continue;
        const uint8_t *bytes = (const uint8_t *)l->values + 4 * node;
        const double weight = rgba ? l->counts[node] * (bytes[3] / 255.0 + (double)MODAL_OCTREE_CLEAR) : l->counts[node];
        for (int j = 0; j < (rgba ? 3 : width); j++) {
            const double linear = !rgba ? 0 : l->normals ? (bytes[j] - 128) / 127.0 : (double)modal_srgb_to_linear(bytes[j]);
            sum[j] += weight * (rgba ? linear : (double)((const float *)l->values)[width * node + j]);
        }
        alpha += (double)l->counts[node] * bytes[3] * rgba;
        total += weight;
        sum[3] += rgba ? l->counts[node] : 0;
    }
    for (int j = 0; j < (rgba ? 3 : width); j++) {
        sum[j] /= total;
        if (rgba && l->normals) ((uint8_t *)value)[j] = (uint8_t)(128.5 + 127 * sum[j]);
        else if (rgba) ((uint8_t *)value)[j] = modal_srgb_from_linear((float)sum[j]);
        else ((float *)value)[j] = (float)sum[j];
    }
    if (rgba) ((uint8_t *)value)[3] = (uint8_t)(alpha / sum[3] + 0.5);
    if (l->normals && width > 1) put_normal(l->channels, sum, value);
}

/* Cells of a level that the cells of the finest meet: at half a cell of the finest a level's cells end, so a cell of the finest is in up
 * to two along an axis. */
static modal_status coarse_cells(const modal_octree *o, const int64_t *cells, int octave, modal_bricks *met, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t last[6] = {-1};
    for (int64_t i = 0; i < o->n_cells; i++) {
        int64_t range[6];
        for (int k = 0; k < 3; k++) {
            const int64_t twice = 2 * (int64_t)modal_morton_squeeze((uint64_t)cells[i] >> k) + 1 + ((int64_t)1 << octave);
            range[k] = twice >> (octave + 1);
            range[3 + k] = (twice + 2) >> (octave + 1);
        }
        if (memcmp(range, last, sizeof range) == 0) continue;
        memcpy(last, range, sizeof range);
        for (int64_t z = range[2]; z <= range[5]; z++)
            for (int64_t y = range[1]; y <= range[4]; y++)
                for (int64_t x = range[0]; x <= range[3]; x++) {
                    int64_t at;
                    MODAL_TRY(modal_bricks_at(met, modal_morton(x >> 2, y >> 2, z >> 2), &at, err));
                    met->masks[at] |= (uint64_t)1 << modal_octree_place((uint32_t)x, (uint32_t)y, (uint32_t)z, 0);
                }
    }
done:
    return status;
}

/* The keys of a finished set; the caller frees them. */
static modal_status list_keys(const modal_bricks *b, int64_t **keys, modal_error *err)
{
    const modal_status status = modal_alloc(keys, b->first[b->n], sizeof **keys, "mip levels", err);
    int64_t n = 0;
    for (int64_t i = 0; status == MODAL_OK && i < b->n; i++)
        for (uint64_t m = b->masks[i]; m; m &= m - 1) (*keys)[n++] = (int64_t)(b->keys[i] << 6 | (unsigned)__builtin_ctzll(m));
    return status;
}

static modal_status make_level(const modal_octree *o, const int64_t *fine_cells, const node_level *l, modal_octree_tables *tables, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_bricks met = {0}, corners = {0};
    int64_t *cells = NULL, *keys = NULL;
    void *values = NULL;
    const size_t bytes = modal_octree_value_bytes(o->channels);
    MODAL_TRY(coarse_cells(o, fine_cells, l->octave, &met, err));
    MODAL_TRY(modal_bricks_add(&corners, &met, err));
    for (int axis = 0; axis < 3; axis++) MODAL_TRY(modal_bricks_widen(&corners, axis, err));
    MODAL_TRY(modal_bricks_finish(&met, err));
    MODAL_TRY(modal_bricks_finish(&corners, err));
    MODAL_TRY(list_keys(&met, &cells, err));
    MODAL_TRY(list_keys(&corners, &keys, err));
    const int64_t n = corners.first[corners.n];
    MODAL_TRY(modal_alloc(&values, n, bytes, "mip levels", err));
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        int64_t c[3];
        for (int k = 0; k < 3; k++) c[k] = (int64_t)modal_morton_squeeze((uint64_t)keys[i] >> k) - 1; /* lattice point i is node i - 1 */
        const int64_t node = node_at(l, c[0], c[1], c[2]);
        if (node >= 0) memcpy((char *)values + bytes * (size_t)i, (const char *)l->values + bytes * (size_t)node, bytes);
        else fill(l, c, (char *)values + bytes * (size_t)i);
    }
    const modal_octree_lattice lattice = {modal_octree_bits(o) - l->octave + 1, o->channels, met.first[met.n], n, cells, keys, values};
    MODAL_TRY(modal_octree_tables_of(&lattice, tables, err));
done:
    modal_bricks_free(&met);
    modal_bricks_free(&corners);
    modal_free(&cells);
    modal_free(&keys);
    modal_free(&values);
    return status;
}

modal_status modal_octree_pyramid_make(const modal_octree *o, modal_octree_pyramid *p, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t *cells = NULL;
    node_level l = {0};
    *p = (modal_octree_pyramid){0};
    MODAL_TRY(modal_octree_tables_make(o, &p->finest, err));
    MODAL_TRY(modal_octree_list_cells(o, &cells, err));
    for (int tree_level = o->depth - 1; tree_level >= 0; tree_level--) {
        l = (node_level){.octave = modal_octree_side_bits(o) * (o->depth - tree_level),
                         .n_nodes = o->node_offsets[tree_level + 1] - o->node_offsets[tree_level],
                         .channels = o->channels, .normals = o->normals};
        MODAL_TRY(find_nodes(o, tree_level, &l, err));
        MODAL_TRY(make_level(o, cells, &l, &p->tables[p->n_mips], err));
        p->mips[p->n_mips] = (modal_octree_mip){p->tables[p->n_mips].grid, l.octave};
        p->n_mips++;
        free_level(&l);
    }
done:
    free_level(&l);
    modal_free(&cells);
    if (status != MODAL_OK) modal_octree_pyramid_free(p);
    return status;
}

modal_status modal_octree_sample_level(const modal_octree_pyramid *p, float level, const double *positions, int64_t n, void *values,
                                       uint8_t *found, int64_t *n_outside, modal_error *err)
{
    const modal_octree_lookup_task with = {.filter = MODAL_OCTREE_TRILINEAR, .n_mips = p->n_mips, .mips = p->mips, .values = values, .found = found};
    return modal_octree_sample_with(&p->finest, &with, level, positions, n, n_outside, err);
}

int64_t modal_octree_pyramid_bytes(const modal_octree_pyramid *p)
{
    int64_t bytes = modal_octree_tables_bytes(&p->finest);
    for (int i = 0; i < p->n_mips; i++) bytes += modal_octree_tables_bytes(&p->tables[i]);
    return bytes;
}

void modal_octree_pyramid_free(modal_octree_pyramid *p)
{
    modal_octree_tables_free(&p->finest);
    for (int i = 0; i < MODAL_OCTREE_MIPS; i++) modal_octree_tables_free(&p->tables[i]);
    *p = (modal_octree_pyramid){0};
}
