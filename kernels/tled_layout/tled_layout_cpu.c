/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "kernels/tled_layout/tled_lanes.h"
#include "lib/base/memory.h"

static void free_lanes(modal_tled_layout *layout)
{
    modal_tled_lanes *l = (modal_tled_lanes *)layout;
    void *const arrays[] = {&l->patches,  &l->indices, &l->shapes,       &l->materials, &l->elements,     &l->nodes,      &l->slots,
                            &l->slot_offsets, &l->partial, &l->inverse_mass, &l->specials,  &l->face_corners, &l->face_forces,
                            &l->falls,    &l->fibres,  &l->pressure_factors, &l->pressures, &l->stiffness,
                            &l->macro_blocks, &l->corner_stiffness};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) modal_free(arrays[i]);
    modal_free(&l);
}

typedef struct builder {
    modal_tled_lanes *l;
    const modal_tled_solid *s;
    int32_t *order;   /* [most elements of a patch] by material; of macro-elements these, by material and falling number of corners */
    uint8_t *n_corners; /* [n_macros] */
    int32_t *local;   /* [n_nodes] of the patch at hand, or -1 */
    int64_t n_blocks, n_indices, n_values, n_nodes;
} builder;

/* Blocks of a patch of elements [first, last): its elements by material, in their order; order gets them. */
static int64_t sort_patch(builder *b, int64_t first, int64_t last)
{
    int64_t n = 0, blocks = 0;
    for (int32_t m = 0; m < b->s->n_materials && n < last - first; m++) {
        const int64_t before = n;
        for (int64_t e = first; e < last; e++)
            if (b->s->material[e] == m) b->order[n++] = (int32_t)e;
        blocks += (n - before + MODAL_TLED_LANES - 1) / MODAL_TLED_LANES;
    }
    return blocks;
}

/* Blocks of a patch of macro-elements [first, last), and what they take; order gets the macros. */
static int64_t sort_macros(builder *b, int64_t first, int64_t last, int64_t *n_indices, int64_t *n_values)
{
    const modal_tled_solid *s = b->s;
    int64_t n = 0, blocks = 0;
    *n_indices = *n_values = 0;
    for (int32_t m = 0; m < s->n_materials && n < last - first; m++) {
        const int64_t before = n;
        for (int corners = MODAL_TLED_MACRO_CORNERS; corners >= 4; corners--)
            for (int64_t i = first; i < last; i++)
                if (s->material[s->macro_offsets[i]] == m && b->n_corners[i] == corners) b->order[n++] = (int32_t)i;
        for (int64_t k = before; k < n; k += MODAL_TLED_LANES, blocks++) {
            *n_indices += b->n_corners[b->order[k]] * MODAL_TLED_LANES;
            *n_values += modal_tled_macro_rows(b->n_corners[b->order[k]]) * MODAL_TLED_LANES;
        }
    }
    return blocks;
}

static void put(const modal_tled_lanes *l, void *to, int64_t at, double value)
{
    if (l->head.precision == MODAL_TLED_FLOAT64) ((double *)to)[at] = value;
    else ((float *)to)[at] = (float)value;
}

static void put_shape(const modal_tled_lanes *l, int64_t block, int lane, int64_t e, int there)
{
    const modal_tled_solid *s = l->head.solid;
    double rows[MODAL_TLED_HEXAHEDRON_ROWS];
    const int tetrahedron = e < s->n_tetrahedra;
    const int n = tetrahedron ? MODAL_TLED_TETRAHEDRON_ROWS : MODAL_TLED_HEXAHEDRON_ROWS;
    if (tetrahedron) {
        double g[3][3];
        const double volume = modal_tled_tetrahedron_shape(s->nodes, s->tetrahedra + 4 * e, g);
        memcpy(rows, g, sizeof g);
        rows[9] = there ? volume : 0;
    } else {
        static const int8_t signs[4][8] = {
            {1, -1, 1, -1, 1, -1, 1, -1}, {1, 1, -1, -1, -1, -1, 1, 1}, {1, -1, -1, 1, -1, 1, 1, -1}, {-1, 1, -1, 1, 1, -1, 1, -1}};
        const int32_t *corners = s->hexahedra + 8 * (e - s->n_tetrahedra);
        modal_tled_hexahedron shape;
        modal_tled_hexahedron_shape(s->nodes, corners, s->centre, &shape);
        memcpy(rows, shape.gradients, sizeof shape.gradients);
        rows[24] = there ? shape.weight : 0;
        rows[25] = there ? shape.sum : 0;
        for (int m = 0; m < 4; m++)
            for (int i = 0; i < 3; i++) {
                rows[26 + 3 * m + i] = 0;
                for (int a = 0; a < 8; a++) /* differences: the sum of the signs is zero */
                    rows[26 + 3 * m + i] += signs[m][a] * (s->nodes[3 * (int64_t)corners[a] + i] - s->nodes[3 * (int64_t)corners[0] + i]);
            }
    }
    for (int k = 0; k < n; k++) put(l, l->shapes, block + k * MODAL_TLED_LANES + lane, rows[k]);
}

