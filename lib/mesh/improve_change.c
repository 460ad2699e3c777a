/* SPDX-License-Identifier: Apache-2.0 */
/* improve.h: some elements replaced by others, with what that does to the faces around them. */
#include <stdlib.h>
#include <string.h>

#include "lib/mesh/improve_private.h"

typedef struct side {
    int32_t key[3]; /* vertices ascending */
    int32_t element, place; /* an old element, or the index of a fresh one, and the corner opposite */
    int32_t mark;
} side;

/* What becomes of the faces. */
typedef struct outcome {
    int32_t marks[IMPROVE_MOST][4]; /* of fresh elements; a boundary face to come: -3 - its index */
    int n_gone, n_come, n_exposed;
    int32_t gone[IMPROVE_MOST_FACES];
    improve_patch_face come[IMPROVE_MOST_FACES];
    struct {
        int32_t element, place;
        int come;
    } exposed[IMPROVE_MOST_FACES]; /* faces of elements that stay */
} outcome;

static void sort_key(int32_t key[3])
{
    int32_t swap;
    if (key[0] > key[1]) swap = key[0], key[0] = key[1], key[1] = swap;
    if (key[1] > key[2]) swap = key[1], key[1] = key[2], key[2] = swap;
    if (key[0] > key[1]) swap = key[0], key[0] = key[1], key[1] = swap;
}

static int compare_keys(const int32_t a[3], const int32_t b[3])
{
    for (int k = 0; k < 3; k++)
        if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
    return 0;
}

static int compare_sides(const void *a, const void *b)
{
    const side *x = a, *y = b;
    const int order = compare_keys(x->key, y->key);
    return order != 0 ? order : x->element - y->element;
}

static int list_sides(const int32_t v[4], int32_t element, const int32_t *marks, side *sides)
{
    for (int k = 0; k < 4; k++) {
        side *own = &sides[k];
        for (int i = 0; i < 3; i++) own->key[i] = v[improve_faces[k][i]];
        sort_key(own->key);
        own->element = element;
        own->place = k;
        own->mark = marks ? marks[k] : IMPROVE_INSIDE;
    }
    return 4;
}

/* Keeps the sides that are there once, ascending, and moves the others to `inner` (one of each two; NULL: nobody asks). -1: a side is there
 * more than twice. */
static int keep_outer(side *sides, int n, side *inner, int *n_inner)
{
    int kept = 0;
    qsort(sides, (size_t)n, sizeof *sides, compare_sides);
    for (int i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && compare_keys(sides[i].key, sides[end].key) == 0; end++) continue;
        if (end - i > 2) return -1;
        if (end - i == 1)
            sides[kept++] = sides[i];
        else if (inner)
            inner[(*n_inner)++] = sides[i];
    }
    return kept;
}

static int has_vertex(const int32_t key[3], int32_t v) { return key[0] == v || key[1] == v || key[2] == v; }

/* The patch of a face that comes: that of the old face with the vertex that was merged or cut in place of `into`. -1: none. */
static int32_t find_patch(const improve_store *s, const improve_change *change, const side *old, int n_old, const int32_t key[3])
{
    int32_t only = -1;
    for (int m = 0; m < 3 && change->into >= 0 && has_vertex(key, change->into); m++) {
        int32_t before[3];
        if (change->merged[m] < 0) continue;
        for (int k = 0; k < 3; k++) before[k] = key[k] == change->into ? change->merged[m] : key[k];
        sort_key(before);
        for (int i = 0; i < n_old; i++)
            if (old[i].mark >= 0 && compare_keys(before, old[i].key) == 0) return s->faces[old[i].mark].patch;
    }
    if (change->into >= 0) return -1;
    for (int i = 0; i < n_old; i++) { /* an edge on the surface is exchanged within one patch */
        if (old[i].mark < 0 || old[i].element < 0) continue;
        const int32_t patch = s->faces[old[i].mark].patch;
        if (only >= 0 && patch != only) return -1;
        only = patch;
    }
    return only;
}

