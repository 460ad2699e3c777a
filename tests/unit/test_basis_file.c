/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

#define S0 "/shapes/0000"

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
    const char *path = sample_basis_file("parts.h5", 1);
    modal_basis a = sample_basis(1), b;
    for (unsigned parts = 0; parts <= MODAL_BASIS_ALL; parts++) {
        OK(modal_basis_read(path, parts, &b, err));
        assert_bases_equal(&a, &b, parts);
        modal_basis_free(&b);
    }
    modal_basis_free(&a);
}

/* The energy's terms of fourth degree instead of the forces' of third; and what has both, or neither, is not written. */
static void test_energy(void **state)
{
    (void)state;
    const char *path = sample_path("energy.h5");
    static const unsigned parts[] = {MODAL_BASIS_ALL, MODAL_BASIS_REDUCED, MODAL_BASIS_MODES};
    modal_basis a = sample_energy_basis(), b;
    modal_findings findings = {0};
    OK(modal_basis_hash(&a, err));
    OK(modal_basis_write(path, &a, err));
    for (int i = 0; i < 3; i++) {
        OK(modal_basis_read(path, parts[i], &b, err));
        assert_bases_equal(&a, &b, parts[i]);
        modal_basis_free(&b);
    }
    OK(modal_basis_check(path, &findings, err));
    if (findings.n) fail_msg("%s", findings.texts[0]);
    for (int i = 0; i < 2; i++) {
        modal_error refusal = {0};
        modal_reduced_forces *f = &a.shapes[0].modes.reduced_forces;
        if (i == 0) OK(modal_alloc_zero(&f->cubic, 4 * 20, sizeof(double), "both", err));
        if (i == 1) modal_free(&f->cubic), modal_free(&f->quartic);
        assert_int_equal(modal_basis_write(path, &a, &refusal), MODAL_ERROR_INPUT);
        assert_non_null(strstr(refusal.message, "either cubic or quartic must be there"));
    }
    modal_basis_free(&a);
    assert_no_ids();
}

/* The arrays of a shape, handed out in ranges. */
typedef struct ranges {
    const modal_shape *shape;
    const char *phi;
    size_t row_bytes; /* of a mode at the nodes */
    int64_t asked, refuse_at; /* -1: never */
} ranges;

static modal_status refuse_range(ranges *r, modal_error *err)
{
    return r->asked++ == r->refuse_at ? modal_error_set(err, MODAL_ERROR_SYSTEM, "the range is lost") : MODAL_OK;
}

static modal_status give_tiles(void *context, int64_t first, int64_t count, float *to, modal_error *err)
{
    ranges *r = context;
    const size_t tile = (size_t)r->shape->modes.n_modes * 3 * MODAL_TILE;
    memcpy(to, r->shape->modes.modal_matrix + (size_t)first * tile, (size_t)count * tile * sizeof *to);
    return refuse_range(r, err);
}

static modal_status give_nodes(void *context, int64_t first, int64_t count, void *to, modal_error *err)
{
    ranges *r = context;
    memcpy(to, r->phi + (size_t)first * r->row_bytes, (size_t)count * r->row_bytes);
    return refuse_range(r, err);
}

/* An array of the mesh, and its bytes. */
static const char *mesh_array(const modal_shape *s, size_t offset, int64_t *bytes)
{
    const modal_volume_mesh *m = &s->solid.mesh;
    const struct {
        size_t offset;
        const void *array;
        int64_t bytes;
    } all[] = {{offsetof(modal_shape, solid.mesh.nodes), m->nodes, 24 * m->n_nodes},
               {offsetof(modal_shape, solid.mesh.node_tags), m->node_tags, 8 * m->n_nodes},
               {offsetof(modal_shape, solid.mesh.element_type), m->element_type, m->n_elements},
               {offsetof(modal_shape, solid.mesh.element_nodes), m->element_nodes, 4 * m->element_offsets[m->n_elements]},
               {offsetof(modal_shape, solid.mesh.element_tags), m->element_tags, 8 * m->n_elements},
               {offsetof(modal_shape, solid.mesh.element_material), m->element_material, 4 * m->n_elements},
               {offsetof(modal_shape, solid.mesh.element_fibres), m->element_fibres, m->element_fibres ? 24 * m->n_elements : 0}};
    *bytes = 0;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (all[k].offset == offset) {
            int64_t other = offset != offsetof(modal_shape, solid.mesh.element_material);
            for (int64_t e = 0; e < m->n_elements && !other; e++) other = m->element_material[e] != 0;
            *bytes = other ? all[k].bytes : 0;
            return all[k].array;
        }
    return NULL;
}

