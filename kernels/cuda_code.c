/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda_machine.h"

static int is(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && memcmp(text, word, length) == 0;
}

int modal_cuda_code_runs(const char *architectures, int major, int minor)
{
    for (const char *item = architectures; *item; item += *item == ',') {
        char *end = NULL;
        const long number = strtol(item, &end, 10);
        const int exact = isalpha((unsigned char)*end), here = number == 10 * major + minor;
        const size_t length = strcspn(item, ",");
        const char *suffix = end + exact;
        const size_t rest = (size_t)(item + length - suffix);
        const int real = rest == 0 || is(suffix, rest, "-real"), virtual = rest == 0 || is(suffix, rest, "-virtual");
        if (end == item) return 0;
        if (exact && here) return 1;
        if (!exact && real && number / 10 == major && number % 10 <= minor) return 1;
        if (!exact && virtual && number <= 10 * major + minor) return 1;
        item += length;
    }
    return 0;
}
