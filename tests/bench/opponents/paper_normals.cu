// SPDX-License-Identifier: Apache-2.0
// Opponent: dynamic normals after section 4.2 of B. Wang and J. Barbic, CUDA Deformers for Model
// Reduction, MIG 2020: two stages (a kernel stores the area-weighted normal of each face, a second one
// adds those of a vertex's faces and normalises), and one stage (each vertex computes the normals of
// its faces itself). Positions and normals are four floats, as in the paper's buffers.
#include "kernels/cuda_check.cuh"
#include "tests/bench/opponents/opponents.h"

namespace {

__device__ __forceinline__ float3 face_normal(const float4 a, const float4 b, const float4 c)
{
    const float x1 = b.x - a.x, y1 = b.y - a.y, z1 = b.z - a.z;
    const float x2 = c.x - a.x, y2 = c.y - a.y, z2 = c.z - a.z;
    return make_float3(y1 * z2 - z1 * y2, z1 * x2 - x1 * z2, x1 * y2 - y1 * x2);
}

__device__ __forceinline__ float3 of_triangle(const int32_t *__restrict__ triangles,
                                              const float4 *__restrict__ x, int64_t t)
{
    return face_normal(__ldg(x + triangles[3 * t]), __ldg(x + triangles[3 * t + 1]),
                       __ldg(x + triangles[3 * t + 2]));
}

__device__ __forceinline__ float4 normalized(float3 n)
{
    const float square = n.x * n.x + n.y * n.y + n.z * n.z;
    const float scale = square > 0.0f ? rsqrtf(square) : 0.0f;
    return make_float4(n.x * scale, n.y * scale, n.z * scale, 0.0f);
}

__global__ void faces_of_mesh(const paper_mesh m, const float4 *__restrict__ x,
                              float4 *__restrict__ face_normals)
{
    const int64_t t = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= m.n_triangles) return;
    const float3 n = of_triangle(m.triangles, x, t);
    face_normals[t] = make_float4(n.x, n.y, n.z, 0.0f);
}

__global__ void sum_of_faces(const paper_mesh m, const float4 *__restrict__ face_normals,
                             float4 *__restrict__ normals)
{
    const int64_t v = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= m.n_vertices) return;
    float3 sum = make_float3(0.0f, 0.0f, 0.0f);
    for (int32_t i = m.face_offsets[v], end = m.face_offsets[v + 1]; i < end; i++) {
        const float4 n = __ldg(face_normals + m.faces[i]);
        sum.x += n.x, sum.y += n.y, sum.z += n.z;
    }
    normals[v] = normalized(sum);
}

__global__ void one_stage(const paper_mesh m, const float4 *__restrict__ x,
                          float4 *__restrict__ normals)
{
    const int64_t v = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= m.n_vertices) return;
    float3 sum = make_float3(0.0f, 0.0f, 0.0f);
    for (int32_t i = m.face_offsets[v], end = m.face_offsets[v + 1]; i < end; i++) {
        const float3 n = of_triangle(m.triangles, x, m.faces[i]);
        sum.x += n.x, sum.y += n.y, sum.z += n.z;
    }
    normals[v] = normalized(sum);
}

unsigned blocks(int64_t count) { return (unsigned)((count + 255) / 256); }

} // namespace

extern "C" modal_status paper_normals_one_stage(const paper_mesh *mesh, const float *x,
                                                float *normals, modal_stream *stream,
                                                modal_error *err)
{
    one_stage<<<blocks(mesh->n_vertices), 256, 0, (cudaStream_t)stream>>>(
        *mesh, reinterpret_cast<const float4 *>(x), reinterpret_cast<float4 *>(normals));
    return modal_cuda_launched("paper 4.2, one stage", err);
}

extern "C" modal_status paper_normals_two_stages(const paper_mesh *mesh, const float *x,
                                                 float *face_normals, float *normals,
                                                 modal_stream *stream, modal_error *err)
{
    faces_of_mesh<<<blocks(mesh->n_triangles), 256, 0, (cudaStream_t)stream>>>(
        *mesh, reinterpret_cast<const float4 *>(x), reinterpret_cast<float4 *>(face_normals));
    const modal_status status = modal_cuda_launched("paper 4.2, faces", err);
    if (status != MODAL_OK) return status;
    sum_of_faces<<<blocks(mesh->n_vertices), 256, 0, (cudaStream_t)stream>>>(
        *mesh, reinterpret_cast<const float4 *>(face_normals), reinterpret_cast<float4 *>(normals));
    return modal_cuda_launched("paper 4.2, vertices", err);
}
