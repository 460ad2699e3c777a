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

/* p = V P(h) of the law, with *pressure for modulus (J - 1) where it is not NULL; returns J. */
FN REAL NAME(stress)(const modal_tled_material *m, REAL volume, const REAL *h, const REAL *pressure, REAL *p)
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
        const REAL one = volume * mu / jacobian, l = volume * (pressure ? *pressure : above * modulus);
        a = volume * mu;
        turned = one - l;
        identity = one * id + (l + l * t);
    } else {
        REAL square = h[0] * h[0];
        for (int k = 1; k < 9; k++) square += h[k] * h[k];
        const REAL y = NAME(inverse_cube_root)(jacobian), yy = y * y;
        a = yy * mu * volume;
        const REAL b = volume * (pressure ? *pressure : above * modulus) - a * (square - (id * (SCALAR)3 + t)) * (yy * y * (SCALAR)(1.0 / 3));
        turned = a - b;
        identity = b - turned * t;
    }
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++) p[3 * k + l] = a * h[3 * k + l] + turned * (h[3 * l + k] - c[3 * k + l]);
    for (int k = 0; k < 9; k += 4) p[k] += identity;
    return jacobian;
}

/* J - 1. */
FN REAL NAME(volume_change)(const REAL *h)
{
    REAL c[9];
    NAME(cofactors)(h, c);
    return (h[0] + h[4] + h[8]) + ((c[0] + c[4] + c[8]) + (h[0] * c[0] + h[1] * c[1] + h[2] * c[2]));
}

/* cof F; returns J - 1. */
FN REAL NAME(whole_cofactors)(const REAL *h, REAL *c)
{
    NAME(cofactors)(h, c);
    const REAL t = h[0] + h[4] + h[8], above = t + ((c[0] + c[4] + c[8]) + (h[0] * c[0] + h[1] * c[1] + h[2] * c[2]));
    for (int k = 0; k < 9; k++) c[k] -= h[k % 3 * 3 + k / 3];
    for (int k = 0; k < 9; k += 4) c[k] += t + (SCALAR)1;
    return above;
}

/* modal_tled_measure's sums: of |k|^2 and |g|^2 (and (a.g)^2 in along), over corners whose gradients are `g` [3] each. */
typedef struct NAME(sums) {
    REAL kk, gg, ag;
} NAME(sums);

FN void NAME(add_gradient)(const REAL *c, const REAL *g, const REAL *fibre, NAME(sums) *s)
{
    for (int i = 0; i < 3; i++) {
        const REAL k = c[3 * i] * g[0] + (c[3 * i + 1] * g[1] + c[3 * i + 2] * g[2]); /* times J */
        s->kk += k * k;
        s->gg += g[i] * g[i];
    }
    const REAL part = g[0] * fibre[0] + (g[1] * fibre[1] + g[2] * fibre[2]);
    s->ag += part * part;
}

FN REAL NAME(more)(REAL a, REAL b)
{
    const NAME(mask) above = a > b;
    return (REAL)((above & (NAME(mask))a) | (~above & (NAME(mask))b));
}

/* modal_tled_measure; above: J - 1, kk of the sums without 1 / J^2. */
FN REAL NAME(measure)(const modal_tled_material *m, const REAL *h, REAL above, const REAL *fibre, const NAME(sums) *s)
{
    const SCALAR mu = (SCALAR)m->mu, modulus = (SCALAR)m->modulus;
    const REAL jacobian = above + (SCALAR)1, kk = s->kk / (jacobian * jacobian), zero = jacobian * 0;
    REAL square = (h[0] + h[4] + h[8]) * 2 + (SCALAR)3, measure;
    for (int k = 0; k < 9; k++) square += h[k] * h[k];
    const REAL y = NAME(inverse_cube_root)(jacobian), power = y * y;
    if (m->law == MODAL_TLED_STVK)
        measure = (NAME(more)(square - (SCALAR)2, square * (SCALAR)(1.0 / 3)) * (modulus + 2 * mu) +
                   NAME(more)(square - (SCALAR)3, zero) * ((modulus + mu * (SCALAR)(2.0 / 3)) / 2)) * s->gg;
    else if (m->law == MODAL_TLED_LOGARITHMIC)
        measure = (jacobian * jacobian * modulus + mu) * kk + s->gg * mu;
    else
        measure = (jacobian * jacobian * modulus + power * square * (mu * (SCALAR)(5.0 / 9))) * kk - power * s->gg * (mu / 3);
    if (!(m->fibre > 0)) return measure;
    REAL along = zero;
    for (int i = 0; i < 3; i++) {
        const REAL f = fibre[i] + (h[3 * i] * fibre[0] + (h[3 * i + 1] * fibre[1] + h[3 * i + 2] * fibre[2]));
        along += f * f;
    }
    const REAL q = power * along;
    return measure + (power * NAME(more)(q * 3 - (SCALAR)1, zero) * s->ag + q * q * kk * (SCALAR)(2.0 / 9)) * (SCALAR)m->fibre;
}

