// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/opponents/octree_opponents.h"

#include <new>

#include "kernels/cuda_check.cuh"
#include "tests/bench/opponents/octree_mix.h"

namespace {

constexpr int THREADS = 256;

unsigned blocks_of(int64_t n)
{
    const int64_t blocks = (n + THREADS - 1) / THREADS;
    return (unsigned)(blocks < INT32_MAX ? blocks : INT32_MAX);
}

template <bool TREE> __device__ __forceinline__ uint32_t corner_of(const octree_plain &plain, uint32_t x, uint32_t y, uint32_t z)
{
    if (!TREE) return __ldg(plain.lattice + ((((uint64_t)z << plain.bits) + y) << plain.bits) + x);
    uint32_t at = 0;
    for (int level = plain.bits - 1; level >= 0; level--)
        at = __ldg(plain.cells + 8 * (uint64_t)at + (x >> level & 1) + 2 * (y >> level & 1) + 4 * (z >> level & 1));
    return at;
}

template <bool TREE, bool RGBA> __global__ void __launch_bounds__(THREADS) look_up(octree_plain plain, octree_points p)
{
    for (int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x; i < p.n; i += (int64_t)gridDim.x * THREADS) {
        const float at[3] = {__ldg(p.points + 3 * i), __ldg(p.points + 3 * i + 1), __ldg(p.points + 3 * i + 2)};
        const uint32_t c[3] = {(uint32_t)at[0], (uint32_t)at[1], (uint32_t)at[2]};
        const float f[3] = {at[0] - (float)c[0], at[1] - (float)c[1], at[2] - (float)c[2]};
        uint32_t corner[8];
#pragma unroll
        for (uint32_t k = 0; k < 8; k++) corner[k] = corner_of<TREE>(plain, c[0] + (k & 1), c[1] + (k >> 1 & 1), c[2] + (k >> 2));
        ((uint32_t *)p.values)[i] = octree_mix_bits(RGBA, corner, f);
    }
}

template <bool RGBA> __global__ void __launch_bounds__(THREADS) fetch(cudaTextureObject_t texture, octree_points p)
{
    for (int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x; i < p.n; i += (int64_t)gridDim.x * THREADS) {
        const float x = __ldg(p.points + 3 * i) + 0.5f, y = __ldg(p.points + 3 * i + 1) + 0.5f, z = __ldg(p.points + 3 * i + 2) + 0.5f;
        if (RGBA) {
            const float4 v = tex3D<float4>(texture, x, y, z);
            ((uint32_t *)p.values)[i] = __float2uint_rn(255 * v.x) | __float2uint_rn(255 * v.y) << 8 | __float2uint_rn(255 * v.z) << 16 |
                                        __float2uint_rn(255 * v.w) << 24;
        } else {
            ((float *)p.values)[i] = tex3D<float>(texture, x, y, z);
        }
    }
}

} // namespace

struct octree_texture {
    cudaArray_t array;
    cudaTextureObject_t object;
};

extern "C" modal_status octree_plain_cuda(const octree_plain *plain, const octree_points *p, modal_stream *stream, modal_error *err)
{
    const unsigned blocks = blocks_of(p->n);
    const cudaStream_t s = (cudaStream_t)stream;
    const bool rgba = p->channels == MODAL_OCTREE_RGBA8;
    if (plain->cells && rgba) look_up<true, true><<<blocks, THREADS, 0, s>>>(*plain, *p);
    else if (plain->cells) look_up<true, false><<<blocks, THREADS, 0, s>>>(*plain, *p);
    else if (rgba) look_up<false, true><<<blocks, THREADS, 0, s>>>(*plain, *p);
    else look_up<false, false><<<blocks, THREADS, 0, s>>>(*plain, *p);
    return modal_cuda_launched("look-ups of an opponent", err);
}

extern "C" octree_texture *octree_texture_delete(octree_texture *texture)
{
    if (!texture) return nullptr;
    if (texture->object) cudaDestroyTextureObject(texture->object);
    if (texture->array) cudaFreeArray(texture->array);
    delete texture;
    return nullptr;
}

extern "C" modal_status octree_texture_new(octree_texture **texture, int bits, modal_octree_channels channels, const uint32_t *lattice,
                                           modal_error *err)
{
    const bool rgba = channels == MODAL_OCTREE_RGBA8;
    const size_t side = (size_t)1 << bits;
    const cudaExtent extent = make_cudaExtent(side, side, side);
    const cudaChannelFormatDesc format = rgba ? cudaCreateChannelDesc<uchar4>() : cudaCreateChannelDesc<float>();
    cudaMemcpy3DParms copy = {};
    cudaResourceDesc resource = {};
    cudaTextureDesc look = {};
    modal_status status = MODAL_OK;
    octree_texture *t = *texture = new (std::nothrow) octree_texture();
    if (!t) return modal_error_set(err, MODAL_ERROR_MEMORY, "a 3D texture");
    status = modal_cuda_status(cudaMalloc3DArray(&t->array, &format, extent), "3D texture", err);
    if (status == MODAL_OK) {
        copy.srcPtr = make_cudaPitchedPtr((void *)lattice, 4 * side, side, side);
        copy.dstArray = t->array;
        copy.extent = extent;
        copy.kind = cudaMemcpyHostToDevice;
        status = modal_cuda_status(cudaMemcpy3D(&copy), "3D texture", err);
    }
    if (status == MODAL_OK) {
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = t->array;
        look.addressMode[0] = look.addressMode[1] = look.addressMode[2] = cudaAddressModeClamp;
        look.filterMode = cudaFilterModeLinear;
        look.readMode = rgba ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
        status = modal_cuda_status(cudaCreateTextureObject(&t->object, &resource, &look, nullptr), "3D texture", err);
    }
    if (status != MODAL_OK) *texture = octree_texture_delete(t);
    return status;
}

extern "C" modal_status octree_texture_cuda(const octree_texture *texture, const octree_points *p, modal_stream *stream, modal_error *err)
{
    if (p->channels == MODAL_OCTREE_RGBA8) fetch<true><<<blocks_of(p->n), THREADS, 0, (cudaStream_t)stream>>>(texture->object, *p);
    else fetch<false><<<blocks_of(p->n), THREADS, 0, (cudaStream_t)stream>>>(texture->object, *p);
    return modal_cuda_launched("look-ups of a 3D texture", err);
}
