/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/render/camera.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/deform/reach.h"

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross(const double a[3], const double b[3], double to[3])
{
    for (int k = 0; k < 3; k++) to[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static void scale_to_unit(double a[3])
{
    const double length = sqrt(dot(a, a));
    for (int k = 0; k < 3; k++) a[k] /= length;
}

void modal_render_axes(const double direction[3], const double up[3], double right[3], double to_up[3], double ahead[3])
{
    memcpy(ahead, direction, 3 * sizeof *ahead);
    scale_to_unit(ahead);
    cross(ahead, up, right);
    scale_to_unit(right);
    cross(right, ahead, to_up);
}

/* ---- where the objects are ---- */

/* A shape at rest: the box around it, and how far each mode carries its vertices. */
typedef struct rest_shape {
    double low[3], high[3], *reach;
} rest_shape;

static modal_status measure_shape(const modal_shape *s, int32_t index, const modal_matrix_source *source, rest_shape *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int k = 0; k < 3; k++) to->low[k] = INFINITY, to->high[k] = -INFINITY;
    for (int64_t v = 0; v < s->surface.n_vertices; v++)
        for (int k = 0; k < 3; k++) {
            to->low[k] = fmin(to->low[k], s->surface.rest_positions[3 * v + k]);
            to->high[k] = fmax(to->high[k], s->surface.rest_positions[3 * v + k]);
        }
    MODAL_TRY(modal_alloc(&to->reach, s->modes.n_modes, sizeof *to->reach, "reach of modes", err));
    MODAL_TRY(modal_reach_modes(s, index, source, to->reach, err));
done:
    return status;
}

/* The box of an object in one frame, around that of the frames before. */
static void join_frame(const rest_shape *shape, const double pose[12], const double *q, int32_t n_modes, const modal_render_bounds *b,
                       double box[6])
{
    const double *axes[3] = {b->right, b->up, b->ahead};
    double reach = 0.0;
    for (int32_t k = 0; k < n_modes; k++) reach += fabs(q[k]) * shape->reach[k];
    for (int corner = 0; corner < 8; corner++) {
        double p[3];
        for (int i = 0; i < 3; i++) {
            p[i] = pose[4 * i + 3];
            for (int k = 0; k < 3; k++) p[i] += pose[4 * i + k] * (corner >> k & 1 ? shape->high[k] : shape->low[k]);
        }
        for (int k = 0; k < 3; k++) {
            const double at = dot(axes[k], p);
            box[2 * k] = fmin(box[2 * k], at - reach);
            box[2 * k + 1] = fmax(box[2 * k + 1], at + reach);
        }
    }
}

modal_status modal_render_bounds_new(modal_render_bounds *b, const double direction[3], const double up[3], const modal_basis *basis,
                                     const modal_matrix_source *source, const modal_trajectory *q, modal_error *err)
{
    modal_status status = MODAL_OK;
    rest_shape *shapes = NULL;
    *b = (modal_render_bounds){.n = basis->n_objects};
    modal_render_axes(direction, up, b->right, b->up, b->ahead);
    MODAL_TRY(modal_alloc(&b->boxes, b->n, sizeof *b->boxes, "boxes", err));
    MODAL_TRY(modal_alloc_zero(&shapes, basis->n_shapes, sizeof *shapes, "boxes", err));
    for (int32_t i = 0; i < basis->n_shapes; i++) MODAL_TRY(measure_shape(&basis->shapes[i], i, source, &shapes[i], err));
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const modal_object *o = &basis->objects[i];
        const int64_t first = q->mode_offsets[i], total = q->mode_offsets[q->n_objects];
        double *box = b->boxes[i];
        for (int k = 0; k < 3; k++) box[2 * k] = INFINITY, box[2 * k + 1] = -INFINITY;
        if (basis->shapes[o->shape].surface.n_vertices == 0) continue;
        for (int64_t f = 0; f < q->n_frames; f++)
            join_frame(&shapes[o->shape], q->poses ? q->poses + 12 * (f * q->n_objects + i) : o->rest_pose, q->q + f * total + first,
                       basis->shapes[o->shape].modes.n_modes, b, box);
    }
done:
    for (int32_t i = 0; shapes && i < basis->n_shapes; i++) modal_free(&shapes[i].reach);
    modal_free(&shapes);
    if (status != MODAL_OK) modal_render_bounds_free(b);
    return status;
}

