/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of modaltled: modaltled.c tells the story of a run. */
#ifndef TOOLS_MODALTLED_H
#define TOOLS_MODALTLED_H

#include "kernels/device_list.h"
#include "kernels/registry.h"
#include "lib/model/quality.h"
#include "lib/tled/contacts.h"
#include "lib/tled/critical.h"
#include "lib/tled/motion.h"
#include "tools/common/output.h"
#include "tools/common/solid.h"
#include "tools/common/tool.h"

enum { MODALTLED_SOLID, MODALTLED_ENERGY, MODALTLED_VELOCITIES, MODALTLED_FORCES, MODALTLED_FIELDS };

typedef struct modaltled_request {
    tool_solid_request input;
    const char *snapshots_path, *scene_path;
    const char *checkpoint_path, *restart_path, *probes_path; /* or NULL */
    int64_t checkpoint_every;                   /* frames */
    modal_tled_precision precision;
    int fields[MODALTLED_FIELDS]; /* 1: is written */
    int unsafe_step, require_sound, keep_partial, force;
    modal_device device, devices[MODAL_DEVICE_LIST]; /* devices: those of --backend, `device` the first */
    int n_devices;
} modaltled_request;

/* What is written; begun before anything is read, so that no name is in the way of another. */
typedef struct modaltled_outputs {
    tool_output snapshots, checkpoint, probes; /* checkpoint: until the first state is in it */
} modaltled_outputs;

/* What moves, and when. */
typedef struct modaltled_case {
    modal_solid solid;        /* the mesh, and what is held */
    modal_solid_scene scene;
    modal_tled_nodes *nodes;  /* [scene.n_actions] */
    uint8_t *laws;            /* [mesh.n_elements] modal_law_kind */
    modal_tled_nodes *touching; /* [scene.n_contacts] */
    modal_tled_model model;
    modal_tled_forces forces;
    modal_tled_critical critical; /* at rest */
    double step;
    int64_t n_steps, n_frames;
    int64_t *frames; /* [n_frames] steps that are done at each */
} modaltled_case;

/* modaltled_scene.c */
/* Reads mesh and scene and brings them together: nodes, laws, loads. */
modal_status modaltled_read(tool *t, const modaltled_request *r, modaltled_case *c, modal_error *err);
/* The critical step, the step, the frames. */
modal_status modaltled_plan(tool *t, const modaltled_request *r, modaltled_case *c, modal_error *err);
void modaltled_case_free(modaltled_case *c);

/* modaltled_run.c */
/* Moves the solid, writes every frame into the snapshots. After MODAL_ERROR_NOT_CONVERGED and MODAL_ERROR_INTERRUPTED the file is
 * whole, with *n_written frames, whose verdict is *quality. */
modal_status modaltled_run(tool *t, const modaltled_request *r, modaltled_case *c, modaltled_outputs *outputs,
                           int64_t *n_written, modal_quality_judgement *quality, modal_error *err);

#endif