static int64_t count_bytes(void *context, size_t offset)
{
    const ranges *r = context;
    int64_t bytes;
    mesh_array(r->shape, offset, &bytes);
    return bytes;
}

static modal_status give_rows(void *context, size_t offset, int64_t first, int64_t count, void *to, modal_error *err)
{
    ranges *r = context;
    const modal_volume_mesh *m = &r->shape->solid.mesh;
    int64_t bytes;
    const char *from = mesh_array(r->shape, offset, &bytes);
    const int of_nodes = offset == offsetof(modal_shape, solid.mesh.nodes) || offset == offsetof(modal_shape, solid.mesh.node_tags);
    const int64_t rows = of_nodes ? m->n_nodes : offset == offsetof(modal_shape, solid.mesh.element_nodes) ? m->element_offsets[m->n_elements]
                                                                                                           : m->n_elements;
    memcpy(to, from + first * (bytes / rows), (size_t)(count * (bytes / rows)));
    return refuse_range(r, err);
}

static void assert_same_bytes(const char *one, const char *other)
{
    char command[1024];
    snprintf(command, sizeof command, "cmp '%s' '%s'", one, other);
    assert_int_equal(system(command), 0);
}

/* Modes that are made in ranges, and a mesh, give the same bytes, hashes among them, in each of the forms that nodes have; where a range cannot
 * be made nothing is written that looks whole. */
static void test_modes_in_ranges(void **state)
{
    (void)state;
    char whole[512];
    for (int k = 0; k < 4; k++) {
        const int large = k % 2, mesh = k / 2;
        modal_basis a = large ? sample_large_basis() : sample_basis(1);
        snprintf(whole, sizeof whole, "%s", sample_path("whole.h5"));
        OK(modal_basis_write(whole, &a, err));
        const int32_t n = a.n_shapes;
        modal_shape *kept = calloc((size_t)n, sizeof *kept);
        ranges *given = calloc((size_t)n, sizeof *given);
        modal_modes_source *sources = calloc((size_t)n, sizeof *sources);
        for (int32_t i = 0; i < n; i++) {
            modal_shape *s = &a.shapes[i];
            kept[i] = *s;
            const modal_solid *solid = &kept[i].solid;
            const size_t nodes = (size_t)(solid->inner_modes ? solid->mesh.n_nodes - s->surface.n_vertices : solid->mesh.n_nodes);
            given[i] = (ranges){&kept[i], solid->inner_modes ? (char *)solid->inner_modes : solid->volume_modes_float ?
                                (char *)solid->volume_modes_float : (char *)solid->volume_modes,
                                3 * nodes * (solid->volume_modes ? sizeof(double) : sizeof(float)), 0, -1};
            sources[i] = (modal_modes_source){.tiles = give_tiles, .nodes = give_nodes, .context = &given[i]};
            sources[i].at_nodes = solid->inner_modes ? MODAL_SOURCE_INNER : solid->volume_modes_float ? MODAL_SOURCE_FLOAT :
                                  solid->volume_modes ? MODAL_SOURCE_DOUBLE : MODAL_SOURCE_NONE;
            if (mesh) {
                modal_volume_mesh *m = &s->solid.mesh;
                sources[i].mesh_bytes = count_bytes;
                sources[i].mesh_rows = give_rows;
                m->nodes = m->element_fibres = NULL;
                m->node_tags = m->element_offsets = m->element_tags = NULL;
                m->element_nodes = m->element_material = NULL;
                m->element_type = NULL;
            }
            s->source = &sources[i];
            s->modes.modal_matrix = NULL;
            s->solid.inner_modes = s->solid.volume_modes_float = NULL;
            s->solid.volume_modes = NULL;
        }
        const char *path = sample_path("ranges.h5");
        OK(modal_basis_write(path, &a, err));
        assert_same_bytes(whole, path);
        assert_true(given[0].asked >= 2); /* for the hash, and for the file */
        const int64_t all = given[0].asked;
        for (int64_t at = 0; at < all; at++) {
            modal_error failure = {0};
            modal_basis b;
            given[0].asked = 0, given[0].refuse_at = at;
            assert_int_equal(modal_basis_write(path, &a, &failure), MODAL_ERROR_SYSTEM);
            assert_non_null(strstr(failure.message, "the range is lost"));
            assert_int_not_equal(modal_basis_read(path, MODAL_BASIS_ALL, &b, NULL), MODAL_OK);
        }
        for (int32_t i = 0; i < n; i++) a.shapes[i] = kept[i];
        free(kept), free(given), free(sources);
        modal_basis_free(&a);
        assert_no_ids();
    }
}

