/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/reduced/stvk.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/device.h"
#include "kernels/gram/gram.h"
#include "kernels/registry.h"
#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/modes/rows.h"
#include "lib/reduced/points.h"

enum { LANES = REDUCED_LANES, ROWS = 6 * LANES, LEAST_TILE = 48, MOST_TILE = MODAL_TILE_COLUMNS, PACK = MODAL_TILE_ROWS };

/* X^T X over all points: columns are the r coordinates, then the r (r + 1) / 2 products. */
typedef struct gram {
    int64_t r, n;   /* n = r + r (r + 1) / 2 */
    double *values; /* [n, n] column-major, the lower triangle is used */
} gram;

static double gram_at(const gram *g, int64_t a, int64_t b)
{
    return a >= b ? g->values[b * g->n + a] : g->values[a * g->n + b];
}

/* The product of two features given by monomials: first and second degree, second and second. */
static double one_two(const gram *g, int64_t a, int64_t b, int64_t c)
{
    return gram_at(g, a, g->r + modal_quadratic_index(g->r, b, c));
}
static double two_two(const gram *g, int64_t a, int64_t b, int64_t c, int64_t d)
{
    return gram_at(g, g->r + modal_quadratic_index(g->r, a, b),
                   g->r + modal_quadratic_index(g->r, c, d));
}

/* The energy's coefficient of q_a q_b q_c, a <= b <= c: each way to take one factor apart. */
static double energy_cubic(const gram *g, int64_t a, int64_t b, int64_t c)
{
    double sum = one_two(g, a, b, c);
    if (b != a) sum += one_two(g, b, a, c);
    if (c != b) sum += one_two(g, c, a, b);
    return sum;
}

/* The same of q_a q_b q_c q_d, a <= b <= c <= d: each way to part them into two pairs, half for equal
 * pairs, since the energy is half a square. */
static double energy_quartic(const gram *g, int64_t a, int64_t b, int64_t c, int64_t d)
{
    double sum = (a == c && b == d ? 0.5 : 1) * two_two(g, a, b, c, d);
    if (b != c) sum += (a == b && c == d ? 0.5 : 1) * two_two(g, a, c, b, d);
    if (a != b && c != d && b != d && a != c) sum += two_two(g, a, d, b, c);
    return sum;
}

/* One block of points: X [n, ROWS]. `gradients` is scratch [r, 9, LANES]. */
static void fill_features(const reduced_block *block, int64_t r, const double *modes,
                          int64_t n_nodes, int n_threads, double (*gradients)[9][LANES], double *x)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(modal_free_threads(n_threads))
    for (int64_t i = 0; i < r; i++) {
        double strain[6][LANES];
        reduced_gradient(block, modes + 3 * n_nodes * i, gradients[i]);
        modal_lanes_linear_strain(gradients[i], strain);
        modal_lanes_root_times(block->root, strain, (double(*)[LANES])(x + i * ROWS));
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(modal_free_threads(n_threads))
    for (int64_t i = 0; i < r; i++) {
        double strain[6][LANES];
        for (int64_t j = i; j < r; j++) {
            double *column = x + (r + modal_quadratic_index(r, i, j)) * ROWS;
            modal_lanes_product_strain(gradients[i],
                                   gradients[j], i == j ? 0.5 : 1, strain);
            modal_lanes_root_times(block->root, strain, (double(*)[LANES])column);
        }
    }
}

/* What products of X work in. */
typedef struct product_work {
    int64_t n_padded;       /* n, to the next multiple of PACK, which blocks of any processor's width divide */
    double *rows, *columns; /* [ROWS / MODAL_TILE_DEPTH, n_padded, MODAL_TILE_DEPTH] X, packed as either factor */
    double *tiles;          /* a thread: MODAL_TILE_ROWS x MODAL_TILE_COLUMNS */
} product_work;

static void pack(const double *x, int64_t n, int n_threads, const product_work *work)
{
    const modal_row_kernels *kernels = modal_rows();
    const int64_t depth = MODAL_TILE_DEPTH, n_strips = (n + PACK - 1) / PACK;
#pragma omp parallel for schedule(dynamic, 1) num_threads(modal_free_threads(n_threads)) collapse(2)
    for (int64_t k = 0; k < ROWS / depth; k++)
        for (int64_t strip = 0; strip < n_strips; strip++) {
            const int64_t first = strip * PACK, count = n - first < PACK ? n - first : PACK;
            const double *from = x + first * ROWS + k * depth;
            const int64_t to = (k * work->n_padded + first) * depth;
            kernels->pack_rows(count, depth, from, ROWS, 1, work->rows + to);
            kernels->pack_columns(count, depth, from, ROWS, 1, NULL, work->columns + to);
        }
}

