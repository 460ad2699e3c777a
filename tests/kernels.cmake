# SPDX-License-Identifier: Apache-2.0
# One program an operation (tests/kernels/harness.h), run once a back end. The CUDA runs are tests of
# their own, label cuda; where there is no device they are skipped, and say so. Ten programs have cases that
# take long on a CPU: by default they run --quick there (every size and rank, or kind of matrix, not every product of
# them); all of them are kernels_all.*, label long, and tests/bench/check_gpu.sh runs them on a GPU. kernels_quick.*
# are the others with --quick, for the preset quick, which is run while one writes.
set(modal_kernels_many modal_sum deform deform_normals engine normals_dynamic normals_two_stage octree_lookup reduced_step tangents_dynamic
    tled_step)
add_library(modal_test_harness STATIC kernels/harness.c kernels/scene.c kernels/normals_mesh.c
  kernels/curvature_checks.c kernels/tled_exact.c kernels/tled_solids.c kernels/raster_scene.c)
target_link_libraries(modal_test_harness PUBLIC modal_kernels m)
if(MODAL_HAVE_CUDA)
  target_compile_definitions(modal_test_harness PRIVATE MODAL_HAVE_CUDA)
endif()

function(modal_kernel_test name)
  add_executable(kernel_${name} ${CMAKE_SOURCE_DIR}/tests/kernels/${name}.c)
  set_target_properties(kernel_${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(kernel_${name} PRIVATE modal_test_harness ${ARGN})
  # so that a program runs where only the C library is installed, too
  target_link_options(kernel_${name} PRIVATE -Wl,--as-needed)
  foreach(back_end ref cpu cuda)
    if(name IN_LIST MODAL_OPERATIONS AND NOT name IN_LIST MODAL_OPERATIONS_${back_end})
      continue()
    endif()
    set(quick "")
    set(labels kernels)
    if(name IN_LIST modal_kernels_many AND NOT back_end STREQUAL cuda)
      set(quick --quick)
      set(labels "kernels;quick")
      add_test(NAME kernels_all.${name}.${back_end} COMMAND kernel_${name} --backend ${back_end})
      set_tests_properties(kernels_all.${name}.${back_end} PROPERTIES LABELS "kernels;long")
    endif()
    add_test(NAME kernels.${name}.${back_end} COMMAND kernel_${name} --backend ${back_end} ${quick})
    set_tests_properties(kernels.${name}.${back_end} PROPERTIES LABELS "${labels}" SKIP_RETURN_CODE 77)
    if(NOT quick)
      add_test(NAME kernels_quick.${name}.${back_end} COMMAND kernel_${name} --backend ${back_end} --quick)
      set_tests_properties(kernels_quick.${name}.${back_end} PROPERTIES LABELS quick SKIP_RETURN_CODE 77)
    endif()
  endforeach()
  if(TEST kernels.${name}.cuda)
    set_tests_properties(kernels.${name}.cuda PROPERTIES LABELS "kernels;cuda")
  endif()
endfunction()

foreach(operation ${MODAL_OPERATIONS}) # kernels/operations.h
  modal_kernel_test(${operation})
endforeach()

modal_unit_test(test_render modal_render modal_texture modal_test_harness)
modal_unit_test(test_device_lost modal_render modal_looks modal_deform)
target_sources(test_device_lost PRIVATE bench/torus.c)
target_link_options(test_device_lost PRIVATE "LINKER:--wrap=modal_device_open")
modal_unit_test(test_tled_patches modal_kernels OpenMP::OpenMP_C)
modal_unit_test(test_tled_macros modal_tled m)
modal_unit_test(test_tled_low m)
modal_unit_test(test_tled_frames modal_tled m)
target_sources(test_tled_frames PRIVATE bench/tled_cube.c)

# The deformer as a whole, also runnable alone on a machine with a GPU.
add_library(modal_test_synthetic STATIC kernels/synthetic.c)
target_link_libraries(modal_test_synthetic PUBLIC modal_model m)
modal_kernel_test(engine modal_deform modal_test_synthetic Threads::Threads)
modal_kernel_test(stages modal_deform modal_curvature modal_test_synthetic)

# Not a test: prints times of scenes of many objects (tests/bench/bench_objects.c). Its quick mode is one,
# so that it keeps working. Times beside the opponents': modalbench.
add_executable(bench_objects ${CMAKE_SOURCE_DIR}/tests/bench/bench_objects.c)
set_target_properties(bench_objects PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_link_libraries(bench_objects PRIVATE modal_kernels m ${CMAKE_DL_LIBS})
target_link_options(bench_objects PRIVATE -Wl,--as-needed)
if(MODAL_HAVE_CUDA)
  target_sources(bench_objects PRIVATE ${CMAKE_SOURCE_DIR}/tests/bench/bench_timer.cu
                 ${CMAKE_SOURCE_DIR}/tests/bench/bench_objects_cuda.cu)
  target_compile_definitions(bench_objects PRIVATE MODAL_HAVE_CUDA)
endif()
add_test(NAME kernels.bench_objects COMMAND bench_objects --backend cpu --quick)
set_tests_properties(kernels.bench_objects PROPERTIES LABELS kernels)

# Not a test either: times of reduced forces.
add_executable(bench_force ${CMAKE_SOURCE_DIR}/tests/bench/bench_force.c)
set_target_properties(bench_force PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_link_libraries(bench_force PRIVATE modal_kernels m)
target_link_options(bench_force PRIVATE -Wl,--as-needed)
add_test(NAME kernels.bench_force COMMAND bench_force 7)
set_tests_properties(kernels.bench_force PROPERTIES LABELS kernels)

# Not a test either: normals and tangents in all their ways.
add_executable(normals_bench ${CMAKE_SOURCE_DIR}/tests/bench/normals_bench.c)
set_target_properties(normals_bench PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_link_libraries(normals_bench PRIVATE modal_kernels modal_mesh m)
target_link_options(normals_bench PRIVATE -Wl,--as-needed)
add_test(NAME kernels.normals_bench COMMAND normals_bench --backend cpu --quick)
set_tests_properties(kernels.normals_bench PROPERTIES LABELS kernels)

foreach(name crease_bench rigid_bench)
  add_executable(${name} ${CMAKE_SOURCE_DIR}/tests/bench/${name}.c)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE modal_kernels modal_model modal_mesh m)
  target_link_options(${name} PRIVATE -Wl,--as-needed)
  add_test(NAME kernels.${name} COMMAND ${name} --backend cpu --quick)
  set_tests_properties(kernels.${name} PROPERTIES LABELS kernels)
endforeach()

# Not a test either: steps of a solid on a core.
add_executable(tled_cpu_bench ${CMAKE_SOURCE_DIR}/tests/bench/tled_cpu_bench.c ${CMAKE_SOURCE_DIR}/tests/bench/tled_cube.c)
set_target_properties(tled_cpu_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_link_libraries(tled_cpu_bench PRIVATE modal_kernels OpenMP::OpenMP_C m)
target_link_options(tled_cpu_bench PRIVATE -Wl,--as-needed)
add_test(NAME kernels.tled_cpu_bench COMMAND tled_cpu_bench --quick)
set_tests_properties(kernels.tled_cpu_bench PROPERTIES LABELS kernels)

# Not a test either: the operations on curvature.
add_executable(curvature_bench ${CMAKE_SOURCE_DIR}/tests/bench/curvature_bench.c ${CMAKE_SOURCE_DIR}/tests/bench/ring_mesh.c)
set_target_properties(curvature_bench PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_link_libraries(curvature_bench PRIVATE modal_kernels modal_mesh m)
target_link_options(curvature_bench PRIVATE -Wl,--as-needed)
add_test(NAME kernels.curvature_bench COMMAND curvature_bench --backend cpu --quick)
set_tests_properties(kernels.curvature_bench PROPERTIES LABELS kernels)

# Not a test either: the operations of a picture.
add_executable(raster_bench ${CMAKE_SOURCE_DIR}/tests/bench/raster_bench.c)
set_target_properties(raster_bench PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_link_libraries(raster_bench PRIVATE modal_test_harness m)
target_link_options(raster_bench PRIVATE -Wl,--as-needed)
add_test(NAME kernels.raster_bench COMMAND raster_bench --backend cpu --quick)
set_tests_properties(kernels.raster_bench PROPERTIES LABELS kernels)

# Nor this: PNG beside libpng, of pictures that tests/bench/measure_render.py draws.
find_package(PNG QUIET)
if(PNG_FOUND)
  add_executable(png_bench ${CMAKE_SOURCE_DIR}/tests/bench/png_bench.c ${CMAKE_SOURCE_DIR}/tests/bench/png_times.c
    ${CMAKE_SOURCE_DIR}/tests/bench/opponents/libpng.c)
  set_target_properties(png_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_compile_definitions(png_bench PRIVATE MODAL_HAVE_PNG)
  target_link_libraries(png_bench PRIVATE modal_pictures PNG::PNG)
endif()

# The same operations beside an independent code.
add_executable(curvature_values ${CMAKE_SOURCE_DIR}/tests/kernels/curvature_values.c)
set_target_properties(curvature_values PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_link_libraries(curvature_values PRIVATE modal_curvature)
add_test(NAME kernels.curvature COMMAND ${MODAL_PYTHON} ${CMAKE_SOURCE_DIR}/tests/python/check_curvature.py
         $<TARGET_FILE:curvature_values>)
set_tests_properties(kernels.curvature PROPERTIES LABELS kernels)
add_test(NAME kernels.curvature_large COMMAND ${MODAL_PYTHON} ${CMAKE_SOURCE_DIR}/tests/python/check_curvature.py
         $<TARGET_FILE:curvature_values> --large)
set_tests_properties(kernels.curvature_large PROPERTIES LABELS "kernels;long" TIMEOUT 300)
# Its processor time beside trimesh2's, which is compiled where it is.
set(MODAL_TRIMESH2 "" CACHE PATH "folder of trimesh2 2.13, for a test")
add_executable(curvature_times ${CMAKE_SOURCE_DIR}/tests/kernels/curvature_times.c)
set_target_properties(curvature_times PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_link_libraries(curvature_times PRIVATE modal_curvature OpenMP::OpenMP_C)
add_test(NAME clients.curvature_trimesh2 COMMAND ${MODAL_PYTHON} ${CMAKE_SOURCE_DIR}/tests/python/check_curvature_trimesh2.py
         $<TARGET_FILE:curvature_times> "${MODAL_TRIMESH2}")
set_tests_properties(clients.curvature_trimesh2 PROPERTIES LABELS clients SKIP_RETURN_CODE 77 TIMEOUT 600)
# Fits beside those of other libraries, whose headers are compiled where they are.
set(MODAL_LIBIGL "" CACHE PATH "folder of libigl's headers, for a test")
foreach(opponent cgal libigl)
  add_test(NAME clients.curvature_${opponent} COMMAND ${MODAL_PYTHON} ${CMAKE_SOURCE_DIR}/tests/python/check_curvature_opponents.py
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${opponent} "${MODAL_LIBIGL}")
  set_tests_properties(clients.curvature_${opponent} PROPERTIES LABELS clients SKIP_RETURN_CODE 77 TIMEOUT 600)
endforeach()
