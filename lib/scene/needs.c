/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/scene/needs.h"

#include <string.h>

modal_step_motion modal_scene_motion_of(modal_scene_motion motion, const modal_object *object)
{
    switch (motion) {
    case MODAL_SCENE_FREE: return MODAL_STEP_FREE;
    case MODAL_SCENE_ATTACHED: return MODAL_STEP_ATTACHED;
    case MODAL_SCENE_SPIN:
    case MODAL_SCENE_KEYS: return MODAL_STEP_DRIVEN;
    case MODAL_SCENE_FIXED: return MODAL_STEP_FIXED;
    default: return object->parent >= 0 ? MODAL_STEP_ATTACHED : MODAL_STEP_FIXED;
    }
}

/* What the scene says about object i, NULL where it says nothing; *at: where to go on for i + 1. */
static const modal_scene_object *said_of(const modal_scene *scene, int32_t i, int32_t *at)
{
    while (*at < scene->n_objects && scene->objects[*at].object < i) ++*at;
    return *at < scene->n_objects && scene->objects[*at].object == i ? &scene->objects[*at] : NULL;
}

int modal_scene_moves(const modal_scene *scene, const modal_basis *basis)
{
    int32_t at = 0;
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const modal_scene_object *said = said_of(scene, i, &at);
        if (modal_scene_motion_of(said ? said->motion : MODAL_SCENE_DEFAULT, &basis->objects[i]) !=
                MODAL_STEP_FIXED ||
            (said && said->has_pose))
            return 1;
    }
    return 0;
}

int32_t modal_scene_still(const modal_scene *scene, const modal_basis *basis, uint8_t *still)
{
    int32_t at = 0, n = 0, changed = 1;
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const modal_scene_object *said = said_of(scene, i, &at);
        const modal_object *object = &basis->objects[i];
        const modal_step_motion motion = modal_scene_motion_of(said ? said->motion : MODAL_SCENE_DEFAULT, object);
        still[i] = motion == MODAL_STEP_FIXED || (motion == MODAL_STEP_ATTACHED && object->parent < 0);
        /* 2: attached to what does not deform, so that it moves where its parent does */
        if (motion == MODAL_STEP_ATTACHED && object->parent >= 0 && basis->shapes[basis->objects[object->parent].shape].modes.n_modes == 0)
            still[i] = 2;
    }
    while (changed) { /* parents may come after their children, so as often as chains are long */
        changed = 0;
        for (int32_t i = 0; i < basis->n_objects; i++)
            if (still[i] == 2 && still[basis->objects[i].parent] != 2) {
                still[i] = still[basis->objects[i].parent];
                changed = 1;
            }
    }
    for (int32_t i = 0; i < basis->n_objects; i++) n += still[i] != 0;
    return n;
}

int32_t modal_scene_unheld(const modal_scene *scene, const modal_basis *basis)
{
    int32_t at = 0;
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const modal_scene_object *said = said_of(scene, i, &at);
        const modal_object *object = &basis->objects[i];
        if (said && said->motion != MODAL_SCENE_DEFAULT) continue;
        if (basis->shapes[object->shape].modes.n_rigid_modes > 0 && object->parent < 0) return i;
    }
    return -1;
}

/* As many modes as its nodes can move. */
static int is_whole(const modal_shape *shape)
{
    int64_t held = 0;
    for (int64_t i = 0; i < shape->solid.n_fixed_nodes; i++)
        for (int axis = 0; axis < 3; axis++) held += (shape->solid.fixed_components[i] >> axis) & 1;
    return shape->solid.mesh.n_nodes > 0 && shape->modes.n_modes + shape->modes.n_rigid_modes >= 3 * shape->solid.mesh.n_nodes - held;
}

int modal_scene_models(const modal_scene *scene, const modal_basis *basis, uint8_t *models)
{
    int32_t at = 0;
    int any = 0;
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const modal_scene_object *said = said_of(scene, i, &at);
        models[i] = said && said->model >= 0 ? said->model == 1 : scene->stvk != 0;
        any |= models[i];
    }
    return any;
}

int32_t modal_scene_stiff_shape(const modal_scene *scene, const modal_basis *basis)
{
    int32_t at = 0;
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const modal_scene_object *said = said_of(scene, i, &at);
        const modal_shape *shape = &basis->shapes[basis->objects[i].shape];
        const int large = said && said->model >= 0 ? said->model == 1 : scene->stvk;
        if (large && shape->modes.n_modes > 0 && shape->modes.kind == MODAL_KIND_MODES && !is_whole(shape)) return basis->objects[i].shape;
    }
    return -1;
}

void modal_scene_needs(const modal_scene *scene, const modal_basis *basis, unsigned *needs)
{
    const int drag = scene->wind.given;
    int32_t at = 0;
    for (int32_t i = 0; i < basis->n_shapes; i++)
        needs[i] = drag ? MODAL_NEEDS_SURFACE | MODAL_NEEDS_MATRIX : 0;
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const modal_object *object = &basis->objects[i];
        const modal_scene_object *said = said_of(scene, i, &at);
        const modal_step_motion motion = modal_scene_motion_of(said ? said->motion : MODAL_SCENE_DEFAULT, object);
        unsigned *own = &needs[object->shape];
        if (said && said->model >= 0 ? said->model == 1 : scene->stvk) *own |= MODAL_NEEDS_REDUCED;
        if (motion != MODAL_STEP_FIXED) *own |= MODAL_NEEDS_VOLUME | MODAL_NEEDS_VOLUME_MODES;
        /* a rigid surface has its mass inside */
        if (motion != MODAL_STEP_FIXED && basis->shapes[object->shape].modes.n_modes == 0) *own |= MODAL_NEEDS_SURFACE;
        if (motion == MODAL_STEP_FREE && scene->attraction.given) *own |= MODAL_NEEDS_SURFACE | MODAL_NEEDS_MATRIX;
        if (motion == MODAL_STEP_ATTACHED && object->parent >= 0)
            needs[basis->objects[object->parent].shape] |= MODAL_NEEDS_SURFACE;
    }
    for (int32_t i = 0; i < scene->n_forces; i++) {
        const modal_scene_force *force = &scene->forces[i];
        if (force->object >= basis->n_objects) continue;
        unsigned *own = &needs[basis->objects[force->object].shape];
        *own |= MODAL_NEEDS_SURFACE;
        if (scene->response.given) *own |= MODAL_NEEDS_MATRIX;
        if (force->group) *own |= MODAL_NEEDS_VOLUME;
    }
    for (int32_t i = 0; i < scene->response.n_probes; i++)
        if (scene->response.probes[i].object < basis->n_objects)
            needs[basis->objects[scene->response.probes[i].object].shape] |= MODAL_NEEDS_SURFACE | MODAL_NEEDS_MATRIX;
}
