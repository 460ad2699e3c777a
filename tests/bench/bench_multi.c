/* SPDX-License-Identifier: Apache-2.0 */
/* Scenes of many objects: tables 3 and 4 of the 2020 paper. Ours computes world positions in one
 * launch; the opponents U q alone, but for the paper's two steps together, which is the same work. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels/deform/deform.h"
#include "kernels/deform_objects/deform_objects.h"
#include "kernels/modal_sum/modal_sum.h"
#include "lib/base/memory.h"
#include "tests/bench/bench.h"
#include "tests/bench/opponents/opponents.h"

static const double UNIT = FLT_EPSILON / 2;

typedef struct truth { /* by the reference back end, [n_vertices, 3] */
    float *u, *u_tolerance, *x, *x_tolerance;
} truth;

typedef struct multi {
    modal_bench *b;
    bench_side *side;
    const plant_scene *scene;
    const truth *truth;
    int64_t n_copies;
    float *q, *poses, *u; /* on the side */
    float *columns, *tiles;
    float *matrices, *rest4, *x4; /* the paper's transform */
    int32_t *of_group;
    modal_object_pack pack;
    float *pack_matrix;
    modal_deform_objects_task task;
    paper_multi *paper;
    cublas_objects *cublas;
    float *rows;         /* [n_copies, row_offset[n_objects]] modal matrices in the layout of one object */
    int64_t *row_offset; /* [n_objects + 1] in main memory */
} multi;

/* ---- what is right ---- */

static void truth_free(truth *t)
{
    modal_free(&t->u);
    modal_free(&t->u_tolerance);
    modal_free(&t->x);
    modal_free(&t->x_tolerance);
}

static modal_status truth_of(modal_bench *b, const plant_scene *s, truth *t, modal_error *err)
{
    modal_status status = MODAL_OK;
    float *matrix = NULL, q[32];
    MODAL_TRY(modal_alloc(&t->u, 3 * s->n_vertices, sizeof(float), "check", err));
    MODAL_TRY(modal_alloc(&t->u_tolerance, 3 * s->n_vertices, sizeof(float), "check", err));
    MODAL_TRY(modal_alloc(&t->x, 3 * s->n_vertices, sizeof(float), "check", err));
    MODAL_TRY(modal_alloc(&t->x_tolerance, 3 * s->n_vertices, sizeof(float), "check", err));
    MODAL_TRY(modal_alloc(&matrix, s->u_floats, sizeof(float), "check", err));
    for (int64_t i = 0; i < s->u_floats; i++) matrix[i] = fabsf(s->modal_matrix[i]);
    for (int32_t o = 0; o < s->n_objects; o++) {
        const int64_t n = s->vertices[o], at = 3 * s->first_vertex[o];
        const int r = s->modes[o];
        const float *pose = s->poses + 12 * (int64_t)o, *own_q = s->q + s->first_mode[o];
        MODAL_TRY(b->ref.kernels->modal_sum(
            &(modal_sum_task){n, 1, r, s->modal_matrix + s->u_offset[o], own_q, t->u + at}, NULL, err));
        MODAL_TRY(b->ref.kernels->deform(
            &(modal_deform_task){n, 1, r, s->modal_matrix + s->u_offset[o],
                                 s->rest_tiles + s->rest_offset[o], own_q, pose, t->x + at, NULL},
            NULL, err));
        for (int k = 0; k < r; k++) q[k] = fabsf(own_q[k]);
        MODAL_TRY(b->ref.kernels->modal_sum(
            &(modal_sum_task){n, 1, r, matrix + s->u_offset[o], q, t->u_tolerance + at}, NULL, err));
        for (int64_t v = 0; v < n; v++) {
            const float *rest = s->rest + at + 3 * v, *sum = t->u_tolerance + at + 3 * v;
            for (int i = 0; i < 3; i++) { /* kernels/deform/deform.h, twice that */
                double size = fabs((double)pose[4 * i + 3]);
                for (int j = 0; j < 3; j++)
                    size += fabs((double)pose[4 * i + j]) * (fabs((double)rest[j]) + (double)sum[j]);
                t->x_tolerance[at + 3 * v + i] = (float)(2.0 * UNIT * (r + 8) * size);
            }
        }
        for (int64_t i = 0; i < 3 * n; i++) t->u_tolerance[at + i] *= (float)(2.0 * UNIT * (r + 2));
    }
done:
    modal_free(&matrix);
    return status;
}

