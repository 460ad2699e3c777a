/* SPDX-License-Identifier: Apache-2.0 */
/* Reading basis.h5, for use (the first broken rule ends it) and for the checker (all are listed). */
#include <stdio.h>
#include <string.h>

#include "formats/basis/basis_fields.h"
#include "formats/basis/basis_h5.h"
#include "formats/basis/basis_hash.h"
#include "formats/basis/basis_layout.h"
#include "formats/basis/basis_parts.h"
#include "formats/basis/basis_solid.h"
#include "formats/h5/provenance_h5.h"
#include "formats/h5/rules.h"
#include "lib/base/memory.h"

static const modal_h5_place nowhere = {H5I_INVALID_HID, ""};

/* What the checker's read gathers on its way; NULL for any other read. */
typedef struct content {
    modal_hash *hash;
    modal_basis_list list;
} content;

/* Reads a field. `seen` tells which sizes an earlier field has defined already: the first field
 * that has a size defines it. Where that one is broken, the size is unknown (-1), and the values of
 * the others are not read, so that every array in memory is as long as the counts say. */
static modal_status read_field(const modal_h5_in *in, const modal_h5_place *group,
                               const modal_h5_field *field, unsigned parts, modal_shape *shape,
                               int64_t sizes[SIZE_COUNT], int seen[SIZE_COUNT])
{
    int64_t dims[MODAL_H5_RANK];
    int readable = (parts & field->part) != 0;
    modal_basis_derived_sizes(sizes);
    modal_basis_field_dims(field, sizes, dims);
    for (int i = 0; i < field->rank; i++)
        if (dims[i] < 0 && seen[-field->dims[i]]) readable = 0;
    modal_status status =
        modal_h5_read_array(in, group, field->name, field->type, field->rank, dims, field->need,
                            readable ? (char *)shape + field->offset : NULL);
    for (int i = 0; i < field->rank; i++) {
        int symbol = field->dims[i] < 0 ? -field->dims[i] : 0;
        if (symbol && !seen[symbol]) sizes[symbol] = dims[i];
        seen[symbol] = 1;
    }
    return status;
}

static int64_t known(int64_t size) { return size < 0 ? 0 : size; }

/* Of two fields of one name, in float64 and float32, the one that the file has; where it has neither, the first. */
static int is_the_one(const modal_h5_place places[GROUP_COUNT], const modal_h5_field *field)
{
    if (field->part != MODAL_BASIS_VOLUME_MODES || strcmp(field->name, "volume_modes") != 0) return 1;
    return modal_h5_is_float(&places[field->group], field->name) == (field->type == MODAL_H5_F32);
}