/* c with sum_m c_ma c_mb = spread_ab over corners from 1 on: Cholesky's factor, the largest pivot first, of n - 4 columns at most, since
 * no linear field is felt. */
static void modes_of(modal_tled_macro *x, double modes[MODAL_TLED_MACRO_CORNERS - 4][MODAL_TLED_MACRO_CORNERS])
{
    const int n = x->n_corners;
    for (int m = 0; m < n - 4; m++) {
        int pivot = 1;
        for (int a = 2; a < n; a++)
            if (x->spread[a][a] > x->spread[pivot][pivot]) pivot = a;
        const double root = x->spread[pivot][pivot] > 0 ? sqrt(x->spread[pivot][pivot]) : 0;
        for (int a = 0; a < n; a++) modes[m][a] = root > 0 ? x->spread[a][pivot] / root : 0;
        for (int a = 0; a < n; a++)
            for (int c = 0; c < n; c++) x->spread[a][c] -= modes[m][a] * modes[m][c];
    }
}

/* Macro-element m into a lane of a block; there: 0 where the lane is a copy that gives no force. */
static void put_macro(const builder *b, const modal_tled_macro_block *block, int lane, int64_t m, int there)
{
    modal_tled_lanes *l = b->l;
    const modal_tled_solid *s = b->s;
    const int n = block->n_corners;
    const double scale = there ? 1 : 0;
    modal_tled_macro x;
    double modes[MODAL_TLED_MACRO_CORNERS - 4][MODAL_TLED_MACRO_CORNERS] = {{0}}, stiffness[MODAL_TLED_MACRO_CORNERS] = {0};
    modal_tled_macro_shape(s, m, &x);
    modes_of(&x, modes);
    int64_t row = block->first_value + lane;
    for (int k = 3; k < 3 * n; k++, row += MODAL_TLED_LANES) put(l, l->shapes, row, k < 3 * x.n_corners ? x.gradients[k / 3][k % 3] : 0);
    put(l, l->shapes, row, scale * x.volume);
    for (int k = 0; k < (n - 4) * (n - 1); k++) {
        const int mode = k / (n - 1), a = k % (n - 1) + 1;
        row += MODAL_TLED_LANES;
        put(l, l->shapes, row, mode < x.n_corners - 4 && a < x.n_corners ? scale * modes[mode][a] : 0);
    }
    for (int64_t k = 4 * s->macro_offsets[m]; l->corner_stiffness && k < 4 * s->macro_offsets[m + 1]; k++)
        for (int a = 0; a < x.n_corners; a++)
            if (x.corners[a] == s->tetrahedra[k]) stiffness[a] += scale * s->stiffness[k / 4];
    for (int a = 0; a < n; a++) {
        const int64_t at = block->first_index + (int64_t)a * MODAL_TLED_LANES + lane;
        l->indices[at] = (uint16_t)(b->local[x.corners[a < x.n_corners ? a : 0]] * (l->head.precision == MODAL_TLED_FLOAT64 ? 4 : 2));
        if (l->corner_stiffness) put(l, l->corner_stiffness, at, a < x.n_corners ? stiffness[a] : 0);
    }
}

/* Corners of an element of the solid. */
static const int32_t *corners_of(const modal_tled_solid *s, int64_t e)
{
    return e < s->n_tetrahedra ? s->tetrahedra + 4 * e : s->hexahedra + 8 * (e - s->n_tetrahedra);
}

