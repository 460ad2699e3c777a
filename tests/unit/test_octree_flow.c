/* SPDX-License-Identifier: Apache-2.0 */
/* Flow on surfaces: mass, a cylinder beside the upwind solution in one dimension, a sphere beside the exact one and by longitude, gravity that
 * turns with the body, a state that is gone on from, sheets of a thin wall. */
#include <omp.h>

#include "kernels/registry.h"
#include "lib/octree/flow.h"
#include "tests/unit/octree_surfaces.h"

typedef struct body {
    surface s;
    modal_octree o;
    float *positions; /* as deformed: at rest first */
    modal_device device;
} body;

static body make(surface s, int64_t resolution)
{
    body b = {.s = s, .o = connected(&s, resolution)};
    modal_error err = {0};
    b.positions = malloc(12 * (size_t)s.n_vertices);
    assert_true(b.positions != NULL);
    for (int64_t i = 0; i < 3 * s.n_vertices; i++) b.positions[i] = (float)s.positions[i];
    assert_int_equal(modal_device_open(&b.device, "cpu", &err), MODAL_OK);
    return b;
}

static void unmake(body *b)
{
    drop(&b->s);
    modal_octree_free(&b->o);
    free(b->positions);
}

static modal_flow_state dry(const body *b, double dirt)
{
    modal_flow_state state;
    modal_error err = {0};
    assert_int_equal(modal_flow_state_new(&b->o, dirt, &state, &err), MODAL_OK);
    return state;
}

static modal_flow *start(const body *b, const modal_flow_settings *settings, modal_flow_state *state)
{
    modal_flow *flow;
    modal_error err = {0};
    if (modal_flow_new(&flow, &b->device, &b->o, b->s.positions, b->s.triangles, settings, state, &err) != MODAL_OK) fail_msg("%s", err.message);
    return flow;
}

static int64_t advance(modal_flow *flow, const body *b, double time)
{
    int64_t n_steps = 0;
    modal_error err = {0};
    if (modal_flow_advance(flow, b->positions, time, &n_steps, NULL, &err) != MODAL_OK) fail_msg("%s", err.message);
    return n_steps;
}

static double coordinate(const modal_octree *o, int64_t i, int axis)
{
    return o->origin[axis] + modal_morton_squeeze((uint64_t)o->keys[i] >> axis) * o->size / (double)(1 << modal_octree_bits(o));
}

/* Rotation about an axis that is none of the lattice's. */
static void turn(double angle, double r[3][3])
{
    const double a[3] = {2.0 / 7, 3.0 / 7, 6.0 / 7}, c = cos(angle), s = sin(angle);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int k = 3 - i - j;
            r[i][j] = (i == j ? c : (j - i + 3) % 3 == 1 ? -s * a[k] : s * a[k]) + (1 - c) * a[i] * a[j];
        }
}

static void apply(double r[3][3], const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++) y[i] = r[i][0] * x[0] + r[i][1] * x[1] + r[i][2] * x[2];
}

/* ---- mass ---- */

