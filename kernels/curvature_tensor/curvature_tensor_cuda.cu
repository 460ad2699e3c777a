// SPDX-License-Identifier: Apache-2.0
// A thread a vertex: it computes the tensors of its triangles itself, each thrice over the mesh. Beside it (H200, 455,625
// vertices, 2026-11-22, prototypes): tiles that compute each triangle once in shared memory and copy their halo were
// 10 % slower, triangles to memory and a gather twice, atomics five times. What decides are the instructions of a
// vertex, not memory.
#include "kernels/curvature_tensor/curvature_walk.cuh"
#include "kernels/modal_sum/overlap.cuh"

namespace modal_cuda {

// curvature_add_triangle, arranged for a GPU: reciprocals and reciprocal roots are one instruction each, the triangle's
// normal has unit length: R v = v - n_xy (v_z + v . n) / (1 + n_z) takes two products. G's parts come from its
// trace t and from g and h; sum: a, 2 b, c and eight times the share of the area.
FN void curvature_add_face(curvature_vec a, curvature_vec b, float aa, float bb, curvature_vec da, curvature_vec db,
                           bool on, curvature_share *sum)
{
    const float ab = curvature_dot(a, b), t = aa + bb - ab;
    // fused: what is left of an edge's product with itself is far below 1e-6 t
    const curvature_vec f = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
    const float m2 = curvature_dot(f, f), im = curvature_reciprocal_root(m2), flat = t * 1e-6f;
    const curvature_vec n = curvature_times(im, f);
    float high = n.z + 1.0f;
    // upside down it is a difference: (n_x^2 + n_y^2) / (1 - n_z) has more digits
    if (n.z < 0.0f) high = (n.x * n.x + n.y * n.y) * curvature_reciprocal(1.0f - n.z);
    if (!(on && m2 > flat * flat && high > 1e-6f)) return;
    const float i = curvature_reciprocal(high), sx = n.x * i, sy = n.y * i;
    const float ha = fmaf(da.x, n.x, fmaf(da.y, n.y, da.z * high)), hb = fmaf(db.x, n.x, fmaf(db.y, n.y, db.z * high));
    const float ax = a.x - sx * a.z, ay = a.y - sy * a.z, bx = b.x - sx * b.z, by = b.y - sy * b.z;
    const float dax = da.x - sx * ha, day = da.y - sy * ha, dbx = db.x - sx * hb, dby = db.y - sy * hb;
    const float g = ax * (ax - bx) + bx * bx, h = ax * (ay - 0.5f * by) + bx * (by - 0.5f * ay);
    const float o = day * by - dby * ay, u = dbx * ax - dax * bx;
    // the share: Voronoi, or of an obtuse triangle
    const float d1 = aa - ab, d2 = bb - ab, both = bb * d1 + aa * d2;
    const bool at_a = d1 <= 0.0f, at_b = d2 <= 0.0f, here = ab <= 0.0f;
    const float numerator = at_a ? aa : at_b ? bb : both;
    const float denominator = at_a || at_b ? ab : here ? d1 * d2 : m2;
    const float part = numerator * curvature_reciprocal(denominator), share = here ? 4.0f - part : part;
    const float twist = share * (o - u) * curvature_reciprocal(t);
    sum->a = fmaf(share, dax * by - dbx * ay, fmaf(-twist, h, sum->a));
    sum->b = fmaf(share, o + u, fmaf(twist, 2.0f * g - t, sum->b));
    sum->c = fmaf(share, dby * ax - day * bx, fmaf(twist, h, sum->c));
    sum->w = fmaf(share, m2 * im, sum->w);
}

// POINTS: how points are fetched, curvature_points or another.
template <class POINTS, int AHEAD, int BLOCKS>
__global__ void __launch_bounds__(CURVATURE_WARPS * 32, BLOCKS)
    curvature_tensor(const modal_curvature_tensor_task task, const POINTS all, int n_tiles)
{
    __shared__ float stages[CURVATURE_WARPS][MODAL_TILE_FLOATS];
    const modal_curvature_surface &s = task.surface;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, tile = (int)blockIdx.x * CURVATURE_WARPS + warp;
    if (tile >= n_tiles) return;
    const int first = tile * MODAL_TILE, left = (int)s.n_vertices - first, v = first + (lane < left ? lane : left - 1);
    const int64_t begin = __ldg(s.ring_offsets + tile);
    const int rows = (int)(__ldg(s.ring_offsets + tile + 1) - begin);
    const int32_t *row = s.ring + begin * MODAL_TILE + lane;
    wait_for_previous(); // the normals; tables are older
    for (int64_t column = blockIdx.y; column < s.n_columns; column += gridDim.y) {
        const POINTS points = all.of(column, s.n_vertices);
        const curvature_place place(points.at(v), s.scale);
        curvature_share sum = {0.0f, 0.0f, 0.0f, 0.0f};
        curvature_vec a, da;
        float aa;
        curvature_walk<AHEAD>(
            row, rows, points, v, place,
            [&](curvature_vec b, curvature_vec db) { a = b, da = db, aa = curvature_dot(b, b); },
            [&](curvature_vec b, curvature_vec db, bool on) {
                const float bb = curvature_dot(b, b);
                curvature_add_face(a, b, aa, bb, da, db, on, &sum);
                a = b, da = db, aa = bb;
            });
        const float inverse = sum.w > 0.0f ? 1.0f / sum.w : 0.0f;
        const curvature_share mean = {sum.a * inverse, sum.b * inverse * 0.5f, sum.c * inverse, sum.w * 0.125f};
        const curvature_vec frame[3] = {place.n, place.p, place.q};
        curvature_give(task.output, column * s.n_vertices + first, left, frame, mean, s.scale, stages[warp]);
    }
}

} // namespace modal_cuda

extern "C" modal_status modal_curvature_tensor_cuda(const modal_curvature_tensor_task *task, modal_stream *stream,
                                                    modal_error *err)
{
    const int64_t n = task->surface.n_vertices, n_columns = task->surface.n_columns;
    if (n <= 0 || n_columns <= 0) return MODAL_OK;
    modal_cuda::curvature_tensor<modal_cuda::curvature_points, 2, 7>
        <<<modal_cuda::curvature_grid_2(n, n_columns), modal_cuda::CURVATURE_WARPS * 32, 0, (cudaStream_t)stream>>>(
            *task, {task->surface.positions, task->surface.normals}, (int)modal_tile_count(n));
    return modal_cuda_launched("curvature_tensor", err);
}
