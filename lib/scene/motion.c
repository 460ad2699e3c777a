/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/scene/motion.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"

static void cross(const double *a, const double *b, double *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

static void rotation_of_quaternion(const double *q, double *m) /* w x y z, of any length */
{
    const double s = 2 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    const double result[9] = {1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y),
                              s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x),
                              s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)};
    memcpy(m, result, sizeof result);
}

static double angle_of(const double *vector) { return hypot(hypot(vector[0], vector[1]), vector[2]); }

static void quaternion_of(const double *vector, double *q)
{
    const double angle = sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
    const double s = angle > 1e-8 ? sin(0.5 * angle) / angle : 0.5;
    q[0] = cos(0.5 * angle);
    for (int i = 0; i < 3; i++) q[1 + i] = s * vector[i];
}

void modal_rotation_of(const double *vector, double *rotation)
{
    double q[4];
    quaternion_of(vector, q);
    rotation_of_quaternion(q, rotation);
}

void modal_motion_spin(const modal_scene_object *o, const double *rest, double time,
                       modal_step_pose *f)
{
    double vector[3], turn[9], arm[3], w[3], inward[3];
    for (int i = 0; i < 3; i++) {
        vector[i] = remainder(o->rate * time, 2 * 3.14159265358979323846) * o->axis[i];
        w[i] = o->rate * o->axis[i];
    }
    modal_rotation_of(vector, turn);
    memset(f, 0, sizeof *f);
    for (int i = 0; i < 3; i++) {
        arm[i] = 0;
        for (int j = 0; j < 3; j++) {
            arm[i] += turn[3 * i + j] * (rest[4 * j + 3] - o->centre[j]);
            for (int k = 0; k < 3; k++) f->rotation[3 * i + j] += turn[3 * i + k] * rest[4 * k + j];
        }
        f->position[i] = o->centre[i] + arm[i];
        f->turn[4 * i] = 1;
    }
    cross(w, arm, f->velocity);
    cross(w, f->velocity, inward);
    for (int i = 0; i < 3; i++) {
        f->acceleration[i] = inward[i];
        for (int j = 0; j < 3; j++) f->spin[i] += f->rotation[3 * j + i] * w[j];
    }
}

void modal_spline_free(modal_spline *spline)
{
    modal_free(&spline->times);
    modal_free(&spline->values);
    modal_free(&spline->bends);
    spline->n = 0;
}

modal_status modal_spline_build(modal_spline *s, int64_t n, const double *keys, modal_error *err)
{
    modal_status status = MODAL_OK;
    const double most = 3.14159265358979323846 * (1 + 1e-9); /* rad: a rotation vector with whole turns in it */
    double *diagonal = NULL;
    memset(s, 0, sizeof *s);
    s->n = n;
    MODAL_TRY(modal_alloc(&s->times, n, sizeof(double), "keys", err));
    MODAL_TRY(modal_alloc(&s->values, 7 * n, sizeof(double), "keys", err));
    MODAL_TRY(modal_alloc_zero(&s->bends, 7 * n, sizeof(double), "keys", err));
    MODAL_TRY(modal_alloc(&diagonal, n, sizeof(double), "keys", err));
    for (int64_t i = 0; i < n; i++) {
        double *value = s->values + 7 * i, along = 0;
        s->times[i] = keys[7 * i];
        memcpy(value, keys + 7 * i + 1, 3 * sizeof(double));
        quaternion_of(keys + 7 * i + 4, value + 3);
        for (int c = 3; c < 7 && i > 0; c++) along += value[c] * value[c - 7];
        if (along < 0 && (angle_of(keys + 7 * i + 4) > most || angle_of(keys + 7 * (i - 1) + 4) > most))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "key %lld: more than half a turn from the key before it; put keys in between",
                       (long long)i);
        for (int c = 3; c < 7; c++)
            if (along < 0) value[c] = -value[c];
    }
    if (n < 2) goto done; /* it stands still */
    /* the three-band system of a clamped spline, all seven columns together */
    for (int64_t i = 0; i < n; i++) {
        const double h0 = i > 0 ? s->times[i] - s->times[i - 1] : 0;
        const double h1 = i + 1 < n ? s->times[i + 1] - s->times[i] : 0;
        const double carry = i > 0 ? h0 / diagonal[i - 1] : 0;
        diagonal[i] = 2 * (h0 + h1) - carry * h0;
        for (int c = 0; c < 7; c++) {
            const double y = s->values[7 * i + c];
            const double before = i > 0 ? (y - s->values[7 * (i - 1) + c]) / h0 : 0;
            const double after = i + 1 < n ? (s->values[7 * (i + 1) + c] - y) / h1 : 0;
            s->bends[7 * i + c] = 6 * (after - before) - (i > 0 ? carry * s->bends[7 * (i - 1) + c] : 0);
        }
    }
    for (int64_t i = n; i-- > 0;) {
        const double h1 = i + 1 < n ? s->times[i + 1] - s->times[i] : 0;
        for (int c = 0; c < 7; c++) {
            const double behind = i + 1 < n ? h1 * s->bends[7 * (i + 1) + c] : 0;
            s->bends[7 * i + c] = (s->bends[7 * i + c] - behind) / diagonal[i];
        }
    }
