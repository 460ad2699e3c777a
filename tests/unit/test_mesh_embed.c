/* SPDX-License-Identifier: Apache-2.0 */
/* lib/mesh/embed.h with linear tetrahedra (test_element_nearest.c has the others), lib/shape/shape_surface.h */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/mesh/boundary.h"
#include "lib/mesh/check.h"
#include "lib/mesh/element_nearest.h"
#include "lib/mesh/embed.h"
#include "lib/mesh/tables.h"
#include "lib/mesh/tetrahedron.h"
#include "lib/shape/shape_surface.h"
#include "tests/unit/test_mesh_helpers.h"

static void nodes_of(const modal_volume_mesh *mesh, int64_t e, const double *x[4])
{
    for (int k = 0; k < 4; k++) x[k] = mesh->nodes + 3 * (int64_t)mesh->element_nodes[4 * e + k];
}

/* Distance to a tetrahedron by minimising over its four weights: coordinate descent along all edge
 * directions, slow and independent of faces and half-spaces. */
static double distance_by_descent(const double *const x[4], const double p[3])
{
    double at[3] = {0, 0, 0}, w[4] = {0.25, 0.25, 0.25, 0.25};
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < 3; j++) at[j] += w[k] * x[k][j];
    for (int sweep = 0; sweep < 3000; sweep++)
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < a; b++) {
                double along[3], rest[3];
                modal_subtract(x[a], x[b], along);
                modal_subtract(p, at, rest);
                double step = modal_dot(rest, along) / modal_dot(along, along);
                step = fmin(w[b], fmax(-w[a], step));
                w[a] += step;
                w[b] -= step;
                for (int j = 0; j < 3; j++) at[j] += step * along[j];
            }
    double rest[3];
    modal_subtract(p, at, rest);
    return sqrt(modal_dot(rest, rest));
}

static void test_distance(void **state)
{
    (void)state;
    int n_inside = 0;
    for (int run = 0; run < 300; run++) {
        double nodes[4][3], p[3];
        const double *x[4] = {nodes[0], nodes[1], nodes[2], nodes[3]};
        do {
            for (int i = 0; i < 12; i++) nodes[i / 3][i % 3] = random_unit();
        } while (modal_six_volume(x[0], x[1], x[2], x[3]) < 0.1);
        for (int k = 0; k < 3; k++) p[k] = run % 2 ? 2 * random_unit() - 0.5 : random_unit();
        double distance = modal_tetrahedron_distance(x, p);
        /* Descent only comes near from above. */
        assert_true(fabs(distance - distance_by_descent(x, p)) <= 1e-6);
        n_inside += distance == 0;
    }
    assert_in_range(n_inside, 5, 295);
    /* Unit corner: known distances to a face, an edge, a node, and the slanted face. */
    static const double corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const double *x[4] = {corner[0], corner[1], corner[2], corner[3]};
    assert_true(modal_tetrahedron_distance(x, (double[]){0.2, 0.3, -2}) == 2);
    assert_true(modal_tetrahedron_distance(x, (double[]){0.5, -3, -4}) == 5);
    assert_true(modal_tetrahedron_distance(x, (double[]){4, -3, 0}) == sqrt(18));
    assert_true(fabs(modal_tetrahedron_distance(x, (double[]){1, 1, 1}) - 2 / sqrt(3)) <= 1e-15);
    assert_true(modal_tetrahedron_distance(x, (double[]){0.1, 0.1, 0.1}) == 0);
}

/* Points in and around the unit cube, some of them exactly on nodes, edges and faces. */
static double *make_points(const modal_volume_mesh *mesh, int64_t n)
{
    double *points = malloc(3 * (size_t)n * sizeof *points);
    for (int64_t i = 0; i < n; i++) {
        const double *x[4];
        nodes_of(mesh, random_below(mesh->n_elements), x);
        for (int k = 0; k < 3; k++) {
            double corner[4] = {x[0][k], x[0][k] / 2 + x[1][k] / 2,
                                x[0][k] / 4 + x[1][k] / 4 + x[2][k] / 2, 3 * random_unit() - 1};
            points[3 * i + k] = i % 5 < 4 ? corner[i % 5] : random_unit();
        }
    }
    return points;
}

