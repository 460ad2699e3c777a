/* SPDX-License-Identifier: Apache-2.0 */
/* The data of a viewer page: shapes, objects and, of a trajectory, its frames, quantised, predicted
 * from neighbours and compressed. viewer_data.md is the specification; tools/modalview/page/data.js
 * reads it. */
#ifndef MODAL_FORMATS_VIEWER_DATA_H
#define MODAL_FORMATS_VIEWER_DATA_H

#include "formats/sequences/sequence.h"
#include "formats/viewer/response_table.h"
#include "lib/model/basis.h"
#include "lib/model/trajectory.h"

typedef struct modal_viewer_data {
    char *header;         /* JSON */
    unsigned char *bytes; /* gzip of the arrays that the header lists, one after the other */
    int64_t n_bytes;
    /* what quantising costs at most, m: of a rest position, and of a displacement for every metre
     * that the largest displacement of a mode has */
    double position_error, displacement_error;
} modal_viewer_data;

/* A force, or an impulse, at vertices: the page draws it at the middle of them. */
typedef struct modal_viewer_load {
    int32_t object, n_vertices;
    int32_t *vertices; /* [n_vertices] as stored */
    int impulse;       /* 1: N s, else N */
    double vector[3];  /* in the world */
    float *factors;    /* [n_frames] that it is multiplied with */
} modal_viewer_load;

/* What a page of a trajectory has besides. Borrowed. */
typedef struct modal_viewer_play {
    double slow_motion; /* seconds that it shows for a second, at first */
    int no_speeds;        /* nonzero: its frames do not follow the motion, so differences give no speeds */
    int rate, n_channels; /* of the sound; n_channels 0: none */
    int64_t n_samples;
    const float *samples; /* [n_samples, n_channels] */
    int32_t n_loads;
    const modal_viewer_load *loads; /* [n_loads] */
    int32_t n_columns;   /* of snapshots: of the basis that was made for the page; 0: a trajectory */
    int turntable;       /* nonzero: the camera turns, of a page of modes, too */
    double column_error; /* what they leave of a vertex, at most, as a share of the largest displacement */
} modal_viewer_play;

/* `basis` holds surfaces, modal matrices and modes. `trajectory` may be NULL: then the page shows the
 * modes themselves, and of `play` only `turntable` is looked at. title: bytes that are no UTF-8 become U+FFFD; up: 'y' or 'z'. look: NULL: none; the
 * basis has its looks, and it was checked against the look.
 * MODAL_ERROR_INPUT for more frames, modes or points than a page can
 * hold (2^31 values an array), and as modal_viewer_check_reach; memory. On an error *data is zeroed. */
modal_status modal_viewer_data_make(const modal_basis *basis, const modal_trajectory *trajectory,
                                    const char *title, char up, const modal_viewer_play *play, const modal_sequence_look *look,
                                    modal_viewer_data *data, modal_error *err);
/* The same of a page that plots a table of responses. */
modal_status modal_viewer_response_make(const modal_response_table *table, const char *title, modal_viewer_data *data,
                                        modal_error *err);
void modal_viewer_data_free(modal_viewer_data *data);

/* MODAL_ERROR_INPUT, with frame, object and vertex, where something would be farther than 1e18 m away, or a
 * number not fit float32: viewers compute in it, and square lengths. */
modal_status modal_viewer_check_reach(const modal_basis *basis, const modal_trajectory *trajectory,
                                      modal_error *err);

#endif
