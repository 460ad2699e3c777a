// SPDX-License-Identifier: Apache-2.0
// Instead of the header of this name, whose floats are a GPU's instructions.
#ifndef MODAL_KERNELS_TLED_APPROXIMATE_CUH
#define MODAL_KERNELS_TLED_APPROXIMATE_CUH

namespace modal_tled {

inline float inverse(float x) { return 1 / x; }
inline float power_minus_two_thirds(float x) { return exp2f(-2.0f / 3 * log2f(x)); }

} // namespace modal_tled

#endif
