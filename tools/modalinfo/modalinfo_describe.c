/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/basis/basis_h5.h"
#include "formats/h5/h5_util.h"
#include "formats/h5/provenance_h5.h"
#include "formats/sequences/sequence_checked.h"
#include "formats/snapshots/snapshots_check.h"
#include "formats/octree/octree_h5.h"
#include "formats/textures/textures_h5.h"
#include "formats/trajectory/trajectory_h5.h"
#include "formats/json/json_text.h"
#include "lib/base/memory.h"
#include "lib/base/memory_file.h"
#include "lib/model/material.h"
#include "tools/common/mode_table.h"
#include "tools/common/pipes.h"
#include "tools/common/quality.h"
#include "tools/common/trajectory_input.h"
#include "tools/modalinfo/modalinfo.h"

static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

static void set_integer(json_t *object, const char *key, int64_t value)
{
    set(object, key, json_integer((json_int_t)value));
}

static json_t *numbers(const double *values, int64_t n)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < n; i++) json_array_append_new(list, json_real(values[i]));
    return list;
}

static json_t *begin(const char *path, const char *type)
{
    struct stat info;
    json_t *object = json_object();
    set(object, "file", modal_json_string(path));
    set(object, "type", json_string(type));
    if (stat(path, &info) == 0) set_integer(object, "bytes", info.st_size);
    return object;
}

static json_t *provenance(const modal_provenance *steps, int32_t n)
{
    json_t *list = json_array();
    for (int32_t i = 0; i < n; i++) {
        json_t *step = json_object();
        set(step, "tool", modal_json_string(steps[i].tool));
        set(step, "version", modal_json_string(steps[i].version));
        set(step, "arguments", modal_json_string(steps[i].arguments));
        set(step, "inputs", modal_json_string(steps[i].inputs));
        set(step, "backend", modal_json_string(steps[i].back_end));
        if (steps[i].quality) set(step, "quality", modal_json_string(steps[i].quality));
        if (steps[i].assumed_material) set(step, "assumed_material", modal_json_string(steps[i].assumed_material));
        json_array_append_new(list, step);
    }
    return list;
}

static json_t *bounding_box(const double *positions, int64_t n)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < 3 * n; i++) {
        if (positions[i] < low[i % 3]) low[i % 3] = positions[i];
        if (positions[i] > high[i % 3]) high[i % 3] = positions[i];
    }
    json_t *box = json_array();
    json_array_append_new(box, numbers(low, 3));
    json_array_append_new(box, numbers(high, 3));
    return box;
}

/* {"TET4": 12}: the types that occur. */
static json_t *count_types(const modal_volume_mesh *v)
{
    json_t *types = json_object();
    int64_t counts[MODAL_ELEMENT_TYPES] = {0};
    for (int64_t e = 0; e < v->n_elements; e++) counts[v->element_type[e]]++;
    for (int i = 0; i < MODAL_ELEMENT_TYPES; i++)
        if (counts[i] > 0) set_integer(types, modal_element_kinds[i].name, counts[i]);
    return types;
}

static int64_t count_partly_fixed(const modal_solid *s)
{
    int64_t n = 0;
    for (int64_t i = 0; i < s->n_fixed_nodes; i++) n += s->fixed_components[i] != MODAL_FIXED_ALL;
    return n;
}

static json_t *describe_terms(const modal_prony *p)
{
    json_t *terms = json_array();
    for (int i = 0; i < p->n; i++) json_array_append_new(terms, json_pack("[f, f]", p->share[i], p->time[i]));
    return terms;
}

/* What is said of large deformations. */
static void describe_law(json_t *one, const modal_material *m)
{
    if (m->law > 0 && m->law < MODAL_MATERIAL_LAWS) set(one, "law", json_string(modal_material_law_names[m->law]));
    if (m->fibre_stiffness != 0) set(one, "fibres", json_pack("{s:f, s:o}", "stiffness", m->fibre_stiffness, "direction", numbers(m->fibre, 3)));
    if (m->isochoric.n > 0 || m->volumetric.n > 0)
        set(one, "prony", json_pack("{s:o, s:o}", "isochoric", describe_terms(&m->isochoric), "volumetric", describe_terms(&m->volumetric)));
}

