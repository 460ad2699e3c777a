/* SPDX-License-Identifier: Apache-2.0 */
/* Part of reduced_step_body.h: forces at points, and their drag's part in the Jacobian. */

/* Three numbers of the point `at` of each object. */
RS_FN void rs_at_points(const double *array, const rs_work *w, int32_t at, real *x)
{
    double *to = (double *)x;
    for (int32_t l = 0; l < RS_PACK; l++) {
        const double *from = array + 3 * (w->object[l < RS_COUNT(w) ? l : RS_COUNT(w) - 1].first_point + at);
        for (int i = 0; i < 3; i++) to[RS_PACK * i + l] = from[i];
    }
}

#if !RS_WIDE && !RS_FEW
/* matrix += sum over n points of (their drag times mode k) . mode l: a warp a row, whose half of the products is in registers. */
RS_FN void rs_add_drags(const rs_work *w, const rs_scratch *s, int32_t n)
{
    const int32_t r = RS_GET(w->object->n_modes), wide = (int32_t)modal_step_padded(r);
    RS_SYNC();
    for (int32_t e = n * 6 * r + RS_LANE; e < RS_DRAGS * 6 * r; e += RS_LANES) s->drags[e] = 0;
    RS_SYNC();
    for (int32_t k = RS_LANE / 32; k < r; k += RS_LANES / 32) {
        double down[3 * RS_DRAGS];
#pragma unroll
        for (int c = 0; c < 3 * RS_DRAGS; c++) down[c] = s->drags[(c / 3 * 6 + c % 3) * r + k];
#pragma unroll 2
        for (int32_t l = k + RS_LANE % 32; l < r; l += 32) {
            double sum = w->own.matrix[k * wide + l];
#pragma unroll
            for (int c = 0; c < 3 * RS_DRAGS; c++) sum = fma(down[c], s->drags[(c / 3 * 6 + 3 + c % 3) * r + l], sum);
            w->own.matrix[k * wide + l] = sum;
        }
    }
    RS_SYNC();
}
#endif

