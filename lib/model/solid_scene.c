/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/solid_scene.h"

#include <string.h>

#include "lib/base/memory.h"

const char *const modal_solid_lists[MODAL_SOLID_ACTIONS] = {"forces", "pressures", "displacements", "probes"};

void modal_solid_scene_free(modal_solid_scene *scene)
{
    for (int32_t i = 0; i < scene->n_actions; i++) {
        modal_solid_action *a = &scene->actions[i];
        modal_free(&a->nodes);
        modal_free(&a->name);
        modal_free(&a->tags);
        modal_free(&a->rows);
        modal_free(&a->curve.times);
        modal_free(&a->curve.values);
    }
    for (int32_t i = 0; i < scene->n_contacts; i++) {
        modal_free(&scene->contacts[i].name);
        modal_free(&scene->contacts[i].nodes);
        modal_free(&scene->contacts[i].keys);
    }
    modal_free(&scene->contacts);
    for (int32_t i = 0; i < scene->n_models; i++) {
        modal_free(&scene->model_groups[i]);
        modal_free(&scene->models[i]);
    }
    for (int32_t i = 0; i < scene->n_files; i++) modal_free(&scene->files[i]);
    modal_free(&scene->gravity_curve.times);
    modal_free(&scene->gravity_curve.values);
    modal_free(&scene->actions);
    modal_free(&scene->model_groups);
    modal_free(&scene->models);
    modal_free(&scene->model_lines);
    modal_free(&scene->model);
    modal_free(&scene->files);
    modal_free(&scene->at);
    memset(scene, 0, sizeof *scene);
}
