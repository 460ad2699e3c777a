/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "formats/basis/basis_fields.h"
#include "formats/basis/basis_h5.h"
#include "formats/basis/basis_hash.h"
#include "formats/basis/basis_inspect.h"
#include "formats/basis/basis_solid.h"
#include "formats/h5/h5_private.h"
#include "formats/h5/provenance_h5.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"

/* What a reader would find missing. */
static modal_status check_complete(const modal_basis *basis, int32_t index, modal_error *err)
{
    const modal_checker checker = {NULL, err}, *c = &checker;
    const modal_shape *s = &basis->shapes[index];
    char where[MODAL_H5_PATH], path[32];
    snprintf(path, sizeof path, "/shapes/%04d", index);
    const modal_volume_mesh *v = &s->solid.mesh;
    for (int i = 0; i < MODAL_BASIS_FIELDS; i++) {
        const modal_h5_field *f = &modal_basis_fields[i];
        if (!modal_basis_field_missing(s, f, v->n_nodes > 0)) continue;
        snprintf(where, sizeof where, "%s/%s/%s", path, modal_basis_groups[f->group], f->name);
        return modal_broken(c, where, "missing");
    }
    if (!s->surface.uv != !s->surface.triangle_uv)
        return modal_broken(c, path, "uv and triangle_uv must both be there or neither");
    const modal_reduced_forces *forces = &s->modes.reduced_forces;
    if (!forces->linear != !forces->quadratic || !forces->linear != (!forces->cubic && !forces->quartic) ||
        (forces->cubic && forces->quartic))
        return modal_broken(c, path, "reduced forces: linear, quadratic and either cubic or quartic must be there");
    if ((s->modes.left_out.n > 0) != !!s->modes.left_out.forces.linear || (s->modes.left_out.n > 0) != !!s->modes.left_out.forces.quadratic ||
        (s->modes.left_out.n > 0) != !!s->modes.left_out.forces.cubic)
        return modal_broken(c, path, "what is left out: linear, quadratic and cubic must all be there");
    if ((unsigned)v->stiffness_rule > MODAL_STIFFNESS_INCOMPATIBLE || (v->stiffness_rule != MODAL_STIFFNESS_PLAIN && forces->linear))
        return modal_broken(c, path, "stiffness_rule must be conforming or incompatible, and conforming with reduced forces, is %d",
                            (int)v->stiffness_rule);
    const modal_left_out *slow = &s->modes.left_out;
    if (!slow->slow_participation != !slow->slow_eigenvalues || !slow->slow_bytes != !slow->slow_eigenvalues ||
        !slow->slow_scales != !slow->slow_eigenvalues || (slow->n_slow > 0 && !slow->slow_eigenvalues))
        return modal_broken(c, path, "what is left out: slow_eigenvalues, slow_participation, slow_scales and slow_matrix must all be there or none");
    if (!s->look.triangle_material != !s->look.material_names)
        return modal_broken(c, path, "look: triangle_material and material_names must both be there");
    if (!s->name) return modal_broken(c, path, "no name");
    const int elsewhere = s->source && s->source->mesh_bytes; /* what must be there of it was looked for above */
    if (v->n_nodes > 0 && !elsewhere && (!v->element_offsets || !v->element_material))
        return modal_broken(c, path, "element_offsets or element_material missing");
    if (!!s->solid.volume_modes + !!s->solid.volume_modes_float + !!s->solid.inner_modes > 1 ||
        (s->solid.inner_modes && (s->embedding.kind != MODAL_SURFACE_BOUNDARY || s->surface.n_vertices > v->n_nodes)))
        return modal_broken(c, path, "modes at the nodes must be there in one form, inner_modes where vertices are nodes");
    for (int32_t i = 0; i < v->n_materials; i++)
        if (!v->materials[i].name) return modal_broken(c, path, "material %d has no name", i);
    for (int32_t i = 0; i < v->n_groups; i++)
        if (!v->groups[i].name || (!v->groups[i].nodes && v->groups[i].n_nodes > 0) ||
            (!v->groups[i].elements && v->groups[i].n_elements > 0))
            return modal_broken(c, path, "group %d has no name or no members", i);
    return MODAL_OK;
}

static modal_status check_basis(const modal_basis *basis, modal_error *err)
{
    const modal_checker checker = {NULL, err};
    if (basis->n_shapes < 1) return modal_error_set(err, MODAL_ERROR_INPUT, "/shapes: no shapes");
    if (basis->n_objects < 1) return modal_error_set(err, MODAL_ERROR_INPUT, "/objects: no objects");
    return modal_basis_rules_objects(&checker, basis);
}

