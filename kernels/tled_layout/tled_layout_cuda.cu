// SPDX-License-Identifier: Apache-2.0
// Patches of a solid in a GPU's memory.
#include <math.h>
#include <string.h>

#include <vector>

#include "kernels/cuda_check.cuh"
#include "kernels/device.h"
#include "kernels/cuda_machine.h"
#include "kernels/tled_layout/tled_fans.h"
#include "kernels/tled_layout/tled_near.h"
#include "kernels/tled_layout/tled_remotes.h"
#include "kernels/tled_layout/tled_tables.cuh"
#include "lib/base/memory.h"

namespace modal_tled {
namespace {

// Sizes that were fastest on an H200 (kernels/VERSIONS.md).
const modal_tled_patch_plan plan_float32 = {1200, 256, 512, MODAL_TLED_FAN, 1};
const modal_tled_patch_plan plan_early = {1400, 256, 512, MODAL_TLED_FAN, 1};
const modal_tled_patch_plan plan_float64 = {640, 128, 384, MODAL_TLED_FAN, 0};
enum { CLUSTER_ELEMENTS = 900, RESIDENT_ELEMENTS = 1150, LEAST_ELEMENTS = 64 }; // of a patch
// Patches of a device that wait for their neighbours alone: of more of them the next launch begins late anyway. And neighbours of one, at most.
enum { FLOW_PATCHES = 4000, MOST_NEAR = 128 };
#ifdef MODAL_EMULATED // solids of the test go both ways
enum { FLOW_PATCHES_OF_PIECE = 4 };
#else
enum { FLOW_PATCHES_OF_PIECE = FLOW_PATCHES };
#endif

template <class R> void free_layout(modal_tled_layout *layout);

template <class R> void free_pieces(Layout<R> *l)
{
    modal_error ignored = {};
    for (int k = 0; l->pieces && k < l->pieces->n; k++) {
        Piece<R> *piece = &l->pieces->all[k];
        if (!piece->layout) continue;
        if (modal_device_select(&piece->layout->device, &ignored) == MODAL_OK) {
            modal_device_event_delete(&piece->layout->device, &piece->done);
            if (piece->owns_stream) modal_device_stream_delete(&piece->layout->device, &piece->stream);
        }
        free_layout<R>(&piece->layout->head);
    }
    if (l->pieces && modal_device_select(&l->device, &ignored) == MODAL_OK) modal_device_event_delete(&l->device, &l->pieces->begun);
    modal_free(&l->pieces);
}

template <class R> void free_layout(modal_tled_layout *layout)
{
    Layout<R> *l = reinterpret_cast<Layout<R> *>(layout);
    modal_error ignored = {};
    free_pieces(l);
    if (modal_device_select(&l->device, &ignored) == MODAL_OK)
        for (int i = 0; i < l->n_owned; i++) modal_device_free(&l->device, &l->owned[i]);
    modal_free(&l);
}

template <class R, class T>
modal_status take(Layout<R> *l, T **pointer, int64_t count, const char *what, modal_error *err)
{
    const modal_status status = modal_device_alloc(&l->device, pointer, count, sizeof(T), what, err);
    if (status != MODAL_OK) return status;
    l->owned[l->n_owned++] = (void *)*pointer;
    l->head.bytes += count * (int64_t)sizeof(T);
    return MODAL_OK;
}

template <class R, class T>
modal_status put(Layout<R> *l, const T **to, const T *from, int64_t count, const char *what, modal_stream *stream,
                 modal_error *err)
{
    T *memory = nullptr;
    modal_status status = take(l, &memory, count, what, err);
    if (status != MODAL_OK) return status;
    *to = memory;
    status = modal_device_copy_in(&l->device, memory, from, count * (int64_t)sizeof(T), stream, err);
    // `from` may go when the caller returns
    return status == MODAL_OK ? modal_device_stream_wait(&l->device, stream, err) : status;
}

template <class T> struct Array { // of main memory
    T *at = nullptr;
    ~Array() { modal_free(&at); }
    modal_status make(int64_t n, modal_error *err) { return modal_alloc_zero(&at, n, sizeof(T), "a solid's tables", err); }
};

int held_still(const modal_tled_solid *s, int64_t row)
{
    for (int c = 0; c < 3; c++)
        if (s->held_signals[3 * row + c] != MODAL_TLED_STILL) return 0;
    return 1;
}

// What is special about nodes, by node of the solid: -1 where nothing is.
modal_status find_special(const modal_tled_solid *s, int32_t *special_of, int32_t *n, modal_error *err)
{
    modal_status status = MODAL_OK;
    *n = 0;
    for (int64_t i = 0; i < s->n_nodes; i++) special_of[i] = -1;
    for (int64_t k = 0; k < s->n_loaded; k++) special_of[s->loaded[k]] = 0;
    for (int64_t f = 0; f < 4 * s->n_faces; f++)
        if (s->faces[f] >= 0) special_of[s->faces[f]] = 0;
    for (int64_t k = 0; k < s->n_held; k++)
        if (!held_still(s, k)) special_of[s->held[k]] = 0;
    for (int64_t k = 0; k < s->n_touching; k++) special_of[s->touching[k]] = 0;
    for (int64_t i = 0; i < s->n_nodes; i++)
        if (special_of[i] == 0) special_of[i] = (*n)++;
    if (s->n_loaded > 0 && s->load_offsets[s->n_loaded] > INT32_MAX)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%lld loads are too many for one device",
                   (long long)s->load_offsets[s->n_loaded]);
done:
    return status;
}

void fill_special(const modal_tled_solid *s, const int32_t *special_of, int32_t n, Special *specials, int2 *face_corners)
{
    for (int32_t i = 0; i < n; i++) specials[i].held = specials[i].touching = -1;
    for (int64_t k = 0; k < s->n_touching; k++) {
        Special *p = &specials[special_of[s->touching[k]]];
        p->touching = (int32_t)k;
        p->mask = s->touching_masks[k];
        for (int c = 0; c < 3; c++) p->rest[c] = s->nodes[3 * (int64_t)s->touching[k] + c];
    }
    for (int64_t k = 0; k < s->n_held; k++)
        if (special_of[s->held[k]] >= 0) specials[special_of[s->held[k]]].held = (int32_t)k;
    for (int64_t k = 0; k < s->n_loaded; k++) {
        Special *p = &specials[special_of[s->loaded[k]]];
        p->first_load = (int32_t)s->load_offsets[k];
        p->end_load = (int32_t)s->load_offsets[k + 1];
    }
    for (int64_t c = 0; c < 4 * s->n_faces; c++)
        if (s->faces[c] >= 0) specials[special_of[s->faces[c]]].end_face++;
    int32_t next = 0;
    for (int32_t i = 0; i < n; i++) {
        specials[i].first_face = next;
        next += specials[i].end_face;
        specials[i].end_face = specials[i].first_face;
    }
    for (int64_t c = 0; c < 4 * s->n_faces; c++)
        if (s->faces[c] >= 0)
            face_corners[specials[special_of[s->faces[c]]].end_face++] = make_int2((int)(c / 4), (int)(c % 4));
}

template <class R>
modal_status put_special(Layout<R> *l, const int32_t *special_of, int32_t n, modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = l->head.solid;
    Tables<R> *t = &l->tables;
    const modal_tled_patches *p = &l->patches;
    Array<Special> specials;
    Array<int2> face_corners;
    Array<int4> faces;
    Array<int32_t> of, own, nodes;
    MODAL_TRY(specials.make(n, err));
    MODAL_TRY(face_corners.make(4 * s->n_faces, err));
    MODAL_TRY(faces.make(s->n_faces, err));
    MODAL_TRY(of.make(s->n_nodes, err));
    MODAL_TRY(own.make(s->n_nodes, err));
    fill_special(s, special_of, n, specials.at, face_corners.at);
    for (int64_t i = 0; i < s->n_nodes; i++) {
        own.at[p->nodes[i]] = (int32_t)i;
        of.at[i] = special_of[p->nodes[i]];
    }
    for (int64_t f = 0; f < s->n_faces; f++) {
        const int32_t *c = s->faces + 4 * f;
        faces.at[f] = make_int4(own.at[c[0]], own.at[c[1]], own.at[c[2]], c[3] < 0 ? -1 : own.at[c[3]]);
    }
    MODAL_TRY(put(l, &t->specials, specials.at, n, "special nodes", stream, err));
    MODAL_TRY(nodes.make(n, err));
    for (int64_t i = 0; i < s->n_nodes; i++)
        if (of.at[i] >= 0) nodes.at[of.at[i]] = (int32_t)i;
    MODAL_TRY(put(l, &t->special_nodes, nodes.at, n, "special nodes", stream, err));
    t->n_specials = n;
    MODAL_TRY(put(l, &t->specials_of, of.at, n > 0 ? s->n_nodes : 0, "special nodes", stream, err));
    MODAL_TRY(put(l, &t->face_corners, face_corners.at, 4 * s->n_faces, "faces", stream, err));
    MODAL_TRY(put(l, &t->faces, faces.at, s->n_faces, "faces", stream, err));
    {
        const int64_t entries = s->n_loaded > 0 ? s->load_offsets[s->n_loaded] : 0;
        MODAL_TRY(put(l, &t->load_signals, s->load_signals, entries, "loads", stream, err));
        MODAL_TRY(put(l, &t->load_vectors, s->load_vectors, 3 * entries, "loads", stream, err));
    }
    MODAL_TRY(put(l, &t->face_signals, s->face_signals, s->n_faces, "pressures", stream, err));
    MODAL_TRY(put(l, &t->face_pressures, s->face_pressures, s->n_faces, "pressures", stream, err));
    MODAL_TRY(put(l, &t->held_signals, s->held_signals, 3 * s->n_held, "prescribed components", stream, err));
    MODAL_TRY(put(l, &t->held_values, s->held_values, 3 * s->n_held, "prescribed components", stream, err));
    MODAL_TRY(put(l, &t->contacts, s->contacts, s->n_contacts, "bodies", stream, err));
    MODAL_TRY(take(l, &l->touches, 3 * s->n_contacts * s->n_touching, "bodies", err));
done:
    return status;
}

template <class R>
modal_status put_nodes(Layout<R> *l, const int32_t *special_of, modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = l->head.solid;
    const modal_tled_patches *p = &l->patches;
    Tables<R> *t = &l->tables;
    Array<Vector4<R>> rest;
    Array<double> mass;
    Array<int32_t> sums, rows, own;
    Array<unsigned char> still;
    Array<R> falls;
    MODAL_TRY(rows.make(s->n_nodes, err));
    MODAL_TRY(own.make(s->n_nodes, err));
    MODAL_TRY(rest.make(s->n_nodes, err));
    MODAL_TRY(mass.make(s->n_nodes, err));
    MODAL_TRY(sums.make(s->n_nodes + 1, err));
    MODAL_TRY(still.make(s->n_nodes, err));
    for (int64_t i = 0; i < s->n_nodes; i++) rows.at[i] = -1, own.at[p->nodes[i]] = (int32_t)i;
    for (int64_t k = 0; k < s->n_held; k++) {
        still.at[s->held[k]] = (unsigned char)held_still(s, k);
        rows.at[own.at[s->held[k]]] = (int32_t)k;
    }
    for (int64_t i = 0; i < s->n_nodes; i++) {
        const int64_t node = p->nodes[i];
        const double *x = s->nodes + 3 * node, inverse = 1 / s->mass[node];
        rest.at[i] = {(R)x[0], (R)x[1], (R)x[2], (R)(special_of[node] >= 0 ? -inverse : still.at[node] ? 0 : inverse)};
        mass.at[i] = s->mass[node];
    }
    for (int64_t k = 0; k < p->n_places; k++) sums.at[p->places[k].node + 1]++;
    for (int64_t i = 0; i < s->n_nodes; i++) sums.at[i + 1] += sums.at[i];
    MODAL_TRY(put(l, &t->rest, rest.at, s->n_nodes, "rest positions", stream, err));
    if (s->weights) {
        MODAL_TRY(falls.make(s->n_nodes, err));
        for (int64_t i = 0; i < s->n_nodes; i++) falls.at[i] = (R)(s->weights[p->nodes[i]] / s->mass[p->nodes[i]]);
        MODAL_TRY(put(l, &t->falls, falls.at, s->n_nodes, "weights", stream, err));
    }
    MODAL_TRY(put(l, &t->mass, mass.at, s->n_nodes, "masses", stream, err));
    MODAL_TRY(put(l, &t->sums, sums.at, s->n_nodes + 1, "partial sums", stream, err));
    MODAL_TRY(put(l, &t->held_rows, rows.at, s->n_nodes, "prescribed nodes", stream, err));
    MODAL_TRY(put(l, &t->nodes, p->nodes, s->n_nodes, "order of nodes", stream, err));
done:
    return status;
}

// Whose fibres an element has: its own, or those of the first one of its macro-element.
int64_t law_element(const modal_tled_solid *s, int64_t e) { return s->macro_offsets && e < s->n_tetrahedra ? s->macro_offsets[s->macro_of[e]] : e; }

// What rich materials need beside their laws.
template <class R> modal_status put_rich(Layout<R> *l, modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = l->head.solid;
    const modal_tled_patches *p = &l->patches;
    Tables<R> *t = &l->tables;
    Array<Rich<R>> rich;
    Array<double> terms, factors, volumes;
    Array<R> fibres, own;
    Decay<R> *decays;
    R *changes;
    MODAL_TRY(rich.make(s->n_materials, err));
    MODAL_TRY(terms.make(2 * MODAL_TLED_TERMS * (int64_t)s->n_materials, err));
    for (int32_t m = 0; m < s->n_materials; m++) {
        const modal_tled_material *from = &s->materials[m];
        rich.at[m] = {(R)from->fibre, from->averages, from->n_terms, from->n_isochoric};
        for (int k = 0; k < from->n_terms; k++) {
            terms.at[2 * (m * MODAL_TLED_TERMS + k)] = from->shares[k];
            terms.at[2 * (m * MODAL_TLED_TERMS + k) + 1] = from->times[k];
        }
    }
    MODAL_TRY(put(l, &t->rich, rich.at, s->n_materials, "materials", stream, err));
    MODAL_TRY(put(l, &t->terms, terms.at, 2 * MODAL_TLED_TERMS * (int64_t)s->n_materials, "materials", stream, err));
    MODAL_TRY(take(l, &decays, MODAL_TLED_TERMS * (int64_t)s->n_materials, "materials", err));
    t->decays = decays;
    l->head.viscous_bytes = 6 * modal_tled_most_terms(s) * p->n_elements * (int64_t)sizeof(R);
    if (s->fibres) {
        MODAL_TRY(fibres.make(3 * p->n_elements, err));
        for (int64_t k = 0; k < p->n_elements; k++)
            for (int c = 0; p->elements[k] >= 0 && c < 3; c++) fibres.at[c * p->n_elements + k] = (R)s->fibres[3 * law_element(s, p->elements[k]) + c];
        MODAL_TRY(put(l, &t->fibres, fibres.at, 3 * p->n_elements, "fibres", stream, err));
    }
    if (!modal_tled_averages(s)) goto done;
    MODAL_TRY(factors.make(s->n_nodes, err));
    MODAL_TRY(volumes.make(s->n_nodes, err));
    MODAL_TRY(own.make(s->n_nodes, err));
    modal_tled_pressure_factors(s, factors.at, volumes.at);
    for (int64_t i = 0; i < s->n_nodes; i++) own.at[i] = (R)factors.at[p->nodes[i]];
    MODAL_TRY(put(l, &t->pressure_factors, own.at, s->n_nodes, "nodal pressures", stream, err));
    MODAL_TRY(take(l, &changes, p->n_places, "nodal pressures", err));
    t->changes = changes;
done:
    return status;
}

template <class R> modal_status put_elements(Layout<R> *l, modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = l->head.solid;
    const modal_tled_patches *p = &l->patches;
    Tables<R> *t = &l->tables;
    Array<Material<R>> materials;
    Array<int32_t> lane_materials;
    Array<R> stiffness;
    MODAL_TRY(materials.make(s->n_materials, err));
    for (int32_t m = 0; m < s->n_materials; m++) {
        const modal_tled_material *from = &s->materials[m];
        materials.at[m] = {(R)from->mu, (R)from->modulus, (R)from->control, from->law};
    }
    if (s->n_materials == 1)
        t->of_tetrahedra = {materials.at[0].mu * (R)(1.0 / 6), materials.at[0].modulus * (R)(1.0 / 6), materials.at[0].control * (R)(1.0 / 6),
                            materials.at[0].law};
    MODAL_TRY(put(l, &t->materials, materials.at, s->n_materials, "materials", stream, err));
    MODAL_TRY(put(l, &t->elements, p->elements, p->n_elements, "elements", stream, err));
    if (s->n_materials > 1) {
        MODAL_TRY(lane_materials.make(p->n_elements, err));
        for (int64_t k = 0; k < p->n_elements; k++)
            lane_materials.at[k] = p->elements[k] < 0 ? 0 : s->material[p->elements[k]];
        MODAL_TRY(put(l, &t->lane_materials, lane_materials.at, p->n_elements, "materials of elements", stream, err));
    }
    if (p->rings) MODAL_TRY(put(l, &t->rings, p->rings, p->n_elements, "mean patches", stream, err));
    for (int32_t k = 0; k < p->n_patches; k++)
        if (p->patches[k].shares) t->most_means = p->most_lanes;
    t->third = s->centre ? 0 : (R)(1.0 / 3);
    if (s->n_hexahedra > 0) {
        MODAL_TRY(stiffness.make(p->n_elements, err));
        for (int64_t k = 0; k < p->n_elements; k++) {
            const int64_t e = p->elements[k];
            modal_tled_hexahedron shape;
            if (e < s->n_tetrahedra) continue;
            modal_tled_hexahedron_shape(s->nodes, s->hexahedra + 8 * (e - s->n_tetrahedra), s->centre, &shape);
            stiffness.at[k] = (R)(s->materials[s->material[e]].hourglass * shape.sum);
        }
        MODAL_TRY(put(l, &t->stiffness, stiffness.at, p->n_elements, "hourglass control", stream, err));
    }
done:
    return status;
}

// Gradients of an element that has a measure, or of its macro-element; how many.
int measured_gradients(const modal_tled_solid *s, int64_t e, double g[MODAL_TLED_MACRO_CORNERS][3])
{
    if (e >= s->n_tetrahedra) {
        modal_tled_hexahedron shape;
        modal_tled_hexahedron_shape(s->nodes, s->hexahedra + 8 * (e - s->n_tetrahedra), s->centre, &shape);
        memcpy(g, shape.gradients, sizeof shape.gradients);
        return 8;
    }
    if (s->macro_offsets) {
        modal_tled_macro shape;
        modal_tled_macro_shape(s, s->macro_of[e], &shape);
        memcpy(g, shape.gradients, sizeof shape.gradients);
        return shape.n_corners;
    }
    for (int i = 0; i < 3; i++) g[0][i] = 0;
    modal_tled_tetrahedron_shape(s->nodes, s->tetrahedra + 4 * e, g + 1);
    for (int k = 3; k < 12; k++) g[0][k % 3] -= g[k / 3][k % 3];
    return 4;
}

// Three vectors with the sum of g g^T of n of them: the columns of Cholesky's factor.
void root_of(const double (*g)[3], int n, double root[9])
{
    double s[3][3] = {}, r[3][3] = {};
    for (int a = 0; a < n; a++)
        for (int k = 0; k < 9; k++) s[k / 3][k % 3] += g[a][k / 3] * g[a][k % 3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) {
            double sum = s[i][j];
            for (int k = 0; k < j; k++) sum -= r[i][k] * r[j][k];
            r[i][j] = i == j ? sqrt(sum > 0 ? sum : 0) : r[j][j] > 0 ? sum / r[j][j] : 0;
        }
    for (int k = 0; k < 9; k++) root[k] = r[k % 3][k / 3];
}

template <class R> modal_status put_macro_stiffness(Layout<R> *l, modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = l->head.solid;
    Stiff *t = &l->stiff;
    Array<double> roots;
    MODAL_TRY(roots.make(9 * s->n_macros, err));
    for (int64_t m = 0; m < s->n_macros; m++) {
        modal_tled_macro shape;
        modal_tled_macro_shape(s, m, &shape);
        root_of(shape.gradients, shape.n_corners, roots.at + 9 * m);
    }
    MODAL_TRY(put(l, &t->macro_of, s->macro_of, s->n_tetrahedra, "stiffness", stream, err));
    MODAL_TRY(put(l, &t->macro_offsets, s->macro_offsets, s->n_macros + 1, "stiffness", stream, err));
    MODAL_TRY(put(l, &t->macro_roots, roots.at, 9 * s->n_macros, "stiffness", stream, err));
done:
    return status;
}

// What `stiffest` needs, where it is asked for.
template <class R> modal_status put_stiff(Layout<R> *l, modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = l->head.solid;
    Stiff *t = &l->stiff;
    const int64_t n_elements = s->n_tetrahedra + s->n_hexahedra;
    Array<int32_t> corners;
    Array<double> sums;
    double largest = 0;
    if (!s->stiffness) return MODAL_OK;
    MODAL_TRY(corners.make(4 * s->n_tetrahedra + 8 * s->n_hexahedra, err));
    MODAL_TRY(sums.make(s->n_nodes, err));
    for (int64_t k = 0; k < 4 * s->n_tetrahedra; k++) corners.at[k] = s->tetrahedra[k];
    for (int64_t k = 0; k < 8 * s->n_hexahedra; k++) corners.at[4 * s->n_tetrahedra + k] = s->hexahedra[k];
    for (int64_t e = 0; e < n_elements; e++) { // at rest
        const int n = e < s->n_tetrahedra ? 4 : 8;
        const int32_t *own = corners.at + (n == 4 ? 4 * e : 4 * s->n_tetrahedra + 8 * (e - s->n_tetrahedra));
        const double none[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
        double g[MODAL_TLED_MACRO_CORNERS][3];
        const int n_gradients = measured_gradients(s, e, g);
        const double value =
            s->stiffness[e] * modal_tled_measure(&s->materials[s->material[e]], none, s->fibres ? s->fibres + 3 * law_element(s, e) : nullptr, n_gradients, g);
        for (int a = 0; a < n; a++) sums.at[own[a]] += value, largest = sums.at[own[a]] > largest ? sums.at[own[a]] : largest;
    }
    t->third = s->centre ? 0 : 1.0 / 3;
    t->scale = largest > 0 ? 0x1p36 / largest : 1; // 2^7 times as stiff still fits
    t->n_nodes = s->n_nodes, t->n_tetrahedra = s->n_tetrahedra, t->n_hexahedra = s->n_hexahedra;
    MODAL_TRY(put(l, &t->corners, corners.at, 4 * s->n_tetrahedra + 8 * s->n_hexahedra, "stiffness", stream, err));
    MODAL_TRY(put(l, &t->material, s->material, n_elements, "stiffness", stream, err));
    MODAL_TRY(put(l, &t->materials, s->materials, s->n_materials, "stiffness", stream, err));
    MODAL_TRY(put(l, &t->rest, s->nodes, 3 * s->n_nodes, "stiffness", stream, err));
    MODAL_TRY(put(l, &t->mass, s->mass, s->n_nodes, "stiffness", stream, err));
    MODAL_TRY(put(l, &t->stiffness, s->stiffness, n_elements, "stiffness", stream, err));
    if (s->fibres) MODAL_TRY(put(l, &t->fibres, s->fibres, 3 * n_elements, "stiffness", stream, err));
    if (s->macro_offsets) MODAL_TRY(put_macro_stiffness(l, stream, err));
    MODAL_TRY(take(l, &t->sums, s->n_nodes, "stiffness", err));
    MODAL_TRY(modal_device_fill(&l->device, t->sums, 0, 8 * s->n_nodes, stream, err));
done:
    return status;
}

// Whether each patch has one material.
bool one_material_each(const modal_tled_patches *patches)
{
    for (int32_t k = 0; k < patches->n_patches; k++)
        if (patches->patches[k].material < 0) return false;
    return true;
}

// Which laws kernels have to know.
int law_of_all(const modal_tled_solid *s)
{
    int law = MODAL_TLED_NEO_HOOKEAN;
    bool rich = false, fibres = false, averages = false, no_term = true, one_term = true; // of any; of all
    for (int32_t k = 0; k < s->n_materials; k++) {
        const modal_tled_material *m = &s->materials[k];
        law = k == 0 || law == m->law ? m->law : (int)LAW_ANY;
        rich |= modal_tled_is_rich(m), fibres |= m->fibre > 0, averages |= m->averages != 0;
        no_term &= m->n_terms == 0, one_term &= m->n_terms == 1;
    }
    if (s->macro_offsets && s->n_tetrahedra > 0) return rich || law != MODAL_TLED_NEO_HOOKEAN ? LAW_RICH_MACROS : LAW_MACROS;
    if (!rich) return law;
    if (law != MODAL_TLED_NEO_HOOKEAN) return LAW_RICH_ANY;
    if (fibres && no_term && !averages) return LAW_FIBRES;
    if (!fibres && one_term && !averages) return LAW_PRONY;
    return LAW_RICH_NEO_HOOKEAN;
}

// Patches for steps of one launch, where the solid is small enough: then *way says which. n_special: nodes.
modal_status make_resident(const modal_tled_solid *s, int law, int32_t n_special, Way *way, bool *plain,
                           modal_tled_patches *patches, modal_tled_remotes *remotes, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_cuda_machine machine;
    const int64_t n = s->n_tetrahedra;
    *way = EACH_STEP;
    if (n == 0 || s->n_hexahedra > 0 || s->n_faces > 0 || modal_tled_averages(s) || s->macro_offsets)
        goto done; // pressures need neighbours' displacements, means a barrier more
    MODAL_TRY(modal_cuda_machine_of(&machine, err));
    for (int k = machine.overlaps ? 0 : 2; k < 4 && *way == EACH_STEP; k++) {
        const int cluster = k < 2, layers = k % 2 == 0; // patches cut between layers differ in size, and may be too large
        const int blocks = cluster ? (int)CLUSTER : machine.n_multiprocessors;
        const int64_t size = (n + blocks - 1) / blocks;
        const modal_tled_patch_plan plan = {size > LEAST_ELEMENTS ? (int32_t)size : (int32_t)LEAST_ELEMENTS, 1,
                                            RESIDENT_THREADS, RESIDENT_FAN, layers};
        if (size > (cluster ? CLUSTER_ELEMENTS : RESIDENT_ELEMENTS)) continue;
        MODAL_TRY(modal_tled_patches_make(patches, s, &plan, err));
        if (patches->n_patches <= blocks && patches->most_lanes <= RESIDENT_THREADS)
            MODAL_TRY(modal_tled_remotes_make(remotes, patches, err));
        if (remotes->first && (!cluster || remotes->most_sums - 1 <= MOST_TARGETS)) {
            Tables<float> t = {};
            t.most_places = patches->most_places;
            t.most_slots = patches->most_slots;
            t.most_bases = patches->most_bases;
            t.most_remotes = remotes->most;
            int fits = 0;
            *plain = n_special == 0 && one_material_each(patches);
            MODAL_TRY(resident_fits(cluster ? IN_CLUSTER : RESIDENT, law, *plain, t, patches->n_patches, &machine, &fits, err));
            if (fits) *way = cluster ? IN_CLUSTER : RESIDENT;
        }
        if (*way == EACH_STEP) {
            modal_tled_patches_free(patches);
            modal_tled_remotes_free(remotes);
        }
    }
done:
    return status;
}

template <class R>
modal_status put_remotes(Layout<R> *l, const modal_tled_remotes *r, modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    Tables<R> *t = &l->tables;
    MODAL_TRY(put(l, &t->remote_first, r->first, l->patches.n_patches + 1, "borders of patches", stream, err));
    MODAL_TRY(put(l, &t->remote_sums, r->sums, r->n, "borders of patches", stream, err));
    MODAL_TRY(put(l, &t->remote_targets, r->targets, r->n, "borders of patches", stream, err));
    MODAL_TRY(put(l, &t->remote_of, r->of, l->patches.n_places, "borders of patches", stream, err));
    t->most_remotes = r->most;
    for (int i = 0; i < 2; i++) // no sum has a tag that is waited for
        MODAL_TRY(modal_device_fill(&l->device, l->partial[i], 0, l->patches.n_places * (int64_t)sizeof(Vector4<R>), stream,
                                    err));
done:
    return status;
}

// Whom n patches wait for, and the marks of n_marks patches: 0, nobody has given any.
template <class R>
modal_status put_marks(Layout<R> *l, const int32_t *lists, int32_t most_near, int64_t n, int64_t n_marks, modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    Tables<R> *t = &l->tables;
    t->most_near = most_near;
    MODAL_TRY(put(l, &t->near, lists, most_near * n, "neighbours of patches", stream, err));
    MODAL_TRY(take(l, &t->marks, n_marks, "neighbours of patches", err));
    MODAL_TRY(modal_device_fill(&l->device, t->marks, 0, (int64_t)sizeof *t->marks * n_marks, stream, err));
done:
    return status;
}

// Where launches of steps overlap and each needs nothing but the patches' own work: whom a patch of tetrahedra waits for. Hexahedra gain nothing.
template <class R> modal_status put_near(Layout<R> *l, modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_patches *p = &l->patches;
    const Tables<R> *t = &l->tables;
    modal_cuda_machine machine;
    modal_tled_near near = {};
    MODAL_TRY(modal_cuda_machine_of(&machine, err));
    if (!machine.overlaps || l->elements != TETRAHEDRA || t->n_specials > 0 || t->pressure_factors || p->n_patches > FLOW_PATCHES) goto done;
    MODAL_TRY(modal_tled_near_make(&near, p, err));
    if (near.most <= MOST_NEAR) MODAL_TRY(put_marks(l, near.lists, near.most, p->n_patches, p->n_patches, stream, err));
done:
    modal_tled_near_free(&near);
    return status;
}

template <class R> modal_status put_patches(Layout<R> *l, modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_patches *p = &l->patches;
    Tables<R> *t = &l->tables;
    const int64_t most = p->most_places;
    Array<modal_tled_place> places;
    MODAL_TRY(put(l, &t->patches, p->patches, p->n_patches, "patches", stream, err));
    MODAL_TRY(places.make(most * p->n_patches, err));
    for (int64_t k = 0; k < p->n_patches; k++)
        memcpy(places.at + most * k, p->places + p->patches[k].first_place, (size_t)p->patches[k].n_places * sizeof *places.at);
    MODAL_TRY(put(l, &t->places, places.at, most * p->n_patches, "nodes of patches", stream, err));
    MODAL_TRY(put(l, &t->corners, p->corners, p->n_corners, "corners of patches", stream, err));
    MODAL_TRY(put(l, &t->bases, p->bases, p->n_bases, "slots of patches", stream, err));
    for (int i = 0; i < 2; i++) {
        MODAL_TRY(take(l, &l->state[i], 2 * p->n_nodes, "states", err));
        MODAL_TRY(take(l, &l->partial[i], p->n_places, "partial sums", err));
    }
    MODAL_TRY(take(l, &l->forces, p->n_nodes, "forces", err));
    MODAL_TRY(take(l, &l->stop, 1, "a flag", err));
    MODAL_TRY(modal_device_fill(&l->device, l->stop, 0, sizeof *l->stop, stream, err));
    MODAL_TRY(take(l, &l->works, WORKS * ((p->n_nodes + REDUCE - 1) / REDUCE), "works", err));
    t->n_nodes = (int32_t)p->n_nodes;
    t->n_patches = p->n_patches;
    t->n_signals = l->head.solid->n_signals;
    t->n_held = (int32_t)l->head.solid->n_held;
    t->n_elements = p->n_elements;
    t->n_materials = l->head.solid->n_materials;
    t->n_contacts = l->head.solid->n_contacts;
    t->n_touching = l->head.solid->n_touching;
    t->most_places = p->most_places;
    t->most_slots = p->most_slots;
    t->most_bases = p->most_bases;
    t->most_corners = p->most_corners;
done:
    return status;
}

template <class R>
modal_status put_all(Layout<R> *l, const int32_t *special_of, int32_t n_special, modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(put_patches(l, stream, err));
    MODAL_TRY(put_nodes(l, special_of, stream, err));
    MODAL_TRY(put_elements(l, stream, err));
    if (l->law >= (int)LAW_RICH_NEO_HOOKEAN) MODAL_TRY(put_rich(l, stream, err));
    MODAL_TRY(put_special(l, special_of, n_special, stream, err));
done:
    return status;
}

#include "kernels/tled_layout/tled_pieces.cuh"

template <class R>
modal_status make(const modal_tled_layout_task *task, const modal_tled_patch_plan *plan, modal_stream *stream,
                  modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = task->solid;
    Layout<R> *l = nullptr;
    Array<int32_t> special_of;
    int32_t n_special = 0;
    modal_tled_remotes remotes = {};
    *task->layout = nullptr;
    MODAL_TRY(modal_alloc_zero(&l, 1, sizeof *l, "a solid on a GPU", err));
    l->device = *task->device;
    l->tag = 1; // what nobody has written yet is 0
    l->law = law_of_all(s);
    l->head = {s, task->precision, sizeof(R) == 4, 0, 0, free_layout<R>};
    l->elements = s->n_hexahedra == 0 ? TETRAHEDRA : s->n_tetrahedra == 0 ? HEXAHEDRA : BOTH;
    MODAL_TRY(special_of.make(s->n_nodes, err));
    MODAL_TRY(find_special(s, special_of.at, &n_special, err));
    if (sizeof(R) == 4)
        MODAL_TRY(make_resident(s, l->law, n_special, &l->way, &l->plain, &l->patches, &remotes, err));
    if (sizeof(R) == 4 && asks_early(l->law) && l->elements == TETRAHEDRA) plan = &plan_early;
    if (l->way == EACH_STEP) MODAL_TRY(modal_tled_patches_make(&l->patches, s, plan, err));
    MODAL_TRY(put_all(l, special_of.at, n_special, stream, err));
    if (l->way != EACH_STEP) MODAL_TRY(put_remotes(l, &remotes, stream, err));
    else if (task->n_devices <= 1) MODAL_TRY(put_near(l, stream, err));
    MODAL_TRY(put_stiff(l, stream, err));
    if (task->n_devices > 1 && l->way == EACH_STEP) MODAL_TRY(new_pieces(l, task, special_of.at, n_special, err));
    *task->layout = &l->head;
done:
    modal_tled_remotes_free(&remotes);
    if (l) modal_tled_patches_free(&l->patches);
    if (l && status != MODAL_OK) free_layout<R>(&l->head);
    return status;
}

} // namespace
} // namespace modal_tled

extern "C" modal_status modal_tled_layout_cuda(const modal_tled_layout_task *task, modal_stream *stream,
                                               modal_error *err)
{
    using namespace modal_tled;
    if (task->precision == MODAL_TLED_FLOAT64) return make<double>(task, &plan_float64, stream, err);
    return make<float>(task, &plan_float32, stream, err);
}
