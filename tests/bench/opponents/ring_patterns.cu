// SPDX-License-Identifier: Apache-2.0
// The arithmetic of a triangle at its vertex, and of normals, is that of our kernels; what differs is who reads what.
#include "kernels/curvature_tensor/curvature_walk.cuh"
#include "kernels/normals_corner/corner_sum.cuh"
#include "tests/bench/opponents/ring_patterns.h"

namespace modal_cuda {

constexpr int PATTERN_THREADS = 128, PATTERN_WARPS = PATTERN_THREADS / 32;

FN curvature_vec scaled_edge(curvature_vec x, curvature_vec own, float scale)
{
    return curvature_times(scale, curvature_minus(x, own));
}

// sum: a, 2 b, c and eight times the share, as curvature_add_face leaves them
FN void give_sum(const ring_patterns &p, int64_t column, int64_t first, curvature_vec n, curvature_share sum, float *stage)
{
    const float inverse = sum.w > 0.0f ? 1.0f / sum.w : 0.0f;
    const curvature_share mean = {sum.a * inverse, sum.b * inverse * 0.5f, sum.c * inverse, sum.w * 0.125f};
    curvature_vec frame[3] = {n, {}, {}};
    curvature_frame(n, &frame[1], &frame[2]);
    curvature_give(p.output, column * p.n_vertices + first, p.n_vertices - first, frame, mean, p.scale, stage);
}

// ---- faces ----

template <bool VECTORS> FN void add_to(float4 *to, float4 v)
{
#if __CUDA_ARCH__ >= 900
    if (VECTORS) {
        atomicAdd(to, v);
        return;
    }
#endif
    float *f = (float *)to;
    atomicAdd(f, v.x), atomicAdd(f + 1, v.y), atomicAdd(f + 2, v.z);
    if (v.w != 0.0f) atomicAdd(f + 3, v.w);
}

FN void load_face(const ring_patterns &p, int64_t t, int32_t (&v)[3], curvature_vec (&x)[3])
{
#pragma unroll
    for (int k = 0; k < 3; k++) v[k] = __ldg(p.triangles + 3 * t + k), x[k] = curvature_point_of(p.positions, v[k]);
}

template <bool VECTORS> __global__ void scatter_normals(const ring_patterns p)
{
    const int64_t t = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int32_t v[3];
    curvature_vec x[3], e[3];
    float square[3];
    if (t >= p.n_triangles) return;
    load_face(p, t, v, x);
#pragma unroll
    for (int k = 0; k < 3; k++) e[k] = scaled_edge(x[(k + 1) % 3], x[k], p.scale), square[k] = curvature_dot(e[k], e[k]);
    const curvature_vec c = curvature_cross(e[0], e[1]);
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const float product = square[k] * square[(k + 2) % 3], w = product > 0.0f ? curvature_reciprocal(product) : 0.0f;
        add_to<VECTORS>((float4 *)p.normals + v[k], make_float4(w * c.x, w * c.y, w * c.z, 0.0f));
    }
}

__global__ void unit_normals(const ring_patterns p)
{
    const int64_t v = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= p.n_vertices) return;
    float4 *at = (float4 *)p.normals + v;
    const curvature_vec n = {at->x, at->y, at->z};
    const float square = curvature_dot(n, n), inverse = square > 0.0f ? rsqrtf(square) : 0.0f;
    *at = make_float4(n.x * inverse, n.y * inverse, n.z * inverse, 0.0f);
}

enum { TO_MEMORY, TO_FLOATS, TO_VECTORS };

