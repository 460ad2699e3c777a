/* SPDX-License-Identifier: Apache-2.0 */
/* The bases whose shapes are placed: operands, or the lines of a list, any number of them. Two passes: shapes are counted first, and each file is
 * read when its shapes are written, and then goes: the largest file takes memory, not all. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/basis/basis_h5.h"
#include "formats/meshes/text_reader.h"
#include "lib/base/memory.h"
#include "tools/common/files.h"
#include "tools/modalplace/modalplace.h"

static modal_status add_path(modalplace_bases *b, const char *path, int32_t line, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_grow(&b->files, &b->capacity, b->n_files + 1, sizeof *b->files, "bases", err));
    b->files[b->n_files] = (modalplace_file){.line = line};
    MODAL_TRY(modal_copy_text(&b->files[b->n_files].path, path, SIZE_MAX, err));
    b->n_files++;
done:
    return status;
}

/* A path a line; empty lines are passed over. */
static modal_status read_list(modalplace_bases *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *data = NULL, *text = NULL;
    int64_t length = 0;
    int32_t line = 0;
    MODAL_TRY(modal_file_load(b->list, &data, &length, err));
    if (memchr(data, '\0', (size_t)length)) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: a byte 0, which no path has", b->list);
    MODAL_TRY(modal_copy_text(&text, data, (size_t)length, err));
    for (char *at = text, *next; at; at = next) {
        next = strchr(at, '\n');
        if (next) *next++ = '\0';
        size_t n = strlen(at);
        if (n > 0 && at[n - 1] == '\r') at[--n] = '\0';
        line++;
        if (n == 0) continue;
        if (n >= 4096) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s:%d: longer than a path can be", b->list, line);
        MODAL_TRY(add_path(b, at, line, err));
    }
    if (b->n_files == 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: names no basis", b->list);
done:
    modal_free(&text);
    modal_free(&data);
    return status;
}

/* Puts the line of the list in front. */
static modal_status blame(const modalplace_bases *b, const modalplace_file *f, modal_status status, modal_error *err)
{
    if (status != MODAL_OK && b->list) modal_error_context(err, "%s:%d", b->list, f->line);
    return status;
}

modal_status modalplace_list_bases(modalplace_bases *b, const char *list, int n_operands, char *const *operands, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t n = 0;
    b->list = list;
    for (int i = 0; i < n_operands && !list; i++) MODAL_TRY(add_path(b, operands[i], 0, err));
    if (list) MODAL_TRY(read_list(b, err));
    for (int64_t i = 0; i < b->n_files; i++) {
        modalplace_file *f = &b->files[i];
        if (list) tool_files_read(f->path);
        MODAL_TRY(blame(b, f, modal_basis_count_shapes(f->path, &f->n_shapes, err), err));
        f->first = (int32_t)n;
        n += f->n_shapes;
        if (n > INT32_MAX) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: more shapes than 2^31", f->path);
    }
    MODAL_TRY(modal_alloc_zero(&b->basis->shapes, n, sizeof *b->basis->shapes, "shapes", err));
    b->basis->n_shapes = (int32_t)n;
done:
    return status;
}

/* Files are many: the list doubles. */
static modal_status take_provenance(modalplace_bases *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_basis *from = &b->from, *to = b->basis;
    MODAL_TRY(modal_grow(&to->provenance, &b->provenance_capacity, (int64_t)to->n_provenance + from->n_provenance, sizeof *to->provenance,
                         "provenance", err));
    for (int32_t i = 0; i < from->n_provenance; i++) to->provenance[to->n_provenance++] = from->provenance[i];
    from->n_provenance = 0; /* they are the other's now */
    modal_free(&from->provenance);
done:
    return status;
}

modal_status modalplace_take(modalplace_bases *b, int64_t index, const char *linked_from, modal_error *err)
{
    modal_status status = MODAL_OK;
    modalplace_file *f = &b->files[index];
    modal_basis_free(&b->from);
    MODAL_TRY(blame(b, f, modal_basis_read(f->path, linked_from ? 0 : MODAL_BASIS_ALL, &b->from, err), err));
    if (b->from.n_shapes != f->n_shapes) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: was changed while it was read", f->path);
    memcpy(f->hash, b->from.hash, sizeof f->hash);
    if (linked_from) MODAL_TRY(blame(b, f, modalplace_link(linked_from, f->path, &b->from, err), err));
    for (int32_t i = 0; i < f->n_shapes; i++) b->basis->shapes[f->first + i] = b->from.shapes[i];
    b->from.n_shapes = 0;
    modal_free(&b->from.shapes);
    MODAL_TRY(take_provenance(b, err));
done:
    return status;
}

/* For modal_basis_write_passing: the shapes of the next file come with its first one. */
modal_status modalplace_wait(void *context, int32_t index, modal_error *err)
{
    modalplace_bases *b = context;
    if (b->n_taken < b->n_files && index == b->files[b->n_taken].first) return modalplace_take(b, b->n_taken++, NULL, err);
    return index == b->basis->n_shapes ? b->before_end(b->before_end_context, err) : MODAL_OK;
}

void modalplace_release(void *context, int32_t index)
{
    modal_shape *s = &((modalplace_bases *)context)->basis->shapes[index];
    const int32_t n_modes = s->modes.n_modes;
    modal_shape_free(s);
    memset(s, 0, sizeof *s);
    s->modes.n_modes = n_modes; /* for the number of all */
}

void modalplace_free_bases(modalplace_bases *b)
{
    for (int64_t i = 0; i < b->n_files; i++) modal_free(&b->files[i].path);
    modal_free(&b->files);
    modal_basis_free(&b->from);
    b->n_files = 0;
}
