/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef struct piece {
    void *memory;
    int64_t bytes; /* whole pages */
} piece;

struct modal_scratch {
    modal_store store;
    char *folder;
    int64_t page;
    int statm; /* of this process */
    pthread_t sweeper;
    int sweeps; /* it runs */
    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t closing;
    int closes;
    int64_t window;
    piece *pieces; /* [n] */
    int64_t n, capacity, bytes, most;
};

/* ---- files ---- */

/* A file that has no name, or none any more; -1 and errno. */
static int open_nameless(const char *folder)
{
    char path[4096];
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL)) return file;
    if (snprintf(path, sizeof path, "%s/.scratch-XXXXXX", folder) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    file = mkostemp(path, O_CLOEXEC);
    if (file >= 0) unlink(path);
    return file;
}

/* The disk's room is taken at once: a page that it has none for, when it is written, ends the process. NULL and errno. */
static void *map_file(const char *folder, int64_t bytes)
{
    const int file = open_nameless(folder);
    void *memory = MAP_FAILED;
    if (file < 0) return NULL;
    errno = posix_fallocate(file, 0, (off_t)bytes);
    if (errno == 0) memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    const int reason = errno;
    close(file);
    errno = reason;
    return memory == MAP_FAILED ? NULL : memory;
}

/* ---- what is resident ---- */

/* Bytes of mapped files that this process has in main memory, libraries among them. */
static int64_t find_resident(const modal_scratch *s)
{
    char text[128] = "";
    long long all, resident, shared;
    if (pread(s->statm, text, sizeof text - 1, 0) <= 0 || sscanf(text, "%lld %lld %lld", &all, &resident, &shared) != 3) return 0;
    return shared * s->page;
}

/* With the mutex. */
static void drop_all(modal_scratch *s)
{
    for (int64_t i = 0; i < s->n; i++) madvise(s->pieces[i].memory, (size_t)s->pieces[i].bytes, MADV_DONTNEED);
}

/* Looks every millisecond while pages come, less often, up to ten, while none do; what lies unused for a while goes, too. */
static void *sweep(void *context)
{
    enum { LEAST_PAUSE = 1000000, MOST_PAUSE = 10000000, IDLE = 20, SOME = 1 << 18 };
    modal_scratch *s = context;
    int64_t base = find_resident(s), before = base; /* base: without arrays */
    long pause = LEAST_PAUSE;
    int idle = 0;
    pthread_mutex_lock(&s->mutex);
    while (!s->closes) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += pause;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&s->closing, &s->mutex, &until);
        const int64_t now = find_resident(s);
        const int grows = now - before > SOME;
        idle = grows ? 0 : idle + 1;
        pause = grows ? LEAST_PAUSE : pause + LEAST_PAUSE < MOST_PAUSE ? pause + LEAST_PAUSE : MOST_PAUSE;
        before = now;
        if (now - base <= s->window && (idle < IDLE || now - base <= SOME)) continue;
        drop_all(s);
        before = base = find_resident(s);
        idle = 0;
    }
    pthread_mutex_unlock(&s->mutex);
    return NULL;
}

/* ---- the store ---- */

static modal_status hand_out(void *context, int64_t bytes, const char *what, void **memory, modal_error *err)
{
    modal_scratch *s = context;
    *memory = NULL;
    if (bytes < MODAL_SCRATCH_LEAST) return MODAL_OK;
    bytes = (bytes + s->page - 1) / s->page * s->page;
    void *made = map_file(s->folder, bytes);
    if (!made)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: scratch file in %s: %s, %lld bytes", what, s->folder, strerror(errno), (long long)bytes);
    pthread_mutex_lock(&s->mutex);
    if (s->n == s->capacity) { /* not by modal_grow, which would ask this store */
        const int64_t capacity = 2 * s->capacity + 64;
        piece *more = realloc(s->pieces, (size_t)capacity * sizeof *more);
        if (more) {
            s->pieces = more;
            s->capacity = capacity;
        }
    }
    const int known = s->n < s->capacity;
    if (known) {
        s->pieces[s->n++] = (piece){made, bytes};
        s->bytes += bytes;
        if (s->bytes > s->most) s->most = s->bytes;
    }
    pthread_mutex_unlock(&s->mutex);
    if (!known) {
        munmap(made, (size_t)bytes);
        return modal_error_set(err, MODAL_ERROR_MEMORY, "%s: out of memory", what);
    }
    *memory = made;
    return MODAL_OK;
}

