/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that look the same are found once: thousands of leaves share what is known of one. */
#include <string.h>

#include "lib/base/memory.h"
#include "lib/model/look.h"

static int is_variant(const modal_look_variant *v, const modal_basis *basis, int32_t shape, const int32_t *materials, const double *tint)
{
    return v->shape == shape && (!tint || memcmp(v->tint, tint, sizeof v->tint) == 0) &&
           memcmp(v->materials, materials, (size_t)basis->shapes[shape].surface.n_triangles * sizeof *materials) == 0;
}

/* The variant of an object: one that another object has already, or a new one. materials: those of the object; latest: the variant of the shape that
 * was found last, -1: none, since objects that are alike follow each other. */
static modal_status find_variant(modal_look_variants *v, const modal_basis *basis, int32_t object, const int32_t *materials, int by_tint,
                                 int32_t *latest, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int32_t shape = basis->objects[object].shape;
    const double *tint = v->tints + 3 * (int64_t)object, *asked = by_tint ? tint : NULL;
    int32_t found = *latest >= 0 ? *latest : v->n_variants; /* without a latest one the shape has none */
    if (found < v->n_variants && !is_variant(&v->variants[found], basis, shape, materials, asked))
        for (found = 0; found < v->n_variants && !is_variant(&v->variants[found], basis, shape, materials, asked);) found++;
    if (found == v->n_variants) {
        const int64_t n = basis->shapes[shape].surface.n_triangles;
        MODAL_TRY(modal_grow(&v->variants, &v->capacity, v->n_variants + 1, sizeof *v->variants, "materials", err));
        modal_look_variant *to = &v->variants[v->n_variants];
        *to = (modal_look_variant){.shape = shape};
        memcpy(to->tint, tint, sizeof to->tint);
        MODAL_TRY(modal_alloc(&to->materials, n, sizeof *to->materials, "materials", err));
        memcpy(to->materials, materials, (size_t)n * sizeof *materials);
        v->n_variants++;
    }
    v->of_objects[object] = *latest = found;
done:
    return status;
}

modal_status modal_look_variants_make(modal_look_variants *v, const modal_look *look, const modal_basis *basis, int by_tint,
                                      modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *materials = NULL, *latest = NULL;
    int64_t most = 0;
    *v = (modal_look_variants){0};
    for (int32_t i = 0; i < basis->n_shapes; i++)
        if (basis->shapes[i].surface.n_triangles > most) most = basis->shapes[i].surface.n_triangles;
    MODAL_TRY(modal_alloc(&materials, most, sizeof *materials, "materials", err));
    MODAL_TRY(modal_alloc(&latest, basis->n_shapes, sizeof *latest, "shapes", err));
    MODAL_TRY(modal_alloc(&v->of_objects, basis->n_objects, sizeof *v->of_objects, "materials", err));
    MODAL_TRY(modal_alloc(&v->tints, 3 * (int64_t)basis->n_objects, sizeof *v->tints, "materials", err));
    for (int32_t i = 0; i < basis->n_shapes; i++) latest[i] = -1;
    for (int32_t i = 0; i < basis->n_objects; i++) {
        MODAL_TRY(modal_look_resolve(look, basis, i, materials, v->tints + 3 * (int64_t)i, err));
        MODAL_TRY(find_variant(v, basis, i, materials, by_tint, &latest[basis->objects[i].shape], err));
    }
done:
    modal_free(&materials);
    modal_free(&latest);
    return status;
}

void modal_look_variants_free(modal_look_variants *v)
{
    for (int32_t i = 0; i < v->n_variants; i++) modal_free(&v->variants[i].materials);
    modal_free(&v->variants);
    modal_free(&v->of_objects);
    modal_free(&v->tints);
    memset(v, 0, sizeof *v);
}
