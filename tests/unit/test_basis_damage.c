/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
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

#include <hdf5.h>

#include "formats/basis/basis_h5.h"
#include "formats/h5/guard/guard.h"
#include "lib/base/memory.h"
#include "tests/unit/file_samples.h"
#include "tests/unit/processor_limit.h"

#define OK(call)                                                            \
    do {                                                                    \
        modal_error failure = {0};                                          \
        modal_error *err = &failure;                                        \
        if ((call) != MODAL_OK) fail_msg("%s: %s", #call, failure.message); \
    } while (0)

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
    {ELSEWHERE, S0 "/surface/rest_positions", 0, 0, NULL, "rest_positions: not a dataset (HDF5: stored in another file",
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
     "/tables/faces: row 0: not the triangles at this vertex", 0},
    {SHORTEN, S0 "/tables/faces", 0, 0, NULL, "/tables/face_offsets: last value", 0},
    {SET_VALUE, S1 "/tables/boundary", 2, 1, NULL,
     S1 "/tables/boundary: value 2: not what the triangles say", 0},
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
     "/reduced_forces: linear, quadratic and either cubic or quartic must be there", 0},
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
    {DELETE_LINK, S0 "/volume/embedding_nodes", 0, 0, NULL, "/volume/embedding_nodes: missing", 0},
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
    {SET_TEXT, S0 "/modes/modal_matrix@layout", 0, 0, "rows", "@layout: must be tile32 or vertex_major, is \"rows\"", 0},
    {SET_TEXT, S0 "/modes/modal_matrix@layout", 0, 0, "vertex_major",
     "/modes/modal_matrix: shape must be [35, 3, any], is [2, 4, 3, 32]", 0},
    {DELETE_ATTRIBUTE, "@hashed", 0, 0, NULL, "/@hashed: missing", 0},
    {SET_TEXT, "@hashed", 0, 0, "shapes/hash  objects/shape", "/@hashed: must be paths with one space between two", 1},
    {SET_TEXT, "@hashed", 0, 0, "shapes/hash /objects/shape", "/@hashed: must be paths with one space between two", 1},
    {SET_TEXT, "@hashed", 0, 0, "shapes/hash objects/shape objects/parent", "/@hashed: lacks objects/rest_pose", 1},
    {SET_TEXT, "@hashed", 0, 0, "shapes/hash objects/shape objects/parent objects/rest_pose",
     "/@hashed: lacks shapes/*/surface/rest_positions, which /shapes/0000 has", 1},
    {DELETE_LINK, "/shapes/hash", 0, 0, NULL, "/shapes/hash: missing", 0},
    {SHORTEN, "/shapes/hash", 0, 0, NULL, "/shapes/hash: shape must be [2, 16], is [1, 16]", 0},
    {SET_VALUE, S1 "/modes/participation", 0, 0.125, NULL, "/shapes/hash: the content of /shapes/0001 has", 1},
    {SET_VALUE, "/objects/rest_pose", 3, 0.125, NULL, "/@content_hash: the content has", 1},
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
    {SET_VALUE, "/objects/rest_pose", 12, 0.9, NULL,
     "/objects/rest_pose: object 1: not orthonormal", 0},
    {SET_VALUE, "/objects/rest_pose", 10, -1, NULL, "/objects/rest_pose: object 0: a reflection",
     0},
    {SET_VALUE, "/objects/rest_pose", 15, NAN, NULL, "/objects/rest_pose: object 1: not finite",
     0},
    {DELETE_LINK, "/provenance", 0, 0, NULL, "/provenance: missing", 0},
    {SET_INTEGER, "/provenance@count", 0, 2, NULL, "/provenance@count: must be 0 to 1", 0},
    {DELETE_ATTRIBUTE, "/provenance/0000@tool", 0, 0, NULL, "/provenance/0000@tool: missing", 0},
};

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
    unsigned char *good = sample_bytes(sample_basis_file("good.h5", 1), &length);
    check_damages(good, length, damages, sizeof damages / sizeof *damages);
    free(good);
}

