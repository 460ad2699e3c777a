/* SPDX-License-Identifier: Apache-2.0 */
/* /provenance, the same in every file. */
#ifndef MODAL_FORMATS_PROVENANCE_H5_H
#define MODAL_FORMATS_PROVENANCE_H5_H

#include "formats/h5/h5_util.h"
#include "lib/model/basis.h"

/* Writes the group `provenance` with its steps under `place`. */
modal_status modal_provenance_write(hid_t place, const modal_provenance *steps, int32_t n,
                                    modal_error *err);

/* Reads it; the caller owns *steps. */
modal_status modal_provenance_read(const modal_h5_in *in, const modal_h5_place *root,
                                   modal_h5_need need, modal_provenance **steps, int32_t *n);

#endif
