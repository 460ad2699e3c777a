/* SPDX-License-Identifier: Apache-2.0 */
/* The solid as the user handed it over: nodes, elements, named groups, materials. Plain data. */
#ifndef MODAL_MODEL_VOLUME_MESH_H
#define MODAL_MODEL_VOLUME_MESH_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/model/element.h"
#include "lib/model/notes.h"

typedef enum modal_material_kind {
    MODAL_MATERIAL_ISOTROPIC = 0,
    MODAL_MATERIAL_ORTHOTROPIC = 1
} modal_material_kind;

enum { MODAL_PRONY_TERMS = 8 };

/* Viscosity in Prony terms, of one part of the stress: under a strain that is held it falls as
 * (1 - sum_i share_i (1 - exp(-t / time_i))) S_e, where S_e is the law's. */
typedef struct modal_prony {
    int32_t n;
    double share[MODAL_PRONY_TERMS], time[MODAL_PRONY_TERMS]; /* > 0, their sum < 1; s, > 0 */
} modal_prony;

/* Elastic material at small strains, and what is said of it for large ones, which modaltled moves; SI units. */
typedef struct modal_material {
    char *name;
    double young;   /* E, Pa; isotropic only, 0 otherwise */
    double poisson; /* nu; isotropic only, 0 otherwise */
    double density; /* rho, kg/m^3 */
    modal_material_kind kind;
    /* orthotropic only, 0 otherwise */
    double orthotropic[9]; /* E1 E2 E3 Pa, nu12 nu13 nu23, G12 G13 G23 Pa; nu_ij = -e_j / e_i under
                              tension along i */
    double axes[9];        /* [3, 3] row i: unit vector of material axis i in the solid's coordinates */
    int law;               /* of large deformations: index of modal_material_law_names (material.h); 0: not said */
    double fibre_stiffness; /* eta, Pa: the energy eta/4 (I4' - 1)^2 of fibres, I4' = J^(-2/3) a . C a; 0: none */
    double fibre[3];        /* a, unit vector at rest; 0: of each element its own (modal_volume_mesh.element_fibres) */
    modal_prony isochoric, volumetric;
} modal_material;

/* A named set. Volume groups (dimension 3) list elements and their nodes; line and point groups their nodes only; surface groups
 * their nodes, and their faces where a reader of meshes found triangles and quadrilaterals only. Nodes and elements ascend, without repeats. */
typedef struct modal_group {
    char *name;
    int32_t dimension; /* 0 .. 3 */
    int32_t tag;       /* the file's number for it, or -1 */
    int64_t n_nodes;
    int32_t *nodes; /* [n_nodes] indices of nodes */
    int64_t n_elements;
    int32_t *elements; /* [n_elements] indices of elements */
    int64_t n_faces;
    int32_t *faces;    /* [n_faces, 4] corners as the file has them, the fourth -1 of a triangle; or NULL: not known */
} modal_group;

/* Nodes that the file says are held (Abaqus: *BOUNDARY with zero values). */
typedef struct modal_condition {
    modal_group group;  /* its nodes, of dimension 2; the name of their set, or NULL: given by their numbers */
    uint8_t components; /* 1: x, 2: y, 4: z, added */
} modal_condition;

/* How the stiffness of linear elements is made (lib/fem/enhanced.h has the formulas, docs/elements.md what they do). The values
 * stand in basis.h5 and stay. */
typedef enum modal_stiffness_rule {
    MODAL_STIFFNESS_PLAIN = 0,       /* every element is conforming */
    MODAL_STIFFNESS_INCOMPATIBLE = 1 /* HEX8 has incompatible modes; HEX8 and WEDGE6 of nearly incompressible isotropic
                                        materials keep their volume as a whole */
} modal_stiffness_rule;

/* Kinds of what a file asks of a solid, or says of a material, and that is not supported. */
typedef enum modal_unsupported {
    MODAL_UNSUPPORTED_BOUNDARY = 0, /* lines of *BOUNDARY */
    MODAL_UNSUPPORTED_CONSTRAINTS,  /* ties, equations, contact ... */
    MODAL_UNSUPPORTED_ELEMENTS,     /* springs, masses, shells, beams ... */
    MODAL_UNSUPPORTED_PRELOAD,      /* what stresses the solid before it vibrates */
    MODAL_UNSUPPORTED_MATERIAL,     /* plasticity, viscosity, fibres ... */
    MODAL_UNSUPPORTED_KEYWORDS,     /* whose meaning is not known */
    MODAL_UNSUPPORTED_KINDS
} modal_unsupported;