static void test_mass(void **unused)
{
    (void)unused;
    body b = make(grid(60, 30, 1, 1, torus_at), 32);
    static const modal_flow_source source = {{11.4, -3, 0.42}, 0.2, 1e-3};
    for (int k = 0; k < 2; k++) {
        modal_flow_state state = dry(&b, 0.02);
        const modal_flow_settings settings = {.gravity = {1, 2, -9}, .mobility = 0.01, .rain = k ? 1e-3 : 0, .absorption = k ? 0.05 : 0,
                                              .evaporation = k ? 0.02 : 0, .film = 0.01, .carries_dirt = 1, .n_sources = k, .sources = &source};
        for (int64_t i = 0; i < state.n_samples && !k; i++) state.liquid[i] = b.o.areas[i] * (float)(1 + i % 3);
        state.initial = modal_flow_liquid(&state);
        modal_flow *flow = start(&b, &settings, &state);
        int64_t steps = 0;
        for (int f = 1; steps < 1000; f++) { /* it sways meanwhile */
            for (int64_t i = 0; i < b.s.n_vertices; i++) {
                const double *x = b.s.positions + 3 * i;
                b.positions[3 * i] = (float)(x[0] + 0.3 * sin(0.2 * f) * x[2]);
                b.positions[3 * i + 1] = (float)(x[1] * (1 + 0.1 * sin(0.3 * f)));
            }
            steps += advance(flow, &b, 0.25 * f);
        }
        double least = 0;
        for (int64_t i = 0; i < state.n_samples; i++) least = fmin(least, (double)fminf(fminf(state.liquid[i], state.wetness[i]), state.dirt[i]));
        const double want = state.initial + state.added - state.evaporated, error = fabs(modal_flow_liquid(&state) / want - 1);
        const double dirt = fabs(modal_flow_dirt(&state) / state.initial_dirt - 1);
        print_message("%lld steps: %g kg at first, %g came, %g went: liquid to %.1e, dirt to %.1e\n", (long long)steps, state.initial, state.added,
                      state.evaporated, error, dirt);
        assert_true(error <= 1e-6 && dirt <= 1e-6);
        assert_true(least == 0); /* never negative */
        if (k) assert_true(fabs(state.added / state.time - 1e-3) > 1e-3 && state.evaporated > 0.1 * state.added);
        else assert_true(state.added == 0 && state.evaporated == 0);
        modal_flow_delete(flow);
        modal_flow_state_free(&state);
    }
    unmake(&b);
}

/* ---- a cylinder ---- */

static double tilt; /* of the cylinder, rad */

static void cylinder_at(double u, double v, double x[3])
{
    double r[3][3];
    const double at[3] = {0.5 * cos(2 * M_PI * u), 0.5 * sin(2 * M_PI * u), 2 * (1 - v)};
    turn(tilt, r);
    apply(r, at, x);
}

static void test_cylinder(void **unused)
{
    (void)unused;
    for (int k = 0; k < 3; k++) {
        tilt = 0.7 * k;
        double r[3][3], down[3] = {0, 0, -9.81}, g[3];
        turn(tilt, r);
        apply(r, down, g);
        body b = make(grid(90, 40, 1, 0, cylinder_at), 64);
        modal_flow_state state = dry(&b, 0);
        const modal_flow_settings settings = {.gravity = {g[0], g[1], g[2]}, .mobility = 0.01};
        const double cell = b.o.size / 64, v = 0.01 * 9.81;
        enum { LEVELS = 300 };
        double exact[LEVELS] = {0}, got[LEVELS] = {0}, middle[2] = {0}, spread[2] = {0}, mass = 0, distance = 0;
        for (int pass = 0; pass < 2; pass++) {
            if (pass) {
                modal_flow *flow = start(&b, &settings, &state);
                const int64_t steps = advance(flow, &b, 6);
                const double c = v * 6 / (double)steps / cell;
                for (int64_t s = 0; s < steps; s++)
                    for (int i = 0; i < LEVELS - 1; i++) exact[i] += c * (exact[i + 1] - exact[i]);
                modal_flow_delete(flow);
            }
            mass = 0;
            for (int64_t i = 0; i < state.n_samples; i++) { /* heights above the lower end, a ring of liquid near the upper */
                double x[3], z = 0;
                for (int j = 0; j < 3; j++) x[j] = coordinate(&b.o, i, j), z -= x[j] * g[j] / 9.81;
                if (!pass && fabs(z - 1.6) < 0.1) state.liquid[i] = b.o.areas[i];
                const double m = (double)state.liquid[i];
                mass += m;
                middle[pass] += m * z;
                const int level = (int)floor((z + 0.3) / cell + 0.5);
                assert_true(level >= 0 && level < LEVELS);
                (pass ? got : exact)[level] += m;
            }
            middle[pass] /= mass;
        }
        for (int i = 0; i < LEVELS; i++) {
            const double d = (i - 0.5) * cell - 0.3 - middle[1];
            distance += fabs(got[i] - exact[i]) / mass;
            spread[0] += exact[i] / mass * d * d, spread[1] += got[i] / mass * d * d;
        }
        const double speed = (middle[0] - middle[1]) / 6, wider = sqrt(spread[1] / spread[0]);
        print_message("cylinder turned by %.1f rad: speed %.7f of %.7f m/s, levels off by %.1e of the mass, %.3f as wide\n", tilt, speed, v, distance, wider);
        assert_true(fabs(speed / v - 1) <= 1e-5);
        if (k == 0) assert_true(distance <= 1e-5); /* across the lattice steps have other lengths: */
        assert_true(fabs(wider - 1) <= 0.1);
        modal_flow_state_free(&state);
        unmake(&b);
    }
}

