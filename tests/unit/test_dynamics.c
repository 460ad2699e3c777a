/* SPDX-License-Identifier: Apache-2.0 */
/* Linear motions against closed forms in long double: scenes of objects that stand still, as modalsim's flags make them;
 * loads of a shape. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/registry.h"
#include "lib/base/memory.h"
#include "lib/forest/simulate.h"
#include "lib/scene/loads.h"
#include "tests/unit/oscillator_reference.h"

#define PI 3.14159265358979323846264338327950288L

enum { MOST = 8, IMPULSES = 4 };

/* An impulse on modes [0, n): jump of each one's velocity. */
typedef struct blow {
    double time;
    const double *jump; /* [n_modes] */
} blow;

/* Every mode is an object of its own, with a surface of one vertex, so that it can have any damping, axes and impulse. */
typedef struct simple {
    int32_t n;
    const double *stiffness, *damping, *initial; /* [n], the last one or NULL */
    double participation[3 * MOST], mass[MOST], pose[12 * MOST];
    double gravity[3];
    int64_t n_samples;
    const double *sample_times, *samples; /* [n_samples], [n_samples, 3] */
    int n_blows;
    const blow *blows;
    int start_static;
} simple;

static const double axes_of_the_world[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

static void simple_init(simple *s, int32_t n_modes, const double *stiffness, const double *damping)
{
    *s = (simple){.n = n_modes, .stiffness = stiffness, .damping = damping};
    for (int32_t i = 0; i < n_modes; i++) {
        s->participation[3 * i] = s->mass[i] = 1;
        memcpy(s->pose + 12 * i, axes_of_the_world, sizeof axes_of_the_world);
    }
}

/* What a basis and a scene of them point to. */
typedef struct model {
    modal_shape shapes[MOST];
    modal_object objects[MOST];
    modal_scene_object said[MOST];
    modal_scene_force forces[MOST * IMPULSES];
    float matrix[3 * MODAL_TILE];
    double origin[3];
    int32_t user[1];
    modal_basis basis;
    modal_scene scene;
} model;

static void make_model(const simple *s, model *m)
{
    memset(m, 0, sizeof *m);
    m->matrix[0] = 1; /* the vertex moves by q along x */
    for (int32_t i = 0; i < s->n; i++) {
        m->shapes[i].surface = (modal_surface){.n_vertices = 1, .rest_positions = m->origin, .user_vertex = m->user};
        m->shapes[i].modes = (modal_modes){.n_modes = 1, .modal_matrix = m->matrix, .eigenvalues = (double *)s->stiffness + i,
                                           .modal_masses = (double *)s->mass + i, .participation = (double *)s->participation + 3 * i};
        m->objects[i] = (modal_object){.shape = i, .parent = -1};
        memcpy(m->objects[i].rest_pose, s->pose + 12 * i, sizeof m->objects[i].rest_pose);
        m->said[i] = (modal_scene_object){.object = i, .motion = MODAL_SCENE_FIXED, .model = -1, .has_damping = 1,
                                          .alpha = s->damping[i]};
        if (!s->initial) continue;
        m->said[i].n_initial = 1;
        m->said[i].initial = (double *)s->initial + i;
    }
    m->basis = (modal_basis){.n_shapes = s->n, .shapes = m->shapes, .n_objects = s->n, .objects = m->objects};
    m->scene = modal_scene_default();
    m->scene.n_objects = s->n;
    m->scene.objects = m->said;
    m->scene.forces = m->forces;
    m->scene.start_static = s->start_static;
    memcpy(m->scene.gravity, s->gravity, sizeof s->gravity);
    for (int b = 0; b < s->n_blows; b++)
        for (int32_t i = 0; i < s->n; i++) {
            modal_scene_force *f = &m->forces[m->scene.n_forces++];
            *f = (modal_scene_force){.object = i, .curve = {.kind = MODAL_CURVE_PULSE, .start = s->blows[b].time}};
            for (int a = 0; a < 3; a++) f->vector[a] = s->blows[b].jump[i] * s->pose[12 * i + 4 * a]; /* the object's x */
        }
}

/* Where frames go: q and, where wanted, q' of [frames, modes]. */
typedef struct rows {
    double *q, *v;
} rows;

static modal_status put_row(void *context, const modal_simulation *run, modal_error *err)
{
    rows *r = context;
    const int64_t n = run->basis->n_objects, at = (run->state.next_frame - 1) * n;
    (void)err;
    memcpy(r->q + at, run->state.q, (size_t)n * sizeof(double));
    if (r->v) memcpy(r->v + at, run->state.v, (size_t)n * sizeof(double));
    return MODAL_OK;
}

static modal_status run_frames(const simple *s, int64_t n_frames, double fps, rows *r, const modal_progress *progress, modal_error *err)
{
    modal_status status = MODAL_OK;
    model m;
    modal_device device;
    modal_simulation run = {.scene = &m.scene, .basis = &m.basis, .device = &device, .n_threads = 1, .n_frames = n_frames, .anew = 1,
                            .progress = progress, .frame_done = put_row, .context = r};
    make_model(s, &m);
    m.scene.fps = fps;
    if (s->n_samples > 0) MODAL_TRY(modal_scene_add_record(&m.scene, s->n_samples, s->sample_times, s->samples, err));
    MODAL_TRY(modal_device_open(&device, "cpu", err));
    MODAL_TRY(modal_scene_state_alloc(&run.state, &m.basis, err));
    MODAL_TRY(modal_scene_simulate(&run, err));
done:
    modal_scene_state_free(&run.state);
    m.scene.objects = NULL;
    m.scene.forces = NULL;
    m.scene.n_objects = m.scene.n_forces = 0;
    modal_scene_free(&m.scene); /* the records */
    return status;
}

static double *no_numbers(int64_t count)
{
    double *x = malloc((size_t)count * sizeof *x + 1);
    assert_non_null(x);
    memset(x, 0xff, (size_t)count * sizeof *x); /* NaN */
    return x;
}

static double *simulate(const simple *s, int64_t n_frames, double fps, double **velocity)
{
    rows r = {no_numbers(n_frames * s->n), velocity ? no_numbers(n_frames * s->n) : NULL};
    modal_error err = {0};
    const modal_status status = run_frames(s, n_frames, fps, &r, NULL, &err);
    if (status != MODAL_OK) print_error("%s\n", err.message);
    assert_int_equal(status, MODAL_OK);
    if (velocity) *velocity = r.v;
    return r.q;
}

static void test_free_vibration(void **state)
{
    (void)state;
    const double w = 12.5;
    const double stiffness[] = {w * w, w * w, w * w, w * w};
    const double damping[] = {0, 2 * 0.05 * w, 2 * w, 2 * 2.5 * w};
    const double initial[] = {1, -0.7, 0.3, 2};
    simple s;
    simple_init(&s, 4, stiffness, damping);
    s.initial = initial;
    double *v, *q = simulate(&s, 500, 60, &v);
    for (int i = 0; i < 500; i++)
        for (int m = 0; m < 4; m++) {
            long double k = stiffness[m], d = damping[m], t = (double)i / 60.0;
            closed c = closed_form(k, d, t);
            check_close(q[4 * i + m], initial[m] * (c.rate + d * c.impulse), 1e-14L, "q");
            check_close(v[4 * i + m], -initial[m] * k * c.impulse, 1e-12L, "q'");
        }
    free(q);
    free(v);
}

static const double mixed_stiffness[] = {4, 900, 900, 900, 2.5e5, 0.01};
static const double mixed_damping[] = {0.2, 0, 60, 200, 15, 0.05};
enum { MIXED = 6 };

static void test_step_and_ramp(void **state)
{
    (void)state;
    simple s;
    simple_init(&s, MIXED, mixed_stiffness, mixed_damping);
    s.gravity[0] = -9.81;
    double *q = simulate(&s, 400, 48, NULL);
    for (int i = 1; i < 400; i++)
        for (int m = 0; m < MIXED; m++) {
            long double wanted =
                -9.81L * closed_form(mixed_stiffness[m], mixed_damping[m], (double)i / 48.0).step;
            check_close(q[MIXED * i + m], wanted, 1e-12L * fabsl(wanted) + 1e-14L / mixed_stiffness[m],
                        "step");
        }
    free(q);

    const double times[] = {0, 100}, samples[] = {0, 0, 0, -300, 5, 5};
    s.gravity[0] = 0;
    s.n_samples = 2;
    s.sample_times = times;
    s.samples = samples;
    q = simulate(&s, 400, 48, NULL);
    for (int i = 1; i < 400; i++)
        for (int m = 0; m < MIXED; m++) {
            long double e[4][4], t = (double)i / 48.0;
            exponential(mixed_damping[m] * t, mixed_stiffness[m] * t * t, e);
            long double wanted = 3 * e[0][3] * t * t * t;
            check_close(q[MIXED * i + m], wanted, 1e-13L * fabsl(wanted), "ramp");
        }
    free(q);
}

/* The piecewise-linear load as a sum of ramps, one from each breakpoint: the exact response is the
 * same sum of ramp responses, whatever the order in which a program goes through the breakpoints. */
static void test_harmonic_load_by_lines(void **state)
{
    (void)state;
    enum { N = 121 };
    double times[N], samples[3 * N] = {0};
    for (int i = 0; i < N; i++) {
        times[i] = 0.0173 * i; /* no multiple of the frame time */
        samples[3 * i] = 8 * sin(2 * (double)PI * 3 * times[i]);
    }
    samples[3 * (N - 1)] = 0; /* ends without a jump */
    simple s;
    simple_init(&s, MIXED, mixed_stiffness, mixed_damping);
    s.n_samples = N;
    s.sample_times = times;
    s.samples = samples;
    enum { FRAMES = 91 };
    double *q = simulate(&s, FRAMES, 30, NULL);
    for (int m = 0; m < MIXED; m++)
        for (int i = 0; i < FRAMES; i++) {
            long double t = (double)i / 30.0, sum = 0, size = 0, before = 0;
            for (int j = 0; j < N && times[j] < t; j++) {
                long double slope =
                    j + 1 < N ? -((long double)samples[3 * j + 3] - samples[3 * j]) /
                                    ((long double)times[j + 1] - times[j])
                              : 0;
                closed c = closed_form(mixed_stiffness[m], mixed_damping[m], t - times[j]);
                sum += (slope - before) * c.ramp;
                before = slope;
            }
            size = 8 / (mixed_stiffness[m] + 1);
            check_close(q[MIXED * i + m], sum, 1e-13L * size + 1e-12L * fabsl(sum), "by lines");
        }
    free(q);
}

static void test_frame_rate_does_not_matter(void **state)
{
    (void)state;
    const double initial[] = {0.1, 0.2, -0.3, 0.4, 0.01, 1}, jump[] = {1, 2, 3, 4, 5, 6};
    const double times[] = {-0.5, 0.71, 0.9, 1.33}, samples[] = {1, 0, 0, 4, 0, 0, -9, 0, 0, 2, 0, 0};
    const blow impulses[] = {{1.1, jump}, {0.05, jump}, {0, jump}};
    simple s;
    simple_init(&s, MIXED, mixed_stiffness, mixed_damping);
    s.initial = initial;
    s.n_samples = 4;
    s.sample_times = times;
    s.samples = samples;
    s.n_blows = 3;
    s.blows = impulses;
    s.gravity[0] = 9.81;
    double *coarse = simulate(&s, 21, 10, NULL);
    const int factors[] = {3, 7, 1000};
    for (int f = 0; f < 3; f++) {
        double *fine = simulate(&s, 20 * factors[f] + 1, 10 * factors[f], NULL);
        for (int i = 0; i <= 20; i++)
            for (int m = 0; m < MIXED; m++)
                check_close(fine[MIXED * i * factors[f] + m], coarse[MIXED * i + m],
                            1e-12L * fabsl(coarse[MIXED * i + m]) + 1e-14L, "another rate");
        free(fine);
    }
    free(coarse);
}

static void test_energy_stays(void **state)
{
    (void)state;
    enum { FRAMES = 100001 };
    const double stiffness[] = {1, 3947.8417604357433, 1e6}, damping[3] = {0};
    const double initial[] = {1, 1, 1};
    simple s;
    simple_init(&s, 3, stiffness, damping);
    s.initial = initial;
    double *v, *q = simulate(&s, FRAMES, 60, &v);
    double most = 0;
    for (int64_t i = 0; i < FRAMES; i++)
        for (int m = 0; m < 3; m++) {
            double energy = v[3 * i + m] * v[3 * i + m] / stiffness[m] + q[3 * i + m] * q[3 * i + m];
            check_close(energy, 1, 1e-14L, "energy");
            most = fmax(most, fabs(q[3 * i + m] - 1));
        }
    assert_true(most > 1.99); /* it moved */
    /* and the phase has not drifted after 1.7 million radians */
    check_close(q[3 * (FRAMES - 1) + 2], cosl(1000 * (long double)(100000 / 60.0)), 1e-12L, "phase");
    free(q);
    free(v);
}

static void test_impulse_between_frames(void **state)
{
    (void)state;
    const double jump[] = {1, -2, 3, 4, 50, 0.5};
    const double at = 0.2718281828;
    const blow impulse = {at, jump};
    simple s;
    simple_init(&s, MIXED, mixed_stiffness, mixed_damping);
    s.n_blows = 1;
    s.blows = &impulse;
    double *v, *q = simulate(&s, 101, 25, &v);
    for (int i = 0; i < 101; i++)
        for (int m = 0; m < MIXED; m++) {
            long double t = (double)i / 25.0 - (long double)at;
            closed c = closed_form(mixed_stiffness[m], mixed_damping[m], t);
            long double wanted = t <= 0 ? 0 : jump[m] * c.impulse;
            check_close(q[MIXED * i + m], wanted, 1e-12L * fabsl(jump[m]) / sqrtl(mixed_stiffness[m]),
                        "q");
            if (t <= 0) assert_true(q[MIXED * i + m] == 0 && v[MIXED * i + m] == 0);
        }
    free(q);
    free(v);

    /* two of them, the later one first */
    const blow swapped[] = {{1.5, jump}, {at, jump}};
    s.n_blows = 2;
    s.blows = swapped;
    q = simulate(&s, 101, 25, NULL);
    for (int i = 0; i < 101; i++)
        for (int m = 0; m < MIXED; m++) {
            long double t = (double)i / 25.0, wanted = 0;
            for (int j = 0; j < 2; j++)
                if (t > swapped[j].time)
                    wanted += jump[m] * closed_form(mixed_stiffness[m], mixed_damping[m],
                                                    t - swapped[j].time).impulse;
            check_close(q[MIXED * i + m], wanted, 1e-12L * fabsl(jump[m]) / sqrtl(mixed_stiffness[m]),
                        "two");
        }
    free(q);
    s.n_blows = 1;

    /* at the time of a frame: that frame is still before it, also frame 0 */
    for (int frame = 0; frame < 3; frame += 2) {
        const blow on = {(double)frame / 25, jump};
        s.blows = &on;
        q = simulate(&s, 6, 25, &v);
        for (int i = 0; i <= frame; i++)
            for (int m = 0; m < MIXED; m++)
                assert_true(q[MIXED * i + m] == 0 && v[MIXED * i + m] == 0);
        for (int m = 0; m < MIXED; m++) {
            closed c = closed_form(mixed_stiffness[m], mixed_damping[m], 1 / 25.0L);
            check_close(q[MIXED * (frame + 1) + m], jump[m] * c.impulse, 1e-13L, "q after");
        }
        free(q);
        free(v);
    }
}

static void test_base_acceleration_is_gravity_backwards(void **state)
{
    (void)state;
    const double times[] = {-1, 0.4, 10}, samples[] = {1, -2, 3, 1, -2, 3, 1, -2, 3};
    simple gravity, base;
    simple_init(&gravity, MIXED, mixed_stiffness, mixed_damping);
    simple_init(&base, MIXED, mixed_stiffness, mixed_damping);
    for (int m = 0; m < 3 * MIXED; m++)
        gravity.participation[m] = base.participation[m] = 1 + 0.3 * m;
    for (int axis = 0; axis < 3; axis++) gravity.gravity[axis] = -samples[axis];
    base.n_samples = 3;
    base.sample_times = times;
    base.samples = samples;
    double *a = simulate(&gravity, 200, 30, NULL), *b = simulate(&base, 200, 30, NULL);
    double most = 0;
    for (int i = 0; i < 200 * MIXED; i++) {
        check_close(b[i], a[i], 1e-12L * fabsl(a[i]) + 1e-15L, "base");
        most = fmax(most, fabs(a[i]));
    }
    assert_true(most > 1);
    free(a);
    free(b);
}

static void test_base_acceleration_is_zero_outside(void **state)
{
    (void)state;
    const double k = 900, d = 60, times[] = {0.5, 1}, samples[] = {-2, 0, 0, -2, 0, 0};
    simple s;
    simple_init(&s, 1, &k, &d);
    s.n_samples = 2;
    s.sample_times = times;
    s.samples = samples;
    double *q = simulate(&s, 61, 30, NULL);
    for (int i = 0; i <= 60; i++) {
        long double t = i / 30.0L, wanted = 0;
        if (t > 0.5L) wanted += 2 * closed_form(k, d, t - 0.5L).step;
        if (t > 1) wanted -= 2 * closed_form(k, d, t - 1).step;
        check_close(q[i], wanted, 1e-16L, "pulse");
    }
    free(q);
}

static void test_static_equilibrium_stays(void **state)
{
    (void)state;
    const double times[] = {0, 50}, samples[] = {3, 0, 0, 3, 0, 0};
    simple s;
    simple_init(&s, MIXED, mixed_stiffness, mixed_damping);
    s.gravity[0] = -9.81;
    s.n_samples = 2;
    s.sample_times = times;
    s.samples = samples;
    s.start_static = 1;
    double *q = simulate(&s, 1000, 24, NULL);
    for (int i = 0; i < 1000; i++)
        for (int m = 0; m < MIXED; m++)
            check_close(q[MIXED * i + m], -12.81L / mixed_stiffness[m],
                        2e-15L * 12.81L / mixed_stiffness[m], "still");
    free(q);
    /* a free particle has no equilibrium under a load, and needs none without one */
    const double zero = 0;
    simple_init(&s, 1, &zero, &zero);
    s.start_static = 1;
    q = simulate(&s, 2, 1, NULL);
    assert_true(q[0] == 0 && q[1] == 0);
    free(q);
    s.gravity[0] = 1;
    double out;
    rows r = {&out, NULL};
    modal_error err = {0};
    assert_int_equal(run_frames(&s, 1, 1, &r, NULL, &err), MODAL_ERROR_INPUT);
    assert_string_equal(err.message, "static: object 0: mode 0 has no stiffness, and a load of 1");
}

static void test_free_particle_falls(void **state)
{
    (void)state;
    const double zero[2] = {0}, drag[2] = {0, 0.25}, initial[2] = {0.5, 0.5}, jump[2] = {3, 3};
    const blow impulse = {1, jump};
    simple s;
    simple_init(&s, 2, zero, drag);
    s.gravity[0] = -10;
    s.initial = initial;
    s.n_blows = 1;
    s.blows = &impulse;
    double *q = simulate(&s, 41, 8, NULL);
    for (int i = 0; i <= 40; i++) {
        long double t = i / 8.0L, after = t > 1 ? t - 1 : 0, c = 0.25L;
        check_close(q[2 * i], 0.5L - 5 * t * t + 3 * after, 1e-13L, "fall");
        check_close(q[2 * i + 1],
                    0.5L - 10 / c * (t + expm1l(-c * t) / c) - 3 / c * expm1l(-c * after), 1e-13L,
                    "fall with drag");
    }
    free(q);
}

static void test_objects_have_their_own_axes(void **state)
{
    (void)state;
    /* turned by 90 degrees about z: the shape's x is the world's y */
    const double turned[12] = {0, -1, 0, 7, 1, 0, 0, 8, 0, 0, 1, 9};
    const double k[] = {25, 100, 400, 100, 400, 25}, d[] = {0.5, 0, 1, 0, 1, 0.5}, mass[] = {1, 2, 4, 2, 4, 1};
    const double part[][3] = {{-1, 0.5, 0.25}, {1, 2, 3}, {4, 5, 6}, {1, 2, 3}, {4, 5, 6}, {-1, 0.5, 0.25}};
    const int is_turned[] = {0, 1, 1, 0, 0, 1};
    const double jump[] = {0, 0, 20, 0, 20, 0}; /* N s, over the modal mass 5 m/s */
    const blow blows = {0, jump};
    simple s;
    simple_init(&s, 6, k, d);
    for (int m = 0; m < 6; m++) {
        s.mass[m] = mass[m];
        memcpy(s.participation + 3 * m, part[m], sizeof part[m]);
        if (is_turned[m]) memcpy(s.pose + 12 * m, turned, sizeof turned);
    }
    memcpy(s.gravity, (double[3]){10, 20, 30}, sizeof s.gravity);
    s.n_blows = 1;
    s.blows = &blows;
    double *q = simulate(&s, 30, 24, NULL);
    /* R^T g = (20, -10, 30) for the turned ones */
    const long double loads[6] = {-10 + 10 + 7.5L, (20 - 20 + 90) / 2.0L, (80 - 50 + 180) / 4.0L,
                                  (10 + 40 + 90) / 2.0L, (40 + 100 + 180) / 4.0L, -20 - 5 + 7.5L};
    for (int i = 0; i < 30; i++)
        for (int m = 0; m < 6; m++) {
            closed c = closed_form(k[m], d[m], (double)i / 24.0);
            long double wanted = loads[m] * c.step + (jump[m] > 0 ? 5 * c.impulse : 0);
            check_close(q[6 * i + m], wanted, 1e-13L, "object");
        }
    free(q);
}

/* ---- loads of a shape ---- */

static void test_loads(void **state)
{
    (void)state;
    enum { V = 40, R = 2 };
    double rest[3 * V], masses[R] = {1, 2};
    int32_t user[V];
    float matrix[2 * R * 3 * MODAL_TILE] = {0};
    for (int v = 0; v < V; v++) {
        rest[3 * v] = v;
        rest[3 * v + 1] = rest[3 * v + 2] = 0;
        user[v] = V - 1 - v;
        for (int k = 0; k < R; k++)
            for (int a = 0; a < 3; a++)
                matrix[((v / 32 * R + k) * 3 + a) * 32 + v % 32] = (float)(100 * k + 10 * a + v);
    }
    const modal_shape shape = {.surface.n_vertices = V, .surface.rest_positions = rest, .surface.user_vertex = user,
                               .modes.n_modes = R, .modes.modal_matrix = matrix, .modes.modal_masses = masses};
    const double turned[12] = {0, -1, 0, 5, 1, 0, 0, 0, 0, 0, 1, 0}; /* world (5, v, 0) */
    const double unit[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    assert_int_equal(modal_surface_stored_vertex(&shape.surface, 0), V - 1);
    assert_int_equal(modal_surface_stored_vertex(&shape.surface, 33), 6);
    assert_int_equal(modal_surface_stored_vertex(&shape.surface, V), -1);
    assert_int_equal(modal_surface_stored_vertex(&shape.surface, -1), -1);
    double distance = NAN;
    const double beside[3] = {5, 34.2, 3}, between[3] = {10.5, 0, 0};
    assert_int_equal(modal_surface_nearest_vertex(&shape.surface, turned, beside, &distance), 34);
    check_close(distance, sqrtl(0.04L + 9), 1e-14L, "distance");
    /* between 10 and 11: the lower user index, which is the higher stored one */
    assert_int_equal(modal_surface_nearest_vertex(&shape.surface, unit, between, &distance), 11);
    double jump[R];
    modal_impulse_jump(&shape, turned, 34, (double[3]){2, 3, 5}, jump);
    /* R^T J = (3, -2, 5) */
    check_close(jump[0], 3 * 34 - 2 * 44 + 5 * 54, 0, "jump 0");
    check_close(jump[1], (3 * 134 - 2 * 144 + 5 * 154) / 2.0L, 0, "jump 1");
}

/* ---- refusals ---- */

static void test_not_finite(void **state)
{
    (void)state;
    const double one = 1;
    double q[2];
    simple s;
    rows r = {q, NULL};
    modal_error err = {0};
    simple_init(&s, 1, &one, &one);
    s.gravity[0] = 1e308;
    s.participation[0] = 1e10;
    assert_int_equal(run_frames(&s, 2, 1, &r, NULL, &err), MODAL_ERROR_NOT_CONVERGED);
    assert_string_equal(err.message, "object 0: t = 1 s: not finite; try smaller loads, initial values or velocities");
}

static void test_frame_count(void **state)
{
    (void)state;
    assert_int_equal(modal_scene_frame_count(0, 24), 1);
    assert_int_equal(modal_scene_frame_count(1, 24), 25);
    assert_true(0.29 * 100 < 29);
    assert_int_equal(modal_scene_frame_count(0.29, 100), 30);
    assert_int_equal(modal_scene_frame_count(0.2899, 100), 29);
    assert_int_equal(modal_scene_frame_count(2147483647, 1), 2147483648);
    assert_int_equal(modal_scene_frame_count(2147483648, 1), -1);
    assert_int_equal(modal_scene_frame_count(1e300, 1e300), -1);
}

static int interrupt(void *context, const char *stage, double fraction)
{
    (void)stage;
    assert_true(fraction >= 0 && fraction <= 1);
    return ++*(int *)context == 3;
}

static void test_interruption_and_failing_memory(void **state)
{
    (void)state;
    const double k = 1, d = 0, jump[] = {1};
    const blow impulses[] = {{0.5, jump}, {0.25, jump}};
    simple s;
    simple_init(&s, 1, &k, &d);
    s.n_blows = 2;
    s.blows = impulses;
    rows r = {no_numbers(5000), NULL};
    int calls = 0;
    const modal_progress progress = {interrupt, &calls};
    modal_error err = {0};
    assert_int_equal(run_frames(&s, 5000, 100, &r, &progress, &err), MODAL_ERROR_INTERRUPTED);
    assert_int_equal(calls, 3);
    int n = 1;
    for (;; n++) {
        memset(&err, 0, sizeof err);
        modal_alloc_fail_at(n);
        modal_status status = run_frames(&s, 20, 100, &r, NULL, &err);
        int fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        if (!fired) {
            assert_int_equal(status, MODAL_OK);
            break;
        }
        assert_int_equal(status, MODAL_ERROR_MEMORY);
        assert_true(err.message[0] != '\0');
    }
    assert_true(n > 50);
    free(r.q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_free_vibration),
        cmocka_unit_test(test_step_and_ramp),
        cmocka_unit_test(test_harmonic_load_by_lines),
        cmocka_unit_test(test_frame_rate_does_not_matter),
        cmocka_unit_test(test_energy_stays),
        cmocka_unit_test(test_impulse_between_frames),
        cmocka_unit_test(test_base_acceleration_is_gravity_backwards),
        cmocka_unit_test(test_base_acceleration_is_zero_outside),
        cmocka_unit_test(test_static_equilibrium_stays),
        cmocka_unit_test(test_free_particle_falls),
        cmocka_unit_test(test_objects_have_their_own_axes),
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_frame_count),
        cmocka_unit_test(test_interruption_and_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