/* Where a result has its object's vertices. */
typedef enum place { PACKED, PADDED, TILED } place;

static modal_status check(multi *m, const float *got, place where, int moved, double *error,
                          modal_error *err)
{
    modal_status status = MODAL_OK;
    const plant_scene *s = m->scene;
    const int64_t floats = where == PACKED ? 3 * s->n_vertices
                           : where == PADDED ? 4 * s->padded_vertices : s->rest_offset[s->n_objects];
    const float *expected = moved ? m->truth->x : m->truth->u;
    const float *tolerance = moved ? m->truth->x_tolerance : m->truth->u_tolerance;
    float *host = NULL, *sorted = NULL;
    MODAL_TRY(modal_alloc(&host, floats, sizeof *host, "check", err));
    MODAL_TRY(modal_alloc(&sorted, 3 * s->n_vertices, sizeof *sorted, "check", err));
    MODAL_TRY(bench_from_device(m->side, host, got, 4 * floats, err));
    for (int32_t o = 0; o < s->n_objects; o++)
        for (int64_t v = 0; v < s->vertices[o]; v++)
            for (int i = 0; i < 3; i++) {
                const int64_t row = 3 * v + i;
                int64_t at = 3 * s->first_vertex[o] + row;
                if (where == PADDED) at = 4 * (s->first_padded[o] + v) + i;
                if (where == TILED) at = s->rest_offset[o] + v / 32 * 96 + 32 * i + v % 32;
                sorted[3 * s->first_vertex[o] + row] = host[at];
            }
    *error = bench_error(3 * s->n_vertices, sorted, 3, expected, tolerance);
done:
    modal_free(&host);
    modal_free(&sorted);
    return status;
}

/* ---- what is timed ---- */

static modal_status call_ours(void *context, int64_t k, modal_error *err)
{
    multi *m = context;
    m->pack.modal_matrix = m->pack_matrix + k % m->n_copies * m->pack.matrix_floats;
    return m->side->device.kernels->deform_objects(&m->task, m->side->stream, err);
}

static modal_status call_launches(void *context, int64_t k, modal_error *err)
{
    const multi *m = context;
    const plant_scene *s = m->scene;
    modal_status status = MODAL_OK;
    const float *U = m->tiles + k % m->n_copies * s->u_floats;
    for (int32_t o = 0; o < s->n_objects; o++)
        MODAL_TRY(m->side->device.kernels->modal_sum(
            &(modal_sum_task){s->vertices[o], 1, s->modes[o], U + s->u_offset[o],
                              m->q + s->first_mode[o], m->u + 3 * s->first_vertex[o]},
            m->side->stream, err));
done:
    return status;
}

static modal_status call_openblas(void *context, int64_t k, modal_error *err)
{
    const multi *m = context;
    (void)err;
    openblas_objects(m->scene, m->columns + k % m->n_copies * m->scene->u_floats, m->q, m->u);
    return MODAL_OK;
}

#ifdef MODAL_HAVE_CUDA
static modal_status call_paper(void *context, int64_t k, modal_error *err)
{
    const multi *m = context;
    return paper_multi_run(m->paper, k, m->q, m->u, m->side->stream, err);
}

static modal_status call_paper_world(void *context, int64_t k, modal_error *err)
{
    const multi *m = context;
    const modal_status status = paper_multi_run(m->paper, k, m->q, m->u, m->side->stream, err);
    if (status != MODAL_OK) return status;
    return paper_transform(m->scene->padded_vertices, m->of_group, m->matrices, m->rest4, m->u, m->x4,
                           m->side->stream, err);
}

/* Section 4.1's kernel for each object. */
static modal_status call_paper_objects(void *context, int64_t k, modal_error *err)
{
    const multi *m = context;
    const plant_scene *s = m->scene;
    modal_status status = MODAL_OK;
    const float *U = m->rows + k % m->n_copies * m->row_offset[s->n_objects];
    for (int32_t o = 0; o < s->n_objects; o++) {
        const paper_layout layout = paper_layout_of(4, s->modes[o]);
        MODAL_TRY(paper_single(&layout, s->vertices[o], U + m->row_offset[o], m->q + s->first_mode[o], m->u + 4 * s->first_padded[o], m->side->stream, err));
    }
done:
    return status;
}

