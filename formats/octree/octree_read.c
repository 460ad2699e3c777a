/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/h5/h5_util.h"
#include "formats/h5/provenance_h5.h"
#include "formats/h5/rules.h"
#include "formats/octree/atlas_h5.h"
#include "formats/octree/octree_h5.h"
#include "lib/base/memory.h"

static const modal_h5_place nowhere = {H5I_INVALID_HID, ""};

void modal_octree_file_free(modal_octree_file *file)
{
    modal_octree_free(&file->octree);
    modal_octree_atlas_free(&file->atlas);
    modal_flow_state_free(&file->flow);
    for (int32_t i = 0; i < file->n_provenance; i++) modal_provenance_free(&file->provenance[i]);
    modal_free(&file->provenance);
    file->n_provenance = 0;
}

static modal_status read_root(const modal_h5_in *in, const modal_h5_place *root, modal_octree *o)
{
    modal_status status = MODAL_OK;
    char *channels = NULL, *content = NULL, *hash = NULL;
    int kind = 0;
    MODAL_TRY(modal_h5_read_text(in, root, "channels", &channels));
    while (channels && kind < MODAL_OCTREE_CHANNELS && strcmp(channels, modal_octree_channels_name((modal_octree_channels)kind)) != 0) kind++;
    if (kind == MODAL_OCTREE_CHANNELS) {
        MODAL_TRY(modal_broken(&in->checker, "/@channels", "must be rgba8, float or float3, is \"%.64s\"", channels));
        kind = 0;
    }
    o->channels = (modal_octree_channels)kind;
    if (modal_h5_has_attribute(root, "content")) {
        MODAL_TRY(modal_h5_read_text(in, root, "content", &content));
        o->normals = content && strcmp(content, "normals") == 0;
        if (content && !o->normals) MODAL_TRY(modal_broken(&in->checker, "/@content", "must be normals where it is there, is \"%.64s\"", content));
        if (o->normals && o->channels == MODAL_OCTREE_FLOAT) MODAL_TRY(modal_broken(&in->checker, "/@content", "normals are no single numbers"));
    }
    MODAL_TRY(modal_h5_read_text(in, root, "source_hash", &hash));
    MODAL_TRY(modal_rule_hash(&in->checker, "/@source_hash", hash));
    if (hash && strlen(hash) < sizeof o->source_hash) strcpy(o->source_hash, hash);
    MODAL_TRY(modal_h5_read_integer(in, root, "triangles", 1, INT32_MAX, &o->n_triangles));
done:
    modal_free(&channels);
    modal_free(&content);
    modal_free(&hash);
    return status;
}

/* side and depth are 0 where they are broken. */
static modal_status read_cube(const modal_h5_in *in, const modal_h5_place *place, modal_octree *o)
{
    modal_status status = MODAL_OK;
    int64_t side = 0, depth = 0, three = 3;
    double *origin = NULL;
    MODAL_TRY(modal_h5_read_integer(in, place, "n", 2, 8, &side));
    MODAL_TRY(modal_h5_read_integer(in, place, "depth", 1, MODAL_OCTREE_BITS, &depth));
    if (side && side != 2 && side != 4 && side != 8) {
        MODAL_TRY(modal_broken(&in->checker, "/tree/@n", "must be 2, 4 or 8, is %lld", (long long)side));
        side = 0;
    }
    o->side = (int32_t)side;
    o->depth = (int32_t)depth;
    if (side && depth && (modal_octree_bits(o) > MODAL_OCTREE_BITS || modal_octree_bits(o) < 3)) {
        MODAL_TRY(modal_broken(&in->checker, "/tree/@depth", "%d levels of %d a side: not 8 to 2^%d points a side", o->depth, o->side, MODAL_OCTREE_BITS));
        o->side = 0;
    }
    MODAL_TRY(modal_h5_read_number(in, place, "size", &o->size));
    if (!(o->size > 0) || !isfinite(o->size)) MODAL_TRY(modal_broken(&in->checker, "/tree/@size", "must be positive, is %g", o->size));
    MODAL_TRY(modal_h5_read_array(in, place, "origin", MODAL_H5_F64, 1, &three, MODAL_H5_REQUIRED, &origin));
    if (!origin) goto done;
    MODAL_TRY(modal_rule_finite(&in->checker, "/tree/origin", origin, 1, 3, (modal_axes){"row", "coordinate"}));
    memcpy(o->origin, origin, sizeof o->origin);
done:
    modal_free(&origin);
    return status;
}

