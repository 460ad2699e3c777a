/* SPDX-License-Identifier: Apache-2.0 */
/* Part of reduced_step_body.h: attached frames, and the way from the roots to the leaves. */

/* ---- attached frames ---- */

/* (a, al) of the child for those of the parent: row c of the 6 x 6 map, by its place in the parent. */
RS_FN void rs_map_row(const real *relative, int c, real *row)
{
    const real *at = relative + 9;
    const real axis[3] = {relative[c % 3], relative[3 + c % 3], relative[6 + c % 3]};
    for (int i = 0; i < 3; i++) row[i] = row[3 + i] = RS_ALL(0);
    if (c < 3) {
        for (int i = 0; i < 3; i++) row[i] = axis[i];
        rs_cross(at, axis, row + 3); /* axis . (w x at) = w . (at x axis) */
    } else {
        for (int i = 0; i < 3; i++) row[3 + i] = axis[i];
    }
}

/* The wrench [6] of the child on its parent: out [6] = map^T wrench. */
RS_FN void rs_map_wrench(const real *relative, const real *wrench, real *out)
{
    real moment[3];
    rs_apply(relative, wrench, out);
    rs_apply(relative, wrench + 3, out + 3);
    rs_cross(relative + 9, out, moment);
    for (int i = 0; i < 3; i++) out[3 + i] += moment[i];
}

/* Where the frame is and how it moves in its parent's, for the parent's q, v and a: into relative and follow, and motion
 * [12], velocity and acceleration of its origin but for those that the parent's spin gives, spin and its rate (the two
 * in the axes of the interface). sums: [48] of scratch. */
