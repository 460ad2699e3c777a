/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/tled/contacts.h"

#include <string.h>

#include "lib/base/memory.h"
#include "lib/tled/faces.h"

int modal_tled_contact_place(const modal_solid_contact *c, double t, double place[6])
{
    const int n = c->kind == MODAL_SOLID_CAPSULE ? 6 : 3;
    const double *keys = c->keys;
    int64_t k = 0;
    double way[3] = {0, 0, 0};
    while (k < c->n_keys && keys[4 * k] <= t) k++;
    for (int i = 0; c->n_keys > 0 && i < 3; i++) {
        const int64_t last = k > 0 ? k - 1 : 0;
        way[i] = keys[4 * last + 1 + i];
        if (k > 0 && k < c->n_keys)
            way[i] += (keys[4 * k + 1 + i] - way[i]) * ((t - keys[4 * last]) / (keys[4 * k] - keys[4 * last]));
    }
    for (int i = 0; i < n; i++) place[i] = c->at[i] + way[i % 3];
    return n;
}

/* Bit c in masks of the nodes that touch body c. */
static modal_status mark(const modal_solid_scene *scene, const modal_tled_nodes *nodes, const modal_tled_model *model,
                         uint32_t *masks, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *faces = NULL;
    int64_t n_faces = 0;
    for (int32_t c = 0; c < scene->n_contacts; c++) {
        for (int64_t k = 0; k < nodes[c].n; k++) masks[model->node_to[nodes[c].nodes[k]]] |= 1u << c;
        if (nodes[c].n > 0) continue;
        if (!faces) MODAL_TRY(modal_tled_boundary(&model->solid, &faces, &n_faces, err));
        for (int64_t k = 0; k < 4 * n_faces; k++)
            if (faces[k] >= 0) masks[faces[k]] |= 1u << c;
    }
done:
    modal_free(&faces);
    return status;
}

modal_status modal_tled_contacts_new(const modal_solid_scene *scene, const modal_tled_nodes *nodes, modal_tled_model *model,
                                     modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_tled_solid *s = &model->solid;
    modal_tled_contact *contacts;
    uint32_t *masks = NULL, *own;
    int32_t *touching;
    int64_t n = 0;
    if (scene->n_contacts == 0) return MODAL_OK;
    MODAL_TRY(modal_alloc_zero(&contacts, scene->n_contacts, sizeof *contacts, "bodies", err));
    s->contacts = contacts;
    MODAL_TRY(modal_alloc_zero(&masks, s->n_nodes, sizeof *masks, "bodies", err));
    MODAL_TRY(mark(scene, nodes, model, masks, err));
    for (int64_t i = 0; i < s->n_nodes; i++) n += masks[i] != 0;
    MODAL_TRY(modal_alloc(&touching, n, sizeof *touching, "bodies", err));
    s->touching = touching;
    MODAL_TRY(modal_alloc(&own, n, sizeof *own, "bodies", err));
    s->touching_masks = own;
    for (int64_t i = 0; i < s->n_nodes; i++)
        if (masks[i]) own[s->n_touching] = masks[i], touching[s->n_touching++] = (int32_t)i;
    for (int32_t c = 0; c < scene->n_contacts; c++) {
        const modal_solid_contact *from = &scene->contacts[c];
        double place[6];
        contacts[c] = (modal_tled_contact){.kind = (int32_t)from->kind, .signal = s->n_signals, .radius = from->radius};
        memcpy(contacts[c].normal, from->normal, sizeof contacts[c].normal);
        s->n_signals += modal_tled_contact_place(from, 0, place);
    }
    s->n_contacts = scene->n_contacts;
done:
    modal_free(&masks);
    return status;
}

void modal_tled_contacts_free(modal_tled_solid *s)
{
    modal_free((void *)&s->contacts);
    modal_free((void *)&s->touching);
    modal_free((void *)&s->touching_masks);
    s->n_contacts = 0;
    s->n_touching = 0;
}
