/* SPDX-License-Identifier: Apache-2.0 */
/* Forces, stiffness and energy by reduced_force.h with vectors of 8 doubles, which the compiler cuts to the registers it has.
 * No include guard: part of reduced_step_host.h, which is a template. */

typedef double vector __attribute__((vector_size(64), aligned(64), may_alias));
typedef double loose_vector __attribute__((vector_size(64), aligned(8), may_alias));

/* The sums of eight vectors: three rounds of adding neighbours, each of which halves what is left. */
static inline __attribute__((always_inline)) void sums_of(const vector *x, vector *sums)
{
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
    vector pair[4], four[2];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        pair[i] = SHUFFLE(x[2 * i], x[2 * i + 1], 0, 8, 2, 10, 4, 12, 6, 14) +
                  SHUFFLE(x[2 * i], x[2 * i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++)
        four[i] = SHUFFLE(pair[2 * i], pair[2 * i + 1], 0, 1, 8, 9, 4, 5, 12, 13) +
                  SHUFFLE(pair[2 * i], pair[2 * i + 1], 2, 3, 10, 11, 6, 7, 14, 15);
    *sums = SHUFFLE(four[0], four[1], 0, 1, 2, 3, 8, 9, 10, 11) + SHUFFLE(four[0], four[1], 4, 5, 6, 7, 12, 13, 14, 15);
#undef SHUFFLE
}

/* `rows` rows of n columns, a constant number: sums[i] = row i . products; gradient += scale sum_i x_i row i. */
static inline __attribute__((always_inline)) void force_rows(int rows, int64_t n, const double *table,
                                                             const double *products, double *gradient,
                                                             const double *x, double scale, double *sums)
{
    vector sum[8] = {{0}};
    for (int64_t c = 0; c < n; c += 8) {
        const vector product = *(const loose_vector *)(products + c);
        vector all = {0};
#pragma GCC unroll 8
        for (int i = 0; i < rows; i++) {
            const vector row = *(const vector *)(table + i * n + c);
            all += row * x[i];
            sum[i] += row * product;
        }
        *(loose_vector *)(gradient + c) += all * scale;
    }
    sums_of(sum, (vector *)sums);
}

/* force += the gradient of sum_kl both_kl q_k q_l. */
static inline __attribute__((always_inline)) void add_gradient(int32_t r, const double *both, const double *q, double *force)
{
    for (int32_t k = 0; k < r; k++) {
        const double *row = both - k;
        double sum = row[k] * q[k];
        for (int32_t l = k; l < r; l++) sum += row[l] * q[l];
        for (int32_t l = k + 1; l < r; l++) force[l] += row[l] * q[k];
        force[k] += sum;
        both += r - k;
    }
}

static void reduced_force(int32_t r, const double *table, const double *q, double *scratch, double *force)
{
    const int64_t pairs = modal_step_pairs(r);
    double *products = scratch, *both = scratch + pairs + 8; /* both: g, then s + g */
    double sums[8] __attribute__((aligned(64)));
    int64_t at = 0;
    for (int32_t k = 0; k < r; k++)
        for (int32_t l = k; l < r; l++, at++) products[at] = q[k] * q[l];
    for (; at < pairs + 8; at++) products[at] = 0;
    for (at = 0; at < pairs; at++) both[at] = table[at];
    for (; at < pairs + 8; at++) both[at] = 0;
    table += pairs;
    for (int32_t j = 0; j < r; j++) {
        const int64_t n = modal_step_energy_row(r, j), first = modal_step_pair(r, j, j);
        const double one = 1;
        force_rows(1, n, table, products + first, both + first, &one, q[j], sums);
        force[j] = sums[0];
        table += n;
        for (int32_t i = 0; i <= j; i += 8) {
            const int rows = j + 1 - i < 8 ? j + 1 - i : 8;
            switch (rows) {
#define FORCE_ROWS(m) \
    case m: force_rows(m, n, table, products + first, both + first, q + i, q[j], sums); break;
                FORCE_ROWS(1) FORCE_ROWS(2) FORCE_ROWS(3) FORCE_ROWS(4) FORCE_ROWS(5) FORCE_ROWS(6)
                FORCE_ROWS(7) FORCE_ROWS(8)
#undef FORCE_ROWS
            }
            for (int m = 0; m < rows; m++) both[modal_step_pair(r, i + m, j)] += sums[m];
            table += rows * n;
        }
    }
    add_gradient(r, both, q, force);
}

/* ---- forces and stiffness of shapes without a table of the stiffness ---- */

/* y_i = the gradient of row i . products, for `rows` rows, a constant number, of the triangle from (j, j) on: row i as a
 * symmetric matrix with its diagonal doubled, times q. gradient += scale sum_i x_i row i. y [rows, wide], q and the rows are
 * read and y is written in whole vectors: q is 0 from r on, y has room there. */
static inline __attribute__((always_inline)) void stiffness_rows(int rows, int32_t r, int32_t j, int64_t n,
                                                                 const double *table, const double *q, double *gradient,
                                                                 const double *x, double scale, double *y, int64_t wide)
{
    static const double ones[24] = {[8] = 1, 1, 1, 1, 1, 1, 1, 1}; /* from 8 - e on: the first e are 0; from 8 + e: the last */
    for (int i = 0; i < rows; i++)
        for (int32_t l = j / 8 * 8; l < r; l += 8) *(vector *)(y + i * wide + l) = (vector){0};
    vector weights[8];
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++) weights[i] = (vector){0} + x[i];
    for (int32_t k = j; k < r; k++) {
        vector sum[8] = {{0}};
        const vector across = (vector){0} + q[k];
        const int32_t begin = k / 8 * 8;
        for (int32_t l = begin; l < r; l += 8) {
            const vector along = *(const vector *)(q + l);
            vector all = {0};
            vector mask = *(const loose_vector *)(ones + (l < k ? 8 - (k - l) : 8));
#pragma GCC unroll 8
            for (int i = 0; i < rows; i++) {
                const vector c = *(const loose_vector *)(table + i * n + l - k) * mask;
                all += c * weights[i];
                sum[i] += c * along;
                *(vector *)(y + i * wide + l) += c * across;
            }
            if (l + 8 > r) all *= *(const loose_vector *)(ones + 8 + (l + 8 - r));
            *(loose_vector *)(gradient + l - k) += all * scale;
        }
        sums_of(sum, (vector *)(y + 8 * wide + 8 * k));
        table += r - k;
        gradient += r - k;
    }
    for (int i = 0; i < rows; i++)
        for (int32_t k = j; k < r; k++) y[i * wide + k] += y[8 * wide + 8 * k + i];
}

