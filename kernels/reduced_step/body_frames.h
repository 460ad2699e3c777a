/* SPDX-License-Identifier: Apache-2.0 */
/* Part of reduced_step_body.h: attached frames, and the way from the roots to the leaves. */

/* ---- attached frames ---- */

/* The frame's state from the parent's, and its derivative. sums: [48] of scratch. */
RS_FN void rs_follow(const modal_step_task *t, const modal_step_object *o, int32_t index,
                     const rs_work *w, double *sums)
{
    const modal_step_object *po = &t->objects[o->parent];
    const int32_t r = t->shapes[po->shape].n_modes;
    const double *table = t->tables + o->anchor;
    const double *q = t->next_q + po->coordinates, *v = t->next_v + po->coordinates;
    const double *a = t->next_a + po->coordinates;
    const int64_t wide = modal_step_padded(r);
    const double moves = t->rule == MODAL_STEP_STATIC ? 0 : 1;
    RS_EACH(c, MODAL_STEP_ANCHOR)
    {
        sums[c] = table[c];
        sums[16 + c] = sums[32 + c] = 0;
    }
    for (int32_t k = 0; k < r; k++) {
        const double *row = table + (1 + k) * MODAL_STEP_ANCHOR;
        RS_EACH(c, MODAL_STEP_ANCHOR)
        {
            sums[c] += row[c] * q[k];
            sums[16 + c] += row[c] * moves * v[k];
            sums[32 + c] += row[c] * moves * a[k];
        }
    }
    RS_SYNC();
    if (RS_LANE == 0) {
        const modal_step_frame *p = &t->next_frames[o->parent];
        modal_step_frame *f = &t->next_frames[index];
        double rot[9], s[9], s1[9], s2[9], g[9], inverse[9], v3[3], w3[3], det = 0;
        for (int i = 0; i < 9; i++) rot[i] = t->frames[index].turn[i];
        /* Newton's method for the rotation that makes rot^T A symmetric; quadratic from the last
         * step's, and in want of no inverse of A, which is singular for a flat interface */
        for (int turns = 0;; turns++) {
            rs_multiply_transposed(rot, sums + 3, s);
            const double trace = s[0] + s[4] + s[8];
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    g[3 * i + j] = (i == j ? trace : 0) - 0.5 * (s[3 * i + j] + s[3 * j + i]);
            rs_cross(g + 3, g + 6, inverse);
            rs_cross(g + 6, g, inverse + 3);
            rs_cross(g, g + 3, inverse + 6);
            det = rs_dot(g, inverse);
            const int sound = g[0] > 0 && g[0] * g[4] - g[1] * g[3] > 0 && det > 0;
            if (!sound) {
                w->scale[2] = MODAL_STEP_INVERTED;
                break;
            }
            for (int i = 0; i < 9; i++) inverse[i] /= det; /* symmetric: cofactors need no transpose */
            rs_axial(s, v3);
            rs_apply(inverse, v3, w3);
            rs_turn(rot, w3);
            const double size = rs_dot(w3, w3);
            if (!(size > 1e-24) || turns == 50) break;
        }
        rs_multiply_transposed(rot, sums + 3, s);
        /* velocity and acceleration of the rotation: the skew part of the derivatives of rot^T A */
        double spin[3], rate[3], m[9], twice[9];
        rs_multiply_transposed(rot, sums + 16 + 3, s1);
        rs_axial(s1, v3);
        rs_apply(inverse, v3, spin);
        rs_multiply_transposed(rot, sums + 32 + 3, s2);
        const double skew[9] = {0, -spin[2], spin[1], spin[2], 0, -spin[0], -spin[1], spin[0], 0};
        rs_multiply(skew, s1, m);
        rs_multiply(skew, s, twice);
        for (int i = 0; i < 9; i++) s2[i] -= 2 * m[i];
        rs_multiply(skew, twice, m);
        for (int i = 0; i < 9; i++) s2[i] += m[i];
        rs_axial(s2, v3);
        rs_apply(inverse, v3, rate);

        double *to_parent = w->relative, *at = w->relative + 9;
        double arm[3], speed[3], push[3], c1[3], c2[3];
        rs_multiply(rot, o->turn, to_parent);
        rs_apply(rot, o->offset, arm);
        rs_cross(spin, o->offset, c1);
        rs_apply(rot, c1, speed); /* of the arm */
        rs_cross(spin, c1, c2);
        rs_cross(rate, o->offset, c1);
        for (int i = 0; i < 3; i++) c1[i] += c2[i];
        rs_apply(rot, c1, push);
        for (int i = 0; i < 3; i++) {
            at[i] = sums[i] + arm[i];
            speed[i] += sums[16 + i];
            push[i] += sums[32 + i];
        }
        double local[3], world[3];
        rs_multiply(p->rotation, to_parent, f->rotation);
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
        rs_apply_transposed(rot, p->spin, c1);
        rs_apply_transposed(rot, p->spin_rate, c2);
        rs_cross(spin, c1, local);
        for (int i = 0; i < 3; i++) {
            c2[i] += rate[i] - local[i];
            c1[i] += spin[i];
        }
        rs_apply_transposed(o->turn, c1, f->spin);
        rs_apply_transposed(o->turn, c2, f->spin_rate);
        for (int i = 0; i < 9; i++) f->turn[i] = sums[16 + i] = rot[i]; /* for the lanes */
        for (int i = 0; i < 9; i++) sums[32 + i] = inverse[i];
    }
    RS_SYNC();
    const double *rot = sums + 16, *inverse = sums + 32;
    RS_EACH(k, r)
    {
        const double *row = table + (1 + k) * MODAL_STEP_ANCHOR;
        double m[9], axial[3], rate[3], arm[3], linear[3], twist[3];
        rs_multiply_transposed(rot, row + 3, m);
        rs_axial(m, axial);
        rs_apply(inverse, axial, rate);
        rs_cross(rate, o->offset, arm);
        rs_apply_transposed(rot, row, linear);
        for (int i = 0; i < 3; i++) linear[i] += arm[i];
        rs_apply_transposed(o->turn, linear, arm);
        rs_apply_transposed(o->turn, rate, twist);
        for (int i = 0; i < 3; i++) {
            w->follow[i * wide + k] = arm[i];
            w->follow[(3 + i) * wide + k] = twist[i];
        }
    }
}

