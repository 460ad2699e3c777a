/* SPDX-License-Identifier: Apache-2.0 */
/* The motions of a solid that deform nothing, known from its geometry: six a connected part, less the
 * rank of what its fixed nodes and components hold. */
#ifndef MODAL_FEM_RIGID_H
#define MODAL_FEM_RIGID_H

#include <stdint.h>

#include "lib/fem/assemble.h"

/* Parts are connected through their free nodes: two parts that share nothing but fixed nodes move
 * independently. A part without fixed nodes has 6 rigid motions, with one fixed point 3, with fixed
 * points on one line 1, with one component held on a plane across it 3, and so on: those motions
 * t + w x (x - centre) that are 0 in every held component. */
typedef struct modal_rigid_space {
    int64_t n_free;
    int64_t n_parts;
    int32_t *part;      /* [n_free] part of each free node, numbered by ascending first node */
    int32_t *n_motions; /* [n_parts] 0 to 6 */
    int64_t n_rigid;    /* sum of n_motions */
    double *part_size;  /* [n_parts] m, largest distance of a node to the part's first one */
    int32_t depth;      /* largest n_motions */
    /* Vector k holds motion k of every part at once, 0 where a part has fewer: parts do not overlap
     * and M does not couple them. Orthonormal in M a part. */
    double *motions;      /* [depth, n_free, 3] */
    double *mass_motions; /* [depth, n_free, 3] M times them */
    double *coefficients; /* [n_parts] scratch of modal_rigid_remove */
} modal_rigid_space;

/* Finds the parts and, in `rigid`, an M-orthonormal basis of their rigid motions. A motion counts as
 * free when what is held moves in it by less than 1e-8 of its largest displacement, in the mean (root
 * of the sum of squares over root of their number): points closer together than that, as parts of the
 * part's size, count as one. On an error *rigid is zeroed. */
modal_status modal_rigid_space_build(const modal_volume_mesh *mesh, const modal_fem_system *system,
                                     int n_threads, modal_rigid_space *rigid, modal_error *err);

/* What is held of a part, and the motions that are left to it. A rigid motion has the six coefficients t, w:
 * u(x) = t + w x (x - centre) / size. Each held component is a row of six numbers that must vanish on them. */
typedef struct modal_rigid_part {
    double centre[3];
    double triangle[6][6]; /* R of the QR factorisation of the rows */
    int64_t n_rows;
    double motions[6][6]; /* the first n_motions: coefficients of the free motions, orthonormal */
} modal_rigid_part;

/* The same without vectors: motions, mass_motions and coefficients stay NULL, and of the system only what
 * modal_fem_number finds is read. *parts [n_parts] is the caller's to modal_free. */
modal_status modal_rigid_parts_find(const modal_volume_mesh *mesh, const modal_fem_system *system, modal_rigid_space *rigid,
                                    modal_rigid_part **parts, modal_error *err);

/* The displacement u of motion k < n_motions of a part of that size at x, about 1; exactly 0 in the held components (1 x,
 * 2 y, 4 z). */
void modal_rigid_motion_at(const modal_rigid_part *part, int32_t k, double size, const double x[3], int components,
                           double u[3]);

/* Frees everything inside and zeroes the struct; a zeroed struct is fine. */
void modal_rigid_space_free(modal_rigid_space *rigid);

/* x -= R R^T M x for n_vectors vectors [n_vectors, n_free, 3]. Uses the scratch inside: one thread
 * at a time. */
void modal_rigid_remove(modal_rigid_space *rigid, int64_t n_vectors, double *x);

/* Writes phi^T K phi of the n_rigid rigid motions, ascending by magnitude: 0 but for rounding.
 * `scratch` has room for [depth, n_free, 3]. */
void modal_rigid_eigenvalues(const modal_rigid_space *rigid, const modal_fem_system *system,
                             int n_threads, double *scratch, double *eigenvalues);

/* What rounding can make of x^T K x, x [n_free, 3]: a quotient of x is 0 where it is not above. Every product
 * K_ij x_j has an error of a few eps, and |K_ij| <= sqrt(K_ii K_jj), so that eps x^T diag(K) x bounds their sum up to
 * the number of neighbours. It is x's own: an element flat enough to have the largest eigenvalue of all hides no
 * motion that stretches it little. */
double modal_energy_rounding(const modal_fem_system *system, const double *x);

#endif
