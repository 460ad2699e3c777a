/* SPDX-License-Identifier: Apache-2.0 */
/* The one allocator: 64-byte aligned, overflow-checked, and able to fail on purpose in tests. */
#ifndef MODAL_BASE_MEMORY_H
#define MODAL_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MODAL_ALIGNMENT = 64 };

/* Allocates `count` items of `item_bytes` each, uninitialised (modal_alloc) or zeroed
 * (modal_alloc_zero), and stores the address in *pointer, which is any `T **`. A count of 0 gives
 * a valid pointer. `what` names the array in the message. On failure (overflow, no memory)
 * *pointer is NULL. The caller owns the memory and gives it to modal_free. Thread-safe. */
modal_status modal_alloc(void *pointer, int64_t count, size_t item_bytes, const char *what,
                         modal_error *err);
modal_status modal_alloc_zero(void *pointer, int64_t count, size_t item_bytes, const char *what,
                              modal_error *err);

/* Grows an array to hold at least `needed` items, at least doubling *capacity; items already there
 * are kept. On failure the array is unchanged. */
modal_status modal_grow(void *pointer, int64_t *capacity, int64_t needed, size_t item_bytes,
                        const char *what, modal_error *err);

/* Copies a string (at most `length` bytes, up to its terminator). */
modal_status modal_copy_text(char **copy, const char *text, size_t length, modal_error *err);

/* Frees and sets the pointer (any `T **`) to NULL; NULL inside is fine. */
void modal_free(void *pointer);

/* Another place for large arrays than main memory (scratch.h). Any thread may call these. */
typedef struct modal_store {
    /* An array of zeros, at a multiple of MODAL_ALIGNMENT; *memory NULL after MODAL_OK: it does not take so few bytes. */
    modal_status (*hand_out)(void *context, int64_t bytes, const char *what, void **memory, modal_error *err);
    int (*take_back)(void *context, void *memory); /* 1: it was an array of this store, and is gone; 0: it was not */
    void (*let_go)(void *context);                 /* of what is in main memory now; it comes back where it is touched */
    void *context;
} modal_store;

/* What modal_alloc asks first, and what modal_free gives arrays back to; borrowed, NULL: none, as at the start. A module that a program loads
 * has an allocator of its own. Not while other threads allocate. */
void modal_store_set(const modal_store *store);
/* Whether modal_alloc asks it (1 at the start); returns what was before. Arrays that it has stay there. */
int modal_store_use(int on);
/* Its let_go; nothing without one. */
void modal_store_let_go(void);

/* Bytes that the limit of the address space (RLIMIT_AS, ulimit -v) leaves to this process; INT64_MAX where there is no
 * limit. Under one, modal_alloc leaves MODAL_RESERVE of it untouched: where libraries are refused a small piece, HDF5
 * crashes, OpenMP ends the program and OpenBLAS waits for ever. */
enum { MODAL_RESERVE = 24 << 20 };
int64_t modal_address_space_left(void);

/* The largest resident set that this process has had, bytes; 0: the system does not tell. (What getrusage tells of it has that of the program
 * that launched this one in it.) */
int64_t modal_most_resident(void);

/* For tests: the n-th allocation from now on fails (1 = the next one); 0 switches that off.
 * modal_alloc_fired tells whether it has failed. Not for use while other threads allocate. */
void modal_alloc_fail_at(int64_t n);
int modal_alloc_fired(void);

/* *product = a * b, *sum = a + b for sizes; 0 when the result does not fit or an operand is
 * negative. */
static inline int modal_size_multiply(int64_t a, int64_t b, int64_t *product)
{
    return a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, product);
}
static inline int modal_size_add(int64_t a, int64_t b, int64_t *sum)
{
    return a >= 0 && b >= 0 && !__builtin_add_overflow(a, b, sum);
}

#ifdef __cplusplus
}
#endif
#endif
