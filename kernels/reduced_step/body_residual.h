/* SPDX-License-Identifier: Apache-2.0 */
/* Part of reduced_step_body.h: residual, Jacobian and wrench of one object. */

/* ---- the residual of one object ---- */

typedef struct rs_scratch {
    double *m1, *m2;             /* [rows] */
    double *tangent, *secant;    /* [pairs] K(q) and, packed, the matrix with f = matrix q */
    double *tangent_2, *secant_2;
    double *moments, *rates;     /* [moments] int rho phi y^T and int rho phi (U q')^T */
    double *sums;                /* [64] */
    double *product;             /* [6, r padded] */
    double *middle;              /* [r] q in the middle of the step, [r] a second vector */
    double *terms;               /* [r] largest term of each equation */
} rs_scratch;

RS_FN rs_scratch rs_scratch_of(const modal_step_task *t, double *memory)
{
    const int64_t r = modal_step_padded(t->most_modes), pairs = modal_step_pairs(t->most_modes);
    const int64_t moments = modal_step_moments(t->most_modes), rows = modal_step_padded(t->most_rows);
    rs_scratch s;
    s.m1 = memory;
    s.m2 = s.m1 + rows;
    s.tangent = s.m2 + rows;
    s.secant = s.tangent + pairs;
    s.tangent_2 = s.secant + pairs;
    s.secant_2 = s.tangent_2 + pairs;
    s.moments = s.secant_2 + pairs;
    s.rates = s.moments + moments;
    s.sums = s.rates + moments;
    s.product = s.sums + 128;
    s.middle = s.product + 8 * r;
    s.terms = s.middle + 2 * r;
    return s;
}

/* Row k of a packed symmetric matrix times x. */
RS_FN double rs_packed_row(const double *packed, int32_t r, int32_t k, const double *x)
{
    double sum = 0;
    int32_t at = k; /* (0 k) */
    for (int32_t l = 0; l < k; l++) {
        sum += packed[at] * x[l];
        at += r - 1 - l;
    }
    for (int32_t l = k; l < r; l++) sum += packed[at + l - k] * x[l];
    return sum;
}

/* K(q), and the matrix S(q) with f(q) = S q: f is a sum of forms of degree 1, 2, 3, and a form of
 * degree n is its derivative times q / n. */
RS_FN void rs_stiffness(const modal_step_task *t, const modal_step_shape *shape, const double *q,
                        const rs_scratch *s, double *tangent, double *secant)
{
    const int32_t r = shape->n_modes, pairs = (int32_t)modal_step_pairs(r);
    const double *table = t->tables + shape->stiffness;
    if (!shape->cubic) {
        RS_EACH(i, pairs) { tangent[i] = secant[i] = table[i]; }
        RS_SYNC();
        return;
    }
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
    if (RS_LANE == 0) s->m1[0] = s->m2[0] = 1;
    RS_SYNC();
    RS_TWO_SUMS(1 + r + r * (r + 1) / 2, pairs, table, s->m1, s->m2, tangent, secant);
}

/* int rho phi y^T and int rho phi (U v)^T. */
RS_FN void rs_moments(const modal_step_task *t, const modal_step_shape *shape, const double *q,
                      const double *v, const rs_scratch *s)
{
    const int32_t r = shape->n_modes;
    RS_EACH(k, r)
    {
        s->m1[1 + k] = q[k];
        s->m2[1 + k] = v[k];
    }
    if (RS_LANE == 0) {
        s->m1[0] = 1;
        s->m2[0] = 0;
    }
    RS_SYNC();
    RS_TWO_SUMS(1 + r, (int32_t)modal_step_moments(r), t->tables + shape->inertia, s->m1, s->m2,
                s->moments, s->rates);
}

/* Into s->sums: int rho y (3), int rho U v (3), int rho (U v) y^T (9), int rho y y^T but for an
 * antisymmetric part (9), B^T q'' (6). */