RS_FN void rs_follow(const modal_step_task *t, const rs_work *w, const real *q, const real *v, const real *a, real *motion,
                     real *sums)
{
    const int32_t r = RS_GET(w->object->parent_modes);
    const real *table = w->anchor;
    const int64_t wide = modal_step_padded(r);
    const double moves = t->rule == MODAL_STEP_STATIC ? 0 : 1;
#if RS_WIDE
    for (int c = 0; c < MODAL_STEP_ANCHOR; c++) {
        sums[c] = table[c];
        sums[16 + c] = sums[32 + c] = RS_ALL(0);
    }
    for (int32_t k = 0; k < r; k++) {
        const real *row = table + (1 + k) * MODAL_STEP_ANCHOR, qk = q[k], vk = moves * v[k], ak = moves * a[k];
        for (int c = 0; c < MODAL_STEP_ANCHOR; c++) {
            sums[c] += row[c] * qk;
            sums[16 + c] += row[c] * vk;
            sums[32 + c] += row[c] * ak;
        }
    }
#else
    RS_EACH(c, MODAL_STEP_ANCHOR)
    {
        real x = RS_GET(table[c]), x1 = 0, x2 = 0;
        RS_MODES(k, on, r)
        {
            const real e = RS_GET(table[(1 + k) * MODAL_STEP_ANCHOR + c]);
            x += e * RS_IF(on, q[k]);
            x1 += e * RS_IF(on, v[k]);
            x2 += e * RS_IF(on, a[k]);
        }
        sums[c] = x;
        sums[16 + c] = moves * x1;
        sums[32 + c] = moves * x2;
    }
    RS_SYNC();
#endif
    if (RS_LANE == 0) {
        rs_pose *f = w->pose;
        const real offset[3] = {w->offset[0], w->offset[1], w->offset[2]};
        real turn[9];
        for (int i = 0; i < 9; i++) turn[i] = w->turn[i];
        real rot[9], s[9], s1[9], s2[9], g[9], inverse[9], v3[3], w3[3];
        for (int i = 0; i < 9; i++) rot[i] = f->turn[i];
        /* Newton's method for the rotation that makes rot^T A symmetric; quadratic from the last
         * one, and in want of no inverse of A, which is singular for a flat interface */
        for (int turns = 0;; turns++) {
            rs_multiply_transposed(rot, sums + 3, s);
            const real trace = s[0] + s[4] + s[8];
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    const real mean = 0.5 * (s[3 * i + j] + s[3 * j + i]);
                    g[3 * i + j] = i == j ? trace - mean : -mean;
                }
            rs_cross(g + 3, g + 6, inverse);
            rs_cross(g + 6, g, inverse + 3);
            rs_cross(g, g + 3, inverse + 6);
            const real det = rs_dot(g, inverse);
            const real_mask sound = (g[0] > 0) & (g[0] * g[4] - g[1] * g[3] > 0) & (det > 0);
            const real part = RS_PICK(sound, 1 / det, RS_ALL(0)); /* symmetric: cofactors need no transpose */
            if (!RS_EVERY(sound))
                w->own.scale[4] = RS_PICK(sound, w->own.scale[4], RS_ALL(MODAL_STEP_INVERTED));
            for (int i = 0; i < 9; i++) inverse[i] *= part;
            rs_axial(s, v3);
            rs_apply(inverse, v3, w3);
            if (!RS_ANY(rs_dot(w3, w3) > 1e-26) || turns == 50) break;
            rs_turn(rot, w3);
        }
        /* velocity and acceleration of the rotation: the skew part of the derivatives of rot^T A */
        real spin[3], rate[3], m[9], twice[9];
        rs_multiply_transposed(rot, sums + 16 + 3, s1);
        rs_axial(s1, v3);
        rs_apply(inverse, v3, spin);
        rs_multiply_transposed(rot, sums + 32 + 3, s2);
        const real zero = RS_ALL(0);
        const real skew[9] = {zero, -spin[2], spin[1], spin[2], zero, -spin[0], -spin[1], spin[0], zero};
        rs_multiply(skew, s1, m);
        rs_multiply(skew, s, twice);
        for (int i = 0; i < 9; i++) s2[i] -= 2 * m[i];
        rs_multiply(skew, twice, m);
        for (int i = 0; i < 9; i++) s2[i] += m[i];
        rs_axial(s2, v3);
        rs_apply(inverse, v3, rate);

        real arm[3], speed[3], push[3], c1[3], c2[3];
        rs_multiply(rot, turn, w->relative);
        rs_apply(rot, offset, arm);
        rs_cross(spin, offset, c1);
        rs_apply(rot, c1, speed); /* of the arm */
        rs_cross(spin, c1, c2);
        rs_cross(rate, offset, c1);
        for (int i = 0; i < 3; i++) c1[i] += c2[i];
        rs_apply(rot, c1, push);
        for (int i = 0; i < 3; i++) {
            w->relative[9 + i] = sums[i] + arm[i];
            motion[i] = speed[i] + sums[16 + i];
            motion[3 + i] = push[i] + sums[32 + i];
            motion[6 + i] = spin[i];
            motion[9 + i] = rate[i];
        }
        for (int i = 0; i < 9; i++) f->turn[i] = sums[16 + i] = rot[i]; /* for the lanes */
        for (int i = 0; i < 9; i++) sums[32 + i] = inverse[i];
    }
    RS_SYNC();
    const real *rot = sums + 16, *inverse = sums + 32;
    RS_EACH(k, r)
    {
        const real *row = table + (1 + k) * MODAL_STEP_ANCHOR;
        real m[9], axial[3], rate[3], arm[3], linear[3], twist[3], own[12];
        for (int i = 0; i < 12; i++) own[i] = RS_GET(row[i]);
        rs_multiply_transposed(rot, own + 3, m);
        rs_axial(m, axial);
        rs_apply(inverse, axial, rate);
        rs_cross(rate, w->offset, arm);
        rs_apply_transposed(rot, own, linear);
        for (int i = 0; i < 3; i++) linear[i] += arm[i];
        rs_apply_transposed(w->turn, linear, arm);
        rs_apply_transposed(w->turn, rate, twist);
        for (int i = 0; i < 3; i++) {
            w->follow[i * wide + k] = arm[i];
            w->follow[(3 + i) * wide + k] = twist[i];
        }
    }
}

