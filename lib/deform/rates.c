/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/deform/rates.h"

#include <math.h>
#include <string.h>

static const double MOST_LOST = 0.1; /* of the largest speed */
static const double PI = 3.14159265358979323846;

/* What a column, or a turn, adds to the speed, and how much of it differences lose. */
typedef struct part {
    double speed, lost, frequency;
} part;

/* The share of a velocity that central differences lose, where the phase goes on by x from frame to frame. */
static double lost_at(double x)
{
    return x < 1e-4 ? 0 : x < PI ? 1 - sin(x) / x : 1;
}

static double longest_step(const modal_trajectory *t)
{
    double longest = 0;
    for (int64_t f = 1; f < t->n_frames; f++) longest = fmax(longest, t->times[f] - t->times[f - 1]);
    return longest;
}

static part part_of(const modal_modes *modes, const modal_trajectory *t, int64_t column, int32_t mode, double dt)
{
    const int64_t n = t->n_frames, width = t->mode_offsets[t->n_objects];
    const double *q = t->q + column;
    double least = INFINITY, most = -INFINITY, mean = 0, squares = 0, bends = 0;
    for (int64_t f = 0; f < n; f++) {
        least = fmin(least, q[f * width]);
        most = fmax(most, q[f * width]);
        mean += q[f * width] / (double)n;
    }
    if (!(most > least)) return (part){0};
    double x = 2 * PI * (modes->kind == MODAL_KIND_MODES ? modes->frequencies[mode] : 0) * dt;
    if (modes->kind != MODAL_KIND_MODES && n > 2) {
        for (int64_t f = 1; f + 1 < n; f++) {
            const double bend = q[(f + 1) * width] - 2 * q[f * width] + q[(f - 1) * width];
            squares += (q[f * width] - mean) * (q[f * width] - mean);
            bends += bend * bend;
        }
        x = squares > 0 ? 2 * asin(fmin(1, 0.5 * sqrt(sqrt(bends / squares)))) : 0;
    }
    const double speed = x / dt * (most - least) / 2;
    return (part){speed, lost_at(x) * speed, x / (2 * PI * dt)};
}

/* The largest angle that an object's pose turns by between two frames. */
static double largest_turn(const modal_trajectory *t, int32_t object)
{
    double least = 3;
    for (int64_t f = 1; f < t->n_frames; f++) {
        const double *a = t->poses + 12 * ((f - 1) * t->n_objects + object), *b = a + 12 * (int64_t)t->n_objects;
        double trace = 0;
        for (int i = 0; i < 12; i++) trace += i % 4 < 3 ? a[i] * b[i] : 0;
        least = fmin(least, trace);
    }
    return acos(fmax(-1, fmin(1, (least - 1) / 2)));
}

modal_status modal_deform_check_rates(const modal_basis *basis, const modal_trajectory *t, modal_error *err)
{
    double fastest = 0, worst = 0, worst_frequency = 0;
    int32_t worst_object = -1;
    int64_t worst_mode = -1;
    if (t->q_velocities && (!t->poses || t->pose_velocities)) return MODAL_OK;
    if (t->n_frames < 2) return modal_error_set(err, MODAL_ERROR_INPUT, "speed needs two frames");
    if (!isfinite(t->times[t->n_frames - 1] - t->times[0]))
        return modal_error_set(err, MODAL_ERROR_INPUT, "times: speed needs their differences, %g to %g s", t->times[0], t->times[t->n_frames - 1]);
    const double dt = longest_step(t);
    for (int32_t i = 0; i < t->n_objects; i++) {
        const modal_modes *modes = &basis->shapes[basis->objects[i].shape].modes;
        const double mass = modes->total_mass > 0 ? modes->total_mass : 1;
        double speeds = 0, lost = 0, most = 0, frequency = 0;
        int64_t mode = -1;
        for (int64_t k = t->mode_offsets[i]; k < t->mode_offsets[i + 1]; k++) {
            const part p = part_of(modes, t, k, (int32_t)(k - t->mode_offsets[i]), dt);
            speeds += p.speed * p.speed / mass;
            lost += p.lost * p.lost / mass;
            if (!(p.lost > most)) continue;
            most = p.lost;
            frequency = p.frequency;
            mode = k - t->mode_offsets[i];
        }
        fastest = fmax(fastest, sqrt(speeds));
        if (sqrt(lost) > worst) worst = sqrt(lost), worst_object = i, worst_mode = mode, worst_frequency = frequency;
    }
    for (int32_t i = 0; t->poses && i < t->n_objects; i++) {
        const double turn = largest_turn(t, i);
        if (!(lost_at(turn) <= MOST_LOST))
            return modal_error_set(err, MODAL_ERROR_INPUT, "object %d: turns by %.3g degrees from frame to frame, whose speed needs more frames a second, "
                                   "or velocities (modalsim --velocities)", i, turn * 180 / PI);
    }
    if (worst_object < 0 || worst <= MOST_LOST * fastest) return MODAL_OK;
    /* lost_at(0.79) is a tenth */
    return modal_error_set(err, MODAL_ERROR_INPUT,
                           "object %d, mode %lld: moves at %.6g Hz, whose speed needs %.0f frames a second, %.6g, or velocities (modalsim --velocities)",
                           worst_object, (long long)worst_mode, worst_frequency, ceil(8 * worst_frequency), 1 / dt);
}

/* The trajectory's frames before and after one, itself at the ends: differences over both are central,
 * and one-sided at the ends. */
static void neighbours(const modal_trajectory *q, int64_t frame, int64_t *before, int64_t *after)
{
    *before = frame > 0 ? frame - 1 : frame;
    *after = frame + 1 < q->n_frames ? frame + 1 : frame;
}

static void difference(const modal_trajectory *q, const double *values, int64_t width, int64_t frame, double *to)
{
    int64_t before, after;
    neighbours(q, frame, &before, &after);
    const double span = q->times[after] - q->times[before];
    for (int64_t i = 0; i < width; i++)
        to[i] = (values[after * width + i] - values[before * width + i]) / span;
}

void modal_deform_rates(const modal_trajectory *q, int64_t frame, double *q_rates, double *pose_rates)
{
    const int64_t width = q->mode_offsets[q->n_objects], pose_width = 12 * (int64_t)q->n_objects;
    if (q_rates && q->q_velocities) memcpy(q_rates, q->q_velocities + frame * width, (size_t)width * sizeof *q_rates);
    if (pose_rates && q->pose_velocities) memcpy(pose_rates, q->pose_velocities + frame * pose_width, (size_t)pose_width * sizeof *pose_rates);
    /* differences of the trajectory's float64 numbers: no digits are lost as they would be between positions */
    if (q_rates && !q->q_velocities) difference(q, q->q, width, frame, q_rates);
    if (pose_rates && !q->pose_velocities) difference(q, q->poses, pose_width, frame, pose_rates);
}
