/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the deformer share. A deformer is a group of engines, one a device. */
#ifndef MODAL_DEFORM_PRIVATE_H
#define MODAL_DEFORM_PRIVATE_H

#include "kernels/deform/deform.h"
#include "kernels/deform_objects/pack.h"
#include "kernels/registry.h"
#include "lib/deform/deform.h"
#include "lib/frames/ring.h"
#include "lib/frames/slots.h"

enum { DEFORM_SLOTS = 3 };
enum { DEFORM_POSITIONS, DEFORM_NORMALS, DEFORM_DISPLACEMENT, DEFORM_TANGENTS, DEFORM_SPEED, DEFORM_OUTPUTS };

/* Floats a point of an output. */
static inline int64_t modal_deform_width(int output) { return output == DEFORM_TANGENTS ? 4 : output == DEFORM_SPEED ? 1 : 3; }

/* Where a shape's modal matrix U is. */
typedef enum matrix_place {
    MATRIX_ON_DEVICE, /* all of it in device memory */
    MATRIX_IN_MEMORY, /* in pinned main memory: ranges of tiles go to the device for every batch */
    MATRIX_AT_SOURCE  /* ranges of tiles are read for every batch */
} matrix_place;

/* A shape as a part of what is computed together, where its vertices lie one after the other. */
typedef struct deform_member {
    const modal_shape *source; /* during construction only */
    const float *modal_matrix; /* U in the basis, or NULL: the request's source has it */
    int32_t index;             /* in the basis */
    int32_t n_modes;
    int64_t n_vertices, first_vertex, first_corner;
} deform_member;

/* What is computed together (deform_layout.c), in device memory. A shape that has objects: its columns
 * in a batch are frame-major, column f * n_columns + j is object objects[j] in frame f. Or a pack of
 * objects: one column a frame has them all, one after the other, as its members. */
typedef struct deform_unit {
    int packed;
    int64_t n_vertices, n_corners;
    int32_t n_modes; /* reduced coordinates a column */
    int64_t n_members;
    deform_member *members; /* [n_members], a part of engine->members: one, or one an object */
    int64_t n_columns;      /* a frame */
    int64_t n_objects;
    const int32_t *objects; /* [n_objects], a part of engine->shape_objects */
    int64_t first_object;   /* objects, columns and reduced coordinates a frame of the shapes... */
    int64_t first_column;   /* ... before this one */
    int64_t first_q;
    modal_pack_object *pack_objects; /* of a pack: [n_members] */
    modal_object_pack records;       /* in main memory, without U and xbar */
    modal_object_pack pack;          /* on the device, without U */
    int32_t *d_object_of;            /* [n_vertices], rigid normals and tangents of a pack */
    int64_t origin;                  /* the point of a frame that d_target counts from */
    int32_t *d_target;               /* where each vertex of a pack goes; NULL: as they lie */
    int64_t chunk;          /* columns at a time, what the scratch arrays hold */
    matrix_place place;
    int64_t range_tiles;           /* tiles at a time, where U is not on the device */
    const float *outside;          /* U in main memory: the pinned copy, or the basis's own */
    float *h_modal_matrix;         /* the pinned copy, MATRIX_IN_MEMORY */
    float *d_modal_matrix;         /* MATRIX_ON_DEVICE */
    int borrows_matrix;            /* that is the basis's */
    int64_t *d_column_base;        /* [chunk] c * n_vertices, where a shape's U is not on the device */
    float *d_rest_tiles;
    float *d_rest_normals;     /* rigid normals */
    float *d_rest_tangents;    /* rigid tangents, [n_vertices, 4] */
    int64_t *d_corner_offsets; /* dynamic normals, unless the ring is there; dynamic tangents */
    int32_t *d_corners;
    int64_t *d_ring_offsets; /* dynamic normals, where the back end is faster with a ring */
    int32_t *d_ring;
    float *d_weights; /* dynamic tangents */
    int scatters;      /* nonzero: a shape's vertices go into frames range after range, see modal_deform_ranges */
    int gathers;       /* nonzero: of a shape whose two orders are near each other, the ring is in the user's order */
    int32_t *d_user;   /* of a shape: where each vertex goes, for modal_deform_places and scatters; NULL: as they lie, or gathers */
    int32_t *d_source; /* of a shape: stored index of each user vertex; NULL: keep the stored order, or scatters */
} deform_unit;

