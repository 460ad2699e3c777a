/* SPDX-License-Identifier: Apache-2.0 */
/* lib/mesh on real meshes: against VegaFEM's embedding, time of each step, and the table in
 * lib/mesh/order.h, which this program prints. Skipped where the folder of meshes is absent. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib/base/sort.h"
#include "lib/mesh/boundary.h"
#include "lib/mesh/check.h"
#include "lib/mesh/embed.h"
#include "lib/mesh/order.h"
#include "lib/mesh/tables.h"
#include "lib/shape/shape_surface.h"
#include "tests/unit/test_mesh_helpers.h"

static const char *BRIDGE = MODAL_TEST_DATA "/simpleBridge/simpleBridge-ic_128_0.15_.1.veg";
static const char *BRIDGE_SURFACE = MODAL_TEST_DATA "/simpleBridge/simpleBridge.obj";
static const char *BRIDGE_INTERP = MODAL_TEST_DATA "/simpleBridge/simpleBridge.interp";
static const char *YEAHRIGHT = MODAL_TEST_DATA "/yeahright/yeahright-on-ground.veg";
static const char *BUNNY = MODAL_TEST_DATA "/stanford/bunny_10k.off";
static const char *DRAGON = MODAL_TEST_DATA "/stanford/dragon_10k.msh";

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static FILE *open_or_skip(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        printf("SKIPPED: no %s\n", path);
        skip();
    }
    return file;
}

static void find_line(FILE *file, const char *start)
{
    char line[512];
    while (fgets(line, sizeof line, file))
        if (strncmp(line, start, strlen(start)) == 0) return;
    fail_msg("no line %s", start);
}

static void read_veg(FILE *file, modal_volume_mesh *mesh)
{
    long n_nodes, n_elements;
    find_line(file, "*VERTICES");
    assert_int_equal(fscanf(file, "%ld 3 0 0", &n_nodes), 1);
    double *nodes = malloc(3 * (size_t)n_nodes * sizeof *nodes);
    for (long i = 0; i < n_nodes; i++)
        assert_int_equal(fscanf(file, "%*d %lf %lf %lf", nodes + 3 * i, nodes + 3 * i + 1,
                                nodes + 3 * i + 2), 3);
    find_line(file, "TET");
    assert_int_equal(fscanf(file, "%ld 4 0", &n_elements), 1);
    int32_t *t = malloc(4 * (size_t)n_elements * sizeof *t);
    for (long i = 0; i < n_elements; i++)
        assert_int_equal(fscanf(file, "%*d %d %d %d %d", t + 4 * i, t + 4 * i + 1, t + 4 * i + 2,
                                t + 4 * i + 3), 4);
    for (long i = 0; i < 4 * n_elements; i++) t[i]--;
    make_mesh(mesh, n_nodes, nodes, n_elements, t);
    free(nodes);
    free(t);
    fclose(file);
}

/* ASCII .msh 4.1 of tetrahedra. */
static void read_msh(FILE *file, modal_volume_mesh *mesh)
{
    long n_blocks, n_nodes, n_listed, highest, dimension, type, n;
    find_line(file, "$Nodes");
    assert_int_equal(fscanf(file, "%ld %ld %*d %ld", &n_blocks, &n_nodes, &highest), 3);
    double *nodes = malloc(3 * (size_t)n_nodes * sizeof *nodes);
    long *tags = malloc((size_t)n_nodes * sizeof *tags), place = 0;
    int32_t *index = malloc((size_t)(highest + 1) * sizeof *index);
    for (long b = 0; b < n_blocks; b++, place += n) {
        assert_int_equal(fscanf(file, "%*d %*d %*d %ld", &n), 1);
        for (long i = place; i < place + n; i++) assert_int_equal(fscanf(file, "%ld", tags + i), 1);
        for (long i = place; i < place + n; i++) {
            index[tags[i]] = (int32_t)i;
            assert_int_equal(fscanf(file, "%lf %lf %lf", nodes + 3 * i, nodes + 3 * i + 1,
                                    nodes + 3 * i + 2), 3);
        }
    }
    find_line(file, "$Elements");
    assert_int_equal(fscanf(file, "%ld %ld %*d %*d", &n_blocks, &n_listed), 2);
    int32_t *t = malloc(4 * (size_t)n_listed * sizeof *t);
    long n_elements = 0;
    for (long b = 0; b < n_blocks; b++) {
        assert_int_equal(fscanf(file, "%ld %*d %ld %ld", &dimension, &type, &n), 3);
        for (long i = 0; i < n; i++) {
            long tag;
            assert_int_equal(fscanf(file, "%ld", &tag), 1);
            for (int k = 0; k < (int)dimension + 1; k++) {
                assert_int_equal(fscanf(file, "%ld", &tag), 1);
                if (type == 4) t[4 * n_elements + k] = index[tag];
            }
            n_elements += type == 4;
        }
    }
    make_mesh(mesh, n_nodes, nodes, n_elements, t);
    free(nodes);
    free(tags);
    free(index);
    free(t);
    fclose(file);
}

