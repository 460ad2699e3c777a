/* SPDX-License-Identifier: Apache-2.0 */
/* A mesh of 148,877 nodes and 843,648 tetrahedra, and a surface of 150,152 vertices and 298,998
 * triangles, read in 3 s from each text format. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "formats/meshes/mesh_parse.h"
#include "tests/unit/readers_compare.h"

/* Sanitizers make everything slower; the limit is that of an optimised build. */
#if defined(__SANITIZE_ADDRESS__)
enum { SLOWER = 20 };
#else
enum { SLOWER = 1 };
#endif

enum {
    SIDE = 53,
    N_NODES = SIDE * SIDE * SIDE,
    N_TETRAHEDRA = 6 * (SIDE - 1) * (SIDE - 1) * (SIDE - 1),
    ROW = 274,
    COLUMN = 548,
    N_VERTICES = ROW * COLUMN,
    N_TRIANGLES = 2 * (ROW - 1) * (COLUMN - 1)
};
static const double limit = 3;

/* The six tetrahedra of a cube around its diagonal. */
static void tetrahedron(int index, int nodes[4])
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    int cube = index / 6, side = SIDE - 1;
    int corner[3] = {cube % side, cube / side % side, cube / side / side};
    for (int i = 0; i < 4; i++) {
        nodes[i] = corner[0] + SIDE * (corner[1] + SIDE * corner[2]);
        if (i < 3) corner[orders[index % 6][i]]++;
    }
}

static void put_nodes(FILE *file, int numbered, const char *separator, const char *after)
{
    for (int i = 0; i < N_NODES; i++) {
        double x[3];
        for (int k = 0, rest = i; k < 3; k++, rest /= SIDE) x[k] = (rest % SIDE) / 7.3 + 0.1 * k;
        if (numbered) fprintf(file, "%d%s", i + 1, separator);
        fprintf(file, "%.16g%s%.16g%s%.16g%s", x[0], separator, x[1], separator, x[2], after);
    }
}

static void put_tetrahedra(FILE *file, int numbered, int first, const char *before,
                           const char *separator, const char *after)
{
    for (int i = 0; i < N_TETRAHEDRA; i++) {
        int n[4];
        tetrahedron(i, n);
        if (numbered) fprintf(file, "%d%s", i + 1, separator);
        fprintf(file, "%s%d%s%d%s%d%s%d%s", before, n[0] + first, separator, n[1] + first, separator,
                n[2] + first, separator, n[3] + first, after);
    }
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

typedef void write_mesh(FILE *file);

static void write_medit(FILE *file)
{
    fprintf(file, "MeshVersionFormatted 2\nDimension 3\nVertices\n%d\n", N_NODES);
    put_nodes(file, 0, " ", " 0\n");
    fprintf(file, "Tetrahedra\n%d\n", N_TETRAHEDRA);
    put_tetrahedra(file, 0, 1, "", " ", " 1\n");
    fprintf(file, "End\n");
}

static void write_inp(FILE *file)
{
    fprintf(file, "*NODE, NSET=all\n");
    put_nodes(file, 1, ", ", "\n");
    fprintf(file, "*ELEMENT, TYPE=C3D4, ELSET=body\n");
    put_tetrahedra(file, 1, 1, "", ", ", "\n");
}

static void write_vtk(FILE *file)
{
    fprintf(file, "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS %d double\n", N_NODES);
    put_nodes(file, 0, " ", "\n");
    fprintf(file, "CELLS %d %d\n", N_TETRAHEDRA, 5 * N_TETRAHEDRA);
    put_tetrahedra(file, 0, 0, "4 ", " ", "\n");
    fprintf(file, "CELL_TYPES %d\n", N_TETRAHEDRA);
    for (int i = 0; i < N_TETRAHEDRA; i++) fprintf(file, "10\n");
}

static void write_vtu(FILE *file)
{
    fprintf(file, "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid><Piece NumberOfPoints=\"%d\" "
                  "NumberOfCells=\"%d\"><Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" "
                  "format=\"ascii\">\n", N_NODES, N_TETRAHEDRA);
    put_nodes(file, 0, " ", "\n");
    fprintf(file, "</DataArray></Points><Cells><DataArray type=\"Int64\" Name=\"connectivity\" "
                  "format=\"ascii\">\n");
    put_tetrahedra(file, 0, 0, "", " ", "\n");
    fprintf(file, "</DataArray><DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">\n");
    for (int i = 1; i <= N_TETRAHEDRA; i++) fprintf(file, "%d\n", 4 * i);
    fprintf(file, "</DataArray><DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">\n");
    for (int i = 0; i < N_TETRAHEDRA; i++) fprintf(file, "10\n");
    fprintf(file, "</DataArray></Cells></Piece></UnstructuredGrid></VTKFile>\n");
}

static void check_mesh(const char *name, modal_status status, modal_volume_mesh *mesh,
                       const modal_error *err, double seconds, size_t bytes)
{
    if (status != MODAL_OK) fail_msg("%s", err->message);
    print_message("%s: %.1f MB in %.3f s\n", name, 1e-6 * (double)bytes, seconds);
    assert_true(mesh->n_nodes == N_NODES && mesh->n_elements == N_TETRAHEDRA && mesh_is_sound(mesh));
    for (int i = 0; i < N_TETRAHEDRA; i += 1 + i % 97) {
        int n[4];
        tetrahedron(i, n);
        for (int k = 0; k < 4; k++) assert_int_equal(modal_mesh_nodes(mesh, i)[k], n[k]);
    }
    assert_true(seconds < limit * SLOWER);
    modal_volume_mesh_free(mesh);
}

static void test_volumes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        write_mesh *write;
    } formats[] = {{"a.mesh", write_medit}, {"a.inp", write_inp}, {"a.vtk", write_vtk}, {"a.vtu", write_vtu}};
    for (int i = 0; i < 4; i++) {
        char *data = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&data, &size);
        modal_volume_mesh mesh;
        modal_error err = {0};
        struct timespec start;
        assert_non_null(file);
        formats[i].write(file);
        assert_int_equal(fclose(file), 0);
        clock_gettime(CLOCK_MONOTONIC, &start);
        modal_status status = modal_mesh_parse(data, (int64_t)size, formats[i].name, &mesh, &err);
        check_mesh(formats[i].name, status, &mesh, &err, seconds_since(&start), size);
        free(data);
    }
}

