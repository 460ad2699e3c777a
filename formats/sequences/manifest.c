/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/sequences/manifest.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"

/* Length of the UTF-8 character that starts here, 0 if none does. */
static size_t character_length(const unsigned char *c)
{
    size_t n = c[0] < 0x80 ? 1 : c[0] >= 0xc2 && c[0] < 0xe0 ? 2 : c[0] >= 0xe0 && c[0] < 0xf0 ? 3
             : c[0] >= 0xf0 && c[0] < 0xf5                   ? 4
                                                             : 0;
    for (size_t i = 1; i < n; i++)
        if ((c[i] & 0xc0) != 0x80) return 0;
    /* overlong forms, surrogates, beyond U+10FFFF */
    if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) ||
        (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f))
        return 0;
    return n;
}

/* NULL when out of memory; null for a NULL text. */
static json_t *text_value(const char *text)
{
    if (!text) return json_null();
    char *clean = NULL;
    if (modal_alloc(&clean, 3 * (int64_t)strlen(text) + 1, 1, "text", NULL) != MODAL_OK) return NULL;
    char *to = clean;
    while (*text) {
        size_t n = character_length((const unsigned char *)text);
        if (n) {
            memcpy(to, text, n);
            to += n;
            text += n;
        } else {
            to = stpcpy(to, "\xef\xbf\xbd");
            text++;
        }
    }
    json_t *value = json_stringn(clean, (size_t)(to - clean));
    modal_free(&clean);
    return value;
}

/* Sets a key; a NULL value makes *failed 1. */
static void put(json_t *object, const char *key, json_t *value, int *failed)
{
    if (json_object_set_new(object, key, value) != 0) *failed = 1;
}

static json_t *fields(const modal_manifest *m, int *failed)
{
    json_t *list = json_array();
    for (int i = 0; i < m->n_fields; i++)
        *failed |= json_array_append_new(list, json_string(m->fields[i])) != 0;
    return list;
}

static json_t *files(const modal_manifest *m, int *failed)
{
    json_t *list = json_array();
    for (int i = 0; i < m->n_files; i++) {
        json_t *file = json_object();
        put(file, "name", text_value(m->files[i].name), failed);
        put(file, "kind", text_value(m->files[i].kind), failed);
        put(file, "bytes", json_integer((json_int_t)m->files[i].bytes), failed);
        *failed |= json_array_append_new(list, file) != 0;
    }
    return list;
}

static json_t *source(const char *name, const char *hash, int *failed)
{
    json_t *object = json_object();
    put(object, "name", text_value(name), failed);
    put(object, "hash", text_value(hash), failed);
    return object;
}

static json_t *build(const modal_manifest *m, int *failed)
{
    json_t *root = json_object(), *frames = json_object(), *units = json_object();
    put(root, "modal_type", json_string("manifest"), failed);
    put(root, "modal_version", json_string("1.0"), failed);
    put(root, "tool", text_value(m->tool), failed);
    put(root, "version", text_value(m->version), failed);
    put(root, "arguments", text_value(m->arguments), failed);
    put(root, "trajectory", source(m->trajectory, m->trajectory_hash, failed), failed);
    put(root, "basis", source(m->basis, m->basis_hash, failed), failed);
    put(root, "back_end", text_value(m->back_end), failed);
    put(root, "device", text_value(m->device), failed);
    put(frames, "count", json_integer((json_int_t)m->n_frames), failed);
    put(frames, "start", json_integer((json_int_t)m->frame_start), failed);
    put(frames, "step", json_integer((json_int_t)m->frame_step), failed);
    put(frames, "first_time", json_real(m->first_time), failed);
    put(frames, "last_time", json_real(m->last_time), failed);
    put(root, "frames", frames, failed);
    put(root, "points", json_integer((json_int_t)m->n_points), failed);
    put(root, "triangles", json_integer((json_int_t)m->n_triangles), failed);
    put(root, "cells", json_integer((json_int_t)m->n_cells), failed);
    put(root, "order", text_value(m->order), failed);
    put(root, "normals", text_value(m->normals), failed);
    put(root, "fields", fields(m, failed), failed);
    put(units, "length", json_string("m"), failed);
    put(units, "time", json_string("s"), failed);
    put(root, "units", units, failed);
    put(root, "files", files(m, failed), failed);
    return root;
}

modal_status modal_manifest_write(const char *path, const modal_manifest *manifest,
                                  modal_error *err)
{
    modal_status status = MODAL_OK;
    int failed = 0;
    FILE *file = NULL;
    json_t *root = build(manifest, &failed);
    char *text = failed ? NULL : json_dumps(root, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    if (!text) MODAL_FAIL(err, MODAL_ERROR_MEMORY, "%s: out of memory", path);
    file = fopen(path, "wb");
    if (!file) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot write, %s", path, strerror(errno));
    errno = 0;
    if (fprintf(file, "%s\n", text) < 0 || fflush(file) != 0)
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: write error, %s", path, strerror(errno));
done:
    if (file && fclose(file) != 0 && status == MODAL_OK)
        status = modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: write error, %s", path,
                                 strerror(errno));
    free(text);
    json_decref(root);
    return status;
}