static void test_nearest_by_brute_force(void **state)
{
    (void)state;
    enum { N = 3000 };
    modal_volume_mesh mesh;
    modal_mesh_summary box;
    modal_embed_summary summary;
    make_block(&mesh, 5, 0.15);
    assert_int_equal(modal_volume_mesh_check(&mesh, &box, NULL), MODAL_OK);
    modal_point_embedding embedding;
    double *points = make_points(&mesh, N);
    assert_int_equal(modal_embed_points(&mesh, N, points, &embedding, &summary, NULL), MODAL_OK);
    const int32_t *nodes = embedding.nodes;
    const double *weights = embedding.weights;
    double tolerance = 0, farthest = 0;
    for (int k = 0; k < 3; k++) tolerance += pow(box.box_max[k] - box.box_min[k], 2);
    tolerance = 1e-14 * sqrt(tolerance) + 0x1p-50;
    int64_t n_outside = 0, farthest_point = -1;
    for (int64_t i = 0; i < N; i++) {
        const double *x[4];
        double least = INFINITY, sum = 0;
        int64_t lowest = -1;
        for (int64_t e = 0; e < mesh.n_elements; e++) {
            nodes_of(&mesh, e, x);
            least = fmin(least, modal_tetrahedron_distance(x, points + 3 * i));
        }
        for (int64_t e = 0; lowest < 0 && e < mesh.n_elements; e++) {
            nodes_of(&mesh, e, x);
            if (modal_tetrahedron_distance(x, points + 3 * i) <= least + tolerance) lowest = e;
        }
        assert_int_equal(embedding.elements[i], lowest);
        assert_int_equal(embedding.offsets[i], 4 * i);
        assert_memory_equal(nodes + 4 * i, mesh.element_nodes + 4 * lowest, 4 * sizeof *nodes);
        for (int k = 0; k < 4; k++) {
            sum += weights[4 * i + k];
            /* A bound in units of the weights: the tolerance over the thinnest height here. */
            if (least <= tolerance) assert_true(weights[4 * i + k] >= -1e-9);
        }
        assert_true(fabs(sum - 1) <= 1e-14 * (1 + fabs(weights[4 * i])));
        if (least > tolerance) {
            n_outside++;
            if (least > farthest) {
                farthest = least;
                farthest_point = i;
            }
        }
    }
    assert_in_range(n_outside, 100, N - 100);
    assert_int_equal(summary.n_outside, n_outside);
    assert_true(summary.farthest_outside == farthest);
    assert_int_equal(summary.farthest_point, farthest_point);
    assert_int_equal(embedding.offsets[N], 4 * N);
    free(points);
    modal_point_embedding_free(&embedding);
    modal_volume_mesh_free(&mesh);
}

static void test_linear_fields_are_exact(void **state)
{
    (void)state;
    enum { N = 5000 };
    modal_volume_mesh mesh;
    make_block(&mesh, 6, 0.1);
    double *points = make_points(&mesh, N);
    modal_point_embedding embedding;
    assert_int_equal(modal_embed_points(&mesh, N, points, &embedding, NULL, NULL), MODAL_OK);
    for (int field = 0; field < 4; field++) {
        double a[3], b = 2 * random_unit() - 1;
        for (int k = 0; k < 3; k++) a[k] = 2 * random_unit() - 1;
        for (int64_t i = 0; i < N; i++) {
            double carried = 0;
            for (int64_t j = 4 * i; j < 4 * i + 4; j++)
                carried += embedding.weights[j] * (modal_dot(a, mesh.nodes + 3 * (int64_t)embedding.nodes[j]) + b);
            assert_true(fabs(carried - (modal_dot(a, points + 3 * i) + b)) <= 1e-12);
        }
    }
    free(points);
    modal_point_embedding_free(&embedding);
    modal_volume_mesh_free(&mesh);
}