// A triangle's tensor once, in its own plane (e, h), then turned into the frame of each corner's vertex.
template <int TO> __global__ void face_tensors(const ring_patterns p)
{
    const int64_t t = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int32_t v[3];
    curvature_vec x[3], y[3];
    if (t >= p.n_triangles) return;
    load_face(p, t, v, x);
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const float *n = p.normals + (TO == TO_MEMORY ? 3 : 4) * (int64_t)v[k];
        y[k] = {__ldg(n), __ldg(n + 1), __ldg(n + 2)};
    }
    const curvature_vec a = scaled_edge(x[1], x[0], p.scale), b = scaled_edge(x[2], x[0], p.scale);
    const curvature_vec da = curvature_minus(y[1], y[0]), db = curvature_minus(y[2], y[0]), f = curvature_cross(a, b);
    const float aa = curvature_dot(a, a), bb = curvature_dot(b, b), ab = curvature_dot(a, b), cc = aa + bb - 2.0f * ab;
    const float m2 = curvature_dot(f, f), trace = aa + bb - ab;
    const bool wide = m2 > trace * trace * 1e-12f;
    const float im = wide ? curvature_reciprocal_root(m2) : 0.0f, m = m2 * im, il = wide ? curvature_reciprocal_root(aa) : 0.0f;
    const curvature_vec n = curvature_times(im, f), e = curvature_times(il, a), h = curvature_cross(n, e);
    const curvature_plane s = curvature_fit_edges(aa * il, 0.0f, ab * il, m * il, curvature_dot(da, e), curvature_dot(da, h),
                                                  curvature_dot(db, e), curvature_dot(db, h));
    const float twist = wide ? s.twist / trace : 0.0f, A = s.a - twist * s.h, B = s.b + twist * (s.g - s.k) * 0.5f;
    const float C = s.c + twist * s.h;
    const float sides[3][3] = {{aa, bb, ab}, {cc, aa, aa - ab}, {bb, cc, bb - ab}}; // squares beside a corner, their product
#pragma unroll
    for (int k = 0; k < 3; k++) {
        curvature_vec P, Q;
        float u, w, num, den;
        curvature_frame(y[k], &P, &Q);
        const float c = curvature_dot(y[k], n) + 1.0f;
        const bool use = wide && c > 1e-6f;
        curvature_turn_axes(y[k], P, n, e, h, &u, &w);
        curvature_corner_share(sides[k][0], sides[k][1], sides[k][2], m2, &num, &den);
        const float share = use ? 4.0f * num / den : 0.0f; // eight times the share over m; the tensor is (A, B, C) / m
        const float uu = u * u, ww = w * w, uw = u * w;
        float4 r = make_float4(share * (A * uu + 2.0f * B * uw + C * ww), 2.0f * share * (B * (uu - ww) + uw * (C - A)),
                               share * (A * ww - 2.0f * B * uw + C * uu), share * m);
        if (!use) r = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (TO == TO_MEMORY)
            ((float4 *)p.parts)[3 * t + k] = r;
        else
            add_to<TO == TO_VECTORS>((float4 *)p.parts + v[k], r);
    }
}

template <bool GATHER> __global__ void __launch_bounds__(PATTERN_THREADS) finish_faces(const ring_patterns p)
{
    __shared__ float stages[PATTERN_WARPS][MODAL_TILE_FLOATS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t first = ((int64_t)blockIdx.x * PATTERN_WARPS + warp) * 32;
    if (first >= p.n_vertices) return;
    const int64_t v = first + lane < p.n_vertices ? first + lane : p.n_vertices - 1;
    const float *n = p.normals + (GATHER ? 3 : 4) * v;
    curvature_share sum = {0.0f, 0.0f, 0.0f, 0.0f};
    const int64_t begin = GATHER ? __ldg(p.offsets + v) : v, end = GATHER ? __ldg(p.offsets + v + 1) : v + 1;
    for (int64_t k = begin; k < end; k++) {
        const float4 r = __ldg((const float4 *)p.parts + (GATHER ? __ldg(p.slots + k) : k));
        sum.a += r.x, sum.b += r.y, sum.c += r.z, sum.w += r.w;
    }
    give_sum(p, 0, first, {__ldg(n), __ldg(n + 1), __ldg(n + 2)}, sum, stages[warp]);
}

// ---- corners of a vertex, both neighbours of each ----

__global__ void __launch_bounds__(PATTERN_THREADS) corner_normals(const ring_patterns p)
{
    const int64_t v = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= p.n_vertices) return;
    for (int64_t column = blockIdx.y; column < p.n_columns; column += gridDim.y) {
        const float *x = p.positions + 3 * column * p.n_vertices;
        const curvature_vec own = curvature_point_of(x, (int32_t)v);
        normals_sum sum;
        for (int64_t k = __ldg(p.offsets + v), end = __ldg(p.offsets + v + 1); k < end; k++) {
            const int2 pair = __ldg((const int2 *)p.corners + k);
            const curvature_vec e = scaled_edge(curvature_point_of(x, pair.x), own, p.scale);
            const curvature_vec f = scaled_edge(curvature_point_of(x, pair.y), own, p.scale);
            sum.add(e, f, curvature_dot(e, e) * curvature_dot(f, f), true);
        }
        const curvature_vec n = sum.normal();
        float *to = p.normals + 3 * (column * p.n_vertices + v);
        to[0] = n.x, to[1] = n.y, to[2] = n.z;
    }
}

