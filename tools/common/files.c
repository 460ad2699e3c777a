/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/files.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/disk.h"
#include "lib/base/memory.h"

typedef struct known_file {
    char *path;
    const char *option;
    const void *owner;      /* of a file that is written; NULL: it is read */
    int is_there;
    tool_files_extent extent;
    struct stat info;       /* where it is there */
    struct stat parent;     /* the folder that it is in; st_ino 0: unknown */
} known_file;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static known_file *files;
static int64_t n_files, capacity;
static modal_error refusal;
static const char *continued_input, *continued_output;

static int same(const struct stat *a, const struct stat *b)
{
    return a->st_ino != 0 && a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The folder that a name is in, links resolved. */
static void find_parent(known_file *file)
{
    char folder[4096];
    const int length = (int)(last_name(file->path) - file->path);
    file->parent.st_ino = 0;
    if (snprintf(folder, sizeof folder, "%.*s", length ? length : 1, length ? file->path : ".") < (int)sizeof folder)
        if (stat(folder, &file->parent) != 0) file->parent.st_ino = 0;
}

static int may_continue(const known_file *read, const known_file *written)
{
    struct stat input;
    return continued_output && strcmp(written->path, continued_output) == 0 && stat(continued_input, &input) == 0 &&
           same(&input, &read->info);
}

static int holds(const known_file *folder, const known_file *file)
{
    const int all = folder->extent == TOOL_FILES_FOLDER || (folder->extent == TOOL_FILES_INTO && file->owner);
    return all && same(&folder->info, &file->parent);
}

/* Whether both are one file, or one is in the folder that the other stands for. */
static int collide(const known_file *a, const known_file *b)
{
    if (a->is_there && b->is_there && same(&a->info, &b->info)) return 1;
    if (same(&a->parent, &b->parent) && strcmp(last_name(a->path), last_name(b->path)) == 0) return 1;
    return holds(a, b) || holds(b, a);
}

static void refuse(const known_file *a, const known_file *b)
{
    const known_file *report = a->option ? a : b->option ? b : NULL;
    if (report)
        modal_error_set(&refusal, MODAL_ERROR_USAGE, "%s: would overwrite %s", report->option,
                        report == a ? b->path : a->path);
    else if (a->owner && b->owner)
        modal_error_set(&refusal, MODAL_ERROR_USAGE, "%s: two outputs are one file", a->path);
    else
        modal_error_set(&refusal, MODAL_ERROR_USAGE, "%s: input and output are one file", (a->owner ? a : b)->path);
}

/* Adds a file, whose path is copied, unless it is known or refused; nonzero: refused. */
static int add(known_file *file, const char *path)
{
    int bad = 0, known = 0;
    for (int64_t i = 0; i < n_files && !bad && !known; i++) {
        known_file *other = &files[i];
        if (!file->owner && !other->owner) {
            known = same(&file->info, &other->info) && strcmp(other->path, path) == 0;
        } else if (file->owner == other->owner) {
            known = same(&file->parent, &other->parent) && strcmp(last_name(path), last_name(other->path)) == 0;
            if (known) other->is_there = file->is_there, other->info = file->info;
            else bad = collide(file, other);
        } else {
            const int allowed = !file->owner   ? may_continue(file, other)
                                : other->owner ? 0
                                               : may_continue(other, file);
            bad = !allowed && collide(file, other);
        }
        if (bad) refuse(file, other);
    }
    if (bad || known) return bad;
    modal_error err = {0};
    if (modal_grow(&files, &capacity, n_files + 1, sizeof *files, "files", &err) != MODAL_OK ||
        modal_copy_text(&file->path, path, SIZE_MAX, &err) != MODAL_OK) {
        refusal = err; /* what is not known cannot be spared */
        return 1;
    }
    files[n_files++] = *file;
    return 0;
}

static int is_read(const char *path, const struct stat *info)
{
    known_file file = {.path = (char *)path, .is_there = 1, .info = *info};
    pthread_mutex_lock(&lock);
    find_parent(&file);
    const int bad = add(&file, path);
    pthread_mutex_unlock(&lock);
    return bad;
}

static int opened(const char *path, int descriptor)
{
    struct stat info;
    return fstat(descriptor, &info) == 0 && is_read(path, &info);
}

void tool_files_watch(void) { modal_disk_watch(opened); }

void tool_files_read(const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISDIR(info.st_mode)) is_read(path, &info);
}

modal_status tool_files_write(const char *path, tool_files_extent extent, const char *option, const void *owner, modal_error *err)
{
    known_file file = {.path = (char *)path, .option = option, .owner = owner, .extent = extent};
    pthread_mutex_lock(&lock);
    find_parent(&file);
    file.is_there = stat(path, &file.info) == 0;
    if (!file.is_there) file.info.st_ino = 0;
    const int bad = add(&file, path);
    pthread_mutex_unlock(&lock);
    return bad ? tool_files_check(err) : MODAL_OK;
}

void tool_files_continue(const char *input, const char *output)
{
    continued_input = input;
    continued_output = output;
}

modal_status tool_files_check(modal_error *err)
{
    if (refusal.status == MODAL_OK) return MODAL_OK;
    return modal_error_set(err, refusal.status, "%s", refusal.message);
}

void tool_files_forget(void)
{
    modal_disk_watch(NULL);
    for (int64_t i = 0; i < n_files; i++) modal_free(&files[i].path);
    modal_free(&files);
    n_files = capacity = 0;
    refusal = (modal_error){0};
}