/* Weights of 1e8 in flat tetrahedra still lead back to the point, up to rounding. */
static void test_weights_in_flat_tetrahedra(void **state)
{
    (void)state;
    for (int run = 0; run < 2000; run++) {
        double nodes[4][3], p[3], weights[4], size = 1;
        const double *x[4] = {nodes[0], nodes[1], nodes[2], nodes[3]};
        do {
            for (int i = 0; i < 9; i++) nodes[i / 3][i % 3] = random_unit();
            for (int k = 0; k < 3; k++)
                nodes[3][k] = (nodes[0][k] + nodes[1][k] + nodes[2][k]) / 3 + 1e-8 * random_unit();
        } while (!(modal_six_volume(x[0], x[1], x[2], x[3]) > 1e-10));
        for (int k = 0; k < 3; k++) p[k] = random_unit();
        modal_tetrahedron_weights(x, p, weights);
        for (int j = 0; j < 4; j++) size += fabs(weights[j]);
        for (int k = 0; k < 3; k++) {
            double carried = -p[k];
            for (int j = 0; j < 4; j++) carried += weights[j] * nodes[j][k];
            assert_true(fabs(carried) <= 8 * 0x1p-53 * size);
        }
    }
}

static void test_embed_refuses(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_error err = {0};
    double points[6] = {0, 0, 0, 0, INFINITY, 0};
    modal_point_embedding embedding;
    make_mesh(&mesh, 8, cube_nodes[0], 6, cube_six[0]);
    assert_int_equal(modal_embed_points(&mesh, 2, points, &embedding, NULL, &err), MODAL_ERROR_INPUT);
    assert_string_equal(err.message, "vertex 1: coordinate y is not finite");
    assert_null(embedding.offsets);
    for (mesh.n_elements = 1; mesh.n_elements <= 6; mesh.n_elements++) /* one leaf of the tree, and two */
        for (int power = 40; power <= 300; power++) {
            char says[80];
            points[4] = pow(10, power);
            memset(&err, 0, sizeof err);
            if (modal_embed_points(&mesh, 2, points, &embedding, NULL, &err) == MODAL_OK) {
                assert_true(power <= 154);
                modal_point_embedding_free(&embedding);
                continue;
            }
            snprintf(says, sizeof says, "vertex 1: too far from the solid, (0, %g, 0)", points[4]);
            assert_string_equal(err.message, says);
            assert_null(embedding.offsets);
        }
    mesh.n_elements = 6;
    assert_int_equal(modal_embed_points(&mesh, 0, points, &embedding, NULL, NULL), MODAL_OK);
    modal_point_embedding_free(&embedding);
    mesh.n_elements = 0;
    assert_int_equal(modal_embed_points(&mesh, 1, points, &embedding, NULL, NULL), MODAL_ERROR_INPUT);
    modal_volume_mesh_free(&mesh);
}

/* Three modes of the solid that are linear in the rest position, and their known values. */
static double mode_value(int mode, const double x[3], int k)
{
    return (mode + 1) * (0.3 * x[(k + mode) % 3] - 0.7 * x[k]) + 0.1 * k;
}

static void give_modes(modal_shape *shape, const modal_volume_mesh *mesh)
{
    shape->modes.n_modes = 3;
    shape->solid.mesh.n_nodes = mesh->n_nodes;
    assert_int_equal(modal_alloc(&shape->solid.volume_modes, 9 * mesh->n_nodes, sizeof(double), "m", NULL),
                     MODAL_OK);
    for (int mode = 0; mode < 3; mode++)
        for (int64_t i = 0; i < mesh->n_nodes; i++)
            for (int k = 0; k < 3; k++)
                shape->solid.volume_modes[(mode * mesh->n_nodes + i) * 3 + k] =
                    mode_value(mode, mesh->nodes + 3 * i, k);
}