static json_t *describe_material(const modal_material *m)
{
    json_t *one = json_object();
    set(one, "name", modal_json_string(m->name));
    set(one, "density", json_real(m->density));
    describe_law(one, m);
    if (m->kind == MODAL_MATERIAL_ISOTROPIC) {
        set(one, "young", json_real(m->young));
        set(one, "poisson", json_real(m->poisson));
        return one;
    }
    json_t *axes = json_array();
    for (int i = 0; i < 9; i++) set(one, modal_orthotropic_names[i], json_real(m->orthotropic[i]));
    for (int i = 0; i < 3; i++) json_array_append_new(axes, numbers(m->axes + 3 * i, 3));
    set(one, "axes", axes);
    return one;
}

/* Nodes, elements, materials and groups. */
static json_t *describe_mesh(const modal_volume_mesh *v)
{
    json_t *solid = json_object(), *materials = json_array(), *groups = json_array();
    set_integer(solid, "nodes", v->n_nodes);
    set_integer(solid, "elements", v->n_elements);
    set(solid, "element_types", count_types(v));
    for (int32_t i = 0; i < v->n_materials; i++) json_array_append_new(materials, describe_material(&v->materials[i]));
    for (int32_t i = 0; i < v->n_groups; i++) {
        json_t *one = json_object();
        set(one, "name", modal_json_string(v->groups[i].name));
        set_integer(one, "dimension", v->groups[i].dimension);
        set_integer(one, "nodes", v->groups[i].n_nodes);
        set_integer(one, "elements", v->groups[i].n_elements);
        json_array_append_new(groups, one);
    }
    if (v->element_fibres) set(solid, "fibres_by_element", json_true());
    set(solid, "materials", materials);
    set(solid, "groups", groups);
    return solid;
}

static json_t *describe_solid(const modal_shape *s)
{
    json_t *solid = describe_mesh(&s->solid.mesh);
    set_integer(solid, "fixed_nodes", s->solid.n_fixed_nodes);
    set_integer(solid, "partly_fixed_nodes", count_partly_fixed(&s->solid));
    set(solid, "surface",
        json_string(s->embedding.kind == MODAL_SURFACE_BOUNDARY ? "boundary" : "embedded"));
    set(solid, "farthest_outside", json_real(s->embedding.farthest_outside));
    return solid;
}

/* Of snapshots. */
static json_t *describe_moved(const modal_snapshots_solid *s)
{
    int64_t counts[MODAL_MATERIAL_LAWS] = {0};
    json_t *solid = describe_mesh(&s->mesh), *laws = json_object();
    double mass = 0;
    for (int64_t i = 0; i < s->mesh.n_nodes; i++) mass += s->mass[i];
    for (int64_t e = 0; s->laws && e < s->mesh.n_elements; e++) counts[s->laws[e]]++;
    for (int k = 0; k < MODAL_MATERIAL_LAWS; k++)
        if (counts[k] > 0) set_integer(laws, modal_material_law_names[k], counts[k]);
    set(solid, "laws", laws);
    set(solid, "mass", json_real(mass));
    set_integer(solid, "triangles", s->n_triangles);
    return solid;
}

static int32_t largest(const int32_t *values, int64_t n)
{
    int32_t found = 0;
    for (int64_t i = 0; i < n; i++) found = values[i] > found ? values[i] : found;
    return found;
}

static json_t *names_of(const modal_shape_look *look)
{
    json_t *names = json_array();
    int64_t length = 0;
    char *copy = NULL;
    const char *name;
    for (int32_t i = 0; (name = modal_look_name(look, i, &length)) != NULL; i++) {
        if (modal_copy_text(&copy, name, (size_t)length, NULL) == MODAL_OK) json_array_append_new(names, modal_json_string(copy));
        modal_free(&copy);
    }
    return names;
}

