/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/hash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

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

void modal_hash_array(modal_hash *hash, const char *name, const void *items, int64_t count,
                      size_t item_bytes)
{
    uint64_t head[3] = {strlen(name), (uint64_t)count, item_bytes};
    XXH3_128bits_update(hash->state, head, sizeof head);
    XXH3_128bits_update(hash->state, name, strlen(name));
    if (count > 0) XXH3_128bits_update(hash->state, items, (size_t)count * item_bytes);
}

void modal_hash_text(const modal_hash *hash, char text[MODAL_HASH_TEXT])
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(hash->state));
    for (size_t i = 0; i < sizeof canonical.digest; i++)
        snprintf(text + 2 * i, 3, "%02x", canonical.digest[i]);
}

modal_status modal_hash_file(const char *path, char text[MODAL_HASH_TEXT], modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_hash *hash = NULL;
    unsigned char *buffer = NULL;
    enum { BUFFER = 1 << 20 };
    FILE *file = fopen(path, "rb");
    if (!file) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot open, %s", path, strerror(errno));
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
