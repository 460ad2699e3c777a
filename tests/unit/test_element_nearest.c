/* SPDX-License-Identifier: Apache-2.0 */
/* lib/mesh/element_nearest.h, and lib/mesh/embed.h with elements of every type. */
#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/mesh/element_nearest.h"
#include "lib/mesh/element_shape.h"
#include "lib/mesh/embed.h"
#include "tests/unit/element_fixtures.h"

typedef enum place_kind { INSIDE, ON_FACE, ON_EDGE, ON_NODE, PLACE_KINDS } place_kind;

static void reference_node(int type, int node, double x[3])
{
    const modal_element_kind *kind = &modal_element_kinds[type];
    const uint8_t *edge = node < kind->n_corners ? NULL : kind->edges[node - kind->n_corners];
    for (int k = 0; k < 3; k++)
        x[k] = edge ? (modal_element_corners[type][edge[0]][k] + modal_element_corners[type][edge[1]][k]) / 2
                    : modal_element_corners[type][node][k];
}

/* A mixture of some of the corners, often close to a few of them; but farther from the sides than the
 * tolerance, within which the neighbour has a point. */
static void random_reference(int type, place_kind where, double at[3])
{
    const modal_element_kind *kind = &modal_element_kinds[type];
    const modal_element_face *face = &kind->faces[(int)(random_unit() * kind->n_faces)];
    const uint8_t *edge = kind->edges[(int)(random_unit() * kind->n_edges)];
    const int n = where == INSIDE ? kind->n_corners : where == ON_FACE ? face->n_corners : 2;
    const double power = random_unit() < 0.5 ? 1 : 4;
    double weights[8], sum = 0;
    if (where == ON_NODE) {
        reference_node(type, (int)(random_unit() * kind->n_nodes), at);
        return;
    }
    for (int a = 0; a < n; a++) sum += weights[a] = pow(random_unit(), power) + 1e-6;
    at[0] = at[1] = at[2] = 0;
    for (int a = 0; a < n; a++) {
        const int corner = where == INSIDE ? a : where == ON_FACE ? face->nodes[a] : edge[a];
        for (int k = 0; k < 3; k++) at[k] += weights[a] / sum * modal_element_corners[type][corner][k];
    }
}

static double interpolate(int n, const double *weights, const int32_t *nodes, const double *field)
{
    double sum = 0;
    for (int a = 0; a < n; a++) sum += weights[a] * field[nodes ? nodes[a] : a];
    return sum;
}

static void place_at(int type, const double *const *x, const double at[3], double values[20], double point[3])
{
    double slopes[20][3];
    modal_element_shape((modal_element_type)type, at, values, slopes);
    for (int k = 0; k < 3; k++) {
        point[k] = 0;
        for (int a = 0; a < modal_element_kinds[type].n_nodes; a++) point[k] += values[a] * x[a][k];
    }
}

static void positions(const modal_volume_mesh *mesh, int64_t e, const double *x[20])
{
    for (int a = 0; a < modal_mesh_kind(mesh, e)->n_nodes; a++)
        x[a] = mesh->nodes + 3 * (int64_t)modal_mesh_nodes(mesh, e)[a];
}

static void bend_more(const double x[3], double y[3])
{
    y[0] = x[0] + 0.12 * sin(3 * x[1] + x[2]);
    y[1] = 1.3 * x[1] + 0.1 * cos(4 * x[2] - x[0]);
    y[2] = 0.8 * x[2] + 0.15 * sin(2 * x[0] * x[1]) + 0.1 * x[0] * x[0];
}

enum { POINTS = 2000, FIELDS = 10 };

/* Of straight TET10 meshes: every quadratic. Of all: constants, linear fields (and so rigid motions), and
 * whatever else the shape functions hold. */
static void fill_field(const modal_volume_mesh *mesh, int field, int quadratic, double *values)
{
    double c[10];
    for (int i = 0; i < 10; i++) c[i] = i == 0 || (field > 0 && i < 4) || (field > 3 && quadratic) ? 2 * random_unit() - 1 : 0;
    for (int64_t i = 0; i < mesh->n_nodes; i++) {
        const double *x = mesh->nodes + 3 * i;
        values[i] = c[0] + c[1] * x[0] + c[2] * x[1] + c[3] * x[2] + c[4] * x[0] * x[0] + c[5] * x[1] * x[1] +
                    c[6] * x[2] * x[2] + c[7] * x[0] * x[1] + c[8] * x[1] * x[2] + c[9] * x[2] * x[0];
        if (field > 3 && !quadratic) values[i] = 2 * random_unit() - 1;
    }
}

