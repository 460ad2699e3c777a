/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/meshes/vtu_data.h"

#include <string.h>
#ifdef MODAL_HAVE_ZLIB
#include <zlib.h>
#endif

#include "lib/base/memory.h"

vtk_type vtu_find_type(const char *name, int64_t length)
{
    static const char *const names[] = {"Int8",   "UInt8", "Int16",  "UInt16",  "Int32",
                                        "UInt32", "Int64", "UInt64", "Float32", "Float64"};
    for (int i = 0; i < 10; i++)
        if (modal_token_is(name, length, names[i])) return (vtk_type)(VTK_I8 + i);
    return VTK_NONE;
}

modal_status vtu_prepend_zero(int64_t **values, int64_t n, modal_error *err)
{
    int64_t *longer;
    modal_status status = modal_alloc(&longer, n + 1, sizeof *longer, "offsets", err);
    if (status != MODAL_OK) return status;
    longer[0] = 0;
    memcpy(longer + 1, *values, (size_t)n * sizeof *longer);
    modal_free(values);
    *values = longer;
    return MODAL_OK;
}

/* ---- a source of bytes: raw, or base64 that is decoded as it is read ---- */

typedef struct source {
    const modal_text *where; /* for messages */
    const char *data, *end;
    int is_base64;
} source;

