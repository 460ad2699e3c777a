/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/file_samples.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/basis/basis_h5.h"
#include "lib/base/memory.h"

/* HDF5 1.10 itself leaks where it gives up on a damaged file. Ids that we leave open, which is how we
 * could leak through it, are counted by assert_no_ids. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libhdf5\n"; }

static void *room(int64_t n, size_t item)
{
    void *p = NULL;
    assert_int_equal(modal_alloc_zero(&p, n, item, "sample", NULL), MODAL_OK);
    return p;
}

static char *text(const char *t)
{
    char *copy = NULL;
    assert_int_equal(modal_copy_text(&copy, t, SIZE_MAX, NULL), MODAL_OK);
    return copy;
}

/* By brute force, and so independent of the library's own. */
static void add_tables(modal_shape *s)
{
    int64_t n = s->surface.n_vertices, m = s->surface.n_triangles, n_faces = 0;
    s->surface.face_offsets = room(n + 1, sizeof *s->surface.face_offsets);
    s->surface.faces = room(3 * m, sizeof *s->surface.faces);
    s->surface.boundary = room(n, 1);
    for (int32_t v = 0; v < n; v++) {
        for (int32_t t = 0; t < m; t++)
            for (int k = 0; k < 3; k++)
                if (s->surface.triangles[3 * t + k] == v) s->surface.faces[n_faces++] = t;
        for (int32_t w = 0; w < n; w++) {
            int shared = 0;
            for (int32_t t = 0; t < m; t++) {
                const int32_t *c = s->surface.triangles + 3 * t;
                int has_v = c[0] == v || c[1] == v || c[2] == v,
                    has_w = c[0] == w || c[1] == w || c[2] == w;
                shared += has_v && has_w;
            }
            if (w != v && shared == 1) s->surface.boundary[v] = 1;
        }
        s->surface.face_offsets[v + 1] = n_faces;
    }
}

static void add_modes(modal_shape *s, int32_t r, int32_t n_rigid)
{
    int64_t tiles = modal_tile_count(s->surface.n_vertices);
    s->modes.n_modes = r;
    s->modes.modal_matrix = room(tiles * r * 3 * MODAL_TILE, sizeof(float));
    for (int64_t v = 0; v < s->surface.n_vertices; v++)
        for (int64_t k = 0; k < r; k++)
            for (int64_t a = 0; a < 3; a++)
                s->modes.modal_matrix[((v / MODAL_TILE * r + k) * 3 + a) * MODAL_TILE + v % MODAL_TILE] =
                    (float)sin((double)(1 + v + 100 * k + 1000 * a));
    s->modes.eigenvalues = room(r, 8);
    s->modes.frequencies = room(r, 8);
    s->modes.modal_masses = room(r, 8);
    s->modes.residuals = room(r, 8);
    s->modes.orthogonality = room(r, 8);
    s->modes.sturm_count = room(3, 8);
    s->modes.sturm_count[0] = 1e4 * r * r;
    s->modes.sturm_count[1] = s->modes.sturm_count[2] = r + n_rigid;
    s->modes.participation = room(3 * r, 8);
    for (int32_t k = 0; k < r; k++) {
        s->modes.eigenvalues[k] = 100.0 * (k + 1) * (k + 1);
        s->modes.frequencies[k] = sqrt(s->modes.eigenvalues[k]) / (2.0 * acos(-1.0));
        s->modes.modal_masses[k] = 1.0;
        s->modes.residuals[k] = 1e-11 * k;
        s->modes.orthogonality[k] = 1e-15 * k;
        for (int a = 0; a < 3; a++) s->modes.participation[3 * k + a] = cos(k + 10.0 * a);
    }
    s->modes.n_rigid_modes = n_rigid;
    s->modes.rigid_eigenvalues = room(n_rigid, 8);
    for (int32_t k = 0; k < n_rigid; k++) s->modes.rigid_eigenvalues[k] = 1e-9 * (k - 2);
    s->modes.shift = -1.5;
    s->modes.total_mass = 2.25;
}

