/* SPDX-License-Identifier: Apache-2.0 */
/* A deformed sequence on its way to files: what every writer is told, and the writers in one table.
 * formats/sequences.md is the specification of the formats, formats/sequence.md that of VTKHDF.
 *
 * All writers work alike: begin -> add ... add -> end, or abort. The frames are announced in the
 * beginning and come in their order, some at a time. A writer writes to the names it is given; that
 * these are temporary ones, and become the outputs together, is the caller's business. */
#ifndef MODAL_FORMATS_SEQUENCE_H
#define MODAL_FORMATS_SEQUENCE_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/model/creases.h"
#include "lib/model/frames.h"
#include "lib/model/matrix_source.h"
#include "lib/model/trajectory.h"

/* Where a sequence comes from, for writers that need more than frames. Borrowed. */
typedef struct modal_sequence_scene {
    const modal_basis *basis;    /* surfaces; modal matrices may be absent */
    modal_matrix_source matrix;  /* these */
    int stored_order;            /* points in the basis's order, else in the user's */
    const modal_trajectory *trajectory;
    int64_t start, step;         /* frame i of the sequence is the trajectory's start + i step */
} modal_sequence_scene;

/* Cells of a solid, as VTK has them. Borrowed. */
typedef struct modal_sequence_cells {
    int64_t n_cells;
    const int64_t *connectivity; /* [offsets[n_cells]] indices of points */
    const int64_t *offsets;      /* [n_cells + 1] */
    const uint8_t *types;        /* [n_cells] of VTK: 10 is a tetrahedron */
} modal_sequence_cells;

/* A point that is followed, for tables. */
typedef struct modal_sequence_probe {
    int64_t point;  /* of a frame */
    int64_t number; /* what the table calls it: point, where the frames have all points */
} modal_sequence_probe;

/* What a channel of the sound hears: a listener at a place, or a point of the surface. */
typedef struct modal_sequence_channel {
    int contact;     /* nonzero: the point */
    double place[3]; /* m */
    int64_t point;
} modal_sequence_channel;

/* The sound of a sequence. Borrowed. */
typedef struct modal_sequence_sound {
    int rate;             /* samples a second; sample i is at the first frame's time + i / rate */
    int n_channels;
    int64_t n_samples;
    const double *samples; /* [n_samples, n_channels]; NULL: not known yet, for size */
    const char *unit;      /* of the samples: "Pa", "m/s^2" */
    double gain, peak;     /* files have samples times gain; the largest |sample| */
    const modal_sequence_channel *channels; /* [n_channels] */
} modal_sequence_sound;

/* What files with colours show: values that are blue below `middle` and red above, to `range` > 0 on both sides. The caller
 * sets `values`, [n_frames, n_points] float32 of the frames, before each add, and the others before the first. */
typedef struct modal_sequence_colour {
    double middle, range;
    const float *values;
} modal_sequence_colour;

/* The bytes of an image file, as they go into other files. */
typedef struct modal_sequence_image {
    const char *name; /* as the look has it */
    const char *media_type;
    const char *place; /* from the folder of the outputs to the file; NULL: not known */
    const void *bytes; /* NULL: those of the file `path` */
    int64_t length;
    const char *path;
} modal_sequence_image;

/* What every point has in all frames: rgba8, or floats. Borrowed. */
typedef struct modal_sequence_texture {
    int components;        /* of floats: 1 or 3 */
    const uint8_t *colours; /* [n_points, 4] red green blue alpha as sRGB, or NULL: */
    const float *numbers;  /* [n_points, components] */
} modal_sequence_texture;

struct modal_look;
struct modal_sequence_paint; /* sequence_paint.h */

/* What the objects look like (lib/model/look.h), and all images that their materials have. The basis has its looks. Borrowed. */
typedef struct modal_sequence_look {
    const struct modal_look *look;
    int32_t n_images;
    const modal_sequence_image *images;
} modal_sequence_look;