/* Vertices, and faces cut into fans, of an .obj or of an .off without colours. */
static void read_surface(FILE *file, modal_surface_mesh *surface)
{
    char line[4096];
    int64_t capacity = 0, triangle_capacity = 0;
    long n_off = -1, listed = 0;
    memset(surface, 0, sizeof *surface);
    while (fgets(line, sizeof line, file)) {
        double p[3];
        char *at = line, *end = line;
        int is_vertex = line[0] == 'v' && line[1] == ' ', is_face = line[0] == 'f';
        if (strncmp(line, "OFF", 3) == 0) {
            assert_int_equal(fscanf(file, "%ld %*d %*d ", &n_off), 1);
            continue;
        }
        if (n_off >= 0) {
            is_vertex = listed < n_off;
            is_face = !is_vertex;
            listed++;
        }
        if (is_vertex) {
            assert_int_equal(sscanf(n_off >= 0 ? line : line + 1, "%lf %lf %lf", p, p + 1, p + 2), 3);
            assert_int_equal(modal_grow(&surface->positions, &capacity, 3 * surface->n_vertices + 3,
                                        sizeof(double), "p", NULL), MODAL_OK);
            memcpy(surface->positions + 3 * surface->n_vertices++, p, sizeof p);
        } else if (is_face) {
            int32_t fan[3] = {0};
            if (n_off < 0) at++;
            else strtol(at, &at, 10);
            for (int k = 0;; k++) {
                long v = strtol(at, &end, 10);
                if (end == at) break;
                at = end + strcspn(end, " \n\r");
                int32_t vertex = (int32_t)(n_off >= 0 ? v : v - 1);
                if (k < 2) {
                    fan[k] = vertex;
                    continue;
                }
                fan[2] = vertex;
                assert_int_equal(modal_grow(&surface->triangles, &triangle_capacity,
                                            3 * surface->n_triangles + 3, sizeof(int32_t), "t",
                                            NULL), MODAL_OK);
                memcpy(surface->triangles + 3 * surface->n_triangles++, fan, sizeof fan);
                fan[1] = fan[2];
            }
        }
    }
    fclose(file);
}