static json_t *describe_shape(const modal_basis *b, int32_t index)
{
    const modal_shape *s = &b->shapes[index];
    json_t *shape = json_object(), *modes = NULL;
    int64_t n_boundary = 0, n_objects = 0;
    for (int32_t i = 0; i < b->n_objects; i++) n_objects += b->objects[i].shape == index;
    set(shape, "name", modal_json_string(s->name));
    set_integer(shape, "objects", n_objects);
    if (s->file) {
        set(shape, "file", modal_json_string(s->file));
        set_integer(shape, "file_shape", s->file_shape);
    }
    if (s->file_problem) {
        set(shape, "problem", modal_json_string(s->file_problem));
        return shape;
    }
    for (int64_t v = 0; v < s->surface.n_vertices; v++) n_boundary += s->surface.boundary[v];
    set_integer(shape, "vertices", s->surface.n_vertices);
    set_integer(shape, "triangles", s->surface.n_triangles);
    set_integer(shape, "boundary_vertices", n_boundary);
    set_integer(shape, "texture_coordinates", s->surface.n_uv);
    if (s->look.triangle_material) set(shape, "materials", names_of(&s->look));
    if (s->look.triangle_normal) set_integer(shape, "corner_normals", largest(s->look.triangle_normal, 3 * s->surface.n_triangles) + 1);
    set(shape, "bounding_box", bounding_box(s->surface.rest_positions, s->surface.n_vertices));
    set(shape, "total_mass", json_real(s->modes.total_mass));
    set(shape, "mass_rule",
        json_string(s->modes.mass_rule == MODAL_MASS_LUMPED ? "lumped" : "consistent"));
    if (s->solid.mesh.stiffness_rule != MODAL_STIFFNESS_PLAIN) set(shape, "stiffness_rule", json_string("incompatible"));
    static const char *const kinds[4] = {"modes", "derivatives", "snapshots", "imported"};
    set(shape, "kind", json_string(kinds[s->modes.kind]));
    if (s->modes.kind == MODAL_KIND_IMPORTED) {
        set(shape, "mass_coupling", json_real(s->modes.mass_coupling));
        set(shape, "stiffness_coupling", json_real(s->modes.stiffness_coupling));
    }
    set(shape, "reduced_forces", json_boolean(s->modes.reduced_forces.linear != NULL));
    if (s->modes.reduced_forces.quartic) set_integer(shape, "energy_terms", modal_quartic_count(s->modes.n_modes));
    if (s->modes.n_ranks > 0) {
        set(shape, "eigensolver", json_string(s->modes.route == MODAL_ROUTE_MULTIGRID ? "slepc multigrid" : "slepc direct"));
        set_integer(shape, "ranks", s->modes.n_ranks);
    }
    if (s->modes.factor_float32) set(shape, "factor", json_string("float32"));
    set(shape, "shift", json_real(s->modes.shift));
    set_integer(shape, "rigid_modes", s->modes.n_rigid_modes);
    set(shape, "rigid_eigenvalues", numbers(s->modes.rigid_eigenvalues, s->modes.n_rigid_modes));
    if (s->modes.sturm_count) {
        set(shape, "sturm_shift", json_real(s->modes.sturm_count[0]));
        set_integer(shape, "sturm_count", (int64_t)s->modes.sturm_count[1]);
    }
    set_integer(shape, "modal_matrix_bytes",
                modal_tile_count(s->surface.n_vertices) * s->modes.n_modes * 3 * MODAL_TILE * 4);
    modes = tool_mode_table(s);
    json_object_update(shape, modes);
    json_decref(modes);
    if (s->solid.mesh.n_nodes > 0) set(shape, "solid", describe_solid(s));
    return shape;
}

