/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/tled/forces.h"

#include <math.h>
#include <omp.h>

#include "kernels/tled_step/tled_step.h"
#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/model/material.h"
#include "lib/model/quality.h"

static const modal_tled_reference *reference_of(const modal_tled_forces *f)
{
    return (const modal_tled_reference *)f->reference;
}

/* What moves nothing but by its elements. */
static modal_status new_fast(modal_tled_forces *f, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = &f->model->solid;
    MODAL_TRY(modal_alloc(&f->materials, s->n_materials, sizeof *f->materials, "forces", err));
    MODAL_TRY(modal_alloc(&f->ones, s->n_nodes, sizeof *f->ones, "forces", err));
    MODAL_TRY(modal_alloc_zero(&f->u, s->n_nodes, 4 * sizeof *f->u, "forces", err));
    MODAL_TRY(modal_alloc_zero(&f->d, s->n_nodes, 4 * sizeof *f->d, "forces", err));
    for (int32_t m = 0; m < s->n_materials; m++) f->materials[m] = s->materials[m], f->materials[m].n_terms = 0;
    for (int64_t i = 0; i < s->n_nodes; i++) f->ones[i] = 1;
    f->bare = (modal_tled_solid){.n_nodes = s->n_nodes, .nodes = s->nodes, .mass = f->ones, .n_tetrahedra = s->n_tetrahedra,
                                 .n_hexahedra = s->n_hexahedra, .centre = s->centre, .tetrahedra = s->tetrahedra, .hexahedra = s->hexahedra,
                                 .material = s->material, .n_macros = s->n_macros,
                                 .macro_offsets = s->macro_offsets, .macro_of = s->macro_of, .n_materials = s->n_materials, .materials = f->materials, .fibres = s->fibres};
    const modal_tled_layout_task task = {&f->bare, MODAL_TLED_FLOAT64, NULL, &f->fast};
    MODAL_TRY(modal_tled_layout_cpu(&task, NULL, err));
done:
    return status;
}

modal_status modal_tled_forces_new(const modal_tled_model *model, modal_tled_forces *f, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = &model->solid;
    const int64_t n_elements = s->n_tetrahedra + s->n_hexahedra, n_places = 4 * s->n_tetrahedra + 8 * s->n_hexahedra;
    *f = (modal_tled_forces){.model = model};
    const modal_tled_layout_task task = {s, MODAL_TLED_FLOAT64, NULL, &f->reference};
    MODAL_TRY(modal_tled_layout_ref(&task, NULL, err));
    MODAL_TRY(modal_alloc_zero(&f->offsets, s->n_nodes + 1, sizeof *f->offsets, "forces", err));
    MODAL_TRY(modal_alloc(&f->places, n_places, sizeof *f->places, "forces", err));
    MODAL_TRY(new_fast(f, err));
    for (int pass = 0; pass < 2; pass++) {
        int64_t place = 0;
        for (int64_t e = 0; e < n_elements; e++) {
            int n;
            const int32_t *corners = modal_tled_corners(s, e, &n);
            for (int a = 0; a < n; a++, place++) {
                if (pass == 0) f->offsets[corners[a] + 1]++;
                else f->places[f->offsets[corners[a]]++] = place;
            }
        }
        for (int64_t i = 0; i < s->n_nodes && pass == 0; i++) f->offsets[i + 1] += f->offsets[i];
    }
    for (int64_t i = s->n_nodes; i > 0; i--) f->offsets[i] = f->offsets[i - 1]; /* filling had moved each to its end */
    f->offsets[0] = 0;
done:
    if (status != MODAL_OK) modal_tled_forces_free(f);
    return status;
}

void modal_tled_forces_free(modal_tled_forces *f)
{
    modal_tled_layout_free(&f->reference);
    modal_tled_layout_free(&f->fast);
    modal_free(&f->offsets);
    modal_free(&f->places);
    modal_free(&f->materials);
    modal_free(&f->ones);
    modal_free(&f->u);
    modal_free(&f->d);
    *f = (modal_tled_forces){0};
}

