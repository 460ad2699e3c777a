/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/boundary.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/base/sort.h"
#include "lib/mesh/tetrahedron.h"

/* A face is the number 4 element + local face, kept in an int32: enough for 536 million elements. */
enum { MAX_ELEMENTS = INT32_MAX / 4 };

static void face_nodes(const modal_volume_mesh *mesh, int32_t face, int32_t nodes[3])
{
    for (int k = 0; k < 3; k++)
        nodes[k] = mesh->tetrahedra[4 * (int64_t)(face / 4) + modal_tetrahedron_faces[face % 4][k]];
}

/* Ascending; returns 1 when that takes an odd permutation. */
static int sort_three(int32_t a[3])
{
    static const int pairs[3][2] = {{0, 1}, {1, 2}, {0, 1}};
    int odd = 0;
    for (int i = 0; i < 3; i++) {
        int32_t *p = &a[pairs[i][0]], *q = &a[pairs[i][1]], kept = *p;
        if (*p <= *q) continue;
        *p = *q;
        *q = kept;
        odd ^= 1;
    }
    return odd;
}

/* Faces so ordered that those of equal nodes are neighbours, each run in ascending face order. */
static modal_status sort_faces(const modal_volume_mesh *mesh, int32_t *faces, modal_error *err)
{
    modal_status status = MODAL_OK;
    uint64_t *keys = NULL;
    int64_t n_faces = 4 * mesh->n_elements;
    int32_t nodes[3];
    MODAL_TRY(modal_alloc(&keys, n_faces, sizeof *keys, "face keys", err));
    for (int64_t i = 0; i < n_faces; i++) {
        faces[i] = (int32_t)i;
        face_nodes(mesh, faces[i], nodes);
        sort_three(nodes);
        /* The product, not a shift by 32: fewer digits to sort. */
        keys[i] = (uint64_t)nodes[1] * (uint64_t)mesh->n_nodes + (uint64_t)nodes[2];
    }
    MODAL_TRY(modal_sort_by_key(n_faces, keys, faces, err));
    for (int64_t i = 0; i < n_faces; i++) {
        face_nodes(mesh, faces[i], nodes);
        sort_three(nodes);
        keys[i] = (uint64_t)nodes[0];
    }
    MODAL_TRY(modal_sort_by_key(n_faces, keys, faces, err));
done:
    modal_free(&keys);
    return status;
}

static modal_status refuse_face(const modal_volume_mesh *mesh, const int32_t *faces, int64_t count,
                                const int32_t nodes[3], modal_error *err)
{
    char list[256] = "";
    int64_t n_named = count < 6 ? count : 6;
    for (int64_t i = 0; i < n_named; i++) {
        size_t used = strlen(list);
        const char *join = i == 0 ? "" : i == count - 1 ? " and " : ", ";
        snprintf(list + used, sizeof list - used, "%s%lld", join,
                 (long long)mesh->element_tags[faces[i] / 4]);
    }
    long long tags[3];
    for (int k = 0; k < 3; k++) tags[k] = (long long)mesh->node_tags[nodes[k]];
    if (count == 2)
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "elements %s: on the same side of face %lld %lld %lld", list,
                               tags[0], tags[1], tags[2]);
    return modal_error_set(err, MODAL_ERROR_INPUT,
                           "elements %s%s: face %lld %lld %lld is used %lld times", list,
                           n_named < count ? " ..." : "", tags[0], tags[1], tags[2],
                           (long long)count);
}

/* Marks the faces that occur once; *n_boundary counts them. */
static modal_status mark_boundary(const modal_volume_mesh *mesh, const int32_t *faces,
                                  uint8_t *on_boundary, int64_t *n_boundary, modal_error *err)
{
    int64_t n_faces = 4 * mesh->n_elements, count;
    *n_boundary = 0;
    for (int64_t i = 0; i < n_faces; i += count) {
        int32_t first[3], other[3];
        int first_odd, other_odd = 0;
        face_nodes(mesh, faces[i], first);
        first_odd = sort_three(first);
        for (count = 1; i + count < n_faces; count++) {
            face_nodes(mesh, faces[i + count], other);
            int odd = sort_three(other);
            if (memcmp(first, other, sizeof first) != 0) break;
            other_odd = odd;
        }
        if (count > 2 || (count == 2 && first_odd == other_odd))
            return refuse_face(mesh, faces + i, count, first, err);
        if (count == 1) {
            on_boundary[faces[i]] = 1;
            (*n_boundary)++;
        }
    }
    return MODAL_OK;
}

modal_status modal_volume_mesh_boundary(const modal_volume_mesh *mesh, modal_surface_mesh *surface,
                                        int32_t **vertex_nodes, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_mesh found = {0};
    int32_t *faces = NULL, *node_vertex = NULL, *nodes_found = NULL;
    uint8_t *on_boundary = NULL; /* [4 n_elements] */
    memset(surface, 0, sizeof *surface);
    *vertex_nodes = NULL;
    if (mesh->n_elements > MAX_ELEMENTS)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%lld elements: more than %d",
                   (long long)mesh->n_elements, MAX_ELEMENTS);
    int64_t n_faces = 4 * mesh->n_elements;
    MODAL_TRY(modal_alloc(&faces, n_faces, sizeof *faces, "faces", err));
    MODAL_TRY(modal_alloc_zero(&on_boundary, n_faces, 1, "boundary faces", err));
    MODAL_TRY(sort_faces(mesh, faces, err));
    MODAL_TRY(mark_boundary(mesh, faces, on_boundary, &found.n_triangles, err));

    MODAL_TRY(modal_alloc(&found.triangles, 3 * found.n_triangles, sizeof *found.triangles,
                          "boundary triangles", err));
    MODAL_TRY(modal_alloc_zero(&node_vertex, mesh->n_nodes, sizeof *node_vertex, "node vertices",
                               err));
    int64_t t = 0;
    for (int64_t i = 0; i < n_faces; i++) {
        if (!on_boundary[i]) continue;
        face_nodes(mesh, (int32_t)i, found.triangles + 3 * t);
        for (int k = 0; k < 3; k++) node_vertex[found.triangles[3 * t + k]] = 1;
        t++;
    }
    assert(t == found.n_triangles);
    for (int64_t i = 0; i < mesh->n_nodes; i++) found.n_vertices += node_vertex[i];
    MODAL_TRY(modal_alloc(&found.positions, 3 * found.n_vertices, sizeof *found.positions,
                          "boundary positions", err));
    MODAL_TRY(modal_alloc(&nodes_found, found.n_vertices, sizeof *nodes_found, "boundary nodes",
                          err));
    int32_t v = 0;
    for (int64_t i = 0; i < mesh->n_nodes; i++) {
        if (!node_vertex[i]) continue;
        memcpy(found.positions + 3 * (int64_t)v, mesh->nodes + 3 * i, 3 * sizeof(double));
        nodes_found[v] = (int32_t)i;
        node_vertex[i] = v++;
    }
    for (int64_t i = 0; i < 3 * found.n_triangles; i++)
        found.triangles[i] = node_vertex[found.triangles[i]];
    *surface = found;
    *vertex_nodes = nodes_found;
    memset(&found, 0, sizeof found);
    nodes_found = NULL;
done:
    modal_surface_mesh_free(&found);
    modal_free(&nodes_found);
    modal_free(&node_vertex);
    modal_free(&faces);
    modal_free(&on_boundary);
    return status;
}
