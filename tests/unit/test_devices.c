/* SPDX-License-Identifier: Apache-2.0 */
/* Which CUDA devices a build has code for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kernels/cuda_machine.h"
#include "kernels/registry.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_code_runs), cmocka_unit_test(test_listing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