modal_status modal_tled_forces_at(modal_tled_forces *forces, const double *u, double *f, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = forces->bare.n_nodes;
    modal_tled_watch watch = {-1, -1, 0};
    const modal_tled_step_task task = {.layout = forces->fast, .u = forces->u, .d = forces->d, .step = 1, .n_steps = 1, .watch = &watch};
    const double gain = modal_tled_step_factors(1, 0, 0).gain; /* d = -gain F */
    for (int64_t k = 0; k < 3 * n; k++) forces->u[4 * (k / 3) + k % 3] = u[k];
    MODAL_TRY(modal_tled_step_cpu(&task, NULL, err));
    for (int64_t k = 0; k < 3 * n; k++) f[k] = watch.step < 0 ? -forces->d[4 * (k / 3) + k % 3] / gain : NAN;
done:
    return status;
}

static double element_hourglass(const modal_tled_reference *r, int64_t e, const double *u)
{
    const modal_tled_solid *s = r->head.solid;
    const int32_t *corners = s->hexahedra + 8 * (e - s->n_tetrahedra);
    const modal_tled_hexahedron *x = &r->hexahedra[e - s->n_tetrahedra];
    double squares = 0;
    for (int m = 0; m < 4; m++)
        for (int i = 0; i < 3; i++) {
            double mode = 0;
            for (int a = 1; a < 8; a++)
                mode += x->gamma[m][a] * (u[3 * (int64_t)corners[a] + i] - u[3 * (int64_t)corners[0] + i]);
            squares += mode * mode;
        }
    return s->materials[s->material[e]].hourglass * x->sum * squares / 2;
}

static double volume_above(const double h[9])
{
    const double *a = h, *b = h + 3, *c = h + 6;
    const double x = b[1] * c[2] - b[2] * c[1], y = b[2] * c[0] - b[0] * c[2], z = b[0] * c[1] - b[1] * c[0];
    return a[0] + b[1] + c[2] + (x + a[0] * c[2] - a[2] * c[0] + a[0] * b[1] - a[1] * b[0]) + (a[0] * x + a[1] * y + a[2] * z);
}

/* Per volume, above: det F - 1. The law's, without the volumetric part where nodes average it, and the fibres'. */
static double energy_density(const modal_tled_forces *f, int64_t e, const double h[9], double above)
{
    const modal_tled_solid *s = &f->model->solid;
    const modal_tled_material *m = &s->materials[s->material[e]];
    double energy = modal_law_energy(&f->model->laws[s->material[e]], h);
    if (!modal_tled_is_rich(m)) return energy;
    if (m->averages && e < s->n_tetrahedra) energy -= m->modulus / 2 * above * above;
    if (m->fibre > 0) {
        const double *a = s->fibres + 3 * e, q = expm1(-2.0 / 3 * log1p(above));
        double stretch = 0; /* |F a|^2 - 1 */
        for (int i = 0; i < 3; i++) {
            const double ha = h[3 * i] * a[0] + h[3 * i + 1] * a[1] + h[3 * i + 2] * a[2];
            stretch += ha * (2 * a[i] + ha);
        }
        const double g = q * (1 + stretch) + stretch;
        energy += m->fibre / 4 * g * g;
    }
    return energy;
}

static int locks(const modal_tled_forces *f, int64_t e)
{
    const modal_tled_solid *s = &f->model->solid;
    const int32_t m = s->material[e];
    const modal_elasticity *c = &f->model->laws[m].elasticity;
    if (e >= s->n_tetrahedra || (s->macro_offsets && s->macro_offsets[s->macro_of[e] + 1] - s->macro_offsets[s->macro_of[e]] > 1)) return 0;
    return !s->materials[m].averages && c->lambda >= MODAL_NEARLY_INCOMPRESSIBLE * 2 * (c->lambda + c->mu);
}

/* What holds a tetrahedron's H near to the mean of its macro-element, per volume. */
static double control_density(const modal_tled_reference *r, int64_t e, const double *u, const double mean[9])
{
    double h[9], square = 0;
    modal_tled_reference_gradient(r, e, u, h);
    for (int k = 0; k < 9; k++) square += (h[k] - mean[k]) * (h[k] - mean[k]);
    return r->head.solid->materials[r->head.solid->material[e]].control * square / 2;
}

