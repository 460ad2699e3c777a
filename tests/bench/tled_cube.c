/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/tled_cube.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/memory.h"

typedef struct keyed {
    uint64_t key;
    int32_t number;
} keyed;

static int by_key(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static uint64_t mix(uint64_t z)
{
    z = (z + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t spread(uint64_t x)
{
    uint64_t out = 0;
    for (int k = 0; k < 21; k++) out |= (x >> k & 1) << (3 * k);
    return out;
}

/* Numbers of n^3 grid points along the curve, or in random order: place[point]. */
static modal_status order(int n, int random, int32_t *place, modal_error *err)
{
    modal_status status = MODAL_OK;
    keyed *keys = NULL;
    const int32_t count = n * n * n;
    MODAL_TRY(modal_alloc(&keys, count, sizeof *keys, "a cube's order", err));
    for (int32_t i = 0; i < count; i++)
        keys[i] = (keyed){random ? mix((uint64_t)i) : spread((uint64_t)(i % n)) | spread((uint64_t)(i / n % n)) << 1 |
                                                          spread((uint64_t)(i / n / n)) << 2, i};
    qsort(keys, (size_t)count, sizeof *keys, by_key);
    for (int32_t i = 0; i < count; i++) place[keys[i].number] = i;
done:
    modal_free(&keys);
    return status;
}

static void fill_elements(tled_cube *c, const tled_cube_kind *kind, const int32_t *node, const int32_t *cell)
{
    static const int turns[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const int corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    const int n = kind->cells, k = n + 1;
    for (int32_t i = 0; i < n * n * n; i++) {
        const int at[3] = {i % n, i / n % n, i / n / n};
        if (kind->hexahedra) {
            for (int a = 0; a < 8; a++)
                c->elements[8 * (int64_t)cell[i] + a] =
                    node[((at[2] + corner[a][2]) * k + at[1] + corner[a][1]) * k + at[0] + corner[a][0]];
            continue;
        }
        for (int t = 0; t < 6; t++) {
            int32_t *e = c->elements + 4 * (6 * (int64_t)cell[i] + t);
            int v[3] = {at[0], at[1], at[2]};
            for (int a = 0; a < 4; a++) {
                e[a] = node[(v[2] * k + v[1]) * k + v[0]];
                if (a < 3) v[turns[t][a]]++;
            }
            if (t == 1 || t == 2 || t == 5) { /* positive volumes */
                const int32_t third = e[2];
                e[2] = e[3];
                e[3] = third;
            }
        }
    }
}

static void fill_nodes(tled_cube *c, const tled_cube_kind *kind, const int32_t *node)
{
    const int n = kind->cells, k = n + 1;
    const double edge = 0.1;
    for (int32_t i = 0; i < k * k * k; i++) {
        const int at[3] = {i % k, i / k % k, i / k / k};
        for (int a = 0; a < 3; a++) {
            const int inner = at[a] > 0 && at[a] < n;
            const double off = inner ? 0.15 * ((double)(mix(3 * (uint64_t)i + (uint64_t)a) >> 40) / (1 << 24) - 0.5) : 0;
            c->nodes[3 * (int64_t)node[i] + a] = (float)(edge * (at[a] + off) / n);
        }
        if (at[2] == 0) c->held[c->solid.n_held++] = node[i];
    }
}

static int ascending(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Masses, and a step of half the shortest way of a wave through a cell's tetrahedra. */
static void fill_mass(tled_cube *c, const tled_cube_kind *kind, double wave)
{
    const modal_tled_solid *s = &c->solid;
    for (int64_t i = 0; i < s->n_nodes; i++) c->mass[i] = 0;
    for (int64_t e = 0; e < s->n_tetrahedra; e++) {
        double g[3][3];
        const double v = modal_tled_tetrahedron_shape(s->nodes, s->tetrahedra + 4 * e, g);
        for (int a = 0; a < 4; a++) c->mass[s->tetrahedra[4 * e + a]] += 1000 * v / 4;
    }
    for (int64_t e = 0; e < s->n_hexahedra; e++) {
        modal_tled_hexahedron shape;
        modal_tled_hexahedron_shape(s->nodes, s->hexahedra + 8 * e, s->centre, &shape);
        for (int a = 0; a < 8; a++) c->mass[s->hexahedra[8 * e + a]] += 1000 * shape.volume / 8;
    }
    c->step = 0.25 * 0.1 / kind->cells / wave;
}

/* Macro-elements of so many tetrahedra. Cells 2 i and 2 i + 1 along the curve are neighbours where their number along an edge is even. */
static modal_status make_macros(tled_cube *c, int size, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_tled_solid *s = &c->solid;
    MODAL_TRY(modal_alloc(&c->macro_offsets, s->n_tetrahedra / size + 2, sizeof *c->macro_offsets, "a cube", err));
    MODAL_TRY(modal_alloc(&c->macro_of, s->n_tetrahedra, sizeof *c->macro_of, "a cube", err));
    for (int64_t e = 0; e < s->n_tetrahedra; e += size) c->macro_offsets[s->n_macros++] = e;
    c->macro_offsets[s->n_macros] = s->n_tetrahedra;
    for (int64_t e = 0; e < s->n_tetrahedra; e++) c->macro_of[e] = (int32_t)(e / size);
    s->macro_offsets = c->macro_offsets, s->macro_of = c->macro_of;
    c->material.control = 0.3 * c->material.mu;
done:
    return status;
}

modal_status tled_cube_make(tled_cube *c, const tled_cube_kind *kind, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = kind->cells, k = n + 1, n_elements = n * n * n * (kind->hexahedra ? 1 : 6);
    const double young = 3000, poisson = 0.45, mu = young / (2 + 2 * poisson), bulk = young / (3 - 6 * poisson);
    static const char *const laws[] = {"", ", logarithmic", ", StVK"};
    static const char *const extras[TLED_EXTRAS] = {"", ", fibres", ", a Prony term", ", nodal pressures", ", mean patches",
                                                     ", joined mean patches"};
    int32_t *node = NULL, *cell = NULL;
    *c = (tled_cube){.alpha = 10, .random = kind->random};
    snprintf(c->name, sizeof c->name, "cube, %d cells, %s%s%s%s", kind->cells, kind->hexahedra ? "H8" : "T4",
             kind->random ? ", random order" : "", laws[kind->law], extras[kind->extra]);
    MODAL_TRY(modal_alloc(&node, k * k * k, sizeof *node, "a cube", err));
    MODAL_TRY(modal_alloc(&cell, n * n * n, sizeof *cell, "a cube", err));
    MODAL_TRY(modal_alloc(&c->nodes, 3 * k * k * k, sizeof *c->nodes, "a cube", err));
    MODAL_TRY(modal_alloc(&c->mass, k * k * k, sizeof *c->mass, "a cube", err));
    MODAL_TRY(modal_alloc(&c->elements, n_elements * (kind->hexahedra ? 8 : 4), sizeof *c->elements, "a cube", err));
    MODAL_TRY(modal_alloc_zero(&c->materials, n_elements, sizeof *c->materials, "a cube", err));
    MODAL_TRY(modal_alloc(&c->held, k * k, sizeof *c->held, "a cube", err));
    MODAL_TRY(modal_alloc(&c->held_signals, 3 * k * k, sizeof *c->held_signals, "a cube", err));
    MODAL_TRY(modal_alloc_zero(&c->held_values, 3 * k * k, sizeof *c->held_values, "a cube", err));
    MODAL_TRY(order((int)k, kind->random, node, err));
    MODAL_TRY(order((int)n, kind->random, cell, err));
    fill_nodes(c, kind, node);
    fill_elements(c, kind, node, cell);
    qsort(c->held, (size_t)c->solid.n_held, sizeof *c->held, ascending);
    for (int64_t i = 0; i < 3 * c->solid.n_held; i++) c->held_signals[i] = MODAL_TLED_STILL;
    c->material = (modal_tled_material){.law = kind->law, .mu = mu, .modulus = bulk,
                                        .hourglass = 0.1 * (bulk + 4 * mu / 3)};
    if (kind->law != MODAL_TLED_NEO_HOOKEAN) c->material.modulus = bulk - 2 * mu / 3;
    c->solid = (modal_tled_solid){.n_nodes = k * k * k, .nodes = c->nodes, .mass = c->mass,
                                  .n_tetrahedra = kind->hexahedra ? 0 : n_elements,
                                  .n_hexahedra = kind->hexahedra ? n_elements : 0, .tetrahedra = c->elements,
                                  .hexahedra = c->elements, .material = c->materials, .n_materials = 1,
                                  .materials = &c->material, .n_held = c->solid.n_held, .held = c->held,
                                  .held_signals = c->held_signals, .held_values = c->held_values};
    if (kind->extra == TLED_FIBRES) {
        MODAL_TRY(modal_alloc_zero(&c->fibres, 3 * n_elements, sizeof *c->fibres, "a cube", err));
        for (int64_t e = 0; e < n_elements; e++) c->fibres[3 * e + 2] = 1;
        c->solid.fibres = c->fibres;
        c->material.fibre = mu;
    }
    if (kind->extra == TLED_PRONY) {
        c->material.n_terms = c->material.n_isochoric = 1;
        c->material.shares[0] = 0.5, c->material.times[0] = 0.1;
    }
    c->material.averages = kind->extra == TLED_PRESSURES;
    if (kind->extra == TLED_PATCHES || kind->extra == TLED_JOINED) MODAL_TRY(make_macros(c, kind->extra == TLED_PATCHES ? 6 : 12, err));
    fill_mass(c, kind, sqrt((bulk + 4 * mu / 3) / 1000));
done:
    modal_free(&node), modal_free(&cell);
    return status;
}

void tled_cube_free(tled_cube *c)
{
    modal_free(&c->nodes), modal_free(&c->mass), modal_free(&c->elements), modal_free(&c->materials);
    modal_free(&c->held), modal_free(&c->held_signals), modal_free(&c->held_values);
    modal_free(&c->fibres), modal_free(&c->macro_offsets), modal_free(&c->macro_of);
}
