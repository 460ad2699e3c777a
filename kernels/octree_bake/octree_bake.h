/* SPDX-License-Identifier: Apache-2.0 */
/* An image of an octree texture by the texture coordinates of a surface (S. Lefebvre, S. Hornus, F. Neyret, Octree textures on the
 * GPU, 2005, section 37.2.4). Every texel that bilinear filtering of a point of the surface reads is covered:
 *
 *   Texel (x, y) is centred at (x + 1/2, y + 1/2) in texels. It belongs to the triangle that is nearest to its centre, if that is at
 *   most `reach` texels away (2^(1/2): all that bilinear filtering reads); of equally near ones to the first. Its value is
 *   that of the texture at the triangle's point nearest to the centre.
 *
 * Corners are rounded to 1 / 4096 of a texel; what is inside is then decided in whole numbers, so triangles with a common edge
 * leave no gap. Distances are rounded once in double and once to float, the same on every back end, and so are `owner` and `covered`. A texel
 * overlaps where its centre is strictly inside of several triangles. Triangles without area in texels cover nothing.
 * Values: a point is p0 + b (p1 - p0) + c (p2 - p0), the weights in float32 to 4 e; then the bound of octree_lookup.
 * Sizes: any, 0 included. Aliasing: outputs overlap nothing.
 * Determinism: the same bytes for any number of threads; the least of all offers by atomics, in whatever order. */
#ifndef MODAL_KERNELS_OCTREE_BAKE_H
#define MODAL_KERNELS_OCTREE_BAKE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/octree_lookup/octree_lookup.h"
#include "kernels/operations.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MODAL_BAKE_STEPS = 4096, MODAL_BAKE_SIDE = 1 << 14, MODAL_BAKE_FAR = 1 << 16 }; /* steps a texel; most texels a side; most |uv| */
enum { MODAL_BAKE_SHAPE = 20 };

typedef struct modal_octree_bake_counts {
    int64_t overlapping; /* the sum over texels of the triangles with the centre strictly inside, less one */
    int64_t covered;
    int64_t outside; /* covered, and the texture has no value there */
} modal_octree_bake_counts;

struct modal_octree_bake_task {
    modal_octree_grid grid;
    int n_mips; /* as in octree_lookup */
    const modal_octree_mip *mips;
    int64_t n_triangles;  /* below 2^31 */
    const float *uv;      /* [n_triangles, 3, 2] texels, v upwards, within +- MODAL_BAKE_FAR */
    const float *points;  /* [n_triangles, 3, 3] cells: where the corners are */
    const float *levels;  /* [n_triangles] log2 of a texel's size in cells, or NULL: 0 */
    int32_t width, height; /* up to MODAL_BAKE_SIDE */
    float reach;           /* texels, 0 to 8 */
    float outside;         /* values of what is not covered or has none */
    uint32_t outside_rgba8;
    uint64_t *owner;   /* [height, width] the triangle in the low 32 bits, or UINT64_MAX */
    uint32_t *covered; /* [height, (width + 31) / 32] as in push_pull */
    void *values;      /* [height, width] u32, f32 or f32 [3]; the lowest row first */
    int32_t *queue;    /* [n_triangles + 1] scratch of a GPU; the CPU reads neither of the two */
    float *shapes;     /* [n_triangles, MODAL_BAKE_SHAPE] scratch of a GPU, as 16 bytes */
    modal_octree_bake_counts *counts;
};

#ifdef __CUDACC__
#define MODAL_BAKE_INLINE static __host__ __device__ inline
#else
#define MODAL_BAKE_INLINE static inline
#endif

/* A triangle in steps, turned so that its area is positive. */
typedef struct modal_bake_triangle {
    int32_t x[3], y[3];      /* below 2^29, as their differences from each other and from texels are */
    int64_t area;            /* twice, in square steps; 0: covers nothing */
    int swapped;             /* corners 1 and 2 have changed places */
    int64_t low[2], high[2]; /* texels that it may cover: low <= x < high */
} modal_bake_triangle;

