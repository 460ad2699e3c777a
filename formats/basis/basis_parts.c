/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/basis/basis_parts.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/basis/basis_fields.h"
#include "formats/basis/basis_h5.h"
#include "lib/base/below.h"
#include "lib/base/memory.h"

static const char *parts_folder; /* that the user names, or NULL */

void modal_basis_parts_folder(const char *folder) { parts_folder = folder; }

/* ---- the link ---- */

modal_status modal_basis_read_link(const modal_h5_in *in, const modal_h5_place *place, modal_shape *s, int *linked)
{
    modal_status status = MODAL_OK;
    const int has_file = modal_h5_has_attribute(place, "file"), has_shape = modal_h5_has_attribute(place, "file_shape");
    char *file = NULL, where[MODAL_H5_PATH];
    *linked = has_file || has_shape;
    if (!*linked) return MODAL_OK;
    if (!has_file || !has_shape) {
        status = modal_broken(&in->checker, place->path, "file and file_shape must both be there or neither");
        goto done;
    }
    for (int i = 0; i < GROUP_COUNT; i++)
        if (modal_h5_has_link(place, modal_basis_groups[i]))
            MODAL_TRY(modal_broken(&in->checker, place->path, "lies in another file and has %s", modal_basis_groups[i]));
    s->file_shape = -1;
    MODAL_TRY(modal_h5_read_text(in, place, "file", &file));
    MODAL_TRY(modal_h5_read_integer(in, place, "file_shape", 0, INT32_MAX, &s->file_shape));
    if (file && !modal_path_is_below(file)) {
        snprintf(where, sizeof where, "%.160s@file", place->path);
        MODAL_TRY(modal_broken(&in->checker, where, "must be a path below the folder, is \"%.200s\"", file));
    } else if (s->file_shape >= 0) {
        s->file = file;
        file = NULL;
    }
done:
    modal_free(&file);
    return status;
}

static int compare_links(const void *a, const void *b, void *shapes)
{
    const int32_t i = *(const int32_t *)a, k = *(const int32_t *)b;
    const int order = strcmp(((const modal_shape *)shapes)[i].file, ((const modal_shape *)shapes)[k].file);
    return order ? order : (i > k) - (i < k);
}

modal_status modal_basis_sort_links(const modal_basis *basis, int32_t **order, int32_t *n, modal_error *err)
{
    const modal_status status = modal_alloc(order, basis->n_shapes, sizeof **order, "parts", err);
    *n = 0;
    for (int32_t i = 0; status == MODAL_OK && i < basis->n_shapes; i++)
        if (basis->shapes[i].file) (*order)[(*n)++] = i;
    if (*n > 0) qsort_r(*order, (size_t)*n, sizeof **order, compare_links, basis->shapes);
    return status;
}

/* ---- the file ---- */

modal_status modal_basis_find_part(const char *basis_path, const char *file, char **path, modal_error *err)
{
    char folder[PATH_MAX + 1];
    const char *from = parts_folder ? parts_folder : basis_path;
    *path = NULL;
    if (!from || !modal_path_folder(from, !parts_folder, folder)) {
        if (parts_folder)
            return modal_error_set(err, MODAL_ERROR_INPUT, "the folder %s cannot be opened, %s", from, strerror(errno));
        /* what came through a pipe is in memory, or has a path that leads nowhere */
        return modal_error_set(err, MODAL_ERROR_INPUT, "a basis from a pipe has no folder to look in");
    }
    return modal_path_find(folder, file, 0, path, err);
}

/* Rule 4: what the part's hashes cover of shapes is covered here, in the same order. */
static modal_status check_list(const char *of_part, const char *here, modal_error *err)
{
    static const char in_shapes[] = "shapes/*/";
    for (const char *at = of_part; *at; at += *at == ' ') {
        const size_t length = strcspn(at, " ");
        int found = strncmp(at, in_shapes, strlen(in_shapes)) != 0;
        while (!found && *here) {
            const size_t other = strcspn(here, " ");
            found = other == length && strncmp(at, here, length) == 0;
            here += other + (here[other] == ' ');
        }
        if (!found)
            return modal_error_set(err, MODAL_ERROR_INPUT, "/@hashed: the assembly's lacks %.*s there",
                                   (int)(length < MODAL_H5_PATH ? length : MODAL_H5_PATH), at);
        at += length;
    }
    return MODAL_OK;
}

modal_status modal_basis_part_open(modal_basis_part *part, char *path, const char *hashed, modal_findings *findings,
                                   modal_h5_budget *budget, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_h5_source source = {path, NULL, 0};
    modal_h5_place root = {H5I_INVALID_HID, ""};
    int64_t dims[2] = {0, MODAL_HASH_BYTES};
    *part = (modal_basis_part){.in = {.file = H5I_INVALID_HID, .checker = {NULL, err}, .budget = budget}, .path = path};
    part->shapes.id = H5I_INVALID_HID;
    MODAL_TRY(modal_h5_open(&part->in, &source));
    MODAL_TRY(modal_h5_check_root(&part->in, "basis", 1));
    MODAL_TRY(modal_h5_enter(&part->in, NULL, NULL, MODAL_H5_REQUIRED, &root));
    MODAL_TRY(modal_h5_read_text(&part->in, &root, "hashed", &part->hashed));
    if (hashed) MODAL_TRY(check_list(part->hashed, hashed, err));
    MODAL_TRY(modal_h5_enter(&part->in, &root, "shapes", MODAL_H5_REQUIRED, &part->shapes));
    MODAL_TRY(modal_h5_read_count(&part->in, &part->shapes, &part->n_shapes));
    dims[0] = part->n_shapes;
    MODAL_TRY(modal_h5_read_array(&part->in, &part->shapes, "hash", MODAL_H5_U8, 2, dims, MODAL_H5_REQUIRED,
                                  &part->hashes));
    part->in.checker.findings = findings; /* what is said of the file as a whole is an error */
done:
    modal_h5_leave(&root);
    return status == MODAL_OK ? MODAL_OK : modal_basis_part_close(part, status, err);
}

modal_status modal_basis_part_has(const modal_basis_part *part, const modal_shape *s, modal_error *err)
{
    char here[MODAL_HASH_TEXT], there[MODAL_HASH_TEXT];
    if (s->file_shape >= part->n_shapes)
        return modal_error_set(err, MODAL_ERROR_INPUT, "file_shape must be 0 to %d, is %lld", part->n_shapes - 1,
                               (long long)s->file_shape);
    const unsigned char *hash = part->hashes + MODAL_HASH_BYTES * s->file_shape;
    if (memcmp(hash, s->hash, MODAL_HASH_BYTES) == 0) return MODAL_OK;
    modal_hash_print(s->hash, here);
    modal_hash_print(hash, there);
    return modal_error_set(err, MODAL_ERROR_INPUT, "shape %lld is another one, its hash must be %s, is %s",
                           (long long)s->file_shape, here, there);
}

modal_status modal_basis_part_close(modal_basis_part *part, modal_status status, modal_error *err)
{
    if (!part->path) return status;
    part->in.checker = (modal_checker){NULL, err};
    modal_h5_leave(&part->shapes);
    status = modal_h5_close(&part->in, status);
    modal_free(&part->path);
    modal_free(&part->hashed);
    modal_free(&part->hashes);
    *part = (modal_basis_part){0};
    return status;
}
