/* SPDX-License-Identifier: Apache-2.0 */
/* What shares know of each other: the head, which says what the sequence follows from, and a journal a share. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "formats/json/json_text.h"
#include "kernels/registry.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"
#include "tools/modaldeform/modaldeform_share.h"

enum { MOST_HEAD = 8192, MOST_LINE = 128 };

/* ---- the head ---- */

/* Everything that files depend on and the journal's lines do not have. */
static void hash_options(const modaldeform_share *s, char text[MODAL_HASH_TEXT])
{
    modal_hash *hash = NULL;
    const modal_sequence_info *info = s->info;
    const double numbers[4] = {info->slow_motion, s->r->creases.degrees, s->r->creases.by_normals, (double)info->target_normals};
    const char *look = s->r->look_path ? s->r->look_path : "";
    text[0] = '\0';
    if (modal_hash_new(&hash, NULL) != MODAL_OK) return;
    modal_hash_array(hash, "numbers", numbers, 4, sizeof *numbers);
    modal_hash_array(hash, "look", look, (int64_t)strlen(look), 1);
    if (info->frame_creases) modal_hash_array(hash, "wedges", info->frame_creases->corners, 3 * info->frame_creases->n_triangles, sizeof(int32_t));
    for (int32_t i = 0; info->creases && i < info->scene->basis->n_shapes; i++)
        modal_hash_array(hash, "wedges", info->creases[i].corners, 3 * info->creases[i].n_triangles, sizeof(int32_t));
    if (info->uv) modal_hash_array(hash, "uv", info->uv, 2 * info->n_points, sizeof *info->uv);
    for (int64_t i = 0; i < info->n_probes; i++) {
        const int64_t probe[2] = {info->probes[i].point, info->probes[i].number};
        modal_hash_array(hash, "probe", probe, 2, sizeof *probe);
    }
    modal_hash_text(hash, text);
    modal_hash_delete(hash);
}

modal_status modaldeform_share_describe(const modaldeform_input *in, const char *kind, modaldeform_share *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    char options[MODAL_HASH_TEXT], journal[MODALDEFORM_JOURNAL_HEAD];
    MODAL_TRY(modal_alloc(&s->head, MOST_HEAD, 1, "head", err));
    modaldeform_journal_describe(in, s->info, kind, journal);
    hash_options(s, options);
    const char *rest = strstr(journal, "journal 1\n"); /* the lines are those of the journal of --resume */
    int used = snprintf(s->head, MOST_HEAD, "%.*sshards 1\n%soptions %s\nformats", (int)(rest - journal), journal, rest + 10, options);
    for (int i = 0; i < s->n; i++)
        used += snprintf(s->head + used, (size_t)(MOST_HEAD - used), " %s", s->all[i].format->name ? s->all[i].format->name : s->all[i].format->files[0]);
    snprintf(s->head + used, (size_t)(MOST_HEAD - used), "\nshards %" PRId64 "\n", s->share.n);
done:
    return status;
}

static modal_status refuse(const modaldeform_share *s, const char *found, modal_error *err)
{
    static const char *const what[] = {"version of this program", "trajectory", "basis", "back end", "arguments", "frames",
                                       "options", "formats", "number of shards"};
    size_t line = 0;
    const char *start = found;
    for (size_t i = 0; found[i] && found[i] == s->head[i]; i++)
        if (found[i] == '\n') line++, start = found + i + 1;
    return modal_error_set(err, MODAL_ERROR_INPUT, "%s: the shards here are of another %s (%.*s); without the folder all starts anew", s->r->folder,
                           what[line < 9 ? line : 8], (int)strcspn(start, "\n"), start);
}

int modaldeform_share_is_complete(const modaldeform_share *s)
{
    char path[4096];
    struct stat info;
    return snprintf(path, sizeof path, "%s/manifest.json", s->r->folder) < (int)sizeof path && stat(path, &info) == 0;
}

int modaldeform_share_is_gone(const modaldeform_share *s)
{
    struct stat info;
    return modaldeform_share_is_complete(s) && stat(s->folder, &info) != 0;
}