static int decode(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Reads n bytes. In base64 a run ends with its padding, so that what follows begins anew: VTK encodes
 * the head and the data of a packed array one by one, those of one that is not packed together.
 * is_peek: the run may go on. */
static modal_status take(source *from, int64_t n, char *bytes, int is_peek)
{
    if (!from->is_base64) {
        if (n > from->end - from->data) return modal_text_fail(from->where, "the data end too early");
        memcpy(bytes, from->data, (size_t)n);
        from->data += n;
        return MODAL_OK;
    }
    int64_t done = 0;
    while (done < n) {
        int digits[4], n_digits = 0, n_padding = 0;
        while (n_digits < 4) {
            while (from->data < from->end && (*from->data == ' ' || *from->data == '\n' ||
                                              *from->data == '\r' || *from->data == '\t'))
                from->data++;
            if (from->data == from->end) return modal_text_fail(from->where, "the data end too early");
            char c = *from->data++;
            int digit = decode(c);
            if (c == '=' && n_digits >= 2)
                n_padding++;
            else if (digit < 0 || n_padding > 0)
                return modal_text_fail(from->where, "no base64");
            digits[n_digits++] = digit < 0 ? 0 : digit;
        }
        uint32_t bits = (uint32_t)digits[0] << 18 | (uint32_t)digits[1] << 12 |
                        (uint32_t)digits[2] << 6 | (uint32_t)digits[3];
        int got = 3 - n_padding;
        if (got > n - done && !is_peek) return modal_text_fail(from->where, "no base64");
        for (int i = 0; i < got && done < n; i++) bytes[done++] = (char)(bits >> (16 - 8 * i));
        if (n_padding > 0 && done < n) return modal_text_fail(from->where, "the data end too early");
    }
    return MODAL_OK;
}

static int64_t load_length(const char *bytes, const vtu_coding *coding)
{
    int64_t length = -1;
    return vtk_convert(bytes, coding->length_bytes == 8 ? VTK_U64 : VTK_U32, coding->swap, 1, NULL,
                       &length) < 0
               ? length
               : -1;
}

/* ---- unpacking ---- */

/* Not packed: a length, then as many bytes, in one run of base64. */
static modal_status read_plain(source *from, const vtu_coding *coding, int64_t n_bytes, char *bytes)
{
    modal_status status = MODAL_OK;
    char head[8], *all = NULL;
    source again = *from;
    MODAL_TRY(take(&again, coding->length_bytes, head, 1));
    int64_t length = load_length(head, coding);
    if (length != n_bytes) {
        status = modal_text_fail(from->where, "%lld bytes, %lld expected", (long long)length,
                                 (long long)n_bytes);
        goto done;
    }
    MODAL_TRY(modal_alloc(&all, coding->length_bytes + n_bytes, 1, "data", from->where->err));
    MODAL_TRY(take(from, coding->length_bytes + n_bytes, all, 0));
    memcpy(bytes, all + coding->length_bytes, (size_t)n_bytes);
done:
    modal_free(&all);
    return status;
}

#ifdef MODAL_HAVE_ZLIB
/* Packed: number of blocks, size of a block, size of the last one (0: as the others), packed size of
 * each; then the blocks. */
static modal_status read_packed(source *from, const vtu_coding *coding, int64_t n_bytes, char *bytes)
{
    modal_status status = MODAL_OK;
    int width = coding->length_bytes;
    char *heads = NULL, *packed = NULL, head[24];
    int64_t n_blocks, block, last, total = 0, done_bytes = 0, from_byte = 0;
    source again = *from;
    MODAL_TRY(take(&again, 3 * width, head, 1));
    n_blocks = load_length(head, coding);
    block = load_length(head + width, coding);
    last = load_length(head + 2 * width, coding);
    if (last == 0) last = block;
    int64_t left = from->end - from->data, expected;
    if (n_blocks < 0 || n_blocks > left / width || block < 0 || last < 0 || last > block ||
        (n_blocks == 0 ? n_bytes != 0
                       : !modal_size_multiply(n_blocks - 1, block, &expected) ||
                             !modal_size_add(expected, last, &expected) || expected != n_bytes)) {
        status = modal_text_fail(from->where, "%lld blocks of %lld bytes, %lld bytes expected",
                                 (long long)n_blocks, (long long)block, (long long)n_bytes);
        goto done;
    }
    MODAL_TRY(modal_alloc(&heads, (3 + n_blocks) * width, 1, "data", from->where->err));
    MODAL_TRY(take(from, (3 + n_blocks) * width, heads, 0));
    for (int64_t i = 0; i < n_blocks; i++) {
        int64_t size = load_length(heads + (3 + i) * width, coding);
        if (size < 0 || size > left - total) {
            status = modal_text_fail(from->where, "block %lld: packed size out of range, %lld",
                                     (long long)i, (long long)size);
            goto done;
        }
        total += size;
    }
    MODAL_TRY(modal_alloc(&packed, total, 1, "data", from->where->err));
    MODAL_TRY(take(from, total, packed, 0));
    for (int64_t i = 0; i < n_blocks; i++) {
        uLongf size = (uLongf)(i + 1 < n_blocks ? block : last), got = size;
        int64_t packed_size = load_length(heads + (3 + i) * width, coding);
        if (uncompress((Bytef *)bytes + done_bytes, &got, (const Bytef *)packed + from_byte,
                       (uLong)packed_size) != Z_OK ||
            got != size) {
            status = modal_text_fail(from->where, "block %lld cannot be unpacked", (long long)i);
            goto done;
        }
        done_bytes += (int64_t)size;
        from_byte += packed_size;
    }
done:
    modal_free(&heads);
    modal_free(&packed);
    return status;
}
#else
static modal_status read_packed(source *from, const vtu_coding *coding, int64_t n_bytes, char *bytes)
{
    (void)coding, (void)n_bytes, (void)bytes;
    return modal_text_fail(from->where, "packed by zlib, which this program was built without");
}
#endif

/* ---- arrays ---- */

static modal_status read_text(const modal_text *text, const vtu_array *array, const char *what,
                              int64_t n, double *reals, int64_t *integers)
{
    modal_status status = MODAL_OK;
    modal_text inner = *text;
    inner.position = array->begin;
    inner.length = array->end;
    inner.line = array->line;
    for (int64_t i = 0; i < n; i++) {
        if (!modal_text_seek_token(&inner))
            return modal_text_fail(&inner, "%s: %lld numbers, %lld expected", what, (long long)i,
                                   (long long)n);
        MODAL_TRY(integers ? modal_text_integer(&inner, what, INT64_MIN, INT64_MAX, &integers[i])
                           : modal_text_real(&inner, what, &reals[i]));
    }
    if (modal_text_seek_token(&inner))
        return modal_text_fail(&inner, "%s: more than %lld numbers", what, (long long)n);
done:
    return status;
}

static modal_status read_bytes(const modal_text *text, const vtu_coding *coding,
                               const vtu_array *array, int64_t n_bytes, char *bytes)
{
    source from = {.where = text, .is_base64 = 1};
    if (array->format == VTU_INLINE) {
        from.data = text->data + array->begin;
        from.end = text->data + array->end;
    } else {
        if (coding->appended == 0) return modal_text_fail(text, "no AppendedData");
        if (array->begin > text->length - coding->appended)
            return modal_text_fail(text, "offset beyond the end of the file, %lld",
                                   (long long)array->begin);
        from.data = text->data + coding->appended + array->begin;
        from.end = text->data + text->length;
        from.is_base64 = !coding->is_appended_raw;
    }
    return coding->is_packed ? read_packed(&from, coding, n_bytes, bytes)
                             : read_plain(&from, coding, n_bytes, bytes);
}

static modal_status read_array(const modal_text *text, const vtu_coding *coding,
                               const vtu_array *array, const char *what, int64_t n, double **reals,
                               int64_t **integers)
{
    /* zlib packs 1032 bytes into one at the most. */
    enum { MOST_RATIO = 1032 };
    modal_status status = MODAL_OK;
    char *bytes = NULL;
    modal_text where = *text;
    int64_t size = vtk_type_bytes[array->type], n_bytes, most;
    where.line = array->line;
    most = array->format == VTU_TEXT ? (array->end - array->begin + 1) / 2
                                     : text->length / size * (coding->is_packed ? MOST_RATIO : 1);
    if (n > most || !modal_size_multiply(n, size, &n_bytes))
        return modal_text_fail(&where, "%s: %lld numbers cannot be there", what, (long long)n);
    if (array->format != VTU_TEXT) {
        MODAL_TRY(modal_alloc(&bytes, n_bytes, 1, what, text->err));
        MODAL_TRY(read_bytes(&where, coding, array, n_bytes, bytes));
    }
    if (reals) MODAL_TRY(modal_alloc(reals, n, sizeof **reals, what, text->err));
    if (integers) MODAL_TRY(modal_alloc(integers, n, sizeof **integers, what, text->err));
    if (array->format == VTU_TEXT)
        return read_text(text, array, what, n, reals ? *reals : NULL, integers ? *integers : NULL);
    int64_t bad = vtk_convert(bytes, array->type, coding->swap, n, reals ? *reals : NULL,
                              integers ? *integers : NULL);
    if (bad >= 0)
        status = modal_text_fail(&where, "%s %lld: not finite, or no whole number", what,
                                 (long long)bad);
done:
    modal_free(&bytes);
    return status;
}

modal_status vtu_read_reals(const modal_text *text, const vtu_coding *coding, const vtu_array *array,
                            const char *what, int64_t n, double **reals)
{
    return read_array(text, coding, array, what, n, reals, NULL);
}

modal_status vtu_read_integers(const modal_text *text, const vtu_coding *coding,
                               const vtu_array *array, const char *what, int64_t n,
                               int64_t **integers)
{
    return read_array(text, coding, array, what, n, NULL, integers);
}
