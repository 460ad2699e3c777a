/* SPDX-License-Identifier: Apache-2.0 */
/* Opponent: cuBLAS, as a program calls it that has U in the layout the library likes. The 2020 paper
 * compares with it in section 4 and table 4. */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdio.h>

#include "lib/base/memory.h"
#include "tests/bench/opponents/opponents.h"

static cublasHandle_t handle;
static const float one = 1.0f, zero = 0.0f;

static modal_status checked(cublasStatus_t code, const char *what, modal_error *err)
{
    if (code == CUBLAS_STATUS_SUCCESS) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_SYSTEM, "cuBLAS: %s: %s", what, cublasGetStatusString(code));
}

static modal_status use(modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (!handle) MODAL_TRY(checked(cublasCreate(&handle), "create", err));
    MODAL_TRY(checked(cublasSetStream(handle, (cudaStream_t)stream), "stream", err));
done:
    return status;
}

int opponents_have_cublas(void) { return 1; }

const char *opponents_cublas_version(void)
{
    static char text[32];
    int part[3] = {0};
    cublasGetProperty(MAJOR_VERSION, &part[0]);
    cublasGetProperty(MINOR_VERSION, &part[1]);
    cublasGetProperty(PATCH_LEVEL, &part[2]);
    snprintf(text, sizeof text, "cuBLAS %d.%d.%d", part[0], part[1], part[2]);
    return text;
}

void opponents_end_cublas(void)
{
    if (handle) cublasDestroy(handle);
    handle = NULL;
}

modal_status cublas_sgemv(cublas_layout layout, int64_t rows, int r, const float *U, const float *q,
                          float *u, modal_stream *stream, modal_error *err)
{
    const modal_status status = use(stream, err);
    if (status != MODAL_OK) return status;
    if (layout == CUBLAS_ROWS)
        return checked(cublasSgemv(handle, CUBLAS_OP_T, r, (int)rows, &one, U, r, q, 1, &zero, u, 1),
                       "sgemv", err);
    return checked(cublasSgemv(handle, CUBLAS_OP_N, (int)rows, r, &one, U, (int)rows, q, 1, &zero, u, 1),
                   "sgemv", err);
}

modal_status cublas_sgemm(int tf32, int64_t rows, int r, int64_t columns, const float *U,
                          const float *q, float *u, modal_stream *stream, modal_error *err)
{
    modal_status status = use(stream, err);
    if (status != MODAL_OK) return status;
    MODAL_TRY(checked(cublasSetMathMode(handle, tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH),
                      "math mode", err));
    MODAL_TRY(checked(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, (int)rows, (int)columns, r, &one, U,
                                  (int)rows, q, r, &zero, u, (int)rows),
                      "sgemm", err));
    MODAL_TRY(checked(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH), "math mode", err));
done:
    return status;
}

/* ---- many objects ---- */

enum { RANKS = 33 };

struct cublas_objects {
    cublas_objects_way way;
    const plant_scene *scene;
    int64_t n_copies, n_tiles;
    const float *U, *q;
    float *u;
    int n_groups;
    int rank[RANKS], count[RANKS], rows[RANKS], ones[RANKS];
    int64_t first[RANKS];
    cublasOperation_t plain[RANKS];
    float alpha[RANKS], beta[RANKS];
    const float **d_matrices, **d_q; /* [n_copies, n_tiles], [n_tiles]; tiles by rank */
    float **d_u;
};

