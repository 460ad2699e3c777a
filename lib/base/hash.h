/* SPDX-License-Identifier: Apache-2.0 */
/* The content hash that files quote of each other: XXH3, 128 bits, from the xxHash library. It
 * detects a wrong or changed file; it is no protection against a forger. */
#ifndef MODAL_BASE_HASH_H
#define MODAL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/status.h"

enum { MODAL_HASH_BYTES = 16, MODAL_HASH_TEXT = 33 }; /* 32 lower-case hexadecimal digits and the terminator */

typedef struct modal_hash modal_hash;

/* A running hash; modal_hash_delete accepts NULL and returns NULL. */
modal_status modal_hash_new(modal_hash **hash, modal_error *err);
modal_hash *modal_hash_delete(modal_hash *hash);

/* Appends a named array: name, item size, number of items and bytes all count, so that moving a
 * value from one array to the next changes the result. Little-endian hosts only. */
void modal_hash_array(modal_hash *hash, const char *name, const void *items, int64_t count,
                      size_t item_bytes);

/* The same in pieces: the array's name and size, and then its bytes, as many as that. */
void modal_hash_begin(modal_hash *hash, const char *name, int64_t count, size_t item_bytes);
void modal_hash_more(modal_hash *hash, const void *items, size_t bytes);

/* The hash of all that was appended so far, as bytes or in hexadecimal. */
void modal_hash_bytes(const modal_hash *hash, unsigned char bytes[MODAL_HASH_BYTES]);
void modal_hash_text(const modal_hash *hash, char text[MODAL_HASH_TEXT]);
void modal_hash_print(const unsigned char bytes[MODAL_HASH_BYTES], char text[MODAL_HASH_TEXT]);

/* Forgets all that was appended. */
void modal_hash_restart(modal_hash *hash);

/* The hash of a whole file's bytes. MODAL_ERROR_SYSTEM when it cannot be read. */
modal_status modal_hash_file(const char *path, char text[MODAL_HASH_TEXT], modal_error *err);

#endif