static void check_shape(const modal_shape *shape, const modal_surface_mesh *surface)
{
    modal_surface_tables tables;
    int64_t n = shape->surface.n_vertices, n_triangles = shape->surface.n_triangles;
    assert_int_equal(n, surface->n_vertices);
    assert_int_equal(n_triangles, surface->n_triangles);
    assert_int_equal(modal_surface_tables_build(n, n_triangles, shape->surface.triangles, &tables, NULL),
                     MODAL_OK);
    size_t offset_bytes = (size_t)(n + 1) * sizeof(int64_t);
    assert_memory_equal(shape->surface.face_offsets, tables.face_offsets, offset_bytes);
    assert_memory_equal(shape->surface.faces, tables.faces, 3 * (size_t)n_triangles * sizeof(int32_t));
    assert_memory_equal(shape->surface.boundary, tables.boundary, (size_t)n);
    modal_surface_tables_free(&tables);
    for (int64_t v = 0; v < n; v++)
        assert_memory_equal(shape->surface.rest_positions + 3 * v,
                            surface->positions + 3 * shape->surface.user_vertex[v], 3 * sizeof(double));
    for (int64_t i = 0; i < 3 * n_triangles; i++)
        assert_int_equal(shape->surface.user_vertex[shape->surface.triangles[i]],
                         surface->triangles[3 * shape->surface.user_triangle[i / 3] + i % 3]);
    /* The modal matrix: linear modes, so the value at the vertex itself, rounded once. */
    int64_t n_tiles = modal_tile_count(n);
    for (int64_t i = 0; i < n_tiles * 3 * 3 * MODAL_TILE; i++) {
        int64_t v = i / (9 * MODAL_TILE) * MODAL_TILE + i % MODAL_TILE;
        int mode = (int)(i / (3 * MODAL_TILE) % 3), k = (int)(i / MODAL_TILE % 3);
        double expected = v < n ? mode_value(mode, shape->surface.rest_positions + 3 * v, k) : 0;
        assert_true(fabs((double)shape->modes.modal_matrix[i] - expected) <=
                    0x1p-24 * fabs(expected) + 1e-13);
        if (v >= n) assert_true(shape->modes.modal_matrix[i] == 0);
    }
}

static void test_shape_boundary(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_surface_mesh surface;
    modal_shape shape = {0};
    int32_t *nodes;
    make_block(&mesh, 4, 0.1);
    assert_int_equal(modal_volume_mesh_boundary(&mesh, &surface, &nodes, NULL), MODAL_OK);
    assert_int_equal(modal_shape_surface_boundary(&mesh, &shape, NULL), MODAL_OK);
    give_modes(&shape, &mesh);
    assert_int_equal(modal_shape_modal_matrix(&shape, NULL), MODAL_OK);
    assert_true(shape.surface.n_vertices % MODAL_TILE != 0);
    check_shape(&shape, &surface);
    assert_int_equal(shape.embedding.kind, MODAL_SURFACE_BOUNDARY);
    assert_true(shape.embedding.farthest_outside == 0);
    assert_null(shape.surface.uv);
    for (int64_t v = 0; v < shape.surface.n_vertices; v++)
        assert_int_equal(shape.embedding.nodes[v], nodes[shape.surface.user_vertex[v]]);
    assert_null(shape.embedding.offsets);
    assert_null(shape.embedding.weights);
    modal_free(&nodes);
    modal_surface_mesh_free(&surface);
    modal_shape_free(&shape);
    modal_volume_mesh_free(&mesh);
}

