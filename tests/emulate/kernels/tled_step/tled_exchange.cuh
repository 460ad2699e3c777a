// SPDX-License-Identifier: Apache-2.0
// Instead of the header of this name, which is a GPU's instructions.
#ifndef MODAL_KERNELS_TLED_EXCHANGE_CUH
#define MODAL_KERNELS_TLED_EXCHANGE_CUH

#include "kernels/tled_step/tled_stress.cuh"

namespace modal_tled {

inline void publish(Vector4<float> *sum, Vector3<float> f, uint32_t tag) { *sum = {f.x, f.y, f.z, __uint_as_float(tag)}; }

inline Vector4<float> wait_for(const Vector4<float> *sum, uint32_t tag)
{
    while (__float_as_uint(sum->w) != tag) emulated_poll();
    return {sum->x, sum->y, sum->z, 0};
}

inline void copy_ahead(void *shared, const void *global) { __builtin_memcpy(shared, global, 16); }
inline void wait_for_copies() {}

// Offset in the shared memory of a block, and which block, in the highest eight bits.
inline uint32_t address_in(const void *shared, uint32_t rank) { return (uint32_t)((const char *)shared - (const char *)emulated.shared) | rank << 24; }

inline void push(uint32_t address, Vector3<float> f)
{
    *(Vector4<float> *)((char *)emulated_shared_of(address >> 24) + (address & 0xffffff)) = {f.x, f.y, f.z, 0};
}

inline void cluster_barrier() { emulated_grid(); } // a cluster is a launch

} // namespace modal_tled

#endif