static modal_status read_fields(const modal_h5_in *in, const modal_h5_place places[GROUP_COUNT], unsigned parts, modal_shape *s,
                                int64_t sizes[SIZE_COUNT], int *plain)
{
    /* these follow from others; no field defines them */
    int seen[SIZE_COUNT] = {[SIZE_OFFSETS] = 1, [SIZE_TILES] = 1,   [SIZE_QUADRATIC] = 1,
                            [SIZE_CUBIC] = 1,   [SIZE_QUARTIC] = 1, [SIZE_INNER] = 1};
    for (int i = 0; i < SIZE_COUNT; i++) sizes[i] = -1;
    for (int i = 0; i < MODAL_BASIS_FIELDS; i++) {
        modal_status status = MODAL_OK;
        const modal_h5_field *field = &modal_basis_fields[i];
        if (!is_the_one(places, field)) continue;
        if (field->part == MODAL_BASIS_MATRIX)
            status = modal_basis_layout(in, &places[field->group], plain);
        if (status == MODAL_OK && *plain && field->part == MODAL_BASIS_MATRIX) {
            status = modal_basis_read_plain(in, &places[field->group], sizes[SIZE_VERTICES], (parts & field->part) != 0,
                                            &sizes[SIZE_MODES], &s->modes.modal_matrix);
            seen[SIZE_MODES] = 1;
        } else if (status == MODAL_OK) {
            status = read_field(in, &places[field->group], field, parts, s, sizes, seen);
        }
        if (status != MODAL_OK) return status;
    }
    const int64_t in_32_bits[] = {sizes[SIZE_VERTICES], sizes[SIZE_TRIANGLES],
                                  sizes[SIZE_MODES],    sizes[SIZE_RIGID],
                                  sizes[SIZE_NODES],    sizes[SIZE_ELEMENTS], sizes[SIZE_LEFT_OUT],
                                  sizes[SIZE_SLOW]};
    for (size_t i = 0; i < sizeof in_32_bits / sizeof *in_32_bits; i++)
        if (in_32_bits[i] > INT32_MAX)
            /* A size of 2^31 goes no further: the struct could not even hold it. */
            return modal_error_set(in->checker.err, MODAL_ERROR_INPUT, "%s: %lld rows, at most %d",
                                   places[GROUP_SURFACE].path, (long long)in_32_bits[i], INT32_MAX);
    s->surface.n_vertices = known(sizes[SIZE_VERTICES]);
    s->surface.n_triangles = known(sizes[SIZE_TRIANGLES]);
    s->surface.n_uv = known(sizes[SIZE_UV]);
    s->modes.n_modes = (int32_t)known(sizes[SIZE_MODES]);
    s->modes.n_rigid_modes = (int32_t)known(sizes[SIZE_RIGID]);
    s->solid.mesh.n_nodes = known(sizes[SIZE_NODES]);
    s->solid.mesh.n_elements = known(sizes[SIZE_ELEMENTS]);
    s->solid.n_fixed_nodes = known(sizes[SIZE_FIXED]);
    s->modes.left_out.n = s->modes.left_out.forces.linear ? (int32_t)known(sizes[SIZE_LEFT_OUT]) : 0;
    s->modes.left_out.n_slow = s->modes.left_out.slow_eigenvalues ? (int32_t)known(sizes[SIZE_SLOW]) : 0;
    s->look.names_bytes = s->look.material_names ? known(sizes[SIZE_LOOK_NAMES]) : 0;
    sizes[SIZE_FACES] = known(sizes[SIZE_FACES]);
    sizes[SIZE_ELEMENT_NODES] = known(sizes[SIZE_ELEMENT_NODES]);
    sizes[SIZE_EMBEDDED] = known(sizes[SIZE_EMBEDDED]);
    return MODAL_OK;
}

/* The attributes of a shape's groups. */
static modal_status read_attributes(const modal_h5_in *in, const modal_h5_place *groups, modal_shape *s)
{
    modal_status status = MODAL_OK;
    int choice = 0;
    MODAL_TRY(modal_h5_read_number(in, &groups[GROUP_MODES], "shift", &s->modes.shift));
    MODAL_TRY(modal_h5_read_number(in, &groups[GROUP_MODES], "total_mass", &s->modes.total_mass));
    MODAL_TRY(modal_basis_read_choice(in, &groups[GROUP_MODES], "mass_rule", MODAL_H5_REQUIRED, 2,
                          modal_mass_rule_names, &choice));
    s->modes.mass_rule = (modal_mass_rule)choice;
    MODAL_TRY(modal_basis_read_choice(in, &groups[GROUP_MODES], "factor", MODAL_H5_OPTIONAL, 2, modal_basis_factor_names,
                          &s->modes.factor_float32));
    if (modal_h5_has_attribute(&groups[GROUP_MODES], "eigensolver")) {
        int64_t n_ranks = 0;
        MODAL_TRY(modal_basis_read_choice(in, &groups[GROUP_MODES], "eigensolver", MODAL_H5_REQUIRED, 2, modal_basis_route_names,
                                          &choice));
        s->modes.route = choice == 0 ? MODAL_ROUTE_DIRECT : MODAL_ROUTE_MULTIGRID;
        MODAL_TRY(modal_h5_read_integer(in, &groups[GROUP_MODES], "ranks", 1, INT32_MAX, &n_ranks));
        s->modes.n_ranks = (int32_t)n_ranks;
        choice = 0;
    }
    MODAL_TRY(modal_basis_read_choice(in, &groups[GROUP_MODES], "kind", MODAL_H5_OPTIONAL, 4,
                          modal_basis_kind_names, &choice));
    s->modes.kind = (modal_basis_kind)choice;
    if (s->modes.kind == MODAL_KIND_IMPORTED) {
        MODAL_TRY(modal_h5_read_number(in, &groups[GROUP_MODES], "mass_coupling", &s->modes.mass_coupling));
        MODAL_TRY(
            modal_h5_read_number(in, &groups[GROUP_MODES], "stiffness_coupling", &s->modes.stiffness_coupling));
    }
    MODAL_TRY(
        modal_h5_read_number(in, &groups[GROUP_VOLUME], "farthest_outside", &s->embedding.farthest_outside));
    MODAL_TRY(modal_basis_read_choice(in, &groups[GROUP_VOLUME], "surface_kind", MODAL_H5_REQUIRED, 2,
                          modal_surface_kind_names, &choice));
    s->embedding.kind = (modal_surface_kind)choice;
    choice = MODAL_STIFFNESS_PLAIN;
    MODAL_TRY(modal_basis_read_choice(in, &groups[GROUP_VOLUME], "stiffness_rule", MODAL_H5_OPTIONAL, 2,
                          modal_stiffness_rule_names, &choice));
    s->solid.mesh.stiffness_rule = (modal_stiffness_rule)choice;
    if (s->solid.mesh.stiffness_rule != MODAL_STIFFNESS_PLAIN && groups[GROUP_REDUCED].id >= 0)
        MODAL_TRY(modal_broken(&in->checker, groups[GROUP_VOLUME].path, "stiffness_rule must be %s with reduced_forces, is %s",
                               modal_stiffness_rule_names[MODAL_STIFFNESS_PLAIN], modal_stiffness_rule_names[choice]));
done:
    return status;
}