/* A sheet through the cube and out of it, with texture coordinates. */
static void make_sheet(modal_surface_mesh *sheet, int32_t n)
{
    make_surface(sheet, n, n, 1);
    for (int64_t v = 0; v < sheet->n_vertices; v++) {
        double *p = sheet->positions + 3 * v;
        p[0] = 1.4 * p[0] / n - 0.2;
        p[1] = 0.1 + 0.8 * p[1] / n;
        p[2] = 0.5 + 0.2 * p[0];
    }
    sheet->n_uv = 5;
    assert_int_equal(modal_alloc(&sheet->uv, 10, sizeof(double), "uv", NULL), MODAL_OK);
    assert_int_equal(modal_alloc(&sheet->triangle_uv, 3 * sheet->n_triangles, sizeof(int32_t), "uv",
                                 NULL), MODAL_OK);
    for (int i = 0; i < 10; i++) sheet->uv[i] = random_unit();
    for (int64_t i = 0; i < 3 * sheet->n_triangles; i++)
        sheet->triangle_uv[i] = (int32_t)random_below(5);
}

static void test_shape_embedded(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_surface_mesh sheet;
    modal_shape shape = {0};
    modal_embed_summary summary;
    make_block(&mesh, 4, 0.1);
    make_sheet(&sheet, 13);
    /* In place of an earlier surface. */
    assert_int_equal(modal_shape_surface_boundary(&mesh, &shape, NULL), MODAL_OK);
    give_modes(&shape, &mesh);
    assert_int_equal(modal_shape_modal_matrix(&shape, NULL), MODAL_OK);
    assert_int_equal(modal_shape_surface_embedded(&mesh, &sheet, &shape, &summary, NULL), MODAL_OK);
    assert_null(shape.modes.modal_matrix);
    assert_int_equal(modal_shape_modal_matrix(&shape, NULL), MODAL_OK);
    check_shape(&shape, &sheet);
    assert_int_equal(shape.embedding.kind, MODAL_SURFACE_EMBEDDED);
    assert_true(fabs(shape.embedding.farthest_outside - 0.2) <= 1e-12);
    assert_true(summary.farthest_outside == shape.embedding.farthest_outside);
    double at = sheet.positions[3 * summary.farthest_point];
    assert_true(fabs(fabs(at - 0.5) - 0.7) <= 1e-12);
    int64_t n_outside = 0;
    for (int64_t v = 0; v < sheet.n_vertices; v++)
        n_outside += !(fabs(sheet.positions[3 * v] - 0.5) <= 0.5);
    assert_int_equal(summary.n_outside, n_outside);
    assert_int_equal(shape.surface.n_uv, 5);
    assert_memory_equal(shape.surface.uv, sheet.uv, 10 * sizeof(double));
    for (int64_t t = 0; t < shape.surface.n_triangles; t++)
        assert_memory_equal(shape.surface.triangle_uv + 3 * t, sheet.triangle_uv + 3 * shape.surface.user_triangle[t],
                            3 * sizeof(int32_t));

    /* Refusals leave the shape as it was. */
    const double *kept = shape.surface.rest_positions;
    modal_error err = {0};
    int32_t vertex = sheet.triangles[4];
    sheet.triangles[4] = sheet.triangles[3];
    assert_int_equal(modal_shape_surface_embedded(&mesh, &sheet, &shape, NULL, &err), MODAL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "triangle 1: vertex "));
    sheet.triangles[4] = vertex;
    sheet.positions[7] = NAN;
    memset(&err, 0, sizeof err);
    assert_int_equal(modal_shape_surface_embedded(&mesh, &sheet, &shape, NULL, &err), MODAL_ERROR_INPUT);
    assert_string_equal(err.message, "vertex 2: coordinate y is not finite");
    sheet.positions[7] = 0;
    int64_t n_triangles = sheet.n_triangles;
    sheet.n_triangles = 0;
    assert_int_equal(modal_shape_surface_embedded(&mesh, &sheet, &shape, NULL, NULL), MODAL_ERROR_INPUT);
    sheet.n_triangles = n_triangles;
    assert_ptr_equal(shape.surface.rest_positions, kept);

    const float *matrix = shape.modes.modal_matrix;
    double value = shape.solid.volume_modes[3 * (int64_t)shape.embedding.nodes[0]];
    shape.solid.volume_modes[3 * (int64_t)shape.embedding.nodes[0]] = 1e80;
    assert_int_equal(modal_shape_modal_matrix(&shape, NULL), MODAL_ERROR_INPUT);
    shape.solid.volume_modes[3 * (int64_t)shape.embedding.nodes[0]] = value;
    assert_ptr_equal(shape.modes.modal_matrix, matrix);
    modal_free(&shape.solid.volume_modes);
    assert_int_equal(modal_shape_modal_matrix(&shape, NULL), MODAL_ERROR_USAGE);
    modal_shape_free(&shape);
    modal_surface_mesh_free(&sheet);
    modal_volume_mesh_free(&mesh);
}

