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

/* ---- sequence_cells.c ---- */

/* Points of a cell of VTK's type, 0 for one that no sequence has. */
int modal_sequence_cell_points(uint8_t type);
/* MODAL_ERROR_INPUT unless types, offsets and indices obey the rules. */
modal_status modal_sequence_check_cells(const modal_sequence_cells *cells, int64_t n_points, modal_error *err);
/* XDMF's Mixed topology: for each cell its type and its points. The caller owns *values. */
modal_status modal_sequence_mixed_topology(const modal_sequence_cells *cells, int64_t **values, int64_t *n,
                                           modal_error *err);

/* ---- sequence_precision.c ---- */

/* Whether an array is stored with info->precision, not as it is. */
int modal_sequence_is_rounded(const modal_sequence_info *info, int array);
/* The creation properties of a moving array; H5I_INVALID_HID where HDF5 fails. */
hid_t modal_sequence_array_layout(const modal_sequence_info *info, int array);
/* Encodes and writes frames of the rounded arrays; info->threads at a time. */
typedef struct modal_rounder modal_rounder;
int64_t modal_rounder_bytes(int64_t n_points, int threads); /* of memory */
modal_status modal_rounder_new(modal_rounder **rounder, const modal_sequence_info *info, modal_error *err);
modal_rounder *modal_rounder_delete(modal_rounder *rounder); /* NULL is fine; returns NULL */
/* `arrays` as make_arrays made them; `first` is the first frame's number. MODAL_ERROR_INPUT for values so
 * large that no reader can keep to the precision. */
modal_status modal_rounder_write(modal_rounder *rounder, const hid_t arrays[SEQUENCE_ARRAYS], int64_t first,
                                 const modal_sequence_frames *frames, modal_error *err);

/* The whole text of the sidecar; the caller owns it. */
modal_status modal_sequence_xdmf_text(char **text, int64_t *length, const char *vtkhdf_name,
                                      const modal_sequence_info *info, modal_error *err);

#endif