/* Twice the area between (ax, ay) and (bx, by). */
MODAL_BAKE_INLINE int64_t modal_bake_cross(int32_t ax, int32_t ay, int32_t bx, int32_t by)
{
    return (int64_t)ax * by - (int64_t)ay * bx;
}

MODAL_BAKE_INLINE void modal_bake_start(const float uv[6], double reach, int32_t width, int32_t height,
                                        modal_bake_triangle *t)
{
    for (int k = 0; k < 3; k++) {
        t->x[k] = (int32_t)rint((double)uv[2 * k] * MODAL_BAKE_STEPS);
        t->y[k] = (int32_t)rint((double)uv[2 * k + 1] * MODAL_BAKE_STEPS);
    }
    t->area = modal_bake_cross(t->x[1] - t->x[0], t->y[1] - t->y[0], t->x[2] - t->x[0], t->y[2] - t->y[0]);
    t->swapped = t->area < 0;
    if (t->swapped) {
        const int32_t x = t->x[1], y = t->y[1];
        t->x[1] = t->x[2], t->y[1] = t->y[2], t->x[2] = x, t->y[2] = y, t->area = -t->area;
    }
    for (int axis = 0; axis < 2; axis++) {
        const int32_t *c = axis ? t->y : t->x, end = axis ? height : width;
        const int32_t least = c[0] < c[1] ? (c[0] < c[2] ? c[0] : c[2]) : c[1] < c[2] ? c[1] : c[2];
        const int32_t most = c[0] > c[1] ? (c[0] > c[2] ? c[0] : c[2]) : c[1] > c[2] ? c[1] : c[2];
        const double low = floor((double)least / MODAL_BAKE_STEPS - reach - 0.5),
                     high = ceil((double)most / MODAL_BAKE_STEPS + reach + 0.5);
        t->low[axis] = low < 0 ? 0 : (int64_t)low;
        t->high[axis] = high > (double)end ? end : (int64_t)high;
    }
    if (t->area == 0) t->high[0] = t->low[0];
}

/* Where a texel is to a triangle. */
typedef struct modal_bake_place {
    float square;         /* of the distance in texels; where the centre is inside 0, on an edge the smallest float above 0 */
    double weights[2];    /* of the second and third corner at the nearest point, as the user has the corners */
} modal_bake_place;

/* One of three without an array indexed by a number. */
#define MODAL_BAKE_PICK(array, k) ((k) == 0 ? (array)[0] : (k) == 1 ? (array)[1] : (array)[2])

