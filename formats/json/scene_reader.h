/* SPDX-License-Identifier: Apache-2.0 */
/* A scene while it is read. Only for scene*.c, where scene_loads.c reads what acts and scene.c the rest, and solid_scene.c. */
#ifndef MODAL_FORMATS_SCENE_READER_H
#define MODAL_FORMATS_SCENE_READER_H

#include "formats/json/json_place.h"
#include "formats/json/scene.h"
#include "formats/meshes/csv.h"

typedef struct modal_scene_reader {
    modal_json_source source;
    modal_scene *scene;
} modal_scene_reader;

/* A CSV file beside the scene, remembered for provenance. */
modal_status modal_scene_read_series(modal_scene_reader *reader, const modal_json_place *place, int n_values,
                                     modal_series *series);

/* The same for a list that is no series (formats/meshes/csv.h). */
modal_status modal_scene_read_list(modal_scene_reader *reader, const modal_json_place *place, int n_values, modal_series *list);

/* [[t, a, b ...], ...] with increasing times; *rows is [n, columns]. */
modal_status modal_scene_read_rows(const modal_json_place *place, int columns, const char *unit, double **rows,
                                   int64_t *n);

/* One of keys, file, sine, sweep and, where asked for, smooth. */
modal_status modal_scene_read_curve(modal_scene_reader *reader, const modal_json_place *place, int smooth, modal_curve *curve);

/* The line of each item of a list, for what only the basis can tell to be wrong. */
modal_status modal_scene_read_lines(const modal_json_place *list, int32_t **lines);

/* object, and one of vertex, point and, unless it is a probe, group. */
modal_status modal_scene_read_place(const modal_json_place *place, int probe, modal_scene_force *to);

/* The root's lists. */
modal_status modal_scene_read_forces(modal_scene_reader *reader, const modal_json_place *root);
modal_status modal_scene_read_shakings(modal_scene_reader *reader, const modal_json_place *list);

#endif
