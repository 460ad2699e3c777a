/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/cores.h"
#include "lib/base/hash.h"
#include "lib/base/memory.h"
#include "lib/base/text.h"
#include "lib/model/trajectory.h"

static void test_error_keeps_the_first(void **state)
{
    (void)state;
    modal_error err = {0};
    const int first = __LINE__ + 1;
    assert_int_equal(modal_error_set(&err, MODAL_ERROR_INPUT, "line %d", 3), MODAL_ERROR_INPUT);
    modal_error_set(&err, MODAL_ERROR_SYSTEM, "later");
    modal_error_context(&err, "%s", "a.msh");
    assert_string_equal(err.message, "a.msh: line 3");
    assert_int_equal(err.status, MODAL_ERROR_INPUT);
    assert_string_equal(err.source_file, "tests/unit/test_base.c");
    assert_int_equal(err.source_line, first);
}

static void test_error_text_is_bounded(void **state)
{
    (void)state;
    modal_error err = {0};
    char longer[3 * MODAL_ERROR_TEXT];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    modal_error_set(&err, MODAL_ERROR_INPUT, "%s", longer);
    modal_error_context(&err, "%s", longer);
    assert_int_equal(strlen(err.message), MODAL_ERROR_TEXT - 1);
}

static void cleans_to(const char *text, const char *wanted)
{
    char to[256], again[256];
    modal_error err = {0};
    modal_text_clean(to, sizeof to, text);
    assert_string_equal(to, wanted);
    modal_text_clean(again, sizeof again, to);
    assert_string_equal(again, wanted);
    modal_error_set(&err, MODAL_ERROR_INPUT, "%s", text);
    assert_string_equal(err.message, wanted);
}

/* Every byte alone, every character, every way to be no UTF-8. */
static void test_text_is_clean(void **state)
{
    (void)state;
    cleans_to("", "");
    cleans_to("st\xc3\xa4hl \xe2\x82\xac \xf0\x9f\x8e\xb5 C:\\x", "st\xc3\xa4hl \xe2\x82\xac \xf0\x9f\x8e\xb5 C:\\x");
    cleans_to("a\nmodalsim: done\r\t\x1b[31m\x7f", "a\\nmodalsim: done\\r\\t\\x1b[31m\\x7f");
    cleans_to("\xc2\x9b" "31m \xe2\x80\xae \xe2\x80\xa8 \xd8\x9c", "\\u009b31m \\u202e \\u2028 \\u061c");
    cleans_to("\x9b \xff \xc3", "\\x9b \\xff \\xc3");                         /* alone, cut */
    cleans_to("\xc0\xaf \xe0\x80\xaf", "\\xc0\\xaf \\xe0\\x80\\xaf");             /* overlong */
    cleans_to("\xed\xa0\x80 \xf4\x90\x80\x80", "\\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80"); /* surrogate, too large */
    for (int c = 1; c < 256; c++) {
        char text[2] = {(char)c, '\0'}, to[16];
        modal_text_clean(to, sizeof to, text);
        for (const char *t = to; *t; t++) assert_true(*t >= 0x20 && *t < 0x7f);
    }
    uint32_t code, n = 0;
    for (uint32_t wanted = 0x80; wanted < 0x110000; wanted++) {
        char text[5] = {0};
        if (wanted < 0x800)
            text[0] = (char)(0xc0 | wanted >> 6), text[1] = (char)(0x80 | (wanted & 63));
        else if (wanted < 0x10000)
            text[0] = (char)(0xe0 | wanted >> 12), text[1] = (char)(0x80 | (wanted >> 6 & 63)),
            text[2] = (char)(0x80 | (wanted & 63));
        else
            text[0] = (char)(0xf0 | wanted >> 18), text[1] = (char)(0x80 | (wanted >> 12 & 63)),
            text[2] = (char)(0x80 | (wanted >> 6 & 63)), text[3] = (char)(0x80 | (wanted & 63));
        const size_t length = modal_text_character(text, &code);
        if (wanted >= 0xd800 && wanted < 0xe000)
            assert_int_equal(length, 0);
        else
            assert_true(length == strlen(text) && code == wanted && ++n);
    }
    assert_int_equal(n, 0x110000 - 0x80 - 0x800);
}

