/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/checkpoint/solid_checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/disk.h"
#include "lib/base/memory.h"

static const char magic[8] = "mtledck1";
static const char kinds[2][8] = {"frame", "state"};
static const char *const input_names[MODAL_SOLID_INPUTS] = {"mesh", "scene", "materials, held nodes, fields, arithmetic, back end or version"};

typedef struct record_head {
    char kind[8];
    int64_t length;
} record_head;

struct modal_solid_checkpoint {
    FILE *file;
    modal_hash *hash;
};

static modal_status write_all(FILE *file, const void *bytes, int64_t length, modal_error *err)
{
    if (fwrite(bytes, 1, (size_t)length, file) == (size_t)length) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_SYSTEM, "cannot be written, %s", strerror(errno));
}

modal_status modal_solid_checkpoint_open(modal_solid_checkpoint **out, const char *path, const modal_solid_inputs *inputs,
                                         modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_solid_checkpoint *c = NULL;
    *out = NULL;
    MODAL_TRY(modal_alloc_zero(&c, 1, sizeof *c, "checkpoint", err));
    MODAL_TRY(modal_hash_new(&c->hash, err));
    c->file = fopen(path, "wb");
    if (!c->file) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: %s", path, strerror(errno));
    MODAL_TRY(write_all(c->file, magic, sizeof magic, err));
    MODAL_TRY(write_all(c->file, inputs, sizeof *inputs, err));
    *out = c;
    c = NULL;
done:
    modal_solid_checkpoint_close(c);
    return status;
}

modal_status modal_solid_checkpoint_add(modal_solid_checkpoint *c, int is_state, const modal_solid_piece *pieces, int n,
                                        modal_error *err)
{
    modal_status status = MODAL_OK;
    record_head head;
    unsigned char seal[MODAL_HASH_BYTES];
    memcpy(head.kind, kinds[is_state != 0], sizeof head.kind);
    head.length = 0;
    for (int i = 0; i < n; i++) head.length += pieces[i].length;
    modal_hash_restart(c->hash);
    modal_hash_array(c->hash, "head", &head, 1, sizeof head);
    modal_hash_begin(c->hash, "bytes", head.length, 1);
    MODAL_TRY(write_all(c->file, &head, sizeof head, err));
    for (int i = 0; i < n; i++) {
        if (pieces[i].length == 0) continue;
        modal_hash_more(c->hash, pieces[i].bytes, (size_t)pieces[i].length);
        MODAL_TRY(write_all(c->file, pieces[i].bytes, pieces[i].length, err));
    }
    modal_hash_bytes(c->hash, seal);
    MODAL_TRY(write_all(c->file, seal, sizeof seal, err));
    if (is_state && (fflush(c->file) != 0 || fsync(fileno(c->file)) != 0))
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "cannot be written, %s", strerror(errno));
done:
    return status;
}

modal_solid_checkpoint *modal_solid_checkpoint_close(modal_solid_checkpoint *c)
{
    if (!c) return NULL;
    if (c->file) fclose(c->file);
    modal_hash_delete(c->hash);
    modal_free(&c);
    return NULL;
}

/* Whether a whole record of this size is next; its content is then in `bytes`. */
static int read_record(FILE *file, modal_hash *hash, const record_head *head, void *bytes)
{
    unsigned char seal[MODAL_HASH_BYTES], want[MODAL_HASH_BYTES];
    if (fread(bytes, 1, (size_t)head->length, file) != (size_t)head->length || fread(seal, 1, sizeof seal, file) != sizeof seal) return 0;
    modal_hash_restart(hash);
    modal_hash_array(hash, "head", head, 1, sizeof *head);
    modal_hash_begin(hash, "bytes", head->length, 1);
    modal_hash_more(hash, bytes, (size_t)head->length);
    modal_hash_bytes(hash, want);
    return memcmp(seal, want, sizeof seal) == 0;
}

static modal_status check_head(FILE *file, const char *path, const modal_solid_inputs *inputs, modal_error *err)
{
    char start[8];
    modal_solid_inputs had;
    if (fread(start, 1, sizeof start, file) != sizeof start || memcmp(start, magic, sizeof start) != 0 ||
        fread(&had, 1, sizeof had, file) != sizeof had)
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: no checkpoint of this modaltled", path);
    for (int i = 0; i < MODAL_SOLID_INPUTS; i++)
        if (memcmp(had.hashes[i], inputs->hashes[i], MODAL_HASH_TEXT) != 0)
            return modal_error_set(err, MODAL_ERROR_INPUT, "%s: was made with another %s", path, input_names[i]);
    return MODAL_OK;
}

/* Two passes: the first one finds the place of the last whole state, the second one hands out the frames before it. */
modal_status modal_solid_checkpoint_read(const char *path, const modal_solid_inputs *inputs, int64_t frame_bytes, int64_t state_bytes,
                                         void *state, modal_status (*take)(void *context, const void *frame, modal_error *err),
                                         void *context, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_hash *hash = NULL;
    unsigned char *bytes = NULL;
    int64_t n = 0, last = -1;
    const int64_t most = frame_bytes > state_bytes ? frame_bytes : state_bytes;
    FILE *file = modal_disk_stream(path);
    if (!file) return modal_error_set(err, modal_disk_open_status(errno), "%s: cannot open, %s", path, strerror(errno));
    MODAL_TRY(modal_hash_new(&hash, err));
    MODAL_TRY(modal_alloc(&bytes, most, 1, "checkpoint", err));
    for (int pass = 0; pass < 2; pass++) {
        record_head head;
        rewind(file);
        MODAL_TRY(check_head(file, path, inputs, err));
        for (n = 0; (pass == 0 || n < last) && fread(&head, 1, sizeof head, file) == sizeof head; n++) {
            const int is_state = memcmp(head.kind, kinds[1], sizeof head.kind) == 0;
            if (!is_state && memcmp(head.kind, kinds[0], sizeof head.kind) != 0) break;
            if (head.length != (is_state ? state_bytes : frame_bytes) || !read_record(file, hash, &head, bytes)) break;
            if (pass == 0 && is_state) last = n, memcpy(state, bytes, (size_t)state_bytes);
            if (pass == 1 && !is_state) MODAL_TRY(take(context, bytes, err));
        }
        if (last < 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: no whole state in it", path);
        if (pass == 1 && n < last) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: changed while it was read", path);
    }
done:
    fclose(file);
    modal_hash_delete(hash);
    modal_free(&bytes);
    return status;
}
