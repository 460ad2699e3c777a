/* SPDX-License-Identifier: Apache-2.0 */
/* Options without loads: every object is let go out of its lowest mode, so far that it is seen and that its linear motion is sound. */
#include <math.h>

#include "lib/base/memory.h"
#include "lib/model/node_modes.h"
#include "lib/model/quality.h"
#include "tools/modalsim/modalsim.h"

/* Largest displacement, as a share of the diagonal of the box: from the first to the last in steps, as long as the motion is not sound. */
static const double MOST = 0.10, LEAST = 0.01, STEP = 0.005, NOT_MEASURED = 0.05;
static const double SECONDS = 2, MOST_PERIODS = 20, LEAST_PERIODS = 2;
/* Frames per period, of the fastest object or of those that are this many times faster than the slowest; frames a second and in all. */
static const double FRAMES = 20, FASTER = 10, FILM = 24, MANY = 600;

typedef struct plucked {
    int32_t mode; /* -1: nothing of the shape moves */
    double share, q;
} plucked;

static int32_t lowest_mode(const modal_modes *modes)
{
    int32_t lowest = -1;
    for (int32_t k = 0; k < modes->n_modes; k++)
        if (modes->frequencies[k] > 0 && (lowest < 0 || modes->frequencies[k] < modes->frequencies[lowest])) lowest = k;
    return lowest;
}

/* Both ways: what is stretched on one side is pressed half a period later. */
static int is_sound(const modal_deformation *deformation, int32_t shape, double *q, int32_t mode)
{
    int sound = 1, measure;
    for (int side = 0; side < 2; side++, q[mode] = -q[mode]) {
        modal_quality row = modal_quality_none();
        modal_deformed found;
        modal_deformation_measure(deformation, shape, q, 1, 0, &found);
        row.not_judged = 0;
        row.least_jacobian = found.jacobian;
        row.rotation = found.rotation;
        row.strain = found.strain;
        sound &= modal_quality_verdict(&row, &measure) == MODAL_SOUND;
    }
    return sound;
}

static modal_status pluck_shape(const modalsim_request *r, const modal_basis *basis, int32_t index, const modal_deformation *deformation,
                                plucked *p, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_shape *shape = &basis->shapes[index];
    const modal_matrix_source own = {0};
    double *largest = NULL, *q = NULL;
    p->mode = lowest_mode(&shape->modes);
    if (p->mode < 0) goto done;
    MODAL_TRY(modal_alloc(&largest, shape->modes.n_modes, sizeof *largest, "amplitudes", err));
    MODAL_TRY(modal_alloc_zero(&q, shape->modes.n_modes, sizeof *q, "amplitudes", err));
    MODAL_TRY(modal_reach_modes(shape, index, &own, largest, err));
    const double unit = modal_reach_diagonal(&shape->surface) / largest[p->mode];
    const int known = deformation && modal_deformation_knows(deformation, index);
    p->share = r->amplitude > 0 ? r->amplitude : known ? MOST : NOT_MEASURED;
    for (int i = 1; known && !(r->amplitude > 0); i++) {
        q[p->mode] = 1.001 * p->share * unit; /* the last digits of later frames are other ones */
        if (is_sound(deformation, index, q, p->mode) || MOST - i * STEP < LEAST - 0.5 * STEP) break;
        p->share = MOST - i * STEP;
    }
    p->q = p->share * unit;
    if (!(isfinite(p->q) && p->q > 0))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: shape %d: mode %d moves nothing, its largest displacement is %g m", r->basis_path, index, p->mode,
                   largest[p->mode]);
done:
    modal_free(&largest);
    modal_free(&q);
    return status;
}

/* A number that reads easily and is not less than `wanted`: whole from 1 on, 1, 2, 3 ... 10, 12, 15, 20, 24 ... */
static double round_up(double wanted)
{
    static const double steps[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 24, 30, 40, 50, 60, 80, 100};
    double power = 1;
    while (100 * power < wanted) power *= 10;
    while (power >= wanted) power /= 10;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i] * power >= wanted) return steps[i] * power;
    return wanted;
}

static double least_of(double a, double b) { return a < b ? a : b; }

