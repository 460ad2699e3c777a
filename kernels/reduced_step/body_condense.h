/* SPDX-License-Identifier: Apache-2.0 */
/* Part of reduced_step_body.h: the way from the leaves to the roots. */

/* ---- an object's share of its parent's equations ---- */

RS_FN void rs_share_loads(const rs_work *w)
{
    RS_OWN(o, w);
    const int32_t r = o->parent_modes, wide = (int32_t)modal_step_padded(r);
    const int32_t own = (int32_t)modal_step_padded(o->n_modes);
    const real *condensed = w->own.load + 2 * own, *wrench = condensed + 8;
    real *load = w->share.load;
    RS_EACH(k, RS_ROW(r))
    {
        real x = RS_ALL(0), y = RS_ALL(0);
        for (int c = 0; c < 6; c++) {
            x += w->follow_0[c * wide + k] * condensed[c];
            y += w->follow[c * wide + k] * wrench[c];
        }
        load[k] = x;
        load[wide + k] = y;
    }
    RS_EACH(half, 2)
    {
        real *out = load + 2 * wide + 8 * half;
        rs_map_wrench(half ? w->relative : w->relative_0, condensed + 8 * half, out);
        out[6] = out[7] = RS_ALL(0);
    }
    RS_SYNC();
    if (RS_LANE == 0) {
        const real *from = w->own.scale;
        real *to = w->share.scale, largest = RS_ALL(0);
        const real reach = RS_SQRT(rs_dot(w->relative + 9, w->relative + 9));
        RS_MODES(k, on, r) largest = RS_MAX(largest, RS_IF(on, RS_ABS(load[wide + k])));
        to[0] = largest;
        to[1] = from[1];
        to[2] = from[2] + reach * from[1];
        to[3] = RS_ALL(0);
        to[4] = from[4];
        to[5] = from[5];
    }
}

/* The Jacobian's part; the object is condensed. */
RS_FN void rs_share_jacobian(const rs_work *w, const rs_scratch *s)
{
    const int32_t r = RS_GET(w->object->parent_modes), row = (int32_t)RS_ROW(r), wide = (int32_t)modal_step_padded(r);
    real *map = s->sums, *image = s->m1; /* [6, 8] */
    const real *inertia = w->own.inertia;
    RS_EACH(c, 6) { rs_map_row(w->relative, c, map + 8 * c); }
    RS_EACH_OF(c, 6, k, row) { w->follow_0[c * wide + k] = w->follow[c * wide + k]; }
    RS_EACH(e, 12) { w->relative_0[e] = w->relative[e]; }
    RS_EACH_OF(c, 6, k, row)
    {
        real sum = RS_ALL(0);
        for (int d = 0; d < 6; d++) sum += inertia[8 * c + d] * w->follow[d * wide + k];
        s->product[c * wide + k] = sum;
    }
    RS_SYNC();
    RS_EACH_OF(d, 6, j, 6)
    {
        real sum = RS_ALL(0);
        for (int e = 0; e < 6; e++) sum += inertia[8 * d + e] * map[8 * e + j];
        image[8 * d + j] = sum;
    }
    RS_EACH_OF(k, r, l, row)
    {
        real sum = RS_ALL(0);
        for (int c = 0; c < 6; c++) sum += w->follow[c * wide + k] * s->product[c * wide + l];
        w->share.matrix[k * wide + l] = sum;
    }
    RS_SYNC();
    RS_EACH_OF(k, r, j, 6)
    {
        real sum = RS_ALL(0);
        for (int d = 0; d < 6; d++) sum += w->follow[d * wide + k] * image[8 * d + j];
        w->share.coupling[8 * k + j] = sum;
    }
    RS_EACH_OF(i, 6, j, 6)
    {
        real sum = RS_ALL(0);
        for (int d = 0; d < 6; d++) sum += map[8 * d + i] * image[8 * d + j];
        w->share.inertia[8 * i + j] = sum;
    }
}

/* ---- leaves to roots ---- */

