/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/modes/supernodes.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"

modal_status modal_supernodes_link(modal_supernodes *s, modal_error *err)
{
    int64_t *owner = NULL;
    modal_status status = modal_alloc(&owner, s->n, sizeof *owner, "supernodes", err);
    if (status == MODAL_OK)
        status = modal_alloc(&s->parent, s->n_supernodes, sizeof *s->parent, "supernodes", err);
    for (int64_t k = 0; status == MODAL_OK && k < s->n_supernodes; k++)
        for (int64_t j = s->first[k]; j < s->first[k + 1]; j++) owner[j] = k;
    for (int64_t k = 0; status == MODAL_OK && k < s->n_supernodes; k++) {
        const int64_t below = s->rows_at[k] + s->first[k + 1] - s->first[k];
        s->parent[k] = below < s->rows_at[k + 1] ? owner[s->rows[below]] : -1;
    }
    modal_free(&owner);
    return status;
}

void modal_supernodes_free(modal_supernodes *s)
{
    modal_free(&s->first);
    modal_free(&s->rows_at);
    modal_free(&s->values_at);
    modal_free(&s->rows);
    modal_free(&s->parent);
    memset(s, 0, sizeof *s);
}

void modal_cut_subtrees(int64_t n, const int64_t *parent, double *weight, int64_t *begin, double limit, modal_cut *cut)
{
    modal_subtree *subtrees = cut->subtrees;
    int64_t *top = cut->top;
    cut->n_subtrees = cut->n_top = 0;
    for (int64_t k = 0; k < n; k++) begin[k] = k;
    for (int64_t k = 0; k < n; k++) {
        if (parent[k] < 0) continue;
        weight[parent[k]] += weight[k];
        if (begin[k] < begin[parent[k]]) begin[parent[k]] = begin[k];
    }
    /* backwards every tree is met at its root first */
    for (int64_t k = n - 1; k >= 0;) {
        if (weight[k] > limit) {
            top[cut->n_top++] = k--;
        } else {
            subtrees[cut->n_subtrees++] = (modal_subtree){begin[k], k};
            k = begin[k] - 1;
        }
    }
    for (int64_t a = 0, b = cut->n_top - 1; a < b; a++, b--) {
        const int64_t swap = top[a];
        top[a] = top[b], top[b] = swap;
    }
    for (int64_t a = 0, b = cut->n_subtrees - 1; a < b; a++, b--) {
        const modal_subtree swap = subtrees[a];
        subtrees[a] = subtrees[b], subtrees[b] = swap;
    }
}

double modal_ldl_growth(const modal_supernodes *s, const double *values, const double *pivots,
                        double *sums)
{
    double most = 0, diagonal = 0;
    memset(sums, 0, (size_t)s->n * sizeof *sums);
    for (int64_t k = 0; k < s->n_supernodes; k++) {
        const int64_t n_columns = s->first[k + 1] - s->first[k];
        const int64_t n_rows = s->rows_at[k + 1] - s->rows_at[k], *rows = s->rows + s->rows_at[k];
        for (int64_t j = 0; j < n_columns; j++) {
            const double *l = values + s->values_at[k] + j * n_rows;
            const double size = fabs(pivots[s->first[k] + j]);
            sums[rows[j]] += size;
            for (int64_t i = j + 1; i < n_rows; i++) sums[rows[i]] += l[i] * l[i] * size;
        }
    }
    for (int64_t k = 0; k < s->n; k++)
        if (!(sums[k] <= most)) most = sums[k];
    /* the diagonal of the matrix itself is the same sum with the signs of the pivots */
    memset(sums, 0, (size_t)s->n * sizeof *sums);
    for (int64_t k = 0; k < s->n_supernodes; k++) {
        const int64_t n_columns = s->first[k + 1] - s->first[k];
        const int64_t n_rows = s->rows_at[k + 1] - s->rows_at[k], *rows = s->rows + s->rows_at[k];
        for (int64_t j = 0; j < n_columns; j++) {
            const double *l = values + s->values_at[k] + j * n_rows;
            const double d = pivots[s->first[k] + j];
            sums[rows[j]] += d;
            for (int64_t i = j + 1; i < n_rows; i++) sums[rows[i]] += l[i] * l[i] * d;
        }
    }
    for (int64_t k = 0; k < s->n; k++) diagonal = fmax(diagonal, fabs(sums[k]));
    return most / diagonal;
}
