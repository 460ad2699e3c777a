/* SPDX-License-Identifier: Apache-2.0 */
/* Part of reduced_step_body.h: taking a step over, and the energies. */

/* ---- after a step ---- */

/* Power of the forces at a point that moves at `speed`, in the frame's axes, W. */
RS_FN double rs_power_at(const modal_step_task *t, int32_t point, const modal_step_pose *f, const double *speed)
{
    double force[3], wind[3];
    rs_apply_transposed(f->rotation, t->point_force + 3 * point, force);
    if (t->points[point].drag > 0 && t->air) {
        rs_apply_transposed(f->rotation, t->point_air + 3 * point, wind);
        for (int i = 0; i < 3; i++) wind[i] -= speed[i];
        const double size = sqrt(rs_dot(wind, wind));
        for (int i = 0; i < 3; i++) force[i] += t->points[point].drag * size * wind[i];
    }
    return rs_dot(force, speed);
}

/* Power of the forces at a point, W; u: velocity of the frame in its own axes. */
RS_FN double rs_point_power(const modal_step_task *t, const modal_step_object *o, int32_t point,
                            const double *q, const double *v, const modal_step_pose *f, const double *u)
{
    const int32_t r = o->n_modes;
    const double *table = t->tables + t->points[point].table;
    double y[3] = {table[0], table[1], table[2]}, speed[3] = {0, 0, 0}, x[3];
    RS_MODES(k, on, r)
    for (int i = 0; i < 3; i++) {
        y[i] += RS_GET(table[MODAL_STEP_POINT * (1 + k) + i]) * RS_IF(on, q[k]);
        speed[i] += RS_GET(table[MODAL_STEP_POINT * (1 + k) + i]) * RS_IF(on, v[k]);
    }
    rs_cross(f->spin, y, x);
    for (int i = 0; i < 3; i++) speed[i] += u[i] + x[i];
    return rs_power_at(t, point, f, speed);
}

/* power and that of gravity, and of the support of a driven root, W; first, flow: the object's first moment of mass and its rate. */
RS_FN double rs_add_support(const modal_step_task *t, const modal_step_object *o, const modal_step_pose *f, double mass, const double *u,
                            const double *first, const double *flow, double power)
{
    double g[3], x[3];
    rs_apply_transposed(f->rotation, t->gravity, g);
    rs_cross(f->spin, first, x);
    for (int i = 0; i < 3; i++) power += g[i] * (mass * u[i] + x[i] + flow[i]);
    if (o->motion == MODAL_STEP_DRIVEN) {
        const double *wrench = t->work + o->work + 2 * modal_step_padded(o->n_modes) + 8;
        for (int i = 0; i < 3; i++)
            power += wrench[i] * u[i] + wrench[3 + i] * f->spin[i];
    }
    return power;
}