modal_status modalinfo_describe_basis(const char *path, json_t **info, modal_error *err)
{
    modal_basis basis;
    int32_t n_linked = 0, n_missing = 0;
    modal_status status = modal_basis_read_found(
        path, MODAL_BASIS_SURFACE | MODAL_BASIS_MODES | MODAL_BASIS_VOLUME | MODAL_BASIS_REDUCED | MODAL_BASIS_LOOK,
        &basis, err);
    if (status != MODAL_OK) return status;
    for (int32_t i = 0; i < basis.n_shapes; i++) {
        n_linked += basis.shapes[i].file != NULL;
        n_missing += basis.shapes[i].file_problem != NULL;
    }
    json_t *object = begin(path, "basis"), *shapes = json_array();
    set(object, "content_hash", modal_json_string(basis.hash));
    if (basis.recipe_hash[0]) set(object, "recipe_hash", modal_json_string(basis.recipe_hash));
    set_integer(object, "objects", basis.n_objects);
    if (n_missing == 0) set_integer(object, "reduced_coordinates", modal_basis_mode_offsets(&basis, NULL));
    if (n_linked > 0) {
        set_integer(object, "shapes_in_other_files", n_linked);
        set_integer(object, "shapes_missing", n_missing);
    }
    for (int32_t i = 0; i < basis.n_shapes; i++)
        json_array_append_new(shapes, describe_shape(&basis, i));
    set(object, "shapes", shapes);
    set(object, "provenance", provenance(basis.provenance, basis.n_provenance));
    modal_basis_free(&basis);
    *info = object;
    return MODAL_OK;
}

/* Times: [n] -> first, last, duration, and frames a second where they are evenly spaced. */
static void set_times(json_t *object, const double *times, int64_t n)
{
    double duration = times[n - 1] - times[0];
    set_integer(object, "frames", n);
    set(object, "first_time", json_real(times[0]));
    set(object, "last_time", json_real(times[n - 1]));
    set(object, "duration", json_real(duration));
    if (n < 2) return;
    double step = duration / (double)(n - 1);
    int even = 1;
    for (int64_t i = 1; i < n; i++)
        if (!(fabs(times[i] - times[i - 1] - step) <= 1e-6 * step)) even = 0;
    set(object, "evenly_spaced", json_boolean(even));
    set(object, "frames_per_second", json_real(1.0 / step));
}

static void set_basis_state(json_t *object, const char *path, modal_trajectory *t)
{
    json_t *state = json_object();
    char *basis_path = NULL;
    modal_basis basis;
    modal_error err = {0};
    set(state, "path", modal_json_string(t->basis_path));
    set(state, "hash", modal_json_string(t->basis_hash));
    if (t->basis_recipe[0]) set(state, "recipe", modal_json_string(t->basis_recipe));
    if (t->basis_bytes) set(state, "carried", json_true());
    modal_status status = t->basis_bytes ? tool_find_basis(NULL, path, t, &basis_path, &err)
                                         : modal_trajectory_basis_path(t, modal_is_memory_file(path) ? NULL : path, &basis_path, &err);
    /* no arrays are needed to compare the hashes and the ranks */
    if (status == MODAL_OK) status = modal_basis_read(basis_path, 0, &basis, &err);
    set(state, "found", json_boolean(status == MODAL_OK));
    if (status == MODAL_OK) {
        status = modal_trajectory_check_basis(t, &basis, &err);
        set(state, "matches", json_boolean(status == MODAL_OK));
        modal_basis_free(&basis);
    }
    tool_pipe_name(err.message, sizeof err.message);
    if (status != MODAL_OK) set(state, "problem", modal_json_string(err.message));
    modal_free(&basis_path);
    set(object, "basis", state);
}

