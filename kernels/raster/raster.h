/* SPDX-License-Identifier: Apache-2.0 */
/* Visibility: which triangle is seen at each sample of a picture, or how near the nearest one is.
 *
 * A sample is covered by a triangle whose corners, rounded to 1/256 pixel, have it inside; on an edge, where the edge is a left
 * or a top one. So samples of a closed mesh are covered once, wherever its edges fall. Triangles are cut at the near plane and at
 * MODAL_RASTER_GUARD pixels from the middle of the picture; one with a corner that is not finite is not drawn.
 * Of the triangles that cover a sample the nearest is seen, of equally near ones the first. One that is to be tested covers a sample only
 * where its alpha there is not below its material's cutoff or, of what is blended, exceeds blended_alpha.
 *
 * Arithmetic: kernels/raster/raster_math.h has every operation; all back ends give the same bytes.
 * Sizes: width, height from 1 to MODAL_RASTER_SIZE; samples 1 (the middle), 4 or 8; n_triangles < 2^32 - 1.
 * Aliasing: outputs and scratch overlap nothing. Errors: MODAL_ERROR_SYSTEM. */
#ifndef MODAL_KERNELS_RASTER_H
#define MODAL_KERNELS_RASTER_H

#include <stdint.h>

#include "kernels/operations.h"
#include "kernels/raster/paint.h"

enum {
    MODAL_RASTER_SIZE = 32768,       /* pixels, the most of a side */
    MODAL_RASTER_GUARD = 1 << 19,    /* pixels from the corner of the picture at which triangles are cut */
    MODAL_RASTER_MOST_SAMPLES = 8
};
#define MODAL_RASTER_NONE 0xffffffffu /* triangle of a sample where nothing is */
#define MODAL_RASTER_EMPTY UINT64_MAX /* its key */

/* What triangles are, bits of mesh.flags. */
enum {
    MODAL_RASTER_ONE_SIDED = 1, /* its back is not seen */
    MODAL_RASTER_CLOSED = 2,    /* of a closed surface: behind its back there is always a front */
    MODAL_RASTER_NO_SHADOW = 4, /* throws none */
    MODAL_RASTER_CUTOUT = 8,    /* there only where its image says so */
    MODAL_RASTER_BLEND = 16,    /* seen through */
    MODAL_RASTER_ABSENT = 32    /* nowhere */
};

/* Where points come to lie: with d = p - origin, rows are r[0] d.x + r[1] d.y + r[2] d.z + r[3]. A point is seen at
 * (x / w, y / w) pixels from the upper left corner of the picture, y down; depth / w is larger the nearer it is, and above 0. Seen
 * in perspective depth is 1, so that the quotient is 1 over the distance along the view. */
typedef struct modal_raster_view {
    float origin[3]; /* m; in perspective the eye */
    float x[4], y[4], w[4], depth[4];
    float near_w; /* nothing with a lesser w is seen; above 0 */
} modal_raster_view;

/* Points [0, n_points) are `points`, those from there on `more`: what belongs to no object. */
typedef struct modal_raster_mesh {
    int64_t n_points, n_more, n_triangles;
    const float *points;      /* [n_points, 3] m */
    const float *more;        /* [n_more, 3] */
    const int32_t *triangles; /* [n_triangles, 3]; seen from the front their corners go against the clock */
    const uint8_t *flags;     /* [n_triangles], or NULL: 0 */
} modal_raster_mesh;

struct modal_raster_task {
    modal_raster_mesh mesh;
    const modal_raster_view *view; /* in the back end's memory */
    int32_t width, height, samples;
    unsigned cull; /* a triangle that has one of these flags is not drawn where its back is seen */
    unsigned skip; /* nor at all where it has one of these */
    unsigned only; /* nor where it has none of these; 0: whatever it has */
    unsigned test; /* one that has one of these is tested; 0: paint is not looked at */
    float blended_alpha;
    modal_paint paint;
    /* One of these, [height, width, samples]: a sample's key is ~bits(depth / w) << 32 | triangle, or MODAL_RASTER_EMPTY; */
    uint64_t *keys;
    float *depths; /* its largest depth / w, or 0; samples must be 1 */
    void *scratch; /* [modal_raster_scratch_bytes], aligned to 64 bytes */
};

enum { MODAL_RASTER_BAND = 32, MODAL_RASTER_CHUNKS = 64 }; /* of the CPU: rows of a band, parts of the triangles */

/* Bytes of scratch that suffice for every back end. */
static inline int64_t modal_raster_scratch_bytes(int64_t n_points, int64_t n_triangles)
{
    const int64_t counts = (int64_t)MODAL_RASTER_CHUNKS * (MODAL_RASTER_SIZE / MODAL_RASTER_BAND + 1) * 8;
    return 256 + counts + 16 * n_points + 16 * n_triangles;
}

#endif
