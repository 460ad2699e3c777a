/* SPDX-License-Identifier: Apache-2.0 */
/* How a vertex should look at its neighbours: normals and curvature tensors, four scalars and a direction, by every way
 * that is known. Bytes are those that must be moved: positions, one ring of packed numbers, what is written. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/curvature_ring/curvature_ring.h"
#include "kernels/curvature_tensor/curvature_tensor.h"
#include "kernels/normals_corner/normals_corner.h"
#include "lib/base/memory.h"
#include "tests/bench/bench.h"
#include "tests/bench/opponents/gl.h"
#include "tests/bench/opponents/ring_patterns.h"
#include "tests/bench/ring_mesh.h"

/* Of the largest |k| but for one vertex in a hundred; the meshes have no triangle that lies upside down. Atomics add float32
 * numbers in any order: their tolerance is a bound of each vertex (any_order). */
static const double TOLERANCE = 2e-5;
static const char TOLERANCE_TEXT[] = "2e-5 of the 99 % quantile of |k|";
static const char ANY_ORDER_TEXT[] = "bound of float32 sums in any order, of each vertex";
enum { FRAMES = 16, OUTPUTS = 5 };

typedef enum pattern { PACKED, RECORDS, PADDED, CORNERS, FACES, SCATTER, SCATTER_4, DRAWN, BLOCKS, NORMALS, DIRECT, PATTERNS } pattern;
static const char *const names[PATTERNS] = {
    [PACKED] = "packed ring",
    [RECORDS] = "packed ring, records of 32 bytes",
    [PADDED] = "ring padded to the largest valence",
    [CORNERS] = "corners of a vertex, both neighbours",
    [FACES] = "faces to memory, then gather",
    [SCATTER] = "scatter in five passes, float",
    [SCATTER_4] = "scatter in five passes, float4",
    [DRAWN] = "geometry shader and blending, OpenGL",
    [NORMALS] = "normals_corner alone",
    [DIRECT] = "curvature_ring instead of _tensor"};

typedef struct rings {
    modal_bench *b;
    bench_side *side;
    const ring_mesh *mesh;
    const char *title;
    int64_t columns;
    pattern what;
    const gl_context *gl; /* or NULL */
    double *k;    /* [n, 2] the reference's */
    double k_size;
    double *any_order; /* [n] bounds, 1/m */
    float *records;    /* [columns, n, 8] */
    void *device[20]; /* what is freed */
    int n_device;
    modal_normals_corner_task normals;
    modal_curvature_tensor_task tensor, padded;
    modal_curvature_ring_task ring;
    ring_patterns opponents;
} rings;

static modal_status to_device(rings *r, void *pointer, const void *host, int64_t bytes, modal_error *err)
{
    const modal_status status = bench_to_device(r->side, pointer, host, bytes, "rings", err);
    if (status == MODAL_OK) memcpy(&r->device[r->n_device++], pointer, sizeof(void *));
    return status;
}

