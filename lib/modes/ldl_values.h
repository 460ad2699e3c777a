/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of ldl.c that touch the values of the factor, included once a kind of VALUE: double or float, with
 * STEP to name them. */

/* The columns of K - sigma M, lower triangle. */
static void STEP(assemble)(const ldl *l, int64_t k, const int32_t *map)
{
    const modal_ldl_input *in = l->input;
    const modal_row_mass *graph = in->rows;
    const int64_t stride = rows_of(l->s, k), first = l->s->first[k];
    VALUE *x = (VALUE *)l->values + l->s->values_at[k];
    memset(x, 0, (size_t)(stride * columns_of(l->s, k)) * sizeof *x);
    for (int64_t column = first / 3; column < l->s->first[k + 1] / 3; column++) {
        const int64_t node = in->order[column];
        VALUE *to = x + (3 * column - first) * stride;
        for (int64_t e = graph->offsets[node]; e < graph->offsets[node + 1]; e++) {
            const int64_t other = graph->columns[e], row = in->place[other];
            if (row < column) continue;
            const double *block = in->system->stiffness + 9 * graph->blocks[e];
            double mass[3], scale[3] = {1, 1, 1};
            for (int p = 0; p < 3; p++) mass[p] = in->shift * modal_row_mass_factor(graph, node, e, p);
            for (int p = 0; p < 3 && in->scale; p++) scale[p] = in->scale[3 * other + p];
            const int32_t at = map[3 * row];
            /* blocks are stored with the row of the larger node */
            const int by_row = other >= node ? 3 : 1, by_column = 4 - by_row;
            for (int q = 0; q < 3; q++) {
                const double scale_q = in->scale ? in->scale[3 * node + q] : 1;
                for (int p = row == column ? q : 0; p < 3; p++)
                    to[q * stride + at + p] =
                        (VALUE)((block[by_row * p + by_column * q] - (p == q ? mass[p] : 0)) * (scale[p] * scale_q) *
                                (row == column && p == q ? 1 + in->lift : 1));
            }
        }
    }
}

/* What is lost is L_d[from .. to) D_d L_d[a .. b)^T. */
static void STEP(update)(const ldl *l, const ldl_update *u, const int32_t *map, void *room)
{
    const int64_t k = u->k, d = u->d, a = u->a, b = u->b, from = u->from, to = u->to;
    const modal_supernodes *s = l->s;
    const int64_t stride = rows_of(s, k), width = columns_of(s, d), d_stride = rows_of(s, d);
    const int64_t *rows = s->rows + s->rows_at[d];
    const VALUE *ld = (const VALUE *)l->values + s->values_at[d];
    const double *pivots = l->pivots + s->first[d];
    VALUE *x = (VALUE *)l->values + s->values_at[k] - s->first[k] * stride, *product = room;
    const modal_value_kernels *kernels = modal_rows()->values[l->input->precision];
    for (int64_t j0 = a; j0 < b; j0 += COLUMN_TILE) {
        const int64_t nj = b - j0 < COLUMN_TILE ? b - j0 : COLUMN_TILE;
        if (to <= j0) break;
        for (int64_t i0 = from > j0 ? from : j0; i0 < to; i0 += ROW_TILE) {
            const int64_t ni = to - i0 < ROW_TILE ? to - i0 : ROW_TILE;
            if (ni * nj * width >= SMALL_PRODUCT) {
                kernels->product(ni, nj, width, ld + i0, d_stride, ld + j0, d_stride, pivots, product,
                                 product + ROW_TILE * COLUMN_TILE);
            } else {
                for (int64_t j = 0; j < nj; j++) {
                    VALUE *sum = product + j * ROW_TILE;
                    memset(sum, 0, (size_t)ni * sizeof *sum);
                    for (int64_t c = 0; c < width; c++) {
                        const VALUE factor = (VALUE)pivots[c] * ld[c * d_stride + j0 + j];
                        const VALUE *column = ld + c * d_stride + i0;
                        for (int64_t i = 0; i < ni; i++) sum[i] += factor * column[i];
                    }
                }
            }
            for (int64_t j = 0; j < nj; j++) {
                VALUE *column = x + rows[j0 + j] * stride;
                for (int64_t i = j0 + j > i0 ? j0 + j - i0 : 0; i < ni; i++)
                    column[map[rows[i0 + i]]] -= product[j * ROW_TILE + i];
            }
        }
    }
}

/* Rows [from, to) below the diagonal block: L = X L11^-T D^-1; block receives L D of the rows that
 * are columns of the supernode, too. */
