/* SPDX-License-Identifier: Apache-2.0 */
/* What basis.h5 holds, in memory: shapes (a rest surface, its modal matrix U and tables, the solid
 * that it came from) and objects (placements of shapes). Plain data; formats/basis.md is the
 * specification of the file, formats/basis/basis_h5.h reads and writes it.
 *
 * Vertices and triangles of a shape are stored in an order chosen for locality; user_vertex and
 * user_triangle lead back to the order of the user's file. "stored index" and "user index" below
 * say which one is meant. */
#ifndef MODAL_MODEL_BASIS_H
#define MODAL_MODEL_BASIS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/hash.h"
#include "lib/base/status.h"
#include "lib/base/tile.h"
#include "lib/model/volume_mesh.h"

typedef enum modal_mass_rule {
    MODAL_MASS_CONSISTENT = 0,
    MODAL_MASS_LUMPED = 1,
    MODAL_MASS_STIFFNESS_POINTS = 2 /* consistent, but integrated at the points of the stiffness, as
                                       CalculiX does: for comparison with it, never in a file */
} modal_mass_rule;

enum { MODAL_FIXED_ALL = 7 }; /* all three components of a node */

/* How the surface follows the solid. */
typedef enum modal_surface_kind {
    MODAL_SURFACE_BOUNDARY = 0, /* the solid's own boundary: vertex v is node embedding.nodes[v] */
    MODAL_SURFACE_EMBEDDED = 1  /* a finer surface, carried by nodes of an element with weights */
} modal_surface_kind;

/* What the columns of U are. All but imported ones are M-orthonormal with U^T K U = diag(eigenvalues):
 * within their span they are Ritz vectors. */
typedef enum modal_basis_kind {
    MODAL_KIND_MODES = 0,   /* natural modes */
    MODAL_KIND_DERIVATIVES, /* natural modes and their derivatives: large deformations */
    MODAL_KIND_SNAPSHOTS,   /* made from motions that were given */
    MODAL_KIND_IMPORTED     /* another program's columns, in its order */
} modal_basis_kind;

/* What solved the eigenproblem: lib/modes, or SLEPc on many ranks (lib/ranks) by one of its routes. */
typedef enum modal_modes_route { MODAL_ROUTE_OWN = 0, MODAL_ROUTE_DIRECT, MODAL_ROUTE_MULTIGRID, MODAL_ROUTE_AUTO } modal_modes_route;

/* Reduced internal forces of St. Venant-Kirchhoff material, the gradient of the elastic energy of
 * x = U q:
 *   f_l(q) = sum_i linear[l, i] q_i + sum_{i <= j} quadratic[l, (i j)] q_i q_j
 *          + sum_{i <= j <= k} cubic[l, (i j k)] q_i q_j q_k,
 * in N kg^-1/2 for mass-normalised columns. Monomials in lexicographic order: (0 0), (0 1), ...,
 * (0 r-1), (1 1), ...; a monomial's coefficient is the sum over the orders of its factors.
 * Of many modes the terms of third degree are kept as what they are derivatives of, the energy's terms of fourth degree,
 *   sum_{i <= j <= k <= l} quartic[(i j k l)] q_i q_j q_k q_l,
 * a fourth to a sixth of the numbers: then `cubic` is NULL.
 * Source: J. Barbic, D. L. James, "Real-Time Subspace Integration for St. Venant-Kirchhoff
 * Deformable Models", 2005. */
typedef struct modal_reduced_forces {
    double *linear;    /* [r, r] */
    double *quadratic; /* [r, r (r + 1) / 2] */
    double *cubic;     /* [r, r (r + 1) (r + 2) / 6], or NULL */
    double *quartic;   /* [r (r + 1) (r + 2) (r + 3) / 24] where cubic is NULL */
} modal_reduced_forces;

/* Forces of more columns are made with `quartic`; with either, files are read. */
enum { MODAL_CUBIC_MOST_MODES = 32 };

void modal_reduced_forces_free(modal_reduced_forces *forces);

/* What a basis leaves out of the elastic forces, measured: the same forces in s more directions W, which are M-orthogonal to
 * the columns of U and K-orthonormal: W^T f(U q) = sum over the monomials in q, as above, a row a direction, in N m / sqrt(J).
 * Half the sum of their squares is the elastic energy that the solid would lose if it could move along W, by K at rest
 * (lib/reduced/left_out.h). */
