/* SPDX-License-Identifier: Apache-2.0 */
/* What a frame of a solid's motion says of itself, against what is known of errors (formats/trajectory.md, trajectory.md): volumes
 * of elements, hourglass control, added masses, rigid bodies, the balance of energies. In float64, same values for any number of
 * threads. */
#ifndef MODAL_TLED_QUALITY_H
#define MODAL_TLED_QUALITY_H

#include "lib/model/quality.h"
#include "lib/tled/motion.h"

typedef struct modal_tled_quality {
    const modal_tled_model *model; /* borrowed, like the scene */
    const modal_solid_scene *scene;
    int32_t *faces;    /* [n_faces, 4] of the boundary, corners of the solid, -1 the fourth of a triangle; where there are bodies */
    uint32_t *masks;   /* [n_faces] bit k: body k is kept off all corners of the face */
    int64_t n_faces;
    double mean_edge;  /* m, of these faces at rest */
    double added_mass; /* over the solid's */
} modal_tled_quality;

/* Before the model's masses become those of a relaxation. After an error it is zeroed. */
modal_status modal_tled_quality_new(const modal_tled_model *model, const modal_solid_scene *scene, modal_tled_quality *quality,
                                    modal_error *err);
void modal_tled_quality_free(modal_tled_quality *quality);

/* What is known at a frame. u [n_nodes, 3] m, the mesh's order, at `time`; energies [MODAL_TLED_ENERGIES] J of half a step before, or NULL, and then
 * no others and no sums of them. largest, largest_internal: J, the largest of the energies, and of the internal ones, up to this frame. */
typedef struct modal_tled_gauge {
    double time;
    const double *u, *energies;
    modal_tled_sums sums;
    double largest, largest_internal, added_kinetic;
} modal_tled_gauge;

modal_quality modal_tled_quality_of(const modal_tled_quality *quality, const modal_tled_gauge *gauge);

#endif