/* Forces at points into the residual g and the wrench n, and the drag's part in the Jacobian. */
RS_FN void rs_add_points(const modal_step_task *t, const rs_work *w, const rs_scratch *s, const real *velocities,
                         int fresh, real *g, real *n)
{
    RS_OWN(o, w);
    const rs_pose *f = w->pose;
    const int32_t r = o->n_modes;
    const real *q = t->rule == MODAL_STEP_ENERGY ? s->middle : w->q;
    const double jv = rs_rule_of(t).jv;
    const int moving = o->motion != MODAL_STEP_FIXED;
    const int64_t wide = modal_step_padded(r);
#if RS_WIDE
    const int large = 0;
#else
    const int large = r > RS_GRID_MODES;
#endif
#if !RS_WIDE && !RS_FEW
    int32_t n_drags = 0;
#endif
    real speed[3];
    rs_apply_transposed(f->rotation, f->velocity, speed);
    for (int32_t at = 0; at < o->n_points; at++) {
        const int32_t point = o->first_point + at;
        const double *table = t->tables + t->points[point].table, drag = t->points[point].drag;
        const int blown = drag > 0 && t->air && t->rule != MODAL_STEP_STATIC;
#if RS_WIDE
        real own[8];
        for (int c = 0; c < 3; c++) {
            own[c] = RS_ALL(table[c]);
            own[3 + c] = RS_ALL(0);
        }
        for (int32_t k = 0; k < r; k++)
            for (int c = 0; c < 3; c++) {
                own[c] += table[MODAL_STEP_POINT * (1 + k) + c] * q[k];
                own[3 + c] += table[MODAL_STEP_POINT * (1 + k) + c] * velocities[k];
            }
#else
        real *own = s->sums + 8 * (at % 2); /* lanes may still read the last point's */
#if !RS_FEW
        for (int32_t c = RS_LANE / 32; c < 6 && large; c += RS_LANES / 32) { /* a warp each */
            const real *x = c < 3 ? q : velocities;
            double sum = 0;
#pragma unroll 4
            for (int32_t k = RS_LANE % 32; k < r; k += 32)
                sum = fma(RS_GET(table[MODAL_STEP_POINT * (1 + k) + c % 3]), x[k], sum);
            for (int32_t d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
            if (RS_LANE % 32 == 0) own[c] = sum + (c < 3 ? RS_GET(table[c]) : 0);
        }
#endif
        RS_EACH(c, large ? 0 : 6)
        {
            real sum = c < 3 ? RS_GET(table[c]) : 0;
            const real *x = c < 3 ? q : velocities;
            RS_MODES(k, on, r) sum += RS_GET(table[MODAL_STEP_POINT * (1 + k) + c % 3]) * RS_IF(on, x[k]);
            own[c] = sum;
        }
        RS_SYNC();
#endif
        /* every lane alike: small, and needed by all */
        const real y[3] = {own[0], own[1], own[2]};
        real push[3], force[3], turn[3], wind[3], damp[9];
        rs_at_points(t->point_force, w, at, push);
        rs_apply_transposed(f->rotation, push, force);
        for (int i = 0; i < 9; i++) damp[i] = RS_ALL(0);
        if (blown) {
            rs_at_points(t->point_air, w, at, push);
            rs_apply_transposed(f->rotation, push, wind);
            rs_cross(f->spin, y, turn);
            for (int i = 0; i < 3; i++) wind[i] -= speed[i] + turn[i] + own[3 + i];
            const real size = RS_SQRT(rs_dot(wind, wind)), part = RS_PICK(size > 0, 1 / size, RS_ALL(0));
            for (int i = 0; i < 3; i++) {
                force[i] += drag * size * wind[i];
                for (int j = 0; j < 3; j++)
                    damp[3 * i + j] = jv * drag * (i == j ? size + wind[i] * wind[j] * part : wind[i] * wind[j] * part);
            }
        }
        real moment[3];
        rs_cross(y, force, moment);
        RS_EACH(k, r)
        {
            const double *row = table + MODAL_STEP_POINT * (1 + k);
            const real u[3] = {RS_ALL(RS_GET(row[0])), RS_ALL(RS_GET(row[1])), RS_ALL(RS_GET(row[2]))};
            const real work = rs_dot(u, force);
            g[k] -= work;
            s->terms[k] = RS_MAX(s->terms[k], RS_ABS(work));
        }
        if (RS_LANE == 0 && moving) {
            for (int i = 0; i < 3; i++) {
                n[i] -= force[i];
                n[3 + i] -= moment[i];
            }
            w->own.scale[1] += RS_SQRT(rs_dot(force, force));
            w->own.scale[2] += RS_SQRT(rs_dot(moment, moment));
        }
        if (!fresh || !blown || jv == 0) continue;
        /* velocity of the point = p' + w x y + U v: columns U, 1, -[y]x */
        RS_EACH(k, r)
        {
            const double *mode = table + MODAL_STEP_POINT * (1 + k);
            const real u[3] = {RS_ALL(RS_GET(mode[0])), RS_ALL(RS_GET(mode[1])), RS_ALL(RS_GET(mode[2]))};
            real du[3], m[3];
            rs_apply(damp, u, du); /* damp is symmetric */
            for (int32_t l = k; l < r && !large; l++) {
                const double *row = table + MODAL_STEP_POINT * (1 + l);
                w->own.matrix[k * wide + l] += du[0] * RS_GET(row[0]) + du[1] * RS_GET(row[1]) + du[2] * RS_GET(row[2]);
            }
#if !RS_WIDE && !RS_FEW
            for (int i = 0; i < 3 && large; i++) s->drags[(6 * n_drags + i) * r + k] = du[i];
            for (int i = 0; i < 3 && large; i++) s->drags[(6 * n_drags + 3 + i) * r + k] = u[i];
#endif
            if (!moving) continue;
            rs_cross(y, du, m); /* -[y]x^T du = y x du */
            for (int i = 0; i < 3; i++) {
                w->own.coupling[8 * k + i] += du[i];
                w->own.coupling[8 * k + 3 + i] += m[i];
            }
        }
#if !RS_WIDE && !RS_FEW
        if (large && ++n_drags == RS_DRAGS) {
            rs_add_drags(w, s, n_drags);
            n_drags = 0;
        }
#endif
        RS_EACH(c, moving ? 6 : 0) /* columns of the inertia: a unit velocity, or the one that a unit spin gives */
        {
            const real unit[3] = {RS_ALL(c % 3 == 0 ? 1.0 : 0), RS_ALL(c % 3 == 1 ? 1.0 : 0), RS_ALL(c % 3 == 2 ? 1.0 : 0)};
            real column[3] = {unit[0], unit[1], unit[2]}, du[3], m[3];
            if (c >= 3) rs_cross(unit, y, column);
            rs_apply(damp, column, du);
            rs_cross(y, du, m);
            for (int i = 0; i < 3; i++) {
                w->own.inertia[8 * i + c] += du[i];
                w->own.inertia[8 * (3 + i) + c] += m[i];
            }
        }
    }
#if !RS_WIDE && !RS_FEW
    if (n_drags > 0) rs_add_drags(w, s, n_drags);
#endif
}