RS_FN void rs_frame_sums(const modal_step_task *t, const modal_step_object *o, const rs_work *w,
                         const rs_scratch *s, double inertia)
{
    const modal_step_shape *shape = &t->shapes[o->shape];
    const int32_t r = shape->n_modes;
    const double *q = t->next_q + o->coordinates, *v = t->next_v + o->coordinates;
    const double *a = t->next_a + o->coordinates;
    const double *lift = t->tables + shape->masses + r, *rest = t->tables + shape->inertia;
#if RS_WIDE
    double sums[30] = {shape->first[0], shape->first[1], shape->first[2]};
    for (int c = 0; c < 9; c++) sums[15 + c] = shape->second[c];
    for (int32_t k = 0; k < r; k++) {
        for (int c = 0; c < 3; c++) {
            sums[c] += q[k] * lift[3 * k + c];
            sums[3 + c] += v[k] * lift[3 * k + c];
        }
        for (int c = 0; c < 9; c++) {
            sums[6 + c] += v[k] * s->moments[9 * k + c];
            sums[15 + c] += q[k] * (rest[9 * k + c] + s->moments[9 * k + c]);
        }
        for (int c = 0; c < 6; c++) sums[24 + c] += inertia * a[k] * w->right[8 * k + c];
    }
    for (int c = 0; c < 30; c++) s->sums[c] = sums[c];
#else
    RS_EACH(c, 30)
    {
        double sum = 0;
        if (c < 3) {
            sum = shape->first[c];
            for (int32_t k = 0; k < r; k++) sum += q[k] * lift[3 * k + c];
        } else if (c < 6) {
            for (int32_t k = 0; k < r; k++) sum += v[k] * lift[3 * k + c - 3];
        } else if (c < 15) {
            for (int32_t k = 0; k < r; k++) sum += v[k] * s->moments[9 * k + c - 6];
        } else if (c < 24) {
            sum = shape->second[c - 15];
            for (int32_t k = 0; k < r; k++)
                sum += q[k] * (rest[9 * k + c - 15] + s->moments[9 * k + c - 15]);
        } else {
            for (int32_t k = 0; k < r; k++) sum += inertia * a[k] * w->right[8 * k + c - 24];
        }
        s->sums[c] = sum;
    }
    RS_SYNC();
#endif
}