void modal_render_bounds_add(modal_render_bounds *b, int32_t object, int64_t n, const float *points)
{
    const double *axes[3] = {b->right, b->up, b->ahead};
    double *box = b->boxes[object];
    for (int64_t i = 0; i < n; i++)
        for (int a = 0; a < 3; a++) {
            double x = 0.0;
            for (int k = 0; k < 3; k++) x += axes[a][k] * (double)points[3 * i + k];
            box[2 * a] = fmin(box[2 * a], x), box[2 * a + 1] = fmax(box[2 * a + 1], x);
        }
}

void modal_render_bounds_free(modal_render_bounds *b)
{
    modal_free(&b->boxes);
    *b = (modal_render_bounds){0};
}

/* The box around all. 0: there is nothing. */
static int whole_box(const modal_render_bounds *b, double box[6])
{
    for (int k = 0; k < 3; k++) box[2 * k] = INFINITY, box[2 * k + 1] = -INFINITY;
    for (int32_t i = 0; i < b->n; i++)
        for (int k = 0; k < 3; k++) {
            box[2 * k] = fmin(box[2 * k], b->boxes[i][2 * k]);
            box[2 * k + 1] = fmax(box[2 * k + 1], b->boxes[i][2 * k + 1]);
        }
    return box[0] <= box[1];
}

double modal_render_bounds_size(const modal_render_bounds *b)
{
    double box[6], sum = 0.0;
    if (!whole_box(b, box)) return 1.0;
    for (int k = 0; k < 3; k++) sum += (box[2 * k + 1] - box[2 * k]) * (box[2 * k + 1] - box[2 * k]);
    return sum > 0.0 ? sqrt(sum) : 1.0;
}

/* ---- a view ---- */

/* Where a fitted camera stands: far enough back that every corner of every box is in the picture, with a twentieth to spare. */
static void fit(const modal_render_bounds *b, double fov, double aspect, double eye[3])
{
    double whole[6], back = 0.0, centre[3];
    const double high = tan(0.5 * fov), wide = high * aspect;
    const int some = whole_box(b, whole);
    for (int k = 0; k < 3; k++) centre[k] = some ? 0.5 * (whole[2 * k] + whole[2 * k + 1]) : 0.0;
    for (int32_t i = 0; i < b->n; i++) {
        const double *box = b->boxes[i];
        const double x = fmax(box[1] - centre[0], centre[0] - box[0]), y = fmax(box[3] - centre[1], centre[1] - box[2]);
        if (box[0] <= box[1]) back = fmax(back, fmax(x / wide, y / high) * 1.05 + (centre[2] - box[4]));
    }
    if (!(back > 0.0)) back = 1.0;
    for (int k = 0; k < 3; k++)
        eye[k] = b->right[k] * centre[0] + b->up[k] * centre[1] + b->ahead[k] * (centre[2] - back);
}

/* Eye and target between the keys around t. */
static void at_time(const modal_look_camera *c, double t, double eye[3], double target[3])
{
    const int64_t n = c->n_keys;
    int64_t after = 0;
    memcpy(eye, c->eye, 3 * sizeof *eye);
    memcpy(target, c->target, 3 * sizeof *target);
    if (n == 0) return;
    while (after < n && c->keys[7 * after] <= t) after++;
    const double *a = c->keys + 7 * (after > 0 ? after - 1 : 0), *b = c->keys + 7 * (after < n ? after : n - 1);
    const double part = b[0] > a[0] ? (t - a[0]) / (b[0] - a[0]) : 0.0;
    for (int k = 0; k < 3; k++) {
        eye[k] = a[1 + k] + part * (b[1 + k] - a[1 + k]);
        target[k] = a[4 + k] + part * (b[4 + k] - a[4 + k]);
    }
}