/* Forces of a made-up energy whose coefficient of the monomial number m is sin(1 + m + degree). */
static void add_reduced_forces(modal_shape *s)
{
    const int64_t r = s->modes.n_modes, n2 = modal_quadratic_count(r), n3 = modal_cubic_count(r);
    modal_reduced_forces *f = &s->modes.reduced_forces;
    f->linear = room(r * r, 8);
    f->quadratic = room(r * n2, 8);
    f->cubic = room(r * n3, 8);
    int64_t m = 0;
    for (int64_t a = 0; a < r; a++)
        for (int64_t b = a; b < r; b++, m++) {
            f->linear[a * r + b] += sin(1.0 + (double)m);
            f->linear[b * r + a] += sin(1.0 + (double)m);
        }
    m = 0;
    for (int64_t a = 0; a < r; a++)
        for (int64_t b = a; b < r; b++)
            for (int64_t c = b; c < r; c++, m++) {
                const double p = sin(2.0 + (double)m);
                f->quadratic[a * n2 + modal_quadratic_index(r, b, c)] += p;
                f->quadratic[b * n2 + modal_quadratic_index(r, a, c)] += p;
                f->quadratic[c * n2 + modal_quadratic_index(r, a, b)] += p;
            }
    m = 0;
    for (int64_t a = 0; a < r; a++)
        for (int64_t b = a; b < r; b++)
            for (int64_t c = b; c < r; c++)
                for (int64_t d = c; d < r; d++, m++) {
                    const double p = sin(3.0 + (double)m);
                    f->cubic[a * n3 + modal_cubic_index(r, b, c, d)] += p;
                    f->cubic[b * n3 + modal_cubic_index(r, a, c, d)] += p;
                    f->cubic[c * n3 + modal_cubic_index(r, a, b, d)] += p;
                    f->cubic[d * n3 + modal_cubic_index(r, a, b, c)] += p;
                }
}

/* The terms of third degree as the energy's of fourth degree that they are derivatives of. */
static void take_quartic(modal_shape *s)
{
    const int64_t count = modal_quartic_count(s->modes.n_modes);
    modal_reduced_forces *f = &s->modes.reduced_forces;
    modal_free(&f->cubic);
    f->quartic = room(count, 8);
    for (int64_t m = 0; m < count; m++) f->quartic[m] = sin(3.0 + (double)m);
}

static void add_order(modal_shape *s)
{
    s->surface.user_vertex = room(s->surface.n_vertices, 4);
    s->surface.user_triangle = room(s->surface.n_triangles, 4);
    for (int32_t i = 0; i < s->surface.n_vertices; i++)
        s->surface.user_vertex[i] = (int32_t)((2 * (int64_t)i + 1) % (s->surface.n_vertices | 1));
    for (int32_t i = 0; i < s->surface.n_triangles; i++)
        s->surface.user_triangle[i] = (int32_t)(s->surface.n_triangles - 1 - i);
}

static void add_solid(modal_shape *s, int64_t n_nodes, const double *nodes, int64_t n_elements)
{
    modal_volume_mesh *m = &s->solid.mesh;
    m->n_nodes = n_nodes;
    m->nodes = room(3 * n_nodes, 8);
    memcpy(m->nodes, nodes, (size_t)n_nodes * 3 * 8);
    m->node_tags = room(n_nodes, 8);
    for (int64_t i = 0; i < n_nodes; i++) m->node_tags[i] = 1000000000000 + 10 * i;
    assert_int_equal(modal_volume_mesh_new_elements(m, n_elements, MODAL_ELEMENT_TET4, NULL), MODAL_OK);
    m->element_tags = room(n_elements, 8);
    m->element_material = room(n_elements, 4);
    for (int64_t e = 0; e < n_elements; e++) {
        for (int k = 0; k < 4; k++) m->element_nodes[4 * e + k] = (int32_t)((e + k) % n_nodes);
        m->element_tags[e] = 7 + e;
        m->element_material[e] = (int32_t)(e % 2);
    }
    m->n_materials = 2;
    m->materials = room(2, sizeof *m->materials);
    m->materials[0] = (modal_material){text("rubber"), 1e6, 0.45, 1100.0, 0, {0}, {0}};
    m->materials[1] = (modal_material){text("st\xc3\xa4"
                                            "hl"),
                                       0, 0, 7850.0, MODAL_MATERIAL_ORTHOTROPIC,
                                       {11e9, 0.9e9, 0.6e9, 0.35, 0.4, 0.5, 0.8e9, 0.7e9, 0.05e9},
                                       {0, 1, 0, 0, 0, 1, 1, 0, 0}};
    m->n_groups = 2;
    m->groups = room(2, sizeof *m->groups);
    for (int g = 0; g < 2; g++) {
        modal_group *group = &m->groups[g];
        group->name = text(g ? "" : "everything");
        group->dimension = g ? 2 : 3;
        group->tag = g ? -1 : 5;
        group->n_nodes = g ? 2 : n_nodes;
        group->nodes = room(group->n_nodes, 4);
        for (int32_t i = 0; i < group->n_nodes; i++) group->nodes[i] = i;
        group->n_elements = g ? 0 : n_elements;
        group->elements = room(group->n_elements, 4);
        for (int32_t i = 0; i < group->n_elements; i++) group->elements[i] = i;
    }
}

