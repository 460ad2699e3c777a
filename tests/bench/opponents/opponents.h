/* SPDX-License-Identifier: Apache-2.0 */
/* What modalbench compares with. Each file here is one opponent; the GPU's are built with CUDA,
 * cuBLAS's and OpenBLAS's where the library is found. All arrays are in the memory of the machine
 * that computes; a stream is the caller's. Opponents that are not built return MODAL_ERROR_SYSTEM. */
#ifndef MODAL_TESTS_OPPONENTS_H
#define MODAL_TESTS_OPPONENTS_H

#include <stdint.h>

#include "kernels/operations.h"
#include "lib/base/status.h"
#include "tests/bench/opponents/paper_layout.h"
#include "tests/bench/plants.h"

#ifdef __cplusplus
extern "C" {
#endif

int opponents_have_openblas(void);
int opponents_have_cublas(void);
const char *opponents_openblas_version(void); /* "OpenBLAS 0.3.21 ..." or "absent" */
const char *opponents_cublas_version(void);
void opponents_cpu_threads(int n_threads); /* of the BLAS */
void opponents_end_cublas(void); /* frees what it keeps */

/* ---- OpenBLAS (openblas.c) ---- */

/* u [rows] = U q, U [rows, r] row-major or column-major. */
void openblas_sgemv(int row_major, int64_t rows, int r, const float *U, const float *q, float *u);
/* u [columns, rows] = the same for many q [columns, r], U column-major. */
void openblas_sgemm(int64_t rows, int r, int64_t columns, const float *U, const float *q, float *u);
/* A loop of sgemv over a scene's objects, which OpenMP's threads share: to be called with
 * opponents_cpu_threads(1) in force. U column-major an object at scene->u_offset, u [vertices, 3]. */
void openblas_objects(const plant_scene *scene, const float *U, const float *q, float *u);

/* ---- cuBLAS (cublas.c) ---- */

typedef enum cublas_layout { CUBLAS_ROWS, CUBLAS_COLUMNS } cublas_layout;
modal_status cublas_sgemv(cublas_layout layout, int64_t rows, int r, const float *U, const float *q,
                          float *u, modal_stream *stream, modal_error *err);
modal_status cublas_sgemm(int tf32, int64_t rows, int r, int64_t columns, const float *U,
                          const float *q, float *u, modal_stream *stream, modal_error *err);

/* ---- CUTLASS (cutlass.cu), where MODAL_HAVE_CUTLASS is defined ---- */

/* As cublas_sgemm, in split TF32: about the digits of float32. */
modal_status cutlass_sgemm(int64_t rows, int r, int64_t n_columns, const float *U, const float *q, float *u,
                           modal_stream *stream, modal_error *err);

/* Three ways through a scene of many objects. */
typedef enum cublas_objects_way {
    CUBLAS_LOOP,    /* a sgemv an object: U column-major an object at scene->u_offset, u [vertices, 3] */
    CUBLAS_BATCHED, /* a sgemvBatched a rank. Its matrices must have one size, so they are our tiles:
                     * 96 rows, column-major; u is [tiles, 96] at scene->rest_offset */
    CUBLAS_GROUPED  /* the same tiles in one sgemmGroupedBatched, a group a rank */
} cublas_objects_way;
typedef struct cublas_objects cublas_objects;
/* U: n_copies times scene->u_floats, device; q and u too. They must stay. */
modal_status cublas_objects_new(cublas_objects **objects, cublas_objects_way way,
                                const plant_scene *scene, int64_t n_copies, const float *U,
                                const float *q, float *u, modal_error *err);
int cublas_objects_calls(const cublas_objects *objects); /* of the library in a run */
/* With copy k % n_copies of the matrices. */
modal_status cublas_objects_run(const cublas_objects *objects, int64_t k, modal_stream *stream,
                                modal_error *err);
cublas_objects *cublas_objects_delete(cublas_objects *objects);

/* ---- the 2020 paper (paper_*.cu) ---- */

/* Section 4.1: u [vertices, 4] (the fourth untouched), U as paper_layout.h says. */
modal_status paper_single(const paper_layout *layout, int64_t n_vertices, const float *U,
                          const float *q, float *u, modal_stream *stream, modal_error *err);

/* ---- a modal matrix of 16 bits (half.cu), which the 2020 paper declines in section 4 ---- */

/* Tiles of 32 vertices in float32 to tiles of 128 in float16: half [ceil(n / 128), r, 3, 128]. */
modal_status half_pack(int64_t n_vertices, int r, const float *U, void *half, modal_stream *stream, modal_error *err);
/* u [vertices, 3] = half q; sums in float32. n_vertices: a multiple of 128. */
modal_status half_product(int64_t n_vertices, int r, const void *half, const float *q, float *u, modal_stream *stream, modal_error *err);

/* Section 4.2: vertex normals [vertices, 4] of x [vertices, 4]. faces: CSR of a vertex's triangles;
 * face_normals [triangles, 4] is scratch of the two stages. */
typedef struct paper_mesh {
    int64_t n_vertices, n_triangles;
    const int32_t *triangles;    /* [n_triangles, 3] */
    const int32_t *face_offsets; /* [n_vertices + 1] */
    const int32_t *faces;
} paper_mesh;
modal_status paper_normals_one_stage(const paper_mesh *mesh, const float *x, float *normals,
                                     modal_stream *stream, modal_error *err);
modal_status paper_normals_two_stages(const paper_mesh *mesh, const float *x, float *face_normals,
                                      float *normals, modal_stream *stream, modal_error *err);

/* Section 4.3: the chunks of table 3. */
typedef enum paper_chunks {
    PAPER_CHUNKS_8,
    PAPER_CHUNKS_6_8_FIRST,  /* table 3's note 1 */
    PAPER_CHUNKS_6_8_SECOND, /* note 2 */
    PAPER_CHUNKS_5_6_7_8,
    PAPER_A_RANK /* those of note 1, but every distinct r in a launch of its own, for comparison */
} paper_chunks;
typedef struct paper_multi paper_multi;
/* Packs the scene's modal matrices, n_copies times, to the device. */
modal_status paper_multi_new(paper_multi **multi, paper_chunks chunks, const plant_scene *scene,
                             int64_t n_copies, modal_stream *stream, modal_error *err);
int paper_multi_kernels(const paper_multi *multi);
/* u [scene->padded_vertices, 4] with copy k % n_copies of the matrices. */
modal_status paper_multi_run(const paper_multi *multi, int64_t k, const float *q, float *u,
                             modal_stream *stream, modal_error *err);
paper_multi *paper_multi_delete(paper_multi *multi);

/* Section 4.4: x = T (rest + u), all [padded_vertices, 4]; matrices [objects, 4, 4]. `of_group`: the
 * object of each four vertices. */
modal_status paper_transform(int64_t padded_vertices, const int32_t *of_group,
                             const float *matrices, const float *rest, const float *u, float *x,
                             modal_stream *stream, modal_error *err);

#ifdef __cplusplus
}
#endif
#endif
