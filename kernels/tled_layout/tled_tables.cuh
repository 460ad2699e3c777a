// SPDX-License-Identifier: Apache-2.0
// A solid on a GPU: the tables of its patches (tled_patches.h) and what nodes and elements need beside them.
#ifndef MODAL_KERNELS_TLED_TABLES_CUH
#define MODAL_KERNELS_TLED_TABLES_CUH

#include <cuda_runtime.h>

#include "kernels/cuda_machine.h"
#include "kernels/registry.h"
#include "kernels/tled_layout/tled_layout.h"
#include "kernels/tled_layout/tled_patches.h"
#include "kernels/tled_step/tled_step.h"

namespace modal_tled {

template <class R> struct alignas(16) Vector4 {
    R x, y, z, w;
};

template <class R> struct Material {
    R mu, modulus, control;
    int law;
};

// What comes on top of a material's law (tled_solid.h).
template <class R> struct Rich {
    R fibre;
    int averages, n_terms, n_isochoric;
};

// modal_tled_decay in this precision.
template <class R> struct Decay {
    R keep, next, now;
};

// A node that loads, pressures or bodies act on, or whose components are prescribed and not all of them still.
struct Special {
    int32_t first_load, end_load;   // in load_signals, load_vectors
    int32_t first_face, end_face;   // in face_corners
    int32_t held;                   // row of held, or -1
    int32_t touching;               // row of touching, or -1
    uint32_t mask;                  // of it
    double rest[3];
};

// The first turned element of a task. Changed by whoever holds the lock; `key` also read without it, to pass by what is
// later or higher.
struct Stop {
    int lock, armed;
    unsigned long long key; // step of the task << 32 | element
};

// Where a piece's partial sums and marks are, for the others.
template <class R> struct Peer {
    Vector4<R> *partial[2];
    uint32_t *marks;
};

// Nodes are in the patches' order here.
template <class R> struct Tables {
    const modal_tled_patch *patches;
    const modal_tled_place *places; // [n_patches, most_places]: a patch's can be asked for before the patch is known; the others are 0
    const uint32_t *corners;
    const uint16_t *bases;
    const int32_t *elements;
    const int32_t *lane_materials; // as elements, where there is more than one material
    const R *stiffness;            // as elements, of hexahedra: of hourglass control, N/m
    R third;                       // of hexahedra: tled_hexahedron.h
    const uint32_t *rings;         // as modal_tled_patches, of macro-elements
    const Material<R> *materials;
    Material<R> of_tetrahedra;     // the only one of a solid, with volume / det = 1/6
    const Vector4<R> *rest;        // [n_nodes] X and 1 / m; 0 for 1 / m: held still; negative: there is a Special
    const int32_t *sums;           // [n_nodes + 1] partial sums of a node
    const int32_t *nodes;          // the solid's numbers
    const double *mass;            // [n_nodes]
    const int32_t *held_rows;      // [n_nodes] row of held, or -1
    const int32_t *specials_of;    // [n_nodes], read where rest.w < 0
    const Special *specials;
    const int32_t *special_nodes;  // [n_specials] their nodes
    const int32_t *load_signals;
    const double *load_vectors;
    const int2 *face_corners;      // face, corner
    const int4 *faces;             // nodes
    const int32_t *face_signals;
    const double *face_pressures;
    const int32_t *held_signals;
    const double *held_values;
    const modal_tled_contact *contacts;
    const R *falls;                // [n_nodes] weight / mass, or NULL: 1
    // Where a material is rich: see n_elements.
    const Rich<R> *rich;             // [n_materials], or NULL
    const double *terms;             // [n_materials, MODAL_TLED_TERMS, 2] shares and times
    Decay<R> *decays;                // [n_materials, MODAL_TLED_TERMS] of the task
    const R *fibres;                 // [3, n_elements]
    const R *pressure_factors;       // [n_nodes], or NULL where nothing averages
    R *changes;                      // [n_places] partial sums of changes of volume
    // For steps of one launch, else NULL: the partial sums of other patches that a patch needs, place by place.
    const int32_t *remote_first;     // [n_patches + 1] in the next two
    const int32_t *remote_sums;      // their numbers
    const uint32_t *remote_targets;  // the place's sum goes to patch << 16 | number in that patch's list
    const int32_t *remote_of;        // [places] the first of a place, counted from its patch's first
    // Where patches wait for their neighbours (tled_patch.cuh), else NULL.
    const int32_t *near;             // [n_patches, most_near] as modal_tled_near
    uint32_t *marks;                 // [n_patches] of the last launch that has all of a patch's nodes and sums
    // Of a piece (Pieces, below), whose marks are of all pieces' patches.
    const int32_t *numbers;          // [n_patches] its patches, among all; NULL: 0, 1, ...
    const int32_t *border_first;     // [n_patches + 1] in the next two
    const int32_t *border_sums;      // the numbers of partial sums that other pieces need, by patch
    const uint8_t *border_to;        // bit k: piece k does
    const Peer<R> *peers;            // [pieces], or NULL where there is one device
    int64_t n_elements;              // of `elements`
    int32_t n_materials, n_contacts;
    int64_t n_touching;
    int32_t first_node;              // take_state and last_step go from it on, to n_nodes; 0 but on several devices
    int32_t n_nodes, n_patches, n_signals, n_held, n_specials;
    int32_t most_places, most_slots, most_bases, most_remotes, most_corners, most_near;
    int32_t most_means; // lanes whose sums wait for those of their macro-elements, of one patch; 0: each macro has one lane
};

// What `stiffest` of tled_step is made of, in the solid's order; sums are 0 between two uses.
struct Stiff {
    int64_t n_nodes, n_tetrahedra, n_hexahedra;
    const int32_t *corners; // of tetrahedra, 4 each, then of hexahedra, 8 each
    const int32_t *material;
    const modal_tled_material *materials;
    const double *rest, *mass, *stiffness;
    const double *fibres;     // or NULL
    const int32_t *macro_of;  // [n_tetrahedra], or NULL, and then so are the next two
    const int64_t *macro_offsets;
    const double *macro_roots; // [n_macros, 3, 3] vectors g with the sum of g g^T that the corners' mean gradients have
    unsigned long long *sums; // [n_nodes] whole numbers: stiffness times `scale`
    double scale;
    double third; // as in Tables
};

enum Elements { TETRAHEDRA, HEXAHEDRA, BOTH };
enum Way { EACH_STEP, RESIDENT, IN_CLUSTER }; // a launch a step; one launch; one launch of one cluster
// Which laws a kernel knows: one; all; the neo-Hookean one with what may come on top; all with that; the neo-Hookean one with
// fibres alone; with one Prony term alone; of macro-elements the neo-Hookean one, and all with what may come on top.
enum { LAW_ANY = MODAL_TLED_LAWS, LAW_RICH_NEO_HOOKEAN, LAW_RICH_ANY, LAW_FIBRES, LAW_PRONY, LAW_MACROS, LAW_RICH_MACROS };
__host__ __device__ constexpr bool has_macros(int law) { return law == LAW_MACROS || law == LAW_RICH_MACROS; }
enum { RESIDENT_FAN = 3, RESIDENT_THREADS = 512 }; // of steps of one launch
enum { CLUSTER = 16, MOST_TARGETS = 7 };           // blocks of a cluster; other patches that a node of one has, at most
// Laws whose elements have numbers of their own, which are asked for an element ahead.
__host__ __device__ constexpr bool asks_early(int law) { return law == LAW_FIBRES || law == LAW_PRONY; }
enum { REDUCE = 256 }; // nodes whose works one block adds up
enum { WORKS = 4 };    // of a step: loads, held, damped, inner

template <class R> struct Pieces;

template <class R> struct Layout {
    modal_tled_layout head;
    modal_device device;
    modal_tled_patches patches; // while it is made
    Tables<R> tables;
    Elements elements;
    int law;
    Way way;
    bool plain;              // no node is special, and each patch has one material: for steps of one launch
    uint32_t tag;            // the first mark, of partial sums or of patches, that no step has used yet
    Vector4<R> *state[2];    // [n_nodes, 2] u and d
    Vector4<R> *partial[2];  // [n_places] partial sums
    Vector4<R> *forces;      // [n_nodes] of the elements, for works and reactions
    Stiff stiff;             // where the solid has `stiffness`
    Stop *stop;
    double *works;        // [blocks of REDUCE nodes, WORKS]
    double *touches;      // [n_contacts, n_touching, 3]
    Pieces<R> *pieces;    // where several devices share the steps, or NULL
    void *owned[96];      // everything above that device memory was taken for
    int n_owned;
};

// A solid on several devices: each has all tables and arrays in its own memory, and computes a range of the patches that one device
// would have. It moves the nodes of its patches, those on its border like every other piece that has them, and gives the others the
// partial sums that they need. So every sum has the order that it has on one device, and results are the same bytes. A piece's patches
// on its border are its first ones, so that what others need is on its way while the rest is computed.
//
// Where patches can wait for their neighbours' marks (tled_patch.cuh), they wait for those of other pieces, too, and write sums and marks into
// the others' memory themselves. Else, where nodes are special or materials average, kernels of their own send what others need after each
// step, and a pressure that follows the surface needs all corners of a face at each of them: those that a piece does not move another one sends.
enum { MOST_PIECES = 8, PIECE_STEPS = 256 }; // steps: of a run

// What another piece needs: partial sums, in order, and where nodes are that it does not move, as numbers of vectors in `state`.
struct Sends {
    const int32_t *sums, *states;
    int32_t n_sums, n_states;
};

template <class R> struct Piece {
    Layout<R> *layout;                  // its tables have this piece's patches and special nodes alone
    int32_t first_node, end_node;       // whose first patch is here: their motion is the piece's to give
    const int32_t *others;              // nodes of its patches, or of faces on them, that are not among those
    int32_t n_others;
    int64_t first_element, end_element; // of `elements`
    Sends sends[MOST_PIECES];           // by piece
    modal_stream *stream;               // of its device: pieces of the same one have the same
    bool owns_stream;
    modal_event *done;
    double *gravity, *signals;          // of a run: [PIECE_STEPS, 3], [PIECE_STEPS + 1, n_signals]
    modal_tled_watch *watch;
    R *viscous;                         // all of them; those of its elements are up to date
};

template <class R> struct Pieces {
    int n;
    bool by_marks; // patches wait for those of other pieces
    bool flow;     // and for those of their own, instead of the launch before
    modal_event *begun;
    Piece<R> all[MOST_PIECES];
};

// Whether the blocks of steps of one launch, n_patches of them, are on the device at once. plain: as in Layout.
modal_status resident_fits(Way way, int law, bool plain, const Tables<float> &tables, int n_patches,
                           const modal_cuda_machine *machine, int *fits, modal_error *err);

} // namespace modal_tled

#endif
