/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/tled/steady.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"

/* Steps between two looks; twice as many between two of the masses, and so on. On a device a look costs as much as many steps. */
enum { LOOK_HERE = 40, LOOK_ON_DEVICE = 400, FIRST_WEIGHING = 200 };

/* Masses about u so that a step of 1 is 0.9 of the critical one, all nodes alike; they never fall. */
static modal_status weigh(modal_tled_model *model, modal_tled_forces *forces, const double *u, double *sums, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_tled_solid *s = &model->solid;
    double *mass = (double *)s->mass;
    modal_tled_critical critical = {.element = -1};
    MODAL_TRY(modal_tled_stiffness_sums(forces, u, sums, err));
    for (int64_t i = 0; i < s->n_nodes; i++) mass[i] = sums[i] / 4;
    MODAL_TRY(modal_tled_critical_estimate(forces, u, &critical, err));
    if (!(critical.estimate > 0 && isfinite(critical.estimate)))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "until steady: nothing is stiff, critical step %g", critical.estimate);
    const double factor = 1 / (0.81 * critical.estimate * critical.estimate);
    for (int64_t i = 0; i < s->n_nodes; i++) mass[i] *= factor;
done:
    return status;
}

modal_status modal_tled_steady_masses(modal_tled_model *model, modal_tled_forces *forces, const double *u, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_tled_solid *s = &model->solid;
    double *weights, *sums = NULL;
    MODAL_TRY(modal_alloc(&weights, s->n_nodes, sizeof *weights, "weights", err));
    s->weights = weights;
    memcpy(weights, s->mass, (size_t)s->n_nodes * sizeof *weights);
    MODAL_TRY(modal_alloc(&sums, s->n_nodes, sizeof *sums, "masses", err));
    for (int32_t m = 0; m < s->n_materials; m++)
        for (int k = 0; k < s->materials[m].n_terms; k++)
            ((modal_tled_material *)s->materials)[m].times[k] = 1e-9; /* of a step of 1: all of it is relaxed */
    MODAL_TRY(weigh(model, forces, u, sums, err));
done:
    modal_free(&sums);
    return status;
}

/* The damping that is critical at a frequency whose square is `lowest`, of central differences with steps of 1. */
static double damping_of(double lowest)
{
    const double square = lowest < 2 ? lowest : 2;
    return 2 * sqrt(square * (1 - square / 4));
}

typedef struct looker {
    modal_tled_motion *motion;
    modal_tled_model *model;
    double *d[2];          /* increments of the last two steps, [n_nodes, 3] */
    double *u, *pull;      /* displacements and M^-1 (R - F) before the last step, [n_nodes, 3] */
    uint8_t *held;         /* [n_nodes, 3] */
    double alpha, *sums;
    double top, lowest;      /* largest displacement; Rayleigh's quotient of the way since the last look, -1: nothing moves */
    double way, way_before;  /* largest way since the last look; since the one before until the last */
} looker;

static modal_status new_looker(looker *l, modal_tled_motion *motion, modal_tled_model *model, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = &model->solid;
    l->motion = motion, l->model = model;
    for (int k = 0; k < 2; k++) MODAL_TRY(modal_alloc(&l->d[k], s->n_nodes, 3 * sizeof(double), "increments", err));
    MODAL_TRY(modal_alloc_zero(&l->u, s->n_nodes, 3 * sizeof(double), "displacements", err));
    MODAL_TRY(modal_alloc_zero(&l->pull, s->n_nodes, 3 * sizeof(double), "forces", err));
    MODAL_TRY(modal_alloc(&l->sums, s->n_nodes, sizeof(double), "masses", err));
    MODAL_TRY(modal_alloc_zero(&l->held, s->n_nodes, 3, "held nodes", err));
    for (int64_t k = 0; k < 3 * s->n_held; k++)
        l->held[3 * (int64_t)s->held[k / 3] + k % 3] = s->held_signals[k] != MODAL_TLED_FREE;
done:
    return status;
}

static void free_looker(looker *l)
{
    for (int k = 0; k < 2; k++) modal_free(&l->d[k]);
    modal_free(&l->u);
    modal_free(&l->pull);
    modal_free(&l->sums);
    modal_free(&l->held);
}

/* Of the last step, J. */
static double kinetic_of(const looker *l)
{
    double sum = 0;
    for (int64_t k = 0; k < 3 * l->model->solid.n_nodes; k++) sum += l->model->solid.mass[k / 3] * l->d[1][k] * l->d[1][k] / 2;
    return sum;
}

