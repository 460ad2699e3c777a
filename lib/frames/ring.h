/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of slots between two threads: one fills slots and submits them, the other takes them in the same order and
 * gives them back. What a slot is, its owner knows. */
#ifndef MODAL_FRAMES_RING_H
#define MODAL_FRAMES_RING_H

#include <pthread.h>
#include <stdint.h>

#include "lib/base/status.h"

enum { MODAL_RING_SLOTS = 4 }; /* the most that a ring has */

/* Private to ring.c; zeroed, it is one that was not made. */
typedef struct modal_ring {
    int made, n_slots, cancelled;
    int states[MODAL_RING_SLOTS];
    int64_t n_submitted, n_taken;
    pthread_mutex_t lock; /* over all of these */
    pthread_cond_t changed;
} modal_ring;

/* 1 <= n_slots <= MODAL_RING_SLOTS. MODAL_ERROR_SYSTEM where the system gives no lock. */
modal_status modal_ring_make(modal_ring *ring, int n_slots, modal_error *err);
void modal_ring_free(modal_ring *ring); /* one that was not made is fine */

/* The filling thread: waits for the next slot to be free. It is this thread's until modal_ring_submit, which gives it
 * on or, with `filled` 0, leaves it free. MODAL_ERROR_INTERRUPTED after modal_ring_cancel. */
modal_status modal_ring_fill(modal_ring *ring, int *slot, modal_error *err);
void modal_ring_submit(modal_ring *ring, int slot, int filled);

/* The other thread: waits for the oldest slot that was submitted and not taken. It is this thread's until it is given
 * back. MODAL_ERROR_INTERRUPTED after modal_ring_cancel. */
modal_status modal_ring_take(modal_ring *ring, int *slot, modal_error *err);
void modal_ring_give_back(modal_ring *ring, int slot);

/* Wakes both threads with MODAL_ERROR_INTERRUPTED, now and ever after: for when one of them has failed. */
void modal_ring_cancel(modal_ring *ring);

#endif
