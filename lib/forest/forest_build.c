/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the objects of a basis in the order of their trees, and their tables and state on the device. */
#include <string.h>

#include "kernels/device.h"
#include "kernels/reduced_step/reduced_force.h"
#include "lib/base/memory.h"
#include "lib/forest/forest_private.h"
#include "lib/forest/forest_tables.h"

enum { MOST_SCRATCH = 1024 };
/* Coordinates of a tree whose natural motions are made, and the sum of their cubes of all trees: a second at most. */
enum { MOST_SMALL = 128 };
static const double MOST_ALL_SMALL = 1e8;

typedef struct builder {
    const modal_basis *basis;
    const modal_forest_setup *setup;
    modal_forest_tables tables;
    modal_step_shape *shapes;   /* [2 * basis shapes]: with reduced forces, then linear */
    int32_t *shape_use;         /* [2 * basis shapes] 0 unused, 1 used, 2 in a frame that moves */
    modal_step_object *objects; /* in the order of the task */
    modal_step_point *points;
} builder;

static void builder_free(builder *b)
{
    modal_free(&b->tables.values);
    modal_free(&b->shapes);
    modal_free(&b->shape_use);
    modal_free(&b->objects);
    modal_free(&b->points);
}

static int32_t parent_in(const modal_basis *basis, const modal_forest_setup *setup, int32_t i)
{
    return setup->bodies[i].motion == MODAL_STEP_ATTACHED ? basis->objects[i].parent : -1;
}

static int32_t parent_of(const builder *b, int32_t i) { return parent_in(b->basis, b->setup, i); }

static modal_status check_bodies(const builder *b, modal_error *err)
{
    for (int32_t i = 0; i < b->basis->n_objects; i++) {
        const int32_t parent = b->basis->objects[i].parent;
        if (b->setup->bodies[i].motion == MODAL_STEP_ATTACHED && parent < 0)
            return modal_error_set(err, MODAL_ERROR_INPUT,
                                   "object %d: attached, but it has no parent in the basis", i);
        int32_t steps = 0;
        for (int32_t p = i; p >= 0; p = parent_of(b, p))
            if (steps++ > b->basis->n_objects)
                return modal_error_set(err, MODAL_ERROR_INPUT, "object %d: hangs on itself", i);
    }
    return MODAL_OK;
}

/* Level by level, children in the order of their parents, so that those of one parent are together. */
static modal_status order_objects(modal_forest *f, builder *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int32_t n = f->n_bodies;
    int32_t *first_child = NULL, *next = NULL;
    MODAL_TRY(modal_alloc(&f->place, n, sizeof(int32_t), "order of objects", err));
    MODAL_TRY(modal_alloc(&f->object_at, n, sizeof(int32_t), "order of objects", err));
    MODAL_TRY(modal_alloc(&f->tree_of, n, sizeof(int32_t), "order of objects", err));
    MODAL_TRY(modal_alloc(&f->levels, (int64_t)n + 1, sizeof(int32_t), "order of objects", err));
    MODAL_TRY(modal_alloc(&first_child, n, sizeof(int32_t), "order of objects", err));
    MODAL_TRY(modal_alloc(&next, n, sizeof(int32_t), "order of objects", err));
    MODAL_TRY(modal_alloc_zero(&b->objects, n, sizeof *b->objects, "objects", err));
    for (int32_t i = 0; i < n; i++) first_child[i] = -1;
    for (int32_t i = n; i-- > 0;) { /* lists with ascending members */
        const int32_t parent = parent_of(b, i);
        if (parent < 0) continue;
        next[i] = first_child[parent];
        first_child[parent] = i;
    }
    int32_t count = 0;
    for (int32_t i = 0; i < n; i++)
        if (parent_of(b, i) < 0 && !b->setup->bodies[i].exact) {
            b->objects[count].parent = -1;
            b->objects[count].tree = count;
            f->object_at[count++] = i;
        }
    f->task.n_trees = count;
    f->levels[0] = 0;
    int32_t done = 0;
    while (done < count) {
        f->levels[++f->task.n_levels] = count;
        for (const int32_t end = count; done < end; done++) {
            b->objects[done].first_child = count;
            for (int32_t c = first_child[f->object_at[done]]; c >= 0; c = next[c]) {
                b->objects[count].parent = done;
                b->objects[count].tree = b->objects[done].tree;
                b->objects[done].n_children++;
                f->object_at[count++] = c;
            }
        }
    }
    f->n_objects = count;
    for (int32_t i = 0; i < n; i++) f->place[i] = -1;
    for (int32_t i = 0; i < count; i++) {
        f->place[f->object_at[i]] = i;
        f->tree_of[i] = b->objects[i].tree;
    }
done:
    modal_free(&first_child);
    modal_free(&next);
    return status;
}

