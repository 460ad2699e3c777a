/* SPDX-License-Identifier: Apache-2.0 */
/* Options and outputs that all tools share. */
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

#include "tools/common/memory.h"
#include "tools/common/options.h"
#include "tools/common/output.h"

static const tool_option table[] = {
    {"modes", 'm', "N", "20", "Number of modes.", 0},
    {"young", 0, "E", NULL, "Young's modulus.", 0},
    {"fixed", 0, "GROUP", NULL, "Fixed group.", 1},
    TOOL_OPTION_FORCE,
    TOOL_OPTION_MEMORY_LIMIT,
    TOOL_OPTIONS_COMMON,
    {0},
};

enum { MOST = 12 };

/* Parses a command line that is given as words; the message lands in err. */
static modal_status parse(tool_arguments *arguments, modal_error *err, char *const words[])
{
    static char *argv[MOST + 2];
    int argc = 0;
    argv[argc++] = "tool";
    for (int i = 0; words[i]; i++) argv[argc++] = words[i];
    argv[argc] = NULL;
    *err = (modal_error){0};
    return tool_arguments_parse(arguments, table, argc, argv, err);
}
#define WORDS(...) ((char *const[]){__VA_ARGS__, NULL})

static void test_parse(void **state)
{
    (void)state;
    tool_arguments a;
    modal_error err;
    int64_t modes = 0, bytes = 0;
    double young = 0;
    assert_int_equal(parse(&a, &err,
                           WORDS("in.msh", "--fixed", "left", "--young=2.1e11", "-m", "7", "--fixed",
                                 "right", "out.h5", "--memory-limit", "3M", "-")),
                     MODAL_OK);
    assert_int_equal(a.n_operands, 3);
    assert_string_equal(a.operands[2], "-");
    assert_int_equal(tool_count(&a, "fixed"), 2);
    assert_string_equal(tool_value_at(&a, "fixed", 1), "right");
    assert_null(tool_value_at(&a, "fixed", 2));
    assert_int_equal(tool_integer(&a, "modes", 1, 100, &modes, &err), MODAL_OK);
    assert_int_equal(modes, 7);
    assert_int_equal(tool_number(&a, "young", 0, 1e13, &young, &err), MODAL_OK);
    assert_true(young == 2.1e11);
    assert_int_equal(tool_size(&a, "memory-limit", &bytes, &err), MODAL_OK);
    assert_int_equal(bytes, 3 << 20);
    assert_int_equal(tool_count(&a, "force"), 0);
    tool_arguments_free(&a);
    assert_int_equal(parse(&a, &err, WORDS("-f", "a")), MODAL_OK);
    assert_int_equal(tool_integer(&a, "modes", 1, 100, &modes, &err), MODAL_OK);
    assert_int_equal(modes, 20);
    tool_arguments_free(&a);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        char *words[4];
        const char *message;
    } cases[] = {
        {{"--mode", "3"}, "--mode: unknown option (see --help)"}, /* no abbreviations */
        {{"--nonsense=3"}, "--nonsense: unknown option (see --help)"},
        {{"-z"}, "-z: unknown option (see --help)"},
        {{"-m", "3", "-m"}, "-m: needs a value"},
        {{"-m3", "-m4"}, "--modes: given twice"},
        {{"--young"}, "--young: needs a value"},
        {{"--force=yes"}, "--force: takes no value"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tool_arguments a;
        modal_error err;
        assert_int_equal(parse(&a, &err, cases[i].words), MODAL_ERROR_USAGE);
        assert_string_equal(err.message, cases[i].message);
    }
}

