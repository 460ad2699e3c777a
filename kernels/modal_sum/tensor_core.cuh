// SPDX-License-Identifier: Apache-2.0
// The instructions that CUDA C++ has no name for: split TF32 products and copies to shared memory
// that run on their own (PTX ISA, sections on mma.sync and cp.async).
#ifndef MODAL_KERNELS_TENSOR_CORE_CUH
#define MODAL_KERNELS_TENSOR_CORE_CUH

#include <cstddef>
#include <cstdint>

namespace modal_cuda {

// x = high + low: high is x rounded to 11 significant bits, low (exact) keeps the other 12 or 13, of
// which the tensor cores take 11.
__device__ __forceinline__ void split(float x, uint32_t &high, uint32_t &low)
{
    high = (__float_as_uint(x) + 0x1000u) & 0xffffe000u;
    low = __float_as_uint(x - __uint_as_float(high));
}

// c += a b, 16 x 8 x 8
__device__ __forceinline__ void multiply_tf32(float (&c)[4], const uint32_t (&a)[4], float b0,
                                              float b1)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                 "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(__float_as_uint(b0)),
                   "r"(__float_as_uint(b1)));
}

__device__ __forceinline__ uint32_t shared_address(const void *pointer)
{
    return (uint32_t)__cvta_generic_to_shared(pointer);
}

__device__ __forceinline__ float4 load_shared(uint32_t address)
{
    float4 v;
    asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "r"(address));
    return v;
}

__device__ __forceinline__ float load_shared_4(uint32_t address)
{
    float v;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(address));
    return v;
}

__device__ __forceinline__ void store_shared(uint32_t address, const float4 &v)
{
    asm volatile("st.shared.v4.f32 [%0], {%1,%2,%3,%4};" ::"r"(address), "f"(v.x), "f"(v.y),
                 "f"(v.z), "f"(v.w)
                 : "memory");
}

// Start to copy 16 bytes, or 4, from global to shared memory.
__device__ __forceinline__ void copy_async_16(uint32_t to, const float *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ __forceinline__ void copy_async_4(uint32_t to, const float *from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
}

// Ends a group of this thread's copies; waits until all but the newest N groups are there.
__device__ __forceinline__ void copy_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void copy_async_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

__device__ __forceinline__ float component(const float4 &v, int i)
{
    return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

} // namespace modal_cuda

#endif