static void grid_shape(modal_shape *s, int with_uv)
{
    enum { NX = 7, NY = 5, INNER = 5 };
    s->name = text("grid");
    s->surface.n_vertices = NX * NY;
    s->surface.rest_positions = room(3 * NX * NY, 8);
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++) {
            double *x = s->surface.rest_positions + 3 * (j * NX + i);
            x[0] = 0.1 * i, x[1] = 0.2 * j, x[2] = 0.01 * i * j;
        }
    s->surface.n_triangles = 2 * (NX - 1) * (NY - 1);
    s->surface.triangles = room(3 * s->surface.n_triangles, 4);
    int32_t *t = s->surface.triangles;
    for (int32_t j = 0; j + 1 < NY; j++)
        for (int32_t i = 0; i + 1 < NX; i++) {
            int32_t a = j * NX + i, b = a + 1, c = a + NX, d = c + 1;
            *t++ = a, *t++ = b, *t++ = d, *t++ = a, *t++ = d, *t++ = c;
        }
    add_order(s);
    add_tables(s);
    add_modes(s, 4, 0);
    add_reduced_forces(s);
    s->modes.kind = MODAL_KIND_DERIVATIVES;
    double nodes[3 * (INNER + NX * NY)] = {0}; /* the inner ones come first */
    for (int i = 0; i < INNER; i++) nodes[3 * i] = 0.05 * i;
    memcpy(nodes + 3 * INNER, s->surface.rest_positions, 3 * NX * NY * sizeof *nodes);
    add_solid(s, INNER + NX * NY, nodes, 9);
    s->embedding.nodes = room(s->surface.n_vertices, 4);
    for (int32_t v = 0; v < s->surface.n_vertices; v++) s->embedding.nodes[v] = INNER + v;
    s->solid.inner_modes = room(s->modes.n_modes * INNER * 3, 4);
    for (int64_t i = 0; i < s->modes.n_modes * INNER * 3; i++) s->solid.inner_modes[i] = (float)sin(0.1 * (double)i);
    s->solid.n_fixed_nodes = 3;
    s->solid.fixed_nodes = room(3, 4);
    s->solid.fixed_components = room(3, 1);
    for (int32_t i = 0; i < 3; i++) {
        s->solid.fixed_nodes[i] = 2 * i;
        s->solid.fixed_components[i] = (uint8_t)(7 - 3 * i);
    }
    s->embedding.kind = MODAL_SURFACE_BOUNDARY;
    s->modes.mass_rule = MODAL_MASS_CONSISTENT;
    if (!with_uv) return;
    s->surface.n_uv = 50;
    s->surface.uv = room(2 * s->surface.n_uv, 8);
    s->surface.triangle_uv = room(3 * s->surface.n_triangles, 4);
    for (int64_t i = 0; i < 2 * s->surface.n_uv; i++) s->surface.uv[i] = 0.01 * (double)i;
    for (int64_t i = 0; i < 3 * s->surface.n_triangles; i++) s->surface.triangle_uv[i] = (int32_t)(i % s->surface.n_uv);
}