/* The arrays of forces are all there where their group is. */
static modal_status check_forces(const modal_h5_in *in, const modal_h5_place groups[GROUP_COUNT], unsigned parts,
                                 const modal_shape *s)
{
    modal_status status = MODAL_OK;
    const modal_reduced_forces *forces = &s->modes.reduced_forces;
    if ((parts & MODAL_BASIS_REDUCED) && groups[GROUP_REDUCED].id >= 0 &&
        (!forces->linear || !forces->quadratic || !forces->cubic == !forces->quartic))
        MODAL_TRY(modal_broken(&in->checker, groups[GROUP_REDUCED].path,
                               "linear, quadratic and either cubic or quartic must be there"));
    const modal_reduced_forces *more = &s->modes.left_out.forces;
    if ((parts & MODAL_BASIS_LEFT_OUT) && groups[GROUP_LEFT_OUT].id >= 0 &&
        (!more->linear != !more->quadratic || !more->linear != !more->cubic))
        MODAL_TRY(modal_broken(&in->checker, groups[GROUP_LEFT_OUT].path, "linear, quadratic and cubic must all be there or none"));
done:
    return status;
}

/* The slow motions as the numbers that they stand for. */
static modal_status decode_slow(int64_t n_tiles, modal_left_out *slow, modal_error *err)
{
    const int64_t size = 3 * MODAL_TILE;
    if (!slow->slow_bytes || !slow->slow_scales) return MODAL_OK;
    const modal_status status = modal_alloc(&slow->slow_matrix, n_tiles * slow->n_slow * size, sizeof(float), "slow motions", err);
    if (status != MODAL_OK) return status;
    for (int64_t row = 0; row < n_tiles * slow->n_slow; row++) {
        const float scale = (float)(slow->slow_scales[row % slow->n_slow] / MODAL_SLOW_MOST);
        for (int64_t i = row * size; i < (row + 1) * size; i++) slow->slow_matrix[i] = scale * (float)(slow->slow_bytes[i] - MODAL_SLOW_ZERO);
    }
    return MODAL_OK;
}