static modal_status read_tree(const modal_h5_in *in, const modal_h5_place *root, modal_octree *o)
{
    modal_status status = MODAL_OK;
    modal_h5_place place = nowhere;
    MODAL_TRY(modal_h5_enter(in, root, "tree", MODAL_H5_REQUIRED, &place));
    MODAL_TRY(read_cube(in, &place, o));
    if (!o->side || !o->depth) goto done;
    int64_t levels = o->depth + 1, cells[2] = {-1, (int64_t)o->side * o->side * o->side};
    MODAL_TRY(modal_h5_read_array(in, &place, "node_offsets", MODAL_H5_I64, 1, &levels, MODAL_H5_REQUIRED, &o->node_offsets));
    MODAL_TRY(modal_h5_read_array(in, &place, "cells", MODAL_H5_I32, 2, cells, MODAL_H5_REQUIRED, &o->cells));
    o->n_nodes = o->cells ? cells[0] : 0;
done:
    modal_h5_leave(&place);
    return status;
}

static modal_status read_samples(const modal_h5_in *in, const modal_h5_place *root, modal_octree *o)
{
    modal_status status = MODAL_OK;
    modal_h5_place place = nowhere;
    const modal_checker *checker = &in->checker;
    int64_t n = -1;
    MODAL_TRY(modal_h5_enter(in, root, "samples", MODAL_H5_REQUIRED, &place));
    MODAL_TRY(modal_h5_read_array(in, &place, "key", MODAL_H5_I64, 1, &n, MODAL_H5_REQUIRED, &o->keys));
    int64_t pairs[2] = {n, 2}, values[2] = {n, modal_octree_width(o->channels)};
    MODAL_TRY(modal_h5_read_array(in, &place, "values", o->channels == MODAL_OCTREE_RGBA8 ? MODAL_H5_U8 : MODAL_H5_F32, 2, values, MODAL_H5_REQUIRED,
                                  &o->values));
    MODAL_TRY(modal_h5_read_array(in, &place, "triangle", MODAL_H5_I32, 1, &n, MODAL_H5_REQUIRED, &o->triangles));
    MODAL_TRY(modal_h5_read_array(in, &place, "barycentric", MODAL_H5_F32, 2, pairs, MODAL_H5_REQUIRED, &o->barycentric));
    if (!o->keys) goto done;
    o->n_samples = n;
    if (o->channels != MODAL_OCTREE_RGBA8)
        MODAL_TRY(modal_rule_finite_float(checker, "/samples/values", o->values, n, values[1], (modal_axes){"sample", "number"}));
    MODAL_TRY(modal_rule_finite_float(checker, "/samples/barycentric", o->barycentric, n, 2, (modal_axes){"sample", "weight"}));
    if (o->n_triangles > 0) MODAL_TRY(modal_rule_range(checker, "/samples/triangle", o->triangles, n, 1, 0, o->n_triangles));
    for (int64_t i = 0; i < 2 * n && o->barycentric; i += 2) {
        const float b = o->barycentric[i], c = o->barycentric[i + 1];
        if (b >= 0 && c >= 0 && b + c <= 1.0f + 1e-6f) continue;
        status = modal_broken(checker, "/samples/barycentric", "sample %lld: outside the triangle, %g, %g", (long long)(i / 2), (double)b, (double)c);
        break;
    }
done:
    modal_h5_leave(&place);
    return status;
}

/* Areas and neighbours come together. */
static modal_status read_neighbours(const modal_h5_in *in, const modal_h5_place *root, modal_octree *o)
{
    modal_status status = MODAL_OK;
    modal_h5_place place = nowhere;
    const modal_checker *checker = &in->checker;
    MODAL_TRY(modal_h5_enter(in, root, "samples", MODAL_H5_REQUIRED, &place));
    if (!modal_h5_has_link(&place, "area") && !modal_h5_has_link(&place, "neighbours")) goto done;
    MODAL_TRY(modal_h5_read_array(in, &place, "area", MODAL_H5_F32, 1, &o->n_samples, MODAL_H5_REQUIRED, &o->areas));
    MODAL_TRY(modal_h5_read_array(in, &place, "neighbours", MODAL_H5_I32, 1, &o->n_samples, MODAL_H5_REQUIRED, &o->neighbours));
    for (int64_t i = 0; i < o->n_samples && o->areas; i++) {
        if (o->areas[i] >= 0 && isfinite(o->areas[i])) continue;
        MODAL_TRY(modal_broken(checker, "/samples/area", "sample %lld: must be at least 0, is %g", (long long)i, (double)o->areas[i]));
        break;
    }
done:
    modal_h5_leave(&place);
    return status;
}