/* 0: farther away than reach, and nothing else is said. Products of differences of steps are whole and below 2^63. */
MODAL_BAKE_INLINE int modal_bake_find(const modal_bake_triangle *t, int64_t px, int64_t py, double reach, modal_bake_place *place)
{
    const int32_t x = (int32_t)px * MODAL_BAKE_STEPS + MODAL_BAKE_STEPS / 2,
                  y = (int32_t)py * MODAL_BAKE_STEPS + MODAL_BAKE_STEPS / 2;
    int64_t side[3]; /* of the edge from corner k: twice the area with the texel's centre */
    int strictly = 1;
    unsigned beyond = 0; /* edges that the centre is beyond: two at most */
    for (int k = 0; k < 3; k++) {
        const int j = k == 2 ? 0 : k + 1;
        side[k] = modal_bake_cross(t->x[j] - t->x[k], t->y[j] - t->y[k], x - t->x[k], y - t->y[k]);
        strictly &= side[k] > 0;
        beyond |= (unsigned)(side[k] < 0) << k;
    }
    double b, c;
    if (!beyond) {
        place->square = strictly ? 0.0f : 1e-45f;
        b = (double)side[2] / (double)t->area;
        c = (double)side[0] / (double)t->area;
    } else { /* the nearest point is on such an edge; threads of a warp go through theirs together, whichever they are
              */
        const double far2 = reach * reach * ((double)MODAL_BAKE_STEPS * MODAL_BAKE_STEPS);
        double best = far2, at = 0;
        int edge = -1;
        for (int k = beyond & 1 ? 0 : beyond & 2 ? 1 : 2; beyond >> k; k++) {
            if (!(beyond >> k & 1)) continue;
            const int j = k == 2 ? 0 : k + 1;
            const int32_t x0 = MODAL_BAKE_PICK(t->x, k), y0 = MODAL_BAKE_PICK(t->y, k), x1 = MODAL_BAKE_PICK(t->x, j),
                          y1 = MODAL_BAKE_PICK(t->y, j);
            const int32_t ex = x1 - x0, ey = y1 - y0, dx = x - x0, dy = y - y0;
            const int64_t ahead = (int64_t)ex * dx + (int64_t)ey * dy, length = (int64_t)ex * ex + (int64_t)ey * ey;
            const double own = (double)MODAL_BAKE_PICK(side, k);
            if (own * own > far2 * (double)length * 1.000001)
                return 0; /* the whole triangle is farther away, whatever is rounded */
            double square;
            if (ahead <= 0) {
                square = (double)((int64_t)dx * dx + (int64_t)dy * dy);
            } else if (ahead >= length) {
                square = (double)((int64_t)(x - x1) * (x - x1) + (int64_t)(y - y1) * (y - y1));
            } else {
                square = own / (double)length;
                square *= own;
            }
            if (!(square <= best) || (edge >= 0 && square == best)) continue;
            best = square;
            edge = k;
            at = ahead <= 0 ? 0 : ahead >= length ? 1 : (double)ahead / (double)length;
        }
        if (edge < 0) return 0;
        place->square = (float)(best / ((double)MODAL_BAKE_STEPS * MODAL_BAKE_STEPS));
        b = edge == 0 ? at : edge == 1 ? 1 - at : 0;
        c = edge == 0 ? 0 : edge == 1 ? at : 1 - at;
    }
    place->weights[0] = t->swapped ? c : b;
    place->weights[1] = t->swapped ? b : c;
    return 1;
}

/* The definition, for the reference and for checks, of arrays in main memory. The owner of a texel out of all triangles, and how many
 * have its centre strictly inside. */
static inline uint64_t modal_bake_owner(const modal_octree_bake_task *t, int64_t x, int64_t y, int64_t *n_inside)
{
    uint64_t best = UINT64_MAX;
    *n_inside = 0;
    for (int64_t i = 0; i < t->n_triangles; i++) {
        modal_bake_triangle triangle;
        modal_bake_place place;
        uint32_t bits;
        modal_bake_start(t->uv + 6 * i, (double)t->reach, t->width, t->height, &triangle);
        if (triangle.area == 0 || !modal_bake_find(&triangle, x, y, (double)t->reach, &place)) continue;
        memcpy(&bits, &place.square, sizeof bits);
        *n_inside += bits == 0;
        const uint64_t offer = (uint64_t)bits << 32 | (uint64_t)i;
        if (offer < best) best = offer;
    }
    return best;
}

/* The point of triangle i whose value a texel gets, in cells; 0 where it is out of reach, and no point. */
static inline int modal_bake_point(const modal_octree_bake_task *t, int64_t i, int64_t x, int64_t y, float point[3])
{
    modal_bake_triangle triangle;
    modal_bake_place place;
    modal_bake_start(t->uv + 6 * i, (double)t->reach, t->width, t->height, &triangle);
    if (!modal_bake_find(&triangle, x, y, (double)t->reach, &place)) return 0;
    for (int k = 0; k < 3; k++) {
        const double a = (double)t->points[9 * i + k], b = (double)t->points[9 * i + 3 + k], c = (double)t->points[9 * i + 6 + k];
        point[k] = (float)(a + place.weights[0] * (b - a) + place.weights[1] * (c - a));
    }
    return 1;
}

#ifdef __cplusplus
}
#endif
#endif