/* The frames of a batch as messages name them: frame f is first + f * step. */
typedef struct deform_numbering {
    int64_t first, step;
} deform_numbering;

/* What a batch is made of, as modal_deformer_submit_moving has it; NULL where it is not needed. */
typedef struct deform_inputs {
    const double *q, *poses, *q_rates, *pose_rates;
} deform_inputs;

/* Where device memory is main memory, the d_ arrays are the h_ arrays. */
typedef struct deform_slot {
    int64_t n_frames;
    deform_numbering numbering;
    int32_t *h_nonfinite; /* set by the operation that writes the outputs (kernels/reorder/reorder.h) */
    float *h_q, *d_q;           /* shape after shape, [columns, n_modes] each */
    float *h_poses, *d_poses; /* shape after shape, [columns, 3, 4] each */
    float *h_q_rates, *d_q_rates, *h_pose_rates, *d_pose_rates; /* likewise, where speeds need them */
    float *d_out[DEFORM_OUTPUTS]; /* [batch_frames, n_points, width] or NULL; the engine's `out` owns them */
} deform_slot;

/* One of two buffers that ranges of U pass through: read to h_, copied to d_, used. */
typedef struct deform_range {
    float *h_tiles, *d_tiles;   /* [range_tiles, n_modes, 3, 32] of the shape that needs most */
    modal_event *filled, *used; /* the copy is done; the operation that reads it is done */
} deform_range;

typedef struct deform_engine {
    modal_device device;
    modal_deform_request request;
    int64_t n_points, n_modes; /* of a frame, all objects */
    int32_t n_objects, n_shapes;
    int64_t *mode_offsets;  /* [n_objects + 1] */
    int64_t *point_offsets; /* [n_objects + 1] */
    double *rest_poses;    /* [n_objects, 3, 4] */
    int32_t *shape_objects; /* [n_objects], sorted by shape */
    deform_unit *shapes;   /* [n_shapes] shapes that have objects, then packs */
    deform_member *members; /* [n_members] */
    int64_t n_members, n_columns, n_objects_placed, n_q_placed; /* n_columns: a frame, of all */
    int64_t n_frames_total; /* of all engines of the deformer, at least 1 */
    int64_t batch_frames;
    int64_t *d_base;                    /* shape after shape, [batch_frames * its n_columns] */
    float *d_scratch[DEFORM_OUTPUTS];   /* [chunk, n_vertices, width] of one shape, stored order */
    float *d_part[DEFORM_OUTPUTS];      /* the same of a range of tiles; positions and displacements only */
    float *d_velocity[2];               /* with speed: as d_scratch, R U q' and R' (xbar + U q) + p' */
    int n_stagers; /* threads that fill a slot */
    int n_slots;
    deform_slot slots[DEFORM_SLOTS];
    modal_stream *compute;
    modal_frame_plan plan;         /* its rows are set */
    int array_of[DEFORM_OUTPUTS];  /* place of an output in the plan's list, or -1 */
    modal_slots out;               /* the arrays of the slots */

    int64_t range_floats; /* of a buffer; 0 where none is needed */
    int stages_ranges;    /* nonzero: ranges need pinned buffers on their way to the device */
    int64_t n_ranges;     /* that passed so far: the buffers take turns */
    deform_range ranges[2];
    modal_stream *upload;

    modal_ring ring; /* of the slots */
} deform_engine;

struct modal_deformer {
    int n_engines;
    deform_engine **engines; /* [n_engines], batch i is the work of engine i % n_engines */
    int64_t batch_frames;    /* the smallest of theirs */
    char *names;             /* "cuda:0,cuda:1" */
    int64_t n_submitted;     /* of the submitting thread */
    const int64_t *point_numbers;    /* of the request */
    deform_numbering numbering;      /* of the next batch */
    int64_t n_collected;     /* of the collecting thread */
};

/* deform_engine.c; as the public functions. */
modal_status modal_deform_engine_new(deform_engine **engine, const modal_basis *basis,
                                     const modal_deform_request *request, modal_error *err);
