/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Entries change only while signals wait. */
enum { UNFINISHED = 64 };
static struct {
    char path[4096];
    tool_unfinished kind;
    char extension[16];
} unfinished[UNFINISHED];
static int n_unfinished;
static char signal_message[128];
static int signal_message_length;
static volatile sig_atomic_t held, signalled;

/* A signal may come to any thread, so a mask is not enough: who defers and who ends the process exclude each other. */
enum { IDLE, DEFERRED, ENDING };
static atomic_int state, pending;
static int depth;

void tool_signals_defer(void)
{
    int idle = IDLE;
    if (depth++ > 0) return;
    while (!atomic_compare_exchange_strong(&state, &idle, DEFERRED)) { /* another thread ends the process */
        pause();
        idle = IDLE;
    }
}

void tool_signals_resume(void)
{
    if (--depth > 0) return;
    atomic_store(&state, IDLE);
    const int number = atomic_exchange(&pending, 0);
    if (number) raise(number);
}

/* Removes the frames from `frame` on, which are made in their order, and returns the first one that is not
 * there. Nothing but what a signal handler may call. */
static int64_t unlink_frames(char *path, const char *extension, int64_t frame)
{
    const size_t length = strlen(path);
    for (; frame < 1000000; frame++) {
        char *to = path + length;
        *to++ = '/';
        for (int64_t unit = 100000; unit > 0; unit /= 10) *to++ = (char)('0' + frame / unit % 10);
        *to++ = '.';
        strcpy(to, extension);
        const int gone = unlink(path) == 0;
        path[length] = '\0';
        if (!gone) return frame;
    }
    return frame;
}

/* Removes a folder of frames while another thread may still be making some: under another name it is not
 * found again, and a frame that was just being made goes in a further round. */
static void remove_frames(char *path, const char *extension)
{
    static char before[sizeof unfinished[0].path];
    int64_t frame = 0;
    strcpy(before, path);
    strcat(path, "~");
    if (rename(before, path) != 0) strcpy(path, before);
    for (int round = 0; round < 1000; round++) {
        frame = unlink_frames(path, extension, frame);
        if (rmdir(path) == 0 || (errno != ENOTEMPTY && errno != EEXIST)) return;
    }
}

void tool_signals_hold(void) { held = 1; }
int tool_signalled(void) { return signalled; }
void tool_signals_ignore(void)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
}

static void on_signal(int number)
{
    if (held && !signalled) {
        signalled = number;
        return;
    }
    for (int idle = IDLE; !atomic_compare_exchange_strong(&state, &idle, ENDING); idle = IDLE) {
        if (idle == ENDING) return;
        atomic_store(&pending, number);
        if (atomic_load(&state) == DEFERRED) return;
    }
    for (int i = n_unfinished - 1; i >= 0; i--) {
        if (unfinished[i].kind == TOOL_UNFINISHED_NUMBERED)
            remove_frames(unfinished[i].path, unfinished[i].extension);
        else if (unfinished[i].kind == TOOL_UNFINISHED_FOLDER)
            rmdir(unfinished[i].path);
        else
            unlink(unfinished[i].path);
    }
    ssize_t written = write(STDERR_FILENO, signal_message, (size_t)signal_message_length);
    (void)written;
    _exit(128 + number);
}

void tool_signals_install(const char *tool_name)
{
    int length = snprintf(signal_message, sizeof signal_message, "%s: interrupted\n", tool_name);
    signal_message_length = length < (int)sizeof signal_message ? length : 0;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigfillset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

int tool_unfinished_add(const char *path, tool_unfinished kind, const char *extension)
{
    if (n_unfinished == UNFINISHED || strlen(path) + 32 >= sizeof unfinished[0].path ||
        strlen(extension) >= sizeof unfinished[0].extension)
        return 0;
    strcpy(unfinished[n_unfinished].path, path);
    strcpy(unfinished[n_unfinished].extension, extension);
    unfinished[n_unfinished++].kind = kind;
    return 1;
}

void tool_unfinished_drop(const char *path)
{
    tool_signals_defer();
    for (int i = 0; i < n_unfinished; i++)
        if (strcmp(unfinished[i].path, path) == 0) {
            memmove(&unfinished[i], &unfinished[i + 1],
                    (size_t)(n_unfinished - i - 1) * sizeof unfinished[0]);
            n_unfinished--;
            break;
        }
    tool_signals_resume();
}
