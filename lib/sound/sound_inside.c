/* SPDX-License-Identifier: Apache-2.0 */
/* Where listeners are: outside of every body, and how far away. */
#include <math.h>

#include "lib/mesh/shells.h"
#include "lib/mesh/surface_check.h"
#include "lib/model/user_surface.h"
#include "lib/sound/sound_private.h"

static const double PI = 3.14159265358979323846;
static const double FARTHEST = 1e5; /* m: five minutes of sound */

static double length(const double a[3]) { return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

static int is_open(const modal_surface *s)
{
    int open = 0;
    for (int64_t v = 0; v < s->n_vertices && !open; v++) open = s->boundary && s->boundary[v];
    return open;
}

static modal_status check_place(const modal_sound_request *r, int32_t object, int channel, modal_sound_plan *plan,
                                modal_error *err)
{
    const modal_shape *s = &r->basis->shapes[r->basis->objects[object].shape];
    const double *place = r->channels[channel].place;
    double y[3], turns = 0;
    modal_sound_place(r, object, place, y);
    for (int64_t t = 0; t < s->surface.n_triangles; t++) {
        double corner[3][3], centre[3], area[3], longest = 0;
        modal_sound_triangle(&s->surface, t, centre, area);
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++) corner[c][k] = s->surface.rest_positions[3 * s->surface.triangles[3 * t + c] + k] - y[k];
        for (int c = 0; c < 3; c++) {
            const double *a = corner[c], *b = corner[(c + 1) % 3];
            longest = fmax(longest, sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                                         (a[2] - b[2]) * (a[2] - b[2])));
        }
        for (int k = 0; k < 3; k++) centre[k] -= y[k];
        const double distance = length(centre);
        if (!(distance < FARTHEST))
            return modal_error_set(err, MODAL_ERROR_USAGE, "listener %d: farther than %g m from object %d, %g m", channel,
                                   FARTHEST, object, distance);
        if (!(distance > 0))
            return modal_error_set(err, MODAL_ERROR_USAGE, "listener %d: on triangle %lld of object %d, %g,%g,%g", channel,
                                   (long long)s->surface.user_triangle[t], object, place[0], place[1], place[2]);
        if (distance < longest &&
            (plan->near_channel < 0 || distance * plan->near_length < plan->near_distance * longest)) {
            plan->near_channel = channel;
            plan->near_distance = distance;
            plan->near_length = longest;
        }
        turns += modal_solid_angle(corner[0], corner[1], corner[2]) / (4 * PI);
    }
    /* 0 outside of a closed surface, 1 or more inside, a half on a face, less on an edge or a corner. */
    if (plan->open_object != object && !(fabs(turns) < 0.05))
        return modal_error_set(err, MODAL_ERROR_USAGE, "listener %d: inside of object %d or on it, %g,%g,%g", channel, object,
                               place[0], place[1], place[2]);
    return MODAL_OK;
}

/* Each triangle radiates from its front: a turned or doubled one changes the pressure. The boundary of a solid has none of these; a surface
 * without a solid has no mass (formats/basis.md). Names faults by the user's index. */
static modal_status check_sides(const modal_sound_request *r, int32_t shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_shape *s = &r->basis->shapes[shape];
    modal_surface_mesh user = {0};
    modal_surface_summary found;
    if (s->modes.n_modes == 0 || (s->embedding.kind == MODAL_SURFACE_BOUNDARY && s->modes.total_mass > 0)) goto done;
    MODAL_TRY(modal_user_surface(&s->surface, &user, err));
    MODAL_TRY(modal_surface_check(&user, &found, err));
    const int is_closed = found.n_open_edges == 0;
    found.n_flat = found.n_duplicate_vertices = found.n_pinched_vertices = found.n_open_edges = found.n_intersections = 0;
    MODAL_TRY(modal_surface_explain(&user, &found, err));
    if (is_closed && !(found.volume >= 0))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "triangles face inwards, they enclose %.6g m^3", found.volume);
done:
    modal_surface_mesh_free(&user);
    if (status == MODAL_ERROR_INPUT) modal_error_context(err, "shape %d: its surface has no sound", shape);
    return status;
}

modal_status modal_sound_check_places(const modal_sound_request *r, modal_sound_plan *plan, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t first_open = -1;
    plan->near_channel = -1;
    for (int32_t i = 0; i < r->basis->n_shapes; i++) MODAL_TRY(check_sides(r, i, err));
    for (int32_t i = 0; i < r->basis->n_objects; i++) {
        plan->open_object = is_open(&r->basis->shapes[r->basis->objects[i].shape].surface) ? i : -1;
        if (first_open < 0) first_open = plan->open_object;
        for (int c = 0; c < r->n_channels; c++)
            if (!r->channels[c].contact) MODAL_TRY(check_place(r, i, c, plan, err));
    }
    plan->open_object = first_open;
done:
    return status;
}
