/* SPDX-License-Identifier: Apache-2.0 */
/* What a solid has in groups and attributes: the groups `materials`, and `groups`. Of a shape's
 * `volume` and of `/solid` of snapshots. A private header of the formats. */
#ifndef MODAL_FORMATS_BASIS_SOLID_H
#define MODAL_FORMATS_BASIS_SOLID_H

#include "formats/h5/findings.h"
#include "formats/h5/h5_util.h"
#include "lib/model/volume_mesh.h"

/* A text attribute that names one of the n values of an enumeration; an optional one that is absent
 * stands for the first. */
modal_status modal_basis_read_choice(const modal_h5_in *in, const modal_h5_place *place, const char *name,
                                     modal_h5_need need, int n, const char *const names[], int *choice);

/* The materials and groups below `place`; the mesh owns them, also after an error. Their values are not checked. */
modal_status modal_basis_read_materials(const modal_h5_in *in, const modal_h5_place *place, modal_volume_mesh *mesh);
modal_status modal_basis_read_groups(const modal_h5_in *in, const modal_h5_place *place, modal_volume_mesh *mesh);

modal_status modal_basis_write_materials(hid_t place, const modal_volume_mesh *mesh, modal_error *err);
modal_status modal_basis_write_groups(hid_t place, const modal_volume_mesh *mesh, modal_error *err);

/* The rules on indices of materials, groups, materials and fibres of a solid at `path`, for what is there; `fibres` is the path
 * of the elements' fibres. */
modal_status modal_basis_rules_solid(const modal_checker *checker, const char *path, const char *fibres, const modal_volume_mesh *mesh);

#endif
