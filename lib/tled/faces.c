/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/tled/faces.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/base/sort.h"
#include "lib/model/element.h"

/* Corners of all faces, [n, 4]. */
static int64_t list_faces(const modal_tled_solid *s, int32_t *all)
{
    int64_t n = 0;
    for (int64_t e = 0; e < s->n_tetrahedra + s->n_hexahedra; e++) {
        const int tetrahedron = e < s->n_tetrahedra;
        const modal_element_kind *kind = &modal_element_kinds[tetrahedron ? MODAL_ELEMENT_TET4 : MODAL_ELEMENT_HEX8];
        const int32_t *corners = tetrahedron ? s->tetrahedra + 4 * e : s->hexahedra + 8 * (e - s->n_tetrahedra);
        for (int f = 0; f < kind->n_faces; f++, n++) {
            all[4 * n + 3] = -1;
            for (int a = 0; a < kind->faces[f].n_corners; a++) all[4 * n + a] = corners[kind->faces[f].nodes[a]];
        }
    }
    return n;
}

/* Ascending corners; of a triangle -1 stands first. */
static void sorted(const int32_t *face, int32_t out[4])
{
    memcpy(out, face, 4 * sizeof *out);
    for (int i = 1; i < 4; i++)
        for (int k = i; k > 0 && out[k] < out[k - 1]; k--) {
            const int32_t swap = out[k];
            out[k] = out[k - 1], out[k - 1] = swap;
        }
}

modal_status modal_tled_boundary(const modal_tled_solid *solid, int32_t **faces, int64_t *n, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t most = 4 * solid->n_tetrahedra + 6 * solid->n_hexahedra;
    int32_t *all = NULL, *order = NULL;
    uint64_t *keys = NULL;
    uint8_t *inner = NULL;
    *faces = NULL;
    *n = 0;
    MODAL_TRY(modal_alloc(&all, most, 4 * sizeof *all, "faces", err));
    MODAL_TRY(modal_alloc(&order, most, sizeof *order, "faces", err));
    MODAL_TRY(modal_alloc(&keys, most, sizeof *keys, "faces", err));
    MODAL_TRY(modal_alloc_zero(&inner, most, 1, "faces", err));
    const int64_t count = list_faces(solid, all);
    for (int64_t f = 0; f < count; f++) order[f] = (int32_t)f;
    for (int pass = 0; pass < 2; pass++) { /* the minor pair of corners first */
        for (int64_t k = 0; k < count; k++) {
            int32_t c[4];
            sorted(all + 4 * (int64_t)order[k], c);
            keys[k] = pass == 0 ? (uint64_t)(c[2] + 1) << 32 | (uint32_t)(c[3] + 1)
                                : (uint64_t)(c[0] + 1) << 32 | (uint32_t)(c[1] + 1);
        }
        MODAL_TRY(modal_sort_by_key(count, keys, order, err));
    }
    for (int64_t k = 1; k < count; k++) {
        int32_t a[4], b[4];
        sorted(all + 4 * (int64_t)order[k - 1], a);
        sorted(all + 4 * (int64_t)order[k], b);
        if (memcmp(a, b, sizeof a) == 0) inner[order[k - 1]] = inner[order[k]] = 1;
    }
    for (int64_t f = 0; f < count; f++)
        if (!inner[f]) memmove(all + 4 * (*n)++, all + 4 * f, 4 * sizeof *all);
    *faces = all;
    all = NULL;
done:
    modal_free(&all);
    modal_free(&order);
    modal_free(&keys);
    modal_free(&inner);
    return status;
}

/* Corners that a face of the boundary may have, and the face of the group. */
typedef struct wanted_face {
    int32_t corners[4], face;
} wanted_face;

static int compare_corners(const void *a, const void *b)
{
    const int32_t *x = ((const wanted_face *)a)->corners, *y = ((const wanted_face *)b)->corners;
    for (int k = 0; k < 4; k++)
        if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
    return 0;
}

modal_status modal_tled_boundary_of(const int32_t *faces, int64_t n, const int32_t *group, int64_t n_group, uint8_t *taken, int64_t *left,
                                    modal_error *err)
{
    modal_status status = MODAL_OK;
    wanted_face *wanted = NULL;
    uint8_t *found = NULL;
    int64_t n_wanted = 0;
    MODAL_TRY(modal_alloc(&wanted, 5 * n_group, sizeof *wanted, "faces", err));
    MODAL_TRY(modal_alloc_zero(&found, n_group, 1, "faces", err));
    for (int64_t g = 0; g < n_group; g++)
        for (int without = 4; without >= 0; without--) { /* the face itself; of a quadrilateral also what is left without a corner */
            wanted_face *w = &wanted[n_wanted];
            int32_t corners[4];
            memcpy(corners, group + 4 * g, sizeof corners);
            if (without < 4 && corners[3] < 0) break;
            if (without < 4) corners[without] = corners[3], corners[3] = -1;
            sorted(corners, w->corners);
            w->face = (int32_t)g;
            n_wanted++;
        }
    qsort(wanted, (size_t)n_wanted, sizeof *wanted, compare_corners);
    for (int64_t f = 0; f < n; f++) {
        wanted_face own;
        sorted(faces + 4 * f, own.corners);
        const wanted_face *at = n_wanted > 0 ? bsearch(&own, wanted, (size_t)n_wanted, sizeof own, compare_corners) : NULL;
        taken[f] = at != NULL;
        while (at && at > wanted && compare_corners(at - 1, &own) == 0) at--;
        for (; at && at < wanted + n_wanted && compare_corners(at, &own) == 0; at++) found[at->face] = 1;
    }
    *left = 0;
    while (*left < n_group && found[*left]) ++*left;
    if (*left == n_group) *left = -1;
done:
    modal_free(&wanted);
    modal_free(&found);
    return status;
}
