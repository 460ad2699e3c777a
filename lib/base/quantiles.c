/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/quantiles.h"

#include <string.h>

float modal_kth(float *values, int64_t n, int64_t k)
{
    for (int64_t low = 0, high = n - 1; low < high;) {
        const float pivot = values[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot) i++;
            while (values[j] > pivot) j--;
            if (i > j) break;
            const float kept = values[i];
            values[i++] = values[j], values[j--] = kept;
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            break;
    }
    return values[k];
}

void modal_quantiles(const float *values, int64_t n, float *scratch, double quantiles[5])
{
    const int64_t low = (int64_t)(0.02 * (double)(n - 1)), middle = (n - 1) / 2, high = (int64_t)(0.98 * (double)(n - 1));
    float least = values[0], most = values[0];
    for (int64_t i = 1; i < n; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    memcpy(scratch, values, (size_t)n * sizeof *scratch);
    quantiles[0] = (double)least, quantiles[4] = (double)most;
    quantiles[2] = (double)modal_kth(scratch, n, middle); /* the others are in what this leaves on both sides */
    quantiles[1] = low < middle ? (double)modal_kth(scratch, middle, low) : quantiles[2];
    quantiles[3] = high > middle ? (double)modal_kth(scratch + middle + 1, n - middle - 1, high - middle - 1) : quantiles[2];
}
