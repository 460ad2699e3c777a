/* SPDX-License-Identifier: Apache-2.0 */
/* Part of reduced_step_body.h: the way from the leaves to the roots. */

/* ---- leaves to roots ---- */

/* Adds a child, already condensed, to its parent's equations. */
RS_FN void rs_add_child(const modal_step_task *t, const modal_step_object *o, const rs_work *w,
                        int32_t child, const rs_scratch *s)
{
    const rs_work cw = rs_work_of(t, &t->objects[child]);
    const int32_t r = t->shapes[o->shape].n_modes;
    const int moving = o->motion != MODAL_STEP_FIXED;
    /* product = inertia x follow of each parent mode */
    RS_EACH(k, r)
    {
        const double *j = cw.follow + 8 * k;
        double gain = 0, total = 0;
        for (int c = 0; c < 6; c++) {
            double sum = 0;
            for (int d = 0; d < 6; d++) sum += cw.inertia[6 * c + d] * j[d];
            s->product[8 * k + c] = sum;
            gain += cw.wrench[c] * j[c];
            total += cw.load[c] * j[c];
        }
        w->right[8 * k + 6] += gain;
        w->residual[k] += total;
        s->terms[k] = fabs(total);
    }
    /* the change of frame, [6, 6]: (a, al) of the child for those of the parent */
    double *map = s->sums, *image = s->sums + 36;
    if (moving && RS_LANE == 0) {
        const double *rotation = cw.relative, *at = cw.relative + 9;
        for (int j = 0; j < 3; j++) {
            const double unit[3] = {j == 0 ? 1.0 : 0, j == 1 ? 1.0 : 0, j == 2 ? 1.0 : 0};
            double arm[3], x[3];
            rs_cross(unit, at, arm);
            rs_apply_transposed(rotation, arm, x);
            for (int i = 0; i < 3; i++) {
                map[6 * i + j] = map[6 * (3 + i) + 3 + j] = rotation[3 * j + i];
                map[6 * i + 3 + j] = x[i];
                map[6 * (3 + i) + j] = 0;
            }
        }
    }
    RS_SYNC();
    RS_EACH(k, r)
    {
        const double *j = cw.follow + 8 * k;
        for (int32_t l = 0; l <= k; l++) {
            double sum = 0;
            for (int c = 0; c < 6; c++) sum += j[c] * s->product[8 * l + c];
            w->matrix[k * r + l] += sum;
        }
        if (!moving) continue;
        for (int c = 0; c < 6; c++) {
            double sum = 0;
            for (int d = 0; d < 6; d++) sum += s->product[8 * k + d] * map[6 * d + c];
            w->right[8 * k + c] += sum;
        }
    }
    if (RS_LANE == 0) {
        double largest = w->scale[0];
        for (int32_t k = 0; k < r; k++) largest = fmax(largest, s->terms[k]);
        w->scale[0] = largest;
    }
    if (moving) {
        RS_EACH(e, 36)
        {
            double sum = 0;
            for (int d = 0; d < 6; d++) sum += cw.inertia[6 * (e / 6) + d] * map[6 * d + e % 6];
            image[e] = sum;
        }
        RS_SYNC();
        RS_EACH(e, 36)
        {
            double sum = 0;
            for (int d = 0; d < 6; d++) sum += map[6 * d + e / 6] * image[6 * d + e % 6];
            w->inertia[e] += sum;
        }
        RS_EACH(c, 6)
        {
            double gain = 0, total = 0;
            for (int d = 0; d < 6; d++) {
                gain += map[6 * d + c] * cw.wrench[d];
                total += map[6 * d + c] * cw.load[d];
            }
            w->wrench[c] += gain;
            w->load[c] += total;
        }
        if (RS_LANE == 0) {
            const double reach = sqrt(rs_dot(cw.relative + 9, cw.relative + 9));
            w->scale[1] += cw.scale[1];
            w->scale[3] += cw.scale[3] + reach * cw.scale[1];
        }
    }
    if (RS_LANE == 0) w->scale[2] = fmax(w->scale[2], cw.scale[2]);
    RS_SYNC();
}

/* Cholesky factor of the lower half of a [n, n] in place; 0 where it is not positive definite. */
RS_FN int rs_factor(double *a, int32_t n)
{
    for (int32_t j = 0; j < n; j++) {
        const double pivot = a[j * n + j];
        if (!(pivot > 0) || pivot > 1e300) return 0;
        RS_SYNC();
        const double root = sqrt(pivot), inverse = 1 / root;
        RS_EACH(i, n)
        {
            if (i > j) a[i * n + j] *= inverse;
            if (i == j) a[j * n + j] = root;
        }
        RS_SYNC();
        RS_EACH(i, n)
        {
            if (i <= j) continue;
            const double x = a[i * n + j];
            for (int32_t k = j + 1; k <= i; k++) a[i * n + k] -= x * a[k * n + j];
        }
        RS_SYNC();
    }
    return 1;
}