/* Room for the tables of all shapes at once: they may be half a gigabyte, and an array that grows is there twice for a while. */
static modal_status reserve_tables(builder *b, modal_error *err)
{
    const modal_basis *basis = b->basis;
    int64_t count = 0;
    for (int32_t i = 0; i < 2 * basis->n_shapes; i++) {
        const int64_t r = basis->shapes[i / 2].modes.n_modes;
        if (b->shape_use[i] > 0)
            count += (modal_step_stiffness_rows(r, i % 2 == 0) + 1) * modal_step_pairs(r) + modal_step_padded(4 * r) +
                     (1 + r) * modal_step_moments(r) + (i % 2 == 0 ? modal_step_padded(modal_step_energy_size(r)) : 0);
    }
    return modal_grow(&b->tables.values, &b->tables.capacity, count + count / 64, sizeof(double), "tables of the bodies", err);
}

static modal_status build_shapes(modal_forest *f, builder *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_basis *basis = b->basis;
    MODAL_TRY(modal_alloc_zero(&b->shapes, 2 * (int64_t)basis->n_shapes, sizeof *b->shapes, "shapes", err));
    MODAL_TRY(modal_alloc_zero(&b->shape_use, 2 * (int64_t)basis->n_shapes, sizeof(int32_t), "shapes", err));
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const modal_body *body = &b->setup->bodies[i];
        if (body->exact) continue;
        int32_t *use = &b->shape_use[2 * basis->objects[i].shape + (body->linear != 0)];
        const int32_t wanted = body->motion == MODAL_STEP_FIXED ? 1 : 2;
        if (*use < wanted) *use = wanted;
    }
    MODAL_TRY(reserve_tables(b, err));
    for (int32_t i = 0; i < 2 * basis->n_shapes; i++) {
        if (b->shape_use[i] == 0) continue;
        const modal_shape *shape = &basis->shapes[i / 2];
        status = modal_forest_shape(&b->tables, shape, i % 2, b->shape_use[i] == 2, b->setup->n_threads,
                                    &b->shapes[i], err);
        if (status != MODAL_OK) {
            modal_error_context(err, "shape %d", i / 2);
            goto done;
        }
        const int32_t r = shape->modes.n_modes;
        int32_t rows = (int32_t)modal_step_stiffness_rows(r, i % 2 == 0);
        if (rows < 1 + r) rows = 1 + r;
        if (r > f->task.most_modes) f->task.most_modes = r;
        if (rows > f->task.most_rows) f->task.most_rows = rows;
    }
done:
    return status;
}

static int same_damping(const modal_body *a, const modal_body *b)
{
    return a->alpha == b->alpha && a->beta == b->beta && a->ratio == b->ratio && a->tangent == b->tangent;
}

/* Points, in the order of the objects of the task. Scratch: first [basis objects + 1] becomes the first point of each object
 * of the basis, like_of [2 shapes] the last object of each shape. */
