/* SPDX-License-Identifier: Apache-2.0 */
/* The sound of spheres, whose closed forms are in every book on acoustics (A. D. Pierce, Acoustics, 1989, sections 4-1
 * and 4-2), and what sound refuses. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <complex.h>

#include "lib/base/memory.h"
#include "lib/sound/sound.h"

static const double PI = 3.14159265358979323846, RHO = 1.2, C = 343;
enum { BREATHES, SLIDES, OTHER, MODES }; /* u = n, u = along x, u = n again */

/* ---- a sphere of radius a: an octahedron whose triangles are divided n times ---- */

typedef struct sphere {
    modal_basis basis;
    modal_shape shape;
    modal_object objects[2];
    modal_trajectory trajectory;
    int64_t offsets[3];
} sphere;

static int32_t corner(sphere *s, const double x[3], double a)
{
    const double length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    double y[3];
    for (int k = 0; k < 3; k++) y[k] = a * x[k] / length;
    for (int64_t v = s->shape.surface.n_vertices - 1; v >= 0; v--) {
        const double *z = s->shape.surface.rest_positions + 3 * v;
        if (fabs(z[0] - y[0]) + fabs(z[1] - y[1]) + fabs(z[2] - y[2]) < 1e-9 * a) return (int32_t)v;
    }
    memcpy(s->shape.surface.rest_positions + 3 * s->shape.surface.n_vertices, y, sizeof y);
    return (int32_t)s->shape.surface.n_vertices++;
}

static void face(sphere *s, const double corners[3][3], int n, double a)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; i + j < n; j++)
            for (int down = 0; down < 2 && i + j + down < n; down++) {
                const int at[2][3][2] = {{{i, j}, {i + 1, j}, {i, j + 1}}, {{i + 1, j}, {i + 1, j + 1}, {i, j + 1}}};
                for (int c = 0; c < 3; c++) {
                    const double w[3] = {n - at[down][c][0] - at[down][c][1], at[down][c][0], at[down][c][1]};
                    double x[3];
                    for (int k = 0; k < 3; k++) x[k] = w[0] * corners[0][k] + w[1] * corners[1][k] + w[2] * corners[2][k];
                    s->shape.surface.triangles[3 * s->shape.surface.n_triangles + c] = corner(s, x, a);
                }
                s->shape.surface.n_triangles++;
            }
}

static modal_status read_matrix(void *context, int32_t shape, int64_t begin, int64_t end, float *to, modal_error *err)
{
    const modal_shape *s = context;
    (void)shape, (void)err;
    memset(to, 0, (size_t)(end - begin) * MODES * 3 * MODAL_TILE * sizeof *to);
    for (int64_t v = begin * MODAL_TILE; v < end * MODAL_TILE && v < s->surface.n_vertices; v++) {
        const double *x = s->surface.rest_positions + 3 * v, a = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        float *u = to + (v / MODAL_TILE - begin) * MODES * 3 * MODAL_TILE + v % MODAL_TILE;
        for (int k = 0; k < 3; k++) {
            u[(3 * BREATHES + k) * MODAL_TILE] = u[(3 * OTHER + k) * MODAL_TILE] = (float)(x[k] / a);
            u[(3 * SLIDES + k) * MODAL_TILE] = k == 0;
        }
    }
    return MODAL_OK;
}

