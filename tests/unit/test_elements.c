/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of every type: tables, shape functions, quadrature, surfaces. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/fem/element_matrices.h"
#include "lib/mesh/boundary.h"
#include "tests/unit/element_fixtures.h"

/* Reference coordinates of the corners, by the definition in element.h. */
static const double corners_of[MODAL_ELEMENT_TYPES][8][3] = {
    [MODAL_ELEMENT_TET4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
    [MODAL_ELEMENT_TET10] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
    [MODAL_ELEMENT_HEX8] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                            {-1, -1, 1}, {1, -1, 1}, {1, 1, 1}, {-1, 1, 1}},
    [MODAL_ELEMENT_HEX20] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                             {-1, -1, 1}, {1, -1, 1}, {1, 1, 1}, {-1, 1, 1}},
    [MODAL_ELEMENT_WEDGE6] = {{0, 0, -1}, {1, 0, -1}, {0, 1, -1}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}},
    [MODAL_ELEMENT_PYRAMID5] = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}, {0, 0, 1}},
};

static void reference_node(int type, int node, double x[3])
{
    const modal_element_kind *kind = &modal_element_kinds[type];
    for (int k = 0; k < 3; k++)
        x[k] = node < kind->n_corners
                   ? corners_of[type][node][k]
                   : (corners_of[type][kind->edges[node - kind->n_corners][0]][k] +
                      corners_of[type][kind->edges[node - kind->n_corners][1]][k]) / 2;
}

/* Every edge belongs to two faces, which go through it in opposite directions; a face's mid-side nodes
 * are those of its edges; normals point outwards; the mirrored order is its own inverse. */
