/* SPDX-License-Identifier: Apache-2.0 */
/* Cells that triangles meet, each thread in a set of its own; their union, widened by one along every axis, is the samples. */
#include "lib/octree/build.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/octree_lookup/octree_lookup.h"
#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/mesh/tetrahedron.h"
#include "lib/octree/bricks.h"
#include "lib/octree/nearest.h"
#include "lib/octree/overlap.h"

typedef struct cell_set {
    modal_bricks bricks;
    uint64_t last_key; /* of the block that was used last */
    int64_t last, n_flat, n_met; /* triangles of cells, each counted in every cell */
    modal_status status;
    modal_error err;
} cell_set;

static void add_run(void *context, int axis, int64_t u, int64_t v, int64_t first, int64_t last)
{
    cell_set *set = context;
    uint32_t c[3];
    c[(axis + 1) % 3] = (uint32_t)u;
    c[(axis + 2) % 3] = (uint32_t)v;
    set->n_met += last - first + 1;
    for (int64_t w = first; w <= last && set->status == MODAL_OK; w++) {
        c[axis] = (uint32_t)w;
        const uint64_t key = modal_morton(c[0] >> 2, c[1] >> 2, c[2] >> 2);
        if (set->last < 0 || key != set->last_key) {
            set->status = modal_bricks_at(&set->bricks, key, &set->last, &set->err);
            set->last_key = key;
            if (set->status != MODAL_OK) return;
        }
        set->bricks.masks[set->last] |= (uint64_t)1 << modal_octree_place(c[0], c[1], c[2], 0);
    }
}

/* Cells, one set for each thread. */
static modal_status make_cells(const modal_octree_request *r, const modal_octree_frame *frame, double margin, modal_bricks *cells, int64_t *n_flat,
                               int64_t *n_met, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int n_sets = omp_get_max_threads();
    cell_set *sets = NULL;
    int stopped = 0;
    MODAL_TRY(modal_alloc_zero(&sets, n_sets, sizeof *sets, "cells", err));
    for (int i = 0; i < n_sets; i++) sets[i].last = -1;
#pragma omp parallel for schedule(dynamic, 256) num_threads(modal_free_threads(n_sets))
    for (int64_t t = 0; t < r->n_triangles; t++) {
        cell_set *set = &sets[omp_get_thread_num()];
        double p[9];
        int stop;
#pragma omp atomic read
        stop = stopped;
        if (set->status != MODAL_OK || stop) continue;
        if (omp_get_thread_num() == 0 && t % 256 == 0 &&
            modal_progress_report(r->progress, "cells", (double)t / (double)r->n_triangles, NULL) != MODAL_OK) {
#pragma omp atomic write
            stopped = 1;
        }
        modal_octree_corners(frame, r->triangles + 3 * t, p);
        set->n_flat += !modal_overlap_runs(p, -margin, 1 + margin, add_run, set);
    }
    if (stopped) MODAL_FAIL(err, MODAL_ERROR_INTERRUPTED, "cells: interrupted");
    *n_flat = *n_met = 0;
    for (int i = 0; i < n_sets; i++) {
        if (sets[i].status != MODAL_OK) {
            *err = sets[i].err;
            status = sets[i].status;
            goto done;
        }
        *n_flat += sets[i].n_flat;
        *n_met += sets[i].n_met;
        MODAL_TRY(modal_bricks_add(cells, &sets[i].bricks, err));
    }
done:
    for (int i = 0; sets && i < n_sets; i++) modal_bricks_free(&sets[i].bricks);
    modal_free(&sets);
    return status;
}

/* Areas are to be numbers of float32; where those of double are further apart than COARSEST cells, the surface may leave the cube. */
static const double SHORTEST = 1e-15, LONGEST = 1e15, COARSEST = 0x1p-11;

