/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/boundary.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/base/sort.h"
#include "lib/mesh/face_match.h"

enum { SLOTS = MODAL_FACE_SLOTS, MAX_ELEMENTS = INT32_MAX / SLOTS };

/* Faces [n_faces], ascending, so ordered that those of equal keys are neighbours, each run in ascending face order. */
static modal_status sort_faces(const modal_volume_mesh *mesh, int64_t n_faces, uint64_t *keys, int32_t *faces, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t key[4];
    int quads = 0;
    for (int64_t i = 0; i < n_faces; i++) {
        modal_face_key(mesh, faces[i], key);
        keys[i] = (uint64_t)(key[3] + 1);
        quads |= key[3] >= 0;
    }
    if (quads) MODAL_TRY(modal_sort_by_key(n_faces, keys, faces, err));
    for (int64_t i = 0; i < n_faces; i++) {
        modal_face_key(mesh, faces[i], key);
        /* The product, not a shift by 32: fewer digits to sort. */
        keys[i] = (uint64_t)key[1] * (uint64_t)mesh->n_nodes + (uint64_t)key[2];
    }
    MODAL_TRY(modal_sort_by_key(n_faces, keys, faces, err));
    for (int64_t i = 0; i < n_faces; i++) {
        modal_face_key(mesh, faces[i], key);
        keys[i] = (uint64_t)key[0];
    }
    MODAL_TRY(modal_sort_by_key(n_faces, keys, faces, err));
done:
    return status;
}

/* 1 where two faces of equal corners have the same mid-side nodes, or both none. */
static int same_mid_sides(const modal_volume_mesh *mesh, int32_t a, int32_t b)
{
    int32_t x[MODAL_FACE_MOST_NODES], y[MODAL_FACE_MOST_NODES];
    const int n = modal_face_nodes(mesh, a, x), corners = modal_face_kind(mesh, a)->n_corners;
    if (modal_face_nodes(mesh, b, y) != n) return 0;
    for (int i = corners; i < n; i++) {
        int found = 0;
        for (int k = corners; k < n; k++) found |= x[i] == y[k];
        if (!found) return 0;
    }
    return 1;
}

static modal_status refuse_clash(const modal_volume_mesh *mesh, const modal_face_clash *clash, modal_error *err)
{
    char list[256] = "";
    const int32_t *faces = clash->faces;
    const int64_t count = clash->n, n_named = count < MODAL_FACES_NAMED ? count : MODAL_FACES_NAMED;
    int32_t key[4];
    modal_face_key(mesh, faces[0], key);
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

/* Appends those of the sorted faces that occur once, up to a clash. */
static modal_status find_single(const modal_volume_mesh *mesh, const int32_t *faces, int64_t n_faces, modal_single_faces *single,
                                modal_face_clash *clash, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t count;
    for (int64_t i = 0; i < n_faces; i += count) {
        int32_t first[4], other[4];
        const int first_over = modal_face_key(mesh, faces[i], first);
        int other_over = 0;
        for (count = 1; i + count < n_faces; count++) {
            const int over = modal_face_key(mesh, faces[i + count], other);
            if (memcmp(first, other, sizeof first) != 0) break;
            other_over = over;
        }
        if (count > 2 || (count == 2 && (first_over == other_over ||
                                         !same_mid_sides(mesh, faces[i], faces[i + 1])))) {
            clash->n = count;
            for (int64_t k = 0; k < count && k < MODAL_FACES_NAMED; k++) clash->faces[k] = faces[i + k];
            break;
        }
        if (count == 2) continue;
        MODAL_TRY(modal_grow(&single->faces, &single->capacity, single->n + 1, sizeof *single->faces, "boundary faces", err));
        single->faces[single->n++] = faces[i];
    }
done:
    return status;
}

/* A face has the nodes of its key, the least of them first: faces of one range of least nodes are matched among themselves. So
 * many faces at a time are matched, or an eighth of all, each for 24 bytes. */
enum { RANGE_FACES = 1 << 20, MOST_RANGES = 8 };

/* The faces whose least node is in [low, high), ascending; returns their number. */
static int64_t list_faces(const modal_volume_mesh *mesh, int32_t low, int32_t high, int32_t *faces)
{
    int64_t n = 0;
    int32_t key[4];
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const int32_t *nodes = modal_mesh_nodes(mesh, e);
        const int n_corners = modal_mesh_kind(mesh, e)->n_corners;
        int some = 0;
        for (int a = 0; a < n_corners && !some; a++) some = nodes[a] >= low && nodes[a] < high;
        for (int f = 0; f < modal_mesh_kind(mesh, e)->n_faces && some; f++) {
            modal_face_key(mesh, (int32_t)(SLOTS * e + f), key);
            if (key[0] >= low && key[0] < high) faces[n++] = (int32_t)(SLOTS * e + f);
        }
    }
    return n;
}