modal_status modalinfo_describe_trajectory(const char *path, json_t **info, modal_error *err)
{
    modal_trajectory t;
    modal_status status = modal_trajectory_read(path, &t, err);
    if (status != MODAL_OK) return status;
    json_t *object = begin(path, "trajectory"), *objects = json_array();
    modal_quality_judgement judgement = {0};
    int64_t total = t.mode_offsets[t.n_objects];
    set_times(object, t.times, t.n_frames);
    set_integer(object, "reduced_coordinates", total);
    set(object, "poses", json_boolean(t.poses != NULL));
    for (int32_t i = 0; i < t.n_objects; i++) {
        json_t *ranges = json_array();
        for (int64_t k = t.mode_offsets[i]; k < t.mode_offsets[i + 1]; k++) {
            double range[2] = {INFINITY, -INFINITY};
            for (int64_t f = 0; f < t.n_frames; f++) {
                double q = t.q[f * total + k];
                if (q < range[0]) range[0] = q;
                if (q > range[1]) range[1] = q;
            }
            json_array_append_new(ranges, numbers(range, 2));
        }
        json_array_append_new(objects, ranges);
    }
    set(object, "q_ranges", objects);
    set_basis_state(object, path, &t);
    if (t.models) {
        json_t *models = json_array();
        for (int32_t i = 0; i < t.n_objects; i++) json_array_append_new(models, json_string(t.models[i] ? "stvk" : "linear"));
        set(object, "models", models);
    }
    if (t.projection_errors) {
        double worst[4] = {0};
        for (int64_t i = 0; i < 4 * t.n_frames; i++) worst[i % 4] = fmax(worst[i % 4], t.projection_errors[i]);
        set(object, "projection", json_pack("{s:f, s:f, s:f, s:f}", "largest_left", worst[0], "largest_norm", worst[1],
                                            "farthest_node_m", worst[2], "largest_displacement_m", worst[3]));
    }
    if (t.rebase_errors) set(object, "rebase_errors", numbers(t.rebase_errors, t.n_objects));
    judgement.assumed_material = modal_provenance_assumed(t.provenance, t.n_provenance);
    for (int64_t i = 0; i < t.n_frames; i++) modal_quality_judge(&judgement, i, t.times[i], t.quality ? &t.quality[i] : NULL);
    set(object, "quality", tool_quality_json(&judgement));
    set(object, "provenance", provenance(t.provenance, t.n_provenance));
    modal_trajectory_free(&t);
    *info = object;
    return MODAL_OK;
}

modal_status modalinfo_describe_snapshots(const char *path, json_t **info, modal_error *err)
{
    modal_snapshots_contents c;
    modal_status status = modal_snapshots_describe(path, &c, err);
    if (status != MODAL_OK) return status;
    json_t *object = begin(path, "snapshots"), *fields = json_array();
    const struct {
        const char *name;
        int there;
    } all[] = {{"velocities", c.velocities}, {"internal_forces", c.forces}, {"energy", c.energy}, {"energy_parts", c.parts}};
    set_integer(object, "snapshots", c.n_snapshots);
    set_integer(object, "nodes", c.n_nodes);
    set(object, "stored_in", json_string(c.single ? "float32" : "float64"));
    if (c.times) set_times(object, c.times, c.n_snapshots);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].there) json_array_append_new(fields, json_string(all[i].name));
    set(object, "fields", fields);
    set_integer(object, "probes", c.n_probes);
    set(object, "probe_names", modal_json_string(c.probe_names ? c.probe_names : ""));
    set_integer(object, "elements", c.solid.mesh.n_elements);
    if (c.has_solid) set(object, "solid", describe_moved(&c.solid));
    if (c.quality && c.times) {
        modal_quality_judgement judgement = {.assumed_material = modal_provenance_assumed(c.provenance, c.n_provenance)};
        for (int64_t i = 0; i < c.n_snapshots; i++) modal_quality_judge(&judgement, i, c.times[i], &c.quality[i]);
        set(object, "quality", tool_quality_json(&judgement));
    }
    set(object, "provenance", provenance(c.provenance, c.n_provenance));
    modal_snapshots_contents_free(&c);
    *info = object;
    return MODAL_OK;
}

modal_status modalinfo_describe_textures(const char *path, json_t **info, modal_error *err)
{
    modal_textures textures;
    modal_status status = modal_textures_read(path, 0, &textures, err);
    if (status != MODAL_OK) return status;
    json_t *object = begin(path, "textures"), *names = json_array(), *images = json_array(), *classes = json_array();
    set(object, "layout", json_string(textures.thesis ? "thesis" : "classes"));
    for (int32_t i = 0; i < textures.n_materials; i++) json_array_append_new(names, modal_json_string(textures.names[i]));
    for (int32_t i = 0; i < textures.n_images; i++) {
        json_t *image = json_object();
        set(image, "name", modal_json_string(textures.images[i].name));
        set(image, "role", json_string(textures.images[i].role ? "normals" : "colours"));
        set_integer(image, "class", textures.images[i].class);
        set_integer(image, "layer", textures.images[i].layer);
        json_array_append_new(images, image);
    }
    for (int32_t c = 0; c < textures.n_classes; c++) {
        json_t *class = json_object();
        set_integer(class, "width", textures.classes[c].width);
        set_integer(class, "height", textures.classes[c].height);
        set_integer(class, "layers", textures.classes[c].n_layers);
        set_integer(class, "levels", textures.classes[c].n_levels);
        json_array_append_new(classes, class);
    }
    set(object, "materials", names);
    set(object, "images", images);
    set(object, "classes", classes);
    set_integer(object, "texel_bytes", modal_textures_bytes(&textures));
    modal_textures_free(&textures);
    *info = object;
    return MODAL_OK;
}

