/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/h5/rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/memory.h"

/* Remembers the first offence and counts the others. */
typedef struct offences {
    int64_t first, count;
} offences;

static void offend(offences *o, int64_t place)
{
    if (o->count++ == 0) o->first = place;
}

enum { MORE = 40 };

static const char *more(const offences *o, char text[MORE])
{
    text[0] = '\0';
    if (o->count > 1) snprintf(text, MORE, " (and %lld more)", (long long)(o->count - 1));
    return text;
}

static modal_status finite_broken(const modal_checker *checker, const char *where,
                                  const offences *o, int64_t width, modal_axes axes, double value)
{
    char text[MORE];
    if (o->count == 0) return MODAL_OK;
    if (width == 1)
        return modal_broken(checker, where, "%s %lld: not finite, %g%s", axes.row,
                            (long long)o->first, value, more(o, text));
    return modal_broken(checker, where, "%s %lld, %s %lld: not finite, %g%s", axes.row,
                        (long long)(o->first / width), axes.column, (long long)(o->first % width),
                        value, more(o, text));
}

modal_status modal_rule_finite(const modal_checker *checker, const char *where,
                               const double *values, int64_t rows, int64_t width, modal_axes axes)
{
    offences o = {0};
    if (!values) return MODAL_OK;
    for (int64_t i = 0; i < rows * width; i++)
        if (!isfinite(values[i])) offend(&o, i);
    return finite_broken(checker, where, &o, width, axes, o.count ? values[o.first] : 0.0);
}

modal_status modal_rule_finite_float(const modal_checker *checker, const char *where,
                                     const float *values, int64_t rows, int64_t width,
                                     modal_axes axes)
{
    offences o = {0};
    if (!values) return MODAL_OK;
    for (int64_t i = 0; i < rows * width; i++)
        if (!isfinite(values[i])) offend(&o, i);
    return finite_broken(checker, where, &o, width, axes, o.count ? (double)values[o.first] : 0.0);
}

modal_status modal_rule_at_least(const modal_checker *checker, const char *where,
                                 const double *values, int64_t n, double low, int strict)
{
    offences o = {0};
    char text[MORE];
    if (!values) return MODAL_OK;
    for (int64_t i = 0; i < n; i++)
        if (!(isfinite(values[i]) && (strict ? values[i] > low : values[i] >= low))) offend(&o, i);
    if (o.count == 0) return MODAL_OK;
    return modal_broken(checker, where, "value %lld: must be finite and %s %g, is %g%s",
                        (long long)o.first, strict ? ">" : ">=", low, values[o.first],
                        more(&o, text));
}

modal_status modal_rule_range(const modal_checker *checker, const char *where,
                              const int32_t *values, int64_t rows, int64_t width, int64_t low,
                              int64_t high)
{
    offences o = {0};
    char text[MORE];
    if (!values) return MODAL_OK;
    for (int64_t i = 0; i < rows * width; i++)
        if (values[i] < low || values[i] >= high) offend(&o, i);
    if (o.count == 0) return MODAL_OK;
    return modal_broken(checker, where, "row %lld: outside [%lld, %lld), %d%s",
                        (long long)(o.first / width), (long long)low, (long long)high,
                        values[o.first], more(&o, text));
}

modal_status modal_rule_permutation(const modal_checker *checker, const char *where,
                                    const int32_t *values, int64_t n)
{
    modal_status status = MODAL_OK;
    offences outside = {0}, repeated = {0};
    uint8_t *seen = NULL;
    char text[MORE];
    if (!values) return MODAL_OK;
    MODAL_TRY(modal_alloc_zero(&seen, n, sizeof *seen, where, checker->err));
    for (int64_t i = 0; i < n; i++) {
        if (values[i] < 0 || values[i] >= n)
            offend(&outside, i);
        else if (seen[values[i]]++)
            offend(&repeated, i), seen[values[i]] = 1;
    }
    if (outside.count)
        MODAL_TRY(modal_broken(checker, where,
                               "value %lld: not a permutation, outside [0, %lld), %d%s",
                               (long long)outside.first, (long long)n, values[outside.first],
                               more(&outside, text)));
    if (repeated.count)
        MODAL_TRY(modal_broken(checker, where, "value %lld: not a permutation, again %d%s",
                               (long long)repeated.first, values[repeated.first],
                               more(&repeated, text)));
done:
    modal_free(&seen);
    return status;
}

