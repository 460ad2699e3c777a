/* SPDX-License-Identifier: Apache-2.0 */
/* The loop that modal_sum and deform share on the CPU. */
#ifndef MODAL_KERNELS_TILE_PRODUCT_H
#define MODAL_KERNELS_TILE_PRODUCT_H

#include <stdint.h>

/* The arrays of modal_deform_task; frames == NULL: positions gets u itself. */
typedef struct modal_tile_product {
    int64_t n_vertices, n_columns;
    int32_t n_modes;
    const float *modal_matrix, *rest_tiles, *q, *poses;
    float *positions, *displacement;
    int stream; /* set by modal_tile_product_cpu: write past the caches */
} modal_tile_product;

void modal_tile_product_cpu(const modal_tile_product *product);

#endif
