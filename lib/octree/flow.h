/* SPDX-License-Identifier: Apache-2.0 */
/* Liquid, what the surface takes up of it, and dirt that it carries, on the samples of an octree while the surface deforms
 * (kernels/surface_flow). World gravity is turned into each triangle's plane as it is deformed and taken back to rest coordinates, where the
 * samples are. Liquid is on one side of the surface; sides do not exchange any. Where the surface ends it stays. */
#ifndef MODAL_OCTREE_FLOW_H
#define MODAL_OCTREE_FLOW_H

#include "kernels/operations.h"
#include "lib/model/octree_atlas.h"
#include "lib/model/octree_flow.h"
#include "lib/octree/sheets.h"

/* Where liquid comes out of the surface: a kilogram a second over what lies within the radius, at rest, most in the middle,
 * (1 - d^2 / radius^2)^2. */
typedef struct modal_flow_source {
    double centre[3], radius; /* m, at rest */
    double rate;              /* kg/s */
} modal_flow_source;

typedef struct modal_flow_settings {
    double gravity[3];  /* m/s^2, in the world */
    double mobility;    /* s: liquid runs with mobility x (gravity along the surface), m/s */
    double rain;        /* kg/(m^2 s) on a plane across gravity; it falls on what faces up. Without gravity on all of the surface */
    double absorption;  /* 1/s of the liquid is taken up */
    double evaporation; /* 1/s of the liquid and of what was taken up */
    double film;        /* kg/m^2 of liquid with which half of the dirt moves along */
    int carries_dirt;
    int64_t n_sources;
    const modal_flow_source *sources;
} modal_flow_settings;

/* Zeroed, and `dirt` kg/m^2 on all of the surface where that is above 0. The caller frees it, also after an error. */
modal_status modal_flow_state_new(const modal_octree *octree, double dirt, modal_flow_state *state, modal_error *err);

/* Liquid and wetness, and dirt, of all samples, kg, summed in double. */
double modal_flow_liquid(const modal_flow_state *state);
double modal_flow_dirt(const modal_flow_state *state);

typedef struct modal_flow modal_flow;

/* Of an octree that has neighbours and areas, on an open device, beginning with `state`, which the flow works on from then on (borrowed,
 * as all of settings, rest positions [n_vertices, 3] and triangles are). Errors: MODAL_ERROR_INPUT for a source that reaches no
 * sample, with its number; MODAL_ERROR_MEMORY; those of the device. *flow is NULL after an error. */
modal_status modal_flow_new(modal_flow **flow, const modal_device *device, const modal_octree *octree, const double *rest, const int32_t *triangles,
                            const modal_flow_settings *settings, modal_flow_state *state, modal_error *err);
modal_flow *modal_flow_delete(modal_flow *flow); /* NULL is fine; returns NULL */

/* Goes on to `time`, with the surface as in positions [n_vertices, 3] m, world, in steps in which liquid goes half a lattice step at most.
 * Then state is what there is. *n_steps, *n_flat: steps, and triangles that are flat in this frame, without area at rest or pressed in some
 * direction to less than a hundredth of it, where nothing runs and no rain falls; either may be NULL. Errors: MODAL_ERROR_INPUT
 * where that is more than MODAL_FLOW_MOST_STEPS steps, or for positions that are not finite; those of the device. */
enum { MODAL_FLOW_MOST_STEPS = 100000 };
modal_status modal_flow_advance(modal_flow *flow, const float *positions, double time, int64_t *n_steps, int64_t *n_flat, modal_error *err);

/* Queues n more steps of dt s in `stream`, as the latest advance left the surface, and neither waits nor tells `state`, for benches. */
modal_status modal_flow_steps(modal_flow *flow, int64_t n, double dt, modal_stream *stream, modal_error *err);

/* How many pairs of a giver and a taker the latest steps had, for benches; 0 on a device that does not keep them. */
modal_status modal_flow_gifts(const modal_flow *flow, int64_t *n_gifts, modal_error *err);

/* How values are read at points of the surface: each from the corners of its cell that are on its sheet. */
typedef struct modal_flow_probe {
    int64_t n;
    int32_t *samples; /* [n, 8] */
    float *weights;   /* [n, 8] 1/m^2, 0 where there is no sample */
} modal_flow_probe;

/* At the vertices [n_vertices] of the surface, whose octree has areas; those of no triangle have no samples. The caller frees it, also after an error. */
modal_status modal_flow_probe_new(const modal_sheets *sheets, int64_t n_vertices, modal_flow_probe *probe, modal_error *err);
/* At what each row of an atlas shows. *n_lost counts rows that no sheet of the surface has; they have no samples. */
modal_status modal_flow_probe_texels(const modal_sheets *sheets, const modal_octree_atlas *atlas, modal_flow_probe *probe, int64_t *n_lost, modal_error *err);
void modal_flow_probe_free(modal_flow_probe *probe);

/* values [probe->n]: kg/m^2 of the surface at rest, of masses [n_samples] kg; `more` [n_samples] is added to them, or NULL. */
void modal_flow_read(const modal_flow_probe *probe, const float *masses, const float *more, float *values);

#endif
