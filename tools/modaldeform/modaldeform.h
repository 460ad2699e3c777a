/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of modaldeform share. */
#ifndef TOOLS_MODALDEFORM_H
#define TOOLS_MODALDEFORM_H

#include <pthread.h>
#include <stdint.h>

#include "formats/basis/basis_tiles.h"
#include "formats/sequences/sequence_paint.h"
#include "formats/sequences/sequence_share.h"
#include "formats/sequences/sequence_vtkhdf.h"
#include "formats/trajectory/trajectory_h5.h"
#include "lib/curvature/curvature.h"
#include "lib/deform/solids.h"
#include "lib/deform/source.h"
#include "lib/fem/stress_frames.h"
#include "lib/frames/frames.h"
#include "lib/frames/plan.h"
#include "lib/sound/sound.h"
#include "tools/common/commit.h"
#include "tools/common/creases.h"
#include "tools/common/journal.h"
#include "tools/common/look_images.h"
#include "tools/common/slice.h"
#include "tools/common/tool.h"

/* What the command line asks for. */
typedef struct modaldeform_request {
    const char *trajectory_path, *folder, *basis_path, *normals_name, *tangents_name, *order;
    const char *frames_text, *precision_text; /* NULL: not given */
    tool_slice frames;
    int from_stdin, force, resume, threads;
    int one_file;         /* `folder` is the name of one file of the only format */
    modal_share share;    /* --shard; n 0: the whole sequence */
    int join, verify;     /* --join, --verify */
    int64_t memory_limit; /* 0: none */
    double precision;     /* m, 0: none */
    int volume;           /* --output-mesh volume */
    int dry;              /* --format null: nothing is written, and OUT is not touched */
    int n_formats;        /* in the order of modal_sequence_formats */
    const modal_sequence_format *formats[MODAL_SEQUENCE_FORMATS + 2]; /* with rest.obj and sequence.mtl */
    modal_array_list arrays; /* of a frame */
    int speed;               /* among them; which kind, deform.speed says once the trajectory is read */
    int stress;              /* strain, stress or von_mises is wanted */
    int curvature[MODAL_CURVATURE_FIELDS]; /* nonzero: the field is wanted */
    int curved;              /* nonzero: one of them */
    char fields_text[256];   /* " --fields displacement,speed", or empty */
    int snapshots;          /* TRAJ is snapshots of a whole solid */
    int swings;             /* TRAJ is a basis, whose modes are shown */
    const char *modes_text; /* --modes, or NULL */
    double amplitude;       /* of their swing: the largest displacement, a share of the box's diagonal */
    int show_arrays;        /* they are arrays of one frame instead */
    const char *look_path; /* --look, or NULL */
    const char *texture_path; /* --texture, or NULL */
    int colour;            /* --fields colour */
    modal_crease_rule creases; /* --crease */
    int any_path;
    double slow_motion;   /* --slow-motion, 0: auto, -1: not given */
    int sound;            /* --format wav, of the listeners, else of the probes */
    int gain_auto;
    double gain;
    modal_deform_request deform;
} modaldeform_request;

typedef struct modaldeform_snapshots modaldeform_snapshots;

/* What --format wav needs, and what it writes. */
typedef struct modaldeform_sound {
    modal_sound_plan plan;
    modal_sound_channel *channels; /* [about.n_channels], and the same as the manifest has them: */
    modal_sequence_channel *described;
    double *samples;
    modal_sequence_sound about; /* of these arrays */
} modaldeform_sound;

/* The modes that are shown: numbers, and with --show arrays the displacements of all points. */
typedef struct modaldeform_modes {
    int32_t n, *list;
    float **displacements; /* [n][points, 3] */
} modaldeform_modes;

/* --look: as read, and what the writers are told, which points into it. */
typedef struct modaldeform_look {
    tool_look read;
    modal_sequence_look about; /* about.look NULL: none */
    modal_sequence_paint paint; /* with obj */
    char **places;              /* [about.n_images] the images' place */
    tool_look_images images;
    float *uv; /* [points of a frame, 2] with vtkhdf */
} modaldeform_look;

