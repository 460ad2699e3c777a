/* SPDX-License-Identifier: Apache-2.0 */
/* The collection in tests/files: bad files give exactly the message below; good ones survive being
 * cut off anywhere and running out of memory anywhere. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/meshes/bou.h"
#include "formats/meshes/mesh_parse.h"
#include "formats/meshes/mesh_read.h"
#include "formats/meshes/msh_write.h"
#include "formats/meshes/obj.h"
#include "formats/meshes/text_reader.h"
#include "lib/base/memory.h"
#include "tests/unit/counted_blocks.h"
#include "tests/unit/readers_compare.h"
#include "tests/unit/test_mesh_helpers.h"

#define FOLDER MODAL_SOURCE_DIR "/tests/files"

/* What comes after the file's name in the message. */
static const struct bad_file {
    const char *name, *message;
} bad_files[] = {
    {"bad-22-count-negative.msh", ":11: number of nodes out of range, -5"},
    {"bad-22-count-overflow.msh", ":11: number of nodes out of range, 99999999999999999999"},
    {"bad-22-count.msh", ":11: 1000000000000 nodes cannot be in the 174 bytes left of the file"},
    {"bad-22-duplicate-element.msh", ":24: element 31: this number appears twice"},
    {"bad-22-duplicate-node.msh", ":14: node 3: this number appears twice"},
    {"bad-22-elements-first.msh", ":10: section $Elements in the wrong place"},
    {"bad-22-extra-coordinate.msh", ":14: node 700: end of the line expected, '0'"},
    {"bad-22-hexadecimal.msh", ":14: node 700: y coordinate is not a number, '0x1'"},
    {"bad-22-infinite.msh", ":14: node 700: NaN or infinite y coordinate, '1e999'"},
    {"bad-22-missing-coordinate.msh", ":14: node 700: z coordinate missing"},
    {"bad-22-name-open.msh", ":8: name of a physical group has no closing quote"},
    {"bad-22-name-quotes.msh", ":8: name of a physical group is not in quotes, 'body'"},
    {"bad-22-name-twice.msh", ":8: physical group 2 of dimension 2 has two names"},
    {"bad-22-nan.msh", ":14: node 700: NaN or infinite y coordinate, 'nan'"},
    {"bad-22-no-elements-section.msh", ":18: the file ends without $Elements"},
    {"bad-22-no-volumes.msh", ":22: no volume elements"},
    {"bad-22-node-zero.msh", ":14: node 0: node numbers begin at 1"},
    {"bad-22-number.msh", ":14: node 700: y coordinate is not a number, '1.0x'"},
    {"bad-22-open-section.msh", ":11: the file ends within $NodeData"},
    {"bad-22-repeated-node.msh", ":24: element 7: repeated node, 3"},
    {"bad-22-same-name.msh", ": two groups of dimension 2 have one name, 'fixed side'"},
    {"bad-22-second-nodes.msh", ":18: second section $Nodes"},
    {"bad-22-section-end.msh", ":17: $EndNodes expected, '$EndElements'"},
    {"bad-22-stray-end.msh", ":18: $EndNodes ends a section that is not open"},
    {"bad-22-stray-text.msh", ":18: name of a section expected, 'hello'"},
    {"bad-22-too-few-nodes.msh", ":17: node number is not a whole number, '$EndNodes'"},
    {"bad-22-too-many-nodes.msh", ":16: $EndNodes expected, '5'"},
    {"bad-22-truncated.msh", ":22: element 30: unknown node, 7"},
    {"bad-22-unknown-node.msh", ":24: element 7: unknown node, 42"},
    {"bad-41-block-count.msh", ":19: more nodes in the blocks than the 5 announced"},
    {"bad-41-dimension.msh", ":37: 3-node triangle in an entity of dimension 3"},
    {"bad-41-element-count.msh",
     ":32: 1000000000000 elements cannot be in the 105 bytes left of the file"},
    {"bad-41-element-excess.msh", ":41: element 7: more elements than the 4 announced"},
    {"bad-41-element-total.msh", ":42: 6 elements announced, the blocks hold 5"},
    {"bad-41-entity-count.msh",
     ":11: 900000000000 surfaces cannot be in the 299 bytes left of the file"},
    {"bad-41-entity-twice.msh", ":13: entity 6 of dimension 0 appears twice"},
    {"bad-41-entity.msh", ":39: entity 2 of dimension 3 is not in $Entities"},
    {"bad-41-node-total.msh", ":30: 6 nodes announced, the blocks hold 5"},
    {"bad-41-parametric.msh", ":19: parametric is not 0 or 1, 2"},
    {"bad-attributes.veg", ":4: number of attributes out of range, 1"},
    {"bad-binary-byte-order.msh", ": byte 20: byte order mark is not 1, 2"},
    {"bad-binary-count.msh",
     ": byte 55: 1000000000000 nodes cannot be in the 495 bytes left of the file"},
    {"bad-binary-huge-count.msh", ": byte 55: number of nodes out of range, 18446744073709551615"},
    {"bad-binary-nan.msh", ": byte 195: node 700: NaN or infinite y coordinate"},
    {"bad-binary-truncated.msh",
     ": byte 420: element 30: the file ends, number of a node expected"},
    {"bad-binary-unknown-node.msh", ": byte 248: element 12: unknown node, 99"},
    {"bad-blank.msh", ":3: nothing but blanks"},
    {"bad-corner-mixed.obj", ":7: corners of one face are not alike"},
    {"bad-corner-parts.obj", ":7: corner is not v, v/vt, v//vn or v/vt/vn, '1/1/1/1'"},
    {"bad-corner-real.obj", ":7: vertex number is not a whole number, '1.5'"},
    {"bad-corner.obj", ":7: corner is not v, v/vt, v//vn or v/vt/vn, '/1'"},
    {"bad-count.veg", ":4: 1000000000000 vertices cannot be in the 238 bytes left of the file"},
    {"bad-cubic-width.veg", ":13: number of vertices of an element out of range, 4"},
    {"bad-cut-line.veg", ":15: element 2: the file ends within a line"},
    {"bad-density.veg", ":18: density is not positive, 0"},
    {"bad-dimension.veg", ":4: number of coordinates out of range, 2"},
    {"bad-elements-first.veg", ":1: section *ELEMENTS in the wrong place"},
    {"bad-empty-number.msh", ":13: node 3: y coordinate is not a number, '+'"},
    {"bad-empty.msh", ": empty file"},
    {"bad-first.veg", ":5: first vertex number is not 0 or 1, 2"},
    {"bad-include.veg", ":17: name of the file missing"},
    {"bad-index-negative.obj", ":7: vertex number out of range, -4"},
    {"bad-index-zero.obj", ":7: vertex number out of range, 0"},
    {"bad-index.obj", ":7: vertex number out of range, 4 of 3"},
    {"bad-keyword.obj", ":7: unknown keyword, 'hello'"},
    {"bad-long-vertex.obj", ":1: vertex of 5 numbers, 3, 4, 6 or 7 expected"},
    {"bad-material-twice.veg", ":20: second material soft"},
    {"bad-name-control.veg", ":23: control character in the name of the set, '?far'"},
    {"bad-nan.obj", ":1: NaN or infinite z coordinate, 'inf'"},
    {"bad-nan.veg", ":8: vertex 4: NaN or infinite z coordinate, '-NaN'"},
    {"bad-negative.bou", ":1: node number out of range, -2"},
    {"bad-no-elements.veg", ":11: the file ends without *ELEMENTS"},
    {"bad-no-faces.obj", ":2: no faces"},
    {"bad-no-format.msh", ":1: $MeshFormat expected, '$PhysicalNames'"},
    {"bad-no-region.veg", ":32: element 1: in no *REGION"},
    {"bad-number.bou", ":2: node number is not a whole number, '4x'"},
    {"bad-number.veg", ":8: vertex 4: end of the line expected, '5'"},
    {"bad-order.veg", ":8: vertex number 4 expected, 6"},
    {"bad-overflow.bou", ":1: node number out of range, 9223372036854775808"},
    {"bad-poisson.veg", ":18: Poisson's ratio is not between -1 and 0.5, 0.5"},
    {"bad-real.bou", ":1: node number is not a whole number, '1.5'"},
    {"bad-region-material.veg", ":33: unknown material wood"},
    {"bad-region-set.veg", ":33: unknown set near"},
    {"bad-repeated-vertex.veg", ":15: element 2: repeated vertex, 3"},
    {"bad-repeated.obj", ":8: repeated vertex in a face, 1"},
    {"bad-section.veg", ":30: unknown section, '*REGIONS'"},
    {"bad-set-twice.veg", ":26: second set far"},
    {"bad-set.veg", ":24: unknown element, 3"},
    {"bad-short-vertex.obj", ":1: z coordinate missing"},
    {"bad-stray-text.veg", ":17: name of a section expected, 'soft'"},
    {"bad-too-few.veg", ":11: vertex number is not a whole number, '*ELEMENTS'"},
    {"bad-too-many.veg", ":9: name of a section expected, '5'"},
    {"bad-two-commas.bou", ":1: node number is not a whole number, ''"},
    {"bad-two-corners.obj", ":7: face of 2 corners"},
    {"bad-unknown-vertex.veg", ":15: element 2: unknown vertex, 6"},
    {"bad-uv.obj", ":1: u is not a number, 'a'"},
    {"bad-young.veg", ":18: Young's modulus is not positive, -1e+06"},
    {"unsupported-big-endian.msh",
     ": byte 20: big-endian binary file, only little-endian is supported"},
    {"unsupported-data-size.msh", ":2: data size 4 is not supported, only 8"},
    {"unsupported-free-form.obj", ":7: unsupported keyword, 'cstype'"},
    {"unsupported-hexahedron.msh",
     ":40: element 12: 27-node hexahedron (type 12) is not supported, only tetrahedra of 4 and 10 "
     "nodes, hexahedra of 8 and 20, 6-node prisms and 5-node pyramids"},
    {"unsupported-parametric-22.msh", ":10: section $ParametricNodes is not supported"},
    {"bad-partitioned.msh", ":11: end of the line expected, '1'"},
    {"unsupported-prism.msh",
     ":24: element 7: 15-node prism (type 18) is not supported, only tetrahedra of 4 and 10 nodes, "
     "hexahedra of 8 and 20, 6-node prisms and 5-node pyramids"},
    {"unsupported-type.msh", ":24: element 7: element type 999 is not supported"},
    {"unsupported-version.msh", ":2: Gmsh format version 10.5 is not supported, only 1.0, 2.0 to 2.2, 4.0 and 4.1"},
};
enum { N_BAD_FILES = sizeof bad_files / sizeof *bad_files };

