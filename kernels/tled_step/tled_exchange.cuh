// SPDX-License-Identifier: Apache-2.0
// How blocks of one launch give one another their partial sums, without a barrier of the whole grid.
#ifndef MODAL_KERNELS_TLED_EXCHANGE_CUH
#define MODAL_KERNELS_TLED_EXCHANGE_CUH

#include "kernels/tled_step/tled_stress.cuh"

namespace modal_tled {

// Through the second-level cache: a sum is 16 bytes with the step's tag in the last four, written and read as one, so that
// whoever sees the tag sees the sum. (128-bit relaxed accesses are atomic from PTX 8.3 and compute capability 7.0 on.)
__device__ __forceinline__ void publish(Vector4<float> *sum, Vector3<float> f, uint32_t tag)
{
    asm volatile("{\n"
                 ".reg .b128 q; .reg .b64 low, high;\n"
                 "mov.b64 low, {%1, %2};\n"
                 "mov.b64 high, {%3, %4};\n"
                 "mov.b128 q, {low, high};\n"
                 "st.relaxed.gpu.global.b128 [%0], q;\n"
                 "}" ::"l"(sum), "f"(f.x), "f"(f.y), "f"(f.z), "r"(tag) : "memory");
}

__device__ __forceinline__ Vector4<float> wait_for(const Vector4<float> *sum, uint32_t tag)
{
    Vector4<float> f;
    uint32_t seen;
    do {
        asm volatile("{\n"
                     ".reg .b128 q; .reg .b64 low, high;\n"
                     "ld.relaxed.gpu.global.b128 q, [%4];\n"
                     "mov.b128 {low, high}, q;\n"
                     "mov.b64 {%0, %1}, low;\n"
                     "mov.b64 {%2, %3}, high;\n"
                     "}" : "=f"(f.x), "=f"(f.y), "=f"(f.z), "=r"(seen) : "l"(sum) : "memory");
    } while (seen != tag);
    f.w = 0;
    return f;
}

// 16 bytes into shared memory, both aligned, while the thread goes on; there for the thread after wait_for_copies, for others after a barrier, too.
__device__ __forceinline__ void copy_ahead(void *shared, const void *global)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(shared)), "l"(global) : "memory");
}

__device__ __forceinline__ void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// Within a cluster: straight into the other block's shared memory.
__device__ __forceinline__ uint32_t address_in(const void *shared, uint32_t rank)
{
    uint32_t address;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"((uint32_t)__cvta_generic_to_shared(shared)), "r"(rank));
    return address;
}

__device__ __forceinline__ void push(uint32_t address, Vector3<float> f)
{
    asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(f.x), "f"(f.y), "f"(f.z), "f"(0.f)
                 : "memory");
}

// Also a barrier of the block; what was pushed before it is there after it.
__device__ __forceinline__ void cluster_barrier()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\n"
                 "barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

} // namespace modal_tled

#endif