/* h: what the law sees; unless it is new that of the element before, of the same macro-element. */
static void add_element(const modal_tled_forces *f, int64_t e, const double *u, int energies, int is_new, double h[9], modal_tled_sums *sums)
{
    const modal_tled_reference *r = reference_of(f);
    const modal_tled_solid *s = r->head.solid;
    if (is_new) modal_tled_reference_law_gradient(r, e, u, h);
    const double above = volume_above(h), ratio = 1 + above;
    if (energies) {
        const double volume = e < s->n_tetrahedra ? r->tetrahedra[e].volume : r->hexahedra[e - s->n_tetrahedra].weight;
        const double energy = volume * energy_density(f, e, h, above);
        sums->elastic += energy;
        if (locks(f, e)) sums->locking += energy;
        if (e >= s->n_tetrahedra) sums->hourglass += element_hourglass(r, e, u);
        else if (s->macro_offsets) sums->hourglass += volume * control_density(r, e, u, h);
    }
    if (!(ratio >= sums->min_ratio)) sums->min_ratio = ratio, sums->min_element = e;
    if (!(ratio <= sums->max_ratio)) sums->max_ratio = ratio, sums->max_element = e;
    if (f->model->laws[s->material[e]].kind == MODAL_LAW_STVK && !(ratio >= sums->stvk_ratio))
        sums->stvk_ratio = ratio, sums->stvk_element = e;
    sums->n_bad += !(ratio >= MODAL_QUALITY_BAD_BELOW && ratio <= MODAL_QUALITY_BAD_ABOVE);
}

/* `to` has the elements before. */
static void add_sums(modal_tled_sums *to, const modal_tled_sums *from)
{
    to->elastic += from->elastic, to->hourglass += from->hourglass, to->locking += from->locking, to->n_bad += from->n_bad;
    if (!(from->min_ratio >= to->min_ratio)) to->min_ratio = from->min_ratio, to->min_element = from->min_element;
    if (!(from->max_ratio <= to->max_ratio)) to->max_ratio = from->max_ratio, to->max_element = from->max_element;
    if (!(from->stvk_ratio >= to->stvk_ratio)) to->stvk_ratio = from->stvk_ratio, to->stvk_element = from->stvk_element;
}

/* Sums of a fixed number of elements each, then theirs. */
static void add_all(const modal_tled_forces *forces, const double *u, int energies, modal_tled_sums *all)
{
    enum { PIECES = 256 };
    static const modal_tled_sums none = {.min_ratio = HUGE_VAL, .max_ratio = -HUGE_VAL, .min_element = -1, .max_element = -1, .stvk_ratio = HUGE_VAL,
                                         .stvk_element = -1};
    const modal_tled_reference *r = reference_of(forces);
    const modal_tled_solid *s = r->head.solid;
    const int64_t n = s->n_tetrahedra + s->n_hexahedra;
    modal_tled_sums sums[PIECES];
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static) if (n > MODAL_TLED_ALONE)
    for (int piece = 0; piece < PIECES; piece++) {
        sums[piece] = none;
        const int64_t begin = n * piece / PIECES;
        double h[9];
        for (int64_t e = begin; e < n * (piece + 1) / PIECES; e++) {
            const int is_same = e > begin && e < s->n_tetrahedra && s->macro_of && s->macro_of[e] == s->macro_of[e - 1];
            add_element(forces, e, u, energies, !is_same, h, &sums[piece]);
        }
    }
    *all = none;
    for (int piece = 0; piece < PIECES; piece++) add_sums(all, &sums[piece]);
    if (all->stvk_element < 0) all->stvk_ratio = NAN;
}

void modal_tled_ratios_at(const modal_tled_forces *forces, const double *u, modal_tled_sums *all) { add_all(forces, u, 0, all); }

void modal_tled_sums_at(const modal_tled_forces *forces, const double *u, modal_tled_sums *all)
{
    const modal_tled_reference *r = reference_of(forces);
    const modal_tled_solid *s = r->head.solid;
    add_all(forces, u, 1, all);
    if (!r->pressures) return;
    modal_tled_reference_pressures((modal_tled_reference *)forces->reference, u);
    for (int64_t i = 0; i < s->n_nodes; i++) /* V_a K_a / 2 (p_a / K_a)^2 */
        if (r->pressure_factors[i] > 0) all->elastic += r->pressures[i] * r->pressures[i] / (2 * r->pressure_factors[i]);
}
