/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of modalcurv share. */
#ifndef TOOLS_MODALCURV_H
#define TOOLS_MODALCURV_H

#include <pthread.h>
#include <stdint.h>

#include "formats/sequences/cache_read.h"
#include "formats/sequences/manifest.h"
#include "formats/sequences/sequence.h"
#include "formats/sequences/sequence_read.h"
#include "lib/base/hash.h"
#include "lib/curvature/stage.h"
#include "tools/common/commit.h"
#include "tools/common/slice.h"
#include "tools/common/tool.h"

enum { MODALCURV_FORMATS = 3 }; /* vtkhdf, ply, vtp: those that carry arrays of points */

/* What the command line asks for. */
typedef struct modalcurv_request {
    const char *input, *folder, *rest; /* rest: NULL: the first frame; of a cache its triangles, too */
    modal_curvature_options options;
    tool_slice frames;
    int force, threads, reports; /* reports: statistics of every frame are wanted */
    int lines[2];                /* ridges, valleys are wanted */
    double strength;             /* the least of a line */
    int coloured;                /* --colour: a field, or -1 */
    double colour_range;         /* 0: of the first frame */
    int64_t memory_limit;        /* bytes; 0: none */
    int n_formats;               /* 0: --format null */
    const modal_sequence_format *formats[MODALCURV_FORMATS];
    struct modal_device *device; /* main's */
} modalcurv_request;

/* The frames: one file each, of one connectivity, or those of a sequence.vtkhdf or a point cache. */
typedef struct modalcurv_input {
    char **files;   /* [n] those that are wanted; of a sequence the file, n times */
    modal_sequence_reader *sequence; /* or NULL */
    modal_cache_reader *cache;       /* or NULL */
    char *mesh;                      /* the connectivity of a cache */
    int64_t start, step;             /* frame i is its frame start + i step */
    pthread_mutex_t *hdf5;           /* held by who uses HDF5 */
    double *times;  /* [n] s */
    const char *first; /* files[0], for messages */
    int64_t n, n_vertices, n_triangles;
    int32_t *triangles;    /* [n_triangles, 3] */
    int64_t n_collapsed;   /* triangles that the reader left out of the first file */
    double centre[3];      /* of the first frame's box, where that is farther from the origin than it is large: positions
                              are measured from here, so that no digits are lost; else 0 */
    char hash[MODAL_HASH_TEXT];
    int64_t file_bytes;    /* of the first file */
    modal_curvature_topology topology;
    double mean_edge;
    int64_t n_duplicates, n_flat, n_needles; /* of the first frame: modalcurv_oddities */
    float *rest; /* [n_vertices, 3] measured from the centre, or NULL: no field asks for it */
} modalcurv_input;

/* ---- modalcurv_inputs.c ---- */

/* Whether the name is that of a point cache, and of which kind. */
int modalcurv_is_cache(const char *name, modal_cache_kind *kind);
/* Finds the files, reads the first one. */
modal_status modalcurv_open(const modalcurv_request *r, modalcurv_input *in, modal_error *err);
/* Frame i: positions as they are and measured from the centre, each [n_vertices, 3]. MODAL_ERROR_INPUT for another
 * connectivity. From one thread at a time. */
modal_status modalcurv_read(const modalcurv_input *in, int64_t i, float *positions, float *centred, modal_error *err);
void modalcurv_close(modalcurv_input *in);

/* ---- modalcurv_outputs.c ---- */

typedef struct modalcurv_output {
    const char *name, *kind; /* as in the manifest */
    char *path;
    const char *extension; /* of a folder of frames; NULL: a file */
    tool_output file;
} modalcurv_output;

typedef struct modalcurv_outputs {
    const char *folder;
    int folder_made, complete, n_outputs, n_formats;
    const char *lines; /* the temporary folder of the lines, or NULL */
    modalcurv_output all[2 * MODALCURV_FORMATS * MODAL_SEQUENCE_FILES + 2]; /* the manifest is the last one */
    struct {
        const modal_sequence_format *format;
        modal_sequence_target target;
        void *writer;
    } formats[MODALCURV_FORMATS];
} modalcurv_outputs;

