/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/kernels/tled_solids.h"

#include <math.h>
#include <stdlib.h>

typedef struct builder {
    harness *h;
    modal_tled_solid *solid;
    int n[3];
    double *mass, *nodes;
    int32_t *tetrahedra, *hexahedra, *faces;
} builder;

static int32_t node_at(const builder *b, int x, int y, int z)
{
    return (z * (b->n[1] + 1) + y) * (b->n[0] + 1) + x;
}

/* Corner k of a cell, VTK's order. */
static int32_t corner(const builder *b, const int at[3], int k)
{
    return node_at(b, at[0] + (k % 4 == 1 || k % 4 == 2), at[1] + (k % 4 >= 2), at[2] + k / 4);
}

static void add_hexahedron(builder *b, const int at[3], int top)
{
    modal_tled_solid *s = b->solid;
    int32_t *corners = b->hexahedra + 8 * s->n_hexahedra++;
    modal_tled_hexahedron shape;
    for (int k = 0; k < 8; k++) corners[k] = corner(b, at, k);
    if (!(modal_tled_hexahedron_shape(b->nodes, corners, s->centre, &shape) > 0)) abort();
    for (int k = 0; k < 8; k++) b->mass[corners[k]] += 1000 * shape.volume / 8;
    for (int k = 0; top && k < 4; k++) b->faces[4 * s->n_faces + k] = corners[4 + k];
    s->n_faces += top;
}

/* Kuhn's six tetrahedra along the diagonal 0 6. */
static void add_tetrahedra(builder *b, const int at[3], int top)
{
    static const int paths[6][2] = {{1, 2}, {2, 3}, {3, 7}, {7, 4}, {4, 5}, {5, 1}};
    modal_tled_solid *s = b->solid;
    for (int k = 0; k < 6; k++) {
        int32_t *corners = b->tetrahedra + 4 * s->n_tetrahedra++;
        const int32_t ids[4] = {corner(b, at, 0), corner(b, at, paths[k][0]), corner(b, at, paths[k][1]),
                                corner(b, at, 6)};
        double g[3][3];
        for (int i = 0; i < 4; i++) corners[i] = ids[i];
        const double volume = modal_tled_tetrahedron_shape(b->nodes, corners, g);
        if (!(volume > 0)) abort();
        for (int i = 0; i < 4; i++) b->mass[corners[i]] += 1000 * volume / 4;
    }
    static const int above[2][3] = {{4, 5, 6}, {4, 6, 7}};
    for (int k = 0; top && k < 2; k++, s->n_faces++) {
        for (int i = 0; i < 3; i++) b->faces[4 * s->n_faces + i] = corner(b, at, above[k][i]);
        b->faces[4 * s->n_faces + 3] = -1;
    }
}

static void add_loads(builder *b)
{
    modal_tled_solid *s = b->solid;
    int32_t *loaded = harness_alloc(s->n_nodes, 4), *signals = harness_alloc(2 * s->n_nodes, 4);
    int64_t *offsets = harness_alloc(s->n_nodes + 1, 8), n = 0;
    double *vectors = harness_alloc(6 * s->n_nodes, 8), *values = harness_alloc(3 * s->n_nodes, 8);
    int32_t *held = harness_alloc(s->n_nodes, 4), *held_signals = harness_alloc(3 * s->n_nodes, 4);
    for (int32_t i = 0; i < s->n_nodes; i++) { /* the bottom is held, here and there other nodes, one component of them */
        const int bottom = i < (b->n[0] + 1) * (b->n[1] + 1);
        if (i % 5 == 1) {
            loaded[s->n_loaded] = i;
            offsets[s->n_loaded++] = n;
            for (int e = 0; e <= i % 2; e++, n++) {
                signals[n] = e;
                for (int c = 0; c < 3; c++) vectors[3 * n + c] = 1e-3 * harness_random(b->h);
            }
        }
        if (!bottom && i % 13 != 3) continue;
        held[s->n_held] = i;
        for (int c = 0; c < 3; c++) {
            values[3 * s->n_held + c] = 1e-3 * harness_random(b->h);
            held_signals[3 * s->n_held + c] = bottom ? i % 3 == 0 ? MODAL_TLED_STILL : c % TLED_SIGNALS
                                              : c == 1 ? 1
                                                       : MODAL_TLED_FREE;
        }
        s->n_held++;
    }
    offsets[s->n_loaded] = n;
    s->loaded = loaded, s->load_offsets = offsets, s->load_signals = signals, s->load_vectors = vectors;
    s->held = held, s->held_signals = held_signals, s->held_values = values;
    int32_t *face_signals = harness_alloc(s->n_faces, 4);
    double *pressures = harness_alloc(s->n_faces, 8);
    for (int64_t f = 0; f < s->n_faces; f++) face_signals[f] = f % 2, pressures[f] = 10 + 5 * harness_random(b->h);
    s->face_signals = face_signals, s->face_pressures = pressures;
}

