/* SPDX-License-Identifier: Apache-2.0 */
/* How every function of the library reports failure: a status code, and a message in the caller's
 * modal_error. The library neither prints nor exits; tools turn a status into an exit code. */
#ifndef MODAL_BASE_STATUS_H
#define MODAL_BASE_STATUS_H

#include <stdarg.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum modal_status {
    MODAL_OK = 0,
    MODAL_ERROR_USAGE,         /* the caller asked for something that makes no sense: exit 2 */
    MODAL_ERROR_INPUT,         /* a file or a value in it is wrong: exit 3 */
    MODAL_ERROR_SYSTEM,        /* reading, writing, no such device or back end: exit 4 */
    MODAL_ERROR_MEMORY,        /* out of memory, or over the limit that was set: exit 4 */
    MODAL_ERROR_NOT_CONVERGED, /* an iteration stopped before its criterion: exit 5 */
    MODAL_ERROR_INTERRUPTED    /* a progress callback asked to stop: exit 130 */
} modal_status;

enum { MODAL_ERROR_TEXT = 1024 };

/* The first failure of a call. `message` reads `where: what, value`. A caller may put more of
 * the "where" in front with modal_error_context. It is one line of UTF-8 without control characters, whatever the
 * texts were that it was made of (lib/base/text.h). */
typedef struct modal_error {
    modal_status status;
    long long line; /* of the input that is wrong; 0: not known, or in the message */
    const char *source_file; /* where the failure was recorded, "lib/mesh/check.c" */
    int source_line;
    char message[MODAL_ERROR_TEXT];
} modal_error;

/* modal_error_set(err, status, format, ...) records a failure unless one is recorded already, and returns `status`.
 * err may be NULL. */
#define modal_error_set(err, status, ...) modal_error_set_from((err), __FILE__, __LINE__, (status), __VA_ARGS__)
modal_status modal_error_set_from(modal_error *err, const char *source_file, int source_line, modal_status status,
                                  const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Puts "context: " in front of a recorded message, "context:LINE: " where its line is known; nothing is done where none
 * is recorded. */
void modal_error_context(modal_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Leaves the function through its label `done` when a call fails; needs a local `status`. */
#define MODAL_TRY(call)                                                                            \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != MODAL_OK) goto done;                                                         \
    } while (0)

/* The same for a failure that is found here. */
#define MODAL_FAIL(err, code, ...)                                                                 \
    do {                                                                                           \
        status = modal_error_set((err), (code), __VA_ARGS__);                                      \
        goto done;                                                                                 \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif
