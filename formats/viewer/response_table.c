/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/viewer/response_table.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/meshes/text_reader.h"
#include "lib/base/memory.h"

enum { MOST_CURVES = 100000 };

/* A whole number in front of `rest`, as the writer writes it: digits alone, no zeros before them. */
static const char *take_number(const char *c, const char *end, int32_t *number)
{
    int64_t value = 0;
    const char *start = c;
    for (; c < end && *c >= '0' && *c <= '9' && value < INT32_MAX / 10; c++) value = 10 * value + (*c - '0');
    if (c == start || (*start == '0' && c > start + 1)) return NULL;
    *number = (int32_t)value;
    return c;
}

static const char *take_word(const char *c, const char *end, const char *word)
{
    const size_t length = strlen(word);
    return c && (size_t)(end - c) >= length && memcmp(c, word, length) == 0 ? c + length : NULL;
}

/* "probe3_x_amplitude", "object0_q7_phase"; 0: something else. */
static int parse_title(const char *c, int64_t length, const char *quantity, modal_response_curve *curve)
{
    const char *end = c + length, *at = take_word(c, end, "probe");
    curve->of_probe = at != NULL;
    if (!at) at = take_word(c, end, "object");
    if (at) at = take_number(at, end, &curve->number);
    at = take_word(at, end, curve->of_probe ? "_" : "_q");
    if (at && curve->of_probe) {
        curve->index = at < end ? *at - 'x' : -1;
        at = curve->index >= 0 && curve->index < 3 ? at + 1 : NULL;
    } else if (at) {
        at = take_number(at, end, &curve->index);
    }
    at = take_word(at, end, "_");
    at = take_word(at, end, quantity);
    return at == end;
}

static modal_status read_titles(modal_text *t, modal_response_table *table, modal_error *err)
{
    modal_status status = MODAL_OK;
    const char *token;
    char quoted[MODAL_QUOTE];
    int64_t length, capacity = 0;
    if (!modal_text_seek_token(t) || !modal_text_token(t, &token, &length) || !modal_token_is(token, length, "frequency")) {
        status = modal_text_fail(t, "no table of responses over frequency, which begins with \"frequency\"");
        goto done;
    }
    while (modal_text_token(t, &token, &length)) {
        modal_response_curve curve, phase;
        const char *first = token;
        const int64_t first_length = length;
        if (!parse_title(token, length, "amplitude", &curve) || !modal_text_token(t, &token, &length) ||
            !parse_title(token, length, "phase", &phase) || memcmp(&curve, &phase, sizeof curve) != 0) {
            status = modal_text_fail(t, "no amplitude with its phase, %s", modal_quote(quoted, first, first_length));
            goto done;
        }
        if (table->n_curves == MOST_CURVES) {
            status = modal_text_fail(t, "more than %d curves", MOST_CURVES);
            goto done;
        }
        MODAL_TRY(modal_grow(&table->curves, &capacity, table->n_curves + 1, sizeof *table->curves, "curves", err));
        table->curves[table->n_curves++] = curve;
    }
    if (table->n_curves == 0) {
        status = modal_text_fail(t, "a table without curves");
        goto done;
    }
    MODAL_TRY(modal_text_end_line(t));
done:
    return status;
}

/* A row: its frequency, and the pairs to `pairs` [n_curves, 2]. */
static modal_status read_row(modal_text *t, const modal_response_table *table, double *frequency, float *pairs)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_text_real(t, "frequency", frequency));
    if (!(*frequency >= 0)) return modal_text_fail(t, "a frequency below 0, %g", *frequency);
    if (table->n_rows > 0 && !(*frequency > table->frequencies[table->n_rows - 1]))
        return modal_text_fail(t, "the frequency must increase, %.17g after %.17g", *frequency,
                               table->frequencies[table->n_rows - 1]);
    for (int32_t i = 0; i < table->n_curves; i++) {
        double amplitude = 0, phase = 0;
        MODAL_TRY(modal_text_real(t, "amplitude", &amplitude));
        MODAL_TRY(modal_text_real(t, "phase", &phase));
        if (!(amplitude >= 0 && amplitude <= FLT_MAX))
            return modal_text_fail(t, "an amplitude below 0, or beyond float32, %g", amplitude);
        if (!(fabs(phase) <= 180)) return modal_text_fail(t, "a phase beyond 180 degrees, %g", phase);
        pairs[2 * i] = (float)amplitude;
        pairs[2 * i + 1] = (float)phase;
    }
    MODAL_TRY(modal_text_end_line(t));
done:
    return status;
}

modal_status modal_response_table_parse(const char *text, int64_t length, const char *name, modal_response_table *table,
                                        modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_text t;
    int64_t capacity = 0, pair_capacity = 0;
    float *pairs = NULL; /* [n_rows, n_curves, 2] */
    *table = (modal_response_table){0};
    modal_text_init(&t, name, text, length, err);
    t.commas = 1;
    MODAL_TRY(read_titles(&t, table, err));
    while (modal_text_seek_token(&t)) {
        const int64_t row = 2 * (int64_t)table->n_curves;
        MODAL_TRY(modal_grow(&table->frequencies, &capacity, table->n_rows + 1, sizeof(double), "frequencies", err));
        MODAL_TRY(modal_grow(&pairs, &pair_capacity, (table->n_rows + 1) * row, sizeof *pairs, "amplitudes", err));
        MODAL_TRY(read_row(&t, table, &table->frequencies[table->n_rows], pairs + table->n_rows * row));
        table->n_rows++;
    }
    if (table->n_rows == 0) {
        status = modal_text_fail(&t, "a table without rows");
        goto done;
    }
    MODAL_TRY(modal_alloc(&table->amplitudes, table->n_rows * table->n_curves, sizeof(float), "amplitudes", err));
    MODAL_TRY(modal_alloc(&table->phases, table->n_rows * table->n_curves, sizeof(float), "phases", err));
    for (int64_t i = 0; i < table->n_rows; i++)
        for (int64_t k = 0; k < table->n_curves; k++) {
            table->amplitudes[k * table->n_rows + i] = pairs[2 * (i * table->n_curves + k)];
            table->phases[k * table->n_rows + i] = pairs[2 * (i * table->n_curves + k) + 1];
        }
done:
    modal_free(&pairs);
    if (status != MODAL_OK) modal_response_table_free(table);
    return status;
}

modal_status modal_response_table_read(const char *path, modal_response_table *table, modal_error *err)
{
    char *data = NULL;
    int64_t length = 0;
    *table = (modal_response_table){0};
    modal_status status = modal_file_load(path, &data, &length, err);
    if (status == MODAL_OK) status = modal_response_table_parse(data, length, path, table, err);
    modal_free(&data);
    return status;
}

void modal_response_table_free(modal_response_table *table)
{
    modal_free(&table->curves);
    modal_free(&table->frequencies);
    modal_free(&table->amplitudes);
    modal_free(&table->phases);
    *table = (modal_response_table){0};
}
