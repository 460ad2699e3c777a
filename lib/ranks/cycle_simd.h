/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of cycle.c, included once an instruction set with TARGET and NAME. */

/* One row of blocks, br x bc numbers each: its sums, y -= or y =. */
TARGET static inline __attribute__((always_inline)) void NAME(multiply_row)(const rows *m, int64_t i, int br, int bc, const lanes *x, int subtracts,
                                                                            lanes *y)
{
    lanes sums[MOST_SIDE] = {{0}};
    for (int64_t k = m->offsets[i]; k < m->offsets[i + 1]; k++) {
        const float *values = m->values + k * br * bc;
        const lanes *from = x + (int64_t)m->columns[k] * bc;
        for (int c = 0; c < bc; c++) {
            const lanes v = from[c];
            for (int r = 0; r < br; r++) sums[r] += values[c * br + r] * v;
        }
    }
    for (int r = 0; r < br; r++) {
        if (subtracts) y[i * br + r] -= sums[r];
        else y[i * br + r] = sums[r];
    }
}

TARGET static void NAME(multiply)(const rows *m, const lanes *x, int subtracts, lanes *y)
{
    const int64_t n = m->n / m->br;
    if (m->br == 3 && m->bc == 3)
        for (int64_t i = 0; i < n; i++) NAME(multiply_row)(m, i, 3, 3, x, subtracts, y);
    else if (m->br == 3 && m->bc == 6)
        for (int64_t i = 0; i < n; i++) NAME(multiply_row)(m, i, 3, 6, x, subtracts, y);
    else if (m->br == 6 && m->bc == 3)
        for (int64_t i = 0; i < n; i++) NAME(multiply_row)(m, i, 6, 3, x, subtracts, y);
    else if (m->br == 6 && m->bc == 6)
        for (int64_t i = 0; i < n; i++) NAME(multiply_row)(m, i, 6, 6, x, subtracts, y);
    else
        for (int64_t i = 0; i < n; i++) NAME(multiply_row)(m, i, m->br, m->bc, x, subtracts, y);
}

/* d = keep d + take inverse r, and x = d or x += d. */
TARGET static void NAME(step)(int64_t n, const float *inverse, const lanes *r, float keep, float take, int first, lanes *d, lanes *x)
{
    for (int64_t i = 0; i < n; i++) {
        const lanes next = take * inverse[i] * r[i];
        if (keep == 0) d[i] = next;
        else d[i] = keep * d[i] + next;
        if (first) x[i] = d[i];
        else x[i] += d[i];
    }
}

static const kernels NAME(kernels) = {NAME(multiply), NAME(step)};
#undef TARGET
#undef NAME
