/* SPDX-License-Identifier: Apache-2.0 */
/* Macro-elements: every tetrahedron in one, of one kind, connected by faces, not too few and not too many; the same ones again; whole in
 * a GPU's patches, whose rings have their lanes; and no allocation that fails is overlooked. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/tled_layout/tled_patches.h"
#include "lib/base/memory.h"
#include "lib/tled/macros.h"

enum { CELLS = 7, EDGE = CELLS + 1, NODES = EDGE * EDGE * EDGE, TETRAHEDRA = 6 * CELLS * CELLS * CELLS };

typedef struct box {
    double nodes[NODES][3], mass[NODES];
    int32_t corners[TETRAHEDRA][4], kinds[TETRAHEDRA], order[TETRAHEDRA], of[TETRAHEDRA], sorted[TETRAHEDRA][4], material[TETRAHEDRA];
    int64_t n_macros, *offsets;
    modal_tled_material materials[2];
    modal_tled_solid solid;
} box;

/* Cells of six tetrahedra about a diagonal, nodes moved by up to `jitter` edges; of two kinds, whose border goes across cells. */
static box *new_box(double jitter, int n_kinds)
{
    static const int paths[6][2] = {{1, 2}, {2, 3}, {3, 7}, {7, 4}, {4, 5}, {5, 1}};
    box *b = calloc(1, sizeof *b);
    uint32_t state = 7;
    assert_non_null(b);
    for (int i = 0; i < 3 * NODES; i++) {
        const int at[3] = {i / 3 % EDGE, i / 3 / EDGE % EDGE, i / 3 / EDGE / EDGE};
        state = state * 1664525u + 1013904223u;
        b->nodes[i / 3][i % 3] = at[i % 3] + jitter * ((double)(state >> 8) / (1 << 23) - 1);
    }
    for (int e = 0; e < TETRAHEDRA; e++) {
        const int cell = e / 6, ids[4] = {0, paths[e % 6][0], paths[e % 6][1], 6};
        for (int a = 0; a < 4; a++)
            b->corners[e][a] = ((cell / CELLS / CELLS + ids[a] / 4) * EDGE + cell / CELLS % CELLS + (ids[a] % 4 >= 2)) * EDGE + cell % CELLS +
                               (ids[a] % 4 == 1 || ids[a] % 4 == 2);
        b->kinds[e] = e % 6 < 4 && cell % 5 < 2 ? n_kinds - 1 : 0;
    }
    return b;
}

static void make(box *b)
{
    modal_error err = {0};
    assert_int_equal(modal_tled_macros_make(TETRAHEDRA, (const int32_t(*)[4])b->corners, b->kinds, NODES, (const double(*)[3])b->nodes, b->order,
                                            &b->n_macros, &b->offsets, &err), MODAL_OK);
}

static void free_box(box *b) { modal_free(&b->offsets), free(b); }

static int common_nodes(const int32_t *a, const int32_t *b)
{
    int n = 0;
    for (int i = 0; i < 16; i++) n += a[i / 4] == b[i % 4];
    return n;
}

/* Whether the tetrahedra of a macro are reached from its first one across faces. */
static int is_connected(const box *b, int64_t m)
{
    const int32_t *own = b->order + b->offsets[m];
    const int n = (int)(b->offsets[m + 1] - b->offsets[m]);
    uint32_t reached = 1;
    for (int round = 0; round < n; round++)
        for (int i = 0; i < n; i++)
            for (int k = 0; k < n; k++)
                if (reached >> i & 1 && common_nodes(b->corners[own[i]], b->corners[own[k]]) == 3) reached |= 1u << k;
    return reached == (1u << n) - 1;
}

static void every_tetrahedron_in_one(void **unused)
{
    (void)unused;
    static const double jitters[] = {0, 0.1, 0.25};
    for (int k = 0; k < 6; k++) {
        box *b = new_box(jitters[k / 2], 1 + k % 2);
        int *seen = calloc(TETRAHEDRA, sizeof *seen), few = 0;
        make(b);
        assert_int_equal(b->offsets[0], 0);
        assert_int_equal(b->offsets[b->n_macros], TETRAHEDRA);
        for (int64_t m = 0; m < b->n_macros; m++) {
            const int n = (int)(b->offsets[m + 1] - b->offsets[m]);
            assert_in_range(n, 1, MODAL_TLED_MACRO);
            assert_true(is_connected(b, m));
            few += n < 5;
            for (int i = 0; i < n; i++) {
                const int32_t e = b->order[b->offsets[m] + i];
                seen[e]++;
                assert_int_equal(b->kinds[e], b->kinds[b->order[b->offsets[m]]]);
                if (k < 4 && k % 2 == 0) assert_int_equal(e / 6, b->order[b->offsets[m]] / 6); /* cells */
            }
            if (k < 4 && k % 2 == 0) assert_int_equal(n, 6);
        }
        for (int e = 0; e < TETRAHEDRA; e++) assert_int_equal(seen[e], 1);
        assert_true(k % 2 ? few < b->n_macros / 2 : few == 0); /* between kinds some have no neighbour */
        const int64_t n_macros = b->n_macros;
        int32_t *order = malloc(sizeof b->order);
        memcpy(order, b->order, sizeof b->order);
        modal_free(&b->offsets);
        make(b);
        assert_true(n_macros == b->n_macros && memcmp(order, b->order, sizeof b->order) == 0);
        free(order), free(seen), free_box(b);
    }
}