__global__ void __launch_bounds__(PATTERN_THREADS) corner_tensors(const ring_patterns p)
{
    __shared__ float stages[PATTERN_WARPS][MODAL_TILE_FLOATS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t first = ((int64_t)blockIdx.x * PATTERN_WARPS + warp) * 32;
    if (first >= p.n_vertices) return;
    const int32_t v = (int32_t)(first + lane < p.n_vertices ? first + lane : p.n_vertices - 1);
    for (int64_t column = blockIdx.y; column < p.n_columns; column += gridDim.y) {
        const curvature_points points = curvature_points{p.positions, p.normals}.of(column, p.n_vertices);
        const curvature_place place(points.at(v), p.scale);
        curvature_share sum = {0.0f, 0.0f, 0.0f, 0.0f};
        for (int64_t k = __ldg(p.offsets + v), end = __ldg(p.offsets + v + 1); k < end; k++) {
            const int2 pair = __ldg((const int2 *)p.corners + k);
            const curvature_point_normal one = points.at(pair.x), two = points.at(pair.y);
            const curvature_vec a = place.edge(one.x), b = place.edge(two.x);
            curvature_add_face(a, b, curvature_dot(a, a), curvature_dot(b, b), place.change(one.n), place.change(two.n),
                               true, &sum);
        }
        give_sum(p, column, first, place.normal(), sum, stages[warp]);
    }
}

// ---- blocks in shared memory ----

struct shared_points {
    const float4 *positions, *normals;

    FN curvature_vec x(int i) const
    {
        const float4 a = positions[i];
        return {a.x, a.y, a.z};
    }
    FN curvature_point_normal at(int i) const
    {
        const float4 a = normals[i];
        return {x(i), {a.x, a.y, a.z}};
    }
};

FN curvature_vec shared_normal(const uint16_t *row, int rows, const shared_points &all, int own, float scale)
{
    const curvature_vec at = all.x(own);
    curvature_vec e = {0.0f, 0.0f, 0.0f};
    float ee = 0.0f;
    normals_sum sum;
    for (int r = 0; r < rows; r++, row += 32) {
        const int entry = __ldg(row);
        const curvature_vec f = scaled_edge(all.x(entry & ~RING_BLOCK_FAN), at, scale);
        const float ff = curvature_dot(f, f);
        sum.add(e, f, ee * ff, !(entry & RING_BLOCK_FAN));
        e = f, ee = ff;
    }
    return sum.normal();
}

__global__ void block_tensors(const ring_patterns p)
{
    extern __shared__ float4 memory[];
    const ring_block b = p.blocks[blockIdx.x];
    const int lane = threadIdx.x % 32;
    float4 *x = memory, *normals = memory + b.n_all;
    float *stage = (float *)(normals + b.n_near) + threadIdx.x / 32 * MODAL_TILE_FLOATS;
    const shared_points all = {x, normals};
    for (int64_t column = blockIdx.y; column < p.n_columns; column += gridDim.y) {
        const float *from = p.positions + 3 * column * p.n_vertices;
        __syncthreads();
        for (int i = threadIdx.x; i < b.n_all; i += blockDim.x) {
            const curvature_vec a = curvature_point_of(from, i < b.n_own ? b.first + i : __ldg(p.halo + b.halo + i - b.n_own));
            x[i] = make_float4(a.x, a.y, a.z, 0.0f);
        }
        __syncthreads();
        for (int i = threadIdx.x; i < b.n_near; i += blockDim.x) {
            const int begin = __ldg(p.rows + b.group + i / 32), rows = __ldg(p.rows + b.group + i / 32 + 1) - begin;
            const curvature_vec n = shared_normal(p.block_ring + (int64_t)begin * 32 + lane, rows, all, i, p.scale);
            normals[i] = make_float4(n.x, n.y, n.z, 0.0f);
        }
        __syncthreads();
        const int own = min((int)threadIdx.x, b.n_own - 1), first = (int)threadIdx.x - lane;
        if (first >= b.n_own) continue;
        const int begin = __ldg(p.rows + b.group + first / 32), rows = __ldg(p.rows + b.group + first / 32 + 1) - begin;
        // lanes past its own go with the last: a neighbour's ring would read normals that the block has not got
        const uint16_t *row = p.block_ring + (int64_t)begin * 32 + (own - first);
        const curvature_place place(all.at(own), p.scale);
        curvature_share sum = {0.0f, 0.0f, 0.0f, 0.0f};
        curvature_vec a = {0.0f, 0.0f, 0.0f}, da = a;
        float aa = 0.0f;
        for (int r = 0; r < rows; r++, row += 32) {
            const int entry = __ldg(row);
            const curvature_point_normal next = all.at(entry & ~RING_BLOCK_FAN);
            const curvature_vec to = place.edge(next.x), change = place.change(next.n);
            const float bb = curvature_dot(to, to);
            curvature_add_face(a, to, aa, bb, da, change, !(entry & RING_BLOCK_FAN), &sum);
            a = to, da = change, aa = bb;
        }
        // blocks are whole tiles but for the last one
        give_sum(p, column, b.first + first, place.normal(), sum, stage);
    }
}

} // namespace modal_cuda

