/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of eight vectors, interleaved: row i of a block holds degree of freedom i of all eight, one
 * cache line and one AVX-512 register. Sums over rows are taken in chunks of fixed size that are added
 * in their order, so that results do not depend on the number of threads. Private to the room. */
#ifndef MODAL_MODES_ROWS_H
#define MODAL_MODES_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/status.h"
#include "lib/fem/assemble.h"
#include "lib/fem/rigid.h"

enum { MODAL_ROW = 8 };

typedef double modal_row __attribute__((vector_size(64)));
/* Eight numbers wherever they are. */
typedef double modal_eight __attribute__((vector_size(64), aligned(8), may_alias));

/* What the values of a factor are stored and computed in. */
typedef enum modal_precision { MODAL_FLOAT64, MODAL_FLOAT32 } modal_precision;

static inline size_t modal_value_bytes(modal_precision precision)
{
    return precision == MODAL_FLOAT32 ? sizeof(float) : sizeof(double);
}

/* The most columns of a panel: wide enough to amortise its rows, small enough for the first-level cache. */
enum { MODAL_PANEL_COLUMNS = 128 };

/* Some columns of a triangular factor and the rows in which they are not zero, the columns' own first.
 * Values are packed in the order in which a solve reads them, in tiles of at most eight rows, each
 * by columns: the triangle, its diagonal inverted, in tiles that end at the diagonal, then the rows
 * below. */
typedef struct modal_panel {
    int64_t first;     /* column */
    int64_t rows_at;   /* of its row indices */
    int64_t values_at; /* of its packed values */
    int32_t n_columns, n_rows;
} modal_panel;

static inline int64_t modal_panel_diagonal_size(int64_t n_columns)
{
    int64_t size = 0;
    for (int64_t first = 0; first < n_columns; first += MODAL_ROW) {
        const int64_t height = n_columns - first < MODAL_ROW ? n_columns - first : MODAL_ROW;
        size += height * (first + height);
    }
    return size;
}

/* The most columns that are factored before what follows them is updated. */
enum { MODAL_PIVOT_BLOCK = 96, MODAL_SOLVE_ROOM = (MODAL_PIVOT_BLOCK + 32) * MODAL_PIVOT_BLOCK };

/* What a panel does to the rows of a solve: below its columns, tiles [from, to) only. */
typedef struct modal_panel_task {
    const modal_panel *panel;
    const void *values; /* doubles or floats, as those of all the loops below */
    const int64_t *rows;
    int64_t from, to;
    modal_row *y;
    int64_t end;        /* forward: rows from here on go to outside[map[row]] */
    const int32_t *map;
    modal_row *outside; /* backward: the panel's own rows, or a part of what is to be added there */
} modal_panel_task;

/* The loops over the values of a factor in one precision (values_simd.h). */
typedef struct modal_value_kernels {
    void (*solve_diagonal)(const modal_panel *panel, const void *values, modal_row *x);
    void (*solve_diagonal_transposed)(const modal_panel *panel, const void *values, modal_row *x);
    void (*update_below)(const modal_panel_task *task);
    void (*gather_below)(const modal_panel_task *task);
    /* L, with unit diagonal, and D of the first n_columns columns of a dense lower trapezoid [n_columns, n_rows], in
     * place and into pivots; smaller pivots become `least`. Returns the lowest of those that is negative, -infinity for
     * one that is no number, 0 for none. */
    double (*factor)(int64_t n_columns, int64_t n_rows, void *x, int64_t stride, double least, double *pivots);
    /* c [MODAL_TILE_COLUMNS, MODAL_TILE_ROWS] = a diag(scale) b^T by columns, for column-major a [ni, width]
     * and b [nj, width] (the first row of column k at a + k a_stride), ni and nj at most a tile; scale
     * NULL: 1. What is beyond ni and nj in c may be overwritten. `pack`: MODAL_TILE_PACK values. */
    void (*product)(int64_t ni, int64_t nj, int64_t width, const void *a, int64_t a_stride,
                    const void *b, int64_t b_stride, const double *scale, void *c, void *pack);
    /* x [n_columns, n_rows] becomes x L^-T for the lower triangle of L, whose diagonal is 1, n_columns at most
     * MODAL_PIVOT_BLOCK; both by columns that are `stride` apart. `room`: MODAL_SOLVE_ROOM values. */
    void (*solve_right)(int64_t n_rows, int64_t n_columns, const void *l, int64_t stride, void *x, void *room);
} modal_value_kernels;

/* The node graph with both triangles, by rows, so that rows are independent; and M. */
typedef struct modal_row_mass {
    int64_t n_nodes;
    int64_t *offsets;
    int32_t *columns;
    int64_t *blocks; /* of the system's pattern */
    double *factors;
    uint8_t *held; /* [n_nodes] held components, as in modal_block_pattern, or NULL */
} modal_row_mass;

/* What entry e of row `node` means for component p: modal_block_mass. */
static inline double modal_row_mass_factor(const modal_row_mass *mass, int64_t node, int64_t e, int p)
{
    const int32_t other = mass->columns[e];
    const int decoupled =
        mass->held && other != node && ((mass->held[node] | mass->held[other]) >> p & 1);
    return decoupled ? 0 : mass->factors[e];
}

/* K - shift M. */
typedef struct modal_row_matrix {
    const modal_row_mass *rows;
    const double *stiffness; /* of the system */
    double shift;
} modal_row_matrix;