/* The inputs, and the frames of them that are wanted: start + i step, i < n. */
typedef struct modaldeform_input {
    modal_basis basis;        /* without the modal matrices */
    modal_basis_tiles *tiles; /* these */
    pthread_mutex_t hdf5;     /* held by who uses HDF5 while the frames are made */
    modal_trajectory trajectory;
    char trajectory_hash[MODAL_HASH_TEXT];
    char *basis_path; /* NULL: snapshots */
    int64_t start, step, n;
    double *times;
    int64_t n_points, n_triangles, *triangles; /* of a frame */
    int64_t mesh_points, mesh_triangles, mesh_cells; /* of the mesh; where probes alone are computed, more than of a frame */
    int64_t *point_numbers; /* [n_points] then, which vertices of their objects they are, or NULL */
    modal_solid_cells cells; /* with --output-mesh volume, when the shapes' vertices are the nodes */
    int64_t n_probes;
    modal_sequence_probe *probes;
    modaldeform_look look;
    void *texture_values; /* [n_points] with --texture, */
    modal_sequence_texture texture; /* what of them the writers are told; neither: colours and numbers are NULL */
    char texture_hash[MODAL_HASH_TEXT];
    int32_t n_creases;
    modal_creases *creases;      /* [n_creases] of the shapes, with --crease and glb */
    modal_creases frame_creases; /* of a frame, with --crease and obj */
    modaldeform_modes modes; /* with a basis as TRAJ */
    modaldeform_sound sound; /* with --format wav */
    modaldeform_snapshots *snapshots; /* or NULL */
    modal_stress_frames *stress; /* with strain, stress or von_mises, else NULL */
    char *quality;   /* the verdict on the motion, and why, or NULL: not measured */
    char *arguments; /* what the frames depend on, for provenance */
} modaldeform_input;

/* A file of OUT, or a folder of frames in it. */
typedef struct modaldeform_output {
    const char *name, *kind; /* as in the manifest */
    const char *extension;   /* of the frames; NULL: a file */
    char *path;
    int shared; /* the temporary file is that of all shares, and stays after an error */
    tool_output file;
} modaldeform_output;

/* A format that is being written; its outputs are first_output and those after it. */
typedef struct modaldeform_format {
    const modal_sequence_format *format;
    int first_output;
    modal_sequence_target target; /* the temporary names */
    void *writer;
} modaldeform_format;

enum { MOST_OUTPUTS = MODAL_SEQUENCE_FILES * (MODAL_SEQUENCE_FORMATS + 2) + 4 };

typedef struct modaldeform_outputs {
    int folder_made, complete;
    int n_outputs, n_formats;
    modaldeform_output all[MOST_OUTPUTS]; /* the manifest is the last one */
    modaldeform_format formats[MODAL_SEQUENCE_FORMATS + 2];
    /* with --resume, when sequence.vtkhdf and its sidecar come first, and nothing but the manifest
     * after them: */
    char *part_path;
    tool_journal journal;
    int ours;       /* it was begun by this run, or for the same sequence */
    int64_t n_kept; /* frames that are complete */
} modaldeform_outputs;

/* modaldeform_inputs.c: the command line and the files that it names. */
modal_status modaldeform_read_request(tool *t, modaldeform_request *r, modal_error *err);
modal_status modaldeform_read_inputs(tool *t, modaldeform_request *r, modaldeform_input *in, modal_error *err);
void modaldeform_free_inputs(modaldeform_input *in);

/* modaldeform_look.c */
/* MODAL_ERROR_USAGE where no format shows a look. After the formats are known. */
modal_status modaldeform_check_look(const tool_arguments *a, modaldeform_request *r, modal_error *err);
/* Nothing without --look. The basis has its surfaces, their uv and looks. */
modal_status modaldeform_read_look(tool *t, const modaldeform_request *r, modal_basis *basis, modaldeform_look *look, modal_error *err);
int64_t modaldeform_look_bytes(const modaldeform_look *look);
void modaldeform_free_look(modaldeform_look *look);

