/* SPDX-License-Identifier: Apache-2.0 */
/* Laws of materials: stresses are derivatives of energies, rigid motions cost nothing, turning the world or the
 * body changes what it must, and closed forms. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/laws/lanes.h"
#include "lib/laws/law.h"

static unsigned random_state = 7;
static double random_unit(void) /* [-1, 1) */
{
    random_state = random_state * 1664525u + 1013904223u;
    return (double)(random_state >> 8) / (1 << 23) - 1;
}

/* A rotation by `angle` about (1, 2, 2) / 3, row-major. */
static void rotation(double angle, double r[9])
{
    const double u[3] = {1.0 / 3, 2.0 / 3, 2.0 / 3}, c = cos(angle), s = sin(angle);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            r[3 * i + j] = u[i] * u[j] * (1 - c) + (i == j ? c : ((i - j + 3) % 3 == 1 ? s : -s) * u[3 - i - j]);
}

static modal_material material_of(int orthotropic)
{
    modal_material m = {.density = 1, .young = 2.5, .poisson = 0.31};
    if (!orthotropic) return m;
    m = (modal_material){.density = 1,
                         .kind = MODAL_MATERIAL_ORTHOTROPIC,
                         .orthotropic = {11, 0.9, 0.6, 0.35, 0.4, 0.45, 0.8, 0.7, 0.1}};
    rotation(0.7, m.axes);
    return m;
}

static double largest(int n, const double *x)
{
    double top = 0;
    for (int i = 0; i < n; i++) top = fmax(top, fabs(x[i]));
    return top;
}

/* out = a b, or a^T b, of 3 x 3. */
static void multiply(const double a[9], int transposed, const double b[9], double out[9])
{
    for (int i = 0; i < 9; i++) {
        out[i] = 0;
        for (int k = 0; k < 3; k++) out[i] += a[transposed ? 3 * k + i / 3 : 3 * (i / 3) + k] * b[3 * k + i % 3];
    }
}

/* H of F = Q F. */
static void turn(const double q[9], const double h[9], double out[9])
{
    double f[9];
    for (int i = 0; i < 9; i++) f[i] = h[i] + (i % 4 == 0);
    multiply(q, 0, f, out);
    for (int i = 0; i < 9; i += 4) out[i] -= 1;
}

typedef void check(const modal_law *law, const double h[9]);

/* Both laws, both kinds of material, some gradients from small to large. */
static void for_all(check *one)
{
    for (int kind = 0; kind < MODAL_LAWS_OF_C; kind++)
        for (int orthotropic = 0; orthotropic < 2; orthotropic++)
            for (int n = 0; n < 12; n++) {
                const modal_material material = material_of(orthotropic);
                const double size = n % 3 == 0 ? 1e-3 : n % 3 == 1 ? 0.1 : 0.4;
                modal_law law;
                double h[9];
                for (int i = 0; i < 9; i++) h[i] = size * random_unit();
                modal_law_init((modal_law_kind)kind, &material, &law);
                one(&law, h);
            }
}

static double energy_at(const modal_law *law, const double h[9], int i, double step)
{
    double moved[9];
    memcpy(moved, h, sizeof moved);
    moved[i] += step;
    return modal_law_energy(law, moved);
}

/* The energies are polynomials of fourth degree: central differences of fourth order are exact but for rounding. */
static void one_difference(const modal_law *law, const double h[9])
{
    double first[9], tangent[9][9], step = 0.05;
    modal_law_first_stress(law, h, first);
    modal_law_tangent(law, h, tangent);
    const double top = fmax(largest(9, first), step * largest(81, tangent[0]));
    for (int i = 0; i < 9; i++) {
        const double slope = (8 * (energy_at(law, h, i, step) - energy_at(law, h, i, -step)) -
                              (energy_at(law, h, i, 2 * step) - energy_at(law, h, i, -2 * step))) /
                             (12 * step);
        if (!(fabs(slope - first[i]) <= 1e-13 * top)) fail_msg("stress %d: %.16g, %.16g", i, first[i], slope);
        double at[4][9];
        for (int k = 0; k < 4; k++) {
            double moved[9];
            memcpy(moved, h, sizeof moved);
            moved[i] += (k < 2 ? k - 2 : k - 1) * step;
            modal_law_first_stress(law, moved, at[k]);
        }
        for (int j = 0; j < 9; j++) {
            const double change = (8 * (at[2][j] - at[1][j]) - (at[3][j] - at[0][j])) / (12 * step);
            if (!(fabs(change - tangent[j][i]) <= 1e-13 * largest(81, tangent[0])))
                fail_msg("%s: tangent %d %d: %.16g, %.16g", modal_law_name(law->kind), j, i, tangent[j][i], change);
            assert_true(fabs(tangent[i][j] - tangent[j][i]) <= 1e-14 * largest(81, tangent[0]));
        }
    }
}