/* Cut between characters, also where vsnprintf cuts inside one. */
static void test_text_is_cut_whole(void **state)
{
    (void)state;
    char to[8], longer[2 * MODAL_ERROR_TEXT];
    modal_text_clean(to, sizeof to, "12345\x1b");
    assert_string_equal(to, "12345");
    modal_text_clean(to, sizeof to, "123456\xc3\xa4");
    assert_string_equal(to, "123456");
    for (int first = 0; first < 3; first++) {
        modal_error err = {0};
        memset(longer, 'x', sizeof longer);
        for (size_t i = (size_t)first; i + 3 < sizeof longer; i += 3) memcpy(longer + i, "\xe2\x82\xac", 3);
        longer[sizeof longer - 1] = '\0';
        modal_error_set(&err, MODAL_ERROR_INPUT, "%s", longer);
        assert_int_equal(strlen(err.message), first + (MODAL_ERROR_TEXT - 1 - first) / 3 * 3);
        assert_null(strchr(err.message, '\\'));
        modal_error_context(&err, "%s", "ab");
        assert_null(strchr(err.message, '\\'));
    }
}

static void test_alloc(void **state)
{
    (void)state;
    double *items = NULL;
    modal_error err = {0};
    assert_int_equal(modal_alloc_zero(&items, 5, sizeof *items, "items", &err), MODAL_OK);
    assert_int_equal((uintptr_t)items % MODAL_ALIGNMENT, 0);
    assert_true(items[4] == 0.0);
    modal_free(&items);
    assert_null(items);
    modal_free(&items);
    assert_int_equal(modal_alloc(&items, INT64_MAX / 4, sizeof *items, "items", &err),
                     MODAL_ERROR_MEMORY);
    assert_null(items);
    assert_int_equal(modal_alloc(&items, -1, sizeof *items, "items", NULL), MODAL_ERROR_MEMORY);
}

static void test_alloc_fails_on_purpose(void **state)
{
    (void)state;
    int *a = NULL, *b = NULL;
    modal_alloc_fail_at(2);
    assert_int_equal(modal_alloc(&a, 1, sizeof *a, "a", NULL), MODAL_OK);
    assert_int_equal(modal_alloc(&b, 1, sizeof *b, "b", NULL), MODAL_ERROR_MEMORY);
    assert_true(modal_alloc_fired());
    modal_alloc_fail_at(0);
    assert_int_equal(modal_alloc(&b, 1, sizeof *b, "b", NULL), MODAL_OK);
    modal_free(&a);
    modal_free(&b);
}

static void test_grow_keeps_items(void **state)
{
    (void)state;
    int64_t *items = NULL, capacity = 0;
    for (int64_t i = 0; i < 1000; i++) {
        assert_int_equal(modal_grow(&items, &capacity, i + 1, sizeof *items, "items", NULL), MODAL_OK);
        items[i] = i;
    }
    for (int64_t i = 0; i < 1000; i++) assert_int_equal(items[i], i);
    modal_free(&items);
}

static void test_hash_sees_name_order_and_bytes(void **state)
{
    (void)state;
    char text[4][MODAL_HASH_TEXT];
    const int values[2][3] = {{1, 2, 3}, {1, 2, 4}};
    const char *names[2] = {"a", "b"};
    for (int i = 0; i < 4; i++) {
        modal_hash *hash = NULL;
        assert_int_equal(modal_hash_new(&hash, NULL), MODAL_OK);
        modal_hash_array(hash, names[i / 2], values[i % 2], 3, sizeof(int));
        modal_hash_text(hash, text[i]);
        modal_hash_delete(hash);
        assert_int_equal(strlen(text[i]), MODAL_HASH_TEXT - 1);
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++) assert_string_not_equal(text[i], text[j]);
}

