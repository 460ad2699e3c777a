/* SPDX-License-Identifier: Apache-2.0 */
/* Lights, cameras, ground and background of a look; what its values are read by. */
#include <math.h>
#include <string.h>

#include "formats/json/look_reader.h"
#include "lib/base/memory.h"

modal_status modal_look_read_colour(const modal_json_place *object, const char *key, double colour[3])
{
    modal_status status = MODAL_OK;
    modal_json_place member;
    double values[3];
    if (!modal_json_member(object, key, &member)) return MODAL_OK;
    MODAL_TRY(modal_json_vector(&member, 3, "linear light", values));
    for (int k = 0; k < 3; k++)
        if (!(values[k] >= 0 && values[k] <= 1e6)) {
            status = modal_json_wrong(&member, "a colour has numbers in 0 .. 1e6");
            goto done;
        }
    memcpy(colour, values, sizeof values);
done:
    return status;
}

modal_status modal_look_read_material(const modal_look_reader *r, const modal_json_place *place, int32_t *material)
{
    const char *name = NULL;
    const modal_status status = modal_json_text(place, &name);
    if (status != MODAL_OK) return status;
    *material = modal_look_find(r->look, name, (int64_t)strlen(name));
    return *material >= 0 ? MODAL_OK : modal_json_wrong(place, "no material of that name");
}

static double size_of(const double v[3]) { return hypot(hypot(v[0], v[1]), v[2]); }

static modal_status read_direction(const modal_json_place *place, double direction[3])
{
    modal_status status = modal_json_vector(place, 3, "1", direction);
    if (status != MODAL_OK) return status;
    const double size = size_of(direction);
    if (!(size > 0 && isfinite(size))) return modal_json_wrong(place, "has no direction");
    for (int k = 0; k < 3; k++) direction[k] /= size;
    return MODAL_OK;
}

static modal_status read_lights(modal_look_reader *r, const modal_json_place *list)
{
    enum { MOST = 64 };
    modal_status status = MODAL_OK;
    size_t count;
    modal_look *look = r->look;
    modal_json_place item, member;
    MODAL_TRY(modal_json_list(list, 0, MOST, "lights", &look->lights, sizeof *look->lights, &count));
    for (size_t i = 0; i < count; i++) {
        modal_look_light *light = &look->lights[i];
        *light = (modal_look_light){.colour = {1, 1, 1}, .shadow = 1};
        modal_json_item(list, i, &item);
        MODAL_TRY(modal_json_object(&item, "direction colour shadow"));
        MODAL_TRY(modal_json_required(&item, "direction", &member));
        MODAL_TRY(read_direction(&member, light->direction));
        MODAL_TRY(modal_look_read_colour(&item, "colour", light->colour));
        if (modal_json_member(&item, "shadow", &member)) MODAL_TRY(modal_json_boolean(&member, &light->shadow));
        look->n_lights++;
    }
done:
    return status;
}

/* Whether something that looks along `view` can have this up. */
static int is_up(const double up[3], const double view[3])
{
    double cross[3];
    for (int k = 0; k < 3; k++) cross[k] = up[(k + 1) % 3] * view[(k + 2) % 3] - up[(k + 2) % 3] * view[(k + 1) % 3];
    return size_of(cross) > 1e-6 * size_of(view);
}

static modal_status read_keys(modal_look_reader *r, const modal_json_place *list, modal_look_camera *c)
{
    modal_status status = MODAL_OK;
    modal_json_place item;
    MODAL_TRY(modal_json_array(list, 1));
    const size_t count = json_array_size(list->value);
    MODAL_TRY(modal_alloc(&c->keys, 7 * (int64_t)count, sizeof *c->keys, "keys", r->source.err));
    for (size_t i = 0; i < count; i++) {
        double *key = c->keys + 7 * i, view[3];
        modal_json_item(list, i, &item);
        MODAL_TRY(modal_json_vector(&item, 7, "s and m", key));
        for (int k = 0; k < 3; k++) view[k] = key[4 + k] - key[1 + k];
        if (!(size_of(view) > 0) || !is_up(c->up, view)) {
            status = modal_json_wrong(&item, "eye and target are one point, or `up` lies along the view");
            goto done;
        }
        if (i > 0 && !(key[0] > key[-7])) {
            status = modal_json_wrong(&item, "times must increase");
            goto done;
        }
        c->n_keys++;
    }
done:
    return status;
}

