/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/dynamics/scene.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"

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

static double keys_value(const modal_curve *c, double t)
{
    const int64_t low = keys_until(c, t);
    if (low == 0) return 0;
    if (low == c->n_keys) return t == c->times[low - 1] ? c->values[low - 1] : 0;
    const double part = (t - c->times[low - 1]) / (c->times[low] - c->times[low - 1]);
    return (1 - part) * c->values[low - 1] + part * c->values[low];
}

double modal_curve_value(const modal_curve *c, double t, double step)
{
    const double turn = 2 * 3.14159265358979323846;
    switch (c->kind) {
    case MODAL_CURVE_KEYS: return keys_value(c, t);
    case MODAL_CURVE_SINE: return sin(turn * c->frequency * t + c->phase);
    case MODAL_CURVE_SWEEP: {
        const double s = t - c->start, rate = (c->to - c->from) / (c->end - c->start);
        return s < 0 || t > c->end ? 0 : sin(turn * (c->from + 0.5 * rate * s) * s + c->phase);
    }
    case MODAL_CURVE_PULSE: {
        const double peak = step * fmax(1, ceil(c->start / step - 1e-9));
        const double height = 1 - fabs(t - peak) / step;
        return height > 0 ? height / step : 0;
    }
    default: return 1;
    }
}

void modal_curve_line(const modal_curve *c, double a, double b, double ends[2])
{
    const double middle = a + 0.5 * (b - a);
    ends[0] = modal_curve_value(c, a, 0);
    ends[1] = modal_curve_value(c, b, 0);
    if (c->kind == MODAL_CURVE_SWEEP && (middle < c->start || middle > c->end)) ends[0] = ends[1] = 0;
    if (c->kind != MODAL_CURVE_KEYS) return;
    const int64_t next = keys_until(c, middle);
    if (next == 0 || next == c->n_keys) {
        ends[0] = ends[1] = 0;
        return;
    }
    const double *t = c->times + next - 1, *y = c->values + next - 1;
    for (int i = 0; i < 2; i++) {
        const double part = ((i ? b : a) - t[0]) / (t[1] - t[0]);
        ends[i] = (1 - part) * y[0] + part * y[1];
    }
}