static void test_differences(void **state)
{
    (void)state;
    for_all(one_difference);
}

/* The hyperelastic laws: stresses and tangents by differences whose error falls as the fourth power of the step; energies by
 * their formulas; at small strains all are St. Venant-Kirchhoff's. */
static void test_hyperelastic(void **state)
{
    (void)state;
    const modal_material material = material_of(0);
    for (int kind = MODAL_LAW_NEO_HOOKEAN; kind < MODAL_LAWS; kind++)
        for (int n = 0; n < 40; n++) {
            const double size = n % 2 ? 0.25 : 1e-6;
            modal_law law, stvk;
            double h[9], first[9], other[9], tangent[9][9], f[9], square = 0;
            modal_law_init((modal_law_kind)kind, &material, &law);
            modal_law_init(MODAL_LAW_STVK, &material, &stvk);
            for (int i = 0; i < 9; i++) h[i] = size * random_unit(), f[i] = h[i] + (i % 4 == 0), square += f[i] * f[i];
            const double mu = law.elasticity.mu, lambda = law.elasticity.lambda, bulk = lambda + 2 * mu / 3;
            const double j = f[0] * (f[4] * f[8] - f[5] * f[7]) + f[1] * (f[5] * f[6] - f[3] * f[8]) +
                             f[2] * (f[3] * f[7] - f[4] * f[6]);
            modal_law_first_stress(&law, h, first);
            modal_law_tangent(&law, h, tangent);
            if (n % 2 == 0) {
                modal_law_first_stress(&stvk, h, other);
                for (int i = 0; i < 9; i++) assert_true(fabs(first[i] - other[i]) <= 20 * size * largest(9, other));
                assert_true(fabs(modal_law_energy(&law, h) - modal_law_energy(&stvk, h)) <=
                            100 * size * modal_law_energy(&stvk, h));
                continue;
            }
            const double energy = kind == MODAL_LAW_NEO_HOOKEAN
                                      ? mu / 2 * (pow(j, -2.0 / 3) * square - 3) + bulk / 2 * (j - 1) * (j - 1)
                                      : mu / 2 * (square - 3) - mu * log(j) + lambda / 2 * (j - 1) * (j - 1);
            assert_true(fabs(modal_law_energy(&law, h) - energy) <= 1e-14 * (energy + mu));
            for (int i = 0; i < 9; i++) {
                double error[2];
                for (int half = 0; half < 2; half++) {
                    const double step = half ? 5e-3 : 1e-2;
                    error[half] = (8 * (energy_at(&law, h, i, step) - energy_at(&law, h, i, -step)) -
                                   (energy_at(&law, h, i, 2 * step) - energy_at(&law, h, i, -2 * step))) /
                                      (12 * step) - first[i];
                }
                assert_true(fabs(error[0]) <= 1e-3 * largest(9, first));
                assert_true(fabs(error[1] - error[0] / 16) <= 0.3 * fabs(error[0] / 16) + 1e-11);
                double at[4][9];
                for (int k = 0; k < 4; k++) {
                    double moved[9];
                    memcpy(moved, h, sizeof moved);
                    moved[i] += (k < 2 ? k - 2 : k - 1) * 1e-3;
                    modal_law_first_stress(&law, moved, at[k]);
                }
                for (int q = 0; q < 9; q++) {
                    const double change = (8 * (at[2][q] - at[1][q]) - (at[3][q] - at[0][q])) / 12e-3;
                    assert_true(fabs(change - tangent[q][i]) <= 1e-7 * largest(81, tangent[0]));
                }
            }
        }
}

/* The stresses are one another's: P = F S, sigma det F = P F^T; the energy of the linear law is half of stress
 * times strain. */
