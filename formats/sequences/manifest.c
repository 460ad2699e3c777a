/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/sequences/manifest.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/json/json_text.h"

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
        put(file, "name", modal_json_string(m->files[i].name), failed);
        put(file, "kind", modal_json_string(m->files[i].kind), failed);
        put(file, "bytes", json_integer((json_int_t)m->files[i].bytes), failed);
        *failed |= json_array_append_new(list, file) != 0;
    }
    return list;
}

static json_t *sound(const modal_sequence_sound *s, int *failed)
{
    json_t *object = json_object(), *list = json_array();
    put(object, "rate", json_integer(s->rate), failed);
    put(object, "samples", json_integer((json_int_t)s->n_samples), failed);
    put(object, "unit", json_string(s->unit), failed);
    put(object, "gain", json_real(s->gain), failed);
    put(object, "peak", json_real(s->peak), failed);
    for (int i = 0; i < s->n_channels; i++) {
        const modal_sequence_channel *c = &s->channels[i];
        *failed |= json_array_append_new(list, c->contact
                                                   ? json_pack("{s:I}", "point", (json_int_t)c->point)
                                                   : json_pack("{s:[fff]}", "listener", c->place[0], c->place[1],
                                                               c->place[2])) != 0;
    }
    put(object, "channels", list, failed);
    return object;
}

static json_t *source(const char *name, const char *hash, int *failed)
{
    json_t *object = json_object();
    put(object, "name", modal_json_string(name), failed);
    put(object, "hash", modal_json_string(hash), failed);
    return object;
}

static json_t *build(const modal_manifest *m, int *failed)
{
    json_t *root = json_object(), *frames = json_object(), *units = json_object();
    put(root, "modal_format", json_string("manifest"), failed);
    put(root, "modal_format_version", json_string("1.0"), failed);
    put(root, "tool", modal_json_string(m->tool), failed);
    put(root, "version", modal_json_string(m->version), failed);
    put(root, "arguments", modal_json_string(m->arguments), failed);
    if (m->input) {
        put(root, "input", source(m->input, m->input_hash, failed), failed);
    } else {
        put(root, "trajectory", source(m->trajectory, m->trajectory_hash, failed), failed);
        put(root, "basis", source(m->basis, m->basis_hash, failed), failed);
    }
    put(root, "backend", modal_json_string(m->back_end), failed);
    put(root, "device", modal_json_string(m->device), failed);
    put(frames, "count", json_integer((json_int_t)m->n_frames), failed);
    put(frames, "start", json_integer((json_int_t)m->frame_start), failed);
    put(frames, "step", json_integer((json_int_t)m->frame_step), failed);
    put(frames, "first_time", json_real(m->first_time), failed);
    put(frames, "last_time", json_real(m->last_time), failed);
    put(root, "frames", frames, failed);
    put(root, "points", json_integer((json_int_t)m->n_points), failed);
    put(root, "triangles", json_integer((json_int_t)m->n_triangles), failed);
    put(root, "cells", json_integer((json_int_t)m->n_cells), failed);
    put(root, "order", modal_json_string(m->order), failed);
    put(root, "normals", modal_json_string(m->normals), failed);
    put(root, "fields", fields(m, failed), failed);
    put(units, "length", json_string("m"), failed);
    put(units, "time", json_string("s"), failed);
    put(root, "units", units, failed);
    if (m->quality) put(root, "quality", modal_json_string(m->quality), failed);
    if (m->slow_motion > 0) put(root, "slow_motion", json_real(m->slow_motion), failed);
    if (m->sound) put(root, "sound", sound(m->sound, failed), failed);
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
    char *text = failed ? NULL : modal_json_dump(root, JSON_INDENT(2) | JSON_PRESERVE_ORDER, 0);
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