/* Adds the inertia of the moving frame to residual and coupling, and sets load and inertia. */
RS_FN void rs_add_frame(const modal_step_task *t, const modal_step_object *o, int32_t index,
                        const rs_work *w, const rs_scratch *s, double inertia)
{
    const modal_step_shape *shape = &t->shapes[o->shape];
    const modal_step_frame *f = &t->next_frames[index];
    const int32_t r = shape->n_modes;
    const double *q = t->next_q + o->coordinates, *v = t->next_v + o->coordinates;
    const double *lift = t->tables + shape->masses + r;
    double fall[3], accel[3], spin[3], rate[3];
    for (int i = 0; i < 3; i++) {
        fall[i] = f->acceleration[i] - t->gravity[i];
        spin[i] = f->spin[i];
        rate[i] = f->spin_rate[i];
    }
    rs_apply_transposed(f->rotation, fall, accel);
    rs_moments(t, shape, q, v, s);
    const double spin2 = rs_dot(spin, spin);
    RS_EACH(k, r)
    {
        const double *z = s->moments + 9 * k, *z1 = s->rates + 9 * k;
        double *b = w->right + 8 * k, quadratic = -spin2 * (z[0] + z[4] + z[8]);
        for (int i = 0; i < 3; i++) b[i] = lift[3 * k + i];
        b[3] = z[7] - z[5];
        b[4] = z[2] - z[6];
        b[5] = z[3] - z[1];
        for (int i = 0; i < 3; i++) quadratic += spin[i] * rs_dot(z + 3 * i, spin);
        quadratic += 2 * (spin[0] * (z1[7] - z1[5]) + spin[1] * (z1[2] - z1[6]) +
                          spin[2] * (z1[3] - z1[1]));
        const double linear = rs_dot(b, accel) + rs_dot(b + 3, rate);
        b[6] += linear + quadratic;
        s->terms[k] = RS_MAX(s->terms[k], RS_MAX(fabs(linear), fabs(quadratic)));
    }
    RS_SYNC();
    rs_frame_sums(t, o, w, s, inertia);
    if (RS_LANE == 0) {
        const double *first = s->sums, *flow = s->sums + 3, *mixed = s->sums + 6;
        const double *second = s->sums + 15, *own = s->sums + 24;
        double body[9], x[3], y[3], moment[3];
        const double trace = second[0] + second[4] + second[8];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                body[3 * i + j] = (i == j ? trace : 0) - 0.5 * (second[3 * i + j] + second[3 * j + i]);
        rs_cross(spin, first, x);
        for (int i = 0; i < 3; i++) x[i] += 2 * flow[i];
        rs_cross(spin, x, y); /* w x (w x s) + 2 w x int rho U v */
        rs_cross(rate, first, x);
        for (int i = 0; i < 3; i++) w->inertia[8 * i + 7] = shape->mass * accel[i] + x[i] + y[i] + own[i];
        rs_apply(body, spin, x);
        rs_cross(spin, x, moment);
        rs_apply(body, rate, x);
        rs_cross(first, accel, y);
        for (int i = 0; i < 3; i++) moment[i] += x[i] + y[i] + own[3 + i];
        rs_apply(mixed, spin, x);
        const double flux = mixed[0] + mixed[4] + mixed[8];
        for (int i = 0; i < 3; i++) w->inertia[8 * (3 + i) + 7] = moment[i] + 2 * (flux * spin[i] - x[i]);
        const double cross[9] = {0, -first[2], first[1], first[2], 0, -first[0], -first[1], first[0], 0};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                w->inertia[8 * i + j] = i == j ? inertia * shape->mass : 0;
                w->inertia[8 * i + 3 + j] = -inertia * cross[3 * i + j];
                w->inertia[8 * (3 + i) + j] = inertia * cross[3 * i + j];
                w->inertia[8 * (3 + i) + 3 + j] = inertia * body[3 * i + j];
            }
        const double turning[3] = {w->inertia[31], w->inertia[39], w->inertia[47]};
        /* sizes of terms that may cancel: weight and inertia */
        const double size = sqrt(rs_dot(f->acceleration, f->acceleration)) +
                            sqrt(rs_dot(t->gravity, t->gravity)) + sqrt(rs_dot(own, own));
        w->scale[1] = shape->mass * size + spin2 * sqrt(rs_dot(first, first));
        w->scale[3] = sqrt(rs_dot(turning, turning)) + sqrt(trace * shape->mass) * size +
                      spin2 * trace;
    }
    RS_SYNC();
    /* from here on right is part of the Jacobian */
    if (inertia == 0) {
        RS_EACH(k, r)
        {
            for (int c = 0; c < 6; c++) w->right[8 * k + c] = 0;
        }
    }
}