/* Points of random elements, from their reference coordinates: each finds the same values again. */
static void check_inside(const char *name, const modal_volume_mesh *mesh, int straight)
{
    double *points = malloc(3 * POINTS * sizeof *points), *values = malloc(20 * POINTS * sizeof *values);
    double *field = malloc((size_t)mesh->n_nodes * sizeof *field), tolerance = 0, low[3], high[3];
    int32_t *from = malloc(POINTS * sizeof *from);
    modal_point_embedding embedding;
    modal_embed_summary summary;
    int64_t n_shared = 0;
    for (int i = 0; i < POINTS; i++) {
        const double *x[20];
        double at[3];
        from[i] = (int32_t)(random_unit() * (double)mesh->n_elements);
        const int type = mesh->element_type[from[i]];
        positions(mesh, from[i], x);
        random_reference(type, i % 3 ? INSIDE : (place_kind)(i / 3 % PLACE_KINDS), at);
        place_at(type, x, at, values + 20 * i, points + 3 * i);
    }
    for (int k = 0; k < 3; k++) low[k] = high[k] = mesh->nodes[k];
    for (int64_t i = 0; i < 3 * mesh->n_nodes; i++) {
        low[i % 3] = fmin(low[i % 3], mesh->nodes[i]);
        high[i % 3] = fmax(high[i % 3], mesh->nodes[i]);
    }
    for (int k = 0; k < 3; k++) tolerance += pow(high[k] - low[k], 2);
    tolerance = 1e-14 * sqrt(tolerance);
    for (int k = 0; k < 3; k++) tolerance = fmax(tolerance, 0x1p-50 * fmax(fabs(low[k]), fabs(high[k])));
    assert_int_equal(modal_embed_points(mesh, POINTS, points, &embedding, &summary, NULL), MODAL_OK);
    if (summary.n_outside)
        fail_msg("%s: %d outside, the farthest %g", name, (int)summary.n_outside, summary.farthest_outside);
    for (int i = 0; i < POINTS; i++) {
        const double *x[20];
        double at[3];
        const int32_t e = embedding.elements[i];
        const int64_t first = embedding.offsets[i];
        assert_int_equal(embedding.offsets[i + 1] - first, modal_mesh_kind(mesh, e)->n_nodes);
        assert_memory_equal(embedding.nodes + first, modal_mesh_nodes(mesh, e), modal_mesh_kind(mesh, e)->n_nodes * 4u);
        double sum = 0;
        for (int64_t j = first; j < embedding.offsets[i + 1]; j++) sum += embedding.weights[j];
        assert_true(fabs(sum - 1) <= 1e-14);
        assert_true(e <= from[i]);
        n_shared += e < from[i];
        /* the lowest that it is in */
        for (int32_t lower = 0; i % 97 == 0 && lower < e; lower++) {
            const modal_element_type type = (modal_element_type)mesh->element_type[lower];
            positions(mesh, lower, x);
            const int bent = modal_element_is_bent(type, x);
            assert_true(sqrt(modal_element_nearest(type, x, points + 3 * i, bent, at)) > 0.99 * tolerance);
        }
    }
    assert_in_range(n_shared, POINTS / 50, POINTS / 2);
    for (int f = 0; f < FIELDS; f++) {
        double largest = 0, error = 0;
        fill_field(mesh, f, straight, field);
        for (int64_t i = 0; i < mesh->n_nodes; i++) largest = fmax(largest, fabs(field[i]));
        for (int i = 0; i < POINTS; i++) {
            const int64_t first = embedding.offsets[i];
            const double carried = interpolate((int)(embedding.offsets[i + 1] - first), embedding.weights + first,
                                               embedding.nodes + first, field);
            const double exact = interpolate(modal_mesh_kind(mesh, from[i])->n_nodes, values + 20 * i,
                                             modal_mesh_nodes(mesh, from[i]), field);
            if (!(fabs(carried - exact) <= error)) error = fabs(carried - exact);
        }
        if (!(error <= 1e-12 * largest)) fail_msg("%s: field %d is off by %g of %g", name, f, error, largest);
    }
    modal_point_embedding_free(&embedding);
    free(points);
    free(values);
    free(field);
    free(from);
}