static modal_status call(void *context, int64_t k, modal_error *err)
{
    rings *r = context;
    modal_status status = MODAL_OK;
    const modal_kernels *kernels = r->side->device.kernels;
    modal_stream *stream = r->side->stream;
    (void)k;
    if (r->what == PADDED) {
        modal_normals_corner_task normals = r->normals;
        normals.ring_offsets = r->padded.surface.ring_offsets;
        normals.ring = r->padded.surface.ring;
        MODAL_TRY(kernels->normals_corner(&normals, stream, err));
        MODAL_TRY(kernels->curvature_tensor(&r->padded, stream, err));
    }
    if (r->what == RECORDS) {
        modal_normals_corner_task normals = r->normals;
        modal_curvature_tensor_task tensor = r->tensor;
        normals.records = r->records;
        tensor.surface.records = r->records;
        MODAL_TRY(kernels->normals_corner(&normals, stream, err));
        MODAL_TRY(kernels->curvature_tensor(&tensor, stream, err));
    }
    if (r->what == PACKED || r->what == NORMALS || r->what == DIRECT || r->what == FACES)
        MODAL_TRY(kernels->normals_corner(&r->normals, stream, err));
    if (r->what == PACKED) MODAL_TRY(kernels->curvature_tensor(&r->tensor, stream, err));
    if (r->what == DIRECT) MODAL_TRY(kernels->curvature_ring(&r->ring, stream, err));
#ifdef MODAL_HAVE_CUDA
    if (r->what == CORNERS) MODAL_TRY(ring_corners(&r->opponents, stream, err));
    if (r->what == FACES) MODAL_TRY(ring_faces(&r->opponents, stream, err));
    if (r->what == SCATTER || r->what == SCATTER_4) MODAL_TRY(ring_scatter(&r->opponents, r->what == SCATTER_4, stream, err));
    if (r->what == BLOCKS) MODAL_TRY(ring_shared(&r->opponents, stream, err));
#endif
done:
    return status;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double length_of(const double *v) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

typedef struct any_order_sums {
    int64_t corners;
    double sizes;       /* of the terms of the normal, 1 / (|e| |f|) */
    double sum[3];
    double normal_error;
    double slope, steep; /* of its triangles: most |dn| / |e|, most error of a tensor */
} any_order_sums;

/* How far float32 sums in any order may be off at each vertex, e = FLT_EPSILON / 2. A sum of m terms that are each off by p e
 * is off by at most (m - 1 + p) e times the sum of their sizes, whatever the order. Of the normal: terms of size
 * 1 / (|e| |f|), p = 7 (differences, products and the reciprocal), so it turns by (m + 6) e B / |N| + 2 e. A triangle's
 * tensor: 16 e (K + 1 / h) / (q^2 (1 + c)) as kernels/curvature_tensor says, and 4 / h of the turns of its three normals; the
 * vertex's mean of m terms adds 2 (m + 4) e K. */
static void any_order(const ring_mesh *m, const double *normals, any_order_sums *of, double *bounds)
{
    const double e = (double)FLT_EPSILON / 2.0;
    for (int64_t t = 0; t < m->n_triangles; t++)
        for (int k = 0; k < 3; k++) {
            any_order_sums *s = of + m->triangles[3 * t + k];
            const double *at[3];
            double a[3], b[3];
            for (int j = 0; j < 3; j++) at[j] = m->positions + 3 * (int64_t)m->triangles[3 * t + (k + j) % 3];
            for (int i = 0; i < 3; i++) a[i] = at[1][i] - at[0][i], b[i] = at[2][i] - at[0][i];
            const double product = length_of(a) * length_of(b), square = product * product;
            s->corners++, s->sizes += 1.0 / product;
            for (int i = 0; i < 3; i++)
                s->sum[i] += (a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3]) / square;
        }
    for (int64_t v = 0; v < m->n_vertices; v++)
        of[v].normal_error = of[v].corners == 0 ? 0.0 : ((double)of[v].corners + 6.0) * e * of[v].sizes / length_of(of[v].sum) + 2.0 * e;
    for (int64_t t = 0; t < m->n_triangles; t++) {
        const int32_t *v = m->triangles + 3 * t;
        double edge[3][3], change[3][3], face[3], squares = 0.0, longest = 0.0, slope = 0.0, turns = 0.0;
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < 3; i++) {
                edge[k][i] = m->positions[3 * (int64_t)v[(k + 1) % 3] + i] - m->positions[3 * (int64_t)v[k] + i];
                change[k][i] = normals[3 * (int64_t)v[(k + 1) % 3] + i] - normals[3 * (int64_t)v[k] + i];
            }
            const double length = length_of(edge[k]);
            squares += length * length / 2.0;
            longest = fmax(longest, length);
            slope = fmax(slope, length_of(change[k]) / length);
            turns += of[v[k]].normal_error;
        }
        for (int i = 0; i < 3; i++)
            face[i] = edge[0][(i + 1) % 3] * edge[1][(i + 2) % 3] - edge[0][(i + 2) % 3] * edge[1][(i + 1) % 3];
        const double doubled = length_of(face), quality = fmin(doubled / squares, 1.0), height = doubled / longest;
        for (int k = 0; k < 3; k++) {
            any_order_sums *s = of + v[k];
            const double *n = normals + 3 * (int64_t)v[k];
            const double c = (face[0] * n[0] + face[1] * n[1] + face[2] * n[2]) / doubled;
            s->steep = fmax(s->steep, 16.0 * e * (slope + 1.0 / height) / (quality * quality * (1.0 + c)) + 4.0 * turns / height);
            s->slope = fmax(s->slope, slope);
        }
    }
    for (int64_t v = 0; v < m->n_vertices; v++) /* a vertex of no triangle has zeros */
        bounds[v] = of[v].corners > 0 ? of[v].steep + 2.0 * ((double)of[v].corners + 4.0) * e * of[v].slope : DBL_MIN;
}

