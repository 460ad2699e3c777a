/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/finite.h"

#include <string.h>

enum { BLOCK = 1024 };

/* The exponent of a float that is not finite has all its bits: one more carries into the sign's place. */
static inline uint32_t carry(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits & 0x7f800000u) + 0x00800000u;
}

int64_t modal_first_nonfinite(const float *values, int64_t n)
{
    for (int64_t begin = 0; begin < n; begin += BLOCK) {
        const int64_t end = n - begin < BLOCK ? n : begin + BLOCK;
        uint32_t carries = 0;
        for (int64_t i = begin; i < end; i++) carries |= carry(values[i]);
        for (int64_t i = begin; carries >> 31 && i < end; i++)
            if (carry(values[i]) >> 31) return i;
    }
    return n;
}