static void test_embedding_of_vegafem(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_surface_mesh surface;
    modal_mesh_summary summary;
    modal_embed_summary outside;
    modal_error err = {0};
    FILE *interp = open_or_skip(BRIDGE_INTERP);
    read_veg(open_or_skip(BRIDGE), &mesh);
    read_surface(open_or_skip(BRIDGE_SURFACE), &surface);
    assert_int_equal(modal_volume_mesh_check(&mesh, &summary, &err), MODAL_OK);
    assert_int_equal(surface.n_vertices, 16085);
    int64_t n = surface.n_vertices, n_same = 0, n_ties = 0, n_inside = 0, n_shared = 0;
    modal_point_embedding embedding;
    double largest = 0, start = now();
    assert_int_equal(modal_embed_points(&mesh, n, surface.positions, &embedding, &outside, &err), MODAL_OK);
    double seconds = now() - start;
    for (int64_t i = 0; i < n; i++) {
        long index, their_node[4];
        double their_weight[4], difference = 0, lowest = 1;
        assert_int_equal(fscanf(interp, "%ld %ld %lf %ld %lf %ld %lf %ld %lf", &index,
                                their_node, their_weight, their_node + 1, their_weight + 1,
                                their_node + 2, their_weight + 2, their_node + 3, their_weight + 3),
                         9);
        assert_int_equal(index, i);
        int common = 0;
        for (int a = 0; a < 4; a++) {
            lowest = fmin(lowest, their_weight[a]);
            double mine = 0;
            for (int b = 0; b < 4; b++)
                if (embedding.nodes[4 * i + b] == their_node[a]) {
                    common++;
                    mine = embedding.weights[4 * i + b];
                }
            if (!(fabs(mine - their_weight[a]) <= difference)) difference = fabs(mine - their_weight[a]);
        }
        n_inside += lowest >= 0;
        n_same += common == 4;
        /* Inside the same tetrahedron, or on a face, edge or node that two of them share: either
         * way each common node has its weight and the others have none. Outside, VegaFEM takes the
         * tetrahedron by a rule of its own: only where both took the same one can weights agree. */
        if (lowest >= 0 && common < 4) n_ties++;
        if (lowest >= 0 || common == 4) {
            n_shared++;
            if (!(difference <= largest)) largest = difference;
        }
    }
    fclose(interp);
    printf("simpleBridge: %lld vertices in %.1f ms; %lld outside, farthest %.3g; VegaFEM: %lld "
           "inside, the same tetrahedron for %lld in all, %lld ties, largest difference %.2g of %lld\n",
           (long long)n, 1e3 * seconds, (long long)outside.n_outside, outside.farthest_outside,
           (long long)n_inside, (long long)n_same, (long long)n_ties, largest, (long long)n_shared);
    assert_true(largest <= 1e-5);
    assert_true(n_inside > n / 2);
    assert_true(n_ties < n_inside / 100);
    modal_point_embedding_free(&embedding);
    modal_volume_mesh_free(&mesh);
    modal_surface_mesh_free(&surface);
}

static double lines_of(const modal_surface_mesh *surface, const int32_t *user_vertex)
{
    modal_surface_tables tables;
    int64_t n_triangles = surface->n_triangles;
    double lines = NAN, *positions = malloc(3 * (size_t)surface->n_vertices * sizeof *positions);
    int32_t *triangles = malloc(3 * (size_t)n_triangles * sizeof *triangles);
    int32_t *user_triangle = malloc((size_t)n_triangles * sizeof *user_triangle);
    for (int64_t t = 0; t < n_triangles; t++) user_triangle[t] = (int32_t)t;
    assert_int_equal(modal_order_apply(surface, user_vertex, user_triangle, positions, triangles,
                                       NULL, NULL), MODAL_OK);
    assert_int_equal(modal_surface_tables_build(surface->n_vertices, n_triangles, triangles, &tables,
                                                NULL), MODAL_OK);
    assert_int_equal(modal_order_gather_lines(surface->n_vertices, tables.ring_offsets, tables.ring,
                                              &lines, NULL), MODAL_OK);
    modal_surface_tables_free(&tables);
    free(positions);
    free(triangles);
    free(user_triangle);
    return lines;
}