/* Curvatures by the reference's double precision. */
static modal_status solve(rings *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ring_mesh *m = r->mesh;
    const int64_t n = m->n_vertices;
    double *normals = NULL, *tensors = NULL, *areas = NULL, *sizes = NULL;
    any_order_sums *sums = NULL;
    MODAL_TRY(modal_alloc(&normals, 3 * n, sizeof *normals, "reference", err));
    MODAL_TRY(modal_alloc(&tensors, 3 * n, sizeof *tensors, "reference", err));
    MODAL_TRY(modal_alloc(&areas, n, sizeof *areas, "reference", err));
    MODAL_TRY(modal_alloc(&sizes, n, sizeof *sizes, "reference", err));
    MODAL_TRY(modal_alloc_zero(&sums, n, sizeof *sums, "reference", err));
    MODAL_TRY(modal_alloc(&r->any_order, n, sizeof *r->any_order, "reference", err));
    MODAL_TRY(modal_alloc(&r->k, 2 * n, sizeof *r->k, "reference", err));
    modal_normals_corner_exact(n, m->ring_offsets, m->ring, m->positions, normals);
    modal_curvature_tensor_exact(n, m->ring_offsets, m->ring, m->positions, normals, tensors, areas);
    any_order(m, normals, sums, r->any_order);
    for (int64_t v = 0; v < n; v++) {
        double direction[3];
        modal_curvature_diagonal_exact(normals + 3 * v, tensors + 3 * v, r->k + 2 * v, direction);
        sizes[v] = fmax(fabs(r->k[2 * v]), fabs(r->k[2 * v + 1]));
    }
    qsort(sizes, (size_t)n, sizeof *sizes, ascending);
    r->k_size = sizes[n - 1 - n / 100];
done:
    modal_free(&normals);
    modal_free(&tensors);
    modal_free(&areas);
    modal_free(&sizes);
    modal_free(&sums);
    return status;
}

/* One curvature of the vertices, `step` floats apart, over the tolerance, and over the size of curvatures. */
static void compare_one(const rings *r, int which, const float *got, int step, bench_row *row)
{
    const int any = r->what == SCATTER || r->what == SCATTER_4 || r->what == DRAWN;
    row->tolerance = any ? ANY_ORDER_TEXT : TOLERANCE_TEXT;
    for (int64_t v = 0; v < r->mesh->n_vertices; v++) {
        const double off = fabs((double)got[step * v] - r->k[2 * v + which]);
        const double share = off / (any ? r->any_order[v] : TOLERANCE * r->k_size);
        row->error = bench_worse(row->error, share);
        row->relative = bench_worse(row->relative, off / r->k_size);
    }
}

/* The last column's curvatures. */
static modal_status compare(rings *r, bench_row *row, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = r->mesh->n_vertices, at = n * (r->columns - 1);
    const float *from[2] = {r->tensor.output.k_max, r->tensor.output.k_min};
    float *got = NULL;
    MODAL_TRY(modal_alloc(&got, n, sizeof *got, "check", err));
    row->error = row->relative = 0.0;
    for (int c = 0; c < 2; c++) {
        MODAL_TRY(bench_from_device(r->side, got, from[c] + at, 4 * n, err));
        compare_one(r, c, got, 1, row);
    }
done:
    modal_free(&got);
    return status;
}

/* Bytes of a call: positions, a number of the ring a neighbour and one more, four scalars, a direction. */
static double bytes_of(const rings *r)
{
    const double n = (double)r->mesh->n_vertices, corners = 3.0 * (double)r->mesh->n_triangles;
    const double written = r->what == NORMALS ? 12.0 : 28.0;
    return 4.0 * (corners + n) + (12.0 + written) * n * (double)r->columns;
}

static modal_status measure(rings *r, pattern what, const char *more, modal_error *err)
{
    modal_status status = MODAL_OK;
    char name[80];
    snprintf(name, sizeof name, "%s%s", names[what] ? names[what] : "", more);
    r->what = what;
    bench_row row = {.name = name, .ours = what == PACKED, .side = r->side, .n_vertices = r->mesh->n_vertices,
                     .n_columns = r->columns, .n_objects = 1, .bytes = bytes_of(r), .error = -1.0};
    const int64_t bytes = 4 * r->mesh->n_vertices * r->columns;
    MODAL_TRY(bench_poison(r->side, r->tensor.output.k_max, bytes, err));
    MODAL_TRY(bench_poison(r->side, r->tensor.output.k_min, bytes, err));
    MODAL_TRY(call(r, 0, err));
    if (what != NORMALS && what != DIRECT) MODAL_TRY(compare(r, &row, err)); /* curvature_ring is another definition */
    MODAL_TRY(bench_measure(r->b, r->side, call, r, &row.time, err));
    MODAL_TRY(bench_row_add(r->b, &row, err));
done:
    return status;
}