done:
    modal_free(&diagonal);
    if (status != MODAL_OK) modal_spline_free(s);
    return status;
}

/* The key that the piece around t ends with, 1 .. n - 1; 0 before the first, n after the last. */
static int64_t piece_of(const modal_spline *s, double t)
{
    int64_t low = 0, high = s->n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (s->times[middle] <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void modal_spline_acceleration(const modal_spline *s, double a, double b, int axis, double ends[2])
{
    const int64_t i = piece_of(s, a + 0.5 * (b - a));
    ends[0] = ends[1] = 0;
    if (i == 0 || i == s->n) return;
    const double h = s->times[i] - s->times[i - 1];
    for (int e = 0; e < 2; e++) {
        const double part = ((e ? b : a) - s->times[i - 1]) / h;
        ends[e] = (1 - part) * s->bends[7 * (i - 1) + axis] + part * s->bends[7 * i + axis];
    }
}

int modal_spline_only_shifts(const modal_spline *s)
{
    for (int64_t i = 1; i < s->n; i++)
        if (memcmp(s->values + 7 * i + 3, s->values + 3, 4 * sizeof(double)) != 0) return 0;
    return 1;
}

void modal_spline_pose(const modal_spline *s, double time, double near, modal_step_pose *f)
{
    double y[7], y1[7] = {0}, y2[7] = {0};
    const int64_t end = piece_of(s, near);
    memset(f, 0, sizeof *f);
    if (end == 0 || end == s->n) {
        memcpy(y, s->values + (end == 0 ? 0 : 7 * (s->n - 1)), sizeof y);
    } else {
        const int64_t i = end - 1;
        const double h = s->times[i + 1] - s->times[i], b = (time - s->times[i]) / h, a = 1 - b;
        for (int c = 0; c < 7; c++) {
            const double y_a = s->values[7 * i + c], y_b = s->values[7 * (i + 1) + c];
            const double m_a = s->bends[7 * i + c], m_b = s->bends[7 * (i + 1) + c];
            y[c] = a * y_a + b * y_b + ((a * a * a - a) * m_a + (b * b * b - b) * m_b) * h * h / 6;
            y1[c] = (y_b - y_a) / h + ((3 * b * b - 1) * m_b - (3 * a * a - 1) * m_a) * h / 6;
            y2[c] = a * m_a + b * m_b;
        }
    }
    rotation_of_quaternion(y + 3, f->rotation);
    memcpy(f->position, y, sizeof f->position);
    memcpy(f->velocity, y1, sizeof f->velocity);
    memcpy(f->acceleration, y2, sizeof f->acceleration);
    for (int i = 0; i < 3; i++) f->turn[4 * i] = 1;
    /* with u = q / |q|: w = 2 vec(conj(u) u'), al = 2 vec(conj(u) u''), where the length of q drops out
     * of the first, and leaves -2 (q . q') / |q|^2 w in the second */
    const double *q = y + 3, *q1 = y1 + 3, *q2 = y2 + 3;
    double size = 0, along = 0, w[3], rate[3];
    for (int c = 0; c < 4; c++) {
        size += q[c] * q[c];
        along += q[c] * q1[c];
    }
    cross(q + 1, q1 + 1, w);
    cross(q + 1, q2 + 1, rate);
    for (int i = 0; i < 3; i++) {
        f->spin[i] = 2 / size * (q[0] * q1[1 + i] - q1[0] * q[1 + i] - w[i]);
        f->spin_rate[i] = 2 / size * (q[0] * q2[1 + i] - q2[0] * q[1 + i] - rate[i]) -
                          2 * along / size * f->spin[i];
    }
}