/* With the energy's terms of fourth degree. */
static const damage_case damages_energy[] = {
    {DELETE_LINK, S0 "/reduced_forces/quartic", 0, 0, NULL, "/reduced_forces: linear, quadratic and either cubic or quartic must be there", 0},
    {DELETE_LINK, S0 "/reduced_forces/linear", 0, 0, NULL, "/reduced_forces: linear, quadratic and either cubic or quartic must be there", 0},
    {SHORTEN, S0 "/reduced_forces/quartic", 0, 0, NULL, "/reduced_forces/quartic: shape must be [35], is [34]", 0},
    {SHORTEN, S0 "/reduced_forces/quadratic", 0, 0, NULL, "/reduced_forces/quadratic: shape must be [4, 10], is [3, 10]", 0},
    {RETYPE, S0 "/reduced_forces/quartic", 0, 0, NULL, "/reduced_forces/quartic: type must be", 0},
    {HUGE_CHUNKED, S0 "/reduced_forces/quartic", 0, 0, NULL, "/reduced_forces/quartic: shape must be [35]", 0},
    {SET_VALUE, S0 "/reduced_forces/quartic", 34, NAN, NULL, "/reduced_forces/quartic: value 34", 0},
    {SET_VALUE, S0 "/reduced_forces/linear", 4, 7, NULL, "/reduced_forces/linear: row 1, column 0: not the gradient of an energy", 1},
    {SET_VALUE, S0 "/reduced_forces/quadratic", 11, 7, NULL,
     "/reduced_forces/quadratic: row 1, column 1: not the gradient of an energy", 1},
    {SET_VALUE, S0 "/reduced_forces/quartic", 3, 0.125, NULL, "/shapes/hash: the content of /shapes/0000 has", 1},
};

static void test_every_rule_of_quartic_forces(void **state)
{
    (void)state;
    size_t length;
    const char *path = sample_path("energy.h5");
    modal_basis b = sample_energy_basis();
    OK(modal_basis_hash(&b, err));
    OK(modal_basis_write(path, &b, err));
    modal_basis_free(&b);
    unsigned char *good = sample_bytes(path, &length);
    check_damages(good, length, damages_energy, sizeof damages_energy / sizeof *damages_energy);
    free(good);
}

static void test_all_findings_are_listed(void **state)
{
    (void)state;
    const char *path = sample_basis_file("many.h5", 1);
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
        {SET_TEXT, "@modal_format", 0, 0, "trajectory",
         "modal_format: this is a trajectory, expected a basis", 0},
        {DELETE_ATTRIBUTE, "@modal_format", 0, 0, NULL, "no attribute modal_format", 0},
        {SET_INTEGER, "@modal_format", 0, 1, NULL, "/@modal_format: must be text", 0},
        {SET_TEXT, "@modal_format_version", 0, 0, "2.0",
         "modal_format_version: unsupported version 2.0, this program reads 1.x", 0},
        {SET_TEXT, "@modal_format_version", 0, 0, "0.9", "modal_format_version: unsupported version 0.9", 0},
        {SET_TEXT, "@modal_format_version", 0, 0, "one", "modal_format_version: must read MAJOR.MINOR", 0},
        {SET_TEXT, "@modal_format_version", 0, 0, "1", "modal_format_version: must read MAJOR.MINOR", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        path = sample_basis_file("odd.h5", 0);
        sample_damage(path, &cases[i]);
        refused(path, cases[i].expected);
    }
}