/* The triangles of frames, once they are known: nothing without --look or without obj. */
modal_status modaldeform_paint_frames(const modaldeform_request *r, modaldeform_input *in, modal_error *err);

/* modaldeform_texture.c */
/* MODAL_ERROR_USAGE where no format shows a texture. After the formats are known. */
modal_status modaldeform_check_texture(const tool_arguments *a, modaldeform_request *r, modal_error *err);
/* Nothing without --texture. Once the points are known. */
modal_status modaldeform_read_texture(tool *t, const modaldeform_request *r, modaldeform_input *in, modal_error *err);

/* modaldeform_creases.c */
/* MODAL_ERROR_USAGE where no format shows creases. After the formats and the normals are known. */
modal_status modaldeform_check_creases(const tool_arguments *a, modaldeform_request *r, modal_error *err);
/* Nothing without --crease. */
modal_status modaldeform_make_creases(tool *t, const modaldeform_request *r, modaldeform_input *in, modal_error *err);
void modaldeform_free_creases(modaldeform_input *in);

/* modaldeform_modes.c */
/* Sets r->swings; MODAL_ERROR_USAGE for options that do not go with what TRAJ is. */
modal_status modaldeform_find_kind(const tool *t, modaldeform_request *r, modal_error *err);
/* Makes in->trajectory: the modes of in->basis, one after the other, each a full swing from rest to rest. The
 * basis was read with its modes, and its matrices are in in->tiles, or of a volume in the shapes. */
modal_status modaldeform_swing_modes(tool *t, const modaldeform_request *r, modaldeform_input *in, modal_error *err);
/* With --show arrays: makes in->modes.displacements, once the points are known. */
modal_status modaldeform_make_modes(const modaldeform_request *r, modaldeform_input *in, modal_error *err);
void modaldeform_free_modes(modaldeform_modes *modes);

/* modaldeform_snapshots.c */
/* Sets r->snapshots, and refuses options that then mean nothing; before formats and fields. check: those that depend on these. */
modal_status modaldeform_find_snapshots(const tool *t, modaldeform_request *r, modal_error *err);
modal_status modaldeform_check_snapshots(const tool *t, const modaldeform_request *r, modal_error *err);
/* Opens the file: makes in->snapshots, a basis of one shape without modes, a trajectory of times, cells and stress. */
modal_status modaldeform_read_snapshots(modaldeform_request *r, modaldeform_input *in, modal_error *err);
const modal_device *modaldeform_snapshots_device(const modaldeform_snapshots *snapshots);
int64_t modaldeform_snapshots_bytes(const modaldeform_snapshots *snapshots);
/* How many frames are read at once; MODAL_ERROR_MEMORY where --memory-limit has no room for one, beside the bytes that are held. */
modal_status modaldeform_snapshots_batch(modaldeform_snapshots *snapshots, int64_t frame_bytes, int64_t held, modal_error *err);
/* As modaldeform_plan, with normals as a stage. */
modal_status modaldeform_plan_snapshots(const modaldeform_request *r, modaldeform_input *in, modal_frame_plan *plan, modal_error *err);
/* After that and the batch. *as is good as long as they live. */
modal_status modaldeform_snapshots_source(modaldeform_snapshots *snapshots, const modal_frame_plan *plan, modal_frame_source *as,
                                          modal_error *err);
modaldeform_snapshots *modaldeform_snapshots_delete(modaldeform_snapshots *snapshots); /* returns NULL; NULL is fine */

/* modaldeform_fields.c: the arrays that the options ask for, in r->arrays and r->deform; MODAL_ERROR_USAGE where no
 * format of the run carries one. The formats must be known. */