static modal_status read_shape(const modal_h5_in *in, const modal_h5_place *shapes, int32_t index, unsigned parts,
                               content *deep, modal_shape *s)
{
    modal_status status = MODAL_OK;
    modal_h5_place place = nowhere, groups[GROUP_COUNT];
    int64_t sizes[SIZE_COUNT];
    char name[16];
    int plain = 0, partial = 0, linked = 0;
    for (int i = 0; i < GROUP_COUNT; i++) groups[i] = nowhere;
    snprintf(name, sizeof name, "%04d", index);
    MODAL_TRY(modal_h5_enter(in, shapes, name, MODAL_H5_REQUIRED, &place));
    MODAL_TRY(modal_h5_read_text(in, &place, "name", &s->name));
    MODAL_TRY(modal_basis_read_link(in, &place, s, &linked));
    if (linked) goto done;
    for (int i = 0; i < GROUP_COUNT; i++)
        MODAL_TRY(modal_h5_enter(in, &place, modal_basis_groups[i],
                                 i == GROUP_VOLUME || i == GROUP_REDUCED || i == GROUP_LEFT_OUT || i == GROUP_LOOK
                                     ? MODAL_H5_OPTIONAL
                                     : MODAL_H5_REQUIRED,
                                 &groups[i]));
    /* inner_modes are the rest of what the matrix and the embedding have */
    if ((parts & MODAL_BASIS_VOLUME_MODES) && modal_h5_has_link(&groups[GROUP_VOLUME], "inner_modes"))
        parts |= MODAL_BASIS_MATRIX | MODAL_BASIS_VOLUME;
    MODAL_TRY(read_fields(in, groups, parts, s, sizes, &plain));
    if ((parts & MODAL_BASIS_SURFACE) && !s->surface.uv != !s->surface.triangle_uv)
        MODAL_TRY(modal_broken(&in->checker, groups[GROUP_SURFACE].path,
                               "uv and triangle_uv must both be there or neither"));
    MODAL_TRY(check_forces(in, groups, parts, s));
    const modal_left_out *slow = &s->modes.left_out;
    if (!slow->slow_eigenvalues != !slow->slow_participation || !slow->slow_eigenvalues != !slow->slow_bytes ||
        !slow->slow_eigenvalues != !slow->slow_scales)
        MODAL_TRY(modal_broken(&in->checker, groups[GROUP_LEFT_OUT].path,
                               "slow_eigenvalues, slow_participation, slow_scales and slow_matrix must all be there or none"));
    MODAL_TRY(decode_slow(modal_tile_count(s->surface.n_vertices), &s->modes.left_out, in->checker.err));
    if ((parts & MODAL_BASIS_LOOK) && groups[GROUP_LOOK].id >= 0 &&
        (!s->look.triangle_material || !s->look.material_names))
        MODAL_TRY(modal_broken(&in->checker, groups[GROUP_LOOK].path, "triangle_material and material_names must both be there"));
    MODAL_TRY(read_attributes(in, groups, s));
    if ((parts & MODAL_BASIS_VOLUME) && groups[GROUP_VOLUME].id >= 0) {
        MODAL_TRY(modal_basis_read_materials(in, &groups[GROUP_VOLUME], &s->solid.mesh));
        MODAL_TRY(modal_basis_read_groups(in, &groups[GROUP_VOLUME], &s->solid.mesh));
    }
    if (deep)
        for (int i = 0; i < MODAL_BASIS_FIELDS; i++)
            partial |= modal_basis_field_missing(s, &modal_basis_fields[i], groups[GROUP_VOLUME].id >= 0);
    if (parts & MODAL_BASIS_VOLUME) MODAL_TRY(modal_basis_implied(in, &groups[GROUP_VOLUME], s));
    MODAL_TRY(modal_basis_rules_shape(&in->checker, place.path, s, sizes, deep != NULL));
    if (deep) {
        unsigned char bytes[MODAL_HASH_BYTES];
        char found[MODAL_HASH_TEXT], said[MODAL_HASH_TEXT];
        MODAL_TRY(modal_basis_hash_listed(in, &place, &deep->list, s, sizes, plain, deep->hash, bytes));
        modal_hash_print(bytes, found);
        modal_hash_print(s->hash, said);
        if (!partial && deep->list.text[0] && strcmp(found, said) != 0)
            MODAL_TRY(modal_broken(&in->checker, "/shapes/hash", "the content of %s has %s, the file says %s",
                                   place.path, found, said));
    }
done:
    for (int i = 0; i < GROUP_COUNT; i++) modal_h5_leave(&groups[i]);
    modal_h5_leave(&place);
    return status;
}