static modal_status build_points(modal_forest *f, builder *b, int64_t *first, int32_t *like_of, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_basis *basis = b->basis;
    const int64_t n = b->setup->n_points;
    MODAL_TRY(modal_alloc_zero(&b->points, n, sizeof *b->points, "points", err));
    MODAL_TRY(modal_alloc(&f->point_order, n, sizeof(int32_t), "points", err));
    int64_t p = 0;
    for (int32_t i = 0; i < basis->n_objects; i++) {
        first[i] = p;
        while (p < n && b->setup->points[p].object == i) p++;
    }
    first[basis->n_objects] = p;
    int32_t count = 0;
    for (int32_t i = 0; i < 2 * basis->n_shapes; i++) like_of[i] = -1;
    for (int32_t at = 0; at < f->n_objects; at++) {
        const int32_t i = f->object_at[at];
        int32_t *like = &like_of[b->objects[at].shape];
        b->objects[at].first_point = count;
        b->objects[at].n_points = (int32_t)(first[i + 1] - first[i]);
        for (int64_t k = first[i]; k < first[i + 1]; k++, count++) {
            b->points[count] = (modal_step_point){.object = at, .drag = b->setup->points[k].drag};
            f->point_order[count] = (int32_t)k;
            const int64_t twin = *like < 0 || k - first[i] >= b->objects[*like].n_points
                                     ? -1
                                     : b->objects[*like].first_point + k - first[i];
            const modal_body_point *point = &b->setup->points[k];
            const modal_body_point *other = twin < 0 ? NULL : &b->setup->points[f->point_order[twin]];
            if (other && other->first_vertex == point->first_vertex && other->n_vertices == point->n_vertices)
                b->points[count].table = b->points[twin].table;
            else
                MODAL_TRY(modal_forest_point(&b->tables, &basis->shapes[basis->objects[i].shape], point,
                                             &b->points[count].table, err));
        }
        *like = at;
    }
    f->task.n_points = count;
done:
    return status;
}

static modal_status build_objects(modal_forest *f, builder *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_basis *basis = b->basis;
    int64_t *offsets = NULL, work = 0;
    int32_t *like_of = NULL; /* the last object of each shape */
    MODAL_TRY(modal_alloc(&offsets, (int64_t)basis->n_objects + 1, sizeof *offsets, "objects", err));
    MODAL_TRY(modal_alloc(&like_of, 2 * (int64_t)basis->n_shapes, sizeof *like_of, "objects", err));
    MODAL_TRY(modal_alloc_zero(&f->masses, 4 * (int64_t)basis->n_objects, sizeof *f->masses, "objects", err));
    for (int32_t i = 0; i < 2 * basis->n_shapes; i++) like_of[i] = -1;
    modal_basis_mode_offsets(basis, offsets);
    for (int32_t at = 0; at < f->n_objects; at++) {
        const int32_t i = f->object_at[at];
        modal_step_object *o = &b->objects[at];
        const modal_object *object = &basis->objects[i];
        const modal_body *body = &b->setup->bodies[i];
        const modal_shape *shape = &basis->shapes[object->shape];
        o->shape = 2 * object->shape + (body->linear != 0);
        o->motion = (int32_t)body->motion;
        o->coordinates = offsets[i];
        o->tangent = body->tangent && !body->linear ? body->beta : 0;
        o->alpha = b->setup->bodies[f->object_at[o->tree]].motion == MODAL_STEP_FREE ? body->alpha : 0; /* a tree's root has its number */
        /* objects of one shape share tables: thousands of leaves then stay in the caches */
        const int32_t like = like_of[o->shape];
        if (like >= 0 && same_damping(body, &b->setup->bodies[f->object_at[like]]))
            o->damping = b->objects[like].damping;
        else
            MODAL_TRY(modal_forest_damping(&b->tables, shape, &b->shapes[o->shape], body, &o->damping, err));
        like_of[o->shape] = at;
        int64_t parent_modes = 0;
        if (o->parent >= 0) {
            const modal_object *parent = &basis->objects[object->parent];
            parent_modes = basis->shapes[parent->shape].modes.n_modes;
            status = modal_forest_anchor(&b->tables, &basis->shapes[parent->shape], parent->rest_pose,
                                         shape, object->rest_pose, o, err);
            if (status != MODAL_OK) {
                modal_error_context(err, "object %d", i);
                goto done;
            }
        }
        const modal_step_shape *prepared = &b->shapes[o->shape];
        f->masses[4 * i] = prepared->mass;
        memcpy(f->masses + 4 * (int64_t)i + 1, prepared->first, sizeof prepared->first);
        o->n_modes = shape->modes.n_modes;
        o->parent_modes = (int32_t)parent_modes;
        o->work = work;
        work += modal_step_work_size(shape->modes.n_modes, parent_modes, !f->device.shares_memory);
    }
    for (int32_t at = 0; at < f->n_objects; at++) {
        b->objects[at].share = work;
        if (b->objects[at].parent >= 0) work += modal_step_share_size(b->objects[at].parent_modes);
    }
    MODAL_TRY(build_points(f, b, offsets, like_of, err));
    MODAL_TRY(modal_device_alloc(&f->device, &f->task.work, work > 0 ? work : 1, sizeof(double), "work of the bodies", err));
    f->owned[f->n_owned++] = f->task.work;
done:
    modal_free(&like_of);
    modal_free(&offsets);
    return status;
}

