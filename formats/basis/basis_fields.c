/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/basis/basis_fields.h"

#include <string.h>

#include "formats/basis/basis_h5.h"

#define AT(member) offsetof(modal_shape, member)
#define S(symbol) SIZE_OF(SIZE_##symbol)
#define SURFACE MODAL_BASIS_SURFACE
#define MATRIX MODAL_BASIS_MATRIX
#define MODES MODAL_BASIS_MODES
#define VOLUME MODAL_BASIS_VOLUME
#define REDUCED MODAL_BASIS_REDUCED
#define LEFT_OUT MODAL_BASIS_LEFT_OUT
#define LOOK MODAL_BASIS_LOOK
#define V_MODES MODAL_BASIS_VOLUME_MODES
#define F64 MODAL_H5_F64
#define F32 MODAL_H5_F32
#define I64 MODAL_H5_I64
#define I32 MODAL_H5_I32
#define U8 MODAL_H5_U8
#define MUST MODAL_H5_REQUIRED
#define MAY MODAL_H5_OPTIONAL

/* The order is the order in the file; and where a size is first met, it is learned. */
const modal_h5_field modal_basis_fields[MODAL_BASIS_FIELDS] = {
    {GROUP_SURFACE, "rest_positions", AT(surface.rest_positions), SURFACE, F64, MUST, 2, {S(VERTICES), 3}},
    {GROUP_SURFACE, "triangles", AT(surface.triangles), SURFACE, I32, MUST, 2, {S(TRIANGLES), 3}},
    {GROUP_SURFACE, "user_vertex", AT(surface.user_vertex), SURFACE, I32, MUST, 1, {S(VERTICES)}},
    {GROUP_SURFACE, "user_triangle", AT(surface.user_triangle), SURFACE, I32, MUST, 1, {S(TRIANGLES)}},
    {GROUP_SURFACE, "uv", AT(surface.uv), SURFACE, F64, MAY, 2, {S(UV), 2}},
    {GROUP_SURFACE, "triangle_uv", AT(surface.triangle_uv), SURFACE, I32, MAY, 2, {S(TRIANGLES), 3}},
    {GROUP_SURFACE, "corner_normals", AT(look.triangle_normal), LOOK, I32, MAY, 2, {S(TRIANGLES), 3}},
    {GROUP_TABLES, "face_offsets", AT(surface.face_offsets), SURFACE, I64, MUST, 1, {S(OFFSETS)}},
    {GROUP_TABLES, "faces", AT(surface.faces), SURFACE, I32, MUST, 1, {S(FACES)}},
    {GROUP_TABLES, "boundary", AT(surface.boundary), SURFACE, U8, MUST, 1, {S(VERTICES)}},
    {GROUP_MODES, "modal_matrix", AT(modes.modal_matrix), MATRIX, F32, MUST, 4, {S(TILES), S(MODES), 3, MODAL_TILE}},
    {GROUP_MODES, "eigenvalues", AT(modes.eigenvalues), MODES, F64, MUST, 1, {S(MODES)}},
    {GROUP_MODES, "frequencies", AT(modes.frequencies), MODES, F64, MUST, 1, {S(MODES)}},
    {GROUP_MODES, "modal_masses", AT(modes.modal_masses), MODES, F64, MUST, 1, {S(MODES)}},
    {GROUP_MODES, "residuals", AT(modes.residuals), MODES, F64, MUST, 1, {S(MODES)}},
    {GROUP_MODES, "orthogonality", AT(modes.orthogonality), MODES, F64, MAY, 1, {S(MODES)}},
    {GROUP_MODES, "sturm_count", AT(modes.sturm_count), MODES, F64, MAY, 1, {3}},
    {GROUP_MODES, "participation", AT(modes.participation), MODES, F64, MUST, 2, {S(MODES), 3}},
    {GROUP_MODES, "rigid_eigenvalues", AT(modes.rigid_eigenvalues), MODES, F64, MUST, 1, {S(RIGID)}},
    {GROUP_REDUCED, "linear", AT(modes.reduced_forces.linear), REDUCED, F64, MAY, 2, {S(MODES), S(MODES)}},
    {GROUP_REDUCED, "quadratic", AT(modes.reduced_forces.quadratic), REDUCED, F64, MAY, 2, {S(MODES), S(QUADRATIC)}},
    {GROUP_REDUCED, "cubic", AT(modes.reduced_forces.cubic), REDUCED, F64, MAY, 2, {S(MODES), S(CUBIC)}},
    {GROUP_REDUCED, "quartic", AT(modes.reduced_forces.quartic), REDUCED, F64, MAY, 1, {S(QUARTIC)}},
    {GROUP_VOLUME, "nodes", AT(solid.mesh.nodes), VOLUME, F64, MUST, 2, {S(NODES), 3}},
    {GROUP_VOLUME, "node_tags", AT(solid.mesh.node_tags), VOLUME, I64, MUST, 1, {S(NODES)}},
    {GROUP_VOLUME, "element_types", AT(solid.mesh.element_type), VOLUME, U8, MUST, 1, {S(ELEMENTS)}},
    {GROUP_VOLUME, "element_nodes", AT(solid.mesh.element_nodes), VOLUME, I32, MUST, 1, {S(ELEMENT_NODES)}},
    {GROUP_VOLUME, "element_tags", AT(solid.mesh.element_tags), VOLUME, I64, MUST, 1, {S(ELEMENTS)}},
    {GROUP_VOLUME, "element_material", AT(solid.mesh.element_material), VOLUME, I32, MAY, 1, {S(ELEMENTS)}},
    {GROUP_VOLUME, "fibres", AT(solid.mesh.element_fibres), VOLUME, F64, MAY, 2, {S(ELEMENTS), 3}},
    {GROUP_VOLUME, "fixed_nodes", AT(solid.fixed_nodes), VOLUME, I32, MUST, 1, {S(FIXED)}},
    {GROUP_VOLUME, "fixed_components", AT(solid.fixed_components), VOLUME, U8, MUST, 1, {S(FIXED)}},
    {GROUP_VOLUME, "volume_modes", AT(solid.volume_modes), V_MODES, F64, MAY, 3, {S(MODES), S(NODES), 3}},
    {GROUP_VOLUME, "volume_modes", AT(solid.volume_modes_float), V_MODES, F32, MAY, 3, {S(MODES), S(NODES), 3}},
    {GROUP_VOLUME, "inner_modes", AT(solid.inner_modes), V_MODES, F32, MAY, 3, {S(MODES), S(INNER), 3}},
    {GROUP_VOLUME, "embedding_offsets", AT(embedding.offsets), VOLUME, I64, MAY, 1, {S(OFFSETS)}},
    {GROUP_VOLUME, "embedding_nodes", AT(embedding.nodes), VOLUME, I32, MUST, 1, {S(EMBEDDED)}},
    {GROUP_VOLUME, "embedding_weights", AT(embedding.weights), VOLUME, F64, MAY, 1, {S(EMBEDDED)}},
    {GROUP_LEFT_OUT, "linear", AT(modes.left_out.forces.linear), LEFT_OUT, F64, MAY, 2, {S(LEFT_OUT), S(MODES)}},
    {GROUP_LEFT_OUT, "quadratic", AT(modes.left_out.forces.quadratic), LEFT_OUT, F64, MAY, 2, {S(LEFT_OUT), S(QUADRATIC)}},
    {GROUP_LEFT_OUT, "cubic", AT(modes.left_out.forces.cubic), LEFT_OUT, F64, MAY, 2, {S(LEFT_OUT), S(CUBIC)}},
    {GROUP_LEFT_OUT, "slow_eigenvalues", AT(modes.left_out.slow_eigenvalues), LEFT_OUT, F64, MAY, 1, {S(SLOW)}},
    {GROUP_LEFT_OUT, "slow_participation", AT(modes.left_out.slow_participation), LEFT_OUT, F64, MAY, 2, {S(SLOW), 3}},
    {GROUP_LEFT_OUT, "slow_scales", AT(modes.left_out.slow_scales), LEFT_OUT, F64, MAY, 1, {S(SLOW)}},
    {GROUP_LEFT_OUT, "slow_matrix", AT(modes.left_out.slow_bytes), LEFT_OUT, U8, MAY, 4, {S(TILES), S(SLOW), 3, MODAL_TILE}},
    {GROUP_LOOK, "triangle_material", AT(look.triangle_material), LOOK, I32, MAY, 1, {S(TRIANGLES)}},
    {GROUP_LOOK, "material_names", AT(look.material_names), LOOK, U8, MAY, 1, {S(LOOK_NAMES)}},
};

