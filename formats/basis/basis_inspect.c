/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/basis/basis_inspect.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "formats/basis/basis_fields.h"
#include "formats/basis/basis_hash.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"

struct modal_basis_inspection {
    const modal_basis *basis;
    modal_hash *hash;
    unsigned char *hashes; /* [n_shapes, MODAL_HASH_BYTES] */
    int32_t seen;
    pthread_t thread;
    int running;
    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t changed;
    int32_t given;
    int ended; /* no more will be given */
    modal_status status;
    modal_error err;
};

modal_status modal_basis_inspection_new(modal_basis_inspection **inspection, const modal_basis *basis,
                                        modal_error *err)
{
    modal_basis_inspection *x = NULL;
    *inspection = NULL;
    modal_status status = modal_alloc_zero(&x, 1, sizeof *x, "inspection", err);
    if (status != MODAL_OK) return status;
    status = modal_hash_new(&x->hash, err);
    if (status == MODAL_OK) status = modal_alloc(&x->hashes, basis->n_shapes, MODAL_HASH_BYTES, "hashes", err);
    if (status != MODAL_OK) {
        modal_hash_delete(x->hash);
        modal_free(&x);
        return status;
    }
    x->basis = basis;
    pthread_mutex_init(&x->mutex, NULL);
    pthread_cond_init(&x->changed, NULL);
    *inspection = x;
    return MODAL_OK;
}

/* Of one shape: nothing after the first that breaks a rule. */
static modal_status inspect(modal_basis_inspection *x, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_shape *s = &x->basis->shapes[x->seen];
    const modal_checker checker = {NULL, err};
    int64_t sizes[SIZE_COUNT];
    char path[32];
    snprintf(path, sizeof path, "/shapes/%04d", x->seen);
    modal_basis_sizes(s, sizes);
    MODAL_TRY(modal_basis_rules_shape(&checker, path, s, sizes, 0));
    MODAL_TRY(modal_basis_hash_shape(x->hash, s, sizes, x->hashes + (int64_t)MODAL_HASH_BYTES * x->seen, err));
    x->seen++;
done:
    return status;
}

static void *inspect_all(void *inspection)
{
    modal_basis_inspection *x = inspection;
    modal_status status = MODAL_OK;
    modal_error err = {0};
    pthread_mutex_lock(&x->mutex);
    for (;;) {
        while (x->seen == x->given && !x->ended) pthread_cond_wait(&x->changed, &x->mutex);
        if (x->seen == x->given || status != MODAL_OK) break;
        pthread_mutex_unlock(&x->mutex);
        status = inspect(x, &err);
        pthread_mutex_lock(&x->mutex);
        x->status = status;
        x->err = err;
        pthread_cond_broadcast(&x->changed);
    }
    pthread_mutex_unlock(&x->mutex);
    return NULL;
}

/* Worth a thread. A source is for one thread. */
static int is_large(const modal_shape *s)
{
    return !s->source && (24.0 * (double)s->solid.mesh.n_nodes + 12.0 * (double)s->surface.n_vertices) * s->modes.n_modes > MODAL_DISK_PIECE;
}

modal_status modal_basis_inspection_next(modal_basis_inspection *x, modal_error *err)
{
    pthread_mutex_lock(&x->mutex);
    const int32_t index = x->given++;
    const int failed = x->status != MODAL_OK;
    pthread_cond_signal(&x->changed);
    pthread_mutex_unlock(&x->mutex);
    if (failed) return modal_error_set(err, MODAL_ERROR_INTERRUPTED, "shape %d: not wanted any more", index);
    if (!x->running && is_large(&x->basis->shapes[index]))
        x->running = pthread_create(&x->thread, NULL, inspect_all, x) == 0;
    return x->running ? MODAL_OK : inspect(x, err);
}

void modal_basis_inspection_settle(modal_basis_inspection *x)
{
    if (!x->running) return;
    pthread_mutex_lock(&x->mutex);
    while (x->seen < x->given && x->status == MODAL_OK) pthread_cond_wait(&x->changed, &x->mutex);
    pthread_mutex_unlock(&x->mutex);
}

modal_status modal_basis_inspection_end(modal_basis_inspection **inspection, modal_status status,
                                        unsigned char *hashes, char hash[MODAL_HASH_TEXT], modal_error *err)
{
    modal_basis_inspection *x = *inspection;
    if (!x) return status;
    if (x->running) {
        pthread_mutex_lock(&x->mutex);
        x->ended = 1;
        pthread_cond_signal(&x->changed);
        pthread_mutex_unlock(&x->mutex);
        pthread_join(x->thread, NULL);
    }
    if (x->status != MODAL_OK && (status == MODAL_OK || status == MODAL_ERROR_INTERRUPTED)) {
        status = x->status;
        if (err) *err = x->err;
    }
    if (status == MODAL_OK) {
        memcpy(hashes, x->hashes, (size_t)x->basis->n_shapes * MODAL_HASH_BYTES);
        modal_basis_hash_content(x->hash, x->basis, hashes, hash);
    }
    pthread_mutex_destroy(&x->mutex);
    pthread_cond_destroy(&x->changed);
    modal_hash_delete(x->hash);
    modal_free(&x->hashes);
    modal_free(inspection);
    return status;
}