static void test_inside(void **state)
{
    (void)state;
    static const struct {
        mesh_map map;
        int straight;
    } shapes[4] = {{NULL, 1}, {bend, 1}, {bend, 0}, {bend_more, 0}};
    for (int type = 0; type < MESH_KINDS; type++)
        for (int s = 0; s < 4; s++) {
            modal_volume_mesh mesh;
            make(&mesh, type, 3, shapes[s].map, shapes[s].straight);
            check_inside(element_mesh_name(type), &mesh, shapes[s].straight && type == MODAL_ELEMENT_TET10);
            for (int64_t i = 0; i < 3 * mesh.n_nodes; i++) mesh.nodes[i] += 10;
            if (s == 3) check_inside("far from the origin", &mesh, 0);
            modal_volume_mesh_free(&mesh);
        }
}

/* One element of random nodes. Its Jacobian is positive, asked at many of its points: then it is folded
 * nowhere. */
static int random_element(int type, double amount, double nodes[20][3], const double *x[20])
{
    const modal_element_kind *kind = &modal_element_kinds[type];
    double values[20], slopes[20][3], jacobian[3][3];
    for (int a = 0; a < kind->n_nodes; a++) {
        reference_node(type, a, nodes[a]);
        for (int k = 0; k < 3; k++) nodes[a][k] += amount * (2 * random_unit() - 1);
        x[a] = nodes[a];
    }
    modal_element_shape((modal_element_type)type, modal_element_centres[type], values, slopes);
    const double centre = modal_element_jacobian(kind->n_nodes, (const double(*)[3])slopes, x, jacobian);
    for (int i = 0; i < 400; i++) {
        double at[3];
        if (i < kind->n_nodes) reference_node(type, i, at);
        else random_reference(type, (place_kind)(i % 3), at);
        if (i == 4 && type == MODAL_ELEMENT_PYRAMID5) continue; /* the apex, where it has no value */
        modal_element_shape((modal_element_type)type, at, values, slopes);
        if (!(modal_element_jacobian(kind->n_nodes, (const double(*)[3])slopes, x, jacobian) > 0.05 * centre)) return 0;
    }
    return centre > 0;
}

/* Elements far from their plain shape, and their boxes. */
static void test_distorted(void **state)
{
    (void)state;
    static const double amounts[4] = {0.02, 0.1, 0.2, 0.35};
    for (int type = MODAL_ELEMENT_TET10; type < MODAL_ELEMENT_TYPES; type++) {
        int n_bent = 0, n_elements = 0, n_lost = 0;
        for (int run = 0; run < 2000; run++) {
            double nodes[20][3], low[3], high[3], size = 0;
            const double *x[20];
            const int in_unit = type == MODAL_ELEMENT_TET10;
            if (!random_element(type, (in_unit ? 0.5 : 1) * amounts[run % 4], nodes, x)) continue;
            const int bent = modal_element_is_bent((modal_element_type)type, x);
            modal_element_box((modal_element_type)type, x, low, high);
            for (int k = 0; k < 3; k++) size = fmax(size, high[k] - low[k]);
            n_elements++;
            n_bent += bent;
            for (int i = 0; i < 20; i++) {
                double at[3], found[3], point[3], values[20], weights[20], field[20];
                random_reference(type, i % 3 ? INSIDE : (place_kind)(i / 3 % PLACE_KINDS), at);
                place_at(type, x, at, values, point);
                for (int k = 0; k < 3; k++) assert_true(point[k] >= low[k] - 1e-14 && point[k] <= high[k] + 1e-14);
                const double distance = sqrt(modal_element_nearest((modal_element_type)type, x, point, bent, found));
                if (!(distance <= 1e-12 * size)) {
                    n_lost++;
                    continue;
                }
                modal_element_weights((modal_element_type)type, x, point, found, weights);
                for (int a = 0; a < 20; a++) field[a] = 2 * random_unit() - 1;
                const int n = modal_element_kinds[type].n_nodes;
                if (!(fabs(interpolate(n, weights, NULL, field) - interpolate(n, values, NULL, field)) <= 1e-12)) n_lost++;
            }
        }
        print_message("%s: %d elements, %d of them bent\n", modal_element_kinds[type].name, n_elements, n_bent);
        assert_true(n_elements > 500 && n_bent > 0 && n_bent < n_elements);
        assert_int_equal(n_lost, 0);
    }
}

