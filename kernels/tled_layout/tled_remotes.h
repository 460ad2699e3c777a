/* SPDX-License-Identifier: Apache-2.0 */
/* For patches that are stepped in one launch: which partial sums of other patches each one needs. */
#ifndef MODAL_KERNELS_TLED_REMOTES_H
#define MODAL_KERNELS_TLED_REMOTES_H

#include "kernels/tled_layout/tled_patches.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The list of patch p is [first[p], first[p + 1]) of sums and targets. A place of n partial sums has n - 1 entries in it, those
 * of the other patches in their order, from of[place] on, counted from first[p]. */
typedef struct modal_tled_remotes {
    int32_t n, most;    /* entries of all patches, and of one at most */
    int32_t most_sums;  /* partial sums of one node at most */
    int32_t *first;     /* [n_patches + 1] */
    int32_t *sums;      /* [n] numbers of partial sums */
    uint32_t *targets;  /* [n] where this place's sum goes: patch << 16 | entry of that patch's list */
    int32_t *of;        /* [n_places] */
} modal_tled_remotes;

/* Errors: MODAL_ERROR_MEMORY; MODAL_ERROR_INPUT for 65,536 patches or entries of one and more. After an error all is empty;
 * the free function accepts that. */
modal_status modal_tled_remotes_make(modal_tled_remotes *remotes, const modal_tled_patches *patches, modal_error *err);
void modal_tled_remotes_free(modal_tled_remotes *remotes);

#ifdef __cplusplus
}
#endif
#endif