/* Reverse Cuthill-McKee: breadth first from a vertex of least valence, rings by ascending valence. */
static void rcm_order(const modal_surface_mesh *surface, int32_t *order)
{
    modal_surface_tables tables;
    int64_t n = surface->n_vertices, count = 0, head = 0;
    assert_int_equal(modal_surface_tables_build(n, surface->n_triangles, surface->triangles, &tables,
                                                NULL), MODAL_OK);
    const int64_t *offsets = tables.ring_offsets;
    char *taken = calloc((size_t)n, 1);
#define VALENCE(v) (offsets[(v) + 1] - offsets[v])
    while (count < n) {
        int32_t root = -1;
        for (int64_t v = 0; v < n; v++)
            if (!taken[v] && (root < 0 || VALENCE(v) < VALENCE(root))) root = (int32_t)v;
        taken[root] = 1;
        order[count++] = root;
        for (; head < count; head++) {
            int64_t first = count;
            for (int64_t i = offsets[order[head]]; i < offsets[order[head] + 1]; i++) {
                int32_t v = tables.ring[i];
                if (taken[v]) continue;
                taken[v] = 1;
                int64_t at = count++;
                for (; at > first && VALENCE(order[at - 1]) > VALENCE(v); at--)
                    order[at] = order[at - 1];
                order[at] = v;
            }
        }
    }
#undef VALENCE
    for (int64_t i = 0; i < n / 2; i++) {
        int32_t kept = order[i];
        order[i] = order[n - 1 - i];
        order[n - 1 - i] = kept;
    }
    free(taken);
    modal_surface_tables_free(&tables);
}

static void print_locality(const char *name, const modal_surface_mesh *surface)
{
    int64_t n = surface->n_vertices;
    int32_t *order = calloc((size_t)n, sizeof *order);
    for (int64_t v = 0; v < n; v++) order[v] = (int32_t)v;
    double user = lines_of(surface, order);
    shuffle(n, order);
    double random = lines_of(surface, order);
    rcm_order(surface, order);
    double rcm = lines_of(surface, order);
    double start = now();
    assert_int_equal(modal_order_vertices(n, surface->positions, surface->n_triangles, surface->triangles,
                                          order, NULL), MODAL_OK);
    double seconds = now() - start, patches = lines_of(surface, order);
    uint64_t *keys = malloc((size_t)n * sizeof *keys);
    modal_order_hilbert_keys(n, surface->positions, keys);
    for (int64_t v = 0; v < n; v++) order[v] = (int32_t)v;
    assert_int_equal(modal_sort_by_key(n, keys, order, NULL), MODAL_OK);
    double hilbert = lines_of(surface, order);
    free(keys);
    printf("locality: | %s, %lld | %.1f | %.1f | %.1f | %.1f | %.1f | ordered in %.2f ms\n", name,
           (long long)n, random, user, rcm, hilbert, patches, 1e3 * seconds);
    assert_true(patches < 0.1 * random);
    assert_true(patches < hilbert);
    assert_true(patches < 1.2 * rcm);
    free(order);
}

static void print_boundary_locality(const char *name, modal_volume_mesh *mesh)
{
    modal_surface_mesh surface;
    modal_mesh_summary summary;
    int32_t *nodes;
    modal_error err = {0};
    assert_int_equal(modal_volume_mesh_check(mesh, &summary, &err), MODAL_OK);
    assert_int_equal(modal_volume_mesh_boundary(mesh, &surface, &nodes, &err), MODAL_OK);
    print_locality(name, &surface);
    modal_surface_mesh_free(&surface);
    modal_free(&nodes);
}

static void test_locality_table(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_surface_mesh surface;
    read_veg(open_or_skip(YEAHRIGHT), &mesh);
    print_boundary_locality("yeahright, boundary", &mesh);
    modal_volume_mesh_free(&mesh);
    read_msh(open_or_skip(DRAGON), &mesh);
    print_boundary_locality("dragon, boundary", &mesh);
    modal_volume_mesh_free(&mesh);
    read_surface(open_or_skip(BUNNY), &surface);
    print_locality("bunny", &surface);
    modal_surface_mesh_free(&surface);
    read_surface(open_or_skip(BRIDGE_SURFACE), &surface);
    print_locality("simpleBridge.obj", &surface);
    modal_surface_mesh_free(&surface);
}

