/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes' part of a step, in one arithmetic: after tled_simd.h, with the same names. No include guard: this is a template. */

/* d <- keep d + push and u <- u + d of one node, with what is lost where arithmetic is single. before: d, or 0. */
TARGET static inline void NAME(go)(const modal_tled_factors *x, SCALAR *u, SCALAR *low, SCALAR *increment, NAME(four) before,
                                   NAME(four) push)
{
    const NAME(four) old = *(NAME(four) *)u;
#if DOUBLE
    (void)low;
    const NAME(four) d = before * (SCALAR)x->keep + push;
    *(NAME(four) *)u = old + d;
#else
    const NAME(four) lost = x->ratio > 0 ? *(NAME(four) *)(low + 4) : before;
    const NAME(four) more = lost * (SCALAR)x->keep + (push - before * (SCALAR)x->lose), d = before + more;
    *(NAME(four) *)(low + 4) = more - (d - before);
    const NAME(four) way = *(NAME(four) *)low + d, next = old + way;
    *(NAME(four) *)u = next;
    *(NAME(four) *)low = way - (next - old);
#endif
    *(NAME(four) *)increment = d;
}

/* The sum of a node's slots, in their order. */
TARGET static inline NAME(four) NAME(force)(const modal_tled_lanes *l, int64_t i)
{
    const SCALAR *partial = l->partial;
    NAME(four) f = {0};
    for (int32_t k = l->slot_offsets[i]; k < l->slot_offsets[i + 1]; k++) f += *(const NAME(four) *)(partial + 4 * (size_t)k);
    return f;
}

/* Puts a node that has moved out of the bodies that it is in; before: its d, at: its u + low before. */
TARGET static void NAME(put_out)(const modal_tled_step_task *t, const modal_tled_factors *f, int64_t step,
                                 const modal_tled_special *special, const double before[3], const double at[3],
                                 double held_work[1])
{
    const modal_tled_solid *s = t->layout->solid;
    const int64_t i = special->node, row = special->touching;
    SCALAR *u = (SCALAR *)t->u + 4 * i, *d = (SCALAR *)t->d + 4 * i, *low = t->low ? (SCALAR *)t->low + 8 * i : NULL;
    double x[3], from[3], sum[3] = {0, 0, 0};
    int moved = 0;
    for (int c = 0; c < 3; c++) {
        x[c] = s->nodes[3 * i + c] + ((double)u[c] + (low ? (double)low[c] : 0));
        from[c] = s->nodes[3 * i + c] + at[c];
    }
    for (int32_t b = 0; b < s->n_contacts; b++) {
        const modal_tled_contact *contact = &s->contacts[b];
        const double was[3] = {x[0], x[1], x[2]};
        const double *signals = t->signals + step * s->n_signals + contact->signal;
        const int in = special->held < 0 && (s->touching_masks[row] >> b & 1) &&
                       modal_tled_put_out(contact, signals, signals + s->n_signals, from, x);
        moved |= in;
        for (int c = 0; c < 3; c++) {
            const double force = in ? s->mass[i] * (x[c] - was[c]) / f->gain : 0;
            if (t->touches) t->touches[3 * (b * s->n_touching + row) + c] = force;
            sum[c] += force;
        }
    }
    for (int c = 0; c < 3 && moved; c++) {
        const double to = x[c] - s->nodes[3 * i + c];
        d[c] = (SCALAR)(to - at[c]);
        u[c] = (SCALAR)to;
        if (low) low[c] = (SCALAR)(to - (double)u[c]), low[4 + c] = (SCALAR)(to - at[c] - (double)d[c]);
        *held_work += sum[c] * f->half * ((double)d[c] + f->ratio * before[c]);
    }
}

