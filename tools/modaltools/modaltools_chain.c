/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "formats/json/json_text.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"
#include "tools/modaltools/modaltools.h"

modal_status modaltools_path(const char *name, char **path, modal_error *err)
{
    char own[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length < 0) return modal_error_set(err, MODAL_ERROR_SYSTEM, "/proc/self/exe: cannot read, %s", strerror(errno));
    own[length] = '\0';
    modal_status status = modal_alloc(path, length + (int64_t)strlen(name) + 2, 1, "name", err);
    if (status == MODAL_OK) sprintf(*path, "%s/%s", dirname(own), name);
    return status;
}

modal_status modaltools_add(modaltools_command *command, modal_error *err, const char *format, ...)
{
    char text[2 * PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (command->n_words == MODALTOOLS_WORDS || length < 0 || length >= (int)sizeof text)
        return modal_error_set(err, MODAL_ERROR_USAGE, "%s: too many arguments, or too long ones", command->words[0]);
    modal_status status = modal_alloc(&command->words[command->n_words], length + 1, 1, "command", err);
    if (status == MODAL_OK) memcpy(command->words[command->n_words++], text, (size_t)length + 1);
    return status;
}

void modaltools_command_free(modaltools_command *command)
{
    for (int i = 0; i < command->n_words; i++) modal_free(&command->words[i]);
    command->n_words = 0;
}

static modal_status append(modaltools_chain *chain, const char *text, modal_error *err)
{
    const size_t before = chain->script ? strlen(chain->script) : 0;
    char *longer = realloc(chain->script, before + strlen(text) + 1);
    if (!longer) return modal_error_set(err, MODAL_ERROR_MEMORY, "script: out of memory");
    chain->script = longer;
    strcpy(longer + before, text);
    return MODAL_OK;
}

/* A word as the shell has it; what lies in the folder of the chain lies in $work of the script. */
static modal_status append_word(modaltools_chain *chain, const char *word, modal_error *err)
{
    const size_t folder = strlen(chain->folder);
    modal_status status = MODAL_OK;
    if (strncmp(word, chain->folder, folder) == 0 && word[folder] == '/') {
        MODAL_TRY(append(chain, "\"$work\"", err));
        word += folder;
    }
    if (*word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%") == strlen(word)) {
        status = append(chain, word, err);
        goto done;
    }
    MODAL_TRY(append(chain, "'", err));
    for (const char *c = word; *c; c++) {
        const char one[2] = {*c, '\0'};
        MODAL_TRY(append(chain, *c == '\'' ? "'\\''" : one, err));
    }
    MODAL_TRY(append(chain, "'", err));
done:
    return status;
}

/* ---- the folder ---- */

static const char folder_name[] = "modaltools-quick-";
static const char *const file_names[] = {"mesh.msh", "basis.h5", "traj.h5", "shaking.csv"};
enum { FILES = sizeof file_names / sizeof *file_names, RANDOM = 6 };

/* Removes the files of a chain, temporary ones too, from an open folder, and the folder unless something else is in it. */
static void remove_folder(int folder, const char *path)
{
    const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = again < 0 ? NULL : fdopendir(again);
    for (const struct dirent *entry; list && (entry = readdir(list));)
        for (int i = 0; i < FILES; i++)
            if (strncmp(entry->d_name, file_names[i], strlen(file_names[i])) == 0) unlinkat(folder, entry->d_name, 0);
    if (list) closedir(list);
    else if (again >= 0) close(again);
    rmdir(path);
}

/* What killed runs of this user have left: their folders have no lock any more. */
static void sweep(const char *base)
{
    const size_t length = sizeof folder_name - 1;
    char path[PATH_MAX];
    struct stat info;
    DIR *list = opendir(base);
    for (const struct dirent *entry; list && (entry = readdir(list));) {
        if (strncmp(entry->d_name, folder_name, length) != 0 || strlen(entry->d_name) != length + RANDOM ||
            snprintf(path, sizeof path, "%s/%s", base, entry->d_name) >= (int)sizeof path)
            continue;
        const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder < 0) continue;
        if (fstat(folder, &info) == 0 && info.st_uid == geteuid() && tool_lock(folder, 1) == 1) remove_folder(folder, path);
        close(folder);
    }
    if (list) closedir(list);
}

