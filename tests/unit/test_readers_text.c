/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers share: loading, lines, numbers, tags. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/meshes/tag_table.h"
#include "formats/meshes/text_reader.h"
#include "lib/base/hash.h"
#include "lib/base/memory.h"

static modal_number parse(const char *token, double *value)
{
    return modal_parse_real(token, (int64_t)strlen(token), value);
}

static void test_reals(void **state)
{
    (void)state;
    static const char *const good[] = {"0",
                                       "-0",
                                       "1",
                                       "+1.5",
                                       ".5",
                                       "5.",
                                       "-1e3",
                                       "1E-3",
                                       "1e+22",
                                       "1e22",
                                       "1e23",
                                       "9007199254740992",
                                       "9007199254740993",
                                       "9007199254740993e0",
                                       "0.1",
                                       "0.2",
                                       "0.30000000000000004",
                                       "2.2250738585072011e-308",
                                       "2.2250738585072014e-308",
                                       "4.9406564584124654e-324",
                                       "1e-400",
                                       "1.7976931348623157e308",
                                       "0.000000000000000000000000000000000000001",
                                       "123456789012345678",
                                       "1234567890123456789012345678901234567890",
                                       "6.02214076e23",
                                       "00000000000000000000001.25",
                                       "0e99999999999999999999",
                                       "1e-99999999999",
                                       "179769313486231580793e288"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double value = 1, expected = strtod(good[i], NULL);
        assert_int_equal(parse(good[i], &value), MODAL_NUMBER_OK);
        assert_memory_equal(&value, &expected, sizeof value);
    }
}

static void test_reals_refused(void **state)
{
    (void)state;
    static const char *const malformed[] = {"",    "-",     "+",  ".",     "e5",    "1e",    "1e+",
                                            "1x",  "x1",    "1 ", "1.2.3", "1,5",   "0x10",  "1d3",
                                            "--1", "1e5.5", "in", "infx",  "1_000", "1e5e5", "1f"};
    static const char *const range[] = {"nan",
                                        "NaN",
                                        "-nan",
                                        "nan(1)",
                                        "inf",
                                        "-INF",
                                        "+Infinity",
                                        "1e999",
                                        "-1e309",
                                        "1.8e308",
                                        "1e99999999999999999999"};
    double value = 0;
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        assert_int_equal(parse(malformed[i], &value), MODAL_NUMBER_MALFORMED);
    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        assert_int_equal(parse(range[i], &value), MODAL_NUMBER_RANGE);
    char longest[MODAL_REAL_DIGITS + 2];
    memset(longest, '7', sizeof longest);
    longest[MODAL_REAL_DIGITS] = '\0';
    assert_int_equal(parse(longest, &value), MODAL_NUMBER_RANGE);
    longest[1] = '.';
    assert_int_equal(parse(longest, &value), MODAL_NUMBER_OK);
    longest[MODAL_REAL_DIGITS] = '7';
    longest[MODAL_REAL_DIGITS + 1] = '\0';
    assert_int_equal(parse(longest, &value), MODAL_NUMBER_OK);
    memset(longest, '7', sizeof longest - 1);
    assert_int_equal(parse(longest, &value), MODAL_NUMBER_LONG);
}

/* Correct rounding: what is printed with enough digits comes back, and strtod agrees. */
static void test_reals_at_random(void **state)
{
    (void)state;
    const uint64_t seed = 20201;
    print_message("seed %llu\n", (unsigned long long)seed);
    uint64_t x = seed;
    static const char *const formats[] = {"%.17g", "%.16g", "%.9g", "%.3f", "%.25e", "%.6e"};
    int checked = 0;
    for (int i = 0; i < 60000; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        double number, value = 0;
        char text[512];
        if (i % 2)
            memcpy(&number, &x, sizeof number);
        else
            number = ((double)(int64_t)x) * 0x1p-60;
        if (!(number - number == 0)) continue;
        snprintf(text, sizeof text, formats[i % 6], number);
        if (strlen(text) > 300) continue;
        double expected = strtod(text, NULL);
        if (!(expected - expected == 0)) continue;
        assert_int_equal(parse(text, &value), MODAL_NUMBER_OK);
        assert_memory_equal(&value, &expected, sizeof value);
        checked++;
    }
    assert_true(checked > 40000);
}

