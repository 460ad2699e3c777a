/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/hash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "lib/base/disk.h"
#include "lib/base/memory.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "hashes are of little-endian arrays");

struct modal_hash {
    XXH3_state_t *state;
};

modal_status modal_hash_new(modal_hash **hash, modal_error *err)
{
    modal_status status = modal_alloc_zero(hash, 1, sizeof **hash, "hash", err);
    if (status != MODAL_OK) return status;
    (*hash)->state = XXH3_createState();
    if (!(*hash)->state) {
        *hash = modal_hash_delete(*hash);
        return modal_error_set(err, MODAL_ERROR_MEMORY, "hash: out of memory");
    }
    XXH3_128bits_reset((*hash)->state);
    return MODAL_OK;
}

modal_hash *modal_hash_delete(modal_hash *hash)
{
    if (hash) XXH3_freeState(hash->state);
    modal_free(&hash);
    return NULL;
}

void modal_hash_begin(modal_hash *hash, const char *name, int64_t count, size_t item_bytes)
{
    uint64_t head[3] = {strlen(name), (uint64_t)count, item_bytes};
    XXH3_128bits_update(hash->state, head, sizeof head);
    XXH3_128bits_update(hash->state, name, strlen(name));
}

void modal_hash_more(modal_hash *hash, const void *items, size_t bytes)
{
    if (bytes > 0) XXH3_128bits_update(hash->state, items, bytes);
}

void modal_hash_array(modal_hash *hash, const char *name, const void *items, int64_t count,
                      size_t item_bytes)
{
    modal_hash_begin(hash, name, count, item_bytes);
    modal_hash_more(hash, items, (size_t)count * item_bytes);
}

void modal_hash_restart(modal_hash *hash) { XXH3_128bits_reset(hash->state); }

void modal_hash_bytes(const modal_hash *hash, unsigned char bytes[MODAL_HASH_BYTES])
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(hash->state));
    memcpy(bytes, canonical.digest, MODAL_HASH_BYTES);
}

void modal_hash_print(const unsigned char bytes[MODAL_HASH_BYTES], char text[MODAL_HASH_TEXT])
{
    for (size_t i = 0; i < MODAL_HASH_BYTES; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

void modal_hash_text(const modal_hash *hash, char text[MODAL_HASH_TEXT])
{
    unsigned char bytes[MODAL_HASH_BYTES];
    modal_hash_bytes(hash, bytes);
    modal_hash_print(bytes, text);
}

modal_status modal_hash_file(const char *path, char text[MODAL_HASH_TEXT], modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_hash *hash = NULL;
    unsigned char *buffer = NULL;
    enum { BUFFER = 1 << 20 };
    FILE *file = modal_disk_stream(path);
    if (!file) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot open, %s", path, strerror(errno));
    MODAL_TRY(modal_disk_check_regular(path, err)); /* a named pipe would have no bytes */
    MODAL_TRY(modal_hash_new(&hash, err));
    MODAL_TRY(modal_alloc(&buffer, BUFFER, 1, "file buffer", err));
    size_t length;
    while ((length = fread(buffer, 1, BUFFER, file)) > 0)
        XXH3_128bits_update(hash->state, buffer, length);
    if (ferror(file)) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: read error, %s", path, strerror(errno));
    modal_hash_text(hash, text);
done:
    if (file) fclose(file);
    modal_free(&buffer);
    modal_hash_delete(hash);
    return status;
}
