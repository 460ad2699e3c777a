/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU's layout of a solid. Elements are cut into patches of neighbours, whose nodes fit into the first cache; a patch
 * reads its nodes' displacements once, computes blocks of 16 elements, a lane each, and gives one sum of forces for each of
 * its nodes (a slot). A node's slots lie together, in the order of patches: sums have one order, whatever the number of
 * threads. The elements of a block are far apart in their patch, so that lanes which are added one after the other seldom
 * meet at a node. A block has one material. Of macro-elements a lane is one, not a tetrahedron; a block has as many corners as its largest
 * one has, and what a smaller one lacks is its first corner, with zeros. */
#ifndef MODAL_KERNELS_TLED_LANES_H
#define MODAL_KERNELS_TLED_LANES_H

#include "kernels/tled_layout/tled_layout.h"

enum {
    MODAL_TLED_LANES = 16,
    MODAL_TLED_TETRAHEDRON_ROWS = 10, /* g_1 x y z, g_2, g_3, V */
    /* g_0 x y z .. g_7; weight; sum; moments of the four hourglass modes, x y z each: gamma_ma = Gamma_ma - g_a . moment_m */
    MODAL_TLED_HEXAHEDRON_ROWS = 38,
    MODAL_TLED_PATCH_TETRAHEDRA = 2048, /* of float32; of float64 half of them: displacements and forces of a patch are in the */
    MODAL_TLED_PATCH_HEXAHEDRA = 512    /* first cache, and nodes times 4 are below 2^16 */
};

typedef struct modal_tled_patch {
    int64_t first_block, first_index, first_value; /* in materials and elements (times 16), indices, shapes */
    int64_t first_node;                            /* in nodes and slots */
    int32_t n_blocks, n_nodes, n_corners;          /* 0: of macro-elements, as macro_blocks say */
} modal_tled_patch;

/* A block of macro-elements of n corners. Its rows: b_1 x y z .. b_(n-1); V; n - 4 modes of n - 1 numbers c_ma, with which
 * control sum_b spread_ab u_b is control sum_m c_ma sum_b c_mb (u_b - u_0), and of corner 0 minus the others' sum. */
typedef struct modal_tled_macro_block {
    int64_t first_index, first_value; /* in indices and corner_stiffness, in shapes */
    int32_t n_corners;
} modal_tled_macro_block;

static inline int modal_tled_macro_rows(int n_corners) { return 3 * (n_corners - 1) + 1 + (n_corners - 4) * (n_corners - 1); }

typedef struct modal_tled_special {
    int32_t node;
    int32_t loaded, held, touching; /* rows of solid->loaded, ->held and ->touching, or -1 */
    int64_t faces, n_faces; /* its corners of faces: in face_corners */
} modal_tled_special;

typedef struct modal_tled_lanes {
    modal_tled_layout head;
    int64_t n_patches, n_specials;
    int32_t most_nodes; /* of a patch */
    modal_tled_patch *patches;
    uint16_t *indices;  /* [blocks, n_corners, 16] where the node's record of four begins in the patch, in units of 8 bytes */
    void *shapes;       /* [blocks, rows, 16] float or double */
    modal_tled_macro_block *macro_blocks; /* [blocks], read where a patch is one of macro-elements; NULL: there are none */
    int32_t *materials; /* [blocks] */
    int32_t *elements;  /* [blocks, 16] of the solid; a lane without an element has another one's, with volume 0 */
    int32_t *nodes;     /* of the patches: of the solid, ascending */
    int32_t *slots;     /* where each of them gives its force */
    int32_t *slot_offsets; /* [n_nodes + 1] */
    void *partial;         /* [slots, 4] */
    void *inverse_mass;    /* [n_nodes] */
    modal_tled_special *specials; /* [n_specials] nodes with loads, faces or prescribed components, ascending */
    int64_t *face_corners;        /* 4 times a face plus a corner, by special */
    double *face_forces;          /* [n_faces, 4, 3] of 1 Pa */
    void *falls;                  /* [n_nodes] weight / mass, or NULL: 1 */
    int32_t most_terms;           /* of Prony, of a material */
    void *fibres;                 /* [blocks, 3, 16], or NULL */
    void *stiffness;              /* [blocks, 16] of the solid's, 0 in lanes without an element; NULL where the solid has none */
    void *corner_stiffness;       /* as indices, of macro-elements: sums of their tetrahedra's at each corner; NULL likewise */
    void *pressure_factors;       /* [n_nodes], or NULL where nothing averages */
    void *pressures;              /* [n_nodes] scratch, likewise */
} modal_tled_lanes;

/* What the elements of a task need where a material is rich (modal_tled_is_rich). */
typedef struct modal_tled_extras {
    const modal_tled_decay *decays; /* [n_materials, MODAL_TLED_TERMS] */
    void *viscous;                  /* the task's: [blocks, most_terms, 6, 16] */
} modal_tled_extras;

#endif
