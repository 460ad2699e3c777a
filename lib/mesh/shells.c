/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/shells.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/mesh/surface_repair.h"

enum { MOST_SHELLS = 1000 };

static const double *corner(const modal_surface_mesh *surface, int64_t t, int k)
{
    return surface->positions + 3 * (int64_t)surface->triangles[3 * t + k];
}

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

double modal_solid_angle(const double a[3], const double b[3], const double c[3])
{
    const double normal[3] = {b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]};
    const double la = sqrt(dot(a, a)), lb = sqrt(dot(b, b)), lc = sqrt(dot(c, c));
    return 2 * atan2(dot(a, normal), la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb);
}

/* Of a triangle of the surface seen from a point. */
static double angle_from(const modal_surface_mesh *surface, int64_t t, const double *point)
{
    double r[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) r[i][k] = corner(surface, t, i)[k] - point[k];
    return modal_solid_angle(r[0], r[1], r[2]);
}

modal_status modal_shells_find(const modal_surface_mesh *surface, modal_shells *shells, modal_error *err)
{
    modal_status status = MODAL_OK;
    double *volume = NULL, *angle = NULL;
    int32_t *depth = NULL;
    const double *origin = surface->positions;
    memset(shells, 0, sizeof *shells);
    MODAL_TRY(modal_alloc(&shells->shell, surface->n_triangles, sizeof(int32_t), "shells", err));
    MODAL_TRY(modal_surface_parts(surface, 10, shells->shell, &shells->n, err));
    if (shells->n > MOST_SHELLS)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "more than %d closed parts, %d", MOST_SHELLS, shells->n);
    MODAL_TRY(modal_alloc(&shells->outer, shells->n, sizeof(int32_t), "shells", err));
    MODAL_TRY(modal_alloc_zero(&volume, shells->n, sizeof *volume, "shells", err));
    MODAL_TRY(modal_alloc(&angle, shells->n, sizeof *angle, "shells", err));
    MODAL_TRY(modal_alloc_zero(&depth, shells->n, sizeof *depth, "shells", err));
    for (int64_t t = 0; t < surface->n_triangles; t++) {
        double a[3], b[3], c[3];
        for (int k = 0; k < 3; k++) {
            a[k] = corner(surface, t, 0)[k] - origin[k];
            b[k] = corner(surface, t, 1)[k] - origin[k];
            c[k] = corner(surface, t, 2)[k] - origin[k];
        }
        const double cross[3] = {b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]};
        volume[shells->shell[t]] += dot(a, cross) / 6;
    }
    for (int32_t s = 0; s < shells->n; s++) {
        int64_t first = 0;
        while (shells->shell[first] != s) first++;
        shells->outer[s] = s;
        memset(angle, 0, (size_t)shells->n * sizeof *angle);
        for (int64_t t = 0; t < surface->n_triangles && shells->n > 1; t++)
            if (shells->shell[t] != s)
                angle[shells->shell[t]] += angle_from(surface, t, corner(surface, first, 0));
        for (int32_t k = 0; k < shells->n; k++) {
            if (k == s || fabs(angle[k]) < 6.28) continue; /* inside 4 pi, outside 0 */
            depth[s]++;
            if (shells->outer[s] == s || fabs(volume[k]) < fabs(volume[shells->outer[s]])) shells->outer[s] = k;
        }
    }
    for (int32_t s = 0; s < shells->n; s++) {
        int is_cavity = depth[s] % 2 == 1;
        if (!is_cavity) shells->outer[s] = s;
        shells->n_cavities += is_cavity;
        shells->volume += is_cavity ? -fabs(volume[s]) : fabs(volume[s]);
    }
done:
    modal_free(&volume);
    modal_free(&angle);
    modal_free(&depth);
    if (status != MODAL_OK) modal_shells_free(shells);
    return status;
}

void modal_shells_free(modal_shells *shells)
{
    modal_free(&shells->shell);
    modal_free(&shells->outer);
    memset(shells, 0, sizeof *shells);
}