/* Work that the rest of the world does on the object, W, in parts whose sum (by any one lane) it is. */
enum { RS_POWERS = 32 };
#if RS_WARP_SUMS /* a warp a point, and one for gravity */
RS_FN void rs_external_powers(const modal_step_task *t, int32_t index, const double *q, const double *v,
                              const modal_step_pose *f, double *powers)
{
    RS_OBJECT(o, t, index);
    RS_SHAPE(shape, t, o->shape);
    double u[3];
    rs_apply_transposed(f->rotation, f->velocity, u);
    const int32_t warps = RS_LANES / 32, lane = RS_LANE % 32;
    for (int32_t part = RS_LANE / 32; part < RS_POWERS; part += warps) {
        double power = 0;
        for (int32_t n = part; n < o->n_points; n += RS_POWERS) {
            const int32_t point = o->first_point + n;
            const double *table = t->tables + t->points[point].table;
            double sums[6] = {0};
            for (int32_t k = lane; k < o->n_modes; k += 32)
                for (int i = 0; i < 3; i++) {
                    const double mode = RS_GET(table[MODAL_STEP_POINT * (1 + k) + i]);
                    sums[i] = fma(mode, q[k], sums[i]);
                    sums[3 + i] = fma(mode, v[k], sums[3 + i]);
                }
            for (int i = 0; i < 6; i++) sums[i] = rs_warp_sum(sums[i]);
            double y[3], x[3], speed[3];
            for (int i = 0; i < 3; i++) y[i] = table[i] + sums[i];
            rs_cross(f->spin, y, x);
            for (int i = 0; i < 3; i++) speed[i] = sums[3 + i] + u[i] + x[i];
            power += rs_power_at(t, point, f, speed);
        }
        if (part == RS_POWERS - 1) {
            const double *lift = t->tables + shape->masses + shape->n_modes;
            double first[3], flow[3], sums[6] = {0};
            for (int32_t k = lane; k < o->n_modes; k += 32)
                for (int i = 0; i < 3; i++) {
                    sums[i] = fma(RS_GET(lift[3 * k + i]), q[k], sums[i]);
                    sums[3 + i] = fma(RS_GET(lift[3 * k + i]), v[k], sums[3 + i]);
                }
            for (int i = 0; i < 6; i++) sums[i] = rs_warp_sum(sums[i]);
            for (int i = 0; i < 3; i++) {
                first[i] = RS_GET(t->shapes[o->shape].first[i]) + sums[i];
                flow[i] = sums[3 + i];
            }
            power = rs_add_support(t, o, f, shape->mass, u, first, flow, power);
        }
        if (lane == 0) powers[part] = power;
    }
}
#else
RS_FN void rs_external_powers(const modal_step_task *t, int32_t index, const double *q, const double *v,
                              const modal_step_pose *f, double *powers)
{
    RS_OBJECT(o, t, index);
    RS_SHAPE(shape, t, o->shape);
    double u[3];
    rs_apply_transposed(f->rotation, f->velocity, u);
    RS_EACH(part, RS_POWERS)
    {
        double power = 0;
        for (int32_t n = part; n < o->n_points; n += RS_POWERS)
            power += rs_point_power(t, o, o->first_point + n, q, v, f, u);
        if (part == RS_POWERS - 1) { /* gravity, and the support of a driven root */
            const double *lift = t->tables + shape->masses + shape->n_modes;
            double first[3], flow[3];
            for (int i = 0; i < 3; i++) {
                first[i] = RS_GET(t->shapes[o->shape].first[i]);
                flow[i] = 0;
            }
            RS_MODES(k, on, shape->n_modes)
            for (int i = 0; i < 3; i++) {
                first[i] += RS_GET(lift[3 * k + i]) * RS_IF(on, q[k]);
                flow[i] += RS_GET(lift[3 * k + i]) * RS_IF(on, v[k]);
            }
            power = rs_add_support(t, o, f, shape->mass, u, first, flow, power);
        }
        powers[part] = power;
    }
}
#endif

/* int rho |x|^2 of the undeformed body, kg m^2. */
RS_FN double rs_reach(const modal_step_task *t, int32_t shape)
{
    const double *second = t->shapes[shape].second;
    return RS_GET(second[0]) + RS_GET(second[4]) + RS_GET(second[8]);
}

/* What damping took, what accelerations changed by, and the powers of forces: for the first lane. */
RS_FN void rs_accept_sums(const rs_scratch *s, int32_t r, double *lost, double *jumps, double *gained)
{
    *lost = *jumps = *gained = 0;
#if RS_WARP_SUMS
    if (RS_LANE < 32) {
        for (int32_t k = RS_LANE; k < r; k += 32) {
            *lost += s->terms[k];
            *jumps += s->force[k];
        }
        *lost = rs_warp_sum(*lost);
        *jumps = rs_warp_sum(*jumps);
        *gained = rs_warp_sum(s->sums[RS_LANE]);
    }
#else
    if (RS_LANE == 0) {
        for (int part = 0; part < RS_POWERS; part++) *gained += s->sums[part];
        for (int32_t k = 0; k < r; k++) *lost += s->terms[k];
        for (int32_t k = 0; k < r; k++) *jumps += s->force[k];
    }
#endif
}

/* Twice the kinetic energy of a body with the mean velocities of a step, but for its modes' own part, for the first lane: what alpha M takes
 * beside D is alpha times this. q and v are means, too; s->moments is overwritten. */
