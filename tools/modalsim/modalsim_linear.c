/* SPDX-License-Identifier: Apache-2.0 */
/* Linear motion, from the flags of the command line. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/meshes/csv.h"
#include "lib/base/memory.h"
#include "lib/oscillators/linear.h"
#include "lib/scene/loads.h"
#include "tools/modalsim/modalsim.h"

/* The arrays behind a modal_linear_problem. */
typedef struct loads {
    modal_linear_shape *shapes;
    modal_linear_object *objects;
    double *damping; /* of all shapes, one after the other */
    modal_series base;
    modal_linear_impulse *impulses;
    double *jumps; /* [n_impulses, modes of object 0] */
    double *initial;
    modal_linear_problem problem;
} loads;

static void loads_free(loads *l)
{
    modal_free(&l->shapes);
    modal_free(&l->objects);
    modal_free(&l->damping);
    modal_series_free(&l->base);
    modal_free(&l->impulses);
    modal_free(&l->jumps);
    modal_free(&l->initial);
}

static modal_status set_oscillators(const modalsim_request *r, const modal_basis *basis, loads *l,
                                    modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t n_modes = 0;
    for (int32_t i = 0; i < basis->n_shapes; i++) n_modes += basis->shapes[i].modes.n_modes;
    MODAL_TRY(modal_alloc(&l->shapes, basis->n_shapes, sizeof *l->shapes, "shapes", err));
    MODAL_TRY(modal_alloc(&l->objects, basis->n_objects, sizeof *l->objects, "objects", err));
    MODAL_TRY(modal_alloc(&l->damping, n_modes, sizeof *l->damping, "damping", err));
    double *damping = l->damping;
    for (int32_t i = 0; i < basis->n_shapes; i++) {
        const modal_shape *s = &basis->shapes[i];
        if (!(s->modes.mass_coupling <= 1e-6 && s->modes.stiffness_coupling <= 1e-6))
            MODAL_FAIL(err, MODAL_ERROR_INPUT,
                       "%s: shape %d: its imported columns are coupled, in the mass by %.3g, in the stiffness "
                       "by %.3g: no oscillators",
                       r->basis_path, i, s->modes.mass_coupling, s->modes.stiffness_coupling);
        l->shapes[i] = (modal_linear_shape){s->modes.n_modes, s->modes.eigenvalues, damping, s->modes.modal_masses,
                                            s->modes.participation};
        if (r->ratio >= 0)
            modal_damping_ratio(r->ratio, s->modes.n_modes, s->modes.eigenvalues, damping);
        else
            modal_damping_rayleigh(r->alpha, r->beta, s->modes.n_modes, s->modes.eigenvalues, damping);
        damping += s->modes.n_modes;
    }
    for (int32_t i = 0; i < basis->n_objects; i++)
        l->objects[i] =
            (modal_linear_object){basis->objects[i].shape, basis->objects[i].rest_pose};
    l->problem = (modal_linear_problem){.n_shapes = basis->n_shapes, .shapes = l->shapes,
                                        .n_objects = basis->n_objects, .objects = l->objects,
                                        .start_static = r->start_static};
    memcpy(l->problem.gravity, r->gravity, sizeof r->gravity);
done:
    return status;
}

static modal_status read_base_acceleration(tool *t, const modalsim_request *r, loads *l, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (!r->base_path) goto done;
    MODAL_TRY(modal_series_read_csv(r->base_path, 3, &l->base, err));
    const double first = l->base.times[0], last = l->base.times[l->base.n_rows - 1];
    /* the same as for impulses: what cannot have an effect is a mistake */
    if (last <= 0 || first > r->last_time || (first == r->last_time && first > 0))
        MODAL_FAIL(err, MODAL_ERROR_INPUT,
                   "%s: nothing of it acts, its times are %g .. %g s, the motion's 0 .. %g s",
                   r->base_path, first, last, r->last_time);
    if (last < r->last_time)
        tool_note(t, "%s: ends at %g s; the base acceleration is 0 from there to %g s", r->base_path,
                  last, r->last_time);
    l->problem.n_samples = l->base.n_rows;
    l->problem.sample_times = l->base.times;
    l->problem.samples = l->base.values;
done:
    return status;
}

