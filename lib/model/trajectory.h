/* SPDX-License-Identifier: Apache-2.0 */
/* What traj.h5 holds, in memory: the reduced coordinates of every object and frame, and the rigid
 * frames when objects move rigidly. Plain data; formats/trajectory.md is the specification. */
#ifndef MODAL_MODEL_TRAJECTORY_H
#define MODAL_MODEL_TRAJECTORY_H

#include <stdint.h>

#include "lib/base/hash.h"
#include "lib/base/status.h"
#include "lib/model/basis.h"
#include "lib/model/quality.h"

typedef struct modal_trajectory {
    int64_t n_frames;
    double *times; /* [n_frames] s, strictly increasing */
    int32_t n_objects;
    int64_t *mode_offsets; /* [n_objects + 1], as modal_basis_mode_offsets gives them */
    double *q;             /* [n_frames, mode_offsets[n_objects]] sqrt(kg) m */
    double *q_velocities;  /* as q, sqrt(kg) m/s, or NULL: not kept */
    double *pose_velocities; /* as poses, 1/s and m/s, with q_velocities where there are poses; else NULL */
    double *poses;        /* [n_frames, n_objects, 3, 4] [R p], or NULL: the rest poses; the file's frames */
    uint8_t *still;       /* [n_objects] nonzero: its pose is the same in all frames and lies in the file once; NULL: none. Needs poses */
    double *energy;        /* [n_frames, 4] J, or NULL: kinetic, elastic, dissipated and external work up to
                              the frame, of all objects */
    modal_quality *quality; /* [n_frames], or NULL: how far each frame may be trusted */
    uint8_t *basis_bytes;  /* [n_basis_bytes] the file of its basis, where the trajectory carries it; or NULL */
    int64_t n_basis_bytes;
    char *basis_path;      /* as stored in the link: relative to the trajectory's folder, or absolute */
    char basis_hash[MODAL_HASH_TEXT];
    char basis_recipe[MODAL_HASH_TEXT]; /* recipe_hash of the basis; empty: not known */
    double *rebase_errors; /* [n_objects] carried over from another basis: the largest error of each object's motion,
                              relative in the norm of the mass matrix; or NULL */
    double *projection_errors; /* [n_frames, 4] projected from snapshots of the whole solid: |u - U q| and |u| in the norm of the mass
                              matrix, kg^1/2 m, and the largest |u - U q| and |u| of a node, m; or NULL */
    uint8_t *models;       /* [n_objects] what moved each: 0 the linear model, 1 St. Venant-Kirchhoff's; NULL: all
                              linear, or not known */
    int32_t n_provenance;
    modal_provenance *provenance;
} modal_trajectory;

/* Frees everything inside and zeroes the struct; a zeroed struct is fine. */
void modal_trajectory_free(modal_trajectory *trajectory);

/* MODAL_ERROR_INPUT unless the trajectory was made for this basis: equal hash, equal number of
 * objects, equal mode offsets. Where the hashes differ and the recipes agree, the message says what carries it over. */
modal_status modal_trajectory_check_basis(const modal_trajectory *trajectory,
                                          const modal_basis *basis, modal_error *err);

#endif
