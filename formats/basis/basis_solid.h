/* SPDX-License-Identifier: Apache-2.0 */
/* What a shape's solid has in groups and attributes. A private header of the format. */
#ifndef MODAL_FORMATS_BASIS_SOLID_H
#define MODAL_FORMATS_BASIS_SOLID_H

#include "formats/h5/h5_util.h"
#include "lib/model/volume_mesh.h"

/* A text attribute that names one of the n values of an enumeration; an optional one that is absent
 * stands for the first. */
modal_status modal_basis_read_choice(const modal_h5_in *in, const modal_h5_place *place, const char *name,
                                     modal_h5_need need, int n, const char *const names[], int *choice);

/* The materials and groups of the group `volume`; the mesh owns them, also after an error. */
modal_status modal_basis_read_materials(const modal_h5_in *in, const modal_h5_place *volume, modal_volume_mesh *mesh);
modal_status modal_basis_read_groups(const modal_h5_in *in, const modal_h5_place *volume, modal_volume_mesh *mesh);

#endif
