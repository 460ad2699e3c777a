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

/* The unit that a number was probably meant in, and what it is then in SI. */
typedef struct modal_unit_meant {
    const char *unit;         /* "t/mm^3"; NULL: no usual unit makes it plausible */
    double value;             /* kg/m^3 or Pa */
    const modal_unit *system; /* the consistent system (modal_units) that has this unit, or NULL */
} modal_unit_meant;

/* 1 if no solid has this density, kg/m^3: below 1 (the lightest aerogels and foams weigh about 1) or above 25,000 (osmium 22,600). */
int modal_density_is_doubtful(double density, modal_unit_meant *meant);
/* 1 if no solid of this density, kg/m^3, has this Young's modulus, Pa: below 10 Pa (the softest gels), above 1.3e12 Pa (diamond 1.2e12), a
 * speed of sound sqrt(E / rho) above 30,000 m/s (pitch-based carbon fibres 21,000; K. Trachenko and others, "Speed of sound from fundamental
 * physical constants", 2020, bound it by 36,000), or below 1e6 Pa above 2,000 kg/m^3: gels, tissue, foams and rubber are lighter. A density
 * that is doubtful bounds nothing. */
int modal_young_is_doubtful(double young, double density, modal_unit_meant *meant);

/* The box of n positions [n, 3]. With none, low is above high. */
void modal_find_box(const double *positions, int64_t n, double low[3], double high[3]);

#endif
