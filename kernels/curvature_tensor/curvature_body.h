/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of curvature, for one vertex a lane: included for every instruction set of the CPU, with vectors as
 * numbers, and by CUDA, with floats. No include guard: this is a template. Before it:
 *   NAME(x)       x with the set's suffix
 *   FN            attributes of a function
 *   REAL, MASK    a number, the result of a comparison of two
 *   NUMBER(c)     the constant c, in all lanes
 *   SELECT(m, a, b), SQRT(x), DIVIDE(a, b), ABSOLUTE(x)
 *   RECIPROCAL_ROOT(x)    1 / sqrt(x) for a normal number
 *   PRODUCTS(a, b, c, d)  a b - c d, each product rounded by itself
 * No multiply-adds are fused where an edge's cross product with itself must be zero. */

typedef struct NAME(vec) {
    REAL x, y, z;
} NAME(vec);

/* A symmetric tensor a b c, and a weight. */
typedef struct NAME(share) {
    REAL a, b, c, w;
} NAME(share);

FN NAME(vec) NAME(minus)(NAME(vec) a, NAME(vec) b)
{
    NAME(vec) r = {a.x - b.x, a.y - b.y, a.z - b.z};
    return r;
}

FN NAME(vec) NAME(times)(REAL s, NAME(vec) a)
{
    NAME(vec) r = {s * a.x, s * a.y, s * a.z};
    return r;
}