/* What a sequence is, before its frames. Everything is borrowed for the calls it is given to. */
typedef struct modal_sequence_info {
    int64_t n_points;         /* > 0 */
    int64_t n_triangles;      /* > 0: a cloud of points is refused */
    const int64_t *triangles; /* [n_triangles, 3] indices of points */
    int64_t n_frames;         /* > 0 */
    const double *times;      /* [n_frames] s, finite, strictly increasing */
    modal_array_list arrays;  /* of each frame; the first one is modal_sequence_points */
    const char *basis_hash;   /* 32 hexadecimal digits; NULL: no basis is known */
    const char *source_kind;  /* what the sequence was made of: "trajectory", "snapshots", "sequence", "basis" */
    const char *source_hash;  /* its content: 32 hexadecimal digits */
    int32_t n_provenance;
    const modal_provenance *provenance; /* [n_provenance], oldest first */
    const modal_sequence_scene *scene;  /* for size and begin only; NULL where a format asks for none */
    int threads;      /* that a writer may use beside its own; 0: none */
    int target_normals; /* glb: 0 none, 1 those at rest, 2 that targets change to first order */
    const float *uv; /* sequence.vtkhdf: [n_points, 2], v upwards; NULL: none */
    const modal_sequence_texture *texture; /* sequence.vtkhdf; ply and glb those with colours; NULL: none */
    const modal_sequence_look *look; /* glb, obj: NULL: none; with it the surfaces of the scene have uv where the basis has them */
    const modal_creases *creases; /* [n_shapes of the scene], in stored order: glb splits vertices there and gives each wedge its normals; NULL: none */
    const struct modal_sequence_paint *paint; /* obj: NULL: none; made of look */
    const modal_creases *frame_creases; /* of `triangles`: obj writes normals of wedges, which it makes; NULL: none */
    double slow_motion; /* glb and mdd show a second in as many; 0: 1 */
    double precision; /* > 0: sequence.vtkhdf may be off by as much in arrays whose unit is m */
    int64_t n_probes;
    const modal_sequence_probe *probes; /* [n_probes] */
    const modal_sequence_sound *sound;  /* for wav alone */
    const modal_sequence_colour *colour; /* for ply alone, borrowed until the end; NULL: none */
    const modal_sequence_cells *volume; /* NULL: a surface. Else points are nodes, and there are no triangles */
} modal_sequence_info;

enum { MODAL_SEQUENCE_FILES = 2 };

/* Where a writer writes: its whole files, and the folder of its frames, which exists. A second file that is NULL is not written. */
typedef struct modal_sequence_target {
    const char *files[MODAL_SEQUENCE_FILES];
    const char *folder;
} modal_sequence_target;

/* Where an array lies in a file in which every frame has its place: frame i from place + i frame_bytes on. */
typedef struct modal_sequence_place {
    int array; /* of the list */
    int big_endian;
    int64_t place, frame_bytes;
} modal_sequence_place;

