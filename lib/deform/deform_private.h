/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the deformer share. */
#ifndef MODAL_DEFORM_PRIVATE_H
#define MODAL_DEFORM_PRIVATE_H

#include <pthread.h>

#include "kernels/registry.h"
#include "lib/deform/deform.h"

enum { DEFORM_SLOTS = 3, DEFORM_POSITIONS = 0, DEFORM_NORMALS, DEFORM_DISPLACEMENT, DEFORM_OUTPUTS };

/* A shape that has objects, in device memory. Its columns in a batch are frame-major: column
 * f * n_objects + j is object objects[j] in frame f. */
typedef struct deform_shape {
    const modal_shape *source; /* during construction only */
    int64_t n_vertices;
    int32_t n_modes;
    int64_t n_objects;
    const int32_t *objects; /* [n_objects], a part of deformer->shape_objects */
    int64_t first_column;   /* columns a frame of the shapes before this one */
    int64_t first_q;        /* reduced coordinates a frame of the shapes before this one */
    int64_t chunk;          /* columns at a time, what the scratch arrays hold */
    float *d_modal_matrix;
    float *d_rest_tiles;
    float *d_rest_normals;     /* rigid normals */
    int64_t *d_corner_offsets; /* dynamic normals */
    int32_t *d_corners;
    int32_t *d_source; /* stored index of each user vertex; NULL: keep the stored order */
} deform_shape;

typedef enum slot_state { SLOT_FREE, SLOT_FILLING, SLOT_SUBMITTED, SLOT_COLLECTED } slot_state;

/* Where device memory is main memory, the d_ arrays are the h_ arrays. */
typedef struct deform_slot {
    slot_state state;
    int64_t n_frames;
    float *h_q, *d_q;           /* shape after shape, [columns, n_modes] each */
    float *h_frames, *d_frames; /* shape after shape, [columns, 3, 4] each */
    float *h_out[DEFORM_OUTPUTS], *d_out[DEFORM_OUTPUTS]; /* [batch_frames, n_points, 3] or NULL */
    modal_event *computed, *copied;
} deform_slot;

struct modal_deformer {
    modal_device device;
    modal_deform_request request;
    int64_t n_points, n_modes; /* of a frame, all objects */
    int32_t n_objects, n_shapes;
    int64_t *mode_offsets;  /* [n_objects + 1] */
    int64_t *point_offsets; /* [n_objects + 1] */
    double *rest_frames;    /* [n_objects, 3, 4] */
    int32_t *shape_objects; /* [n_objects], sorted by shape */
    deform_shape *shapes;   /* [n_shapes], those with objects */
    int64_t batch_frames;
    int64_t *d_base;                    /* shape after shape, [batch_frames * n_objects] */
    float *d_scratch[DEFORM_OUTPUTS];   /* [chunk, n_vertices, 3] of one shape, stored order */
    deform_slot slots[DEFORM_SLOTS];
    modal_stream *compute, *copy;

    int has_lock;
    pthread_mutex_t lock; /* over the states, the counters and cancelled */
    pthread_cond_t changed;
    int64_t n_submitted, n_collected;
    int cancelled;
};

/* Whether the request wants an output. */
int modal_deform_wants(const modal_deformer *deformer, int output);

/* Chooses batch_frames and every shape's chunk, within the limits. */
modal_status modal_deform_plan(modal_deformer *deformer, modal_error *err);

/* Allocates and fills the shapes' arrays in device memory. */
modal_status modal_deform_load_shapes(modal_deformer *deformer, modal_error *err);
void modal_deform_free_shape(modal_deformer *deformer, deform_shape *shape);

/* Queues the operations of one batch, whose q and frames are in the slot's h_ arrays. */
modal_status modal_deform_compute(modal_deformer *deformer, deform_slot *slot, modal_error *err);

/* Rounds to float32; 0 when the value does not fit. */
static inline int modal_deform_round(double value, float *rounded)
{
    if (!(value >= -3.4028234663852886e38 && value <= 3.4028234663852886e38)) return 0;
    *rounded = (float)value;
    return 1;
}

#endif
