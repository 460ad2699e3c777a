/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of modalsim: the command line, linear motion from flags, scenes, the trajectory. */
#ifndef TOOLS_MODALSIM_H
#define TOOLS_MODALSIM_H

#include <stdint.h>

#include "lib/basis/basis.h"
#include "lib/trajectory/trajectory.h"
#include "tools/common/output.h"
#include "tools/common/tool.h"

typedef struct impulse_request {
    const char *text; /* as given, for messages */
    int64_t vertex;   /* the user's, or -1: the one nearest to point */
    double point[3], impulse[3], time;
} impulse_request;

/* What the command line asks for, checked as far as that goes without the files. */
typedef struct request {
    const char *basis_path, *trajectory_path, *base_path;
    const char *scene_path;      /* or NULL; then only this line and the next hold something */
    const char *back_end, *checkpoint_path, *restart_path;
    int64_t checkpoint_every;    /* frames */
    int keep_partial;
    int to_stdout, force, start_static;
    double fps; /* 0: one frame */
    int64_t n_frames;
    double last_time;
    double alpha, beta, ratio; /* ratio < 0: Rayleigh */
    double gravity[3];
    int n_impulses;
    impulse_request *impulses; /* [n_impulses] */
} request;

/* A whole number without blanks, of which *end is the first character behind. */
int modalsim_parse_index(const char *text, const char **end, int64_t *value);

/* Fills the request. The caller frees request->impulses. */
modal_status modalsim_request(const tool *t, request *r, modal_error *err);

/* Linear motion as the flags ask for, into trajectory (times, mode offsets, q). */
modal_status modalsim_linear(tool *t, const request *r, const modal_basis *basis,
                             modal_trajectory *trajectory, modal_error *err);

/* Reads scene and basis, runs it, writes the trajectory; see formats/scene.md. */
modal_status modalsim_scene(tool *t, const request *r, tool_output *output, modal_error *err);

/* Times, offsets, basis hash and room for q of the frames. */
modal_status modalsim_trajectory_begin(const modal_basis *basis, int64_t n_frames, double fps,
                                       modal_trajectory *trajectory, modal_error *err);
/* Link to the basis and provenance: the basis's steps, then this one; inputs are the basis and `n_files`
 * more files. */
modal_status modalsim_trajectory_sign(const tool *t, const request *r, const modal_basis *basis, int n_files,
                                      const char *const *files, const char *back_end,
                                      modal_trajectory *trajectory, modal_error *err);
modal_status modalsim_trajectory_write(tool *t, const request *r, tool_output *output,
                                       const modal_trajectory *trajectory, modal_error *err);

#endif
