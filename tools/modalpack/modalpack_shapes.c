/* SPDX-License-Identifier: Apache-2.0 */
/* modalpack: many shapes. Meshes are cut into solids, congruent solids become objects of one shape, and
 * small shapes are solved one a thread. */
#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/registry.h"
#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/base/memory_file.h"
#include "lib/fem/enhanced.h"
#include "lib/reduced/stvk.h"
#include "lib/shape/congruent.h"
#include "lib/shape/shape_surface.h"
#include "lib/shape/split.h"
#include "tools/common/memory.h"
#include "tools/modalpack/modalpack.h"

/* More nodes than this are solved with all threads, one shape after the other. */
enum { LARGE = 20000 };

typedef struct pieces {
    int64_t count, capacity;
    modal_shape *shapes;
} pieces;

static void free_pieces(pieces *all)
{
    for (int64_t k = 0; k < all->count; k++) modal_shape_free(&all->shapes[k]);
    modal_free(&all->shapes);
    memset(all, 0, sizeof *all);
}

modal_status modalpack_name_shape(const modalpack_request *r, const char *group, int32_t number, char **name,
                                  modal_error *err)
{
    const char *path = modal_is_memory_file(r->input.mesh_path) ? "mesh" : r->input.mesh_path;
    char text[512], stem[256] = "";
    if (r->n_meshes > 1) {
        const char *slash = strrchr(path, '/');
        snprintf(stem, sizeof stem, "%s", slash ? slash + 1 : path);
        char *dot = strrchr(stem, '.');
        if (dot && dot != stem) *dot = '\0';
    }
    const char *gap = stem[0] ? " " : "";
    if (r->shapes == SHAPES_GROUPS)
        snprintf(text, sizeof text, "%s%s%s", stem, gap, group);
    else if (r->shapes == SHAPES_BODIES)
        snprintf(text, sizeof text, "%s%sbody %d", stem, gap, number);
    else
        snprintf(text, sizeof text, "%s", stem[0] ? stem : "solid");
    return modal_copy_text(name, text, SIZE_MAX, err);
}

/* Reads a mesh and appends the solids that it is made of. */
static modal_status read_pieces(tool *t, const modalpack_request *r, pieces *all, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_shape whole = {0};
    int32_t *part = NULL, *group = NULL, n_parts = 1;
    int64_t n_shared = 0;
    MODAL_TRY(modalpack_read_solid(t, r, &whole, err));
    modal_volume_mesh *mesh = &whole.solid.mesh;
    MODAL_TRY(modalpack_hint_at_bending(t, r, mesh, err));
    if (r->shapes != SHAPES_ONE) {
        MODAL_TRY(modal_alloc(&part, mesh->n_elements, sizeof *part, "parts", err));
        MODAL_TRY(modal_alloc(&group, mesh->n_groups, sizeof *group, "parts", err));
        status = r->shapes == SHAPES_BODIES ? modal_split_bodies(mesh, part, &n_parts, err)
                                            : modal_split_groups(mesh, part, group, &n_parts, err);
        if (status == MODAL_ERROR_INPUT) modal_error_context(err, "%s", r->input.mesh_path);
        if (status != MODAL_OK) goto done;
    }
    MODAL_TRY(modal_grow(&all->shapes, &all->capacity, all->count + n_parts, sizeof *all->shapes, "shapes",
                         err));
    modal_shape *first = all->shapes + all->count;
    memset(first, 0, (size_t)n_parts * sizeof *first);
    all->count += n_parts;
    if (r->shapes == SHAPES_ONE) {
        *first = whole;
        memset(&whole, 0, sizeof whole);
    } else {
        MODAL_TRY(modal_split_shape(&whole, part, n_parts, first, &n_shared, err));
        if (n_shared > 0)
            tool_warn(t, "%s: nodes of several shapes, each of which has its own now, %" PRId64,
                      r->input.mesh_path, n_shared);
    }
    for (int32_t k = 0; k < n_parts; k++) {
        const char *name = r->shapes == SHAPES_GROUPS ? whole.solid.mesh.groups[group[k]].name : NULL;
        MODAL_TRY(modalpack_name_shape(r, name, k, &first[k].name, err));
        modal_volume_mesh *own = &first[k].solid.mesh;
        if (!modal_volume_mesh_is_enhanced(own)) own->stiffness_rule = MODAL_STIFFNESS_PLAIN;
    }
done:
    modal_shape_free(&whole);
    modal_free(&part);
    modal_free(&group);
    return status;
}

