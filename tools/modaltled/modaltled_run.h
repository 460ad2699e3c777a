/* SPDX-License-Identifier: Apache-2.0 */
/* A run of modaltled: modaltled_run.c moves and writes, modaltled_checkpoint.c keeps what it goes on from. */
#ifndef TOOLS_MODALTLED_RUN_H
#define TOOLS_MODALTLED_RUN_H

#include <stdio.h>

#include "formats/checkpoint/solid_checkpoint.h"
#include "formats/snapshots/snapshots_out.h"
#include "lib/tled/follow.h"
#include "lib/tled/frames.h"
#include "lib/tled/quality.h"
#include "tools/modaltled/modaltled.h"

/* Displacements, velocities and forces of all probes: [n_probes, 3] each. */
typedef struct run_probes {
    double *u, *v, *f;
} run_probes;

/* What a frame has beside u and velocities; those that are not asked for are NULL. */
typedef struct run_frame {
    double energies[MODAL_TLED_ENERGIES], parts[MODAL_TLED_PARTS];
    modal_tled_measures measures;
    double largest, largest_internal; /* J, of energies up to this frame */
    double *forces;
    run_probes probes;
} run_frame;

typedef struct run {
    tool *t;
    const modaltled_request *r;
    modaltled_case *c;
    modal_tled_motion *motion;
    /* Of the frames' thread while frames are under way (lib/tled/frames.h): */
    modal_snapshots_out *out;
    modal_solid_checkpoint *checkpoint;
    double largest_square; /* m^2, of a displacement */
    /* of this one: */
    modal_tled_frames *frames;
    run_frame beside[MODAL_TLED_SLOTS];
    double *u, *v, *own_forces, *reactions; /* of the state at hand; u, v and reactions where there are probes */
    double worst_balance, largest_energy, largest_internal;
    modal_tled_quality quality;
    double *solid_u; /* [n_nodes, 3] of a frame in the solid's order, where energies do not measure it; of the frames' thread */
    modal_tled_follow follow;
    int32_t n_probes;
    char *probe_names;
    modal_provenance *provenance;
    int32_t n_provenance;
    double compute_seconds;
    int64_t first_frame, first_step; /* 0, or the next one after a restart */
    modaltled_outputs *outputs;
    FILE *probes; /* of every step, or NULL */
    run_probes line; /* of its lines */
    void *state; /* [state_bytes]: head, motion and, until steady, what the relaxation goes on from */
    int64_t state_bytes, steady_bytes;
    int64_t n_looks; /* until steady */
} run;

/* Reads --restart into the run and its file of frames, and begins --checkpoint; both may be absent. */
modal_status modaltled_checkpoint_begin(run *w, modal_error *err);
/* A frame; the state of the motion, from which frame `next` is to come, once all frames before are there. */
modal_status modaltled_checkpoint_frame(run *w, const modal_snapshot *frame, modal_error *err);
modal_status modaltled_checkpoint_state(run *w, int64_t next, modal_error *err);
/* Until steady: of a relaxation, `at`, after a look; every --checkpoint-every of them. */
modal_status modaltled_checkpoint_steady(void *run_at_hand, const void *at, modal_error *err);
void modaltled_checkpoint_end(run *w);

/* Counts and names the probes: those of the scene, then its bodies. Measures them at the state at hand, whose u and v are there: means and
 * sums over the nodes of each; of a body how far it has gone, how fast it went there, and what it does to the solid. */
modal_status modaltled_probes_name(run *w, modal_error *err);
modal_status modaltled_probes_measure(run *w, const run_probes *to, modal_error *err);
/* --probes, if it is there: begins the file; moves on to n steps, or fewer where
 * the step has shrunk, with a line for each; ends the file, which `keeps` tells to keep. */
modal_status modaltled_probes_begin(run *w, modal_error *err);
modal_status modaltled_probes_advance(run *w, int64_t n, const modal_progress *progress, int64_t *element, modal_error *err);
modal_status modaltled_probes_end(run *w, int keeps, modal_error *err);

#endif
