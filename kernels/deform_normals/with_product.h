/* SPDX-License-Identifier: Apache-2.0 */
/* What the fused operation on the CPU uses of normals_dynamic_cpu.c. */
#ifndef MODAL_KERNELS_WITH_PRODUCT_H
#define MODAL_KERNELS_WITH_PRODUCT_H

#include "kernels/deform/deform.h"
#include "kernels/normals_dynamic/normals_dynamic.h"

/* Columns that are computed together: the floats of a vector register. */
int64_t modal_normals_columns_of_group(void);

/* Whether neighbours lie near each other in the order of the vertices, by samples of it. */
int modal_normals_order_is_local(const modal_normals_dynamic_task *task);

/* Both tasks; q and frames turned, group after group: [n_modes][columns of a group], [12][columns of
 * a group], at 64 bytes; what is missing of the last group may be any number. MODAL_ERROR_MEMORY. */
modal_status modal_normals_with_product(const modal_deform_task *deform, const modal_normals_dynamic_task *normals,
                                        const float *q, const float *poses, modal_error *err);

#endif
