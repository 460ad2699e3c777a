/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of modalsim: the command line, the scene of its flags or of a file, its run, the trajectory. */
#ifndef TOOLS_MODALSIM_H
#define TOOLS_MODALSIM_H

#include <stdint.h>

#include "formats/basis/basis_tiles.h"
#include "formats/trajectory/trajectory_h5.h"
#include "kernels/reduced_step/reduced_step.h"
#include "lib/deform/reach.h"
#include "lib/forest/deformation.h"
#include "lib/forest/judge.h"
#include "lib/forest/simulate.h"
#include "lib/model/basis.h"
#include "lib/model/scene.h"
#include "lib/model/trajectory.h"
#include "tools/common/output.h"
#include "tools/common/tool.h"

typedef struct modalsim_impulse {
    const char *text; /* as given, for messages */
    int64_t vertex;   /* the user's, or -1: the one nearest to point */
    double point[3], impulse[3], time;
} modalsim_impulse;

/* What is measured of how far a frame may be trusted: the steps alone; of solids as large as is cheap, too; of all. */
typedef enum modalsim_quality { MODALSIM_QUALITY_STEPS, MODALSIM_QUALITY_AUTO, MODALSIM_QUALITY_FULL } modalsim_quality;

/* What the command line asks for, checked as far as that goes without the files. */
typedef struct modalsim_request {
    const char *basis_path, *trajectory_path, *base_path;
    const char *rebase_path, *old_basis_path; /* --rebase and its --basis, or NULL */
    const char *project_path;    /* --project, or NULL */
    const char *scene_path;      /* or NULL; then only this line and the next hold something */
    const char *back_end, *checkpoint_path, *restart_path;
    int64_t checkpoint_every;    /* frames */
    int64_t memory_limit;        /* bytes, 0: any */
    int n_threads;               /* for scenes; the others have too little to do */
    int keep_partial;
    modalsim_quality quality;
    int require_sound; /* exit code 5 unless the motion is ok */
    int allow_inversion;
    int to_stdout, force, start_static;
    int velocities;            /* --velocities */
    int plucks; /* no loads, no scene: the objects are plucked (modalsim_pluck.c) */
    double duration; /* --duration, s; 0: not given */
    double fps; /* 0: one frame, or not given yet */
    int64_t n_frames;
    double last_time;
    double alpha, beta, ratio; /* ratio < 0: Rayleigh */
    double amplitude;          /* --amplitude: the largest displacement, a share of the size; 0: not given */
    double gravity[3];
    int n_sets;
    const char **sets; /* [n_sets] --set */
    int n_impulses;
    modalsim_impulse *impulses; /* [n_impulses] */
} modalsim_request;

/* A whole number without blanks, of which *end is the first character behind. */
int modalsim_parse_index(const char *text, const char **end, int64_t *value);

/* Says, and reports, which vertex (stored) an item of a scene's list takes for its point, so many metres away. */
void modalsim_say_vertex(tool *t, const modal_basis *basis, const char *list, const modal_scene_force *force, int64_t vertex,
                         double distance);

/* Warns of loads of the scene that end before the run while they are not 0, and of objects that are attached to a parent
 * farther away than both are large. */
void modalsim_doubt_loads(tool *t, const modalsim_request *r, const modal_scene *scene, const modal_basis *basis);

/* modalsim_template.c: --generate scene BASIS.h5, as tool_program.generate has it. */
int modalsim_generate(const char *kind, const tool_arguments *arguments, modal_status *status, modal_error *err);

/* n_frames and last_time of duration and fps. MODAL_ERROR_USAGE: too many. */
modal_status modalsim_count_frames(modalsim_request *r, modal_error *err);

/* Fills the request. The caller frees request->impulses and request->sets. */
modal_status modalsim_read_request(const tool *t, modalsim_request *r, modal_error *err);

/* The parts of the basis that the scene (NULL: the flags) and r->quality need, within the memory limit; *bytes: what they
 * take, *n_passed: shapes whose solids are too large for r->quality, or for the limit.
 * Of modal matrices that are not needed as a whole, tiles [n], ascending, are read when they are known:
 * *file is NULL at first, and for the caller to close. */
modal_status modalsim_basis_read(const modalsim_request *r, const modal_scene *scene, modal_basis *basis,
                                 int64_t *bytes, int32_t *n_passed, modal_error *err);
modal_status modalsim_basis_tiles(const modalsim_request *r, modal_basis *basis, modal_basis_tiles **file, int32_t shape,
                                  int64_t n, const int64_t *tiles, modal_error *err);

/* How far a linear motion goes: the largest displacement as a share of the diagonal of the box around its object's shape
 * at rest, of the shapes whose surfaces and matrices are in memory. What is below the starting value is not looked for. */
