/* SPDX-License-Identifier: Apache-2.0 */
/* One tile of a packed scene in all frames, in one instruction set. Included once a set, with
 *   LANES    floats of a vector register
 *   GROUPS   registers side by side: 3 x GROUPS sums, which hides the latency of the multiply-adds
 *   TARGET   the function attribute of the set
 *   NAME(x)  x with the set's suffix
 *   STREAM   as kernels/modal_sum/points_simd.h needs it
 * Every product is one multiply-add, modes ascending. No include guard: this is a template. */

#include "kernels/modal_sum/points_simd.h"

#define READ(p) (*(const NAME(unaligned) *)(p))

/* T (rest + sum) into x[3], or T's linear part times sum where rest is NULL. */
TARGET static inline __attribute__((always_inline)) void
NAME(transform)(NAME(vector) *x, const NAME(vector) *sum, const float *rest, const float *t)
{
    NAME(vector) at[3];
#pragma GCC unroll 3
    for (int i = 0; i < 3; i++) {
        at[i] = sum[i];
        if (rest) at[i] = READ(rest + MODAL_TILE * i) + sum[i];
    }
#pragma GCC unroll 3
    for (int i = 0; i < 3; i++) {
        NAME(vector) row = at[0] * t[4 * i];
        if (rest) row = at[0] * t[4 * i] + t[4 * i + 3];
        row = at[1] * t[4 * i + 1] + row;
        x[i] = at[2] * t[4 * i + 2] + row;
    }
}

/* Positions, and displacements where `moved` is not NULL, of one object in GROUPS or one vectors of lanes
 * from `lane` on: points in the order of the lanes. */
TARGET static inline __attribute__((always_inline)) void
NAME(deform_lanes)(float *points, float *moved, const float *matrix, const float *rest, const float *q,
                   const float *t, int64_t n_modes, int lane, const int groups)
{
    NAME(vector) sum[GROUPS][3], x[3];
#pragma GCC unroll 4
    for (int g = 0; g < groups; g++) sum[g][0] = sum[g][1] = sum[g][2] = (NAME(vector)){0};
    for (int64_t k = 0; k < n_modes; k++) {
        const float *u = matrix + k * MODAL_TILE_FLOATS + lane;
#pragma GCC unroll 4
        for (int g = 0; g < groups; g++)
#pragma GCC unroll 3
            for (int i = 0; i < 3; i++) sum[g][i] = READ(u + MODAL_TILE * i + g * LANES) * q[k] + sum[g][i];
    }
#pragma GCC unroll 4
    for (int g = 0; g < groups; g++) {
        const int at = lane + g * LANES;
        NAME(transform)(x, sum[g], rest + at, t);
        NAME(store)(points + 3 * at, LANES, 0, x[0], x[1], x[2]);
        if (!moved) continue;
        NAME(transform)(x, sum[g], NULL, t);
        NAME(store)(moved + 3 * at, LANES, 0, x[0], x[1], x[2]);
    }
}

/* The runs of a mixed tile one after the other: each is computed in whole vectors, aside, and its own
 * lanes are copied to where they go. */
TARGET static void NAME(deform_mixed)(const modal_deform_objects_task *task, int64_t frame,
                                      const float *matrix, const float *rest,
                                      const modal_pack_lane *lanes, const tile_runs *runs)
{
    const modal_object_pack *pack = task->pack;
    const float *q = task->q + frame * pack->n_modes;
    const float *poses = task->poses + frame * pack->n_objects * 12;
    float *positions = task->positions + frame * pack->n_points * 3;
    float *displacement = task->displacement ? task->displacement + frame * pack->n_points * 3 : NULL;
    float points[MODAL_TILE_FLOATS], moved[MODAL_TILE_FLOATS];
    for (int run = 0; run < runs->n; run++) {
        const int begin = runs->begin[run], end = runs->begin[run + 1];
        const modal_pack_lane *l = &lanes[begin];
        if (l->point < 0) continue;
        for (int lane = begin / LANES * LANES; lane < end; lane += LANES)
            NAME(deform_lanes)(points, displacement ? moved : NULL, matrix, rest, q + l->q,
                               poses + l->object * (int64_t)12, l->n_modes, lane, 1);
        const size_t bytes = (size_t)(end - begin) * 12;
        memcpy(positions + 3 * (int64_t)l->point, points + 3 * begin, bytes);
        if (displacement) memcpy(displacement + 3 * (int64_t)l->point, moved + 3 * begin, bytes);
    }
}

TARGET static void NAME(deform_tile)(const modal_deform_objects_task *task, int32_t tile)
{
    enum { AHEAD = 2048 }; /* floats of U that are fetched while this tile is at work */
    const modal_object_pack *pack = task->pack;
    const modal_pack_tile *record = &pack->tiles[tile];
    const modal_pack_lane *lanes = pack->lanes + (int64_t)tile * MODAL_TILE; /* of a mixed tile */
    const float *matrix = pack->modal_matrix + record->matrix;
    const float *rest = pack->rest_tiles + (int64_t)tile * MODAL_TILE_FLOATS;
    for (int64_t i = 0; i < MODAL_TILE_FLOATS * (int64_t)record->n_modes; i += 16)
        __builtin_prefetch((const void *)((uintptr_t)(matrix + i) + AHEAD * sizeof(float)));
    tile_runs runs;
    if (tile < pack->n_mixed) find_runs(&runs, lanes);
    for (int64_t frame = 0; frame < task->n_frames; frame++) {
        if (tile < pack->n_mixed) {
            NAME(deform_mixed)(task, frame, matrix, rest, lanes, &runs);
            continue;
        }
        const int64_t to = (frame * pack->n_points + record->point) * 3;
        for (int lane = 0; lane < MODAL_TILE; lane += GROUPS * LANES)
            NAME(deform_lanes)(task->positions + to, task->displacement ? task->displacement + to : NULL,
                               matrix, rest, task->q + frame * pack->n_modes + record->q,
                               task->poses + (frame * pack->n_objects + record->object) * 12,
                               record->n_modes, lane, GROUPS);
    }
}

#undef READ
#undef LANES
#undef GROUPS
#undef TARGET
#undef NAME
#undef STREAM
