/* SPDX-License-Identifier: Apache-2.0 */
/* How far a frame may be trusted. */
#include <math.h>
#include <omp.h>

#include "lib/base/clock.h"
#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/forest/simulate_private.h"
#include "lib/modes/products.h"

/* Which objects can be measured, and what that takes. */
static void list_objects(modal_scene_run *r)
{
    const modal_basis *basis = r->s->basis;
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const int32_t shape = basis->objects[i].shape;
        const modal_modes *modes = &basis->shapes[shape].modes;
        const int64_t terms = modes->left_out.n * modal_cubic_count(modes->n_modes + 1); /* of all degrees */
        const int64_t products = modal_deformation_products(modes->n_modes);
        if (terms > 0) {
            r->left_out[r->n_left_out++] = i;
            if (terms > r->left_out_products) r->left_out_products = terms;
            if (terms / modes->left_out.n > r->most_monomials) r->most_monomials = terms / modes->left_out.n;
        }
        if (!modal_deformation_knows(r->deformation, shape)) continue;
        r->known[r->n_known++] = i;
        if (products > r->known_products) r->known_products = products;
        r->reach[i] = modal_deformation_reach(r->deformation, shape, r->weights + r->first[i]);
    }
}

/* The largest |F - I| of which it is known that the solid is sound, whatever it is. */
static double sound_size(void)
{
    double low = 0, high = 1;
    for (int i = 0; i < 50; i++) {
        const double most = 0.5 * (low + high), left = 1 - most;
        modal_quality bound = modal_quality_none();
        int measure;
        bound.least_jacobian = left * left * left; /* singular values of F are at least 1 - |F - I| */
        bound.not_judged = 0;
        bound.strain = most;
        bound.rotation = 57.29577951308232 * most;
        if (modal_quality_verdict(&bound, &measure) == MODAL_SOUND) low = most;
        else high = most;
    }
    return low;
}

/* What cannot be measured of this scene. Natural modes balance linear forces, and a basis that leaves nothing out all. */
static unsigned find_missing(const modal_scene_run *r)
{
    const modal_basis *basis = r->s->basis;
    unsigned missing = 0;
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const int32_t shape = basis->objects[i].shape;
        const modal_modes *modes = &basis->shapes[shape].modes;
        const int whole = modes->left_out.slow_eigenvalues && modes->left_out.n_slow == 0;
        if (modes->n_modes == 0) continue;
        if (!r->s->look_at_loads || r->loads_unknown) missing |= MODAL_MISSING_LOADS;
        if (!whole && !(r->bodies[i].linear && modes->kind == MODAL_KIND_MODES) && !(r->deformation && modes->left_out.n > 0))
            missing |= MODAL_MISSING_FORCES;
        if (!r->deformation || !modal_deformation_knows(r->deformation, shape)) missing |= MODAL_MISSING_SOLIDS;
    }
    return missing;
}

modal_status modal_scene_run_quality_begin(modal_scene_run *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = r->s->basis->n_objects, c = modal_basis_mode_offsets(r->s->basis, NULL);
    r->s->least_jacobian.value = INFINITY;
    if (!r->s->look_at_solids) goto done;
    MODAL_TRY(modal_alloc(&r->first, n + 1, sizeof *r->first, "quality", err));
    modal_basis_mode_offsets(r->s->basis, r->first);
    MODAL_TRY(modal_alloc(&r->deformed, n, sizeof *r->deformed, "quality", err));
    MODAL_TRY(modal_alloc(&r->measured, 2 * n, sizeof *r->measured, "quality", err));
    MODAL_TRY(modal_alloc(&r->known, n, sizeof *r->known, "quality", err));
    MODAL_TRY(modal_alloc(&r->left_out, n, sizeof *r->left_out, "quality", err));
    MODAL_TRY(modal_alloc_zero(&r->reach, n, sizeof *r->reach, "quality", err));
    MODAL_TRY(modal_alloc_zero(&r->weights, c, sizeof *r->weights, "quality", err));
    MODAL_TRY(modal_deformation_new(&r->deformation, r->s->basis, r->s->n_threads, err));
    list_objects(r);
    r->sound_size = sound_size();
    MODAL_TRY(modal_alloc(&r->parts, r->n_left_out, sizeof *r->parts, "quality", err));
    MODAL_TRY(modal_alloc(&r->monomials, r->most_monomials * r->s->n_threads, sizeof *r->monomials, "quality", err));
done:
    r->not_judged = find_missing(r);
    return status;
}

void modal_scene_run_quality_end(modal_scene_run *r)
{
    void *arrays[] = {&r->first, &r->deformed, &r->measured, &r->known, &r->left_out, &r->reach, &r->weights,
                      &r->parts, &r->monomials};
    r->deformation = modal_deformation_delete(r->deformation);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) modal_free(arrays[i]);
}

