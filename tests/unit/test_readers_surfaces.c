/* SPDX-License-Identifier: Apache-2.0 */
/* What comes out of .stl, .ply and .off, and the messages where nothing may. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/meshes/mesh_parse.h"
#include "formats/meshes/surface_read.h"
#include "tests/unit/readers_compare.h"

#define FOLDER MODAL_SOURCE_DIR "/tests/files/"

static const double vertices[5][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0.5, 0.5, 0.75}};
static const int32_t triangles[6][3] = {{0, 3, 2}, {0, 2, 1}, {0, 1, 4},
                                        {1, 2, 4}, {2, 3, 4}, {3, 0, 4}};

/* The same pyramid from every file; an STL's vertices are numbered as its facets meet them. */
static void test_pyramids(void **state)
{
    (void)state;
    static const char *const names[] = {"off", "colours.off", "stl", "binary.stl", "ply", "little.ply", "big.ply",
                                        "vtk", "5.vtk",       "binary.vtk"};
    for (int i = 0; i < 10; i++) {
        char path[512];
        modal_surface_mesh surface;
        modal_error err = {0};
        int64_t n_collapsed = -1;
        int is_plain = !strchr(names[i], '.'), has_uv = strstr(names[i], "ply") != NULL;
        snprintf(path, sizeof path, "%sgood-pyramid%c%s", FOLDER, is_plain ? '.' : '-', names[i]);
        if (modal_surface_read(path, &surface, &n_collapsed, &err) != MODAL_OK)
            fail_msg("%s", err.message);
        assert_true(surface_is_sound(&surface));
        assert_true(surface.n_vertices == 5 && surface.n_triangles == 6 && n_collapsed == 0);
        for (int k = 0; k < 18; k++) {
            int32_t vertex = surface.triangles[k];
            assert_memory_equal(surface.positions + 3 * (int64_t)vertex,
                                vertices[triangles[k / 3][k % 3]], sizeof *vertices);
            if (!strstr(names[i], "stl")) assert_int_equal(vertex, triangles[k / 3][k % 3]);
        }
        assert_int_equal(surface.n_uv, has_uv ? 5 : 0);
        for (int k = 0; k < 10 && has_uv; k++)
            assert_true(surface.uv[k] == vertices[k / 2][k % 2]);
        modal_surface_mesh_free(&surface);
    }
}

#define FACET(a, b, c) "facet normal 0 0 1 outer loop\nvertex " a "\nvertex " b "\nvertex " c \
                       "\nendloop endfacet\n"
#define HEAD "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
#define FACES "element face 1\nproperty list uchar int vertex_index\nend_header\n"

static void test_collapsed(void **state)
{
    (void)state;
    modal_surface_mesh surface;
    modal_error err = {0};
    int64_t n_collapsed = -1;
    const char *text = "solid\n" FACET("0 0 0", "1 0 0", "0 1 0") FACET("0 0 0", "-0 0 0", "1 1 0")
        "endsolid\nsolid second\n" FACET("1 0 0", "1 1 0", "0 1 0") "endsolid second\n";
    assert_int_equal(modal_stl_parse(text, (int64_t)strlen(text), "a.stl", &surface, &n_collapsed, &err),
                     MODAL_OK);
    assert_true(surface.n_vertices == 4 && surface.n_triangles == 2 && n_collapsed == 1);
    modal_surface_mesh_free(&surface);
    assert_int_equal(modal_stl_parse(text, (int64_t)strlen(text), "a.stl", &surface, NULL, &err),
                     MODAL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "triangles with one vertex twice, 1"));
}

#define PLY_STRIP "ply\nformat ascii 1.0\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\n" \
                  "element tristrips 1\nproperty list int int vertex_indices\nend_header\n" \
                  "0 0 0\n1 0 0\n0 1 0\n1 1 0\n2 1 0\n"
#define VTK "# vtk DataFile Version 3.0\na title\nASCII\nDATASET POLYDATA\nPOINTS 5 float\n0 0 0 1 0 0 0 1 0\n1 1 0 2 1 0\n"
#define OBJ "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nvt 0 0\n"

