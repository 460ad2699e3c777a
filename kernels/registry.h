/* SPDX-License-Identifier: Apache-2.0 */
/* Which operation runs on which back end, and how a back end is found by name. */
#ifndef MODAL_KERNELS_REGISTRY_H
#define MODAL_KERNELS_REGISTRY_H

#include "kernels/deform/deform.h"
#include "kernels/deform_normals/deform_normals.h"
#include "kernels/deform_objects/deform_objects.h"
#include "kernels/device.h"
#include "kernels/gram/gram.h"
#include "kernels/linear_step/linear_step.h"
#include "kernels/modal_sum/modal_sum.h"
#include "kernels/normals_dynamic/normals_dynamic.h"
#include "kernels/normals_rigid/normals_rigid.h"
#include "kernels/normals_two_stage/normals_two_stage.h"
#include "kernels/reduced_step/reduced_step.h"
#include "kernels/reorder/reorder.h"
#include "kernels/tangents_dynamic/tangents_dynamic.h"
#include "kernels/tangents_rigid/tangents_rigid.h"
#include "kernels/world_transform/world_transform.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One back end's operations; NULL = unsupported. */
typedef struct modal_kernels {
    const char *back_end;
    int normals_ring; /* nonzero: normals_dynamic is faster with a ring than with corners */
    int packs_objects; /* nonzero: deform_objects is faster than deform for many small shapes */
    modal_sum_function *modal_sum;
    modal_world_transform_function *world_transform;
    modal_deform_function *deform;
    modal_deform_objects_function *deform_objects;
    modal_deform_normals_function *deform_normals;
    modal_normals_dynamic_function *normals_dynamic;
    modal_normals_rigid_function *normals_rigid;
    modal_normals_two_stage_function *normals_two_stage;
    modal_tangents_rigid_function *tangents_rigid;
    modal_tangents_dynamic_function *tangents_dynamic;
    modal_reorder_function *reorder;
    modal_linear_step_function *linear_step;
    modal_reduced_step_function *reduced_step;
    modal_gram_function *gram; /* NULL on cpu: kernels/gram/gram.h says why */
} modal_kernels;

/* Finds a back end: "ref", "cpu", "cuda" (device 0), "cuda:N", or "auto": cuda where there is a
 * device, else cpu; device->name tells which. Also selects it for the calling thread. "cpu" takes
 * the calling thread's OpenMP thread number (omp_set_num_threads).
 * Errors: MODAL_ERROR_USAGE for a name that is none of these, MODAL_ERROR_SYSTEM for a back end that
 * is not built in or has no such device, with what is available. */
modal_status modal_device_open(modal_device *device, const char *name, modal_error *err);

/* All back ends of this build and machine, for listings: "ref", "cpu", "cuda:0", ... */
int modal_device_count(void);
modal_status modal_device_describe(int index, modal_device *device, modal_error *err);

/* Why there is no CUDA device, or "" where there is one. A device that this build has no code for is not counted;
 * "cuda:N" numbers those that are. */
void modal_device_cuda_reason(char *reason, size_t reason_bytes);
/* Where there is one, why another one is not counted, or "". */
void modal_device_cuda_left_out(char *reason, size_t reason_bytes);

#ifdef __cplusplus
}
#endif
#endif
