/* SPDX-License-Identifier: Apache-2.0 */
/* Volume files as other programs write them: old versions of .msh, decks in several files, what is left out and told. */
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

#include "formats/meshes/mesh_parse.h"
#include "formats/meshes/mesh_read.h"
#include "formats/meshes/text_reader.h"
#include "lib/base/memory.h"
#include "tests/unit/readers_compare.h"

static modal_volume_mesh parse(const char *text, const char *name)
{
    modal_volume_mesh mesh;
    modal_error err = {0};
    if (modal_mesh_parse(text, (int64_t)strlen(text), name, &mesh, &err) != MODAL_OK) fail_msg("%s", err.message);
    assert_true(mesh_is_sound(&mesh));
    return mesh;
}

static void refuse(const char *text, const char *name, const char *message)
{
    modal_volume_mesh mesh;
    modal_error err = {0};
    assert_int_equal(modal_mesh_parse(text, (int64_t)strlen(text), name, &mesh, &err), MODAL_ERROR_INPUT);
    assert_string_equal(err.message, message);
    assert_null(mesh.nodes);
}

static int has_note(const modal_notes *notes, const char *text)
{
    for (int32_t i = 0; i < notes->n; i++)
        if (strcmp(notes->texts[i], text) == 0) return 1;
    for (int32_t i = 0; i < notes->n; i++) print_message("%s\n", notes->texts[i]);
    return 0;
}

static const modal_group *find_group(const modal_volume_mesh *mesh, const char *name, int dimension)
{
    for (int32_t i = 0; i < mesh->n_groups; i++)
        if (strcmp(mesh->groups[i].name, name) == 0 && mesh->groups[i].dimension == dimension) return &mesh->groups[i];
    fail_msg("no group %s", name);
    return NULL;
}

/* ---- .msh ---- */

#define NODES_1 "5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n"

/* Two tetrahedra (groups 7 and 8), a triangle (group 9), whatever the version. */
static void check_two_tetrahedra(const char *text, const char *triangle, const char *left)
{
    static const int32_t nodes[8] = {0, 1, 2, 3, 1, 2, 3, 4};
    modal_volume_mesh mesh = parse(text, "a.msh");
    assert_int_equal(mesh.n_nodes, 5);
    assert_int_equal(mesh.n_elements, 2);
    assert_memory_equal(mesh.element_nodes, nodes, sizeof nodes);
    for (int k = 0; k < 3; k++) assert_true(mesh.nodes[12 + k] == 1);
    const modal_group *group = find_group(&mesh, triangle, 2);
    assert_int_equal(group->n_nodes, 3);
    assert_int_equal(group->nodes[2], 2);
    group = find_group(&mesh, left, 3);
    assert_int_equal(group->n_elements, 1);
    assert_int_equal(group->elements[0], 0);
    find_group(&mesh, "8", 3);
    modal_volume_mesh_free(&mesh);
}