static void test_integers(void **state)
{
    (void)state;
    static const struct {
        const char *token;
        modal_number result;
        int64_t value;
    } cases[] = {{"0", MODAL_NUMBER_OK, 0},
                 {"-0", MODAL_NUMBER_OK, 0},
                 {"+12", MODAL_NUMBER_OK, 12},
                 {"-12", MODAL_NUMBER_OK, -12},
                 {"0012", MODAL_NUMBER_OK, 12},
                 {"9223372036854775807", MODAL_NUMBER_OK, INT64_MAX},
                 {"-9223372036854775808", MODAL_NUMBER_OK, INT64_MIN},
                 {"9223372036854775808", MODAL_NUMBER_RANGE, 0},
                 {"-9223372036854775809", MODAL_NUMBER_RANGE, 0},
                 {"99999999999999999999x", MODAL_NUMBER_MALFORMED, 0},
                 {"", MODAL_NUMBER_MALFORMED, 0},
                 {"-", MODAL_NUMBER_MALFORMED, 0},
                 {"1.0", MODAL_NUMBER_MALFORMED, 0},
                 {"1e3", MODAL_NUMBER_MALFORMED, 0},
                 {"0x1", MODAL_NUMBER_MALFORMED, 0},
                 {"1 ", MODAL_NUMBER_MALFORMED, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t value = 0;
        assert_int_equal(
            modal_parse_integer(cases[i].token, (int64_t)strlen(cases[i].token), &value),
            cases[i].result);
        assert_true(value == cases[i].value);
    }
}

static void test_lines(void **state)
{
    (void)state;
    const char data[] = "\xEF\xBB\xBF"
                        "a bc\r\n\n# no\n d,e , f # no\n";
    static const struct {
        const char *token;
        int64_t line;
    } expected[] = {{"a", 1}, {"bc", 1}, {"d", 4}, {"e", 4}, {"f", 4}};
    modal_text text;
    modal_text_init(&text, "x", data, sizeof data - 1, NULL);
    text.commas = text.comments = 1;
    const char *token;
    int64_t length;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_true(modal_text_seek_token(&text));
        assert_true(modal_text_token(&text, &token, &length));
        assert_true(modal_token_is(token, length, expected[i].token));
        assert_true(text.line == expected[i].line);
    }
    assert_false(modal_text_token(&text, &token, &length));
    assert_false(modal_text_seek_token(&text));
}

static void test_continued_lines(void **state)
{
    (void)state;
    const char data[] = "a\\\r\n b \\\n\nc\\d \\";
    static const char *const expected[] = {"a", "b"};
    modal_text text;
    const char *token;
    int64_t length;
    modal_text_init(&text, "x", data, sizeof data - 1, NULL);
    text.continuations = 1;
    for (size_t i = 0; i < 2; i++) {
        assert_true(modal_text_token(&text, &token, &length));
        assert_true(modal_token_is(token, length, expected[i]));
    }
    assert_false(modal_text_token(&text, &token, &length));
    assert_true(text.line == 3);
    assert_true(modal_text_seek_token(&text));
    assert_true(modal_text_token(&text, &token, &length));
    assert_true(modal_token_is(token, length, "c\\d"));
    assert_true(text.line == 4);
    assert_true(modal_text_token(&text, &token, &length));
    assert_true(modal_token_is(token, length, "\\"));
    assert_false(modal_text_token(&text, &token, &length));
}

static void test_messages_are_printable_and_bounded(void **state)
{
    (void)state;
    char data[200], quoted[MODAL_QUOTE];
    memset(data, '\x01', sizeof data);
    assert_string_equal(modal_quote(quoted, data, 3), "???");
    modal_quote(quoted, data, sizeof data);
    assert_int_equal(strlen(quoted), 43);
    modal_error err = {0};
    modal_text text;
    modal_text_init(&text, "a.msh", data, sizeof data, &err);
    text.subject = "element";
    text.number = 118;
    text.line = 412;
    assert_int_equal(modal_text_fail(&text, "repeated node, %d", 7), MODAL_ERROR_INPUT);
    assert_string_equal(err.message, "a.msh:412: element 118: repeated node, 7");
}

static void test_file_load(void **state)
{
    (void)state;
    char folder[] = "/tmp/modal-readers-XXXXXX", path[128];
    char *data = NULL;
    int64_t length;
    assert_non_null(mkdtemp(folder));
    modal_error err = {0};
    assert_int_equal(modal_file_load(folder, &data, &length, &err), MODAL_ERROR_INPUT);
    assert_non_null(strstr(err.message, ": is a directory"));
    snprintf(path, sizeof path, "%s/a", folder);
    err = (modal_error){0};
    assert_int_equal(modal_file_load(path, &data, &length, &err), MODAL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "/a: cannot open, No such file or directory"));
    err = (modal_error){0};
    assert_int_equal(modal_file_load("/dev/null", &data, &length, &err), MODAL_ERROR_INPUT);
    assert_string_equal(err.message, "/dev/null: not a regular file");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (int i = 0; i < 70000; i++) fputc(i % 251, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(modal_file_load(path, &data, &length, NULL), MODAL_OK);
    assert_true(length == 70000);
    for (int i = 0; i < 70000; i++) assert_int_equal((unsigned char)data[i], i % 251);
    modal_free(&data);
    if (geteuid() != 0) { /* root may read everything */
        assert_int_equal(chmod(path, 0), 0);
        assert_int_equal(modal_file_load(path, &data, &length, NULL), MODAL_ERROR_SYSTEM);
    }
    assert_int_equal(truncate(path, 0), 0);
    err = (modal_error){0};
    if (geteuid() == 0) {
        assert_int_equal(modal_file_load(path, &data, &length, &err), MODAL_ERROR_INPUT);
        assert_non_null(strstr(err.message, "/a: empty file"));
    }
    assert_null(data);
    /* A pipe, into which nobody writes, is not waited for. */
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    err = (modal_error){0};
    assert_int_equal(modal_file_load(path, &data, &length, &err), MODAL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "/a: not a regular file"));
    char hash[MODAL_HASH_TEXT];
    assert_int_equal(modal_hash_file(path, hash, NULL), MODAL_ERROR_INPUT);
    unlink(path);
    rmdir(folder);
}