modal_status modalcurv_begin_outputs(const modalcurv_request *r, modalcurv_outputs *out, modal_error *err);
modal_status modalcurv_begin_writers(modalcurv_outputs *out, const modal_sequence_info *info, modal_error *err);
modal_status modalcurv_add_frames(modalcurv_outputs *out, const modal_frames *frames, modal_error *err);
/* The manifest is written, with the files in it, and all get their names. */
modal_status modalcurv_commit_outputs(modalcurv_outputs *out, const modal_sequence_info *info, modal_manifest *manifest,
                                      modal_error *err);
/* Also after a failure: what is not complete goes. */
void modalcurv_end_outputs(modalcurv_outputs *out, modal_error *err);

/* ---- modalcurv_frames.c ---- */

/* The frames on their way (lib/frames/reading.h): read, computed, written. */
typedef struct modalcurv_frames {
    tool *t;
    const modalcurv_request *r;
    const modalcurv_input *in;
    modalcurv_outputs *out;
    modal_array_list arrays; /* of the outputs: the first of the plan's */
    modal_frame_plan plan;
    modal_curvature_stage stage;
    int centred, of_field[MODAL_CURVATURE_FIELDS]; /* arrays of the plan; -1: none */
    float *stretch[MODAL_CURVATURE_FIELDS]; /* [batch_frames, n_vertices, ..], those that are needed */
    int64_t batch_frames;
    float *scratch; /* [n_vertices] of who writes */
    modal_sequence_colour colour; /* range 0: no frame was written yet */
} modalcurv_frames;

/* Memory for the frames; t, r, in, out are set. MODAL_ERROR_MEMORY, also where not one frame fits --memory-limit. */
modal_status modalcurv_frames_new(modalcurv_frames *w, modal_error *err);
/* Reads, computes and writes all frames, and reports on them. */
modal_status modalcurv_frames_run(modalcurv_frames *w, modal_error *err);
void modalcurv_frames_free(modalcurv_frames *w);

/* ---- modalcurv_lines.c ---- */

/* --lines and --strength. */
modal_status modalcurv_read_lines(const tool_arguments *a, modalcurv_request *r, modal_error *err);
/* The fields that lines are found in. */
void modalcurv_need_lines(const modalcurv_request *r, int fields[MODAL_CURVATURE_FIELDS]);
/* Finds and writes those of one frame, its positions and fields, into lines/NNNNNN.vtp. */
modal_status modalcurv_write_lines(const modalcurv_request *r, const modalcurv_input *in, const modalcurv_outputs *out,
                                   int64_t frame, const float *positions, const float *const fields[MODAL_CURVATURE_FIELDS],
                                   modal_error *err);

/* ---- modalcurv_colour.c ---- */

/* --colour, after --fields and --format. */
modal_status modalcurv_read_colour(const tool_arguments *a, modalcurv_request *r, modal_error *err);
/* The field's middle, and the range of its first frame's values [n] unless one was asked for. MODAL_ERROR_USAGE where
 * they are all in the middle. scratch [n]. */
modal_status modalcurv_range_of(const modalcurv_request *r, const float *values, int64_t n, float *scratch,
                                modal_sequence_colour *colour, modal_error *err);

/* ---- modalcurv_report.c ---- */


/* Counts vertices where an earlier one is, triangles that contribute nothing for want of area (doubled area at most 1e-6 of half
 * the sum of the squared edges), and needles, up to 1e-3. positions [n_vertices, 3] of the first frame, measured from the centre. */
modal_status modalcurv_oddities(modalcurv_input *in, const float *positions, modal_error *err);
/* The connectivity and its oddities. */
void modalcurv_report_topology(tool *t, const modalcurv_input *in);
/* One frame: least, most and quantiles of the scalar fields, integral of Gauss curvature. out[field], areas of it;
 * scratch [n_vertices]. */
modal_status modalcurv_report_frame(tool *t, const modalcurv_request *r, const modalcurv_input *in, int64_t frame,
                                    const float *const out[MODAL_CURVATURE_FIELDS], const float *areas, float *scratch,
                                    modal_error *err);

#endif
