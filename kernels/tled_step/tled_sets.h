/* SPDX-License-Identifier: Apache-2.0 */
/* One set of instructions and one arithmetic; ends what chose it. No include guard. */
#include "kernels/tled_step/tled_simd.h"

#include "kernels/tled_step/tled_nodes.h"

#undef LANES
#undef TARGET
#undef NAME