static void octahedron_shape(modal_shape *s, int32_t n_modes, int single)
{
    static const int32_t triangles[] = {0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4,
                                        2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5};
    static const double nodes[] = {-3, -3, -3, 9, -3, -3, -3, 9, -3, -3, -3, 9};
    s->name = text("octahedron");
    s->surface.n_vertices = 6;
    s->surface.rest_positions = room(18, 8);
    for (int v = 0; v < 6; v++) s->surface.rest_positions[3 * v + v / 2] = v % 2 ? -1.0 : 1.0;
    s->surface.n_triangles = 8;
    s->surface.triangles = room(24, 4);
    memcpy(s->surface.triangles, triangles, sizeof triangles);
    s->surface.user_vertex = room(6, 4);
    s->surface.user_triangle = room(8, 4);
    for (int32_t i = 0; i < 6; i++) s->surface.user_vertex[i] = 5 - i;
    for (int32_t i = 0; i < 8; i++) s->surface.user_triangle[i] = i;
    add_tables(s);
    add_modes(s, n_modes, 6);
    add_solid(s, 4, nodes, 1);
    s->solid.volume_modes = room(n_modes * 12, 8);
    s->solid.volume_modes_float = room(n_modes * 12, 4);
    for (int64_t i = 0; i < n_modes * 12; i++) {
        s->solid.volume_modes[i] = sin(0.1 * (double)i);
        s->solid.volume_modes_float[i] = (float)s->solid.volume_modes[i];
    }
    if (single) modal_free(&s->solid.volume_modes);
    else modal_free(&s->solid.volume_modes_float);
    s->embedding.offsets = room(7, 8);
    s->embedding.nodes = room(24, 4);
    s->embedding.weights = room(24, 8);
    for (int32_t v = 0; v < 6; v++) {
        const double *x = s->surface.rest_positions + 3 * v;
        s->embedding.offsets[v + 1] = 4 * v + 4;
        for (int k = 0; k < 4; k++) s->embedding.nodes[4 * v + k] = k;
        for (int k = 0; k < 3; k++) s->embedding.weights[4 * v + 1 + k] = (x[k] + 3.0) / 12.0;
        s->embedding.weights[4 * v] = 1.0 - (x[0] + x[1] + x[2] + 9.0) / 12.0;
    }
    s->solid.fixed_nodes = room(0, 4);
    s->solid.fixed_components = room(0, 1);
    s->embedding.kind = MODAL_SURFACE_EMBEDDED;
    s->embedding.farthest_outside = 0.125;
    s->modes.mass_rule = MODAL_MASS_LUMPED;
}

static void turn(double frame[12], double angle, double x)
{
    double c = cos(angle), s = sin(angle);
    const double turned[12] = {c, -s, 0, x, s, c, 0, -x, 0, 0, 1, 0.5 * x};
    memcpy(frame, turned, sizeof turned);
}

static modal_basis some_basis(int32_t n_shapes, int with_uv, int32_t n_modes)
{
    modal_basis b = {.n_shapes = n_shapes, .n_objects = 3};
    b.shapes = room(n_shapes, sizeof *b.shapes);
    b.objects = room(3, sizeof *b.objects);
    grid_shape(&b.shapes[0], with_uv);
    octahedron_shape(&b.shapes[1], n_modes, with_uv);
    if (n_shapes > 2) octahedron_shape(&b.shapes[2], 3, 1);
    for (int32_t i = 0; i < 3; i++) {
        b.objects[i].shape = i % 2;
        b.objects[i].parent = i == 0 ? 2 : i == 1 ? 0 : -1;
        turn(b.objects[i].rest_pose, 0.7 * i, i);
    }
    assert_int_equal(modal_provenance_append(&b.provenance, &b.n_provenance, "modalpack", "0.1.0",
                                             "modalpack 'a b.msh'", "00ff  a b.msh", "", NULL),
                     MODAL_OK);
    assert_int_equal(modal_basis_hash(&b, NULL), MODAL_OK);
    return b;
}

modal_basis sample_basis(int with_uv) { return some_basis(2, with_uv, 3); }
modal_basis sample_energy_basis(void)
{
    modal_basis basis = sample_basis(1);
    take_quartic(&basis.shapes[0]);
    return basis;
}
modal_basis sample_large_basis(void) { return some_basis(3, 0, 40000); }

