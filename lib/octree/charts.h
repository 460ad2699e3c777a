/* SPDX-License-Identifier: Apache-2.0 */
/* Texture coordinates for a surface that has none: charts that are seen from one side, side by side in the unit square. */
#ifndef MODAL_OCTREE_CHARTS_H
#define MODAL_OCTREE_CHARTS_H

#include "lib/base/status.h"
#include "lib/model/volume_mesh.h"

enum { MODAL_CHART_STEPS = 1 << 30 }; /* coordinates are multiples of 1 / this */

typedef struct modal_charts {
    int64_t n_charts, n_uv;
    double *uv;           /* [n_uv, 2] in [0, 1] */
    int32_t *triangle_uv; /* [n_triangles, 3] indices of uv */
    int32_t *chart;       /* [n_triangles] */
    double used;          /* share of the square that is in charts */
    int64_t n_overlapping; /* pairs of triangles whose insides have a point in common, by whole numbers: 0 */
} modal_charts;

/* Charts grow from triangle to triangle over edges of two triangles (vertices at the same place are one) while all of a chart's normals are within
 * 60 degrees of the direction it is projected along (after D. Cohen-Steiner, P. Alliez, M. Desbrun, Variational shape approximation, 2004):
 * so no angle is distorted by more than a factor of 2 (the ratio of the stretches). Charts that lie on themselves, and large ones that leave
 * three tenths of their boxes empty (rings, crescents), are cut across the longer sides of their boxes; triangles that lie on others even so begin
 * charts of their own. All charts have one scale; they are turned to small boxes and laid into a raster, the large ones first, where the next one fits
 * lowest, at least `gap` apart. Triangles without area have uv, too. The same result everywhere for the same positions.
 * gap: of the unit square. Errors: MODAL_ERROR_INPUT: no triangles with area, or more charts than fit with the gap;
 * MODAL_ERROR_MEMORY. The caller frees the charts; after an error they are zeroed. */
modal_status modal_charts_make(const modal_surface_mesh *surface, double gap, modal_charts *charts, modal_error *err);
void modal_charts_free(modal_charts *charts);

#endif