modal_status modal_rule_offsets(const modal_checker *checker, const char *where,
                                const int64_t *offsets, int64_t n_rows, int64_t n_values,
                                int *sound)
{
    *sound = 0;
    if (!offsets) return MODAL_OK;
    if (offsets[0] != 0)
        return modal_broken(checker, where, "value 0: must be 0, is %lld", (long long)offsets[0]);
    for (int64_t i = 0; i < n_rows; i++)
        if (offsets[i + 1] < offsets[i])
            return modal_broken(checker, where, "value %lld: decreases, %lld after %lld",
                                (long long)(i + 1), (long long)offsets[i + 1],
                                (long long)offsets[i]);
    if (offsets[n_rows] != n_values)
        return modal_broken(checker, where,
                            "last value: must be the number of values %lld, is %lld",
                            (long long)n_values, (long long)offsets[n_rows]);
    *sound = 1;
    return MODAL_OK;
}

modal_status modal_rule_ascending(const modal_checker *checker, const char *where,
                                  const int64_t *offsets, const int32_t *values, int64_t n)
{
    offences o = {0};
    char text[MORE];
    if (!values) return MODAL_OK;
    int64_t row_end = offsets ? 0 : n, row = 0;
    for (int64_t i = 0; i < n; i++) {
        int starts = i == 0;
        while (offsets && row_end <= i) row_end = offsets[++row], starts = 1;
        if (!starts && values[i] <= values[i - 1]) offend(&o, i);
    }
    if (o.count == 0) return MODAL_OK;
    return modal_broken(checker, where, "value %lld: not ascending, %d after %d%s",
                        (long long)o.first, values[o.first], values[o.first - 1], more(&o, text));
}

static const double rigid_tolerance = 1e-6;
enum { FAULT = 120 };

/* Empty when the frame is rigid, else what is wrong with it. */
static void rigid_fault(const double *f, char text[FAULT])
{
    text[0] = '\0';
    for (int i = 0; i < 12; i++)
        if (!isfinite(f[i])) {
            snprintf(text, FAULT, "not finite, %g", f[i]);
            return;
        }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) {
            double dot =
                f[4 * i] * f[4 * j] + f[4 * i + 1] * f[4 * j + 1] + f[4 * i + 2] * f[4 * j + 2];
            if (!(fabs(dot - (i == j)) <= rigid_tolerance)) {
                snprintf(text, FAULT, "not orthonormal, rows %d and %d have the product %.9g", j, i,
                         dot);
                return;
            }
        }
    double determinant = f[0] * (f[5] * f[10] - f[6] * f[9]) - f[1] * (f[4] * f[10] - f[6] * f[8]) +
                         f[2] * (f[4] * f[9] - f[5] * f[8]);
    if (!(determinant > 0)) snprintf(text, FAULT, "a reflection, determinant %.9g", determinant);
}

modal_status modal_rule_rest_pose(const modal_checker *checker, const char *where,
                                  const double pose[12], int32_t object)
{
    char fault[FAULT];
    rigid_fault(pose, fault);
    return fault[0] ? modal_broken(checker, where, "object %d: %s", object, fault) : MODAL_OK;
}

modal_status modal_rule_poses(const modal_checker *checker, const char *where,
                              const double *poses, int64_t n_frames, int64_t n_objects)
{
    offences o = {0};
    char text[MORE], fault[FAULT], first[FAULT] = "";
    if (!poses) return MODAL_OK;
    for (int64_t i = 0; i < n_frames * n_objects; i++) {
        rigid_fault(poses + 12 * i, fault);
        if (!fault[0]) continue;
        offend(&o, i);
        if (o.count == 1) memcpy(first, fault, sizeof first);
    }
    if (o.count == 0) return MODAL_OK;
    return modal_broken(checker, where, "frame %lld, object %lld: %s%s",
                        (long long)(o.first / n_objects), (long long)(o.first % n_objects), first,
                        more(&o, text));
}

modal_status modal_rule_hash(const modal_checker *checker, const char *where, const char *hash)
{
    if (!hash) return MODAL_OK;
    if (strlen(hash) == 32 && strspn(hash, "0123456789abcdef") == 32) return MODAL_OK;
    return modal_broken(checker, where, "must be 32 lower-case hexadecimal digits, is \"%.64s\"",
                        hash);
}