static void test_truncations(void **state)
{
    (void)state;
    size_t length;
    unsigned char *bytes = sample_bytes(sample_basis_file("whole.h5", 1), &length);
    modal_basis basis;
    limit_processor(300);
    for (int64_t k = 0, last = (int64_t)length - 1; k <= last; k = sample_next(k, last)) {
        const size_t n = (size_t)k;
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
    limit_processor(0);
    assert_no_ids();
    free(bytes);
}

static void test_flipped_bytes(void **state)
{
    (void)state;
    uint64_t random = 20240607;
    size_t length;
    unsigned char *good = sample_bytes(sample_basis_file("flip.h5", 1), &length), *bad = malloc(length);
    int64_t refusals = 0;
    const int draws = sample_all() ? 3000 : 600;
    limit_processor(300);
    for (int i = 0; i < draws; i++) {
        modal_basis basis;
        modal_findings findings = {0};
        sample_flip(&random, good, bad, length);
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
    limit_processor(0);
    assert_true(refusals > draws / 10);
    assert_no_ids();
    free(good);
    free(bad);
}

/* HDF5 asks for the first 512 bytes of a header and then for its rest, which may begin with anything, also with what headers begin with: here
 * with ones, the version of old headers. */
static void test_long_headers(void **state)
{
    (void)state;
    const char *path = sample_path("headers.h5");
    int n_long = 0;
    for (int old = 0; old < 2; old++)
        for (hsize_t n = 300; n < 700; n += 7) {
            unsigned char ones[700];
            memset(ones, 1, sizeof ones);
            hid_t access = H5Pcreate(H5P_FILE_ACCESS), space = H5Screate_simple(1, &n, NULL);
            assert_true(H5Pset_libver_bounds(access, old ? H5F_LIBVER_EARLIEST : H5F_LIBVER_LATEST, H5F_LIBVER_LATEST) >= 0);
            hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access), group = H5Gcreate2(file, "note", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
            hid_t attribute = H5Acreate2(group, "ones", H5T_STD_U8LE, space, H5P_DEFAULT, H5P_DEFAULT);
            assert_true(H5Awrite(attribute, H5T_STD_U8LE, ones) >= 0);
            assert_true(H5Aclose(attribute) >= 0 && H5Gclose(group) >= 0 && H5Fclose(file) >= 0 && H5Pclose(access) >= 0);
            size_t length;
            unsigned char *bytes = sample_bytes(path, &length);
            n_long += n > 512 && memmem(bytes, length, "OHDR", 4) && !memmem(bytes, length, "OCHK", 4); /* in one block of version 2 */
            free(bytes);

            const modal_h5_source source = {.path = path};
            int descriptor = open(path, O_RDONLY);
            access = H5Pcreate(H5P_FILE_ACCESS);
            assert_true(modal_h5_guard(access, &source, &descriptor, 0) >= 0);
            file = H5Fopen(path, H5F_ACC_RDONLY, access);
            group = H5Gopen2(file, "note", H5P_DEFAULT);
            assert_int_equal(descriptor, -1); /* the file has it */
            if (group < 0) fail_msg("%d ones in a header of version %d", (int)n, old ? 1 : 2);
            attribute = H5Aopen(group, "ones", H5P_DEFAULT);
            memset(ones, 0, sizeof ones);
            assert_true(H5Aread(attribute, H5T_STD_U8LE, ones) >= 0 && ones[0] == 1 && ones[n - 1] == 1);
            assert_true(H5Aclose(attribute) >= 0 && H5Gclose(group) >= 0 && H5Fclose(file) >= 0 && H5Pclose(access) >= 0 && H5Sclose(space) >= 0);
        }
    assert_true(n_long > 10); /* else nothing was looked at */
    assert_no_ids();
}

static void test_failing_allocations(void **state)
{
    (void)state;
    const char *path = sample_basis_file("memory.h5", 1);
    const char *bad = sample_basis_file("memory-bad.h5", 1), *out = sample_path("memory-out.h5");
    const damage_case wrong = {SET_VALUE, S0 "/surface/rest_positions", 7, NAN, NULL, "", 0};
    sample_damage(bad, &wrong);
    modal_basis a = sample_basis(1), b;
    for (int kind = 0; kind < 3; kind++)
        for (int64_t n = 1;; n = sample_next(n, INT64_MAX)) {
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
        cmocka_unit_test(test_every_rule),
        cmocka_unit_test(test_every_rule_of_quartic_forces),
        cmocka_unit_test(test_all_findings_are_listed),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_truncations),
        cmocka_unit_test(test_flipped_bytes),
        cmocka_unit_test(test_long_headers),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
