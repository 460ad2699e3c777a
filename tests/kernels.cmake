# SPDX-License-Identifier: Apache-2.0
# One program an operation (tests/kernels/harness.h), run once a back end. The CUDA runs are tests of
# their own, label cuda; where there is no device they are skipped, and say so.
add_library(modal_test_harness STATIC kernels/harness.c kernels/scene.c)
target_link_libraries(modal_test_harness PUBLIC modal_kernels m)

function(modal_kernel_test name)
  add_executable(kernel_${name} ${CMAKE_SOURCE_DIR}/tests/kernels/${name}.c)
  set_target_properties(kernel_${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(kernel_${name} PRIVATE modal_test_harness ${ARGN})
  # so that a program runs where only the C library is installed, too
  target_link_options(kernel_${name} PRIVATE -Wl,--as-needed)
  foreach(back_end ref cpu cuda)
    add_test(NAME kernels.${name}.${back_end} COMMAND kernel_${name} --backend ${back_end})
    set_tests_properties(kernels.${name}.${back_end} PROPERTIES LABELS kernels SKIP_RETURN_CODE 77)
  endforeach()
  set_tests_properties(kernels.${name}.cuda PROPERTIES LABELS "kernels;cuda")
endfunction()

foreach(operation modal_sum world_transform deform normals_dynamic normals_rigid reorder)
  modal_kernel_test(${operation})
endforeach()