static void test_trajectory_of_another_basis(void **state)
{
    (void)state;
    modal_shape shape = {.modes.n_modes = 3};
    modal_object object = {.shape = 0, .parent = -1};
    modal_basis basis = {.n_shapes = 1, .shapes = &shape, .n_objects = 1, .objects = &object};
    int64_t offsets[2] = {0, 3};
    modal_trajectory trajectory = {.n_objects = 1, .mode_offsets = offsets};
    strcpy(basis.hash, "aa");
    strcpy(trajectory.basis_hash, "aa");
    assert_int_equal(modal_trajectory_check_basis(&trajectory, &basis, NULL), MODAL_OK);
    offsets[1] = 4;
    assert_int_equal(modal_trajectory_check_basis(&trajectory, &basis, NULL), MODAL_ERROR_INPUT);
    offsets[1] = 3;
    strcpy(trajectory.basis_hash, "ab");
    modal_error err = {0};
    assert_int_equal(modal_trajectory_check_basis(&trajectory, &basis, &err), MODAL_ERROR_INPUT);
    assert_string_equal(err.message, "made for another basis: hash ab, this basis has aa");
}

static void test_cores_left(void **state)
{
    (void)state;
    assert_int_equal(modal_cores_left(2, 0, 0, 1), 2);
    assert_int_equal(modal_cores_left(2, 0.2, 0, 0.5), 2);
    assert_int_equal(modal_cores_left(2, 0.67, 0, 1), 1); /* a third process on two cores */
    assert_int_equal(modal_cores_left(2, 0.48, 0.5, 1), 1); /* one on a core of its own, which it shares with a thread of ours */
    assert_int_equal(modal_cores_left(2, 0.48, 0, 1), 2);
    assert_int_equal(modal_cores_left(2, 0.02, 0.9, 1), 2); /* our threads wait for each other */
    assert_int_equal(modal_cores_left(2, 0.1, -0.3, 1), 2); /* a thread has ended */
    assert_int_equal(modal_cores_left(2, 5, 0, 1), 1);
    assert_int_equal(modal_cores_left(16, 0.95, 0, 1), 15);
    assert_int_equal(modal_cores_left(16, 0.95, 0.1, 1), 15);
    assert_int_equal(modal_cores_left(16, -0.1, 0, 1), 16);
    assert_int_equal(modal_cores_left(4, NAN, 0, 1), 1);
    assert_int_equal(modal_cores_left(4, 1, 1, 0), 4);
}

/* As many other processes as cores: one thread is left. Without sharing all are taken. */
static void test_cores_of_others(void **state)
{
    (void)state;
    enum { MOST = 64 };
    cpu_set_t ours;
    pid_t others[MOST];
    assert_int_equal(sched_getaffinity(0, sizeof ours, &ours), 0);
    const int n = CPU_COUNT(&ours) < MOST ? CPU_COUNT(&ours) : MOST;
    const struct timespec pause = {0, 10000000};
    long long ticks = 0;
    FILE *file = fopen("/proc/stat", "r");
    if (!file || fscanf(file, "cpu %lld", &ticks) != 1) ticks = 0;
    if (file) fclose(file);
    if (ticks == 0) skip(); /* a system that does not tell */
    assert_int_equal(modal_free_threads(n), n);
    for (int i = 0; i < n; i++)
        if ((others[i] = fork()) == 0)
            for (volatile int k = 0;;) k = !k;
    modal_cores_share(1);
    nanosleep(&pause, NULL);
    int left = modal_free_threads(n);
    const int first = left;
    for (int i = 0; i < 1000 && left > 1; i++) {
        nanosleep(&pause, NULL);
        left = modal_free_threads(n);
    }
    modal_cores_share(0);
    const int all = modal_free_threads(n);
    for (int i = 0; i < n; i++) {
        kill(others[i], SIGKILL);
        waitpid(others[i], NULL, 0);
    }
    assert_int_equal(left, CPU_COUNT(&ours) > MOST ? left : 1);
    if (n == sysconf(_SC_NPROCESSORS_ONLN)) assert_int_equal(first, 1);
    assert_int_equal(all, n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error_keeps_the_first),
        cmocka_unit_test(test_error_text_is_bounded),
        cmocka_unit_test(test_cores_left),
        cmocka_unit_test(test_cores_of_others),
        cmocka_unit_test(test_text_is_clean),
        cmocka_unit_test(test_text_is_cut_whole),
        cmocka_unit_test(test_alloc),
        cmocka_unit_test(test_alloc_fails_on_purpose),
        cmocka_unit_test(test_grow_keeps_items),
        cmocka_unit_test(test_hash_sees_name_order_and_bytes),
        cmocka_unit_test(test_trajectory_of_another_basis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