/* ---- roots to leaves ---- */

/* The acceleration that mode k would have if it were linear, alone, and under constant loads: a guess by the
 * last one would throw stiff modes far past where their forces hold. */
RS_FN double rs_guess(const modal_step_task *t, const modal_step_object *o, int32_t k)
{
    const modal_step_shape *shape = &t->shapes[o->shape];
    const int64_t r = shape->n_modes, at = k * r - k * (k - 1) / 2; /* (k k) */
    const double h = t->h, mass = t->tables[shape->masses + k];
    const double stiffness = t->tables[shape->stiffness + at], damping = t->tables[o->damping + at];
    const double a = t->a[o->coordinates + k], v = t->v[o->coordinates + k];
    const double whole = mass + 0.5 * h * damping + 0.25 * h * h * stiffness;
    if (t->rule == MODAL_STEP_ENERGY) return (mass * a - 0.5 * h * stiffness * v) / whole;
    return (mass * a - 0.5 * h * damping * a - stiffness * (h * v + 0.25 * h * h * a)) / whole;
}

/* The first guess. */
RS_FN void rs_predict(const modal_step_task *t, int32_t index)
{
    const modal_step_object *o = &t->objects[index];
    if (!rs_takes_part(t, o)) return;
    const int64_t first = o->coordinates;
    const rs_work w = rs_work_of(t, o);
    RS_EACH(k, t->shapes[o->shape].n_modes)
    {
        t->next_a[first + k] = t->rule == MODAL_STEP_STATIC ? 0 : rs_guess(t, o, k);
        w.change[k] = 0;
        for (int c = 0; c < 8; c++) w.solved[8 * k + c] = 0; /* no correction yet */
    }
    if (RS_LANE == 0) {
        if (o->motion != MODAL_STEP_DRIVEN) t->next_frames[index] = t->frames[index];
        for (int c = 0; c < 6; c++) w.twist[c] = 0;
        for (int c = 0; c < 12; c++) w.relative[c] = 0;
        if (o->parent >= 0) {
            const int64_t wide = modal_step_padded(t->shapes[t->objects[o->parent].shape].n_modes);
            for (int64_t k = 0; k < 6 * wide; k++) w.follow[k] = 0;
        }
        if (t->rule == MODAL_STEP_STATIC && o->motion == MODAL_STEP_ATTACHED) {
            modal_step_frame *f = &t->next_frames[index];
            for (int i = 0; i < 3; i++)
                f->velocity[i] = f->acceleration[i] = f->spin[i] = f->spin_rate[i] = 0;
        }
        w.scale[2] = 0;
    }
    /* the air where a point is on its way to the end of the step */
    const modal_step_frame *f = &t->frames[index];
    RS_EACH(n, t->air ? o->n_points : 0)
    {
        const int32_t point = o->first_point + n;
        const double *x = t->tables + t->points[point].table;
        double y[3] = {x[0], x[1], x[2]}, world[3], *air = t->point_air + 3 * point;
        for (int32_t k = 0; k < t->shapes[o->shape].n_modes; k++)
            for (int i = 0; i < 3; i++) y[i] += x[MODAL_STEP_POINT * (1 + k) + i] * t->q[first + k];
        rs_apply(f->rotation, y, world);
        for (int i = 0; i < 3; i++) {
            world[i] += f->position[i];
            air[i] = t->air->mean[i];
        }
        for (int32_t m = 0; m < t->air->n_waves; m++) {
            const double s = sin(rs_dot(t->air->wave[m], world) -
                                 t->air->frequency[m] * (t->time + t->h) + t->air->phase[m]);
            for (int i = 0; i < 3; i++) air[i] += t->air->amplitude[m][i] * s;
        }
    }
}

