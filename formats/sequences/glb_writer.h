/* SPDX-License-Identifier: Apache-2.0 */
/* A GLB while it is written. Private to sequence_glb.c and glb_*.c: glb_plan.c says what is in it, glb_surface.c and glb_motion.c write the arrays
 * by glb_put.c, sequence_glb.c the file. */
#ifndef MODAL_FORMATS_GLB_WRITER_H
#define MODAL_FORMATS_GLB_WRITER_H

#include "formats/sequences/file_out.h"
#include "formats/sequences/glb_parts.h"

typedef struct glb_writer {
    modal_file_out out;
    glb_scene scene;
    int64_t start; /* of the binary chunk's bytes in the file */
} glb_writer;

/* ---- glb_plan.c ---- */

/* As modal_sequence_format's size. */
modal_status modal_glb_size(const modal_sequence_info *info, int64_t *disk_bytes, int64_t *memory_bytes, modal_error *err);
/* All arrays and where they are; info and basis are set. Give the scene to modal_glb_scene_free also after an error. */
modal_status modal_glb_plan(glb_scene *g, modal_error *err);
void modal_glb_scene_free(glb_scene *g);
/* Vertices of a shape in the file: seams and creases make more of them. */
int64_t modal_glb_vertices(const glb_scene *g, int32_t shape);
/* How many targets are made at a time, and tiles read. */
int64_t modal_glb_targets_at_once(const modal_surface *s, int64_t n_targets);
int64_t modal_glb_tiles_at_once(const modal_shape *s);

/* ---- glb_put.c ---- */

/* What the floats of an array are, for messages: "shape 2, vertex 7: mode 3", "object 0, frame 4: translation". */
typedef struct glb_what {
    const char *owner;
    int32_t owner_number;
    const char *what;
    int32_t number; /* -1: none */
    const char *row;
    int64_t first, step; /* row i is named first + i step */
} glb_what;

modal_status modal_glb_put(glb_writer *w, int64_t array, const void *values, int64_t bytes, modal_error *err);
/* Floats of `width` a row; MODAL_ERROR_INPUT where one is NaN or infinite. */
modal_status modal_glb_put_floats(glb_writer *w, int64_t array, const float *values, int64_t rows, int width, glb_what is, modal_error *err);
/* The same of an array of three a row, whose ranges it finds. */
modal_status modal_glb_put_vectors(glb_writer *w, int64_t array, const float *values, glb_what is, modal_error *err);

/* ---- glb_surface.c, glb_motion.c ---- */

modal_status modal_glb_write_shape(glb_writer *w, int32_t shape, modal_error *err);
modal_status modal_glb_write_times(glb_writer *w, modal_error *err);
modal_status modal_glb_write_weights(glb_writer *w, int32_t object, modal_error *err);
/* The rigid frames of an object: its place into `array`, its rotation into the next. */
modal_status modal_glb_write_rigid(glb_writer *w, int32_t object, int64_t array, modal_error *err);

#endif
