/* SPDX-License-Identifier: Apache-2.0 */
/* What a scene of one solid says: its steps and frames, laws, and what acts on which nodes when. Plain data;
 * formats/solid_scene.md is the specification, formats/json/solid_scene.h reads it. SI units. */
#ifndef MODAL_MODEL_SOLID_SCENE_H
#define MODAL_MODEL_SOLID_SCENE_H

#include "lib/model/scene.h"

typedef enum modal_solid_action_kind {
    MODAL_SOLID_FORCE,
    MODAL_SOLID_PRESSURE,
    MODAL_SOLID_DISPLACEMENT,
    MODAL_SOLID_PROBE,
    MODAL_SOLID_ACTIONS
} modal_solid_action_kind;

/* One item of a list. */
typedef struct modal_solid_action {
    modal_solid_action_kind kind;
    int32_t place, line; /* in its list, of its text; for messages */
    char *nodes;         /* what it acts on, as the scene says it; NULL: `rows` */
    char *name;          /* of a probe */
    double vector[3];    /* N, m, or Pa in the first */
    uint8_t components;  /* of a displacement: 1 x, 2 y, 4 z, added */
    int each, follows;
    int64_t n_rows; /* a force's file: numbers of nodes and forces */
    double *tags, *rows; /* [n_rows], [n_rows, 3] */
    modal_curve curve;
} modal_solid_action;

typedef enum modal_solid_contact_kind { MODAL_SOLID_PLANE, MODAL_SOLID_SPHERE, MODAL_SOLID_CAPSULE } modal_solid_contact_kind;

enum { MODAL_SOLID_CONTACTS = 32 };

/* A rigid body of "contacts". */
typedef struct modal_solid_contact {
    modal_solid_contact_kind kind;
    int32_t place, line;
    char *name;        /* of its probe */
    char *nodes;       /* who touches it, or NULL: the boundary */
    double at[6];      /* m: a point of the plane; the centre; the ends of the axis */
    double normal[3];  /* unit vector out of a plane's body */
    double radius;     /* m */
    int64_t n_keys;
    double *keys; /* [n_keys, 4] s and what is added to `at`, m; straight lines between, the first and the last one hold */
} modal_solid_contact;

/* The keys of "forces" and so on. */
extern const char *const modal_solid_lists[MODAL_SOLID_ACTIONS];

typedef struct modal_solid_scene {
    int32_t step_line, frames_line, scaled_line; /* of its text: step; what says the frames, or duration until steady; mass_scaling. For messages */
    double step; /* s; 0: "auto" */
    int64_t n_steps; /* 0: by duration */
    double duration, fps;
    int64_t every, n_at; /* 0: none */
    int64_t *at; /* [n_at] */
    char *model; /* of all, or NULL: the default */
    int32_t n_models;
    char **model_groups, **models; /* [n_models] */
    int32_t *model_lines;          /* [n_models] */
    int nodal_pressure, mean_patches; /* not both */
    int hex8_centre;         /* 1: hex8_gradients "centre" */
    double hourglass, alpha; /* hourglass below 0: not said */
    int steady;              /* 1: until steady, `duration` at most */
    double accuracy;         /* of the largest displacement, where steady */
    double scaled_step, scaled_limit; /* mass_scaling: s, 0: none; share of the solid's mass */
    double gravity[3];
    modal_curve gravity_curve;
    int32_t n_actions;
    modal_solid_action *actions; /* [n_actions] list after list, in their order */
    int32_t n_contacts;
    modal_solid_contact *contacts; /* [n_contacts] */
    int32_t n_files;
    char **files; /* [n_files] that were read for it, for provenance */
} modal_solid_scene;

/* Frees everything inside and zeroes; a zeroed struct is fine. */
void modal_solid_scene_free(modal_solid_scene *scene);

#endif
