/* SPDX-License-Identifier: Apache-2.0 */
/* What acts in a scene: forces, impulses, moving ground, and their curves. */
#include <string.h>

#include "formats/json/scene_reader.h"
#include "lib/base/below.h"
#include "lib/base/memory.h"

static modal_status read_csv(modal_scene_reader *r, const modal_json_place *place, int n_values, int is_series,
                             modal_series *series)
{
    modal_status status = MODAL_OK;
    const char *name = NULL;
    char *path = NULL;
    int64_t capacity = r->scene->n_files;
    MODAL_TRY(modal_json_text(place, &name));
    MODAL_TRY(modal_path_beside(r->source.name, name, (int64_t)strlen(name), &path, r->source.err));
    MODAL_TRY(is_series ? modal_series_read_csv(path, n_values, series, r->source.err)
                        : modal_list_read_csv(path, n_values, series, r->source.err));
    MODAL_TRY(modal_grow(&r->scene->files, &capacity, (int64_t)r->scene->n_files + 1, sizeof(char *), "files",
                         r->source.err));
    r->scene->files[r->scene->n_files++] = path;
    path = NULL;
done:
    modal_free(&path);
    return status;
}

modal_status modal_scene_read_series(modal_scene_reader *r, const modal_json_place *place, int n_values,
                                     modal_series *series)
{
    return read_csv(r, place, n_values, 1, series);
}

modal_status modal_scene_read_list(modal_scene_reader *r, const modal_json_place *place, int n_values, modal_series *list)
{
    return read_csv(r, place, n_values, 0, list);
}

modal_status modal_scene_read_rows(const modal_json_place *place, int columns, const char *unit, double **rows,
                                   int64_t *n)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_json_array(place, 2));
    *n = (int64_t)json_array_size(place->value);
    MODAL_TRY(modal_alloc(rows, *n * columns, sizeof(double), "keys", place->source->err));
    for (int64_t i = 0; i < *n; i++) {
        modal_json_place item;
        modal_json_item(place, (size_t)i, &item);
        MODAL_TRY(modal_json_vector(&item, columns, unit, *rows + i * columns));
        if (i > 0 && !((*rows)[i * columns] > (*rows)[(i - 1) * columns])) {
            status = modal_json_wrong(&item, "times must increase");
            goto done;
        }
    }
done:
    return status;
}

modal_status modal_scene_read_curve(modal_scene_reader *r, const modal_json_place *place, int smooth, modal_curve *curve)
{
    modal_status status = MODAL_OK;
    modal_json_place member, inner;
    modal_series series = {0};
    double *rows = NULL;
    MODAL_TRY(modal_json_object(place, smooth ? "keys file sine sweep smooth" : "keys file sine sweep"));
    if (json_object_size(place->value) != 1) {
        status = modal_json_wrong(place, "needs exactly one of keys, file, sine, sweep%s", smooth ? ", smooth" : "");
        goto done;
    }
    if (modal_json_member(place, "keys", &member)) {
        MODAL_TRY(modal_scene_read_rows(&member, 2, "s and 1", &rows, &curve->n_keys));
        MODAL_TRY(modal_alloc(&curve->times, curve->n_keys, sizeof(double), "keys", r->source.err));
        MODAL_TRY(modal_alloc(&curve->values, curve->n_keys, sizeof(double), "keys", r->source.err));
        for (int64_t i = 0; i < curve->n_keys; i++) {
            curve->times[i] = rows[2 * i];
            curve->values[i] = rows[2 * i + 1];
        }
        curve->kind = MODAL_CURVE_KEYS;
    } else if (modal_json_member(place, "file", &member)) {
        MODAL_TRY(modal_scene_read_series(r, &member, 1, &series));
        *curve = (modal_curve){.kind = MODAL_CURVE_KEYS, .n_keys = series.n_rows, .times = series.times,
                               .values = series.values};
        series.times = series.values = NULL;
    } else if (modal_json_member(place, "sine", &member)) {
        MODAL_TRY(modal_json_object(&member, "frequency phase"));
        MODAL_TRY(modal_json_required(&member, "frequency", &inner));
        MODAL_TRY(modal_json_number(&inner, 0, 1e12, "Hz", &curve->frequency));
        MODAL_TRY(modal_json_optional_number(&member, "phase", -1e6, 1e6, "rad", &curve->phase));
        curve->kind = MODAL_CURVE_SINE;
    } else if (modal_json_member(place, "sweep", &member)) {
        const struct {
            const char *key, *unit;
            double *value;
        } parts[] = {{"from", "Hz", &curve->from}, {"to", "Hz", &curve->to}, {"start", "s", &curve->start},
                     {"end", "s", &curve->end}};
        MODAL_TRY(modal_json_object(&member, "from to start end phase"));
        for (int i = 0; i < 4; i++) {
            MODAL_TRY(modal_json_required(&member, parts[i].key, &inner));
            MODAL_TRY(modal_json_number(&inner, 0, 1e12, parts[i].unit, parts[i].value));
        }
        MODAL_TRY(modal_json_optional_number(&member, "phase", -1e6, 1e6, "rad", &curve->phase));
        if (!(curve->end > curve->start)) status = modal_json_wrong(&member, "ends before it starts");
        curve->kind = MODAL_CURVE_SWEEP;
    } else if (modal_json_member(place, "smooth", &member)) {
        double ends[2];
        MODAL_TRY(modal_json_vector(&member, 2, "s", ends));
        if (!(ends[1] > ends[0])) status = modal_json_wrong(&member, "ends before it starts");
        *curve = (modal_curve){.kind = MODAL_CURVE_SMOOTH, .start = ends[0], .end = ends[1]};
    }
done:
    modal_series_free(&series);
    modal_free(&rows);
    return status;
}