static void test_msh_versions(void **state)
{
    (void)state;
    static const char elements[] = "3\n1 2 2 9 1 1 2 3\n2 4 2 7 1 1 2 3 4\n3 4 2 8 1 2 3 4 5\n$EndElements\n";
    char text[2000];
    check_two_tetrahedra("$NOD\n" NODES_1 "$ENDNOD\n$ELM\n3\n1 2 9 1 3 1 2 3\n2 4 7 1 4 1 2 3 4\n3 4 8 1 4 2 3 4 5\n$ENDELM\n", "9", "7");
    static const char *const versions[] = {"2", "2.0", "2.1"};
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "$MeshFormat\n%s 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n9 \"a face\"\n7 \"left\"\n$EndPhysicalNames\n"
                 "$Nodes\n" NODES_1 "$EndNodes\n$Elements\n%s", versions[i], elements);
        check_two_tetrahedra(text, "a face", "left");
    }
    /* 4.0: boxes of points have six numbers, blocks the number in front, nodes their coordinates behind them. */
    check_two_tetrahedra("$MeshFormat\n4 0 8\n$EndMeshFormat\n$Entities\n1 0 1 2\n1 0 0 0 0 0 0 0\n"
                         "4 0 0 0 1 1 0 1 9 0\n5 0 0 0 1 1 1 1 7 1 4\n6 0 0 0 1 1 1 2 8 0 1 -4\n$EndEntities\n"
                         "$Nodes\n2 5\n4 2 0 3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n5 3 1 2\n4 0 0 1 .1 .2 .3\n5 1 1 1 .1 .2 .3\n$EndNodes\n"
                         "$Elements\n3 3\n4 2 2 1\n1 1 2 3\n5 3 4 1\n2 1 2 3 4\n6 3 4 1\n3 2 3 4 5\n$EndElements\n", "9", "7");
    refuse("$NOD\n" NODES_1 "$ENDNOD\n$ELM\n1\n2 4 7 1 3 1 2 3\n$ENDELM\n", "a.msh", "a.msh:11: element 2: a 4-node tetrahedron of 3 nodes");
    refuse("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$NOD\n" NODES_1 "$ENDNOD\n", "a.msh", "a.msh:4: section $NOD in the wrong place");
    refuse("$NOD\n" NODES_1 "$ENDNOD\n$Elements\n", "a.msh", "a.msh:9: section $Elements in the wrong place");
    refuse("$NOD\n" NODES_1 "$ENDNOD\n", "a.msh", "a.msh:9: the file ends without $Elements");
    modal_volume_mesh mesh = parse("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n" NODES_1 "$EndNodes\n$Elements\n3\n1 2 2 9 1 1 2 2\n"
                                   "2 4 2 7 1 1 2 3 4\n3 1 2 9 1 3 3\n$EndElements\n", "a.msh");
    assert_true(mesh.n_elements == 1 && has_note(&mesh.notes, "faces, edges and points that name a node twice are left out, 2"));
    modal_volume_mesh_free(&mesh);
}

/* Partitioned entities come with those of $Entities, and have their own physical groups. */
static void test_msh_partitions(void **state)
{
    (void)state;
#define PARTS "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 1\n3 0 0 0 1 1 1 1 5 0\n$EndEntities\n" \
              "$PartitionedEntities\n2\n1\n9 2\n0 0 0 2\n1 3 1 1 1 0 0 0 1 1 1 1 7 0\n2 3 1 2 1 2 0 0 0 1 1 1 1 8 0\n" \
              "$EndPartitionedEntities\n"
#define PART_NODES "$Nodes\n2 5 1 5\n3 1 0 3\n1\n2\n3\n0 0 0\n1 0 0\n0 1 0\n3 2 0 2\n4\n5\n0 0 1\n1 1 1\n$EndNodes\n"
    modal_volume_mesh mesh = parse(PARTS PART_NODES "$GhostElements\n1\n1 1 1 2\n$EndGhostElements\n"
                                   "$Elements\n2 2 1 2\n3 1 4 1\n1 1 2 3 4\n3 2 4 1\n2 2 3 4 5\n$EndElements\n", "a.msh");
    assert_true(mesh.n_nodes == 5 && mesh.n_elements == 2 && mesh.n_groups == 2);
    assert_int_equal(find_group(&mesh, "7", 3)->elements[0], 0);
    assert_int_equal(find_group(&mesh, "8", 3)->elements[0], 1);
    modal_volume_mesh_free(&mesh);
    /* the second element is the other partition's: the ghost entity 9 has it, and an empty block without a type */
    mesh = parse(PARTS PART_NODES "$Elements\n3 2 1 2\n3 1 4 1\n1 1 2 3 4\n3 9 0 0\n3 9 4 1\n2 2 3 4 5\n$EndElements\n", "a.msh");
    assert_true(mesh.n_elements == 1 && mesh.n_groups == 1 && has_note(&mesh.notes, "elements of other partitions (ghosts) are left out, 1"));
    modal_volume_mesh_free(&mesh);
    refuse(PARTS PART_NODES "$Elements\n1 1 1 1\n3 9 4 1\n1 1 2 3 7\n$EndElements\n", "a.msh", "a.msh:34: element 1: unknown node, 7");
    refuse(PARTS PART_NODES "$Elements\n1 1 1 1\n3 8 4 1\n1 1 2 3 4\n$EndElements\n", "a.msh",
           "a.msh:33: entity 8 of dimension 3 is not in $Entities");
    refuse("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PartitionedEntities\n2\n9000000000000\n1 1\n", "a.msh",
           "a.msh:7: 9000000000000 ghost entities cannot be in the 4 bytes left of the file");
    refuse(PARTS PARTS, "a.msh", "a.msh:16: second section $MeshFormat");
    refuse("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PartitionedEntities\n2\n0\n0 0 0 1\n1 3 1 9 1\n", "a.msh",
           "a.msh:7: 1 volumes cannot be in the 11 bytes left of the file");
}

