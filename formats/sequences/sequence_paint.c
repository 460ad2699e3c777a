/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/sequences/sequence_paint.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/memory.h"

modal_status modal_sequence_check_uv(const modal_look_material *m, const modal_shape *shape, int32_t number, int64_t t, const char *format,
                                     modal_error *err)
{
    const modal_surface *s = &shape->surface;
    if (!m->image && !m->normal_image) return MODAL_OK;
    if (!s->uv)
        return modal_error_set(err, MODAL_ERROR_INPUT, "look: material %s has an image, and shape %d (%s) has no texture coordinates", m->name,
                               number, shape->name ? shape->name : "");
    for (int k = 0; k < 3; k++) {
        const double *uv = s->uv + 2 * (int64_t)s->triangle_uv[3 * t + k];
        if (!(fabs(uv[0]) <= FLT_MAX && fabs(uv[1]) <= FLT_MAX))
            return modal_error_set(err, MODAL_ERROR_INPUT, "%s: shape %d, triangle %d: uv does not fit float32, %g %g", format, number,
                                   s->user_triangle[t], uv[0], uv[1]);
        if (m->wrap == MODAL_WRAP_NONE && !(uv[0] >= 0 && uv[0] <= 1 && uv[1] >= 0 && uv[1] <= 1))
            return modal_error_set(err, MODAL_ERROR_INPUT, "look: material %s has wrap none, and shape %d, triangle %d has uv outside of [0, 1], %g %g",
                                   m->name, number, s->user_triangle[t], uv[0], uv[1]);
    }
    return MODAL_OK;
}

/* The material's name, with a number where another tint has it, or where it is another material's. */
static void name_paint(modal_sequence_paint *p, modal_painted *to)
{
    const char *own = p->look->look->materials[to->material].name;
    snprintf(to->name, sizeof to->name, "%.200s", own);
    for (int32_t i = 0, n = 2; i < p->n_paints; i++) {
        if (strcmp(p->paints[i].name, to->name) != 0) continue;
        snprintf(to->name, sizeof to->name, "%.200s %d", own, n++);
        i = -1;
    }
}

static modal_status find_paint(modal_sequence_paint *p, int32_t material, const double tint[3], int32_t *paint, modal_error *err)
{
    for (*paint = 0; *paint < p->n_paints; ++*paint)
        if (p->paints[*paint].material == material && memcmp(p->paints[*paint].tint, tint, 3 * sizeof *tint) == 0) return MODAL_OK;
    const modal_status status = modal_grow(&p->paints, &p->capacity, p->n_paints + 1, sizeof *p->paints, "materials", err);
    if (status != MODAL_OK) return status;
    modal_painted *to = &p->paints[p->n_paints];
    *to = (modal_painted){.material = material};
    memcpy(to->tint, tint, sizeof to->tint);
    name_paint(p, to);
    p->n_paints++;
    return MODAL_OK;
}

/* uv_at [n_shapes] where the uv of each shape begin. */
static modal_status gather_uv(modal_sequence_paint *p, const modal_basis *b, int64_t *uv_at, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int32_t i = 0; i < b->n_shapes; i++) {
        uv_at[i] = p->n_uv;
        p->n_uv += b->shapes[i].surface.uv ? b->shapes[i].surface.n_uv : 0;
    }
    if (p->n_uv > INT32_MAX) MODAL_FAIL(err, MODAL_ERROR_INPUT, "look: more than %d texture coordinates", INT32_MAX);
    MODAL_TRY(modal_alloc(&p->uv, 2 * p->n_uv, sizeof *p->uv, "uv", err));
    for (int32_t i = 0; i < b->n_shapes; i++)
        if (b->shapes[i].surface.uv) memcpy(p->uv + 2 * uv_at[i], b->shapes[i].surface.uv, (size_t)(2 * b->shapes[i].surface.n_uv) * sizeof *p->uv);
done:
    return status;
}

modal_status modal_sequence_paint_make(modal_sequence_paint *p, const modal_sequence_look *look, const modal_sequence_scene *scene,
                                       int64_t n_triangles, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_basis *b = scene->basis;
    int64_t *uv_at = NULL, most = 0, first = 0;
    int32_t *stored = NULL, *paint_of = NULL;
    *p = (modal_sequence_paint){.look = look, .n_triangles = n_triangles};
    for (int32_t i = 0; i < b->n_shapes; i++)
        if (b->shapes[i].surface.n_triangles > most) most = b->shapes[i].surface.n_triangles;
    MODAL_TRY(modal_alloc(&uv_at, b->n_shapes, sizeof *uv_at, "uv", err));
    MODAL_TRY(modal_alloc(&stored, most, sizeof *stored, "materials", err));
    MODAL_TRY(modal_alloc(&paint_of, look->look->n_materials, sizeof *paint_of, "materials", err));
    MODAL_TRY(modal_alloc(&p->triangle_uv, 3 * n_triangles, sizeof *p->triangle_uv, "uv", err));
    MODAL_TRY(modal_alloc(&p->triangle_paint, n_triangles, sizeof *p->triangle_paint, "materials", err));
    MODAL_TRY(gather_uv(p, b, uv_at, err));
    for (int32_t i = 0; i < b->n_objects; i++) {
        const int32_t number = b->objects[i].shape;
        const modal_surface *s = &b->shapes[number].surface;
        double tint[3];
        MODAL_TRY(modal_look_resolve(look->look, b, i, stored, tint, err));
        for (int32_t m = 0; m < look->look->n_materials; m++) paint_of[m] = -1;
        for (int64_t t = 0; t < s->n_triangles; t++) {
            const int64_t at = first + (scene->stored_order ? t : s->user_triangle[t]);
            MODAL_TRY(modal_sequence_check_uv(&look->look->materials[stored[t]], &b->shapes[number], number, t, "obj", err));
            if (paint_of[stored[t]] < 0) MODAL_TRY(find_paint(p, stored[t], tint, &paint_of[stored[t]], err));
            p->triangle_paint[at] = paint_of[stored[t]];
            for (int k = 0; k < 3; k++) p->triangle_uv[3 * at + k] = s->uv ? (int32_t)(uv_at[number] + s->triangle_uv[3 * t + k]) : -1;
        }
        first += s->n_triangles;
    }
done:
    modal_free(&uv_at);
    modal_free(&stored);
    modal_free(&paint_of);
    return status;
}

void modal_sequence_paint_free(modal_sequence_paint *p)
{
    modal_free(&p->uv);
    modal_free(&p->triangle_uv);
    modal_free(&p->triangle_paint);
    modal_free(&p->paints);
    memset(p, 0, sizeof *p);
}
