/* SPDX-License-Identifier: Apache-2.0 */
/* Rigid bodies of a scene (formats/solid_scene.md) as kernels/tled_step reads them: signals that say where they are. */
#ifndef MODAL_TLED_CONTACTS_H
#define MODAL_TLED_CONTACTS_H

#include "lib/tled/loads.h"

/* Gives the model its bodies; their signals follow those of the actions (solid->n_signals grows). nodes [scene->n_contacts]:
 * who touches each, of the mesh, ascending; an empty list: the nodes of the boundary. The model is due to be freed after an
 * error. */
modal_status modal_tled_contacts_new(const modal_solid_scene *scene, const modal_tled_nodes *nodes, modal_tled_model *model,
                                     modal_error *err);
void modal_tled_contacts_free(modal_tled_solid *solid); /* modal_tled_model_free does it */

/* Where body c is at t: `at` moved, 3 numbers, of a capsule 6. Returns how many. */
int modal_tled_contact_place(const modal_solid_contact *contact, double t, double place[6]);

#endif
