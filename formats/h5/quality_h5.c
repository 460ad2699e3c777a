/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/h5/quality_h5.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/memory.h"

/* The names of the columns, with one space between two. */
modal_status modal_quality_write_columns(hid_t file, modal_error *err)
{
    static const char *const columns[MODAL_QUALITY_NUMBERS] = MODAL_QUALITY_NAMES;
    char text[MODAL_QUALITY_NUMBERS * 32], *end = text;
    for (int i = 0; i < MODAL_QUALITY_NUMBERS; i++)
        end += snprintf(end, sizeof text - (size_t)(end - text), "%s%s", i ? " " : "", columns[i]);
    return modal_h5_write_text(file, "quality_columns", text, err);
}

/* Which column of the file has what a modal_quality has at place i: of[i], or -1. */
static modal_status read_columns(const modal_h5_in *in, const modal_h5_place *root, int64_t n_columns,
                                 int64_t of[MODAL_QUALITY_NUMBERS], int *sound)
{
    modal_status status = MODAL_OK;
    static const char *const names[MODAL_QUALITY_NUMBERS] = MODAL_QUALITY_NAMES;
    char *text = NULL;
    int64_t n = 0;
    *sound = 0;
    for (int i = 0; i < MODAL_QUALITY_NUMBERS; i++) of[i] = -1;
    MODAL_TRY(modal_h5_read_text(in, root, "quality_columns", &text));
    if (!text) goto done;
    for (const char *name = text; name; n++) {
        const size_t length = strcspn(name, " ");
        if (length == 0) break;
        for (int i = 0; i < MODAL_QUALITY_NUMBERS; i++) {
            if (strlen(names[i]) != length || strncmp(names[i], name, length) != 0) continue;
            if (of[i] >= 0) {
                status = modal_broken(&in->checker, "/@quality_columns", "%s: twice", names[i]);
                goto done;
            }
            of[i] = n;
        }
        name = name[length] ? name + length + 1 : NULL;
    }
    *sound = n == n_columns;
    if (!*sound)
        status = modal_broken(&in->checker, "/@quality_columns", "must be %lld names between single spaces, is \"%.64s\"",
                              (long long)n_columns, text);
done:
    modal_free(&text);
    return status;
}

modal_status modal_quality_read(const modal_h5_in *in, const modal_h5_place *root, int64_t n_rows, modal_quality **rows)
{
    modal_status status = MODAL_OK;
    int64_t dims[2] = {n_rows, -1}, of[MODAL_QUALITY_NUMBERS];
    double *values = NULL;
    int sound = 0;
    *rows = NULL;
    MODAL_TRY(modal_h5_read_array(in, root, "quality", MODAL_H5_F64, 2, dims, MODAL_H5_OPTIONAL, n_rows < 0 ? NULL : &values));
    if (dims[1] < 0) goto done;
    MODAL_TRY(read_columns(in, root, dims[1], of, &sound));
    if (!values || !sound) goto done;
    MODAL_TRY(modal_alloc(rows, n_rows, sizeof **rows, "/quality", in->checker.err));
    for (int64_t i = 0; i < n_rows; i++) {
        double row[MODAL_QUALITY_NUMBERS];
        for (int k = 0; k < MODAL_QUALITY_NUMBERS; k++) row[k] = of[k] < 0 ? NAN : values[i * dims[1] + of[k]];
        memcpy(&(*rows)[i], row, sizeof row);
    }
done:
    modal_free(&values);
    return status;
}

/* NaN stands for what was not measured. */
modal_status modal_quality_rules(const modal_checker *c, const modal_quality *rows, int64_t n_rows, int32_t n_objects)
{
    modal_status status = MODAL_OK;
    static const char *const names[MODAL_QUALITY_NUMBERS] = MODAL_QUALITY_NAMES;
    for (int64_t i = 0; rows && i < n_rows; i++) {
        double values[MODAL_QUALITY_NUMBERS];
        memcpy(values, &rows[i], sizeof values);
        for (int k = 0; k < MODAL_QUALITY_NUMBERS; k++) {
            const char *of = strrchr(names[k], '_');
            const int object = of && strcmp(of, "_object") == 0, counted = object || (of && strcmp(of, "_element") == 0);
            const char *wrong = NULL;
            if (isnan(values[k])) continue;
            if (isinf(values[k])) wrong = "infinite";
            else if (values[k] < 0 && strcmp(names[k], "min_jacobian") != 0 && strcmp(names[k], "min_volume_ratio") != 0) wrong = "negative";
            else if ((counted || strcmp(names[k], "not_judged") == 0) && values[k] != floor(values[k])) wrong = "not a whole number";
            else if (object && n_objects > 0 && values[k] >= n_objects) wrong = "not an object";
            if (!wrong) continue;
            MODAL_TRY(modal_broken(c, "/quality", "frame %lld, %s: %s, %.17g", (long long)i, names[k], wrong, values[k]));
            goto done; /* an array is reported once */
        }
    }
done:
    return status;
}
