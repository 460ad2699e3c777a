/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/basis/basis_h5.h"
#include "formats/basis/basis_tiles.h"
#include "lib/base/memory.h"
#include "tests/unit/file_samples.h"

#define OK(call)                                                            \
    do {                                                                    \
        modal_error failure = {0};                                          \
        modal_error *err = &failure;                                        \
        if ((call) != MODAL_OK) fail_msg("%s: %s", #call, failure.message); \
    } while (0)

static const char *write_sample(const char *name, int with_uv)
{
    const char *path = sample_path(name);
    modal_basis b = sample_basis(with_uv);
    OK(modal_basis_write(path, &b, err));
    modal_basis_free(&b);
    assert_no_ids();
    return path;
}

static void test_round_trip(void **state)
{
    (void)state;
    for (int with_uv = 0; with_uv < 2; with_uv++) {
        modal_basis a = sample_basis(with_uv), b;
        const char *path = sample_path("a.h5");
        if (with_uv) strcpy(a.recipe_hash, "00112233445566778899aabbccddeeff");
        OK(modal_basis_write(path, &a, err));
        OK(modal_basis_read(path, MODAL_BASIS_ALL, &b, err));
        assert_bases_equal(&a, &b, MODAL_BASIS_ALL);
        assert_string_equal(a.recipe_hash, b.recipe_hash);
        modal_findings findings = {0};
        OK(modal_basis_check(path, &findings, err));
        if (findings.n) fail_msg("%s", findings.texts[0]);
        modal_findings_free(&findings);
        modal_basis_free(&a);
        modal_basis_free(&b);
        assert_no_ids();
    }
}

static void test_parts(void **state)
{
    (void)state;
    const char *path = write_sample("parts.h5", 1);
    modal_basis a = sample_basis(1), b;
    for (unsigned parts = 0; parts <= MODAL_BASIS_ALL; parts++) {
        OK(modal_basis_read(path, parts, &b, err));
        assert_bases_equal(&a, &b, parts);
        modal_basis_free(&b);
    }
    modal_basis_free(&a);
}

static void test_without_solid_and_large_text(void **state)
{
    (void)state;
    const char *path = sample_path("plain.h5");
    modal_basis a = sample_basis(0), b;
    for (int i = 0; i < 2; i++) {
        modal_shape *s = &a.shapes[i];
        modal_volume_mesh_free(&s->volume);
        modal_free(&s->fixed_nodes);
        modal_free(&s->fixed_components);
        modal_free(&s->volume_modes);
        modal_free(&s->volume_modes_float);
        modal_free(&s->inner_modes);
        modal_free(&s->embedding_offsets);
        modal_free(&s->embedding_nodes);
        modal_free(&s->embedding_weights);
        s->n_fixed_nodes = 0;
    }
    OK(modal_basis_hash(&a, err));
    /* more than an HDF5 object header takes */
    enum { LONG = 300000 };
    char *text = malloc(LONG + 1);
    memset(text, 'x', LONG);
    text[LONG] = '\0';
    OK(modal_provenance_append(&a.provenance, &a.n_provenance, "t", "1", text, text, "", err));
    OK(modal_basis_write(path, &a, err));
    OK(modal_basis_read(path, MODAL_BASIS_ALL, &b, err));
    assert_bases_equal(&a, &b, MODAL_BASIS_ALL);
    free(text);
    modal_basis_free(&a);
    modal_basis_free(&b);
}

static void test_same_bytes_twice(void **state)
{
    (void)state;
    size_t n[2];
    unsigned char *bytes[2];
    for (int i = 0; i < 2; i++) {
        bytes[i] = sample_bytes(write_sample(i ? "twice.h5" : "once.h5", 1), &n[i]);
        if (i == 0) sleep(1); /* a time stamp would show */
    }
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(bytes[0], bytes[1], n[0]);
    free(bytes[0]);
    free(bytes[1]);
}

static void test_writer_refuses(void **state)
{
    (void)state;
    const char *path = sample_path("never.h5");
    for (int i = 0; i < 5; i++) {
        modal_basis b = sample_basis(0);
        modal_error err = {0};
        if (i == 0) b.shapes[1].rest_positions[4] = NAN;
        if (i == 1) modal_free(&b.shapes[0].ring);
        if (i == 2) b.objects[1].shape = 2;
        if (i == 3) modal_free(&b.shapes[0].name);
        if (i == 4) b.shapes[0].triangles[0] = b.shapes[0].triangles[1];
        assert_int_equal(modal_basis_write(path, &b, &err), MODAL_ERROR_INPUT);
        assert_non_null(
            strstr(err.message, i == 2 ? "never.h5: /objects/shape" : "never.h5: /shapes/000"));
        modal_basis_free(&b);
    }
    modal_basis b = sample_basis(0);
    modal_error err = {0};
    assert_int_equal(modal_basis_write("/no/such/folder/b.h5", &b, &err), MODAL_ERROR_SYSTEM);
    modal_basis_free(&b);
    assert_no_ids();
}

/* A shape whose arrays go to the disk in pieces, between two small ones. */
static void test_large(void **state)
{
    (void)state;
    const char *path = sample_path("large.h5");
    modal_basis a = sample_large_basis(), b;
    modal_findings findings = {0};
    OK(modal_basis_write(path, &a, err));
    OK(modal_basis_read(path, MODAL_BASIS_ALL, &b, err));
    assert_bases_equal(&a, &b, MODAL_BASIS_ALL);
    assert_string_equal(a.hash, b.hash);
    OK(modal_basis_check(path, &findings, err));
    if (findings.n) fail_msg("%s", findings.texts[0]);
    modal_findings_free(&findings);
    modal_basis_free(&b);
    for (int i = 2; i >= 0; i--) { /* the first one that is broken is told of, wherever it is found */
        modal_error err = {0};
        char where[64];
        a.shapes[i].participation[3 * a.shapes[i].n_modes - 1] = NAN;
        snprintf(where, sizeof where, "large.h5: /shapes/%04d/modes/participation: ", i);
        assert_int_equal(modal_basis_write(path, &a, &err), MODAL_ERROR_INPUT);
        if (!strstr(err.message, where)) fail_msg("%s, not %s", err.message, where);
    }
    modal_basis_free(&a);
    assert_no_ids();
}

/* Every rule of basis.md, broken one at a time. */
#define S0 "/shapes/0000"
#define S1 "/shapes/0001"
static const damage_case damages[] = {
    {DELETE_ATTRIBUTE, "@content_hash", 0, 0, NULL, "/@content_hash: missing", 0},
    {SET_TEXT, "@content_hash", 0, 0, "0123456789abcdef0123456789abcdef",
     "/@content_hash: the content has", 1},
    {SET_TEXT, "@content_hash", 0, 0, "0123", "/@content_hash: must be 32", 0},
    {SET_TEXT, "@content_hash", 0, 0, "0123456789ABCDEF0123456789ABCDEF",
     "/@content_hash: must be 32", 0},
    {SET_TEXT, "@recipe_hash", 0, 0, "0123", "/@recipe_hash: must be 32", 0},
    {SET_INTEGER, "@recipe_hash", 0, 1, NULL, "/@recipe_hash: must be text", 0},
    {DELETE_LINK, "/shapes", 0, 0, NULL, "/shapes: missing", 0},
    {SET_INTEGER, "/shapes@count", 0, 4, NULL, "/shapes@count: must be 0 to 3, is 4", 0},
    {SET_INTEGER, "/shapes@count", 0, 3, NULL, "/shapes/0002: missing", 0},
    {SET_INTEGER, "/shapes@count", 0, 0, NULL, "/shapes: no shapes", 0},
    {SET_INTEGER, "/shapes@count", 0, -1, NULL, "/shapes@count: must be", 0},
    {SET_NUMBER, "/shapes@count", 0, 2, NULL,
     "/shapes@count: type must be little-endian 8-byte integer", 0},
    {DELETE_ATTRIBUTE, "/shapes@count", 0, 0, NULL, "/shapes@count: missing", 0},
    {DELETE_LINK, S1, 0, 0, NULL, "/shapes", 0},
    {SOFT_LINK, S1, 0, 0, NULL, S1 ": a soft or external link", 0},
    {EXTERNAL_LINK, S1 "/tables", 0, 0, NULL, S1 "/tables: a soft or external link", 0},
    {DELETE_ATTRIBUTE, S0 "@name", 0, 0, NULL, S0 "@name: missing", 0},
    {SET_INTEGER, S0 "@name", 0, 1, NULL, S0 "@name: must be text", 0},
    {DELETE_LINK, S0 "/surface/rest_positions", 0, 0, NULL, S0 "/surface/rest_positions: missing",
     0},
    {MAKE_GROUP, S0 "/surface/rest_positions", 0, 0, NULL,
     S0 "/surface/rest_positions: not a dataset", 0},
    {SET_VALUE, S0 "/surface/rest_positions", 7, NAN, NULL,
     S0 "/surface/rest_positions: row 2, column 1: not finite", 0},
    {SET_VALUE, S1 "/surface/rest_positions", 17, INFINITY, NULL,
     S1 "/surface/rest_positions: row 5, column 2: not finite, inf", 0},
    {RETYPE, S0 "/surface/rest_positions", 0, 0, NULL,
     "rest_positions: type must be little-endian 8-byte float, is little-endian 4-byte float", 0},
    {SHORTEN, S0 "/surface/rest_positions", 0, 0, NULL,
     "/surface/user_vertex: shape must be [34], is [35]", 0},
    {FLATTEN, S0 "/surface/rest_positions", 0, 0, NULL,
     "rest_positions: shape must be [any, 3], is [105]", 0},
    {SOFT_LINK, S0 "/surface/rest_positions", 0, 0, NULL, "rest_positions: a soft or external link",
     0},
    {EXTERNAL_LINK, S0 "/surface/rest_positions", 0, 0, NULL,
     "rest_positions: a soft or external link", 0},
    {VIRTUAL, S0 "/surface/rest_positions", 0, 0, NULL, "rest_positions: a virtual dataset", 0},
    {ELSEWHERE, S0 "/surface/rest_positions", 0, 0, NULL, "rest_positions: stored in another file",
     0},
    {NEVER_WRITTEN, S0 "/surface/rest_positions", 0, 0, NULL,
     "rest_positions: 840 bytes claimed, 0 stored", 0},
    {HUGE_CHUNKED, S0 "/surface/rest_positions", 0, 0, NULL,
     "rest_positions: 26388279066624 bytes claimed", 0},
    {HUGE_CHUNKED, S0 "/modes/modal_matrix", 0, 0, NULL,
     "modal_matrix: shape must be [2, any, 3, 32], is [1099511627776, 4, 3, 32]", 0},
    {SET_VALUE, S0 "/surface/triangles", 5, 35, NULL,
     "/surface/triangles: row 1: outside [0, 35), 35", 0},
    {SET_VALUE, S0 "/surface/triangles", 5, -1, NULL,
     "/surface/triangles: row 1: outside [0, 35), -1", 0},
    {SET_VALUE, S0 "/surface/triangles", 0, 1, NULL,
     "/surface/triangles: row 0: the same vertex twice", 0},
    {RETYPE, S0 "/surface/triangles", 0, 0, NULL,
     "triangles: type must be little-endian 4-byte integer, is little-endian 2-byte integer", 0},
    {SET_VALUE, S0 "/surface/user_vertex", 4, 1, NULL,
     "/surface/user_vertex: value 4: not a permutation, again 1", 0},
    {SET_VALUE, S0 "/surface/user_vertex", 4, 35, NULL,
     "/surface/user_vertex: value 4: not a permutation, outside", 0},
    {SHORTEN, S0 "/surface/user_vertex", 0, 0, NULL, "user_vertex: shape must be [35], is [34]", 0},
    {SET_VALUE, S0 "/surface/user_triangle", 3, -1, NULL,
     "/surface/user_triangle: value 3: not a permutation", 0},
    {DELETE_LINK, S0 "/surface/uv", 0, 0, NULL, "/surface: uv and triangle_uv must both", 0},
    {DELETE_LINK, S0 "/surface/triangle_uv", 0, 0, NULL, "/surface: uv and triangle_uv must both",
     0},
    {SET_VALUE, S0 "/surface/uv", 3, NAN, NULL, "/surface/uv: row 1, column 1: not finite", 0},
    {SET_VALUE, S0 "/surface/triangle_uv", 9, 50, NULL,
     "/surface/triangle_uv: row 3: outside [0, 50), 50", 0},
    {SET_VALUE, S0 "/tables/face_offsets", 0, 1, NULL, "/tables/face_offsets: value 0: must be 0",
     0},
    {SET_VALUE, S0 "/tables/face_offsets", 3, 1e15, NULL,
     "/tables/face_offsets: value 4: decreases", 0},
    {SET_VALUE, S0 "/tables/face_offsets", 35, 1e15, NULL, "/tables/face_offsets: last value", 0},
    {SHORTEN, S0 "/tables/face_offsets", 0, 0, NULL, "face_offsets: shape must be [36], is [35]",
     0},
    {SET_VALUE, S0 "/tables/faces", 2, 48, NULL, "/tables/faces: row 2: outside [0, 48)", 0},
    {SET_VALUE, S0 "/tables/faces", 1, 0, NULL, "/tables/faces: value 1: not ascending", 0},
    {SET_VALUE, S0 "/tables/faces", 1, 40, NULL,
     "/tables/faces: row 0: not the triangles at this vertex", 1},
    {SHORTEN, S0 "/tables/faces", 0, 0, NULL, "/tables/face_offsets: last value", 0},
    {SET_VALUE, S1 "/tables/ring_offsets", 2, 0, NULL, "/tables/ring_offsets: value 2: decreases",
     0},
    {SET_VALUE, S1 "/tables/ring", 0, 6, NULL, S1 "/tables/ring: row 0: outside [0, 6)", 0},
    {SET_VALUE, S1 "/tables/ring", 1, 0, NULL, S1 "/tables/ring: value 1: not ascending", 0},
    {SET_VALUE, S1 "/tables/ring", 0, 0, NULL, S1 "/tables/ring: row 0: not the vertices", 1},
    {SET_VALUE, S1 "/tables/boundary", 2, 1, NULL,
     S1 "/tables/boundary: value 2: not what the triangles say", 1},
    {SET_VALUE, S0 "/tables/boundary", 0, 2, NULL, S0 "/tables/boundary: value 0: must be 0 or 1",
     0},
    {SET_VALUE, S0 "/modes/modal_matrix", 31, NAN, NULL,
     "/modes/modal_matrix: tile 0, value 31: not finite", 0},
    {SET_VALUE, S0 "/modes/modal_matrix", 4 * 96 + 2 * 96 + 3, 1, NULL,
     "/modes/modal_matrix: mode 2, lane 3 of the last tile", 0},
    {SHORTEN, S0 "/modes/modal_matrix", 0, 0, NULL,
     "modal_matrix: shape must be [2, any, 3, 32], is [1, 4, 3, 32]", 0},
    {SET_VALUE, S0 "/modes/eigenvalues", 1, 50, NULL, "/modes/eigenvalues: value 1: not ascending",
     0},
    {SET_VALUE, S0 "/modes/eigenvalues", 0, -1, NULL,
     "/modes/eigenvalues: value 0: must be finite and >= 0", 0},
    {SET_VALUE, S0 "/modes/eigenvalues", 3, NAN, NULL,
     "/modes/eigenvalues: value 3: must be finite", 0},
    {SET_VALUE, S0 "/modes/frequencies", 2, 3, NULL, "/modes/frequencies: value 2: must be 4.77",
     0},
    {SET_VALUE, S0 "/modes/frequencies", 2, NAN, NULL, "/modes/frequencies: value 2: not finite",
     0},
    {SHORTEN, S0 "/modes/frequencies", 0, 0, NULL, "frequencies: shape must be [4], is [3]", 0},
    {SET_VALUE, S0 "/modes/modal_masses", 1, 0, NULL,
     "/modes/modal_masses: value 1: must be finite and > 0", 0},
    {SET_VALUE, S0 "/modes/residuals", 1, -1, NULL,
     "/modes/residuals: value 1: must be finite and >= 0", 0},
    {SET_VALUE, S0 "/modes/orthogonality", 1, -1e-15, NULL, "/modes/orthogonality: ", 0},
    {SET_VALUE, S0 "/modes/sturm_count", 1, 99, NULL, "/modes/sturm_count: 99 eigenvalues counted, ", 0},
    {SET_VALUE, S0 "/modes/participation", 4, NAN, NULL,
     "/modes/participation: mode 1, axis 1: not finite", 0},
    {SET_VALUE, S1 "/modes/rigid_eigenvalues", 4, NAN, NULL,
     "/modes/rigid_eigenvalues: value 4: not finite", 0},
    {SET_NUMBER, S0 "/modes@shift", 0, NAN, NULL, "/modes@shift: value 0: not finite", 0},
    {SET_NUMBER, S0 "/modes@total_mass", 0, 0, NULL,
     "/modes@total_mass: value 0: must be finite and > 0", 0},
    {SET_TEXT, S0 "/modes@mass_rule", 0, 0, "wrong",
     "/modes@mass_rule: must be consistent or lumped, is \"wrong\"", 0},
    {DELETE_ATTRIBUTE, S0 "/modes@mass_rule", 0, 0, NULL, "/modes@mass_rule: missing", 0},
    {SET_TEXT, S0 "/modes@kind", 0, 0, "wrong",
     "/modes@kind: must be modes, derivatives, snapshots or imported, is \"wrong\"", 0},
    {SET_TEXT, S1 "/modes@kind", 0, 0, "imported", S1 "/modes@mass_coupling: missing", 0},
    {SHORTEN, S0 "/reduced_forces/linear", 0, 0, NULL, "linear: shape must be [4, 4], is [3, 4]", 0},
    {FLATTEN, S0 "/reduced_forces/quadratic", 0, 0, NULL, "quadratic: ", 0},
    {SHORTEN, S0 "/reduced_forces/cubic", 0, 0, NULL, "cubic: shape must be [4, 20], is [3, 20]", 0},
    {RETYPE, S0 "/reduced_forces/cubic", 0, 0, NULL, "cubic: type must be", 0},
    {DELETE_LINK, S0 "/reduced_forces/cubic", 0, 0, NULL,
     "/reduced_forces: linear, quadratic and cubic must all be there", 0},
    {SET_VALUE, S0 "/reduced_forces/quadratic", 11, NAN, NULL,
     "/reduced_forces/quadratic: row 1, column 1: not finite", 0},
    {SET_VALUE, S0 "/reduced_forces/linear", 4, 7, NULL,
     "/reduced_forces/linear: row 1, column 0: not the gradient of an energy", 1},
    {SET_VALUE, S0 "/reduced_forces/quadratic", 11, 7, NULL,
     "/reduced_forces/quadratic: row 1, column 1: not the gradient of an energy", 1},
    {SET_VALUE, S0 "/reduced_forces/cubic", 20 + 4, 7, NULL,
     "/reduced_forces/cubic: row 1, column 4: not the gradient of an energy", 1},
    {SET_VALUE, S0 "/volume/nodes", 0, NAN, NULL, "/volume/nodes: row 0, column 0: not finite", 0},
    {SHORTEN, S0 "/volume/node_tags", 0, 0, NULL, "node_tags: shape must be [40], is [39]", 0},
    {SET_VALUE, S1 "/volume/element_nodes", 3, 4, NULL,
     "/volume/element_nodes: row 3: outside [0, 4)", 0},
    {SET_VALUE, S0 "/volume/element_types", 2, 6, NULL,
     "/volume/element_types: value 2: must be 0 to 5, is 6", 0},
    {SET_VALUE, S0 "/volume/element_types", 2, 1, NULL,
     "/volume/element_nodes: must be 42, as the types say, are 36", 0},
    {SHORTEN, S0 "/volume/element_nodes", 0, 0, NULL, "/volume/element_nodes: must be 36, as the types say, are 35", 0},
    {SHORTEN, S0 "/volume/fixed_components", 0, 0, NULL, "fixed_components: shape must be [3]", 0},
    {SET_VALUE, S0 "/volume/fixed_components", 1, 8, NULL,
     "/volume/fixed_components: value 1: must be 1 to 7, is 8", 0},
    {SET_VALUE, S0 "/volume/fixed_components", 0, 0, NULL,
     "/volume/fixed_components: value 0: must be 1 to 7, is 0", 0},
    {SHORTEN, S0 "/volume/element_tags", 0, 0, NULL, "element_tags: shape must be [9]", 0},
    {SET_VALUE, S0 "/volume/element_material", 8, 2, NULL,
     "/volume/element_material: row 8: outside [0, 2)", 0},
    {SET_VALUE, S0 "/volume/element_material", 8, -1, NULL,
     "/volume/element_material: row 8: outside [0, 2)", 0},
    {SET_VALUE, S0 "/volume/fixed_nodes", 1, 0, NULL, "/volume/fixed_nodes: value 1: not ascending",
     0},
    {SET_VALUE, S0 "/volume/fixed_nodes", 2, 40, NULL, "/volume/fixed_nodes: row 2: outside", 0},
    {SET_VALUE, S0 "/volume/inner_modes", 15, NAN, NULL, "/volume/inner_modes: mode 1, value 0: not finite", 0},
    {SHORTEN, S0 "/volume/inner_modes", 0, 0, NULL, "inner_modes: shape must be [4, 5, 3], is [3, 5, 3]", 0},
    {SET_VALUE, S1 "/volume/volume_modes", 12, NAN, NULL, "/volume/volume_modes: mode 1, value 0: not finite", 0},
    {SHORTEN, S1 "/volume/volume_modes", 0, 0, NULL, "volume_modes: shape must be [3, 4, 3]", 0},
    {SET_VALUE, S1 "/volume/embedding_nodes", 8, 4, NULL, "/volume/embedding_nodes: row 8: outside [0, 4)", 0},
    {SET_VALUE, S1 "/volume/embedding_weights", 8, 0.9, NULL,
     "/volume/embedding_weights: row 2: must add up to 1", 0},
    {SET_VALUE, S1 "/volume/embedding_weights", 8, NAN, NULL,
     "/volume/embedding_weights: row 2: must add up to 1", 0},
    {DELETE_LINK, S1 "/volume/embedding_weights", 0, 0, NULL, "/volume/embedding_weights: missing", 0},
    {DELETE_LINK, S1 "/volume/embedding_offsets", 0, 0, NULL, "/volume/embedding_offsets: missing", 0},
    {SET_VALUE, S1 "/volume/embedding_offsets", 2, 4, NULL, "/volume/embedding_offsets: row 1: no nodes", 0},
    {SET_VALUE, S1 "/volume/embedding_offsets", 6, 99, NULL, "/volume/embedding_offsets: last value", 0},
    {SET_VALUE, S0 "/volume/embedding_nodes", 3, 5, NULL, "/volume/embedding_nodes: row 3: the same node again, 5", 0},
    {SHORTEN, S0 "/volume/embedding_nodes", 0, 0, NULL,
     "/volume/embedding_nodes: must be one for each of 35 vertices, 34", 0},
    {SET_TEXT, S1 "/volume@surface_kind", 0, 0, "boundary",
     "/volume/embedding_offsets: must not be there where vertices are nodes", 0},
    {SET_TEXT, S0 "/volume@surface_kind", 0, 0, "embedded",
     "/volume/inner_modes: is for a surface whose vertices are nodes", 0},
    {SET_TEXT, S0 "/modes/modal_matrix@layout", 0, 0, "rows", "@layout: must be tile32 or plain, is \"rows\"", 0},
    {SET_TEXT, S0 "/modes/modal_matrix@layout", 0, 0, "plain",
     "/modes/modal_matrix: shape must be [35, 3, any], is [2, 4, 3, 32]", 0},
    {DELETE_ATTRIBUTE, "@hashed", 0, 0, NULL, "/@hashed: missing", 0},
    {SET_TEXT, "@hashed", 0, 0, "shapes/hash  objects/shape", "/@hashed: must be paths with one space between two", 1},
    {SET_TEXT, "@hashed", 0, 0, "shapes/hash /objects/shape", "/@hashed: must be paths with one space between two", 1},
    {SET_TEXT, "@hashed", 0, 0, "shapes/hash objects/shape objects/parent", "/@hashed: lacks objects/rest_frame", 1},
    {SET_TEXT, "@hashed", 0, 0, "shapes/hash objects/shape objects/parent objects/rest_frame",
     "/@hashed: lacks shapes/*/surface/rest_positions, which /shapes/0000 has", 1},
    {DELETE_LINK, "/shapes/hash", 0, 0, NULL, "/shapes/hash: missing", 0},
    {SHORTEN, "/shapes/hash", 0, 0, NULL, "/shapes/hash: shape must be [2, 16], is [1, 16]", 0},
    {SET_VALUE, S1 "/modes/participation", 0, 0.125, NULL, "/shapes/hash: the content of /shapes/0001 has", 1},
    {SET_VALUE, "/objects/rest_frame", 3, 0.125, NULL, "/@content_hash: the content has", 1},
    {SET_TEXT, S0 "/volume@surface_kind", 0, 0, "x",
     "/volume@surface_kind: must be boundary or embedded", 0},
    {SET_NUMBER, S1 "/volume@farthest_outside", 0, -1, NULL,
     "/volume@farthest_outside: value 0: must be finite and >= 0", 0},
    {DELETE_LINK, S0 "/volume/materials", 0, 0, NULL, "/volume/materials: missing", 0},
    {SET_NUMBER, S0 "/volume/materials/0000@young", 0, 0, NULL,
     "/volume/materials/0000@young: value 0: must be finite and > 0", 0},
    {SET_NUMBER, S0 "/volume/materials/0000@poisson", 0, 0.5, NULL,
     "/volume/materials/0000@poisson: must lie between", 0},
    {SET_NUMBER, S0 "/volume/materials/0000@poisson", 0, NAN, NULL,
     "/volume/materials/0000@poisson: must lie between", 0},
    {SET_NUMBER, S0 "/volume/materials/0000@density", 0, -1, NULL,
     "/volume/materials/0000@density: value 0: must be finite and > 0", 0},
    {SET_TEXT, S0 "/volume/materials/0000@kind", 0, 0, "viscous",
     "/volume/materials/0000@kind: must be isotropic or orthotropic, is \"viscous\"", 0},
    {SET_NUMBER, S0 "/volume/materials/0001@density", 0, -1, NULL, "density rho must be > 0", 0},
    {SET_NUMBER, S0 "/volume/materials/0001@shear_13", 0, 0, NULL, "G13 must be > 0 and finite, 0", 0},
    {SET_NUMBER, S0 "/volume/materials/0001@poisson_23", 0, 1.3, NULL,
     "|nu23| must be less than sqrt(E2 / E3) = 1.22474, 1.3", 0},
    {SET_VALUE, S0 "/volume/materials/0001/axes", 1, 1.1, NULL, "axes 1 and 1 must have the product 1",
     0},
    {SHORTEN, S0 "/volume/materials/0001/axes", 0, 0, NULL, "axes: shape must be [3, 3]", 0},
    {DELETE_ATTRIBUTE, S0 "/volume/materials/0001@young_2", 0, 0, NULL, "@young_2: missing", 0},
    {DELETE_LINK, S0 "/volume/groups/0000/nodes", 0, 0, NULL, "/volume/groups/0000/nodes: missing",
     0},
    {SET_VALUE, S0 "/volume/groups/0000/nodes", 3, 40, NULL,
     "/volume/groups/0000/nodes: row 3: outside", 0},
    {SET_VALUE, S0 "/volume/groups/0000/nodes", 3, 2, NULL,
     "/volume/groups/0000/nodes: value 3: not ascending", 0},
    {SET_VALUE, S0 "/volume/groups/0000/elements", 8, 9, NULL,
     "/volume/groups/0000/elements: row 8: outside", 0},
    {SET_VALUE, S0 "/volume/groups/0000/elements", 8, 7, NULL,
     "/volume/groups/0000/elements: value 8: not ascending", 0},
    {SET_INTEGER, S0 "/volume/groups/0000@dimension", 0, 2, NULL,
     "/volume/groups/0000/elements: must be empty", 0},
    {SET_INTEGER, S0 "/volume/groups/0000@dimension", 0, 4, NULL,
     "/volume/groups/0000@dimension: must be 0 to 3", 0},
    {SET_INTEGER, S0 "/volume/groups/0000@tag", 0, 1e12, NULL, "/volume/groups/0000@tag: must be",
     0},
    {DELETE_LINK, "/objects", 0, 0, NULL, "/objects: missing", 0},
    {SET_VALUE, "/objects/shape", 2, 2, NULL, "/objects/shape: object 2: outside [0, 2), 2", 0},
    {SHORTEN, "/objects/parent", 0, 0, NULL, "/objects/parent: shape must be [3], is [2]", 0},
    {SET_VALUE, "/objects/parent", 2, 3, NULL, "/objects/parent: object 2: outside [-1, 3), 3", 0},
    {SET_VALUE, "/objects/parent", 2, -2, NULL, "/objects/parent: object 2: outside", 0},
    {SET_VALUE, "/objects/parent", 2, 1, NULL,
     "/objects/parent: object 0: its parents run in a circle", 0},
    {SET_VALUE, "/objects/parent", 2, 2, NULL,
     "/objects/parent: object 2: its parents run in a circle", 0},
    {SET_VALUE, "/objects/rest_frame", 12, 0.9, NULL,
     "/objects/rest_frame: object 1: not orthonormal", 0},
    {SET_VALUE, "/objects/rest_frame", 10, -1, NULL, "/objects/rest_frame: object 0: a reflection",
     0},
    {SET_VALUE, "/objects/rest_frame", 15, NAN, NULL, "/objects/rest_frame: object 1: not finite",
     0},
    {DELETE_LINK, "/provenance", 0, 0, NULL, "/provenance: missing", 0},
    {SET_INTEGER, "/provenance@count", 0, 2, NULL, "/provenance@count: must be 0 to 1", 0},
    {DELETE_ATTRIBUTE, "/provenance/0000@tool", 0, 0, NULL, "/provenance/0000@tool: missing", 0},
};

/* Arrays of the other order of bytes read the same, and have the same content hash. */
static void test_big_endian(void **state)
{
    (void)state;
    static const char *const paths[] = {S0 "/surface/rest_positions", S0 "/surface/triangles", S0 "/tables/face_offsets",
                                        S0 "/tables/boundary",        S0 "/modes/modal_matrix", S0 "/modes/eigenvalues",
                                        S0 "/volume/node_tags",       S0 "/volume/element_types", "/objects/rest_frame"};
    modal_basis a, b;
    modal_findings findings = {0};
    const char *path = write_sample("big-endian.h5", 1);
    OK(modal_basis_read(path, MODAL_BASIS_ALL, &a, err));
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        sample_damage(path, &(damage_case){SWAP_BYTES, paths[i], 0, 0, NULL, NULL, 0});
    OK(modal_basis_read(path, MODAL_BASIS_ALL, &b, err));
    assert_bases_equal(&a, &b, MODAL_BASIS_ALL);
    OK(modal_basis_check(path, &findings, err));
    if (findings.n > 0) fail_msg("%s", findings.texts[0]);
    modal_findings_free(&findings);
    modal_basis_free(&a);
    modal_basis_free(&b);
    assert_no_ids();
}

static void check_damages(const unsigned char *good, size_t length, const damage_case *cases, size_t n)
{
    const char *path = sample_path("bad.h5");
    for (size_t i = 0; i < n; i++) {
        const damage_case *d = &cases[i];
        modal_findings findings = {0};
        modal_error refusal = {0};
        modal_basis basis;
        sample_put(path, good, length);
        sample_damage(path, d);
        OK(modal_basis_check(path, &findings, err));
        if (!findings_have(&findings, d->expected))
            fail_msg("%s: expected \"%s\", %lld findings, first \"%s\"", d->path, d->expected,
                     (long long)findings.n, findings.n ? findings.texts[0] : "");
        modal_findings_free(&findings);
        modal_status status = modal_basis_read(path, MODAL_BASIS_ALL, &basis, &refusal);
        if (status != (d->deep ? MODAL_OK : MODAL_ERROR_INPUT))
            fail_msg("%s (%s): read gives %d, %s", d->path, d->expected, status, refusal.message);
        if (!d->deep &&
            (strncmp(refusal.message, path, strlen(path)) != 0 || !strstr(refusal.message, ": /")))
            fail_msg("%s: \"%s\" does not name the file and the place", d->path, refusal.message);
        modal_basis_free(&basis);
        assert_no_ids();
    }
}

static void test_every_rule(void **state)
{
    (void)state;
    size_t length;
    unsigned char *good = sample_bytes(write_sample("good.h5", 1), &length);
    check_damages(good, length, damages, sizeof damages / sizeof *damages);
    free(good);
}

/* What version 2.0 has otherwise. */
static const damage_case damages_2[] = {
    {SET_TEXT, "@content_hash", 0, 0, "0123456789abcdef0123456789abcdef", "/@content_hash: the content has", 1},
    {SET_VALUE, S0 "/volume/element_types", 2, 1, NULL,
     "/volume/element_offsets: row 2: a TET10 has 10 nodes, the row 4", 0},
    {SET_VALUE, S0 "/volume/element_offsets", 2, 9, NULL,
     "/volume/element_offsets: row 1: a TET4 has 4 nodes, the row 5", 0},
    {SET_VALUE, S0 "/volume/element_offsets", 9, 99, NULL, "/volume/element_offsets: ", 0},
    {SHORTEN, S0 "/volume/element_offsets", 0, 0, NULL, "element_offsets: shape must be [10]", 0},
    {SHORTEN, S0 "/volume/element_nodes", 0, 0, NULL, "/volume/element_offsets: ", 0},
    {DELETE_LINK, S0 "/volume/element_material", 0, 0, NULL, "/volume/element_material: missing", 0},
    {SET_VALUE, S0 "/volume/volume_modes", 105, NAN, NULL,
     "/volume/volume_modes: mode 1, value 0: not finite", 0},
    {SHORTEN, S0 "/volume/volume_modes", 0, 0, NULL, "volume_modes: shape must be [4, 35, 3]", 0},
    {SET_VALUE, S1 "/volume/embedding_nodes", 8, 4, NULL,
     "/volume/embedding_nodes: row 8: outside [0, 4)", 0},
    {SET_VALUE, S1 "/volume/embedding_weights", 8, 0.9, NULL,
     "/volume/embedding_weights: row 2: must add up to 1", 0},
    {SET_VALUE, S1 "/volume/embedding_weights", 8, NAN, NULL,
     "/volume/embedding_weights: row 2: must add up to 1", 0},
    {SET_VALUE, S0 "/volume/embedding_weights", 4, 0.5, NULL,
     "/volume/embedding_weights: row 1: must be 1 0 0 0", 0},
    {DELETE_LINK, S1 "/volume/embedding_weights", 0, 0, NULL, "/volume/embedding_weights: missing", 0},
    {DELETE_LINK, S0 "/volume/embedding_nodes", 0, 0, NULL, "/volume/embedding_nodes: missing", 0},
    {SET_VALUE, S1 "/modes/participation", 0, 0.125, NULL, "/@content_hash: the content has", 1},
};

/* A file of version 2.0, by the program that wrote it: read, sound, with the same content as today's sample but for
 * what 3.0 keeps otherwise; its rules; written anew it is the same content again. */
static void test_version_2(void **state)
{
    (void)state;
    size_t length;
    unsigned char *good = sample_bytes(TEST_FILES "/frozen/basis-2.0.h5", &length);
    const char *path = sample_path("two.h5"), *anew = sample_path("anew.h5");
    modal_findings findings = {0};
    modal_basis a = sample_basis(1), b, c;
    sample_put(path, good, length);
    OK(modal_basis_check(path, &findings, err));
    if (findings.n) fail_msg("%s", findings.texts[0]);
    assert_int_equal(findings.n, 0);
    OK(modal_basis_read(path, MODAL_BASIS_ALL, &b, err));
    assert_string_equal(b.hash, "4852f051822fc24c9b0d437b9976d4ff");
    for (int i = 0; i < 2; i++) {
        const modal_shape *x = &a.shapes[i], *y = &b.shapes[i];
        assert_int_equal(x->n_vertices, y->n_vertices);
        assert_memory_equal(x->rest_positions, y->rest_positions, (size_t)(3 * x->n_vertices) * sizeof(double));
        assert_memory_equal(x->eigenvalues, y->eigenvalues, (size_t)x->n_modes * sizeof(double));
        for (int64_t v = 0; i == 0 && v < y->n_vertices; v++) assert_int_equal(y->embedding_nodes[v], v);
        assert_int_equal(y->embedding_offsets != NULL, i == 1);
        assert_int_equal(y->embedding_weights != NULL, i == 1);
    }
    const modal_shape *x = &a.shapes[1], *y = &b.shapes[1];
    assert_memory_equal(x->embedding_offsets, y->embedding_offsets, 7 * sizeof(int64_t));
    assert_memory_equal(x->embedding_nodes, y->embedding_nodes, 24 * sizeof(int32_t));
    assert_memory_equal(x->embedding_weights, y->embedding_weights, 24 * sizeof(double));
    OK(modal_basis_write(anew, &b, err));
    OK(modal_basis_check(anew, &findings, err));
    assert_int_equal(findings.n, 0);
    OK(modal_basis_read(anew, MODAL_BASIS_ALL, &c, err));
    OK(modal_basis_hash(&b, err));
    assert_bases_equal(&b, &c, MODAL_BASIS_ALL);
    check_damages(good, length, damages_2, sizeof damages_2 / sizeof *damages_2);
    modal_basis_free(&a);
    modal_basis_free(&b);
    modal_basis_free(&c);
    free(good);
}

/* The sample's first matrix as [V, 3, r], as another writer may have it. */
static void make_plain(const char *path, const modal_shape *s, int chunked)
{
    const int64_t n = s->n_vertices, r = s->n_modes;
    float *rows = malloc((size_t)(3 * n * r) * sizeof *rows);
    for (int64_t v = 0; v < n; v++)
        for (int64_t i = 0; i < 3; i++)
            for (int64_t k = 0; k < r; k++)
                rows[(3 * v + i) * r + k] =
                    s->modal_matrix[((v / MODAL_TILE * r + k) * 3 + i) * MODAL_TILE + v % MODAL_TILE];
    const hsize_t dims[3] = {(hsize_t)n, 3, (hsize_t)r}, chunk[3] = {5, 3, (hsize_t)r};
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), space = H5Screate_simple(3, dims, NULL);
    hid_t type = H5Tcopy(H5T_C_S1), scalar = H5Screate(H5S_SCALAR), creation = H5Pcreate(H5P_DATASET_CREATE);
    if (chunked) assert_true(H5Pset_chunk(creation, 3, chunk) >= 0);
    assert_true(H5Tset_size(type, 5) >= 0 && H5Ldelete(file, S0 "/modes/modal_matrix", H5P_DEFAULT) >= 0);
    hid_t matrix = H5Dcreate2(file, S0 "/modes/modal_matrix", H5T_IEEE_F32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    assert_true(H5Dwrite(matrix, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0);
    hid_t layout = H5Acreate2(matrix, "layout", type, scalar, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(layout, type, "plain") >= 0);
    H5Aclose(layout), H5Dclose(matrix), H5Pclose(creation), H5Sclose(scalar), H5Tclose(type), H5Sclose(space);
    assert_true(H5Fclose(file) >= 0);
    free(rows);
}

static void test_plain_matrix(void **state)
{
    (void)state;
    for (int chunked = 0; chunked < 2; chunked++) {
        const char *path = write_sample("rows.h5", 1);
        modal_basis a = sample_basis(1), b, c;
        modal_findings findings = {0};
        modal_basis_tiles *tiles = NULL;
        make_plain(path, &a.shapes[0], chunked);
        OK(modal_basis_read(path, MODAL_BASIS_ALL, &b, err));
        assert_bases_equal(&a, &b, MODAL_BASIS_ALL);
        /* the hash is that of the file's array; nothing else is wrong */
        OK(modal_basis_check(path, &findings, err));
        assert_int_equal(findings.n, 1);
        assert_true(findings_have(&findings, "/shapes/hash: the content of /shapes/0000 has"));
        modal_findings_free(&findings);
        OK(modal_basis_read(path, MODAL_BASIS_SURFACE, &c, err));
        assert_null(c.shapes[0].modal_matrix);
        OK(modal_basis_tiles_open(&tiles, path, &c, NULL, err));
        for (int begin = 0; begin < 2; begin++)
            for (int end = begin; end <= 2; end++) {
                const size_t size = (size_t)a.shapes[0].n_modes * 3 * MODAL_TILE;
                float *to = malloc((size_t)(end - begin) * size * sizeof *to + 1);
                OK(modal_basis_tiles_read(tiles, 0, begin, end, to, err));
                assert_memory_equal(to, a.shapes[0].modal_matrix + (size_t)begin * size,
                                    (size_t)(end - begin) * size * sizeof *to);
                free(to);
            }
        modal_basis_tiles_close(tiles);
        modal_basis_free(&a);
        modal_basis_free(&b);
        modal_basis_free(&c);
        assert_no_ids();
    }
}

/* A shape without modes. */
static void test_no_modes(void **state)
{
    (void)state;
    const char *path = sample_path("still.h5");
    modal_basis a = sample_basis(1), b;
    modal_findings findings = {0};
    modal_shape *s = &a.shapes[0];
    modal_basis_tiles *tiles = NULL;
    s->n_modes = 0;
    s->kind = MODAL_KIND_MODES;
    modal_reduced_forces_free(&s->reduced_forces);
    OK(modal_basis_hash(&a, err));
    OK(modal_basis_write(path, &a, err));
    OK(modal_basis_check(path, &findings, err));
    if (findings.n) fail_msg("%s", findings.texts[0]);
    OK(modal_basis_read(path, MODAL_BASIS_ALL, &b, err));
    assert_int_equal(b.shapes[0].n_modes, 0);
    assert_bases_equal(&a, &b, MODAL_BASIS_ALL);
    OK(modal_basis_tiles_open(&tiles, path, &b, NULL, err));
    OK(modal_basis_tiles_read(tiles, 0, 0, 2, NULL, err));
    modal_basis_tiles_close(tiles);
    modal_basis_free(&a);
    modal_basis_free(&b);
    assert_no_ids();
}

/* An array that this program does not know, in the list: the hash covers it. */
static void test_unknown_array_is_hashed(void **state)
{
    (void)state;
    const char *path = write_sample("later.h5", 1);
    const damage_case flip = {SET_VALUE, S0 "/later", 1, 7, NULL, "", 0};
    modal_findings findings = {0};
    modal_basis b;
    const hsize_t dims[2] = {2, 3};
    const double values[6] = {1, 2, 3, 4, 5, 6};
    char list[4096] = "shapes/*/later ";
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), space = H5Screate_simple(2, dims, NULL);
    hid_t set = H5Dcreate2(file, S0 "/later", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    hid_t old = H5Aopen(file, "hashed", H5P_DEFAULT), type = H5Aget_type(old);
    assert_true(H5Tget_size(type) < 4000 && H5Aread(old, type, list + strlen(list)) >= 0);
    H5Tclose(type), H5Aclose(old), H5Dclose(set), H5Sclose(space);
    assert_true(H5Fclose(file) >= 0);
    const damage_case more = {SET_TEXT, "@hashed", 0, 0, list, "", 0};
    sample_damage(path, &more);
    OK(modal_basis_check(path, &findings, err));
    assert_int_equal(findings.n, 1); /* the hash that was written does not cover it */
    char hash[MODAL_HASH_TEXT], other[MODAL_HASH_TEXT];
    assert_int_equal(sscanf(strstr(findings.texts[0], " has ") + 5, "%32s", hash), 1);
    modal_findings_free(&findings);
    sample_damage(path, &flip);
    OK(modal_basis_check(path, &findings, err));
    assert_int_equal(sscanf(strstr(findings.texts[0], " has ") + 5, "%32s", other), 1);
    assert_string_not_equal(hash, other);
    modal_findings_free(&findings);
    OK(modal_basis_read(path, MODAL_BASIS_ALL, &b, err)); /* and who does not check does not mind */
    modal_basis_free(&b);
    assert_no_ids();
}

static void test_all_findings_are_listed(void **state)
{
    (void)state;
    const char *path = write_sample("many.h5", 1);
    const damage_case several[] = {
        {SET_VALUE, S0 "/surface/rest_positions", 7, NAN, NULL, "rest_positions: row 2", 0},
        {SET_VALUE, S0 "/modes/eigenvalues", 3, NAN, NULL, "eigenvalues: value 3", 0},
        {DELETE_LINK, S1 "/surface/triangles", 0, 0, NULL, S1 "/surface/triangles: missing", 0},
        {SET_VALUE, "/objects/shape", 2, 2, NULL, "/objects/shape: object 2", 0},
        {DELETE_ATTRIBUTE, "/provenance/0000@tool", 0, 0, NULL, "@tool: missing", 0}};
    modal_findings findings = {0};
    for (int i = 0; i < 5; i++) sample_damage(path, &several[i]);
    OK(modal_basis_check(path, &findings, err));
    for (int i = 0; i < 5; i++) assert_true(findings_have(&findings, several[i].expected));
    modal_findings_free(&findings);
}

static void test_unknown_things_are_ignored(void **state)
{
    (void)state;
    const char *path = write_sample("more.h5", 0);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(H5Gclose(H5Gcreate2(file, "/shapes/0000/textures", H5P_DEFAULT, H5P_DEFAULT,
                                    H5P_DEFAULT)) >= 0);
    assert_true(H5Gclose(H5Gcreate2(file, "/later", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)) >= 0);
    assert_true(H5Fclose(file) >= 0);
    const damage_case minor = {SET_TEXT, "@modal_version", 0, 0, "3.7", "", 0};
    sample_damage(path, &minor);
    modal_basis a = sample_basis(0), b;
    OK(modal_basis_read(path, MODAL_BASIS_ALL, &b, err));
    assert_bases_equal(&a, &b, MODAL_BASIS_ALL);
    modal_basis_free(&a);
    modal_basis_free(&b);
}

static void refused(const char *path, const char *expected)
{
    modal_basis basis;
    modal_findings findings = {0};
    modal_error err = {0}, check_err = {0};
    assert_int_equal(modal_basis_read(path, MODAL_BASIS_ALL, &basis, &err), MODAL_ERROR_INPUT);
    assert_int_equal(modal_basis_check(path, &findings, &check_err), MODAL_ERROR_INPUT);
    if (!strstr(err.message, expected) || strncmp(err.message, path, strlen(path)) != 0)
        fail_msg("\"%s\" is not \"%s: %s\"", err.message, path, expected);
    assert_string_equal(err.message, check_err.message);
    assert_null(basis.shapes);
    modal_findings_free(&findings);
    assert_no_ids();
}

static void test_unreadable(void **state)
{
    (void)state;
    refused(sample_path("absent.h5"), "cannot open, No such file");
    refused("/tmp", "is a folder");
    const char *pipe = sample_path("pipe");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    refused(pipe, "is not a regular file");
    const char *path = sample_path("odd.h5");
    sample_put(path, "", 0);
    refused(path, "empty file");
    sample_put(path, "v 0 0 0\n", 8);
    refused(path, "not an HDF5 file");
    const damage_case cases[] = {
        {SET_TEXT, "@modal_type", 0, 0, "trajectory",
         "modal_type: this is a trajectory, expected a basis", 0},
        {DELETE_ATTRIBUTE, "@modal_type", 0, 0, NULL, "no attribute modal_type", 0},
        {SET_INTEGER, "@modal_type", 0, 1, NULL, "/@modal_type: must be text", 0},
        {SET_TEXT, "@modal_version", 0, 0, "4.0",
         "modal_version: unsupported version 4.0, this program reads 2.x to 3.x", 0},
        {SET_TEXT, "@modal_version", 0, 0, "1.0", "modal_version: unsupported version 1.0", 0},
        {SET_TEXT, "@modal_version", 0, 0, "one", "modal_version: must read MAJOR.MINOR", 0},
        {SET_TEXT, "@modal_version", 0, 0, "1", "modal_version: must read MAJOR.MINOR", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        path = write_sample("odd.h5", 0);
        sample_damage(path, &cases[i]);
        refused(path, cases[i].expected);
    }
}

static void test_every_truncation(void **state)
{
    (void)state;
    size_t length;
    unsigned char *bytes = sample_bytes(write_sample("whole.h5", 1), &length);
    modal_basis basis;
    alarm(300);
    for (size_t n = 0; n < length; n++) {
        unsigned char *part = malloc(n + 1); /* of its own size, so that a sanitizer sees its end */
        memcpy(part, bytes, n);
        if (modal_basis_read_image(part, n, "part", MODAL_BASIS_ALL, &basis, NULL) !=
            MODAL_ERROR_INPUT)
            fail_msg("%zu of %zu bytes are taken for a basis", n, length);
        free(part);
    }
    const char *path = sample_path("cut.h5");
    for (size_t n = 0; n < length; n += length / 23 + 1) {
        sample_put(path, bytes, n);
        assert_int_equal(modal_basis_read(path, MODAL_BASIS_ALL, &basis, NULL), MODAL_ERROR_INPUT);
    }
    alarm(0);
    assert_no_ids();
    free(bytes);
}

static uint64_t random_state = 20240607;
static uint64_t draw(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void test_flipped_bytes(void **state)
{
    (void)state;
    size_t length;
    unsigned char *good = sample_bytes(write_sample("flip.h5", 1), &length), *bad = malloc(length);
    int64_t refusals = 0;
    alarm(300);
    for (int i = 0; i < 3000; i++) {
        modal_basis basis;
        modal_findings findings = {0};
        memcpy(bad, good, length);
        for (int flips = 1 + (int)(draw() % 4); flips > 0; flips--)
            bad[draw() % length] ^= (unsigned char)(1 + draw() % 255);
        modal_status status =
            modal_basis_read_image(bad, length, "flipped", MODAL_BASIS_ALL, &basis, NULL);
        assert_true(status == MODAL_OK || status == MODAL_ERROR_INPUT);
        refusals += status == MODAL_ERROR_INPUT;
        modal_basis_free(&basis);
        modal_status checked = modal_basis_check_image(bad, length, "flipped", &findings, NULL);
        /* What a reader refuses, the checker complains about. */
        if (status == MODAL_ERROR_INPUT && checked == MODAL_OK && findings.n == 0)
            fail_msg("draw %d", i);
        modal_findings_free(&findings);
    }
    alarm(0);
    assert_true(refusals > 300);
    assert_no_ids();
    free(good);
    free(bad);
}

static void test_failing_allocations(void **state)
{
    (void)state;
    const char *path = write_sample("memory.h5", 1);
    const char *bad = write_sample("memory-bad.h5", 1), *out = sample_path("memory-out.h5");
    const damage_case wrong = {SET_VALUE, S0 "/surface/rest_positions", 7, NAN, NULL, "", 0};
    sample_damage(bad, &wrong);
    modal_basis a = sample_basis(1), b;
    for (int kind = 0; kind < 3; kind++)
        for (int64_t n = 1;; n++) {
            modal_error err = {0};
            modal_findings findings = {0};
            modal_status status;
            memset(&b, 0, sizeof b);
            modal_alloc_fail_at(n);
            if (kind == 0)
                status = modal_basis_write(out, &a, &err);
            else if (kind == 1)
                status = modal_basis_read(path, MODAL_BASIS_ALL, &b, &err);
            else
                status = modal_basis_check(bad, &findings, &err);
            int fired = modal_alloc_fired();
            modal_alloc_fail_at(0);
            assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
            assert_int_equal(err.status, status);
            modal_basis_free(&b);
            modal_findings_free(&findings);
            assert_no_ids();
            if (!fired) {
                assert_true(n > 5);
                break;
            }
        }
    modal_basis_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_without_solid_and_large_text),
        cmocka_unit_test(test_same_bytes_twice),
        cmocka_unit_test(test_writer_refuses),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_big_endian),
        cmocka_unit_test(test_every_rule),
        cmocka_unit_test(test_version_2),
        cmocka_unit_test(test_plain_matrix),
        cmocka_unit_test(test_no_modes),
        cmocka_unit_test(test_unknown_array_is_hashed),
        cmocka_unit_test(test_all_findings_are_listed),
        cmocka_unit_test(test_unknown_things_are_ignored),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_flipped_bytes),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
