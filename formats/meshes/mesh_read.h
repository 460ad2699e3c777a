/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the volume meshes that users hand over. meshes.md says what is accepted. */
#ifndef MODAL_FORMATS_MESH_READ_H
#define MODAL_FORMATS_MESH_READ_H

#include "lib/base/status.h"
#include "lib/model/volume_mesh.h"

/* Reads a Gmsh file (.msh 2.2 or 4.1, text or little-endian binary), a VegaFEM file (.veg), an Abaqus
 * or CalculiX input file (.inp), a Medit file (.mesh, text), TetGen's pair of files (.node and .ele,
 * either path stands for both) or an unstructured grid of VTK's (.vtk, .vtu) with elements of the types
 * of lib/model/element.h, and puts their nodes into the order given there. A file that begins with $ is
 * Gmsh's, with "# vtk DataFile" or < VTK's, with MeshVersionFormatted Medit's; the others go by their
 * extension, and one whose first line that is no comment begins with * is else VegaFEM's; everything
 * else is refused.
 *
 * `mesh` is overwritten, so it must hold nothing; the caller owns the result and gives it to
 * modal_volume_mesh_free. Every array is allocated, empty ones too. Coordinates are as in the file
 * (m by this project's convention), nodes and elements in the file's order with the file's numbers
 * as tags.
 *   Gmsh: groups are the physical groups, by ascending dimension and number; one without a name is
 *   called by its number. A named group without elements is kept, empty. No materials;
 *   element_material is -1.
 *   Abaqus: groups are the sets, in their order, tag -1; a set of elements of several dimensions is a
 *   group for each. Materials where every element has one that is isotropic and has a density: as in the file, in
 *   the units that go with its coordinates (materials_in_mesh_units).
 *   Medit, TetGen, VTK: groups are the references, markers and numbers of cells other than 0, named by
 *   their number. VTK's nodes and elements are numbered from 0.
 *   VegaFEM: groups are the *SET sections in their order, tag -1. Where the file has materials,
 *   every element has one; where it has none, element_material is -1.
 *
 * Errors: MODAL_ERROR_INPUT for a missing or empty file, a folder, and any content that breaks the
 * rules of meshes.md, with `FILE:LINE:` or `FILE: byte OFFSET:` in front; MODAL_ERROR_SYSTEM for a
 * file that exists and cannot be read; MODAL_ERROR_MEMORY. The mesh is empty (zeroed) after one.
 * Volumes, orientation and unused nodes are not looked at: that is lib/mesh's work.
 * Thread-safe. */
modal_status modal_mesh_read(const char *path, modal_volume_mesh *mesh, modal_error *err);

/* Whether the path has an extension of a volume mesh. */
int modal_mesh_is_named(const char *path);

#endif