modal_status modal_find_faces(const modal_volume_mesh *mesh, modal_single_faces *single, modal_face_clash *clash, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *counts = NULL, *faces = NULL; /* [n_nodes] faces by their least node */
    uint64_t *keys = NULL;
    int32_t key[4];
    int64_t n_faces = 0, room = 0, most;
    MODAL_TRY(modal_alloc_zero(&counts, mesh->n_nodes, sizeof *counts, "faces at nodes", err));
    for (int64_t e = 0; e < mesh->n_elements; e++)
        for (int f = 0; f < modal_mesh_kind(mesh, e)->n_faces; f++, n_faces++) {
            modal_face_key(mesh, (int32_t)(SLOTS * e + f), key);
            counts[key[0]]++;
        }
    most = n_faces / MOST_RANGES > RANGE_FACES ? n_faces / MOST_RANGES : RANGE_FACES;
    for (int64_t low = 0, high; low < mesh->n_nodes && clash->n == 0; low = high) {
        int64_t n = counts[low];
        for (high = low + 1; high < mesh->n_nodes && n + counts[high] <= most; high++) n += counts[high];
        if (n > room) {
            modal_free(&faces);
            modal_free(&keys);
            room = n;
            MODAL_TRY(modal_alloc(&faces, room, sizeof *faces, "faces", err));
            MODAL_TRY(modal_alloc(&keys, room, sizeof *keys, "face keys", err));
        }
        const int64_t listed = list_faces(mesh, (int32_t)low, (int32_t)high, faces);
        assert(listed == n);
        MODAL_TRY(sort_faces(mesh, listed, keys, faces, err));
        MODAL_TRY(find_single(mesh, faces, listed, single, clash, err));
    }
done:
    modal_free(&counts);
    modal_free(&faces);
    modal_free(&keys);
    return status;
}

/* Three corners of a quadrilateral on the boundary. */
typedef struct half {
    int32_t nodes[3]; /* ascending */
    int64_t order;    /* 4 quadrilateral + corner left out, by ascending keys of the quadrilaterals */
} half;

static int compare_halves(const void *a, const void *b)
{
    const half *x = a, *y = b;
    for (int k = 0; k < 3; k++)
        if (x->nodes[k] != y->nodes[k]) return x->nodes[k] < y->nodes[k] ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* The first of the sorted halves that has these corners, or NULL. */
static const half *find_half(const half *halves, int64_t n, const int32_t corners[3])
{
    half wanted = {.order = -1};
    int64_t low = 0, high = n;
    for (int k = 0; k < 3; k++) {
        int at = k;
        for (; at > 0 && wanted.nodes[at - 1] > corners[k]; at--) wanted.nodes[at] = wanted.nodes[at - 1];
        wanted.nodes[at] = corners[k];
    }
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (compare_halves(&halves[middle], &wanted) < 0) low = middle + 1;
        else high = middle;
    }
    return low < n && memcmp(halves[low].nodes, wanted.nodes, sizeof wanted.nodes) == 0 ? &halves[low] : NULL;
}

/* A triangle of three corners of a quadrilateral on the boundary: another element lies on half of it. on_boundary [n_nodes]: not 0
 * at the nodes of boundary faces. */
static modal_status refuse_halves(const modal_volume_mesh *mesh, const modal_single_faces *found, const int32_t *on_boundary, modal_error *err)
{
    modal_status status = MODAL_OK;
    half *halves = NULL;
    int64_t n = 0, n_quads = 0;
    int32_t nodes[MODAL_FACE_MOST_NODES], triangle = -1;
    const half *first = NULL;
    for (int64_t i = 0; i < found->n; i++) n_quads += modal_face_kind(mesh, found->faces[i])->n_corners == 4;
    if (n_quads == 0) return MODAL_OK;
    MODAL_TRY(modal_alloc_zero(&halves, 4 * n_quads, sizeof *halves, "boundary faces", err));
    for (int64_t i = 0; i < found->n; i++) {
        if (modal_face_kind(mesh, found->faces[i])->n_corners != 4) continue;
        modal_face_nodes(mesh, found->faces[i], nodes);
        for (int left_out = 0; left_out < 4; left_out++, n++) {
            halves[n].order = 4 * i + left_out;
            for (int k = 0, used = 0; k < 4; k++) {
                if (k == left_out) continue;
                int at = used++;
                for (; at > 0 && halves[n].nodes[at - 1] > nodes[k]; at--) halves[n].nodes[at] = halves[n].nodes[at - 1];
                halves[n].nodes[at] = nodes[k];
            }
        }
    }
    qsort(halves, (size_t)n, sizeof *halves, compare_halves);
    for (int64_t e = 0; e < mesh->n_elements; e++)
        for (int f = 0; f < modal_mesh_kind(mesh, e)->n_faces; f++) {
            const int32_t face = (int32_t)(SLOTS * e + f);
            if (modal_face_kind(mesh, face)->n_corners != 3) continue;
            modal_face_nodes(mesh, face, nodes);
            if (!on_boundary[nodes[0]] || !on_boundary[nodes[1]] || !on_boundary[nodes[2]]) continue;
            const half *at = find_half(halves, n, nodes);
            if (!at || (first && first->order <= at->order)) continue;
            first = at;
            triangle = face;
        }
    if (first)
        MODAL_FAIL(err, MODAL_ERROR_INPUT,
                   "elements %lld and %lld: the triangle %lld %lld %lld of one lies on a "
                   "quadrilateral of the other; a pyramid belongs between them",
                   (long long)mesh->element_tags[found->faces[first->order / 4] / SLOTS], (long long)mesh->element_tags[triangle / SLOTS],
                   (long long)mesh->node_tags[first->nodes[0]], (long long)mesh->node_tags[first->nodes[1]],
                   (long long)mesh->node_tags[first->nodes[2]]);
done:
    modal_free(&halves);
    return status;
}