/* A signal that ends the process removes what it knows, files before their folder. 0: a name is too long. */
static int know_unfinished(const char *folder)
{
    char path[PATH_MAX];
    int known = tool_unfinished_add(folder, TOOL_UNFINISHED_FOLDER, "");
    for (int i = 0; known && i < FILES; i++)
        known = snprintf(path, sizeof path, "%s/%s", folder, file_names[i]) < (int)sizeof path && tool_unfinished_add(path, TOOL_UNFINISHED_FILE, "");
    return known;
}

/* Makes and locks the folder, once more where another run took it for one that was left before it was locked. */
static modal_status make_folder(modaltools_chain *chain, const char *base, modal_error *err)
{
    int code = ENOENT;
    for (int tries = 0; chain->lock < 0 && code == ENOENT && tries < 100; tries++) {
        sprintf(chain->folder, "%s/%sXXXXXX", base, folder_name);
        tool_signals_defer();
        const int made = mkdtemp(chain->folder) != NULL;
        if (made) chain->lock = open(chain->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        code = errno;
        if (chain->lock >= 0 && (tool_lock(chain->lock, 1) == 0 || access(chain->folder, F_OK) != 0)) {
            close(chain->lock);
            chain->lock = -1;
            code = ENOENT;
        } else if (made && (chain->lock < 0 || !know_unfinished(chain->folder))) {
            if (chain->lock >= 0) code = ENAMETOOLONG, close(chain->lock), chain->lock = -1;
            rmdir(chain->folder);
        }
        tool_signals_resume();
    }
    return chain->lock >= 0 ? MODAL_OK : modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot make a folder, %s", base, strerror(code));
}

modal_status modaltools_chain_begin(modaltools_chain *chain, tool *t, modal_error *err)
{
    modal_status status = MODAL_OK;
    const char *base = getenv("TMPDIR");
    if (!base || !*base) base = "/tmp";
    *chain = (modaltools_chain){.t = t, .lock = -1, .messages = t->verbose ? -1 : memfd_create("messages", MFD_CLOEXEC)};
    if (!t->verbose && chain->messages < 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "messages: cannot keep them, %s", strerror(errno));
    MODAL_TRY(modal_alloc(&chain->folder, (int64_t)strlen(base) + 32, 1, "name", err));
    sweep(base);
    MODAL_TRY(make_folder(chain, base, err));
    MODAL_TRY(append(chain, MODALTOOLS_SCRIPT_HEAD ": the commands that it ran, in the folder where it ran them\nset -e\n"
                            "work=$(mktemp -d)\ntrap 'rm -rf \"$work\"' EXIT\n", err));
done:
    return status;
}

void modaltools_chain_end(modaltools_chain *chain)
{
    if (chain->folder && chain->lock >= 0) {
        remove_folder(chain->lock, chain->folder);
        close(chain->lock);
    }
    if (chain->messages > 0) close(chain->messages);
    modal_free(&chain->folder);
    free(chain->script);
    chain->script = NULL;
}

modal_status modaltools_chain_write(modaltools_chain *chain, const char *name, const char *text, modal_error *err)
{
    modal_status status = MODAL_OK;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", chain->folder, name);
    FILE *file = fopen(path, "w");
    if (!file) return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot write, %s", path, strerror(errno));
    int failed = fputs(text, file) < 0;
    failed |= fclose(file) != 0;
    if (failed) return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot write, %s", path, strerror(errno));
    MODAL_TRY(append(chain, "cat > \"$work\"/", err));
    MODAL_TRY(append(chain, name, err));
    MODAL_TRY(append(chain, " <<'END'\n", err));
    MODAL_TRY(append(chain, text, err));
    MODAL_TRY(append(chain, "END\n", err));
done:
    return status;
}

/* What the stages print is for who runs them alone, unless --verbose. A stage ends with the run, also one that is killed. */
static void become(const char *path, const modaltools_command *command, int messages, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(TOOL_EXIT_TERMINATED);
    const char *words[MODALTOOLS_WORDS + 2] = {NULL};
    for (int i = 0; i < command->n_words; i++) words[i] = command->words[i];
    if (messages >= 0) {
        dup2(messages, STDERR_FILENO);
        const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
    }
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    execv(path, (char *const *)words);
    dprintf(STDERR_FILENO, "modaltools quick: %s: cannot run, %s\n", path, strerror(errno));
    _exit(TOOL_EXIT_SYSTEM);
}

/* Counts the warnings of a stage; of one that failed prints the last line, with the chain's hint where the stage refused its input. */
static void take_messages(modaltools_chain *chain, const char *name, int code)
{
    char *text = NULL, *last = NULL;
    const int64_t size = (int64_t)lseek(chain->messages, 0, SEEK_END) - chain->n_taken;
    modal_error ignored = {0};
    if (modal_alloc_zero(&text, size + 1, 1, "messages", &ignored) != MODAL_OK) goto done;
    if (modal_disk_read(chain->messages, chain->n_taken, text, size) != size) goto done;
    chain->n_taken += size;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        chain->n_warnings += strstr(line, ": warning: ") != NULL;
        last = line;
    }
    if (code == TOOL_EXIT_DONE) goto done;
    if (tool_signalled()) fprintf(stderr, "modaltools quick: interrupted\n");
    else if (!last || code > 128) fprintf(stderr, "modaltools quick: %s: failed, %d\n", name, code);
    else if (chain->hint && (code == TOOL_EXIT_INPUT || code == TOOL_EXIT_NOT_CONVERGED)) fprintf(stderr, "%s (%s)\n", last, chain->hint);
    else fprintf(stderr, "%s\n", last);
done:
    modal_free(&text);
}