/* ---- .mesh, .veg, .bou ---- */

static void test_medit_and_vega(void **state)
{
    (void)state;
    modal_volume_mesh mesh = parse("MeshVersionFormatted 1\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\nTetrahedra\n1\n"
                                   "1 2 3 4 1\n", "a.mesh");
    assert_true(has_note(&mesh.notes, "the file has no End: sections may be missing"));
    modal_volume_mesh_free(&mesh);
    mesh = parse("*VERTICES\n4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n*ELEMENTS\nTET\n1 4 0\n1 1 2 3 4\n*MATERIAL soft\n"
                 "MOONEYRIVLIN, 1000, 1, 2, 3\n*REGION\nallElements, soft\n", "a.veg");
    assert_true(mesh.n_materials == 0 && mesh.element_material[0] == -1);
    assert_true(has_note(&mesh.not_taken[MODAL_UNSUPPORTED_MATERIAL], "material \"soft\" is of type MOONEYRIVLIN, not ENU (line 12)"));
    modal_volume_mesh_free(&mesh);
    int64_t *numbers, count = -1;
    assert_int_equal(modal_bou_parse("# none\n", 7, "a.bou", &numbers, &count, NULL), MODAL_OK);
    assert_true(count == 0 && numbers);
    modal_free(&numbers);
}

/* Turns a binary .mesh over, number by number: heads of sections, then records of so many numbers and a reference. */
static void turn_over(char *bytes, int64_t size, int64_t *at)
{
    for (int64_t i = 0; i < size / 2; i++) {
        const char swap = bytes[*at + i];
        bytes[*at + i] = bytes[*at + size - 1 - i];
        bytes[*at + size - 1 - i] = swap;
    }
    *at += size;
}

static void test_medit_big_endian(void **state)
{
    (void)state;
    for (int version = 1; version <= 4; version++) {
        char path[256], *data;
        int64_t length, at = 0;
        modal_volume_mesh little, big;
        modal_error err = {0};
        const int wide = version >= 4 ? 8 : 4, place = version >= 3 ? 8 : 4, real = version == 1 ? 4 : 8;
        snprintf(path, sizeof path, MODAL_SOURCE_DIR "/tests/files/good-mixed-%d.meshb", version);
        assert_int_equal(modal_file_load(path, &data, &length, &err), MODAL_OK);
        assert_int_equal(modal_mesh_parse(data, length, "a.meshb", &little, &err), MODAL_OK);
        turn_over(data, 4, &at);
        turn_over(data, 4, &at);
        while (at < length) {
            int32_t code;
            int64_t end = 0;
            memcpy(&code, data + at, 4);
            turn_over(data, 4, &at);
            if (code == 54) break; /* End, with what follows it */
            memcpy(&end, data + at, (size_t)place);
            turn_over(data, place, &at);
            turn_over(data, code == 3 ? 4 : wide, &at); /* the dimension, or the number of records */
            for (int k = 0; at < end; k++) turn_over(data, code == 4 && k % 4 < 3 ? real : wide, &at);
            assert_int_equal(at, end);
        }
        if (modal_mesh_parse(data, length, "a.meshb", &big, &err) != MODAL_OK) fail_msg("version %d: %s", version, err.message);
        assert_true(big.n_nodes == little.n_nodes && big.n_elements == little.n_elements && big.n_groups == little.n_groups);
        assert_memory_equal(big.nodes, little.nodes, (size_t)big.n_nodes * 24);
        assert_memory_equal(big.element_nodes, little.element_nodes, (size_t)big.element_offsets[big.n_elements] * 4);
        modal_volume_mesh_free(&little);
        modal_volume_mesh_free(&big);
        modal_free(&data);
    }
}

