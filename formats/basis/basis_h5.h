/* SPDX-License-Identifier: Apache-2.0 */
/* Reads, writes and checks basis.h5; basis.md is the specification. Not thread-safe (HDF5). */
#ifndef MODAL_FORMATS_BASIS_H5_H
#define MODAL_FORMATS_BASIS_H5_H

#include <stddef.h>

#include "formats/h5/findings.h"
#include "lib/model/basis.h"

/* What a reader wants. Counts, names, objects, provenance and hash always come; arrays of the other
 * parts stay NULL (their types and shapes are checked all the same). */
enum {
    MODAL_BASIS_SURFACE = 1,       /* positions, triangles, order, uv, tables */
    MODAL_BASIS_MATRIX = 2,        /* the modal matrix */
    MODAL_BASIS_MODES = 4,         /* eigenvalues, frequencies, participation and so on */
    MODAL_BASIS_VOLUME = 8,        /* the solid, its groups and materials, embedding */
    MODAL_BASIS_VOLUME_MODES = 16, /* phi at the nodes: the largest array of all. Where a file has them as
                                      inner_modes, MATRIX and VOLUME come with them */
    MODAL_BASIS_REDUCED = 32, /* reduced forces, where there are any */
    MODAL_BASIS_LEFT_OUT = 64, /* what measures them, where it is there */
    MODAL_BASIS_LOOK = 128,    /* names of materials by triangle and corners with one normal, where they are there */
    MODAL_BASIS_DEFORM = MODAL_BASIS_SURFACE | MODAL_BASIS_MATRIX,
    MODAL_BASIS_ALL = MODAL_BASIS_DEFORM | MODAL_BASIS_MODES | MODAL_BASIS_VOLUME |
                      MODAL_BASIS_VOLUME_MODES | MODAL_BASIS_REDUCED | MODAL_BASIS_LEFT_OUT | MODAL_BASIS_LOOK
};

/* Computes the hash of each shape over its arrays but the tables, which follow from the triangles, and basis->hash
 * over those and the objects; not over names, attributes and provenance: what the writer would write. The basis keeps
 * the writer's rules. */
modal_status modal_basis_hash(modal_basis *basis, modal_error *err);

/* Writes `path`, created or truncated; the caller passes a temporary name, and syncs and renames.
 * The content hash is computed here, basis->hash is not looked at. All arrays of
 * all shapes are written, whatever files they were read from. A basis that breaks a rule of
 * the specification is refused (MODAL_ERROR_INPUT); large shapes are gone through while they are written, by a
 * second thread. A shape without nodes is written without /volume. What a shape's source makes comes in ranges,
 * in this thread. After an error the file is incomplete; the
 * caller removes it. */
modal_status modal_basis_write(const char *path, const modal_basis *basis, modal_error *err);

/* The same while other threads still make the shapes: `wait` is called before shape `index` is looked at, and
 * with n_shapes before the provenance is, and returns when that is complete, or with an error, which ends the
 * writing. The numbers of shapes and objects and the objects are there from the beginning. */
typedef modal_status modal_basis_wait(void *context, int32_t index, modal_error *err);
modal_status modal_basis_write_shapes(const char *path, const modal_basis *basis, modal_basis_wait *wait,
                                      void *context, modal_error *err);

/* The same where shapes come one at a time: `release` is called when shape `index` is written and nobody looks at it any more. */
typedef void modal_basis_release(void *context, int32_t index);
modal_status modal_basis_write_passing(const char *path, const modal_basis *basis, modal_basis_wait *wait, modal_basis_release *release,
                                       void *context, modal_error *err);

/* The number of shapes of a file, nothing else of which is read. Errors as modal_basis_read. */
modal_status modal_basis_count_shapes(const char *path, int32_t *n, modal_error *err);

/* Writes an assembly: of each shape its name, hash, file and file_shape are looked at; the file is one below the folder of
 * the assembly, and has that shape. It is not opened here: who reads the assembly sees whether it fits. */
modal_status modal_basis_write_assembly(const char *path, const modal_basis *basis, modal_error *err);

/* Reads the parts asked for, and checks them. basis is overwritten; the caller frees it with
 * modal_basis_free; after an error it is zeroed. MODAL_ERROR_INPUT `path: /where: what, value`. The
 * content hash is taken from the file, not recomputed: see the specification for why. */
modal_status modal_basis_read(const char *path, unsigned parts, modal_basis *basis,
                              modal_error *err);

/* The same with parts [n_shapes] of every shape: `choose` sets them and sees the basis with its number of shapes and
 * its objects alone. limit_bytes > 0: arrays that would take more together are MODAL_ERROR_MEMORY before
 * they are read; *used_bytes: what they took. */
typedef modal_status modal_basis_chooser(void *context, const modal_basis *basis, unsigned *parts,
                                         modal_error *err);
modal_status modal_basis_read_chosen(const char *path, modal_basis_chooser *choose, void *context,
                                     int64_t limit_bytes, int64_t *used_bytes, modal_basis *basis,
                                     modal_error *err);

/* As modal_basis_read, but a shape of an assembly whose file is not there, or not whole, is no error: it then has its
 * name, file and hash only, and its file_problem says why. */
modal_status modal_basis_read_found(const char *path, unsigned parts, modal_basis *basis, modal_error *err);

/* From now on the files that shapes of assemblies lie in are looked for in, and must not be outside of, this folder;
 * NULL, as at the start: the folder that the assembly is in. Borrowed. For the whole process. */
void modal_basis_parts_folder(const char *folder);

/* The path by which the `file` of a shape of the assembly at basis_path (NULL: bytes in memory) is opened, without
 * symbolic links; the caller frees it. MODAL_ERROR_INPUT, without the name of the file: it is not there, or is not in the
 * folder that it must be in, or the basis has no folder. */
modal_status modal_basis_find_part(const char *basis_path, const char *file, char **path, modal_error *err);

/* The same for the bytes of a file; `name` stands for the path in messages. Such bytes have no folder. */
modal_status modal_basis_read_image(const void *bytes, size_t length, const char *name,
                                    unsigned parts, modal_basis *basis, modal_error *err);

/* Appends to the findings every rule of the specification that the file breaks, hash and tables
 * included, and returns MODAL_OK; MODAL_ERROR_INPUT for a file that is no basis or cannot be read
 * at all. The caller frees the findings. */
modal_status modal_basis_check(const char *path, modal_findings *findings, modal_error *err);
modal_status modal_basis_check_image(const void *bytes, size_t length, const char *name,
                                     modal_findings *findings, modal_error *err);

#endif
