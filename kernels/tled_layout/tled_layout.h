/* SPDX-License-Identifier: Apache-2.0 */
/* What a back end reads of a solid in tled_step, made once: its own order and packing of elements and nodes, in its own
 * memory, with scratch for the steps. State stays in the solid's order of nodes. Error: none of its own. */
#ifndef MODAL_KERNELS_TLED_LAYOUT_H
#define MODAL_KERNELS_TLED_LAYOUT_H

#include <stddef.h>

#include "kernels/operations.h"
#include "kernels/tled_step/tled_solid.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum modal_tled_precision { MODAL_TLED_FLOAT32 = 0, MODAL_TLED_FLOAT64 = 1 } modal_tled_precision;

/* The head of every back end's own struct. */
typedef struct modal_tled_layout {
    const modal_tled_solid *solid; /* borrowed */
    modal_tled_precision precision;
    int packs_low; /* 1: tled_step keeps what is lost in the fourth words of u and d, float32 (tled_low.h); it does not touch low */
    int64_t bytes;                             /* of memory that it holds */
    int64_t viscous_bytes;                     /* of what tled_step keeps of Prony terms; 0: there are none */
    void (*free)(struct modal_tled_layout *); /* frees all of it, the struct included */
} modal_tled_layout;

struct modal_tled_layout_task {
    const modal_tled_solid *solid;
    modal_tled_precision precision;
    const struct modal_device *device;
    modal_tled_layout **layout; /* the result; NULL after an error; to be freed by modal_tled_layout_free */
    /* CUDA devices that share the steps, `device` the first of them, where n_devices > 1: the same bytes as of one. A solid that one
     * launch steps stays on the first. */
    const struct modal_device *devices; /* [n_devices] */
    int n_devices;
    int border_first; /* 1: a device computes the patches on its border before its others however few these are, for tests; 0: where they are many */
};

/* NULL inside is fine; sets it to NULL. */
static inline void modal_tled_layout_free(modal_tled_layout **layout)
{
    if (*layout) (*layout)->free(*layout);
    *layout = NULL;
}

#ifdef __cplusplus
}
#endif
#endif
