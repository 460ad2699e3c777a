/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/boundary.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/base/sort.h"

/* A face is the number 6 element + local face, kept in an int32: enough for 357 million elements. */
enum { SLOTS = MODAL_ELEMENT_MOST_FACES, MAX_ELEMENTS = INT32_MAX / SLOTS };

static const modal_element_face *face_kind(const modal_volume_mesh *mesh, int32_t face)
{
    return &modal_mesh_kind(mesh, face / SLOTS)->faces[face % SLOTS];
}

/* The face's nodes in the mesh; returns their number. */
static int face_nodes(const modal_volume_mesh *mesh, int32_t face,
                      int32_t nodes[MODAL_FACE_MOST_NODES])
{
    const modal_element_face *kind = face_kind(mesh, face);
    const int32_t *of_element = modal_mesh_nodes(mesh, face / SLOTS);
    for (int k = 0; k < kind->n_nodes; k++) nodes[k] = of_element[kind->nodes[k]];
    return kind->n_nodes;
}

/* The corners so turned, and turned over, that both elements at a face find the same four numbers:
 * the lowest first, then the lower one of its neighbours; a triangle has -1 for the fourth. Returns 1
 * where the face was turned over. */
static int face_key(const modal_volume_mesh *mesh, int32_t face, int32_t key[4])
{
    int32_t nodes[MODAL_FACE_MOST_NODES];
    face_nodes(mesh, face, nodes);
    const int n = face_kind(mesh, face)->n_corners;
    int low = 0;
    for (int k = 1; k < n; k++)
        if (nodes[k] < nodes[low]) low = k;
    const int32_t next = nodes[(low + 1) % n], before = nodes[(low + n - 1) % n];
    const int over = next > before;
    key[0] = nodes[low];
    key[1] = over ? before : next;
    key[2] = n == 4 ? nodes[(low + 2) % 4] : over ? next : before;
    key[3] = n == 3 ? -1 : over ? next : before;
    return over;
}

/* Faces so ordered that those of equal keys are neighbours, each run in ascending face order. */
static modal_status sort_faces(const modal_volume_mesh *mesh, int64_t n_faces, int32_t *faces,
                               modal_error *err)
{
    modal_status status = MODAL_OK;
    uint64_t *keys = NULL;
    int32_t key[4];
    int64_t i = 0;
    int quads = 0;
    MODAL_TRY(modal_alloc(&keys, n_faces, sizeof *keys, "face keys", err));
    for (int64_t e = 0; e < mesh->n_elements; e++)
        for (int f = 0; f < modal_mesh_kind(mesh, e)->n_faces; f++, i++) {
            faces[i] = (int32_t)(SLOTS * e + f);
            face_key(mesh, faces[i], key);
            keys[i] = (uint64_t)(key[3] + 1);
            quads |= key[3] >= 0;
        }
    if (quads) MODAL_TRY(modal_sort_by_key(n_faces, keys, faces, err));
    for (i = 0; i < n_faces; i++) {
        face_key(mesh, faces[i], key);
        /* The product, not a shift by 32: fewer digits to sort. */
        keys[i] = (uint64_t)key[1] * (uint64_t)mesh->n_nodes + (uint64_t)key[2];
    }
    MODAL_TRY(modal_sort_by_key(n_faces, keys, faces, err));
    for (i = 0; i < n_faces; i++) {
        face_key(mesh, faces[i], key);
        keys[i] = (uint64_t)key[0];
    }
    MODAL_TRY(modal_sort_by_key(n_faces, keys, faces, err));
done:
    modal_free(&keys);
    return status;
}

/* 1 where two faces of equal corners have the same mid-side nodes, or both none. */
static int same_mid_sides(const modal_volume_mesh *mesh, int32_t a, int32_t b)
{
    int32_t x[MODAL_FACE_MOST_NODES], y[MODAL_FACE_MOST_NODES];
    const int n = face_nodes(mesh, a, x), corners = face_kind(mesh, a)->n_corners;
    if (face_nodes(mesh, b, y) != n) return 0;
    for (int i = corners; i < n; i++) {
        int found = 0;
        for (int k = corners; k < n; k++) found |= x[i] == y[k];
        if (!found) return 0;
    }
    return 1;
}

static modal_status refuse_face(const modal_volume_mesh *mesh, const int32_t *faces, int64_t count,
                                const int32_t key[4], modal_error *err)
{
    char list[256] = "";
    int64_t n_named = count < 6 ? count : 6;
    for (int64_t i = 0; i < n_named; i++) {
        size_t used = strlen(list);
        const char *join = i == 0 ? "" : i == count - 1 ? " and " : ", ";
        snprintf(list + used, sizeof list - used, "%s%lld", join,
                 (long long)mesh->element_tags[faces[i] / SLOTS]);
    }
    char corners[128] = "";
    for (int k = 0; k < 4 && key[k] >= 0; k++) {
        size_t used = strlen(corners);
        snprintf(corners + used, sizeof corners - used, " %lld", (long long)mesh->node_tags[key[k]]);
    }
    if (count == 2 && !same_mid_sides(mesh, faces[0], faces[1]))
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "elements %s: face%s has not the same mid-side nodes in both", list,
                               corners);
    if (count == 2)
        return modal_error_set(err, MODAL_ERROR_INPUT, "elements %s: on the same side of face%s", list,
                               corners);
    return modal_error_set(err, MODAL_ERROR_INPUT, "elements %s%s: face%s is used %lld times", list,
                           n_named < count ? " ..." : "", corners, (long long)count);
}

static int compare_keys(const int32_t a[4], const int32_t b[4])
{
    for (int k = 0; k < 4; k++)
        if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
    return 0;
}

