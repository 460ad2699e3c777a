# SPDX-License-Identifier: Apache-2.0
modal_unit_test(test_devices modal_kernels)
modal_unit_test(test_frames modal_frames)
modal_unit_test(test_deform modal_deform modal_kernels modal_test_synthetic Threads::Threads)
modal_unit_test(test_sound modal_sound)
modal_unit_test(test_curvature modal_curvature)
modal_unit_test(test_deform_large modal_deform modal_kernels modal_test_synthetic OpenMP::OpenMP_C Threads::Threads)
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

# Not a test: our encoder of --precision beside HDF5's filter, docs/results/formats.md. Its smallest size is one.
add_executable(bench_encode ${CMAKE_SOURCE_DIR}/tests/bench/bench_encode.c)
set_target_properties(bench_encode PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_link_libraries(bench_encode PRIVATE modal_formats modal_hdf5 m)
add_test(NAME formats.bench_encode COMMAND bench_encode 1000 5 1e-4 1)
set_tests_properties(formats.bench_encode PROPERTIES LABELS formats)
