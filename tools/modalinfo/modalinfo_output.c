/* SPDX-License-Identifier: Apache-2.0 */
/* A folder that modaldeform has written, or the manifest in it: what it says, and whether what it says is
 * there. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/json/json_place.h"
#include "formats/json/json_text.h"
#include "formats/meshes/text_reader.h"
#include "formats/sequences/sequence.h"
#include "formats/sequences/sequence_vtkhdf.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"
#include "tools/modalinfo/modalinfo.h"

static modal_status join(char path[PATH_MAX], const char *folder, const char *name, modal_error *err)
{
    if (snprintf(path, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX)
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: name too long", folder);
    return MODAL_OK;
}

/* The folder of an output named by itself or by its manifest, and the manifest read. */
static modal_status read_manifest(const char *path, char folder[PATH_MAX], json_t **manifest,
                                  modal_error *err)
{
    modal_status status = MODAL_OK;
    char name[PATH_MAX];
    struct stat info;
    modal_json_source source = {.name = name, .err = err};
    modal_json_place root;
    char *data = NULL;
    int64_t length = 0;
    *manifest = NULL;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        MODAL_TRY(join(folder, path, ".", err));
        MODAL_TRY(join(name, path, "manifest.json", err));
        if (stat(name, &info) != 0)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: a folder without manifest.json", path);
    } else {
        const char *slash = strrchr(path, '/');
        snprintf(folder, PATH_MAX, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
        snprintf(name, sizeof name, "%s", path);
    }
    MODAL_TRY(modal_file_load(name, &data, &length, err));
    MODAL_TRY(modal_json_open(&source, data, (size_t)length, &root));
    *manifest = json_incref(root.value);
    const char *type = json_string_value(json_object_get(*manifest, "modal_format"));
    const char *version = json_string_value(json_object_get(*manifest, "modal_format_version"));
    if (!type || strcmp(type, "manifest") != 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: modal_format: not a manifest, %s", name,
                   type ? type : "absent");
    if (!version || strncmp(version, "1.", 2) != 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: modal_format_version: unsupported, %s", name,
                   version ? version : "absent");
done:
    modal_free(&data);
    modal_json_close(&source);
    if (status != MODAL_OK) {
        json_decref(*manifest);
        *manifest = NULL;
    }
    return status;
}

modal_status modalinfo_describe_output(const char *path, json_t **info, modal_error *err)
{
    char folder[PATH_MAX];
    json_t *manifest, *file;
    size_t i;
    json_int_t bytes = 0;
    modal_status status = read_manifest(path, folder, &manifest, err);
    if (status != MODAL_OK) return status;
    json_array_foreach (json_object_get(manifest, "files"), i, file)
        bytes += json_integer_value(json_object_get(file, "bytes"));
    *info = json_object();
    json_object_set_new(*info, "file", modal_json_string(path));
    json_object_set_new(*info, "type", json_string("output"));
    json_object_set_new(*info, "bytes", json_integer(bytes));
    json_object_set_new(*info, "manifest", manifest);
    return MODAL_OK;
}

/* One number of the manifest against the same one of the sequence. */
static modal_status compare(const modal_checker *checker, const json_t *of_manifest,
                            const json_t *of_sequence, const char *what)
{
    if (json_is_integer(of_manifest) && json_is_integer(of_sequence) &&
        json_integer_value(of_manifest) == json_integer_value(of_sequence))
        return MODAL_OK;
    return modal_broken(checker, "manifest.json", "%s: %lld, the sequence has %lld", what,
                        (long long)json_integer_value(of_manifest),
                        (long long)json_integer_value(of_sequence));
}