/* What a reader made of a file of any of the formats. */
typedef struct contents {
    modal_volume_mesh mesh;
    modal_surface_mesh surface;
    int64_t *numbers, count;
} contents;

static void free_contents(contents *c)
{
    modal_volume_mesh_free(&c->mesh);
    modal_surface_mesh_free(&c->surface);
    modal_free(&c->numbers);
    c->count = 0;
}

static int has_extension(const char *name, const char *extension)
{
    const char *dot = strrchr(name, '.');
    return dot && strcmp(dot, extension) == 0;
}

static int is_of_readers(const char *name)
{
    return has_extension(name, ".msh") || has_extension(name, ".veg") ||
           has_extension(name, ".bou") || has_extension(name, ".obj");
}

static modal_status read_any(const char *path, contents *c, modal_error *err)
{
    memset(c, 0, sizeof *c);
    *err = (modal_error){0};
    if (has_extension(path, ".bou")) return modal_bou_read(path, &c->numbers, &c->count, err);
    if (has_extension(path, ".obj")) return modal_obj_read(path, &c->surface, err);
    return modal_mesh_read(path, &c->mesh, err);
}

static modal_status parse_any(const char *path, const char *data, int64_t length, contents *c)
{
    modal_error err = {0};
    modal_status status;
    memset(c, 0, sizeof *c);
    if (has_extension(path, ".bou"))
        status = modal_bou_parse(data, length, path, &c->numbers, &c->count, &err);
    else if (has_extension(path, ".obj"))
        status = modal_obj_parse(data, length, path, &c->surface, NULL, &err);
    else
        status = modal_mesh_parse(data, length, path, &c->mesh, &err);
    /* No other error than that of the file may come from its being cut. */
    assert_true(status == MODAL_OK || status == MODAL_ERROR_INPUT);
    assert_int_equal(err.status, status);
    return status;
}

