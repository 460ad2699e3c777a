/* SPDX-License-Identifier: Apache-2.0 */
/* Loads of a scene that end before it, and objects that hang on nothing: a warning each. */
#include <math.h>

#include "lib/base/memory.h"
#include "lib/forest/forest_tables.h"
#include "lib/mesh/units.h"
#include "tools/modalsim/modalsim.h"

/* A load that drops to 0 before the run ends: the author of a ramp often means it to hold. */
static void doubt_drop(tool *t, const char *path, const char *what, const modal_curve *curve, double end)
{
    const double drop = modal_curve_drop(curve, end);
    if (drop != 0)
        tool_warn(t, "%s: %s: a curve ends at %g s with the value %g; from there to %g s it is 0", path, what, curve->times[curve->n_keys - 1], drop,
                  end);
}

static double size_of(const modal_shape *shape)
{
    double low[3], high[3], square = 0;
    const int is_solid = shape->solid.mesh.n_nodes > 0;
    modal_find_box(is_solid ? shape->solid.mesh.nodes : shape->surface.rest_positions,
                   is_solid ? shape->solid.mesh.n_nodes : shape->surface.n_vertices, low, high);
    for (int k = 0; k < 3; k++) square += high[k] > low[k] ? (high[k] - low[k]) * (high[k] - low[k]) : 0;
    return sqrt(square);
}

/* An object that is farther from its parent than both are large follows motions of vertices that it does not touch. */
static void doubt_attachments(tool *t, const modalsim_request *r, const modal_scene *scene, const modal_basis *basis)
{
    int32_t n = 0, first = -1, at = 0;
    double gap = 0, sizes[2] = {0, 0};
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const modal_object *object = &basis->objects[i];
        while (at < scene->n_objects && scene->objects[at].object < i) at++;
        const int is_said = at < scene->n_objects && scene->objects[at].object == i;
        if (object->parent < 0 || modal_scene_motion_of(is_said ? scene->objects[at].motion : MODAL_SCENE_DEFAULT, object) != MODAL_STEP_ATTACHED)
            continue;
        const modal_object *parent = &basis->objects[object->parent];
        const modal_shape *own = &basis->shapes[object->shape], *of_parent = &basis->shapes[parent->shape];
        const double distance = modal_forest_gap(of_parent, parent->rest_pose, &own->solid, object->rest_pose);
        const double own_size = size_of(own), parent_size = size_of(of_parent);
        if (!(distance > own_size + parent_size) || n++ > 0) continue;
        first = i;
        gap = distance;
        sizes[0] = own_size;
        sizes[1] = parent_size;
    }
    if (n > 0)
        tool_warn(t, "%s: object %d hangs on object %d, whose nearest vertex is %.4g m away; they are %.4g m and %.4g m large; %d such objects",
                  r->basis_path, first, basis->objects[first].parent, gap, sizes[0], sizes[1], n);
}

void modalsim_doubt_loads(tool *t, const modalsim_request *r, const modal_scene *scene, const modal_basis *basis)
{
    const int64_t n_frames = modal_scene_frame_count(scene->duration, scene->fps);
    const double end = modal_frame_time(n_frames - 1, scene->fps);
    if (scene->response.given || n_frames < 1) return;
    for (int32_t i = 0; i < scene->n_forces; i++) {
        char what[32];
        snprintf(what, sizeof what, "forces[%d]", scene->forces[i].place);
        doubt_drop(t, r->scene_path, what, &scene->forces[i].curve, end);
    }
    for (int32_t i = 0; i < scene->n_shakings; i++) doubt_drop(t, r->scene_path, "base_accelerations", &scene->shakings[i].curve, end);
    doubt_attachments(t, r, scene, basis);
}