modal_status modalinfo_describe_octree(const char *path, json_t **info, modal_error *err)
{
    modal_octree_file file;
    const modal_status status = modal_octree_read(path, &file, err);
    if (status != MODAL_OK) return status;
    const modal_octree *o = &file.octree;
    json_t *object = begin(path, "octree");
    set(object, "channels", json_string(modal_octree_channels_name(o->channels)));
    set_integer(object, "n", o->side);
    set_integer(object, "depth", o->depth);
    set_integer(object, "points_a_side", (int64_t)1 << modal_octree_bits(o));
    set(object, "cell", json_real(o->size / (double)((int64_t)1 << modal_octree_bits(o))));
    set_integer(object, "samples", o->n_samples);
    set_integer(object, "cells", o->n_cells);
    set_integer(object, "nodes", o->n_nodes);
    set(object, "mipmaps", json_boolean(o->mipmaps != NULL));
    set_integer(object, "triangles", o->n_triangles);
    if (o->neighbours) {
        double area = 0, neighbours = 0;
        for (int64_t i = 0; i < o->n_samples; i++) {
            area += (double)o->areas[i];
            neighbours += __builtin_popcount((unsigned)o->neighbours[i]);
        }
        set(object, "area", json_real(area));
        set(object, "surface_neighbours", json_real(neighbours / (double)o->n_samples));
    }
    if (file.flow.n_samples > 0) {
        double liquid = 0, dirt = 0;
        for (int64_t i = 0; i < o->n_samples; i++) {
            liquid += (double)file.flow.liquid[i] + (double)file.flow.wetness[i];
            dirt += file.flow.dirt ? (double)file.flow.dirt[i] : 0;
        }
        json_t *flow = json_object();
        set(object, "flow", flow);
        set(flow, "time", json_real(file.flow.time));
        set(flow, "liquid", json_real(liquid));
        set(flow, "dirt", json_real(dirt));
    }
    if (file.atlas.n_uv > 0) {
        json_t *atlas = json_object();
        set(object, "atlas", atlas);
        set_integer(atlas, "width", file.atlas.width);
        set_integer(atlas, "height", file.atlas.height);
        set_integer(atlas, "texels", file.atlas.n_rows);
        set_integer(atlas, "uv", file.atlas.n_uv);
        set(atlas, "image", json_boolean(file.atlas.image != NULL));
    }
    set(object, "source_hash", json_string(o->source_hash));
    set(object, "provenance", provenance(file.provenance, file.n_provenance));
    modal_octree_file_free(&file);
    *info = object;
    return MODAL_OK;
}

/* ---- the sequence: only its head is read, not its frames ---- */

