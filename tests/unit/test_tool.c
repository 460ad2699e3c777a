/* SPDX-License-Identifier: Apache-2.0 */
/* Options and outputs that all tools share. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/disk.h"
#include "tools/common/commit.h"
#include "tools/common/files.h"
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

static void test_nearest_name(void **state)
{
    (void)state;
    static const char *const names[] = {"fps", "duration", "damping", "damping-ratio", "gravity"};
    static const struct {
        const char *word, *nearest;
    } cases[] = {{"fsp", "fps"}, {"duratoin", "duration"}, {"dampin", "damping"}, {"damping-", "damping"}, {"grvty", "gravity"},
                 {"gvt", NULL},  {"damping-ratoi", "damping-ratio"}, {"dur", "duration"}, {"fp", NULL}, {"", NULL},
                 {"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = tool_nearest_name(cases[i].word, strlen(cases[i].word), names, 5);
        if (cases[i].nearest) assert_non_null(found);
        if (cases[i].nearest) assert_string_equal(found, cases[i].nearest);
        else assert_null(found);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        char *words[4];
        const char *message;
    } cases[] = {
        {{"--mode", "3"}, "--mode: unknown option, did you mean --modes? (see --help all)"}, /* no abbreviations */
        {{"--mem", "3"}, "--mem: unknown option, did you mean --memory-limit? (see --help all)"},
        {{"--yuong=3"}, "--yuong: unknown option, did you mean --young? (see --help all)"},
        {{"--nonsense=3"}, "--nonsense: unknown option (see --help all)"},
        {{"-z"}, "-z: unknown option (see --help all)"},
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
    assert_int_equal(tool_output_begin(&output, "a", 0, &err), MODAL_ERROR_USAGE);
    assert_string_equal(err.message, "a: exists (--force replaces it)");
    tool_output_discard(&output);
    err = (modal_error){0};
    assert_int_equal(tool_output_begin(&output, "b", 0, &err), MODAL_OK);
    write_text(output.temporary, "two");
    write_text("b", "someone else's");
    assert_int_equal(tool_output_commit(&output, &err), MODAL_ERROR_USAGE);
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
    assert_int_equal(tool_output_begin(&output, "/dev/null", 1, &err), MODAL_ERROR_USAGE);
    tool_output_discard(&output);
    assert_int_equal(tool_output_begin(&output, folder, 1, NULL), MODAL_ERROR_USAGE);
    tool_output_discard(&output);
    assert_int_equal(tool_output_begin(&output, "absent/c", 0, NULL), MODAL_ERROR_SYSTEM);
    tool_output_discard(&output);

    int made = 0;
    assert_int_equal(tool_folder_begin("out", &made, NULL), MODAL_OK);
    assert_int_equal(made, 1);
    tool_folder_discard("out", made);
    assert_int_not_equal(access("out", F_OK), 0);
    assert_int_equal(tool_folder_begin("a", &made, NULL), MODAL_ERROR_USAGE);

    assert_int_equal(unlink("a") | unlink("b"), 0);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(folder), 0); /* proves that nothing else is left */
}

static void enter(char *folder)
{
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    tool_files_forget(); /* inodes of removed files come again */
}

static void leave(const char *folder)
{
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(folder), 0); /* proves that nothing else is left */
}

/* A process that has begun an output and waits to be killed. */
static pid_t begin_elsewhere(const char *path, const char *extension, char temporary[64])
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        tool_output output = {0};
        if ((extension ? tool_numbered_begin(&output, path, extension, 0, NULL)
                       : tool_output_begin(&output, path, 0, NULL)) != MODAL_OK)
            _exit(1);
        char name[64] = "";
        snprintf(name, sizeof name, "%s", output.temporary);
        if (extension) {
            char frame[96];
            snprintf(frame, sizeof frame, "%s/000000.%s", name, extension);
            write_text(frame, "frame");
        }
        if (write(ends[1], name, sizeof name) != sizeof name) _exit(1);
        for (;;) pause();
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], temporary, 64), 64);
    close(ends[0]);
    return child;
}

