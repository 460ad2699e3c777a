/* SPDX-License-Identifier: Apache-2.0 */
/* No device tells the size of an allocation, so they are noted here: a hash table of addresses with open addressing
 * (D. E. Knuth, The Art of Computer Programming, volume 3, 6.4, algorithms L and R). */
#include "kernels/device_held.h"

#include <pthread.h>

#include "lib/base/memory.h"

typedef struct note {
    const void *memory; /* NULL: none */
    int64_t bytes;
} note;

static struct {
    pthread_mutex_t lock;
    note *notes; /* [n_places], a power of two, at least half of them empty */
    int64_t n_places, n, held, most;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Where an address is to be looked for first. */
static int64_t home(const void *memory, int64_t n_places)
{
    const uint64_t mixed = (uint64_t)(uintptr_t)memory * UINT64_C(0x9e3779b97f4a7c15);
    return (int64_t)(mixed >> 20) & (n_places - 1);
}

static int64_t find(const note *notes, int64_t n_places, const void *memory)
{
    int64_t at = home(memory, n_places);
    while (notes[at].memory && notes[at].memory != memory) at = (at + 1) & (n_places - 1);
    return at;
}

/* The table is kept as long as the process runs, and only while it has notes. */
static modal_status make_room(modal_error *err)
{
    if (2 * (table.n + 1) <= table.n_places) return MODAL_OK;
    const int64_t n_places = table.n_places > 0 ? 2 * table.n_places : 64;
    note *larger = NULL;
    modal_status status = modal_alloc_zero(&larger, n_places, sizeof *larger, "notes of device memory", err);
    if (status != MODAL_OK) return status;
    for (int64_t i = 0; i < table.n_places; i++)
        if (table.notes[i].memory) larger[find(larger, n_places, table.notes[i].memory)] = table.notes[i];
    modal_free(&table.notes);
    table.notes = larger;
    table.n_places = n_places;
    return MODAL_OK;
}

modal_status modal_device_note_alloc(const void *memory, int64_t bytes, modal_error *err)
{
    if (!memory) return MODAL_OK;
    pthread_mutex_lock(&table.lock);
    modal_status status = make_room(err);
    if (status == MODAL_OK) {
        table.notes[find(table.notes, table.n_places, memory)] = (note){memory, bytes};
        table.n++;
        table.held += bytes;
        if (table.held > table.most) table.most = table.held;
    }
    pthread_mutex_unlock(&table.lock);
    return status;
}

void modal_device_note_free(const void *memory)
{
    pthread_mutex_lock(&table.lock);
    const int64_t mask = table.n_places - 1;
    int64_t hole = table.n_places > 0 && memory ? find(table.notes, table.n_places, memory) : 0;
    if (table.n_places > 0 && memory && table.notes[hole].memory) {
        table.held -= table.notes[hole].bytes;
        table.n--;
        /* Those after it that would be looked for at the hole or before it move up. */
        for (int64_t at = (hole + 1) & mask; table.notes[at].memory; at = (at + 1) & mask) {
            const int64_t from = home(table.notes[at].memory, table.n_places);
            if (((at - from) & mask) < ((at - hole) & mask)) continue;
            table.notes[hole] = table.notes[at];
            hole = at;
        }
        table.notes[hole] = (note){NULL, 0};
        if (table.n == 0) {
            modal_free(&table.notes);
            table.n_places = 0;
        }
    }
    pthread_mutex_unlock(&table.lock);
}

static int64_t read_count(const int64_t *count)
{
    pthread_mutex_lock(&table.lock);
    const int64_t value = *count;
    pthread_mutex_unlock(&table.lock);
    return value;
}

int64_t modal_device_held_bytes(void) { return read_count(&table.held); }
int64_t modal_device_most_bytes(void) { return read_count(&table.most); }
