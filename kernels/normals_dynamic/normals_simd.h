/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic normals of a range of vertices in one instruction set. Included once for each set, with
 *   LANES    floats of a vector register
 *   TARGET   the function attribute of the set
 *   NAME(x)  x with the set's suffix
 *   SQRT(v)  the square roots of a vector
 *   INSIDE(v, least, most)  whether all lanes lie between them
 *   STREAM(p, v)  writes a vector to aligned memory without reading it into the caches first
 *   FMA(a, b, c)  a b + c, as kernels/deform rounds it
 *   HELD     vertices of a unit whose sums are held in registers, 3 x HELD and one more
 *   LOAD3(p) the four-lane vector p[0] p[1] p[2] 0, or anything in its last lane, reading 12 bytes
 * No include guard: this is a template. Products and differences are rounded one by one in all of
 * it, so both ways give the same bytes. */

typedef float NAME(vector) __attribute__((vector_size(4 * LANES)));
typedef int32_t NAME(integers) __attribute__((vector_size(4 * LANES)));
typedef float NAME(unaligned) __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

TARGET static inline __attribute__((always_inline)) NAME(integers) NAME(larger)(NAME(integers) a,
                                                                               NAME(integers) b)
{
    return (a & (a > b)) | (b & ~(a > b));
}

/* N / |N| for LANES sums, the zero vector for a sum of zero. Where squares could overflow or underflow,
 * scaled by a power of two first: exact, so that both ways give the same bytes. */
TARGET static inline __attribute__((always_inline)) void NAME(normalise)(NAME(vector) *x,
                                                                         NAME(vector) *y,
                                                                         NAME(vector) *z)
{
    NAME(vector) a = *x, b = *y, c = *z, square = a * a + b * b + c * c;
    if (__builtin_expect(INSIDE(square, 0x1p-60f, 0x1p+100f), 1)) {
        const NAME(vector) inverse = 1.0f / SQRT(square);
        *x = a * inverse, *y = b * inverse, *z = c * inverse;
        return;
    }
    NAME(integers) exponent = (NAME(integers))*x & 0x7f800000;
    exponent = NAME(larger)(exponent, (NAME(integers))*y & 0x7f800000);
    exponent = NAME(larger)(exponent, (NAME(integers))*z & 0x7f800000);
    exponent = NAME(larger)((253 << 23) - exponent, (NAME(integers)){0} + (1 << 23));
    const NAME(vector) scale = (NAME(vector))exponent;
    a = *x * scale, b = *y * scale, c = *z * scale;
    square = a * a + b * b + c * c;
    const NAME(vector) inverse = 1.0f / SQRT(square);
    const NAME(integers) nonzero = square != 0.0f;
    *x = (NAME(vector))((NAME(integers))(a * inverse) & nonzero);
    *y = (NAME(vector))((NAME(integers))(b * inverse) & nonzero);
    *z = (NAME(vector))((NAME(integers))(c * inverse) & nonzero);
}

/* ---- one column: x y z of a vertex in one register of four lanes ---- */

TARGET static void NAME(normals_of_column)(const modal_normals_dynamic_task *task, const float *x,
                                           float *normals, int64_t begin, int64_t end)
{
    const int32_t *corners = task->corners;
    for (int64_t v = begin; v < end;) {
        float sums[3][LANES];
        const int count = end - v < LANES ? (int)(end - v) : LANES;
        memset(sums, 0, sizeof sums);
        for (int lane = 0; lane < count; lane++) {
            const int64_t last = task->corner_offsets[v + lane + 1];
            const four own = LOAD3(x + 3 * (v + lane));
            four sum = {0}, b = {0};
            int64_t previous = -1;
            for (int64_t k = task->corner_offsets[v + lane]; k < last; k++) {
                four a = b;
                if (corners[2 * k] != previous)
                    a = LOAD3(x + 3 * (int64_t)corners[2 * k]) - own;
                b = LOAD3(x + 3 * (int64_t)corners[2 * k + 1]) - own;
                /* the products of (z, x, y) of the cross product */
                sum += a * __builtin_shufflevector(b, b, 1, 2, 0, 3) -
                       __builtin_shufflevector(a, a, 1, 2, 0, 3) * b;
                previous = corners[2 * k + 1];
            }
            sums[0][lane] = sum[1], sums[1][lane] = sum[2], sums[2][lane] = sum[0];
        }
        NAME(vector) n_x = *(const NAME(unaligned) *)sums[0];
        NAME(vector) n_y = *(const NAME(unaligned) *)sums[1];
        NAME(vector) n_z = *(const NAME(unaligned) *)sums[2];
        NAME(normalise)(&n_x, &n_y, &n_z);
        for (int lane = 0; lane < count; lane++) {
            normals[3 * (v + lane)] = n_x[lane];
            normals[3 * (v + lane) + 1] = n_y[lane];
            normals[3 * (v + lane) + 2] = n_z[lane];
        }
        v += count;
    }
}