#if RS_PACK == 1
/* The shares of brothers and sisters lie one after the other, and are added in their order. */
RS_FN void rs_add_children(const modal_step_task *t, const rs_work *w, int fresh)
{
    RS_OWN(o, w);
    const int32_t r = o->n_modes, n = o->n_children;
    const int64_t size = rs_equations_size(r);
    const int32_t loads = (int32_t)rs_loads_size(r) - 8, all = (int32_t)rs_equations_size(r);
    const real *shares = t->work + RS_GET(t->objects[o->first_child].share);
#if RS_WIDE
    real *own = w->own.load;
    for (int32_t c = 0; c < n; c++) {
        const real *share = shares + c * size;
        const int32_t end = fresh ? all : loads;
        for (int32_t e = 0; e < loads; e++) own[e] += share[e];
        for (int32_t e = loads + 8; e < end; e++) own[e] += share[e];
    }
    for (int32_t c = 0; c < n; c++)
        for (int e = 0; e < 6; e++) {
            const real share = shares[c * size + loads + e], value = w->own.scale[e];
            w->own.scale[e] = e == 1 || e == 2 ? value + share : RS_MAX(value, share);
        }
#else
    RS_EACH(e, fresh ? all : loads + 6)
    {
        const int largest = e >= loads && e < loads + 8 && e != loads + 1 && e != loads + 2; /* of scale */
        const int near = e < loads + 8;
        real value = near ? w->own.load[e] : w->kept[e];
        RS_TOGETHER(c, on, n, 16)
        {
            const real share = shares[c * size + e];
            value = largest ? RS_MAX(value, share) : value + RS_IF(on, share);
        }
        if (near)
            w->own.load[e] = value;
        else
            w->kept[e] = value;
    }
    RS_SYNC();
#endif
}
#endif

/* Cholesky factor U^T U of the upper half of a [n, wide] in place, its diagonal inverted; 0 where it is not
 * positive definite. */
RS_FN real_mask rs_factor(real *a, int32_t n, int32_t wide)
{
    real_mask sound = RS_ALL(1.0) > 0;
    for (int32_t j = 0; j < n; j++) {
        real *pivot_row = a + j * wide;
        const real pivot = pivot_row[j];
        sound &= (pivot > 0) & (pivot <= 1e300);
        if (!RS_ANY(sound)) return sound;
        const real inverse = 1 / RS_SQRT(pivot);
#if RS_WIDE
        pivot_row[j] = inverse;
        for (int32_t k = j + 1; k < n; k++) pivot_row[k] *= inverse;
        for (int32_t i = j + 1; i < n; i++) {
            const real factor = pivot_row[i];
            _Pragma("GCC ivdep") for (int32_t k = i; k < n; k++) a[i * wide + k] -= factor * pivot_row[k];
        }
#elif RS_FEW
        /* a row a lane, by the pivot's row as it was */
        const int32_t i = RS_LANE;
        double row[RS_FEW];
        for (int32_t k = 0; k < RS_FEW; k++) row[k] = k < n ? pivot_row[k] : 0;
        RS_SYNC();
        if (i > j && i < n) {
            const double factor = pivot_row[i] * inverse * inverse;
            for (int32_t k = 0; k < RS_FEW; k++)
                if (k >= i && k < n) a[i * wide + k] -= factor * row[k];
        }
        RS_SYNC();
        if (i >= j && i < n) pivot_row[i] = i == j ? inverse : pivot_row[i] * inverse;
        RS_SYNC();
#else
        /* by the row as it was, so that no lane waits for another's quotient */
        const real square = inverse * inverse;
        const int32_t left = n - j - 1;
        RS_EACH_OF(i, left, k, left)
        {
            if (k >= i) a[(j + 1 + i) * wide + j + 1 + k] -= pivot_row[j + 1 + i] * square * pivot_row[j + 1 + k];
        }
        RS_SYNC();
        RS_EACH(i, n)
        {
            if (i > j) pivot_row[i] *= inverse;
            if (i == j) pivot_row[j] = inverse;
        }
#endif
    }
    RS_SYNC();
    return sound;
}