deform_engine *modal_deform_engine_delete(deform_engine *engine);
modal_status modal_deform_engine_submit(deform_engine *engine, int64_t n_frames, const deform_inputs *inputs,
                                        deform_numbering numbering, modal_error *err);
modal_status modal_deform_engine_collect(deform_engine *engine, modal_deform_batch *batch,
                                         modal_error *err);
void modal_deform_engine_release(deform_engine *engine, modal_deform_batch *batch);
void modal_deform_engine_cancel(deform_engine *engine);

/* The request is `direct`; *odd: whether a value is not finite. */
modal_status modal_deform_engine_frames(deform_engine *engine, int64_t n_frames, const deform_inputs *inputs, deform_numbering numbering,
                                        const modal_deform_arrays *to, int *odd, modal_error *err);
/* Whether frames are made where the caller wants them. */
static inline int modal_deform_is_direct(const deform_engine *engine)
{
    return engine->request.direct && engine->device.shares_memory;
}

/* Columns of a unit, as many as the scratch arrays hold. */
typedef struct deform_chunk {
    const deform_slot *slot;
    const deform_unit *unit;
    modal_deform_task whole;           /* its positions and displacements go to scratch arrays */
    const float *q_rates, *pose_rates; /* of these columns, where speeds are wanted (of poses that move); NULL */
    const int64_t *base;               /* the first point of each column in the frames */
} deform_chunk;

/* deform_scatter.c: a part of a unit's vertices, 3 floats each in every column, into scratch arrays of all of them, from `to` on. */
modal_status modal_deform_keep(deform_engine *engine, const deform_unit *unit, const modal_deform_task *part, const float *from, float *to,
                               modal_error *err);
/* What is in scratch arrays, but for speeds, into the frames; positions and displacements where `points` is nonzero. */
modal_status modal_deform_reorder(deform_engine *engine, const deform_chunk *chunk, int points, modal_error *err);
/* Of a unit that scatters, into the frames: positions and displacements where `points` is nonzero, and speeds. */
modal_status modal_deform_scatter(deform_engine *engine, const deform_chunk *chunk, int points, modal_error *err);

/* MODAL_ERROR_INTERRUPTED where the caller has cancelled the frame. */
static inline modal_status modal_deform_go_on(const deform_engine *engine, modal_error *err)
{
    if (!engine->request.cancelled || !__atomic_load_n(engine->request.cancelled, __ATOMIC_RELAXED)) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_INTERRUPTED, "cancelled");
}

/* Whether the request wants an output. */
int modal_deform_wants(const deform_engine *engine, int output);
/* Whether outputs other than placed ones are brought into the user's order by a table. */
static inline int modal_deform_reorders(const deform_engine *engine)
{
    return modal_deform_wants(engine, DEFORM_DISPLACEMENT) || modal_deform_wants(engine, DEFORM_SPEED);
}

/* Whether a shape's tiles are computed range after range: its U does not lie on the device, or, with `scatters`, positions,
 * displacements and speeds then go into the frames while they are in a cache. Where all tiles went to scratch arrays first, a frame was
 * written, read and written again: half of the time of many frames on a CPU. */
static inline int modal_deform_ranges(const deform_unit *s) { return !s->packed && (s->scatters || s->place != MATRIX_ON_DEVICE); }

/* deform_layout.c: counts, and what is computed together. */
modal_status modal_deform_lay_out(deform_engine *engine, const modal_basis *basis, modal_error *err);

/* Chooses batch_frames, n_slots, every shape's chunk, and where its U is, within the limits. */
modal_status modal_deform_plan(deform_engine *engine, modal_error *err);

/* What a request needs to know of a shape's surface. */
typedef struct modal_deform_tables {
    int kept, once;                  /* corners (or the ring): for every batch, or to begin with */
    int ring, weights;               /* also these */
    int rest_normals, rest_tangents; /* which are made to begin with */
} modal_deform_tables;

