/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays in files: what is written is read again, whatever was dropped meanwhile; little of it is resident; nothing is left. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/scratch.h"

enum { WINDOW = 4 << 20, MEBIBYTE = 1 << 20 };

static char folder[] = "scratch-XXXXXX";

/* Bytes resident of files and of memory of its own. */
/* Counted exactly, page by page: /proc/self/statm is off by some pages for each processor of the machine. */
static void find_resident(int64_t *files, int64_t *own)
{
    char line[256];
    long long rss = -1, anonymous = -1;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        sscanf(line, "Rss: %lld kB", &rss);
        sscanf(line, "Anonymous: %lld kB", &anonymous);
    }
    fclose(file);
    assert_true(rss > 0 && anonymous >= 0);
    *own = anonymous * 1024;
    *files = (rss - anonymous) * 1024;
}

static int count_files(void)
{
    int n = 0;
    DIR *opened = opendir(folder);
    assert_non_null(opened);
    while (readdir(opened)) n++;
    closedir(opened);
    return n - 2; /* . and .. */
}

static modal_scratch *begin(void)
{
    modal_scratch *scratch = NULL;
    modal_error err = {0};
    assert_int_equal(modal_scratch_open(folder, WINDOW, &scratch, &err), MODAL_OK);
    modal_store_set(modal_scratch_store(scratch));
    return scratch;
}

static void end(modal_scratch *scratch)
{
    modal_store_set(NULL);
    assert_null(modal_scratch_close(scratch));
    assert_int_equal(count_files(), 0);
}

static void test_what_is_written_is_read(void **state)
{
    (void)state;
    enum { N = 3 * MEBIBYTE };
    modal_scratch *scratch = begin();
    modal_error err = {0};
    int64_t *list = NULL, capacity = 0;
    for (int64_t i = 0; i < N; i++) { /* from main memory into files of ever more bytes */
        assert_int_equal(modal_grow(&list, &capacity, i + 1, sizeof *list, "list", &err), MODAL_OK);
        list[i] = i * i;
        if (i % MEBIBYTE == 0) modal_store_let_go();
    }
    for (int64_t i = 0; i < N; i++) assert_true(list[i] == i * i);
    assert_true(modal_scratch_most(scratch) >= N * (int64_t)sizeof *list);
    modal_free(&list);
    assert_null(list);
    char *zeros = NULL;
    assert_int_equal(modal_alloc_zero(&zeros, N, 1, "zeros", &err), MODAL_OK);
    assert_true((uintptr_t)zeros % MODAL_ALIGNMENT == 0);
    for (int64_t i = 0; i < N; i++) assert_true(zeros[i] == 0);
    modal_free(&zeros);
    end(scratch);
}

static void test_little_is_resident(void **state)
{
    (void)state;
    enum { N = 256, LATE = 64 * MEBIBYTE }; /* what a thread may touch until the sweeper has a core */
    modal_scratch *scratch = begin();
    modal_error err = {0};
    char *large = NULL;
    int64_t files, own, before, own_before, most = 0;
    find_resident(&before, &own_before);
    assert_int_equal(modal_alloc(&large, N, MEBIBYTE, "large", &err), MODAL_OK);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < N; i++) {
            for (int64_t k = 0; k < MEBIBYTE && pass == 1; k += 4096) assert_true(large[i * MEBIBYTE + k] == (char)(i + 1));
            if (pass == 0) memset(large + i * MEBIBYTE, (int)i + 1, MEBIBYTE);
            usleep(2000);
            find_resident(&files, &own);
            if (files > most) most = files;
        }
    assert_true(most - before < WINDOW + LATE);
    assert_true(own - own_before < 4 * MEBIBYTE);
    modal_store_let_go();
    find_resident(&files, &own);
    assert_true(files - before < MEBIBYTE);
    modal_free(&large);
    end(scratch);
}

static void test_what_is_not_taken(void **state)
{
    (void)state;
    modal_scratch *scratch = begin();
    modal_error err = {0};
    char *small = NULL, *other = NULL, *taken = NULL;
    assert_int_equal(modal_alloc(&small, MODAL_SCRATCH_LEAST / 2, 1, "small", &err), MODAL_OK);
    assert_int_equal(modal_store_use(0), 1);
    assert_int_equal(modal_alloc(&other, MEBIBYTE, 1, "other", &err), MODAL_OK);
    assert_int_equal(modal_scratch_most(scratch), 0);
    assert_int_equal(modal_store_use(1), 0);
    assert_int_equal(modal_alloc(&taken, MEBIBYTE, 1, "taken", &err), MODAL_OK);
    assert_true(modal_scratch_most(scratch) >= MEBIBYTE);
    modal_store_use(0);
    modal_free(&taken); /* given back while others are not taken */
    modal_free(&other);
    modal_free(&small);
    modal_store_use(1);
    end(scratch);
}

static void test_errors(void **state)
{
    (void)state;
    modal_scratch *scratch = NULL;
    modal_error err = {0};
    char *much = (char *)folder;
    assert_int_equal(modal_scratch_open("no/folder", WINDOW, &scratch, &err), MODAL_ERROR_SYSTEM);
    assert_null(scratch);
    assert_non_null(strstr(err.message, "scratch file in no/folder: "));
    scratch = begin();
    err = (modal_error){0};
    assert_int_equal(modal_alloc(&much, INT64_C(1) << 60, 1, "much", &err), MODAL_ERROR_SYSTEM);
    assert_null(much);
    assert_non_null(strstr(err.message, "much: scratch file in scratch-"));
    modal_alloc_fail_at(1);
    err = (modal_error){0};
    assert_int_equal(modal_alloc(&much, MEBIBYTE, 1, "much", &err), MODAL_ERROR_MEMORY);
    modal_alloc_fail_at(0);
    end(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_written_is_read),
        cmocka_unit_test(test_little_is_resident),
        cmocka_unit_test(test_what_is_not_taken),
        cmocka_unit_test(test_errors),
    };
    if (!mkdtemp(folder)) return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
