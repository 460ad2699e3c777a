/* SPDX-License-Identifier: Apache-2.0 */
/* Part of reduced_step_body.h: residual, Jacobian and wrench of one object. */

/* ---- the residual of one object ---- */

enum { RS_DRAGS = 4 }; /* points whose drag a large object takes into its Jacobian at once */

typedef struct rs_scratch {
    real *m1, *m2;             /* [rows] monomials */
    real *tangent, *secant;    /* [pairs] K(q) and, packed, the matrix with f = matrix q */
    real *dense;               /* [r, padded r], or a second tangent [pairs] */
    real *moments, *rates;     /* [moments] int rho phi y^T and int rho phi (U q')^T, where the last three were */
    real *sums;                /* [48] */
    real *product;             /* [6, padded r] */
    real *middle;              /* [r] q in the middle of the step, [r] a second vector */
    real *terms;               /* [padded r] largest term of each equation */
    real *force, *force_2;     /* [padded r] */
    real *drag;                /* [padded r] */
    real *load, *state;        /* on a GPU: the object's loads, [3, padded r] its q, v and a */
    real *drags;               /* on a GPU, of large objects: [RS_DRAGS, 6, r] of points with drag, over the moments */
    real *large;               /* on a CPU: what RS_LARGE needs; on a GPU: K, g and a part of f as the grid left them */
} rs_scratch;

RS_FN rs_scratch rs_scratch_of(const modal_step_task *t, real *memory)
{
    const int64_t most = RS_MOST(t), r = modal_step_padded(most), pairs = modal_step_pairs(most);
    const int64_t moments = modal_step_moments(most);
#if RS_WIDE
    const int64_t rows = modal_step_scratch_rows(most, RS_MOST_ROWS(t)), few = pairs;
    const int64_t wanted = 2 * pairs + most * r, matrices = wanted > 2 * moments ? wanted : 2 * moments;
#else
    const int64_t rows = modal_step_device_rows(most, RS_MOST_ROWS(t)), matrices = modal_step_device_matrices(most);
    const int64_t few = most < MODAL_STEP_TABLE_MODES ? pairs : modal_step_pairs(MODAL_STEP_TABLE_MODES);
#endif
    rs_scratch s;
    s.m1 = memory; /* m1 and m2 together hold what RS_FORCE needs, and one behind the other */
    s.m2 = s.m1 + rows;
    s.tangent = s.m2 + rows;
    s.secant = s.tangent + few;
    s.dense = s.secant + few;
    s.moments = s.tangent;
    s.rates = s.moments + moments;
    s.sums = s.tangent + matrices;
    s.product = s.sums + 48;
    s.middle = s.product + 6 * r;
    s.terms = s.middle + 2 * r;
    s.force = s.terms + r;
    s.force_2 = s.force + r;
    s.drag = s.force_2 + r;
    s.load = s.drag + r;
    s.state = s.load + 2 * r + 24;
    s.large = s.state + 3 * r;
    s.drags = s.tangent;
    return s;
}

#if !RS_WIDE
/* An object's loads are near while it is worked on, and in w->kept between its residual and its elimination, but for
 * those of an object without children, which is eliminated at once. */
RS_FN rs_work rs_near_loads(const rs_work *far, const rs_scratch *s)
{
    rs_work w = *far;
    w.own.load = s->load;
    w.own.scale = s->load + 2 * modal_step_padded(RS_GET(w.object->n_modes)) + 16;
    return w;
}
/* Its state, too: the frame where product is later. */
RS_FN rs_work rs_near_state(const rs_work *far, const rs_scratch *s)
{
    rs_work w = rs_near_loads(far, s);
    const int32_t r = RS_GET(w.object->n_modes), wide = (int32_t)modal_step_padded(r);
    w.q = s->state;
    w.v = s->state + wide;
    w.a = s->state + 2 * wide;
    w.pose = (rs_pose *)s->product;
    RS_EACH(k, r)
    {
        w.q[k] = far->q[k];
        w.v[k] = far->v[k];
        w.a[k] = w.last[k] = far->a[k];
    }
    RS_EACH(e, (int32_t)(sizeof(rs_pose) / sizeof(double))) { s->product[e] = ((const double *)far->pose)[e]; }
    RS_SYNC();
    return w;
}
#endif

