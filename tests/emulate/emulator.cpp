// SPDX-License-Identifier: Apache-2.0
// The threads of a launch as fibers of one processor: of all its blocks, where they wait for each other, else of one block
// after the other, in any order. A fiber runs until it waits for others; which goes on then is shuffled by EMULATED_SEED at every
// turn, so where a barrier is missing, results differ from seed to seed. Shared memory that a launch sizes is NaN at first, and ends
// where it ends: with AddressSanitizer what is read or written beyond it is found.
//
//   EMULATED_SEED=n     the order; the same n, the same order
//   EMULATED_SKIP=n     for the test of this: barriers of blocks are left out, of every 64 a thread comes to the n-th
//   EMULATED_APART=1    no two blocks fit on the device at a time
//   EMULATED_OVERLAPS=1 a launch may begin before the one before it ends, as from 9.0 on (it does not)
//
// It says nothing of speed, of registers, or of what a GPU's memory model allows beyond such orders.
#include <cuda_runtime.h>
#include <stdio.h>
#include <sys/mman.h>
#include <vector>

#include "kernels/cuda_machine.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

emulated_thread emulated;

// Keeps what a function must keep on this stack, and goes on with the other (x86-64). swapcontext asks the kernel each time.
extern "C" void emulated_switch(void **from, void *to);
asm(".text\n.globl emulated_switch\n.type emulated_switch, @function\nemulated_switch:\n"
    "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
    "movq %rsp, (%rdi)\nmovq %rsi, %rsp\n"
    "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nret\n"
    ".size emulated_switch, . - emulated_switch\n");

namespace {

enum { STACK = 256 * 1024, WARP = 32, TEAM = 8 };

// Those that wait for each other. `slots`: of this turn and the next, since the first to go on may bring the next while the last
// still reads.
struct meeting {
    uint64_t turns, come;
    uint64_t slots[2][WARP];
};
struct warp {
    meeting all, teams[WARP / TEAM];
};
struct block {
    meeting all;
    std::vector<warp> warps;
    double *shared;
};
struct fiber {
    char *stack;
    void *top;
    const uint64_t *waits_for; // until it is `until`
    uint64_t until, barriers;
    emulated_index thread, block_index;
    block *own;
    bool done, polls;
};

std::vector<fiber> fibers;
std::vector<block> blocks;
meeting grid;
fiber *running;
void *scheduler;
uint64_t state; // of the order
int skip = -1;
const std::function<void()> *kernel;

[[noreturn]] void fail(const char *what)
{
    fprintf(stderr, "emulator: block %u, thread %u: %s\n", emulated.block.x, emulated.thread.x, what);
    abort();
}

void change(void **from, void *to, const void *bottom, size_t bytes)
{
#ifdef __SANITIZE_ADDRESS__
    void *kept = NULL;
    __sanitizer_start_switch_fiber(&kept, bottom, bytes);
    emulated_switch(from, to);
    __sanitizer_finish_switch_fiber(kept, NULL, NULL);
#else
    (void)bottom;
    (void)bytes;
    emulated_switch(from, to);
#endif
}

const void *main_bottom; // the scheduler's stack, as AddressSanitizer names it
size_t main_bytes;
void leave() { change(&running->top, scheduler, main_bottom, main_bytes); }

// Which turn of the meeting this is; returns when all `count` have come.
uint64_t meet(meeting *m, uint64_t count)
{
    const uint64_t turn = m->turns;
    if (++m->come == count) {
        m->come = 0;
        m->turns++;
        return turn;
    }
    running->waits_for = &m->turns;
    running->until = turn + 1;
    leave();
    return turn;
}

void body()
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(NULL, &main_bottom, &main_bytes);
#endif
    (*kernel)();
    running->done = true;
    leave();
}

bool goes_on(const fiber &f) { return !f.done && (!f.waits_for || *f.waits_for >= f.until); }

void resume(fiber *f)
{
    running = f;
    f->waits_for = NULL;
    f->polls = false;
    emulated.thread = f->thread;
    emulated.block = f->block_index;
    emulated.shared = f->own->shared;
    change(&scheduler, f->top, f->stack, STACK);
}

uint64_t draw()
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}
// A way through n things, from any of them on, up or down; of lanes by any odd stride.
struct any_order {
    uint64_t n, first, stride;
    explicit any_order(uint64_t count) : n(count), first(draw() % n), stride(n == WARP ? draw() | 1 : draw() % 2 ? 1 : n - 1) {}
    size_t operator[](uint64_t i) const { return (first + i * stride) % n; }
};

// Lets a warp's lanes run as far as they come, or not quite.
bool run_warp(fiber *lanes)
{
    bool moved = false;
    for (bool again = true; again; again = again && draw() % 8 > 0) {
        again = false;
        const any_order order(WARP);
        for (int i = 0; i < WARP; i++) {
            fiber *f = &lanes[order[(uint64_t)i]];
            if (!goes_on(*f)) continue;
            resume(f);
            if (!f->polls) again = moved = true;
        }
    }
    return moved;
}

// Threads of a block, with those that fill its last warp, who have nothing to do.
unsigned lanes_of(unsigned threads) { return (threads + WARP - 1) / WARP * WARP; }