/* What programs write though no specification has it, and other readers take. */
static void test_peers(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        int n_collapsed, n_triangles;
        int32_t triangles[9];
        const char *note; /* or NULL */
    } cases[] = {
        {"a.obj", OBJ "g a b\ng c\ng\nf 1 2 3\n", 0, 1, {0, 1, 2}, NULL}, /* names of parts without faces */
        {"a.obj", OBJ "usemtl a\nusemtl\nf 1 2 3\n", 0, 1, {0, 1, 2}, NULL},
        {"a.obj", OBJ "f 1// 2// 3//\nf 2/1/ 4/1/ 3/1/\nf 1/ 2/ 4/\n", 0, 3, {0, 1, 2, 1, 3, 2, 0, 1, 3}, NULL},
        {"a.obj", OBJ "f 1 2 2 3\nf 1 2 1\nf 1 2 4 1\n", 3, 2, {0, 1, 2, 0, 1, 3}, NULL},
        {"a.obj", OBJ "f 1/1 2/1 3/7\nf 1/1 2/1 4/1\n", 0, 2, {0, 1, 2, 0, 1, 3},
         "texture vertex numbers beyond the 1 that are there are left out, the greatest is 7 in line 6; the surface has no texture coordinates"},
        {"a.obj", OBJ "f 1//3 2//1 3//1\n", 0, 1, {0, 1, 2},
         "normal numbers beyond the 0 that are there are left out, the greatest is 3 in line 6"},
        {"a.stl", "solid\n" FACET("0 0 0", "1 0 0", "0 1 0") "end solid\n", 0, 1, {0, 1, 2}, NULL},
        {"a.off", "OFF\n4 2 0\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n3\n0 1\n2\n4 0 1\n3 2 255 0 0\n", 0, 3, {0, 1, 2, 0, 1, 3, 0, 3, 2}, NULL},
        {"a.ply", PLY_STRIP "5 0 1 2 3 4\n", 0, 3, {0, 1, 2, 2, 1, 3, 2, 3, 4}, NULL},
        {"a.vtk", VTK "TRIANGLE_STRIPS 1 7\n6 0 1 2 3 3 4\n", 0, 2, {0, 1, 2, 2, 1, 3}, NULL},
        {"a.vtk", VTK "VERTICES 1 2\n1 0\nLINES 1 3\n2 0 1\nPOLYGONS 1 4\n3 0 1 2\nCELL_DATA 3\nSCALARS region int\n1\n2\n3\n", 0, 1,
         {0, 1, 2}, "vertices and lines left out, 2"},
        {"a.ply", PLY_STRIP "8 0 1 2 -1 2 3 3 4\n", 0, 1, {0, 1, 2}, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        modal_surface_mesh surface;
        modal_error err = {0};
        int64_t n_collapsed = -1;
        if (modal_surface_parse(cases[i].text, (int64_t)strlen(cases[i].text), cases[i].name, &surface, &n_collapsed, &err))
            fail_msg("%s", err.message);
        assert_true(surface_is_sound(&surface) && !surface.uv && surface.n_parts == 0 && surface.n_materials == 0);
        assert_int_equal(n_collapsed, cases[i].n_collapsed);
        assert_int_equal(surface.n_triangles, cases[i].n_triangles);
        assert_memory_equal(surface.triangles, cases[i].triangles, (size_t)surface.n_triangles * 12);
        assert_int_equal(surface.notes.n, cases[i].note != NULL);
        if (cases[i].note) assert_string_equal(surface.notes.texts[0], cases[i].note);
        modal_surface_mesh_free(&surface);
    }
    const char zero[] = OBJ "f 1 2 3\n\0\0"; /* as C ends its texts */
    modal_surface_mesh surface;
    assert_int_equal(modal_surface_parse(zero, sizeof zero - 1, "a.obj", &surface, NULL, NULL), MODAL_OK);
    assert_int_equal(surface.n_triangles, 1);
    modal_surface_mesh_free(&surface);
}