/* ---- many columns: a column a lane ---- */

/* Element e of what each step of a transposition takes of two vectors: every other float or pair of
 * floats of their quarters of four lanes, as vectors of one lane set after the other can; then every
 * other quarter. */
#define QUARTER(e) ((e) / 4 * 4)
#define FLOATS(e) ((e) % 2 * LANES + QUARTER(e) + (e) % 4 / 2)
#define PAIRS(e) ((e) % 4 / 2 * LANES + QUARTER(e) + (e) % 2)
#define FLOATS_HIGH(e) (FLOATS(e) + 2)
#define PAIRS_HIGH(e) (PAIRS(e) + 2)
#define EVEN(e) (2 * QUARTER(e) + (e) % 4) /* 2 LANES floats: the first vector's, then the second's */
#define ODD(e) (EVEN(e) + 4)
#if LANES == 16
#define EACH(F)                                                                                    \
    F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(8), F(9), F(10), F(11), F(12), F(13), F(14), \
        F(15)
#elif LANES == 8
#define EACH(F) F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7)
#else
#define EACH(F) F(0), F(1), F(2), F(3)
#endif
#define TAKE(F, a, b) __builtin_shufflevector(a, b, EACH(F))

/* Transposes LANES vectors: squares of four by four, then the squares. */
TARGET static inline __attribute__((always_inline)) void NAME(transpose)(NAME(vector) *a)
{
    NAME(vector) b[LANES];
#pragma GCC unroll 4
    for (int g = 0; g < LANES / 4; g++) {
        const NAME(vector) *row = a + 4 * g;
        const NAME(vector) low = TAKE(FLOATS, row[0], row[1]), high = TAKE(FLOATS_HIGH, row[0], row[1]);
        const NAME(vector) low_2 = TAKE(FLOATS, row[2], row[3]);
        const NAME(vector) high_2 = TAKE(FLOATS_HIGH, row[2], row[3]);
        b[g] = TAKE(PAIRS, low, low_2), b[LANES / 4 + g] = TAKE(PAIRS_HIGH, low, low_2);
        b[LANES / 2 + g] = TAKE(PAIRS, high, high_2);
        b[LANES / 4 * 3 + g] = TAKE(PAIRS_HIGH, high, high_2);
    }
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++) a[i] = b[i];
#if LANES > 4
#pragma GCC unroll 2
    for (int round = 4; round < LANES; round *= 2) {
#pragma GCC unroll 8
        for (int i = 0; i < LANES / 2; i++) {
            b[i] = TAKE(EVEN, a[2 * i], a[2 * i + 1]);
            b[LANES / 2 + i] = TAKE(ODD, a[2 * i], a[2 * i + 1]);
        }
#pragma GCC unroll 16
        for (int i = 0; i < LANES; i++) a[i] = b[i];
    }
#endif
}

/* Positions of one unit (LANES vertices), turned: [3 LANES][LANES]. */
TARGET static __attribute__((noinline)) void NAME(stage_unit)(const columns_of *columns,
                                                              int64_t unit, float *staged)
{
    const int64_t first = unit * LANES, count = columns->n_vertices - first;
    float ends[LANES][3 * LANES];
    for (int c = 0; c < LANES && count < LANES; c++) { /* the last unit: what is missing is never used */
        memset(ends[c], 0, sizeof ends[c]);
        memcpy(ends[c], columns->positions[c] + 3 * first, (size_t)count * 12);
    }
    for (int part = 0; part < 3; part++) {
        NAME(vector) a[LANES];
#pragma GCC unroll 16
        for (int c = 0; c < LANES; c++) {
            const float *from = count < LANES ? ends[c] : columns->positions[c] + 3 * first;
            a[c] = *(const NAME(unaligned) *)(from + part * LANES);
        }
        NAME(transpose)(a);
#pragma GCC unroll 16
        for (int i = 0; i < LANES; i++) ((NAME(vector) *)staged)[part * LANES + i] = a[i];
    }
}

/* Positions of one unit, made from U q: every value with the operations of kernels/deform, in their
 * order. */
