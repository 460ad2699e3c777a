/* SPDX-License-Identifier: Apache-2.0 */
/* Units of length that files have, the consistent systems that go with them, and the way from there to SI. */
#ifndef MODAL_MESH_UNITS_H
#define MODAL_MESH_UNITS_H

#include "lib/model/volume_mesh.h"

/* A unit of length, and the force that its consistent system has beside the second. The other units follow:
 * mass = force s^2 / length, stress = force / length^2, density = mass / length^3. */
typedef struct modal_unit {
    const char *name;    /* "mm" */
    double metres;       /* a unit has so many */
    double newtons;      /* the unit of force has so many */
    const char *force, *mass, *stress; /* "N", "t", "MPa" */
} modal_unit;

enum { MODAL_UNITS = 6 };
extern const modal_unit modal_units[MODAL_UNITS]; /* the first is the metre */

/* By its name; NULL: none of that name. */
const modal_unit *modal_unit_find(const char *name);

double modal_unit_pascals(const modal_unit *unit);        /* of the unit of stress */
double modal_unit_density(const modal_unit *unit);        /* kg/m^3 of the unit of density */

/* Nodes from the unit into metres, times `scale`. Where the materials are in the mesh's units (Abaqus) they become SI,
 * which the scale does not change: a body made larger is of the same stuff. */
void modal_volume_mesh_to_metres(modal_volume_mesh *mesh, const modal_unit *unit, double scale);
/* The same for a surface. */
void modal_surface_mesh_to_metres(modal_surface_mesh *surface, const modal_unit *unit, double scale);

/* The box of n positions [n, 3]. With none, low is above high. */
void modal_find_box(const double *positions, int64_t n, double low[3], double high[3]);

#endif