/* What is to be read. */
typedef struct choice {
    const char *path; /* of the basis; NULL: in memory */
    unsigned parts;
    modal_basis_chooser *choose; /* or NULL: the same parts of all */
    void *context;
    int found;          /* what is wrong with a shape that lies in another file is kept in it, and no error */
    const char *hashed; /* the basis's list; NULL: not known */
} choice;

/* ---- shapes that lie in other files ---- */

/* Puts the shape that the link in `s` leads to in its place, with the name that it has here. After an error `s` is as
 * before. */
static modal_status read_linked(const modal_basis_part *part, unsigned parts, content *deep, modal_shape *s)
{
    modal_error *err = part->in.checker.err;
    modal_shape read = {0};
    modal_status status = modal_basis_part_has(part, s, err);
    memcpy(read.hash, s->hash, MODAL_HASH_BYTES);
    if (status == MODAL_OK)
        status = read_shape(&part->in, &part->shapes, (int32_t)s->file_shape, parts, deep, &read);
    if (status == MODAL_OK && read.file)
        status = modal_error_set(err, MODAL_ERROR_INPUT, "shape %lld lies in a third file, %s",
                                 (long long)s->file_shape, read.file);
    if (status != MODAL_OK) {
        modal_shape_free(&read);
        return status;
    }
    modal_free(&read.name);
    read.name = s->name;
    read.file = s->file;
    read.file_shape = s->file_shape;
    *s = read;
    return MODAL_OK;
}

/* What is wrong with a shape in another file: an error, a finding, or kept in the shape. */
static modal_status report_linked(const modal_h5_in *in, const choice *wanted, int32_t index, modal_status wrong,
                                  const char *what, modal_shape *s)
{
    char where[MODAL_H5_PATH];
    snprintf(where, sizeof where, "/shapes/%04d: %.200s", index, s->file);
    if (wrong != MODAL_ERROR_INPUT) return modal_error_set(in->checker.err, wrong, "%s: %s", where, what);
    if (!wanted->found) return modal_broken(&in->checker, where, "%s", what);
    return modal_copy_text(&s->file_problem, what, SIZE_MAX, in->checker.err);
}

/* The shapes order[n], all of one file. */
static modal_status read_part(const modal_h5_in *in, const choice *wanted, const unsigned *parts, const content *deep,
                              const int32_t *order, int32_t n, modal_basis *basis)
{
    modal_error err = {0};
    modal_findings found = {0}, *list = in->checker.findings ? &found : NULL;
    modal_basis_part part = {0};
    content of_part = {.hash = deep ? deep->hash : NULL, .list = {.text = ""}};
    char *path = NULL;
    modal_status status = MODAL_OK;
    modal_status opened = modal_basis_find_part(wanted->path, basis->shapes[order[0]].file, &path, &err);
    if (opened == MODAL_OK) opened = modal_basis_part_open(&part, path, wanted->hashed, list, in->budget, &err);
    if (opened == MODAL_OK && deep) opened = modal_basis_list_init(&of_part.list, part.hashed, &part.in.checker);
    for (int32_t k = 0; k < n && status == MODAL_OK; k++) {
        const int32_t i = order[k];
        modal_shape *s = &basis->shapes[i];
        status = opened;
        if (status == MODAL_OK) status = read_linked(&part, parts[i], deep ? &of_part : NULL, s);
        if (status != MODAL_OK) status = report_linked(in, wanted, i, status, err.message, s);
        for (int64_t f = 0; f < found.n && status == MODAL_OK; f++)
            status = report_linked(in, wanted, i, MODAL_ERROR_INPUT, found.texts[f], s);
        modal_findings_free(&found);
        if (opened == MODAL_OK) err = (modal_error){0};
        else if (list) break; /* once is enough */
    }
    modal_findings_free(&found);
    return modal_basis_part_close(&part, status, in->checker.err);
}

