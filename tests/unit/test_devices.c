/* SPDX-License-Identifier: Apache-2.0 */
/* Which CUDA devices a build has code for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kernels/cuda_machine.h"
#include "kernels/device_held.h"
#include "kernels/device_interface.h"

static void test_code_runs(void **state)
{
    (void)state;
    static const struct {
        const char *code;
        int major, minor, runs;
    } cases[] = {
        /* machine code: its major capability, from its minor one on */
        {"90-real", 9, 0, 1},
        {"90-real", 8, 9, 0},
        {"90-real", 10, 0, 0},
        {"80-real", 8, 0, 1},
        {"80-real", 8, 6, 1},
        {"80-real", 7, 5, 0},
        {"80-real", 9, 0, 0},
        {"86-real", 8, 0, 0},
        {"86-real", 8, 9, 1},
        {"100-real", 10, 3, 1},
        {"100-real", 12, 0, 0},
        /* PTX: later ones */
        {"90-virtual", 9, 0, 1},
        {"90-virtual", 12, 1, 1},
        {"90-virtual", 8, 9, 0},
        /* both */
        {"80", 7, 5, 0},
        {"80", 8, 9, 1},
        {"80", 9, 0, 1},
        /* of one capability alone */
        {"90a", 9, 0, 1},
        {"90a", 10, 0, 0},
        {"90a-real", 9, 0, 1},
        {"90a-virtual", 10, 0, 0},
        /* the default, and what else a list may be */
        {"80-real,86-real,89-real,90-real,90-virtual", 7, 5, 0},
        {"80-real,86-real,89-real,90-real,90-virtual", 8, 0, 1},
        {"80-real,86-real,89-real,90-real,90-virtual", 8, 7, 1},
        {"80-real,86-real,89-real,90-real,90-virtual", 9, 0, 1},
        {"80-real,86-real,89-real,90-real,90-virtual", 12, 0, 1},
        {"90-real,90-virtual", 8, 6, 0},
        {"90-real", 0, 0, 0},
        {"", 9, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (modal_cuda_code_runs(cases[i].code, cases[i].major, cases[i].minor) != cases[i].runs)
            fail_msg("%s on %d.%d: not %d", cases[i].code, cases[i].major, cases[i].minor, cases[i].runs);
}

/* What is counted can be opened; what is not has a reason. */
static void test_listing(void **state)
{
    (void)state;
    char reason[256], left_out[256];
    modal_device_cuda_reason(reason, sizeof reason);
    modal_device_cuda_left_out(left_out, sizeof left_out);
    assert_int_equal(modal_device_count() == 2, reason[0] != '\0');
    assert_true(!reason[0] || !left_out[0]);
    for (int i = 0; i < modal_device_count(); i++) {
        modal_device device;
        assert_int_equal(modal_device_describe(i, &device, NULL), MODAL_OK);
        assert_int_equal(device.shared_bytes > 0, i >= 2);
    }
}

/* Main memory in the place of a device's: what is held, and the most that was, through many allocations and frees in
 * another order. */
static void test_held_bytes(void **state)
{
    (void)state;
    enum { N = 1000 };
    const modal_device device = {.interface = &modal_host_interface}, shared = {.interface = &modal_host_interface, .shares_memory = 1};
    char *memory[N] = {NULL}, *other = NULL;
    int64_t held = 0, before = modal_device_most_bytes();
    assert_int_equal(modal_device_held_bytes(), 0);
    assert_int_equal(modal_device_alloc(&shared, &other, 5, 1, "shared", NULL), MODAL_OK);
    assert_int_equal(modal_device_held_bytes(), 0); /* that is main memory */
    for (int i = 0; i < N; i++) {
        assert_int_equal(modal_device_alloc(&device, &memory[i], 10 + i, 8, "device", NULL), MODAL_OK);
        held += 8 * (10 + i);
        assert_int_equal(modal_device_held_bytes(), held);
    }
    assert_int_equal(modal_device_most_bytes(), held > before ? held : before);
    for (int k = 0; k < N; k++) {
        const int i = k * 7 % N;
        modal_device_free(&device, &memory[i]);
        modal_device_free(&device, &memory[i]); /* NULL by now */
        held -= 8 * (10 + i);
        assert_int_equal(modal_device_held_bytes(), held);
    }
    modal_device_free(&shared, &other);
    assert_int_equal(held, 0);
    assert_true(modal_device_most_bytes() >= 8 * (10 * N + N * (N - 1) / 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_code_runs), cmocka_unit_test(test_listing), cmocka_unit_test(test_held_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