static modal_status set_initial(const tool_arguments *a, const modal_basis *basis, loads *l,
                                modal_error *err)
{
    modal_status status = MODAL_OK;
    uint8_t *given = NULL;
    const int n = tool_count(a, "initial");
    int32_t most = INT32_MAX, of = 0; /* the object with the fewest modes */
    if (n == 0) goto done;
    for (int32_t i = 0; i < basis->n_objects; i++)
        if (basis->shapes[basis->objects[i].shape].modes.n_modes < most) {
            most = basis->shapes[basis->objects[i].shape].modes.n_modes;
            of = i;
        }
    MODAL_TRY(modal_alloc_zero(&given, most, 1, "initial amplitudes", err));
    MODAL_TRY(modal_alloc_zero(&l->initial, modal_basis_mode_offsets(basis, NULL), sizeof(double),
                               "initial amplitudes", err));
    for (int i = 0; i < n; i++) {
        const char *text = tool_value_at(a, "initial", i), *end = NULL;
        int64_t mode = 0;
        double amplitude = 0;
        if (!modalsim_parse_index(text, &end, &mode) || *end != '=')
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--initial: not MODE=AMPLITUDE, %s", text);
        MODAL_TRY(tool_parse_numbers(end + 1, 1, &amplitude, "--initial: amplitude", err));
        if (mode < 0 || mode >= most)
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--initial: object %d has modes 0 .. %d, %s", of, most - 1,
                       text);
        if (given[mode])
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--initial: mode %lld is given twice, %s",
                       (long long)mode, text);
        given[mode] = 1;
        int64_t offset = 0;
        for (int32_t k = 0; k < basis->n_objects; k++) {
            l->initial[offset + mode] = amplitude;
            offset += basis->shapes[basis->objects[k].shape].modes.n_modes;
        }
    }
    l->problem.initial = l->initial;
done:
    modal_free(&given);
    return status;
}

static int compare_tiles(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static modal_status set_impulses(tool *t, const modalsim_request *r, modal_basis *basis, loads *l, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t *vertices = NULL, *tiles = NULL, n_tiles = 0; /* [n_impulses] */
    modal_basis_tiles *file = NULL;
    const modal_object *object = &basis->objects[0];
    const modal_shape *shape = &basis->shapes[object->shape];
    json_t *list = json_array();
    MODAL_TRY(modal_alloc(&l->impulses, r->n_impulses, sizeof *l->impulses, "impulses", err));
    MODAL_TRY(modal_alloc(&l->jumps, (int64_t)r->n_impulses * shape->modes.n_modes, sizeof(double),
                          "impulses", err));
    MODAL_TRY(modal_alloc(&vertices, r->n_impulses, sizeof *vertices, "impulses", err));
    MODAL_TRY(modal_alloc(&tiles, r->n_impulses, sizeof *tiles, "impulses", err));
    for (int i = 0; i < r->n_impulses; i++) {
        const modalsim_impulse *p = &r->impulses[i];
        double distance = 0;
        const int64_t stored = p->vertex >= 0
                             ? modal_surface_stored_vertex(&shape->surface, p->vertex)
                             : modal_surface_nearest_vertex(&shape->surface, object->rest_pose, p->point, &distance);
        if (stored < 0)
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--impulse: object 0 has vertices 0 .. %lld, %s",
                       (long long)shape->surface.n_vertices - 1, p->text);
        if (p->vertex < 0)
            tool_note(t, "--impulse: vertex %d, %g m from the point, %s", shape->surface.user_vertex[stored],
                      distance, p->text);
        vertices[i] = stored;
        tiles[i] = stored / MODAL_TILE;
        json_array_append_new(list, json_pack("{s:i, s:f, s:f}", "vertex",
                                              shape->surface.user_vertex[stored], "distance_m", distance,
                                              "time", p->time));
    }
    qsort(tiles, (size_t)r->n_impulses, sizeof *tiles, compare_tiles);
    for (int i = 0; i < r->n_impulses; i++)
        if (n_tiles == 0 || tiles[n_tiles - 1] != tiles[i]) tiles[n_tiles++] = tiles[i];
    if (!shape->modes.modal_matrix) MODAL_TRY(modalsim_basis_tiles(r, basis, &file, object->shape, n_tiles, tiles, err));
    for (int i = 0; i < r->n_impulses; i++) {
        double *jump = l->jumps + (int64_t)i * shape->modes.n_modes;
        modal_impulse_jump(shape, object->rest_pose, vertices[i], r->impulses[i].impulse, jump);
        l->impulses[i] = (modal_linear_impulse){r->impulses[i].time, 0, jump};
    }
    l->problem.n_impulses = r->n_impulses;
    l->problem.impulses = l->impulses;
    json_object_set(t->report, "impulses", list);
done:
    modal_basis_tiles_close(file);
    modal_free(&vertices);
    modal_free(&tiles);
    json_decref(list);
    return status;
}

