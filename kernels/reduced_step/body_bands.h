/* SPDX-License-Identifier: Apache-2.0 */
/* Part of reduced_step_body.h, on a GPU: the way from the roots to the leaves by up to RS_BAND levels at once, the first
 * of which begins at object `begin`. Every object finds again what its ancestors on these levels do, which takes less
 * time than a barrier of the grid a level. What it reads of them is not written meanwhile. */

enum { RS_BAND = 4 };

/* chain [0]: the object, then its parent and so on, -1 above the levels. */
RS_FN void rs_chain(const modal_step_task *t, int32_t index, int32_t begin, int32_t *chain)
{
    chain[0] = index;
#pragma unroll
    for (int j = 1; j < RS_BAND; j++) {
        chain[j] = chain[j - 1] < 0 ? -1 : RS_GET(t->objects[chain[j - 1]].parent);
        if (chain[j] < begin) chain[j] = -1;
    }
}

/* Takes the corrections of the last elimination, unless this is the first way down, and moves the object's modes, and
 * its frame in its parent's. */
RS_FN void rs_descend(const modal_step_task *t, const rs_work *w, int first, int32_t begin, double *memory)
{
    RS_OWN(o, w);
    if (!rs_takes_part(t, o)) return;
    const int32_t most = (int32_t)modal_step_padded(t->most_modes), inside = o->parent >= begin;
    double *above = memory + 48, *twists = above + 3 * most, *changes = twists + 16; /* [3, most], [2, 8], [2, most] */
    const rs_rule rule = rs_rule_of(t);
    int32_t chain[RS_BAND], turn = 0;
    rs_chain(t, w->index, begin, chain);
    if (RS_LANE == 0) w->own.scale[4] = 0;
    const double *twist = w->twist, *change = NULL; /* of the one before */
    if (!first && inside) {
#pragma unroll 1
        for (int j = RS_BAND; j-- > 1;) {
            const int32_t i = j == 3 ? chain[3] : j == 2 ? chain[2] : chain[1];
            if (i < 0) continue;
            RS_OBJECT(e, t, i);
            const rs_work ew = rs_work_by(t, e, i);
            double *own_twist = twists + 8 * turn, *own_change = changes + most * turn;
            if (e->parent < 0) {
                twist = ew.twist;
            } else {
                if (e->parent < begin) {
                    RS_OBJECT(higher, t, e->parent);
                    change = rs_change_of(t, higher);
                    twist = change + 2 * modal_step_padded(higher->n_modes);
                }
                rs_correct_pose(&ew, twist, change, own_twist);
                twist = own_twist;
            }
            rs_correct_modes(&ew, twist, own_change);
            change = own_change;
            turn ^= 1;
        }
    }
    if (o->parent >= 0) {
        RS_OBJECT(po, t, o->parent);
        const rs_work pw = rs_work_by(t, po, o->parent);
        RS_EACH(k, po->n_modes)
        {
            double q = 0, v = 0, a = 0;
            if (inside) {
                a = pw.last[k] + (first ? 0 : change[k]);
                rs_place(&rule, pw.base_q[k], pw.base_v[k], a, &q, &v);
            } else {
                q = pw.q[k];
                v = pw.v[k];
                a = pw.a[k];
            }
            above[k] = q;
            above[most + k] = v;
            above[2 * most + k] = a;
        }
        if (!first) {
            double *own = twists + 8 * turn;
            rs_correct_pose(w, inside ? twist : pw.twist, inside ? change : pw.change, own);
            RS_EACH(c, 6) { w->twist[c] = own[c]; }
            twist = own;
        }
        RS_SYNC();
    }
    if (!first) rs_correct_modes(w, twist, w->change);
    RS_EACH(k, o->n_modes)
    {
        const double a = w->last[k] + (first ? 0 : w->change[k]);
        w->a[k] = a;
        rs_place(&rule, w->base_q[k], w->base_v[k], a, &w->q[k], &w->v[k]);
    }
    if (RS_LANE == 0) rs_move_root(t, w);
    if (o->motion == MODAL_STEP_ATTACHED)
        rs_follow(t, w, above, above + most, above + 2 * most, w->motion, memory);
    RS_SYNC();
}

/* The frame of an attached object, from those of its ancestors. */
RS_FN void rs_find_pose(const modal_step_task *t, const rs_work *w, int32_t begin, double *memory)
{
    enum { LINK = 36 };
    RS_OWN(o, w);
    if (!rs_takes_part(t, o) || o->motion != MODAL_STEP_ATTACHED) return;
    int32_t chain[RS_BAND], highest = 0;
    rs_chain(t, w->index, begin, chain);
#pragma unroll
    for (int j = 0; j < RS_BAND; j++) {
        if (chain[j] < 0) continue;
        RS_OBJECT(e, t, chain[j]);
        if (e->parent < 0) continue;
        const rs_work ew = rs_work_by(t, e, chain[j]);
        const double *turn = t->objects[chain[j]].turn;
        highest = j;
        RS_EACH(c, 33)
        {
            memory[LINK * j + c] = c < 12 ? ew.relative[c] : c < 24 ? ew.motion[c - 12] : RS_GET(turn[c - 24]);
        }
    }
    RS_SYNC();
    if (RS_LANE == 0) {
        const int32_t top = highest == 3 ? chain[3] : highest == 2 ? chain[2] : highest == 1 ? chain[1] : chain[0];
        rs_pose above = t->next_poses[RS_GET(t->objects[top].parent)], f;
#pragma unroll 1
        for (int j = highest;; j--) {
            const double *link = memory + LINK * j;
            rs_compose(link, link + 12, link + 24, &above, &f);
            if (j == 0) break;
            above = f;
        }
        for (int i = 0; i < 9; i++) w->pose->rotation[i] = f.rotation[i];
        for (int i = 0; i < 3; i++) {
            w->pose->position[i] = f.position[i];
            w->pose->velocity[i] = f.velocity[i];
            w->pose->acceleration[i] = f.acceleration[i];
            w->pose->spin[i] = f.spin[i];
            w->pose->spin_rate[i] = f.spin_rate[i];
        }
    }
    RS_SYNC();
}