/* Waits for a stage; a signal to this process goes on to it. */
static int wait_for(pid_t child)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    int result, told = 0;
    for (;;) {
        const pid_t got = waitpid(child, &result, WNOHANG);
        if (got == child) break;
        if (got < 0 && errno != EINTR) return TOOL_EXIT_SYSTEM;
        if (tool_signalled() && !told) {
            kill(child, tool_signalled());
            told = 1;
        }
        nanosleep(&pause, NULL);
    }
    return WIFEXITED(result) ? WEXITSTATUS(result) : 128 + WTERMSIG(result);
}

modal_status modaltools_chain_run(modaltools_chain *chain, const modaltools_command *command, int *failed, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *path = NULL;
    const size_t before = strlen(chain->script);
    const double start = tool_seconds();
    *failed = 0;
    for (int i = 0; i < command->n_words; i++) {
        MODAL_TRY(append(chain, i ? " " : "", err));
        MODAL_TRY(append_word(chain, command->words[i], err));
    }
    tool_detail(chain->t, "%s", chain->script + before);
    json_t *all = json_object_get(chain->t->report, "commands");
    if (!all) json_object_set_new(chain->t->report, "commands", all = json_array());
    json_array_append_new(all, modal_json_string(chain->script + before));
    MODAL_TRY(append(chain, "\n", err));
    MODAL_TRY(modaltools_path(command->words[0], &path, err));
    if (tool_signalled()) MODAL_FAIL(err, MODAL_ERROR_INTERRUPTED, "interrupted");
    fflush(NULL);
    const pid_t own = getpid(), child = fork();
    if (child < 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot start, %s", command->words[0], strerror(errno));
    if (child == 0) become(path, command, chain->messages, own);
    const int code = wait_for(child);
    if (chain->messages >= 0) take_messages(chain, command->words[0], code);
    if (code != TOOL_EXIT_DONE) {
        chain->exit_code = code;
        *failed = 1;
    }
    tool_stage(chain->t, command->words[0], tool_seconds() - start, -1);
done:
    modal_free(&path);
    return status;
}