RS_FN double rs_frame_motion(const modal_step_task *t, int32_t index, const double *q, const double *v, const rs_scratch *s)
{
    RS_OBJECT(o, t, index);
    RS_SHAPE(shape, t, o->shape);
    const int32_t r = shape->n_modes;
    const double *lift = t->tables + shape->masses + r, *rest = t->tables + shape->inertia;
    const modal_step_pose *from = &t->poses[index], *to = &t->next_poses[index];
    double motion = 0;
    rs_moments(t, shape, q, v, s);
    if (RS_LANE == 0) {
        double speed[2][3], spin[3], first[3], flow[3] = {0}, swirl[3] = {0}, second[9], x[3], y[3];
        rs_apply_transposed(from->rotation, from->velocity, speed[0]);
        rs_apply_transposed(to->rotation, to->velocity, speed[1]);
        for (int i = 0; i < 3; i++) {
            speed[0][i] = 0.5 * (speed[0][i] + speed[1][i]);
            spin[i] = 0.5 * (from->spin[i] + to->spin[i]);
            first[i] = RS_GET(t->shapes[o->shape].first[i]);
        }
        for (int i = 0; i < 9; i++) second[i] = RS_GET(t->shapes[o->shape].second[i]);
        for (int32_t k = 0; k < r; k++) {
            const double *z = s->moments + 9 * k;
            for (int i = 0; i < 3; i++) {
                first[i] += q[k] * RS_GET(lift[3 * k + i]);
                flow[i] += v[k] * RS_GET(lift[3 * k + i]);
            }
            for (int i = 0; i < 9; i++) second[i] += q[k] * (RS_GET(rest[9 * k + i]) + z[i]);
            swirl[0] += v[k] * (z[7] - z[5]);
            swirl[1] += v[k] * (z[2] - z[6]);
            swirl[2] += v[k] * (z[3] - z[1]);
        }
        rs_cross(spin, first, x);
        for (int i = 0; i < 3; i++) { /* (trace 1 - second) spin, of the symmetric part of second */
            y[i] = (second[0] + second[4] + second[8]) * spin[i];
            for (int j = 0; j < 3; j++) y[i] -= 0.5 * (second[3 * i + j] + second[3 * j + i]) * spin[j];
        }
        motion = shape->mass * rs_dot(speed[0], speed[0]) + 2 * rs_dot(speed[0], flow) + 2 * rs_dot(spin, swirl) +
                 2 * rs_dot(speed[0], x) + rs_dot(spin, y);
    }
    RS_SYNC();
    return motion;
}

/* The lags of a free root; what its accelerations have changed by, for the first lane. */
RS_FN double rs_accept_root(const modal_step_task *t, int32_t index, int32_t of)
{
    RS_SHAPE(shape, t, of);
    const modal_step_pose *from = &t->poses[index], *to = &t->next_poses[index];
    const double reach = rs_reach(t, of);
    const rs_lag next = rs_lag_of(t);
    double *lag = t->root_lag + 6 * (int64_t)index, jumps = 0;
    for (int i = 0; i < 3; i++) {
        const double push = to->acceleration[i] - from->acceleration[i], rate = to->spin_rate[i] - from->spin_rate[i];
        jumps += shape->mass * push * push + reach * rate * rate;
        lag[i] = next.slope * push + next.keep * lag[i];
        lag[3 + i] = next.slope * rate + next.keep * lag[3 + i];
    }
    return jumps;
}

