/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of vertices as points in memory, in one instruction set: with LANES, TARGET, NAME(x) and
 * STREAM(p, v) as in tile_product_simd.h, which includes this once a set. No include guard: this is a
 * template. */

typedef float NAME(vector) __attribute__((vector_size(4 * LANES)));
typedef float NAME(unaligned) __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

/* Element e of the m-th vector of x0 y0 z0 x1 y1 z1 ...: picked from (x, y), then z put in. */
#define AT(m, e) ((m) * LANES + (e))
#define PICK_XY(m, e)                                                                              \
    (AT(m, e) % 3 == 0 ? AT(m, e) / 3 : AT(m, e) % 3 == 1 ? LANES + AT(m, e) / 3 : 0)
#define PICK_Z(m, e) (AT(m, e) % 3 == 2 ? LANES + AT(m, e) / 3 : (e))
#if LANES == 16
#define EACH(F, m)                                                                                 \
    F(m, 0), F(m, 1), F(m, 2), F(m, 3), F(m, 4), F(m, 5), F(m, 6), F(m, 7), F(m, 8), F(m, 9),      \
        F(m, 10), F(m, 11), F(m, 12), F(m, 13), F(m, 14), F(m, 15)
#elif LANES == 8
#define EACH(F, m) F(m, 0), F(m, 1), F(m, 2), F(m, 3), F(m, 4), F(m, 5), F(m, 6), F(m, 7)
#else
#define EACH(F, m) F(m, 0), F(m, 1), F(m, 2), F(m, 3)
#endif
#define INTERLEAVE(m)                                                                              \
    __builtin_shufflevector(__builtin_shufflevector(x, y, EACH(PICK_XY, m)), z, EACH(PICK_Z, m))

/* Writes `count` of LANES vertices, x y z each; past the caches where `stream` asks for it and `out`
 * allows it. */
TARGET static inline __attribute__((always_inline)) void
NAME(store)(float *out, int64_t count, int stream, NAME(vector) x, NAME(vector) y, NAME(vector) z)
{
    NAME(vector) v0 = INTERLEAVE(0), v1 = INTERLEAVE(1), v2 = INTERLEAVE(2);
    if (count >= LANES && stream && (uintptr_t)out % (4 * LANES) == 0) {
        STREAM(out, v0);
        STREAM(out + LANES, v1);
        STREAM(out + 2 * LANES, v2);
    } else if (count >= LANES) {
        *(NAME(unaligned) *)out = v0;
        *(NAME(unaligned) *)(out + LANES) = v1;
        *(NAME(unaligned) *)(out + 2 * LANES) = v2;
    } else if (count > 0) {
        float all[3 * LANES];
        *(NAME(unaligned) *)all = v0;
        *(NAME(unaligned) *)(all + LANES) = v1;
        *(NAME(unaligned) *)(all + 2 * LANES) = v2;
        memcpy(out, all, (size_t)count * 3 * sizeof(float));
    }
}

#undef AT
#undef PICK_XY
#undef PICK_Z
#undef EACH
#undef INTERLEAVE