static void test_values_refused(void **state)
{
    (void)state;
    char *const bad_integers[] = {"2x", "", " 3", "1.5", "99999999999999999999", "0", "101"};
    char *const bad_numbers[] = {"nan", "inf", "1e999", "0x10", "1,2", "", " 1", "-1", "2e13"};
    char *const bad_sizes[] = {"0", "-1", "4GB", "1.5G", "K", "99999999999T"};
    modal_error err;
    tool_arguments a;
    int64_t integer = -7;
    double number = -7;
    for (size_t i = 0; i < sizeof bad_integers / sizeof *bad_integers; i++) {
        assert_int_equal(parse(&a, &err, WORDS("--modes", bad_integers[i])), MODAL_OK);
        assert_int_equal(tool_integer(&a, "modes", 1, 100, &integer, &err), MODAL_ERROR_USAGE);
        tool_arguments_free(&a);
    }
    for (size_t i = 0; i < sizeof bad_numbers / sizeof *bad_numbers; i++) {
        assert_int_equal(parse(&a, &err, WORDS("--young", bad_numbers[i])), MODAL_OK);
        assert_int_equal(tool_number(&a, "young", 0, 1e13, &number, &err), MODAL_ERROR_USAGE);
        tool_arguments_free(&a);
    }
    for (size_t i = 0; i < sizeof bad_sizes / sizeof *bad_sizes; i++) {
        assert_int_equal(parse(&a, &err, WORDS("--memory-limit", bad_sizes[i])), MODAL_OK);
        assert_int_equal(tool_size(&a, "memory-limit", &integer, &err), MODAL_ERROR_USAGE);
        tool_arguments_free(&a);
    }
    assert_true(integer == -7 && number == -7);
    double three[3];
    err = (modal_error){0};
    assert_int_equal(tool_parse_numbers("0,-9.81,1e-3", 3, three, "--gravity", &err), MODAL_OK);
    assert_true(three[1] == -9.81 && three[2] == 1e-3);
    char *const bad_lists[] = {"1,2", "1,2,3,4", "1,,3", "1,2,nan", "1 ,2,3", ""};
    for (size_t i = 0; i < sizeof bad_lists / sizeof *bad_lists; i++) {
        err = (modal_error){0};
        assert_int_equal(tool_parse_numbers(bad_lists[i], 3, three, "--gravity", &err),
                         MODAL_ERROR_USAGE);
    }
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void assert_file_holds(const char *path, const char *text)
{
    char got[64] = {0};
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(got, 1, sizeof got - 1, file) == strlen(text));
    fclose(file);
    assert_string_equal(got, text);
}