#if !RS_WIDE
/* An object that the grid evaluates has K and the like in its work, in one of two slots. */
RS_FN void rs_large_slot(const modal_step_task *t, const modal_step_object *o, int slot, rs_scratch *s)
{
    const int64_t r = o->n_modes;
    if (r <= RS_GRID_MODES) return;
    s->tangent = s->large = t->work + o->work + modal_step_work_size_small(r, o->parent_modes) + slot * modal_step_slot_size(r);
}
#endif

#if RS_PACK == 1
/* Row k of a packed symmetric matrix times x. */
RS_FN double rs_packed_row(const double *packed, int32_t r, int32_t k, const double *x)
{
    double sum = 0;
    RS_MODES(l, on, r)
    {
        const int32_t low = l < k ? l : k, high = l < k ? k : l;
        sum += packed[low * r - low * (low - 1) / 2 + high - low] * RS_IF(on, x[l]);
    }
    return sum;
}

#endif

/* y = packed x. */
RS_FN void rs_packed_times(const double *packed, int32_t r, const real *x, real *y)
{
#if RS_WIDE
    for (int32_t k = 0; k < r; k++) y[k] = RS_ALL(0);
    for (int32_t k = 0; k < r; k++) {
        const real xk = x[k];
        real sum = packed[0] * xk;
        for (int32_t l = k + 1; l < r; l++) {
            sum += packed[l - k] * x[l];
            y[l] += packed[l - k] * xk;
        }
        y[k] += sum;
        packed += r - k;
    }
#else
    if (r <= RS_GRID_MODES) {
        RS_EACH(k, r) { y[k] = rs_packed_row(packed, r, k, x); }
    } else { /* eight lanes a row */
        for (int32_t base = 0; base < r; base += RS_LANES / 8) {
            const int32_t k = base + RS_LANE / 8, lane = RS_LANE % 8;
            double sum = 0;
#pragma unroll 8
            for (int32_t l = lane; l < r; l += 8) {
                const int32_t low = l < k ? l : k, high = l < k ? k : l;
                if (k < r) sum = fma(packed[low * r - low * (low - 1) / 2 + high - low], x[l], sum);
            }
            for (int32_t d = 4; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
            if (k < r && lane == 0) y[k] = sum;
        }
        RS_SYNC();
    }
#endif
}

/* y += beta matrix x, a packed matrix of the object's own. */
RS_FN void rs_add_tangent(const real *matrix, int32_t r, double beta, const real *x, real *y)
{
#if RS_WIDE
    for (int32_t k = 0; k < r; k++) {
        const real xk = beta * x[k];
        real sum = matrix[0] * xk;
        for (int32_t l = k + 1; l < r; l++) {
            sum += beta * matrix[l - k] * x[l];
            y[l] += matrix[l - k] * xk;
        }
        y[k] += sum;
        matrix += r - k;
    }
#else
    RS_EACH(k, r) { y[k] += beta * rs_packed_row(matrix, r, k, x); }
#endif
}

/* f(q), and K(q) where it is asked for. By K's coefficients: the matrix S with f(q) = S q; f is a sum of forms of
 * degree 1, 2, 3, and a form of degree n is its derivative times q / n. Ends with RS_SYNC. */
RS_FN void rs_stiffness(const modal_step_task *t, const modal_step_shape *shape, const real *q,
                        const rs_scratch *s, real *tangent, real *force)
{
    const int32_t r = shape->n_modes, pairs = (int32_t)modal_step_pairs(r);
    const double *table = t->tables + shape->stiffness;
    if (!shape->cubic) {
        RS_EACH(i, tangent ? pairs : 0) { tangent[i] = RS_ALL(table[i]); }
        rs_packed_times(table, r, q, force);
        RS_SYNC();
        return;
    }
#ifdef RS_LARGE
    if (r > MODAL_STEP_TABLE_MODES) {
        RS_LARGE(r, t->tables + shape->energy, q, s->large, force, tangent);
        return;
    }
#endif
#if !RS_WIDE
    if (r > RS_GRID_MODES) { /* K is where `tangent` points */
        const real *g = s->large + pairs, *part = g + pairs;
        rs_packed_times(g, r, q, force);
        RS_SYNC();
        RS_EACH(k, r) { force[k] += part[k] + g[k * r - k * (k - 1) / 2] * q[k]; }
        RS_SYNC();
        return;
    }
#endif
#ifdef RS_FORCE
    RS_FORCE(r, t->tables + shape->energy, q, s->m1, force);
    if (!tangent) return;
#endif
    RS_EACH(i, r)
    {
        const int32_t at = 1 + r + i * r - i * (i - 1) / 2 - i;
        s->m1[1 + i] = q[i];
        s->m2[1 + i] = 0.5 * q[i];
        for (int32_t j = i; j < r; j++) {
            s->m1[at + j] = q[i] * q[j];
            s->m2[at + j] = q[i] * q[j] * (1.0 / 3);
        }
    }
    if (RS_LANE == 0) s->m1[0] = s->m2[0] = RS_ALL(1);
    RS_SYNC();
    const int32_t rows = 1 + r + r * (r + 1) / 2;
#ifdef RS_FORCE
    RS_SUM(rows, pairs, table, s->m1, tangent);
#else
    if (tangent)
        RS_TWO_SUMS(rows, pairs, table, s->m1, s->m2, tangent, s->secant);
    else
        RS_SUM(rows, pairs, table, s->m2, s->secant);
    rs_packed_times(s->secant, r, q, force);
    RS_SYNC();
#endif
}

/* int rho phi y^T and int rho phi (U v)^T. */
RS_FN void rs_moments(const modal_step_task *t, const modal_step_shape *shape, const real *q,
                      const real *v, const rs_scratch *s)
{
    const int32_t r = shape->n_modes;
    RS_EACH(k, r)
    {
        s->m1[1 + k] = q[k];
        s->m2[1 + k] = v[k];
    }
    if (RS_LANE == 0) {
        s->m1[0] = RS_ALL(1);
        s->m2[0] = RS_ALL(0);
    }
    RS_SYNC();
    RS_TWO_SUMS(1 + r, (int32_t)modal_step_moments(r), t->tables + shape->inertia, s->m1, s->m2,
                s->moments, s->rates);
}

/* Into s->sums: int rho y (3), int rho U v (3), int rho (U v) y^T (9), int rho y y^T but for an
 * antisymmetric part (9), B^T (q'' + alpha q') (6). */
RS_FN void rs_pose_sums(const modal_step_task *t, const rs_work *w, const rs_scratch *s, double inertia, double alpha)
{
    RS_SHAPE(shape, t, RS_GET(w->object->shape));
    const int32_t r = shape->n_modes;
    const int average = RS_PACK == 1 && t->rule == MODAL_STEP_ENERGY;
    const real *q = average ? s->middle : w->q, *v = average ? s->middle + r : w->v, *a = w->a;
    const double *lift = t->tables + shape->masses + r, *rest = t->tables + shape->inertia;
#if RS_WIDE
    real sums[30];
    for (int c = 0; c < 30; c++) sums[c] = RS_ALL(c < 3 ? shape->first[c] : c < 15 || c >= 24 ? 0 : shape->second[c - 15]);
    for (int32_t k = 0; k < r; k++) {
        for (int c = 0; c < 3; c++) {
            sums[c] += q[k] * lift[3 * k + c];
            sums[3 + c] += v[k] * lift[3 * k + c];
        }
        for (int c = 0; c < 9; c++) {
            sums[6 + c] += v[k] * s->moments[9 * k + c];
            sums[15 + c] += q[k] * (rest[9 * k + c] + s->moments[9 * k + c]);
        }
        for (int c = 0; c < 6; c++) sums[24 + c] += inertia * a[k] * w->own.coupling[8 * k + c];
        for (int c = 0; c < 6 && alpha != 0; c++) sums[24 + c] += alpha * v[k] * w->own.coupling[8 * k + c];
    }
    for (int c = 0; c < 30; c++) s->sums[c] = sums[c];
#else
    RS_EACH(c, 30)
    {
        /* one way for all, so that the lanes keep together */
        const int32_t apart = c < 6 ? 3 : c < 24 ? 9 : 8, whole = c >= 15 && c < 24;
        const real *x = c < 3 || whole ? q : c < 15 ? v : a;
        const real *table = c < 6 ? lift + c % 3 : c < 24 ? s->moments + (c - 6) % 9 : s->m1 + c - 24; /* coupling */
        real sum = c < 3 ? RS_GET(t->shapes[RS_GET(w->object->shape)].first[c])
                         : whole ? RS_GET(t->shapes[RS_GET(w->object->shape)].second[c - 15]) : 0;
        RS_MODES(k, on, r) sum += RS_IF(on, x[k]) * table[apart * k];
        if (c >= 24) sum *= inertia;
        if (c >= 24 && alpha != 0) RS_MODES(k, on, r) sum += alpha * RS_IF(on, v[k]) * table[apart * k];
        if (whole) RS_MODES(k, on, r) sum += RS_IF(on, q[k]) * RS_GET(rest[9 * k + c - 15]);
        s->sums[c] = sum;
    }
    RS_SYNC();
#endif
}

/* What a body that is rigid adds to the Jacobian of its pose: rows [6, 8] from its mass, first and second moments. */
RS_FN void rs_body_inertia(real *rows, double inertia, double mass, const real *first, const real *body)
{
    const real zero = RS_ALL(0);
    const real cross[9] = {zero, -first[2], first[1], first[2], zero, -first[0], -first[1], first[0], zero};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            rows[8 * i + j] = RS_ALL(i == j ? inertia * mass : 0);
            rows[8 * i + 3 + j] = -inertia * cross[3 * i + j];
            rows[8 * (3 + i) + j] = inertia * cross[3 * i + j];
            rows[8 * (3 + i) + 3 + j] = inertia * body[3 * i + j];
        }
}