static modal_status write_volume(hid_t volume, const modal_shape *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_h5_write_text(volume, "surface_kind", modal_surface_kind_names[s->embedding.kind],
                                  err));
    MODAL_TRY(modal_h5_write_number(volume, "farthest_outside", s->embedding.farthest_outside, err));
    if (s->solid.mesh.stiffness_rule != MODAL_STIFFNESS_PLAIN)
        MODAL_TRY(modal_h5_write_text(volume, "stiffness_rule", modal_stiffness_rule_names[s->solid.mesh.stiffness_rule], err));
    MODAL_TRY(modal_basis_write_materials(volume, &s->solid.mesh, err));
    MODAL_TRY(modal_basis_write_groups(volume, &s->solid.mesh, err));
done:
    return status;
}

/* An array that the shape's source makes. */
typedef struct streamed {
    const modal_h5_field *field;
    const modal_shape *shape;
} streamed;

static modal_status make_rows(void *context, int64_t first, int64_t count, void *to, modal_error *err)
{
    const streamed *s = context;
    return modal_basis_field_stream(s->field, s->shape, first, count, to, err);
}

static modal_status write_field(hid_t group, const modal_h5_field *f, const modal_shape *s, const int64_t dims[MODAL_H5_RANK], modal_error *err)
{
    streamed from = {f, s};
    const modal_h5_rows_source source = {make_rows, &from};
    if (modal_basis_field_is_streamed(f, s)) return modal_h5_write_array_from(group, f->name, f->type, f->rank, dims, &source, err);
    return modal_h5_write_array(group, f->name, f->type, f->rank, dims, modal_basis_field_array(s, f), err);
}

static int has_left_out(const modal_shape *s) { return s->modes.left_out.n > 0 || s->modes.left_out.slow_eigenvalues; }

static modal_status write_shape(hid_t shapes, int32_t index, const modal_shape *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t place = H5I_INVALID_HID, groups[GROUP_COUNT];
    int64_t sizes[SIZE_COUNT], dims[MODAL_H5_RANK];
    char name[16];
    for (int i = 0; i < GROUP_COUNT; i++) groups[i] = H5I_INVALID_HID;
    snprintf(name, sizeof name, "%04d", index);
    MODAL_TRY(modal_h5_make_group(shapes, name, &place, err));
    MODAL_TRY(modal_h5_write_text(place, "name", s->name, err));
    for (int i = 0; i < GROUP_COUNT; i++)
        if ((i != GROUP_VOLUME || s->solid.mesh.n_nodes > 0) &&
            (i != GROUP_REDUCED || s->modes.reduced_forces.linear) &&
            (i != GROUP_LEFT_OUT || has_left_out(s)) && (i != GROUP_LOOK || s->look.triangle_material))
            MODAL_TRY(modal_h5_make_group(place, modal_basis_groups[i], &groups[i], err));
    modal_basis_sizes(s, sizes);
    for (int i = 0; i < MODAL_BASIS_FIELDS; i++) {
        const modal_h5_field *f = &modal_basis_fields[i];
        if (groups[f->group] < 0 || !modal_basis_field_is_written(f, s)) continue;
        modal_basis_field_dims(f, sizes, dims);
        MODAL_TRY(write_field(groups[f->group], f, s, dims, err));
    }
    MODAL_TRY(modal_h5_write_number(groups[GROUP_MODES], "shift", s->modes.shift, err));
    MODAL_TRY(modal_h5_write_number(groups[GROUP_MODES], "total_mass", s->modes.total_mass, err));
    MODAL_TRY(modal_h5_write_text(groups[GROUP_MODES], "mass_rule",
                                  modal_mass_rule_names[s->modes.mass_rule], err));
    if (s->modes.n_ranks > 0) {
        MODAL_TRY(modal_h5_write_text(groups[GROUP_MODES], "eigensolver", modal_basis_route_names[s->modes.route == MODAL_ROUTE_MULTIGRID], err));
        MODAL_TRY(modal_h5_write_integer(groups[GROUP_MODES], "ranks", s->modes.n_ranks, err));
    }
    if (s->modes.factor_float32)
        MODAL_TRY(modal_h5_write_text(groups[GROUP_MODES], "factor", modal_basis_factor_names[1], err));
    MODAL_TRY(modal_h5_write_text(groups[GROUP_MODES], "kind", modal_basis_kind_names[s->modes.kind], err));
    if (s->modes.kind == MODAL_KIND_IMPORTED) {
        MODAL_TRY(modal_h5_write_number(groups[GROUP_MODES], "mass_coupling", s->modes.mass_coupling, err));
        MODAL_TRY(modal_h5_write_number(groups[GROUP_MODES], "stiffness_coupling", s->modes.stiffness_coupling,
                                        err));
    }
    if (groups[GROUP_VOLUME] >= 0) MODAL_TRY(write_volume(groups[GROUP_VOLUME], s, err));
done:
    for (int i = 0; i < GROUP_COUNT; i++) status = modal_h5_end_group(&groups[i], status, err);
    return modal_h5_end_group(&place, status, err);
}