/* All loops, compiled for several instruction sets (rows_simd.h). */
typedef struct modal_row_kernels {
    const modal_value_kernels *values[2]; /* by modal_precision */
    /* h [8, 8] += v^T w over n rows */
    void (*gram)(int64_t n, const modal_row *v, const modal_row *w, modal_row *h);
    /* w -= v h */
    void (*subtract)(int64_t n, const modal_row *v, const modal_row *h, modal_row *w);
    /* w = w h */
    void (*scale)(int64_t n, const modal_row *h, modal_row *w);
    /* y = M x for nodes [from, to) */
    void (*mass)(int64_t from, int64_t to, const int64_t *offsets, const int32_t *columns,
                 const double *factors, const modal_row *x, modal_row *y);
    /* y = (K - shift M) x for nodes [from, to) */
    void (*shifted)(int64_t from, int64_t to, const modal_row_matrix *a, const modal_row *x, modal_row *y);
    /* sum [1] = x^T diag(weights) y, each vector with its own; weights NULL: 1 */
    void (*dot)(int64_t n, const modal_row *x, const modal_row *y, const double *weights, modal_row *sum);
    /* y = x diag(a) + y diag(b), a [1], b [1] */
    void (*combine)(int64_t n, const modal_row *a, const modal_row *x, const modal_row *b, modal_row *y);
    /* x -= A B^T x, by parts; coefficients as for modal_rows_rigid_remove */
    void (*motions)(const modal_rigid_space *rigid, const double *a, const double *b, modal_row *x,
                    modal_row *coefficients);
    /* The same products as modal_value_kernels.product of doubles in two steps: `count` rows of a, or of b, of
     * `depth` elements (row i, column k at from[i row_step + k column_step]) into blocks that end where the next
     * multiple of block_rows, or block_columns, begins; and c = or += a b^T. */
    void (*pack_rows)(int64_t count, int64_t depth, const double *from, int64_t row_step, int64_t column_step,
                      double *to);
    void (*pack_columns)(int64_t count, int64_t depth, const double *from, int64_t row_step, int64_t column_step,
                         const double *scale, double *to);
    void (*multiply)(int64_t ni, int64_t nj, int64_t depth, const double *a, const double *b, double *c, int add);
    int block_rows, block_columns; /* of what is packed */
} modal_row_kernels;

/* A tile of c and what is packed of a and b stay in a second-level cache of 1 MiB. */
enum {
    MODAL_TILE_ROWS = 192,
    MODAL_TILE_COLUMNS = 96,
    MODAL_TILE_DEPTH = 256,
    MODAL_TILE_PACK = (MODAL_TILE_ROWS + MODAL_TILE_COLUMNS) * MODAL_TILE_DEPTH
};

const modal_row_kernels *modal_rows(void);

modal_status modal_row_mass_build(const modal_fem_system *system, modal_row_mass *mass,
                                  modal_error *err);
void modal_row_mass_free(modal_row_mass *mass);
void modal_row_mass_multiply(const modal_row_mass *mass, const modal_row *x, modal_row *y,
                             int n_threads);

/* y = (K - shift M) x. */
void modal_row_matrix_multiply(const modal_row_matrix *a, const modal_row *x, modal_row *y, int n_threads);

/* sum [1] = x^T diag(weights) y, each vector with its own; weights [n] or NULL: 1. `scratch`: n / 2048 + 1 rows. */
void modal_rows_dot(int64_t n, const modal_row *x, const modal_row *y, const double *weights, modal_row *sum,
                    modal_row *scratch, int n_threads);

/* y = x diag(a) + y diag(b), a [1], b [1]. */
void modal_rows_combine(int64_t n, const modal_row *a, const modal_row *x, const modal_row *b, modal_row *y,
                        int n_threads);

/* How many rows of doubles modal_rows_gram needs as scratch. */
int64_t modal_rows_gram_scratch(int64_t n, int64_t n_blocks);

/* h [n_blocks, 8, 8] = v^T w, v [n_blocks, n, 8], w [n, 8]: h[8 b + a][c] belongs to column a of block b
 * and column c of w. */
void modal_rows_gram(int64_t n, int64_t n_blocks, const modal_row *v, const modal_row *w,
                     modal_row *h, modal_row *scratch, int n_threads);

/* w -= v h, arrays as above. */
void modal_rows_subtract(int64_t n, int64_t n_blocks, const modal_row *v, const modal_row *h,
                         modal_row *w, int n_threads);

/* w = w h, h [8, 8]. */
void modal_rows_scale(int64_t n, const modal_row *h, modal_row *w, int n_threads);

/* v [n_before, n, 8] becomes v s for s [8 n_before, 8 n_after], in place: n_after <= n_before blocks.
 * `scratch`: n_threads x n_after x MODAL_ROW_CHUNK rows. */
enum { MODAL_ROW_CHUNK = 512 };
void modal_rows_rotate(int64_t n, int64_t n_before, int64_t n_after, modal_row *v,
                       const modal_row *s, modal_row *scratch, int n_threads);

/* x -= R R^T M x; and for loads the transpose, load -= M R R^T load. `coefficients`: n_parts x depth rows. */
void modal_rows_rigid_remove(const modal_rigid_space *rigid, modal_row *x, modal_row *coefficients);
void modal_rows_rigid_relieve(const modal_rigid_space *rigid, modal_row *load, modal_row *coefficients);

/* Between eight interleaved vectors and n_vectors <= 8 of shape [n_vectors, n]; missing ones are zero. */
void modal_rows_from_columns(int64_t n, int64_t n_vectors, const double *columns, modal_row *rows);
void modal_rows_to_columns(int64_t n, int64_t n_vectors, const modal_row *rows, double *columns);

#endif
