/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "formats/h5/h5_util.h"
#include "formats/h5/provenance_h5.h"
#include "formats/octree/atlas_h5.h"
#include "formats/octree/octree_h5.h"

static modal_status write_tree(hid_t root, const modal_octree *o, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t group = H5I_INVALID_HID;
    const int64_t levels = o->depth + 1, cells[2] = {o->n_nodes, (int64_t)o->side * o->side * o->side}, three = 3;
    MODAL_TRY(modal_h5_make_group(root, "tree", &group, err));
    MODAL_TRY(modal_h5_write_integer(group, "n", o->side, err));
    MODAL_TRY(modal_h5_write_integer(group, "depth", o->depth, err));
    MODAL_TRY(modal_h5_write_number(group, "size", o->size, err));
    MODAL_TRY(modal_h5_write_array(group, "origin", MODAL_H5_F64, 1, &three, o->origin, err));
    MODAL_TRY(modal_h5_write_array(group, "node_offsets", MODAL_H5_I64, 1, &levels, o->node_offsets, err));
    MODAL_TRY(modal_h5_write_array(group, "cells", MODAL_H5_I32, 2, cells, o->cells, err));
done:
    return modal_h5_end_group(&group, status, err);
}

static modal_status write_samples(hid_t root, const modal_octree *o, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t group = H5I_INVALID_HID;
    const int64_t n = o->n_samples, pairs[2] = {n, 2}, values[2] = {n, modal_octree_width(o->channels)};
    const modal_h5_type type = o->channels == MODAL_OCTREE_RGBA8 ? MODAL_H5_U8 : MODAL_H5_F32;
    MODAL_TRY(modal_h5_make_group(root, "samples", &group, err));
    MODAL_TRY(modal_h5_write_array(group, "key", MODAL_H5_I64, 1, &n, o->keys, err));
    MODAL_TRY(modal_h5_write_array(group, "values", type, 2, values, o->values, err));
    MODAL_TRY(modal_h5_write_array(group, "triangle", MODAL_H5_I32, 1, &n, o->triangles, err));
    MODAL_TRY(modal_h5_write_array(group, "barycentric", MODAL_H5_F32, 2, pairs, o->barycentric, err));
    if (o->neighbours) {
        MODAL_TRY(modal_h5_write_array(group, "area", MODAL_H5_F32, 1, &n, o->areas, err));
        MODAL_TRY(modal_h5_write_array(group, "neighbours", MODAL_H5_I32, 1, &n, o->neighbours, err));
    }
done:
    return modal_h5_end_group(&group, status, err);
}

static modal_status write_flow(hid_t root, const modal_flow_state *f, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t group = H5I_INVALID_HID;
    if (f->n_samples == 0) return MODAL_OK;
    MODAL_TRY(modal_h5_make_group(root, "flow", &group, err));
    MODAL_TRY(modal_h5_write_number(group, "time", f->time, err));
    MODAL_TRY(modal_h5_write_number(group, "initial", f->initial, err));
    MODAL_TRY(modal_h5_write_number(group, "added", f->added, err));
    MODAL_TRY(modal_h5_write_number(group, "evaporated", f->evaporated, err));
    MODAL_TRY(modal_h5_write_number(group, "initial_dirt", f->initial_dirt, err));
    if (f->trajectory_hash) MODAL_TRY(modal_h5_write_text(group, "trajectory_hash", f->trajectory_hash, err));
    if (f->settings) MODAL_TRY(modal_h5_write_text(group, "settings", f->settings, err));
    MODAL_TRY(modal_h5_write_array(group, "liquid", MODAL_H5_F32, 1, &f->n_samples, f->liquid, err));
    MODAL_TRY(modal_h5_write_array(group, "wetness", MODAL_H5_F32, 1, &f->n_samples, f->wetness, err));
    if (f->dirt) MODAL_TRY(modal_h5_write_array(group, "dirt", MODAL_H5_F32, 1, &f->n_samples, f->dirt, err));
done:
    return modal_h5_end_group(&group, status, err);
}

static modal_status write_mipmaps(hid_t root, const modal_octree *o, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t group = H5I_INVALID_HID;
    const size_t bytes = modal_octree_value_bytes(o->channels);
    if (!o->mipmaps) return MODAL_OK;
    MODAL_TRY(modal_h5_make_group(root, "mipmaps", &group, err));
    for (int level = 0; level < o->depth; level++) {
        char name[16];
        const int64_t dims[2] = {o->node_offsets[level + 1] - o->node_offsets[level], modal_octree_width(o->channels)};
        snprintf(name, sizeof name, "%02d", level);
        MODAL_TRY(modal_h5_write_array(group, name, o->channels == MODAL_OCTREE_RGBA8 ? MODAL_H5_U8 : MODAL_H5_F32, 2, dims,
                                       (const char *)o->mipmaps + bytes * (size_t)o->node_offsets[level], err));
    }
done:
    return modal_h5_end_group(&group, status, err);
}

modal_status modal_octree_write(const char *path, const modal_octree_file *file, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t h5 = H5I_INVALID_HID;
    const modal_octree *o = &file->octree;
    MODAL_TRY(modal_h5_create(&h5, path, err));
    MODAL_TRY(modal_h5_write_text(h5, "modal_format", "octree", err));
    MODAL_TRY(modal_h5_write_text(h5, "modal_format_version", "1.0", err));
    MODAL_TRY(modal_h5_write_text(h5, "channels", modal_octree_channels_name(o->channels), err));
    if (o->normals) MODAL_TRY(modal_h5_write_text(h5, "content", "normals", err));
    MODAL_TRY(modal_h5_write_text(h5, "source_hash", o->source_hash, err));
    MODAL_TRY(modal_h5_write_integer(h5, "triangles", o->n_triangles, err));
    MODAL_TRY(write_tree(h5, o, err));
    MODAL_TRY(write_samples(h5, o, err));
    MODAL_TRY(write_flow(h5, &file->flow, err));
    MODAL_TRY(write_mipmaps(h5, o, err));
    MODAL_TRY(modal_octree_atlas_write(h5, o, &file->atlas, err));
    MODAL_TRY(modal_provenance_write(h5, file->provenance, file->n_provenance, err));
done:
    status = modal_h5_finish(&h5, status, err);
    if (status != MODAL_OK) modal_error_context(err, "%s", path);
    return status;
}
