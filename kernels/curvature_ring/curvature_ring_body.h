/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic for the CPU and CUDA, after curvature_body.h. No include guard: this is a template. */

/* G, and P = M + M^T */
typedef struct NAME(system) {
    REAL g, h, k, r, s, t;
} NAME(system);

/* Adds the edges a, b, b - a of a triangle in the frame of the vertex, where `on`. */
FN void NAME(add_edges)(NAME(vec) a, NAME(vec) b, NAME(vec) da, NAME(vec) db, MASK on, NAME(system) *sum)
{
    const REAL aa = NAME(dot)(a, a), bb = NAME(dot)(b, b), zero = NUMBER(0.0f), t = aa + bb - NAME(dot)(a, b);
    const NAME(vec) f = NAME(cross)(a, b);
    const REAL m = SQRT(NAME(dot)(f, f)), flat2 = f.x * f.x + f.y * f.y, high = m + ABSOLUTE(f.z);
    const MASK use = on & (m > t * 1e-6f) & (SELECT(f.z < zero, flat2, high * m) > high * m * 1e-6f);
    const REAL cx = a.x * 2.0f - b.x, cy = a.y * 2.0f - b.y, ex = b.x * 2.0f - a.x, ey = b.y * 2.0f - a.y;
    sum->g += SELECT(use, a.x * cx + b.x * ex, zero);
    sum->h += SELECT(use, a.x * cy + b.x * ey, zero);
    sum->k += SELECT(use, a.y * cy + b.y * ey, zero);
    sum->r += SELECT(use, (da.x * cx + db.x * ex) * 2.0f, zero);
    sum->s += SELECT(use, da.x * cy + db.x * ey + da.y * cx + db.y * ex, zero);
    sum->t += SELECT(use, (da.y * cy + db.y * ey) * 2.0f, zero);
}

FN NAME(share) NAME(solve_system)(NAME(system) m)
{
    const REAL zero = NUMBER(0.0f), trace = m.g + m.k, det = PRODUCTS(m.g, m.k, m.h, m.h);
    const MASK use = det > trace * trace * 1e-12f;
    const REAL inverse = SELECT(use, DIVIDE(NUMBER(0.5f), trace * det), zero);
    NAME(share) t;
    t.a = (det * m.r + m.k * m.k * m.r - m.h * m.k * m.s * 2.0f + m.h * m.h * m.t) * inverse;
    t.b = (det * m.s - m.h * m.k * m.r + (m.h * m.h + m.g * m.k) * m.s - m.g * m.h * m.t) * inverse;
    t.c = (det * m.t + m.h * m.h * m.r - m.g * m.h * m.s * 2.0f + m.g * m.g * m.t) * inverse;
    t.w = zero;
    return t;
}