static modal_status place_cube(const modal_octree_request *r, modal_octree *o, modal_error *err)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, longest = 0, far = 0;
    for (int64_t t = 0; t < r->n_triangles; t++) /* vertices that no triangle has do not count */
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) {
                const double x = r->positions[3 * (int64_t)r->triangles[3 * t + j] + k];
                if (!isfinite(x))
                    return modal_error_set(err, MODAL_ERROR_INPUT, "vertex %d: not finite, %g", r->triangles[3 * t + j], x);
                low[k] = fmin(low[k], x);
                high[k] = fmax(high[k], x);
            }
    for (int k = 0; k < 3; k++) longest = fmax(longest, high[k] - low[k]), far = fmax(far, fmax(-low[k], high[k]));
    if (r->n_triangles == 0 || !(longest > 0)) return modal_error_set(err, MODAL_ERROR_INPUT, "the surface has no area");
    const int bits = modal_octree_bits(o);
    const double cell = longest / (ldexp(1.0, bits) - MODAL_OCTREE_AROUND_SURFACE);
    if (!(longest >= SHORTEST && longest <= LONGEST))
        return modal_error_set(err, MODAL_ERROR_INPUT, "the surface's longest side must be in %g .. %g m, %g", SHORTEST, LONGEST, longest);
    if (!(far * DBL_EPSILON <= COARSEST * cell))
        return modal_error_set(err, MODAL_ERROR_INPUT, "%g m from the origin its numbers are too coarse for cells of %g m; move it to the origin", far, cell);
    o->size = ldexp(cell, bits);
    for (int k = 0; k < 3; k++) o->origin[k] = low[k] - MODAL_OCTREE_BEFORE * cell;
    return MODAL_OK;
}

/* Keys in Morton order, and which of them begin cells. */
static void list_samples(const modal_bricks *cells, const modal_bricks *samples, int64_t *keys, uint8_t *begins)
{
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
    for (int64_t i = 0; i < samples->n; i++) {
        const int64_t cell = modal_bricks_find(cells, samples->keys[i]);
        int64_t at = samples->first[i];
        for (uint64_t m = samples->masks[i]; m; m &= m - 1, at++) {
            const int place = __builtin_ctzll(m);
            keys[at] = (int64_t)(samples->keys[i] << 6 | (unsigned)place);
            begins[at] = cell >= 0 && (cells->masks[cell] >> place & 1);
        }
    }
}

/* The highest level at which a node begins with the sample; depth where none does. */
static int first_new_level(const modal_octree *o, int digit, int64_t i)
{
    return i == 0 ? 0 : o->depth - (63 - __builtin_clzll((uint64_t)(o->keys[i] ^ o->keys[i - 1]))) / digit;
}

enum { STRETCH = 1 << 16 }; /* samples that one thread goes through */

/* Cells of the nodes that samples [first, last) are in; node: of every level the last one before them. */
static void put_nodes(modal_octree *o, const uint8_t *begins, int64_t first, int64_t last, int64_t *node)
{
    const int digit = 3 * modal_octree_side_bits(o), leaves = o->depth - 1;
    const int64_t width = (int64_t)1 << digit;
    for (int64_t i = first; i < last; i++) {
        const int64_t key = o->keys[i];
        const int level = first_new_level(o, digit, i);
        for (int l = level; l <= leaves; l++) node[l]++;
        for (int l = level > 0 ? level - 1 : 0; l < leaves; l++)
            o->cells[node[l] * width + (key >> digit * (leaves - l) & (width - 1))] = (int32_t)node[l + 1];
        o->cells[node[leaves] * width + (key & (width - 1))] = modal_octree_leaf(i, begins[i]);
    }
}