static int is_empty(const contents *c)
{
    return mesh_is_zeroed(&c->mesh) && !c->surface.positions && !c->surface.uv &&
           !c->surface.triangles && !c->surface.triangle_uv && !c->numbers && c->count == 0;
}

static int is_sound(const char *path, const contents *c)
{
    if (has_extension(path, ".bou")) return c->count > 0 && c->numbers;
    return has_extension(path, ".obj") ? surface_is_sound(&c->surface) : mesh_is_sound(&c->mesh);
}

static void test_bad_files(void **state)
{
    (void)state;
    for (int i = 0; i < N_BAD_FILES; i++) {
        char path[512], expected[1024];
        contents c;
        modal_error err;
        snprintf(path, sizeof path, "%s/%s", FOLDER, bad_files[i].name);
        snprintf(expected, sizeof expected, "%s%s", path, bad_files[i].message);
        assert_int_equal(read_any(path, &c, &err), MODAL_ERROR_INPUT);
        assert_string_equal(err.message, expected);
        assert_true(is_empty(&c));
    }
}

/* Calls `visit` for the files of the readers whose name begins so; returns their number. */
static int for_each_file(const char *prefix, void (*visit)(const char *name, const char *path))
{
    int n = 0;
    DIR *folder = opendir(FOLDER);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[512];
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 || !is_of_readers(entry->d_name))
            continue;
        snprintf(path, sizeof path, "%s/%s", FOLDER, entry->d_name);
        visit(entry->d_name, path);
        n++;
    }
    closedir(folder);
    return n;
}

