/* SPDX-License-Identifier: Apache-2.0 */
/* Small made-up bases and trajectories, and what tests of the files share. */
#ifndef TESTS_UNIT_FILE_SAMPLES_H
#define TESTS_UNIT_FILE_SAMPLES_H

#include <hdf5.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/h5/findings.h"
#include "lib/model/basis.h"
#include "lib/model/trajectory.h"

/* Two shapes (an open grid of 35 vertices, whose nodes are its vertices, and an octahedron embedded
 * in a tetrahedron) and three objects. Everything is consistent. */
modal_basis sample_basis(int with_uv);

/* The same with the energy's terms of fourth degree instead of the forces' of third. */
modal_basis sample_energy_basis(void);

/* With a third shape, and the second one so large that its arrays are written in pieces, by one thread, and
 * inspected by another. */
modal_basis sample_large_basis(void);

/* Seven frames of that basis's three objects. */
modal_trajectory sample_trajectory(const modal_basis *basis, int with_poses);

/* Fail the test where an array that `parts` covers differs; arrays of other parts must be NULL. */
void assert_bases_equal(const modal_basis *a, const modal_basis *b, unsigned parts);
void assert_trajectories_equal(const modal_trajectory *a, const modal_trajectory *b);

/* A path in a fresh temporary folder; the folder is made once a process and removed at its end. */
const char *sample_path(const char *name);

/* The path of a file that has sample_basis(with_uv). */
const char *sample_basis_file(const char *name, int with_uv);

/* The bytes of a file, to be freed with free. */
unsigned char *sample_bytes(const char *path, size_t *length);
void sample_put(const char *path, const void *bytes, size_t length);

/* No HDF5 id is open. */
void assert_no_ids(void);

/* ---- ways to break a good file ---- */

/* bad: good with one to four bytes changed; *random, which is not 0, is another number afterwards. */
void sample_flip(uint64_t *random, const unsigned char *good, unsigned char *bad, size_t length);

typedef enum damage {
    DELETE_LINK,
    DELETE_ATTRIBUTE, /* path@name */
    SET_VALUE,        /* value at a flat index */
    SET_NUMBER,       /* path@name: f64 attribute */
    SET_INTEGER,      /* path@name: i64 attribute */
    SET_TEXT,         /* path@name */
    RETYPE,           /* the same values, 16-bit integers or 32-bit floats */
    SWAP_BYTES,       /* the same values, big-endian */
    SHORTEN,          /* one row less */
    FLATTEN,          /* rank 1 */
    SOFT_LINK,        /* moved aside, a soft link in its place */
    EXTERNAL_LINK,
    VIRTUAL,       /* a virtual dataset of the same shape */
    ELSEWHERE,     /* stored in an external file */
    NEVER_WRITTEN, /* contiguous, the right shape, no storage */
    HUGE_CHUNKED,  /* [2^40] chunked, nothing stored */
    MAKE_GROUP     /* a group in the dataset's place */
} damage;

typedef struct damage_case {
    damage kind;
    const char *path;
    int64_t index;
    double value;
    const char *text;
    const char *expected; /* in the finding */
    int deep;             /* only --check sees it */
} damage_case;

void sample_damage(const char *path, const damage_case *what);

/* MODAL_ALL_DAMAGE is in the environment, as of the tests *_all (label long): then each number of sample_next is the one before and 1. */
int sample_all(void);

/* What comes after n, up to last: each of the first 32, then fewer and fewer, the last; last + 1 after it. */
int64_t sample_next(int64_t n, int64_t last);

/* True when one of the findings contains the text. */
int findings_have(const modal_findings *findings, const char *text);

#endif