/* A lid on the box, a ball and a rod at its sides: all at once here and there. */
static void add_contacts(builder *b)
{
    modal_tled_solid *s = b->solid;
    static const modal_tled_contact kinds[3] = {{MODAL_TLED_PLANE, 2, 0, {0, 0, -1}},
                                                {MODAL_TLED_SPHERE, 5, 7e-3, {0, 0, 0}},
                                                {MODAL_TLED_CAPSULE, 8, 4e-3, {0, 0, 0}}};
    modal_tled_contact *contacts = harness_alloc(3, sizeof *contacts);
    int32_t *touching = harness_alloc(s->n_nodes, 4);
    uint32_t *masks = harness_alloc(s->n_nodes, 4);
    for (int k = 0; k < 3; k++) contacts[k] = kinds[k];
    for (int32_t i = 0; i < s->n_nodes; i++)
        if (i % 7 != 2) touching[s->n_touching] = i, masks[s->n_touching++] = i % 4 == 1 ? 3 : 7;
    s->contacts = contacts, s->n_contacts = 3, s->touching = touching, s->touching_masks = masks;
}

void tled_solid_signals(harness *h, const modal_tled_solid *s, double *signals)
{
    double high[3] = {0, 0, 0}, low = 0;
    for (int64_t k = 0; k < 3 * s->n_nodes; k++) {
        high[k % 3] = fmax(high[k % 3], s->nodes[k]);
        if (k % 3 == 0) low = fmin(low, s->nodes[k]);
    }
    for (int k = 0; k < TLED_ALL_SIGNALS; k++) signals[k] = 1e-4 * harness_random(h);
    for (int k = 0; k < TLED_SIGNALS; k++) signals[k] *= 1e4;
    signals[4] += high[2] - 4e-4; /* all reach a little into it: who is put out goes on as fast */
    signals[5] += low - 6.6e-3, signals[6] += high[1] / 2, signals[7] += high[2] / 2;
    signals[8] += high[0] + 3.6e-3, signals[11] += high[0] + 3.6e-3, signals[12] += high[1];
    signals[10] += high[2] / 2, signals[13] += high[2] / 2;
}

modal_tled_solid *tled_solid_new(harness *h, int x, int y, int z, tled_elements elements, int n_materials, int loads)
{
    static const modal_tled_material materials[TLED_RICH] = {
        {.law = MODAL_TLED_NEO_HOOKEAN, .mu = 1000, .modulus = 9000, .hourglass = 700},
        {.law = MODAL_TLED_LOGARITHMIC, .mu = 1500, .modulus = 4000, .hourglass = 500},
        {.law = MODAL_TLED_STVK, .mu = 800, .modulus = 3000, .hourglass = 600},
        {.law = MODAL_TLED_NEO_HOOKEAN, .mu = 900, .modulus = 8000, .hourglass = 700, .averages = 1},
        {.law = MODAL_TLED_NEO_HOOKEAN, .mu = 1100, .modulus = 7000, .hourglass = 500, .fibre = 3000, .n_terms = 3,
         .n_isochoric = 2, .shares = {0.3, 0.2, 0.4}, .times = {2e-4, 1e-2, 3e-4}},
        {.law = MODAL_TLED_STVK, .mu = 1300, .modulus = 2000, .hourglass = 400, .n_terms = 1, .n_isochoric = 1,
         .shares = {0.5}, .times = {5e-4}},
        {.law = MODAL_TLED_LOGARITHMIC, .mu = 700, .modulus = 5000, .hourglass = 300, .fibre = 1000, .averages = 1,
         .n_terms = 1, .shares = {0.6}, .times = {1e-3}}};
    const int64_t n_cells = (int64_t)x * y * z;
    builder b = {h, harness_alloc(1, sizeof *b.solid), {x, y, z}, NULL, NULL, NULL, NULL, NULL};
    modal_tled_solid *s = b.solid;
    *s = (modal_tled_solid){.n_nodes = (int64_t)(x + 1) * (y + 1) * (z + 1), .n_materials = n_materials, .centre = x % 2 == 0,
                            .n_signals = loads ? TLED_ALL_SIGNALS : 0};
    b.nodes = harness_alloc(3 * s->n_nodes, 8);
    b.mass = harness_alloc(s->n_nodes, 8);
    b.tetrahedra = harness_alloc(24 * n_cells, 4);
    b.hexahedra = harness_alloc(8 * n_cells, 4);
    b.faces = harness_alloc(8 * (int64_t)x * y, 4);
    for (int64_t i = 0; i < s->n_nodes; i++) {
        const int64_t at[3] = {i % (x + 1), i / (x + 1) % (y + 1), i / (x + 1) / (y + 1)};
        b.mass[i] = 0;
        for (int c = 0; c < 3; c++) b.nodes[3 * i + c] = 0.01 * ((double)at[c] + 0.12 * harness_random(h));
    }
    for (int64_t k = 0; k < n_cells; k++) {
        const int at[3] = {(int)(k % x), (int)(k / x % y), (int)(k / x / y)}, top = loads && at[2] == z - 1;
        if (elements == TLED_HEXAHEDRA || (elements == TLED_BOTH && k % 2)) add_hexahedron(&b, at, top);
        else add_tetrahedra(&b, at, top);
    }
    int32_t *material = harness_alloc(s->n_tetrahedra + s->n_hexahedra, 4);
    modal_tled_material *own = harness_alloc(TLED_RICH, sizeof *own);
    for (int64_t e = 0; e < s->n_tetrahedra + s->n_hexahedra; e++) material[e] = (int32_t)(e / 5 % n_materials);
    for (int k = 0; k < TLED_RICH; k++) own[k] = materials[k];
    if (n_materials == TLED_RICH) {
        double *fibres = harness_alloc(3 * (s->n_tetrahedra + s->n_hexahedra), 8), *weights = harness_alloc(s->n_nodes, 8);
        for (int64_t e = 0; e < s->n_tetrahedra + s->n_hexahedra; e++) {
            double *a = fibres + 3 * e;
            for (int k = 0; k < 3; k++) a[k] = harness_random(h);
            a[0] += 2;
            const double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
            for (int k = 0; k < 3; k++) a[k] /= length;
        }
        for (int64_t i = 0; i < s->n_nodes; i++) weights[i] = b.mass[i] * (1 + 0.5 * harness_random(h));
        s->fibres = fibres, s->weights = weights;
    }
    s->nodes = b.nodes, s->mass = b.mass, s->tetrahedra = b.tetrahedra, s->hexahedra = b.hexahedra;
    s->material = material, s->materials = own, s->faces = b.faces;
    double *stiffness = harness_alloc(s->n_tetrahedra + s->n_hexahedra, 8);
    for (int64_t e = 0; e < s->n_tetrahedra + s->n_hexahedra; e++) stiffness[e] = 1e-6 * (1.5 + harness_random(h));
    s->stiffness = stiffness;
    if (loads) add_loads(&b);
    if (loads) add_contacts(&b);
    return s;
}

