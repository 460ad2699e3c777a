/* SPDX-License-Identifier: Apache-2.0 */
/* Memory-bound: the rest normals are read, the normals written. OpenMP over runs of vertices, a run
 * of rest normals staying in the first-level cache for all columns. */
#include "kernels/normals_rigid/normals_rigid.h"

enum { RUN = 1024 };

static void rotate(const float *rest, const float *t, float *normals, int64_t count)
{
    const float r00 = t[0], r01 = t[1], r02 = t[2], r10 = t[4], r11 = t[5], r12 = t[6];
    const float r20 = t[8], r21 = t[9], r22 = t[10];
    for (int64_t v = 0; v < count; v++) {
        const float x = rest[3 * v], y = rest[3 * v + 1], z = rest[3 * v + 2];
        normals[3 * v] = r02 * z + (r01 * y + r00 * x);
        normals[3 * v + 1] = r12 * z + (r11 * y + r10 * x);
        normals[3 * v + 2] = r22 * z + (r21 * y + r20 * x);
    }
}

modal_status modal_normals_rigid_cpu(const modal_normals_rigid_task *task, modal_stream *stream,
                                     modal_error *err)
{
    (void)stream, (void)err;
    const int64_t n = task->n_vertices, n_runs = (n + RUN - 1) / RUN;
    const int parallel = n * task->n_columns > 65536;
#pragma omp parallel for schedule(static) if (parallel)
    for (int64_t run = 0; run < n_runs; run++) {
        const int64_t begin = run * RUN, count = n - begin < RUN ? n - begin : RUN;
        for (int64_t c = 0; c < task->n_columns; c++)
            for (int64_t v = begin, end; v < begin + count; v = end) { /* of one object */
                end = begin + count;
                if (task->objects)
                    for (end = v + 1; end < begin + count && task->objects[end] == task->objects[v];)
                        end++;
                const int64_t pose = task->objects ? c * task->n_objects + task->objects[v] : c;
                rotate(task->rest_normals + 3 * v, task->poses + 12 * pose,
                       task->normals + 3 * (c * n + v), end - v);
            }
    }
    return MODAL_OK;
}