static void test_tables(void **state)
{
    (void)state;
    for (int type = 0; type < MODAL_ELEMENT_TYPES; type++) {
        const modal_element_kind *kind = &modal_element_kinds[type];
        int uses[8][8] = {{0}};
        double middle[3] = {0, 0, 0};
        assert_int_equal(kind->n_nodes, kind->n_corners + (kind->quadratic ? kind->n_edges : 0));
        for (int a = 0; a < kind->n_corners; a++)
            for (int k = 0; k < 3; k++) middle[k] += corners_of[type][a][k] / kind->n_corners;
        for (int f = 0; f < kind->n_faces; f++) {
            const modal_element_face *face = &kind->faces[f];
            const int c = face->n_corners;
            for (int i = 0; i < c; i++) {
                const int a = face->nodes[i], b = face->nodes[(i + 1) % c];
                uses[a][b]++;
                if (!kind->quadratic) continue;
                const uint8_t *edge = kind->edges[face->nodes[c + i] - kind->n_corners];
                assert_true((edge[0] == a && edge[1] == b) || (edge[0] == b && edge[1] == a));
            }
            double u[3], v[3], normal[3], out[3];
            for (int k = 0; k < 3; k++) {
                u[k] = corners_of[type][face->nodes[1]][k] - corners_of[type][face->nodes[0]][k];
                v[k] = corners_of[type][face->nodes[2]][k] - corners_of[type][face->nodes[0]][k];
                out[k] = corners_of[type][face->nodes[0]][k] - middle[k];
            }
            for (int k = 0; k < 3; k++)
                normal[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
            assert_true(normal[0] * out[0] + normal[1] * out[1] + normal[2] * out[2] > 0);
        }
        int n_edges = 0;
        for (int a = 0; a < 8; a++)
            for (int b = 0; b < 8; b++) {
                assert_true(uses[a][b] <= 1 && uses[a][b] == uses[b][a]);
                n_edges += uses[a][b];
            }
        assert_int_equal(n_edges, 2 * kind->n_edges);
        for (int i = 0; i < kind->n_edges; i++) assert_int_equal(uses[kind->edges[i][0]][kind->edges[i][1]], 1);
        for (int a = 0; a < kind->n_nodes; a++)
            assert_int_equal(kind->mirror[kind->mirror[a]], a);
        for (int i = 0; kind->quadratic && i < kind->n_edges; i++) {
            const uint8_t *to = kind->edges[kind->mirror[kind->n_corners + i] - kind->n_corners];
            const int a = kind->mirror[kind->edges[i][0]], b = kind->mirror[kind->edges[i][1]];
            assert_true((to[0] == a && to[1] == b) || (to[0] == b && to[1] == a));
        }
    }
}

static void test_shape_functions(void **state)
{
    (void)state;
    double values[20], derivatives[20][3], below[20], above[20], ignored[20][3];
    for (int type = 0; type < MODAL_ELEMENT_TYPES; type++) {
        const modal_element_kind *kind = &modal_element_kinds[type];
        for (int b = 0; b < kind->n_nodes; b++) {
            double x[3];
            reference_node(type, b, x);
            modal_element_shape((modal_element_type)type, x, values, derivatives);
            for (int a = 0; a < kind->n_nodes; a++) assert_true(fabs(values[a] - (a == b)) <= 1e-15);
        }
        for (int sample = 0; sample < 20; sample++) {
            const double x[3] = {0.3 * random_unit(), 0.3 * random_unit(), 0.3 * random_unit()};
            double sum = -1, slopes[3] = {0, 0, 0}, position[3] = {0, 0, 0};
            modal_element_shape((modal_element_type)type, x, values, derivatives);
            for (int a = 0; a < kind->n_nodes; a++) {
                double node[3];
                reference_node(type, a, node);
                sum += values[a];
                for (int k = 0; k < 3; k++) {
                    slopes[k] += derivatives[a][k];
                    position[k] += values[a] * node[k];
                }
            }
            assert_true(fabs(sum) <= 1e-14);
            for (int k = 0; k < 3; k++) {
                double low[3] = {x[0], x[1], x[2]}, high[3] = {x[0], x[1], x[2]};
                assert_true(fabs(slopes[k]) <= 1e-14 && fabs(position[k] - x[k]) <= 1e-14);
                low[k] -= 1e-5;
                high[k] += 1e-5;
                modal_element_shape((modal_element_type)type, low, below, ignored);
                modal_element_shape((modal_element_type)type, high, above, ignored);
                for (int a = 0; a < kind->n_nodes; a++)
                    assert_true(fabs((above[a] - below[a]) / 2e-5 - derivatives[a][k]) <= 1e-8);
            }
        }
    }
}

static double factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

/* The integral of r^i s^j t^k over the reference element. */
static double monomial(int type, int i, int j, int k)
{
    const double even = i % 2 == 0 && j % 2 == 0 ? 4.0 / ((i + 1) * (j + 1)) : 0;
    switch (type) {
    case MODAL_ELEMENT_TET4:
    case MODAL_ELEMENT_TET10:
        return factorial(i) * factorial(j) * factorial(k) / factorial(i + j + k + 3);
    case MODAL_ELEMENT_WEDGE6:
        return factorial(i) * factorial(j) / factorial(i + j + 2) * (k % 2 ? 0 : 2.0 / (k + 1));
    case MODAL_ELEMENT_PYRAMID5:
        return even * factorial(k) * factorial(i + j + 2) / factorial(i + j + k + 3);
    default: return k % 2 ? 0 : even * 2.0 / (k + 1);
    }
}

static void test_quadrature(void **state)
{
    (void)state;
    static const int degrees[MODAL_ELEMENT_TYPES][2] = {{1, 2}, {2, 5}, {3, 5}, {5, 5}, {2, 5}, {1, 3}};
    for (int type = 0; type < MODAL_ELEMENT_TYPES; type++)
        for (int integral = 0; integral < 2; integral++) {
            modal_element_rule rule;
            modal_element_rule_init((modal_element_type)type, (modal_element_integral)integral, &rule);
            for (int q = 0; q < rule.n_points; q++) assert_true(rule.weights[q] > 0);
            for (int d = 0; d <= degrees[type][integral]; d++)
                for (int i = 0; i <= d; i++)
                    for (int j = 0; i + j <= d; j++) {
                        double sum = 0;
                        for (int q = 0; q < rule.n_points; q++)
                            sum += rule.weights[q] * pow(rule.points[q][0], i) *
                                   pow(rule.points[q][1], j) * pow(rule.points[q][2], d - i - j);
                        if (!(fabs(sum - monomial(type, i, j, d - i - j)) <= 1e-14))
                            fail_msg("%s, rule %d, %d %d %d: %.17g", modal_element_kinds[type].name,
                                     integral, i, j, d - i - j, sum);
                    }
        }
}

/* The surface is closed and encloses the solid's volume; mid-side nodes are vertices. */
static void test_surface(void **state)
{
    (void)state;
    for (int type = 0; type < MESH_KINDS; type++) {
        modal_volume_mesh mesh;
        const int cells[3] = {3, 2, 2};
        modal_mesh_summary summary;
        element_mesh(&mesh, type, cells, NULL, 1);
        assert_int_equal(modal_volume_mesh_check(&mesh, &summary, NULL), MODAL_OK);
        assert_true(fabs(summary.volume - 1) <= 1e-14 && summary.n_components == 1);
        modal_surface_mesh surface;
        int32_t *nodes;
        assert_int_equal(modal_volume_mesh_boundary(&mesh, &surface, &nodes, NULL), MODAL_OK);
        double volume = 0;
        int64_t on_surface = 0;
        for (int64_t t = 0; t < surface.n_triangles; t++) {
            const double *x[3];
            for (int k = 0; k < 3; k++) x[k] = surface.positions + 3 * (int64_t)surface.triangles[3 * t + k];
            for (int k = 0; k < 3; k++)
                volume += x[0][k] * (x[1][(k + 1) % 3] * x[2][(k + 2) % 3] -
                                     x[1][(k + 2) % 3] * x[2][(k + 1) % 3]) / 6;
        }
        for (int64_t i = 0; i < mesh.n_nodes; i++) {
            int outer = 0;
            for (int k = 0; k < 3; k++)
                outer |= mesh.nodes[3 * i + k] == 0 || mesh.nodes[3 * i + k] == 1;
            on_surface += outer;
        }
        assert_true(fabs(volume - 1) <= 1e-14);
        assert_int_equal(surface.n_vertices, on_surface);
        modal_free(&nodes);
        modal_surface_mesh_free(&surface);
        modal_volume_mesh_free(&mesh);
    }
}

/* A hexahedron with a tetrahedron on half of its top. */
static void test_halves_refused(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_surface_mesh surface;
    int32_t *nodes;
    modal_error err = {0};
    modal_mesh_summary summary;
    solid_allocate(&mesh, 9, 2);
    modal_free(&mesh.element_nodes);
    assert_int_equal(modal_alloc(&mesh.element_nodes, 12, sizeof(int32_t), "", NULL), MODAL_OK);
    for (int a = 0; a < 8; a++) {
        for (int k = 0; k < 3; k++) mesh.nodes[3 * a + k] = corners_of[MODAL_ELEMENT_HEX8][a][k];
        mesh.element_nodes[a] = a;
    }
    memcpy(mesh.nodes + 24, (double[]){0, 0, 3}, 3 * sizeof(double));
    memcpy(mesh.element_nodes + 8, (int32_t[]){5, 6, 7, 8}, 4 * sizeof(int32_t));
    mesh.element_type[0] = MODAL_ELEMENT_HEX8;
    mesh.element_offsets[1] = 8;
    mesh.element_offsets[2] = 12;
    assert_int_equal(modal_volume_mesh_check(&mesh, &summary, NULL), MODAL_OK);
    assert_int_equal(modal_volume_mesh_boundary(&mesh, &surface, &nodes, &err), MODAL_ERROR_INPUT);
    assert_string_equal(err.message, "elements 5000 and 5001: the triangle 1005 1006 1007 of one lies on a "
                                     "quadrilateral of the other; a pyramid belongs between them");
    modal_volume_mesh_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_shape_functions),
        cmocka_unit_test(test_quadrature),
        cmocka_unit_test(test_surface),
        cmocka_unit_test(test_halves_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