/* Faces in ascending order. */
static modal_status order_boundary(modal_single_faces *found, modal_error *err)
{
    modal_status status = MODAL_OK;
    uint64_t *keys = NULL;
    MODAL_TRY(modal_alloc(&keys, found->n, sizeof *keys, "face keys", err));
    for (int64_t i = 0; i < found->n; i++) keys[i] = (uint64_t)found->faces[i];
    MODAL_TRY(modal_sort_by_key(found->n, keys, found->faces, err));
done:
    modal_free(&keys);
    return status;
}

modal_status modal_volume_mesh_boundary(const modal_volume_mesh *mesh, modal_surface_mesh *surface,
                                        int32_t **vertex_nodes, modal_error *err)
{
    return modal_volume_mesh_boundary_by(modal_find_faces, mesh, surface, vertex_nodes, err);
}

/* Triangles of all these faces. */
static int64_t count_triangles(const modal_volume_mesh *mesh, const modal_single_faces *found)
{
    int64_t n = 0;
    for (int64_t i = 0; i < found->n; i++) {
        int32_t nodes[MODAL_FACE_MOST_NODES];
        uint8_t triangles[MODAL_FACE_MOST_TRIANGLES][3];
        modal_face_nodes(mesh, found->faces[i], nodes);
        n += modal_face_triangles(modal_face_kind(mesh, found->faces[i]), nodes, triangles);
    }
    return n;
}

modal_status modal_volume_mesh_boundary_by(modal_face_finder *find, const modal_volume_mesh *mesh, modal_surface_mesh *surface,
                                           int32_t **vertex_nodes, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_mesh found = {0};
    modal_single_faces on = {0};
    modal_face_clash clash = {0};
    int32_t *node_vertex = NULL, *nodes_found = NULL;
    memset(surface, 0, sizeof *surface);
    *vertex_nodes = NULL;
    if (mesh->n_elements > MAX_ELEMENTS)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%lld elements: more than %d",
                   (long long)mesh->n_elements, MAX_ELEMENTS);
    MODAL_TRY(find(mesh, &on, &clash, err));
    if (clash.n > 0) {
        status = refuse_clash(mesh, &clash, err);
        goto done;
    }
    found.n_triangles = count_triangles(mesh, &on);
    if (found.n_triangles > INT32_MAX)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%lld triangles in the surface: more than %d",
                   (long long)found.n_triangles, INT32_MAX);

    MODAL_TRY(modal_alloc(&found.triangles, 3 * found.n_triangles, sizeof *found.triangles,
                          "boundary triangles", err));
    MODAL_TRY(modal_alloc_zero(&node_vertex, mesh->n_nodes, sizeof *node_vertex, "node vertices",
                               err));
    for (int64_t i = 0; i < on.n; i++) {
        int32_t nodes[MODAL_FACE_MOST_NODES];
        const int n_nodes = modal_face_nodes(mesh, on.faces[i], nodes);
        for (int k = 0; k < n_nodes; k++) node_vertex[nodes[k]] = 1;
    }
    MODAL_TRY(refuse_halves(mesh, &on, node_vertex, err));
    MODAL_TRY(order_boundary(&on, err));
    int64_t t = 0;
    for (int64_t i = 0; i < on.n; i++) {
        int32_t nodes[MODAL_FACE_MOST_NODES];
        uint8_t triangles[MODAL_FACE_MOST_TRIANGLES][3];
        modal_face_nodes(mesh, on.faces[i], nodes);
        const int n = modal_face_triangles(modal_face_kind(mesh, on.faces[i]), nodes, triangles);
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
    modal_free(&on.faces);
    return status;
}
