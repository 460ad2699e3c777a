/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/tled_layout/tled_remotes.h"

#include "lib/base/memory.h"

static int32_t n_sums(const modal_tled_place *place) { return (int32_t)(place->counts & 0xffff); }

static void fill(modal_tled_remotes *r, const modal_tled_patches *p, const int32_t *place_of, const int32_t *patch_of)
{
    for (int32_t i = 0; i < p->n_patches; i++)
        for (int64_t k = p->patches[i].first_place; k < p->patches[i].first_place + p->patches[i].n_places; k++) {
            const modal_tled_place *place = &p->places[k];
            const int32_t rank = place->own_sum - place->first_sum;
            int32_t entry = r->first[i] + r->of[k];
            for (int32_t other = 0; other < n_sums(place); other++) {
                if (other == rank) continue;
                const int32_t sum = place->first_sum + other;
                /* there this patch's sum stands among those of all but `other` */
                const int32_t there = r->of[place_of[sum]] + rank - (rank > other);
                r->sums[entry] = sum;
                r->targets[entry++] = (uint32_t)patch_of[sum] << 16 | (uint32_t)there;
            }
        }
}

modal_status modal_tled_remotes_make(modal_tled_remotes *remotes, const modal_tled_patches *p, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_tled_remotes r = {0};
    int32_t *place_of = NULL, *patch_of = NULL;
    *remotes = r;
    if (p->n_patches > 65535) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%d patches are too many for one launch", p->n_patches);
    MODAL_TRY(modal_alloc(&r.first, p->n_patches + 1, sizeof *r.first, "borders of patches", err));
    MODAL_TRY(modal_alloc(&r.of, p->n_places, sizeof *r.of, "borders of patches", err));
    MODAL_TRY(modal_alloc(&place_of, p->n_places, sizeof *place_of, "borders of patches", err));
    MODAL_TRY(modal_alloc(&patch_of, p->n_places, sizeof *patch_of, "borders of patches", err));
    for (int32_t i = 0; i < p->n_patches; i++) {
        r.first[i] = r.n;
        for (int32_t k = 0; k < p->patches[i].n_places; k++) {
            const int64_t at = p->patches[i].first_place + k;
            const modal_tled_place *place = &p->places[at];
            r.of[at] = r.n - r.first[i];
            r.n += n_sums(place) - 1;
            place_of[place->own_sum] = (int32_t)at;
            patch_of[place->own_sum] = i;
            if (n_sums(place) > r.most_sums) r.most_sums = n_sums(place);
        }
        const int32_t mine = r.n - r.first[i];
        if (mine > 65535) MODAL_FAIL(err, MODAL_ERROR_INPUT, "patch %d has too many neighbours for one launch", i);
        if (mine > r.most) r.most = mine;
    }
    r.first[p->n_patches] = r.n;
    MODAL_TRY(modal_alloc(&r.sums, r.n, sizeof *r.sums, "borders of patches", err));
    MODAL_TRY(modal_alloc(&r.targets, r.n, sizeof *r.targets, "borders of patches", err));
    fill(&r, p, place_of, patch_of);
    *remotes = r;
    r = (modal_tled_remotes){0};
done:
    modal_free(&place_of), modal_free(&patch_of);
    modal_tled_remotes_free(&r);
    return status;
}

void modal_tled_remotes_free(modal_tled_remotes *r)
{
    modal_free(&r->first), modal_free(&r->sums), modal_free(&r->targets), modal_free(&r->of);
    *r = (modal_tled_remotes){0};
}