typedef struct modal_left_out {
    int32_t n;              /* s; 0: not computed */
    modal_reduced_forces forces; /* [s, r], [s, r (r + 1) / 2], [s, r (r + 1) (r + 2) / 6] */
    /* the slowest motions beside U, M-orthogonal to it and M-orthonormal, by which loads are measured that U does not answer */
    int32_t n_slow;             /* with slow_eigenvalues 0: U leaves nothing out */
    double *slow_eigenvalues;   /* [n_slow] (rad/s)^2, ascending, > 0; NULL: it is not known what U leaves out */
    double *slow_participation; /* [n_slow, 3] as participation */
    double *slow_scales;        /* [n_slow] kg^-1/2 */
    uint8_t *slow_bytes;        /* [tiles, n_slow, 3, MODAL_TILE] as modal_matrix, scale (byte - MODAL_SLOW_ZERO) / MODAL_SLOW_MOST: a verdict needs no
                                   more, and a file has little room for it */
    float *slow_matrix;         /* the same in kg^-1/2, of a basis that was read; or NULL */
} modal_left_out;
enum { MODAL_SLOW_ZERO = 128, MODAL_SLOW_MOST = 127 };

void modal_left_out_free(modal_left_out *left_out);

/* Numbers of monomials of second and third degree, 0 <= r <= 2^20, and of fourth degree, 0 <= r <= 2^15. */
static inline int64_t modal_quadratic_count(int64_t r) { return r * (r + 1) / 2; }
static inline int64_t modal_cubic_count(int64_t r) { return r * (r + 1) / 2 * (r + 2) / 3; }
static inline int64_t modal_quartic_count(int64_t r) { return r * (r + 1) / 2 * (r + 2) / 3 * (r + 3) / 4; }

/* Places of the monomials q_i q_j, i <= j, q_i q_j q_k, i <= j <= k, and q_i q_j q_k q_l, i <= j <= k <= l, in that order. */
static inline int64_t modal_quadratic_index(int64_t r, int64_t i, int64_t j)
{
    return i * r - i * (i - 1) / 2 + j - i;
}
static inline int64_t modal_cubic_index(int64_t r, int64_t i, int64_t j, int64_t k)
{
    return modal_cubic_count(r) - modal_cubic_count(r - i) +
           modal_quadratic_index(r - i, j - i, k - i);
}
static inline int64_t modal_quartic_index(int64_t r, int64_t i, int64_t j, int64_t k, int64_t l)
{
    return modal_quartic_count(r) - modal_quartic_count(r - i) + modal_cubic_index(r - i, j - i, k - i, l - i);
}

/* A triangle surface, in stored order, with its tables. */
typedef struct modal_surface {
    int64_t n_vertices;
    double *rest_positions; /* [n_vertices, 3] m */
    int64_t n_triangles;
    int32_t *triangles;     /* [n_triangles, 3] stored vertex indices */
    int32_t *user_vertex;   /* [n_vertices] user index of each stored vertex: a permutation */
    int32_t *user_triangle; /* [n_triangles] user index of each stored triangle: a permutation */
    int64_t n_uv;
    double *uv;           /* [n_uv, 2] or NULL */
    int32_t *triangle_uv; /* [n_triangles, 3] indices of uv, or NULL */

    /* tables (CSR: row v is values[offsets[v] .. offsets[v + 1])) */
    int64_t *face_offsets; /* [n_vertices + 1] */
    int32_t *faces;        /* [face_offsets[n_vertices]] triangles at each vertex, ascending */
    uint8_t *boundary;     /* [n_vertices] 1 where an edge of the vertex has one triangle only */
} modal_surface;