/* values += X^T X, lower triangle. Each sum is one thread's, in one order. */
static void add_products(const double *x, int n_threads, const product_work *work, gram *g)
{
    const modal_row_kernels *kernels = modal_rows();
    const int64_t wanted = (g->n / 12 + LEAST_TILE - 1) / LEAST_TILE * LEAST_TILE, depth = MODAL_TILE_DEPTH;
    const int64_t tile = wanted < LEAST_TILE ? LEAST_TILE : wanted > MOST_TILE ? MOST_TILE : wanted;
    const int64_t side = (g->n + tile - 1) / tile;
    pack(x, g->n, n_threads, work);
#pragma omp parallel for schedule(dynamic, 1) num_threads(modal_free_threads(n_threads))
    for (int64_t t = 0; t < side * side; t++) {
        const int64_t i = t / side * tile, j = t % side * tile;
        if (i < j) continue;
        const int64_t rows = g->n - i < tile ? g->n - i : tile, columns = g->n - j < tile ? g->n - j : tile;
        double *c = work->tiles + omp_get_thread_num() * (int64_t)(MODAL_TILE_ROWS * MODAL_TILE_COLUMNS);
        for (int64_t k = 0; k < ROWS / depth; k++)
            kernels->multiply(rows, columns, depth, work->rows + (k * work->n_padded + i) * depth,
                              work->columns + (k * work->n_padded + j) * depth, c, k > 0);
        for (int64_t b = 0; b < columns; b++)
            for (int64_t a = 0; a < rows; a++) g->values[(j + b) * g->n + i + a] += c[b * MODAL_TILE_ROWS + a];
    }
}

static modal_status sum_points(const reduced_points *points, const double *modes, int n_threads,
                                 gram *g, const modal_progress *progress, modal_error *err)
{
    modal_status status = MODAL_OK;
    reduced_block *block = NULL;
    double(*gradients)[9][LANES] = NULL, *x = NULL;
    product_work work = {.n_padded = (g->n + PACK - 1) / PACK * PACK};
    MODAL_TRY(modal_alloc(&block, 1, sizeof *block, "reduced forces", err));
    MODAL_TRY(modal_alloc(&gradients, g->r, sizeof *gradients, "reduced forces", err));
    MODAL_TRY(modal_alloc(&x, g->n * ROWS, sizeof *x, "reduced forces", err));
    MODAL_TRY(modal_alloc(&work.rows, work.n_padded * ROWS, sizeof *work.rows, "reduced forces", err));
    MODAL_TRY(modal_alloc(&work.columns, work.n_padded * ROWS, sizeof *work.columns, "reduced forces", err));
    MODAL_TRY(modal_alloc(&work.tiles, n_threads, MODAL_TILE_ROWS * MODAL_TILE_COLUMNS * sizeof *work.tiles,
                          "reduced forces", err));
    for (int64_t b = 0; b < points->n_blocks; b++) {
        MODAL_TRY(modal_progress_report(progress, "reduced forces",
                                        (double)b / (double)points->n_blocks, err));
        reduced_points_load(points, b, block);
        fill_features(block, g->r, modes, points->mesh->n_nodes, n_threads, gradients, x);
        add_products(x, n_threads, &work, g);
    }
done:
    modal_free(&block);
    modal_free(&gradients);
    modal_free(&x);
    modal_free(&work.rows);
    modal_free(&work.columns);
    modal_free(&work.tiles);
    return status;
}

