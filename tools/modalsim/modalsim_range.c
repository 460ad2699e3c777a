/* SPDX-License-Identifier: Apache-2.0 */
/* How far a linear motion goes: for --amplitude, and for the warning that modes do not mean so much. */
#include <math.h>

#include "lib/base/memory.h"
#include "tools/modalsim/modalsim.h"

/* Beyond this the straight paths of linear modes are seen. Turns and strains are the trajectory's quality. */
static const double MOST_DISPLACEMENT = 0.2;

modal_status modalsim_range_begin(modalsim_range *range, const modal_basis *basis, modal_error *err)
{
    modal_status status = MODAL_OK;
    range->basis = basis;
    range->displacement = MOST_DISPLACEMENT;
    range->place.object = -1;
    MODAL_TRY(modal_reach_new(&range->reach, basis, err));
    MODAL_TRY(modal_alloc(&range->diagonals, basis->n_shapes, sizeof *range->diagonals, "sizes", err));
    for (int32_t i = 0; i < basis->n_shapes; i++)
        range->diagonals[i] = modal_reach_knows(range->reach, i) ? modal_reach_diagonal(&basis->shapes[i].surface) : 0;
done:
    return status;
}

void modalsim_range_end(modalsim_range *range)
{
    modal_reach_delete(range->reach);
    modal_free(&range->diagonals);
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
        q += range->basis->shapes[shape].modes.n_modes;
    }
}

void modalsim_range_tell(tool *t, const modalsim_range *range)
{
    const modalsim_place *p = &range->place;
    int n_known = 0;
    for (int32_t i = 0; i < range->basis->n_shapes; i++) n_known += range->diagonals[i] > 0;
    if (n_known < range->basis->n_shapes)
        tool_detail(t, "displacements of %d of %d shapes were looked at; others are large", n_known, range->basis->n_shapes);
    if (p->object < 0) return;
    json_object_set_new(t->report, "largest_displacement",
                        json_pack("{s:i, s:I, s:I, s:f, s:f}", "object", p->object, "vertex", (json_int_t)p->vertex,
                                  "frame", (json_int_t)p->frame, "m", p->length, "share_of_size", range->displacement));
    if (range->displacement > MOST_DISPLACEMENT)
        tool_warn(t, "object %d: vertex %lld moves by %.3g m in frame %lld, %.3g %% of its size; linear modes mean "
                     "less than %g %%: smaller loads (--amplitude 5%%), or a basis with --derivatives and --reduced-forces, and a --scene",
                  p->object, (long long)p->vertex, p->length, (long long)p->frame, 100 * range->displacement,
                  100 * MOST_DISPLACEMENT);
}