/* Drawn by the device of the context. */
static modal_status measure_drawn(rings *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ring_mesh *m = r->mesh;
    const int64_t n = m->n_vertices;
    float *x = NULL, *got = NULL;
    gl_curvature *drawn = NULL;
    r->what = DRAWN;
    bench_row row = {.name = names[DRAWN], .side = r->side, .n_vertices = n, .n_columns = 1, .n_objects = 1, .bytes = bytes_of(r)};
    MODAL_TRY(modal_alloc(&x, 3 * n, sizeof *x, "positions", err));
    MODAL_TRY(modal_alloc(&got, 4 * n, sizeof *got, "check", err));
    for (int64_t i = 0; i < 3 * n; i++) x[i] = (float)m->positions[i];
    MODAL_TRY(gl_curvature_new(&drawn, r->gl, n, x, m->n_triangles, m->triangles, m->scale, err));
    gl_curvature_draw(drawn);
    MODAL_TRY(gl_curvature_read(drawn, got, err));
    for (int c = 0; c < 2; c++) compare_one(r, c, got + c, 4, &row);
    MODAL_TRY(gl_measure(r->b, r->gl, gl_curvature_draw, drawn, &row.time, err));
    MODAL_TRY(bench_row_add(r->b, &row, err));
done:
    drawn = gl_curvature_delete(drawn);
    modal_free(&x);
    modal_free(&got);
    return status;
}

static modal_status prepare(rings *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ring_mesh *m = r->mesh;
    const int64_t n = m->n_vertices, n_tiles = (n + 31) / 32, points = n * r->columns;
    float *x = NULL, *out[OUTPUTS], *normals, *d_x;
    int64_t *offsets;
    int32_t *ring;
    MODAL_TRY(modal_alloc(&x, 3 * points, sizeof *x, "positions", err));
    for (int64_t i = 0; i < 3 * points; i++) x[i] = (float)m->positions[i % (3 * n)];
    MODAL_TRY(to_device(r, &d_x, x, 12 * points, err));
    MODAL_TRY(to_device(r, &normals, NULL, 16 * points, err)); /* some opponents have four floats */
    for (int k = 0; k < OUTPUTS; k++) MODAL_TRY(to_device(r, &out[k], NULL, (k < 4 ? 4 : 12) * points, err));
    MODAL_TRY(to_device(r, &r->records, NULL, 32 * points, err));
    MODAL_TRY(to_device(r, &offsets, m->ring_offsets, 8 * (n_tiles + 1), err));
    MODAL_TRY(to_device(r, &ring, m->ring, 128 * m->n_rows, err));
    r->normals = (modal_normals_corner_task){n, r->columns, offsets, ring, d_x, m->scale, normals, NULL};
    r->tensor.surface = (modal_curvature_surface){n, r->columns, offsets, ring, d_x, normals, m->scale, NULL};
    r->tensor.output = (modal_curvature_output){
        .k_max = out[0], .k_min = out[1], .mean = out[2], .gauss = out[3], .direction_max = out[4]};
    r->ring = (modal_curvature_ring_task){r->tensor.surface, r->tensor.output};
    r->opponents = (ring_patterns){.n_vertices = n, .n_triangles = m->n_triangles, .n_columns = r->columns, .positions = d_x,
                                   .scale = m->scale, .normals = normals, .output = r->tensor.output};
done:
    modal_free(&x);
    return status;
}

static void free_device(rings *r)
{
    for (int i = 0; i < r->n_device; i++) bench_free(r->side, &r->device[i]);
    r->n_device = 0;
}

