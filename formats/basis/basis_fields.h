/* SPDX-License-Identifier: Apache-2.0 */
/* The arrays of a shape as one table, which the reader, the writer and the checker of basis.h5 walk.
 * A private header of the format. */
#ifndef MODAL_FORMATS_BASIS_FIELDS_H
#define MODAL_FORMATS_BASIS_FIELDS_H

#include "formats/h5/findings.h"
#include "formats/h5/fields.h"
#include "lib/base/hash.h"
#include "lib/model/basis.h"

/* A dimension is a number >= 0 or one of these. */
typedef enum modal_basis_size {
    SIZE_VERTICES = 1,
    SIZE_OFFSETS, /* vertices + 1 */
    SIZE_TILES,   /* of the vertices */
    SIZE_TRIANGLES,
    SIZE_UV,
    SIZE_FACES,
    SIZE_MODES,
    SIZE_QUADRATIC, /* monomials of second degree in the modes */
    SIZE_CUBIC,     /* of third degree */
    SIZE_QUARTIC,   /* of fourth degree */
    SIZE_RIGID,
    SIZE_NODES,
    SIZE_ELEMENTS,
    SIZE_ELEMENT_NODES,
    SIZE_FIXED,
    SIZE_INNER, /* nodes - vertices */
    SIZE_EMBEDDED,
    SIZE_LEFT_OUT,
    SIZE_SLOW,
    SIZE_LOOK_NAMES, /* bytes */
    SIZE_COUNT
} modal_basis_size;
#define SIZE_OF(symbol) (-(symbol))

typedef enum modal_basis_group {
    GROUP_SURFACE,
    GROUP_TABLES,
    GROUP_MODES,
    GROUP_REDUCED,
    GROUP_VOLUME,
    GROUP_LEFT_OUT,
    GROUP_LOOK,
    GROUP_COUNT
} modal_basis_group;

enum { MODAL_BASIS_FIELDS = 47 };
extern const modal_h5_field modal_basis_fields[MODAL_BASIS_FIELDS];
extern const char *const modal_basis_groups[GROUP_COUNT];

/* The names of enumerations in the file. */
extern const char *const modal_mass_rule_names[2];
extern const char *const modal_stiffness_rule_names[2];
extern const char *const modal_basis_route_names[2]; /* MODAL_ROUTE_DIRECT, MODAL_ROUTE_MULTIGRID */
extern const char *const modal_surface_kind_names[2];
extern const char *const modal_basis_kind_names[4];
extern const char *const modal_basis_factor_names[2];
extern const char *const modal_material_kind_names[2];
/* The attributes of an orthotropic material, in the order of modal_material.orthotropic. */
extern const char *const modal_orthotropic_attributes[9];

/* The address of the array. */
void *modal_basis_field_array(const modal_shape *shape, const modal_h5_field *field);

/* 1 for an array that shape->source makes; and rows [first, first + count) of it. */
int modal_basis_field_is_streamed(const modal_h5_field *field, const modal_shape *shape);
modal_status modal_basis_field_stream(const modal_h5_field *field, const modal_shape *shape, int64_t first, int64_t count, void *to,
                                      modal_error *err);

/* 1 for an array that is there and that a file has: element_material only where it says something. */
int modal_basis_field_is_written(const modal_h5_field *field, const modal_shape *shape);

/* 1 for an array that the hashes cover: not tables, which follow from others, nor what is measured of a basis, nor its
 * looks, nor fibres, which linear modes do not depend on. */
int modal_basis_field_is_hashed(const modal_h5_field *field);

/* 1 for an array that a shape must have (`solid`: with a /volume) and that is NULL. */
int modal_basis_field_missing(const modal_shape *shape, const modal_h5_field *field, int solid);

/* Sizes by symbol, from the counts in the struct. FACES, ELEMENT_NODES and EMBEDDED come from
 * the offsets (0 without, ELEMENT_NODES then from the shape's source; EMBEDDED: the vertices). */
void modal_basis_sizes(const modal_shape *shape, int64_t sizes[SIZE_COUNT]);

/* The sizes that follow from others: OFFSETS and TILES from the vertices, QUADRATIC, CUBIC and QUARTIC from the modes,
 * INNER from nodes and vertices; -1 from -1. */
void modal_basis_derived_sizes(int64_t sizes[SIZE_COUNT]);

/* Dimensions of a field; -1 where the size is not known. */
void modal_basis_field_dims(const modal_h5_field *field, const int64_t sizes[SIZE_COUNT],
                            int64_t dims[MODAL_H5_RANK]);

/* All rules on values that the specification has, for the arrays that are there; `deep`: those that are left to the
 * checker, too. FACES, ELEMENT_NODES and EMBEDDED are the lengths that these arrays really have. */
modal_status modal_basis_rules_shape(const modal_checker *checker, const char *path, const modal_shape *shape,
                                     const int64_t sizes[SIZE_COUNT], int deep);
modal_status modal_basis_rules_objects(const modal_checker *checker, const modal_basis *basis);

#endif
