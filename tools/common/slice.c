/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/slice.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* An optional index of a slice; *text moves behind it. */
static int slice_part(const char **text, int64_t *value, int *given)
{
    char *end = NULL;
    const char *c = *text;
    *given = *c != '\0' && *c != ':';
    if (!*given) return 1;
    if (!isdigit((unsigned char)c[*c == '-'])) return 0;
    errno = 0;
    *value = strtoll(c, &end, 10);
    *text = end;
    return errno == 0;
}

modal_status tool_slice_parse(const char *text, tool_slice *s, modal_error *err)
{
    const char *c = text ? text : ":";
    *s = (tool_slice){.text = c, .part = {0, 0, 1}};
    int n = 1, fine = slice_part(&c, &s->part[0], &s->given[0]);
    for (; fine && n < 3 && *c == ':'; n++) {
        c++;
        fine = slice_part(&c, &s->part[n], &s->given[n]);
    }
    s->single = n == 1;
    if (!fine || *c || (s->single && !s->given[0]))
        return modal_error_set(err, MODAL_ERROR_USAGE, "--frames: not A:B:STEP or an index, %s", s->text);
    if (s->part[2] <= 0)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--frames: the step must be positive, %s", s->text);
    return MODAL_OK;
}

modal_status tool_slice_select(const tool_slice *s, int64_t n, const char *what, int64_t *start, int64_t *step,
                               int64_t *count, modal_error *err)
{
    int64_t low = s->given[0] ? s->part[0] : 0, high = s->given[1] ? s->part[1] : n;
    if (low < 0) low += n;
    if (high < 0) high += n;
    if (s->single) { /* an index: unlike the ends of a slice, it must be there */
        if (low < 0 || low >= n)
            return modal_error_set(err, MODAL_ERROR_USAGE, "--frames: %s has frames 0 .. %" PRId64 ", %s", what, n - 1,
                                   s->text);
        high = low + 1;
    }
    if (low < 0) low = 0;
    if (high > n) high = n;
    *start = low;
    *step = s->part[2];
    *count = high > low ? (high - low - 1) / *step + 1 : 0;
    if (*count == 0)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--frames: selects none of %" PRId64 " frames, %s", n, s->text);
    return MODAL_OK;
}