static modal_status read_sequence(const modal_h5_in *in, json_t *object)
{
    modal_status status = MODAL_OK;
    modal_h5_place root = {H5I_INVALID_HID, ""}, vtk = root, steps = root, polygons = root, modal = root;
    int64_t n_frames = -1, one = 1, points[2] = {-1, 3}, offsets = -1, cells = -1, *n_points = NULL;
    double *times = NULL;
    char *hash = NULL, *kind = NULL, *source = NULL;
    modal_array_list list_of_arrays = {0};
    modal_provenance *list = NULL;
    int32_t n_steps = 0;
    json_t *arrays = json_array();
    set(object, "arrays", arrays);
    MODAL_TRY(modal_h5_check_root(in, MODAL_SEQUENCE_TYPE, MODAL_SEQUENCE_MAJOR));
    MODAL_TRY(modal_h5_enter(in, NULL, NULL, MODAL_H5_REQUIRED, &root));
    MODAL_TRY(modal_h5_enter(in, &root, "VTKHDF", MODAL_H5_REQUIRED, &vtk));
    MODAL_TRY(modal_h5_enter(in, &vtk, "Steps", MODAL_H5_REQUIRED, &steps));
    MODAL_TRY(modal_h5_read_array(in, &vtk, "Types", MODAL_H5_U8, 1, &cells, MODAL_H5_OPTIONAL, NULL));
    if (cells < 0) MODAL_TRY(modal_h5_enter(in, &vtk, "Polygons", MODAL_H5_REQUIRED, &polygons));
    MODAL_TRY(modal_h5_enter(in, &root, "modal", MODAL_H5_REQUIRED, &modal));
    MODAL_TRY(modal_h5_read_array(in, &steps, "Values", MODAL_H5_F64, 1, &n_frames,
                                  MODAL_H5_REQUIRED, &times));
    MODAL_TRY(modal_h5_read_array(in, &vtk, "NumberOfPoints", MODAL_H5_I64, 1, &one,
                                  MODAL_H5_REQUIRED, &n_points));
    if (cells < 0)
        MODAL_TRY(modal_h5_read_array(in, &polygons, "Offsets", MODAL_H5_I64, 1, &offsets, MODAL_H5_REQUIRED,
                                      NULL));
    MODAL_TRY(
        modal_h5_read_array(in, &vtk, "Points", MODAL_H5_F32, 2, points, MODAL_H5_REQUIRED, NULL));
    for (int64_t i = 0; i < n_frames; i++)
        if (!isfinite(times[i]) || n_frames < 1)
            MODAL_FAIL(in->checker.err, MODAL_ERROR_INPUT,
                       "/VTKHDF/Steps/Values: frame %lld: not finite", (long long)i);
    if (n_frames < 1)
        MODAL_FAIL(in->checker.err, MODAL_ERROR_INPUT, "/VTKHDF/Steps/Values: no frames");
    set_times(object, times, n_frames);
    set_integer(object, "points", n_points[0]);
    set_integer(object, "triangles", cells < 0 ? offsets - 1 : 0);
    if (cells >= 0) set_integer(object, "cells", cells);
    MODAL_TRY(modal_sequence_read_list(in, &modal, &vtk, &list_of_arrays));
    for (int i = 0; i < list_of_arrays.n; i++)
        json_array_append_new(arrays, modal_json_string(list_of_arrays.all[i].name));
    if (modal_h5_has_attribute(&modal, "basis_hash")) {
        MODAL_TRY(modal_h5_read_text(in, &modal, "basis_hash", &hash));
        set(object, "basis_hash", modal_json_string(hash));
    }
    MODAL_TRY(modal_h5_read_text(in, &modal, "source_kind", &kind));
    MODAL_TRY(modal_h5_read_text(in, &modal, "source_hash", &source));
    set(object, "source_kind", modal_json_string(kind));
    set(object, "source_hash", modal_json_string(source));
    MODAL_TRY(modal_provenance_read(in, &modal, MODAL_H5_OPTIONAL, &list, &n_steps));
    set(object, "provenance", provenance(list, n_steps));
done:
    for (int32_t i = 0; i < n_steps; i++) modal_provenance_free(&list[i]);
    modal_free(&list);
    modal_free(&hash);
    modal_free(&kind);
    modal_free(&source);
    modal_free(&times);
    modal_free(&n_points);
    modal_h5_leave(&modal);
    modal_h5_leave(&polygons);
    modal_h5_leave(&steps);
    modal_h5_leave(&vtk);
    modal_h5_leave(&root);
    return status;
}

modal_status modalinfo_describe_sequence(const char *path, json_t **info, modal_error *err)
{
    const modal_h5_source source = {path, NULL, 0};
    modal_h5_in in = {H5I_INVALID_HID, 0, {NULL, err}};
    json_t *object = begin(path, "sequence");
    modal_status status = modal_h5_open(&in, &source);
    if (status == MODAL_OK) status = read_sequence(&in, object);
    status = modal_h5_close(&in, status);
    if (status != MODAL_OK) {
        modal_error_context(err, "%s", path);
        json_decref(object);
        return status;
    }
    *info = object;
    return MODAL_OK;
}
