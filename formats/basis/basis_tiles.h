/* SPDX-License-Identifier: Apache-2.0 */
/* The modal matrices of a basis.h5 in ranges of tiles, for those that are not to be in memory as a
 * whole. The rest of the basis is read by modal_basis_read without MODAL_BASIS_MATRIX. */
#ifndef MODAL_FORMATS_BASIS_TILES_H
#define MODAL_FORMATS_BASIS_TILES_H

#include <pthread.h>
#include <stdint.h>

#include "lib/base/status.h"
#include "lib/model/basis.h"

typedef struct modal_basis_tiles modal_basis_tiles;

/* Opens the file that `basis` was read from; the same hash must be in it. Contiguous matrices are
 * then read without HDF5; others with it, and with `hdf5` locked (NULL: no lock), so that other
 * threads may use HDF5 under the same lock. `hdf5` is borrowed, the basis is not. */
modal_status modal_basis_tiles_open(modal_basis_tiles **tiles, const char *path,
                                    const modal_basis *basis, pthread_mutex_t *hdf5,
                                    modal_error *err);

/* Reads tiles [begin, end) of a shape's modal matrix, [end - begin, n_modes, 3, MODAL_TILE], and
 * checks that every value is finite, and 0 in lanes past the last vertex; MODAL_ERROR_INPUT
 * otherwise. A range outside the matrix is a bug. For one thread at a time; `tiles` is a void
 * pointer so that this is a modal_matrix_source's function. */
modal_status modal_basis_tiles_read(void *tiles, int32_t shape, int64_t begin, int64_t end,
                                    float *to, modal_error *err);

modal_basis_tiles *modal_basis_tiles_close(modal_basis_tiles *tiles); /* NULL is fine; gives NULL */

#endif