/* One file after the other, so that no more than one is open, and each is opened once. */
static modal_status read_parts(const modal_h5_in *in, const choice *wanted, const unsigned *parts, const content *deep,
                               modal_basis *basis)
{
    int32_t *order = NULL, n = 0, end = 0;
    modal_status status = modal_basis_sort_links(basis, &order, &n, in->checker.err);
    for (int32_t begin = 0; begin < n && status == MODAL_OK; begin = end) {
        const char *file = basis->shapes[order[begin]].file;
        for (end = begin + 1; end < n && strcmp(file, basis->shapes[order[end]].file) == 0;) end++;
        status = read_part(in, wanted, parts, deep, order + begin, end - begin, basis);
    }
    modal_free(&order);
    return status;
}

/* ---- the file ---- */

static modal_status read_objects(const modal_h5_in *in, const modal_h5_place *root, modal_basis *basis);

/* /shapes/hash: without it the hashes stay zeros. */
static modal_status read_hashes(const modal_h5_in *in, const modal_h5_place *shapes, modal_basis *basis)
{
    int64_t dims[2] = {basis->n_shapes, MODAL_HASH_BYTES};
    unsigned char *hashes = NULL;
    const modal_status status =
        modal_h5_read_array(in, shapes, "hash", MODAL_H5_U8, 2, dims, MODAL_H5_REQUIRED, &hashes);
    for (int64_t i = 0; hashes && i < basis->n_shapes; i++)
        memcpy(basis->shapes[i].hash, hashes + MODAL_HASH_BYTES * i, MODAL_HASH_BYTES);
    modal_free(&hashes);
    return status;
}

static modal_status read_shapes(const modal_h5_in *in, const modal_h5_place *root, const choice *wanted,
                                content *deep, modal_basis *basis)
{
    modal_status status = MODAL_OK;
    modal_h5_place shapes = nowhere;
    unsigned *parts = NULL; /* [n] */
    int32_t n = 0;
    MODAL_TRY(modal_h5_enter(in, root, "shapes", MODAL_H5_REQUIRED, &shapes));
    MODAL_TRY(modal_h5_read_count(in, &shapes, &n));
    if (n == 0) MODAL_TRY(modal_broken(&in->checker, "/shapes", "no shapes"));
    MODAL_TRY(
        modal_alloc_zero(&basis->shapes, n, sizeof *basis->shapes, "shapes", in->checker.err));
    basis->n_shapes = n;
    MODAL_TRY(read_hashes(in, &shapes, basis));
    MODAL_TRY(modal_alloc(&parts, n, sizeof *parts, "shapes", in->checker.err));
    for (int32_t i = 0; i < n; i++) parts[i] = wanted->parts;
    if (wanted->choose) {
        MODAL_TRY(read_objects(in, root, basis));
        MODAL_TRY(wanted->choose(wanted->context, basis, parts, in->checker.err));
    }
    for (int32_t i = 0; i < n; i++)
        MODAL_TRY(read_shape(in, &shapes, i, parts[i], deep, &basis->shapes[i]));
    MODAL_TRY(read_parts(in, wanted, parts, deep, basis));
done:
    modal_free(&parts);
    modal_h5_leave(&shapes);
    return status;
}

static modal_status read_objects(const modal_h5_in *in, const modal_h5_place *root,
                                 modal_basis *basis)
{
    modal_status status = MODAL_OK;
    modal_h5_place objects = nowhere;
    int64_t dims[3] = {-1, 3, 4};
    int32_t *shape = NULL, *parent = NULL;
    double *rest_pose = NULL;
    MODAL_TRY(modal_h5_enter(in, root, "objects", MODAL_H5_REQUIRED, &objects));
    MODAL_TRY(modal_h5_read_array(in, &objects, "shape", MODAL_H5_I32, 1, dims, MODAL_H5_REQUIRED,
                                  &shape));
    MODAL_TRY(modal_h5_read_array(in, &objects, "parent", MODAL_H5_I32, 1, dims, MODAL_H5_REQUIRED,
                                  &parent));
    MODAL_TRY(modal_h5_read_array(in, &objects, "rest_pose", MODAL_H5_F64, 3, dims,
                                  MODAL_H5_REQUIRED, &rest_pose));
    if (!shape || !parent || !rest_pose) goto done; /* reported above */
    if (dims[0] < 1 || dims[0] > INT32_MAX) {
        status =
            modal_broken(&in->checker, "/objects", "number of objects must be 1 to %d, is %lld",
                         INT32_MAX, (long long)dims[0]);
        goto done;
    }
    MODAL_TRY(modal_alloc_zero(&basis->objects, dims[0], sizeof *basis->objects, "objects",
                               in->checker.err));
    basis->n_objects = (int32_t)dims[0];
    for (int32_t i = 0; i < basis->n_objects; i++) {
        basis->objects[i].shape = shape[i];
        basis->objects[i].parent = parent[i];
        memcpy(basis->objects[i].rest_pose, rest_pose + 12 * (int64_t)i,
               sizeof basis->objects[i].rest_pose);
    }
    MODAL_TRY(modal_basis_rules_objects(&in->checker, basis));
done:
    modal_free(&shape);
    modal_free(&parent);
    modal_free(&rest_pose);
    modal_h5_leave(&objects);
    return status;
}

