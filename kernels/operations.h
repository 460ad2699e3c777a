/* SPDX-License-Identifier: Apache-2.0 */
/* The list of operations. The registry (kernels/registry.h), the sources that CMake compiles and the tests follow
 * from it: a new operation is a folder, its test tests/kernels/FOLDER.c and a line here.
 *
 * FOLDER/FOLDER.h has the contract and the task. An operation named NAME is the functions
 *
 *   modal_status NAME_ref(const NAME_task *task, modal_stream *stream, modal_error *err)
 *
 * and NAME_cpu and NAME_cuda, where it has them. Arrays of the task are in the back end's memory unless the contract
 * says otherwise; work is queued in `stream`. Errors: MODAL_ERROR_SYSTEM when the device refuses the work, and those
 * of the contract. Thread-safe. */
#ifndef MODAL_KERNELS_OPERATIONS_H
#define MODAL_KERNELS_OPERATIONS_H

#include "lib/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* FOLDER/FOLDER_ref.c is always there; cpu, cuda: 1 where FOLDER_cpu.c, FOLDER_cuda.cu are, else 0. Other sources and
 * the options that they are compiled with: FOLDER/FOLDER.cmake. CMake reads these lines: one operation a line. */
/* clang-format off */
#define MODAL_OPERATIONS(OPERATION) \
    /*        folder                name                        cpu cuda */ \
    OPERATION(modal_sum,            modal_sum,                  1, 1) \
    OPERATION(world_transform,      modal_world_transform,      1, 1) \
    OPERATION(deform,               modal_deform,               1, 1) \
    OPERATION(deform_objects,       modal_deform_objects,       1, 1) \
    OPERATION(deform_normals,       modal_deform_normals,       1, 0) \
    OPERATION(normals_dynamic,      modal_normals_dynamic,      1, 1) \
    OPERATION(normals_placed,       modal_normals_placed,       0, 1) \
    OPERATION(normals_wedge,        modal_normals_wedge,        1, 1) \
    OPERATION(normals_rigid,        modal_normals_rigid,        1, 1) \
    OPERATION(normals_two_stage,    modal_normals_two_stage,    1, 1) \
    OPERATION(tangents_rigid,       modal_tangents_rigid,       1, 1) \
    OPERATION(tangents_dynamic,     modal_tangents_dynamic,     1, 1) \
    OPERATION(reorder,              modal_reorder,              1, 1) \
    OPERATION(speed,                modal_speed,                1, 1) \
    OPERATION(encode,               modal_encode,               1, 1) \
    OPERATION(linear_step,          modal_linear_step,          1, 1) \
    OPERATION(reduced_step,         modal_reduced_step,         1, 1) \
    OPERATION(normals_corner,       modal_normals_corner,       1, 1) \
    OPERATION(curvature_tensor,     modal_curvature_tensor,     1, 1) \
    OPERATION(curvature_ring,       modal_curvature_ring,       1, 1) \
    OPERATION(curvature_derivative, modal_curvature_derivative, 1, 1) \
    OPERATION(curvature_fit,        modal_curvature_fit,        1, 1) \
    OPERATION(tensor_smooth,        modal_tensor_smooth,        1, 1) \
    OPERATION(pair_sum,             modal_pair_sum,             1, 1) \
    OPERATION(gram,                 modal_gram,                 0, 1) \
    OPERATION(raster,               modal_raster,               1, 1) \
    OPERATION(shadow_view,          modal_shadow_view,          1, 1) \
    OPERATION(shadow_blur,          modal_shadow_blur,          1, 1) \
    OPERATION(layers,               modal_layers,               1, 1) \
    OPERATION(shade,                modal_shade,                1, 1) \
    OPERATION(tled_layout,          modal_tled_layout,          1, 1) \
    OPERATION(tled_step,            modal_tled_step,            1, 1) \
    OPERATION(octree_lookup,        modal_octree_lookup,        1, 1) \
    OPERATION(surface_flow,         modal_surface_flow,         1, 1) \
    OPERATION(octree_mipmap,        modal_octree_mipmap,        1, 1) \
    OPERATION(octree_bake,          modal_octree_bake,          1, 1) \
    OPERATION(push_pull,            modal_push_pull,            1, 1)
/* clang-format on */

typedef struct modal_stream modal_stream; /* kernels/device.h has both */
typedef struct modal_device modal_device;

#define MODAL_DECLARE_OPERATION(folder, name, cpu, cuda)                                                    \
    typedef struct name##_task name##_task;                                                                 \
    typedef modal_status name##_function(const name##_task *task, modal_stream *stream, modal_error *err); \
    name##_function name##_ref, name##_cpu, name##_cuda;
MODAL_OPERATIONS(MODAL_DECLARE_OPERATION)
#undef MODAL_DECLARE_OPERATION

#ifdef __cplusplus
}
#endif
#endif