static modal_status call_cublas(void *context, int64_t k, modal_error *err)
{
    const multi *m = context;
    return cublas_objects_run(m->cublas, k, m->side->stream, err);
}
#endif

/* Poisons, runs, checks, times, adds a row. */
/* Of what is computed, padded or in tiles: objects of a few vertices take more as tiles. */
static int64_t result_floats(const plant_scene *s)
{
    const int64_t padded = 4 * s->padded_vertices, tiles = s->rest_offset[s->n_objects];
    return padded > tiles ? padded : tiles;
}

static modal_status measure(multi *m, const char *name, int ours, bench_call *call, float *result,
                            place where, int moved, modal_error *err)
{
    modal_status status = MODAL_OK;
    const plant_scene *s = m->scene;
    bench_row row = {.name = name, .ours = ours, .side = m->side, .n_vertices = s->n_vertices,
                     .n_columns = 1, .n_objects = s->n_objects,
                     .n_modes = (double)s->n_modes / s->n_objects,
                     .bytes = moved ? s->bytes_deform : s->bytes_product,
                     .tolerance = moved ? "2 (r + 8) 2^-24 (|R|(|rest| + sum |U||q|) + |p|)"
                                        : "2 (r + 2) 2^-24 sum |U||q|"};
    MODAL_TRY(bench_poison(m->side, m->u, 4 * result_floats(s), err));
    MODAL_TRY(call(m, 0, err));
    MODAL_TRY(check(m, result, where, moved, &row.error, err));
    MODAL_TRY(bench_measure(m->b, m->side, call, m, &row.time, err));
    MODAL_TRY(bench_row_add(m->b, &row, err));
done:
    return status;
}

/* `host` n_copies times in the side's memory. */
static modal_status replicate(multi *m, float **copies, const float *host, int64_t floats,
                              modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(bench_to_device(m->side, copies, NULL, 4 * floats * m->n_copies, "U", err));
    for (int64_t c = 0; c < m->n_copies; c++)
        MODAL_TRY(bench_refill(m->side, *copies + c * floats, host, 4 * floats, err));
done:
    return status;
}

static modal_status run_ours(multi *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    const plant_scene *s = m->scene;
    modal_pack_object *objects = NULL;
    modal_object_pack pack = {0};
    MODAL_TRY(modal_alloc_zero(&objects, s->n_objects, sizeof *objects, "objects", err));
    for (int32_t o = 0; o < s->n_objects; o++)
        objects[o] = (modal_pack_object){s->vertices[o], s->modes[o], s->modal_matrix + s->u_offset[o],
                                         s->rest_tiles + s->rest_offset[o], s->first_vertex[o], NULL};
    MODAL_TRY(modal_object_pack_build(&pack, s->n_objects, objects, s->n_vertices, err));
    MODAL_TRY(modal_object_pack_upload(&m->pack, &pack, &m->side->device, m->side->stream, err));
    float *kept = m->pack.modal_matrix;
    status = replicate(m, &m->pack_matrix, pack.modal_matrix, pack.matrix_floats, err);
    m->task = (modal_deform_objects_task){&m->pack, 1, m->q, m->poses, m->u, NULL};
    if (status == MODAL_OK)
        status = measure(m, "deform_objects (U q and transform)", 1, call_ours, m->u, PACKED, 1, err);
    m->pack.modal_matrix = kept;
done:
    if (m->pack.tiles) modal_object_pack_unload(&m->pack, &m->side->device);
    bench_free(m->side, &m->pack_matrix);
    modal_object_pack_free(&pack);
    modal_free(&objects);
    return status;
}

