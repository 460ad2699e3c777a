/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of modalrender share. */
#ifndef TOOLS_MODALRENDER_H
#define TOOLS_MODALRENDER_H

#include <pthread.h>
#include <stdint.h>

#include "formats/basis/basis_tiles.h"
#include "formats/images/png_write.h"
#include "lib/deform/deform.h"
#include "lib/frames/reading.h"
#include "lib/render/camera.h"
#include "lib/render/stage.h"
#include "tools/common/commit.h"
#include "tools/common/creases.h"
#include "tools/common/journal.h"
#include "tools/common/look.h"
#include "tools/common/shares.h"
#include "tools/common/slice.h"
#include "tools/common/textures.h"
#include "tools/common/tool.h"

typedef enum modalrender_format { MODALRENDER_PNG, MODALRENDER_EXR, MODALRENDER_Y4M, MODALRENDER_RGB, MODALRENDER_NULL,
                                  MODALRENDER_MP4, MODALRENDER_GIF, MODALRENDER_FORMATS } modalrender_format;
extern const char *const modalrender_format_names[MODALRENDER_FORMATS];

/* Which of a material's textures is looked up where it has an octree texture with an image beside it. */
typedef enum modalrender_texture { MODALRENDER_AUTO, MODALRENDER_OCTREE, MODALRENDER_ATLAS, MODALRENDER_TEXTURES } modalrender_texture;
extern const char *const modalrender_texture_names[MODALRENDER_TEXTURES];

/* Frames that are given, not computed. */
typedef struct modalrender_given modalrender_given;

/* What the command line asks for. */
typedef struct modalrender_request {
    const char *input, *folder, *basis_path, *look_path, *camera, *back_end, *normals_name;
    int from_stdin, to_stdout, of_basis, any_path, force, resume, threads;
    int one_file; /* `folder` is the name of one file: a picture or a film */
    int streams;  /* frames go one after the other to standard output or to a film */
    modalrender_format format;
    int exr_floats;                    /* colours of exr in floats, not halves */
    int deep;                          /* png of 16 bits */
    int buffers[MODAL_RENDER_BUFFERS]; /* those that become files, or channels of exr; the picture is the format's */
    tool_slice frames;
    const char *modes; /* of a basis, whose modes swing; NULL: none do */
    int swings;
    double amplitude;
    modal_share share; /* n 0: all */
    int picks;        /* not 0: what is at pixel pick[0], pick[1], of frame pick[2] */
    int64_t pick[3];
    int32_t width, height, samples, shadow_size, shadow_radius;
    double rate; /* frames a second of y4m and films; 0: the trajectory's */
    int turntable, up_y;
    modal_shadow_kind shadows;
    modal_render_transparency transparency;
    double shadow_alpha;
    modalrender_texture texture;
    modal_crease_rule creases;
    modal_normals normals;
    int64_t memory_limit; /* bytes; 0: none */
} modalrender_request;

/* An octree texture of the look. */
typedef struct modalrender_solid {
    modal_octree_pyramid pyramid;
    uint8_t *wears;   /* [shapes of the basis] */
    const char *name; /* as the look has it */
    int role;         /* 0: colours, 1: normals */
    double cutoff;    /* of a cut-out, whose cover levels keep; else -1 */
    modal_octree_atlas atlas; /* with an image, or n_uv 0 */
    uint8_t *texels;  /* the image's levels, the lowest row first; or NULL */
    int32_t image;    /* its number among the scene's images, where there are texels */
} modalrender_solid;

typedef struct modalrender_input {
    modalrender_given *given; /* instead of a trajectory, which then has times only, and the basis no modes; or NULL */
    modal_trajectory trajectory;
    char trajectory_hash[MODAL_HASH_TEXT];
    char *basis_path;
    modal_basis basis;
    modal_basis_tiles *tiles;
    pthread_mutex_t hdf5; /* held by who uses HDF5 */
    tool_look look;
    modal_textures textures;   /* the look's images */
    int32_t n_solids;
    modalrender_solid *solids; /* [n_solids], room for MODAL_RENDER_SOLIDS */
    modal_render_solid scene_solids[MODAL_RENDER_SOLIDS];
    int32_t (*solids_of_material)[2], *charts_of_material;
    modal_render_images images; /* all of them for the scene */
    const modal_look_camera *camera;
    int64_t start, step, n; /* frame i is the trajectory's start + i step */
    int64_t number, n_all;  /* the number of frame 0 among those of all shares */
    int64_t lead;           /* frames before this one are drawn for what follows, and not written: 0 or 1 */
    const float *points;    /* [n_points, 3] of the frame in which something is picked, while that is written */
    modal_render_scene scene;
    modal_raster_view *views; /* [n_views] one, or one a frame */
    int64_t n_views;
} modalrender_input;