/* The first of each kind becomes a shape, every piece an object. */
static modal_status make_objects(tool *t, pieces *all, modal_basis *basis, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t *first = NULL, *number = NULL, n_directed = 0;
    double *poses = NULL;
    const double start = tool_seconds();
    MODAL_TRY(modal_alloc(&first, all->count, sizeof *first, "objects", err));
    MODAL_TRY(modal_alloc(&number, all->count, sizeof *number, "objects", err));
    MODAL_TRY(modal_alloc(&poses, all->count, 12 * sizeof *poses, "objects", err));
    MODAL_TRY(modal_shapes_find_congruent(all->count, all->shapes, first, poses, err));
    MODAL_TRY(modal_alloc_zero(&basis->objects, all->count, sizeof *basis->objects, "objects", err));
    MODAL_TRY(modal_alloc_zero(&basis->shapes, all->count, sizeof *basis->shapes, "shapes", err));
    basis->n_objects = (int32_t)all->count;
    for (int64_t k = 0; k < all->count; k++) n_directed += modal_shape_has_directions(&all->shapes[k]);
    for (int64_t k = 0; k < all->count; k++) {
        if (first[k] == k) {
            number[k] = basis->n_shapes;
            basis->shapes[basis->n_shapes++] = all->shapes[k];
            memset(&all->shapes[k], 0, sizeof all->shapes[k]);
        }
        modal_object *object = &basis->objects[k];
        object->shape = (int32_t)number[first[k]];
        object->parent = -1;
        memcpy(object->rest_pose, poses + 12 * k, sizeof object->rest_pose);
    }
    tool_stage(t, "congruence", tool_seconds() - start, -1);
    tool_note(t, "%" PRId64 " solids, %d different shapes", all->count, basis->n_shapes);
    if (n_directed > 1)
        tool_note(t,
                  "solids with directions of their own (orthotropic materials, single components held), which are "
                  "the same only unturned, %" PRId64,
                  n_directed);
done:
    modal_free(&first);
    modal_free(&number);
    modal_free(&poses);
    return status;
}

/* What a stage does to a shape on so many threads, for several shapes at once; `index` is its number. */
typedef modal_status shape_step(const modalpack_request *r, modal_shape *shape, int64_t index, int n_threads,
                                const modal_progress *progress, void *context, modal_error *err);

typedef struct stage {
    const char *name;
    shape_step *step;
    void *context;
    int64_t small; /* shapes of so many nodes or fewer are done one a thread */
} stage;

/* The shapes that are small, one a thread. Which shape's error is told does not depend on the threads:
 * that of the lowest number. */
