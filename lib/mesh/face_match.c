/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/face_match.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static_assert(offsetof(modal_face_record, middles) == MODAL_FACE_RECORD_SHORT, "short records end before the middles");
static_assert(MODAL_FACE_MOST_NODES <= 8, "four corners and four middles");

const modal_element_face *modal_face_kind(const modal_volume_mesh *mesh, int32_t face)
{
    return &modal_mesh_kind(mesh, face / MODAL_FACE_SLOTS)->faces[face % MODAL_FACE_SLOTS];
}

int modal_face_nodes(const modal_volume_mesh *mesh, int32_t face, int32_t nodes[MODAL_FACE_MOST_NODES])
{
    const modal_element_face *kind = modal_face_kind(mesh, face);
    const int32_t *of_element = modal_mesh_nodes(mesh, face / MODAL_FACE_SLOTS);
    for (int k = 0; k < kind->n_nodes; k++) nodes[k] = of_element[kind->nodes[k]];
    return kind->n_nodes;
}

int modal_face_key(const modal_volume_mesh *mesh, int32_t face, int32_t key[4])
{
    int32_t nodes[MODAL_FACE_MOST_NODES];
    modal_face_nodes(mesh, face, nodes);
    const int n = modal_face_kind(mesh, face)->n_corners;
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

int64_t modal_face_record_bytes(const modal_volume_mesh *mesh)
{
    for (int64_t e = 0; e < mesh->n_elements; e++)
        if (modal_mesh_kind(mesh, e)->quadratic) return sizeof(modal_face_record);
    return MODAL_FACE_RECORD_SHORT;
}

modal_face_record modal_face_record_of(const modal_volume_mesh *mesh, int32_t face)
{
    modal_face_record record = {.face = face, .middles = {-1, -1, -1, -1}};
    int32_t nodes[MODAL_FACE_MOST_NODES];
    const int n = modal_face_nodes(mesh, face, nodes), n_corners = modal_face_kind(mesh, face)->n_corners;
    record.over = modal_face_key(mesh, face, record.key);
    for (int k = n_corners; k < n; k++) {
        int at = k - n_corners;
        for (; at > 0 && record.middles[at - 1] > nodes[k]; at--) record.middles[at] = record.middles[at - 1];
        record.middles[at] = nodes[k];
    }
    return record;
}

/* For qsort: by key, then by face. */
static int compare_records(const void *a, const void *b)
{
    const modal_face_record *x = a, *y = b;
    for (int k = 0; k < 4; k++)
        if (x->key[k] != y->key[k]) return x->key[k] < y->key[k] ? -1 : 1;
    return (x->face > y->face) - (x->face < y->face);
}

int64_t modal_faces_match(void *records, int64_t n, int64_t bytes, int32_t *faces, modal_face_clash *clash)
{
    const int64_t n_middles = (bytes - MODAL_FACE_RECORD_SHORT) / (int64_t)sizeof(int32_t);
    const char *at = records;
    int64_t n_single = 0, count;
    memset(clash, 0, sizeof *clash);
    if (n > 0) qsort(records, (size_t)n, (size_t)bytes, compare_records);
    for (int64_t i = 0; i < n; i += count, at += count * bytes) {
        const modal_face_record *first = (const void *)at, *second = (const void *)(at + bytes);
        for (count = 1; i + count < n && memcmp(at, at + count * bytes, sizeof first->key) == 0;) count++;
        if (count == 1) faces[n_single++] = first->face;
        if (count == 1 || (count == 2 && first->over != second->over &&
                           memcmp(first->middles, second->middles, (size_t)n_middles * sizeof(int32_t)) == 0)) continue;
        clash->n = count;
        for (int64_t k = 0; k < count && k < MODAL_FACES_NAMED; k++) clash->faces[k] = ((const modal_face_record *)(const void *)(at + k * bytes))->face;
        break;
    }
    return n_single;
}