static inline modal_deform_tables modal_deform_tables_of(const deform_engine *engine)
{
    const modal_normals normals = engine->request.normals;
    const modal_tangents tangents = engine->request.tangents;
    modal_deform_tables tables = {.kept = normals == MODAL_NORMALS_DYNAMIC,
                                  .rest_normals = normals == MODAL_NORMALS_RIGID,
                                  .rest_tangents = tangents == MODAL_TANGENTS_RIGID,
                                  .weights = tangents != MODAL_TANGENTS_NONE};
    tables.once = tables.rest_normals || tables.rest_tangents;
    tables.ring = tables.kept && engine->device.kernels->normals_ring;
    return tables;
}

/* Whether dynamic normals are made of what a slot holds. */
static inline int modal_deform_makes_normals(const deform_engine *engine, const deform_slot *slot)
{
    return engine->request.normals == MODAL_NORMALS_DYNAMIC && (slot->d_out[DEFORM_NORMALS] || slot->d_out[DEFORM_TANGENTS]);
}

/* Nonzero: normals_placed may put positions and normals into frames; no other operation needs normals in the stored
 * order. */
static inline int modal_deform_places(const deform_engine *engine)
{
    return engine->device.kernels->normals_placed && engine->request.normals == MODAL_NORMALS_DYNAMIC &&
           engine->request.tangents == MODAL_TANGENTS_NONE;
}

/* Floats a vertex of the scratch array of an output (of speed both velocities), with all vertices of the unit; 0: it needs none. */
static inline int64_t modal_deform_scratch_width(const deform_engine *engine, const deform_unit *s, int output)
{
    if (!modal_deform_wants(engine, output)) return 0;
    switch (output) {
    case DEFORM_POSITIONS: return !s->scatters || modal_deform_tables_of(engine).kept ? 3 : 0;
    case DEFORM_DISPLACEMENT: return s->scatters ? 0 : 3;
    case DEFORM_SPEED: return s->scatters ? 0 : 6;
    default: return modal_deform_width(output);
    }
}

/* Whether it does so for so many columns of a unit. Scattered at random, 12 bytes at a time, into more than a cache holds,
 * every piece costs a line: then the reorders are faster (kernels/VERSIONS.md, "Frames in the user's order"). */
static inline int modal_deform_places_unit(const deform_engine *engine, const deform_unit *s, int64_t n_columns)
{
    const int64_t cached = INT64_C(16) << 20;
    if (!modal_deform_places(engine)) return 0;
    return s->gathers || s->packed || !s->d_user || n_columns * s->n_vertices * 24 <= cached;
}

/* Allocates and fills the shapes' arrays in device memory. */
modal_status modal_deform_load_shapes(deform_engine *engine, modal_error *err);
void modal_deform_free_shape(deform_engine *engine, deform_unit *shape);

/* deform_matrix.c: U of a shape to its place; the buffers that ranges pass through. */
int64_t modal_deform_matrix_floats(const deform_unit *shape);
int64_t modal_deform_member_floats(const deform_unit *shape); /* as they are read for a pack */
int64_t modal_deform_load_buffer_bytes(const deform_engine *engine); /* while U is loaded */
modal_status modal_deform_load_matrix(deform_engine *engine, deform_unit *shape, modal_error *err);
modal_status modal_deform_new_ranges(deform_engine *engine, modal_error *err);
void modal_deform_free_ranges(deform_engine *engine);
/* Tiles [begin, end) for what is queued in the compute stream next, until the range is ended. */
modal_status modal_deform_range_begin(deform_engine *engine, const deform_unit *shape,
                                      int64_t begin, int64_t end, const float **d_tiles,
                                      modal_error *err);
modal_status modal_deform_range_end(deform_engine *engine, modal_error *err);

/* Queues the operations of one batch, whose q and frames are in the slot's h_ arrays. */
modal_status modal_deform_compute(deform_engine *engine, deform_slot *slot, modal_error *err);

static inline int64_t modal_deform_number(const deform_numbering *numbering, int64_t f)
{
    return numbering->first + f * numbering->step;
}

/* Whether a value stays finite in float32; no for NaN. */
static inline int modal_deform_fits(double value) { return value >= -3.4028234663852886e38 && value <= 3.4028234663852886e38; }

/* Rounds to float32; 0 when the value does not fit. */
static inline int modal_deform_round(double value, float *rounded)
{
    if (!modal_deform_fits(value)) return 0;
    *rounded = (float)value;
    return 1;
}

#endif