/* Numbers the patch's nodes in ascending order. */
static int32_t number_nodes(builder *b, int64_t first, int64_t last, int n_corners, int32_t *nodes)
{
    int32_t n = 0;
    for (int64_t e = first; e < last; e++)
        for (int a = 0; a < n_corners; a++) {
            const int32_t node = corners_of(b->s, e)[a];
            if (b->local[node] >= 0) continue;
            b->local[node] = 0;
            nodes[n++] = node;
        }
    /* few and nearly in order: Shell's sort */
    for (int32_t gap = n / 2; gap > 0; gap /= 2)
        for (int32_t i = gap; i < n; i++) {
            const int32_t node = nodes[i];
            int32_t k = i;
            for (; k >= gap && nodes[k - gap] > node; k -= gap) nodes[k] = nodes[k - gap];
            nodes[k] = node;
        }
    for (int32_t i = 0; i < n; i++) b->local[nodes[i]] = i;
    return n;
}

/* Blocks of elements of one type. */
static void fill_elements(builder *b, const modal_tled_patch *p, int64_t n_elements)
{
    modal_tled_lanes *l = b->l;
    const int n_corners = p->n_corners, rows = n_corners == 4 ? MODAL_TLED_TETRAHEDRON_ROWS : MODAL_TLED_HEXAHEDRON_ROWS;
    int64_t block = 0;
    for (int64_t from = 0; from < n_elements;) {
        int64_t to = from;
        const int32_t material = b->s->material[b->order[from]];
        while (to < n_elements && b->s->material[b->order[to]] == material) to++;
        const int64_t n = to - from, blocks = (n + MODAL_TLED_LANES - 1) / MODAL_TLED_LANES;
        for (int64_t k = 0; k < blocks; k++, block++) {
            l->materials[b->n_blocks + block] = material;
            for (int lane = 0; lane < MODAL_TLED_LANES; lane++) {
                const int64_t place = lane * blocks + k; /* lanes are `blocks` elements apart */
                const int64_t e = b->order[from + (place < n ? place : k)];
                l->elements[(b->n_blocks + block) * MODAL_TLED_LANES + lane] = (int32_t)e;
                put_shape(l, b->n_values + block * rows * MODAL_TLED_LANES, lane, e, place < n);
                if (l->stiffness) put(l, l->stiffness, (b->n_blocks + block) * MODAL_TLED_LANES + lane, place < n ? b->s->stiffness[e] : 0);
                for (int c = 0; l->fibres && c < 3; c++)
                    put(l, l->fibres, ((b->n_blocks + block) * 3 + c) * MODAL_TLED_LANES + lane, b->s->fibres[3 * e + c]);
                for (int a = 0; a < n_corners; a++)
                    l->indices[b->n_indices + (block * n_corners + a) * MODAL_TLED_LANES + lane] =
                        (uint16_t)(b->local[corners_of(b->s, e)[a]] * (l->head.precision == MODAL_TLED_FLOAT64 ? 4 : 2));
            }
        }
        from = to;
    }
    b->n_blocks += p->n_blocks;
    b->n_indices += (int64_t)p->n_blocks * n_corners * MODAL_TLED_LANES;
    b->n_values += (int64_t)p->n_blocks * rows * MODAL_TLED_LANES;
}

/* Blocks of macro-elements; n of them are in `order`. */
static void fill_macros(builder *b, int64_t n)
{
    modal_tled_lanes *l = b->l;
    const modal_tled_solid *s = b->s;
    for (int64_t from = 0; from < n; from += MODAL_TLED_LANES) {
        const int32_t material = s->material[s->macro_offsets[b->order[from]]];
        modal_tled_macro_block *block = &l->macro_blocks[b->n_blocks];
        int64_t to = from;
        while (to < n && to < from + MODAL_TLED_LANES && s->material[s->macro_offsets[b->order[to]]] == material) to++;
        *block = (modal_tled_macro_block){b->n_indices, b->n_values, b->n_corners[b->order[from]]};
        l->materials[b->n_blocks] = material;
        for (int lane = 0; lane < MODAL_TLED_LANES; lane++) {
            const int64_t m = b->order[from + lane < to ? from + lane : from], e = s->macro_offsets[m];
            l->elements[b->n_blocks * MODAL_TLED_LANES + lane] = (int32_t)e;
            put_macro(b, block, lane, m, from + lane < to);
            for (int c = 0; l->fibres && c < 3; c++)
                put(l, l->fibres, (b->n_blocks * 3 + c) * MODAL_TLED_LANES + lane, s->fibres[3 * e + c]);
        }
        b->n_blocks++;
        b->n_indices += block->n_corners * MODAL_TLED_LANES;
        b->n_values += modal_tled_macro_rows(block->n_corners) * MODAL_TLED_LANES;
        from = to - MODAL_TLED_LANES;
    }
}