/* ---- .inp ---- */

#define DECK "*NODE, NSET=N\n1, 0, 0\n2, 1,, 0\n3, 0, 1, 0, 0, 0, 1\n4, 0, 0, 1\n"

static void test_inp_left_out(void **state)
{
    (void)state;
    modal_volume_mesh mesh = parse(">** a comment\n" DECK "*ELEMENT, TYPE=C3D4, ELSET=E, DLOAD=x\n1, 1, 2, 3, 4, 7, 8,\n"
                                   "*ELEMENT, TYPE=SPRINGA, ELSET=E\n5, 1, 2\n6, 2, 3\n*ELEMENT, TYPE=DCOUP3D, ELSET=D\n7, 1\n"
                                   "*ELEMENT, TYPE=S3, ELSET=S\n8, 1, 2, 3\n*SPRING, ELSET=E\n\n1.\n*TIE\na, b\n"
                                   "*NSET, NSET=F,\n1, 99\n*BOUNDARY\nF, 1, 3\n77, 1, 3\n1, 0\n1, 11\n", "a.inp");
    assert_true(mesh.n_nodes == 4 && mesh.n_elements == 1 && mesh.nodes[3] == 1 && mesh.nodes[4] == 0 && mesh.nodes[7] == 1);
    assert_int_equal(find_group(&mesh, "E", 3)->n_elements, 1);
    assert_int_equal(find_group(&mesh, "S", 2)->n_nodes, 3);
    assert_int_equal(find_group(&mesh, "F", 0)->n_nodes, 1);
    assert_int_equal(mesh.conditions[0].group.n_nodes, 1);
    assert_true(has_note(&mesh.notes, "elements that are no solids are left out, 3: 2 SPRINGA, 1 DCOUP3D"));
    assert_true(has_note(&mesh.notes, "elements with more nodes than their type has, 1: the first ones are taken"));
    assert_true(has_note(&mesh.notes, "sets and conditions name nodes that are not there, 2: left out, the first is 99"));
    assert_true(has_note(&mesh.not_taken[MODAL_UNSUPPORTED_ELEMENTS], "*SPRING (line 16)") &&
                has_note(&mesh.not_taken[MODAL_UNSUPPORTED_CONSTRAINTS], "*TIE (line 19)"));
    modal_volume_mesh_free(&mesh);
    refuse(DECK "*ELEMENT, TYPE=C3D15\n1, 1, 2, 3\n", "a.inp",
           "a.inp:6: *ELEMENT: type C3D15 is not supported, only solids of 4, 5, 6, 8, 10 and 20 nodes");
    mesh = parse("** x\n*HEADING\n" DECK "*ELEMENT, TYPE=C3D4\n1, 1, 2, 3, 4\n", "deck.msh"); /* told by its keywords */
    modal_volume_mesh_free(&mesh);
}