static modal_status do_small(tool *t, const modalpack_request *r, modal_basis *basis, const stage *what, int64_t n_done,
                             modal_error *err)
{
    int64_t failed_at = INT64_MAX;
    int stop = 0;
    modal_status failed = MODAL_OK;
    modal_error failure = {0};
    modalpack_request once = *r; /* the system is not asked again by each of thousands */
    once.available_memory = tool_available_memory("");
#pragma omp parallel for schedule(dynamic, 1) num_threads(modal_free_threads(r->threads))
    for (int64_t k = 0; k < basis->n_shapes; k++) {
        modal_shape *shape = &basis->shapes[k];
        if (shape->solid.mesh.n_nodes > what->small) continue;
        int skip;
#pragma omp critical(modalpack_shapes)
        skip = stop || k > failed_at;
        if (skip) continue;
        modal_error own = {0};
        modal_status status = what->step(&once, shape, k, 1, NULL, what->context, &own);
#pragma omp critical(modalpack_shapes)
        {
            ++n_done;
            if (status != MODAL_OK && k < failed_at) {
                failed_at = k;
                failed = status;
                failure = own;
            }
            if (omp_get_thread_num() == 0 &&
                modal_progress_report(&t->progress, what->name, (double)n_done / basis->n_shapes, NULL) !=
                    MODAL_OK)
                stop = 1;
        }
    }
    if (failed != MODAL_OK) {
        modal_error_context(&failure, "%s", basis->shapes[failed_at].name);
        return modal_error_set(err, failed, "%s", failure.message);
    }
    return stop ? modal_error_set(err, MODAL_ERROR_INTERRUPTED, "%s: interrupted", what->name) : MODAL_OK;
}

static modal_status do_stage(tool *t, const modalpack_request *r, modal_basis *basis, const stage *what, modal_error *err)
{
    modal_status status = MODAL_OK;
    const double start = tool_seconds();
    int64_t n_done = 0;
    for (int32_t k = 0; k < basis->n_shapes; k++) {
        modal_shape *shape = &basis->shapes[k];
        if (shape->solid.mesh.n_nodes <= what->small) continue;
        status = what->step(r, shape, k, r->threads, &t->progress, what->context, err);
        if (status != MODAL_OK) {
            modal_error_context(err, "%s", shape->name);
            return status;
        }
        n_done++;
    }
    MODAL_TRY(do_small(t, r, basis, what, n_done, err));
    tool_stage(t, what->name, tool_seconds() - start, -1);
done:
    return status;
}

static modal_status step_modes(const modalpack_request *r, modal_shape *shape, int64_t index, int n_threads,
                               const modal_progress *progress, void *context, modal_error *err)
{
    (void)index, (void)context;
    modal_status status = modal_shape_surface_boundary(&shape->solid.mesh, shape, err);
    if (status == MODAL_OK) status = modalpack_find_modes(r, shape, n_threads, NULL, progress, err);
    return status;
}

/* Of one shape; its singular values would be too much to say of thousands. */
typedef struct derived {
    double load_residual, energy, orthogonality;
} derived;

static modal_status step_derivatives(const modalpack_request *r, modal_shape *shape, int64_t index, int n_threads,
                                     const modal_progress *progress, void *context, modal_error *err)
{
    modal_derivatives_report report = {0};
    derived *found = (derived *)context + index;
    const modal_status status =
        modalpack_find_derivatives(r, shape, n_threads, progress, &report, &found->orthogonality, err);
    found->load_residual = report.load_residual;
    found->energy = report.energy;
    modal_derivatives_report_free(&report);
    return status;
}

static modal_status step_forces(const modalpack_request *r, modal_shape *shape, int64_t index, int n_threads,
                                const modal_progress *progress, void *context, modal_error *err)
{
    int *passed = (int *)context + index;
    const modal_status status = modal_stvk_reduced_forces(&shape->solid.mesh, shape->modes.n_modes, shape->solid.volume_modes,
                                                          n_threads, r->device, &shape->modes.reduced_forces, progress, err);
    return status != MODAL_OK ? status : modalpack_find_left_out(r, shape, n_threads, passed, progress, err);
}

/* The last step: `context` writes the shape. */
static modal_status step_finish(const modalpack_request *r, modal_shape *shape, int64_t index, int n_threads,
                                const modal_progress *progress, void *context, modal_error *err)
{
    (void)n_threads, (void)progress;
    modal_status status = modal_shape_modal_matrix(shape, err);
    if (status == MODAL_OK) status = modal_shape_keep_modes(shape, r->volume_modes, err);
    if (status == MODAL_OK) status = modalpack_writer_ready(context, index, err);
    return status;
}