int modaldeform_share_was_finished(const modaldeform_share *s)
{
    const struct timespec a_moment = {.tv_nsec = 10000000};
    char path[4096];
    snprintf(path, sizeof path, "%s/finish", s->folder);
    for (int at_work = 1; at_work;) {
        struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        const int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        at_work = file >= 0 && fcntl(file, F_OFD_GETLK, &all) == 0 && all.l_type != F_UNLCK; /* asks: taking it would turn others away */
        if (file >= 0) close(file);
        if (at_work) nanosleep(&a_moment, NULL);
    }
    return modaldeform_share_is_complete(s);
}

/* Writes the whole of a small file that gets its name with all that is in it. */
static modal_status make_text(tool_output *output, const char *path, const char *text, int *first, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(tool_output_begin(output, path, 1, err));
    const int file = open(output->temporary, O_WRONLY | O_CLOEXEC);
    const int failed = file < 0 || modal_disk_write(file, -1, text, (int64_t)strlen(text)) != 0;
    const int code = errno;
    if (file >= 0) close(file);
    if (failed) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: write error, %s", path, strerror(code));
    MODAL_TRY(tool_publish(output, path, first, err));
done:
    tool_output_discard(output);
    return status;
}

modal_status modaldeform_share_meet(modaldeform_share *s, int *finished, modal_error *err)
{
    modal_status status = MODAL_OK;
    char path[4096];
    int first = 0;
    int64_t n;
    *finished = 0;
    if (!s->found) {
        if (mkdir(s->folder, 0777) != 0 && errno != EEXIST)
            MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot make the folder, %s", s->folder, strerror(errno));
        snprintf(path, sizeof path, "%s/head", s->folder);
        MODAL_TRY(make_text(&s->made_head, path, s->head, &first, err));
        /* Who finished between this run's first look and now has removed the folder after the manifest was there. */
        *finished = modaldeform_share_is_complete(s);
        if (*finished) {
            if (first) tool_shares_remove(s->r->folder);
            goto done;
        }
        MODAL_TRY(tool_shares_head(s->r->folder, &s->found, &n, err));
        if (!s->found) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: another process has removed the shards", s->folder);
    }
    if (strcmp(s->found, s->head) != 0) MODAL_TRY(refuse(s, s->found, err));
    tool_folder_keep(s->r->folder);
done:
    return status;
}

/* ---- the journal ---- */

modal_status modaldeform_share_note(const modaldeform_share *s, const char *line, modal_error *err)
{
    if (modal_disk_write(s->journal, -1, line, (int64_t)strlen(line)) == 0) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: write error, %s", s->journal_path, strerror(errno));
}

/* Takes --shard and its value out of a command line that was quoted for a shell. */
static void without_share(char *text)
{
    char *to = text;
    int quoted = 0, dropped = 0, ended = 0;
    for (const char *c = text; *c;) {
        const char *word = c;
        for (; *c && (quoted || *c != ' '); c++) {
            if (*c == '\\' && !quoted && c[1]) c++;
            else if (*c == '\'') quoted = !quoted;
        }
        const size_t length = (size_t)(c - word);
        while (*c == ' ') c++;
        ended |= length == 2 && strncmp(word, "--", 2) == 0;
        const int is_share = !ended && strncmp(word, "--shard", 7) == 0 && (length == 7 || word[7] == '=');
        const int drop = dropped || is_share;
        dropped = is_share && length == 7;
        if (drop) continue;
        if (to > text) *to++ = ' ';
        memmove(to, word, length);
        to += length;
    }
    *to = '\0';
}

/* The journal's beginning: head, share, and what the manifest is to say. */
static modal_status begin_text(const tool *t, const modaldeform_input *in, const modal_deformer *deformer, const modaldeform_share *s, char **text,
                               modal_error *err)
{
    modal_status status = MODAL_OK;
    char *command = NULL, *line = NULL;
    json_t *run = json_object();
    const modal_device *own = in->snapshots ? modaldeform_snapshots_device(in->snapshots) : NULL;
    MODAL_TRY(modal_copy_text(&command, t->command_line, SIZE_MAX, err));
    without_share(command);
    json_object_set_new(run, "command", modal_json_string(command));
    json_object_set_new(run, "backend", modal_json_string(own ? own->name : deformer ? modal_deformer_back_end(deformer) : "none"));
    json_object_set_new(run, "device", modal_json_string(own ? own->hardware : deformer ? modal_deformer_device(deformer) : "none"));
    line = json_dumps(run, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_ENSURE_ASCII);
    if (!line) MODAL_FAIL(err, MODAL_ERROR_MEMORY, "journal: out of memory");
    const int64_t length = (int64_t)(strlen(s->head) + strlen(line)) + 64;
    MODAL_TRY(modal_alloc(text, length, 1, "journal", err));
    snprintf(*text, (size_t)length, "%sshard %" PRId64 "\nrun %s\n", s->head, s->share.index, line);
done:
    free(line);
    json_decref(run);
    modal_free(&command);
    return status;
}

