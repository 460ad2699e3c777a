/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/tled/follow.h"

#include <math.h>
#include <string.h>

/* Steps between two checks: at most, where a check is a part of a step, and on a device, where it is a few short launches; at
 * least, while elements are squeezed fast. Steps between two looks at most: a look costs as much as several hundred steps. */
enum { MOST_HERE = 64, MOST_ON_DEVICE = 256, LEAST = 8, LOOK = 50000, TURNS = 3 };

static const double near = 0.95;   /* of the limit: an automatic step above it shrinks */
static const double shrunk = 0.85; /* of the limit: to which */
static const double least = 1e-3;  /* of the first step: a shorter one comes to no end */

static int64_t most_of(const modal_tled_follow *f) { return modal_tled_motion_is_here(f->motion) ? MOST_HERE : MOST_ON_DEVICE; }

/* The stiffest at which the limit would be near the step, after it was `limit` at `value`. */
static double level_of(const modal_tled_follow *f, double limit, double value)
{
    const double ratio = (f->automatic ? near : 1) * limit / modal_tled_motion_step(f->motion);
    return value * fmax(ratio * ratio, 1.03);
}

modal_status modal_tled_follow_begin(modal_tled_follow *f, const modal_tled_critical *rest, modal_error *err)
{
    const double value = isfinite(rest->bound) ? 4 / (rest->bound * rest->bound) : 0;
    f->at = (modal_tled_followed){.last = value, .least_limit = rest->estimate, .interval = most_of(f)};
    f->first_step = modal_tled_motion_step(f->motion);
    f->at.level = isfinite(rest->estimate) ? level_of(f, rest->estimate, value) : 0;
    return modal_tled_motion_keep(f->motion, err);
}

/* Back to the state that was kept, in shorter steps. */
static modal_status go_back(modal_tled_follow *f, double limit, double step, modal_error *err)
{
    const modal_status status = modal_tled_motion_back(f->motion, err);
    if (status != MODAL_OK) return status;
    const int64_t done = modal_tled_motion_steps(f->motion);
    modal_tled_motion_restep(f->motion, step);
    f->at.n_shrunk++;
    f->at.interval = LEAST;
    if (f->at.looked > done) f->at.looked = done;
    const modal_tled_change change = {modal_tled_motion_time(f->motion, done), limit, step, done};
    if (f->tell) f->tell(f->context, &change);
    return MODAL_OK;
}

/* Looks at the limit of the state at hand, whose stiffest is `value`. *stays 0: the motion has gone back, with a shorter step. */
static modal_status look(modal_tled_follow *f, double value, int64_t *element, int *stays, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_tled_critical now = {.element = -1};
    const int64_t done = modal_tled_motion_steps(f->motion);
    const double step = modal_tled_motion_step(f->motion), time = modal_tled_motion_time(f->motion, done);
    *stays = 1;
    MODAL_TRY(modal_tled_motion_state(f->motion, NULL, NULL, err));
    MODAL_TRY(modal_tled_critical_estimate(f->forces, modal_tled_motion_own(f->motion), &now, err));
    f->at.looked = done;
    if (now.estimate < f->at.least_limit) f->at.least_limit = now.estimate;
    const int shrinks = f->automatic && step > near * now.estimate && !(value * step * step <= 4);
    if (shrinks && shrunk * now.estimate >= least * f->first_step) {
        MODAL_TRY(go_back(f, now.estimate, shrunk * now.estimate, err));
        f->at.level = level_of(f, now.estimate, value);
        *stays = 0;
        goto done;
    }
    f->at.level = level_of(f, now.estimate, value);
    if (!shrinks && (step <= now.estimate || f->automatic)) goto done;
    if (f->unsafe && !shrinks) {
        const modal_tled_change change = {time, now.estimate, step, done};
        if (f->tell) f->tell(f->context, &change);
        goto done;
    }
    MODAL_TRY(modal_tled_critical_at(f->forces, modal_tled_motion_own(f->motion), &now, err)); /* which element */
    *element = now.element < 0 ? -1 : modal_tled_motion_element(f->motion, now.element);
    MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "t = %.9g s (step %lld): the critical step of the deformed solid has fallen below %s, %.6g s < %.6g s",
               time, (long long)done, shrinks ? "a thousandth of the first step" : "the step", now.estimate,
               shrinks ? least * f->first_step : step);
done:
    return status;
}

/* After some steps: whether they may stay. */
static modal_status check(modal_tled_follow *f, int64_t *element, int *stays, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t done = modal_tled_motion_steps(f->motion), most = most_of(f);
    const double step = modal_tled_motion_step(f->motion);
    double value;
    *stays = 1;
    MODAL_TRY(modal_tled_motion_stiffest(f->motion, &value, err));
    if (value > 1.1 * f->at.last) f->at.interval = f->at.interval / 2 > LEAST ? f->at.interval / 2 : LEAST;
    else if (value < 1.02 * f->at.last) f->at.interval = 2 * f->at.interval < most ? 2 * f->at.interval : most;
    f->at.last = value;
    /* a step below the rigorous bound needs no look */
    if ((!(value <= f->at.level) && !(value * step * step <= 4)) || done - f->at.looked >= LOOK)
        MODAL_TRY(look(f, value, element, stays, err));
    if (*stays) {
        f->at.turned = 0;
        MODAL_TRY(modal_tled_motion_keep(f->motion, err));
    }
done:
    return status;
}

modal_status modal_tled_follow_advance(modal_tled_follow *f, int64_t n, const modal_progress *progress, int64_t *element,
                                       modal_error *err)
{
    modal_status status = MODAL_OK;
    int stays = 1;
    *element = -1;
    while (stays && modal_tled_motion_steps(f->motion) < n) {
        const int64_t next = modal_tled_motion_steps(f->motion) + f->at.interval;
        modal_error ended = {0};
        status = modal_tled_motion_advance(f->motion, next < n ? next : n, progress, element, &ended);
        if (status == MODAL_ERROR_NOT_CONVERGED && f->automatic && f->at.turned < TURNS &&
            modal_tled_motion_step(f->motion) / 2 >= least * f->first_step) {
            f->at.turned++;
            *element = -1;
            MODAL_TRY(go_back(f, 0, modal_tled_motion_step(f->motion) / 2, err));
            f->at.level = 0; /* the limit is not known any more */
            goto done;
        }
        if (status != MODAL_OK) {
            if (err) *err = ended;
            /* so that a checkpoint goes on as this run would have */
            if (status == MODAL_ERROR_INTERRUPTED && modal_tled_motion_back(f->motion, &ended) != MODAL_OK) status = ended.status;
            goto done;
        }
        MODAL_TRY(check(f, element, &stays, err));
    }
done:
    return status;
}