modal_status modaldeform_read_fields(tool *t, modaldeform_request *r, modal_error *err);
/* With --show arrays: mode_000 and so on; array i of the list has the source MODAL_FROM_STAGES + i. */
modal_status modaldeform_add_modes(tool *t, modaldeform_request *r, const modaldeform_modes *modes, modal_error *err);
/* One of a comma-separated list: *text moves behind it. */
size_t modaldeform_list_part(const char **text, const char **part);
/* Where each array of r->arrays is made, and what of it comes to main memory. No stages yet. */
modal_status modaldeform_plan(const modaldeform_request *r, const modaldeform_input *in, modal_frame_plan *plan, modal_error *err);
/* modal_stress_frames_begin with the arrays of the list. */
modal_status modaldeform_begin_stress(const modaldeform_request *r, modaldeform_input *in, modal_error *err);

/* modaldeform_curvature.c: a stage on the device, of surfaces. */
/* Sources of its arrays: MODALDEFORM_FROM_CURVATURE + field; those of steps are from MODAL_FROM_STAGES on below it. */
enum { MODALDEFORM_FROM_CURVATURE = MODAL_FROM_STAGES + 100 };
typedef struct modaldeform_curvature modaldeform_curvature;
/* As modal_curvature_parse_fields, without what only modalcurv has. */
modal_status modaldeform_curvature_fields(const char *list, int fields[MODAL_CURVATURE_FIELDS], modal_error *err);
/* Main memory that the connectivity takes. */
int64_t modaldeform_curvature_bytes(int64_t n_points, int64_t n_triangles);
/* Appends the stage to the plan, if one of its fields is wanted. *curvature, which may be NULL, lives longer than what is
 * made by the plan. */
modal_status modaldeform_curvature_new(modaldeform_curvature **curvature, tool *t, const modaldeform_request *r,
                                       const modaldeform_input *in, modal_frame_plan *plan, modal_error *err);
modaldeform_curvature *modaldeform_curvature_delete(modaldeform_curvature *curvature); /* returns NULL; NULL is fine */

/* modaldeform_probes.c: the points that --probe names; MODAL_ERROR_USAGE where one is not there. */
modal_status modaldeform_check_probes(const tool *t, const modaldeform_request *r, modal_error *err);
modal_status modaldeform_find_probes(tool *t, const modaldeform_request *r, modaldeform_input *in, modal_error *err);

/* modaldeform_crop.c: where a table of probes is all that is written, in->basis keeps only the vertices that it needs, with
 * their part of the modal matrix, and in->n_points, triangles, probes, cells, point_numbers are those of what is left. */
modal_status modaldeform_crop(const modaldeform_request *r, modaldeform_input *in, modal_error *err);

/* The object of a point of a frame, and its vertex as stored. */
void modaldeform_find_vertex(const modaldeform_request *r, const modaldeform_input *in, int64_t point, int32_t *object,
                             int64_t *vertex);

/* modaldeform_sound.c: --format wav. */
/* The options of sound; after --format. */
modal_status modaldeform_check_sound(const tool *t, modaldeform_request *r, modal_error *err);
/* in->sound but its samples; *memory_bytes: what making these takes. */
modal_status modaldeform_prepare_sound(tool *t, const modaldeform_request *r, modaldeform_input *in, int64_t *memory_bytes,
                                       modal_error *err);
modal_status modaldeform_make_sound(tool *t, const modaldeform_request *r, modaldeform_input *in, modal_error *err);
void modaldeform_free_sound(modaldeform_sound *sound);

/* modaldeform_volume.c: puts the nodes of the solids in the place of the surfaces, and fills
 * in->cells. The basis must have been read with its solids and their modes. */
modal_status modaldeform_use_volume(const modaldeform_request *r, modaldeform_input *in, modal_error *err);
/* Says once where elements were inside out. */
void modaldeform_tell_stress(tool *t, const modal_stress_frames *stress);

/* modaldeform_outputs.c */
/* Before the inputs are read: what cannot be written is said at once. With --resume, the sidecar and
 * the manifest get their temporary files later: nothing of theirs is left after a kill. */
modal_status modaldeform_begin_outputs(const modaldeform_request *r, modaldeform_outputs *out, modal_error *err);
modal_status modaldeform_begin_sidecars(const modaldeform_request *r, modaldeform_outputs *out, modal_error *err);
/* What the formats need: refused where a disk is too full, or a format cannot hold so much.
 * *memory_bytes is what the writers will take beside the frames. */