static modal_status read_masses(const modal_h5_in *in, const modal_h5_place *place, const char *name, int64_t n, modal_h5_need need, float **values)
{
    modal_status status = MODAL_OK;
    char path[64];
    snprintf(path, sizeof path, "/flow/%s", name);
    MODAL_TRY(modal_h5_read_array(in, place, name, MODAL_H5_F32, 1, &n, need, values));
    for (int64_t i = 0; i < n && *values; i++) {
        if ((*values)[i] >= 0 && isfinite((*values)[i])) continue;
        MODAL_TRY(modal_broken(&in->checker, path, "sample %lld: must be at least 0, is %g", (long long)i, (double)(*values)[i]));
        break;
    }
done:
    return status;
}

/* What a flow left. */
static modal_status read_flow(const modal_h5_in *in, const modal_h5_place *root, const modal_octree *o, modal_flow_state *f)
{
    static const char *const names[] = {"initial", "added", "evaporated", "initial_dirt"};
    modal_status status = MODAL_OK;
    modal_h5_place place = nowhere;
    double *const numbers[] = {&f->initial, &f->added, &f->evaporated, &f->initial_dirt};
    if (!modal_h5_has_link(root, "flow")) return MODAL_OK;
    if (!o->neighbours) MODAL_TRY(modal_broken(&in->checker, "/flow", "is there without /samples/neighbours"));
    MODAL_TRY(modal_h5_enter(in, root, "flow", MODAL_H5_REQUIRED, &place));
    MODAL_TRY(modal_h5_read_number(in, &place, "time", &f->time));
    if (!isfinite(f->time)) MODAL_TRY(modal_broken(&in->checker, "/flow/@time", "is not finite"));
    for (int k = 0; k < 4; k++) {
        MODAL_TRY(modal_h5_read_number(in, &place, names[k], numbers[k]));
        if (!(*numbers[k] >= 0) || !isfinite(*numbers[k])) {
            char path[64];
            snprintf(path, sizeof path, "/flow/@%s", names[k]);
            MODAL_TRY(modal_broken(&in->checker, path, "must be at least 0, is %g", *numbers[k]));
        }
    }
    if (modal_h5_has_attribute(&place, "trajectory_hash")) MODAL_TRY(modal_h5_read_text(in, &place, "trajectory_hash", &f->trajectory_hash));
    if (modal_h5_has_attribute(&place, "settings")) MODAL_TRY(modal_h5_read_text(in, &place, "settings", &f->settings));
    MODAL_TRY(read_masses(in, &place, "liquid", o->n_samples, MODAL_H5_REQUIRED, &f->liquid));
    MODAL_TRY(read_masses(in, &place, "wetness", o->n_samples, MODAL_H5_REQUIRED, &f->wetness));
    MODAL_TRY(read_masses(in, &place, "dirt", o->n_samples, MODAL_H5_OPTIONAL, &f->dirt));
    f->n_samples = o->n_samples;
done:
    modal_h5_leave(&place);
    return status;
}

/* Keys ascend, and fit the cube. */
static modal_status key_rules(const modal_checker *checker, const modal_octree *o, int *sound)
{
    const int64_t end = (int64_t)1 << 3 * modal_octree_bits(o);
    *sound = 0;
    if (o->n_samples < 1 || o->n_samples >= MODAL_OCTREE_MOST)
        return modal_broken(checker, "/samples/key", "must be 1 to %d samples, %lld", MODAL_OCTREE_MOST - 1, (long long)o->n_samples);
    for (int64_t i = 0; i < o->n_samples; i++)
        if (o->keys[i] < 0 || o->keys[i] >= end || (i && o->keys[i] <= o->keys[i - 1]))
            return modal_broken(checker, "/samples/key", "sample %lld: not ascending, or outside the cube, %lld", (long long)i, (long long)o->keys[i]);
    *sound = 1;
    return MODAL_OK;
}