static void test_threads(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_surface_mesh sheet;
    modal_shape shapes[2] = {{0}, {0}};
    modal_embed_summary summary[2];
    make_block(&mesh, 6, 0.1);
    make_sheet(&sheet, 70);
    for (int i = 0; i < 2; i++) {
        omp_set_num_threads(i + 1);
        assert_int_equal(modal_shape_surface_embedded(&mesh, &sheet, &shapes[i], &summary[i], NULL),
                         MODAL_OK);
        give_modes(&shapes[i], &mesh);
        assert_int_equal(modal_shape_modal_matrix(&shapes[i], NULL), MODAL_OK);
    }
    size_t n = (size_t)sheet.n_vertices;
    assert_int_equal(summary[0].n_outside, summary[1].n_outside);
    assert_true(summary[0].n_outside > 0);
    assert_int_equal(summary[0].farthest_point, summary[1].farthest_point);
    assert_true(summary[0].farthest_outside == summary[1].farthest_outside);
    assert_memory_equal(shapes[0].embedding.nodes, shapes[1].embedding.nodes, 4 * n * sizeof(int32_t));
    assert_memory_equal(shapes[0].embedding.weights, shapes[1].embedding.weights, 4 * n * sizeof(double));
    assert_memory_equal(shapes[0].modes.modal_matrix, shapes[1].modes.modal_matrix,
                        (size_t)modal_tile_count((int64_t)n) * 9 * MODAL_TILE * sizeof(float));
    for (int i = 0; i < 2; i++) modal_shape_free(&shapes[i]);
    modal_surface_mesh_free(&sheet);
    modal_volume_mesh_free(&mesh);
}

/* Everything that this room does, until the first failure. */
static modal_status all_steps(modal_volume_mesh *mesh, const modal_surface_mesh *sheet,
                              modal_shape *shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_mesh_summary summary;
    MODAL_TRY(modal_volume_mesh_check(mesh, &summary, err));
    MODAL_TRY(modal_shape_surface_boundary(mesh, shape, err));
    MODAL_TRY(modal_shape_modal_matrix(shape, err));
    MODAL_TRY(modal_shape_surface_embedded(mesh, sheet, shape, NULL, err));
    MODAL_TRY(modal_shape_modal_matrix(shape, err));
done:
    return status;
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_surface_mesh sheet;
    make_mesh(&mesh, 8, cube_nodes[0], 6, cube_six[0]);
    make_sheet(&sheet, 3);
    int64_t n_failed = 0;
    for (int fired = 1; fired;) {
        modal_shape shape = {0};
        modal_error err = {0};
        give_modes(&shape, &mesh);
        modal_alloc_fail_at(n_failed + 1);
        modal_status status = all_steps(&mesh, &sheet, &shape, &err);
        fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
        assert_int_equal(err.status, status);
        if (!fired) check_shape(&shape, &sheet);
        modal_shape_free(&shape);
        n_failed += fired;
    }
    assert_true(n_failed > 50);
    modal_surface_mesh_free(&sheet);
    modal_volume_mesh_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distance),
        cmocka_unit_test(test_nearest_by_brute_force),
        cmocka_unit_test(test_linear_fields_are_exact),
        cmocka_unit_test(test_weights_in_flat_tetrahedra),
        cmocka_unit_test(test_embed_refuses),
        cmocka_unit_test(test_shape_boundary),
        cmocka_unit_test(test_shape_embedded),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
