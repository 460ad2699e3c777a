/* SPDX-License-Identifier: Apache-2.0 */
/* What HDF5 reads files through: a read-only driver for a file or for an image of one in memory, which is not copied.
 * It looks at every collection of the global heap (texts of variable length, mappings of virtual datasets) before HDF5
 * gets it: that part of the metadata has no checksum, and HDF5 1.10 follows damaged sizes in it out of bounds or for
 * ever. */
#ifndef MODAL_FORMATS_H5_DRIVER_H
#define MODAL_FORMATS_H5_DRIVER_H

#include "formats/hdf5/h5_util.h"

/* Makes `access` open `source`, whose path and bytes must stay where they are until the file is closed. < 0: failed,
 * HDF5's stack says why. */
herr_t modal_h5_read_through_driver(hid_t access, const modal_h5_source *source);

#endif