static int take_back(void *context, void *memory)
{
    modal_scratch *s = context;
    if ((uintptr_t)memory % (uintptr_t)s->page != 0) return 0; /* most of malloc's */
    pthread_mutex_lock(&s->mutex);
    int64_t at = s->n - 1;
    while (at >= 0 && s->pieces[at].memory != memory) at--;
    if (at >= 0) {
        munmap(memory, (size_t)s->pieces[at].bytes);
        s->bytes -= s->pieces[at].bytes;
        s->pieces[at] = s->pieces[--s->n];
    }
    pthread_mutex_unlock(&s->mutex);
    return at >= 0;
}

static void let_go(void *context)
{
    modal_scratch *s = context;
    pthread_mutex_lock(&s->mutex);
    drop_all(s);
    pthread_mutex_unlock(&s->mutex);
}

/* ---- from open to close ---- */

/* Signals are other threads'. */
static int start_sweeper(modal_scratch *s)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failure = pthread_create(&s->sweeper, NULL, sweep, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    s->sweeps = failure == 0;
    return failure;
}

modal_status modal_scratch_open(const char *folder, int64_t window, modal_scratch **scratch, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_scratch *s = NULL;
    void *memory = NULL;
    *scratch = NULL;
    MODAL_TRY(modal_alloc_zero(&s, 1, sizeof *s, "scratch files", err));
    s->statm = -1;
    s->window = window;
    s->page = sysconf(_SC_PAGESIZE);
    s->store = (modal_store){.hand_out = hand_out, .take_back = take_back, .let_go = let_go, .context = s};
    pthread_mutex_init(&s->mutex, NULL);
    pthread_cond_init(&s->closing, NULL);
    MODAL_TRY(modal_copy_text(&s->folder, folder, SIZE_MAX, err));
    memory = map_file(folder, s->page);
    if (!memory) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "scratch file in %s: %s", folder, strerror(errno));
    munmap(memory, (size_t)s->page);
    s->statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (s->statm < 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "scratch files: /proc/self/statm: %s", strerror(errno));
    const int failure = start_sweeper(s);
    if (failure != 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "scratch files: no thread, %s", strerror(failure));
    *scratch = s;
    s = NULL;
done:
    modal_scratch_close(s);
    return status;
}

const modal_store *modal_scratch_store(modal_scratch *scratch) { return &scratch->store; }

void modal_scratch_widen(modal_scratch *s, int64_t window)
{
    pthread_mutex_lock(&s->mutex);
    s->window = window;
    pthread_mutex_unlock(&s->mutex);
}

int64_t modal_scratch_most(modal_scratch *s)
{
    pthread_mutex_lock(&s->mutex);
    const int64_t most = s->most;
    pthread_mutex_unlock(&s->mutex);
    return most;
}

modal_scratch *modal_scratch_close(modal_scratch *s)
{
    if (!s) return NULL;
    pthread_mutex_lock(&s->mutex);
    s->closes = 1;
    pthread_cond_signal(&s->closing);
    pthread_mutex_unlock(&s->mutex);
    if (s->sweeps) pthread_join(s->sweeper, NULL);
    if (s->statm >= 0) close(s->statm);
    pthread_mutex_destroy(&s->mutex);
    pthread_cond_destroy(&s->closing);
    free(s->pieces);
    modal_free(&s->folder);
    modal_free(&s);
    return NULL;
}