/* The solid of a box's macros. */
static void make_solid(box *b)
{
    for (int64_t m = 0; m < b->n_macros; m++)
        for (int64_t e = b->offsets[m]; e < b->offsets[m + 1]; e++) b->of[e] = (int32_t)m;
    for (int e = 0; e < TETRAHEDRA; e++) {
        memcpy(b->sorted[e], b->corners[b->order[e]], sizeof b->sorted[e]);
        b->material[e] = b->kinds[b->order[e]];
    }
    b->solid = (modal_tled_solid){.n_nodes = NODES, .nodes = b->nodes[0], .mass = b->mass, .n_tetrahedra = TETRAHEDRA, .tetrahedra = b->sorted[0],
                                  .material = b->material, .n_materials = 2, .materials = b->materials, .n_macros = b->n_macros,
                                  .macro_offsets = b->offsets, .macro_of = b->of};
}

/* From every lane its ring has all tetrahedra of its macro, lanes in rising order. */
static void check_rings(const box *b, const modal_tled_patches *p, const modal_tled_patch *patch, int *seen)
{
    int shares = 0;
    for (int32_t l = 0; l < patch->n_lanes; l++) {
        const uint32_t *rings = p->rings + patch->first_element;
        const int32_t macro = b->of[p->elements[patch->first_element + l]];
        int64_t n = 0;
        int has_itself = 0, before = -1;
        for (uint32_t at = rings[l] & 0xffff; at != MODAL_TLED_NO_LANE; at = rings[at] >> 16) {
            const int own = (int)(p->corners[patch->first_corner + at] >> MODAL_TLED_PLACE_BITS & 31);
            assert_true(at < (uint32_t)patch->n_lanes && (int)at > before);
            before = (int)at, has_itself |= at == (uint32_t)l, shares |= at != (uint32_t)l, n += own;
            for (int k = 0; k < own; k++) {
                const int32_t e = p->elements[patch->first_element + (int64_t)k * patch->n_lanes + at];
                assert_int_equal(b->of[e], macro);
                if (at == (uint32_t)l) seen[e]++;
            }
        }
        assert_true(has_itself && n == b->offsets[macro + 1] - b->offsets[macro]);
    }
    assert_int_equal(patch->shares, shares);
}

static void whole_in_patches(void **unused)
{
    (void)unused;
    static const modal_tled_patch_plan plans[] = {{1200, 256, 512, 6, 1}, {100, 20, 60, 3, 0}, {5, 1, 16, 1, 0}, {300, 64, 120, 4, 1}};
    for (int k = 0; k < 8; k++) {
        box *b = new_box(k % 2 ? 0.25 : 0, 1 + k % 2);
        int *seen = calloc(TETRAHEDRA, sizeof *seen);
        modal_tled_patches p;
        modal_error err = {0};
        make(b), make_solid(b);
        assert_int_equal(modal_tled_patches_make(&p, &b->solid, &plans[k / 2], &err), MODAL_OK);
        for (int32_t i = 0; i < p.n_patches; i++) {
            assert_in_range(p.patches[i].n_places, 1, plans[k / 2].places);
            check_rings(b, &p, &p.patches[i], seen);
            if (k == 0) assert_int_equal(p.patches[i].shares, 0);
        }
        for (int e = 0; e < TETRAHEDRA; e++) assert_int_equal(seen[e], 1);
        if (k == 0) assert_int_equal(6 * p.n_fans, TETRAHEDRA);
        modal_tled_patches_free(&p);
        free(seen), free_box(b);
    }
}

static void an_allocation_fails(void **unused)
{
    (void)unused;
    box *b = new_box(0.25, 2);
    int fired = 1;
    for (int64_t n = 1; fired; n++) {
        modal_error err = {0};
        assert_true(n < 100);
        modal_alloc_fail_at(n);
        const modal_status status = modal_tled_macros_make(TETRAHEDRA, (const int32_t(*)[4])b->corners, b->kinds, NODES, (const double(*)[3])b->nodes,
                                                           b->order, &b->n_macros, &b->offsets, &err);
        fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
        if (fired) assert_null(b->offsets);
    }
    free_box(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_tetrahedron_in_one), cmocka_unit_test(whole_in_patches),
                                       cmocka_unit_test(an_allocation_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