/* Forces at points, and the drag's part in the Jacobian. */
RS_FN void rs_add_points(const modal_step_task *t, const modal_step_object *o, int32_t index,
                         const rs_work *w, const rs_scratch *s, const double *velocities)
{
    const modal_step_frame *f = &t->next_frames[index];
    const int32_t r = t->shapes[o->shape].n_modes;
    const double *q = t->rule == MODAL_STEP_ENERGY ? s->middle : t->next_q + o->coordinates;
    const double jv = rs_rule_of(t).jv;
    const int moving = o->motion != MODAL_STEP_FIXED;
    const int64_t wide = modal_step_padded(r);
    for (int32_t n = 0; n < o->n_points; n++) {
        const int32_t point = o->first_point + n;
        const double *table = t->tables + t->points[point].table, drag = t->points[point].drag;
        RS_EACH(c, 6)
        {
            double sum = c < 3 ? table[c] : 0;
            const double *x = c < 3 ? q : velocities;
            for (int32_t k = 0; k < r; k++) sum += table[MODAL_STEP_POINT * (1 + k) + c % 3] * x[k];
            s->sums[c] = sum;
        }
        RS_SYNC();
        /* every lane alike: small, and needed by all */
        const double *y = s->sums;
        double force[3], speed[3], turn[3], wind[3], damp[9];
        rs_apply_transposed(f->rotation, t->point_force + 3 * point, force);
        for (int i = 0; i < 9; i++) damp[i] = 0;
        if (drag > 0 && t->air && t->rule != MODAL_STEP_STATIC) {
            rs_apply_transposed(f->rotation, t->point_air + 3 * point, wind);
            rs_apply_transposed(f->rotation, f->velocity, speed);
            rs_cross(f->spin, y, turn);
            for (int i = 0; i < 3; i++) wind[i] -= speed[i] + turn[i] + s->sums[3 + i];
            const double size = sqrt(rs_dot(wind, wind));
            for (int i = 0; i < 3; i++) {
                force[i] += drag * size * wind[i];
                for (int j = 0; j < 3 && size > 0; j++)
                    damp[3 * i + j] = jv * drag * ((i == j ? size : 0) + wind[i] * wind[j] / size);
            }
        }
        double moment[3];
        rs_cross(y, force, moment);
        RS_SYNC(); /* sums are read */
        RS_EACH(k, r)
        {
            const double *u = table + MODAL_STEP_POINT * (1 + k);
            const double work = rs_dot(u, force);
            w->right[8 * k + 6] -= work;
            s->terms[k] = RS_MAX(s->terms[k], fabs(work));
        }
        if (RS_LANE == 0 && moving) {
            for (int i = 0; i < 3; i++) {
                w->inertia[8 * i + 7] -= force[i];
                w->inertia[8 * (3 + i) + 7] -= moment[i];
            }
            w->scale[1] += sqrt(rs_dot(force, force));
            w->scale[3] += sqrt(rs_dot(moment, moment));
        }
        if (!(drag > 0) || !t->air || jv == 0) continue;
        /* velocity of the point = p' + w x y + U v: columns U, 1, -[y]x */
        RS_EACH(k, r)
        {
            double du[3], m[3];
            rs_apply(damp, table + MODAL_STEP_POINT * (1 + k), du); /* damp is symmetric */
            for (int32_t l = k; l < r; l++)
                w->matrix[k * wide + l] += rs_dot(du, table + MODAL_STEP_POINT * (1 + l));
            if (!moving) continue;
            rs_cross(y, du, m); /* -[y]x^T du = y x du */
            for (int i = 0; i < 3; i++) {
                w->right[8 * k + i] += du[i];
                w->right[8 * k + 3 + i] += m[i];
            }
        }
        if (RS_LANE == 0 && moving)
            for (int j = 0; j < 3; j++) {
                double unit[3] = {j == 0 ? 1.0 : 0, j == 1 ? 1.0 : 0, j == 2 ? 1.0 : 0}, du[3], column[3], m[3];
                rs_apply(damp, unit, du);
                rs_cross(y, du, m);
                for (int i = 0; i < 3; i++) {
                    w->inertia[8 * i + j] += du[i];
                    w->inertia[8 * (3 + i) + j] += m[i];
                }
                rs_cross(unit, y, column); /* the velocity that a unit spin gives */
                rs_apply(damp, column, du);
                rs_cross(y, du, m);
                for (int i = 0; i < 3; i++) {
                    w->inertia[8 * i + 3 + j] += du[i];
                    w->inertia[8 * (3 + i) + 3 + j] += m[i];
                }
            }
        RS_SYNC();
    }
}

