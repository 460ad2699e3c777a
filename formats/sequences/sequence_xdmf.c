/* SPDX-License-Identifier: Apache-2.0 */
/* The sidecar of a sequence. Every frame is a grid whose arrays are the virtual datasets
 * /xdmf/NNNNNN/...: the one way of picking rows that all three XDMF readers of ParaView understand
 * (HyperSlab items are read by the XDMF2 reader alone, inline slabs by the Xdmf3 ones alone). */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/sequences/sequence_parts.h"
#include "lib/base/memory.h"

typedef struct text_buffer {
    char *text;
    int64_t length, capacity;
    modal_status status;
    modal_error *err;
} text_buffer;

static void put_bytes(text_buffer *to, const char *bytes, size_t length)
{
    if (to->status != MODAL_OK) return;
    to->status = modal_grow(&to->text, &to->capacity, to->length + (int64_t)length + 1, 1,
                            "sidecar", to->err);
    if (to->status != MODAL_OK) return;
    memcpy(to->text + to->length, bytes, length);
    to->length += (int64_t)length;
    to->text[to->length] = '\0';
}

static void put(text_buffer *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(text_buffer *to, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= (int)sizeof line) abort(); /* our own formats are short */
    put_bytes(to, line, (size_t)length);
}

static void put_escaped(text_buffer *to, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&': put_bytes(to, "&amp;", 5); break;
        case '<': put_bytes(to, "&lt;", 4); break;
        case '>': put_bytes(to, "&gt;", 4); break;
        case '"': put_bytes(to, "&quot;", 6); break;
        default: put_bytes(to, text, 1);
        }
    }
}

/* The shortest digits that read back as the same number. */
static void put_number(text_buffer *to, double value)
{
    char digits[40];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value) break;
    }
    put(to, "%s", digits);
}

static void put_vectors(text_buffer *to, const modal_sequence_info *info, const char *file,
                        int64_t frame, int array)
{
    const int width = info->arrays.all[array].components;
    put(to, "<DataItem Format=\"HDF\" NumberType=\"Float\" Precision=\"4\" "
            "Dimensions=\"%" PRId64, modal_sequence_rows(info, array));
    if (width > 1) put(to, " %d", width);
    put(to, "\">");
    put_escaped(to, file);
    put(to, ":/xdmf/%06" PRId64 "/%s</DataItem>", frame, info->arrays.all[array].name);
}

static void put_frame(text_buffer *to, const modal_sequence_info *info, const char *file,
                      int64_t frame)
{
    put(to, "      <Grid Name=\"%06" PRId64 "\" GridType=\"Uniform\">\n        <Time Value=\"", frame);
    put_number(to, info->times[frame]);
    const modal_sequence_cells *v = info->volume;
    put(to, "\"/>\n        <Topology TopologyType=\"%s\" NumberOfElements=\"%" PRId64 "\">"
            "<DataItem Format=\"HDF\" NumberType=\"Int\" Precision=\"8\" "
            "Dimensions=\"%" PRId64 "\">", v ? "Mixed" : "Triangle", v ? v->n_cells : info->n_triangles,
        v ? v->n_cells + v->offsets[v->n_cells] : 3 * info->n_triangles);
    put_escaped(to, file);
    put(to, ":%s</DataItem></Topology>\n"
            "        <Geometry GeometryType=\"XYZ\">",
        v ? "/modal/xdmf_topology" : "/VTKHDF/Polygons/Connectivity");
    put_vectors(to, info, file, frame, 0);
    put(to, "</Geometry>\n");
    for (int i = 1; i < info->arrays.n; i++) {
        const modal_array *a = &info->arrays.all[i];
        /* Matrix: readers take the numbers as they are; Tensor6 has another order than VTK. */
        put(to, "        <Attribute Name=\"%s\" AttributeType=\"%s\" Center=\"%s\">", a->name,
            a->components == 1 ? "Scalar" : a->components == 3 ? "Vector" : "Matrix", a->of_cells ? "Cell" : "Node");
        put_vectors(to, info, file, frame, i);
        put(to, "</Attribute>\n");
    }
    put(to, "      </Grid>\n");
}

modal_status modal_sequence_xdmf_text(char **text, int64_t *length, const char *vtkhdf_name,
                                      const modal_sequence_info *info, modal_error *err)
{
    *text = NULL;
    *length = 0;
    if (!*vtkhdf_name)
        return modal_error_set(err, MODAL_ERROR_INPUT, "sidecar: empty name of the sequence");
    /* "name:path" is split at the first colon, and XML has no way to write control characters. */
    for (const char *c = vtkhdf_name; *c; c++)
        if (*c == ':' || (unsigned char)*c < 32 || *c == 127)
            return modal_error_set(err, MODAL_ERROR_INPUT,
                                   "%s: no name for an XDMF sidecar, character %d", vtkhdf_name,
                                   (unsigned char)*c);
    text_buffer to = {.err = err};
    put(&to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Xdmf Version=\"3.0\">\n  <Domain>\n"
             "    <Grid Name=\"sequence\" GridType=\"Collection\" CollectionType=\"Temporal\">\n");
    for (int64_t f = 0; f < info->n_frames; f++) put_frame(&to, info, vtkhdf_name, f);
    put(&to, "    </Grid>\n  </Domain>\n</Xdmf>\n");
    if (to.status != MODAL_OK) {
        modal_free(&to.text);
        return to.status;
    }
    *text = to.text;
    *length = to.length;
    return MODAL_OK;
}

modal_status modal_sequence_write_xdmf(const char *path, const char *vtkhdf_name,
                                       const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *text = NULL;
    int64_t length;
    FILE *file = NULL;
    MODAL_TRY(modal_sequence_check_info(info, err));
    MODAL_TRY(modal_sequence_xdmf_text(&text, &length, vtkhdf_name, info, err));
    file = fopen(path, "wb");
    if (!file) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot write, %s", path, strerror(errno));
    errno = 0;
    int failed = fwrite(text, 1, (size_t)length, file) != (size_t)length;
    failed |= fflush(file) != 0;
    if (failed) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: write error, %s", path, strerror(errno));
done:
    if (file && fclose(file) != 0 && status == MODAL_OK)
        status = modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: write error, %s", path,
                                 strerror(errno));
    modal_free(&text);
    return status;
}