static modal_status write_objects(hid_t root, const modal_basis *basis, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t objects = H5I_INVALID_HID;
    int32_t *shape = NULL, *parent = NULL;
    double *rest_pose = NULL;
    const int64_t n = basis->n_objects, dims[3] = {n, 3, 4};
    MODAL_TRY(modal_alloc(&shape, n, sizeof *shape, "objects", err));
    MODAL_TRY(modal_alloc(&parent, n, sizeof *parent, "objects", err));
    MODAL_TRY(modal_alloc(&rest_pose, n, 12 * sizeof *rest_pose, "objects", err));
    for (int64_t i = 0; i < n; i++) {
        shape[i] = basis->objects[i].shape;
        parent[i] = basis->objects[i].parent;
        memcpy(rest_pose + 12 * i, basis->objects[i].rest_pose, 12 * sizeof *rest_pose);
    }
    MODAL_TRY(modal_h5_make_group(root, "objects", &objects, err));
    MODAL_TRY(modal_h5_write_array(objects, "shape", MODAL_H5_I32, 1, dims, shape, err));
    MODAL_TRY(modal_h5_write_array(objects, "parent", MODAL_H5_I32, 1, dims, parent, err));
    MODAL_TRY(modal_h5_write_array(objects, "rest_pose", MODAL_H5_F64, 3, dims, rest_pose, err));
done:
    modal_free(&shape);
    modal_free(&parent);
    modal_free(&rest_pose);
    return modal_h5_end_group(&objects, status, err);
}

/* The disk is told of what was written, some megabytes at a time. */
static void start_disk(hid_t file, hsize_t *told)
{
    hsize_t bytes = 0;
    if (H5Fget_filesize(file, &bytes) < 0 || bytes < *told + MODAL_DISK_PIECE) return;
    modal_h5_start_disk(file);
    *told = bytes;
}

/* What a caller who makes the shapes while they are written has to do with it; functions may be NULL. */
typedef struct passing {
    modal_basis_wait *wait;
    modal_basis_release *release;
    void *context;
} passing;

static modal_status write_all(hid_t file, const modal_basis *basis, const passing *p, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t shapes = H5I_INVALID_HID;
    hsize_t told = 0;
    modal_basis_inspection *inspection = NULL;
    char hash[MODAL_HASH_TEXT], hashed[MODAL_BASIS_HASHED];
    const int64_t hash_dims[2] = {basis->n_shapes, MODAL_HASH_BYTES};
    unsigned char *hashes = NULL;
    MODAL_TRY(modal_alloc(&hashes, basis->n_shapes, MODAL_HASH_BYTES, "hashes", err));
    MODAL_TRY(modal_basis_inspection_new(&inspection, basis, err));
    MODAL_TRY(modal_h5_write_text(file, "modal_format", "basis", err));
    MODAL_TRY(modal_h5_write_text(file, "modal_format_version", "1.0", err));
    MODAL_TRY(modal_h5_make_group(file, "shapes", &shapes, err));
    MODAL_TRY(modal_h5_write_integer(shapes, "count", basis->n_shapes, err));
    for (int32_t i = 0; i < basis->n_shapes; i++) {
        if (p->wait) MODAL_TRY(p->wait(p->context, i, err));
        MODAL_TRY(check_complete(basis, i, err));
        MODAL_TRY(modal_basis_inspection_next(inspection, err));
        MODAL_TRY(write_shape(shapes, i, &basis->shapes[i], err));
        start_disk(file, &told);
        if (p->release) modal_basis_inspection_settle(inspection);
        if (p->release) p->release(p->context, i);
    }
    modal_basis_hashed(hashed);
    if (p->wait) MODAL_TRY(p->wait(p->context, basis->n_shapes, err));
    MODAL_TRY(write_objects(file, basis, err));
    MODAL_TRY(modal_provenance_write(file, basis->provenance, basis->n_provenance, err));
    MODAL_TRY(modal_basis_inspection_end(&inspection, MODAL_OK, hashes, hash, err));
    MODAL_TRY(modal_h5_write_array(shapes, "hash", MODAL_H5_U8, 2, hash_dims, hashes, err));
    MODAL_TRY(modal_h5_write_text(file, "content_hash", hash, err));
    MODAL_TRY(modal_h5_write_text(file, "hashed", hashed, err));
    if (basis->recipe_hash[0]) MODAL_TRY(modal_h5_write_text(file, "recipe_hash", basis->recipe_hash, err));
done:
    status = modal_basis_inspection_end(&inspection, status, hashes, hash, err);
    modal_free(&hashes);
    return modal_h5_end_group(&shapes, status, err);
}