#ifdef MODAL_HAVE_CUDA
/* What the paper's transform reads. */
static modal_status prepare_transform(multi *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    const plant_scene *s = m->scene;
    float *rest = NULL, *matrices = NULL;
    int32_t *of_group = NULL;
    MODAL_TRY(modal_alloc_zero(&rest, 4 * s->padded_vertices, sizeof *rest, "rest", err));
    MODAL_TRY(modal_alloc_zero(&matrices, 16 * (int64_t)s->n_objects, sizeof *matrices, "T", err));
    MODAL_TRY(modal_alloc_zero(&of_group, s->padded_vertices / 4, sizeof *of_group, "groups", err));
    for (int32_t o = 0; o < s->n_objects; o++) {
        memcpy(matrices + 16 * o, s->poses + 12 * o, 12 * sizeof(float));
        matrices[16 * o + 15] = 1.0f;
        for (int64_t v = 0; v < s->vertices[o]; v++) {
            float *to = rest + 4 * (s->first_padded[o] + v);
            memcpy(to, s->rest + 3 * (s->first_vertex[o] + v), 3 * sizeof(float));
            to[3] = 1.0f;
        }
        for (int64_t g = s->first_padded[o] / 4; g < s->first_padded[o + 1] / 4; g++) of_group[g] = o;
    }
    MODAL_TRY(bench_to_device(m->side, &m->rest4, rest, 16 * s->padded_vertices, "rest", err));
    MODAL_TRY(bench_to_device(m->side, &m->matrices, matrices, 64 * (int64_t)s->n_objects, "T", err));
    MODAL_TRY(bench_to_device(m->side, &m->of_group, of_group, s->padded_vertices, "groups", err));
    MODAL_TRY(bench_to_device(m->side, &m->x4, NULL, 16 * s->padded_vertices, "x", err));
done:
    modal_free(&rest);
    modal_free(&matrices);
    modal_free(&of_group);
    return status;
}

static modal_status run_paper(multi *m, modal_error *err)
{
    static const struct {
        paper_chunks chunks;
        const char *name;
    } variants[] = {{PAPER_CHUNKS_8, "8"}, {PAPER_CHUNKS_6_8_FIRST, "6,8 (1)"},
                    {PAPER_CHUNKS_6_8_SECOND, "6,8 (2)"}, {PAPER_CHUNKS_5_6_7_8, "5,6,7,8"}};
    modal_status status = MODAL_OK;
    MODAL_TRY(prepare_transform(m, err));
    for (int i = 0; i < 4; i++) {
        char name[64];
        m->paper = paper_multi_delete(m->paper);
        MODAL_TRY(paper_multi_new(&m->paper, variants[i].chunks, m->scene, m->n_copies, m->side->stream,
                                  err));
        const int kernels = paper_multi_kernels(m->paper);
        snprintf(name, sizeof name, "paper 4.3, chunks %s, %d kernel%s", variants[i].name, kernels,
                 kernels == 1 ? "" : "s");
        MODAL_TRY(measure(m, name, 0, call_paper, m->u, PADDED, 0, err));
        if (variants[i].chunks > PAPER_CHUNKS_6_8_FIRST) continue;
        snprintf(name, sizeof name, "paper 4.3 + 4.4, chunks %s", variants[i].name);
        MODAL_TRY(measure(m, name, 0, call_paper_world, m->x4, PADDED, 1, err));
    }
done:
    m->paper = paper_multi_delete(m->paper);
    return status;
}

static modal_status run_cublas(multi *m, modal_error *err)
{
    static const char *const names[] = {"cublasSgemv in a loop", "cublasSgemvBatched a rank, tiles",
                                        "cublasSgemmGroupedBatched, tiles"};
    modal_status status = MODAL_OK;
    for (int way = 0; way < 3; way++) {
        m->cublas = cublas_objects_delete(m->cublas);
        MODAL_TRY(cublas_objects_new(&m->cublas, (cublas_objects_way)way, m->scene, m->n_copies,
                                     way == CUBLAS_LOOP ? m->columns : m->tiles, m->q, m->u, err));
        MODAL_TRY(measure(m, names[way], 0, call_cublas, m->u, way == CUBLAS_LOOP ? PACKED : TILED, 0,
                          err));
    }
done:
    m->cublas = cublas_objects_delete(m->cublas);
    return status;
}
#endif