/* The coefficients of large shapes are read in pieces, each with sums of its own, which are then added one after the
 * other: threads may share them, and the bytes do not depend on their number. */
enum { FORCE_PIECES = 8, FORCE_PIECES_FROM = 48 }; /* modes */
static int32_t force_pieces(int32_t r) { return r < FORCE_PIECES_FROM ? 1 : FORCE_PIECES; }

/* Where a piece of an evaluation works: */
typedef struct force_work {
    double *q, *products;         /* [padded r + 8], [pairs + 8], of all pieces: 0 behind what they hold */
    double *both, *mixed, *force; /* [pairs + 8] g, then with s; [pairs] of K; [padded r] */
    double *y;                    /* [8, padded r + 8], then [r, 8] */
} force_work;

static int64_t force_piece_size(int32_t r) { return 2 * modal_step_pairs(r) + 8 + 17 * modal_step_padded(r) + 64; }
static int64_t force_work_size(int32_t r)
{
    return modal_step_padded(r) + 8 + modal_step_pairs(r) + 8 + force_pieces(r) * force_piece_size(r);
}
static force_work force_work_of(double *memory, int32_t r, int32_t piece)
{
    force_work w;
    w.q = memory;
    w.products = w.q + modal_step_padded(r) + 8;
    w.both = w.products + modal_step_pairs(r) + 8 + piece * force_piece_size(r);
    w.mixed = w.both + modal_step_pairs(r) + 8;
    w.force = w.mixed + modal_step_pairs(r);
    w.y = w.force + modal_step_padded(r);
    return w;
}

/* Up to 8 rows of block j: those of c_ijkl from i on, or that of b_jkl, with i < 0. */
static inline __attribute__((always_inline)) void add_rows(int whole, int rows, int32_t r, int32_t i, int32_t j,
                                                           const double *table, const force_work *w)
{
    const int64_t n = modal_step_energy_row(r, j), first = modal_step_pair(r, j, j), wide = modal_step_padded(r) + 8;
    const double one = 1, *q = w->q, *x = i < 0 ? &one : q + i;
    double sums[8] __attribute__((aligned(64)));
    if (whole) {
        stiffness_rows(rows, r, j, n, table, q, w->both + first, x, q[j], w->y, wide);
        double *to_j = w->mixed + first - j;
        for (int m = 0; m < rows; m++) {
            const double *y = w->y + m * wide;
            double *to_i = i < 0 ? NULL : w->mixed + modal_step_pair(r, i + m, i + m) - (i + m), sum = 0;
            for (int32_t k = j; k < r; k++) sum += y[k] * q[k];
            for (int32_t k = j; k < r; k++) to_j[k] += x[m] * y[k];
            for (int32_t k = j; k < r && to_i; k++) to_i[k] += q[j] * y[k];
            sums[m] = 0.5 * sum;
        }
    } else {
        force_rows(rows, n, table, w->products + first, w->both + first, x, q[j], sums);
    }
    if (i < 0) w->force[j] = sums[0];
    for (int m = 0; m < rows && i >= 0; m++) w->both[modal_step_pair(r, i + m, j)] += sums[m];
}