modal_status modal_scene_read_lines(const modal_json_place *list, int32_t **lines)
{
    const int64_t count = (int64_t)json_array_size(list->value);
    modal_status status = modal_alloc(lines, count, sizeof **lines, "lines", list->source->err);
    if (status == MODAL_OK) modal_json_lines(list, *lines);
    return status;
}

/* ---- forces ---- */

modal_status modal_scene_read_place(const modal_json_place *place, int probe, modal_scene_force *f)
{
    modal_status status = MODAL_OK;
    modal_json_place member;
    int64_t index = 0;
    int places = 0;
    f->vertex = -1;
    MODAL_TRY(modal_json_required(place, "object", &member));
    MODAL_TRY(modal_json_integer(&member, 0, INT32_MAX - 1, &index));
    f->object = (int32_t)index;
    if (modal_json_member(place, "vertex", &member)) {
        MODAL_TRY(modal_json_integer(&member, 0, INT32_MAX, &f->vertex));
        places++;
    }
    if (modal_json_member(place, "point", &member)) {
        MODAL_TRY(modal_json_vector(&member, 3, "m", f->point));
        places++;
    }
    if (modal_json_member(place, "group", &member)) {
        const char *name = NULL;
        MODAL_TRY(modal_json_text(&member, &name));
        MODAL_TRY(modal_copy_text(&f->group, name, SIZE_MAX, place->source->err));
        places++;
    }
    if (places != 1)
        status = modal_json_wrong(place, "needs exactly one of vertex, point%s", probe ? "" : ", group");
done:
    return status;
}

static modal_status read_force(modal_scene_reader *r, const modal_json_place *place, int impulse, modal_scene_force *f)
{
    modal_status status = MODAL_OK;
    modal_json_place member;
    MODAL_TRY(modal_json_object(place, impulse                      ? "object vertex point group impulse time"
                                       : r->scene->response.given ? "object vertex point group force phase"
                                                                    : "object vertex point group force curve"));
    MODAL_TRY(modal_scene_read_place(place, 0, f));
    MODAL_TRY(modal_json_required(place, impulse ? "impulse" : "force", &member));
    MODAL_TRY(modal_json_vector(&member, 3, impulse ? "N s" : "N", f->vector));
    if (impulse) {
        f->curve.kind = MODAL_CURVE_PULSE;
        MODAL_TRY(modal_json_optional_number(place, "time", 0, 1e12, "s", &f->curve.start));
    } else if (modal_json_member(place, "curve", &member)) {
        MODAL_TRY(modal_scene_read_curve(r, &member, 0, &f->curve));
    }
    MODAL_TRY(modal_json_optional_number(place, "phase", -1e6, 1e6, "rad", &f->phase));
done:
    return status;
}

