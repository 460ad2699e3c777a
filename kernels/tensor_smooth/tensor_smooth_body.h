/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic for the CPU and CUDA, after curvature_body.h. No include guard: this is a template. */

/* Adds a neighbour at x with unit normal n, tensor and area t, to the sum of a vertex: its place, normal and the
 * frame's two vectors. per_square = 1 / r^2. */
FN void NAME(add_neighbour)(NAME(vec) x, NAME(vec) n, NAME(share) t, const NAME(vec) * vertex, REAL per_square,
                            MASK on, NAME(share) *sum)
{
    const NAME(vec) own = vertex[0], to = vertex[1], p = vertex[2], q = vertex[3];
    const REAL zero = NUMBER(0.0f);
    const NAME(vec) d = NAME(minus)(x, own);
    const REAL left = NUMBER(1.0f) - NAME(dot)(d, d) * per_square;
    const MASK use = on & (left > zero) & (NAME(dot)(n, to) > zero) & (t.w > zero);
    const REAL weight = SELECT(use, left * left * t.w, zero);
    NAME(vec) first, second;
    REAL u, v;
    NAME(frame)(n, &first, &second);
    NAME(turn_axes)(n, first, to, p, q, &u, &v);
    NAME(turn_tensor)(u, v, &t);
    sum->a += SELECT(use, weight * t.a, zero);
    sum->b += SELECT(use, weight * t.b, zero);
    sum->c += SELECT(use, weight * t.c, zero);
    sum->w += weight;
}