/* Each tile's rows, filled up with ~(the vertex itself) to those of the longest. */
static modal_status pad(rings *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ring_mesh *m = r->mesh;
    const int64_t n_tiles = (m->n_vertices + 31) / 32;
    int64_t most = 0, *offsets = NULL, *d_offsets;
    int32_t *ring = NULL, *d_ring;
    for (int64_t t = 0; t < n_tiles; t++)
        if (m->ring_offsets[t + 1] - m->ring_offsets[t] > most) most = m->ring_offsets[t + 1] - m->ring_offsets[t];
    MODAL_TRY(modal_alloc(&offsets, n_tiles + 1, sizeof *offsets, "padded ring", err));
    MODAL_TRY(modal_alloc(&ring, 32 * most * n_tiles, sizeof *ring, "padded ring", err));
    for (int64_t t = 0; t <= n_tiles; t++) offsets[t] = most * t;
    for (int64_t t = 0; t < n_tiles; t++)
        for (int64_t row = 0; row < most; row++)
            for (int64_t lane = 0; lane < 32; lane++) {
                const int64_t from = m->ring_offsets[t] + row, v = 32 * t + lane;
                ring[32 * (most * t + row) + lane] =
                    from < m->ring_offsets[t + 1] ? m->ring[32 * from + lane]
                                                  : ~(int32_t)(v < m->n_vertices ? v : m->n_vertices - 1);
            }
    MODAL_TRY(to_device(r, &d_offsets, offsets, 8 * (n_tiles + 1), err));
    MODAL_TRY(to_device(r, &d_ring, ring, 128 * most * n_tiles, err));
    r->padded = r->tensor;
    r->padded.surface.ring_offsets = d_offsets;
    r->padded.surface.ring = d_ring;
done:
    modal_free(&offsets);
    modal_free(&ring);
    return status;
}

#ifdef MODAL_HAVE_CUDA
/* A corner is the triangle and which of its vertices: where a triangle wrote its tensor for this vertex. */
static modal_status corner_tables(rings *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ring_mesh *m = r->mesh;
    int32_t *slots = NULL, *d_triangles, *d_corners, *d_slots;
    int64_t *d_offsets;
    float *parts;
    MODAL_TRY(modal_alloc(&slots, 3 * m->n_triangles, sizeof *slots, "corners", err));
    for (int64_t v = 0; v < m->n_vertices; v++)
        for (int64_t c = m->offsets[v]; c < m->offsets[v + 1]; c++)
            for (int k = 0; k < 3; k++)
                if (m->triangles[3 * (int64_t)m->faces[c] + k] == v) slots[c] = 3 * m->faces[c] + k;
    MODAL_TRY(to_device(r, &d_triangles, m->triangles, 12 * m->n_triangles, err));
    MODAL_TRY(to_device(r, &d_offsets, m->offsets, 8 * (m->n_vertices + 1), err));
    MODAL_TRY(to_device(r, &d_corners, m->corners, 24 * m->n_triangles, err));
    MODAL_TRY(to_device(r, &d_slots, slots, 12 * m->n_triangles, err));
    MODAL_TRY(to_device(r, &parts, NULL, 48 * m->n_triangles, err));
    r->opponents.triangles = d_triangles;
    r->opponents.offsets = d_offsets;
    r->opponents.corners = d_corners;
    r->opponents.slots = d_slots;
    r->opponents.parts = parts;
done:
    modal_free(&slots);
    return status;
}

static modal_status measure_blocks(rings *r, int32_t size, modal_error *err)
{
    modal_status status = MODAL_OK;
    char text[80];
    ring_blocks blocks = {0};
    void *device[4] = {NULL, NULL, NULL, NULL};
    MODAL_TRY(ring_blocks_new(&blocks, r->mesh, size, err));
    snprintf(text, sizeof text, "blocks of %d, read x %.2f, x %.2f", size, blocks.near, blocks.all);
    if (blocks.shared_bytes > r->side->device.shared_bytes) {
        char what[160];
        snprintf(what, sizeof what, "%s: %s", r->title, text);
        bench_absent(r->b, what, "a block does not fit shared memory");
        goto done;
    }
    const void *host[4] = {blocks.blocks, blocks.halo, blocks.rows, blocks.ring};
    const int64_t bytes[4] = {(int64_t)sizeof(ring_block) * blocks.n_blocks, 4 * blocks.n_halo, 4 * (blocks.n_groups + 1),
                              2 * blocks.n_entries};
    for (int i = 0; i < 4; i++) MODAL_TRY(bench_to_device(r->side, &device[i], host[i], bytes[i], "blocks", err));
    r->opponents.blocks = device[0];
    r->opponents.halo = device[1];
    r->opponents.rows = device[2];
    r->opponents.block_ring = device[3];
    r->opponents.block_size = size;
    r->opponents.n_blocks = blocks.n_blocks;
    r->opponents.shared_bytes = blocks.shared_bytes;
    MODAL_TRY(measure(r, BLOCKS, text, err));
done:
    for (int i = 0; i < 4; i++) bench_free(r->side, &device[i]);
    ring_blocks_free(&blocks);
    return status;
}

