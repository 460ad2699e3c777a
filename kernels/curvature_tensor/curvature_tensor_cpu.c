/* SPDX-License-Identifier: Apache-2.0 */
/* A lane is a vertex of a tile: it goes over its ring, and computes the tensors of its triangles itself, each thrice
 * over the mesh; that costs less than to store and gather them. Everything is in the frame of the vertex, where its
 * normal is z: the least rotation of a triangle's normal to it takes two products a vector. Two divisions and a square
 * root a triangle. Compiled without contraction into fused multiply-adds, so that all instruction sets give the same
 * bytes. */
#include "kernels/curvature_tensor/curvature_tensor.h"

#include "kernels/curvature_tensor/curvature_cpu.h"

#define CURVATURE_TEMPLATE "kernels/curvature_tensor/curvature_tensor_simd.h"
#include "kernels/curvature_tensor/curvature_sets.h"

static void make_records(const void *task, int64_t column, int64_t begin, int64_t end, float *records)
{
    const modal_curvature_surface *s = &((const modal_curvature_tensor_task *)task)->surface;
    const int64_t first = 3 * column * s->n_vertices;
    curvature_pack(s->positions + first, s->normals + first, s->scale, begin, end, records);
}

modal_status modal_curvature_tensor_cpu(const modal_curvature_tensor_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream;
    return curvature_run(task, task->surface.n_vertices, task->surface.n_columns, 8, make_records,
                         CURVATURE_CHOOSE(tensors_of_tiles), err);
}
