/* SPDX-License-Identifier: Apache-2.0 */
/* A file that is written from its beginning to its end: small pieces are collected, large ones go
 * straight to the system. */
#ifndef MODAL_FORMATS_FILE_OUT_H
#define MODAL_FORMATS_FILE_OUT_H

#include <stdint.h>

#include "lib/base/status.h"

typedef struct modal_file_out {
    int file; /* -1 inside a struct that is not open: {.file = -1} */
    char *path;
    char *buffer; /* kept from one file to the next */
    int64_t used;
    int64_t written; /* bytes so far, those in the buffer included */
    int64_t on_their_way; /* bytes that the disk was told of */
} modal_file_out;

enum { MODAL_FILE_OUT_PIECE = 1 << 18 }; /* the most that may be reserved */

/* Creates or truncates. All errors are MODAL_ERROR_SYSTEM "path: what, why" or no memory. */
modal_status modal_file_out_open(modal_file_out *out, const char *path, modal_error *err);
/* folder/NNNNNN.extension */
modal_status modal_file_out_open_frame(modal_file_out *out, const char *folder, int64_t frame,
                                       const char *extension, modal_error *err);
modal_status modal_file_out_write(modal_file_out *out, const void *bytes, int64_t length,
                                  modal_error *err);
modal_status modal_file_out_printf(modal_file_out *out, modal_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Room for `length` bytes, which the caller fills from *to on and then says how far:
 * modal_file_out_filled(out, end). */
modal_status modal_file_out_reserve(modal_file_out *out, int64_t length, char **to,
                                    modal_error *err);
void modal_file_out_filled(modal_file_out *out, const char *end);
/* Writes at a place, which may be behind the end; the buffer must be empty or not matter there. */
modal_status modal_file_out_write_at(modal_file_out *out, int64_t place, const void *bytes,
                                     int64_t length, modal_error *err);
/* Writes what is collected and closes; the buffer stays for the next file. */
modal_status modal_file_out_close(modal_file_out *out, modal_error *err);
/* Closes without caring, and frees; may be called twice. */
void modal_file_out_free(modal_file_out *out);

#endif