modal_status modaldeform_check_space(const modaldeform_request *r, const modal_sequence_info *info,
                                     const modaldeform_outputs *out, int64_t *memory_bytes, modal_error *err);
/* Begins the writers that do (scene = 1) or do not (0) need info->scene, but for one that has begun. */
modal_status modaldeform_begin_writers(modaldeform_outputs *out, const modal_sequence_info *info, int scene,
                                       modal_error *err);
modal_status modaldeform_add_frames(modaldeform_outputs *out, const modal_frames *frames,
                                    modal_error *err);
modal_status modaldeform_end_writers(modaldeform_outputs *out, const modal_sequence_info *info,
                                     modal_error *err);
/* Puts the names that the user knows into an error. */
void modaldeform_name_error(const modaldeform_outputs *out, modal_error *err);
/* What the manifest says of the run. */
typedef struct modaldeform_ran {
    const char *command, *back_end, *device;
} modaldeform_ran;
/* *bytes: of all files that it lists. Where OUT is one file, there is none, and *bytes is that of the file. */
modal_status modaldeform_write_manifest(const tool *t, const modaldeform_request *r, const modaldeform_input *in,
                                        const modal_sequence_info *info,
                                        const modaldeform_ran *ran, const modaldeform_outputs *out,
                                        int64_t *bytes, modal_error *err);
/* Removes what shares have left in the folder. */
void modaldeform_discard_shares(const modaldeform_request *r);
/* Gives all their names, the manifest last. */
modal_status modaldeform_commit_outputs(const modaldeform_request *r, modaldeform_outputs *out, modal_error *err);
void modaldeform_end_outputs(tool *t, const modaldeform_request *r, modaldeform_outputs *out);

/* modaldeform_journal.c: see there what --resume keeps. */
enum { MODALDEFORM_JOURNAL_HEAD = 4096 };
/* What the bytes of the sequence follow from. Its last line ends with the arguments as text. */
void modaldeform_journal_describe(const modaldeform_input *in, const modal_sequence_info *info, const char *kind,
                                  char text[MODALDEFORM_JOURNAL_HEAD]);
/* With --resume opens and locks the journal, which may be new; without, refuses an unfinished
 * sequence, or locks it with --force. */
modal_status modaldeform_journal_open(const modaldeform_request *r, modaldeform_outputs *out, modal_error *err);
/* Without --resume: what --force replaces goes, once the inputs are known to be good. */
void modaldeform_journal_discard(const modaldeform_request *r, modaldeform_outputs *out);
/* Goes on with the sequence that the journal tells of, or begins one; out->n_kept frames are done.
 * `kind` of the back end. MODAL_ERROR_INPUT where it was begun from other inputs or otherwise. */
modal_status modaldeform_journal_begin(tool *t, const modaldeform_request *r, const modaldeform_input *in,
                                       const modal_sequence_info *info, const char *kind,
                                       modaldeform_outputs *out, modal_error *err);
/* Notes frames that were written; nothing without a journal. */
modal_status modaldeform_journal_add(modaldeform_outputs *out, const modal_array_list *arrays, int64_t n_points,
                                     int64_t n_cells, const modal_frames *frames, modal_error *err);
/* Removes the journal of a finished sequence, or of one without frames; frees the names. */
void modaldeform_journal_end(tool *t, const modaldeform_request *r, modaldeform_outputs *out);

/* modaldeform_frames.c */
/* Where frames go: to the writers and the journal, or, if there is one, to a sink instead. */
typedef struct modaldeform_way {
    modaldeform_outputs *out;
    const modal_frame_step *sink; /* or NULL */
    modal_share_run run;          /* which frames */
    int64_t frame_bytes;
} modaldeform_way;
modal_status modaldeform_write_frames(tool *t, const modaldeform_request *r, modaldeform_input *in, modal_deformer *deformer,
                                      const modal_frame_plan *plan, const modaldeform_way *way, modal_error *err);

#endif
