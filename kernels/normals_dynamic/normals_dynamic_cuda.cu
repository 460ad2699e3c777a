// SPDX-License-Identifier: Apache-2.0
// One thread a vertex, a warp 32 neighbours in the stored order, all corners in one pass: no atomics,
// no intermediate face normals.
//
// ring: the indices of a tile's neighbours lie as whole lines, one a row, and a corner costs one index
//   and one gathered position instead of two, since it shares an edge with the next. All lanes of a
//   warp run equally long, so up to eight rows of indices and gathers are in flight at once. With vertices
//   in an order of locality the gathers touch few lines, which the first-level cache holds.
// corners: the same from the table of corners, for callers without a ring.
// Four columns at a time read the indices once for four.
// What limits both is the first-level cache, which serves a gather a line at a time.
// Measured on one H200, 2026-11-21, 455,625 vertices in the stored order: one column 10.3 us from the
// ring (2,310 GB/s of counted bytes) and 13.7 us from the corners; 16 columns 130 and 138 us.
#include "kernels/normals_dynamic/normals_tiles.cuh"

namespace {

struct as_they_lie : normals_of_rows {
    static __device__ __forceinline__ int64_t rows(int64_t n_vertices) { return n_vertices; }
    static __device__ __forceinline__ int64_t vertex(int64_t place) { return place; }
    static __device__ __forceinline__ int64_t vertex_of_corners(int64_t row) { return row; }
};

} // namespace

extern "C" modal_status modal_normals_dynamic_cuda(const modal_normals_dynamic_task *task,
                                                   modal_stream *stream, modal_error *err)
{
    return launch_all(task, as_they_lie{{task->normals}}, "normals_dynamic", task->n_vertices, stream, err);
}