static void time_steps(const char *name, modal_volume_mesh *mesh)
{
    enum { N_MODES = 20 };
    modal_shape shape = {0};
    modal_surface_mesh surface;
    modal_surface_tables tables;
    modal_mesh_summary summary;
    modal_embed_summary outside;
    modal_error err = {0};
    int32_t *nodes, *order = NULL, *user_triangle = NULL;
    double t[8];
    t[0] = now();
    assert_int_equal(modal_volume_mesh_check(mesh, &summary, &err), MODAL_OK);
    t[1] = now();
    assert_int_equal(modal_volume_mesh_boundary(mesh, &surface, &nodes, &err), MODAL_OK);
    t[2] = now();
    int64_t n = surface.n_vertices;
    assert_int_equal(modal_surface_tables_build(n, surface.n_triangles, surface.triangles, &tables,
                                                &err), MODAL_OK);
    t[3] = now();
    assert_int_equal(modal_alloc(&order, n, sizeof *order, "o", NULL), MODAL_OK);
    assert_int_equal(modal_alloc(&user_triangle, surface.n_triangles, 4, "o", NULL), MODAL_OK);
    assert_int_equal(modal_order_vertices(n, surface.positions, surface.n_triangles,
                                          surface.triangles, order, &err), MODAL_OK);
    assert_int_equal(modal_order_triangles(n, order, surface.n_triangles, surface.triangles,
                                           user_triangle, &err), MODAL_OK);
    t[4] = now();
    assert_int_equal(modal_shape_surface_boundary(mesh, &shape, &err), MODAL_OK);
    t[5] = now();
    assert_int_equal(modal_shape_surface_embedded(mesh, &surface, &shape, &outside, &err), MODAL_OK);
    t[6] = now();
    shape.solid.mesh = *mesh;
    shape.modes.n_modes = N_MODES;
    assert_int_equal(modal_alloc(&shape.solid.volume_modes, N_MODES * 3 * mesh->n_nodes, sizeof(double),
                                 "modes", NULL), MODAL_OK);
    for (int64_t i = 0; i < N_MODES * 3 * mesh->n_nodes; i++) shape.solid.volume_modes[i] = random_unit();
    double start = now();
    assert_int_equal(modal_shape_modal_matrix(&shape, &err), MODAL_OK);
    t[7] = now() - start;
    printf("time: %s, %lld nodes, %lld tetrahedra, %lld surface vertices, %lld triangles, ms: check "
           "%.1f, boundary %.1f, tables %.1f, order %.1f, boundary surface whole %.1f, embedded "
           "surface whole %.1f, modal matrix of %d modes %.1f\n",
           name, (long long)mesh->n_nodes, (long long)mesh->n_elements, (long long)n,
           (long long)surface.n_triangles, 1e3 * (t[1] - t[0]), 1e3 * (t[2] - t[1]),
           1e3 * (t[3] - t[2]), 1e3 * (t[4] - t[3]), 1e3 * (t[5] - t[4]), 1e3 * (t[6] - t[5]),
           N_MODES, 1e3 * t[7]);
    /* Nodes of the solid lie on it. */
    assert_int_equal(outside.n_outside, 0);
    memset(&shape.solid.mesh, 0, sizeof shape.solid.mesh);
    modal_shape_free(&shape);
    modal_surface_mesh_free(&surface);
    modal_surface_tables_free(&tables);
    modal_free(&nodes);
    modal_free(&order);
    modal_free(&user_triangle);
    modal_volume_mesh_free(mesh);
}

static void test_time_yeahright(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    read_veg(open_or_skip(YEAHRIGHT), &mesh);
    assert_int_equal(mesh.n_nodes, 21122);
    time_steps("yeahright", &mesh);
}

static void test_time_block(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    make_block(&mesh, 52, 0.1);
    time_steps("block in random order", &mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_embedding_of_vegafem),
        cmocka_unit_test(test_locality_table),
        cmocka_unit_test(test_time_yeahright),
        cmocka_unit_test(test_time_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