/* A linear field and a rotation, at the points and carried there: equal but for rounding. */
static void check_linear(const char *name, const modal_volume_mesh *mesh, int64_t n, const double *points,
                         const modal_point_embedding *embedding)
{
    for (int field = 0; field < 6; field++) {
        double gradient[3], spin[3] = {random_unit(), random_unit(), random_unit()};
        for (int k = 0; k < 3; k++) gradient[k] = 2 * random_unit() - 1;
        /* the last three: a component of spin x position */
        for (int k = 0; k < 3 && field >= 3; k++)
            gradient[k] = k == field - 3 ? 0 : (k == (field - 2) % 3 ? -spin[(field - 1) % 3] : spin[(field - 2) % 3]);
        for (int64_t i = 0; i < n; i++) {
            double error = -0.3, size = 0.3;
            for (int k = 0; k < 3; k++) error -= gradient[k] * points[3 * i + k];
            for (int64_t j = embedding->offsets[i]; j < embedding->offsets[i + 1]; j++) {
                const double *x = mesh->nodes + 3 * (int64_t)embedding->nodes[j];
                const double value = 0.3 + gradient[0] * x[0] + gradient[1] * x[1] + gradient[2] * x[2];
                error += embedding->weights[j] * value;
                size += fabs(embedding->weights[j]);
            }
            if (!(fabs(error) <= 1e-14 * size)) fail_msg("%s: point %d: %g of %g", name, (int)i, error, size);
        }
    }
}

static double squared(const double a[3], const double b[3])
{
    return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]);
}

enum { OUTSIDE = 300, SAMPLES = 12 };

/* The distance is that to the surface, sampled finely; linear fields are exact; close to the surface the
 * values are those of the surface; far away weights grow like the distance, not like its square. */
