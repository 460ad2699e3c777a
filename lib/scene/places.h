/* SPDX-License-Identifier: Apache-2.0 */
/* Where a scene's objects stand, and the vertices at which its forces act. */
#ifndef MODAL_SCENE_PLACES_H
#define MODAL_SCENE_PLACES_H

#include "lib/model/basis.h"
#include "lib/model/scene.h"

/* The stored vertices of a list of a scene: [n], the caller frees `vertices`. */
typedef struct modal_scene_vertices {
    int64_t *vertices;
    int64_t n, capacity;
    double distance; /* m, of the last vertex from the point that it stands for; 0: from none */
} modal_scene_vertices;

/* The pose [3, 4] at t = 0 of an object without keys. `said` is its entry in the scene, or NULL. */
void modal_scene_pose(const modal_scene_object *said, const modal_object *object, double *pose);

/* MODAL_ERROR_INPUT "LIST[3]: ..." for an item of a list of the scene, with its line. */
modal_status modal_scene_wrong(modal_error *err, const char *list, int32_t place, int32_t line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* MODAL_ERROR_INPUT "LIST[3]: ..." unless the basis has an object of this number. */
modal_status modal_scene_check_object(const char *list, int32_t place, int32_t line, int32_t object,
                                      const modal_basis *basis, modal_error *err);

/* MODAL_ERROR_INPUT "LIST[3]: ..." if the force is not 0: for one whose nodes no mode moves in its direction, on an object that stands still. */
modal_status modal_scene_idle_force(const char *list, const modal_scene_force *force, modal_error *err);

/* MODAL_ERROR_INPUT unless the modes of the object's shape are oscillators of their own: imported columns may be
 * coupled by mass or stiffness. */
modal_status modal_scene_check_uncoupled(const modal_basis *basis, int32_t object, modal_error *err);

/* Appends the stored vertices (one, or those of a group) at which the force acts on its object, which stands in
 * `pose` [3, 4]; the object is to be checked before. MODAL_ERROR_INPUT "LIST[3]: ..." where there is none. */
modal_status modal_scene_force_vertices(const char *list, const modal_scene_force *force, const modal_basis *basis,
                                        const double *pose, modal_scene_vertices *to, modal_error *err);

#endif
