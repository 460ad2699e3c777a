/* SPDX-License-Identifier: Apache-2.0 */
/* A mesh of 148,877 nodes and 843,648 tetrahedra reads in 3 s from text and in 1 s from binary. */
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

/* Sanitizers make everything slower; the limits are those of an optimised build. */
#if defined(__SANITIZE_ADDRESS__)
enum { SLOWER = 20 };
#else
enum { SLOWER = 1 };
#endif

enum {
    SIDE = 53,
    N_NODES = SIDE * SIDE * SIDE,
    N_TETRAHEDRA = 6 * (SIDE - 1) * (SIDE - 1) * (SIDE - 1)
};

static int node_number(int x, int y, int z) { return 1 + x + SIDE * (y + SIDE * z); }

/* The six tetrahedra of a cube around its diagonal: the corners on a path along the axes. */
static void tetrahedron_nodes(int index, int nodes[4])
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    int cube = index / 6, side = SIDE - 1;
    int corner[3] = {cube % side, cube / side % side, cube / side / side};
    nodes[0] = node_number(corner[0], corner[1], corner[2]);
    for (int i = 0; i < 3; i++) {
        corner[orders[index % 6][i]]++;
        nodes[i + 1] = node_number(corner[0], corner[1], corner[2]);
    }
}

static void node_position(int index, double position[3])
{
    for (int i = 0; i < 3; i++, index /= SIDE) position[i] = (index % SIDE) / 7.3 + 0.1 * i;
}

static char *make_file(int binary, int64_t *length)
{
    char *data = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&data, &size);
    assert_non_null(file);
    int32_t one = 1, head[3] = {4, N_TETRAHEDRA, 2};
    fprintf(file, "$MeshFormat\n2.2 %d 8\n", binary);
    if (binary) fwrite(&one, sizeof one, 1, file);
    fprintf(file, "%s$EndMeshFormat\n$Nodes\n%d\n", binary ? "\n" : "", N_NODES);
    for (int32_t i = 1; i <= N_NODES; i++) {
        double x[3];
        node_position(i - 1, x);
        if (binary) {
            fwrite(&i, sizeof i, 1, file);
            fwrite(x, sizeof x, 1, file);
        } else
            fprintf(file, "%d %.16g %.16g %.16g\n", i, x[0], x[1], x[2]);
    }
    fprintf(file, "%s$EndNodes\n$Elements\n%d\n", binary ? "\n" : "", N_TETRAHEDRA);
    if (binary) fwrite(head, sizeof head, 1, file);
    for (int i = 0; i < N_TETRAHEDRA; i++) {
        int32_t record[7] = {i + 1, 1, 1};
        tetrahedron_nodes(i, record + 3);
        if (binary)
            fwrite(record, sizeof record, 1, file);
        else
            fprintf(file, "%d 4 2 1 1 %d %d %d %d\n", record[0], record[3], record[4], record[5],
                    record[6]);
    }
    fprintf(file, "%s$EndElements\n", binary ? "\n" : "");
    assert_int_equal(fclose(file), 0);
    *length = (int64_t)size;
    return data;
}

static void read_in(int binary, double limit)
{
    int64_t length;
    char *data = make_file(binary, &length);
    struct timespec begin, end;
    modal_volume_mesh mesh;
    modal_error err = {0};
    clock_gettime(CLOCK_MONOTONIC, &begin);
    if (modal_msh_parse(data, length, "made.msh", &mesh, &err) != MODAL_OK)
        fail_msg("%s", err.message);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds =
        (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    print_message("%s: %.1f MB in %.3f s\n", binary ? "binary" : "text", 1e-6 * (double)length,
                  seconds);
    assert_true(mesh.n_nodes == N_NODES && mesh.n_elements == N_TETRAHEDRA);
    assert_true(mesh_is_sound(&mesh));
    for (int i = 0; i < N_NODES; i++) {
        double x[3];
        char text[64];
        node_position(i, x);
        for (int j = 0; j < 3; j++) {
            /* Text keeps 16 digits: what is expected is what they say. */
            snprintf(text, sizeof text, "%.16g", x[j]);
            assert_true(mesh.nodes[3 * (int64_t)i + j] == (binary ? x[j] : strtod(text, NULL)));
        }
    }
    assert_true(seconds < limit * SLOWER);
    modal_volume_mesh_free(&mesh);
    free(data);
}

static void test_text(void **state)
{
    (void)state;
    read_in(0, 3);
}

static void test_binary(void **state)
{
    (void)state;
    read_in(1, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_text), cmocka_unit_test(test_binary)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
