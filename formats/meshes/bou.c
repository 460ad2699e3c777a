/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/meshes/bou.h"

#include <stdlib.h>

#include "formats/meshes/mesh_parse.h"
#include "formats/meshes/text_reader.h"
#include "lib/base/memory.h"

static int compare_numbers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

modal_status modal_bou_parse(const char *data, int64_t length, const char *name, int64_t **numbers,
                             int64_t *count, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_text text;
    int64_t *list = NULL, capacity = 0, n = 0, kept = 0;
    *numbers = NULL;
    *count = 0;
    modal_text_init(&text, name, data, length, err);
    text.commas = 1;
    text.comments = 1;
    while (modal_text_seek_token(&text)) {
        MODAL_TRY(modal_grow(&list, &capacity, n + 1, sizeof *list, "node numbers", err));
        MODAL_TRY(modal_text_integer(&text, "node number", 0, INT64_MAX, &list[n]));
        n++;
    }
    if (!list) MODAL_TRY(modal_alloc(&list, 0, sizeof *list, "node numbers", err)); /* none: nothing is held */
    if (n > 0) qsort(list, (size_t)n, sizeof *list, compare_numbers);
    for (int64_t i = 0; i < n; i++)
        if (kept == 0 || list[kept - 1] != list[i]) list[kept++] = list[i];
    *numbers = list;
    *count = kept;
    list = NULL;
done:
    if (status == MODAL_ERROR_MEMORY) modal_error_context(err, "%s", name);
    modal_free(&list);
    return status;
}