static void end(pid_t child)
{
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* What a killed run has left goes; what a living one works on, and what only looks like it, stays. */
static void test_stale(void **state)
{
    (void)state;
    char folder[] = "/tmp/modal-stale-XXXXXX", killed[64], living[64], frames[64];
    enter(folder);
    tool_output output = {0};
    static const char *const alike[] = {"s.tmp-1234567", "s.tmp-123456789", "s.tmp-1234567x", "os.tmp-12345678", "s.tmp"};
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++) write_text(alike[i], "mine");
    assert_int_equal(mkdir("s.tmp-abcdef01", 0700), 0); /* no output of a file */
    const pid_t first = begin_elsewhere("s", NULL, killed), second = begin_elsewhere("s", NULL, living);
    assert_string_not_equal(killed, living);
    end(first);
    assert_int_equal(access(killed, F_OK), 0);
    assert_int_equal(tool_output_begin(&output, "s", 0, NULL), MODAL_OK);
    assert_int_not_equal(access(killed, F_OK), 0);
    assert_int_equal(access(living, F_OK), 0);
    tool_output_discard(&output);
    end(second);
    assert_int_equal(tool_output_begin(&output, "s", 0, NULL), MODAL_OK);
    assert_int_not_equal(access(living, F_OK), 0);
    tool_output_discard(&output);
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++) {
        assert_file_holds(alike[i], "mine");
        unlink(alike[i]);
    }
    assert_int_equal(rmdir("s.tmp-abcdef01"), 0);

    const pid_t third = begin_elsewhere("f", "ply", frames);
    assert_int_equal(tool_numbered_begin(&output, "f", "ply", 0, NULL), MODAL_OK);
    assert_int_equal(access(frames, F_OK), 0);
    tool_output_discard(&output);
    end(third);
    output = (tool_output){0};
    assert_int_equal(tool_numbered_begin(&output, "f", "ply", 0, NULL), MODAL_OK);
    assert_int_not_equal(access(frames, F_OK), 0);
    tool_output_discard(&output);
    leave(folder);
}

/* Several outputs: all or none, also of those that replace others. */
static void test_commits(void **state)
{
    (void)state;
    char folder[] = "/tmp/modal-commit-XXXXXX", frame[64];
    enter(folder);
    static tool_output outputs[3]; /* other owners than those of the other tests */
    tool_output *const all[] = {&outputs[0], &outputs[1], &outputs[2]};
    for (int round = 0; round < 4; round++) { /* new; one is there; replaced; what replaces cannot get its name */
        modal_error err = {0};
        const int force = round >= 2;
        tool_files_forget();
        if (round == 1) assert_int_equal(unlink("a") | unlink("f/000000.ply") | rmdir("f") | unlink("m"), 0);
        memset(outputs, 0, sizeof outputs);
        assert_int_equal(tool_output_begin(all[0], "a", force, &err), MODAL_OK);
        assert_int_equal(tool_numbered_begin(all[1], "f", "ply", force, &err), MODAL_OK);
        assert_int_equal(tool_output_begin(all[2], "m", force, &err), MODAL_OK);
        const char *text = round == 2 ? "new" : round == 3 ? "newer" : "old";
        write_text(all[0]->temporary, text);
        snprintf(frame, sizeof frame, "%s/000000.ply", all[1]->temporary);
        write_text(frame, text);
        write_text(all[2]->temporary, text);
        write_text("j", "journal");
        if (round == 1) write_text("m", "someone else's");
        if (round == 3) all[1]->force = 0;
        assert_int_equal(tool_outputs_commit(all, 3, "j", &err), round % 2 ? MODAL_ERROR_USAGE : MODAL_OK);
        for (int i = 0; i < 3; i++) tool_output_discard(all[i]);
        if (round == 1) {
            assert_file_holds("m", "someone else's");
            assert_file_holds("j", "journal");
            assert_int_not_equal(access("a", F_OK), 0);
            assert_int_not_equal(access("f", F_OK), 0);
            assert_int_equal(mkdir("f", 0700), 0);
            write_text("a", "old");
            write_text("f/000000.ply", "old");
            continue;
        }
        assert_file_holds("a", round == 3 ? "new" : text);
        assert_file_holds("f/000000.ply", round == 3 ? "new" : text);
        assert_file_holds("m", round == 3 ? "new" : text);
        assert_int_equal(access("j", F_OK) == 0, round == 3);
    }
    assert_int_equal(unlink("a") | unlink("f/000000.ply") | rmdir("f") | unlink("m") | unlink("j"), 0);
    leave(folder);
}

