/* SPDX-License-Identifier: Apache-2.0 */
/* A folder in which shares of a sequence are being made: which are missing. */
#include <string.h>

#include "formats/json/json_text.h"
#include "lib/base/memory.h"
#include "tools/common/shares.h"
#include "tools/modalinfo/modalinfo.h"

int modalinfo_has_shares(const char *path)
{
    char *head = NULL;
    int64_t n = 0;
    const modal_status status = tool_shares_head(path, &head, &n, NULL);
    const int there = status == MODAL_OK ? head != NULL : status == MODAL_ERROR_INPUT;
    modal_free(&head);
    return there;
}

modal_status modalinfo_describe_shares(const char *path, json_t **info, modal_error *err)
{
    modal_status status = MODAL_OK;
    static const char *const states[] = {"missing", "begun", "complete"};
    json_t *lists[3] = {json_array(), json_array(), json_array()};
    char *head = NULL;
    int64_t n = 0;
    MODAL_TRY(tool_shares_head(path, &head, &n, err));
    if (!head) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: no shards", path); /* just finished */
    for (int64_t i = 0; i < n; i++) {
        tool_share_state state;
        MODAL_TRY(tool_shares_state(path, i, &state, err));
        json_array_append_new(lists[state], json_integer(i));
    }
    *info = json_object();
    json_object_set_new(*info, "file", modal_json_string(path));
    json_object_set_new(*info, "type", json_string("shards"));
    json_object_set_new(*info, "shards", json_integer(n));
    for (int k = 2; k >= 0; k--) json_object_set(*info, states[k], lists[k]);
done:
    for (int k = 0; k < 3; k++) json_decref(lists[k]);
    modal_free(&head);
    return status;
}

/* "0, 2, 5-7" */
static void put_runs(FILE *to, const json_t *numbers)
{
    const size_t n = json_array_size(numbers);
    for (size_t i = 0, end; i < n; i = end) {
        const json_int_t first = json_integer_value(json_array_get(numbers, i));
        for (end = i + 1; end < n && json_integer_value(json_array_get(numbers, end)) == first + (json_int_t)(end - i);) end++;
        fprintf(to, i ? ", %lld" : "%lld", (long long)first);
        if (end > i + 1) fprintf(to, "-%lld", (long long)(first + (json_int_t)(end - i) - 1));
    }
}

void modalinfo_print_shares(FILE *to, const json_t *info)
{
    static const char *const states[] = {"begun", "missing"};
    fprintf(to, "an unfinished sequence, %zu of %lld shards are complete", json_array_size(json_object_get(info, "complete")),
            (long long)json_integer_value(json_object_get(info, "shards")));
    for (int k = 0; k < 2; k++) {
        const json_t *list = json_object_get(info, states[k]);
        if (json_array_size(list) == 0) continue;
        fprintf(to, "; %s: ", states[k]);
        put_runs(to, list);
    }
    if (json_array_size(json_object_get(info, "complete")) == (size_t)json_integer_value(json_object_get(info, "shards")))
        fputs("; modaldeform --join finishes it", to);
    fputc('\n', to);
}

modal_status modalinfo_check_shares(const char *path, modal_findings *findings, modal_error *err)
{
    json_t *info = NULL, *number;
    size_t i;
    const modal_checker checker = {findings, err};
    modal_status status = modalinfo_describe_shares(path, &info, err);
    if (status != MODAL_OK) return status;
    MODAL_TRY(modal_broken(&checker, "manifest.json", "not there: the sequence is not finished"));
    json_array_foreach (json_object_get(info, "begun"), i, number)
        MODAL_TRY(modal_broken(&checker, "shards.part", "shard %lld: not complete", (long long)json_integer_value(number)));
    json_array_foreach (json_object_get(info, "missing"), i, number)
        MODAL_TRY(modal_broken(&checker, "shards.part", "shard %lld: missing", (long long)json_integer_value(number)));
done:
    json_decref(info);
    return status;
}
