/* SPDX-License-Identifier: Apache-2.0 */
/* One block's arithmetic (tled_solid.h), for one set of instructions: with REAL a vector of LANES, NAME(x), FN, SCALAR and
 * NUMBER(c) as in tled_simd.h. No include guard: this is a template. */

/* J^(-1/3): a guess from the bits of the float, 3 % off, and steps of the third order:
 * y <- y (14 - 7 c + 2 c^2) / 9, c = x y^3, whose error is 14/3 of the old one's cube. */
FN REAL NAME(inverse_cube_root)(REAL x)
{
    const NAME(singles) single = NAME(to_single)(x);
    const NAME(singles) bits = __builtin_convertvector((NAME(int32s))single, NAME(singles));
    const NAME(int32s) guess = 0x54a2fa8c - __builtin_convertvector(bits * 0.33333333f, NAME(int32s));
    REAL y = NAME(from_single)((NAME(singles))guess);
    for (int k = 0; k < CUBE_ROOT_STEPS; k++) {
        const REAL c = x * y * (y * y);
        y = y * (c * (c * (SCALAR)(2.0 / 9) - (SCALAR)(7.0 / 9)) + (SCALAR)(14.0 / 9));
    }
    return y;
}

FN void NAME(cofactors)(const REAL *h, REAL *c)
{
    c[0] = h[4] * h[8] - h[5] * h[7], c[1] = h[5] * h[6] - h[3] * h[8], c[2] = h[3] * h[7] - h[4] * h[6];
    c[3] = h[2] * h[7] - h[1] * h[8], c[4] = h[0] * h[8] - h[2] * h[6], c[5] = h[1] * h[6] - h[0] * h[7];
    c[6] = h[1] * h[5] - h[2] * h[4], c[7] = h[2] * h[3] - h[0] * h[5], c[8] = h[0] * h[4] - h[1] * h[3];
}

/* p = V P(h); returns J. */
FN REAL NAME(stress)(const modal_tled_material *m, REAL volume, const REAL *h, REAL *p)
{
    REAL c[9];
    const SCALAR mu = (SCALAR)m->mu, modulus = (SCALAR)m->modulus;
    NAME(cofactors)(h, c);
    const REAL t = h[0] + h[4] + h[8], i = c[0] + c[4] + c[8], d = h[0] * c[0] + h[1] * c[1] + h[2] * c[2];
    const REAL id = i + d, above = t + id, jacobian = above + (SCALAR)1;
    if (m->law == MODAL_TLED_STVK) {
        REAL s[9];
        for (int k = 0; k < 3; k++)
            for (int l = k; l < 3; l++)
                s[3 * k + l] = s[3 * l + k] =
                    (h[3 * k + l] + h[3 * l + k] + (h[k] * h[l] + h[3 + k] * h[3 + l] + h[6 + k] * h[6 + l])) * mu;
        const REAL trace = (s[0] + s[4] + s[8]) * (modulus / (2 * mu));
        for (int k = 0; k < 9; k += 4) s[k] += trace;
        for (int k = 0; k < 9; k++) s[k] *= volume;
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 3; l++)
                p[3 * k + l] = s[3 * k + l] + (h[3 * k] * s[l] + h[3 * k + 1] * s[3 + l] + h[3 * k + 2] * s[6 + l]);
        return jacobian;
    }
    REAL a, turned, identity; /* P = a H + turned (H^T - C) + identity I */
    if (m->law == MODAL_TLED_LOGARITHMIC) {
        const REAL one = volume * mu / jacobian, l = volume * above * modulus;
        a = volume * mu;
        turned = one - l;
        identity = one * id + (l + l * t);
    } else {
        REAL square = h[0] * h[0];
        for (int k = 1; k < 9; k++) square += h[k] * h[k];
        const REAL y = NAME(inverse_cube_root)(jacobian), yy = y * y;
        a = yy * mu * volume;
        const REAL b = volume * above * modulus - a * (square - (id * (SCALAR)3 + t)) * (yy * y * (SCALAR)(1.0 / 3));
        turned = a - b;
        identity = b - turned * t;
    }
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++) p[3 * k + l] = a * h[3 * k + l] + turned * (h[3 * l + k] - c[3 * k + l]);
    for (int k = 0; k < 9; k += 4) p[k] += identity;
    return jacobian;
}