/* What a deck says of its HEX8: bits. */
enum { MODAL_HEX8_SAID_PLAIN = 1, MODAL_HEX8_SAID_INCOMPATIBLE = 2 };

typedef struct modal_volume_mesh {
    int64_t n_nodes;
    double *nodes;      /* [n_nodes, 3] m */
    int64_t *node_tags; /* [n_nodes] the user's number of each node */
    int64_t n_elements;
    /* Element e is of type element_type[e] (modal_element_type) and has the nodes
     * element_nodes[element_offsets[e] .. element_offsets[e + 1]), in the order of element.h. */
    uint8_t *element_type;    /* [n_elements] */
    int64_t *element_offsets; /* [n_elements + 1], from 0 */
    int32_t *element_nodes;   /* [element_offsets[n_elements]] indices of nodes */
    int64_t *element_tags; /* [n_elements] the user's number of each element */
    int32_t n_groups;
    modal_group *groups; /* [n_groups] */
    int32_t n_materials;
    modal_material *materials; /* [n_materials] */
    int32_t *element_material; /* [n_elements] index of a material, -1 = none yet */
    double *element_fibres;    /* [n_elements, 3] unit vectors, 0 where the material says the direction, or NULL */
    modal_stiffness_rule stiffness_rule;
    unsigned hex8_said; /* by the file, for who chooses the rule; 0: nothing */
    int materials_in_mesh_units; /* 1: in the consistent system of the coordinates' unit (units.h), 0: in SI */
    int32_t n_conditions;
    modal_condition *conditions; /* [n_conditions], or NULL; who holds the nodes is the caller's to decide */
    modal_notes not_taken[MODAL_UNSUPPORTED_KINDS]; /* what else the file asks for and the solid would move otherwise with */
    modal_notes notes;     /* what the reader left out or assumed otherwise */
} modal_volume_mesh;

static inline const modal_element_kind *modal_mesh_kind(const modal_volume_mesh *mesh, int64_t e)
{
    return &modal_element_kinds[mesh->element_type[e]];
}

static inline int32_t *modal_mesh_nodes(const modal_volume_mesh *mesh, int64_t e)
{
    return mesh->element_nodes + mesh->element_offsets[e];
}

/* 1 where every element is of this type: the answer for none is 1. */
int modal_volume_mesh_is_all(const modal_volume_mesh *mesh, modal_element_type type);

/* Allocates element_type, element_offsets and element_nodes for n elements of one type and fills the
 * first two; nodes are uninitialised. n_elements is set, the other arrays are the caller's affair.
 * On an error the three are NULL. */
modal_status modal_volume_mesh_new_elements(modal_volume_mesh *mesh, int64_t n,
                                            modal_element_type type, modal_error *err);

/* Frees everything inside and zeroes the struct; a zeroed struct is fine. */
void modal_volume_mesh_free(modal_volume_mesh *mesh);

/* A finer surface to be carried by the solid, as read from a file. Plain data. */
typedef struct modal_surface_mesh {
    int64_t n_vertices;
    double *positions; /* [n_vertices, 3] m */
    int64_t n_triangles;
    int32_t *triangles; /* [n_triangles, 3] indices of vertices */
    int64_t n_uv;
    double *uv;           /* [n_uv, 2], or NULL */
    int32_t *triangle_uv; /* [n_triangles, 3] indices of uv, or NULL */
    int32_t *triangle_normal; /* [n_triangles, 3] corners with the same number had the same normal (vn of .obj), numbered from 0 by their first corner;
                                 or NULL */
    uint8_t *colours;     /* [n_vertices, 4] red green blue alpha as sRGB (.ply), or NULL */
    int64_t n_clamped;    /* vertices whose colour, of floats, is not in 0 to 1 */
    int32_t n_parts;
    char **part_names;      /* [n_parts] named parts of the surface, or NULL */
    int32_t *triangle_part; /* [n_triangles] index of a part, -1 = in none; or NULL where n_parts is 0 */
    int32_t n_materials;
    char **material_names;      /* [n_materials] of looks (usemtl of .obj), or NULL */
    int32_t *triangle_material; /* [n_triangles] index of a name, -1 = none; or NULL */
    int32_t n_libraries;
    char **libraries; /* [n_libraries] what each mtllib line of an .obj says, or NULL */
    modal_notes notes;      /* what the reader left out or assumed */
} modal_surface_mesh;

void modal_surface_mesh_free(modal_surface_mesh *surface);

#endif
