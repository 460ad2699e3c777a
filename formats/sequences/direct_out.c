/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/sequences/direct_out.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/disk.h"
#include "lib/base/memory.h"

enum {
    BLOCK = MODAL_DISK_BLOCK,
    PIECE = 1 << 20,  /* of a write */
    MOST_THREADS = 8
};

/* A range that is being written: whole blocks. */
typedef struct job {
    int64_t place, length, next; /* next: of [0, length), where the next piece begins */
    const char *bytes;
    int n_working;
    int failed; /* errno of the first failure */
} job;

struct modal_direct_out {
    int file, direct; /* descriptors */
    int refused;      /* nonzero: the disk does not take these blocks */
    int n_threads, quits;
    pthread_t threads[MOST_THREADS];
    char *memory, *pieces; /* a piece a thread; the latter begins at a whole block */
    int has_lock;
    int n_started;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    job job;
};

int64_t modal_direct_out_bytes(int n_threads)
{
    return (int64_t)(n_threads < MOST_THREADS ? n_threads : MOST_THREADS) * PIECE + BLOCK;
}

static modal_status failed(int code, modal_error *err)
{
    return modal_error_set(err, MODAL_ERROR_SYSTEM, "write error, %s", strerror(code));
}

/* 0, or errno. A disk that refuses the size of its blocks gets what is left through the cache. */
static int write_piece(modal_direct_out *o, char *buffer, const char *bytes, int64_t place, int64_t length)
{
    int refused = __atomic_load_n(&o->refused, __ATOMIC_RELAXED);
    const char *from = refused ? bytes : memcpy(buffer, bytes, (size_t)length);
    if (modal_disk_write_direct(o->file, refused ? -1 : o->direct, place, from, length, &refused) != 0) return errno;
    if (refused) __atomic_store_n(&o->refused, 1, __ATOMIC_RELAXED);
    return 0;
}

static void *work(void *argument)
{
    modal_direct_out *o = argument;
    pthread_mutex_lock(&o->lock);
    char *buffer = o->pieces + (int64_t)o->n_started++ * PIECE;
    for (;;) {
        job *j = &o->job;
        while (!o->quits && (j->next >= j->length || j->failed)) pthread_cond_wait(&o->changed, &o->lock);
        if (o->quits) break;
        const int64_t at = j->next, length = j->length - at < PIECE ? j->length - at : PIECE;
        j->next += length;
        j->n_working++;
        pthread_mutex_unlock(&o->lock);
        const int code = write_piece(o, buffer, j->bytes + at, j->place + at, length);
        pthread_mutex_lock(&o->lock);
        j->n_working--;
        if (code != 0 && !j->failed) j->failed = code;
        pthread_cond_broadcast(&o->changed);
    }
    pthread_mutex_unlock(&o->lock);
    return NULL;
}

static modal_status start_threads(modal_direct_out *o, int n_threads, modal_error *err)
{
    if (pthread_mutex_init(&o->lock, NULL) != 0) return modal_error_set(err, MODAL_ERROR_SYSTEM, "writer: no mutex");
    if (pthread_cond_init(&o->changed, NULL) != 0) {
        pthread_mutex_destroy(&o->lock);
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "writer: no condition variable");
    }
    o->has_lock = 1;
    for (int i = 0; i < n_threads && i < MOST_THREADS; i++) {
        if (pthread_create(&o->threads[i], NULL, work, o) != 0)
            return modal_error_set(err, MODAL_ERROR_SYSTEM, "writer: cannot start a thread");
        o->n_threads++;
    }
    return MODAL_OK;
}

modal_status modal_direct_out_open(modal_direct_out **out, const char *path, int64_t file_bytes, int n_threads,
                                   modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_direct_out *o = NULL;
    *out = NULL;
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return failed(errno, err);
    const int direct = modal_disk_open_direct(path);
    if (direct < 0) {
        close(file);
        return MODAL_OK;
    }
    if (fallocate(direct, FALLOC_FL_KEEP_SIZE, 0, (off_t)file_bytes) != 0 && errno != EOPNOTSUPP) {
        status = failed(errno, err);
        goto done;
    }
    MODAL_TRY(modal_alloc_zero(&o, 1, sizeof *o, "writer", err));
    o->file = file;
    o->direct = direct;
    MODAL_TRY(modal_alloc(&o->memory, modal_direct_out_bytes(n_threads), 1, "pieces", err));
    o->pieces = o->memory + (BLOCK - (int64_t)((uintptr_t)o->memory % BLOCK)) % BLOCK;
    MODAL_TRY(start_threads(o, n_threads > 0 ? n_threads : 1, err));
    *out = o;
    return MODAL_OK;
done:
    if (o) {
        modal_direct_out_close(o);
    } else {
        close(file);
        close(direct);
    }
    return status;
}

modal_direct_out *modal_direct_out_close(modal_direct_out *o)
{
    if (!o) return NULL;
    if (o->has_lock) {
        pthread_mutex_lock(&o->lock);
        o->quits = 1;
        pthread_cond_broadcast(&o->changed);
        pthread_mutex_unlock(&o->lock);
        for (int i = 0; i < o->n_threads; i++) pthread_join(o->threads[i], NULL);
        pthread_cond_destroy(&o->changed);
        pthread_mutex_destroy(&o->lock);
    }
    close(o->direct);
    close(o->file);
    modal_free(&o->memory);
    modal_free(&o);
    return NULL;
}

/* Whole blocks, by all threads. */
static int write_blocks(modal_direct_out *o, int64_t place, const char *bytes, int64_t length)
{
    pthread_mutex_lock(&o->lock);
    o->job = (job){.place = place, .length = length, .bytes = bytes};
    pthread_cond_broadcast(&o->changed);
    while ((o->job.next < length && !o->job.failed) || o->job.n_working > 0) pthread_cond_wait(&o->changed, &o->lock);
    const int code = o->job.failed;
    o->job = (job){.length = 0};
    pthread_mutex_unlock(&o->lock);
    return code;
}

modal_status modal_direct_out_write(modal_direct_out *o, int64_t place, const void *from, int64_t length, modal_error *err)
{
    const char *bytes = from;
    const int64_t to_block = (BLOCK - place % BLOCK) % BLOCK;
    const int64_t head = to_block < length ? to_block : length, blocks = (length - head) / BLOCK * BLOCK;
    const int64_t tail = length - head - blocks;
    /* A block that two writes share is in the cache for both: its parts never pass each other. */
    if (modal_disk_write(o->file, place, bytes, head) != 0) return failed(errno, err);
    const int code = blocks > 0 ? write_blocks(o, place + head, bytes + head, blocks) : 0;
    if (code != 0) return failed(code, err);
    if (modal_disk_write(o->file, place + head + blocks, bytes + head + blocks, tail) != 0) return failed(errno, err);
    return MODAL_OK;
}

int modal_direct_out_is_direct(const modal_direct_out *o) { return !o->refused; }