/* Each pair in a process of its own, for a refusal stays. */
static void expect_refusal(const char *input, const char *output, tool_files_extent folder, int read_first, const char *says)
{
    const pid_t child = fork();
    if (child == 0) {
        modal_error err = {0};
        tool_files_watch();
        int file = read_first ? modal_disk_open(input) : -1;
        if (read_first && file < 0) _exit(1);
        const modal_status status = tool_files_write(output, folder, NULL, &err, &err);
        if (!read_first) {
            if (status != MODAL_OK) _exit(2);
            file = modal_disk_open(input);
            tool_files_check(&err);
        }
        if ((file < 0) != (!read_first && says != NULL)) _exit(3);
        if ((err.status == MODAL_ERROR_USAGE) != (says != NULL)) _exit(4);
        _exit(says && !strstr(err.message, says) ? 5 : 0);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
}

/* Two outputs, of two owners. */
static void expect_two_outputs(const char *a, const char *b, int refused)
{
    const pid_t child = fork();
    if (child == 0) {
        modal_error err = {0};
        const char *const paths[] = {a, b};
        int owners[2], n = 0;
        for (int i = 0; i < 2; i++) /* d is one that another program writes into */
            n += tool_files_write(paths[i], strcmp(paths[i], "d") == 0 ? TOOL_FILES_INTO : TOOL_FILES_ONE, NULL, &owners[i], &err) != MODAL_OK;
        _exit(n != refused || (err.status == MODAL_ERROR_USAGE) != refused);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
}

static void test_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/modal-files-XXXXXX";
    enter(folder);
    write_text("in", "in");
    write_text("other", "other");
    assert_int_equal(link("in", "hard") | symlink("in", "soft") | mkdir("d", 0700) | symlink("d", "e"), 0);
    write_text("d/frame", "frame");
    for (int read_first = 0; read_first < 2; read_first++) {
        static const char *const same[] = {"in", "./in", "d/../in", "e/../in", "hard", "soft"};
        for (int i = 0; i < 36; i++) expect_refusal(same[i / 6], same[i % 6], 0, read_first, "input and output are one file");
        expect_refusal("in", "other", 0, read_first, NULL);
        expect_refusal("in", "new", 0, read_first, NULL);
        expect_refusal("d/frame", "d", 0, read_first, NULL);
        expect_refusal("d/frame", "e", 1, read_first, "one file");
        expect_refusal("e/frame", "d", 1, read_first, "one file");
        expect_refusal("in", "d", 1, read_first, NULL);
        expect_refusal("d/frame", "d", TOOL_FILES_INTO, read_first, NULL);
    }
    expect_two_outputs("d", "d/new", 1);
    expect_two_outputs("e/new", "d", 1);
    expect_two_outputs("d", "new", 0);
    expect_two_outputs("d", "d", 1);
    assert_int_equal(unlink("in") | unlink("hard") | unlink("soft") | unlink("other") | unlink("d/frame") | rmdir("d") |
                     unlink("e"), 0);
    leave(folder);
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

/* The variables that settings of libraries took the places of before main (tools/common/start.c) are back. */
static void test_environment(void **state)
{
    (void)state;
    static char strings[1 << 20];
    FILE *file = fopen("/proc/self/environ", "r");
    if (!file) skip();
    const size_t n = fread(strings, 1, sizeof strings - 1, file);
    fclose(file);
    char **variable = environ;
    for (const char *at = strings; at < strings + n; at += strlen(at) + 1) {
        assert_non_null(*variable);
        assert_string_equal(*variable++, at);
    }
    assert_null(*variable);
    assert_true(variable > environ);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_available_memory),
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_nearest_name),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_values_refused),
        cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_stale),
        cmocka_unit_test(test_commits),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