TARGET static __attribute__((noinline)) void NAME(deform_unit)(const columns_of *columns,
                                                               int64_t unit, float *staged)
{
    const modal_deform_task *t = columns->deform;
    const int64_t r = t->n_modes, first = unit * LANES;
    const float *u = t->modal_matrix + first / MODAL_TILE * r * MODAL_TILE_FLOATS + first % MODAL_TILE;
    const float *rest = t->rest_tiles + first / MODAL_TILE * MODAL_TILE_FLOATS + first % MODAL_TILE;
    const NAME(vector) *pose = (const NAME(vector) *)columns->poses;
    const int64_t next = first % MODAL_TILE + LANES < MODAL_TILE ? LANES : r * MODAL_TILE_FLOATS - first % MODAL_TILE;
    for (int v = 0; v < LANES; v += HELD) {
        NAME(vector) sum[HELD][3];
#pragma GCC unroll 8
        for (int h = 0; h < HELD; h++) sum[h][0] = sum[h][1] = sum[h][2] = (NAME(vector)){0};
        for (int64_t k = 0; k < r; k++) {
            const NAME(vector) q = *(const NAME(vector) *)(columns->q + k * LANES);
            const float *of_mode = u + k * MODAL_TILE_FLOATS + v;
#pragma GCC unroll 3
            for (int i = 0; v == 0 && i < 3; i++) /* of the next unit */
                __builtin_prefetch(of_mode + MODAL_TILE * i + next);
#pragma GCC unroll 3
            for (int i = 0; i < 3; i++)
#pragma GCC unroll 8
                for (int h = 0; h < HELD; h++)
                    sum[h][i] = FMA(of_mode[MODAL_TILE * i + h] - (NAME(vector)){0}, q, sum[h][i]);
        }
#pragma GCC unroll 8
        for (int h = 0; h < HELD; h++) {
            const NAME(vector) x = rest[v + h] + sum[h][0], y = rest[MODAL_TILE + v + h] + sum[h][1];
            const NAME(vector) z = rest[64 + v + h] + sum[h][2];
            NAME(vector) *to = (NAME(vector) *)(staged + (v + h) * (3 * LANES));
#pragma GCC unroll 3
            for (int i = 0; i < 3; i++)
                to[i] = FMA(z, pose[4 * i + 2],
                            FMA(y, pose[4 * i + 1], FMA(x, pose[4 * i], pose[4 * i + 3])));
        }
    }
}

/* Writes a third of a unit, rows [part * LANES, (part + 1) * LANES) of [3 LANES][LANES], to the columns'
 * positions or normals: a vector each. */
TARGET static __attribute__((noinline)) void NAME(write_part)(const columns_of *columns,
                                                              float *const *arrays, int64_t unit,
                                                              const float *staged, int part)
{
    const int64_t first = unit * (3 * LANES) + part * LANES, left = 3 * columns->n_vertices - first;
    NAME(vector) a[LANES];
    if (unit % (PAGE / (4 * LANES)) == 0 && part == 0) /* the addresses of pages to come, of all columns */
        for (int c = 0; c < columns->count; c++) __builtin_prefetch(arrays[c] + first + PAGE);
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++) a[i] = ((const NAME(vector) *)staged)[part * LANES + i];
    NAME(transpose)(a);
    if (columns->count < LANES || left < LANES) {
        for (int c = 0; c < columns->count && left > 0; c++)
            memcpy(arrays[c] + first, a + c, (size_t)(left < LANES ? left : LANES) * sizeof(float));
    } else if (columns->stream) {
#pragma GCC unroll 16
        for (int c = 0; c < LANES; c++) STREAM(arrays[c] + first, a[c]);
    } else {
#pragma GCC unroll 16
        for (int c = 0; c < LANES; c++) *(NAME(unaligned) *)(arrays[c] + first) = a[c];
    }
}

/* Units [begin, end) to an array of all of them. */
TARGET static void NAME(stage_units)(const columns_of *columns, float *whole, int64_t begin,
                                     int64_t end)
{
    for (int64_t unit = begin; unit < end; unit++)
        NAME(stage_unit)(columns, unit, whole + unit * (3 * LANES * LANES));
}

typedef struct NAME(store_of) {
    float *staged;
    float out[3 * LANES * LANES] __attribute__((aligned(64)));
    int32_t held[STAGED_VERTICES / LANES];
    int64_t n_staged;
} NAME(store_of);

/* Where vertex v's row [3][LANES] is, staged if it was not. */
TARGET static inline __attribute__((always_inline)) const NAME(vector) *
NAME(row_of)(const columns_of *columns, NAME(store_of) *store, int64_t v, const positions_are are)
{
    if (are == TURNED) return (const NAME(vector) *)(columns->whole + v * (3 * LANES));
    const uint32_t unit = (uint32_t)v / LANES, slot = unit % (STAGED_VERTICES / LANES);
    if (__builtin_expect(store->held[slot] != (int32_t)unit, 0)) {
        (are == MADE ? NAME(deform_unit) : NAME(stage_unit))(columns, unit,
                                                             store->staged + slot * (3 * LANES * LANES));
        store->held[slot] = (int32_t)unit;
        store->n_staged++;
    }
    return (const NAME(vector) *)(store->staged + (size_t)((uint32_t)v % STAGED_VERTICES) * (3 * LANES));
}