void tled_solid_make_macros(harness *h, modal_tled_solid *s, int cells)
{
    static const int cuts[6][6] = {{6}, {4, 2}, {1, 5}, {3, 3}, {1, 1, 1, 3}, {2, 2, 2}}; /* of a cell */
    int64_t *offsets = harness_alloc(s->n_tetrahedra + 1, 8);
    int32_t *of = harness_alloc(s->n_tetrahedra + 1, 4);
    offsets[0] = 0;
    for (int64_t cell = 0, e = 0; e < s->n_tetrahedra; cell++) {
        const int *cut = cuts[(int)(6 * (1 + harness_random(h)) / 2) % 6];
        const int pair = s->n_hexahedra == 0 && cell % cells < cells - 1 && harness_random(h) > 0.4; /* with its neighbour along x */
        for (int k = 0; k < (pair ? 1 : 6) && cut[k] > 0; k++) {
            const int n = pair ? 12 : cut[k];
            for (int i = 0; i < n; i++) of[e++] = (int32_t)s->n_macros;
            offsets[++s->n_macros] = e;
        }
        cell += pair;
    }
    for (int64_t m = 0; m < s->n_macros; m++)
        for (int64_t e = offsets[m]; e < offsets[m + 1]; e++) ((int32_t *)s->material)[e] = s->material[offsets[m]];
    for (int k = 0; k < TLED_RICH; k++) {
        modal_tled_material *own = (modal_tled_material *)s->materials + k;
        own->averages = 0, own->control = 0.3 * own->mu;
    }
    s->macro_offsets = offsets, s->macro_of = of;
}

void tled_solid_free(modal_tled_solid *s)
{
    free((void *)s->nodes), free((void *)s->mass), free((void *)s->tetrahedra), free((void *)s->hexahedra);
    free((void *)s->material), free((void *)s->materials), free((void *)s->loaded), free((void *)s->load_offsets);
    free((void *)s->load_signals), free((void *)s->load_vectors), free((void *)s->faces);
    free((void *)s->face_signals), free((void *)s->face_pressures), free((void *)s->held);
    free((void *)s->held_signals), free((void *)s->held_values), free((void *)s->fibres), free((void *)s->weights);
    free((void *)s->stiffness), free((void *)s->contacts), free((void *)s->touching), free((void *)s->touching_masks);
    free((void *)s->macro_offsets), free((void *)s->macro_of), free(s);
}