modal_status modal_octree_make_nodes(modal_octree *o, const uint8_t *begins, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int digit = 3 * modal_octree_side_bits(o), depth = o->depth;
    const int64_t n_stretches = (o->n_samples + STRETCH - 1) / STRETCH;
    int64_t *nodes = NULL; /* [n_stretches, depth] that begin in a stretch, then the last one before it */
    MODAL_TRY(modal_alloc(&o->node_offsets, depth + 1, sizeof *o->node_offsets, "nodes", err));
    MODAL_TRY(modal_alloc_zero(&nodes, n_stretches * depth, sizeof *nodes, "nodes", err));
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
    for (int64_t s = 0; s < n_stretches; s++) {
        int64_t n[MODAL_OCTREE_BITS + 1] = {0};
        for (int64_t i = s * STRETCH; i < o->n_samples && i < (s + 1) * STRETCH; i++) n[first_new_level(o, digit, i)]++;
        for (int l = 0; l < depth; l++) nodes[s * depth + l] = n[l] + (l > 0 ? nodes[s * depth + l - 1] : 0);
    }
    o->node_offsets[0] = 0;
    for (int l = 0; l < depth; l++) {
        int64_t next = o->node_offsets[l];
        for (int64_t s = 0; s < n_stretches; s++) {
            const int64_t n = nodes[s * depth + l];
            nodes[s * depth + l] = next - 1;
            next += n;
        }
        o->node_offsets[l + 1] = next;
    }
    o->n_nodes = o->node_offsets[depth];
    if (o->n_nodes >= MODAL_OCTREE_MOST)
        MODAL_FAIL(err, MODAL_ERROR_MEMORY, "nodes of the tree: at most %d, %lld", MODAL_OCTREE_MOST - 1, (long long)o->n_nodes);
    MODAL_TRY(modal_alloc_zero(&o->cells, o->n_nodes << digit, sizeof *o->cells, "nodes", err));
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
    for (int64_t s = 0; s < n_stretches; s++) {
        const int64_t last = (s + 1) * STRETCH;
        put_nodes(o, begins, s * STRETCH, last < o->n_samples ? last : o->n_samples, nodes + s * depth);
    }
done:
    modal_free(&nodes);
    return status;
}

modal_status modal_octree_neighbours(const modal_octree *o, double *mean, modal_error *err)
{
    modal_bricks bricks = {0};
    const modal_status status = modal_bricks_of_keys(o->keys, o->n_samples, &bricks, err);
    if (status != MODAL_OK) return status;
    int64_t n = 0;
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static) reduction(+ : n)
    for (int64_t b = 0; b < bricks.n; b++) {
        int64_t near[27];
        const int32_t x = modal_morton_squeeze(bricks.keys[b]), y = modal_morton_squeeze(bricks.keys[b] >> 1), z = modal_morton_squeeze(bricks.keys[b] >> 2);
        for (int k = 0; k < 27; k++) {
            const int64_t i = x + k % 3 - 1, j = y + k / 3 % 3 - 1, l = z + k / 9 - 1;
            near[k] = i < 0 || j < 0 || l < 0 ? -1 : modal_bricks_find(&bricks, modal_morton(i, j, l));
        }
        for (uint64_t m = bricks.masks[b]; m; m &= m - 1) {
            const int place = __builtin_ctzll(m);
            const int c[3] = {modal_morton_squeeze((uint64_t)place), modal_morton_squeeze((uint64_t)place >> 1), modal_morton_squeeze((uint64_t)place >> 2)};
            for (int k = 0; k < 27; k++) {
                const int i = c[0] + k % 3 + 3, j = c[1] + k / 3 % 3 + 3, l = c[2] + k / 9 + 3; /* 3 to 8: 4 is the block's first */
                const int64_t in = near[i / 4 + 3 * (j / 4) + 9 * (l / 4)];
                n += k != 13 && in >= 0 && (bricks.masks[in] >> modal_octree_place((unsigned)i, (unsigned)j, (unsigned)l, 0) & 1);
            }
        }
    }
    *mean = o->n_samples ? (double)n / (double)o->n_samples : 0;
    modal_bricks_free(&bricks);
    return MODAL_OK;
}

/* What is counted, or guessed: blocks of samples; triangles of cells. */
typedef struct sizes {
    double samples, bricks, cells, met;
} sizes;