static void one_relation(const modal_law *law, const double h[9])
{
    double f[9], first[9], second[9], cauchy[9], expected[9], strain[9], energy = 0;
    for (int i = 0; i < 9; i++) f[i] = (law->kind == MODAL_LAW_LINEAR ? 0 : h[i]) + (i % 4 == 0);
    modal_law_first_stress(law, h, first);
    modal_law_second_stress(law, h, second);
    const double det = modal_law_cauchy_stress(law, h, cauchy), top = largest(9, first);
    multiply(f, 0, second, expected);
    for (int i = 0; i < 9; i++) assert_true(fabs(expected[i] - first[i]) <= 1e-14 * top);
    for (int i = 0; i < 9; i++) {
        double sum = 0;
        for (int k = 0; k < 3; k++) sum += first[3 * (i / 3) + k] * f[3 * (i % 3) + k];
        assert_true(fabs(sum - det * cauchy[i]) <= 1e-14 * top);
    }
    modal_law_strain(law, h, strain);
    for (int i = 0; i < 9; i++) {
        assert_true(fabs(second[i] - second[i % 3 * 3 + i / 3]) <= 1e-15 * top);
        assert_true(fabs(cauchy[i] - cauchy[i % 3 * 3 + i / 3]) <= 1e-15 * top);
        energy += strain[i] * second[i] / 2;
    }
    assert_true(fabs(energy - modal_law_energy(law, h)) <= 1e-14 * energy);
    assert_true(energy > 0);
}

static void test_relations(void **state)
{
    (void)state;
    for_all(one_relation);
}

/* Q F: the same energy and S; P and Cauchy's stress turn with it. Of the linear law that holds not at all, but
 * an infinitesimal rotation added to any H costs nothing. */
static void one_rotation(const modal_law *law, const double h[9])
{
    double q[9], turned[9], was[9], is[9], expected[9];
    if (law->kind == MODAL_LAW_LINEAR) {
        memcpy(turned, h, sizeof turned);
        for (int i = 0; i < 3; i++) {
            turned[3 * i + (i + 1) % 3] += 0.3 * (i + 1);
            turned[3 * ((i + 1) % 3) + i] -= 0.3 * (i + 1);
        }
        assert_true(fabs(modal_law_energy(law, turned) - modal_law_energy(law, h)) <= 1e-14);
        modal_law_first_stress(law, h, was);
        modal_law_first_stress(law, turned, is);
        for (int i = 0; i < 9; i++) assert_true(fabs(was[i] - is[i]) <= 1e-14);
        return;
    }
    rotation(2.1, q);
    turn(q, h, turned);
    const double energy = modal_law_energy(law, h);
    assert_true(fabs(modal_law_energy(law, turned) - energy) <= 1e-14);
    modal_law_second_stress(law, h, was);
    modal_law_second_stress(law, turned, is);
    for (int i = 0; i < 9; i++) assert_true(fabs(was[i] - is[i]) <= 2e-14);
    modal_law_first_stress(law, h, was);
    modal_law_first_stress(law, turned, is);
    multiply(q, 0, was, expected);
    for (int i = 0; i < 9; i++) assert_true(fabs(expected[i] - is[i]) <= 2e-14);
    modal_law_cauchy_stress(law, h, was);
    modal_law_cauchy_stress(law, turned, is);
    double half[9];
    multiply(q, 0, was, half);
    for (int i = 0; i < 9; i++) {
        double sum = 0;
        for (int k = 0; k < 3; k++) sum += half[3 * (i / 3) + k] * q[3 * (i % 3) + k];
        assert_true(fabs(sum - is[i]) <= 1e-13 * fmax(1, largest(9, was)));
    }
    assert_true(fabs(modal_von_mises(was) - modal_von_mises(is)) <= 1e-13 * fmax(1, largest(9, was)));
    /* a rotation alone */
    const double rest[9] = {0};
    turn(q, rest, turned);
    assert_true(modal_law_energy(law, turned) <= 1e-28);
    modal_law_first_stress(law, turned, is);
    assert_true(largest(9, is) <= 1e-14);
}

static void test_rotations(void **state)
{
    (void)state;
    for_all(one_rotation);
}

/* A body turned at rest, F Q: an isotropic material does not know, an orthotropic one whose axes turn along
 * neither. */