#if RS_FEW
/* A column a lane, in registers: x [n, 8] = A^-1 right for 6 columns, inverse [n, 8] = A^-1. */
RS_FN void rs_solve_few(const double *a, int32_t n, const double *right, double *x, double *inverse)
{
    RS_EACH(c, 6 + n)
    {
        double column[RS_FEW];
        for (int32_t i = 0; i < RS_FEW; i++) {
            const double given = c < 6 ? right[8 * (i < n ? i : 0) + c] : i == c - 6;
            column[i] = i < n ? given : 0;
        }
        for (int32_t i = 0; i < RS_FEW; i++)
            if (i < n) {
                for (int32_t k = 0; k < i; k++) column[i] -= a[RS_FEW * k + i] * column[k];
                column[i] *= a[(RS_FEW + 1) * i];
            }
        for (int32_t i = RS_FEW; i-- > 0;)
            if (i < n) {
                for (int32_t k = i + 1; k < RS_FEW; k++)
                    if (k < n) column[i] -= a[RS_FEW * i + k] * column[k];
                column[i] *= a[(RS_FEW + 1) * i];
            }
        double *to = c < 6 ? x + c : inverse + c - 6;
        for (int32_t i = 0; i < RS_FEW; i++)
            if (i < n) to[RS_FEW * i] = column[i];
    }
    RS_SYNC();
}
#else
/* x [n, 8] = A^-1 x for its first 6 columns, the others being 0, and inverse [n, wide], the identity, = A^-1. */
RS_FN void rs_solve(const real *a, int32_t n, int32_t wide, real *x, real *inverse)
{
#if RS_WIDE
    for (int part = 0; part < 2; part++) {
        real *rows = part ? inverse : x;
        const int32_t step = part ? wide : 8, width = (int32_t)RS_ROW(part ? n : 6);
        for (int32_t i = 0; i < n; i++) {
            real *row = rows + i * step;
            for (int32_t k = 0; k < i; k++) {
                const real factor = a[k * wide + i], *other = rows + k * step;
                _Pragma("GCC ivdep") for (int32_t c = 0; c < width; c++) row[c] -= factor * other[c];
            }
            for (int32_t c = 0; c < width; c++) row[c] *= a[i * wide + i];
        }
        for (int32_t i = n; i-- > 0;) {
            real *row = rows + i * step;
            for (int32_t k = i + 1; k < n; k++) {
                const real factor = a[i * wide + k], *other = rows + k * step;
                _Pragma("GCC ivdep") for (int32_t c = 0; c < width; c++) row[c] -= factor * other[c];
            }
            for (int32_t c = 0; c < width; c++) row[c] *= a[i * wide + i];
        }
    }
#else
    RS_EACH(c, 6 + n)
    {
        real *column = c < 6 ? x + c : inverse + c - 6;
        const int32_t step = c < 6 ? 8 : wide;
        for (int32_t i = c < 6 ? 0 : c - 6; i < n; i++) {
            real sum = column[i * step];
            for (int32_t k = c < 6 ? 0 : c - 6; k < i; k++) sum -= a[k * wide + i] * column[k * step];
            column[i * step] = sum * a[i * wide + i];
        }
        for (int32_t i = n; i-- > 0;) {
            real sum = column[i * step];
            for (int32_t k = i + 1; k < n; k++) sum -= a[i * wide + k] * column[k * step];
            column[i * step] = sum * a[i * wide + i];
        }
    }
#endif
    RS_SYNC();
}

#endif

#if !RS_WIDE && !RS_FEW
#include "kernels/reduced_step/body_sweep.cuh"
#endif

