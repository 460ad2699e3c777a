/* SPDX-License-Identifier: Apache-2.0 */
/* The closed parts of a surface and which lies in which: solids and their cavities. */
#ifndef MODAL_MESH_SHELLS_H
#define MODAL_MESH_SHELLS_H

#include "lib/model/volume_mesh.h"

typedef struct modal_shells {
    int32_t n, n_cavities;
    int32_t *shell; /* [n_triangles] shell of each triangle */
    int32_t *outer; /* [n] the shell that a cavity is in; itself for one that bounds a solid from outside */
    double volume;  /* m^3 of all solids without their cavities */
} modal_shells;

/* For a surface that modal_surface_is_sound. A shell within an odd number of others is a cavity of the
 * smallest of them, whatever way it faces. MODAL_ERROR_INPUT for more than 1000 shells. O(n) for one
 * shell, O(n shells) for more. */
modal_status modal_shells_find(const modal_surface_mesh *surface, modal_shells *shells, modal_error *err);
void modal_shells_free(modal_shells *shells);

/* The solid angle of a triangle seen from the origin, sr, positive if its front faces away. The sum over a closed surface is 4 pi if the
 * origin is inside and 0 if it is outside. Source: A. van Oosterom, J. Strackee, "The Solid Angle of a Plane Triangle", 1983. */
double modal_solid_angle(const double a[3], const double b[3], const double c[3]);

#endif
