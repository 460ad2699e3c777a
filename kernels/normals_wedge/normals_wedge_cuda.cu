// SPDX-License-Identifier: Apache-2.0
// The kernels of normals_dynamic: a lane is a wedge. Further wedges are ordered by their vertices, so that what they gather is as near as the
// neighbours of vertices are; the corners of a vertex are divided among its wedges, so that all walks together are as long as before but for one more
// position a fan.
#include "kernels/normals_dynamic/normals_tiles.cuh"
#include "kernels/normals_wedge/normals_wedge.h"

namespace {

struct as_wedges_are : normals_of_rows {
    int64_t n_vertices, n_wedges;
    const int32_t *source;

    __device__ __forceinline__ int64_t rows(int64_t) const { return n_wedges; }
    __device__ __forceinline__ int64_t vertex(int64_t place) const
    {
        return place < n_vertices ? place : (int64_t)__ldg(source + (place - n_vertices));
    }
    __device__ __forceinline__ int64_t vertex_of_corners(int64_t row) const { return vertex(row); }
};

} // namespace

extern "C" modal_status modal_normals_wedge_cuda(const modal_normals_wedge_task *task, modal_stream *stream, modal_error *err)
{
    const modal_normals_dynamic_task surface = {task->n_vertices, task->n_columns, task->corner_offsets, task->corners,
                                                task->positions,  nullptr,         task->ring_offsets,   task->ring};
    const as_wedges_are out = {{task->normals}, task->n_vertices, task->n_wedges, task->source};
    return launch_all(&surface, out, "normals_wedge", task->n_wedges, stream, err);
}
