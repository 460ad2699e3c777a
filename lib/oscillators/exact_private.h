/* SPDX-License-Identifier: Apache-2.0 */
/* What the exact motion is made of. Only for exact*.c: exact_build.c makes it, exact.c steps it. */
#ifndef MODAL_OSCILLATORS_EXACT_PRIVATE_H
#define MODAL_OSCILLATORS_EXACT_PRIVATE_H

#include "kernels/linear_step/linear_step.h"
#include "kernels/registry.h"
#include "lib/oscillators/exact.h"
#include "lib/oscillators/oscillator.h"

/* What one call of the kernel works with. Arrays on the device are made once, as large as they can be. */
typedef struct modal_exact_tables {
    modal_linear_step_task task;
    double *modes, *inputs, *signals; /* main memory */
} modal_exact_tables;

struct modal_exact {
    modal_device device;
    modal_stream *stream;
    const modal_basis *basis;
    const modal_spline *splines; /* [basis objects] */
    int32_t n;                   /* exact objects */
    int32_t *object;             /* [n] of the basis */
    int64_t *first_mode;         /* [n] of its modes in what is [modes] here; columns of equal objects are one object's */
    modal_linear_step_object *objects;
    double *poses;              /* [n, 12] */
    double *mass;                /* [n] */
    double *constant;            /* [modes] load */
    double *modal_mass, *lift;   /* [modes], [modes, 3] in world axes */
    double *halves;              /* [modes, 2] half a mode's mass, and half its mass times stiffness: its energies */
    const modal_step_pose *posed; /* where the frames of objects that stand still have been set */
    modal_oscillator *oscillators; /* [modes] */
    int64_t n_modes, n_inputs;
    modal_exact_input *inputs;   /* [n_inputs] lines, sines and accelerations; load is ours */
    int64_t n_impulses;
    modal_exact_input *impulses; /* [n_impulses] load is ours */
    int64_t *first_impulse;      /* [n + 1] */
    double *loads;               /* behind the inputs and impulses */
    double step;
    double *next_event;          /* [n] the first after the time that was stepped to */
    uint8_t *skip;               /* [n] */
    double *lost, *energy;       /* [n] of the last measure */
    double *fresh;               /* [n] scratch */
    modal_exact_tables whole, part;          /* whole steps of all objects; a part of a step of one object */
    double *part_state;          /* [2, most modes] */
    modal_transition *transitions; /* [most modes] of the object and step of modal_exact_columns' latest call */
    int64_t latest_mode;         /* its first mode; -1: there was none */
    int32_t latest_modes;        /* their number */
    double latest_step;
    double *anchors;             /* [modes], [modes] q and v at the last event of each object, or NULL: not wanted */
    double *anchor_times;        /* [n] */
    int32_t *since;              /* [n] steps since then, or since the state was made anew */
    double *unread;              /* on the device: what damping took from there, which is counted already */
    modal_linear_step_object *part_object, *d_objects;
    uint8_t *d_skip;
    void *owned[16];             /* on the device */
    int n_owned;
};

/* Columns of object i for a step of h, at `mode` of the tables, its inputs at `input`. */
void modal_exact_columns(modal_exact *exact, int32_t i, double h, modal_exact_tables *to, int64_t mode,
                         int64_t input);

/* Queues a copy to the device. */
modal_status modal_exact_copy_in(const modal_exact *exact, const void *to, const void *from, int64_t count,
                                 size_t bytes, modal_error *err);

#endif