/* p += V P of the fibres along a. */
FN void NAME(add_fibres)(SCALAR eta, REAL volume, const REAL *h, const REAL *a, REAL *p)
{
    REAL c[9], f[3], e = volume * 0;
    const REAL above = NAME(whole_cofactors)(h, c), jacobian = above + (SCALAR)1;
    const REAL y = NAME(inverse_cube_root)(jacobian), power = y * y, root = jacobian * power;
    const REAL q = -above * (root + (SCALAR)1) / (root * root + root + (SCALAR)1) * power;
    for (int i = 0; i < 3; i++) {
        const REAL ha = h[3 * i] * a[0] + (h[3 * i + 1] * a[1] + h[3 * i + 2] * a[2]);
        f[i] = a[i] + ha;
        e += ha * (a[i] + f[i]);
    }
    const REAL g = q * (e + (SCALAR)1) + e, pull = g * volume * eta;
    const REAL along = pull * power, around = pull * (g + (SCALAR)1) * (power * y * (SCALAR)(1.0 / 3));
    for (int k = 0; k < 9; k++) p[k] += along * f[k / 3] * a[k % 3] - around * c[k];
}

/* Takes the Prony terms off p = V P. state [n_terms, 6, MODAL_TLED_LANES] of these lanes, times V. */
FN void NAME(relax)(const modal_tled_material *m, const modal_tled_decay *decays, const REAL *h, SCALAR *state, REAL *p)
{
    static const int rows[6] = {0, 1, 2, 1, 0, 0}, columns[6] = {0, 1, 2, 2, 2, 1};
    REAL c[9], part[2][6], off[6], pressure = p[0] + (p[4] + p[8]);
    const REAL inverse = 1 / (NAME(whole_cofactors)(h, c) + (SCALAR)1);
    for (int k = 0; k < 9; k++) pressure += p[k] * h[k];
    pressure *= inverse * (SCALAR)(1.0 / 3);
    for (int k = 0; k < 6; k++) { /* F^-1 = cof F^T / J */
        const int i = rows[k], j = columns[k];
        const REAL s = (c[i] * p[j] + (c[3 + i] * p[3 + j] + c[6 + i] * p[6 + j])) * inverse;
        part[1][k] = (c[i] * c[j] + (c[3 + i] * c[3 + j] + c[6 + i] * c[6 + j])) * (inverse * pressure);
        part[0][k] = s - part[1][k];
        off[k] = s * 0;
    }
    for (int n = 0; n < m->n_terms; n++) {
        const SCALAR keep = (SCALAR)decays[n].keep, next = (SCALAR)decays[n].next, now = (SCALAR)decays[n].now;
        for (int k = 0; k < 6; k++) {
            NAME(stored) *known = (NAME(stored) *)(state + MODAL_TLED_LANES * (6 * n + k));
            const REAL s = part[n >= m->n_isochoric][k], d = *known + s * now;
            off[k] += d;
            *known = d * keep + s * next;
        }
    }
    for (int i = 0; i < 3; i++) {
        const REAL x = h[3 * i], y = h[3 * i + 1], z = h[3 * i + 2];
        p[3 * i] -= x * off[0] + (y * off[5] + z * off[4]);
        p[3 * i + 1] -= x * off[5] + (y * off[1] + z * off[3]);
        p[3 * i + 2] -= x * off[4] + (y * off[3] + z * off[2]);
    }
    p[0] -= off[0], p[1] -= off[5], p[2] -= off[4], p[3] -= off[5], p[4] -= off[1];
    p[5] -= off[3], p[6] -= off[4], p[7] -= off[3], p[8] -= off[2];
}

/* What a rich material's stress is made of beside H: fibres and state of these lanes, mean nodal pressures. */
typedef struct NAME(rich) {
    const SCALAR *fibres; /* [3, MODAL_TLED_LANES] or NULL */
    SCALAR *state;        /* [n_terms, 6, MODAL_TLED_LANES] or NULL */
    const modal_tled_decay *decays;
    const REAL *pressure; /* or NULL */
} NAME(rich);

/* All of V P; `rich` NULL: of the law alone. */
FN REAL NAME(whole_stress)(const modal_tled_material *m, REAL volume, const REAL *h, const NAME(rich) *rich, REAL *p)
{
    const REAL jacobian = NAME(stress)(m, volume, h, rich ? rich->pressure : NULL, p);
    if (!rich) return jacobian;
    if (rich->fibres) {
        REAL a[3];
        for (int k = 0; k < 3; k++) a[k] = *(const NAME(stored) *)(rich->fibres + MODAL_TLED_LANES * k);
        NAME(add_fibres)((SCALAR)m->fibre, volume, h, a, p);
    }
    if (rich->state) NAME(relax)(m, rich->decays, h, rich->state, p);
    return jacobian;
}