static modal_status read_camera(modal_look_reader *r, const modal_json_place *place, modal_look_camera *c)
{
    modal_status status = MODAL_OK;
    modal_json_place member, other;
    const char *name = NULL;
    *c = (modal_look_camera){.fitted = 1, .direction = {0, 1, 0}, .up = {0, 0, 1}, .fov = 0.7};
    MODAL_TRY(modal_json_object(place, "name eye target direction up fov keys"));
    if (modal_json_member(place, "name", &member)) {
        MODAL_TRY(modal_json_text(&member, &name));
        MODAL_TRY(modal_copy_text(&c->name, name, SIZE_MAX, r->source.err));
    }
    if (modal_json_member(place, "up", &member)) MODAL_TRY(read_direction(&member, c->up));
    MODAL_TRY(modal_json_optional_number(place, "fov", 0.01, 3, "rad", &c->fov));
    const int has_eye = modal_json_member(place, "eye", &member), has_target = modal_json_member(place, "target", &other);
    if (has_eye != has_target) {
        status = modal_json_wrong(place, "eye and target: both or neither");
        goto done;
    }
    if (has_eye) {
        MODAL_TRY(modal_json_vector(&member, 3, "m", c->eye));
        MODAL_TRY(modal_json_vector(&other, 3, "m", c->target));
        if (modal_json_member(place, "direction", &member)) {
            status = modal_json_wrong(&member, "not together with eye and target");
            goto done;
        }
        c->fitted = 0;
        for (int k = 0; k < 3; k++) c->direction[k] = c->target[k] - c->eye[k];
    } else if (modal_json_member(place, "direction", &member)) {
        MODAL_TRY(read_direction(&member, c->direction));
    }
    const double size = size_of(c->direction);
    if (!(size > 0 && isfinite(size)) || !is_up(c->up, c->direction)) {
        status = modal_json_wrong(place, "eye and target are one point, or `up` lies along the view");
        goto done;
    }
    for (int k = 0; k < 3; k++) c->direction[k] /= size;
    if (modal_json_member(place, "keys", &member)) {
        if (c->fitted) status = modal_json_wrong(&member, "only with eye and target");
        else status = read_keys(r, &member, c);
    }
done:
    return status;
}

static modal_status read_cameras(modal_look_reader *r, const modal_json_place *list)
{
    enum { MOST = 1000 };
    modal_status status = MODAL_OK;
    size_t count;
    modal_look *look = r->look;
    modal_json_place item;
    MODAL_TRY(modal_json_list(list, 1, MOST, "cameras", &look->cameras, sizeof *look->cameras, &count));
    for (size_t i = 0; i < count; i++) {
        modal_json_item(list, i, &item);
        look->n_cameras++;
        MODAL_TRY(read_camera(r, &item, &look->cameras[i]));
        for (size_t k = 0; k < i; k++)
            if (look->cameras[i].name && look->cameras[k].name && strcmp(look->cameras[i].name, look->cameras[k].name) == 0) {
                status = modal_json_wrong(&item, "the name is there twice, in /cameras/%zu, too", k);
                goto done;
            }
    }
done:
    return status;
}

static modal_status read_ground(modal_look_reader *r, const modal_json_place *place)
{
    modal_status status = MODAL_OK;
    modal_look *look = r->look;
    modal_json_place member;
    look->ground_fitted = 1;
    MODAL_TRY(modal_json_object(place, "height material size tile"));
    MODAL_TRY(modal_json_required(place, "material", &member));
    MODAL_TRY(modal_look_read_material(r, &member, &look->ground_material));
    MODAL_TRY(modal_json_optional_number(place, "size", 1e-9, 1e9, "m", &look->ground_size));
    look->ground_tile = 1.0;
    MODAL_TRY(modal_json_optional_number(place, "tile", 1e-9, 1e9, "m", &look->ground_tile));
    if (modal_json_member(place, "height", &member)) {
        const char *text = json_string_value(member.value);
        if (text && strcmp(text, "fit") == 0) goto done;
        look->ground_fitted = 0;
        MODAL_TRY(modal_json_number(&member, -1e9, 1e9, "m, or \"fit\"", &look->ground_height));
    }
done:
    return status;
}

modal_status modal_look_read_view(modal_look_reader *r, const modal_json_place *root)
{
    modal_status status = MODAL_OK;
    modal_json_place member;
    MODAL_TRY(modal_look_read_colour(root, "ambient", r->look->ambient));
    MODAL_TRY(modal_look_read_colour(root, "background", r->look->background));
    if (modal_json_member(root, "lights", &member)) MODAL_TRY(read_lights(r, &member));
    if (modal_json_member(root, "cameras", &member)) MODAL_TRY(read_cameras(r, &member));
    if (modal_json_member(root, "ground", &member)) MODAL_TRY(read_ground(r, &member));
done:
    return status;
}
