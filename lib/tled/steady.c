/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/tled/steady.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"

/* Steps between two looks; twice as many between two of the masses, and so on. On a device a look costs as much as many steps. */
enum { LOOK_HERE = 40, LOOK_ON_DEVICE = 400, FIRST_WEIGHING = 200 };

/* Masses about u so that a step of 1 is 0.9 / shorter of the critical one, all nodes alike. */
static modal_status weigh(modal_tled_model *model, modal_tled_forces *forces, const double *u, double shorter, double *sums, modal_error *err)
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
    const double factor = shorter * shorter / (0.81 * critical.estimate * critical.estimate);
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
    MODAL_TRY(weigh(model, forces, u, 1, sums, err));
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
    int64_t tries;         /* halvings since the last look */
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

/* Steps until n are done. After halvings from rest: damped so that nothing of the increment before is left. */
static modal_status walk(looker *l, int64_t n, const modal_progress *progress, int64_t *element, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (l->tries > 0) {
        modal_tled_motion_damp(l->motion, 2);
        MODAL_TRY(modal_tled_motion_advance(l->motion, modal_tled_motion_steps(l->motion) + 1, progress, element, err));
        modal_tled_motion_damp(l->motion, l->alpha);
    }
    MODAL_TRY(modal_tled_motion_advance(l->motion, n, progress, element, err));
done:
    return status;
}

/* Two more steps, and what they show against the last look. A quotient over many steps: rounding of single ones counts less. */
static modal_status look_at(looker *l, const modal_tled_forces *forces, const modal_progress *progress, int64_t *element, modal_error *err)
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
    modal_tled_sums sums;
    modal_tled_ratios_at(forces, now, &sums); /* steps look at the state before them: this one may be gone back to */
    if (!(sums.min_ratio > 0)) {
        const int64_t done = modal_tled_motion_steps(l->motion);
        *element = modal_tled_motion_element(l->motion, sums.min_element);
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "t = %.9g s (step %lld): turned inside out, J = %.4g", modal_tled_motion_time(l->motion, done),
                   (long long)done, sums.min_ratio);
    }
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

/* As a run before had it; the motion's state is there, its layout is to be that of these masses. */
static modal_status take_up(looker *l, steady_head *head, const void *from, modal_error *err)
{
    copy_kept(l, head, (char *)from, 1);
    const modal_tled_steady *r = &head->result;
    if (!(head->alpha >= 0 && r->steps >= 0 && head->looked >= 0 && head->weighing > 0 && r->shrunk >= 0 && r->shrunk <= MODAL_TLED_STEADY_HALVINGS))
        return modal_error_set(err, MODAL_ERROR_INPUT, "state: damping %g, %lld steps", head->alpha, (long long)r->steps);
    l->alpha = head->alpha, l->way = head->way;
    return MODAL_OK;
}

/* A relaxation that is under way. */
typedef struct relaxation {
    looker l;
    modal_tled_motion *motion;
    modal_tled_forces *forces;
    const modal_tled_steady_plan *plan;
    const modal_progress *progress;
    modal_tled_steady *r;
    double *rows;    /* signals */
    char *kept;      /* the last look, as a checkpoint has it; with the state that the motion keeps */
    int64_t weighing, looked, good, settled; /* good, settled: looks in a row */
} relaxation;

/* What the relaxation goes on from, or back to. */
static modal_status keep(relaxation *x, modal_error *err)
{
    steady_head head = {*x->r, x->l.alpha, x->l.way, x->weighing, x->looked, x->good, x->settled};
    copy_kept(&x->l, &head, x->kept, 0);
    return modal_tled_motion_keep(x->motion, err);
}

static void set_from(relaxation *x, const steady_head *head)
{
    *x->r = head->result, x->weighing = head->weighing, x->looked = head->looked, x->good = head->good, x->settled = head->settled;
}

/* After masses have changed: what kinetic energy is lost or gained so, from `kinetic`, is damped. */
static modal_status take_masses(relaxation *x, double kinetic, modal_error *err)
{
    const modal_status status = modal_tled_motion_add_damped(x->motion, kinetic - kinetic_of(&x->l), err);
    return status == MODAL_OK ? modal_tled_motion_relayout(x->motion, err) : status;
}

/* Back to the last look, with half the step that was tried since. */
static modal_status go_back(relaxation *x, modal_error *err)
{
    modal_status status = MODAL_OK;
    looker *l = &x->l;
    steady_head head;
    const int64_t tries = l->tries + 1;
    MODAL_TRY(modal_tled_motion_back(x->motion, err));
    MODAL_TRY(take_up(l, &head, x->kept, err));
    set_from(x, &head);
    l->tries = tries, x->r->shrunk += tries;
    MODAL_TRY(modal_tled_motion_increments(x->motion, l->d[1], err));
    const double kinetic = kinetic_of(l);
    for (int64_t i = 0; i < l->model->solid.n_nodes; i++) ((double *)l->model->solid.mass)[i] *= ldexp(1, 2 * (int)tries);
    MODAL_TRY(take_masses(x, kinetic, err));
    modal_tled_motion_restep(x->motion, ldexp(modal_tled_motion_step(x->motion), -(int)tries));
    x->r->lowest = fmax(ldexp(x->r->lowest, -2 * (int)tries), 1e-12);
    l->alpha = damping_of(x->r->lowest);
    x->r->radius = 1, x->good = x->settled = 0;
    x->weighing = x->r->steps + FIRST_WEIGHING;
done:
    return status;
}

