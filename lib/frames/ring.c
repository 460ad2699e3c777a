/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/frames/ring.h"

#include <assert.h>

enum { FREE, FILLING, SUBMITTED, TAKEN };

modal_status modal_ring_make(modal_ring *ring, int n_slots, modal_error *err)
{
    assert(n_slots >= 1 && n_slots <= MODAL_RING_SLOTS);
    *ring = (modal_ring){.n_slots = n_slots};
    if (pthread_mutex_init(&ring->lock, NULL) != 0) return modal_error_set(err, MODAL_ERROR_SYSTEM, "frames: no mutex");
    if (pthread_cond_init(&ring->changed, NULL) != 0) {
        pthread_mutex_destroy(&ring->lock);
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "frames: no condition variable");
    }
    ring->made = 1;
    return MODAL_OK;
}

void modal_ring_free(modal_ring *ring)
{
    if (!ring->made) return;
    pthread_cond_destroy(&ring->changed);
    pthread_mutex_destroy(&ring->lock);
    ring->made = 0;
}

/* Waits for slot number % n_slots to have the state, and gives it the next one. */
static modal_status wait_for(modal_ring *ring, int64_t *number, int state, int *slot, modal_error *err)
{
    pthread_mutex_lock(&ring->lock);
    *slot = (int)(*number % ring->n_slots);
    while (ring->states[*slot] != state && !ring->cancelled) pthread_cond_wait(&ring->changed, &ring->lock);
    const int cancelled = ring->cancelled;
    if (!cancelled) ring->states[*slot] = state + 1;
    if (!cancelled && state == SUBMITTED) ++*number;
    pthread_mutex_unlock(&ring->lock);
    return cancelled ? modal_error_set(err, MODAL_ERROR_INTERRUPTED, "frames: cancelled") : MODAL_OK;
}

static void set(modal_ring *ring, int slot, int state)
{
    pthread_mutex_lock(&ring->lock);
    ring->states[slot] = state;
    if (state == SUBMITTED) ring->n_submitted++;
    pthread_cond_broadcast(&ring->changed);
    pthread_mutex_unlock(&ring->lock);
}

modal_status modal_ring_fill(modal_ring *ring, int *slot, modal_error *err)
{
    return wait_for(ring, &ring->n_submitted, FREE, slot, err);
}

void modal_ring_submit(modal_ring *ring, int slot, int filled) { set(ring, slot, filled ? SUBMITTED : FREE); }

modal_status modal_ring_take(modal_ring *ring, int *slot, modal_error *err)
{
    return wait_for(ring, &ring->n_taken, SUBMITTED, slot, err);
}

void modal_ring_give_back(modal_ring *ring, int slot) { set(ring, slot, FREE); }

void modal_ring_cancel(modal_ring *ring)
{
    pthread_mutex_lock(&ring->lock);
    ring->cancelled = 1;
    pthread_cond_broadcast(&ring->changed);
    pthread_mutex_unlock(&ring->lock);
}