static void test_outputs(void **state)
{
    (void)state;
    char folder[] = "/tmp/modal-output-XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    tool_output output = {0};
    modal_error err = {0};

    /* a commit leaves the file only */
    assert_int_equal(tool_output_begin(&output, "a", 0, &err), MODAL_OK);
    assert_int_not_equal(access("a", F_OK), 0);
    write_text(output.temporary, "one");
    assert_int_equal(tool_output_commit(&output, &err), MODAL_OK);
    tool_output_discard(&output);
    tool_output_discard(&output);
    assert_file_holds("a", "one");

    /* what exists is not replaced without force, also when it appears meanwhile */
    assert_int_equal(tool_output_begin(&output, "a", 0, &err), MODAL_ERROR_SYSTEM);
    assert_string_equal(err.message, "a: exists (--force replaces it)");
    tool_output_discard(&output);
    err = (modal_error){0};
    assert_int_equal(tool_output_begin(&output, "b", 0, &err), MODAL_OK);
    write_text(output.temporary, "two");
    write_text("b", "someone else's");
    assert_int_equal(tool_output_commit(&output, &err), MODAL_ERROR_SYSTEM);
    tool_output_discard(&output);
    assert_file_holds("b", "someone else's");
    err = (modal_error){0};
    assert_int_equal(tool_output_begin(&output, "b", 1, &err), MODAL_OK);
    write_text(output.temporary, "two");
    assert_int_equal(tool_output_commit(&output, &err), MODAL_OK);
    tool_output_discard(&output);
    assert_file_holds("b", "two");

    /* discarded: nothing stays, the old file is untouched */
    assert_int_equal(tool_output_begin(&output, "b", 1, &err), MODAL_OK);
    char temporary[256];
    snprintf(temporary, sizeof temporary, "%s", output.temporary);
    tool_output_discard(&output);
    assert_int_not_equal(access(temporary, F_OK), 0);
    assert_file_holds("b", "two");

    /* targets that no rename may replace */
    assert_int_equal(tool_output_begin(&output, "/dev/null", 1, &err), MODAL_ERROR_SYSTEM);
    tool_output_discard(&output);
    assert_int_equal(tool_output_begin(&output, folder, 1, NULL), MODAL_ERROR_SYSTEM);
    tool_output_discard(&output);
    assert_int_equal(tool_output_begin(&output, "absent/c", 0, NULL), MODAL_ERROR_SYSTEM);
    tool_output_discard(&output);

    assert_int_equal(link("a", "same"), 0);
    assert_int_equal(tool_refuse_same_file("a", "same", NULL), MODAL_ERROR_USAGE);
    assert_int_equal(tool_refuse_same_file("a", "b", NULL), MODAL_OK);

    int made = 0;
    assert_int_equal(tool_folder_begin("out", &made, NULL), MODAL_OK);
    assert_int_equal(made, 1);
    tool_folder_discard("out", made);
    assert_int_not_equal(access("out", F_OK), 0);
    assert_int_equal(tool_folder_begin("a", &made, NULL), MODAL_ERROR_SYSTEM);

    assert_int_equal(unlink("a") | unlink("b") | unlink("same"), 0);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(folder), 0); /* proves that nothing else is left */
}

static void put(const char *path, const char *text)
{
    char folder[256];
    for (const char *end = path; (end = strchr(end, '/')) != NULL; end++) {
        snprintf(folder, sizeof folder, "%.*s", (int)(end - path), path);
        mkdir(folder, 0700);
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* What a machine has, what its control groups leave of that, and a system that says nothing. */
static void test_available_memory(void **state)
{
    (void)state;
    char folder[] = "/tmp/memory-XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_true(tool_available_memory(".") == 0);
    put("./proc/meminfo", "MemTotal:       24000000 kB\nMemAvailable:   20000000 kB\n");
    assert_true(tool_available_memory(".") == 20000000.0 * 1024);
    put("./proc/self/cgroup", "0::/jobs/seven\n");
    put("./sys/fs/cgroup/jobs/seven/memory.max", "max\n");
    put("./sys/fs/cgroup/jobs/seven/memory.current", "123456\n");
    assert_true(tool_available_memory(".") == 20000000.0 * 1024);
    put("./sys/fs/cgroup/jobs/memory.max", "5000000000\n");
    put("./sys/fs/cgroup/jobs/memory.current", "1000000000\n");
    assert_true(tool_available_memory(".") == 4e9);
    put("./sys/fs/cgroup/jobs/memory.stat", "anon 1\ninactive_file 300000000\nactive_file 200000000\n");
    assert_true(tool_available_memory(".") == 4.5e9);
    put("./sys/fs/cgroup/jobs/seven/memory.max", "1123456\n");
    assert_true(tool_available_memory(".") == 1e6);
    put("./sys/fs/cgroup/jobs/seven/memory.current", "9123456\n"); /* more than there may be */
    assert_true(tool_available_memory(".") == 1);
    put("./proc/self/cgroup", "0::/\n");
    put("./sys/fs/cgroup/memory/memory.limit_in_bytes", "8000000000\n");
    put("./sys/fs/cgroup/memory/memory.usage_in_bytes", "2000000000\n");
    put("./sys/fs/cgroup/memory/memory.stat", "total_inactive_file 500000000\n");
    assert_true(tool_available_memory(".") == 6.5e9);
    assert_int_equal(chdir("/"), 0);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_available_memory),
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_values_refused),
        cmocka_unit_test(test_outputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