const char *const modal_basis_groups[GROUP_COUNT] = {"surface", "tables", "modes", "reduced_forces", "volume", "truncation", "look"};
const char *const modal_mass_rule_names[2] = {"consistent", "lumped"};
const char *const modal_stiffness_rule_names[2] = {"conforming", "incompatible"};
const char *const modal_basis_route_names[2] = {"slepc direct", "slepc multigrid"};
const char *const modal_surface_kind_names[2] = {"boundary", "embedded"};
const char *const modal_basis_kind_names[4] = {"modes", "derivatives", "snapshots", "imported"};
const char *const modal_basis_factor_names[2] = {"float64", "float32"};
const char *const modal_material_kind_names[2] = {"isotropic", "orthotropic"};
const char *const modal_orthotropic_attributes[9] = {"young_1",    "young_2",    "young_3",
                                                     "poisson_12", "poisson_13", "poisson_23",
                                                     "shear_12",   "shear_13",   "shear_23"};

void *modal_basis_field_array(const modal_shape *shape, const modal_h5_field *field)
{
    void *array;
    memcpy(&array, (const char *)shape + field->offset, sizeof array);
    return array;
}

void modal_basis_derived_sizes(int64_t sizes[SIZE_COUNT])
{
    enum { MOST = 1 << 20, MOST_OF_FOURTH = 1 << 15 }; /* of modes: beyond, no dataset can have the size */
    const int64_t n = sizes[SIZE_VERTICES], r = sizes[SIZE_MODES];
    sizes[SIZE_OFFSETS] = n < 0 ? -1 : n + 1;
    sizes[SIZE_TILES] = n < 0 ? -1 : modal_tile_count(n);
    sizes[SIZE_INNER] = n < 0 || sizes[SIZE_NODES] < n ? -1 : sizes[SIZE_NODES] - n;
    sizes[SIZE_QUADRATIC] = r < 0 ? -1 : r > MOST ? INT64_MAX : modal_quadratic_count(r);
    sizes[SIZE_CUBIC] = r < 0 ? -1 : r > MOST ? INT64_MAX : modal_cubic_count(r);
    sizes[SIZE_QUARTIC] = r < 0 ? -1 : r > MOST_OF_FOURTH ? INT64_MAX : modal_quartic_count(r);
}

