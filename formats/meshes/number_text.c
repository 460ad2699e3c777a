/* SPDX-License-Identifier: Apache-2.0 */
/* A float32 times a power of ten in float64 is its nine digits: the table's entries and the product
 * are each off by at most 2^-53 of the value, together 2.3e-7 units of the ninth digit, and rounding
 * to a whole number adds half a unit. No big integers and no tables of them are needed, as they are
 * for the shortest digits. */
#include "formats/meshes/number_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
    "49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697"
    "9899";

enum { LEAST_POWER = -31 };
static const double powers[] = {
    1e-31, 1e-30, 1e-29, 1e-28, 1e-27, 1e-26, 1e-25, 1e-24, 1e-23, 1e-22, 1e-21, 1e-20, 1e-19, 1e-18,
    1e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9,  1e-8,  1e-7,  1e-6,  1e-5,  1e-4,
    1e-3,  1e-2,  1e-1,  1e0,   1e1,   1e2,   1e3,   1e4,   1e5,   1e6,   1e7,   1e8,   1e9,   1e10,
    1e11,  1e12,  1e13,  1e14,  1e15,  1e16,  1e17,  1e18,  1e19,  1e20,  1e21,  1e22,  1e23,  1e24,
    1e25,  1e26,  1e27,  1e28,  1e29,  1e30,  1e31,  1e32,  1e33,  1e34,  1e35,  1e36,  1e37,  1e38,
    1e39,  1e40,  1e41,  1e42,  1e43,  1e44,  1e45,  1e46,  1e47,  1e48,  1e49,  1e50,  1e51,  1e52,
    1e53,  1e54};

char *modal_put_integer(char *to, int64_t value)
{
    char digits[20];
    int n = 20;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    if (value < 0) *to++ = '-';
    for (; rest >= 100; rest /= 100) memcpy(digits + (n -= 2), pairs + 2 * (rest % 100), 2);
    if (rest >= 10)
        memcpy(digits + (n -= 2), pairs + 2 * rest, 2);
    else
        digits[--n] = (char)('0' + rest);
    memcpy(to, digits + n, (size_t)(20 - n));
    return to + 20 - n;
}

/* The nine digits of a positive number, whose first stands for 10^*exponent. */
static uint32_t nine_digits(double x, int *exponent)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    /* floor(e log10 2) is the exponent of ten or one less: 1233 / 4096 is close enough for |e| < 150. */
    int e = (((int)(bits >> 52) - 1023) * 1233) >> 12;
    double scaled = x * powers[8 - e - LEAST_POWER];
    if (scaled >= 999999999.5) scaled = x * powers[8 - ++e - LEAST_POWER];
    *exponent = e;
    return (uint32_t)(scaled + 0.5);
}

char *modal_put_float(char *to, float value)
{
    char digits[9];
    int e = 0, n = 9;
    if (signbit(value) && !isnan(value)) *to++ = '-';
    if (value == 0.0f) {
        *to++ = '0';
        return to;
    }
    if (!isfinite(value)) {
        memcpy(to, isnan(value) ? "nan" : "inf", 3);
        return to + 3;
    }
    const uint32_t all = nine_digits(fabs((double)value), &e);
    const uint32_t high = all / 10000, low = all % 10000;
    digits[0] = (char)('0' + high / 10000);
    memcpy(digits + 1, pairs + 2 * (high / 100 % 100), 2);
    memcpy(digits + 3, pairs + 2 * (high % 100), 2);
    memcpy(digits + 5, pairs + 2 * (low / 100), 2);
    memcpy(digits + 7, pairs + 2 * (low % 100), 2);
    while (n > 1 && digits[n - 1] == '0') n--;
    if (e >= 0 && e < 9) { /* 123.456, 120 */
        for (int i = 0; i <= e; i++) *to++ = i < n ? digits[i] : '0';
        if (n > e + 1) {
            *to++ = '.';
            memcpy(to, digits + e + 1, (size_t)(n - e - 1));
            to += n - e - 1;
        }
    } else if (e < 0 && e >= -4) { /* 0.00123 */
        memcpy(to, "0.0000", 6);
        to += 1 - e;
        memcpy(to, digits, (size_t)n);
        to += n;
    } else { /* 1.23e-07 */
        *to++ = digits[0];
        if (n > 1) {
            *to++ = '.';
            memcpy(to, digits + 1, (size_t)(n - 1));
            to += n - 1;
        }
        *to++ = 'e';
        *to++ = e < 0 ? '-' : '+';
        memcpy(to, pairs + 2 * (e < 0 ? -e : e), 2);
        to += 2;
    }
    return to;
}

char *modal_put_double(char *to, double value)
{
    char digits[40];
    int length = 0;
    for (int precision = 15; precision <= 17; precision++) {
        length = snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value) break;
    }
    memcpy(to, digits, (size_t)length);
    return to + length;
}