static void measure_steps(modal_scene_run *r, modal_quality *quality)
{
    const modal_simulation *s = r->s;
    int64_t steps, iterations, halvings, shortened, kept;
    double balance;
    const modal_scene_state *at = &s->state;
    const modal_forest_state state = {at->q, at->v, at->a, at->lag, at->poses, at->measures};
    modal_judge_frame(r->judge, &state, at->drift, quality);
    modal_forest_counts(r->forest, &steps, &iterations, &halvings);
    modal_judge_counts(r->judge, &shortened, &kept, &balance);
    quality->halvings = (double)(halvings + shortened - r->shorter);
    r->shorter = halvings + shortened;
    for (int32_t i = 0; i < s->basis->n_objects; i++)
        if (modal_forest_tree_of(r->forest, i) >= 0)
            quality->newton_residual = fmax(quality->newton_residual, s->state.measures[i].residual);
}

/* Whether `value` is larger than what is known so far, which is NaN at first. */
static int is_more(double value, double known) { return value > known || (isnan(known) && !isnan(value)); }

/* The monomials of q of second and third degree, in the order of modal_reduced_forces. */
static void make_monomials(int32_t r, const double *q, double *quadratic, double *cubic)
{
    for (int32_t i = 0; i < r; i++)
        for (int32_t j = i; j < r; j++) {
            const double product = q[i] * q[j];
            *quadratic++ = product;
            for (int32_t k = j; k < r; k++) *cubic++ = product * q[k];
        }
}

/* The energy that a solid at q would lose outside of its basis (modal_left_out), J; of a linear one by its linear forces, which
 * natural modes balance and columns with derivatives do not. numbers [modal_cubic_count(r + 1)]: scratch. */
static double energy_left_out(const modal_left_out *l, int32_t r, int is_linear, const double *q, double *numbers)
{
    const int64_t n_quadratic = modal_quadratic_count(r), n_cubic = modal_cubic_count(r);
    double *quadratic = numbers, *cubic = numbers + n_quadratic, energy = 0;
    if (!is_linear) make_monomials(r, q, quadratic, cubic);
    for (int32_t row = 0; row < l->n; row++) {
        double force = modal_dot(r, l->forces.linear + (int64_t)r * row, q);
        if (!is_linear)
            force += modal_dot(n_quadratic, l->forces.quadratic + n_quadratic * row, quadratic) +
                     modal_dot(n_cubic, l->forces.cubic + n_cubic * row, cubic);
        energy += 0.5 * force * force;
    }
    return energy;
}

/* Of many objects some are measured a frame, in turn: so many that it takes about this many products, whatever the steps and the
 * threads. */
enum { PRODUCTS = 150000 };

static int64_t turn_of(const modal_simulation *s, int64_t count, int64_t products)
{
    if (s->measure_all || count * products <= PRODUCTS) return count;
    return products > PRODUCTS ? 1 : PRODUCTS / products;
}
/* The one at place `at`, < count, of those whose turn it is in the frame, `n` a frame. */
static int64_t in_turn(int64_t at, int64_t count, int64_t frame, int64_t n) { return (frame % count * n + at) % count; }

/* What is left out of an object's forces, as of modal_quality.residual; -1: it neither moves nor is deformed. */
static double part_left_out(const modal_scene_run *r, int32_t i, double *numbers)
{
    const modal_simulation *s = r->s;
    const modal_modes *modes = &s->basis->shapes[s->basis->objects[i].shape].modes;
    double moving = 0;
    for (int32_t k = 0; k < modes->n_modes; k++)
        moving += 0.5 * modes->modal_masses[k] * s->state.v[r->first[i] + k] * s->state.v[r->first[i] + k];
    const double all = s->state.measures[i].elastic + moving;
    if (!(all > 0)) return -1;
    return sqrt(energy_left_out(&modes->left_out, modes->n_modes, r->bodies[i].linear, s->state.q + r->first[i], numbers) / all);
}

static void measure_left_out(modal_scene_run *r, int64_t frame, modal_quality *quality)
{
    const modal_simulation *s = r->s;
    const int64_t n = turn_of(s, r->n_left_out, r->left_out_products);
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(s->n_threads)) if (s->measure_all)
    for (int64_t at = 0; at < n; at++)
        r->parts[at] = part_left_out(r, r->left_out[in_turn(at, r->n_left_out, frame, n)],
                                     r->monomials + omp_get_thread_num() * r->most_monomials);
    for (int64_t at = 0; at < n; at++) {
        if (r->parts[at] < 0 || !is_more(r->parts[at], quality->residual)) continue;
        quality->residual = r->parts[at];
        quality->residual_object = (double)r->left_out[in_turn(at, r->n_left_out, frame, n)];
    }
}

/* What |F - I| of an object cannot be above, by the size of q alone. */
static double size_of(const modal_scene_run *r, int32_t i)
{
    enum { LANES = 4 }; /* a sum waits for its last term */
    const double *q = r->s->state.q;
    double squares[LANES] = {0};
    for (int64_t k = r->first[i]; k < r->first[i + 1]; k++) squares[k % LANES] += r->weights[k] * q[k] * q[k];
    return r->reach[i] * sqrt((squares[0] + squares[1]) + (squares[2] + squares[3]));
}