/* Duration and frames a second, as far as they are not given. */
static modal_status choose_frames(modalsim_request *r, double slowest, double fastest, modal_error *err)
{
    const double period = 1 / slowest;
    if (!(r->duration > 0)) r->duration = least_of(fmax(least_of(SECONDS, MOST_PERIODS * period), LEAST_PERIODS * period), MODAL_SCENE_DURATION);
    if (!(r->fps > 0)) {
        const double wanted = FRAMES * least_of(fastest, FASTER * slowest);
        r->fps = wanted < FILM && FILM * r->duration <= MANY ? FILM : round_up(wanted);
        r->fps = least_of(fmax(r->fps, MODAL_SCENE_LEAST_FPS), MODAL_SCENE_MOST_FPS);
    }
    return modalsim_count_frames(r, err);
}

static void say(tool *t, const modalsim_request *r, const modal_basis *basis, const plucked *all, char remark[MODALSIM_REMARK])
{
    double low = INFINITY, high = 0, least = INFINITY, most = 0;
    int32_t n = 0, first = -1;
    char shares[32], frequencies[48], what[64];
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const plucked *p = &all[basis->objects[i].shape];
        if (p->mode < 0) continue;
        const double f = basis->shapes[basis->objects[i].shape].modes.frequencies[p->mode];
        if (n++ == 0) first = i;
        low = fmin(low, f);
        high = fmax(high, f);
        least = fmin(least, p->share);
        most = fmax(most, p->share);
    }
    if (n == 1) snprintf(what, sizeof what, "mode %d of object %d", all[basis->objects[first].shape].mode, first);
    else snprintf(what, sizeof what, "the lowest modes of %d objects", n);
    snprintf(frequencies, sizeof frequencies, high > low ? "%.4g to %.4g Hz" : "%.4g Hz", low, high);
    snprintf(shares, sizeof shares, most > least ? "%.3g to %.3g %%" : "%.3g %%", 100 * least, 100 * most);
    snprintf(remark, MODALSIM_REMARK, " # plucked by %s of the size", shares);
    tool_note(t, "no loads: plucks %s, %s, by %s of its size, %.4g s at %.6g frames a second (--amplitude, --duration, --fps and "
                 "--damping-ratio change it; --impulse, --gravity, --initial, --scene move it otherwise)",
              what, frequencies, shares, r->duration, r->fps);
    json_object_set_new(t->report, "plucked", json_pack("{s:i, s:[f, f], s:[f, f], s:f, s:f}", "objects", n, "frequencies_hz", low, high,
                                                        "shares_of_size", least, most, "duration_s", r->duration, "frames_per_second", r->fps));
}

modal_status modalsim_pluck(tool *t, modalsim_request *r, const modal_basis *basis, modal_scene *scene, char remark[MODALSIM_REMARK],
                            modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_deformation *deformation = NULL;
    plucked *all = NULL;
    double slowest = INFINITY, fastest = 0;
    int some = 0;
    MODAL_TRY(modal_alloc(&all, basis->n_shapes, sizeof *all, "amplitudes", err));
    for (int32_t i = 0; i < basis->n_shapes; i++) some |= modal_shape_has_node_modes(&basis->shapes[i]);
    if (some) MODAL_TRY(modal_deformation_new(&deformation, basis, 1, err));
    for (int32_t i = 0; i < basis->n_shapes; i++) MODAL_TRY(pluck_shape(r, basis, i, deformation, &all[i], err));
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const int32_t shape = basis->objects[i].shape;
        const modal_modes *modes = &basis->shapes[shape].modes;
        modal_scene_object *object = &scene->objects[i];
        if (all[shape].mode < 0) continue;
        MODAL_TRY(modal_alloc_zero(&object->initial, modes->n_modes, sizeof(double), "initial amplitudes", err));
        object->n_initial = modes->n_modes;
        object->initial[all[shape].mode] = all[shape].q;
        slowest = fmin(slowest, modes->frequencies[all[shape].mode]);
        fastest = fmax(fastest, modes->frequencies[all[shape].mode]);
    }
    if (!(fastest > 0))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: no object has a mode with a frequency, which could be plucked; give loads (--gravity, --impulse), or a "
                                           "--scene", r->basis_path);
    MODAL_TRY(choose_frames(r, slowest, fastest, err));
    scene->duration = r->last_time;
    scene->fps = r->fps;
    r->amplitude = 0; /* it is the pluck's already */
    say(t, r, basis, all, remark);
done:
    modal_deformation_delete(deformation);
    modal_free(&all);
    return status;
}