/* Elements [first, last); n_corners 0: macro-elements of tetrahedra. */
static void fill_patch(builder *b, int64_t first, int64_t last, int n_corners)
{
    modal_tled_lanes *l = b->l;
    const modal_tled_solid *s = b->s;
    modal_tled_patch *p = &l->patches[l->n_patches++];
    *p = (modal_tled_patch){b->n_blocks, b->n_indices, b->n_values, b->n_nodes, 0, 0, n_corners};
    p->n_nodes = number_nodes(b, first, last, n_corners == 8 ? 8 : 4, l->nodes + b->n_nodes);
    if (p->n_nodes > l->most_nodes) l->most_nodes = p->n_nodes;
    if (n_corners == 0) {
        const int64_t m = s->macro_of[first], n = s->macro_of[last - 1] + 1 - m;
        int64_t indices, values;
        p->n_blocks = (int32_t)sort_macros(b, m, m + n, &indices, &values);
        fill_macros(b, n);
    } else {
        p->n_blocks = (int32_t)sort_patch(b, first, last);
        fill_elements(b, p, last - first);
    }
    for (int32_t i = 0; i < p->n_nodes; i++) {
        const int32_t node = l->nodes[b->n_nodes + i];
        b->local[node] = -1;
        l->slot_offsets[node + 1]++;
    }
    b->n_nodes += p->n_nodes;
}

/* A patch of elements [*first, return): of one type. */
static int64_t patch_end(const builder *b, int64_t first)
{
    const modal_tled_solid *s = b->s;
    const int64_t whole = first < s->n_tetrahedra ? MODAL_TLED_PATCH_TETRAHEDRA : MODAL_TLED_PATCH_HEXAHEDRA;
    const int64_t most = b->l->head.precision == MODAL_TLED_FLOAT64 ? whole / 2 : whole;
    const int64_t end = first < s->n_tetrahedra ? s->n_tetrahedra : s->n_tetrahedra + s->n_hexahedra;
    if (first + most >= end) return end;
    return s->macro_offsets && first < s->n_tetrahedra ? s->macro_offsets[s->macro_of[first + most]] : first + most; /* whole macros */
}

static modal_status count_corners(builder *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_alloc(&b->n_corners, b->s->n_macros, 1, "mean patches", err));
    for (int64_t m = 0; m < b->s->n_macros; m++) {
        modal_tled_macro x;
        modal_tled_macro_shape(b->s, m, &x);
        b->n_corners[m] = (uint8_t)x.n_corners;
    }
done:
    return status;
}