/* The natural motions of small trees that stand on something. */
static modal_status build_small_motions(modal_forest *f, const builder *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int32_t n = f->n_objects, n_trees = f->task.n_trees;
    int32_t *first = NULL, *places = NULL;
    const double **poses = NULL;
    const modal_modes **modes = NULL;
    double all = 0;
    MODAL_TRY(modal_alloc_zero(&f->small, n_trees, sizeof *f->small, "natural motions", err));
    MODAL_TRY(modal_alloc_zero(&first, (int64_t)n_trees + 2, sizeof *first, "natural motions", err));
    MODAL_TRY(modal_alloc(&places, n, sizeof *places, "natural motions", err));
    MODAL_TRY(modal_alloc(&poses, n, sizeof *poses, "natural motions", err));
    MODAL_TRY(modal_alloc(&modes, n, sizeof *modes, "natural motions", err));
    for (int32_t at = 0; at < n; at++) first[f->tree_of[at] + 2]++;
    for (int32_t tree = 1; tree <= n_trees; tree++) first[tree + 1] += first[tree];
    for (int32_t at = 0; at < n; at++) places[first[f->tree_of[at] + 1]++] = at;
    for (int32_t k = 0; k < n; k++) {
        const modal_object *object = &b->basis->objects[f->object_at[places[k]]];
        poses[k] = object->rest_pose;
        modes[k] = &b->basis->shapes[object->shape].modes;
    }
    for (int32_t tree = 0; tree < n_trees; tree++) {
        const int32_t begin = first[tree], count = first[tree + 1] - begin;
        double coordinates = 0;
        for (int32_t k = begin; k < begin + count; k++) coordinates += modes[k]->n_modes;
        const double work = coordinates * coordinates * coordinates;
        if (count == 1 || b->objects[tree].motion == MODAL_STEP_FREE || coordinates > MOST_SMALL || all + work > MOST_ALL_SMALL) continue;
        all += work;
        const modal_small_tree own = {count, places + begin, b->objects, b->shapes, b->tables.values, poses + begin, modes + begin};
        MODAL_TRY(modal_small_motion_make(&own, &f->small[tree], err));
    }
done:;
    void *arrays[] = {&first, &places, &poses, &modes};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) modal_free(arrays[i]);
    return status;
}

/* A zeroed or copied array on the device; `pointer` is the address of a pointer in the task. */
static modal_status place(modal_forest *f, void *pointer, const void *data, int64_t count, size_t bytes,
                          const char *what, modal_error *err)
{
    modal_status status = MODAL_OK;
    void *memory = NULL;
    MODAL_TRY(modal_device_alloc(&f->device, &memory, count > 0 ? count : 1, bytes, what, err));
    f->owned[f->n_owned++] = memory;
    memcpy(pointer, &memory, sizeof memory);
    if (data)
        MODAL_TRY(modal_device_copy_in(&f->device, memory, data, count * (int64_t)bytes, f->stream, err));
    else
        MODAL_TRY(modal_device_fill(&f->device, memory, 0, count * (int64_t)bytes, f->stream, err));
    MODAL_TRY(modal_device_stream_wait(&f->device, f->stream, err));
done:
    return status;
}

