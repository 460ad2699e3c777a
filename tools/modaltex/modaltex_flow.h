/* SPDX-License-Identifier: Apache-2.0 */
/* modaltex flow: what is asked for, what is read, what is written. */
#ifndef TOOLS_MODALTEX_FLOW_H
#define TOOLS_MODALTEX_FLOW_H

#include <pthread.h>

#include "formats/octree/octree_h5.h"
#include "formats/sequences/sequence.h"
#include "kernels/registry.h"
#include "lib/octree/flow.h"
#include "tools/common/slice.h"
#include "tools/common/tool.h"

typedef struct modaltex_flow_request {
    const char *trajectory, *texture, *folder, *basis;
    const char *checkpoint, *restart, *last; /* or NULL; last: the texture of the last frame */
    const char *images; /* "wetness" or "dirt"; NULL: none */
    double range[2];    /* kg/m^2 that are black and white in them */
    int64_t object, checkpoint_every;
    tool_slice frames;
    int force, threads;
    double dirt; /* kg/m^2 at first */
    modal_flow_settings settings;
    modal_flow_source *sources;
    modal_device device;
} modaltex_flow_request;

typedef struct modaltex_flow_input {
    modal_trajectory trajectory;
    modal_basis basis;
    char *basis_path, trajectory_hash[MODAL_HASH_TEXT];
    char *inputs; /* lines of the provenance */
    int64_t inputs_used, inputs_room;
    int64_t n_points, n_triangles, *triangles; /* of all objects */
    int64_t first_point;                       /* of the object on which it flows */
    int64_t start, step, n;                    /* frames of the trajectory */
    double *times;                             /* [n] s */
    modal_surface_mesh surface;                /* of the object's shape, at rest */
    modal_octree_file file;
    modal_flow_probe probe, texels; /* of vertices; of what the atlas's texels show */
    int64_t n_lost;                 /* of the latter without a place on the surface */
    modal_flow_state state;
} modaltex_flow_input;

enum { MODALTEX_FLOW_OUTPUTS = 3 };

typedef struct modaltex_flow_output {
    int folder_made, complete;
    tool_output files[MODALTEX_FLOW_OUTPUTS]; /* sequence, sidecar, manifest */
    tool_output last, checkpoint, images;
    char *images_path;
    char *paths[MODALTEX_FLOW_OUTPUTS];
    void *writer;
} modaltex_flow_output;

/* ---- modaltex_flow_inputs.c ---- */

modal_status modaltex_flow_read(tool *t, const modaltex_flow_request *r, modaltex_flow_input *in, modal_error *err);
void modaltex_flow_free(modaltex_flow_input *in);

/* ---- modaltex_flow_images.c ---- */

typedef struct modaltex_flow_images modaltex_flow_images;

/* Of the atlas of the input's texture, into `folder`, which is borrowed as the input is. */
modal_status modaltex_flow_images_new(modaltex_flow_images **images, const modaltex_flow_request *r, const modaltex_flow_input *in, const char *folder,
                                      modal_error *err);
/* Takes the next frame: masses and `more` (or NULL) [n_samples] kg. */
modal_status modaltex_flow_images_add(modaltex_flow_images *images, const float *masses, const float *more, modal_error *err);
/* Writes what is held. */
modal_status modaltex_flow_images_flush(modaltex_flow_images *images, modal_error *err);
double modaltex_flow_images_processor(const modaltex_flow_images *images); /* s of processor time that writing took so far */
modaltex_flow_images *modaltex_flow_images_delete(modaltex_flow_images *images); /* NULL is fine; returns NULL */

/* ---- modaltex_flow_frames.c ---- */

modal_status modaltex_flow_begin(const modaltex_flow_request *r, modaltex_flow_output *out, modal_error *err);
modal_status modaltex_flow_run(tool *t, const modaltex_flow_request *r, modaltex_flow_input *in, modaltex_flow_output *out, modal_error *err);
void modaltex_flow_end(const modaltex_flow_request *r, modaltex_flow_output *out, modal_error *err);

#endif