/* Bytes that the octree and what it is made with will take. With neighbours: beside the finished octree all of modal_sheets and the shares of areas. */
static double bytes_of(const modal_octree_request *r, const sizes *n)
{
    enum { WHILE_BUILDING = 1 + 8, LINKS = 17 }; /* bytes a sample; links of a piece: as many in a plane, 13 where triangles are small */
    const double nodes = 8 * n->bricks;          /* no more than that below the blocks, and few above them */
    const double tree = n->samples * (8 + (double)modal_octree_value_bytes(r->channels) + 12) + nodes * 32 + 40 * n->bricks;
    const double sheets = 16 * n->samples + (4 + 8 + 4 + 8 + 4 * LINKS + 64) * n->cells + 8 * n->met + 84 * (double)r->n_triangles;
    return tree + fmax(WHILE_BUILDING * n->samples, r->neighbours ? sheets : 0);
}

/* about: "about ", or nothing where the numbers are exact. */
static modal_status check_memory(const modal_octree_request *r, const char *about, const sizes *n, modal_error *err)
{
    const double bytes = bytes_of(r, n), n_samples = n->samples;
    if (n_samples >= MODAL_OCTREE_MOST)
        return modal_error_set(err, MODAL_ERROR_MEMORY, "%s%.0f samples, at most %d; a resolution of %.0f has room", about, n_samples,
                               MODAL_OCTREE_MOST - 1, floor((double)r->resolution * sqrt(MODAL_OCTREE_MOST / n_samples) / 2));
    if (r->memory_limit > 0 && bytes > (double)r->memory_limit) {
        double half = (double)r->resolution, fits = bytes; /* a quarter of the samples each */
        while (fits > (double)r->memory_limit && half > 8) half /= 2, fits /= 4;
        return modal_error_set(err, MODAL_ERROR_MEMORY, "--memory-limit: %s%.0f samples need %.0f bytes, of %lld; a resolution of %.0f needs about %.0f",
                               about, n_samples, bytes, (long long)r->memory_limit, half, fits);
    }
    return MODAL_OK;
}

/* Refuses what is far too large before cells are counted, which would take as long and as much. Cells are at least as many as the surface's
 * area has, but where it lies on itself, and four times as many as in a lattice twice as coarse, but where it is thin: both have to say so. */
static modal_status check_before(const modal_octree_request *r, const modal_octree *o, modal_error *err)
{
    enum { COARSE = 7, SLACK = 4, SAMPLES_OF_BRICK = 16 }; /* bits of the coarse lattice; of 4^3 samples a block has 16 and more */
    modal_status status = MODAL_OK;
    const int more = modal_octree_bits(o) - COARSE;
    const modal_octree_frame frame = {r->positions, {o->origin[0], o->origin[1], o->origin[2]}, ldexp(1.0, COARSE) / o->size};
    modal_bricks cells = {0};
    int64_t n_flat = 0, n_met = 0;
    double area = 0, coarse; /* in cells of the coarse lattice */
    sizes guess = {0};
    if (more <= 0) return MODAL_OK;
    for (int64_t t = 0; t < r->n_triangles; t++) {
        double p[9], e[2][3], n[3];
        modal_octree_corners(&frame, r->triangles + 3 * t, p);
        for (int k = 0; k < 3; k++) e[0][k] = p[3 + k] - p[k], e[1][k] = p[6 + k] - p[k];
        modal_cross(e[0], e[1], n);
        area += sqrt(modal_dot(n, n)) / 2;
    }
    guess.samples = ldexp(area, 2 * more) / SLACK;
    if (check_memory(r, "", &guess, NULL) == MODAL_OK) return MODAL_OK;
    MODAL_TRY(make_cells(r, &frame, modal_octree_margin(o), &cells, &n_flat, &n_met, err));
    MODAL_TRY(modal_bricks_finish(&cells, err));
    coarse = fmin(2.5 * area, 1.5 * (double)cells.first[cells.n]); /* samples, of smooth surfaces */
    guess.samples = ldexp(fmin(area, coarse), 2 * more) / SLACK;
    if (check_memory(r, "", &guess, NULL) == MODAL_OK) goto done;
    const double samples = ldexp(coarse, 2 * more);
    guess = (sizes){samples, samples / SAMPLES_OF_BRICK, samples / 2, samples / 2};
    MODAL_TRY(check_memory(r, "about ", &guess, err));
done:
    modal_bricks_free(&cells);
    return status;
}

