/* SPDX-License-Identifier: Apache-2.0 */
/* "contacts" of a scene of one solid: rigid bodies that it does not enter. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/json/scene_reader.h"
#include "formats/json/solid_scene_parts.h"
#include "lib/base/memory.h"

/* [[x, y, z], [x, y, z]] */
static modal_status read_two(const modal_json_place *place, const char *unit, double one[3], double two[3])
{
    modal_status status = MODAL_OK;
    modal_json_place item;
    MODAL_TRY(modal_json_array(place, 2));
    if (json_array_size(place->value) != 2) {
        status = modal_json_wrong(place, "must be two vectors");
        goto done;
    }
    modal_json_item(place, 0, &item);
    MODAL_TRY(modal_json_vector(&item, 3, "m", one));
    modal_json_item(place, 1, &item);
    MODAL_TRY(modal_json_vector(&item, 3, unit, two));
done:
    return status;
}

static modal_status read_body(const modal_json_place *place, modal_solid_contact *c)
{
    static const char *const kinds[3] = {"plane", "sphere", "capsule"};
    modal_status status = MODAL_OK;
    modal_json_place member;
    int n = 0;
    for (int k = 0; k < 3; k++)
        if (modal_json_member(place, kinds[k], &member)) c->kind = (modal_solid_contact_kind)k, n++;
    if (n != 1) {
        status = modal_json_wrong(place, "needs exactly one of plane, sphere, capsule");
        goto done;
    }
    modal_json_member(place, kinds[c->kind], &member);
    if (c->kind == MODAL_SOLID_PLANE) {
        MODAL_TRY(read_two(&member, "1", c->at, c->normal));
        const double length = sqrt(c->normal[0] * c->normal[0] + c->normal[1] * c->normal[1] + c->normal[2] * c->normal[2]);
        for (int k = 0; k < 3; k++) c->normal[k] /= length > 0 ? length : 1;
        if (!(length > 0)) status = modal_json_wrong(&member, "the normal has no direction");
        else if (modal_json_member(place, "radius", &member)) status = modal_json_wrong(&member, "a plane has none");
        goto done;
    }
    if (c->kind == MODAL_SOLID_SPHERE) MODAL_TRY(modal_json_vector(&member, 3, "m", c->at));
    else MODAL_TRY(read_two(&member, "m", c->at, c->at + 3));
    MODAL_TRY(modal_json_required(place, "radius", &member));
    MODAL_TRY(modal_json_number(&member, 1e-12, 1e9, "m", &c->radius));
done:
    return status;
}

static modal_status read_contact(const modal_json_place *place, modal_solid_contact *c)
{
    modal_status status = MODAL_OK;
    modal_json_place member;
    const char *text = NULL;
    char name[32];
    MODAL_TRY(modal_json_object(place, "name plane sphere capsule radius nodes keys"));
    snprintf(name, sizeof name, "contacts[%d]", c->place);
    if (modal_json_member(place, "name", &member)) {
        MODAL_TRY(modal_json_text(&member, &text));
        if (!*text || strpbrk(text, "\n\r")) {
            status = modal_json_wrong(&member, "must be a text of one line");
            goto done;
        }
    }
    MODAL_TRY(modal_copy_text(&c->name, text ? text : name, SIZE_MAX, place->source->err));
    MODAL_TRY(read_body(place, c));
    if (modal_json_member(place, "nodes", &member)) {
        MODAL_TRY(modal_json_text(&member, &text));
        MODAL_TRY(modal_copy_text(&c->nodes, text, SIZE_MAX, place->source->err));
    }
    if (modal_json_member(place, "keys", &member)) MODAL_TRY(modal_scene_read_rows(&member, 4, "s and m", &c->keys, &c->n_keys));
done:
    return status;
}

modal_status modal_solid_read_contacts(const modal_json_place *root, modal_solid_scene *s)
{
    modal_status status = MODAL_OK;
    modal_json_place list, item;
    int32_t *lines = NULL;
    if (!modal_json_member(root, "contacts", &list)) return MODAL_OK;
    MODAL_TRY(modal_json_array(&list, 0));
    if (json_array_size(list.value) > MODAL_SOLID_CONTACTS) {
        status = modal_json_wrong(&list, "at most %d bodies, %zu", MODAL_SOLID_CONTACTS, json_array_size(list.value));
        goto done;
    }
    MODAL_TRY(modal_scene_read_lines(&list, &lines));
    MODAL_TRY(modal_alloc_zero(&s->contacts, (int64_t)json_array_size(list.value), sizeof *s->contacts, "contacts", list.source->err));
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        modal_solid_contact *c = &s->contacts[s->n_contacts++];
        c->place = (int32_t)i;
        c->line = lines[i];
        modal_json_item(&list, i, &item);
        MODAL_TRY(read_contact(&item, c));
    }
done:
    modal_free(&lines);
    return status;
}