static void make_sphere(sphere *s, double a, int n)
{
    enum { MOST = 60000 };
    modal_shape *shape = &s->shape;
    memset(s, 0, sizeof *s);
    shape->surface.rest_positions = calloc(3 * MOST, sizeof(double));
    shape->surface.triangles = calloc(3 * MOST, sizeof(int32_t));
    assert_true(8 * n * n < MOST);
    for (int k = 0; k < 8; k++) {
        const double x = k & 1 ? -1 : 1, y = k & 2 ? -1 : 1, z = k & 4 ? -1 : 1;
        const double corners[3][3] = {{x, 0, 0}, {0, x * y * z > 0 ? y : 0, x * y * z > 0 ? 0 : z},
                                      {0, x * y * z > 0 ? 0 : y, x * y * z > 0 ? z : 0}};
        face(s, corners, n, a);
    }
    const int64_t nv = shape->surface.n_vertices, nt = shape->surface.n_triangles;
    shape->surface.user_vertex = calloc((size_t)nv, sizeof(int32_t));
    shape->surface.user_triangle = calloc((size_t)nt, sizeof(int32_t));
    shape->surface.boundary = calloc((size_t)nv, 1);
    shape->surface.face_offsets = calloc((size_t)nv + 1, sizeof(int64_t));
    shape->surface.faces = calloc((size_t)nt * 3, sizeof(int32_t));
    for (int64_t v = 0; v < nv; v++) shape->surface.user_vertex[v] = (int32_t)v;
    for (int64_t t = 0; t < nt; t++) shape->surface.user_triangle[t] = (int32_t)t;
    for (int64_t i = 0; i < 3 * nt; i++) shape->surface.face_offsets[shape->surface.triangles[i] + 1]++;
    for (int64_t v = 0; v < nv; v++) shape->surface.face_offsets[v + 1] += shape->surface.face_offsets[v];
    int64_t *next = calloc((size_t)nv, sizeof *next);
    for (int64_t i = 0; i < 3 * nt; i++) {
        const int32_t v = shape->surface.triangles[i];
        shape->surface.faces[shape->surface.face_offsets[v] + next[v]++] = (int32_t)(i / 3);
    }
    free(next);
    shape->modes.n_modes = MODES;
    shape->modes.frequencies = calloc(MODES, sizeof(double));
    s->basis = (modal_basis){.n_shapes = 1, .shapes = shape, .n_objects = 1, .objects = s->objects};
    for (int i = 0; i < 2; i++) {
        const double pose[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
        s->objects[i].parent = -1;
        memcpy(s->objects[i].rest_pose, pose, sizeof pose);
    }
}

static void free_sphere(sphere *s)
{
    modal_shape *shape = &s->shape;
    free(shape->surface.rest_positions), free(shape->surface.triangles), free(shape->surface.user_vertex), free(shape->surface.user_triangle);
    free(shape->surface.boundary), free(shape->surface.face_offsets), free(shape->surface.faces), free(shape->modes.frequencies);
    free(s->trajectory.q), free(s->trajectory.times), free(s->trajectory.poses);
    memset(s, 0, sizeof *s);
}

/* q_mode = amplitude sin(2 pi f t) for `seconds`. */
static void move(sphere *s, int mode, double f, double amplitude, double fps, double seconds)
{
    modal_trajectory *t = &s->trajectory;
    const int64_t n = (int64_t)round(seconds * fps) + 1;
    free(t->q), free(t->times);
    *t = (modal_trajectory){.n_frames = n, .n_objects = s->basis.n_objects, .mode_offsets = s->offsets, .poses = t->poses};
    for (int i = 0; i <= t->n_objects; i++) s->offsets[i] = i * MODES;
    t->times = calloc((size_t)n, sizeof(double));
    t->q = calloc((size_t)(n * MODES * t->n_objects), sizeof(double));
    for (int64_t i = 0; i < n; i++) {
        t->times[i] = 0.25 + (double)i / fps;
        t->q[i * MODES * t->n_objects + mode] = 1e-3 + amplitude * sin(2 * PI * f * (double)i / fps);
    }
    for (int k = 0; k < MODES; k++) s->shape.modes.frequencies[k] = f;
}

static modal_sound_request request_of(sphere *s, const modal_sound_channel *channels, int n)
{
    return (modal_sound_request){.basis = &s->basis, .matrix = {read_matrix, &s->shape}, .trajectory = &s->trajectory,
                                 .step = 1, .n = s->trajectory.n_frames, .n_channels = n, .channels = channels, .threads = 2};
}

static double *make(const modal_sound_request *r, modal_sound_plan *plan)
{
    modal_error err = {0};
    assert_int_equal(modal_sound_prepare(r, plan, &err), MODAL_OK);
    double *samples = calloc((size_t)(plan->n_samples * r->n_channels), sizeof *samples);
    assert_int_equal(modal_sound_make(r, plan, samples, &err), MODAL_OK);
    return samples;
}

/* Z of sum Z e^(-i w t), by least squares over whole periods in the middle: t = 0 is the first sample. */
static double complex part(const double *samples, int64_t n, int channels, int channel, double f)
{
    const int64_t period = (int64_t)(floor((double)n / 2 * f / MODAL_SOUND_RATE) / f * MODAL_SOUND_RATE), first = n / 4;
    double a[2][2] = {{0}}, b[2] = {0};
    for (int64_t i = first; i < first + period; i++) {
        const double w = 2 * PI * f * (double)i / MODAL_SOUND_RATE, e[2] = {cos(w), sin(w)};
        for (int j = 0; j < 2; j++) {
            b[j] += e[j] * samples[i * channels + channel];
            for (int k = 0; k < 2; k++) a[j][k] += e[j] * e[k];
        }
    }
    const double det = a[0][0] * a[1][1] - a[0][1] * a[1][0];
    return (b[0] * a[1][1] - b[1] * a[0][1]) / det + I * ((b[1] * a[0][0] - b[0] * a[1][0]) / det);
}

static double heard(sphere *s, int mode, double f, double fps, const double place[3], double complex wanted_of_acceleration)
{
    const double amplitude = 1e-7, w = 2 * PI * f;
    modal_sound_channel channel = {.place = {place[0], place[1], place[2]}};
    modal_sound_plan plan;
    move(s, mode, f, amplitude, fps, fmax(0.05, 40 / f));
    const modal_sound_request r = request_of(s, &channel, 1);
    double *samples = make(&r, &plan);
    /* q = Re(i A e^(-iwt)), so q'' = Re(-i w^2 A e^(-iwt)) */
    const double complex wanted = -I * w * w * amplitude * wanted_of_acceleration;
    const double complex got = part(samples, plan.n_samples, 1, 0, f);
    free(samples);
    return cabs(got - wanted) / cabs(wanted);
}

/* ---- tests ---- */

/* p = rho a^2 A / (1 - i k a) e^(ik(r - a)) / r. */
static void test_pulsating(void **state)
{
    (void)state;
    sphere s;
    const double a = 0.02, place[3] = {0.03, -0.05, 0.07}, far[3] = {-2, 1, 3};
    make_sphere(&s, a, 24);
    for (int i = 0; i < 8; i++) {
        const double ka = i % 2 ? 0.1 : 0.03, k = ka / a, f = k * C / (2 * PI);
        const double fps = i & 2 ? 2.5 * f : 30000, *x = i & 4 ? far : place;
        const double r = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        const double error = heard(&s, BREATHES, f, fps, x, RHO * a * a / (1 - I * ka) * cexp(I * k * (r - a)) / r);
        print_message("pulsating: ka %g, %g frames/s, r %g m: %.2e\n", ka, fps, r, error);
        assert_true(error < 0.02);
    }
    free_sphere(&s);
}

/* p = rho A cos(theta) a^3 (1 - ikr) e^(ik(r - a)) / (r^2 (2 - 2ika - k^2 a^2)), of which two thirds are the first term of
 * the integral. */
static void test_oscillating(void **state)
{
    (void)state;
    sphere s;
    const double a = 0.02, place[3] = {0.06, -0.03, 0.02}, far[3] = {2, 1, 3};
    make_sphere(&s, a, 24);
    for (int i = 0; i < 8; i++) {
        const double ka = i % 2 ? 0.1 : 0.03, k = ka / a, f = k * C / (2 * PI);
        const double fps = i & 2 ? 2.5 * f : 30000, *x = i & 4 ? far : place;
        const double r = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        const double error = heard(&s, SLIDES, f, fps, x,
                                   2.0 / 3 * RHO * x[0] / r * a * a * a * (1 - I * k * r) * cexp(I * k * (r - a)) /
                                       (r * r * (2 - 2 * I * ka - ka * ka)));
        print_message("oscillating: ka %g, %g frames/s, r %g m: %.2e\n", ka, fps, r, error);
        assert_true(error < 0.02);
    }
    free_sphere(&s);
}

/* A contact microphone has -w^2 q n.u, whatever the frames a second; frequencies that the samples cannot hold are gone. */
static void test_contact(void **state)
{
    (void)state;
    sphere s;
    make_sphere(&s, 0.02, 4);
    const modal_sound_channel channel = {.contact = 1, .vertex = 9};
    const double cases[][3] = {{500, 1250, 1}, {500, 200000, 1}, {7999, 20000, 1}, {19999, 50000, 1}, {19000, 1e6, 1}, {28000, 70000, 0},
                               {30000, 300000, 0}, {47000, 200000, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double f = cases[i][0], w = 2 * PI * f;
        modal_sound_plan plan;
        move(&s, BREATHES, f, 1e-6, cases[i][1], 0.1);
        const modal_sound_request r = request_of(&s, &channel, 1);
        double *samples = make(&r, &plan);
        assert_true(plan.n_samples == 4801 && fabs(plan.highest - f) < 1e-9 * f && plan.highest_mode == BREATHES);
        double most = 0;
        for (int64_t n = 1000; n < 3800; n++) most = fmax(most, fabs(samples[n]));
        const double error = cases[i][2] > 0 ? cabs(part(samples, plan.n_samples, 1, 0, f) / (-w * w * 1e-6 * I) - 1)
                                             : most / (w * w * 1e-6);
        print_message("contact: %g Hz, %g frames/s: %.2e\n", f, cases[i][1], error);
        assert_true(error < (cases[i][2] > 0 ? 1e-3 : 1e-3));
        free(samples);
    }
    free_sphere(&s);
}

/* A turned and moved object sounds as the listener turned and moved the other way; two objects add up; a channel does
 * not know of others; the same bytes for any number of threads; sound travels at 343 m/s. */
static void test_objects(void **state)
{
    (void)state;
    sphere s;
    modal_sound_plan plan;
    make_sphere(&s, 0.02, 8);
    const double turned[12] = {0, -1, 0, 0.5, 1, 0, 0, -0.25, 0, 0, 1, 2};
    memcpy(s.objects[1].rest_pose, turned, sizeof turned);
    s.basis.n_objects = 2;
    modal_sound_channel channels[2] = {{.place = {0.6, -0.05, 2.1}}};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) channels[1].place[k] += turned[4 * i + k] * (channels[0].place[i] - turned[4 * i + 3]);
    double *alone[2];
    for (int o = 0; o < 2; o++) {
        move(&s, o * MODES + SLIDES, 800, 1e-6, 20000, 0.05);
        modal_sound_request r = request_of(&s, channels, 2);
        alone[o] = make(&r, &plan);
        r.threads = 5;
        double *again = make(&r, &plan);
        assert_memory_equal(alone[o], again, (size_t)plan.n_samples * 2 * sizeof *again);
        free(again);
    }
    for (int64_t n = 0; n < plan.n_samples; n++) assert_true(fabs(alone[1][2 * n] - alone[0][2 * n + 1]) < 1e-9);
    assert_true(cabs(part(alone[1], plan.n_samples, 2, 0, 800)) > 1e-4);
    move(&s, SLIDES, 800, 1e-6, 20000, 0.05);
    for (int64_t f = 0; f < s.trajectory.n_frames; f++) /* objects that stay in these poses */
        s.trajectory.q[f * 2 * MODES + MODES + SLIDES] = s.trajectory.q[f * 2 * MODES + SLIDES];
    s.trajectory.poses = calloc((size_t)s.trajectory.n_frames * 24, sizeof(double));
    for (int64_t f = 0; f < s.trajectory.n_frames; f++)
        for (int o = 0; o < 2; o++) memcpy(s.trajectory.poses + (2 * f + o) * 12, s.objects[o].rest_pose, 12 * sizeof(double));
    modal_sound_request r = request_of(&s, channels, 1);
    double *both = make(&r, &plan);
    for (int64_t n = 0; n < plan.n_samples; n++)
        assert_true(fabs(both[n] - alone[0][2 * n] - alone[1][2 * n]) < 1e-9);
    free(both), free(alone[0]), free(alone[1]);

    modal_sound_channel far = {.place = {3.43, 0, 0}}; /* 0.02 m nearer: 477.2 samples to the first surface */
    s.basis.n_objects = 1;
    free(s.trajectory.poses);
    s.trajectory.poses = NULL;
    move(&s, BREATHES, 3000, 1e-6, 40000, 0.05);
    r = request_of(&s, &far, 1);
    double *late = make(&r, &plan), before = 0, after = 0;
    for (int64_t n = 0; n < 440; n++) before = fmax(before, fabs(late[n]));
    for (int64_t n = 490; n < plan.n_samples; n++) after = fmax(after, fabs(late[n]));
    assert_true(before < 1e-6 * after);
    assert_true(fabs(late[479]) + fabs(late[483]) + fabs(late[487]) > 0.3 * after);
    free(late);
    free_sphere(&s);
}

/* What does not sound does not count: neither for the frames a second nor for the samples. */
static void test_what_moves(void **state)
{
    (void)state;
    sphere s;
    modal_sound_plan plan;
    modal_error err = {0};
    make_sphere(&s, 0.02, 4);
    const modal_sound_channel channel = {.contact = 1, .vertex = 3};
    move(&s, BREATHES, 500, 1e-3, 5000, 0.1);
    const modal_sound_request r = request_of(&s, &channel, 1);
    s.shape.modes.frequencies[OTHER] = 8000;
    double *without = make(&r, &plan);
    const double share = 0.9e-4 * (500.0 * 500) / (8000.0 * 8000); /* of q: 0.9e-4 of the acceleration */
    for (int64_t f = 0; f < s.trajectory.n_frames; f++)
        s.trajectory.q[f * MODES + OTHER] = share * 1e-3 * sin(2 * PI * 8000 * (double)f / 5000 + 1);
    double *with = make(&r, &plan);
    assert_true(plan.highest == 500);
    assert_memory_equal(without, with, (size_t)plan.n_samples * sizeof *with);
    for (int64_t f = 0; f < s.trajectory.n_frames; f++) s.trajectory.q[f * MODES + OTHER] *= 2;
    assert_int_equal(modal_sound_prepare(&r, &plan, &err), MODAL_ERROR_INPUT);
    assert_string_equal(err.message, "object 0, mode 2: moves at 8000 Hz, whose sound needs at least 20000 frames a second, 5000");
    /* columns that are no natural modes: what second differences show */
    s.shape.modes.kind = MODAL_KIND_DERIVATIVES;
    for (int64_t f = 0; f < s.trajectory.n_frames; f++)
        s.trajectory.q[f * MODES + OTHER] = 1e-3 * sin(2 * PI * 1000 * (double)f / 5000);
    assert_int_equal(modal_sound_prepare(&r, &plan, &err), MODAL_OK);
    assert_true(plan.highest_mode == OTHER && plan.highest > 900 && plan.highest < 1000);
    free(without), free(with);
    free_sphere(&s);
}

static void refused(const modal_sound_request *r, modal_status status, const char *what)
{
    modal_sound_plan plan;
    modal_error err = {0};
    assert_int_equal(modal_sound_prepare(r, &plan, &err), status);
    if (!strstr(err.message, what)) fail_msg("\"%s\" is not in \"%s\"", what, err.message);
}

static void test_refused(void **state)
{
    (void)state;
    sphere s;
    modal_sound_plan plan;
    modal_error err = {0};
    make_sphere(&s, 0.02, 8);
    modal_sound_channel channel = {.place = {0, 0, 0.1}};
    move(&s, BREATHES, 1000, 1e-6, 5000, 0.01);
    modal_sound_request r = request_of(&s, &channel, 1);
    const double inside[][3] = {{0, 0, 0}, {0.01, 0, 0.01}, {0.0199, 0, 0}, {0.02, 0, 0}};
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        memcpy(channel.place, inside[i], sizeof inside[i]);
        refused(&r, MODAL_ERROR_USAGE, "listener 0: inside of object 0 or on it");
    }
    for (int k = 0; k < 3; k++) {
        channel.place[k] = 0;
        for (int c = 0; c < 3; c++) channel.place[k] += s.shape.surface.rest_positions[3 * s.shape.surface.triangles[3 * 5 + c] + k] / 3;
    }
    refused(&r, MODAL_ERROR_USAGE, "listener 0: ");
    memcpy(channel.place, (double[3]){1e7, 0, 0}, sizeof channel.place);
    refused(&r, MODAL_ERROR_USAGE, "farther than");
    memcpy(channel.place, (double[3]){0.0201, 0, 0.001}, sizeof channel.place);
    assert_int_equal(modal_sound_prepare(&r, &plan, &err), MODAL_OK);
    assert_true(plan.near_channel == 0 && plan.near_distance < plan.near_length && plan.open_object == -1);
    s.shape.surface.boundary[7] = 1; /* an open surface has no inside */
    memcpy(channel.place, inside[1], sizeof inside[1]);
    assert_int_equal(modal_sound_prepare(&r, &plan, &err), MODAL_OK);
    assert_true(plan.open_object == 0);
    memcpy(channel.place, (double[3]){0, 0, 0.1}, sizeof channel.place);

    r.n = 2;
    refused(&r, MODAL_ERROR_INPUT, "three frames");
    r.n = s.trajectory.n_frames;
    s.trajectory.times[7] += 1e-3 / 5000;
    refused(&r, MODAL_ERROR_INPUT, "frame 7 is at");
    s.trajectory.times[7] -= 1e-3 / 5000;
    r.step = 3;
    r.n = s.trajectory.n_frames / 3;
    refused(&r, MODAL_ERROR_INPUT, "at least 2500 frames a second, 1666.67");
    r.step = 1;
    r.n = s.trajectory.n_frames;
    s.trajectory.poses = calloc((size_t)s.trajectory.n_frames * 12, sizeof(double));
    for (int64_t f = 0; f < s.trajectory.n_frames; f++)
        memcpy(s.trajectory.poses + 12 * f, s.objects[0].rest_pose, 12 * sizeof(double));
    s.trajectory.poses[12 * 31 + 3] = 1e-9;
    refused(&r, MODAL_ERROR_INPUT, "frame 31, object 0: moves rigidly");
    s.trajectory.poses[12 * 31 + 3] = 0;
    assert_int_equal(modal_sound_prepare(&r, &plan, &err), MODAL_OK);
    double *samples = calloc((size_t)plan.n_samples, sizeof *samples);
    for (int i = 1, fired = 1; fired; i++) { /* every allocation fails once */
        memset(&err, 0, sizeof err);
        modal_alloc_fail_at(i);
        const modal_status got = modal_sound_make(&r, &plan, samples, &err);
        fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        assert_int_equal(got, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
        assert_true(i < 100);
    }
    for (int64_t f = 0; f < s.trajectory.n_frames; f++) s.trajectory.q[MODES * f] *= 1e308;
    assert_int_equal(modal_sound_make(&r, &plan, samples, &err), MODAL_ERROR_INPUT);
    free(samples);
    free_sphere(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pulsating), cmocka_unit_test(test_oscillating), cmocka_unit_test(test_contact),
        cmocka_unit_test(test_objects),   cmocka_unit_test(test_what_moves),  cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