RS_FN void rs_accept(const modal_step_task *t, int32_t index, double *memory)
{
    RS_OBJECT(o, t, index);
    if (!t->active[o->tree] || t->status[o->tree] != MODAL_STEP_CONVERGED) return;
    const int32_t r = o->n_modes;
    const int64_t first = o->coordinates;
    rs_scratch s = rs_scratch_of(t, memory);
    const double *q = t->next_q + first, *v = t->next_v + first;
    const int average = t->rule == MODAL_STEP_ENERGY;
    const double *masses = t->tables + RS_GET(t->shapes[o->shape].masses);
    RS_EACH(k, r)
    {
        const double jump = t->next_a[first + k] - t->a[first + k];
        s.middle[k] = 0.5 * (t->q[first + k] + q[k]);
        s.middle[r + k] = 0.5 * (t->v[first + k] + v[k]);
        s.force[k] = masses[k] * jump * jump;
    }
    RS_SYNC();
    const double *mean = s.middle + r; /* by which damping takes as much as the rules' own balances say */
    if (average) {
        q = s.middle;
        v = mean;
    }
#if RS_WARP_SUMS
    rs_packed_times(t->tables + o->damping, r, mean, s.drag);
    RS_SYNC();
    RS_EACH(k, r) { s.terms[k] = mean[k] * s.drag[k]; }
#else
    RS_EACH(k, r) { s.terms[k] = mean[k] * rs_packed_row(t->tables + o->damping, r, k, mean); }
#endif
    if (o->tangent != 0) { /* the stiffness in the middle */
        RS_SHAPE(shape, t, o->shape);
#if !RS_WIDE
        rs_large_slot(t, o, 1, &s);
#endif
        rs_stiffness(t, shape, s.middle, &s, s.tangent, s.force_2);
        RS_EACH(k, r) { s.terms[k] += o->tangent * mean[k] * rs_packed_row(s.tangent, r, k, mean); }
    }
    RS_SYNC();
    const double motion = o->alpha != 0 && o->motion != MODAL_STEP_FIXED ? rs_frame_motion(t, index, s.middle, mean, &s) : 0;
    rs_external_powers(t, index, q, v, &t->next_poses[index], s.sums);
    RS_SYNC();
    double lost, jumps, gained;
    rs_accept_sums(&s, r, &lost, &jumps, &gained);
    lost += o->alpha * motion;
    if (RS_LANE == 0) {
        modal_step_measure *m = &t->measures[index];
        if (t->rule != MODAL_STEP_STATIC) {
            m->dissipated += t->h * lost;
            m->external += average ? t->h * gained : 0.5 * t->h * (gained + m->external_power);
        }
        m->dissipated_power = lost;
        m->external_power = gained;
        if (o->motion == MODAL_STEP_FREE) jumps += rs_accept_root(t, index, o->shape);
        t->poses[index] = t->next_poses[index];
        if (t->rule != MODAL_STEP_STATIC) {
            const double error = t->h * t->h * t->h * t->h / 144 * jumps;
            if (!(m->error_since > error)) m->error_since = error;
        }
    }
    RS_SYNC();
    const rs_lag next = rs_lag_of(t);
    RS_EACH(k, r)
    {
        t->lag[first + k] = next.slope * (t->next_a[first + k] - t->a[first + k]) + next.keep * t->lag[first + k];
        t->q[first + k] = t->next_q[first + k];
        t->v[first + k] = t->next_v[first + k];
        t->a[first + k] = t->rule == MODAL_STEP_STATIC ? 0 : t->next_a[first + k];
    }
    RS_SYNC();
}

/* The elastic energy at q: the sum of s->terms [r], which are set, and of what is returned. */
RS_FN double rs_elastic(const modal_step_task *t, const modal_step_object *o, const modal_step_shape *shape, const double *q,
                        const rs_scratch *s)
{
    const int32_t r = shape->n_modes, pairs = (int32_t)modal_step_pairs(r);
    const double *stiffness = t->tables + shape->stiffness;
    (void)o;
#ifdef RS_LARGE
    if (shape->cubic && r > MODAL_STEP_TABLE_MODES) {
        for (int32_t k = 0; k < r; k++) s->terms[k] = 0;
        return RS_LARGE(r, t->tables + shape->energy, q, s->large, s->force, NULL);
    }
#endif
#if !RS_WIDE
    if (shape->cubic && r > RS_GRID_MODES) {
        rs_scratch found = *s;
        rs_large_slot(t, o, 0, &found);
        const real *g = found.large + pairs;
        /* g is h: sum h q q = E_2 + E_3 + 2 E_4, part q = E_3, a q q = E_2 */
        const real *part = g + pairs;
        const double *a = t->tables + shape->energy;
        rs_packed_times(g, r, q, s->force);
        rs_packed_times(a, r, q, s->force_2);
        RS_SYNC();
        RS_EACH(k, r)
        {
            const int32_t own = k * r - k * (k - 1) / 2;
            s->terms[k] = q[k] * (0.25 * (s->force[k] + s->force_2[k] + (g[own] + RS_GET(a[own])) * q[k]) + 0.5 * part[k]);
        }
        RS_SYNC();
        return 0;
    }
#endif
    /* a form of degree n integrates to q . form / (n + 1): weights 1/2, 1/6, 1/12 of K's rows */
    if (shape->cubic) {
        RS_EACH(i, r)
        {
            const int32_t at = 1 + r + i * r - i * (i - 1) / 2 - i;
            s->m1[1 + i] = q[i] / 6;
            for (int32_t j = i; j < r; j++) s->m1[at + j] = q[i] * q[j] / 12;
        }
        if (RS_LANE == 0) s->m1[0] = 0.5;
        RS_SYNC();
        RS_SUM(1 + r + r * (r + 1) / 2, pairs, stiffness, s->m1, s->tangent);
    } else {
        RS_EACH(i, pairs) { s->tangent[i] = 0.5 * stiffness[i]; }
        RS_SYNC();
    }
    RS_EACH(k, r) { s->terms[k] = q[k] * rs_packed_row(s->tangent, r, k, q); }
    return 0;
}