/* ---- a sphere ---- */

static void sphere_at(double u, double v, double x[3])
{
    x[0] = sin(M_PI * v) * cos(2 * M_PI * u), x[1] = sin(M_PI * v) * sin(2 * M_PI * u), x[2] = cos(M_PI * v);
}

static void test_sphere(void **unused)
{
    (void)unused;
    enum { BANDS = 12, SECTORS = 6 };
    body b = make(grid(180, 90, 1, 0, sphere_at), 128);
    for (int k = 0; k < 3; k++) {
        double r[3][3], down[3] = {0, 0, -9.81}, g[3];
        turn(0.9 * k, r);
        apply(r, down, g);
        modal_flow_state state = dry(&b, 0);
        const modal_flow_settings settings = {.gravity = {g[0], g[1], g[2]}, .mobility = 0.01};
        for (int64_t i = 0; i < state.n_samples; i++) state.liquid[i] = b.o.areas[i];
        modal_flow *flow = start(&b, &settings, &state);
        const double time = 5, total = modal_flow_liquid(&state);
        advance(flow, &b, time);
        double bands[BANDS] = {0}, sectors[BANDS][SECTORS] = {{0}}, worst = 0, uneven = 0;
        for (int64_t i = 0; i < state.n_samples; i++) {
            double x[3], y[3] = {0}, length = 0;
            for (int j = 0; j < 3; j++) x[j] = coordinate(&b.o, i, j), length += x[j] * x[j];
            for (int j = 0; j < 3; j++)
                for (int l = 0; l < 3; l++) y[j] += r[l][j] * x[l] / sqrt(length);
            const int band = (int)fmin(BANDS - 1, acos(fmax(-1, fmin(1, y[2]))) / M_PI * BANDS);
            const int sector = (int)fmin(SECTORS - 1, (atan2(y[1], y[0]) / (2 * M_PI) + 0.5) * SECTORS);
            bands[band] += (double)state.liquid[i];
            sectors[band][sector] += (double)state.liquid[i];
        }
        for (int i = 0; i < BANDS; i++) {
            /* tan(theta / 2) grows by exp(mobility g t / R): what is above theta now was above theta_0 */
            double share[2];
            for (int j = 0; j < 2; j++) {
                const double theta = M_PI * (i + j) / BANDS, before = 2 * atan(tan(fmin(theta, M_PI - 1e-12) / 2) * exp(-0.0981 * time));
                share[j] = (1 - cos(i + j == BANDS ? M_PI : before)) / 2;
            }
            worst = fmax(worst, fabs(bands[i] / total - (share[1] - share[0])));
            for (int j = 0; j < SECTORS; j++) uneven = fmax(uneven, fabs(sectors[i][j] * SECTORS - bands[i]) / total);
        }
        print_message("sphere, gravity turned by %.1f rad: bands of 15 degrees to %.2e of the mass, sectors of 60 degrees to %.2e\n", 0.9 * k, worst, uneven);
        assert_true(worst <= 0.01 && uneven <= 0.01);
        modal_flow_delete(flow);
        modal_flow_state_free(&state);
    }
    unmake(&b);
}

/* ---- a body that turns, a state that is gone on from, threads, sheets, refusals ---- */

