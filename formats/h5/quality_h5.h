/* SPDX-License-Identifier: Apache-2.0 */
/* /quality and /@quality_columns (trajectory.md), in whichever file has them. Not thread-safe (HDF5). */
#ifndef MODAL_FORMATS_QUALITY_H5_H
#define MODAL_FORMATS_QUALITY_H5_H

#include "formats/h5/h5_util.h"
#include "lib/model/quality.h"


/* The names of the columns of a modal_quality, as an attribute of the file. */
modal_status modal_quality_write_columns(hid_t file, modal_error *err);

/* *rows [n_rows], which the caller frees; NULL where the file has no /quality, or where it breaks a rule of
 * its own; n_rows < 0: not known, so that names and shape alone are looked at. */
modal_status modal_quality_read(const modal_h5_in *in, const modal_h5_place *root, int64_t n_rows, modal_quality **rows);

/* Values keep the rules. rows [n_rows] or NULL; n_objects 0: not known. */
modal_status modal_quality_rules(const modal_checker *checker, const modal_quality *rows, int64_t n_rows, int32_t n_objects);

#endif
