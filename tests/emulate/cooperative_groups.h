// SPDX-License-Identifier: Apache-2.0
// Instead of CUDA's header of this name, see cuda_runtime.h here.
#ifndef MODAL_TESTS_EMULATE_COOPERATIVE_GROUPS_H
#define MODAL_TESTS_EMULATE_COOPERATIVE_GROUPS_H

#include <cuda_runtime.h>

namespace cooperative_groups {
struct grid_group {
    void sync() const { emulated_grid(); }
    unsigned long long thread_rank() const { return (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; }
};
inline grid_group this_grid() { return {}; }
} // namespace cooperative_groups

#endif
