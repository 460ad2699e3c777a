/* SPDX-License-Identifier: Apache-2.0 */
/* Octree textures are read, or refused with a message. What the reader takes, the checker finds sound; look-ups may be made from it, and
 * every cell of the surface then has its corners. */
#include <stdlib.h>
#include <string.h>

#include "formats/octree/octree_h5.h"
#include "tests/fuzz/digest.h"
#include "tests/fuzz/memory_file.h"

uint64_t fuzz_digest;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* By the tree, from the root. */
static int64_t descend(const modal_octree *o, int64_t key)
{
    const int b = modal_octree_side_bits(o);
    int64_t node = 0;
    for (int level = 0; level < o->depth; level++) {
        const int32_t cell = o->cells[(node << 3 * b) + (key >> 3 * b * (o->depth - 1 - level) & (((int64_t)1 << 3 * b) - 1))];
        if (cell < 0) return modal_octree_leaf_sample(cell);
        if (cell == 0 || cell >= o->n_nodes) abort();
        node = cell;
    }
    abort();
}

static modal_status read_all(const char *path, modal_error *err)
{
    modal_octree_file file;
    modal_findings findings = {0};
    const modal_status status = modal_octree_read(path, &file, err);
    const modal_status checked = modal_octree_check(path, &findings, NULL);
    if (status == MODAL_OK ? checked != MODAL_OK || findings.n != 0 : checked == MODAL_OK && findings.n == 0) abort();
    modal_findings_free(&findings);
    if (status != MODAL_OK) return status;
    const modal_octree *o = &file.octree;
    int64_t begun = 0;
    for (int64_t i = 0; i < o->n_samples; i++) {
        if (descend(o, o->keys[i]) != i || o->triangles[i] < 0 || o->triangles[i] >= o->n_triangles) abort();
        digest_add((const char *)o->values + i * (int64_t)modal_octree_value_bytes(o->channels), modal_octree_value_bytes(o->channels));
    }
    if (o->mipmaps) digest_add(o->mipmaps, (size_t)o->n_nodes * modal_octree_value_bytes(o->channels));
    const modal_octree_atlas *a = &file.atlas;
    for (int64_t i = 0; i < 3 * o->n_triangles && a->n_uv > 0; i++)
        if (a->triangle_uv[i] < 0 || a->triangle_uv[i] >= a->n_uv) abort();
    for (int64_t i = 0; i < a->n_rows; i++)
        if (a->texels[i] < 0 || a->texels[i] >= (int64_t)a->width * a->height || a->samples[i] < 0 || a->samples[i] >= o->n_samples ||
            a->triangles[i] < 0 || a->triangles[i] >= o->n_triangles || !(a->places[3 * i] >= 0)) abort();
    if (a->image) digest_add(a->image, 4 * (size_t)a->width * (size_t)a->height);
    const int64_t width = (int64_t)1 << 3 * modal_octree_side_bits(o);
    for (int64_t i = o->node_offsets[o->depth - 1] * width; i < o->n_nodes * width; i++) begun += o->cells[i] < 0 && modal_octree_leaf_begins(o->cells[i]);
    if (begun != o->n_cells) abort();
    modal_octree_file_free(&file);
    return MODAL_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return memory_file_read(data, size, read_all); }