static void test_tetgen(void **state)
{
    (void)state;
    char *nodes = NULL, *elements = NULL;
    size_t nodes_size = 0, elements_size = 0;
    FILE *file = open_memstream(&nodes, &nodes_size);
    modal_volume_mesh mesh;
    modal_error err = {0};
    struct timespec start;
    assert_non_null(file);
    fprintf(file, "%d 3 0 0\n", N_NODES);
    put_nodes(file, 1, " ", "\n");
    assert_int_equal(fclose(file), 0);
    file = open_memstream(&elements, &elements_size);
    assert_non_null(file);
    fprintf(file, "%d 4 0\n", N_TETRAHEDRA);
    put_tetrahedra(file, 1, 1, "", " ", "\n");
    assert_int_equal(fclose(file), 0);
    clock_gettime(CLOCK_MONOTONIC, &start);
    const modal_tetgen_files files = {.node = {nodes, "a.node", (int64_t)nodes_size},
                                      .ele = {elements, "a.ele", (int64_t)elements_size}};
    modal_status status = modal_tetgen_parse(&files, &mesh, &err);
    check_mesh("a.node, a.ele", status, &mesh, &err, seconds_since(&start), nodes_size + elements_size);
    free(nodes);
    free(elements);
}

static void put_vertex(FILE *file, const char *before, int row, int column)
{
    fprintf(file, "%s%.16g %.16g %.16g\n", before, row / 7.3, column / 3.1, (row * column % 13) / 9.7);
}

/* The two triangles of a square. */
static void square(int index, int corners[2][3])
{
    int row = index / (COLUMN - 1), column = index % (COLUMN - 1), a = row * COLUMN + column;
    const int both[2][3] = {{a, a + 1, a + COLUMN}, {a + 1, a + COLUMN + 1, a + COLUMN}};
    memcpy(corners, both, sizeof both);
}

static void write_surface(FILE *file, const char *name)
{
    int is_stl = strstr(name, "stl") != NULL, corners[2][3];
    if (is_stl)
        fprintf(file, "solid\n");
    else if (strstr(name, "off"))
        fprintf(file, "OFF\n%d %d 0\n", N_VERTICES, N_TRIANGLES);
    else
        fprintf(file, "ply\nformat ascii 1.0\nelement vertex %d\nproperty double x\nproperty double y\n"
                      "property double z\nelement face %d\nproperty list uchar int vertex_indices\n"
                      "end_header\n", N_VERTICES, N_TRIANGLES);
    for (int i = 0; i < N_VERTICES && !is_stl; i++) put_vertex(file, "", i / COLUMN, i % COLUMN);
    for (int i = 0; i < N_TRIANGLES / 2; i++) {
        square(i, corners);
        for (int t = 0; t < 2; t++) {
            const int *v = corners[t];
            if (!is_stl) {
                fprintf(file, "3 %d %d %d\n", v[0], v[1], v[2]);
                continue;
            }
            fprintf(file, "facet normal 0 0 1\nouter loop\n");
            for (int k = 0; k < 3; k++) put_vertex(file, "vertex ", v[k] / COLUMN, v[k] % COLUMN);
            fprintf(file, "endloop\nendfacet\n");
        }
    }
    if (is_stl) fprintf(file, "endsolid\n");
}

static void test_surfaces(void **state)
{
    (void)state;
    static const char *const names[] = {"a.off", "a.stl", "a.ply"};
    for (int i = 0; i < 3; i++) {
        char *data = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&data, &size);
        modal_surface_mesh surface;
        modal_error err = {0};
        struct timespec start;
        assert_non_null(file);
        write_surface(file, names[i]);
        assert_int_equal(fclose(file), 0);
        clock_gettime(CLOCK_MONOTONIC, &start);
        if (modal_surface_parse(data, (int64_t)size, names[i], &surface, NULL, &err) != MODAL_OK)
            fail_msg("%s", err.message);
        double seconds = seconds_since(&start);
        print_message("%s: %.1f MB in %.3f s\n", names[i], 1e-6 * (double)size, seconds);
        assert_true(surface.n_vertices == N_VERTICES && surface.n_triangles == N_TRIANGLES);
        assert_true(surface_is_sound(&surface));
        assert_true(seconds < limit * SLOWER);
        modal_surface_mesh_free(&surface);
        free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_volumes), cmocka_unit_test(test_tetgen),
                                       cmocka_unit_test(test_surfaces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
