/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/device_list.h"

#include <stdio.h>
#include <string.h>

#include "kernels/registry.h"

static modal_status bad_list(const char *text, modal_error *err)
{
    return modal_error_set(err, MODAL_ERROR_USAGE,
                           "back end: '%s' is no list of devices such as cuda:0,1", text);
}

/* The kind of a back end: its name up to a colon. */
static size_t kind_length(const char *name) { return strcspn(name, ":"); }

modal_status modal_device_list(const char *text, modal_device_label *names, int *n, modal_error *err)
{
    *n = 0;
    if (strcmp(text, "cuda:all") == 0) {
        const int count = modal_device_count() - 2;
        if (count > MODAL_DEVICE_LIST) return bad_list(text, err);
        for (; *n < count; ++*n) snprintf(names[*n], MODAL_DEVICE_LABEL, "cuda:%d", *n);
        if (count == 0) { /* opening this one says why there is none */
            snprintf(names[0], MODAL_DEVICE_LABEL, "cuda");
            *n = 1;
        }
        return MODAL_OK;
    }
    for (const char *item = text;; ++*n) {
        const size_t length = strcspn(item, ",");
        if (*n == MODAL_DEVICE_LIST || length == 0 || length > MODAL_DEVICE_LABEL / 2)
            return bad_list(text, err);
        const int number = strspn(item, "0123456789") >= length;
        if (number && (*n == 0 || strncmp(names[0], "cuda:", 5) != 0)) return bad_list(text, err);
        snprintf(names[*n], MODAL_DEVICE_LABEL, "%s%.*s", number ? "cuda:" : "", (int)length, item);
        if (kind_length(names[*n]) != kind_length(names[0]) ||
            strncmp(names[*n], names[0], kind_length(names[0])) != 0 ||
            strcmp(names[*n], "auto") == 0)
            return modal_error_set(err, MODAL_ERROR_USAGE,
                                   "back end: '%s': all must be of one kind, ref, cpu or cuda", text);
        if (item[length] == '\0') break;
        item += length + 1;
    }
    ++*n;
    return MODAL_OK;
}

int modal_device_is_list(const char *text) { return strchr(text, ',') || strcmp(text, "cuda:all") == 0; }