/* The frame's state from its parent's; turn: its rest axes in the interface's. The interface's rotation is left. */
RS_FN void rs_compose(const real *relative, const real *motion, const real *turn, const rs_pose *p, rs_pose *f)
{
    const real *at = relative + 9, *speed = motion, *push = motion + 3;
    real local[3], world[3], c1[3], c2[3], spin[3], rate[3];
    rs_multiply(p->rotation, relative, f->rotation);
    rs_apply(p->rotation, at, world);
    for (int i = 0; i < 3; i++) f->position[i] = p->position[i] + world[i];
    rs_cross(p->spin, at, local);
    for (int i = 0; i < 3; i++) {
        c1[i] = local[i] + speed[i];          /* w x at + at' */
        c2[i] = local[i] + 2 * speed[i];
    }
    rs_apply(p->rotation, c1, world);
    for (int i = 0; i < 3; i++) f->velocity[i] = p->velocity[i] + world[i];
    rs_cross(p->spin, c2, local); /* w x (w x at) + 2 w x at' */
    rs_cross(p->spin_rate, at, c1);
    for (int i = 0; i < 3; i++) local[i] += c1[i] + push[i];
    rs_apply(p->rotation, local, world);
    for (int i = 0; i < 3; i++) f->acceleration[i] = p->acceleration[i] + world[i];
    rs_apply_transposed(relative, p->spin, spin);
    rs_apply_transposed(relative, p->spin_rate, rate);
    rs_apply_transposed(turn, motion + 6, c1);
    rs_apply_transposed(turn, motion + 9, c2);
    rs_cross(c1, spin, local);
    for (int i = 0; i < 3; i++) {
        f->spin[i] = spin[i] + c1[i];
        f->spin_rate[i] = rate[i] + c2[i] - local[i];
    }
}

/* ---- roots to leaves ---- */

/* The correction of the frame's (a, al), from those of the parent and of its a; and that of the object's own a. */
RS_FN void rs_correct_pose(const rs_work *w, const real *parent_twist, const real *parent_change, real *twist)
{
    const int32_t r = RS_GET(w->object->parent_modes);
    const int64_t wide = modal_step_padded(r);
    RS_EACH(c, 6)
    {
        real row[6], sum = RS_ALL(0);
        rs_map_row(w->relative_0, c, row);
        for (int d = 0; d < 6; d++) sum += row[d] * parent_twist[d];
        RS_MODES(k, on, r) sum += w->follow_0[c * wide + k] * RS_IF(on, parent_change[k]);
        twist[c] = sum;
    }
    RS_SYNC();
}
RS_FN void rs_correct_modes(const rs_work *w, const real *twist, real *change)
{
    RS_EACH(k, RS_GET(w->object->n_modes))
    {
        real sum = w->step[k];
        for (int c = 0; c < 6; c++) sum += w->solved[8 * k + c] * twist[c];
        change[k] = -sum;
    }
    RS_SYNC();
}

#if RS_PACK == 1
/* A free root's frame, by one lane. */
RS_FN void rs_move_root(const modal_step_task *t, const rs_work *w)
{
    modal_step_pose *f = w->pose;
    double world[3];
    if (RS_GET(w->object->motion) != MODAL_STEP_FREE || t->rule == MODAL_STEP_STATIC) return;
    rs_apply(f->rotation, w->twist, world);
    for (int i = 0; i < 3; i++) {
        f->acceleration[i] += world[i];
        f->spin_rate[i] += w->twist[3 + i];
    }
    rs_place_free_pose(t, &t->poses[w->index], t->root_lag + 6 * (int64_t)w->index, f);
}
#endif

#if RS_WIDE
/* Takes the corrections of the last elimination, unless this is the first way down, and moves the object to its
 * trial state; the parent has been moved before. scratch: [48]. */
RS_FN void rs_descend(const modal_step_task *t, const rs_work *w, int first, real *scratch)
{
    RS_OWN(o, w);
    if (!rs_takes_part(t, o)) return;
    w->own.scale[4] = RS_ALL(0);
    if (!first && o->parent >= 0) rs_correct_pose(w, w->above.twist, w->above.change, w->twist);
    if (!first) {
        rs_correct_modes(w, w->twist, w->change);
        for (int32_t k = 0; k < o->n_modes; k++) w->a[k] += w->change[k];
    }
    const rs_rule rule = rs_rule_of(t);
    for (int32_t k = 0; k < o->n_modes; k++) rs_place(&rule, w->base_q[k], w->base_v[k], w->a[k], &w->q[k], &w->v[k]);
#if RS_PACK == 1
    rs_move_root(t, w);
#endif
    if (o->motion != MODAL_STEP_ATTACHED) return;
    real motion[12];
    rs_follow(t, w, w->above.q, w->above.v, w->above.a, motion, scratch);
    rs_compose(w->relative, motion, w->turn, w->above.pose, w->pose);
}
#else
#include "kernels/reduced_step/body_bands.h"
#endif