/* Two more steps, and what they show against the last look. A quotient over many steps: rounding of single ones counts less. */
static modal_status look_at(looker *l, const modal_progress *progress, int64_t *element, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = &l->model->solid;
    const modal_tled_factors f = modal_tled_step_factors(1, 1, l->alpha);
    double above = 0, below = 0;
    for (int k = 0; k < 2; k++) {
        MODAL_TRY(modal_tled_motion_advance(l->motion, modal_tled_motion_steps(l->motion) + 1, progress, element, err));
        MODAL_TRY(modal_tled_motion_increments(l->motion, l->d[k], err));
    }
    MODAL_TRY(modal_tled_motion_state(l->motion, NULL, NULL, err));
    const double *now = modal_tled_motion_own(l->motion);
    l->way_before = l->way;
    l->top = l->way = 0;
    for (int64_t k = 0; k < 3 * s->n_nodes; k++) {
        const double u = now[k] - l->d[1][k], pull = (l->d[1][k] - f.keep * l->d[0][k]) / f.gain, way = u - l->u[k];
        l->top = fmax(l->top, fabs(u));
        l->way = fmax(l->way, fabs(way));
        if (!l->held[k]) above += way * s->mass[k / 3] * (l->pull[k] - pull), below += way * s->mass[k / 3] * way;
        l->u[k] = u, l->pull[k] = pull;
    }
    l->lowest = below > 0 ? above / below : -1;
done:
    return status;
}

/* Whether loads, displacements and bodies at t are those of all later times, as far as three of them tell. */
static int is_settled(const modal_solid_scene *scene, int32_t n_signals, double t, double end, double *rows)
{
    double gravity[9];
    const double times[3] = {t, (t + end) / 2, end};
    for (int k = 0; k < 3; k++) {
        double ignored[3];
        modal_tled_signals(scene, times[k], 0, 0, 1, k == 0 ? gravity : ignored, n_signals, rows + 2 * k * n_signals);
        if (k > 0 && memcmp(ignored, gravity, sizeof ignored) != 0) return 0;
        if (k > 0 && memcmp(rows + 2 * k * n_signals, rows, (size_t)n_signals * sizeof *rows) != 0) return 0;
    }
    return 1;
}

/* The thesis' rule. That errors fall by the radius is believed where ways fall by its root at least. Where they do not, the damping is too
 * strong for what still moves (a solid that nothing holds goes on for ever), and the error is at least the way. */
static double error_of(const looker *l, double radius)
{
    if (!(radius < 1)) return HUGE_VAL;
    const double share = radius / (1 - radius);
    return (l->way <= sqrt(radius) * l->way_before ? share : fmax(share, 1)) * l->way;
}

/* What is kept between looks, before u, pull and masses; 8 bytes each, but for the result, which has no gaps. */
typedef struct steady_head {
    modal_tled_steady result;
    double alpha, way;
    int64_t weighing, looked, good, settled;
} steady_head;

int64_t modal_tled_steady_bytes(const modal_tled_model *model)
{
    return (int64_t)sizeof(steady_head) + 7 * model->solid.n_nodes * (int64_t)sizeof(double);
}

/* Between a looker with masses and what is kept: out of it into `kept`, or back. */
static void copy_kept(looker *l, steady_head *head, char *kept, int back)
{
    const size_t n = (size_t)l->model->solid.n_nodes * sizeof(double);
    const struct {
        void *at;
        size_t bytes;
    } all[] = {{head, sizeof *head}, {l->u, 3 * n}, {l->pull, 3 * n}, {(void *)l->model->solid.mass, n}};
    for (size_t k = 0; k < sizeof all / sizeof *all; kept += all[k++].bytes)
        memcpy(back ? all[k].at : kept, back ? kept : all[k].at, all[k].bytes);
}

/* As a run before had it; the motion's state is there. */
static modal_status take_up(looker *l, steady_head *head, const void *from, modal_error *err)
{
    modal_status status = MODAL_OK;
    copy_kept(l, head, (char *)from, 1);
    if (!(head->alpha >= 0 && head->result.steps >= 0 && head->looked >= 0 && head->weighing > 0))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "state: damping %g, %lld steps", head->alpha, (long long)head->result.steps);
    l->alpha = head->alpha, l->way = head->way;
    MODAL_TRY(modal_tled_motion_relayout(l->motion, err)); /* of these masses */
