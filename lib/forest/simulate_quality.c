/* SPDX-License-Identifier: Apache-2.0 */
/* How far a frame may be trusted. */
#include <math.h>
#include <omp.h>
#include <time.h>

#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/forest/simulate_private.h"

modal_status modal_scene_run_quality_begin(modal_scene_run *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int32_t n = r->s->basis->n_objects;
    r->s->least_jacobian.value = INFINITY;
    MODAL_TRY(modal_alloc(&r->first, (int64_t)n + 1, sizeof *r->first, "quality", err));
    modal_basis_mode_offsets(r->s->basis, r->first);
    if (!r->s->look_at_solids) goto done;
    MODAL_TRY(modal_alloc(&r->deformed, n, sizeof *r->deformed, "quality", err));
    /* threads are worth their start for some 100,000 products of a gradient and a number */
    r->many = modal_basis_mode_offsets(r->s->basis, r->first) > 2000;
    MODAL_TRY(modal_deformation_new(&r->deformation, r->s->basis, r->s->n_threads, err));
done:
    return status;
}

void modal_scene_run_quality_end(modal_scene_run *r)
{
    r->deformation = modal_deformation_delete(r->deformation);
    modal_free(&r->deformed);
    modal_free(&r->first);
}

static void measure_steps(modal_scene_run *r, modal_quality *quality)
{
    const modal_simulation *s = r->s;
    int64_t steps, iterations, halvings, shortened, kept;
    double balance;
    modal_judge_frame(r->judge, quality);
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

/* The energy that a solid at q would lose outside of its basis (modal_left_out), J. */
static double energy_left_out(const modal_left_out *l, int32_t r, const double *q)
{
    const double *linear = l->forces.linear, *quadratic = l->forces.quadratic, *cubic = l->forces.cubic;
    double energy = 0;
    for (int32_t row = 0; row < l->n; row++) {
        double force = 0;
        for (int32_t i = 0; i < r; i++) {
            double of_i = *linear++;
            for (int32_t j = i; j < r; j++) {
                double of_j = *quadratic++;
                for (int32_t k = j; k < r; k++) of_j += *cubic++ * q[k];
                of_i += of_j * q[j];
            }
            force += of_i * q[i];
        }
        energy += 0.5 * force * force;
    }
    return energy;
}

/* Objects in turn, so that the products of a frame stay below some number, whatever the frame's steps and threads. */
static void measure_left_out(modal_scene_run *r, int64_t frame, modal_quality *quality)
{
    enum { PRODUCTS = 1000000 };
    const modal_simulation *s = r->s;
    const modal_basis *basis = s->basis;
    int64_t most = 1, count = 0;
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const modal_shape *shape = &basis->shapes[basis->objects[i].shape];
        if (r->bodies[i].linear || shape->modes.left_out.n == 0) continue;
        const int64_t own = shape->modes.left_out.n * modal_cubic_count(shape->modes.n_modes + 1); /* all monomials */
        if (own > most) most = own;
        count++;
    }
    const int64_t a_frame = s->measure_all || count * most <= PRODUCTS ? count : most > PRODUCTS ? 1 : PRODUCTS / most;
    for (int64_t i = 0, at = 0, first = count > 0 ? frame % count * a_frame % count : 0; i < basis->n_objects; i++) {
        const modal_shape *shape = &basis->shapes[basis->objects[i].shape];
        if (r->bodies[i].linear || shape->modes.left_out.n == 0) continue;
        const int64_t turn = (at++ - first + count) % count;
        if (turn >= a_frame) continue;
        double moving = 0;
        for (int32_t k = 0; k < shape->modes.n_modes; k++)
            moving += 0.5 * shape->modes.modal_masses[k] * s->state.v[r->first[i] + k] * s->state.v[r->first[i] + k];
        const double all = s->state.measures[i].elastic + moving;
        if (!(all > 0)) continue;
        const double part = sqrt(energy_left_out(&shape->modes.left_out, shape->modes.n_modes, s->state.q + r->first[i]) / all);
        if (!is_more(part, quality->residual)) continue;
        quality->residual = part;
        quality->residual_object = (double)i;
    }
}

static modal_status measure_solids(modal_scene_run *r, int64_t frame, modal_quality *quality, modal_error *err)
{
    modal_simulation *s = r->s;
    const modal_basis *basis = s->basis;
    const double time = modal_frame_time(frame, s->scene->fps);
    int32_t worst = -1, inside = -1;
#pragma omp parallel for schedule(dynamic, 1) num_threads(modal_free_threads(s->n_threads)) if (r->many)
    for (int32_t i = 0; i < basis->n_objects; i++)
        if (modal_deformation_knows(r->deformation, basis->objects[i].shape))
            modal_deformation_measure(r->deformation, basis->objects[i].shape, s->state.q + r->first[i], r->bodies[i].linear,
                                      omp_get_thread_num(), &r->deformed[i]);
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const modal_deformed *own = &r->deformed[i];
        if (!modal_deformation_knows(r->deformation, basis->objects[i].shape)) continue;
        if (worst < 0 || (!isnan(quality->least_jacobian) && !(own->jacobian >= quality->least_jacobian))) {
            worst = i;
            quality->least_jacobian = own->jacobian;
            quality->least_jacobian_object = i;
            quality->least_jacobian_element = (double)own->element;
        }
        if (!r->bodies[i].linear && !(own->jacobian >= 0) && inside < 0) inside = i;
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
                           "object %d: t = %g s: element %lld is inside out, J = det F = %.3g; try smaller loads, a stiffer "
                           "material, or --allow-inversion",
                           inside, time, (long long)mesh->element_tags[own->element], own->jacobian);
}

modal_status modal_scene_run_quality(modal_scene_run *r, int64_t frame, modal_error *err)
{
    modal_quality *quality = &r->s->quality;
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    *quality = modal_quality_none();
    measure_steps(r, quality);
    if (r->s->look_at_solids) measure_left_out(r, frame, quality);
    const modal_status status = r->deformation ? measure_solids(r, frame, quality, err) : MODAL_OK;
    clock_gettime(CLOCK_MONOTONIC, &end);
    r->s->seconds_measuring += (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    return status;
}