/* ---- modalrender_inputs.c ---- */

modal_status modalrender_read_request(tool *t, modalrender_request *r, modal_error *err);
/* Everything that a picture is made of, but for the deformer's. */
modal_status modalrender_read_inputs(tool *t, modalrender_request *r, modalrender_input *in, modal_error *err);
void modalrender_free_inputs(modalrender_input *in);

/* ---- modalrender_given.c: snapshots.h5 and sequence.vtkhdf ---- */

/* `kind` is that of the file: "snapshots" or "sequence". */
modal_status modalrender_read_given(const tool *t, const modalrender_request *r, modalrender_input *in, const char *kind, modal_error *err);
/* Widens the bounds by all frames. */
modal_status modalrender_given_bounds(const modalrender_input *in, modal_render_bounds *bounds, modal_error *err);
/* Adds the stage of normals to a plan with these arrays. */
void modalrender_given_normals(modalrender_input *in, modal_frame_plan *plan, int positions, int normals);
/* positions: the plan's array; held: bytes of main memory that the inputs take. The caller deletes *reading, until when *as is good. */
modal_status modalrender_given_source(modalrender_input *in, const modal_frame_plan *plan, int positions, int64_t held, modal_reading **reading,
                                      modal_frame_source *as, modal_error *err);
const modal_device *modalrender_given_device(const modalrender_given *given); /* where it computes */
modalrender_given *modalrender_given_delete(modalrender_given *given); /* NULL is fine; returns NULL */

/* ---- modalrender_pick.c ---- */

modal_status modalrender_read_pick(const tool_arguments *arguments, modalrender_request *r, modal_error *err);
/* What is at the pixel, as JSON on standard output. arrays: of the one frame, triangles numbered as the
 * scene's. */
modal_status modalrender_write_pick(const modalrender_request *r, const modalrender_input *in, float *const arrays[MODAL_RENDER_BUFFERS], modal_error *err);

/* ---- modalrender_images.c ---- */

/* Reads the look's images, if it has some. */
modal_status modalrender_read_images(tool *t, const modalrender_request *r, modalrender_input *in, modal_error *err);
void modalrender_free_images(modalrender_input *in);

/* ---- modalrender_solids.c ---- */

/* Takes from the look, before its images are read, what --texture does not want. */
void modalrender_choose_textures(const modalrender_request *r, modal_look *look);
/* After the images of files, which are numbered first; images in octree textures follow (solids[i].texels). */
modal_status modalrender_read_solids(tool *t, const modalrender_request *r, modalrender_input *in, modal_error *err);
void modalrender_free_solids(modalrender_input *in);

/* ---- modalrender_files.c: files of frames, made by threads of their own ---- */

typedef struct modalrender_files modalrender_files;
typedef struct modalrender_outputs modalrender_outputs;

/* Starts r->threads of them for all outputs but the last one. Borrows both until it is deleted. */
modal_status modalrender_files_new(modalrender_files **files, const modalrender_request *r, modalrender_outputs *out, modal_error *err);
/* Begins the files of frames [from, n), the first of whose numbers is `number` + from; arrays[buffer] [n, height, width, components]. Returns when nobody reads
 * the arrays any more: files may still be packed and written then. MODAL_OK but an error of any file so far. */
modal_status modalrender_files_write(modalrender_files *files, int64_t number, int64_t from, int64_t n, float *const arrays[MODAL_RENDER_BUFFERS],
                                     modal_error *err);
/* Waits for all of them. */
modal_status modalrender_files_finish(modalrender_files *files, modal_error *err);
modalrender_files *modalrender_files_delete(modalrender_files *files); /* waits, too; NULL is fine; returns NULL */

/* ---- modalrender_film.c: one file of all frames ---- */

typedef struct modalrender_film {
    char *program;    /* ffmpeg's path; NULL: not needed */
    const char *path; /* of the film, borrowed */
    pid_t child;      /* ffmpeg; 0: none runs */
    int to, messages; /* what takes the frames; what ffmpeg prints; -1: not open */
} modalrender_film;