/* A node with loads, faces, prescribed components or bodies near it, in float64. *external: R of it, gravity included. */
TARGET static void NAME(move_special)(const modal_tled_step_task *t, const modal_tled_factors *x, int64_t step,
                                      const modal_tled_special *special, double external[3], double held_work[1])
{
    const modal_tled_lanes *l = (const modal_tled_lanes *)t->layout;
    const modal_tled_solid *s = l->head.solid;
    const int64_t i = special->node;
    const double *signals = t->signals ? t->signals + step * s->n_signals : NULL, mass = s->mass[i];
    const NAME(four) inner = NAME(force)(l, i);
    SCALAR *u = (SCALAR *)t->u + 4 * i, *d = (SCALAR *)t->d + 4 * i, *low = t->low ? (SCALAR *)t->low + 8 * i : NULL;
    for (int c = 0; c < 3; c++) external[c] = t->gravity ? (s->weights ? s->weights[i] : mass) * t->gravity[3 * step + c] : 0;
    if (special->loaded >= 0)
        for (int64_t e = s->load_offsets[special->loaded]; e < s->load_offsets[special->loaded + 1]; e++)
            for (int c = 0; c < 3; c++) external[c] += signals[s->load_signals[e]] * s->load_vectors[3 * e + c];
    for (int64_t k = special->faces; k < special->faces + special->n_faces; k++) {
        const int64_t corner = l->face_corners[k], face = corner / 4;
        for (int c = 0; c < 3; c++)
            external[c] += s->face_pressures[face] * signals[s->face_signals[face]] * l->face_forces[3 * corner + c];
    }
    double before[3], at[3];
    for (int c = 0; c < 3; c++) {
        const double force = external[c] - (double)inner[c];
        const int32_t signal = special->held < 0 ? MODAL_TLED_FREE : s->held_signals[3 * special->held + c];
        double holding = 0;
        before[c] = x->ratio > 0 ? (double)d[c] + (low ? (double)low[4 + c] : 0) : 0;
        at[c] = (double)u[c] + (low ? (double)low[c] : 0);
        if (signal == MODAL_TLED_FREE) {
            const double exact = x->keep * before[c] + x->gain * force / mass;
            d[c] = (SCALAR)exact;
            if (low) low[4 + c] = (SCALAR)(exact - (double)d[c]);
            const SCALAR old = u[c], way = low ? low[c] + d[c] : d[c];
            u[c] = old + way;
            if (low) low[c] = way - (u[c] - old);
        } else {
            const double next = signal == MODAL_TLED_STILL
                                    ? 0
                                    : s->held_values[3 * special->held + c] * t->signals[(step + 1) * s->n_signals + signal];
            const double way = next - at[c];
            d[c] = (SCALAR)way;
            u[c] = (SCALAR)next;
            if (low) low[c] = (SCALAR)(next - (double)u[c]), low[4 + c] = (SCALAR)(way - (double)d[c]);
            holding = mass * (way - x->keep * before[c]) / x->gain - force;
        }
        *held_work += holding * x->half * ((double)d[c] + x->ratio * before[c]);
        if (t->reactions && special->held >= 0) t->reactions[3 * (int64_t)special->held + c] = holding;
    }
    if (special->touching >= 0) NAME(put_out)(t, x, step, special, before, at, held_work);
}

/* What a node adds to the works but for what holds it. */
TARGET static inline void NAME(add_work)(const modal_tled_step_task *t, const modal_tled_factors *x, int64_t i,
                                         const double external[3], NAME(four) before, modal_tled_work *work)
{
    const double mass = t->layout->solid->mass[i];
    const SCALAR *d = (const SCALAR *)t->d + 4 * i;
    const NAME(four) inner = NAME(force)((const modal_tled_lanes *)t->layout, i); /* the slots are as the step had them */
    for (int c = 0; c < 3; c++) {
        const double both = (double)d[c] + x->ratio * (double)before[c], way = x->half * both;
        work->loads += external[c] * way;
        work->inner += (double)inner[c] * way;
        work->damped += t->alpha * mass * both / (2 * t->step) * way;
    }
}

/* Nodes [begin, end) of step `step` of the task; specials from *special on. work: NULL or added to. */
TARGET static void NAME(nodes)(const modal_tled_step_task *t, const modal_tled_factors *x, int64_t step, int64_t begin,
                               int64_t end, int64_t special, modal_tled_work *work)
{
    const modal_tled_lanes *l = (const modal_tled_lanes *)t->layout;
    const SCALAR *inverse = l->inverse_mass, gain = (SCALAR)x->gain;
    const double *g = t->gravity ? t->gravity + 3 * step : NULL;
    const NAME(four) zero = {0};
    const NAME(four) fall = g ? (NAME(four)){(SCALAR)(x->gain * g[0]), (SCALAR)(x->gain * g[1]), (SCALAR)(x->gain * g[2]), 0} : zero;
    SCALAR *all_u = t->u, *all_d = t->d, *all_low = t->low;
    const SCALAR *falls = l->falls;
    const double *weights = l->head.solid->weights ? l->head.solid->weights : l->head.solid->mass;
    for (int64_t i = begin; i < end; i++) {
        const NAME(four) before = x->ratio > 0 ? *(const NAME(four) *)(all_d + 4 * i) : zero;
        double external[3], held = 0;
        if (special < l->n_specials && l->specials[special].node == i) {
            NAME(move_special)(t, x, step, &l->specials[special++], external, &held);
        } else {
            const NAME(four) falling = falls ? fall * falls[i] : fall;
            NAME(go)(x, all_u + 4 * i, all_low ? all_low + 8 * i : NULL, all_d + 4 * i, before,
                     falling - NAME(force)(l, i) * (inverse[i] * gain));
            for (int c = 0; c < 3 && work; c++) external[c] = g ? weights[i] * g[c] : 0;
        }
        if (!work) continue;
        work->held += held;
        NAME(add_work)(t, x, i, external, before, work);
    }
}

/* Forces of 1 Pa on faces [begin, end). */
TARGET static void NAME(faces)(const modal_tled_step_task *t, int64_t begin, int64_t end)
{
    const modal_tled_lanes *l = (const modal_tled_lanes *)t->layout;
    const modal_tled_solid *s = l->head.solid;
    const SCALAR *u = t->u;
    for (int64_t f = begin; f < end; f++) {
        const int32_t *corners = s->faces + 4 * f;
        const int n = corners[3] < 0 ? 3 : 4;
        double at[4][3], force[4][3];
        for (int a = 0; a < n; a++)
            for (int i = 0; i < 3; i++) at[a][i] = s->nodes[3 * (int64_t)corners[a] + i] + (double)u[4 * (int64_t)corners[a] + i];
        modal_tled_face_force(n, at, force);
        for (int a = 0; a < n; a++)
            for (int i = 0; i < 3; i++) l->face_forces[3 * (4 * f + a) + i] = force[a][i];
    }
}
