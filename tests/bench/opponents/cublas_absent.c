/* SPDX-License-Identifier: Apache-2.0 */
/* What stands for cublas.c where the library was not found. */
#include <stddef.h>

#include "tests/bench/opponents/opponents.h"

int opponents_have_cublas(void) { return 0; }
const char *opponents_cublas_version(void) { return "absent"; }
void opponents_end_cublas(void) {}

static modal_status absent(modal_error *err)
{
    return modal_error_set(err, MODAL_ERROR_SYSTEM, "cuBLAS: built without it");
}

modal_status cublas_sgemv(cublas_layout layout, int64_t rows, int r, const float *U, const float *q,
                          float *u, modal_stream *stream, modal_error *err)
{
    (void)layout, (void)rows, (void)r, (void)U, (void)q, (void)u, (void)stream;
    return absent(err);
}

modal_status cublas_sgemm(int tf32, int64_t rows, int r, int64_t columns, const float *U,
                          const float *q, float *u, modal_stream *stream, modal_error *err)
{
    (void)tf32, (void)rows, (void)r, (void)columns, (void)U, (void)q, (void)u, (void)stream;
    return absent(err);
}

modal_status cublas_objects_new(cublas_objects **objects, cublas_objects_way way,
                                const plant_scene *scene, int64_t n_copies, const float *U,
                                const float *q, float *u, modal_error *err)
{
    (void)way, (void)scene, (void)n_copies, (void)U, (void)q, (void)u;
    *objects = NULL;
    return absent(err);
}

int cublas_objects_calls(const cublas_objects *objects)
{
    (void)objects;
    return 0;
}

modal_status cublas_objects_run(const cublas_objects *objects, int64_t k, modal_stream *stream,
                                modal_error *err)
{
    (void)objects, (void)k, (void)stream;
    return absent(err);
}

cublas_objects *cublas_objects_delete(cublas_objects *objects)
{
    (void)objects;
    return NULL;
}
