/* SPDX-License-Identifier: Apache-2.0 */
/* Opponent: OpenBLAS on all threads (the 2020 paper's table 5 uses MKL), where it was found. */
#include "tests/bench/opponents/opponents.h"

#ifdef MODAL_HAVE_OPENBLAS
#include <cblas.h>

int opponents_have_openblas(void) { return 1; }
const char *opponents_openblas_version(void) { return openblas_get_config(); }

void opponents_cpu_threads(int n_threads)
{
    openblas_set_num_threads(n_threads);
}

void openblas_sgemv(int row_major, int64_t rows, int r, const float *U, const float *q, float *u)
{
    cblas_sgemv(row_major ? CblasRowMajor : CblasColMajor, CblasNoTrans, (blasint)rows, r, 1.0f, U,
                row_major ? r : (blasint)rows, q, 1, 0.0f, u, 1);
}

void openblas_sgemm(int64_t rows, int r, int64_t columns, const float *U, const float *q, float *u)
{
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (blasint)rows, (blasint)columns, r, 1.0f, U,
                (blasint)rows, q, r, 0.0f, u, (blasint)rows);
}

void openblas_objects(const plant_scene *s, const float *U, const float *q, float *u)
{
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t i = 0; i < s->n_objects; i++)
        openblas_sgemv(0, 3 * (int64_t)s->vertices[i], s->modes[i], U + s->u_offset[i],
                       q + s->first_mode[i], u + 3 * s->first_vertex[i]);
}
#else
int opponents_have_openblas(void) { return 0; }
const char *opponents_openblas_version(void) { return "absent"; }
void opponents_cpu_threads(int n_threads) { (void)n_threads; }

void openblas_sgemv(int row_major, int64_t rows, int r, const float *U, const float *q, float *u)
{
    (void)row_major, (void)rows, (void)r, (void)U, (void)q, (void)u;
}

void openblas_sgemm(int64_t rows, int r, int64_t columns, const float *U, const float *q, float *u)
{
    (void)rows, (void)r, (void)columns, (void)U, (void)q, (void)u;
}

void openblas_objects(const plant_scene *s, const float *U, const float *q, float *u)
{
    (void)s, (void)U, (void)q, (void)u;
}
#endif
