/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/scene.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"

modal_scene modal_scene_default(void)
{
    return (modal_scene){.spectral_radius = 0.9, .balance = 0.05, .tolerance = 1e-8, .most_iterations = 20, .most_halvings = 8};
}

/* Three loads along the axes, each with its own curve. */
modal_status modal_scene_add_record(modal_scene *scene, int64_t n, const double *times, const double *values, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t capacity = scene->n_shakings;
    MODAL_TRY(modal_grow(&scene->shakings, &capacity, scene->n_shakings + 3, sizeof *scene->shakings, "base accelerations", err));
    for (int axis = 0; axis < 3; axis++) {
        modal_scene_shaking *to = &scene->shakings[scene->n_shakings++];
        *to = (modal_scene_shaking){.curve.kind = MODAL_CURVE_KEYS};
        to->acceleration[axis] = 1;
        MODAL_TRY(modal_alloc(&to->curve.times, n, sizeof(double), "record", err));
        MODAL_TRY(modal_alloc(&to->curve.values, n, sizeof(double), "record", err));
        to->curve.n_keys = n;
        for (int64_t i = 0; i < n; i++) {
            to->curve.times[i] = times[i];
            to->curve.values[i] = values[3 * i + axis];
        }
    }
done:
    return status;
}

int64_t modal_scene_frame_count(double duration, double fps)
{
    const double last = floor(duration * fps + 1e-9);
    if (!(last < 2147483648.0)) return -1;
    return (int64_t)last + 1;
}

void modal_scene_free(modal_scene *scene)
{
    for (int32_t i = 0; i < scene->n_objects; i++) {
        modal_free(&scene->objects[i].keys);
        modal_free(&scene->objects[i].initial);
        modal_free(&scene->objects[i].initial_velocity);
    }
    for (int32_t i = 0; i < scene->n_forces; i++) {
        modal_free(&scene->forces[i].group);
        modal_free(&scene->forces[i].curve.times);
        modal_free(&scene->forces[i].curve.values);
    }
    for (int32_t i = 0; i < scene->n_shakings; i++) {
        modal_free(&scene->shakings[i].curve.times);
        modal_free(&scene->shakings[i].curve.values);
    }
    modal_free(&scene->shakings);
    for (int32_t i = 0; i < scene->n_files; i++) modal_free(&scene->files[i]);
    modal_free(&scene->files);
    modal_free(&scene->response.probes);
    modal_free(&scene->objects);
    modal_free(&scene->forces);
    memset(scene, 0, sizeof *scene);
}

/* Keys at or before t. */
static int64_t keys_until(const modal_curve *c, double t)
{
    int64_t low = 0, high = c->n_keys;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (c->times[middle] <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double keys_value(const modal_curve *c, double t, double near)
{
    const int64_t next = keys_until(c, near);
    if (next == 0 || next == c->n_keys) return 0;
    const double *times = c->times + next - 1, *y = c->values + next - 1;
    const double part = (t - times[0]) / (times[1] - times[0]);
    return (1 - part) * y[0] + part * y[1];
}

int modal_curve_acts(const modal_curve *c, double end)
{
    int acts = 0;
    switch (c->kind) {
    case MODAL_CURVE_KEYS:
        for (int64_t i = 0; i + 1 < c->n_keys && end > 0; i++)
            acts |= c->times[i + 1] > 0 && c->times[i] < end && (c->values[i] != 0 || c->values[i + 1] != 0);
        return end > 0 ? acts : keys_value(c, 0, 0) != 0;
    case MODAL_CURVE_SWEEP: return c->start < end && c->end > 0;
    case MODAL_CURVE_PULSE:
    case MODAL_CURVE_SMOOTH: return c->start < end;
    case MODAL_CURVE_SINE: return end == 0 ? sin(c->phase) != 0 : c->frequency != 0 || sin(c->phase) != 0;
    default: return 1;
    }
}

double modal_curve_drop(const modal_curve *c, double end)
{
    if (c->kind != MODAL_CURVE_KEYS || c->n_keys == 0) return 0;
    const double last = c->times[c->n_keys - 1], value = c->values[c->n_keys - 1];
    double largest = 0;
    for (int64_t i = 0; i < c->n_keys; i++) largest = fmax(largest, fabs(c->values[i]));
    return last >= 0 && last < end && fabs(value) > 0.1 * largest ? value : 0;
}

double modal_curve_value(const modal_curve *c, double t, double near)
{
    const double turn = 2 * 3.14159265358979323846;
    switch (c->kind) {
    case MODAL_CURVE_KEYS: return keys_value(c, t, near);
    case MODAL_CURVE_SINE: return sin(turn * c->frequency * t + c->phase);
    case MODAL_CURVE_SWEEP: {
        const double s = t - c->start, rate = (c->to - c->from) / (c->end - c->start);
        return near < c->start || near > c->end ? 0 : sin(turn * (c->from + 0.5 * rate * s) * s + c->phase);
    }
    case MODAL_CURVE_PULSE: return 0;
    case MODAL_CURVE_SMOOTH: {
        const double s = t <= c->start ? 0 : t >= c->end ? 1 : (t - c->start) / (c->end - c->start);
        return s * s * s * (10 + s * (6 * s - 15));
    }
    default: return 1;
    }
}