modal_status modalinfo_check_output(const char *path, modal_findings *findings, modal_error *err)
{
    char folder[PATH_MAX], name[PATH_MAX];
    json_t *manifest = NULL, *file, *sequence = NULL;
    size_t i;
    const modal_checker checker = {findings, err};
    modal_status status = read_manifest(path, folder, &manifest, err);
    if (status != MODAL_OK) return status;
    const json_t *files = json_object_get(manifest, "files");
    if (json_array_size(files) == 0)
        MODAL_TRY(modal_broken(&checker, "manifest.json", "names no files"));
    json_array_foreach (files, i, file) {
        const char *base = json_string_value(json_object_get(file, "name"));
        const char *kind = json_string_value(json_object_get(file, "kind"));
        const json_int_t bytes = json_integer_value(json_object_get(file, "bytes"));
        struct stat found;
        if (!base || !kind || base[0] == '/' || strstr(base, "..")) {
            MODAL_TRY(modal_broken(&checker, "manifest.json", "file %zu: no name or no kind", i));
            continue;
        }
        MODAL_TRY(join(name, folder, base, err));
        if (stat(name, &found) != 0 || !S_ISREG(found.st_mode)) {
            MODAL_TRY(modal_broken(&checker, base, "named by the manifest, but not there"));
            continue;
        }
        if (found.st_size != bytes)
            MODAL_TRY(modal_broken(&checker, base, "%lld bytes, the manifest says %lld",
                                   (long long)found.st_size, (long long)bytes));
        if (strcmp(kind, "vtkhdf") != 0) continue;
        MODAL_TRY(modal_sequence_check(name, findings, err));
        json_decref(sequence);
        sequence = NULL;
        MODAL_TRY(modalinfo_describe_sequence(name, &sequence, err));
        MODAL_TRY(compare(&checker, json_object_get(json_object_get(manifest, "frames"), "count"),
                          json_object_get(sequence, "frames"), "frames"));
        MODAL_TRY(compare(&checker, json_object_get(manifest, "points"),
                          json_object_get(sequence, "points"), "points"));
        MODAL_TRY(compare(&checker, json_object_get(manifest, "triangles"),
                          json_object_get(sequence, "triangles"), "triangles"));
    }
done:
    json_decref(manifest);
    json_decref(sequence);
    return status;
}

/* ---- files that the manifest does not list ---- */

static int is_named_by(const modal_sequence_format *format, const char *name)
{
    for (int k = 0; k < MODAL_SEQUENCE_FILES; k++)
        if (format->files[k] && strcmp(format->files[k], name) == 0) return 1;
    return format->folder && strcmp(format->folder, name) == 0;
}

/* Whether modaldeform gives that name: to an output, or to what a run that was killed has left. */
static int is_ours(const char *name)
{
    char start[256];
    const char *dot = strrchr(name, '.');
    int ours = is_named_by(&modal_sequence_rest, name) || is_named_by(&modal_sequence_mtl, name);
    for (int i = 0; i < MODAL_SEQUENCE_FORMATS && !ours; i++) ours = is_named_by(modal_sequence_formats[i], name);
    if (ours || !dot) return ours;
    if (strcmp(dot, ".part") != 0 && strcmp(dot, ".journal") != 0 && strcmp(dot, ".commit") != 0 &&
        strncmp(dot, ".tmp-", 5) != 0 && strncmp(dot, ".old-", 5) != 0)
        return 0;
    snprintf(start, sizeof start, "%.*s", (int)(dot - name), name);
    return strcmp(start, "manifest.json") == 0 || is_ours(start);
}

/* Entries of `folder`, whose names in the manifest begin with `prefix`, "" or "ply/". */
static modal_status look_through(tool *t, const char *folder, const char *prefix, const json_t *listed,
                                 modal_findings *findings, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_checker checker = {findings, err};
    char path[PATH_MAX], name[PATH_MAX];
    DIR *entries = opendir(folder);
    if (!entries) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot be read, %s", folder, strerror(errno));
    for (struct dirent *entry; (entry = readdir(entries));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (snprintf(name, sizeof name, "%s%s", prefix, entry->d_name) >= (int)sizeof name) continue;
        const json_t *how = json_object_get(listed, name);
        if (json_is_true(how)) continue;
        MODAL_TRY(join(path, folder, entry->d_name, err));
        if (how) { /* a folder of frames */
            strcat(name, "/");
            MODAL_TRY(look_through(t, path, name, listed, findings, err));
        } else if (*prefix || is_ours(name)) {
            MODAL_TRY(modal_broken(&checker, name, "not named by the manifest"));
        } else {
            tool_warn(t, "%s: not named by the manifest", name);
        }
    }
done:
    if (entries) closedir(entries);
    return status;
}

modal_status modalinfo_check_others(tool *t, const char *path, modal_findings *findings, modal_error *err)
{
    char folder[PATH_MAX], name[PATH_MAX];
    json_t *manifest = NULL, *listed = json_object(), *file; /* true: a file; false: a folder of listed files */
    size_t i;
    modal_status status = read_manifest(path, folder, &manifest, err);
    if (status != MODAL_OK) goto done;
    json_object_set_new(listed, "manifest.json", json_true());
    json_array_foreach (json_object_get(manifest, "files"), i, file) {
        const char *base = json_string_value(json_object_get(file, "name"));
        if (!base) continue;
        json_object_set_new(listed, base, json_true());
        const char *slash = strchr(base, '/');
        if (!slash || snprintf(name, sizeof name, "%.*s", (int)(slash - base), base) >= (int)sizeof name) continue;
        json_object_set_new(listed, name, json_false());
    }
    MODAL_TRY(look_through(t, folder, "", listed, findings, err));
done:
    json_decref(manifest);
    json_decref(listed);
    return status;
}
