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

// Between launches that overlap, by patch: what a block has written before one of its threads gives the mark, after a barrier, is there for
// whoever has seen it, and after a barrier for that one's block. Marks only rise; where their 32 bits are over they begin again.
__device__ __forceinline__ void give_mark(uint32_t *mark, uint32_t value)
{
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(mark), "r"(value) : "memory");
}

__device__ __forceinline__ void wait_for_mark(const uint32_t *mark, uint32_t value)
{
    uint32_t seen;
    for (;;) {
        asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(mark) : "memory");
        if ((int32_t)(seen - value) >= 0) break;
        asm volatile("nanosleep.u32 20;");
    }
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

// The same between devices, a mark in another one's memory.
__device__ __forceinline__ void give_peer_mark(uint32_t *mark, uint32_t value)
{
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(mark), "r"(value) : "memory");
}

__device__ __forceinline__ uint64_t nanoseconds()
{
    uint64_t t;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
    return t;
}

// A device that is lost gives no mark: then this launch fails, so that who waits for it is told.
__device__ __forceinline__ void wait_for_peer_mark(const uint32_t *mark, uint32_t value)
{
    constexpr uint64_t LONGEST = 60000000000; // ns
    const uint64_t begun = nanoseconds();
    uint32_t seen;
    for (;;) {
        asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(mark) : "memory");
        if ((int32_t)(seen - value) >= 0) break;
        if (nanoseconds() - begun > LONGEST) __trap();
        asm volatile("nanosleep.u32 20;");
    }
    asm volatile("fence.acq_rel.sys;" ::: "memory");
}

// Within a cluster: straight into the other block's shared memory.
__device__ __forceinline__ uint32_t address_in(const void *shared, uint32_t rank)
{
    uint32_t address;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"((uint32_t)__cvta_generic_to_shared(shared)), "r"(rank));
    return address;
}

// 16 bytes; counter: one of that block.
__device__ __forceinline__ void push(uint32_t address, Vector3<float> f, uint32_t counter)
{
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(address),
                 "f"(f.x), "f"(f.y), "f"(f.z), "f"(0.f), "r"(counter) : "memory");
}

// A counter, in shared memory, of the bytes that come by `push`. Each turn one thread says once how many will come, before or after they do;
// what was pushed is there for whoever has waited for the turn, known by its number's lowest bit. new_counter: by one thread, before
// cluster_barrier.
__device__ __forceinline__ void new_counter(uint64_t *counter)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n"
                 "fence.mbarrier_init.release.cluster;" ::"r"((uint32_t)__cvta_generic_to_shared(counter)) : "memory");
}

__device__ __forceinline__ void expect_bytes(uint64_t *counter, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"((uint32_t)__cvta_generic_to_shared(counter)), "r"(bytes)
                 : "memory");
}

__device__ __forceinline__ void wait_for_bytes(uint64_t *counter, uint32_t turn)
{
    uint32_t done;
    do {
        asm volatile("{\n"
                     ".reg .pred p;\n"
                     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;\n"
                     "}" : "=r"(done) : "r"((uint32_t)__cvta_generic_to_shared(counter)), "r"(turn & 1) : "memory");
    } while (!done);
}

// Also a barrier of the block.
__device__ __forceinline__ void cluster_barrier()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\n"
                 "barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

} // namespace modal_tled

#endif