/* Groups of an .obj and solids of an .stl; of more than 1000 none is kept. */
static void test_parts(void **state)
{
    (void)state;
    static const char obj[] = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\ng left more\nf 1 2 3 4\ng\n"
                              "f 2 3 4\ng right\ng left\nf 1 3 4\n";
    static const char stl[] = "solid  the top \n" FACET("0 0 0", "1 0 0", "0 1 0") "endsolid\nsolid\n"
        FACET("0 0 0", "1 0 0", "0 0 1") "endsolid\n";
    static const int32_t obj_parts[] = {-1, 0, 0, -1, 0}, stl_parts[] = {0, -1};
    modal_surface_mesh surface;
    modal_error err = {0};
    assert_int_equal(modal_obj_parse(obj, sizeof obj - 1, "a.obj", &surface, NULL, &err), MODAL_OK);
    assert_true(surface.n_parts == 2 && surface.n_triangles == 5 && surface_is_sound(&surface));
    assert_string_equal(surface.part_names[0], "left");
    assert_string_equal(surface.part_names[1], "right");
    assert_memory_equal(surface.triangle_part, obj_parts, sizeof obj_parts);
    modal_surface_mesh_free(&surface);
    assert_int_equal(modal_stl_parse(stl, sizeof stl - 1, "a.stl", &surface, NULL, &err), MODAL_OK);
    assert_true(surface.n_parts == 1 && surface.n_triangles == 2);
    assert_string_equal(surface.part_names[0], "the top");
    assert_memory_equal(surface.triangle_part, stl_parts, sizeof stl_parts);
    modal_surface_mesh_free(&surface);
    for (int n = 1000; n <= 1001; n++) {
        char *text = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&text, &size);
        assert_non_null(file);
        fprintf(file, "v 0 0 0\nv 1 0 0\nv 1 1 0\n");
        for (int i = 0; i < n; i++) fprintf(file, "g part%d\nf 1 2 3\n", i);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(modal_obj_parse(text, (int64_t)size, "a.obj", &surface, NULL, &err), MODAL_OK);
        assert_true(surface.n_triangles == n && surface_is_sound(&surface));
        assert_true(n == 1000 ? surface.n_parts == n && surface.triangle_part[999] == 999
                              : surface.n_parts == 0 && !surface.triangle_part && !surface.part_names);
        modal_surface_mesh_free(&surface);
        free(text);
    }
}

/* Materials of an .obj, whose names may have blanks; of more than 4096 none is kept. */
static void test_materials(void **state)
{
    (void)state;
    static const char obj[] = "mtllib a b.mtl # x\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nusemtl red paint\nf 1 2 3 4\n"
                              "usemtl\nf 2 3 4\nusemtl blue\nusemtl red paint\nf 1 3 4\n";
    static const int32_t materials[] = {-1, 0, 0, -1, 0};
    modal_surface_mesh surface;
    modal_error err = {0};
    assert_int_equal(modal_obj_parse(obj, sizeof obj - 1, "a.obj", &surface, NULL, &err), MODAL_OK);
    assert_true(surface.n_materials == 2 && surface.n_libraries == 1 && surface_is_sound(&surface));
    assert_string_equal(surface.material_names[0], "red paint");
    assert_string_equal(surface.material_names[1], "blue");
    assert_string_equal(surface.libraries[0], "a b.mtl");
    assert_memory_equal(surface.triangle_material, materials, sizeof materials);
    modal_surface_mesh_free(&surface);
    for (int n = 4096; n <= 4097; n++) {
        char *text = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&text, &size);
        assert_non_null(file);
        fprintf(file, "v 0 0 0\nv 1 0 0\nv 1 1 0\n");
        for (int i = 0; i < n; i++) fprintf(file, "usemtl m%d\nf 1 2 3\n", i);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(modal_obj_parse(text, (int64_t)size, "a.obj", &surface, NULL, &err), MODAL_OK);
        assert_true(surface.n_triangles == n && surface_is_sound(&surface));
        assert_true(n == 4096 ? surface.n_materials == n && surface.triangle_material[4095] == 4095
                              : surface.n_materials == 0 && !surface.triangle_material && !surface.material_names);
        modal_surface_mesh_free(&surface);
        free(text);
    }
}