modal_status modaldeform_share_resume(tool *t, const modaldeform_input *in, const modal_deformer *deformer, modaldeform_share *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *text = NULL, *found = NULL, last = '\n';
    struct stat info;
    int first;
    MODAL_TRY(tool_shares_load(s->journal_path, &found, err));
    if (!found) {
        MODAL_TRY(begin_text(t, in, deformer, s, &text, err));
        MODAL_TRY(make_text(&s->made_journal, s->journal_path, text, &first, err));
    } else if (strncmp(found, s->head, strlen(s->head)) != 0) {
        MODAL_TRY(refuse(s, found, err));
    }
    s->journal = open(s->journal_path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    if (s->journal < 0 || fstat(s->journal, &info) != 0)
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot be opened, %s", s->journal_path, strerror(errno));
    /* A line without its end stands for nothing; the next one begins anew. */
    if (info.st_size > 0 && pread(s->journal, &last, 1, info.st_size - 1) == 1 && last != '\n') MODAL_TRY(modaldeform_share_note(s, "\n", err));
done:
    modal_free(&text);
    modal_free(&found);
    return status;
}

modal_status modaldeform_share_hash_files(const modaldeform_share *s, int64_t first, int64_t n, modal_hash *hash, modal_error *err)
{
    modal_status status = MODAL_OK;
    char path[4096], text[MODAL_HASH_TEXT];
    for (int i = 0; i < s->n; i++) {
        const modaldeform_shared *f = &s->all[i];
        for (int64_t k = first; f->sharing == MODALDEFORM_FRAMES && k < first + n; k++) {
            snprintf(path, sizeof path, "%s/%06" PRId64 ".%s", f->part, k, f->format->extension);
            MODAL_TRY(modal_hash_file(path, text, err));
            modal_hash_array(hash, f->format->extension, text, MODAL_HASH_TEXT - 1, 1);
        }
    }
done:
    return status;
}

/* What is in the files of frames [first, first + n). A frame whose file is not there has no hash. */
static modal_status hash_again(const modaldeform_share *s, int64_t first, int64_t n, char text[MODAL_HASH_TEXT], modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_hash *hash = NULL;
    const int64_t own = first > s->own.first ? first : s->own.first, end = first + n < s->own.end ? first + n : s->own.end;
    text[0] = '\0';
    MODAL_TRY(modal_hash_new(&hash, err));
    for (int i = 0; i < s->n; i++)
        if (s->all[i].sharing == MODALDEFORM_PLACED) MODAL_TRY(modal_share_file_read(s->all[i].file, first, n, hash, err));
    if (own < end && modaldeform_share_hash_files(s, own, end - own, hash, NULL) != MODAL_OK) goto done;
    modal_hash_text(hash, text);
done:
    modal_hash_delete(hash);
    return status;
}

modal_status modaldeform_share_verify(const modaldeform_share *s, const char *journal, uint8_t *done, int *same, modal_error *err)
{
    modal_status status = MODAL_OK;
    char found[MODAL_HASH_TEXT];
    *same = 1;
    for (tool_share_line line; tool_shares_next(&journal, s->info->n_frames, &line);) {
        MODAL_TRY(hash_again(s, line.first, line.n, found, err));
        if (strcmp(found, line.hash) == 0) memset(done + line.first, 1, (size_t)line.n);
        else *same = 0;
    }
    /* Pieces have no lines: they are written anew, and their frames with them. */
    for (int i = 0; i < s->n; i++)
        if (s->all[i].sharing == MODALDEFORM_PIECES) memset(done + s->own.first, 0, (size_t)(s->own.end - s->own.first));
done:
    return status;
}