#define MODALRENDER_NO_FILM (modalrender_film){.to = -1, .messages = -1}

/* Starts it, in a thread that lives as long as the film; rate: frames a second, a fraction. output: what becomes the film. */
modal_status modalrender_film_start(modalrender_film *film, const modalrender_request *r, const int64_t rate[2], const tool_output *output,
                                    modal_error *err);
modal_status modalrender_film_write(modalrender_film *film, const void *bytes, int64_t length, modal_error *err);
/* All frames were written. Where ffmpeg fails its last line is the error. */
modal_status modalrender_film_finish(modalrender_film *film, modal_error *err);
void modalrender_film_end(modalrender_film *film); /* kills it if it still runs; may be called twice */

/* ---- modalrender_outputs.c ---- */

typedef struct modalrender_output {
    const char *extension; /* of a folder of frames; NULL: a file */
    const char *name, *kind;
    int buffer; /* -1: none */
    char *path;
    tool_output file;
} modalrender_output;

struct modalrender_outputs {
    const char *folder; /* NULL: none is written */
    int folder_made, complete, n;
    int n_pictures;        /* outputs of frames, by files.c: all but a manifest and a film */
    modalrender_output all[MODAL_RENDER_BUFFERS + 1]; /* of a folder the manifest is the last one */
    modalrender_film film;
    int64_t bytes;   /* written so far */
    double processor; /* s of the threads that wrote files */
    int64_t blank;   /* frames in whose pictures nothing is */
    tool_journal journal; /* of --resume */
    int ours;             /* it was begun by this run, or for the same pictures */
    int64_t n_skipped;    /* frames before this one are not written again */
    int64_t n_kept;       /* frames that are complete or not wanted, of an earlier run, too */
    struct modalrender_files *files; /* what writes them */
    uint8_t *stream;       /* a frame as it goes to standard output, [3, height, width] or [height, width, 3] */
};

modal_status modalrender_begin_outputs(const modalrender_request *r, modalrender_outputs *out, modal_error *err);
/* Before the first frame: what takes a film is started. */
modal_status modalrender_begin_film(const modalrender_request *r, const modalrender_input *in, modalrender_outputs *out, modal_error *err);
/* Writes n frames, the first of which is `first`, but for those before out->n_skipped: arrays[buffer] [n, height, width, components]. */
modal_status modalrender_write(const modalrender_request *r, const modalrender_input *in, modalrender_outputs *out, int64_t first, int64_t n,
                               float *const arrays[MODAL_RENDER_BUFFERS], modal_error *err);
/* The manifest is written, and all get their names. */
modal_status modalrender_commit_outputs(const tool *t, const modalrender_request *r, const modalrender_input *in, modalrender_outputs *out,
                                        const char *back_end, const char *device, modal_error *err);
/* Also after a failure: what is not complete goes. */
void modalrender_end_outputs(tool *t, const modalrender_request *r, const modalrender_input *in, modalrender_outputs *out, modal_error *err);

/* ---- modalrender_journal.c: see there what --resume keeps ---- */

/* After the outputs were begun. With --resume opens and locks the journal, which may be new, and leads the outputs to the folders that
 * stay; without, refuses unfinished pictures unless --force is given. */
modal_status modalrender_journal_open(const modalrender_request *r, modalrender_outputs *out, modal_error *err);
/* Goes on with the pictures that the journal tells of, or begins it: out->n_kept frames are done. Without --resume (and with --force) discards it.
 * MODAL_ERROR_INPUT: it is one of other pictures. */
modal_status modalrender_journal_begin(tool *t, const modalrender_request *r, const modalrender_input *in, const char *back_end,
                                       modalrender_outputs *out, modal_error *err);
/* Notes a frame whose files were written, with their hashes; nothing without a journal. */
modal_status modalrender_journal_add(modalrender_outputs *out, int64_t number, const char (*hashes)[MODAL_HASH_TEXT], modal_error *err);
/* Before the outputs end. */
void modalrender_journal_end(tool *t, const modalrender_request *r, const modalrender_input *in, modalrender_outputs *out);

/* ---- modalrender_frames.c ---- */

/* Deforms, draws and writes all frames. */
modal_status modalrender_run(tool *t, const modalrender_request *r, modalrender_input *in, modalrender_outputs *out, modal_error *err);

#endif
