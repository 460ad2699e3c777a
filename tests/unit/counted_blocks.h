/* SPDX-License-Identifier: Apache-2.0 */
/* For programs that are linked with --wrap=aligned_alloc and --wrap=free, one file each: how many blocks of memory are
 * in use. */
#ifndef TESTS_UNIT_COUNTED_BLOCKS_H
#define TESTS_UNIT_COUNTED_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

static int64_t blocks_in_use;
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *memory);
void __wrap_free(void *memory);

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    void *memory = __real_aligned_alloc(alignment, size);
    blocks_in_use += memory != NULL;
    return memory;
}

void __wrap_free(void *memory)
{
    blocks_in_use -= memory != NULL;
    __real_free(memory);
}

#endif
