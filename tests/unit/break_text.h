/* SPDX-License-Identifier: Apache-2.0 */
/* Files broken on purpose, from a fixed seed, for tests that want many of them. */
#ifndef TESTS_UNIT_BREAK_TEXT_H
#define TESTS_UNIT_BREAK_TEXT_H

#include <stdint.h>
#include <string.h>

static uint64_t random_state;

/* xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators", 2016). */
static inline int64_t random_below(int64_t n)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (int64_t)((random_state * 0x2545F4914F6CDD1Du >> 33) % (uint64_t)n);
}

/* Replaces [from, to) of the text by `insert`. */
static inline int64_t splice(char *data, int64_t length, int64_t from, int64_t to, const char *insert)
{
    int64_t n = (int64_t)strlen(insert);
    memmove(data + from + n, data + to, (size_t)(length - to));
    memcpy(data + from, insert, (size_t)n);
    return length - (to - from) + n;
}

/* One thing that goes wrong with files; data has room for 32 bytes more. */
static inline int64_t break_it(char *data, int64_t length)
{
    static const char *const words[] = {"-1", "0", "99999999999", "nan", "1e999", "x", "", "4294967296",
                                        "3", "\n", "-", "1.5", "*", "<", "\"", "2147483647"};
    int64_t at = random_below(length), end = at, begin = at;
    switch (random_below(6)) {
    case 0: /* a word */
        while (begin > 0 && !strchr(" \n\t,=\"<>", data[begin - 1])) begin--;
        while (end < length && !strchr(" \n\t,=\"<>", data[end])) end++;
        if (end - begin > 24) end = begin + 24;
        return splice(data, length, begin, end, words[random_below(16)]);
    case 1: /* a line less */
        while (begin > 0 && data[begin - 1] != '\n') begin--;
        while (end < length && data[end] != '\n') end++;
        return splice(data, length, begin, end < length ? end + 1 : end, "");
    case 2: /* a byte less */
        return splice(data, length, at, at + 1, "");
    case 3: /* a byte more */
        return splice(data, length, at, at, words[random_below(16)]);
    case 4: /* another byte */
        data[at] = (char)random_below(256);
        return length;
    default: /* the end is lost */
        return at;
    }
}

#endif