/* The modal matrix of a surface, and what is known of its columns. */
typedef struct modal_modes {
    /* for each tile and mode x[32] y[32] z[32]; lanes past the surface's n_vertices are 0 */
    int32_t n_modes;
    float *modal_matrix; /* [modal_tile_count(n_vertices), n_modes, 3, MODAL_TILE] */
    int64_t n_matrix_tiles;
    int64_t *matrix_tiles; /* NULL: all of them are there; else [n_matrix_tiles], ascending: modal_matrix has these
                              alone, one after the other (modal_shape_tile) */

    double *eigenvalues;   /* [n_modes] lambda = omega^2, (rad/s)^2, ascending */
    double *frequencies;   /* [n_modes] Hz */
    double *modal_masses;  /* [n_modes] phi^T M phi, kg (1: mass-normalised) */
    double *residuals;     /* [n_modes] ||K phi - lambda M phi|| / ||lambda M phi|| */
    double *orthogonality; /* [n_modes] max over j of |phi_i^T M phi_j - delta_ij|, or NULL */
    double *sturm_count;   /* [3] a sigma above the last mode, eigenvalues below it by the inertia of
                              K - sigma M, rigid modes and modes known below it; or NULL */
    double *participation; /* [n_modes, 3] phi^T M e: response to a uniform acceleration */
    int32_t n_rigid_modes; /* found and left out */
    double *rigid_eigenvalues; /* [n_rigid_modes] as computed; exact value 0 */
    double shift;              /* sigma of the shift-invert, (rad/s)^2 */
    double total_mass;         /* kg, of the whole solid */
    modal_mass_rule mass_rule;
    int factor_float32; /* 1: the modes came by a factor in float32 and exact solves with it */
    modal_modes_route route;
    int32_t n_ranks; /* that SLEPc ran on; 0: lib/modes */
    modal_basis_kind kind;
    /* imported columns: the largest |a_ij| / sqrt(a_ii a_jj) of U^T M U and of U^T K U; 1 where there is
     * no solid to tell, and then eigenvalues, participation and total_mass are 0; else 0 */
    double mass_coupling, stiffness_coupling;
    modal_reduced_forces reduced_forces; /* or NULLs: not computed */
    modal_left_out left_out;
} modal_modes;

/* The solid that a surface came from, nodes and elements in the user's order. */
typedef struct modal_solid {
    modal_volume_mesh mesh;
    int64_t n_fixed_nodes;
    int32_t *fixed_nodes;      /* [n_fixed_nodes] indices of nodes, ascending */
    uint8_t *fixed_components; /* [n_fixed_nodes] what is held: 1 x, 2 y, 4 z, or their sum */
    /* phi at the nodes, mass-normalised: one of these, or none (lib/model/node_modes.h) */
    double *volume_modes;      /* [n_modes, mesh.n_nodes, 3] or NULL */
    float *volume_modes_float; /* the same in float32, or NULL */
    float *inner_modes; /* boundary: [n_modes, mesh.n_nodes - n_vertices, 3] at the nodes that no vertex is,
                           ascending (at the others U has it), or NULL */
} modal_solid;

/* Which field of modal_solid has phi. */
typedef enum modal_source_form { MODAL_SOURCE_NONE = 0, MODAL_SOURCE_INNER, MODAL_SOURCE_FLOAT, MODAL_SOURCE_DOUBLE } modal_source_form;

/* Modes that are nowhere as a whole, and maybe a mesh: their arrays are made in ranges when a file is written (formats/basis/basis_h5.h),
 * twice each. For one thread at a time; an error ends the writing. */
typedef struct modal_modes_source {
    /* tiles [first, first + count) of modal_matrix, [count, n_modes, 3, MODAL_TILE] */
    modal_status (*tiles)(void *context, int64_t first, int64_t count, float *to, modal_error *err);
    /* phi of modes [first, first + count), as inner_modes, volume_modes_float or volume_modes has it: at_nodes */
    modal_status (*nodes)(void *context, int64_t first, int64_t count, void *to, modal_error *err);
    modal_source_form at_nodes;
    /* Bytes of the array of solid.mesh at this offset of modal_shape, 0: it is not this source's; and rows [first, first + count) of it,
     * which obey the rules of the file. NULLs: the mesh is there. */
    int64_t (*mesh_bytes)(void *context, size_t offset);
    modal_status (*mesh_rows)(void *context, size_t offset, int64_t first, int64_t count, void *to, modal_error *err);
    void *context; /* borrowed, as is the source */
} modal_modes_source;

/* How the surface follows the solid. The nodes that carry vertex v, and their weights, sum 1:
 * [offsets[v] .. offsets[v + 1]). boundary: offsets and weights are NULL, vertex v is node nodes[v]. */
typedef struct modal_embedding {
    modal_surface_kind kind;
    int64_t *offsets;        /* [n_vertices + 1] */
    int32_t *nodes;          /* [offsets[n_vertices]] or [n_vertices] */
    double *weights;         /* [offsets[n_vertices]] */
    double farthest_outside; /* m, the largest distance of an embedded vertex to the solid */
} modal_embedding;

/* Names of materials by triangle, and which corners had one normal, as the user's file had them;
 * NULLs: none. */