/* First step and last one. */
static modal_status step_all(const modalpack_request *r, modal_shape *shape, int64_t index, int n_threads,
                             const modal_progress *progress, void *context, modal_error *err)
{
    modal_status status = step_modes(r, shape, index, n_threads, progress, NULL, err);
    if (status == MODAL_OK) status = step_finish(r, shape, index, n_threads, progress, context, err);
    return status;
}

static modal_status add_derivatives(tool *t, const modalpack_request *r, modal_basis *basis, modal_error *err)
{
    modal_status status = MODAL_OK;
    derived *found = NULL, worst = {0, 1, 0};
    MODAL_TRY(modal_alloc_zero(&found, basis->n_shapes, sizeof *found, "derivatives", err));
    MODAL_TRY(do_stage(t, r, basis, &(stage){"derivatives", step_derivatives, found, LARGE}, err));
    for (int32_t k = 0; k < basis->n_shapes; k++) {
        worst.load_residual = fmax(worst.load_residual, found[k].load_residual);
        worst.energy = fmin(worst.energy, found[k].energy);
        worst.orthogonality = fmax(worst.orthogonality, found[k].orthogonality);
    }
    json_object_set_new(t->report, "derivatives",
                        json_pack("{s:I, s:I, s:f, s:f, s:f}", "modes", (json_int_t)r->n_linear, "derivatives",
                                  (json_int_t)(basis->n_shapes * modal_derivative_count(r->n_linear)),
                                  "load_residual", worst.load_residual, "energy", worst.energy,
                                  "orthogonality", worst.orthogonality));
    tool_note(t, "%lld derivatives of %lld modes a shape, static residual %.1e at most; %lld columns hold all "
              "but %.1e of the weighted energy of each",
              (long long)modal_derivative_count(r->n_linear), (long long)r->n_linear, worst.load_residual,
              (long long)r->n_modes, 1 - worst.energy);
done:
    modal_free(&found);
    return status;
}

/* Where no shape is large a GPU would be fed by one thread at a time and wait for it: the processor is
 * faster, unless another back end was asked for by name. */
static modal_status add_forces(tool *t, modalpack_request *r, modal_basis *basis, modal_error *err)
{
    modal_status status = MODAL_OK;
    int some_large = 0, *passed = NULL;
    int32_t most_modes = 0;
    for (int32_t k = 0; k < basis->n_shapes; k++) {
        some_large |= basis->shapes[k].solid.mesh.n_nodes > LARGE;
        if (basis->shapes[k].modes.n_modes > most_modes) most_modes = basis->shapes[k].modes.n_modes;
    }
    if (!some_large && strcmp(tool_value(&t->arguments, "backend"), "auto") == 0)
        MODAL_TRY(modal_device_open(r->device, "cpu", err));
    const int64_t small = r->device->kernels->gram ? 0 : LARGE;
    MODAL_TRY(modal_alloc_zero(&passed, basis->n_shapes, sizeof *passed, "shapes", err));
    modalpack_tell_estimate(t, r, basis->n_shapes, basis->shapes);
    MODAL_TRY(do_stage(t, r, basis, &(stage){"reduced forces", step_forces, passed, small}, err));
    modalpack_tell_forces(t, r, most_modes);
    modalpack_tell_left_out(t, basis->n_shapes, passed);
done:
    modal_free(&passed);
    return status;
}

/* As few shapes at once as --memory-limit asks for; refused where one alone is too much. */
static modal_status fit_memory(tool *t, modalpack_request *r, const modal_basis *basis, modal_error *err)
{
    const int asked = r->threads;
    for (int32_t k = 0; k < basis->n_shapes; k++) {
        const modal_shape *shape = &basis->shapes[k];
        const int large = shape->solid.mesh.n_nodes > LARGE;
        while (r->threads > 1 && modalpack_check_large(r, shape, large ? r->threads : 1, NULL) != MODAL_OK)
            r->threads--;
        const modal_status status = modalpack_check_large(r, shape, r->threads, err);
        if (status != MODAL_OK) {
            modal_error_context(err, "%s", shape->name);
            return status;
        }
    }
    if (r->threads < asked) tool_note(t, "%s: %d of %d threads", r->memory_limit > 0 ? "--memory-limit" : "memory", r->threads, asked);
    return MODAL_OK;
}

