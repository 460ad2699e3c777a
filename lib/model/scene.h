/* SPDX-License-Identifier: Apache-2.0 */
/* What a scene says: the objects of a basis, how they move, and what acts on them when. Plain data;
 * formats/scene.md is the specification, formats/json/scene.h reads it. SI units. */
#ifndef MODAL_MODEL_SCENE_H
#define MODAL_MODEL_SCENE_H

#include <stdint.h>

#include "lib/base/status.h"

/* Limits of a motion, whether a scene says it or options do. */
#define MODAL_SCENE_DURATION 1e9   /* s, at most */
#define MODAL_SCENE_LEAST_FPS 1e-9 /* 1/s */
#define MODAL_SCENE_MOST_FPS 1e9
#define MODAL_SCENE_DAMPING 1e12 /* Rayleigh's alpha in 1/s and beta in s, at most */
#define MODAL_SCENE_RATIO 1e6    /* of the critical damping, at most */

/* A factor over time. */
typedef enum modal_curve_kind {
    MODAL_CURVE_CONSTANT, /* 1 */
    MODAL_CURVE_KEYS,     /* straight lines between the keys, 0 before the first and after the last */
    MODAL_CURVE_SINE,     /* sin(2 pi frequency t + phase) */
    MODAL_CURVE_SWEEP,    /* a sine whose frequency goes linearly from..to in [start, end], 0 outside */
    MODAL_CURVE_PULSE,    /* an impulse at `start` */
    MODAL_CURVE_SMOOTH    /* 10 s^3 - 15 s^4 + 6 s^5 of s = (t - start) / (end - start), 0 before, 1 after; of solid scenes alone */
} modal_curve_kind;

typedef struct modal_curve {
    modal_curve_kind kind;
    int64_t n_keys;
    double *times, *values; /* [n_keys] times increase */
    double frequency, phase, from, to, start, end;
} modal_curve;

/* The value at `time` of the piece of the curve, between two keys, or inside a sweep or outside of it, that the time
 * `near` lies in: where the curve jumps the limit from that side. 0 for a pulse. */
double modal_curve_value(const modal_curve *curve, double time, double near);

/* 0 if the curve is 0 throughout [0, end], s, so that what it multiplies acts at no time. end 0: the value at 0. A pulse at `end` acts too late. */
int modal_curve_acts(const modal_curve *curve, double end);
/* The value of the last key if the curve drops from it to 0 in [0, end), and it is more than a tenth of the largest; else 0. */
double modal_curve_drop(const modal_curve *curve, double end);

typedef enum modal_scene_motion {
    MODAL_SCENE_DEFAULT, /* attached where the basis gives a parent, else fixed */
    MODAL_SCENE_FIXED,
    MODAL_SCENE_FREE,
    MODAL_SCENE_ATTACHED,
    MODAL_SCENE_SPIN, /* turns about an axis at a constant rate */
    MODAL_SCENE_KEYS  /* cubic splines through keys */
} modal_scene_motion;

typedef struct modal_scene_object {
    int32_t object;
    int32_t place, line;              /* in the scene's list, of its text; for messages */
    modal_scene_motion motion;
    int model;                        /* -1: the scene's; 0 linear, 1 StVK */
    int has_damping, has_pose;
    double alpha, beta, ratio;
    int tangent;                      /* beta's stiffness is the tangent one */
    double position[3], rotation[3];  /* has_frame: p, and a rotation vector in rad */
    double velocity[3], spin[3];      /* free: m/s, and rad/s in world axes */
    double axis[3], centre[3], rate;  /* MODAL_SCENE_SPIN: unit axis, a point of it, rad/s */
    int64_t n_keys;
    double *keys;                     /* [n_keys, 7] t, p, rotation vector */
    int has_charge;
    double charge;                    /* instead of its mass, in the attraction */
    int32_t n_initial, n_initial_velocity; /* 0, or r */
    double *initial, *initial_velocity;
} modal_scene_object;