/* The same on a device, with two buffers: one is filled while the other is multiplied. */
static modal_status sum_on_device(const reduced_points *points, const double *modes, int n_threads,
                                  const modal_device *device, gram *g, const modal_progress *progress,
                                  modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t size = g->n * ROWS, bytes = size * (int64_t)sizeof(double),
                  product_bytes = g->n * g->n * (int64_t)sizeof(double);
    reduced_block *block = NULL;
    double(*gradients)[9][LANES] = NULL, *x[2] = {NULL}, *d_x[2] = {NULL}, *d_products = NULL;
    modal_stream *stream = NULL;
    modal_event *done_with[2] = {NULL};
    MODAL_TRY(modal_alloc(&block, 1, sizeof *block, "reduced forces", err));
    MODAL_TRY(modal_alloc(&gradients, g->r, sizeof *gradients, "reduced forces", err));
    MODAL_TRY(modal_device_stream_new(device, &stream, err));
    for (int i = 0; i < 2; i++) {
        MODAL_TRY(modal_device_alloc_host(device, &x[i], size, sizeof(double), "reduced forces", err));
        MODAL_TRY(modal_device_alloc(device, &d_x[i], size, sizeof(double), "reduced forces", err));
        MODAL_TRY(modal_device_event_new(device, &done_with[i], err));
    }
    MODAL_TRY(modal_device_alloc(device, &d_products, g->n * g->n, sizeof(double), "reduced forces", err));
    MODAL_TRY(modal_device_copy_in(device, d_products, g->values, product_bytes, stream, err));
    for (int64_t b = 0; b < points->n_blocks; b++) {
        const int at = b % 2;
        const modal_gram_task task = {ROWS, g->n, d_x[at], d_products};
        MODAL_TRY(modal_progress_report(progress, "reduced forces",
                                        (double)b / (double)points->n_blocks, err));
        reduced_points_load(points, b, block);
        if (b >= 2) MODAL_TRY(modal_device_event_wait(device, done_with[at], err));
        fill_features(block, g->r, modes, points->mesh->n_nodes, n_threads, gradients, x[at]);
        MODAL_TRY(modal_device_copy_in(device, d_x[at], x[at], bytes, stream, err));
        MODAL_TRY(device->kernels->gram(&task, stream, err));
        MODAL_TRY(modal_device_event_record(device, done_with[at], stream, err));
    }
    MODAL_TRY(modal_device_copy_out(device, g->values, d_products, product_bytes, stream, err));
    MODAL_TRY(modal_device_stream_wait(device, stream, err));
done:
    /* what is queued must end before its memory goes */
    if (stream && status != MODAL_OK) modal_device_stream_wait(device, stream, NULL);
    for (int i = 0; i < 2; i++) {
        modal_device_event_delete(device, &done_with[i]);
        modal_device_free(device, &d_x[i]);
        modal_device_free_host(device, &x[i]);
    }
    modal_device_free(device, &d_products);
    modal_device_stream_delete(device, &stream);
    modal_free(&block);
    modal_free(&gradients);
    return status;
}

static void differentiate(const gram *g, int n_threads, modal_reduced_forces *forces)
{
    const int64_t r = g->r, n2 = modal_quadratic_count(r), n3 = forces->cubic ? modal_cubic_count(r) : 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(modal_free_threads(n_threads))
    for (int64_t l = 0; l < r; l++) {
        double *linear = forces->linear + l * r, *quadratic = forces->quadratic + l * n2,
               *cubic = forces->cubic ? forces->cubic + l * n3 : NULL;
        for (int64_t i = 0; i < r; i++) *linear++ = gram_at(g, l, i);
        for (int64_t i = 0; i < r; i++)
            for (int64_t j = i; j < r; j++) {
                const int count = 1 + (l == i) + (l == j);
                *quadratic++ = count * (l <= i   ? energy_cubic(g, l, i, j)
                                        : l <= j ? energy_cubic(g, i, l, j)
                                                 : energy_cubic(g, i, j, l));
                for (int64_t k = j; k < r && cubic; k++)
                    *cubic++ = (count + (l == k)) * (l <= i   ? energy_quartic(g, l, i, j, k)
                                                     : l <= j ? energy_quartic(g, i, l, j, k)
                                                     : l <= k ? energy_quartic(g, i, j, l, k)
                                                              : energy_quartic(g, i, j, k, l));
            }
    }
}

/* The terms of fourth degree, row by row of their first index. */
static void list_quartic(const gram *g, int n_threads, double *quartic)
{
    const int64_t r = g->r;
#pragma omp parallel for schedule(dynamic, 1) num_threads(modal_free_threads(n_threads))
    for (int64_t i = 0; i < r; i++) {
        double *at = quartic + modal_quartic_index(r, i, i, i, i);
        for (int64_t j = i; j < r; j++)
            for (int64_t k = j; k < r; k++)
                for (int64_t l = k; l < r; l++) *at++ = energy_quartic(g, i, j, k, l);
    }
}

double modal_stvk_bytes(int64_t n_modes)
{
    const double r = (double)n_modes, n = (double)(n_modes + modal_quadratic_count(n_modes)),
                 last = n_modes <= MODAL_CUBIC_MOST_MODES ? r * (double)modal_cubic_count(n_modes)
                                                          : (double)modal_quartic_count(n_modes);
    return 8 * (n * n + 3 * ROWS * n + r * n + last);
}

