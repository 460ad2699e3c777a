/* SPDX-License-Identifier: Apache-2.0 */
/* "/wind/seed=17" changes a scene or is refused with a message: what comes is JSON, with as many lines as before and the value's own, and the
 * same assignment again changes nothing, unless it appends. The input is a scene, a zero, and an assignment. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/json/json_place.h"
#include "lib/base/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* source->json is NULL where the text is no sound JSON. */
static void parse(modal_json_source *source, const char *text)
{
    modal_error err = {0};
    modal_json_place root;
    *source = (modal_json_source){.name = "fuzz", .err = &err};
    const modal_status status = modal_json_open(source, text, strlen(text), &root);
    if (status != err.status || (status == MODAL_OK) != (source->json != NULL)) abort();
    source->err = NULL;
}

/* Values may not be nested deeper than a reader takes: the one that comes is checked when the scene is read. */
static int is_deep(const char *assignment)
{
    int n = 0;
    for (; *assignment; assignment++) n += *assignment == '[' || *assignment == '{';
    return n > MODAL_JSON_DEPTH / 2;
}

static size_t lines(const char *text)
{
    size_t n = 0;
    for (; *text; text++) n += *text == '\n';
    return n;
}

/* Whether the pointer ends with "-", or has it on its way: each time another element. */
static int appends(const char *assignment)
{
    const char *equals = strchr(assignment, '='), *at = strstr(assignment, "/-");
    return at && at < equals;
}

static void set(const char *text, const char *assignment)
{
    char *changed = NULL, *again = NULL;
    modal_json_source sources[3] = {0};
    modal_error err = {0};
    parse(&sources[0], text);
    const char *own = sources[0].text; /* without a byte order mark */
    if (sources[0].json) {
        const modal_status status = modal_json_set(own, assignment, &changed, &err);
        if (status != err.status || (status == MODAL_OK) != (changed != NULL)) abort();
        if (status != MODAL_OK && (status != MODAL_ERROR_USAGE || !err.message[0])) abort();
    }
    if (changed && !is_deep(assignment)) {
        parse(&sources[1], changed);
        const int is_deeper = !sources[1].json && is_deep(text);
        if ((!sources[1].json && !is_deeper) || lines(changed) > lines(own) + lines(assignment)) abort();
        if (sources[1].json && !appends(assignment)) {
            if (modal_json_set(changed, assignment, &again, &err) != MODAL_OK) abort();
            parse(&sources[2], again);
            if (!sources[2].json || !json_equal(sources[1].json, sources[2].json)) abort();
        }
    }
    for (int i = 0; i < 3; i++) modal_json_close(&sources[i]);
    modal_free(&changed);
    modal_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    char *both = zero ? malloc(size + 1) : NULL; /* two texts, each with its end */
    if (!both) return 0;
    memcpy(both, data, size);
    both[size] = '\0';
    set(both, both + (zero - data) + 1);
    free(both);
    return 0;
}