/* From here on coupling is part of the Jacobian: none where nothing is inert, more where alpha brakes. */
RS_FN void rs_scale_coupling(const rs_work *w, int32_t r, double inertia, double heavier, int fresh)
{
    if (inertia == 0 ? !fresh : heavier == inertia || !(RS_WIDE || fresh)) return;
    RS_EACH(k, r)
    {
        for (int c = 0; c < 6; c++) w->own.coupling[8 * k + c] = inertia == 0 ? RS_ALL(0) : w->own.coupling[8 * k + c] * heavier;
    }
}

/* Adds the inertia of the moving frame to the residual g [r], and sets coupling, wrench n [6] and inertia. */
RS_FN void rs_add_pose(const modal_step_task *t, const rs_work *w, const rs_scratch *s, const rs_rule *rule, int fresh,
                       real *g, real *n)
{
    RS_SHAPE(shape, t, RS_GET(w->object->shape));
    const double inertia = rule->inertia, alpha = RS_GET(w->object->alpha), heavier = inertia + alpha * rule->jv;
    const rs_pose *f = w->pose;
    const int32_t r = shape->n_modes;
    const int average = RS_PACK == 1 && t->rule == MODAL_STEP_ENERGY;
    const real *q = average ? s->middle : w->q, *v = average ? s->middle + r : w->v;
    const double *lift = t->tables + shape->masses + r;
    real *coupling = RS_WIDE ? w->own.coupling : s->m1; /* near, after its use for the moments */
    real fall[3], accel[3], spin[3], rate[3], brake[3], turn[3]; /* brake, turn: what alpha adds, which may cancel the others */
    for (int i = 0; i < 3; i++) {
        fall[i] = f->acceleration[i] - t->gravity[i];
        spin[i] = f->spin[i];
        rate[i] = f->spin_rate[i];
        brake[i] = alpha * f->velocity[i];
        turn[i] = alpha * f->spin[i];
        if (alpha != 0) fall[i] += brake[i], rate[i] += turn[i];
    }
    rs_apply_transposed(f->rotation, fall, accel);
    const real pull = alpha != 0 ? RS_SQRT(rs_dot(brake, brake)) : RS_ALL(0), twist = alpha != 0 ? RS_SQRT(rs_dot(turn, turn)) : RS_ALL(0);
    rs_moments(t, shape, q, v, s);
    const real spin2 = rs_dot(spin, spin);
    RS_EACH(k, r)
    {
        const real *z = s->moments + 9 * k, *z1 = s->rates + 9 * k;
        real b[6], quadratic = -spin2 * (z[0] + z[4] + z[8]);
        for (int i = 0; i < 3; i++) b[i] = RS_ALL(RS_GET(lift[3 * k + i]));
        b[3] = z[7] - z[5];
        b[4] = z[2] - z[6];
        b[5] = z[3] - z[1];
        for (int i = 0; i < 3; i++) quadratic += spin[i] * rs_dot(z + 3 * i, spin);
        quadratic += 2 * (spin[0] * (z1[7] - z1[5]) + spin[1] * (z1[2] - z1[6]) +
                          spin[2] * (z1[3] - z1[1]));
        const real linear = rs_dot(b, accel) + rs_dot(b + 3, rate);
        for (int c = 0; c < 6; c++) coupling[8 * k + c] = b[c];
#if !RS_WIDE
        for (int c = 0; c < 6 && fresh; c++) w->own.coupling[8 * k + c] = b[c];
#endif
        g[k] += linear + quadratic;
        s->terms[k] = RS_MAX(s->terms[k], RS_MAX(RS_ABS(linear), RS_ABS(quadratic)));
        if (alpha != 0) s->terms[k] = RS_MAX(s->terms[k], RS_SQRT(rs_dot(b, b)) * pull + RS_SQRT(rs_dot(b + 3, b + 3)) * twist);
    }
    RS_SYNC();
    rs_pose_sums(t, w, s, inertia, alpha);
    if (RS_LANE == 0) {
        const real *first = s->sums, *flow = s->sums + 3, *mixed = s->sums + 6;
        const real *second = s->sums + 15, *own = s->sums + 24;
        real body[9], x[3], y[3], moment[3];
        const real trace = second[0] + second[4] + second[8];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                const real mean = 0.5 * (second[3 * i + j] + second[3 * j + i]);
                body[3 * i + j] = i == j ? trace - mean : -mean;
            }
        rs_cross(spin, first, x);
        for (int i = 0; i < 3; i++) x[i] += 2 * flow[i];
        rs_cross(spin, x, y); /* w x (w x s) + 2 w x int rho U v */
        rs_cross(rate, first, x);
        for (int i = 0; i < 3; i++) n[i] = shape->mass * accel[i] + x[i] + y[i] + own[i];
        rs_apply(body, spin, x);
        rs_cross(spin, x, moment);
        rs_apply(body, rate, x);
        rs_cross(first, accel, y);
        for (int i = 0; i < 3; i++) moment[i] += x[i] + y[i] + own[3 + i];
        rs_apply(mixed, spin, x);
        const real flux = mixed[0] + mixed[4] + mixed[8];
        for (int i = 0; i < 3; i++) n[3 + i] = moment[i] + 2 * (flux * spin[i] - x[i]);
        if (fresh) rs_body_inertia(w->own.inertia, heavier, shape->mass, first, body);
        /* sizes of terms that may cancel: weight and inertia */
        const double weight = sqrt(t->gravity[0] * t->gravity[0] + t->gravity[1] * t->gravity[1] +
                                   t->gravity[2] * t->gravity[2]);
        const real size = RS_SQRT(rs_dot(f->acceleration, f->acceleration)) + weight + RS_SQRT(rs_dot(own, own)) + pull;
        w->own.scale[1] = shape->mass * size + spin2 * RS_SQRT(rs_dot(first, first));
        w->own.scale[2] = RS_SQRT(rs_dot(n + 3, n + 3)) + RS_SQRT(trace * shape->mass) * size + (spin2 + twist) * trace;
    }
    RS_SYNC();
    rs_scale_coupling(w, r, inertia, heavier, fresh);
}