static modal_status build_state(modal_forest *f, builder *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_step_task *t = &f->task;
    const int64_t n = f->n_objects, c = f->n_coordinates;
    MODAL_TRY(modal_alloc_zero(&f->poses, n, sizeof *f->poses, "frames", err));
    MODAL_TRY(modal_alloc_zero(&f->measures, n, sizeof *f->measures, "energies", err));
    MODAL_TRY(modal_alloc_zero(&f->root_lag, 6 * (int64_t)t->n_trees, sizeof(double), "frames", err));
    MODAL_TRY(modal_alloc_zero(&f->roots, t->n_trees, sizeof *f->roots, "frames", err));
    MODAL_TRY(modal_alloc_zero(&f->status, t->n_trees + MODAL_STEP_COUNTERS, sizeof *f->status, "status", err));
    MODAL_TRY(modal_alloc_zero(&f->times, t->n_trees, sizeof *f->times, "status", err));
    MODAL_TRY(modal_alloc_zero(&f->driven, t->n_trees, 1, "status", err));
    MODAL_TRY(modal_alloc_zero(&f->alone, t->n_trees, 1, "status", err));
    MODAL_TRY(modal_alloc_zero(&f->now, t->n_trees, 1, "status", err));
    MODAL_TRY(modal_alloc_zero(&f->failed, t->n_trees, 1, "status", err));
    MODAL_TRY(modal_alloc_zero(&f->masks, (int64_t)(MODAL_FOREST_HALVINGS + 2) * t->n_trees, 1, "status", err));
    MODAL_TRY(modal_alloc_zero(&f->forces, 3 * f->n_setup_points, sizeof(double), "forces", err));
    MODAL_TRY(modal_alloc_zero(&f->ordered, 3 * (int64_t)t->n_points, sizeof(double), "forces", err));
    for (int32_t at = 0; at < n; at++) {
        const int32_t i = f->object_at[at];
        const modal_body *body = &b->setup->bodies[i];
        const double *from = body->motion == MODAL_STEP_ATTACHED ? b->basis->objects[i].rest_pose : body->pose;
        modal_step_pose *pose = &f->poses[at];
        for (int r = 0; r < 3; r++) {
            memcpy(pose->rotation + 3 * r, from + 4 * r, 3 * sizeof(double));
            pose->position[r] = from[4 * r + 3];
            pose->turn[4 * r] = 1;
            if (body->motion != MODAL_STEP_FREE) continue;
            pose->velocity[r] = body->velocity[r];
            pose->spin[r] = body->spin[r];
        }
        if (at < t->n_trees) f->alone[at] = body->motion != MODAL_STEP_FREE && b->objects[at].n_children == 0;
        if (at < t->n_trees && body->motion == MODAL_STEP_DRIVEN) {
            f->driven[at] = 1;
            f->n_driven++;
        }
    }
    MODAL_TRY(place(f, &t->shapes, b->shapes, 2 * (int64_t)b->basis->n_shapes, sizeof *b->shapes, "shapes", err));
    MODAL_TRY(place(f, &t->objects, b->objects, n, sizeof *b->objects, "objects", err));
    MODAL_TRY(place(f, &t->points, b->points, t->n_points, sizeof *b->points, "points", err));
    if (f->device.shares_memory) {
        t->tables = f->tables = b->tables.values;
        b->tables.values = NULL;
    } else {
        MODAL_TRY(place(f, &t->tables, b->tables.values, b->tables.count, sizeof(double), "tables", err));
    }
    if (b->setup->air)
        MODAL_TRY(place(f, &t->air, b->setup->air, 1, sizeof *t->air, "air", err));
    double **arrays[] = {&t->q, &t->v, &t->a, &t->next_q, &t->next_v, &t->next_a};
    for (int i = 0; i < 6; i++) MODAL_TRY(place(f, arrays[i], NULL, c, sizeof(double), "state", err));
    MODAL_TRY(place(f, &t->lag, NULL, c + 6 * (int64_t)t->n_trees, sizeof(double), "state", err));
    t->root_lag = t->lag + c;
    MODAL_TRY(place(f, &t->poses, f->poses, n, sizeof *f->poses, "frames", err));
    MODAL_TRY(place(f, &t->next_poses, f->poses, n, sizeof *f->poses, "frames", err));
    MODAL_TRY(place(f, &t->point_force, NULL, 3 * (int64_t)t->n_points, sizeof(double), "forces", err));
    MODAL_TRY(place(f, &t->point_air, NULL, 3 * (int64_t)t->n_points, sizeof(double), "air", err));
    MODAL_TRY(place(f, &t->measures, NULL, n, sizeof *t->measures, "energies", err));
    MODAL_TRY(place(f, &t->active, NULL, t->n_trees, 1, "status", err));
    MODAL_TRY(place(f, &t->status, NULL, t->n_trees + MODAL_STEP_COUNTERS, sizeof(int32_t), "status", err));
    MODAL_TRY(place(f, &t->levels, f->levels, t->n_levels + 1, sizeof(int32_t), "levels", err));
    t->n_objects = (int32_t)n;
    const int64_t scratch = modal_step_device_scratch_size(t);
    if (!f->device.shares_memory && scratch > modal_step_shared(f->device.shared_bytes)) {
        t->n_scratch = MOST_SCRATCH;
        MODAL_TRY(modal_device_alloc(&f->device, &t->scratch, t->n_scratch * scratch, sizeof(double), "scratch",
                                     err));
        f->owned[f->n_owned++] = t->scratch;
    }
    t->h_status = f->status;
    t->h_levels = f->levels;
    memcpy(f->gravity, b->setup->gravity, sizeof f->gravity);
    memcpy(t->gravity, f->gravity, sizeof t->gravity); /* until a step sets its own */
    t->tolerance = b->setup->tolerance;
    t->radius = b->setup->radius;
    f->most_iterations = b->setup->most_iterations;
    f->most_halvings = b->setup->most_halvings < MODAL_FOREST_HALVINGS ? b->setup->most_halvings : MODAL_FOREST_HALVINGS;
done:
    return status;
}

