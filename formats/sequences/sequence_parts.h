/* SPDX-License-Identifier: Apache-2.0 */
/* What the writer, the sidecar and the checker of a sequence know together: names and rules. Private
 * to formats/sequences/sequence_*.c. */
#ifndef MODAL_FORMATS_SEQUENCE_PARTS_H
#define MODAL_FORMATS_SEQUENCE_PARTS_H

#include <stdint.h>

#include "formats/h5/h5_util.h"
#include "formats/sequences/sequence_vtkhdf.h"

#define MODAL_SEQUENCE_TYPE "sequence"
#define MODAL_SEQUENCE_VERSION_TEXT "1.0"
enum { MODAL_SEQUENCE_MAJOR = 1 };

/* The four kinds of cells of a PolyData; only the third one is used. */
enum { SEQUENCE_POLYGONS = 2, SEQUENCE_TOPOLOGIES = 4 }; /* a solid has one kind */
extern const char *const modal_sequence_topologies[SEQUENCE_TOPOLOGIES];

/* Writes all but views and moving arrays, and leaves /VTKHDF open for these. */
modal_status modal_sequence_write_head(hid_t file, hid_t *vtk, const modal_sequence_info *info,
                                       modal_error *err);

/* ---- sequence_arrays.c ---- */

enum { MODAL_SEQUENCE_LABEL = MODAL_ARRAY_NAME + 16, MODAL_SEQUENCE_PATH = MODAL_ARRAY_NAME + 32 };
/* How PLY (a property) or CSV (a column) calls a component of an array of points. */
void modal_sequence_label(const modal_array *array, int component, int of_ply, char label[MODAL_SEQUENCE_LABEL]);
/* VTK's word for what the array is among those of the points, "Normals", or NULL. */
const char *modal_sequence_vtk_attribute(const modal_array *array);
/* The dataset of sequence.vtkhdf that holds all frames of array i; returns `path`. */
const char *modal_sequence_path(const modal_array_list *list, int i, char path[MODAL_SEQUENCE_PATH]);
/* Whether an array with a known name has the components and the unit that belong to it. */
int modal_sequence_fits_known(const modal_array *array);
int modal_sequence_has_cell_arrays(const modal_array_list *list);
/* MODAL_ERROR_INPUT unless the list begins with Points and all names, units and components obey the rules. */
modal_status modal_sequence_check_arrays(const modal_array_list *list, modal_error *err);

/* ---- sequence_list.c: the list as a file has it ---- */

/* What a sequence can be made of: "trajectory" and so on; NULL behind the last one. */
extern const char *const modal_sequence_sources[];
modal_status modal_sequence_write_list(hid_t modal, const modal_array_list *list, modal_error *err);

/* ---- sequence_cells.c ---- */

/* Points of a cell of VTK's type, 0 for one that no sequence has. */
int modal_sequence_cell_points(uint8_t type);
/* MODAL_ERROR_INPUT unless types, offsets and indices obey the rules. */
modal_status modal_sequence_check_cells(const modal_sequence_cells *cells, int64_t n_points, modal_error *err);
/* XDMF's Mixed topology: for each cell its type and its points. The caller owns *values. */
modal_status modal_sequence_mixed_topology(const modal_sequence_cells *cells, int64_t **values, int64_t *n,
                                           modal_error *err);

/* ---- sequence_precision.c ---- */

/* The creation properties of a moving array; H5I_INVALID_HID where HDF5 fails. */
hid_t modal_sequence_array_layout(const modal_sequence_info *info, int array);
/* Encodes and writes frames of the rounded arrays; info->threads at a time. */
typedef struct modal_rounder modal_rounder;
int64_t modal_rounder_bytes(const modal_sequence_info *info); /* of memory */
modal_status modal_rounder_new(modal_rounder **rounder, const modal_sequence_info *info, modal_error *err);
modal_rounder *modal_rounder_delete(modal_rounder *rounder); /* NULL is fine; returns NULL */
/* Arrays of the frames that are encoded are written as they are. `arrays` as make_arrays made them; `first` is the first
 * frame's number. MODAL_ERROR_INPUT for values so large that no reader can keep to the precision. */
modal_status modal_rounder_write(modal_rounder *rounder, const hid_t arrays[MODAL_MOST_ARRAYS], int64_t first,
                                 const modal_frames *frames, modal_error *err);

/* ---- sequence_piece.c: some frames of a sequence with --precision, for a share ---- */

extern const modal_sequence_format modal_sequence_vtkhdf_piece;
/* Hands every frame of such a file on, one at a time: rows of each array of the list. MODAL_ERROR_INPUT where it ends too early
 * or a frame is not as it must be; MODAL_ERROR_SYSTEM; what `append` says. */
modal_status modal_sequence_read_piece(const char *path, const modal_array_list *list, const int64_t *rows, double precision,
                                       modal_sequence_writer *to,
                                       modal_status (*append)(modal_sequence_writer *, const modal_frames *, modal_error *),
                                       modal_error *err);

/* Sequences of so many bytes are written past the cache, where there is a disk. A variable for tests alone. */
extern int64_t modal_sequence_direct_from;

/* The whole text of the sidecar; the caller owns it. */
modal_status modal_sequence_xdmf_text(char **text, int64_t *length, const char *vtkhdf_name,
                                      const modal_sequence_info *info, modal_error *err);

#endif