static void test_without_solid_and_large_text(void **state)
{
    (void)state;
    const char *path = sample_path("plain.h5");
    modal_basis a = sample_basis(0), b;
    for (int i = 0; i < 2; i++) {
        modal_shape *s = &a.shapes[i];
        modal_volume_mesh_free(&s->solid.mesh);
        modal_free(&s->solid.fixed_nodes);
        modal_free(&s->solid.fixed_components);
        modal_free(&s->solid.volume_modes);
        modal_free(&s->solid.volume_modes_float);
        modal_free(&s->solid.inner_modes);
        modal_free(&s->embedding.offsets);
        modal_free(&s->embedding.nodes);
        modal_free(&s->embedding.weights);
        s->solid.n_fixed_nodes = 0;
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
        bytes[i] = sample_bytes(sample_basis_file(i ? "twice.h5" : "once.h5", 1), &n[i]);
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
        if (i == 0) b.shapes[1].surface.rest_positions[4] = NAN;
        if (i == 1) modal_free(&b.shapes[0].surface.faces);
        if (i == 2) b.objects[1].shape = 2;
        if (i == 3) modal_free(&b.shapes[0].name);
        if (i == 4) b.shapes[0].surface.triangles[0] = b.shapes[0].surface.triangles[1];
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
        a.shapes[i].modes.participation[3 * a.shapes[i].modes.n_modes - 1] = NAN;
        snprintf(where, sizeof where, "large.h5: /shapes/%04d/modes/participation: ", i);
        assert_int_equal(modal_basis_write(path, &a, &err), MODAL_ERROR_INPUT);
        if (!strstr(err.message, where)) fail_msg("%s, not %s", err.message, where);
    }
    modal_basis_free(&a);
    assert_no_ids();
}