typedef struct modal_scene_force {
    int32_t object;
    int32_t place, line; /* in the scene's list of forces or impulses, of its text; for messages */
    int64_t vertex;   /* the user's, or -1 */
    char *group;      /* or NULL */
    double point[3];  /* the nearest vertex, where there is neither */
    double vector[3]; /* N, or N s for a pulse; world axes; the total of a group */
    double phase;     /* rad, in a response alone */
    modal_curve curve;
} modal_scene_force;

/* The ground that everything is seen from moves: a load of - acceleration on every mass. */
typedef struct modal_scene_shaking {
    double acceleration[3]; /* m/s^2, world axes */
    modal_curve curve;
} modal_scene_shaking;

typedef struct modal_wind {
    int given;
    double velocity[3];           /* m/s */
    double turbulence, scale;     /* m/s, standard deviation of each component; m, the largest eddies */
    double density, drag;         /* kg/m^3; coefficient */
    uint64_t seed;
} modal_wind;

/* Between the centres of free objects: strength w_i w_j d / (|d|^2 + softening^2)^(3/2), w masses or charges. */
typedef struct modal_scene_attraction {
    int given;
    double strength, softening; /* N m^2 over the square of the weights' unit; m */
} modal_scene_attraction;

typedef enum modal_scene_integrator {
    MODAL_SCENE_AUTO,    /* exact where it can be, generalized-alpha for the rest */
    MODAL_SCENE_ALPHA,   /* generalized-alpha for all */
    MODAL_SCENE_NEWMARK, /* Newmark's rule for all */
    MODAL_SCENE_ENERGY   /* exact where it can be, the average vector field for the rest */
} modal_scene_integrator;

/* The steady state under loads that all go as cos(2 pi f t + phase): forces without curves, and this. */
typedef struct modal_scene_response {
    int given;
    double from, to;            /* f, Hz */
    int64_t n_points;           /* equally spaced; 1: `from` alone */
    int peaks;                  /* nonzero: and around the natural frequencies between */
    double acceleration[3];     /* amplitude of the supports' acceleration, m/s^2 */
    double acceleration_phase[3]; /* rad */
    int32_t n_probes;
    modal_scene_force *probes;  /* [n_probes] vertices or points: no group, vector or curve; 0: every q */
} modal_scene_response;

typedef struct modal_scene {
    double duration, fps, step; /* step 0: a frame */
    int stvk;                   /* model */
    modal_scene_integrator integrator;
    double spectral_radius; /* of generalized-alpha at infinity */
    int start_static;
    double balance; /* of energies, and of a step's error: what is still right */
    double tolerance; /* of Newton's method */
    int32_t most_iterations, most_halvings;
    double alpha, beta, ratio;
    int tangent;                 /* beta's stiffness is the tangent one */
    double gravity[3];
    modal_wind wind;
    modal_scene_attraction attraction;
    int32_t n_objects;
    modal_scene_object *objects; /* [n_objects] by ascending object, each once */
    int32_t n_forces;
    modal_scene_force *forces;
    int32_t n_shakings;
    modal_scene_shaking *shakings;
    modal_scene_response response; /* where given, nothing moves in time */
    int32_t n_files;
    char **files;                /* [n_files] CSV files that were read, for provenance */
} modal_scene;

/* What holds where a scene says nothing. */
modal_scene modal_scene_default(void);

/* Adds the ground's acceleration, m/s^2 in the axes of the world, values [n, 3] at times [n] that increase. */
modal_status modal_scene_add_record(modal_scene *scene, int64_t n, const double *times, const double *values, modal_error *err);

/* The number of frames at t = i / fps, i = 0 .. floor(duration fps + 1e-9), for duration >= 0 and
 * fps > 0, both finite; -1 where there are more than 2^31. */
int64_t modal_scene_frame_count(double duration, double fps);

void modal_scene_free(modal_scene *scene);

#endif
