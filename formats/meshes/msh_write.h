/* SPDX-License-Identifier: Apache-2.0 */
/* Writes volume meshes as Gmsh files of version 4.1. */
#ifndef MODAL_FORMATS_MSH_WRITE_H
#define MODAL_FORMATS_MSH_WRITE_H

#include "lib/base/status.h"
#include "lib/model/volume_mesh.h"

/* Writes nodes, elements and groups, little-endian binary or text (17 digits), so that modal_mesh_read
 * gives the same mesh again: order, numbers (all are raised by 1 where one is 0), elements, groups with
 * their nodes, elements and names. Materials are not written: the format has none.
 *   - A volume group becomes a physical group; elements of the same groups share an entity.
 *   - Of a surface group the mesh knows the nodes: it is written as the faces of elements that have
 *     nodes of the group only, those of the boundary first, others only where they bring nodes that
 *     those lack. Line groups likewise, as edges.
 *   - A point group, and nodes that no face or edge brought, are written as points; the latter become a
 *     point group of the same name.
 *   - A group keeps its tag; one without a tag, or with one that an earlier group of its dimension
 *     has, gets the lowest number that is free. Quotes in names become apostrophes.
 * `path` is overwritten. MODAL_ERROR_SYSTEM where it cannot be written; MODAL_ERROR_MEMORY. */
modal_status modal_msh_write(const char *path, const modal_volume_mesh *mesh, int is_binary,
                             modal_error *err);

#endif