/* Residual, Jacobian and wrench of the object alone, at its trial state. */
RS_FN void rs_evaluate(const modal_step_task *t, int32_t index, double *memory)
{
    const modal_step_object *o = &t->objects[index];
    if (!rs_takes_part(t, o)) return;
    const modal_step_shape *shape = &t->shapes[o->shape];
    const rs_work w = rs_work_of(t, o);
    const rs_scratch s = rs_scratch_of(t, memory);
    const rs_rule rule = rs_rule_of(t);
    const int32_t r = shape->n_modes, wide = (int32_t)modal_step_padded(r);
    const double *q = t->next_q + o->coordinates, *a = t->next_a + o->coordinates;
    const double *v = t->next_v + o->coordinates, *masses = t->tables + shape->masses;
    const double *lift = masses + r, *damping = t->tables + o->damping;
    const modal_step_frame *f = &t->next_frames[index];
    const int average = t->rule == MODAL_STEP_ENERGY;
    const double weight = average ? 1.0 / 6 : 1;

    rs_stiffness(t, shape, q, &s, s.tangent, s.secant);
    if (average) {
        RS_EACH(k, r)
        {
            s.middle[k] = 0.5 * (t->q[o->coordinates + k] + q[k]);
            s.middle[r + k] = 0.5 * (t->v[o->coordinates + k] + v[k]);
        }
        RS_SYNC();
        rs_stiffness(t, shape, s.middle, &s, s.tangent_2, s.secant_2);
        v = s.middle + r;
    }
    double fall[3];
    for (int i = 0; i < 3; i++) fall[i] = -t->gravity[i];
    double accel[3];
    rs_apply_transposed(f->rotation, fall, accel);
    RS_EACH(k, r)
    {
        double force = weight * rs_packed_row(s.secant, r, k, q);
        if (average)
            force += (4 * rs_packed_row(s.secant_2, r, k, s.middle) + w.force[k]) / 6;
        const double drag = rs_packed_row(damping, r, k, v);
        const double inertia = rule.inertia * masses[k] * a[k];
        double weight_force = 0;
        if (o->motion == MODAL_STEP_FIXED) weight_force = rs_dot(lift + 3 * k, accel);
        for (int c = 0; c < 6; c++) w.right[8 * k + c] = 0;
        w.right[8 * k + 6] = inertia + drag + force + weight_force;
        w.right[8 * k + 7] = 0;
        s.terms[k] = RS_MAX(RS_MAX(fabs(inertia), fabs(drag)), RS_MAX(fabs(force), fabs(weight_force)));
    }
    const double j1 = rule.jq * (average ? 1.0 / 3 : 1), j2 = rule.jq * (2.0 / 3);
    RS_EACH(k, r)
    {
        const int32_t at = k * r - k * (k - 1) / 2 - k; /* (k l) is at + l */
        double *row = w.matrix + k * wide;
        for (int32_t l = 0; l < k; l++) row[l] = 0;
        for (int32_t l = k; l < r; l++) row[l] = rule.jv * damping[at + l] + j1 * s.tangent[at + l];
        for (int32_t l = r; l < wide; l++) row[l] = 0;
        for (int32_t l = k; l < r && average; l++) row[l] += j2 * s.tangent_2[at + l];
        row[k] += rule.inertia * masses[k];
    }
    RS_EACH(c, 48) { w.inertia[c] = 0; }
    if (RS_LANE == 0) w.scale[1] = w.scale[3] = 0;
    RS_SYNC();
    if (o->motion != MODAL_STEP_FIXED) rs_add_frame(t, o, index, &w, &s, rule.inertia);
    rs_add_points(t, o, index, &w, &s, v);
    RS_SYNC();
    RS_EACH(k, r) { w.right[8 * k + 7] = w.right[8 * k + 6]; }
    if (RS_LANE == 0) {
        double largest = 0;
        for (int32_t k = 0; k < r; k++) largest = RS_MAX(largest, s.terms[k]);
        w.scale[0] = largest;
        for (int c = 0; c < 6; c++) w.inertia[8 * c + 6] = w.inertia[8 * c + 7];
    }
    RS_SYNC();
}