modal_trajectory sample_trajectory(const modal_basis *b, int with_poses)
{
    modal_trajectory t = {.n_frames = 7, .n_objects = b->n_objects};
    t.times = room(7, 8);
    t.mode_offsets = room(b->n_objects + 1, 8);
    int64_t total = modal_basis_mode_offsets(b, t.mode_offsets);
    t.q = room(7 * total, 8);
    for (int i = 0; i < 7; i++) t.times[i] = i / 25.0 - 0.04;
    for (int64_t i = 0; i < 7 * total; i++) t.q[i] = sin((double)i) * 1e-3;
    if (with_poses) {
        t.poses = room((int64_t)7 * b->n_objects * 12, 8);
        for (int i = 0; i < 7 * b->n_objects; i++) turn(t.poses + 12 * i, 0.1 * i, i);
    }
    if (with_poses) {
        t.quality = room(7, sizeof *t.quality);
        for (int i = 0; i < 7; i++) {
            t.quality[i] = modal_quality_none();
            t.quality[i].step_error = 1e-3 * i;
            t.quality[i].not_judged = 0;
            t.quality[i].least_jacobian = 0.95 - 0.02 * i;
            t.quality[i].least_jacobian_object = i % b->n_objects;
        }
    }
    t.basis_path = text("a folder/basis.h5");
    strcpy(t.basis_hash, b->hash);
    assert_int_equal(modal_provenance_append(&t.provenance, &t.n_provenance, "modalsim", "0.1.0",
                                             "modalsim", "", "cpu", NULL),
                     MODAL_OK);
    assert_int_equal(modal_provenance_append(&t.provenance, &t.n_provenance, "other", "2", "", "",
                                             "", NULL),
                     MODAL_OK);
    return t;
}

static void same(const void *a, const void *b, int64_t n, size_t item, int wanted, const char *name)
{
    if (!wanted || !a) {
        if (b) fail_msg("%s: there, but was not asked for", name);
        return;
    }
    if (!b) fail_msg("%s: missing", name);
    if (n > 0 && memcmp(a, b, (size_t)n * item) != 0) fail_msg("%s: differs", name);
}
#define SAME(member, count, part) \
    same(x->member, y->member, (count), sizeof *x->member, (parts & (part)) != 0, #member)

static void assert_volumes_equal(const modal_shape *x, const modal_shape *y, unsigned parts)
{
    int64_t n = x->solid.mesh.n_nodes, m = x->solid.mesh.n_elements;
    SAME(solid.mesh.nodes, 3 * n, MODAL_BASIS_VOLUME);
    SAME(solid.mesh.node_tags, n, MODAL_BASIS_VOLUME);
    SAME(solid.mesh.element_type, m, MODAL_BASIS_VOLUME);
    SAME(solid.mesh.element_offsets, m + 1, MODAL_BASIS_VOLUME);
    SAME(solid.mesh.element_nodes, n > 0 ? x->solid.mesh.element_offsets[m] : 0, MODAL_BASIS_VOLUME);
    SAME(solid.mesh.element_tags, m, MODAL_BASIS_VOLUME);
    SAME(solid.mesh.element_material, m, MODAL_BASIS_VOLUME);
    SAME(solid.fixed_nodes, x->solid.n_fixed_nodes, MODAL_BASIS_VOLUME);
    SAME(solid.fixed_components, x->solid.n_fixed_nodes, MODAL_BASIS_VOLUME);
    SAME(solid.volume_modes, x->modes.n_modes * n * 3, MODAL_BASIS_VOLUME_MODES);
    SAME(solid.volume_modes_float, x->modes.n_modes * n * 3, MODAL_BASIS_VOLUME_MODES);
    SAME(solid.inner_modes, x->modes.n_modes * (n - x->surface.n_vertices) * 3, MODAL_BASIS_VOLUME_MODES);
    SAME(embedding.offsets, x->surface.n_vertices + 1, MODAL_BASIS_VOLUME);
    const int64_t carried = n == 0 ? 0 : x->embedding.offsets ? x->embedding.offsets[x->surface.n_vertices] : x->surface.n_vertices;
    SAME(embedding.nodes, carried, MODAL_BASIS_VOLUME);
    SAME(embedding.weights, carried, MODAL_BASIS_VOLUME);
    if (n > 0) {
        assert_int_equal(x->embedding.kind, y->embedding.kind);
        assert_true(x->embedding.farthest_outside == y->embedding.farthest_outside);
    }
    if (!(parts & MODAL_BASIS_VOLUME)) return;
    assert_int_equal(x->solid.mesh.n_materials, y->solid.mesh.n_materials);
    for (int32_t i = 0; i < x->solid.mesh.n_materials; i++) {
        const modal_material *a = &x->solid.mesh.materials[i], *b = &y->solid.mesh.materials[i];
        assert_string_equal(a->name, b->name);
        assert_true(a->young == b->young && a->poisson == b->poisson && a->density == b->density);
        assert_int_equal(a->kind, b->kind);
        assert_memory_equal(a->orthotropic, b->orthotropic, sizeof a->orthotropic);
        assert_memory_equal(a->axes, b->axes, sizeof a->axes);
    }
    assert_int_equal(x->solid.mesh.n_groups, y->solid.mesh.n_groups);
    for (int32_t i = 0; i < x->solid.mesh.n_groups; i++) {
        const modal_group *a = &x->solid.mesh.groups[i], *b = &y->solid.mesh.groups[i];
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->dimension, b->dimension);
        assert_int_equal(a->tag, b->tag);
        assert_int_equal(a->n_nodes, b->n_nodes);
        assert_int_equal(a->n_elements, b->n_elements);
        same(a->nodes, b->nodes, a->n_nodes, 4, 1, "group nodes");
        same(a->elements, b->elements, a->n_elements, 4, 1, "group elements");
    }
}