static modal_status make_patches(builder *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_tled_lanes *l = b->l;
    const modal_tled_solid *s = b->s;
    const int64_t n_elements = s->n_tetrahedra + s->n_hexahedra, bytes = l->head.precision == MODAL_TLED_FLOAT64 ? 8 : 4;
    int64_t n_patches = 0, n_blocks = 0, n_indices = 0, n_values = 0, n_places = 0;
    for (int64_t first = 0; first < n_elements; n_patches++) {
        const int64_t last = patch_end(b, first);
        const int tetrahedra = first < s->n_tetrahedra;
        if (tetrahedra && s->macro_offsets) {
            int64_t indices, values;
            n_blocks += sort_macros(b, s->macro_of[first], s->macro_of[last - 1] + 1, &indices, &values);
            n_indices += indices, n_values += values;
        } else {
            const int64_t blocks = sort_patch(b, first, last);
            n_blocks += blocks;
            n_indices += blocks * (tetrahedra ? 4 : 8) * MODAL_TLED_LANES;
            n_values += blocks * (tetrahedra ? MODAL_TLED_TETRAHEDRON_ROWS : MODAL_TLED_HEXAHEDRON_ROWS) * MODAL_TLED_LANES;
        }
        n_places += (last - first) * (tetrahedra ? 4 : 8);
        first = last;
    }
    MODAL_TRY(modal_alloc(&l->patches, n_patches, sizeof *l->patches, "patches", err));
    MODAL_TRY(modal_alloc(&l->indices, n_indices, sizeof *l->indices, "elements", err));
    MODAL_TRY(modal_alloc(&l->shapes, n_values, (size_t)bytes, "shapes", err));
    if (s->fibres) MODAL_TRY(modal_alloc(&l->fibres, 3 * MODAL_TLED_LANES * n_blocks, (size_t)bytes, "fibres", err));
    if (s->stiffness) MODAL_TRY(modal_alloc(&l->stiffness, n_blocks, MODAL_TLED_LANES * (size_t)bytes, "stiffness", err));
    if (s->macro_offsets) MODAL_TRY(modal_alloc(&l->macro_blocks, n_blocks, sizeof *l->macro_blocks, "mean patches", err));
    if (s->macro_offsets && s->stiffness) MODAL_TRY(modal_alloc_zero(&l->corner_stiffness, n_indices, (size_t)bytes, "stiffness", err));
    l->most_terms = modal_tled_most_terms(s);
    l->head.viscous_bytes = 6 * MODAL_TLED_LANES * n_blocks * l->most_terms * bytes;
    MODAL_TRY(modal_alloc(&l->materials, n_blocks, sizeof *l->materials, "elements", err));
    MODAL_TRY(modal_alloc(&l->elements, n_blocks, MODAL_TLED_LANES * sizeof *l->elements, "elements", err));
    MODAL_TRY(modal_alloc(&l->nodes, n_places, sizeof *l->nodes, "nodes of patches", err));
    MODAL_TRY(modal_alloc_zero(&l->slot_offsets, s->n_nodes + 1, sizeof *l->slot_offsets, "nodes of patches", err));
    for (int64_t first = 0; first < n_elements;) {
        const int64_t last = patch_end(b, first);
        fill_patch(b, first, last, first >= s->n_tetrahedra ? 8 : s->macro_offsets ? 0 : 4);
        first = last;
    }
    if (b->n_nodes > INT32_MAX) MODAL_FAIL(err, MODAL_ERROR_INPUT, "solid: too large, %lld nodes of patches", (long long)b->n_nodes);
    MODAL_TRY(modal_alloc(&l->slots, b->n_nodes, sizeof *l->slots, "slots", err));
    MODAL_TRY(modal_alloc_zero(&l->partial, b->n_nodes, (size_t)(4 * bytes), "sums of patches", err));
    for (int64_t i = 0; i < s->n_nodes; i++) l->slot_offsets[i + 1] += l->slot_offsets[i];
    memcpy(b->local, l->slot_offsets, (size_t)s->n_nodes * sizeof *b->local);
    for (int64_t k = 0; k < b->n_nodes; k++) l->slots[k] = b->local[l->nodes[k]]++;
    l->head.bytes = n_indices * 2 + n_values * bytes + n_blocks * 68 + b->n_nodes * (8 + 4 * bytes) + s->n_nodes * (4 + bytes) +
                    (l->stiffness ? n_blocks * MODAL_TLED_LANES * bytes : 0);
done:
    return status;
}

