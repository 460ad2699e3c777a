/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the reader of scenes of one solid (solid_scene.c). */
#ifndef MODAL_FORMATS_SOLID_SCENE_PARTS_H
#define MODAL_FORMATS_SOLID_SCENE_PARTS_H

#include "formats/json/json_place.h"
#include "lib/model/solid_scene.h"

/* The list "contacts", if there is one. */
modal_status modal_solid_read_contacts(const modal_json_place *root, modal_solid_scene *scene);

#endif
