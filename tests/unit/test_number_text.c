/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as text: every float32 that is tried reads back as itself, whatever its exponent. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/meshes/number_text.h"

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static void reads_back(float value)
{
    char text[MODAL_NUMBER_TEXT + 1], *end;
    memset(text, '#', sizeof text);
    char *last = modal_put_float(text, value);
    assert_in_range(last - text, 1, 15);
    *last = '\0';
    const float back = strtof(text, &end);
    if (*end || memcmp(&back, &value, 4) != 0) fail_msg("%.9g became %s", (double)value, text);
}

static void test_float(void **state)
{
    (void)state;
    uint64_t random = 88172645463325252u;
    for (uint32_t exponent = 0; exponent < 255; exponent++) { /* every binade, both signs */
        for (int i = 0; i < 8000; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            reads_back(from_bits((exponent << 23) | ((uint32_t)random & 0x807fffffu)));
        }
        for (uint32_t i = 0; i < 64; i++) { /* and its ends */
            reads_back(from_bits((exponent << 23) + i));
            reads_back(from_bits((exponent << 23) + 0x7fffffu - i));
        }
    }
    for (int e = -44; e <= 38; e++) /* around powers of ten */
        for (int i = -3; i <= 3; i++) {
            uint32_t bits;
            const float power = (float)pow(10, e);
            memcpy(&bits, &power, 4);
            reads_back(from_bits(bits + (uint32_t)i));
        }
}

static void writes(float value, const char *wanted)
{
    char text[MODAL_NUMBER_TEXT + 1];
    *modal_put_float(text, value) = '\0';
    assert_string_equal(text, wanted);
}

static void test_texts(void **state)
{
    (void)state;
    char text[MODAL_NUMBER_TEXT + 1];
    writes(0.0f, "0");
    writes(-0.0f, "-0");
    writes(1.5f, "1.5");
    writes(-120.0f, "-120");
    writes(0.1f, "0.100000001");
    writes(1e-5f, "9.99999975e-06");
    writes(0.00012345f, "0.000123449994");
    writes(1e-7f, "1.00000001e-07");
    writes(16777216.0f, "16777216");
    writes(999999999.0f, "1e+09");
    writes(FLT_MAX, "3.40282347e+38");
    writes(FLT_TRUE_MIN, "1.40129846e-45");
    writes(INFINITY, "inf");
    writes(-INFINITY, "-inf");
    writes(NAN, "nan");
    const int64_t whole[] = {0, 7, 10, 99, 100, 12345, -1, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        char wanted[32];
        snprintf(wanted, sizeof wanted, "%" PRId64, whole[i]);
        *modal_put_integer(text, whole[i]) = '\0';
        assert_string_equal(text, wanted);
    }
    const double times[] = {0, 0.1, 1.0 / 3.0, 1e300, -2.5e-310};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        *modal_put_double(text, times[i]) = '\0';
        assert_true(strtod(text, NULL) == times[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_float), cmocka_unit_test(test_texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