/* A^-1 and A^-1 B. */
RS_FN real_mask rs_invert(const rs_work *w, const rs_scratch *s, int32_t r, int32_t wide)
{
    RS_EACH_OF(k, r, l, RS_ROW(r))
    {
        s->dense[k * wide + l] = w->own.matrix[k * wide + l];
#if !RS_FEW
        w->inverse[k * wide + l] = RS_ALL(k == l);
#endif
    }
#if !RS_FEW
    RS_EACH(e, 8 * r) { w->solved[e] = w->own.coupling[e]; }
#endif
    RS_SYNC();
    const real_mask sound = rs_factor(s->dense, r, wide);
    if (!RS_ANY(sound)) return sound;
#if RS_FEW
    rs_solve_few(s->dense, r, w->own.coupling, w->solved, w->inverse);
#else
    rs_solve(s->dense, r, wide, w->solved, w->inverse);
#endif
    return sound;
}

/* These, and the inertia that the parent feels. */
RS_FN real_mask rs_condense(const rs_work *w, const rs_scratch *s)
{
    const int32_t r = RS_GET(w->object->n_modes), wide = (int32_t)modal_step_padded(r);
#if !RS_WIDE && !RS_FEW
    const real_mask sound = r > RS_GRID_MODES ? rs_invert_large(w, s, r, wide) : rs_invert(w, s, r, wide);
#else
    const real_mask sound = rs_invert(w, s, r, wide);
#endif
    if (!RS_ANY(sound) || RS_GET(w->object->motion) == MODAL_STEP_FIXED) return sound;
#if RS_WIDE
    for (int32_t k = 0; k < r; k++)
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < RS_ROW(6); j++)
                w->own.inertia[8 * i + j] -= w->own.coupling[8 * k + i] * w->solved[8 * k + j];
#else
    RS_EACH_OF(i, 6, j, 6)
    {
        real sum = RS_ALL(0);
        RS_MODES(k, on, r) sum += RS_IF(on, w->own.coupling[8 * k + i]) * w->solved[8 * k + j];
        w->own.inertia[8 * i + j] -= sum;
    }
    RS_SYNC();
#endif
    return sound;
}

#if RS_PACK == 1
/* The twist of a free root, by a Cholesky factorisation of one lane; 0 where its inertia is not positive. */
RS_FN int rs_root_twist(const rs_work *w, const double *load)
{
    double a[36], x[6];
    for (int i = 0; i < 36; i++) a[i] = w->own.inertia[8 * (i / 6) + i % 6];
    for (int i = 0; i < 6; i++) x[i] = -(load[i] + load[8 + i]);
    int sound = 1;
    for (int j = 0; j < 6 && sound; j++) {
        sound = a[7 * j] > 0;
        const double root = sqrt(a[7 * j]);
        for (int i = j; i < 6; i++) a[6 * i + j] /= root;
        for (int i = j + 1; i < 6; i++)
            for (int k = j + 1; k <= i; k++) a[6 * i + k] -= a[6 * i + j] * a[6 * k + j];
    }
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < i; k++) x[i] -= a[6 * i + k] * x[k];
        x[i] /= a[7 * i];
    }
    for (int i = 6; i-- > 0;) {
        for (int k = i + 1; k < 6; k++) x[i] -= a[6 * k + i] * x[k];
        x[i] /= a[7 * i];
    }
    for (int i = 0; i < 6; i++) w->twist[i] = x[i];
    return sound;
}
#endif

/* The residual against its terms. before: the object's own status and the sum of its own terms: whether a fault is
 * its own, not a child's, which a failure names. One lane. */
