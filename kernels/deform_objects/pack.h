/* SPDX-License-Identifier: Apache-2.0 */
/* A packed scene: many objects, each with a shape, a size n and a number of modes r of its own, as
 * tiles of 32 lanes that one launch deforms (deform_objects.h). Built once a scene, in main memory.
 *
 * A lane is one vertex. Two kinds of tiles, so that small objects cost neither a warp of their own
 * nor large ones a table entry a vertex:
 *   mixed [0, n_mixed)         lanes of any objects, sorted by descending r; a record a lane. U has
 *                              the tile's largest r; lanes of fewer modes hold zeros there.
 *   whole [n_mixed, n_tiles)   32 vertices of one object that lie one after the other in the
 *                              output, sorted by descending r; one record a tile, no padding.
 * The lanes of an object are in the order of the output, so that stores stay whole lines where an
 * object's points are consecutive, whatever the order of its vertices.
 * Segments are ranges of tiles whose modes are divided among the same number of warps, long ones
 * first; the division depends on the pack alone.
 *
 * Objects that share one shape are better columns of kernels/deform, which reads U once for all;
 * a pack holds U once an object. */
#ifndef MODAL_KERNELS_OBJECT_PACK_H
#define MODAL_KERNELS_OBJECT_PACK_H

#include <stdint.h>

#include "kernels/operations.h"
#include "lib/base/tile.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MODAL_PACK_SEGMENTS = 8, MODAL_PACK_PARTS = 8 };

/* What a scene is built from; borrowed for the time of the call. */
typedef struct modal_pack_object {
    int64_t n_vertices;
    int32_t n_modes;           /* r */
    const float *modal_matrix; /* U [ceil(n_vertices / 32), n_modes, 3, 32] */
    const float *rest_tiles;   /* xbar [ceil(n_vertices / 32), 3, 32] */
    int64_t first_point;       /* vertex v goes to point first_point + v of the frame, or, */
    const int32_t *order;      /* unless NULL, [n_vertices], to first_point + order[v] */
} modal_pack_object;

typedef struct modal_pack_tile { /* 32 bytes */
    int64_t matrix;              /* where its U begins in modal_matrix, in floats */
    int32_t n_modes;             /* the largest of its lanes */
    int32_t q, object, point;    /* whole tiles: as the lane record, of lane 0 */
    int32_t unused[2];
} modal_pack_tile;

typedef struct modal_pack_lane { /* 16 bytes, of mixed tiles */
    int32_t q;                   /* where its q begins in a frame's reduced coordinates */
    int32_t n_modes;
    int32_t object; /* its pose */
    int32_t point;  /* where it goes; -1: nowhere (fills the last tile) */
} modal_pack_lane;

typedef struct modal_pack_segment {
    int32_t first_tile, n_tiles;
    int32_t parts; /* 1, 2, 4 or 8: part i sums modes [i m, (i + 1) m), m = ceil(r / parts) */
    int32_t mixed; /* nonzero: its tiles are */
} modal_pack_segment;

/* The numbers are in main memory, the arrays in a back end's. */
typedef struct modal_object_pack {
    int32_t n_objects, n_modes; /* n_modes: of all objects, the length of a frame's q */
    int32_t n_points;           /* of a frame */
    int32_t n_tiles, n_mixed, n_segments;
    int64_t matrix_floats;
    modal_pack_segment segments[MODAL_PACK_SEGMENTS];
    modal_pack_tile *tiles; /* [n_tiles] */
    modal_pack_lane *lanes; /* [n_mixed, 32] */
    float *modal_matrix;    /* tile after tile, [its n_modes, 3, 32] each */
    float *rest_tiles;      /* [n_tiles, 3, 32] */
} modal_object_pack;

/* Packs a scene in main memory; what the objects point to is copied. A frame has n_points points;
 * those of no object are never written. Reduced coordinates are object after object. Needs scratch
 * of 12 bytes a point and 24 an object.
 * Errors: MODAL_ERROR_INPUT with the object for a negative size, a point outside of the frame, a
 * point that two vertices share, more than INT32_MAX points, objects or modes; MODAL_ERROR_MEMORY.
 * After one the pack is empty. Uses OpenMP. */
modal_status modal_object_pack_build(modal_object_pack *pack, int64_t n_objects,
                                     const modal_pack_object *objects, int64_t n_points,
                                     modal_error *err);
/* The same without U and xbar, which are not read and stay NULL: to know what a pack needs, and to fill
 * it later, again and again, from wherever they come. */
modal_status modal_object_pack_describe(modal_object_pack *pack, int64_t n_objects,
                                        const modal_pack_object *objects, int64_t n_points,
                                        modal_error *err);
/* Writes U [pack->matrix_floats] and xbar [pack->n_tiles, 3, 32] in the pack's order, NULL: not that
 * one. The objects as they were described, where none had an order. Uses OpenMP. */
void modal_object_pack_gather(const modal_object_pack *pack, const modal_pack_object *objects,
                              float *modal_matrix, float *rest_tiles);
void modal_object_pack_free(modal_object_pack *pack); /* empties it; twice is fine */

/* Bytes of the four arrays. */
int64_t modal_object_pack_bytes(const modal_object_pack *pack);

/* A copy whose arrays are in the device's memory; back when they are there. Devices that share main
 * memory can use the pack itself. After an error the copy is empty. */
modal_status modal_object_pack_upload(modal_object_pack *copy, const modal_object_pack *pack,
                                      const modal_device *device, modal_stream *stream,
                                      modal_error *err);
void modal_object_pack_unload(modal_object_pack *copy, const modal_device *device);

/* The record of any lane, for code in main memory. */
static inline modal_pack_lane modal_pack_lane_of(const modal_object_pack *pack, int32_t tile,
                                                 int lane)
{
    if (tile < pack->n_mixed) return pack->lanes[(int64_t)tile * MODAL_TILE + lane];
    const modal_pack_tile *t = &pack->tiles[tile];
    const modal_pack_lane record = {t->q, t->n_modes, t->object, t->point + lane};
    return record;
}

#ifdef __cplusplus
}
#endif
#endif
