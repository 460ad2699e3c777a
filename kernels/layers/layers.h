/* SPDX-License-Identifier: Apache-2.0 */
/* What is seen through: of each sample of some rows of a picture the triangles that cover it before what the sample sees, the nearest first.
 *
 * A sample is covered, and triangles are cut and left out, as in kernels/raster; a fragment is a key as there, and is listed where it is
 * less than the sample's. Of equally near ones the first comes first. So the lists do not depend on the order of triangles but for equal depths.
 * For comparison `submitted` lists in the order of triangles, the last one first, and leaves out what has more alpha than most_alpha: then
 * shading gives what blending without sorting gives.
 *
 * More fragments than there is room for: only *needed is valid, and the caller asks for fewer rows, or for columns of one. Lists do not depend on them. All
 * back ends give the same bytes.
 * Sizes: as kernels/raster; capacity < 2^31. Aliasing: none. Errors: MODAL_ERROR_SYSTEM. */
#ifndef MODAL_KERNELS_LAYERS_H
#define MODAL_KERNELS_LAYERS_H

#include "kernels/raster/raster.h"

struct modal_layers_task {
    modal_raster_mesh mesh; /* with flags */
    const modal_raster_view *view;
    int32_t width, height, samples;
    unsigned cull; /* as kernels/raster */
    unsigned only; /* a triangle that has none of these flags is no layer */
    const uint64_t *keys; /* [height, width, samples] */
    int submitted;
    float most_alpha;
    modal_paint paint; /* looked at where `submitted` */
    int32_t first_row, end_row; /* first_row < end_row */
    int32_t first_column, end_column; /* elsewhere lists are empty; 0 and 0: all columns */
    int64_t capacity;
    int32_t *layers;     /* [(end_row - first_row) width samples + 1] where each sample's begin, aligned to 16 bytes */
    uint64_t *fragments; /* [capacity] */
    int64_t *needed;     /* number of fragments */
    void *scratch;       /* [modal_layers_scratch_bytes], aligned to 64 bytes */
};

/* Bytes of scratch that suffice for every back end. */
static inline int64_t modal_layers_scratch_bytes(int64_t n_points, int64_t n_triangles, int64_t n_samples)
{
    return modal_raster_scratch_bytes(n_points, n_triangles) + n_samples / 64 + 1024;
}

#endif
