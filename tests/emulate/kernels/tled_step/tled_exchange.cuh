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

inline void give_mark(uint32_t *mark, uint32_t value) { *mark = value; }

inline void wait_for_mark(const uint32_t *mark, uint32_t value)
{
    while ((int32_t)(*mark - value) < 0) emulated_poll();
}

inline void give_peer_mark(uint32_t *mark, uint32_t value) { give_mark(mark, value); }
inline void wait_for_peer_mark(const uint32_t *mark, uint32_t value) { wait_for_mark(mark, value); }

// Offset in the shared memory of a block, and which block, in the highest eight bits.
inline uint32_t address_in(const void *shared, uint32_t rank) { return (uint32_t)((const char *)shared - (const char *)emulated.shared) | rank << 24; }

inline void *at_address(uint32_t address) { return (char *)emulated_shared_of(address >> 24) + (address & 0xffffff); }

// A counter: the bytes that are to come, 1 << 32 where they are known, the turn above.
inline void count_bytes(uint64_t *counter, int bytes)
{
    const uint32_t left = (uint32_t)*counter + (uint32_t)bytes;
    *counter = *counter >> 32 << 32 | left;
    if (left == 0 && *counter >> 32 & 1) *counter += 1ull << 32; // known no more, and the next turn
}

inline void push(uint32_t address, Vector3<float> f, uint32_t counter)
{
    *(Vector4<float> *)at_address(address) = {f.x, f.y, f.z, 0};
    count_bytes((uint64_t *)at_address(counter), -16);
}

inline void new_counter(uint64_t *counter) { *counter = 0; }

inline void expect_bytes(uint64_t *counter, int bytes)
{
    *counter |= 1ull << 32;
    count_bytes(counter, bytes);
}

inline void wait_for_bytes(uint64_t *counter, uint32_t turn)
{
    while ((*counter >> 33 & 1) == (turn & 1)) emulated_poll();
}

inline void cluster_barrier() { emulated_grid(); } // a cluster is a launch

} // namespace modal_tled

#endif