#include "kernels/reduced_step/body_points.h"

/* The object's part of the Jacobian, from the stiffness at hand; the rest is added to it. */
RS_FN void rs_start_jacobian(const rs_work *w, const rs_scratch *s, const rs_rule *rule, const double *masses,
                             const double *damping, double beta, int average)
{
    RS_OWN(o, w);
    const int32_t r = o->n_modes, wide = (int32_t)modal_step_padded(r);
    const double damp = rule->jv * beta;
    const double j1 = average ? rule->jq * (1.0 / 3) : rule->jq + damp, j2 = rule->jq * (2.0 / 3) + damp;
#if !RS_WIDE && !RS_FEW
    if (r > RS_GRID_MODES) { /* neighbours by neighbours; what is below the diagonal nobody reads */
        RS_EACH(e, 8 * r) { w->own.coupling[e] = 0; }
        RS_EACH(c, 48) { w->own.inertia[c] = 0; }
#pragma unroll 4
        for (int32_t k = RS_LANE / 32; k < r; k += RS_LANES / 32) {
            const int32_t at = k * r - k * (k - 1) / 2 - k;
            const double own = rule->inertia * masses[k];
            for (int32_t l = k + RS_LANE % 32; l < r; l += 32) {
                double x = rule->jv * RS_GET(damping[at + l]) + j1 * s->tangent[at + l] + (l == k ? own : 0);
                if (average) x += j2 * s->dense[at + l];
                w->own.matrix[k * wide + l] = x;
            }
        }
        return;
    }
#endif
    RS_EACH(k, r)
    {
        const int32_t at = k * r - k * (k - 1) / 2 - k; /* (k l) is at + l */
        real *row = w->own.matrix + k * wide;
        for (int32_t l = 0; l < k; l++) row[l] = RS_ALL(0);
        for (int32_t l = k; l < r; l++) row[l] = rule->jv * RS_GET(damping[at + l]) + j1 * s->tangent[at + l];
        for (int32_t l = r; l < RS_ROW(r); l++) row[l] = RS_ALL(0);
        for (int32_t l = k; l < r && average; l++) row[l] += j2 * s->dense[at + l];
        row[k] += rule->inertia * masses[k];
        for (int c = 0; c < 8; c++) w->own.coupling[8 * k + c] = RS_ALL(0);
    }
    RS_EACH(c, 48) { w->own.inertia[c] = RS_ALL(0); }
}