static void test_material_axes(void **state)
{
    (void)state;
    double q[9], h[9], f[9], turned[9];
    rotation(0.9, q);
    for (int i = 0; i < 9; i++) h[i] = 0.2 * random_unit();
    for (int i = 0; i < 9; i++) f[i] = h[i] + (i % 4 == 0);
    multiply(f, 0, q, turned);
    for (int i = 0; i < 9; i += 4) turned[i] -= 1;
    for (int orthotropic = 0; orthotropic < 2; orthotropic++) {
        modal_material material = material_of(orthotropic);
        modal_law law;
        modal_law_init(MODAL_LAW_STVK, &material, &law);
        const double before = modal_law_energy(&law, h), unmoved = modal_law_energy(&law, turned);
        if (orthotropic) { /* rows are axes: a' = Q^T a */
            double axes[9];
            multiply(material.axes, 0, q, axes);
            memcpy(material.axes, axes, sizeof axes);
            modal_law_init(MODAL_LAW_STVK, &material, &law);
            assert_true(fabs(unmoved - before) > 1e-3 * before);
        }
        assert_true(fabs(modal_law_energy(&law, turned) - before) <= 1e-13 * before);
    }
}

/* F = diag(a, 1, 1), and simple shear; both laws are one for small strains. */
static void test_closed_forms(void **state)
{
    (void)state;
    const modal_material material = material_of(0);
    double lambda, mu, stress[9];
    modal_lame_constants(material.young, material.poisson, &lambda, &mu);
    modal_law stvk, linear;
    modal_law_init(MODAL_LAW_STVK, &material, &stvk);
    modal_law_init(MODAL_LAW_LINEAR, &material, &linear);
    for (double a = 0.5; a < 2; a += 0.25) {
        const double h[9] = {a - 1}, e = (a * a - 1) / 2;
        assert_true(fabs(modal_law_energy(&stvk, h) - (lambda / 2 + mu) * e * e) <= 1e-15);
        assert_true(fabs(modal_law_cauchy_stress(&stvk, h, stress) - a) <= 1e-15);
        assert_true(fabs(stress[0] - (lambda + 2 * mu) * e * a) <= 1e-14);
        assert_true(fabs(stress[4] - lambda * e / a) <= 1e-14);
        assert_true(fabs(modal_law_cauchy_stress(&linear, h, stress) - 1) == 0);
        assert_true(fabs(stress[0] - (lambda + 2 * mu) * (a - 1)) <= 1e-14);
    }
    /* u_x = g Y: E_xy = g / 2, E_yy = g^2 / 2 */
    const double g = 0.3, shear[9] = {0, g};
    modal_law_second_stress(&stvk, shear, stress);
    assert_true(fabs(stress[1] - mu * g) <= 1e-15);
    assert_true(fabs(stress[0] - lambda * g * g / 2) <= 1e-15);
    assert_true(fabs(stress[4] - (lambda + 2 * mu) * g * g / 2) <= 1e-15);
    /* small: the difference is of second order */
    for (double size = 1e-2; size > 1e-9; size /= 10) {
        double h[9], other[9];
        for (int i = 0; i < 9; i++) h[i] = size * (i - 3.5) / 5;
        modal_law_cauchy_stress(&stvk, h, stress);
        modal_law_cauchy_stress(&linear, h, other);
        for (int i = 0; i < 9; i++)
            assert_true(fabs(stress[i] - other[i]) <= 20 * size * size + 1e-15 * size);
    }
    /* turned inside out: the determinant says so */
    const double flipped[9] = {-2.5};
    assert_true(modal_law_cauchy_stress(&stvk, flipped, stress) < 0);
    assert_string_equal(modal_law_name(MODAL_LAW_STVK), "stvk");
}

static void test_von_mises(void **state)
{
    (void)state;
    const double tension[9] = {-4}, shear[9] = {0, 2, 0, 2}, pressure[9] = {1e9, 0, 0, 0, 1e9, 0, 0, 0, 1e9};
    assert_true(modal_von_mises(tension) == 4);
    assert_true(fabs(modal_von_mises(shear) - 2 * sqrt(3)) <= 1e-15);
    assert_true(modal_von_mises(pressure) == 0);
    double s[9], q[9], half[9], turned[9];
    rotation(1.3, q);
    for (int i = 0; i < 9; i++) s[i] = 0;
    s[0] = 3;
    s[4] = -1;
    s[8] = 0.5;
    multiply(q, 0, s, half);
    for (int i = 0; i < 9; i++) {
        turned[i] = 0;
        for (int k = 0; k < 3; k++) turned[i] += half[3 * (i / 3) + k] * q[3 * (i % 3) + k];
    }
    assert_true(fabs(modal_von_mises(s) - modal_von_mises(turned)) <= 1e-14);
    assert_true(fabs(modal_von_mises(s) - sqrt(0.5 * (16 + 1.5 * 1.5 + 2.5 * 2.5))) <= 1e-14);
}

