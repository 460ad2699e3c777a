/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/sort.h"

#include <string.h>

#include "lib/base/memory.h"

/* 11 bits: six passes for 64 bits, and a histogram of 16 KiB stays in the first-level cache. */
enum { DIGIT_BITS = 11, N_DIGITS = 6, RADIX = 1 << DIGIT_BITS };

static inline uint32_t digit_of(uint64_t key, int d)
{
    return (uint32_t)(key >> (d * DIGIT_BITS)) & (RADIX - 1);
}

modal_status modal_sort_by_key(int64_t n, uint64_t *keys, int32_t *values, modal_error *err)
{
    modal_status status = MODAL_OK;
    uint64_t *key_scratch = NULL;
    int32_t *value_scratch = NULL;
    int64_t *counts = NULL; /* [N_DIGITS, RADIX] */
    MODAL_TRY(modal_alloc(&key_scratch, n, sizeof *key_scratch, "sort keys", err));
    MODAL_TRY(modal_alloc(&value_scratch, n, sizeof *value_scratch, "sort values", err));
    MODAL_TRY(modal_alloc_zero(&counts, N_DIGITS * RADIX, sizeof *counts, "sort counts", err));
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < N_DIGITS; d++) counts[d * RADIX + digit_of(keys[i], d)]++;

    uint64_t *from_keys = keys, *to_keys = key_scratch;
    int32_t *from_values = values, *to_values = value_scratch;
    for (int d = 0; n > 1 && d < N_DIGITS; d++) {
        int64_t *place = counts + d * RADIX, start = 0;
        if (place[digit_of(keys[0], d)] == n) continue;
        for (int b = 0; b < RADIX; b++) {
            int64_t count = place[b];
            place[b] = start;
            start += count;
        }
        for (int64_t i = 0; i < n; i++) {
            int64_t to = place[digit_of(from_keys[i], d)]++;
            to_keys[to] = from_keys[i];
            to_values[to] = from_values[i];
        }
        uint64_t *swap_keys = from_keys;
        int32_t *swap_values = from_values;
        from_keys = to_keys;
        from_values = to_values;
        to_keys = swap_keys;
        to_values = swap_values;
    }
    if (from_keys != keys) {
        memcpy(keys, from_keys, (size_t)n * sizeof *keys);
        memcpy(values, from_values, (size_t)n * sizeof *values);
    }
done:
    modal_free(&key_scratch);
    modal_free(&value_scratch);
    modal_free(&counts);
    return status;
}