static void STEP(factor_below)(VALUE *x, const ldl_part *part, const double *pivots, VALUE *block, VALUE *work)
{
    const int64_t stride = part->stride, n_columns = part->n_columns, j0 = part->j0, nb = part->nb;
    const int64_t from = part->from, to = part->to;
    const modal_value_kernels *kernels = modal_rows()->values[sizeof(VALUE) == sizeof(float)];
    kernels->solve_right(to - from, nb, x + j0 * stride + j0, stride, x + j0 * stride + from, work);
    for (int64_t j = 0; j < nb; j++) {
        VALUE *xj = x + (j0 + j) * stride;
        const VALUE inverse = (VALUE)(1 / pivots[j0 + j]);
        for (int64_t i = from; i < to && i < n_columns; i++) block[j * n_columns + i] = xj[i];
        for (int64_t i = from; i < to; i++) xj[i] *= inverse;
    }
}

static void STEP(update_trailing)(VALUE *x, const ldl_part *part, const VALUE *block, VALUE *work)
{
    const int64_t stride = part->stride, n_columns = part->n_columns, j0 = part->j0, nb = part->nb;
    const int64_t from = part->from, to = part->to;
    const modal_value_kernels *kernels = modal_rows()->values[sizeof(VALUE) == sizeof(float)];
    for (int64_t c = j0 + nb; c < n_columns && c < to; c += COLUMN_TILE) {
        const int64_t nc = n_columns - c < COLUMN_TILE ? n_columns - c : COLUMN_TILE;
        const int64_t start = from > c ? from : c;
        kernels->product(to - start, nc, nb, x + j0 * stride + start, stride, block + c, n_columns,
                         NULL, work, work + ROW_TILE * COLUMN_TILE);
        for (int64_t j = 0; j < nc; j++) {
            VALUE *column = x + (c + j) * stride;
            for (int64_t i = start > c + j ? start : c + j; i < to; i++)
                column[i] -= work[j * ROW_TILE + i - start];
        }
    }
}

/* A supernode after all updates; rows in tiles, which are independent between the steps. */
static void STEP(factor_supernode)(const ldl *l, int64_t k, int n_threads, void *block, void *work)
{
    const int64_t n_columns = columns_of(l->s, k), stride = rows_of(l->s, k);
    VALUE *x = (VALUE *)l->values + l->s->values_at[k];
    double *pivots = l->pivots + l->s->first[k];
    const modal_value_kernels *kernels = modal_rows()->values[l->input->precision];
    if (n_columns <= NARROW && stride <= ROW_TILE) {
        note_raised(l, kernels->factor(n_columns, stride, x, stride, l->input->least, pivots));
        return;
    }
    for (int64_t j0 = 0; j0 < n_columns; j0 += PIVOT_BLOCK) {
        const int64_t nb = n_columns - j0 < PIVOT_BLOCK ? n_columns - j0 : PIVOT_BLOCK;
        const int64_t below = j0 + nb, n_tiles = (stride - below + ROW_TILE - 1) / ROW_TILE;
        note_raised(l, kernels->factor(nb, nb, x + j0 * stride + j0, stride, l->input->least, pivots + j0));
        if (n_threads == 1 || n_tiles <= 1) {
            for (int64_t from = below; from < stride; from += ROW_TILE)
                STEP(factor_below)(x, &(ldl_part){stride, n_columns, j0, nb, from, tile_end(from, stride)}, pivots, block, work);
            for (int64_t from = below; from < stride; from += ROW_TILE)
                STEP(update_trailing)(x, &(ldl_part){stride, n_columns, j0, nb, from, tile_end(from, stride)}, block, work);
            continue;
        }
#pragma omp parallel num_threads(modal_free_threads(n_threads))
        {
            void *own = thread_work(l);
#pragma omp for schedule(static)
            for (int64_t from = below; from < stride; from += ROW_TILE)
                STEP(factor_below)(x, &(ldl_part){stride, n_columns, j0, nb, from, tile_end(from, stride)}, pivots, block, own);
#pragma omp for schedule(dynamic, 1)
            for (int64_t from = below; from < stride; from += ROW_TILE)
                STEP(update_trailing)(x, &(ldl_part){stride, n_columns, j0, nb, from, tile_end(from, stride)}, block, own);
        }
    }
}

static const ldl_steps STEP(steps) = {STEP(assemble), STEP(update), STEP(factor_supernode)};

#undef VALUE
#undef STEP