using namespace modal_cuda;

static unsigned blocks_of(int64_t count, int threads) { return (unsigned)((count + threads - 1) / threads); }

extern "C" modal_status ring_scatter(const ring_patterns *p, int vectors, modal_stream *stream, modal_error *err)
{
    const cudaStream_t s = (cudaStream_t)stream;
    const unsigned faces = blocks_of(p->n_triangles, 256);
    modal_status status = modal_cuda_status(cudaMemsetAsync(p->normals, 0, 16 * (size_t)p->n_vertices, s), "scatter", err);
    if (status != MODAL_OK) return status;
    status = modal_cuda_status(cudaMemsetAsync(p->parts, 0, 16 * (size_t)p->n_vertices, s), "scatter", err);
    if (status != MODAL_OK) return status;
    if (vectors)
        scatter_normals<true><<<faces, 256, 0, s>>>(*p);
    else
        scatter_normals<false><<<faces, 256, 0, s>>>(*p);
    unit_normals<<<blocks_of(p->n_vertices, 256), 256, 0, s>>>(*p);
    if (vectors)
        face_tensors<TO_VECTORS><<<faces, 256, 0, s>>>(*p);
    else
        face_tensors<TO_FLOATS><<<faces, 256, 0, s>>>(*p);
    finish_faces<false><<<blocks_of(p->n_vertices, PATTERN_THREADS), PATTERN_THREADS, 0, s>>>(*p);
    return modal_cuda_launched("scatter", err);
}

extern "C" modal_status ring_faces(const ring_patterns *p, modal_stream *stream, modal_error *err)
{
    face_tensors<TO_MEMORY><<<blocks_of(p->n_triangles, 256), 256, 0, (cudaStream_t)stream>>>(*p);
    finish_faces<true><<<blocks_of(p->n_vertices, PATTERN_THREADS), PATTERN_THREADS, 0, (cudaStream_t)stream>>>(*p);
    return modal_cuda_launched("faces, gather", err);
}

extern "C" modal_status ring_corners(const ring_patterns *p, modal_stream *stream, modal_error *err)
{
    const dim3 grid(blocks_of(p->n_vertices, PATTERN_THREADS), (unsigned)p->n_columns);
    corner_normals<<<grid, PATTERN_THREADS, 0, (cudaStream_t)stream>>>(*p);
    corner_tensors<<<grid, PATTERN_THREADS, 0, (cudaStream_t)stream>>>(*p);
    return modal_cuda_launched("corners", err);
}

extern "C" modal_status ring_shared(const ring_patterns *p, modal_stream *stream, modal_error *err)
{
    const modal_status status = modal_cuda_status(
        cudaFuncSetAttribute(block_tensors, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)p->shared_bytes), "blocks", err);
    if (status != MODAL_OK) return status;
    block_tensors<<<dim3((unsigned)p->n_blocks, (unsigned)p->n_columns), (unsigned)p->block_size, (size_t)p->shared_bytes,
                    (cudaStream_t)stream>>>(*p);
    return modal_cuda_launched("blocks", err);
}