/* The sample of a key, or -1. */
static int64_t find_key(const modal_octree *o, int64_t key)
{
    int64_t low = 0, high = o->n_samples;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (o->keys[middle] < key) low = middle + 1;
        else high = middle;
    }
    return low < o->n_samples && o->keys[low] == key ? low : -1;
}

/* The eight corners of the cell that a sample begins are there. */
static int is_whole(const modal_octree *o, int64_t key)
{
    const int64_t side = (int64_t)1 << modal_octree_bits(o);
    int64_t c[3];
    for (int k = 0; k < 3; k++) c[k] = modal_morton_squeeze((uint64_t)key >> k);
    if (c[0] + 1 >= side || c[1] + 1 >= side || c[2] + 1 >= side) return 0;
    for (int k = 1; k < 8; k++)
        if (find_key(o, (int64_t)modal_morton(c[0] + (k & 1), c[1] + (k >> 1 & 1), c[2] + (k >> 2))) < 0) return 0;
    return 1;
}

/* Bits lead to samples, and back. */
static modal_status neighbour_rules(const modal_checker *checker, const modal_octree *o)
{
    for (int64_t i = 0; i < o->n_samples; i++) {
        if (o->neighbours[i] < 0 || o->neighbours[i] >> MODAL_OCTREE_AROUND)
            return modal_broken(checker, "/samples/neighbours", "sample %lld: has bits above 25, %d", (long long)i, o->neighbours[i]);
        for (int bit = 0; bit < MODAL_OCTREE_AROUND; bit++) {
            int64_t c[3];
            int d[3];
            if (!(o->neighbours[i] >> bit & 1)) continue;
            modal_octree_offset(bit, d);
            for (int k = 0; k < 3; k++) c[k] = modal_morton_squeeze((uint64_t)o->keys[i] >> k) + d[k];
            const int64_t j = c[0] < 0 || c[1] < 0 || c[2] < 0 ? -1 : find_key(o, (int64_t)modal_morton(c[0], c[1], c[2]));
            if (j < 0 || !(o->neighbours[j] >> (MODAL_OCTREE_AROUND - 1 - bit) & 1))
                return modal_broken(checker, "/samples/neighbours", "sample %lld: bit %d leads to no sample, or not back", (long long)i, bit);
        }
    }
    return MODAL_OK;
}

/* The tree is that of the keys: level by level, the nodes that there are, in the order of the keys. */
static modal_status tree_rules(const modal_checker *checker, modal_octree *o)
{
    const int digit = 3 * modal_octree_side_bits(o);
    const int64_t width = (int64_t)1 << digit;
    int64_t filled = 0, used = 0;
    for (int level = 0; level < o->depth; level++) {
        const int shift = digit * (o->depth - level), down = shift - digit;
        int64_t node = o->node_offsets[level], child = o->node_offsets[level + 1];
        for (int64_t i = 0; i < o->n_samples; i++) {
            const int64_t key = o->keys[i], before = i ? o->keys[i - 1] : key;
            if (i && shift < 63 && key >> shift != before >> shift) node++;
            if (node < 0 || node >= o->n_nodes) return modal_broken(checker, "/tree/cells", "level %d: fewer nodes than the samples need", level);
            const int32_t cell = o->cells[node * width + (key >> down & (width - 1))];
            const int last = level == o->depth - 1, next = i == 0 || key >> down != before >> down;
            if (last ? cell >= 0 || modal_octree_leaf_sample(cell) != i : next && cell != child)
                return modal_broken(checker, "/tree/cells", "level %d, node %lld: is not what the keys make, %d", level, (long long)node, cell);
            if (last && modal_octree_leaf_begins(cell)) {
                if (!is_whole(o, key)) return modal_broken(checker, "/tree/cells", "sample %lld: begins a cell that lacks a corner", (long long)i);
                o->n_cells++;
            }
            child += next;
            filled += next;
        }
        if (node + 1 != o->node_offsets[level + 1])
            return modal_broken(checker, "/tree/node_offsets", "level %d: %lld nodes end at %lld", level, (long long)(node + 1),
                                (long long)o->node_offsets[level + 1]);
    }
    for (int64_t i = 0; i < o->n_nodes * width; i++) used += o->cells[i] != 0;
    if (used != filled) return modal_broken(checker, "/tree/cells", "%lld cells are not empty, %lld should be", (long long)used, (long long)filled);
    return MODAL_OK;
}