RS_FN void rs_measure(const modal_step_task *t, int32_t index, double *memory)
{
    RS_OBJECT(o, t, index);
    if (!t->active[o->tree]) return;
    RS_SHAPE(shape, t, o->shape);
    const rs_scratch s = rs_scratch_of(t, memory);
    const int32_t r = shape->n_modes;
    const double *q = t->q + o->coordinates, *v = t->v + o->coordinates;
    const double *masses = t->tables + shape->masses, *lift = masses + r;
    const modal_step_pose *f = &t->poses[index];
    const double whole = rs_elastic(t, o, shape, q, &s);
    rs_moments(t, shape, q, v, &s);
#if RS_WARP_SUMS
    double sums[21] = {0};
    if (RS_LANE < 32) {
        const double *rest = t->tables + shape->inertia;
        for (int32_t k = RS_LANE; k < r; k += 32) {
            const double *z = s.moments + 9 * k, mass = RS_GET(masses[k]), own = q[k], speed = v[k];
            sums[0] += s.terms[k];
            sums[1] += 0.5 * mass * speed * speed;
            sums[2] += mass * own * own;
            for (int i = 0; i < 3; i++) {
                sums[3 + i] += own * RS_GET(lift[3 * k + i]);
                sums[6 + i] += speed * RS_GET(lift[3 * k + i]);
                for (int j = 0; j < 3; j++) sums[12 + 3 * i + j] += own * (RS_GET(rest[9 * k + 3 * j + i]) + z[3 * i + j]);
            }
            sums[9] += speed * (z[7] - z[5]);
            sums[10] += speed * (z[2] - z[6]);
            sums[11] += speed * (z[3] - z[1]);
        }
        for (int i = 0; i < 21; i++) sums[i] = rs_warp_sum(sums[i]);
    }
#endif
    if (RS_LANE == 0) {
        const double *rest = t->tables + shape->inertia;
        double elastic = whole, kinetic = 0, moved = o->motion == MODAL_STEP_FREE ? rs_reach(t, o->shape) : 0;
        double u[3], x[3], first[3], flow[3] = {0}, swirl[3] = {0};
        double second[9], body[9];
        for (int i = 0; i < 3; i++) first[i] = RS_GET(t->shapes[o->shape].first[i]);
        for (int i = 0; i < 9; i++) second[i] = RS_GET(t->shapes[o->shape].second[i]);
#if RS_WARP_SUMS
        elastic += sums[0], kinetic += sums[1], moved += sums[2];
        for (int i = 0; i < 3; i++) first[i] += sums[3 + i], flow[i] += sums[6 + i], swirl[i] += sums[9 + i];
        for (int i = 0; i < 9; i++) second[i] += sums[12 + i];
#endif
        for (int32_t k = 0; k < (RS_WARP_SUMS ? 0 : r); k++) {
            const double *z = s.moments + 9 * k;
            elastic += s.terms[k];
            kinetic += 0.5 * masses[k] * v[k] * v[k];
            moved += masses[k] * q[k] * q[k];
            for (int i = 0; i < 3; i++) {
                first[i] += q[k] * lift[3 * k + i];
                flow[i] += v[k] * lift[3 * k + i];
                for (int j = 0; j < 3; j++)
                    second[3 * i + j] += q[k] * (rest[9 * k + 3 * j + i] + z[3 * i + j]);
            }
            swirl[0] += v[k] * (z[7] - z[5]);
            swirl[1] += v[k] * (z[2] - z[6]);
            swirl[2] += v[k] * (z[3] - z[1]);
        }
        const double trace = second[0] + second[4] + second[8];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                body[3 * i + j] = (i == j ? trace : 0) - 0.5 * (second[3 * i + j] + second[3 * j + i]);
        rs_apply_transposed(f->rotation, f->velocity, u);
        kinetic += 0.5 * shape->mass * rs_dot(u, u) + rs_dot(u, flow) + rs_dot(f->spin, swirl);
        rs_cross(f->spin, first, x);
        kinetic += rs_dot(u, x);
        rs_apply(body, f->spin, x);
        kinetic += 0.5 * rs_dot(f->spin, x);
        modal_step_measure *m = &t->measures[index];
        m->kinetic = kinetic;
        m->elastic = elastic;
        m->moved = moved;
        m->error = m->error_since;
        m->error_since = 0;
    }
    RS_SYNC();
}
