/* SPDX-License-Identifier: Apache-2.0 */
/* Stiffness and mass of a solid, over the nodes that are free to move. */
#ifndef MODAL_FEM_ASSEMBLE_H
#define MODAL_FEM_ASSEMBLE_H

#include <stdint.h>

#include "lib/fem/sparse.h"
#include "lib/model/basis.h"

/* Degree of freedom 3 i + k is axis k of free node i. Rows and columns of nodes that are fixed in all
 * components are left out. A node that is fixed in one or two is a free node, and what is held of it is
 * a degree of freedom of its own, coupled to nothing (sparse.h), whose eigenvalue is largest_ratio: it
 * stands at the upper end of the spectrum, and modes that are sought vanish there. */
typedef struct modal_fem_system {
    int64_t n_free;
    int32_t *free_nodes; /* [n_free] node of each free node, ascending */
    int32_t *free_index; /* [mesh nodes] free node of each node, -1: fixed */
    int64_t n_held;      /* components held of free nodes: so many degrees of freedom are none */
    modal_block_pattern pattern;
    double *stiffness;   /* [blocks, 3, 3] N/m */
    double *mass;        /* [blocks] kg, times the 3 x 3 identity */
    double *nodal_mass;  /* [n_free] kg, M e: what a uniform acceleration of the whole solid, its
                            fixed nodes included, acts on; of TET4 the same for both mass rules */
    double total_mass;   /* kg, of all elements */
    double largest_ratio; /* (rad/s)^2, estimate of the largest eigenvalue of K x = lambda M x */
    double wave_scale;    /* (m/s)^2, the smallest E / rho of an element that has a free node */
} modal_fem_system;

/* Assembles K and M. fixed_nodes are node indices in any order, repeats allowed; fixed_components
 * [n_fixed] says which components of each are held (1 x, 2 y, 4 z, or sums; of repeats all), NULL: all
 * three. The stiffness is by mesh->stiffness_rule. A mesh of TET4 takes the fast path of exact, constant integrands, every other that of
 * element_matrices.h.
 * MODAL_ERROR_INPUT: a fixed node, its components or an element's type, node or material out of range,
 * an element without material or of zero volume or with a Jacobian that is not positive (by its user
 * tag), a material that modal_material_check refuses (materials that no element uses are not looked
 * at), a free node in no element, no free node at all. On an error *system is zeroed. The same bytes
 * for every n_threads. O(elements). */
modal_status modal_fem_assemble(const modal_volume_mesh *mesh, const int32_t *fixed_nodes,
                                const uint8_t *fixed_components, int64_t n_fixed,
                                modal_mass_rule rule, int n_threads, modal_fem_system *system,
                                modal_error *err);

/* The first step of that: the free nodes and what is held of them (n_free, free_nodes, free_index, n_held,
 * pattern.held), no matrices; elements are not looked at. On an error *system is zeroed. */
modal_status modal_fem_number(const modal_volume_mesh *mesh, const int32_t *fixed_nodes,
                              const uint8_t *fixed_components, int64_t n_fixed,
                              modal_fem_system *system, modal_error *err);

/* Frees everything inside and zeroes the struct; a zeroed struct is fine. */
void modal_fem_system_free(modal_fem_system *system);

#endif
