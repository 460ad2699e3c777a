/* SPDX-License-Identifier: Apache-2.0 */
/* A target's summary of what it took from an input: two runs must agree whatever memory held before. replay --digests
 * prints it. */
#ifndef MODAL_TESTS_DIGEST_H
#define MODAL_TESTS_DIGEST_H

#include <stdint.h>
#include <string.h>

#include "formats/h5/findings.h"

extern uint64_t fuzz_digest;

/* FNV-1a, 64 bits. */
static inline void digest_add(const void *bytes, int64_t n)
{
    for (int64_t i = 0; bytes && i < n; i++) fuzz_digest = (fuzz_digest ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
}

static inline void digest_text(const char *text)
{
    if (text) digest_add(text, (int64_t)strlen(text) + 1);
}

static inline void digest_findings(const modal_findings *findings)
{
    for (int64_t i = 0; i < findings->n; i++) digest_text(findings->texts[i]);
}

#endif