static modal_status run_side(modal_bench *b, bench_side *side, const plant_scene *s,
                             const truth *t, const float *columns, modal_error *err)
{
    modal_status status = MODAL_OK;
    multi m = {.b = b, .side = side, .scene = s, .truth = t};
    const int64_t cache = b->quick ? 1 << 20 : side->is_cuda ? BENCH_CACHE_BYTES : 4 * (int64_t)BENCH_CACHE_BYTES;
    const int64_t floats = result_floats(s);
    m.n_copies = cache / (4 * s->u_floats) + 1;
    if (m.n_copies > 512) m.n_copies = 512;
    MODAL_TRY(bench_to_device(side, &m.q, s->q, 4 * s->n_modes, "q", err));
    MODAL_TRY(bench_to_device(side, &m.poses, s->poses, 48 * (int64_t)s->n_objects, "frames", err));
    MODAL_TRY(bench_to_device(side, &m.u, NULL, 4 * floats, "u", err));
    MODAL_TRY(run_ours(&m, err));
    if (!side->is_cuda && opponents_have_openblas()) {
        MODAL_TRY(replicate(&m, &m.columns, columns, s->u_floats, err));
        opponents_cpu_threads(1);
        status = measure(&m, "OpenBLAS sgemv, objects over threads", 0, call_openblas, m.u, PACKED, 0, err);
        opponents_cpu_threads(b->n_threads);
        if (status != MODAL_OK) goto done;
    }
#ifdef MODAL_HAVE_CUDA
    if (side->is_cuda) {
        MODAL_TRY(run_paper(&m, err));
        MODAL_TRY(replicate(&m, &m.tiles, s->modal_matrix, s->u_floats, err));
        MODAL_TRY(measure(&m, "modal_sum, a launch an object", 0, call_launches, m.u, PACKED, 0, err));
        if (opponents_have_cublas()) {
            MODAL_TRY(replicate(&m, &m.columns, columns, s->u_floats, err));
            MODAL_TRY(run_cublas(&m, err));
        }
    }
#else
    (void)call_launches;
#endif
done:;
    float **arrays[] = {&m.q, &m.poses, &m.u, &m.columns, &m.tiles, &m.matrices, &m.rest4, &m.x4};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) bench_free(side, arrays[i]);
    bench_free(side, &m.of_group);
    return status;
}

#ifdef MODAL_HAVE_CUDA
static modal_status make_rows(multi *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    const plant_scene *s = m->scene;
    float *host = NULL;
    MODAL_TRY(modal_alloc_zero(&m->row_offset, (int64_t)s->n_objects + 1, sizeof *m->row_offset, "objects", err));
    for (int32_t o = 0; o < s->n_objects; o++) {
        const paper_layout layout = paper_layout_of(4, s->modes[o]);
        m->row_offset[o + 1] = m->row_offset[o] + paper_layout_floats(&layout, 3 * (int64_t)s->vertices[o]);
    }
    MODAL_TRY(modal_alloc_zero(&host, m->row_offset[s->n_objects], sizeof *host, "U", err));
    for (int32_t o = 0; o < s->n_objects; o++) {
        const paper_layout layout = paper_layout_of(4, s->modes[o]);
        for (int64_t row = 0; row < 3 * (int64_t)s->vertices[o]; row++)
            for (int j = 0; j < s->modes[o]; j++) host[m->row_offset[o] + paper_layout_index(&layout, row, j)] = plant_scene_u(s, o, row, j);
    }
    MODAL_TRY(replicate(m, &m->rows, host, m->row_offset[s->n_objects], err));
done:
    modal_free(&host);
    return status;
}

