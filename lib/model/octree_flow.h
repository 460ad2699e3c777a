/* SPDX-License-Identifier: Apache-2.0 */
/* Liquid and dirt on the samples of an octree texture at a time: what a flow goes on from. */
#ifndef MODAL_MODEL_OCTREE_FLOW_H
#define MODAL_MODEL_OCTREE_FLOW_H

#include <stdint.h>

/* Arrays [n_samples] kg each, and what came and went, kg: liquid + wetness = initial + added - evaporated. */
typedef struct modal_flow_state {
    int64_t n_samples; /* 0: there is none */
    float *liquid;     /* that runs */
    float *wetness;    /* that the surface has taken up */
    float *dirt;       /* NULL: none */
    double time;       /* s */
    double initial, added, evaporated, initial_dirt;
    char *trajectory_hash, *settings; /* of the motion; a line "name value" each. NULL: not known */
} modal_flow_state;

/* Frees everything inside and zeroes the struct; a zeroed struct is fine. */
void modal_flow_state_free(modal_flow_state *state);

#endif
