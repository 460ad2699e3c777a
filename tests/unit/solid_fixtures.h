/* SPDX-License-Identifier: Apache-2.0 */
/* Solids for the tests of fem and modes: structured bars, and the few lines of .veg and .bou that the
 * real meshes use. Failures here are bugs of the test: they stop it. */
#ifndef MODAL_TESTS_SOLID_FIXTURES_H
#define MODAL_TESTS_SOLID_FIXTURES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/model/volume_mesh.h"

static inline void solid_require(int ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "fixture: %s\n", what);
    abort();
}

static inline void solid_allocate(modal_volume_mesh *mesh, int64_t n_nodes, int64_t n_elements)
{
    memset(mesh, 0, sizeof *mesh);
    mesh->n_nodes = n_nodes;
    mesh->n_elements = n_elements;
    mesh->n_materials = 1;
    modal_status status = modal_alloc_zero(&mesh->nodes, 3 * n_nodes, sizeof(double), "", NULL);
    status |= modal_alloc_zero(&mesh->node_tags, n_nodes, sizeof(int64_t), "", NULL);
    status |= modal_volume_mesh_new_elements(mesh, n_elements, MODAL_ELEMENT_TET4, NULL);
    status |= modal_alloc_zero(&mesh->element_tags, n_elements, sizeof(int64_t), "", NULL);
    status |= modal_alloc_zero(&mesh->element_material, n_elements, sizeof(int32_t), "", NULL);
    status |= modal_alloc_zero(&mesh->materials, 1, sizeof *mesh->materials, "", NULL);
    status |= modal_copy_text(&mesh->materials[0].name, "steel", 5, NULL);
    solid_require(status == MODAL_OK, "memory");
    for (int64_t i = 0; i < n_nodes; i++) mesh->node_tags[i] = 1000 + i;
    for (int64_t e = 0; e < n_elements; e++) mesh->element_tags[e] = 5000 + e;
}

/* `copies` boxes side by side in y with a gap, nx x ny x nz cells each of six tetrahedra around a
 * diagonal (Kuhn), which meet face to face. Node (i, j, k) of a copy is (i (ny + 1) + j) (nz + 1) + k,
 * so that the nodes at x = 0 come first. */
static inline void solid_bar(modal_volume_mesh *mesh, int nx, int ny, int nz, const double size[3],
                             int copies, double young, double poisson, double density)
{
    static const int paths[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}};
    const int64_t part_nodes = (int64_t)(nx + 1) * (ny + 1) * (nz + 1);
    const int64_t part_elements = 6 * (int64_t)nx * ny * nz;
    const int counts[3] = {nx, ny, nz};
    solid_allocate(mesh, copies * part_nodes, copies * part_elements);
    mesh->materials[0].young = young;
    mesh->materials[0].poisson = poisson;
    mesh->materials[0].density = density;
    int64_t node = 0, at = 0;
    for (int copy = 0; copy < copies; copy++) {
        const int64_t first = copy * part_nodes;
        for (int i = 0; i <= nx; i++)
            for (int j = 0; j <= ny; j++)
                for (int k = 0; k <= nz; k++, node++) {
                    const int index[3] = {i, j, k};
                    for (int p = 0; p < 3; p++)
                        mesh->nodes[3 * node + p] = size[p] * index[p] / counts[p];
                    mesh->nodes[3 * node + 1] += 1.5 * copy * size[1];
                }
        for (int i = 0; i < nx; i++)
            for (int j = 0; j < ny; j++)
                for (int k = 0; k < nz; k++)
                    for (int t = 0; t < 6; t++, at += 4) {
                        int corner[3] = {i, j, k};
                        for (int a = 0; a < 4; a++) {
                            mesh->element_nodes[at + a] = (int32_t)(
                                first +
                                ((int64_t)corner[0] * (ny + 1) + corner[1]) * (nz + 1) + corner[2]);
                            if (a < 3) corner[paths[t][a]]++;
                        }
                        if (t >= 3) { /* odd permutations of the axes turn the element over */
                            const int32_t last = mesh->element_nodes[at + 3];
                            mesh->element_nodes[at + 3] = mesh->element_nodes[at + 2];
                            mesh->element_nodes[at + 2] = last;
                        }
                    }
    }
}

/* Scales all coordinates. */
static inline void solid_scale(modal_volume_mesh *mesh, double factor)
{
    for (int64_t i = 0; i < 3 * mesh->n_nodes; i++) mesh->nodes[i] *= factor;
}

/* Reads a .veg of tetrahedra with one ENU material; 0 when the file is absent. */
static inline int solid_read_veg(const char *path, modal_volume_mesh *mesh)
{
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    char line[512];
    double density = 0, young = 0, poisson = 0;
    long long n_nodes = 0, n_elements = 0, at, c[4];
    double *nodes = NULL, x[3];
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "*VERTICES", 9) == 0) {
            solid_require(fgets(line, sizeof line, file) && sscanf(line, "%lld", &n_nodes) == 1, path);
            nodes = malloc(sizeof *nodes * 3 * (size_t)n_nodes);
            for (long long i = 0; i < n_nodes; i++) {
                solid_require(fgets(line, sizeof line, file) &&
                                  sscanf(line, "%lld %lf %lf %lf", &at, x, x + 1, x + 2) == 4 &&
                                  at == i + 1,
                              path);
                memcpy(nodes + 3 * i, x, sizeof x);
            }
        } else if (strncmp(line, "*ELEMENTS", 9) == 0) {
            solid_require(fgets(line, sizeof line, file) && strncmp(line, "TET", 3) == 0, path);
            solid_require(fgets(line, sizeof line, file) && sscanf(line, "%lld", &n_elements) == 1,
                          path);
            solid_allocate(mesh, n_nodes, n_elements);
            memcpy(mesh->nodes, nodes, sizeof *nodes * 3 * (size_t)n_nodes);
            for (long long e = 0; e < n_elements; e++) {
                solid_require(fgets(line, sizeof line, file) &&
                                  sscanf(line, "%lld %lld %lld %lld %lld", &at, c, c + 1, c + 2,
                                         c + 3) == 5,
                              path);
                for (int a = 0; a < 4; a++) mesh->element_nodes[4 * e + a] = (int32_t)c[a] - 1;
            }
        } else if (strncmp(line, "*MATERIAL", 9) == 0) {
            solid_require(fgets(line, sizeof line, file) &&
                              sscanf(line, "ENU, %lf, %lf, %lf", &density, &young, &poisson) == 3,
                          path);
        }
    }
    fclose(file);
    free(nodes);
    solid_require(n_elements > 0, path);
    /* a mesh without a material gets that of the others */
    mesh->materials[0].young = young > 0 ? young : 1e7;
    mesh->materials[0].poisson = young > 0 ? poisson : 0.45;
    mesh->materials[0].density = young > 0 ? density : 1000;
    return 1;
}

/* Reads a .bou: 1-based indices with commas between. Returns how many; 0 when the file is absent. */
static inline int64_t solid_read_bou(const char *path, int32_t *fixed, int64_t room)
{
    FILE *file = fopen(path, "r");
    int64_t count = 0;
    int index;
    if (!file) return 0;
    while (count < room && fscanf(file, " %d ,", &index) == 1) fixed[count++] = index - 1;
    fclose(file);
    return count;
}

#endif