static int add_come(outcome *out, const int32_t v[4], int place, int turned, int32_t patch)
{
    if (patch < 0 || out->n_come == IMPROVE_MOST_FACES) return 0;
    improve_patch_face *face = &out->come[out->n_come++];
    for (int i = 0; i < 3; i++) face->v[i] = v[improve_faces[place][turned ? 2 - i : i]];
    face->patch = patch;
    return 1;
}

static int add_gone(outcome *out, int32_t face)
{
    if (out->n_gone == IMPROVE_MOST_FACES) return 0;
    out->gone[out->n_gone++] = face;
    return 1;
}

/* Fresh sides beside old ones. A face that neither goes nor comes hands its mark on. `old` loses the element of sides that were found, so
 * that those left are the ones that go. */
static int match(const improve_store *s, const improve_change *change, side *old, int n_old, const side *fresh, int n_fresh, outcome *out)
{
    int i = 0;
    for (int j = 0; j < n_fresh; j++) {
        while (i < n_old && compare_keys(old[i].key, fresh[j].key) < 0) i++;
        if (i == n_old || compare_keys(old[i].key, fresh[j].key) != 0) continue;
        if (old[i].mark >= 0 && change->moved >= 0 && has_vertex(old[i].key, change->moved)) {
            if (!add_gone(out, old[i].mark) ||
                !add_come(out, change->fresh[fresh[j].element], fresh[j].place, 0, s->faces[old[i].mark].patch))
                return 0;
            out->marks[fresh[j].element][fresh[j].place] = -2 - out->n_come;
        } else {
            out->marks[fresh[j].element][fresh[j].place] = old[i].mark;
        }
        old[i].element = -1 - old[i].element;
    }
    i = 0;
    for (int j = 0; j < n_fresh; j++) {
        while (i < n_old && compare_keys(old[i].key, fresh[j].key) < 0) i++;
        if (i < n_old && compare_keys(old[i].key, fresh[j].key) == 0) continue;
        if (!add_come(out, change->fresh[fresh[j].element], fresh[j].place, 0, find_patch(s, change, old, n_old, fresh[j].key)))
            return 0;
        out->marks[fresh[j].element][fresh[j].place] = -2 - out->n_come;
    }
    for (i = 0; i < n_old; i++) {
        if (old[i].element < 0) continue;
        if (old[i].mark >= 0) {
            if (!add_gone(out, old[i].mark)) return 0;
            continue;
        }
        int place;
        const improve_tetrahedron *own = &s->tetrahedra[old[i].element];
        const int32_t neighbour = improve_neighbour(s, old[i].element, old[i].place, &place);
        if (old[i].mark != IMPROVE_INSIDE || !change->may_expose || neighbour < 0 || out->n_exposed == IMPROVE_MOST_FACES ||
            !add_come(out, own->v, old[i].place, 1, find_patch(s, change, old, n_old, old[i].key)))
            return 0;
        out->exposed[out->n_exposed].element = neighbour;
        out->exposed[out->n_exposed].place = place;
        out->exposed[out->n_exposed++].come = out->n_come - 1;
    }
    return 1;
}

static int is_old(const improve_change *change, int32_t t)
{
    for (int i = 0; i < change->n_old; i++)
        if (change->old[i] == t) return 1;
    return 0;
}

/* Whether an element that stays has this face. */
static int is_taken(const improve_store *s, const improve_change *change, const int32_t key[3])
{
    for (int32_t c = s->head[key[0]]; c >= 0; c = s->tetrahedra[c / 4].next[c % 4]) {
        const improve_tetrahedron *t = &s->tetrahedra[c / 4];
        if (improve_has(t, key[1]) >= 0 && improve_has(t, key[2]) >= 0 && !is_old(change, c / 4)) return 1;
    }
    return 0;
}

