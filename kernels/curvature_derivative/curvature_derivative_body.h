/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic for the CPU and CUDA, after curvature_body.h. No include guard: this is a template. */

/* A vertex: position, unit normal, the first vector of its frame, tensor. */
typedef struct NAME(point) {
    NAME(vec) x, n, p;
    NAME(share) t;
} NAME(point);

typedef struct NAME(third) {
    REAL a, b, c, d;
} NAME(third);

/* D on the basis (u, v), (-v, u). */
FN NAME(third) NAME(turn_third)(REAL u, REAL v, NAME(third) d)
{
    const REAL a1 = d.a * u + d.b * v, b1 = d.b * u + d.c * v, c1 = d.c * u + d.d * v;
    const REAL a2 = d.b * u - d.a * v, b2 = d.c * u - d.b * v, c2 = d.d * u - d.c * v;
    NAME(third) r;
    r.a = a1 * u * u + b1 * u * v * 2.0f + c1 * v * v;
    r.b = (c1 - a1) * u * v + b1 * (u * u - v * v);
    r.c = a1 * v * v - b1 * u * v * 2.0f + c1 * u * u;
    r.d = a2 * v * v - b2 * u * v * 2.0f + c2 * u * u;
    return r;
}

/* Adds the triangle (v, a, b), where `on`. The changes of the tensors give D e = dS exactly with parts that are not
 * symmetric, (A_u A_v; B_u B_v; C_u C_v). Least squares leaves, with G = (g h; h k) the sum of e e^T, two unknowns:
 * b = B_u + beta, c = B_v + gamma. */
FN void NAME(add_change)(const NAME(point) *v, const NAME(point) *a, const NAME(point) *b, MASK on, NAME(third) *sum,
                         REAL *weight)
{
    const REAL zero = NUMBER(0.0f), one = NUMBER(1.0f);
    const NAME(vec) e = NAME(minus)(a->x, v->x), f = NAME(minus)(b->x, v->x), c = NAME(cross)(e, f);
    const REAL aa = NAME(dot)(e, e), bb = NAME(dot)(f, f), ab = NAME(dot)(e, f), m2 = NAME(dot)(c, c), m = SQRT(m2);
    MASK use = on & (m > (aa + bb - ab) * 1e-6f);
    const REAL inverse = SELECT(use, DIVIDE(one, m), zero), length = SQRT(aa);
    const REAL shorter = SELECT(use, DIVIDE(one, length), zero);
    const NAME(vec) n = NAME(times)(inverse, c), along = NAME(times)(shorter, e), across = NAME(cross)(n, along);
    const REAL least = NUMBER(1e-6f);
    use = use & (NAME(dot)(v->n, n) + 1.0f > least) & (NAME(dot)(a->n, n) + 1.0f > least) &
          (NAME(dot)(b->n, n) + 1.0f > least);
    NAME(share) t0 = v->t, t1 = a->t, t2 = b->t;
    REAL u, w, u1, w1;
    NAME(turn_axes)(v->n, v->p, n, along, across, &u, &w);
    NAME(turn_tensor)(u, w, &t0);
    NAME(turn_axes)(a->n, a->p, n, along, across, &u1, &w1);
    NAME(turn_tensor)(u1, w1, &t1);
    NAME(turn_axes)(b->n, b->p, n, along, across, &u1, &w1);
    NAME(turn_tensor)(u1, w1, &t2);
    /* edges (length, 0) and (x, y) */
    const REAL x = ab * shorter, y = m * shorter, rise = SELECT(use, DIVIDE(one, y), zero);
    const REAL a_u = (t1.a - t0.a) * shorter, a_v = (t2.a - t0.a - x * a_u) * rise;
    const REAL b_u = (t1.b - t0.b) * shorter, b_v = (t2.b - t0.b - x * b_u) * rise;
    const REAL c_u = (t1.c - t0.c) * shorter, c_v = (t2.c - t0.c - x * c_u) * rise;
    const REAL third = x - length, g = aa + x * x + third * third, h = (x + third) * y, k = y * y * 2.0f;
    const REAL hg = DIVIDE(h, g), hk = DIVIDE(h, k), left = k - h * hg, right = g - h * hk; /* det G / g, det G / k */
    const REAL p = left + g * 2.0f, q = right + k * 2.0f, s = left * (a_v - b_u), r = right * (c_u - b_v);
    const REAL solved = DIVIDE(one, PRODUCTS(p, q, h * 2.0f, h * 2.0f));
    NAME(third) d;
    d.b = b_u + (s * q - h * r * 2.0f) * solved;
    d.c = b_v + (p * r - h * s * 2.0f) * solved;
    d.a = a_u - hg * (d.b - a_v);
    d.d = c_v - hk * (d.c - c_u);
    REAL num, den;
    NAME(corner_share)(aa, bb, ab, m2, &num, &den);
    const REAL share = SELECT(use, m * DIVIDE(num * 0.5f, den), zero);
    d = NAME(turn_third)(u, w, d);
    sum->a += SELECT(use, share * d.a, zero);
    sum->b += SELECT(use, share * d.b, zero);
    sum->c += SELECT(use, share * d.c, zero);
    sum->d += SELECT(use, share * d.d, zero);
    *weight += share;
}
