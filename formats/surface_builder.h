/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of surfaces fill while a file is read. */
#ifndef MODAL_FORMATS_SURFACE_BUILDER_H
#define MODAL_FORMATS_SURFACE_BUILDER_H

#include "formats/text_reader.h"
#include "lib/mesh/volume_mesh.h"

enum { MODAL_POLYGON_CORNERS = 1000 }; /* more in one polygon are refused */

typedef struct modal_surface_builder {
    modal_surface_mesh *surface;
    modal_text *text; /* for messages */
    int64_t vertex_capacity, triangle_capacity;
    int64_t n_collapsed; /* triangles left out: two of their corners are one vertex */
} modal_surface_builder;

modal_status modal_surface_builder_vertex(modal_surface_builder *builder, const double position[3]);

/* A polygon of n corners as the fan of triangles around its first one. Refused: fewer than three
 * corners, an index that is no vertex yet, a vertex twice; a triangle that has one twice is left out
 * and counted. */
modal_status modal_surface_builder_polygon(modal_surface_builder *builder, const int64_t *corners,
                                           int64_t n);

/* After the last: there must be a triangle; n_collapsed (NULL: a collapsed triangle is refused) gets
 * the number of those left out. */
modal_status modal_surface_builder_finish(modal_surface_builder *builder, int64_t *n_collapsed);

#endif