/* *writer begins before the last stage, and may be there after an error. */
static modal_status solve_shapes(tool *t, modalpack_request *r, const tool_output *output, modal_basis *basis,
                                 modalpack_writer **writer, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int only_modes = r->n_linear == 0 && !r->reduced_forces;
    MODAL_TRY(fit_memory(t, r, basis, err));
    /* thousands of small solves: give memory back to the system once, not every time */
    mallopt(M_TRIM_THRESHOLD, 1 << 28);
    mallopt(M_MMAP_THRESHOLD, 1 << 25); /* the most that it takes */
    if (!only_modes) MODAL_TRY(do_stage(t, r, basis, &(stage){"modes", step_modes, NULL, LARGE}, err));
    if (r->n_linear > 0) MODAL_TRY(add_derivatives(t, r, basis, err));
    if (r->reduced_forces) MODAL_TRY(add_forces(t, r, basis, err));
    MODAL_TRY(modalpack_add_provenance(t, r, basis, err)); /* the forces chose the device */
    MODAL_TRY(modalpack_writer_new(output->temporary, basis, r->threads, writer, err));
    MODAL_TRY(modalpack_writer_ready(*writer, basis->n_shapes, err));
    const stage last = {only_modes ? "modes" : "modal matrices", only_modes ? step_all : step_finish, *writer, LARGE};
    MODAL_TRY(do_stage(t, r, basis, &last, err));
done:
    return status;
}

modal_status modalpack_make_shapes(tool *t, modalpack_request *r, const tool_output *output, modal_basis *basis,
                                   modal_error *err)
{
    modal_status status = MODAL_OK;
    pieces all = {0};
    modalpack_writer *writer = NULL;
    double start = 0;
    for (int i = 0; i < r->n_meshes; i++) {
        modalpack_request one = *r;
        one.input.mesh_path = r->mesh_paths[i];
        MODAL_TRY(read_pieces(t, &one, &all, err));
    }
    if (all.count > INT32_MAX)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "shapes: too many, %" PRId64, all.count);
    MODAL_TRY(make_objects(t, &all, basis, err));
    free_pieces(&all);
    MODAL_TRY(solve_shapes(t, r, output, basis, &writer, err));
    start = tool_seconds();
    json_object_set_new(t->report, "objects", json_integer(basis->n_objects));
    json_object_set_new(t->report, "shapes", json_integer(basis->n_shapes));
done:
    status = modalpack_writer_finish(writer, status, err);
    if (status == MODAL_OK) tool_stage(t, "write basis", tool_seconds() - start, -1);
    free_pieces(&all);
    return status;
}

void modalpack_print_shapes(tool *t, const modal_basis *basis)
{
    enum { MOST = 20 };
    FILE *to = tool_text_stream(t);
    if (!to) return;
    fprintf(to, "%5s %9s %9s %6s %15s  %s\n", "shape", "nodes", "objects", "modes", "first_Hz", "name");
    for (int32_t k = 0; k < basis->n_shapes && (k < MOST || t->verbose); k++) {
        const modal_shape *shape = &basis->shapes[k];
        int64_t n_objects = 0;
        for (int32_t i = 0; i < basis->n_objects; i++) n_objects += basis->objects[i].shape == k;
        fprintf(to, "%5d %9" PRId64 " %9" PRId64 " %6d %15.8g  ", k, shape->solid.mesh.n_nodes, n_objects, shape->modes.n_modes,
                shape->modes.frequencies[0]);
        tool_put_text(to, shape->name);
        fputc('\n', to);
    }
    if (basis->n_shapes > MOST && !t->verbose)
        fprintf(to, "and %d more; modalinfo lists them\n", basis->n_shapes - MOST);
}
