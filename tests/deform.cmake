# SPDX-License-Identifier: Apache-2.0
modal_unit_test(test_devices modal_kernels)
modal_unit_test(test_frames modal_frames)
modal_unit_test(test_deform modal_deform modal_kernels modal_test_synthetic Threads::Threads)
modal_unit_test(test_sound modal_sound)
modal_unit_test(test_deform_large modal_deform modal_kernels modal_test_synthetic Threads::Threads)
if(NOT MODAL_SANITIZE) # whose frames are larger
  modal_unit_test(test_small_stacks modal_test_files modal_scenes modal_materials modal_deform Threads::Threads)
  if(MODAL_HAVE_MODES)
    target_link_libraries(test_small_stacks PRIVATE modal_modes)
    target_compile_definitions(test_small_stacks PRIVATE MODAL_HAVE_MODES)
  endif()
endif()

# Not a test: results a second in main memory against a plain copy. Its quick mode is one.
add_executable(bench_engine ${CMAKE_SOURCE_DIR}/tests/bench/bench_engine.c)
set_target_properties(bench_engine PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_link_libraries(bench_engine PRIVATE modal_deform modal_kernels Threads::Threads)
target_link_options(bench_engine PRIVATE -Wl,--as-needed)
add_test(NAME kernels.bench_engine COMMAND bench_engine --backend cpu --quick)
set_tests_properties(kernels.bench_engine PROPERTIES LABELS kernels)
