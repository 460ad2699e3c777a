/* SPDX-License-Identifier: Apache-2.0 */
/* Part of reduced_step_body.h: the way from the leaves to the roots. */

/* ---- leaves to roots ---- */

/* An attached object's share of its parent's equations, in their layout. The object is condensed. */
RS_FN void rs_set_share(const modal_step_task *t, const modal_step_object *o, const rs_work *w,
                        const rs_scratch *s)
{
    const int32_t r = t->shapes[t->objects[o->parent].shape].n_modes;
    const int32_t wide = (int32_t)modal_step_padded(r);
    double *map = s->sums, *image = s->sums + 48; /* [6, 8] */
    double *matrix = w->share, *right = matrix + r * wide, *inertia = right + 8 * r;
    if (RS_LANE == 0) { /* (a, al) of the child for those of the parent */
        const double *rotation = w->relative, *at = w->relative + 9;
        for (int j = 0; j < 3; j++) {
            const double unit[3] = {j == 0 ? 1.0 : 0, j == 1 ? 1.0 : 0, j == 2 ? 1.0 : 0};
            double arm[3], x[3];
            rs_cross(unit, at, arm);
            rs_apply_transposed(rotation, arm, x);
            for (int i = 0; i < 3; i++) {
                map[8 * i + j] = map[8 * (3 + i) + 3 + j] = rotation[3 * j + i];
                map[8 * i + 3 + j] = x[i];
                map[8 * (3 + i) + j] = 0;
            }
        }
        for (int i = 0; i < 6; i++) map[8 * i + 6] = map[8 * i + 7] = 0;
    }
    RS_EACH_OF(c, 6, k, wide)
    {
        double sum = 0;
        for (int d = 0; d < 6; d++) sum += w->inertia[8 * c + d] * w->follow[d * wide + k];
        s->product[c * wide + k] = sum;
    }
    RS_SYNC();
    RS_EACH_OF(d, 6, j, 8)
    {
        double sum = j < 6 ? 0 : w->inertia[8 * d + j];
        for (int e = 0; e < 6; e++) sum += w->inertia[8 * d + e] * map[8 * e + j];
        image[8 * d + j] = sum;
    }
    RS_EACH_OF(k, r, l, wide)
    {
        double sum = 0;
        for (int c = 0; c < 6; c++) sum += w->follow[c * wide + k] * s->product[c * wide + l];
        matrix[k * wide + l] = sum;
    }
    RS_SYNC();
    RS_EACH_OF(k, r, j, 8)
    {
        double sum = 0;
        for (int d = 0; d < 6; d++) sum += w->follow[d * wide + k] * image[8 * d + j];
        right[8 * k + j] = sum;
    }
    RS_EACH_OF(i, 6, j, 8)
    {
        double sum = 0;
        for (int d = 0; d < 6; d++) sum += map[8 * d + i] * image[8 * d + j];
        inertia[8 * i + j] = sum;
    }
    RS_SYNC();
    if (RS_LANE == 0) {
        double largest = 0;
        for (int32_t k = 0; k < r; k++) largest = RS_MAX(largest, fabs(right[8 * k + 7]));
        w->scale[4] = largest;
    }
}

RS_FN void rs_add_children(const modal_step_task *t, const modal_step_object *o, const rs_work *w)
{
    const int64_t size = rs_equations_size(t->shapes[o->shape].n_modes);
    const int32_t end = o->first_child + o->n_children;
#if RS_WIDE
    for (int32_t c = o->first_child; c < end; c++) {
        const double *share = rs_work_of(t, &t->objects[c]).share;
        _Pragma("GCC ivdep") for (int64_t e = 0; e < size; e++) w->matrix[e] += share[e];
    }
#else
    RS_EACH(e, size)
    {
        double sum = w->matrix[e];
#pragma unroll 4
        for (int32_t c = o->first_child; c < end; c++) {
            /* the children's shapes may differ, and with them the sizes of their works */
            const modal_step_object *child = &t->objects[c];
            const int64_t r = t->shapes[child->shape].n_modes;
            sum += t->work[child->work + rs_equations_size(r) + e];
        }
        w->matrix[e] = sum;
    }
#endif
    if (RS_LANE == 0)
        for (int32_t c = o->first_child; c < end; c++) {
            const rs_work cw = rs_work_of(t, &t->objects[c]);
            const double reach = sqrt(rs_dot(cw.relative + 9, cw.relative + 9));
            w->scale[0] = RS_MAX(w->scale[0], cw.scale[4]);
            w->scale[1] += cw.scale[1];
            w->scale[2] = RS_MAX(w->scale[2], cw.scale[2]);
            w->scale[3] += cw.scale[3] + reach * cw.scale[1];
        }
    RS_SYNC();
}

/* Cholesky factor U^T U of the upper half of a [n, wide] in place; 0 where it is not positive definite. */
RS_FN int rs_factor(double *a, int32_t n, int32_t wide)
{
    for (int32_t j = 0; j < n; j++) {
        double *pivot_row = a + j * wide;
        const double pivot = pivot_row[j];
        if (!(pivot > 0) || pivot > 1e300) return 0;
        RS_SYNC();
        const double root = sqrt(pivot), inverse = 1 / root;
        RS_EACH(i, n)
        {
            if (i > j) pivot_row[i] *= inverse;
            if (i == j) pivot_row[j] = root;
        }
        RS_SYNC();
        RS_EACH_OF(i, n, k, n)
        {
            if (i > j && k >= i) a[i * wide + k] -= pivot_row[i] * pivot_row[k];
        }
        RS_SYNC();
    }
    return 1;
}