static void assert_shapes_equal(const modal_shape *x, const modal_shape *y, unsigned parts)
{
    if (x->solid.inner_modes && (parts & MODAL_BASIS_VOLUME_MODES)) parts |= MODAL_BASIS_MATRIX | MODAL_BASIS_VOLUME;
    int64_t n = x->surface.n_vertices, m = x->surface.n_triangles, r = x->modes.n_modes;
    assert_string_equal(x->name, y->name);
    assert_int_equal(x->surface.n_vertices, y->surface.n_vertices);
    assert_int_equal(x->surface.n_triangles, y->surface.n_triangles);
    assert_int_equal(x->surface.n_uv, y->surface.n_uv);
    assert_int_equal(x->modes.n_modes, y->modes.n_modes);
    assert_int_equal(x->modes.n_rigid_modes, y->modes.n_rigid_modes);
    assert_int_equal(x->solid.mesh.n_nodes, y->solid.mesh.n_nodes);
    assert_int_equal(x->solid.mesh.n_elements, y->solid.mesh.n_elements);
    assert_int_equal(x->solid.n_fixed_nodes, y->solid.n_fixed_nodes);
    assert_true(x->modes.shift == y->modes.shift && x->modes.total_mass == y->modes.total_mass);
    assert_int_equal(x->modes.mass_rule, y->modes.mass_rule);
    assert_int_equal(x->modes.kind, y->modes.kind);
    SAME(surface.rest_positions, 3 * n, MODAL_BASIS_SURFACE);
    SAME(surface.triangles, 3 * m, MODAL_BASIS_SURFACE);
    SAME(surface.user_vertex, n, MODAL_BASIS_SURFACE);
    SAME(surface.user_triangle, m, MODAL_BASIS_SURFACE);
    SAME(surface.uv, 2 * x->surface.n_uv, MODAL_BASIS_SURFACE);
    SAME(surface.triangle_uv, 3 * m, MODAL_BASIS_SURFACE);
    SAME(surface.face_offsets, n + 1, MODAL_BASIS_SURFACE);
    SAME(surface.faces, x->surface.face_offsets[n], MODAL_BASIS_SURFACE);
    SAME(surface.boundary, n, MODAL_BASIS_SURFACE);
    SAME(modes.modal_matrix, modal_tile_count(n) * r * 3 * MODAL_TILE, MODAL_BASIS_MATRIX);
    SAME(modes.eigenvalues, r, MODAL_BASIS_MODES);
    SAME(modes.frequencies, r, MODAL_BASIS_MODES);
    SAME(modes.modal_masses, r, MODAL_BASIS_MODES);
    SAME(modes.residuals, r, MODAL_BASIS_MODES);
    SAME(modes.orthogonality, r, MODAL_BASIS_MODES);
    SAME(modes.sturm_count, 3, MODAL_BASIS_MODES);
    SAME(modes.participation, 3 * r, MODAL_BASIS_MODES);
    SAME(modes.rigid_eigenvalues, x->modes.n_rigid_modes, MODAL_BASIS_MODES);
    SAME(modes.reduced_forces.linear, r * r, MODAL_BASIS_REDUCED);
    SAME(modes.reduced_forces.quadratic, r * modal_quadratic_count(r), MODAL_BASIS_REDUCED);
    SAME(modes.reduced_forces.cubic, r * modal_cubic_count(r), MODAL_BASIS_REDUCED);
    SAME(modes.reduced_forces.quartic, modal_quartic_count(r), MODAL_BASIS_REDUCED);
    assert_volumes_equal(x, y, parts);
}