typedef struct modal_shape_look {
    int32_t *triangle_material; /* [n_triangles] stored order: number of a name, -1 = none */
    int64_t names_bytes;
    uint8_t *material_names;    /* [names_bytes] name after name, a line end after each */
    int32_t *triangle_normal;   /* [n_triangles, 3] stored order: corners of a vertex with the same number share a normal */
} modal_shape_look;

/* Where name `number` begins, and its length, without the line end; NULL: there are fewer. */
const char *modal_look_name(const modal_shape_look *look, int32_t number, int64_t *length);
/* Number of names. */
int32_t modal_look_count(const modal_shape_look *look);
void modal_shape_look_free(modal_shape_look *look);

/* Who needs triangles takes the surface, who needs elements the solid. */
typedef struct modal_shape {
    char *name;
    unsigned char hash[MODAL_HASH_BYTES]; /* of its arrays, as read or as modal_basis_hash found; zeros: not known */
    char *file;         /* of an assembly: the file that the shape lies in, as the assembly has it; else NULL */
    int64_t file_shape; /* its index there */
    char *file_problem; /* why it could not be read (modal_basis_read_found), else NULL */
    modal_surface surface;
    modal_modes modes;
    modal_solid solid;
    modal_embedding embedding;
    modal_shape_look look;
    const modal_modes_source *source; /* of a shape to be written without modal_matrix and phi, maybe without the mesh; else NULL */
} modal_shape;

typedef struct modal_object {
    int32_t shape;         /* index of a shape */
    int32_t parent;        /* index of an object, -1 = none */
    double rest_pose[12]; /* [3, 4] row-major [R p], the shape's coordinates to the world's; the file's rest_pose */
} modal_object;

/* One step of how a file came to be: /provenance/NNN. */
typedef struct modal_provenance {
    char *tool;      /* "modalpack" */
    char *version;   /* "0.1.0" */
    char *arguments; /* the command line, shell-quoted */
    char *inputs;    /* one line an input: hash, two spaces, the name as given */
    char *back_end;  /* "cpu", "cuda", or what solved */
    char *quality;   /* the verdict on the motion that went in, and why, or NULL: no motion, or not measured */
    char *assumed_material; /* the material that the tool has chosen, as the input had none, or NULL */
} modal_provenance;

typedef struct modal_basis {
    int32_t n_shapes;
    modal_shape *shapes; /* [n_shapes] */
    int32_t n_objects;
    modal_object *objects; /* [n_objects] */
    int32_t n_provenance;
    modal_provenance *provenance; /* [n_provenance], oldest first */
    char hash[MODAL_HASH_TEXT];   /* of shapes and objects: modal_basis_hash in formats/basis/basis_h5.h */
    char recipe_hash[MODAL_HASH_TEXT]; /* of what they were made from and how; empty: not known */
} modal_basis;

/* Frees everything inside and zeroes the struct; a zeroed struct is fine. */
void modal_surface_free(modal_surface *surface);
void modal_modes_free(modal_modes *modes);
void modal_solid_free(modal_solid *solid);
void modal_embedding_free(modal_embedding *embedding);
void modal_shape_free(modal_shape *shape);
/* A tile of the modal matrix, [n_modes, 3, MODAL_TILE]; it must be there (asserted). */
const float *modal_shape_tile(const modal_shape *shape, int64_t tile);
void modal_basis_free(modal_basis *basis);
void modal_provenance_free(modal_provenance *provenance);

/* The material that one of the steps has assumed, or NULL: none has. */
const char *modal_provenance_assumed(const modal_provenance *steps, int32_t n_steps);
/* Appends copies of steps, which makes one longer list, however many they are. After an error the list is as it was. */
modal_status modal_provenance_append_copies(modal_provenance **list, int32_t *count, const modal_provenance *steps, int32_t n_steps,
                                            modal_error *err);
/* Appends one step; the texts are copied. */
modal_status modal_provenance_append(modal_provenance **list, int32_t *count, const char *tool,
                                     const char *version, const char *arguments,
                                     const char *inputs, const char *back_end, modal_error *err);

/* Number of reduced coordinates of all objects, in object order: object i owns the coordinates
 * [offsets[i], offsets[i + 1]). offsets has n_objects + 1 entries and may be NULL. */
int64_t modal_basis_mode_offsets(const modal_basis *basis, int64_t *offsets);

#endif