double modal_stvk_seconds(const modal_volume_mesh *mesh, int64_t n_modes, int n_threads)
{
    enum { DEPTH = MODAL_TILE_DEPTH, TIMES = 4, LAYERS = ROWS / DEPTH };
    enum { OF_ROWS = MODAL_TILE_ROWS * DEPTH, OF_COLUMNS = MODAL_TILE_COLUMNS * DEPTH, OF_TILE = MODAL_TILE_ROWS * MODAL_TILE_COLUMNS };
    const modal_row_kernels *kernels = modal_rows();
    const double n = (double)(n_modes + modal_quadratic_count(n_modes));
    const int team = modal_free_threads(n_threads);
    double *work = NULL, worst = 0; /* a thread: a tile's factors, and the tile */
    reduced_points points = {0};
    if (reduced_points_init(mesh, &points, NULL) != MODAL_OK) return 0;
    const double n_rows = (double)points.n_blocks * ROWS;
    reduced_points_free(&points);
    if (modal_alloc_zero(&work, (int64_t)team * (OF_ROWS + OF_COLUMNS + OF_TILE), sizeof *work, "estimate", NULL) != MODAL_OK) return 0;
#pragma omp parallel for schedule(static, 1) num_threads(team) reduction(max : worst)
    for (int thread = 0; thread < team; thread++) { /* at once, since they may share a core */
        double *rows = work + (int64_t)thread * (OF_ROWS + OF_COLUMNS + OF_TILE), *columns = rows + OF_ROWS;
        double best = INFINITY;
        for (int k = 0; k < TIMES; k++) {
            const double start = omp_get_wtime();
            for (int layer = 0; layer < LAYERS; layer++)
                kernels->multiply(MODAL_TILE_ROWS, MODAL_TILE_COLUMNS, DEPTH, rows, columns, columns + OF_COLUMNS, layer > 0);
            best = fmin(best, omp_get_wtime() - start);
        }
        worst = fmax(worst, best);
    }
    modal_free(&work);
    return 0.5 * n_rows * n * n * worst / ((double)OF_TILE * ROWS) / team;
}

modal_status modal_stvk_reduced_forces(const modal_volume_mesh *mesh, int32_t n_modes,
                                       const double *modes, int n_threads,
                                       const modal_device *device,
                                       modal_reduced_forces *forces, const modal_progress *progress,
                                       modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t r = n_modes;
    gram g = {.r = r, .n = r + modal_quadratic_count(r)};
    reduced_points points = {0};
    memset(forces, 0, sizeof *forces);
    if (n_modes < 1 || n_modes > MODAL_STVK_MOST_MODES)
        return modal_error_set(err, MODAL_ERROR_USAGE,
                               "reduced forces: for 1 to %d modes, %d", MODAL_STVK_MOST_MODES, n_modes);
    MODAL_TRY(reduced_points_init(mesh, &points, err));
    MODAL_TRY(modal_alloc_zero(&g.values, g.n * g.n, sizeof *g.values, "reduced forces", err));
    MODAL_TRY(modal_alloc(&forces->linear, r * r, sizeof(double), "linear terms", err));
    MODAL_TRY(modal_alloc(&forces->quadratic, r * modal_quadratic_count(r), sizeof(double),
                          "quadratic terms", err));
    if (r <= MODAL_CUBIC_MOST_MODES)
        MODAL_TRY(modal_alloc(&forces->cubic, r * modal_cubic_count(r), sizeof(double), "cubic terms", err));
    else
        MODAL_TRY(modal_alloc(&forces->quartic, modal_quartic_count(r), sizeof(double), "quartic terms", err));
    status = device && device->kernels->gram
                 ? sum_on_device(&points, modes, n_threads, device, &g, progress, err)
                 : sum_points(&points, modes, n_threads, &g, progress, err);
    if (status != MODAL_OK) goto done;
    /* the diagonal tells: the other entries are bounded by it */
    for (int64_t m = 0; m < g.n; m++)
        if (!isfinite(gram_at(&g, m, m)))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "reduced forces: overflow, term %" PRId64, m);
    differentiate(&g, n_threads, forces);
    if (forces->quartic) list_quartic(&g, n_threads, forces->quartic);
done:
    reduced_points_free(&points);
    modal_free(&g.values);
    if (status != MODAL_OK) modal_reduced_forces_free(forces);
    return status;
}
