/* SPDX-License-Identifier: Apache-2.0 */
/* How far a frame of a motion may be trusted, in numbers, and the verdict on these. Plain data: lib/forest measures it, files
 * hold it. */
#ifndef MODAL_MODEL_QUALITY_H
#define MODAL_MODEL_QUALITY_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* One frame. Every member is a double, so that an array [n_frames] of these is one of float64 [n_frames,
 * MODAL_QUALITY_NUMBERS]. NaN: not measured, or there is nothing of that kind in the scene. Numbers of objects and
 * elements count from 0. Of several objects (trees of objects for the balance and the step's error) the worst. What
 * concerns steps is of those since the frame before, and at t = 0 NaN or 0. */
typedef struct modal_quality {
    double energy_balance;  /* size of kinetic + elastic + dissipated - external energy, less what it was at t = 0, over
                               the work done so far (lib/forest/judge.h) */
    double step_error;      /* the largest local error of a step over the way moved so far (lib/forest/judge.h) */
    double step_drift;      /* what the errors of steps have added up to, over that way (lib/forest/drift.h) */
    double halvings;        /* judgements and failures of Newton's method that made steps shorter */
    double newton_residual; /* the largest of the last step's residuals, relative */
    double least_jacobian;  /* the least det F */
    double least_jacobian_object, least_jacobian_element;
    double residual;        /* of the elastic forces of the whole mesh what the basis cannot balance: the root of the energy that
                               they would give off outside of the basis (modal_left_out), over that of the deformation; of linear
                               objects of their linear forces */
    double residual_object;
    double load_left_out;   /* of what the loads would move by themselves, as far as is known, the part that the basis has not:
                               slow motions beside it (modal_left_out), over these and its modes, in the norm of the mass; of trees
                               of several objects also in that of the energy, whichever is more */
    double load_left_out_object;
    double rotation;        /* of objects whose model is linear: the largest rotation, degrees */
    double rotation_object;
    double strain;          /* and the largest principal strain by size, dimensionless */
    double strain_object;
    double projected;       /* of a motion that was carried over from another basis: |U q - U' q'| / |U q| in the norm of
                               the mass (formats/trajectory.md) */
    double projected_object;
    double projected_node;  /* projected from snapshots: the largest error of a node, over the largest displacement of all frames */
    /* of a whole solid (lib/tled/quality.h): */
    double min_volume_ratio, min_volume_ratio_element; /* volume of an element over that at rest: det F at its point */
    double max_volume_ratio, max_volume_ratio_element;
    double bad_elements;    /* share of the elements whose ratio is outside of MODAL_QUALITY_BAD_BELOW .. MODAL_QUALITY_BAD_ABOVE */
    double hourglass;       /* energy that hourglass control stores, over the internal energy, both the largest up to the frame */
    double locking;         /* energy of tetrahedra that lock, nu >= MODAL_NEARLY_INCOMPRESSIBLE without nodal pressures, over the same */
    double added_mass;      /* mass that mass scaling has added, over the solid's */
    double added_kinetic;   /* kinetic energy of that mass, over the largest energy up to the frame */
    double penetration;     /* how deep the solid's surface is in a rigid body, over the body's radius; of planes over the mean edge */
    double not_judged;      /* 0: all that the motion needs was measured; else a sum of modal_missing, of what could not be. NaN: it is not
                               known what that is */
} modal_quality;

/* What could not be measured. */
typedef enum modal_missing {
    MODAL_MISSING_LOADS = 1,  /* what the basis leaves out of loads: load_left_out */
    MODAL_MISSING_FORCES = 2, /* what it leaves out of elastic forces: residual */
    MODAL_MISSING_SOLIDS = 4, /* how strongly solids are deformed: least_jacobian, and of linear ones rotation and strain */
    MODAL_MISSING_ENERGIES = 8, /* of a complete solid: its energies, by which hourglass control, locking and the balance are judged */
    MODAL_MISSING_ALL = 16    /* nobody has said what was measured */
} modal_missing;

#define MODAL_QUALITY_BAD_BELOW 0.5
#define MODAL_QUALITY_BAD_ABOVE 2.0

enum { MODAL_QUALITY_NUMBERS = (int)(sizeof(modal_quality) / sizeof(double)) };

/* Their names, in the order of the members. */
#define MODAL_QUALITY_NAMES                                                                                       \
    {"energy_balance", "step_error", "phase_error", "step_reductions", "newton_residual", "min_jacobian",        \
     "min_jacobian_object", "min_jacobian_element", "force_truncation", "force_truncation_object", "load_truncation", \
     "load_truncation_object", "rotation", "rotation_object", "strain", "strain_object", "projected", "projected_object",     \
     "projected_node", "min_volume_ratio", "min_volume_ratio_element", "max_volume_ratio",                        \
     "max_volume_ratio_element", "bad_elements", "hourglass", "locking", "added_mass", "added_kinetic", "penetration", \
     "not_judged"}

/* Nothing is measured. */
static inline modal_quality modal_quality_none(void)
{
    double values[MODAL_QUALITY_NUMBERS];
    modal_quality q;
    for (int i = 0; i < MODAL_QUALITY_NUMBERS; i++) values[i] = NAN;
    memcpy(&q, values, sizeof q);
    return q;
}

/* ---- the verdict ---- */

/* "ok": everything that the motion needs was measured and is within the limits. */
typedef enum modal_verdict { MODAL_NOT_JUDGED, MODAL_SOUND, MODAL_DOUBTFUL, MODAL_WRONG } modal_verdict;
extern const char *const modal_verdicts[4]; /* in words */

enum { MODAL_QUALITY_MEASURES = 18, MODAL_QUALITY_TEXT = 512 };

typedef struct modal_quality_measure {
    const char *name;
    int column, object, element; /* numbers of members of a modal_quality; the last two: where it is, or -1 */
    int low;                     /* nonzero: the small values are the bad ones */
    double doubtful, wrong;      /* past the first: doubtful; past the second (or at it, where low): wrong */
    const char *unit, *advice;
} modal_quality_measure;
extern const modal_quality_measure modal_quality_measures[MODAL_QUALITY_MEASURES]; /* formats/trajectory.md */

typedef struct modal_quality_finding { /* of a measure, over frames; all but the verdict only where it was measured */
    modal_verdict verdict; /* MODAL_NOT_JUDGED: it was not measured */
    double worst, time;             /* s, of the worst */
    int64_t frame, object, element; /* of the worst; -1: not known */
    int64_t n_past, first, last;    /* frames past the first limit */
} modal_quality_finding;

typedef struct modal_quality_judgement {
    modal_verdict verdict; /* the worst of all; MODAL_NOT_JUDGED where none is past a limit, and something is missing or there is no frame */
    unsigned missing;      /* a sum of modal_missing, of all frames */
    int64_t n_frames;
    const char *assumed_material; /* set by the caller, who keeps it: the material was assumed, which is no part of the verdict; NULL: it was given */
    modal_quality_finding of[MODAL_QUALITY_MEASURES];
} modal_quality_judgement;

/* The verdict on one frame; *measure is what it is for, -1: none. */
modal_verdict modal_quality_verdict(const modal_quality *row, int *measure);

/* Adds a frame, at `time` s, to a judgement, which is zeroed at first. row NULL: nothing of it was measured. */
void modal_quality_judge(modal_quality_judgement *judgement, int64_t frame, double time, const modal_quality *row);

/* What was found of a measure, in words: "force_truncation 0.3 in frame 7 (0.7 s), object 2; the limit is 0.1, ...: try ...". Cut to `bytes`,
 * of which MODAL_QUALITY_TEXT are enough. */
void modal_quality_text(const modal_quality_judgement *judgement, int measure, char *text, size_t bytes);

/* What is missing of a judgement, in words: "what the basis leaves out of the loads was not measured: ...", or "". */
void modal_quality_missing_text(unsigned missing, char *text, size_t bytes);

#endif