static void test_read_error_is_a_system_error(void **state)
{
    (void)state;
    char *data = NULL;
    int64_t length;
    modal_error err = {0};
    /* Opens for everyone; reading at address 0 of the process fails. */
    assert_int_equal(modal_file_load("/proc/self/mem", &data, &length, &err), MODAL_ERROR_SYSTEM);
    assert_non_null(strstr(err.message, "/proc/self/mem: read error, "));
    assert_null(data);
}

static void test_tag_table(void **state)
{
    (void)state;
    enum { N = 3000 };
    static int64_t tags[N + 1];
    static const int64_t strides[] = {1, 7, 64, 4096, INT64_C(1) << 40, -3};
    for (size_t s = 0; s < sizeof strides / sizeof *strides; s++) {
        modal_tag_table table = {0};
        int32_t earlier;
        assert_int_equal(modal_tag_table_find(&table, tags, 5), -1);
        for (int32_t i = 0; i < N; i++) {
            tags[i] = 11 + strides[s] * ((i * 7) % N);
            assert_int_equal(modal_tag_table_add(&table, tags, i, &earlier, NULL), MODAL_OK);
            assert_int_equal(earlier, -1);
        }
        for (int32_t i = 0; i < N; i++) {
            assert_int_equal(modal_tag_table_find(&table, tags, tags[i]), i);
            assert_int_equal(modal_tag_table_find(&table, tags, INT64_MAX - i), -1);
            tags[N] = tags[i];
            assert_int_equal(modal_tag_table_add(&table, tags, N, &earlier, NULL), MODAL_OK);
            assert_int_equal(earlier, i);
        }
        modal_tag_table_free(&table);
        modal_tag_table_free(&table);
    }
}

/* Consecutive tags need no slots, until one comes that does not follow; what is there is found before and afterwards. */
static void test_consecutive_tags(void **state)
{
    (void)state;
    enum { N = 1000 };
    static int64_t tags[N + 1];
    for (int64_t turn = 0; turn < 4; turn++)
        for (int32_t last = 1; last <= N; last += 333) { /* consecutive ones; then others, downwards */
            modal_tag_table table = {0};
            const int64_t first = turn == 3 ? INT64_MAX - N : turn == 2 ? -5 : 17;
            int32_t earlier;
            if (turn) modal_tag_table_expect(&table, N);
            for (int32_t i = 0; i < N; i++) {
                tags[i] = i < last ? first + i : first - 3 * (i - last + 1);
                assert_int_equal(modal_tag_table_add(&table, tags, i, &earlier, NULL), MODAL_OK);
                assert_int_equal(earlier, -1);
                assert_true((table.slots == NULL) == (i < last));
                tags[i + 1] = tags[i / 2];
                assert_int_equal(modal_tag_table_add(&table, tags, i + 1, &earlier, NULL), MODAL_OK);
                assert_int_equal(earlier, i / 2);
                assert_int_equal(modal_tag_table_find(&table, tags, first + last), -1);
                assert_int_equal(modal_tag_table_find(&table, tags, first - 1), -1);
                assert_int_equal(modal_tag_table_find(&table, tags, INT64_MIN + i), -1);
            }
            for (int32_t i = 0; i < N; i++) assert_int_equal(modal_tag_table_find(&table, tags, tags[i]), i);
            modal_tag_table_free(&table);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reals),
        cmocka_unit_test(test_reals_refused),
        cmocka_unit_test(test_reals_at_random),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_continued_lines),
        cmocka_unit_test(test_messages_are_printable_and_bounded),
        cmocka_unit_test(test_file_load),
        cmocka_unit_test(test_read_error_is_a_system_error),
        cmocka_unit_test(test_tag_table),
        cmocka_unit_test(test_consecutive_tags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
