/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of surfaces fill while a file is read. */
#ifndef MODAL_FORMATS_SURFACE_BUILDER_H
#define MODAL_FORMATS_SURFACE_BUILDER_H

#include "formats/meshes/text_reader.h"
#include "lib/model/volume_mesh.h"

enum { MODAL_POLYGON_CORNERS = 1000 }; /* more in one polygon are refused */
/* Of more parts than this none is kept, nor of more materials; bytes of a name. */
enum { MODAL_SURFACE_PARTS = 1000, MODAL_SURFACE_MATERIALS = 4096, MODAL_PART_NAME = 200 };

/* What runs of triangles have names of. */
enum { MODAL_NAMES_PARTS, MODAL_NAMES_MATERIALS, MODAL_NAMES };

typedef struct modal_surface_builder {
    modal_surface_mesh *surface;
    modal_text *text; /* for messages */
    int first_number; /* of the vertices in the file, 0 or 1, for messages */
    int64_t vertex_capacity, triangle_capacity;
    int64_t n_collapsed; /* triangles left out: two of their corners are one vertex */
    struct {
        int64_t capacity, triangle_capacity;
        int too_many;
        int32_t now; /* of the triangles that come, from 1; 0 = none */
    } names[MODAL_NAMES];
} modal_surface_builder;

modal_status modal_surface_builder_vertex(modal_surface_builder *builder, const double position[3]);

/* The triangles that come belong to the part (MODAL_NAMES_PARTS) of that name, or have the material; an empty one is none. */
modal_status modal_surface_builder_name(modal_surface_builder *builder, int of, const char *name, int64_t length);

/* Gives the triangles from `first` to the last the names of now; nothing while there are none. */
modal_status modal_surface_builder_mark(modal_surface_builder *builder, int64_t first);

/* Refuses a polygon of n corners that names a vertex twice but not twice in a row: its fan would lie on itself. */
modal_status modal_surface_builder_check_repeats(const modal_surface_builder *builder, const int64_t *corners, int64_t n);

/* A polygon of n corners as the fan of triangles around its first one. Refused: fewer than three
 * corners, an index that is no vertex yet, a vertex twice but not in a row; triangles of the fan that
 * have one twice are left out and counted. */
modal_status modal_surface_builder_polygon(modal_surface_builder *builder, const int64_t *corners,
                                           int64_t n);

/* After the last: there must be a triangle; n_collapsed (NULL: a collapsed triangle is refused) gets
 * the number of those left out. */
modal_status modal_surface_builder_finish(modal_surface_builder *builder, int64_t *n_collapsed);

#endif