/* The tiles by rank, as pointers; d_* arrays are made of them. */
static modal_status list_tiles(cublas_objects *o, modal_error *err)
{
    modal_status status = MODAL_OK;
    const plant_scene *s = o->scene;
    const float **matrices = NULL, **q = NULL;
    float **u = NULL;
    o->n_tiles = s->rest_offset[s->n_objects] / 96;
    const size_t bytes = (size_t)o->n_tiles * sizeof(float *);
    MODAL_TRY(modal_alloc(&matrices, o->n_copies * o->n_tiles, sizeof *matrices, "tiles", err));
    MODAL_TRY(modal_alloc(&q, o->n_tiles, sizeof *q, "tiles", err));
    MODAL_TRY(modal_alloc(&u, o->n_tiles, sizeof *u, "tiles", err));
    int64_t at = 0;
    for (int r = 1; r < RANKS; r++) {
        const int g = o->n_groups;
        o->first[g] = at;
        for (int32_t i = 0; i < s->n_objects; i++) {
            if (s->modes[i] != r) continue;
            for (int64_t t = 0; t < (s->vertices[i] + 31) / 32; t++, at++) {
                q[at] = o->q + s->first_mode[i];
                u[at] = o->u + s->rest_offset[i] + 96 * t;
                for (int64_t c = 0; c < o->n_copies; c++)
                    matrices[c * o->n_tiles + at] = o->U + c * s->u_floats + s->u_offset[i] + 96 * r * t;
            }
        }
        if (at == o->first[g]) continue;
        o->rank[g] = r;
        o->count[g] = (int)(at - o->first[g]);
        o->rows[g] = 96;
        o->ones[g] = 1;
        o->plain[g] = CUBLAS_OP_N;
        o->alpha[g] = 1.0f;
        o->n_groups++;
    }
    cudaError_t code = cudaMalloc((void **)&o->d_matrices, bytes * (size_t)o->n_copies);
    if (code == cudaSuccess) code = cudaMalloc((void **)&o->d_q, bytes);
    if (code == cudaSuccess) code = cudaMalloc((void **)&o->d_u, bytes);
    if (code == cudaSuccess)
        code = cudaMemcpy(o->d_matrices, matrices, bytes * (size_t)o->n_copies, cudaMemcpyHostToDevice);
    if (code == cudaSuccess) code = cudaMemcpy(o->d_q, q, bytes, cudaMemcpyHostToDevice);
    if (code == cudaSuccess) code = cudaMemcpy(o->d_u, u, bytes, cudaMemcpyHostToDevice);
    if (code != cudaSuccess)
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "CUDA: tiles: %s", cudaGetErrorString(code));
done:
    modal_free(&matrices);
    modal_free(&q);
    modal_free(&u);
    return status;
}

modal_status cublas_objects_new(cublas_objects **objects, cublas_objects_way way,
                                const plant_scene *scene, int64_t n_copies, const float *U,
                                const float *q, float *u, modal_error *err)
{
    modal_status status = MODAL_OK;
    *objects = NULL;
    MODAL_TRY(modal_alloc_zero(objects, 1, sizeof **objects, "objects", err));
    cublas_objects *o = *objects;
    o->way = way;
    o->scene = scene;
    o->n_copies = n_copies;
    o->U = U;
    o->q = q;
    o->u = u;
    if (way != CUBLAS_LOOP) MODAL_TRY(list_tiles(o, err));
done:
    if (status != MODAL_OK) *objects = cublas_objects_delete(*objects);
    return status;
}

int cublas_objects_calls(const cublas_objects *o)
{
    return o->way == CUBLAS_LOOP ? o->scene->n_objects : o->way == CUBLAS_BATCHED ? o->n_groups : 1;
}

modal_status cublas_objects_run(const cublas_objects *o, int64_t k, modal_stream *stream,
                                modal_error *err)
{
    modal_status status = use(stream, err);
    if (status != MODAL_OK) return status;
    const plant_scene *s = o->scene;
    const int64_t copy = k % o->n_copies;
    if (o->way == CUBLAS_LOOP) {
        for (int32_t i = 0; i < s->n_objects; i++) {
            const int rows = 3 * s->vertices[i];
            MODAL_TRY(checked(cublasSgemv(handle, CUBLAS_OP_N, rows, s->modes[i], &one,
                                          o->U + copy * s->u_floats + s->u_offset[i], rows,
                                          o->q + s->first_mode[i], 1, &zero,
                                          o->u + 3 * s->first_vertex[i], 1),
                              "sgemv", err));
        }
        goto done;
    }
    const float **matrices = o->d_matrices + copy * o->n_tiles;
    if (o->way == CUBLAS_BATCHED) {
        for (int g = 0; g < o->n_groups; g++)
            MODAL_TRY(checked(cublasSgemvBatched(handle, CUBLAS_OP_N, 96, o->rank[g], &one,
                                                 matrices + o->first[g], 96, o->d_q + o->first[g], 1,
                                                 &zero, o->d_u + o->first[g], 1, o->count[g]),
                              "sgemvBatched", err));
        goto done;
    }
    MODAL_TRY(checked(cublasSgemmGroupedBatched(handle, o->plain, o->plain, o->rows, o->ones, o->rank,
                                                o->alpha, matrices, o->rows, o->d_q, o->rank, o->beta,
                                                o->d_u, o->rows, o->n_groups, o->count),
                      "sgemmGroupedBatched", err));
done:
    return status;
}

cublas_objects *cublas_objects_delete(cublas_objects *o)
{
    if (!o) return NULL;
    cudaFree(o->d_matrices);
    cudaFree(o->d_q);
    cudaFree(o->d_u);
    modal_free(&o);
    return NULL;
}