int64_t modal_forest_bytes(const modal_basis *basis, const modal_forest_setup *setup, const modal_device *device)
{
    int64_t tables = 0, work = 0, most = 0;
    for (int32_t s = 0; s < basis->n_shapes; s++) {
        const int64_t r = basis->shapes[s].modes.n_modes, nodes = basis->shapes[s].solid.mesh.n_nodes;
        int cubic = 0, moves = 0, used = 0;
        for (int32_t i = 0; i < basis->n_objects; i++) {
            const modal_body *body = &setup->bodies[i];
            if (basis->objects[i].shape != s || body->exact) continue;
            used = 1;
            cubic |= !body->linear;
            moves |= body->motion != MODAL_STEP_FIXED;
            const int32_t parent = parent_in(basis, setup, i);
            const int64_t above = parent < 0 ? 0 : basis->shapes[basis->objects[parent].shape].modes.n_modes;
            work += modal_step_work_size(r, above, !device->shares_memory) + modal_step_pairs(r) + (1 + above) * MODAL_STEP_ANCHOR;
        }
        if (used) tables += modal_step_stiffness_rows(r, cubic) * modal_step_pairs(r) + (1 + r) * modal_step_moments(r);
        if (used && cubic) tables += modal_step_energy_size(r);
        if (moves && 6 * nodes * (r + 2) > most) most = 6 * nodes * (r + 2); /* while inertia is computed */
    }
    return 8 * ((device->shares_memory ? 1 : 2) * tables + work + most);
}

modal_status modal_forest_new(modal_forest **forest, const modal_basis *basis,
                              const modal_forest_setup *setup, const modal_device *device,
                              modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_forest *f = NULL;
    builder b = {.basis = basis, .setup = setup};
    *forest = NULL;
    MODAL_TRY(modal_alloc_zero(&f, 1, sizeof *f, "forest", err));
    f->device = *device;
    f->n_bodies = basis->n_objects;
    f->n_threads = setup->n_threads;
    f->n_setup_points = setup->n_points;
    f->n_coordinates = modal_basis_mode_offsets(basis, NULL);
    MODAL_TRY(modal_device_stream_new(device, &f->stream, err));
    MODAL_TRY(check_bodies(&b, err));
    MODAL_TRY(order_objects(f, &b, err));
    MODAL_TRY(build_shapes(f, &b, err));
    MODAL_TRY(build_objects(f, &b, err));
    MODAL_TRY(build_small_motions(f, &b, err));
    MODAL_TRY(build_state(f, &b, err));
    *forest = f;
    f = NULL;
done:
    builder_free(&b);
    modal_forest_delete(f);
    return status;
}

modal_forest *modal_forest_delete(modal_forest *f)
{
    if (!f) return NULL;
    for (int i = 0; i < f->n_owned; i++) modal_device_free(&f->device, &f->owned[i]);
    modal_device_stream_delete(&f->device, &f->stream);
    for (int32_t tree = 0; f->small && tree < f->task.n_trees; tree++) modal_small_motion_free(&f->small[tree]);
    void *arrays[] = {&f->tables, &f->small, &f->masses, &f->place, &f->object_at,
                      &f->tree_of, &f->levels, &f->driven, &f->alone, &f->status, &f->times, &f->now, &f->failed, &f->masks,
                      &f->forces, &f->point_order, &f->ordered, &f->roots, &f->root_lag, &f->poses, &f->measures};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) modal_free(arrays[i]);
    modal_free(&f);
    return NULL;
}