/* What det F of an object cannot be below, by the size of q alone; its singular values are at least 1 - e. Of NaN -INFINITY. */
static double bound_of(const modal_scene_run *r, int32_t i)
{
    const double left = 1 - size_of(r, i);
    return left > 0 ? left * left * left : -INFINITY;
}

/* Into r->measured, and their number: of the objects whose bound allows a soft material, and of linear ones, those whose turn it is;
 * where that leaves some, others. */
static int64_t choose_solids(modal_scene_run *r, int64_t frame)
{
    int64_t open = 0, n = turn_of(r->s, r->n_known, r->known_products);
    int32_t *list = r->measured, *of_open = list + r->n_known;
    for (int64_t at = 0; at < r->n_known; at++) {
        const int32_t i = r->known[at];
        if (n < r->n_known && (r->bodies[i].linear || !(bound_of(r, i) >= MODAL_JACOBIAN_SOFT))) of_open[open++] = i;
    }
    const int64_t first = open < n ? open : n;
    for (int64_t at = 0; at < n; at++)
        list[at] = at < first ? of_open[in_turn(at, open, frame, first)] : r->known[in_turn(at - first, r->n_known, frame, n - first)];
    return n;
}

static modal_status measure_solids(modal_scene_run *r, int64_t frame, modal_quality *quality, modal_error *err)
{
    modal_simulation *s = r->s;
    const modal_basis *basis = s->basis;
    const double time = modal_frame_time(frame, s->scene->fps);
    int32_t worst = -1, inside = -1;
    const int64_t n = choose_solids(r, frame);
#pragma omp parallel for schedule(dynamic, 1) num_threads(modal_free_threads(s->n_threads)) if (s->measure_all)
    for (int64_t at = 0; at < n; at++) {
        const int32_t i = r->measured[at];
        modal_deformation_measure(r->deformation, basis->objects[i].shape, s->state.q + r->first[i], r->bodies[i].linear,
                                  omp_get_thread_num(), &r->deformed[i]);
    }
    for (int64_t at = 0; at < n; at++) {
        const int32_t i = r->measured[at];
        const modal_deformed *own = &r->deformed[i];
        if (worst < 0 || (!isnan(quality->least_jacobian) && !(own->jacobian >= quality->least_jacobian))) {
            worst = i;
            quality->least_jacobian = own->jacobian;
            quality->least_jacobian_object = i;
            quality->least_jacobian_element = (double)own->element;
        }
        if (!(own->jacobian >= 0) && inside < 0) inside = i;
        if (!r->bodies[i].linear && own->jacobian < s->least_jacobian.value) {
            s->least_jacobian.value = own->jacobian;
            s->least_jacobian.time = time;
            s->least_jacobian.object = i;
            s->least_jacobian.element = own->element;
        }
        if (is_more(own->rotation, quality->rotation)) {
            quality->rotation = own->rotation;
            quality->rotation_object = i;
        }
        if (is_more(own->strain, quality->strain)) {
            quality->strain = own->strain;
            quality->strain_object = i;
        }
    }
    if (inside < 0 || s->allow_inversion) return MODAL_OK;
    const modal_deformed *own = &r->deformed[inside];
    const modal_volume_mesh *mesh = &basis->shapes[basis->objects[inside].shape].solid.mesh;
    return modal_error_set(err, MODAL_ERROR_NOT_CONVERGED,
                           "object %d: t = %g s: element %lld is inside out, J = det F = %.3g; try %s, or --allow-inversion", inside,
                           time, (long long)mesh->element_tags[own->element], own->jacobian,
                           r->bodies[inside].linear ? "smaller loads, \"model\": \"stvk\"" : "smaller loads, a stiffer material");
}

/* Whether the frame's solids are to be measured: it is their turn, or |F - I| may be so large that they are not sound. */
static int is_looked_at(const modal_scene_run *r, int64_t frame)
{
    if (!r->deformation) return 0;
    if (r->s->look_every <= 1 || frame % r->s->look_every == 0) return 1;
    for (int64_t at = 0; at < r->n_known; at++)
        if (!(size_of(r, r->known[at]) <= r->sound_size)) return 1; /* yes for NaN */
    return 0;
}

modal_status modal_scene_run_quality(modal_scene_run *r, int64_t frame, modal_error *err)
{
    modal_quality *quality = &r->s->quality;
    const int looks = is_looked_at(r, frame), measures = looks || r->n_left_out > 0 || modal_forest_trees(r->forest) > 0;
    const double started = measures ? modal_seconds() : 0; /* a frame of linear motion takes a microsecond */
    *quality = modal_quality_none();
    measure_steps(r, quality);
    quality->not_judged = r->not_judged;
    quality->load_left_out = r->load_left_out;
    if (!isnan(r->load_left_out)) quality->load_left_out_object = r->load_left_out_object;
    if (r->n_left_out > 0) measure_left_out(r, frame, quality);
    const modal_status status = looks ? measure_solids(r, frame, quality, err) : MODAL_OK;
    if (measures) r->s->seconds_measuring += modal_seconds() - started;
    return status;
}
