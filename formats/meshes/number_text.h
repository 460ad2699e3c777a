/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as decimal text, fast. */
#ifndef MODAL_FORMATS_NUMBER_TEXT_H
#define MODAL_FORMATS_NUMBER_TEXT_H

#include <stdint.h>

enum { MODAL_NUMBER_TEXT = 32 }; /* room that any of these needs, without a terminator */

/* Writes the number and returns the place behind its last character; no terminator.
 * A float32 gets 9 significant digits, without the zeros at their end: 1.5, 0.1 as 0.100000001,
 * 1e-07 as 1.00000001e-07. They differ from the value by at most 0.5000003 units of the ninth digit,
 * that is by less than 6e-9 of it, while the next float32 is at least 5.9e-8 of it away and a reader
 * that rounds to nearest needs half of that: it gets the same number back. Not a number and infinity:
 * nan, inf, -inf. */
char *modal_put_float(char *to, float value);
char *modal_put_integer(char *to, int64_t value);
/* A float64 with the fewest digits (15 to 17) that read back as the same number; not so fast. */
char *modal_put_double(char *to, double value);

#endif