typedef struct modal_sequence_format {
    const char *name;                        /* as --format says it; NULL: goes along with others */
    const char *files[MODAL_SEQUENCE_FILES]; /* names of the outputs; absent ones are NULL */
    const char *kinds[MODAL_SEQUENCE_FILES]; /* as the manifest calls them */
    const char *folder;    /* of one file a frame, 000000.EXTENSION and so on, or NULL */
    const char *extension; /* "ply" */
    int holds_surface, holds_volume;
    int needs_scene;       /* size and begin look at info->scene */
    int needs_frames;      /* else the file is complete without an add */
    int wants_rest;        /* rest.obj goes along */
    int (*carries)(const modal_array *array); /* whether the files hold it; NULL: every array */

    /* Bytes on the disk, a little too many, and of main memory beside the frames. Both may be called
     * for an info that is not checked yet. MODAL_ERROR_INPUT when the size does not fit 63 bits, or
     * the format has no way to say so much. */
    modal_status (*size)(const modal_sequence_info *info, int64_t *disk_bytes,
                         int64_t *memory_bytes, modal_error *err);
    /* *writer is NULL after an error; the caller removes what is there. */
    modal_status (*begin)(void **writer, const modal_sequence_target *target,
                          const modal_sequence_info *info, modal_error *err);
    modal_status (*add)(void *writer, const modal_frames *frames, modal_error *err);
    /* Closes and frees (*writer becomes NULL, whatever comes); the bytes are with the system then,
     * not yet synced. */
    modal_status (*end)(void **writer, const modal_sequence_target *target,
                        const modal_sequence_info *info, modal_error *err);
    void (*abort)(void **writer); /* frees without caring for the files; NULL inside is fine */

    /* For shares (sequence_share.h); NULL where the format has no such thing. */
    /* The first file without its frames, which every process may then write where they belong. */
    modal_status (*lay_out)(const char *path, const modal_sequence_info *info, modal_error *err);
    /* Where these are in such a file: places [MODAL_MOST_ARRAYS], *n >= 1 of them; MODAL_ERROR_INPUT where it is no such file. */
    modal_status (*places)(const char *path, const modal_sequence_info *info, modal_sequence_place *places, int *n, modal_error *err);
    /* The other files of a format that has lay_out, once all frames are there. NULL: there are none. */
    modal_status (*finish)(const modal_sequence_target *target, const modal_sequence_info *info, modal_error *err);
    /* The next add is of this frame. */
    void (*skip)(void *writer, int64_t frame);
    /* A format whose one file holds some frames of this one, and how a writer of this one takes them over. */
    const struct modal_sequence_format *piece;
    modal_status (*string)(void *writer, const char *path, modal_error *err);
} modal_sequence_format;

enum { MODAL_SEQUENCE_FORMATS = 11 };
extern const modal_sequence_format *const modal_sequence_formats[MODAL_SEQUENCE_FORMATS];
/* The rest surface, for formats that hold positions only. Not in the table. */
extern const modal_sequence_format modal_sequence_rest;
/* The materials of obj with a look. Not in the table either. */
extern const modal_sequence_format modal_sequence_mtl;

/* ---- sequence_arrays.c: the arrays whose names have a meaning ---- */

/* The positions, m: the first array of every sequence. */
extern const modal_array modal_sequence_points;
/* The arrays that this project makes, by name; NULL for any other name. */
const modal_array *modal_sequence_known(const char *name);
/* Whether an array holds the points' unit normals, which some formats have a place of their own for. */
int modal_sequence_is_normals(const modal_array *array);
/* For formats that carry arrays of points only, or nothing but positions. */
int modal_sequence_of_points(const modal_array *array);
int modal_sequence_is_points(const modal_array *array);

/* Whether an array is stored with that precision, > 0, not as it is: those whose unit is m. */
int modal_sequence_is_rounded(double precision, const modal_array *array);
/* What such an array is encoded with (lib/model/encoding.h), 1/m: sinks take it encoded as well as in float32. */
double modal_sequence_scale(double precision);
/* Rows of array i in a frame: points or cells. */
int64_t modal_sequence_rows(const modal_sequence_info *info, int i);
/* Floats of array i in a frame. */
int64_t modal_sequence_floats(const modal_sequence_info *info, int i);
/* Cells: those of the solid, or the triangles. */
int64_t modal_sequence_n_cells(const modal_sequence_info *info);
/* Bytes of a frame in all arrays; 0 where that does not fit 63 bits. */
int modal_sequence_frame_bytes(const modal_sequence_info *info, int64_t *bytes);

/* Bytes of sequence.vtkhdf and sequence.xdmf together, a little too many; what a disk must have
 * free. MODAL_ERROR_INPUT when it does not fit 63 bits. */
modal_status modal_sequence_bytes(const modal_sequence_info *info, int64_t *bytes,
                                  modal_error *err);

/* MODAL_ERROR_INPUT unless counts, indices, times, hashes and the list of arrays obey the rules and all sizes fit. */
modal_status modal_sequence_check_info(const modal_sequence_info *info, modal_error *err);

#endif