/* Takes the corrections of the last elimination, and moves the object to its trial state; the parent
 * has been moved before. scratch: [48]. */
RS_FN void rs_descend(const modal_step_task *t, int32_t index, double *scratch)
{
    const modal_step_object *o = &t->objects[index];
    if (!rs_takes_part(t, o)) return;
    const rs_work w = rs_work_of(t, o);
    const int32_t r = t->shapes[o->shape].n_modes;
    if (RS_LANE == 0) w.scale[2] = 0;
    if (o->parent >= 0) {
        const modal_step_object *po = &t->objects[o->parent];
        const rs_work pw = rs_work_of(t, po);
        const int32_t parent_modes = t->shapes[po->shape].n_modes;
        const int64_t wide = modal_step_padded(parent_modes);
        RS_EACH(c, 6)
        {
            const double *rotation = w.relative, *at = w.relative + 9, *twist = pw.twist;
            double x[3] = {twist[3], twist[4], twist[5]}, arm[3];
            if (c < 3) {
                rs_cross(twist + 3, at, arm);
                for (int i = 0; i < 3; i++) x[i] = twist[i] + arm[i];
            }
            double sum = rotation[c % 3] * x[0] + rotation[3 + c % 3] * x[1] + rotation[6 + c % 3] * x[2];
            for (int32_t k = 0; k < parent_modes; k++) sum += w.follow[c * wide + k] * pw.change[k];
            w.twist[c] = sum;
        }
        RS_SYNC();
    }
    RS_EACH(k, r)
    {
        double sum = w.solved[8 * k + 6];
        for (int c = 0; c < 6; c++) sum += w.solved[8 * k + c] * w.twist[c];
        w.change[k] = -sum;
        t->next_a[o->coordinates + k] -= sum;
    }
    rs_place_coordinates(t, o);
    if (RS_LANE == 0 && o->motion == MODAL_STEP_FREE && t->rule != MODAL_STEP_STATIC) {
        modal_step_frame *f = &t->next_frames[index];
        double world[3];
        rs_apply(f->rotation, w.twist, world);
        for (int i = 0; i < 3; i++) {
            f->acceleration[i] += world[i];
            f->spin_rate[i] += w.twist[3 + i];
        }
        rs_place_free_frame(t, &t->frames[index], f);
    }
    if (o->motion == MODAL_STEP_ATTACHED) rs_follow(t, o, index, &w, scratch);
    RS_SYNC();
}