/* Compares the content hash, which was stated, with what was gathered. */
static modal_status check_content(const modal_h5_in *in, const modal_h5_place *root, content *found,
                                  const modal_basis *basis, const char *stated)
{
    modal_status status = MODAL_OK;
    char text[MODAL_HASH_TEXT];
    if (basis->n_shapes == 0 || basis->n_objects == 0) return MODAL_OK; /* reported */
    if (!found->list.text[0]) return MODAL_OK;
    MODAL_TRY(modal_basis_hash_listed_content(in, root, &found->list, found->hash, text));
    if (strcmp(stated, text) != 0)
        MODAL_TRY(modal_broken(&in->checker, "/@content_hash", "the content has %s, the file says %.64s", text, stated));
done:
    return status;
}

static modal_status read_recipe(const modal_h5_in *in, const modal_h5_place *root, modal_basis *basis)
{
    modal_status status = MODAL_OK;
    char *recipe = NULL;
    if (modal_h5_has_attribute(root, "recipe_hash")) MODAL_TRY(modal_h5_read_text(in, root, "recipe_hash", &recipe));
    MODAL_TRY(modal_rule_hash(&in->checker, "/@recipe_hash", recipe));
    if (recipe) snprintf(basis->recipe_hash, sizeof basis->recipe_hash, "%.32s", recipe);
done:
    modal_free(&recipe);
    return status;
}

static modal_status read_all(const modal_h5_in *in, choice wanted, int deep, modal_basis *basis)
{
    modal_status status = MODAL_OK;
    modal_h5_place root = nowhere;
    char *hash = NULL, *hashed = NULL;
    content found = {.list = {.text = ""}}, *gathered = deep ? &found : NULL;
    if (deep) MODAL_TRY(modal_hash_new(&found.hash, in->checker.err));
    MODAL_TRY(modal_h5_check_root(in, "basis", 1));
    MODAL_TRY(modal_h5_enter(in, NULL, NULL, MODAL_H5_REQUIRED, &root));
    MODAL_TRY(modal_h5_read_text(in, &root, "content_hash", &hash));
    MODAL_TRY(modal_rule_hash(&in->checker, "/@content_hash", hash));
    if (hash) snprintf(basis->hash, sizeof basis->hash, "%.32s", hash);
    MODAL_TRY(read_recipe(in, &root, basis));
    MODAL_TRY(modal_h5_read_text(in, &root, "hashed", &hashed));
    if (deep && hashed) MODAL_TRY(modal_basis_list_init(&found.list, hashed, &in->checker));
    wanted.hashed = hashed;
    MODAL_TRY(read_shapes(in, &root, &wanted, gathered, basis));
    if (!wanted.choose) MODAL_TRY(read_objects(in, &root, basis));
    MODAL_TRY(modal_provenance_read(in, &root, MODAL_H5_REQUIRED, &basis->provenance,
                                    &basis->n_provenance));
    if (deep && hash) MODAL_TRY(check_content(in, &root, &found, basis, hash));
done:
    modal_hash_delete(found.hash);
    modal_free(&hash);
    modal_free(&hashed);
    modal_h5_leave(&root);
    return status;
}