/* The face of this key among the sorted ones, or -1. */
static int32_t find_face(const modal_volume_mesh *mesh, const int32_t *faces, int64_t n_faces,
                         const int32_t key[4])
{
    int64_t low = 0, high = n_faces;
    int32_t here[4];
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        face_key(mesh, faces[middle], here);
        if (compare_keys(here, key) < 0) low = middle + 1;
        else high = middle;
    }
    if (low == n_faces) return -1;
    face_key(mesh, faces[low], here);
    return compare_keys(here, key) == 0 ? faces[low] : -1;
}

/* A triangle of three corners of a quadrilateral on the boundary: another element lies on half of it. */
static modal_status refuse_halves(const modal_volume_mesh *mesh, const int32_t *faces, int64_t n_faces,
                                  int32_t quad, modal_error *err)
{
    int32_t nodes[MODAL_FACE_MOST_NODES];
    face_nodes(mesh, quad, nodes);
    for (int left_out = 0; left_out < 4; left_out++) {
        int32_t key[4] = {0, 0, 0, -1};
        for (int k = 0, n = 0; k < 4; k++) {
            if (k == left_out) continue;
            int at = n++;
            for (; at > 0 && key[at - 1] > nodes[k]; at--) key[at] = key[at - 1];
            key[at] = nodes[k];
        }
        const int32_t triangle = find_face(mesh, faces, n_faces, key);
        if (triangle < 0) continue;
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "elements %lld and %lld: the triangle %lld %lld %lld of one lies on a "
                               "quadrilateral of the other; a pyramid belongs between them",
                               (long long)mesh->element_tags[quad / SLOTS],
                               (long long)mesh->element_tags[triangle / SLOTS],
                               (long long)mesh->node_tags[key[0]], (long long)mesh->node_tags[key[1]],
                               (long long)mesh->node_tags[key[2]]);
    }
    return MODAL_OK;
}

/* Marks the faces that occur once; *n_boundary counts them. */
static modal_status mark_boundary(const modal_volume_mesh *mesh, const int32_t *faces,
                                  int64_t n_faces, uint8_t *on_boundary, int64_t *n_triangles,
                                  modal_error *err)
{
    int64_t count;
    *n_triangles = 0;
    for (int64_t i = 0; i < n_faces; i += count) {
        int32_t first[4], other[4], nodes[MODAL_FACE_MOST_NODES];
        uint8_t triangles[MODAL_FACE_MOST_TRIANGLES][3];
        const int first_over = face_key(mesh, faces[i], first);
        int other_over = 0;
        for (count = 1; i + count < n_faces; count++) {
            const int over = face_key(mesh, faces[i + count], other);
            if (memcmp(first, other, sizeof first) != 0) break;
            other_over = over;
        }
        if (count > 2 || (count == 2 && (first_over == other_over ||
                                         !same_mid_sides(mesh, faces[i], faces[i + 1]))))
            return refuse_face(mesh, faces + i, count, first, err);
        if (count == 2) continue;
        if (first[3] >= 0) {
            const modal_status status = refuse_halves(mesh, faces, n_faces, faces[i], err);
            if (status != MODAL_OK) return status;
        }
        on_boundary[faces[i]] = 1;
        face_nodes(mesh, faces[i], nodes);
        *n_triangles += modal_face_triangles(face_kind(mesh, faces[i]), nodes, triangles);
    }
    return MODAL_OK;
}

modal_status modal_volume_mesh_boundary(const modal_volume_mesh *mesh, modal_surface_mesh *surface,
                                        int32_t **vertex_nodes, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_mesh found = {0};
    int32_t *faces = NULL, *node_vertex = NULL, *nodes_found = NULL;
    uint8_t *on_boundary = NULL; /* [6 n_elements] */
    memset(surface, 0, sizeof *surface);
    *vertex_nodes = NULL;
    if (mesh->n_elements > MAX_ELEMENTS)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%lld elements: more than %d",
                   (long long)mesh->n_elements, MAX_ELEMENTS);
    int64_t n_faces = 0;
    for (int64_t e = 0; e < mesh->n_elements; e++) n_faces += modal_mesh_kind(mesh, e)->n_faces;
    MODAL_TRY(modal_alloc(&faces, n_faces, sizeof *faces, "faces", err));
    MODAL_TRY(modal_alloc_zero(&on_boundary, SLOTS * mesh->n_elements, 1, "boundary faces", err));
    MODAL_TRY(sort_faces(mesh, n_faces, faces, err));
    MODAL_TRY(mark_boundary(mesh, faces, n_faces, on_boundary, &found.n_triangles, err));
    if (found.n_triangles > INT32_MAX)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%lld triangles in the surface: more than %d",
                   (long long)found.n_triangles, INT32_MAX);

    MODAL_TRY(modal_alloc(&found.triangles, 3 * found.n_triangles, sizeof *found.triangles,
                          "boundary triangles", err));
    MODAL_TRY(modal_alloc_zero(&node_vertex, mesh->n_nodes, sizeof *node_vertex, "node vertices",
                               err));
    int64_t t = 0;
    for (int64_t i = 0; i < SLOTS * mesh->n_elements; i++) {
        int32_t nodes[MODAL_FACE_MOST_NODES];
        uint8_t triangles[MODAL_FACE_MOST_TRIANGLES][3];
        if (!on_boundary[i]) continue;
        const int n_nodes = face_nodes(mesh, (int32_t)i, nodes);
        const int n = modal_face_triangles(face_kind(mesh, (int32_t)i), nodes, triangles);
        for (int k = 0; k < n_nodes; k++) node_vertex[nodes[k]] = 1;
        for (int k = 0; k < 3 * n; k++)
            found.triangles[3 * t + k] = nodes[triangles[k / 3][k % 3]];
        t += n;
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