/* ---- assemblies ---- */

static modal_status write_link(hid_t shapes, int32_t index, const modal_shape *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t place = H5I_INVALID_HID;
    char name[16];
    snprintf(name, sizeof name, "%04d", index);
    MODAL_TRY(modal_h5_make_group(shapes, name, &place, err));
    MODAL_TRY(modal_h5_write_text(place, "name", s->name, err));
    MODAL_TRY(modal_h5_write_text(place, "file", s->file, err));
    MODAL_TRY(modal_h5_write_integer(place, "file_shape", s->file_shape, err));
done:
    return modal_h5_end_group(&place, status, err);
}

static modal_status write_links(hid_t file, const modal_basis *basis, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t shapes = H5I_INVALID_HID;
    modal_hash *hash = NULL;
    unsigned char *hashes = NULL;
    char text[MODAL_HASH_TEXT], hashed[MODAL_BASIS_HASHED];
    const int64_t dims[2] = {basis->n_shapes, MODAL_HASH_BYTES};
    modal_basis_hashed(hashed);
    MODAL_TRY(modal_hash_new(&hash, err));
    MODAL_TRY(modal_alloc(&hashes, basis->n_shapes, MODAL_HASH_BYTES, "hashes", err));
    MODAL_TRY(modal_h5_write_text(file, "modal_format", "basis", err));
    MODAL_TRY(modal_h5_write_text(file, "modal_format_version", "1.0", err));
    MODAL_TRY(modal_h5_make_group(file, "shapes", &shapes, err));
    MODAL_TRY(modal_h5_write_integer(shapes, "count", basis->n_shapes, err));
    for (int32_t i = 0; i < basis->n_shapes; i++) {
        MODAL_TRY(write_link(shapes, i, &basis->shapes[i], err));
        memcpy(hashes + (int64_t)MODAL_HASH_BYTES * i, basis->shapes[i].hash, MODAL_HASH_BYTES);
    }
    modal_basis_hash_content(hash, basis, hashes, text);
    MODAL_TRY(write_objects(file, basis, err));
    MODAL_TRY(modal_provenance_write(file, basis->provenance, basis->n_provenance, err));
    MODAL_TRY(modal_h5_write_array(shapes, "hash", MODAL_H5_U8, 2, dims, hashes, err));
    MODAL_TRY(modal_h5_write_text(file, "content_hash", text, err));
    MODAL_TRY(modal_h5_write_text(file, "hashed", hashed, err));
done:
    modal_free(&hashes);
    modal_hash_delete(hash);
    return modal_h5_end_group(&shapes, status, err);
}

modal_status modal_basis_write_assembly(const char *path, const modal_basis *basis, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_checker checker = {NULL, err};
    hid_t file = H5I_INVALID_HID;
    MODAL_TRY(check_basis(basis, err));
    for (int32_t i = 0; i < basis->n_shapes; i++)
        if (!basis->shapes[i].name || !basis->shapes[i].file)
            MODAL_TRY(modal_broken(&checker, "/shapes", "shape %d has no name or no file", i));
    MODAL_TRY(modal_h5_create(&file, path, err));
    status = write_links(file, basis, err);
done:
    status = modal_h5_finish(&file, status, err);
    if (status != MODAL_OK) modal_error_context(err, "%s", path);
    return status;
}

/* ---- with all shapes ---- */

modal_status modal_basis_write_passing(const char *path, const modal_basis *basis, modal_basis_wait *wait, modal_basis_release *release,
                                       void *context, modal_error *err)
{
    const passing p = {wait, release, context};
    modal_status status = MODAL_OK;
    hid_t file = H5I_INVALID_HID;
    MODAL_TRY(check_basis(basis, err));
    for (int32_t i = 0; i < basis->n_shapes && !wait; i++) MODAL_TRY(check_complete(basis, i, err));
    MODAL_TRY(modal_h5_create(&file, path, err));
    status = write_all(file, basis, &p, err);
done:
    status = modal_h5_finish(&file, status, err);
    if (status != MODAL_OK) modal_error_context(err, "%s", path);
    return status;
}

modal_status modal_basis_write_shapes(const char *path, const modal_basis *basis, modal_basis_wait *wait, void *context, modal_error *err)
{
    return modal_basis_write_passing(path, basis, wait, NULL, context, err);
}

modal_status modal_basis_write(const char *path, const modal_basis *basis, modal_error *err)
{
    return modal_basis_write_shapes(path, basis, NULL, NULL, err);
}