static void test_outside(void **state)
{
    (void)state;
    for (int type = 0; type < MESH_KINDS; type++) {
        modal_volume_mesh mesh;
        make(&mesh, type, 2, bend, 0);
        double *points = malloc(3 * OUTSIDE * sizeof *points), *sampled = malloc(OUTSIDE * sizeof *sampled);
        double *field = malloc((size_t)mesh.n_nodes * sizeof *field), gap = 0;
        modal_point_embedding embedding;
        modal_embed_summary summary;
        fill_field(&mesh, FIELDS, 0, field);
        for (int i = 0; i < OUTSIDE; i++) { /* a shell of directions around the block */
            double d[3] = {random_unit() - 0.5, random_unit() - 0.5, random_unit() - 0.5}, most = 0;
            for (int k = 0; k < 3; k++) most = fmax(most, fabs(d[k]));
            for (int k = 0; k < 3; k++) points[3 * i + k] = 0.5 + (0.65 + random_unit()) * d[k] / most;
            sampled[i] = INFINITY;
        }
        for (int64_t e = 0; e < mesh.n_elements; e++) {
            const int t = mesh.element_type[e];
            const double *x[20];
            positions(&mesh, e, x);
            for (int f = 0; f < modal_element_kinds[t].n_faces; f++) {
                const modal_element_face *face = &modal_element_kinds[t].faces[f];
                const double(*c)[3] = modal_element_corners[t];
                double last[3] = {0, 0, 0};
                for (int s = 0; s <= SAMPLES * SAMPLES + 2 * SAMPLES; s++) {
                    double u = (double)(s / (SAMPLES + 1)) / SAMPLES, v = (double)(s % (SAMPLES + 1)) / SAMPLES, at[3];
                    double values[20], place[3];
                    const int n = face->n_corners;
                    if (n == 3) v *= 1 - u;
                    for (int k = 0; k < 3; k++) /* bilinear, or linear */
                        at[k] = n == 3 ? c[face->nodes[0]][k] * (1 - u - v) + c[face->nodes[1]][k] * u + c[face->nodes[2]][k] * v
                                       : (1 - u) * ((1 - v) * c[face->nodes[0]][k] + v * c[face->nodes[3]][k]) +
                                             u * ((1 - v) * c[face->nodes[1]][k] + v * c[face->nodes[2]][k]);
                    place_at(t, x, at, values, place);
                    for (int i = 0; i < OUTSIDE; i++) sampled[i] = fmin(sampled[i], sqrt(squared(place, points + 3 * i)));
                    if (s % (SAMPLES + 1)) gap = fmax(gap, sqrt(squared(place, last)));
                    memcpy(last, place, sizeof last);
                }
            }
        }
        assert_int_equal(modal_embed_points(&mesh, OUTSIDE, points, &embedding, &summary, NULL), MODAL_OK);
        assert_int_equal(summary.n_outside, OUTSIDE);
        check_linear(element_mesh_name(type), &mesh, OUTSIDE, points, &embedding);
        double farthest = 0;
        for (int i = 0; i < OUTSIDE; i++) {
            const double *x[20];
            double at[3], least = INFINITY;
            for (int64_t e = 0; e < mesh.n_elements; e++) {
                positions(&mesh, e, x);
                const modal_element_type t = (modal_element_type)mesh.element_type[e];
                least = fmin(least, sqrt(modal_element_nearest(t, x, points + 3 * i, 1, at)));
            }
            assert_true(least <= sampled[i] + 1e-12 && least >= sampled[i] - gap * gap / sampled[i]);
            farthest = fmax(farthest, least);
        }
        assert_true(fabs(summary.farthest_outside - farthest) <= 1e-12);
        modal_point_embedding_free(&embedding);

        /* Along a line away from the surface. */
        for (int i = 0; i < 100; i++) {
            static const double away[6] = {1e-9, 1e-6, 1e-3, 1e2, 1e3, 1e4};
            double surface[3], line[18], out[3] = {0, 0, 0}, values[20], at[3], sizes[6] = {0}, carried[6] = {0};
            const int64_t e = (int64_t)(random_unit() * (double)mesh.n_elements);
            const int t = mesh.element_type[e];
            const double *x[20];
            positions(&mesh, e, x);
            random_reference(t, ON_FACE, at);
            place_at(t, x, at, values, surface);
            const double exact = interpolate(modal_element_kinds[t].n_nodes, values, modal_mesh_nodes(&mesh, e), field);
            for (int k = 0; k < 3; k++) out[k] = surface[k] - 0.5;
            for (int d = 0; d < 6; d++)
                for (int k = 0; k < 3; k++) line[3 * d + k] = surface[k] + away[d] * out[k];
            assert_int_equal(modal_embed_points(&mesh, 6, line, &embedding, &summary, NULL), MODAL_OK);
            check_linear(element_mesh_name(type), &mesh, 6, line, &embedding);
            for (int d = 0; d < 6; d++)
                for (int64_t j = embedding.offsets[d]; j < embedding.offsets[d + 1]; j++) {
                    sizes[d] += fabs(embedding.weights[j]);
                    carried[d] += embedding.weights[j] * field[embedding.nodes[j]];
                }
            for (int d = 0; d < 3; d++) assert_true(fabs(carried[d] - exact) <= 1e-12 + 200 * away[d]);
            assert_true(sizes[5] <= 20 * sizes[4] && sizes[4] <= 20 * sizes[3]);
            modal_point_embedding_free(&embedding);
        }
        free(points);
        free(sampled);
        free(field);
        modal_volume_mesh_free(&mesh);
    }
}

/* One hexahedron whose sides bulge past the plane of their corners, by 0.3: what is between is inside. */
static void test_sliver(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_mesh_summary box;
    modal_point_embedding embedding;
    modal_embed_summary summary;
    double points[9] = {1.25, 0, 0, 1.55, 0, 0, 1.65, 0, 0};
    make(&mesh, MODAL_ELEMENT_HEX20, 1, NULL, 1);
    for (int a = 0; a < 20; a++) {
        double *x = mesh.nodes + 3 * (int64_t)mesh.element_nodes[a];
        reference_node(MODAL_ELEMENT_HEX20, a, x);
        for (int k = 0; a >= 8 && k < 3; k++) x[k] *= 1.3;
    }
    assert_int_equal(modal_volume_mesh_check(&mesh, &box, NULL), MODAL_OK);
    assert_int_equal(modal_embed_points(&mesh, 3, points, &embedding, &summary, NULL), MODAL_OK);
    /* the middle of the side is at -4/4 + 4/2 1.3 = 1.6 */
    assert_int_equal(summary.n_outside, 1);
    assert_int_equal(summary.farthest_point, 2);
    assert_true(fabs(summary.farthest_outside - 0.05) <= 1e-14);
    check_linear("sliver", &mesh, 3, points, &embedding);
    for (int i = 0; i < 2; i++) { /* along the axis x(r) = r (1.3 + 0.3 (1 - 0) ...) is odd: by bisection */
        double low = 0, high = 1, values[20], place[3];
        const double *x[20];
        positions(&mesh, 0, x);
        for (int step = 0; step < 60; step++) {
            const double r = (low + high) / 2;
            place_at(MODAL_ELEMENT_HEX20, x, (double[]){r, 0, 0}, values, place);
            if (place[0] < points[3 * i]) low = r;
            else high = r;
        }
        for (int a = 0; a < 20; a++) assert_true(fabs(values[a] - embedding.weights[20 * i + a]) <= 1e-13);
    }
    modal_point_embedding_free(&embedding);
    modal_volume_mesh_free(&mesh);
}

