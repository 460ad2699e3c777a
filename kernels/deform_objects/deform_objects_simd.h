/* SPDX-License-Identifier: Apache-2.0 */
/* One tile of a packed scene in all frames, in one instruction set. Included once a set, with
 *   LANES    floats of a vector register
 *   GROUPS   registers side by side: 3 x GROUPS sums, which hides the latency of the multiply-adds
 *   TARGET   the function attribute of the set
 *   NAME(x)  x with the set's suffix
 * Every product is one multiply-add, modes ascending. No include guard: this is a template. */

typedef float NAME(vector) __attribute__((vector_size(4 * LANES)));
typedef float NAME(unaligned) __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

#define AT(p) (*(NAME(unaligned) *)(p))
#define READ(p) (*(const NAME(unaligned) *)(p))

/* Adds modes [begin, end) to sum[3][32]. In a whole tile mode k's factor is q[k], in a mixed one
 * the factors of the 32 lanes are q[32 (k - begin)] on. */
TARGET static inline __attribute__((always_inline)) void
NAME(add_modes)(float *sum, const float *matrix, const float *q, int64_t begin, int64_t end,
                const int mixed)
{
    for (int lane = 0; lane < 32; lane += GROUPS * LANES) {
        NAME(vector) s[3][GROUPS];
#pragma GCC unroll 3
        for (int i = 0; i < 3; i++)
#pragma GCC unroll 4
            for (int g = 0; g < GROUPS; g++) s[i][g] = READ(sum + 32 * i + lane + g * LANES);
        for (int64_t k = begin; k < end; k++) {
            const float *u = matrix + k * 96 + lane;
#pragma GCC unroll 4
            for (int g = 0; g < GROUPS; g++) {
                NAME(vector) factor = q[mixed ? 0 : k] - (NAME(vector)){0};
                if (mixed) factor = READ(q + (k - begin) * 32 + lane + g * LANES);
#pragma GCC unroll 3
                for (int i = 0; i < 3; i++)
                    s[i][g] = READ(u + 32 * i + g * LANES) * factor + s[i][g];
            }
        }
#pragma GCC unroll 3
        for (int i = 0; i < 3; i++)
#pragma GCC unroll 4
            for (int g = 0; g < GROUPS; g++) AT(sum + 32 * i + lane + g * LANES) = s[i][g];
    }
}

TARGET static inline __attribute__((always_inline)) NAME(vector)
NAME(entry)(const float *t, int i, int lane, const int mixed)
{
    if (mixed) return READ(t + 32 * i + lane);
    return t[i] - (NAME(vector)){0};
}

/* out[3][32] = T (rest + sum), or T's linear part times sum. T is [12][32], lane by lane, in a
 * mixed tile and [12] in a whole one. */
TARGET static inline __attribute__((always_inline)) void
NAME(transform)(float *out, const float *sum, const float *rest, const float *t, const int mixed)
{
    for (int lane = 0; lane < 32; lane += LANES) {
        NAME(vector) x = READ(sum + lane), y = READ(sum + 32 + lane), z = READ(sum + 64 + lane);
        if (rest) {
            x = READ(rest + lane) + x;
            y = READ(rest + 32 + lane) + y;
            z = READ(rest + 64 + lane) + z;
        }
#pragma GCC unroll 3
        for (int i = 0; i < 3; i++) {
            NAME(vector) row = x * NAME(entry)(t, 4 * i, lane, mixed);
            if (rest) row += NAME(entry)(t, 4 * i + 3, lane, mixed);
            row = y * NAME(entry)(t, 4 * i + 1, lane, mixed) + row;
            row = z * NAME(entry)(t, 4 * i + 2, lane, mixed) + row;
            AT(out + 32 * i + lane) = row;
        }
    }
}

/* value in the lanes from `lane` on; what later runs overwrite is written, too. */
TARGET static inline __attribute__((always_inline)) void NAME(spread)(float *to, int lane,
                                                                      float value)
{
    float kept[LANES];
    const int first = lane / LANES * LANES;
    for (int i = first; i < lane; i++) kept[i - first] = to[i];
    for (int at = first; at < 32; at += LANES) AT(to + at) = value - (NAME(vector)){0};
    for (int i = first; i < lane; i++) to[i] = kept[i - first];
}

/* Factors [.., 32] of the modes from `first` on, as many as are buffered; returns how many. */
TARGET static int NAME(spread_factors)(float *factors, const float *q, const modal_pack_lane *lanes,
                                       const tile_runs *runs, int64_t first, int64_t n_modes)
{
    const int count = n_modes - first < BUFFERED_MODES ? (int)(n_modes - first) : BUFFERED_MODES;
    for (int run = 0; run < runs->n_objects; run++) {
        const modal_pack_lane *l = &lanes[runs->object[run]];
        for (int k = 0; k < count; k++)
            NAME(spread)(factors + 32 * k, runs->object[run],
                         k < l->n_modes - first ? q[l->q + first + k] : 0.0f);
    }
    return count;
}

/* Rigid frames [12, 32]; a lane that goes nowhere has object 0's. */
TARGET static void NAME(spread_frames)(float *t, const float *frames, const modal_pack_lane *lanes,
                                       const tile_runs *runs)
{
    for (int run = 0; run < runs->n_objects; run++)
        for (int i = 0; i < 12; i++)
            NAME(spread)(t + 32 * i, runs->object[run],
                         frames[lanes[runs->object[run]].object * (int64_t)12 + i]);
}

TARGET static void NAME(deform_tile)(const modal_deform_objects_task *task, int32_t tile)
{
    const modal_object_pack *pack = task->pack;
    const modal_pack_tile *record = &pack->tiles[tile];
    const modal_pack_lane *lanes = pack->lanes + (int64_t)tile * 32; /* of a mixed tile */
    const float *matrix = pack->modal_matrix + record->matrix;
    const float *rest = pack->rest_tiles + (int64_t)tile * 96;
    const int mixed = tile < pack->n_mixed;
    tile_runs runs;
    if (mixed) find_runs(&runs, lanes);
    for (int64_t frame = 0; frame < task->n_frames; frame++) {
        const float *q = task->q + frame * pack->n_modes;
        const float *frames = task->frames + frame * pack->n_objects * 12;
        float sum[96] = {0}, out[96], t[12 * 32];
        if (mixed) {
            for (int64_t k = 0; k < record->n_modes; k += BUFFERED_MODES) {
                float factors[BUFFERED_MODES * 32];
                const int count = NAME(spread_factors)(factors, q, lanes, &runs, k,
                                                       record->n_modes);
                NAME(add_modes)(sum, matrix, factors, k, k + count, 1);
            }
            NAME(spread_frames)(t, frames, lanes, &runs);
            NAME(transform)(out, sum, rest, t, 1);
        } else {
            NAME(add_modes)(sum, matrix, q + record->q, 0, record->n_modes, 0);
            NAME(transform)(out, sum, rest, frames + record->object * (int64_t)12, 0);
        }
        store(task->positions + frame * pack->n_points * 3, out, mixed ? lanes : NULL, &runs,
              record);
        if (!task->displacement) continue;
        if (mixed)
            NAME(transform)(out, sum, NULL, t, 1);
        else
            NAME(transform)(out, sum, NULL, frames + record->object * (int64_t)12, 0);
        store(task->displacement + frame * pack->n_points * 3, out, mixed ? lanes : NULL, &runs,
              record);
    }
}

#undef AT
#undef READ
#undef LANES
#undef GROUPS
#undef TARGET
#undef NAME
