/* SPDX-License-Identifier: Apache-2.0 */
/* Meshes for the tests of lib/mesh. */
#ifndef TEST_MESH_HELPERS_H
#define TEST_MESH_HELPERS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/memory.h"
#include "lib/model/volume_mesh.h"

/* A generator of our own, so that every run has the same numbers. */
static uint64_t random_state = 88172645463325252u;
static inline uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}
static inline double random_unit(void) { return (double)(random_bits() >> 11) * 0x1p-53; }
static inline int64_t random_below(int64_t n) { return (int64_t)(random_bits() % (uint64_t)n); }

static inline void shuffle(int64_t n, int32_t *items)
{
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = random_below(i + 1);
        int32_t kept = items[i];
        items[i] = items[j];
        items[j] = kept;
    }
}

/* A mesh of the given nodes and tetrahedra, tags 1, 2, ... for nodes, 101, 102, ... for elements. */
static inline void make_mesh(modal_volume_mesh *mesh, int64_t n_nodes, const double *nodes,
                             int64_t n_elements, const int32_t *tetrahedra)
{
    memset(mesh, 0, sizeof *mesh);
    mesh->n_nodes = n_nodes;
    mesh->n_elements = n_elements;
    assert_int_equal(modal_alloc(&mesh->nodes, 3 * n_nodes, sizeof(double), "nodes", NULL), MODAL_OK);
    assert_int_equal(modal_alloc(&mesh->node_tags, n_nodes, sizeof(int64_t), "tags", NULL), MODAL_OK);
    assert_int_equal(modal_volume_mesh_new_elements(mesh, n_elements, MODAL_ELEMENT_TET4, NULL),
                     MODAL_OK);
    assert_int_equal(modal_alloc(&mesh->element_tags, n_elements, sizeof(int64_t), "tags", NULL),
                     MODAL_OK);
    if (nodes) memcpy(mesh->nodes, nodes, 3 * (size_t)n_nodes * sizeof(double));
    if (tetrahedra) memcpy(mesh->element_nodes, tetrahedra, 4 * (size_t)n_elements * sizeof(int32_t));
    for (int64_t i = 0; i < n_nodes; i++) mesh->node_tags[i] = i + 1;
    for (int64_t e = 0; e < n_elements; e++) mesh->element_tags[e] = 101 + e;
}

static const double cube_nodes[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                        {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
static const int32_t cube_five[5][4] = {
    {0, 1, 2, 5}, {0, 2, 3, 7}, {0, 5, 7, 4}, {2, 7, 5, 6}, {0, 2, 7, 5}};
static const int32_t cube_six[6][4] = {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6},
                                       {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}};

/* A block of n x n x n cubes of edge 1 / n, six tetrahedra each; inner nodes are moved by up to
 * jitter / n, nodes and elements shuffled. */
static inline void make_block(modal_volume_mesh *mesh, int32_t n, double jitter)
{
    int64_t side = n + 1, n_nodes = side * side * side, n_elements = 6 * (int64_t)n * n * n;
    int32_t *node_place = NULL, *element_place = NULL;
    make_mesh(mesh, n_nodes, NULL, n_elements, NULL);
    assert_int_equal(modal_alloc(&node_place, n_nodes, sizeof(int32_t), "places", NULL), MODAL_OK);
    assert_int_equal(modal_alloc(&element_place, n_elements, sizeof(int32_t), "p", NULL), MODAL_OK);
    for (int64_t i = 0; i < n_nodes; i++) node_place[i] = (int32_t)i;
    for (int64_t i = 0; i < n_elements; i++) element_place[i] = (int32_t)i;
    shuffle(n_nodes, node_place);
    shuffle(n_elements, element_place);
    for (int64_t i = 0; i < n_nodes; i++) {
        int64_t at[3] = {i % side, i / side % side, i / side / side};
        for (int k = 0; k < 3; k++) {
            int inner = at[k] > 0 && at[k] < n;
            mesh->nodes[3 * (int64_t)node_place[i] + k] =
                ((double)at[k] + inner * jitter * (2 * random_unit() - 1)) / n;
        }
    }
    for (int64_t c = 0; c < (int64_t)n * n * n; c++)
        for (int t = 0; t < 6; t++)
            for (int k = 0; k < 4; k++) {
                const double *corner = cube_nodes[cube_six[t][k]];
                int64_t x = c % n + (corner[0] > 0), y = c / n % n + (corner[1] > 0);
                int64_t z = c / n / n + (corner[2] > 0);
                mesh->element_nodes[4 * (int64_t)element_place[6 * c + t] + k] =
                    node_place[x + side * (y + side * z)];
            }
    modal_free(&node_place);
    modal_free(&element_place);
}

/* A torus of rows x columns quads of two triangles each, vertices shuffled; with open != 0 it is cut
 * along one row and one column and becomes a flat sheet. */
static inline void make_surface(modal_surface_mesh *surface, int32_t rows, int32_t columns, int open)
{
    memset(surface, 0, sizeof *surface);
    int32_t r1 = rows + (open != 0), c1 = columns + (open != 0);
    surface->n_vertices = (int64_t)r1 * c1;
    surface->n_triangles = 2 * (int64_t)rows * columns;
    assert_int_equal(modal_alloc(&surface->positions, 3 * surface->n_vertices, sizeof(double), "p",
                                 NULL), MODAL_OK);
    assert_int_equal(modal_alloc(&surface->triangles, 3 * surface->n_triangles, sizeof(int32_t), "t",
                                 NULL), MODAL_OK);
    int32_t *place = NULL;
    assert_int_equal(modal_alloc(&place, surface->n_vertices, sizeof(int32_t), "p", NULL), MODAL_OK);
    for (int64_t i = 0; i < surface->n_vertices; i++) place[i] = (int32_t)i;
    shuffle(surface->n_vertices, place);
    for (int32_t r = 0; r < r1; r++)
        for (int32_t c = 0; c < c1; c++) {
            double *p = surface->positions + 3 * (int64_t)place[r * c1 + c];
            p[0] = open ? r : 10 * (r < rows / 2 ? r : rows - r);
            p[1] = open ? c : (c < columns / 2 ? c : columns - c);
            p[2] = open ? 0 : (r < rows / 2) + 2 * (c < columns / 2);
        }
    int32_t *t = surface->triangles;
    for (int32_t r = 0; r < rows; r++)
        for (int32_t c = 0; c < columns; c++) {
            int32_t next_r = (r + 1) % r1, next_c = (c + 1) % c1;
            int32_t quad[4] = {place[r * c1 + c], place[r * c1 + next_c], place[next_r * c1 + next_c],
                               place[next_r * c1 + c]};
            static const int pick[6] = {0, 1, 2, 0, 2, 3};
            for (int k = 0; k < 6; k++) *t++ = quad[pick[k]];
        }
    modal_free(&place);
}

#endif
