/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes of elements of every type, for the tests of elements. Failures here are bugs of the test: they
 * stop it. */
#ifndef MODAL_TESTS_ELEMENT_MESHES_H
#define MODAL_TESTS_ELEMENT_MESHES_H

#include "tests/unit/solid_fixtures.h"

enum { MESH_MIXED = MODAL_ELEMENT_TYPES, MESH_KINDS };

/* Moves a point of the unit cube; NULL: stays. */
typedef void (*mesh_map)(const double from[3], double to[3]);

/* The points of a grid twice as fine as the cells: middles of edges, faces and cells are there. */
typedef struct grid_builder {
    modal_volume_mesh *mesh;
    const int *cells;
    int32_t *index; /* node of each point, -1 */
    int64_t n_values;
    int corners_only; /* mid-side nodes go to the middle between the mapped corners */
    mesh_map map;
} grid_builder;

static inline int64_t grid_place(const grid_builder *g, const int at[3])
{
    return ((int64_t)at[0] * (2 * g->cells[1] + 1) + at[1]) * (2 * g->cells[2] + 1) + at[2];
}

static inline int32_t grid_node(grid_builder *g, const int at[3])
{
    const int64_t place = grid_place(g, at);
    if (g->index[place] < 0) {
        double from[3];
        for (int k = 0; k < 3; k++) from[k] = (double)at[k] / (2 * g->cells[k]);
        double *to = g->mesh->nodes + 3 * g->mesh->n_nodes;
        memcpy(to, from, sizeof from);
        if (g->map) g->map(from, to);
        g->index[place] = (int32_t)g->mesh->n_nodes++;
    }
    return g->index[place];
}

/* Appends an element of these corners, its mid-side nodes made between them. */
static inline void grid_element(grid_builder *g, modal_element_type type, const int (*corners)[3])
{
    modal_volume_mesh *mesh = g->mesh;
    const modal_element_kind *kind = &modal_element_kinds[type];
    int32_t *nodes = mesh->element_nodes + g->n_values;
    for (int a = 0; a < kind->n_corners; a++) nodes[a] = grid_node(g, corners[a]);
    for (int i = 0; kind->quadratic && i < kind->n_edges; i++) {
        const int *a = corners[kind->edges[i][0]], *b = corners[kind->edges[i][1]];
        const int middle[3] = {(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2};
        const int32_t node = nodes[kind->n_corners + i] = grid_node(g, middle);
        for (int k = 0; k < 3 && g->corners_only; k++)
            mesh->nodes[3 * (int64_t)node + k] =
                (mesh->nodes[3 * (int64_t)nodes[kind->edges[i][0]] + k] +
                 mesh->nodes[3 * (int64_t)nodes[kind->edges[i][1]] + k]) / 2;
    }
    mesh->element_type[mesh->n_elements] = (uint8_t)type;
    mesh->element_offsets[++mesh->n_elements] = g->n_values += kind->n_nodes;
}

static inline void grid_hexahedron(const int cell[3], int corners[8][3])
{
    static const int at[8][3] = {{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0},
                                 {0, 0, 2}, {2, 0, 2}, {2, 2, 2}, {0, 2, 2}};
    for (int a = 0; a < 8; a++)
        for (int k = 0; k < 3; k++) corners[a][k] = 2 * cell[k] + at[a][k];
}

/* Six tetrahedra around the diagonal from the first corner (Kuhn). */
static inline void grid_tetrahedra(grid_builder *g, modal_element_type type, const int cell[3])
{
    static const int paths[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}};
    for (int t = 0; t < 6; t++) {
        int corners[4][3], at[3] = {2 * cell[0], 2 * cell[1], 2 * cell[2]};
        for (int a = 0; a < 4; a++) {
            memcpy(corners[t >= 3 && a >= 2 ? 5 - a : a], at, sizeof at);
            if (a < 3) at[paths[t][a]] += 2;
        }
        grid_element(g, type, (const int(*)[3])corners);
    }
}

/* Two wedges that stand on the cell's bottom. */
static inline void grid_wedges(grid_builder *g, const int cell[3])
{
    static const int parts[2][6] = {{0, 1, 2, 4, 5, 6}, {0, 2, 3, 4, 6, 7}};
    int hex[8][3], corners[6][3];
    grid_hexahedron(cell, hex);
    for (int t = 0; t < 2; t++) {
        for (int a = 0; a < 6; a++) memcpy(corners[a], hex[parts[t][a]], sizeof hex[0]);
        grid_element(g, MODAL_ELEMENT_WEDGE6, (const int(*)[3])corners);
    }
}