static inline __attribute__((always_inline)) void add_piece(int whole, int32_t r, const double *table, int32_t piece,
                                                            const force_work *w)
{
    const int64_t pairs = modal_step_pairs(r), part = (modal_step_energy_size(r) - pairs) / force_pieces(r) + 1;
    const int64_t from = piece * part, to = from + part;
    int64_t at = 0;
    for (int64_t e = 0; e < pairs + 8; e++) w->both[e] = 0;
    for (int64_t e = 0; e < (whole ? pairs : 0); e++) w->mixed[e] = 0;
    for (int32_t k = 0; k < r; k++) w->force[k] = 0;
    table += pairs;
    for (int32_t j = 0; j < r; j++) {
        const int64_t n = modal_step_energy_row(r, j);
        for (int32_t i = -1; i <= j; i += i < 0 ? 1 : 8) {
            const int rows = i < 0 ? 1 : j + 1 - i < 8 ? j + 1 - i : 8;
            const double *here = table + at;
            const int64_t begin = at;
            at += rows * n;
            if (begin < from || begin >= to) continue;
            switch (rows) {
#define ADD_ROWS(m) case m: add_rows(whole, m, r, i, j, here, w); break;
                ADD_ROWS(1) ADD_ROWS(2) ADD_ROWS(3) ADD_ROWS(4) ADD_ROWS(5) ADD_ROWS(6) ADD_ROWS(7) ADD_ROWS(8)
#undef ADD_ROWS
            }
        }
    }
}

static void evaluate_piece(int32_t r, const double *table, double *memory, int32_t piece, int whole)
{
    const force_work w = force_work_of(memory, r, piece);
    if (whole)
        add_piece(1, r, table, piece, &w);
    else
        add_piece(0, r, table, piece, &w);
}

/* f, and K where tangent is not NULL. memory: [force_work_size]. Returns the energy: with its parts E2, E3, E4 of each degree
 * q . f = 2 E2 + 3 E3 + 4 E4, and <a + g + s, products> = E2 + E3 + 2 E4. */
static double reduced_large(int32_t r, const double *table, const double *q, double *memory, double *force, double *tangent)
{
    const int64_t pairs = modal_step_pairs(r), wide = modal_step_padded(r) + 8;
    const int32_t pieces = force_pieces(r);
    const force_work w = force_work_of(memory, r, 0);
    double linear = 0, twice = 0, work = 0;
    int64_t at = 0;
    for (int32_t k = 0; k < wide; k++) w.q[k] = k < r ? q[k] : 0;
    for (int32_t k = 0; k < r; k++)
        for (int32_t l = k; l < r; l++, at++) w.products[at] = q[k] * q[l];
    for (; at < pairs + 8; at++) w.products[at] = 0;
#pragma omp parallel for schedule(dynamic, 1) if (pieces > 1 && !omp_in_parallel())
    for (int32_t piece = 0; piece < pieces; piece++) evaluate_piece(r, table, memory, piece, tangent != NULL);
    for (int32_t piece = 1; piece < pieces; piece++) {
        const force_work more = force_work_of(memory, r, piece);
        for (int64_t e = 0; e < pairs; e++) w.both[e] += more.both[e];
        for (int64_t e = 0; e < (tangent ? pairs : 0); e++) w.mixed[e] += more.mixed[e];
        for (int32_t k = 0; k < r; k++) w.force[k] += more.force[k];
    }
    for (int64_t e = 0; e < pairs; e++) {
        linear += table[e] * w.products[e];
        w.both[e] += table[e];
        twice += w.both[e] * w.products[e];
    }
    add_gradient(r, w.both, q, w.force);
    for (int64_t e = 0; e < (tangent ? pairs : 0); e++) tangent[e] = w.mixed[e] + w.both[e];
    for (int32_t k = 0; k < r && tangent; k++) tangent[modal_step_pair(r, k, k)] *= 2;
    for (int32_t k = 0; k < r; k++) {
        force[k] = w.force[k];
        work += force[k] * q[k];
    }
    return 0.5 * (linear + work - twice);
}