static void warn_of_free_bodies(tool *t, const modal_basis *basis)
{
    int n = 0, first = -1;
    for (int32_t i = 0; i < basis->n_objects; i++)
        if (basis->shapes[basis->objects[i].shape].modes.n_rigid_modes > 0 && n++ == 0) first = i;
    if (n == 0) return;
    tool_warn(t, "%s: object %d%s free; the rigid motion of a free body is not simulated, only its "
                 "deformation (a --scene moves it)", t->arguments.operands[0], first, n > 1 ? " and others are" : " is");
}

/* Where frames go: they are looked at, and written unless this is the first of two runs. */
typedef struct rows {
    modalsim_range *range;
    modalsim_writer *writer; /* or NULL */
} rows;

static modal_status put_row(void *context, int64_t frame, double time, const double *q, modal_error *err)
{
    enum { NOW_AND_THEN = 256 };
    rows *r = context;
    modalsim_writer *w = r->writer;
    modalsim_range_observe(r->range, frame, q);
    if (!w) return MODAL_OK;
    if (frame % NOW_AND_THEN == NOW_AND_THEN - 1) modalsim_watch(w->t, &w->pace, "frames", frame + 1, w->head.n_frames);
    return modal_trajectory_out_row(w->out, time, q, NULL, NULL, NULL, err);
}

/* --amplitude: the motion is linear in its loads, so a first run says by what to multiply all of them. */
static modal_status scale_loads(tool *t, const modalsim_request *r, modalsim_range *range, loads *l, char *remark,
                                size_t length, modal_error *err)
{
    modal_status status = MODAL_OK;
    rows first = {range, NULL};
    const int64_t n_initial = modal_basis_mode_offsets(range->basis, NULL);
    const double warned = range->displacement, strain = range->strain, start = tool_seconds();
    double factor;
    range->displacement = 0;
    range->strain = INFINITY;
    MODAL_TRY(modal_linear_stream(&l->problem, r->n_frames, r->fps, put_row, &first, &t->progress, err));
    MODAL_TRY(modalsim_find_factor(t, r, range, &factor, err));
    for (int k = 0; k < 3; k++) l->problem.gravity[k] *= factor;
    for (int64_t i = 0; i < 3 * l->base.n_rows; i++) l->base.values[i] *= factor;
    for (int64_t i = 0; r->n_impulses > 0 && i < r->n_impulses * range->basis->shapes[range->basis->objects[0].shape].modes.n_modes; i++)
        l->jumps[i] *= factor;
    for (int64_t i = 0; l->initial && i < n_initial; i++) l->initial[i] *= factor;
    snprintf(remark, length, " # all loads times %.17g", factor);
    tool_stage(t, "find the amplitude", tool_seconds() - start, -1);
    range->displacement = warned;
    range->strain = strain;
    range->place.object = -1;
done:
    return status;
}

modal_status modalsim_linear(tool *t, const modalsim_request *r, modal_basis *basis, tool_output *output,
                             modal_error *err)
{
    modal_status status = MODAL_OK;
    loads l = {0};
    modalsim_writer writer = {.t = t, .r = r, .output = output};
    modalsim_range range = {0};
    rows all = {&range, &writer};
    double start = tool_seconds();
    warn_of_free_bodies(t, basis);
    MODAL_TRY(set_oscillators(r, basis, &l, err));
    MODAL_TRY(read_base_acceleration(t, r, &l, err));
    MODAL_TRY(set_initial(&t->arguments, basis, &l, err));
    if (r->n_impulses > 0) MODAL_TRY(set_impulses(t, r, basis, &l, err));
    MODAL_TRY(modalsim_range_begin(&range, basis, r->n_threads, err));
    if (r->amplitude > 0) MODAL_TRY(scale_loads(t, r, &range, &l, writer.remark, sizeof writer.remark, err));
    MODAL_TRY(modalsim_writer_begin(&writer, basis, r->n_frames, 0, r->base_path != NULL, &r->base_path, "cpu",
                                    err));
    writer.pace.started = tool_seconds();
    MODAL_TRY(modal_linear_stream(&l.problem, r->n_frames, r->fps, put_row, &all, &t->progress, err));
    tool_stage(t, "simulate", tool_seconds() - start,
               r->n_frames * writer.head.mode_offsets[basis->n_objects] * (int64_t)sizeof(double));
    MODAL_TRY(modalsim_writer_end(&writer, err));
    modalsim_range_tell(t, &range);
done:
    modalsim_writer_discard(&writer);
    modalsim_range_end(&range);
    loads_free(&l);
    return status;
}