static void test_turned(void **unused)
{
    (void)unused;
    body b = make(grid(60, 30, 1, 1, torus_at), 64);
    modal_flow_state states[2];
    double r[3][3], g[3] = {0, 0, -9.81}, back[3] = {0}, worst = 0, most = 0;
    turn(2.1, r);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) back[i] += r[j][i] * g[j];
    for (int k = 0; k < 2; k++) {
        const double *G = k ? g : back;
        const modal_flow_settings settings = {.gravity = {G[0], G[1], G[2]}, .mobility = 0.01, .rain = 1e-3, .absorption = 0.1};
        states[k] = dry(&b, 0);
        for (int64_t v = 0; v < b.s.n_vertices; v++) {
            double x[3] = {b.s.positions[3 * v], b.s.positions[3 * v + 1], b.s.positions[3 * v + 2]}, y[3];
            x[0] -= 10, x[1] += 3; /* float32 keeps more digits near the origin */
            apply(r, x, y);
            for (int j = 0; j < 3; j++) b.positions[3 * v + j] = (float)(k ? y[j] : x[j]);
        }
        modal_flow *flow = start(&b, &settings, &states[k]);
        for (int f = 1; f <= 20; f++) advance(flow, &b, 0.25 * f);
        modal_flow_delete(flow);
    }
    for (int64_t i = 0; i < states[0].n_samples; i++) {
        most = fmax(most, (double)states[0].liquid[i]);
        worst = fmax(worst, fabs((double)states[0].liquid[i] - (double)states[1].liquid[i]));
    }
    print_message("a turned body beside turned gravity: %.1e of the largest\n", worst / most);
    assert_true(worst <= 1e-5 * most);
    for (int k = 0; k < 2; k++) modal_flow_state_free(&states[k]);
    unmake(&b);
}

static void test_going_on(void **unused)
{
    (void)unused;
    body b = make(grid(60, 30, 1, 1, torus_at), 64);
    const modal_flow_settings settings = {.gravity = {0, 3, -9}, .mobility = 0.01, .rain = 1e-3, .absorption = 0.1, .evaporation = 0.1, .film = 0.01,
                                          .carries_dirt = 1};
    const int before = omp_get_max_threads();
    modal_flow_state whole = dry(&b, 0.1), parts = dry(&b, 0.1);
    modal_error err = {0};
    omp_set_num_threads(1);
    assert_int_equal(modal_device_open(&b.device, "cpu", &err), MODAL_OK);
    modal_flow *flow = start(&b, &settings, &whole);
    for (int f = 1; f <= 10; f++) advance(flow, &b, 0.3 * f);
    modal_flow_delete(flow);
    omp_set_num_threads(3);
    assert_int_equal(modal_device_open(&b.device, "cpu", &err), MODAL_OK);
    for (int f = 1; f <= 10; f++) { /* a new flow for every frame */
        flow = start(&b, &settings, &parts);
        advance(flow, &b, 0.3 * f);
        modal_flow_delete(flow);
    }
    omp_set_num_threads(before);
    assert_memory_equal(whole.liquid, parts.liquid, (size_t)whole.n_samples * 4);
    assert_memory_equal(whole.wetness, parts.wetness, (size_t)whole.n_samples * 4);
    assert_memory_equal(whole.dirt, parts.dirt, (size_t)whole.n_samples * 4);
    assert_true(whole.added == parts.added && whole.evaporated == parts.evaporated);
    modal_flow_state_free(&whole);
    modal_flow_state_free(&parts);
    unmake(&b);
}

static void sheets_at(double u, double v, double x[3]) { x[0] = u, x[1] = v, x[2] = 0.3 * u; }