static void test_inp_materials(void **state)
{
    (void)state;
    static const char head[] = DECK "*ELEMENT, TYPE=C3D4, ELSET=E\n1, 1, 2, 3, 4\n";
    char text[2000];
    snprintf(text, sizeof text, "%s*MATERIAL, NAME=M\n*ELASTIC\n200., .3, 0.\n100., .2, 100.\n*DENSITY\n7., 0.\n5., 200.\n"
             "*SOLID SECTION, ELSET=E, MATERIAL=M\n*INITIAL CONDITIONS, TYPE=TEMPERATURE\nN, 50.\n", head);
    modal_volume_mesh mesh = parse(text, "a.inp");
    assert_int_equal(mesh.n_materials, 1);
    assert_true(fabs(mesh.materials[0].young - 150) < 1e-12 && fabs(mesh.materials[0].poisson - 0.25) < 1e-15 &&
                fabs(mesh.materials[0].density - 6.5) < 1e-14);
    assert_true(has_note(&mesh.notes, "material \"M\" varies with temperature: its values at 50, the initial one, are taken"));
    modal_volume_mesh_free(&mesh);
    /* Axes: x to (0, 1, 0), y in the plane of it and (-1, 0, 0), then 90 degrees round z: x is -x, y is -y. */
    snprintf(text, sizeof text, "%s*ORIENTATION, NAME=O\n0, 2, 0, -1, 0, 0\n3, 90.\n*MATERIAL, NAME=M\n*ELASTIC, TYPE=ENGINEERING CONSTANTS\n"
             "100., 50., 40., .3, .25, .2, 20., 15.,\n10., 20.\n*DENSITY\n7.\n*SOLID SECTION, ELSET=E, MATERIAL=M, ORIENTATION=O\n", head);
    mesh = parse(text, "a.inp");
    static const double constants[9] = {100, 50, 40, .3, .25, .2, 20, 15, 10}, axes[9] = {-1, 0, 0, 0, -1, 0, 0, 0, 1};
    assert_memory_equal(mesh.materials[0].orthotropic, constants, sizeof constants);
    for (int k = 0; k < 9; k++) assert_true(fabs(mesh.materials[0].axes[k] - axes[k]) < 1e-15);
    modal_volume_mesh_free(&mesh);
    /* The same as a stiffness: the inverse of [1/E1, -nu12/E1, ...], by its formulas (Jones 1999, equation 2.19). */
    const double *c = constants, n21 = c[3] * c[1] / c[0], n31 = c[4] * c[2] / c[0], n32 = c[5] * c[2] / c[1];
    const double d = 1 - c[3] * n21 - c[5] * n32 - n31 * c[4] - 2 * n21 * n32 * c[4];
    snprintf(text, sizeof text, "%s*MATERIAL, NAME=M\n*ELASTIC, TYPE=ORTHO\n%.17g, %.17g, %.17g, %.17g, %.17g, %.17g, 20., 15.,\n10.\n"
             "*DENSITY\n7.\n*SOLID SECTION, ELSET=E, MATERIAL=M\n", head, c[0] * (1 - c[5] * n32) / d, c[1] * (c[3] + n32 * c[4]) / d,
             c[1] * (1 - c[4] * n31) / d, c[2] * (c[4] + c[3] * c[5]) / d, c[2] * (c[5] + n21 * c[4]) / d, c[2] * (1 - c[3] * n21) / d);
    mesh = parse(text, "a.inp");
    for (int k = 0; k < 9; k++) assert_true(fabs(mesh.materials[0].orthotropic[k] - c[k]) < 1e-12 * fabs(c[k]));
    modal_volume_mesh_free(&mesh);
    /* Stated again with wider rows: the last one counts, and has memory of its own (seen by a sanitizer). */
    int length = snprintf(text, sizeof text, "%s*MATERIAL, NAME=M\n*ELASTIC\n1., .1\n*ELASTIC, TYPE=ENGINEERING CONSTANTS\n", head);
    for (int i = 0; i < 40; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "9.,9.,9.,.1,.1,.1,4.,4.,\n4.,%d.\n", i);
    snprintf(text + length, sizeof text - (size_t)length, "*DENSITY\n7.\n*SOLID SECTION, ELSET=E, MATERIAL=M\n");
    mesh = parse(text, "a.inp");
    assert_true(mesh.materials[0].kind == MODAL_MATERIAL_ORTHOTROPIC && mesh.materials[0].orthotropic[0] == 9);
    modal_volume_mesh_free(&mesh);
    snprintf(text, sizeof text, "%s*MATERIAL, NAME=M\n*ELASTIC, TYPE=ANISO\n1,\n*DENSITY\n7.\n*SOLID SECTION, ELSET=E, MATERIAL=M\n", head);
    mesh = parse(text, "a.inp");
    assert_true(mesh.n_materials == 0 &&
                has_note(&mesh.not_taken[MODAL_UNSUPPORTED_MATERIAL],
                         "material \"M\" has another type of *ELASTIC than ISO, ORTHO and ENGINEERING CONSTANTS (line 13)"));
    modal_volume_mesh_free(&mesh);
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

/* Files within a block of data, in folders, by INPUT=; circles; messages name the file that is meant. */
static void test_inp_includes(void **state)
{
    (void)state;
    char folder[] = "/tmp/modal-peers-XXXXXX", path[300], below[300];
    modal_volume_mesh mesh;
    modal_error err = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(below, sizeof below, "%s/sub", folder);
    assert_int_equal(mkdir(below, 0700), 0);
    write_file(folder, "main.inp", "*INCLUDE, INPUT=sub/nodes.inp\n4, 0, 0, 1\n*ELEMENT, TYPE=C3D4, ELSET=E, INPUT=\"sub/elements.txt\"\n"
                                   "*NSET, NSET=F\n*include,input=sub/set.txt\n2\n");
    write_file(folder, "sub/nodes.inp", "*NODE, NSET=N\n1, 0, 0, 0\n*INCLUDE, INPUT=more.txt\n");
    write_file(folder, "sub/more.txt", "2, 1, 0, 0\n** none\n3, 0, 1, 0\n");
    write_file(folder, "sub/elements.txt", "1, 1, 2,\n3, 4\n");
    write_file(folder, "sub/set.txt", "1, 3\n");
    snprintf(path, sizeof path, "%s/main.inp", folder);
    if (modal_mesh_read(path, &mesh, &err) != MODAL_OK) fail_msg("%s", err.message);
    assert_true(mesh_is_sound(&mesh) && mesh.n_nodes == 4 && mesh.n_elements == 1);
    assert_int_equal(find_group(&mesh, "N", 0)->n_nodes, 4);
    assert_int_equal(find_group(&mesh, "F", 0)->n_nodes, 3);
    modal_volume_mesh_free(&mesh);
    static const struct {
        const char *name, *text, *message; /* message: what follows the folder */
        modal_status status;
    } cases[] = {
        {"sub/more.txt", "2, 1, x, 0\n", "sub/more.txt:1: node 2: y coordinate is not a number, 'x'", MODAL_ERROR_INPUT},
        {"sub/more.txt", "*INCLUDE, INPUT=nodes.inp\n", "sub/more.txt:2: the file includes itself, ", MODAL_ERROR_INPUT},
        {"sub/more.txt", "*INCLUDE, INPUT=../main.inp\n", "sub/../sub/", MODAL_ERROR_INPUT},
        {"sub/more.txt", "\n*INCLUDE, INPUT=gone.inp\n", "sub/more.txt:3: *INCLUDE: ", MODAL_ERROR_INPUT},
        {"sub/more.txt", "*INCLUDE, FILE=gone.inp\n", "sub/more.txt:1: *INCLUDE: parameter INPUT missing", MODAL_ERROR_INPUT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err = (modal_error){0};
        write_file(folder, cases[i].name, cases[i].text);
        assert_int_equal(modal_mesh_read(path, &mesh, &err), cases[i].status);
        assert_true(strncmp(err.message, folder, strlen(folder)) == 0);
        if (strncmp(err.message + strlen(folder) + 1, cases[i].message, strlen(cases[i].message)) != 0) fail_msg("%s", err.message);
    }
    static const char *const names[] = {"main.inp", "sub/nodes.inp", "sub/more.txt", "sub/elements.txt", "sub/set.txt"};
    for (int i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        assert_int_equal(unlink(path), 0);
    }
    assert_true(rmdir(below) == 0 && rmdir(folder) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_msh_versions), cmocka_unit_test(test_msh_partitions), cmocka_unit_test(test_medit_and_vega),
                                       cmocka_unit_test(test_medit_big_endian),
                                       cmocka_unit_test(test_inp_left_out), cmocka_unit_test(test_inp_materials),
                                       cmocka_unit_test(test_inp_includes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
