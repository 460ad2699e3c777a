/* SPDX-License-Identifier: Apache-2.0 */
/* One file of all frames: y4m as it is, mp4 and gif made by ffmpeg, a child process that is fed with frames and ends with this one. It writes
 * to the open temporary file, so that nothing is left of it where that file has gone. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/memory.h"
#include "tools/modalrender/modalrender.h"

enum { GIF_RATE = 50 }; /* frames a second: viewers show shorter delays than 1/50 s slowly */

/* In the child. out: of the file that becomes the film. */
static void become(const char *path, char *const *words, int in, int out, int messages, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    const int files[] = {in, messages, messages, out};
    for (int i = 0; i < 4; i++)
        if (dup2(files[i], i) < 0) _exit(1); /* all are above 3 */
    execv(path, words);
    dprintf(STDERR_FILENO, "%s: cannot run, %s\n", path, strerror(errno));
    _exit(1);
}

/* The whole command line; the same film on every machine: a fixed number of threads, no names of programs, no dates. */
static void list_words(const modalrender_request *r, const int64_t rate[2], char text[4][256], char *words[48])
{
    const int gif = r->format == MODALRENDER_GIF;
    int n = 0;
    snprintf(text[0], sizeof text[0], "%dx%d", r->width, r->height);
    snprintf(text[1], sizeof text[1], "%lld/%lld", (long long)rate[0], (long long)rate[1]);
    snprintf(text[2], sizeof text[2], "%ssplit[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1:dither=none",
             rate[0] > GIF_RATE * rate[1] ? "fps=50," : "");
    static const char *const begin[] = {"ffmpeg", "-hide_banner", "-nostats", "-loglevel", "error", "-xerror", "-y"};
    static const char *const film[] = {"-f", "yuv4mpegpipe", "-i", "pipe:0", "-vf",
                                       "setparams=range=tv:colorspace=bt709:color_primaries=bt709:color_trc=bt709,format=yuv420p",
                                       "-sws_flags", "accurate_rnd+bitexact", "-c:v", "libx264", "-preset", "medium", "-crf", "18", "-threads", "4",
                                       "-movflags", "+faststart"};
    static const char *const end[] = {"-map_metadata", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact", "-f"};
    const char *const picture[] = {"-f", "rawvideo", "-pixel_format", "rgb24", "-video_size", text[0], "-framerate", text[1], "-i", "pipe:0",
                                   "-filter_complex", text[2], "-threads", "1", "-loop", "0"};
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++) words[n++] = (char *)begin[i];
    for (size_t i = 0; gif && i < sizeof picture / sizeof *picture; i++) words[n++] = (char *)picture[i];
    for (size_t i = 0; !gif && i < sizeof film / sizeof *film; i++) words[n++] = (char *)film[i];
    for (size_t i = 0; i < sizeof end / sizeof *end; i++) words[n++] = (char *)end[i];
    words[n++] = gif ? "gif" : "mp4";
    words[n++] = "/dev/fd/3";
    words[n] = NULL;
}

/* A descriptor above those that the child gets. */
static int above(int file) { return fcntl(file, F_DUPFD_CLOEXEC, 4); }

modal_status modalrender_film_start(modalrender_film *film, const modalrender_request *r, const int64_t rate[2], const tool_output *output,
                                    modal_error *err)
{
    modal_status status = MODAL_OK;
    char text[4][256], *words[48];
    int ends[2] = {-1, -1}, in = -1, out = above(output->lock);
    film->path = output->path;
    if (r->format == MODALRENDER_Y4M) {
        film->to = out;
        return out >= 0 ? MODAL_OK : modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot write, %s", output->path, strerror(errno));
    }
    list_words(r, rate, text, words);
    film->messages = above(memfd_create("messages", MFD_CLOEXEC));
    if (out < 0 || film->messages < 0 || pipe2(ends, O_CLOEXEC) != 0 || (in = above(ends[0])) < 0)
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot start ffmpeg, %s", output->path, strerror(errno));
    fflush(NULL);
    const pid_t own = getpid();
    tool_signals_defer();
    film->child = fork();
    if (film->child == 0) become(film->program, words, in, out, film->messages, own);
    tool_signals_resume();
    if (film->child < 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot start ffmpeg, %s", output->path, strerror(errno));
    film->to = ends[1];
    ends[1] = -1;
done:
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0) close(ends[i]);
    if (in >= 0) close(in);
    if (out >= 0) close(out);
    return status;
}

/* ffmpeg's last line, without its end; 0: it has printed none. */
static int last_line(int messages, char *line, size_t room)
{
    char text[4096];
    const off_t size = lseek(messages, 0, SEEK_END), from = size > (off_t)sizeof text - 1 ? size - (off_t)sizeof text + 1 : 0;
    ssize_t n = pread(messages, text, sizeof text - 1, from);
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r')) n--;
    if (n <= 0) return 0;
    text[n] = '\0';
    const char *start = strrchr(text, '\n');
    snprintf(line, room, "%.500s", start ? start + 1 : text);
    return 1;
}

modal_status modalrender_film_finish(modalrender_film *film, modal_error *err)
{
    char line[512] = "";
    int result = 0;
    if (film->to >= 0 && close(film->to) != 0 && film->child <= 0)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot write, %s", film->path, strerror(errno));
    film->to = -1;
    if (film->child <= 0) return MODAL_OK;
    while (waitpid(film->child, &result, 0) < 0 && errno == EINTR) {}
    film->child = 0;
    if (WIFEXITED(result) && WEXITSTATUS(result) == 0) return MODAL_OK;
    if (!last_line(film->messages, line, sizeof line))
        snprintf(line, sizeof line, WIFSIGNALED(result) ? "ended by signal %d" : "ended with exit code %d",
                 WIFSIGNALED(result) ? WTERMSIG(result) : WEXITSTATUS(result));
    modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: ffmpeg: %s", film->path, line);
    tool_name_error("/dev/fd/3", film->path, err);
    return MODAL_ERROR_SYSTEM;
}

modal_status modalrender_film_write(modalrender_film *film, const void *bytes, int64_t length, modal_error *err)
{
    for (const char *from = bytes; length > 0;) {
        const ssize_t n = write(film->to, from, (size_t)length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && film->child > 0) { /* it has ended: it says why */
            const modal_status status = modalrender_film_finish(film, err);
            return status != MODAL_OK ? status : modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: ffmpeg: ended before the film did", film->path);
        }
        if (n < 0) return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot write, %s", film->path, strerror(errno));
        from += n, length -= n;
    }
    return MODAL_OK;
}

void modalrender_film_end(modalrender_film *film)
{
    if (film->child > 0) {
        kill(film->child, SIGKILL);
        while (waitpid(film->child, NULL, 0) < 0 && errno == EINTR) {}
    }
    if (film->to >= 0) close(film->to);
    if (film->messages >= 0) close(film->messages);
    modal_free(&film->program);
    *film = MODALRENDER_NO_FILM;
}