/* Vertices [begin, end), begin a multiple of LANES. Neighbours come from a direct-mapped store of
 * turned units, which the order of locality lets serve nearly every corner. Without such an order
 * all units are turned before, or, for want of memory, the columns are done one by one. */
TARGET static inline __attribute__((always_inline)) void
NAME(normals_from)(const modal_normals_dynamic_task *task, const columns_of *columns, int64_t begin,
                   int64_t end, const positions_are are)
{
    const int32_t *corners = task->corners;
    NAME(store_of) store = {.staged = columns->staged};
    int64_t v = begin;
    int scattered = 0;
    for (int i = 0; i < STAGED_VERTICES / LANES; i++) store.held[i] = -1;
    for (store.n_staged = 0; v < end && !scattered; v++) {
        const int64_t last = task->corner_offsets[v + 1];
        if (are == TURNED) { /* scattered neighbours of a vertex to come */
            const int64_t later = v + 3 < end ? v + 3 : v;
            for (int64_t k = task->corner_offsets[later]; k < task->corner_offsets[later + 1]; k++)
                for (int line = 0; line < 3 * LANES; line += 16)
                    __builtin_prefetch(columns->whole + corners[2 * k + 1] * (int64_t)(3 * LANES) + line);
        } else if (are == READ && v + AHEAD + LANES <= columns->n_vertices) {
            const float *next = columns->positions[v % LANES] + 3 * (v / LANES * LANES + AHEAD);
            __builtin_prefetch(next);
            if (LANES > 4) __builtin_prefetch(next + 16);
            if (LANES > 8) __builtin_prefetch(next + 32);
            if (LANES > 4) __builtin_prefetch(next + 3 * LANES - 1);
        }
        const NAME(vector) *at = NAME(row_of)(columns, &store, v, are);
        for (int part = 0; are == MADE && v % LANES == 0 && part < 3; part++)
            NAME(write_part)(columns, columns->made, v / LANES, (const float *)at, part);
        const NAME(vector) own_x = at[0], own_y = at[1], own_z = at[2];
        NAME(vector) x = {0}, y = {0}, z = {0}, b_x = {0}, b_y = {0}, b_z = {0};
        int64_t previous = -1;
        for (int64_t k = task->corner_offsets[v]; k < last; k++) {
            NAME(vector) a_x = b_x, a_y = b_y, a_z = b_z;
            if (corners[2 * k] != previous) { /* a fan in order shares its edges */
                at = NAME(row_of)(columns, &store, corners[2 * k], are);
                a_x = at[0] - own_x, a_y = at[1] - own_y, a_z = at[2] - own_z;
            }
            previous = corners[2 * k + 1];
            at = NAME(row_of)(columns, &store, previous, are);
            b_x = at[0] - own_x, b_y = at[1] - own_y, b_z = at[2] - own_z;
            x += a_y * b_z - a_z * b_y;
            y += a_z * b_x - a_x * b_z;
            z += a_x * b_y - a_y * b_x;
        }
        const int lane = (int)(v % LANES);
        NAME(vector) *row = (NAME(vector) *)(store.out + lane * (3 * LANES));
        row[0] = x, row[1] = y, row[2] = z;
        if (lane < LANES - 1 && v + 1 < end) continue;
        row = (NAME(vector) *)store.out; /* together: many roots and divisions at once */
        for (int i = 0; i <= lane; i++, row += 3) NAME(normalise)(row, row + 1, row + 2);
        for (int part = 0; part < 3; part++)
            NAME(write_part)(columns, columns->normals, v / LANES, store.out, part);
        scattered = are == READ && store.n_staged >= 64 + 4 * ((v + 1 - begin) / LANES);
    }
    for (int c = 0; scattered && c < columns->count; c++)
        NAME(normals_of_column)(task, columns->positions[c], columns->normals[c], v, end);
}

TARGET static void NAME(normals_of_columns)(const modal_normals_dynamic_task *task,
                                            const columns_of *columns, int64_t begin, int64_t end)
{
    if (columns->whole)
        NAME(normals_from)(task, columns, begin, end, TURNED);
    else if (columns->deform)
        NAME(normals_from)(task, columns, begin, end, MADE);
    else
        NAME(normals_from)(task, columns, begin, end, READ);
}

#undef QUARTER
#undef FLOATS
#undef FLOATS_HIGH
#undef PAIRS
#undef PAIRS_HIGH
#undef EVEN
#undef ODD
#undef TAKE
#undef EACH
#undef LANES
#undef TARGET
#undef NAME
#undef SQRT
#undef INSIDE
#undef FMA
#undef HELD
#undef STREAM
#undef LOAD3
