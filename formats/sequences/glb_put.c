/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays into their places of a GLB. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "formats/sequences/glb_writer.h"
#include "lib/base/finite.h"

modal_status modal_glb_put(glb_writer *w, int64_t array, const void *values, int64_t bytes, modal_error *err)
{
    return modal_file_out_write_at(&w->out, w->start + w->scene.arrays[array].offset, values, bytes, err);
}

/* Floats of `width` a row, none of which may be NaN or infinite. */
modal_status modal_glb_put_floats(glb_writer *w, int64_t array, const float *values, int64_t rows, int width,
                               glb_what is, modal_error *err)
{
    const int64_t n = rows * width, place = modal_first_nonfinite(values, n);
    char number[16] = "";
    if (place == n) return modal_glb_put(w, array, values, 4 * n, err);
    if (is.number >= 0) snprintf(number, sizeof number, " %d", is.number);
    return modal_error_set(err, MODAL_ERROR_INPUT,
                           "glb: %s %d, %s %" PRId64 ": %s%s does not fit float32, %g", is.owner, is.owner_number,
                           is.row, is.first + place / width * is.step, is.what, number,
                           isnan(values[place]) ? NAN : (double)values[place]);
}

modal_status modal_glb_put_vectors(glb_writer *w, int64_t array, const float *values, glb_what is, modal_error *err)
{
    glb_array *a = &w->scene.arrays[array];
    for (int k = 0; k < 3; k++) {
        a->least[k] = INFINITY;
        a->most[k] = -INFINITY;
    }
    for (int64_t i = 0; i < a->count; i++)
        for (int k = 0; k < 3; k++) {
            const float x = values[3 * i + k];
            if (x < a->least[k]) a->least[k] = x;
            if (x > a->most[k]) a->most[k] = x;
        }
    return modal_glb_put_floats(w, array, values, a->count, 3, is, err);
}