/* One array of all levels; the tree is sound. */
static modal_status read_mipmaps(const modal_h5_in *in, const modal_h5_place *root, modal_octree *o)
{
    modal_status status = MODAL_OK;
    modal_h5_place place = nowhere;
    void *values = NULL;
    const size_t bytes = modal_octree_value_bytes(o->channels);
    const int rgba = o->channels == MODAL_OCTREE_RGBA8, width = modal_octree_width(o->channels);
    MODAL_TRY(modal_h5_enter(in, root, "mipmaps", MODAL_H5_OPTIONAL, &place));
    if (place.id == H5I_INVALID_HID) goto done;
    MODAL_TRY(modal_alloc(&o->mipmaps, o->n_nodes, bytes, "mip levels", in->checker.err));
    for (int level = 0; level < o->depth; level++) {
        char name[16], where[32];
        int64_t dims[2] = {o->node_offsets[level + 1] - o->node_offsets[level], width};
        snprintf(name, sizeof name, "%02d", level);
        snprintf(where, sizeof where, "/mipmaps/%s", name);
        MODAL_TRY(modal_h5_read_array(in, &place, name, rgba ? MODAL_H5_U8 : MODAL_H5_F32, 2, dims, MODAL_H5_REQUIRED, &values));
        if (values && !rgba) MODAL_TRY(modal_rule_finite_float(&in->checker, where, values, dims[0], width, (modal_axes){"node", "number"}));
        if (values) memcpy((char *)o->mipmaps + bytes * (size_t)o->node_offsets[level], values, bytes * (size_t)dims[0]);
        modal_free(&values);
    }
done:
    modal_free(&values);
    modal_h5_leave(&place);
    return status;
}

static modal_status read_all(const modal_h5_in *in, modal_octree_file *file)
{
    modal_status status = MODAL_OK;
    modal_h5_place root = nowhere;
    modal_octree *o = &file->octree;
    int sound = 0, ascending = 0;
    MODAL_TRY(modal_h5_check_root(in, "octree", 1));
    MODAL_TRY(modal_h5_enter(in, NULL, NULL, MODAL_H5_REQUIRED, &root));
    MODAL_TRY(read_root(in, &root, o));
    MODAL_TRY(read_tree(in, &root, o));
    MODAL_TRY(read_samples(in, &root, o));
    if (o->keys) MODAL_TRY(read_neighbours(in, &root, o));
    if (o->keys) MODAL_TRY(read_flow(in, &root, o, &file->flow));
    MODAL_TRY(modal_provenance_read(in, &root, MODAL_H5_REQUIRED, &file->provenance, &file->n_provenance));
    if (!o->keys || !o->cells || !o->node_offsets) goto done;
    MODAL_TRY(key_rules(&in->checker, o, &sound));
    MODAL_TRY(modal_rule_offsets(&in->checker, "/tree/node_offsets", o->node_offsets, o->depth, o->n_nodes, &ascending));
    if (sound && o->neighbours) MODAL_TRY(neighbour_rules(&in->checker, o));
    if (!sound || !ascending) goto done;
    MODAL_TRY(tree_rules(&in->checker, o));
    MODAL_TRY(read_mipmaps(in, &root, o));
    MODAL_TRY(modal_octree_atlas_read(in, &root, o, &file->atlas));
done:
    modal_h5_leave(&root);
    return status;
}

static modal_status open_and_read(const char *path, modal_findings *findings, modal_octree_file *file, modal_error *err)
{
    const modal_h5_source source = {path, NULL, 0};
    modal_h5_in in = {.file = H5I_INVALID_HID, .checker = {findings, err}};
    *file = (modal_octree_file){0};
    modal_status status = modal_h5_open(&in, &source);
    if (status == MODAL_OK) status = modal_h5_close(&in, read_all(&in, file));
    if (status != MODAL_OK) {
        modal_error_context(err, "%s", path);
        modal_octree_file_free(file);
    }
    return status;
}

modal_status modal_octree_read(const char *path, modal_octree_file *file, modal_error *err) { return open_and_read(path, NULL, file, err); }

modal_status modal_octree_check(const char *path, modal_findings *findings, modal_error *err)
{
    modal_octree_file file;
    const modal_status status = open_and_read(path, findings, &file, err);
    modal_octree_file_free(&file);
    return status;
}
