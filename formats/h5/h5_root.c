/* SPDX-License-Identifier: Apache-2.0 */
/* What stands at the root of every file: its type, its version, its extensions (formats/extensions.md). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/h5/h5_util.h"
#include "lib/base/memory.h"

/* The extensions that this program knows. */
static const char *const known_extensions[] = {NULL};

/* The length of the name at the beginning of the text, 0 where there is none. */
static size_t name_length(const char *text)
{
    static const char small[] = "abcdefghijklmnopqrstuvwxyz";
    const size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return length > 0 && length < MODAL_H5_EXTENSION && strspn(text, small) > 0 ? length : 0;
}

static int is_among(const char *name, size_t length, const char *names)
{
    for (const char *n = names; *n; n += strspn(n, " ")) {
        const size_t other = strcspn(n, " ");
        if (other == length && strncmp(n, name, length) == 0) return 1;
        n += other;
    }
    return 0;
}

static int is_known(const char *name, size_t length)
{
    for (int i = 0; known_extensions[i]; i++)
        if (strlen(known_extensions[i]) == length && strncmp(known_extensions[i], name, length) == 0) return 1;
    return 0;
}

/* Names between single spaces; of required ones (used not NULL) each is known and used. */
static modal_status check_names(const char *attribute, const char *names, const char *used, modal_error *err)
{
    const char *n = names;
    if (!*n) return MODAL_OK;
    for (;;) {
        const size_t length = name_length(n);
        if (length == 0 || (n[length] && n[length] != ' '))
            return modal_error_set(err, MODAL_ERROR_INPUT, "%s: must be names between single spaces, is \"%.64s\"",
                                   attribute, names);
        if (used && !is_known(n, length))
            return modal_error_set(err, MODAL_ERROR_INPUT, "%s: needs %.*s, which this program does not know",
                                   attribute, (int)length, n);
        if (used && !is_among(n, length, used))
            return modal_error_set(err, MODAL_ERROR_INPUT, "%s: %.*s is not among extensions_used", attribute,
                                   (int)length, n);
        if (!n[length]) return MODAL_OK;
        n += length + 1;
    }
}

static modal_status check_extensions(const modal_h5_in *in, const modal_h5_place *root)
{
    modal_status status = MODAL_OK;
    char *used = NULL, *required = NULL;
    if (modal_h5_has_attribute(root, "extensions_used"))
        MODAL_TRY(modal_h5_read_text(in, root, "extensions_used", &used));
    if (modal_h5_has_attribute(root, "extensions_required"))
        MODAL_TRY(modal_h5_read_text(in, root, "extensions_required", &required));
    if (used) MODAL_TRY(check_names("extensions_used", used, NULL, in->checker.err));
    if (required) MODAL_TRY(check_names("extensions_required", required, used ? used : "", in->checker.err));
done:
    modal_free(&used);
    modal_free(&required);
    return status;
}

/* Files that were made before the formats were 1.0 have modal_type instead. */
static modal_status check_is_ours(const modal_h5_place *root, modal_error *err)
{
    if (modal_h5_has_attribute(root, "modal_format")) return MODAL_OK;
    if (modal_h5_has_attribute(root, "modal_type"))
        return modal_error_set(err, MODAL_ERROR_INPUT, "no attribute modal_format: made by a version before 0.1.0; make the file again");
    return modal_error_set(err, MODAL_ERROR_INPUT, "no attribute modal_format: not a file of modaltools");
}

modal_status modal_h5_check_root(const modal_h5_in *in, const char *type, int major)
{
    modal_status status = MODAL_OK;
    modal_h5_place root = {H5I_INVALID_HID, ""};
    /* Without a known type and version no rule applies, so this never goes into a list. */
    const modal_h5_in strict = {in->file, in->file_bytes, {NULL, in->checker.err}};
    char *found = NULL, *version = NULL;
    MODAL_TRY(modal_h5_enter(&strict, NULL, NULL, MODAL_H5_REQUIRED, &root));
    MODAL_TRY(check_is_ours(&root, in->checker.err));
    MODAL_TRY(modal_h5_read_text(&strict, &root, "modal_format", &found));
    if (strcmp(found, type) != 0)
        MODAL_FAIL(in->checker.err, MODAL_ERROR_INPUT, "modal_format: this is a %.64s, expected a %s",
                   found, type);
    MODAL_TRY(modal_h5_read_text(&strict, &root, "modal_format_version", &version));
    static const char digits[] = "0123456789";
    const size_t before = strspn(version, digits), after = version[before] == '.' ? strspn(version + before + 1, digits) : 0;
    if (before == 0 || before > 9 || after == 0 || version[before + 1 + after])
        MODAL_FAIL(in->checker.err, MODAL_ERROR_INPUT,
                   "modal_format_version: must read MAJOR.MINOR, is \"%.64s\"", version);
    if (strtol(version, NULL, 10) != major)
        MODAL_FAIL(in->checker.err, MODAL_ERROR_INPUT,
                   "modal_format_version: unsupported version %.64s, this program reads %d.x", version, major);
    MODAL_TRY(check_extensions(&strict, &root));
done:
    modal_h5_leave(&root);
    modal_free(&found);
    modal_free(&version);
    return status;
}

modal_status modal_h5_file_kind(const char *path, char **type, modal_error *err)
{
    const modal_h5_source source = {path, NULL, 0};
    modal_h5_in in = {H5I_INVALID_HID, 0, {NULL, err}};
    modal_h5_place root = {H5I_INVALID_HID, ""};
    *type = NULL;
    modal_status status = modal_h5_open(&in, &source);
    if (status == MODAL_OK) status = modal_h5_enter(&in, NULL, NULL, MODAL_H5_REQUIRED, &root);
    if (status == MODAL_OK) status = check_is_ours(&root, err);
    if (status == MODAL_OK) status = modal_h5_read_text(&in, &root, "modal_format", type);
    modal_h5_leave(&root);
    status = modal_h5_close(&in, status);
    if (status != MODAL_OK) modal_error_context(err, "%s", path);
    return status;
}