static modal_status find_specials(builder *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_tled_lanes *l = b->l;
    const modal_tled_solid *s = b->s;
    int64_t n = 0, *faces = NULL;
    MODAL_TRY(modal_alloc_zero(&faces, s->n_nodes + 1, sizeof *faces, "faces", err));
    for (int64_t k = 0; k < 4 * s->n_faces; k++)
        if (s->faces[k] >= 0) faces[s->faces[k] + 1]++;
    for (int pass = 0; pass < 2; pass++) {
        n = 0;
        for (int64_t i = 0, loaded = 0, held = 0, row = 0; i < s->n_nodes; i++) {
            const int is_loaded = loaded < s->n_loaded && s->loaded[loaded] == i, is_held = held < s->n_held && s->held[held] == i;
            const int touches = row < s->n_touching && s->touching[row] == i;
            const int64_t first = pass ? faces[i] : 0, n_faces = pass ? faces[i + 1] - first : faces[i + 1];
            if ((is_loaded || is_held || touches || n_faces > 0) && n++ >= 0 && pass)
                l->specials[n - 1] = (modal_tled_special){(int32_t)i, is_loaded ? (int32_t)loaded : -1, is_held ? (int32_t)held : -1,
                                                          touches ? (int32_t)row : -1, first, n_faces};
            loaded += is_loaded, held += is_held, row += touches;
        }
        if (pass) break;
        for (int64_t i = 0; i < s->n_nodes; i++) faces[i + 1] += faces[i];
        MODAL_TRY(modal_alloc(&l->specials, n, sizeof *l->specials, "loaded nodes", err));
        MODAL_TRY(modal_alloc(&l->face_corners, faces[s->n_nodes], sizeof *l->face_corners, "faces", err));
        MODAL_TRY(modal_alloc(&l->face_forces, s->n_faces, 12 * sizeof *l->face_forces, "faces", err));
    }
    l->n_specials = n;
    for (int64_t k = 0; k < 4 * s->n_faces; k++)
        if (s->faces[k] >= 0) l->face_corners[faces[s->faces[k]]++] = k;
done:
    modal_free(&faces);
    return status;
}

/* Numbers of nodes in the layout's precision: of masses, weights and pressures. */
static modal_status make_nodes(modal_tled_lanes *l, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = l->head.solid;
    const size_t bytes = l->head.precision == MODAL_TLED_FLOAT64 ? 8 : 4;
    double *factors = NULL, *volumes = NULL;
    MODAL_TRY(modal_alloc(&l->inverse_mass, s->n_nodes, bytes, "masses", err));
    for (int64_t i = 0; i < s->n_nodes; i++) put(l, l->inverse_mass, i, 1 / s->mass[i]);
    if (s->weights) MODAL_TRY(modal_alloc(&l->falls, s->n_nodes, bytes, "weights", err));
    for (int64_t i = 0; l->falls && i < s->n_nodes; i++) put(l, l->falls, i, s->weights[i] / s->mass[i]);
    if (!modal_tled_averages(s)) goto done;
    MODAL_TRY(modal_alloc(&l->pressure_factors, s->n_nodes, bytes, "nodal pressures", err));
    MODAL_TRY(modal_alloc(&l->pressures, s->n_nodes, bytes, "nodal pressures", err));
    MODAL_TRY(modal_alloc(&factors, s->n_nodes, sizeof *factors, "nodal pressures", err));
    MODAL_TRY(modal_alloc(&volumes, s->n_nodes, sizeof *volumes, "nodal pressures", err));
    modal_tled_pressure_factors(s, factors, volumes);
    for (int64_t i = 0; i < s->n_nodes; i++) put(l, l->pressure_factors, i, factors[i]), put(l, l->pressures, i, 0);
done:
    modal_free(&factors);
    modal_free(&volumes);
    return status;
}

modal_status modal_tled_layout_cpu(const modal_tled_layout_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream;
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = task->solid;
    modal_tled_lanes *l = NULL;
    builder b = {.s = s};
    *task->layout = NULL;
    MODAL_TRY(modal_alloc_zero(&l, 1, sizeof *l, "a solid's layout", err));
    l->head = (modal_tled_layout){s, task->precision, 0, 0, 0, free_lanes};
    b.l = l;
    MODAL_TRY(modal_alloc(&b.order, MODAL_TLED_PATCH_TETRAHEDRA, sizeof *b.order, "patches", err));
    MODAL_TRY(modal_alloc(&b.local, s->n_nodes, sizeof *b.local, "patches", err));
    for (int64_t i = 0; i < s->n_nodes; i++) b.local[i] = -1;
    if (s->macro_offsets) MODAL_TRY(count_corners(&b, err));
    MODAL_TRY(make_patches(&b, err));
    MODAL_TRY(find_specials(&b, err));
    MODAL_TRY(make_nodes(l, err));
    *task->layout = &l->head;
    l = NULL;
done:
    modal_free(&b.order);
    modal_free(&b.local);
    modal_free(&b.n_corners);
    if (l) free_lanes(&l->head);
    return status;
}