FN REAL NAME(dot)(NAME(vec) a, NAME(vec) b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

FN NAME(vec) NAME(cross)(NAME(vec) a, NAME(vec) b)
{
    NAME(vec) r = {PRODUCTS(a.y, b.z, a.z, b.y), PRODUCTS(a.z, b.x, a.x, b.z), PRODUCTS(a.x, b.y, a.y, b.x)};
    return r;
}

/* The frame of a normal, curvature_output.h. */
FN void NAME(frame)(NAME(vec) n, NAME(vec) *p, NAME(vec) *q)
{
    const REAL zero = NUMBER(0.0f), one = NUMBER(1.0f), s = SELECT(n.z < zero, -one, one);
    const REAL t = DIVIDE(-one, s + n.z), xy = n.x * n.y * t;
    p->x = one + s * n.x * n.x * t, p->y = s * xy, p->z = -s * n.x;
    q->x = xy, q->y = s + n.y * n.y * t, q->z = -n.y;
}

/* The share of a corner of the triangle's doubled area, twice: share = doubled area * result / 2. The corner lies
 * between edges a and b; aa, bb, ab are their products, m2 the doubled area squared. */
FN void NAME(corner_share)(REAL aa, REAL bb, REAL ab, REAL m2, REAL *numerator, REAL *denominator)
{
    const REAL zero = NUMBER(0.0f), d1 = aa - ab, d2 = bb - ab;
    REAL num = bb * d1 + aa * d2, den = m2 * 4.0f;
    const MASK at_a = d1 <= zero, at_b = d2 <= zero, here = ab <= zero;
    num = SELECT(at_a, aa, SELECT(at_b, bb, num));
    den = SELECT(at_a | at_b, ab * 4.0f, den);
    const REAL both = d1 * d2 * 4.0f;
    num = SELECT(here, both - num, num);
    den = SELECT(here, both, den);
    *numerator = num, *denominator = den;
}

/* Least squares of S e = dn over the edges a, b, b - a of a triangle, that is S G + G S = M + M^T with G the sum of
 * e e^T. D = [da db][a b]^-1 = sym D + w J maps the edges exactly, J = (0 -1; 1 0), so the solution is
 * S = sym D + w (J G - G J) / tr G: nothing to solve. Given times the doubled area; twist = w / tr G. */
typedef struct NAME(plane) {
    REAL a, b, c, twist, g, h, k;
} NAME(plane);

FN NAME(plane) NAME(fit_edges)(REAL ax, REAL ay, REAL bx, REAL by, REAL dax, REAL day, REAL dbx, REAL dby)
{
    const REAL c = ax * 2.0f - bx, d = ay * 2.0f - by, e = bx * 2.0f - ax, f = by * 2.0f - ay;
    const REAL b = dbx * ax - dax * bx, o = day * by - dby * ay;
    NAME(plane) r;
    r.a = dax * by - dbx * ay, r.b = (b + o) * 0.5f, r.c = dby * ax - day * bx, r.twist = (o - b) * 0.5f;
    r.g = ax * c + bx * e, r.h = ax * d + bx * f, r.k = ay * d + by * f;
    return r;
}

/* Adds the triangle of edges a, b, with normal changes da, db along them, all in the frame of the vertex (its normal
 * along z), where `on`. The least rotation of the triangle's normal to z takes two products a vector:
 * R v = v - n_xy (v_z + v . n) / (1 + n_z), so that with f = m n all is over m + f_z, and m (m + f_z). */
FN void NAME(add_triangle)(NAME(vec) a, NAME(vec) b, NAME(vec) da, NAME(vec) db, MASK on, NAME(share) *sum)
{
    const REAL aa = NAME(dot)(a, a), bb = NAME(dot)(b, b), ab = NAME(dot)(a, b), t = aa + bb - ab;
    const REAL zero = NUMBER(0.0f);
    const NAME(vec) f = NAME(cross)(a, b);
    const REAL m2 = NAME(dot)(f, f), m = SQRT(m2), flat2 = f.x * f.x + f.y * f.y, high = m + ABSOLUTE(f.z);
    const MASK under = f.z < zero;
    /* upside down, m + f_z is a difference: (f_x^2 + f_y^2) / (m - f_z) instead */
    const MASK use = on & (m > t * 1e-6f) & (SELECT(under, flat2, high * m) > high * m * 1e-6f);
    const REAL inverse = DIVIDE(SELECT(under, high, NUMBER(1.0f)), SELECT(under, m * flat2, m * high));
    const REAL sa = a.z * m * inverse, sb = b.z * m * inverse;
    const REAL ha = (m * da.z + NAME(dot)(da, f)) * inverse, hb = (m * db.z + NAME(dot)(db, f)) * inverse;
    const NAME(plane) s =
        NAME(fit_edges)(a.x - f.x * sa, a.y - f.y * sa, b.x - f.x * sb, b.y - f.y * sb, da.x - f.x * ha,
                        da.y - f.y * ha, db.x - f.x * hb, db.y - f.y * hb);
    REAL num, den;
    NAME(corner_share)(aa, bb, ab, m2, &num, &den);
    const REAL quotient = DIVIDE(num * 0.5f, den * t); /* share = m t quotient; the tensor is s / m */
    const REAL weight = t * quotient, twist = s.twist * quotient;
    sum->a += SELECT(use, weight * s.a - twist * s.h, zero);
    sum->b += SELECT(use, weight * s.b + twist * (s.g - s.k) * 0.5f, zero);
    sum->c += SELECT(use, weight * s.c + twist * s.h, zero);
    sum->w += SELECT(use, weight * m, zero);
}

/* A tensor of the frame (p, q) of unit normal n, turned into the plane of unit normal f with basis (e, h), by the least
 * rotation; 1 + n . f > 0 is the caller's. */
FN void NAME(turn_axes)(NAME(vec) n, NAME(vec) p, NAME(vec) f, NAME(vec) e, NAME(vec) h, REAL *u, REAL *v)
{
    const REAL c = NAME(dot)(n, f), s = DIVIDE(NAME(dot)(p, f), c + 1.0f);
    *u = NAME(dot)(p, e) - s * NAME(dot)(n, e);
    *v = NAME(dot)(p, h) - s * NAME(dot)(n, h);
}

/* R p = u e + v h, R q = -v e + u h: the tensor in (e, h). */
FN void NAME(turn_tensor)(REAL u, REAL v, NAME(share) *t)
{
    const REAL a = t->a, b = t->b, c = t->c, uu = u * u, vv = v * v, uv = u * v, twice = b * uv * 2.0f;
    t->a = a * uu - twice + c * vv;
    t->b = (a - c) * uv + b * (uu - vv);
    t->c = a * vv + twice + c * uu;
}

/* Principal curvatures k[0] >= k[1], and the direction of k[0] in the frame. */
FN void NAME(diagonal)(REAL a, REAL b, REAL c, REAL *k_max, REAL *k_min, REAL *x, REAL *y)
{
    const REAL zero = NUMBER(0.0f), mean = (a + c) * 0.5f, half = (a - c) * 0.5f, radius = SQRT(half * half + b * b);
    const MASK wide = half >= zero;
    const REAL dx = SELECT(wide, radius + half, b), dy = SELECT(wide, b, radius - half), l2 = dx * dx + dy * dy;
    const MASK there = l2 >= NUMBER(1.17549435e-38f);
    const REAL inverse = RECIPROCAL_ROOT(SELECT(there, l2, NUMBER(1.0f)));
    *k_max = mean + radius, *k_min = mean - radius;
    *x = SELECT(there, dx * inverse, NUMBER(1.0f)), *y = SELECT(there, dy * inverse, zero);
}