bool run_block(fiber *own, unsigned threads)
{
    const any_order order(lanes_of(threads) / WARP);
    bool moved = false;
    for (unsigned w = 0; w < lanes_of(threads) / WARP; w++) moved |= run_warp(&own[order[w] * WARP]);
    return moved;
}

void begin(unsigned first_block, unsigned n_blocks, unsigned threads, size_t bytes)
{
    const size_t lanes = lanes_of(threads);
    grid = meeting{};
    blocks.assign(n_blocks, block{});
    for (block &b : blocks) {
        b.warps.assign(lanes / WARP, warp{});
        b.shared = (double *)malloc(bytes);
        if (!b.shared && bytes > 0) fail("no memory");
        memset((void *)b.shared, 0xff, bytes);
    }
    while (fibers.size() < n_blocks * lanes) {
        fiber f{};
        f.stack = (char *)mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (f.stack == MAP_FAILED) fail("no memory");
        fibers.push_back(f);
    }
    for (size_t i = 0; i < n_blocks * lanes; i++) {
        fiber *f = &fibers[i];
        char *stack = f->stack;
        *f = fiber{};
        f->stack = stack;
        f->thread.x = (unsigned)(i % lanes);
        f->block_index.x = first_block + (unsigned)(i / lanes);
        f->own = &blocks[i / lanes];
        f->done = i % lanes >= threads;
#ifdef __SANITIZE_ADDRESS__
        __asan_unpoison_memory_region(stack, STACK); // what the last kernel's frames left
#endif
        void **top = (void **)(stack + STACK) - 8; // six registers, then where to begin, then where that would return to
        for (int e = 0; e < 8; e++) top[e] = NULL;
        top[6] = (void *)body;
        f->top = top;
    }
}

void run(unsigned n_blocks, unsigned threads)
{
    const size_t lanes = lanes_of(threads);
    for (bool left = true; left;) {
        bool moved = false;
        left = false;
        const any_order of_blocks(n_blocks);
        for (unsigned b = 0; b < n_blocks; b++) {
            fiber *own = &fibers[of_blocks[b] * lanes];
            while (run_block(own, threads)) moved = true;
        }
        for (size_t i = 0; i < n_blocks * lanes; i++) left |= !fibers[i].done;
        if (left && !moved) fail("no thread can go on: some wait where others never come");
    }
    for (block &b : blocks) free(b.shared);
}

} // namespace

const uint64_t *emulated_lanes(unsigned mask, uint64_t bits)
{
    const unsigned lane = emulated.thread.x % WARP;
    warp *w = &running->own->warps[emulated.thread.x / WARP];
    if (mask != ~0u && mask != 0xffu << (lane & 24)) fail("lanes that are neither a warp nor eight neighbours");
    meeting *m = mask == ~0u ? &w->all : &w->teams[lane / TEAM];
    m->slots[m->turns % 2][lane] = bits;
    return m->slots[meet(m, mask == ~0u ? WARP : TEAM) % 2];
}

int emulated_block(int x)
{
    meeting *m = &running->own->all;
    if (skip >= 0 && (int)(running->barriers++ % 64) == skip) return x;
    uint64_t *any = &m->slots[m->turns % 2][0];
    *any = (m->come > 0 && *any) || x;
    return m->slots[meet(m, emulated.block_size.x) % 2][0] != 0;
}

void emulated_grid() { meet(&grid, (uint64_t)emulated.grid_size.x * emulated.block_size.x); }

void emulated_poll()
{
    running->polls = true;
    leave();
}

void *emulated_shared_of(unsigned block) { return blocks[block].shared; }

void emulated_launch(const std::function<void()> &function, unsigned n_blocks, unsigned threads, size_t bytes, bool together)
{
    if (state == 0) {
        const char *seed = getenv("EMULATED_SEED"), *without = getenv("EMULATED_SKIP");
        state = (uint64_t)(seed ? atoll(seed) : 1) * 0x9e3779b97f4a7c15u | 1;
        if (without) skip = atoi(without);
    }
    kernel = &function;
    emulated.block_size.x = threads;
    emulated.grid_size.x = n_blocks;
    if (together) {
        begin(0, n_blocks, threads, bytes);
        run(n_blocks, threads);
        return;
    }
    const any_order order(n_blocks);
    for (unsigned b = 0; b < n_blocks; b++) {
        begin((unsigned)order[b], 1, threads, bytes);
        run(1, threads);
    }
}

// Of an operation's launch, under the names that tests/emulate.cmake gives.
extern "C" modal_status modal_emulated_machine(modal_cuda_machine *machine, modal_error *)
{
    *machine = modal_cuda_machine{};
    machine->n_multiprocessors = EMULATED_MULTIPROCESSORS;
    machine->overlaps = getenv("EMULATED_OVERLAPS") != NULL;
    machine->shared = EMULATED_SHARED;
    machine->shared_block = EMULATED_SHARED_BLOCK;
    return MODAL_OK;
}

// EMULATED_SUM: at the end, a hash of all states on stderr.
static uint64_t hash = 1469598103934665603u;
static void say() { fprintf(stderr, "states %016llx\n", (unsigned long long)hash); }
void emulated_add(const void *data, size_t bytes)
{
    static const bool said = getenv("EMULATED_SUM") && atexit(say) == 0;
    for (size_t i = 0; said && i < bytes; i++) hash = (hash ^ ((const unsigned char *)data)[i]) * 1099511628211u;
}