static modal_status opponents(rings *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    static const int32_t sizes[] = {32, 128, 256};
    MODAL_TRY(measure(r, CORNERS, "", err));
    for (int i = 0; i < 3; i++) MODAL_TRY(measure_blocks(r, sizes[i], err));
    if (r->columns > 1) goto done;
    MODAL_TRY(measure(r, FACES, "", err));
    MODAL_TRY(measure(r, SCATTER_4, "", err));
    MODAL_TRY(measure(r, SCATTER, "", err));
done:
    return status;
}
#endif

static modal_status one_side(rings *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(prepare(r, err));
    MODAL_TRY(pad(r, err));
    MODAL_TRY(measure(r, PACKED, "", err));
    MODAL_TRY(measure(r, PADDED, "", err));
#ifdef MODAL_HAVE_CUDA
    if (r->side->is_cuda) {
        MODAL_TRY(measure(r, RECORDS, "", err));
        MODAL_TRY(corner_tables(r, err));
        MODAL_TRY(opponents(r, err));
    }
#endif
    /* beside the GPU, or where there is none beside the CPU, which then draws */
    if (r->gl && r->columns == 1 && r->side->is_cuda == r->b->gpu.present) MODAL_TRY(measure_drawn(r, err));
    MODAL_TRY(measure(r, NORMALS, "", err));
    MODAL_TRY(measure(r, DIRECT, "", err));
done:
    free_device(r);
    return status;
}

modal_status bench_rings(modal_bench *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    static const struct {
        const char *name;
        ring_shape shape;
        int width, shuffled, frames;
    } cases[] = {{"saddle 200k", RING_SADDLE, 317, 0, 1},      {"saddle 200k, irregular, shuffled", RING_IRREGULAR, 317, 1, 1},
                 {"saddle 300k", RING_SADDLE, 388, 0, 1},      {"saddle 300k, irregular, shuffled", RING_IRREGULAR, 388, 1, 1},
                 {"saddle 400k", RING_SADDLE, 448, 0, 1},      {"saddle 400k, irregular, shuffled", RING_IRREGULAR, 448, 1, 1},
                 {"saddle 500k", RING_SADDLE, 501, 0, 1},      {"saddle 500k, irregular", RING_IRREGULAR, 501, 0, 1},
                 {"saddle 500k, irregular, shuffled", RING_IRREGULAR, 501, 1, 1},
                 {"saddle 500k, one valence of 200", RING_FAN, 501, 0, 1},
                 {"saddle 1M", RING_SADDLE, 708, 0, 1},        {"saddle 1M, irregular, shuffled", RING_IRREGULAR, 708, 1, 1},
                 {"dragon's size", RING_TORUS, 675, 0, 1},     {"dragon's size, shuffled", RING_TORUS, 675, 1, 1},
                 {"dragon's size, 16 frames", RING_TORUS, 675, 0, FRAMES},
                 {"dragon's size, 16 frames, shuffled", RING_TORUS, 675, 1, FRAMES}};
    ring_mesh *mesh = NULL;
    rings r = {0};
    gl_context *gl = bench_gl(b, "curvature by geometry shader and blending");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[80], title[120];
        const int64_t width = b->quick ? 75 : cases[i].width;
        if (b->quick && i != 1 && i != 9 && i != 14) continue;
        snprintf(name, sizeof name, "rings, %s", cases[i].name);
        MODAL_TRY(ring_mesh_new(&mesh, cases[i].shape, width, 0.2, cases[i].shuffled, err));
        snprintf(title, sizeof title, "Curvature tensors: %s (%lld vertices, %lld triangles)", cases[i].name,
                 (long long)mesh->n_vertices, (long long)mesh->n_triangles);
        bench_table(b, name, title);
        bench_headings(b);
        r = (rings){.b = b, .mesh = mesh, .title = cases[i].name, .columns = cases[i].frames, .gl = gl};
        MODAL_TRY(solve(&r, err));
        for (int side = 1; side >= 0; side--) {
            r.side = side ? &b->gpu : &b->cpu;
            b->ours = 0.0;
            /* 16 frames on a CPU are 16 times one */
            if (r.side->present && (side || r.columns == 1 || b->quick)) MODAL_TRY(one_side(&r, err));
        }
        modal_free(&r.k);
        modal_free(&r.any_order);
        mesh = ring_mesh_delete(mesh);
    }
done:
    if (r.side) free_device(&r);
    modal_free(&r.k);
    modal_free(&r.any_order);
    mesh = ring_mesh_delete(mesh);
    gl = gl_context_delete(gl);
    return status;
}
