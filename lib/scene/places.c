/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/scene/places.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/scene/loads.h"
#include "lib/scene/motion.h"

void modal_scene_pose(const modal_scene_object *said, const modal_object *object, double *pose)
{
    memcpy(pose, object->rest_pose, 12 * sizeof *pose);
    if (!said || !said->has_pose) return;
    double rotation[9];
    modal_rotation_of(said->rotation, rotation);
    for (int r = 0; r < 3; r++) {
        memcpy(pose + 4 * r, rotation + 3 * r, 3 * sizeof(double));
        pose[4 * r + 3] = said->position[r];
    }
}

modal_status modal_scene_wrong(modal_error *err, const char *list, int32_t place, int32_t line, const char *format, ...)
{
    char what[MODAL_ERROR_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (err && err->status == MODAL_OK) err->line = line;
    return modal_error_set(err, MODAL_ERROR_INPUT, "%s[%d]: %s", list, place, what);
}

modal_status modal_scene_check_object(const char *list, int32_t place, int32_t line, int32_t object,
                                      const modal_basis *basis, modal_error *err)
{
    if (object < basis->n_objects) return MODAL_OK;
    return modal_scene_wrong(err, list, place, line, "the basis has objects 0 .. %d, %d", basis->n_objects - 1, object);
}

modal_status modal_scene_idle_force(const char *list, const modal_scene_force *force, modal_error *err)
{
    if (force->vector[0] == 0 && force->vector[1] == 0 && force->vector[2] == 0) return MODAL_OK;
    return modal_scene_wrong(err, list, force->place, force->line,
                             "moves nothing: object %d stands still, and the nodes that it acts on are held in its direction", force->object);
}

modal_status modal_scene_check_uncoupled(const modal_basis *basis, int32_t object, modal_error *err)
{
    const modal_shape *shape = &basis->shapes[basis->objects[object].shape];
    if (shape->modes.mass_coupling <= 1e-6 && shape->modes.stiffness_coupling <= 1e-6) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_INPUT,
                           "shape %d: its imported columns are coupled, in the mass by %.3g, in the stiffness by %.3g",
                           basis->objects[object].shape, shape->modes.mass_coupling, shape->modes.stiffness_coupling);
}

static modal_status append(modal_scene_vertices *to, int64_t vertex, modal_error *err)
{
    modal_status status = modal_grow(&to->vertices, &to->capacity, to->n + 1, sizeof(int64_t), "points", err);
    if (status == MODAL_OK) to->vertices[to->n++] = vertex;
    return status;
}

static modal_status append_group(const char *list, const modal_scene_force *force, const modal_shape *shape,
                                 modal_scene_vertices *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_group *group = NULL;
    uint8_t *inside = NULL;
    const int64_t before = to->n;
    for (int32_t g = 0; g < shape->solid.mesh.n_groups; g++)
        if (strcmp(shape->solid.mesh.groups[g].name, force->group) == 0) group = &shape->solid.mesh.groups[g];
    if (!group) {
        char names[256] = "";
        for (int32_t g = 0; g < shape->solid.mesh.n_groups; g++) {
            const size_t used = strlen(names);
            snprintf(names + used, sizeof names - used, "%s%s", g ? ", " : "; there are: ",
                     shape->solid.mesh.groups[g].name);
        }
        status = modal_scene_wrong(err, list, force->place, force->line,
                                   "object %d has no group of this name, \"%s\"%s", force->object, force->group, names);
        goto done;
    }
    MODAL_TRY(modal_alloc_zero(&inside, shape->solid.mesh.n_nodes, 1, "group", err));
    for (int64_t i = 0; i < group->n_nodes; i++) inside[group->nodes[i]] = 1;
    for (int64_t v = 0; v < shape->surface.n_vertices; v++)
        if (shape->embedding.kind == MODAL_SURFACE_BOUNDARY && inside[shape->embedding.nodes[v]])
            MODAL_TRY(append(to, v, err));
    if (to->n == before)
        status = modal_scene_wrong(err, list, force->place, force->line,
                                   "no vertex of object %d's surface is a node of the group, \"%s\"", force->object,
                                   force->group);
done:
    modal_free(&inside);
    return status;
}

/* The diagonal of the box around the vertices at rest. */
static double size_of(const modal_surface *shape)
{
    double low[3], high[3];
    for (int a = 0; a < 3; a++) low[a] = high[a] = shape->rest_positions[a];
    for (int64_t i = 0; i < 3 * shape->n_vertices; i++) {
        low[i % 3] = fmin(low[i % 3], shape->rest_positions[i]);
        high[i % 3] = fmax(high[i % 3], shape->rest_positions[i]);
    }
    return hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
}

modal_status modal_scene_force_vertices(const char *list, const modal_scene_force *force, const modal_basis *basis,
                                        const double *frame, modal_scene_vertices *to, modal_error *err)
{
    const modal_shape *shape = &basis->shapes[basis->objects[force->object].shape];
    double distance = 0;
    if (force->group) return append_group(list, force, shape, to, err);
    const int64_t vertex = force->vertex >= 0
                               ? modal_surface_stored_vertex(&shape->surface, force->vertex)
                               : modal_surface_nearest_vertex(&shape->surface, frame, force->point, &distance);
    if (vertex < 0)
        return modal_scene_wrong(err, list, force->place, force->line, "object %d has vertices 0 .. %lld, %lld",
                                 force->object, (long long)shape->surface.n_vertices - 1, (long long)force->vertex);
    if (distance > size_of(&shape->surface))
        return modal_scene_wrong(err, list, force->place, force->line,
                                 "no vertex of object %d, which is %.4g m large, is near the point; the nearest, %.4g m",
                                 force->object, size_of(&shape->surface), distance);
    to->distance = distance;
    return append(to, vertex, err);
}