static void assert_provenance_equal(const modal_provenance *a, int32_t n, const modal_provenance *b,
                                    int32_t m)
{
    assert_int_equal(n, m);
    for (int32_t i = 0; i < n; i++) {
        assert_string_equal(a[i].tool, b[i].tool);
        assert_string_equal(a[i].version, b[i].version);
        assert_string_equal(a[i].arguments, b[i].arguments);
        assert_string_equal(a[i].inputs, b[i].inputs);
        assert_string_equal(a[i].back_end, b[i].back_end);
    }
}

void assert_bases_equal(const modal_basis *a, const modal_basis *b, unsigned parts)
{
    assert_int_equal(a->n_shapes, b->n_shapes);
    assert_int_equal(a->n_objects, b->n_objects);
    assert_string_equal(a->hash, b->hash);
    for (int32_t i = 0; i < a->n_shapes; i++)
        assert_shapes_equal(&a->shapes[i], &b->shapes[i], parts);
    for (int32_t i = 0; i < a->n_objects; i++) {
        assert_int_equal(a->objects[i].shape, b->objects[i].shape);
        assert_int_equal(a->objects[i].parent, b->objects[i].parent);
        assert_memory_equal(a->objects[i].rest_pose, b->objects[i].rest_pose,
                            12 * sizeof(double));
    }
    assert_provenance_equal(a->provenance, a->n_provenance, b->provenance, b->n_provenance);
}

void assert_trajectories_equal(const modal_trajectory *x, const modal_trajectory *y)
{
    unsigned parts = 1;
    assert_int_equal(x->n_frames, y->n_frames);
    assert_int_equal(x->n_objects, y->n_objects);
    SAME(times, x->n_frames, 1);
    SAME(mode_offsets, x->n_objects + 1, 1);
    SAME(q, x->n_frames * x->mode_offsets[x->n_objects], 1);
    SAME(poses, x->n_frames * x->n_objects * 12, 1);
    SAME(quality, x->n_frames, 1);
    assert_string_equal(x->basis_path, y->basis_path);
    assert_string_equal(x->basis_hash, y->basis_hash);
    assert_provenance_equal(x->provenance, x->n_provenance, y->provenance, y->n_provenance);
}

/* ---- files ---- */

static char folder[64];

static void remove_folder(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) fprintf(stderr, "%s is left\n", folder);
}

const char *sample_path(const char *name)
{
    static char path[4][160];
    static unsigned turn_of = 0;
    if (!folder[0]) {
        strcpy(folder, "/tmp/modal-test-XXXXXX");
        assert_non_null(mkdtemp(folder));
        atexit(remove_folder);
    }
    char *p = path[turn_of++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

const char *sample_basis_file(const char *name, int with_uv)
{
    const char *path = sample_path(name);
    modal_error err = {0};
    modal_basis b = sample_basis(with_uv);
    if (modal_basis_write(path, &b, &err) != MODAL_OK) fail_msg("%s", err.message);
    modal_basis_free(&b);
    assert_no_ids();
    return path;
}

unsigned char *sample_bytes(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *length = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*length + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *length, file), *length);
    fclose(file);
    return bytes;
}

void sample_put(const char *path, const void *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

void assert_no_ids(void) { assert_int_equal(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL), 0); }

int findings_have(const modal_findings *findings, const char *wanted)
{
    for (int64_t i = 0; i < findings->n; i++)
        if (strstr(findings->texts[i], wanted)) return 1;
    return 0;
}

int sample_all(void) { return getenv("MODAL_ALL_DAMAGE") != NULL; }

int64_t sample_next(int64_t n, int64_t last)
{
    const int64_t next = n + 1 + (sample_all() ? 0 : n / 32);
    return n < last && next > last ? last : next;
}