/* Many points at once: the strains, energies and stresses of the law; the second derivative by the tangent's
 * differences. */
static void test_lanes(void **state)
{
    (void)state;
    static double a[9][MODAL_LAW_LANES], b[9][MODAL_LAW_LANES], root[MODAL_ELASTICITY_ROOT][MODAL_LAW_LANES],
        linear[6][MODAL_LAW_LANES], quadratic[6][MODAL_LAW_LANES], half[6][MODAL_LAW_LANES],
        stress[9][MODAL_LAW_LANES], stress_b[9][MODAL_LAW_LANES], second[9][MODAL_LAW_LANES];
    modal_law laws[2];
    for (int k = 0; k < 2; k++) {
        const modal_material material = material_of(k);
        modal_law_init(MODAL_LAW_STVK, &material, &laws[k]);
    }
    for (int lane = 0; lane < MODAL_LAW_LANES; lane++) {
        double r[MODAL_ELASTICITY_ROOT];
        modal_elasticity_root(&laws[lane % 2].elasticity, r);
        for (int i = 0; i < MODAL_ELASTICITY_ROOT; i++) root[i][lane] = sqrt(0.5 + lane) * r[i];
        for (int i = 0; i < 9; i++) a[i][lane] = 0.3 * random_unit();
        for (int i = 0; i < 9; i++) b[i][lane] = 0.3 * random_unit();
    }
    modal_lanes_linear_strain(a, linear);
    memcpy(second, a, sizeof a);
    modal_lanes_product_strain(a, second, 0.5, quadratic);
    for (int i = 0; i < 6; i++)
        for (int lane = 0; lane < MODAL_LAW_LANES; lane++) linear[i][lane] += quadratic[i][lane];
    modal_lanes_root_times(root, linear, half);
    modal_lanes_stress(root, linear, stress);
    for (int lane = 0; lane < MODAL_LAW_LANES; lane++) {
        const modal_law *law = &laws[lane % 2];
        double h[9], s[9], energy = 0;
        for (int i = 0; i < 9; i++) h[i] = a[i][lane];
        for (int i = 0; i < 6; i++) energy += half[i][lane] * half[i][lane] / 2;
        const double exact = (0.5 + lane) * modal_law_energy(law, h);
        assert_true(fabs(energy - exact) <= 1e-13 * exact);
        modal_law_second_stress(law, h, s);
        for (int i = 0; i < 9; i++)
            assert_true(fabs(stress[i][lane] - (0.5 + lane) * s[i]) <= 1e-13 * (0.5 + lane) * largest(9, s));
    }
    modal_lanes_linear_strain(a, linear);
    modal_lanes_stress(root, linear, stress);
    modal_lanes_linear_strain(b, linear);
    modal_lanes_stress(root, linear, stress_b);
    modal_lanes_second_derivative(root, a, stress, b, stress_b, second);
    for (int lane = 0; lane < MODAL_LAW_LANES; lane++) {
        const modal_law *law = &laws[lane % 2];
        double plus[9][9], minus[9][9], h[9], back[9], exact[9] = {0};
        for (int i = 0; i < 9; i++) h[i] = b[i][lane], back[i] = -b[i][lane];
        modal_law_tangent(law, h, plus); /* quadratic in H: the central difference is its slope at rest */
        modal_law_tangent(law, back, minus);
        for (int i = 0; i < 9; i++)
            for (int j = 0; j < 9; j++) exact[i] += (0.5 + lane) * (plus[i][j] - minus[i][j]) / 2 * a[j][lane];
        for (int i = 0; i < 9; i++) assert_true(fabs(second[i][lane] - exact[i]) <= 1e-13 * (0.5 + lane) * 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_hyperelastic), cmocka_unit_test(test_relations),    cmocka_unit_test(test_rotations),
        cmocka_unit_test(test_material_axes), cmocka_unit_test(test_closed_forms), cmocka_unit_test(test_von_mises),
        cmocka_unit_test(test_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