static int find_outcome(const improve_store *s, const improve_change *change, outcome *out)
{
    static side old[4 * IMPROVE_MOST], fresh[4 * IMPROVE_MOST], inner[4 * IMPROVE_MOST]; /* one thread: see improve.h */
    int n_old = 0, n_fresh = 0, n_inner = 0;
    for (int i = 0; i < change->n_old; i++)
        n_old += list_sides(s->tetrahedra[change->old[i]].v, change->old[i], s->tetrahedra[change->old[i]].mark, old + n_old);
    for (int i = 0; i < change->n_new; i++) n_fresh += list_sides(change->fresh[i], i, NULL, fresh + n_fresh);
    n_old = keep_outer(old, n_old, NULL, NULL);
    n_fresh = keep_outer(fresh, n_fresh, inner, &n_inner);
    if (n_old < 0 || n_fresh < 0) return 0;
    out->n_gone = out->n_come = out->n_exposed = 0;
    for (int i = 0; i < change->n_new; i++)
        for (int k = 0; k < 4; k++) out->marks[i][k] = IMPROVE_INSIDE;
    if (!match(s, change, old, n_old, fresh, n_fresh, out)) return 0;
    if (out->n_gone == 0 && out->n_come == 0) return 1;
    for (int i = 0; i < n_inner; i++)
        if (is_taken(s, change, inner[i].key)) return 0;
    return improve_surface_may(s, out->n_gone, out->gone, out->n_come, out->come);
}

static void commit(improve_store *s, const improve_change *change, const outcome *out)
{
    int32_t faces[IMPROVE_MOST_FACES];
    const int32_t region = s->tetrahedra[change->old[0]].region;
    for (int i = 0; i < out->n_come; i++) {
        faces[i] = improve_new_face(s, out->come[i].patch);
        for (int k = 0; k < 3; k++) s->n_boundary[out->come[i].v[k]]++;
    }
    for (int i = 0; i < change->n_old; i++) {
        const improve_tetrahedron *t = &s->tetrahedra[change->old[i]];
        for (int k = 0; k < 4; k++)
            for (int g = 0; g < out->n_gone; g++)
                if (t->mark[k] == out->gone[g])
                    for (int c = 1; c < 4; c++) s->n_boundary[t->v[(k + c) & 3]]--;
        improve_delete_tetrahedron(s, change->old[i]);
    }
    for (int i = 0; i < change->n_new && s->failed == MODAL_OK; i++) {
        const int32_t t = improve_new_tetrahedron(s, change->fresh[i], region);
        for (int k = 0; t >= 0 && k < 4; k++) {
            const int32_t mark = out->marks[i][k];
            s->tetrahedra[t].mark[k] = mark <= -3 ? faces[-3 - mark] : mark;
        }
    }
    for (int i = 0; i < out->n_exposed; i++) s->tetrahedra[out->exposed[i].element].mark[out->exposed[i].place] = faces[out->exposed[i].come];
    if (s->failed == MODAL_OK) improve_surface_pass(s, out->n_gone, out->gone, out->n_come, out->come, faces);
}

/* Whether a vertex that must stay would be in no element. */
static int loses_fixed(const improve_store *s, const improve_change *change)
{
    for (int i = 0; i < 4 * change->n_old; i++) {
        const int32_t v = s->tetrahedra[change->old[i / 4]].v[i % 4];
        int stays = !s->fixed[v];
        for (int j = 0; j < change->n_new && !stays; j++)
            for (int k = 0; k < 4; k++) stays |= change->fresh[j][k] == v;
        for (int32_t c = s->head[v]; c >= 0 && !stays; c = s->tetrahedra[c / 4].next[c % 4]) stays = !is_old(change, c / 4);
        if (!stays) return 1;
    }
    return 0;
}

int improve_apply(improve_store *s, const improve_change *change)
{
    static outcome out;
    const double target = change->quality > 0 ? change->gain * change->quality + 1e-9 : 1e-9;
    const double needed = target > s->wanted && change->quality < s->wanted ? s->wanted : target;
    for (int i = 1; i < change->n_old; i++)
        if (s->tetrahedra[change->old[i]].region != s->tetrahedra[change->old[0]].region) return 0;
    for (int i = 0; i < change->n_new; i++)
        if (!(improve_quality_of(s, change->fresh[i]) >= needed)) return 0;
    if (loses_fixed(s, change) || !find_outcome(s, change, &out) || s->failed != MODAL_OK) return 0;
    commit(s, change, &out);
    return s->failed == MODAL_OK;
}