/* Collapsed corners, where Jacobians vanish: points are found, carry linear fields, and those outside are
 * not thrown far away. The pyramid's apex. Flat elements. */
static void test_collapsed(void **state)
{
    (void)state;
    static const int types[3] = {MODAL_ELEMENT_TET10, MODAL_ELEMENT_HEX20, MODAL_ELEMENT_HEX8};
    for (int run = 0; run < 3; run++) {
        const int type = types[run], n = modal_element_kinds[type].n_nodes;
        modal_volume_mesh mesh;
        modal_mesh_summary box;
        modal_point_embedding embedding;
        modal_embed_summary summary;
        double points[3 * 200];
        const double *x[20];
        make(&mesh, type, 1, NULL, 1);
        positions(&mesh, 0, x);
        double *corner = mesh.nodes + 3 * (int64_t)mesh.element_nodes[0];
        for (int i = 0; type != MODAL_ELEMENT_HEX8 && i < modal_element_kinds[type].n_edges; i++) {
            /* quarter points, as at a crack's tip */
            const uint8_t *edge = modal_element_kinds[type].edges[i];
            double *middle = mesh.nodes + 3 * (int64_t)mesh.element_nodes[modal_element_kinds[type].n_corners + i];
            for (int k = 0; k < 3 && edge[0] == 0; k++) middle[k] = 0.75 * corner[k] + 0.25 * x[edge[1]][k];
            for (int k = 0; k < 3 && edge[1] == 0; k++) middle[k] = 0.75 * corner[k] + 0.25 * x[edge[0]][k];
        }
        if (type == MODAL_ELEMENT_HEX8) { /* two edges in one: a wedge */
            memcpy(corner, x[1], 3 * sizeof *corner);
            memcpy(mesh.nodes + 3 * (int64_t)mesh.element_nodes[4], x[5], 3 * sizeof *corner);
        }
        mesh.n_elements = 1;
        assert_int_equal(modal_volume_mesh_check(&mesh, &box, NULL), MODAL_OK);
        positions(&mesh, 0, x);
        for (int i = 0; i < 200; i++) {
            double at[3], values[20];
            random_reference(type, i == 0 ? ON_NODE : (place_kind)(i % 3), at);
            if (i < 4) memcpy(at, modal_element_corners[type][0], sizeof at);
            place_at(type, x, at, values, points + 3 * i);
            /* beyond the collapsed corner */
            for (int k = 0; k < 3 && (i == 1 || i == 2); k++) points[3 * i + k] += (points[3 * i + k] - 0.5) * (i == 1 ? 1e-3 : 0.5);
        }
        assert_int_equal(modal_embed_points(&mesh, 200, points, &embedding, &summary, NULL), MODAL_OK);
        assert_int_equal(summary.n_outside, 2);
        check_linear(modal_element_kinds[type].name, &mesh, 200, points, &embedding);
        for (int i = 0; i < 200; i++) {
            double size = 0;
            for (int a = 0; a < n; a++) size += fabs(embedding.weights[n * i + a]);
            assert_true(size <= 20);
        }
        modal_point_embedding_free(&embedding);
        modal_volume_mesh_free(&mesh);
    }

    double nodes[20][3];
    const double *x[20];
    for (int run = 0; run < 500; run++) {
        if (!random_element(MODAL_ELEMENT_PYRAMID5, 0.3, nodes, x)) continue;
        for (int digits = 0; digits < 18; digits++) {
            const double u = pow(10, -digits), a = 2 * random_unit() - 1, b = 2 * random_unit() - 1;
            double values[20], weights[20], field[5], point[3], at[3];
            place_at(MODAL_ELEMENT_PYRAMID5, x, (double[]){a * u, b * u, 1 - u}, values, point);
            const int bent = modal_element_is_bent(MODAL_ELEMENT_PYRAMID5, x);
            assert_true(modal_element_nearest(MODAL_ELEMENT_PYRAMID5, x, point, bent, at) <= 1e-24);
            modal_element_weights(MODAL_ELEMENT_PYRAMID5, x, point, at, weights);
            for (int i = 0; i < 5; i++) field[i] = 2 * random_unit() - 1;
            assert_true(fabs(interpolate(5, weights, NULL, field) - interpolate(5, values, NULL, field)) <= 1e-12);
        }
    }

    for (int type = 0; type < MESH_KINDS; type++) {
        modal_volume_mesh mesh;
        make(&mesh, type, 3, bend, 0);
        for (int64_t i = 0; i < mesh.n_nodes; i++) mesh.nodes[3 * i + 2] *= 1e-4;
        check_inside("flat", &mesh, 0);
        modal_volume_mesh_free(&mesh);
    }
}

