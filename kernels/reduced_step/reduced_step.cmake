# SPDX-License-Identifier: Apache-2.0
target_sources(modal_kernels PRIVATE
  reduced_step/reduced_step_avx2.c reduced_step/reduced_step_avx512.c
  reduced_step/reduced_step_leaves_avx2.c reduced_step/reduced_step_leaves_avx512.c)
foreach(set cpu avx2 avx512)
  set_source_files_properties(reduced_step/reduced_step_${set}.c PROPERTIES COMPILE_OPTIONS
                              "-O3;-ffp-contract=fast;-fno-math-errno;-fno-trapping-math")
endforeach()
# GCC takes minutes for UBSan's checks of every lane; the same lines are checked in the files above
foreach(set avx2 avx512)
  set_source_files_properties(reduced_step/reduced_step_leaves_${set}.c PROPERTIES COMPILE_OPTIONS
                              "-O3;-ffp-contract=fast;-fno-math-errno;-fno-trapping-math;-fno-sanitize=undefined")
endforeach()
if(MODAL_HAVE_CUDA) # compiled side by side
  target_sources(modal_kernels PRIVATE reduced_step/reduced_step_warps.cu reduced_step/reduced_step_blocks.cu
    reduced_step/reduced_step_grids.cu reduced_step/reduced_step_single.cu)
endif()
