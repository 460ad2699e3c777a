/* SPDX-License-Identifier: Apache-2.0 */
/* Triangles of charts that lie on others, by whole numbers. */
#ifndef MODAL_OCTREE_CHARTS_OVERLAP_H
#define MODAL_OCTREE_CHARTS_OVERLAP_H

#include "lib/octree/charts.h"

/* Sets marks [n] to 1 for the later triangle of every pair whose insides have a point in common, and *n_found to the number of pairs. Coordinates are
 * in [0, 1], in steps of 1 / MODAL_CHART_STEPS; chart [n], those below 0 have no place. within: only pairs of one chart. MODAL_ERROR_MEMORY. */
modal_status modal_charts_overlaps(const modal_charts *charts, int64_t n, const int32_t *chart, int within, int32_t *marks, int64_t *n_found,
                                   modal_error *err);

#endif