/* Solves for the first 7 of 8 right-hand sides x [n, 8] in place. */
RS_FN void rs_solve(const double *a, int32_t n, int32_t wide, double *x)
{
#if RS_WIDE
    for (int32_t i = 0; i < n; i++) {
        const double inverse = 1 / a[i * wide + i];
        double *row = x + 8 * i;
        for (int c = 0; c < 8; c++) row[c] *= inverse;
        for (int32_t k = i + 1; k < n; k++)
            _Pragma("GCC ivdep") for (int c = 0; c < 8; c++) x[8 * k + c] -= a[i * wide + k] * row[c];
    }
    for (int32_t i = n; i-- > 0;) {
        const double inverse = 1 / a[i * wide + i];
        double row[8];
        for (int c = 0; c < 8; c++) row[c] = x[8 * i + c];
        for (int32_t k = i + 1; k < n; k++)
            for (int c = 0; c < 8; c++) row[c] -= a[i * wide + k] * x[8 * k + c];
        for (int c = 0; c < 8; c++) x[8 * i + c] = row[c] * inverse;
    }
#else
    RS_EACH(c, 7)
    {
        for (int32_t i = 0; i < n; i++) {
            double sum = x[8 * i + c];
            for (int32_t k = 0; k < i; k++) sum -= a[k * wide + i] * x[8 * k + c];
            x[8 * i + c] = sum / a[i * wide + i];
        }
        for (int32_t i = n; i-- > 0;) {
            double sum = x[8 * i + c];
            for (int32_t k = i + 1; k < n; k++) sum -= a[i * wide + k] * x[8 * k + c];
            x[8 * i + c] = sum / a[i * wide + i];
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
    const int32_t r = t->shapes[o->shape].n_modes, wide = (int32_t)modal_step_padded(r);
    /* its own fault, not a child's: what a failure names */
    int turned = 0, broken = 0;
    if (RS_LANE == 0) {
        turned = w.scale[2] == MODAL_STEP_INVERTED;
        for (int32_t k = 0; k < r; k++) broken |= !(fabs(w.right[8 * k + 6]) <= 1e300);
        for (int c = 0; c < 6; c++) broken |= !(fabs(w.inertia[8 * c + 6]) <= 1e300);
    }
    if (o->n_children > 0) rs_add_children(t, o, &w);

    if (RS_LANE == 0) {
        double worst = 0, relative = 0;
        int finite = 1, good;
        for (int32_t k = 0; k < r; k++) {
            const double size = fabs(w.right[8 * k + 7]);
            worst = RS_MAX(worst, size);
            finite &= size <= 1e300; /* no for NaN */
        }
        relative = worst > 0 ? worst / w.scale[0] : 0;
        good = worst <= t->tolerance * w.scale[0];
        if (o->motion == MODAL_STEP_FREE) {
            for (int half = 0; half < 2; half++) {
                const double *load = w.inertia + 24 * half + 7; /* every eighth */
                const double size = sqrt(load[0] * load[0] + load[8] * load[8] + load[16] * load[16]);
                const double scale = w.scale[1 + 2 * half];
                finite &= size <= 1e300;
                if (size > 0) relative = RS_MAX(relative, size / scale);
                good &= size <= t->tolerance * scale;
            }
        }
        int status = finite ? good ? 0 : MODAL_STEP_RUNNING : MODAL_STEP_BROKEN;
        t->measures[index].residual = finite ? relative : INFINITY;
        t->measures[index].status = status == 0                                  ? MODAL_STEP_CONVERGED
                                    : status == MODAL_STEP_BROKEN && !broken ? MODAL_STEP_RUNNING
                                                                             : status;
        if (w.scale[2] == MODAL_STEP_INVERTED)
            t->measures[index].status = turned ? MODAL_STEP_INVERTED : MODAL_STEP_RUNNING;
        w.scale[2] = RS_MAX(w.scale[2], (double)status);
    }
    RS_SYNC();
    RS_EACH(e, 8 * r) { w.solved[e] = w.right[e]; }
    RS_SYNC();
    if (!rs_factor(w.matrix, r, wide)) {
        RS_SYNC();
        if (RS_LANE == 0) {
            if (w.scale[2] != MODAL_STEP_BROKEN) t->measures[index].status = MODAL_STEP_BROKEN;
            w.scale[2] = MODAL_STEP_BROKEN;
        }
    } else {
        rs_solve(w.matrix, r, wide, w.solved);
    }
    if (o->motion != MODAL_STEP_FIXED) {
        RS_EACH_OF(i, 6, j, 7) /* but for the load */
        {
            double sum = 0;
            for (int32_t k = 0; k < r; k++) sum += w.right[8 * k + i] * w.solved[8 * k + j];
            w.inertia[8 * i + j] -= sum;
        }
    }
    RS_SYNC();
    if (o->parent >= 0) {
        rs_set_share(t, o, &w, &s);
        return;
    }
    if (RS_LANE == 0) {
        if (o->motion == MODAL_STEP_FREE) {
            double a[36], x[48];
            for (int i = 0; i < 36; i++) a[i] = w.inertia[8 * (i / 6) + i % 6];
            for (int i = 0; i < 6; i++) x[i] = -w.inertia[8 * i + 6];
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
