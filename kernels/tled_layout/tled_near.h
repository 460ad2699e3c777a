/* SPDX-License-Identifier: Apache-2.0 */
/* For patches that wait for one another instead of for all: which of them have a node in common. */
#ifndef MODAL_KERNELS_TLED_NEAR_H
#define MODAL_KERNELS_TLED_NEAR_H

#include "kernels/tled_layout/tled_patches.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct modal_tled_near {
    int32_t most;   /* patches near one, itself too, at most */
    int32_t *lists; /* [n_patches, most] the patches that have a node of each one, itself too, in order; then -1 */
} modal_tled_near;

/* Errors: MODAL_ERROR_MEMORY. After an error all is empty; the free function accepts that. */
modal_status modal_tled_near_make(modal_tled_near *near, const modal_tled_patches *patches, modal_error *err);
void modal_tled_near_free(modal_tled_near *near);

#ifdef __cplusplus
}
#endif
#endif