modal_raster_view modal_render_view(const modal_look_camera *camera, double t, const modal_render_bounds *bounds, int32_t width,
                                    int32_t height)
{
    double eye[3], target[3], direction[3], right[3], up[3], ahead[3];
    modal_raster_view v = {.depth = {0, 0, 0, 1}, .near_w = (float)(1e-4 * modal_render_bounds_size(bounds))};
    if (camera->fitted) {
        memcpy(direction, camera->direction, sizeof direction);
        fit(bounds, camera->fov, (double)width / height, eye);
    } else {
        at_time(camera, t, eye, target);
        for (int k = 0; k < 3; k++) direction[k] = target[k] - eye[k];
    }
    modal_render_axes(direction, camera->up, right, up, ahead);
    const double focal = 0.5 * height / tan(0.5 * camera->fov);
    for (int k = 0; k < 3; k++) {
        v.origin[k] = (float)eye[k];
        v.x[k] = (float)(focal * right[k] + 0.5 * width * ahead[k]);
        v.y[k] = (float)(-focal * up[k] + 0.5 * height * ahead[k]);
        v.w[k] = (float)ahead[k];
    }
    return v;
}

static double length_of(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* Turned by a share of a whole turn (O. Rodrigues, 1840). */
static void turn(const double axis[3], double share, const double from[3], double to[3])
{
    const double c = cos(2.0 * M_PI * share), s = sin(2.0 * M_PI * share), along = from[0] * axis[0] + from[1] * axis[1] + from[2] * axis[2];
    for (int k = 0; k < 3; k++)
        to[k] = c * from[k] + s * (axis[(k + 1) % 3] * from[(k + 2) % 3] - axis[(k + 2) % 3] * from[(k + 1) % 3]) + (1.0 - c) * along * axis[k];
}

/* Where a fitted camera stands that sees the box around all objects from all sides, and the middle of that. */
static void stand_back(const modal_look_camera *c, const double axis[3], const modal_render_bounds *b, double aspect, double eye[3], double target[3])
{
    enum { SIDES = 32 };
    double box[6], back = 0.0, direction[3], right[3], up[3], ahead[3];
    const double high = tan(0.5 * c->fov), wide = high * aspect;
    const double *own[3] = {b->right, b->up, b->ahead};
    if (!whole_box(b, box)) memset(box, 0, sizeof box);
    for (int k = 0; k < 3; k++)
        target[k] = 0.5 * (own[0][k] * (box[0] + box[1]) + own[1][k] * (box[2] + box[3]) + own[2][k] * (box[4] + box[5]));
    for (int i = 0; i < SIDES * 8; i++) { /* each corner from each side */
        double corner[3] = {0, 0, 0}, x = 0.0, y = 0.0, z = 0.0;
        turn(axis, (double)(i / 8) / SIDES, c->direction, direction);
        modal_render_axes(direction, c->up, right, up, ahead);
        for (int k = 0; k < 3; k++)
            for (int a = 0; a < 3; a++) corner[k] += own[a][k] * (i >> a & 1 ? 0.5 : -0.5) * (box[2 * a + 1] - box[2 * a]);
        for (int k = 0; k < 3; k++) x += right[k] * corner[k], y += up[k] * corner[k], z += ahead[k] * corner[k];
        back = fmax(back, fmax(fabs(x) / wide, fabs(y) / high) * 1.05 - z);
    }
    if (!(back > 0.0)) back = 1.0;
    for (int k = 0; k < 3; k++) eye[k] = target[k] - back * c->direction[k] / length_of(c->direction);
}

modal_raster_view modal_render_turned_view(const modal_look_camera *camera, double t, double share, const modal_render_bounds *bounds, int32_t width,
                                           int32_t height)
{
    modal_look_camera turned = *camera;
    double eye[3], target[3], axis[3], from[3];
    for (int k = 0; k < 3; k++) axis[k] = camera->up[k] / length_of(camera->up);
    if (camera->fitted) stand_back(camera, axis, bounds, (double)width / height, eye, target);
    else at_time(camera, t, eye, target);
    for (int k = 0; k < 3; k++) from[k] = eye[k] - target[k];
    turn(axis, share, from, turned.eye);
    turned.fitted = 0, turned.n_keys = 0;
    for (int k = 0; k < 3; k++) turned.target[k] = target[k], turned.eye[k] += target[k];
    return modal_render_view(&turned, t, bounds, width, height);
}