static modal_status start_values(modal_octree *o, modal_error *err)
{
    const size_t bytes = modal_octree_value_bytes(o->channels);
    if (o->channels != MODAL_OCTREE_RGBA8) return modal_alloc_zero(&o->values, o->n_samples, bytes, "values", err);
    const modal_status status = modal_alloc(&o->values, o->n_samples, bytes, "values", err);
    if (status == MODAL_OK) memset(o->values, 255, (size_t)o->n_samples * bytes);
    return status;
}

modal_status modal_octree_sign(const double *positions, int64_t n_vertices, const int32_t *triangles, int64_t n_triangles,
                               char text[MODAL_HASH_TEXT], modal_error *err)
{
    modal_hash *hash = NULL;
    const modal_status status = modal_hash_new(&hash, err);
    if (status != MODAL_OK) return status;
    modal_hash_array(hash, "positions", positions, 3 * n_vertices, sizeof *positions);
    modal_hash_array(hash, "triangles", triangles, 3 * n_triangles, sizeof *triangles);
    modal_hash_text(hash, text);
    modal_hash_delete(hash);
    return MODAL_OK;
}

modal_status modal_octree_build(const modal_octree_request *r, modal_octree *o, int64_t *n_flat, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_bricks cells = {0}, samples = {0};
    modal_octree_frame frame = {0};
    uint8_t *begins = NULL;
    int64_t n_met = 0;
    *o = (modal_octree){.side = r->side, .channels = r->channels, .n_triangles = r->n_triangles, .depth = 1};
    while ((int64_t)1 << modal_octree_bits(o) < r->resolution || modal_octree_bits(o) < 3) o->depth++;
    if (modal_octree_bits(o) > MODAL_OCTREE_BITS)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "a resolution of %lld: at most %d", (long long)r->resolution,
                   1 << (MODAL_OCTREE_BITS - MODAL_OCTREE_BITS % modal_octree_side_bits(o)));
    MODAL_TRY(place_cube(r, o, err));
    frame = (modal_octree_frame){r->positions, {o->origin[0], o->origin[1], o->origin[2]}, ldexp(1.0, modal_octree_bits(o)) / o->size};
    const double margin = modal_octree_margin(o);
    MODAL_TRY(check_before(r, o, err));
    MODAL_TRY(make_cells(r, &frame, margin, &cells, n_flat, &n_met, err));
    if (cells.n == 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "the surface has no area");
    MODAL_TRY(modal_bricks_add(&samples, &cells, err));
    for (int axis = 0; axis < 3; axis++) MODAL_TRY(modal_bricks_widen(&samples, axis, err));
    MODAL_TRY(modal_bricks_finish(&cells, err));
    MODAL_TRY(modal_bricks_finish(&samples, err));
    o->n_samples = samples.first[samples.n];
    o->n_cells = cells.first[cells.n];
    const sizes n = {(double)o->n_samples, (double)samples.n, (double)o->n_cells, (double)n_met};
    MODAL_TRY(check_memory(r, "", &n, err));
    if (r->planned) r->planned(r->planned_to, o->n_samples, bytes_of(r, &n));
    MODAL_TRY(modal_alloc(&o->keys, o->n_samples, sizeof *o->keys, "samples", err));
    MODAL_TRY(modal_alloc(&begins, o->n_samples, 1, "samples", err));
    list_samples(&cells, &samples, o->keys, begins);
    modal_bricks_free(&cells);
    MODAL_TRY(modal_octree_make_nodes(o, begins, err));
    MODAL_TRY(start_values(o, err));
    MODAL_TRY(modal_octree_nearest(&frame, r->triangles, margin, &samples, r->progress, o, err));
    MODAL_TRY(modal_octree_sign(r->positions, r->n_vertices, r->triangles, r->n_triangles, o->source_hash, err));
done:
    modal_bricks_free(&cells);
    modal_bricks_free(&samples);
    modal_free(&begins);
    if (status != MODAL_OK) modal_octree_free(o);
    return status;
}
