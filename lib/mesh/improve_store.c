/* SPDX-License-Identifier: Apache-2.0 */
/* improve.h: tetrahedra that come and go, by vertex. */
#include <math.h>

#include "lib/base/memory.h"
#include "lib/mesh/improve_private.h"

const uint8_t improve_faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

static void subtract(const double *a, const double *b, double c[3])
{
    for (int k = 0; k < 3; k++) c[k] = a[k] - b[k];
}

static void cross(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* sin = 6 V l / (n_i n_j) at the edge of length l between faces whose normals' lengths (twice the area) are n_i and n_j. The least of
 * the squares is found first: one root instead of ten. */
double improve_quality(const double *a, const double *b, const double *c, const double *d)
{
    double ab[3], ac[3], ad[3], bc[3], bd[3], cd[3], n[4][3], square[4];
    subtract(b, a, ab);
    subtract(c, a, ac);
    subtract(d, a, ad);
    subtract(c, b, bc);
    subtract(d, b, bd);
    subtract(d, c, cd);
    cross(bc, bd, n[0]);
    cross(ac, ad, n[1]);
    cross(ab, ad, n[2]);
    cross(ab, ac, n[3]);
    const double volume = dot(n[3], ad);
    for (int i = 0; i < 4; i++) square[i] = dot(n[i], n[i]);
    /* the edge between the faces opposite i and j joins the two others */
    double least = dot(cd, cd) / (square[0] * square[1]);
    least = fmin(least, dot(bd, bd) / (square[0] * square[2]));
    least = fmin(least, dot(bc, bc) / (square[0] * square[3]));
    least = fmin(least, dot(ad, ad) / (square[1] * square[2]));
    least = fmin(least, dot(ac, ac) / (square[1] * square[3]));
    least = fmin(least, dot(ab, ab) / (square[2] * square[3]));
    const double sine = volume * sqrt(least);
    return sine <= 1.5 ? sine : -1; /* without area: NaN or infinite */
}

double improve_quality_of(const improve_store *s, const int32_t v[4])
{
    return improve_quality(improve_at(s, v[0]), improve_at(s, v[1]), improve_at(s, v[2]), improve_at(s, v[3]));
}

int improve_has(const improve_tetrahedron *t, int32_t vertex)
{
    for (int k = 0; k < 4; k++)
        if (t->v[k] == vertex) return k;
    return -1;
}

int improve_star(const improve_store *s, int32_t vertex, int32_t *elements, int most)
{
    int n = 0;
    for (int32_t c = s->head[vertex]; c >= 0; c = s->tetrahedra[c / 4].next[c % 4]) {
        if (n == most) return -1;
        elements[n++] = c / 4;
    }
    return n;
}

int improve_ring(const improve_store *s, int32_t a, int32_t b, int32_t *elements, int most)
{
    int n = 0;
    for (int32_t c = s->head[a]; c >= 0; c = s->tetrahedra[c / 4].next[c % 4]) {
        if (improve_has(&s->tetrahedra[c / 4], b) < 0) continue;
        if (n == most) return -1;
        elements[n++] = c / 4;
    }
    return n;
}

int32_t improve_neighbour(const improve_store *s, int32_t t, int k, int *place)
{
    const improve_tetrahedron *own = &s->tetrahedra[t];
    const int32_t a = own->v[(k + 1) & 3], b = own->v[(k + 2) & 3], c = own->v[(k + 3) & 3];
    for (int32_t i = s->head[a]; i >= 0; i = s->tetrahedra[i / 4].next[i % 4]) {
        const improve_tetrahedron *other = &s->tetrahedra[i / 4];
        const int at_b = improve_has(other, b), at_c = improve_has(other, c);
        if (i / 4 == t || at_b < 0 || at_c < 0) continue;
        *place = 6 - i % 4 - at_b - at_c;
        return i / 4;
    }
    return -1;
}

static int grow(improve_store *s, void *pointer, int64_t *capacity, int64_t needed, size_t bytes)
{
    if (needed <= INT32_MAX / 4) {
        const modal_status status = modal_grow(pointer, capacity, needed, bytes, "better mesh", s->err);
        if (status == MODAL_OK) return 1;
        s->failed = status;
    } else {
        s->failed = modal_error_set(s->err, MODAL_ERROR_INPUT, "too many elements to improve, %lld", (long long)needed);
    }
    return 0;
}

int32_t improve_new_vertex(improve_store *s, const double x[3])
{
    const int64_t n = s->n_vertices;
    if (!grow(s, &s->x, &s->most_vertices, 3 * (n + 1), sizeof *s->x) ||
        !grow(s, &s->head, &s->capacity_head, n + 1, sizeof *s->head) ||
        !grow(s, &s->n_boundary, &s->capacity_boundary, n + 1, sizeof *s->n_boundary) ||
        !grow(s, &s->fixed, &s->capacity_fixed, n + 1, sizeof *s->fixed))
        return -1;
    for (int k = 0; k < 3; k++) s->x[3 * n + k] = x[k];
    s->head[n] = -1;
    s->n_boundary[n] = 0;
    s->fixed[n] = 0;
    s->n_vertices++;
    return (int32_t)n;
}

int32_t improve_new_tetrahedron(improve_store *s, const int32_t v[4], int32_t region)
{
    int32_t t;
    if (s->n_free > 0) {
        t = s->free_tetrahedra[--s->n_free];
    } else {
        if (!grow(s, &s->tetrahedra, &s->capacity, s->n_tetrahedra + 1, sizeof *s->tetrahedra)) return -1;
        t = (int32_t)s->n_tetrahedra++;
    }
    improve_tetrahedron *own = &s->tetrahedra[t];
    own->region = region;
    own->origin = -1;
    for (int k = 0; k < 4; k++) {
        own->v[k] = v[k];
        own->mark[k] = IMPROVE_INSIDE;
        own->next[k] = s->head[v[k]];
        s->head[v[k]] = 4 * t + k;
    }
    return t;
}

void improve_delete_tetrahedron(improve_store *s, int32_t t)
{
    improve_tetrahedron *own = &s->tetrahedra[t];
    /* the room for the free one is made first: without it the place is lost, which does no harm */
    if (!grow(s, &s->free_tetrahedra, &s->capacity_free, s->n_free + 1, sizeof *s->free_tetrahedra)) return;
    for (int k = 0; k < 4; k++) {
        int32_t *link = &s->head[own->v[k]];
        while (*link != 4 * t + k) link = &s->tetrahedra[*link / 4].next[*link % 4];
        *link = own->next[k];
    }
    own->v[0] = -1;
    s->free_tetrahedra[s->n_free++] = t;
}

int32_t improve_new_face(improve_store *s, int32_t patch)
{
    int32_t f = s->free_face;
    if (f >= 0) {
        s->free_face = s->faces[f].first;
    } else {
        if (!grow(s, &s->faces, &s->capacity_faces, s->n_faces + 1, sizeof *s->faces)) return -1;
        f = (int32_t)s->n_faces++;
    }
    s->faces[f] = (improve_face){patch, -1};
    return f;
}

void improve_delete_face(improve_store *s, int32_t face)
{
    s->faces[face].first = s->free_face;
    s->free_face = face;
}