RS_FN void rs_check(const modal_step_task *t, const rs_work *w, real before, real own)
{
    RS_OWN(o, w);
    const int32_t r = o->n_modes, wide = (int32_t)modal_step_padded(r);
    const real *g = w->own.load + wide;
    real *scale = w->own.scale, worst = RS_ALL(0), sum = RS_ALL(0);
#if RS_WARP_SUMS
    for (int32_t k = RS_LANE; k < r; k += 32) {
        const real size = RS_ABS(g[k]);
        worst = RS_MAX(worst, size);
        sum += size;
    }
    worst = rs_warp_largest(worst);
    sum = rs_warp_sum(sum);
    if (RS_LANE != 0) return;
#else
    RS_MODES(k, on, r)
    {
        const real size = RS_IF(on, RS_ABS(g[k]));
        worst = RS_MAX(worst, size);
        sum += size;
    }
#endif
    for (int l = 0; l < RS_COUNT(w); l++) {
        const double size = RS_OF(worst, l), largest = RS_OF(scale[0], l);
        double relative = size > 0 ? size / largest : 0;
        int finite = RS_OF(sum, l) <= 1e300; /* no for NaN */
        int good = size <= t->tolerance * largest;
#if RS_PACK == 1
        const double *n = w->own.load + 2 * wide + 8;
        for (int half = 0; half < 2 && o->motion == MODAL_STEP_FREE; half++) {
            const double force = sqrt(rs_dot(n + 3 * half, n + 3 * half));
            finite &= force <= 1e300;
            if (force > 0) relative = RS_MAX(relative, force / scale[1 + half]);
            good &= force <= t->tolerance * scale[1 + half];
        }
#endif
        const int status = finite ? good ? 0 : MODAL_STEP_RUNNING : MODAL_STEP_BROKEN;
        const int sound = RS_OF(own, l) <= 1e300, turned = RS_OF(before, l) == MODAL_STEP_INVERTED;
        modal_step_measure *m = &t->measures[w->index + l];
        m->residual = finite ? relative : INFINITY;
        m->status = status == 0 ? MODAL_STEP_CONVERGED : status == MODAL_STEP_BROKEN && sound ? MODAL_STEP_RUNNING : status;
        if (RS_OF(scale[4], l) == MODAL_STEP_INVERTED) m->status = turned ? MODAL_STEP_INVERTED : MODAL_STEP_RUNNING;
        RS_OF(scale[4], l) = RS_OF(scale[4], l) > status ? RS_OF(scale[4], l) : status;
        RS_OF(scale[5], l) = RS_OF(scale[5], l) > relative ? RS_OF(scale[5], l) : relative;
    }
}

#if RS_PACK == 1

/* At the root, with all that hangs on it: whether the tree has converged, keeps its Jacobian, or is broken. */
RS_FN void rs_judge_tree(const modal_step_task *t, const rs_work *w, real *wrench)
{
    RS_OWN(o, w);
    real *scale = w->own.scale;
    if (o->motion == MODAL_STEP_FREE && !rs_root_twist(w, wrench)) {
        scale[4] = MODAL_STEP_BROKEN;
        t->measures[w->index].status = MODAL_STEP_BROKEN;
    }
    int32_t status = scale[4] == 0 ? MODAL_STEP_CONVERGED : (int32_t)scale[4];
    /* twist [6]: the residual before; 0 before the first */
    if (status == MODAL_STEP_RUNNING && t->rule != MODAL_STEP_STATIC &&
        (!(w->twist[6] > 0) || scale[5] <= 0.25 * w->twist[6]))
        status = MODAL_STEP_FROZEN;
    w->twist[6] = scale[5];
    t->status[o->tree] = status;
}

#endif

