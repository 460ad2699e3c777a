/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of every size come into a file in the order in which they are given, whether they pass the buffer or not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/sequences/file_out.h"

enum { MOST = 3 << 20 };

static void check(const int64_t *sizes, int n)
{
    char folder[] = "/tmp/modal-file-out-XXXXXX", path[64];
    modal_error err = {0};
    modal_file_out out = {.file = -1};
    char *wanted = malloc(MOST), *got = malloc(MOST + 1);
    int64_t length = 0;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a", folder);
    for (int64_t i = 0; i < MOST; i++) wanted[i] = (char)(i * 31 + i / 251);
    assert_int_equal(modal_file_out_open(&out, path, &err), MODAL_OK);
    for (int i = 0; i < n; i++) {
        if (sizes[i] < 0) { /* reserved and filled */
            char *to = NULL;
            assert_int_equal(modal_file_out_reserve(&out, -sizes[i], &to, &err), MODAL_OK);
            memcpy(to, wanted + length, (size_t)-sizes[i]);
            modal_file_out_filled(&out, to - sizes[i]);
        } else {
            assert_int_equal(modal_file_out_write(&out, wanted + length, sizes[i], &err), MODAL_OK);
        }
        length += labs((long)sizes[i]);
    }
    assert_int_equal(modal_file_out_close(&out, &err), MODAL_OK);
    modal_file_out_free(&out);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(got, 1, MOST + 1, file), length);
    fclose(file);
    assert_memory_equal(got, wanted, (size_t)length);
    unlink(path);
    rmdir(folder);
    free(wanted);
    free(got);
}

static void test_order(void **state)
{
    (void)state;
    /* the buffer has 1 MiB; half of it and more is written past it */
    static const int64_t cases[][6] = {{200, 600000, 5, 3, 1, 1},         {-200, 524288, -7, 1, 1, 1},  {32, 700000, 32, 700000, 32, 1},
                                       {400000, 533000, 10, 1, 1, 1},     {524287, 524288, 1, 1, 1, 1}, {1 << 20, 1, 1 << 20, 1, 2, 3},
                                       {-1000, 1000000, 400000, 40, 1, 1}, {1, 2, 3, 4, 5, 6}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check(cases[i], 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
