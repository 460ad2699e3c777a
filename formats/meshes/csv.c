/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/meshes/csv.h"

#include <assert.h>
#include <string.h>

#include "formats/meshes/text_reader.h"
#include "lib/base/memory.h"

typedef struct field {
    const char *text; /* without the blanks around it */
    int64_t length;
} field;

void modal_series_free(modal_series *series)
{
    modal_free(&series->times);
    modal_free(&series->values);
    memset(series, 0, sizeof *series);
}

static int is_blank(char c) { return c == ' ' || c == '\t'; }

static field trimmed(const char *begin, const char *end)
{
    while (begin < end && is_blank(*begin)) begin++;
    while (end > begin && is_blank(end[-1])) end--;
    return (field){begin, end - begin};
}

/* Splits a line at its commas; returns their number plus one, of which at most MODAL_CSV_COLUMNS
 * are stored. */
static int64_t split(const char *line, const char *end, field fields[MODAL_CSV_COLUMNS])
{
    int64_t n = 0;
    for (const char *begin = line;; n++) {
        const char *comma = memchr(begin, ',', (size_t)(end - begin));
        if (n < MODAL_CSV_COLUMNS) fields[n] = trimmed(begin, comma ? comma : end);
        if (!comma) return n + 1;
        begin = comma + 1;
    }
}

static int is_header(const field *fields, int n)
{
    double number;
    for (int i = 0; i < n; i++) {
        /* out of range or too long is a number that is wrong, no title */
        if (fields[i].length == 0 ||
            modal_parse_real(fields[i].text, fields[i].length, &number) != MODAL_NUMBER_MALFORMED)
            return 0;
        /* nan, inf and -x would be read by others as numbers, or are typing errors of them; =A1 is a number to a spreadsheet */
        char c = fields[i].text[0];
        if ((c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == '=' ||
            modal_token_is_like(fields[i].text, fields[i].length, "nan") ||
            modal_token_is_like(fields[i].text, fields[i].length, "inf") ||
            modal_token_is_like(fields[i].text, fields[i].length, "infinity"))
            return 0;
    }
    return 1;
}

static modal_status parse_row(const field *fields, int n, double *row, const char *name,
                              int64_t line, modal_error *err)
{
    char quoted[MODAL_QUOTE];
    for (int i = 0; i < n; i++)
        if (modal_parse_real(fields[i].text, fields[i].length, &row[i]) != MODAL_NUMBER_OK)
            return modal_error_set(err, MODAL_ERROR_INPUT,
                                   "%s:%lld: column %d: not a finite number, %s", name,
                                   (long long)line, i + 1,
                                   modal_quote(quoted, fields[i].text, fields[i].length));
    return MODAL_OK;
}

/* is_series: the first column increases, and there are two rows. */
static modal_status parse(const char *text, int64_t length, const char *name, int n_values, int is_series,
                          modal_series *series, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int columns = n_values + 1;
    int64_t time_capacity = 0, value_capacity = 0, line_number = 0;
    int may_be_header = 1;
    field fields[MODAL_CSV_COLUMNS];
    double row[MODAL_CSV_COLUMNS];
    assert(n_values >= 1 && columns <= MODAL_CSV_COLUMNS);
    memset(series, 0, sizeof *series);
    series->n_values = n_values;

    const char *at = text, *end = text + length;
    if (length >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0) at += 3;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *line = at, *line_end = newline ? newline : end;
        at = newline ? newline + 1 : end;
        line_number++;
        if (line_end > line && line_end[-1] == '\r') line_end--;
        field whole = trimmed(line, line_end);
        if (whole.length == 0 || whole.text[0] == '#') continue;
        int64_t found = split(line, line_end, fields);
        if (found != columns)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s:%lld: needs %d columns, %lld", name,
                       (long long)line_number, columns, (long long)found);
        if (may_be_header && is_header(fields, columns)) {
            may_be_header = 0;
            continue;
        }
        may_be_header = 0;
        MODAL_TRY(parse_row(fields, columns, row, name, line_number, err));
        if (is_series && series->n_rows > 0 && !(row[0] > series->times[series->n_rows - 1]))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s:%lld: the time must increase, %.17g after %.17g",
                       name, (long long)line_number, row[0], series->times[series->n_rows - 1]);
        MODAL_TRY(modal_grow(&series->times, &time_capacity, series->n_rows + 1, sizeof(double),
                             "times", err));
        MODAL_TRY(modal_grow(&series->values, &value_capacity, (series->n_rows + 1) * n_values,
                             sizeof(double), "values", err));
        series->times[series->n_rows] = row[0];
        memcpy(&series->values[series->n_rows * n_values], &row[1],
               (size_t)n_values * sizeof(double));
        series->n_rows++;
    }
    if (series->n_rows < 1 + is_series)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: needs at least %s of numbers, %lld", name,
                   is_series ? "2 lines" : "a line", (long long)series->n_rows);
done:
    if (status != MODAL_OK) modal_series_free(series);
    return status;
}

modal_status modal_series_parse_csv(const char *text, int64_t length, const char *name,
                                    int n_values, modal_series *series, modal_error *err)
{
    return parse(text, length, name, n_values, 1, series, err);
}

static modal_status load(const char *path, int n_values, int is_series, modal_series *series, modal_error *err)
{
    char *data = NULL;
    int64_t length = 0;
    memset(series, 0, sizeof *series);
    modal_status status = modal_file_load(path, &data, &length, err);
    if (status == MODAL_OK) status = parse(data, length, path, n_values, is_series, series, err);
    modal_free(&data);
    return status;
}

modal_status modal_series_read_csv(const char *path, int n_values, modal_series *series,
                                   modal_error *err)
{
    return load(path, n_values, 1, series, err);
}

modal_status modal_list_read_csv(const char *path, int n_values, modal_series *list, modal_error *err)
{
    return load(path, n_values, 0, list, err);
}