static modal_status run_launches(modal_bench *b, const plant_scene *s, const truth *t, modal_error *err)
{
    modal_status status = MODAL_OK;
    bench_side *side = &b->gpu;
    multi m = {.b = b, .side = side, .scene = s, .truth = t};
    char name[64];
    int distinct = 0;
    m.n_copies = (b->quick ? 1 << 20 : BENCH_CACHE_BYTES) / (4 * s->u_floats) + 1;
    if (m.n_copies > 512) m.n_copies = 512;
    MODAL_TRY(bench_to_device(side, &m.q, s->q, 4 * s->n_modes, "q", err));
    MODAL_TRY(bench_to_device(side, &m.u, NULL, 4 * result_floats(s), "u", err));
    MODAL_TRY(paper_multi_new(&m.paper, PAPER_CHUNKS_6_8_FIRST, s, m.n_copies, side->stream, err));
    snprintf(name, sizeof name, "paper 4.3, %d launches", paper_multi_kernels(m.paper));
    MODAL_TRY(measure(&m, name, 1, call_paper, m.u, PADDED, 0, err));
    m.paper = paper_multi_delete(m.paper);
    MODAL_TRY(paper_multi_new(&m.paper, PAPER_A_RANK, s, m.n_copies, side->stream, err));
    for (int r = 1, found = 0; r <= 32; r++, distinct += found, found = 0)
        for (int32_t o = 0; o < s->n_objects && !found; o++) found = s->modes[o] == r;
    snprintf(name, sizeof name, "one a distinct r, %d launches", distinct);
    MODAL_TRY(measure(&m, name, 0, call_paper, m.u, PADDED, 0, err));
    MODAL_TRY(make_rows(&m, err));
    snprintf(name, sizeof name, "one an object (4.1), %d launches", s->n_objects);
    MODAL_TRY(measure(&m, name, 0, call_paper_objects, m.u, PADDED, 0, err));
done:
    m.paper = paper_multi_delete(m.paper);
    modal_free(&m.row_offset);
    bench_free(side, &m.q), bench_free(side, &m.u), bench_free(side, &m.rows);
    return status;
}

modal_status bench_launches(modal_bench *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    plant_scene *scene = NULL;
    truth t = {0};
    bench_table(b, "launches", "U q of many objects by the paper's kernels: in all a launch or two, one a distinct r, one an object; x ours: times the first");
    if (!b->gpu.present) {
        bench_absent(b, "launches of the paper's kernels", "no GPU");
        return MODAL_OK;
    }
    for (int i = 0; i < N_PLANTS; i++) {
        MODAL_TRY(plant_scene_new(&scene, &plants[i], b->quick ? 20 : 1, err));
        MODAL_TRY(truth_of(b, scene, &t, err));
        bench_print(b, "\n%s, %d objects\n", plants[i].name, scene->n_objects);
        bench_headings(b);
        MODAL_TRY(run_launches(b, scene, &t, err));
        scene = plant_scene_delete(scene);
        truth_free(&t);
    }
done:
    scene = plant_scene_delete(scene);
    truth_free(&t);
    return status;
}
#else
modal_status bench_launches(modal_bench *b, modal_error *err)
{
    (void)err;
    bench_absent(b, "launches of the paper's kernels", "built without CUDA");
    return MODAL_OK;
}
#endif

modal_status bench_multi(modal_bench *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    plant_scene *scene = NULL;
    truth t = {0};
    float *columns = NULL;
    bench_table(b, "table 3 and 4",
                "Tables 3 and 4: scenes of many objects; modes: the mean of an object; cols: frames");
    for (int i = 0; i < N_PLANTS; i++) {
        const plant *p = &plants[i];
        MODAL_TRY(plant_scene_new(&scene, p, b->quick ? 20 : 1, err));
        MODAL_TRY(truth_of(b, scene, &t, err));
        MODAL_TRY(plant_scene_columns(scene, &columns, err));
        bench_print(b, "\n%s, %d objects, %.1f MB of U; paper, ms: GPU Uq %.2f T %.2f, cuBLAS Uq %.2f, "
                       "CPU Uq %.2f T %.2f\n",
                    p->name, scene->n_objects, 4e-6 * (double)scene->u_floats, p->paper_gpu_uq,
                    p->paper_gpu_t, p->paper_cublas_uq, p->paper_cpu_uq, p->paper_cpu_t);
        bench_headings(b);
        if (b->gpu.present) MODAL_TRY(run_side(b, &b->gpu, scene, &t, columns, err));
        b->ours = 0.0;
        MODAL_TRY(run_side(b, &b->cpu, scene, &t, columns, err));
        scene = plant_scene_delete(scene);
        truth_free(&t);
        modal_free(&columns);
    }
done:
    scene = plant_scene_delete(scene);
    truth_free(&t);
    modal_free(&columns);
    return status;
}