static void find_in_table(const char *name, const char *path)
{
    (void)path;
    for (int i = 0; i < N_BAD_FILES; i++)
        if (strcmp(bad_files[i].name, name) == 0) return;
    fail_msg("%s is not in the table of bad files", name);
}

static void test_every_bad_file_is_in_the_table(void **state)
{
    (void)state;
    assert_int_equal(for_each_file("bad-", find_in_table) +
                         for_each_file("unsupported-", find_in_table),
                     N_BAD_FILES);
}

/* The numbers of a cut list are those of the whole one but for the last, which may be cut. */
static int is_part_of_list(const contents *part, const contents *whole)
{
    int64_t strangers = 0;
    for (int64_t i = 0; i < part->count; i++) {
        int found = 0;
        for (int64_t j = 0; j < whole->count; j++) found |= part->numbers[i] == whole->numbers[j];
        strangers += !found;
    }
    return strangers <= 1;
}

/* Likewise all vertices but the last and all faces but the last (of two triangles at most here). */
static int is_part_of_surface(const modal_surface_mesh *part, const modal_surface_mesh *whole)
{
    int64_t kept = part->n_triangles > 2 ? part->n_triangles - 2 : 0;
    return surface_is_sound(part) && part->n_vertices <= whole->n_vertices &&
           part->n_triangles <= whole->n_triangles &&
           ARRAYS_ARE_EQUAL(part->positions, whole->positions, 3 * (part->n_vertices - 1)) &&
           ARRAYS_ARE_EQUAL(part->triangles, whole->triangles, 3 * kept);
}

static int cut_is_harmless(const char *path, const contents *part, const contents *whole)
{
    if (has_extension(path, ".bou")) return is_part_of_list(part, whole);
    if (has_extension(path, ".obj")) return is_part_of_surface(&part->surface, &whole->surface);
    /* Gmsh's files say where they end: nothing may be lost. */
    if (has_extension(path, ".msh")) return meshes_are_equal(&part->mesh, &whole->mesh);
    /* VegaFEM's do not: whole sections after *ELEMENTS may be lost unnoticed, numbers may not, and
     * as soon as there is a material every element has one. */
    return mesh_is_sound(&part->mesh) && nodes_and_elements_are_equal(&part->mesh, &whole->mesh) &&
           ((part->mesh.n_materials == 0 && part->mesh.n_groups == 0) ||
            groups_are_equal(&part->mesh, &whole->mesh));
}

static void cut_everywhere(const char *name, const char *path)
{
    contents whole, part;
    modal_error err;
    char *data;
    int64_t length, refused = 0;
    if (read_any(path, &whole, &err) != MODAL_OK) fail_msg("%s", err.message);
    assert_true(is_sound(path, &whole));
    assert_int_equal(modal_file_load(path, &data, &length, NULL), MODAL_OK);
    for (int64_t cut = 0; cut < length; cut++) {
        /* Memory of exactly this size, so that a sanitizer sees a read beyond it. */
        char *copy = malloc(cut > 0 ? (size_t)cut : 1);
        assert_non_null(copy);
        memcpy(copy, data, (size_t)cut);
        modal_status status = parse_any(path, copy, cut, &part);
        if (status == MODAL_OK ? !cut_is_harmless(path, &part, &whole) : !is_empty(&part))
            fail_msg("%s, cut to %lld bytes: status %d", name, (long long)cut, status);
        refused += status != MODAL_OK;
        free_contents(&part);
        free(copy);
    }
    /* The empty file at the least, which is an empty list; all but a few blanks and sections where the end is marked. */
    assert_true(refused >= !has_extension(path, ".bou"));
    if (has_extension(path, ".msh")) assert_true(refused > length / 2);
    modal_free(&data);
    free_contents(&whole);
}

static void test_truncated_files(void **state)
{
    (void)state;
    assert_true(for_each_file("good-", cut_everywhere) >= 14);
    cut_everywhere("good.veg", FOLDER "/good.veg");
    cut_everywhere("good.obj", FOLDER "/good.obj");
    cut_everywhere("good.bou", FOLDER "/good.bou");
}

