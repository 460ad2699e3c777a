/* SPDX-License-Identifier: Apache-2.0 */
/* --probe: points that are followed, by their index or as the nearest one to a place at rest. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/sequences/sequence_csv.h"
#include "lib/base/memory.h"
#include "tools/modaldeform/modaldeform.h"

modal_status modaldeform_check_probes(const tool *t, const modaldeform_request *r, modal_error *err)
{
    int table = r->sound && tool_count(&t->arguments, "listen") == 0;
    const int n = tool_count(&t->arguments, "probe");
    for (int i = 0; i < r->n_formats; i++) table |= r->formats[i] == &modal_sequence_csv;
    if (table && n == 0)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--format: csv needs at least one --probe");
    if (!table && n > 0)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--probe: only with --format csv, or wav without --listen, %s",
                               tool_value_at(&t->arguments, "probe", 0));
    return MODAL_OK;
}

/* The point whose place at rest, its object in its rest pose, is nearest; the first of several. */
static int64_t nearest(const modaldeform_input *in, int stored_order, const double place[3], double *distance)
{
    int64_t found = -1, base = 0;
    double least = INFINITY;
    for (int32_t i = 0; i < in->basis.n_objects; i++) {
        const modal_shape *s = &in->basis.shapes[in->basis.objects[i].shape];
        const double *f = in->basis.objects[i].rest_pose;
        for (int64_t v = 0; v < s->surface.n_vertices; v++) {
            const double *x = s->surface.rest_positions + 3 * v;
            const int64_t point = base + (stored_order ? v : s->surface.user_vertex[v]);
            double sum = 0;
            for (int k = 0; k < 3; k++) {
                const double d = f[4 * k] * x[0] + f[4 * k + 1] * x[1] + f[4 * k + 2] * x[2] + f[4 * k + 3] -
                                 place[k];
                sum += d * d;
            }
            if (sum < least || (sum == least && point < found)) {
                least = sum;
                found = point;
            }
        }
        base += s->surface.n_vertices;
    }
    *distance = sqrt(least);
    return found;
}

void modaldeform_find_vertex(const modaldeform_request *r, const modaldeform_input *in, int64_t point, int32_t *object,
                             int64_t *vertex)
{
    int64_t base = 0;
    *object = 0;
    while (point - base >= in->basis.shapes[in->basis.objects[*object].shape].surface.n_vertices)
        base += in->basis.shapes[in->basis.objects[(*object)++].shape].surface.n_vertices;
    const modal_shape *s = &in->basis.shapes[in->basis.objects[*object].shape];
    *vertex = r->deform.stored_order ? point - base : 0;
    while (!r->deform.stored_order && s->surface.user_vertex[*vertex] != point - base) ++*vertex;
}

modal_status modaldeform_find_probes(tool *t, const modaldeform_request *r, modaldeform_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int n = tool_count(&t->arguments, "probe");
    MODAL_TRY(modal_alloc(&in->probes, n, sizeof *in->probes, "probes", err));
    for (int i = 0; i < n; i++) {
        const char *text = tool_value_at(&t->arguments, "probe", i);
        char *end = NULL;
        if (strchr(text, ',')) {
            double place[3], distance;
            MODAL_TRY(tool_parse_numbers(text, 3, place, "--probe", err));
            in->probes[i].number = in->probes[i].point = nearest(in, r->deform.stored_order, place, &distance);
            tool_note(t, "probe %d: point %" PRId64 ", %g m from %s at rest", i, in->probes[i].point, distance,
                      text);
            continue;
        }
        errno = 0;
        in->probes[i].point = strtoll(text, &end, 10);
        if (!isdigit((unsigned char)*text) || *end || errno != 0 || in->probes[i].point >= in->n_points)
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--probe: not x,y,z or a point from 0 to %" PRId64 ", %s",
                       in->n_points - 1, text);
        in->probes[i].number = in->probes[i].point;
    }
    in->n_probes = n;
done:
    return status;
}
