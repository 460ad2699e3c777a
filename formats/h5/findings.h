/* SPDX-License-Identifier: Apache-2.0 */
/* One set of rules serves the readers, which stop at the first broken one, and the checkers, which
 * list them all. A rule reports through modal_broken and does not know who is asking. */
#ifndef MODAL_FORMATS_FINDINGS_H
#define MODAL_FORMATS_FINDINGS_H

#include <stdint.h>

#include "lib/base/status.h"

/* What a checker found: texts that read `where: what, value`. Zero it before its first use. */
typedef struct modal_findings {
    int64_t n, capacity;
    char **texts; /* [n] */
} modal_findings;

/* Frees the texts and zeroes the struct; a zeroed struct is fine. */
void modal_findings_free(modal_findings *findings);

typedef struct modal_checker {
    modal_findings *findings; /* NULL: the first broken rule is an error */
    modal_error *err;
} modal_checker;

/* A rule is broken at `where`. Without a list: recorded in err, MODAL_ERROR_INPUT. With one:
 * appended to it, MODAL_OK (or MODAL_ERROR_MEMORY). */
modal_status modal_broken(const modal_checker *checker, const char *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