static void test_threads(void **state)
{
    (void)state;
    static const int types[2] = {MODAL_ELEMENT_HEX20, MESH_MIXED};
    double *points = malloc(3 * POINTS * sizeof *points);
    for (int run = 0; run < 2; run++) {
        modal_volume_mesh mesh;
        modal_point_embedding embedding[3];
        modal_embed_summary summary[3];
        make(&mesh, types[run], 3, bend_more, 0);
        for (int i = 0; i < 3 * POINTS; i++) points[i] = 1.6 * random_unit() - 0.3;
        for (int t = 0; t < 3; t++) {
            omp_set_num_threads(1 + 2 * t);
            assert_int_equal(modal_embed_points(&mesh, POINTS, points, &embedding[t], &summary[t], NULL), MODAL_OK);
            const size_t n = (size_t)embedding[0].offsets[POINTS];
            assert_in_range(summary[t].n_outside, POINTS / 10, POINTS - POINTS / 10);
            assert_memory_equal(&summary[t], &summary[0], sizeof summary[0]);
            assert_memory_equal(embedding[t].offsets, embedding[0].offsets, (POINTS + 1) * sizeof(int64_t));
            assert_memory_equal(embedding[t].elements, embedding[0].elements, POINTS * sizeof(int32_t));
            assert_memory_equal(embedding[t].nodes, embedding[0].nodes, n * sizeof(int32_t));
            assert_memory_equal(embedding[t].weights, embedding[0].weights, n * sizeof(double));
        }
        for (int t = 0; t < 3; t++) modal_point_embedding_free(&embedding[t]);
        modal_volume_mesh_free(&mesh);
    }
    free(points);
}

/* So far that squares overflow: refused, whichever of them overflows first. */
static void test_too_far(void **state)
{
    (void)state;
    for (int type = 0; type < MESH_KINDS; type++)
        for (int n = 1; n < 3; n++) {
            modal_volume_mesh mesh;
            make(&mesh, type, n, bend, 0);
            for (int power = 10; power <= 300; power += 5) {
                const double point[3] = {pow(10, power), -pow(10, power), 0.1};
                modal_point_embedding embedding;
                modal_embed_summary summary;
                const modal_status status = modal_embed_points(&mesh, 1, point, &embedding, &summary, NULL);
                assert_int_equal(status, power <= 70 || status == MODAL_OK ? MODAL_OK : MODAL_ERROR_INPUT);
                if (status != MODAL_OK) {
                    assert_null(embedding.weights);
                    continue;
                }
                assert_true(power <= 154 && summary.n_outside == 1);
                for (int64_t j = 0; j < embedding.offsets[1]; j++) assert_true(isfinite(embedding.weights[j]));
                modal_point_embedding_free(&embedding);
            }
            modal_volume_mesh_free(&mesh);
        }
}

int main(void)
{
    omp_set_num_threads(1); /* but for test_threads */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inside),
        cmocka_unit_test(test_distorted),
        cmocka_unit_test(test_outside),
        cmocka_unit_test(test_sliver),
        cmocka_unit_test(test_collapsed),
        cmocka_unit_test(test_too_far),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