/* step = A^-1 condensed, and the wrench less B^T A^-1 condensed. */
RS_FN void rs_take_inverse(const rs_work *w, int32_t r, int32_t wide, const real *condensed, real *wrench)
{
#if RS_WIDE
    for (int32_t k = 0; k < r; k++) w->step[k] = RS_ALL(0);
    for (int32_t k = 0; k < r; k++) {
        const real load = condensed[k];
        for (int32_t l = 0; l < RS_ROW(r); l++) w->step[l] += w->inverse[k * wide + l] * load;
        for (int c = 0; c < RS_ROW(6); c++) wrench[c] -= w->solved[8 * k + c] * load;
    }
#else
#if !RS_FEW
    for (int32_t base = 0; base < r && r > RS_GRID_MODES; base += RS_LANES / 8) { /* eight lanes a row */
        const int32_t k = base + RS_LANE / 8, lane = RS_LANE % 8;
        double sum = 0;
#pragma unroll 8
        for (int32_t l = lane; l < r; l += 8)
            if (k < r) sum = fma(w->inverse[k * wide + l], condensed[l], sum);
        for (int32_t d = 4; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
        if (k < r && lane == 0) w->step[k] = sum;
    }
#endif
    for (int32_t k = RS_LANE + (r > RS_GRID_MODES ? r : 0); k < r + 6; k += RS_LANES) {
        const real *column = k < r ? w->inverse + k : w->solved + k - r;
        const int32_t apart = k < r ? wide : 8;
        real sum = RS_ALL(0);
        RS_MODES(l, on, r) sum += column[l * apart] * RS_IF(on, condensed[l]);
        if (k < r)
            w->step[k] = sum;
        else
            wrench[k - r] -= sum;
    }
#endif
}

/* Adds the children, checks the residual, condenses; a root sets the tree's status. */
RS_FN void rs_eliminate(const modal_step_task *t, const rs_work *w, real *memory)
{
    RS_OWN(o, w);
    if (!rs_takes_part(t, o)) return;
    const rs_scratch s = rs_scratch_of(t, memory);
    const int32_t r = o->n_modes, wide = (int32_t)modal_step_padded(r), fresh = rs_fresh(t, o);
#if !RS_WIDE
    const rs_work near = rs_near_loads(w, &s);
    w = &near;
    RS_EACH(e, o->n_children > 0 ? rs_loads_size(r) : 0) { w->own.load[e] = w->kept[e]; }
    RS_SYNC();
#endif
    real *condensed = w->own.load, *wrench = condensed + 2 * wide;
    RS_EACH(k, RS_ROW(r)) { condensed[k] = RS_ALL(0); }
    RS_EACH(c, 8) { wrench[c] = RS_ALL(0); }
    real before = RS_ALL(0), own = RS_ALL(0);
#if RS_WARP_SUMS
    if (RS_LANE < 32) {
        for (int32_t k = RS_LANE; k < r; k += 32) own += RS_ABS(condensed[wide + k]);
        own = rs_warp_sum(own);
    }
#endif
    if (RS_LANE == 0) {
        before = w->own.scale[4];
#if !RS_WARP_SUMS
        RS_MODES(k, on, r) own += RS_IF(on, RS_ABS(condensed[wide + k]));
#endif
        for (int c = 0; c < 6; c++) own += RS_ABS(wrench[8 + c]);
        w->own.scale[5] = RS_ALL(0);
    }
    RS_SYNC();
#if RS_PACK == 1
    if (o->n_children > 0) rs_add_children(t, w, fresh);
#endif
    if (RS_LANE < (RS_WARP_SUMS ? 32 : 1)) rs_check(t, w, before, own);
    if (fresh) {
        const real_mask sound = rs_condense(w, &s);
        if (!RS_EVERY(sound)) {
            RS_SYNC();
            for (int l = 0; l < RS_COUNT(w) && RS_LANE == 0; l++) {
                if (RS_OF(sound, l)) continue;
                if (RS_OF(w->own.scale[4], l) != MODAL_STEP_BROKEN) t->measures[w->index + l].status = MODAL_STEP_BROKEN;
                RS_OF(w->own.scale[4], l) = MODAL_STEP_BROKEN;
            }
        }
    }
    RS_EACH(k, r) { condensed[k] += condensed[wide + k]; }
    RS_SYNC();
    rs_take_inverse(w, r, wide, condensed, wrench);
    RS_SYNC();
    if (o->parent >= 0) {
        if (fresh) rs_share_jacobian(w, &s);
        RS_SYNC(); /* follow_0 */
        rs_share_loads(w);
        RS_SYNC();
        return;
    }
#if !RS_WIDE
    RS_EACH(c, 8) { w->kept[2 * wide + 8 + c] = wrench[8 + c]; } /* of a driven root: for the power of its support */
#endif
#if RS_PACK == 1
    if (RS_LANE == 0) rs_judge_tree(t, w, wrench);
    RS_SYNC();
#endif
}