/* The largest of the terms of an object's equations. */
RS_FN void rs_scale_residual(const rs_work *w, const rs_scratch *s, int32_t r)
{
#if RS_WARP_SUMS
    if (RS_LANE < 32) {
        double largest = 0;
        for (int32_t k = RS_LANE; k < r; k += 32) largest = RS_MAX(largest, s->terms[k]);
        largest = rs_warp_largest(largest);
        if (RS_LANE == 0) w->own.scale[0] = largest;
    }
#else
    if (RS_LANE == 0) {
        real largest = RS_ALL(0);
        RS_MODES(k, on, r) largest = RS_MAX(largest, RS_IF(on, s->terms[k]));
        w->own.scale[0] = largest;
    }
#endif
}

/* Residual and wrench of the object alone at its trial state, and the Jacobian where it is to be made. */
RS_FN void rs_evaluate(const modal_step_task *t, const rs_work *w, real *memory)
{
    RS_OWN(o, w);
    if (!rs_takes_part(t, o)) return;
    RS_SHAPE(shape, t, o->shape);
    rs_scratch s = rs_scratch_of(t, memory);
#if !RS_WIDE
    rs_large_slot(t, o, 0, &s);
    if (o->n_modes > RS_GRID_MODES) s.dense = s.tangent + modal_step_slot_size(o->n_modes);
    const rs_work near = rs_near_state(w, &s);
    const double status = w->own.scale[4];
    w = &near;
#endif
    const rs_rule rule = rs_rule_of(t);
    const int32_t r = o->n_modes, wide = (int32_t)modal_step_padded(r);
    const real *q = w->q, *v = w->v, *a = w->a;
    const double *masses = t->tables + shape->masses, *lift = masses + r, *damping = t->tables + o->damping;
    const rs_pose *f = w->pose;
    const int average = RS_PACK == 1 && t->rule == MODAL_STEP_ENERGY, fresh = rs_fresh(t, o);
    const double beta = t->rule == MODAL_STEP_STATIC ? 0 : o->tangent;
    const double weight = average ? 1.0 / 6 : 1;
    real *g = w->own.load + wide, *n = w->own.load + 2 * wide + 8;

    const int wanted = fresh || (beta != 0 && !average), wanted_2 = fresh || beta != 0;
    rs_stiffness(t, shape, q, &s, wanted ? s.tangent : NULL, s.force);
    if (average) {
        RS_EACH(k, r)
        {
            s.middle[k] = 0.5 * (t->q[o->coordinates + k] + q[k]);
            s.middle[r + k] = 0.5 * (t->v[o->coordinates + k] + v[k]);
        }
        RS_SYNC();
#if !RS_WIDE
        s.large = s.dense;
#endif
        rs_stiffness(t, shape, s.middle, &s, wanted_2 ? s.dense : NULL, s.force_2);
        v = s.middle + r;
    }
    real fall[3], accel[3];
    for (int i = 0; i < 3; i++) fall[i] = RS_ALL(-t->gravity[i]);
    rs_apply_transposed(f->rotation, fall, accel);
    rs_packed_times(damping, r, v, s.drag);
    if (beta != 0) rs_add_tangent(average ? s.dense : s.tangent, r, beta, v, s.drag); /* a lane's own rows */
    RS_EACH(k, r)
    {
        real force = weight * s.force[k];
        if (average) force += (4 * s.force_2[k] + w->force[k]) / 6;
        const real drag = s.drag[k];
        const real inertia = rule.inertia * RS_GET(masses[k]) * a[k];
        real weight_force = RS_ALL(0);
        if (o->motion == MODAL_STEP_FIXED)
            weight_force = lift[3 * k] * accel[0] + lift[3 * k + 1] * accel[1] + lift[3 * k + 2] * accel[2];
        g[k] = inertia + drag + force + weight_force;
        s.terms[k] = RS_MAX(RS_MAX(RS_ABS(inertia), RS_ABS(drag)), RS_MAX(RS_ABS(force), RS_ABS(weight_force)));
    }
    if (fresh) rs_start_jacobian(w, &s, &rule, masses, damping, beta, average);
    RS_EACH(c, 8) { n[c] = RS_ALL(0); }
    if (RS_LANE == 0) {
        w->own.scale[1] = w->own.scale[2] = w->own.scale[3] = RS_ALL(0);
#if !RS_WIDE
        w->own.scale[4] = status;
#endif
    }
    RS_SYNC();
    if (o->motion != MODAL_STEP_FIXED) rs_add_pose(t, w, &s, &rule, fresh, g, n);
    rs_add_points(t, w, &s, v, fresh, g, n);
    RS_SYNC();
    rs_scale_residual(w, &s, r);
    RS_SYNC();
#if !RS_WIDE
    RS_EACH(e, o->n_children > 0 ? rs_loads_size(r) : 0) { w->kept[e] = w->own.load[e]; }
#endif
}