static void fail_every_allocation(const char *name, const char *path)
{
    contents c;
    modal_error err;
    modal_status status = MODAL_ERROR_MEMORY;
    int n = 0;
    while (status != MODAL_OK) {
        int64_t before = blocks_in_use;
        modal_alloc_fail_at(++n);
        status = read_any(path, &c, &err);
        int fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        if (status == MODAL_OK) {
            assert_false(fired);
            free_contents(&c);
        } else {
            assert_true(fired);
            assert_int_equal(status, MODAL_ERROR_MEMORY);
            assert_int_equal(err.status, MODAL_ERROR_MEMORY);
            assert_true(strncmp(err.message, path, strlen(path)) == 0);
            assert_true(is_empty(&c));
        }
        if (blocks_in_use != before) fail_msg("%s: allocation %d leaks", name, n);
    }
    assert_true(n > 2);
}

static void test_failing_allocations(void **state)
{
    (void)state;
    contents c;
    modal_error err;
    /* That the count counts. */
    int64_t before = blocks_in_use;
    assert_int_equal(read_any(FOLDER "/good.obj", &c, &err), MODAL_OK);
    assert_true(blocks_in_use > before);
    free_contents(&c);
    assert_true(blocks_in_use == before);
    assert_true(for_each_file("good-", fail_every_allocation) >= 14);
    fail_every_allocation("good.veg", FOLDER "/good.veg");
    fail_every_allocation("good.obj", FOLDER "/good.obj");
    fail_every_allocation("good.bou", FOLDER "/good.bou");
}

static void assert_same_mesh(const modal_volume_mesh *a, const modal_volume_mesh *b)
{
    assert_int_equal(a->n_nodes, b->n_nodes);
    assert_int_equal(a->n_elements, b->n_elements);
    assert_memory_equal(a->nodes, b->nodes, 24 * (size_t)a->n_nodes);
    assert_memory_equal(a->node_tags, b->node_tags, 8 * (size_t)a->n_nodes);
    assert_memory_equal(a->element_type, b->element_type, (size_t)a->n_elements);
    assert_memory_equal(a->element_nodes, b->element_nodes, 4 * (size_t)a->element_offsets[a->n_elements]);
    assert_memory_equal(a->element_tags, b->element_tags, 8 * (size_t)a->n_elements);
}

/* A file of which memory is let go while it is read gives the same mesh, text and binary, and so does an error at its end. */
static void test_passing_text(void **state)
{
    (void)state;
    char path[] = "/tmp/passing-XXXXXX";
    modal_volume_mesh block, whole, passed;
    modal_error err = {0};
    close(mkstemp(path));
    make_block(&block, 36, 0.2);
    for (int binary = 0; binary < 2; binary++) {
        char *data = NULL;
        int64_t length = 0, forgotten = 0;
        assert_int_equal(modal_msh_write(path, &block, binary, &err), MODAL_OK);
        assert_int_equal(modal_file_load(path, &data, &length, &err), MODAL_OK);
        assert_true(length > INT64_C(10) << 20);
        if (modal_mesh_parse(data, length, path, &whole, &err) != MODAL_OK) fail_msg("%s", err.message);
        assert_same_mesh(&whole, &block);
        if (modal_msh_parse_passing(data, length, path, &passed, &err) != MODAL_OK) fail_msg("%s", err.message);
        assert_same_mesh(&passed, &block);
        modal_volume_mesh_free(&passed);
        for (int64_t i = 8192; i < INT64_C(4) << 20; i++) forgotten += data[i] == 0;
        assert_true(binary || forgotten > INT64_C(3) << 20);
        modal_free(&data);
        if (modal_mesh_read(path, &passed, &err) != MODAL_OK) fail_msg("%s", err.message);
        assert_same_mesh(&passed, &whole);
        modal_volume_mesh_free(&passed);
        modal_volume_mesh_free(&whole);
        assert_int_equal(truncate(path, length - 40), 0);
        modal_error other = {0};
        assert_int_equal(modal_file_load(path, &data, &length, &err), MODAL_OK);
        assert_int_equal(modal_mesh_parse(data, length, path, &whole, &other), MODAL_ERROR_INPUT);
        modal_free(&data);
        assert_int_equal(modal_mesh_read(path, &passed, &err), MODAL_ERROR_INPUT);
        assert_string_equal(err.message, other.message); /* with its line */
        err = (modal_error){0};
    }
    modal_volume_mesh_free(&block);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_every_bad_file_is_in_the_table),
        cmocka_unit_test(test_truncated_files),
        cmocka_unit_test(test_failing_allocations),
        cmocka_unit_test(test_passing_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