done:
    return status;
}

modal_status modal_tled_steady_run(modal_tled_motion *motion, modal_tled_model *model, modal_tled_forces *forces,
                                   const modal_tled_steady_plan *plan, const modal_progress *progress, int64_t *element, modal_tled_steady *r,
                                   modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = &model->solid;
    const modal_solid_scene *scene = modal_tled_motion_scene(motion);
    const int64_t look = modal_tled_motion_is_here(motion) ? LOOK_HERE : LOOK_ON_DEVICE;
    const double coarse = 4e-6; /* of the largest displacement: smaller ways are rounding in float32 */
    int64_t weighing = FIRST_WEIGHING, looked = 0;
    double *rows = NULL;
    char *kept = NULL;
    looker l = {0};
    int good = 0, settled = 0; /* looks in a row */
    *r = (modal_tled_steady){.lowest = 10 / pow((double)s->n_nodes, 2.0 / 3), .radius = 1};
    MODAL_TRY(new_looker(&l, motion, model, err));
    MODAL_TRY(modal_alloc(&rows, 6 * (int64_t)s->n_signals + 1, sizeof *rows, "signals", err));
    MODAL_TRY(modal_alloc_zero(&kept, modal_tled_steady_bytes(model), 1, "checkpoint", err));
    l.alpha = damping_of(r->lowest);
    if (plan->from) {
        steady_head head;
        MODAL_TRY(take_up(&l, &head, plan->from, err));
        *r = head.result, weighing = head.weighing, looked = head.looked, good = (int)head.good, settled = (int)head.settled;
    }
    modal_tled_motion_damp(motion, l.alpha);
    while (!r->converged && r->steps < plan->most) {
        const double keep = modal_tled_step_factors(1, 1, l.alpha).keep;
        /* as many as halve the error: so rounding is not taken for a slow way */
        const double halving = keep > 0 ? 2 * log(0.5) / log(keep) : 0;
        const int64_t next = r->steps + (settled > 1 && halving > (double)look ? (int64_t)fmin(halving, 1e5) : look);
        MODAL_TRY(modal_tled_motion_advance(motion, next < plan->most ? next : plan->most, progress, element, err));
        MODAL_TRY(look_at(&l, progress, element, err));
        r->steps = modal_tled_motion_steps(motion);
        if (r->steps >= weighing) { /* squeezed elements are stiffer */
            modal_tled_critical now = {.element = -1};
            weighing *= 2;
            MODAL_TRY(modal_tled_critical_estimate(forces, l.u, &now, err));
            if (now.estimate < 1.03) {
                const double kinetic = kinetic_of(&l);
                MODAL_TRY(weigh(model, forces, l.u, l.sums, err));
                MODAL_TRY(modal_tled_motion_add_damped(motion, kinetic - kinetic_of(&l), err));
                MODAL_TRY(modal_tled_motion_relayout(motion, err));
                r->remassed++, settled = -1;
            }
        }
        if (settled >= 0 && is_settled(scene, s->n_signals, modal_tled_motion_time(motion, r->steps), scene->duration, rows)) {
            /* the quotient is never below the lowest square: high frequencies and rounding make it larger, so the least counts. If
             * that is too low in the end, errors still fall by the radius */
            r->radius = pow(fmax(keep, 0), (double)(r->steps - looked) / 2);
            r->error = error_of(&l, r->radius);
            good = settled > 0 && r->error <= scene->accuracy * l.top ? good + 1 : 0;
            r->converged = good == 2;
            if (settled > 0 && l.lowest > 0 && (modal_tled_motion_is_double(motion) || l.way > coarse * l.top))
                r->lowest = settled == 1 ? l.lowest : fmin(r->lowest, l.lowest);
            r->lowest = fmin(fmax(r->lowest, 1e-12), 2);
            l.alpha = damping_of(r->lowest);
            modal_tled_motion_damp(motion, l.alpha);
            settled++;
        } else {
            settled = 0;
        }
        looked = r->steps;
        if (plan->keep && !r->converged) {
            steady_head head = {*r, l.alpha, l.way, weighing, looked, good, settled};
            copy_kept(&l, &head, kept, 0);
            MODAL_TRY(plan->keep(plan->context, kept, err));
        }
    }
done:
    modal_free(&kept);
    free_looker(&l);
    modal_free(&rows);
    return status;
}