/* Which corners of an .obj have equal normals, numbered by their first corners; none where a face is without, or a vn is none. */
static void test_normals(void **state)
{
    (void)state;
    static const char head[] = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nvn 0 1 0\nvn -0 0 1.0 5\nvn 9 9 9\n";
    static const struct {
        const char *faces;
        int n; /* of triangles with normals, 0: they are not kept */
        int n_notes;
        int32_t numbers[9];
    } cases[] = {{"f 1//2 2//3 3//1 4//2\nf 1//-1 2//-2 3//-4\n", 3, 0, {0, 1, 1, 0, 1, 0, 2, 1, 1}},
                 {"f 1//1 2//1 3//1\nf 1 2 3\n", 0, 0, {0}},
                 {"f 1//5 2//1 3//1\n", 0, 1, {0}},
                 {"f 1//5 2//1 3//1\nvn 1 0 0\n", 1, 0, {0, 1, 1}},
                 {"vn 1 nan 0\nf 1//1 2//1 3//1\n", 0, 1, {0}},
                 {"vn 1 0\nf 1//1 2//1 3//1\n", 0, 1, {0}},
                 {"vn a\nf 1 2 3\n", 0, 0, {0}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[500];
        modal_surface_mesh surface;
        modal_error err = {0};
        snprintf(text, sizeof text, "%s%s", head, cases[i].faces);
        assert_int_equal(modal_obj_parse(text, (int64_t)strlen(text), "a.obj", &surface, NULL, &err), MODAL_OK);
        assert_true(surface_is_sound(&surface) && (surface.triangle_normal != NULL) == (cases[i].n > 0));
        assert_int_equal(surface.notes.n, cases[i].n_notes);
        if (cases[i].n > 0) {
            assert_int_equal(surface.n_triangles, cases[i].n);
            assert_memory_equal(surface.triangle_normal, cases[i].numbers, (size_t)cases[i].n * 3 * sizeof(int32_t));
        }
        modal_surface_mesh_free(&surface);
    }
}

static void test_messages(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *message;
    } cases[] = {
        {"a.off", "OF\n", "a.off:1: OFF, COFF, NOFF or CNOFF expected, 'OF'"},
        {"a.off", "OFF BINARY\n", "a.off:1: binary OFF files are not supported"},
        {"a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n",
         "a.off:6: face 0: vertex number out of range, 3"},
        {"a.off", "OFF\n3 1 0\n0 0 0 7\n1 0 0\n0 1 0\n3 0 1 2\n",
         "a.off:3: vertex 0: end of the line expected, '7'"},
        {"a.off", "OFF\n999999999 1 0\n0 0 0\n",
         "a.off:3: 999999999 vertices cannot be in the 6 bytes left of the file"},
        {"a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n3 0 1 2\n",
         "a.off:7: end of the line expected, '3'"},
        {"a.off", "OFF\n4 1 0\n0 0 0\n1 0 0\n0 1 0\n1 1 1\n4 0 1 2 1\n",
         "a.off:7: face 0: repeated vertex in a face, 1"},
        {"a.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0\n",
         "a.stl:4: facet 0: z coordinate missing"},
        {"a.stl", "solid\n" FACET("0 0 0", "1 0 0", "0 1 0"), "a.stl:7: the file ends, endsolid expected"},
        {"a.stl", "solid\n" FACET("0 0 0", "1 0 0", "0 1 inf") "endsolid\n",
         "a.stl:5: facet 0: NaN or infinite z coordinate, 'inf'"},
        {"a.stl", "solid\nendsolid\n", "a.stl:3: no faces"},
        {"a.stl", "binary?",
         "a.stl:1: neither text that begins with solid nor a binary file, which has 84 bytes at "
         "least, 7"},
        {"a.ply", PLY_STRIP "3 0 1 5\n", "a.ply:15: strip 0: vertex number out of range, 5 of 5"},
        {"a.ply", "ply\nformat ascii 2.0\n", "a.ply:2: version of the format is not 1.0, '2.0'"},
        {"a.ply", "ply\nformat utf8 1.0\n", "a.ply:2: unknown encoding, 'utf8'"},
        {"a.ply", HEAD "property complex z\n", "a.ply:6: unknown type of a property, 'complex'"},
        {"a.ply", HEAD FACES "0 0\n0 1\n1 1\n3 0 1 2\n", "a.ply:9: vertices without z"},
        {"a.ply", HEAD "property float z\n" FACES "0 0 0\n0 1 0\n1 1 0\n3 0 1 -1\n",
         "a.ply:13: face 0: vertex number out of range, -1 of 3"},
        {"a.ply", HEAD "property float z\n" FACES "0 0 0\n0 1 0\n1 1 0\n2 0 1\n",
         "a.ply:13: face 0: face of 2 corners"},
        {"a.ply", HEAD "property uchar z\n" FACES "0 0 0\n0 1 256\n1 1 0\n3 0 1 2\n",
         "a.ply:11: vertex 1: z coordinate out of range, 256"},
        {"a.xyz", "0 0 0\n", "a.xyz: not a surface that can be read, which are .obj, .stl, .ply, .off and .vtk of polygons"},
        {"a.vtk", VTK "POLYGONS 1 4\n3 0 1 5\n", "a.vtk:9: polygon 0: vertex number out of range, 5 of 5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        modal_surface_mesh surface;
        modal_error err = {0};
        assert_int_equal(modal_surface_parse(cases[i].text, (int64_t)strlen(cases[i].text),
                                             cases[i].name, &surface, NULL, &err),
                         MODAL_ERROR_INPUT);
        assert_string_equal(err.message, cases[i].message);
        assert_null(surface.positions);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pyramids),
                                       cmocka_unit_test(test_collapsed), cmocka_unit_test(test_peers),
                                       cmocka_unit_test(test_parts),
        cmocka_unit_test(test_materials), cmocka_unit_test(test_normals), cmocka_unit_test(test_messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