static modal_status read_choice_of(const modal_h5_source *source, const choice *wanted, int deep,
                                   modal_findings *findings, modal_h5_budget *budget, modal_basis *basis,
                                   modal_error *err)
{
    modal_h5_in in = {.file = H5I_INVALID_HID, .checker = {findings, err}, .budget = budget};
    memset(basis, 0, sizeof *basis);
    modal_status status = modal_h5_open(&in, source);
    if (status == MODAL_OK) status = read_all(&in, *wanted, deep, basis);
    status = modal_h5_close(&in, status);
    if (status != MODAL_OK) {
        modal_basis_free(basis);
        modal_error_context(err, "%s", source->path);
    }
    return status;
}

static modal_status read_source(const modal_h5_source *source, unsigned parts, int deep,
                                modal_findings *findings, modal_basis *basis, modal_error *err)
{
    const choice all = {.path = source->bytes ? NULL : source->path, .parts = parts};
    return read_choice_of(source, &all, deep, findings, NULL, basis, err);
}

modal_status modal_basis_read(const char *path, unsigned parts, modal_basis *basis,
                              modal_error *err)
{
    const modal_h5_source source = {path, NULL, 0};
    return read_source(&source, parts, 0, NULL, basis, err);
}

modal_status modal_basis_read_chosen(const char *path, modal_basis_chooser *choose, void *context,
                                     int64_t limit_bytes, int64_t *used_bytes, modal_basis *basis,
                                     modal_error *err)
{
    const modal_h5_source source = {path, NULL, 0};
    const choice wanted = {.path = path, .choose = choose, .context = context};
    modal_h5_budget budget = {.limit = limit_bytes};
    modal_status status = read_choice_of(&source, &wanted, 0, NULL, &budget, basis, err);
    *used_bytes = budget.used;
    return status;
}

modal_status modal_basis_read_found(const char *path, unsigned parts, modal_basis *basis, modal_error *err)
{
    const modal_h5_source source = {path, NULL, 0};
    const choice wanted = {.path = path, .parts = parts, .found = 1};
    return read_choice_of(&source, &wanted, 0, NULL, NULL, basis, err);
}

modal_status modal_basis_read_image(const void *bytes, size_t length, const char *name,
                                    unsigned parts, modal_basis *basis, modal_error *err)
{
    const modal_h5_source source = {name, bytes ? bytes : "", length};
    return read_source(&source, parts, 0, NULL, basis, err);
}

static modal_status check_source(const modal_h5_source *source, modal_findings *findings,
                                 modal_error *err)
{
    modal_basis basis;
    modal_status status = read_source(source, MODAL_BASIS_ALL, 1, findings, &basis, err);
    if (status == MODAL_OK) modal_basis_free(&basis);
    return status;
}

modal_status modal_basis_check(const char *path, modal_findings *findings, modal_error *err)
{
    const modal_h5_source source = {path, NULL, 0};
    return check_source(&source, findings, err);
}

modal_status modal_basis_check_image(const void *bytes, size_t length, const char *name,
                                     modal_findings *findings, modal_error *err)
{
    const modal_h5_source source = {name, bytes ? bytes : "", length};
    return check_source(&source, findings, err);
}

modal_status modal_basis_count_shapes(const char *path, int32_t *n, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_h5_source source = {path, NULL, 0};
    modal_h5_in in = {H5I_INVALID_HID, 0, {NULL, err}};
    modal_h5_place root = nowhere, shapes = nowhere;
    *n = 0;
    MODAL_TRY(modal_h5_open(&in, &source));
    MODAL_TRY(modal_h5_check_root(&in, "basis", 1));
    MODAL_TRY(modal_h5_enter(&in, NULL, NULL, MODAL_H5_REQUIRED, &root));
    MODAL_TRY(modal_h5_enter(&in, &root, "shapes", MODAL_H5_REQUIRED, &shapes));
    MODAL_TRY(modal_h5_read_count(&in, &shapes, n));
done:
    modal_h5_leave(&shapes);
    modal_h5_leave(&root);
    status = modal_h5_close(&in, status);
    if (status != MODAL_OK) modal_error_context(err, "%s", path);
    return status;
}
