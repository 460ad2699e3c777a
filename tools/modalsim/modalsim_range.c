/* SPDX-License-Identifier: Apache-2.0 */
/* How far a linear motion goes: for --amplitude, and for the warning that modes do not mean so much. */
#include <math.h>

#include "lib/base/memory.h"
#include "tools/modalsim/modalsim.h"

/* Beyond this the straight paths of linear modes are seen, and stretch what should turn. */
static const double MOST_DISPLACEMENT = 0.2, MOST_STRAIN = 0.05;

modal_status modalsim_range_begin(modalsim_range *range, const modal_basis *basis, int n_threads, modal_error *err)
{
    modal_status status = MODAL_OK;
    double *q = NULL;
    int64_t total = 0;
    int32_t most = 0;
    range->basis = basis;
    range->displacement = MOST_DISPLACEMENT;
    range->strain = MOST_STRAIN;
    range->place.object = range->strain_object = -1;
    MODAL_TRY(modal_alloc(&range->first, basis->n_shapes, sizeof *range->first, "strains of modes", err));
    for (int32_t i = 0; i < basis->n_shapes; i++) {
        range->first[i] = total;
        total += basis->shapes[i].modes.n_modes;
        if (basis->shapes[i].modes.n_modes > most) most = basis->shapes[i].modes.n_modes;
    }
    MODAL_TRY(modal_reach_new(&range->reach, basis, err));
    MODAL_TRY(modal_deformation_new(&range->deformation, basis, n_threads, err));
    MODAL_TRY(modal_alloc(&range->diagonals, basis->n_shapes, sizeof *range->diagonals, "sizes", err));
    MODAL_TRY(modal_alloc_zero(&range->strains, total, sizeof *range->strains, "strains of modes", err));
    MODAL_TRY(modal_alloc_zero(&q, most, sizeof *q, "strains of modes", err));
    for (int32_t i = 0; i < basis->n_shapes; i++) {
        const modal_shape *s = &basis->shapes[i];
        range->diagonals[i] = modal_reach_knows(range->reach, i) ? modal_reach_diagonal(&s->surface) : 0;
        for (int32_t k = 0; k < s->modes.n_modes && modal_deformation_knows(range->deformation, i); k++) {
            modal_deformed deformed;
            q[k] = 1e-6; /* small, so that det F is not looked at closely */
            modal_deformation_measure(range->deformation, i, q, 1, 0, &deformed);
            range->strains[range->first[i] + k] = deformed.strain / q[k];
            q[k] = 0;
        }
    }
done:
    modal_free(&q);
    return status;
}

void modalsim_range_end(modalsim_range *range)
{
    modal_reach_delete(range->reach);
    modal_deformation_delete(range->deformation);
    modal_free(&range->diagonals);
    modal_free(&range->first);
    modal_free(&range->strains);
}

/* The largest principal strain by size is a norm, so that those of the modes bound that of their sum. */
static void observe_strain(modalsim_range *range, int32_t object, int64_t frame, const double *q, const double *strains)
{
    const int32_t shape = range->basis->objects[object].shape;
    double bound = 0;
    for (int32_t k = 0; k < range->basis->shapes[shape].modes.n_modes; k++) bound += fabs(q[k]) * strains[k];
    if (bound <= range->strain) return;
    modal_deformed deformed;
    modal_deformation_measure(range->deformation, shape, q, 1, 0, &deformed);
    if (!(deformed.strain > range->strain)) return;
    range->strain = deformed.strain;
    range->strain_object = object;
    range->strain_frame = frame;
}

void modalsim_range_observe(modalsim_range *range, int64_t frame, const double *q)
{
    for (int32_t i = 0; i < range->basis->n_objects; i++) {
        const int32_t shape = range->basis->objects[i].shape;
        const double diagonal = range->diagonals[shape];
        if (diagonal > 0) {
            int64_t vertex = -1;
            const double found = modal_reach_displacement(range->reach, shape, q, range->displacement * diagonal, &vertex);
            if (vertex >= 0) {
                range->displacement = found / diagonal;
                range->place = (modalsim_place){i, range->basis->shapes[shape].surface.user_vertex[vertex], frame, found};
            }
        }
        if (modal_deformation_knows(range->deformation, shape)) observe_strain(range, i, frame, q, range->strains + range->first[shape]);
        q += range->basis->shapes[shape].modes.n_modes;
    }
}

void modalsim_range_tell(tool *t, const modalsim_range *range)
{
    static const char *const instead = "smaller loads (--amplitude 5%), or a basis with --derivatives and --reduced-forces, "
                                       "and a --scene";
    const modalsim_place *p = &range->place;
    int n_displacements = 0, n_strains = 0;
    for (int32_t i = 0; i < range->basis->n_shapes; i++) {
        n_displacements += range->diagonals[i] > 0;
        n_strains += modal_deformation_knows(range->deformation, i);
    }
    if (n_strains < range->basis->n_shapes)
        tool_detail(t, "displacements of %d and strains of %d of %d shapes were looked at; others are large, or without a solid",
                    n_displacements, n_strains, range->basis->n_shapes);
    if (p->object >= 0) {
        json_object_set_new(t->report, "largest_displacement",
                            json_pack("{s:i, s:I, s:I, s:f, s:f}", "object", p->object, "vertex", (json_int_t)p->vertex,
                                      "frame", (json_int_t)p->frame, "m", p->length, "share_of_size", range->displacement));
        if (range->displacement > MOST_DISPLACEMENT)
            tool_warn(t, "object %d: vertex %lld moves by %.3g m in frame %lld, %.3g %% of its size; linear modes mean "
                         "less than %g %%: %s", p->object, (long long)p->vertex, p->length, (long long)p->frame,
                      100 * range->displacement, 100 * MOST_DISPLACEMENT, instead);
    }
    if (range->strain_object >= 0) {
        json_object_set_new(t->report, "largest_strain",
                            json_pack("{s:i, s:I, s:f}", "object", range->strain_object, "frame",
                                      (json_int_t)range->strain_frame, "strain", range->strain));
        tool_warn(t, "object %d: strains of %.3g %% in frame %lld; linear modes mean less than %g %%: %s",
                  range->strain_object, 100 * range->strain, (long long)range->strain_frame, 100 * MOST_STRAIN, instead);
    }
}