static void test_thin_wall(void **unused)
{
    (void)unused;
    surface one = grid(8, 8, 0, 0, sheets_at), two = room(2 * one.n_vertices, 2 * one.n_triangles);
    for (int64_t i = 0; i < 3 * two.n_vertices; i++)
        two.positions[i] = one.positions[i % (3 * one.n_vertices)] - (i >= 3 * one.n_vertices && i % 3 == 2 ? 0.5 / 59 : 0);
    for (int64_t i = 0; i < 3 * two.n_triangles; i++)
        two.triangles[i] = one.triangles[i % (3 * one.n_triangles)] + (i >= 3 * one.n_triangles ? (int32_t)one.n_vertices : 0);
    body b = make(two, 64);
    modal_flow_state state = dry(&b, 0);
    const modal_flow_source source = {{0.8, 0.5, 0.24 + 0.02}, 0.1, 1e-3};
    modal_flow_settings settings = {.gravity = {0, 0, -9.81}, .mobility = 0.01};
    double on[2] = {0};
    for (int64_t i = 0; i < state.n_samples; i++) state.liquid[i] = b.o.triangles[i] < one.n_triangles ? b.o.areas[i] : 0;
    state.initial = modal_flow_liquid(&state);
    modal_flow *flow = start(&b, &settings, &state);
    advance(flow, &b, 150);
    modal_flow_delete(flow);
    for (int64_t i = 0; i < state.n_samples; i++) on[b.o.triangles[i] >= one.n_triangles] += (double)state.liquid[i];
    assert_true(fabs(on[0] / state.initial - 1) <= 1e-6);
    assert_true(on[1] == 0); /* nothing comes through */
    /* what vertices show: the upper sheet's lower end is wet, the other sheet dry */
    modal_sheets sheets;
    modal_flow_probe probe;
    modal_error err = {0};
    assert_int_equal(modal_sheets_make(&b.o, two.positions, two.n_vertices, two.triangles, two.n_triangles, &sheets, &err), MODAL_OK);
    assert_int_equal(modal_flow_probe_new(&sheets, two.n_vertices, &probe, &err), MODAL_OK);
    float *values = malloc((size_t)two.n_vertices * 4);
    assert_true(values != NULL);
    modal_flow_read(&probe, state.liquid, state.wetness, values);
    for (int64_t v = 0; v < one.n_vertices; v++) {
        assert_true(values[one.n_vertices + v] == 0);
        if (v < 9) assert_true(values[v] > 10); /* at u = 0 */
        else if (v >= 18) assert_true(values[v] < 0.01f);
    }
    for (int64_t i = 0; i < state.n_samples; i++) state.liquid[i] = 3 * b.o.areas[i]; /* constants come out */
    modal_flow_read(&probe, state.liquid, NULL, values);
    for (int64_t v = 0; v < two.n_vertices; v++) assert_true(fabsf(values[v] - 3) <= 1e-6f);
    /* refusals */
    settings.sources = &source, settings.n_sources = 1;
    modal_flow_source far = source;
    far.centre[1] = 9;
    settings.sources = &far;
    assert_int_equal(modal_flow_new(&flow, &b.device, &b.o, two.positions, two.triangles, &settings, &state, &err), MODAL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "source 0: no sample"));
    settings.sources = &source;
    err = (modal_error){0};
    flow = start(&b, &settings, &state);
    assert_int_equal(modal_flow_advance(flow, b.positions, state.time, NULL, NULL, &err), MODAL_ERROR_INPUT);
    err = (modal_error){0};
    assert_int_equal(modal_flow_advance(flow, b.positions, 1e9, NULL, NULL, &err), MODAL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "at most 100000"));
    err = (modal_error){0};
    int64_t n_flat = 0;
    memcpy(b.positions + 3 * two.triangles[0], b.positions + 3 * two.triangles[1], 12); /* triangles without area are counted */
    assert_int_equal(modal_flow_advance(flow, b.positions, 150.1, NULL, &n_flat, &err), MODAL_OK);
    assert_int_equal(n_flat, 1);
    b.positions[3 * two.triangles[4]] = NAN;
    assert_int_equal(modal_flow_advance(flow, b.positions, 150.2, NULL, NULL, &err), MODAL_ERROR_INPUT);
    modal_flow_delete(flow);
    free(values);
    modal_sheets_free(&sheets);
    modal_flow_probe_free(&probe);
    modal_flow_state_free(&state);
    drop(&one);
    unmake(&b);
}

int main(void)
{
    omp_set_num_threads(1); /* the least for a busy machine */
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mass),     cmocka_unit_test(test_cylinder), cmocka_unit_test(test_sphere),
                                       cmocka_unit_test(test_turned), cmocka_unit_test(test_going_on), cmocka_unit_test(test_thin_wall)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