typedef struct modalsim_place {
    int32_t object;
    int64_t vertex, frame; /* the user's */
    double length;         /* m */
} modalsim_place;
typedef struct modalsim_range {
    const modal_basis *basis;
    modal_reach *reach;
    double *diagonals;   /* [shapes] m, 0: not known */
    double displacement; /* the largest so far */
    modalsim_place place;
} modalsim_range;
/* range is zeroed; modalsim_range_end also after an error. displacement is what is warned of. */
modal_status modalsim_range_begin(modalsim_range *range, const modal_basis *basis, modal_error *err);
void modalsim_range_observe(modalsim_range *range, int64_t frame, const double *q);
void modalsim_range_tell(tool *t, const modalsim_range *range);
void modalsim_range_end(modalsim_range *range);

/* --amplitude: the scene is run once, like `like`, and its loads are multiplied then by what is said and reported.
 * MODAL_ERROR_USAGE where nothing moves, or not in proportion to the loads. models: NULL, or as in a trajectory. */
modal_status modalsim_scale_scene(tool *t, const modalsim_request *r, const modal_simulation *like, modal_scene *scene,
                                  const uint8_t *models, char remark[64], modal_error *err);

/* The scene that the flags say: linear objects that stand still. The caller frees it, also after an error. */
modal_status modalsim_flags_scene(tool *t, const modalsim_request *r, const modal_basis *basis, modal_scene *scene,
                                  modal_error *err);

enum { MODALSIM_REMARK = 64 };

/* r->plucks, of the scene of the flags: initial coordinates of all objects, and r's duration and frames a second where they are not given. Says
 * so, also for the provenance. MODAL_ERROR_INPUT where nothing can be plucked. */
modal_status modalsim_pluck(tool *t, modalsim_request *r, const modal_basis *basis, modal_scene *scene, char remark[MODALSIM_REMARK],
                            modal_error *err);

/* Reads basis and scene, or makes that of the flags, runs it, writes the trajectory; see formats/scene.md. Completes r where it plucks. */
modal_status modalsim_scene(tool *t, modalsim_request *r, tool_output *output, modal_error *err);

/* The table of a scene with a response. */
modal_status modalsim_response(tool *t, const modalsim_request *r, const modal_scene *scene, const modal_basis *basis,
                               tool_output *output, modal_error *err);

/* --rebase: a trajectory of another basis of the same solids, carried over to this one. */
modal_status modalsim_rebase(tool *t, const modalsim_request *r, tool_output *output, modal_error *err);

/* --project: snapshots of the solid, in the coordinates of its basis. */
modal_status modalsim_project(tool *t, const modalsim_request *r, tool_output *output, modal_error *err);

/* How long a run will take, by what it has taken: a day or more is warned of, once. */
typedef struct modalsim_pace {
    double started; /* tool_seconds() */
    int warned;
} modalsim_pace;
void modalsim_watch(tool *t, modalsim_pace *pace, const char *what, int64_t done, int64_t all);

/* Numbers of an object in a checkpoint beside its coordinates: the members of modal_step_frame, and energies. */
enum { MODALSIM_MEASURE_NUMBERS = 4 + MODAL_JUDGED_NUMBERS,
       MODALSIM_STATE_NUMBERS = (int)(sizeof(modal_step_pose) / sizeof(double)) + MODALSIM_MEASURE_NUMBERS };

/* A trajectory that is written while it is made. */
typedef struct modalsim_writer {
    tool *t;
    const modalsim_request *r;
    tool_output *output;
    modal_trajectory head; /* no arrays of frames */
    modal_trajectory_out *out;
    char remark[MODALSIM_REMARK]; /* after the command line in the provenance, as a shell's comment; "": none */
    modalsim_pace pace; /* of the frames, where the frames are all that is counted */
} modalsim_writer;

/* What a frame has beside time and q, added. */
enum { MODALSIM_POSES = 1, MODALSIM_ENERGY = 2, MODALSIM_QUALITY = 4 };

/* In a pipe, or where the basis came from one, the trajectory carries the file of its basis: head->basis_bytes. */
modal_status modalsim_carry_basis(const modalsim_request *r, const modal_basis *basis, modal_trajectory *head, modal_error *err);

/* MODAL_ERROR_SYSTEM or _MEMORY before the first byte where disk or memory have no room for all of it and the
 * checkpoint. Opens it, linked to the basis and signed: the basis's steps, then this one, whose inputs are the basis and
 * `n_files` more files. */
modal_status modalsim_writer_begin(modalsim_writer *w, const modal_basis *basis, int64_t n_frames,
                                   int arrays, int n_files, const char *const *files, const char *back_end,
                                   modal_error *err);
/* Puts it in its place, also where fewer frames were made than the head said: they are written anew then. */
modal_status modalsim_writer_end(modalsim_writer *w, modal_error *err);
void modalsim_writer_discard(modalsim_writer *w);

#endif