/* Solves for 8 right-hand sides x [n, 8] in place. */
RS_FN void rs_solve(const double *a, int32_t n, double *x)
{
#if RS_WIDE
    /* one lane: all columns at once */
    for (int32_t i = 0; i < n; i++) {
        double row[8];
        for (int c = 0; c < 8; c++) row[c] = x[8 * i + c];
        for (int32_t k = 0; k < i; k++)
            for (int c = 0; c < 8; c++) row[c] -= a[i * n + k] * x[8 * k + c];
        const double inverse = 1 / a[i * n + i];
        for (int c = 0; c < 8; c++) x[8 * i + c] = row[c] * inverse;
    }
    for (int32_t i = n; i-- > 0;) {
        double row[8];
        for (int c = 0; c < 8; c++) row[c] = x[8 * i + c];
        for (int32_t k = i + 1; k < n; k++)
            for (int c = 0; c < 8; c++) row[c] -= a[k * n + i] * x[8 * k + c];
        const double inverse = 1 / a[i * n + i];
        for (int c = 0; c < 8; c++) x[8 * i + c] = row[c] * inverse;
    }
#else
    RS_EACH(c, 7)
    {
        for (int32_t i = 0; i < n; i++) {
            double sum = x[8 * i + c];
            for (int32_t k = 0; k < i; k++) sum -= a[i * n + k] * x[8 * k + c];
            x[8 * i + c] = sum / a[i * n + i];
        }
        for (int32_t i = n; i-- > 0;) {
            double sum = x[8 * i + c];
            for (int32_t k = i + 1; k < n; k++) sum -= a[k * n + i] * x[8 * k + c];
            x[8 * i + c] = sum / a[i * n + i];
        }
    }
#endif
    RS_SYNC();
}

/* Adds the children, checks the residual, condenses; a root sets the tree's status. */
RS_FN void rs_eliminate(const modal_step_task *t, int32_t index, double *memory)
{
    const modal_step_object *o = &t->objects[index];
    if (!rs_takes_part(t, o)) return;
    const rs_work w = rs_work_of(t, o);
    const rs_scratch s = rs_scratch_of(t, memory);
    const int32_t r = t->shapes[o->shape].n_modes;
    const int moving = o->motion != MODAL_STEP_FIXED;
    for (int32_t c = 0; c < o->n_children; c++) rs_add_child(t, o, &w, o->first_child + c, &s);

    if (RS_LANE == 0) {
        double worst = 0, relative = 0;
        int finite = 1, good;
        for (int32_t k = 0; k < r; k++) {
            worst = fmax(worst, fabs(w.residual[k]));
            finite &= fabs(w.residual[k]) <= 1e300; /* no for NaN */
        }
        relative = worst > 0 ? worst / w.scale[0] : 0;
        good = worst <= t->tolerance * w.scale[0];
        if (o->motion == MODAL_STEP_FREE) {
            for (int half = 0; half < 2; half++) {
                const double size = sqrt(rs_dot(w.load + 3 * half, w.load + 3 * half));
                const double scale = w.scale[1 + 2 * half];
                finite &= size <= 1e300;
                if (size > 0) relative = fmax(relative, size / scale);
                good &= size <= t->tolerance * scale;
            }
        }
        int status = finite ? good ? 0 : MODAL_STEP_RUNNING : MODAL_STEP_BROKEN;
        t->measures[index].residual = finite ? relative : INFINITY;
        t->measures[index].status = status == 0 ? MODAL_STEP_CONVERGED : status;
        if (w.scale[2] == MODAL_STEP_INVERTED) t->measures[index].status = MODAL_STEP_INVERTED;
        w.scale[2] = fmax(w.scale[2], (double)status);
    }
    RS_SYNC();
    RS_EACH(e, 8 * r) { w.solved[e] = w.right[e]; }
    RS_SYNC();
    if (!rs_factor(w.matrix, r)) {
        RS_SYNC();
        if (RS_LANE == 0) {
            w.scale[2] = MODAL_STEP_BROKEN;
            t->measures[index].status = MODAL_STEP_BROKEN;
        }
    } else {
        rs_solve(w.matrix, r, w.solved);
    }
    if (moving) {
        RS_EACH(e, 42)
        {
            const int i = e / 7, j = e % 7; /* column 6: the wrench */
            double sum = 0;
            for (int32_t k = 0; k < r; k++) sum += w.right[8 * k + i] * w.solved[8 * k + j];
            if (j < 6)
                w.inertia[6 * i + j] -= sum;
            else
                w.wrench[i] -= sum;
        }
    }
    RS_SYNC();
    if (o->parent >= 0) return;
    if (RS_LANE == 0) {
        if (o->motion == MODAL_STEP_FREE) {
            double a[36], x[48];
            for (int i = 0; i < 36; i++) a[i] = w.inertia[i];
            for (int i = 0; i < 6; i++) x[i] = -w.wrench[i];
            /* one lane's own small factorisation */
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
            for (int i = 0; i < 6; i++) w.twist[i] = x[i];
            if (!sound) {
                w.scale[2] = MODAL_STEP_BROKEN;
                t->measures[index].status = MODAL_STEP_BROKEN;
            }
        }
        t->status[o->tree] = w.scale[2] == 0 ? MODAL_STEP_CONVERGED : (int32_t)w.scale[2];
    }
    RS_SYNC();
}