/* Of an array of the mesh that the shape's source makes, else 0. */
static int64_t mesh_bytes(const modal_shape *s, size_t offset)
{
    return s->source && s->source->mesh_bytes ? s->source->mesh_bytes(s->source->context, offset) : 0;
}

void modal_basis_sizes(const modal_shape *shape, int64_t sizes[SIZE_COUNT])
{
    int64_t n = shape->surface.n_vertices;
    sizes[0] = 0;
    sizes[SIZE_VERTICES] = n;
    sizes[SIZE_TRIANGLES] = shape->surface.n_triangles;
    sizes[SIZE_UV] = shape->surface.n_uv;
    sizes[SIZE_FACES] = shape->surface.face_offsets ? shape->surface.face_offsets[n] : 0;
    sizes[SIZE_MODES] = shape->modes.n_modes;
    sizes[SIZE_RIGID] = shape->modes.n_rigid_modes;
    sizes[SIZE_NODES] = shape->solid.mesh.n_nodes;
    sizes[SIZE_ELEMENTS] = shape->solid.mesh.n_elements;
    sizes[SIZE_ELEMENT_NODES] = shape->solid.mesh.element_offsets ? shape->solid.mesh.element_offsets[shape->solid.mesh.n_elements]
                                : mesh_bytes(shape, AT(solid.mesh.element_nodes)) / (int64_t)sizeof(int32_t);
    sizes[SIZE_FIXED] = shape->solid.n_fixed_nodes;
    sizes[SIZE_LEFT_OUT] = shape->modes.left_out.n;
    sizes[SIZE_SLOW] = shape->modes.left_out.n_slow;
    sizes[SIZE_LOOK_NAMES] = shape->look.names_bytes;
    sizes[SIZE_EMBEDDED] = shape->embedding.offsets ? shape->embedding.offsets[n] : n;
    modal_basis_derived_sizes(sizes);
}

void modal_basis_field_dims(const modal_h5_field *field, const int64_t sizes[SIZE_COUNT],
                            int64_t dims[MODAL_H5_RANK])
{
    for (int i = 0; i < field->rank; i++)
        dims[i] = field->dims[i] >= 0 ? field->dims[i] : sizes[-field->dims[i]];
}

int modal_basis_field_is_hashed(const modal_h5_field *field)
{
    return field->group != GROUP_TABLES && field->group != GROUP_LEFT_OUT && field->part != LOOK && field->offset != AT(solid.mesh.element_fibres);
}

int modal_basis_field_is_streamed(const modal_h5_field *field, const modal_shape *s)
{
    if (!s->source) return 0;
    if (mesh_bytes(s, field->offset) > 0) return 1;
    const size_t at_nodes[] = {SIZE_MAX, offsetof(modal_shape, solid.inner_modes), offsetof(modal_shape, solid.volume_modes_float),
                               offsetof(modal_shape, solid.volume_modes)};
    return field->offset == offsetof(modal_shape, modes.modal_matrix) || field->offset == at_nodes[s->source->at_nodes];
}

modal_status modal_basis_field_stream(const modal_h5_field *field, const modal_shape *s, int64_t first, int64_t count, void *to,
                                      modal_error *err)
{
    const modal_modes_source *source = s->source;
    if (mesh_bytes(s, field->offset) > 0) return source->mesh_rows(source->context, field->offset, first, count, to, err);
    return field->offset == offsetof(modal_shape, modes.modal_matrix) ? source->tiles(source->context, first, count, to, err)
                                                                      : source->nodes(source->context, first, count, to, err);
}

int modal_basis_field_is_written(const modal_h5_field *field, const modal_shape *s)
{
    const char *array = modal_basis_field_array(s, field);
    if (modal_basis_field_is_streamed(field, s)) return 1;
    if (!array) return 0;
    if (array != (const char *)s->solid.mesh.element_material) return 1;
    for (int64_t e = 0; e < s->solid.mesh.n_elements; e++)
        if (s->solid.mesh.element_material[e] != 0) return 1;
    return 0;
}

int modal_basis_field_missing(const modal_shape *shape, const modal_h5_field *field, int solid)
{
    return field->need == MODAL_H5_REQUIRED && (field->group != GROUP_VOLUME || solid) &&
           !modal_basis_field_array(shape, field) && !modal_basis_field_is_streamed(field, shape);
}
