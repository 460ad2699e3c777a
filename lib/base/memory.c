/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/memory.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static _Atomic int64_t fail_countdown; /* 0: never fail */
static _Atomic int fail_fired;

void modal_alloc_fail_at(int64_t n)
{
    fail_countdown = n;
    fail_fired = 0;
}

int modal_alloc_fired(void) { return fail_fired; }

static int told_to_fail(void)
{
    if (fail_countdown == 0 || --fail_countdown != 0) return 0;
    fail_fired = 1;
    return 1;
}

int64_t modal_address_space_left(void)
{
    struct rlimit limit;
    char text[64] = "";
    long long pages = 0;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return INT64_MAX;
    const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file >= 0 && read(file, text, sizeof text - 1) > 0) pages = atoll(text);
    if (file >= 0) close(file);
    const int64_t left = (int64_t)(limit.rlim_cur < INT64_MAX ? limit.rlim_cur : INT64_MAX) - pages * sysconf(_SC_PAGESIZE);
    return left > 0 ? left : 0;
}

int64_t modal_most_resident(void)
{
    char text[4096] = "";
    const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    const ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    const char *at = length > 0 ? strstr(text, "VmHWM:") : NULL;
    return at ? 1024 * atoll(at + 6) : 0;
}

static int is_limited(void)
{
    enum { UNKNOWN, NO_LIMIT, LIMITED };
    static _Atomic int kind;
    if (kind == UNKNOWN) kind = modal_address_space_left() == INT64_MAX ? NO_LIMIT : LIMITED;
    return kind == LIMITED;
}

/* Whether so many bytes may be taken, asked of the system once in a mebibyte. */
static int leaves_reserve(int64_t bytes)
{
    static _Atomic int64_t taken;
    if (!is_limited() || (bytes < 1 << 20 && atomic_fetch_add(&taken, bytes) + bytes < 1 << 20)) return 1;
    taken = 0;
    return modal_address_space_left() - MODAL_RESERVE > bytes;
}

/* ---- the store ---- */

static const modal_store *store;
static int store_is_used = 1;

void modal_store_set(const modal_store *set) { store = set; }

int modal_store_use(int on)
{
    const int before = store_is_used;
    store_is_used = on;
    return before;
}

void modal_store_let_go(void)
{
    if (store) store->let_go(store->context);
}

static void release(void *memory)
{
    if (!store || !memory || !store->take_back(store->context, memory)) free(memory);
}

/* ---- arrays ---- */

static modal_status allocate(void *pointer, int64_t count, size_t item_bytes, int zeroed,
                             const char *what, modal_error *err)
{
    void *memory = NULL;
    int64_t bytes = 0, padded = 0;
    memcpy(pointer, &memory, sizeof memory);
    if (!modal_size_multiply(count, (int64_t)item_bytes, &bytes) ||
        !modal_size_add(bytes, MODAL_ALIGNMENT, &padded))
        return modal_error_set(err, MODAL_ERROR_MEMORY, "%s: size overflow, %lld items of %zu bytes",
                               what, (long long)count, item_bytes);
    padded -= padded % MODAL_ALIGNMENT;
    const int may = !told_to_fail() && leaves_reserve(padded);
    if (may && store && store_is_used) {
        const modal_status status = store->hand_out(store->context, padded, what, &memory, err);
        memcpy(pointer, &memory, sizeof memory);
        if (status != MODAL_OK || memory) return status;
    }
    if (may) memory = aligned_alloc(MODAL_ALIGNMENT, (size_t)padded);
    if (!memory)
        return modal_error_set(err, MODAL_ERROR_MEMORY, "%s: out of memory, %lld bytes%s", what, (long long)bytes,
                               is_limited() ? ", under a limit of the address space (ulimit -v)" : "");
    if (zeroed) memset(memory, 0, (size_t)padded);
    memcpy(pointer, &memory, sizeof memory);
    return MODAL_OK;
}

modal_status modal_alloc(void *pointer, int64_t count, size_t item_bytes, const char *what,
                         modal_error *err)
{
    return allocate(pointer, count, item_bytes, 0, what, err);
}

modal_status modal_alloc_zero(void *pointer, int64_t count, size_t item_bytes, const char *what,
                              modal_error *err)
{
    return allocate(pointer, count, item_bytes, 1, what, err);
}

modal_status modal_grow(void *pointer, int64_t *capacity, int64_t needed, size_t item_bytes,
                        const char *what, modal_error *err)
{
    if (needed <= *capacity) return MODAL_OK;
    int64_t wanted = *capacity < INT64_MAX / 2 ? 2 * *capacity : INT64_MAX;
    if (wanted < needed) wanted = needed;
    if (wanted < 64) wanted = 64;
    void *old = NULL, *grown = NULL;
    memcpy(&old, pointer, sizeof old);
    modal_status status = modal_alloc(&grown, wanted, item_bytes, what, err);
    if (status != MODAL_OK) return status;
    if (old) memcpy(grown, old, (size_t)*capacity * item_bytes);
    release(old);
    memcpy(pointer, &grown, sizeof grown);
    *capacity = wanted;
    return MODAL_OK;
}

modal_status modal_copy_text(char **copy, const char *text, size_t length, modal_error *err)
{
    length = strnlen(text, length);
    modal_status status = modal_alloc(copy, (int64_t)length + 1, 1, "text", err);
    if (status != MODAL_OK) return status;
    memcpy(*copy, text, length);
    (*copy)[length] = '\0';
    return MODAL_OK;
}

void modal_free(void *pointer)
{
    void *memory;
    memcpy(&memory, pointer, sizeof memory);
    release(memory);
    memory = NULL;
    memcpy(pointer, &memory, sizeof memory);
}