/* What the last look says of the error, of the damping from here on. */
static void judge(relaxation *x, double keeps)
{
    const double coarse = 4e-6; /* of the largest displacement: smaller ways are rounding in float32 */
    const modal_solid_scene *scene = modal_tled_motion_scene(x->motion);
    looker *l = &x->l;
    modal_tled_steady *r = x->r;
    if (x->settled < 0 || !is_settled(scene, l->model->solid.n_signals, modal_tled_motion_time(x->motion, r->steps), scene->duration, x->rows)) {
        x->settled = 0;
        return;
    }
    /* the quotient is never below the lowest square: high frequencies and rounding make it larger, so the least counts. If
     * that is too low in the end, errors still fall by the radius */
    r->radius = pow(fmax(keeps, 0), (double)(r->steps - x->looked) / 2);
    r->error = error_of(l, r->radius);
    const double nothing = 1e-30; /* m: what is back where it was has no displacement to compare with */
    x->good = x->settled > 0 && r->error <= scene->accuracy * fmax(l->top, nothing) ? x->good + 1 : 0;
    r->converged = x->good == 2;
    if (x->settled > 0 && l->lowest > 0 && (modal_tled_motion_is_double(x->motion) || l->way > coarse * l->top))
        r->lowest = x->settled == 1 ? l->lowest : fmin(r->lowest, l->lowest);
    r->lowest = fmin(fmax(r->lowest, 1e-12), 2);
    l->alpha = damping_of(r->lowest);
    modal_tled_motion_damp(x->motion, l->alpha);
    x->settled++;
}

/* Steps to the next look, and what it shows. */
static modal_status look_ahead(relaxation *x, int64_t most, int64_t *element, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t look = modal_tled_motion_is_here(x->motion) ? LOOK_HERE : LOOK_ON_DEVICE;
    looker *l = &x->l;
    modal_tled_steady *r = x->r;
    const double keeps = modal_tled_step_factors(1, 1, l->alpha).keep;
    /* as many as halve the error: so rounding is not taken for a slow way */
    const double halving = keeps > 0 ? 2 * log(0.5) / log(keeps) : 0;
    const int64_t next = r->steps + (x->settled > 1 && halving > (double)look ? (int64_t)fmin(halving, 1e5) : look);
    MODAL_TRY(walk(l, next < most ? next : most, x->progress, element, err));
    MODAL_TRY(look_at(l, x->forces, x->progress, element, err));
    r->steps = modal_tled_motion_steps(x->motion);
    l->tries = 0;
    if (r->steps >= x->weighing) { /* squeezed elements are stiffer */
        modal_tled_critical now = {.element = -1};
        x->weighing *= 2;
        MODAL_TRY(modal_tled_critical_estimate(x->forces, l->u, &now, err));
        if (now.estimate < ldexp(1.03, (int)r->shrunk)) {
            const double kinetic = kinetic_of(l);
            MODAL_TRY(weigh(l->model, x->forces, l->u, ldexp(1, (int)r->shrunk), l->sums, err));
            MODAL_TRY(take_masses(x, kinetic, err));
            r->remassed++, x->settled = -1;
        }
    }
    judge(x, keeps);
    x->looked = r->steps;
    MODAL_TRY(keep(x, err));
    if (x->plan->keep && !r->converged) MODAL_TRY(x->plan->keep(x->plan->context, x->kept, err));
done:
    return status;
}

static modal_status relax(relaxation *x, int64_t *element, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (;;) {
        modal_error ended = {0};
        const double left = modal_tled_motion_scene(x->motion)->duration - modal_tled_motion_time(x->motion, modal_tled_motion_steps(x->motion));
        const double steps = (double)modal_tled_motion_steps(x->motion) + rint(left / modal_tled_motion_step(x->motion));
        const int64_t most = (int64_t)fmin(steps, MODAL_TLED_STEADY_LONGER * (double)x->plan->most);
        if (x->r->converged || x->r->steps >= most) break;
        status = look_ahead(x, most, element, &ended);
        if (status == MODAL_ERROR_NOT_CONVERGED && x->r->shrunk < MODAL_TLED_STEADY_HALVINGS) {
            *element = -1;
            MODAL_TRY(go_back(x, err));
            continue;
        }
        if (status == MODAL_OK) continue;
        if (err) *err = ended;
        break;
    }
done:
    return status;
}

modal_status modal_tled_steady_run(modal_tled_motion *motion, modal_tled_model *model, modal_tled_forces *forces,
                                   const modal_tled_steady_plan *plan, const modal_progress *progress, int64_t *element, modal_tled_steady *r,
                                   modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = &model->solid;
    relaxation x = {.motion = motion, .forces = forces, .plan = plan, .progress = progress, .r = r, .weighing = FIRST_WEIGHING};
    *r = (modal_tled_steady){.lowest = 10 / pow((double)s->n_nodes, 2.0 / 3), .radius = 1};
    MODAL_TRY(new_looker(&x.l, motion, model, err));
    MODAL_TRY(modal_alloc(&x.rows, 6 * (int64_t)s->n_signals + 1, sizeof *x.rows, "signals", err));
    MODAL_TRY(modal_alloc_zero(&x.kept, modal_tled_steady_bytes(model), 1, "checkpoint", err));
    x.l.alpha = damping_of(r->lowest);
    if (plan->from) {
        steady_head head;
        MODAL_TRY(take_up(&x.l, &head, plan->from, err));
        set_from(&x, &head);
        MODAL_TRY(modal_tled_motion_relayout(motion, err));
    }
    modal_tled_motion_damp(motion, x.l.alpha);
    MODAL_TRY(keep(&x, err));
    MODAL_TRY(relax(&x, element, err));
done:
    modal_free(&x.kept);
    free_looker(&x.l);
    modal_free(&x.rows);
    return status;
}
