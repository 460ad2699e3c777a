/* SPDX-License-Identifier: Apache-2.0 */
/* Time series as comma-separated text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/meshes/csv.h"
#include "lib/base/memory.h"

static modal_status parse(const char *text, modal_series *series, modal_error *err)
{
    /* an exact copy on the heap, so that a sanitizer sees a read past the end */
    size_t length = strlen(text);
    char *copy = malloc(length + (length == 0));
    assert_non_null(copy);
    memcpy(copy, text, length);
    memset(err, 0, sizeof *err);
    modal_status status = modal_series_parse_csv(copy, (int64_t)length, "a.csv", 3, series, err);
    free(copy);
    return status;
}

static const char *const good[] = {
    "0,1,2,3\n0.5,4,5,6\n",
    "0,1,2,3\n0.5,4,5,6", /* no newline at the end */
    "t,ax,ay,az\r\n0,1,2,3\r\n0.5,4,5,6\r\n",
    "\xef\xbb\xbf# recorded\n\n  # more\n time [s] , \"ax\",ay,az\n 0 ,\t1, 2,3 \n\n.5,4e0,+5.0,6\n",
};

static void test_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        modal_series s;
        modal_error err;
        modal_status status = parse(good[i], &s, &err);
        assert_string_equal(err.message, "");
        assert_int_equal(status, MODAL_OK);
        assert_int_equal(s.n_rows, 2);
        assert_true(s.times[0] == 0 && s.times[1] == 0.5);
        for (int k = 0; k < 6; k++) assert_true(s.values[k] == k + 1);
        modal_series_free(&s);
        modal_series_free(&s);
    }
}

static void test_bad(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "a.csv: needs at least 2 lines of numbers, 0"},
        {"t,x,y,z\n", "a.csv: needs at least 2 lines of numbers, 0"},
        {"0,1,2,3\n", "a.csv: needs at least 2 lines of numbers, 1"},
        {"0,1,2,3\n1,1,2\n", "a.csv:2: needs 4 columns, 3"},
        {"0,1,2,3\n1,1,2,3,\n", "a.csv:2: needs 4 columns, 5"},
        {"0 1 2 3\n1 1 2 3\n", "a.csv:1: needs 4 columns, 1"},
        {"0;1;2;3\n", "a.csv:1: needs 4 columns, 1"},
        {"0,1,2,3\n#\n1,1,,3\n", "a.csv:3: column 3: not a finite number, "},
        {"0,1,2,3\nt,x,y,z\n", "a.csv:2: column 1: not a finite number, t"},
        {"t,x,y,z\nt,x,y,z\n", "a.csv:2: column 1: not a finite number, t"},
        {"t,x,y,3\n", "a.csv:1: column 1: not a finite number, t"},
        {"nan,nan,nan,nan\n", "a.csv:1: column 1: not a finite number, nan"},
        {"0,1,2,Infinity\n", "a.csv:1: column 4: not a finite number, Infinity"},
        {"0,1,2,1e999\n", "a.csv:1: column 4: not a finite number, 1e999"},
        {"0,1,0x10,3\n", "a.csv:1: column 3: not a finite number, 0x10"},
        {"0,1 2,2,3\n", "a.csv:1: column 2: not a finite number, 1 2"},
        {"0,1,2,3\n0,1,2,3\n", "a.csv:2: the time must increase, 0 after 0"},
        {"1,1,2,3\n0.5,1,2,3\n", "a.csv:2: the time must increase, 0.5 after 1"},
        {"0,1,2,3\n1,1,2,3 # here\n", "a.csv:2: column 4: not a finite number, 3 # here"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        modal_series s;
        modal_error err;
        assert_int_equal(parse(cases[i][0], &s, &err), MODAL_ERROR_INPUT);
        assert_string_equal(err.message, cases[i][1]);
        assert_null(s.times);
        assert_null(s.values);
    }
}

/* Every truncation, and every byte replaced by several others: a result or a message, no more. */
static void test_truncated_and_changed(void **state)
{
    (void)state;
    int refused = 0, taken = 0;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        const size_t length = strlen(good[i]);
        for (size_t cut = 0; cut < length; cut++)
            for (const char *with = "\0,\n#9x\xff"; with < "\0,\n#9x\xff" + 7; with++) {
                char text[256];
                memcpy(text, good[i], length);
                text[cut] = *with;
                modal_series s;
                modal_error err = {0};
                int64_t n = *with ? (int64_t)length : (int64_t)cut;
                char *copy = malloc((size_t)n + 1);
                assert_non_null(copy);
                memcpy(copy, text, (size_t)n);
                modal_status status = modal_series_parse_csv(copy, n, "a.csv", 3, &s, &err);
                free(copy);
                assert_true(status == MODAL_OK ? s.n_rows >= 2 : err.message[0] != '\0');
                (*(status == MODAL_OK ? &taken : &refused))++;
                modal_series_free(&s);
            }
    }
    assert_true(refused > 100 && taken > 100);
}

static void test_many_rows_and_files(void **state)
{
    (void)state;
    char path[] = "/tmp/modal_test_csv_XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    FILE *file = fdopen(descriptor, "w");
    assert_non_null(file);
    for (int i = 0; i < 1000; i++) fprintf(file, "%d,%d,0,%d\n", i, 2 * i, -i);
    assert_int_equal(fclose(file), 0);
    modal_series s;
    modal_error err = {0};
    assert_int_equal(modal_series_read_csv(path, 3, &s, &err), MODAL_OK);
    assert_int_equal(s.n_rows, 1000);
    for (int i = 0; i < 1000; i++)
        assert_true(s.times[i] == i && s.values[3 * i] == 2 * i && s.values[3 * i + 2] == -i);
    modal_series_free(&s);
    int n = 1;
    for (;; n++) {
        memset(&err, 0, sizeof err);
        modal_alloc_fail_at(n);
        modal_status status = modal_series_read_csv(path, 3, &s, &err);
        int fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        modal_series_free(&s);
        if (!fired) {
            assert_int_equal(status, MODAL_OK);
            break;
        }
        assert_int_equal(status, MODAL_ERROR_MEMORY);
    }
    assert_true(n > 4);
    unlink(path);
    memset(&err, 0, sizeof err);
    assert_int_not_equal(modal_series_read_csv(path, 3, &s, &err), MODAL_OK);
    assert_non_null(strstr(err.message, path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_truncated_and_changed),
        cmocka_unit_test(test_many_rows_and_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
