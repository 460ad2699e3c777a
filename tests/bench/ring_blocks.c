/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "lib/base/memory.h"
#include "tests/bench/opponents/ring_patterns.h"

enum { MOST_LOCAL = 32767, LANES = 32, WARP_STAGE = 96 * 4 };

typedef struct builder {
    const ring_mesh *mesh;
    ring_blocks *out;
    int32_t *local;   /* [n_vertices] its number in the block, or -1 */
    int32_t *members; /* of the block, in local order */
    int64_t n_members, member_capacity, halo_capacity, row_capacity, ring_capacity;
    int64_t n_rows;
} builder;

static int32_t vertex_of(int32_t entry) { return entry ^ (entry >> 31); }

static modal_status add_member(builder *b, int32_t v, modal_error *err)
{
    if (b->local[v] >= 0) return MODAL_OK;
    if (b->n_members >= MOST_LOCAL)
        return modal_error_set(err, MODAL_ERROR_INPUT, "a block of %d vertices has more than %d neighbours", b->out->size,
                               MOST_LOCAL);
    const modal_status status =
        modal_grow(&b->members, &b->member_capacity, b->n_members + 1, sizeof *b->members, "block", err);
    if (status != MODAL_OK) return status;
    b->local[v] = (int32_t)b->n_members;
    b->members[b->n_members++] = v;
    return MODAL_OK;
}

/* The rows of the tile of v, and v's lane. */
static int64_t rows_of(const ring_mesh *m, int32_t v, const int32_t **first)
{
    const int64_t begin = m->ring_offsets[v / LANES];
    *first = m->ring + LANES * begin + v % LANES;
    return m->ring_offsets[v / LANES + 1] - begin;
}

/* Numbers in v's ring, without the ~v at its end. */
static int64_t length_of(const ring_mesh *m, int32_t v)
{
    const int32_t *at;
    int64_t rows = rows_of(m, v, &at);
    while (rows > 0 && at[LANES * (rows - 1)] == ~v) rows--;
    return rows;
}

static modal_status add_ring(builder *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int64_t i = 0, end = b->n_members; i < end; i++) {
        const int32_t *at;
        const int64_t length = length_of(b->mesh, b->members[i]);
        rows_of(b->mesh, b->members[i], &at);
        for (int64_t r = 0; r < length; r++) MODAL_TRY(add_member(b, vertex_of(at[LANES * r]), err));
    }
done:
    return status;
}

/* The rings of 32 members from `first` on, in local numbers. */
static modal_status add_group(builder *b, int64_t first, int64_t n_near, modal_error *err)
{
    modal_status status = MODAL_OK;
    ring_blocks *o = b->out;
    int64_t rows = 0;
    for (int64_t i = first; i < n_near && i < first + LANES; i++) {
        const int64_t length = length_of(b->mesh, b->members[i]);
        if (length > rows) rows = length;
    }
    MODAL_TRY(modal_grow(&o->rows, &b->row_capacity, o->n_groups + 2, sizeof *o->rows, "block", err));
    MODAL_TRY(modal_grow(&o->ring, &b->ring_capacity, LANES * (b->n_rows + rows + 1), sizeof *o->ring, "block", err));
    for (int64_t lane = 0; lane < LANES; lane++) {
        const int64_t i = first + lane < n_near ? first + lane : n_near - 1;
        const int64_t length = first + lane < n_near ? length_of(b->mesh, b->members[i]) : 0;
        const int32_t *at;
        rows_of(b->mesh, b->members[i], &at);
        for (int64_t r = 0; r < rows; r++) {
            const int32_t entry = r < length ? at[LANES * r] : ~b->members[i];
            o->ring[LANES * (b->n_rows + r) + lane] =
                (uint16_t)(b->local[vertex_of(entry)] | (entry < 0 ? RING_BLOCK_FAN : 0));
        }
    }
    o->rows[o->n_groups++] = (int32_t)b->n_rows;
    b->n_rows += rows;
    o->rows[o->n_groups] = (int32_t)b->n_rows;
done:
    return status;
}

static modal_status add_block(builder *b, ring_block *block, modal_error *err)
{
    modal_status status = MODAL_OK;
    ring_blocks *o = b->out;
    const int64_t left = b->mesh->n_vertices - block->first;
    block->n_own = (int32_t)(left < o->size ? left : o->size);
    b->n_members = 0;
    for (int32_t i = 0; i < block->n_own; i++) MODAL_TRY(add_member(b, block->first + i, err));
    MODAL_TRY(add_ring(b, err));
    block->n_near = (int32_t)b->n_members;
    MODAL_TRY(add_ring(b, err));
    block->n_all = (int32_t)b->n_members;
    block->halo = (int32_t)o->n_halo;
    block->group = (int32_t)o->n_groups;
    MODAL_TRY(modal_grow(&o->halo, &b->halo_capacity, o->n_halo + b->n_members + 1, sizeof *o->halo, "block", err));
    for (int64_t i = block->n_own; i < b->n_members; i++) o->halo[o->n_halo++] = b->members[i];
    for (int64_t i = 0; i < block->n_near; i += LANES) MODAL_TRY(add_group(b, i, block->n_near, err));
    for (int64_t i = 0; i < b->n_members; i++) b->local[b->members[i]] = -1;
    const int64_t bytes = 16 * ((int64_t)block->n_all + block->n_near) + o->size / LANES * WARP_STAGE;
    if (bytes > o->shared_bytes) o->shared_bytes = bytes;
    o->near += (double)block->n_near;
    o->all += (double)block->n_all;
done:
    return status;
}

modal_status ring_blocks_new(ring_blocks *blocks, const ring_mesh *mesh, int32_t size, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = mesh->n_vertices;
    builder b = {.mesh = mesh, .out = blocks};
    *blocks = (ring_blocks){.size = size, .n_blocks = (int32_t)((n + size - 1) / size)};
    MODAL_TRY(modal_alloc_zero(&blocks->blocks, blocks->n_blocks, sizeof *blocks->blocks, "blocks", err));
    MODAL_TRY(modal_alloc(&b.local, n, sizeof *b.local, "blocks", err));
    for (int64_t v = 0; v < n; v++) b.local[v] = -1;
    for (int32_t i = 0; i < blocks->n_blocks; i++) {
        blocks->blocks[i].first = i * size;
        MODAL_TRY(add_block(&b, &blocks->blocks[i], err));
    }
    blocks->n_entries = LANES * b.n_rows;
    blocks->near /= (double)n;
    blocks->all /= (double)n;
done:
    modal_free(&b.local);
    modal_free(&b.members);
    if (status != MODAL_OK) ring_blocks_free(blocks);
    return status;
}

void ring_blocks_free(ring_blocks *blocks)
{
    modal_free(&blocks->blocks);
    modal_free(&blocks->halo);
    modal_free(&blocks->rows);
    modal_free(&blocks->ring);
    memset(blocks, 0, sizeof *blocks);
}
