/* SPDX-License-Identifier: Apache-2.0 */
/* Part of reduced_step_body.h: how a step begins, with a first guess and the air at the points. */

#if RS_PACK == 1

/* Constant speeds: what is not linear depends on places and speeds, which then are the last ones, carried on. Modes
 * that are stiff for the step (h omega > 6 and the like) would be thrown far past where their forces hold: they get
 * the acceleration that they would have if they were linear, alone, and under constant loads. */
RS_FN double rs_guess(const modal_step_task *t, const modal_step_object *o, const modal_step_shape *shape, int32_t k,
                      const rs_rule *rule, const rs_alpha *weights, double gain_q, double gain_v)
{
    const int64_t at = modal_step_pair(o->n_modes, k, k);
    const double h = t->h, mass = RS_GET(t->tables[shape->masses + k]);
    const double stiffness = RS_GET(t->tables[shape->stiffness + at]);
    const double damping = RS_GET(t->tables[o->damping + at]) + o->tangent * stiffness;
    const double a = t->a[o->coordinates + k], v = t->v[o->coordinates + k];
    const double whole = mass + rule->jv * damping + rule->jq * stiffness;
    if (t->rule == MODAL_STEP_ENERGY) return whole > 10 * mass ? (mass * a - 0.5 * h * stiffness * v) / whole : 0;
    if (!(whole > 10 * mass)) return -gain_v / (weights->gamma * weights->part);
    return (mass * a - h * damping * gain_v - stiffness * (h * v + h * h * gain_q)) / whole;
}

/* y [3] += the modes of a point (its table) times where q will be after `ahead`, for a warp together, or a lane. */
RS_FN void rs_add_ahead(const modal_step_task *t, const modal_step_object *o, const double *table, double ahead, double *y)
{
    const int64_t first = o->coordinates;
#if RS_WARP_SUMS
    double sums[3] = {0};
    for (int32_t k = RS_LANE % 32; k < o->n_modes; k += 32) {
        const double ahead_q = t->q[first + k] + ahead * t->v[first + k];
        for (int i = 0; i < 3; i++) sums[i] = fma(RS_GET(table[MODAL_STEP_POINT * (1 + k) + i]), ahead_q, sums[i]);
    }
    for (int i = 0; i < 3; i++) y[i] += rs_warp_sum(sums[i]);
#else
    RS_MODES(k, on, o->n_modes)
    for (int i = 0; i < 3; i++)
        y[i] += RS_GET(table[MODAL_STEP_POINT * (1 + k) + i]) * RS_IF(on, t->q[first + k] + ahead * t->v[first + k]);
#endif
}

RS_FN void rs_predict(const modal_step_task *t, int32_t index, double *memory)
{
    RS_OBJECT(o, t, index);
    if (!rs_takes_part(t, o)) return;
    const int64_t first = o->coordinates;
    const rs_work w = rs_work_by(t, o, index);
    RS_SHAPE(shape, t, o->shape);
    const rs_rule rule = rs_rule_of(t);
    const rs_alpha weights = rs_alpha_of(t);
    const int still = t->rule == MODAL_STEP_STATIC, mean = t->rule == MODAL_STEP_ENERGY;
    const double h = t->h;
    double *base = rs_base_of(t, o);
    const int64_t wide = modal_step_padded(o->n_modes);
    RS_EACH(k, o->n_modes)
    {
        const double lag = t->rule == MODAL_STEP_ALPHA ? t->lag[first + k] : 0, a_0 = t->a[first + k];
        const double gain_q = rs_gain_q(&weights, a_0, lag, h), gain_v = rs_gain_v(&weights, a_0, lag, h);
        const double a = still ? 0 : rs_guess(t, o, shape, k, &rule, &weights, gain_q, gain_v);
        base[k] = t->q[first + k] + (still ? 0 : h * t->v[first + k] + (mean ? 0 : h * h * gain_q));
        base[wide + k] = still ? 0 : t->v[first + k] + (mean ? 0 : h * gain_v);
        w.a[k] = a;
#if !RS_WIDE
        w.last[k] = a;
#endif
    }
    if (RS_LANE == 0) {
        if (o->motion != MODAL_STEP_DRIVEN) t->next_poses[index] = t->poses[index];
        if (t->rule == MODAL_STEP_STATIC && o->motion == MODAL_STEP_ATTACHED) {
            modal_step_pose *f = &t->next_poses[index];
            for (int i = 0; i < 3; i++)
                f->velocity[i] = f->acceleration[i] = f->spin[i] = f->spin_rate[i] = 0;
        }
        for (int c = 0; c < 8; c++) w.twist[c] = 0; /* of a root that does not turn, too */
    }
    /* the air where and when the step wants it, at its end or in its middle, by the speeds at its start */
    const modal_step_pose *f = &t->poses[index];
    const double ahead = t->rule == MODAL_STEP_ENERGY ? 0.5 * t->h : t->h;
#if RS_WARP_SUMS
    for (int32_t n = RS_LANE / 32; n < (t->air ? o->n_points : 0); n += RS_LANES / 32) /* a warp each */
#else
    RS_EACH(n, t->air ? o->n_points : 0)
#endif
    {
        const int32_t point = o->first_point + n;
        const double *x = t->tables + t->points[point].table;
        double y[3] = {x[0], x[1], x[2]}, turn[3], world[3], air[3];
        rs_add_ahead(t, o, x, ahead, y);
        rs_cross(f->spin, y, turn);
        for (int i = 0; i < 3; i++) y[i] += ahead * turn[i];
        rs_apply(f->rotation, y, world);
        for (int i = 0; i < 3; i++) {
            world[i] += f->position[i] + ahead * f->velocity[i];
            air[i] = RS_GET(t->air->mean[i]);
        }
        double waves[MODAL_STEP_WAVES];
        for (int32_t m = 0; m < MODAL_STEP_WAVES; m++)
            waves[m] = rs_sin(RS_GET(t->air->wave[m][0]) * world[0] + RS_GET(t->air->wave[m][1]) * world[1] +
                              RS_GET(t->air->wave[m][2]) * world[2] -
                              RS_GET(t->air->frequency[m]) * (t->time + ahead) + RS_GET(t->air->phase[m]));
        const int32_t n_waves = RS_GET(t->air->n_waves);
        for (int32_t m = 0; m < MODAL_STEP_WAVES; m++)
            for (int i = 0; i < 3 && m < n_waves; i++) air[i] += RS_GET(t->air->amplitude[m][i]) * waves[m];
        for (int i = 0; i < 3; i++) t->point_air[3 * point + i] = air[i];
    }
    if (t->rule != MODAL_STEP_ENERGY) return;
    /* f at the start, which the average vector field needs */
    rs_scratch scratch = rs_scratch_of(t, memory);
#if !RS_WIDE
    rs_large_slot(t, o, 0, &scratch);
#endif
    rs_stiffness(t, shape, t->q + first, &scratch, NULL, w.force);
}
#endif