/* Six pyramids around the cell's middle; `tetrahedra`: the one on the top face as two of them. */
static inline void grid_pyramids(grid_builder *g, const int cell[3], int tetrahedra)
{
    const modal_element_kind *kind = &modal_element_kinds[MODAL_ELEMENT_HEX8];
    int hex[8][3], corners[5][3];
    grid_hexahedron(cell, hex);
    for (int f = 0; f < 6; f++) {
        /* the face is counter-clockwise from outside, the base from the apex */
        for (int a = 0; a < 4; a++) memcpy(corners[a], hex[kind->faces[f].nodes[3 - a]], sizeof hex[0]);
        for (int k = 0; k < 3; k++) corners[4][k] = 2 * cell[k] + 1;
        if (f != 1 || !tetrahedra) {
            grid_element(g, MODAL_ELEMENT_PYRAMID5, (const int(*)[3])corners);
            continue;
        }
        static const int parts[2][4] = {{0, 1, 2, 4}, {0, 2, 3, 4}};
        int four[4][3];
        for (int t = 0; t < 2; t++) {
            for (int a = 0; a < 4; a++) memcpy(four[a], corners[parts[t][a]], sizeof four[a]);
            grid_element(g, MODAL_ELEMENT_TET4, (const int(*)[3])four);
        }
    }
}

/* The unit cube in cells[0] x cells[1] x cells[2] cells of the type; MESH_MIXED: columns of hexahedra,
 * wedges and pyramids in turn, the topmost pyramids cut into tetrahedra. One isotropic material. */
static inline void element_mesh(modal_volume_mesh *mesh, int type, const int cells[3], mesh_map map,
                                int straight)
{
    const int64_t n_cells = (int64_t)cells[0] * cells[1] * cells[2];
    const int64_t n_points =
        (int64_t)(2 * cells[0] + 1) * (2 * cells[1] + 1) * (2 * cells[2] + 1);
    grid_builder g = {.mesh = mesh, .cells = cells, .corners_only = straight, .map = map};
    solid_allocate(mesh, n_points, 8 * n_cells);
    modal_free(&mesh->element_nodes);
    modal_status status = modal_alloc(&mesh->element_nodes, 60 * n_cells, sizeof(int32_t), "", NULL);
    status |= modal_alloc(&g.index, n_points, sizeof(int32_t), "", NULL);
    solid_require(status == MODAL_OK, "memory");
    for (int64_t i = 0; i < n_points; i++) g.index[i] = -1;
    mesh->n_nodes = mesh->n_elements = 0;
    mesh->element_offsets[0] = 0;
    mesh->materials[0].young = 1;
    mesh->materials[0].poisson = 0.3;
    mesh->materials[0].density = 1;
    for (int i = 0; i < cells[0]; i++)
        for (int j = 0; j < cells[1]; j++)
            for (int k = 0; k < cells[2]; k++) {
                const int cell[3] = {i, j, k};
                int corners[8][3];
                static const int in_turn[3] = {MODAL_ELEMENT_HEX8, MODAL_ELEMENT_PYRAMID5,
                                               MODAL_ELEMENT_WEDGE6};
                const int here = type == MESH_MIXED ? in_turn[(i + j) % 3] : type;
                grid_hexahedron(cell, corners);
                if (here == MODAL_ELEMENT_TET4 || here == MODAL_ELEMENT_TET10)
                    grid_tetrahedra(&g, (modal_element_type)here, cell);
                else if (here == MODAL_ELEMENT_WEDGE6)
                    grid_wedges(&g, cell);
                else if (here == MODAL_ELEMENT_PYRAMID5)
                    grid_pyramids(&g, cell, type == MESH_MIXED && k == cells[2] - 1);
                else
                    grid_element(&g, (modal_element_type)here, (const int(*)[3])corners);
            }
    modal_free(&g.index);
}

static inline const char *element_mesh_name(int type)
{
    return type == MESH_MIXED ? "mixed" : modal_element_kinds[type].name;
}

#endif
