/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/modalview/modalview_loads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/memory.h"
#include "lib/scene/places.h"

enum { MOST_VERTICES = 64 }; /* of a group that the page follows */
static const double SHOWN = 0.05; /* of the trajectory's time, after an impulse */

/* ---- impulses of the command line ---- */

/* "VERTEX:X,Y,Z[@T]" or "x,y,z:X,Y,Z[@T]", as modalsim --impulse takes it; 0: something else. */
static int parse_impulse(char *text, modal_scene_force *force)
{
    modal_error ignored = {0};
    char *vector = strchr(text, ':'), *time = vector ? strchr(vector, '@') : NULL, *end = NULL;
    *force = (modal_scene_force){.vertex = -1, .curve = {.kind = MODAL_CURVE_PULSE}};
    if (!vector) return 0;
    *vector++ = '\0';
    if (time) *time++ = '\0';
    if (tool_parse_numbers(vector, 3, force->vector, "impulse", &ignored) != MODAL_OK) return 0;
    if (time && tool_parse_numbers(time, 1, &force->curve.start, "impulse", &ignored) != MODAL_OK) return 0;
    if (strchr(text, ',')) return tool_parse_numbers(text, 3, force->point, "impulse", &ignored) == MODAL_OK;
    errno = 0;
    force->vertex = strtoll(text, &end, 10);
    return errno == 0 && end > text && !*end && force->vertex >= 0;
}

/* The next "--impulse WORD" or "--impulse=WORD" from *at on; NULL: none. The caller frees it. */
static modal_status next_impulse(const char **at, char **word, modal_error *err)
{
    static const char name[] = " --impulse";
    *word = NULL;
    for (const char *c = *at; (c = strstr(c, name)) != NULL;) {
        c += sizeof name - 1;
        if (*c != ' ' && *c != '=') continue; /* another option */
        const size_t length = strcspn(++c, " '\"");
        *at = c + length;
        return modal_copy_text(word, c, length, err);
    }
    return MODAL_OK;
}

/* ---- loads ---- */

typedef struct load_list {
    modal_viewer_load *loads;
    int64_t n, capacity;
} load_list;

static modal_status add(load_list *list, const char *what, const modal_scene_force *force, const double *pose,
                        const modal_basis *basis, const modal_trajectory *q, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_scene_vertices at = {0};
    modal_viewer_load load = {.object = force->object, .impulse = force->curve.kind == MODAL_CURVE_PULSE};
    memcpy(load.vector, force->vector, sizeof load.vector);
    MODAL_TRY(modal_scene_check_object(what, force->place, force->line, force->object, basis, err));
    MODAL_TRY(modal_scene_force_vertices(what, force, basis, pose, &at, err));
    load.n_vertices = (int32_t)(at.n < MOST_VERTICES ? at.n : MOST_VERTICES);
    MODAL_TRY(modal_alloc(&load.vertices, load.n_vertices, sizeof *load.vertices, "loads", err));
    for (int32_t i = 0; i < load.n_vertices; i++) load.vertices[i] = (int32_t)at.vertices[i * at.n / load.n_vertices];
    MODAL_TRY(modal_alloc(&load.factors, q->n_frames, sizeof *load.factors, "loads", err));
    const double span = SHOWN * (q->times[q->n_frames - 1] - q->times[0]);
    for (int64_t f = 0; f < q->n_frames; f++) {
        const double since = q->times[f] - force->curve.start;
        load.factors[f] = load.impulse ? since >= 0 && since <= span : (float)modal_curve_value(&force->curve, q->times[f], q->times[f]);
    }
    MODAL_TRY(modal_grow(&list->loads, &list->capacity, list->n + 1, sizeof *list->loads, "loads", err));
    list->loads[list->n++] = load;
    load = (modal_viewer_load){0};
done:
    modal_free(&at.vertices);
    modal_free(&load.vertices);
    modal_free(&load.factors);
    return status;
}

static modal_status add_impulses(tool *t, load_list *list, const modal_basis *basis, const modal_trajectory *q, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *word = NULL;
    const modal_provenance *made = q->n_provenance > 0 ? &q->provenance[q->n_provenance - 1] : NULL;
    if (!made || strcmp(made->tool, "modalsim") != 0) return MODAL_OK;
    for (const char *at = made->arguments;;) {
        modal_scene_force force;
        MODAL_TRY(next_impulse(&at, &word, err));
        if (!word) break;
        if (parse_impulse(word, &force) && basis->n_objects > 0)
            MODAL_TRY(add(list, "impulses", &force, basis->objects[0].rest_pose, basis, q, err));
        else
            tool_warn(t, "an impulse in the trajectory's command line is not understood, and not shown");
        modal_free(&word);
    }
done:
    modal_free(&word);
    return status;
}

/* Whether some step of the trajectory has read this file. */
static modal_status check_scene(const char *path, const modal_trajectory *q, modal_error *err)
{
    char text[MODAL_HASH_TEXT];
    modal_status status = modal_hash_file(path, text, err);
    for (int32_t i = 0; status == MODAL_OK && i < q->n_provenance; i++)
        if (strstr(q->provenance[i].inputs, text)) return MODAL_OK;
    return status != MODAL_OK ? status
                              : modal_error_set(err, MODAL_ERROR_INPUT, "%s: not the scene that the trajectory was made of", path);
}

int modalview_loads_need_solids(const modal_scene *scene)
{
    int groups = 0;
    for (int32_t i = 0; i < scene->n_forces; i++) groups |= scene->forces[i].group != NULL;
    return groups;
}

modal_status modalview_loads_make(tool *t, const char *scene_path, const modal_scene *scene, const modal_basis *basis,
                                  const modal_trajectory *q, modal_viewer_load **loads, int32_t *n, modal_error *err)
{
    modal_status status = MODAL_OK;
    load_list list = {0};
    MODAL_TRY(add_impulses(t, &list, basis, q, err));
    if (scene_path) MODAL_TRY(check_scene(scene_path, q, err));
    for (int32_t i = 0; scene_path && i < scene->n_forces; i++) {
        const modal_scene_force *force = &scene->forces[i];
        const modal_scene_object *said = NULL;
        double pose[12];
        const char *what = force->curve.kind == MODAL_CURVE_PULSE ? "impulses" : "forces";
        MODAL_TRY(modal_scene_check_object(what, force->place, force->line, force->object, basis, err));
        for (int32_t k = 0; k < scene->n_objects; k++)
            if (scene->objects[k].object == force->object) said = &scene->objects[k];
        if (q->poses) /* where it stands in the first frame */
            memcpy(pose, q->poses + 12 * (int64_t)force->object, sizeof pose);
        else
            modal_scene_pose(said, &basis->objects[force->object], pose);
        if (add(&list, what, force, pose, basis, q, err) != MODAL_OK) {
            modal_error_context(err, "%s", scene_path);
            status = err->status;
            goto done;
        }
    }
done:
    *loads = list.loads;
    *n = (int32_t)list.n;
    return status;
}

void modalview_loads_free(modal_viewer_load **loads, int32_t n)
{
    for (int32_t i = 0; *loads && i < n; i++) {
        modal_free(&(*loads)[i].vertices);
        modal_free(&(*loads)[i].factors);
    }
    modal_free(loads);
}
