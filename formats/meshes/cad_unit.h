/* SPDX-License-Identifier: Apache-2.0 */
/* The unit of length that a STEP or IGES file says it has. Geometry itself is read by Gmsh's library. */
#ifndef MODAL_FORMATS_CAD_UNIT_H
#define MODAL_FORMATS_CAD_UNIT_H

#include "lib/base/status.h"

enum { MODAL_CAD_UNIT = 64 };

/* Whether the path has an extension of STEP (.step, .stp), or of IGES (.iges, .igs). */
int modal_is_step(const char *path);
int modal_is_iges(const char *path);

/* Reads the file at `path`, one of the two kinds. `unit` becomes its name in small letters ("millimetre", "inch"), empty
 * where the file says none. STEP (ISO 10303-21): the LENGTH_UNIT of a GLOBAL_UNIT_ASSIGNED_CONTEXT; where contexts have
 * different ones, "millimetre and inch". IGES 5.3: fields 14 and 15 of the global section.
 * MODAL_ERROR_INPUT: no such file, one that is no STEP file by its first word, or an IGES file whose global section ends
 * early. */
modal_status modal_cad_unit(const char *path, char unit[MODAL_CAD_UNIT], modal_error *err);

#endif