static modal_status read_record(modal_scene_reader *r, const modal_json_place *file)
{
    modal_status status = MODAL_OK;
    modal_series series = {0};
    MODAL_TRY(modal_scene_read_series(r, file, 3, &series));
    MODAL_TRY(modal_scene_add_record(r->scene, series.n_rows, series.times, series.values, r->source.err));
done:
    modal_series_free(&series);
    return status;
}

static modal_status idle(const modal_scene_reader *r, const modal_json_place *item)
{
    return modal_json_wrong(item, "would change nothing, it acts at no time from 0 to %g s", r->scene->duration);
}

modal_status modal_scene_read_shakings(modal_scene_reader *r, const modal_json_place *list)
{
    modal_status status = MODAL_OK;
    modal_scene *scene = r->scene;
    MODAL_TRY(modal_json_array(list, 0));
    const size_t count = json_array_size(list->value);
    int64_t capacity = 0;
    for (size_t i = 0; i < count; i++) {
        modal_json_place item, member;
        const int32_t first = scene->n_shakings;
        int acts = 0;
        modal_json_item(list, i, &item);
        MODAL_TRY(modal_json_object(&item, "acceleration curve file"));
        const int given = modal_json_member(&item, "file", &member);
        if (given ? json_object_size(item.value) != 1 : !json_object_get(item.value, "acceleration")) {
            status = modal_json_wrong(&item, "needs either acceleration, with or without curve, or file");
            goto done;
        }
        if (given) {
            MODAL_TRY(read_record(r, &member));
            capacity = scene->n_shakings;
        } else {
            MODAL_TRY(modal_grow(&scene->shakings, &capacity, scene->n_shakings + 1, sizeof *scene->shakings, "base accelerations",
                                 r->source.err));
            modal_scene_shaking *to = &scene->shakings[scene->n_shakings++];
            *to = (modal_scene_shaking){0};
            MODAL_TRY(modal_json_optional_vector(&item, "acceleration", 3, "m/s^2", to->acceleration));
            if (modal_json_member(&item, "curve", &member)) MODAL_TRY(modal_scene_read_curve(r, &member, 0, &to->curve));
        }
        for (int32_t k = first; k < scene->n_shakings; k++) acts |= modal_curve_acts(&scene->shakings[k].curve, scene->duration);
        if (!acts) {
            status = idle(r, &item);
            goto done;
        }
    }
done:
    return status;
}

modal_status modal_scene_read_forces(modal_scene_reader *r, const modal_json_place *root)
{
    modal_status status = MODAL_OK;
    int32_t *lines = NULL;
    int64_t capacity = 0;
    for (int impulse = 0; impulse < 2; impulse++) {
        modal_json_place list, item;
        if (!modal_json_member(root, impulse ? "impulses" : "forces", &list)) continue;
        MODAL_TRY(modal_json_array(&list, 0));
        modal_free(&lines);
        MODAL_TRY(modal_scene_read_lines(&list, &lines));
        for (size_t i = 0; i < json_array_size(list.value); i++) {
            MODAL_TRY(modal_grow(&r->scene->forces, &capacity, (int64_t)r->scene->n_forces + 1,
                                 sizeof *r->scene->forces, "forces", r->source.err));
            modal_scene_force *force = &r->scene->forces[r->scene->n_forces++];
            memset(force, 0, sizeof *force);
            force->place = (int32_t)i;
            force->line = lines[i];
            modal_json_item(&list, i, &item);
            MODAL_TRY(read_force(r, &item, impulse, force));
            if (!modal_curve_acts(&force->curve, r->scene->duration)) {
                status = idle(r, &item);
                goto done;
            }
        }
    }
done:
    modal_free(&lines);
    return status;
}