/* Arrays of the other order of bytes read the same, and have the same content hash. */
static void test_big_endian(void **state)
{
    (void)state;
    static const char *const paths[] = {S0 "/surface/rest_positions", S0 "/surface/triangles", S0 "/tables/face_offsets",
                                        S0 "/tables/boundary",        S0 "/modes/modal_matrix", S0 "/modes/eigenvalues",
                                        S0 "/volume/node_tags",       S0 "/volume/element_types", "/objects/rest_pose"};
    modal_basis a, b;
    modal_findings findings = {0};
    const char *path = sample_basis_file("big-endian.h5", 1);
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

/* The sample's first matrix as [V, 3, r], as another writer may have it. */
static void make_plain(const char *path, const modal_shape *s, int chunked)
{
    const int64_t n = s->surface.n_vertices, r = s->modes.n_modes;
    float *rows = malloc((size_t)(3 * n * r) * sizeof *rows);
    for (int64_t v = 0; v < n; v++)
        for (int64_t i = 0; i < 3; i++)
            for (int64_t k = 0; k < r; k++)
                rows[(3 * v + i) * r + k] =
                    s->modes.modal_matrix[((v / MODAL_TILE * r + k) * 3 + i) * MODAL_TILE + v % MODAL_TILE];
    const hsize_t dims[3] = {(hsize_t)n, 3, (hsize_t)r}, chunk[3] = {5, 3, (hsize_t)r};
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), space = H5Screate_simple(3, dims, NULL);
    hid_t type = H5Tcopy(H5T_C_S1), scalar = H5Screate(H5S_SCALAR), creation = H5Pcreate(H5P_DATASET_CREATE);
    if (chunked) assert_true(H5Pset_chunk(creation, 3, chunk) >= 0);
    assert_true(H5Tset_size(type, 12) >= 0 && H5Ldelete(file, S0 "/modes/modal_matrix", H5P_DEFAULT) >= 0);
    hid_t matrix = H5Dcreate2(file, S0 "/modes/modal_matrix", H5T_IEEE_F32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    assert_true(H5Dwrite(matrix, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0);
    hid_t layout = H5Acreate2(matrix, "layout", type, scalar, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(layout, type, "vertex_major") >= 0);
    H5Aclose(layout), H5Dclose(matrix), H5Pclose(creation), H5Sclose(scalar), H5Tclose(type), H5Sclose(space);
    assert_true(H5Fclose(file) >= 0);
    free(rows);
}

static void test_plain_matrix(void **state)
{
    (void)state;
    for (int chunked = 0; chunked < 2; chunked++) {
        const char *path = sample_basis_file("rows.h5", 1);
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
        assert_null(c.shapes[0].modes.modal_matrix);
        OK(modal_basis_tiles_open(&tiles, path, &c, NULL, err));
        for (int begin = 0; begin < 2; begin++)
            for (int end = begin; end <= 2; end++) {
                const size_t size = (size_t)a.shapes[0].modes.n_modes * 3 * MODAL_TILE;
                float *to = malloc((size_t)(end - begin) * size * sizeof *to + 1);
                OK(modal_basis_tiles_read(tiles, 0, begin, end, to, err));
                assert_memory_equal(to, a.shapes[0].modes.modal_matrix + (size_t)begin * size,
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
    s->modes.n_modes = 0;
    s->modes.kind = MODAL_KIND_MODES;
    modal_reduced_forces_free(&s->modes.reduced_forces);
    OK(modal_basis_hash(&a, err));
    OK(modal_basis_write(path, &a, err));
    OK(modal_basis_check(path, &findings, err));
    if (findings.n) fail_msg("%s", findings.texts[0]);
    OK(modal_basis_read(path, MODAL_BASIS_ALL, &b, err));
    assert_int_equal(b.shapes[0].modes.n_modes, 0);
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
    const char *path = sample_basis_file("later.h5", 1);
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

static void test_unknown_things_are_ignored(void **state)
{
    (void)state;
    const char *path = sample_basis_file("more.h5", 0);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(H5Gclose(H5Gcreate2(file, "/shapes/0000/textures", H5P_DEFAULT, H5P_DEFAULT,
                                    H5P_DEFAULT)) >= 0);
    assert_true(H5Gclose(H5Gcreate2(file, "/later", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)) >= 0);
    assert_true(H5Fclose(file) >= 0);
    const damage_case minor = {SET_TEXT, "@modal_format_version", 0, 0, "1.7", "", 0};
    sample_damage(path, &minor);
    modal_basis a = sample_basis(0), b;
    OK(modal_basis_read(path, MODAL_BASIS_ALL, &b, err));
    assert_bases_equal(&a, &b, MODAL_BASIS_ALL);
    modal_basis_free(&a);
    modal_basis_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_energy),
        cmocka_unit_test(test_modes_in_ranges),
        cmocka_unit_test(test_without_solid_and_large_text),
        cmocka_unit_test(test_same_bytes_twice),
        cmocka_unit_test(test_writer_refuses),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_big_endian),
        cmocka_unit_test(test_plain_matrix),
        cmocka_unit_test(test_no_modes),
        cmocka_unit_test(test_unknown_array_is_hashed),
        cmocka_unit_test(test_unknown_things_are_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
